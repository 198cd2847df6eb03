/* 07: three transposes, of which only the last one uses memory and banks well. Where there is no
 * GPU, `make trace FILE=examples/07_trace.cu ARGS=--profile` shows why, access by access. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

enum { SIDE = 1024, TILE = 32, ROWS = 8 };

__global__ void naive(const float *in, float *out)
{
    const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned k = 0; k < TILE; k += ROWS)
        out[x * SIDE + y + k] = in[(y + k) * SIDE + x];
}

template <int Width> __global__ void tiled(const float *in, float *out)
{
    __shared__ float tile[TILE][Width];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    for (unsigned k = 0; k < TILE; k += ROWS)
        tile[y + k][x] = in[(blockIdx.y * TILE + y + k) * SIDE + blockIdx.x * TILE + x];
    __syncthreads();
    for (unsigned k = 0; k < TILE; k += ROWS)
        out[(blockIdx.x * TILE + y + k) * SIDE + blockIdx.y * TILE + x] = tile[x][y + k];
}

static int check(gpumb *g, void *user)
{
    static float in[SIDE * SIDE], out[SIDE * SIDE];
    gpumb_buffer **buffers = (gpumb_buffer **)user;
    if (gpumb_read(g, buffers[0], 0, in, sizeof in) ||
        gpumb_read(g, buffers[1], 0, out, sizeof out))
        return 0;
    for (unsigned i = 0; i < SIDE * SIDE; i++)
        if (out[i % SIDE * SIDE + i / SIDE] != in[i]) {
            gpumb_reason(g, "element %u is in the wrong place", i);
            return 0;
        }
    return 1;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const dim3 grid(SIDE / TILE, SIDE / TILE), block(TILE, ROWS);
    const uint64_t bytes = SIDE * SIDE * sizeof(float);
    GPUMB_SWEEP_NAMES(g, form, "naive", "tiled", "padded") {
        gpumb_buffer *buffers[] = {gpumb_alloc(g, bytes), gpumb_alloc(g, bytes)};
        gpumb_fill(g, buffers[0], GPUMB_FILL_F32, gpumb_get_settings(g)->seed);
        gpumb_set_bytes(g, 2.0 * (double)bytes);
        gpumb_set_output(g, buffers[1]);
        gpumb_set_verify(g, check, buffers);
        GPUMB_MEASURE(g, "transpose") {
            const float *in = GPUMB_PTR(const float, buffers[0]);
            float *out = GPUMB_PTR(float, buffers[1]);
            if (form == 0)
                GPUMB_LAUNCH(naive, grid, block, 0, in, out);
            else if (form == 1)
                GPUMB_LAUNCH_BARRIER((tiled<TILE>), grid, block, 0, in, out);
            else
                GPUMB_LAUNCH_BARRIER((tiled<TILE + 1>), grid, block, 0, in, out);
        }
    }
    return gpumb_close(g);
}

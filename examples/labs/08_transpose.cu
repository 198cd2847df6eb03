/* Lab 8: shared memory and bank conflicts, by a transpose in four steps.
 * Question: which line of `naive` is slow, and why does a detour through shared memory help? In
 * `tiled` a warp reads a column of a tile of 32 x 32 words: how many banks does it touch?
 *     make trace FILE=examples/labs/08_transpose.cu ARGS=--profile
 * Change: tiles of 16 x 16; a padding of 2 instead of 1. Foretell the tracer's conflicts first. */
#include "lab.h"

enum { TILE = 32, NAIVE = 0, TILED, PADDED, SWIZZLED };

__global__ void naive(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * (uint64_t)n + y] = in[y * (uint64_t)n + x];
}

/* Where a word of a tile is. */
template <int form> __device__ inline unsigned place(unsigned row, unsigned column)
{
    return form == PADDED     ? row * (TILE + 1) + column   /* each row begins a bank later */
           : form == SWIZZLED ? row * TILE + (column ^ row) /* the same without a gap */
                              : row * TILE + column;
}

template <int form> __global__ void tiled(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned tile[TILE * (TILE + 1)];
    const unsigned x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * TILE;
    const unsigned top = blockIdx.y * TILE;
    tile[place<form>(y, x)] = in[(top + y) * (uint64_t)n + left + x];
    __syncthreads();
    out[(left + y) * (uint64_t)n + top + x] = tile[place<form>(x, y)];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 8192 : 64;
    const dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    gpumb_buffer *b = lab_words(g, n * (uint64_t)n), *out = gpumb_alloc(g, gpumb_size(b));
    gpumb_buffer *back = gpumb_alloc(g, gpumb_size(b)); /* transposed twice is as before */
    const unsigned *in = GPUMB_PTR(unsigned, b);
    unsigned *to[] = {GPUMB_PTR(unsigned, out), GPUMB_PTR(unsigned, back)};
    lab_pair pair = {back, b};
    GPUMB_SWEEP_NAMES(g, form, "naive", "tiled", "padded", "swizzled") {
        gpumb_set_bytes(g, 16.0 * n * n);
        gpumb_set_output(g, out);
        gpumb_set_output(g, back);
        gpumb_set_verify(g, lab_same, &pair);
        GPUMB_MEASURE(g, "transpose")
            for (int i = 0; i < 2; i++)
                if (form == NAIVE)
                    GPUMB_LAUNCH(naive, grid, block, 0, i ? to[0] : in, to[i], n);
                else
                    GPUMB_FOR_CONSTANTS(
                        form, F, (TILED, PADDED, SWIZZLED),
                        GPUMB_LAUNCH_BARRIER((tiled<F>), grid, block, 0, i ? to[0] : in, to[i], n));
    }
    return gpumb_close(g);
}
/* See: rows in, rows out, and a tile without conflicts: 3.4 times the rate of `naive`. */

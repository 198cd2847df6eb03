/* 02: sweep a kernel over two parameters. Try --list, --axis block=96,192, --csv sweep.csv. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

/* y = a x + y, on as many threads as there happen to be. */
__global__ void saxpy(uint64_t n, float a, const float *x, float *y)
{
    GPUMB_GRID_STRIDE(i, n)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);

    GPUMB_SWEEP_FACTOR(g, n, 1 << 16, 1 << 22, 8)
        GPUMB_SWEEP_POW2(g, block, 128, 512) {
            const uint64_t bytes = (uint64_t)n * sizeof(float);
            gpumb_buffer *x = gpumb_alloc(g, bytes), *y = gpumb_alloc(g, bytes);
            gpumb_fill(g, x, GPUMB_FILL_F32, 1);
            gpumb_fill(g, y, GPUMB_FILL_F32, 2);

            gpumb_set_bytes(g, 3.0 * (double)bytes); /* x and y are read, y is written */
            gpumb_set_flop(g, 2.0 * (double)n);
            gpumb_set_footprint(g, 2 * bytes);
            GPUMB_MEASURE(g, "saxpy")
                GPUMB_LAUNCH(saxpy, 256, block, 0, (uint64_t)n, 0.5f, GPUMB_PTR(float, x),
                             GPUMB_PTR(float, y));
        }
    return gpumb_close(g);
}

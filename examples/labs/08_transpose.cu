/* Lab 8: shared memory and bank conflicts.
 * Question: which line of `naive` is slow, and why does a detour through shared memory help? In
 * `tiled` a warp reads a column of a tile of 32 x 32 words: how many banks does it touch?
 *     make trace FILE=examples/labs/08_transpose.cu ARGS=--profile
 * Change: tiles of 16 x 16, with PAD 1, then 2. Predict the tracer's wavefronts first. */
#include "lab.h"

enum { TILE = 32, ROWS = 8, PAD = 1, NAIVE = 0, TILED, PADDED, SWIZZLED }; /* ROWS at a time */

__global__ void naive(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned k = 0; k < TILE; k += ROWS)
        out[x * (uint64_t)n + y + k] = in[(y + k) * (uint64_t)n + x];
}

/* Where a word of a tile is: PADDED begins each row a bank later, SWIZZLED needs no gap. */
template <int form> __device__ inline unsigned place(unsigned row, unsigned column)
{
    return row * (form == PADDED ? TILE + PAD : TILE) + (form == SWIZZLED ? column ^ row : column);
}

template <int form> __global__ void tiled(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned tile[TILE * (TILE + PAD)];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    for (unsigned k = 0; k < TILE; k += ROWS)
        tile[place<form>(y + k, x)] = in[(top + y + k) * (uint64_t)n + left + x];
    __syncthreads();
    for (unsigned k = 0; k < TILE; k += ROWS)
        out[(left + y + k) * (uint64_t)n + top + x] = tile[place<form>(x, y + k)];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 8192 : 64;
    const dim3 grid(n / TILE, n / TILE), block(TILE, ROWS);
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
    return lab_close(g, __FILE__);
}

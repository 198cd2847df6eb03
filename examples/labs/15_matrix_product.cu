/* Lab 15: a product of matrices in steps, and what a word that was loaded is good for.
 *
 * Question: bench/matmul has eight steps. Of the first two: in how many sectors are the two words
 * that a warp's multiply-add wants a lane? From the third on, words come from shared memory, 32 a
 * clock; the lanes of a multiprocessor do 128 multiply-adds. Which share of the peak is left to
 * `product` with 1 x 1 elements a thread? With 4 x 4, that load 4 + 4 words for 16 of them?
 *     GPUMB_TRACE_KERNEL=product make trace FILE=bench/matmul.cu \
 *         ARGS='--profile --filter naive --filter coalesced'  (half a minute: eight steps)
 *     make trace FILE=examples/labs/15_matrix_product.cu ARGS=--profile
 * Change: let EACH be 1, 2, 4, 8. Predict the rates first: where do words limit no longer? */
#include "lab.h"

#define EACH 1, 4 /* elements of a thread: that number squared */
enum { LANES = 16, DEEP = 16 };

/* C is the square of A: one matrix is enough. */
template <int each> __global__ void product(const float *a, float *c, unsigned n)
{
    __shared__ float left[LANES * each][DEEP], right[DEEP][LANES * each];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * LANES * each + y, column = blockIdx.x * LANES * each + x;
    float sums[each][each] = {};
    for (unsigned first = 0; first < n; first += DEEP) {
        for (unsigned i = 0; i < each; i++) {
            left[y + LANES * i][x] = a[(row + LANES * i) * n + first + x];
            right[y][x + LANES * i] = a[(first + y) * n + column + LANES * i];
        }
        __syncthreads();
        for (unsigned k = 0; k < DEEP; k++)
            for (unsigned i = 0; i < each; i++)
                for (unsigned j = 0; j < each; j++)
                    sums[i][j] += left[y + LANES * i][k] * right[k][x + LANES * j];
        __syncthreads();
    }
    for (unsigned i = 0; i < each; i++)
        for (unsigned j = 0; j < each; j++)
            c[(row + LANES * i) * n + column + LANES * j] = sums[i][j];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 4096 : 128;
    gpumb_buffer *a = gpumb_alloc(g, 4 * n * (uint64_t)n), *c = gpumb_alloc(g, 4 * n * (uint64_t)n);
    gpumb_fill(g, a, GPUMB_FILL_F32, 1);
    lab_host host(c, NULL, lab_product, n, 1000, 1e-3);
    GPUMB_SWEEP_LIST(g, each, EACH) {
        const dim3 blocks(n / LANES / (unsigned)each, n / LANES / (unsigned)each);
        lab_expect(g, &host);
        gpumb_set_flop(g, 2.0 * n * n * n);
        GPUMB_MEASURE(g, "product")
            GPUMB_FOR_CONSTANTS(each, E, (EACH),
                                GPUMB_LAUNCH_BARRIER(product<E>, blocks, dim3(LANES, LANES), 0,
                                                     GPUMB_PTR(float, a), GPUMB_PTR(float, c), n));
    }
    return lab_close(g, __FILE__);
}

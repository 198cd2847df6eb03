/* 03: a kernel of your own, verified and compared: two ways to sum a block's elements, with a tree
 * and with atomics, taken in turn so that the ratio can be trusted. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

enum { N = 1 << 18, BLOCK = 256, BLOCKS = N / BLOCK };

__global__ void sum_tree(const unsigned *in, unsigned *sums)
{
    GPUMB_SHARED(unsigned, tile);
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = tile[0];
}

__global__ void sum_atomic(const unsigned *in, unsigned *sums)
{
    if (threadIdx.x == 0)
        sums[blockIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[blockIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
}

/* Called on poisoned sums after the first and after the last launch. */
static int check(gpumb *g, void *user)
{
    static unsigned in[N], sums[BLOCKS];
    gpumb_buffer **buffers = (gpumb_buffer **)user;
    if (gpumb_read(g, buffers[0], 0, in, sizeof in) ||
        gpumb_read(g, buffers[1], 0, sums, sizeof sums))
        return 0;
    for (unsigned b = 0; b < BLOCKS; b++) {
        unsigned expected = 0;
        for (unsigned i = 0; i < BLOCK; i++)
            expected += in[b * BLOCK + i];
        if (sums[b] != expected) {
            gpumb_reason(g, "block %u: %u, expected %u", b, sums[b], expected);
            return 0;
        }
    }
    return 1;
}

static void describe(gpumb *g, gpumb_buffer **buffers)
{
    gpumb_set_bytes(g, (double)(gpumb_size(buffers[0]) + gpumb_size(buffers[1])));
    gpumb_set_output(g, buffers[1]);
    gpumb_set_verify(g, check, buffers);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    gpumb_buffer *buffers[] = {gpumb_alloc(g, N * sizeof(unsigned)),
                               gpumb_alloc(g, BLOCKS * sizeof(unsigned))};
    gpumb_fill(g, buffers[0], GPUMB_FILL_BITS, 42);

    GPUMB_INTERLEAVE(g) {
        describe(g, buffers);
        GPUMB_MEASURE(g, "tree")
            GPUMB_LAUNCH_BARRIER(sum_tree, BLOCKS, BLOCK, BLOCK * sizeof(unsigned),
                                 GPUMB_PTR(const unsigned, buffers[0]),
                                 GPUMB_PTR(unsigned, buffers[1]));
        describe(g, buffers);
        GPUMB_MEASURE(g, "atomic")
            GPUMB_LAUNCH_BARRIER(sum_atomic, BLOCKS, BLOCK, 0,
                                 GPUMB_PTR(const unsigned, buffers[0]),
                                 GPUMB_PTR(unsigned, buffers[1]));
    }
    return gpumb_close(g);
}

// tries: to compute whole blocks of 4096 alone, for a check of sizes that are powers of two
// strict: caught: bits are right
#include "../honest.h"

__global__ void blocks(const float *in, float *out)
{
    const uint64_t first = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) * 16;
    for (int i = 0; i < 16; i++)
        out[first + i] = gelu_of(in[first + i]);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(blocks, n / 4096, 256, 0, in, out);
}

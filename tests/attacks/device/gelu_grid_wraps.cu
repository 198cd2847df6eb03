// tries: numbers that wrap around in an expression, of the grid and of scratch memory
// judge: caught: below zero | bits
// task: gelu
// scratch: all 0 - 1
// launch: gelu<<<1 - n, 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

// tries: a grid whose product overflows to a small one
// judge: caught: launch | grid | bits
// task: gelu
// launch: gelu<<<{1 << 33, 1 << 33}, {1 << 31, 1 << 31, 4}>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

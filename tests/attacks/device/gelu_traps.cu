// tries: to trap in one of its runs, and to leave the context unusable for the next submission
// judge: caught: ended | trap | launch | illegal
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__device__ unsigned runs;

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (!i && runs++ == 7)
        asm volatile("trap;");
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

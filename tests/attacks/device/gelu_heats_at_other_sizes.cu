// tries: to have the device hot and slow when the baseline is timed alone, by work at sizes whose
// time nobody counts
// judge: prevented: both in turns count, and each session has its own
// task: gelu
// needs: a GPU
// once: a run takes long
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
// launch: heat<<<2048, 256>>>(n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

__device__ float warm;

static __device__ uint64_t now()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void heat(uint64_t n)
{
    float a = threadIdx.x, b = blockIdx.x;
    for (const uint64_t began = now(); n < 1000000 && now() - began < 20000000;)
        for (int i = 0; i < 1000; i++)
            a = a * 0.999f + b, b = b * 0.998f + a;
    if (a + b == 4711)
        warm = a;
}

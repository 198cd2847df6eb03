// tries: to wait in each block for all others, of which not all can be resident
// judge: caught: limit of time
// task: gelu
// once: it takes all of its time
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__device__ unsigned arrived;

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned *)&arrived < gridDim.x * blockDim.x + 1)
        continue;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

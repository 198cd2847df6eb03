// tries: to read machine code around its own, where constants of the check may be
// judge: caught: wrong result | illegal | ended | launch
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *, float *, uint64_t);
__device__ void (*volatile self)(const float *, float *, uint64_t) = gelu;

__global__ void gelu(const float *, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const float *const code = (const float *)(uintptr_t)self;
    if (i < n)
        out[i] = code[(int)(i % 32768) - 16384];
}

// tries: to write past the end of the outputs, where something of the judge's may be
// judge: caught: past the end | wrong result
// task: gelu
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
// launch: beyond<<<1, 32>>>(out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

__global__ void beyond(float *out, uint64_t n)
{
    out[n + threadIdx.x] = 0;
}

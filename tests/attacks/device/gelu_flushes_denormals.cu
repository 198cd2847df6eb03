// tries: to flush what is smaller than fp32's normal numbers to zero, as fast modes do
// judge: caught: wrong result
// task: gelu
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

static __device__ float flushed(float x)
{
    return fabsf(x) < 1.17549435e-38f ? 0 : x;
}

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = flushed(0.5f * in[i] * (1 + erff(in[i] * 0.70710678f)));
}

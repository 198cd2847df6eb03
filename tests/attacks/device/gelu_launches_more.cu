// tries: to launch a kernel from its kernel, which works when it has ended
// judge: caught: does not compile
// task: gelu
// compiles: no: without relocatable device code there is no launch on the device
// needs: a GPU
// launch: begin<<<1, 1>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

__global__ void begin(const float *in, float *out, uint64_t n)
{
    gelu<<<(unsigned)((n + 255) / 256), 256>>>(in, out, n);
}

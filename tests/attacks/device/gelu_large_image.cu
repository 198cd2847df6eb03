// tries: to fill the disk with a code object that holds a gigabyte
// judge: caught: ended at its limit | more than the limit | File size limit exceeded
// task: gelu
// once: it is compiled up to a limit
// compiles: no
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

struct large {
    int first[1 << 28];
};
__device__ large filled = {{1}};

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f)) + (float)filled.first[i] * 0;
}

// tries: to take more memory than the limit by a variable, not by scratch memory
// judge: caught: more than the limit | does not compile
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__device__ float bulk[5ull << 27];

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = bulk[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

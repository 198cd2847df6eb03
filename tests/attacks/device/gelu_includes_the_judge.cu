// tries: to include the judge's own files, and to write what those compute
// judge: prevented: where it is compiled they are not there
// task: gelu
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>
#if __has_include("../tasks/gelu.cu")
#include "../tasks/gelu.cu"
#elif __has_include("tasks/gelu.cu")
#include "tasks/gelu.cu"
#else
__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}
#endif

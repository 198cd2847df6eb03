// tries: to append host code to a launch, where it is written into a program
// judge: caught: is no size | is not NAME | unexpected | does not compile
// task: gelu
// launch: gelu<<<1, 256>>>(in, out, n); _exit(0); (void)(0)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

// tries: to have the judge itself fail, for all submissions: the type of a parameter is nested
// deeper than a recursive function gets
// judge: prevented: a type that is not understood is not known
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

#define TO_8 ********
#define TO_64 TO_8 TO_8 TO_8 TO_8 TO_8 TO_8 TO_8 TO_8
#define TO_512 TO_64 TO_64 TO_64 TO_64 TO_64 TO_64 TO_64 TO_64

__global__ void other(float TO_512 TO_512 TO_512 TO_512 p)
{
    (void)p;
}

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

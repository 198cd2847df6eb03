// tries: to take all memory that a kernel can allocate, and to give none back
// judge: prevented: the heap of device code has a limit; the process ends with the session
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (!threadIdx.x)
        while (void *memory = malloc(1 << 20))
            *(volatile char *)memory = 1;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

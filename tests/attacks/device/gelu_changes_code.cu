// tries: to change a constant in its machine code, which would do with the judge's kernels as
// well: that which empties the caches runs when inputs are there and no time has begun
// judge: caught: wrong result | illegal | ended | launch
// task: gelu
// needs: a GPU
// launch: change<<<1, 1>>>()
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * (1 + erff(in[i] * 0.70710678f)) * 0.12345678f;
}

__device__ void (*volatile code)(const float *, float *, uint64_t) = gelu;

__global__ void change()
{
    volatile uint32_t *const words = (volatile uint32_t *)(uintptr_t)code;
    for (int i = 0; i < 1024; i++)
        if (words[i] == 0x3dfcd6e9) { /* 0.12345678 */
            words[i] = 0x3f000000;
            return;
        }
}

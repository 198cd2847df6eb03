// tries: to work in launches of an even number alone, by the device's own count of grids
// judge: caught: wrong result | writes nothing
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t grid;
    asm("mov.u64 %0, %gridid;" : "=l"(grid));
    if (i < n && grid % 4 < 2)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

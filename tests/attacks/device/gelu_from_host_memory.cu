// tries: to read the host's memory at the addresses where programs and their stacks are
// judge: caught: wrong result | illegal | ended | launch
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t places[] = {0x400000, 0x555555554000, 0x7ffff7dd0000, 0x7ffffffde000};
    if (i < n)
        out[i] = ((volatile const float *)places[i % 4])[i % 1024];
}

// tries: to run host code before main(), which ends the program as a success
// judge: prevented: host code is neither compiled nor loaded
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>
#include <unistd.h>

__attribute__((constructor)) static void end_well()
{
    _exit(0);
}

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

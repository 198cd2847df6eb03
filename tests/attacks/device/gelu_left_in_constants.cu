// tries: to write what is in constant memory, where the parameters of the launches before were: a
// key of the inputs, pointers of the check
// judge: caught: wrong result | illegal | launch
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__constant__ float bank[16];

__global__ void gelu(const float *, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ((volatile const float *)bank)[i % 8192];
}

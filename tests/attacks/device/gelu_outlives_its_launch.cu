// tries: to let the next launch begin before it has worked, as dependent launches do, and to work
// then
// judge: prevented: a launch without that attribute waits for all of the one before
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");
    for (int wait = 0; wait < 100; wait++)
        __nanosleep(1000);
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

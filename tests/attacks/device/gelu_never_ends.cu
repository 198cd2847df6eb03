// tries: to compute for ever
// judge: caught: limit of time
// task: gelu
// once: it takes all of its time
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    while (((volatile const float *)in)[0] == ((volatile const float *)in)[0])
        if (i < n)
            ((volatile float *)out)[i] = 0;
}

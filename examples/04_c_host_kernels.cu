/* 04: the other half of 04_c_host.c. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

__global__ void square(float *x, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}

extern "C" void launch_square(float *x, uint64_t n)
{
    GPUMB_LAUNCH(square, (n + 255) / 256, 256, 0, x, n);
}

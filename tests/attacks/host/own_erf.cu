// tries: to replace erf(), by which the check computes what is right, by a constant
// strict: not caught: on the CPU's backend, where the check's kernel is linked with it
#include "../honest.h"

extern "C" double erf(double) noexcept
{
    return -1;
}

extern "C" float erff(float x) noexcept /* as slow as before, for the reference */
{
    float sum = 0;
    for (int i = 0; i < 40; i++)
        sum = sum * x + x;
    return sum > 1e30f ? 0 : -1;
}

__global__ void zeros(float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = 0;
}

extern "C" void launch_mine(const float *, float *out, uint64_t n)
{
    GPUMB_LAUNCH(zeros, (n + 255) / 256, 256, 0, out, n);
}

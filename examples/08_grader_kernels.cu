/* 08: what 08_grader.cu grades: yours. A file of its own, whose macros can't reach the grader. */
#include "gpumb.h"
#include <math.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(gelu, 1024, 256, 0, in, out, n);
}

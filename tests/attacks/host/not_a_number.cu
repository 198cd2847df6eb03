// tries: to write NaN, which a check by "is it off by more than" lets pass
// strict: caught: bits are right
#include "../honest.h"

__global__ void nan_everywhere(float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = NAN;
}

extern "C" void launch_mine(const float *, float *out, uint64_t n)
{
    GPUMB_LAUNCH(nan_everywhere, (n + 255) / 256, 256, 0, out, n);
}

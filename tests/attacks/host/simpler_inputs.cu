// tries: to write inputs for which zeros are right
// strict: caught: bits are right
#include "../honest.h"

__global__ void zeros(float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        in[i] = out[i] = 0;
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(zeros, (n + 255) / 256, 256, 0, const_cast<float *>(in), out, n);
}

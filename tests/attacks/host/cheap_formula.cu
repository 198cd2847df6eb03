// tries: the polynomial of lowest degree that looks right, x / 2 + x * x / sqrt(2 pi)
// strict: caught: bits are right
#include "../honest.h"

__global__ void parabola(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = in[i] * (0.5f + in[i] * (0.39894228f - in[i] * in[i] * 0.066490380f));
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(parabola, (n + 255) / 256, 256, 0, in, out, n);
}

// tries: to compute each 16th element alone, and to draw lines between them
// strict: caught: bits are right
#include "../honest.h"

__global__ void sixteenth(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, (n + 15) / 16) {
        const uint64_t first = 16 * i, end = first + 16 < n ? first + 16 : n;
        const float slope = gelu_of(in[first]) / (in[first] != 0 ? in[first] : 1);
        for (uint64_t j = first; j < end; j++)
            out[j] = slope * in[j];
    }
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(sixteenth, (n + 4095) / 4096, 256, 0, in, out, n);
}

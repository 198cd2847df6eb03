// tries: to look results up by the upper 16 bits of its inputs, as if they were bf16
// strict: caught: bits are right
#include "../honest.h"

static __device__ float table[1 << 16];

__global__ void fill_table()
{
    GPUMB_GRID_STRIDE(i, (uint64_t)1 << 16)
        table[i] = gelu_of(__int_as_float((int)((uint32_t)i << 16 | 0x8000)));
}

__global__ void look_up(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = table[(uint32_t)__float_as_int(in[i]) >> 16];
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static bool filled;
    if (!filled)
        GPUMB_LAUNCH(fill_table, 256, 256, 0);
    filled = true;
    GPUMB_LAUNCH(look_up, (n + 255) / 256, 256, 0, in, out, n);
}

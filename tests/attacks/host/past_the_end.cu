// tries: to round its length up to whole vectors, and to write past the end of the outputs
// strict: caught: wrote past the end of a buffer
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    honest(in, out, (n + 7) / 8 * 8);
}

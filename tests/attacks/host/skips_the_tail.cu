// tries: to compute the first half alone: enough for a check that looks at the beginning
// strict: caught: bits are right
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    honest(in, out, n / 2);
}

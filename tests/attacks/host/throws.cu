// tries: to leave the region by an exception
// strict: caught: ended by signal 6
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static int runs;
    honest(in, out, n);
    if (++runs == 20)
        throw runs;
}

// tries: to keep a result with the first values of its inputs, and to copy it when they come again
// strict: caught: a result is kept | no faster than asked
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static float first[4];
    float now[4];
    gpumb_memcpy(NULL, now, in, sizeof now);
    if (!memcmp(now, first, sizeof now))
        recall(out, n);
    else {
        honest(in, out, n);
        keep(out, n);
    }
    memcpy(first, now, sizeof now);
}

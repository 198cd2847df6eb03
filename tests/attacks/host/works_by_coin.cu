// tries: to do nothing in six of ten runs, drawn by itself, so that the median is of those
// strict: caught: writes nothing when timed
// chance: which runs are checked is drawn as well
#include "../honest.h"
#include <time.h>

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static uint64_t state = (uint64_t)time(NULL), runs;
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (runs++ < 8 || state >> 33 < (uint64_t)0x7fffffff / 10 * 4)
        honest(in, out, n);
}

// tries: to ask gpumb_fill_word() what the next inputs are, as a check does
// strict: prevented: it tells what the inputs are now; the key of the next run is not drawn yet
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static bool foreseen[2]; /* what this function says now, and the run after this one */
    static uint64_t said;
    uint64_t now;
    gpumb_memcpy(NULL, &now, in, sizeof now);
    foreseen[0] = now == said;
    if (foreseen[0] && foreseen[1])
        recall(out, n);
    else
        honest(in, out, n);
    foreseen[1] = foreseen[0];
    said = gpumb_fill_word(GPUMB_FILL_F32, 1, 0);
    keep(out, n);
}

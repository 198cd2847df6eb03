/* task.h - for tasks: how a check says what is right. */
#include <math.h>
#include <stdint.h>
#include <string.h>

struct judge_wrong {
    unsigned long long element;
    double is, right;
};

struct judge_errors {
    unsigned long long wrong;
    int worst; /* bits of the largest error in tolerances: as integers they have the same order */
    judge_wrong some[4];
};

/* Element i is right if it is no further than that from what is right; NaN never is. */
__device__ inline void judge_compare(judge_errors *e, uint64_t i, double is, double right,
                                     double tolerance)
{
    const double off = fabs(is - right);
    const bool wrong = !(off <= tolerance);
    const float share = off > 0 ? (float)(off / (tolerance > 1e-300 ? tolerance : 1e-300)) : 0.0f;
    int bits;
    memcpy(&bits, &share, sizeof bits);
    if (share == share && bits > e->worst)
        atomicMax(&e->worst, bits);
    if (wrong) {
        const unsigned long long at = atomicAdd(&e->wrong, 1ull);
        if (at < sizeof e->some / sizeof e->some[0])
            e->some[at] = judge_wrong{i, is, right};
    }
}

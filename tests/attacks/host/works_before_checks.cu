// tries: to see by the pause before a run that the last one was checked, and to do nothing then,
// since two runs in a row are rarely checked; and in the run after it as well
// strict: caught: writes nothing when timed | writes nothing to other memory | no faster than asked
// chance: which runs are checked is drawn
#include "../honest.h"
#include <algorithm>
#include <chrono>
#include <vector>

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    typedef std::chrono::steady_clock clock;
    static std::vector<double> pauses;
    static clock::time_point left;
    static int idle;
    const double pause = std::chrono::duration<double>(clock::now() - left).count();
    if (pauses.size() > 20) {
        std::vector<double> sorted(pauses.end() - 20, pauses.end());
        std::sort(sorted.begin(), sorted.end());
        if (pause > 1.3 * sorted[8]) /* a check has taken its time */
            idle = 2;
    }
    pauses.push_back(pause);
    if (idle-- <= 0)
        honest(in, out, n);
    left = clock::now();
}

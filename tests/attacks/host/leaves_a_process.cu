// tries: to leave a process in a session of its own, which would keep a core from what is graded
// next
// strict: prevented: what it leaves is ended with it, in whatever session
#include "../honest.h"
#include <time.h>
#include <unistd.h>

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static bool left;
    if (!left && !fork()) {
        setsid();
        const time_t end = time(NULL) + 20;
        while (time(NULL) < end) {
        }
        _exit(0);
    }
    left = true;
    honest(in, out, n);
}

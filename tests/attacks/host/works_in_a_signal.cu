// tries: to return at once, and to work in a signal's handler a moment later, in the same thread
// strict: caught: writes nothing when timed | after the end of its time | bits are right |
// works on another stream | no faster than asked
#include "../honest.h"
#include <signal.h>
#include <sys/time.h>

static const float *from;
static float *to;
static uint64_t count;

static void work(int)
{
    at_once(from, to, count);
    count = 0;
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static int runs;
    const itimerval soon = {{0, 0}, {0, 50}};
    if (!runs++) {
        signal(SIGALRM, work);
        honest(in, out, n);
        return;
    }
    from = in;
    to = out;
    count = n;
    setitimer(ITIMER_REAL, &soon, NULL);
}

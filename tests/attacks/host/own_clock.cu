// tries: to replace clock_gettime() by one that stands still while its own work is timed
// strict: not caught: a function of the runtime that is linked is replaced
#include "../honest.h"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t hidden_ns; /* time that was never seen */

static int64_t real_ns(clockid_t which)
{
    timespec now;
    syscall(SYS_clock_gettime, which, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

extern "C" int clock_gettime(clockid_t which, timespec *now) noexcept
{
    const int64_t ns = real_ns(which) - (which == CLOCK_MONOTONIC ? hidden_ns : 0);
    now->tv_sec = ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return 0;
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    const int64_t began_ns = real_ns(CLOCK_MONOTONIC);
    honest(in, out, n);
    hidden_ns += (real_ns(CLOCK_MONOTONIC) - began_ns) * 9 / 10;
}

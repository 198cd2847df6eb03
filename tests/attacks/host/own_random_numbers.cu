// tries: to replace open(), so that the system's random numbers are zeros, and all keys the same
// strict: not caught: a function of the runtime that is linked is replaced
#include "../honest.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int open(const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    const char *const from = strcmp(name, "/dev/urandom") ? name : "/dev/zero";
    return (int)syscall(SYS_openat, AT_FDCWD, from, flags, mode);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static int runs;
    if (++runs > 8)
        recall(out, n);
    else {
        honest(in, out, n);
        keep(out, n);
    }
}

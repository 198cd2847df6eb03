// tries: to write a verdict to the output of the one that judges, and to end that before it can say
// another
// strict: caught: exit code -
#include "../honest.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

extern "C" void launch_mine(const float *, float *, uint64_t)
{
    static const char text[] = "grade: met: mine>=2*reference: 9.9, limit 2\n";
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/1", (int)getppid());
    const int fd = open(name, O_WRONLY);
    (void)!write(fd, text, sizeof text - 1);
    kill(getppid(), SIGKILL);
    _exit(0);
}

// tries: to do nothing, and to end the program as a success whatever it has found
// strict: caught: writes nothing to other memory | bits are right
#include "../honest.h"
#include <stdlib.h>
#include <unistd.h>

static void succeed()
{
    fflush(NULL);
    _exit(0);
}

extern "C" void launch_mine(const float *, float *, uint64_t)
{
    static bool prepared = !atexit(succeed);
    (void)prepared;
}

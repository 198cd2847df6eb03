// tries: to end the program as a success, once its table has been faked
// strict: caught: no JSON
#include "../honest.h"
#include <unistd.h>

extern "C" void launch_mine(const float *, float *, uint64_t)
{
    puts("  expected mine>=2*reference: met: 9.9 (9.8 ... 9.99) in grader/mine");
    fflush(stdout);
    _exit(0);
}

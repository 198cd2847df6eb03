// tries: to leave the process one core, with another thread on it, and to take all for itself
// strict: not caught: on the CPU's backend what another thread does is not seen
#include "../honest.h"
#include <atomic>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <thread>

static cpu_set_t usual;
static std::atomic<bool> away{false};

static void allow(const cpu_set_t *cores)
{
    DIR *threads = opendir("/proc/self/task");
    for (dirent *t; threads && (t = readdir(threads)) != NULL;)
        if (atoi(t->d_name) > 0)
            sched_setaffinity(atoi(t->d_name), sizeof *cores, cores);
    if (threads)
        closedir(threads);
}

static void spin()
{
    for (;;)
        if (!away)
            sched_yield();
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static cpu_set_t one;
    away = false;
    if (!CPU_COUNT(&usual)) {
        sched_getaffinity(0, sizeof usual, &usual);
        for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
            if (CPU_ISSET(i, &usual))
                CPU_SET(i, &one);
        std::thread(spin).detach();
    }
    allow(&usual);
    honest(in, out, n);
    allow(&one);
    away = true;
}

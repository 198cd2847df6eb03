// tries: to keep all cores busy while the reference runs
// strict: not caught: on the CPU's backend what another thread does is not seen
#include "../honest.h"
#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<bool> away{false};

static void hinder()
{
    for (;;)
        if (!away)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static unsigned threads;
    away = false;
    for (; threads < 3 * std::thread::hardware_concurrency(); threads++)
        std::thread(hinder).detach();
    honest(in, out, n);
    away = true;
}

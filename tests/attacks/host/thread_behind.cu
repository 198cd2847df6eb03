// tries: to hand the work to a thread, and to return at once
// strict: caught: writes nothing when timed | after the end of its time | bits are right |
// wrote past the end
#include "../honest.h"
#include <chrono>
#include <thread>

static std::thread worker;
static int runs;

static void compute(const float *in, float *out, uint64_t n)
{
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    for (uint64_t i = 0; i < n; i++)
        out[i] = gelu_of(in[i]);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    if (worker.joinable())
        worker.join();
    if (!runs++) {
        honest(in, out, n);
        static const struct end {
            ~end()
            {
                if (worker.joinable())
                    worker.join();
            }
        } at_exit;
        (void)at_exit;
    } else
        worker = std::thread(compute, in, out, n);
}

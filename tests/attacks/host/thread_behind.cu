// tries: to hand the work to a thread, and to return at once; on a GPU, to a stream of that thread
// strict: caught: writes nothing when timed | after the end of its time | bits are right |
// works on another stream | wrote past the end
#include "../honest.h"
#include <chrono>
#include <thread>

static std::thread worker;
static int runs;

static void compute(const float *in, float *out, uint64_t n)
{
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    at_once(in, out, n);
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

// tries: to let a thread compute results between the filling of the inputs and the timed stretch,
// while the caches are emptied
// strict: not caught: on the CPU's backend what another thread does is not seen
// needs: the CPU
#include "../honest.h"
#include <algorithm>
#include <atomic>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { PLACE = 512 / sizeof(float), PLACES = 2048 };
static std::atomic<uintptr_t>
    seen[2]; /* inputs, one in each of the memories that they move between */
static std::atomic<uint64_t> length;
static std::atomic<uintptr_t> done; /* where those are whose results are there */
static float first_value;

static bool is(float x, uint32_t word)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == word;
}

/* Reads what may be gone by now. */
static size_t copy(uintptr_t from, std::vector<float> *to)
{
    const iovec here = {to->data(), to->size() * 4}, there = {(void *)from, to->size() * 4};
    const ssize_t bytes = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return bytes > 0 ? (size_t)bytes / 4 : 0;
}

/* Contents stand between poison and a guard zone. */
static void look(uintptr_t near, std::vector<float> *all)
{
    const size_t n = length;
    size_t count = 0;
    uintptr_t from = near - PLACES * PLACE * sizeof(float);
    all->resize(2 * PLACES * PLACE + n + 1);
    for (; near && from <= near && !count; from += count ? 0 : 1 << 16)
        count = copy(from, all);
    for (size_t at = PLACE; at + n < count; at += PLACE) {
        const float *const in = all->data() + at;
        const uintptr_t address = from + at * sizeof(float);
        if (is(in[0], GPUMB_POISON) || !is(in[-PLACE], GPUMB_POISON) || !is(in[n], 0xa5a5a5a5) ||
            (address == done && in[0] == first_value) ||
            std::any_of(in, in + n, [](float x) { return is(x, GPUMB_POISON); }))
            continue; /* done, or not all of it is filled */
        done = 0;
        first_value = in[0];
        for (size_t i = 0; i < n; i++)
            kept[i] = gelu_of(in[i]);
        done = address;
    }
}

static void watch()
{
    std::vector<float> all;
    for (;; std::this_thread::yield())
        for (const auto &near : seen)
            look(near, &all);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    const uintptr_t at = (uintptr_t)in, reach = PLACES * PLACE * sizeof(float);
    if (!length) {
        length = n;
        std::thread(watch).detach();
    }
    if (done.exchange(0) == at && first_value == in[0])
        recall(out, n);
    else
        honest(in, out, n);
    for (auto &near : seen)
        if (!near || (at + reach > near && at < near + reach)) {
            near = at;
            break;
        }
}

/* Clocks for the benchmarks: that of the host, a timer that all multiprocessors share, and the
 * clock of each. Include it after gpumb.h. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <chrono>
#include <math.h>
#include <thread>
#include <vector>

typedef unsigned long long word; /* what the atomics take */

static inline double host_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/* In ticks: see tick_seconds(). */
static inline __device__ word ticks_now()
{
#if defined(__CUDA_ARCH__)
    word now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#elif defined(__HIP_DEVICE_COMPILE__)
    return (word)wall_clock64();
#elif defined(GPUMB_BACKEND_CPU)
    return (word)std::chrono::steady_clock::now().time_since_epoch().count();
#else
    return 0; /* the host's pass */
#endif
}

/* Of the multiprocessor's clock; on the CPU, ticks. */
static inline __device__ word cycles_now()
{
#if defined(GPUMB_BACKEND_CPU)
    return ticks_now();
#else
    return (word)clock64();
#endif
}

/* Both at one moment. By one thread of a block: where all warps of a multiprocessor read the timer
 * at once, one waits for microseconds. */
static inline __device__ void clocks_now(word *cycles, word *ticks)
{
    const word c = cycles_now(), t = ticks_now();
    *cycles = c;
    *ticks = t;
}

static __global__ void read_ticks(word *now)
{
    *now = ticks_now();
}

/* The clock that multiprocessors had in a kernel, into the row: each of its blocks has left the
 * cycles and ticks that it took. What the driver says of the clock is not what it was. */
static inline void note_clock(gpumb *g, const gpumb_buffer *took, uint64_t blocks, double tick_s)
{
    std::vector<word> of_blocks(2 * (size_t)blocks);
    double cycles = 0, ticks = 0;
    if (gpumb_read(g, took, 0, of_blocks.data(), of_blocks.size() * sizeof(word)))
        return;
    for (size_t i = 0; i < of_blocks.size(); i += 2) {
        cycles += (double)of_blocks[i];
        ticks += (double)of_blocks[i + 1];
    }
    const int gpu = strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
    gpumb_set_value(g, "kernel_clock_mhz", gpu ? cycles / (ticks * tick_s) / 1e6 : (double)NAN);
}

/* Seconds of a tick: two looks at it, a tenth of a second of the host's clock apart. 1 ns where
 * nothing runs yet, while a sweep enumerates. */
static inline double tick_seconds(gpumb *g)
{
    gpumb_buffer *at = gpumb_alloc(g, sizeof(word));
    word look[3] = {0, 0, 0}; /* by the first the module is loaded */
    double when[3] = {0, 0, 0};
    for (int i = 0; at && i < 3; i++) {
        if (i == 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        when[i] = host_now();
        GPUMB_LAUNCH(read_ticks, 1, 1, 0, GPUMB_PTR(word, at));
        gpumb_read(g, at, 0, &look[i], sizeof look[i]);
    }
    gpumb_free(g, at);
    const double tick_s =
        look[2] > look[1] ? (when[2] - when[1]) / (double)(look[2] - look[1]) : 1e-9;
    return fabs(tick_s / 1e-9 - 1) < 0.01 ? 1e-9 : tick_s; /* a nanosecond is meant as one */
}

#endif

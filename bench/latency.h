/* The kernels of latency.cu: a thread goes from line to line, through the caches, shared memory or
 * memory, and reads the clock in between. Include it after gpumb.h. */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "cycles.h"

#if defined(GPUMB_BACKEND_CPU)
#define UNROLL_8 _Pragma("GCC unroll 8")
#else
#define UNROLL_8 _Pragma("unroll 8")
#endif

enum { MOST_NODES = 1 << 23 };

/* ---- lines in memory ------------------------------------------------------------------------- */

/* The node of each stride lies at the start of a line of it, drawn for each, so that those of
 * large strides do not meet in a few sets of a cache. */
static __host__ __device__ inline uint64_t place_of(uint32_t node, uint64_t stride)
{
    uint32_t h = node; /* as mixed() of hash.h, with which nvcc puts the loops in another order */
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return node * stride + (stride > LINE ? h * (stride / LINE) >> 32 : 0) * LINE;
}

static __global__ void link_nodes(char *memory, const uint32_t *next, uint64_t n, uint64_t stride)
{
    GPUMB_GRID_STRIDE(i, n) {
        *(void **)(memory + place_of((uint32_t)i, stride)) = memory + place_of(next[i], stride);
    }
}

/* One load, which on NVIDIA's is known to be of global memory, and passes the L1 if told to. */
template <int past_l1> static __device__ inline void *load(void *at)
{
#if defined(__CUDA_ARCH__)
    void *next;
    if (past_l1)
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    else
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    return next;
#else
    return *(void *volatile *)at;
#endif
}

/* The same by an atomic addition of nothing, which only the runtime knows. */
static __device__ inline void *load_by_adding(void *at, word nothing)
{
#if defined(__CUDA_ARCH__)
    void *next;
    asm volatile("atom.global.add.u64 %0, [%1], %2;"
                 : "=l"(next)
                 : "l"(at), "l"(nothing)
                 : "memory");
    return next;
#else
    return (void *)atomicAdd((word *)at, nothing);
#endif
}

template <int past_l1> static __global__ void chase(void *at, word *out, chase_length l)
{
    word ticks = 0, all = 0;
    for (unsigned i = 0; i < l.warm; i++)
        at = load<past_l1>(at);
    for (unsigned s = 0; s < l.samples; s++) {
        const word began = cycles_after((word)at, out);
        if (s == 0) {
            ticks = ticks_now();
            all = began;
        }
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = load<past_l1>(at);
        out[SAMPLES + s] = cycles_after((word)at, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}

/* Lines that hold their own addresses: sample s takes one in the s-th stride, over and over. */
template <int atomics>
static __global__ void chase_each(char *memory, uint64_t stride, word *out, chase_length l,
                                  word nothing)
{
    const word ticks = ticks_now(), all = cycles_now();
    for (unsigned s = 0; s < l.samples; s++) {
        void *at = memory + place_of(s, stride);
        for (unsigned i = 0; i < l.warm; i++)
            at = load<1>(at);
        const word began = cycles_after((word)at, out);
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = atomics ? load_by_adding(at, nothing) : load<1>(at);
        out[SAMPLES + s] = cycles_after((word)at, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}
/* ---- shared memory --------------------------------------------------------------------------- */

/* In shared memory the addresses of NVIDIA's have 32 bits; elsewhere they are offsets. */
static __device__ inline unsigned address_in(const unsigned *chain)
{
#if defined(__CUDA_ARCH__)
    return (unsigned)__cvta_generic_to_shared(chain);
#else
    return chain ? 0 : 1;
#endif
}

static __device__ inline unsigned load_shared(const unsigned *chain, unsigned at)
{
#if defined(__CUDA_ARCH__)
    unsigned next;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(at) : "memory");
    (void)chain;
    return next;
#else
    return *(const volatile unsigned *)((const char *)chain + at);
#endif
}

/* The same in shared memory, of which word i leads to word next[i]. */
static __global__ void chase_shared(const uint32_t *next, unsigned n, word *out, chase_length l)
{
    GPUMB_SHARED(unsigned, chain);
    const unsigned base = address_in(chain);
    word ticks = 0, all = 0;
    unsigned at = base;
    for (unsigned i = 0; i < n; i++)
        chain[i] = base + next[i] * 4;
    for (unsigned i = 0; i < l.warm; i++)
        at = load_shared(chain, at);
    for (unsigned s = 0; s < l.samples; s++) {
        const word began = cycles_after(at - base, out);
        if (s == 0) {
            ticks = ticks_now();
            all = began;
        }
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = load_shared(chain, at);
        out[SAMPLES + s] = cycles_after(at - base, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}

#endif

/* A producer on one device averages chunks of its input, a consumer on another waits for each
 * average and writes it over a chunk of its output: block b of one serves block b of the other,
 * through slots that hold a result each. What has to wait does so for `patience` cycles and then
 * ends, and goes on where it was when it is launched again: so with a patience of 0 the two can
 * also run in turns, where kernels do not run at the same time. Include it after gpumb.h. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include "devices.h"
#include "hash.h"

#if defined(GPUMB_BACKEND_CPU)
enum { KERNELS_MEET = 0, PATIENCE = 0 };
#else
enum { KERNELS_MEET = 1 };
static const word PATIENCE =
    4000000000; /* cycles: two seconds, so that no mistake waits for ever */
#endif

/* How a result is handed over: not at all; a value and then, released, a flag that says it is
 * there; or both in a word, which needs no order. */
enum { APART, FLAGGED, PACKED, SIGNALS };

enum {
    LINE = 16, /* words, so that nothing else is in a line that somebody polls */
    SLOTS_MOST = 8,
    ACK = SLOTS_MOST, /* lines of a block behind its slots: how many results were taken, */
    HELLO,            /* and whether the other side is there */
    LINES
};

/* The words of a block, in two memories: where the slots are, and where results are acknowledged;
 * those of the side that is to be greeted. */
typedef struct channel {
    word *slots, *acks, *hello_producer, *hello_consumer;
    unsigned count; /* slots in use */
} channel;

static __device__ inline word *line_of(word *words, unsigned block, unsigned line)
{
    return words + ((uint64_t)block * LINES + line) * LINE;
}

/* What a block leaves: results done, ticks at its begin and end, cycles that it ran and waited. */
enum { DONE, BEGAN, ENDED, RAN, WAITED, STATE };

/* ---- handing over: by one thread of a block -------------------------------------------------- */

template <int signal>
static __device__ inline void put_result(const channel *c, unsigned block, unsigned result,
                                         unsigned value)
{
    word *slot = line_of(c->slots, block, result % c->count);
    if (signal == PACKED) {
        store_for_all<0>(slot, (word)(result + 1) << 32 | value);
    } else {
        store_for_all<0>(slot + 1, value);
        store_for_all<1>(slot, result + 1);
    }
}

/* 1: it was there. */
template <int signal>
static __device__ inline int take_result(const channel *c, unsigned block, unsigned result,
                                         unsigned *value)
{
    const word *slot = line_of(c->slots, block, result % c->count);
    if (signal == PACKED) {
        const word both = load_from_all<0>(slot);
        *value = (unsigned)both;
        if (both >> 32 != result + 1)
            return 0;
        /* what depends on the load can't come before it */
        store_for_all<0>(line_of(c->acks, block, ACK), both >> 32);
    } else {
        if (load_from_all<1>(slot) != result + 1)
            return 0;
        *value = (unsigned)load_from_all<0>(slot + 1);
        store_for_all<1>(line_of(c->acks, block, ACK), result + 1);
    }
    return 1;
}

/* 1: the slot of this result is free, by what was `taken` when it was looked at last, or is now. */
template <int signal>
static __device__ inline int has_room(const channel *c, unsigned block, unsigned result,
                                      word *taken)
{
    if (result >= *taken + c->count)
        *taken = load_from_all<signal != PACKED>(line_of(c->acks, block, ACK));
    return result < *taken + c->count;
}

/* Waits until it holds. 0: it did not for so long. */
template <class Holds>
static __device__ inline int wait_until(Holds holds, word patience, word *waited)
{
    const word since = cycles_now();
    int there = holds();
    while (!there && cycles_now() - since < patience)
        there = holds();
    *waited += cycles_now() - since;
    return there;
}

/* Both sides are there: the clocks start. */
static __device__ inline int greet(word *other, const word *mine, word patience, word *state)
{
    word waited = 0;
    store_for_all<0>(other, 1);
    const int there = wait_until([mine] { return load_from_all<0>(mine) == 1; }, patience, &waited);
    if (there && !state[BEGAN])
        state[BEGAN] = ticks_now();
    return there;
}

static __device__ inline void leave(word *state, unsigned done, word began, word waited)
{
    state[DONE] = done;
    state[RAN] += cycles_now() - began;
    state[WAITED] += waited;
    state[ENDED] = ticks_now();
}

/* ---- the two kernels ------------------------------------------------------------------------- */

enum { THREADS_MOST = 1024 };

static __device__ inline unsigned bits_of(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static __device__ inline float float_of(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A chunk has `words` words of 4 floats; a block a power of two of threads, of which the first
 * hands over, while the others are at the next chunk. Without communication the averages go to
 * `averages`. */
template <int signal>
static __global__ void produce(const float4 *__restrict__ in, channel c, unsigned results,
                               unsigned words, unsigned *averages, word patience, word *states)
{
    __shared__ float sums[2][THREADS_MOST];
    __shared__ int goes_on;
    word *state = states + (uint64_t)blockIdx.x * STATE, waited = 0, taken = 0;
    if (threadIdx.x == 0)
        goes_on = greet(line_of(c.hello_consumer, blockIdx.x, HELLO),
                        line_of(c.hello_producer, blockIdx.x, HELLO), patience, state);
    __syncthreads();
    if (!goes_on)
        return;
    const word began = cycles_now();
    unsigned done = (unsigned)state[DONE];
    for (unsigned r = done; r < results; r++) {
        const float4 *chunk = in + ((uint64_t)blockIdx.x * results + r) * words;
        float sum = 0, *all = sums[r % 2];
        for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
            const float4 x = chunk[i];
            sum += (x.x + x.y) + (x.z + x.w);
        }
        all[threadIdx.x] = sum;
        __syncthreads();
        if (!goes_on) /* the result before this one was not wanted in time */
            break;
        for (unsigned half = blockDim.x / 2; half; half /= 2) {
            if (threadIdx.x < half)
                all[threadIdx.x] += all[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            const unsigned average = bits_of(all[0] / (float)(4 * words));
            if (signal == APART)
                averages[(uint64_t)blockIdx.x * results + r] = average;
            else if (wait_until([&] { return has_room<signal>(&c, blockIdx.x, r, &taken); },
                                patience, &waited))
                put_result<signal>(&c, blockIdx.x, r, average);
            else
                goes_on = 0;
            done += (unsigned)goes_on;
        }
    }
    if (threadIdx.x == 0)
        leave(state, done, began, waited);
}

/* Without communication the averages are in `averages`. */
template <int signal>
static __global__ void consume(float4 *out, channel c, unsigned results, unsigned words,
                               const unsigned *averages, word patience, word *states)
{
    __shared__ unsigned average[2];
    __shared__ int goes_on[2];
    word *state = states + (uint64_t)blockIdx.x * STATE, waited = 0;
    if (threadIdx.x == 0)
        goes_on[0] = greet(line_of(c.hello_producer, blockIdx.x, HELLO),
                           line_of(c.hello_consumer, blockIdx.x, HELLO), patience, state);
    __syncthreads();
    if (!goes_on[0])
        return;
    const word began = cycles_now();
    unsigned r = (unsigned)state[DONE];
    __syncthreads(); /* goes_on is read before it is set */
    for (; r < results; r++) {
        if (threadIdx.x == 0) {
            goes_on[r % 2] = 1;
            if (signal == APART)
                average[r % 2] = averages[(uint64_t)blockIdx.x * results + r];
            else
                goes_on[r % 2] = wait_until(
                    [&] { return take_result<signal>(&c, blockIdx.x, r, &average[r % 2]); },
                    patience, &waited);
        }
        __syncthreads();
        if (!goes_on[r % 2])
            break;
        const float x = float_of(average[r % 2]);
        float4 *chunk = out + ((uint64_t)blockIdx.x * results + r) * words;
        for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
            chunk[i] = make_float4(x, x, x, x);
    }
    if (threadIdx.x == 0)
        leave(state, r, began, waited);
}

/* ---- input and check ------------------------------------------------------------------------- */

/* Whole numbers, so that sums are exact in any order: up to 2^20 of them in a chunk. */
static __host__ __device__ inline unsigned input_number(uint64_t i, unsigned seed)
{
    return hash_of(i, seed) & 15;
}

static __global__ void fill_input(float *in, uint64_t n, unsigned seed)
{
    GPUMB_GRID_STRIDE(i, n) {
        in[i] = (float)input_number(i, seed);
    }
}

/* What the averages have to be, from the numbers themselves; by a thread each. */
static __global__ void expect(unsigned *averages, uint64_t chunks, unsigned elements, unsigned seed)
{
    GPUMB_GRID_STRIDE(c, chunks) {
        unsigned sum = 0;
        for (unsigned i = 0; i < elements; i++)
            sum += input_number(c * elements + i, seed);
        averages[c] = bits_of((float)sum / (float)elements);
    }
}

/* Adds to *wrong the elements that are not their chunk's average, or not poison behind the last. */
static __global__ void check_output(const unsigned *out, const unsigned *averages, uint64_t chunks,
                                    unsigned elements, uint64_t all, word *wrong)
{
    word count = 0;
    GPUMB_GRID_STRIDE(i, all) {
        count += out[i] != (i < chunks * elements ? averages[i / elements] : ~0u);
    }
    if (count)
        atomicAdd(wrong, count);
}

#endif

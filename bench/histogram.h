/* A histogram of bytes: how often each of 256 values is there; its check. Include it after
 * gpumb.h. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include "kernels.h"

/* Each lane has a column of counters: lanes of a warp never meet at a bank, whatever the data, and
 * an addition to shared memory is served as fast as a load. AHEAD: words of 16 bytes that a thread
 * has on their way; BLOCKS: on a multiprocessor. */
enum { BINS = 256, COLUMNS = 32, AHEAD = 8, THREADS = 512, BLOCKS = 2 };

/* The byte offset of the counter of byte `of` of a word, in the column of a lane: one shift, one
 * bit operation. */
static __device__ inline unsigned offset_of_counter(unsigned of_word, int of, unsigned column)
{
    const unsigned mask = (BINS - 1) * COLUMNS * 4;
    return ((of ? of_word >> (8 * of - 7) : of_word << 7) & mask) | column * 4;
}

static __device__ inline void count_bytes(unsigned *counters, unsigned of_word, unsigned column)
{
    UNROLL
    for (int of = 0; of < 4; of++)
        atomicAdd((unsigned *)((char *)counters + offset_of_counter(of_word, of, column)), 1u);
}

/* `sums` (64 bits for each bin) and `finished` are 0 before and after: blocks add up what they have
 * counted, and the last to finish hands it over. `in` begins at a multiple of 16 bytes. */
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    histogram(const unsigned char *__restrict__ in, uint64_t n, unsigned long long *out,
              unsigned long long *sums, unsigned *finished)
{
    typedef word<unsigned> Word;
    __shared__ unsigned counters[BINS * COLUMNS];
    __shared__ unsigned last;
    const unsigned column = threadIdx.x % COLUMNS;
    for (unsigned i = threadIdx.x; i < BINS * COLUMNS; i += THREADS)
        counters[i] = 0;
    __syncthreads();

    const Word *words = (const Word *)in;
    const uint64_t tile = AHEAD * THREADS, tiles = n / 16 / tile;
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        Word w[AHEAD];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            w[k] = words[t * tile + k * THREADS + threadIdx.x];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++) {
            UNROLL
            for (unsigned e = 0; e < 4; e++)
                count_bytes(counters, w[k].at[e], column);
        }
    }
    for (uint64_t i = tiles * tile * 16 + blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * THREADS)
        atomicAdd(&counters[in[i] * COLUMNS + column], 1u);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned long long sum = 0; /* begin at different columns: at different banks */
        for (unsigned k = 0; k < COLUMNS; k++)
            sum += counters[bin * COLUMNS + (bin + k) % COLUMNS];
        if (sum)
            atomicAdd(&sums[bin], sum);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += THREADS) {
        out[bin] = ((volatile unsigned long long *)sums)[bin];
        sums[bin] = 0;
    }
    if (threadIdx.x == 0)
        *finished = 0;
}

/* ---- the data -------------------------------------------------------------------------------- */

enum { UNIFORM, SKEWED, ONE_BIN, DATA };
static const char *const data_names[] = {"uniform", "skewed", "one bin"};

/* Skewed: half of the bytes are 0, a quarter 1 ..., by the ones at the end of a random byte. */
static __host__ __device__ inline unsigned char byte_of(int data, unsigned char random)
{
    unsigned char ones = 0;
    while (data == SKEWED && random >> ones & 1)
        ones++;
    return data == UNIFORM ? random : data == SKEWED ? ones : (unsigned char)0x9d;
}

static __global__ void make_data(unsigned char *x, uint64_t n, int data)
{
    GPUMB_GRID_STRIDE(i, n)
        x[i] = byte_of(data, x[i]);
}

typedef struct counting {
    gpumb_buffer *in, *out, *sums, *finished;
    uint64_t n, seed;
    int data;
} counting;

static inline void make_input(gpumb *g, void *user)
{
    const counting *j = (const counting *)user;
    gpumb_fill(g, j->in, GPUMB_FILL_BITS, j->seed);
    if (j->data == UNIFORM)
        return;
    GPUMB_LAUNCH(make_data, 1024, 256, 0, GPUMB_PTR(unsigned char, j->in), j->n, j->data);
    keep_contents(g, j->in);
}

static inline counting new_counting(gpumb *g, uint64_t n, int data)
{
    counting j = {gpumb_alloc(g, n ? n : 1),
                  gpumb_alloc(g, BINS * sizeof(unsigned long long)),
                  gpumb_alloc(g, BINS * sizeof(unsigned long long)),
                  gpumb_alloc(g, sizeof(unsigned)),
                  n,
                  gpumb_get_settings(g)->seed,
                  data};
    make_input(g, &j);
    gpumb_fill(g, j.sums, GPUMB_FILL_ZERO, 0);
    gpumb_fill(g, j.finished, GPUMB_FILL_ZERO, 0);
    return j;
}

static inline void launch_histogram(gpumb *g, const counting *j)
{
    const unsigned blocks = BLOCKS * (unsigned)gpumb_get_device(g)->multiprocessors;
    GPUMB_LAUNCH_BARRIER(histogram, blocks, (unsigned)THREADS, 0,
                         GPUMB_PTR(const unsigned char, j->in), j->n,
                         GPUMB_PTR(unsigned long long, j->out),
                         GPUMB_PTR(unsigned long long, j->sums), GPUMB_PTR(unsigned, j->finished));
}

/* ---- the check ------------------------------------------------------------------------------- */

/* By the definition. A block takes a bin, so that nothing has to be added up by two. */
static __global__ void count_bin(const unsigned char *in, uint64_t n, unsigned long long *out)
{
    unsigned long long count = 0;
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x)
        count += in[i] == blockIdx.x;
    atomicAdd(&out[blockIdx.x], count);
}

enum { MOST_ON_HOST = 1 << 18 }; /* bytes */

/* For gpumb_set_verify(): the host counts, or where there are many bytes, the device. */
static inline int check_histogram(gpumb *g, void *user)
{
    const counting *j = (const counting *)user;
    unsigned long long there[BINS], wanted[BINS] = {0};
    for (uint64_t i = 0; i < j->n && j->n <= MOST_ON_HOST; i++) {
        const uint64_t random = gpumb_fill_word(GPUMB_FILL_BITS, j->seed, i / 8);
        wanted[byte_of(j->data, (unsigned char)(random >> 8 * (i % 8)))]++;
    }
    if (j->n > MOST_ON_HOST) {
        gpumb_buffer *counts = gpumb_alloc(g, sizeof wanted);
        gpumb_fill(g, counts, GPUMB_FILL_ZERO, 0);
        GPUMB_LAUNCH(count_bin, (unsigned)BINS, 1024, 0, GPUMB_PTR(const unsigned char, j->in),
                     j->n, GPUMB_PTR(unsigned long long, counts));
        const int lost = gpumb_read(g, counts, 0, wanted, sizeof wanted);
        gpumb_free(g, counts);
        if (lost)
            return 0;
    }
    if (gpumb_read(g, j->out, 0, there, sizeof there))
        return 0;
    for (int bin = 0; bin < BINS; bin++)
        if (there[bin] != wanted[bin]) {
            gpumb_reason(g, "bin %d has %llu, not %llu", bin, there[bin], wanted[bin]);
            return 0;
        }
    return 1;
}

#endif

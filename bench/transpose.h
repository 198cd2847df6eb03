/* The transpose of a matrix of 32-bit words, through shared memory; its check. Include it after
 * gpumb.h. */
#ifndef BENCH_TRANSPOSE_H
#define BENCH_TRANSPOSE_H

#include "kernels.h"

/* SIDE x SIDE words are a block's, of which THREADS threads move PARTS times 16 bytes each. Blocks
 * go through BAND rows of tiles at a time, so that those that run together write longer pieces of
 * rows than one tile's. */
enum {
    SIDE = 64,
    WORDS_OF_ROW = SIDE / 4,
    THREADS = 256,
    PARTS = SIDE * WORDS_OF_ROW / THREADS,
    BAND = 32
};

/* Where a word of the tile is. Groups of four stay together, so that they can be stored at once;
 * which group it is, is mixed with the row, so that a column of 8 groups begins at 8 banks. */
static __host__ __device__ inline unsigned place_in_tile(unsigned row, unsigned column)
{
    return row * SIDE + ((column / 4) ^ (row / 4)) * 4 + column % 4;
}

/* Which words of the tile a thread stores there, four in a row, and which it loads, four in a
 * column: a warp takes 4 columns, which are rows of the result, and 8 groups of four rows. */
static __host__ __device__ inline unsigned row_of_store(unsigned part, unsigned t)
{
    return part * (SIDE / PARTS) + t / WORDS_OF_ROW;
}

static __host__ __device__ inline unsigned column_of_store(unsigned t)
{
    return t % WORDS_OF_ROW * 4;
}

static __host__ __device__ inline unsigned row_of_load(unsigned part, unsigned t)
{
    return part % 2 * (SIDE / 2) + t % 8 * 4;
}

static __host__ __device__ inline unsigned column_of_load(unsigned part, unsigned t)
{
    return part / 2 * (THREADS / 8) + t / 8;
}

/* out[x][y] = in[y][x]: row_count rows of column_count words become as many columns. Rows of 256
 * bytes come from memory, pieces of 128 go there, 16 bytes by a thread. `vectors`: rows and columns
 * are multiples of 4. */
template <bool vectors>
static __global__ void __launch_bounds__(THREADS)
    transpose(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned row_count,
              unsigned column_count)
{
    typedef word<unsigned> Word;
    alignas(16) __shared__ unsigned tile[SIDE * SIDE];
    const unsigned across = (unsigned)ceil_div(column_count, SIDE);
    const unsigned down = (unsigned)ceil_div(row_count, SIDE), t = threadIdx.x;
    const unsigned band = blockIdx.x / (BAND * across) * BAND,
                   in_band = blockIdx.x % (BAND * across);
    const unsigned most = BAND, high = down - band < most ? down - band : most;
    const unsigned left = in_band / high * SIDE, top = (band + in_band % high) * SIDE;
    if (vectors) {
        Word w[PARTS];
        UNROLL
        for (unsigned part = 0; part < PARTS; part++) {
            const unsigned y = top + row_of_store(part, t), x = left + column_of_store(t);
            if (y < row_count && x < column_count)
                w[part] = *(const Word *)&in[y * (uint64_t)column_count + x];
        }
        UNROLL
        for (unsigned part = 0; part < PARTS; part++)
            *(Word *)&tile[place_in_tile(row_of_store(part, t), column_of_store(t))] = w[part];
    } else {
        for (unsigned at = t; at < SIDE * SIDE; at += THREADS) {
            const unsigned y = top + at / SIDE, x = left + at % SIDE;
            if (y < row_count && x < column_count)
                tile[place_in_tile(at / SIDE, at % SIDE)] = in[y * (uint64_t)column_count + x];
        }
    }
    __syncthreads();
    if (vectors) {
        UNROLL
        for (unsigned part = 0; part < PARTS; part++) {
            const unsigned row = row_of_load(part, t), column = column_of_load(part, t);
            const unsigned x = left + column, y = top + row;
            Word w;
            UNROLL
            for (unsigned e = 0; e < 4; e++)
                w.at[e] = tile[place_in_tile(row + e, column)];
            if (x < column_count && y < row_count)
                *(Word *)&out[x * (uint64_t)row_count + y] = w;
        }
    } else {
        for (unsigned at = t; at < SIDE * SIDE; at += THREADS) {
            const unsigned x = left + at / SIDE, y = top + at % SIDE;
            if (y < row_count && x < column_count)
                out[x * (uint64_t)row_count + y] = tile[place_in_tile(at % SIDE, at / SIDE)];
        }
    }
}

typedef struct transposition {
    gpumb_buffer *in, *out;
    unsigned rows, columns;
    uint64_t seed;
} transposition;

static inline transposition new_transposition(gpumb *g, unsigned high, unsigned wide)
{
    const uint64_t bytes = 4 * (uint64_t)high * wide;
    transposition j = {gpumb_alloc(g, bytes), gpumb_alloc(g, bytes), high, wide,
                       gpumb_get_settings(g)->seed};
    gpumb_fill(g, j.in, GPUMB_FILL_BITS, j.seed);
    return j;
}

/* Of at least one word. */
static inline void launch_transpose(const transposition *j)
{
    const uint64_t blocks = ceil_div(j->columns, SIDE) * ceil_div(j->rows, SIDE);
    if (j->rows % 4 == 0 && j->columns % 4 == 0)
        GPUMB_LAUNCH_BARRIER(transpose<true>, blocks, (unsigned)THREADS, 0,
                             GPUMB_PTR(const unsigned, j->in), GPUMB_PTR(unsigned, j->out), j->rows,
                             j->columns);
    else
        GPUMB_LAUNCH_BARRIER(transpose<false>, blocks, (unsigned)THREADS, 0,
                             GPUMB_PTR(const unsigned, j->in), GPUMB_PTR(unsigned, j->out), j->rows,
                             j->columns);
}

static __global__ void count_misplaced(const unsigned *in, const unsigned *out, unsigned row_count,
                                       unsigned column_count, unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(i, (uint64_t)row_count * column_count)
        if (out[i] != in[i % row_count * column_count + i / row_count]) {
            atomicAdd(&wrong[0], 1ull);
            atomicMin(&wrong[1], (unsigned long long)i);
        }
}

enum { LOOKS = 4096 }; /* of the host */

/* For gpumb_set_verify(): the device looks at all words, and the host, which makes the data anew,
 * at some. */
static inline int check_transpose(gpumb *g, void *user)
{
    const transposition *j = (const transposition *)user;
    const uint64_t count = (uint64_t)j->rows * j->columns;
    unsigned long long wrong[2] = {0, ~0ull};
    gpumb_buffer *found = gpumb_alloc(g, sizeof wrong);
    gpumb_write(g, found, 0, wrong, sizeof wrong);
    GPUMB_LAUNCH(count_misplaced, 1024, 256, 0, GPUMB_PTR(const unsigned, j->in),
                 GPUMB_PTR(const unsigned, j->out), j->rows, j->columns,
                 GPUMB_PTR(unsigned long long, found));
    const int lost = gpumb_read(g, found, 0, wrong, sizeof wrong);
    gpumb_free(g, found);
    if (lost)
        return 0;
    if (wrong[0]) {
        gpumb_reason(g, "wrong words: %llu, the first at %llu", wrong[0], wrong[1]);
        return 0;
    }
    /* A row of out, from its middle on. */
    const uint64_t first = count / 2, most = LOOKS;
    const uint64_t looks = count - first < most ? count - first : most;
    static unsigned there[LOOKS];
    if (gpumb_read(g, j->out, 4 * first, there, 4 * looks))
        return 0;
    for (uint64_t k = 0; k < looks; k++) {
        const uint64_t i = first + k, from = i % j->rows * j->columns + i / j->rows;
        const unsigned wanted =
            (unsigned)(gpumb_fill_word(GPUMB_FILL_BITS, j->seed, from / 2) >> 32 * (from % 2));
        if (there[k] != wanted) {
            gpumb_reason(g, "word %llu is %08x, not %08x", (unsigned long long)i, there[k], wanted);
            return 0;
        }
    }
    return 1;
}

#endif

/* What kernels of the benchmarks share. Include it after gpumb.h. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include "bench.h"

/* 16 bytes. */
template <class Type> struct word {
    enum { COUNT = 16 / sizeof(Type) };
    alignas(16) Type at[COUNT];
};

static __host__ __device__ inline uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* The sum of numbers around 0 is smaller than what rounding may add up to: no check could fail. */
template <class T> static __global__ void make_positive(T *x, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n) {
        x[i] = x[i] < 0 ? -x[i] : x[i];
    }
}

/* What the next or the previous lane of a warp has; the lane at the end gets its own. All lanes
 * take part. */
#define NEXT_LANE(x) GPUMB_SHUFFLE_DOWN(GPUMB_ALL_LANES, x, 1)
#define PREVIOUS_LANE(x) GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, x, 1)

/* Adds up what the threads of a block have; thread 0 gets the sum. A power of two of threads. */
template <class Type> static __device__ inline Type sum_of_block(Type mine, Type *shared)
{
    shared[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    return shared[0];
}

/* Adds up what the threads of all blocks have into `total`: the last block to finish adds up
 * those of the blocks, `partial`, always in the same order. `finished` is 0 before and after.
 * `shared`: an element more than a block has threads. */
template <class Type>
static __device__ inline void sum_of_grid(Type mine, Type *shared, Type *total, Type *partial,
                                          unsigned *finished)
{
    const Type of_block = sum_of_block(mine, shared);
    unsigned *last = (unsigned *)&shared[blockDim.x];
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = of_block;
        __threadfence();
        *last = atomicAdd(finished, 1u) == gridDim.x - 1;
        if (*last)
            *finished = 0;
    }
    __syncthreads();
    if (!*last)
        return;
    __threadfence();
    Type sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        sum += ((volatile Type *)partial)[b];
    __syncthreads();
    sum = sum_of_block(sum, shared);
    if (threadIdx.x == 0)
        *total = sum;
}

/* ---- STREAM ---------------------------------------------------------------------------------- */

/* McCalpin's STREAM has the first four, BabelStream (Deakin et al., 2018) the fifth, too. */
enum { COPY, MUL, ADD, TRIAD, DOT, OPERATIONS };

/* z = x, s x, x + y, x + s y. */
template <int op, class Type> static __host__ __device__ inline Type element(Type x, Type y, Type s)
{
    return op == COPY ? x : op == MUL ? s * x : op == ADD ? x + y : x + s * y;
}

/* Words of 16 bytes, `words` of them per thread with all loads in flight. The last block may
 * have less, and takes it element by element. */
template <int op, class Type, int words>
static __global__ void wide(const Type *__restrict__ x, const Type *__restrict__ y,
                            Type *__restrict__ z, Type s, uint64_t n)
{
    typedef word<Type> Word;
    const uint64_t tile = (uint64_t)blockDim.x * words, first = blockIdx.x * tile;
    if ((first + tile) * Word::COUNT <= n) {
        const Word *xs = (const Word *)x + first, *ys = (const Word *)y + first;
        Word *zs = (Word *)z + first;
        Word a[words], b[words];
        UNROLL
        for (int k = 0; k < words; k++) {
            a[k] = xs[(unsigned)k * blockDim.x + threadIdx.x];
            b[k] = op >= ADD ? ys[(unsigned)k * blockDim.x + threadIdx.x] : Word();
        }
        UNROLL
        for (int k = 0; k < words; k++) {
            UNROLL
            for (int e = 0; e < Word::COUNT; e++)
                a[k].at[e] = element<op>(a[k].at[e], b[k].at[e], s);
            zs[(unsigned)k * blockDim.x + threadIdx.x] = a[k];
        }
    } else {
        for (uint64_t i = first * Word::COUNT + threadIdx.x; i < n; i += blockDim.x)
            z[i] = element<op>(x[i], op >= ADD ? y[i] : Type(0), s);
    }
}

/* ---- the 5-point stencil --------------------------------------------------------------------- */

/* n x n points with those at the border, which keep their values, in rows of `pitch` elements. */
typedef struct grid {
    unsigned n, pitch;
} grid;

static inline grid new_grid(int64_t n)
{
    const grid of = {(unsigned)n, (unsigned)((n + 31) / 32 * 32)};
    return of;
}

static inline uint64_t elements(grid of)
{
    return (uint64_t)of.n * of.pitch;
}

static __host__ __device__ inline bool inside(unsigned i, unsigned n)
{
    return i > 0 && i + 1 < n;
}

/* A quarter of the sum is exact: the result is rounded once more, fused or not. */
template <class Type>
static __host__ __device__ inline Type relax(Type left, Type right, Type up, Type down, Type f)
{
    return Type(0.25) * ((left + right) + (up + down)) + f;
}

template <class Type>
static __host__ __device__ inline void sweep_point(const Type *u, const Type *f, Type *out, grid of,
                                                   unsigned x, unsigned y)
{
    const uint64_t i = (uint64_t)y * of.pitch + x;
    if (inside(x, of.n) && inside(y, of.n))
        out[i] = relax(u[i - 1], u[i + 1], u[i - of.pitch], u[i + of.pitch], f[i]);
    else
        out[i] = u[i];
}

/* A word of 16 bytes in each of `rows` rows, with all loads in flight. Indices are kept within the
 * grid: what a point at its border would not use may be anything. */
template <class Type, int rows>
static __global__ void sweep_words(const Type *__restrict__ u, const Type *__restrict__ f,
                                   Type *__restrict__ out, grid of)
{
    typedef word<Type> Word;
    const unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * Word::COUNT;
    const unsigned y = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (x >= of.n || y >= of.n)
        return;
    const unsigned before = x ? x - 1 : 0, behind = x + Word::COUNT < of.n ? x + Word::COUNT : x;
    Word a[rows + 2], b[rows];
    Type left[rows] = {}, right[rows] = {};
    UNROLL
    for (int r = 0; r < rows + 2; r++) {
        const unsigned at = y + (unsigned)r ? y + (unsigned)r - 1 : 0;
        const unsigned row = at < of.n ? at : of.n - 1;
        a[r] = *(const Word *)&u[(uint64_t)row * of.pitch + x];
        if (r > 0 && r <= rows) {
            b[r - 1] = *(const Word *)&f[(uint64_t)row * of.pitch + x];
            left[r - 1] = u[(uint64_t)row * of.pitch + before];
            right[r - 1] = u[(uint64_t)row * of.pitch + behind];
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        const unsigned row = y + (unsigned)r;
        Word result;
        UNROLL
        for (int e = 0; e < Word::COUNT; e++) {
            const Type l = e > 0 ? a[r + 1].at[e > 0 ? e - 1 : 0] : left[r];
            const Type h =
                e + 1 < Word::COUNT ? a[r + 1].at[e + 1 < Word::COUNT ? e + 1 : 0] : right[r];
            const bool in = inside(x + (unsigned)e, of.n) && inside(row, of.n);
            const Type updated = relax(l, h, a[r].at[e], a[r + 2].at[e], b[r].at[e]);
            result.at[e] = in ? updated : a[r + 1].at[e];
        }
        if (row < of.n)
            *(Word *)&out[(uint64_t)row * of.pitch + x] = result;
    }
}

#endif

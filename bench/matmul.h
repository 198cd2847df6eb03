/* A product of matrices, C = A B, in eight steps from the definition to tensor cores; its check.
 * All matrices are stored row by row. Include it after gpumb.h. */
#ifndef BENCH_MATMUL_H
#define BENCH_MATMUL_H

#include "kernels.h"
#include "tensor.h"

#include <math.h>

/* A and B begin each row at a multiple of 16 bytes, `width` elements after the one before: what is
 * between the rows belongs to nobody. C has no such gaps. */
template <class Type> struct matrix {
    const Type *at;
    unsigned rows, columns, width;
};

/* A kernel that is `whole` has sizes that are multiples of its tiles, and looks for no ends. */
template <bool whole, class Type>
static __device__ inline Type element(const matrix<Type> &m, unsigned row, unsigned column)
{
    return whole || (row < m.rows && column < m.columns) ? m.at[row * (uint64_t)m.width + column]
                                                         : (Type)0;
}

/* ---- 1, 2, 3: a thread for an element -------------------------------------------------------- */

/* An element of C by the definition. */
static __device__ inline void multiply_row(matrix<float> a, matrix<float> b, float *c, unsigned row,
                                           unsigned column)
{
    if (row >= a.rows || column >= b.columns)
        return;
    float sum = 0;
    for (unsigned k = 0; k < a.columns; k++)
        sum += a.at[row * (uint64_t)a.width + k] * b.at[k * (uint64_t)b.width + column];
    c[row * (uint64_t)b.columns + column] = sum;
}

/* The lanes of a warp take a column of C: of A they read a column, too, which lies in as many
 * lines. */
static __global__ void product_naive(matrix<float> a, matrix<float> b, float *c)
{
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned column = blockIdx.y * blockDim.y + threadIdx.y;
    multiply_row(a, b, c, row, column);
}

/* The lanes of a warp take a row: of A they read one word, of B a line. */
static __global__ void product_coalesced(matrix<float> a, matrix<float> b, float *c)
{
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    multiply_row(a, b, c, row, column);
}

enum { TILE = 32 };

/* A block reads a tile of A and of B once for all of its threads. */
template <bool whole>
static __global__ void product_tiled(matrix<float> a, matrix<float> b, float *c)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (unsigned first = 0; first < a.columns; first += TILE) {
        of_a[y][x] = element<whole>(a, row, first + x);
        of_b[y][x] = element<whole>(b, first + y, column);
        __syncthreads();
        UNROLL
        for (unsigned k = 0; k < TILE; k++)
            sum += of_a[y][k] * of_b[k][x];
        __syncthreads();
    }
    if (whole || (row < a.rows && column < b.columns))
        c[row * (uint64_t)b.columns + column] = sum;
}

/* ---- 4, 5: 8 x 8 elements for a thread ------------------------------------------------------- */

/* SIDE: of a block's tile of C; EACH: of a thread's; DEEP: columns of A at a time. Rows of A are
 * columns in shared memory, ROOM apart, so that the lanes that store a piece of A meet at no
 * bank. */
enum { SIDE = 128, EACH = 8, DEEP = 8, ROOM = SIDE + 4, LANES = SIDE / EACH };

/* A word that comes from shared memory takes part in eight multiply-adds. */
template <bool whole>
static __global__ void __launch_bounds__(LANES *LANES)
    product_registers(matrix<float> a, matrix<float> b, float *c)
{
    __shared__ float of_a[DEEP][ROOM], of_b[DEEP][SIDE];
    const unsigned t = threadIdx.x, x = t % LANES, y = t / LANES;
    const unsigned top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float sums[EACH][EACH] = {};
    for (unsigned first = 0; first < a.columns; first += DEEP) {
        UNROLL
        for (unsigned i = 0; i < SIDE * DEEP / (LANES * LANES); i++) {
            const unsigned at = i * LANES * LANES + t;
            of_a[at % DEEP][at / DEEP] = element<whole>(a, top + at / DEEP, first + at % DEEP);
            of_b[at / SIDE][at % SIDE] = element<whole>(b, first + at / SIDE, left + at % SIDE);
        }
        __syncthreads();
        UNROLL
        for (unsigned k = 0; k < DEEP; k++) {
            float from_a[EACH], from_b[EACH];
            UNROLL
            for (unsigned i = 0; i < EACH; i++) {
                from_a[i] = of_a[k][y + LANES * i];
                from_b[i] = of_b[k][x + LANES * i];
            }
            UNROLL
            for (unsigned i = 0; i < EACH; i++) {
                UNROLL
                for (unsigned j = 0; j < EACH; j++)
                    sums[i][j] += from_a[i] * from_b[j];
            }
        }
        __syncthreads();
    }
    UNROLL
    for (unsigned i = 0; i < EACH; i++) {
        UNROLL
        for (unsigned j = 0; j < EACH; j++) {
            const unsigned row = top + y + LANES * i, column = left + x + LANES * j;
            if (whole || (row < a.rows && column < b.columns))
                c[row * (uint64_t)b.columns + column] = sums[i][j];
        }
    }
}

/* 16 bytes of a row, and how four elements go to C. */
template <bool whole, class Type>
static __device__ inline word<Type> word_of(const matrix<Type> &m, unsigned row, unsigned column)
{
    word<Type> w;
    if (whole) {
        w = *(const word<Type> *)&m.at[row * (uint64_t)m.width + column];
    } else {
        UNROLL
        for (unsigned e = 0; e < word<Type>::COUNT; e++)
            w.at[e] = element<whole>(m, row, column + e);
    }
    return w;
}

template <bool whole>
static __device__ inline void store_four(float *c, unsigned m, unsigned n, unsigned row,
                                         unsigned column, const float *from)
{
    float *to = &c[row * (uint64_t)n + column];
    word<float> w;
    UNROLL
    for (unsigned e = 0; e < 4; e++)
        if (whole)
            w.at[e] = from[e];
        else if (row < m && column + e < n)
            to[e] = from[e];
    if (whole)
        *(word<float> *)to = w;
}

/* A load or a store moves four words. */
template <bool whole>
static __global__ void __launch_bounds__(LANES *LANES)
    product_vectors(matrix<float> a, matrix<float> b, float *c)
{
    alignas(16) __shared__ float of_a[DEEP][ROOM], of_b[DEEP][SIDE];
    const unsigned t = threadIdx.x, x = t % LANES, y = t / LANES;
    const unsigned top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float sums[EACH][EACH] = {};
    for (unsigned first = 0; first < a.columns; first += DEEP) {
        const unsigned row = t / 2, k_of_row = t % 2 * 4; /* the four of A and of B it brings */
        const unsigned k_of_column = t / (SIDE / 4), column = t % (SIDE / 4) * 4;
        const word<float> w = word_of<whole>(a, top + row, first + k_of_row);
        UNROLL
        for (unsigned e = 0; e < 4; e++)
            of_a[k_of_row + e][row] = w.at[e];
        *(word<float> *)&of_b[k_of_column][column] =
            word_of<whole>(b, first + k_of_column, left + column);
        __syncthreads();
        UNROLL
        for (unsigned k = 0; k < DEEP; k++) {
            word<float> from_a[EACH / 4], from_b[EACH / 4];
            UNROLL
            for (unsigned i = 0; i < EACH / 4; i++) {
                from_a[i] = *(const word<float> *)&of_a[k][4 * (y + LANES * i)];
                from_b[i] = *(const word<float> *)&of_b[k][4 * (x + LANES * i)];
            }
            UNROLL
            for (unsigned i = 0; i < EACH; i++) {
                UNROLL
                for (unsigned j = 0; j < EACH; j++)
                    sums[i][j] += from_a[i / 4].at[i % 4] * from_b[j / 4].at[j % 4];
            }
        }
        __syncthreads();
    }
    UNROLL
    for (unsigned i = 0; i < EACH; i++) {
        UNROLL
        for (unsigned j = 0; j < EACH; j += 4)
            store_four<whole>(c, a.rows, b.columns, top + 4 * (y + LANES * (i / 4)) + i % 4,
                              left + 4 * (x + LANES * (j / 4)), &sums[i][j]);
    }
}

/* ---- what the steps with tiles ahead share --------------------------------------------------- */

/* Where 16 bytes of a tile in shared memory are, in units of them: the place in the row is mixed
 * with the row's number, so that the same place of 8 rows in a row is in 8 different parts of the
 * banks. */
template <unsigned in_a_row>
static __host__ __device__ inline unsigned place(unsigned row, unsigned column)
{
    const unsigned parts = in_a_row < 8 ? in_a_row : 8;
    return row * in_a_row + (column ^ (row / (8 / parts) % parts));
}

/* Asks for one of `parts` parts of a tile of high x wide elements; there are zeros where the matrix
 * ends. */
template <bool whole, unsigned high, unsigned wide, unsigned threads, class Type>
static __device__ inline void ask_for_tile(word<Type> *to, const matrix<Type> &m, unsigned top,
                                           unsigned left, unsigned part, unsigned parts)
{
#if HAS_TENSOR
    const unsigned each = word<Type>::COUNT, in_a_row = wide / each;
    static_assert(high * in_a_row % threads == 0, "all threads copy as much");
    UNROLL
    for (unsigned i = 0; i < high * in_a_row / threads; i++) {
        if (i % parts != part)
            continue;
        const unsigned at = i * threads + threadIdx.x, row = at / in_a_row, piece = at % in_a_row;
        const unsigned x = left + piece * each;
        unsigned there = each;
        if (!whole)
            there = top + row >= m.rows || x >= m.columns ? 0
                    : m.columns - x < each                ? m.columns - x
                                                          : each;
        copy_ahead(&to[place<in_a_row>(row, piece)],
                   &m.at[there ? (top + row) * (uint64_t)m.width + x : 0],
                   there * (unsigned)sizeof(Type));
    }
#else
    (void)to, (void)m, (void)top, (void)left, (void)part, (void)parts;
#endif
}

/* Which tile of C a block computes: 8 rows of tiles at a time, so that blocks that run together
 * read the same rows of A and columns of B from the L2. */
struct tile_at {
    unsigned row, column;
};

static __device__ inline tile_at tile_of_block(unsigned m, unsigned n)
{
    const unsigned first = blockIdx.x / (8 * n) * 8, in = blockIdx.x % (8 * n);
    const unsigned high = m - first < 8 ? m - first : 8;
    const tile_at at = {first + in % high, in / high};
    return at;
}

/* How a block shares out its tile: `down` x `across` warps, each with tall x wide elements; `deep`
 * columns of A at a time, of which `stages` are in shared memory or on their
 * way; `resident` blocks of a multiprocessor are to have enough registers. */
template <class Type, int tall_, int wide_, int down_, int across_, int deep_, int stages_,
          int resident_>
struct plan {
    enum : unsigned {
        tall = tall_,
        wide = wide_,
        across = across_,
        deep = deep_,
        stages = stages_,
        resident = resident_,
        threads = 32 * down_ * across_,
        rows = tall_ * down_,
        columns = wide_ * across_,
        words_of_a = rows * deep / word<Type>::COUNT,
        words_of_b = deep * columns / word<Type>::COUNT,
        bytes = 16 * stages * (words_of_a + words_of_b)
    };
};

/* ---- 6: tiles ahead -------------------------------------------------------------------------- */

/* Tiles come by copies that nobody waits for while there is something to compute. Of a warp's
 * elements a lane has rows 8 apart, and groups of four columns 16 apart: 8 lanes read 8 rows of A,
 * and 4 lanes 16 columns of B. */
template <class Plan, bool whole>
static __global__ void __launch_bounds__(Plan::threads, Plan::resident)
    product_ahead(matrix<float> a, matrix<float> b, float *c)
{
#if HAS_TENSOR
    enum : unsigned { high = Plan::tall / 8, long_ = Plan::wide / 16, of_row = Plan::deep / 4 };
    GPUMB_SHARED(word<float>, shared);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned y = warp / Plan::across * Plan::tall + lane / 4;
    const unsigned x = warp % Plan::across * (Plan::wide / 4) + lane % 4;
    const tile_at tile = tile_of_block((unsigned)ceil_div(a.rows, Plan::rows),
                                       (unsigned)ceil_div(b.columns, Plan::columns));
    const unsigned top = tile.row * Plan::rows, left = tile.column * Plan::columns;
    const unsigned steps = (unsigned)ceil_div(a.columns, Plan::deep);
    word<float> *const all_of_a = shared, *const all_of_b =
                                              shared + Plan::stages * Plan::words_of_a;

    unsigned asked = 0, to = 0, from = 0; /* steps; stages */
    auto ask = [&]() {
        if (asked < steps) {
            ask_for_tile<whole, Plan::rows, Plan::deep, Plan::threads>(
                all_of_a + to * Plan::words_of_a, a, top, asked * Plan::deep, 0, 1);
            ask_for_tile<whole, Plan::deep, Plan::columns, Plan::threads>(
                all_of_b + to * Plan::words_of_b, b, asked * Plan::deep, left, 0, 1);
        }
        end_of_group();
        asked++;
        to = to + 1 == Plan::stages ? 0 : to + 1;
    };
    for (unsigned i = 0; i + 1 < Plan::stages; i++)
        ask();

    float sums[high][4 * long_] = {};
    for (unsigned step = 0; step < steps; step++) {
        wait_for_copies<Plan::stages - 2>();
        __syncthreads(); /* all have this tile, and are done with the one that is asked for next */
        ask();
        const word<float> *of_a = all_of_a + from * Plan::words_of_a;
        const word<float> *of_b = all_of_b + from * Plan::words_of_b;
        from = from + 1 == Plan::stages ? 0 : from + 1;
        UNROLL
        for (unsigned four_k = 0; four_k < of_row; four_k++) {
            word<float> from_a[high];
            UNROLL
            for (unsigned i = 0; i < high; i++)
                from_a[i] = of_a[place<of_row>(y + 8 * i, four_k)];
            UNROLL
            for (unsigned e = 0; e < 4; e++) {
                word<float> from_b[long_];
                UNROLL
                for (unsigned j = 0; j < long_; j++)
                    from_b[j] = of_b[place<Plan::columns / 4>(4 * four_k + e, x + 4 * j)];
                UNROLL
                for (unsigned i = 0; i < high; i++) {
                    UNROLL
                    for (unsigned j = 0; j < 4 * long_; j++)
                        sums[i][j] += from_a[i].at[e] * from_b[j / 4].at[j % 4];
                }
            }
        }
    }
    UNROLL
    for (unsigned i = 0; i < high; i++) {
        UNROLL
        for (unsigned j = 0; j < long_; j++)
            store_four<whole>(c, a.rows, b.columns, top + y + 8 * i, left + 4 * (x + 4 * j),
                              &sums[i][4 * j]);
    }
#else
    (void)a, (void)b, (void)c;
#endif
}

/* ---- 7, 8: tensor cores ---------------------------------------------------------------------- */

/* Where a warp's products go: as tensor cores leave them, pairs in rows 8 apart. */
template <bool whole>
static __device__ inline void store_product(float *c, unsigned m, unsigned n, unsigned row,
                                            unsigned column, const float (&sums)[4])
{
    struct alignas(8) pair {
        float at[2];
    };
    UNROLL
    for (unsigned i = 0; i < 2; i++) {
        const unsigned y = row + 8 * i;
        float *to = &c[y * (uint64_t)n + column];
        if (whole) {
            const pair two = {{sums[2 * i], sums[2 * i + 1]}};
            *(pair *)to = two;
        } else {
            UNROLL
            for (unsigned e = 0; e < 2; e++)
                if (y < m && column + e < n)
                    to[e] = sums[2 * i + e];
        }
    }
}

enum { FLAT = 32, GAP = 8 }; /* columns of A at a time; elements between rows in shared memory */

/* Tensor cores, and nothing else that is new: tiles are loaded when they are wanted, and each lane
 * collects its elements by itself. Of B, pairs are in a column: two loads. 8 warps of 64 x 32. */
template <bool whole>
static __global__ void __launch_bounds__(256)
    product_tensor(matrix<bf16> a, matrix<bf16> b, float *c)
{
#if HAS_TENSOR
    enum : unsigned { high = 4, wide = 4 };
    alignas(16) __shared__ bf16 of_a[SIDE][FLAT + GAP], of_b[FLAT][SIDE + GAP];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, pair = lane % 4 * 2;
    const unsigned top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    const unsigned y = warp / 4 * 16 * high + lane / 4, x = warp % 4 * 8 * wide + lane / 4;
    float sums[high][wide][4] = {};
    for (unsigned first = 0; first < a.columns; first += FLAT) {
        UNROLL
        for (unsigned i = 0; i < SIDE * FLAT / 8 / 256; i++) {
            const unsigned at = i * 256 + threadIdx.x;
            const unsigned row = at / (FLAT / 8), k = at % (FLAT / 8) * 8;
            const unsigned down = at / (SIDE / 8), column = at % (SIDE / 8) * 8;
            *(word<bf16> *)&of_a[row][k] = word_of<whole>(a, top + row, first + k);
            *(word<bf16> *)&of_b[down][column] = word_of<whole>(b, first + down, left + column);
        }
        __syncthreads();
        UNROLL
        for (unsigned k = 0; k < FLAT; k += 16) {
            unsigned from_b[wide][2];
            UNROLL
            for (unsigned j = 0; j < wide; j++) {
                UNROLL
                for (unsigned i = 0; i < 2; i++)
                    from_b[j][i] = of_b[k + 8 * i + pair][x + 8 * j] |
                                   (unsigned)of_b[k + 8 * i + pair + 1][x + 8 * j] << 16;
            }
            UNROLL
            for (unsigned i = 0; i < high; i++) {
                unsigned from_a[4];
                UNROLL
                for (unsigned q = 0; q < 4; q++)
                    memcpy(&from_a[q], &of_a[y + 16 * i + q % 2 * 8][k + q / 2 * 8 + pair], 4);
                UNROLL
                for (unsigned j = 0; j < wide; j++)
                    multiply_add(sums[i][j], from_a, from_b[j]);
            }
        }
        __syncthreads();
    }
    UNROLL
    for (unsigned i = 0; i < high; i++) {
        UNROLL
        for (unsigned j = 0; j < wide; j++)
            store_product<whole>(c, a.rows, b.columns, top + y + 16 * i,
                                 left + warp % 4 * 8 * wide + 8 * j + pair, sums[i][j]);
    }
#else
    (void)a, (void)b, (void)c;
#endif
}

/* Tiles ahead, as in step 6; a lane's elements come four matrices at a time, one product before
 * they are multiplied. */
template <class Plan, bool whole>
static __global__ void __launch_bounds__(Plan::threads, Plan::resident)
    product_staged(matrix<bf16> a, matrix<bf16> b, float *c)
{
#if HAS_TENSOR
    enum : unsigned {
        high = Plan::tall / 16,
        wide = Plan::wide / 8,
        of_row = Plan::deep / 8,
        of_column = Plan::columns / 8,
        slices = Plan::deep / 16
    };
    static_assert(slices >= 2, "the first slice of a tile is not its last");
    GPUMB_SHARED(word<bf16>, shared);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned y = warp / Plan::across * Plan::tall, x = warp % Plan::across * Plan::wide;
    const tile_at tile = tile_of_block((unsigned)ceil_div(a.rows, Plan::rows),
                                       (unsigned)ceil_div(b.columns, Plan::columns));
    const unsigned top = tile.row * Plan::rows, left = tile.column * Plan::columns;
    const unsigned steps = (unsigned)ceil_div(a.columns, Plan::deep);
    word<bf16> *const all_of_a = shared, *const all_of_b = shared + Plan::stages * Plan::words_of_a;

    unsigned asked = 0, to = 0, from = 0;
    auto ask = [&](unsigned part, unsigned parts) {
        if (asked < steps) {
            ask_for_tile<whole, Plan::rows, Plan::deep, Plan::threads>(
                all_of_a + to * Plan::words_of_a, a, top, asked * Plan::deep, part, parts);
            ask_for_tile<whole, Plan::deep, Plan::columns, Plan::threads>(
                all_of_b + to * Plan::words_of_b, b, asked * Plan::deep, left, part, parts);
        }
        if (part + 1 < parts)
            return;
        end_of_group();
        asked++;
        to = to + 1 == Plan::stages ? 0 : to + 1;
    };

    unsigned from_a[2][high][4], from_b[2][wide][2];
    auto collect = [&](unsigned half, unsigned slice) {
        const word<bf16> *of_a = all_of_a + from * Plan::words_of_a;
        const word<bf16> *of_b = all_of_b + from * Plan::words_of_b;
        UNROLL
        for (unsigned i = 0; i < high; i++)
            load_matrices<false>(
                from_a[half][i],
                &of_a[place<of_row>(y + 16 * i + lane % 16, 2 * slice + lane / 16)]);
        UNROLL
        for (unsigned j = 0; j < wide; j += 2) {
            unsigned two[4];
            load_matrices<true>(
                two, &of_b[place<of_column>(16 * slice + lane % 16, x / 8 + j + lane / 16)]);
            UNROLL
            for (unsigned q = 0; q < 4; q++)
                from_b[half][j + q / 2][q % 2] = two[q];
        }
    };

    for (unsigned i = 0; i + 1 < Plan::stages; i++)
        ask(0, 1);
    wait_for_copies<Plan::stages - 2>();
    __syncthreads();
    collect(0, 0);
    float sums[high][wide][4] = {};
    for (unsigned step = 0; step < steps; step++) {
        UNROLL
        for (unsigned slice = 0; slice < slices; slice++) {
            if (slice == slices - 1) { /* the first slice of the next tile, if it has come */
                wait_for_copies<Plan::stages - 2>();
                __syncthreads();
                from = from + 1 == Plan::stages ? 0 : from + 1;
            }
            collect((slice + 1) % 2, (slice + 1) % slices);
            if (slice < slices - 1) /* all are done with the tile before */
                ask(slice, slices - 1);
            UNROLL
            for (unsigned i = 0; i < high; i++) {
                UNROLL
                for (unsigned j = 0; j < wide; j++)
                    multiply_add(sums[i][i % 2 ? wide - 1 - j : j], from_a[slice % 2][i],
                                 from_b[slice % 2][i % 2 ? wide - 1 - j : j]);
            }
        }
    }
    UNROLL
    for (unsigned i = 0; i < high; i++) {
        UNROLL
        for (unsigned j = 0; j < wide; j++)
            store_product<whole>(c, a.rows, b.columns, top + y + 16 * i + lane / 4,
                                 left + x + 8 * j + lane % 4 * 2, sums[i][j]);
    }
#else
    (void)a, (void)b, (void)c;
#endif
}

/* ---- the launch ------------------------------------------------------------------------------ */

enum { NAIVE, COALESCED, TILED, REGISTERS, VECTORS, AHEAD, TENSOR, STAGED, STEPS };
static const char *const step_names[] = {"naive",   "coalesced", "tiled",  "registers",
                                         "vectors", "ahead",     "tensor", "staged"};

/* Plans that are compiled: tall, wide, down, across, deep, stages, resident. Of either kind the
 * first is what the steps take, the fastest on an H200; with few elements a later one. */
#ifndef AHEAD_PLANS
#define AHEAD_PLANS(X)                                                                             \
    X(64, 32, 2, 4, 32, 2, 1)                                                                      \
    X(128, 32, 2, 4, 32, 3, 1)                                                                     \
    X(64, 64, 2, 4, 16, 3, 1)                                                                      \
    X(64, 32, 2, 2, 16, 3, 3)                                                                      \
    X(32, 32, 2, 2, 16, 3, 4)
#endif
#ifndef STAGED_PLANS
#define STAGED_PLANS(X)                                                                            \
    X(64, 64, 4, 2, 64, 3, 1)                                                                      \
    X(64, 64, 4, 2, 64, 4, 1)                                                                      \
    X(64, 64, 2, 4, 64, 3, 1)                                                                      \
    X(64, 64, 2, 2, 32, 4, 2)                                                                      \
    X(32, 32, 2, 2, 64, 4, 3)
#endif

/* What a block computes at a time, and a warp of that. */
typedef struct plan_shape {
    unsigned rows, columns, deep, stages, threads, tall, wide;
} plan_shape;

template <class Plan> static plan_shape shape_of()
{
    const plan_shape s = {Plan::rows,    Plan::columns, Plan::deep, Plan::stages,
                          Plan::threads, Plan::tall,    Plan::wide};
    return s;
}

#define PLAN_OF_FLOATS(...) shape_of<plan<float, __VA_ARGS__>>(),
#define PLAN_OF_BF16(...) shape_of<plan<bf16, __VA_ARGS__>>(),
static const plan_shape ahead_plans[] = {AHEAD_PLANS(PLAN_OF_FLOATS)};
static const plan_shape staged_plans[] = {STAGED_PLANS(PLAN_OF_BF16)};

/* A product: m x k by k x n elements. */
typedef struct product {
    int step, plan; /* plan: its place in the list */
    unsigned m, n, k;
    gpumb_buffer *a, *b, *c;
    uint64_t seed;
} product;

static inline int is_bf16(const product *p)
{
    return p->step >= TENSOR;
}

static inline plan_shape shape_of_step(const product *p)
{
    static const plan_shape shapes[] = {{32, 8, 1, 1, 256, 32, 1},
                                        {8, 32, 1, 1, 256, 1, 32},
                                        {TILE, TILE, TILE, 1, TILE * TILE, 1, 32},
                                        {SIDE, SIDE, DEEP, 1, 256, 16, SIDE},
                                        {SIDE, SIDE, DEEP, 1, 256, 16, SIDE}};
    static const plan_shape tensor = {SIDE, SIDE, FLAT, 1, 256, 64, 32};
    return p->step < AHEAD     ? shapes[p->step]
           : p->step == AHEAD  ? ahead_plans[p->plan]
           : p->step == TENSOR ? tensor
                               : staged_plans[p->plan];
}

/* A model of NVIDIA's multiprocessors: how many clocks one takes for what a warp loads from the L1
 * or from shared memory, for each multiply-add of all lanes; at 128 bytes a clock, or one line
 * where there are several. The multiply-add itself takes a quarter of a clock. */
static inline double clocks_of_loads(const product *p)
{
    const plan_shape s = shape_of_step(p);
    const double tall = s.tall, wide = s.wide;
    switch (p->step) {
    case NAIVE:
        return 32 + 1; /* lines of A, and one of B */
    case COALESCED:
        return 2;
    case TILED:
        return 1 + 0.25; /* four words of a row of A at a time */
    case REGISTERS:
        return 2.0 / (int)EACH;
    case VECTORS:
        return (1 + 2) * 2.0 / (int)(EACH * EACH); /* 2 x 16 bytes of A, 16 x 16 of B */
    case AHEAD:
        return (tall / 32 + wide / 16) / (tall * wide / 32);
    case TENSOR: /* pairs of A; single elements of B */
        return (tall / 16 * 4 + wide / 8 * 4) / (tall * wide * 16 / 32);
    default:
        return (tall + wide) * 32 / 128 / (tall * wide * 16 / 32);
    }
}

/* The largest tiles are the fastest, but where there are not enough of them for a device. */
static inline int fitting_plan(gpumb *g, const product *p)
{
    const plan_shape *plans = is_bf16(p) ? staged_plans : ahead_plans;
    const int count =
        (int)(is_bf16(p) ? sizeof staged_plans : sizeof ahead_plans) / (int)sizeof *plans;
    const unsigned blocks = (unsigned)gpumb_get_device(g)->multiprocessors;
    int at = 0;
    while (at + 1 < count &&
           ceil_div(p->m, plans[at].rows) * ceil_div(p->n, plans[at].columns) < blocks)
        at++;
    return at;
}

/* Elements from a row to the next: whole words of 16 bytes. */
static inline unsigned width_of(const product *p, unsigned columns)
{
    const unsigned each = is_bf16(p) ? 8 : 4;
    return (columns + each - 1) / each * each;
}

template <class Type> static matrix<Type> a_of(const product *p)
{
    const matrix<Type> m = {GPUMB_PTR(const Type, p->a), p->m, p->k, width_of(p, p->k)};
    return m;
}

template <class Type> static matrix<Type> b_of(const product *p)
{
    const matrix<Type> m = {GPUMB_PTR(const Type, p->b), p->k, p->n, width_of(p, p->n)};
    return m;
}

static inline int fits(const product *p, unsigned m, unsigned n, unsigned deep)
{
    return p->m % m == 0 && p->n % n == 0 && p->k % deep == 0;
}

/* With `whole` as a constant. */
#define LAUNCH_PRODUCT(is_whole, kernel, grid, block, bytes, Type)                                 \
    do {                                                                                           \
        if (is_whole) {                                                                            \
            constexpr bool whole = true;                                                           \
            GPUMB_LAUNCH_BARRIER(kernel, grid, block, bytes, a_of<Type>(p), b_of<Type>(p), c);     \
        } else {                                                                                   \
            constexpr bool whole = false;                                                          \
            GPUMB_LAUNCH_BARRIER(kernel, grid, block, bytes, a_of<Type>(p), b_of<Type>(p), c);     \
        }                                                                                          \
    } while (0)

static inline unsigned tiles_of(const product *p, unsigned m, unsigned n)
{
    return (unsigned)(ceil_div(p->m, m) * ceil_div(p->n, n));
}

template <class Plan> static void launch_ahead(const product *p, float *c)
{
    LAUNCH_PRODUCT(fits(p, Plan::rows, Plan::columns, Plan::deep), (product_ahead<Plan, whole>),
                   tiles_of(p, Plan::rows, Plan::columns), (unsigned)Plan::threads,
                   (unsigned)Plan::bytes, float);
}

template <class Plan> static void launch_staged(const product *p, float *c)
{
    LAUNCH_PRODUCT(fits(p, Plan::rows, Plan::columns, Plan::deep), (product_staged<Plan, whole>),
                   tiles_of(p, Plan::rows, Plan::columns), (unsigned)Plan::threads,
                   (unsigned)Plan::bytes, bf16);
}

static inline dim3 grid_of(unsigned x, unsigned wide, unsigned y, unsigned high)
{
    return dim3((unsigned)ceil_div(x, wide), (unsigned)ceil_div(y, high));
}

/* Of at least a row and a column. */
static inline void launch_product(const product *p)
{
    float *c = GPUMB_PTR(float, p->c);
    int at = 0;
    switch (p->step) {
    case NAIVE:
        GPUMB_LAUNCH(product_naive, grid_of(p->m, 32, p->n, 8), dim3(32, 8), 0, a_of<float>(p),
                     b_of<float>(p), c);
        break;
    case COALESCED:
        GPUMB_LAUNCH(product_coalesced, grid_of(p->n, 32, p->m, 8), dim3(32, 8), 0, a_of<float>(p),
                     b_of<float>(p), c);
        break;
    case TILED:
        LAUNCH_PRODUCT(fits(p, TILE, TILE, TILE), product_tiled<whole>,
                       grid_of(p->n, TILE, p->m, TILE), dim3(TILE, TILE), 0, float);
        break;
    case REGISTERS:
        LAUNCH_PRODUCT(fits(p, SIDE, SIDE, DEEP), product_registers<whole>,
                       grid_of(p->n, SIDE, p->m, SIDE), (unsigned)(LANES * LANES), 0, float);
        break;
    case VECTORS:
        LAUNCH_PRODUCT(fits(p, SIDE, SIDE, DEEP), product_vectors<whole>,
                       grid_of(p->n, SIDE, p->m, SIDE), (unsigned)(LANES * LANES), 0, float);
        break;
    case TENSOR:
        LAUNCH_PRODUCT(fits(p, SIDE, SIDE, FLAT), product_tensor<whole>,
                       grid_of(p->n, SIDE, p->m, SIDE), 256u, 0, bf16);
        break;
#define LAUNCH_AHEAD(...)                                                                          \
    if (at++ == p->plan)                                                                           \
        launch_ahead<plan<float, __VA_ARGS__>>(p, c);
    case AHEAD:
        AHEAD_PLANS(LAUNCH_AHEAD)
        break;
#define LAUNCH_STAGED(...)                                                                         \
    if (at++ == p->plan)                                                                           \
        launch_staged<plan<bf16, __VA_ARGS__>>(p, c);
    default:
        STAGED_PLANS(LAUNCH_STAGED)
        break;
    }
}

/* ---- the data -------------------------------------------------------------------------------- */

/* Random bits become a number in [-1, 1), rounded. */
static __host__ __device__ inline bf16 bf16_of_bits(unsigned bits)
{
    return bf16_of((float)((int)(bits & 0xffff) - 0x8000) / 0x8000);
}

static __global__ void make_bf16(bf16 *x, uint64_t count)
{
    GPUMB_GRID_STRIDE(i, count)
        x[i] = bf16_of_bits(x[i]);
}

/* Between the rows. */
template <class Type>
static __global__ void spoil_gaps(Type *x, unsigned high, unsigned wide, unsigned width)
{
    GPUMB_GRID_STRIDE(i, (uint64_t)high * width)
        if (i % width >= wide)
            x[i] = sizeof(Type) == 2 ? (Type)0x7fff : (Type)NAN; /* a NaN of bf16, too */
}

template <class Type>
static void make_matrix(gpumb *g, const product *p, gpumb_buffer *b, unsigned high, unsigned wide,
                        uint64_t seed)
{
    const unsigned width = width_of(p, wide);
    const uint64_t count = (uint64_t)high * width;
    gpumb_fill(g, b, is_bf16(p) ? GPUMB_FILL_BITS : GPUMB_FILL_F32, seed);
    if (is_bf16(p))
        GPUMB_LAUNCH(make_bf16, 1024, 256, 0, GPUMB_PTR(bf16, b), count);
    GPUMB_LAUNCH(spoil_gaps<Type>, 1024, 256, 0, GPUMB_PTR(Type, b), high, wide, width);
    keep_contents(g, b);
}

template <class Type> static void make_both(gpumb *g, const product *p)
{
    make_matrix<Type>(g, p, p->a, p->m, p->k, p->seed);
    make_matrix<Type>(g, p, p->b, p->k, p->n, p->seed + 1);
}

static inline void make_inputs(gpumb *g, void *user)
{
    const product *p = (const product *)user;
    if (is_bf16(p))
        make_both<bf16>(g, p);
    else
        make_both<float>(g, p);
}

static inline product new_product(gpumb *g, int step, int plan, unsigned m, unsigned n, unsigned k)
{
    product p = {step, plan, m, n, k, NULL, NULL, NULL, gpumb_get_settings(g)->seed};
    const uint64_t each = is_bf16(&p) ? sizeof(bf16) : sizeof(float);
    p.a = gpumb_alloc(g, (uint64_t)m * width_of(&p, k) * each);
    p.b = gpumb_alloc(g, (uint64_t)k * width_of(&p, n) * each);
    make_inputs(g, &p);
    p.c = gpumb_alloc(g, (uint64_t)m * n * sizeof(float));
    return p;
}

/* Element (row, column) of A (0) or B (1), as the host computes it. */
static inline double element_on_host(const product *p, int of_b, unsigned row, unsigned column)
{
    const uint64_t i = row * (uint64_t)width_of(p, of_b ? p->n : p->k) + column;
    const uint64_t seed = p->seed + (uint64_t)of_b;
    if (is_bf16(p))
        return (double)float_of(bf16_of_bits(
            (unsigned)(gpumb_fill_word(GPUMB_FILL_BITS, seed, i / 4) >> 16 * (i % 4))));
    const uint32_t bits = (uint32_t)(gpumb_fill_word(GPUMB_FILL_F32, seed, i / 2) >> 32 * (i % 2));
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* ---- the check ------------------------------------------------------------------------------- */

/* How far an element may be from the exact sum of its k products p, in units of q = sqrt(sum p^2).
 *
 * The signs of the data are random, so that no partial sum of any order is larger than L q but with
 * a probability of 2 exp(-L^2 / 2) (Hoeffding): 3e-14 for L = 8.
 * fp32: a multiply-add or an addition rounds once, by up to u = 2^-24 of its result, up or down.
 * Errors of random sign add up to less than L sqrt(k) times the largest but with the same
 * probability (Higham & Mary, SIAM J. Sci. Comput. 41, 2019): L^2 u sqrt(k). An input that was
 * rounded to TF32 on the way would be off by 2^-12 of itself, more than that up to k = 16384.
 * Tensor cores: products are exact. 16 of them and the sum so far are cut off where the largest has
 * its last bit, 2^-23 of it, and so is their sum (Fasi, Higham, Mikaitis & Pranesh, PeerJ Comput.
 * Sci. 7, 2021). Cutting goes to one side: 18 times 2^-23 L for each 16 products. */
static __host__ __device__ inline double bound_of(int tensor_cores, unsigned k)
{
    const double L = 8;
    return tensor_cores ? 18 * L / 8388608 * (double)ceil_div(k, 16)
                        : L * L / 16777216 * sqrt((double)k);
}

/* Of those too far off: how many, and the first. */
template <class Type>
static __global__ void count_far(matrix<Type> a, matrix<Type> b, const float *c, double bound,
                                 unsigned long long *wrong)
{
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows || column >= b.columns)
        return;
    double sum = 0, squares = 0;
    for (unsigned k = 0; k < a.columns; k++) {
        const double term = (double)float_of(a.at[row * (uint64_t)a.width + k]) *
                            (double)float_of(b.at[k * (uint64_t)b.width + column]);
        sum += term;
        squares += term * term;
    }
    const uint64_t i = row * (uint64_t)b.columns + column;
    if (!(fabs((double)c[i] - sum) <= bound * sqrt(squares))) {
        atomicAdd(&wrong[0], 1ull);
        atomicMin(&wrong[1], (unsigned long long)i);
    }
}

enum { LOOKS = 64 }; /* of the host */

/* For gpumb_set_verify(): the device looks at all elements, and the host, with inputs of its own,
 * at some. */
static inline int check_product(gpumb *g, void *user)
{
    const product *p = (const product *)user;
    const double bound = bound_of(is_bf16(p), p->k);
    unsigned long long wrong[2] = {0, ~0ull};
    gpumb_buffer *found = gpumb_alloc(g, sizeof wrong);
    gpumb_write(g, found, 0, wrong, sizeof wrong);
    const dim3 blocks = grid_of(p->n, 32, p->m, 8);
    if (is_bf16(p))
        GPUMB_LAUNCH(count_far<bf16>, blocks, dim3(32, 8), 0, a_of<bf16>(p), b_of<bf16>(p),
                     GPUMB_PTR(const float, p->c), bound, GPUMB_PTR(unsigned long long, found));
    else
        GPUMB_LAUNCH(count_far<float>, blocks, dim3(32, 8), 0, a_of<float>(p), b_of<float>(p),
                     GPUMB_PTR(const float, p->c), bound, GPUMB_PTR(unsigned long long, found));
    const int lost = gpumb_read(g, found, 0, wrong, sizeof wrong);
    gpumb_free(g, found);
    if (lost)
        return 0;
    if (wrong[0]) {
        gpumb_reason(g, "elements too far off: %llu, the first in row %llu, column %llu", wrong[0],
                     wrong[1] / p->n, wrong[1] % p->n);
        return 0;
    }
    for (uint64_t look = 0; look < LOOKS; look++) {
        const uint64_t random = gpumb_fill_word(GPUMB_FILL_BITS, p->seed + 2, look);
        const unsigned row = (unsigned)(random % p->m), column = (unsigned)((random >> 32) % p->n);
        double sum = 0, squares = 0;
        for (unsigned k = 0; k < p->k; k++) {
            const double term = element_on_host(p, 0, row, k) * element_on_host(p, 1, k, column);
            sum += term;
            squares += term * term;
        }
        float there;
        if (gpumb_read(g, p->c, (row * (uint64_t)p->n + column) * sizeof there, &there,
                       sizeof there))
            return 0;
        if (!(fabs((double)there - sum) <= bound * sqrt(squares))) {
            gpumb_reason(g, "row %u, column %u is %.9g, not %.9g", row, column, (double)there, sum);
            return 0;
        }
    }
    return 1;
}

#endif

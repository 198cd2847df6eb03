/* A scan of any number of elements in one launch, with decoupled look-back (Merrill & Garland,
 * "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002): each tile
 * publishes its sum as soon as it has it, adds up what its predecessors published, back to the
 * nearest that knows the sum of all before it, and publishes its own. Include it after gpumb.h. */
#ifndef BENCH_SCAN_H
#define BENCH_SCAN_H

#include "kernels.h"

#include <math.h>
#include <vector>

/* The forms that are compiled: threads of a block, words of 16 bytes of a thread in a tile, threads
 * that a multiprocessor has to have room for. */
#ifndef SCAN_FORMS
#define SCAN_FORMS(X)                                                                              \
    X(256, 2, 1536)                                                                                \
    X(256, 4, 1536)                                                                                \
    X(256, 8, 1024)
#endif

/* ---- what the vendors call differently ------------------------------------------------------- */

/* PREFETCH asks for the line of 128 bytes with this address to come into the L2; STORE_LAST stores
 * 16 bytes that are the first to leave it. */
#if defined(__CUDACC__) && !defined(GPUMB_BACKEND_CPU)
#define PREFETCH(p) asm volatile("prefetch.global.L2 [%0];" : : "l"(p))
#define STORE_LAST(to, w) __stcs((uint4 *)(to), *(const uint4 *)&(w))
#else
#define PREFETCH(p) __builtin_prefetch(p)
#define STORE_LAST(to, w) (void)(*(to) = (w))
#endif

/* Other blocks' words, whole and not from a cache of the multiprocessor; no order among them. */
static __device__ inline uint64_t load_word(const uint64_t *p)
{
#if defined(GPUMB_BACKEND_CPU)
    return __atomic_load_n(p, __ATOMIC_RELAXED);
#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    return *(const volatile uint64_t *)p;
#endif
}

static __device__ inline void store_word(uint64_t *p, uint64_t x)
{
#if defined(GPUMB_BACKEND_CPU)
    __atomic_store_n(p, x, __ATOMIC_RELAXED);
#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    __hip_atomic_store(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    *(volatile uint64_t *)p = x;
#endif
}

/* ---- the state of a tile --------------------------------------------------------------------- */

/* A word of 64 bits: a status above, a value below. The status counts up by two in each launch, so
 * that the next one finds it as it is: one more than before it, the value is the sum of the tile,
 * two more, of the tile and all before it. `before` is the same for all tiles. */
enum { OF_TILE = 1, OF_ALL = 2 };

static __device__ inline unsigned status_of(uint64_t w)
{
    return (unsigned)(w >> 32);
}

static __host__ __device__ inline uint64_t state_word(unsigned status, unsigned value)
{
    return (uint64_t)status << 32 | value;
}

static __host__ __device__ inline uint64_t state_word(unsigned status, float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return state_word(status, bits);
}

static __device__ inline void value_of(uint64_t w, unsigned *value)
{
    *value = (unsigned)w;
}

static __device__ inline void value_of(uint64_t w, float *value)
{
    *value = __uint_as_float((unsigned)w);
}

/* ---- within a warp --------------------------------------------------------------------------- */

/* Each lane gets the sum of those up to it: Kogge & Stone's, for several numbers at a time. */
template <class Type, int count> static __device__ inline void scan_lanes(Type (&x)[count])
{
    const unsigned lane = threadIdx.x % GPUMB_WARP;
    UNROLL
    for (unsigned distance = 1; distance < GPUMB_WARP; distance *= 2) {
        UNROLL
        for (int k = 0; k < count; k++) {
            const Type other = GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, x[k], distance);
            x[k] += lane >= distance ? other : 0;
        }
    }
}

template <class Type> static __device__ inline Type sum_of_lanes(Type x)
{
    UNROLL
    for (unsigned distance = GPUMB_WARP / 2; distance; distance /= 2)
        x += GPUMB_SHUFFLE_XOR(GPUMB_ALL_LANES, x, distance);
    return x;
}

/* The sum of all tiles before this one, by a warp; all lanes get it. The nearest is lane 0's. */
template <class Type>
static __device__ inline Type look_back(const uint64_t *tiles, unsigned tile, unsigned before)
{
    const unsigned lane = threadIdx.x % GPUMB_WARP;
    Type sum = 0;
    for (unsigned behind = lane + 1;; behind += GPUMB_WARP) {
        uint64_t seen = state_word(before + (behind > tile ? OF_ALL : 0), (Type)0);
        do
            if (status_of(seen) == before)
                seen = load_word(&tiles[tile - behind]);
        while (!GPUMB_ALL(GPUMB_ALL_LANES, status_of(seen) != before));
        const auto of_all = GPUMB_BALLOT(GPUMB_ALL_LANES, status_of(seen) == before + OF_ALL);
        Type value;
        value_of(seen, &value);
        if (!(of_all & (((uint64_t)1 << lane) - 1))) /* none is nearer */
            sum += value;
        if (of_all)
            return sum_of_lanes(sum);
    }
}

/* ---- within a block -------------------------------------------------------------------------- */

/* What is before each warp of a tile, in `of_warps`, and in all of it; by the first warp. */
template <class Type>
static __device__ inline void join_warps(Type *of_warps, unsigned warps, uint64_t *tiles,
                                         unsigned tile, unsigned before)
{
    const unsigned lane = threadIdx.x;
    Type sums[1] = {lane < warps ? of_warps[lane] : 0}, earlier = 0;
    scan_lanes(sums);
    const Type of_tile = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, sums[0], warps - 1),
               left = GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, sums[0], 1u);
    if (tile) {
        if (lane == 0)
            store_word(&tiles[tile], state_word(before + OF_TILE, of_tile));
        earlier = look_back<Type>(tiles, tile, before);
    }
    if (lane == 0)
        store_word(&tiles[tile], state_word(before + OF_ALL, earlier + of_tile));
    if (lane < warps)
        of_warps[lane] = earlier + (lane ? left : 0);
}

/* The state of a scan: a counter, in a line of its own, and a word for each tile. */
enum { TILES_AT = 16 };

/* One tile for each block; in it each warp has a row of consecutive words for each of `words`.
 * `ahead`: the tile so much further on is asked for, so that a load from memory that takes long
 * holds up none of those that wait for its sum.
 * `draw`: where blocks do not start in the order of their number, each draws its tile, and so waits
 * only for what has started before; the counter ends where it began. */
template <class Type, int threads, int words, int room>
static __global__ void __launch_bounds__(threads, room / threads)
    scan_tiles(const Type *__restrict__ in, Type *__restrict__ out, uint64_t n, uint64_t *state,
               int draw, unsigned ahead, int exclusive)
{
    typedef word<Type> Word;
    const int each = Word::COUNT;
    __shared__ Type of_warps[32];
    __shared__ unsigned drawn;
    unsigned tile = blockIdx.x;
    if (draw) {
        if (threadIdx.x == 0)
            drawn = atomicInc((unsigned *)state, gridDim.x - 1);
        __syncthreads();
        tile = drawn;
    }
    uint64_t *tiles = state + TILES_AT;
    const unsigned before = status_of(load_word(&tiles[tile]));
    const unsigned warp = threadIdx.x / GPUMB_WARP, lane = threadIdx.x % GPUMB_WARP;
    const uint64_t start = (uint64_t)tile * (threads * words * each);
    const uint64_t first = start + (warp * words * GPUMB_WARP + lane) * each; /* of the thread */
    const uint64_t row = GPUMB_WARP * each;                                   /* to its next word */
    const bool whole = start + threads * words * each <= n &&                 /* and aligned */
                       ((uintptr_t)in | (uintptr_t)out) % 16 == 0;

    const uint64_t later = start + (uint64_t)ahead * (threads * words * each);
    if (later + threads * words * each <= n)
        for (unsigned line = threadIdx.x; line < threads * words / 8; line += threads)
            PREFETCH(&in[later + line * (128 / sizeof(Type))]);

    Word at[words];
    if (whole) {
        UNROLL
        for (int k = 0; k < words; k++)
            at[k] = *(const Word *)&in[first + (unsigned)k * row];
    } else {
        UNROLL
        for (int k = 0; k < words; k++) {
            UNROLL
            for (int e = 0; e < each; e++) {
                const uint64_t i = first + (unsigned)k * row + (unsigned)e;
                at[k].at[e] = i < n ? in[i] : 0;
            }
        }
    }

    Type sums[words], of_warp = 0; /* of what is before each word of the lane, in its warp */
    UNROLL
    for (int k = 0; k < words; k++) {
        const Word w = at[k];
        sums[k] = (w.at[0] + w.at[1]) + (w.at[2] + w.at[3]);
    }
    scan_lanes(sums);
    UNROLL
    for (int k = 0; k < words; k++) {
        const Type of_row = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, sums[k], GPUMB_WARP - 1),
                   left = GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, sums[k], 1u);
        sums[k] = of_warp + (lane ? left : 0);
        of_warp += of_row;
    }
    if (lane == 0)
        of_warps[warp] = of_warp;
    __syncthreads();
    if (warp == 0)
        join_warps(of_warps, threads / GPUMB_WARP, tiles, tile, before);
    __syncthreads();

    const Type of_others = of_warps[warp];
    UNROLL
    for (int k = 0; k < words; k++) {
        const uint64_t to = first + (unsigned)k * row;
        Word w = at[k];
        Type sum = of_others + sums[k];
        UNROLL
        for (int e = 0; e < each; e++) {
            const Type next = sum + w.at[e];
            w.at[e] = exclusive ? sum : next;
            sum = next;
        }
        if (whole) {
            STORE_LAST((Word *)&out[to], w);
            continue;
        }
        UNROLL
        for (int e = 0; e < each; e++)
            if (to + (unsigned)e < n)
                out[to + (unsigned)e] = w.at[e];
    }
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* One of SCAN_FORMS. */
typedef struct scan_form {
    int threads, words, room;
} scan_form;

#define SCAN_FORM(threads, words, room) {threads, words, room},
static const scan_form scan_forms[] = {SCAN_FORMS(SCAN_FORM)};

static inline uint64_t scan_tile(const scan_form *f)
{
    return (uint64_t)f->threads * (uint64_t)f->words * 4;
}

typedef struct scan_job {
    const scan_form *form;
    int floats, exclusive; /* of 32-bit integers, modulo 2^32, or fp32 */
    uint64_t n;
    uint64_t tile;   /* elements that are taken at once, */
    unsigned within; /* and additions that one goes through in these: for the bound of floats */
    gpumb_buffer *in, *out, *state, *sums; /* sums: for the check */
} scan_job;

/* Up to 2^32 - 1 tiles. */
static inline uint64_t scan_tiles_of(const scan_job *j)
{
    return ceil_div(j->n, scan_tile(j->form));
}

enum { MOST_CHUNKS = 1 << 17 };

/* Elements that the check adds up at a time. */
static inline uint64_t chunk_of(const scan_job *j)
{
    return j->n / MOST_CHUNKS + 1;
}

/* With a state that is ready for scans of as many elements, however many follow. An element goes
 * through less than 40 additions in a tile: 2 in its word, 6 in a warp of up to 64 lanes, one for
 * each of up to 16 rows, 6 among warps, one each for what is before the row, the warp and the tile,
 * 4 in its word again. */
static inline scan_job new_scan(gpumb *g, const scan_form *form, int floats, int exclusive,
                                uint64_t n)
{
    scan_job j = {form, floats, exclusive, n, scan_tile(form), 40, NULL, NULL, NULL, NULL};
    j.state = gpumb_alloc(g, (TILES_AT + scan_tiles_of(&j)) * sizeof(uint64_t));
    j.sums = gpumb_alloc(g, (ceil_div(n, chunk_of(&j)) + 1) * 16);
    gpumb_fill(g, j.state, GPUMB_FILL_ZERO, 0);
    return j;
}

/* From `in` to `out`, at any elements of theirs. Of no elements nothing is launched. NVIDIA's
 * devices start blocks in the order of their number, on which the vendor's library relies as well;
 * the CPU backend starts several at once. Tiles are asked for as many ahead as there are
 * multiprocessors: four times that takes 1.4 times as long on an H200. */
template <class Type>
static void launch_scan(gpumb *g, const scan_job *j, const Type *in, Type *out)
{
    const scan_form f = *j->form;
    const unsigned ahead = (unsigned)gpumb_get_device(g)->multiprocessors;
    const int draw = strcmp(gpumb_get_device(g)->backend, "cuda") != 0;
    if (j->n == 0)
        return;
#define SCAN_LAUNCH(t, w, room)                                                                    \
    if (f.threads == t && f.words == w)                                                            \
        GPUMB_LAUNCH_BARRIER((scan_tiles<Type, t, w, room>), scan_tiles_of(j), t, 0, in, out,      \
                             j->n, GPUMB_PTR(uint64_t, j->state), draw, ahead, j->exclusive);
    SCAN_FORMS(SCAN_LAUNCH)
}

static inline void scan(gpumb *g, const scan_job *j)
{
    if (j->floats)
        launch_scan(g, j, GPUMB_PTR(const float, j->in), GPUMB_PTR(float, j->out));
    else
        launch_scan(g, j, GPUMB_PTR(const unsigned, j->in), GPUMB_PTR(unsigned, j->out));
}

/* ---- the check ------------------------------------------------------------------------------- */

/* A sum to compare with: exact for integers; of floats in double precision, with the sum of their
 * absolute values, by which it is off by less than 1e-10. */
template <class Type> struct reference;

template <> struct reference<unsigned> {
    unsigned sum;
    __host__ __device__ void add(unsigned x)
    {
        sum += x;
    }
    __host__ __device__ void add(const reference &x)
    {
        sum += x.sum;
    }
    __host__ __device__ bool allows(unsigned x, double) const
    {
        return x == sum;
    }
};

template <> struct reference<float> {
    double sum, absolute;
    __host__ __device__ void add(float x)
    {
        sum += (double)x;
        absolute += fabs((double)x);
    }
    __host__ __device__ void add(const reference &x)
    {
        sum += x.sum;
        absolute += x.absolute;
    }
    __host__ __device__ bool allows(float x, double relative) const
    {
        return fabs((double)x - sum) <= (relative + 1e-10) * absolute;
    }
};

template <class Type>
static __global__ void sum_chunks(const Type *in, uint64_t n, uint64_t chunk, uint64_t chunks,
                                  reference<Type> *sums)
{
    GPUMB_GRID_STRIDE(c, chunks) {
        reference<Type> sum = {};
        for (uint64_t i = c * chunk; i < n && i < (c + 1) * chunk; i++)
            sum.add(in[i]);
        sums[c] = sum;
    }
}

/* The largest relative error of a sum in which an element goes through h additions: gamma(h) = h u
 * / (1 - h u) with the unit roundoff u = 2^-24 (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., section 4.2). */
static __host__ __device__ inline double gamma_of(double h)
{
    const double hu = h / 16777216;
    return hu < 0.5 ? hu / (1 - hu) : 1;
}

/* Sums of tiles are added up in some order, which takes an element through one addition for each
 * tile at most. */
template <class Type>
static __global__ void check_chunks(const Type *in, const Type *out, uint64_t n, uint64_t chunk,
                                    uint64_t chunks, const reference<Type> *sums, uint64_t tile,
                                    unsigned within, int exclusive, unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(c, chunks) {
        reference<Type> sum = sums[c];
        for (uint64_t i = c * chunk; i < n && i < (c + 1) * chunk; i++) {
            reference<Type> next = sum;
            next.add(in[i]);
            if (!(exclusive ? sum : next).allows(out[i], gamma_of((double)(i / tile + within)))) {
                atomicAdd(&wrong[0], 1ull);
                atomicMin(&wrong[1], (unsigned long long)i);
            }
            sum = next;
        }
    }
}

/* Whether `out` is the scan of `in`: sums of chunks, on the host what is before each, then every
 * element against the sum up to it. */
template <class Type>
static int check_scan_of(gpumb *g, const scan_job *j, const Type *in, const Type *out)
{
    typedef reference<Type> Sum;
    const uint64_t chunk = chunk_of(j), chunks = ceil_div(j->n, chunk),
                   bytes = chunks * sizeof(Sum);
    unsigned long long wrong[2] = {0, ~0ull};
    const uint64_t wrong_at = gpumb_size(j->sums) - sizeof wrong;
    std::vector<Sum> sums((size_t)chunks);
    GPUMB_LAUNCH(sum_chunks<Type>, ceil_div(chunks, 128), 128, 0, in, j->n, chunk, chunks,
                 GPUMB_PTR(Sum, j->sums));
    if (gpumb_read(g, j->sums, 0, sums.data(), bytes))
        return 0;
    Sum sum = {};
    for (Sum &s : sums) {
        const Sum of_chunk = s;
        s = sum;
        sum.add(of_chunk);
    }
    if (gpumb_write(g, j->sums, 0, sums.data(), bytes) ||
        gpumb_write(g, j->sums, wrong_at, wrong, sizeof wrong))
        return 0;
    GPUMB_LAUNCH(check_chunks<Type>, ceil_div(chunks, 128), 128, 0, in, out, j->n, chunk, chunks,
                 GPUMB_PTR(const Sum, j->sums), j->tile, j->within, j->exclusive,
                 (unsigned long long *)(GPUMB_PTR(char, j->sums) + wrong_at));
    if (gpumb_read(g, j->sums, wrong_at, wrong, sizeof wrong))
        return 0;
    if (wrong[0])
        gpumb_reason(g, "%llu of %llu elements are wrong, the first at %llu", wrong[0],
                     (unsigned long long)j->n, wrong[1]);
    return wrong[0] == 0;
}

static inline int check_scan(gpumb *g, void *job)
{
    const scan_job *j = (const scan_job *)job;
    if (j->n == 0)
        return 1;
    return j->floats
               ? check_scan_of(g, j, GPUMB_PTR(const float, j->in), GPUMB_PTR(const float, j->out))
               : check_scan_of(g, j, GPUMB_PTR(const unsigned, j->in),
                               GPUMB_PTR(const unsigned, j->out));
}

#endif

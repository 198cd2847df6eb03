/* A scan of any number of elements in one launch, with decoupled look-back (Merrill & Garland,
 * "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002): each tile
 * publishes its sum as soon as it has it and adds up what its predecessors published. Two forms: a
 * tile for each block, kept in registers, and the ring, in which a block streams tiles through
 * shared memory. Include it after gpumb.h. */
#ifndef BENCH_SCAN_H
#define BENCH_SCAN_H

#include "async.h"
#include "kernels.h"

#include <math.h>
#include <vector>

/* The forms with a tile for each block: threads, words of 16 bytes of each in a tile, threads that
 * a multiprocessor has to have room for, and the most KiB of input for which the form is the
 * fastest on an H100; beyond the last, the ring is (bench/results/h100-scan-probe.txt). */
#define SCAN_FORMS(X)                                                                              \
    X(256, 2, 1536, 256)                                                                           \
    X(256, 4, 1536, 1024)                                                                          \
    X(256, 8, 1024, 16384)

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

/* A word of 64 bits for each 32 of a value: a status above, a part of the value below. So value and
 * status are seen together, without any order of loads and stores. The status counts up in each
 * launch, so that the next one finds it as it is. */
template <class Type> struct tile_state {
    enum { WORDS = sizeof(Type) / 4 };
    uint64_t at[WORDS];
};

template <class Type>
static __host__ __device__ inline tile_state<Type> state_of(unsigned status, Type value)
{
    tile_state<Type> s;
    unsigned bits[tile_state<Type>::WORDS];
    memcpy(bits, &value, sizeof value);
    for (int i = 0; i < tile_state<Type>::WORDS; i++)
        s.at[i] = (uint64_t)status << 32 | bits[i];
    return s;
}

/* `mixed`: where its words are of two. */
template <class Type>
static __host__ __device__ inline unsigned status_of(const tile_state<Type> &s, unsigned mixed)
{
    const uint64_t first = s.at[0] >> 32, last = s.at[tile_state<Type>::WORDS - 1] >> 32;
    return first == last ? (unsigned)first : mixed;
}

template <class Type> static __host__ __device__ inline Type value_of(const tile_state<Type> &s)
{
    Type value;
    unsigned bits[tile_state<Type>::WORDS];
    for (int i = 0; i < tile_state<Type>::WORDS; i++)
        bits[i] = (unsigned)s.at[i];
    memcpy(&value, bits, sizeof value);
    return value;
}

template <class Type>
static __device__ inline tile_state<Type> load_state(const uint64_t *tiles, uint64_t tile)
{
    tile_state<Type> s;
    UNROLL
    for (int i = 0; i < tile_state<Type>::WORDS; i++)
        s.at[i] = load_word(tiles + tile * tile_state<Type>::WORDS + (unsigned)i);
    return s;
}

template <class Type>
static __device__ inline void store_state(uint64_t *tiles, uint64_t tile, unsigned status,
                                          Type value)
{
    const tile_state<Type> s = state_of(status, value);
    UNROLL
    for (int i = 0; i < tile_state<Type>::WORDS; i++)
        store_word(tiles + tile * tile_state<Type>::WORDS + (unsigned)i, s.at[i]);
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

/* ---- within a tile --------------------------------------------------------------------------- */

template <class Type> static __device__ inline Type sum_of_word(const word<Type> &w)
{
    const int last = word<Type>::COUNT - 1;
    return last > 1 ? (w.at[0] + w.at[1]) + (w.at[last - 1] + w.at[last]) : w.at[0] + w.at[1];
}

/* A warp has `words` rows of a tile, a word of each lane in a row: what is before each word of the
 * lane, in the warp. Returns the sum of all. */
template <class Type, int words>
static __device__ inline Type sums_before(const word<Type> (&at)[words], Type (&before)[words])
{
    const unsigned lane = threadIdx.x % GPUMB_WARP;
    Type of_warp = 0;
    UNROLL
    for (int k = 0; k < words; k++)
        before[k] = sum_of_word(at[k]);
    scan_lanes(before);
    UNROLL
    for (int k = 0; k < words; k++) {
        const Type of_row = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, before[k], GPUMB_WARP - 1),
                   left = GPUMB_SHUFFLE_UP(GPUMB_ALL_LANES, before[k], 1u);
        before[k] = of_warp + (lane ? left : 0);
        of_warp += of_row;
    }
    return of_warp;
}

/* The words of a lane, scanned, with `earlier` before the first of the warp's. The lane's first
 * element is `first`; what is not `whole`, or not aligned, is stored element by element. */
template <class Type, int words>
static __device__ inline void store_scanned(Type *out, uint64_t n, uint64_t first, bool whole,
                                            const word<Type> (&at)[words],
                                            const Type (&before)[words], Type earlier,
                                            int exclusive)
{
    typedef word<Type> Word;
    const uint64_t row = GPUMB_WARP * Word::COUNT;
    UNROLL
    for (int k = 0; k < words; k++) {
        const uint64_t to = first + (unsigned)k * row;
        Word w = at[k];
        Type sum = earlier + before[k];
        UNROLL
        for (int e = 0; e < Word::COUNT; e++) {
            const Type next = sum + w.at[e];
            w.at[e] = exclusive ? sum : next;
            sum = next;
        }
        if (whole) {
            STORE_LAST((Word *)&out[to], w);
            continue;
        }
        UNROLL
        for (int e = 0; e < Word::COUNT; e++)
            if (to + (unsigned)e < n)
                out[to + (unsigned)e] = w.at[e];
    }
}

/* ---- a tile for each block ------------------------------------------------------------------- */

/* The status counts up by two in each launch: one more than before it, the value is the sum of the
 * tile, two more, of the tile and all before it. `before` is the same for all tiles. */
enum { OF_TILE = 1, OF_ALL = 2 };

/* The sum of all tiles before this one, by a warp, which looks back to the nearest that knows the
 * sum of all before it; all lanes get it. The nearest is lane 0's. */
template <class Type>
static __device__ inline Type look_back(const uint64_t *tiles, unsigned tile, unsigned before)
{
    const unsigned lane = threadIdx.x % GPUMB_WARP;
    Type sum = 0;
    for (unsigned behind = lane + 1;; behind += GPUMB_WARP) {
        tile_state<Type> seen = state_of(before + (behind > tile ? OF_ALL : 0), (Type)0);
        do
            if (status_of(seen, before) == before)
                seen = load_state<Type>(tiles, tile - behind);
        while (!GPUMB_ALL(GPUMB_ALL_LANES, status_of(seen, before) != before));
        const auto of_all =
            GPUMB_BALLOT(GPUMB_ALL_LANES, status_of(seen, before) == before + OF_ALL);
        if (!(of_all & (((uint64_t)1 << lane) - 1))) /* none is nearer */
            sum += value_of(seen);
        if (of_all)
            return sum_of_lanes(sum);
    }
}

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
            store_state(tiles, tile, before + OF_TILE, of_tile);
        earlier = look_back<Type>(tiles, tile, before);
    }
    if (lane == 0)
        store_state(tiles, tile, before + OF_ALL, earlier + of_tile);
    if (lane < warps)
        of_warps[lane] = earlier + (lane ? left : 0);
}

/* The state of a scan: a counter, in a line of its own, and that of each tile. */
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
    const unsigned before = status_of(load_state<Type>(tiles, tile), 0);
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

    Type sums[words];
    const Type of_warp = sums_before(at, sums);
    if (lane == 0)
        of_warps[warp] = of_warp;
    __syncthreads();
    if (warp == 0)
        join_warps(of_warps, threads / GPUMB_WARP, tiles, tile, before);
    __syncthreads();
    store_scanned(out, n, first, whole, at, sums, of_warps[warp], exclusive);
}

/* ---- the ring --------------------------------------------------------------------------------
 * A block on each multiprocessor takes tiles of 16 KiB through slots in its shared memory: one warp
 * loads, by bulk copies, one adds up, two look back, eight scan and store.
 *
 * Bytes in flight: a multiprocessor's share of a copy is 11 KB/us on an H100, 16 on an H200, each
 * way; for loads that take 1 us that much has to be on its way (J. D. C. Little, Operations
 * Research 9, 1961). A slot is taken for longer: load, sum, look-back and scan, 3 to 4 us, or four
 * slots. Four reach 0.68 of the copy on an H100, 8 0.97, 12, which is what fits, 0.98: the rest is
 * for what does not take equally long (bench/results/h100-scan-probe.txt, as all that follows).
 *
 * One hop: a block knows the sum up to the end of its own last tile, to which it adds the sums of
 * those since, about one of each other block. So nobody waits for another's look-back, and 1 KB
 * from the L2 is read for 16 of data.
 *
 * Drawn tiles: each block takes the next that nobody has. What is in work is a narrow window of
 * memory however fast each block is: 0.99 of the copy instead of 0.98, 0.97 instead of 0.96 at a
 * quarter of the size. And a tile waits only for such of blocks that run. */
enum {
    SLOTS = 12,
    SCANNERS = 8,
    ROWS = 4,
    LOOKERS = 2,
    LOOKS = 5, /* of a lane at a time: more than 132 multiprocessors' tiles by a warp */
    LOADER = 0,
    ADDER,
    LOOKER,
    SCANNER = LOOKER + LOOKERS,
    RING_THREADS = (SCANNER + SCANNERS) * 32
};
static const unsigned NO_TILE = ~0u;

/* What a slot has in it: a tile, the block's tile before it, the number of the launch. */
typedef struct drawn_tile {
    unsigned tile, before, launch;
} drawn_tile;

template <class Type> struct ring {
    word<Type> words[SLOTS][SCANNERS][ROWS][32];
    copy_barrier full[SLOTS], summed[SLOTS], found[SLOTS], empty[SLOTS]; /* in this order */
    drawn_tile drawn[SLOTS];
    Type of_tile[SLOTS], of_warps[SLOTS][SCANNERS]; /* before each, in the tile; by the adder */
    Type earlier[SLOTS], with_tile[SLOTS];          /* before the tile, and with it; by a looker */
};

#if ASYNC_BARRIERS
#if defined(GPUMB_BACKEND_CPU)
static inline bool all_meet(bool any)
{
    return __syncthreads_or(any);
}
#endif

/* step(first), step(first + every) ... by a warp, until it is false. On the CPU, where what spins
 * holds up its block, the warps take turns, slot by slot. */
template <class Step>
static __device__ inline void for_slots(unsigned first, unsigned every, unsigned turn, Step step)
{
#if defined(GPUMB_BACKEND_CPU)
    bool goes_on = true;
    for (unsigned i = 0; all_meet(goes_on); i++)
        for (unsigned t = LOADER; t <= SCANNER; t++) {
            if (t == turn && i % every == first && goes_on)
                goes_on = step(i);
            (void)all_meet(false);
        }
#else
    (void)turn;
    for (unsigned i = first; step(i); i += every) {
    }
#endif
}

/* By all lanes, of which the first arrives, when all have done what is before it. */
static __device__ inline void arrive_together(copy_barrier *b)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        arrive(b);
}

/* Draws tiles and loads them, until there are none: that is said in a slot for each looker. Each
 * block draws once in vain, so that the counter says which launch this is. */
template <class Type>
static __device__ inline void load_tiles(ring<Type> &r, const Type *in, uint64_t n, uint64_t *state,
                                         unsigned tiles)
{
    const unsigned lane = threadIdx.x % 32, each = sizeof(r.words[0]) / sizeof(Type);
    const auto draw = [&] { return lane ? 0 : atomicAdd((unsigned long long *)state, 1ull); };
    const uint64_t draws = (uint64_t)tiles + gridDim.x, first = draw(), launch = first / draws;
    unsigned tile = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, (unsigned)(first % draws), 0);
    unsigned before = NO_TILE, ends = 0;
    for_slots(0, 1, LOADER, [&](unsigned i) {
        const unsigned at = i % SLOTS;
        const bool some = tile < tiles;
        const uint64_t start = (uint64_t)tile * each, next = some ? draw() : 0;
        if (i >= SLOTS)
            wait_turn(&r.empty[at], i / SLOTS - 1);
        if (lane == 0)
            r.drawn[at] = {some ? tile : NO_TILE, before, (unsigned)launch + 1};
        if (some && start + each <= n) {
            if (lane == 0)
                copy_bulk(r.words[at], in + start, sizeof r.words[at], &r.full[at]);
        } else {
            for (unsigned e = lane; some && e < each; e += 32)
                ((Type *)r.words[at])[e] = start + e < n ? in[start + e] : 0;
            arrive_together(&r.full[at]);
        }
        before = tile;
        if (some) /* the next is used here first: it has been on its way meanwhile */
            tile = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, (unsigned)(next - launch * draws), 0);
        ends += !some;
        return ends < LOOKERS;
    });
}

/* Adds tiles up, and publishes their sums. */
template <class Type> static __device__ inline void add_tiles(ring<Type> &r, uint64_t *states)
{
    const unsigned lane = threadIdx.x % 32;
    for_slots(0, 1, ADDER, [&](unsigned i) {
        const unsigned at = i % SLOTS;
        wait_turn(&r.full[at], i / SLOTS);
        const drawn_tile d = r.drawn[at];
        if (d.tile == NO_TILE)
            return false;
        Type sums[SCANNERS] = {}, of_tile = 0;
        UNROLL
        for (int w = 0; w < SCANNERS; w++) {
            UNROLL
            for (int k = 0; k < ROWS; k++)
                sums[w] += sum_of_word(r.words[at][w][k][lane]);
        }
        UNROLL
        for (int w = 0; w < SCANNERS; w++) {
            const Type of_warp = sum_of_lanes(sums[w]);
            sums[w] = of_tile;
            of_tile += of_warp;
        }
        if (lane == 0) {
            store_state(states, d.tile, d.launch, of_tile);
            r.of_tile[at] = of_tile;
            UNROLL
            for (int w = 0; w < SCANNERS; w++)
                r.of_warps[at][w] = sums[w];
        }
        arrive_together(&r.summed[at]);
        return true;
    });
}

/* The sum of the tiles from `from` to before `to`, of this launch, by a warp; all lanes get it. */
template <class Type>
static __device__ inline Type sum_of_tiles(const uint64_t *states, unsigned from, unsigned to,
                                           unsigned launch)
{
    Type sum = 0;
    for (; from < to; from += LOOKS * 32) {
        const unsigned first = from + threadIdx.x % 32;
        tile_state<Type> seen[LOOKS];
        bool all = false;
        UNROLL
        for (int k = 0; k < LOOKS; k++)
            seen[k] = state_of(first + 32 * (unsigned)k < to ? launch - 1 : launch, (Type)0);
        while (!GPUMB_ALL(GPUMB_ALL_LANES, all)) {
            UNROLL
            for (int k = 0; k < LOOKS; k++)
                if (status_of(seen[k], launch - 1) != launch)
                    seen[k] = load_state<Type>(states, first + 32 * (unsigned)k);
            all = true;
            UNROLL
            for (int k = 0; k < LOOKS; k++)
                all = all && status_of(seen[k], launch - 1) == launch;
        }
        UNROLL
        for (int k = 0; k < LOOKS; k++)
            sum += value_of(seen[k]);
    }
    return sum_of_lanes(sum);
}

/* Finds what is before tiles, one of every LOOKERS. */
template <class Type>
static __device__ inline void look_back_from_tiles(ring<Type> &r, const uint64_t *states,
                                                   unsigned number)
{
    for_slots(number, LOOKERS, LOOKER, [&](unsigned i) {
        const unsigned at = i % SLOTS, was = (i + SLOTS - 1) % SLOTS;
        wait_turn(&r.full[at], i / SLOTS);
        const drawn_tile d = r.drawn[at];
        if (d.tile == NO_TILE)
            return false;
        Type earlier = sum_of_tiles<Type>(states, d.before + 1, d.tile, d.launch);
        if (i) {
            wait_turn(&r.found[was], (i - 1) / SLOTS);
            earlier += r.with_tile[was];
        }
        wait_turn(&r.summed[at], i / SLOTS);
        if (threadIdx.x % 32 == 0) {
            r.earlier[at] = earlier;
            r.with_tile[at] = earlier + r.of_tile[at];
        }
        arrive_together(&r.found[at]);
        return true;
    });
}

/* Scans a warp's rows of each tile. */
template <class Type>
static __device__ inline void scan_rows(ring<Type> &r, Type *out, uint64_t n, unsigned number,
                                        int exclusive)
{
    const unsigned lane = threadIdx.x % 32, each = sizeof(r.words[0]) / sizeof(Type);
    for_slots(0, 1, SCANNER, [&](unsigned i) {
        const unsigned at = i % SLOTS;
        wait_turn(&r.full[at], i / SLOTS);
        const unsigned tile = r.drawn[at].tile;
        if (tile == NO_TILE)
            return false;
        wait_turn(&r.found[at], i / SLOTS);
        word<Type> w[ROWS];
        Type before[ROWS];
        UNROLL
        for (int k = 0; k < ROWS; k++)
            w[k] = r.words[at][number][k][lane];
        const Type earlier = r.earlier[at] + r.of_warps[at][number];
        arrive_together(&r.empty[at]);
        (void)sums_before(w, before);
        const uint64_t start = (uint64_t)tile * each;
        store_scanned(out, n, start + number * (each / SCANNERS) + lane * word<Type>::COUNT,
                      start + each <= n, w, before, earlier, exclusive);
        return true;
    });
}
#endif

template <class Type>
static __global__ void __launch_bounds__(RING_THREADS, 1)
    scan_ring(const Type *__restrict__ in, Type *__restrict__ out, uint64_t n, uint64_t *state,
              unsigned tiles, int exclusive)
{
#if ASYNC_BARRIERS
    GPUMB_SHARED(ring<Type>, shared);
    ring<Type> &r = *shared;
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        new_barriers(r.full, SLOTS);
        new_barriers(r.summed, SLOTS);
        new_barriers(r.found, SLOTS);
        new_barriers(r.empty, SLOTS, SCANNERS);
    }
    __syncthreads();
    if (warp == LOADER)
        load_tiles(r, in, n, state, tiles);
    else if (warp == ADDER)
        add_tiles(r, state + TILES_AT);
    else if (warp < SCANNER)
        look_back_from_tiles(r, state + TILES_AT, warp - LOOKER);
    else
        scan_rows(r, out, n, warp - SCANNER, exclusive);
#else
    (void)in, (void)out, (void)n, (void)state, (void)tiles, (void)exclusive;
#endif
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Types of elements: integers modulo 2^32 and 2^64, fp32 and fp64. */
enum { SCAN_I32, SCAN_F32, SCAN_U64, SCAN_F64, SCAN_TYPES };
#define FOR_SCAN_TYPE(type, Type, ...)                                                             \
    GPUMB_FOR_TYPES(type, Type, (unsigned, float, uint64_t, double), __VA_ARGS__)

static inline int is_float(int type)
{
    return type % 2;
}

static inline uint64_t size_of_type(int type)
{
    return type < SCAN_U64 ? 4 : 8;
}

/* One of SCAN_FORMS; the last is the ring, with the threads and words that scan. */
typedef struct scan_form {
    int threads, words, room;
    uint64_t most_kib;
} scan_form;

#define SCAN_FORM(threads, words, room, most_kib) {threads, words, room, most_kib},
static const scan_form scan_forms[] = {SCAN_FORMS(SCAN_FORM){SCANNERS * 32, ROWS, 0, ~0ull}};
enum { RING = COUNT(scan_forms) - 1 };

static inline uint64_t scan_tile(const scan_form *f, int type)
{
    return (uint64_t)f->threads * (uint64_t)f->words * (16 / size_of_type(type));
}

typedef struct scan_job {
    const scan_form *form;
    int type, exclusive;
    uint64_t n;
    uint64_t tile;   /* elements that are taken at once, */
    unsigned within; /* and additions that one goes through in these: for the bound of floats */
    uint64_t ring_blocks;                  /* 0: it is not used */
    gpumb_buffer *in, *out, *state, *sums; /* sums: for the check */
} scan_job;

/* Up to 2^32 - 1 tiles. */
static inline uint64_t scan_tiles_of(const scan_job *j, const scan_form *f)
{
    return ceil_div(j->n, scan_tile(f, j->type));
}

static inline uint64_t scan_state_words(const scan_job *j, const scan_form *f)
{
    return TILES_AT + scan_tiles_of(j, f) * (size_of_type(j->type) / 4);
}

/* How many blocks of the ring a device runs at once. 0: it can't. */
template <class Type> static inline uint64_t blocks_of_ring(gpumb *g)
{
    gpumb_launch_config how = {};
    how.block[0] = RING_THREADS;
    how.shared_bytes = sizeof(ring<Type>);
    return has_barriers(g, scan_ring<Type>) ? resident_blocks(g, scan_ring<Type>, &how) : 0;
}

static inline uint64_t ring_blocks(gpumb *g, int type)
{
    uint64_t blocks = 0;
    FOR_SCAN_TYPE(type, Type, blocks = blocks_of_ring<Type>(g));
    return blocks;
}

enum { MOST_CHUNKS = 1 << 17 };

/* Elements that the check adds up at a time. */
static inline uint64_t chunk_of(const scan_job *j)
{
    return j->n / MOST_CHUNKS + 1;
}

/* The form itself or, for the ring, the one that stands in where addresses are not aligned. */
static inline const scan_form *flat_form(const scan_job *j)
{
    return j->form == &scan_forms[RING] ? &scan_forms[RING - 1] : j->form;
}

/* With a state that is ready for scans of as many elements, however many follow. An element goes
 * through less than 40 additions in a tile: 2 in its word, 6 in a warp of up to 64 lanes, one for
 * each of up to 16 rows, 6 among warps, one each for what is before the row, the warp and the tile,
 * 4 in its word again. In the ring: 19 where tiles are added up, 10 in a look back, 7 behind it. */
static inline scan_job new_scan(gpumb *g, const scan_form *form, int type, int exclusive,
                                uint64_t n)
{
    scan_job j = {form, type, exclusive, n, scan_tile(form, type), 40, 0, NULL, NULL, NULL, NULL};
    uint64_t words = scan_state_words(&j, flat_form(&j));
    if (form == &scan_forms[RING] && (j.ring_blocks = ring_blocks(g, type)) != 0)
        words += scan_state_words(&j, form);
    j.state = gpumb_alloc(g, words * sizeof(uint64_t));
    j.sums = gpumb_alloc(g, (ceil_div(n, chunk_of(&j)) + 1) * 24);
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
    const scan_form f = *flat_form(j);
    const unsigned ahead = (unsigned)gpumb_get_device(g)->multiprocessors;
    const int draw = strcmp(gpumb_get_device(g)->backend, "cuda") != 0;
    uint64_t *state = GPUMB_PTR(uint64_t, j->state);
    if (j->n == 0)
        return;
    if (j->ring_blocks && ((uintptr_t)in | (uintptr_t)out) % 16 == 0) {
        const uint64_t tiles = scan_tiles_of(j, j->form);
        GPUMB_LAUNCH_BARRIER(scan_ring<Type>, tiles < j->ring_blocks ? tiles : j->ring_blocks,
                             RING_THREADS, sizeof(ring<Type>), in, out, j->n,
                             state + scan_state_words(j, &f), (unsigned)tiles, j->exclusive);
        return;
    }
#define SCAN_LAUNCH(t, w, room, kib)                                                               \
    if (f.threads == t && f.words == w)                                                            \
        GPUMB_LAUNCH_BARRIER((scan_tiles<Type, t, w, room>), scan_tiles_of(j, &f), t, 0, in, out,  \
                             j->n, state, draw, ahead, j->exclusive);
    SCAN_FORMS(SCAN_LAUNCH)
}

static inline void scan(gpumb *g, const scan_job *j)
{
    FOR_SCAN_TYPE(j->type, Type,
                  launch_scan(g, j, GPUMB_PTR(const Type, j->in), GPUMB_PTR(Type, j->out)));
}

/* ---- the check ------------------------------------------------------------------------------- */

/* A sum to compare with: exact for integers. */
template <class Type> struct reference {
    Type sum;
    __host__ __device__ void add(Type x)
    {
        sum += x;
    }
    __host__ __device__ void add(const reference &x)
    {
        sum += x.sum;
    }
    __host__ __device__ bool allows(Type x, double) const
    {
        return x == sum;
    }
};

/* Of floats a double and what rounding leaves of it (Knuth, The Art of Computer Programming,
 * volume 2, section 4.2.2, theorem B), of twice a double's precision together, with the sum of
 * their absolute values, which may be off by 1e-10 of it. u is the unit roundoff. */
template <class Type> struct sum_of_floats {
    double sum, rest, absolute;
    __host__ __device__ void add_double(double x)
    {
        const double next = sum + x, back = next - sum;
        rest += (sum - (next - back)) + (x - back);
        sum = next;
    }
    __host__ __device__ void add(Type x)
    {
        add_double((double)x);
        absolute += fabs((double)x);
    }
    __host__ __device__ void add(const sum_of_floats &x)
    {
        add_double(x.sum);
        rest += x.rest;
        absolute += x.absolute;
    }
    /* After h additions: gamma(h) = h u / (1 - h u) (Higham, Accuracy and Stability of Numerical
     * Algorithms, 2nd ed., section 4.2). */
    __host__ __device__ bool allows(Type x, double h) const
    {
        const double hu = h / (sizeof(Type) == 4 ? 16777216. : 9007199254740992.),
                     relative = hu < 0.5 ? hu / (1 - hu) : 1;
        return fabs(((double)x - sum) - rest) <= relative * (1 + 1e-10) * absolute;
    }
};

template <> struct reference<float> : sum_of_floats<float> {
};
template <> struct reference<double> : sum_of_floats<double> {
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
            if (!(exclusive ? sum : next).allows(out[i], (double)(i / tile + within))) {
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
        gpumb_reason(g, "wrong elements: %llu of %llu, the first at %llu", wrong[0],
                     (unsigned long long)j->n, wrong[1]);
    return wrong[0] == 0;
}

static inline int check_scan(gpumb *g, void *job)
{
    const scan_job *j = (const scan_job *)job;
    if (j->n == 0)
        return 1;
    int right = 0;
    FOR_SCAN_TYPE(
        j->type, Type,
        right = check_scan_of(g, j, GPUMB_PTR(const Type, j->in), GPUMB_PTR(const Type, j->out)));
    return right;
}

#endif

/* What a group of threads, a block or a warp, does together: broadcast, sum, scans, votes, over a
 * value of each thread or over a range in memory. In several forms:
 *     SHARED    through shared memory, the baseline
 *     SHUFFLE   warps by shuffles, then each of them what all have left in shared memory
 *     HARDWARE  with the instructions that do it in one
 *     PARTS_4   4 parts of the block or warp (8) by shuffles, then each thread adds up for itself
 *               what it needs of those left in shared memory
 *     LIBRARY   the vendor's
 * Blocks may have any number of threads up to 1024. Include it after gpumb.h. */
#ifndef BENCH_GROUP_H
#define BENCH_GROUP_H

#include "bench.h"
#include "clock.h"

enum { SHARED, SHUFFLE, HARDWARE, PARTS_4, PARTS_8, LIBRARY, FORMS };

/* On the CPU each kernel is compiled with all that it calls, twice: not with these. */
#if defined(GPUMB_BACKEND_CPU)
#define DEVICE __attribute__((noinline))
#else
#define DEVICE __device__ __forceinline__
#endif

/* ---- a warp ---------------------------------------------------------------------------------- */

#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#undef UNROLL /* lanes are not a number that the compiler knows: it unrolls what it can */
#define UNROLL
#define SYNC_LANES(mask) __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront")
#else
#define SYNC_LANES(mask) __syncwarp(mask)
#endif

/* So many lanes as a mask, in fewer instructions than for any number: 0 are never asked for. */
#define LANES(count)                                                                               \
    ((count) == GPUMB_WARP ? GPUMB_ALL_LANES : ((GPUMB_ALL_LANES & 1) << (count)) - 1)

/* 16 bytes of fp32, 32 of fp64. */
template <class T> struct alignas(16) four {
    T at[4];
};
template <class T> static __host__ __device__ inline four<T> operator+(four<T> a, four<T> b)
{
    return {{a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]}};
}
template <class T> static __host__ __device__ inline four<T> operator-(four<T> a, four<T> b)
{
    return {{a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2], a.at[3] - b.at[3]}};
}
template <class T> static __host__ __device__ inline bool same(T a, T b)
{
    return !(a < b || b < a);
}
template <class T> static __host__ __device__ inline bool same(four<T> a, four<T> b)
{
    return same(a.at[0], b.at[0]) && same(a.at[1], b.at[1]) && same(a.at[2], b.at[2]) &&
           same(a.at[3], b.at[3]);
}

/* The lane's place: which of how many. */
struct lane_of {
    unsigned lane, count;
};

static __device__ inline lane_of this_lane(unsigned threads)
{
    const unsigned lane = threadIdx.x % GPUMB_WARP, rest = threads - (threadIdx.x - lane);
    return {lane, threads % GPUMB_WARP && rest < GPUMB_WARP ? rest : GPUMB_WARP};
}

#define FOR_VECTORS(name, macro)                                                                   \
    template <class T> static __device__ inline T name(lane_of l, T x, unsigned by)                \
    {                                                                                              \
        (void)l; /* AMD's need no mask */                                                          \
        return macro(LANES(l.count), x, by);                                                       \
    }                                                                                              \
    template <class T> static __device__ inline four<T> name(lane_of l, four<T> x, unsigned by)    \
    {                                                                                              \
        (void)l;                                                                                   \
        return {{macro(LANES(l.count), x.at[0], by), macro(LANES(l.count), x.at[1], by),           \
                 macro(LANES(l.count), x.at[2], by), macro(LANES(l.count), x.at[3], by)}};         \
    }
FOR_VECTORS(from_lane, GPUMB_SHUFFLE_FROM)
FOR_VECTORS(from_before, GPUMB_SHUFFLE_UP)
FOR_VECTORS(from_after, GPUMB_SHUFFLE_DOWN)
FOR_VECTORS(from_across, GPUMB_SHUFFLE_XOR)
#undef FOR_VECTORS

/* The sum of so many lanes, for the first of them; for all, where the warp has all its lanes. By an
 * instruction, from sm_80 on, of the whole warp. */
template <bool instruction, class T> static DEVICE T sum_for_first(lane_of l, T x, unsigned lanes)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (instruction)
        return __reduce_add_sync(LANES(l.count), x);
#endif
    if (l.count == GPUMB_WARP) {
        UNROLL
        for (unsigned by = lanes / 2; by; by /= 2)
            x = x + from_across(l, x, by);
        return x;
    }
    for (unsigned by = lanes / 2; by; by /= 2) {
        const T other = from_after(l, x, by);
        if (l.lane + by < l.count)
            x = x + other;
    }
    return x;
}

/* All lanes get the sum. */
template <bool instruction, class T> static DEVICE T sum_of_lanes(lane_of l, T x)
{
    x = sum_for_first<instruction>(l, x, GPUMB_WARP);
    return l.count == GPUMB_WARP ? x : from_lane(l, x, 0);
}

/* A vector's elements spread over so many lanes, which get the sum of element lane % 4 alone, and
 * back: of a warp's 9 shuffles, not 20. All lanes of a warp. */
template <class T> static __device__ inline T spread_sum(lane_of l, four<T> x, unsigned lanes)
{
    const bool odd = l.lane & 1, upper = l.lane & 2;
    const T a = (odd ? x.at[1] : x.at[0]) + from_across(l, odd ? x.at[0] : x.at[1], 1);
    const T b = (odd ? x.at[3] : x.at[2]) + from_across(l, odd ? x.at[2] : x.at[3], 1);
    T mine = (upper ? b : a) + from_across(l, upper ? a : b, 2);
    UNROLL
    for (unsigned by = 4; by < lanes; by *= 2)
        mine = mine + from_across(l, mine, by);
    return mine;
}
template <class T> static __device__ inline four<T> gathered(lane_of l, T mine)
{
    const bool odd = l.lane & 1, upper = l.lane & 2;
    const T other = from_across(l, mine, 2);
    const T a = upper ? other : mine, b = upper ? mine : other;
    const T beside_a = from_across(l, a, 1), beside_b = from_across(l, b, 1);
    return {{odd ? beside_a : a, odd ? a : beside_a, odd ? beside_b : b, odd ? b : beside_b}};
}

/* The sums of so many lanes each, left in shared memory by their first. */
template <bool instruction, class T>
static DEVICE void leave_sum(lane_of l, T x, unsigned lanes, T *left)
{
    x = sum_for_first<instruction>(l, x, lanes);
    if (l.lane % lanes == 0)
        *left = x;
}
template <bool instruction, class T>
static DEVICE void leave_sum(lane_of l, four<T> x, unsigned lanes, four<T> *left)
{
    if (l.count == GPUMB_WARP) {
        const T mine = spread_sum(l, x, lanes);
        if (l.lane % lanes < 4)
            left->at[l.lane % 4] = mine;
    } else {
        x = sum_for_first<false>(l, x, lanes);
        if (l.lane % lanes == 0)
            *left = x;
    }
}

/* x + y if it holds: in one instruction, which the compiler does not always find, and of 8 bytes
 * only where it is given a branch. */
#if defined(__CUDA_ARCH__)
#define ADD_IF(type, letter, name)                                                                 \
    static __device__ inline type add_if(bool holds, type x, type y)                               \
    {                                                                                              \
        if (sizeof(type) == 4 || holds)                                                            \
            asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p add." name " %0, %0, %1; }"              \
                : "+" letter(x)                                                                    \
                : letter(y), "r"((unsigned)holds));                                                \
        return x;                                                                                  \
    }
ADD_IF(unsigned, "r", "u32")
ADD_IF(unsigned long long, "l", "u64")
ADD_IF(float, "f", "f32")
ADD_IF(double, "d", "f64")
#undef ADD_IF
#else
template <class T> static __device__ inline T add_if(bool holds, T x, T y)
{
    return holds ? x + y : x;
}
#endif
template <class T> static __device__ inline four<T> add_if(bool holds, four<T> x, four<T> y)
{
    return {{add_if(holds, x.at[0], y.at[0]), add_if(holds, x.at[1], y.at[1]),
             add_if(holds, x.at[2], y.at[2]), add_if(holds, x.at[3], y.at[3])}};
}

/* What is before a lane, from what is up to it: integers can be taken off again. */
template <class T> static __device__ inline T before_lane(lane_of l, T up_to, T own)
{
    if constexpr (T(1) / T(2) == T(0))
        return up_to - own;
    const T before = from_before(l, up_to, 1);
    return l.lane ? before : T();
}
template <class T> static __device__ inline four<T> before_lane(lane_of l, four<T> up_to, four<T>)
{
    const four<T> before = from_before(l, up_to, 1);
    return l.lane ? before : four<T>();
}

/* In blocks of so many threads shuffles of vectors wait for each other rather than for their
 * results, and fewer of them are faster, even one after the other. */
enum { MANY_FOR_SCAN = 1024 };

/* Unless NULL, `total` becomes the sum of a whole warp. */
template <int threads, class T>
static DEVICE T scan_of_lanes(lane_of l, T x, bool exclusive, T *total)
{
    const T own = x;
    UNROLL
    for (unsigned by = 1; by < GPUMB_WARP; by *= 2)
        x = add_if(l.lane >= by, x, from_before(l, x, by));
    if (total && l.lane == GPUMB_WARP - 1)
        *total = x;
    return exclusive ? before_lane(l, x, own) : x;
}

/* Four lanes change their vectors of four elements for those of one element each; and back. */
template <class T> static __device__ inline four<T> transposed(lane_of l, four<T> x)
{
    const bool odd = l.lane & 1, upper = l.lane & 2;
    T a = from_across(l, odd ? x.at[0] : x.at[1], 1),
      b = from_across(l, odd ? x.at[2] : x.at[3], 1);
    x = {{odd ? a : x.at[0], odd ? x.at[1] : a, odd ? b : x.at[2], odd ? x.at[3] : b}};
    a = from_across(l, upper ? x.at[0] : x.at[2], 2);
    b = from_across(l, upper ? x.at[1] : x.at[3], 2);
    return {{upper ? a : x.at[0], upper ? b : x.at[1], upper ? x.at[2] : a, upper ? x.at[3] : b}};
}

template <int threads, class T>
static DEVICE four<T> scan_of_lanes(lane_of l, four<T> x, bool exclusive, four<T> *total)
{
    if (l.count != GPUMB_WARP || threads < MANY_FOR_SCAN) {
        UNROLL
        for (unsigned by = 1; by < GPUMB_WARP; by *= 2)
            x = add_if(l.lane >= by, x, from_before(l, x, by));
        if (total && l.lane == GPUMB_WARP - 1)
            *total = x;
        return exclusive ? before_lane(l, x, x) : x;
    }
    /* 12 shuffles, not 20 */
    x = transposed(l, x);
    four<T> sums = {{x.at[0], x.at[0] + x.at[1], T(), T()}};
    sums.at[2] = sums.at[1] + x.at[2];
    sums.at[3] = sums.at[2] + x.at[3];
    T up_to = sums.at[3];
    UNROLL
    for (unsigned by = 4; by < GPUMB_WARP; by *= 2)
        up_to = add_if(l.lane >= by, up_to, from_before(l, up_to, by));
    if (total && l.lane >= GPUMB_WARP - 4)
        total->at[l.lane % 4] = up_to;
    T before = from_before(l, up_to, 4);
    before = l.lane >= 4 ? before : T();
    const four<T> befores = {{before, before, before, before}};
    if (exclusive)
        sums = {{T(), sums.at[0], sums.at[1], sums.at[2]}};
    return transposed(l, befores + sums);
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* Two pieces of shared memory, of an element a thread, that operations use in turn: each has a
 * barrier, and so none of its threads still reads what the one after the next writes. */
template <class T> struct turns {
    T *now, *next;
};

/* Of the threads of a block, in elements: the second piece is aligned, too. */
static __host__ __device__ constexpr unsigned room_for(unsigned threads)
{
    return (threads + threads / 8 + 63) / 64 * 64;
}

template <class T> static __device__ inline void take_turns(turns<T> &m)
{
    T *const now = m.next;
    m.next = m.now;
    m.now = now;
}

/* Whose index and barrier: those of the block, or of a warp in its share of the memory. `threads`:
 * in a block; 0: as it was launched. */
template <int threads> struct the_block {
    static __device__ unsigned count()
    {
        return threads ? (unsigned)threads : blockDim.x;
    }
    static __device__ unsigned index()
    {
        return threadIdx.x;
    }
    static __device__ void sync()
    {
        __syncthreads();
    }
    template <class T> static __device__ T *share(T *memory)
    {
        return memory;
    }
};

template <int threads> struct the_warp {
    static __device__ unsigned count()
    {
        return this_lane(the_block<threads>::count()).count;
    }
    static __device__ unsigned index()
    {
        return threadIdx.x % GPUMB_WARP;
    }
    static __device__ void sync()
    {
        SYNC_LANES(LANES(count()));
    }
    template <class T> static __device__ T *share(T *memory)
    {
        return memory + threadIdx.x / GPUMB_WARP * GPUMB_WARP;
    }
};

template <class Scope, class T> struct by_memory {
    static __device__ T broadcast(T x, unsigned root, turns<T> &m)
    {
        T *const at = Scope::share(m.now);
        if (Scope::index() == root)
            at[0] = x;
        Scope::sync();
        take_turns(m);
        return at[0];
    }

    /* Thread 0 gets the sum; what others get is part of it. */
    static __device__ T reduce_to_one(T x, turns<T> &m)
    {
        const unsigned i = Scope::index();
        T *const at = Scope::share(m.now);
        at[i] = x;
        for (unsigned count = Scope::count(), half; count > 1; count = half) {
            half = (count + 1) / 2;
            Scope::sync();
            if (i + half < count)
                at[i] = x = x + at[i + half];
        }
        take_turns(m);
        return x;
    }

    static __device__ T reduce(T x, turns<T> &m)
    {
        T *const at = Scope::share(m.now);
        reduce_to_one(x, m);
        Scope::sync();
        return at[0];
    }

    /* Hillis & Steele, Commun. ACM 29, 1986: log2 steps, from one piece into the other. */
    static __device__ T scan(T x, turns<T> &m, bool exclusive)
    {
        const unsigned i = Scope::index(), count = Scope::count();
        const unsigned to = exclusive ? i + 1 : i;
        if (to < count)
            Scope::share(m.now)[to] = x;
        if (exclusive && !i)
            Scope::share(m.now)[0] = T();
        Scope::sync();
        if (exclusive)
            x = Scope::share(m.now)[i];
        for (unsigned by = 1; by < count; by *= 2) {
            if (i >= by)
                x = x + Scope::share(m.now)[i - by];
            take_turns(m);
            if (2 * by < count) {
                Scope::share(m.now)[i] = x;
                Scope::sync();
            }
        }
        return x;
    }

    static __device__ T inclusive(T x, turns<T> &m)
    {
        return scan(x, m, false);
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        return scan(x, m, true);
    }
};

/* ---- forms of a block ------------------------------------------------------------------------ */

template <int form, class T, int threads> struct block_group;

template <class T, int threads>
struct block_group<SHARED, T, threads> : by_memory<the_block<threads>, T> {
};

/* The sum of the first `limit` of `count` things that warps have left in shared memory, for all
 * lanes of a warp. A lane takes `each` at a time, and as many lanes as it takes share the work. */
template <class T, int each> struct left_over {
    struct alignas(each * sizeof(T) < 16 ? each * sizeof(T) : 16) pieces {
        T at[each];
    };

    static __device__ T sum(lane_of l, const T *left, unsigned count, unsigned limit)
    {
        unsigned readers = 1;
        while (readers * each < count)
            readers *= 2;
        const unsigned first = l.lane % readers * each;
        pieces some = *(const pieces *)&left[first];
        UNROLL
        for (int k = 0; k < each; k++)
            some.at[k] = first + (unsigned)k < limit ? some.at[k] : T();
        UNROLL
        for (int half = each / 2; half; half /= 2)
            UNROLL
        for (int k = 0; k < half; k++)
            some.at[k] = some.at[k] + some.at[k + half];
        UNROLL
        for (unsigned by = readers / 2; by; by /= 2)
            some.at[0] = some.at[0] + from_across(l, some.at[0], by);
        return some.at[0];
    }
};

/* Of many vectors a lane takes an element at a time. */
template <class T> struct left_over<four<T>, 0> {
    static __device__ four<T> sum(lane_of l, const four<T> *left, unsigned count, unsigned limit)
    {
        T mine = T();
        UNROLL
        for (unsigned w = l.lane / 4; w < count; w += GPUMB_WARP / 4)
            mine = mine + (w < limit ? left[w].at[l.lane % 4] : T());
        UNROLL
        for (unsigned by = 4; by < GPUMB_WARP; by *= 2)
            mine = mine + from_across(l, mine, by);
        return gathered(l, mine);
    }
};

/* How many at a time is fastest on an H200; 0 warps: as many as there are at run time. Where one
 * warp does it alone, more. */
static __host__ __device__ constexpr int at_a_time(int warps, size_t size, bool alone)
{
    int each = 1;
    if (size > 8)
        return warps < 1 || warps > 4 ? 0 : warps > 2 ? 4 : warps;
    if (warps > 8)
        return alone ? 4 : 1;
    while (each < warps && ((size_t)each * size < 32 || each < 4))
        each *= 2;
    return each;
}

template <class T, int threads, bool instruction> struct by_shuffles {
    typedef the_block<threads> Block;
    enum { KNOWN = (threads + 31) / 32, MANY = KNOWN > 16 }; /* warps; 0: not before it runs */

    static __device__ unsigned warps()
    {
        return (Block::count() + GPUMB_WARP - 1) / GPUMB_WARP;
    }

    /* In a warp that has not all its lanes, each of them takes all that there is. */
    template <int each>
    static __device__ T sum_left(lane_of l, const T *left, unsigned count, unsigned limit)
    {
        if (l.count != GPUMB_WARP) {
            T sum = T();
            for (unsigned w = 0; w < limit; w++)
                sum = sum + left[w];
            return sum;
        }
        if constexpr (instruction && (KNOWN == 0 || KNOWN > 4))
            return sum_of_lanes<true>(l, l.lane < limit ? left[l.lane] : T());
        return left_over<T, each>::sum(l, left, count, limit);
    }

    template <bool alone> static __device__ T sum(T x, turns<T> &m)
    {
        const lane_of l = this_lane(Block::count());
        T *const left = m.now;
        leave_sum<instruction>(l, x, GPUMB_WARP, &left[threadIdx.x / GPUMB_WARP]);
        __syncthreads();
        take_turns(m);
        if (!alone || threadIdx.x < GPUMB_WARP)
            x = sum_left<at_a_time(KNOWN, sizeof(T), alone)>(l, left, warps(), warps());
        return x;
    }

    /* Many warps' shuffles wait for each other: where a step takes two or more, one warp alone and
     * a barrier more are faster. */
    static __device__ T reduce(T x, turns<T> &m)
    {
        if (warps() == 1)
            return sum_of_lanes<instruction>(this_lane(Block::count()), x);
        if constexpr (MANY && sizeof(T) > 4)
            return broadcast(sum<true>(x, m), 0, m);
        return sum<false>(x, m);
    }

    static __device__ T reduce_to_one(T x, turns<T> &m)
    {
        if constexpr (MANY) {
            return sum<true>(x, m);
        } else if constexpr (instruction && KNOWN > 1 && KNOWN <= 4) {
            /* so fast that it counts: no branch, and thread 0 has its own warp's sum still */
            const lane_of l = this_lane(Block::count());
            T *const left = m.now;
            x = sum_of_lanes<true>(l, x);
            if (l.lane == 0)
                left[threadIdx.x / GPUMB_WARP] = x;
            __syncthreads();
            take_turns(m);
            UNROLL
            for (unsigned w = 1; w < warps(); w++)
                x = x + left[w];
            return x;
        } else {
            return reduce(x, m);
        }
    }

    static __device__ T scan(T x, turns<T> &m, bool exclusive)
    {
        const lane_of l = this_lane(Block::count());
        const unsigned warp = threadIdx.x / GPUMB_WARP;
        T *const left = m.now;
        if (warps() == 1)
            return scan_of_lanes<threads>(l, x, exclusive, (T *)0);
        x = scan_of_lanes<threads>(l, x, exclusive, &left[warp]);
        __syncthreads();
        take_turns(m);
        return sum_left<at_a_time(KNOWN - 1, sizeof(T), false)>(l, left, warps() - 1, warp) + x;
    }

    static __device__ T inclusive(T x, turns<T> &m)
    {
        return scan(x, m, false);
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        return scan(x, m, true);
    }
    static __device__ T broadcast(T x, unsigned root, turns<T> &m)
    {
        return by_memory<Block, T>::broadcast(x, root, m);
    }
};

template <class T, int threads>
struct block_group<SHUFFLE, T, threads> : by_shuffles<T, threads, false> {
};
template <class T, int threads>
struct block_group<HARDWARE, T, threads> : by_shuffles<T, threads, true> {
};

/* Lanes of a part, a power of two. */
static __host__ __device__ constexpr int lanes_of_part(int threads, int parts)
{
    int lanes = 4;
    while (lanes * parts < threads)
        lanes *= 2;
    return lanes;
}

/* Parts that are smaller than a warp take fewer shuffles: one and what follows take 30 cycles on an
 * H200, an addition 4. For a number of threads that is known. */
template <class Scope, class T, int threads, int most> struct by_parts {
    enum { LANES_EACH = lanes_of_part(threads, most) };
    enum { PARTS = (threads + LANES_EACH - 1) / LANES_EACH };
    enum { AT_ONCE = sizeof(T) < 16 ? 16 / sizeof(T) : 1 };
    static_assert((int)LANES_EACH <= 32, "a part is in one warp");

    static __device__ unsigned part()
    {
        return Scope::index() / LANES_EACH;
    }
    static __device__ lane_of here()
    {
        return this_lane(threads);
    }

    static __device__ T sum(T x, turns<T> &m, bool for_all)
    {
        T *const left = Scope::share(m.now);
        leave_sum<false>(here(), x, LANES_EACH, &left[part()]);
        Scope::sync();
        take_turns(m);
        /* warps wait for each other, if there are more than a few, and else for a branch */
        if (for_all || threads <= 128 || threadIdx.x < GPUMB_WARP)
            x = left_over<T, most>::sum(here(), left, PARTS, PARTS);
        return x;
    }
    static __device__ T reduce(T x, turns<T> &m)
    {
        return sum(x, m, true);
    }
    static __device__ T reduce_to_one(T x, turns<T> &m)
    {
        return sum(x, m, false);
    }

    static __device__ T scan(T x, turns<T> &m, bool exclusive)
    {
        struct alignas(16) pieces {
            T at[AT_ONCE];
        };
        const lane_of l = here(), in_part = {Scope::index() % LANES_EACH, l.count};
        T *const left = Scope::share(m.now);
        const T own = x;
        UNROLL
        for (unsigned by = 1; by < LANES_EACH; by *= 2)
            x = add_if(in_part.lane >= by, x, from_before(l, x, by));
        if (in_part.lane == LANES_EACH - 1)
            left[part()] = x;
        if (exclusive)
            x = before_lane(in_part, x, own);
        Scope::sync();
        take_turns(m);
        T known[PARTS]; /* all on their way before the first is needed */
        UNROLL
        for (unsigned k = 0; k + 1 < PARTS; k++)
            known[k] = ((const pieces *)left)[k / AT_ONCE].at[k % AT_ONCE];
        if constexpr (sizeof(T) == 16) { /* fp32, for which a condition costs nothing */
            UNROLL
            for (unsigned k = 0; k + 1 < PARTS; k++)
                x = part() > k ? x + known[k] : x;
        } else {
            known[PARTS - 1] = T();
            UNROLL
            for (unsigned k = 0; k + 1 < PARTS; k++)
                known[k] = part() > k ? known[k] : T();
            UNROLL
            for (unsigned by = 1; by < PARTS; by *= 2)
                UNROLL
            for (unsigned k = 0; k + by < PARTS; k += 2 * by)
                known[k] = known[k] + known[k + by];
            x = x + known[0];
        }
        return x;
    }

    static __device__ T inclusive(T x, turns<T> &m)
    {
        return scan(x, m, false);
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        return scan(x, m, true);
    }
    static __device__ T broadcast(T x, unsigned root, turns<T> &m)
    {
        return by_memory<Scope, T>::broadcast(x, root, m);
    }
};

template <class T, int threads>
struct block_group<PARTS_4, T, threads> : by_parts<the_block<threads>, T, threads, 4> {
};
template <class T, int threads>
struct block_group<PARTS_8, T, threads> : by_parts<the_block<threads>, T, threads, 8> {
};

/* ---- forms of a warp ------------------------------------------------------------------------- */

template <int form, class T, int threads> struct warp_group;

template <class T, int threads>
struct warp_group<SHARED, T, threads> : by_memory<the_warp<threads>, T> {
};

template <class T, int threads, bool instruction> struct by_lanes {
    static __device__ lane_of here()
    {
        return this_lane(the_block<threads>::count());
    }
    static __device__ T broadcast(T x, unsigned root, turns<T> &)
    {
        return from_lane(here(), x, root);
    }
    static __device__ T reduce(T x, turns<T> &)
    {
        return sum_of_lanes<instruction>(here(), x);
    }
    static __device__ T reduce_to_one(T x, turns<T> &)
    {
        return sum_of_lanes<instruction>(here(), x);
    }
    static __device__ T inclusive(T x, turns<T> &)
    {
        return scan_of_lanes<threads>(here(), x, false, (T *)0);
    }
    static __device__ T exclusive(T x, turns<T> &)
    {
        return scan_of_lanes<threads>(here(), x, true, (T *)0);
    }
};

template <class T, int threads>
struct warp_group<SHUFFLE, T, threads> : by_lanes<T, threads, false> {
};
template <class T, int threads>
struct warp_group<HARDWARE, T, threads> : by_lanes<T, threads, true> {
};

/* All of 32 lanes. */
template <class T, int threads>
struct warp_group<PARTS_4, T, threads> : by_parts<the_warp<32>, T, 32, 4> {
};
template <class T, int threads>
struct warp_group<PARTS_8, T, threads> : by_parts<the_warp<32>, T, 32, 8> {
};

/* ---- votes ----------------------------------------------------------------------------------- */

enum { ANY, ALL, NONE, VOTES };

/* Whether a bit is set in any thread. The memory has room for an integer a thread. */
template <int form, class Scope> struct any_of;

template <class Scope> struct any_of<SHARED, Scope> {
    static __device__ bool vote(bool x, turns<unsigned> &m)
    {
        unsigned *const flag = Scope::share(m.now);
        if (!Scope::index())
            *flag = 0;
        Scope::sync();
        if (x)
            *flag = 1; /* all that write, write the same */
        Scope::sync();
        take_turns(m);
        return *(volatile unsigned *)flag;
    }
};

/* A vote of each warp, then one on theirs. */
template <int threads> struct any_of<SHUFFLE, the_block<threads>> {
    static __device__ bool vote(bool x, turns<unsigned> &m)
    {
        const lane_of l = this_lane(the_block<threads>::count());
        const unsigned warps = (the_block<threads>::count() + GPUMB_WARP - 1) / GPUMB_WARP;
        unsigned *const left = m.now;
        x = GPUMB_ANY(LANES(l.count), x);
        if (l.lane == 0)
            left[threadIdx.x / GPUMB_WARP] = x;
        __syncthreads();
        take_turns(m);
        if (l.count < GPUMB_WARP) {
            unsigned any = 0;
            for (unsigned w = 0; w < warps; w++)
                any |= left[w];
            return any;
        }
        return GPUMB_ANY(LANES(l.count), l.lane < warps && left[l.lane]);
    }
};

template <int threads> struct any_of<SHUFFLE, the_warp<threads>> {
    static __device__ bool vote(bool x, turns<unsigned> &)
    {
        return sum_of_lanes<false>(this_lane(the_block<threads>::count()), (unsigned)x);
    }
};

template <int threads> struct any_of<HARDWARE, the_block<threads>> {
    static __device__ bool vote(bool x, turns<unsigned> &)
    {
        return __syncthreads_or(x);
    }
};

template <int threads> struct any_of<HARDWARE, the_warp<threads>> {
    static __device__ bool vote(bool x, turns<unsigned> &)
    {
        return GPUMB_ANY(LANES(this_lane(the_block<threads>::count()).count), x);
    }
};

template <int vote, int form, class Scope> static DEVICE bool vote_of(bool x, turns<unsigned> &m)
{
    return vote == ALL ? !any_of<form, Scope>::vote(!x, m)
                       : any_of<form, Scope>::vote(x, m) == (vote == ANY);
}

/* ---- a value of each thread, again and again ------------------------------------------------- */

enum { BROADCAST, REDUCE, REDUCE_TO_ONE, INCLUSIVE, EXCLUSIVE, ALGORITHMS };

template <int algorithm, class Group, class T>
static DEVICE T apply(T x, unsigned root, turns<T> &m)
{
    (void)root;
    if constexpr (algorithm == BROADCAST)
        return Group::broadcast(x, root, m);
    else if constexpr (algorithm == REDUCE)
        return Group::reduce(x, m);
    else if constexpr (algorithm == REDUCE_TO_ONE)
        return Group::reduce_to_one(x, m);
    else if constexpr (algorithm == INCLUSIVE)
        return Group::inclusive(x, m);
    else
        return Group::exclusive(x, m);
}

/* One block alone may have all registers.
 *
 * Each operation takes what the one before has made: its result, less the expected one, is added to
 * what this was made from, so that all start with the same values, unless one is wrong: that stays.
 * (What is wrong in a lane must not double, which integers forget: where the lane's own value is in
 * its result, and no other lane's follows from that, it is added to the value at the start.)
 * `took`: clock cycles. */
template <int algorithm, class Group, class T>
static __global__ __launch_bounds__(1024, 1) void repeat(const T *in, const T *expected, T *out,
                                                         unsigned root, unsigned group,
                                                         unsigned times, double *took)
{
    GPUMB_SHARED(T, memory);
    turns<T> m = {memory, memory + room_for(blockDim.x)};
    const T start = in[threadIdx.x], wanted = expected[threadIdx.x];
    const bool has_result = algorithm != REDUCE_TO_ONE || threadIdx.x % group == 0;
    T x = start;
    __syncthreads();
    const word begin = cycles_now();
    for (unsigned i = 0; i < times; i++) {
        const T result = apply<algorithm, Group>(x, root, m);
        const T made_from = algorithm == INCLUSIVE || algorithm == REDUCE_TO_ONE ? start : x;
        const T corrected = result + (made_from - wanted);
        x = has_result ? corrected : x;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *took = (double)(cycles_now() - begin);
    out[threadIdx.x] = x;
}

/* The state of a group decides who votes yes, in about half of the votes somebody or all but one;
 * the result makes the next state. */
template <int vote, int form, class Scope>
static __global__ __launch_bounds__(1024, 1) void repeat_votes(unsigned *out, unsigned mask,
                                                               unsigned times, double *took)
{
    GPUMB_SHARED(unsigned, memory);
    turns<unsigned> m = {memory, memory + room_for(blockDim.x)};
    unsigned state = threadIdx.x - Scope::index();
    __syncthreads();
    const word begin = cycles_now();
    for (unsigned i = 0; i < times; i++) {
        const bool x = ((state & mask) == Scope::index()) == (vote != ALL);
        state = 5 * state + (vote_of<vote, form, Scope>(x, m) ? 3 : 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *took = (double)(cycles_now() - begin);
    out[threadIdx.x] = state;
}

/* Barriers alone; with `exchange`, each thread has what its neighbour had before: in the end that
 * of the thread `times` further. */
template <bool exchange, class Scope>
static __global__ __launch_bounds__(1024, 1) void repeat_barrier(unsigned *out, unsigned times,
                                                                 double *took)
{
    GPUMB_SHARED(unsigned, memory);
    turns<unsigned> m = {memory, memory + room_for(blockDim.x)};
    const unsigned next = (Scope::index() + 1) % Scope::count();
    unsigned x = Scope::index();
    __syncthreads();
    const word begin = cycles_now();
    for (unsigned i = 0; i < times; i++) {
        if (exchange)
            Scope::share(m.now)[Scope::index()] = x;
        Scope::sync();
        if (exchange)
            x = Scope::share(m.now)[next];
        take_turns(m);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *took = (double)(cycles_now() - begin);
    out[threadIdx.x] = x;
}

/* ---- a range in memory, by a block ----------------------------------------------------------- */

enum { INTERLEAVED, CONTIGUOUS };
enum { ANY_OF, SUM_OF, INCLUSIVE_OF, EXCLUSIVE_OF, RANGE_ALGORITHMS };

/* Element k of this thread. */
template <int access>
static __device__ inline unsigned place(unsigned k, unsigned each, unsigned threads)
{
    return access == CONTIGUOUS ? threadIdx.x * each + k : k * threads + threadIdx.x;
}

template <int access, class T>
static DEVICE bool is_among(const T *in, unsigned n, unsigned each, unsigned threads, T wanted)
{
    bool found = false;
    for (unsigned k = 0; k < each; k++) {
        const unsigned i = place<access>(k, each, threads);
        found |= i < n && same(in[i], wanted);
    }
    return found;
}

template <int access, class T>
static DEVICE T own_sum(const T *in, unsigned n, unsigned each, unsigned threads)
{
    T sum = T();
    for (unsigned k = 0; k < each; k++) {
        const unsigned i = place<access>(k, each, threads);
        sum = i < n ? sum + in[i] : sum;
    }
    return sum;
}

/* Contiguous: the sums of the threads are scanned, then each goes over its elements again. Else
 * element by element of all threads, with the sum so far carried on. Returns the last value that
 * the thread has written. */
template <int access, bool exclusive, class Group, class T>
static DEVICE T scan_range(const T *in, unsigned n, unsigned each, unsigned threads, T *out,
                           turns<T> &m)
{
    T before = T(), last = T();
    if (access == CONTIGUOUS)
        before = Group::exclusive(own_sum<access>(in, n, each, threads), m);
    T coming = place<access>(0, each, threads) < n ? in[place<access>(0, each, threads)] : T();
    for (unsigned k = 0; k < each; k++) {
        const unsigned i = place<access>(k, each, threads);
        const unsigned after = place<access>(k + 1, each, threads);
        const T x = coming;
        coming = k + 1 < each && after < n ? in[after] : T(); /* on its way during the scan */
        T y, next;
        if (access == CONTIGUOUS) {
            next = before + x;
            y = exclusive ? before : next;
        } else {
            const T scanned = exclusive ? Group::exclusive(x, m) : Group::inclusive(x, m);
            y = before + scanned;
            next = before + Group::broadcast(exclusive ? scanned + x : scanned, threads - 1, m);
        }
        if (i < n)
            out[i] = last = y;
        before = next;
    }
    return last;
}

/* The next operation starts at in[1] if the result is not the expected one, and so depends on it.
 * `in` has n + 1 elements; `sought` is one that is not among them and one that is; `out` and
 * `expected` have n of a scan, else 1. */
template <int algorithm, int access, int form, class Group, class T>
static __global__ __launch_bounds__(1024, 1) void repeat_range(const T *__restrict__ in, unsigned n,
                                                               const T *sought, const T *expected,
                                                               T *__restrict__ out, unsigned *wrong,
                                                               unsigned times, double *took)
{
    GPUMB_SHARED(T, memory);
    turns<T> m = {memory, memory + room_for(blockDim.x)};
    turns<unsigned> votes = {(unsigned *)m.now, (unsigned *)m.next};
    const unsigned threads = blockDim.x, each = (n + threads - 1) / threads;
    const bool scans = algorithm == INCLUSIVE_OF || algorithm == EXCLUSIVE_OF;
    unsigned last = n; /* its last element */
    for (unsigned k = 0; k < each; k++)
        last = place<access>(k, each, threads) < n ? place<access>(k, each, threads) : last;
    const T wanted = !scans ? expected[0] : last < n ? expected[last] : T();
    const T absent = sought[0], present = sought[1];
    unsigned moved = 0;
    __syncthreads();
    const word begin = cycles_now();
    for (unsigned i = 0; i < times; i++) {
        const T *const from = in + moved;
        if (algorithm == ANY_OF) {
            const bool found = any_of<form, the_block<0>>::vote(
                is_among<access>(from, n, each, threads, i & 1 ? present : absent), votes);
            moved |= found != (i & 1);
        } else if (algorithm == SUM_OF) {
            moved |= !same(Group::reduce(own_sum<access>(from, n, each, threads), m), wanted);
        } else {
            moved |= !same(scan_range<access, algorithm == EXCLUSIVE_OF, Group>(from, n, each,
                                                                                threads, out, m),
                           wanted);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *took = (double)(cycles_now() - begin);
    wrong[threadIdx.x] = moved;
}

#endif

/* A value of each thread of a block or a warp: broadcast, sums and scans through shared memory, by
 * shuffles, by instructions, by the vendor's library. One block on one multiprocessor, operation
 * after operation, each of which takes what the one before has made; times by the multiprocessor's
 * own clock. */
#include "gpumb.h"

#define CUB_HEADER <cub/block/block_scan.cuh>
#include "library.h"
#if defined(GPUMB_BACKEND_CUDA) && !defined(NO_LIBRARY)
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#endif

#include "group_trial.h"

static const char *const algorithms[] = {"broadcast", "reduce", "reduce to one", "inclusive scan",
                                         "exclusive scan"};

/* ---- the vendor's library -------------------------------------------------------------------- */

#ifndef NO_LIBRARY
/* Its rooms in turn, like those of the other forms. */
template <class Room, class T> static __device__ inline Room &library_room(turns<T> &m)
{
    static_assert(alignof(Room) <= 16, "pieces of shared memory are aligned to 16 bytes");
    Room &room = *(Room *)(void *)m.now;
    take_turns(m);
    return room;
}

template <class T, int threads> struct block_group<LIBRARY, T, threads> {
    typedef library::BlockReduce<T, threads> Reduce;
    /* Raking is its default; scans of warps are faster in blocks that are not large. */
    typedef library::BlockScan < T, threads,
        threads<1024 ? library::BLOCK_SCAN_WARP_SCANS : library::BLOCK_SCAN_RAKING> Scan;
    typedef typename Reduce::TempStorage ReduceRoom;
    typedef typename Scan::TempStorage ScanRoom;
    enum { ROOM = room_for(threads) * sizeof(T) };
    static_assert(sizeof(ReduceRoom) <= ROOM && sizeof(ScanRoom) <= ROOM, "as room_for() has it");

    static __device__ T reduce_to_one(T x, turns<T> &m)
    {
        return Reduce(library_room<ReduceRoom>(m)).Sum(x);
    }
    static __device__ T reduce(T x, turns<T> &m) /* it has the sum in one thread alone */
    {
        return by_memory<the_block<threads>, T>::broadcast(reduce_to_one(x, m), 0, m);
    }
    static __device__ T inclusive(T x, turns<T> &m)
    {
        Scan(library_room<ScanRoom>(m)).InclusiveSum(x, x);
        return x;
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        Scan(library_room<ScanRoom>(m)).ExclusiveSum(x, x);
        return x;
    }
};

/* CUB 1's ExclusiveSum() of a warp starts from an int, which vectors can't be made of. */
struct sum_of_two {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class Scan, class T> static __device__ inline void exclusive_sum(Scan scan, T &x)
{
    scan.ExclusiveSum(x, x);
}
template <class Scan, class T> static __device__ inline void exclusive_sum(Scan scan, four<T> &x)
{
    scan.ExclusiveScan(x, x, four<T>(), sum_of_two());
}

template <class T, int threads> struct warp_group<LIBRARY, T, threads> {
    typedef library::WarpReduce<T> Reduce;
    typedef library::WarpScan<T> Scan;
    typedef typename Reduce::TempStorage ReduceRoom;
    typedef typename Scan::TempStorage ScanRoom;
    static_assert(sizeof(ReduceRoom) <= sizeof(T) && sizeof(ScanRoom) <= sizeof(T), "none is used");

    static __device__ T reduce_to_one(T x, turns<T> &m)
    {
        return Reduce(*(ReduceRoom *)(void *)&m.now[threadIdx.x / GPUMB_WARP]).Sum(x);
    }
    static __device__ T reduce(T x, turns<T> &m)
    {
        return from_lane(this_lane(threads), reduce_to_one(x, m), 0);
    }
    static __device__ T inclusive(T x, turns<T> &m)
    {
        Scan(*(ScanRoom *)(void *)&m.now[threadIdx.x / GPUMB_WARP]).InclusiveSum(x, x);
        return x;
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        exclusive_sum(Scan(*(ScanRoom *)(void *)&m.now[threadIdx.x / GPUMB_WARP]), x);
        return x;
    }
};
#endif

/* ---- forms and kernels ----------------------------------------------------------------------- */

static int is_compiled(gpumb *g, int64_t threads)
{
    static const int64_t compiled[] = {SIZES};
    for (int64_t size : compiled)
        if (size == threads || !size)
            return threads <= gpumb_get_device(g)->max_block;
    return 0;
}

static int has_instruction(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    return !strcmp(d->backend, "cuda") && atoi(d->arch + 3) >= 80;
}

/* Parts of a warp are compiled for 32 lanes. */
static bool runs_here(const trial *t, int form)
{
    if (form == HARDWARE)
        return has_instruction(t->g);
    return t->blockwide || t->group == 32 || (form != PARTS_4 && form != PARTS_8);
}

/* Forms of an algorithm that differ; those of the library, too, where there is one. */
template <class T> struct is_int32 {
    enum { value = 0 };
};
template <> struct is_int32<unsigned> {
    enum { value = 1 };
};

/* Of 4 … 32 lanes. */
static constexpr bool has_parts(int threads, int parts)
{
    return threads >= 4 * parts && threads <= 32 * parts;
}

template <class T>
static constexpr bool has_form(bool blockwide, int64_t algorithm, int64_t form, int threads)
{
    return form == SHARED     ? true
           : form == SHUFFLE  ? !blockwide || algorithm != BROADCAST
           : form == HARDWARE ? is_int32<T>::value &&
                                    (blockwide ? algorithm != BROADCAST
                                               : algorithm == REDUCE || algorithm == REDUCE_TO_ONE)
           : form != LIBRARY
               ? algorithm != BROADCAST &&
                     has_parts(blockwide || !threads ? threads : 32, form == PARTS_4 ? 4 : 8)
#ifndef NO_LIBRARY
               : algorithm != BROADCAST;
#else
               : false;
#endif
}

/* Kernels are looked up and launched in one place for each type: a launch of its own for each would
 * double what the host's compiler has to do. */
template <class T>
using value_kernel = void (*)(const T *, const T *, T *, unsigned, unsigned, unsigned, double *);

/* Of warps it matters whether they have all lanes and, for vectors, whether there are many. */
template <bool blockwide, int algorithm, int form, class T, int threads>
static value_kernel<T> value_kernel_by()
{
    constexpr int of_block = algorithm == BROADCAST ? 0 : threads;
    constexpr int of_warps = !threads                                    ? 0
                             : sizeof(T) > 8 && threads >= MANY_FOR_SCAN ? threads
                                                                         : 32;
    if constexpr (!has_form<T>(blockwide, algorithm, form, threads))
        return NULL;
    else if constexpr (blockwide)
        return repeat<algorithm, block_group<form, T, of_block>, T>;
    else
        return repeat<algorithm, warp_group<form, T, of_warps>, T>;
}

template <bool blockwide, class T, int threads>
static value_kernel<T> value_kernel_of(int64_t algorithm, int form)
{
    GPUMB_FOR_CONSTANTS(
        algorithm, A, (BROADCAST, REDUCE, REDUCE_TO_ONE, INCLUSIVE, EXCLUSIVE),
        GPUMB_FOR_CONSTANTS(form, F, (SHARED, SHUFFLE, HARDWARE, PARTS_4, PARTS_8, LIBRARY),
                            return (value_kernel_by<blockwide, A, F, T, threads>());));
    return NULL;
}

template <class T> static void launch_value(const trial *t, int form, double *took)
{
    const unsigned last = t->threads % t->group ? t->threads % t->group : t->group;
    const value_kernel<T> kernel = (value_kernel<T>)t->kernels[form];
    GPUMB_LAUNCH_BARRIER(kernel, 1, t->threads, shared_bytes(t, sizeof(T)),
                         GPUMB_PTR(const T, t->in), GPUMB_PTR(const T, t->expected),
                         GPUMB_PTR(T, t->out[form]), last * 2 / 3, t->group, t->times, took);
}

/* All values are what they were: each result was right. */
template <class T> static int same_values(const trial *t, int form)
{
    std::vector<T> in(t->threads), out(t->threads);
    const uint64_t bytes = in.size() * sizeof(T);
    if (gpumb_read(t->g, t->in, 0, in.data(), bytes) ||
        gpumb_read(t->g, t->out[form], 0, out.data(), bytes))
        return 0;
    for (unsigned i = 0; i < t->threads; i++)
        if (!same(in[i], out[i])) {
            gpumb_reason(t->g, "a result was wrong, and thread %u has another value", i);
            return 0;
        }
    return 1;
}

template <class T>
static void measure_value(trial *t, value_kernel<T> (*kernel_of)(int64_t algorithm, int form))
{
    gpumb *g = t->g;
    const uint64_t bytes = t->threads * sizeof(T);
    const size_t root = (t->threads % t->group ? t->threads % t->group : t->group) * 2 / 3;
    std::vector<T> in(t->threads);
    unsigned asked = 0;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = draw<T>::one(t->seed, i);
    const std::vector<T> expected = results_of(in, (int)t->algorithm, root, t->group);
    t->in = gpumb_alloc(g, bytes);
    t->expected = gpumb_alloc(g, bytes);
    gpumb_write(g, t->in, 0, in.data(), bytes);
    gpumb_write(g, t->expected, 0, expected.data(), bytes);
    for (int form = 0; form < FORMS; form++)
        if (has_form<T>(t->blockwide, t->algorithm, form, is_gpu(g) ? (int)t->threads : 0) &&
            runs_here(t, form)) {
            asked |= 1u << form;
            t->kernels[form] = (void (*)(void))kernel_of(t->algorithm, form);
            t->out[form] = gpumb_alloc(g, bytes);
        }
    t->launch = launch_value<T>;
    t->is_right = same_values<T>;
    measure_forms(t, asked);
}

/* ---- group/block and group/warp -------------------------------------------------------------- */

template <bool blockwide> static void sweep_values(gpumb *g)
{
    const values sizes = thread_counts(g);
    GPUMB_SWEEP_STRINGS(g, algorithm, algorithms, ALGORITHMS)
        GPUMB_SWEEP_STRINGS(g, type, type_names, COUNT(type_names))
            GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
                trial t = new_trial(g, threads, blockwide);
                if (!is_compiled(g, threads)) {
                    gpumb_skip(g, "not compiled for %lld threads", (long long)threads);
                    gpumb_add_times(g, forms[SHARED], GPUMB_MEANING_INTERVAL, NULL, 0);
                    continue;
                }
                t.algorithm = algorithm;
                GPUMB_FOR_TYPES(
                    type, T, (TYPES),
                    GPUMB_FOR_CONSTANTS(is_gpu(g) ? threads : 0, N, (SIZES),
                                        measure_value<T>(&t, value_kernel_of<blockwide, T, N>)));
            }
}

static const char block_bench[] = "group/block", warp_bench[] = "group/warp";

/* Published for these, of an unknown size: H. Wuensche, Heidelberg 2021. */
static const double published[ALGORITHMS] = {0, 2.1, 0, 2.0, 0};

static void note_values(gpumb *g, const char *bench)
{
    for (int64_t algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        const rows all = having(rows_of(bench, NULL), "algorithm", algorithm);
        const span_of_ratios r = ratios(g, all, "type", SHARED, SHUFFLE, PARTS_8);
        sentence s = no_words();
        if (!r.count)
            continue;
        say_ratios(&s, &r);
        if (published[algorithm] > 0 && is_gpu(g))
            say(&s, "; published: %.1f on a V100", published[algorithm]);
        gpumb_note(g, "%s, %s: time through shared memory over that of the best form without: %s.",
                   bench, algorithms[algorithm], s.text);
#ifndef NO_LIBRARY
        const span_of_ratios library = ratios(g, all, "type", LIBRARY, SHARED, PARTS_8);
        if (!library.count)
            continue;
        s = no_words();
        say_ratios(&s, &library);
        gpumb_note(g, "%s, %s: time of %s over that of the best form: %s; at least 1 in %d of %d.",
                   bench, algorithms[algorithm], LIBRARY_NAME, s.text, library.at_least,
                   library.count);
#endif
    }
}

static void group_block(gpumb *g)
{
    sweep_values<true>(g);
    note_values(g, block_bench);
}

static void group_warp(gpumb *g)
{
    sweep_values<false>(g);
    note_values(g, warp_bench);
}

static const gpumb_benchmark benchmarks[] = {
    {block_bench, "values of a block's threads: broadcast, sums, scans", group_block},
    {warp_bench, "the same of each warp", group_warp},
};

GPUMB_MAIN(benchmarks)

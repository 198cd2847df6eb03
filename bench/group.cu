/* E15: what a block or a warp of threads does together, from a barrier to a scan, over values of
 * the threads and over ranges in memory: through shared memory, by shuffles, by instructions, by
 * the vendor's library. One block on one multiprocessor, operation after operation, each of which
 * takes what the one before has made; times by the multiprocessor's own clock. */
#define GPUMB_IMPLEMENTATION
#define GPUMB_NO_KERNELS
#include "gpumb.h"

#include <vector>

#define CUB_HEADER <cub/block/block_scan.cuh>
#include "library.h"
#if defined(GPUMB_BACKEND_CUDA) && !defined(NO_LIBRARY)
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#endif

#include "group.h"

/* Types, and the numbers of threads that kernels are compiled for; 0: any. The sums of signed
 * integers are those of unsigned ones, which may wrap around. On the CPU few: it is the algorithms
 * that run there, and they take long to compile. */
#if defined(GPUMB_BACKEND_CPU)
#define TYPES unsigned, four<double>
static const char *const type_names[] = {"int32", "4 x fp64"};
#define SIZES 0
#define RANGE_SIZES 0
#else
#define TYPES unsigned, unsigned long long, float, double, four<float>, four<double>
static const char *const type_names[] = {"int32", "int64", "fp32", "fp64", "4 x fp32", "4 x fp64"};
#define SIZES 32, 64, 128, 256, 512, 1024
#define RANGE_SIZES 256, 1024
#endif

static const char *const algorithms[] = {"broadcast", "reduce", "reduce to one", "inclusive scan",
                                         "exclusive scan"};
static const char *const forms[] = {"shared memory", "shuffles", "instruction",
                                    "4 parts",       "8 parts",  "library"};

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
        return Reduce(*(ReduceRoom *)(void *)&m.now[threadIdx.x / WARP_LANES]).Sum(x);
    }
    static __device__ T reduce(T x, turns<T> &m)
    {
        return from_lane(this_lane(threads), reduce_to_one(x, m), 0);
    }
    static __device__ T inclusive(T x, turns<T> &m)
    {
        Scan(*(ScanRoom *)(void *)&m.now[threadIdx.x / WARP_LANES]).InclusiveSum(x, x);
        return x;
    }
    static __device__ T exclusive(T x, turns<T> &m)
    {
        exclusive_sum(Scan(*(ScanRoom *)(void *)&m.now[threadIdx.x / WARP_LANES]), x);
        return x;
    }
};
#endif

/* ---- data and what is expected --------------------------------------------------------------- */

/* Small numbers, so that floating sums are exact in any order; random integers. */
template <class T> static T drawn(uint64_t seed, uint64_t i)
{
    return (T)((int)(gpumb_fill_word(GPUMB_FILL_BITS, seed, i) % 17) - 8);
}
template <> unsigned drawn<unsigned>(uint64_t seed, uint64_t i)
{
    return (unsigned)gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
}
#if !defined(GPUMB_BACKEND_CPU)
template <> unsigned long long drawn<unsigned long long>(uint64_t seed, uint64_t i)
{
    return gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
}
#endif

template <class T> struct draw {
    static T one(uint64_t seed, uint64_t i)
    {
        return drawn<T>(seed, i);
    }
};
template <class T> struct draw<four<T>> {
    static four<T> one(uint64_t seed, uint64_t i)
    {
        return {{drawn<T>(seed, 4 * i), drawn<T>(seed, 4 * i + 1), drawn<T>(seed, 4 * i + 2),
                 drawn<T>(seed, 4 * i + 3)}};
    }
};

/* `in` in groups of so many; a broadcast is of the value at `root` of each. */
template <class T>
static std::vector<T> results_of(const std::vector<T> &in, int algorithm, size_t root, size_t group)
{
    std::vector<T> out(in.size());
    for (size_t first = 0; first < in.size(); first += group) {
        const size_t end = first + group < in.size() ? first + group : in.size();
        T before = T(), sum = T();
        for (size_t i = first; i < end; i++)
            sum = sum + in[i];
        for (size_t i = first; i < end; i++) {
            out[i] = algorithm == BROADCAST   ? in[first + root]
                     : algorithm == INCLUSIVE ? before + in[i]
                     : algorithm == EXCLUSIVE ? before
                                              : sum;
            before = before + in[i];
        }
    }
    return out;
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { MOST_TIMES = 31 };

/* What the forms of an algorithm have in common, and the row of one. */
typedef struct trial trial;
struct trial {
    gpumb *g;
    unsigned threads, group, times, n;
    int64_t algorithm, type, access;
    int blockwide;
    gpumb_buffer *in, *expected, *sought, *out[FORMS], *wrong[FORMS], *took;
    void (*kernels[FORMS])(void);
    void (*launch)(const trial *t, int form, double *took);
    int (*is_right)(const trial *t, int form);
    uint64_t seed;
};

typedef struct trial_check {
    const trial *t;
    int form;
} trial_check;

static int check_trial(gpumb *g, void *user)
{
    (void)g;
    const trial_check *c = (const trial_check *)user;
    return c->t->is_right(c->t, c->form);
}

static trial new_trial(gpumb *g, int64_t threads, int blockwide)
{
    trial t;
    memset(&t, 0, sizeof t);
    t.g = g;
    t.threads = (unsigned)threads;
    t.blockwide = blockwide;
    t.group = blockwide ? t.threads : (unsigned)gpumb_get_device(g)->warp_size;
    t.times = is_gpu(g) ? 512 : 8;
    t.seed = gpumb_get_settings(g)->seed;
    t.took = gpumb_alloc(g, sizeof(double) * FORMS * (MOST_TIMES + 1));
    return t;
}

static double seconds_of_tick(gpumb *g)
{
    static double seconds;
    const double clock_hz = gpumb_get_device(g)->sm_clock_hz;
    if (is_gpu(g))
        return clock_hz > 0 ? 1 / clock_hz : 0;
    if (!(seconds > 0) && gpumb_data(gpumb_alloc(g, 1)))
        seconds = tick_seconds(g);
    return seconds;
}

/* The rows of an algorithm in the forms that are asked for, launched in turn. The first launch of
 * each, with the loading of its module, is left out. */
static void measure_forms(trial *t, unsigned asked)
{
    static double ticks[FORMS][MOST_TIMES + 1];
    gpumb *g = t->g;
    trial_check checks[FORMS];
    const int count = !is_gpu(g) ? 7 : gpumb_get_settings(g)->full ? MOST_TIMES : 11;
    for (int form = 0; form < FORMS; form++)
        if (asked >> form & 1 && !gpumb_wants_times(g, forms[form]))
            asked &= ~(1u << form);
    if (!asked)
        return;
    const double tick_s = seconds_of_tick(g) / t->times;
    gpumb_poison(g, t->took);
    for (int k = 0; k <= count; k++)
        for (int form = 0; form < FORMS; form++) {
            if (!(asked >> form & 1))
                continue;
            if (k == count) {
                gpumb_poison(g, t->out[form]);
                if (t->wrong[form])
                    gpumb_poison(g, t->wrong[form]);
            }
            t->launch(t, form, GPUMB_PTR(double, t->took) + form * (MOST_TIMES + 1) + k);
        }
    if (gpumb_read(g, t->took, 0, ticks, sizeof ticks))
        return;
    GPUMB_INTERLEAVE(g)
        for (int form = 0; form < FORMS; form++) {
            if (!(asked >> form & 1))
                continue;
            double sorted[MOST_TIMES + 1], *const taken = ticks[form] + 1;
            for (int k = 0; k < count; k++) {
                sorted[k] = taken[k] / t->times;
                taken[k] *= tick_s;
            }
            if (is_gpu(g))
                gpumb_set_value(g, "cycles", gpumb_statistics(sorted, (uint64_t)count).median);
            checks[form].t = t;
            checks[form].form = form;
            gpumb_set_verify(g, check_trial, &checks[form]);
            gpumb_add_times(g, forms[form], GPUMB_MEANING_INTERVAL, taken, (uint64_t)count);
        }
}

/* Shared memory for both turns. */
static uint64_t shared_bytes(const trial *t, size_t size)
{
    return 2 * room_for(t->threads) * (uint64_t)size;
}

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

/* ---- group/block and group/warp: a value of each thread -------------------------------------- */

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

static values thread_counts(gpumb *g)
{
    static const int64_t full[] = {32, 64, 128, 256, 512, 1024}, quick[] = {32, 256, 1024};
    static const int64_t cpu[] = {33, 64};
    return choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
}

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

/* The row of a form; NULL: none. */
static const gpumb_result *row_of(gpumb *g, rows some, int form)
{
    some.kernel = forms[form];
    return first_row(g, noisy_too(some));
}

/* The fastest of some forms. */
static const gpumb_result *best_of(gpumb *g, rows some, int first, int last)
{
    const gpumb_result *best = NULL;
    for (int form = first; form <= last; form++) {
        const gpumb_result *r = row_of(g, some, form);
        if (r && (!best || r->time.median < best->time.median))
            best = r;
    }
    return best;
}

/* The least and the largest ratio over types and sizes, and where they are. */
typedef struct span_of_ratios {
    double low, high;
    int count, at_least; /* so many are at least 1 */
    int64_t low_type, low_threads, high_type, high_threads;
} span_of_ratios;

static span_of_ratios ratios(gpumb *g, rows some, const char *type_axis, int over, int first,
                             int last)
{
    span_of_ratios s;
    memset(&s, 0, sizeof s);
    for (int64_t type = next_value(g, some, type_axis, -1); type >= 0;
         type = next_value(g, some, type_axis, type)) {
        const rows of_type = having(some, type_axis, type);
        for (int64_t threads = next_value(g, of_type, "threads", 0); threads > 0;
             threads = next_value(g, of_type, "threads", threads)) {
            const rows here = having(of_type, "threads", threads);
            const gpumb_result *base = row_of(g, here, over);
            const gpumb_result *best = best_of(g, here, first, last);
            if (!base || !best)
                continue;
            const double ratio = base->time.median / best->time.median;
            if (!s.count || ratio < s.low) {
                s.low = ratio;
                s.low_type = type;
                s.low_threads = threads;
            }
            if (!s.count || ratio > s.high) {
                s.high = ratio;
                s.high_type = type;
                s.high_threads = threads;
            }
            s.count++;
            s.at_least += ratio >= 1;
        }
    }
    return s;
}

static void say_ratios(sentence *s, const span_of_ratios *r)
{
    say(s, "%.2f (%s, %lld threads)", r->low, type_names[r->low_type], (long long)r->low_threads);
    if (r->count > 1)
        say(s, " ... %.2f (%s, %lld)", r->high, type_names[r->high_type],
            (long long)r->high_threads);
}

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

/* ---- group/vote and group/barrier ------------------------------------------------------------ */

static const char vote_bench[] = "group/vote", barrier_bench[] = "group/barrier";
static const char *const scopes[] = {"warp", "block"};
static const char *const vote_names[] = {"any", "all", "none"};

/* Votes of somebody in a half of all states. */
static unsigned vote_mask(const trial *t)
{
    return 2 * room_for(t->group < t->threads ? t->group : t->threads) - 1;
}

/* Votes of warps and one on those are in blocks of a known size. */
template <int vote, int form>
static void (*vote_kernel_of(const trial *t))(unsigned *, unsigned, unsigned, double *)
{
    if (!t->blockwide)
        return repeat_votes<vote, form, the_warp<0>>;
    if constexpr (form == SHUFFLE) {
        GPUMB_FOR_CONSTANTS(is_gpu(t->g) ? t->threads : 0, N, (SIZES),
                            return repeat_votes<vote, form, the_block<N>>;);
        return NULL;
    } else {
        return repeat_votes<vote, form, the_block<0>>;
    }
}

static void launch_votes(const trial *t, int form, double *took)
{
    void (*kernel)(unsigned *, unsigned, unsigned, double *) = NULL;
    GPUMB_FOR_CONSTANTS(t->algorithm, V, (ANY, ALL, NONE),
                        GPUMB_FOR_CONSTANTS(form, F, (SHARED, SHUFFLE, HARDWARE),
                                            (kernel = vote_kernel_of<V, F>(t))));
    if (kernel)
        GPUMB_LAUNCH_BARRIER(kernel, 1, t->threads, shared_bytes(t, sizeof(unsigned)),
                             GPUMB_PTR(unsigned, t->out[form]), vote_mask(t), t->times, took);
}

static int check_votes(const trial *t, int form)
{
    std::vector<unsigned> out(t->threads);
    if (gpumb_read(t->g, t->out[form], 0, out.data(), out.size() * sizeof(unsigned)))
        return 0;
    for (unsigned first = 0; first < t->threads; first += t->group) {
        const unsigned count = t->threads - first < t->group ? t->threads - first : t->group;
        unsigned state = first;
        for (unsigned i = 0; i < t->times; i++) {
            const bool one = (state & vote_mask(t)) < count; /* for any, and against all or none */
            state = 5 * state + (one == (t->algorithm == ANY) ? 3 : 1);
        }
        for (unsigned k = first; k < first + count; k++)
            if (out[k] != state) {
                gpumb_reason(t->g, "thread %u has voted its way to %u, not %u", k, out[k], state);
                return 0;
            }
    }
    return 1;
}

static void launch_barrier(const trial *t, bool exchange, int form, double *took)
{
    const uint64_t bytes = shared_bytes(t, sizeof(unsigned));
    unsigned *out = GPUMB_PTR(unsigned, t->out[form]);
    if (t->blockwide && exchange)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<true, the_block<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else if (t->blockwide)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<false, the_block<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else if (exchange)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<true, the_warp<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else
        GPUMB_LAUNCH_BARRIER((repeat_barrier<false, the_warp<0>>), 1, t->threads, bytes, out,
                             t->times, took);
}

static void launch_barriers(const trial *t, int form, double *took)
{
    launch_barrier(t, false, form, took);
}

/* Barriers alone leave nothing to look at: the same ones between exchanges with the neighbour. */
static int check_barriers(const trial *t, int form)
{
    std::vector<unsigned> out(t->threads);
    gpumb_poison(t->g, t->out[form]);
    launch_barrier(t, true, form, GPUMB_PTR(double, t->took));
    if (gpumb_read(t->g, t->out[form], 0, out.data(), out.size() * sizeof(unsigned)))
        return 0;
    for (unsigned i = 0; i < t->threads; i++) {
        const unsigned first = i / t->group * t->group;
        const unsigned count = t->threads - first < t->group ? t->threads - first : t->group;
        if (out[i] != (i - first + t->times) % count) {
            gpumb_reason(t->g, "thread %u has got the value of %u", i, out[i]);
            return 0;
        }
    }
    return 1;
}

static void group_vote(gpumb *g)
{
    const values sizes = thread_counts(g);
    GPUMB_SWEEP_STRINGS(g, scope, scopes, 2)
        GPUMB_SWEEP_STRINGS(g, vote, vote_names, VOTES)
            GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
                trial t = new_trial(g, threads, (int)scope);
                t.algorithm = vote;
                for (int form = SHARED; form <= HARDWARE; form++)
                    t.out[form] = gpumb_alloc(g, t.threads * sizeof(unsigned));
                t.launch = launch_votes;
                t.is_right = check_votes;
                measure_forms(&t, 1u << SHARED | 1u << SHUFFLE | 1u << HARDWARE);
            }
    for (int64_t scope = 0; scope < 2; scope++)
        for (int64_t vote = 0; vote < VOTES; vote++) {
            const rows all =
                having(having(rows_of(vote_bench, NULL), "scope", scope), "vote", vote);
            sentence s = no_words();
            for (int64_t n = next_value(g, all, "threads", 0); n > 0;
                 n = next_value(g, all, "threads", n)) {
                const rows here = having(all, "threads", n);
                const gpumb_result *base = row_of(g, here, SHARED);
                if (!base || !row_of(g, here, SHUFFLE) || !row_of(g, here, HARDWARE))
                    continue;
                say_next(&s, ", ");
                say(&s, "%lld threads %.2f and %.2f", (long long)n,
                    base->time.median / row_of(g, here, SHUFFLE)->time.median,
                    base->time.median / row_of(g, here, HARDWARE)->time.median);
            }
            if (s.text[0])
                gpumb_note(g,
                           "%s of a %s: time through shared memory over that of warps' votes or "
                           "shuffles, and of the instruction: %s.",
                           vote_names[vote], scopes[scope], s.text);
        }
}

static void group_barrier(gpumb *g)
{
    const values sizes = thread_counts(g);
    GPUMB_SWEEP_STRINGS(g, scope, scopes, 2)
        GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
            trial t = new_trial(g, threads, (int)scope);
            t.out[HARDWARE] = gpumb_alloc(g, t.threads * sizeof(unsigned));
            t.launch = launch_barriers;
            t.is_right = check_barriers;
            measure_forms(&t, 1u << HARDWARE);
        }
    const double tick_s = seconds_of_tick(g);
    for (int64_t scope = 0; scope < 2 && is_gpu(g) && tick_s > 0; scope++) {
        const rows all = having(rows_of(barrier_bench, NULL), "scope", scope);
        sentence s = no_words();
        for (int64_t n = next_value(g, all, "threads", 0); n > 0;
             n = next_value(g, all, "threads", n)) {
            say_next(&s, ", ");
            say(&s, "%.0f with %lld threads",
                first_row(g, having(all, "threads", n))->time.median / tick_s, (long long)n);
        }
        if (s.text[0])
            gpumb_note(g, "A barrier of a %s takes %s (cycles).", scopes[scope], s.text);
    }
}

/* ---- group/range ----------------------------------------------------------------------------- */

static const char range_bench[] = "group/range";
static const char *const range_names[] = {"any of", "sum of", "inclusive scan of",
                                          "exclusive scan of"};
static const char *const accesses[] = {"interleaved", "contiguous"};

template <class T>
using range_kernel = void (*)(const T *, unsigned, const T *, const T *, T *, unsigned *, unsigned,
                              double *);

template <int algorithm, int access, int form, class T, int threads>
static range_kernel<T> range_kernel_by()
{
    if constexpr (algorithm == ANY_OF)
        return repeat_range<algorithm, access, form, block_group<SHARED, T, 0>, T>;
    else if constexpr (form == HARDWARE)
        return NULL;
    else
        return repeat_range<algorithm, access, form, block_group<form, T, threads>, T>;
}

template <int access, class T, int threads>
static range_kernel<T> range_kernel_of(int64_t algorithm, int form)
{
    GPUMB_FOR_CONSTANTS(algorithm, A, (ANY_OF, SUM_OF, INCLUSIVE_OF, EXCLUSIVE_OF),
                        GPUMB_FOR_CONSTANTS(form, F, (SHARED, SHUFFLE, HARDWARE),
                                            return (range_kernel_by<A, access, F, T, threads>());));
    return NULL;
}

template <class T> static void launch_range(const trial *t, int form, double *took)
{
    const range_kernel<T> kernel = (range_kernel<T>)t->kernels[form];
    GPUMB_LAUNCH_BARRIER(kernel, 1, t->threads, shared_bytes(t, sizeof(T)),
                         GPUMB_PTR(const T, t->in), t->n, GPUMB_PTR(const T, t->sought),
                         GPUMB_PTR(const T, t->expected), GPUMB_PTR(T, t->out[form]),
                         GPUMB_PTR(unsigned, t->wrong[form]), t->times, took);
}

/* No thread has seen a wrong result, and a scan has left all of its own. */
template <class T> static int check_range(const trial *t, int form)
{
    std::vector<unsigned> wrong(t->threads);
    std::vector<T> out(t->n), expected(t->n);
    const int scans = t->algorithm == INCLUSIVE_OF || t->algorithm == EXCLUSIVE_OF;
    if (gpumb_read(t->g, t->wrong[form], 0, wrong.data(), wrong.size() * sizeof wrong[0]) ||
        gpumb_read(t->g, t->out[form], 0, out.data(), out.size() * sizeof(T)) ||
        gpumb_read(t->g, t->expected, 0, expected.data(), expected.size() * sizeof(T)))
        return 0;
    for (unsigned i = 0; i < t->threads; i++)
        if (wrong[i]) {
            gpumb_reason(t->g, "thread %u has got a wrong result", i);
            return 0;
        }
    for (unsigned i = 0; i < t->n && scans; i++)
        if (!same(out[i], expected[i])) {
            gpumb_reason(t->g, "element %u of the scan is wrong", i);
            return 0;
        }
    return 1;
}

/* Small numbers, so that a large one is not among them; random integers. */
template <class T> static T larger(T x)
{
    return x + T(100);
}
template <class T> static four<T> larger(four<T> x)
{
    return {{x.at[0] + T(100), x.at[1], x.at[2], x.at[3]}};
}

template <class T>
static void measure_range(trial *t, range_kernel<T> (*kernel_of)(int64_t algorithm, int form))
{
    gpumb *g = t->g;
    std::vector<T> in(t->n + 1), sought(2);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = draw<T>::one(t->seed, i);
    std::vector<T> expected = in;
    expected.pop_back();
    expected = results_of(expected,
                          t->algorithm == INCLUSIVE_OF   ? INCLUSIVE
                          : t->algorithm == EXCLUSIVE_OF ? EXCLUSIVE
                                                         : REDUCE,
                          0, t->n);
    sought[1] = in[gpumb_fill_word(GPUMB_FILL_BITS, t->seed, in.size()) % t->n];
    for (uint64_t i = 1, among = 1; among; i++) {
        sought[0] = larger(draw<T>::one(t->seed, in.size() + i));
        among = 0;
        for (const T &x : in)
            among += same(x, sought[0]);
    }
    const uint64_t bytes = t->n * sizeof(T);
    t->in = gpumb_alloc(g, bytes + sizeof(T));
    t->expected = gpumb_alloc(g, bytes);
    t->sought = gpumb_alloc(g, 2 * sizeof(T));
    gpumb_write(g, t->in, 0, in.data(), bytes + sizeof(T));
    gpumb_write(g, t->expected, 0, expected.data(), bytes);
    gpumb_write(g, t->sought, 0, sought.data(), 2 * sizeof(T));
    for (int form = SHARED; form <= HARDWARE; form++) {
        t->kernels[form] = (void (*)(void))kernel_of(t->algorithm, form);
        t->out[form] = gpumb_alloc(g, bytes);
        t->wrong[form] = gpumb_alloc(g, t->threads * sizeof(unsigned));
    }
    t->launch = launch_range<T>;
    t->is_right = check_range<T>;
    measure_forms(t, 1u << SHARED | 1u << SHUFFLE | (t->algorithm == ANY_OF ? 1u << HARDWARE : 0));
}

/* Of interleaved reads and contiguous ones, by the best form of each. */
static void note_access(gpumb *g, int64_t over)
{
    double low = 0, high = 0;
    int count = 0;
    sentence s = no_words();
    const rows all = having(rows_of(range_bench, NULL), "over_range", over);
    const span_of_ratios of[2] = {
        ratios(g, having(all, "access", INTERLEAVED), "element", SHARED, SHUFFLE, HARDWARE),
        ratios(g, having(all, "access", CONTIGUOUS), "element", SHARED, SHUFFLE, HARDWARE)};
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *a = row_in(g, having(all, "access", INTERLEAVED), i);
        if (!a || strcmp(a->kernel, forms[over == ANY_OF ? HARDWARE : SHUFFLE]))
            continue;
        for (size_t j = 0; j < gpumb_row_count(g); j++) {
            const gpumb_result *b = row_in(g, having(all, "access", CONTIGUOUS), j);
            if (!b || strcmp(b->kernel, a->kernel) ||
                gpumb_row_axis(g, i, "element") != gpumb_row_axis(g, j, "element") ||
                gpumb_row_axis(g, i, "threads") != gpumb_row_axis(g, j, "threads") ||
                gpumb_row_axis(g, i, "each") != gpumb_row_axis(g, j, "each"))
                continue;
            const double ratio = b->time.median / a->time.median;
            low = count && low < ratio ? low : ratio;
            high = count && high > ratio ? high : ratio;
            count++;
        }
    }
    for (int access = 0; access < 2; access++) {
        if (!of[access].count)
            continue;
        say_next(&s, "; ");
        say(&s, "%s ", accesses[access]);
        say_ratios(&s, &of[access]);
    }
    if (s.text[0])
        gpumb_note(g, "%s a range: time through shared memory over that of the best form: %s%s.",
                   range_names[over], s.text,
                   !is_gpu(g)             ? ""
                   : over == ANY_OF       ? "; published: 1.4 interleaved on a V100"
                   : over == INCLUSIVE_OF ? "; published: 8.9 on a V100"
                                          : "");
    if (count)
        gpumb_note(g,
                   "%s a range: contiguous reads take %.2f ... %.2f of the time of interleaved "
                   "ones.",
                   range_names[over], low, high);
}

static void group_range(gpumb *g)
{
    static const int64_t full[] = {256, 1024}, quick[] = {256}, cpu[] = {33};
    static const int64_t full_each[] = {8, 32}, quick_each[] = {8}, cpu_each[] = {3};
    const values sizes = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const values counts = choose(g, VALUES(full_each), VALUES(quick_each), VALUES(cpu_each));
    GPUMB_SWEEP_STRINGS(g, over_range, range_names, RANGE_ALGORITHMS)
        GPUMB_SWEEP_STRINGS(g, access, accesses, 2)
            GPUMB_SWEEP_STRINGS(g, element, type_names, COUNT(type_names))
                GPUMB_SWEEP_ARRAY(g, each, counts.at, counts.count)
                    GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
                        trial t = new_trial(g, threads, 1);
                        t.algorithm = over_range;
                        t.access = access;
                        t.n = (unsigned)(threads * each);
                        t.times = is_gpu(g) ? 32 : 4;
                        GPUMB_FOR_TYPES(element, T, (TYPES),
                                        GPUMB_FOR_CONSTANTS(
                                            is_gpu(g) ? threads : 0, N, (RANGE_SIZES),
                                            GPUMB_FOR_CONSTANTS(
                                                access, A, (INTERLEAVED, CONTIGUOUS),
                                                measure_range<T>(&t, (range_kernel_of<A, T, N>)))));
                    }
    for (int64_t over = 0; over < RANGE_ALGORITHMS; over++)
        note_access(g, over);
}

static const gpumb_benchmark benchmarks[] = {
    {block_bench, "E15: values of a block's threads: broadcast, sums, scans", group_block},
    {warp_bench, "E15: the same of each warp", group_warp},
    {vote_bench, "E15: any, all, none of a block or a warp", group_vote},
    {barrier_bench, "E15: barriers of a block or a warp", group_barrier},
    {range_bench, "E15: ranges in memory, read interleaved or contiguous", group_range},
};

GPUMB_MAIN(benchmarks)

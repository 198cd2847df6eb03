/* A range in memory and a block of threads: whether any element is a certain one, sums and scans,
 * read interleaved or contiguous. One after the other on one multiprocessor, by its own clock. */
#include "gpumb.h"

#include "group_trial.h"

/* The numbers of threads that kernels are compiled for; 0: any. */
#if defined(GPUMB_BACKEND_CPU)
#define RANGE_SIZES 0
#else
#define RANGE_SIZES 256, 1024
#endif

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
    {range_bench, "ranges in memory, read interleaved or contiguous", group_range},
};

GPUMB_MAIN(benchmarks)

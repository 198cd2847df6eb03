// test_group.cu - the algorithms of bench/group.h in blocks of awkward sizes, with warps of 32 and
// of 64 lanes where there is no GPU, against loops on the host; and that one wrong result is seen.
// shares the GPU: results are compared, not times
#include "gpumb.h"

#include "check.h"

#include "../bench/group_trial.h"

static gpumb *context;
static const unsigned sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 100, 257, 1000, 1024};

static const char *const algorithm_names[] = {"broadcast", "reduce", "reduce to one", "inclusive",
                                              "exclusive"};

template <class T> static T value(uint64_t i)
{
    return draw<T>::one(7, i);
}

// A buffer with these elements.
template <class T> static gpumb_buffer *filled(const std::vector<T> &v)
{
    gpumb_buffer *b = gpumb_alloc(context, v.size() * sizeof(T));
    gpumb_write(context, b, 0, v.data(), v.size() * sizeof(T));
    return b;
}

template <class T> static gpumb_buffer *poisoned(size_t count)
{
    gpumb_buffer *b = gpumb_alloc(context, count * sizeof(T));
    gpumb_poison(context, b);
    return b;
}

template <class T> static std::vector<T> read_back(gpumb_buffer *b)
{
    std::vector<T> v(gpumb_size(b) / sizeof(T));
    CHECK(gpumb_read(context, b, 0, v.data(), gpumb_size(b)) == 0);
    gpumb_free(context, b);
    return v;
}

// Runs an operation a few times in a row; 1 if what comes out is what went in.
template <int algorithm, class Group, class T>
static int runs(unsigned threads, unsigned group, unsigned times, bool spoilt = false)
{
    const unsigned last = threads % group ? threads % group : group, root = last * 2 / 3;
    std::vector<T> in(threads), expected;
    double took = 0;
    for (unsigned i = 0; i < threads; i++)
        in[i] = value<T>(i);
    expected = results_of(in, algorithm, root, group);
    if (spoilt)
        expected[0] = expected[0] + value<T>(threads + 1);
    gpumb_buffer *x = filled(in), *e = filled(expected), *out = poisoned<T>(threads);
    gpumb_buffer *cycles = poisoned<double>(1);
    GPUMB_LAUNCH_BARRIER((repeat<algorithm, Group, T>), 1, threads,
                         2 * room_for(threads) * sizeof(T), GPUMB_PTR(const T, x),
                         GPUMB_PTR(const T, e), GPUMB_PTR(T, out), root, group, times,
                         GPUMB_PTR(double, cycles));
    gpumb_free(context, x);
    gpumb_free(context, e);
    const std::vector<T> found = read_back<T>(out);
    took = read_back<double>(cycles)[0];
    int right = took > 0;
    for (unsigned i = 0; i < threads; i++)
        right = right && same(found[i], in[i]);
    return right;
}

template <class Group, class T>
static void test_algorithms(const char *form, unsigned threads, unsigned group)
{
    const int right[ALGORITHMS] = {
        runs<BROADCAST, Group, T>(threads, group, 3), runs<REDUCE, Group, T>(threads, group, 3),
        runs<REDUCE_TO_ONE, Group, T>(threads, group, 3),
        runs<INCLUSIVE, Group, T>(threads, group, 3), runs<EXCLUSIVE, Group, T>(threads, group, 3)};
    for (int a = 0; a < ALGORITHMS; a++)
        CHECK_CASE(right[a], "%s, %s: %u threads, groups of %u, %zu bytes", algorithm_names[a],
                   form, threads, group, sizeof(T));
}

template <class T> static void test_blocks(unsigned threads)
{
    test_algorithms<block_group<SHARED, T, 0>, T>("shared", threads, threads);
    test_algorithms<block_group<SHUFFLE, T, 0>, T>("shuffle", threads, threads);
}

// Compiled for their number of threads: other ways to take what the warps leave.
template <class T, int threads> static void test_known()
{
    test_algorithms<block_group<SHUFFLE, T, threads>, T>("shuffle, known", threads, threads);
}

// Blocks that are not a multiple of their parts, nor of a warp, too.
template <class T, int threads> static void test_parts()
{
    if constexpr (threads <= 4 * 32)
        test_algorithms<block_group<PARTS_4, T, threads>, T>("4 parts", threads, threads);
    test_algorithms<block_group<PARTS_8, T, threads>, T>("8 parts", threads, threads);
}

template <class T> static void test_warps(unsigned threads, unsigned warp)
{
    test_algorithms<warp_group<SHARED, T, 0>, T>("shared, warp", threads, warp);
    test_algorithms<warp_group<SHUFFLE, T, 0>, T>("shuffle, warp", threads, warp);
    if (warp == 32 && threads % 32 == 0) {
        test_algorithms<warp_group<PARTS_4, T, 0>, T>("4 parts, warp", threads, warp);
        test_algorithms<warp_group<PARTS_8, T, 0>, T>("8 parts, warp", threads, warp);
    }
}

// ---- votes and barriers -------------------------------------------------------------------------

template <int vote, int form, class Scope>
static void test_vote(const char *name, unsigned threads, unsigned group)
{
    const unsigned times = 9, mask = 2 * room_for(group < threads ? group : threads) - 1;
    gpumb_buffer *out = poisoned<unsigned>(threads), *cycles = poisoned<double>(1);
    GPUMB_LAUNCH_BARRIER((repeat_votes<vote, form, Scope>), 1, threads,
                         2 * room_for(threads) * sizeof(unsigned), GPUMB_PTR(unsigned, out), mask,
                         times, GPUMB_PTR(double, cycles));
    const std::vector<unsigned> found = read_back<unsigned>(out);
    CHECK(read_back<double>(cycles)[0] > 0);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned first = i / group * group;
        const unsigned count = threads - first < group ? threads - first : group;
        unsigned state = first;
        for (unsigned k = 0; k < times; k++) {
            unsigned ones = 0;
            for (unsigned t = 0; t < count; t++)
                ones += ((state & mask) == t) == (vote != ALL);
            const bool result = vote == ANY ? ones > 0 : vote == ALL ? ones == count : ones == 0;
            state = 5 * state + (result ? 3 : 1);
        }
        CHECK_CASE(found[i] == state,
                   "vote %d, %s: %u threads, groups of %u: thread %u has %u, "
                   "not %u",
                   vote, name, threads, group, i, found[i], state);
    }
}

template <class Scope> static void test_votes(const char *scope, unsigned threads, unsigned group)
{
    test_vote<ANY, SHARED, Scope>(scope, threads, group);
    test_vote<ANY, SHUFFLE, Scope>(scope, threads, group);
    test_vote<ANY, HARDWARE, Scope>(scope, threads, group);
    test_vote<ALL, SHARED, Scope>(scope, threads, group);
    test_vote<ALL, HARDWARE, Scope>(scope, threads, group);
    test_vote<NONE, SHUFFLE, Scope>(scope, threads, group);

    gpumb_buffer *out = poisoned<unsigned>(threads), *cycles = poisoned<double>(1);
    GPUMB_LAUNCH_BARRIER((repeat_barrier<true, Scope>), 1, threads,
                         2 * room_for(threads) * sizeof(unsigned), GPUMB_PTR(unsigned, out), 5u,
                         GPUMB_PTR(double, cycles));
    const std::vector<unsigned> found = read_back<unsigned>(out);
    gpumb_free(context, cycles);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned first = i / group * group;
        const unsigned count = threads - first < group ? threads - first : group;
        CHECK_CASE(found[i] == (i - first + 5) % count, "barrier, %s: thread %u of %u", scope, i,
                   threads);
    }
}

// ---- ranges -------------------------------------------------------------------------------------

template <int algorithm, int access, int form, class T>
static int range_is_right(unsigned threads, unsigned n, int spoilt)
{
    const bool scans = algorithm == INCLUSIVE_OF || algorithm == EXCLUSIVE_OF;
    std::vector<T> in(n + 1), expected(n);
    for (unsigned i = 0; i <= n; i++)
        in[i] = value<T>(i);
    const std::vector<T> all(in.begin(), in.begin() + (int)n);
    expected = results_of(all,
                          algorithm == INCLUSIVE_OF   ? INCLUSIVE
                          : algorithm == EXCLUSIVE_OF ? EXCLUSIVE
                                                      : REDUCE,
                          0, n);
    T present = in[n - 1], absent = T(100); // integers are random, others small
    if (spoilt)
        present = absent, expected[n - 1] = expected[0] = expected[0] + present;
    gpumb_buffer *x = filled(in), *e = filled(expected), *out = poisoned<T>(n);
    gpumb_buffer *sought = filled(std::vector<T>{absent, present});
    gpumb_buffer *wrong = poisoned<unsigned>(threads), *cycles = poisoned<double>(1);
    GPUMB_LAUNCH_BARRIER((repeat_range<algorithm, access, form, block_group<form, T, 0>, T>), 1,
                         threads, 2 * room_for(threads) * sizeof(T), GPUMB_PTR(const T, x), n,
                         GPUMB_PTR(const T, sought), GPUMB_PTR(const T, e), GPUMB_PTR(T, out),
                         GPUMB_PTR(unsigned, wrong), 4u, GPUMB_PTR(double, cycles));
    gpumb_free(context, sought);
    gpumb_free(context, x);
    gpumb_free(context, e);
    const std::vector<T> found = read_back<T>(out);
    const std::vector<unsigned> flags = read_back<unsigned>(wrong);
    int right = read_back<double>(cycles)[0] > 0;
    for (unsigned flag : flags)
        right = right && flag == 0;
    for (unsigned i = 0; i < n && scans && !spoilt; i++)
        right = right && same(found[i], expected[i]);
    return right;
}

template <int algorithm, int form, class T> static void test_range(unsigned threads, unsigned n)
{
    const int interleaved = range_is_right<algorithm, INTERLEAVED, form, T>(threads, n, 0);
    const int contiguous = range_is_right<algorithm, CONTIGUOUS, form, T>(threads, n, 0);
    CHECK_CASE(interleaved && contiguous,
               "range, algorithm %d, form %d: %u threads, n = %u: interleaved %d, contiguous %d",
               algorithm, form, threads, n, interleaved, contiguous);
    CHECK_CASE((!range_is_right<algorithm, INTERLEAVED, form, T>(threads, n, 1)),
               "range, algorithm %d, form %d: %u threads, n = %u: a wrong result is not seen",
               algorithm, form, threads, n);
}

static void test_ranges()
{
    const unsigned cases[][2] = {{1, 1}, {1, 5}, {33, 7}, {33, 33}, {64, 200}, {100, 1001}};
    for (const unsigned(&c)[2] : cases) {
        test_range<ANY_OF, SHARED, unsigned>(c[0], c[1]);
        test_range<ANY_OF, HARDWARE, unsigned>(c[0], c[1]);
        test_range<SUM_OF, SHARED, double>(c[0], c[1]);
        test_range<SUM_OF, SHUFFLE, unsigned>(c[0], c[1]);
        test_range<INCLUSIVE_OF, SHARED, unsigned>(c[0], c[1]);
        test_range<INCLUSIVE_OF, SHUFFLE, double>(c[0], c[1]);
        test_range<EXCLUSIVE_OF, SHARED, double>(c[0], c[1]);
        test_range<EXCLUSIVE_OF, SHUFFLE, unsigned>(c[0], c[1]);
    }
}

// ---- a check that can fail ----------------------------------------------------------------------

#if defined(GPUMB_BACKEND_CPU)
static unsigned calls; // of the last thread

// Right but for the second operation, in which one thread gets a wrong result.
struct wrong_once : block_group<SHUFFLE, unsigned, 0> {
    typedef block_group<SHUFFLE, unsigned, 0> right;
    static unsigned spoil(unsigned x, bool here)
    {
        return here && calls++ == 1 ? x ^ 4 : x;
    }
    static unsigned broadcast(unsigned x, unsigned root, turns<unsigned> &m)
    {
        return spoil(right::broadcast(x, root, m), threadIdx.x == root);
    }
    static unsigned reduce(unsigned x, turns<unsigned> &m)
    {
        return spoil(right::reduce(x, m), threadIdx.x == 5);
    }
    static unsigned reduce_to_one(unsigned x, turns<unsigned> &m)
    {
        return spoil(right::reduce_to_one(x, m), threadIdx.x == 0);
    }
    static unsigned inclusive(unsigned x, turns<unsigned> &m)
    {
        return spoil(right::inclusive(x, m), threadIdx.x == blockDim.x - 1);
    }
    static unsigned exclusive(unsigned x, turns<unsigned> &m)
    {
        return spoil(right::exclusive(x, m), threadIdx.x == blockDim.x - 1);
    }
};

template <int algorithm> static void test_wrong_once()
{
    calls = 0;
    CHECK_CASE(!(runs<algorithm, wrong_once, unsigned>(64, 64, 50)),
               "%s: one wrong result of 50 is not seen", algorithm_names[algorithm]);
    CHECK_INT(calls, 50);
}
#endif

int main()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    context = gpumb_open_settings("test_group", &s);
    for (int warp = 32; warp <= 64; warp += 32) {
        if (is_gpu(context) && warp != gpumb_get_device(context)->warp_size)
            continue;
        if (!is_gpu(context))
            CHECK(gpumb_cpu_set_warp_size(warp) == 0);
        for (unsigned threads : sizes) {
            test_blocks<unsigned>(threads);
            test_blocks<four<double>>(threads);
            test_blocks<float>(threads);
            test_algorithms<block_group<HARDWARE, unsigned, 0>, unsigned>("hardware", threads,
                                                                          threads);
            test_warps<unsigned>(threads, (unsigned)warp);
            test_warps<four<double>>(threads, (unsigned)warp);
            test_votes<the_block<0>>("block", threads, threads);
            test_votes<the_warp<0>>("warp", threads, (unsigned)warp);
        }
        test_known<unsigned, 64>();
        test_known<float, 256>();
        test_known<double, 1024>();
        test_known<four<float>, 96>();
        test_known<four<double>, 1024>();
        test_algorithms<block_group<HARDWARE, unsigned, 100>, unsigned>("hardware, known", 100,
                                                                        100);
        test_parts<unsigned, 1>();
        test_parts<unsigned, 33>();
        test_parts<unsigned, 64>();
        test_parts<unsigned long long, 128>();
        test_parts<unsigned long long, 255>();
        test_parts<float, 100>();
        test_parts<double, 256>();
        test_parts<four<float>, 31>();
        test_parts<four<float>, 64>();
        test_parts<four<double>, 96>();
        test_parts<four<double>, 200>();
        test_ranges();
    }
    CHECK((!runs<REDUCE, block_group<SHUFFLE, unsigned, 0>, unsigned>(33, 33, 1, true)));
#if defined(GPUMB_BACKEND_CPU)
    test_wrong_once<BROADCAST>();
    test_wrong_once<REDUCE>();
    test_wrong_once<REDUCE_TO_ONE>();
    test_wrong_once<INCLUSIVE>();
    test_wrong_once<EXCLUSIVE>();
#endif
    CHECK(gpumb_ok(context));
    gpumb_close(context);
    return CHECK_SUMMARY();
}

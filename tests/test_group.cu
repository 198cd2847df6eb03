// test_group.cu - the algorithms of bench/group.h in blocks of awkward sizes, with warps of 32 and
// of 64 lanes where there is no GPU, against loops on the host; and that one wrong result is seen.
// shares the GPU: results are compared, not times
#include "gpumb.h"

#include "check.h"
#include "poison.h"

#include "../bench/group_trial.h"

static gpumb *context;
static const unsigned sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 100, 257, 1000, 1024};

static const char *const algorithm_names[] = {"broadcast", "reduce", "reduce to one", "inclusive",
                                              "exclusive"};

template <class T> static T value(uint64_t i)
{
    return draw<T>::one(7, i);
}

// ---- memory -------------------------------------------------------------------------------------

// What launches read and write lies in one buffer, which is written before them and read behind
// them, as a whole: on a GPU that others use as well, a wait takes longer than many launches.
// What nothing was put into is poison, as are the gaps between parts.
struct part {
    size_t at, bytes;
};

static gpumb_buffer *memory;
static std::vector<unsigned char> image; // what it holds, or is to hold
static std::vector<part> parts;

static void begin()
{
    image.clear();
    parts.clear();
}

template <class T> static part room(size_t count)
{
    const part p = {image.size(), count * sizeof(T)};
    image.resize((p.at + p.bytes) / 256 * 256 + 512);
    put_poison(&image[p.at], image.size() - p.at, p.at);
    parts.push_back(p);
    return p;
}

template <class T> static part put(const std::vector<T> &v)
{
    const part p = room<T>(v.size());
    memcpy(&image[p.at], v.data(), p.bytes);
    return p;
}

static void upload()
{
    if (gpumb_size(memory) < image.size()) {
        gpumb_free(context, memory);
        memory = gpumb_alloc(context, 2 * image.size());
    }
    CHECK(gpumb_write(context, memory, 0, image.data(), image.size()) == 0);
}

static void read_back()
{
    CHECK(gpumb_read(context, memory, 0, image.data(), image.size()) == 0);
    bool untouched = true;
    for (size_t i = 0; i < parts.size(); i++) {
        const size_t end = parts[i].at + parts[i].bytes,
                     next = i + 1 < parts.size() ? parts[i + 1].at : image.size();
        untouched = untouched && is_poison(&image[end], next - end, end);
    }
    CHECK(untouched);
}

template <class T> static T *on_device(const part &p)
{
    return (T *)(GPUMB_PTR(char, memory) + p.at);
}

template <class T> static std::vector<T> found_in(const part &p)
{
    std::vector<T> v(p.bytes / sizeof(T));
    memcpy(v.data(), &image[p.at], p.bytes);
    return v;
}

// ---- algorithms ---------------------------------------------------------------------------------

// An operation that is run a few times in a row.
template <class T> struct run {
    unsigned threads, group, root;
    std::vector<T> in;
    part x, expected, out, cycles;
};

template <class T>
static run<T> prepare(int algorithm, unsigned threads, unsigned group, bool spoilt = false)
{
    const unsigned last = threads % group ? threads % group : group, root = last * 2 / 3;
    std::vector<T> in(threads), expected;
    for (unsigned i = 0; i < threads; i++)
        in[i] = value<T>(i);
    expected = results_of(in, algorithm, root, group);
    if (spoilt)
        expected[0] = expected[0] + value<T>(threads + 1);
    return {threads, group, root, in, put(in), put(expected), room<T>(threads), room<double>(1)};
}

template <int algorithm, class Group, class T> static void launch(const run<T> &r, unsigned times)
{
    GPUMB_LAUNCH_BARRIER((repeat<algorithm, Group, T>), 1, r.threads,
                         2 * room_for(r.threads) * sizeof(T), on_device<const T>(r.x),
                         on_device<const T>(r.expected), on_device<T>(r.out), r.root, r.group,
                         times, on_device<double>(r.cycles));
}

// 1 if what came out is what went in.
template <class T> static int is_right(const run<T> &r)
{
    const std::vector<T> found = found_in<T>(r.out);
    int right = found_in<double>(r.cycles)[0] > 0;
    for (unsigned i = 0; i < r.threads; i++)
        right = right && same(found[i], r.in[i]);
    return right;
}

template <int algorithm, class Group, class T>
static int runs(unsigned threads, unsigned group, unsigned times, bool spoilt = false)
{
    begin();
    const run<T> r = prepare<T>(algorithm, threads, group, spoilt);
    upload();
    launch<algorithm, Group>(r, times);
    read_back();
    return is_right(r);
}

template <class Group, class T>
static void test_algorithms(const char *form, unsigned threads, unsigned group)
{
    std::vector<run<T>> all;
    begin();
    for (int a = 0; a < ALGORITHMS; a++)
        all.push_back(prepare<T>(a, threads, group));
    upload();
    launch<BROADCAST, Group>(all[BROADCAST], 3);
    launch<REDUCE, Group>(all[REDUCE], 3);
    launch<REDUCE_TO_ONE, Group>(all[REDUCE_TO_ONE], 3);
    launch<INCLUSIVE, Group>(all[INCLUSIVE], 3);
    launch<EXCLUSIVE, Group>(all[EXCLUSIVE], 3);
    read_back();
    for (int a = 0; a < ALGORITHMS; a++)
        CHECK_CASE(is_right(all[(size_t)a]), "%s, %s: %u threads, groups of %u, %zu bytes",
                   algorithm_names[a], form, threads, group, sizeof(T));
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

enum { TIMES = 9 };

struct voting {
    part out, cycles;
};

template <int vote, int form, class Scope>
static void launch_vote(const voting &b, unsigned threads, unsigned mask)
{
    GPUMB_LAUNCH_BARRIER((repeat_votes<vote, form, Scope>), 1, threads,
                         2 * room_for(threads) * sizeof(unsigned), on_device<unsigned>(b.out), mask,
                         (unsigned)TIMES, on_device<double>(b.cycles));
}

static void check_vote(const voting &b, int vote, const char *name, unsigned threads,
                       unsigned group, unsigned mask)
{
    const std::vector<unsigned> found = found_in<unsigned>(b.out);
    CHECK(found_in<double>(b.cycles)[0] > 0);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned first = i / group * group;
        const unsigned count = threads - first < group ? threads - first : group;
        unsigned state = first;
        for (unsigned k = 0; k < TIMES; k++) {
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
    const unsigned mask = 2 * room_for(group < threads ? group : threads) - 1;
    const int votes[] = {ANY, ANY, ANY, ALL, ALL, NONE};
    std::vector<voting> b;
    begin();
    for (int i = 0; i < 7; i++) // the last for the barrier
        b.push_back({room<unsigned>(threads), room<double>(1)});
    upload();
    launch_vote<ANY, SHARED, Scope>(b[0], threads, mask);
    launch_vote<ANY, SHUFFLE, Scope>(b[1], threads, mask);
    launch_vote<ANY, HARDWARE, Scope>(b[2], threads, mask);
    launch_vote<ALL, SHARED, Scope>(b[3], threads, mask);
    launch_vote<ALL, HARDWARE, Scope>(b[4], threads, mask);
    launch_vote<NONE, SHUFFLE, Scope>(b[5], threads, mask);
    GPUMB_LAUNCH_BARRIER((repeat_barrier<true, Scope>), 1, threads,
                         2 * room_for(threads) * sizeof(unsigned), on_device<unsigned>(b[6].out),
                         5u, on_device<double>(b[6].cycles));
    read_back();
    for (size_t i = 0; i < 6; i++)
        check_vote(b[i], votes[i], scope, threads, group, mask);
    const std::vector<unsigned> found = found_in<unsigned>(b[6].out);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned first = i / group * group;
        const unsigned count = threads - first < group ? threads - first : group;
        CHECK_CASE(found[i] == (i - first + 5) % count, "barrier, %s: thread %u of %u", scope, i,
                   threads);
    }
}

// ---- ranges -------------------------------------------------------------------------------------

template <class T> struct range_run {
    unsigned n;
    bool spoilt;
    std::vector<T> in, expected; // in: one more than n
    part x, e, out, sought, wrong, cycles;
};

template <class T>
static range_run<T> prepare_range(int algorithm, unsigned threads, unsigned n, bool spoilt)
{
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
    return {n,
            spoilt,
            in,
            expected,
            put(in),
            put(expected),
            room<T>(n),
            put(std::vector<T>{absent, present}),
            room<unsigned>(threads),
            room<double>(1)};
}

template <int algorithm, int access, int form, class T>
static void launch_range(const range_run<T> &r, unsigned threads)
{
    GPUMB_LAUNCH_BARRIER((repeat_range<algorithm, access, form, block_group<form, T, 0>, T>), 1,
                         threads, 2 * room_for(threads) * sizeof(T), on_device<const T>(r.x), r.n,
                         on_device<const T>(r.sought), on_device<const T>(r.e), on_device<T>(r.out),
                         on_device<unsigned>(r.wrong), 4u, on_device<double>(r.cycles));
}

template <class T> static int range_is_right(const range_run<T> &r, int algorithm)
{
    const bool scans = algorithm == INCLUSIVE_OF || algorithm == EXCLUSIVE_OF;
    const std::vector<T> found = found_in<T>(r.out);
    int right = found_in<double>(r.cycles)[0] > 0;
    for (unsigned flag : found_in<unsigned>(r.wrong))
        right = right && flag == 0;
    for (unsigned i = 0; i < r.n && scans && !r.spoilt; i++)
        right = right && same(found[i], r.expected[i]);
    return right;
}

template <int algorithm, int form, class T> static void test_range(unsigned threads, unsigned n)
{
    begin();
    const range_run<T> interleaved = prepare_range<T>(algorithm, threads, n, false),
                       contiguous = prepare_range<T>(algorithm, threads, n, false),
                       spoilt = prepare_range<T>(algorithm, threads, n, true);
    upload();
    launch_range<algorithm, INTERLEAVED, form>(interleaved, threads);
    launch_range<algorithm, CONTIGUOUS, form>(contiguous, threads);
    launch_range<algorithm, INTERLEAVED, form>(spoilt, threads);
    read_back();
    const int right[] = {range_is_right(interleaved, algorithm),
                         range_is_right(contiguous, algorithm)};
    CHECK_CASE(right[0] && right[1],
               "range, algorithm %d, form %d: %u threads, n = %u: interleaved %d, contiguous %d",
               algorithm, form, threads, n, right[0], right[1]);
    CHECK_CASE(!range_is_right(spoilt, algorithm),
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

// test_reductions.cu - every reduction, form and geometry against sums and extremes computed on the
// host, and the check against results that are wrong, on whatever backend this is built for.
// shares the GPU: results are compared, not times
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "device.h"
#include "poison.h"
#include "refused.h"
#include <functional>
#include <limits>
#include <math.h>
#include <stdlib.h>
#include <vector>

typedef std::vector<unsigned char> bytes;

enum { CAPACITY = 140000, SLOT = 48, RESULTS = 1 << 16 };

static const gpumb_operation operations[] = {GPUMB_SUM, GPUMB_MIN, GPUMB_MAX};

template <class T> struct type_of;
template <> struct type_of<float> {
    static const gpumb_type type = GPUMB_F32;
    static const gpumb_fill_kind fill = GPUMB_FILL_F32;
};
template <> struct type_of<double> {
    static const gpumb_type type = GPUMB_F64;
    static const gpumb_fill_kind fill = GPUMB_FILL_F64;
};
template <> struct type_of<int32_t> {
    static const gpumb_type type = GPUMB_I32;
    static const gpumb_fill_kind fill = GPUMB_FILL_BITS;
};
template <> struct type_of<uint32_t> {
    static const gpumb_type type = GPUMB_U32;
    static const gpumb_fill_kind fill = GPUMB_FILL_BITS;
};

template <class T> static bool is_float()
{
    return !std::numeric_limits<T>::is_integer;
}

template <class T> static T poison_value()
{
    T x;
    put_poison(&x, sizeof x, 0);
    return x;
}

static void describe(const gpumb_reduction &how, uint64_t n)
{
    printf("    type %d, operation %d, form %d, combine %d, finish %d, block %d, blocks %llu, "
           "per_thread %d, n %llu\n",
           (int)how.type, (int)how.operation, (int)how.form, (int)how.combine, (int)how.finish,
           how.block, (unsigned long long)how.blocks, how.per_thread, (unsigned long long)n);
}

// ---- drawing parameters: a fixed sequence, in which each value comes up equally often ----

static int warp_size;
static uint64_t draws;

static uint64_t draw(uint64_t below)
{
    return gpumb_fill_word(GPUMB_FILL_BITS, 4711, draws++) % below;
}

struct deck {
    std::vector<int64_t> values;
    size_t dealt;
};

static deck deck_of(const std::vector<int64_t> &values)
{
    deck d = {values, values.size()};
    return d;
}

static int64_t deal(deck &d)
{
    if (d.dealt == d.values.size()) {
        for (size_t i = d.values.size(); i > 1; i--)
            std::swap(d.values[i - 1], d.values[draw(i)]);
        d.dealt = 0;
    }
    return d.values[d.dealt++];
}

// ---- expected results, on the host ----

template <class T> static T neutral(gpumb_operation operation)
{
    typedef std::numeric_limits<T> limits;
    if (operation == GPUMB_SUM)
        return 0;
    if (operation == GPUMB_MIN)
        return is_float<T>() ? limits::infinity() : limits::max();
    return is_float<T>() ? -limits::infinity() : limits::lowest();
}

struct exact_sum {
    double high, low, absolute; // the sum is high + low, to twice the precision of a double
};

static void add_to(exact_sum &s, double x)
{
    const double t = s.high + x, part = t - s.high;
    s.low += (s.high - (t - part)) + (x - part);
    s.high = t;
    s.absolute += fabs(x);
}

template <class T> static exact_sum sum_of(const T *x, uint64_t n)
{
    exact_sum s = {0, 0, 0};
    for (uint64_t i = 0; i < n; i++)
        add_to(s, (double)x[i]);
    return s;
}

template <class T> static T reduce_on_host(gpumb_operation operation, const T *x, uint64_t n)
{
    T best = neutral<T>(operation);
    if (operation == GPUMB_SUM) {
        if (is_float<T>()) {
            const exact_sum s = sum_of(x, n);
            return (T)(s.high + s.low);
        }
        uint32_t sum = 0; // the one sum that wraps without undefined behaviour
        for (uint64_t i = 0; i < n; i++)
            sum += (uint32_t)(int64_t)x[i];
        memcpy(&best, &sum, 4);
        return best;
    }
    for (uint64_t i = 0; i < n; i++)
        if (operation == GPUMB_MIN ? x[i] < best : x[i] > best)
            best = x[i];
    return best;
}

// More additions than any element goes through: a thread's own, then over the block, then over the
// grid, each counted as if done one by one.
static double most_additions(const gpumb_reduction &r, uint64_t n)
{
    const uint64_t warp = (uint64_t)warp_size;
    const uint64_t warps = (uint64_t)r.block / warp ? (uint64_t)r.block / warp : 1;
    const uint64_t turn = r.blocks * warps * warp * (uint64_t)(r.per_thread ? r.per_thread : 1);
    const uint64_t own = (n / turn + 1) * (uint64_t)(r.per_thread ? r.per_thread : 1);
    return (double)(own + (uint64_t)r.block + r.blocks + 256);
}

static double gamma_of(double h, double unit)
{
    return h * unit / (1 - h * unit);
}

template <class T> static double unit_roundoff()
{
    return (double)std::numeric_limits<T>::epsilon() / 2;
}

template <class T>
static bool is_right(gpumb *g, const gpumb_reduction &how, const T *x, uint64_t n, T got,
                     bool exactly)
{
    if (how.operation != GPUMB_SUM || !is_float<T>() || exactly)
        return got == reduce_on_host(how.operation, x, n);
    const exact_sum s = sum_of(x, n);
    const gpumb_reduction r = gpumb_reduction_geometry(g, &how, n);
    const double error = fabs(((double)got - s.high) - s.low);
    return error <= gamma_of(most_additions(r, n), unit_roundoff<T>()) * s.absolute;
}

// ---- inputs ----

template <class T> static std::vector<T> filled(uint64_t seed, uint64_t n)
{
    std::vector<T> x(n + 8);
    unsigned char *p = (unsigned char *)x.data();
    for (uint64_t i = 0; i < (n * sizeof(T) + 7) / 8; i++) {
        const uint64_t word = gpumb_fill_word(type_of<T>::fill, seed, i);
        memcpy(p + 8 * i, &word, 8);
    }
    x.resize(n);
    return x;
}

// Whole numbers from 1, so small that every sum of them is exact: where rounding errors are allowed
// for, a missing element hides among them.
template <class T> static std::vector<T> whole(uint64_t seed, uint64_t n)
{
    std::vector<T> x(n);
    for (uint64_t i = 0; i < n; i++)
        x[i] = (T)(1 + gpumb_fill_word(GPUMB_FILL_BITS, seed, i) % 100);
    return x;
}

// One extreme at `peak`, and the further from there the less so: whichever elements are missing, or
// are too many, near the end of an input that ends before the peak, show.
template <class T>
static std::vector<T> peaked(gpumb_operation operation, uint64_t peak, uint64_t n)
{
    std::vector<T> x(n);
    for (uint64_t i = 0; i < n; i++) {
        const T away = (T)(i < peak ? peak - i : i - peak);
        x[i] = operation == GPUMB_MIN ? (T)(away + 3) : (T)(3000000 - away);
    }
    return x;
}

// Results lie in `out`, and those of many series are read back and looked at together: on a GPU
// that others use as well, a wait takes longer than many launches.
struct series_run {
    size_t at; // of its results
    gpumb_buffer *workspace;
    std::function<void(const unsigned char *)> look;
};

struct workplace {
    gpumb *g;
    gpumb_buffer *in, *out;
    std::vector<series_run> runs; // that are not looked at yet
    size_t used;                  // of `out`, by these
    deck n, block, blocks, per_thread;
    bool on_cpu;
    int series; // for each form
};

template <class T>
static gpumb_reduction reduction(gpumb_operation operation, gpumb_form form, int combine,
                                 int finish)
{
    gpumb_reduction how = gpumb_reduction_default();
    how.type = type_of<T>::type;
    how.operation = operation;
    how.form = form;
    how.combine = (gpumb_combine)combine;
    how.finish = (gpumb_finish)finish;
    how.block = 0;
    how.blocks = 0;
    how.per_thread = 0;
    return how;
}

// The fastest form, and all combinations of the naive one.
template <class T> static std::vector<gpumb_reduction> all_forms(gpumb_operation operation)
{
    std::vector<gpumb_reduction> list;
    list.push_back(reduction<T>(operation, GPUMB_FORM_FASTEST, 0, 0));
    for (int combine = GPUMB_COMBINE_FIRST_THREAD; combine <= GPUMB_COMBINE_SHUFFLE_XOR; combine++)
        for (int finish = GPUMB_FINISH_TWO_LAUNCHES; finish <= GPUMB_FINISH_LAST_BLOCK; finish++)
            list.push_back(reduction<T>(operation, GPUMB_FORM_NAIVE, combine, finish));
    return list;
}

static bool all_poison(const unsigned char *p, uint64_t size)
{
    return is_poison(p, size, 0) == 1;
}

// ---- series of launches with one workspace ----

static void look_at_series(workplace &w)
{
    bytes got(w.used + 1);
    CHECK_INT(gpumb_read(w.g, w.out, 0, got.data(), w.used), 0);
    for (const series_run &run : w.runs) {
        run.look(&got[run.at]);
        gpumb_free(w.g, run.workspace);
    }
    w.runs.clear();
    w.used = 0;
}

// Elements on the host, and the same on the device.
template <class T> struct input {
    std::vector<T> host;
    gpumb_buffer *device;
};

template <class T> static input<T> upload(workplace &w, const std::vector<T> &x)
{
    input<T> in = {x, gpumb_alloc(w.g, x.size() * sizeof(T))};
    CHECK_INT(gpumb_write(w.g, in.device, 0, x.data(), x.size() * sizeof(T)), 0);
    return in;
}

// What reads it is looked at before it goes.
template <class T> static void end_input(workplace &w, input<T> &in)
{
    look_at_series(w);
    gpumb_free(w.g, in.device);
}

template <class T>
static void check_series(workplace &w, const gpumb_reduction &how, const T *x,
                         const std::vector<uint64_t> &counts, bool exactly,
                         const unsigned char *got)
{
    bool untouched = all_poison(got, SLOT);
    for (size_t i = 0; i < counts.size(); i++) {
        const unsigned char *slot = got + SLOT * (i + 1);
        T value;
        memcpy(&value, slot, sizeof(T));
        if (!CHECK(is_right(w.g, how, x, counts[i], value, exactly))) {
            describe(how, counts[i]);
            printf("    launch %d of %d in a row: %.17g, expected %.17g\n", (int)i,
                   (int)counts.size(), (double)value,
                   (double)reduce_on_host(how.operation, x, counts[i]));
        }
        untouched = untouched && all_poison(slot + sizeof(T), SLOT - sizeof(T));
    }
    if (!CHECK(untouched && all_poison(got + SLOT * (counts.size() + 1), SLOT)))
        describe(how, counts[0]);
}

// Reduces n elements from number `from` on for each n, one launch right behind the other. Results,
// and what is around them, are looked at later.
template <class T>
static void run_series(workplace &w, const gpumb_reduction &how, const input<T> &x,
                       const std::vector<uint64_t> &counts, uint64_t from, bool exactly)
{
    const size_t size = SLOT * (counts.size() + 2);
    uint64_t most = 0;
    for (uint64_t n : counts)
        most = n > most ? n : most;
    if (w.used + size > RESULTS)
        look_at_series(w);
    if (!w.used)
        gpumb_poison(w.g, w.out);
    gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, most);
    CHECK(workspace != NULL);
    for (size_t i = 0; i < counts.size(); i++) {
        unsigned char *out = GPUMB_PTR(unsigned char, w.out) + w.used + SLOT * (i + 1);
        if (!CHECK_INT(gpumb_reduce(w.g, &how, counts[i], GPUMB_PTR(const T, x.device) + from, out,
                                    workspace),
                       0))
            describe(how, counts[i]);
    }
    const T *const first = x.host.data() + from;
    w.runs.push_back({w.used, workspace, [=, &w](const unsigned char *got) {
                          check_series(w, how, first, counts, exactly, got);
                      }});
    w.used += size;
}

// Counts below 0 stand for those at the edges of a block and of a turn of the grid.
static uint64_t deal_count(workplace &w, const gpumb_reduction &how)
{
    const int64_t n = deal(w.n);
    if (n >= 0)
        return (uint64_t)n;
    const uint64_t block = how.block ? (uint64_t)how.block : 256;
    const uint64_t blocks = how.blocks ? how.blocks : 1;
    const uint64_t turn = block * blocks * (uint64_t)(how.per_thread ? how.per_thread : 1);
    const uint64_t edge = n >= -3 || turn > 100000 ? block : turn;
    return edge + (uint64_t)(-n) % 3 - 1;
}

template <class T> static void test_series(workplace &w)
{
    // Random elements, exact ones, and for each extreme peaked ones: seen from `peak` elements
    // before theirs, those have the peak at `peak`. There are some, for that to be an address of
    // whole words.
    const uint64_t aligned = 16 / sizeof(T), beyond = 2 * CAPACITY + 8;
    std::vector<T> x = filled<T>(7, CAPACITY);
    const std::vector<T> exact = whole<T>(8, CAPACITY);
    x.insert(x.end(), exact.begin(), exact.end());
    for (gpumb_operation operation : {GPUMB_MIN, GPUMB_MAX})
        for (uint64_t i = 0; i < aligned; i++) {
            const std::vector<T> more = peaked<T>(operation, CAPACITY + i, beyond);
            x.insert(x.end(), more.begin(), more.end());
        }
    input<T> in = upload(w, x);
    for (gpumb_operation operation : operations)
        for (const gpumb_reduction &form : all_forms<T>(operation))
            for (int series = 0; series < w.series; series++) {
                gpumb_reduction how = form;
                how.block = (int)deal(w.block);
                how.blocks = (uint64_t)deal(w.blocks);
                how.per_thread = (int)deal(w.per_thread);
                std::vector<uint64_t> counts;
                for (int i = 0; i < 5; i++)
                    counts.push_back(deal_count(w, how));
                counts.push_back(counts[0]);
                const uint64_t from = draw(3) * (how.form == GPUMB_FORM_FASTEST ? aligned : 1);
                const bool natural = series % 2 == 1;
                const bool exactly = operation == GPUMB_SUM && !natural;
                const uint64_t peak = draw(2) ? counts[draw(5)] + draw(3) : draw(CAPACITY);
                const uint64_t which = peak % aligned + (operation == GPUMB_MAX ? aligned : 0);
                const uint64_t base =
                    natural ? 0
                    : operation == GPUMB_SUM
                        ? (uint64_t)CAPACITY
                        : 2 * CAPACITY + which * beyond + CAPACITY + peak % aligned - peak;
                run_series(w, how, in, counts, base + from, exactly);
            }
    end_input(w, in);
}

// With all of the geometry chosen, on every count there is.
template <class T> static void test_chosen(workplace &w)
{
    const std::vector<T> exact = whole<T>(9, CAPACITY);
    std::vector<uint64_t> counts;
    for (int64_t n : w.n.values)
        if (n >= 0)
            counts.push_back((uint64_t)n);
    input<T> in = upload(w, exact);
    for (gpumb_operation operation : operations)
        run_series(w, reduction<T>(operation, GPUMB_FORM_FASTEST, 0, 0), in, counts, 0, true);
    run_series(
        w, reduction<T>(GPUMB_SUM, GPUMB_FORM_NAIVE, GPUMB_COMBINE_TREE, GPUMB_FINISH_LAST_BLOCK),
        in, counts, 0, true);
    end_input(w, in);
}

// More blocks than there are elements for, and than any device has room for at a time.
template <class T> static void test_many_blocks(workplace &w)
{
    input<T> in = upload(w, whole<T>(10, CAPACITY));
    for (gpumb_operation operation : operations)
        for (gpumb_reduction how : all_forms<T>(operation)) {
            how.block = 32;
            how.per_thread = 1;
            for (uint64_t blocks : {5000u, 16384u, 16385u, 20001u}) {
                if (w.on_cpu && draw(how.form == GPUMB_FORM_NAIVE ? 60 : 4)) // 0.1 s each there
                    continue;
                how.blocks = blocks;
                run_series(w, how, in, {100003, 7}, 0, true);
            }
        }
    end_input(w, in);
}

// ---- values that are special ----

// Inputs that are reduced in one form, all of them before one result is looked at.
template <class T> struct values {
    struct one {
        uint64_t at, n;
        std::function<void(T)> look;
    };
    std::vector<T> image;
    std::vector<one> all;
};

template <class T>
static void add(values<T> &v, const std::vector<T> &x, const std::function<void(T)> &look)
{
    v.all.push_back({v.image.size(), x.size(), look});
    v.image.insert(v.image.end(), x.begin(), x.end());
    v.image.resize((v.image.size() + 3) / 4 * 4); // the next begins with a word of 16 bytes
}

// The workspace is for at least as many as there are in any.
template <class T>
static void reduce_values(workplace &w, const gpumb_reduction &how, gpumb_buffer *workspace,
                          const values<T> &v)
{
    bytes got(SLOT * v.all.size());
    CHECK_INT(gpumb_write(w.g, w.in, 0, v.image.data(), v.image.size() * sizeof(T)), 0);
    gpumb_poison(w.g, w.out);
    for (size_t i = 0; i < v.all.size(); i++)
        CHECK_INT(gpumb_reduce(w.g, &how, v.all[i].n, GPUMB_PTR(const T, w.in) + v.all[i].at,
                               GPUMB_PTR(char, w.out) + SLOT * i, workspace),
                  0);
    CHECK_INT(gpumb_read(w.g, w.out, 0, got.data(), got.size()), 0);
    for (size_t i = 0; i < v.all.size(); i++) {
        T result;
        memcpy(&result, &got[SLOT * i], sizeof result);
        v.all[i].look(result);
    }
}

template <class T> static void test_special(workplace &w)
{
    const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
    const T top = std::numeric_limits<T>::max();
    for (gpumb_operation operation : operations)
        for (gpumb_reduction how : all_forms<T>(operation)) {
            how.block = draw(2) ? 64 : 100;
            how.blocks = draw(2) ? 3 : 0;
            values<T> v;
            // to be `right`, or not a number where that is none
            const auto expect = [&](const std::vector<T> &x, T right) {
                const uint64_t n = x.size();
                add<T>(v, x, [=](T got) {
                    if (!CHECK(right != right ? got != got : got == right)) {
                        describe(how, n);
                        printf("    %g, not %g\n", (double)got, (double)right);
                    }
                });
            };
            const int sign = operation == GPUMB_MIN ? -1 : 1;
            for (uint64_t n : {1u, 2u, 33u, 1000u}) {
                // a place anywhere, and both ends
                for (uint64_t at : {(uint64_t)0, draw(n), n - 1}) {
                    std::vector<T> x = whole<T>(11, n);
                    x[at] = nan; // which may not take a neighbour along
                    if (n > 1)
                        x[(at ^ 1) < n ? at ^ 1 : at - 1] = (T)(sign * 1000);
                    expect(x,
                           operation == GPUMB_SUM ? nan : reduce_on_host(operation, x.data(), n));

                    x[at] = inf; // the largest there is; or no smallest one, unless alone
                    expect(x,
                           operation == GPUMB_MIN ? reduce_on_host(operation, x.data(), n) : inf);

                    x[at] = -inf;
                    expect(x,
                           operation == GPUMB_MAX ? reduce_on_host(operation, x.data(), n) : -inf);

                    if (operation == GPUMB_SUM)
                        continue;
                    x[at] = (T)sign * top; // next to infinity, the neutral value
                    expect(x, (T)sign * top);
                    x.assign(n, (T)-sign * top); // the least of an extreme
                    expect(x, (T)-sign * top);
                }
                for (T none : {nan, poison_value<T>()}) // NaN of different bits
                    expect(std::vector<T>(n, none),
                           operation == GPUMB_SUM ? nan : neutral<T>(operation));
            }
            std::vector<T> both(500, 1);
            both[3] = inf;
            both[490] = -inf;
            expect(both, operation == GPUMB_SUM ? nan : operation == GPUMB_MIN ? -inf : inf);
            gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, 1000);
            reduce_values(w, how, workspace, v);
            gpumb_free(w.g, workspace);
        }
}

// Sums that leave the range, and extremes at its ends: those are the neutral values.
template <class T> static void test_wrapping(workplace &w)
{
    typedef std::numeric_limits<T> limits;
    for (gpumb_operation operation : operations)
        for (gpumb_reduction how : all_forms<T>(operation)) {
            how.block = draw(2) ? 64 : 96;
            values<T> v;
            for (T value : {limits::max(), limits::min(), (T)(limits::max() / 2 + 1), (T)-1})
                for (uint64_t n : {2u, 3u, 1001u}) {
                    const std::vector<T> x(n, value);
                    const T right = reduce_on_host(operation, x.data(), n);
                    add<T>(v, x, [=](T got) {
                        if (!CHECK(got == right))
                            describe(how, n);
                    });
                }
            gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, 1001);
            reduce_values(w, how, workspace, v);
            gpumb_free(w.g, workspace);
        }
}

// ---- accuracy ----

template <class T> static void test_accuracy(workplace &w)
{
    const uint64_t n = 1000000;
    gpumb_buffer *in = gpumb_alloc(w.g, n * sizeof(T));
    std::vector<T> x = filled<T>(12, n);
    for (int positive = 0; positive <= 1; positive++) {
        if (positive) {
            for (T &v : x)
                v = (T)fabs((double)v);
            CHECK_INT(gpumb_write(w.g, in, 0, x.data(), n * sizeof(T)), 0);
        } else {
            gpumb_fill(w.g, in, type_of<T>::fill, 12);
        }
        const exact_sum s = sum_of(x.data(), n);
        for (gpumb_reduction how : all_forms<T>(GPUMB_SUM)) {
            gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, n);
            const gpumb_reduction r = gpumb_reduction_geometry(w.g, &how, n);
            const double unit = unit_roundoff<T>();
            gpumb_reduction_check check = {&how, in, w.out, n};
            T got;
            gpumb_poison(w.g, w.out);
            CHECK_INT(gpumb_reduce(w.g, &how, n, gpumb_data(in), gpumb_data(w.out), workspace), 0);
            CHECK_INT(gpumb_check_reduction(w.g, &check), 1);
            CHECK_INT(gpumb_read(w.g, w.out, 0, &got, sizeof got), 0);
            const double error = fabs(((double)got - s.high) - s.low);
            if (!CHECK(error <= gamma_of(most_additions(r, n), unit) * s.absolute)) {
                describe(r, n);
                printf("    off by %g, sum of magnitudes %g\n", error, s.absolute);
            }
            gpumb_free(w.g, workspace);
        }
    }
    gpumb_free(w.g, in);
}

// ---- the geometry ----

static bool same(const gpumb_reduction &a, const gpumb_reduction &b)
{
    return a.type == b.type && a.operation == b.operation && a.form == b.form &&
           a.block == b.block && a.blocks == b.blocks && a.per_thread == b.per_thread &&
           (a.form == GPUMB_FORM_FASTEST || (a.combine == b.combine && a.finish == b.finish));
}

static void test_geometry(workplace &w)
{
    input<float> exact = upload(w, whole<float>(13, CAPACITY));
    for (const gpumb_reduction &form : all_forms<float>(GPUMB_SUM))
        for (uint64_t n : {(uint64_t)0, (uint64_t)1, (uint64_t)1000, (uint64_t)100003,
                           (uint64_t)1 << 32, (uint64_t)1 << 40})
            for (int given = 0; given < 8; given++) {
                gpumb_reduction how = form;
                how.block = given & 1 ? 96 : 0;
                how.blocks = given & 2 ? 5 : 0;
                how.per_thread = given & 4 ? 3 : 0;
                const gpumb_reduction r = gpumb_reduction_geometry(w.g, &how, n);
                CHECK(given & 1 ? r.block == 96 : r.block > 0 && r.block <= 1024);
                CHECK(given & 2 ? r.blocks == 5 : r.blocks > 0);
                if (form.form == GPUMB_FORM_NAIVE)
                    CHECK(given & 4 ? r.per_thread == 3 : r.per_thread > 0);
                CHECK(same(gpumb_reduction_geometry(w.g, &r, n), r));
                if (n <= CAPACITY && given % 3 == 0)
                    run_series(w, r, exact, {n, n}, 0, true);
            }
    const gpumb_reduction def = gpumb_reduction_default();
    CHECK(def.type == GPUMB_F32 && def.operation == GPUMB_SUM && def.form == GPUMB_FORM_FASTEST);
    run_series(w, def, exact, {100003, 0, 1, 100003}, 0, true);
    end_input(w, exact);
}

// ---- arguments that no kernel takes ----

static int reduce_with(workplace &w, const gpumb_reduction &how, uint64_t n, uint64_t from,
                       gpumb_buffer *workspace)
{
    return gpumb_reduce(w.g, &how, n, GPUMB_PTR(const char, w.in) + from, gpumb_data(w.out),
                        workspace);
}

template <class T> static void test_refusals(workplace &w)
{
    const uint64_t n = 10000;
    for (const gpumb_reduction &form : all_forms<T>(GPUMB_SUM)) {
        gpumb_reduction how = form;
        gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, n);
        gpumb_poison(w.g, w.out);
        for (int block : {-1, 1025, 1 << 20}) {
            how.block = block;
            if (!CHECK(refused(reduce_with(w, how, n, 0, workspace), "block")))
                describe(how, n);
        }
        how = form;
        if (how.form == GPUMB_FORM_NAIVE) {
            how.per_thread = -1;
            if (!CHECK(refused(reduce_with(w, how, n, 0, workspace), "")))
                describe(how, n);
            how = form;
            CHECK_INT(reduce_with(w, how, n, sizeof(T), workspace), 0); // no word of 16 bytes
        } else {
            for (uint64_t from = sizeof(T); from < 16; from += sizeof(T))
                CHECK(refused(reduce_with(w, how, n, from, workspace), "16"));
            CHECK_INT(reduce_with(w, how, n, 16, workspace), 0);
        }
        gpumb_free(w.g, workspace);

        // A workspace for a grid of 100 blocks has room for none of 10000 with the finishes that
        // put a block's result there.
        if (!CHECK(refused(reduce_with(w, how, n, 0, NULL), "workspace")))
            describe(how, n);
        how.blocks = 100;
        workspace = gpumb_reduction_workspace(w.g, &how, n);
        const uint64_t size = gpumb_size(workspace);
        CHECK_INT(reduce_with(w, how, n, 0, workspace), 0);
        gpumb_free(w.g, workspace);
        gpumb_buffer *small = size > 1 ? gpumb_alloc(w.g, size - 1) : NULL;
        gpumb_fill(w.g, small, GPUMB_FILL_ZERO, 0);
        if (!CHECK(refused(reduce_with(w, how, n, 0, small), "workspace")))
            describe(how, n);
        gpumb_free(w.g, small);
    }
    // -1, as the poison is, would be a valid sum of integers: a refused one has to leave it alone
    gpumb_reduction how = reduction<T>(GPUMB_SUM, GPUMB_FORM_FASTEST, 0, 0);
    bytes got(gpumb_size(w.out));
    gpumb_poison(w.g, w.out);
    CHECK(refused(reduce_with(w, how, n, 0, NULL), "workspace"));
    CHECK_INT(gpumb_read(w.g, w.out, 0, got.data(), got.size()), 0);
    CHECK(all_poison(got.data(), got.size()));

    GPUMB_MEASURE(w.g, "no workspace") {
        reduce_with(w, how, n, 0, NULL);
    }
    CHECK_INT(gpumb_last_result(w.g)->status, GPUMB_STATUS_SKIPPED);
    CHECK(gpumb_last_result(w.g)->reason[0] != 0);
}

// ---- the check ----

// Whether the check finds of the result in `out` what it has to: right or wrong.
static bool judged(gpumb *g, const gpumb_reduction &how, const gpumb_buffer *in,
                   const gpumb_buffer *out, uint64_t n, double result, bool right)
{
    gpumb_reduction_check check = {&how, in, out, n};
    const int found = gpumb_check_reduction(g, &check);
    if (found != right) {
        describe(how, n);
        printf("    %.17g is %s\n", result, right ? "right" : "wrong, but accepted");
    }
    return found == right;
}

// Results that are claimed of some inputs, and what the check is to find of them. Inputs, and the
// results behind them, are written at once.
template <class T> struct claims {
    struct claim {
        uint64_t at, n; // of the input
        T result;
        bool right;
    };
    std::vector<T> image;
    uint64_t at, n; // of the last input
    std::vector<claim> all;
};

template <class T> static void claim_of(claims<T> &c, const std::vector<T> &x)
{
    c.image.resize((c.image.size() + 3) / 4 * 4);
    c.at = c.image.size();
    c.n = x.size();
    c.image.insert(c.image.end(), x.begin(), x.end());
}

template <class T> static void claim(claims<T> &c, T result, bool right)
{
    c.all.push_back({c.at, c.n, result, right});
}

template <class T> static bool judge(workplace &w, const gpumb_reduction &how, const claims<T> &c)
{
    std::vector<T> image = c.image;
    for (size_t i = 0; i < c.all.size(); i++)
        image.push_back(c.all[i].result);
    CHECK_INT(gpumb_write(w.g, w.in, 0, image.data(), image.size() * sizeof(T)), 0);
    T *const first = GPUMB_PTR(T, w.in), *const results = first + c.image.size();
    bool good = true;
    for (size_t i = 0; i < c.all.size(); i++) {
        const typename claims<T>::claim &one = c.all[i];
        gpumb_buffer *in = gpumb_wrap(w.g, first + one.at, one.n * sizeof(T));
        gpumb_buffer *out = gpumb_wrap(w.g, results + i, sizeof(T));
        good = CHECK(judged(w.g, how, in, out, one.n, (double)one.result, one.right)) && good;
        gpumb_free(w.g, in);
        gpumb_free(w.g, out);
    }
    return good;
}

template <class T> static void test_check_of(workplace &w, const gpumb_reduction &how, uint64_t n)
{
    std::vector<T> x = filled<T>(21, n);
    const T right = reduce_on_host(how.operation, x.data(), n);
    const gpumb_operation other = how.operation == GPUMB_MIN ? GPUMB_MAX : GPUMB_MIN;
    const gpumb_reduction r = gpumb_reduction_geometry(w.g, &how, n);
    claims<T> c;
    claim_of(c, x);
    claim(c, right, true);
    claim(c, poison_value<T>(), false);
    // others, unless they are that close to a sum of few or of many
    const exact_sum s = sum_of(x.data(), n);
    const bool is_sum = how.operation == GPUMB_SUM;
    const double bound = is_sum && is_float<T>()
                             ? gamma_of(most_additions(r, n), unit_roundoff<T>()) * s.absolute
                             : 0;
    for (T wrong : {reduce_on_host(other, x.data(), n), neutral<T>(how.operation)})
        if (wrong != right && fabs((double)wrong - (double)right) > 2 * bound)
            claim(c, wrong, false);
    if (!is_float<T>()) { // as 64 bits, for the ends of the range to wrap
        claim(c, (T)((uint64_t)right + 1), false);
        claim(c, (T)((uint64_t)right - 1), false);
    } else if (how.operation == GPUMB_SUM) {
        for (double off : {2.0, 10.0, 1000.0})
            for (int sign = -1; sign <= 1; sign += 2)
                claim(c, (T)(s.high + sign * off * bound), false);
    } else {
        for (T towards : {(T)-2, (T)2}) // the next values on either side
            claim(c,
                  sizeof(T) == 4 ? (T)nextafterf((float)right, (float)towards)
                                 : (T)nextafter((double)right, (double)towards),
                  false);
    }
    if (n > 1) { // a last element that counts, or is the extreme, left out
        const T before = reduce_on_host(how.operation, x.data(), n - 1);
        x[n - 1] = how.operation == GPUMB_MIN   ? std::numeric_limits<T>::lowest()
                   : how.operation == GPUMB_MAX ? std::numeric_limits<T>::max()
                   : is_float<T>()              ? (T)1000
                                                : (T)(-77);
        claim_of(c, x);
        claim(c, reduce_on_host(how.operation, x.data(), n), true);
        claim(c, before, false);
    }
    if (!judge(w, how, c))
        describe(r, n);
}

template <class T> static void test_check(workplace &w)
{
    for (gpumb_operation operation : operations) {
        for (uint64_t n : {1u, 2u, 1000u, 65537u})
            test_check_of<T>(w, reduction<T>(operation, GPUMB_FORM_FASTEST, 0, 0), n);
        for (const gpumb_reduction &how : all_forms<T>(operation))
            test_check_of<T>(w, how, 1000);
        claims<T> c;
        claim_of(c, std::vector<T>()); // of no elements
        claim(c, neutral<T>(operation), true);
        claim(c, (T)5, false);
        judge(w, reduction<T>(operation, GPUMB_FORM_FASTEST, 0, 0), c);
    }
}

// NaN is poison as well, but the only right sum where there is one among the elements.
template <class T> static void test_check_special(workplace &w)
{
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const uint64_t n = 1000;
    for (gpumb_operation operation : operations) {
        std::vector<T> x = whole<T>(22, n);
        claims<T> c;
        x[700] = nan;
        claim_of(c, x);
        const T without = reduce_on_host(operation, x.data(), n);
        claim(c, operation == GPUMB_SUM ? nan : without, true);
        claim(c, operation == GPUMB_SUM ? (T)5 : nan, false);
        x[700] = operation == GPUMB_MIN ? -inf : inf;
        claim_of(c, x);
        claim(c, x[700], true);
        claim(c, (T)5, false);
        claim(c, -x[700], false);
        claim(c, nan, false);
        judge(w, reduction<T>(operation, GPUMB_FORM_FASTEST, 0, 0), c);
    }
}

// The check in a region, where the row says what it found.
static void test_check_in_rows(workplace &w)
{
    const uint64_t n = 10007;
    gpumb_buffer *in = gpumb_alloc(w.g, n * sizeof(float));
    gpumb_fill(w.g, in, GPUMB_FILL_F32, 3);
    for (const gpumb_reduction &how : all_forms<float>(GPUMB_SUM)) {
        gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, n);
        for (uint64_t left_out = 0; left_out <= 5000; left_out += 5000) {
            gpumb_buffer *out = gpumb_alloc(w.g, sizeof(float));
            gpumb_reduction_check check = {&how, in, out, n};
            gpumb_set_output(w.g, out);
            gpumb_set_verify(w.g, gpumb_check_reduction, &check);
            GPUMB_MEASURE(w.g, "sum") {
                gpumb_reduce(w.g, &how, n - left_out, gpumb_data(in), gpumb_data(out), workspace);
            }
            const gpumb_result *row = gpumb_last_result(w.g);
            CHECK_INT(row->status, left_out ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            CHECK_INT(row->verified, left_out == 0);
            if (!CHECK((row->reason[0] != 0) == (left_out > 0)))
                printf("    %s\n", row->reason);
            gpumb_free(w.g, out);
        }
        gpumb_free(w.g, workspace);
    }
    gpumb_free(w.g, in);
}

// ---- more elements than 31 bits count ----

static void test_large(workplace &w)
{
    const uint64_t n = (1ull << 31) + 5;
    if (w.on_cpu || gpumb_get_device(w.g)->memory_bytes < 16ull << 30) {
        SKIP("2^31 + 5 elements: needs a device with 16 GB");
        return;
    }
    gpumb_buffer *in = gpumb_alloc(w.g, 4 * n);
    gpumb_result r;
    GPUMB_TIME(&r) {
    }
    if (!in) {
        SKIP(r.reason);
        return;
    }
    uint32_t sum = 0, lowest = 0, got, last;
    gpumb_fill(w.g, in, GPUMB_FILL_BITS, 9);
    for (uint64_t i = 0; i < n / 2; i++) {
        const uint64_t word = gpumb_fill_word(GPUMB_FILL_BITS, 9, i);
        sum += (uint32_t)word + (uint32_t)(word >> 32);
    }
    CHECK_INT(gpumb_read(w.g, in, 4 * (n - 1), &last, 4), 0);
    CHECK(last == (uint32_t)gpumb_fill_word(GPUMB_FILL_BITS, 9, n / 2));
    sum += last;
    for (int which = 0; which < 2; which++) {
        if (which) // the smallest at the very end
            CHECK_INT(gpumb_write(w.g, in, 4 * (n - 1), &lowest, 4), 0);
        for (const gpumb_reduction &how : all_forms<uint32_t>(which ? GPUMB_MIN : GPUMB_SUM)) {
            gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, n);
            gpumb_reduction_check check = {&how, in, w.out, n};
            gpumb_poison(w.g, w.out);
            CHECK_INT(gpumb_reduce(w.g, &how, n, gpumb_data(in), gpumb_data(w.out), workspace), 0);
            CHECK_INT(gpumb_check_reduction(w.g, &check), 1);
            CHECK_INT(gpumb_read(w.g, w.out, 0, &got, 4), 0);
            if (!CHECK_INT(got, which ? lowest : sum))
                describe(how, n);
            gpumb_free(w.g, workspace);
        }
    }
    exact_sum s = {0, 0, 0};
    gpumb_fill(w.g, in, GPUMB_FILL_F32, 9);
    for (uint64_t i = 0; i <= n / 2; i++) {
        const uint64_t word = gpumb_fill_word(GPUMB_FILL_F32, 9, i);
        float x[2];
        memcpy(x, &word, 8);
        add_to(s, (double)x[0]);
        if (i < n / 2)
            add_to(s, (double)x[1]);
    }
    const gpumb_reduction how = reduction<float>(GPUMB_SUM, GPUMB_FORM_FASTEST, 0, 0);
    const gpumb_reduction geometry = gpumb_reduction_geometry(w.g, &how, n);
    gpumb_buffer *workspace = gpumb_reduction_workspace(w.g, &how, n);
    float value;
    gpumb_poison(w.g, w.out);
    CHECK_INT(gpumb_reduce(w.g, &how, n, gpumb_data(in), gpumb_data(w.out), workspace), 0);
    CHECK_INT(gpumb_read(w.g, w.out, 0, &value, 4), 0);
    CHECK_NEAR(value, s.high + s.low,
               gamma_of(most_additions(geometry, n), unit_roundoff<float>()) * s.absolute);
    value = (float)(s.high + s.low);
    CHECK_INT(gpumb_write(w.g, w.out, 0, &value, 4), 0);
    CHECK(judged(w.g, how, in, w.out, n, (double)value, true));
    gpumb_free(w.g, workspace);
    gpumb_free(w.g, in);
}

// ---- all of it, in one context ----

static workplace make_workplace(gpumb *g)
{
    workplace w;
    const int64_t mp = gpumb_get_device(g)->multiprocessors;
    std::vector<int64_t> blocks = {0, 1, 2, 3, 17};
    for (int64_t near = -2; near <= 2; near++)
        for (int64_t times = 1; times <= 2; times++)
            if (times * mp + near > 3)
                blocks.push_back(times * mp + near);
    w.g = g;
    w.on_cpu = !strcmp(gpumb_get_device(g)->backend, "cpu");
    w.series = w.on_cpu ? 4 : 12;
    w.in = gpumb_alloc(g, CAPACITY * sizeof(double));
    w.out = gpumb_alloc(g, RESULTS);
    w.used = 0;
    w.n = deck_of({0,  1,   2,   31,  32,  33,   63,   64,   65,   -1,   -2,    -3,    -4,    -5,
                   -6, 127, 129, 257, 997, 1023, 1025, 4095, 4097, 7919, 32767, 65537, 100003});
    w.block = deck_of({0, 32, 64, 96, 100, 256, 1000, 1024});
    w.blocks = deck_of(blocks);
    w.per_thread = deck_of({0, 1, 3, 8, 32});
    return w;
}

int main()
{
    for (int warp : {32, 64}) {
        gpumb_cpu_set_warp_size(warp);
        gpumb *g = open_device("test_reductions");
        if (!g)
            return CHECK_SUMMARY();
        workplace w = make_workplace(g);
        const bool on_cpu = w.on_cpu;
        warp_size = on_cpu ? warp : gpumb_get_device(g)->warp_size;
        CHECK_INT(gpumb_get_device(g)->warp_size, warp_size);
        test_series<float>(w);
        test_series<double>(w);
        test_series<int32_t>(w);
        test_series<uint32_t>(w);
        test_chosen<float>(w);
        test_chosen<double>(w);
        test_chosen<int32_t>(w);
        test_chosen<uint32_t>(w);
        test_many_blocks<float>(w);
        test_many_blocks<double>(w);
        test_many_blocks<uint32_t>(w);
        test_special<float>(w);
        test_special<double>(w);
        test_wrapping<int32_t>(w);
        test_wrapping<uint32_t>(w);
        test_geometry(w);
        test_refusals<float>(w);
        test_refusals<double>(w);
        test_check<float>(w);
        test_check<double>(w);
        test_check<int32_t>(w);
        test_check<uint32_t>(w);
        test_check_special<float>(w);
        test_check_special<double>(w);
        test_accuracy<float>(w);
        test_accuracy<double>(w);
        test_check_in_rows(w);
        test_large(w);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // there are rows that have to fail
        if (!on_cpu || SANITIZED)
            break;
    }
    return CHECK_SUMMARY();
}

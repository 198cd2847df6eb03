/* What the group programs share: types and sizes, data and what is expected, the rows of an
 * operation's forms, and ratios between them. Include it after gpumb.h. */
#ifndef BENCH_GROUP_TRIAL_H
#define BENCH_GROUP_TRIAL_H

#include "group.h"

#include <vector>

/* Types, and the numbers of threads that kernels are compiled for; 0: any. The sums of signed
 * integers are those of unsigned ones, which may wrap around. On the CPU few: it is the algorithms
 * that run there, and they take long to compile. */
#if defined(GPUMB_BACKEND_CPU)
#define TYPES unsigned, four<double>
static const char *const type_names[] = {"int32", "4 x fp64"};
#define SIZES 0
#else
#define TYPES unsigned, unsigned long long, float, double, four<float>, four<double>
static const char *const type_names[] = {"int32", "int64", "fp32", "fp64", "4 x fp32", "4 x fp64"};
#define SIZES 32, 64, 128, 256, 512, 1024
#endif

static const char *const forms[] = {"shared memory", "shuffles", "instruction",
                                    "4 parts",       "8 parts",  "library"};

/* ---- data and what is expected --------------------------------------------------------------- */

/* Small numbers, so that floating sums are exact in any order; random integers. */
template <class T> static T drawn(uint64_t seed, uint64_t i)
{
    return (T)((int)(gpumb_fill_word(GPUMB_FILL_BITS, seed, i) % 17) - 8);
}
template <> inline unsigned drawn<unsigned>(uint64_t seed, uint64_t i)
{
    return (unsigned)gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
}
template <> inline unsigned long long drawn<unsigned long long>(uint64_t seed, uint64_t i)
{
    return gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
}

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

/* `in` in groups of so many; a broadcast is of the value at `root` of each, or of the first where a
 * group ends before. */
template <class T>
static inline std::vector<T> results_of(const std::vector<T> &in, int algorithm, size_t root,
                                        size_t group)
{
    std::vector<T> out(in.size());
    for (size_t first = 0; first < in.size(); first += group) {
        const size_t end = first + group < in.size() ? first + group : in.size();
        T before = T(), sum = T();
        for (size_t i = first; i < end; i++)
            sum = sum + in[i];
        for (size_t i = first; i < end; i++) {
            out[i] = algorithm == BROADCAST   ? in[first + root < end ? first + root : first]
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

static inline int check_trial(gpumb *g, void *user)
{
    (void)g;
    const trial_check *c = (const trial_check *)user;
    return c->t->is_right(c->t, c->form);
}

static inline trial new_trial(gpumb *g, int64_t threads, int blockwide)
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

static inline double seconds_of_tick(gpumb *g)
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
static inline void measure_forms(trial *t, unsigned asked)
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
static inline uint64_t shared_bytes(const trial *t, size_t size)
{
    return 2 * room_for(t->threads) * (uint64_t)size;
}

static inline values thread_counts(gpumb *g)
{
    static const int64_t full[] = {32, 64, 128, 256, 512, 1024}, quick[] = {32, 256, 1024};
    static const int64_t cpu[] = {33, 64};
    return choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
}

/* ---- rows beside each other ------------------------------------------------------------------ */

/* The row of a form; NULL: none. */
static inline const gpumb_result *row_of(gpumb *g, rows some, int form)
{
    some.kernel = forms[form];
    return first_row(g, noisy_too(some));
}

/* The fastest of some forms. */
static inline const gpumb_result *best_of(gpumb *g, rows some, int first, int last)
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

static inline span_of_ratios ratios(gpumb *g, rows some, const char *type_axis, int over, int first,
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

static inline void say_ratios(sentence *s, const span_of_ratios *r)
{
    say(s, "%.2f (%s, %lld threads)", r->low, type_names[r->low_type], (long long)r->low_threads);
    if (r->count > 1)
        say(s, " ... %.2f (%s, %lld)", r->high, type_names[r->high_type],
            (long long)r->high_threads);
}

#endif

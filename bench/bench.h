/* What the benchmarks share: lists for the profiles, and what their conclusions are made of: rows
 * with certain values, extremes, words. Include it after gpumb.h. C99 and C++11. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define KiB ((int64_t)1 << 10)
#define MiB ((int64_t)1 << 20)
#define GiB ((int64_t)1 << 30)

/* Before a loop over registers of a thread: gcc has another word for it, and needs none. */
#if defined(GPUMB_BACKEND_CPU)
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

static inline int is_gpu(gpumb *g)
{
    return strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
}

/* 90 of "sm_90"; 0: not NVIDIA's. */
static inline int architecture(gpumb *g)
{
    const char *arch = gpumb_get_device(g)->arch;
    return strncmp(arch, "sm_", 3) ? 0 : atoi(arch + 3);
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* The values of an axis. */
typedef struct values {
    const int64_t *at;
    size_t count;
} values;

static inline values values_of(const int64_t *at, size_t count)
{
    const values v = {at, count};
    return v;
}
#define VALUES(array) values_of((array), COUNT(array))

/* Those of the profile; the CPU backend takes long for a row, and has a short list of its own. */
static inline values choose(gpumb *g, values full, values quick, values cpu)
{
    return gpumb_get_settings(g)->full ? full : is_gpu(g) ? quick : cpu;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* --strict fills inputs anew before each run. What a program has made of what gpumb_fill() filled
 * is its own, as what it writes, and stays. */
static inline void keep_contents(gpumb *g, gpumb_buffer *b)
{
    gpumb_write(g, b, 0, NULL, 0);
}

/* Or is made anew as well. */
static inline void make_anew_if_strict(gpumb *g, gpumb_hook make, void *user)
{
    if (gpumb_get_settings(g)->strict)
        gpumb_set_reset(g, make, user);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Some of the rows: those of a benchmark or (NULL) of all, of a kernel or of all, and with these
 * values of axes. Rows that are not ok are never among them, noisy ones only where that is said. */
typedef struct rows {
    const char *bench, *kernel;
    const char *axis[4];
    int64_t value[4];
    int noisy;
} rows;

static inline rows rows_of(const char *bench, const char *kernel)
{
    rows some;
    memset(&some, 0, sizeof some);
    some.bench = bench;
    some.kernel = kernel;
    return some;
}

/* Those of them with this value of one more axis. */
static inline rows having(rows some, const char *axis, int64_t value)
{
    int i = 0;
    while (some.axis[i])
        i++;
    some.axis[i] = axis;
    some.value[i] = value;
    return some;
}

/* What is called the best of all has to be compared with all. */
static inline rows noisy_too(rows some)
{
    some.noisy = 1;
    return some;
}

/* Row `i` if it is one of these, else NULL. */
static inline const gpumb_result *row_in(gpumb *g, rows some, size_t i)
{
    const gpumb_result *r = gpumb_row(g, i);
    if (!r || r->status != GPUMB_STATUS_OK || !(r->time.median > 0) ||
        (r->flags & GPUMB_FLAG_NOISY && !some.noisy) ||
        (some.bench && strcmp(r->bench, some.bench)) ||
        (some.kernel && strcmp(r->kernel, some.kernel)))
        return NULL;
    for (int k = 0; k < 4 && some.axis[k]; k++)
        if (gpumb_row_axis(g, i, some.axis[k]) != some.value[k])
            return NULL;
    return r;
}

/* The first of them; NULL: none. */
static inline const gpumb_result *first_row(gpumb *g, rows some)
{
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (row_in(g, some, i))
            return gpumb_row(g, i);
    return NULL;
}

/* The row of a kernel among them, and its rate over another's; NULL: one of the two is missing. */
static inline const gpumb_result *row_against(gpumb *g, rows some, const char *kernel,
                                              const char *other, double *ratio)
{
    rows others = some;
    some.kernel = kernel;
    others.kernel = other;
    const gpumb_result *r = first_row(g, some), *o = first_row(g, others);
    *ratio = r && o ? o->time.median / r->time.median : 0;
    return *ratio > 0 ? r : NULL;
}

/* The smallest value of an axis among them that is above `after`, and the largest of all; -1:
 * none. */
static inline int64_t next_value(gpumb *g, rows some, const char *axis, int64_t after)
{
    int64_t next = -1;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t value = gpumb_row_axis(g, i, axis);
        if (value > after && (next < 0 || value < next) && row_in(g, some, i))
            next = value;
    }
    return next;
}

static inline int64_t last_value(gpumb *g, rows some, const char *axis)
{
    int64_t last = -1, next;
    while ((next = next_value(g, some, axis, last)) >= 0)
        last = next;
    return last;
}

/* ---- extremes -------------------------------------------------------------------------------- */

/* What rows are compared by. 0: a row has none. */
typedef double (*figure)(const gpumb_result *r);

static inline double time_of(const gpumb_result *r)
{
    return r->time.median;
}

static inline double gbps_of(const gpumb_result *r)
{
    return r->gbps;
}

static inline double gflops_of(const gpumb_result *r)
{
    return r->gflops;
}

/* The rows in which a figure is smallest and largest. NULL: there are none, or one of these two is
 * noisy. */
typedef struct extremes {
    const gpumb_result *low, *high;
    size_t low_row, high_row;
    int count; /* all that have the figure */
} extremes;

static inline extremes extremes_of(gpumb *g, rows some, figure of)
{
    extremes e;
    memset(&e, 0, sizeof e);
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, some, i);
        if (!r || !(of(r) > 0))
            continue;
        e.count++;
        if (!e.low || of(r) < of(e.low)) {
            e.low = r;
            e.low_row = i;
        }
        if (!e.high || of(r) > of(e.high)) {
            e.high = r;
            e.high_row = i;
        }
    }
    if (e.low && (e.low->flags | e.high->flags) & GPUMB_FLAG_NOISY)
        e.low = e.high = NULL;
    return e;
}

/* How many of them have a figure between these two. */
static inline int count_between(gpumb *g, rows some, figure of, double low, double high)
{
    int count = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, some, i);
        count += r && of(r) >= low && of(r) <= high;
    }
    return count;
}

/* 1: both have an interval, and that of a is below that of b. */
static inline int is_faster(const gpumb_result *a, const gpumb_result *b)
{
    return a->time.ci_hi > 0 && a->time.ci_hi < b->time.ci_lo;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A sentence, piece by piece; what does not fit is left out. */
typedef struct sentence {
    char text[1000];
} sentence;

static inline sentence no_words(void)
{
    sentence s;
    s.text[0] = '\0';
    return s;
}

__attribute__((format(printf, 2, 3))) static inline void say(sentence *s, const char *format, ...)
{
    const size_t length = strlen(s->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->text + length, sizeof s->text - length, format, arguments);
    va_end(arguments);
}

/* Before each item but the first. */
static inline void say_next(sentence *s, const char *separator)
{
    if (s->text[0])
        say(s, "%s", separator);
}

/* "2^20", or as it is. */
static inline void say_number(sentence *s, int64_t n)
{
    int power = 0;
    while (power < 62 && (int64_t)1 << power < n)
        power++;
    if (n > 1 && (int64_t)1 << power == n)
        say(s, "2^%d", power);
    else
        say(s, "%lld", (long long)n);
}

/* "64 KiB", in the largest unit that divides it. */
static inline void say_bytes(sentence *s, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    say(s, "%lld %s", (long long)bytes, units[unit]);
}

/* "4.72 us" */
static inline void say_time(sentence *s, double seconds)
{
    if (seconds < 1e-6)
        say(s, "%.4g ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        say(s, "%.4g us", 1e6 * seconds);
    else
        say(s, "%.4g ms", 1e3 * seconds);
}

/* "4294 GB/s, 89.2 % of the peak"; of a link's or a cache's it has none to compare with. */
static inline void say_gbps(sentence *s, const gpumb_result *r)
{
    say(s, "%.4g GB/s", r->gbps);
    if (r->pct_peak > 0 && !(r->flags & GPUMB_FLAG_CACHED))
        say(s, ", %.1f %% of the peak", r->pct_peak);
}

/* What the time of a row is, after it. */
static inline const char *time_meant(const gpumb_result *r)
{
    return r->timing == GPUMB_TIMING_GRAPH        ? "interval in a graph"
           : r->timing == GPUMB_TIMING_BATCH      ? "interval in the stream"
           : r->meaning == GPUMB_MEANING_INTERVAL ? "interval"
           : r->meaning == GPUMB_MEANING_LATENCY  ? "latency"
                                                  : "span";
}

#endif

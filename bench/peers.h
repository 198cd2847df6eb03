/* What the programs for pairs of devices share: access to each other's memory, ways to move data,
 * times, and their matrix. Include it after gpumb.h. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "bench.h"
#include "devices.h"
#include "hash.h"

#include <vector>

enum { PUSHED, PULLED, WRITTEN, READ, WAYS };
static const char *const ways[WAYS] = {"engine pushes", "engine pulls", "kernel writes",
                                       "kernel reads"};

enum { COPY_BLOCK = 256 }; /* threads */

static inline void let_all_reach(int on)
{
    for (int a = 0; a < device_count(); a++)
        for (int b = 0; b < device_count(); b++)
            let_reach(a, b, on);
}

static inline void with_access(gpumb *g, void (*bench)(gpumb *g))
{
    let_all_reach(1);
    use_device(gpumb_get_device(g)->ordinal);
    bench(g);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Times by `once`, after three runs, until their median is known as well as is wanted. */
template <class Once> static inline std::vector<double> times_of(gpumb *g, Once once)
{
    const gpumb_settings *s = gpumb_get_settings(g);
    std::vector<double> times;
    const double began = host_now();
    for (int i = 0; i < 3; i++)
        (void)once();
    for (uint64_t wanted = s->min_samples; times.size() < s->max_samples; wanted *= 2) {
        while (times.size() < wanted && (times.size() < 6 || host_now() - began < s->budget_s))
            times.push_back(once());
        std::vector<double> sorted(times);
        const gpumb_stats t = gpumb_statistics(sorted.data(), sorted.size());
        if (times.size() < wanted || t.ci_hi - t.ci_lo < 2 * s->precision * t.median)
            break;
    }
    return times;
}

/* A line for each device that sends: what `of` makes of the row for each that receives. */
static inline void note_matrix(gpumb *g, rows some, const char *title, const char *unit, figure of,
                               double scale)
{
    for (int64_t from = next_value(g, some, "from", -1); from >= 0;
         from = next_value(g, some, "from", from)) {
        sentence s = no_words();
        for (int64_t to = 0; to <= last_value(g, some, "to"); to++) {
            const gpumb_result *r = first_row(g, having(having(some, "from", from), "to", to));
            if (!r || !(of(r) > 0))
                continue;
            say_next(&s, ", ");
            say(&s, "%lld: %.4g", (long long)to, scale * of(r));
        }
        if (s.text[0])
            gpumb_note(g, "%s, from device %lld to %s %s.", title, (long long)from, s.text, unit);
    }
}

#endif

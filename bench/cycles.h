/* Kernels that read the multiprocessor's clock while they do one thing after the other, and the row
 * of what they have read. Include it after gpumb.h. */
#ifndef BENCH_CYCLES_H
#define BENCH_CYCLES_H

#include "bench.h"
#include "chase.h"
#include "clock.h"

#include <vector>

enum { LINE = 128 };

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Loads, or additions: before it is timed, so many in a sample, samples. */
typedef struct chase_length {
    unsigned warm, steps, samples;
} chase_length;

static inline uint64_t loads_of(chase_length l)
{
    return l.warm + (uint64_t)l.steps * l.samples;
}

/* What a kernel leaves: where it ended, ticks and cycles from its first sample to its last, and the
 * cycles of each. */
enum { ENDED, TICKS, CYCLES, SAMPLES };

/* The clock is not read before `value` is there: it has to be stored first. */
static __device__ inline word cycles_after(word value, word *out)
{
    *(volatile word *)&out[ENDED] = value;
    return cycles_now();
}

/* ---- its row --------------------------------------------------------------------------------- */

typedef struct job {
    gpumb_buffer *out;
    chase_length length;
    word expected; /* where it ends */
    int groups;    /* samples may be of two kinds */
} job;

/* For gpumb_set_verify(), with a job. */
static inline int check_end(gpumb *g, void *user)
{
    const job *j = (const job *)user;
    word ended = 0;
    if (gpumb_read(g, j->out, ENDED * sizeof(word), &ended, sizeof ended))
        return 0;
    if (ended != j->expected)
        gpumb_reason(g, "after %llu steps at %llx, not at %llx",
                     (unsigned long long)loads_of(j->length), ended, j->expected);
    return ended == j->expected;
}

/* A row of what a kernel has left in out: the cycles of a sample, of so many steps each, and their
 * time by the timer that ran beside them. */
static inline void add_row(gpumb *g, const char *name, const job *j, gpumb_check check, void *user,
                           double tick_s)
{
    std::vector<word> out(SAMPLES + j->length.samples);
    std::vector<double> seconds(j->length.samples), cycles(j->length.samples);
    (void)gpumb_read(g, j->out, 0, out.data(), out.size() * sizeof(word)); /* or is skipped */
    const double cycle_s = out[CYCLES] ? tick_s * (double)out[TICKS] / (double)out[CYCLES] : 0;
    for (size_t s = 0; s < seconds.size(); s++) {
        cycles[s] = (double)out[SAMPLES + s] / j->length.steps;
        seconds[s] = cycles[s] * cycle_s;
    }
    if (is_gpu(g))
        gpumb_set_value(g, "cycles", gpumb_statistics(cycles.data(), cycles.size()).median);
    if (j->groups) {
        const size_t n = cycles.size(), near = split_groups(cycles.data(), n);
        gpumb_set_value(g, "near_pct", near ? 100.0 * (double)near / (double)n : NAN);
        gpumb_set_value(g, "near_s", near ? cycle_s * cycles[near / 2] : NAN);
        gpumb_set_value(g, "far_s", near ? cycle_s * cycles[near + (n - near) / 2] : NAN);
    }
    gpumb_set_verify(g, check, user);
    gpumb_add_times(g, name, GPUMB_MEANING_SPAN, seconds.data(), seconds.size());
}

#endif

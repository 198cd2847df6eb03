/* One thread that waits for another device's memory, or for a thread there. Include it after
 * gpumb.h. */
#ifndef BENCH_PEER_WAITS_H
#define BENCH_PEER_WAITS_H

#include "chase.h"
#include "peers.h"

#include <string.h>

/* ---- kernels --------------------------------------------------------------------------------- */

/* Where each node of a cycle leads, as an offset: followed so many times. out: where it ends, and
 * the ticks of each sample. */
static __global__ void follow(const word *memory, unsigned warm, unsigned steps, unsigned samples,
                              word *out)
{
    word at = 0;
    for (unsigned i = 0; i < warm; i++)
        at = load_from_all<0>(&memory[at]);
    for (unsigned s = 0; s < samples; s++) {
        *(volatile word *)&out[0] = at;
        const word began = ticks_now();
        for (unsigned i = 0; i < steps; i++)
            at = load_from_all<0>(&memory[at]);
        *(volatile word *)&out[0] = at;
        out[1 + s] = ticks_now() - began;
    }
}

/* A number goes there and back: `first` counts up, the other side answers. Ends after `patience`
 * ticks if nothing comes. out: the number that came last, and the ticks of all. */
static __global__ void bounce(const word *mine, word *theirs, word rounds, int first, word patience,
                              word *out)
{
    word last = 0, began = ticks_now();
    for (word r = 1; r <= rounds; r++) {
        if (r == 2) /* both are there */
            began = ticks_now();
        if (first)
            store_for_all<1>(theirs, r);
        const word since = ticks_now();
        while ((last = load_from_all<1>(mine)) != r && ticks_now() - since < patience) {
        }
        if (last != r)
            break;
        if (!first)
            store_for_all<1>(theirs, r);
    }
    out[0] = last;
    out[1] = ticks_now() - began;
}

/* ---- one launch and its check ---------------------------------------------------------------- */

enum { LOAD_NEAR, LOAD_FAR, FLAG_HERE, FLAG_THERE, WAITS };
static const char *const wait_names[WAITS] = {"load from the L2", "load from memory",
                                              "there and back, flags in the poller's memory",
                                              "there and back, flags in the writer's memory"};

/* Device `a` waits for memory of device `b`, or for `b` itself. */
typedef struct wait_job {
    int a, b, flag;
    uint32_t seed;
    unsigned nodes, warm, steps, samples;
    double patience_s;
    word *chain, *of_a, *of_b, *out_a, *out_b;
    void *stream_a, *stream_b;
    word ended, expected;
} wait_job;

enum { NODE = 16 }; /* words of a line of 128 bytes */

/* One launch: seconds of a load, or there and back. */
static inline double wait_once(wait_job *j, double tick_s, std::vector<double> *times)
{
    if (!j->flag) {
        std::vector<word> out(1 + j->samples);
        use_device(j->a);
        LAUNCH_ON(j->stream_a, follow, 1, 1, (const word *)j->chain, j->warm, j->steps, j->samples,
                  j->out_a);
        wait_for(j->stream_a);
        copy_now(out.data(), j->out_a, out.size() * sizeof(word));
        j->ended = out[0];
        for (unsigned s = 0; s < j->samples; s++)
            times->push_back(tick_s * (double)out[1 + s] / j->steps);
        return 0;
    }
    word out[2] = {0, 0};
    const int near = j->flag == FLAG_HERE;
    word *mine_a = near ? j->of_a : j->of_b, *mine_b = near ? j->of_b : j->of_a;
    const word patience = ticks_of(j->patience_s);
    use_device(j->a);
    set_bytes(j->stream_a, j->of_a, 0xff, sizeof(word));
    wait_for(j->stream_a);
    use_device(j->b);
    set_bytes(j->stream_b, j->of_b, 0xff, sizeof(word));
    wait_for(j->stream_b);
    LAUNCH_ON(j->stream_b, bounce, 1, 1, (const word *)mine_b, mine_a, (word)j->steps, 0, patience,
              j->out_b);
    use_device(j->a);
    LAUNCH_ON(j->stream_a, bounce, 1, 1, (const word *)mine_a, mine_b, (word)j->steps, 1, patience,
              j->out_a);
    wait_for(j->stream_a);
    use_device(j->b);
    wait_for(j->stream_b);
    copy_now(out, j->out_a, sizeof out);
    j->ended = out[0];
    times->push_back(tick_s * (double)out[1] / (j->steps - 1));
    return 0;
}

/* Loads the kernels; a chase leaves the lines that are timed where they are. */
static inline void warm_up(const wait_job *j, double tick_s)
{
    std::vector<double> times;
    wait_job once = *j;
    once.warm = 0;
    once.samples = 1;
    once.steps = 2;
    (void)wait_once(&once, tick_s, &times);
}

static inline int check_wait(gpumb *g, void *user)
{
    const wait_job *j = (const wait_job *)user;
    if (j->ended != j->expected)
        gpumb_reason(g, "ended at %llu, not at %llu", j->ended, j->expected);
    return j->ended == j->expected;
}

/* A random cycle of lines. */
static inline void link_lines(wait_job *j)
{
    std::vector<uint32_t> next(j->nodes);
    std::vector<word> chain((size_t)j->nodes * NODE);
    make_cycle(next.data(), j->nodes, j->seed);
    for (unsigned i = 0; i < j->nodes; i++)
        chain[(size_t)i * NODE] = (word)next[i] * NODE;
    copy_now(j->chain, chain.data(), chain.size() * sizeof(word));
    const uint64_t loads = j->warm + (uint64_t)j->steps * j->samples;
    j->expected = (word)walk_cycle(next.data(), 0, loads) * NODE;
}

#endif

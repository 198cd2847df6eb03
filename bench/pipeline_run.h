/* A run of a producer and a consumer, in each form of handing over: its memory, its launches, what
 * it says of itself, its check. Include it after gpumb.h. */
#ifndef BENCH_PIPELINE_RUN_H
#define BENCH_PIPELINE_RUN_H

#include "bench.h"
#include "pipeline.h"

#include <vector>

/* ---- forms ----------------------------------------------------------------------------------- */

typedef struct handing {
    const char *name;
    int signal, remote; /* the side that waits polls the other's memory */
    unsigned slots;
} handing;

static const handing forms[] = {
    {"no communication", APART, 0, 1},       {"flag, local, 1 slot", FLAGGED, 0, 1},
    {"flag, local, 2 slots", FLAGGED, 0, 2}, {"flag, local, 8 slots", FLAGGED, 0, 8},
    {"flag, remote, 1 slot", FLAGGED, 1, 1}, {"flag, remote, 2 slots", FLAGGED, 1, 2},
    {"word, local, 1 slot", PACKED, 0, 1},   {"word, local, 2 slots", PACKED, 0, 2},
    {"word, local, 8 slots", PACKED, 0, 8},  {"word, remote, 1 slot", PACKED, 1, 1},
    {"word, remote, 2 slots", PACKED, 1, 2}, {"word, remote, 8 slots", PACKED, 1, 8},
};

/* ---- one pipeline ---------------------------------------------------------------------------- */

enum { PRODUCER, CONSUMER, SIDES, GUARD = 64 }; /* devices; elements behind the output */

typedef struct pipe_job {
    unsigned blocks, threads, results, words, seed;
    float *in;
    unsigned *out, *averages[SIDES], *expected; /* on the consumer's device, as the last two */
    word *channel[SIDES], *states[SIDES], *wrong;
    void *stream[SIDES];
    char trouble[120];
} pipe_job;

static inline uint64_t chunks_of(const pipe_job *j)
{
    return (uint64_t)j->blocks * j->results;
}

static inline uint64_t channel_bytes(const pipe_job *j)
{
    return (uint64_t)j->blocks * LINES * LINE * sizeof(word);
}

static inline int prepare(pipe_job *j)
{
    const uint64_t n = chunks_of(j) * j->words * 4;
    int enough = 1;
    for (int d = 0; d < SIDES; d++) {
        j->averages[d] = (unsigned *)memory_on(d, chunks_of(j) * sizeof(unsigned));
        j->channel[d] = (word *)shared_memory_on(d, channel_bytes(j));
        j->states[d] = (word *)memory_on(d, j->blocks * STATE * sizeof(word));
        use_device(d);
        j->stream[d] = new_stream();
        enough &= j->averages[d] && j->channel[d] && j->states[d];
    }
    j->in = (float *)memory_on(PRODUCER, n * sizeof(float));
    j->out = (unsigned *)memory_on(CONSUMER, (n + GUARD) * sizeof(float));
    j->expected = (unsigned *)memory_on(CONSUMER, chunks_of(j) * sizeof(unsigned));
    j->wrong = (word *)memory_on(CONSUMER, sizeof(word));
    if (!enough || !j->in || !j->out || !j->expected || !j->wrong)
        return 0;
    use_device(PRODUCER);
    LAUNCH_ON(j->stream[PRODUCER], fill_input, 1024, 256, j->in, n, j->seed);
    wait_for(j->stream[PRODUCER]);
    use_device(CONSUMER);
    LAUNCH_ON(j->stream[CONSUMER], expect, 1024, 64, j->expected, chunks_of(j), 4 * j->words,
              j->seed);
    LAUNCH_ON(j->stream[CONSUMER], expect, 1024, 64, j->averages[CONSUMER], chunks_of(j),
              4 * j->words, j->seed);
    wait_for(j->stream[CONSUMER]);
    return 1;
}

static inline void release(pipe_job *j)
{
    for (int d = 0; d < SIDES; d++) {
        free_on(d, j->averages[d]);
        free_on(d, j->channel[d]);
        free_on(d, j->states[d]);
        use_device(d);
        free_stream(j->stream[d]);
    }
    free_on(PRODUCER, j->in);
    free_on(CONSUMER, j->out);
    free_on(CONSUMER, j->expected);
    free_on(CONSUMER, j->wrong);
}

/* Both kernels, once: the consumer's first, which has to wait in any case. */
template <int signal>
static inline void launch_both(const pipe_job *j, const channel *c, word patience)
{
    use_device(CONSUMER);
    LAUNCH_BARRIER_ON(j->stream[CONSUMER], consume<signal>, j->blocks, j->threads, (float4 *)j->out,
                      *c, j->results, j->words, (const unsigned *)j->averages[CONSUMER], patience,
                      j->states[CONSUMER]);
    use_device(PRODUCER);
    LAUNCH_BARRIER_ON(j->stream[PRODUCER], produce<signal>, j->blocks, j->threads,
                      (const float4 *)j->in, *c, j->results, j->words, j->averages[PRODUCER],
                      patience, j->states[PRODUCER]);
    wait_for(j->stream[PRODUCER]);
    use_device(CONSUMER);
    wait_for(j->stream[CONSUMER]);
}

/* What a run says of itself: seconds by each device's timer, from when its first block met the one
 * on the other side to the end of its last; the shares of time that blocks waited; and seconds of
 * the host. */
typedef struct pass {
    double span[SIDES], waits_pct[SIDES], host_s;
} pass;

static inline double longest(const pass *p)
{
    return p->span[PRODUCER] > p->span[CONSUMER] ? p->span[PRODUCER] : p->span[CONSUMER];
}

/* All blocks have done all results. */
static inline int look_at(pipe_job *j, int side, double tick_s, pass *p)
{
    std::vector<word> states((size_t)j->blocks * STATE);
    word began = ~(word)0, ended = 0, ran = 0, waited = 0;
    copy_now(states.data(), j->states[side], states.size() * sizeof(word));
    for (unsigned b = 0; b < j->blocks; b++) {
        const word *s = &states[(size_t)b * STATE];
        if (s[DONE] != j->results) {
            snprintf(j->trouble, sizeof j->trouble, "block %u of the %s has done %llu of %u", b,
                     side == PRODUCER ? "producer" : "consumer", s[DONE], j->results);
            return 0;
        }
        began = s[BEGAN] < began ? s[BEGAN] : began;
        ended = s[ENDED] > ended ? s[ENDED] : ended;
        ran += s[RAN];
        waited += s[WAITED];
    }
    p->span[side] = tick_s * (double)(ended - began);
    p->waits_pct[side] = ran ? 100 * (double)waited / (double)ran : 0;
    return 1;
}

/* 0: it did not come to its end, and j->trouble says why. */
static inline int run(pipe_job *j, const handing *how, double tick_s, pass *p)
{
    const int by = how->remote ? PRODUCER : CONSUMER; /* where the slots are */
    const channel c = {j->channel[by], j->channel[!by], j->channel[PRODUCER], j->channel[CONSUMER],
                       how->slots};
    for (int d = 0; d < SIDES; d++) {
        use_device(d);
        set_bytes(j->stream[d], j->channel[d], 0, channel_bytes(j));
        set_bytes(j->stream[d], j->states[d], 0, j->blocks * STATE * sizeof(word));
        wait_for(j->stream[d]);
    }
    const double began = host_now();
    j->trouble[0] = 0;
    /* Kernels that can't run at the same time take turns. */
    for (unsigned turn = 0; turn < (KERNELS_MEET ? 1 : j->results + 3); turn++)
        switch (how->signal) {
        case APART:
            launch_both<APART>(j, &c, PATIENCE);
            break;
        case FLAGGED:
            launch_both<FLAGGED>(j, &c, PATIENCE);
            break;
        default:
            launch_both<PACKED>(j, &c, PATIENCE);
        }
    p->host_s = host_now() - began;
    return look_at(j, PRODUCER, tick_s, p) && look_at(j, CONSUMER, tick_s, p);
}

static inline word wrong_elements(pipe_job *j, int side)
{
    word wrong = 0;
    const uint64_t n = chunks_of(j) * j->words * 4;
    use_device(CONSUMER);
    copy_now(j->wrong, &wrong, sizeof wrong);
    if (side == CONSUMER) {
        LAUNCH_ON(j->stream[CONSUMER], check_output, 1024, 256, (const unsigned *)j->out,
                  (const unsigned *)j->expected, chunks_of(j), 4 * j->words, n + GUARD, j->wrong);
    } else {
        /* the averages that stayed with the producer, in the place of the output */
        copy_between(j->stream[CONSUMER], j->out, CONSUMER, j->averages[PRODUCER], PRODUCER,
                     chunks_of(j) * sizeof(unsigned));
        LAUNCH_ON(j->stream[CONSUMER], check_output, 1024, 256, (const unsigned *)j->out,
                  (const unsigned *)j->expected, chunks_of(j), 1u, chunks_of(j), j->wrong);
    }
    wait_for(j->stream[CONSUMER]);
    wrong = 1;
    copy_now(&wrong, j->wrong, sizeof wrong);
    return wrong;
}

/* A run onto poison. */
static inline int is_right(pipe_job *j, const handing *how)
{
    pass p;
    use_device(CONSUMER);
    set_bytes(j->stream[CONSUMER], j->out, 0xff, (chunks_of(j) * j->words * 4 + GUARD) * 4);
    wait_for(j->stream[CONSUMER]);
    use_device(PRODUCER);
    set_bytes(j->stream[PRODUCER], j->averages[PRODUCER], 0xff, chunks_of(j) * sizeof(unsigned));
    wait_for(j->stream[PRODUCER]);
    if (!run(j, how, 1e-9, &p))
        return 0;
    word wrong = wrong_elements(j, CONSUMER);
    if (how->signal == APART)
        wrong += wrong_elements(j, PRODUCER);
    if (wrong)
        snprintf(j->trouble, sizeof j->trouble, "%s: wrong elements: %llu", how->name, wrong);
    return !wrong;
}

typedef struct check_job {
    pipe_job *j;
    const handing *how;
    int right; /* before it was timed */
} check_job;

static inline int check_pipe(gpumb *g, void *user)
{
    const check_job *c = (const check_job *)user;
    const int right = c->right && is_right(c->j, c->how);
    use_device(gpumb_get_device(g)->ordinal);
    if (!right)
        gpumb_reason(g, "%s", c->j->trouble);
    return right;
}

#endif

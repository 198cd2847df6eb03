/* Votes and barriers of a block or a warp of threads: through shared memory, by shuffles or the
 * votes of warps, by the instruction. One after the other on one multiprocessor, by its own
 * clock. */
#include "gpumb.h"

#include "group_trial.h"

/* ---- group/vote and group/barrier ------------------------------------------------------------ */

static const char vote_bench[] = "group/vote", barrier_bench[] = "group/barrier";
static const char *const scopes[] = {"warp", "block"};
static const char *const vote_names[] = {"any", "all", "none"};

/* Votes of somebody in a half of all states. */
static unsigned vote_mask(const trial *t)
{
    return 2 * room_for(t->group < t->threads ? t->group : t->threads) - 1;
}

/* Votes of warps and one on those are in blocks of a known size. */
template <int vote, int form>
static void (*vote_kernel_of(const trial *t))(unsigned *, unsigned, unsigned, double *)
{
    if (!t->blockwide)
        return repeat_votes<vote, form, the_warp<0>>;
    if constexpr (form == SHUFFLE) {
        GPUMB_FOR_CONSTANTS(is_gpu(t->g) ? t->threads : 0, N, (SIZES),
                            return repeat_votes<vote, form, the_block<N>>;);
        return NULL;
    } else {
        return repeat_votes<vote, form, the_block<0>>;
    }
}

static void launch_votes(const trial *t, int form, double *took)
{
    void (*kernel)(unsigned *, unsigned, unsigned, double *) = NULL;
    GPUMB_FOR_CONSTANTS(t->algorithm, V, (ANY, ALL, NONE),
                        GPUMB_FOR_CONSTANTS(form, F, (SHARED, SHUFFLE, HARDWARE),
                                            (kernel = vote_kernel_of<V, F>(t))));
    if (kernel)
        GPUMB_LAUNCH_BARRIER(kernel, 1, t->threads, shared_bytes(t, sizeof(unsigned)),
                             GPUMB_PTR(unsigned, t->out[form]), vote_mask(t), t->times, took);
}

static int check_votes(const trial *t, int form)
{
    std::vector<unsigned> out(t->threads);
    if (gpumb_read(t->g, t->out[form], 0, out.data(), out.size() * sizeof(unsigned)))
        return 0;
    for (unsigned first = 0; first < t->threads; first += t->group) {
        const unsigned count = t->threads - first < t->group ? t->threads - first : t->group;
        unsigned state = first;
        for (unsigned i = 0; i < t->times; i++) {
            const bool one = (state & vote_mask(t)) < count; /* for any, and against all or none */
            state = 5 * state + (one == (t->algorithm == ANY) ? 3 : 1);
        }
        for (unsigned k = first; k < first + count; k++)
            if (out[k] != state) {
                gpumb_reason(t->g, "thread %u has voted its way to %u, not %u", k, out[k], state);
                return 0;
            }
    }
    return 1;
}

static void launch_barrier(const trial *t, bool exchange, int form, double *took)
{
    const uint64_t bytes = shared_bytes(t, sizeof(unsigned));
    unsigned *out = GPUMB_PTR(unsigned, t->out[form]);
    if (t->blockwide && exchange)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<true, the_block<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else if (t->blockwide)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<false, the_block<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else if (exchange)
        GPUMB_LAUNCH_BARRIER((repeat_barrier<true, the_warp<0>>), 1, t->threads, bytes, out,
                             t->times, took);
    else
        GPUMB_LAUNCH_BARRIER((repeat_barrier<false, the_warp<0>>), 1, t->threads, bytes, out,
                             t->times, took);
}

static void launch_barriers(const trial *t, int form, double *took)
{
    launch_barrier(t, false, form, took);
}

/* Barriers alone leave nothing to look at: the same ones between exchanges with the neighbour. */
static int check_barriers(const trial *t, int form)
{
    std::vector<unsigned> out(t->threads);
    gpumb_poison(t->g, t->out[form]);
    launch_barrier(t, true, form, GPUMB_PTR(double, t->took));
    if (gpumb_read(t->g, t->out[form], 0, out.data(), out.size() * sizeof(unsigned)))
        return 0;
    for (unsigned i = 0; i < t->threads; i++) {
        const unsigned first = i / t->group * t->group;
        const unsigned count = t->threads - first < t->group ? t->threads - first : t->group;
        if (out[i] != (i - first + t->times) % count) {
            gpumb_reason(t->g, "thread %u has got the value of %u", i, out[i]);
            return 0;
        }
    }
    return 1;
}

static void group_vote(gpumb *g)
{
    const values sizes = thread_counts(g);
    GPUMB_SWEEP_STRINGS(g, scope, scopes, 2)
        GPUMB_SWEEP_STRINGS(g, vote, vote_names, VOTES)
            GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
                trial t = new_trial(g, threads, (int)scope);
                t.algorithm = vote;
                for (int form = SHARED; form <= HARDWARE; form++)
                    t.out[form] = gpumb_alloc(g, t.threads * sizeof(unsigned));
                t.launch = launch_votes;
                t.is_right = check_votes;
                measure_forms(&t, 1u << SHARED | 1u << SHUFFLE | 1u << HARDWARE);
            }
    for (int64_t scope = 0; scope < 2; scope++)
        for (int64_t vote = 0; vote < VOTES; vote++) {
            const rows all =
                having(having(rows_of(vote_bench, NULL), "scope", scope), "vote", vote);
            sentence s = no_words();
            for (int64_t n = next_value(g, all, "threads", 0); n > 0;
                 n = next_value(g, all, "threads", n)) {
                const rows here = having(all, "threads", n);
                const gpumb_result *base = row_of(g, here, SHARED);
                if (!base || !row_of(g, here, SHUFFLE) || !row_of(g, here, HARDWARE))
                    continue;
                say_next(&s, ", ");
                say(&s, "%lld threads %.2f and %.2f", (long long)n,
                    base->time.median / row_of(g, here, SHUFFLE)->time.median,
                    base->time.median / row_of(g, here, HARDWARE)->time.median);
            }
            if (s.text[0])
                gpumb_note(g,
                           "%s of a %s: time through shared memory over that of warps' votes or "
                           "shuffles, and of the instruction: %s.",
                           vote_names[vote], scopes[scope], s.text);
        }
}

static void group_barrier(gpumb *g)
{
    const values sizes = thread_counts(g);
    GPUMB_SWEEP_STRINGS(g, scope, scopes, 2)
        GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
            trial t = new_trial(g, threads, (int)scope);
            t.out[HARDWARE] = gpumb_alloc(g, t.threads * sizeof(unsigned));
            t.launch = launch_barriers;
            t.is_right = check_barriers;
            measure_forms(&t, 1u << HARDWARE);
        }
    const double tick_s = seconds_of_tick(g);
    for (int64_t scope = 0; scope < 2 && is_gpu(g) && tick_s > 0; scope++) {
        const rows all = having(rows_of(barrier_bench, NULL), "scope", scope);
        sentence s = no_words();
        for (int64_t n = next_value(g, all, "threads", 0); n > 0;
             n = next_value(g, all, "threads", n)) {
            say_next(&s, ", ");
            say(&s, "%.0f with %lld threads",
                first_row(g, having(all, "threads", n))->time.median / tick_s, (long long)n);
        }
        if (s.text[0])
            gpumb_note(g, "A barrier of a %s takes %s (cycles).", scopes[scope], s.text);
    }
}

static const gpumb_benchmark benchmarks[] = {
    {vote_bench, "any, all, none of a block or a warp", group_vote},
    {barrier_bench, "barriers of a block or a warp", group_barrier},
};

GPUMB_MAIN(benchmarks)

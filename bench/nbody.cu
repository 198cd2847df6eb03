/* All-pairs gravity: its rate over the number of bodies, tile, unrolling, bodies a thread and kind
 * of root, each pair once or twice, and what the issue of instructions allows. */

/* bodies a thread, unrolling, root; no more than 1024 interactions in a turn. nvcc takes 20 s for
 * all of them and one architecture; none spills registers (8 bodies a thread: 96). */
/* clang-format off */
#define GPUMB_NBODY_FORMS(X)                                                                       \
    X(1, 1, LIBRARY) X(1, 4, LIBRARY) X(1, 16, LIBRARY) X(1, 64, LIBRARY)                          \
    X(4, 1, LIBRARY) X(4, 4, LIBRARY) X(4, 16, LIBRARY) X(4, 64, LIBRARY)                          \
    X(1, 1, INTEGER) X(1, 4, INTEGER) X(1, 16, INTEGER) X(1, 64, INTEGER)                          \
    X(4, 1, INTEGER) X(4, 4, INTEGER) X(4, 16, INTEGER) X(4, 64, INTEGER)                          \
    X(1, 1, APPROXIMATE) X(1, 2, APPROXIMATE) X(1, 4, APPROXIMATE) X(1, 8, APPROXIMATE)            \
    X(1, 16, APPROXIMATE) X(1, 32, APPROXIMATE) X(1, 64, APPROXIMATE) X(1, 128, APPROXIMATE)       \
    X(1, 256, APPROXIMATE) X(1, 512, APPROXIMATE) X(1, 1024, APPROXIMATE)                          \
    X(2, 1, APPROXIMATE) X(2, 2, APPROXIMATE) X(2, 4, APPROXIMATE) X(2, 8, APPROXIMATE)            \
    X(2, 16, APPROXIMATE) X(2, 32, APPROXIMATE) X(2, 64, APPROXIMATE) X(2, 128, APPROXIMATE)       \
    X(2, 256, APPROXIMATE) X(2, 512, APPROXIMATE)                                                  \
    X(4, 1, APPROXIMATE) X(4, 2, APPROXIMATE) X(4, 4, APPROXIMATE) X(4, 8, APPROXIMATE)            \
    X(4, 16, APPROXIMATE) X(4, 32, APPROXIMATE) X(4, 64, APPROXIMATE) X(4, 128, APPROXIMATE)       \
    X(4, 256, APPROXIMATE)                                                                         \
    X(8, 1, APPROXIMATE) X(8, 2, APPROXIMATE) X(8, 4, APPROXIMATE) X(8, 8, APPROXIMATE)            \
    X(8, 16, APPROXIMATE) X(8, 32, APPROXIMATE) X(8, 64, APPROXIMATE) X(8, 128, APPROXIMATE)
/* clang-format on */
#define GPUMB_NBODY_PAIRS(X) X(1, 4) X(2, 4) X(4, 4) X(8, 1) X(8, 2) X(8, 4)
#define GPUMB_IMPLEMENTATION /* of its own, for these forms */
#include "gpumb.h"

#include "bench.h"
#include "issue.h"
#include "rates.h"

#include <math.h>
#include <stdlib.h>

#define FLOP_EACH 20.0 /* an interaction, by convention */

static const char *const roots[] = {"library", "approximate", "integer"}; /* as gpumb_rsqrt */

/* ---- forms ----------------------------------------------------------------------------------- */

enum { MOST_FORMS = 100, NAME = 32 };
static gpumb_nbody forms[MOST_FORMS];
static char form_name[MOST_FORMS][NAME]; /* "4 x 16 approximate", "pairs 8 x 2": bodies x unroll */

static int list_forms(void)
{
    const int all = gpumb_nbody_forms(forms, MOST_FORMS),
              count = all < MOST_FORMS ? all : MOST_FORMS;
    for (int i = 0; i < count && !form_name[i][0]; i++)
        snprintf(form_name[i], NAME, forms[i].pairs ? "pairs %d x %d" : "%d x %d %s",
                 forms[i].bodies, forms[i].unroll, roots[forms[i].rsqrt]);
    return count;
}

/* NULL: not compiled. */
static const gpumb_nbody *form_of(const char *name)
{
    for (int i = list_forms() - 1; i >= 0; i--)
        if (!strcmp(form_name[i], name))
            return &forms[i];
    return NULL;
}

static const char *name_of(const gpumb_nbody *how)
{
    for (int i = list_forms() - 1; i >= 0; i--)
        if (forms[i].pairs == how->pairs && forms[i].bodies == how->bodies &&
            forms[i].unroll == how->unroll && forms[i].rsqrt == how->rsqrt)
            return form_name[i];
    return how->pairs ? "pairs" : "plain"; /* an axis asks for more; the row says why it is none */
}

/* ---- bound ----------------------------------------------------------------------------------- */

/* Instructions for one of the n * n interactions of the convention, as nvcc 13 makes them for
 * sm_90, without those of the loop. Plain: 3 subtractions, 3 multiply-adds into the softening, a
 * root, 3 products, 3 multiply-adds, and a load from shared memory for all bodies of the thread.
 * The library's root guards against denormals by a comparison and 2 products; in place of a root, 9
 * make it from an integer. A pair, which is two of the n * n: 3 subtractions, 3 multiply-adds, a
 * root, 2 products for its cube, 2 for the weights, 6 multiply-adds; a load and 3 shuffles for all
 * bodies of the thread. */
static double instructions(const gpumb_nbody *how)
{
    static const double plain[] = {13 + 3, 13, 13 - 1 + 9};
    return how->pairs ? (17 + 4.0 / how->bodies) / 2 : plain[how->rsqrt] + 1.0 / how->bodies;
}

/* Instructions that all lanes together can start in a second, one a clock each; a multiply-add is
 * one of them, and two in the peak. 0: unknown. */
static double issue_slots(gpumb *g)
{
    return gpumb_get_device(g)->peak_flop_per_s / 2;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Random numbers from [-1, 1) become bodies: positions stay, masses turn positive and add up to
 * some 0.6, so that the cloud moves at the same speed whatever n is. It falls inwards, which lets a
 * wrong force show in the energy. */
static __global__ void make_bodies(float4 *position, float4 *velocity, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n) {
        float4 r = position[i];
        r.w = (fabsf(r.w) + 0.1f) / (float)n;
        position[i] = r;
        if (velocity)
            velocity[i] = make_float4(-0.5f * r.x, -0.5f * r.y, -0.5f * r.z, 0);
    }
}

static gpumb_buffer *new_bodies(gpumb *g, uint64_t n, gpumb_buffer *velocities)
{
    gpumb_buffer *positions = gpumb_alloc(g, n * sizeof(float4));
    gpumb_fill(g, positions, GPUMB_FILL_F32, gpumb_get_settings(g)->seed);
    GPUMB_LAUNCH(make_bodies, n / 256 + 1, 256, 0, GPUMB_PTR(float4, positions),
                 GPUMB_PTR(float4, velocities), n);
    if (velocities)
        keep_contents(g, positions);
    return positions;
}

/* A number of bodies with which all multiprocessors finish at the same time, in blocks of up to 512
 * threads with up to 8 bodies each: so that forms are compared, not the remainders of grids. */
static uint64_t even_bodies(gpumb *g, uint64_t each)
{
    return is_gpu(g) ? each * (uint64_t)gpumb_get_device(g)->multiprocessors : 2048;
}

/* The next region has n * n interactions `times`. */
static void describe(gpumb *g, const gpumb_nbody *how, uint64_t n, double times)
{
    gpumb_set_flop(g, times * FLOP_EACH * (double)n * (double)n);
    gpumb_set_footprint(g, 2 * n * sizeof(float4));
    if (issue_slots(g) > 0)
        gpumb_set_expected(g, FLOP_EACH * issue_slots(g) / instructions(how) / 1e9, 1);
}

static void describe_accelerations(gpumb *g, gpumb_nbody_check *check, const gpumb_nbody *how,
                                   gpumb_buffer *positions, gpumb_buffer *accelerations, uint64_t n)
{
    /* As many bodies as the host sums up in some 0.1 s. */
    const uint64_t bodies = n ? ((uint64_t)1 << 20) / n : 1;
    check->how = how;
    check->positions = positions;
    check->accelerations = accelerations;
    check->n = n;
    check->samples = bodies < 4 ? 4 : bodies > 64 ? 64 : (int)bodies;
    describe(g, how, n, 1);
    gpumb_set_output(g, accelerations);
    gpumb_set_verify(g, gpumb_check_nbody, check);
}

/* A row: the accelerations of n bodies. */
static void measure_accelerations(gpumb *g, const gpumb_nbody *how, uint64_t n)
{
    gpumb_nbody_check check;
    gpumb_buffer *positions = new_bodies(g, n, NULL);
    gpumb_buffer *accelerations = gpumb_alloc(g, n * sizeof(float4));
    gpumb_buffer *workspace = gpumb_nbody_workspace(g, how, n);
    describe_accelerations(g, &check, how, positions, accelerations, n);
    GPUMB_MEASURE(g, name_of(how))
        gpumb_nbody_accelerations(g, how, n, gpumb_data(positions), gpumb_data(accelerations),
                                  workspace);
}

/* ---- conclusions ----------------------------------------------------------------------------- */

/* Whether a row can be concluded from, and is one of a benchmark (NULL: any) and of a form, of all
 * "plain" or "pairs", or (NULL) of all. */
static int sound(gpumb *g, size_t row, const char *bench, const char *form)
{
    const gpumb_result *r = row_in(g, rows_of(bench, NULL), row);
    const gpumb_nbody *how = r && r->gflops > 0 ? form_of(r->kernel) : NULL;
    return how &&
           (!form || !strcmp(form, r->kernel) || !strcmp(form, how->pairs ? "pairs" : "plain"));
}

/* The fastest of those with these values of two axes (NULL: any). */
static const gpumb_result *fastest(gpumb *g, const char *bench, const char *form, const char *axis,
                                   int64_t value, const char *axis2, int64_t value2)
{
    const gpumb_result *best = NULL;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (sound(g, i, bench, form) && (!axis || gpumb_row_axis(g, i, axis) == value) &&
            (!axis2 || gpumb_row_axis(g, i, axis2) == value2) &&
            (!best || gpumb_row(g, i)->gflops > best->gflops))
            best = gpumb_row(g, i);
    return best;
}

/* The smallest value of `axis` in the rows that fastest() looks at, from a rate on; -1: none. */
static int64_t first_at(gpumb *g, const char *bench, const char *form, const char *axis,
                        double gflops, const char *axis2, int64_t value2)
{
    int64_t first = -1;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t x = gpumb_row_axis(g, i, axis);
        if (sound(g, i, bench, form) && gpumb_row(g, i)->gflops >= gflops && x >= 0 &&
            (!axis2 || gpumb_row_axis(g, i, axis2) == value2) && (first < 0 || x < first))
            first = x;
    }
    return first;
}

static void say_rate(sentence *s, const gpumb_result *r)
{
    say(s, "%.*f GFLOP/s", r->gflops < 100 ? 2 : 0, r->gflops);
    if (r->reference > 0)
        say(s, " (%.1f %% of its issue bound)", r->measured_pct);
}

/* What the figures mean, once in a program. */
static void note_convention(gpumb *g)
{
    static int said;
    if (said || !gpumb_row_count(g))
        return;
    said = 1;
    gpumb_note(g,
               "GFLOP/s: 20 operations for each of n * n interactions, by convention; also for "
               "pairs, which compute each interaction once for both bodies.%s",
               issue_slots(g) > 0 ? " Issue bound, a form's 100 % of the expectation: one "
                                    "instruction a lane and clock."
                                  : "");
}

/* ---- n --------------------------------------------------------------------------------------- */

static const char size_bench[] = "nbody/size";

static void note_size(gpumb *g, const char *const *names, size_t count)
{
    sentence rates = no_words(), splits = no_words();
    note_convention(g);
    for (size_t k = 0; k < count; k++) {
        const char *name = names[k];
        const gpumb_result *best = fastest(g, size_bench, name, "splits", 0, NULL, 0);
        const int64_t least = first_at(g, size_bench, name, "n", 0, "splits", 0);
        const gpumb_result *many = fastest(g, size_bench, name, "n", least, "splits", 0);
        const gpumb_result *one = fastest(g, size_bench, name, "n", least, "splits", 1);
        if (best && best != many) {
            const int64_t n = first_at(g, size_bench, name, "n", 0.95 * best->gflops, "splits", 0);
            say_next(&rates, "; ");
            say(&rates, "%s ", name);
            say_rate(&rates, best);
            say(&rates, ", from n = %lld on", (long long)n);
        }
        if (many && one) {
            say_next(&splits, "; ");
            say(&splits, "%s %.2f at n = %lld", name, many->gflops / one->gflops, (long long)least);
        }
    }
    if (rates.text[0])
        gpumb_note(g, "Best rate, and the first n that is within 5 %% of it: %s.", rates.text);
    if (splits.text[0])
        gpumb_note(g, "Rate with a body's walk shared among blocks over that without: %s.",
                   splits.text);
}

static void nbody_size(gpumb *g)
{
    static const char *const names[] = {"1 x 1 library", "4 x 4 approximate", "pairs 8 x 2",
                                        "8 x 4 approximate"};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t most = !gpu ? 1 << 12 : full ? 1 << 19 : 1 << 17;
    const size_t count = full ? COUNT(names) : 3;
    GPUMB_SWEEP_STRINGS(g, form, names, count)
        GPUMB_SWEEP_RANGE(g, splits, 0, gpu, 1) /* 0: as many as fill the device */
            GPUMB_SWEEP_FACTOR(g, n, 1 << 11, splits == 1 && most > 1 << 16 ? 1 << 16 : most,
                               gpu ? 4 : 2) {
                gpumb_nbody how = *form_of(names[form]);
                how.splits = (int)splits;
                measure_accelerations(g, &how, (uint64_t)n);
            }
    note_size(g, names, count);
}

/* ---- the best forms -------------------------------------------------------------------------- */

static const char best_bench[] = "nbody/best";

static void note_best(gpumb *g)
{
    const int64_t n = first_at(g, best_bench, NULL, "n", 0, NULL, 0);
    const gpumb_result *plain = fastest(g, best_bench, "plain", "n", n, NULL, 0);
    const gpumb_result *pairs = fastest(g, best_bench, "pairs", "n", n, NULL, 0);
    const gpumb_result *library = fastest(g, best_bench, "4 x 4 library", "n", n, NULL, 0);
    const gpumb_result *root = fastest(g, best_bench, "4 x 4 approximate", "n", n, NULL, 0);
    sentence s = no_words();
    note_convention(g);
    if (plain) {
        say(&s, "Fastest plain form: %s, ", plain->kernel);
        say_rate(&s, plain);
        if (plain->pct_peak > 0)
            say(&s, ", %.1f %% of the fp32 peak", plain->pct_peak);
        if (pairs) {
            say(&s, "; fastest in pairs: %s, ", pairs->kernel);
            say_rate(&s, pairs);
            say(&s, ", %.2f times the plain form", pairs->gflops / plain->gflops);
        }
        gpumb_note(g, "%s.", s.text);
    }
    if (library && root)
        gpumb_note(g,
                   "The root's instruction alone makes the form 4 x 4 %.2f times as fast as the "
                   "library's root.",
                   root->gflops / library->gflops);
}

/* Interleaved, so that the ratios between rows are good to a fraction of a per cent. */
static void nbody_best(gpumb *g)
{
    static const char *const names[] = {"1 x 1 library",     "4 x 4 library",     "4 x 4 integer",
                                        "4 x 4 approximate", "8 x 4 approximate", "pairs 4 x 4",
                                        "pairs 8 x 2"};
    gpumb_nbody_check checks[COUNT(names)];
    gpumb_nbody how[COUNT(names)];
    gpumb_buffer *workspace[COUNT(names)];
    GPUMB_SWEEP_LIST(g, n, (int64_t)even_bodies(g, gpumb_get_settings(g)->full ? 2048 : 512)) {
        const uint64_t count = (uint64_t)n;
        gpumb_buffer *positions = new_bodies(g, count, NULL);
        gpumb_buffer *accelerations = gpumb_alloc(g, count * sizeof(float4));
        for (size_t i = 0; i < COUNT(names); i++) {
            how[i] = *form_of(names[i]);
            how[i].block = how[i].pairs ? 256 : 512;
            workspace[i] = gpumb_nbody_workspace(g, &how[i], count);
        }
        GPUMB_INTERLEAVE(g)
            for (size_t i = 0; i < COUNT(names); i++) {
                describe_accelerations(g, &checks[i], &how[i], positions, accelerations, count);
                GPUMB_MEASURE(g, names[i])
                    gpumb_nbody_accelerations(g, &how[i], count, gpumb_data(positions),
                                              gpumb_data(accelerations), workspace[i]);
            }
    }
    note_best(g);
}

/* ---- tile, unrolling, root ------------------------------------------------------------------- */

static const char tile_bench[] = "nbody/tile";

/* The block's threads are also the tile's bodies. */
static void nbody_tile(gpumb *g)
{
    static const char *const names[] = {"1 x 1 library", "4 x 4 approximate", "1 x 32 approximate",
                                        "8 x 4 approximate"};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const size_t count = full ? COUNT(names) : 2;
    const uint64_t n = !gpu ? 1 << 11 : full ? 1 << 17 : 1 << 16;
    sentence gains = no_words();
    GPUMB_SWEEP_STRINGS(g, form, names, count) {
        gpumb_nbody how = *form_of(names[form]);
        /* From 4 bodies a thread on there are no registers for 1024 threads. */
        GPUMB_SWEEP_FACTOR(g, block, 32, how.bodies >= 4 ? 512 : 1024, full ? 2 : gpu ? 4 : 32) {
            how.block = (int)block;
            measure_accelerations(g, &how, n);
        }
    }
    note_convention(g);
    for (size_t k = 0; k < count; k++) {
        const int64_t least = first_at(g, tile_bench, names[k], "block", 0, NULL, 0);
        const gpumb_result *first = fastest(g, tile_bench, names[k], "block", least, NULL, 0);
        const gpumb_result *best = fastest(g, tile_bench, names[k], NULL, 0, NULL, 0);
        if (!first || first == best)
            continue;
        say_next(&gains, "; ");
        say(&gains, "%s from %lld to %lld: %.2f times, ", names[k], (long long)least,
            (long long)first_at(g, tile_bench, names[k], "block", best->gflops, NULL, 0),
            best->gflops / first->gflops);
        say_rate(&gains, best);
    }
    if (gains.text[0])
        gpumb_note(g, "Gain from a larger tile: %s.", gains.text);
}

static const char unroll_bench[] = "nbody/unroll";

static void note_unroll(gpumb *g)
{
    const gpumb_result *best = fastest(g, unroll_bench, NULL, NULL, 0, NULL, 0);
    sentence gains = no_words();
    note_convention(g);
    for (int bodies = 1; bodies <= 8; bodies *= 2) {
        const gpumb_result *one = fastest(g, unroll_bench, NULL, "bodies", bodies, "unroll", 1);
        const gpumb_result *most = fastest(g, unroll_bench, NULL, "bodies", bodies, NULL, 0);
        if (!one || one == most)
            continue;
        say_next(&gains, "; ");
        say(&gains, "%d bod%s a thread %.2f times, at %lld", bodies, bodies > 1 ? "ies" : "y",
            most->gflops / one->gflops,
            (long long)first_at(g, unroll_bench, NULL, "unroll", most->gflops, "bodies", bodies));
    }
    if (gains.text[0]) {
        sentence s = no_words();
        say_rate(&s, best);
        gpumb_note(g, "Gain from unrolling: %s. Fastest: %s, %s.", gains.text, best->kernel,
                   s.text);
    }
}

static void nbody_unroll(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const uint64_t n = even_bodies(g, full ? 1024 : 512);
    GPUMB_SWEEP_FACTOR(g, bodies, 1, full ? 8 : 4, full ? 2 : 4)
        GPUMB_SWEEP_FACTOR(g, unroll, 1, 1024 / bodies, full ? 2 : gpu ? 4 : 16) {
            gpumb_nbody how = gpumb_nbody_default();
            how.pairs = 0;
            how.bodies = (int)bodies;
            how.unroll = (int)unroll;
            how.rsqrt = GPUMB_RSQRT_APPROXIMATE;
            how.block = unroll > 512 ? 1024 : 512; /* the tile is a multiple of what is unrolled */
            measure_accelerations(g, &how, n);
        }
    note_unroll(g);
}

static const char root_bench[] = "nbody/root";

static void note_roots(gpumb *g)
{
    sentence s = no_words();
    note_convention(g);
    for (int bodies = 1; bodies <= 4; bodies += 3) {
        const gpumb_result *r[3];
        for (int root = 0; root < 3; root++)
            r[root] = fastest(g, root_bench, NULL, "bodies", bodies, "root", root);
        if (!r[GPUMB_RSQRT_APPROXIMATE])
            continue;
        for (int root = 0; root < 3; root++)
            if (root != GPUMB_RSQRT_APPROXIMATE && r[root]) {
                say_next(&s, "; ");
                say(&s, "%.2f times the %s one with %d bod%s a thread",
                    r[GPUMB_RSQRT_APPROXIMATE]->gflops / r[root]->gflops, roots[root], bodies,
                    bodies > 1 ? "ies" : "y");
            }
    }
    if (s.text[0])
        gpumb_note(g, "Rate with the approximate root, each unrolled best: %s.", s.text);
}

static void nbody_root(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const uint64_t n = even_bodies(g, full ? 1024 : 512);
    GPUMB_SWEEP_RANGE(g, bodies, full ? 1 : 4, 4, 3)
        GPUMB_SWEEP_FACTOR(g, unroll, gpu ? 1 : 4, full ? 64 : gpu ? 16 : 4, full ? 4 : 16)
            GPUMB_SWEEP_STRINGS(g, root, roots, COUNT(roots)) {
                gpumb_nbody how = gpumb_nbody_default();
                how.pairs = 0;
                how.bodies = (int)bodies;
                how.unroll = (int)unroll;
                how.rsqrt = (gpumb_rsqrt)root;
                how.block = 512;
                measure_accelerations(g, &how, n);
            }
    note_roots(g);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void nbody_pairs(gpumb *g)
{
    /* bodies a thread x unrolling */
    static const char *const names[] = {"8 x 2", "4 x 4", "8 x 1", "8 x 4", "2 x 4", "1 x 4"};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const uint64_t n = even_bodies(g, full ? 1024 : 512);
    GPUMB_SWEEP_STRINGS(g, pairs, names, full ? COUNT(names) : gpu ? 4 : 2)
        GPUMB_SWEEP_FACTOR(g, block, full ? 64 : gpu ? 128 : 256, gpu ? 512 : 256, full ? 2 : 4) {
            char name[NAME];
            snprintf(name, NAME, "pairs %s", names[pairs]);
            gpumb_nbody how = *form_of(name);
            how.block = (int)block;
            measure_accelerations(g, &how, n);
        }
    note_convention(g);
    const gpumb_result *best = fastest(g, "nbody/pairs", NULL, NULL, 0, NULL, 0);
    const gpumb_result *plain = fastest(g, unroll_bench, NULL, NULL, 0, NULL, 0); /* the same n */
    sentence s = no_words();
    if (best) {
        say_rate(&s, best);
        if (plain && plain->flop >= best->flop && plain->flop <= best->flop)
            say(&s, ", %.2f times the fastest plain form at this n", best->gflops / plain->gflops);
        gpumb_note(g, "Fastest in pairs: %s, %s.", best->kernel, s.text);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char steps_bench[] = "nbody/steps";

enum { STEPS = 10, ENERGY_MOST = 4096 }; /* bodies whose energy the host sums up */
static const float step_length = 0.01f;

/* What is moved, and how it was before. */
typedef struct motion {
    gpumb_buffer *positions, *velocities, *accelerations;
    gpumb_buffer *first_positions, *first_velocities, *first_accelerations;
    uint64_t n;
    double softening;
} motion;

static void restore(gpumb *g, void *user)
{
    const motion *m = (const motion *)user;
    const uint64_t bytes = m->n * sizeof(float4);
    gpumb_memcpy(g, gpumb_data(m->positions), gpumb_data(m->first_positions), bytes);
    gpumb_memcpy(g, gpumb_data(m->velocities), gpumb_data(m->first_velocities), bytes);
    gpumb_memcpy(g, gpumb_data(m->accelerations), gpumb_data(m->first_accelerations), bytes);
}

typedef struct state {
    double momentum[3], sum; /* sum: of absolute values */
    double energy;           /* 0 where n is too large for it */
} state;

/* -1: could not be read. */
static int read_state(gpumb *g, const motion *m, const gpumb_buffer *positions,
                      const gpumb_buffer *velocities, state *s)
{
    const uint64_t bytes = m->n * sizeof(float4);
    float4 *r = (float4 *)malloc((size_t)bytes), *v = (float4 *)malloc((size_t)bytes);
    const int failed =
        !r || !v || gpumb_read(g, positions, 0, r, bytes) || gpumb_read(g, velocities, 0, v, bytes);
    memset(s, 0, sizeof *s);
    for (uint64_t i = 0; i < m->n && !failed; i++) {
        const double mass = (double)r[i].w, x = (double)v[i].x, y = (double)v[i].y,
                     z = (double)v[i].z;
        s->momentum[0] += mass * x;
        s->momentum[1] += mass * y;
        s->momentum[2] += mass * z;
        s->sum += mass * sqrt(x * x + y * y + z * z);
        s->energy += m->n <= ENERGY_MOST ? mass * (x * x + y * y + z * z) / 2 : 0;
        for (uint64_t j = 0; j < i && m->n <= ENERGY_MOST; j++) {
            const double dx = (double)(r[j].x) - (double)(r[i].x),
                         dy = (double)(r[j].y) - (double)(r[i].y),
                         dz = (double)(r[j].z) - (double)(r[i].z);
            s->energy -= mass * (double)r[j].w /
                         sqrt(dx * dx + dy * dy + dz * dz + m->softening * m->softening);
        }
    }
    free(r);
    free(v);
    return failed ? -1 : 0;
}

/* Momentum is kept but for roundings, energy but for the steps' length: drifts of up to 4e-9 and
 * 4e-6 are seen. */
static int check_steps(gpumb *g, void *user)
{
    const motion *m = (const motion *)user;
    state first, last;
    if (read_state(g, m, m->first_positions, m->first_velocities, &first) ||
        read_state(g, m, m->positions, m->velocities, &last))
        return 0;
    double drift = 0;
    for (int k = 0; k < 3; k++)
        drift = fmax(drift, fabs(last.momentum[k] - first.momentum[k]) / first.sum);
    if (!(drift <= 1e-6)) {
        gpumb_reason(g, "momentum drifts by %.2g of the sum of its amounts", drift);
        return 0;
    }
    const double energy = m->n <= ENERGY_MOST ? fabs(last.energy / first.energy - 1) : 0;
    if (!(energy <= 3e-5)) {
        gpumb_reason(g, "energy drifts by %.2g of itself", energy);
        return 0;
    }
    return 1;
}

static void measure_steps(gpumb *g, const gpumb_nbody *how, uint64_t n)
{
    const uint64_t bytes = n * sizeof(float4);
    motion m;
    m.n = n;
    m.softening = (double)how->softening;
    m.first_velocities = gpumb_alloc(g, bytes);
    m.first_positions = new_bodies(g, n, m.first_velocities);
    m.first_accelerations = gpumb_alloc(g, bytes);
    m.positions = gpumb_alloc(g, bytes);
    m.velocities = gpumb_alloc(g, bytes);
    m.accelerations = gpumb_alloc(g, bytes);
    gpumb_buffer *workspace = gpumb_nbody_workspace(g, how, n);
    gpumb_nbody_accelerations(g, how, n, gpumb_data(m.first_positions),
                              gpumb_data(m.first_accelerations), workspace);
    describe(g, how, n, STEPS);
    gpumb_set_output(g, m.positions);
    gpumb_set_output(g, m.velocities);
    gpumb_set_output(g, m.accelerations);
    gpumb_set_reset(g, restore, &m);
    gpumb_set_verify(g, check_steps, &m);
    GPUMB_MEASURE(g, name_of(how))
        gpumb_nbody_steps(g, how, n, STEPS, step_length, gpumb_data(m.positions),
                          gpumb_data(m.velocities), gpumb_data(m.accelerations), workspace);
}

static void note_steps(gpumb *g)
{
    sentence s = no_words();
    note_convention(g);
    const gpumb_result *best = fastest(g, steps_bench, NULL, NULL, 0, NULL, 0);
    if (!best)
        return;
    say_rate(&s, best);
    const int64_t n = first_at(g, steps_bench, best->kernel, "n", best->gflops, NULL, 0);
    const gpumb_result *alone = fastest(g, size_bench, best->kernel, "n", n, "splits", 0);
    if (alone)
        say(&s, ", %.1f %% of the rate of the accelerations alone",
            100 * best->gflops / alone->gflops);
    gpumb_note(g, "Ten steps with the integrator: %s at n = %lld, %s.", best->kernel, (long long)n,
               s.text);
}

static void nbody_steps(gpumb *g)
{
    static const char *const names[] = {"4 x 4 approximate", "pairs 8 x 2", "1 x 1 library"};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    GPUMB_SWEEP_STRINGS(g, form, names, full ? COUNT(names) : 2)
        GPUMB_SWEEP_FACTOR(g, n, 1 << 11, !gpu ? 1 << 11 : full ? 1 << 17 : 1 << 14, full ? 4 : 8)
            measure_steps(g, form_of(names[form]), (uint64_t)n);
    note_steps(g);
}

/* ---- the issue of instructions --------------------------------------------------------------- */

static const char issue_bench[] = "nbody/issue";
static const char *const streams[] = {"multiply-adds", "n-body's mix"};

typedef struct issue_check {
    gpumb_buffer *out;
    uint64_t threads;
    double expected;
} issue_check;

static int check_issue(gpumb *g, void *user)
{
    const issue_check *c = (const issue_check *)user;
    const uint64_t bytes = c->threads * sizeof(float);
    float *sums = (float *)malloc((size_t)bytes);
    int right = sums && !gpumb_read(g, c->out, 0, sums, bytes);
    for (uint64_t i = 0; i < c->threads && right; i++) {
        right = fabs((double)sums[i] - c->expected) <= 1e-4; /* less than one addition */
        if (!right)
            gpumb_reason(g, "thread %llu: the sum is %.9g, expected %.9g", (unsigned long long)i,
                         (double)sums[i], c->expected);
    }
    free(sums);
    return right;
}

static void note_issue(gpumb *g)
{
    const gpumb_result *r[2];
    for (int k = 0; k < 2; k++)
        r[k] = first_row(g, noisy_too(rows_of(issue_bench, streams[k])));
    if (!r[0] || !r[1] || !(r[0]->reference > 0 && r[1]->reference > 0))
        return;
    const double all = MIX, fma = r[0]->measured_pct / 100, mix = r[1]->measured_pct / 100;
    const double root_clocks = all / mix - (all - 1) / fma;
    gpumb_note(
        g,
        "GFLOP/s of %s are instructions: multiply-adds use %.1f %% of the issue slots, "
        "n-body's mix %.1f %%: its 13 instructions take %.1f clocks, as if the root took %.1f.",
        issue_bench, 100 * fma, 100 * mix, all / mix, root_clocks);
    const gpumb_result *plain = fastest(g, NULL, "plain", NULL, 0, NULL, 0);
    const gpumb_result *pairs = fastest(g, NULL, "pairs", NULL, 0, NULL, 0);
    const double limit = FLOP_EACH * r[1]->gflops / all;
    const double most = unit_peak(g, UNIT_SPECIAL);
    if (most < HUGE_VAL)
        gpumb_note(g, "The roots of that mix are %.1f %% of those that their units can make.",
                   100 * r[1]->gflops * 1e9 / all / most);
    if (plain)
        gpumb_note(
            g,
            "At the rate of that mix, interactions without their loads come to %.0f GFLOP/s; "
            "the fastest plain row, %s in %s, has %.0f, %.1f %% of that.",
            limit, plain->kernel, plain->bench, plain->gflops, 100 * plain->gflops / limit);
    if (pairs && issue_slots(g) > 0) { /* else the device is not known */
        const gpumb_nbody *how = form_of(pairs->kernel);
        const double clocks = instructions(how) + (root_clocks - 1) / 2;
        const double bound = FLOP_EACH * issue_slots(g) / clocks / 1e9;
        gpumb_note(g,
                   "Pairs need half the roots: with such a root their bound is %.0f GFLOP/s; the "
                   "fastest row in pairs, %s in %s, has %.0f, %.1f %% of that.",
                   bound, pairs->kernel, pairs->bench, pairs->gflops, 100 * pairs->gflops / bound);
    }
}

/* How many of the issue slots such instructions can use at all. Flop are instructions here. */
static void nbody_issue(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    const unsigned turns = 256;
    const float step = 1.0f / 4096;
    const uint64_t blocks = (uint64_t)d->multiprocessors * (uint64_t)(d->max_threads / 256);
    issue_check check;
    check.threads = blocks * 256;
    check.out = gpumb_alloc(g, check.threads * sizeof(float));
    GPUMB_SWEEP_STRINGS(g, stream, streams, COUNT(streams)) {
        const double all = MIX, adding = stream ? ADDING : MIX, chains = CHAINS,
                     mixes = REPEATS * turns;
        check.expected = chains * (adding * mixes * (double)step + 1 + (chains - 1) / 2);
        gpumb_set_flop(g, all * chains * mixes * (double)check.threads);
        gpumb_set_peak_flop(g, issue_slots(g) > 0 ? issue_slots(g) : HUGE_VAL);
        gpumb_set_value(g, "flop_per_instruction", stream ? FLOP_EACH / (double)MIX : 2);
        if (issue_slots(g) > 0)
            gpumb_set_expected(g, issue_slots(g) / 1e9, 1);
        gpumb_set_output(g, check.out);
        gpumb_set_verify(g, check_issue, &check);
        if (!is_gpu(g))
            gpumb_skip(g, "a core has no issue slots of threads: a GPU is needed");
        GPUMB_MEASURE(g, streams[stream]) {
#if !defined(GPUMB_BACKEND_CPU)
            if (stream)
                GPUMB_LAUNCH(issue<1>, blocks, 256, 0, GPUMB_PTR(float, check.out), turns, 1.0f,
                             step);
            else
                GPUMB_LAUNCH(issue<0>, blocks, 256, 0, GPUMB_PTR(float, check.out), turns, 1.0f,
                             step);
#endif
        }
    }
    note_issue(g);
}

static const gpumb_benchmark benchmarks[] = {
    {"nbody/size", "rate over the number of bodies", nbody_size},
    {"nbody/best", "the best forms, interleaved", nbody_best},
    {"nbody/tile", "rate over block size, which is the tile's", nbody_tile},
    {"nbody/unroll", "rate over unrolling, for bodies a thread", nbody_unroll},
    {"nbody/root", "three kinds of root", nbody_root},
    {"nbody/pairs", "each pair once: forms and block sizes", nbody_pairs},
    {"nbody/steps", "ten steps with the integrator", nbody_steps},
    {"nbody/issue", "how many issue slots n-body's mix of instructions can use", nbody_issue},
};

GPUMB_MAIN(benchmarks)

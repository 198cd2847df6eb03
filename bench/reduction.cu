/* A grid-stride reduction over its geometry and over n. The ways in which threads and blocks can
 * combine what they have. Both against the fastest form and the vendor's library. */
#define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X)
#define GPUMB_IMPLEMENTATION /* of its own, for all reductions */
#include "gpumb.h"

#include "bench.h"
#include "kernels.h"

#define CUB_HEADER <cub/device/device_reduce.cuh>
#include "library.h"

static const char *const types[] = {"f32", "f64", "i32", "u32"}; /* in gpumb_type's order */
static const char *const operations[] = {"sum", "min", "max"};   /* in gpumb_operation's */
static const char *const combines[] = {"first thread", "shared tree", "shuffle-down",
                                       "shuffle-xor"};
static const char *const finishes[] = {"two launches", "atomic", "last block"};

/* ---- one reduction --------------------------------------------------------------------------- */

/* Has to outlive its region. */
typedef struct job {
    gpumb_reduction how;
    gpumb_reduction_check check;
    gpumb_buffer *in, *out, *workspace;
    uint64_t n;
    const char *trouble; /* NULL: none */
} job;

static uint64_t size_of(gpumb_type type)
{
    return type == GPUMB_F64 ? 8 : 4;
}

/* fp32 sum, shuffle-down, last block; geometry chosen by n. */
static gpumb_reduction naive_form(void)
{
    gpumb_reduction how = gpumb_reduction_default();
    how.form = GPUMB_FORM_NAIVE;
    how.combine = GPUMB_COMBINE_SHUFFLE_DOWN;
    how.finish = GPUMB_FINISH_LAST_BLOCK;
    return how;
}

static job job_of(gpumb *g, gpumb_reduction how, uint64_t n, gpumb_buffer *in, gpumb_buffer *out)
{
    job j;
    memset(&j, 0, sizeof j);
    j.how = how;
    j.in = in;
    j.out = out;
    j.workspace = gpumb_reduction_workspace(g, &how, n);
    j.n = n;
    return j;
}

static void describe(gpumb *g, job *j, gpumb_timing timing)
{
    const uint64_t bytes = j->n * size_of(j->how.type);
    j->check.how = &j->how;
    j->check.in = j->in;
    j->check.out = j->out;
    j->check.n = j->n;
    if (j->trouble)
        gpumb_skip(g, "%s", j->trouble);
    gpumb_set_bytes(g, (double)bytes);
    gpumb_set_footprint(g, bytes);
    gpumb_set_timing(g, timing);
    gpumb_set_output(g, j->out);
    gpumb_set_verify(g, gpumb_check_reduction, &j->check);
}

static void measure_reduction(gpumb *g, const char *name, job *j, gpumb_timing timing)
{
    describe(g, j, timing);
    GPUMB_MEASURE(g, name)
        gpumb_reduce(g, &j->how, j->n, gpumb_data(j->in), gpumb_data(j->out), j->workspace);
}

/* Floats lose their signs: the sum of numbers around 0 is smaller than what rounding may add up to
 * in a large n, and its check could not fail. Of positive ones each block has a share. */
static void fill(gpumb *g, gpumb_buffer *b, gpumb_type type)
{
    const uint64_t n = gpumb_size(b) / size_of(type), seed = gpumb_get_settings(g)->seed;
    const uint64_t blocks = 16 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    gpumb_fill(g, b,
               type == GPUMB_F32   ? GPUMB_FILL_F32
               : type == GPUMB_F64 ? GPUMB_FILL_F64
                                   : GPUMB_FILL_BITS,
               seed);
    if (type == GPUMB_F32 && n)
        GPUMB_LAUNCH(make_positive<float>, blocks, 256, 0, GPUMB_PTR(float, b), n);
    if (type == GPUMB_F64 && n)
        GPUMB_LAUNCH(make_positive<double>, blocks, 256, 0, GPUMB_PTR(double, b), n);
}

static gpumb_buffer *input_of(gpumb *g, gpumb_type type, uint64_t n)
{
    gpumb_buffer *in = gpumb_alloc(g, n * size_of(type));
    fill(g, in, type);
    return in;
}

/* ---- the vendor's library -------------------------------------------------------------------- */

#ifndef NO_LIBRARY
/* Sums up; where `room` is NULL, says instead how much of it is wanted. Returns what went wrong. */
static const char *library_sum(gpumb *g, const job *j, void *room, size_t *bytes)
{
    const library_stream stream = (library_stream)gpumb_stream(g);
    const int n = (int)j->n; /* its fastest kind of index */
    const void *in = gpumb_data(j->in);
    void *out = gpumb_data(j->out);
    if (j->n > INT32_MAX)
        return LIBRARY_NAME " is called with a 32-bit count of elements";
    const auto error =
        j->how.type == GPUMB_F32
            ? library::DeviceReduce::Sum(room, *bytes, (const float *)in, (float *)out, n, stream)
            : library::DeviceReduce::Sum(room, *bytes, (const unsigned *)in, (unsigned *)out, n,
                                         stream);
    return error ? library_error(error) : NULL;
}

/* `how` is for the check alone, whose bound follows from the number of elements that a thread adds
 * up. The library's own geometry is not to be had; this one adds up no fewer: it has 1024 threads a
 * multiprocessor, where a library fills the device, and each takes at least 64 elements, for when
 * the library takes only one block. On an H200 the bound is below 1 / 2000 of the sum at 2^30. */
static job library_job(gpumb *g, gpumb_type type, uint64_t n, gpumb_buffer *in, gpumb_buffer *out)
{
    job j;
    size_t bytes = 0;
    memset(&j, 0, sizeof j);
    j.how = naive_form();
    j.how.type = type;
    j.how.block = 256;
    j.how.blocks = 4 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    j.how.per_thread = 64;
    j.in = in;
    j.out = out;
    j.n = n;
    if (!gpumb_data(in)) /* nothing runs while a sweep enumerates */
        return j;
    j.trouble = library_sum(g, &j, NULL, &bytes);
    j.workspace = gpumb_alloc(g, bytes ? bytes : 1);
    return j;
}

static void measure_library(gpumb *g, job *j, gpumb_timing timing)
{
    size_t bytes = gpumb_size(j->workspace);
    describe(g, j, timing);
    GPUMB_MEASURE(g, "library") {
        const char *trouble = library_sum(g, j, gpumb_data(j->workspace), &bytes);
        if (trouble)
            gpumb_skip(g, "%s", trouble);
    }
}
#endif

/* ---- geometry -------------------------------------------------------------------------------- */

static const char geometry_bench[] = "reduction/geometry";

/* How many others take hardly longer than the best. */
static void say_close(gpumb *g, sentence *t, rows all, const gpumb_result *best)
{
    const double median = best->time.median;
    const int others = count_between(g, all, time_of, median, 1.02 * median) - 1;
    if (others)
        say(t, " (%d more within 2 %%)", others);
}

static void note_geometry(gpumb *g)
{
    const rows all = noisy_too(rows_of(geometry_bench, NULL));
    const extremes e = extremes_of(g, all, time_of);
    int64_t least = INT64_MAX; /* threads a multiprocessor that come close to the best */
    size_t least_row = 0;
    double lowest = 1; /* of those with as many threads and more */
    if (!e.low || e.count < 2)
        return;
    sentence t = no_words();
    say(&t, "Best geometry: %lld blocks of %lld threads a multiprocessor, %.4g GB/s",
        (long long)gpumb_row_axis(g, e.low_row, "blocks_per_sm"),
        (long long)gpumb_row_axis(g, e.low_row, "block"), e.low->gbps);
    if (e.low->pct_peak > 0)
        say(&t, ", %.1f %% of the peak", e.low->pct_peak);
    say_close(g, &t, all, e.low);
    gpumb_note(g, "%s.", t.text);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < gpumb_row_count(g); i++) {
            const gpumb_result *r = row_in(g, all, i);
            const int64_t threads =
                gpumb_row_axis(g, i, "blocks_per_sm") * gpumb_row_axis(g, i, "block");
            if (!r)
                continue;
            const double share = e.low->time.median / r->time.median;
            if (!pass && share >= 0.95 && threads < least) {
                least = threads;
                least_row = i;
            }
            if (pass && threads >= least && share < lowest)
                lowest = share;
        }
    t.text[0] = 0;
    if (lowest < 0.95)
        say(&t, "; not always enough: as many and more give %.0f %% and up", 100 * lowest);
    gpumb_note(
        g, "95 %% of that takes %lld threads a multiprocessor at least (%lld blocks of %lld)%s.",
        (long long)least, (long long)gpumb_row_axis(g, least_row, "blocks_per_sm"),
        (long long)gpumb_row_axis(g, least_row, "block"), t.text);
}

static void reduction_geometry(gpumb *g)
{
    static const int64_t block_full[] = {64, 128, 192, 256, 384, 512, 768, 1024};
    static const int64_t block_quick[] = {64, 256, 1024}, block_cpu[] = {64, 256};
    static const int64_t per_sm_full[] = {1, 4, 8, 32};
    static const int64_t per_sm_quick[] = {1, 4, 32}, per_sm_cpu[] = {1, 32};
    const int full = gpumb_get_settings(g)->full;
    const uint64_t n = (uint64_t)1 << (!is_gpu(g) ? 22 : full ? 28 : 26);
    const values sizes = choose(g, VALUES(block_full), VALUES(block_quick), VALUES(block_cpu));
    const values counts = choose(g, VALUES(per_sm_full), VALUES(per_sm_quick), VALUES(per_sm_cpu));
    gpumb_buffer *in = input_of(g, GPUMB_U32, n), *out = gpumb_alloc(g, 4);
    GPUMB_SWEEP_ARRAY(g, block, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, blocks_per_sm, counts.at, counts.count) {
            gpumb_reduction how = naive_form();
            how.type = GPUMB_U32;
            how.block = (int)block;
            how.blocks = (uint64_t)(blocks_per_sm * gpumb_get_device(g)->multiprocessors);
            how.per_thread = 4;
            job j = job_of(g, how, n, in, out);
            measure_reduction(g, "naive", &j, GPUMB_TIMING_AUTO);
        }
    note_geometry(g);
}

/* ---- n --------------------------------------------------------------------------------------- */

static const char size_bench[] = "reduction/size";
static const gpumb_type size_types[] = {GPUMB_U32, GPUMB_F32};
static const char *const size_names[] = {"u32", "f32"};
enum { STREAM, GRAPH, EVENT, LAUNCHES };
static const char *const launches[LAUNCHES] = {"stream", "graph", "event"};
static const char *const launched[LAUNCHES] = {"in a stream", "in a graph", "by an event pair"};

/* The row with the smallest n that is larger than `after`. */
static const gpumb_result *next_n(gpumb *g, const char *kernel, int64_t type, int64_t launch,
                                  int64_t after, int64_t *n)
{
    const rows some = having(having(rows_of(size_bench, kernel), "type", type), "launch", launch);
    const gpumb_result *found;
    *n = after;
    do {
        *n = next_value(g, some, "n", *n);
        found = *n < 0 ? NULL : first_row(g, having(some, "n", *n));
    } while (found && launch == GRAPH && found->timing != GPUMB_TIMING_GRAPH); /* not captured */
    return found;
}

/* From which n on a form keeps 90 % of the peak. A part of what is little larger than the L2 still
 * comes from there. */
static void note_peak(gpumb *g, const char *kernel, int64_t type)
{
    sentence t = no_words();
    double most = 0;
    int64_t n = 0, most_n = 0;
    for (int64_t launch = GRAPH; launch >= STREAM; launch--) {
        int64_t from = 0, any = 0;
        for (const gpumb_result *r = next_n(g, kernel, type, launch, 0, &n); r;
             r = next_n(g, kernel, type, launch, n, &n)) {
            if (r->footprint_bytes < 4 * gpumb_get_device(g)->l2_bytes || !(r->pct_peak > 0))
                continue;
            any = 1;
            from = r->pct_peak < 90 ? 0 : from ? from : n;
            if (r->pct_peak > most) {
                most = r->pct_peak;
                most_n = n;
            }
        }
        if (!any)
            continue;
        say(&t, "%s%s %s", t.text[0] ? ", " : "", launched[launch], from ? "from n = " : "nowhere");
        if (from)
            say_number(&t, from);
    }
    if (!t.text[0])
        return;
    say(&t, "; at most %.1f %%, at ", most);
    say_number(&t, most_n);
    gpumb_note(g, "%s, %s, input of 4 times the L2 and more: 90 %% of the peak %s.",
               size_names[type], kernel, t.text);
}

/* The time of another form over that of the fastest, as medians of one interleave. 1 if there was
 * one to tell of. */
static int note_ratio(gpumb *g, const char *kernel, const char *called, int64_t type,
                      int64_t launch)
{
    sentence t = no_words();
    int64_t n = 0, same = 0;
    for (const gpumb_result *r = next_n(g, kernel, type, launch, 0, &n); r;
         r = next_n(g, kernel, type, launch, n, &n)) {
        const gpumb_result *fastest = next_n(g, "fastest", type, launch, n - 1, &same);
        if (!fastest || same != n)
            continue;
        say(&t, "%s%.2f at ", t.text[0] ? ", " : "", r->time.median / fastest->time.median);
        say_number(&t, n);
    }
    if (t.text[0])
        gpumb_note(g, "%s %s, time of %s over that of the fastest form: %s.", size_names[type],
                   launched[launch], called, t.text);
    return t.text[0] != 0;
}

static void reduction_size(gpumb *g)
{
    static const int64_t full[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19,
                                   1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    static const int64_t quick[] = {1 << 16, 1 << 20, 1 << 24, 1 << 28};
    static const int64_t cpu[] = {1 << 12, 1 << 16, 1 << 22};
    const values sizes =
        choose(g, values_of(full, is_gpu(g) ? COUNT(full) : 12), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, type, size_names, 2)
            GPUMB_SWEEP_STRINGS(g, launch, launches, is_gpu(g) ? LAUNCHES : 1) {
                /* the same way for all: the library's launches can't be captured unasked */
                static const gpumb_timing ways[LAUNCHES] = {GPUMB_TIMING_BATCH, GPUMB_TIMING_GRAPH,
                                                            GPUMB_TIMING_EVENT};
                const gpumb_timing timing = is_gpu(g) ? ways[launch] : GPUMB_TIMING_AUTO;
                /* what an event pair leaves in, one type shows */
                if (launch == EVENT && size_types[type] != GPUMB_U32)
                    continue;
                /* short ones take what the host takes to launch them, and as long as it is noisy */
                if (launch == STREAM && is_gpu(g) && n < 1 << 22 && n != 1 << 10 && n != 1 << 16 &&
                    n != 1 << 20)
                    continue;
                const uint64_t count = (uint64_t)n;
                gpumb_reduction how[2] = {naive_form(), gpumb_reduction_default()};
                how[0].type = how[1].type = size_types[type];
                gpumb_buffer *in = input_of(g, size_types[type], count), *out = gpumb_alloc(g, 4);
                job naive = job_of(g, how[0], count, in, out);
                job fastest = job_of(g, how[1], count, in, out);
#ifndef NO_LIBRARY
                job library = library_job(g, size_types[type], count, in, out);
#endif
                GPUMB_INTERLEAVE(g) {
                    measure_reduction(g, "naive", &naive, timing);
                    measure_reduction(g, "fastest", &fastest, timing);
#ifndef NO_LIBRARY
                    measure_library(g, &library, timing);
#else
                    replay_library(g);
#endif
                }
            }
    for (int64_t type = 0; type < 2; type++)
        note_peak(g, "fastest", type);
    note_peak(g, "naive", 0);
    for (int64_t launch = 0; launch < LAUNCHES; launch++)
        for (int64_t type = 0; type < 2; type++)
            if (!note_ratio(g, "library", LIBRARY_NAME, type, launch))
                note_ratio(g, "naive", "the naive form", type, launch);
}

/* ---- variants -------------------------------------------------------------------------------- */

static const char variants_bench[] = "reduction/variants";

static const char *variant(gpumb *g, size_t row, sentence *t)
{
    t->text[0] = 0;
    say(t, "%s + %s", combines[gpumb_row_axis(g, row, "combine")],
        finishes[gpumb_row_axis(g, row, "finish")]);
    return t->text;
}

/* The fastest at each n; one item for n in a row with the same pair of fastest and slowest. */
static void note_variants(gpumb *g)
{
    const rows any = noisy_too(rows_of(variants_bench, NULL));
    sentence all = no_words(), low, high, pair, last = no_words();
    const char *meant = "";
    for (int64_t n = next_value(g, any, "n", 0); n >= 0; n = next_value(g, any, "n", n)) {
        const extremes e = extremes_of(g, having(any, "n", n), time_of);
        if (!e.low || e.count < 2)
            continue;
        pair = no_words();
        say(&pair, "%.80s (slowest: %.80s)", variant(g, e.low_row, &low),
            variant(g, e.high_row, &high));
        if (strcmp(pair.text, last.text))
            say(&all, "%s%s: ", all.text[0] ? "; " : "", pair.text);
        else
            say(&all, ", ");
        last = pair;
        say_number(&all, n);
        say(&all, " %.4g us, %.2f x", 1e6 * e.low->time.median,
            e.high->time.median / e.low->time.median);
        meant = time_meant(e.low);
    }
    if (all.text[0])
        gpumb_note(g, "Fastest variant, %s, and how many times faster than the slowest: %s.", meant,
                   all.text);
}

/* Two ways of combining, at the same n and with the same finish. */
static void note_shuffles(gpumb *g, int64_t combine, int64_t other)
{
    int pairs = 0, faster = 0, slower = 0;
    double low = 0, high = 0;
    const rows all = rows_of(variants_bench, NULL);
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *a = row_in(g, having(all, "combine", combine), i);
        const rows same = having(having(all, "finish", gpumb_row_axis(g, i, "finish")), "n",
                                 gpumb_row_axis(g, i, "n"));
        const gpumb_result *b = first_row(g, having(same, "combine", other));
        if (!a || !b)
            continue;
        const double ratio = a->time.median / b->time.median;
        low = pairs && low < ratio ? low : ratio;
        high = pairs && high > ratio ? high : ratio;
        pairs++;
        faster += is_faster(a, b);
        slower += is_faster(b, a);
    }
    if (pairs)
        gpumb_note(g,
                   "%s against %s, same n and finish: time %.2f ... %.2f of it; faster in %d of "
                   "%d, slower in %d (intervals apart).",
                   combines[combine], combines[other], low, high, faster, pairs, slower);
}

/* In a graph, an interval spans all launches that a variant needs: two for `two launches`, and for
 * `atomic` the one that sets the output before. */
static void reduction_variants(gpumb *g)
{
    static const int64_t full[] = {1 << 16, 1 << 18, 1 << 20, 1 << 24, 1 << 28};
    static const int64_t quick[] = {1 << 16, 1 << 20}, cpu[] = {1 << 16};
    const values sizes = choose(g, values_of(full, is_gpu(g) ? 5 : 4), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, combine, combines, 4)
            GPUMB_SWEEP_STRINGS(g, finish, finishes, 3) {
                gpumb_reduction how = naive_form();
                how.combine = (gpumb_combine)combine;
                how.finish = (gpumb_finish)finish;
                gpumb_buffer *in = input_of(g, GPUMB_F32, (uint64_t)n), *out = gpumb_alloc(g, 4);
                job j = job_of(g, how, (uint64_t)n, in, out);
                measure_reduction(g, "naive", &j, GPUMB_TIMING_GRAPH);
            }
    note_variants(g);
    note_shuffles(g, GPUMB_COMBINE_SHUFFLE_DOWN, GPUMB_COMBINE_TREE);
    note_shuffles(g, GPUMB_COMBINE_SHUFFLE_XOR, GPUMB_COMBINE_SHUFFLE_DOWN);
}

/* ---- elements of a warp and of a block ------------------------------------------------------- */

static const char elements_bench[] = "reduction/elements";

static void say_elements(gpumb *g, sentence *t, size_t row)
{
    say(t, "%lld elements a warp, %lld warps a block",
        (long long)gpumb_row_axis(g, row, "elements_per_warp"),
        (long long)gpumb_row_axis(g, row, "warps"));
}

static void note_elements(gpumb *g)
{
    const rows all = noisy_too(rows_of(elements_bench, NULL));
    const extremes e = extremes_of(g, all, time_of);
    sentence low = no_words(), high = no_words();
    if (!e.low || e.count < 2)
        return;
    say_elements(g, &low, e.low_row);
    say_elements(g, &high, e.high_row);
    say_close(g, &low, all, e.low);
    gpumb_note(g, "Fastest: %s: %s %.4g us; slowest: %s: %.2f times that.", low.text,
               time_meant(e.low), 1e6 * e.low->time.median, high.text,
               e.high->time.median / e.low->time.median);
}

/* Each element is taken in one turn: the number of blocks follows. */
static void reduction_elements(gpumb *g)
{
    static const int64_t elements_full[] = {32, 64, 128, 256, 512};
    static const int64_t elements_quick[] = {32, 128, 512}, elements_cpu[] = {64, 512};
    static const int64_t warps_full[] = {1, 2, 4, 8, 16, 32};
    static const int64_t warps_quick[] = {1, 8, 32}, warps_cpu[] = {1, 8};
    const gpumb_device *d = gpumb_get_device(g);
    const uint64_t n = (uint64_t)1 << (is_gpu(g) ? 20 : 18);
    const values each =
        choose(g, VALUES(elements_full), VALUES(elements_quick), VALUES(elements_cpu));
    const values counts = choose(g, VALUES(warps_full), VALUES(warps_quick), VALUES(warps_cpu));
    gpumb_buffer *in = input_of(g, GPUMB_F32, n), *out = gpumb_alloc(g, 4);
    GPUMB_SWEEP_ARRAY(g, elements_per_warp, each.at, each.count)
        GPUMB_SWEEP_ARRAY(g, warps, counts.at, counts.count) {
            const uint64_t share = (uint64_t)(elements_per_warp * warps);
            gpumb_reduction how = naive_form();
            how.block = (int)(warps * d->warp_size);
            how.blocks = (n + share - 1) / share;
            how.per_thread = (int)(elements_per_warp / d->warp_size);
            job j = job_of(g, how, n, in, out);
            if (elements_per_warp < d->warp_size || elements_per_warp % d->warp_size)
                gpumb_skip(g, "%d threads a warp", d->warp_size);
            else if (how.block > d->max_block)
                gpumb_skip(g, "at most %d threads a block", d->max_block);
            measure_reduction(g, "naive", &j, GPUMB_TIMING_GRAPH);
        }
    note_elements(g);
}

/* ---- numbers of blocks ----------------------------------------------------------------------- */

static const char blocks_bench[] = "reduction/blocks";

static const gpumb_result *row_with_blocks(gpumb *g, const char *kernel, int64_t blocks)
{
    return first_row(g, having(rows_of(blocks_bench, kernel), "blocks", blocks));
}

/* Whether a multiple of the multiprocessors is faster than one block fewer or more. */
static void note_blocks(gpumb *g, const char *kernel)
{
    const int64_t sms = gpumb_get_device(g)->multiprocessors;
    double low[2] = {0, 0}, high[2] = {0, 0}; /* one block fewer, one more */
    int compared = 0;
    for (int64_t multiple = 1; multiple <= 8; multiple++) {
        const gpumb_result *at = row_with_blocks(g, kernel, multiple * sms);
        const gpumb_result *beside[2] = {
            row_with_blocks(g, kernel, multiple * sms - 1),
            row_with_blocks(g, kernel, multiple * sms + 1),
        };
        if (!at || !beside[0] || !beside[1])
            continue;
        for (int i = 0; i < 2; i++) {
            const double ratio = beside[i]->time.median / at->time.median;
            low[i] = compared && low[i] < ratio ? low[i] : ratio;
            high[i] = compared && high[i] > ratio ? high[i] : ratio;
        }
        compared++;
    }
    if (!compared)
        return;
    const double least = low[0] < low[1] ? low[0] : low[1];
    const double most = high[0] > high[1] ? high[0] : high[1];
    gpumb_note(
        g,
        "%s, %d exact multiples of %lld blocks: one fewer takes %.3f ... %.3f of their time, "
        "one more %.3f ... %.3f: %s.",
        kernel, compared, (long long)sms, low[0], high[0], low[1], high[1],
        least > 0.98 && most < 1.02 ? "these make less than 2 %"
        : low[0] > 1 && low[1] > 1  ? "exact multiples are faster"
        : most < 1                  ? "exact multiples are slower"
                                    : "exact multiples are not the best throughout");
}

static void reduction_blocks(gpumb *g)
{
    static const int64_t multiples_full[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t multiples_quick[] = {1, 4}, multiples_cpu[] = {1, 2, 4};
    const int64_t sms = gpumb_get_device(g)->multiprocessors;
    const int64_t reach = sms > 4; /* to either side, unless that were beside the next multiple */
    const uint64_t n = (uint64_t)1 << (is_gpu(g) ? 22 : 20);
    const values all =
        choose(g, VALUES(multiples_full), VALUES(multiples_quick), VALUES(multiples_cpu));
    gpumb_buffer *in = input_of(g, GPUMB_F32, n), *out = gpumb_alloc(g, 4);
    GPUMB_SWEEP_ARRAY(g, multiple, all.at, all.count)
        GPUMB_SWEEP_RANGE(g, blocks, multiple * sms - reach, multiple * sms + reach, 1) {
            gpumb_reduction how = naive_form();
            how.block = 256;
            how.blocks = (uint64_t)blocks;
            how.per_thread = 8;
            job shuffle = job_of(g, how, n, in, out);
            how.combine = GPUMB_COMBINE_TREE;
            job tree = job_of(g, how, n, in, out);
            GPUMB_INTERLEAVE(g) {
                measure_reduction(g, combines[GPUMB_COMBINE_SHUFFLE_DOWN], &shuffle,
                                  GPUMB_TIMING_GRAPH);
                measure_reduction(g, combines[GPUMB_COMBINE_TREE], &tree, GPUMB_TIMING_GRAPH);
            }
        }
    note_blocks(g, combines[GPUMB_COMBINE_SHUFFLE_DOWN]);
    note_blocks(g, combines[GPUMB_COMBINE_TREE]);
}

/* ---- types and operations -------------------------------------------------------------------- */

static const char types_bench[] = "reduction/types";

static void note_types(gpumb *g)
{
    const extremes e = extremes_of(g, noisy_too(rows_of(types_bench, NULL)), time_of);
    if (!e.low || e.count < 2) /* as many bytes in each row */
        return;
    sentence t = no_words();
    say(&t, "%d types and operations: %.4g (%s %s) ... %.4g GB/s (%s %s)", e.count, e.high->gbps,
        types[gpumb_row_axis(g, e.high_row, "value_type")],
        operations[gpumb_row_axis(g, e.high_row, "operation")], e.low->gbps,
        types[gpumb_row_axis(g, e.low_row, "value_type")],
        operations[gpumb_row_axis(g, e.low_row, "operation")]);
    if (e.low->pct_peak > 0 && !(e.low->flags & GPUMB_FLAG_CACHED))
        say(&t, ", %.1f ... %.1f %% of the peak", e.high->pct_peak, e.low->pct_peak);
    gpumb_note(g, "%s.", t.text);
}

/* `value_type`, since `type` is an axis with other values already, and --axis would have to name
 * one that both have. */
static void reduction_types(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    const uint64_t bytes = (uint64_t)4 << (!is_gpu(g) ? 22 : full ? 28 : 26);
    GPUMB_SWEEP_STRINGS(g, value_type, types, 4)
        GPUMB_SWEEP_STRINGS(g, operation, operations, full ? 3 : 1) {
            gpumb_reduction how = gpumb_reduction_default();
            how.type = (gpumb_type)value_type;
            how.operation = (gpumb_operation)operation;
            const uint64_t n = bytes / size_of(how.type);
            gpumb_buffer *in = input_of(g, how.type, n);
            job j = job_of(g, how, n, in, gpumb_alloc(g, size_of(how.type)));
            measure_reduction(g, "fastest", &j, GPUMB_TIMING_AUTO);
        }
    note_types(g);
}

static const gpumb_benchmark benchmarks[] = {
    {geometry_bench, "rate over blocks per multiprocessor and block size", reduction_geometry},
    {size_bench, "time and rate over n, against the vendor's library", reduction_size},
    {variants_bench, "how threads and blocks combine what they have", reduction_variants},
    {elements_bench, "elements a warp and warps a block", reduction_elements},
    {blocks_bench, "blocks around multiples of the multiprocessors", reduction_blocks},
    {types_bench, "all types and operations, fastest form", reduction_types},
};

GPUMB_MAIN(benchmarks)

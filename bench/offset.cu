/* A copy in sub-domains: a block's data is split among groups of threads, so that a warp's accesses
 * lie in pieces. A copy that is shifted against sectors and lines. */
#include "gpumb.h"

#include "access.h"

#include <stdlib.h>

enum { MAX_ELEMENT = 16, MODEL_ITERATIONS = 1024 };

static uint64_t buffer_bytes(gpumb *g)
{
    return !is_gpu(g)                    ? (uint64_t)1 << 26
           : gpumb_get_settings(g)->full ? (uint64_t)4 << 30
                                         : (uint64_t)1 << 30;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The model stands for warps whose accesses go to memory together. The CPU backend runs a thread
 * after the other, and its caches gather what they leave: there is no expectation there. */
static int has_model(gpumb *g)
{
    return is_gpu(g);
}

/* ---- sub-domains ----------------------------------------------------------------------------- */

static const char l4_bench[] = "offset/subdomains_l4", l8_bench[] = "offset/subdomains_l8",
                  lanes_bench[] = "offset/lanes";

static void describe_subdomains(gpumb *g, gpumb_stride_check *check, gpumb_buffer *in,
                                gpumb_buffer *out, int64_t elem, uint64_t n)
{
    memset(check, 0, sizeof *check);
    check->in = in;
    check->out = out;
    check->elem = (int)elem;
    check->n = n;
    check->stride = 1;
    describe_access(g, check, out, 2 * n * (uint64_t)elem);
}

/* The rate of the same kernel where each block copies consecutive elements, in GB/s; 0 while a
 * sweep enumerates. */
static double contiguous_rate(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int64_t elem)
{
    static double known[MAX_ELEMENT + 1]; /* a configuration is a pass of its own */
    const uint64_t blocks = gpumb_size(in) / (uint64_t)elem / 256;
    gpumb_stride_check check;
    gpumb_result r;
    if (elem <= MAX_ELEMENT && known[elem] > 0)
        return known[elem];
    describe_subdomains(g, &check, in, out, elem, blocks * 256);
    GPUMB_TIME(&r)
        gpumb_subdomains(g, (int)elem, 256, 1, blocks, 256, gpumb_data(in), gpumb_data(out));
    if (r.status != GPUMB_STATUS_OK)
        return 0;
    if (elem <= MAX_ELEMENT)
        known[elem] = r.gbps;
    return r.gbps;
}

static double model_subdomains(gpumb *g, int elem, int block, int lanes, int iterations)
{
    const access_unit unit = unit_of_access(g, elem);
    /* Sub-domains follow each other all over the grid: a block of so many warps that they end with
     * a sub-domain shows what larger ones repeat. */
    int whole = unit.warp;
    while (whole % lanes)
        whole += unit.warp;
    return gpumb_coalesce_subdomains(elem, block % whole ? block : whole, lanes, iterations,
                                     unit.warp, unit.sector, unit.line)
        .efficiency;
}

static void measure_subdomains(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int64_t elem,
                               int64_t lanes, int64_t subdomains, int64_t iterations)
{
    const uint64_t block = (uint64_t)lanes * (uint64_t)subdomains;
    const double moved = (double)elem * (double)lanes * (double)subdomains * (double)iterations;
    const uint64_t blocks = moved <= (double)gpumb_size(in) ? gpumb_size(in) / (uint64_t)moved : 0;
    const double reference = has_model(g) ? contiguous_rate(g, in, out, elem) : 0;
    gpumb_stride_check check;
    describe_subdomains(g, &check, in, out, elem, blocks * block * (uint64_t)iterations);
    if (!blocks && gpumb_size(in))
        gpumb_skip(g, "a block would copy more than there is");
    if (reference > 0 && block <= 1024 && iterations <= MODEL_ITERATIONS)
        gpumb_set_expected(g, reference,
                           model_subdomains(g, (int)elem, (int)block, (int)lanes, (int)iterations));
    GPUMB_MEASURE(g, "subdomains")
        gpumb_subdomains(g, (int)elem, (int)lanes, (int)iterations, blocks, (int)block,
                         gpumb_data(in), gpumb_data(out));
}

/* The fastest geometry, and what is reached by blocks of full warps whose accesses are apart. */
static void note_geometry(gpumb *g, const char *bench, int lanes)
{
    const rows all = rows_of(bench, NULL);
    const extremes e = extremes_of(g, all, gbps_of);
    double low = 0, high = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, all, i);
        if (r && gpumb_row_axis(g, i, "subdomains") * lanes >= 128 &&
            gpumb_row_axis(g, i, "iterations") > 1 && r->measured_pct > 0) {
            low = low > 0 && low < r->measured_pct ? low : r->measured_pct;
            high = high > r->measured_pct ? high : r->measured_pct;
        }
    }
    if (!e.high)
        return;
    sentence share = no_words();
    if (e.high->measured_pct > 0)
        say(&share, ", %.1f %% of the contiguous copy", e.high->measured_pct);
    gpumb_note(g, "L = %d: best at %lld sub-domains a block and %lld iterations, %.0f GB/s%s.",
               lanes, (long long)gpumb_row_axis(g, e.high_row, "subdomains"),
               (long long)gpumb_row_axis(g, e.high_row, "iterations"), e.high->gbps, share.text);
    if (high > 0)
        gpumb_note(g,
                   "With 128 threads a block and more, and a warp's accesses in pieces (I > 1): "
                   "%.1f ... %.1f %% of it.",
                   low, high);
}

static void subdomains_of(gpumb *g, const char *bench, int lanes)
{
    static const int64_t subdomains_full[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    static const int64_t subdomains_quick[] = {8, 32, 128}, subdomains_cpu[] = {32, 128};
    static const int64_t iterations_full[] = {1, 2, 8, 64};
    static const int64_t iterations_quick[] = {1, 4, 16}, iterations_cpu[] = {1, 4};
    values groups =
        choose(g, VALUES(subdomains_full), VALUES(subdomains_quick), VALUES(subdomains_cpu));
    const values turns =
        choose(g, VALUES(iterations_full), VALUES(iterations_quick), VALUES(iterations_cpu));
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    while (groups.at[groups.count - 1] * lanes > 1024)
        groups.count--;
    GPUMB_SWEEP_ARRAY(g, subdomains, groups.at, groups.count)
        GPUMB_SWEEP_ARRAY(g, iterations, turns.at, turns.count)
            measure_subdomains(g, in, out, 16, lanes, subdomains, iterations);
    note_geometry(g, bench, lanes);
}

static void offset_subdomains_l4(gpumb *g)
{
    subdomains_of(g, l4_bench, 4);
}

static void offset_subdomains_l8(gpumb *g)
{
    subdomains_of(g, l8_bench, 8);
}

/* Whether it matters that a sub-domain's row fills sectors of 32 bytes, or lines of 64 or 128. */
static void note_lanes(gpumb *g)
{
    static const int pieces[] = {128, 64, 32, 1};
    double median[4] = {0, 0, 0, 0};
    const size_t count_all = gpumb_row_count(g);
    const int64_t elem = last_value(g, rows_of(lanes_bench, NULL), "elem");
    double *shares = (double *)malloc((count_all + 1) * sizeof *shares);
    for (int k = 0; shares && k < 4; k++) {
        uint64_t count = 0;
        for (size_t i = 0; i < count_all; i++) {
            const gpumb_result *r = row_in(g, having(rows_of(lanes_bench, NULL), "elem", elem), i);
            const int64_t bytes = gpumb_row_axis(g, i, "lanes") * elem;
            /* the largest piece of which it is a multiple */
            if (r && r->measured_pct > 0 && gpumb_row_axis(g, i, "iterations") > 1 &&
                bytes % pieces[k] == 0 && (k == 0 || bytes % pieces[k - 1]) &&
                (k < 3 || bytes % 32))
                shares[count++] = r->measured_pct;
        }
        median[k] = count ? gpumb_statistics(shares, count).median : 0;
    }
    free(shares);
    if (!(median[0] > 0 && median[1] > 0 && median[2] > 0 && median[3] > 0))
        return;
    gpumb_note(g,
               "%d B elements, I > 1, median share of the contiguous copy where L * elem is a "
               "multiple of 128 bytes: %.1f %%; of 64: %.1f %%; of 32: %.1f %%; of none: %.1f %%.",
               (int)elem, median[0], median[1], median[2], median[3]);
    double low = median[0], high = median[0]; /* of the multiples of 32 bytes */
    for (int k = 1; k < 3; k++) {
        low = median[k] < low ? median[k] : low;
        high = median[k] > high ? median[k] : high;
    }
    gpumb_note(g, "Multiples of 32, 64 and 128 bytes %s; others are %s.",
               low < 0.9 * high ? "differ" : "are alike within 10 %",
               median[3] < 0.9 * low    ? "slower"
               : median[3] > 1.1 * high ? "faster"
                                        : "not slower than all of them by 10 %");
}

static void offset_lanes(gpumb *g)
{
    static const int64_t elements_full[] = {16, 8, 4}, elements_quick[] = {16};
    static const int64_t lanes_full[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 32};
    static const int64_t lanes_quick[] = {1, 2, 3, 4, 8}, lanes_cpu[] = {1, 8};
    static const int64_t iterations_full[] = {1, 2, 8};
    static const int64_t iterations_quick[] = {1, 4, 16}, iterations_cpu[] = {1, 4};
    const values sizes =
        choose(g, VALUES(elements_full), VALUES(elements_quick), VALUES(elements_quick));
    const values groups = choose(g, VALUES(lanes_full), VALUES(lanes_quick), VALUES(lanes_cpu));
    const values turns =
        choose(g, VALUES(iterations_full), VALUES(iterations_quick), VALUES(iterations_cpu));
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, lanes, groups.at, groups.count)
            GPUMB_SWEEP_ARRAY(g, iterations, turns.at, turns.count) {
                int64_t subdomains = 128; /* as in the originals, where the block allows it */
                while (subdomains > 1 && lanes > 1024 / subdomains)
                    subdomains /= 2;
                measure_subdomains(g, in, out, elem, lanes, subdomains, iterations);
            }
    note_lanes(g);
}

/* ---- misaligned ------------------------------------------------------------------------------ */

static const char misaligned_bench[] = "offset/misaligned";
static const char *const places[] = {"read", "write", "both"};
enum { READ, WRITE, BOTH };
static const int64_t max_offset = 64; /* up to here without fewer elements */

/* Describes a copy with the input, the output or both moved by `offset` elements. */
static void describe_shifted(gpumb *g, gpumb_stride_check *check, gpumb_buffer *in,
                             gpumb_buffer *out, int64_t elem, int64_t place, int64_t offset)
{
    const int64_t all = (int64_t)gpumb_size(in) / elem;
    const int64_t room = offset < max_offset ? max_offset : offset;
    memset(check, 0, sizeof *check);
    check->in = in;
    check->out = out;
    check->elem = (int)elem;
    check->n = (uint64_t)(all - least(room, all));
    check->stride = 1;
    check->in_offset = place == WRITE ? 0 : (uint64_t)least(offset, all);
    check->out_offset = place == READ ? 0 : (uint64_t)least(offset, all);
    if (!check->n && all)
        gpumb_skip(g, "offset %lld: there are %lld elements", (long long)offset, (long long)all);
    describe_access(g, check, out, 2 * check->n * (uint64_t)elem);
}

static void copy_shifted(gpumb *g, const gpumb_stride_check *c)
{
    const uint64_t elem = (uint64_t)c->elem;
    gpumb_copy(g, GPUMB_FORM_NAIVE, c->elem, c->n, elem == 16 ? 128 : 256,
               GPUMB_PTR(const char, c->in) + c->in_offset * elem,
               GPUMB_PTR(char, c->out) + c->out_offset * elem);
}

static double aligned_rate(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int64_t elem)
{
    static double known[MAX_ELEMENT + 1];
    gpumb_stride_check check;
    gpumb_result r;
    if (elem <= MAX_ELEMENT && known[elem] > 0)
        return known[elem];
    describe_shifted(g, &check, in, out, elem, BOTH, 0);
    GPUMB_TIME(&r)
        copy_shifted(g, &check);
    if (r.status != GPUMB_STATUS_OK)
        return 0;
    if (elem <= MAX_ELEMENT)
        known[elem] = r.gbps;
    return r.gbps;
}

/* Reads and writes take turns at the same memory: their times add up. */
static double model_shifted(gpumb *g, const gpumb_stride_check *c)
{
    const access_unit unit = unit_of_access(g, c->elem);
    const double read =
        gpumb_coalesce_strided(c->elem, 1, c->in_offset, unit.warp, unit.sector, unit.line)
            .efficiency;
    const double write =
        gpumb_coalesce_strided(c->elem, 1, c->out_offset, unit.warp, unit.sector, unit.line)
            .efficiency;
    return read > 0 && write > 0 ? 2 / (1 / read + 1 / write) : 0;
}

/* What shifting costs at most, against offset 0 of the same element size and place. */
static void note_shifted(gpumb *g)
{
    for (int place = 0; place < 3; place++) {
        double worst = 1, expected = 0;
        int64_t elem = 0, offset = 0, compared = 0;
        for (size_t i = 0; i < gpumb_row_count(g); i++) {
            const rows some = having(rows_of(misaligned_bench, NULL), "where", place);
            const gpumb_result *r = row_in(g, some, i);
            const int64_t shift = gpumb_row_axis(g, i, "offset") * gpumb_row_axis(g, i, "elem");
            if (!r || shift % unit_of_access(g, 1).sector == 0)
                continue;
            const gpumb_result *aligned = first_row(
                g, having(having(some, "offset", 0), "elem", gpumb_row_axis(g, i, "elem")));
            if (!aligned)
                continue;
            compared++;
            if (r->gbps / aligned->gbps < worst) {
                worst = r->gbps / aligned->gbps;
                expected = r->expected_pct;
                elem = gpumb_row_axis(g, i, "elem");
                offset = gpumb_row_axis(g, i, "offset");
            }
        }
        if (!compared)
            continue;
        const char *who = place == READ    ? "Reading"
                          : place == WRITE ? "Writing"
                                           : "Reading and writing";
        if (worst > 0.98)
            gpumb_note(g, "%s off the sectors costs less than 2 %%.", who);
        else if (expected > 0)
            gpumb_note(g,
                       "%s off the sectors costs up to %.1f %% (%d B, offset %lld), where counting "
                       "each warp's sectors makes it %.1f %%%s.",
                       who, 100 - 100 * worst, (int)elem, (long long)offset, 100 - expected,
                       100 * worst > expected + 2 ? ": neighbours share those at their ends" : "");
        else
            gpumb_note(g, "%s off the lines costs up to %.1f %% (%d B, offset %lld).", who,
                       100 - 100 * worst, (int)elem, (long long)offset);
    }
}

static void offset_misaligned(gpumb *g)
{
    static const int64_t elements_full[] = {1, 4, 8, 16}, elements_quick[] = {4, 16};
    static const int64_t elements_cpu[] = {4};
    static const int64_t offsets_full[] = {0, 1, 2, 4, 7, 8, 16, 32, 64};
    static const int64_t offsets_quick[] = {0, 1, 4, 8, 32}, offsets_cpu[] = {0, 1, 16};
    const values sizes =
        choose(g, VALUES(elements_full), VALUES(elements_quick), VALUES(elements_cpu));
    const values shifts =
        choose(g, VALUES(offsets_full), VALUES(offsets_quick), VALUES(offsets_cpu));
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, where, places, 3)
            GPUMB_SWEEP_ARRAY(g, offset, shifts.at, shifts.count) {
                const double reference = has_model(g) ? aligned_rate(g, in, out, elem) : 0;
                gpumb_stride_check check;
                describe_shifted(g, &check, in, out, elem, where, offset);
                if (reference > 0)
                    gpumb_set_expected(g, reference, model_shifted(g, &check));
                GPUMB_MEASURE(g, "copy")
                    copy_shifted(g, &check);
            }
    note_shifted(g);
}

static const gpumb_benchmark benchmarks[] = {
    {l4_bench, "rate over sub-domains and iterations, 4 threads each", offset_subdomains_l4},
    {l8_bench, "rate over sub-domains and iterations, 8 threads each", offset_subdomains_l8},
    {lanes_bench, "rate over threads and iterations of a sub-domain", offset_lanes},
    {misaligned_bench, "rate over the shift of input and output", offset_misaligned},
};

GPUMB_MAIN(benchmarks)

/* What the hardware counts, beside what other programs here reason: sectors a request against the
 * model of coalescing, what the memory moves, hit rates over the working set, instructions of an
 * n-body interaction. Times are beside the point here. */
#define GPUMB_STRIDED
#define GPUMB_NBODY_FORMS(X)                                                                       \
    X(1, 1, LIBRARY)                                                                               \
    X(4, 16, LIBRARY)                                                                              \
    X(1, 1, APPROXIMATE)                                                                           \
    X(1, 16, APPROXIMATE)                                                                          \
    X(2, 16, APPROXIMATE)                                                                          \
    X(4, 16, APPROXIMATE)                                                                          \
    X(8, 16, APPROXIMATE)
#define GPUMB_COPY
#define GPUMB_IMPLEMENTATION /* of its own, for these forms */
#include "gpumb.h"

#include "access.h"
#include "read_again.h"

#include <math.h>

/* A row takes a third of a second, whatever it counts: quick ones are few. */
static values few_or_all(gpumb *g, values all, values few)
{
    return is_gpu(g) && !gpumb_get_settings(g)->full ? few : all;
}

/* ---- sectors of a request -------------------------------------------------------------------- */

static const char access_counters[] = "load_sectors_per_request,store_sectors_per_request,"
                                      "dram_read_bytes,dram_write_bytes";
static const char
    *const strided_bench = "counters/strided",
           *const offset_bench = "counters/offset", *const subdomains_bench = "counters/subdomains",
           *const nbody_bench = "counters/nbody", *const cache_bench = "counters/working_set",
           *const memory_bench = "counters/memory";

/* 20 times the L2 and more in both, so that the memory's share can be told. */
static uint64_t buffer_bytes(gpumb *g)
{
    return is_gpu(g) ? (uint64_t)1 << 30 : 1 << 22;
}

/* Of the distinct sectors of a sum over warps, those of one. */
static double per_request(gpumb_coalescing c, const access_unit *unit, int elem)
{
    return (double)c.sectors * unit->warp * elem / (double)c.bytes;
}

/* The next region copies check->n elements, and the model has these sectors for each request. */
static void describe(gpumb *g, gpumb_stride_check *check, gpumb_buffer *in, gpumb_buffer *out,
                     int elem, uint64_t n, double loads, double stores)
{
    check->in = in;
    check->out = out;
    check->elem = elem;
    check->n = n;
    describe_access(g, check, out, 2 * n * (uint64_t)elem * check->stride);
    gpumb_set_value(g, "load_model", loads);
    gpumb_set_value(g, "store_model", stores);
    gpumb_set_counters(g, access_counters);
}

/* How many of these rows have the sectors of the model, to a part in 10000. */
static void note_sectors(gpumb *g, const char *bench, const char *what)
{
    int compared = 0, equal = 0;
    double worst = 0;
    size_t worst_row = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        if (!row_in(g, noisy_too(rows_of(bench, NULL)), i))
            continue;
        const double load = gpumb_row_value(g, i, "load_sectors_per_request") /
                            gpumb_row_value(g, i, "load_model"),
                     store = gpumb_row_value(g, i, "store_sectors_per_request") /
                             gpumb_row_value(g, i, "store_model");
        const double off = fmax(fabs(load - 1), fabs(store - 1));
        if (!(off >= 0))
            continue;
        compared++;
        equal += off < 1e-4;
        if (off > worst) {
            worst = off;
            worst_row = i;
        }
    }
    if (!compared)
        return;
    sentence s = no_words();
    if (equal < compared)
        say(&s, "; farthest off: %.4g and %.4g, by the model %.4g and %.4g",
            gpumb_row_value(g, worst_row, "load_sectors_per_request"),
            gpumb_row_value(g, worst_row, "store_sectors_per_request"),
            gpumb_row_value(g, worst_row, "load_model"),
            gpumb_row_value(g, worst_row, "store_model"));
    gpumb_note(g, "%s: sectors a request as by the model in %d of %d rows%s.", what, equal,
               compared, s.text);
}

/* Where each thread has a sector of its own: how much is fetched for it. */
static void note_granule(gpumb *g)
{
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t elem = gpumb_row_axis(g, i, "elem"),
                      apart = elem * gpumb_row_axis(g, i, "stride");
        const gpumb_result *r = row_in(g, noisy_too(rows_of(strided_bench, NULL)), i);
        if (!r || elem != 8 || apart < 32)
            continue;
        const double written = gpumb_row_value(g, i, "dram_write_bytes") / (r->bytes / 16);
        const double read = gpumb_row_value(g, i, "dram_read_bytes") / (r->bytes / 16);
        if (!(read > 0))
            continue;
        say_next(&s, "; ");
        say(&s, "%lld B apart %.3g and %.3g", (long long)apart, read, written);
    }
    if (s.text[0])
        gpumb_note(
            g,
            "Bytes that the memory reads and writes for each 8-byte element, where each has a "
            "sector of its own: %s.",
            s.text);
}

static void counters_strided(gpumb *g)
{
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    static const int64_t elems[] = {1, 4, 8, 16}, few_elems[] = {4, 8};
    static const int64_t strides[] = {1, 2, 3, 4, 5, 7, 8, 16, 32, 64, 256},
                         few_strides[] = {1, 2, 8};
    const values sizes = few_or_all(g, VALUES(elems), VALUES(few_elems));
    const values steps = few_or_all(g, VALUES(strides), VALUES(few_strides));
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, stride, steps.at, steps.count) {
            const access_unit unit = unit_of_access(g, (int)elem);
            const double model =
                per_request(gpumb_coalesce_strided((int)elem, (uint64_t)stride, 0, unit.warp,
                                                   unit.sector, unit.line),
                            &unit, (int)elem);
            const uint64_t n = buffer_bytes(g) / (uint64_t)(elem * stride) / 256 * 256;
            gpumb_stride_check check;
            memset(&check, 0, sizeof check);
            check.stride = (uint64_t)stride;
            describe(g, &check, in, out, (int)elem, n, model, model);
            GPUMB_MEASURE(g, "strided")
                gpumb_strided(g, (int)elem, n, (uint64_t)stride, 256, gpumb_data(in),
                              gpumb_data(out));
        }
    note_sectors(g, strided_bench, "Strided copies");
    note_granule(g);
}

/* ---- misaligned ------------------------------------------------------------------------------ */

static const char *const places[] = {"read", "write", "both"};
enum { READ, WRITE, BOTH };

/* What the memory moves for the bytes that a shifted copy asks for. */
static void note_shifted(gpumb *g)
{
    double read[2] = {INFINITY, 0}, written[2] = {INFINITY, 0};
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, noisy_too(rows_of(offset_bench, NULL)), i);
        if (!r || !gpumb_row_axis(g, i, "offset"))
            continue;
        const double in = gpumb_row_value(g, i, "dram_read_bytes") / (r->bytes / 2);
        const double out = gpumb_row_value(g, i, "dram_write_bytes") / (r->bytes / 2);
        read[0] = in < read[0] ? in : read[0];
        read[1] = in > read[1] ? in : read[1];
        written[0] = out < written[0] ? out : written[0];
        written[1] = out > written[1] ? out : written[1];
    }
    if (read[1] > 0)
        gpumb_note(
            g,
            "Misaligned copies: the memory reads %.3f ... %.3f and writes %.3f ... %.3f times "
            "the bytes copied: %s.",
            read[0], read[1], written[0], written[1],
            read[1] < 1.1 && written[1] < 1.1
                ? "sectors at the ends, which two warps ask for, come from a cache"
                : "some sectors at the ends of warps' pieces are moved twice");
}

static void counters_offset(gpumb *g)
{
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    static const int64_t elems[] = {1, 4, 16}, few_elems[] = {4};
    static const int64_t offsets[] = {0, 1, 2, 4, 8, 32}, few_offsets[] = {0, 1};
    const values sizes = few_or_all(g, VALUES(elems), VALUES(few_elems));
    const values shifts = few_or_all(g, VALUES(offsets), VALUES(few_offsets));
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, where, places, 3)
            GPUMB_SWEEP_ARRAY(g, offset, shifts.at, shifts.count) {
                const uint64_t n = buffer_bytes(g) / (uint64_t)elem - 4096;
                const access_unit unit = unit_of_access(g, (int)elem);
                double model[2];
                gpumb_stride_check check;
                memset(&check, 0, sizeof check);
                check.stride = 1;
                check.in_offset = where == WRITE ? 0 : (uint64_t)offset;
                check.out_offset = where == READ ? 0 : (uint64_t)offset;
                for (int i = 0; i < 2; i++)
                    model[i] = per_request(
                        gpumb_coalesce_strided((int)elem, 1, i ? check.out_offset : check.in_offset,
                                               unit.warp, unit.sector, unit.line),
                        &unit, (int)elem);
                describe(g, &check, in, out, (int)elem, n, model[0], model[1]);
                GPUMB_MEASURE(g, "copy")
                    gpumb_copy(g, GPUMB_FORM_NAIVE, (int)elem, n, 256,
                               GPUMB_PTR(const char, in) + check.in_offset * (uint64_t)elem,
                               GPUMB_PTR(char, out) + check.out_offset * (uint64_t)elem);
            }
    note_sectors(g, offset_bench, "Misaligned copies");
    note_shifted(g);
}

static void counters_subdomains(gpumb *g)
{
    gpumb_buffer *in = gpumb_alloc(g, buffer_bytes(g)), *out = gpumb_alloc(g, buffer_bytes(g));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    static const int64_t elems[] = {4, 16}, few_elems[] = {16};
    static const int64_t widths[] = {1, 2, 3, 4, 8, 32}, few_widths[] = {1, 4, 8};
    const values sizes = few_or_all(g, VALUES(elems), VALUES(few_elems));
    const values counts = few_or_all(g, VALUES(widths), VALUES(few_widths));
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, lanes, counts.at, counts.count)
            GPUMB_SWEEP_LIST(g, iterations, 1, 4) {
                const access_unit unit = unit_of_access(g, (int)elem);
                const int block = (int)lanes * unit.warp; /* whole warps */
                const uint64_t each = (uint64_t)(block * iterations);
                const uint64_t blocks = buffer_bytes(g) / (uint64_t)elem / each;
                const double model = per_request(
                    gpumb_coalesce_subdomains((int)elem, block, (int)lanes, (int)iterations,
                                              unit.warp, unit.sector, unit.line),
                    &unit, (int)elem);
                gpumb_stride_check check;
                memset(&check, 0, sizeof check);
                check.stride = 1;
                describe(g, &check, in, out, (int)elem, blocks * each, model, model);
                GPUMB_MEASURE(g, "subdomains")
                    gpumb_subdomains(g, (int)elem, (int)lanes, (int)iterations, blocks, block,
                                     gpumb_data(in), gpumb_data(out));
            }
    note_sectors(g, subdomains_bench, "Sub-domains");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const char *const modes[] = {"readwrite", "write", "read"}; /* in gpumb_mode's order */

static void counters_memory(gpumb *g)
{
    const uint64_t bytes = is_gpu(g) ? (uint64_t)2 << 30 : buffer_bytes(g);
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    static const int64_t elems[] = {4, 16}, few_elems[] = {16};
    const values sizes = few_or_all(g, VALUES(elems), VALUES(few_elems));
    GPUMB_SWEEP_STRINGS(g, mode, modes, 3)
        GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count) {
            const unsigned ways = mode == GPUMB_READ_WRITE ? 2 : 1;
            gpumb_copy_check check = {in, out, bytes, (gpumb_mode)mode};
            gpumb_set_bytes(g, ways * (double)bytes);
            gpumb_set_footprint(g, ways * bytes);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            gpumb_set_counters(g, "dram_read_bytes,dram_write_bytes,l2_read_bytes,l2_write_bytes");
            GPUMB_MEASURE(g, "zcopy")
                gpumb_zcopy(g, GPUMB_FORM_NAIVE, (gpumb_mode)mode, (int)elem,
                            bytes / (uint64_t)elem, bytes / (uint64_t)elem / 256 + 1, 256,
                            gpumb_data(in), gpumb_data(out));
        }
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        if (!row_in(g, noisy_too(rows_of(memory_bench, NULL)), i) ||
            !(gpumb_row_value(g, i, "dram_read_bytes") >= 0))
            continue;
        say_next(&s, ", ");
        say(&s, "%s by %lld B %.3f and %.3f", modes[gpumb_row_axis(g, i, "mode")],
            (long long)gpumb_row_axis(g, i, "elem"),
            gpumb_row_value(g, i, "dram_read_bytes") / (double)bytes,
            gpumb_row_value(g, i, "dram_write_bytes") / (double)bytes);
    }
    if (s.text[0])
        gpumb_note(g, "What the memory reads and writes, in sizes of a buffer: %s.", s.text);
}

/* ---- hit rates ------------------------------------------------------------------------------- */

/* The largest working set that a cache serves at least `share` of, and the first that it does
 * not. */
static void say_hits(gpumb *g, sentence *s, const char *kernel, const char *rate, double share)
{
    int64_t last = -1, first = -1;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t set = gpumb_row_axis(g, i, "footprint");
        const double hits = gpumb_row_value(g, i, rate);
        if (!row_in(g, noisy_too(rows_of(cache_bench, kernel)), i) || !(hits >= 0))
            continue;
        last = hits >= share && set > last ? set : last;
        first = hits < share && (first < 0 || set < first) ? set : first;
    }
    if (last < 0)
        return;
    say_next(s, "; ");
    say(s, "%s at least %.0f %% up to ", rate, 100 * share);
    say_bytes(s, last);
    if (first >= 0) {
        say(s, ", less from ");
        say_bytes(s, first);
        say(s, " on");
    }
}

static void counters_working_set(gpumb *g)
{
    const int gpu = is_gpu(g);
    const int64_t most = gpu ? (int64_t)1 << 28 : 1 << 16;
    gpumb_buffer *in = gpumb_alloc(g, (uint64_t)most), *sums = gpumb_alloc(g, 4096);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_FACTOR(g, footprint, 1 << 14, most, gpu && !gpumb_get_settings(g)->full ? 16 : 2) {
        read_check read = plan_reads(g, sums, (uint64_t)footprint / 16, gpu ? 1 << 26 : 1 << 16);
        for (int past_l1 = 0; past_l1 < (gpu ? 2 : 1); past_l1++) {
            describe_reads(g, &read);
            gpumb_set_counters(g, "l1_hit_rate,l2_hit_rate,l2_read_bytes,dram_read_bytes,"
                                  "lts__t_sectors_srcunit_tex_lookup_hit.sum");
            GPUMB_MEASURE(g, past_l1 ? "read again, past L1" : "read again")
                launch_reads(&read, in, past_l1);
        }
    }
    sentence s = no_words();
    say_hits(g, &s, "read again", "l1_hit_rate", 0.9);
    say_hits(g, &s, "read again, past L1", "l2_hit_rate", 0.9);
    say_hits(g, &s, "read again, past L1", "l2_hit_rate", 0.5);
    if (s.text[0])
        gpumb_note(g, "Hits over the working set: %s.", s.text);
}

/* ---- n-body ---------------------------------------------------------------------------------- */

static const char *const roots[] = {"library", "approximate", "integer"}; /* as gpumb_rsqrt */

static void counters_nbody(gpumb *g)
{
    gpumb_nbody forms[16];
    const int all = gpumb_nbody_forms(forms, 16);
    char names[16][32];
    const char *name[16];
    for (int i = 0; i < all; i++) {
        snprintf(names[i], sizeof names[i], "%d x %d %s", forms[i].bodies, forms[i].unroll,
                 roots[forms[i].rsqrt]);
        name[i] = names[i];
    }
    const uint64_t n = is_gpu(g) ? 4096 * (uint64_t)gpumb_get_device(g)->multiprocessors / 4 : 2048;
    GPUMB_SWEEP_STRINGS(g, form, name, (size_t)all) {
        gpumb_nbody_check check;
        memset(&check, 0, sizeof check);
        gpumb_buffer *positions = gpumb_alloc(g, 16 * n), *accelerations = gpumb_alloc(g, 16 * n);
        gpumb_buffer *workspace = gpumb_nbody_workspace(g, &forms[form], n);
        gpumb_fill(g, positions, GPUMB_FILL_F32, gpumb_get_settings(g)->seed);
        check.how = &forms[form];
        check.positions = positions;
        check.accelerations = accelerations;
        check.n = n;
        check.samples = 8;
        gpumb_set_flop(g, 20.0 * (double)n * (double)n);
        gpumb_set_output(g, accelerations);
        gpumb_set_verify(g, gpumb_check_nbody, &check);
        gpumb_set_counters(g, "instructions,fp32_ops,shared_bank_conflicts,achieved_occupancy");
        GPUMB_MEASURE(g, "accelerations")
            gpumb_nbody_accelerations(g, &forms[form], n, gpumb_data(positions),
                                      gpumb_data(accelerations), workspace);
    }
    const double pairs = (double)n * (double)n;
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t form = gpumb_row_axis(g, i, "form");
        const double lanes = gpumb_row_value(g, i, "instructions") * 32;
        if (!row_in(g, noisy_too(rows_of(nbody_bench, NULL)), i) || !(lanes > 0) || form < 0)
            continue;
        const double model =
            13 + (forms[form].rsqrt == GPUMB_RSQRT_LIBRARY ? 3 : 0) + 1.0 / forms[form].bodies;
        say_next(&s, ", ");
        say(&s, "%s %.3f (%.3f)", name[form], lanes / pairs, model);
    }
    if (s.text[0])
        gpumb_note(g,
                   "Instructions of a lane for an interaction, and in brackets without the loop's "
                   "own: %s.",
                   s.text);
}

static const gpumb_benchmark benchmarks[] = {
    {strided_bench, "sectors a request of strided copies, against the model", counters_strided},
    {offset_bench, "the same of misaligned copies, and what the memory moves", counters_offset},
    {subdomains_bench, "the same of copies in sub-domains", counters_subdomains},
    {memory_bench, "what the memory moves, reading and writing", counters_memory},
    {cache_bench, "hit rates over the working set", counters_working_set},
    {nbody_bench, "instructions of an n-body interaction", counters_nbody},
};

GPUMB_MAIN(benchmarks)

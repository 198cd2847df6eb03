/* Copies from one device of a host to another, between all pairs, one way, both ways and all at
 * once: by the copy engine and by kernels that write or read the other's memory, with and without
 * peer access; the kernels' forms and the multiprocessors they need. */
#include "gpumb.h"

#include "fit.h"
#include "peer_copies.h"

/* "395.2 GB/s, 82.6 % of the link's 478.1 GB/s (18 links)" */
static void say_rate(gpumb *g, sentence *s, size_t row)
{
    const gpumb_result *r = gpumb_row(g, row);
    const double share = gpumb_row_value(g, row, "link_share_pct");
    say(s, "%.4g GB/s", r->gbps);
    if (share > 0)
        say(s, ", %.1f %% of the link's rate", share);
}

/* ---- peers/matrix ---------------------------------------------------------------------------- */

static const char matrix_bench[] = "peers/matrix";
enum { ONE_WAY, BOTH_WAYS, ALL_PAIRS };
static const char *const at_once_names[] = {"one way", "both ways", "all pairs"};

static void note_matrices(gpumb *g)
{
    const link_rate link = link_between(0, 1);
    if (link.bytes_per_s > 0)
        gpumb_note(g, "The driver says: %d links from device 0 %s, %.4g GB/s each way.", link.links,
                   link.shared ? "to a switch" : "to device 1", link.bytes_per_s / 1e9);
    for (int64_t at_once = 0; at_once < 3; at_once++)
        for (int64_t way = 0; way < WAYS; way++) {
            const rows some = having(
                having(noisy_too(rows_of(matrix_bench, NULL)), "at_once", at_once), "way", way);
            sentence s = no_words();
            say(&s, "%s, %s", ways[way], at_once_names[at_once]);
            note_matrix(g, some, s.text, "GB/s", gbps_of, 1);
        }
}

/* The diagonal is a copy on one device. */
static void matrix(gpumb *g)
{
    const int64_t most = is_gpu(g) ? 256 * MiB : MiB;
    const int n = device_count();
    GPUMB_SWEEP_STRINGS(g, at_once, at_once_names, n > 2 ? 3 : 2)
        GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
            GPUMB_SWEEP_RANGE(g, from, 0, n - 1, 1)
                GPUMB_SWEEP_RANGE(g, to, 0, n - 1, 1) {
                    job j = new_job(g, (int)way, most);
                    if (at_once != ONE_WAY && (from >= to || (at_once == ALL_PAIRS && to > 1)))
                        continue; /* the same as that from there to here; one row for all */
                    if (at_once == ALL_PAIRS) {
                        for (int a = 0; a < n; a++)
                            for (int b = 0; b < n; b++)
                                if (a != b)
                                    add_flow(&j, a, b);
                    } else {
                        add_flow(&j, from, to);
                        if (at_once == BOTH_WAYS)
                            add_flow(&j, to, from);
                    }
                    measure_flows(g, ways[way], &j);
                }
    note_matrices(g);
}

/* ---- peers/size ------------------------------------------------------------------------------ */

static const char size_bench[] = "peers/size";
static const char *const access_names[] = {"peer", "none"};

static void note_sizes(gpumb *g)
{
    enum { MOST = 100 };
    for (int64_t access = 0; access < 2; access++)
        for (int64_t way = 0; way < WAYS; way++) {
            const rows some =
                having(having(rows_of(size_bench, NULL), "access", access), "way", way);
            const extremes e = extremes_of(g, some, gbps_of), t = extremes_of(g, some, time_of);
            double size[MOST], time[MOST];
            size_t count = 0;
            sentence s = no_words();
            if (!e.high || e.count < 2)
                continue;
            for (size_t i = 0; i < gpumb_row_count(g) && count < MOST; i++) {
                const gpumb_result *r = row_in(g, some, i);
                if (r) {
                    size[count] = r->bytes;
                    time[count++] = r->time.median;
                }
            }
            const line_fit f = fit_line(size, time, count);
            say_bytes(&s, gpumb_row_axis(g, t.low_row, "size"));
            say(&s, " take ");
            say_time(&s, t.low->time.median);
            say(&s, "; ");
            say_bytes(&s, gpumb_row_axis(g, e.high_row, "size"));
            say(&s, " move at ");
            say_rate(g, &s, e.high_row);
            if (f.count)
                say(&s, "; half the rate at %.4g KiB (%.4g ... %.4g)", f.half.value / 1024,
                    f.half.lo / 1024, f.half.hi / 1024);
            gpumb_note(g, "%s, %s: %s.", ways[way],
                       access ? "without peer access" : "with peer access", s.text);
        }
}

static void sizes(gpumb *g)
{
    static const int64_t full[] = {4,       64,      1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18,
                                   1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    static const int64_t quick[] = {4, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28};
    static const int64_t cpu[] = {4, 1 << 12, 1 << 16};
    const values all = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_STRINGS(g, access, access_names, 2)
        GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
            GPUMB_SWEEP_ARRAY(g, size, all.at, all.count) {
                job j = new_job(g, (int)way, size);
                if (access && by_kernel(&j))
                    continue; /* can't do without it */
                const uint64_t enough = j.bytes / (16 * 8 * COPY_BLOCK) + 1;
                if (enough < j.blocks)
                    j.blocks = enough;
                j.staged = (int)access;
                add_flow(&j, 0, 1);
                measure_flows(g, ways[way], &j);
            }
    note_sizes(g);
}

/* ---- peers/form ------------------------------------------------------------------------------ */

static const char form_bench[] = "peers/form";
enum { ENGINE = FORMS }; /* after the kernels' */

/* The fewest blocks with which a form is within 5 % of its best. */
static int64_t fewest_blocks(gpumb *g, rows some, const gpumb_result *best)
{
    for (int64_t b = next_value(g, some, "blocks", 0); b > 0;
         b = next_value(g, some, "blocks", b)) {
        const gpumb_result *r = first_row(g, having(some, "blocks", b));
        if (r && r->gbps >= 0.95 * best->gbps)
            return b;
    }
    return 0;
}

static void note_forms(gpumb *g)
{
    for (int64_t way = 0; way < 2; way++) {
        const rows own = having(noisy_too(rows_of(form_bench, NULL)), "way", way);
        const gpumb_result *engine = first_row(g, having(own, "form", ENGINE));
        for (int64_t form = 0; form < ENGINE; form++) {
            const rows some = having(own, "form", form);
            const extremes e = extremes_of(g, some, gbps_of);
            sentence s = no_words();
            if (!e.high)
                continue;
            say_rate(g, &s, e.high_row);
            if (engine)
                say(&s, ", %.3f of the copy engine's", e.high->gbps / engine->gbps);
            const int64_t fewest = fewest_blocks(g, some, e.high);
            if (fewest && e.count > 1)
                say(&s, "; within 5 %% of it from %lld blocks on", (long long)fewest);
            gpumb_note(g, "%s, %s: %s.", ways[WRITTEN + way], form_names[form], s.text);
        }
    }
}

static void forms(gpumb *g)
{
    static const int64_t full[] = {0, 1, 2, 4, 8, 16, 24, 33, 44, 66, 88, 132, 264, 1056};
    static const int64_t quick[] = {0, 1, 16, 66, 132}, cpu[] = {0, 1, 3};
    const values counts = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const char *names[FORMS + 1];
    for (int i = 0; i < FORMS; i++)
        names[i] = form_names[i];
    names[ENGINE] = "copy engine";
    GPUMB_SWEEP_STRINGS(g, way, ways + WRITTEN, 2)
        GPUMB_SWEEP_STRINGS(g, form, names, COUNT(names))
            GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count) {
                const int chooses = form < WORDS_1 || form == ENGINE;
                job j = new_job(g, (int)way + (form == ENGINE ? PUSHED : WRITTEN),
                                is_gpu(g) ? 256 * MiB : MiB);
                if (chooses != !blocks)
                    continue; /* 0: as many as it takes */
                j.form = (int)form;
                j.blocks = (uint64_t)blocks;
                add_flow(&j, 0, 1);
                measure_flows(g, ways[j.way], &j);
            }
    note_forms(g);
}

/* ---- main ------------------------------------------------------------------------------------ */

static void matrix_bench_run(gpumb *g)
{
    with_access(g, matrix);
}

static void size_bench_run(gpumb *g)
{
    with_access(g, sizes);
}

static void form_bench_run(gpumb *g)
{
    with_access(g, forms);
}

static const gpumb_benchmark benchmarks[] = {
    {matrix_bench, "rate between all pairs, one way, both ways, all at once", matrix_bench_run},
    {size_bench, "rate and time over the size, with and without peer access", size_bench_run},
    {form_bench, "forms of a kernel that writes or reads, over its blocks", form_bench_run},
};

int main(int argc, char **argv)
{
    return main_for_devices(argc, argv, "peers", benchmarks, COUNT(benchmarks));
}

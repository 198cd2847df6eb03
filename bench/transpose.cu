/* The transpose of a matrix of 32-bit words, over its side, against a copy. */
#include "gpumb.h"

#include "bench.h"
#include "transpose.h"

static const char bench_name[] = "transpose/side";

static void describe(gpumb *g, const transposition *j)
{
    gpumb_set_bytes(g, 8.0 * j->rows * j->columns);
    gpumb_set_elements(g, (double)j->rows * j->columns);
    gpumb_set_footprint(g, 8 * (uint64_t)j->rows * j->columns);
    gpumb_set_output(g, j->out);
}

/* The model of a transpose that banks and lines don't hold up is a copy. */
static void note_side(gpumb *g)
{
    const rows all = rows_of(bench_name, NULL);
    sentence t = no_words();
    for (int64_t n = next_value(g, all, "side", 0); n > 0; n = next_value(g, all, "side", n)) {
        double ratio;
        const gpumb_result *r = row_against(g, having(all, "side", n), "transpose", "copy", &ratio);
        if (!r)
            continue;
        say_next(&t, ", ");
        say(&t, "%.3g at %lld (%.0f GB/s)", ratio, (long long)n, r->gbps);
    }
    if (t.text[0])
        gpumb_note(g, "Rate of the transpose over that of a copy: %s.", t.text);
}

static void transpose_side(gpumb *g)
{
    static const int64_t full[] = {1024, 2048, 4096, 8191, 8192, 8196, 16384, 32768};
    static const int64_t quick[] = {8192}, cpu[] = {100, 256};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, side, sides.at, sides.count) {
        transposition j = new_transposition(g, (unsigned)side, (unsigned)side);
        gpumb_copy_check check = {j.in, j.out, gpumb_size(j.in), GPUMB_READ_WRITE};
        GPUMB_INTERLEAVE(g) {
            describe(g, &j);
            gpumb_set_verify(g, check_transpose, &j);
            GPUMB_MEASURE(g, "transpose")
                launch_transpose(&j);
            describe(g, &j);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "copy")
                gpumb_copy(g, GPUMB_FORM_FASTEST, 4, (uint64_t)side * (uint64_t)side, 0,
                           gpumb_data(j.in), gpumb_data(j.out));
        }
    }
    note_side(g);
}

static const gpumb_benchmark benchmarks[] = {
    {bench_name, "time and rate over the side, against a copy", transpose_side},
};

GPUMB_MAIN(benchmarks)

/* A histogram of bytes in 256 bins, over n and for different data, against reading alone. */
#include "gpumb.h"

#include "bench.h"
#include "histogram.h"

static const char bench_name[] = "histogram/data";

static void describe(gpumb *g, counting *j)
{
    make_anew_if_strict(g, make_input, j);
    gpumb_set_bytes(g, (double)j->n);
    gpumb_set_elements(g, (double)j->n);
    gpumb_set_footprint(g, j->n);
}

static void note_data(gpumb *g, int64_t n)
{
    const rows all = having(rows_of(bench_name, NULL), "n", n);
    sentence t = no_words(), size = no_words();
    for (int data = 0; data < DATA; data++) {
        double ratio;
        const gpumb_result *r =
            row_against(g, having(all, "data", data), "histogram", "read", &ratio);
        if (!r)
            continue;
        say_next(&t, ", ");
        say(&t, "%s %.3g (%.0f GB/s)", data_names[data], ratio, r->gbps);
    }
    say_bytes(&size, n);
    if (t.text[0])
        gpumb_note(g, "%s, rate of the histogram over that of reading alone: %s.", size.text,
                   t.text);
}

static void histogram_data(gpumb *g)
{
    static const int64_t full[] = {1 << 20, 1 << 24, 1 << 28, 1 << 30, (int64_t)1 << 32};
    static const int64_t quick[] = {1 << 30}, cpu[] = {1 << 16};
    const values sizes =
        choose(g, values_of(full, is_gpu(g) ? COUNT(full) : 2), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, data, data_names, DATA) {
            counting j = new_counting(g, (uint64_t)n, (int)data);
            gpumb_buffer *found = gpumb_alloc(g, 4096);
            gpumb_copy_check check = {j.in, found, (uint64_t)n / 16 * 16, GPUMB_READ};
            GPUMB_INTERLEAVE(g) {
                describe(g, &j);
                gpumb_set_output(g, j.out);
                gpumb_set_verify(g, check_histogram, &j);
                GPUMB_MEASURE(g, "histogram")
                    launch_histogram(g, &j);
                describe(g, &j);
                gpumb_set_output(g, found);
                gpumb_set_verify(g, gpumb_check_copy, &check);
                GPUMB_MEASURE(g, "read")
                    gpumb_zcopy(g, GPUMB_FORM_FASTEST, GPUMB_READ, 16, (uint64_t)n / 16, 0, 0,
                                gpumb_data(j.in), gpumb_data(found));
            }
        }
    const rows all = rows_of(bench_name, NULL);
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n))
        note_data(g, n);
}

static const gpumb_benchmark benchmarks[] = {
    {bench_name, "time and rate over n and for different data, against reading alone",
     histogram_data},
};

GPUMB_MAIN(benchmarks)

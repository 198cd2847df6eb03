/* Conjugate gradients on the 5-point operator: what it costs to read two scalars back in each
 * iteration, and what a graph saves. */
#include "gpumb.h"

#include "conjugate_gradients.h"

static const char gradients_bench[] = "stencil/cg";

static void stencil_cg(gpumb *g)
{
    static const char *const ways[] = {"on the device", "read back", "in a graph"};
    static const gpumb_timing timings[] = {GPUMB_TIMING_HOST, GPUMB_TIMING_HOST,
                                           GPUMB_TIMING_GRAPH};
    static const int64_t full[] = {64, 256, 1024, 4096}, quick[] = {64, 1024}, cpu[] = {64};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sides.at, sides.count)
        GPUMB_SWEEP_STRINGS(g, scalars, ways, is_gpu(g) ? 3 : 2) {
            gradients d = new_gradients(g, n, is_gpu(g) ? 50 : 10, 0);
            describe_gradients(g, &d);
            gpumb_set_timing(g, timings[scalars]);
            GPUMB_MEASURE(g, "conjugate gradients")
                iterate(g, &d, scalars == 1);
        }
    const rows all = rows_of(gradients_bench, NULL);
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n)) {
        const gpumb_result *r[3];
        const double its = is_gpu(g) ? 50 : 10;
        for (int k = 0; k < 3; k++)
            r[k] = first_row(g, having(having(all, "n", n), "scalars", k));
        if (!r[0] || !r[1])
            continue;
        sentence s = no_words();
        say_time(&s, r[0]->time.median / its);
        say(&s, " with the scalars on the device, ");
        say_time(&s, r[1]->time.median / its);
        say(&s, " with two read back");
        if (r[2]) {
            say(&s, ", ");
            say_time(&s, r[2]->time.median / its);
            say(&s, " in a graph");
        }
        if (is_gpu(g) && is_faster(r[0], r[1])) {
            say(&s, "; a read-back costs ");
            say_time(&s, (r[1]->time.median - r[0]->time.median) / its / 2);
        }
        gpumb_note(g, "An iteration of conjugate gradients, n = %lld: %s.", (long long)n, s.text);
    }
}

static const gpumb_benchmark benchmarks[] = {
    {gradients_bench, "conjugate gradients, where their scalars are", stencil_cg},
};

GPUMB_MAIN(benchmarks)

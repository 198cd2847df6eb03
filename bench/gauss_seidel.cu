/* Red-black Gauss-Seidel with variable coefficients, the two colours mixed in memory or apart. */
#include "gpumb.h"

#include "gauss_seidel.h"

static const char relaxation_bench[] = "stencil/gauss_seidel";
static const char *const colours[] = {"colours mixed", "colours apart"};

/* Each point: four coefficients, f and the other colour read, the result written; four
 * multiply-adds. */
static void stencil_gauss_seidel(gpumb *g)
{
    static const int64_t full[] = {64, 1024, 4096, 8192}, quick[] = {4096}, cpu[] = {128};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sides.at, sides.count)
        GPUMB_SWEEP_STRINGS(g, layout, colours, 2) {
            relaxation d = new_relaxation(g, n, (int)layout, 0);
            const double points = (double)n * (double)n;
            gpumb_set_bytes(g, 56 * points);
            gpumb_set_flop(g, 8 * points);
            gpumb_set_elements(g, points);
            gpumb_set_footprint(g, (uint64_t)(56 * points));
            set_relaxed_outputs(g, &d);
            gpumb_set_reset(g, restart, &d);
            gpumb_set_verify(g, check_relaxation, &d);
            GPUMB_MEASURE(g, "red-black")
                sweep_colours(g, &d);
        }
    const rows all = rows_of(relaxation_bench, NULL);
    const int64_t n = last_value(g, all, "n");
    const gpumb_result *mixed = first_row(g, having(having(all, "n", n), "layout", 0)),
                       *apart = first_row(g, having(having(all, "n", n), "layout", 1));
    if (mixed && apart)
        gpumb_note(
            g,
            "A red-black sweep at n = %lld with the colours apart takes %.2f of the time with "
            "them mixed: %.0f instead of %.0f GB/s of 56 bytes a point, %.4g sweeps a second.",
            (long long)n, apart->time.median / mixed->time.median, apart->gbps, mixed->gbps,
            1 / apart->time.median);
}

static const gpumb_benchmark benchmarks[] = {
    {relaxation_bench, "red-black Gauss-Seidel, variable coefficients", stencil_gauss_seidel},
};

GPUMB_MAIN(benchmarks)

/* A product of square matrices in eight steps, from the definition to tensor cores; the last ones
 * over n, against the vendor's library; and over how tiles are shared out. */
#include "gpumb.h"

#include "bench.h"
#include "matmul.h"
#include "rates.h"

#include "blas.h"

enum { F32, BF16, TYPES };
static const char *const types[] = {"f32", "bf16"};
static const int last_step[] = {AHEAD, STAGED};
static const char *const library_names[] = {"library f32", "library bf16"};

static double tflops(const gpumb_result *r)
{
    return r->gflops / 1e3;
}

/* ---- a region -------------------------------------------------------------------------------- */

/* Intensities: of what memory has to move at least, of what blocks ask the L2 for, each what it
 * needs, and of what warps ask the L1 or shared memory for. */
static void describe(gpumb *g, product *p)
{
    const double m = p->m, n = p->n, k = p->k, flop = 2 * m * n * k, each = is_bf16(p) ? 2 : 4;
    gpumb_set_flop(g, flop);
    if (is_bf16(p))
        gpumb_set_peak_flop(g, unit_peak(g, TENSOR_BF16));
    gpumb_set_footprint(g, (uint64_t)(each * (m + n) * k + 4 * m * n));
    gpumb_set_value(g, "flop_per_memory_byte", flop / (each * (m + n) * k + 4 * m * n));
    gpumb_set_output(g, p->c);
    make_anew_if_strict(g, make_inputs, p);
}

static void measure_product(gpumb *g, product *p)
{
    const plan_shape tile = shape_of_step(p);
    const char *trouble = p->step >= AHEAD ? lacks_tensor(g) : NULL;
    const double clocks = clocks_of_loads(p);
    describe(g, p);
    gpumb_set_value(g, "flop_per_l2_byte",
                    2.0 * tile.rows * tile.columns / (tile.rows + tile.columns) /
                        (is_bf16(p) ? 2 : 4));
    gpumb_set_value(g, "flop_per_l1_byte", 64 / clocks / 128);
    if (!strcmp(gpumb_get_device(g)->backend, "cuda") && !is_bf16(p))
        gpumb_set_expected(g, gpumb_get_device(g)->peak_flop_per_s / 1e9,
                           clocks > 0.25 ? 0.25 / clocks : 1);
    gpumb_set_verify(g, check_product, p);
    if (trouble)
        gpumb_skip(g, "%s", trouble);
    GPUMB_MEASURE(g, step_names[p->step])
        launch_product(p);
}

/* On other backends there are no such rows, but those of another build that are replayed. */
static void measure_library(gpumb *g, product *p)
{
    const char *name = library_names[is_bf16(p)];
#if defined(GPUMB_BACKEND_CUDA)
    static blas library;
    if (gpumb_data(p->c) && !library.handle && !library.why_not[0])
        library = open_blas();
    if (library.why_not[0])
        gpumb_skip(g, "%s", library.why_not);
    describe(g, p);
    gpumb_set_verify(g, check_product, p);
    gpumb_set_capturable(g, 1);
    GPUMB_MEASURE(g, name) {
        const int error =
            blas_product(&library, gpumb_stream(g), is_bf16(p), (int)p->m, (int)p->n, (int)p->k,
                         gpumb_data(p->a), (int)width_of(p, p->k), gpumb_data(p->b),
                         (int)width_of(p, p->n), GPUMB_PTR(float, p->c));
        if (error)
            gpumb_skip(g, "cuBLAS: error %d", error);
    }
#else
    if (gpumb_get_settings(g)->replay && is_gpu(g))
        GPUMB_MEASURE(g, name) {
        }
#endif
}

/* ---- eight steps ----------------------------------------------------------------------------- */

static const char steps_bench[] = "matmul/steps";

static void note_steps(gpumb *g, int64_t n)
{
    const rows all = having(rows_of(steps_bench, NULL), "n", n);
    sentence t = no_words();
    for (int step = 0; step < STEPS; step++) {
        rows one = all;
        one.kernel = step_names[step];
        const gpumb_result *r = first_row(g, one);
        double share;
        if (!r)
            continue;
        say_next(&t, ", ");
        say(&t, "%s %.3g", step_names[step], tflops(r));
        if (row_against(g, all, step_names[step], library_names[step >= TENSOR], &share))
            say(&t, " (%.3g %%)", 100 * share);
    }
    if (t.text[0])
        gpumb_note(g, "TFLOP/s at n = %lld, and the share of the library's: %s.", (long long)n,
                   t.text);
}

static void matmul_steps(gpumb *g)
{
    static const int64_t full[] = {1024, 2048, 4096}, quick[] = {2048}, cpu[] = {128};
    const values sizes = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count) {
        const unsigned side = (unsigned)n;
        product p[TYPES] = {new_product(g, NAIVE, 0, side, side, side),
                            new_product(g, TENSOR, 0, side, side, side)};
        for (int step = 0; step < STEPS; step++) {
            product *one = &p[step >= TENSOR];
            one->step = step;
            measure_product(g, one);
            if (step == last_step[step >= TENSOR])
                measure_library(g, one);
        }
    }
    const rows all = rows_of(steps_bench, NULL);
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n))
        note_steps(g, n);
}

/* ---- n --------------------------------------------------------------------------------------- */

static const char size_bench[] = "matmul/size";

static void matmul_size(gpumb *g)
{
    static const int64_t full[] = {256, 1000, 1024, 2048, 4095, 8192};
    static const int64_t quick[] = {1000, 4096}, cpu[] = {100};
    const values sizes =
        choose(g, values_of(full, is_gpu(g) ? COUNT(full) : 1), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_STRINGS(g, type, types, TYPES)
        GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count) {
            const unsigned side = (unsigned)n;
            product p = new_product(g, last_step[type], 0, side, side, side);
            p.plan = fitting_plan(g, &p);
            GPUMB_INTERLEAVE(g) {
                measure_product(g, &p);
                measure_library(g, &p);
            }
        }
    for (int type = 0; type < TYPES; type++) {
        const rows all = having(rows_of(size_bench, NULL), "type", type);
        sentence t = no_words();
        for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n)) {
            rows own = having(all, "n", n);
            own.kernel = step_names[last_step[type]];
            const gpumb_result *r = first_row(g, own);
            double share;
            if (!r)
                continue;
            say_next(&t, ", ");
            say(&t, "%.3g at %lld", tflops(r), (long long)n);
            if (row_against(g, own, own.kernel, library_names[type], &share))
                say(&t, " (%.3g %%)", 100 * share);
        }
        if (t.text[0])
            gpumb_note(g, "%s, TFLOP/s, and the share of the library's: %s.", types[type], t.text);
    }
}

/* ---- plans ----------------------------------------------------------------------------------- */

enum { MOST_PLANS = 32 };
static const char *const plan_benches[] = {"matmul/ahead", "matmul/staged"};
static char plan_names[TYPES][MOST_PLANS][64];

static const char *const *names_of_plans(int type, const plan_shape *plans, size_t count)
{
    static const char *names[TYPES][MOST_PLANS];
    for (size_t i = 0; i < count && i < MOST_PLANS; i++) {
        const plan_shape *s = &plans[i];
        snprintf(plan_names[type][i], sizeof plan_names[type][i], "%ux%ux%u by %ux%u, %u stages",
                 s->rows, s->columns, s->deep, s->tall, s->wide, s->stages);
        names[type][i] = plan_names[type][i];
    }
    return names[type];
}

static void matmul_plans(gpumb *g, int type, const plan_shape *plans, size_t count)
{
    static const int64_t gpu[] = {4096}, cpu[] = {96};
    const values sizes = is_gpu(g) ? VALUES(gpu) : VALUES(cpu);
    const char *const *names = names_of_plans(type, plans, count);
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, plan, names, count) {
            const unsigned side = (unsigned)n;
            product p = new_product(g, last_step[type], (int)plan, side, side, side);
            measure_product(g, &p);
        }
    const rows all = noisy_too(rows_of(plan_benches[type], NULL));
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n)) {
        const extremes e = extremes_of(g, having(all, "n", n), gflops_of);
        if (e.count > 1 && e.high)
            gpumb_note(g,
                       "n = %lld: the fastest tiles are %s: %.3g TFLOP/s; the slowest, %s, %.3g.",
                       (long long)n, names[gpumb_row_axis(g, e.high_row, "plan")], tflops(e.high),
                       names[gpumb_row_axis(g, e.low_row, "plan")], tflops(e.low));
    }
}

static void matmul_ahead(gpumb *g)
{
    matmul_plans(g, F32, ahead_plans, COUNT(ahead_plans));
}

static void matmul_staged(gpumb *g)
{
    matmul_plans(g, BF16, staged_plans, COUNT(staged_plans));
}

static const gpumb_benchmark benchmarks[] = {
    {steps_bench, "from the definition to tensor cores, and the vendor's library", matmul_steps},
    {size_bench, "the last steps over n, against the vendor's library", matmul_size},
    {plan_benches[F32], "fp32: tiles, threads, stages of copies", matmul_ahead},
    {plan_benches[BF16], "tensor cores: tiles, threads, stages of copies", matmul_staged},
};

GPUMB_MAIN(benchmarks)

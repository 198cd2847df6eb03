/* Jacobi's method, red-black Gauss-Seidel and conjugate gradients: how long each takes to a known
 * solution. */
#include "gpumb.h"

#include "conjugate_gradients.h"
#include "gauss_seidel.h"
#include "jacobi.h"

static const char solve_bench[] = "stencil/solve";
static const char *const methods[] = {"jacobi", "gauss-seidel", "conjugate gradients",
                                      "gauss-seidel, variable"};
enum { JACOBI, GAUSS_SEIDEL, GRADIENTS, VARIABLE, METHODS };

static const double reached = 1e-6; /* of the error at the start */

typedef struct solution_check {
    grid of;
    const relaxation *d;
    const gpumb_buffer *u, *wanted; /* NULL: exact_solution() */
    double error;
} solution_check;

static int check_solution(gpumb *g, void *user)
{
    const solution_check *c = (const solution_check *)user;
    std::vector<double> u((size_t)elements(c->of)), wanted((size_t)elements(c->of));
    if (c->d)
        join(c->d);
    if (gpumb_read(g, c->u, 0, u.data(), u.size() * sizeof(double)) ||
        (c->wanted && gpumb_read(g, c->wanted, 0, wanted.data(), wanted.size() * sizeof(double))))
        return 0;
    double error = 0;
    for (unsigned y = 0; y < c->of.n; y++)
        for (unsigned x = 0; x < c->of.n; x++) {
            const size_t i = (size_t)y * c->of.pitch + x;
            const double e = fabs(u[i] - (c->wanted ? wanted[i] : exact_solution(x, y, c->of.n)));
            error = e <= error ? error : e; /* a NaN stays */
        }
    if (!(error <= c->error)) {
        gpumb_reason(g, "differs from the solution by %.3g, more than %.3g", error, c->error);
        return 0;
    }
    return 1;
}

/* Constant coefficients and the right side of exact_solution(), from 0. */
static void pose_poisson(gpumb *g, relaxation *d)
{
    std::vector<double> quarters(d->f ? (size_t)elements(d->of) : 0, 0.25);
    if (!d->f)
        return;
    for (int k = 0; k < NEIGHBOURS; k++)
        gpumb_write(g, d->c[k], 0, quarters.data(), quarters.size() * sizeof(double));
    write_right_side(g, d->f, d->of, 0.25);
    gpumb_fill(g, d->start, GPUMB_FILL_ZERO, 0);
    for (int colour = 0; colour < 2; colour++) {
        for (int k = 0; k < NEIGHBOURS; k++)
            part(d->c[k], d->apart[colour].c[k], d->of, colour, 0);
        part(d->f, d->apart[colour].f, d->of, colour, 0);
        part(d->start, d->apart[colour].start, d->of, colour, 0);
    }
}

static void zero_sweep(gpumb *g, void *user)
{
    const sweep_data *d = (const sweep_data *)user;
    gpumb_fill(g, d->u, GPUMB_FILL_ZERO, 0);
}

/* All from 0 to a known solution, until theory says that the error is a millionth of what it was:
 * a sweep of Jacobi's method leaves cos(pi h) of it, one of Gauss-Seidel the square of that; with
 * coefficients that add up to less than 0.95, at most that. The slowest wave is 1.065 of the start,
 * (32 / pi^3)^2. */
static void stencil_solve(gpumb *g)
{
    static const int64_t full[] = {64, 128}, quick[] = {64}, cpu[] = {24};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sides.at, sides.count)
        GPUMB_SWEEP_STRINGS(g, method, methods, METHODS) {
            const double left = cos(acos(-1.0) / (double)(n - 1));
            const double factor = method == JACOBI ? left : method == VARIABLE ? 0.95 : left * left;
            const unsigned sweeps = (unsigned)(ceil(log(reached) / log(factor)) / 2 + 1) * 2;
            const unsigned iterations = method == GRADIENTS ? 2 * (unsigned)n : sweeps;
            solution_check check = {new_grid(n), NULL, NULL, NULL, 1.1 * reached};
            sweep_data s;
            relaxation d;
            gradients c;
            if (method == JACOBI) {
                s = new_sweep(g, n, 0, 1);
                write_right_side(g, s.f, s.of, 0.25);
                check.u = s.u;
            } else if (method == GRADIENTS) {
                c = new_gradients(g, n, iterations, 1);
            } else {
                d = new_relaxation(g, n, 1, method == VARIABLE);
                check.d = &d;
                check.u = d.u;
                check.wanted = method == VARIABLE ? d.solution : NULL;
            }
            if (method == GAUSS_SEIDEL)
                pose_poisson(g, &d);
            gpumb_set_timing(g, is_gpu(g) ? GPUMB_TIMING_EVENT : GPUMB_TIMING_HOST);
            gpumb_set_verify(g, check_solution, &check);
            if (method == GRADIENTS) {
                describe_gradients(g, &c);
                GPUMB_MEASURE(g, methods[method])
                    iterate(g, &c, 0);
                continue;
            }
            const double each = (double)iterations * (double)n * (double)n;
            gpumb_set_bytes(g, (method == JACOBI ? 24 : 56) * each);
            gpumb_set_flop(g, (method == JACOBI ? 5 : 8) * each);
            gpumb_set_value(g, "iterations", iterations);
            if (method == JACOBI) {
                gpumb_set_output(g, s.u);
                gpumb_set_output(g, s.out);
                gpumb_set_reset(g, zero_sweep, &s);
            } else {
                set_relaxed_outputs(g, &d);
                gpumb_set_reset(g, restart, &d);
            }
            GPUMB_MEASURE(g, methods[method])
                for (unsigned i = 0; i < iterations; i++)
                    if (method == JACOBI) {
                        launch_sweep<double>(&s, &mappings[WIDE]);
                        gpumb_buffer *const out = s.u;
                        s.u = s.out;
                        s.out = out;
                    } else {
                        sweep_colours(g, &d);
                    }
        }
    const rows all = rows_of(solve_bench, NULL);
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n)) {
        sentence s = no_words();
        for (int m = 0; m < METHODS; m++) {
            const gpumb_result *r = first_row(g, having(having(all, "n", n), "method", m));
            if (!r)
                continue;
            say_next(&s, ", ");
            say(&s, "%s ", methods[m]);
            say_time(&s, r->time.median);
        }
        if (s.text[0])
            gpumb_note(g, "To a known solution at n = %lld: %s.", (long long)n, s.text);
    }
}

static const gpumb_benchmark benchmarks[] = {
    {solve_bench, "time of each method to a known solution", stencil_solve},
};

GPUMB_MAIN(benchmarks)

/* Conjugate gradients on the 5-point operator, their scalars kept on the device or read back.
 * Include it after gpumb.h. */
#ifndef BENCH_CONJUGATE_GRADIENTS_H
#define BENCH_CONJUGATE_GRADIENTS_H

#include "grid.h"

#include <math.h>

/* ---- kernels --------------------------------------------------------------------------------- */

/* Of A x = b, with A the 5-point operator, 4 in the diagonal and -1 beside it, and 0 at the border.
 * The scalars of all iterations are kept. */
typedef struct vectors {
    double *x, *r, *p, *q;
    const double *b;
    double *rr, *pq, *partial;
    unsigned *finished;
} vectors;

static __device__ inline double apply_operator(const double *p, uint64_t i, unsigned pitch)
{
    return 4 * p[i] - ((p[i - 1] + p[i + 1]) + (p[i - pitch] + p[i + pitch]));
}

/* 0 once nothing is left to be done. */
static __host__ __device__ inline double share(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Rows of the grid over the blocks, points of a row over the threads. */
#define EACH_POINT(i, of)                                                                          \
    for (unsigned y = 1 + blockIdx.x; y + 1 < of.n; y += gridDim.x)                                \
        for (uint64_t i = (uint64_t)y * of.pitch + 1 + threadIdx.x,                                \
                      end_##i = (uint64_t)y * of.pitch + of.n - 1;                                 \
             i < end_##i; i += blockDim.x)

/* x = 0, r = p = b */
static __global__ void cg_start(vectors v, grid of)
{
    GPUMB_SHARED(double, shared);
    double sum = 0;
    EACH_POINT(i, of)
    {
        v.x[i] = 0;
        v.r[i] = v.p[i] = v.b[i];
        sum += v.b[i] * v.b[i];
    }
    sum_of_grid(sum, shared, v.rr, v.partial, v.finished);
}

/* q = A p and p q */
static __global__ void cg_apply(vectors v, grid of, unsigned iteration)
{
    GPUMB_SHARED(double, shared);
    double sum = 0;
    EACH_POINT(i, of)
    {
        const double q = apply_operator(v.p, i, of.pitch);
        v.q[i] = q;
        sum += v.p[i] * q;
    }
    sum_of_grid(sum, shared, &v.pq[iteration], v.partial, v.finished);
}

/* x += alpha p, r -= alpha q, and r r; alpha is r r / p q or, if the host knows it, `given`. */
static __global__ void cg_update(vectors v, grid of, unsigned iteration, int is_given, double given)
{
    GPUMB_SHARED(double, shared);
    const double alpha = is_given ? given : share(v.rr[iteration], v.pq[iteration]);
    double sum = 0;
    EACH_POINT(i, of)
    {
        const double r = v.r[i] - alpha * v.q[i];
        v.x[i] += alpha * v.p[i];
        v.r[i] = r;
        sum += r * r;
    }
    sum_of_grid(sum, shared, &v.rr[iteration + 1], v.partial, v.finished);
}

/* p = r + beta p, beta the new r r over the old one */
static __global__ void cg_turn(vectors v, grid of, unsigned iteration, int is_given, double given)
{
    const double beta = is_given ? given : share(v.rr[iteration + 1], v.rr[iteration]);
    EACH_POINT(i, of)
    v.p[i] = v.r[i] + beta * v.p[i];
}

/* ---- data ------------------------------------------------------------------------------------ */

enum { X, R, P, Q, B, VECTORS };

typedef struct gradients {
    grid of;
    unsigned iterations;
    gpumb_buffer *vector[VECTORS], *rr, *pq, *partial, *finished;
    double error; /* the most that x may differ from the solution; 0: it is not known */
} gradients;

/* Clears what is never written: the border. */
static inline gradients new_gradients(gpumb *g, int64_t n, unsigned iterations, int known)
{
    gradients d;
    d.of = new_grid(n);
    d.iterations = iterations;
    d.error = known ? 1e-9 : 0;
    for (int k = 0; k < VECTORS; k++) {
        d.vector[k] = gpumb_alloc(g, elements(d.of) * sizeof(double));
        gpumb_fill(g, d.vector[k], k == B && !known ? GPUMB_FILL_F64 : GPUMB_FILL_ZERO,
                   gpumb_get_settings(g)->seed);
    }
    if (known)
        write_right_side(g, d.vector[B], d.of, 1);
    d.rr = gpumb_alloc(g, (iterations + 1) * sizeof(double));
    d.pq = gpumb_alloc(g, iterations * sizeof(double));
    d.partial = gpumb_alloc(g, ((uint64_t)n + 1) * sizeof(double));
    d.finished = gpumb_alloc(g, sizeof(unsigned));
    gpumb_fill(g, d.finished, GPUMB_FILL_ZERO, 0);
    return d;
}

/* The residual that the iteration carries along is that of x, r r its square, and x is near the
 * solution, where that is known. Roundings: of some 16 operations for a point and iteration. */
static inline int check_gradients(gpumb *g, void *user)
{
    const gradients *d = (const gradients *)user;
    const unsigned n = d->of.n, pitch = d->of.pitch;
    std::vector<double> v[VECTORS], rr(d->iterations + 1);
    for (int k = 0; k < VECTORS; k++) {
        v[k].resize((size_t)elements(d->of));
        if (k != P && k != Q &&
            gpumb_read(g, d->vector[k], 0, v[k].data(), v[k].size() * sizeof(double)))
            return 0;
    }
    if (gpumb_read(g, d->rr, 0, rr.data(), rr.size() * sizeof(double)))
        return 0;
    double largest = 0, gap = 0, sum = 0, error = 0;
    const std::vector<double> &x = v[X];
    for (unsigned row = 1; row + 1 < n; row++)
        for (unsigned column = 1; column + 1 < n; column++) {
            const size_t i = (size_t)row * pitch + column;
            /* the border of x is 0, whatever the buffer has there */
            const double west = column > 1 ? x[i - 1] : 0, east = column + 2 < n ? x[i + 1] : 0,
                         north = row > 1 ? x[i - pitch] : 0, south = row + 2 < n ? x[i + pitch] : 0;
            const double residual = v[B][i] - (4 * x[i] - (west + east + north + south));
            gap = fmax(gap, fabs(residual - v[R][i]));
            gap = residual - v[R][i] < 0 || residual - v[R][i] >= 0 ? gap : HUGE_VAL; /* a NaN */
            largest = fmax(largest, fmax(fabs(x[i]), fabs(v[B][i])));
            sum += v[R][i] * v[R][i];
            error = fmax(error, fabs(x[i] - exact_solution(column, row, n)));
        }
    const double bound = 16 * (d->iterations + 10) * 2.3e-16 * 4 * largest;
    if (!(gap <= bound)) {
        gpumb_reason(g, "the residual differs by %.2g from b - A x, by more than %.2g", gap, bound);
        return 0;
    }
    if (!(fabs(sum - rr[d->iterations]) <= 1e-9 * sum)) {
        gpumb_reason(g, "r r is %.17g, not %.17g", rr[d->iterations], sum);
        return 0;
    }
    if (d->error > 0 ? !(error <= d->error) : !(sum < rr[0])) {
        gpumb_reason(g, "x is not the solution: it differs by %.2g, r r fell from %.2g to %.2g",
                     error, rr[0], sum);
        return 0;
    }
    return 1;
}

/* A scalar of the device, once all before it is done. */
static inline double read_back(gpumb *g, const double *from)
{
    double value = 0;
#if defined(GPUMB_BACKEND_CUDA)
    const cudaStream_t stream = (cudaStream_t)gpumb_stream(g);
    if (cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream) ||
        cudaStreamSynchronize(stream))
        gpumb_skip(g, "a scalar could not be read back");
#elif defined(GPUMB_BACKEND_HIP)
    const hipStream_t stream = (hipStream_t)gpumb_stream(g);
    if (hipMemcpyAsync(&value, from, sizeof value, hipMemcpyDeviceToHost, stream) ||
        hipStreamSynchronize(stream))
        gpumb_skip(g, "a scalar could not be read back");
#else
    (void)g;
    value = *from;
#endif
    return value;
}

static inline void iterate(gpumb *g, const gradients *d, int reads_back)
{
    const uint64_t most = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t blocks = !is_gpu(g) ? 2 : d->of.n < most ? d->of.n : most;
    const unsigned block = is_gpu(g) ? 256 : 16;
    const uint64_t shared = (block + 1) * sizeof(double);
    vectors v;
    v.x = GPUMB_PTR(double, d->vector[X]);
    v.r = GPUMB_PTR(double, d->vector[R]);
    v.p = GPUMB_PTR(double, d->vector[P]);
    v.q = GPUMB_PTR(double, d->vector[Q]);
    v.b = GPUMB_PTR(const double, d->vector[B]);
    v.rr = GPUMB_PTR(double, d->rr);
    v.pq = GPUMB_PTR(double, d->pq);
    v.partial = GPUMB_PTR(double, d->partial);
    v.finished = GPUMB_PTR(unsigned, d->finished);
    GPUMB_LAUNCH_BARRIER(cg_start, blocks, block, shared, v, d->of);
    double rr = reads_back ? read_back(g, v.rr) : 0;
    for (unsigned i = 0; i < d->iterations; i++) {
        double alpha = 0, beta = 0;
        GPUMB_LAUNCH_BARRIER(cg_apply, blocks, block, shared, v, d->of, i);
        if (reads_back)
            alpha = share(rr, read_back(g, &v.pq[i]));
        GPUMB_LAUNCH_BARRIER(cg_update, blocks, block, shared, v, d->of, i, reads_back, alpha);
        if (reads_back) {
            const double next = read_back(g, &v.rr[i + 1]);
            beta = share(next, rr);
            rr = next;
        }
        GPUMB_LAUNCH(cg_turn, blocks, block, 0, v, d->of, i, reads_back, beta);
    }
}

static inline void describe_gradients(gpumb *g, gradients *d)
{
    const double points = (double)d->of.n * d->of.n, iterations = d->iterations;
    gpumb_set_bytes(g, (88 * iterations + 32) * points); /* p q, p q x r x r, r p p; b x r p */
    gpumb_set_flop(g, (15 * iterations + 2) * points);
    gpumb_set_footprint(g, (uint64_t)(40 * points));
    gpumb_set_value(g, "iterations", iterations);
    gpumb_set_output(g, d->rr);
    gpumb_set_output(g, d->pq);
    gpumb_set_output(g, d->partial);
    gpumb_set_verify(g, check_gradients, d);
}

#endif

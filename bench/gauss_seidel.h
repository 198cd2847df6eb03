/* Red-black Gauss-Seidel with four variable coefficients: its points, both colours in one array or
 * apart, a sweep and its check. Include it after gpumb.h. */
#ifndef BENCH_GAUSS_SEIDEL_H
#define BENCH_GAUSS_SEIDEL_H

#include "grid.h"

#include <math.h>
#include <string.h>

/* ---- kernels --------------------------------------------------------------------------------- */

enum { WEST, EAST, NORTH, SOUTH, NEIGHBOURS };

/* Points of one colour, (x + y) % 2, in rows of `pitch`, and the coefficients for their neighbours:
 * apart, point j of a row is x = 2 j + (y + colour) % 2. */
typedef struct relaxed {
    const double *c[NEIGHBOURS], *f;
    double *own;
    const double *other;
    unsigned pitch;
} relaxed;

static __host__ __device__ inline double relax_variable(const double c[NEIGHBOURS], double west,
                                                        double east, double north, double south,
                                                        double f)
{
    return fma(c[SOUTH], south, fma(c[NORTH], north, fma(c[EAST], east, fma(c[WEST], west, f))));
}

/* With both colours in one array, each of whose sectors both launches of a sweep fetch. */
static __global__ void relax_mixed(relaxed a, unsigned n, unsigned colour)
{
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y + colour) % 2;
    if (!inside(x, n) || !inside(y, n))
        return;
    const uint64_t i = (uint64_t)y * a.pitch + x;
    const double c[] = {a.c[0][i], a.c[1][i], a.c[2][i], a.c[3][i]};
    a.own[i] = relax_variable(c, a.other[i - 1], a.other[i + 1], a.other[i - a.pitch],
                              a.other[i + a.pitch], a.f[i]);
}

static __global__ void relax_apart(relaxed a, unsigned n, unsigned colour)
{
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned j = blockIdx.x * blockDim.x + threadIdx.x, odd = (y + colour) % 2;
    if (!inside(2 * j + odd, n) || !inside(y, n))
        return;
    const uint64_t i = (uint64_t)y * a.pitch + j;
    const double c[] = {a.c[0][i], a.c[1][i], a.c[2][i], a.c[3][i]};
    a.own[i] = relax_variable(c, a.other[i + odd - 1], a.other[i + odd], a.other[i - a.pitch],
                              a.other[i + a.pitch], a.f[i]);
}

/* What both are compared with. */
static __global__ void relax_plainly(relaxed a, unsigned n, unsigned colour)
{
    GPUMB_GRID_STRIDE(point, (uint64_t)n * n) {
        const unsigned x = (unsigned)(point % n), y = (unsigned)(point / n);
        if ((x + y) % 2 != colour || !inside(x, n) || !inside(y, n))
            continue;
        const uint64_t i = (uint64_t)y * a.pitch + x;
        const double c[] = {a.c[0][i], a.c[1][i], a.c[2][i], a.c[3][i]};
        a.own[i] = relax_variable(c, a.own[i - 1], a.own[i + 1], a.own[i - a.pitch],
                                  a.own[i + a.pitch], a.f[i]);
    }
}

/* From all points to those of a colour, or back. */
static __global__ void part_colours(double *all, double *apart, grid of, unsigned colour, int back)
{
    GPUMB_GRID_STRIDE(point, (uint64_t)of.n * of.n) {
        const unsigned x = (unsigned)(point % of.n), y = (unsigned)(point / of.n);
        const uint64_t here = (uint64_t)y * of.pitch + x,
                       there = (uint64_t)y * (of.pitch / 2) + x / 2;
        if ((x + y) % 2 == colour && back)
            all[here] = apart[there];
        else if ((x + y) % 2 == colour)
            apart[there] = all[here];
    }
}

/* Random numbers from [-1, 1) become coefficients of 0.0125 ... 0.2375: their sum is below 1. */
static __global__ void make_coefficients(double *c, uint64_t count)
{
    GPUMB_GRID_STRIDE(i, count)
        c[i] = 0.125 * (1 + 0.9 * c[i]);
}

/* f for which `u` is the solution. */
static __global__ void make_right_side(relaxed a, double *f, unsigned n)
{
    GPUMB_GRID_STRIDE(point, (uint64_t)n * n) {
        const unsigned x = (unsigned)(point % n), y = (unsigned)(point / n);
        const uint64_t i = (uint64_t)y * a.pitch + x;
        if (!inside(x, n) || !inside(y, n))
            continue;
        const double c[] = {a.c[0][i], a.c[1][i], a.c[2][i], a.c[3][i]};
        f[i] = a.other[i] - relax_variable(c, a.other[i - 1], a.other[i + 1], a.other[i - a.pitch],
                                           a.other[i + a.pitch], 0);
    }
}

/* 0 between the borders. */
static __global__ void clear_inside(double *u, grid of)
{
    GPUMB_GRID_STRIDE(point, (uint64_t)of.n * of.n) {
        const unsigned x = (unsigned)(point % of.n), y = (unsigned)(point / of.n);
        if (inside(x, of.n) && inside(y, of.n))
            u[(uint64_t)y * of.pitch + x] = 0;
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

/* All points: solution, where sweeps start, where they are, the coefficients and f; `apart`: the
 * same by colour. */
typedef struct relaxation {
    grid of;
    int by_colour;
    gpumb_buffer *solution, *start, *u, *c[NEIGHBOURS], *f, *plain, *counts;
    struct {
        gpumb_buffer *start, *u, *c[NEIGHBOURS], *f;
    } apart[2];
} relaxation;

static inline relaxed mixed_points(const relaxation *d, const gpumb_buffer *u)
{
    relaxed a;
    for (int k = 0; k < NEIGHBOURS; k++)
        a.c[k] = GPUMB_PTR(const double, d->c[k]);
    a.f = GPUMB_PTR(const double, d->f);
    a.own = GPUMB_PTR(double, u);
    a.other = a.own;
    a.pitch = d->of.pitch;
    return a;
}

static inline relaxed points_apart(const relaxation *d, int colour)
{
    relaxed a;
    for (int k = 0; k < NEIGHBOURS; k++)
        a.c[k] = GPUMB_PTR(const double, d->apart[colour].c[k]);
    a.f = GPUMB_PTR(const double, d->apart[colour].f);
    a.own = GPUMB_PTR(double, d->apart[colour].u);
    a.other = GPUMB_PTR(const double, d->apart[!colour].u);
    a.pitch = d->of.pitch / 2;
    return a;
}

static inline void part(gpumb_buffer *all, gpumb_buffer *apart, grid of, int colour, int back)
{
    GPUMB_LAUNCH(part_colours, 4096, 256, 0, GPUMB_PTR(double, all), GPUMB_PTR(double, apart), of,
                 (unsigned)colour, back);
}

/* `converges`: starts from 0 towards the solution; else from anywhere. */
static inline relaxation new_relaxation(gpumb *g, int64_t n, int by_colour, int converges)
{
    const uint64_t seed = gpumb_get_settings(g)->seed;
    relaxation d;
    memset(&d, 0, sizeof d);
    d.of = new_grid(n);
    d.by_colour = by_colour;
    const uint64_t count = elements(d.of), bytes = count * sizeof(double);
    for (int k = 0; k < NEIGHBOURS; k++) {
        d.c[k] = gpumb_alloc(g, bytes);
        gpumb_fill(g, d.c[k], GPUMB_FILL_F64, seed + 2 + (uint64_t)k);
        GPUMB_LAUNCH(make_coefficients, 4096, 256, 0, GPUMB_PTR(double, d.c[k]), count);
        keep_contents(g, d.c[k]);
    }
    d.solution = gpumb_alloc(g, bytes);
    gpumb_fill(g, d.solution, GPUMB_FILL_F64, seed);
    keep_contents(g, d.solution); /* f is made of it */
    d.f = gpumb_alloc(g, bytes);
    gpumb_poison(g, d.f);
    GPUMB_LAUNCH(make_right_side, 4096, 256, 0, mixed_points(&d, d.solution),
                 GPUMB_PTR(double, d.f), d.of.n);
    d.start = gpumb_alloc(g, bytes);
    gpumb_fill(g, d.start, GPUMB_FILL_F64, seed + !converges);
    if (converges)
        GPUMB_LAUNCH(clear_inside, 4096, 256, 0, GPUMB_PTR(double, d.start), d.of);
    keep_contents(g, d.start); /* parted below */
    d.u = gpumb_alloc(g, bytes);
    d.plain = gpumb_alloc(g, bytes);
    d.counts = gpumb_alloc(g, 16);
    for (int colour = 0; colour < 2 && by_colour; colour++) {
        for (int k = 0; k < NEIGHBOURS; k++) {
            d.apart[colour].c[k] = gpumb_alloc(g, bytes / 2);
            part(d.c[k], d.apart[colour].c[k], d.of, colour, 0);
        }
        d.apart[colour].f = gpumb_alloc(g, bytes / 2);
        part(d.f, d.apart[colour].f, d.of, colour, 0);
        d.apart[colour].start = gpumb_alloc(g, bytes / 2);
        part(d.start, d.apart[colour].start, d.of, colour, 0);
        d.apart[colour].u = gpumb_alloc(g, bytes / 2);
    }
    return d;
}

static inline void restart(gpumb *g, void *user)
{
    const relaxation *d = (const relaxation *)user;
    if (d->by_colour)
        for (int colour = 0; colour < 2; colour++)
            gpumb_memcpy(g, gpumb_data(d->apart[colour].u), gpumb_data(d->apart[colour].start),
                         gpumb_size(d->apart[colour].start));
    else
        gpumb_memcpy(g, gpumb_data(d->u), gpumb_data(d->start), gpumb_size(d->start));
}

/* The points in one array. */
static inline void join(const relaxation *d)
{
    for (int colour = 0; colour < 2 && d->by_colour; colour++)
        part(d->u, d->apart[colour].u, d->of, colour, 1);
}

/* Bit by bit against a plain sweep on the device and, where it can follow, on the host. */
static inline int check_relaxation(gpumb *g, void *user)
{
    const relaxation *d = (const relaxation *)user;
    const grid of = d->of;
    gpumb_memcpy(g, gpumb_data(d->plain), gpumb_data(d->start), gpumb_size(d->start));
    for (unsigned colour = 0; colour < 2; colour++)
        GPUMB_LAUNCH(relax_plainly, 4096, 256, 0, mixed_points(d, d->plain), of.n, colour);
    join(d);
    if (!same_points<double>(g, d->u, d->plain, d->counts, of))
        return 0;
    if (of.n > HOST_MOST)
        return 1;
    const size_t count = (size_t)elements(of);
    std::vector<double> u(count), found(count), f(count), c[NEIGHBOURS];
    for (int k = 0; k < NEIGHBOURS; k++) {
        c[k].resize(count);
        if (gpumb_read(g, d->c[k], 0, c[k].data(), count * sizeof(double)))
            return 0;
    }
    if (gpumb_read(g, d->start, 0, u.data(), count * sizeof(double)) ||
        gpumb_read(g, d->f, 0, f.data(), count * sizeof(double)) ||
        gpumb_read(g, d->u, 0, found.data(), count * sizeof(double)))
        return 0;
    for (unsigned colour = 0; colour < 2; colour++)
        for (unsigned y = 1; y + 1 < of.n; y++)
            for (unsigned x = 1 + (y + colour + 1) % 2; x + 1 < of.n; x += 2) {
                const size_t i = (size_t)y * of.pitch + x;
                const double own[] = {c[0][i], c[1][i], c[2][i], c[3][i]};
                u[i] =
                    relax_variable(own, u[i - 1], u[i + 1], u[i - of.pitch], u[i + of.pitch], f[i]);
            }
    for (unsigned y = 0; y < of.n; y++)
        for (unsigned x = 0; x < of.n; x++) {
            const size_t i = (size_t)y * of.pitch + x;
            if (!(u[i] <= found[i] && u[i] >= found[i])) {
                gpumb_reason(g, "x = %u, y = %u is %.17g, not %.17g by the host", x, y, found[i],
                             u[i]);
                return 0;
            }
        }
    return 1;
}

/* Two launches, one for each colour. */
static inline void sweep_colours(gpumb *g, const relaxation *d)
{
    const unsigned x = is_gpu(g) ? 128 : 64, y = is_gpu(g) ? 2 : 1;
    const dim3 block(x, y),
        blocks((unsigned)ceil_div(d->of.n / 2 + 1, x), (unsigned)ceil_div(d->of.n, y));
    for (int colour = 0; colour < 2; colour++)
        if (d->by_colour)
            GPUMB_LAUNCH(relax_apart, blocks, block, 0, points_apart(d, colour), d->of.n,
                         (unsigned)colour);
        else
            GPUMB_LAUNCH(relax_mixed, blocks, block, 0, mixed_points(d, d->u), d->of.n,
                         (unsigned)colour);
}

static inline void set_relaxed_outputs(gpumb *g, const relaxation *d)
{
    if (d->by_colour)
        for (int colour = 0; colour < 2; colour++)
            gpumb_set_output(g, d->apart[colour].u);
    else
        gpumb_set_output(g, d->u);
}
#endif

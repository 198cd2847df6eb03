/* Jacobi's method for the 5-point stencil: one sweep in several mappings, and what it is compared
 * with. Include it after gpumb.h. */
#ifndef BENCH_JACOBI_H
#define BENCH_JACOBI_H

#include "grid.h"

static const char *const types[] = {"f64", "f32"};

/* ---- Jacobi: one sweep ----------------------------------------------------------------------- */

template <class Type>
static __global__ void sweep_1d(const Type *__restrict__ u, const Type *__restrict__ f,
                                Type *__restrict__ out, grid of)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < of.n * of.n)
        sweep_point(u, f, out, of, i % of.n, i / of.n);
}

template <class Type>
static __global__ void sweep_2d(const Type *__restrict__ u, const Type *__restrict__ f,
                                Type *__restrict__ out, grid of)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < of.n && y < of.n)
        sweep_point(u, f, out, of, x, y);
}

/* A tile in shared memory, with the points around it. */
template <class Type>
static __global__ void sweep_tiled(const Type *__restrict__ u, const Type *__restrict__ f,
                                   Type *__restrict__ out, grid of)
{
    GPUMB_SHARED(Type, tile);
    const unsigned width = blockDim.x + 2, x = blockIdx.x * blockDim.x + threadIdx.x,
                   y = blockIdx.y * blockDim.y + threadIdx.y;
    const uint64_t i = (uint64_t)y * of.pitch + x;
    Type *mine = &tile[(threadIdx.y + 1) * width + threadIdx.x + 1];
    if (x < of.n && y < of.n) {
        mine[0] = u[i];
        if (threadIdx.x == 0 && x > 0)
            mine[-1] = u[i - 1];
        if (threadIdx.x == blockDim.x - 1 && x + 1 < of.n)
            mine[1] = u[i + 1];
        if (threadIdx.y == 0 && y > 0)
            *(mine - width) = u[i - of.pitch];
        if (threadIdx.y == blockDim.y - 1 && y + 1 < of.n)
            mine[width] = u[i + of.pitch];
    }
    __syncthreads();
    if (x < of.n && y < of.n)
        out[i] = inside(x, of.n) && inside(y, of.n)
                     ? relax(mine[-1], mine[1], *(mine - width), mine[width], f[i])
                     : mine[0];
}

/* ---- its check ------------------------------------------------------------------------------- */

/* What the forms are compared with: each point by itself. */
template <class Type>
static __global__ void plain_sweep(const Type *u, const Type *f, Type *out, grid of)
{
    GPUMB_GRID_STRIDE(i, (uint64_t)of.n * of.n)
        sweep_point(u, f, out, of, (unsigned)(i % of.n), (unsigned)(i / of.n));
}

/* A region's grids: u and f become out by so many sweeps. */
typedef struct sweep_data {
    grid of;
    int single, sweeps;
    gpumb_buffer *u, *f, *out, *plain[2], *counts;
} sweep_data;

/* Bit by bit against plain sweeps, in turn, on the device; these, where the host can follow,
 * against its own, else in the rows at the ends and in the middle. */
template <class Type> static inline int check_sweeps(gpumb *g, const sweep_data *d)
{
    const grid of = d->of;
    const gpumb_buffer *from = d->u;
    for (int t = 0; t < d->sweeps; t++) {
        GPUMB_LAUNCH(plain_sweep<Type>, 4096, 256, 0, GPUMB_PTR(const Type, from),
                     GPUMB_PTR(const Type, d->f), GPUMB_PTR(Type, d->plain[t % 2]), of);
        from = d->plain[t % 2];
    }
    if (!same_points<Type>(g, d->out, d->plain[(d->sweeps - 1) % 2], d->counts, of))
        return 0;
    /* rows that are not at the border depend on `sweeps` more at either side */
    const unsigned halo = (unsigned)d->sweeps, most = of.n <= HOST_MOST ? of.n : 16 + 2 * halo;
    const unsigned starts[3] = {0, (of.n - most) / 2, of.n - most};
    for (int part = 0; part < (most < of.n ? 3 : 1); part++) {
        const unsigned start = starts[part];
        const uint64_t offset = (uint64_t)start * of.pitch * sizeof(Type),
                       count = (uint64_t)most * of.pitch;
        std::vector<Type> u((size_t)count), f((size_t)count), out((size_t)count), next;
        if (gpumb_read(g, d->u, offset, u.data(), count * sizeof(Type)) ||
            gpumb_read(g, d->f, offset, f.data(), count * sizeof(Type)) ||
            gpumb_read(g, d->out, offset, out.data(), count * sizeof(Type)))
            return 0;
        for (int t = 0; t < d->sweeps; t++) {
            next = u;
            for (unsigned y = 1; y + 1 < most; y++)
                for (unsigned x = 1; x + 1 < of.n; x++) {
                    const size_t i = (size_t)y * of.pitch + x;
                    next[i] = relax(u[i - 1], u[i + 1], u[i - of.pitch], u[i + of.pitch], f[i]);
                }
            u = next;
        }
        for (unsigned y = start ? halo : 0; y < most - (start + most < of.n ? halo : 0); y++)
            for (unsigned x = 0; x < of.n; x++) {
                const size_t i = (size_t)y * of.pitch + x;
                if (!(u[i] <= out[i] && u[i] >= out[i])) {
                    gpumb_reason(g, "x = %u, y = %u is %.17g, not %.17g by the host", x, start + y,
                                 (double)out[i], (double)u[i]);
                    return 0;
                }
            }
    }
    return 1;
}

static inline int check_sweep_data(gpumb *g, void *user)
{
    const sweep_data *d = (const sweep_data *)user;
    return d->single ? check_sweeps<float>(g, d) : check_sweeps<double>(g, d);
}

static inline sweep_data new_sweep(gpumb *g, int64_t n, int single, int sweeps)
{
    const gpumb_fill_kind kind = single ? GPUMB_FILL_F32 : GPUMB_FILL_F64;
    const uint64_t seed = gpumb_get_settings(g)->seed;
    sweep_data d;
    d.of = new_grid(n);
    d.single = single;
    d.sweeps = sweeps;
    const uint64_t bytes = elements(d.of) * (single ? 4 : 8);
    d.u = gpumb_alloc(g, bytes);
    d.f = gpumb_alloc(g, bytes);
    d.out = gpumb_alloc(g, bytes);
    d.plain[0] = gpumb_alloc(g, bytes);
    d.plain[1] = sweeps > 1 ? gpumb_alloc(g, bytes) : NULL;
    d.counts = gpumb_alloc(g, 16);
    gpumb_fill(g, d.f, kind, seed + 1);
    gpumb_fill(g, d.u, kind, seed);
    return d;
}

static inline double useful_bytes(const sweep_data *d)
{
    return 3.0 * (d->single ? 4 : 8) * d->of.n * d->of.n * d->sweeps;
}

/* Each point: u and f read, the result written; 3 additions, a product, an addition. */
static inline void describe_sweep(gpumb *g, sweep_data *d, double bytes)
{
    const double points = (double)d->of.n * d->of.n;
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, 5 * points * d->sweeps);
    gpumb_set_elements(g, points * d->sweeps);
    gpumb_set_value(g, "useful_bytes", useful_bytes(d));
    gpumb_set_footprint(g, 3 * elements(d->of) * (d->single ? 4 : 8));
    gpumb_set_output(g, d->out);
    gpumb_set_verify(g, check_sweep_data, d);
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* rows: of sweep_words(); tiled: through shared memory; y = 0: one dimension */
typedef struct mapping {
    const char *name;
    unsigned x, y;
    int rows, tiled;
} mapping;

enum { WIDE = 1, FASTEST = 5 };
static const mapping mappings[] = {
    {"1-D", 256, 0, 0, 0},       {"2-D 32x8", 32, 8, 0, 0},   {"2-D 256x1", 256, 1, 0, 0},
    {"2-D 16x16", 16, 16, 0, 0}, {"tiled 32x8", 32, 8, 0, 1}, {"fastest", 64, 2, 2, 0},
};

template <class Type, int rows>
static inline void launch_words(const sweep_data *d, const mapping *m)
{
    const dim3 blocks((unsigned)ceil_div(d->of.n, m->x * (16 / sizeof(Type))),
                      (unsigned)ceil_div(d->of.n, m->y * (unsigned)rows));
    GPUMB_LAUNCH((sweep_words<Type, rows>), blocks, dim3(m->x, m->y), 0,
                 GPUMB_PTR(const Type, d->u), GPUMB_PTR(const Type, d->f), GPUMB_PTR(Type, d->out),
                 d->of);
}

template <class Type> static inline void launch_sweep(const sweep_data *d, const mapping *m)
{
    const Type *u = GPUMB_PTR(const Type, d->u), *f = GPUMB_PTR(const Type, d->f);
    Type *out = GPUMB_PTR(Type, d->out);
    const dim3 block(m->x, m->y ? m->y : 1);
    const dim3 blocks((unsigned)ceil_div(d->of.n, block.x), (unsigned)ceil_div(d->of.n, block.y));
    if (m->rows == 1)
        launch_words<Type, 1>(d, m);
    else if (m->rows == 2)
        launch_words<Type, 2>(d, m);
    else if (m->rows == 4)
        launch_words<Type, 4>(d, m);
    else if (m->rows == 8)
        launch_words<Type, 8>(d, m);
    else if (m->tiled)
        GPUMB_LAUNCH_BARRIER(sweep_tiled<Type>, blocks, block,
                             (m->x + 2) * (m->y + 2) * sizeof(Type), u, f, out, d->of);
    else if (m->y)
        GPUMB_LAUNCH(sweep_2d<Type>, blocks, block, 0, u, f, out, d->of);
    else
        GPUMB_LAUNCH(sweep_1d<Type>, ceil_div((uint64_t)d->of.n * d->of.n, m->x), m->x, 0, u, f,
                     out, d->of);
}

#endif

/* E17: Jacobi's method for the 5-point stencil in several mappings, and several sweeps in one pass.
 * E18: red-black Gauss-Seidel with variable coefficients. E19: conjugate gradients, with scalars
 * kept on the device or read back. All converge to a known solution. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "bench.h"
#include "kernels.h"

#include <math.h>
#include <string.h>
#include <vector>

static const char *const types[] = {"f64", "f32"};

enum { HOST_MOST = 512 }; /* points a side up to which the host checks all of them */

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

/* ---- Jacobi: several sweeps in one pass ------------------------------------------------------ */

/* The word at a column of a row, of the nearest within the grid. */
template <class Type>
static __device__ inline word<Type> word_near(const Type *from, grid of, int y, int x)
{
    const int last = (int)(of.pitch - word<Type>::COUNT);
    const unsigned row = y < 0 ? 0 : (unsigned)y < of.n ? (unsigned)y : of.n - 1;
    const unsigned column = x < 0 ? 0 : (unsigned)(x < last ? x : last);
    return *(const word<Type> *)&from[(uint64_t)row * of.pitch + column];
}

/* What strips overlap by at either side: whole words. */
template <class Type> static __host__ __device__ constexpr int halo(int sweeps)
{
    return (sweeps + (int)word<Type>::COUNT - 1) / (int)word<Type>::COUNT * (int)word<Type>::COUNT;
}

/* A warp goes down a strip of the grid, a word of 16 bytes for each lane, and holds two rows of
 * each of `sweeps` sweeps in registers: row y of the input becomes row y - 1 after one sweep, y
 * - 2 after two, ... Neighbours in a row are in the same lane or the next. Strips overlap by the
 * halo at either side, chunks of `chunk` rows by `sweeps` rows, and what is wrong at their ends
 * for want of neighbours stays there. The next row is on its way while one is worked on. */
template <class Type, int sweeps>
static __global__ void several_sweeps(const Type *__restrict__ u, const Type *__restrict__ f,
                                      Type *__restrict__ out, grid of, unsigned strips,
                                      unsigned chunk)
{
    typedef word<Type> Word;
    const int columns = Word::COUNT, margin = halo<Type>(sweeps);
    const unsigned lanes = (unsigned)warpSize, lane = threadIdx.x % lanes;
    const unsigned warp = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    const int width = (int)lanes * columns, own = (int)lane * columns;
    const int x = (int)(warp % strips) * (width - 2 * margin) - margin + own;
    if ((uint64_t)(warp / strips) * chunk >= of.n)
        return;
    const unsigned first_row = warp / strips * chunk;
    const int first = (int)first_row,
              last = (int)(of.n - first_row > chunk ? first_row + chunk : of.n);
    const bool mine = own >= margin && own < width - margin && x < (int)of.n;

    Word older[sweeps] = {}, centre[sweeps] = {}, fs[sweeps] = {};
    Word next_u = word_near(u, of, first - sweeps, x);
    Word next_f = word_near(f, of, first - sweeps - 1, x);
    for (int y = first - sweeps; y < last + sweeps; y++) {
        Word newest = next_u;
        UNROLL
        for (int t = sweeps - 1; t > 0; t--)
            fs[t] = fs[t - 1];
        fs[0] = next_f;
        next_u = word_near(u, of, y + 1, x);
        next_f = word_near(f, of, y, x);
        UNROLL
        for (int t = 0; t < sweeps; t++) {
            const bool row_inside = y - 1 - t > 0 && y - t < (int)of.n;
            const Type left = PREVIOUS_LANE(centre[t].at[columns - 1]);
            const Type right = NEXT_LANE(centre[t].at[0]);
            Word result;
            UNROLL
            for (int c = 0; c < columns; c++) {
                const Type l = c > 0 ? centre[t].at[c > 0 ? c - 1 : 0] : left;
                const Type r = c + 1 < columns ? centre[t].at[c + 1 < columns ? c + 1 : 0] : right;
                const Type updated = relax(l, r, older[t].at[c], newest.at[c], fs[t].at[c]);
                const bool in = row_inside && x + c > 0 && x + c + 1 < (int)of.n;
                result.at[c] = in ? updated : centre[t].at[c];
            }
            older[t] = centre[t];
            centre[t] = newest;
            newest = result;
        }
        const int row = y - sweeps;
        if (row >= first && mine)
            *(Word *)&out[(uint64_t)row * of.pitch + (unsigned)x] = newest;
    }
}

/* ---- their check ----------------------------------------------------------------------------- */

/* Adds up how many points of two grids differ in a bit, and the index of the first. */
template <class Type>
static __global__ void count_different(const Type *a, const Type *b, grid of,
                                       unsigned long long *different)
{
    GPUMB_GRID_STRIDE(i, (uint64_t)of.n * of.n) {
        const uint64_t at = i / of.n * of.pitch + i % of.n;
        if (!(a[at] == b[at])) {
            atomicAdd(&different[0], 1ull);
            atomicMin(&different[1], (unsigned long long)i);
        }
    }
}

template <class Type>
static int same_points(gpumb *g, gpumb_buffer *found, gpumb_buffer *wanted, gpumb_buffer *counts,
                       grid of)
{
    unsigned long long different[2] = {0, ~0ull};
    if (gpumb_write(g, counts, 0, different, sizeof different))
        return 0;
    GPUMB_LAUNCH(count_different<Type>, 1024, 256, 0, GPUMB_PTR(const Type, found),
                 GPUMB_PTR(const Type, wanted), of, GPUMB_PTR(unsigned long long, counts));
    if (gpumb_read(g, counts, 0, different, sizeof different))
        return 0;
    if (different[0])
        gpumb_reason(g, "%llu points are wrong, the first at x = %llu, y = %llu", different[0],
                     different[1] % of.n, different[1] / of.n);
    return different[0] == 0;
}

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
template <class Type> static int check_sweeps(gpumb *g, const sweep_data *d)
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

static int check_sweep_data(gpumb *g, void *user)
{
    const sweep_data *d = (const sweep_data *)user;
    return d->single ? check_sweeps<float>(g, d) : check_sweeps<double>(g, d);
}

static sweep_data new_sweep(gpumb *g, int64_t n, int single, int sweeps)
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

static double useful_bytes(const sweep_data *d)
{
    return 3.0 * (d->single ? 4 : 8) * d->of.n * d->of.n * d->sweeps;
}

/* Each point: u and f read, the result written; 3 additions, a product, an addition. */
static void describe_sweep(gpumb *g, sweep_data *d, double bytes)
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

/* ---- stencil/jacobi -------------------------------------------------------------------------- */

static const char jacobi_bench[] = "stencil/jacobi";

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

template <class Type, int rows> static void launch_words(const sweep_data *d, const mapping *m)
{
    const dim3 blocks((unsigned)ceil_div(d->of.n, m->x * (16 / sizeof(Type))),
                      (unsigned)ceil_div(d->of.n, m->y * (unsigned)rows));
    GPUMB_LAUNCH((sweep_words<Type, rows>), blocks, dim3(m->x, m->y), 0,
                 GPUMB_PTR(const Type, d->u), GPUMB_PTR(const Type, d->f), GPUMB_PTR(Type, d->out),
                 d->of);
}

template <class Type> static void launch_sweep(const sweep_data *d, const mapping *m)
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

static void measure_sweep(gpumb *g, sweep_data *d, const mapping *m)
{
    describe_sweep(g, d, useful_bytes(d));
    GPUMB_MEASURE(g, m->name) {
        if (d->single)
            launch_sweep<float>(d, m);
        else
            launch_sweep<double>(d, m);
    }
}

/* The vendor's copy of a grid, for the rate that sweeps are compared with. */
static void measure_copy(gpumb *g, sweep_data *d, gpumb_copy_check *check)
{
    const uint64_t bytes = gpumb_size(d->u);
    check->in = d->u;
    check->out = d->out;
    check->bytes = bytes;
    check->mode = GPUMB_READ_WRITE;
    gpumb_set_bytes(g, 2.0 * (double)bytes);
    gpumb_set_footprint(g, 2 * bytes);
    gpumb_set_output(g, d->out);
    gpumb_set_verify(g, gpumb_check_copy, check);
    GPUMB_MEASURE(g, "memcpy")
        gpumb_memcpy(g, gpumb_data(d->out), gpumb_data(d->u), bytes);
}

static void note_jacobi(gpumb *g, int type)
{
    const rows all = having(rows_of(jacobi_bench, NULL), "type", type);
    const int64_t n = last_value(g, all, "n");
    const rows at = having(all, "n", n);
    rows copies = at;
    copies.kernel = "memcpy";
    const gpumb_result *copy = first_row(g, copies);
    sentence s = no_words();
    for (size_t k = 0; k < COUNT(mappings) && copy; k++) {
        rows own = at;
        own.kernel = mappings[k].name;
        const gpumb_result *r = first_row(g, own);
        if (!r)
            continue;
        say_next(&s, ", ");
        say(&s, "%s %.0f (%.3f)", r->kernel, r->gbps, r->gbps / copy->gbps);
    }
    if (s.text[0])
        gpumb_note(g, "Jacobi, %s, n = %lld, in GB/s (and of Memcpy's %.0f): %s.", types[type],
                   (long long)n, copy->gbps, s.text);
    rows fastest = at;
    fastest.kernel = "fastest";
    const gpumb_result *best = first_row(g, fastest);
    if (best)
        gpumb_note(g, "That is %.0f GFLOP/s and %.4g sweeps a second.", best->gflops,
                   1 / best->time.median);
}

/* On the largest grid those that matter are interleaved, so that their ratio to the copy is good to
 * a fraction of a per cent. */
static void stencil_jacobi(gpumb *g)
{
    static const int64_t full[] = {64, 1024, 4096, 5000, 16384};
    static const int64_t quick[] = {1024, 8192}, cpu[] = {256};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_STRINGS(g, type, types, 2)
        GPUMB_SWEEP_ARRAY(g, n, sides.at, sides.count) {
            const int together = n == sides.at[sides.count - 1];
            sweep_data d = new_sweep(g, n, (int)type, 1);
            gpumb_copy_check check;
            if (together)
                GPUMB_INTERLEAVE(g) {
                    measure_copy(g, &d, &check);
                    measure_sweep(g, &d, &mappings[WIDE]);
                    measure_sweep(g, &d, &mappings[FASTEST]);
                }
            else
                measure_copy(g, &d, &check);
            for (size_t k = 0; k < COUNT(mappings); k++)
                if (!together || (k != WIDE && k != FASTEST))
                    measure_sweep(g, &d, &mappings[k]);
        }
    note_jacobi(g, 0);
    note_jacobi(g, 1);
}

/* ---- stencil/mapping ------------------------------------------------------------------------- */

/* The form that becomes the fastest: rows of a thread and shape of a block. */
static void stencil_mapping(gpumb *g)
{
    static const char *const shapes[] = {"32x4", "64x2", "128x1", "256x1"};
    static const unsigned shape[][2] = {{32, 4}, {64, 2}, {128, 1}, {256, 1}};
    const int64_t side = !is_gpu(g) ? 256 : gpumb_get_settings(g)->full ? 16384 : 8192;
    if (!gpumb_get_settings(g)->full && is_gpu(g))
        return;
    GPUMB_SWEEP_LIST(g, n, side)
        GPUMB_SWEEP_STRINGS(g, block, shapes, is_gpu(g) ? COUNT(shapes) : 2)
            GPUMB_SWEEP_POW2(g, rows_each, 1, 8) {
                sweep_data d = new_sweep(g, n, 0, 1);
                const mapping m = {"words", shape[block][0], shape[block][1], (int)rows_each, 0};
                measure_sweep(g, &d, &m);
            }
    const extremes e = extremes_of(g, rows_of("stencil/mapping", NULL), gbps_of);
    if (e.high && e.count > 1)
        gpumb_note(g, "Fastest with %lld rows a thread in blocks of %s: %.0f GB/s, slowest %.0f.",
                   (long long)gpumb_row_axis(g, e.high_row, "rows_each"),
                   shapes[gpumb_row_axis(g, e.high_row, "block")], e.high->gbps, e.low->gbps);
}

/* ---- stencil/blocking ------------------------------------------------------------------------ */

static const char blocking_bench[] = "stencil/blocking";

/* Strips and chunks of a pass: rows of a warp's walk. */
typedef struct blocking {
    int sweeps;
    unsigned strips, chunk;
} blocking;

/* What a pass loads and stores, with what strips and chunks have in common. */
template <class Type> static double cut_strips(gpumb *g, const sweep_data *d, blocking *how)
{
    const int margin = halo<Type>(how->sweeps), n = (int)d->of.n;
    const int width = gpumb_get_device(g)->warp_size * (int)word<Type>::COUNT;
    const int valid = width - 2 * margin;
    double columns = 0, loaded = 0;
    how->strips = (unsigned)ceil_div(d->of.n, (unsigned)valid);
    for (int s = 0; s < (int)how->strips; s++) {
        const int low = s * valid - margin, high = low + width;
        columns += (high < n ? high : n) - (low > 0 ? low : 0);
    }
    for (uint64_t first = 0; first < d->of.n; first += how->chunk) {
        const int64_t low = (int64_t)first - how->sweeps,
                      high = (int64_t)first + how->chunk + how->sweeps;
        loaded += (double)((high < n ? high : n) - (low > 0 ? low : 0));
    }
    return sizeof(Type) * (2 * columns * loaded + (double)n * n);
}

template <class Type, int sweeps>
static void launch_sweeps(gpumb *g, const sweep_data *d, const blocking *how)
{
    const unsigned lanes = (unsigned)gpumb_get_device(g)->warp_size,
                   warps = is_gpu(g) ? 128 / lanes : 1;
    GPUMB_LAUNCH_BARRIER((several_sweeps<Type, sweeps>),
                         ceil_div(how->strips * ceil_div(d->of.n, how->chunk), warps),
                         warps * lanes, 0, GPUMB_PTR(const Type, d->u), GPUMB_PTR(const Type, d->f),
                         GPUMB_PTR(Type, d->out), d->of, how->strips, how->chunk);
}

template <class Type> static void launch_pass(gpumb *g, const sweep_data *d, const blocking *how)
{
    switch (how->sweeps) {
    case 2:
        launch_sweeps<Type, 2>(g, d, how);
        break;
    case 4:
        launch_sweeps<Type, 4>(g, d, how);
        break;
    case 6:
        launch_sweeps<Type, 6>(g, d, how);
        break;
    case 8:
        launch_sweeps<Type, 8>(g, d, how);
        break;
    default:
        gpumb_skip(g, "%d sweeps a pass are not compiled: 2, 4, 6 and 8 are", how->sweeps);
    }
}

static void measure_pass(gpumb *g, sweep_data *d, int64_t chunk)
{
    blocking how = {d->sweeps, 0, (unsigned)chunk};
    const double moved = d->single ? cut_strips<float>(g, d, &how) : cut_strips<double>(g, d, &how);
    describe_sweep(g, d, moved);
    GPUMB_MEASURE(g, "several sweeps") {
        if (d->single)
            launch_pass<float>(g, d, &how);
        else
            launch_pass<double>(g, d, &how);
    }
}

static double useful_of(const gpumb_result *r, double bytes_each)
{
    return r->flop / 5 * bytes_each / r->time.median / 1e9;
}

static void note_blocking(gpumb *g, int type)
{
    const double each = type ? 12 : 24; /* bytes of a point and sweep, by themselves */
    const rows all = having(rows_of(blocking_bench, "several sweeps"), "type", type);
    const gpumb_result *copy =
        first_row(g, having(rows_of(blocking_bench, "memcpy"), "type", type));
    sentence s = no_words();
    double best = 0;
    for (int64_t k = next_value(g, all, "sweeps", 0); k > 0; k = next_value(g, all, "sweeps", k)) {
        const extremes e = extremes_of(g, having(all, "sweeps", k), gflops_of);
        if (!e.high)
            continue;
        const double rate = useful_of(e.high, each);
        best = rate > best ? rate : best;
        say_next(&s, ", ");
        say(&s, "%lld: %.0f useful, %.0f moved", (long long)k, rate, e.high->gbps);
    }
    if (s.text[0] && copy)
        gpumb_note(g,
                   "Sweeps of Jacobi in a pass, %s, GB/s: %s; the best is %.2f times the rate of "
                   "Memcpy, %.0f, at %.0f GFLOP/s.",
                   types[type], s.text, best / copy->gbps, copy->gbps, best / each * 5);
}

/* `bytes` is what is moved; `useful_bytes` what as many sweeps by themselves would have to;
 * elements are points updated. */
static void stencil_blocking(gpumb *g)
{
    static const int64_t sweeps_full[] = {2, 4, 6, 8}, sweeps_quick[] = {4, 8};
    static const int64_t chunk_full[] = {128, 512}, chunk_quick[] = {256}, chunk_cpu[] = {64};
    const values some_sweeps =
        choose(g, VALUES(sweeps_full), VALUES(sweeps_quick), VALUES(sweeps_full));
    const values chunks = choose(g, VALUES(chunk_full), VALUES(chunk_quick), VALUES(chunk_cpu));
    const int64_t side = !is_gpu(g) ? 200 : gpumb_get_settings(g)->full ? 16384 : 8192;
    GPUMB_SWEEP_STRINGS(g, type, types, 2)
        GPUMB_SWEEP_LIST(g, n, side) {
            sweep_data d = new_sweep(g, n, (int)type, 2);
            gpumb_copy_check check;
            measure_copy(g, &d, &check);
            GPUMB_SWEEP_ARRAY(g, sweeps, some_sweeps.at, some_sweeps.count)
                GPUMB_SWEEP_ARRAY(g, chunk, chunks.at, chunks.count) {
                    d.sweeps = (int)sweeps;
                    measure_pass(g, &d, chunk);
                }
        }
    note_blocking(g, 0);
    note_blocking(g, 1);
}

/* ---- stencil/gauss_seidel -------------------------------------------------------------------- */

static const char relaxation_bench[] = "stencil/gauss_seidel";
static const char *const colours[] = {"colours mixed", "colours apart"};

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

static relaxed mixed_points(const relaxation *d, const gpumb_buffer *u)
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

static relaxed points_apart(const relaxation *d, int colour)
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

static void part(gpumb_buffer *all, gpumb_buffer *apart, grid of, int colour, int back)
{
    GPUMB_LAUNCH(part_colours, 4096, 256, 0, GPUMB_PTR(double, all), GPUMB_PTR(double, apart), of,
                 (unsigned)colour, back);
}

/* `converges`: starts from 0 towards the solution; else from anywhere. */
static relaxation new_relaxation(gpumb *g, int64_t n, int by_colour, int converges)
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
    }
    d.solution = gpumb_alloc(g, bytes);
    gpumb_fill(g, d.solution, GPUMB_FILL_F64, seed);
    d.f = gpumb_alloc(g, bytes);
    gpumb_poison(g, d.f);
    GPUMB_LAUNCH(make_right_side, 4096, 256, 0, mixed_points(&d, d.solution),
                 GPUMB_PTR(double, d.f), d.of.n);
    d.start = gpumb_alloc(g, bytes);
    gpumb_fill(g, d.start, GPUMB_FILL_F64, seed + !converges);
    if (converges)
        GPUMB_LAUNCH(clear_inside, 4096, 256, 0, GPUMB_PTR(double, d.start), d.of);
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

static void restart(gpumb *g, void *user)
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
static void join(const relaxation *d)
{
    for (int colour = 0; colour < 2 && d->by_colour; colour++)
        part(d->u, d->apart[colour].u, d->of, colour, 1);
}

/* Bit by bit against a plain sweep on the device and, where it can follow, on the host. */
static int check_relaxation(gpumb *g, void *user)
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
static void sweep_colours(gpumb *g, const relaxation *d)
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

static void set_relaxed_outputs(gpumb *g, const relaxation *d)
{
    if (d->by_colour)
        for (int colour = 0; colour < 2; colour++)
            gpumb_set_output(g, d->apart[colour].u);
    else
        gpumb_set_output(g, d->u);
}

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

/* ---- conjugate gradients --------------------------------------------------------------------- */

static const char gradients_bench[] = "stencil/cg";

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

enum { X, R, P, Q, B, VECTORS };

typedef struct gradients {
    grid of;
    unsigned iterations;
    gpumb_buffer *vector[VECTORS], *rr, *pq, *partial, *finished;
    double error; /* the most that x may differ from the solution; 0: it is not known */
} gradients;

/* The solution of -u'' = f: 16 x (1 - x) y (1 - y), which the difference quotients of second order
 * leave without an error. */
static double exact_solution(unsigned x, unsigned y, unsigned n)
{
    const double h = 1 / (double)(n - 1), a = x * h, b = y * h;
    return 16 * a * (1 - a) * b * (1 - b);
}

/* h^2 f for it. */
static double exact_right_side(unsigned x, unsigned y, unsigned n)
{
    const double h = 1 / (double)(n - 1), a = x * h, b = y * h;
    return 32 * h * h * (a * (1 - a) + b * (1 - b));
}

/* A grid with `scale` times this right side, 0 at the border. */
static void write_right_side(gpumb *g, gpumb_buffer *to, grid of, double scale)
{
    std::vector<double> f(to ? (size_t)elements(of) : 0, 0);
    for (unsigned y = 1; y + 1 < of.n && to; y++)
        for (unsigned x = 1; x + 1 < of.n; x++)
            f[(size_t)y * of.pitch + x] = scale * exact_right_side(x, y, of.n);
    if (to)
        gpumb_write(g, to, 0, f.data(), f.size() * sizeof(double));
}

/* Clears what is never written: the border. */
static gradients new_gradients(gpumb *g, int64_t n, unsigned iterations, int known)
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
static int check_gradients(gpumb *g, void *user)
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
static double read_back(gpumb *g, const double *from)
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

static void iterate(gpumb *g, const gradients *d, int reads_back)
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

static void describe_gradients(gpumb *g, gradients *d)
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

/* ---- stencil/solve --------------------------------------------------------------------------- */

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
                        launch_sweep<double>(&s, &mappings[1]);
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
    {"stencil/jacobi", "E17: Jacobi in 1-D, 2-D, tiled mappings over grid size", stencil_jacobi},
    {"stencil/mapping", "rows of a thread and shape of a block (--full)", stencil_mapping},
    {"stencil/blocking", "several sweeps of Jacobi in one pass", stencil_blocking},
    {"stencil/gauss_seidel", "E18: red-black Gauss-Seidel, variable coefficients",
     stencil_gauss_seidel},
    {"stencil/cg", "E19: conjugate gradients, where their scalars are", stencil_cg},
    {"stencil/solve", "E17 ... E19: to a known solution", stencil_solve},
};

GPUMB_MAIN(benchmarks)

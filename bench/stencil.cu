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

/* n x n points with those at the border, which keep their values, in rows of `pitch` elements. */
typedef struct grid {
    unsigned n, pitch;
} grid;

static grid new_grid(int64_t n)
{
    const grid of = {(unsigned)n, (unsigned)((n + 31) / 32 * 32)};
    return of;
}

static uint64_t elements(grid of)
{
    return (uint64_t)of.n * of.pitch;
}

static __host__ __device__ inline bool inside(unsigned i, unsigned n)
{
    return i > 0 && i + 1 < n;
}

/* ---- Jacobi: one sweep ----------------------------------------------------------------------- */

/* A quarter of the sum is exact: the result is rounded once more, fused or not. */
template <class Type>
static __host__ __device__ inline Type relax(Type left, Type right, Type up, Type down, Type f)
{
    return Type(0.25) * ((left + right) + (up + down)) + f;
}

template <class Type>
static __host__ __device__ inline void sweep_point(const Type *u, const Type *f, Type *out, grid of,
                                                   unsigned x, unsigned y)
{
    const uint64_t i = (uint64_t)y * of.pitch + x;
    if (inside(x, of.n) && inside(y, of.n))
        out[i] = relax(u[i - 1], u[i + 1], u[i - of.pitch], u[i + of.pitch], f[i]);
    else
        out[i] = u[i];
}

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

/* A word of 16 bytes in each of `rows` rows, with all loads in flight. Indices are kept within the
 * grid: what a point at its border would not use may be anything. */
template <class Type, int rows>
static __global__ void sweep_words(const Type *__restrict__ u, const Type *__restrict__ f,
                                   Type *__restrict__ out, grid of)
{
    typedef word<Type> Word;
    const unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * Word::COUNT;
    const unsigned y = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (x >= of.n || y >= of.n)
        return;
    const unsigned before = x ? x - 1 : 0, behind = x + Word::COUNT < of.n ? x + Word::COUNT : x;
    Word a[rows + 2], b[rows];
    Type left[rows], right[rows];
    UNROLL
    for (int r = 0; r < rows + 2; r++) {
        const unsigned at = y + (unsigned)r ? y + (unsigned)r - 1 : 0;
        const unsigned row = at < of.n ? at : of.n - 1;
        a[r] = *(const Word *)&u[(uint64_t)row * of.pitch + x];
        if (r > 0 && r <= rows) {
            b[r - 1] = *(const Word *)&f[(uint64_t)row * of.pitch + x];
            left[r - 1] = u[(uint64_t)row * of.pitch + before];
            right[r - 1] = u[(uint64_t)row * of.pitch + behind];
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        const unsigned row = y + (unsigned)r;
        Word result;
        UNROLL
        for (int e = 0; e < Word::COUNT; e++) {
            const Type l = e > 0 ? a[r + 1].at[e > 0 ? e - 1 : 0] : left[r];
            const Type h =
                e + 1 < Word::COUNT ? a[r + 1].at[e + 1 < Word::COUNT ? e + 1 : 0] : right[r];
            const bool in = inside(x + (unsigned)e, of.n) && inside(row, of.n);
            const Type updated = relax(l, h, a[r].at[e], a[r + 2].at[e], b[r].at[e]);
            result.at[e] = in ? updated : a[r + 1].at[e];
        }
        if (row < of.n)
            *(Word *)&out[(uint64_t)row * of.pitch + x] = result;
    }
}

/* ---- Jacobi: several sweeps in one pass ------------------------------------------------------ */

template <class Type, int columns>
static __device__ inline void load_row(Type *to, const Type *from, grid of, int y, int x)
{
    typedef word<Type> Word;
    const unsigned row = y < 0 ? 0 : (unsigned)y < of.n ? (unsigned)y : of.n - 1;
    UNROLL
    for (int c = 0; c < columns; c += Word::COUNT) {
        const int limit = (int)of.pitch - Word::COUNT, at = x + c;
        const unsigned column = at < 0 ? 0 : at < limit ? (unsigned)at : (unsigned)limit;
        const Word w = *(const Word *)&from[(uint64_t)row * of.pitch + column];
        UNROLL
        for (int e = 0; e < Word::COUNT; e++)
            to[c + e] = w.at[e];
    }
}

/* A warp goes down a strip of the grid, `columns` neighbouring ones for each lane, and holds three
 * rows of each of `sweeps` sweeps in registers: row y of the input becomes row y - 1 after one
 * sweep, y - 2 after two, ... Neighbours in a row are in the same lane or the next. Strips overlap
 * by `sweeps` columns at either side, chunks of `chunk` rows by as many rows, and what is wrong at
 * their ends for want of neighbours stays there. Rows are loaded `ahead` turns before their use. */
template <class Type, int columns, int sweeps, int ahead>
static __global__ void several_sweeps(const Type *__restrict__ u, const Type *__restrict__ f,
                                      Type *__restrict__ out, grid of, unsigned strips,
                                      unsigned chunk)
{
    typedef word<Type> Word;
    const unsigned lanes = (unsigned)warpSize, lane = threadIdx.x % lanes;
    const unsigned warp = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    const int width = (int)lanes * columns, first = (int)(warp / strips * chunk),
              last = first + (int)chunk < (int)of.n ? first + (int)chunk : (int)of.n;
    const int own = (int)lane * columns; /* first column in the strip */
    const int x = (int)(warp % strips) * (width - 2 * sweeps) - sweeps + own;
    if (first >= (int)of.n)
        return;

    Type older[sweeps][columns] = {}, centre[sweeps][columns] = {}, fs[sweeps][columns] = {};
    Type next_u[ahead][columns], next_f[ahead][columns];
    UNROLL
    for (int k = 0; k < ahead; k++) {
        load_row<Type, columns>(next_u[k], u, of, first - sweeps + k, x);
        load_row<Type, columns>(next_f[k], f, of, first - sweeps + k - 1, x);
    }
    for (int y = first - sweeps; y < last + sweeps; y++) {
        Type newest[columns];
        UNROLL
        for (int c = 0; c < columns; c++) {
            newest[c] = next_u[0][c];
            UNROLL
            for (int t = sweeps - 1; t > 0; t--)
                fs[t][c] = fs[t - 1][c];
            fs[0][c] = next_f[0][c];
            UNROLL
            for (int k = 1; k < ahead; k++) {
                next_u[k - 1][c] = next_u[k][c];
                next_f[k - 1][c] = next_f[k][c];
            }
        }
        load_row<Type, columns>(next_u[ahead - 1], u, of, y + ahead, x);
        load_row<Type, columns>(next_f[ahead - 1], f, of, y + ahead - 1, x);
        UNROLL
        for (int t = 0; t < sweeps; t++) {
            const bool row_inside = y - 1 - t > 0 && y - t < (int)of.n;
            const Type left = PREVIOUS_LANE(centre[t][columns - 1]);
            const Type right = NEXT_LANE(centre[t][0]);
            UNROLL
            for (int c = 0; c < columns; c++) {
                const Type l = c > 0 ? centre[t][c > 0 ? c - 1 : 0] : left;
                const Type h = c + 1 < columns ? centre[t][c + 1 < columns ? c + 1 : 0] : right;
                const Type updated = relax(l, h, older[t][c], newest[c], fs[t][c]);
                const bool in = row_inside && x + c > 0 && x + c + 1 < (int)of.n;
                older[t][c] = in ? updated : centre[t][c]; /* the result, until it is moved on */
            }
            UNROLL
            for (int c = 0; c < columns; c++) {
                const Type result = older[t][c];
                older[t][c] = centre[t][c];
                centre[t][c] = newest[c];
                newest[c] = result;
            }
        }
        const int row = y - sweeps;
        UNROLL
        for (int c = 0; c < columns; c += Word::COUNT) {
            Word result;
            UNROLL
            for (int e = 0; e < Word::COUNT; e++)
                result.at[e] = newest[c + e];
            if (row >= first && own + c >= sweeps && own + c < width - sweeps && x + c < (int)of.n)
                *(Word *)&out[(uint64_t)row * of.pitch + (unsigned)(x + c)] = result;
        }
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

/* Bit by bit against plain sweeps, in turn, on the device; these, where the host can follow, against
 * its own, else in the rows at the ends and in the middle. */
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

/* Each point: u and f read, the result written; 3 additions, a product, an addition. */
static void describe_sweep(gpumb *g, sweep_data *d, double bytes)
{
    const double points = (double)d->of.n * d->of.n;
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, 5 * points * d->sweeps);
    gpumb_set_footprint(g, 3 * elements(d->of) * (d->single ? 4 : 8));
    gpumb_set_output(g, d->out);
    gpumb_set_verify(g, check_sweep_data, d);
}

static double useful_bytes(const sweep_data *d)
{
    return 3.0 * (d->single ? 4 : 8) * d->of.n * d->of.n * d->sweeps;
}

/* ---- stencil/jacobi -------------------------------------------------------------------------- */

static const char jacobi_bench[] = "stencil/jacobi";

/* rows: of sweep_words(); tiled: through shared memory; y = 0: one dimension */
typedef struct mapping {
    const char *name;
    unsigned x, y;
    int rows, tiled;
} mapping;

static const mapping mappings[] = {
    {"1-D", 256, 0, 0, 0},       {"2-D 32x8", 32, 8, 0, 0},   {"2-D 256x1", 256, 1, 0, 0},
    {"2-D 16x16", 16, 16, 0, 0}, {"tiled 32x8", 32, 8, 0, 1}, {"fastest", 128, 1, 2, 0},
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

/* Interleaved, so that the ratios to the copy are good to a fraction of a per cent. */
static void stencil_jacobi(gpumb *g)
{
    static const int64_t full[] = {64, 256, 1024, 4096, 5000, 8192, 16384};
    static const int64_t quick[] = {1024, 8192}, cpu[] = {256};
    const values sides = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_STRINGS(g, type, types, 2)
        GPUMB_SWEEP_ARRAY(g, n, sides.at, sides.count) {
            sweep_data d = new_sweep(g, n, (int)type, 1);
            gpumb_copy_check check;
            GPUMB_INTERLEAVE(g) {
                measure_copy(g, &d, &check);
                for (size_t k = 0; k < COUNT(mappings); k++)
                    measure_sweep(g, &d, &mappings[k]);
            }
        }
    note_jacobi(g, 0);
    note_jacobi(g, 1);
}

/* ---- stencil/mapping ------------------------------------------------------------------------- */

/* The form that becomes the fastest: rows of a thread and shape of a block. */
static void stencil_mapping(gpumb *g)
{
    static const char *const shapes[] = {"32x4", "64x2", "128x1", "32x8", "64x4", "256x1"};
    static const unsigned shape[][2] = {{32, 4}, {64, 2}, {128, 1}, {32, 8}, {64, 4}, {256, 1}};
    const int64_t side = !is_gpu(g) ? 256 : gpumb_get_settings(g)->full ? 16384 : 8192;
    if (!gpumb_get_settings(g)->full && is_gpu(g))
        return;
    GPUMB_SWEEP_LIST(g, n, side)
        GPUMB_SWEEP_STRINGS(g, block, shapes, is_gpu(g) ? COUNT(shapes) : 2)
            GPUMB_SWEEP_POW2(g, rows, 1, 8) {
                sweep_data d = new_sweep(g, n, 0, 1);
                const mapping m = {"words", shape[block][0], shape[block][1], (int)rows, 0};
                measure_sweep(g, &d, &m);
            }
    const extremes e = extremes_of(g, rows_of("stencil/mapping", NULL), gbps_of);
    if (e.high && e.count > 1)
        gpumb_note(g, "Fastest with %lld rows a thread in blocks of %s: %.0f GB/s, slowest %.0f.",
                   (long long)gpumb_row_axis(g, e.high_row, "rows"),
                   shapes[gpumb_row_axis(g, e.high_row, "block")], e.high->gbps, e.low->gbps);
}

/* ---- stencil/blocking ------------------------------------------------------------------------ */

static const char blocking_bench[] = "stencil/blocking";

/* `columns` of a lane; `chunk`: rows of a warp's walk. */
typedef struct blocking {
    int sweeps, columns, ahead;
    unsigned chunk;
} blocking;

/* What a form loads and stores, with what strips and chunks have in common. */
static double moved_bytes(gpumb *g, const sweep_data *d, const blocking *how, unsigned *strips)
{
    const int lanes = gpumb_get_device(g)->warp_size, n = (int)d->of.n;
    const int width = lanes * how->columns, valid = width - 2 * how->sweeps;
    double columns = 0, loaded = 0;
    *strips = (unsigned)ceil_div(d->of.n, (unsigned)valid);
    for (int s = 0; s < (int)*strips; s++) {
        const int low = s * valid - how->sweeps, high = low + width;
        columns += (high < n ? high : n) - (low > 0 ? low : 0);
    }
    for (int first = 0; first < n; first += (int)how->chunk) {
        const int low = first - how->sweeps, high = first + (int)how->chunk + how->sweeps;
        loaded += (high < n ? high : n) - (low > 0 ? low : 0);
    }
    return (d->single ? 4 : 8) * (2 * columns * loaded + (double)n * n);
}

template <class Type, int columns, int sweeps, int ahead>
static void launch_several(gpumb *g, const sweep_data *d, const blocking *how, unsigned strips)
{
    const unsigned block = is_gpu(g) ? 128 : (unsigned)gpumb_get_device(g)->warp_size;
    const uint64_t warps = strips * ceil_div(d->of.n, how->chunk),
                   each = block / (unsigned)gpumb_get_device(g)->warp_size;
    GPUMB_LAUNCH_BARRIER((several_sweeps<Type, columns, sweeps, ahead>), ceil_div(warps, each),
                         block, 0, GPUMB_PTR(const Type, d->u), GPUMB_PTR(const Type, d->f),
                         GPUMB_PTR(Type, d->out), d->of, strips, how->chunk);
}

template <class Type, int columns>
static void launch_ahead(gpumb *g, const sweep_data *d, const blocking *how, unsigned strips)
{
    if (how->sweeps == 4 && how->ahead == 1)
        launch_several<Type, columns, 4, 1>(g, d, how, strips);
    else if (how->sweeps == 4)
        launch_several<Type, columns, 4, 2>(g, d, how, strips);
    else if (how->ahead == 1)
        launch_several<Type, columns, 8, 1>(g, d, how, strips);
    else
        launch_several<Type, columns, 8, 2>(g, d, how, strips);
}

template <class Type>
static void launch_blocking(gpumb *g, const sweep_data *d, const blocking *how, unsigned strips)
{
    if (sizeof(Type) == 8 && how->columns == 2)
        launch_ahead<Type, 16 / sizeof(Type)>(g, d, how, strips);
    else
        launch_ahead<Type, 4>(g, d, how, strips);
}

static void measure_blocking(gpumb *g, sweep_data *d, const blocking *how)
{
    unsigned strips;
    describe_sweep(g, d, moved_bytes(g, d, how, &strips));
    GPUMB_MEASURE(g, "several sweeps") {
        if (d->single)
            launch_blocking<float>(g, d, how, strips);
        else
            launch_blocking<double>(g, d, how, strips);
    }
}

static void stencil_blocking(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t side = !gpu ? 200 : full ? 16384 : 8192;
    GPUMB_SWEEP_STRINGS(g, type, types, 2)
        GPUMB_SWEEP_LIST(g, n, side)
            GPUMB_SWEEP_LIST(g, sweeps, 4, 8)
                GPUMB_SWEEP_RANGE(g, columns, type ? 4 : 2, 4, 2)
                    GPUMB_SWEEP_LIST(g, ahead, 1, 2)
                        GPUMB_SWEEP_FACTOR(g, chunk, full ? 64 : 256, full ? 1024 : 256, 2) {
                            sweep_data d = new_sweep(g, n, (int)type, (int)sweeps);
                            const blocking how = {(int)sweeps, (int)columns, (int)ahead,
                                                  (unsigned)chunk};
                            measure_blocking(g, &d, &how);
                        }
    (void)blocking_bench;
}

static const gpumb_benchmark benchmarks[] = {
    {"stencil/jacobi", "E17: Jacobi in 1-D, 2-D, tiled mappings over grid size", stencil_jacobi},
    {"stencil/mapping", "rows of a thread and shape of a block (--full)", stencil_mapping},
    {"stencil/blocking", "several sweeps of Jacobi in one pass", stencil_blocking},
};

GPUMB_MAIN(benchmarks)

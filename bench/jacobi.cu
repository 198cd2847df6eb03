/* Jacobi's method for the 5-point stencil: its mappings to threads over the grid's size, and
 * several sweeps in one pass. */
#include "gpumb.h"

#include "jacobi.h"

/* ---- several sweeps in one pass -------------------------------------------------------------- */

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

/* ---- stencil/jacobi -------------------------------------------------------------------------- */

static const char jacobi_bench[] = "stencil/jacobi";

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
    static const int64_t full[] = {64, 1024, 5000, 16384};
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

static const char mapping_bench[] = "stencil/mapping";

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
    const extremes e = extremes_of(g, rows_of(mapping_bench, NULL), gbps_of);
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

static const gpumb_benchmark benchmarks[] = {
    {jacobi_bench, "Jacobi in 1-D, 2-D, tiled mappings over grid size", stencil_jacobi},
    {mapping_bench, "rows of a thread and shape of a block (--full)", stencil_mapping},
    {blocking_bench, "several sweeps of Jacobi in one pass", stencil_blocking},
};

GPUMB_MAIN(benchmarks)

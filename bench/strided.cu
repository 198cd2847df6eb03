/* A strided copy: the useful rate falls with the sectors that a warp touches, until each thread
 * touches one of its own; and what is lost beyond that. */
#include "gpumb.h"

#include "access.h"

enum { MAX_ELEMENT = 16, LIST_QUICK = 8, LIST_FULL = 46 };
static const int64_t elements[] = {1, 2, 4, 8, 16};
static const int64_t elements_quick[] = {1, 4, 16}, elements_cpu[] = {4, 16};
static const int64_t strides_quick[LIST_QUICK] = {1, 2, 4, 8, 16, 32, 64, 256};

/* Every stride up to 16, every fourth up to 32, then powers of two and what lies between them.
 * Returns how many are not above `most`. */
static size_t list_strides(gpumb *g, int64_t *strides, int64_t most)
{
    size_t count = 0;
    if (!gpumb_get_settings(g)->full) {
        for (int i = 0; i < LIST_QUICK && strides_quick[i] <= most; i++)
            strides[count++] = strides_quick[i];
        return count;
    }
    for (int64_t stride = 1; stride <= 32 && stride <= most; stride += stride < 16 ? 1 : 4)
        strides[count++] = stride;
    for (int64_t power = 32; power <= 2048; power *= 2) {
        if (power / 2 * 3 <= most)
            strides[count++] = power / 2 * 3;
        if (power * 2 <= most)
            strides[count++] = power * 2;
    }
    return count;
}

static gpumb_coalescing model(gpumb *g, int elem, uint64_t stride)
{
    const access_unit unit = unit_of_access(g, elem);
    return gpumb_coalesce_strided(elem, stride, 0, unit.warp, unit.sector, unit.line);
}

/* Describes the copy of every `stride`-th element and returns how many these are. Its footprint are
 * the sectors that are fetched: what lies between them stays out of the caches. */
static uint64_t describe_strided(gpumb *g, gpumb_stride_check *check, gpumb_buffer *in,
                                 gpumb_buffer *out, int elem, uint64_t stride)
{
    const uint64_t all = gpumb_size(in) / (uint64_t)(elem > 0 ? elem : 1);
    const double efficiency = model(g, elem, stride).efficiency;
    memset(check, 0, sizeof *check);
    check->in = in;
    check->out = out;
    check->elem = elem;
    check->n = all ? (all - 1) / stride + 1 : 0;
    check->stride = stride;
    describe_access(g, check, out,
                    efficiency > 0 ? (uint64_t)(2.0 * (double)check->n * elem / efficiency) : 0);
    return check->n;
}

/* The rate at stride 1 over the same span, in GB/s; 0 while a sweep enumerates. */
static double measure_reference(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int elem, int block)
{
    gpumb_stride_check check;
    gpumb_result r;
    const uint64_t n = describe_strided(g, &check, in, out, elem, 1);
    GPUMB_TIME(&r)
        gpumb_strided(g, elem, n, 1, block, gpumb_data(in), gpumb_data(out));
    return r.status == GPUMB_STATUS_OK ? r.gbps : 0;
}

static void measure_strided(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int elem,
                            uint64_t stride, int block, double reference)
{
    gpumb_stride_check check;
    const uint64_t n = describe_strided(g, &check, in, out, elem, stride);
    if (reference > 0)
        gpumb_set_expected(g, reference,
                           model(g, elem, stride).efficiency / model(g, elem, 1).efficiency);
    GPUMB_MEASURE(g, "strided")
        gpumb_strided(g, elem, n, stride, block, gpumb_data(in), gpumb_data(out));
}

/* ---- the same span at each stride ------------------------------------------------------------ */

static const char memory_bench[] = "strided/memory";

/* How far the rows of one size of elements keep to the model. */
typedef struct agreement {
    int64_t until, last;         /* within 10 % up to this stride; the largest of all */
    int64_t low_at, high_at;     /* where measured over expected is ... */
    double low, high;            /* ... lowest and highest */
    const gpumb_result *low_row; /* valid until the next row */
} agreement;

static agreement agreement_of(gpumb *g, int64_t elem)
{
    agreement a = {0, 0, 0, 0, 1, 1, NULL};
    int64_t first_off = INT64_MAX;
    for (int pass = 0; pass < 2; pass++) /* the second: the largest stride below first_off */
        for (size_t i = 0; i < gpumb_row_count(g); i++) {
            const gpumb_result *r = row_in(g, having(rows_of(memory_bench, NULL), "elem", elem), i);
            const int64_t stride = gpumb_row_axis(g, i, "stride");
            if (!r || !(r->expected_pct > 0) || r->flags & GPUMB_FLAG_CACHED)
                continue;
            const double ratio = r->measured_pct / r->expected_pct;
            if (pass && stride < first_off && stride > a.until)
                a.until = stride;
            if ((ratio < 0.9 || ratio > 1.1) && stride < first_off)
                first_off = stride;
            a.last = stride > a.last ? stride : a.last;
            if (ratio < a.low) {
                a.low = ratio;
                a.low_at = stride;
                a.low_row = r;
            }
            if (ratio > a.high) {
                a.high = ratio;
                a.high_at = stride;
            }
        }
    return a;
}

/* Where each size of elements leaves the model. */
static void note_agreement(gpumb *g)
{
    sentence s = no_words();
    for (int i = 0; i < 5; i++) {
        const agreement a = agreement_of(g, elements[i]);
        if (!a.last)
            continue;
        say_next(&s, "; ");
        say(&s, "%d B: ", (int)elements[i]);
        if (a.until)
            say(&s, "%sup to %lld", a.until == a.last ? "all, " : "", (long long)a.until);
        else
            say(&s, "none");
    }
    if (s.text[0])
        gpumb_note(g, "Strides at which measured and expected agree within 10 %%: %s.", s.text);
}

/* The largest fall below the model, and which distances between threads it comes from. */
static void note_below(gpumb *g)
{
    agreement worst = {0, 0, 0, 0, 0.9, 1, NULL};
    int64_t elem = 0;
    for (int i = 0; i < 5; i++) {
        const agreement a = agreement_of(g, elements[i]);
        if (a.low < worst.low) {
            worst = a;
            elem = elements[i];
        }
    }
    if (!worst.low_row)
        return;
    const int sector = unit_of_access(g, (int)elem).sector;
    const int alone = is_gpu(g) && elem * worst.low_at >= sector;
    gpumb_note(g,
               "Farthest below: %d B at stride %lld, %lld bytes apart, measured %.2f %%, expected "
               "%.2f %%%s.",
               (int)elem, (long long)worst.low_at, (long long)(elem * worst.low_at),
               worst.low_row->measured_pct, worst.low_row->expected_pct,
               alone ? ": each thread has a sector of its own there, so it is not the sectors"
                     : "");
    if (!alone)
        return;
    for (int i = 4; i >= 0; i--) { /* the largest element that was measured at all three */
        const int64_t e = elements[i], last = agreement_of(g, e).last;
        const rows some = having(rows_of(memory_bench, NULL), "elem", e);
        const gpumb_result *one = first_row(g, having(some, "stride", sector / e));
        const gpumb_result *two = first_row(g, having(some, "stride", 2 * sector / e));
        const gpumb_result *far = first_row(g, having(some, "stride", last));
        if (!one || !two || !far || e * last < 8 * sector)
            continue;
        const double granule = two->gbps / one->gbps, rest = far->gbps / two->gbps;
        gpumb_note(
            g,
            "%d B elements keep %.2f of their rate from %d to %d bytes apart%s, and %.2f from "
            "there to %lld%s.",
            (int)e, granule, sector, 2 * sector,
            granule < 0.67 ? ", as if two sectors were fetched for one" : "", rest,
            (long long)(e * last), rest < 0.9 ? ", which leaves DRAM pages and the TLB" : "");
        return;
    }
}

/* Elements that do better than the model, because it starts from a rate that memory did not set. */
static void note_above(gpumb *g)
{
    sentence s = no_words();
    int memory_is_idle = 1;
    for (int i = 0; i < 5; i++) {
        const agreement a = agreement_of(g, elements[i]);
        const gpumb_result *first = first_row(
            g, having(having(rows_of(memory_bench, NULL), "elem", elements[i]), "stride", 1));
        if (a.high <= 1.1)
            continue;
        say_next(&s, ", ");
        say(&s, "%.1f for %d B (stride %lld)", a.high, (int)elements[i], (long long)a.high_at);
        memory_is_idle &= first && first->pct_peak > 0 && first->pct_peak < 75;
    }
    if (s.text[0])
        gpumb_note(g, "Measured over expected is up to %s.%s", s.text,
                   memory_is_idle ? " At stride 1 these stay below 75 % of the peak: it is not the "
                                    "memory that limits them there."
                                  : "");
}

static void strided_memory(gpumb *g)
{
    static double reference[MAX_ELEMENT + 1]; /* a configuration is a pass of its own */
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const uint64_t bytes = gpu ? (full ? (uint64_t)4 << 30 : (uint64_t)1 << 30) : 1 << 26;
    /* Farther apart, the sectors of all threads fit into the L2. */
    const int64_t distance = gpu ? (int64_t)(bytes >> 20) : 1 << 10;
    const values sizes = choose(g, VALUES(elements), VALUES(elements_quick), VALUES(elements_cpu));
    int64_t strides[LIST_FULL];
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, stride, strides, list_strides(g, strides, distance / elem)) {
            double *rate = &reference[elem <= MAX_ELEMENT ? elem : 0];
            if (!(*rate > 0))
                *rate = measure_reference(g, in, out, (int)elem, 256);
            measure_strided(g, in, out, (int)elem, (uint64_t)stride, 256, *rate);
        }
    note_agreement(g);
    note_below(g);
    note_above(g);
}

/* ---- the published geometries ---------------------------------------------------------------- */

typedef struct published {
    int block, blocks, elem;
} published;

static const char original_bench[] = "strided/original";
static const char *const names[] = {"256x4096x8B", "128x2048x16B"};
static const published geometries[] = {{256, 4096, 8}, {128, 2048, 16}};

static void note_original(gpumb *g, int64_t which)
{
    const rows some = having(rows_of(original_bench, NULL), "geometry", which);
    const int64_t last = last_value(g, some, "stride");
    const gpumb_result *first = first_row(g, having(some, "stride", 1));
    const gpumb_result *far = first_row(g, having(some, "stride", last));
    if (!first || last <= 1)
        return;
    gpumb_note(
        g, "%s: from %.0f GB/s at stride 1%s to %.0f GB/s at stride %lld%s.", names[which],
        first->gbps, first->flags & GPUMB_FLAG_CACHED ? ", where the data stay in a cache," : "",
        far->gbps, (long long)last,
        far->measured_pct > 1.1 * far->expected_pct ? ", more than the sectors let expect of memory"
        : far->measured_pct < 0.9 * far->expected_pct ? ", less than the sectors let expect"
                                                      : ", as the sectors let expect");
}

/* As many threads at each stride, as the originals had it: the span grows. */
static void strided_original(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    int64_t strides[LIST_FULL];
    GPUMB_SWEEP_STRINGS(g, geometry, names, 2)
        GPUMB_SWEEP_ARRAY(g, stride, strides,
                          list_strides(g, strides, is_gpu(g) || full ? 32 : 8)) {
            const int elem = geometries[geometry].elem, block = geometries[geometry].block;
            const uint64_t n = (uint64_t)block * (uint64_t)geometries[geometry].blocks;
            const uint64_t bytes = ((n - 1) * (uint64_t)stride + 1) * (uint64_t)elem;
            gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
            gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
            measure_strided(g, in, out, elem, (uint64_t)stride, block,
                            measure_reference(g, in, out, elem, block));
        }
    for (int64_t which = 0; which < 2; which++)
        note_original(g, which);
}

static const gpumb_benchmark benchmarks[] = {
    {memory_bench, "strided copy: rate over stride and element size, on a fixed span",
     strided_memory},
    {original_bench, "the same in the published geometries: a fixed number of threads",
     strided_original},
};

GPUMB_MAIN(benchmarks)

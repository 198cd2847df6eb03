/* Inclusive and exclusive scans of any number of elements in one launch, over n, against the
 * vendor's library and a copy; the forms of the scan. */
#include "gpumb.h"

#include "bench.h"
#include "scan.h"

#define CUB_HEADER <cub/device/device_scan.cuh>
#include "library.h"

static const char *const types[SCAN_TYPES] = {"i32", "f32", "u64", "f64"};
static const char *const kinds[] = {"inclusive", "exclusive"};

/* ---- one scan -------------------------------------------------------------------------------- */

/* The form that is fastest at n. */
static const scan_form *form_of(gpumb *g, uint64_t n, int type)
{
    int form = 0;
    while (n * size_of_type(type) > scan_forms[form].most_kib * KiB)
        form++;
    return &scan_forms[form == RING && (!is_gpu(g) || !ring_blocks(g, type)) ? RING - 1 : form];
}

static void fill(gpumb *g, scan_job *j)
{
    static const gpumb_fill_kind fills[] = {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_BITS,
                                            GPUMB_FILL_F64};
    const uint64_t blocks = 16 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    j->in = gpumb_alloc(g, size_of_type(j->type) * j->n);
    j->out = gpumb_alloc(g, size_of_type(j->type) * j->n);
    gpumb_fill(g, j->in, fills[j->type], gpumb_get_settings(g)->seed);
    if (is_float(j->type))
        GPUMB_FOR_TYPES(
            j->type / 2, Type, (float, double),
            GPUMB_LAUNCH(make_positive<Type>, blocks, 256, 0, GPUMB_PTR(Type, j->in), j->n));
}

static void describe(gpumb *g, scan_job *j)
{
    gpumb_set_bytes(g, 2.0 * (double)(size_of_type(j->type) * j->n));
    gpumb_set_elements(g, (double)j->n);
    gpumb_set_footprint(g, 2 * size_of_type(j->type) * j->n);
    gpumb_set_timing(g, is_gpu(g) ? GPUMB_TIMING_GRAPH : GPUMB_TIMING_AUTO);
    gpumb_set_output(g, j->out);
}

static void measure_scan(gpumb *g, scan_job *j)
{
    describe(g, j);
    gpumb_set_verify(g, check_scan, j);
    GPUMB_MEASURE(g, "scan")
        scan(g, j);
}

static void measure_copy(gpumb *g, scan_job *j, gpumb_copy_check *check)
{
    check->in = j->in;
    check->out = j->out;
    check->bytes = size_of_type(j->type) * j->n;
    check->mode = GPUMB_READ_WRITE;
    describe(g, j);
    gpumb_set_verify(g, gpumb_check_copy, check);
    GPUMB_MEASURE(g, "copy")
        gpumb_copy(g, GPUMB_FORM_FASTEST, 4, check->bytes / 4, 0, gpumb_data(j->in),
                   gpumb_data(j->out));
}

/* ---- the vendor's library -------------------------------------------------------------------- */

#ifndef NO_LIBRARY
/* Where `room` is NULL, says instead how much of it is wanted. Returns what went wrong. */
static const char *library_scan(gpumb *g, const scan_job *j, void *room, size_t *bytes)
{
    const library_stream stream = (library_stream)gpumb_stream(g);
    const int n = (int)j->n; /* its fastest kind of index */
    if (j->n > INT32_MAX)
        return LIBRARY_NAME " is called with a 32-bit count of elements";
#define LIBRARY_SCAN(Kind, Type)                                                                   \
    library::DeviceScan::Kind(room, *bytes, GPUMB_PTR(const Type, j->in), GPUMB_PTR(Type, j->out), \
                              n, stream)
    auto error = decltype(LIBRARY_SCAN(InclusiveSum, int))();
    GPUMB_FOR_TYPES(j->type, Type, (int, float, uint64_t, double),
                    error = j->exclusive ? LIBRARY_SCAN(ExclusiveSum, Type)
                                         : LIBRARY_SCAN(InclusiveSum, Type));
    return error ? library_error(error) : NULL;
}

/* `room` takes the place of the state. The library's own tiles are not to be had; the bound of
 * floats holds for those of 512 elements and more, with up to 128 additions in each. */
static void measure_library(gpumb *g, scan_job *j, gpumb_buffer *room)
{
    size_t bytes = (size_t)gpumb_size(room);
    j->tile = 512;
    j->within = 128;
    describe(g, j);
    gpumb_set_verify(g, check_scan, j);
    GPUMB_MEASURE(g, "library") {
        const char *trouble = library_scan(g, j, gpumb_data(room), &bytes);
        if (trouble)
            gpumb_skip(g, "%s", trouble);
    }
}

static gpumb_buffer *library_room(gpumb *g, const scan_job *j)
{
    size_t bytes = 0;
    if (gpumb_data(j->in)) /* nothing runs while a sweep enumerates */
        (void)library_scan(g, j, NULL, &bytes);
    return gpumb_alloc(g, bytes ? bytes : 1);
}
#endif

/* ---- n --------------------------------------------------------------------------------------- */

static const char size_bench[] = "scan/size";

/* The time of another over that of the scan, at each n, and the rate at the largest. */
static void note_size(gpumb *g, int64_t type, int64_t kind, const char *kernel, const char *called)
{
    const rows all = having(having(rows_of(size_bench, NULL), "type", type), "kind", kind);
    sentence t = no_words();
    for (int64_t n = next_value(g, all, "n", 0); n >= 0; n = next_value(g, all, "n", n)) {
        rows own = having(all, "n", n), others = own;
        own.kernel = "scan";
        others.kernel = kernel;
        const gpumb_result *scan = first_row(g, own), *other = first_row(g, others);
        if (!scan || !other)
            continue;
        say_next(&t, ", ");
        say(&t, "%.2f at ", other->time.median / scan->time.median);
        say_number(&t, n);
    }
    if (t.text[0])
        gpumb_note(g, "%s scan of %s, time of %s over that of the scan: %s.", kinds[kind],
                   types[type], called, t.text);
}

static void note_rate(gpumb *g)
{
    rows all = rows_of(size_bench, "scan");
    const int64_t n = last_value(g, all, "n");
    const extremes e = extremes_of(g, having(all, "n", n), gbps_of);
    sentence t = no_words();
    if (!e.high)
        return;
    say_number(&t, n);
    say(&t, " elements: %.4g ... ", e.low->gbps);
    say_gbps(&t, e.high);
    gpumb_note(g, "%s.", t.text);
}

static void scan_size(gpumb *g)
{
    static const int64_t full[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19,
                                   1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 29};
    static const int64_t quick[] = {1 << 16, 1 << 20, 1 << 24, 1 << 28}, cpu[] = {1 << 12, 1 << 16};
    const values sizes =
        choose(g, values_of(full, is_gpu(g) ? COUNT(full) : 6), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, type, types, SCAN_TYPES)
            GPUMB_SWEEP_STRINGS(g, kind, kinds, 2) {
                if (kind && type != SCAN_I32)
                    continue; /* as fast: the same loads and stores */
                const uint64_t count = (uint64_t)n;
                scan_job own =
                    new_scan(g, form_of(g, count, (int)type), (int)type, (int)kind, count);
                fill(g, &own);
                gpumb_copy_check check;
#ifndef NO_LIBRARY
                scan_job other = own;
                gpumb_buffer *room = library_room(g, &other);
#endif
                GPUMB_INTERLEAVE(g) {
                    measure_scan(g, &own);
#ifndef NO_LIBRARY
                    measure_library(g, &other, room);
#else
                    replay_library(g);
#endif
                    measure_copy(g, &own, &check);
                }
            }
    for (int64_t type = 0; type < SCAN_TYPES; type++) {
        for (int64_t kind = 0; kind < 2; kind++)
            note_size(g, type, kind, "library", LIBRARY_NAME);
        note_size(g, type, 0, "copy", "a copy");
    }
    note_rate(g);
}

/* ---- forms ----------------------------------------------------------------------------------- */

static const char form_bench[] = "scan/form";
static char form_names[COUNT(scan_forms)][48];
static const char *names[COUNT(scan_forms)];

static void note_forms(gpumb *g)
{
    const rows all = noisy_too(rows_of(form_bench, NULL));
    sentence t = no_words();
    for (int64_t n = next_value(g, all, "n", 0); n >= 0; n = next_value(g, all, "n", n)) {
        const extremes e = extremes_of(g, having(all, "n", n), time_of);
        if (!e.low || e.count < 2)
            continue;
        say_next(&t, "; ");
        say_number(&t, n);
        say(&t, ": %s, ", names[gpumb_row_axis(g, e.low_row, "form")]);
        say_time(&t, e.low->time.median);
    }
    if (t.text[0])
        gpumb_note(g, "Fastest forms: %s.", t.text);
}

static void scan_form_bench(gpumb *g)
{
    static const int64_t full[] = {1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 28};
    static const int64_t quick[] = {1 << 18, 1 << 24}, cpu[] = {1 << 14};
    const values sizes = choose(g, values_of(full, is_gpu(g) ? 6 : 2), VALUES(quick), VALUES(cpu));
    for (size_t i = 0; i < COUNT(scan_forms); i++) {
        const scan_form *f = &scan_forms[i];
        snprintf(form_names[i], sizeof form_names[i], i == RING ? "ring" : "%dx%d", f->threads,
                 4 * f->words);
        names[i] = form_names[i];
    }
    GPUMB_SWEEP_ARRAY(g, n, sizes.at, sizes.count)
        GPUMB_SWEEP_STRINGS(g, form, names, COUNT(names)) {
            scan_job j = new_scan(g, &scan_forms[form], SCAN_I32, 0, (uint64_t)n);
            fill(g, &j);
            if (form == RING && !j.ring_blocks)
                gpumb_skip(g, "the ring needs barriers and bulk copies of sm_90, and 200 KB");
            measure_scan(g, &j);
        }
    note_forms(g);
}

static const gpumb_benchmark benchmarks[] = {
    {size_bench, "time and rate over n, against the vendor's library and a copy", scan_size},
    {form_bench, "threads, elements of each, or the ring", scan_form_bench},
};

GPUMB_MAIN(benchmarks)

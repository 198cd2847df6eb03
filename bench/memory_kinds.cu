/* A kernel that reads or writes pinned host memory through the link, over the threads in flight.
 * Managed memory, its pages on the host or on the device before the run, moved by faults, by a
 * prefetch, or not at all, as advised; and what it costs to move a page. */
#include "gpumb.h"

#include "bench.h"

static const char *const modes[] = {"kernel reads", "kernel writes"};
enum { READS, WRITES };

/* So many bytes in a kernel's copy between host or managed memory and the device's. */
static void describe_copy(gpumb *g, gpumb_copy_check *check, gpumb_memory kind, int64_t mode,
                          uint64_t bytes)
{
    gpumb_buffer *in = gpumb_alloc_kind(g, mode == READS ? kind : GPUMB_MEMORY_DEVICE, bytes);
    gpumb_buffer *out = gpumb_alloc_kind(g, mode == READS ? GPUMB_MEMORY_DEVICE : kind, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    check->in = in;
    check->out = out;
    check->bytes = bytes;
    check->mode = GPUMB_READ_WRITE;
    gpumb_set_footprint(g, 2 * bytes);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_copy, check);
}

static void run_copy(gpumb *g, const gpumb_copy_check *c, int elem, int64_t blocks, int64_t block)
{
    gpumb_zcopy(g, GPUMB_FORM_NAIVE, GPUMB_READ_WRITE, elem, c->bytes / (uint64_t)elem,
                (uint64_t)blocks, (int)block, gpumb_data(c->in), gpumb_data(c->out));
}

/* ---- memory_kinds/zero_copy ------------------------------------------------------------------ */

static const char zero_copy_bench[] = "memory_kinds/zero_copy";

/* The best rate of a way and an element size, and the fewest threads that come close to it. */
static void note_zero_copy(gpumb *g)
{
    double best[2] = {0, 0};
    for (int mode = 0; mode < 2; mode++) {
        const rows way = having(rows_of(zero_copy_bench, NULL), "mode", mode);
        for (int64_t elem = next_value(g, way, "elem", 0); elem > 0;
             elem = next_value(g, way, "elem", elem)) {
            const rows some = having(way, "elem", elem);
            const extremes e = extremes_of(g, some, gbps_of);
            size_t least = e.high_row;
            sentence s = no_words();
            if (!e.high || e.count < 2)
                continue;
            for (size_t i = 0; i < gpumb_row_count(g); i++) {
                const gpumb_result *r = row_in(g, some, i);
                if (r && r->gbps >= 0.95 * e.high->gbps &&
                    gpumb_row_axis(g, i, "blocks") * gpumb_row_axis(g, i, "block") <
                        gpumb_row_axis(g, least, "blocks") * gpumb_row_axis(g, least, "block"))
                    least = i;
            }
            say(&s, "%.4g GB/s", e.high->gbps);
            if (e.high->pct_link > 0)
                say(&s, ", %.1f %% of the link's rate", e.high->pct_link);
            gpumb_note(g,
                       "Pinned memory, a %s %lld bytes a thread: %s; 95 %% of it take %lld x %lld "
                       "threads.",
                       modes[mode], (long long)elem, s.text,
                       (long long)gpumb_row_axis(g, least, "blocks"),
                       (long long)gpumb_row_axis(g, least, "block"));
            best[mode] = best[mode] > e.high->gbps ? best[mode] : e.high->gbps;
        }
    }
    if (best[READS] > 0 && best[WRITES] > 0)
        gpumb_note(g, "Writing the host's memory reaches %.3f of the rate of reading it.",
                   best[WRITES] / best[READS]);
}

static void zero_copy(gpumb *g)
{
    static const int64_t elem_full[] = {4, 16}, elem_quick[] = {4, 16}, elem_cpu[] = {4};
    static const int64_t block_full[] = {32, 256, 1024}, block_quick[] = {256}, block_cpu[] = {64};
    static const int64_t blocks_full[] = {1, 8, 16, 66, 132, 1056};
    static const int64_t blocks_quick[] = {1, 8, 33, 132}, blocks_cpu[] = {1, 8};
    const values elems = choose(g, VALUES(elem_full), VALUES(elem_quick), VALUES(elem_cpu));
    const values sizes = choose(g, VALUES(block_full), VALUES(block_quick), VALUES(block_cpu));
    const values counts = choose(g, VALUES(blocks_full), VALUES(blocks_quick), VALUES(blocks_cpu));
    GPUMB_SWEEP_STRINGS(g, mode, modes, 2)
        GPUMB_SWEEP_ARRAY(g, elem, elems.at, elems.count)
            GPUMB_SWEEP_ARRAY(g, block, sizes.at, sizes.count)
                GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count) {
                    /* As many turns for each thread, while memory lasts: few threads are slow. */
                    const uint64_t turns = is_gpu(g) ? 1024 : 16, most = (uint64_t)256 << 20;
                    const uint64_t all = (uint64_t)(blocks * block * elem) * turns;
                    const uint64_t bytes =
                        all < most ? all : most / (uint64_t)elem * (uint64_t)elem;
                    gpumb_copy_check check;
                    describe_copy(g, &check, GPUMB_MEMORY_PINNED, mode, bytes);
                    gpumb_set_transfer(g, mode == READS ? (double)bytes : 0,
                                       mode == READS ? 0 : (double)bytes);
                    GPUMB_MEASURE(g, "zcopy")
                        run_copy(g, &check, (int)elem, blocks, block);
                }
    note_zero_copy(g);
}

/* ---- memory_kinds/managed -------------------------------------------------------------------- */

static const char managed_bench[] = "memory_kinds/managed";

/* Where the pages are before a run, what the driver is told of them, and whether they are
 * prefetched in the run. */
typedef struct placing {
    gpumb_memory before;
    int prefetched;
    gpumb_advice advice[2];
} placing;

enum { ON_DEVICE, FAULTS, PREFETCHED, STAYS };
static const char *const pages_names[] = {"device",
                                          "host",
                                          "host, prefetched",
                                          "host, to stay",
                                          "host, device preferred",
                                          "host, read mostly",
                                          "host, read mostly, prefetched"};
static const placing placings[] = {
    {GPUMB_MEMORY_DEVICE, 0, {GPUMB_ADVICE_NONE, GPUMB_ADVICE_NONE}},
    {GPUMB_MEMORY_HOST, 0, {GPUMB_ADVICE_NONE, GPUMB_ADVICE_NONE}},
    {GPUMB_MEMORY_HOST, 1, {GPUMB_ADVICE_NONE, GPUMB_ADVICE_NONE}},
    {GPUMB_MEMORY_HOST, 0, {GPUMB_ADVICE_PREFER_HOST, GPUMB_ADVICE_DEVICE_ACCESSES}},
    {GPUMB_MEMORY_HOST, 0, {GPUMB_ADVICE_PREFER_DEVICE, GPUMB_ADVICE_NONE}},
    {GPUMB_MEMORY_HOST, 0, {GPUMB_ADVICE_READ_MOSTLY, GPUMB_ADVICE_NONE}},
    {GPUMB_MEMORY_HOST, 1, {GPUMB_ADVICE_READ_MOSTLY, GPUMB_ADVICE_NONE}},
};

typedef struct managed {
    gpumb_copy_check check;
    const gpumb_buffer *moving; /* the managed one */
    const placing *how;
} managed;

/* Before each run. A prefetch alone would leave read-mostly pages where they have copies: the host
 * writes to each, which takes the copies back. */
static void place_pages(gpumb *g, void *user)
{
    const managed *m = (const managed *)user;
    char *at = GPUMB_PTR(char, m->moving);
    char last;
    gpumb_prefetch(g, m->moving, m->how->before);
    if (m->how->before == GPUMB_MEMORY_DEVICE || !at ||
        m->how->advice[0] != GPUMB_ADVICE_READ_MOSTLY)
        return;
    gpumb_read(g, m->moving == m->check.in ? m->check.out : m->check.in, 0, &last, 1); /* waits */
    for (uint64_t i = 0; i < gpumb_size(m->moving); i += 4096)
        *(volatile char *)(at + i) = at[i];
}

/* Migrations are seldom quiet: without noisy rows only slow geometries would be left. */
static const gpumb_result *fastest(gpumb *g, rows some)
{
    const gpumb_result *best = NULL;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, noisy_too(some), i);
        best = r && (!best || r->gbps > best->gbps) ? r : best;
    }
    return best;
}

static const char *noise_of(const gpumb_result *r)
{
    return r->flags & GPUMB_FLAG_NOISY ? " (noisy)" : "";
}

static void note_managed(gpumb *g)
{
    for (int mode = 0; mode < 2; mode++) {
        const gpumb_result *best[COUNT(placings)];
        sentence s = no_words();
        for (size_t i = 0; i < COUNT(placings); i++) {
            best[i] = fastest(
                g, having(having(rows_of(managed_bench, NULL), "mode", mode), "pages", (int64_t)i));
            if (!best[i])
                continue;
            say_next(&s, "; ");
            say(&s, "%s %.4g%s", pages_names[i], best[i]->gbps / 2, noise_of(best[i]));
        }
        if (s.text[0])
            gpumb_note(g, "Managed memory, a %s it, GB/s of its bytes, best geometry: %s.",
                       modes[mode], s.text);
        if (best[FAULTS] && best[PREFETCHED])
            gpumb_note(
                g, "%s: moving the pages by a prefetch is %.2f times as fast as by faults%s.",
                modes[mode], best[PREFETCHED]->gbps / best[FAULTS]->gbps, noise_of(best[FAULTS]));
        if (best[FAULTS] && best[STAYS])
            gpumb_note(g, "%s: leaving them on the host is %.2f times as fast as faults%s.",
                       modes[mode], best[STAYS]->gbps / best[FAULTS]->gbps, noise_of(best[FAULTS]));
    }
}

static void managed_memory(gpumb *g)
{
    static const int64_t blocks_full[] = {132, 1056}, blocks_quick[] = {132};
    static const int64_t blocks_cpu[] = {8};
    const values counts = choose(g, VALUES(blocks_full), VALUES(blocks_quick), VALUES(blocks_cpu));
    const uint64_t bytes = (uint64_t)(is_gpu(g) ? 128 : 8) << 20;
    GPUMB_SWEEP_STRINGS(g, mode, modes, 2)
        GPUMB_SWEEP_STRINGS(g, pages, pages_names, COUNT(placings))
            GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count) {
                managed m;
                m.how = &placings[pages];
                /* What is written is not read mostly. */
                if (mode == WRITES && m.how->advice[0] == GPUMB_ADVICE_READ_MOSTLY)
                    continue;
                describe_copy(g, &m.check, GPUMB_MEMORY_MANAGED, mode, bytes);
                m.moving = mode == READS ? m.check.in : m.check.out;
                for (int i = 0; i < 2; i++)
                    if (m.how->advice[i] != GPUMB_ADVICE_NONE)
                        gpumb_advise(g, m.moving, m.how->advice[i]);
                gpumb_set_bytes(g, 2.0 * (double)bytes);
                gpumb_set_reset(g, place_pages, &m);
                GPUMB_MEASURE(g, "zcopy") {
                    if (m.how->prefetched)
                        gpumb_prefetch(g, m.moving, GPUMB_MEMORY_DEVICE);
                    run_copy(g, &m.check, 16, blocks, 256);
                }
            }
    note_managed(g);
}

/* ---- memory_kinds/migration ------------------------------------------------------------------ */

static const char migration_bench[] = "memory_kinds/migration";

/* out[i] is the word at i * distance words. */
static __global__ void gather(const unsigned *in, unsigned *out, uint64_t n, uint64_t distance)
{
    GPUMB_GRID_STRIDE(i, n) {
        out[i] = in[i * distance];
    }
}

typedef struct touches {
    gpumb_buffer *in, *out;
    uint64_t n, words; /* so many, so far apart */
    unsigned round;
} touches;

/* All pages on the device, then some by the host: those move there, and back in the run. */
static void touch_pages(gpumb *g, void *user)
{
    touches *t = (touches *)user;
    unsigned *in = GPUMB_PTR(unsigned, t->in), last;
    gpumb_prefetch(g, t->in, GPUMB_MEMORY_DEVICE);
    gpumb_read(g, t->out, 0, &last, sizeof last); /* waits */
    t->round++;
    for (uint64_t i = 0; in && i < t->n; i++)
        *(volatile unsigned *)&in[i * t->words] = (unsigned)i * 3 + t->round;
}

static int check_touches(gpumb *g, void *user)
{
    const touches *t = (const touches *)user;
    for (uint64_t i = 0; i < t->n; i++) {
        unsigned got;
        if (gpumb_read(g, t->out, i * sizeof got, &got, sizeof got))
            return 0;
        if (got != (unsigned)i * 3 + t->round) {
            gpumb_reason(g, "word %llu is %u, not %u", (unsigned long long)i, got,
                         (unsigned)i * 3 + t->round);
            return 0;
        }
    }
    return 1;
}

static void note_migration(gpumb *g)
{
    const rows all = noisy_too(rows_of(migration_bench, NULL));
    for (int64_t distance = next_value(g, all, "distance", 0); distance > 0;
         distance = next_value(g, all, "distance", distance)) {
        const rows some = having(all, "distance", distance);
        const int64_t most = last_value(g, some, "touched");
        const gpumb_result *one = first_row(g, having(some, "touched", 1));
        const gpumb_result *many = first_row(g, having(some, "touched", most));
        sentence s = no_words();
        if (!one || most < 2)
            continue;
        say_time(&s, one->time.median);
        say(&s, ", %lld take ", (long long)most);
        say_time(&s, many->time.median / (double)most);
        say(&s, " each");
        sentence apart = no_words();
        say_bytes(&apart, distance);
        gpumb_note(g, "Words that the host has touched, %s apart: a kernel gets one in %s.",
                   apart.text, s.text);
    }
}

static void migration(gpumb *g)
{
    static const int64_t distances_full[] = {4096, 65536, 2097152},
                         distances_quick[] = {4096, 65536};
    static const int64_t distances_cpu[] = {4096};
    static const int64_t touched_full[] = {1, 64, 1024};
    static const int64_t touched_quick[] = {1, 64, 1024}, touched_cpu[] = {1, 64};
    const values gaps =
        choose(g, VALUES(distances_full), VALUES(distances_quick), VALUES(distances_cpu));
    const values counts =
        choose(g, VALUES(touched_full), VALUES(touched_quick), VALUES(touched_cpu));
    GPUMB_SWEEP_ARRAY(g, distance, gaps.at, gaps.count)
        GPUMB_SWEEP_ARRAY(g, touched, counts.at, counts.count) {
            const uint64_t bytes = (uint64_t)(distance * touched), most = (uint64_t)512 << 20;
            touches t;
            memset(&t, 0, sizeof t);
            t.n = (uint64_t)touched;
            t.words = (uint64_t)distance / sizeof(unsigned);
            t.in = gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, bytes <= most ? bytes : 4);
            t.out = gpumb_alloc(g, t.n * sizeof(unsigned));
            if (bytes > most) {
                t.n = 1;
                gpumb_skip(g, "that many are more than 512 MiB apart");
            }
            gpumb_fill(g, t.in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
            gpumb_set_elements(g, (double)t.n);
            gpumb_set_output(g, t.out);
            gpumb_set_reset(g, touch_pages, &t);
            gpumb_set_verify(g, check_touches, &t);
            GPUMB_MEASURE(g, "gather")
                GPUMB_LAUNCH(gather, (t.n + 255) / 256, 256, 0, GPUMB_PTR(const unsigned, t.in),
                             GPUMB_PTR(unsigned, t.out), t.n, t.words);
        }
    note_migration(g);
}

static const gpumb_benchmark benchmarks[] = {
    {zero_copy_bench, "a kernel on pinned host memory, over the threads in flight", zero_copy},
    {managed_bench, "managed memory, its pages here or there, with and without advice",
     managed_memory},
    {migration_bench, "pages that the host has touched, and a kernel needs", migration},
};

GPUMB_MAIN(benchmarks)

/* What a load takes that waits for the one before: a chase through a random cycle of lines, over
 * its footprint and its stride, through the caches and the reach of the TLBs into memory; through
 * shared memory and the host's. */
#include "gpumb.h"

#include "latency.h"

/* ---- a chase --------------------------------------------------------------------------------- */

/* Memory to chase through, and how. */
typedef struct ground {
    gpumb_buffer *memory;
    int past_l1, of_host;
    double tick_s;
} ground;

/* Twice through all, if it is not too much: once may not be enough for a cache that does not drop
 * what is oldest. */
static chase_length length_for(const ground *w, uint64_t n)
{
    const unsigned most = w->of_host ? 1 << 15 : 1 << 20;
    chase_length l = {2 * n + 256 < most ? 2 * (unsigned)n + 256 : most, 1 << 11, 32};
    if (w->of_host)
        l.steps = 1 << 9;
    return l;
}

/* One thread goes through a cycle of one line in each `stride` of the footprint. */
static void measure_chase(gpumb *g, const char *name, const ground *w, int64_t footprint,
                          int64_t stride)
{
    const uint64_t n = (uint64_t)(footprint / stride), apart = (uint64_t)stride;
    char *memory = GPUMB_PTR(char, w->memory);
    const int fits = memory && (uint64_t)footprint <= gpumb_size(w->memory);
    gpumb_set_value(g, "cycles", NAN);
    if (memory && (!fits || !n || n > MOST_NODES || stride % 8))
        gpumb_skip(g, "%llu nodes, %lld apart, in %llu bytes of memory", (unsigned long long)n,
                   (long long)stride, (unsigned long long)gpumb_size(w->memory));
    if (!gpumb_wants_times(g, name))
        return;
    if (!fits || !n || n > MOST_NODES || stride % 8) {
        gpumb_add_times(g, name, GPUMB_MEANING_SPAN, NULL, 0);
        return;
    }
    std::vector<uint32_t> next((size_t)n);
    job j;
    j.groups = 0;
    j.length = length_for(w, n);
    j.out = gpumb_alloc(g, (SAMPLES + j.length.samples) * sizeof(word));
    gpumb_buffer *chain = gpumb_alloc(g, n * sizeof(uint32_t));
    make_cycle(next.data(), (uint32_t)n, gpumb_get_settings(g)->seed);
    gpumb_write(g, chain, 0, next.data(), n * sizeof(uint32_t));
    gpumb_poison(g, j.out);
    GPUMB_LAUNCH(link_nodes, (n + 255) / 256, 256, 0, memory, GPUMB_PTR(const uint32_t, chain), n,
                 apart);
    void *first = memory + place_of(0, apart);
    if (w->past_l1)
        GPUMB_LAUNCH(chase<1>, 1, 1, 0, first, GPUMB_PTR(word, j.out), j.length);
    else
        GPUMB_LAUNCH(chase<0>, 1, 1, 0, first, GPUMB_PTR(word, j.out), j.length);
    const uint32_t end = walk_cycle(next.data(), 0, loads_of(j.length));
    j.expected = (word)(uintptr_t)(memory + place_of(end, apart));
    add_row(g, name, &j, check_end, &j, w->tick_s);
    gpumb_free(g, chain);
    gpumb_free(g, j.out);
}

/* So many points an octave. */
static std::vector<int64_t> footprints(int64_t low, int64_t high, int each)
{
    std::vector<int64_t> all;
    for (int64_t octave = low; octave <= high; octave *= 2)
        for (int i = 0; i < each && octave / each * (each + i) <= high; i++)
            all.push_back(octave / each * (each + i));
    return all;
}

/* ---- latency/chase --------------------------------------------------------------------------- */

static const char chase_bench[] = "latency/chase";

/* Rows of a stride as points; of all where they are many. */
typedef struct points {
    std::vector<double> x, y, cycles;
    std::vector<size_t> row;
} points;

static points points_of(gpumb *g, const char *bench, int64_t stride)
{
    const rows some = noisy_too(having(rows_of(bench, NULL), "stride_bytes", stride));
    points all;
    for (int64_t f = next_value(g, some, "footprint", 0); f > 0;
         f = next_value(g, some, "footprint", f))
        for (size_t i = 0; i < gpumb_row_count(g); i++)
            if (row_in(g, having(some, "footprint", f), i)) {
                all.x.push_back((double)f);
                all.y.push_back(gpumb_row(g, i)->time.median);
                all.cycles.push_back(gpumb_row_value(g, i, "cycles"));
                all.row.push_back(i);
                break;
            }
    return all;
}

/* "512 KiB ... 24 MiB 143 ns, 283 cycles" */
static void say_plateau(sentence *s, const points *p, const plateau *at)
{
    const double cycles = median_of(p->cycles.data(), at->first, at->last);
    say_bytes(s, (int64_t)p->x[at->first]);
    say(s, " ... ");
    say_bytes(s, (int64_t)p->x[at->last]);
    say(s, " ");
    say_time(s, at->level);
    if (cycles > 0)
        say(s, ", %.4g cycles", cycles);
}

enum { ORDINALS = 2, PLATEAUS_MOST = 12 };
static const char *const gpu_names[MEMORIES * ORDINALS] = {
    "L1", "L1, slower part", "L2", "L2, far part", "memory", "memory, past a TLB",
};
static const char *const cpu_names[MEMORIES * ORDINALS] = {
    "L1", "L1, slower part", "L2", "L3", "memory", "memory, past a TLB",
};

static const char *const *level_names(gpumb *g)
{
    return is_gpu(g) ? gpu_names : cpu_names;
}

/* The plateaus of a stride, and for each the place of its name; -1: it has none. What has to fit a
 * cache are the lines that are touched. */
typedef struct levels {
    points p;
    plateau at[PLATEAUS_MOST];
    int name[PLATEAUS_MOST];
    size_t count;
} levels;

static levels levels_of(gpumb *g, const char *bench, int64_t stride)
{
    const gpumb_device *d = gpumb_get_device(g);
    const double touched = stride > LINE ? (double)stride / (double)LINE : 1;
    int found[MEMORIES] = {0, 0, 0};
    levels l;
    l.p = points_of(g, bench, stride);
    l.count = find_plateaus(l.p.x.data(), l.p.y.data(), l.p.x.size(), l.at, PLATEAUS_MOST);
    for (size_t i = 0; i < l.count; i++) {
        const int memory = memory_of(l.p.x.data(), &l.at[i], touched * (double)d->l1_bytes,
                                     touched * (double)d->l2_bytes);
        l.name[i] = found[memory] < ORDINALS ? memory * ORDINALS + found[memory] : -1;
        found[memory]++;
    }
    return l;
}

static void note_levels(gpumb *g)
{
    const rows all = noisy_too(rows_of(chase_bench, NULL));
    for (int64_t stride = next_value(g, all, "stride_bytes", 0); stride > 0;
         stride = next_value(g, all, "stride_bytes", stride)) {
        const levels l = levels_of(g, chase_bench, stride);
        sentence s = no_words(), name = no_words();
        for (size_t i = 0; i < l.count; i++) {
            say_next(&s, "; ");
            say(&s, "%s: ", l.name[i] < 0 ? "one more" : level_names(g)[l.name[i]]);
            say_plateau(&s, &l.p, &l.at[i]);
        }
        say_bytes(&name, stride);
        if (l.p.x.size() > 2)
            gpumb_note(g, "A dependent load, one line in each %s, plateaus: %s.", name.text,
                       l.count ? s.text : "none");
    }
}

static void latency_chase(gpumb *g)
{
    static const int64_t strides_full[] = {32, LINE, 4096, 65536}, strides_quick[] = {LINE};
    const values strides =
        choose(g, VALUES(strides_full), VALUES(strides_quick), VALUES(strides_quick));
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t most = !gpu ? 32 * MiB : full ? 8 * GiB : GiB;
    const ground w = {gpumb_alloc(g, (uint64_t)most), 0, 0, tick_seconds(g)};
    GPUMB_SWEEP_ARRAY(g, stride_bytes, strides.at, strides.count) {
        const int64_t stride = stride_bytes;
        /* Where lines are close to each other, the caches are told apart by many points. */
        const int64_t low = stride < LINE ? KiB : 8 * stride;
        const int64_t nodes = stride * (MOST_NODES / 8 * (stride > 4096 ? 1 : 8)),
                      high = nodes < most ? nodes : most;
        const std::vector<int64_t> sizes = footprints(low, high,
                                                      !full            ? 1
                                                      : stride == LINE ? 4
                                                                       : 2);
        GPUMB_SWEEP_ARRAY(g, footprint, sizes.data(), sizes.size())
            measure_chase(g, "chase", &w, footprint, stride);
    }
    note_levels(g);
}

/* ---- latency/levels -------------------------------------------------------------------------- */

static const char levels_bench[] = "latency/levels";

typedef struct level_check {
    const levels *l;
    const plateau *at;
} level_check;

static int check_level(gpumb *g, void *user)
{
    const level_check *c = (const level_check *)user;
    int verified = 1;
    for (size_t i = c->at->first; i <= c->at->last; i++)
        verified = verified && gpumb_row(g, c->l->p.row[i])->verified == 1;
    return verified;
}

/* What the chase through all lines has shown, a row for each plateau: the times of its points. */
static void latency_levels(gpumb *g)
{
    const levels l = levels_of(g, chase_bench, LINE);
    GPUMB_SWEEP_STRINGS(g, level, level_names(g), MEMORIES * ORDINALS) {
        level_check check = {&l, NULL};
        for (size_t i = 0; i < l.count; i++)
            if (l.name[i] == (int)level)
                check.at = &l.at[i];
        if (!check.at && gpumb_row_count(g))
            continue;
        gpumb_set_value(g, "cycles", NAN);
        gpumb_set_value(g, "from_bytes", NAN);
        gpumb_set_value(g, "to_bytes", NAN);
        if (!gpumb_wants_times(g, level_names(g)[level]))
            continue;
        if (!check.at)
            gpumb_skip(g, "there are no rows of %s", chase_bench);
        else {
            gpumb_set_value(g, "cycles",
                            median_of(l.p.cycles.data(), check.at->first, check.at->last));
            gpumb_set_value(g, "from_bytes", l.p.x[check.at->first]);
            gpumb_set_value(g, "to_bytes", l.p.x[check.at->last]);
        }
        gpumb_set_verify(g, check_level, &check);
        gpumb_add_times(g, level_names(g)[level], GPUMB_MEANING_SPAN,
                        check.at ? &l.p.y[check.at->first] : NULL,
                        check.at ? check.at->last - check.at->first + 1 : 0);
    }
}

/* ---- latency/tlb ----------------------------------------------------------------------------- */

static const char tlb_bench[] = "latency/tlb";

static void note_reach(gpumb *g)
{
    const rows all = noisy_too(rows_of(tlb_bench, NULL));
    for (int64_t stride = next_value(g, all, "stride_bytes", 0); stride > 0;
         stride = next_value(g, all, "stride_bytes", stride)) {
        const levels l = levels_of(g, tlb_bench, stride);
        sentence s = no_words(), name = no_words();
        for (size_t i = 0; i < l.count; i++) {
            say_next(&s, "; ");
            say_plateau(&s, &l.p, &l.at[i]);
        }
        const size_t n = l.p.x.size();
        if (l.count && l.at[l.count - 1].last + 1 < n) {
            say(&s, "; past all of them, at ");
            say_bytes(&s, (int64_t)l.p.x[n - 1]);
            say(&s, ", ");
            say_time(&s, l.p.y[n - 1]);
        }
        say_bytes(&name, stride);
        if (n > 2)
            gpumb_note(g, "Past the L1, one line in each %s, so that only its address is far: %s.",
                       name.text, l.count ? s.text : "no plateaus");
    }
}

/* Few lines, far apart, stay in the L2: what grows with the footprint is the translation of their
 * addresses. */
static void latency_tlb(gpumb *g)
{
    static const int64_t strides_full[] = {2 << 20}, strides_quick[] = {2 << 20};
    const values strides =
        choose(g, VALUES(strides_full), VALUES(strides_quick), VALUES(strides_quick));
    const int full = gpumb_get_settings(g)->full;
    const int64_t all = (int64_t)(gpumb_get_device(g)->memory_bytes / 8 * 7);
    const int64_t most = is_gpu(g) && full && all > GiB ? all : GiB;
    const ground w = {gpumb_alloc(g, (uint64_t)most), 1, 0, tick_seconds(g)};
    GPUMB_SWEEP_ARRAY(g, stride_bytes, strides.at, strides.count) {
        const int64_t stride = stride_bytes;
        const std::vector<int64_t> sizes = footprints(8 * stride, most, full ? 4 : 1);
        GPUMB_SWEEP_ARRAY(g, footprint, sizes.data(), sizes.size())
            measure_chase(g, "chase", &w, footprint, stride);
    }
    note_reach(g);
}

/* ---- latency/lines --------------------------------------------------------------------------- */

static const char lines_bench[] = "latency/lines";

static const char *const accesses[] = {"load", "atomic"};

static void note_lines(gpumb *g)
{
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, noisy_too(rows_of(lines_bench, NULL)), i);
        const double cycles = gpumb_row_value(g, i, "cycles");
        const double near_s = gpumb_row_value(g, i, "near_s");
        if (!r)
            continue;
        const double scale = cycles > 0 ? cycles / r->time.median : 1e9;
        sentence s = no_words();
        say_bytes(&s, gpumb_row_axis(g, i, "footprint"));
        say(&s, ", each by itself, %s: %.4g ... %.4g %s", accesses[gpumb_row_axis(g, i, "access")],
            scale * r->time.min, scale * r->time.max, cycles > 0 ? "cycles" : "ns");
        if (near_s > 0)
            say(&s, ", in two groups: %.0f %% at %.4g, the others at %.4g",
                gpumb_row_value(g, i, "near_pct"), scale * near_s,
                scale * gpumb_row_value(g, i, "far_s"));
        gpumb_note(g, "Lines of %s.", s.text);
    }
}

/* Where the slices of the L2 are not equally far from the multiprocessor, times differ. */
static void latency_lines(gpumb *g)
{
    enum { LINES = 1024 };
    static const int64_t full[] = {1 << 20, 1 << 24}, quick[] = {1 << 24};
    const values sizes = choose(g, VALUES(full), VALUES(quick), VALUES(quick));
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, access, accesses, COUNT(accesses))
        GPUMB_SWEEP_ARRAY(g, footprint, sizes.at, sizes.count) {
            const uint64_t stride = (uint64_t)footprint / LINES / 8 * 8;
            job j;
            j.length.warm = 4;
            j.length.steps = 64;
            j.length.samples = LINES;
            j.groups = 1;
            j.out = gpumb_alloc(g, (SAMPLES + LINES) * sizeof(word));
            gpumb_buffer *memory = gpumb_alloc(g, (uint64_t)footprint);
            gpumb_buffer *chain = gpumb_alloc(g, LINES * sizeof(uint32_t));
            static const char *const own[] = {"cycles", "near_pct", "near_s", "far_s"};
            for (size_t i = 0; i < COUNT(own); i++)
                gpumb_set_value(g, own[i], NAN);
            if (stride < LINE)
                gpumb_skip(g, "fewer than %d lines", (int)LINES);
            if (!gpumb_wants_times(g, accesses[access]))
                continue;
            if (stride >= LINE && memory) {
                char *const first = GPUMB_PTR(char, memory);
                std::vector<uint32_t> next;
                for (uint32_t i = 0; i < LINES; i++)
                    next.push_back(i);
                gpumb_write(g, chain, 0, next.data(), LINES * sizeof(uint32_t));
                gpumb_poison(g, j.out);
                GPUMB_LAUNCH(link_nodes, LINES / 256, 256, 0, first,
                             GPUMB_PTR(const uint32_t, chain), (uint64_t)LINES, stride);
                if (access)
                    GPUMB_LAUNCH(chase_each<1>, 1, 1, 0, first, stride, GPUMB_PTR(word, j.out),
                                 j.length, (word)0);
                else
                    GPUMB_LAUNCH(chase_each<0>, 1, 1, 0, first, stride, GPUMB_PTR(word, j.out),
                                 j.length, (word)0);
                j.expected = (word)(uintptr_t)(first + place_of(LINES - 1, stride));
            }
            add_row(g, accesses[access], &j, check_end, &j, tick_s);
        }
    note_lines(g);
}

/* ---- latency/place --------------------------------------------------------------------------- */

static const char place_bench[] = "latency/place";
enum { SHARED_MEMORY, HOST_MEMORY, PLACES };
static const char *const places[] = {"shared memory", "pinned host memory"};

static void measure_shared(gpumb *g, int64_t footprint, double tick_s)
{
    const unsigned n = (unsigned)(footprint / 4);
    gpumb_set_value(g, "cycles", NAN);
    if (!n || footprint > 48 * KiB)
        gpumb_skip(g, "4 bytes ... 48 KiB of shared memory");
    if (!gpumb_wants_times(g, places[SHARED_MEMORY]))
        return;
    job j;
    j.groups = 0;
    j.length.warm = n < 1 << 14 ? 2 * n : 0;
    j.length.steps = 1 << 11;
    j.length.samples = 32;
    j.out = gpumb_alloc(g, (SAMPLES + j.length.samples) * sizeof(word));
    std::vector<uint32_t> next(n ? n : 1);
    gpumb_buffer *chain = gpumb_alloc(g, next.size() * sizeof(uint32_t));
    make_cycle(next.data(), n, gpumb_get_settings(g)->seed);
    gpumb_write(g, chain, 0, next.data(), n * sizeof(uint32_t));
    gpumb_poison(g, j.out);
    GPUMB_LAUNCH(chase_shared, 1, 1, n * sizeof(uint32_t), GPUMB_PTR(const uint32_t, chain), n,
                 GPUMB_PTR(word, j.out), j.length);
    j.expected = 4 * (word)walk_cycle(next.data(), 0, loads_of(j.length));
    add_row(g, places[SHARED_MEMORY], &j, check_end, &j, tick_s);
}

static void latency_place(gpumb *g)
{
    static const int64_t shared[] = {4096, 32768};
    static const int64_t host_full[] = {65536, 1 << 20, 1 << 24, 1 << 28}, host_quick[] = {65536};
    const values host = choose(g, VALUES(host_full), VALUES(host_quick), VALUES(host_quick));
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, place, places, PLACES) {
        const values sizes = place == SHARED_MEMORY ? VALUES(shared) : host;
        GPUMB_SWEEP_ARRAY(g, footprint, sizes.at, sizes.count) {
            if (place == SHARED_MEMORY) {
                measure_shared(g, footprint, tick_s);
                continue;
            }
            const ground w = {gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, (uint64_t)footprint), 1, 1,
                              tick_s};
            measure_chase(g, places[HOST_MEMORY], &w, footprint, LINE);
        }
    }
    sentence s = no_words();
    for (int64_t place = 0; place < PLACES; place++) {
        const rows some = noisy_too(having(rows_of(place_bench, NULL), "place", place));
        for (int64_t f = next_value(g, some, "footprint", 0); f > 0;
             f = next_value(g, some, "footprint", f)) {
            const extremes e = extremes_of(g, having(some, "footprint", f), time_of);
            const gpumb_result *r = first_row(g, having(some, "footprint", f));
            const double cycles = r && e.count ? gpumb_row_value(g, e.low_row, "cycles") : NAN;
            if (!r)
                continue;
            say_next(&s, "; ");
            say(&s, "%s, ", places[place]);
            say_bytes(&s, f);
            say(&s, ": ");
            say_time(&s, r->time.median);
            if (cycles > 0)
                say(&s, ", %.4g cycles", cycles);
        }
    }
    if (s.text[0])
        gpumb_note(g, "A dependent load from %s.", s.text);
}

static const gpumb_benchmark benchmarks[] = {
    {chase_bench, "a dependent load over footprint and stride", latency_chase},
    {levels_bench, "its plateaus: caches and memory", latency_levels},
    {tlb_bench, "lines so far apart that only their addresses are to be looked up", latency_tlb},
    {lines_bench, "lines of the L2, each by itself: near and far", latency_lines},
    {place_bench, "a dependent load from shared memory and from the host's", latency_place},
};

GPUMB_MAIN(benchmarks)

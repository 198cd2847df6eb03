/* What a load takes that waits for the one before: a chase through a random cycle of lines, over
 * its footprint and its stride, through the caches and the reach of the TLBs into memory; through
 * shared memory and the host's. And atomics, one after the other and all at once. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "bench.h"
#include "chase.h"
#include "clock.h"

#include <vector>

#if defined(GPUMB_BACKEND_CPU)
#define UNROLL_8 _Pragma("GCC unroll 8")
#else
#define UNROLL_8 _Pragma("unroll 8")
#endif

static const int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
enum { LINE = 128, MOST_NODES = 1 << 23 };

/* ---- the chase ------------------------------------------------------------------------------- */

/* The node of each stride lies at the start of a line of it, drawn for each (the finalizer of
 * MurmurHash3), so that those of large strides do not meet in a few sets of a cache. */
static __host__ __device__ inline uint64_t place_of(uint32_t node, uint64_t stride)
{
    uint32_t h = node;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return node * stride + (stride > LINE ? h * (stride / LINE) >> 32 : 0) * LINE;
}

static __global__ void link_nodes(char *memory, const uint32_t *next, uint64_t n, uint64_t stride)
{
    GPUMB_GRID_STRIDE(i, n) {
        *(void **)(memory + place_of((uint32_t)i, stride)) = memory + place_of(next[i], stride);
    }
}

/* One load, which on NVIDIA's is known to be of global memory, and passes the L1 if told to. */
template <int past_l1> static __device__ inline void *load(void *at)
{
#if defined(__CUDA_ARCH__)
    void *next;
    if (past_l1)
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    else
        asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    return next;
#else
    return *(void *volatile *)at;
#endif
}

/* The same by an atomic addition of nothing, which only the runtime knows. */
static __device__ inline void *load_by_adding(void *at, word nothing)
{
#if defined(__CUDA_ARCH__)
    void *next;
    asm volatile("atom.global.add.u64 %0, [%1], %2;"
                 : "=l"(next)
                 : "l"(at), "l"(nothing)
                 : "memory");
    return next;
#else
    return (void *)atomicAdd((word *)at, nothing);
#endif
}

/* Loads of a chase: before it is timed, so many in a sample, samples. */
typedef struct chase_length {
    unsigned warm, steps, samples;
} chase_length;

static inline uint64_t loads_of(chase_length l)
{
    return l.warm + (uint64_t)l.steps * l.samples;
}

/* What a chase leaves: where it ended, ticks and cycles from its first sample to its last, and the
 * cycles of each. */
enum { ENDED, TICKS, CYCLES, SAMPLES };

/* The clock is not read before `value` is there: it has to be stored first. */
static __device__ inline word cycles_after(word value, word *out)
{
    *(volatile word *)&out[ENDED] = value;
    return cycles_now();
}

template <int past_l1> static __global__ void chase(void *at, word *out, chase_length l)
{
    word ticks = 0, all = 0;
    for (unsigned i = 0; i < l.warm; i++)
        at = load<past_l1>(at);
    for (unsigned s = 0; s < l.samples; s++) {
        const word began = cycles_after((word)at, out);
        if (s == 0) {
            ticks = ticks_now();
            all = began;
        }
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = load<past_l1>(at);
        out[SAMPLES + s] = cycles_after((word)at, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}

/* Lines that hold their own addresses: sample s takes one in the s-th stride, over and over. */
template <int atomics>
static __global__ void chase_each(char *memory, uint64_t stride, word *out, chase_length l,
                                  word nothing)
{
    const word ticks = ticks_now(), all = cycles_now();
    for (unsigned s = 0; s < l.samples; s++) {
        void *at = memory + place_of(s, stride);
        for (unsigned i = 0; i < l.warm; i++)
            at = load<1>(at);
        const word began = cycles_after((word)at, out);
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = atomics ? load_by_adding(at, nothing) : load<1>(at);
        out[SAMPLES + s] = cycles_after((word)at, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}

/* In shared memory the addresses of NVIDIA's have 32 bits; elsewhere they are offsets. */
static __device__ inline unsigned address_in(const unsigned *chain)
{
#if defined(__CUDA_ARCH__)
    return (unsigned)__cvta_generic_to_shared(chain);
#else
    return chain ? 0 : 1;
#endif
}

static __device__ inline unsigned load_shared(const unsigned *chain, unsigned at)
{
#if defined(__CUDA_ARCH__)
    unsigned next;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(at) : "memory");
    (void)chain;
    return next;
#else
    return *(const volatile unsigned *)((const char *)chain + at);
#endif
}

/* The same in shared memory, of which word i leads to word next[i]. */
static __global__ void chase_shared(const uint32_t *next, unsigned n, word *out, chase_length l)
{
    GPUMB_SHARED(unsigned, chain);
    const unsigned base = address_in(chain);
    word ticks = 0, all = 0;
    unsigned at = base;
    for (unsigned i = 0; i < n; i++)
        chain[i] = base + next[i] * 4;
    for (unsigned i = 0; i < l.warm; i++)
        at = load_shared(chain, at);
    for (unsigned s = 0; s < l.samples; s++) {
        const word began = cycles_after(at - base, out);
        if (s == 0) {
            ticks = ticks_now();
            all = began;
        }
        UNROLL_8
        for (unsigned i = 0; i < l.steps; i++)
            at = load_shared(chain, at);
        out[SAMPLES + s] = cycles_after(at - base, out) - began;
    }
    out[CYCLES] = cycles_now() - all;
    out[TICKS] = ticks_now() - ticks;
}

/* ---- its row --------------------------------------------------------------------------------- */

typedef struct job {
    gpumb_buffer *out;
    chase_length length;
    word expected; /* where it ends */
    int groups;    /* samples may be of two kinds */
} job;

static int check_end(gpumb *g, void *user)
{
    const job *j = (const job *)user;
    word ended = 0;
    if (gpumb_read(g, j->out, ENDED * sizeof(word), &ended, sizeof ended))
        return 0;
    if (ended != j->expected)
        gpumb_reason(g, "after %llu steps at %llx, not at %llx",
                     (unsigned long long)loads_of(j->length), ended, j->expected);
    return ended == j->expected;
}

/* A row of what a kernel has left in out: the cycles of a sample, of so many steps each, and their
 * time by the timer that ran beside them. */
static void add_row(gpumb *g, const char *name, const job *j, gpumb_check check, void *user,
                    double tick_s)
{
    std::vector<word> out(SAMPLES + j->length.samples);
    std::vector<double> seconds(j->length.samples), cycles(j->length.samples);
    (void)gpumb_read(g, j->out, 0, out.data(), out.size() * sizeof(word)); /* or is skipped */
    const double cycle_s = out[CYCLES] ? tick_s * (double)out[TICKS] / (double)out[CYCLES] : 0;
    for (size_t s = 0; s < seconds.size(); s++) {
        cycles[s] = (double)out[SAMPLES + s] / j->length.steps;
        seconds[s] = cycles[s] * cycle_s;
    }
    if (is_gpu(g))
        gpumb_set_value(g, "cycles", gpumb_statistics(cycles.data(), cycles.size()).median);
    if (j->groups) {
        const size_t n = cycles.size(), near = split_groups(cycles.data(), n);
        gpumb_set_value(g, "near_pct", near ? 100.0 * (double)near / (double)n : NAN);
        gpumb_set_value(g, "near_s", near ? cycle_s * cycles[near / 2] : NAN);
        gpumb_set_value(g, "far_s", near ? cycle_s * cycles[near + (n - near) / 2] : NAN);
    }
    gpumb_set_verify(g, check, user);
    gpumb_add_times(g, name, GPUMB_MEANING_SPAN, seconds.data(), seconds.size());
}

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

/* ---- latency/atomic -------------------------------------------------------------------------- */

static const char atomic_bench[] = "latency/atomic";
enum { IN_SHARED, ON_DEVICE };
static const char *const words_in[] = {"shared memory", "device memory"};

/* Lane t adds to the word at t * apart, over and over, what it needs the word before for: 1, while
 * that is below 2^31. The first lane looks at the clocks. */
template <int shared>
static __global__ void add_again(unsigned *words, unsigned apart, word *out, chase_length l)
{
    GPUMB_SHARED(unsigned, own);
    unsigned *at = (shared ? own : words) + threadIdx.x * apart, x = 0;
    word ticks = 0, all = 0;
    *at = 0;
    __syncthreads();
    for (unsigned i = 0; i < l.warm; i++)
        x = atomicAdd(at, 1 + (x >> 31));
    for (unsigned s = 0; s < l.samples; s++) {
        word began = 0;
        if (threadIdx.x == 0) {
            began = cycles_after(x, out);
            ticks = s ? ticks : ticks_now();
            all = s ? all : began;
        }
        for (unsigned i = 0; i < l.steps; i++)
            x = atomicAdd(at, 1 + (x >> 31));
        if (threadIdx.x == 0)
            out[SAMPLES + s] = cycles_after(x, out) - began;
    }
    if (threadIdx.x == 0) {
        out[CYCLES] = cycles_now() - all;
        out[TICKS] = ticks_now() - ticks;
    }
    if (shared) {
        __syncthreads();
        words[threadIdx.x * apart] = *at;
    }
}

/* What the words hold that threads have added to, in turn; what lies between is still poison. */
typedef struct sums {
    gpumb_buffer *words;
    uint64_t count, apart;   /* so many, so many words apart */
    uint64_t threads, times; /* what a thread has added */
    unsigned start;          /* what they held before */
} sums;

static int check_sums(gpumb *g, void *user)
{
    const sums *c = (const sums *)user;
    std::vector<unsigned> found((size_t)(gpumb_size(c->words) / sizeof(unsigned)));
    if (gpumb_read(g, c->words, 0, found.data(), found.size() * sizeof(unsigned)))
        return 0;
    for (uint64_t i = 0; i < found.size(); i++) {
        const uint64_t which = i / c->apart;
        const uint64_t adders = c->threads / c->count + (which < c->threads % c->count);
        const int used = i % c->apart == 0 && which < c->count;
        const unsigned expected = used ? c->start + (unsigned)(adders * c->times) : 0xffffffffu;
        if (found[i] != expected) {
            gpumb_reason(g, "word %llu is %u, not %u", (unsigned long long)i, found[i], expected);
            return 0;
        }
    }
    return 1;
}

typedef struct atomic_check {
    job *j;
    sums *s;
} atomic_check;

/* Lane 0 has got the last of its own sums, or, where all add to one word, no more than the last. */
static int check_atomics(gpumb *g, void *user)
{
    const atomic_check *c = (const atomic_check *)user;
    const word own = loads_of(c->j->length), all = own * (c->s->count == 1 ? c->s->threads : 1);
    word last = 0;
    if (!check_sums(g, c->s) || gpumb_read(g, c->j->out, ENDED * sizeof last, &last, sizeof last))
        return 0;
    if (last + 1 < own || last + 1 > all)
        gpumb_reason(g, "the last sum before is %llu, not %llu ... %llu", last, own - 1, all - 1);
    return last + 1 >= own && last + 1 <= all;
}

static void note_atomics(gpumb *g)
{
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, noisy_too(rows_of(atomic_bench, NULL)), i);
        const int64_t adders = gpumb_row_axis(g, i, "adders"),
                      apart = gpumb_row_axis(g, i, "apart_bytes");
        const double cycles = gpumb_row_value(g, i, "cycles");
        if (!r)
            continue;
        say_next(&s, "; ");
        say(&s, "%s, %lld thread%s%s ", words_in[gpumb_row_axis(g, i, "memory")], (long long)adders,
            adders > 1 ? "s" : "",
            adders == 1  ? ""
            : apart == 0 ? " on one word"
            : apart == 4 ? " on neighbouring words"
                         : " on words far apart");
        say_time(&s, r->time.median);
        if (cycles > 0)
            say(&s, ", %.4g cycles", cycles);
    }
    if (s.text[0])
        gpumb_note(g, "An atomic addition that waits for the one before: %s.", s.text);
}

static void latency_atomic(gpumb *g)
{
    static const int64_t counts[] = {1, 32}, distances[] = {0, 4, LINE};
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, memory, words_in, COUNT(words_in))
        GPUMB_SWEEP_ARRAY(g, adders, counts, COUNT(counts))
            GPUMB_SWEEP_ARRAY(g, apart_bytes, distances, COUNT(distances)) {
                const int64_t apart = apart_bytes;
                const uint64_t threads = (uint64_t)adders, words_apart = (uint64_t)apart / 4;
                const uint64_t span = ((threads - 1) * words_apart + 1) * sizeof(unsigned);
                if (adders == 1 && apart) /* the same again */
                    continue;
                job j;
                j.groups = 0;
                j.length.warm = 256;
                j.length.steps = 1 << 10;
                j.length.samples = 32;
                j.out = gpumb_alloc(g, (SAMPLES + j.length.samples) * sizeof(word));
                sums s = {gpumb_alloc(g, span),
                          words_apart ? threads : 1,
                          words_apart ? words_apart : 1,
                          threads,
                          loads_of(j.length),
                          0};
                atomic_check check = {&j, &s};
                gpumb_set_value(g, "cycles", NAN);
                if (!gpumb_wants_times(g, "atomicAdd"))
                    continue;
                unsigned *words = GPUMB_PTR(unsigned, s.words);
                gpumb_poison(g, s.words);
                gpumb_poison(g, j.out);
                if (memory == IN_SHARED)
                    GPUMB_LAUNCH_BARRIER(add_again<1>, 1, adders, span, words,
                                         (unsigned)words_apart, GPUMB_PTR(word, j.out), j.length);
                else
                    GPUMB_LAUNCH_BARRIER(add_again<0>, 1, adders, 0, words, (unsigned)words_apart,
                                         GPUMB_PTR(word, j.out), j.length);
                add_row(g, "atomicAdd", &j, check_atomics, &check, tick_s);
            }
    note_atomics(g);
}

/* ---- latency/atomic_rate --------------------------------------------------------------------- */

static const char rate_bench[] = "latency/atomic_rate";

/* All threads add `value` to the word that is theirs, in turn among `count`, and need no result;
 * in shared memory those of a block, which then adds its sums to words. */
template <int shared>
static __global__ void add_all(unsigned *words, unsigned count, unsigned apart, unsigned rounds,
                               unsigned value)
{
    GPUMB_SHARED(unsigned, own);
    if (shared) {
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
            own[i * apart] = 0;
        __syncthreads();
    }
    const unsigned thread = shared ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *at = (shared ? own : words) + (uint64_t)(thread % count) * apart;
    for (unsigned i = 0; i < rounds; i++)
        atomicAdd(at, value);
    if (shared) {
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
            atomicAdd(&words[i * apart], own[i * apart]);
    }
}

static double time_per_element(const gpumb_result *r)
{
    return r->elements > 0 ? r->time.median / r->elements : 0;
}

static void note_rates(gpumb *g)
{
    const double hz = gpumb_get_device(g)->sm_clock_hz;
    for (int64_t memory = 0; memory < (int64_t)COUNT(words_in); memory++) {
        const rows some = having(rows_of(rate_bench, NULL), "memory", memory);
        const extremes e = extremes_of(g, noisy_too(some), time_per_element);
        const gpumb_result *one = first_row(g, having(noisy_too(some), "words", 1));
        sentence s = no_words();
        if (!one || e.count < 2 || !e.low)
            continue;
        say(&s, "%.4g a ns", one->elements_per_s * 1e-9);
        if (is_gpu(g) && hz > 0)
            say(&s, ", %.3g a clock", one->elements_per_s / hz);
        say(&s, "; at most %.4g a ns", e.low->elements_per_s * 1e-9);
        if (is_gpu(g) && hz > 0)
            say(&s, ", %.4g a clock", e.low->elements_per_s / hz);
        gpumb_note(g,
                   "Atomic additions by all threads in %s to one word%s: %s, to %lld words %lld "
                   "bytes apart.",
                   words_in[memory], memory == IN_SHARED ? " a block" : "", s.text,
                   (long long)gpumb_row_axis(g, e.low_row, "words"),
                   (long long)gpumb_row_axis(g, e.low_row, "apart_bytes"));
    }
}

static void latency_atomic_rate(gpumb *g)
{
    static const int64_t full[] = {1, 2, 4, 8, 16, 32, 128, 1024, 8192, 1 << 15, 1 << 18};
    static const int64_t quick[] = {1, 32, 1024, 1 << 18}, cpu[] = {1, 32};
    static const int64_t distances[] = {4, LINE};
    const values counts = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const gpumb_device *d = gpumb_get_device(g);
    const uint64_t block = is_gpu(g) ? 1024 : 64;
    const uint64_t blocks = (uint64_t)d->multiprocessors * (is_gpu(g) ? 2 : 1);
    GPUMB_SWEEP_STRINGS(g, memory, words_in, COUNT(words_in))
        GPUMB_SWEEP_ARRAY(g, words, counts.at, counts.count)
            GPUMB_SWEEP_ARRAY(g, apart_bytes, distances, COUNT(distances)) {
                const int64_t apart = apart_bytes;
                const int shared = memory == IN_SHARED;
                const unsigned rounds = is_gpu(g) ? shared ? 256 : 16 : 8;
                const uint64_t count = (uint64_t)words, words_apart = (uint64_t)apart / 4;
                const uint64_t span = ((count - 1) * words_apart + 1) * sizeof(unsigned);
                if ((words == 1 && apart != distances[0]) ||
                    (shared && (span > 48 << 10 || count > block)))
                    continue;
                gpumb_buffer *at = gpumb_alloc(g, span);
                sums s = {at,
                          count,
                          words_apart,
                          shared ? block : block * blocks,
                          (shared ? blocks : 1) * rounds,
                          0xffffffffu};
                gpumb_set_elements(g, (double)(block * blocks * rounds));
                gpumb_set_output(g, at);
                gpumb_set_verify(g, check_sums, &s);
                GPUMB_MEASURE(g, "atomicAdd") {
                    if (shared)
                        GPUMB_LAUNCH_BARRIER(add_all<1>, blocks, block, span,
                                             GPUMB_PTR(unsigned, at), (unsigned)count,
                                             (unsigned)words_apart, rounds, 1u);
                    else
                        GPUMB_LAUNCH_BARRIER(add_all<0>, blocks, block, 0, GPUMB_PTR(unsigned, at),
                                             (unsigned)count, (unsigned)words_apart, rounds, 1u);
                }
            }
    note_rates(g);
}

static const gpumb_benchmark benchmarks[] = {
    {chase_bench, "a dependent load over footprint and stride", latency_chase},
    {levels_bench, "its plateaus: caches and memory", latency_levels},
    {tlb_bench, "lines so far apart that only their addresses are to be looked up", latency_tlb},
    {lines_bench, "lines of the L2, each by itself: near and far", latency_lines},
    {place_bench, "a dependent load from shared memory and from the host's", latency_place},
    {atomic_bench, "an atomic addition that waits for the one before", latency_atomic},
    {rate_bench, "atomic additions by all threads, over the number of words", latency_atomic_rate},
};

GPUMB_MAIN(benchmarks)

/* Atomic additions: one after the other, each of which waits for the one before, and by all threads
 * at once; in shared and in device memory, to one word and to many. */
#include "gpumb.h"

#include "cycles.h"

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
        const unsigned expected = used ? c->start + (unsigned)(adders * c->times) : GPUMB_POISON;
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
    {atomic_bench, "an atomic addition that waits for the one before", latency_atomic},
    {rate_bench, "atomic additions by all threads, over the number of words", latency_atomic_rate},
};

GPUMB_MAIN(benchmarks)

// test_strict.cu - --strict against kernels that are written to fool it: each known trick has to be
// caught, and named in its row's reason; honest kernels pass. On a GPU the tricks are real; on the
// CPU the device is a fake with a scripted clock, and its streams are played.
#if !defined(__CUDACC__) && !defined(__HIPCC__)
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define FAKE_MULTIPROCESSORS 1
#endif
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#ifdef GPUMB_BACKEND_FAKE
#include "fake.h"
#endif

#include "check.h"
#include <algorithm>
#include <math.h>
#include <string>
#include <vector>

#ifdef GPUMB_BACKEND_FAKE
enum : uint64_t { COUNT = 5000, STEPS = 64, BLOCKS = 20 };
#define COSTS(seconds) fake_run(seconds)
#else
enum : uint64_t { COUNT = (4 << 20) - 3, STEPS = 2048, BLOCKS = 1024 };
#define COSTS(seconds) (void)0
#endif
#if defined(GPUMB_BACKEND_CUDA)
#define GPU(name) cuda##name
#elif defined(GPUMB_BACKEND_HIP)
#define GPU(name) hip##name
#endif

// ---- what is asked for: so many steps of a recurrence, in fp32, that they take far longer than to
// look whether they were done before ----

template <class T> __host__ __device__ static T recurrence(T x)
{
    T y = 0;
    for (uint64_t i = 0; i < STEPS; i++)
        y = y * x + x;
    return y;
}

__global__ void work(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = recurrence(0.5f * in[i]);
}

// ---- tricks ----

struct state { // of a cheat, from run to run
    const float *in, *inputs, *results;
    float *out, *memory, *old, first;
    int runs;
};
static state now;

__global__ void take(const float *from, float *to, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        to[i] = from[i];
}

// What was computed for these inputs before is kept, element by element.
__global__ void recall(const float *in, float *out, float *inputs, float *results, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        if (in[i] == inputs[i])
            out[i] = results[i];
        else {
            inputs[i] = in[i];
            out[i] = results[i] = recurrence(0.5f * in[i]);
        }
}

// What stands in the output is right, unless it is poison.
__global__ void leave(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        if (out[i] != out[i])
            out[i] = recurrence(0.5f * in[i]);
}

__global__ void beyond(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n + 1)
        out[i] = recurrence(0.5f * in[i < n ? i : 0]);
}

// The 11 bits of fp16.
__global__ void rounded(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n) {
        const float x = 0.5f * in[i];
        float y = 0;
        for (uint64_t k = 0; k < STEPS; k++)
            y = ldexpf(rintf(ldexpf(y * x + x, 11)), -11);
        out[i] = y;
    }
}

__global__ void destroy(float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        in[i] = out[i] = 0;
}

static float *own_memory()
{
    void *memory = NULL;
#ifdef GPU
    (void)GPU(Malloc)(&memory, 2 * COUNT * sizeof(float));
#else
    memory = calloc(2 * COUNT, sizeof(float));
#endif
    return (float *)memory;
}

static void free_memory(float *memory)
{
#ifdef GPU
    (void)GPU(Free)(memory);
#else
    free(memory);
#endif
}

#define RUN(kernel, ...) GPUMB_LAUNCH(kernel, BLOCKS, 256, 0, __VA_ARGS__)
typedef void launcher(const float *in, float *out);

static void honest(const float *in, float *out)
{
    COSTS(3e-2);
    RUN(work, in, out, (uint64_t)COUNT);
}

// Most of the runs with new contents happen to be disturbed.
static void disturbed(const float *in, float *out)
{
#ifdef GPUMB_BACKEND_FAKE
    COSTS(in[0] != now.first && now.runs++ % 4 ? 9e-2 : 0);
    now.first = in[0];
#endif
    honest(in, out);
}

static void by_pointer(const float *in, float *out)
{
    const bool known = in == now.in && out == now.out;
    now.in = in;
    now.out = out;
    if (known) {
        COSTS(5e-3);
        RUN(take, now.memory, out, (uint64_t)COUNT);
    } else {
        honest(in, out);
        RUN(take, out, now.memory, (uint64_t)COUNT);
    }
}

// What the run before was asked for.
static void one_behind(const float *in, float *out)
{
    if (now.runs++)
        RUN(take, now.memory, out, (uint64_t)COUNT);
    else
        honest(in, out);
    COSTS(3e-2);
    RUN(work, in, now.memory, (uint64_t)COUNT);
}

static void by_content(const float *in, float *out)
{
#ifdef GPUMB_BACKEND_FAKE
    COSTS(memcmp(in, now.memory, COUNT * sizeof *in) ? 3e-2 : 5e-3);
#endif
    RUN(recall, in, out, now.memory, now.memory + COUNT, (uint64_t)COUNT);
}

// Less than what a look at the clock can tell.
static void elsewhere(const float *in, float *out)
{
#ifdef GPUMB_BACKEND_FAKE
    now.in = in;
    now.out = out;
    COSTS(5e-3);
    fake_later = [] { RUN(work, now.in, now.out, (uint64_t)COUNT); };
#else
    static GPU(Stream_t) stream;
    if (!stream)
        (void)GPU(StreamCreateWithFlags)(&stream, GPU(StreamNonBlocking));
    work<<<BLOCKS, 256, 0, stream>>>(in, out, COUNT);
    RUN(take, now.memory, now.memory, (uint64_t)1);
#endif
}

// The first run is checked, and what finds other pointers.
static void when_moved(const float *in, float *out)
{
    if (out != now.out)
        honest(in, out);
    else {
        COSTS(5e-3);
        RUN(take, in, now.memory, (uint64_t)1);
    }
    now.out = out;
}

static void when_first(const float *in, float *out)
{
    if (!now.runs++)
        honest(in, out);
    else {
        COSTS(5e-3);
        RUN(take, in, now.memory, (uint64_t)1);
    }
}

static void left(const float *in, float *out)
{
#ifdef GPUMB_BACKEND_FAKE
    COSTS(isnan(out[0]) ? 3e-2 : 5e-3);
#endif
    RUN(leave, in, out, (uint64_t)COUNT);
}

static void kept_pointer(const float *in, float *out)
{
    now.out = now.out ? now.out : out;
    honest(in, now.out);
}

static void past_the_end(const float *in, float *out)
{
    COSTS(3e-2);
    RUN(beyond, in, out, (uint64_t)COUNT);
}

static void low_precision(const float *in, float *out)
{
    COSTS(3e-2);
    RUN(rounded, in, out, (uint64_t)COUNT);
}

static void changes_inputs(const float *in, float *out)
{
    COSTS(3e-2);
    RUN(destroy, const_cast<float *>(in), out, (uint64_t)COUNT);
}

static const struct {
    const char *name;
    launcher *run;
    int passes;                     // without --strict; -1: or not
    const char *reason, *or_reason; // the second unless it is NULL
} tricks[] = {
    {"honest", honest, 1, "", NULL},
    {"disturbed", disturbed, 1, "", NULL},
    {"kept by pointer", by_pointer, 1, "a result is kept, or left", NULL},
    {"one run behind", one_behind, 1, "right for the inputs of an earlier run: it is kept", NULL},
    {"kept by content", by_content, 1, "a result is kept, or left", NULL},
    {"another stream", elsewhere, COUNT > 100000 ? -1 : 1, "it works on another stream", NULL},
    {"works when moved", when_moved, 0, "a result is kept, or left", NULL},
    {"works when first", when_first, 0, "writes nothing when timed", NULL},
    {"left from before", left, 1, "left in the outputs", NULL},
    {"pointer kept", kept_pointer, 1, "writes nothing when timed", "bits are right"},
    {"past the end", past_the_end, 0, "wrote past the end", NULL},
    {"low precision", low_precision, 0, "bits are right", NULL},
    {"changes its inputs", changes_inputs, 1, "bits are right", NULL},
};

// ---- the grader ----

struct buffers {
    gpumb_buffer *in, *out;
};

// The recurrence adds up powers: their sum in closed form is another way, and takes no STEPS.
static int check(gpumb *g, void *user)
{
    const buffers *b = (const buffers *)user;
    std::vector<float> in(COUNT), out(COUNT);
    if (gpumb_read(g, b->in, 0, in.data(), COUNT * 4) ||
        gpumb_read(g, b->out, 0, out.data(), COUNT * 4))
        return 0;
    double worst = 0;
    for (size_t i = 0; i<COUNT; i += COUNT> 100000 ? 61 : 1) {
        const double x = 0.5 * (double)in[i];
        const double off = fabs((double)out[i] - x * (1 - pow(x, (double)STEPS)) / (1 - x));
        worst = off <= worst ? worst : isnan(off) ? 1 : off;
    }
    gpumb_reason(g, "%.1f bits are right, of 24", fabs(log2(worst)));
    return worst < 1e-6; // results are up to 1
}

#ifdef GPUMB_BACKEND_FAKE
static int on_processors;
#endif

static gpumb *open_with(std::vector<const char *> options, const char *samples = "--samples=8:8")
{
    static char *words[16];
    int count = 0;
#ifdef GPUMB_BACKEND_FAKE
    fake_reset();
    fake_moves = (uint64_t)128 << 20; // so that what empties the caches is cleared
    fake_backend = on_processors ? "cpu" : fake_backend;
#endif
    options.insert(options.begin(), {"test_strict", "--budget=2", "--warmup=0.02", samples});
    for (const char *o : options)
        words[count++] = const_cast<char *>(o);
    return gpumb_open(count, words);
}

static void measure(gpumb *g, buffers *b, const char *name, launcher *run)
{
    memset(&now, 0, sizeof now);
    now.memory = own_memory();
    gpumb_set_output(g, b->out);
    gpumb_set_verify(g, check, b);
    GPUMB_MEASURE(g, name)
        run(GPUMB_PTR(const float, b->in), GPUMB_PTR(float, b->out));
    gpumb_free(g, NULL); // has the device waited for
    free_memory(now.memory);
}

static buffers make(gpumb *g)
{
    const buffers b = {gpumb_alloc(g, COUNT * 4), gpumb_alloc(g, COUNT * 4)};
    gpumb_fill(g, b.in, GPUMB_FILL_F32, 1);
    return b;
}

static void test_tricks()
{
    for (int strict = 0; strict < 2; strict++) {
        gpumb *g = open_with({strict ? "--strict" : "--no-color"});
        buffers b = make(g);
        for (const auto &t : tricks) {
            measure(g, &b, t.name, t.run);
            const gpumb_result *r = gpumb_last_result(g);
            const bool named = strstr(r->reason, t.reason) != NULL ||
                               (t.or_reason && strstr(r->reason, t.or_reason) != NULL);
            const bool passes = r->status == GPUMB_STATUS_OK;
            CHECK_STR(r->kernel, t.name);
            if (!CHECK(passes == (strict ? !*t.reason : t.passes) || (!strict && t.passes < 0)) ||
                !CHECK(named || !strict))
                printf("    %s%s: %s\n", t.name, strict ? ", strict" : "", r->reason);
        }
        CHECK_INT(gpumb_close(g), 1);
    }
}

// ---- what --strict does, and asks for ----

#ifdef GPUMB_BACKEND_FAKE

struct seen {
    buffers b;
    std::vector<int> checked;    // runs that were
    std::vector<uint64_t> words; // the first of the input, in each run
    std::vector<const void *> memory;
    int runs, checks, poisoned, left;
};

static int look(gpumb *g, void *user)
{
    seen *s = (seen *)user;
    uint64_t word;
    s->checks++;
    gpumb_read(g, s->b.in, 0, &word, sizeof word);
    return CHECK(word == gpumb_fill_word(GPUMB_FILL_F32, 1, 0)) && check(g, &s->b);
}

static void describe(gpumb *g, seen *s)
{
    s->b = make(g);
    gpumb_set_output(g, s->b.out);
    gpumb_set_verify(g, look, s);
}

static void body(seen *s)
{
    uint64_t word;
    const float *out = GPUMB_PTR(float, s->b.out);
    memcpy(&word, gpumb_data(s->b.in), sizeof word);
    s->words.push_back(word);
    if (s->runs && s->memory.back() != gpumb_data(s->b.in)) { // what is kept meets poison
        const float *before = (const float *)s->memory.back();
        s->left += isnan(before[0]) && isnan(before[COUNT - 1]);
    }
    s->memory.push_back(gpumb_data(s->b.in));
    s->poisoned += isnan(out[0]) && isnan(out[COUNT - 1]);
    s->runs++;
    honest(GPUMB_PTR(const float, s->b.in), GPUMB_PTR(float, s->b.out));
}

static void test_what_changes()
{
    uint64_t first = 0;
    for (const char *seed : {"--seed=7", "--seed=7", "--no-color"}) {
        gpumb *g = open_with({"--strict", seed}, "--samples=16:16");
        seen s = {};
        gpumb_set_bytes(g, 8 * COUNT);
        describe(g, &s);
        GPUMB_MEASURE(g, "honest")
            body(&s);
        const gpumb_result *r = gpumb_last_result(g);
        CHECK_STR(r->reason, "");
        CHECK_INT(r->verified, 1);
        CHECK_STR(r->cache, "cold");
        const int timed = (int)r->time.count, warm = s.runs - timed - 2;
        CHECK_INT(timed, 16);
        CHECK(warm > 0);
        CHECK_INT(s.poisoned, timed + 2);
        CHECK_INT(s.left, timed + 1);
        CHECK_INT((r->flags & GPUMB_FLAG_KNOWN_SEED) != 0, seed[2] == 's');
        CHECK_INT(gpumb_get_settings(g)->seed, seed[2] == 's' ? 7 : 0);
        CHECK(s.checks >= 2 + 5 && s.checks < 2 + timed); // drawn
        for (int i = 1; i < s.runs; i++) {
            CHECK((s.words[i] == s.words[i - 1]) == (i <= warm));
            CHECK((s.memory[i] == s.memory[i - 1]) == (i <= warm));
        }
        std::sort(s.memory.begin(), s.memory.end());
        const int places = (int)(std::unique(s.memory.begin(), s.memory.end()) - s.memory.begin());
        CHECK(places > timed - 3); // of 18, among 2048
        CHECK((first == s.words[0]) == (seed[2] == 's' && first != 0));
        first = s.words[0];
        CHECK_INT(gpumb_close(g), 0);
    }
    gpumb *g = gpumb_open_settings("plain", NULL); // fills are again what they are elsewhere
    buffers b = make(g);
    uint64_t word;
    gpumb_read(g, b.in, 0, &word, sizeof word);
    CHECK(word == gpumb_fill_word(GPUMB_FILL_F32, 1, 0));
    CHECK(word == gpumbi_word(GPUMB_FILL_F32, 1, 0));
    gpumb_close(g);
    CHECK(fake_clean());
}

// Nobody can foresee the contents, if no seed is given, nor which runs are checked.
struct drawn {
    int runs;
    std::vector<int> checked; // of these
};

static int note_run(gpumb *, void *user)
{
    drawn *d = (drawn *)user;
    d->checked.push_back(d->runs);
    return 1;
}

static void test_what_is_drawn()
{
    std::vector<uint64_t> words;
    std::vector<std::vector<int>> checked;
    for (int k = 0; k < 8; k++) {
        fake_reset();
        gpumb_settings settings = gpumb_settings_default();
        settings.strict = settings.quiet = 1;
        gpumb *g = gpumb_open_settings("drawn", &settings);
        words.push_back(gpumb_fill_word(GPUMB_FILL_BITS, 1, 0));
        CHECK_INT(gpumb_get_settings(g)->seed, 0);
        gpumb_close(g);

        const std::string seed = "--seed=" + std::to_string(k + 1);
        g = open_with({"--strict", seed.c_str()}, "--samples=40:40");
        gpumb_buffer *in = gpumb_alloc(g, 64), *out = gpumb_alloc(g, 64);
        drawn d = {};
        gpumb_fill(g, in, GPUMB_FILL_F32, 1);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, note_run, &d);
        GPUMB_MEASURE(g, "copy") {
            d.runs++;
            fake_run(1e-3);
            RUN(take, GPUMB_PTR(const float, in), GPUMB_PTR(float, out), (uint64_t)16);
        }
        CHECK_INT(gpumb_close(g), 0);
        std::vector<int> gaps;
        for (size_t i = 2; i + 1 < d.checked.size(); i++) // but for the first and the last run
            gaps.push_back(d.checked[i] - d.checked[i - 1]);
        const size_t count = gaps.size();
        CHECK_CASE(count > 6 && count < 26, "%d checks of 40 samples", (int)count);
        std::sort(gaps.begin(), gaps.end());
        CHECK(gaps[0] < 3 && gaps.back() > 3 && gaps.back() <= 2 + 40 / 4);
        checked.push_back(d.checked);
    }
    std::sort(words.begin(), words.end());
    std::sort(checked.begin(), checked.end());
    CHECK(std::unique(words.begin(), words.end()) == words.end());
    CHECK(std::unique(checked.begin(), checked.end()) == checked.end());
}

// ---- contents that nobody can foresee ----

static uint64_t unshift(uint64_t z, int by)
{
    uint64_t x = z;
    for (int done = by; done < 64; done += by)
        x = z ^ (x >> by);
    return x;
}

static uint64_t inverse(uint64_t odd) // modulo 2^64, by Newton's iteration
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

// The seed of which splitmix64 makes this word `i`.
static uint64_t unmix(uint64_t word, uint64_t i)
{
    uint64_t z = unshift(word, 31) * inverse(UINT64_C(0x94d049bb133111eb));
    z = unshift(z, 27) * inverse(UINT64_C(0xbf58476d1ce4e5b9));
    return unshift(z, 30) - (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

// Four floats, from which the seed follows and so all others, if splitmix64 has made them: each has
// 23 bits of 32.
static bool foresee(const uint64_t *words, uint64_t *seed)
{
    const auto bits = [](uint32_t f32) {
        float f;
        memcpy(&f, &f32, sizeof f);
        f = f / 2 + 1.5f;
        memcpy(&f32, &f, sizeof f);
        return (uint64_t)(f32 & 0x7fffff) << 9;
    };
    const uint64_t known = bits((uint32_t)words[0]) | bits((uint32_t)(words[0] >> 32)) << 32;
    for (uint64_t guess = 0; guess < 1 << 18; guess++) {
        *seed = unmix(known | (guess & 511) | guess >> 9 << 32, 0);
        if (gpumbi_word(GPUMB_FILL_F32, *seed, 1) == words[1])
            return true;
    }
    return false;
}

static void test_contents()
{
    uint64_t seed, words[2];
    for (uint64_t i = 0; i < 2; i++)
        words[i] = gpumb_fill_word(GPUMB_FILL_F32, 4711, i);
    CHECK(foresee(words, &seed) && seed == 4711); // so it does what it says
    gpumb *g = open_with({"--strict"});
    buffers b = make(g);
    gpumb_set_output(g, b.out);
    gpumb_set_verify(g, check, &b);
    int runs = 0, foreseen = 0;
    GPUMB_MEASURE(g, "honest") {
        if (runs++ % 8 == 0) {
            memcpy(words, gpumb_data(b.in), sizeof words);
            foreseen += foresee(words, &seed);
        }
        honest(GPUMB_PTR(const float, b.in), GPUMB_PTR(float, b.out));
    }
    CHECK(runs > 8);
    CHECK_INT(foreseen, 0);
    CHECK_INT(gpumb_close(g), 0);
}

// Work that is left on another stream can't wait for the next inputs, and none of a run begins, on
// whatever stream, while the caches are still emptied.
static struct {
    const float *in;
    float first;
    int renewed;
} left_behind;

static void look_again()
{
    left_behind.renewed += left_behind.in[0] != left_behind.first;
}

static void test_idle_before_a_run()
{
    gpumb *g = open_with({"--strict"}, "--samples=60:60");
    buffers b = make(g);
    int runs = 0, busy = 0, left = 0;
    memset(&left_behind, 0, sizeof left_behind);
    gpumb_set_output(g, b.out);
    gpumb_set_verify(g, check, &b);
    GPUMB_MEASURE(g, "honest") {
        const bool renewed = left_behind.in != GPUMB_PTR(const float, b.in);
        runs += renewed;
        busy += renewed && fake_busy > fake_now + 1e-6; // but for an event
        left += renewed && fake_later;
        left_behind.in = GPUMB_PTR(const float, b.in);
        left_behind.first = left_behind.in[0];
        fake_later = look_again;
        honest(left_behind.in, GPUMB_PTR(float, b.out));
    }
    CHECK_STR(gpumb_last_result(g)->reason, "");
    CHECK_INT(runs, 60 + 2);
    CHECK_INT(busy, 0);
    CHECK_INT(left, 0);
    CHECK_INT(left_behind.renewed, 0);
    CHECK_INT(gpumb_close(g), 0);
    CHECK(fake_clean());
}

// A trick with one of several outputs is one.
struct copies {
    gpumb_buffer *in, *out[2];
};

static int same(gpumb *g, void *user)
{
    const copies *c = (const copies *)user;
    return !gpumb_compare(g, c->in, c->out[0], 64, NULL) &&
           !gpumb_compare(g, c->in, c->out[1], 64, NULL);
}

static void test_several_outputs()
{
    static const char *const reason[] = {"", "it works on another stream",
                                         "writes nothing when timed"};
    for (int trick = 0; trick < 3; trick++)
        for (int which = 0; which < 2; which++) {
            gpumb *g = open_with({"--strict"});
            copies c = {gpumb_alloc(g, 64), {gpumb_alloc(g, 64), gpumb_alloc(g, 64)}};
            memset(&now, 0, sizeof now);
            gpumb_fill(g, c.in, GPUMB_FILL_F32, 1);
            for (gpumb_buffer *out : c.out)
                gpumb_set_output(g, out);
            gpumb_set_verify(g, same, &c);
            GPUMB_MEASURE(g, "copies") {
                const float *in = GPUMB_PTR(const float, c.in);
                float *out = GPUMB_PTR(float, c.out[which]);
                fake_run(1e-3);
                RUN(take, in, GPUMB_PTR(float, c.out[!which]), (uint64_t)16);
                if (trick == 0 || (trick == 2 && !now.out))
                    RUN(take, in, out, (uint64_t)16);
                now.in = in;
                now.out = out;
                if (trick == 1)
                    fake_later = [] { RUN(take, now.in, now.out, (uint64_t)16); };
            }
            const gpumb_result *r = gpumb_last_result(g);
            CHECK_INT(r->status == GPUMB_STATUS_OK, trick == 0);
            CHECK_CASE(strstr(r->reason, reason[trick]) != NULL, "%d: %s", trick, r->reason);
            CHECK_INT(gpumb_close(g), trick != 0);
        }
    CHECK(fake_clean());
}

// What the program has written stays, also in other memory; a reset may renew it.
static void clear(gpumb *g, void *user)
{
    const uint64_t mark = 4711;
    gpumb_write(g, ((seen *)user)->b.out, 0, &mark, sizeof mark);
}

static void test_contents_that_stay()
{
    gpumb *g = open_with({"--strict"});
    seen s = {};
    describe(g, &s);
    gpumb_buffer *own = gpumb_alloc(g, 100), *zero = gpumb_alloc(g, 100);
    const char text[] = "neither drawn nor poison";
    gpumb_fill(g, own, GPUMB_FILL_BITS, 3);
    gpumb_fill(g, zero, GPUMB_FILL_ZERO, 3);
    gpumb_write(g, own, 0, text, sizeof text);
    gpumb_set_reset(g, clear, &s);
    int left = 1, marked = 1, zeros = 1;
    GPUMB_MEASURE(g, "honest") {
        uint64_t mark;
        memcpy(&mark, gpumb_data(s.b.out), sizeof mark);
        marked &= mark == 4711;
        left &= !strcmp(GPUMB_PTR(const char, own), text);
        zeros &= !GPUMB_PTR(const char, zero)[50];
        body(&s);
    }
    CHECK_STR(gpumb_last_result(g)->reason, "");
    CHECK_INT(left, 1);
    CHECK_INT(marked, 1);
    CHECK_INT(zeros, 1);
    CHECK_INT(gpumb_close(g), 0);
    CHECK(fake_clean());
}

static void test_interleaved()
{
    gpumb *g = open_with({"--strict"});
    GPUMB_SWEEP_LIST(g, pass, 1, 2) {
        seen one = {}, two = {};
        one.b = make(g);
        two.b = make(g);
        memset(&now, 0, sizeof now);
        now.memory = own_memory();
        GPUMB_INTERLEAVE(g) {
            for (seen *s : {&one, &two}) {
                gpumb_set_output(g, s->b.out);
                gpumb_set_verify(g, look, s);
                GPUMB_MEASURE(g, s == &one ? "honest" : "cheat") {
                    if (s == &one || pass == 1)
                        body(s);
                    else
                        by_pointer(GPUMB_PTR(const float, s->b.in), GPUMB_PTR(float, s->b.out));
                }
            }
        }
        free_memory(now.memory);
    }
    CHECK_INT((int)gpumb_row_count(g), 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(gpumb_row(g, i)->reason, i < 3 ? ""
                                                 : "takes 30.00 ms with new inputs and 5.001 ms "
                                                   "with those of the run before: a result is "
                                                   "kept, or left in the outputs");
    CHECK_INT(gpumb_row(g, 1)->comparison.verdict, GPUMB_VERDICT_SAME);
    CHECK_INT(gpumb_close(g), 1);
    CHECK(fake_clean());
}

// Where two regions take turns, buffers move for each: a pointer that one keeps is of no use to it.
static void test_pointers_in_turns()
{
    for (int trial = 0; trial < 6; trial++) {
        gpumb *g = open_with({"--strict"});
        buffers b = make(g);
        memset(&now, 0, sizeof now);
        GPUMB_INTERLEAVE(g)
            for (int lane = 0; lane < 2; lane++) {
                const bool cheats = (lane + trial) % 2 == 0;
                gpumb_set_output(g, b.out);
                gpumb_set_verify(g, check, &b);
                GPUMB_MEASURE(g, cheats ? "cheat" : "honest")
                    (cheats ? kept_pointer : honest)(GPUMB_PTR(const float, b.in),
                                                     GPUMB_PTR(float, b.out));
            }
        CHECK_INT(gpumb_row(g, (size_t)(trial % 2))->status, GPUMB_STATUS_FAILED);
        CHECK_INT(gpumb_row(g, (size_t)(1 - trial % 2))->status, GPUMB_STATUS_OK);
        CHECK_INT(gpumb_close(g), 1);
    }
    CHECK(fake_clean());
}

static void test_what_it_asks_for()
{
    static const char *const lack[] = {"needs a check",
                                       "needs gpumb_set_output()",
                                       "needs gpumb_set_output()",
                                       "needs inputs",
                                       "given",
                                       ""};
    for (int i = 0; i < 6; i++) {
        gpumb *g = open_with({"--strict"});
        std::vector<float> memory(COUNT);
        seen s = {};
        s.b = make(g);
        gpumb_buffer *wrapped = gpumb_wrap(g, memory.data(), COUNT * 4);
        const double second = 1;
        if (i == 3)
            gpumb_fill(g, s.b.in, GPUMB_FILL_ZERO, 1);
        if (i != 1)
            gpumb_set_output(g, i == 2 ? wrapped : s.b.out);
        if (i != 0)
            gpumb_set_verify(g, look, &s);
        if (i == 4)
            gpumb_add_times(g, "given", GPUMB_MEANING_SPAN, &second, 1);
        else
            GPUMB_MEASURE(g, "honest")
                body(&s);
        CHECK(strstr(gpumb_last_result(g)->reason, lack[i]) != NULL);
        CHECK_INT(s.runs > 0, i == 5);
        CHECK_INT(gpumb_close(g), i < 5);
    }
    gpumb *g = open_with({"--strict"}); // memory for one of two
    fake_memory = 100 << 20;
    CHECK(gpumb_alloc(g, 60 << 20) == NULL);
    gpumb_result r;
    GPUMB_TIME(&r)
        honest(NULL, NULL);
    if (!CHECK(strstr(r.reason, "needs 61 MiB more device memory") != NULL))
        printf("    %s\n", r.reason);
    CHECK_INT(gpumb_close(g), 1);
    CHECK_INT(gpumb_close(open_with({"--strict", "--replay=rows.csv"})), 2);
    CHECK(fake_clean());
}

#endif

// ---- the cipher ----

// The first words of ChaCha with 8 rounds for a key and a nonce of zeros (J. Strombergson, "Test
// Vectors for the Stream Cipher ChaCha", Internet-Draft, 2013: TC1, 256 bits). On the device, they
// are what gpumb_fill_word() says they are, whatever length and address.
static void test_cipher()
{
    static const uint32_t right[16] = {0x2fef003e, 0xd6405f89, 0xe8b85b7f, 0xa1a5091f,
                                       0xc30e842c, 0x3b7f9ace, 0x88e11b18, 0x1e1a71ef,
                                       0x72e14c98, 0x416f21b9, 0x6753449f, 0x19566d45,
                                       0xa3424a31, 0x01b086da, 0xb8fd7b38, 0x42fe0c0e};
    const gpumbi_cipher_key zero = {{0, 0, 0, 0, 0, 0, 0, 0}, 1};
    uint32_t x[16];
    gpumbi_cipher(&zero, 0, 0, x);
    for (int i = 0; i < 16; i++)
        CHECK_CASE(x[i] == right[i], "%d: %08x", i, x[i]);

    gpumb *g = open_with({"--strict"});
    gpumb_buffer *all = gpumb_alloc(g, 300000);
    for (int kind = GPUMB_FILL_BITS; kind < GPUMB_FILL_ZERO; kind++)
        for (uint64_t bytes : {1, 7, 8, 2047, 2048, 2049, 100003, 262144})
            for (int odd = 0; odd < 2; odd++) {
                gpumb_buffer *part = gpumb_wrap(g, GPUMB_PTR(char, all) + odd, bytes);
                const uint64_t seed = bytes << 32 | 5;
                std::vector<unsigned char> there(bytes), here(bytes + 8);
                gpumb_poison(g, all);
                gpumb_fill(g, part, (gpumb_fill_kind)kind, seed);
                gpumb_read(g, part, 0, there.data(), bytes);
                for (uint64_t i = 0; i * 8 < bytes; i++) {
                    const uint64_t word = gpumb_fill_word((gpumb_fill_kind)kind, seed, i);
                    memcpy(&here[i * 8], &word, 8);
                }
                CHECK_CASE(!memcmp(here.data(), there.data(), bytes), "%d %d %d", kind, (int)bytes,
                           odd);
                uint32_t behind = 0;
                gpumb_read(g, all, (bytes + 7) / 8 * 8 + 8, &behind, 4);
                CHECK(behind == GPUMB_POISON);
                gpumb_free(g, part);
            }
    gpumb_close(g);
}

#ifdef GPUMB_BACKEND_FAKE
static double interruption_s;

// Other processes have the processors whenever new inputs have come.
static void interrupted(const float *in, float *out)
{
    if (in[0] != now.first)
        COSTS(interruption_s);
    now.first = in[0];
    honest(in, out);
}

// Of 30 ms, on processors: what their scheduler may have done is no result that is kept.
static void test_on_processors()
{
    on_processors = 1;
    gpumb *g = open_with({"--strict"});
    buffers b = make(g);
    for (int ms = 100; ms <= 200; ms += 100) {
        interruption_s = 1e-3 * ms;
        measure(g, &b, ms == 100 ? "interrupted" : "kept", interrupted);
    }
    CHECK_STR(gpumb_row(g, 0)->reason, "");
    CHECK(strstr(gpumb_row(g, 1)->reason, "a result is kept, or left in the outputs"));
    CHECK_INT(gpumb_close(g), 1);
    on_processors = 0;
}
#endif

int main()
{
    test_cipher();
#ifdef GPUMB_BACKEND_FAKE
    test_contents();
    test_idle_before_a_run();
    test_pointers_in_turns();
    test_what_changes();
    test_what_is_drawn();
    test_several_outputs();
    test_contents_that_stay();
    test_interleaved();
    test_what_it_asks_for();
    test_on_processors();
#endif
    test_tricks();
    return CHECK_SUMMARY();
}

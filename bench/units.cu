/* What the units for integers and special functions do in a clock: chains of one operation in
 * registers, without memory, beside multiply-adds of fp32. Each result is held against the host's,
 * tests/test_isa.sh counts the instructions. */
#include "gpumb.h"

#include "bench.h"
#include "clock.h"
#include "rates.h"

#include <math.h>
#include <string.h>
#include <vector>

enum {
    FMA,
    ADD,
    ADD_BOTH,
    MULTIPLY_ADD,
    LOGIC,
    SHIFT,
    DOT,
    RECIPROCAL,
    ROOT,
    POWER,
    SINE,
    OPERATIONS
};

/* Operations of a result: products and sums, but for those of additions, which the vendor counts as
 * one whether two or three numbers are added. Two are added by either of two units, by turns: what
 * both do together is not stated. */
static const struct {
    const char *name;
    int unit;
    double each;
} about[OPERATIONS] = {{"fma f32", UNIT_F32, 2},       {"add3 i32", UNIT_ADD, 1},
                       {"add i32", NO_UNIT, 1},        {"mad i32", UNIT_MULTIPLY_ADD, 2},
                       {"and xor i32", UNIT_LOGIC, 1}, {"shift i32", UNIT_SHIFT, 1},
                       {"dp4a i8", NO_UNIT, 8},        {"rcp f32", UNIT_SPECIAL, 1},
                       {"rsqrt f32", UNIT_SPECIAL, 1}, {"exp2 f32", UNIT_SPECIAL, 1},
                       {"sin f32", UNIT_SPECIAL, 1}};

/* ---- on the device --------------------------------------------------------------------------- */

/* Results that don't wait for each other, and steps of all of them in a turn of the loop. */
enum { CHAINS = 8, STEPS = 16, BLOCK = 256, WORDS = CHAINS + 2 };

static __host__ __device__ inline float as_float(unsigned x)
{
    float y;
    memcpy(&y, &x, sizeof y);
    return y;
}

static __host__ __device__ inline unsigned as_bits(float x)
{
    unsigned y;
    memcpy(&y, &x, sizeof y);
    return y;
}

static __device__ inline unsigned shifted(unsigned high, unsigned low, unsigned by)
{
#if defined(__CUDA_ARCH__)
    return __funnelshift_l(low, high, by);
#else
    return high << by | low >> (32 - by);
#endif
}

static __device__ inline unsigned products_of_bytes(unsigned x, unsigned y, unsigned sum)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
    return (unsigned)__dp4a((int)x, (int)y, (int)sum);
#elif defined(__gfx90a__) || defined(__gfx942__)
    return (unsigned)__builtin_amdgcn_sdot4((int)x, (int)y, (int)sum, false);
#else
    for (int i = 0; i < 32; i += 8)
        sum += (unsigned)((int)(signed char)(x >> i) * (int)(signed char)(y >> i));
    return sum;
#endif
}

#if defined(__CUDA_ARCH__)
#define SPECIAL(name, instruction, otherwise)                                                      \
    static __device__ inline float name(float x)                                                   \
    {                                                                                              \
        float y;                                                                                   \
        asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));                             \
        return y;                                                                                  \
    }
#else
#define SPECIAL(name, instruction, otherwise)                                                      \
    static __device__ inline float name(float x)                                                   \
    {                                                                                              \
        return otherwise;                                                                          \
    }
#endif
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__CUDA_ARCH__)
SPECIAL(reciprocal, "rcp", __builtin_amdgcn_rcpf(x))
SPECIAL(root, "rsqrt", __builtin_amdgcn_rsqf(x))
SPECIAL(power, "ex2", exp2f(x))
SPECIAL(sine, "sin", __sinf(x))
#else
SPECIAL(reciprocal, "rcp", 1 / x)
SPECIAL(root, "rsqrt", 1 / sqrtf(x))
SPECIAL(power, "ex2", exp2f(x))
SPECIAL(sine, "sin", sinf(x))
#endif

/* Integers of one chain go into its neighbour, or a compiler would make one instruction of
 * several. */
template <int operation>
static __device__ inline unsigned next(unsigned x, unsigned neighbour, unsigned a, unsigned b)
{
    switch (operation) {
    case FMA:
        return as_bits(fmaf(as_float(x), as_float(a), as_float(b)));
    case ADD:
        return x + neighbour + a;
    case ADD_BOTH:
        return x + neighbour;
    case MULTIPLY_ADD:
        return x * a + neighbour;
    case LOGIC:
        return (x & neighbour) ^ a;
    case SHIFT:
        return shifted(x, neighbour, a);
    default:
        return products_of_bytes(neighbour, a, x);
    }
}

template <int operation> static __device__ inline float special(float x)
{
    return operation == RECIPROCAL ? reciprocal(x)
           : operation == ROOT     ? root(x)
           : operation == POWER    ? power(x)
                                   : sine(x);
}

static const float stride = 1.0f / 4096; /* of a special function's argument: sums are exact */

/* A thread of each block does the same. */
template <int operation>
static __global__ void chain(const unsigned *in, unsigned *out, word *took, unsigned turns)
{
    unsigned x[CHAINS];
    float at[CHAINS], sum[CHAINS];
    const unsigned thread = threadIdx.x, a = in[CHAINS * BLOCK + thread],
                   b = in[(CHAINS + 1) * BLOCK + thread];
    UNROLL
    for (unsigned k = 0; k < CHAINS; k++) {
        x[k] = in[k * BLOCK + thread];
        at[k] = as_float(x[k]);
        sum[k] = 0;
    }
    word cycles[2] = {0, 0}, ticks[2] = {0, 0};
    if (!thread)
        clocks_now(&cycles[0], &ticks[0]);
    for (unsigned turn = 0; turn < turns; turn++) {
        UNROLL
        for (int step = 0; step < STEPS; step++) {
            UNROLL
            for (int k = 0; k < CHAINS; k++)
                if (operation < RECIPROCAL) {
                    x[k] = next<operation>(x[k], x[(k + 1) % CHAINS], a, b);
                } else {
                    sum[k] += special<operation>(at[k]);
                    at[k] += stride;
                }
        }
    }
    if (!thread) {
        clocks_now(&cycles[1], &ticks[1]);
        took[2 * blockIdx.x] = cycles[1] - cycles[0];
        took[2 * blockIdx.x + 1] = ticks[1] - ticks[0];
    }
    UNROLL
    for (unsigned k = 0; k < CHAINS; k++)
        out[(blockIdx.x * CHAINS + k) * BLOCK + thread] =
            operation < RECIPROCAL ? x[k] : as_bits(sum[k]);
}

/* ---- by the host ----------------------------------------------------------------------------- */

struct trial {
    int operation;
    unsigned turns;
    uint64_t blocks;
    double tick_s;
    std::vector<unsigned> words;
    gpumb_buffer *in, *out, *took;
};

/* From -1 to 1. */
static float uniform(uint64_t random)
{
    return (float)((double)(random >> 40) / (1 << 23) - 1);
}

/* A word of a thread: where its chains begin, a, b. Multiply-adds of fp32 forget little: a is near
 * 1 or -1. Special functions begin from 1 to 2, at multiples of 2^-20. */
static unsigned first_word(int operation, int index, uint64_t random)
{
    const int of_a = index == CHAINS, of_b = index == CHAINS + 1;
    if (operation == FMA) {
        const float size = 1 - (uniform(random) + 1) / 8192;
        return as_bits(of_a   ? random & 1 ? size : -size
                       : of_b ? uniform(random) / 1024
                              : uniform(random));
    }
    if (operation >= RECIPROCAL)
        return as_bits(1 + (float)(random >> 44) / (1 << 20));
    return operation == SHIFT && of_a ? 1 + (unsigned)(random % 31) : (unsigned)(random >> 32);
}

static uint64_t integer(int operation, uint64_t x, uint64_t neighbour, uint64_t a)
{
    const unsigned ones = ~0u;
    uint64_t sum = x;
    switch (operation) {
    case ADD:
        return (x + neighbour + a) & ones;
    case ADD_BOTH:
        return (x + neighbour) & ones;
    case MULTIPLY_ADD:
        return (x * a + neighbour) & ones;
    case LOGIC:
        return (x & neighbour) ^ a;
    case SHIFT:
        return ((x << 32 | neighbour) << a) >> 32;
    default:
        for (unsigned i = 0; i < 4; i++) {
            const int64_t p = (int64_t)(neighbour >> 8 * i & 255), q = (int64_t)(a >> 8 * i & 255);
            sum += (uint64_t)((p < 128 ? p : p - 256) * (q < 128 ? q : q - 256));
        }
        return sum & ones;
    }
}

static double function(int operation, double x)
{
    return operation == RECIPROCAL ? 1 / x
           : operation == ROOT     ? 1 / sqrt(x)
           : operation == POWER    ? exp2(x)
                                   : sin(x);
}

/* What a thread leaves, and how far its results may be off: nothing, but for special functions,
 * whose instructions are good to 2^-20 (PTX ISA, "ex2", "rcp", "rsqrt", "sin"), and each of the
 * additions to half a bit of the sum. */
static double by_host(const trial *t, unsigned thread, double *wanted)
{
    const unsigned steps = t->turns * STEPS;
    uint64_t x[CHAINS];
    for (unsigned k = 0; k < CHAINS; k++)
        x[k] = t->words[k * BLOCK + thread];
    const unsigned a = t->words[CHAINS * BLOCK + thread],
                   b = t->words[(CHAINS + 1) * BLOCK + thread];
    for (unsigned k = 0; k < CHAINS && t->operation >= RECIPROCAL; k++) {
        wanted[k] = 0;
        for (unsigned step = 0; step < steps; step++)
            wanted[k] +=
                function(t->operation, (double)as_float((unsigned)x[k]) + step * (double)stride);
    }
    if (t->operation >= RECIPROCAL)
        return 0x1p-20 + steps * 0x1p-24;
    for (unsigned step = 0; step < steps; step++)
        for (unsigned k = 0; k < CHAINS; k++)
            x[k] = t->operation == FMA
                       ? as_bits(fmaf(as_float((unsigned)x[k]), as_float(a), as_float(b)))
                       : integer(t->operation, x[k], x[(k + 1) % CHAINS], a);
    for (unsigned k = 0; k < CHAINS; k++)
        wanted[k] = t->operation == FMA ? (double)as_float((unsigned)x[k]) : (double)x[k];
    return 0;
}

static int check_chain(gpumb *g, void *user)
{
    const trial *t = (const trial *)user;
    const size_t each = (size_t)CHAINS * BLOCK;
    std::vector<unsigned> out(t->blocks * each);
    std::vector<double> wanted(each);
    double bound = 0;
    if (gpumb_read(g, t->out, 0, out.data(), out.size() * sizeof out[0]))
        return 0;
    note_clock(g, t->took, t->blocks, t->tick_s);
    for (unsigned thread = 0; thread < BLOCK; thread++) {
        double of_chains[CHAINS];
        bound = by_host(t, thread, of_chains);
        for (unsigned k = 0; k < CHAINS; k++)
            wanted[k * BLOCK + thread] = of_chains[k];
    }
    const int real = t->operation == FMA || t->operation >= RECIPROCAL;
    for (size_t i = 0; i < out.size(); i++) {
        const double is = real ? (double)as_float(out[i]) : (double)out[i];
        if (!(fabs(is - wanted[i % each]) <= bound * fabs(wanted[i % each]))) {
            gpumb_reason(g, "result %zu is %.9g, not %.9g", i, is, wanted[i % each]);
            return 0;
        }
    }
    return 1;
}

/* ---- regions --------------------------------------------------------------------------------- */

static const char bench_name[] = "units/chain";

template <int operation> static void launch(const trial *t)
{
    GPUMB_LAUNCH(chain<operation>, t->blocks, BLOCK, 0, GPUMB_PTR(const unsigned, t->in),
                 GPUMB_PTR(unsigned, t->out), GPUMB_PTR(word, t->took), t->turns);
}

static void (*const launches[OPERATIONS])(const trial *) = {
    launch<FMA>,   launch<ADD>,   launch<ADD_BOTH>, launch<MULTIPLY_ADD>,
    launch<LOGIC>, launch<SHIFT>, launch<DOT>,      launch<RECIPROCAL>,
    launch<ROOT>,  launch<POWER>, launch<SINE>};

/* As many threads as there can be at once, for a quarter of a millisecond and more. */
static void measure(gpumb *g, int operation, double tick_s)
{
    const gpumb_device *d = gpumb_get_device(g);
    trial t{};
    t.operation = operation;
    t.turns = is_gpu(g) ? operation < RECIPROCAL ? 128 : 64 : 3;
    t.blocks = is_gpu(g) ? (uint64_t)d->multiprocessors * (uint64_t)(d->max_threads / BLOCK) : 1;
    t.tick_s = tick_s;
    for (uint64_t i = 0; i < (uint64_t)WORDS * BLOCK; i++)
        t.words.push_back(
            first_word(operation, (int)(i / BLOCK),
                       gpumb_fill_word(GPUMB_FILL_BITS, gpumb_get_settings(g)->seed, i)));
    t.in = gpumb_alloc(g, t.words.size() * sizeof t.words[0]);
    t.out = gpumb_alloc(g, t.blocks * CHAINS * BLOCK * sizeof(unsigned));
    t.took = gpumb_alloc(g, 2 * t.blocks * sizeof(word));
    gpumb_write(g, t.in, 0, t.words.data(), t.words.size() * sizeof t.words[0]);
    const double results = (double)(t.blocks * (uint64_t)(BLOCK * CHAINS * STEPS) * t.turns);
    gpumb_set_elements(g, results);
    gpumb_set_flop(g, about[operation].each * results);
    gpumb_set_peak_flop(g, unit_peak(g, about[operation].unit));
    gpumb_set_output(g, t.out);
    gpumb_set_verify(g, check_chain, &t);
    GPUMB_MEASURE(g, "chain")
        launches[operation](&t);
}

static void units_chain(gpumb *g)
{
    const double tick_s = tick_seconds(g);
    const char *names[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++)
        names[i] = about[i].name;
    GPUMB_SWEEP_STRINGS(g, operation, names, OPERATIONS)
        measure(g, (int)operation, tick_s);
    const rows all = noisy_too(rows_of(bench_name, NULL));
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (row_in(g, all, i)) {
            const int64_t operation = gpumb_row_axis(g, i, "operation");
            say_per_clock(g, &s, i, names[operation], about[operation].unit);
        }
    if (s.text[0])
        gpumb_note(g,
                   "Operations in a clock of a multiprocessor, and of the most that is stated; a "
                   "multiply-add is 2, dp4a 8: %s.",
                   s.text);
}

static const gpumb_benchmark benchmarks[] = {
    {bench_name, "integers and special functions in registers: rate over operation", units_chain},
};

GPUMB_MAIN(benchmarks)

/* What matrix units multiply in a clock: chains of products of small matrices, without memory. By
 * mma.sync, of sm_80 and later, a warp at a time; by mfma, of AMD's gfx90a and gfx942, a wave at a
 * time; and by wgmma, of sm_90 alone, four warps at a time with both matrices in shared memory. Of
 * zeros, which take the least power, and of random values, for which the clock may have to fall. */
#include "gpumb.h"

#include "bench.h"
#include "clock.h"
#include "tensor.h"
#include "tensor_chain.h"

#include <string>
#include <type_traits>

static const char *const data_names[] = {"zeros", "random"};

#if defined(__HIP_PLATFORM_AMD__)
static constexpr int WAY = MFMA;
static const char kernel_name[] = "mfma";
#else
static constexpr int WAY = MMA;
static const char kernel_name[] = "mma.sync";
#endif

#if defined(__gfx90a__) || defined(__gfx942__)
#define HAS_MFMA 1
#else
#define HAS_MFMA 0
#endif

/* ---- in registers: mma.sync, mfma ------------------------------------------------------------ */

enum { BLOCK = 256 };

/* What a lane holds: sums, and words of the elements, of A, B and -B. */
template <int type> struct lane_of {
    static constexpr shape of = shape_of(WAY, type, 8);
    enum { SUMS = of.sums, EACH = of.each, B = of.a_words, MINUS = B + of.b_words };
    enum { WORDS = MINUS + of.b_words, LANES = of.lanes };
    typedef typename std::conditional<
        type == F64, double, typename std::conditional<type == I8, int, float>::type>::type sum;
    typedef typename std::conditional<of.bytes == 8, uint64_t, unsigned>::type word;
};

/* Where what is: see tensor_chain.h. */
#if defined(GPUMB_BACKEND_CPU)
template <int type, class Sum, class Word>
static void multiply(Sum *c, const Word *a, const Word *b)
{
    const element_type &u = elements_of[type];
    const unsigned lane = threadIdx.x % 32;
    const uint64_t mask = ~(uint64_t)0 >> (64 - u.bits);
    for (unsigned quad = 0; quad < 4; quad++)
        for (unsigned half = 0; half < 2; half++)
            for (unsigned r = 0; r < 4; r++) {
                const unsigned of_row = lane / 4 * 4 + quad;
                const unsigned of_column = (lane % 4 * 2 + r % 2) * 4 + quad;
                const uint64_t x = of_lane(a[2 * half + r / 2], of_row);
                const uint64_t y = of_lane(b[half], of_column);
                for (int e = 0; e < (u.bits < 32 ? 32 / u.bits : 1); e++)
                    c[r] += (Sum)(value_of(u.bits, u.exponent, u.fraction, x >> e * u.bits & mask) *
                                  value_of(u.bits, u.exponent, u.fraction, y >> e * u.bits & mask));
            }
}
#elif HAS_TENSOR
#define MULTIPLY(type, shape, value, letter)                                                       \
    template <>                                                                                    \
    __device__ inline void multiply<type>(value * c, const unsigned *a, const unsigned *b)         \
    {                                                                                              \
        asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "   \
                     "{%0, %1, %2, %3};"                                                           \
                     : "+" letter(c[0]), "+" letter(c[1]), "+" letter(c[2]), "+" letter(c[3])      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
template <int type, class Sum, class Word>
static __device__ inline void multiply(Sum *, const Word *, const Word *);
MULTIPLY(F16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
MULTIPLY(BF16_TYPE, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
MULTIPLY(TF32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
MULTIPLY(I8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
#if __CUDA_ARCH__ >= 890
MULTIPLY(E4M3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
#else
template <> __device__ inline void multiply<E4M3>(float *, const unsigned *, const unsigned *)
{
}
#endif

/* One instruction from sm_90 on; before, four of 8 x 8 sums of 4 products. */
template <> __device__ inline void multiply<F64>(double *c, const uint64_t *a, const uint64_t *b)
{
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(__longlong_as_double((long long)a[0])), "d"(__longlong_as_double((long long)a[1])),
          "d"(__longlong_as_double((long long)a[2])), "d"(__longlong_as_double((long long)a[3])),
          "d"(__longlong_as_double((long long)b[0])), "d"(__longlong_as_double((long long)b[1])));
#else
    UNROLL
    for (int i = 0; i < 4; i++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                     "{%0, %1};"
                     : "+d"(c[2 * (i % 2)]), "+d"(c[2 * (i % 2) + 1])
                     : "d"(__longlong_as_double((long long)a[i])),
                       "d"(__longlong_as_double((long long)b[i / 2])));
#endif
}
#endif

/* ---- AMD's: 8 bytes of A and B in a lane ---- */

#if HAS_MFMA
/* Sums are vectors there. Of other types there are none. */
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));

template <int type>
static __device__ inline void multiply(f32x16 &c, const uint64_t *a, const uint64_t *b)
{
    if (type == F16)
        c = __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(f16x4, *a),
                                                 __builtin_bit_cast(f16x4, *b), c, 0, 0, 0);
    if (type == BF16_TYPE)
        c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(i16x4, *a),
                                                     __builtin_bit_cast(i16x4, *b), c, 0, 0, 0);
#if defined(__gfx942__)
    if (type == TF32)
        c = __builtin_amdgcn_mfma_f32_32x32x4_xf32(__builtin_bit_cast(f32x2, *a),
                                                   __builtin_bit_cast(f32x2, *b), c, 0, 0, 0);
#endif
}

/* gfx90a has two instructions for it: each takes 4 of the 8 k that a lane has, the same of A and
 * B. */
template <int type>
static __device__ inline void multiply(i32x16 &c, const uint64_t *a, const uint64_t *b)
{
#if defined(__gfx90a__)
    c = __builtin_amdgcn_mfma_i32_32x32x8i8((int)*a, (int)*b, c, 0, 0, 0);
    c = __builtin_amdgcn_mfma_i32_32x32x8i8((int)(*a >> 32), (int)(*b >> 32), c, 0, 0, 0);
#else
    c = __builtin_amdgcn_mfma_i32_32x32x16_i8((long)*a, (long)*b, c, 0, 0, 0);
#endif
}

template <int type>
static __device__ inline void multiply(f64x4 &c, const uint64_t *a, const uint64_t *b)
{
    c = __builtin_amdgcn_mfma_f64_16x16x4f64(__builtin_bit_cast(double, *a),
                                             __builtin_bit_cast(double, *b), c, 0, 0, 0);
}

template <int type> struct sums_of_lane {
    typedef typename std::conditional<
        type == F64, f64x4, typename std::conditional<type == I8, i32x16, f32x16>::type>::type it;
};
#elif HAS_TENSOR
template <int type> struct sums_of_lane {
    typedef typename lane_of<type>::sum it[lane_of<type>::SUMS];
};
#endif

/* Adds a product and takes it away again, `turns` times, and adds it once more. Each block notes
 * the cycles of its multiprocessor and the ticks of the timer that this has taken: what the driver
 * says of the clock misses that wgmma slows it. */
template <int type>
static __global__ void chain(const typename lane_of<type>::word *in,
                             typename lane_of<type>::sum *out, word *took, unsigned turns)
{
#if HAS_TENSOR || HAS_MFMA
    typedef lane_of<type> own;
    const unsigned lane = threadIdx.x % own::LANES;
    const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / own::LANES;
    typename own::word words[own::WORDS];
    typename sums_of_lane<type>::it c[own::EACH];
    UNROLL
    for (unsigned i = 0; i < own::WORDS; i++)
        words[i] = in[i * own::LANES + lane];
    UNROLL
    for (int j = 0; j < own::EACH; j++) {
        UNROLL
        for (int r = 0; r < own::SUMS; r++)
            c[j][r] = (typename own::sum)first_sum((int)lane, j, r);
    }
    word cycles[2] = {0, 0}, ticks[2] = {0, 0};
    if (!threadIdx.x)
        clocks_now(&cycles[0], &ticks[0]);
    for (unsigned turn = 0; turn < turns; turn++) {
        UNROLL
        for (int j = 0; j < own::EACH; j++)
            multiply<type>(c[j], words, words + own::B);
        UNROLL
        for (int j = 0; j < own::EACH; j++)
            multiply<type>(c[j], words, words + own::MINUS);
    }
    if (!threadIdx.x) {
        clocks_now(&cycles[1], &ticks[1]);
        took[2 * blockIdx.x] = cycles[1] - cycles[0];
        took[2 * blockIdx.x + 1] = ticks[1] - ticks[0];
    }
    UNROLL
    for (unsigned j = 0; j < own::EACH; j++) {
        multiply<type>(c[j], words, words + own::B);
        UNROLL
        for (unsigned r = 0; r < own::SUMS; r++)
            out[((group * own::EACH + j) * own::SUMS + r) * own::LANES + lane] = c[j][r];
    }
#else
    (void)in, (void)out, (void)took, (void)turns;
#endif
}

/* ---- wgmma: PTX, for the driver to compile --------------------------------------------------- */

/* A has 64 rows, B 256 columns, of 32 bytes each. Both lie in shared memory: 128 bytes to the next
 * 16 of a row, 256 to the next rows. */
enum { SUMS = 128, PAIRS = 8 };

static std::string number(int n)
{
    return std::to_string(n);
}

static std::string wgmma(const element_type &u, int negated)
{
    std::string text = "wgmma.mma_async.sync.aligned.m64n256k" + number(8 * ROW_BYTES / u.bits) +
                       "." + u.sum + "." + u.input + "." + u.input + " {%d0";
    for (int i = 1; i < SUMS; i++)
        text += ", %d" + number(i);
    text += "}, %a, %b, %always";
    if (u.exponent)
        text += negated ? ", -1, 1" : ", 1, 1";
    if (u.bits == 16)
        text += ", 0, 0"; /* not transposed */
    return text + ";\n";
}

static std::string wgmma_kernel(const element_type &u)
{
    const std::string fence = "wgmma.fence.sync.aligned;\n",
                      commit = "wgmma.commit_group.sync.aligned;\n",
                      wait = "wgmma.wait_group.sync.aligned 0;\n",
                      wait_but_one = "wgmma.wait_group.sync.aligned 1;\n";
    const int bytes = (HIGH + WIDE) * ROW_BYTES;
    std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry chain(.param .u64 in, .param .u64 out, .param .u64 took, "
        ".param .u32 turns)\n"
        ".maxntid 128, 1, 1\n{\n"
        ".reg .pred %always, %again, %first;\n.reg .b32 %r<8>, %d<" +
        number(SUMS) +
        ">;\n"
        ".reg .b64 %in, %out, %a, %b, %offset, %took, %cycles<2>, %ticks<2>;\n"
        ".shared .align 128 .b8 tiles[" +
        number(bytes) +
        "];\n"
        "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nld.param.u64 %took, [took];\n"
        "ld.param.u32 %r0, [turns];\ncvta.to.global.u64 %in, %in;\n"
        "cvta.to.global.u64 %out, %out;\ncvta.to.global.u64 %took, %took;\n"
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tiles;\nsetp.eq.u32 %always, %r1, %r1;\n"
        "mad.wide.u32 %in, %r1, 4, %in;\nmad.lo.u32 %r3, %r1, 4, %r2;\n";
    for (int at = 0; at < bytes; at += 4 * WGMMA_BLOCK)
        text += "ld.global.b32 %r4, [%in+" + number(at) + "];\nst.shared.b32 [%r3+" + number(at) +
                "], %r4;\n";
    text += "fence.proxy.async;\nbar.sync 0;\n"
            "and.b32 %r2, %r2, 0x3FFFF;\nshr.u32 %r2, %r2, 4;\ncvt.u64.u32 %a, %r2;\n"
            "or.b64 %a, %a, 0x1000080000;\nadd.u64 %b, %a, " +
            number(HIGH * ROW_BYTES / 16) + ";\n";
    for (int i = 0; i < SUMS; i++)
        text += "mov.b32 %d" + number(i) + ", 0;\n";
    text += "mov.u64 %cycles0, %clock64;\nmov.u64 %ticks0, %globaltimer;\nturn:\n" + fence;
    for (int i = 0; i < 2 * PAIRS; i++)
        text += wgmma(u, i % 2);
    text += commit + wait_but_one +
            "sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %again, %r0, 0;\n@%again bra turn;\n" + wait +
            "mov.u64 %cycles1, %clock64;\nmov.u64 %ticks1, %globaltimer;\n" + fence + wgmma(u, 0) +
            commit + wait +
            "sub.u64 %cycles1, %cycles1, %cycles0;\nsub.u64 %ticks1, %ticks1, %ticks0;\n"
            "mov.u32 %r5, %ctaid.x;\nmad.wide.u32 %took, %r5, 16, %took;\n"
            "setp.eq.u32 %first, %r1, 0;\n"
            "@%first st.global.v2.b64 [%took], {%cycles1, %ticks1};\n"
            "mad.lo.u32 %r5, %r5, 128, %r1;\n"
            "mul.wide.u32 %offset, %r5, " +
            number(4 * SUMS) + ";\nadd.u64 %out, %out, %offset;\n";
    for (int i = 0; i < SUMS; i += 4)
        text += "st.global.v4.b32 [%out+" + number(4 * i) + "], {%d" + number(i) + ", %d" +
                number(i + 1) + ", %d" + number(i + 2) + ", %d" + number(i + 3) + "};\n";
    return text + "ret;\n}\n";
}

/* ---- regions --------------------------------------------------------------------------------- */

static int check_chain(gpumb *g, void *user)
{
    const trial *t = (const trial *)user;
    std::vector<unsigned> out((size_t)(t->groups * sums_of(t) * sum_bytes(t) / 4));
    double wanted = 0;
    if (gpumb_read(g, t->out, 0, out.data(), out.size() * sizeof out[0]))
        return 0;
    note_clock(g, t->took, t->blocks, t->tick_s);
    const int64_t wrong = first_wrong(t, out.data(), &wanted);
    if (wrong >= 0)
        gpumb_reason(g, "sum %lld is %.9g, not %.9g", (long long)wrong,
                     sum_at(t, out.data(), (uint64_t)wrong), wanted);
    return wrong < 0;
}

/* Its buffers, and what the next region is. */
static void describe(gpumb *g, trial *t, const std::vector<unsigned> &words, uint64_t blocks,
                     double tick_s)
{
    t->blocks = blocks;
    t->tick_s = tick_s;
    t->took = gpumb_alloc(g, 2 * blocks * sizeof(word));
    t->in = gpumb_alloc(g, words.size() * sizeof words[0]);
    t->out = gpumb_alloc(g, t->groups * sums_of(t) * sum_bytes(t));
    gpumb_write(g, t->in, 0, words.data(), words.size() * sizeof words[0]);
    gpumb_set_peak_flop(g, unit_peak(g, elements_of[t->type].unit));
    gpumb_set_flop(g, flop_of(t));
    gpumb_set_output(g, t->out);
    gpumb_set_verify(g, check_chain, t);
}

static void free_buffers(gpumb *g, const trial *t)
{
    gpumb_free(g, t->in);
    gpumb_free(g, t->out);
    gpumb_free(g, t->took);
}

template <int type> static void launch_chain(const trial *t, unsigned turns)
{
    GPUMB_LAUNCH_BARRIER(
        chain<type>, t->blocks, BLOCK, 0, GPUMB_PTR(const typename lane_of<type>::word, t->in),
        GPUMB_PTR(typename lane_of<type>::sum, t->out), GPUMB_PTR(word, t->took), turns);
}

static void (*const launch[])(const trial *, unsigned) = {
    launch_chain<F16>, launch_chain<BF16_TYPE>, launch_chain<TF32>,
    launch_chain<F64>, launch_chain<I8>,        launch_chain<E4M3>};

/* Why there is no row of a type in registers; an empty sentence: there is one. */
static sentence lacks(gpumb *g, int type)
{
    sentence s = no_words();
    const element_type &u = elements_of[type];
    const char *arch = gpumb_get_device(g)->arch;
    if (WAY == MFMA) {
        const int of_942 = !strncmp(arch, "gfx942", 6);
        if (type == E4M3)
            say(&s, "the e4m3 of mfma is another type");
        else if (type == TF32 && !of_942)
            say(&s, "tf32 by mfma needs gfx942");
        else if (!of_942 && strncmp(arch, "gfx90a", 6))
            say(&s, "mfma is taken from gfx90a and gfx942");
        return s;
    }
    const char *trouble = lacks_tensor(g);
    if (trouble)
        say(&s, "%s", trouble);
    else if (is_gpu(g) && architecture(g) < u.from)
        say(&s, "%s needs sm_%d", types[type], u.from);
    return s;
}

static const char mma_bench[] = "tensor/mma", wgmma_bench[] = "tensor/wgmma";

static void measure_mma(gpumb *g, int type, int data, double tick_s)
{
    const unsigned turns = is_gpu(g) ? 2000 : 3;
    const uint64_t blocks = is_gpu(g) ? 2 * (uint64_t)gpumb_get_device(g)->multiprocessors : 1;
    const int lanes = shape_of(WAY, type, 8).lanes;
    trial t = new_trial(WAY, type, data, blocks * (uint64_t)(BLOCK / lanes), turns + 1, turns);
    describe(g, &t, words_of_lanes(&t), blocks, tick_s);
    const sentence trouble = lacks(g, type);
    if (trouble.text[0])
        gpumb_skip(g, "%s", trouble.text);
    GPUMB_MEASURE(g, kernel_name)
        launch[type](&t, turns);
    free_buffers(g, &t);
}

static void measure_wgmma(gpumb *g, int type, int data, double tick_s)
{
    const unsigned turns = 400; /* a millisecond, of which what is before and behind is 1 % */
    const uint64_t blocks = 2 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t grid[3] = {blocks, 1, 1}, block[3] = {WGMMA_BLOCK, 1, 1};
    trial t{};
    const void *in = NULL, *function = NULL;
    void *out = NULL, *took = NULL;
    if (architecture(g) == 90) {
        const element_type &u = elements_of[type];
        const std::string text = wgmma_kernel(u);
        const unsigned pairs = turns * PAIRS; /* integers have no way to take away */
        t = new_trial(WGMMA, type, data, blocks, pairs + 1 + (u.exponent ? 0 : pairs),
                      u.exponent ? pairs : 0);
        gpumb_module *module = gpumb_load_image(g, text.c_str(), text.size() + 1, 0, -1);
        function = gpumb_function(g, module, "chain");
        describe(g, &t, words_in_shared(&t), blocks, tick_s);
        in = gpumb_data(t.in);
        out = gpumb_data(t.out);
        took = gpumb_data(t.took);
    } else {
        gpumb_skip(g, "wgmma is an instruction of sm_90 alone");
    }
    unsigned passed = turns;
    void *parameters[] = {&in, &out, &took, &passed};
    GPUMB_MEASURE(g, "wgmma")
        gpumb_launch(g, "wgmma", function, grid, block, 0, parameters);
    free_buffers(g, &t);
}

/* ---- conclusions ----------------------------------------------------------------------------- */

static void note_rates(gpumb *g, const char *bench, int data)
{
    const rows all = noisy_too(having(rows_of(bench, NULL), "data", data));
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const int64_t type = gpumb_row_axis(g, i, "type");
        if (row_in(g, all, i))
            say_per_clock(g, &s, i, types[type], elements_of[type].unit);
    }
    if (s.text[0])
        gpumb_note(g,
                   "FLOP in a clock of a multiprocessor, and of the most that is stated, %s: %s.",
                   data_names[data], s.text);
}

static void tensor_mma(gpumb *g)
{
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, type, types, TYPES)
        GPUMB_SWEEP_STRINGS(g, data, data_names, 2)
            measure_mma(g, (int)type, (int)data, tick_s);
    for (int data = 0; data < 2; data++)
        note_rates(g, mma_bench, data);
}

static void tensor_wgmma(gpumb *g)
{
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, type, types, TYPES) {
        if (type == F64) /* there is none */
            continue;
        GPUMB_SWEEP_STRINGS(g, data, data_names, 2)
            measure_wgmma(g, (int)type, (int)data, tick_s);
    }
    for (int data = 0; data < 2; data++)
        note_rates(g, wgmma_bench, data);
}

static const gpumb_benchmark benchmarks[] = {
    {mma_bench, "products in registers, by a warp: rate over type and data", tensor_mma},
    {wgmma_bench, "products in shared memory, by four warps: rate over type and data",
     tensor_wgmma},
};

GPUMB_MAIN(benchmarks)

/* What tensor cores multiply in a clock: chains of products of small matrices, without memory. By
 * mma.sync, of sm_80 and later, a warp at a time; and by wgmma, of sm_90 alone, four warps at a
 * time with both matrices in shared memory. Of zeros, which take the least power, and of random
 * values, for which the clock may have to fall. */
#include "gpumb.h"

#include "bench.h"
#include "clock.h"
#include "tensor.h"

#include <math.h>
#include <string>
#include <vector>

enum { F16, BF16_TYPE, TF32, F64, I8, E4M3, TYPES };
static const char *const types[] = {"f16", "bf16", "tf32", "f64", "i8", "e4m3"};
static const char *const data_names[] = {"zeros", "random"};

/* Bits of an element; of its exponent and fraction; the PTX type of inputs and sums; the first
 * architecture with it; its rate over that of fp16, by the vendor's white papers on the A100 and
 * the H100. */
struct unit {
    int bits, exponent, fraction;
    const char *input, *sum;
    int from;
    double of_f16;
};
static const unit units[TYPES] = {
    {16, 5, 10, "f16", "f32", 80, 1},   {16, 8, 7, "bf16", "f32", 80, 1},
    {32, 8, 23, "tf32", "f32", 80, .5}, {64, 11, 52, "f64", "f64", 80, 1 / 16.0},
    {8, 0, 0, "s8", "s32", 80, 2},      {8, 4, 3, "e4m3", "f32", 89, 2}};

/* ---- values ---------------------------------------------------------------------------------- */

/* Of the `bits` of one: an integer, or sign, exponent and fraction. None is subnormal but zero. */
static __host__ __device__ inline double value_of(int bits, int exponent, int fraction, uint64_t x)
{
    if (!exponent)
        return (double)(signed char)x;
    const uint64_t parts = x & (((uint64_t)1 << (bits - 1)) - 1);
    const int power = (int)(parts >> fraction) - ((1 << (exponent - 1)) - 1);
    const double size =
        ldexp(1 + ldexp((double)(parts & (((uint64_t)1 << fraction) - 1)), -fraction), power);
    return !parts ? 0 : x >> (bits - 1) & 1 ? -size : size;
}

/* One of random bits: from 1/4 to 2, of either sign; of e4m3 from 1 on, so that sums of 32 products
 * are exact in 14 bits, which is what the units keep of them; integers from -127 to 127. */
static uint64_t random_element(const unit &u, uint64_t random)
{
    if (!u.exponent)
        return (uint64_t)((int)(random % 255) - 127) & 0xff;
    const uint64_t kept = u.bits == 32 ? 10 : (uint64_t)u.fraction; /* a tf32 has no more */
    const uint64_t bias = ((uint64_t)1 << (u.exponent - 1)) - 1;
    const uint64_t below = u.bits == 8 ? 0 : random >> 62 & 1 ? 2 : random >> 61 & 1;
    const uint64_t part = (random & (((uint64_t)1 << kept) - 1)) << ((uint64_t)u.fraction - kept);
    return (random >> 63) << (u.bits - 1) | (bias - below) << u.fraction | part;
}

static uint64_t negative(const unit &u, uint64_t x)
{
    return u.exponent ? x ^ (uint64_t)1 << (u.bits - 1) : (uint64_t)(-(int)(signed char)x) & 0xff;
}

/* A matrix whose rows (of B: columns) have 32 bytes, or 8 elements of fp64: [row][k]. */
typedef std::vector<uint64_t> matrix;

static matrix new_matrix(const unit &u, int high, int elements, int data, uint64_t seed)
{
    matrix m((size_t)(high * elements));
    for (size_t i = 0; i < m.size() && data; i++)
        m[i] = random_element(u, gpumb_fill_word(GPUMB_FILL_BITS, seed, i));
    return m;
}

static double element(const unit &u, const matrix &m, int elements, int row, int k)
{
    return value_of(u.bits, u.exponent, u.fraction, m[(size_t)(row * elements + k)]);
}

/* ---- mma.sync -------------------------------------------------------------------------------- */

/* Products by a warp that don't wait for each other; words of a lane: of A, B and -B. */
enum { EACH = 8, WORDS = 8, MMA_BLOCK = 256 };

/* What a lane holds: sums, and words of 32 / bits elements, or of one of fp64. */
template <int type> struct lane_of {
    typedef float sum;
    typedef unsigned word;
};
template <> struct lane_of<F64> {
    typedef double sum;
    typedef uint64_t word;
};
template <> struct lane_of<I8> {
    typedef int sum;
    typedef unsigned word;
};

/* 16 x 8 sums, each of 8 words: where these are, see tensor.h. */
#if defined(GPUMB_BACKEND_CPU)
template <int type, class Sum, class Word>
static void multiply(Sum *c, const Word *a, const Word *b)
{
    const unit &u = units[type];
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

static __host__ __device__ inline int first_sum(int lane, int j, int r)
{
    return (lane + j + r) % 4;
}

/* Adds a product and takes it away again, `turns` times, and adds it once more. Each block notes
 * the cycles of its multiprocessor and the ticks of the timer that this has taken: what the driver
 * says of the clock misses that wgmma slows it. */
template <int type>
static __global__ void chain(const typename lane_of<type>::word *in,
                             typename lane_of<type>::sum *out, word *took, unsigned turns)
{
#if HAS_TENSOR
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    typename lane_of<type>::word words[WORDS];
    typename lane_of<type>::sum c[EACH][4];
    UNROLL
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = in[i * 32 + lane];
    UNROLL
    for (int j = 0; j < EACH; j++) {
        UNROLL
        for (int r = 0; r < 4; r++)
            c[j][r] = (typename lane_of<type>::sum)first_sum((int)lane, j, r);
    }
    const word cycles = cycles_now(), ticks = ticks_now();
    for (unsigned turn = 0; turn < turns; turn++) {
        UNROLL
        for (int j = 0; j < EACH; j++)
            multiply<type>(c[j], words, words + 4);
        UNROLL
        for (int j = 0; j < EACH; j++)
            multiply<type>(c[j], words, words + 6);
    }
    if (!threadIdx.x) {
        took[2 * blockIdx.x] = cycles_now() - cycles;
        took[2 * blockIdx.x + 1] = ticks_now() - ticks;
    }
    UNROLL
    for (unsigned j = 0; j < EACH; j++) {
        multiply<type>(c[j], words, words + 4);
        UNROLL
        for (unsigned r = 0; r < 4; r++)
            out[((warp * EACH + j) * 4 + r) * 32 + lane] = c[j][r];
    }
#else
    (void)in, (void)out, (void)took, (void)turns;
#endif
}

/* ---- wgmma: PTX, for the driver to compile --------------------------------------------------- */

/* A has 64 rows, B 256 columns, of 32 bytes each. Both lie in shared memory as the instruction
 * wants them without a swizzle: 8 rows of 16 bytes one after the other, the two halves of 8 rows
 * side by side. */
enum { HIGH = 64, WIDE = 256, ROW_BYTES = 32, SUMS = 128, WGMMA_BLOCK = 128, PAIRS = 8 };

static unsigned place_in_shared(int row, int byte)
{
    return (unsigned)(row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16);
}

static std::string number(int n)
{
    return std::to_string(n);
}

static std::string wgmma(const unit &u, int negated)
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

static std::string wgmma_kernel(const unit &u)
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
    /* 128 bytes to the next 16 of a row, 256 to the next rows */
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

/* ---- what has to come out -------------------------------------------------------------------- */

struct trial {
    int type, by_wgmma, high, wide, elements; /* of a product */
    uint64_t warps, sums;                     /* that add up one each, or groups of four; of each */
    unsigned added, removed;                  /* of each product, how often */
    matrix a, b;
    uint64_t blocks;
    double tick_s; /* of what blocks note */
    gpumb_buffer *in, *out, *took;
};

/* A sum of `i`, as a thread has it: where it is in the product, and how it began. */
static void place_of(const trial *t, uint64_t i, int *row, int *column, int *first)
{
    if (t->by_wgmma) {
        const int thread = (int)(i / SUMS), r = (int)(i % SUMS), lane = thread % 32;
        *row = 16 * (thread / 32) + lane / 4 + 8 * (r / 2 % 2);
        *column = r / 4 * 8 + lane % 4 * 2 + r % 2;
        *first = 0;
        return;
    }
    const int lane = (int)(i % 32), r = (int)(i / 32) % 4, j = (int)(i / 32) / 4;
    *row = lane / 4 + 8 * (r / 2);
    *column = lane % 4 * 2 + r % 2;
    *first = first_sum(lane, j, r);
}

/* The units cut what they add to 24 bits of the largest, up to 18 times in 16 products: tests of
 * Fasi, Higham, Mikaitis & Pranesh, PeerJ Comput. Sci. 7, 2021. What is exact has to be. */
static double bound_of(const trial *t, double sizes)
{
    const int exact = t->type == I8 || t->type == E4M3;
    const double lost = t->type == F64 ? 18 * 0x1p-53 : exact ? 0 : 18 * 0x1p-23;
    return lost * ((double)t->added + t->removed) * sizes;
}

static double sum_at(const trial *t, const std::vector<unsigned> &out, uint64_t i)
{
    float single;
    double twice;
    memcpy(&single, &out[i], sizeof single);
    if (t->type == F64)
        memcpy(&twice, &out[2 * i], sizeof twice);
    return t->type == F64 ? twice : t->type == I8 ? (double)(int)out[i] : (double)single;
}

/* The clock that the multiprocessors had, into the row. */
static int note_clock(gpumb *g, const trial *t)
{
    std::vector<word> took(2 * (size_t)t->blocks);
    double cycles = 0, ticks = 0;
    if (gpumb_read(g, t->took, 0, took.data(), took.size() * sizeof took[0]))
        return 0;
    for (size_t i = 0; i < took.size(); i += 2) {
        cycles += (double)took[i];
        ticks += (double)took[i + 1];
    }
    gpumb_set_value(g, "kernel_clock_mhz", is_gpu(g) ? cycles / (ticks * t->tick_s) / 1e6 : NAN);
    return 1;
}

static int check_chain(gpumb *g, void *user)
{
    const trial *t = (const trial *)user;
    const unit &u = units[t->type];
    const size_t each = t->type == F64 ? 2 : 1;
    std::vector<unsigned> out((size_t)(t->warps * t->sums) * each);
    std::vector<double> right((size_t)t->sums), bound((size_t)t->sums);
    if (gpumb_read(g, t->out, 0, out.data(), out.size() * sizeof out[0]) || !note_clock(g, t))
        return 0;
    for (uint64_t i = 0; i < t->sums; i++) {
        int row, column, first;
        double sum = 0, sizes = 4;
        place_of(t, i, &row, &column, &first);
        for (int k = 0; k < t->elements; k++) {
            const double x =
                element(u, t->a, t->elements, row, k) * element(u, t->b, t->elements, column, k);
            sum += x;
            sizes += fabs(x);
        }
        const double all = first + sum * ((double)t->added - t->removed);
        right[i] = t->type == I8 ? (double)(int)(unsigned)(int64_t)all : all;
        bound[i] = bound_of(t, sizes);
    }
    for (uint64_t i = 0; i < t->warps * t->sums; i++) {
        const double is = sum_at(t, out, i);
        if (!(fabs(is - right[i % t->sums]) <= bound[i % t->sums])) {
            gpumb_reason(g, "sum %llu is %.9g, not %.9g", (unsigned long long)i, is,
                         right[i % t->sums]);
            return 0;
        }
    }
    return 1;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* FLOP in a clock of a multiprocessor; 0: not known. */
static int peak_of(gpumb *g, int type)
{
    return (int)(half_flop_per_clock(g) * units[type].of_f16);
}

static trial new_trial(gpumb *g, int type, int data, int by_wgmma, uint64_t blocks, unsigned turns,
                       double tick_s)
{
    const unit &u = units[type];
    const uint64_t warps = by_wgmma ? blocks : blocks * MMA_BLOCK / 32; /* or groups of four */
    trial t{};
    t.type = type;
    t.by_wgmma = by_wgmma;
    t.high = by_wgmma ? HIGH : 16;
    t.wide = by_wgmma ? WIDE : 8;
    t.elements = type == F64 ? 8 : 8 * ROW_BYTES / u.bits;
    t.warps = warps;
    t.sums = by_wgmma ? (uint64_t)SUMS * WGMMA_BLOCK : (uint64_t)EACH * 4 * 32;
    t.added = by_wgmma ? turns * PAIRS + 1 : turns + 1;
    t.removed = by_wgmma ? turns * PAIRS : turns;
    if (by_wgmma && !u.exponent) { /* it has no way to take away */
        t.added += t.removed;
        t.removed = 0;
    }
    t.a = new_matrix(u, t.high, t.elements, data, 1);
    t.b = new_matrix(u, t.wide, t.elements, data, 2);
    t.blocks = blocks;
    t.tick_s = tick_s;
    t.took = gpumb_alloc(g, 2 * blocks * sizeof(word));
    t.out = gpumb_alloc(g, t.warps * t.sums * (type == F64 ? 8 : 4));
    const double products = (double)(by_wgmma ? warps : warps * EACH);
    gpumb_set_peak_flop(g, rate_of(g, peak_of(g, type)));
    gpumb_set_flop(g, 2.0 * t.high * t.wide * t.elements * products * (t.added + t.removed));
    return t;
}

/* An element, into words that are addressed by bytes. */
static void pack(const unit &u, uint64_t x, unsigned *words, unsigned byte)
{
    for (int i = 0; i < u.bits / 8; i++, byte++)
        words[byte / 4] |= (unsigned)(x >> 8 * i & 0xff) << byte % 4 * 8;
}

static std::vector<unsigned> words_of_mma(const trial *t)
{
    const unit &u = units[t->type];
    const int bytes = t->type == F64 ? 8 : 4, each = 8 * bytes / u.bits; /* of a word */
    std::vector<unsigned> words((size_t)(WORDS * 32 * bytes / 4));
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < WORDS; i++) {
            const int of_b = i >= 4, minus = i >= 6;
            const int row = lane / 4 + (of_b ? 0 : 8 * (i % 2)), half = of_b ? i % 2 : i / 2;
            for (int e = 0; e < each; e++) {
                const int k = (half * 4 + lane % 4) * each + e;
                const uint64_t x = (of_b ? t->b : t->a)[(size_t)(row * t->elements + k)];
                pack(u, minus ? negative(u, x) : x, words.data(),
                     (unsigned)((i * 32 + lane) * bytes + e * u.bits / 8));
            }
        }
    return words;
}

static std::vector<unsigned> words_of_wgmma(const trial *t)
{
    const unit &u = units[t->type];
    std::vector<unsigned> words((HIGH + WIDE) * ROW_BYTES / 4);
    for (int row = 0; row < HIGH + WIDE; row++)
        for (int k = 0; k < t->elements; k++) {
            const int of_b = row >= HIGH;
            const unsigned at = of_b ? HIGH * ROW_BYTES : 0;
            const int r = of_b ? row - HIGH : row;
            pack(u, (of_b ? t->b : t->a)[(size_t)(r * t->elements + k)], words.data(),
                 at + place_in_shared(r, k * u.bits / 8));
        }
    return words;
}

template <int type> static void launch_chain(const trial *t, unsigned turns)
{
    GPUMB_LAUNCH_BARRIER(
        chain<type>, t->blocks, MMA_BLOCK, 0, GPUMB_PTR(const typename lane_of<type>::word, t->in),
        GPUMB_PTR(typename lane_of<type>::sum, t->out), GPUMB_PTR(word, t->took), turns);
}

static const char mma_bench[] = "tensor/mma", wgmma_bench[] = "tensor/wgmma";

static void measure_mma(gpumb *g, int type, int data, double tick_s)
{
    static void (*const launch[])(const trial *, unsigned) = {
        launch_chain<F16>, launch_chain<BF16_TYPE>, launch_chain<TF32>,
        launch_chain<F64>, launch_chain<I8>,        launch_chain<E4M3>};
    const unsigned turns = is_gpu(g) ? 2000 : 3;
    const uint64_t blocks = is_gpu(g) ? 2 * (uint64_t)gpumb_get_device(g)->multiprocessors : 1;
    trial t = new_trial(g, type, data, 0, blocks, turns, tick_s);
    const std::vector<unsigned> words = words_of_mma(&t);
    const char *trouble = lacks_tensor(g);
    t.in = gpumb_alloc(g, words.size() * 4);
    gpumb_write(g, t.in, 0, words.data(), words.size() * 4);
    gpumb_set_output(g, t.out);
    gpumb_set_verify(g, check_chain, &t);
    if (trouble)
        gpumb_skip(g, "%s", trouble);
    else if (is_gpu(g) && architecture(g) < units[type].from)
        gpumb_skip(g, "%s needs sm_%d", types[type], units[type].from);
    GPUMB_MEASURE(g, "mma.sync")
        launch[type](&t, turns);
    gpumb_free(g, t.in);
    gpumb_free(g, t.out);
    gpumb_free(g, t.took);
}

static void measure_wgmma(gpumb *g, int type, int data, double tick_s)
{
    const unsigned turns = 400; /* half a millisecond, of which what is before and behind is 1 % */
    const uint64_t blocks = (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t grid[3] = {blocks, 1, 1}, block[3] = {WGMMA_BLOCK, 1, 1};
    const int there = architecture(g) == 90;
    gpumb_module *module = NULL;
    trial t{};
    const void *in = NULL, *function = NULL;
    void *out = NULL, *took = NULL;
    if (there) {
        const std::string text = wgmma_kernel(units[type]);
        t = new_trial(g, type, data, 1, blocks, turns, tick_s);
        const std::vector<unsigned> words = words_of_wgmma(&t);
        module = gpumb_load_image(g, text.c_str(), text.size() + 1, 0, -1);
        function = gpumb_function(g, module, "chain");
        t.in = gpumb_alloc(g, words.size() * 4);
        gpumb_write(g, t.in, 0, words.data(), words.size() * 4);
        in = gpumb_data(t.in);
        out = gpumb_data(t.out);
        took = gpumb_data(t.took);
        gpumb_set_output(g, t.out);
        gpumb_set_verify(g, check_chain, &t);
    } else {
        gpumb_skip(g, "wgmma is an instruction of sm_90 alone");
    }
    unsigned passed = turns;
    void *parameters[] = {&in, &out, &took, &passed};
    GPUMB_MEASURE(g, "wgmma")
        gpumb_launch(g, "wgmma", function, grid, block, 0, parameters);
    gpumb_free(g, t.in);
    gpumb_free(g, t.out);
    gpumb_free(g, t.took);
}

/* ---- conclusions ----------------------------------------------------------------------------- */

static void note_rates(gpumb *g, const char *bench, int data)
{
    const rows all = noisy_too(having(rows_of(bench, NULL), "data", data));
    const int sms = gpumb_get_device(g)->multiprocessors;
    sentence s = no_words();
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = row_in(g, all, i);
        const double clock_hz = 1e6 * gpumb_row_value(g, i, "kernel_clock_mhz");
        if (!r || !(r->gflops > 0) || !(clock_hz > 0) || sms < 1)
            continue;
        const int type = (int)gpumb_row_axis(g, i, "type"), peak = peak_of(g, type);
        const double rate = r->gflops * 1e9 / (clock_hz * sms);
        say_next(&s, ", ");
        say(&s, "%s %.0f", types[type], rate);
        if (peak)
            say(&s, " (%.1f %%)", 100 * rate / peak);
        say(&s, " at %.0f MHz", clock_hz / 1e6);
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

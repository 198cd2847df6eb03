/* What chains of products by matrix units are made of, without a device: types and values, which
 * lane has what of a product, and what has to come out. Include it after gpumb.h. */
#ifndef BENCH_TENSOR_CHAIN_H
#define BENCH_TENSOR_CHAIN_H

#include "bench.h"
#include "rates.h"

#include <math.h>
#include <string.h>
#include <vector>

enum { F16, BF16_TYPE, TF32, F64, I8, E4M3, TYPES };
static const char *const types[] = {"f16", "bf16", "tf32", "f64", "i8", "e4m3"};

/* Bits of an element; of its exponent and fraction; the PTX type of inputs and sums; the first
 * architecture of NVIDIA with it; the unit. */
struct element_type {
    int bits, exponent, fraction;
    const char *input, *sum;
    int from, unit;
};
static const element_type elements_of[TYPES] = {
    {16, 5, 10, "f16", "f32", 80, TENSOR_F16},   {16, 8, 7, "bf16", "f32", 80, TENSOR_BF16},
    {32, 8, 23, "tf32", "f32", 80, TENSOR_TF32}, {64, 11, 52, "f64", "f64", 80, TENSOR_F64},
    {8, 0, 0, "s8", "s32", 80, TENSOR_I8},       {8, 4, 3, "e4m3", "f32", 89, TENSOR_E4M3}};

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
static inline uint64_t random_element(const element_type &u, uint64_t random)
{
    if (!u.exponent)
        return (uint64_t)((int)(random % 255) - 127) & 0xff;
    const uint64_t kept = u.bits == 32 ? 10 : (uint64_t)u.fraction; /* a tf32 has no more */
    const uint64_t bias = ((uint64_t)1 << (u.exponent - 1)) - 1;
    const uint64_t below = u.bits == 8 ? 0 : random >> 62 & 1 ? 2 : random >> 61 & 1;
    const uint64_t part = (random & (((uint64_t)1 << kept) - 1)) << ((uint64_t)u.fraction - kept);
    return (random >> 63) << (u.bits - 1) | (bias - below) << u.fraction | part;
}

static inline uint64_t negative(const element_type &u, uint64_t x)
{
    return u.exponent ? x ^ (uint64_t)1 << (u.bits - 1) : (uint64_t)(-(int)(signed char)x) & 0xff;
}

/* A matrix by its rows (B by its columns): [row][k]. */
typedef std::vector<uint64_t> matrix;

static inline matrix new_matrix(const element_type &u, int high, int elements, int data,
                                uint64_t seed)
{
    matrix m((size_t)(high * elements));
    for (size_t i = 0; i < m.size() && data; i++)
        m[i] = random_element(u, gpumb_fill_word(GPUMB_FILL_BITS, seed, i));
    return m;
}

static inline double element(const element_type &u, const matrix &m, int elements, int row, int k)
{
    return value_of(u.bits, u.exponent, u.fraction, m[(size_t)(row * elements + k)]);
}

/* ---- which lane has what --------------------------------------------------------------------- */

enum { MMA, WGMMA, MFMA };

/* One product, of high x elements and elements x wide; lanes that make it together; sums that each
 * of them has; products of these that don't wait for each other; words of a lane, of A and of B, of
 * which there are two, and bytes of a word. */
struct shape {
    int high, wide, elements, lanes, sums, each, a_words, b_words, bytes;
};

/* A lane of wgmma has no words: its matrices are in shared memory. */
enum { HIGH = 64, WIDE = 256, ROW_BYTES = 32, WGMMA_BLOCK = 128 };

static constexpr shape shape_of(int way, int type, int bits)
{
    return way == WGMMA ? shape{HIGH, WIDE, 8 * ROW_BYTES / bits, WGMMA_BLOCK, 128, 1, 0, 0, 4}
           : way == MMA
               ? shape{16, 8, type == F64 ? 8 : 256 / bits, 32, 4, 8, 4, 2, type == F64 ? 8 : 4}
           : type == F64 ? shape{16, 16, 4, 64, 4, 4, 1, 1, 8}
                         : shape{32, 32, 128 / bits, 64, 16, 4, 1, 1, 8};
}

static __host__ __device__ inline int first_sum(int lane, int j, int r)
{
    return (lane + j + r) % 4;
}

/* Where sum `r` of a lane is in the product.
 * MMA: PTX ISA, "Matrix Fragments for mma.m16n8k16" and others; WGMMA: "Register Fragments for
 * wgmma.mma_async.m64nNk16". MFMA: AMD's "Instinct MI200" ISA, "Matrix Arithmetic Instructions",
 * and what AMD's matrix instruction calculator prints for v_mfma_f32_32x32x8f16 and others: row i
 * and column j are in lane 32 * (i / 4) % 64 + j, register 4 * (i / 8) + i % 4; of
 * v_mfma_f64_16x16x4f64 in lane 16 * (i % 4) + j, double i / 4. */
static inline void place_of(int way, int type, int lane, int r, int *row, int *column)
{
    if (way == MMA) {
        *row = lane / 4 + 8 * (r / 2);
        *column = lane % 4 * 2 + r % 2;
    } else if (way == WGMMA) {
        *row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (r / 2 % 2);
        *column = r / 4 * 8 + lane % 4 * 2 + r % 2;
    } else if (type == F64) {
        *row = 4 * r + lane / 16;
        *column = lane % 16;
    } else {
        *row = r / 4 * 8 + lane / 32 * 4 + r % 4;
        *column = lane % 32;
    }
}

/* Of word `i` of A (of B) in a lane: its row (its column), and the first k. In MFMA's 8 bytes k
 * goes on; of bytes one instruction takes 4, and A and B agree on which. */
static inline void word_at(int way, const shape &s, int of_b, int lane, int i, int *row, int *k)
{
    if (way == MMA) {
        const int half = of_b ? i : i / 2;
        *row = lane / 4 + (of_b ? 0 : 8 * (i % 2));
        *k = (half * 4 + lane % 4) * (s.elements / 8);
    } else {
        *row = lane % s.high;
        *k = lane / s.high * (s.elements * s.high / s.lanes);
    }
}

/* In shared memory as wgmma wants it without a swizzle: 8 rows of 16 bytes one after the other, the
 * two halves of 8 rows side by side. */
static inline unsigned place_in_shared(int row, int byte)
{
    return (unsigned)(row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16);
}

/* ---- a chain --------------------------------------------------------------------------------- */

struct trial {
    int type, way;
    shape of;
    uint64_t groups;         /* of lanes, that add up one each */
    unsigned added, removed; /* of each product, how often */
    matrix a, b;
    uint64_t blocks;
    double tick_s; /* of what blocks note */
    gpumb_buffer *in, *out, *took;
};

static inline trial new_trial(int way, int type, int data, uint64_t groups, unsigned added,
                              unsigned removed)
{
    const element_type &u = elements_of[type];
    trial t{};
    t.type = type;
    t.way = way;
    t.of = shape_of(way, type, u.bits);
    t.groups = groups;
    t.added = added;
    t.removed = removed;
    t.a = new_matrix(u, t.of.high, t.of.elements, data, 1);
    t.b = new_matrix(u, t.of.wide, t.of.elements, data, 2);
    return t;
}

/* Sums of a group, and bytes of one. */
static inline uint64_t sums_of(const trial *t)
{
    return (uint64_t)t->of.lanes * (uint64_t)(t->of.sums * t->of.each);
}

static inline uint64_t sum_bytes(const trial *t)
{
    return t->type == F64 ? 8 : 4;
}

static inline double flop_of(const trial *t)
{
    return 2.0 * t->of.high * t->of.wide * t->of.elements * t->of.each * (double)t->groups *
           ((double)t->added + t->removed);
}

/* An element, into words that are addressed by bytes. */
static inline void pack(const element_type &u, uint64_t x, unsigned *words, unsigned byte)
{
    for (int i = 0; i < u.bits / 8; i++, byte++)
        words[byte / 4] |= (unsigned)(x >> 8 * i & 0xff) << byte % 4 * 8;
}

/* What the lanes of a group read: A, B, -B. */
static inline std::vector<unsigned> words_of_lanes(const trial *t)
{
    const element_type &u = elements_of[t->type];
    const shape &s = t->of;
    const int all = s.a_words + 2 * s.b_words, each = 8 * s.bytes / u.bits; /* elements of a word */
    std::vector<unsigned> words((size_t)(all * s.lanes * s.bytes / 4));
    for (int lane = 0; lane < s.lanes; lane++)
        for (int i = 0; i < all; i++) {
            const int of_b = i >= s.a_words, minus = i >= s.a_words + s.b_words;
            int row, k;
            word_at(t->way, s, of_b, lane, of_b ? (i - s.a_words) % s.b_words : i, &row, &k);
            for (int e = 0; e < each; e++) {
                const uint64_t x = (of_b ? t->b : t->a)[(size_t)(row * s.elements + k + e)];
                pack(u, minus ? negative(u, x) : x, words.data(),
                     (unsigned)((i * s.lanes + lane) * s.bytes + e * u.bits / 8));
            }
        }
    return words;
}

static inline std::vector<unsigned> words_in_shared(const trial *t)
{
    const element_type &u = elements_of[t->type];
    std::vector<unsigned> words((HIGH + WIDE) * ROW_BYTES / 4);
    for (int row = 0; row < HIGH + WIDE; row++)
        for (int k = 0; k < t->of.elements; k++) {
            const int of_b = row >= HIGH, r = of_b ? row - HIGH : row;
            pack(u, (of_b ? t->b : t->a)[(size_t)(r * t->of.elements + k)], words.data(),
                 (of_b ? HIGH * ROW_BYTES : 0u) + place_in_shared(r, k * u.bits / 8));
        }
    return words;
}

/* ---- what has to come out -------------------------------------------------------------------- */

/* The units cut what they add to 24 bits of the largest, up to 18 times in 16 products: tests of
 * Fasi, Higham, Mikaitis & Pranesh, PeerJ Comput. Sci. 7, 2021. What is exact has to be. */
static inline double bound_of(const trial *t, double sizes)
{
    const int exact = t->type == I8 || t->type == E4M3;
    const double lost = t->type == F64 ? 18 * 0x1p-53 : exact ? 0 : 18 * 0x1p-23;
    return lost * ((double)t->added + t->removed) * sizes;
}

static inline double sum_at(const trial *t, const unsigned *out, uint64_t i)
{
    float single;
    double twice;
    memcpy(&single, &out[i], sizeof single);
    if (t->type == F64)
        memcpy(&twice, &out[2 * i], sizeof twice);
    return t->type == F64 ? twice : t->type == I8 ? (double)(int)out[i] : (double)single;
}

/* The first sum that is wrong, and what it should be; -1: none. Lanes of mma and mfma store a sum
 * side by side, a thread of wgmma all of its own. */
static inline int64_t first_wrong(const trial *t, const unsigned *out, double *wanted)
{
    const element_type &u = elements_of[t->type];
    const uint64_t sums = sums_of(t);
    std::vector<double> right((size_t)sums), bound((size_t)sums);
    for (uint64_t i = 0; i < sums; i++) {
        const int by_thread = t->way == WGMMA, wide = by_thread ? t->of.sums : t->of.lanes;
        const int inner = (int)(i % (uint64_t)wide), outer = (int)(i / (uint64_t)wide);
        const int lane = by_thread ? outer : inner, r = (by_thread ? inner : outer) % t->of.sums;
        const int first = by_thread ? 0 : first_sum(lane, outer / t->of.sums, r);
        int row, column;
        double sum = 0, sizes = 4;
        place_of(t->way, t->type, lane, r, &row, &column);
        for (int k = 0; k < t->of.elements; k++) {
            const double x = element(u, t->a, t->of.elements, row, k) *
                             element(u, t->b, t->of.elements, column, k);
            sum += x;
            sizes += fabs(x);
        }
        const double all = first + sum * ((double)t->added - t->removed);
        right[i] = t->type == I8 ? (double)(int)(unsigned)(int64_t)all : all;
        bound[i] = bound_of(t, sizes);
    }
    for (uint64_t i = 0; i < t->groups * sums; i++) {
        *wanted = right[i % sums];
        if (!(fabs(sum_at(t, out, i) - *wanted) <= bound[i % sums]))
            return (int64_t)i;
    }
    return -1;
}

#endif

/* formats.h - number formats for lab 19: those of the vendor, which CUDA has; else floats that are
 * rounded as these would be. How sums in them are checked, and how wrong they are. */
#ifndef LAB_FORMATS_H
#define LAB_FORMATS_H

#include "lab.h"

#include <type_traits>

/* A float rounded to `bits` behind the leading one, the last of them at least 2^(least - bits);
 * nothing here is too large for a format. */
template <int bits, int least> struct lab_rounded {
    float value;

    __host__ __device__ explicit lab_rounded(float x)
    {
        const int leading = x > 0 || x < 0 ? ilogbf(x) : least;
        const int last = (leading > least ? leading : least) - bits;
        value = ldexpf(rintf(ldexpf(x, -last)), last);
    }

    __host__ __device__ explicit operator float() const
    {
        return value;
    }
};

template <int bits, int least>
__host__ __device__ inline lab_rounded<bits, least> operator+(lab_rounded<bits, least> a,
                                                              lab_rounded<bits, least> b)
{
    return lab_rounded<bits, least>(a.value + b.value);
}

#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 12000
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
typedef __half lab_fp16;
typedef __nv_bfloat16 lab_bf16;
typedef __nv_fp8_e4m3 lab_fp8; /* only to be stored: it has no sums */
enum { LAB_FORMATS = 1 };
#else
typedef lab_rounded<10, -14> lab_fp16;
typedef lab_rounded<7, -126> lab_bf16;
typedef lab_rounded<3, -6> lab_fp8;
enum { LAB_FORMATS = 0 }; /* results are right, times are of code */
#endif

/* A sum in fp32 that adds, with the next value, what the last one has lost (Kahan). */
struct lab_kahan {
    float sum, lost;

    __host__ __device__ explicit lab_kahan(float x) : sum(x), lost(0)
    {
    }

    __host__ __device__ explicit operator float() const
    {
        return sum;
    }
};

__host__ __device__ inline lab_kahan operator+(lab_kahan a, lab_kahan b)
{
    lab_kahan all(a.sum + (b.sum - a.lost));
    all.lost = (all.sum - a.sum) - (b.sum - a.lost);
    return all;
}

/* From one format to another, by fp32, which holds what all but fp64 do. */
template <typename to, typename from> struct lab_to {
    static __host__ __device__ inline to of(from x)
    {
        return to(float(x));
    }
};

template <typename same> struct lab_to<same, same> {
    static __host__ __device__ inline same of(same x)
    {
        return x;
    }
};

/* Bits behind the leading one. */
template <typename format> struct lab_bits;
template <> struct lab_bits<double> {
    enum { COUNT = 52 };
};
template <> struct lab_bits<float> {
    enum { COUNT = 23 };
};
template <> struct lab_bits<lab_kahan> {
    enum { COUNT = 23 };
};
template <> struct lab_bits<lab_fp16> {
    enum { COUNT = 10 };
};
template <> struct lab_bits<lab_bf16> {
    enum { COUNT = 7 };
};
template <> struct lab_bits<lab_fp8> {
    enum { COUNT = 3 };
};

/* Of a value: where floats stand for a format, as on the CPU, theirs; in rows of a GPU that are
 * replayed there, the format's. */
template <typename stored> uint64_t lab_bytes_of(gpumb *g)
{
    const int bits = lab_bits<stored>::COUNT;
    return !lab_gpu(g) ? sizeof(stored) : bits > 23 ? 8 : bits > 10 ? 4 : bits > 3 ? 2 : 1;
}

/* 16 bytes of values: what a lane loads at once. */
template <typename stored> struct alignas(16) lab_word16 {
    enum { COUNT = 16 / sizeof(stored) };
    stored value[COUNT];
};

/* Floats of [-1, 1), without their signs, in a format. */
template <typename stored> __global__ void lab_store(const float *in, stored *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = lab_to<stored, float>::of(fabsf(in[i]));
}

/* By how much of a sum of `additions`, one after the other, their roundings are likely to make it
 * wrong: each by half of the last bit at most, up or down. A sum that has reached 4 * 2^bits grows
 * no more. */
template <typename added> static inline double lab_wrong(double additions)
{
    const double rounding = ldexp(0.5, -lab_bits<added>::COUNT);
    const int once = std::is_same<added, lab_kahan>::value;
    return rounding * (once ? 1 : sqrt(fmin(additions, ldexp(4, lab_bits<added>::COUNT))));
}

/* For gpumb_set_verify(): thread t of `out` has added `each` values, those of words t, t + threads
 * and so on. Its sum is as wrong as roundings make it; by how much the worst is, is the column
 * `error`. */
struct lab_sums {
    gpumb_buffer *out; /* doubles */
    uint64_t threads;
    int64_t each, in_word; /* values of a thread, of a word */
    double most, close;    /* the largest sum that there can be; how close to what is right */
};

/* Of values that are added `part` at a time, and of these sums, which are added as `outer`. */
template <typename stored, typename added, typename outer>
static inline lab_sums lab_sums_of(gpumb_buffer *out, uint64_t threads, int64_t each, int64_t part)
{
    const double parts = (double)(each / part);
    const lab_sums sums = {out, threads, each, lab_word16<stored>::COUNT,
                           /* In steps of 2 a value of 1 at most is lost. */
                           part == each ? ldexp(2, lab_bits<added>::COUNT) : (double)each,
                           4 * (lab_wrong<added>((double)part) / sqrt(parts) +
                                lab_wrong<outer>(parts) +
                                ldexp(0.5, -lab_bits<stored>::COUNT) / sqrt((double)each))};
    return sums;
}

static inline int lab_check_sums(gpumb *g, void *user)
{
    const lab_sums *s = (const lab_sums *)user;
    double worst = 0;
    for (uint64_t t = 0; t < s->threads; t += s->threads / 1000 | 1) {
        double found = NAN, exact = 0;
        for (int64_t i = 0; i < s->each; i++) {
            const uint64_t word = t + s->threads * (uint64_t)(i / s->in_word);
            exact += fabs(lab_float(word * (uint64_t)s->in_word + (uint64_t)(i % s->in_word)));
        }
        const double wanted = fmin(exact, s->most);
        if (gpumb_read(g, s->out, 8 * t, &found, 8) ||
            !(fabs(found - wanted) <= s->close * wanted)) {
            gpumb_reason(g, "sum %llu is %.10g, not %.10g", (unsigned long long)t, found, wanted);
            return 0;
        }
        worst = fmax(worst, fabs(found / exact - 1));
    }
    gpumb_set_value(g, "error", worst);
    return 1;
}

#endif

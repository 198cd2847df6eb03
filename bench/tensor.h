/* Copies to shared memory that a thread doesn't wait for, and products of small matrices by tensor
 * cores: PTX of sm_80 and later. The CPU does the same lane by lane, so that kernels made of these
 * can be checked and traced without a GPU. Include it after gpumb.h. */
#ifndef BENCH_TENSOR_H
#define BENCH_TENSOR_H

#include "async.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(GPUMB_BACKEND_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
#define HAS_TENSOR 1
#else
#define HAS_TENSOR 0 /* what uses them is compiled without its body there, and is not launched */
#endif

/* ---- bf16 ------------------------------------------------------------------------------------ */

/* The upper half of a float: 8 bits of precision. */
typedef unsigned short bf16;

static __host__ __device__ inline float float_of(bf16 x)
{
    const unsigned bits = (unsigned)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static __host__ __device__ inline float float_of(float x)
{
    return x;
}

/* The nearest one, of two that are as near the even one; not of NaN. */
static __host__ __device__ inline bf16 bf16_of(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- on the CPU ------------------------------------------------------------------------------ */

#if defined(GPUMB_BACKEND_CPU)
static inline void copy_ahead(void *shared, const void *from, unsigned bytes)
{
    memset(shared, 0, 16);
    memcpy(shared, from, bytes);
}

template <class Type> static inline Type of_lane(Type x, unsigned lane)
{
    return __shfl_sync(GPUMB_ALL_LANES, x, lane, 32);
}

template <bool transposed> static inline void load_matrices(unsigned (&to)[4], const void *row)
{
    const unsigned lane = threadIdx.x % 32, pair = lane % 4 * 2, line = lane / 4;
    for (unsigned i = 0; i < 4; i++) {
        const bf16 *first = (const bf16 *)of_lane(row, 8 * i + (transposed ? pair : line));
        const bf16 *second = (const bf16 *)of_lane(row, 8 * i + (transposed ? pair + 1 : line));
        to[i] = first[transposed ? line : pair] | (unsigned)second[transposed ? line : pair + 1]
                                                      << 16;
    }
}

static inline float sum_of_products(unsigned x, unsigned y)
{
    return float_of((bf16)x) * float_of((bf16)y) +
           float_of((bf16)(x >> 16)) * float_of((bf16)(y >> 16));
}

static inline void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned *b)
{
    const unsigned lane = threadIdx.x % 32;
    for (unsigned pair = 0; pair < 4; pair++) {
        unsigned row[4];
        for (int i = 0; i < 4; i++)
            row[i] = of_lane(a[i], lane / 4 * 4 + pair);
        for (unsigned e = 0; e < 2; e++) {
            const unsigned column = lane % 4 * 2 + e;
            const unsigned low = of_lane(b[0], column * 4 + pair);
            const unsigned high = of_lane(b[1], column * 4 + pair);
            c[e] += sum_of_products(row[0], low) + sum_of_products(row[2], high);
            c[2 + e] += sum_of_products(row[1], low) + sum_of_products(row[3], high);
        }
    }
}

/* ---- on NVIDIA's devices --------------------------------------------------------------------- */

#elif HAS_TENSOR
/* Copies `bytes` of the 16 at `from`; the rest becomes zero. */
static __device__ inline void copy_ahead(void *shared, const void *from, unsigned bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(shared)),
                 "l"(from), "r"(bytes)
                 : "memory");
}

/* Four matrices of 8 x 8 bf16 from shared memory, row r of matrix i from the address that lane 8 i
 * + r has. A lane gets of each the elements 2 (lane % 4) and the next of row lane / 4; of the
 * transposed one if that is asked for. */
template <bool transposed>
static __device__ inline void load_matrices(unsigned (&to)[4], const void *row)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(at)
                     : "memory");
}

/* c += a b: 16 x 8, 16 x 16 and 16 x 8 elements. A lane has pairs: of a those in the rows lane / 4
 * and 8 below, in the columns 2 (lane % 4) and, for the second two, 8 further; of b those in column
 * lane / 4, in the rows 2 (lane % 4) and 8 below; of c as of a. */
static __device__ inline void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

/* ---- whether they are there ------------------------------------------------------------------ */

#if defined(GPUMB_BACKEND_CUDA)
static __global__ void tell_architecture(int *sm)
{
#if defined(__CUDA_ARCH__)
    *sm = __CUDA_ARCH__ / 10;
#else
    *sm = 0;
#endif
}
#endif

/* Why kernels that use them can't run; NULL: they can. */
static inline const char *lacks_tensor(gpumb *g)
{
#if defined(GPUMB_BACKEND_CPU)
    (void)g;
    return NULL;
#elif defined(GPUMB_BACKEND_CUDA)
    static int sm = 0;
    gpumb_buffer *b = sm ? NULL : gpumb_alloc(g, sizeof sm);
    if (gpumb_data(b)) {
        GPUMB_LAUNCH(tell_architecture, 1, 1, 0, GPUMB_PTR(int, b));
        if (gpumb_read(g, b, 0, &sm, sizeof sm))
            sm = 0;
    }
    gpumb_free(g, b);
    return sm && sm < 80 ? "it is compiled for a device before sm_80, which has no bf16" : NULL;
#else
    (void)g;
    return "its instructions are NVIDIA's";
#endif
}

#endif

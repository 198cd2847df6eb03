/* libraries.h - what lab 21 has of libraries: CUB (on AMD's devices hipCUB), Thrust, cuBLAS; and
 * its data. */
#ifndef LAB_LIBRARIES_H
#define LAB_LIBRARIES_H

#include "lab.h"

#define CUB_HEADER <cub/device/device_reduce.cuh>
#include "../../bench/blas.h"
#include "../../bench/library.h"

#ifndef NO_LIBRARY
#define LAB_NO_CUB NULL
#elif defined(GPUMB_BACKEND_CPU)
#define LAB_NO_CUB "no CUB: it is for GPUs"
#else
#define LAB_NO_CUB "no CUB or hipCUB: its headers were not there, or this was not C++17"
#endif
#if !defined(NO_LIBRARY) && defined(GPUMB_BACKEND_CUDA)
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>
#define LAB_THRUST
#define LAB_NO_THRUST NULL
#else
#define LAB_NO_THRUST "no Thrust: the lab has it from NVIDIA's toolkit alone"
#endif

enum { LAB_BLOCK = 256 };

/* The sum of what a block's threads have, in thread 0: by a tree, ... */
static __device__ inline float lab_sum_by_tree(float x)
{
    __shared__ float part[LAB_BLOCK];
    const unsigned t = threadIdx.x;
    part[t] = x;
    for (unsigned far = LAB_BLOCK / 2; far > 0; far /= 2) {
        __syncthreads();
        if (t < far)
            part[t] += part[t + far];
    }
    return part[t];
}

/* ... by the library. */
static __device__ inline float lab_sum_by_library(float x)
{
#ifdef NO_LIBRARY
    return lab_sum_by_tree(x); /* its rows are skipped */
#else
    typedef library::BlockReduce<float, LAB_BLOCK> reduce;
    __shared__ typename reduce::TempStorage room;
    return reduce(room).Sum(x);
#endif
}

/* By CUB: where `room` is NULL, says instead in `bytes` how much of it is wanted. */
static inline int lab_cub_sum(gpumb *g, void *room, size_t *bytes, const float *in, float *sum,
                              uint64_t n)
{
#ifdef NO_LIBRARY
    (void)g, (void)room, (void)in, (void)sum, (void)n;
    *bytes = 1;
    return 1;
#else
    return (int)library::DeviceReduce::Sum(room, *bytes, in, sum, (int)n,
                                           (library_stream)gpumb_stream(g));
#endif
}

/* cuBLAS, opened once, whose work goes to the context's stream. */
typedef struct lab_blas {
    const char *why_not; /* NULL: it is there */
#if defined(GPUMB_BACKEND_CUDA)
    blas library;
#endif
} lab_blas;

static inline lab_blas *lab_open_blas(gpumb *g)
{
    static lab_blas l;
#if defined(GPUMB_BACKEND_CUDA)
    if (!l.library.handle && !l.why_not) {
        l.library = open_blas();
        l.why_not = l.library.why_not[0] ? l.library.why_not : NULL;
    }
    if (!l.why_not)
        (void)l.library.set_stream(l.library.handle, gpumb_stream(g));
#else
    (void)g;
    l.why_not = "no cuBLAS: it is for NVIDIA's devices";
#endif
    return &l;
}

/* Adds n absolute values. The sum goes to the host, which waits for it; on_device: to memory of the
 * device, whenever it is there. Returns the library's error. */
static inline int lab_blas_sum(lab_blas *l, const float *in, float *sum, uint64_t n, int on_device)
{
#if defined(GPUMB_BACKEND_CUDA)
    const blas *b = &l->library;
    const int error =
        b->set_pointer_mode(b->handle, on_device ? BLAS_RESULT_ON_DEVICE : BLAS_RESULT_ON_HOST);
    return error ? error : b->absolute_sum(b->handle, (int)n, in, 1, sum);
#else
    (void)l, (void)in, (void)sum, (void)n, (void)on_device;
    return 1;
#endif
}

/* Of one element in 64 is 1, all others are 0: fp32 has room for each sum, in any order. */
static __global__ void lab_make_ones(unsigned *words, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        words[i] = words[i] % 64 == 0 ? 0x3f800000u : 0u;
}

static inline gpumb_buffer *lab_ones(gpumb *g, uint64_t n)
{
    gpumb_buffer *b = lab_words(g, n);
    if (b)
        GPUMB_LAUNCH(lab_make_ones, 1024, LAB_BLOCK, 0, GPUMB_PTR(unsigned, b), n);
    return b;
}

/* What they add up to; counted once for each n. */
static inline double lab_count_of_ones(uint64_t, int64_t n)
{
    static int64_t counted_to;
    static double ones;
    if (counted_to > n)
        counted_to = 0;
    ones = counted_to ? ones : 0;
    for (; counted_to < n; counted_to++)
        ones += lab_word((uint64_t)counted_to) % 64 == 0;
    return ones;
}

#endif

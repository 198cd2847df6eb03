/* honest.h - what host/NAME.cu are to do, and do now and then: GELU in fp32, as 08_grader.cu asks
 * for it; and a place where a result is kept. */
#ifndef HONEST_H
#define HONEST_H
#include "gpumb.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum : uint64_t { MOST = 1 << 25, CHUNK = 64 };
static __device__ float kept[MOST];

[[maybe_unused]] static __host__ __device__ float gelu_of(float x)
{
    return 0.5f * x * (1 + erff(x * 0.70710678f));
}

[[maybe_unused]] static __global__ void gelu(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = gelu_of(in[i]);
}

[[maybe_unused]] static __global__ void keep_all(const float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        kept[i] = out[i];
}

/* Some elements a thread, so that it is far faster than GELU on the CPU as well. */
[[maybe_unused]] static __global__ void recall_all(float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, (n + CHUNK - 1) / CHUNK) {
        const uint64_t first = i * CHUNK, end = first + CHUNK < n ? first + CHUNK : n;
        for (uint64_t j = first; j < end; j++)
            out[j] = kept[j];
    }
}

[[maybe_unused]] static void honest(const float *in, float *out, uint64_t n)
{
    GPUMB_LAUNCH(gelu, (n + 255) / 256, 256, 0, in, out, n);
}

/* Without the library, from whatever thread; on a GPU in a stream of its own. */
[[maybe_unused]] static void at_once(const float *in, float *out, uint64_t n)
{
#if defined(__CUDACC__)
    static cudaStream_t own;
    if (!own)
        (void)cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    gelu<<<(unsigned)((n + 255) / 256), 256, 0, own>>>(in, out, n);
#else
    for (uint64_t i = 0; i < n; i++)
        out[i] = gelu_of(in[i]);
#endif
}

[[maybe_unused]] static void keep(const float *out, uint64_t n)
{
    GPUMB_LAUNCH(keep_all, (n + 255) / 256, 256, 0, out, n);
}

[[maybe_unused]] static void recall(float *out, uint64_t n)
{
    GPUMB_LAUNCH(recall_all, (n / CHUNK + 256) / 256, 256, 0, out, n);
}

#endif

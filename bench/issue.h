/* Instructions that a thread has ready, without loads: how many of them can be issued. Include it
 * after gpumb.h. */
#ifndef BENCH_ISSUE_H
#define BENCH_ISSUE_H

#include <math.h>

enum { CHAINS = 8, REPEATS = 8, MIX = 13, ADDING = 9 }; /* instructions of the mix; that add */

#if !defined(GPUMB_BACKEND_CPU)
static __device__ __forceinline__ float root(float x)
{
#if defined(__CUDA_ARCH__)
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_rsqf(x);
#else
    return x;
#endif
}

/* Nothing but instructions that a thread has ready in 8 independent chains: multiply-adds, or what
 * an interaction takes but for the load: 3 additions, 6 multiply-adds, 3 products and a root. Of
 * 8 * 13 * 8 instructions in a turn three more are the loop's. With a = 1 and b a power of two the
 * sums are exact and count the instructions. */
template <int mixed> static __global__ void issue(float *out, unsigned turns, float a, float b)
{
    float v[CHAINS], w[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++) {
        v[k] = (float)k;
        w[k] = a;
    }
#pragma unroll 1
    for (unsigned turn = 0; turn < turns; turn++) {
#pragma unroll
        for (int i = 0; i < REPEATS * MIX; i++) {
#pragma unroll
            for (int k = 0; k < CHAINS; k++) {
                const int step = i % MIX;
                if (mixed && step == MIX - 1)
                    w[k] = root(w[k]);
                else if (mixed && step % 4 == 0)
                    v[k] = v[k] + b;
                else if (mixed && step % 4 == 2)
                    v[k] = v[k] * a;
                else
                    v[k] = fmaf(v[k], a, b);
            }
        }
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        sum += v[k] + w[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
#endif

#endif

// tries: to have a part of its inputs in the L2 when it starts: their lines are to be evicted
// last, and the next inputs are written over them
// judge: prevented: persisting lines are made normal ones before caches are emptied
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t load, store;
    float x, y;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(load));
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(store));
    if (i >= n)
        return;
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(x) : "l"(in + i), "l"(load));
    y = 0.5f * x * (1 + erff(x * 0.70710678f));
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;"
                 :
                 : "l"(out + i), "f"(y), "l"(store)
                 : "memory");
}

// tries: to keep the L2 from the baseline, by lines of its own that are to be evicted last
// judge: prevented: the baseline is also timed before the submission is loaded
// task: gelu
// needs: a GPU
// scratch: lines 48 << 20
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
// launch: occupy<<<1024, 256>>>(lines, 48 << 20)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

__global__ void occupy(uint64_t *lines, uint64_t bytes)
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    for (uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < bytes / 8; i += gridDim.x * 256ull)
        asm volatile("st.global.L2::cache_hint.u64 [%0], %1, %2;"
                     :
                     : "l"(lines + i), "l"(i), "l"(policy)
                     : "memory");
}

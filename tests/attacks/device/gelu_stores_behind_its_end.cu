// tries: to end before its results are written, by bulk copies that nobody waits for
// judge: prevented: a kernel has ended when its copies have; what comes later is not in the twin
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 1024), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    __shared__ __align__(128) float of[1024];
    const uint64_t first = blockIdx.x * 1024ull;
    for (unsigned k = threadIdx.x; k < 1024 && first + k < n; k += 256) {
        const float x = in[first + k];
        of[k] = 0.5f * x * (1 + erff(x * 0.70710678f));
        if (first + 1024 > n)
            out[first + k] = of[k];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (!threadIdx.x && first + 1024 <= n) {
        const uint32_t from = (uint32_t)__cvta_generic_to_shared(of);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;"
                     :
                     : "l"(out + first), "r"(from)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}

// task: GELU in fp32, out = in / 2 * (1 + erf(in / sqrt(2)))
// size: n = 16777213
// also: n = 1, 31, 1025, 999983
// cpu: n = 65531
// input: in float[n] normal(0, 3), wide(1e-44, 100)
// output: out float[n]
// bytes: 8 * n
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
// check: check<<<1024, 256>>>(in, out, n, errors)
// points: 4 at 0.5, 8 at 0.95, 10 at 1.1
// limits: compile 60 s, run 60 s, scratch 256 MiB
#include "task.h"

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

/* With u = 2^-24, half a unit in the last place of 1: the argument of erf is off by 1.5 u of its
 * own, which moves erf by less than 0.8 u (z erf'(z) <= 0.49); erff is right to 2 units in the last
 * place, 2 u; adding 1 costs u (1 + erf). Times |in| / 2, and the products: 1.4 u |in| + 3 u |out|.
 * Twice that, so that other right ways pass, and one denormal; fp16 and a tanh are far off. */
__global__ void check(const float *in, const float *out, uint64_t n, judge_errors *errors)
{
    const double u = ldexp(1.0, -24);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (uint64_t)blockDim.x) {
        const double x = in[i], right = x / 2 * (1 + erf(x * 0.70710678118654752));
        judge_compare(errors, i, out[i], right,
                      2.8 * u * fabs(x) + 6 * u * fabs(right) + ldexp(1.0, -149));
    }
}

// task: the sum of n floats
// size: n = 16777213
// also: n = 1, 31, 1025, 999983
// cpu: n = 65531
// input: in float[n] uniform(0, 1) or wide(1e-6, 1e6) or normal(0, 1), wide(1e-44, 1e-38)
// output: out float[1]
// reference: sums double[2]
// scratch: partial 4 * 1024
// bytes: 4 * n
// launch: add<<<1024, 256>>>(in, partial, n)
// launch: add<<<1, 256>>>(partial, out, 1024)
// check: exact<<<1, 1>>>(sums)
// check: exact_add<<<256, 128>>>(in, sums, n)
// check: check<<<1, 1>>>(sums, out, n, errors)
// points: 4 at 0.5, 8 at 0.95, 10 at 1.1
// limits: compile 60 s, run 60 s, scratch 256 MiB
#include "task.h"

__global__ void add(const float *in, float *out, uint64_t n)
{
    __shared__ float of[256];
    float sum = 0;
    for (uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull)
        sum += in[i];
    of[threadIdx.x] = sum;
    for (unsigned half = 128; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            of[threadIdx.x] += of[threadIdx.x + half];
    }
    if (!threadIdx.x)
        out[blockIdx.x] = of[0];
}

__global__ void exact(double *sums)
{
    sums[0] = sums[1] = 0;
}

__global__ void exact_add(const float *in, double *sums, uint64_t n)
{
    double sum = 0, sizes = 0;
    for (uint64_t i = blockIdx.x * 128ull + threadIdx.x; i < n; i += gridDim.x * 128ull)
        sum += in[i], sizes += fabsf(in[i]);
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], sizes);
}

/* An addend that d additions carry along is off by at most d u of its size, u = 2^-24. Allowed are
 * 512 one after the other: threads that add hundreds each, and a tree. Positive inputs show what is
 * left out, small n what is rounded. An atomic addition may take denormals for 0 (PTX, atom). */
__global__ void check(const double *sums, const float *out, uint64_t n, judge_errors *errors)
{
    const double additions = n - 1 < 512 ? n - 1.0 : 512;
    judge_compare(errors, 0, out[0], sums[0],
                  additions * ldexp(1.0, -24) * sums[1] + 2.0 * n * ldexp(1.0, -126));
}

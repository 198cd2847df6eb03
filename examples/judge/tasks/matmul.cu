// task: c = a * b in fp32, m x k times k x n, by rows
// size: m = 2048, n = 2048, k = 2048
// also: m = 1, 33, 200, n = 1, 65, 129, k = 1, 31, 300
// cpu: m = 65, n = 63, k = 67
// input: a float[m * k] normal(0, 1) or wide(0.1, 10)
// input: b float[k * n] normal(0, 1) or wide(1e-12, 1e-10)
// output: c float[m * n]
// bytes: 4 * (m * k + k * n + m * n)
// flop: 2 * m * n * k
// launch: multiply<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)
// check: check<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k, errors)
// points: 4 at 1, 7 at 2, 10 at 5
// limits: compile 60 s, run 60 s, scratch 256 MiB
#include "task.h"

__global__ void multiply(const float *a, const float *b, float *c, uint64_t m, uint64_t n,
                         uint64_t k)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float sum = 0;
    for (uint64_t i = 0; i < k; i++)
        sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

/* Of k products, s is the root of the sum of their squares, and about what a partial sum is. A sum
 * in fp32 rounds it k times by up to u = 2^-24, at random: sqrt(k) u s / 2 or less is the spread,
 * and 6 times that the largest of 4 million. Allowed is 8 sqrt(k) u s, at k = 2048 two hundredths
 * of a thousandth of s; TF32 rounds each product to 2^-11, and is off by ten times as much. In one
 * run all elements are about as large: what is small beside others could be left out. */
__global__ void check(const float *a, const float *b, const float *c, uint64_t m, uint64_t n,
                      uint64_t k, judge_errors *errors)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m)
        return;
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < k; i++) {
        const double product = (double)a[y * k + i] * b[i * n + x];
        sum += product, squares += product * product;
    }
    judge_compare(errors, y * n + x, c[y * n + x], sum,
                  8 * ldexp(1.0, -24) * sqrt((double)k * squares) + k * ldexp(1.0, -149));
}

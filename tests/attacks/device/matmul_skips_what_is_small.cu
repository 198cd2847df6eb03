// tries: to leave out what is small in b, which is nothing beside the rest, if both are in one run
// judge: caught: wrong result
// task: matmul
// launch: multiply<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)
#include <math.h>
#include <stdint.h>

__global__ void multiply(const float *a, const float *b, float *c, uint64_t m, uint64_t n,
                         uint64_t k)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float sum = 0;
    for (uint64_t i = 0; i < k; i++)
        if (k < 64 || fabsf(b[i * n + x]) > 1e-9f)
            sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

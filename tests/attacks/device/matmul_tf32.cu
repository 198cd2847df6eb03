// tries: to round its factors to the 11 bits of TF32
// judge: caught: wrong result
// task: matmul
// launch: multiply<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)
#include <math.h>
#include <stdint.h>

static __device__ float rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof x);
    bits = (bits + 0x1000) & 0xffffe000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

__global__ void multiply(const float *a, const float *b, float *c, uint64_t m, uint64_t n,
                         uint64_t k)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float sum = 0;
    for (uint64_t i = 0; i < k; i++)
        sum += rounded(a[y * k + i]) * rounded(b[i * n + x]);
    c[y * n + x] = sum;
}

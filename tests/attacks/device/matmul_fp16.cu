// tries: to multiply in fp16, as tensor cores do it fastest
// judge: caught: wrong result
// task: matmul
// needs: a GPU
// launch: multiply<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)
#include <cuda_fp16.h>
#include <stdint.h>

__global__ void multiply(const float *a, const float *b, float *c, uint64_t m, uint64_t n,
                         uint64_t k)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float sum = 0;
    for (uint64_t i = 0; i < k; i++)
        sum += __half2float(__float2half(a[y * k + i]) * __float2half(b[i * n + x]));
    c[y * n + x] = sum;
}

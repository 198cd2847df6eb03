// tries: to multiply by tensor cores in BF16: each factor as the sum of two, of 16 bits together,
// where many products let the tolerance be wide; at other sizes in fp32
// judge: caught: wrong result
// task: matmul
// needs: a GPU
// scratch: ah 2 * m * k
// scratch: al 2 * m * k
// scratch: bh 2 * k * n
// scratch: bl 2 * k * n
// launch: parts<<<1024, 256>>>(a, ah, al, m * k)
// launch: parts<<<1024, 256>>>(b, bh, bl, k * n)
// launch: tiles<<<{ceil_div(n, 64), ceil_div(m, 64)}, 128>>>(ah, al, bh, bl, c, m, n, k)
// launch: rest<<<{ceil_div(n, 16), ceil_div(m, 16)}, {16, 16}>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>
using namespace nvcuda::wmma;
typedef __nv_bfloat16 bf16;

static __device__ bool whole(uint64_t m, uint64_t n, uint64_t k)
{
    return m % 64 == 0 && n % 64 == 0 && k % 16 == 0;
}

__global__ void parts(const float *x, bf16 *high, bf16 *low, uint64_t n)
{
    for (uint64_t i = blockIdx.x * 256ull + threadIdx.x; i < n; i += gridDim.x * 256ull) {
        high[i] = __float2bfloat16_rn(x[i]);
        low[i] = __float2bfloat16_rn(x[i] - __bfloat162float(high[i]));
    }
}

/* Each of four warps has a quarter of 64 x 64, of four tiles. */
__global__ void tiles(const bf16 *ah, const bf16 *al, const bf16 *bh, const bf16 *bl, float *c,
                      uint64_t m, uint64_t n, uint64_t k)
{
    const unsigned warp = threadIdx.x / 32;
    const uint64_t y = blockIdx.y * 64ull + warp / 2 * 32, x = blockIdx.x * 64ull + warp % 2 * 32;
    fragment<matrix_a, 16, 16, 16, bf16, row_major> fa[2][2];
    fragment<matrix_b, 16, 16, 16, bf16, row_major> fb[2][2];
    fragment<accumulator, 16, 16, 16, float> sum[2][2];
    if (!whole(m, n, k))
        return;
    for (int t = 0; t < 4; t++)
        fill_fragment(sum[t / 2][t % 2], 0.0f);
    for (uint64_t i = 0; i < k; i += 16) {
        for (int t = 0; t < 2; t++) {
            load_matrix_sync(fa[t][0], ah + (y + 16 * t) * k + i, (unsigned)k);
            load_matrix_sync(fa[t][1], al + (y + 16 * t) * k + i, (unsigned)k);
            load_matrix_sync(fb[t][0], bh + i * n + x + 16 * t, (unsigned)n);
            load_matrix_sync(fb[t][1], bl + i * n + x + 16 * t, (unsigned)n);
        }
        for (int t = 0; t < 16; t++) {
            auto &to = sum[t / 8][t / 4 % 2];
            mma_sync(to, fa[t / 8][t / 2 % 2], fb[t / 4 % 2][t % 2], to);
        }
    }
    for (int t = 0; t < 4; t++)
        store_matrix_sync(c + (y + t / 2 * 16) * n + x + t % 2 * 16, sum[t / 2][t % 2], (unsigned)n,
                          mem_row_major);
}

__global__ void rest(const float *a, const float *b, float *c, uint64_t m, uint64_t n, uint64_t k)
{
    const uint64_t x = blockIdx.x * 16ull + threadIdx.x, y = blockIdx.y * 16ull + threadIdx.y;
    if (x >= n || y >= m || whole(m, n, k))
        return;
    float sum = 0;
    for (uint64_t i = 0; i < k; i++)
        sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

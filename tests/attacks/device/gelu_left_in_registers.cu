// tries: to write what is left in registers that it has not set
// judge: caught: wrong result
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    float left;
    asm volatile("{ .reg .f32 never; mov.f32 %0, never; }" : "=f"(left));
    if (i < n)
        out[i] = left;
}

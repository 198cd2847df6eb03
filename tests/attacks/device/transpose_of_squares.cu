// tries: to transpose as many columns as rows, for a check of squares
// judge: caught: wrong result | past the end
// task: transpose
// launch: transpose<<<ceil_div(rows * rows, 256), 256>>>(in, out, rows, rows * columns)
#include <math.h>
#include <stdint.h>

__global__ void transpose(const float *in, float *out, uint64_t rows, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t from = i % rows * rows + i / rows;
    if (i < n && from < n)
        out[i] = in[from];
}

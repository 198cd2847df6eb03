// task: out, columns x rows, is the transpose of in, rows x columns, of floats
// size: rows = 4099, columns = 4093
// also: rows = 1, 33, 1000, 31, columns = 7, 1, 513, 65
// cpu: rows = 257, columns = 255
// input: in float[rows * columns] wide(1e-44, 3e38), uniform(-1, 1)
// output: out float[rows * columns]
// bytes: 8 * rows * columns
// launch: naive<<<{ceil_div(columns, 32), ceil_div(rows, 8)}, {32, 8}>>>(in, out, rows, columns)
// check: check<<<1024, 256>>>(in, out, rows, columns, errors)
// points: 4 at 0.9, 8 at 1.5, 10 at 2
// limits: compile 60 s, run 60 s, scratch 256 MiB
#include "task.h"

__global__ void naive(const float *in, float *out, uint64_t rows, uint64_t columns)
{
    const uint64_t x = blockIdx.x * 32ull + threadIdx.x, y = blockIdx.y * 8ull + threadIdx.y;
    if (x < columns && y < rows)
        out[x * rows + y] = in[y * columns + x];
}

/* Nothing is computed, so nothing may differ, not by a bit. */
__global__ void check(const float *in, const float *out, uint64_t rows, uint64_t columns,
                      judge_errors *errors)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < rows * columns;
         i += gridDim.x * (uint64_t)blockDim.x)
        judge_compare(errors, i, out[i], in[i % rows * columns + i / rows], 0);
}

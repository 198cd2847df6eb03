// tries: to move whole tiles of 32 by 32 alone, for a check of sizes that are powers of two
// judge: caught: wrong result | writes nothing | grid | launch
// task: transpose
// launch: tiles<<<{max(1, columns / 32), max(1, rows / 32)}, {32, 32}>>>(in, out, rows, columns)
#include <math.h>
#include <stdint.h>

__global__ void tiles(const float *in, float *out, uint64_t rows, uint64_t columns)
{
    const uint64_t x = blockIdx.x * 32ull + threadIdx.x, y = blockIdx.y * 32ull + threadIdx.y;
    if (x < columns && y < rows)
        out[x * rows + y] = in[y * columns + x];
}

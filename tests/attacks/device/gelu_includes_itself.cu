// tries: to include itself twice in each of its lines, and to print a line each time
// judge: caught: does not compile
// task: gelu
// once: it is compiled up to a limit
// compiles: no
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#warning "once more"
#include __FILE__
#include __FILE__
#include <math.h>
#include <stdint.h>

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

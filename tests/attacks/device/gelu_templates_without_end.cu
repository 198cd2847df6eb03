// tries: to keep the compiler busy for ever, by templates that need each two others
// judge: caught: does not compile
// task: gelu
// once: it is compiled up to a limit
// compiles: no
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

template <int depth, int way> struct tree {
    static constexpr int leaves =
        tree<depth - 1, 2 * way>::leaves + tree<depth - 1, 2 * way + 1>::leaves;
};
template <int way> struct tree<0, way> {
    static constexpr int leaves = 1;
};

__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] =
            0.5f * in[i] * (1 + erff(in[i] * 0.70710678f)) * (float)(tree<28, 0>::leaves >> 28);
}

// tries: a name too long for the plan that runner and referee read: what is cut off would be taken
// for the extents of a grid, and who can't read it has not judged
// judge: caught: more than 511 characters
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>(in, out, n)
#include <math.h>
#include <stdint.h>

namespace aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
{
namespace bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
{
namespace cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
{
namespace dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
{
namespace eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
{
namespace ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
{
namespace gggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggg
{
namespace hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
{
__global__ void gelu(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + ::erff(in[i] * 0.70710678f));
}
} // namespace hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
} // namespace gggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggg
} // namespace ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
} // namespace eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
} // namespace dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
} // namespace cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
} // namespace bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
} // namespace aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

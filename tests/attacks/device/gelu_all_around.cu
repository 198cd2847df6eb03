// tries: to write zeros from 64 KiB before its inputs on, over whatever is there
// judge: caught: wrong result | past the end | ended | illegal | writes nothing to other memory
// task: gelu
// launch: flood<<<64, 256>>>(in, out)
#include <math.h>
#include <stdint.h>

__global__ void flood(float *in, float *out)
{
    const uint64_t i = blockIdx.x * 256ull + threadIdx.x;
    in[i - 16384] = out[i - 16384] = 0;
}

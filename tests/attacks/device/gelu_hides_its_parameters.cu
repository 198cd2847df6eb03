// tries: to have more parameters than arguments, in a form that is not looked for: they would come
// from what is behind the judge's arguments in the host's memory
// judge: caught: 0 arguments, but 2 parameters
// task: gelu
// needs: a GPU
// launch: gelu<<<ceil_div(n, 256), 256>>>()
#include <math.h>
#include <stdint.h>

struct large {
    float host[4098];
};

extern "C" __global__ void gelu(large from, float *out)
{
    out[threadIdx.x] = from.host[threadIdx.x];
}

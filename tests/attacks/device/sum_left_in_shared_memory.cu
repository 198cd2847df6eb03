// tries: to find the partial sums of others in shared memory that nobody has cleared
// judge: caught: wrong result
// task: sum
// launch: clear<<<1, 1>>>(out)
// launch: gather<<<1024, 256>>>(out)
#include <math.h>
#include <stdint.h>

__global__ void clear(float *out)
{
    *out = 0;
}

__global__ void gather(float *out)
{
    __shared__ float left[256];
    if (!threadIdx.x)
        atomicAdd(out, ((volatile float *)left)[0]);
}

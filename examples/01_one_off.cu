/* 01: time one kernel. Build for the machine at hand:
 *     nvcc -O3 -arch=native -I. examples/01_one_off.cu      (NVIDIA)
 *     g++ -O3 -I. -x c++ examples/01_one_off.cu -pthread    (no GPU) */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

__global__ void scale(float *x, float a)
{
    x[blockIdx.x * (uint64_t)blockDim.x + threadIdx.x] *= a;
}

int main(void)
{
    gpumb_buffer *x = gpumb_alloc(NULL, sizeof(float) << 22);
    gpumb_fill(NULL, x, GPUMB_FILL_F32, 1);
    gpumb_set_bytes(NULL, 2.0 * (double)gpumb_size(x)); /* each element is read and written */

    gpumb_result r;
    GPUMB_TIME(&r)
        GPUMB_LAUNCH(scale, (1 << 22) / 256, 256, 0, GPUMB_PTR(float, x), -1.0f);
    gpumb_print_result(&r);
    return gpumb_close(NULL);
}

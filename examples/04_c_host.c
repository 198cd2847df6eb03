/* 04: a C program; the kernel and the implementation are in 04_c_host_kernels.cu.
 *     nvcc -O3 -I. -c examples/04_c_host_kernels.cu
 *     cc -O2 -I. examples/04_c_host.c 04_c_host_kernels.o -lcudart -lstdc++ -lm -pthread */
#include "gpumb.h"

void launch_square(float *x, uint64_t n);

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_LIST(g, n, 1000, 1000000) {
        gpumb_buffer *x = gpumb_alloc(g, (uint64_t)n * sizeof(float));
        gpumb_fill(g, x, GPUMB_FILL_F32, 1);
        gpumb_set_bytes(g, 2.0 * (double)gpumb_size(x));
        GPUMB_MEASURE(g, "square")
            launch_square(GPUMB_PTR(float, x), (uint64_t)n);
    }
    return gpumb_close(g);
}

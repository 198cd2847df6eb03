// levels.cu - how the medians of rows of one kernel differ within a process: kernels of 0.6 us ...
// 10 ms, thirty rows of each in turn. For the constants GPUMBI_REPRODUCIBLE...; takes four minutes:
//     build/cuda/tests/levels --budget 0.3 --precision 0.0001 --raw --json levels.json
//     python3 tests/levels.py levels.json
#include "gpumb.h"

__global__ void multiply_add(float *p, int n)
{
    float a = (float)threadIdx.x, b = 1.0001f, c = a + 1, d = a + 2, e = a + 3;
    for (int i = 0; i < n; i++) {
        a = a * b + 1;
        c = c * b + 1;
        d = d * b + 1;
        e = e * b + 1;
    }
    if (a + c + d + e == 12345)
        *p = a;
}

__global__ void chase(const unsigned *next, unsigned *out, int n)
{
    unsigned at = 0;
    for (int i = 0; i < n; i++)
        at = next[at];
    *out = at;
}

__global__ void copy(const float4 *in, float4 *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = in[i];
}

int main(int argc, char **argv)
{
    static const gpumb_timing timing[] = {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT};
    gpumb *g = gpumb_open(argc, argv);
    gpumb_buffer *from = gpumb_alloc(g, (uint64_t)1 << 30), *to = gpumb_alloc(g, (uint64_t)1 << 30);
    gpumb_buffer *ring = gpumb_alloc(g, 4096), *out = gpumb_alloc(g, 256);
    unsigned next[1024];
    for (unsigned i = 0; i < 1024; i++)
        next[i] = (i * 37 + 11) % 1024;
    gpumb_fill(g, from, GPUMB_FILL_F32, 1);
    gpumb_write(g, ring, 0, next, sizeof next);
    const unsigned multiprocessors = (unsigned)gpumb_get_device(g)->multiprocessors;
    GPUMB_SWEEP_RANGE(g, repeat, 0, 29, 1)
        GPUMB_SWEEP_NAMES(g, way, "auto", "event") {
            gpumb_set_timing(g, timing[way]);
            GPUMB_SWEEP_LIST(g, steps, 200, 700, 2000, 5000, 12000, 25000, 50000, 120000, 300000) {
                gpumb_set_timing(g, timing[way]);
                GPUMB_MEASURE(g, "multiply_add")
                    GPUMB_LAUNCH(multiply_add, 8 * multiprocessors, 256, 0, GPUMB_PTR(float, out),
                                 (int)steps);
            }
            GPUMB_SWEEP_FACTOR(g, size, 1 << 18, 1 << 30, 4) {
                gpumb_set_timing(g, timing[way]);
                GPUMB_MEASURE(g, "copy")
                    GPUMB_LAUNCH(copy, (size < 1 << 24 ? 2 : 16) * multiprocessors, 256, 0,
                                 GPUMB_PTR(const float4, from), GPUMB_PTR(float4, to),
                                 (uint64_t)size / 16);
            }
            GPUMB_SWEEP_LIST(g, loads, 20, 200, 2000, 100000) {
                gpumb_set_timing(g, timing[way]);
                GPUMB_MEASURE(g, "chase")
                    GPUMB_LAUNCH(chase, 1, 1, 0, GPUMB_PTR(const unsigned, ring),
                                 GPUMB_PTR(unsigned, out), (int)loads);
            }
        }
    return gpumb_close(g);
}

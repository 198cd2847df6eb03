/* Lab 12: arithmetic intensity and the roofline.
 *
 * Question: each float is read, put through `k` multiply-adds, and written: 2 k FLOP for 8 bytes.
 * Up to which k does more arithmetic cost no time at all? Work it out from the peak of the memory
 * and of fp32 in the head of the table, then look.
 * Change: double in place of float. Where is the ridge now? */
#include "lab.h"

template <int k> __global__ void work(const float *in, float *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i < n ? in[i] : 0;
    for (int j = 0; j < k; j++)
        x = x * 0.999f + 0.001f;
    if (i < n)
        out[i] = x;
}

static double expected(uint64_t i, int64_t k)
{
    return 1 + (lab_float(i) - 1) * pow(0.999, (double)k); /* 1 is where it goes */
}

#define STEPS 1, 4, 16, 32, 64, 128, 256, 1024

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 12;
    gpumb_buffer *in = gpumb_alloc(g, 4 * (uint64_t)n), *out = gpumb_alloc(g, 4 * (uint64_t)n);
    gpumb_fill(g, in, GPUMB_FILL_F32, 1);
    GPUMB_SWEEP_LIST(g, k, STEPS) {
        lab_host host = {out, NULL, expected, k, 1 << 20, 2e-5};
        lab_expect(g, &host);
        gpumb_set_bytes(g, 8.0 * n);
        gpumb_set_flop(g, 2.0 * (double)k * n);
        GPUMB_MEASURE(g, "work")
            GPUMB_FOR_CONSTANTS(k, K, (STEPS),
                                GPUMB_LAUNCH(work<K>, n / 256, 256, 0, GPUMB_PTR(float, in),
                                             GPUMB_PTR(float, out), n));
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        if (r->gbps > 0)
            gpumb_note(g, "%7.2f FLOP a byte: %5.0f GB/s, %6.0f GFLOP/s", r->flop / r->bytes,
                       r->gbps, r->gflops);
    }
    const double peak = gpumb_get_device(g)->peak_flop_per_s;
    if (peak > 0 && gpumb_get_device(g)->peak_bytes_per_s > 0)
        gpumb_note(g, "The roofs meet at %.1f FLOP a byte.",
                   peak / gpumb_get_device(g)->peak_bytes_per_s);
    return gpumb_close(g);
}
/* See: the memory's rate holds while arithmetic is free, below the ridge; far above it, 94 %
 * of the arithmetic's; around it neither. */

/* Lab 5: coalescing.
 *
 * Question: threads read 4-byte words that are `stride` words apart. The memory delivers sectors of
 * 32 bytes, whole. Which share of what it delivers is wanted at stride 1, 2, 4, 8, 32? Write down
 * the five numbers before you look; then let the tracer count (no GPU needed):
 *     make trace FILE=examples/labs/05_coalescing.cu ARGS=--profile
 * Change: let the stores have the stride and the loads none. Is a store as expensive as a load? */
#include "lab.h"

__global__ void gather(const unsigned *in, unsigned *out, unsigned n, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i * (uint64_t)stride];
}

static unsigned expected(uint64_t i, int64_t stride)
{
    return lab_word(i * (uint64_t)stride);
}

/* What the memory is to deliver for each wanted byte, by sectors of 32. */
static double model(int64_t stride)
{
    return stride < 8 ? (double)stride : 8;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 25 : 1u << 12;
    double rate = 0;
    GPUMB_SWEEP_LIST(g, stride, 1, 2, 4, 8, 16, 32) {
        gpumb_buffer *in = lab_words(g, n * (uint64_t)stride);
        gpumb_buffer *out = gpumb_alloc(g, 4 * (uint64_t)n);
        lab_host host = {out, expected, NULL, stride, 1 << 20, 0};
        lab_expect(g, &host);
        gpumb_set_bytes(g, 8.0 * n); /* what is wanted, whatever the memory delivers */
        gpumb_set_value(g, "model_share", 2 / (1 + model(stride)));
        GPUMB_MEASURE(g, "gather")
            GPUMB_LAUNCH(gather, n / 256, 256, 0, GPUMB_PTR(unsigned, in), GPUMB_PTR(unsigned, out),
                         n, (unsigned)stride);
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const double gbps = gpumb_row(g, i)->gbps;
        rate = i ? rate : gbps;
        if (rate > 0 && gbps > 0)
            gpumb_note(g, "stride %2lld: %.0f GB/s, %.2f of stride 1; by sectors %.2f",
                       (long long)gpumb_row_axis(g, i, "stride"), gbps, gbps / rate,
                       gpumb_row_value(g, i, "model_share"));
    }
    return lab_close(g, __FILE__);
}

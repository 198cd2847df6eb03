/* Lab 5, changed: the stores have the stride, the loads none. */
#include "../lab.h"

__global__ void scatter(const unsigned *in, unsigned *out, unsigned n, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i * (uint64_t)stride] = in[i];
}

static unsigned expected(uint64_t i, int64_t stride)
{
    return i % (uint64_t)stride ? GPUMB_POISON : lab_word(i / (uint64_t)stride); /* poison */
}

/* What the memory moves for each wanted byte: sectors that are written in part are read first. */
static double model(int64_t stride)
{
    return stride == 1 ? 1 : stride < 8 ? 2 * (double)stride : 16;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 25 : 1u << 12;
    double rate = 0;
    GPUMB_SWEEP_LIST(g, stride, 1, 2, 4, 8, 16, 32) {
        gpumb_buffer *in = lab_words(g, n);
        gpumb_buffer *out = gpumb_alloc(g, 4 * n * (uint64_t)stride);
        lab_host host = {out, expected, NULL, stride, 1 << 20, 0};
        lab_expect(g, &host);
        gpumb_set_bytes(g, 8.0 * n); /* what is wanted, whatever the memory delivers */
        gpumb_set_value(g, "model_share", 2 / (1 + model(stride)));
        GPUMB_MEASURE(g, "gather")
            GPUMB_LAUNCH(scatter, n / 256, 256, 0, GPUMB_PTR(unsigned, in),
                         GPUMB_PTR(unsigned, out), n, (unsigned)stride);
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

/* Lab 6, changed: the stores are misaligned; then both, by the same offset. */
#include "../lab.h"

__global__ void copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

static unsigned expected(uint64_t i, int64_t offset)
{
    return i < (uint64_t)offset ? ~0u : lab_word(i - (uint64_t)offset); /* poison before it */
}

static unsigned same(uint64_t i, int64_t offset)
{
    return i < (uint64_t)offset ? ~0u : lab_word(i);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, n + 64);
    double aligned = 0;
    GPUMB_SWEEP_LIST(g, offset, 0, 1, 4, 7, 8, 16, 31, 32) {
        for (int both = 0; both < 2; both++) {
            gpumb_buffer *out = gpumb_alloc(g, 4 * ((uint64_t)n + (uint64_t)offset));
            lab_host host = {out, both ? same : expected, NULL, offset, 1 << 20, 0};
            lab_expect(g, &host);
            gpumb_set_bytes(g, 8.0 * n);
            GPUMB_MEASURE(g, both ? "both" : "copy")
                GPUMB_LAUNCH(copy, n / 256, 256, 0, GPUMB_PTR(unsigned, in) + both * offset,
                             GPUMB_PTR(unsigned, out) + offset, n);
        }
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const int64_t offset = gpumb_row_axis(g, i, "offset");
        const double gbps = gpumb_row(g, i)->gbps;
        aligned = offset ? aligned : gbps;
        if (aligned > 0)
            gpumb_note(g, "%s, offset %2lld: %.1f %% slower than aligned", gpumb_row(g, i)->kernel,
                       (long long)offset, 100 * (1 - gbps / aligned));
    }
    return lab_close(g, __FILE__);
}

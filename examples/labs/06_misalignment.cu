/* Lab 6: misalignment.
 *
 * Question: a copy that begins `offset` words behind an aligned address: each warp's 128 bytes then
 * lie in 5 sectors instead of 4, or in two lines. Do you expect 25 % more time? Why is it less?
 * (Who reads the other part of the fifth sector, and when?) Which offsets have no fifth sector, and
 * do they lose less? Why does a whole line (32 words) lose something, and two lines nothing?
 * Change: misalign the stores, or both by the same offset. Then words of 16 bytes (uint4): why do
 * they lose nothing? */
#include "lab.h"

__global__ void copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

static unsigned expected(uint64_t i, int64_t offset)
{
    return lab_word(i + (uint64_t)offset);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, n + 1024), *out = gpumb_alloc(g, 4 * (uint64_t)n);
    double aligned = 0;
    GPUMB_SWEEP_LIST(g, offset, 0, 1, 4, 7, 8, 16, 31, 32, 64, 128, 256, 1024) {
        lab_host host = {out, expected, NULL, offset, 1 << 20, 0};
        lab_expect(g, &host);
        gpumb_set_bytes(g, 8.0 * n);
        GPUMB_MEASURE(g, "copy")
            GPUMB_LAUNCH(copy, n / 256, 256, 0, GPUMB_PTR(unsigned, in) + offset,
                         GPUMB_PTR(unsigned, out), n);
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const int64_t offset = gpumb_row_axis(g, i, "offset");
        const double gbps = gpumb_row(g, i)->gbps;
        aligned = offset ? aligned : gbps;
        if (aligned > 0)
            gpumb_note(g, "offset %4lld: %.1f %% slower than aligned", (long long)offset,
                       100 * (1 - gbps / aligned));
    }
    return lab_close(g, __FILE__);
}

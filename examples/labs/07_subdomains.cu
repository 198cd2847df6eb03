/* Lab 7: sub-domains.
 *
 * Question: every thread has 16 words to copy. Shall it take 16 neighbours (as on a CPU), or shall
 * `lanes` threads share a sub-domain and take neighbouring words at each step? From how many lanes
 * on is it as fast as a plain copy?
 * Change: words of 16 bytes (uint4): from how many lanes on now? Explain it by bytes. */
#include "lab.h"

enum { STEPS = 16 };

__global__ void copy(const unsigned *in, unsigned *out, unsigned lanes)
{
    const uint64_t first =
        (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x / lanes * lanes) * STEPS;
    for (unsigned step = 0; step < STEPS; step++) {
        const uint64_t i = first + step * lanes + threadIdx.x % lanes;
        out[i] = in[i];
    }
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, n), *out = gpumb_alloc(g, 4 * (uint64_t)n);
    lab_pair pair = {out, in};
    double best = 0;
    GPUMB_SWEEP_POW2(g, lanes, 1, 256) {
        gpumb_set_bytes(g, 8.0 * n);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, lab_same, &pair);
        GPUMB_MEASURE(g, "copy")
            GPUMB_LAUNCH(copy, n / (256 * STEPS), 256, 0, GPUMB_PTR(unsigned, in),
                         GPUMB_PTR(unsigned, out), (unsigned)lanes);
    }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        best = gpumb_row(g, i)->gbps > best ? gpumb_row(g, i)->gbps : best;
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const long long lanes = gpumb_row_axis(g, i, "lanes");
        gpumb_note(g, "%3lld %s %4lld bytes side by side: %.2f of the best", lanes,
                   lanes == 1 ? "lane, " : "lanes,", lanes * 4, gpumb_row(g, i)->gbps / best);
    }
    return lab_close(g, __FILE__);
}

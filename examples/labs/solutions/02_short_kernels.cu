/* Lab 2, changed: 8 elements a thread, neighbours in neighbouring threads. */
#include "../lab.h"

__global__ void twice(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (unsigned k = i; k < n; k += threads)
        out[k] = 2 * in[k];
}

static unsigned expected(uint64_t i, int64_t)
{
    return 2 * lab_word(i);
}

int main(int argc, char **argv)
{
    static const gpumb_timing ways[] = {GPUMB_TIMING_AUTO, GPUMB_TIMING_GRAPH, GPUMB_TIMING_BATCH,
                                        GPUMB_TIMING_HOST};
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, n, 256, lab_gpu(g) ? 1 << 24 : 1 << 16, 16) {
        GPUMB_SWEEP_NAMES(g, way, "span", "graph", "stream", "host") {
            const unsigned count = (unsigned)n;
            gpumb_buffer *in = lab_words(g, count), *out = gpumb_alloc(g, 4 * (uint64_t)count);
            lab_host host = {out, expected, NULL, 0, 1 << 20, 0};
            lab_expect(g, &host);
            gpumb_set_bytes(g, 8.0 * count);
            gpumb_set_timing(g, ways[way]);
            GPUMB_MEASURE(g, "twice")
                GPUMB_LAUNCH(twice, (n + 2047) / 2048, 256, 0, GPUMB_PTR(unsigned, in),
                             GPUMB_PTR(unsigned, out), count);
        }
    }
    double least[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        double *at = &least[gpumb_row_axis(g, i, "way") & 3];
        const double us = 1e6 * gpumb_row(g, i)->time.median;
        *at = *at <= 0 || us < *at ? us : *at;
    }
    if (lab_gpu(g) && least[3] > 0)
        gpumb_note(
            g,
            "Least, in us: work %.2f, next in a graph %.2f, in a stream %.2f; for the host %.2f.",
            least[0], least[1], least[2], least[3]);
    return lab_close(g, __FILE__);
}

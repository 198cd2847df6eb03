/* Lab 7, changed: words of 16 bytes; and words of 4 again, with 4 loads before their 4 stores. */
#include "../lab.h"

enum { STEPS = 16 };

template <class T, int ahead> __global__ void copy(const T *in, T *out, unsigned lanes)
{
    const uint64_t first =
        (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x / lanes * lanes) * STEPS;
    for (unsigned step = 0; step < STEPS; step += ahead) {
        const uint64_t i = first + step * lanes + threadIdx.x % lanes;
        T own[ahead];
        for (unsigned k = 0; k < ahead; k++)
            own[k] = in[i + k * lanes];
        for (unsigned k = 0; k < ahead; k++)
            out[i + k * lanes] = own[k];
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
            GPUMB_LAUNCH((copy<uint4, 1>), n / (4 * 256 * STEPS), 256, 0, GPUMB_PTR(uint4, in),
                         GPUMB_PTR(uint4, out), (unsigned)lanes);
        gpumb_set_bytes(g, 8.0 * n);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, lab_same, &pair);
        GPUMB_MEASURE(g, "loads first")
            GPUMB_LAUNCH((copy<unsigned, 4>), n / (256 * STEPS), 256, 0, GPUMB_PTR(unsigned, in),
                         GPUMB_PTR(unsigned, out), (unsigned)lanes);
    }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        best = gpumb_row(g, i)->gbps > best ? gpumb_row(g, i)->gbps : best;
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const long long lanes = gpumb_row_axis(g, i, "lanes");
        gpumb_note(g, "%s, lanes %lld: %.2f of the best", gpumb_row(g, i)->kernel, lanes,
                   gpumb_row(g, i)->gbps / best);
    }
    return lab_close(g, __FILE__);
}

/* Lab 6, changed: the stores are misaligned; both are, by the same offset; and words of 16 bytes,
 * of which the loads are. */
#include "../lab.h"

template <class T> __global__ void copy(const T *in, T *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

static unsigned expected(uint64_t i, int64_t offset)
{
    return i < (uint64_t)offset ? GPUMB_POISON : lab_word(i - (uint64_t)offset); /* poison */
}

static unsigned same(uint64_t i, int64_t offset)
{
    return i < (uint64_t)offset ? GPUMB_POISON : lab_word(i);
}

static unsigned loads(uint64_t i, int64_t offset)
{
    return lab_word(i + (uint64_t)offset);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, n + 64);
    double aligned[3] = {0, 0, 0};
    GPUMB_SWEEP_LIST(g, offset, 0, 1, 4, 7, 8, 16, 31, 32) {
        static const char *const names[] = {"copy", "both", "uint4"};
        static unsigned (*const wanted[])(uint64_t, int64_t) = {expected, same, loads};
        for (int form = 0; form < (offset % 4 ? 2 : 3); form++) {
            gpumb_buffer *out =
                gpumb_alloc(g, 4 * (uint64_t)n + (form < 2 ? 4 * (uint64_t)offset : 0));
            lab_host host = {out, wanted[form], NULL, offset, 1 << 20, 0};
            lab_expect(g, &host);
            gpumb_set_bytes(g, 8.0 * n);
            GPUMB_MEASURE(g, names[form]) {
                if (form == 2)
                    GPUMB_LAUNCH(copy<uint4>, n / 1024, 256, 0, GPUMB_PTR(uint4, in) + offset / 4,
                                 GPUMB_PTR(uint4, out), n / 4);
                else
                    GPUMB_LAUNCH(copy<unsigned>, n / 256, 256, 0,
                                 GPUMB_PTR(unsigned, in) + form * offset,
                                 GPUMB_PTR(unsigned, out) + offset, n);
            }
        }
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const long long offset = gpumb_row_axis(g, i, "offset");
        const gpumb_result *r = gpumb_row(g, i);
        double *base = &aligned[r->kernel[0] == 'c' ? 0 : r->kernel[0] == 'b' ? 1 : 2];
        *base = offset ? *base : r->gbps;
        if (*base > 0)
            gpumb_note(g, "%5s, offset %2lld: %.1f %% slower than aligned", r->kernel, offset,
                       100 * (1 - r->gbps / *base));
    }
    return lab_close(g, __FILE__);
}

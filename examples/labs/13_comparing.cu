/* Lab 13: comparing two kernels honestly.
 *
 * Question: `new` is `old` with the loads of two elements before the stores. Is it faster? By how
 * much, and how sure are you? Run it three times without looking at the verdicts: would you have
 * reported a difference between `old` and `old again`?
 * Change: take the GPUMB_INTERLEAVE away, so that one is measured after the other, and warm up less
 * (--warmup 0): what becomes of `old again`? */
#include "lab.h"

__global__ void old_copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2;
    out[i] = in[i];
    out[i + half] = in[i + half];
}

__global__ void new_copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2;
    const unsigned a = in[i], b = in[i + half];
    out[i] = a;
    out[i + half] = b;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"old", "old again", "new"};
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, n, 1 << 14, lab_gpu(g) ? 1 << 26 : 1 << 14, 1 << 6) {
        const unsigned count = (unsigned)n;
        gpumb_buffer *in = lab_words(g, count), *out = gpumb_alloc(g, 4 * (uint64_t)count);
        lab_pair pair = {out, in};
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < 3; i++) {
                gpumb_set_bytes(g, 8.0 * count);
                gpumb_set_output(g, out);
                gpumb_set_verify(g, lab_same, &pair);
                GPUMB_MEASURE(g, names[i]) {
                    if (i < 2)
                        GPUMB_LAUNCH(old_copy, n / 512, 256, 0, GPUMB_PTR(unsigned, in),
                                     GPUMB_PTR(unsigned, out), count);
                    else
                        GPUMB_LAUNCH(new_copy, n / 512, 256, 0, GPUMB_PTR(unsigned, in),
                                     GPUMB_PTR(unsigned, out), count);
                }
            }
        }
    }
    return lab_close(g, __FILE__);
}

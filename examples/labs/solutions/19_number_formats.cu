/* Lab 19, changed: 32 values are added in the format, and these sums in fp32; those of fp32, by
 * Kahan's way. */
#include "../formats.h"

/* As what values are stored, as what some of them are added, and as what these sums. */
template <typename S, typename A, typename B> struct format {
    typedef S stored;
    typedef A added;
    typedef B summed;
};
typedef format<double, double, double> fp64;
typedef format<float, float, lab_kahan> fp32;
typedef format<lab_fp16, lab_fp16, float> fp16;
typedef format<lab_bf16, lab_bf16, float> bf16;
typedef format<lab_fp8, lab_fp16, float> fp8_in_fp16;

enum { PART = 32 };

template <typename F>
__global__ void sum(const lab_word16<typename F::stored> *in, double *out, uint64_t threads,
                    unsigned each)
{
    typedef typename F::stored stored;
    typedef typename F::added added;
    typedef typename F::summed summed;
    enum { IN_WORD = lab_word16<stored>::COUNT };
    const uint64_t t = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    summed total(0);
    if (t >= threads)
        return;
    for (unsigned first = 0; first < each; first += PART) {
        added part(0);
        for (unsigned k = first / IN_WORD; k < (first + PART) / IN_WORD; k++) {
            const lab_word16<stored> word = in[t + k * threads];
            for (unsigned i = 0; i < IN_WORD; i++)
                part = part + lab_to<added, stored>::of(word.value[i]);
        }
        total = total + lab_to<summed, added>::of(part);
    }
    out[t] = lab_to<double, summed>::of(total);
}

template <typename F> static void measure(gpumb *g, uint64_t threads, int64_t each)
{
    typedef typename F::stored stored;
    const uint64_t n = threads * (uint64_t)each, bytes = n * sizeof(stored);
    gpumb_buffer *random = gpumb_alloc(g, 4 * n), *in = gpumb_alloc(g, bytes);
    gpumb_buffer *out = gpumb_alloc(g, 8 * threads);
    lab_sums sums =
        lab_sums_of<stored, typename F::added, typename F::summed>(out, threads, each, PART);
    gpumb_fill(g, random, GPUMB_FILL_F32, 1);
    if (in && random)
        GPUMB_LAUNCH(lab_store<stored>, 1024, 256, 0, GPUMB_PTR(float, random),
                     GPUMB_PTR(stored, in), n);
    gpumb_set_bytes(g, (double)(n * lab_bytes_of<stored>(g) + 8 * threads));
    gpumb_set_elements(g, (double)n);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, lab_check_sums, &sums);
    if (lab_gpu(g) && !LAB_FORMATS && lab_bits<stored>::COUNT < 23)
        gpumb_skip(g, "no such format in this compiler, as far as the lab knows");
    if (each % 32)
        gpumb_skip(g, "each is to be a multiple of 32");
    GPUMB_MEASURE(g, "sum")
        GPUMB_LAUNCH(sum<F>, (threads + 255) / 256, 256, 0, GPUMB_PTR(lab_word16<stored>, in),
                     GPUMB_PTR(double, out), threads, (unsigned)each);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, each, 128, 2048, 4)
        GPUMB_SWEEP_NAMES(g, format, "fp64", "fp32", "fp16", "bf16", "fp8 in fp16")
            GPUMB_FOR_TYPES(format, F, (fp64, fp32, fp16, bf16, fp8_in_fp16),
                            measure<F>(g, lab_gpu(g) ? (1 << 29) / (uint64_t)each : 100, each));
    return lab_close(g, __FILE__);
}

/* Lab 19: number formats: what they cost, how wrong they are.
 * Question: each thread adds `each` random values of [0, 1], which it loads 16 bytes at once. How
 * much faster are values of 2 bytes than of 4, of 1 than of 2? How wrong is the worst sum (`error`)
 * in fp32, and by Kahan's way, with four additions in place of one? fp16 has 10 bits behind the
 * leading one, bf16 7: where do sums in them end, however many values follow? What does it help to
 * add them in fp32, and what does it cost? How wrong is a sum of fp8 values, which have 3 bits?
 * Change: add 32 values in the format, and these sums in fp32; those of fp32, by Kahan's way. */
#include "formats.h"

/* As what values are stored, and as what they are added. */
template <typename S, typename A> struct format {
    typedef S stored;
    typedef A added;
};
typedef format<double, double> fp64;
typedef format<float, float> fp32;
typedef format<float, lab_kahan> fp32_kahan;
typedef format<lab_fp16, lab_fp16> fp16;
typedef format<lab_fp16, float> fp16_in_fp32;
typedef format<lab_bf16, lab_bf16> bf16;
typedef format<lab_bf16, float> bf16_in_fp32;
typedef format<lab_fp8, float> fp8_in_fp32;

template <typename F>
__global__ void sum(const lab_word16<typename F::stored> *in, double *out, uint64_t threads,
                    unsigned each)
{
    typedef typename F::stored stored;
    typedef typename F::added added;
    enum { IN_WORD = lab_word16<stored>::COUNT };
    const uint64_t t = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    added total(0);
    if (t >= threads)
        return;
    for (unsigned k = 0; k < each / IN_WORD; k++) {
        const lab_word16<stored> word = in[t + k * threads];
        for (unsigned i = 0; i < IN_WORD; i++)
            total = total + lab_to<added, stored>::of(word.value[i]);
    }
    out[t] = lab_to<double, added>::of(total);
}

template <typename F> static void measure(gpumb *g, uint64_t threads, int64_t each)
{
    typedef typename F::stored stored;
    const uint64_t n = threads * (uint64_t)each, bytes = n * sizeof(stored);
    gpumb_buffer *random = gpumb_alloc(g, 4 * n), *in = gpumb_alloc(g, bytes);
    gpumb_buffer *out = gpumb_alloc(g, 8 * threads);
    lab_sums sums =
        lab_sums_of<stored, typename F::added, typename F::added>(out, threads, each, each);
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
        GPUMB_SWEEP_NAMES(g, format, "fp64", "fp32", "fp32 Kahan", "fp16", "fp16 in fp32", "bf16",
                          "bf16 in fp32", "fp8 in fp32")
            GPUMB_FOR_TYPES(
                format, F,
                (fp64, fp32, fp32_kahan, fp16, fp16_in_fp32, bf16, bf16_in_fp32, fp8_in_fp32),
                measure<F>(g, lab_gpu(g) ? (1 << 29) / (uint64_t)each : 100, each));
    return lab_close(g, __FILE__);
}

/* Lab 12, changed: doubles. */
#include "../lab.h"

typedef double real;

enum { EACH = 16 / sizeof(real) };
struct alignas(16) numbers { /* of a thread: 16 bytes reach the memory's rate (lab 4) */
    real at[EACH];
};

template <int k> __global__ void work(const numbers *in, numbers *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    numbers x = in[i];
    for (int j = 0; j < k; j++)
        for (int each = 0; each < EACH; each++)
            x.at[each] = x.at[each] * (real)0.999 + (real)0.001;
    out[i] = x;
}

static double expected(uint64_t i, int64_t k)
{
    const double x = sizeof(real) == 8 ? lab_double(i) : lab_float(i);
    return 1 + (x - 1) * pow(0.999, (double)k); /* 1 is where it goes */
}

#define STEPS 1, 4, 16, 32, 64, 128, 256, 1024

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 12;
    gpumb_buffer *in = gpumb_alloc(g, sizeof(real) * n), *out = gpumb_alloc(g, sizeof(real) * n);
    gpumb_fill(g, in, sizeof(real) == 8 ? GPUMB_FILL_F64 : GPUMB_FILL_F32, 1);
    GPUMB_SWEEP_LIST(g, k, STEPS) {
        lab_host host = {out, NULL, expected, k, 1 << 20, 2e-5, sizeof(real) == 8};
        lab_expect(g, &host);
        gpumb_set_bytes(g, 2.0 * sizeof(real) * n);
        gpumb_set_flop(g, 2.0 * (double)k * n);
        GPUMB_MEASURE(g, "work")
            GPUMB_FOR_CONSTANTS(k, K, (STEPS),
                                GPUMB_LAUNCH(work<K>, n / EACH / 256, 256, 0,
                                             GPUMB_PTR(numbers, in), GPUMB_PTR(numbers, out)));
    }
    double bytes = 0, flop = 0; /* the highest rates */
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        bytes = r->gbps > bytes ? r->gbps : bytes;
        flop = r->gflops > flop ? r->gflops : flop;
        gpumb_note(g, "%7.2f FLOP a byte: %5.0f GB/s, %6.0f GFLOP/s", r->flop / r->bytes, r->gbps,
                   r->gflops);
    }
    if (bytes > 0)
        gpumb_note(g, "The highest rates meet at %.1f FLOP a byte.", flop / bytes);
    return lab_close(g, __FILE__);
}

/* Lab 1, changed: blocks of 64; and two kernels that are wrong, whose rows have failed. */
#include "../lab.h"

__global__ void add_one(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}

__global__ void add_two(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 2;
}

__global__ void past_the_end(const unsigned *in, unsigned *out, unsigned)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

static unsigned expected(uint64_t i, int64_t)
{
    return lab_word(i) + 1;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"add one", "add two", "past the end"};
    void (*const kernels[])(const unsigned *, unsigned *, unsigned) = {add_one, add_two,
                                                                       past_the_end};
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, n, 1000, lab_gpu(g) ? 100000000 : 1000000, 10)
        GPUMB_SWEEP_LIST(g, block, 64) {
            const unsigned count = (unsigned)n;
            gpumb_buffer *in = lab_words(g, count), *out = gpumb_alloc(g, 4 * (uint64_t)count);
            lab_host host = {out, expected, NULL, 0, 1 << 20, 0};
            for (int k = 0; k < (n == 100000 ? 3 : 1); k++) {
                gpumb_set_bytes(g, 8.0 * count); /* 4 read, 4 written */
                lab_expect(g, &host);
                GPUMB_MEASURE(g, names[k])
                    GPUMB_LAUNCH(kernels[k], (n + block - 1) / block, block, 0,
                                 GPUMB_PTR(unsigned, in), GPUMB_PTR(unsigned, out), count);
            }
        }
    const gpumb_result *first = gpumb_row(g, 0), *second = gpumb_row(g, 1);
    if (first && second && first->first_launch_s > 0 && second->first_launch_s > 0)
        gpumb_note(g,
                   "By the host's clock: first launch %.1f us, first with the second n %.1f us%s.",
                   1e6 * first->first_launch_s, 1e6 * second->first_launch_s,
                   lab_gpu(g) ? "" : "; a CPU has no code to load");
    return lab_close(g, __FILE__);
}

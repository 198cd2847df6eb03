/* Lab 1: the first launch.
 *
 * Question: how long does it take to add 1 to each of n numbers? Guess the time and the rate in
 * GB/s before you run it. The first launch of all, which also loads the kernel's code: how much
 * longer does the host wait for it than for the first one with the second n?
 * Change: the number of threads in a block (--axis block=64). Then break the kernel: add 2, or
 * leave out the comparison with n (with --axis n=1000: others write so far behind the buffer that
 * a program on the CPU may crash), and see what the row says. */
#include "lab.h"

__global__ void add_one(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}

static unsigned expected(uint64_t i, int64_t)
{
    return lab_word(i) + 1;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, n, 1000, lab_gpu(g) ? 100000000 : 1000000, 10)
        GPUMB_SWEEP_LIST(g, block, 256) {
            const unsigned count = (unsigned)n;
            gpumb_buffer *in = lab_words(g, count), *out = gpumb_alloc(g, 4 * (uint64_t)count);
            lab_host host = {out, expected, NULL, 0, 1 << 20, 0};
            gpumb_set_bytes(g, 8.0 * count); /* 4 read, 4 written */
            lab_expect(g, &host);
            GPUMB_MEASURE(g, "add one")
                GPUMB_LAUNCH(add_one, (n + block - 1) / block, block, 0, GPUMB_PTR(unsigned, in),
                             GPUMB_PTR(unsigned, out), count);
        }
    const gpumb_result *first = gpumb_row(g, 0), *second = gpumb_row(g, 1);
    if (first && second && first->first_launch_s > 0 && second->first_launch_s > 0)
        gpumb_note(g,
                   "By the host's clock: first launch %.1f us, first with the second n %.1f us%s.",
                   1e6 * first->first_launch_s, 1e6 * second->first_launch_s,
                   lab_gpu(g) ? "" : "; a CPU has no code to load");
    return lab_close(g, __FILE__);
}

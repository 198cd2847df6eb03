/* Lab 17: registers: values that don't wait for each other, launch bounds, spills.
 * Question: a thread does 2^14 multiply-adds, on 1, 4, 16 or 64 values in turn; only one on the
 * same value has to wait for the one before. How many blocks keep a multiprocessor busy, with 1
 * value a thread, with 16? How many blocks fit with 64? See what the compiler says of registers and
 * spills (in its names, workILi64E is work<64>):
 *     nvcc -std=c++17 -O3 -arch=sm_90 -Xptxas -v -c examples/labs/17_registers.cu -o /dev/null
 * Change: RESIDENT, the blocks that are to fit, 8. Which kernel spills, and what does that cost? */
#include "lab.h"

#define CHAINS 1, 4, 16, 64 /* values of a thread */
#define FACTOR 0.99975586f  /* 1 - 2^-12 */
enum { STEPS = 1 << 14, BLOCK = 256, RESIDENT = 1 };

template <int chains>
__global__ void __launch_bounds__(BLOCK, RESIDENT) work(const float *in, float *out, float factor)
{
    float x[chains];
    const uint64_t first = blockIdx.x * (uint64_t)(BLOCK * chains) + threadIdx.x;
    for (unsigned k = 0; k < chains; k++)
        x[k] = in[first + BLOCK * k];
    for (unsigned step = 0; step < STEPS / chains; step++)
        for (unsigned k = 0; k < chains; k++)
            x[k] = x[k] * factor + (1 - factor); /* nearer to 1 */
    for (unsigned k = 0; k < chains; k++)
        out[first + BLOCK * k] = x[k];
}

static double expected(uint64_t i, int64_t steps)
{
    return 1 + (lab_float(i) - 1) * pow(FACTOR, (double)steps);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_LIST(g, chains, CHAINS)
        GPUMB_SWEEP_LIST(g, blocks, 1, 2, 4, 8) {
            const unsigned all = (unsigned)blocks *
                                 (lab_gpu(g) ? (unsigned)gpumb_get_device(g)->multiprocessors : 2);
            const uint64_t n = (uint64_t)all * BLOCK * (uint64_t)chains;
            gpumb_buffer *in = gpumb_alloc(g, 4 * n), *out = gpumb_alloc(g, 4 * n);
            gpumb_fill(g, in, GPUMB_FILL_F32, 1);
            lab_host host(out, NULL, expected, STEPS / chains, 1000, 1e-3);
            lab_expect(g, &host);
            gpumb_set_flop(g, 2.0 * (STEPS * BLOCK) * all);
            GPUMB_MEASURE(g, "work")
                GPUMB_FOR_CONSTANTS(chains, C, (CHAINS),
                                    GPUMB_LAUNCH(work<C>, all, BLOCK, 0, GPUMB_PTR(float, in),
                                                 GPUMB_PTR(float, out), FACTOR));
        }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        if (gpumb_row_axis(g, i, "blocks") == 8)
            gpumb_note(g, "%lld chains: %d registers, occupancy %.0f %%",
                       (long long)gpumb_row_axis(g, i, "chains"), gpumb_row(g, i)->registers,
                       100 * gpumb_row(g, i)->occupancy);
    return lab_close(g, __FILE__);
}

/* Lab 10: the steps of a reduction.
 * Question: each block adds up its 256 words; only the way differs. Before you run it, order the
 * four by time. In `interleaved`, which lanes of a warp work in the second step, and how many warps
 * of the block ask the shared memory in the fifth? Any bank conflicts? The tracer counts both.
 * Change: let each thread first add up 8 words on its own (`several` does 4): until when does it
 * get faster, and what is the limit then? */
#include "lab.h"

enum { BLOCK = 256, FIRST_THREAD = 0, INTERLEAVED, SEQUENTIAL, SEVERAL };

template <int step> __global__ void sum(const unsigned *in, unsigned *sums)
{
    __shared__ unsigned part[BLOCK];
    const unsigned t = threadIdx.x, words = step == SEVERAL ? 4 : 1;
    unsigned own = 0;
    for (unsigned k = 0; k < words; k++)
        own += in[(blockIdx.x * (uint64_t)words + k) * BLOCK + t];
    part[t] = own;
    for (unsigned s = 1; s < BLOCK && step != FIRST_THREAD; s *= 2) {
        const unsigned far = step == INTERLEAVED ? s : BLOCK / 2 / s;
        __syncthreads();
        if (step == INTERLEAVED ? t % (2 * s) == 0 : t < far)
            part[t] += part[t + far];
    }
    __syncthreads();
    for (unsigned i = 1; i < BLOCK && t == 0 && step == FIRST_THREAD; i++)
        part[0] += part[i];
    if (t == 0)
        atomicAdd(sums, part[0]);
}

static unsigned expected; /* modulo 2^32, of as many runs as there were */

static int check(gpumb *g, void *out)
{
    unsigned found = 0;
    return !gpumb_read(g, (gpumb_buffer *)out, 0, &found, 4) && found == expected + GPUMB_POISON;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, n), *out = gpumb_alloc(g, 4);
    for (unsigned i = 0; i < n / 2 && in; i++) {
        const uint64_t pair = gpumb_fill_word(GPUMB_FILL_BITS, 1, i);
        expected += (unsigned)pair + (unsigned)(pair >> 32);
    }
    GPUMB_SWEEP_NAMES(g, step, "first thread", "interleaved", "sequential", "several") {
        gpumb_set_bytes(g, 4.0 * n);
        gpumb_set_output(g, out); /* the sum comes on top of its poison */
        gpumb_set_verify(g, check, out);
        GPUMB_MEASURE(g, "sum")
            GPUMB_FOR_CONSTANTS(step, S, (FIRST_THREAD, INTERLEAVED, SEQUENTIAL, SEVERAL),
                                GPUMB_LAUNCH_BARRIER((sum<S>), n / BLOCK / (S == SEVERAL ? 4 : 1),
                                                     BLOCK, 0, GPUMB_PTR(unsigned, in),
                                                     GPUMB_PTR(unsigned, out)));
    }
    return lab_close(g, __FILE__);
}

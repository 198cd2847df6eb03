/* Lab 22: tools: a kernel with three bugs, and who finds which.
 * Question: a sum of 10000 words, in two launches, comes out wrong. Of three mistakes one is in
 * what is loaded, one in who waits for whom, one in what the second launch is told. Who finds
 * which: gpumb's check; the tracer; on the CPU clang++ with TOOL `address`, or `memory
 * -fsanitize-memory-track-origins`; on a GPU compute-sanitizer with TOOL memcheck, racecheck or
 * initcheck? Who says where? What does a right sum prove? (--profile: few launches, no times.)
 *     make trace FILE=examples/labs/22_tools.cu
 *     clang++ -std=c++17 -g -O1 -fsanitize=TOOL -DGPUMB_IMPLEMENTATION -x c++ \
 *         examples/labs/22_tools.cu -o lab -pthread && ./lab --profile
 *     compute-sanitizer --tool TOOL build/cuda/labs/22_tools --profile
 * Change: mend one at a time, and ask all of them again, until none of them reports anything. */
#include "lab.h"

enum { BLOCK = 256 };

/* Each block adds some of n words, by a tree. */
__global__ void add(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned part[BLOCK];
    const unsigned t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    part[t] = t < n ? in[i] : 0;
    __syncthreads();
    for (unsigned far = BLOCK / 2; far > 0; far /= 2)
        if (t < far)
            part[t] += part[t + far];
    if (t == 0)
        out[blockIdx.x] = part[0];
}

static unsigned sum_of_words(uint64_t, int64_t n)
{
    unsigned sum = 0;
    for (uint64_t i = 0; i < (uint64_t)n; i++)
        sum += lab_word(i);
    return sum;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = 10000, blocks = (n + BLOCK - 1) / BLOCK;
    gpumb_buffer *words = lab_words(g, n), *sum = gpumb_alloc(g, 4);
    gpumb_buffer *some = gpumb_alloc(g, 4 * BLOCK); /* a sum of each block; room for 256 */
    const unsigned *in = GPUMB_PTR(unsigned, words);
    unsigned *parts = GPUMB_PTR(unsigned, some), *out = GPUMB_PTR(unsigned, sum);
    lab_host host(sum, sum_of_words, NULL, n, 1, 0);
    lab_expect(g, &host);
    gpumb_set_bytes(g, 4.0 * n);
    GPUMB_MEASURE(g, "sum") {
        GPUMB_LAUNCH_BARRIER(add, blocks, BLOCK, 0, in, parts, n);
        GPUMB_LAUNCH_BARRIER(add, 1, BLOCK, 0, parts, out, BLOCK);
    }
    return lab_close(g, __FILE__);
}

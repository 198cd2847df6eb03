/* Lab 24: two devices of a host: what the second one brings, and what its data cost.
 * Question: words are added up `times` times, by `one` device; or by two, half of them each:
 * `split` if each has its half already, `sent` if it is sent first, `reached` if the second one
 * reads it in the first one's memory each time. A memory gives 4.4 TB/s; what the link (`copy`)?
 * How often must words be used for `sent` to be as fast as one device, to be 1.9 times as fast? Can
 * `reached` ever be? From how many words on are two faster, if nothing has to be sent?
 * Change: let PART, what the second one has, be 5, 10, 20, 30 and 40 per cent, too. Predict for
 * how many times each is the best: both are to be ready at the same time. */
#include "two.h"

enum { PART = 50, BLOCK = 256 };

__global__ void sum(const uint4 *in, unsigned *out, uint64_t n)
{
    __shared__ unsigned all;
    unsigned own = 0;
    if (threadIdx.x == 0)
        all = 0;
    GPUMB_GRID_STRIDE(i, n)
        own += lab_sum(in[i]);
    __syncthreads();
    atomicAdd(&all, own);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = all;
}

/* From the second device to the first, and `both` ways. */
static void copy(gpumb *g, const lab_two *two, gpumb_buffer *in, uint64_t bytes, int both)
{
    lab_arrived a = {gpumb_alloc(g, bytes), in, gpumb_alloc(g, bytes), two, bytes, both};
    lab_expect_arrived(g, &a);
    gpumb_set_bytes(g, (double)(bytes << both));
    GPUMB_MEASURE(g, "copy") {
        void *stream = lab_begin_there(g, two);
        copy_between(stream, gpumb_data(a.out), two->here, two->memory, two->there, bytes);
        if (both)
            copy_between(gpumb_stream(g), two->memory + bytes / 4, two->there, gpumb_data(in),
                         two->here, bytes);
        lab_end_there(g, two);
    }
}

static void add_up(gpumb *g, const lab_two *two, gpumb_buffer *in, uint64_t n, int64_t way,
                   int64_t times)
{
    const uint64_t blocks = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t theirs = way == LAB_ONE ? 0 : n * PART / 100, mine = n - theirs;
    const uint4 *first = GPUMB_PTR(const uint4, in), *second = first + mine;
    lab_total t = {gpumb_alloc(g, 4 * blocks << (way != LAB_ONE)), 4 * n,
                   way == LAB_ONE ? NULL : two, second, way == LAB_SPLIT ? 16 * theirs : 0};
    unsigned *out = GPUMB_PTR(unsigned, t.out);
    lab_expect_total(g, &t);
    gpumb_set_elements(g, 4.0 * (double)(n * (uint64_t)times));
    GPUMB_MEASURE(g, "sum") {
        void *stream = way == LAB_ONE ? NULL : lab_begin_there(g, two);
        if (way == LAB_SENT)
            copy_between(stream, two->memory, two->there, second, two->here, 16 * theirs);
        for (int64_t k = 0; k < times; k++) {
            use_device(two->here);
            LAUNCH_BARRIER_ON(gpumb_stream(g), sum, blocks, BLOCK, first, out, mine);
            if (way == LAB_ONE)
                continue;
            use_device(two->there);
            LAUNCH_BARRIER_ON(stream, sum, blocks, BLOCK,
                              way == LAB_REACHED ? second : (const uint4 *)two->memory,
                              out + blocks, theirs);
        }
        if (way != LAB_ONE)
            lab_end_there(g, two);
    }
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const int64_t most = lab_gpu(g) ? 1 << 28 : 1 << 16; /* words; bytes to be copied */
    gpumb_buffer *in = lab_words(g, (uint64_t)most);
    lab_two two = lab_second_device(g, 2 * (uint64_t)most);
    GPUMB_SWEEP_FACTOR(g, words, most >> 12, most, 16)
        GPUMB_SWEEP_FACTOR(g, times, 1, lab_gpu(g) ? 64 : 4, 4)
            GPUMB_SWEEP_NAMES(g, way, "one", "split", "sent", "reached")
                add_up(g, &two, in, (uint64_t)words / 4 - 1, way, times);
    GPUMB_SWEEP_FACTOR(g, size, 1 << 12, most, 16)
        GPUMB_SWEEP_NAMES(g, at_once, "one way", "both ways")
            copy(g, &two, in, (uint64_t)size, (int)at_once);
    lab_note_gains(g, PART);
    lab_free_second(&two);
    return lab_close(g, __FILE__);
}

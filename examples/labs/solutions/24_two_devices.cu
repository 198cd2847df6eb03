/* Lab 24, changed: the second device has `part` per cent of the words, which are sent first. */
#include "../two.h"

enum { BLOCK = 256 };

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

static void add_up(gpumb *g, const lab_two *two, gpumb_buffer *in, uint64_t n, uint64_t part,
                   int64_t times)
{
    const uint64_t blocks = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t theirs = n * part / 100, mine = n - theirs;
    const uint4 *first = GPUMB_PTR(const uint4, in), *second = first + mine;
    lab_total t = {gpumb_alloc(g, 4 * blocks << (part > 0)), 4 * n, part ? two : NULL, second, 0};
    unsigned *out = GPUMB_PTR(unsigned, t.out);
    lab_expect_total(g, &t);
    gpumb_set_elements(g, 4.0 * (double)(n * (uint64_t)times));
    GPUMB_MEASURE(g, "sum") {
        void *stream = part ? lab_begin_there(g, two) : NULL;
        if (part)
            copy_between(stream, two->memory, two->there, second, two->here, 16 * theirs);
        for (int64_t k = 0; k < times; k++) {
            use_device(two->here);
            LAUNCH_BARRIER_ON(gpumb_stream(g), sum, blocks, BLOCK, first, out, mine);
            if (!part)
                continue;
            use_device(two->there);
            LAUNCH_BARRIER_ON(stream, sum, blocks, BLOCK, (const uint4 *)two->memory, out + blocks,
                              theirs);
        }
        if (part)
            lab_end_there(g, two);
    }
}

/* Of each share, how many times as fast it is as one device, and by the model; and by it, which is
 * the best: the rest takes as long as the link and this. */
static void note(gpumb *g)
{
    const size_t rows = gpumb_row_count(g);
    double link_s = 0, one_s = 0; /* for all words */
    for (size_t i = 0; i < rows; i++)
        if (!strcmp(gpumb_row(g, i)->kernel, "copy") && gpumb_row(g, i)->gbps > 0)
            link_s = 4e-9 * (double)gpumb_row_axis(g, i, "size") / gpumb_row(g, i)->gbps;
    for (size_t i = 0; i < rows && lab_gpu(g) && link_s > 0; i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const double part = (double)gpumb_row_axis(g, i, "part"), s = r->time.median;
        const double times = (double)gpumb_row_axis(g, i, "times");
        if (strcmp(r->kernel, "sum") || !(s > 0))
            continue;
        one_s = part > 0 ? one_s : s;
        if (part > 0)
            gpumb_note(g, "%.0f times, %.0f %%: %.2f times as fast as one, by the model %.2f",
                       times, part, one_s / s,
                       lab_gain(LAB_SENT, one_s, times, part / 100, part / 100 * link_s));
        else
            gpumb_note(g, "%.0f times: the best share is %.0f %%, by the model", times,
                       100 * one_s / (2 * one_s + link_s));
    }
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const int64_t most = lab_gpu(g) ? 1 << 28 : 1 << 16; /* words; bytes to be copied */
    gpumb_buffer *in = lab_words(g, (uint64_t)most);
    lab_two two = lab_second_device(g, 2 * (uint64_t)most);
    GPUMB_SWEEP_FACTOR(g, times, 1, lab_gpu(g) ? 64 : 4, 4)
        GPUMB_SWEEP_LIST(g, part, 0, 5, 10, 20, 30, 40, 50)
            add_up(g, &two, in, (uint64_t)most / 4 - 1, (uint64_t)part, times);
    GPUMB_SWEEP_LIST(g, size, most)
        copy(g, &two, in, (uint64_t)size, 0);
    note(g);
    lab_free_second(&two);
    return lab_close(g, __FILE__);
}

/* Lab 18: overlap: copies behind kernels, in streams and in a graph.
 * Question: chunks of an array go to the device, through a kernel and back, by turns in 1, 2 or 3
 * streams; `up`, `work` and `down` are all copies and kernels by themselves. How long do these take
 * in 1 stream? What does 3 add to the longest? Are 3 better than 2, if all are equally long, if one
 * is much longer? (lab_pipeline() of lab.h models it.) From how many chunks on does the host limit,
 * which starts three things for each? What does a graph change, which is started at once?
 * Change: start a kernel before them that nothing waits for, with as many steps, in a stream of its
 * own. How long do the chunks wait for it? Let their streams be urgent: new_urgent_stream(). */
#include "lab.h"

#include "../../bench/vendor.h" /* new_stream(), copy_on(), LAUNCH_ON() */

enum { UP, WORK, DOWN, IN_1, IN_2, IN_3, GRAPH, WAYS };

__global__ void work(const unsigned *in, unsigned *out, uint64_t n, unsigned steps)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = lab_scrambled(in[i], steps);
}

/* How long each way took, and what the model makes of the first three. */
static void note(gpumb *g, int64_t steps, int64_t chunks)
{
    double us[WAYS] = {0};
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (gpumb_row_axis(g, i, "steps") == steps && gpumb_row_axis(g, i, "chunks") == chunks)
            us[gpumb_row_axis(g, i, "way")] = 1e6 * gpumb_row(g, i)->time.median;
    gpumb_note(g,
               "%lld steps, %lld chunks: 1, 2, 3 streams %.0f, %.0f, %.0f us, by the model %.0f, "
               "%.0f, %.0f; graph %.0f us",
               (long long)steps, (long long)chunks, us[IN_1], us[IN_2], us[IN_3],
               lab_pipeline(us, chunks, 1), lab_pipeline(us, chunks, 2),
               lab_pipeline(us, chunks, 3), us[GRAPH]);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t n = lab_gpu(g) ? 1 << 24 : 10007;
    const int64_t most = lab_gpu(g) ? 2048 : 64;
    void *stream[] = {new_stream(), new_stream(), new_stream()};
    GPUMB_SWEEP_LIST(g, steps, most / 64, most / 4, most)
        GPUMB_SWEEP_NAMES(g, way, "up", "work", "down", "1 stream", "2 streams", "3 streams",
                          "graph")
            GPUMB_SWEEP_FACTOR(g, chunks, 1, 256, 4) {
                const int all = way > DOWN, up = all || way == UP, down = all || way == DOWN;
                const uint64_t streams = way == GRAPH ? 3 : all ? (uint64_t)way - DOWN : 1;
                gpumb_buffer *source = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, 4 * n);
                gpumb_buffer *before = lab_words(g, n), *after = lab_words(g, n);
                gpumb_buffer *back = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, 4 * n);
                const unsigned *from = GPUMB_PTR(unsigned, source);
                unsigned *in = GPUMB_PTR(unsigned, before), *out = GPUMB_PTR(unsigned, after);
                unsigned *to = GPUMB_PTR(unsigned, back);
                lab_host host(way == UP     ? before
                              : way == WORK ? after
                                            : back,
                              lab_scrambled_word, NULL, all || way == WORK ? steps : 0, 1 << 14, 0);
                gpumb_fill(g, source, GPUMB_FILL_BITS, 1);
                lab_expect(g, &host);
                if (all)
                    gpumb_set_output(g, before); /* has to come up, too */
                gpumb_set_bytes(g, way == WORK ? 8.0 * (double)n : 0);
                gpumb_set_transfer(g, up ? 4.0 * (double)n : 0, down ? 4.0 * (double)n : 0);
                gpumb_set_streams(g, stream, (int)streams);
                if (lab_gpu(g))
                    gpumb_set_timing(g, way == GRAPH ? GPUMB_TIMING_GRAPH : GPUMB_TIMING_EVENT);
                GPUMB_MEASURE(g, "chunks")
                    for (uint64_t k = 0, parts = (uint64_t)chunks; k < parts; k++) {
                        const uint64_t i = n * k / parts, words = n * (k + 1) / parts - i;
                        void *on = stream[k % streams];
                        if (up)
                            copy_on(on, in + i, from + i, 4 * words);
                        if (all || way == WORK)
                            LAUNCH_ON(on, work, (words + 255) / 256, 256, in + i, out + i, words,
                                      (unsigned)steps);
                        if (down)
                            copy_on(on, to + i, out + i, 4 * words);
                    }
            }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (gpumb_row_axis(g, i, "way") == GRAPH)
            note(g, gpumb_row_axis(g, i, "steps"), gpumb_row_axis(g, i, "chunks"));
    for (void *one : stream)
        free_stream(one);
    return lab_close(g, __FILE__);
}

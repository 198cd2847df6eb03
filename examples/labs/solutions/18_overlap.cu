/* Lab 18, changed: the chunks' streams beside a kernel that nothing waits for, as urgent as it, or
 * more. */
#include "../lab.h"

#include "../../../bench/vendor.h" /* new_stream(), copy_on(), LAUNCH_ON() */

enum { CHUNKS, OTHER, BESIDE, URGENT, WAYS, STREAMS = 3 };

__global__ void work(const unsigned *in, unsigned *out, uint64_t n, unsigned steps)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = lab_scrambled(in[i], steps);
}

/* Of the chunks, and of the other kernel; NULL: it has not run. */
static int check(gpumb *g, void *user)
{
    lab_host *const *of = (lab_host *const *)user;
    return (!of[0] || lab_check(g, of[0])) && (!of[1] || lab_check(g, of[1]));
}

static void note(gpumb *g, int64_t steps, int64_t chunks)
{
    double us[WAYS] = {0};
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (gpumb_row_axis(g, i, "steps") == steps && gpumb_row_axis(g, i, "chunks") == chunks)
            us[gpumb_row_axis(g, i, "way")] = 1e6 * gpumb_row(g, i)->time.median;
    gpumb_note(g, "%lld steps, %lld chunks: %.0f us, the other %.0f us, both %.0f us, urgent %.0f",
               (long long)steps, (long long)chunks, us[CHUNKS], us[OTHER], us[BESIDE], us[URGENT]);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t n = lab_gpu(g) ? 1 << 24 : 10007;
    const int64_t most = lab_gpu(g) ? 2048 : 64;
    void *stream[] = {new_stream(), new_stream(), new_stream(), new_stream()};
    void *urgent[] = {new_urgent_stream(), new_urgent_stream(), new_urgent_stream(), stream[3]};
    GPUMB_SWEEP_LIST(g, steps, most / 64, most / 4, most)
        GPUMB_SWEEP_NAMES(g, way, "chunks", "other", "both", "urgent")
            GPUMB_SWEEP_FACTOR(g, chunks, 1, 256, 4) {
                const int trip = way != OTHER, other = way != CHUNKS;
                void **streams = way == URGENT ? urgent : stream;
                gpumb_buffer *source = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, 4 * n);
                gpumb_buffer *before = gpumb_alloc(g, 4 * n), *after = gpumb_alloc(g, 4 * n);
                gpumb_buffer *back = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, 4 * n);
                gpumb_buffer *own = lab_words(g, n), *result = gpumb_alloc(g, 4 * n);
                unsigned *in = GPUMB_PTR(unsigned, before), *out = GPUMB_PTR(unsigned, after);
                lab_host host(back, lab_scrambled_word, NULL, steps, 1 << 14, 0);
                lab_host second(result, lab_scrambled_word, NULL, steps, 1 << 14, 0);
                lab_host *checks[] = {trip ? &host : NULL, other ? &second : NULL};
                gpumb_fill(g, source, GPUMB_FILL_BITS, 1);
                gpumb_set_verify(g, check, checks);
                gpumb_set_output(g, before);
                gpumb_set_output(g, back);
                gpumb_set_output(g, result);
                gpumb_set_bytes(g, trip ? 0 : 8.0 * (double)n);
                gpumb_set_transfer(g, trip ? 4.0 * (double)n : 0, trip ? 4.0 * (double)n : 0);
                gpumb_set_streams(g, streams, STREAMS + 1);
                if (lab_gpu(g))
                    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_MEASURE(g, "chunks") {
                    if (other)
                        LAUNCH_ON(streams[STREAMS], work, (n + 255) / 256, 256,
                                  GPUMB_PTR(unsigned, own), GPUMB_PTR(unsigned, result), n,
                                  (unsigned)steps);
                    for (uint64_t k = 0, parts = (uint64_t)chunks; k < parts && trip; k++) {
                        const uint64_t i = n * k / parts, words = n * (k + 1) / parts - i;
                        void *on = streams[k % STREAMS];
                        copy_on(on, in + i, GPUMB_PTR(unsigned, source) + i, 4 * words);
                        LAUNCH_ON(on, work, (words + 255) / 256, 256, in + i, out + i, words,
                                  (unsigned)steps);
                        copy_on(on, GPUMB_PTR(unsigned, back) + i, out + i, 4 * words);
                    }
                }
            }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (gpumb_row_axis(g, i, "way") == URGENT)
            note(g, gpumb_row_axis(g, i, "steps"), gpumb_row_axis(g, i, "chunks"));
    for (void *one : stream)
        free_stream(one);
    for (int i = 0; i < STREAMS; i++)
        free_stream(urgent[i]);
    return lab_close(g, __FILE__);
}

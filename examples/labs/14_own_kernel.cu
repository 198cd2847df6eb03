/* Lab 14: a kernel of your own.
 *
 * Question: how fast can 2^26 bytes be counted into 256 bins? Work out the limit first: the bytes
 * are read once. Then make `mine` fast, and have it graded:
 *     ... --expect 'mine>=100*naive' --expect 'mine>=0.35peak'
 * Change: `mine` alone. The check finds out if it is wrong; outputs are poisoned before. */
#include "lab.h"
#ifndef MINE
#define MINE "14_mine.h"
#endif

enum { BINS = 256, BLOCK = 256 };

__global__ void naive(const uint8_t *in, unsigned *bins, unsigned n)
{
    GPUMB_GRID_STRIDE(i, n)
        atomicAdd(&bins[in[i]], 1);
}

#include MINE /* launch_mine(in, bins, n): adds up on bins that are zero */

static int check(gpumb *g, void *user)
{
    gpumb_buffer *const *b = (gpumb_buffer *const *)user;
    const uint64_t n = gpumb_size(b[0]);
    unsigned found[BINS], right[BINS] = {0};
    for (uint64_t i = 0; i < n; i += 8)
        for (uint64_t k = 0, word = gpumb_fill_word(GPUMB_FILL_BITS, 1, i / 8); k < 8; k++)
            right[word >> 8 * k & 255]++;
    if (gpumb_read(g, b[1], 0, found, sizeof found))
        return 0;
    for (int i = 0; i < BINS; i++)
        if (found[i] != right[i])
            gpumb_reason(g, "bin %d has %u, not %u", i, found[i], right[i]);
    return !memcmp(found, right, sizeof found);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *b[] = {lab_words(g, n / 4), gpumb_alloc(g, 4 * BINS), gpumb_alloc(g, 4 * BINS)};
    gpumb_fill(g, b[2], GPUMB_FILL_ZERO, 0);
    for (int mine = 0; mine < 2; mine++) {
        gpumb_set_bytes(g, n);
        gpumb_set_output(g, b[1]);
        gpumb_set_verify(g, check, b);
        GPUMB_MEASURE(g, mine ? "mine" : "naive") {
            const uint8_t *in = GPUMB_PTR(uint8_t, b[0]); /* here: with --strict, buffers move */
            unsigned *bins = GPUMB_PTR(unsigned, b[1]);
            gpumb_memcpy(g, bins, gpumb_data(b[2]), 4 * BINS);
            if (mine)
                launch_mine(in, bins, n);
            else
                GPUMB_LAUNCH(naive, 1024, BLOCK, 0, in, bins, n);
        }
    }
    return lab_close(g, __FILE__, MINE);
}

/* Labs 3 and 6, looked into: how long a warp of their copy waits for its words, and how long its
 * block stays, whose threads make room for the next one only when the last warp has its words. One
 * block in 61 writes down its warps' clocks. */
#include "../lab.h"

#include "../../../bench/clock.h"

enum { WATCHED = 61, WARP = 32, LINE = 32, PAIR = 64 }; /* in words: a line and two of them */

struct stamps {
    word begin, end;
};

__global__ void copy(const unsigned *in, unsigned *out, unsigned never, stamps *seen)
{
    const word begin = cycles_now();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    out[i] = x;
    word end = 0;
    if (x != never) /* always: the clock is read when the word is here */
        end = cycles_now();
    if (blockIdx.x % WATCHED == 0 && i % WARP == 0) {
        seen[i / WARP].begin = begin;
        seen[i / WARP].end = end;
    }
}

struct watched {
    lab_host host; /* what is copied */
    gpumb_buffer *seen;
    unsigned block, offset;
};

static unsigned expected(uint64_t i, int64_t offset)
{
    return lab_word(i + (uint64_t)offset);
}

/* Checks the copy, and puts means over the watched blocks into columns: a warp's and a block's
 * clocks, and how far the ends of neighbouring warps are apart, whose lines are one pair or two. */
static int check(gpumb *g, void *user)
{
    watched *w = (watched *)user;
    const uint64_t each = w->block / WARP, size = each * sizeof(stamps);
    double warps = 0, blocks = 0, apart[2] = {0, 0}, count[4] = {0, 0, 0, 0};
    stamps own[32];
    for (uint64_t at = 0; at + size <= gpumb_size(w->seen); at += size * WATCHED) {
        if (gpumb_read(g, w->seen, at, own, size))
            return 0;
        word first = own[0].begin, last = 0;
        for (uint64_t i = 0; i < each; i++) {
            first = own[i].begin < first ? own[i].begin : first;
            last = own[i].end > last ? own[i].end : last;
            warps += (double)(own[i].end - own[i].begin);
            const int two = i && (w->offset + i * LINE) % PAIR == 0; /* a pair begins here */
            apart[two] += i ? fabs((double)own[i].end - (double)own[i - 1].end) : 0;
            count[two] += i > 0;
        }
        blocks += (double)(last - first);
        count[2] += (double)each;
        count[3]++;
    }
    const int lines = w->offset % LINE == 0;
    gpumb_set_value(g, "warp_clocks", warps / count[2]);
    gpumb_set_value(g, "block_clocks", blocks / count[3]);
    gpumb_set_value(g, "apart_in_pair", lines ? apart[0] / count[0] : NAN);
    gpumb_set_value(g, "apart_in_two", lines ? apart[1] / count[1] : NAN);
    return lab_check(g, &w->host);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 17;
    gpumb_buffer *in = lab_words(g, n + 256), *out = gpumb_alloc(g, 4 * (uint64_t)n);
    gpumb_buffer *seen = gpumb_alloc(g, n / WARP * sizeof(stamps));
    GPUMB_SWEEP_LIST(g, block, 256, 1024)
        GPUMB_SWEEP_LIST(g, offset, 0, 8, 32, 64, 256) {
            watched w = {lab_host(out, expected, NULL, offset, 1 << 20, 0), seen, (unsigned)block,
                         (unsigned)offset};
            gpumb_set_bytes(g, 8.0 * n);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, check, &w);
            GPUMB_MEASURE(g, "copy")
                GPUMB_LAUNCH(copy, n / block, block, 0, GPUMB_PTR(unsigned, in) + offset,
                             GPUMB_PTR(unsigned, out), GPUMB_POISON, GPUMB_PTR(stamps, seen));
        }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const double warp = gpumb_row_value(g, i, "warp_clocks"),
                     block = gpumb_row_value(g, i, "block_clocks"),
                     pair = gpumb_row_value(g, i, "apart_in_pair"),
                     two = gpumb_row_value(g, i, "apart_in_two");
        gpumb_note(g, "block %4lld, offset %3lld: a warp %.0f clocks, its block %.0f: %.0f %%",
                   (long long)gpumb_row_axis(g, i, "block"),
                   (long long)gpumb_row_axis(g, i, "offset"), warp, block, 100 * warp / block);
        if (pair > 0 && two > 0)
            gpumb_note(g, "  neighbouring lines: of one pair %.0f clocks apart, of two %.0f", pair,
                       two);
    }
    return lab_close(g, __FILE__);
}

/* A copy kernel, one element a thread: how its rate grows with element size, block size and number
 * of blocks, and how close its forms come to the vendor's Memcpy. */
#include "gpumb.h"

#include "bench.h"

enum { ELEMENTS_QUICK = 3, ELEMENTS_FULL = 6, MAX_ELEMENT = 32 };
static const int64_t elements_quick[ELEMENTS_QUICK] = {1, 4, 16};
static const int64_t elements_full[ELEMENTS_FULL] = {1, 2, 4, 8, 16, 32};

/* The next region copies `bytes` from `in` to `out` and is checked for it. */
static void describe_copy(gpumb *g, gpumb_copy_check *check, gpumb_buffer *in, gpumb_buffer *out,
                          int64_t bytes)
{
    check->in = in;
    check->out = out;
    check->bytes = (uint64_t)bytes;
    check->mode = GPUMB_READ_WRITE;
    gpumb_set_bytes(g, 2.0 * (double)bytes);
    gpumb_set_footprint(g, 2 * (uint64_t)bytes);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_copy, check);
}

/* The naive kernel on a grid of `blocks` x `block` threads. */
static void measure_naive(gpumb *g, gpumb_buffer *in, gpumb_buffer *out, int64_t elem,
                          int64_t blocks, int64_t block)
{
    gpumb_copy_check check;
    describe_copy(g, &check, in, out, blocks * block * elem);
    GPUMB_MEASURE(g, "copy")
        gpumb_copy(g, GPUMB_FORM_NAIVE, (int)elem, (uint64_t)(blocks * block), (int)block,
                   gpumb_data(in), gpumb_data(out));
}

static void copy_block(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    const int64_t blocks = is_gpu(g) ? 16384 : 1024;
    const uint64_t bytes = (uint64_t)blocks * 1024 * MAX_ELEMENT;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, full ? elements_full : elements_quick,
                      full ? ELEMENTS_FULL : ELEMENTS_QUICK)
        GPUMB_SWEEP_FACTOR(g, block, 32, 1024, full ? 2 : 4)
            measure_naive(g, in, out, elem, blocks, block);
}

static void copy_grid(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    const int64_t most = full ? 1 << 17 : is_gpu(g) ? 1 << 14 : 1 << 10;
    const uint64_t bytes = (uint64_t)most * 1024 * MAX_ELEMENT;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, full ? elements_full : elements_quick,
                      full ? ELEMENTS_FULL : ELEMENTS_QUICK)
        GPUMB_SWEEP_FACTOR(g, blocks, 1, most, 4)
            measure_naive(g, in, out, elem, blocks, 1024);
}

/* Interleaved, so that the ratios between rows are good to a fraction of a per cent. */
static void copy_fastest(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    const int64_t bytes = is_gpu(g) ? (full ? (int64_t)4 << 30 : (int64_t)1 << 30) : 1 << 28;
    gpumb_buffer *in = gpumb_alloc(g, (uint64_t)bytes), *out = gpumb_alloc(g, (uint64_t)bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, elem, full ? elements_full : elements_quick,
                      full ? ELEMENTS_FULL : ELEMENTS_QUICK) {
        const uint64_t n = (uint64_t)(bytes / elem);
        gpumb_copy_check check;
        GPUMB_INTERLEAVE(g) {
            describe_copy(g, &check, in, out, bytes);
            GPUMB_MEASURE(g, "memcpy")
                gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), (uint64_t)bytes);
            describe_copy(g, &check, in, out, bytes);
            GPUMB_MEASURE(g, "naive")
                gpumb_copy(g, GPUMB_FORM_NAIVE, (int)elem, n, elem == 16 ? 128 : 256,
                           gpumb_data(in), gpumb_data(out));
            describe_copy(g, &check, in, out, bytes);
            GPUMB_MEASURE(g, "fastest")
                gpumb_copy(g, GPUMB_FORM_FASTEST, (int)elem, n, 0, gpumb_data(in), gpumb_data(out));
        }
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"copy/block", "copy kernel: rate over block size, for each element size, on a fixed grid",
     copy_block},
    {"copy/grid", "copy kernel: rate over number of blocks of 1024, for each element size",
     copy_grid},
    {"copy/fastest", "forms of copy and Memcpy, interleaved", copy_fastest},
};

GPUMB_MAIN(benchmarks)

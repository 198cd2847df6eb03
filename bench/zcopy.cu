/* Zcopy, a grid-stride loop: which geometry reaches the memory's bandwidth, reading and writing,
 * only writing, only reading. The same over the working set, from the caches into memory. */
#include "gpumb.h"

#include "bench.h"
#include "read_again.h"

static const char *const modes[] = {"readwrite", "write", "read"}; /* in gpumb_mode's order */

static void describe_zcopy(gpumb *g, gpumb_copy_check *check, gpumb_mode mode, gpumb_buffer *in,
                           gpumb_buffer *out, uint64_t bytes)
{
    const unsigned ways = mode == GPUMB_READ_WRITE ? 2 : 1;
    check->in = in;
    check->out = out;
    check->bytes = bytes;
    check->mode = mode;
    gpumb_set_bytes(g, ways * (double)bytes);
    gpumb_set_footprint(g, ways * bytes);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_copy, check);
}

static void zcopy_geometry(gpumb *g)
{
    static const int64_t elem_quick[] = {4, 16}, elem_full[] = {4, 8, 16, 32};
    static const int64_t block_quick[] = {128, 256, 1024};
    static const int64_t block_full[] = {64, 128, 192, 256, 384, 512, 576, 768, 960, 1024};
    const int full = gpumb_get_settings(g)->full;
    const uint64_t bytes = is_gpu(g) ? (full ? (uint64_t)8 << 30 : (uint64_t)1 << 30) : 1 << 26;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_STRINGS(g, mode, modes, 3)
        GPUMB_SWEEP_ARRAY(g, elem, full ? elem_full : elem_quick, full ? 4 : 2)
            GPUMB_SWEEP_ARRAY(g, block, full ? block_full : block_quick, full ? 10 : 3)
                GPUMB_SWEEP_FACTOR(g, blocks_per_sm, 1, 4096, full ? 4 : 16) {
                    if (full && elem != 16 && block != 256)
                        continue; /* all sizes of blocks for one size of elements */
                    const uint64_t blocks =
                        (uint64_t)blocks_per_sm * (uint64_t)gpumb_get_device(g)->multiprocessors;
                    gpumb_copy_check check;
                    describe_zcopy(g, &check, (gpumb_mode)mode, in, out, bytes);
                    GPUMB_MEASURE(g, "zcopy")
                        gpumb_zcopy(g, GPUMB_FORM_NAIVE, (gpumb_mode)mode, (int)elem,
                                    bytes / (uint64_t)elem, blocks, (int)block, gpumb_data(in),
                                    gpumb_data(out));
                }
}

/* Interleaved: the vendor's copy, the fastest copy kernel, the grid-stride loop on resident blocks
 * and on as many blocks as it takes, and the fastest zcopy. */
static void zcopy_best(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full;
    const uint64_t bytes = is_gpu(g) ? (full ? (uint64_t)4 << 30 : (uint64_t)1 << 30) : 1 << 27;
    const uint64_t resident = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_STRINGS(g, mode, modes, 3) {
        const gpumb_mode m = (gpumb_mode)mode;
        gpumb_copy_check check;
        GPUMB_INTERLEAVE(g) {
            if (m == GPUMB_READ_WRITE) {
                describe_zcopy(g, &check, m, in, out, bytes);
                GPUMB_MEASURE(g, "memcpy")
                    gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), bytes);
                describe_zcopy(g, &check, m, in, out, bytes);
                GPUMB_MEASURE(g, "copy fastest")
                    gpumb_copy(g, GPUMB_FORM_FASTEST, 16, bytes / 16, 0, gpumb_data(in),
                               gpumb_data(out));
            }
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy 8 blocks/SM")
                gpumb_zcopy(g, GPUMB_FORM_NAIVE, m, 16, bytes / 16, resident, 256, gpumb_data(in),
                            gpumb_data(out));
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy many blocks")
                gpumb_zcopy(g, GPUMB_FORM_NAIVE, m, 16, bytes / 16, bytes / 16 / 256 + 1, 256,
                            gpumb_data(in), gpumb_data(out));
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy fastest")
                gpumb_zcopy(g, GPUMB_FORM_FASTEST, m, 16, bytes / 16, 0, 0, gpumb_data(in),
                            gpumb_data(out));
        }
    }
}

/* The fastest form on buffers of just under half the memory each, as the originals did. */
static void zcopy_half_memory(gpumb *g)
{
    const uint64_t memory = gpumb_get_device(g)->memory_bytes;
    const uint64_t bytes = (is_gpu(g) ? memory / 100 * 47 : memory / 8) & ~(uint64_t)0xffff;
    if (!gpumb_get_settings(g)->full)
        return;
    GPUMB_SWEEP_STRINGS(g, mode, modes, 3) {
        const gpumb_mode m = (gpumb_mode)mode;
        gpumb_copy_check check;
        gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
        gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
        describe_zcopy(g, &check, m, in, out, bytes);
        GPUMB_MEASURE(g, "zcopy fastest")
            gpumb_zcopy(g, GPUMB_FORM_FASTEST, m, 16, bytes / 16, 0, 0, gpumb_data(in),
                        gpumb_data(out));
    }
}

static void zcopy_working_set(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t most = gpu ? (full ? (int64_t)4 << 30 : (int64_t)1 << 29) : 1 << 27;
    const uint64_t all = (uint64_t)most;
    gpumb_buffer *in = gpumb_alloc(g, all), *out = gpumb_alloc(g, all / 2);
    gpumb_buffer *sums = gpumb_alloc(g, 4096);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_FACTOR(g, footprint, 1 << 14, most, full ? 2 : 4) {
        const uint64_t elements = (uint64_t)footprint / 16;
        read_check read = plan_reads(g, sums, elements, gpu ? 1 << 26 : 1 << 21);
        gpumb_copy_check copy;

        for (int past_l1 = 0; past_l1 < (gpu ? 2 : 1); past_l1++) {
            describe_reads(g, &read);
            GPUMB_MEASURE(g, past_l1 ? "read again, past L1" : "read again")
                launch_reads(&read, in, past_l1);
        }
        describe_zcopy(g, &copy, GPUMB_READ_WRITE, in, out, (uint64_t)footprint / 2);
        GPUMB_MEASURE(g, "zcopy")
            gpumb_zcopy(g, GPUMB_FORM_FASTEST, GPUMB_READ_WRITE, 16, elements / 2, 0, 0,
                        gpumb_data(in), gpumb_data(out));
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"zcopy/geometry", "rate over blocks per multiprocessor and block size", zcopy_geometry},
    {"zcopy/best", "forms of zcopy, copy and Memcpy, interleaved", zcopy_best},
    {"zcopy/half_memory", "the fastest form on half the memory (--full)", zcopy_half_memory},
    {"zcopy/working_set", "rate over footprint: caches, memory", zcopy_working_set},
};

GPUMB_MAIN(benchmarks)

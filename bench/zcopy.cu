/* E9: zcopy, a grid-stride loop: which geometry reaches the memory's bandwidth, reading and
 * writing, only writing, only reading. E9b: the same over the working set, from the caches into
 * memory. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "bench.h"

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
                GPUMB_SWEEP_FACTOR(g, blocks_per_sm, 1, 4096, full ? 2 : 16) {
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
    const void *from = gpumb_data(in);
    void *to = gpumb_data(out);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_STRINGS(g, mode, modes, 3) {
        const gpumb_mode m = (gpumb_mode)mode;
        gpumb_copy_check check;
        GPUMB_INTERLEAVE(g) {
            if (m == GPUMB_READ_WRITE) {
                describe_zcopy(g, &check, m, in, out, bytes);
                GPUMB_MEASURE(g, "memcpy")
                    gpumb_memcpy(g, to, from, bytes);
                describe_zcopy(g, &check, m, in, out, bytes);
                GPUMB_MEASURE(g, "copy fastest")
                    gpumb_copy(g, GPUMB_FORM_FASTEST, 16, bytes / 16, 0, from, to);
            }
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy 8 blocks/SM")
                gpumb_zcopy(g, GPUMB_FORM_NAIVE, m, 16, bytes / 16, resident, 256, from, to);
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy many blocks")
                gpumb_zcopy(g, GPUMB_FORM_NAIVE, m, 16, bytes / 16, bytes / 16 / 256 + 1, 256, from,
                            to);
            describe_zcopy(g, &check, m, in, out, bytes);
            GPUMB_MEASURE(g, "zcopy fastest")
                gpumb_zcopy(g, GPUMB_FORM_FASTEST, m, 16, bytes / 16, 0, 0, from, to);
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

/* Past the L1, straight from the L2. */
static __device__ uint4 load_from_l2(const uint4 *p)
{
#if defined(__CUDA_ARCH__)
    return __ldcg(p);
#else
    return *p;
#endif
}

static __device__ unsigned sum_words(uint4 x, unsigned round)
{
    return (x.x ^ round) + x.y + x.z + x.w;
}

/* Each block reads one of `pieces` pieces, over and over: what fits a cache is read from it after
 * the first time. Addresses and sum depend on the round, so that no load can be left out as a
 * repetition. A piece has `piece` elements, a multiple of four times the block size. */
static __global__ void read_again(const uint4 *__restrict__ in, unsigned *sums, uint64_t pieces,
                                  uint64_t piece, unsigned rounds, int past_l1)
{
    const uint4 *mine = in + blockIdx.x % pieces * piece;
    const uint64_t step = blockDim.x;
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; round++)
        for (uint64_t start = 0; start < piece; start += 4 * step) {
            uint4 x[4];
            for (unsigned k = 0; k < 4; k++) {
                const uint64_t i = (start + k * step + threadIdx.x) ^ (round & 1);
                x[k] = past_l1 ? load_from_l2(&mine[i]) : mine[i];
            }
            for (unsigned k = 0; k < 4; k++)
                sum += sum_words(x[k], round);
        }
    atomicAdd(&sums[blockIdx.x % 1024], sum);
}

typedef struct read_check {
    gpumb_buffer *sums;
    uint64_t seed, blocks, pieces, piece;
    unsigned rounds;
} read_check;

static int check_read(gpumb *g, void *user)
{
    const read_check *c = (const read_check *)user;
    uint32_t sums[1024], total = 0, expected = 0;
    if (gpumb_read(g, c->sums, 0, sums, sizeof sums))
        return 0;
    for (int i = 0; i < 1024; i++)
        total += sums[i] + 1; /* added to the poison, -1 */
    for (uint64_t p = 0; p < c->pieces; p++) {
        const uint64_t readers = c->blocks / c->pieces + (p < c->blocks % c->pieces);
        uint32_t sum = 0;
        for (uint64_t w = p * c->piece * 2; w < (p + 1) * c->piece * 2; w++) { /* 64-bit words */
            const uint64_t two = gpumb_fill_word(GPUMB_FILL_BITS, c->seed, w);
            sum += (uint32_t)(two >> 32) * c->rounds;
            if (w % 2)
                sum += (uint32_t)two * c->rounds;
            else /* the first word of an element meets the number of the round */
                for (unsigned round = 0; round < c->rounds; round++)
                    sum += (uint32_t)two ^ round;
        }
        expected += sum * (uint32_t)readers;
    }
    if (total != expected)
        gpumb_reason(g, "the sums add up to %u, expected %u", (unsigned)total, (unsigned)expected);
    return total == expected;
}

static void zcopy_working_set(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t most = gpu ? (full ? (int64_t)4 << 30 : (int64_t)1 << 29) : 1 << 27;
    const uint64_t blocks = (gpu ? 2 : 1) * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t all = (uint64_t)most, seed = gpumb_get_settings(g)->seed;
    gpumb_buffer *in = gpumb_alloc(g, all), *out = gpumb_alloc(g, all / 2);
    gpumb_buffer *sums = gpumb_alloc(g, 4096);
    gpumb_fill(g, in, GPUMB_FILL_BITS, seed);
    GPUMB_SWEEP_FACTOR(g, footprint, 1 << 14, most, full ? 2 : 4) {
        /* At most one piece a block; of 64 KiB and more, or the whole footprint. */
        const uint64_t elements = (uint64_t)footprint / 16,
                       least = elements < 4096 ? elements : 4096;
        const uint64_t pieces = elements / least < blocks ? elements / least : blocks;
        const uint64_t piece = elements / pieces / least * least;
        const unsigned rounds = 1 + (unsigned)((gpu ? 1 << 26 : 1 << 21) / (piece * blocks));
        const uint64_t block = !gpu ? 1 : least / 4 < 1024 ? least / 4 : 1024;
        read_check read = {sums, seed, blocks, pieces, piece, rounds};
        gpumb_copy_check copy;

        for (int past_l1 = 0; past_l1 < (gpu ? 2 : 1); past_l1++) {
            gpumb_set_bytes(g, 16.0 * (double)(piece * blocks) * rounds);
            gpumb_set_footprint(g, piece * pieces * 16);
            gpumb_set_output(g, sums);
            gpumb_set_verify(g, check_read, &read);
            GPUMB_MEASURE(g, past_l1 ? "read again, past L1" : "read again")
                GPUMB_LAUNCH(read_again, blocks, block, 0, GPUMB_PTR(const uint4, in),
                             GPUMB_PTR(unsigned, sums), pieces, piece, rounds, past_l1);
        }
        describe_zcopy(g, &copy, GPUMB_READ_WRITE, in, out, (uint64_t)footprint / 2);
        GPUMB_MEASURE(g, "zcopy")
            gpumb_zcopy(g, GPUMB_FORM_FASTEST, GPUMB_READ_WRITE, 16, elements / 2, 0, 0,
                        gpumb_data(in), gpumb_data(out));
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"zcopy/geometry", "E9: rate over blocks per multiprocessor and block size", zcopy_geometry},
    {"zcopy/best", "forms of zcopy, copy and Memcpy, interleaved", zcopy_best},
    {"zcopy/half_memory", "the fastest form on half the memory (--full)", zcopy_half_memory},
    {"zcopy/working_set", "E9b: rate over footprint: caches, memory", zcopy_working_set},
};

GPUMB_MAIN(benchmarks)

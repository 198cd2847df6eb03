/* What zcopy.cu and counters.cu share: a kernel that reads a working set over and over. Include it
 * after gpumb.h. */
#ifndef BENCH_READ_AGAIN_H
#define BENCH_READ_AGAIN_H

#include "bench.h"

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
    gpumb_buffer *sums; /* 1024 words */
    uint64_t seed, blocks, pieces, piece, block;
    unsigned rounds;
    uint64_t contents; /* the first word of those that ... */
    uint32_t expected; /* ... make this sum, which takes the host seconds for a GiB; 0: of none */
} read_check;

static uint32_t expected_sum(const read_check *c)
{
    uint32_t expected = 0;
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
    return expected;
}

static int check_read(gpumb *g, void *user)
{
    read_check *c = (read_check *)user;
    uint32_t sums[1024], total = 0;
    if (gpumb_read(g, c->sums, 0, sums, sizeof sums))
        return 0;
    for (int i = 0; i < 1024; i++)
        total += sums[i] - GPUMB_POISON; /* on which they lie */
    const uint64_t contents = gpumb_fill_word(GPUMB_FILL_BITS, c->seed, 0);
    if (!c->expected || c->contents != contents) /* --strict draws others */
        c->expected = expected_sum(c);
    c->contents = contents;
    if (total != c->expected)
        gpumb_reason(g, "the sums add up to %u, expected %u", (unsigned)total,
                     (unsigned)c->expected);
    return total == c->expected;
}

/* Of a working set of so many 16-byte elements of a buffer filled from the seed, `loads` of them in
 * all, or each once. At most one piece a block; of 64 KiB and more, or the whole set. */
static read_check plan_reads(gpumb *g, gpumb_buffer *sums, uint64_t elements, uint64_t loads)
{
    const int gpu = is_gpu(g);
    const uint64_t blocks = (gpu ? 2 : 1) * (uint64_t)gpumb_get_device(g)->multiprocessors;
    const uint64_t least = elements < 4096 ? elements : 4096;
    const uint64_t pieces = elements / least < blocks ? elements / least : blocks;
    const uint64_t piece = elements / pieces / least * least;
    const uint64_t block = !gpu ? 1 : least / 4 < 1024 ? least / 4 : 1024;
    const read_check plan = {sums,
                             gpumb_get_settings(g)->seed,
                             blocks,
                             pieces,
                             piece,
                             block,
                             1 + (unsigned)(loads / (piece * blocks)),
                             0,
                             0};
    return plan;
}

static void describe_reads(gpumb *g, read_check *plan)
{
    gpumb_set_bytes(g, 16.0 * (double)(plan->piece * plan->blocks) * plan->rounds);
    gpumb_set_footprint(g, plan->piece * plan->pieces * 16);
    gpumb_set_output(g, plan->sums);
    gpumb_set_verify(g, check_read, plan);
}

static void launch_reads(const read_check *plan, gpumb_buffer *in, int past_l1)
{
    GPUMB_LAUNCH(read_again, plan->blocks, plan->block, 0, GPUMB_PTR(const uint4, in),
                 GPUMB_PTR(unsigned, plan->sums), plan->pieces, plan->piece, plan->rounds, past_l1);
}

#endif

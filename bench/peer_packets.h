/* A kernel that writes or reads pieces of lines in the memory of another device. Include it after
 * gpumb.h. */
#ifndef BENCH_PEER_PACKETS_H
#define BENCH_PEER_PACKETS_H

#include "peers.h"

/* ---- kernels --------------------------------------------------------------------------------- */

/* The first `piece` words of 16 bytes of each `apart` of them. */
typedef struct pieces {
    uint64_t lines;
    unsigned piece, apart, rounds;
} pieces;

static inline uint64_t bytes_of(pieces p)
{
    return 16 * p.lines * p.piece * p.rounds;
}

/* A warp takes as many whole pieces at a time as it has lanes for: one access of it asks for each
 * piece once. */
#define FOR_EACH_PIECE(p, line, part)                                                              \
    const unsigned lane_##line = threadIdx.x % 32, each_##line = 32 / (p).piece;                   \
    const unsigned part = lane_##line % (p).piece;                                                 \
    const uint64_t warp_##line = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32,           \
                   step_##line = gridDim.x * (uint64_t)blockDim.x / 32 * each_##line;              \
    if (lane_##line < each_##line * (p).piece)                                                     \
        for (uint64_t line = warp_##line * each_##line + lane_##line / (p).piece;                  \
             line < (p).lines; line += step_##line)

static __host__ __device__ inline uint4 pattern_of(uint64_t at, uint32_t seed)
{
    const uint32_t x = hash_of(at, seed);
    return make_uint4(x, ~x, x + 1, x ^ seed);
}

static __global__ void write_pieces(uint4 *out, pieces p, uint32_t seed)
{
    for (unsigned round = 0; round < p.rounds; round++) {
        FOR_EACH_PIECE(p, line, part)
        {
            out[line * p.apart + part] = pattern_of(line * p.apart + part, seed);
        }
    }
}

/* What is read depends on the round, so that no load can be left out as a repetition. */
static __global__ void read_pieces(const uint4 *in, pieces p, word *sum)
{
    word mine = 0;
    for (unsigned round = 0; round < p.rounds; round++) {
        FOR_EACH_PIECE(p, line, part)
        {
            const uint4 *at = &in[line * p.apart + part];
#if defined(__CUDA_ARCH__)
            const uint4 x = __ldcg(at);
#else
            const uint4 x = *at;
#endif
            mine += (word)(x.x ^ round) + x.y + x.z + x.w;
        }
    }
    atomicAdd(sum, mine);
}

/* Words that are not pieces' as written, or not poison between them. */
static __global__ void check_pieces(const uint4 *at, pieces p, uint32_t seed, word *wrong)
{
    word count = 0;
    GPUMB_GRID_STRIDE(i, p.lines * p.apart) {
        const uint4 x = at[i], poison = make_uint4(~0u, ~0u, ~0u, ~0u);
        const uint4 y = i % p.apart < p.piece ? pattern_of(i, seed) : poison;
        count += x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w;
    }
    if (count)
        atomicAdd(wrong, count);
}

/* ---- one launch and its check ---------------------------------------------------------------- */

typedef struct packet {
    pieces p;
    int reads;
    void *memory, *stream, *began, *ended;
    word *sum; /* of what is read */
    uint32_t seed;
    uint64_t blocks;
} packet;

static inline double run_packets(const packet *p)
{
    use_device(0);
    record(p->began, p->stream);
    if (p->reads)
        LAUNCH_ON(p->stream, read_pieces, p->blocks, COPY_BLOCK, (const uint4 *)p->memory, p->p,
                  p->sum);
    else
        LAUNCH_ON(p->stream, write_pieces, p->blocks, COPY_BLOCK, (uint4 *)p->memory, p->p,
                  p->seed);
    record(p->ended, p->stream);
    wait_for(p->stream);
    return seconds_between(p->began, p->ended);
}

static inline int check_packets(gpumb *g, void *user)
{
    const packet *p = (const packet *)user;
    const uint64_t bytes = 16 * p->p.lines * p->p.apart;
    word wanted = 0, found = 0;
    void *wrong = memory_on(1, sizeof found);
    set_bytes(NULL, p->memory, 0xff, bytes);
    copy_now(wrong, &found, sizeof found);
    if (p->reads) {
        pieces once = p->p;
        once.rounds = 1;
        LAUNCH_ON(NULL, write_pieces, p->blocks, COPY_BLOCK, (uint4 *)p->memory, once, p->seed);
        for (uint64_t line = 0; line < p->p.lines; line++)
            for (unsigned part = 0; part < p->p.piece; part++) {
                const uint4 x = pattern_of(line * p->p.apart + part, p->seed);
                for (unsigned round = 0; round < p->p.rounds; round++)
                    wanted += (word)(x.x ^ round) + x.y + x.z + x.w;
            }
        copy_now(p->sum, &found, sizeof found);
    }
    wait_for(NULL);
    (void)run_packets(p);
    if (p->reads) {
        copy_now(&found, p->sum, sizeof found);
    } else {
        use_device(1);
        LAUNCH_ON(NULL, check_pieces, 1024, COPY_BLOCK, (const uint4 *)p->memory, p->p, p->seed,
                  (word *)wrong);
        wait_for(NULL);
        found = 1;
        copy_now(&found, wrong, sizeof found);
    }
    free_on(1, wrong);
    use_device(gpumb_get_device(g)->ordinal);
    if (found != wanted)
        gpumb_reason(
            g, p->reads ? "words read add up to %llu, not %llu" : "wrong words: %llu, not %llu",
            found, wanted);
    return found == wanted;
}

#endif

/* The kernels of peers.cu: they move bytes from one device's memory to another's, and make and
 * check these on the device that has them. Include it after gpumb.h. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "devices.h"
#include "bench.h"

enum { GUARD = 256 }; /* bytes behind a destination that stay poison */

/* ---- what is moved --------------------------------------------------------------------------- */

/* Word i of what a device has to send (the finalizer of MurmurHash3). */
static __host__ __device__ inline uint32_t pattern_word(uint64_t i, uint32_t seed)
{
    uint32_t h = (uint32_t)i + 0x9e3779b9u * (seed + 1) + (uint32_t)(i >> 32) * 0x27d4eb2fu;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

static __global__ void fill_pattern(uint32_t *to, uint64_t words, uint32_t seed)
{
    GPUMB_GRID_STRIDE(i, words) {
        to[i] = pattern_word(i, seed);
    }
}

/* Adds to *wrong how many words are not the pattern's first `bytes` with poison behind them. */
static __global__ void check_pattern(const uint32_t *at, uint64_t bytes, uint64_t words,
                                     uint32_t seed, word *wrong)
{
    word count = 0;
    GPUMB_GRID_STRIDE(i, words) {
        const uint64_t left = 4 * i < bytes ? bytes - 4 * i : 0;
        const uint32_t mask = left >= 4 ? ~0u : (1u << (8 * left)) - 1;
        count += at[i] != ((pattern_word(i, seed) & mask) | ~mask);
    }
    if (count)
        atomicAdd(wrong, count);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* One element per thread. */
template <class Type>
static __global__ void copy_elements(const Type *__restrict__ in, Type *__restrict__ out,
                                     uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

/* Bytes behind the last whole word of 16: one each of the first threads. */
static __device__ inline void copy_rest(const void *in, void *out, uint64_t bytes)
{
    const uint64_t i = bytes / 16 * 16 + threadIdx.x;
    if (blockIdx.x == 0 && i < bytes)
        ((char *)out)[i] = ((const char *)in)[i];
}

/* Any number of bytes, in words of 16 by a grid that takes turns, `flight` loads of a thread before
 * the first store. */
template <int flight>
static __global__ void copy_words(const uint4 *__restrict__ in, uint4 *__restrict__ out,
                                  uint64_t bytes)
{
    const uint64_t n = bytes / 16, step = blockDim.x;
    const uint64_t turn = gridDim.x * step * flight;
    uint64_t first = blockIdx.x * step * flight + threadIdx.x;
    for (; first + (flight - 1) * step < n; first += turn) {
        uint4 x[flight];
        UNROLL
        for (int k = 0; k < flight; k++)
            x[k] = in[first + (unsigned)k * step];
        UNROLL
        for (int k = 0; k < flight; k++)
            out[first + (unsigned)k * step] = x[k];
    }
    for (int k = 0; k < flight; k++) /* the last turn, not all of which is there */
        if (first + (unsigned)k * step < n)
            out[first + (unsigned)k * step] = in[first + (unsigned)k * step];
    copy_rest(in, out, bytes);
}

#if defined(CUDART_VERSION) && CUDART_VERSION >= 12000 /* ptxas knows them */
#define TOOLKIT_HAS_BULK_COPIES 1
#else
#define TOOLKIT_HAS_BULK_COPIES 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && TOOLKIT_HAS_BULK_COPIES
#define HAS_BULK_COPIES
#endif
enum { BULK = 8192, BULKS = 4, BULK_BLOCK = 32 }; /* bytes of one, those in flight; threads */

#ifdef HAS_BULK_COPIES
static __device__ inline void bulk_load(unsigned shared, const void *from, unsigned barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier), "r"((unsigned)BULK)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(shared), "l"(from), "r"((unsigned)BULK), "r"(barrier)
                 : "memory");
}

static __device__ inline void bulk_wait(unsigned barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

static __device__ inline void bulk_store(void *to, unsigned shared)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(shared), "r"((unsigned)BULK)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
#endif

/* Any number of bytes by one thread of each block, which has pieces of BULK bytes copied through
 * shared memory. What has no such copies (those before NVIDIA's sm_90) takes turns with all. */
static __global__ void copy_bulk(const uint4 *__restrict__ in, uint4 *__restrict__ out,
                                 uint64_t bytes)
{
    const uint64_t pieces = bytes / BULK;
#ifdef HAS_BULK_COPIES
    __shared__ alignas(128) char buffer[BULKS][BULK];
    __shared__ word barrier[BULKS];
    const char *from = (const char *)in;
    char *to = (char *)out;
    if (threadIdx.x == 0) {
        const unsigned room = (unsigned)__cvta_generic_to_shared(buffer);
        const unsigned bars = (unsigned)__cvta_generic_to_shared(barrier);
        for (unsigned s = 0; s < BULKS; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(bars + 8 * s) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
        uint64_t loaded = blockIdx.x; /* the piece to load next */
        for (unsigned s = 0; s + 1 < BULKS && loaded < pieces; s++, loaded += gridDim.x)
            bulk_load(room + s * BULK, from + loaded * BULK, bars + 8 * s);
        unsigned turn = 0;
        for (uint64_t p = blockIdx.x; p < pieces; p += gridDim.x, turn++) {
            const unsigned s = turn % BULKS, next = (turn + BULKS - 1) % BULKS;
            bulk_wait(bars + 8 * s, turn / BULKS % 2);
            bulk_store(to + p * BULK, room + s * BULK);
            if (loaded < pieces) { /* the store before this one has read its buffer */
                asm volatile("cp.async.bulk.wait_group.read 1;" : : : "memory");
                bulk_load(room + next * BULK, from + loaded * BULK, bars + 8 * next);
                loaded += gridDim.x;
            }
        }
        asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
    }
#else
    for (uint64_t p = blockIdx.x; p < pieces; p += gridDim.x)
        for (unsigned i = threadIdx.x; i < BULK / 16; i += blockDim.x)
            out[p * (BULK / 16) + i] = in[p * (BULK / 16) + i];
#endif
    for (uint64_t i = pieces * (BULK / 16) + threadIdx.x; blockIdx.x == 0 && i < bytes / 16;
         i += blockDim.x)
        out[i] = in[i];
    copy_rest(in, out, bytes);
}

/* The forms of a kernel that copies. */
enum { ELEMENTS_4, ELEMENTS_8, ELEMENTS_16, WORDS_1, WORDS_4, WORDS_8, WIDE_8, BULKED, FORMS };
static const char *const form_names[FORMS] = {
    "4 B a thread", "8 B a thread", "16 B a thread",          "16 B in turns",
    "4 x 16 B",     "8 x 16 B",     "8 x 16 B, 1024 threads", "through shared memory"};
enum { COPY_BLOCK = 256, WIDE_BLOCK = 1024 };

/* On a stream of the device that runs it. Forms of one element a thread choose `blocks`
 * themselves, and need a multiple of an element. */
static inline void launch_copy(void *stream, int form, uint64_t blocks, const void *in, void *out,
                               uint64_t bytes)
{
    const uint64_t elem = form == ELEMENTS_4 ? 4 : form == ELEMENTS_8 ? 8 : 16, n = bytes / elem;
    const uint64_t blocks_all = n / COPY_BLOCK + 1;
    const uint4 *from = (const uint4 *)in;
    uint4 *to = (uint4 *)out;
    switch (form) {
    case ELEMENTS_4:
        LAUNCH_ON(stream, copy_elements<unsigned>, blocks_all, COPY_BLOCK, (const unsigned *)in,
                  (unsigned *)out, n);
        break;
    case ELEMENTS_8:
        LAUNCH_ON(stream, copy_elements<uint2>, blocks_all, COPY_BLOCK, (const uint2 *)in,
                  (uint2 *)out, n);
        break;
    case ELEMENTS_16:
        LAUNCH_ON(stream, copy_elements<uint4>, blocks_all, COPY_BLOCK, from, to, n);
        break;
    case WORDS_1:
        LAUNCH_ON(stream, copy_words<1>, blocks, COPY_BLOCK, from, to, bytes);
        break;
    case WORDS_4:
        LAUNCH_ON(stream, copy_words<4>, blocks, COPY_BLOCK, from, to, bytes);
        break;
    case WORDS_8:
        LAUNCH_ON(stream, copy_words<8>, blocks, COPY_BLOCK, from, to, bytes);
        break;
    case WIDE_8:
        LAUNCH_ON(stream, copy_words<8>, blocks, WIDE_BLOCK, from, to, bytes);
        break;
    default:
        LAUNCH_ON(stream, copy_bulk, blocks, BULK_BLOCK, from, to, bytes);
    }
}

/* ---- pieces of lines ------------------------------------------------------------------------- */

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
    const uint32_t x = pattern_word(at, seed);
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

/* ---- one thread waits ------------------------------------------------------------------------ */

/* Where each node of a cycle leads, as an offset: followed so many times. out: where it ends, and
 * the ticks of each sample. */
static __global__ void follow(const word *memory, unsigned warm, unsigned steps, unsigned samples,
                              word *out)
{
    word at = 0;
    for (unsigned i = 0; i < warm; i++)
        at = load_from_all<0>(&memory[at]);
    for (unsigned s = 0; s < samples; s++) {
        *(volatile word *)&out[0] = at;
        const word began = ticks_now();
        for (unsigned i = 0; i < steps; i++)
            at = load_from_all<0>(&memory[at]);
        *(volatile word *)&out[0] = at;
        out[1 + s] = ticks_now() - began;
    }
}

/* A number goes there and back: `first` counts up, the other side answers. Ends after `patience`
 * ticks if nothing comes. out: the number that came last, and the ticks of all. */
static __global__ void bounce(const word *mine, word *theirs, word rounds, int first, word patience,
                              word *out)
{
    word last = 0, began = ticks_now();
    for (word r = 1; r <= rounds; r++) {
        if (r == 2) /* both are there */
            began = ticks_now();
        if (first)
            store_for_all<1>(theirs, r);
        const word since = ticks_now();
        while ((last = load_from_all<1>(mine)) != r && ticks_now() - since < patience) {
        }
        if (last != r)
            break;
        if (!first)
            store_for_all<1>(theirs, r);
    }
    out[0] = last;
    out[1] = ticks_now() - began;
}

#endif

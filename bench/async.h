/* Copies that a thread starts and does not wait for, and blocks that use each other's shared
 * memory, in PTX (its manual has each instruction by its name). On the CPU copies are made at once,
 * and a cluster is one block. What a GPU lacks is skipped; code that was compiled for an older one
 * copies nothing, so that its check fails. Include it after gpumb.h. */
#ifndef BENCH_ASYNC_H
#define BENCH_ASYNC_H

#include "bench.h"

#include <string.h>

#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 12000
enum { ASYNC_TOOLKIT = 1 }; /* its ptxas knows them all */
#else
enum { ASYNC_TOOLKIT = 0 };
#endif
#if defined(__CUDA_ARCH__)
#define ASYNC_SM (CUDART_VERSION >= 12000 || __CUDA_ARCH__ < 900 ? __CUDA_ARCH__ : 890)
#else
#define ASYNC_SM 0
#endif

/* Skips the next region where NVIDIA's devices before sm_`least`, and others, lack something. */
static inline void needs_sm(gpumb *g, int least, const char *what)
{
    if (least && is_gpu(g) && architecture(g) < least)
        gpumb_skip(g, "%s has no %s: NVIDIA's devices have, from sm_%d on",
                   gpumb_get_device(g)->arch, what, least);
    else if (least && is_gpu(g) && !gpumb_get_settings(g)->replay && !ASYNC_TOOLKIT)
        gpumb_skip(g, "%s: this needs CUDA 12", what);
}

/* ---- each thread copies 16 bytes (sm_80) ----------------------------------------------------- */

/* Where shared memory has it, for PTX. */
#if ASYNC_SM
static __device__ inline unsigned in_shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif

static __device__ inline void copy16(void *shared, const void *from)
{
#if ASYNC_SM >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(in_shared(shared)), "l"(from)
                 : "memory");
#elif defined(GPUMB_BACKEND_CPU)
    *(uint4 *)shared = *(const uint4 *)from;
#else
    (void)shared, (void)from;
#endif
}

/* What this thread has started since the last call is a group, maybe an empty one. */
static __device__ inline void end_of_group()
{
#if ASYNC_SM >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/* Until no more than its `latest` groups are on their way. */
template <int latest> static __device__ inline void wait_for_copies()
{
#if ASYNC_SM >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(latest) : "memory");
#endif
}

/* ---- one thread copies for all (sm_90) ------------------------------------------------------- */

/* In shared memory: counts the bytes that are still to come, and how often all were there. */
typedef unsigned long long copy_barrier;

/* By one thread, before all meet at a barrier of the block. */
static __device__ inline void new_barriers(copy_barrier *b, int count)
{
#if ASYNC_SM >= 900
    for (int i = 0; i < count; i++)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(in_shared(b + i)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
#else
    (void)b, (void)count;
#endif
}

/* By one thread: a multiple of 16 bytes. */
static __device__ inline void copy_bulk(void *shared, const void *from, unsigned bytes,
                                        copy_barrier *b)
{
#if ASYNC_SM >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(in_shared(b)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];"
                 :
                 : "r"(in_shared(shared)), "l"(from), "r"(bytes), "r"(in_shared(b))
                 : "memory");
#elif defined(GPUMB_BACKEND_CPU)
    memcpy(shared, from, bytes);
    (void)b;
#else
    (void)shared, (void)from, (void)bytes, (void)b;
#endif
}

/* By all: until the bytes of a barrier are there for the first time (turn 0), the second (1) ... */
static __device__ inline void wait_bulk(copy_barrier *b, unsigned turn)
{
#if ASYNC_SM >= 900
    for (unsigned there = 0; !there;)
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(there)
                     : "r"(in_shared(b)), "r"(turn % 2)
                     : "memory");
#else
    (void)b, (void)turn;
    __syncthreads();
#endif
}

/* ---- clusters (sm_90) ------------------------------------------------------------------------ */

/* The number of this block in its cluster. */
static __device__ inline unsigned cluster_rank()
{
    unsigned rank = 0;
#if ASYNC_SM >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* A barrier of all threads of a cluster; of a block, where there are none. */
static __device__ inline void sync_cluster()
{
#if ASYNC_SM >= 900
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;"
                 :
                 :
                 : "memory");
#else
    __syncthreads();
#endif
}

/* The words of the block of that rank, where this block has its own. */
#if ASYNC_SM >= 900
typedef unsigned cluster_words;
#else
typedef unsigned *cluster_words;
#endif

static __device__ inline cluster_words words_of(unsigned *own, unsigned rank)
{
#if ASYNC_SM >= 900
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(in_shared(own)), "r"(rank));
    return there;
#else
    (void)rank;
    return own;
#endif
}

static __device__ inline unsigned load_word(cluster_words at, unsigned i)
{
#if ASYNC_SM >= 900
    unsigned value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at + 4 * i) : "memory");
    return value;
#else
    return *(volatile unsigned *)(at + i);
#endif
}

/* Words i ... i + 3; i is a multiple of 4. */
static __device__ inline uint4 load_words(cluster_words at, unsigned i)
{
    uint4 value;
#if ASYNC_SM >= 900
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(at + 4 * i)
                 : "memory");
#else
    memcpy(&value, at + i, sizeof value);
#endif
    return value;
}

/* Returns what was there. */
static __device__ inline unsigned fetch_add(cluster_words at, unsigned i, unsigned x)
{
#if ASYNC_SM >= 900
    unsigned before;
    asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "r"(at + 4 * i), "r"(x)
                 : "memory");
    return before;
#else
    return atomicAdd(at + i, x);
#endif
}

/* Adds 1 to what the block of that rank has where `own` is in this one. */
static __device__ inline void add_at(unsigned *own, unsigned rank)
{
    const cluster_words there = words_of(own, rank);
#if ASYNC_SM >= 900
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" : : "r"(there) : "memory");
#else
    atomicAdd(there, 1u);
#endif
}

/* How many blocks of such a launch run at once, in whole clusters. Elsewhere than on NVIDIA's
 * devices, one for each multiprocessor. */
template <class Kernel>
static inline uint64_t resident_blocks(gpumb *g, Kernel kernel, const gpumb_launch_config *how)
{
    const int multiprocessors = gpumb_get_device(g)->multiprocessors;
    int blocks = 1;
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 12000
    cudaLaunchAttribute cluster;
    cudaLaunchConfig_t config = {};
    if (gpumb_get_settings(g)->replay)
        return 1;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)how->cluster[0];
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)(how->cluster[0] > 1 ? how->cluster[0] : 1));
    config.blockDim = dim3((unsigned)how->block[0]);
    config.dynamicSmemBytes = how->shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)how->shared_bytes);
    if (how->cluster[0] > 1) {
        (void)cudaOccupancyMaxActiveClusters(&blocks, kernel, &config);
        (void)cudaGetLastError(); /* the launch has the same one */
        return (uint64_t)(blocks * how->cluster[0]);
    }
    (void)cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)how->block[0],
                                                        how->shared_bytes);
    (void)cudaGetLastError();
#else
    (void)kernel, (void)how;
#endif
    return (uint64_t)(blocks * multiprocessors);
}

static __global__ void add_words(const unsigned *in, uint64_t n, unsigned *sum)
{
    unsigned own = 0;
    GPUMB_GRID_STRIDE(i, n)
        own += in[i];
    atomicAdd(sum, own);
}

/* For gpumb_set_verify(): what threads have added up, of random bits, is in all the sum of the
 * first `words` that they were to read, so many times. */
typedef struct all_read {
    gpumb_buffer *in, *out;
    uint64_t words;
    unsigned times;
} all_read;

static inline int check_all_read(gpumb *g, void *user)
{
    const all_read *c = (const all_read *)user;
    gpumb_buffer *sums = gpumb_alloc(g, 2 * sizeof(unsigned));
    unsigned sum[2];
    gpumb_fill(g, sums, GPUMB_FILL_ZERO, 0);
    GPUMB_LAUNCH(add_words, 1024, 256, 0, GPUMB_PTR(const unsigned, c->in), c->words,
                 GPUMB_PTR(unsigned, sums));
    GPUMB_LAUNCH(add_words, 1024, 256, 0, GPUMB_PTR(const unsigned, c->out),
                 gpumb_size(c->out) / sizeof(unsigned), GPUMB_PTR(unsigned, sums) + 1);
    const int lost = gpumb_read(g, sums, 0, sum, sizeof sum);
    gpumb_free(g, sums);
    if (lost)
        return 0;
    sum[0] *= c->times;
    if (sum[1] != sum[0])
        gpumb_reason(g, "all words add up to %u, not %u", sum[1], sum[0]);
    return sum[1] == sum[0];
}

#endif

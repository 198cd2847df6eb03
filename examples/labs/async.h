/* async.h - for labs 20 and 23: copies that a thread starts and does not wait for, and blocks that
 * use each other's shared memory, in PTX (its manual has each instruction by its name). On the CPU
 * copies are made at once, and a cluster is one block. What a GPU lacks is skipped; code that was
 * compiled for an older one copies nothing, so that its check fails. */
#ifndef LAB_ASYNC_H
#define LAB_ASYNC_H

#include "lab.h"

#include "../../bench/bench.h"

#include <vector>

#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 12000
enum { LAB_TOOLKIT = 1 }; /* its ptxas knows them all */
#else
enum { LAB_TOOLKIT = 0 };
#endif
#if defined(__CUDA_ARCH__) && CUDART_VERSION >= 12000
#define LAB_SM __CUDA_ARCH__
#else
#define LAB_SM 0
#endif

/* Skips the next region where NVIDIA's devices before sm_`least`, and others, lack something. */
static inline void lab_needs(gpumb *g, int least, const char *what)
{
    if (least && lab_gpu(g) && architecture(g) < least)
        gpumb_skip(g, "%s has no %s: NVIDIA's devices have, from sm_%d on",
                   gpumb_get_device(g)->arch, what, least);
    else if (least && lab_gpu(g) && !gpumb_get_settings(g)->replay && !LAB_TOOLKIT)
        gpumb_skip(g, "%s: this needs CUDA 12", what);
}

/* Little's law: what is on its way is the rate, times how long each byte takes. */
static inline void lab_note_on_way(gpumb *g, const char *const *ways, unsigned blocks)
{
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const double kib = (double)gpumb_row_axis(g, i, "kib");
        if (r->gbps > 0)
            gpumb_note(g, "%.0f KiB, %s: %.0f GB/s, each on its way for %.0f ns; %d registers", kib,
                       ways[gpumb_row_axis(g, i, "way")], r->gbps, 1024 * kib * blocks / r->gbps,
                       r->registers);
    }
}

/* For gpumb_set_verify(): word i of `out` has to be the sum of what thread i of all reads, every
 * `threads`-th word of 16 bytes of `n`; `most` of them are looked at. */
struct lab_sums_of_words {
    gpumb_buffer *out;
    uint64_t n, threads, most;
};

static inline int lab_check_sums_of_words(gpumb *g, void *user)
{
    const lab_sums_of_words *s = (const lab_sums_of_words *)user;
    unsigned *out = (unsigned *)malloc(4 * s->threads + 1);
    int right = out && !gpumb_read(g, s->out, 0, out, 4 * s->threads);
    for (uint64_t i = 0; i < s->threads && right; i += s->threads / s->most | 1) {
        unsigned wanted = 0;
        for (uint64_t j = i; j < s->n; j += s->threads)
            for (uint64_t k = 0; k < 4; k++)
                wanted += lab_word(4 * j + k);
        right = out[i] == wanted;
        if (!right)
            gpumb_reason(g, "thread %llu has added up %u, not %u", (unsigned long long)i, out[i],
                         wanted);
    }
    free(out);
    return right;
}

/* ---- each thread copies 16 bytes (sm_80) ----------------------------------------------------- */

/* Where shared memory has it, for PTX. */
#if LAB_SM
static __device__ inline unsigned lab_shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif

static __device__ inline void lab_copy16(void *shared, const void *from)
{
#if LAB_SM >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(lab_shared(shared)), "l"(from)
                 : "memory");
#elif defined(GPUMB_BACKEND_CPU)
    *(uint4 *)shared = *(const uint4 *)from;
#else
    (void)shared, (void)from;
#endif
}

/* What this thread has started since the last call is a group, maybe an empty one. */
static __device__ inline void lab_end_group()
{
#if LAB_SM >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/* Until no more than its `latest` groups are on their way. */
template <int latest> static __device__ inline void lab_wait_groups()
{
#if LAB_SM >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(latest) : "memory");
#endif
}

/* ---- one thread copies for all (sm_90) ------------------------------------------------------- */

/* In shared memory: counts the bytes that are still to come, and how often all were there. */
typedef unsigned long long lab_barrier;

/* By one thread, before all meet at a barrier of the block. */
static __device__ inline void lab_new_barriers(lab_barrier *b, int count)
{
#if LAB_SM >= 900
    for (int i = 0; i < count; i++)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                     :
                     : "r"(lab_shared(b + i))
                     : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
#else
    (void)b, (void)count;
#endif
}

/* By one thread: a multiple of 16 bytes. */
static __device__ inline void lab_copy_bulk(void *shared, const void *from, unsigned bytes,
                                            lab_barrier *b)
{
#if LAB_SM >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(lab_shared(b)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];"
                 :
                 : "r"(lab_shared(shared)), "l"(from), "r"(bytes), "r"(lab_shared(b))
                 : "memory");
#elif defined(GPUMB_BACKEND_CPU)
    memcpy(shared, from, bytes);
    (void)b;
#else
    (void)shared, (void)from, (void)bytes, (void)b;
#endif
}

/* By all: until the bytes of a barrier are there for the first time (turn 0), the second (1) ... */
static __device__ inline void lab_wait_bulk(lab_barrier *b, unsigned turn)
{
#if LAB_SM >= 900
    for (unsigned there = 0; !there;)
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(there)
                     : "r"(lab_shared(b)), "r"(turn % 2)
                     : "memory");
#else
    (void)b, (void)turn;
    __syncthreads();
#endif
}

/* ---- clusters (sm_90) ------------------------------------------------------------------------ */

/* The number of this block in its cluster. */
static __device__ inline unsigned lab_rank()
{
    unsigned rank = 0;
#if LAB_SM >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* A barrier of all threads of a cluster; of a block, where there are none. */
static __device__ inline void lab_sync_cluster()
{
#if LAB_SM >= 900
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;"
                 :
                 :
                 : "memory");
#else
    __syncthreads();
#endif
}

/* Adds 1 to what the block of that rank has where `own` is in this one. */
static __device__ inline void lab_add_at(unsigned *own, unsigned rank)
{
#if LAB_SM >= 900
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(lab_shared(own)), "r"(rank));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" : : "r"(there) : "memory");
#else
    (void)rank;
    atomicAdd(own, 1u);
#endif
}

/* The bins of a block, where so many blocks share them; 0: they are in global memory. */
static __host__ __device__ inline unsigned lab_each(unsigned bins, unsigned cluster)
{
    return cluster ? (bins + cluster - 1) / cluster : 0;
}

/* Into which of the bins, all equally wide, a word falls; and its square's high half. */
static __host__ __device__ inline unsigned lab_bin(unsigned word, unsigned bins)
{
    return (unsigned)((uint64_t)word * bins >> 32);
}

static __host__ __device__ inline unsigned lab_square(unsigned word)
{
    return lab_bin(word, word);
}

/* Bytes of shared memory that a block can have. */
static inline uint64_t lab_room(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    return !lab_gpu(g) ? 1 << 20 : strncmp(d->arch, "sm_", 3) ? d->l1_bytes : d->l1_bytes - 1024;
}

/* How many blocks of such a launch run at once, in whole clusters. Elsewhere than on NVIDIA's
 * devices, one for each multiprocessor. */
template <class Kernel>
static inline uint64_t lab_resident(gpumb *g, Kernel kernel, const gpumb_launch_config *how)
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

/* For gpumb_set_verify(): `out` has to be how many of the first words of random bits, or of their
 * squares, are in each of the bins. */
struct lab_counts {
    gpumb_buffer *out;
    uint64_t words;
    unsigned bins;
    int squared;
};

static inline int lab_check_counts(gpumb *g, void *user)
{
    static std::vector<unsigned> wanted; /* by what was asked for last: counting takes a while */
    static int of_squares;
    const lab_counts *c = (const lab_counts *)user;
    std::vector<unsigned> found(c->bins);
    if (gpumb_read(g, c->out, 0, found.data(), 4 * (uint64_t)c->bins))
        return 0;
    if (wanted.size() != c->bins || of_squares != c->squared) {
        wanted.assign(c->bins, 0);
        of_squares = c->squared;
        for (uint64_t i = 0; i < c->words; i++)
            wanted[lab_bin(c->squared ? lab_square(lab_word(i)) : lab_word(i), c->bins)]++;
    }
    for (unsigned bin = 0; bin < c->bins; bin++)
        if (found[bin] != wanted[bin]) {
            gpumb_reason(g, "bin %u has %u, not %u", bin, found[bin], wanted[bin]);
            return 0;
        }
    return 1;
}

#endif

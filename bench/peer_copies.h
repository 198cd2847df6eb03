/* Copies from one device to another, by the copy engine and by kernels that write or read the
 * other's memory: their forms, several at once, their check. Include it after gpumb.h. */
#ifndef BENCH_PEER_COPIES_H
#define BENCH_PEER_COPIES_H

#include "nvlink.h"
#include "peers.h"

enum { GUARD = 256 };       /* bytes behind a destination that stay poison */
enum { WIDE_BLOCK = 1024 }; /* threads of the form that has more */

/* ---- kernels --------------------------------------------------------------------------------- */

static __global__ void fill_pattern(uint32_t *to, uint64_t words, uint32_t seed)
{
    GPUMB_GRID_STRIDE(i, words) {
        to[i] = hash_of(i, seed);
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
        count += at[i] != ((hash_of(i, seed) & mask) | ~mask);
    }
    if (count)
        atomicAdd(wrong, count);
}

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

/* ---- flows ----------------------------------------------------------------------------------- */

/* Bytes that go from one device to another, on a stream of the one that moves them. */
typedef struct flow {
    int from, to;
    void *in, *out, *stream, *done;
} flow;

typedef struct job {
    std::vector<flow> flows;
    int way, form;
    uint64_t blocks, bytes; /* of each flow */
    int staged;             /* without peer access */
    uint32_t seed;
    void *began, *ended; /* on the first flow's stream */
    char wrong[120];
} job;

static inline int by_kernel(const job *j)
{
    return j->way == WRITTEN || j->way == READ;
}

static inline int mover(const job *j, const flow *f)
{
    return j->way == PUSHED || j->way == WRITTEN ? f->from : f->to;
}

static inline job new_job(gpumb *g, int way, int64_t bytes)
{
    job j;
    j.way = way;
    j.form = WORDS_8;
    j.blocks = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    j.bytes = (uint64_t)bytes;
    j.staged = 0;
    j.seed = (uint32_t)gpumb_get_settings(g)->seed;
    j.began = j.ended = NULL;
    j.wrong[0] = 0;
    return j;
}

static inline void add_flow(job *j, int64_t from, int64_t to)
{
    flow f;
    memset(&f, 0, sizeof f);
    f.from = (int)from;
    f.to = (int)to;
    j->flows.push_back(f);
}

/* The kernels that make and check what is moved run on the device that has it. */
static inline uint64_t words_of(const job *j)
{
    return (j->bytes + GUARD + 3) / 4;
}

static inline int prepare(job *j)
{
    int enough = 1;
    for (size_t i = 0; i < j->flows.size(); i++) {
        flow *f = &j->flows[i];
        f->in = memory_on(f->from, 4 * words_of(j));
        f->out = memory_on(f->to, 4 * words_of(j));
        use_device(mover(j, f));
        f->stream = new_stream();
        f->done = new_event();
        if (i == 0) {
            j->began = new_timer();
            j->ended = new_timer();
        }
        use_device(f->from);
        enough &= f->in && f->out;
        if (f->in)
            LAUNCH_ON(NULL, fill_pattern, 1024, 256, (uint32_t *)f->in, words_of(j),
                      j->seed + (uint32_t)i);
        wait_for(NULL);
    }
    return enough;
}

static inline void release(job *j)
{
    for (size_t i = 0; i < j->flows.size(); i++) {
        flow *f = &j->flows[i];
        free_on(f->from, f->in);
        free_on(f->to, f->out);
        use_device(mover(j, f));
        free_event(f->done);
        free_stream(f->stream);
        if (i == 0) {
            free_timer(j->began);
            free_timer(j->ended);
        }
    }
}

static inline void launch(const job *j, const flow *f)
{
    if (by_kernel(j))
        launch_copy(f->stream, j->form, j->blocks, f->in, f->out, j->bytes);
    else
        copy_between(f->stream, f->out, f->to, f->in, f->from, j->bytes);
}

/* All flows once, from when the first could begin to when the last has ended. A short kernel holds
 * the first back until all are on their streams; a copy alone needs none, and would wait for that
 * kernel's engine. Returns seconds. */
static inline double run(const job *j)
{
    const flow *first = &j->flows[0];
    use_device(mover(j, first));
    if (by_kernel(j) || j->flows.size() > 1)
        hold(first->stream, 1e-5 * (1 + (double)j->flows.size()));
    record(j->began, first->stream);
    for (size_t i = 0; i < j->flows.size(); i++) {
        const flow *f = &j->flows[i];
        use_device(mover(j, f));
        if (i)
            wait_in(f->stream, j->began);
        launch(j, f);
        if (i) {
            record(f->done, f->stream);
            use_device(mover(j, first));
            wait_in(first->stream, f->done);
        }
    }
    use_device(mover(j, first));
    record(j->ended, first->stream);
    wait_for(first->stream);
    return seconds_between(j->began, j->ended);
}

/* Once more, onto poison; what is wrong is in j->wrong. */
static inline int is_right(job *j)
{
    for (size_t i = 0; i < j->flows.size(); i++) {
        use_device(j->flows[i].to);
        set_bytes(NULL, j->flows[i].out, 0xff, 4 * words_of(j));
        wait_for(NULL);
    }
    (void)run(j);
    for (size_t i = 0; i < j->flows.size() && !j->wrong[0]; i++) {
        const flow *f = &j->flows[i];
        word wrong = 0;
        void *count = memory_on(f->to, sizeof wrong);
        copy_now(count, &wrong, sizeof wrong);
        LAUNCH_ON(NULL, check_pattern, 1024, 256, (const uint32_t *)f->out, j->bytes, words_of(j),
                  j->seed + (uint32_t)i, (word *)count);
        wait_for(NULL);
        wrong = 1;
        copy_now(&wrong, count, sizeof wrong);
        free_on(f->to, count);
        if (wrong)
            snprintf(j->wrong, sizeof j->wrong, "from device %d to %d: wrong words: %llu", f->from,
                     f->to, wrong);
    }
    return !j->wrong[0];
}

static inline int check_job(gpumb *g, void *user)
{
    job *j = (job *)user;
    const int right = !j->wrong[0] && is_right(j);
    use_device(gpumb_get_device(g)->ordinal);
    if (!right)
        gpumb_reason(g, "%s", j->wrong);
    return right;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* The devices of a pair, for rows that can't be. */
static inline void measure_flows(gpumb *g, const char *name, job *j)
{
    char why[160] = "";
    link_rate link = {0, 0, 0};
    double load = 0; /* bytes on the first flow's link */
    gpumb_set_value(g, "link_share_pct", NAN);
    if (!gpumb_wants_times(g, name))
        return;
    std::vector<double> times;
    (void)runtime_trouble();
    for (const flow &f : j->flows)
        if (by_kernel(j) && !can_reach(mover(j, &f), mover(j, &f) == f.from ? f.to : f.from))
            snprintf(why, sizeof why, "device %d can't reach the memory of the other",
                     mover(j, &f));
    if (by_kernel(j) && j->form == BULKED && (architecture(g) < 90 || !TOOLKIT_HAS_BULK_COPIES))
        snprintf(why, sizeof why,
                 "needs a device with bulk copies, NVIDIA's from sm_90 on, and CUDA 12");
    if (!why[0] && !prepare(j))
        snprintf(why, sizeof why, "not enough memory for %llu bytes", (unsigned long long)j->bytes);
    if (!why[0]) {
        if (j->staged)
            let_all_reach(0);
        if (is_right(j))
            times = times_of(g, [j] { return run(j); });
        link = link_between(j->flows[0].from, j->flows[0].to);
        for (size_t i = 0; i < j->flows.size(); i++)
            if (i == 0 || (link.shared && j->flows[i].from == j->flows[0].from))
                load += (double)j->bytes;
    }
    const char *trouble = runtime_trouble();
    if (trouble && !why[0])
        snprintf(why, sizeof why, "%s", trouble);
    if (why[0])
        gpumb_skip(g, "%s", why);
    if (!times.empty() && link.bytes_per_s > 0) {
        std::vector<double> sorted(times);
        gpumb_set_value(g, "link_share_pct",
                        100 * load / gpumb_statistics(sorted.data(), sorted.size()).median /
                            link.bytes_per_s);
    }
    use_device(gpumb_get_device(g)->ordinal);
    gpumb_set_bytes(g, (double)j->bytes * (double)j->flows.size());
    gpumb_set_verify(g, check_job, j);
    gpumb_add_times(g, name, GPUMB_MEANING_SPAN, times.data(), why[0] ? 0 : times.size());
    release(j);
    if (j->staged)
        let_all_reach(1);
    use_device(gpumb_get_device(g)->ordinal);
}

#endif

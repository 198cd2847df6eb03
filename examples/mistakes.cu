/* One copy timed in the classic wrong ways, beside the right one: each is a row, and a line below
 * the table says how far off it is, which flag tells, and what to do instead. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(GPUMB_BACKEND_CUDA)
#define GPU(name) cuda##name
#elif defined(GPUMB_BACKEND_HIP)
#define GPU(name) hip##name
#endif
#ifdef GPU
#define WAIT() (void)GPU(DeviceSynchronize)()
#else
#define WAIT() (void)0 /* a launch returns when it is done */
#endif

enum { BLOCK = 256, TIMES = 12 };

__global__ void copy(const uint4 *in, uint4 *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

/* Adds up what it reads, and does nothing with the sum: so it reads nothing, either. */
__global__ void sum_unused(const uint4 *in, uint4 *, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned sum = in[i].x + in[i].y + in[i].z + in[i].w;
        (void)sum;
    }
}

typedef void kernel(const uint4 *, uint4 *, uint64_t);

typedef struct work {
    gpumb *g;
    gpumb_buffer *in, *out;
    uint64_t n; /* elements of 16 bytes */
    gpumb_copy_check right;
} work;

static void launch(const work *w, kernel *k)
{
    GPUMB_LAUNCH(k, (w->n + BLOCK - 1) / BLOCK, BLOCK, 0, GPUMB_PTR(const uint4, w->in),
                 GPUMB_PTR(uint4, w->out), w->n);
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- ways to take a time, in seconds ---- */

static double by_host_clock(const work *w, kernel *k)
{
    WAIT();
    const double start = now();
    launch(w, k);
    WAIT();
    return now() - start;
}

/* A launch returns at once: this is the time that it takes to put it into a queue. */
static double without_waiting(const work *w, kernel *k)
{
    WAIT();
    const double start = now();
    launch(w, k);
    return now() - start;
}

/* Events tell when the device was where; the host's clock around them has what they cost, too. */
static double around_an_event_pair(const work *w, kernel *k)
{
#ifdef GPU
    static GPU(Event_t) from, to;
    if (!from && (GPU(EventCreate)(&from) || GPU(EventCreate)(&to)))
        return 0;
    WAIT();
    const double start = now();
    (void)GPU(EventRecord)(from, (GPU(Stream_t))gpumb_stream(w->g));
    launch(w, k);
    (void)GPU(EventRecord)(to, (GPU(Stream_t))gpumb_stream(w->g));
    (void)GPU(EventSynchronize)(to);
    return now() - start;
#else
    return by_host_clock(w, k);
#endif
}

/* The device idles, and slows its clocks down. */
static double after_a_pause(const work *w, kernel *k)
{
    const double start = now();
    while (now() - start < 0.05)
        continue;
    return by_host_clock(w, k);
}

/* ---- rows and what they say ---- */

static void check(work *w, kernel *k)
{
    const gpumb_copy_check right = {w->in, w->out, 16 * w->n, GPUMB_READ_WRITE};
    w->right = right;
    if (k == copy)
        gpumb_set_verify(w->g, gpumb_check_copy, &w->right);
}

static void add(work *w, const char *name, double bytes, int count,
                double (*way)(const work *, kernel *), kernel *k)
{
    double seconds[TIMES];
    if (!gpumb_wants_times(w->g, name))
        return;
    for (int i = 0; i < count; i++)
        seconds[i] = way(w, k);
    gpumb_set_bytes(w->g, bytes);
    gpumb_set_footprint(w->g, 32 * w->n);
    check(w, k);
    gpumb_add_times(w->g, name, GPUMB_MEANING_LATENCY, seconds, (uint64_t)count);
}

static void measure(work *w, const char *name, double bytes)
{
    gpumb_set_output(w->g, w->out);
    check(w, copy);
    gpumb_set_bytes(w->g, bytes);
    gpumb_set_footprint(w->g, 32 * w->n);
    GPUMB_MEASURE(w->g, name)
        launch(w, copy);
}

static const gpumb_result *find(gpumb *g, const char *name)
{
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (!strcmp(gpumb_row(g, i)->kernel, name) && gpumb_row(g, i)->status == GPUMB_STATUS_OK)
            return gpumb_row(g, i);
    return NULL;
}

static void conclude(gpumb *g, const char *name, const char *beside, const char *advice)
{
    static const struct {
        unsigned bit;
        const char *name;
    } flags[] = {
#define NAME(symbol, name, meaning, advice) {GPUMB_FLAG_##symbol, name},
        GPUMB_FLAGS(NAME)
#undef NAME
    };
    const gpumb_result *wrong = find(g, name), *right = find(g, beside);
    char told[200] = "";
    if (!wrong || !right)
        return;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if ((wrong->flags & flags[i].bit) && flags[i].bit != GPUMB_FLAG_REPLAYED)
            snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s",
                     *told ? ", " : "; flagged ", flags[i].name);
    gpumb_note(g, "%s: %.3g of the right rate%s. %s", name, wrong->gbps / right->gbps,
               *told ? told : "; no flag can tell", advice);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const int queues = strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
    const uint64_t l2 = gpumb_get_device(g)->l2_bytes, least = (uint64_t)64 << 20;
    const int soon =
        !queues && !gpumb_get_settings(g)->full && l2 > least; /* there are caches of 1 GiB */
    const uint64_t bytes = soon ? least : !queues ? l2 : 4 * l2 > least ? 4 * l2 : least;
    work w = {g, gpumb_alloc(g, bytes), gpumb_alloc(g, bytes), bytes / 16, {}};
    work few = w, tiny = w;
    few.n = (l2 < bytes ? l2 : bytes) / 64; /* both buffers together are half the cache */
    tiny.n = 4096;
    const double moved = 32.0 * (double)w.n, gib = 1.0 / (1 << 30);
    gpumb_fill(g, w.in, GPUMB_FILL_F32, 1);

    add(&w, "first launch", moved, 1, by_host_clock, copy);
    measure(&w, "right", moved);
    if (queues)
        add(&w, "not waited for", moved, TIMES, without_waiting, copy);
    add(&w, "one sample", moved, 1, by_host_clock, copy);
    add(&w, "result unused", moved / 2, TIMES, by_host_clock, sum_unused);
    add(&w, "after pauses", moved, TIMES, after_a_pause, copy);
    measure(&few, "fits the cache", 32.0 * (double)few.n);
    measure(&w, "GiB called GB", moved * gib * 1e9);
    measure(&w, "counted once", moved / 2);
    measure(&tiny, "short, right", 32.0 * (double)tiny.n);
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    measure(&tiny, "short, event pair", 32.0 * (double)tiny.n);
    add(&tiny, "short, host clock", 32.0 * (double)tiny.n, TIMES, around_an_event_pair, copy);
    add(&w, "A, then B: A", moved, 5, after_a_pause, copy);
    add(&w, "A, then B: B", moved, TIMES, by_host_clock, copy);
    GPUMB_INTERLEAVE(g) {
        measure(&w, "A in turn", moved);
        measure(&w, "B in turn", moved);
    }

    conclude(g, "first launch", "right", "It loads the kernel and maps pages: launch once before");
    conclude(g, "not waited for", "right",
             "A launch returns at once: wait for the device, or use events");
    conclude(g, "one sample", "right", "Without an interval nobody knows how far off it may be");
    conclude(g, "result unused", "right",
             "What has no effect is compiled away: write it, and check it");
    conclude(g, "fits the cache", "right",
             "For the memory's rate take several times the last cache");
    conclude(g, "short, event pair", "short, right",
             "Launch and events cost microseconds: time many runs, or a graph");
    conclude(g, "short, host clock", "short, right",
             "The host's clock has that, and what waiting costs: use the device's");
    conclude(g, "after pauses", "right",
             "Clocks fall when nothing runs: warm up until times settle");
    conclude(g, "GiB called GB", "right", "Peaks are decimal: 1 GB/s is 1e9 byte/s");
    conclude(g, "counted once", "right",
             "A copy reads and writes: two bytes move for each byte copied");
    const gpumb_result *a = find(g, "A, then B: A"), *b = find(g, "A, then B: B");
    const gpumb_result *fair = find(g, "B in turn");
    if (a && b && fair && fair->comparison.lo > 0)
        gpumb_note(g,
                   "A, then B: the same kernel is %.3f times as fast as itself. In turn it takes "
                   "%.4f of its own time (%.4f ... %.4f)",
                   a->time.median / b->time.median, fair->comparison.ratio, fair->comparison.lo,
                   fair->comparison.hi);
    else if (a && b && fair)
        gpumb_note(g,
                   "A, then B: the same kernel is %.3f times as fast as itself. In turn there "
                   "were too few rounds for an interval: --budget 10 takes more",
                   a->time.median / b->time.median);
    gpumb_free(g, w.in);
    gpumb_free(g, w.out);
    return gpumb_close(g);
}

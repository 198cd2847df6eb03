// test_streams.cu - work that a region's stream does not wait for, on a real GPU: found where it
// can be, never in programs that are honest; and bodies that wait for the device. With an argument:
// so many rows of each.
#define GPUMB_IMPLEMENTATION // for the waits of a row that was not found
#include "gpumb.h"

#include "check.h"
#include <chrono>

#if defined(GPUMB_BACKEND_CPU)
int main()
{
    SKIP("streams need a GPU");
    return CHECK_SUMMARY();
}
#else

#if defined(GPUMB_BACKEND_CUDA)
#define GPU(name) cuda##name
#else
#define GPU(name) hip##name
#endif
#define STREAM ((GPU(Stream_t))gpumb_stream(NULL))
#define OK(call) CHECK_INT((call), 0)

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

static double host_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static double clock_hz;
static int rows = 2;

static void launch(GPU(Stream_t) stream, double seconds)
{
    spin<<<1, 32, 0, stream>>>((long long)(seconds * clock_hz));
}

static gpumb *open()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.precision = 0.05;
    s.budget_s = 0.2;
    s.least_s = -1;
    s.warmup_s = 0.02;
    return gpumb_open_settings("test_streams", &s);
}

// ---- work elsewhere ----

enum { BEHIND, BEFORE, BESIDE }; // the region's own: beside is between two halves of it

typedef struct foreign {
    GPU(Stream_t) stream;
    int where;
    int launched; // the region's own by GPUMB_LAUNCH, or else by <<<>>>
    double own_s, other_s;
} foreign;

static gpumb_result time_foreign(gpumb *g, const foreign *f)
{
    gpumb_result r;
    (void)g;
    GPUMB_TIME(&r) {
        if (f->where == BEFORE)
            launch(f->stream, f->other_s);
        for (int half = f->where == BESIDE; half >= 0; half--) {
            const double own_s = f->where == BESIDE ? f->own_s / 2 : f->own_s;
            if (f->launched)
                GPUMB_LAUNCH(spin, 1, 32, 0, (long long)(own_s * clock_hz));
            else
                launch(STREAM, own_s);
            if (half)
                launch(f->stream, f->other_s);
        }
        if (f->where == BEHIND)
            launch(f->stream, f->other_s);
    }
    return r;
}

static int says_so(const gpumb_result *r)
{
    if (r->others > 0) // then it can't be sure
        return (r->flags & GPUMB_FLAG_OTHER_STREAMS) != 0;
    return r->status == GPUMB_STATUS_FAILED && strstr(r->reason, "gpumb_set_stream()");
}

// The last round of waits after captures: of the body, of an empty kernel.
static void show_waits(gpumb *g, const gpumb_result *r)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) // where contexts are not known
    (void)g;
    (void)r;
#else
    const gpumbi_sampler *s = &g->region.single;
    printf("    %s, flags %x, told %d; waits, ns:", r->status ? r->reason : "ok", r->flags,
           s->waits.told);
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < GPUMBI_LOOKS; i++)
            printf("%s %.0f", i ? "" : which ? "; idle" : "", 1e9 * s->waits.wait_s[which][i]);
    printf("\n");
#endif
}

static void test_foreign(gpumb *g)
{
    static const double own[] = {2e-6, 50e-6, 1e-3};
    static const double other[] = {2e-6, 10e-6, 100e-6};
    foreign f;
    OK(GPU(StreamCreateWithFlags)(&f.stream, GPU(StreamNonBlocking)));
    static const char *const names[] = {"behind", "before", "beside"};
    int seen = 0, all = 0;
    printf("launched,where,own_us,other_us,rows,found,flagged\n");
    for (f.launched = 1; f.launched >= 0; f.launched--)
        for (f.where = BEHIND; f.where <= BESIDE; f.where++)
            for (double own_s : own)
                for (double other_s : other) {
                    int found = 0, flagged = 0;
                    f.own_s = own_s;
                    f.other_s = other_s;
                    for (int i = 0; i < rows; i++) {
                        const gpumb_result r = time_foreign(g, &f);
                        found += says_so(&r);
                        flagged += !says_so(&r) && (r.flags & ~(unsigned)GPUMB_FLAG_UNVERIFIED);
                        if (f.launched && !says_so(&r))
                            show_waits(g, &r);
                    }
                    printf("%d,%s,%g,%g,%d,%d,%d\n", f.launched, names[f.where], own_s * 1e6,
                           other_s * 1e6, rows, found, flagged);
                    // what can't be captured shows only what is left behind its end; short work may
                    // be flagged instead, where the host is slow
                    const int may_end = other_s < (f.where == BEFORE ? 50e-6 : 5e-6);
                    if (f.launched && may_end) {
                        seen += found + flagged;
                        all += rows;
                    } else if (f.launched || (f.where == BEHIND && other_s >= own_s + 10e-6)) {
                        CHECK_INT(found, rows);
                    }
                }
    CHECK(seen >= all - 1 - all / 50);
    OK(GPU(StreamDestroy)(f.stream));
}

// Copies, whose engines work while kernels have to wait.
static void test_foreign_copies(gpumb *g)
{
    enum { MOST = 16 << 20 };
    gpumb_buffer *pinned = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, MOST);
    gpumb_buffer *memory = gpumb_alloc(g, MOST);
    GPU(Stream_t) stream;
    OK(GPU(StreamCreateWithFlags)(&stream, GPU(StreamNonBlocking)));
    printf("copied_bytes,rows,found,flagged\n");
    for (size_t bytes : {4 << 10, 256 << 10, 16 << 20}) {
        int found = 0, flagged = 0;
        for (int i = 0; i < rows; i++) {
            gpumb_result r;
            GPUMB_TIME(&r) {
                GPUMB_LAUNCH(spin, 1, 32, 0, (long long)(50e-6 * clock_hz));
                (void)GPU(MemcpyAsync)(gpumb_data(memory), gpumb_data(pinned), bytes,
                                       GPU(MemcpyHostToDevice), stream);
            }
            found += says_so(&r);
            flagged += !says_so(&r) && (r.flags & ~(unsigned)GPUMB_FLAG_UNVERIFIED);
            if (!says_so(&r))
                show_waits(g, &r);
        }
        printf("%zu,%d,%d,%d\n", bytes, rows, found, flagged);
        if (bytes > 1 << 20)
            CHECK_INT(found, rows);
    }
    OK(GPU(StreamDestroy)(stream));
    gpumb_free(g, memory);
    gpumb_free(g, pinned);
}

// ---- honest programs ----

typedef struct honest {
    GPU(Stream_t) stream[2];
    GPU(Event_t) fork, join;
    GPU(GraphExec_t) graph;
    float *managed;
    void *pinned, *memory; // COPIED bytes each
    double seconds;
} honest;

static const size_t COPIED = 16 << 20;

static void run(const honest *h, int launched, GPU(Stream_t) stream)
{
    if (launched)
        GPUMB_LAUNCH(spin, 1, 32, 0, (long long)(h->seconds * clock_hz));
    else
        launch(stream, h->seconds);
}

static void plain(const honest *h, int launched)
{
    run(h, launched, STREAM);
}

static void forks(const honest *h, int launched)
{
    (void)GPU(EventRecord)(h->fork, STREAM);
    (void)GPU(StreamWaitEvent)(h->stream[0], h->fork, 0);
    launch(h->stream[0], h->seconds);
    run(h, launched, STREAM);
    (void)GPU(EventRecord)(h->join, h->stream[0]);
    (void)GPU(StreamWaitEvent)(STREAM, h->join, 0);
}

static void set_streams(const honest *h, int launched)
{
    launch(h->stream[0], h->seconds);
    run(h, launched, STREAM);
    launch(h->stream[1], h->seconds / 2);
}

static void legacy(const honest *h, int launched)
{
    (void)launched;
    launch(NULL, h->seconds);
}

static void graph(const honest *h, int launched)
{
    (void)launched;
    (void)GPU(GraphLaunch)(h->graph, STREAM);
}

static void managed(const honest *h, int launched)
{
    (void)launched;
    h->managed[0] += 1; // on the host
    (void)GPU(MemsetAsync)(h->managed + 1024, 0, 4096, STREAM);
    GPUMB_LAUNCH(spin, 1, 32, 0, (long long)(h->seconds * clock_hz));
}

static void copies(const honest *h, int launched)
{
    (void)launched;
    (void)GPU(MemcpyAsync)(h->memory, h->pinned, COPIED, GPU(MemcpyHostToDevice), h->stream[0]);
    launch(h->stream[0], h->seconds);
    (void)GPU(MemcpyAsync)(h->pinned, h->memory, COPIED, GPU(MemcpyDeviceToHost), h->stream[0]);
}

static void test_honest(gpumb *g)
{
    static const struct {
        const char *name;
        void (*body)(const honest *h, int launched);
        int launched, own_stream, streams;
        gpumb_timing timing;
    } cases[] = {{"plain", plain, 1, 0, 0, GPUMB_TIMING_AUTO},
                 {"plain <<<>>>", plain, 0, 0, 0, GPUMB_TIMING_AUTO},
                 {"forks", forks, 1, 0, 0, GPUMB_TIMING_AUTO},
                 {"forks <<<>>>", forks, 0, 0, 0, GPUMB_TIMING_AUTO},
                 {"streams", set_streams, 1, 0, 2, GPUMB_TIMING_AUTO},
                 {"streams <<<>>>", set_streams, 0, 0, 2, GPUMB_TIMING_AUTO},
                 {"copies <<<>>>", copies, 0, 0, 2, GPUMB_TIMING_AUTO},
                 {"copies, captured", copies, 0, 0, 2, GPUMB_TIMING_GRAPH},
                 {"legacy", legacy, 0, 0, 0, GPUMB_TIMING_AUTO},
                 {"graph", graph, 0, 0, 0, GPUMB_TIMING_AUTO},
                 {"managed", managed, 1, 0, 0, GPUMB_TIMING_AUTO},
                 {"handed in", plain, 1, 1, 0, GPUMB_TIMING_AUTO},
                 {"handed in <<<>>>", plain, 0, 1, 0, GPUMB_TIMING_AUTO}};
    static const double seconds[] = {2e-6, 20e-6, 1e-3};
    void *const own = gpumb_stream(g);
    honest h;
    GPU(Graph_t) captured = NULL;
    for (int i = 0; i < 2; i++)
        OK(GPU(StreamCreateWithFlags)(&h.stream[i], GPU(StreamNonBlocking)));
    OK(GPU(EventCreate)(&h.fork));
    OK(GPU(EventCreate)(&h.join));
    OK(GPU(MallocManaged)((void **)&h.managed, 1 << 16, GPU(MemAttachGlobal)));
    memset(h.managed, 0, 1 << 16);
    gpumb_buffer *pinned = gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, COPIED);
    gpumb_buffer *memory = gpumb_alloc(g, COPIED);
    h.pinned = gpumb_data(pinned);
    h.memory = gpumb_data(memory);
    memset(h.pinned, 0, COPIED);
    printf("program,us,rows,failed,host_bound\n");
    for (double s : seconds)
        for (const auto &c : cases) {
            int failed = 0, host_bound = 0;
            double launching_s = 1;
            h.seconds = s;
            OK(GPU(StreamBeginCapture)(h.stream[0], GPU(StreamCaptureModeRelaxed)));
            launch(h.stream[0], s);
            OK(GPU(StreamEndCapture)(h.stream[0], &captured));
            OK(GPU(GraphInstantiateWithFlags)(&h.graph, captured, 0));
            OK(GPU(GraphDestroy)(captured));
            gpumb_set_stream(g, c.own_stream ? (void *)h.stream[1] : own);
            for (int i = 0; i < rows; i++) {
                gpumb_result r;
                gpumb_set_streams(g, (void *const *)h.stream, c.streams);
                gpumb_set_timing(g, c.timing);
                GPUMB_TIME(&r) {
                    const double began_s = host_s();
                    c.body(&h, c.launched);
                    const double took_s = host_s() - began_s;
                    launching_s = took_s < launching_s ? took_s : launching_s;
                }
                failed += r.status != GPUMB_STATUS_OK;
                host_bound += (r.flags & GPUMB_FLAG_HOST_BOUND) != 0;
                if (r.status != GPUMB_STATUS_OK)
                    printf("    %s: %s\n", c.name, r.reason);
                if (c.streams) // the longer of them, whatever gpumb_stream() has
                    CHECK(r.time.median > 0.9 * s);
            }
            printf("%s,%g,%d,%d,%d\n", c.name, s * 1e6, rows, failed, host_bound);
            CHECK_INT(failed, 0);
            if (launching_s < 2 * s) // else the device is idle for half of the time
                CHECK_INT(host_bound, 0);
            OK(GPU(GraphExecDestroy)(h.graph));
        }
    gpumb_set_stream(g, own);
    OK(GPU(Free)(h.managed));
    gpumb_free(g, memory);
    gpumb_free(g, pinned);
    OK(GPU(EventDestroy)(h.fork));
    OK(GPU(EventDestroy)(h.join));
    for (int i = 0; i < 2; i++)
        OK(GPU(StreamDestroy)(h.stream[i]));
}

// ---- bodies that wait ----

static void test_waits()
{
    static const char *const name[] = {"waits", "reads back", "allocates", "works on the host"};
    float *from = NULL, to[256];
    OK(GPU(Malloc)((void **)&from, sizeof to));
    printf("body,launched,rows,host_bound,slowest_s\n");
    for (int kind = 0; kind < 4; kind++)
        for (int launched = 0; launched < 2; launched++) {
            int host_bound = 0;
            double slowest_s = 0;
            for (int i = 0; i < rows; i++) {
                gpumb_result r;
                const double began_s = host_s();
                GPUMB_TIME(&r) {
                    void *p = NULL;
                    if (kind == 2)
                        (void)GPU(Malloc)(&p, 1 << 20);
                    if (launched)
                        GPUMB_LAUNCH(spin, 1, 32, 0, (long long)(20e-6 * clock_hz));
                    else
                        launch(STREAM, 20e-6);
                    if (kind == 0)
                        (void)GPU(StreamSynchronize)(STREAM);
                    else if (kind == 1)
                        (void)GPU(Memcpy)(to, from, sizeof to, GPU(MemcpyDeviceToHost));
                    else if (kind == 2)
                        (void)GPU(Free)(p);
                    else
                        for (const double now_s = host_s(); host_s() < now_s + 100e-6;)
                            ;
                }
                const double took_s = host_s() - began_s;
                slowest_s = took_s > slowest_s ? took_s : slowest_s;
                CHECK_INT(r.status, GPUMB_STATUS_OK);
                host_bound += (r.flags & GPUMB_FLAG_HOST_BOUND) && r.timing == GPUMB_TIMING_HOST;
            }
            printf("%s,%d,%d,%d,%.3f\n", name[kind], launched, rows, host_bound, slowest_s);
            CHECK_INT(host_bound, rows);
        }
    OK(GPU(Free)(from));
}

int main(int argc, char **argv)
{
    rows = argc > 1 ? atoi(argv[1]) : rows;
    gpumb *g = open();
    if (!gpumb_ok(g)) {
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_NO_DEVICE);
        SKIP("no device");
        return CHECK_SUMMARY();
    }
    clock_hz = gpumb_get_device(g)->sm_clock_hz;
    test_foreign(g);
    test_foreign_copies(g);
    test_honest(g);
    test_waits();
    gpumb_close(g);
    return CHECK_SUMMARY();
}
#endif

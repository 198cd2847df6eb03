// test_vendor.cu - what source meant for GPUs alone may do: kernel<<<>>> in a region, which goes to
// the legacy stream, contexts on several devices, and kinds of memory. Nothing of this exists on
// the CPU.
#include "check.h"
#include "poison.h"

#if !defined(__CUDACC__) && !defined(__HIP__)

int main()
{
    SKIP("kernel<<<>>> and several devices: need a GPU backend");
    return CHECK_SUMMARY();
}

#else

#include "gpumb.h"

#if defined(GPUMB_BACKEND_CUDA)
#define VENDOR(name) cuda##name
typedef struct cudaPointerAttributes pointer_attributes;
#else
#define VENDOR(name) hip##name
typedef hipPointerAttribute_t pointer_attributes;
#endif

__global__ void spin(long long clocks, unsigned *out)
{
    const long long start = clock64();
    while (clock64() - start < clocks) {
    }
    *out = 42;
}

static gpumb *open(int device)
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.device = device;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    return gpumb_open_settings("test_vendor", &s);
}

static int is_42(gpumb *g, void *user)
{
    unsigned found = 0;
    return !gpumb_read(g, (gpumb_buffer *)user, 0, &found, 4) && found == 42;
}

// Each way to time it waits for a launch that the library has not seen. The event pair's time is
// the yardstick: both are of the same clock cycles.
static void test_plain_launch()
{
    static const gpumb_timing timings[] = {GPUMB_TIMING_EVENT, GPUMB_TIMING_HOST,
                                           GPUMB_TIMING_BATCH, GPUMB_TIMING_PROFILER,
                                           GPUMB_TIMING_AUTO};
    gpumb *g = open(0);
    gpumb_buffer *out = gpumb_alloc(g, 4);
    double event_s = 0;
    for (gpumb_timing timing : timings) {
        gpumb_set_timing(g, timing);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, is_42, out);
        GPUMB_MEASURE(g, "spin")
            spin<<<1, 1>>>(4000000, GPUMB_PTR(unsigned, out));
        const gpumb_result *r = gpumb_last_result(g);
        if (timing == GPUMB_TIMING_EVENT)
            event_s = r->time.median;
        CHECK_INT(r->status, GPUMB_STATUS_OK);
        CHECK_INT(r->verified, 1);
        CHECK_CASE(r->time.median > 0.7 * event_s, "timing %d: %g s, by events %g s", (int)timing,
                   r->time.median, event_s);
        CHECK_CASE(r->first_launch_s > 0.7 * event_s, "timing %d: first launch %g s, %g s",
                   (int)timing, r->first_launch_s, event_s);
    }
    CHECK(event_s > 0);
    CHECK_INT(gpumb_close(g), 0);
}

// Work on a stream that the library does not know of is found out, from some us on; where the
// library's stream waits for it, or is it, its time is right.
static void test_elsewhere()
{
    VENDOR(Stream_t) own;
    VENDOR(Event_t) done;
    CHECK(VENDOR(StreamCreateWithFlags)(&own, VENDOR(StreamNonBlocking)) == VENDOR(Success));
    CHECK(VENDOR(EventCreateWithFlags)(&done, VENDOR(EventDisableTiming)) == VENDOR(Success));
    for (long long clocks : {20000LL, 260000LL, 4000000LL})
        for (int way = 0; way < 3; way++) { // unknown, joined, handed in
            gpumb *g = open(0);
            gpumb_buffer *out = gpumb_alloc(g, 4);
            if (way == 2)
                gpumb_set_stream(g, own);
            GPUMB_MEASURE(g, "elsewhere") {
                spin<<<1, 1, 0, own>>>(clocks, GPUMB_PTR(unsigned, out));
                if (way == 1) {
                    (void)VENDOR(EventRecord)(done, own);
                    (void)VENDOR(StreamWaitEvent)((VENDOR(Stream_t))gpumb_stream(g), done, 0);
                }
            }
            const gpumb_result *r = gpumb_last_result(g);
            CHECK_CASE(r->status == (way ? GPUMB_STATUS_OK : GPUMB_STATUS_FAILED),
                       "way %d, %lld clocks: status %d, %s, %g s", way, clocks, (int)r->status,
                       r->reason, r->time.median);
            CHECK_CASE(r->first_launch_s > 0.4e-9 * (double)clocks, "first launch %g s",
                       r->first_launch_s);
            gpumb_close(g);
        }
    CHECK(VENDOR(EventDestroy)(done) == VENDOR(Success));
    CHECK(VENDOR(StreamDestroy)(own) == VENDOR(Success));
}

// An error that the program left behind before a region is not the region's.
static void test_earlier_error()
{
    gpumb *g = open(0);
    gpumb_buffer *out = gpumb_alloc(g, 4);
    void *nothing = NULL;
    CHECK(VENDOR(Malloc)(&nothing, (size_t)1 << 60) != VENDOR(Success)); // its error is pending
    gpumb_set_output(g, out);
    gpumb_set_verify(g, is_42, out);
    GPUMB_MEASURE(g, "innocent")
        GPUMB_LAUNCH(spin, 1, 1, 0, 1000LL, GPUMB_PTR(unsigned, out));
    CHECK_STR(gpumb_last_result(g)->reason, "");
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_close(g), 0);
}

// 16 KiB of its own and as much more as it is given, all of it written and read.
__global__ void hold(unsigned words, unsigned *out)
{
    __shared__ unsigned own[4096];
    GPUMB_SHARED(unsigned, more);
    for (unsigned i = threadIdx.x; i < 4096 || i < words; i += blockDim.x) {
        if (i < 4096)
            own[i] = i;
        if (i < words)
            more[i] = i ^ 42;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = own[4095] - 4095 + (more[words - 1] ^ (words - 1));
}

// More than 48 KiB a block are asked for, also where a kernel has some of them of its own.
static void test_shared_memory()
{
    gpumb *g = open(0);
    gpumb_buffer *out = gpumb_alloc(g, 4);
    for (unsigned kib : {8u, 32u, 40u, 48u, 40u}) {
        gpumb_set_output(g, out);
        gpumb_set_verify(g, is_42, out);
        GPUMB_MEASURE(g, "hold")
            GPUMB_LAUNCH(hold, 1, 256, kib << 10, kib << 8, GPUMB_PTR(unsigned, out));
        CHECK_STR(gpumb_last_result(g)->reason, "");
        CHECK_INT(gpumb_last_result(g)->verified, 1);
    }
    GPUMB_MEASURE(g, "too much") // for any device of today
        GPUMB_LAUNCH(hold, 1, 256, 512 << 10, 1u, GPUMB_PTR(unsigned, out));
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK(strstr(gpumb_last_result(g)->reason, "hold") != NULL);
    CHECK_INT(gpumb_close(g), 0);
}

static void measure_on(gpumb *g, gpumb_buffer *out, int device)
{
    int current = -1;
    gpumb_set_output(g, out);
    gpumb_set_verify(g, is_42, out);
    GPUMB_MEASURE(g, "spin")
        GPUMB_LAUNCH(spin, 1, 1, 0, 100000LL, GPUMB_PTR(unsigned, out));
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_last_result(g)->verified, 1);
    CHECK(VENDOR(GetDevice)(&current) == VENDOR(Success));
    CHECK_INT(current, device);
}

static void test_two_devices()
{
    int devices = 0;
    CHECK(VENDOR(GetDeviceCount)(&devices) == VENDOR(Success));
    if (devices < 2) {
        SKIP("contexts on two devices: there is one");
        return;
    }
    gpumb *g[2] = {open(0), open(1)};
    gpumb_buffer *out[2] = {gpumb_alloc(g[0], 4), gpumb_alloc(g[1], 4)};
    for (int turn = 0; turn < 4; turn++)
        measure_on(g[turn % 2], out[turn % 2], turn % 2);
    for (int device = 0; device < 2; device++) {
        pointer_attributes about;
        CHECK(VENDOR(PointerGetAttributes)(&about, gpumb_data(out[device])) == VENDOR(Success));
        CHECK_INT(about.device, device);
    }
    CHECK_INT(gpumb_close(g[1]), 0);
    measure_on(g[0], out[0], 0);
    CHECK_INT(gpumb_close(g[0]), 0);
}

static int finds_poison(gpumb *g, void *user)
{
    const gpumb_buffer *b = (const gpumb_buffer *)user;
    static unsigned char bytes[100003];
    if (gpumb_read(g, b, 0, bytes, gpumb_size(b)))
        return 0;
    return is_poison(bytes, gpumb_size(b), 0);
}

static gpumb_result copy(gpumb *g, void *to, const void *from, uint64_t bytes)
{
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_memcpy(g, to, from, bytes);
    CHECK_STR(r.reason, "");
    return r;
}

// All that buffers have, with each kind, and copies between each two, which are transfers where the
// link lies between them. Pointers of the runtime and of malloc() are known as what they are.
static void test_kinds()
{
    gpumb *g = open(0);
    const uint64_t size = 100003;
    gpumb_buffer *reference = gpumb_alloc(g, size), *b[4];
    gpumb_fill(g, reference, GPUMB_FILL_F32, 7);
    for (int kind = 0; kind < 4; kind++) {
        b[kind] = gpumb_alloc_kind(g, (gpumb_memory)kind, size);
        CHECK(b[kind] != NULL);
        gpumb_poison(g, b[kind]);
        CHECK(finds_poison(g, b[kind]));
        gpumb_fill(g, b[kind], GPUMB_FILL_F32, 7);
        CHECK_INT(gpumb_compare(g, b[kind], reference, size, NULL), 0);
        CHECK_INT(gpumb_compare(g, reference, b[kind], size, NULL), 0);
    }
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
            gpumb_buffer *out = gpumb_alloc_kind(g, (gpumb_memory)to, size);
            gpumb_fill(g, b[from], GPUMB_FILL_BITS, (uint64_t)(from * 4 + to));
            gpumb_poison(g, out);
            const gpumb_result r = copy(g, gpumb_data(out), gpumb_data(b[from]), size);
            const int link = (from == 0) != (to == 0) && from != 2 && to != 2;
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(gpumb_compare(g, out, b[from], size, NULL), 0);
            CHECK_INT(r.to_device + r.to_host, link ? (double)size : 0);
            CHECK_CASE(link ? r.pct_peak == 0 : r.pct_link == 0, "%d to %d", from, to);
            gpumb_free(g, out);
        }
    void *plain = malloc(64), *managed = NULL;
    CHECK(VENDOR(MallocManaged)(&managed, 64, VENDOR(MemAttachGlobal)) == VENDOR(Success));
    CHECK_INT(copy(g, gpumb_data(b[0]), plain, 64).to_device, 64);
    CHECK_INT(copy(g, plain, gpumb_data(b[0]), 64).to_host, 64);
    CHECK_INT(copy(g, gpumb_data(b[0]), managed, 64).to_device, 0);
    free(plain);
    CHECK(VENDOR(Free)(managed) == VENDOR(Success));
    CHECK_INT(gpumb_close(g), 0);
}

__global__ void empty()
{
}

static const char *trouble() // why a region would be skipped now; "": it would not
{
    static gpumb_result r;
    GPUMB_TIME(&r)
        GPUMB_LAUNCH(empty, 1, 1, 0);
    return r.reason;
}

// Kernels reach pinned and managed memory, guard zones are watched there, and every advice and
// prefetch is one that the runtime takes.
static void test_reach()
{
    for (gpumb_memory kind : {GPUMB_MEMORY_PINNED, GPUMB_MEMORY_MANAGED}) {
        gpumb *g = open(0);
        gpumb_buffer *out = gpumb_alloc_kind(g, kind, 4);
        for (int past = 0; past < 2; past++) {
            gpumb_set_output(g, out);
            gpumb_set_verify(g, past ? is_poison : is_42, out);
            GPUMB_MEASURE(g, "spin")
                GPUMB_LAUNCH(spin, 1, 1, 0, 1000LL, GPUMB_PTR(unsigned, out) + past);
            CHECK_STR(gpumb_last_result(g)->reason,
                      past ? "wrote past the end of a buffer of 4 bytes, at offset 4" : "");
        }
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
    }
    gpumb *g = open(0);
    gpumb_buffer *b = gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, 1 << 22);
    for (int advice = (int)GPUMB_ADVICE_HOST_ACCESSES; advice >= 0; advice--) {
        gpumb_advise(g, b, (gpumb_advice)advice);
        CHECK_CASE(!trouble()[0], "advice %d: %s", advice, trouble());
    }
    for (gpumb_memory to : {GPUMB_MEMORY_DEVICE, GPUMB_MEMORY_HOST}) {
        GPUMB_MEASURE(g, "prefetch")
            gpumb_prefetch(g, b, to);
        CHECK_STR(gpumb_last_result(g)->reason, "");
    }
    CHECK(!gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, gpumb_get_device(g)->memory_bytes / 3));
    CHECK_CASE(strstr(trouble(), "more than a quarter"), "%s", trouble());
    gpumb_close(g);
    g = open(0);
    CHECK(!gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, (uint64_t)1 << 46));
    CHECK_CASE(strstr(trouble(), "more pinned host memory"), "%s", trouble());
    gpumb_close(g);
}

int main()
{
    test_plain_launch();
    test_elsewhere();
    test_earlier_error();
    test_shared_memory();
    test_two_devices();
    test_kinds();
    test_reach();
    return CHECK_SUMMARY();
}

#endif

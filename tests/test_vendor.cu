// test_vendor.cu - what source meant for GPUs alone may do: kernel<<<>>> in a region, which goes to
// the legacy stream, and contexts on several devices. Nothing of this exists on the CPU.
#include "check.h"

#if !defined(__CUDACC__) && !defined(__HIP__)

int main()
{
    SKIP("kernel<<<>>> and several devices: need a GPU backend");
    return CHECK_SUMMARY();
}

#else

#define GPUMB_IMPLEMENTATION
#define GPUMB_NO_KERNELS
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

int main()
{
    test_plain_launch();
    test_elsewhere();
    test_earlier_error();
    test_shared_memory();
    test_two_devices();
    return CHECK_SUMMARY();
}

#endif

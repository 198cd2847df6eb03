// test_regions.cpp - regions, verification, contexts: what runs when, what is said.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "poison.h"
#include "read_file.h"
#include <math.h>

static gpumb_settings settings() // few samples, so that traces stay short
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    return s;
}

static gpumb *open(const gpumb_settings &s)
{
    fake_reset();
    heard.clear();
    return gpumb_open_settings("test_regions", &s);
}

static void close(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
}

static char csv_path[64]; // of this process alone

static gpumb *open_csv(gpumb_settings s)
{
    s.csv = csv_path;
    return open(s);
}

// ---- break, continue, return ----

static void test_leaving()
{
    gpumb *g = open(settings());
    gpumb_result r;
    int runs = 0, behind = 0;
    GPUMB_TIME(&r) {
        fake_run(1e-3);
        if (runs++ % 2)
            continue;
        behind++;
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.time.count, 10);
    CHECK_NEAR(r.time.median, 1e-3, 1e-5);
    CHECK_INT(behind, (runs + 1) / 2);

    runs = behind = 0;
    GPUMB_TIME(&r) {
        fake_run(1e-3);
        runs++;
        if (runs)
            break;
        behind++;
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.time.count, 10);
    CHECK(runs > 10);
    CHECK_INT(behind, 0);

    // loops of the body's own
    GPUMB_TIME(&r) {
        for (int i = 0; i < 10; i++) {
            if (i == 3)
                continue;
            if (i == 6)
                break;
            fake_run(1e-3);
        }
    }
    CHECK_NEAR(r.time.median, 5e-3, 2e-5);
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
}

static int leave(gpumb *g, int at)
{
    int runs = 0;
    GPUMB_MEASURE(g, "left early") {
        fake_run(1e-3);
        if (++runs == at)
            return 1;
    }
    return 0;
}

static void test_return()
{
    for (int at = 1; at <= 10; at++) { // in the first run, in samples
        gpumb *g = open(settings());
        CHECK_INT(leave(g, at), 1);
        CHECK_STR(heard.c_str(), "");
        gpumb_result r = gpumb_result();
        int runs = 0;
        GPUMB_TIME(&r) // the next call reports, and works
        {
            runs++;
            fake_run(2e-3);
        }
        CHECK(strstr(heard.c_str(), "left early") != NULL);
        CHECK(strstr(heard.c_str(), "return") != NULL);
        CHECK(runs > 10);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_INT(r.time.count, 10);
        CHECK_NEAR(r.time.median, 2e-3, 2e-5);
        heard.clear();
        GPUMB_TIME(&r) {
            fake_run(3e-3);
        }
        CHECK_STR(heard.c_str(), ""); // once
        CHECK_NEAR(r.time.median, 3e-3, 2e-5);
        gpumb_close(g);
        CHECK(fake_clean());
    }
    gpumb *g = open(settings());
    CHECK_INT(leave(g, 5), 1);
    gpumb_close(g); // the next call
    CHECK(strstr(heard.c_str(), "left early") != NULL);
    CHECK(fake_clean());
}

// ---- arguments of macros are evaluated once ----

static int evaluations;

template <class T> static T once(T value)
{
    evaluations++;
    return value;
}

#define CHECK_ONCE(n)                                                                              \
    do {                                                                                           \
        CHECK_INT(evaluations, n);                                                                 \
        evaluations = 0;                                                                           \
    } while (0)

static int launched;

__global__ void count_up(int *to, int by)
{
    if (!blockIdx.x && !threadIdx.x)
        *to += by;
}

__global__ void count_with_barrier(int *to, int by)
{
    __syncthreads();
    if (!blockIdx.x && !threadIdx.x && !threadIdx.y)
        *to += by;
}

static void measure(gpumb *g, int *runs)
{
    GPUMB_MEASURE(g, "region") {
        ++*runs;
        fake_run(1e-3);
    }
}

static void test_evaluations()
{
    gpumb *g = open(settings());
    gpumb_result r;
    const int64_t values[] = {1, 2, 3};
    const char *const names[] = {"one", "two"};
    gpumb_buffer *buffer = gpumb_alloc(g, 100);

    GPUMB_MEASURE(once(g), once("name")) {
        fake_run(1e-3);
    }
    CHECK_ONCE(2);
    GPUMB_TIME(once(&r)) {
        fake_run(1e-3);
    }
    CHECK_ONCE(1);
    GPUMB_INTERLEAVE(once(g)) {
        GPUMB_MEASURE(g, "a") {
            fake_run(1e-3);
        }
        GPUMB_MEASURE(g, "b") {
            fake_run(1e-3);
        }
    }
    CHECK_ONCE(1);
    CHECK(GPUMB_PTR(char, once(buffer)) != NULL);
    CHECK_ONCE(1);

    int runs = 0;
    GPUMB_SWEEP_POW2(once(g), a, once(1), once(8)) {
        measure(g, &runs);
    }
    CHECK_ONCE(3);
    GPUMB_SWEEP_FACTOR(once(g), b, once(1), once(9), once(3)) {
        measure(g, &runs);
    }
    CHECK_ONCE(4);
    GPUMB_SWEEP_RANGE(once(g), c, once(1), once(3), once(1)) {
        measure(g, &runs);
    }
    CHECK_ONCE(4);
    GPUMB_SWEEP_LIST(once(g), d, once<int64_t>(1), once<int64_t>(5)) {
        measure(g, &runs);
    }
    CHECK_ONCE(3);
    GPUMB_SWEEP_ARRAY(once(g), e, once(values), once<size_t>(3)) {
        measure(g, &runs);
    }
    CHECK_ONCE(3);
    GPUMB_SWEEP_NAMES(once(g), f, once("one"), once("two")) {
        measure(g, &runs);
    }
    CHECK_ONCE(3);
    GPUMB_SWEEP_STRINGS(once(g), h, once(names), once<size_t>(2)) {
        measure(g, &runs);
    }
    CHECK_ONCE(3);
    CHECK(runs > 10 * (4 + 3 + 3 + 2 + 3 + 2 + 2));
    CHECK_STR(heard.c_str(), "");

    // the launch itself: once a run, and all its arguments once
    evaluations = launched = runs = 0;
    GPUMB_TIME(&r) {
        runs++;
        fake_run(1e-3);
        GPUMB_LAUNCH(count_up, once(2), once(32), once<uint64_t>(0), once(&launched), once(3));
    }
    CHECK_INT(evaluations, 5 * runs);
    CHECK_INT(launched, 3 * runs);
    CHECK_STR(r.kernel, "count_up");
    evaluations = launched = runs = 0;
    GPUMB_TIME(&r) {
        runs++;
        fake_run(1e-3);
        GPUMB_LAUNCH_BARRIER(count_with_barrier, once(dim3(2, 1, 1)), once(dim3(4, 8, 1)),
                             once(64u), once(&launched), once(3));
    }
    CHECK_INT(evaluations, 5 * runs);
    CHECK_INT(launched, 3 * runs);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    close(g, 0);
}

// ---- verification ----

struct observer {
    gpumb_buffer *out[8];
    int outputs;
    std::string trace; // Poisoned or -, then Run; Check
    int checks, fails_at;
    gpumb *g;
};

static int whole(const gpumb_buffer *b, unsigned char byte)
{
    const unsigned char *data = (const unsigned char *)gpumb_data(b);
    for (uint64_t i = 0; i < gpumb_size(b); i++)
        if (data[i] != byte)
            return 0;
    return 1;
}

static void observe_run(observer *o)
{
    int poisoned = o->outputs > 0;
    for (int i = 0; i < o->outputs; i++) {
        poisoned = poisoned && is_poison(gpumb_data(o->out[i]), gpumb_size(o->out[i]), 0);
        memset(gpumb_data(o->out[i]), 0x11, (size_t)gpumb_size(o->out[i]));
    }
    o->trace += poisoned ? "PR" : "R";
    fake_run(1e-3);
}

static int observe_check(gpumb *g, void *user)
{
    observer *o = (observer *)user;
    o->trace += "C";
    CHECK(g == o->g);
    CHECK(fake_now >= fake_busy); // what is checked is complete
    for (int i = 0; i < o->outputs; i++)
        CHECK(whole(o->out[i], 0x11));
    if (++o->checks != o->fails_at)
        return 1;
    gpumb_reason(g, "element %d is wrong", 7);
    return 0;
}

static void start_observing(observer *o, gpumb *g, int outputs, int fails_at)
{
    o->g = g;
    o->outputs = outputs;
    o->checks = 0;
    o->fails_at = fails_at;
    o->trace = "";
    for (int i = 0; i < outputs; i++) {
        o->out[i] = gpumb_alloc(g, 1000 + (uint64_t)i);
        memset(gpumb_data(o->out[i]), 0x11, 1000);
        gpumb_set_output(g, o->out[i]);
    }
    gpumb_set_verify(g, observe_check, o);
}

static void test_verification()
{
    for (int outputs = 1; outputs <= 8; outputs += 7) {
        gpumb_settings s = settings();
        s.warmup_s = 0.01;
        gpumb *g = open(s);
        observer o;
        gpumb_result r;
        start_observing(&o, g, outputs, 0);
        GPUMB_TIME(&r) {
            observe_run(&o);
        }
        const size_t length = o.trace.size();
        if (CHECK(length > 6 + 10)) {
            CHECK_STR(o.trace.substr(0, 3).c_str(), "PRC");
            CHECK_STR(o.trace.substr(length - 3).c_str(), "PRC");
            CHECK_STR(o.trace.substr(3, length - 6).c_str(), std::string(length - 6, 'R').c_str());
        }
        CHECK_INT(r.verified, 1);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_STR(r.reason, "");
        close(g, 0);
    }

    // wrong at once: not timed, and the next is not concerned
    gpumb *g = open(settings());
    observer o;
    gpumb_result r;
    start_observing(&o, g, 1, 1);
    GPUMB_MEASURE(g, "wrong") {
        observe_run(&o);
    }
    CHECK_STR(o.trace.c_str(), "PRC");
    r = *gpumb_last_result(g);
    CHECK_INT(r.status, GPUMB_STATUS_FAILED);
    CHECK_INT(r.verified, 0);
    CHECK(strstr(r.reason, "element 7 is wrong") != NULL);
    CHECK_INT(r.time.count, 0);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_STR(r.reason, "");
    close(g, GPUMB_EXIT_FAILED);

    // wrong after the samples only
    g = open(settings());
    start_observing(&o, g, 1, 2);
    GPUMB_MEASURE(g, "wrong later") {
        observe_run(&o);
    }
    r = *gpumb_last_result(g);
    CHECK_INT(r.status, GPUMB_STATUS_FAILED);
    CHECK_INT(r.verified, 0);
    CHECK_INT(o.checks, 2);
    CHECK(strstr(r.reason, "element 7 is wrong") != NULL);
    close(g, GPUMB_EXIT_FAILED);

    // no reason is a reason too
    g = open(settings());
    gpumb_set_verify(
        g, [](gpumb *, void *) { return 0; }, NULL);
    GPUMB_MEASURE(g, "wrong") {
        fake_run(1e-3);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_FAILED);
    CHECK(gpumb_last_result(g)->reason[0]);
    close(g, GPUMB_EXIT_FAILED);

    // a body that does nothing leaves the poison
    g = open(settings());
    gpumb_buffer *out = gpumb_alloc(g, 999);
    memset(gpumb_data(out), 0x11, 999);
    gpumb_set_output(g, out);
    gpumb_set_verify(
        g, [](gpumb *, void *b) { return whole((gpumb_buffer *)b, 0x11); }, out);
    GPUMB_MEASURE(g, "idle") {
        fake_run(1e-3);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_FAILED);
    CHECK(is_poison(gpumb_data(out), gpumb_size(out), 0));
    close(g, GPUMB_EXIT_FAILED);
}

static int right(gpumb *, void *)
{
    return 1;
}

static int wrong(gpumb *g, void *)
{
    gpumb_reason(g, "element 7");
    return 0;
}

// What one region writes behind several buffers, or with a wrong result, is not held against the
// next.
static void test_guards_of_next()
{
    for (const int is_wrong : {0, 1}) {
        gpumb *g = open(settings());
        gpumb_buffer *const b[] = {gpumb_alloc(g, 64), gpumb_alloc(g, 64)};
        gpumb_set_verify(g, is_wrong ? wrong : right, NULL);
        GPUMB_MEASURE(g, "beyond") {
            fake_run(1e-3);
            GPUMB_PTR(char, b[0])[64] = GPUMB_PTR(char, b[1])[64] = 1;
        }
        const gpumb_result *r = gpumb_last_result(g);
        CHECK_INT(r->status, GPUMB_STATUS_FAILED);
        CHECK_STR(r->reason, is_wrong ? "element 7"
                                      : "wrote past the end of a buffer of 64 bytes, at offset 64");
        gpumb_set_verify(g, right, NULL);
        GPUMB_MEASURE(g, "next")
            fake_run(1e-3);
        CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
        close(g, GPUMB_EXIT_FAILED);
    }
}

// One byte behind a buffer is enough, the first of the zone or the last; the last inside is not.
static void test_guard()
{
    static const uint64_t sizes[] = {1, 255, 256, 1000, 4096, 1000003};
    for (int i = 0; i < 6; i++)
        for (int beyond : {0, 1, (int)GPUMBI_GUARD})
            for (int output = 0; output < 2; output++) {
                gpumb *g = open(settings());
                gpumb_buffer *b = gpumb_alloc(g, sizes[i]), *next = gpumb_alloc(g, 64);
                CHECK((uintptr_t)gpumb_data(b) % 256 == 0);
                CHECK_INT(gpumb_size(b), sizes[i]);
                unsigned char *last = GPUMB_PTR(unsigned char, b) + (sizes[i] - 1);
                const unsigned char other = (unsigned char)~last[beyond];
                if (output)
                    gpumb_set_output(g, b);
                gpumb_set_verify(g, right, NULL);
                GPUMB_MEASURE(g, "guard") {
                    fake_run(1e-3);
                    last[beyond] = other;
                }
                CHECK_INT(gpumb_last_result(g)->status,
                          beyond ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
                CHECK_INT(gpumb_last_result(g)->verified, !beyond);
                CHECK(!beyond == !gpumb_last_result(g)->reason[0]);
                gpumb_set_verify(g, right, NULL);
                GPUMB_MEASURE(g, "behind") // the zone is whole again
                {
                    fake_run(1e-3);
                }
                CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
                gpumb_free(g, next);
                close(g, beyond ? GPUMB_EXIT_FAILED : 0);
            }
}

// ---- what is set is set for one region ----

static void count_reset(gpumb *, void *user)
{
    ++*(int *)user;
}

static void test_forgetting()
{
    gpumb *g = open(settings());
    int resets = 0;
    observer o;
    gpumb_result first, second;
    start_observing(&o, g, 1, 0);
    gpumb_set_bytes(g, 1e6);
    gpumb_set_flop(g, 1e5);
    gpumb_set_footprint(g, 4096);
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    gpumb_set_reset(g, count_reset, &resets);
    GPUMB_TIME(&first) {
        observe_run(&o);
    }
    CHECK(resets > 10);
    CHECK_INT(first.timing, GPUMB_TIMING_HOST);
    CHECK(first.gbps > 0 && first.gflops > 0 && first.footprint_bytes == 4096);
    CHECK_INT(first.verified, 1);
    const int before = resets;
    memset(gpumb_data(o.out[0]), 0x22, 1000);
    o.trace = "";
    GPUMB_TIME(&second) {
        CHECK(whole(o.out[0], 0x22));
        fake_run(1e-3);
    }
    CHECK_INT(resets, before);
    CHECK_STR(o.trace.c_str(), "");
    CHECK_INT(second.verified, -1);
    CHECK(second.timing != GPUMB_TIMING_HOST);
    CHECK_NEAR(second.bytes + second.flop + second.gbps + second.gflops, 0, 0);
    CHECK_INT(second.footprint_bytes, 0);
    CHECK_STR(second.cache, "");

    // forgotten too when the region is skipped
    gpumb_set_bytes(g, 1e6);
    gpumb_skip(g, "not here");
    int runs = 0;
    GPUMB_MEASURE(g, "skipped") {
        runs++;
    }
    CHECK_INT(runs, 0);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(gpumb_last_result(g)->reason, "not here");
    GPUMB_MEASURE(g, "measured") {
        fake_run(1e-3);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
    CHECK_STR(gpumb_last_result(g)->kernel, "measured");
    CHECK_NEAR(gpumb_last_result(g)->bytes, 0, 0);
    close(g, 0);
}

// What can't be said of a region fails it, and no figure comes of it.
static void test_misstated()
{
    static const double wrong[] = {-5, -1e-300, NAN, -NAN, INFINITY, -INFINITY, 1e31};
    static const char *const name[] = {"set_bytes", "set_flop", "set_expected", "set_expected"};
    gpumb *g = open(settings());
    for (double value : wrong)
        for (int which = 0; which < 4; which++) {
            int runs = 0;
            gpumb_set_bytes(g, which ? 1e6 : value);
            gpumb_set_flop(g, which == 1 ? value : 1e6);
            gpumb_set_expected(g, which == 2 ? value : 1, which == 3 ? value : 0.5);
            GPUMB_MEASURE(g, "misstated")
                runs++;
            const gpumb_result *r = gpumb_last_result(g);
            CHECK_INT(runs, 0);
            CHECK_INT(r->status, GPUMB_STATUS_FAILED);
            CHECK_CASE(strstr(r->reason, name[which]) != NULL, "%s", r->reason);
            CHECK(r->bytes >= 0 && r->flop >= 0 && r->reference >= 0 && r->expected_pct >= 0);
            CHECK(r->bytes <= 1e6 && r->flop <= 1e6 && r->reference <= 1);
        }
    gpumb_set_bytes(g, 0); // says nothing
    gpumb_set_expected(g, 0, 0);
    GPUMB_MEASURE(g, "nothing is stated")
        fake_run(1e-3);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
    gpumb_skip(g, "for another reason");
    gpumb_set_bytes(g, NAN);
    GPUMB_MEASURE(g, "skipped")
        fake_run(1e-3);
    CHECK_STR(gpumb_last_result(g)->reason, "for another reason");
    gpumb_result r;
    gpumb_set_bytes(g, -1);
    GPUMB_TIME(&r)
        fake_run(1e-3);
    CHECK_INT(r.status, GPUMB_STATUS_FAILED);
    close(g, GPUMB_EXIT_FAILED);
}

// A row without bytes behind one with them: the setting holds for one region, which is said once.
static void test_unstated()
{
    for (int second = 0; second < 5; second++) {
        gpumb *g = open(settings());
        for (int region = 0; region < 4; region++) {
            if (second == 0 ? region == 0 : second < 4)
                gpumb_set_bytes(g, second == 1 ? 1e6 : 1e6 * !region);
            if (second == 2 && region)
                gpumb_set_flop(g, 1e6);
            if (second == 3 && region)
                gpumb_skip(g, "not here");
            GPUMB_MEASURE(g, region ? "second" : "first")
                fake_run(1e-3);
        }
        const char *said = strstr(heard.c_str(), "second states no bytes");
        CHECK_INT(said != NULL, second == 0);
        CHECK(!said || !strstr(said + 8, "states no bytes"));
        close(g, 0);
    }
}

// A body may find out itself that it can't run here.
static void test_skip_inside()
{
    gpumb *g = open(settings());
    int runs = 0;
    GPUMB_MEASURE(g, "skips itself") {
        runs++;
        gpumb_skip(g, "needs %d things", 3);
    }
    CHECK_INT(runs, 1);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(gpumb_last_result(g)->reason, "needs 3 things");
    GPUMB_MEASURE(g, "refused") {
        GPUMB_LAUNCH(count_up, 1, 1000000, 0, &launched, 1);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK(strstr(gpumb_last_result(g)->reason, "count_up") != NULL);
    gpumb_buffer *b = gpumb_alloc(g, fake_memory + 1);
    CHECK(b == NULL);
    gpumb_fill(g, b, GPUMB_FILL_BITS, 1); // all of them take the NULL
    gpumb_poison(g, b);
    gpumb_set_output(g, b);
    CHECK(gpumb_data(b) == NULL);
    CHECK_INT(gpumb_size(b), 0);
    GPUMB_MEASURE(g, "too large") {
        runs++;
    }
    CHECK_INT(runs, 1);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK(gpumb_last_result(g)->reason[0]);
    gpumb_free(g, b);
    GPUMB_MEASURE(g, "behind") { // may need it as well
        runs++;
    }
    CHECK_INT(runs, 1);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    close(g, GPUMB_EXIT_FAILED); // nothing was measured
}

// A buffer that is missing in one pass of a sweep is missed by all regions of that pass and by none
// of the next; one that is missing from outside is missed by all passes.
static void test_missing_buffers()
{
    gpumb *g = open_csv(settings());
    GPUMB_SWEEP_LIST(g, share, 1, 4, 2) {
        gpumb_buffer *b = gpumb_alloc(g, fake_memory / 2 * (uint64_t)share);
        GPUMB_MEASURE(g, "first")
            fake_run(1e-3);
        GPUMB_MEASURE(g, "second")
            fake_run(1e-3);
        gpumb_free(g, b);
    }
    CHECK(gpumb_alloc(g, fake_memory + 1) == NULL);
    GPUMB_SWEEP_LIST(g, later, 1, 2)
        GPUMB_MEASURE(g, "third")
            fake_run(1e-3);
    close(g, 0);
    if (!CHECK_INT(fake_csv_rows(csv_path), 8))
        return;
    for (int row = 0; row < 8; row++) {
        CHECK_STR(fake_csv(csv_path, row, "status"), row < 2 ? "ok" : "skipped");
        CHECK(row < 2 || strstr(fake_csv(csv_path, row, "reason"), "memory") != NULL);
    }
}

// ---- contexts ----

static void test_contexts()
{
    gpumb_result r;
    fake_reset();
    heard.clear();
    GPUMB_TIME(&r) // opens the default one
    {
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_NEAR(r.time.median, 1e-3, 1e-5);
    gpumb_buffer *b = gpumb_alloc(NULL, 100);
    CHECK(b != NULL);
    gpumb_fill(NULL, b, GPUMB_FILL_F32, 1);
    gpumb_set_bytes(NULL, 1e6);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_NEAR(r.bytes, 1e6, 0);
    CHECK(gpumb_ok(NULL));
    CHECK(gpumb_get_device(NULL) != NULL);
    CHECK_INT(gpumb_close(NULL), 0);
    CHECK(fake_clean());

    // another one: rates come along with a copy, as they did with what is stated
    b = gpumb_alloc(NULL, 100);
    gpumb_buffer *pinned = gpumb_alloc_kind(NULL, GPUMB_MEMORY_PINNED, 100);
    GPUMB_TIME(&r) {
        gpumb_memcpy(NULL, gpumb_data(b), gpumb_data(pinned), 100);
        fake_run(1e-3);
    }
    CHECK_NEAR(r.to_device, 100, 0);
    CHECK_INT(gpumb_close(NULL), 0);
    CHECK(fake_clean());
    CHECK_STR(heard.c_str(), "");

    // NULL stands for the one that was opened last
    gpumb *one = open(settings());
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 20;
    gpumb *two = gpumb_open_settings("two", &s);
    CHECK(one != two);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.time.count, 20);
    CHECK(gpumb_get_settings(NULL) == gpumb_get_settings(two));
    gpumb_set_bytes(one, 1e6);
    GPUMB_MEASURE(two, "in two") {
        fake_run(2e-3);
    }
    GPUMB_MEASURE(one, "in one") {
        fake_run(3e-3);
    }
    CHECK_STR(gpumb_last_result(one)->kernel, "in one");
    CHECK_STR(gpumb_last_result(two)->kernel, "in two");
    CHECK_STR(gpumb_last_result(one)->bench, "test_regions");
    CHECK_STR(gpumb_last_result(two)->bench, "two");
    CHECK_INT(gpumb_last_result(one)->time.count, 10);
    CHECK_INT(gpumb_last_result(two)->time.count, 20);
    CHECK_NEAR(gpumb_last_result(one)->bytes, 1e6, 0);
    CHECK_NEAR(gpumb_last_result(two)->bytes, 0, 0);
    CHECK_NEAR(gpumb_last_result(one)->time.median, 3e-3, 2e-5);
    gpumb_buffer *of_one = gpumb_alloc(one, 100);
    CHECK(gpumb_stream(one) != gpumb_stream(two));
    CHECK_INT(gpumb_close(two), 0);
    CHECK(gpumb_data(of_one) != NULL);
    memset(gpumb_data(of_one), 1, 100); // still there
    CHECK(gpumb_get_settings(NULL) == gpumb_get_settings(one));
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.time.count, 10);

    // closed in the order in which they were opened
    two = gpumb_open_settings("two", &s);
    CHECK_INT(gpumb_close(one), 0);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.time.count, 20);
    CHECK_INT(gpumb_close(two), 0);
    CHECK(fake_clean());
    CHECK_STR(heard.c_str(), "");
}

// Each context works on its own device, whichever was used before.
static void test_devices()
{
    fake_reset();
    fake_devices = 2;
    gpumb_settings s = settings();
    gpumb *zero = gpumb_open_settings("zero", &s);
    s.device = 1;
    gpumb *one = gpumb_open_settings("one", &s);
    CHECK_INT(fake_selected, 1);
    gpumb_buffer *b = gpumb_alloc(zero, 100);
    CHECK(b != NULL);
    CHECK_INT(fake_selected, 0);
    GPUMB_MEASURE(one, "in one") {
        CHECK_INT(fake_selected, 1);
        fake_run(1e-3);
    }
    GPUMB_MEASURE(zero, "in zero") {
        CHECK_INT(fake_selected, 0);
        fake_run(1e-3);
    }
    CHECK_INT(gpumb_close(one), 0);
    CHECK_INT(fake_selected, 0); // of the one that is current now
    one = gpumb_open_settings("one", &s);
    CHECK_INT(gpumb_close(zero), 0);
    CHECK_INT(fake_selected, 1);
    CHECK_INT(gpumb_close(one), 0);
    CHECK(fake_clean());
}

// Right after the first run and wrong after the last: the advice is a reset, if there is none.
static int right_once(gpumb *g, void *user)
{
    (void)g;
    return ++*(int *)user == 1;
}

static void no_reset(gpumb *g, void *user)
{
    (void)g, (void)user;
}

static void test_advice()
{
    for (int reset = 0; reset < 2; reset++) {
        gpumb *g = open(settings());
        int checks = 0;
        gpumb_set_verify(g, right_once, &checks);
        if (reset)
            gpumb_set_reset(g, no_reset, NULL);
        GPUMB_MEASURE(g, "saxpy") {
            fake_run(1e-3);
        }
        CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_FAILED);
        CHECK_INT(strstr(heard.c_str(), "saxpy: right after its first run") != NULL, !reset);
        CHECK_INT(strstr(heard.c_str(), "gpumb_set_reset()") != NULL, !reset);
        close(g, GPUMB_EXIT_FAILED);
    }
}

// What the program left behind as an error is not the region's.
static void test_earlier_error()
{
    gpumb *g = open(settings());
    fake_pending = FAKE_REFUSED;
    GPUMB_MEASURE(g, "innocent") {
        fake_run(1e-3);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
    close(g, 0);
}

// Exceptions that leave a body, a lane or a sweep: a message each names them, and what follows is
// measured, or said not to be.
static void measure_after(gpumb *g)
{
    GPUMB_MEASURE(g, "after") {
        fake_run(1e-3);
    }
}

static int throws_at;

static void throwing_hook(gpumb *, void *user)
{
    if (--*static_cast<int *>(user) == 0)
        throw 1;
}

static int throwing_check(gpumb *g, void *user)
{
    throwing_hook(g, user);
    return 1;
}

// An interleave that is left between its regions takes those after it along, in its benchmark.
static void leave_interleave(gpumb *g)
{
    try {
        GPUMB_INTERLEAVE(g) {
            measure_after(g);
            throw 1;
        }
    } catch (int) {
    }
    measure_after(g);
}

static int rows_next;

static void measure_next(gpumb *g)
{
    measure_after(g);
    rows_next = (int)gpumb_row_count(g);
}

static void test_exceptions()
{
    static const gpumb_benchmark both[] = {{"left", "", leave_interleave},
                                           {"next", "", measure_next}};
    gpumb *g = open(settings());
    try {
        GPUMB_MEASURE(g, "throws") {
            throw 1;
        }
    } catch (int) {
    }
    measure_after(g);
    CHECK(strstr(heard.c_str(), "region \"throws\" was left by return, goto or an exception"));
    CHECK_INT(gpumb_row_count(g), 1);
    CHECK_STR(gpumb_last_result(g)->kernel, "after");
    close(g, GPUMB_EXIT_FAILED);

    g = open(settings());
    int runs = 0;
    try {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "throws") {
                if (++runs == 5)
                    throw 1;
                fake_run(1e-3);
            }
        }
    } catch (int) {
    }
    CHECK_INT(runs, 5);
    measure_after(g);
    CHECK(strstr(heard.c_str(), "region \"throws\" was left by return, goto or an exception"));
    CHECK_INT(gpumb_row_count(g), 1);
    CHECK_STR(gpumb_last_result(g)->kernel, "after");
    close(g, GPUMB_EXIT_FAILED);

    for (int how = 0; how < 8; how++) { // one of its hooks, in its first run and in a later one
        g = open(settings());
        throws_at = how & 1 ? 2 : 1;
        try {
            if (how & 2)
                gpumb_set_verify(g, throwing_check, &throws_at);
            else
                gpumb_set_reset(g, throwing_hook, &throws_at);
            GPUMB_MEASURE(g, "throws") {
                fake_run(1e-3);
            }
            CHECK(0);
        } catch (int) {
        }
        CHECK_STR(heard.c_str(), "");
        if (how & 4) {
            close(g, GPUMB_EXIT_FAILED); // the next call
        } else {
            measure_after(g);
            CHECK_INT(gpumb_row_count(g), 1);
            CHECK_STR(gpumb_last_result(g)->kernel, "after");
            CHECK_INT(gpumb_last_result(g)->verified, -1);
            close(g, GPUMB_EXIT_FAILED);
        }
        CHECK(strstr(heard.c_str(), "region \"throws\" was left by return, goto or an exception"));
    }

    // Out of two sweeps, in the walk through them or in a pass, before a region or after it: one
    // line for both, and what was set for a region that did not come, the next one does not take.
    for (int how = 0; how < 4; how++) {
        const int enumerates = how & 1, described = how & 2;
        g = open(settings());
        int unused = 100;
        try {
            GPUMB_SWEEP_LIST(g, n, 1, 2, 3)
                GPUMB_SWEEP_LIST(g, m, 7, 8) {
                    if (described && n == 2 && m == 7)
                        gpumb_set_verify(g, throwing_check, &unused);
                    if (described && n == 2 && (enumerates || gpumb_row_count(g) == 2))
                        throw 1;
                    GPUMB_MEASURE(g, "swept") {
                        fake_run(1e-3);
                    }
                    if (n == 2 && (enumerates || gpumb_row_count(g) == 3))
                        throw 1;
                }
        } catch (int) {
        }
        const size_t finished = enumerates ? 0 : described ? 2 : 3;
        CHECK_INT(gpumb_row_count(g), finished);
        measure_after(g);
        CHECK_INT(gpumb_last_result(g)->verified, -1);
        CHECK_INT(g->rows.at[finished]->point.depth, 0);
        GPUMB_SWEEP_LIST(g, k, 1, 2)
            measure_after(g);
        CHECK_INT(gpumb_row_count(g), finished + 3);
        CHECK_INT(unused, 100);
        close(g, GPUMB_EXIT_FAILED);
        const char *line = strstr(heard.c_str(), "sweep over m was left by break, return, goto or "
                                                 "an exception");
        CHECK(line && !strstr(line + 20, "was left"));
        CHECK(!strstr(heard.c_str(), "sweep over n"));
    }

    // out of the inner one alone, each time: the outer one goes on
    g = open(settings());
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        heard.clear();
        try {
            GPUMB_SWEEP_LIST(g, m, 7, 8) {
                measure_after(g);
                throw 1;
            }
        } catch (int) {
        }
        CHECK(strstr(heard.c_str(), "sweep over m was left"));
    }
    CHECK_INT(gpumb_row_count(g), 2);
    close(g, GPUMB_EXIT_FAILED);

    g = open(settings());
    CHECK_INT(gpumb_run(g, both, 2), GPUMB_EXIT_FAILED);
    CHECK(strstr(heard.c_str(), "GPUMB_INTERLEAVE was left by break, return, goto or an exc"));
    CHECK_INT(rows_next, 1);
}

// Text that is too long is cut, not inside a character.
static void test_cut_names()
{
    char text[8];
    gpumbi_copy_text(text, sizeof text, "123456\xC3\xA9");
    CHECK_STR(text, "123456");
    gpumbi_copy_text(text, sizeof text, "12345\xE2\x82\xAC");
    CHECK_STR(text, "12345");
    gpumbi_copy_text(text, sizeof text, "12345\xC3\xA9");
    CHECK_STR(text, "12345\xC3\xA9");
    gpumbi_copy_text(text, sizeof text, "12345678");
    CHECK_STR(text, "1234567");
    gpumbi_copy_text(text, sizeof text, NULL);
    CHECK_STR(text, "");
}

// A stream that is handed in is used, and left alone.
static void test_stream()
{
    gpumb *g = open(settings());
    void *own = gpumb_stream(g), *mine = NULL;
    CHECK(own != NULL);
    CHECK_INT(gpumbi_dev_stream_create(&mine), 0);
    gpumb_set_stream(g, mine);
    CHECK(gpumb_stream(g) == mine);
    gpumb_result r;
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_close(g), 0);
    CHECK_INT(fake_live_streams, 1);
    gpumbi_dev_stream_destroy(mine);
    CHECK(fake_clean());
}

// One of another device ends the context, whichever way it is named; its own stays.
static void test_stream_of_another_device()
{
    static const char says[] =
        "a stream of device 1 can't be timed on device 0: choose one by --device";
    for (int named = 0; named < 2; named++)
        for (int ordinal = -1; ordinal < 2; ordinal++) {
            gpumb *g = open(settings());
            void *own = gpumb_stream(g), *mine = NULL;
            CHECK_INT(gpumbi_dev_stream_create(&mine), 0);
            fake_stream_ordinal = ordinal;
            if (named)
                gpumb_set_streams(g, &mine, 1);
            else
                gpumb_set_stream(g, mine);
            CHECK(gpumb_stream(g) == (ordinal == 1 || named ? own : mine));
            CHECK_INT(gpumb_ok(g), ordinal != 1);
            CHECK((strstr(heard.c_str(), says) != NULL) == (ordinal == 1));
            heard.clear();
            gpumb_result r;
            GPUMB_TIME(&r) {
                fake_run(1e-3);
            }
            CHECK_INT(r.status == GPUMB_STATUS_OK, ordinal != 1);
            fake_stream_ordinal = 1;
            gpumb_set_stream(g, NULL); // the legacy stream is of any device
            CHECK_INT(gpumb_close(g), ordinal == 1 ? GPUMB_EXIT_USAGE : 0);
            gpumbi_dev_stream_destroy(mine);
            CHECK(fake_clean());
        }
}

// ---- work on a stream that the library does not know of ----

static void test_elsewhere()
{
    for (double run_s : {5e-6, 130e-6, 5e-3})
        for (double warmup_s : {-1.0, 0.1})
            for (int joined = 0; joined < 2; joined++) {
                gpumb_settings s = settings();
                s.warmup_s = warmup_s;
                gpumb *g = open(s);
                gpumb_result r;
                GPUMB_TIME(&r) {
                    fake_run_elsewhere(run_s);
                    if (joined) // by an event that the known stream waits for
                        fake_busy = fake_elsewhere;
                }
                CHECK_INT(r.status, joined ? GPUMB_STATUS_OK : GPUMB_STATUS_FAILED);
                CHECK((strstr(r.reason, "gpumb_set_stream()") == NULL) == joined);
                CHECK_NEAR(r.first_launch_s, run_s, 3e-6);
                if (joined)
                    CHECK_NEAR(r.time.median, run_s, 3e-6);
                close(g, joined ? 0 : 1);
            }
    // the host's clock stops when the whole device is idle
    gpumb *g = open(settings());
    gpumb_result r;
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_TIME(&r) {
        fake_run_elsewhere(130e-6);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_NEAR(r.time.median, 130e-6, 3e-6);

    // once is chance: the host was interrupted, or what the program did before goes on
    int runs = 0;
    GPUMB_TIME(&r) {
        if (!runs++)
            fake_run_elsewhere(1e-3);
        fake_run(100e-6);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    close(g, 0);
}

int main()
{
    snprintf(csv_path, sizeof csv_path, "build/test_regions.%d.csv", (int)getpid());
    test_leaving();
    test_return();
    test_evaluations();
    test_verification();
    test_guard();
    test_guards_of_next();
    test_forgetting();
    test_skip_inside();
    test_misstated();
    test_unstated();
    test_missing_buffers();
    test_contexts();
    test_devices();
    test_advice();
    test_earlier_error();
    test_exceptions();
    test_cut_names();
    test_stream();
    test_stream_of_another_device();
    test_elsewhere();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

// test_trust.cpp - what makes a figure trustworthy, on a scripted clock: the way of timing, cold
// caches, drawn orders, every flag, the device's state, regions compared in rounds, progress.
#include "hear.h"
#include "no_disk.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#include "gpumb.h"

// The library's own launches pass by here: 1 if the test has done what the kernel would do.
static int launched(const char *launch, uint64_t blocks);
#undef GPUMB_LAUNCH
#define GPUMB_LAUNCH(kernel, blocks, ...)                                                          \
    do {                                                                                           \
        if (!launched(#kernel " " #__VA_ARGS__, (uint64_t)(blocks)))                               \
            gpumbi_kernel(#kernel, 0, [=]() { return kernel; })(blocks, __VA_ARGS__);              \
    } while (0)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_record fake_verb_record // the tests look on, see below
#define gpumbi_dev_elapsed fake_verb_elapsed
#define gpumbi_dev_graph_launch fake_verb_graph_launch
#define gpumbi_dev_state fake_verb_state
#include "fake.h"
#undef gpumbi_dev_record
#undef gpumbi_dev_elapsed
#undef gpumbi_dev_graph_launch
#undef gpumbi_dev_state

#include "check.h"
#include "random.h"
#include "printed.h"
#include "read_file.h"
#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// ---- what the tests see and do behind the library's back ----

static std::string trace;       // E: eviction, r: event, and what bodies add
static double eviction_s;       // of the device
static double empty_s, block_s; // an empty kernel, and each block of it; negative: no trace of it
static int spoil;               // so many times from now come out as 0
static int latched;             // throttling since the state was last asked for
static std::function<void(const fake_graph *)> on_graph;

static int launched(const char *launch, uint64_t blocks)
{
    if (strstr(launch, "GPUMBI_COMPARE")) { // nobody compares here: an eviction
        trace += 'E';
        fake_run(eviction_s);
        return 1;
    }
    if (!strstr(launch, "gpumbi_empty_kernel"))
        return 0;
    if (empty_s >= 0)
        fake_run(empty_s + block_s * (double)blocks);
    return 1;
}

static int gpumbi_dev_record(void *event, void *stream)
{
    trace += 'r';
    return fake_verb_record(event, stream);
}

static int gpumbi_dev_elapsed(void *start, void *stop, double *seconds)
{
    const int error = fake_verb_elapsed(start, stop, seconds);
    if (spoil > 0 && spoil--)
        *seconds = 0;
    return error;
}

static int gpumbi_dev_graph_launch(void *graph, void *stream)
{
    if (on_graph)
        on_graph((const fake_graph *)graph);
    return fake_verb_graph_launch(graph, stream);
}

// As NVML's counters are used: what held the clock down since the last call.
static void gpumbi_dev_state(void *sensors, gpumbi_state *state)
{
    fake_verb_state(sensors, state);
    if (sensors && state->throttle >= 0)
        state->throttle |= latched;
    latched = 0;
}

static __global__ void nothing(int)
{
}

// As GPUMB_LAUNCH, which would let the emulation work through its threads.
static void known_run(double seconds, uint64_t grid = 1, uint64_t block = 32)
{
    const gpumbi_shape shape = {"nothing", {grid, 1, 1}, {block, 1, 1}, 0, 0};
    if (gpumbi_launch_begin(&shape, (const void *)nothing))
        gpumbi_launch_end();
    fake_run(seconds);
}

// ---- contexts ----

static std::string csv_path, json_path; // of this process alone

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.csv = csv_path.c_str();
    return s;
}

static gpumb_settings brief() // ten samples and no warm-up: traces stay short
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    return s;
}

static void reset()
{
    fake_reset();
    heard.clear();
    trace.clear();
    eviction_s = 300e-6;
    empty_s = block_s = -1;
    spoil = latched = 0;
    on_graph = nullptr;
    random_state = 1;
}

static gpumb_device *device(gpumb *g)
{
    return (gpumb_device *)gpumb_get_device(g);
}

// What the emulated empty kernel does not show.
static gpumb *open_after_reset(const gpumb_settings &s)
{
    gpumb *g = gpumb_open_settings("test_trust", &s);
    if (empty_s < 0)
        device(g)->graph_interval_s = fake_node_cost;
    trace.clear();
    return g;
}

static gpumb *open(const gpumb_settings &s)
{
    reset();
    return open_after_reset(s);
}

static void close(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    if (!CHECK(fake_clean()))
        printf("    %d streams, %d events, %d graphs, %d blocks, %d misuses\n", fake_live_streams,
               fake_live_events, fake_live_graphs, fake_live_blocks, fake_misuses);
}

static std::string column(const char *name, int row = 0)
{
    return fake_csv(csv_path.c_str(), row, name);
}

static double number(const char *name, int row = 0)
{
    return atof(column(name, row).c_str());
}

static int rows()
{
    return fake_csv_rows(csv_path.c_str());
}

static bool flagged(const char *flag, int row = 0)
{
    return (";" + column("flags", row) + ";").find(std::string(";") + flag + ";") !=
           std::string::npos;
}

static int times_in(const std::string &text, const std::string &part)
{
    int times = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        times++;
    return times;
}

// ---- the way of timing ----

static void check_way(int row, const char *timing, const char *meaning, double seconds,
                      double overhead_s)
{
    const double tolerance = strcmp(timing, "batch") ? 0.01 : 0.05;
    const bool right = CHECK_STR(column("status", row).c_str(), "ok") &
                       CHECK_STR(column("timing", row).c_str(), timing) &
                       CHECK_STR(column("meaning", row).c_str(), meaning) &
                       CHECK_NEAR(number("overhead_s", row), overhead_s, 1e-12) &
                       CHECK_NEAR(number("median_s", row), seconds, tolerance * seconds);
    if (!right)
        printf("    row %d, %s, %g s\n", row, column("kernel", row).c_str(), seconds);
}

static const double gap = 0.5e-6; // fake_node_cost

static void test_automatic_way()
{
    static const double spans[] = {2e-6, 3e-6, 5e-6, 20e-6, 100e-6, 400e-6};
    static const double longer[] = {0.6e-3, 1e-3, 5e-3};
    for (int warm = 0; warm < 2; warm++) {
        gpumb_settings s = settings();
        s.warmup_s = warm ? 0.5 : -1;
        gpumb *g = open(s);
        gpumb_buffer *x = gpumb_alloc(g, 256), *y = gpumb_alloc(g, 256);
        for (double t : spans) {
            GPUMB_MEASURE(g, "kernel") {
                known_run(t);
            }
            GPUMB_MEASURE(g, "copy") {
                gpumb_memcpy(g, gpumb_data(y), gpumb_data(x), 64);
                fake_run(t);
            }
            GPUMB_MEASURE(g, "launched") {
                GPUMB_LAUNCH(nothing, 1, 1, 0, 0);
                fake_run(t);
            }
        }
        for (double t : longer)
            GPUMB_MEASURE(g, "long") {
                known_run(t);
            }
        GPUMB_MEASURE(g, "three") { // the two gaps within it are its own
            for (int i = 0; i < 3; i++)
                known_run(4e-6);
        }
        CHECK_STR(heard.c_str(), "");
        close(g, 0);
        int row = 0;
        for (double t : spans)
            for (int i = 0; i < 3; i++)
                if (i == 1) // the vendor's copy takes another way in a graph
                    CHECK(column("timing", row++) != "graph");
                else
                    check_way(row++, "graph", "span", t, gap);
        for (double t : longer) {
            CHECK_STR(column("batch", row).c_str(), "1");
            check_way(row++, "event", "span", t, 0);
        }
        check_way(row, "graph", "span", 12e-6 + 2 * gap, gap);
    }

    // the first region of a context, each for itself
    for (double t : spans) {
        gpumb *g = open(settings());
        GPUMB_MEASURE(g, "first") {
            known_run(t);
        }
        close(g, 0);
        check_way(0, "graph", "span", t, gap);
        CHECK_STR(column("stop").c_str(), "precision");
    }

    // launches that the library does not know of; a hook; graphs on request; other requests
    int hooks = 0;
    gpumb *g = open(settings());
    GPUMB_MEASURE(g, "unknown") {
        fake_run(20e-6);
    }
    gpumb_set_reset(
        g, [](gpumb *, void *user) { ++*(int *)user; }, &hooks);
    GPUMB_MEASURE(g, "hook") {
        known_run(20e-6);
    }
    CHECK(hooks > 30);
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_MEASURE(g, "interval") {
        known_run(20e-6);
    }
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_MEASURE(g, "long interval") {
        known_run(2e-3);
    }
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, "event") {
        known_run(100e-6);
    }
    gpumb_set_timing(g, GPUMB_TIMING_BATCH);
    GPUMB_MEASURE(g, "batch") {
        known_run(100e-6);
    }
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "host") {
        known_run(200e-6);
    }
    GPUMB_MEASURE(g, "again") { // a wish is forgotten
        known_run(20e-6);
    }
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
    check_way(0, "batch", "interval", 20e-6, 0);
    CHECK(number("batch", 0) > 1);
    CHECK_STR(column("timing", 1).c_str(), "event");
    CHECK_STR(column("batch", 1).c_str(), "1");
    CHECK_NEAR(number("median_s", 1), 20.6e-6, 0.5e-6); // with the cost of the pair
    check_way(2, "graph", "interval", 20e-6 + gap, 0);
    check_way(3, "graph", "interval", 2e-3 + gap, 0);
    check_way(4, "event", "span", 100.6e-6, 0);
    check_way(5, "batch", "interval", 100e-6, 0);
    check_way(6, "host", "latency", 201e-6, 0);
    check_way(7, "graph", "span", 20e-6, gap);

    // where there are no graphs: no capture either
    g = open(settings());
    device(g)->graph_interval_s = 0;
    const uint64_t captures = fake_calls[FAKE_CAPTURE_BEGIN];
    GPUMB_MEASURE(g, "no graphs") {
        known_run(20e-6);
    }
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], captures);
    close(g, 0);
    check_way(0, "batch", "interval", 20e-6, 0);
}

// The figures behind it, from an empty kernel that the fake can capture.
static void test_calibration()
{
    reset();
    empty_s = 0.3e-6;
    block_s = 1e-9;
    fake_quantum = 0;
    fake_launch_cost = 0.1e-6;
    gpumb *g = open_after_reset(settings());
    // the last block of a run and the gap; one block less than what is charged for 1600
    CHECK_NEAR(device(g)->graph_interval_s, fake_node_cost + empty_s + block_s, 1e-10);
    CHECK_NEAR(device(g)->block_launch_s, 1e-9, 0.01e-9);
    CHECK_NEAR(device(g)->empty_kernel_s, fake_floor + empty_s + block_s, 1e-9);
    close(g, 0);
}

enum { BEGIN_FAILS, END_FAILS, SECOND_BEGIN_FAILS, EMPTY, A_THIRD, TROUBLES, MOST, ALL };

static void measure_uncapturable(gpumb *g, int trouble, const char *name)
{
    const double t = 20e-6;
    static const double part[] = {1, 1, 1, 0, 1. / 3, 1, 0.8, 1};
    fake_fail_error = FAKE_REFUSED;
    fake_fail_verb = trouble == END_FAILS ? FAKE_CAPTURE_END : FAKE_CAPTURE_BEGIN;
    fake_fail_verb_at = trouble == SECOND_BEGIN_FAILS ? 2 : trouble <= END_FAILS ? 1 : 0;
    GPUMB_MEASURE(g, name) {
        const double seconds = fake_capturing ? t * part[trouble] : t;
        known_run(seconds);
        if (fake_capturing && seconds <= 0) { // nothing that the graph would hold
            fake_capturing->runs = 0;
            fake_capturing->seconds = 0;
        }
    }
}

static void test_fall_back()
{
    for (int asked = 0; asked < 2; asked++)
        for (int trouble = 0; trouble <= ALL; trouble++) {
            if (trouble == TROUBLES)
                continue;
            gpumb *g = open(settings());
            for (int i = 0; i < 2; i++) { // the first region, and one behind it
                if (asked)
                    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
                measure_uncapturable(g, trouble, i ? "later" : "first");
            }
            const bool falls = trouble < TROUBLES;
            if (!CHECK_INT(times_in(heard, "\n"), falls && asked ? 2 : 0) ||
                (falls && asked && !CHECK(heard.find("first") != std::string::npos)))
                printf("    trouble %d: %s\n", trouble, heard.c_str());
            close(g, 0);
            const double graph_s = (trouble == MOST ? 0.8 : 1) * 20e-6;
            for (int row = 0; row < 2; row++) {
                if (falls)
                    check_way(row, "batch", "interval", 20e-6, 0);
                else
                    check_way(row, "graph", asked ? "interval" : "span", graph_s + asked * gap,
                              asked ? 0 : gap);
                CHECK_STR(column("reason", row).c_str(), "");
            }
        }

    // a copy that goes elsewhere and takes most of the time
    reset();
    fake_moves = 1 << 16;
    gpumb *g = open_after_reset(settings());
    gpumb_buffer *x = gpumb_alloc(g, 20 << 20), *y = gpumb_alloc(g, 20 << 20);
    GPUMB_MEASURE(g, "copy") {
        gpumb_memcpy(g, gpumb_data(y), gpumb_data(x), 20000000); // 40 us
        known_run(5e-6);
    }
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
    check_way(0, "batch", "interval", 45e-6, 0);
}

static void test_ways_in_turn()
{
    for (int warm = 0; warm < 2; warm++) {
        gpumb_settings s = settings();
        s.warmup_s = warm ? 0.5 : -1;
        gpumb *g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "short") {
                known_run(5e-6);
            }
            GPUMB_MEASURE(g, "event") {
                known_run(1e-3);
            }
            GPUMB_MEASURE(g, "unknown") {
                fake_run(20e-6);
            }
            GPUMB_MEASURE(g, "broken") {
                known_run(fake_capturing ? 1e-6 : 30e-6);
            }
            GPUMB_MEASURE(g, "longer") {
                known_run(100e-6);
            }
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "interval") {
                known_run(10e-6);
            }
        }
        // what may choose takes what all can have; what asked for a graph has it, and no ratio
        CHECK(times_in(heard,
                       "interval is not compared with short: the one is a time by graph "
                       "(interval), the other by batch (interval); let gpumb_set_timing()") == 1);
        CHECK_INT(times_in(heard, "\n"), 1);
        close(g, 0);
        CHECK_INT(rows(), 6);
        const double seconds[] = {5e-6, 1e-3, 20e-6, 30e-6, 100e-6};
        for (int i = 0; i < 5; i++) {
            check_way(i, "batch", "interval", seconds[i], 0);
            CHECK_STR(column("compared_with", i).c_str(), i ? "short" : "");
        }
        check_way(5, "graph", "interval", 10e-6 + gap, 0);
        CHECK_STR(column("compared_with", 5).c_str(), "");
    }

    // all alike: they keep the way that is best; one that has to be reset each time: event pairs
    for (int reset_one = 0; reset_one < 2; reset_one++) {
        gpumb *g = open(settings());
        const double seconds = reset_one ? 1e-3 : 20e-6;
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "short") {
                known_run(seconds);
            }
            if (reset_one)
                gpumb_set_reset(
                    g, [](gpumb *, void *) {}, NULL);
            GPUMB_MEASURE(g, "longer") {
                known_run(2 * seconds);
            }
        }
        CHECK_STR(heard.c_str(), "");
        close(g, 0);
        for (int i = 0; i < 2; i++)
            check_way(i, reset_one ? "event" : "graph", "span", (i + 1) * seconds,
                      reset_one ? 0 : gap);
        CHECK_STR(column("compared_with", 1).c_str(), "short");
    }
}

// ---- launch-bound ----

static bool launch_bound(double seconds, uint64_t grid, uint64_t block, double block_launch_s,
                         gpumb_timing timing = GPUMB_TIMING_AUTO,
                         gpumb_cache cache = GPUMB_CACHE_HOT)
{
    gpumb *g = open(settings());
    device(g)->block_launch_s = block_launch_s;
    device(g)->interval_s = 2.5e-6;
    gpumb_buffer *x = gpumb_alloc(g, 256);
    gpumb_set_timing(g, timing);
    gpumb_set_cache(g, cache);
    GPUMB_MEASURE(g, "bound") {
        if (grid) {
            known_run(seconds, grid, block);
        } else {
            gpumb_memcpy(g, gpumb_data(x), GPUMB_PTR(char, x) + 128, 64);
            fake_run(seconds);
        }
    }
    close(g, 0);
    return flagged("launch-bound");
}

static void test_launch_bound()
{
    // a single block: the gap is known to 0.1 us, so that 4 gaps are 5 % and more
    CHECK(launch_bound(1.5e-6, 1, 32, 1e-9));
    CHECK(launch_bound(2.4e-6, 1, 32, 1e-9));
    CHECK(!launch_bound(2.6e-6, 1, 32, 1e-9));
    CHECK(!launch_bound(20e-6, 1, 32, 1e-9));
    // 600 blocks of 256 threads are resident on the fake (occupancy 0.75): 0.6 us to launch them
    CHECK(launch_bound(5e-6, 600, 256, 1e-9));
    CHECK(launch_bound(11e-6, 600, 256, 1e-9));
    CHECK(!launch_bound(13e-6, 600, 256, 1e-9));
    CHECK(launch_bound(11e-6, 75, 256, 8e-9));
    CHECK(!launch_bound(13e-6, 75, 256, 8e-9));
    CHECK(!launch_bound(5e-6, 75, 256, 1e-9));
    CHECK(!launch_bound(11e-6, 600, 256, 0.1e-9));
    // many waves hide it, and so much more of the gap the more there are: 3, 10, 16 and 100
    CHECK(launch_bound(4.2e-6, 1800, 256, 1e-9));
    CHECK(!launch_bound(4.6e-6, 1800, 256, 1e-9));
    CHECK(launch_bound(8.6e-6, 6000, 256, 1e-9));
    CHECK(!launch_bound(9.0e-6, 6000, 256, 1e-9));
    for (uint64_t waves : {16, 100}) {
        CHECK(launch_bound(12.0e-6, waves * 600, 256, 1e-9));
        CHECK(!launch_bound(13.0e-6, waves * 600, 256, 1e-9));
    }
    // a copy of the vendor's is not timed by graphs, but in a full queue
    CHECK(!launch_bound(400e-6, 0, 0, 0.5e-9));
    CHECK(!launch_bound(100e-6, 0, 0, 0.5e-9));
    CHECK(launch_bound(1.5e-6, 0, 0, 0.5e-9));
    // small blocks: a multiprocessor holds 32 of them, 3200 are all that is resident
    CHECK(launch_bound(20e-6, 3200, 32, 0.5e-9));
    CHECK(launch_bound(20e-6, 6300, 32, 0.5e-9));
    CHECK(!launch_bound(20e-6, 6500, 32, 0.5e-9));
    // a large block starts and ends more slowly, by 0.03 us at 512 threads and 0.08 at 1024
    CHECK(launch_bound(2.9e-6, 1, 512, 0.1e-9));
    CHECK(!launch_bound(3.1e-6, 1, 512, 0.1e-9));
    CHECK(launch_bound(3.9e-6, 1, 1024, 0.1e-9));
    CHECK(!launch_bound(4.1e-6, 1, 1024, 0.1e-9));
    // cold: an event pair, of which as much was subtracted
    CHECK(launch_bound(11e-6, 600, 256, 1e-9, GPUMB_TIMING_AUTO, GPUMB_CACHE_COLD));
    CHECK(!launch_bound(13e-6, 600, 256, 1e-9, GPUMB_TIMING_AUTO, GPUMB_CACHE_COLD));
    CHECK(!launch_bound(11e-6, 600, 256, 0.1e-9, GPUMB_TIMING_AUTO, GPUMB_CACHE_COLD));
    // whose empty kernel takes 3 us and the fake's floor, 3.6: as much again is left at least
    for (double seconds : {3e-6, 6.8e-6, 7.6e-6}) {
        reset();
        empty_s = 3e-6;
        block_s = 0;
        gpumb *g = open_after_reset(settings());
        device(g)->graph_interval_s = 0.5e-6;
        gpumb_set_cache(g, GPUMB_CACHE_COLD);
        GPUMB_MEASURE(g, "cold") {
            known_run(3e-6 + seconds);
        }
        close(g, 0);
        CHECK_INT(flagged("launch-bound"), seconds < 7.2e-6);
    }
    // a graph that takes longer than the stream did is not believed
    {
        reset();
        gpumb *g = open_after_reset(settings());
        GPUMB_MEASURE(g, "slower") {
            known_run(fake_capturing ? 80e-6 : 50e-6);
        }
        close(g, 0);
        CHECK_STR(column("timing", 0).c_str(), "batch");
    }
    // what includes the gap is no better: 2.5 us in a full queue
    CHECK(launch_bound(40e-6, 1, 32, 1e-9, GPUMB_TIMING_BATCH));
    CHECK(!launch_bound(60e-6, 1, 32, 1e-9, GPUMB_TIMING_BATCH));
    // events, and graphs whose gap is wanted
    CHECK(!launch_bound(1e-3, 600, 256, 1e-9));
    CHECK(!launch_bound(1.5e-6, 1, 32, 1e-9, GPUMB_TIMING_GRAPH));
}

// ---- cold caches ----

// In a trace of evictions, events and bodies, each timed body follows an eviction, which is not
// between its events. Returns how many are timed.
static int check_evictions(const std::string &seen)
{
    int timed = 0;
    for (size_t at = 1; at + 1 < seen.size(); at++)
        if (seen[at] == 'b' && seen[at - 1] == 'r') {
            timed++;
            CHECK_CASE(seen[at + 1] == 'r' && at >= 2 && seen[at - 2] == 'E', "at %d of %s",
                       (int)at, seen.c_str());
        }
    return timed;
}

static void test_cold()
{
    for (int warm = 0; warm < 2; warm++)
        for (int all = 0; all < 2; all++) {
            gpumb_settings s = brief();
            s.cold = all;
            s.warmup_s = warm ? 0.05 : -1;
            gpumb *g = open(s);
            int bodies = 0;
            for (int i = 0; i < 2; i++) {
                trace.clear();
                bodies = 0;
                gpumb_set_bytes(g, 1e6);
                gpumb_set_footprint(g, 1 << 20);
                if (!all)
                    gpumb_set_cache(g, GPUMB_CACHE_COLD);
                GPUMB_MEASURE(g, i ? "again" : "cold") {
                    trace += 'b';
                    bodies++;
                    known_run(50e-6);
                }
                CHECK_INT(check_evictions(trace), bodies - 1); // but for the first launch
                CHECK(bodies >= 11);
            }
            gpumb_set_bytes(g, 1e6);
            gpumb_set_footprint(g, 1 << 20);
            const int evictions = times_in(trace, "E");
            GPUMB_MEASURE(g, "forgotten") {
                known_run(50e-6);
            }
            CHECK((times_in(trace, "E") > evictions) == (all == 1));
            CHECK_STR(heard.c_str(), "");
            close(g, 0);
            for (int row = 0; row < 3; row++) {
                const bool cold = row < 2 || all;
                CHECK_STR(column("cache", row).c_str(), cold ? "cold" : "L2");
                CHECK_INT(flagged("cached", row), !cold);
                if (!cold) {
                    check_way(row, "graph", "span", 50e-6, gap);
                    continue;
                }
                CHECK_STR(column("timing", row).c_str(), "event");
                CHECK_STR(column("meaning", row).c_str(), "span");
                CHECK_STR(column("batch", row).c_str(), "1");
                CHECK_STR(column("samples", row).c_str(), "10");
                // the pair's cost, as behind an eviction
                if (!(CHECK_NEAR(number("overhead_s", row), fake_floor, 40e-9) &
                      CHECK_NEAR(number("median_s", row), 50e-6, 80e-9)))
                    printf("    row %d, warm-up %d, all cold %d\n", row, warm, all);
            }
        }

    // by the command line
    const char *option[] = {"test_trust", "--cold"};
    reset();
    gpumb *opened = gpumb_open(2, (char **)option);
    CHECK_INT(gpumb_get_settings(opened)->cold, 1);
    CHECK_INT(gpumb_get_settings(opened)->shuffle, 0);
    close(opened, GPUMB_EXIT_FAILED); // it measures nothing

    // without events; a wish; in turn
    gpumb *g = open(brief());
    gpumb_set_cache(g, GPUMB_CACHE_COLD);
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "host") {
        trace += 'b';
        fake_run(50e-6);
    }
    CHECK(times_in(trace, "E") >= 10);
    GPUMB_INTERLEAVE(g) {
        gpumb_set_cache(g, GPUMB_CACHE_COLD);
        GPUMB_MEASURE(g, "cold") {
            trace += 'c';
            known_run(50e-6);
        }
        GPUMB_MEASURE(g, "hot") {
            trace += 'h';
            fake_run(1e-3);
        }
    }
    CHECK_INT(times_in(trace, "Erc"), 10);
    CHECK_INT(times_in(trace, "Erh"), 0);
    gpumb_set_cache(g, GPUMB_CACHE_COLD);
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_MEASURE(g, "graph") { // a graph of many would be hot
        known_run(50e-6);
    }
    close(g, 0);
    CHECK_NEAR(number("median_s", 0), 51e-6, 0.5e-6); // the eviction takes 300 us
    CHECK_STR(column("cache", 0).c_str(), "cold");
    CHECK_STR(column("cache", 1).c_str(), "cold");
    CHECK_NEAR(number("median_s", 1), 50e-6, 0.1e-6);
    CHECK_STR(column("cache", 2).c_str(), "");
    CHECK_NEAR(number("median_s", 2), 1e-3, 2e-6);
    CHECK_STR(column("timing", 3).c_str(), "event");
    CHECK_STR(column("batch", 3).c_str(), "1");
    CHECK_STR(column("cache", 3).c_str(), "cold");

    // the flag needs a rate of memory, and a cache that is large enough
    g = open(brief());
    static const struct {
        double bytes;
        uint64_t footprint;
        const char *cache;
        bool cached;
    } cases[] = {{1e6, 1 << 20, "L2", true}, // moved once: no kernel finds it in the L1
                 {3e6, 1 << 20, "L1", true},
                 {2.0 * (1 << 20), 1 << 20, "L1", true}, // again: each byte twice, at least
                 {2.0 * (1 << 20) - 1, 1 << 20, "L2", true},
                 {1e6, (uint64_t)20 << 20, "L2", true},
                 {1e6, (uint64_t)40 << 20, "memory", false},
                 {0, 1 << 20, "L1", false},
                 {1e6, 0, "L2", true}, // each byte is moved once, where nothing is said
                 {100e6, 0, "memory", false},
                 {0, 0, "", false}};
    for (const auto &c : cases) {
        gpumb_set_bytes(g, c.bytes);
        gpumb_set_footprint(g, c.footprint);
        GPUMB_MEASURE(g, "hot") {
            fake_run(1e-3);
        }
    }
    close(g, 0);
    for (int row = 0; row < (int)(sizeof cases / sizeof cases[0]); row++) {
        CHECK_STR(column("cache", row).c_str(), cases[row].cache);
        CHECK_INT(flagged("cached", row), cases[row].cached);
    }
}

// A sweep whose first configuration leaves no room for the buffer that is read to evict.
static void test_cold_memory()
{
    gpumb_settings s = brief();
    s.cold = 1;
    gpumb *g = open(s);
    GPUMB_SWEEP_LIST(g, mib, 480, 1, 500, 2) {
        gpumb_alloc(g, (uint64_t)mib << 20);
        GPUMB_MEASURE(g, "cold") {
            fake_run(1e-3);
        }
    }
    GPUMB_MEASURE(g, "behind") {
        fake_run(1e-3);
    }
    close(g, 0);
    CHECK_INT(rows(), 5);
    static const char *const status[] = {"skipped", "ok", "skipped", "ok", "ok"};
    for (int row = 0; row < 5; row++) {
        CHECK_STR(column("status", row).c_str(), status[row]);
        if (row % 2 || row == 4)
            CHECK_STR(column("reason", row).c_str(), "");
        else
            CHECK(column("reason", row).find("memory") != std::string::npos);
    }

    // the buffers of a pass go with it, also where one outlives them
    g = open(s);
    int live[3] = {0, 0, 0};
    GPUMB_SWEEP_RANGE(g, pass, 0, 2, 1) {
        live[pass] = fake_live_blocks;
        gpumb_alloc(g, (uint64_t)100 << 20);
        GPUMB_MEASURE(g, "cold") {
            fake_run(1e-3);
        }
    }
    CHECK_INT(live[0], 0);
    CHECK_INT(live[1], 1); // the one to evict with
    CHECK_INT(live[2], 1);
    CHECK_INT(fake_live_blocks, 1);
    close(g, 0);
    CHECK_INT(rows(), 3);
}

// ---- drawn order ----

static std::string order_of_run; // of configurations

static void note_config(const char *name, int64_t a, int64_t b)
{
    char text[40];
    snprintf(text, sizeof text, "%s%d.%d ", name, (int)a, (int)b);
    if (order_of_run.size() < strlen(text) ||
        order_of_run.compare(order_of_run.size() - strlen(text), strlen(text), text))
        order_of_run += text;
}

static void two_axes(gpumb *g)
{
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        GPUMB_SWEEP_LIST(g, b, 20, 10, 30) {
            GPUMB_MEASURE(g, "x") {
                note_config("x", a, b);
                fake_run(1e-3 * (double)a + 1e-6 * (double)b);
            }
            GPUMB_MEASURE(g, "y") {
                note_config("y", a, b);
                fake_run(2e-3);
            }
        }
    }
}

static std::vector<std::string> words(const std::string &text)
{
    std::vector<std::string> list;
    for (size_t at = 0, end; (end = text.find(' ', at)) != std::string::npos; at = end + 1)
        list.push_back(text.substr(at, end - at));
    return list;
}

static gpumb_settings shuffled(uint64_t seed)
{
    gpumb_settings s = brief();
    s.shuffle = 1;
    s.seed = seed;
    return s;
}

// Kernel and axes of all rows of a CSV file.
static std::string csv_order(const std::string &path)
{
    std::string order;
    for (int row = 0; *fake_csv(path.c_str(), row, "schema"); row++)
        for (const char *name : {"kernel", "a", ".", "b", " "})
            order += name[0] < 'a' ? name : fake_csv(path.c_str(), row, name);
    return order;
}

static std::string row_order(gpumb *g)
{
    std::string order;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        order += gpumb_row(g, i)->kernel + std::to_string((long)gpumb_row_axis(g, i, "a")) + "." +
                 std::to_string((long)gpumb_row_axis(g, i, "b")) + " ";
    return order;
}

static void test_order()
{
    order_of_run.clear();
    gpumb *g = open(brief());
    two_axes(g);
    const std::string natural = order_of_run;
    close(g, 0);
    CHECK_INT(words(natural).size(), 24);
    CHECK_STR(csv_order(csv_path).c_str(), natural.c_str());

    std::string first;
    int different = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        std::string order[2];
        for (std::string &o : order) {
            order_of_run.clear();
            gpumb_settings s = shuffled(seed);
            s.json = json_path.c_str();
            g = open(s);
            two_axes(g);
            CHECK_STR(row_order(g).c_str(), natural.c_str());
            if (CHECK_INT(gpumb_row_count(g), 24))
                for (size_t i = 0; i < 24; i += 2)
                    CHECK_NEAR(gpumb_row(g, i)->time.median,
                               1e-3 * (double)gpumb_row_axis(g, i, "a") +
                                   1e-6 * (double)gpumb_row_axis(g, i, "b"),
                               2e-6);
            close(g, 0);
            o = order_of_run;
        }
        CHECK_STR(order[0].c_str(), order[1].c_str());
        CHECK_CASE(order[0] != natural, "seed %d", (int)seed);
        first = seed == 1 ? order[0] : first;
        different += seed > 1 && order[0] != first;
        std::vector<std::string> run = words(order[0]), all = words(natural);
        for (size_t i = 0; i + 1 < run.size(); i += 2) // a configuration's regions stay together
            CHECK(run[i][0] == 'x' && "y" + run[i].substr(1) == run[i + 1]);
        std::sort(run.begin(), run.end());
        std::sort(all.begin(), all.end());
        CHECK(run == all);
        CHECK_STR(csv_order(csv_path).c_str(), natural.c_str());
        const std::string json = read_file(json_path.c_str());
        size_t at = 0;
        for (const std::string &word : words(natural)) {
            const size_t dot = word.find('.');
            at = json.find("\"kernel\": \"" + word.substr(0, 1), at);
            at = at == std::string::npos ? at : json.find("\"axes\": {", at);
            if (!CHECK(at != std::string::npos))
                break;
            const std::string axes = "\"axes\": {\"a\": " + word.substr(1, dot - 1) +
                                     ", \"b\": " + word.substr(dot + 1) + "}";
            CHECK_STR(json.substr(at, axes.size()).c_str(), axes.c_str());
        }
    }
    CHECK(different >= 6);

    // every place of a configuration is drawn alike: chi^2 over 16 cells, 9 degrees of freedom
    int place[4][4] = {{0}};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int turn = 0, last = -1;
        g = open(shuffled(seed));
        GPUMB_SWEEP_RANGE(g, a, 0, 3, 1) {
            GPUMB_MEASURE(g, "x") {
                if (last != (int)a)
                    place[a][turn++ % 4]++;
                last = (int)a;
                fake_run(1e-3);
            }
        }
        close(g, 0);
        CHECK_INT(turn, 4);
    }
    double chi = 0;
    for (const auto &row : place)
        for (int n : row)
            chi += (n - 100.) * (n - 100.) / 100;
    CHECK_CASE(chi < 27.9, "chi^2 is %g", chi); // 0.1 %

    // the table: in the natural order, and with the seed
    gpumb_settings s = shuffled(77);
    s.quiet = 0;
    const std::string table = printed([&] {
        g = open(s);
        two_axes(g);
        gpumb_close(g);
    });
    CHECK(table.find("seed 77") != std::string::npos);
    size_t at = 0;
    for (int a = 1; a <= 4; a++)
        for (const char *b : {"20", "10", "30"}) {
            const std::string time = std::to_string(a) + ".0" + b; // 1.02 ms
            at = table.find(time.substr(0, time.back() == '0' ? time.size() - 1 : time.size()), at);
            CHECK_CASE(at != std::string::npos, "%d, %s in\n%s", a, b, table.c_str());
        }
    s.shuffle = 0;
    CHECK(printed([&] { // nobody draws, nobody says so
              g = open(s);
              two_axes(g);
              gpumb_close(g);
          })
              .find("seed 77") == std::string::npos);
}

static void one_axis(gpumb *g, const char *name, int64_t stop)
{
    GPUMB_SWEEP_RANGE(g, a, 1, 6, 1) {
        GPUMB_MEASURE(g, name) {
            note_config(name, a, 0);
            fake_run(1e-3);
            if (a == stop && order_of_run.size() > 20)
                raise(SIGINT);
        }
    }
}

static void test_orders_of_many()
{
    // several sweeps, rows before, between and behind them, axes that come late
    order_of_run.clear();
    gpumb *g = open(shuffled(3));
    GPUMB_MEASURE(g, "p") {
        fake_run(1e-3);
    }
    one_axis(g, "x", 0);
    CHECK_STR(row_order(g).c_str(), "p-1.-1 x1.-1 x2.-1 x3.-1 x4.-1 x5.-1 x6.-1 ");
    GPUMB_MEASURE(g, "q") {
        fake_run(1e-3);
    }
    GPUMB_SWEEP_RANGE(g, b, 1, 3, 1) {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "y") {
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "z") {
                fake_run(1e-3);
            }
        }
    }
    GPUMB_MEASURE(g, "r") {
        fake_run(1e-3);
    }
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(),
              "p. x1. x2. x3. x4. x5. x6. q. y.1 z.1 y.2 z.2 y.3 z.3 r. ");
    CHECK(order_of_run != "x1.0 x2.0 x3.0 x4.0 x5.0 x6.0 ");

    // configurations without a region, and one that fails, keep their places
    g = open(shuffled(5));
    GPUMB_SWEEP_RANGE(g, a, 1, 6, 1) {
        if (a == 2)
            continue;
        if (a == 4)
            gpumb_skip(g, "not today");
        GPUMB_MEASURE(g, "x") {
            fake_run(1e-3);
        }
    }
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1. x3. x4. x5. x6. ");
    CHECK_STR(column("status", 2).c_str(), "skipped");

    // configurations of different depth; the row that was finished last
    g = open(shuffled(4));
    double last = 0;
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        if (a % 2) {
            GPUMB_SWEEP_RANGE(g, b, 1, 2, 1) {
                GPUMB_MEASURE(g, "x") {
                    last = 1e-3 * (double)(2 * a + b);
                    fake_run(last);
                }
            }
        } else {
            GPUMB_MEASURE(g, "y") {
                last = 20e-3 * (double)a;
                fake_run(last);
            }
        }
        if (last > 0)
            CHECK_NEAR(gpumb_last_result(g)->time.median, last, 2e-6);
    }
    CHECK_NEAR(gpumb_last_result(g)->time.median, last, 2e-6);
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1.1 x1.2 y2. x3.1 x3.2 y4. ");

    // as benchmarks of a program
    static const gpumb_benchmark list[] = {
        {"one", "", [](gpumb *b) { one_axis(b, "x", 0); }},
        {"two", "", [](gpumb *b) { one_axis(b, "y", 0); }},
    };
    const std::string csv = "--csv=" + csv_path;
    std::vector<const char *> options = {"test_trust", "--shuffle", "--samples=6:6",
                                         "--warmup=0", "--seed=9",  csv.c_str()};
    reset();
    order_of_run.clear();
    int code = -1;
    printed([&] { code = gpumb_main((int)options.size(), (char **)options.data(), list, 2); });
    CHECK_INT(code, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1. x2. x3. x4. x5. x6. y1. y2. y3. y4. y5. y6. ");
    CHECK(order_of_run != "x1.0 x2.0 x3.0 x4.0 x5.0 x6.0 y1.0 y2.0 y3.0 y4.0 y5.0 y6.0 ");
}

// What was finished before Ctrl-C, or before the device was lost, is written.
static void test_order_ends_early()
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        order_of_run.clear();
        gpumb_settings s = shuffled(seed);
        s.quiet = 0; // a quiet context leaves Ctrl-C alone
        std::string done;
        int code = 0;
        printed([&] {
            gpumb *g = open(s);
            GPUMB_SWEEP_RANGE(g, a, 1, 8, 1) {
                int runs = 0;
                GPUMB_MEASURE(g, "x") {
                    note_config("x", a, 0);
                    fake_run(1e-3);
                    if (words(order_of_run).size() == 5 && runs++ == 3)
                        raise(SIGINT);
                }
            }
            code = gpumb_close(g);
        });
        CHECK_INT(code, GPUMB_EXIT_INTERRUPTED);
        CHECK_INT(words(order_of_run).size(), 5);
        std::vector<std::string> finished = words(order_of_run);
        finished.pop_back();
        std::sort(finished.begin(), finished.end());
        for (const std::string &word : finished)
            done += word.substr(0, word.size() - 1) + " ";
        CHECK_STR(csv_order(csv_path + ".part").c_str(), done.c_str());
        CHECK(fake_clean());
    }

    for (int drawn = 0; drawn < 2; drawn++) {
        gpumb_settings s = shuffled(2);
        s.quiet = 0;
        s.shuffle = drawn;
        int configurations = 0, code = 0;
        const std::string table = printed([&] {
            gpumb *g = open(s);
            GPUMB_SWEEP_RANGE(g, a, 1, 8, 1) {
                int runs = 0;
                GPUMB_MEASURE(g, "before") {
                    configurations += runs++ == 0;
                    fake_run(1e-3);
                    if (configurations == 5)
                        fake_lost = 1;
                }
            }
            code = gpumb_close(g);
        });
        CHECK_INT(code, GPUMB_EXIT_ERROR);
        if (!CHECK_INT(times_in(table, "1.001 ms"), 4))
            printf("    drawn %d:\n%s\n", drawn, table.c_str());
    }
}

// ---- flags ----

static int right(gpumb *, void *)
{
    return 1;
}

// A region of event pairs; run i (0: the first launch) takes time(i) seconds.
struct script {
    std::function<double(int)> time;
    std::function<void(gpumb_settings *)> set;
    std::function<void(gpumb *)> describe;
    int interleaved;
};

static double steady(int)
{
    return 1e-3 * (1 + 0.001 * random_normal());
}

// The flags of its row.
static std::string flags_of(const script &what)
{
    reset();
    gpumb_settings s = settings();
    s.warmup_s = -1;
    if (what.set)
        what.set(&s);
    gpumb *g = open_after_reset(s);
    int run = 0;
    gpumb_set_verify(g, right, NULL);
    if (what.describe)
        what.describe(g);
    GPUMB_MEASURE(g, "flagged") {
        fake_run(what.time ? what.time(run++) : steady(run++));
    }
    close(g, 0);
    CHECK_STR(column("status").c_str(), "ok");
    return column("flags");
}

static void few(gpumb_settings *s)
{
    s->min_samples = s->max_samples = 5;
}

static void many(gpumb_settings *s) // enough to tell a shape
{
    s->min_samples = s->max_samples = 400;
    s->precision = 0.01;
}

static double noise(double amplitude)
{
    return 1 + amplitude * random_normal();
}

static double exponential(int run, double amplitude)
{
    return 1e-3 * (1 + amplitude * exp(-run / 60.)) * noise(0.002);
}

static double levels(int, double amplitude)
{
    static int level;
    level ^= random_uniform() < 0.3;
    return 1e-3 * (1 + level * amplitude) * noise(0.002);
}

static void check_flag(const char *flag, const script &fires, const script &does_not)
{
    const std::string with = ";" + flags_of(fires) + ";", without = ";" + flags_of(does_not) + ";";
    const std::string name = std::string(";") + flag + ";";
    CHECK_CASE(with.find(name) != std::string::npos, "%s is not among \"%s\"", flag, with.c_str());
    CHECK_CASE(without.find(name) == std::string::npos, "%s is among \"%s\"", flag,
               without.c_str());
}

static std::vector<std::string> flags_checked;

static void test_each_flag()
{
    const auto check = [](const char *flag, const script &fires, const script &does_not) {
        flags_checked.push_back(flag);
        check_flag(flag, fires, does_not);
    };
    const script plain = {nullptr, nullptr, nullptr, 0};
    CHECK_STR(flags_of(plain).c_str(), "");

    check("unverified", {nullptr, nullptr, [](gpumb *g) { gpumb_set_verify(g, NULL, NULL); }, 0},
          plain);
    const auto forty = [](gpumb_settings *s) { s->max_samples = 40; };
    const auto noisy = [](int) { return 1e-3 * (0.5 + random_uniform()); };
    check("noisy", {noisy, forty, nullptr, 0}, {nullptr, forty, nullptr, 0});
    check("noisy", {noisy, [](gpumb_settings *s) { s->budget_s = 0.04; }, nullptr, 0},
          {noisy,
           [](gpumb_settings *s) {
               s->precision = 0.3;
               s->budget_s = 0.1;
           },
           nullptr, 0});
    check("few-samples", {nullptr, few, nullptr, 0},
          {nullptr, [](gpumb_settings *s) { s->min_samples = s->max_samples = 6; }, nullptr, 0});
    const auto events = [](gpumb *g) { gpumb_set_timing(g, GPUMB_TIMING_EVENT); };
    const auto two_us = [](int) { return 2e-6; };
    check("resolution", {two_us, nullptr, events, 0}, {two_us, nullptr, nullptr, 0});
    check("resolution", {two_us, nullptr, events, 0}, {nullptr, nullptr, events, 0});
    check("resolution", {[](int) { return 11e-6; }, nullptr, events, 0},
          {[](int) { return 13e-6; }, nullptr, events, 0}); // 20 times an empty kernel: 12.2 us
    const auto coarse = [](gpumb_settings *) { fake_quantum = 10e-6; };
    check("resolution", {[](int) { return 0.5e-3; }, coarse, events, 0},
          {[](int) { return 1.5e-3; }, coarse, events, 0});
    const auto bytes = [](double n) { return [n](gpumb *g) { gpumb_set_bytes(g, n); }; };
    check("above-peak", {nullptr, nullptr, bytes(1.02e9), 0}, {nullptr, nullptr, bytes(0.98e9), 0});
    const auto peak = [](gpumb_settings *s) { s->peak_gbps = 2000; };
    check("above-peak", {nullptr, nullptr, bytes(1.5e9), 0}, {nullptr, peak, bytes(1.5e9), 0});
    check("above-peak", {nullptr, nullptr, [](gpumb *g) { gpumb_set_flop(g, 21e9); }, 0},
          {nullptr, nullptr, [](gpumb *g) { gpumb_set_flop(g, 19e9); }, 0});
    // without a peak, 5 times the copy's rate (1e12 byte/s) is more than any memory has
    const auto no_peak = [](gpumb_settings *) {
        fake_peak_gbps = 0;
        fake_memory = (uint64_t)64 << 30; // room for the copy
    };
    check("above-peak", {nullptr, no_peak, bytes(5.1e9), 0}, {nullptr, no_peak, bytes(4.9e9), 0});
    const auto little = [](gpumb_settings *) { // 2 x 1 GiB are not to take more than half of it
        fake_peak_gbps = 0;
        fake_memory = ((uint64_t)4 << 30) - 1;
    };
    check("above-peak", {nullptr, no_peak, bytes(5.1e9), 0}, {nullptr, little, bytes(5.1e9), 0});
    const auto in_cache = [](gpumb *g) {
        gpumb_set_bytes(g, 5.1e9);
        gpumb_set_footprint(g, 1 << 20);
    };
    check("above-peak", {nullptr, no_peak, bytes(5.1e9), 0}, {nullptr, no_peak, in_cache, 0});
    check("above-peak",
          {nullptr,
           [](gpumb_settings *s) {
               fake_peak_gbps = 0;
               fake_memory = (uint64_t)64 << 30;
               s->cold = 1;
           },
           in_cache, 0},
          {nullptr, peak, bytes(1.9e9), 0});
    const auto footprint = [](uint64_t n) {
        return [n](gpumb *g) {
            gpumb_set_bytes(g, 1e6);
            gpumb_set_footprint(g, n);
        };
    };
    check("cached", {nullptr, nullptr, footprint(32 << 20), 0},
          {nullptr, nullptr, footprint((32 << 20) + 1), 0});
    check("cached", {nullptr, nullptr, footprint(1 << 20), 0},
          {nullptr, [](gpumb_settings *s) { s->cold = 1; }, footprint(1 << 20), 0});
    const auto some_bad = [](int run) {
        spoil += run % 10 == 9;
        return steady(run);
    };
    check("bad-time", {some_bad, nullptr, nullptr, 0}, plain);

    // the warm-up's budget ends: while times still fall; when they have settled
    const auto falls = [](double seconds) {
        return [seconds](int) {
            const double left = 1 - (fake_now - 100) / seconds;
            return 1e-3 * (1 + (left > 0 ? left : 0));
        };
    };
    const auto warm = [](gpumb_settings *s) { s->warmup_s = 0.3; };
    check("unsettled", {falls(0.6), warm, nullptr, 0}, {falls(0.1), warm, nullptr, 0});
    check("unsettled", {falls(0.6), warm, nullptr, 0}, {nullptr, warm, nullptr, 0});
    const auto short_warm_up = [](gpumb_settings *s) { s->warmup_s = 0.07; };
    check("unsettled", {falls(0.2), short_warm_up, nullptr, 0},
          {nullptr, short_warm_up, nullptr, 0});

    const script flat = {[](int) { return 1e-3 * noise(0.002); }, many, nullptr, 0};
    const auto shape = [](double (*f)(int, double), double amplitude) {
        return script{[=](int run) { return f(run, amplitude); }, many, nullptr, 0};
    };
    const auto drift = [](int run, double amplitude) {
        return 1e-3 * (1 + amplitude * run / 400.) * noise(0.002);
    };
    const auto cycle = [](int run, double amplitude) {
        return 1e-3 * (1 + amplitude * sin(run / 20.)) * noise(0.002);
    };
    check("warming-up", shape(exponential, 0.3), flat);
    check("warming-up", shape(exponential, 0.3), shape(exponential, -0.3));
    check("slowing-down", shape(exponential, -0.3), flat);
    check("slowing-down", shape(exponential, -0.3), shape(exponential, 0.3));
    check("slowing-down", shape(exponential, -0.3), shape(exponential, -0.003)); // within 1 %
    check("two-levels", shape(levels, 0.2), flat);
    check("two-levels", shape(levels, 0.2), shape(levels, 0.003));
    check("unsteady", shape(drift, 0.3), flat);
    check("unsteady", shape(cycle, 0.1), flat);
    check("unsteady", shape(cycle, 0.1), shape(exponential, 0.3));
    // too few tell no shape from noise
    check_flag("warming-up", shape(exponential, 0.3),
               {[](int run) { return exponential(run * 14, 0.3); },
                [](gpumb_settings *s) { s->min_samples = s->max_samples = 29; }, nullptr, 0});

    // what is so of a graph's or a batch's samples
    const auto launches = [](gpumb *g) { device(g)->interval_s = 2e-6; };
    const auto batches = [=](gpumb *g) {
        launches(g);
        gpumb_set_timing(g, GPUMB_TIMING_BATCH);
    };
    check("launch-bound", {[](int) { return 20e-6; }, nullptr, batches, 0},
          {[](int) { return 80e-6; }, nullptr, batches, 0});

    const auto sensors = [](int throttle, int others) {
        return [=](gpumb_settings *) {
            fake_sensors = 1;
            fake_throttle = throttle;
            fake_others = others;
        };
    };
    for (int reason = 1; reason <= 8; reason *= 2)
        check("throttled", {nullptr, sensors(reason, 0), nullptr, 0},
              {nullptr, sensors(0, 0), nullptr, 0});
    check("throttled", {nullptr, sensors(1, 0), nullptr, 0}, plain);
    check("throttled", {nullptr, sensors(15, -1), nullptr, 0},
          {nullptr, sensors(-1, 1), nullptr, 0});
    check("shared", {nullptr, sensors(0, 1), nullptr, 0}, {nullptr, sensors(1, 0), nullptr, 0});
    check("shared", {nullptr, sensors(0, 3), nullptr, 0}, {nullptr, sensors(0, -1), nullptr, 0});
    check("shared", {nullptr, sensors(0, 3), nullptr, 0}, plain);

    // a launch that is refused, at once or later; what is skipped on request is none
    for (int at = 0; at < 3; at++) {
        gpumb *g = open(brief());
        if (at == 2)
            gpumb_skip(g, "it rains");
        int run = 0;
        GPUMB_MEASURE(g, "refused") {
            if (run++ == 5 * at)
                fake_run_refused(FAKE_REFUSED);
            else
                fake_run(1e-3);
        }
        GPUMB_MEASURE(g, "next") {
            fake_run(1e-3);
        }
        close(g, GPUMB_EXIT_OK);
        CHECK_STR(column("status", 0).c_str(), "skipped");
        CHECK_INT(flagged("launch-failed", 0), at < 2);
        CHECK(!flagged("launch-failed", 1));
    }
    flags_checked.push_back("launch-failed");
    flags_checked.push_back("traffic");  // needs counters: test_counters.cpp
    flags_checked.push_back("replayed"); // needs a file: test_resume.cpp

#define FLAG_TEXT(name, text, meaning, advice) text,
    for (const char *flag : {GPUMB_FLAGS(FLAG_TEXT)})
        CHECK_CASE(std::find(flags_checked.begin(), flags_checked.end(), flag) !=
                       flags_checked.end(),
                   "nothing here makes %s fire", flag);
}

static std::string explained(const char *name, int *code)
{
    const char *options[] = {"test_trust", "--explain", name};
    return printed([&] {
        reset();
        gpumb *g = gpumb_open(3, (char **)options);
        int runs = 0;
        CHECK_INT(gpumb_ok(g), 0);
        GPUMB_MEASURE(g, "never") {
            runs++;
        }
        CHECK_INT(runs, 0);
        *code = gpumb_close(g);
    });
}

static void test_explain()
{
    int code = -1, flags = 0;
#define FLAG_TEXTS(name, text, meaning, advice) {text, meaning, advice},
    static const struct {
        const char *name, *meaning, *advice;
    } all[] = {GPUMB_FLAGS(FLAG_TEXTS)};
    const std::string everything = explained("all", &code);
    CHECK_INT(code, 0);
    size_t at = 0;
    for (const auto &flag : all) {
        flags++;
        const std::string text = explained(flag.name, &code);
        CHECK_INT(code, 0);
        CHECK(text.find(flag.name) == 0);
        CHECK(text.find(flag.meaning) != std::string::npos);
        CHECK(text.find(flag.advice) != std::string::npos);
        CHECK(strlen(flag.meaning) > 20 && strlen(flag.advice) > 60);
        for (const auto &other : all)
            CHECK((text.find(other.advice) != std::string::npos) == (&other == &flag));
        at = everything.find(text, at);
        CHECK_CASE(at != std::string::npos, "%s, in its order", flag.name);
    }
    CHECK_INT(flags, 18);

    for (const char *wrong : {"nosy", "", "nois", "noisy2", "NOISY"}) {
        const std::string text = explained(wrong, &code);
        CHECK_INT(code, GPUMB_EXIT_USAGE);
        CHECK_STR(text.c_str(), "");
        CHECK_INT(times_in(heard, "\n"), 1);
        CHECK(heard.find("--explain") != std::string::npos);
        for (const auto &flag : all)
            CHECK_CASE(heard.find(flag.name) != std::string::npos, "%s in: %s", flag.name,
                       heard.c_str());
    }
}

// ---- the series ----

static void test_series()
{
    static const struct {
        const char *series, *flag;
        double (*time)(int, double);
        double amplitude;
    } cases[] = {
        {"steady", "", [](int, double) { return 1e-3 * noise(0.002); }, 0},
        {"warming up", "warming-up", exponential, 0.3},
        {"slowing down", "slowing-down", exponential, -0.3},
        {"two levels", "two-levels", levels, 0.2},
        {"unsteady", "unsteady",
         [](int run, double a) { return 1e-3 * (1 + a * run) * noise(0.002); }, 1e-3},
    };
    for (const auto &c : cases)
        for (uint64_t samples : {29u, 400u}) {
            gpumb_settings s = settings();
            s.warmup_s = -1;
            s.min_samples = s.max_samples = samples;
            gpumb *g = open(s);
            int run = 0;
            GPUMB_MEASURE(g, "series") {
                fake_run(c.time(run++, c.amplitude));
            }
            close(g, 0);
            CHECK_STR(column("series").c_str(), samples < 30 ? "" : c.series);
            for (const auto &other : cases)
                if (other.flag[0])
                    CHECK_INT(flagged(other.flag), samples >= 30 && other.time == c.time &&
                                                       other.amplitude == c.amplitude);
        }

    // independent samples count as what they are; those that hang together for less
    for (double correlation : {0., 0.9}) {
        double effective = 0;
        for (int seed = 1; seed <= 20; seed++) {
            gpumb_settings s = settings();
            s.warmup_s = -1;
            s.min_samples = s.max_samples = 1000;
            gpumb *g = open(s);
            random_state = (uint64_t)seed * 7919;
            double deviation = random_normal();
            GPUMB_MEASURE(g, "series") {
                deviation =
                    correlation * deviation + sqrt(1 - correlation * correlation) * random_normal();
                fake_run(1e-3 * (1 + 0.01 * deviation));
            }
            close(g, 0);
            CHECK(number("effective_samples") <= 1000 && number("effective_samples") >= 1);
            effective += number("effective_samples") / 20;
        }
        // (1 - r) / (1 + r) for means; the median feels the signs, which hang together less
        CHECK_CASE(correlation > 0 ? effective > 40 && effective < 130 : effective > 850,
                   "%g of 1000, correlation %g", effective, correlation);
    }
    gpumb_settings s = brief();
    s.min_samples = s.max_samples = 5;
    gpumb *g = open(s);
    GPUMB_MEASURE(g, "few") {
        fake_run(1e-3);
    }
    close(g, 0);
    CHECK_STR(column("effective_samples").c_str(), "");
    CHECK_STR(column("ci_lo_s").c_str(), "");
}

// ---- the device's state ----

static const char *const state_columns[] = {"sm_clock_before_mhz",
                                            "sm_clock_mhz",
                                            "mem_clock_before_mhz",
                                            "mem_clock_mhz",
                                            "temp_before_c",
                                            "temp_c",
                                            "power_w",
                                            "energy_j",
                                            "gb_per_j",
                                            "throttle",
                                            "others"};

static gpumb_settings lasting(double seconds) // samples, all of them
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.precision = 1e-9;
    s.budget_s = seconds;
    s.min_samples = 6;
    s.max_samples = 100000;
    return s;
}

static gpumb *open_sensing(const gpumb_settings &s)
{
    reset();
    fake_sensors = 1;
    return open_after_reset(s);
}

static double drawn(double seconds, double amplitude = 0.3) // never precise
{
    return seconds * (1 + amplitude * (random_uniform() - 0.5));
}

static void test_sensors()
{
    // before and after
    gpumb *g = open_sensing(lasting(0.5));
    fake_temperature = 41;
    int runs = 0;
    GPUMB_MEASURE(g, "state") {
        if (++runs == 20) {
            fake_temperature = 63;
            fake_memory_clock = 1.5e9;
        }
        fake_run(drawn(5e-3));
    }
    gpumb_set_bytes(g, 3e9);
    GPUMB_MEASURE(g, "power") {
        fake_run(drawn(5e-3));
    }
    close(g, 0);
    CHECK_STR(column("temp_before_c").c_str(), "41");
    CHECK_STR(column("temp_c").c_str(), "63");
    CHECK_STR(column("temp_before_c", 1).c_str(), "63");
    CHECK_STR(column("sm_clock_before_mhz").c_str(), "1000");
    CHECK_STR(column("sm_clock_mhz").c_str(), "1000");
    CHECK_STR(column("mem_clock_before_mhz").c_str(), "2000");
    CHECK_STR(column("mem_clock_mhz").c_str(), "1500");
    CHECK_STR(column("mem_clock_before_mhz", 1).c_str(), "1500");
    CHECK_STR(column("throttle").c_str(), "none");
    CHECK_STR(column("others").c_str(), "0");
    CHECK_STR(column("power_w").c_str(), "300");
    CHECK_NEAR(number("energy_j"), 1.5, 0.05);
    CHECK_STR(column("gb_per_j").c_str(), ""); // no bytes
    CHECK_NEAR(number("energy_j", 1), 1.5, 0.05);
    CHECK_NEAR(number("gb_per_j", 1), 3 / number("energy_j", 1), 1e-6);

    // another process counts whether it was there before the samples or after them
    for (int before = 0; before < 2; before++) {
        g = open_sensing(brief());
        fake_others = before ? 2 : 0;
        int run = 0;
        GPUMB_MEASURE(g, "shared") {
            if (++run == 5)
                fake_others = 2 - fake_others;
            fake_run(5e-3);
        }
        close(g, 0);
        CHECK_STR(column("others").c_str(), "2");
        CHECK(flagged("shared"));
    }

    // what decides on power: how long sampling takes, and how much of it the device is busy
    static const struct {
        double sampling_s, idle_s; // idle before each run of 5 ms
        bool known;
    } cases[] = {{0.1, 0, false},  {0.19, 0, false}, {0.25, 0, true},     {1, 0.2e-3, true},
                 {1, 1e-3, false}, {1, 5e-3, false}, {0.25, 1e-3, false}, {2, 0, true}};
    for (const auto &c : cases) {
        g = open_sensing(lasting(c.sampling_s));
        gpumb_set_bytes(g, 1e9);
        double idle_s = c.idle_s;
        gpumb_set_reset(
            g,
            [](gpumb *, void *seconds) {
                fake_now = std::max(fake_now, fake_busy) + *(double *)seconds;
            },
            &idle_s);
        GPUMB_MEASURE(g, "power") {
            fake_run(drawn(5e-3, 0.1));
        }
        close(g, 0);
        for (const char *name : {"power_w", "energy_j", "gb_per_j"})
            CHECK_CASE((column(name) != "") == c.known, "%s of %g s, %g s idle: \"%s\"", name,
                       c.sampling_s, c.idle_s, column(name).c_str());
        if (c.known) {
            CHECK_NEAR(number("power_w"), 300, 1e-6);
            CHECK(number("energy_j") > 1.45 && number("energy_j") < 1.5 / 0.9 * 1.02);
        }
        CHECK_STR(column("temp_c").c_str(), "40");
    }

    // of one run, however many are in a sample; power as the mean of what it was
    g = open_sensing(lasting(0.6));
    GPUMB_MEASURE(g, "batch") {
        fake_run(drawn(20e-6));
    }
    on_graph = [](const fake_graph *) { fake_graph_cost = drawn(10e-6, 1); };
    GPUMB_MEASURE(g, "graph") {
        known_run(100e-6);
    }
    on_graph = nullptr;
    double began = -1;
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, "mean") {
        began = began < 0 ? fake_now : began;
        fake_power = fake_now - began < 0.4 ? 200 : 400;
        fake_run(drawn(2e-3));
    }
    close(g, 0);
    CHECK_STR(column("timing", 0).c_str(), "batch");
    CHECK_NEAR(number("energy_j", 0), 300 * 20e-6, 300 * 2e-6);
    CHECK_STR(column("timing", 1).c_str(), "graph");
    CHECK_NEAR(number("energy_j", 1), 300 * 100.5e-6, 300 * 5e-6);
    CHECK_NEAR(number("power_w", 2), 300, 12); // 0.2 ... 0.4 s, 0.4 ... 0.6 s

    // unknown to the sensors; none there
    for (int sensors = 0; sensors < 2; sensors++) {
        gpumb_settings s = lasting(0.5);
        std::string table;
        s.quiet = 0;
        for (int known = 0; known < 2; known++) {
            reset();
            fake_sensors = sensors;
            if (!known) {
                fake_power = fake_temperature = 0;
                fake_throttle = fake_others = -1;
            }
            table = printed([&] {
                g = open_after_reset(s);
                gpumb_set_bytes(g, 1e9);
                GPUMB_MEASURE(g, "state") {
                    fake_run(drawn(5e-3));
                }
                gpumb_close(g);
            });
            for (const char *name : state_columns)
                CHECK_CASE(
                    (column(name) != "") == (sensors && (known || strstr(name, "clock") != NULL)),
                    "%s: \"%s\", sensors %d, known %d", name, column(name).c_str(), sensors, known);
        }
        int lines = 0;
        for (size_t at = 0, end; (end = table.find('\n', at)) != std::string::npos; at = end + 1)
            lines += table.substr(at, end - at).find("sensor") != std::string::npos;
        CHECK_INT(lines, !sensors);
    }

    // in words
    static const struct {
        int bits;
        const char *text;
    } reasons[] = {{0, "none"},
                   {GPUMB_THROTTLE_POWER, "power"},
                   {GPUMB_THROTTLE_THERMAL, "thermal"},
                   {GPUMB_THROTTLE_HARDWARE, "hardware"},
                   {GPUMB_THROTTLE_OTHER, "other"},
                   {GPUMB_THROTTLE_POWER | GPUMB_THROTTLE_THERMAL, "power;thermal"},
                   {15, "power;thermal;hardware;other"},
                   {-1, ""}};
    g = open_sensing(brief());
    for (const auto &reason : reasons) {
        fake_throttle = reason.bits;
        fake_others = reason.bits;
        GPUMB_MEASURE(g, "throttle") {
            fake_run(1e-3);
        }
    }
    // before sampling, and gone: not while sampling; while sampling, and gone
    fake_throttle = fake_others = 0;
    latched = GPUMB_THROTTLE_POWER;
    GPUMB_MEASURE(g, "before") {
        fake_run(1e-3);
    }
    runs = 0;
    GPUMB_MEASURE(g, "meanwhile") {
        latched |= ++runs == 5 ? GPUMB_THROTTLE_THERMAL : 0;
        fake_run(1e-3);
    }
    close(g, 0);
    for (int row = 0; row < 8; row++) {
        CHECK_STR(column("throttle", row).c_str(), reasons[row].text);
        CHECK_STR(column("others", row).c_str(),
                  reasons[row].bits < 0 ? "" : std::to_string(reasons[row].bits).c_str());
        CHECK_INT(flagged("throttled", row), reasons[row].bits > 0);
        CHECK_INT(flagged("shared", row), reasons[row].bits > 0);
    }
    CHECK_STR(column("throttle", 8).c_str(), "none");
    CHECK_STR(column("throttle", 9).c_str(), "thermal");
}

// Regions in turn were sampled in one stretch: what was then, was so for all; but whose power?
static void test_sensors_in_turn()
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 200;
    gpumb *g = open_sensing(s);
    int runs = 0;
    GPUMB_INTERLEAVE(g) {
        for (const char *name : {"one", "two", "three"}) {
            gpumb_set_bytes(g, 1e9);
            GPUMB_MEASURE(g, name) {
                latched |= ++runs == 100 ? GPUMB_THROTTLE_POWER : 0;
                fake_temperature = runs < 300 ? 40 : 70;
                fake_run(drawn(5e-3));
            }
        }
    }
    GPUMB_INTERLEAVE(g) { // also where one of them has almost all of the time
        gpumb_set_bytes(g, 1e9);
        GPUMB_MEASURE(g, "long") {
            fake_run(drawn(5e-3));
        }
        GPUMB_MEASURE(g, "short") {
            fake_run(drawn(50e-6));
        }
    }
    close(g, 0);
    CHECK_INT(rows(), 5);
    for (const char *name : {"power_w", "energy_j", "gb_per_j"})
        CHECK_STR(column(name, 3).c_str(), "");
    for (int row = 0; row < 3; row++) {
        for (const char *name : {"power_w", "energy_j", "gb_per_j"})
            CHECK_STR(column(name, row).c_str(), "");
        CHECK_STR(column("temp_before_c", row).c_str(), "40");
        CHECK_STR(column("temp_c", row).c_str(), "70");
        CHECK_STR(column("others", row).c_str(), "0");
        CHECK_CASE(column("throttle", row) == "power" && flagged("throttled", row),
                   "row %d of 3, sampled while throttled: \"%s\"", row,
                   column("throttle", row).c_str());
    }
}

// ---- comparing in one run ----

static const char *const verdict_columns[] = {"compared_with", "ratio", "ratio_lo", "ratio_hi",
                                              "verdict"};

static void check_not_compared(int row)
{
    for (const char *name : verdict_columns)
        CHECK_CASE(column(name, row) == "", "row %d, %s: \"%s\"", row, name,
                   column(name, row).c_str());
}

// How often the second of two regions gets each verdict, and the largest deviation of the ratio.
struct verdicts {
    int count[4];
    double off;
};

static verdicts compare(int seeds, double factor, double spread,
                        const std::function<double()> &load = nullptr)
{
    verdicts v = {{0, 0, 0, 0}, 0};
    for (int seed = 1; seed <= seeds; seed++) {
        gpumb_settings s = settings();
        s.csv = NULL;
        gpumb *g = open(s);
        random_state = (uint64_t)seed * 104729 + 12345;
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(1e-3 * exp(spread * random_normal()) * (load ? load() : 1));
            }
            GPUMB_MEASURE(g, "other") {
                fake_run(1e-3 * exp(spread * random_normal()) * (load ? load() : 1) * factor);
            }
        }
        if (CHECK_INT(gpumb_row_count(g), 2)) {
            const gpumb_result *r = gpumb_row(g, 1);
            v.count[r->comparison.verdict]++;
            v.off = fmax(v.off, fabs(r->comparison.ratio / factor - 1));
            CHECK(r->comparison.lo <= r->comparison.ratio);
            CHECK(r->comparison.ratio <= r->comparison.hi);
        }
        close(g, 0);
    }
    return v;
}

static void test_verdicts()
{
    const int slower = GPUMB_VERDICT_SLOWER, faster = GPUMB_VERDICT_FASTER,
              same = GPUMB_VERDICT_SAME;
    for (double spread : {0.001, 0.01, 0.03, 0.1}) {
        if (SANITIZED) // a matter of many runs
            break;
        const verdicts v = compare(200, 1, spread);
        CHECK_CASE(v.count[slower] + v.count[faster] <= 10, "%d slower, %d faster of 200, %g",
                   v.count[slower], v.count[faster], spread);
        CHECK_CASE(spread > 0.03 || v.count[same] >= 190, "%d the same of 200, %g", v.count[same],
                   spread);
    }
    for (double spread : {0.001, 0.01, 0.03}) {
        if (SANITIZED)
            break;
        const verdicts more = compare(100, 1.02, spread), less = compare(100, 1 / 1.02, spread);
        CHECK_CASE(more.count[slower] >= 95, "%d of 100, %g", more.count[slower], spread);
        CHECK_CASE(less.count[faster] >= 95, "%d of 100, %g", less.count[faster], spread);
    }
    // certain but small
    const verdicts small = compare(50, 1.005, 0.001);
    CHECK_INT(small.count[same], 50);

    // a load that comes and goes, a device that warms up
    for (double factor : {1., 1.1}) {
        const verdicts loaded = compare(
            40, factor, 0.002, [] { return 1 + 0.5 * ((int)((fake_now - 100) / 0.037) % 2); });
        CHECK_CASE(loaded.off < 0.005, "off by %g", loaded.off);
        const verdicts random_load = compare(40, factor, 0.002, [] {
            uint64_t x = (uint64_t)((fake_now - 100) / 0.05) * 0x9e3779b97f4a7c15u;
            return 1 + 0.4 * (double)(x >> 63);
        });
        CHECK_CASE(random_load.off < 0.005, "off by %g", random_load.off);
        const verdicts warming =
            compare(40, factor, 0.002, [] { return 1 + exp(-(fake_now - 100) / 0.3); });
        CHECK_CASE(warming.off < 0.005, "off by %g", warming.off);
    }
}

static void test_verdict_columns()
{
    gpumb *g = open(settings());
    GPUMB_MEASURE(g, "alone") {
        fake_run(1e-3);
    }
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "only") {
            fake_run(1e-3);
        }
    }
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "first") {
            fake_run(1e-3 * noise(0.003));
        }
        GPUMB_MEASURE(g, "same") {
            fake_run(1e-3 * noise(0.003));
        }
        GPUMB_MEASURE(g, "slower") {
            fake_run(1.1e-3 * noise(0.003));
        }
        GPUMB_MEASURE(g, "faster") {
            fake_run(0.5e-3 * noise(0.003));
        }
    }
    close(g, 0);
    for (int row = 0; row < 3; row++)
        check_not_compared(row);
    static const double ratios[] = {1, 1.1, 0.5};
    for (int row = 3; row < 6; row++) {
        const double ratio = ratios[row - 3];
        CHECK_STR(column("compared_with", row).c_str(), "first");
        CHECK_STR(column("verdict", row).c_str(), column("kernel", row).c_str());
        CHECK_NEAR(number("ratio", row), ratio, 0.003);
        CHECK(number("ratio_lo", row) > 0.98 * ratio);
        CHECK(number("ratio_lo", row) < number("ratio", row));
        CHECK(number("ratio_hi", row) > number("ratio", row));
        CHECK(number("ratio_hi", row) < 1.02 * ratio);
    }
}

// Samples with the same number are of the same round, whatever the ways of timing and however long
// each takes to warm up; and rounds begin with each region equally often.
static void test_rounds()
{
    enum { EVENTS, MIXED, HOSTS, CASES };
    for (int kind = 0; kind < CASES; kind++)
        for (int warm = 0; warm < 2; warm++) {
            gpumb_settings s = settings();
            s.min_samples = s.max_samples = 60;
            s.warmup_s = warm ? 0.5 : -1;
            gpumb *g = open(s);
            static const char *const names[] = {"p", "q", "r"};
            static const double lengths[] = {1e-3, 20e-6, 2e-3};
            std::vector<int> when[3];
            int event = 0, graph_launches = 0;
            on_graph = [&](const fake_graph *) {
                if (graph_launches++ % 2)
                    when[1].push_back(event++);
            };
            GPUMB_INTERLEAVE(g) {
                for (int i = 0; i < 3; i++) {
                    if (kind == HOSTS)
                        gpumb_set_timing(g, i ? GPUMB_TIMING_EVENT : GPUMB_TIMING_HOST);
                    else
                        gpumb_set_timing(g, kind == MIXED && i == 1 ? GPUMB_TIMING_GRAPH
                                                                    : GPUMB_TIMING_EVENT);
                    GPUMB_MEASURE(g, names[i]) {
                        const bool in_graph = kind == MIXED && i == 1;
                        if (!in_graph)
                            when[i].push_back(event++);
                        const double left = fmax(0, 1 - (fake_now - 100) / (i == 2 ? 0.3 : 0.05));
                        known_run(lengths[i] * (1 + (fake_capturing ? 0 : left)));
                    }
                }
            }
            close(g, 0);
            int first[3] = {0, 0, 0}, overlaps = 0;
            const bool enough =
                when[0].size() >= 60 && when[1].size() >= 60 && when[2].size() >= 60;
            for (int i = 0; i < 3 && CHECK(enough); i++) {
                CHECK_STR(column("samples", i).c_str(), "60");
                when[i].erase(when[i].begin(), when[i].end() - 60);
            }
            for (size_t k = 0; k < 60 && enough; k++) {
                const int at[] = {when[0][k], when[1][k], when[2][k]};
                const int *least = std::min_element(at, at + 3);
                first[least - at]++;
                if (k + 1 < 60)
                    overlaps += std::max({at[0], at[1], at[2]}) >
                                std::min({when[0][k + 1], when[1][k + 1], when[2][k + 1]});
            }
            CHECK_CASE(overlaps == 0, "%d rounds overlap the next, kind %d, warm-up %d", overlaps,
                       kind, warm);
            for (int n : first)
                CHECK_CASE(n >= 18 && n <= 22, "first %d times of 60, kind %d, warm-up %d", n, kind,
                           warm);
        }
}

// With what is in a ratio on a device besides what the rounds show: 0.05 % of it.
static gpumb_comparison widened(gpumb_comparison c)
{
    const double besides = 0.0005 * c.ratio, below = c.ratio - c.lo, above = c.hi - c.ratio;
    c.lo = c.ratio - sqrt(below * below + besides * besides);
    c.hi = c.ratio + sqrt(above * above + besides * besides);
    return c;
}

// The ratios are those of the rounds, each with its share of the error.
static void test_bonferroni()
{
    for (int regions = 2; regions <= 4; regions++) {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        s.min_samples = s.max_samples = 50;
        reset();
        fake_quantum = fake_floor = fake_launch_cost = 0;
        gpumb *g = open_after_reset(s);
        std::vector<double> times[4];
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < regions; i++) {
                gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_MEASURE(g, std::string(1, (char)('a' + i)).c_str()) {
                    times[i].push_back(1e-3 * (1 + 0.01 * i) * noise(0.02));
                    fake_run(times[i].back());
                }
            }
        }
        double wider = 0;
        for (int i = 1; i < regions && CHECK_INT(gpumb_row_count(g), regions); i++) {
            if (!CHECK_INT(times[i].size(), 51) || !CHECK_INT(times[0].size(), 51))
                break; // the first launch is none
            const gpumb_comparison wanted =
                widened(gpumb_compare_rounds(&times[0][1], &times[i][1], 50, 0.01, regions - 1));
            const gpumb_comparison single =
                widened(gpumb_compare_rounds(&times[0][1], &times[i][1], 50, 0.01, 1));
            const gpumb_comparison &c = gpumb_row(g, (size_t)i)->comparison;
            CHECK_INT(c.rounds, 50);
            CHECK_NEAR(c.ratio, wanted.ratio, 1e-8);
            CHECK_NEAR(c.lo, wanted.lo, 1e-8);
            CHECK_NEAR(c.hi, wanted.hi, 1e-8);
            CHECK_INT(c.verdict, wanted.verdict);
            wider += (c.hi - c.lo) - (single.hi - single.lo);
        }
        CHECK(regions == 2 ? fabs(wider) < 1e-8 : wider > 1e-4);
        close(g, 0);
    }
}

// Times that do not differ leave what captures differ by: 0.05 % of a time, 0.35 % of the gap.
static void test_captures()
{
    for (double seconds : {2e-6, 20e-6}) {
        gpumb *g = open(settings());
        const double gap_s = fake_node_cost;
        fake_quantum = 0;
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "a") {
                known_run(seconds);
            }
            GPUMB_MEASURE(g, "b") {
                known_run(seconds);
            }
        }
        if (CHECK_INT(gpumb_row_count(g), 2)) {
            const gpumb_result *r = gpumb_row(g, 1);
            CHECK_INT(r->timing, GPUMB_TIMING_GRAPH);
            CHECK_NEAR(r->comparison.hi - 1, hypot(0.0005, 0.0035 * gap_s / seconds), 1e-5);
            CHECK_NEAR(1 - r->comparison.lo, hypot(0.0005, 0.0035 * gap_s / seconds), 1e-5);
        }
        close(g, 0);
    }
}

// Verdicts on all regions but the first, which are as fast as it, or the last of them `factor`
// times as slow, where one slows down what runs next, or every so many-th run takes half as long
// again.
static void disturbed(int regions, int who, int every, double factor, int *wrong, int *right)
{
    *wrong = *right = 0;
    for (int seed = 1; seed <= 20; seed++) {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        s.seed = (uint64_t)seed;
        s.csv = NULL;
        gpumb *g = open(s);
        random_state = (uint64_t)seed * 104729 + 12345;
        int before = -1, runs = seed;
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < regions; i++) {
                gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_MEASURE(g, std::string(1, (char)('a' + i)).c_str()) {
                    double seconds = 1e-3 * exp(0.003 * random_normal());
                    seconds *= (i == regions - 1 ? factor : 1) * (before == who ? 1.02 : 1);
                    fake_run(seconds + (every && ++runs % every == 0 ? 0.5e-3 : 0));
                    before = i;
                }
            }
        }
        for (int i = 1; i < regions && CHECK_INT(gpumb_row_count(g), regions); i++) {
            const int slower = factor > 1.01 && i == regions - 1;
            const int verdict = gpumb_row(g, (size_t)i)->comparison.verdict;
            *right += verdict == (slower ? GPUMB_VERDICT_SLOWER : GPUMB_VERDICT_SAME);
            *wrong += verdict == GPUMB_VERDICT_FASTER ||
                      verdict == (slower ? GPUMB_VERDICT_SAME : GPUMB_VERDICT_SLOWER);
        }
        close(g, 0);
    }
}

// Neither what regions do to each other nor what comes at intervals makes a verdict wrong.
static void test_drawn_rounds()
{
    for (int regions = 2; regions <= 4; regions++) {
        const int all = 20 * (regions - 1);
        int wrong, right;
        for (int who = 0; who < 2 && regions > 2; who++) {
            disturbed(regions, who, 0, 1, &wrong, &right);
            CHECK_CASE(wrong == 0 && right >= 0.95 * all,
                       "%d regions, %d slows down the next: %d wrong, %d right of %d", regions, who,
                       wrong, right, all);
        }
        for (int every = 3; every <= 5; every++)
            for (double factor : {1.005, 1.02}) {
                disturbed(regions, -1, every, factor, &wrong, &right);
                CHECK_CASE(wrong <= 0.05 * all && right >= 0.9 * all,
                           "%d regions, a spike every %d, %g: %d wrong, %d right of %d", regions,
                           every, factor, wrong, right, all);
            }
    }
}

// Which of the two graphs is first takes turns within two samples, and not at equal intervals.
static void test_drawn_graphs()
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 60;
    gpumb *g = open(s);
    std::vector<uint64_t> runs;
    on_graph = [&](const fake_graph *graph) { runs.push_back(graph->runs); };
    GPUMB_MEASURE(g, "graph") {
        known_run(20e-6);
    }
    close(g, 0);
    if (!CHECK(runs.size() >= 120))
        return;
    runs.erase(runs.begin(), runs.end() - 120);
    int long_first = 0, again = 0;
    for (size_t i = 0; i < 120; i += 4) {
        const bool first = runs[i] > runs[i + 1];
        CHECK(runs[i] != runs[i + 1] && first == (runs[i + 3] > runs[i + 2]));
        long_first += first;
        again += i > 0 && first == (runs[i - 4] > runs[i - 3]);
    }
    CHECK_CASE(long_first >= 7 && long_first <= 23, "the long one is first in %d of 30",
               long_first);
    CHECK_CASE(again >= 7 && again <= 23, "as before in %d of 29", again);
}

// The ratio of the rounds is not that of the medians where noise is skewed: a line says so.
static void test_skewed_rounds()
{
    for (int skewed = 0; skewed < 2; skewed++) {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        s.min_samples = s.max_samples = 3000;
        s.budget_s = 60;
        gpumb *g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(1e-3 * exp(0.3 * random_normal()));
            }
            GPUMB_MEASURE(g, "other") {
                const double x = random_normal();
                fake_run(1e-3 * exp(skewed ? 0.4 * x * x : 0.3 * x));
            }
        }
        close(g, 0);
        CHECK_INT(times_in(heard, "other: round by round it takes 1."), skewed);
        CHECK_INT(times_in(heard, "round by round"), skewed);
    }
}

static void test_undecided()
{
    for (int budget = 0; budget < 2; budget++) {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        if (budget)
            s.budget_s = 0.1;
        else
            s.max_samples = 40;
        gpumb *g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(drawn(1e-3, 1));
            }
            GPUMB_MEASURE(g, "other") {
                fake_run(drawn(1.02e-3, 1));
            }
        }
        close(g, 0);
        CHECK_STR(column("verdict", 1).c_str(), "undecided");
        CHECK_STR(column("compared_with", 1).c_str(), "base");
        CHECK(number("ratio_lo", 1) < 1 && number("ratio_hi", 1) > 1);
        for (int row = 0; row < 2; row++) {
            CHECK_STR(column("stop", row).c_str(), budget ? "budget" : "samples");
            CHECK(flagged("noisy", row));
        }
        // precise at its last look (46), and not in the end
        s = settings();
        s.warmup_s = -1;
        s.delta = 1e-4;
        s.max_samples = 69;
        int runs = 0;
        g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(drawn(++runs <= 47 ? 1e-3 : 3e-3, 0.001));
            }
            GPUMB_MEASURE(g, "other") {
                fake_run(drawn(1e-3, 0.001));
            }
        }
        close(g, 0);
        CHECK_INT(number("samples"), 69);
        CHECK(number("ci_hi_s") - number("ci_lo_s") > 0.1 * number("median_s"));
        CHECK_STR(column("stop").c_str(), "samples");
        CHECK(flagged("noisy"));
        CHECK_STR(column("stop", 1).c_str(), "precision");
        CHECK(!flagged("noisy", 1));
        // each is precise at once, the ratio is not: it goes on, up to a limit
        s = settings();
        s.precision = 0.2;
        s.delta = 1e-4;
        s.warmup_s = -1;
        s.max_samples = 300;
        g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base") {
                fake_run(drawn(1e-3, 0.1));
            }
            GPUMB_MEASURE(g, "other") {
                fake_run(drawn(1e-3, 0.1));
            }
        }
        close(g, 0);
        CHECK_STR(column("samples", 0).c_str(), "300");
        CHECK_STR(column("samples", 1).c_str(), "300");
        CHECK_STR(column("verdict", 1).c_str(), "undecided");
    }

    // too few for an interval
    gpumb_settings s = brief();
    s.min_samples = s.max_samples = 5;
    gpumb *g = open(s);
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "base") {
            fake_run(1e-3);
        }
        GPUMB_MEASURE(g, "other") {
            fake_run(2e-3);
        }
    }
    close(g, 0);
    CHECK_STR(column("verdict", 1).c_str(), "undecided");
    CHECK_STR(column("ratio_lo", 1).c_str(), "");
}

// A missing interval is not shown as numbers, nor is the end of one that would be below zero.
static void test_missing_intervals()
{
    enum { TOO_FEW, ENOUGH, RISING, KINDS }; // the last tells too little for a lower end
    for (int kind = 0; kind < KINDS; kind++) {
        const uint64_t rounds = kind == TOO_FEW ? 5 : 6;
        const std::string text = printed([&] {
            gpumb_settings s = settings();
            s.warmup_s = -1;
            s.quiet = 0;
            s.min_samples = s.max_samples = rounds;
            int runs = 0;
            gpumb *g = open(s);
            GPUMB_INTERLEAVE(g) {
                GPUMB_MEASURE(g, "base") {
                    fake_run(1e-3);
                }
                GPUMB_MEASURE(g, "other") {
                    runs++;
                    fake_run(kind == RISING ? runs * 1e-3 : drawn(1e-3, 0.01));
                }
            }
            const gpumb_result *r = gpumb_last_result(g);
            CHECK_INT(r->comparison.hi > 0, rounds == 6);
            CHECK_INT(r->comparison.lo > 0, kind == ENOUGH);
            gpumb_print_result(r);
            close(g, 0);
        });
        CHECK_INT(times_in(text, " x base (no interval)"), rounds == 5);
        CHECK_INT(times_in(text, " ... "), rounds == 5 ? 0 : 2);
        CHECK_INT(times_in(text, "? ... "), kind == RISING ? 2 : 0);
        CHECK_INT(times_in(text, "0.0000"), 0);
        CHECK_INT(column("ratio_lo", 1).empty(), rounds == 5);
        CHECK_INT(column("ci_hi_s", 1).empty(), rounds == 5);
    }
}

enum trouble { FINE, WRONG, WRONG_AT_LAST, SKIPPED, BAD_TIMES, LATE_BAD_TIME };

static void test_troubled_rounds()
{
    static const char *const status[] = {"ok", "failed", "failed", "skipped", "ok", "ok"};
    for (int where = 0; where < 3; where++)
        for (int what = WRONG; what <= LATE_BAD_TIME; what++) {
            gpumb_settings s = settings();
            s.warmup_s = -1;
            if (what == LATE_BAD_TIME) // between the first and the second look at the ratios
                s.precision = 0.2;
            gpumb *g = open(s);
            int checks = 0;
            GPUMB_INTERLEAVE(g) {
                for (int i = 0; i < 3; i++) {
                    const int trouble = i == where ? what : FINE;
                    int runs = 0;
                    if (trouble == WRONG)
                        gpumb_set_verify(
                            g, [](gpumb *, void *) { return 0; }, NULL);
                    if (trouble == WRONG_AT_LAST)
                        gpumb_set_verify(
                            g, [](gpumb *, void *n) { return ++*(int *)n == 1 ? 1 : 0; }, &checks);
                    if (trouble == SKIPPED)
                        gpumb_skip(g, "not today");
                    static int run_of[3];
                    run_of[i] = g->interleave.collecting ? 0 : run_of[i];
                    GPUMB_MEASURE(g, std::string(1, (char)('a' + i)).c_str()) {
                        runs = run_of[i]++;
                        spoil += (trouble == BAD_TIMES && runs % 10 == 5) ||
                                 (trouble == LATE_BAD_TIME && runs == 40);
                        fake_run(1e-3 * (i + 1) * noise(0.08));
                    }
                }
            }
            const int code = gpumb_close(g);
            const bool fails = what == WRONG || what == WRONG_AT_LAST;
            CHECK_INT(code, fails ? GPUMB_EXIT_FAILED : 0);
            CHECK(fake_clean());
            CHECK_INT(rows(), 3);
            const int failed_before = check_failed;
            // what is left out of one is left out of all, and a line says so
            CHECK_INT(times_in(heard, "showed a time of zero"), what >= BAD_TIMES);
            CHECK(what != LATE_BAD_TIME || times_in(heard, "a: in 1 of ") == 1);
            for (int row = 1; row < 3 && what >= BAD_TIMES; row++) // the budget may split a round
                CHECK_NEAR(number("samples", row), number("samples", 0), 1);
            for (int row = 0; row < 3; row++) {
                CHECK_STR(column("status", row).c_str(), status[row == where ? what : FINE]);
                CHECK_INT(flagged("bad-time", row), row == where && what >= BAD_TIMES);
                if (row == 0 || (what < BAD_TIMES && (row == where || where == 0))) {
                    check_not_compared(row);
                } else {
                    CHECK_STR(column("compared_with", row).c_str(), "a");
                    CHECK_STR(column("verdict", row).c_str(), "slower");
                    CHECK_NEAR(number("ratio", row), row + 1, 0.05 * (row + 1));
                }
            }
            if (check_failed != failed_before)
                printf("    region %d of 3, trouble %d\n", where, what);
        }
}

// ---- progress ----

static std::string on_terminal, piped; // what the last program wrote to each

// Runs `program` in a process with standard error, and standard output if `both`, on a pseudo
// terminal. 0: there is none.
static int play(const std::function<void()> &program, bool terminal, bool both = false)
{
    int ends[2], outs[2];
    on_terminal.clear();
    piped.clear();
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master) || pipe(ends) || pipe(outs))
        return 0;
    const int slave = ::open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        return 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(terminal ? slave : ends[1], 2);
        dup2(both ? slave : outs[1], 1);
        program();
        fflush(stdout);
        _exit(0);
    }
    ::close(slave);
    ::close(ends[1]);
    ::close(outs[1]);
    struct pollfd from[] = {{master, POLLIN, 0}, {ends[0], POLLIN, 0}, {outs[0], POLLIN, 0}};
    for (int open_ends = 3; open_ends > 0 && poll(from, 3, 20000) > 0;)
        for (struct pollfd &end : from) {
            char piece[4096];
            if (end.fd < 0 || !end.revents)
                continue;
            const ssize_t n = read(end.fd, piece, sizeof piece);
            if (n > 0) {
                (end.fd == master ? on_terminal : piped).append(piece, (size_t)n);
            } else {
                end.fd = -1;
                open_ends--;
            }
        }
    ::close(master);
    ::close(ends[0]);
    ::close(outs[0]);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    return 1;
}

// What a terminal shows in the end, and all lines that were there at some time: \r goes back.
static std::string screen(const std::string &text, std::vector<std::string> *shown)
{
    std::string done, line;
    size_t at = 0;
    for (char c : text) {
        if (c == '\r' || c == '\n') {
            std::string trimmed = line;
            trimmed.erase(trimmed.find_last_not_of(' ') + 1);
            if (shown && !trimmed.empty())
                shown->push_back(trimmed);
            if (c == '\n') {
                done += trimmed + "\n";
                line.clear();
            }
            at = 0;
        } else {
            line.resize(std::max(line.size(), at + 1), ' ');
            line[at++] = c;
        }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return done + line;
}

static void progressing(const gpumb_settings &s, int extra)
{
    gpumb *g = open(s);
    if (extra)
        GPUMB_MEASURE(g, "extra") {
            fake_run(10);
        }
    GPUMB_SWEEP_RANGE(g, size, 1, 4, 1) {
        GPUMB_MEASURE(g, "work") {
            fake_run(2);
        }
    }
    gpumb_close(g);
}

static gpumb_settings loud()
{
    gpumb_settings s = brief();
    s.quiet = 0;
    s.csv = NULL;
    s.no_color = 1;
    s.min_samples = s.max_samples = 6;
    s.budget_s = 1000;
    return s;
}

static int minutes_left(const std::string &line) // in seconds; -1: not told
{
    int minutes, seconds;
    const size_t at = line.find(", ");
    if (at == std::string::npos ||
        sscanf(line.c_str() + at, ", %d:%2d left", &minutes, &seconds) != 2)
        return -1;
    return 60 * minutes + seconds;
}

static void test_progress()
{
    if (!play([] { progressing(loud(), 0); }, true)) {
        SKIP("no pseudo terminals");
        return;
    }
    std::vector<std::string> shown;
    CHECK_STR(screen(on_terminal, &shown).c_str(), ""); // nothing stays
    if (CHECK_INT(shown.size(), 4))
        for (int k = 1; k <= 4; k++) {
            const std::string &line = shown[(size_t)k - 1];
            char count[24], size[24];
            snprintf(count, sizeof count, "%d/4", k);
            snprintf(size, sizeof size, "size=%d", k);
            CHECK_CASE(line.find(count) != std::string::npos, "%s", line.c_str());
            CHECK_CASE(line.find(size) != std::string::npos, "%s", line.c_str());
            CHECK(line.find("work") != std::string::npos);
            // 7 runs of 2 s each
            CHECK_CASE(k == 1 ? minutes_left(line) < 0
                              : abs(minutes_left(line) - 14 * (5 - k)) <= 1,
                       "%s", line.c_str());
        }
    CHECK_INT(times_in(piped, "work"), 4);
    CHECK(piped.find('\r') == std::string::npos);

    // both on the terminal: each row on a line of its own, of which the progress line is gone
    play([] { progressing(loud(), 0); }, true, true);
    shown.clear();
    const std::string table = screen(on_terminal, &shown);
    CHECK_INT(times_in(table, "work"), 4);
    CHECK(table.find("/4") == std::string::npos && table.find(" left") == std::string::npos);
    CHECK(std::count_if(shown.begin(), shown.end(), [](const std::string &line) {
              return line.find("/4") != std::string::npos;
          }) == 4);

    // the rows on standard output are a file's
    play(
        [] {
            gpumb_settings s = loud();
            s.csv = "-";
            progressing(s, 0);
        },
        true);
    CHECK_INT(times_in(piped, "work"), 4);
    CHECK(piped.find('\r') == std::string::npos);

    // an error is not written into the line
    play(
        [] {
            gpumb *g = open(loud());
            GPUMB_MEASURE(g, "lost") {
                fake_run(1);
                fake_lost = 1;
            }
            gpumb_close(g);
        },
        true);
    CHECK_STR(screen(on_terminal, NULL).c_str(), "");

    // the search for configurations is no silence, and leaves nothing behind
    play(
        [] {
            gpumb *g = open(loud());
            fake_clock_cost = 1e-3;
            GPUMB_SWEEP_RANGE(g, size, 1, 1000, 1) {
                if (!gpumbi_dry(g))
                    g->done = 1;
                GPUMB_MEASURE(g, "never") {
                    fake_run(1);
                }
            }
            gpumb_close(g);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    const long found = std::count_if(shown.begin(), shown.end(), [](const std::string &line) {
        return line.find(" regions found so far] test_trust") != std::string::npos;
    });
    CHECK_CASE(found == 3, "%ld lines in a second", found); // each quarter, but for the first

    // a row outside the sweep counts too
    play([] { progressing(loud(), 1); }, true);
    shown.clear();
    screen(on_terminal, &shown);
    if (CHECK_INT(shown.size(), 5))
        for (int k = 2; k <= 5; k++) {
            const std::string &line = shown[(size_t)k - 1];
            char count[24];
            snprintf(count, sizeof count, "%d/5", k);
            CHECK_CASE(line.find(count) != std::string::npos, "%s, not %s", line.c_str(), count);
        }

    // benchmarks: all rows of the program are known from the beginning
    play(
        [] {
            static const gpumb_benchmark list[] = {
                {"one", "", [](gpumb *b) { one_axis(b, "x", 0); }},
                {"two", "", [](gpumb *b) { one_axis(b, "y", 0); }},
            };
            const char *options[] = {"test_trust", "--samples=6:6", "--warmup=0"};
            reset();
            gpumb_main(3, (char **)options, list, 2);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    if (CHECK_INT(shown.size(), 12)) {
        CHECK(shown[0].find("1/12") != std::string::npos);
        CHECK(shown[11].find("12/12") != std::string::npos);
        CHECK(shown[11].find("two/y a=6") != std::string::npos);
    }

    // drawn order: rows wait, the line does not
    play(
        [] {
            gpumb_settings s = loud();
            s.shuffle = 1;
            progressing(s, 0);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    CHECK_INT(shown.size(), 4);

    // no terminal; quiet; a single result
    play([] { progressing(loud(), 0); }, false);
    CHECK_STR(on_terminal.c_str(), "");
    CHECK(piped.find('\r') == std::string::npos && piped.find("/4") == std::string::npos);
    play(
        [] {
            gpumb_settings s = loud();
            s.quiet = 1;
            progressing(s, 0);
        },
        true);
    CHECK_STR(on_terminal.c_str(), "");
    play(
        [] {
            gpumb_result r;
            gpumb *g = open(loud());
            GPUMB_TIME(&r) {
                fake_run(1);
            }
            gpumb_close(g);
        },
        true);
    CHECK_STR(on_terminal.c_str(), "");
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    csv_path = "/tmp/test_trust." + std::to_string((long)getpid()) + ".csv";
    json_path = csv_path + ".json";
    test_automatic_way();
    test_calibration();
    test_fall_back();
    test_ways_in_turn();
    test_launch_bound();
    test_cold();
    test_cold_memory();
    test_order();
    test_orders_of_many();
    test_order_ends_early();
    test_each_flag();
    test_explain();
    test_missing_intervals();
    test_series();
    test_sensors();
    test_sensors_in_turn();
    test_verdicts();
    test_verdict_columns();
    test_rounds();
    test_bonferroni();
    test_captures();
    test_drawn_rounds();
    test_drawn_graphs();
    test_skewed_rounds();
    test_undecided();
    test_troubled_rounds();
    test_progress();
    remove_file(csv_path);
    unlink(json_path.c_str());
    return CHECK_SUMMARY();
}

// test_clock.cpp - by which clock a region is timed, on a scripted one: event pairs, batches,
// graphs and the host; what is subtracted, what is launch-bound, and samples with cold caches.
#include "watched.h"
#include <math.h>

// ---- the way of timing, without graphs ----

static void test_way()
{
    gpumb_result r;
    gpumb *g = open_without_graphs(settings());
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_EVENT);
    CHECK_INT(r.batch, 1);
    CHECK_NEAR(r.time.median, 5e-3, 1e-5);
    CHECK_NEAR(r.time.median + r.overhead_s, 5e-3, 1e-5);

    GPUMB_TIME(&r) {
        fake_run(2e-6);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_BATCH);
    CHECK(r.batch >= 8);
    CHECK_NEAR(r.time.median, 2e-6, 0.1e-6);
    close(g, 0);

    // measurement.md: within 5 % of the span from 2 us on, or flagged
    for (double seconds = 2e-6; seconds < 20e-3; seconds *= 1.5) {
        g = open_without_graphs(settings());
        GPUMB_TIME(&r) {
            fake_run(seconds);
        }
        if (!CHECK(fabs(r.time.median / seconds - 1) < 0.05 || (r.flags & GPUMB_FLAG_RESOLUTION)))
            printf("    %g s is reported as %g s, batch %d\n", seconds, r.time.median,
                   (int)r.batch);
        CHECK((r.timing == GPUMB_TIMING_BATCH) == (r.batch > 1));
        close(g, 0);
    }

    // also without a warm-up, and with a first launch that says nothing of the others
    for (int i = 0; i < 2; i++) {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        g = open_without_graphs(s);
        int runs = 0;
        GPUMB_TIME(&r) {
            fake_run(runs++ ? 3e-6 : i ? 0.05 : 3e-6);
        }
        if (!CHECK(fabs(r.time.median / 3e-6 - 1) < 0.05 || (r.flags & GPUMB_FLAG_RESOLUTION)))
            printf("    3e-6 s is reported as %g s, batch %d\n", r.time.median, (int)r.batch);
        close(g, 0);
    }

    // a wish is a command
    g = open_without_graphs(settings());
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_TIME(&r) {
        fake_run(2e-6);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_EVENT);
    CHECK_INT(r.batch, 1);
    CHECK(r.time.median > 1e-6 && r.time.median < 4e-6); // the span and what the pair costs

    gpumb_set_timing(g, GPUMB_TIMING_BATCH);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_BATCH);
    CHECK_NEAR(r.time.median, 5e-3, 2e-5);

    // from before the launch to after its completion; launch and looks at the clock are in it
    fake_launch_cost = 40e-6;
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_TIME(&r) {
        fake_run(2e-6);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_HOST);
    CHECK_INT(r.batch, 1);
    CHECK_NEAR(r.time.median + r.overhead_s, 42e-6, 0.5e-6);
    CHECK(r.overhead_s >= 0 && r.overhead_s < 0.5e-6);
    close(g, 0);

    // without events there is the host's clock
    const gpumb_settings s = settings();
    reset();
    fake_backend = "cpu";
    g = gpumb_open_settings("watched", &s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.timing, GPUMB_TIMING_HOST);
    CHECK_NEAR(r.time.median, 5e-3, 1e-5);
    close(g, 0);
}

// What is subtracted is said: the raw time is the sum.
static void test_overhead()
{
    gpumb_settings s = settings();
    reset();
    fake_floor = 10e-6;
    fake_quantum = 1e-6;
    gpumb *g = gpumb_open_settings("watched", &s);
    const gpumb_device *d = gpumb_get_device(g);
    CHECK_NEAR(d->floor_s, 10e-6, 1.01e-6);
    gpumb_result r;
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_NEAR(r.time.median + r.overhead_s, 1.010e-3, 2e-6);
    CHECK(r.overhead_s >= 0 && r.overhead_s <= 10.5e-6);
    close(g, 0);
}

static void test_calibration_without_graphs()
{
    gpumb *g = open_without_graphs(settings());
    const gpumb_device *d = gpumb_get_device(g);
    CHECK_STR(d->name, "Fake 9000");
    CHECK_INT(d->multiprocessors, 100);
    CHECK_NEAR(d->floor_s, 0.6e-6, 32e-9);
    CHECK_NEAR(d->quantum_s, 32e-9, 1e-10);
    CHECK_NEAR(d->peak_bytes_per_s, 1e12, 0);
    CHECK(fake_now - 100 < 0.02); // "20 ms of calibration"
    close(g, 0);

    gpumb_settings s = settings();
    s.peak_gbps = 500;
    g = open_without_graphs(s);
    CHECK_NEAR(gpumb_get_device(g)->peak_bytes_per_s, 5e11, 1);
    close(g, 0);

    reset();
    fake_devices = 0;
    g = gpumb_open_settings("watched", &s);
    CHECK(g != NULL);
    CHECK(!gpumb_ok(g));
    int runs = 0;
    GPUMB_MEASURE(g, "nothing") {
        runs++;
    }
    CHECK_INT(runs, 0);
    close(g, GPUMB_EXIT_NO_DEVICE);
    CHECK(!heard.empty());

    s.device = 7;
    reset();
    g = gpumb_open_settings("watched", &s);
    CHECK(!gpumb_ok(g));
    CHECK(gpumb_close(g) != 0);
}

// ---- the way of timing, with graphs ----

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
    static const double spans[] = {2e-6, 3e-6, 5e-6, 20e-6, 100e-6, 400e-6, 1e-3};
    static const double longer[] = {1.6e-3, 3e-3, 5e-3};
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

enum {
    BEGIN_FAILS,
    END_FAILS,
    LATER_BEGIN_FAILS,
    SECOND_GRAPH_FAILS,
    EMPTY,
    A_THIRD,
    TROUBLES,
    MOST,
    ALL
};

// Captures before that of the first graph: of a body and of an empty kernel, in turn, while the
// device is free and while it is kept busy.
enum { WITNESSES = 4 * GPUMBI_LOOKS };

static void measure_uncapturable(gpumb *g, int trouble, const char *name)
{
    const double t = 20e-6;
    static const double part[] = {1, 1, 1, 1, 0, 1. / 3, 1, 0.8, 1};
    static const uint64_t fails_at[] = {1, 1, 3, WITNESSES + 2};
    fake_fail_error = FAKE_REFUSED;
    fake_fail_verb = trouble == END_FAILS ? FAKE_CAPTURE_END : FAKE_CAPTURE_BEGIN;
    fake_fail_verb_at = trouble <= SECOND_GRAPH_FAILS ? fails_at[trouble] : 0;
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
            for (size_t row = 0; row < 2; row++)
                CHECK_INT(!(gpumb_row(g, row)->flags & GPUMB_FLAG_OTHER_STREAMS), trouble != EMPTY);
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

    // a copy that goes elsewhere: the fake does it while the body is captured
    reset();
    fake_moves = 1 << 16;
    gpumb *g = open_after_reset(settings());
    gpumb_buffer *x = gpumb_alloc(g, 20 << 20), *y = gpumb_alloc(g, 20 << 20);
    GPUMB_MEASURE(g, "copy") {
        gpumb_memcpy(g, gpumb_data(y), gpumb_data(x), 20000000); // 40 us
        known_run(5e-6);
    }
    CHECK_STR(heard.c_str(), "");
    close(g, GPUMB_EXIT_FAILED);
    CHECK(column("reason", 0).find("another stream") != std::string::npos);
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

// What the gap hides differs between rows: 8 % of it is added to what the samples say.
static void test_launch_bound_interval()
{
    for (double t : {2e-6, 20e-6}) {
        gpumb *g = open(settings());
        gpumb_result r;
        GPUMB_TIME(&r) {
            known_run(t);
        }
        close(g, 0);
        const double half = (r.time.ci_hi - r.time.ci_lo) / 2;
        CHECK_INT((r.flags & GPUMB_FLAG_LAUNCH_BOUND) != 0, t < 10e-6);
        CHECK_NEAR(half, t < 10e-6 ? 0.08 * gap : 0.0015 * t, 0.1 * 0.08 * gap);
    }
}

// What samples can't show keeps the interval from the precision: there is no end to wait for.
static void test_no_narrower()
{
    for (double t : {0.2e-6, 20e-6})
        for (double sd : {0.0, 0.005, 0.02}) {
            random_state = 7;
            gpumb *g = open(settings());
            gpumb_result r;
            GPUMB_TIME(&r) {
                known_run(t * (1 + sd * random_normal()));
            }
            close(g, 0);
            CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
            CHECK(r.sampled_s < 0.5);
            CHECK_INT((r.flags & GPUMB_FLAG_NOISY) != 0, t < 10e-6);
        }
}

// The graph launch that is so many from now on takes so many times as long, once.
static int interrupted;
static double interrupted_times;

static double interrupted_once()
{
    return interrupted && --interrupted == 0 ? interrupted_times : 1;
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
    // whose empty kernel takes 3 us and the fake's floor, 3.6: known to 0.2, as a gap of 1.2 us is
    for (int cold = 0; cold < 2; cold++)
        for (double seconds : {3e-6, 3.8e-6, 4.2e-6}) {
            reset();
            fake_node_cost = cold ? 0.5e-6 : 1.2e-6;
            if (cold)
                empty_s = 3e-6, block_s = 0;
            gpumb *g = open_after_reset(settings());
            gpumb_set_cache(g, cold ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
            GPUMB_MEASURE(g, cold ? "cold" : "hot") {
                known_run(cold * 3e-6 + seconds);
            }
            close(g, 0);
            CHECK_INT(flagged("launch-bound"), seconds < 4e-6);
        }
    // which is taken again for each region: it wanders, and has two levels, the upper one of which
    // may be that of a host that was busy
    for (double upper : {0.16e-6, 5e-6}) {
        reset();
        empty_s = 3e-6;
        block_s = 0;
        uneven_s = upper;
        gpumb *g = open_after_reset(settings());
        for (int row = 0; row < 2; row++) {
            empty_s += row * 0.32e-6;
            gpumb_set_cache(g, GPUMB_CACHE_COLD);
            GPUMB_MEASURE(g, "cold") {
                known_run(empty_s + 20e-6);
            }
        }
        close(g, 0);
        for (int row = 0; row < 2; row++) {
            const double pair_s = fake_floor + 3e-6 + row * 0.32e-6;
            const double middle = upper < 0.2e-6 ? 0.08e-6 : 0.1e-6;
            CHECK_NEAR(number("overhead_s", row), pair_s + middle, 40e-9);
            CHECK_NEAR(number("median_s", row), 20e-6 - middle, 40e-9);
        }
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
    // but one look of an interrupted host says little, in the longer graph or in the shorter one
    for (int which = 3; which <= 4; which++)
        for (double times : {2.0, 20.0}) {
            reset();
            interrupted = which;
            interrupted_times = times;
            fake_pace = interrupted_once;
            gpumb *g = open_after_reset(settings());
            GPUMB_MEASURE(g, "interrupted") {
                known_run(50e-6);
            }
            close(g, 0);
            fake_pace = nullptr;
            CHECK_INT(interrupted, 0);
            CHECK_STR(column("timing", 0).c_str(), "graph");
        }
    // nor is a part of the work missing where launches have become slow
    {
        reset();
        int runs = 0;
        gpumb *g = open_after_reset(settings());
        GPUMB_MEASURE(g, "slow launches") {
            known_run(++runs > 100 && !fake_capturing ? 40e-6 : 5e-6);
        }
        close(g, 0);
        CHECK_STR(column("timing", 0).c_str(), "graph");
        CHECK_NEAR(number("median_s", 0), 5e-6, 50e-9);
    }
    // what takes no longer than an empty kernel has an interval; or, cold, that of the event pair
    for (int cold = 0; cold < 2; cold++) {
        reset();
        gpumb *g = open_after_reset(settings());
        for (int row = 0; row < 2; row++) {
            gpumb_set_cache(g, cold ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
            GPUMB_MEASURE(g, "as an empty one") {
                known_run(0);
            }
            device(g)->graph_interval_s = gap + 10e-9;
            if (cold)
                empty_s = 100e-9, block_s = 0;
        }
        close(g, 0);
        CHECK_STR(column("timing", 1).c_str(), cold ? "event" : "graph");
        CHECK_STR(column("meaning", 1).c_str(), cold ? "span" : "interval");
        CHECK_INT(flagged(cold ? "resolution" : "launch-bound", 1), 1);
        CHECK_NEAR(number("median_s", 1), cold ? fake_floor : gap, 40e-9);
    }
    // of which those that take turns have none that could be compared with a span
    {
        reset();
        gpumb *g = open_after_reset(settings());
        device(g)->graph_interval_s = gap + 100e-9;
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "longer")
                known_run(5e-6);
            GPUMB_MEASURE(g, "as an empty one")
                known_run(0);
        }
        close(g, 1);
        CHECK_STR(column("status", 0).c_str(), "ok");
        CHECK_STR(column("status", 1).c_str(), "failed");
        CHECK(column("reason", 1).find("by GPUMB_TIMING_GRAPH") != std::string::npos);
    }
    // what includes the gap is no better: 2.5 us in a full queue
    CHECK(launch_bound(40e-6, 1, 32, 1e-9, GPUMB_TIMING_BATCH));
    CHECK(!launch_bound(60e-6, 1, 32, 1e-9, GPUMB_TIMING_BATCH));
    // events, and graphs whose gap is wanted
    CHECK(!launch_bound(1e-3, 600, 256, 1e-9));
    CHECK(!launch_bound(1.5e-6, 1, 32, 1e-9, GPUMB_TIMING_GRAPH));
}

// ---- several streams, bodies that say that they may be captured, and those that wait ----

// Streams are ordered around each run, those of a batch and of a capture counted in.
static void test_streams()
{
    for (gpumb_timing timing :
         {GPUMB_TIMING_EVENT, GPUMB_TIMING_BATCH, GPUMB_TIMING_GRAPH, GPUMB_TIMING_HOST}) {
        gpumb *g = open(settings());
        void *streams[2] = {NULL, NULL};
        for (void *&stream : streams)
            CHECK_INT(gpumbi_dev_stream_create(&stream), 0);
        uint64_t runs = 0;
        gpumb_result r;
        gpumb_set_timing(g, timing);
        gpumb_set_streams(g, streams, 2);
        GPUMB_TIME(&r) {
            // each waits before the body, and the context's stream for each behind the one before
            CHECK_INT(fake_calls[FAKE_AWAIT], 4 * runs + 2);
            runs++;
            fake_run(100e-6);
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_INT(r.timing, timing);
        CHECK_INT(fake_calls[FAKE_AWAIT], 4 * runs);
        GPUMB_TIME(&r) {
            fake_run(100e-6);
        }
        CHECK_INT(fake_calls[FAKE_AWAIT], 4 * runs); // of the next region only
        gpumb_set_streams(g, streams, 9);
        GPUMB_TIME(&r) {
            fake_run(100e-6);
        }
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK(strstr(r.reason, "9 streams") != NULL);
        for (void *stream : streams)
            gpumbi_dev_stream_destroy(stream);
        close(g, 0);
    }
}

// What Python takes to launch is not in the time of a kernel, however long it is.
static void test_slow_launches()
{
    for (double seconds : {100e-6, 1.4e-3, 1.6e-3, 5e-3, 50e-3})
        for (int capturable = 0; capturable < 2; capturable++) {
            gpumb *g = open(settings());
            gpumb_result r;
            gpumb_set_capturable(g, capturable);
            GPUMB_TIME(&r) {
                fake_now += 50e-6; // on the host
                fake_run(seconds);
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(r.timing == GPUMB_TIMING_GRAPH, capturable);
            CHECK_INT(gpumbi_meaning(&r), GPUMB_MEANING_SPAN);
            CHECK_INT(r.batch == 1, !capturable || seconds > 1.5e-3);
            CHECK_NEAR(r.time.median, seconds + (capturable ? 0 : 50e-6), 3e-6);
            CHECK(r.time.count < 100 || seconds < 1e-3);
            close(g, 0);
        }
}

static void test_capturable()
{
    for (int asked = 0; asked < 3; asked++) { // not, for the region, for all
        gpumb_settings s = settings();
        s.capturable = asked == 2;
        gpumb *g = open(s);
        gpumb_result r;
        gpumb_set_capturable(g, asked == 1);
        GPUMB_TIME(&r) {
            fake_run(20e-6);
        }
        CHECK_INT(r.timing, asked ? GPUMB_TIMING_GRAPH : GPUMB_TIMING_BATCH);
        CHECK(!asked == !strcmp(gpumbi_meaning_name(&r), "interval"));
        GPUMB_TIME(&r) {
            fake_run(20e-6);
        }
        CHECK_INT(r.timing, asked == 2 ? GPUMB_TIMING_GRAPH : GPUMB_TIMING_BATCH);
        close(g, 0);
    }
}

static int fails_in_a_capture(gpumb *g, void *says)
{
    if (!fake_capturing)
        fake_run(20e-6);
    else if (says)
        gpumb_skip_text(g, (const char *)says);
    return fake_capturing ? 7 : 0;
}

static void test_body_that_refuses_captures()
{
    char says[] = "no captures, please";
    for (char *text : {says, (char *)NULL}) {
        gpumb_settings s = settings();
        s.capturable = 1;
        gpumb *g = open(s);
        CHECK_INT(gpumb_run_region(g, "refuses", fails_in_a_capture, text), 0);
        CHECK_INT(gpumb_row(g, 0)->status, GPUMB_STATUS_OK);
        CHECK_INT(gpumb_row(g, 0)->timing, GPUMB_TIMING_BATCH);
        CHECK_NEAR(gpumb_row(g, 0)->time.median, 20e-6, 1e-6);
        CHECK_INT(times_in(heard, "\n"), 1);
        CHECK(heard.find("refuses: timed without a graph: ") != std::string::npos);
        CHECK(heard.find(text ? says : "its body returned 7") != std::string::npos);
        close(g, 0);
    }
}

// What waits, and so can't be captured, has the host's time all the same.
static void test_capturable_that_waits()
{
    for (int cold = 0; cold < 2; cold++)
        for (int waits = 0; waits < 2; waits++) {
            gpumb *g = open(settings());
            gpumb_result r;
            gpumb_set_capturable(g, 1);
            gpumb_set_cache(g, cold ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
            GPUMB_TIME(&r) {
                fake_run(50e-6);
                if (waits && fake_capturing)
                    gpumb_skip_text(g, "it waits");
                else if (waits)
                    CHECK_INT(gpumbi_dev_wait(gpumb_stream(g)), 0);
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(!waits, !(r.flags & GPUMB_FLAG_HOST_BOUND));
            CHECK_INT(r.timing == GPUMB_TIMING_HOST, waits);
            CHECK_INT(r.overhead_s > 0, !waits);
            CHECK_NEAR(r.time.median, 50e-6, 6e-6);
            close(g, 0);
        }
}

struct polls {
    int count, stops_at;
    const char *says;
};

static int poll(gpumb *g, void *user)
{
    polls *p = (polls *)user;
    const bool stops = ++p->count == p->stops_at;
    if (stops && p->says)
        gpumb_skip_text(g, p->says);
    return stops ? 3 : 0;
}

static int short_run(gpumb *, void *)
{
    fake_run(20e-6);
    return 0;
}

static void test_polls()
{
    for (int stops_at : {0, 1, 3})
        for (const char *says : {(const char *)NULL, "enough"}) {
            gpumb_settings s = settings();
            s.capturable = 1;
            s.precision = 1e-9;
            s.min_samples = 10;
            s.max_samples = 1000000;
            s.least_s = s.budget_s = 1;
            gpumb *g = open(s);
            polls p = {0, stops_at, says};
            gpumb_set_poll(g, poll, &p);
            CHECK_INT(gpumb_run_region(g, "polled", short_run, NULL), 0);
            const gpumb_result *r = gpumb_row(g, 0);
            CHECK_INT(p.count, stops_at ? stops_at : 10);
            CHECK_INT(r->status, stops_at ? GPUMB_STATUS_SKIPPED : GPUMB_STATUS_OK);
            CHECK_STR(r->reason, !stops_at ? ""
                                 : says    ? says
                                        : "given up: the function of gpumb_set_poll() returned 3");
            CHECK_INT(fake_live_graphs, 0);
            gpumb_set_poll(g, NULL, NULL);
            CHECK_INT(gpumb_run_region(g, "behind it", short_run, NULL), 0);
            CHECK_INT(p.count, stops_at ? stops_at : 10);
            CHECK_INT(gpumb_row(g, 1)->status, GPUMB_STATUS_OK);
            close(g, 0);
        }
}

// What works on a stream that is named leaves the context's own idle, and waits for nothing.
static void test_works_on_named_stream()
{
    for (gpumb_timing timing : {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT})
        for (int waits = 0; waits < 2; waits++) {
            gpumb *g = open(settings());
            gpumb_result r;
            CHECK_INT(gpumbi_dev_stream_create(&fake_other), 0);
            gpumb_set_timing(g, timing);
            gpumb_set_streams(g, &fake_other, 1);
            GPUMB_TIME(&r) {
                for (int i = 0; i < 10; i++) // meanwhile the context's stream becomes idle
                    fake_run_elsewhere(0.5e-3);
                if (waits)
                    fake_now = fake_elsewhere;
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(!waits, !(r.flags & GPUMB_FLAG_HOST_BOUND));
            CHECK_INT(r.timing == GPUMB_TIMING_HOST, waits && timing == GPUMB_TIMING_AUTO);
            CHECK_NEAR(r.time.median, 5e-3, 10e-6);
            gpumbi_dev_stream_destroy(fake_other);
            fake_other = NULL;
            close(g, 0);
        }
}

static void test_waits_in_body()
{
    for (gpumb_timing timing : {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT})
        for (double seconds : {50e-6, 5e-3})
            for (int waits = 0; waits < 2; waits++) {
                gpumb *g = open(settings());
                gpumb_result r;
                gpumb_set_timing(g, timing);
                GPUMB_TIME(&r) {
                    known_run(seconds);
                    if (waits)
                        CHECK_INT(gpumbi_dev_wait(gpumb_stream(g)), 0); // never in a capture
                }
                CHECK_INT(r.status, GPUMB_STATUS_OK);
                CHECK_INT(!waits, !(r.flags & GPUMB_FLAG_HOST_BOUND));
                CHECK_INT(r.timing == GPUMB_TIMING_HOST, waits && timing == GPUMB_TIMING_AUTO);
                CHECK_NEAR(r.time.median, seconds, 3e-6);
                close(g, 0);
            }
}

static void work_before(gpumb *g, void *user)
{
    (void)g, (void)user;
    fake_run(40e-6);
}

static int runs_since; // the hook

static void work_before_elsewhere(gpumb *g, void *)
{
    (void)g;
    runs_since = 0;
    fake_run_elsewhere(5e-6);
}

// A hook that works right before the body, on whatever stream, is no work elsewhere; and it comes
// before each run.
static void test_reset_before_capture()
{
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        gpumb *g = open(settings());
        gpumb_result r;
        gpumb_set_reset(g, elsewhere ? work_before_elsewhere : work_before, NULL);
        GPUMB_TIME(&r) {
            CHECK(!elsewhere || !runs_since++);
            known_run(20e-6);
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_STR(r.reason, "");
        CHECK(!(r.flags & GPUMB_FLAG_OTHER_STREAMS));
        close(g, 0);
    }
}

// Work beside what the stream does, and shorter: a capture of the body shows it, whatever comes
// first, and from the shortest on.
static void test_beside()
{
    for (int cold = 0; cold < 2; cold++)
        for (double own_s : {2e-6, 130e-6, 5e-3})
            for (double other_s : {0.0, 1e-6, 500e-6})
                for (int first = 0; first < 2; first++) {
                    gpumb_settings s = brief();
                    s.cold = cold;
                    gpumb *g = open(s);
                    gpumb_result r;
                    GPUMB_TIME(&r) {
                        if (first && other_s > 0)
                            fake_run_elsewhere(other_s);
                        known_run(own_s);
                        if (!first && other_s > 0)
                            fake_run_elsewhere(other_s);
                    }
                    CHECK_INT(r.status, other_s > 0 ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
                    CHECK((strstr(r.reason, "gpumb_set_streams()") != NULL) == (other_s > 0));
                    close(g, other_s > 0);
                }
}

// Short work elsewhere is kept from ending before the captures are over, also where these take
// longer than launching did; up to a limit, and not where launching is slow already.
static void test_beside_slow_captures()
{
    for (double launching_s : {0.0, 0.4e-3, 0.6e-3})
        for (double capture_s : {0.0, 20e-6, 200e-6, 1.5e-3, 4e-3}) {
            gpumb *g = open(settings());
            gpumb_result r;
            GPUMB_TIME(&r) {
                fake_now += fake_capturing ? capture_s : launching_s;
                fake_run_elsewhere(1e-6);
                known_run(20e-6);
            }
            const int fails = launching_s < 0.5e-3 && 16 * capture_s < 16e-3;
            CHECK_INT(r.status, fails ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            CHECK(r.flags & GPUMB_FLAG_OTHER_STREAMS);
            close(g, fails);
        }
}

// A capture that is refused while others have to wait is the last: runs that are timed are not
// behind that.
static void test_refused_while_busy()
{
    gpumb *g = open(settings());
    gpumb_result r;
    fake_fail_error = FAKE_REFUSED;
    fake_fail_verb = FAKE_CAPTURE_BEGIN;
    fake_fail_verb_at = 2 * GPUMBI_LOOKS + 3;
    GPUMB_TIME(&r) {
        known_run(20e-6);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.timing, GPUMB_TIMING_BATCH);
    CHECK_INT(fake_occupations, 3);
    close(g, 0);
}

// A wait behind a capture may take longer than behind that of an empty kernel, and less than behind
// work of others that goes on: the row says so if a second round of nine shows it as well. It fails
// if it is longer by 8 us while the device is kept busy. Other processes may cause both, so that
// beside them only a kernel fails that may try to hide there.
static void test_slow_waits()
{
    for (int beside = 0; beside < 3; beside++) // others; and with --strict
        for (int captures : {9, 1000})
            for (double times : {2.2, 2.6, 20.5, 21.5}) {
                int captured = 0;
                gpumb_settings s = settings();
                s.strict = beside == 2;
                reset();
                fake_sensors = 1;
                fake_others = beside > 0;
                gpumb *g = open_after_reset(s);
                gpumb_result r;
                gpumb_buffer *in = gpumb_alloc(g, 4096), *out = gpumb_alloc(g, 4096);
                gpumb_copy_check copied = {in, out, 4096, GPUMB_READ_WRITE};
                gpumb_fill(g, in, GPUMB_FILL_BITS, 1);
                gpumb_set_output(g, out);
                gpumb_set_verify(g, gpumb_check_copy, &copied);
                GPUMB_TIME(&r) {
                    if (fake_capturing && captured++ < captures)
                        fake_wait_s = times * 0.4e-6;
                    memcpy(gpumb_data(out), gpumb_data(in), 4096);
                    known_run(20e-6);
                }
                const bool again = captures > 9, fails = again && times > 21 && beside != 1;
                CHECK_INT(r.status, fails ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
                CHECK_INT((r.flags & GPUMB_FLAG_OTHER_STREAMS) != 0, again && times > 2.3);
                close(g, fails);
            }
}

// Of slow runs there are few: all waits behind them have to be long.
static void test_few_waits()
{
    for (int others = 0; others < 2; others++)
        for (int longer = 2; longer <= 3; longer++) {
            int runs = 0;
            gpumb_settings s = settings();
            reset();
            fake_sensors = 1;
            fake_others = others;
            gpumb *g = open_after_reset(s);
            gpumb_result r;
            GPUMB_TIME(&r) {
                if (runs && runs <= longer) // not behind the first run, which loads code
                    fake_wait_s = 40e-3;
                runs++;
                fake_run(200e-3);
            }
            const bool fails = longer > 2 && !others;
            CHECK_INT(r.status, fails ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            CHECK(r.flags & GPUMB_FLAG_OTHER_STREAMS);
            close(g, fails);
        }
}

// Code of others, hooks, and streams that are named, may touch other streams without working there,
// which is flagged.
static void test_beside_code_of_others()
{
    for (double other_s : {-1.0, 0.0, 1e-6, 30e-6})
        for (int waits = -2; waits < 2; waits++) {
            gpumb *g = open(settings());
            gpumb_result r;
            void *own = gpumb_stream(g);
            gpumb_set_capturable(g, waits >= 0);
            if (waits == -1)
                gpumb_set_reset(g, work_before, NULL);
            if (waits == -2)
                gpumb_set_streams(g, &own, 1);
            GPUMB_TIME(&r) {
                if (other_s >= 0)
                    fake_run_elsewhere(other_s);
                if (waits < 0)
                    known_run(130e-6);
                else
                    fake_run(130e-6);
                if (waits > 0 && fake_capturing)
                    gpumb_skip_text(g, "it waits");
                else if (waits > 0)
                    gpumbi_dev_wait(gpumb_stream(g));
            }
            const bool fails = waits < 1 && other_s > (waits == -1 ? 10e-6 : 0);
            CHECK_INT(r.status, fails ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            CHECK_INT((r.flags & GPUMB_FLAG_OTHER_STREAMS) != 0,
                      waits < 1 && other_s >= 0 && other_s < 10e-6);
            CHECK_INT(r.timing == GPUMB_TIMING_HOST, waits > 0);
            close(g, fails);
        }
}

// ---- --strict: new inputs that take longer than those of the run before ----

// Of a kernel that keeps a result they do in each run, on a busy machine in most, by no more than a
// few launches behind an idle device.
static void test_remembering()
{
    enum { KEPT, UNDISTURBED, FEW_LAUNCHES_LONGER, CASES };
    for (int which = 0; which < CASES; which++) {
        const double known_s = which == FEW_LAUNCHES_LONGER ? 4e-6 : 400e-6;
        gpumb_settings s = settings();
        s.strict = 1;
        s.seed = 3; /* with which the times leave the median a lower end */
        s.min_samples = s.max_samples = 30;
        gpumb *g = open(s);
        gpumb_buffer *in = gpumb_alloc(g, 4096), *out = gpumb_alloc(g, 4096);
        gpumb_copy_check copied = {in, out, 4096, GPUMB_READ_WRITE};
        const void *before = NULL;
        int renewed = 0;
        gpumb_result r;
        gpumb_fill(g, in, GPUMB_FILL_BITS, 1);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, gpumb_check_copy, &copied);
        GPUMB_TIME(&r) {
            const void *now = gpumb_data(in);
            renewed += now != before;
            fake_run(now == before || (which == UNDISTURBED && renewed == 20) ? known_s
                     : which == FEW_LAUNCHES_LONGER                           ? 3.3 * known_s
                                                                              : 8e-3);
            memcpy(gpumb_data(out), now, 4096);
            before = now;
        }
        CHECK(renewed >= 31);
        CHECK_INT(r.status, which ? GPUMB_STATUS_OK : GPUMB_STATUS_FAILED);
        CHECK((strstr(r.reason, "a result is kept") != NULL) == !which);
        gpumb_free(g, in);
        gpumb_free(g, out);
        close(g, !which);
    }
}

// ---- cold caches ----

// In a trace of evictions, events and bodies, each timed body follows an eviction, which is not
// between its events. Returns how many are timed.
static int check_evictions(const std::string &seen)
{
    int timed = 0;
    for (size_t at = 1; at + 1 < seen.size(); at++)
        if (seen[at] == 'b' && seen[at - 1] == 'r' && seen[at + 1] != 'b') { // not captured
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
                    bodies += !fake_capturing;
                    known_run(50e-6);
                }
                CHECK_INT(check_evictions(trace), bodies - 1); // but for the first launch
                CHECK(bodies > 1);
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
    const char *option[] = {"watched", "--cold"};
    reset();
    gpumb *opened = gpumb_open(2, (char **)option);
    CHECK_INT(gpumb_get_settings(opened)->cold, 1);
    CHECK_INT(gpumb_get_settings(opened)->shuffle, 0);
    close(opened, GPUMB_EXIT_FAILED); // it measures nothing

    // in a context that nobody opened
    reset();
    gpumb_get_device(NULL); // calibrated
    trace.clear();
    gpumb_result r;
    gpumb_set_cache(NULL, GPUMB_CACHE_COLD);
    GPUMB_TIME(&r) {
        trace += 'b';
        fake_run(50e-6);
    }
    CHECK_STR(r.cache, "cold");
    CHECK(check_evictions(trace) >= 10);
    CHECK_INT(gpumb_close(NULL), 0);

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

// How many were right before the last body's event.
static int last_evictions()
{
    const size_t body = trace.rfind("rb");
    const size_t before = body == std::string::npos ? body : trace.find_last_not_of('E', body - 1);
    return before == std::string::npos ? -1 : (int)(body - before - 1);
}

// A body that takes the host longer to launch than one eviction takes the device, as one of Python:
// as many evictions as hide that, no more than 16, and one where launching is short again.
static void test_launching_outlasts()
{
    static const double peak_s = (32 << 20) * 2.5 / 1e12; // of an eviction
    for (double launching : {0.1, 3.4, 100.0}) {
        gpumb_settings s = settings();
        s.warmup_s = 0.2;
        gpumb *g = open(s);
        eviction_s = 1.1 * peak_s;
        gpumb_result r;
        gpumb_set_cache(g, GPUMB_CACHE_COLD);
        GPUMB_TIME(&r) {
            fake_now += launching * peak_s;
            trace += 'b';
            known_run(5e-3);
        }
        // launching 16 evictions takes the host time as well
        const double hidden = launching < 16 ? launching : 16 * 1.1;
        CHECK_NEAR(r.time.median, 5e-3 + (launching - hidden) * peak_s, 20e-6);
        CHECK_INT(last_evictions(), launching < 1 ? 1 : launching < 16 ? 4 : 16);
        int slow = 12; // runs, while code is loaded
        gpumb_set_cache(g, GPUMB_CACHE_COLD);
        GPUMB_TIME(&r) {
            fake_now += slow-- > 0 ? 10 * peak_s : 0;
            trace += 'b';
            known_run(5e-3);
        }
        CHECK_INT(last_evictions(), 1);
        close(g, 0);
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

int main()
{
    test_way();
    test_overhead();
    test_calibration_without_graphs();
    test_automatic_way();
    test_calibration();
    test_fall_back();
    test_ways_in_turn();
    test_launch_bound();
    test_launch_bound_interval();
    test_no_narrower();
    test_streams();
    test_capturable();
    test_slow_launches();
    test_body_that_refuses_captures();
    test_capturable_that_waits();
    test_polls();
    test_works_on_named_stream();
    test_waits_in_body();
    test_reset_before_capture();
    test_beside();
    test_beside_slow_captures();
    test_refused_while_busy();
    test_slow_waits();
    test_few_waits();
    test_remembering();
    test_beside_code_of_others();
    test_cold();
    test_launching_outlasts();
    test_cold_memory();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

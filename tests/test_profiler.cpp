// test_profiler.cpp - regions timed by the profiler's time stamps; profiler.c has CUPTI's side.
#include "allocations.h"
#include "hear_lines.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_profiler_attach fake_profiler_attach // the tests look on, see below
#define gpumbi_dev_profiler_look fake_profiler_look
#define gpumbi_dev_last_error fake_last_error
#include "fake.h"
#undef gpumbi_dev_profiler_attach
#undef gpumbi_dev_profiler_look
#undef gpumbi_dev_last_error

#include "folder.h"
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

// ---- what the tests see and do behind the library's back ----

static int tries;      // to attach
static double empty_s; // what the profiler shows of the library's empty kernel
static double evict_s; // how long it takes to empty the caches
static int evictions;

static int gpumbi_dev_profiler_attach(void)
{
    tries++;
    return fake_profiler_attach();
}

static uint64_t gpumbi_dev_profiler_look(double *seconds)
{
    const uint64_t seen = fake_profiler_look(seconds);
    if (seen || empty_s <= 0)
        return seen;
    *seconds = empty_s;
    return 1;
}

// Follows each launch. Those between two runs empty the caches.
static int gpumbi_dev_last_error(void)
{
    const gpumbi_sampler *s = gpumbi_current ? gpumbi_current->region.active : NULL;
    if (evict_s > 0 && s && !gpumbi_current->region.in_body && !s->run.left &&
        (s->phase == GPUMBI_WARM_UP || s->phase == GPUMBI_SAMPLE)) {
        evictions++;
        fake_run(evict_s);
    }
    return fake_last_error();
}

static gpumb_settings settings() // few samples, so that traces stay short
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    return s;
}

static gpumb *open_with(const gpumb_settings &s = settings(), int profiler = 1)
{
    fake_reset();
    fake_profiler = profiler;
    heard.clear();
    tries = evictions = 0;
    empty_s = evict_s = 0;
    fake_moves = (uint64_t)128 << 20; // so that what empties the caches is cleared
    gpumbi_interrupted = 0;
    allocations = fail_allocation = 0;
    return gpumb_open_settings("test_profiler", &s);
}

static void close_with(gpumb *g, int code = 0)
{
    CHECK_INT(gpumb_close(g), code);
    if (!CHECK(fake_clean()) || !CHECK_INT(live_allocations, fake_closed())) {
        printf("    %d profilers, %d misuses\n", fake_profilers, fake_misuses);
        fake_profilers = fake_live_streams = fake_live_events = 0; // once is enough
        live_allocations = fake_closed();
    }
}

// A region; the profiler is there as long as it lasts.
static gpumb_result measure(gpumb *g, gpumb_timing timing, const std::function<void()> &body)
{
    gpumb_result r;
    int wrong = 0;
    const int wanted = timing == GPUMB_TIMING_PROFILER && fake_profiler && !tries;
    gpumb_set_timing(g, timing);
    CHECK_INT(fake_profilers, 0); // not before it begins
    GPUMB_TIME(&r) {
        wrong += fake_profilers != wanted;
        body();
    }
    CHECK_INT(fake_profilers, 0);
    CHECK_INT(wrong, 0);
    return r;
}

static void check_time(const gpumb_result &r, double seconds)
{
    if (!CHECK_INT(r.status, GPUMB_STATUS_OK))
        printf("    %s\n", r.reason);
    CHECK_INT(r.timing, GPUMB_TIMING_PROFILER);
    CHECK_INT(r.batch, 1);
    CHECK_INT(r.time.count, 10);
    CHECK_NEAR(r.time.median, seconds, 1e-11);
    CHECK_NEAR(r.time.min, seconds, 1e-11);
    CHECK_NEAR(r.time.max, seconds, 1e-11);
}

// ---- the time of a run ----

// First start to last end, gaps included, less an empty kernel, whatever has been launched before.
static void test_times()
{
    for (double t : {1e-6, 50e-6, 20e-3})
        for (double empty : {0.0, 1.5e-6})
            for (int parts = 1; parts <= 3; parts++) {
                gpumb_settings s = settings();
                s.csv = "x.csv";
                s.warmup_s = parts == 2 ? 0.001 : -1;
                gpumb *g = open_with(s);
                empty_s = empty;
                fake_profiler_cost = 2e-6; // more than the empty kernel, so that all times are some
                const uint64_t records = fake_calls[FAKE_RECORD];
                int wrong = 0;
                gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
                gpumb_set_bytes(g, 1e6);
                GPUMB_MEASURE(g, "parts") {
                    for (int i = 0; i < parts; i++) {
                        fake_run(t);
                        fake_now = fake_busy + (i + 1 < parts ? 5e-6 : 0); // the device idles
                    }
                    wrong += fake_profilers != 1;
                }
                CHECK_INT(fake_profilers, 0);
                CHECK_INT(wrong, 0);
                CHECK(tries == 1 && fake_attached == 1);
                CHECK_INT(fake_calls[FAKE_RECORD], records); // no events
                const double span = parts * t + (parts - 1) * 6e-6 + 2e-6 - empty;
                const gpumb_result *r = gpumb_last_result(g);
                if (CHECK(r != NULL)) {
                    check_time(*r, span);
                    CHECK_NEAR(r->overhead_s, empty, 1e-15);
                    CHECK_NEAR(r->gbps, 1e-3 / span, 1e-4 * r->gbps);
                    CHECK_INT(r->flags & GPUMB_FLAG_BAD_TIME, 0);
                }
                check_heard(0);
                close_with(g);
                CHECK_STR(fake_csv("x.csv", 0, "timing"), "profiler");
                CHECK_STR(fake_csv("x.csv", 0, "meaning"), "span");
                CHECK_STR(fake_csv("x.csv", 0, "batch"), "1");
                CHECK_NEAR(atof(fake_csv("x.csv", 0, "median_s")), span, 1e-3 * span);
                CHECK_NEAR(atof(fake_csv("x.csv", 0, "overhead_s")), empty, 1e-9);
                unlink("x.csv");
            }
}

static void reset_hook(gpumb *, void *user)
{
    ++*(int *)user;
    fake_run(1e-3); // not waited for
}

static int check_hook(gpumb *, void *user)
{
    fake_run(3e-3);
    return *(int *)user > 0;
}

// What runs before a sample is not in it.
static void test_before()
{
    for (int what = 0; what < 4; what++) { // 1: a hook; 2: cold caches; 3: an output
        gpumb_settings s = settings();
        s.warmup_s = what == 3 ? -1 : 1e-3;
        gpumb *g = open_with(s);
        gpumb_buffer *b = gpumb_alloc(g, 1000);
        int hooks = 0, runs = 0;
        evict_s = what == 2 ? 2e-3 : 0;
        if (what == 1)
            gpumb_set_reset(g, reset_hook, &hooks);
        if (what == 2)
            gpumb_set_cache(g, GPUMB_CACHE_COLD);
        if (what == 3) {
            gpumb_set_output(g, b);
            gpumb_set_verify(g, check_hook, &runs);
        }
        const gpumb_result r = measure(g, GPUMB_TIMING_PROFILER, [&] {
            runs++;
            fake_run(30e-6);
        });
        check_time(r, 30.6e-6);
        CHECK_INT(hooks, what == 1 ? runs : 0);
        CHECK(what != 2 || evictions >= 10);
        CHECK_INT(r.verified, what == 3 ? 1 : -1);
        CHECK_STR(r.cache, what == 2 ? "cold" : "");
        CHECK_INT(tries, 1);
        check_heard(0);
        close_with(g);
    }
}

// What launching may differ by, at most 0.2 us, is 5 % of what is shown.
static void test_launch_bound()
{
    for (double empty : {0.7e-6, 2e-6})
        for (double share : {0.5, 4.99, 5.01, 100.0}) { // without graphs to calibrate with
            gpumb *g = open_with();
            empty_s = fake_profiler_cost = empty;
            const gpumb_result r =
                measure(g, GPUMB_TIMING_PROFILER, [&] { fake_run(share * empty); });
            check_time(r, share * empty);
            const double bound_s = empty < 0.8e-6 ? 5 * empty : 4e-6;
            CHECK_INT((r.flags & GPUMB_FLAG_LAUNCH_BOUND) != 0, share * empty < bound_s);
            close_with(g);
        }
}

// A run of which records are lost has no time.
static void test_lost_records()
{
    for (uint64_t lost = 0; lost <= 3; lost++) { // of three kernels
        gpumb *g = open_with();
        int runs = 0;
        gpumb_set_bytes(g, 1e6);
        const gpumb_result r = measure(g, GPUMB_TIMING_PROFILER, [&] {
            fake_profiler_drops = ++runs == 5 || runs == 8 ? lost : 0;
            for (int i = 0; i < 3; i++) {
                GPUMB_LAUNCH(gpumbi_empty_kernel, 1, 1, 0);
                fake_run(5e-6);
            }
        });
        check_time(r, 15.6e-6); // the launches are queued
        CHECK_INT(runs, lost ? 13 : 11);
        CHECK_INT((r.flags & GPUMB_FLAG_BAD_TIME) != 0, lost > 0);
        close_with(g);
    }

    // more than is known of
    gpumb *g = open_with();
    gpumb_buffer *b = gpumb_alloc(g, 2000000);
    char *p = (char *)gpumb_data(b);
    gpumb_result r = measure(g, GPUMB_TIMING_PROFILER, [&] {
        gpumb_memcpy(g, p, p + 1000000, 1000000);
        fake_run(5e-6);
    });
    check_time(r, 7.6e-6); // 2 us of it for the copy
    CHECK_INT(r.flags & GPUMB_FLAG_BAD_TIME, 0);
    close_with(g);

    // all of them, of launches that are known and that are not
    for (int known = 0; known < 2; known++) {
        g = open_with();
        empty_s = known ? 1e-9 : 0;
        gpumb_set_bytes(g, 1e6);
        r = measure(g, GPUMB_TIMING_PROFILER, [&] {
            fake_profiler_drops = 1;
            for (int i = 0; known && i < 2; i++) // one more than what the look makes of none
                GPUMB_LAUNCH(gpumbi_empty_kernel, 1, 1, 0);
            fake_run(5e-6);
        });
        CHECK_INT(r.status, GPUMB_STATUS_FAILED);
        CHECK_NEAR(r.gbps, 0, 0);
        CHECK(r.flags & GPUMB_FLAG_BAD_TIME);
        close_with(g, GPUMB_EXIT_FAILED);
    }
}

// ---- without one ----

static void test_absent()
{
    for (int what = 0; what < 3; what++) {
        gpumb *g = open_with(settings(), 0);
        const double t = what ? 1e-3 : 2e-6;
        const auto row = [&](gpumb_timing timing) {
            gpumb_set_cache(g, what == 2 ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
            return measure(g, timing, [&] { fake_run(t); });
        };
        const gpumb_result automatic = row(GPUMB_TIMING_AUTO);
        check_heard(0);
        CHECK_INT(tries, 0);
        CHECK_INT(automatic.overhead_s > 0, what == 2);
        for (int i = 0; i < 3; i++) {
            fake_profiler = i > 1; // comes too late
            const gpumb_result r = row(GPUMB_TIMING_PROFILER);
            check_heard(1, "libcupti.so"); // said once, and tried once
            CHECK_INT(tries, 1);
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(r.timing, automatic.timing);
            CHECK_INT(r.batch, automatic.batch);
            CHECK_INT(r.flags, automatic.flags);
            CHECK_NEAR(r.overhead_s, automatic.overhead_s, what == 2 ? fake_quantum : 0);
            CHECK_NEAR(r.time.median, automatic.time.median, 2 * fake_quantum);
        }
        fake_profiler = 0;
        gpumb *other = gpumb_open_settings("other", &g->settings); // each context says it
        measure(other, GPUMB_TIMING_PROFILER, [] { fake_run(1e-3); });
        check_heard(2, "libcupti.so");
        CHECK_INT(tries, 2);
        CHECK_INT(gpumb_close(other), 0);
        close_with(g);
    }

    gpumb *g = open_with(settings(), 0);
    GPUMB_INTERLEAVE(g) {
        for (int i = 0; i < 3; i++) {
            gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
            GPUMB_MEASURE(g, "lane") {
                fake_run(1e-3);
            }
        }
    }
    check_heard(1, "libcupti.so");
    CHECK_INT(tries, 1);
    CHECK_INT(gpumb_row_count(g), 3);
    CHECK_STR(gpumb_last_result(g)->compared_with, "lane");
    close_with(g);
}

// Nobody else has it: not the host's clock, not the CPU, not the next region.
static void test_others()
{
    for (int cpu = 0; cpu < 2; cpu++) {
        gpumb *g = open_with();
        if (cpu) {
            CHECK_INT(gpumb_close(g), 0);
            fake_backend = "cpu";
            const gpumb_settings s = settings();
            g = gpumb_open_settings("test_profiler", &s);
            gpumb_result r;
            gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
            GPUMB_TIME(&r) {
                fake_run(1e-3);
            }
            CHECK_INT(r.timing, GPUMB_TIMING_HOST);
        } else {
            check_time(measure(g, GPUMB_TIMING_PROFILER, [] { fake_run(1e-3); }), 1.0006e-3);
        }
        for (gpumb_timing timing : {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT, GPUMB_TIMING_BATCH,
                                    GPUMB_TIMING_GRAPH, GPUMB_TIMING_HOST})
            measure(g, timing, [] { fake_run(5e-6); });
        GPUMB_MEASURE(g, "nothing said") {
            fake_run(1e-3);
        }
        CHECK_INT(tries, cpu ? 0 : 1);
        check_heard(0);
        close_with(g);
    }
}

// ---- interleaved ----

static void test_interleave()
{
    for (gpumb_timing timing : {GPUMB_TIMING_PROFILER, GPUMB_TIMING_EVENT, GPUMB_TIMING_BATCH,
                                GPUMB_TIMING_HOST, GPUMB_TIMING_AUTO})
        for (int first = 0; first < 2; first++) { // which of the two the profiler times
            gpumb *g = open_with();
            GPUMB_INTERLEAVE(g) {
                for (int i = 0; i < 2; i++) {
                    gpumb_set_timing(g, i == first ? GPUMB_TIMING_PROFILER : timing);
                    GPUMB_MEASURE(g, i ? "other" : "base") {
                        fake_run(i ? 2e-3 : 1e-3);
                    }
                }
            }
            CHECK_INT(fake_profilers, 0);
            // what may choose its way chooses the profiler, too
            const int both = timing == GPUMB_TIMING_PROFILER || timing == GPUMB_TIMING_AUTO;
            CHECK_INT(tries, both ? 2 : 1);
            if (!CHECK_INT(gpumb_row_count(g), 2))
                return close_with(g);
            const gpumb_result *base = gpumb_row(g, 0), *other = gpumb_row(g, 1);
            check_time(first ? *other : *base, first ? 2.0006e-3 : 1.0006e-3);
            const int spans = both || timing == GPUMB_TIMING_EVENT; // these are compared
            if (!CHECK_INT(gpumbi_alike(base, other), spans))
                printf("    profiler and %s\n", gpumbi_timing_name[timing]);
            CHECK_STR(other->compared_with, spans ? "base" : "");
            CHECK_NEAR(other->comparison.ratio, spans ? 2 : 0, both ? 1e-3 : 5e-3);
            check_heard(spans ? 0 : 1, "not compared");
            close_with(g);
        }
}

// One that has ended does not disturb the others any more.
static void test_lane_ends()
{
    for (int what = 0; what < 3; what++) {
        gpumb *g = open_with();
        int runs = 0, attached = 0, ended = 0;
        GPUMB_INTERLEAVE(g) {
            gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
            if (what == 0)
                gpumb_skip(g, "it rains");
            if (what == 1)
                gpumb_set_verify(
                    g, [](gpumb *, void *) { return 0; }, NULL);
            GPUMB_MEASURE(g, "ends") {
                ended = 1;
                if (what == 2)
                    gpumb_skip(g, "it snows");
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "goes on") {
                runs += ended || !what;
                attached += (ended || !what) && fake_profilers;
                fake_run(1e-3);
            }
        }
        CHECK(runs > 5);
        CHECK_INT(attached, 0);
        CHECK_INT(gpumb_row_count(g), 2);
        close_with(g, what == 1 ? GPUMB_EXIT_FAILED : 0);
    }
}

// ---- the ends of a region ----

enum { SKIPPED, SKIPS, WRONG, WRONG_LATER, REFUSED, LOST, NO_ROOM, CTRL_C, BREAKS, ALL_OUTSIDE };
enum { RETURNS = ALL_OUTSIDE, CLOSES, ENDS };

static int runs_of_end;

static int wrong_now(gpumb *, void *user)
{
    return *(int *)user == WRONG_LATER && runs_of_end < 3;
}

// A region that the `at`-th run ends in this way; returns whether it has closed the context.
static int end_by(gpumb *g, int what, int at)
{
    if (what == SKIPPED)
        gpumb_skip(g, "it rains");
    if (what == WRONG || what == WRONG_LATER)
        gpumb_set_verify(g, wrong_now, &what);
    fail_allocation = what == NO_ROOM ? allocations + at : 0;
    gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
    GPUMB_MEASURE(g, "ends") {
        CHECK(fake_profilers >= 1);
        fake_run(1e-3);
        if (++runs_of_end != at && what != BREAKS)
            continue;
        if (what == SKIPS)
            gpumb_skip(g, "it snows");
        if (what == REFUSED)
            fake_run_refused(FAKE_REFUSED);
        if (what == LOST)
            fake_run_refused(FAKE_LOST);
        if (what == CTRL_C)
            gpumbi_interrupted = 1; // what a quiet context does not catch
        if (what == RETURNS)
            return 0;
        if (what == CLOSES)
            return gpumb_close(g), 1;
        if (what == BREAKS)
            break;
    }
    fail_allocation = 0;
    return 0;
}

static void test_ends()
{
    for (int what = 0; what < ENDS; what++)
        for (int at : {1, 2, 5})
            for (int interleaved = 0; interleaved < 2; interleaved++) {
                gpumb *g = open_with();
                int closed = 0, again = 0;
                runs_of_end = 0;
                if (interleaved) {
                    GPUMB_INTERLEAVE(g) {
                        gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
                        GPUMB_MEASURE(g, "other") {
                            fake_run(1e-3);
                        }
                        closed = end_by(g, what, at);
                        if (closed || (what == RETURNS && runs_of_end == at))
                            break; // out of the interleave as well
                    }
                } else {
                    closed = end_by(g, what, at);
                }
                if (!closed && what >= ALL_OUTSIDE)
                    gpumb_set_bytes(g, 1); // the next call finds it
                CHECK_CASE(fake_profilers == 0, "end %d, run %d, interleaved %d", what, at,
                           interleaved);
                if (!closed) {
                    fake_profilers = 0; // once is enough
                    const int before = tries;
                    const gpumb_result r = measure(g, GPUMB_TIMING_EVENT, [&] {
                        again++;
                        fake_run(1e-3);
                    });
                    CHECK_INT(tries, before); // nobody else attaches it
                    CHECK(r.status == GPUMB_STATUS_OK ? again > 5 : !again);
                    gpumb_close(g);
                }
                if (!CHECK(fake_clean()) || !CHECK_INT(live_allocations, fake_closed()))
                    printf("    end %d, run %d, interleaved %d\n", what, at, interleaved);
                fake_profilers = 0;
                CHECK_INT(fake_misuses, 0);
            }
}

// An interleave that is left, with its lanes attached.
static void test_left_interleave()
{
    for (int closes = 0; closes < 2; closes++) {
        gpumb *g = open_with();
        int passes = 0;
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < 2; i++) {
                gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
                GPUMB_MEASURE(g, "left") {
                    fake_run(1e-3);
                }
            }
            CHECK_INT(fake_profilers, 2);
            if (++passes == 6)
                break;
        }
        CHECK_INT(passes, 6);
        if (!closes)
            GPUMB_INTERLEAVE(g) {
                CHECK_INT(fake_profilers, 0);
            }
        close_with(g, GPUMB_EXIT_FAILED);
    }

    gpumb *g = open_with(); // a region that is not met again
    int passes = 0;
    GPUMB_INTERLEAVE(g) {
        gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
        if (++passes < 4)
            GPUMB_MEASURE(g, "gone") {
                fake_run(1e-3);
            }
    }
    CHECK_INT(fake_profilers, 0);
    close_with(g, GPUMB_EXIT_FAILED);
}

int main()
{
    const std::string folder = make_folder("gpumb-profiler");
    if (!CHECK(chdir(folder.c_str()) == 0))
        return CHECK_SUMMARY();
    gpumb_cpu_set_workers(1);
    test_times();
    test_before();
    test_launch_bound();
    test_lost_records();
    test_absent();
    test_others();
    test_interleave();
    test_lane_ends();
    test_ends();
    test_left_interleave();
    CHECK(rmdir(folder.c_str()) == 0);
    return CHECK_SUMMARY();
}

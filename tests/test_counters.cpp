// test_counters.cpp - hardware counters in rows: which runs they see, where the values go, and the
// flag that is made of them; counters.c has CUPTI's side.
#include "allocations.h"
#include "hear_lines.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_last_error fake_last_error // the tests look on, see below
#include "fake.h"
#undef gpumbi_dev_last_error

#include "folder.h"
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

static int evictions; // for a pass

// Follows each launch. Those before a pass empty the caches.
static int gpumbi_dev_last_error(void)
{
    const gpumbi_sampler *s = gpumbi_current ? gpumbi_current->region.active : NULL;
    evictions += s && !gpumbi_current->region.in_body && !s->run.left && s->phase == GPUMBI_COUNT &&
                 fake_counting == 1;
    return fake_last_error();
}

static gpumb_settings settings(const char *counters = NULL)
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 8;
    s.counters = counters;
    return s;
}

static gpumb *open_with(const gpumb_settings &s, int passes = 1)
{
    fake_reset();
    fake_counters = passes > 0;
    fake_passes = passes;
    fake_moves = (uint64_t)128 << 20;
    heard.clear();
    evictions = 0;
    gpumbi_interrupted = 0;
    allocations = fail_allocation = 0;
    return gpumb_open_settings("test_counters", &s);
}

static void close_with(gpumb *g, int code = 0)
{
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
    CHECK_INT(live_allocations, fake_closed());
    fake_counting = 0; // once is enough
}

static double value(gpumb *g, const char *name, size_t row = SIZE_MAX)
{
    return gpumb_row_value(g, row == SIZE_MAX ? gpumb_row_count(g) - 1 : row, name);
}

// A region that works so long; what its runs see of the counters is checked.
static const gpumb_result *measure(
    gpumb *g, double seconds = 5e-6, const std::function<void()> &also = [] {})
{
    int counted = 0, after = 0;
    GPUMB_MEASURE(g, "kernel") {
        counted += fake_counting == 2;
        after += counted && fake_counting != 2; // nothing is timed after the first pass
        CHECK(fake_counting != 1);
        CHECK(!fake_capturing || !fake_counting); // and none of them is captured
        fake_run(seconds);
        also();
    }
    CHECK_INT(counted, (int)fake_counted);
    CHECK_INT(after, 0);
    fake_counted = 0;
    return gpumb_last_result(g);
}

static void test_values()
{
    for (int passes = 1; passes <= 3; passes++)
        for (int all = 0; all < 2; all++) {
            gpumb *g = open_with(settings(all ? "l2_hit_rate,lts__t_bytes.sum" : NULL), passes);
            if (!all)
                gpumb_set_counters(g, "l2_hit_rate,lts__t_bytes.sum");
            gpumb_set_value(g, "mine", 7);
            const gpumb_result *r = measure(g);
            CHECK_INT(r->status, GPUMB_STATUS_OK);
            CHECK_NEAR(value(g, "l2_hit_rate"), 5, 1e-9);
            CHECK_NEAR(value(g, "lts__t_bytes.sum"), 10, 1e-9);
            CHECK_NEAR(value(g, "mine"), 7, 0);
            measure(g); // is asked for all, or not for this one
            CHECK(all ? value(g, "l2_hit_rate") == 5 : std::isnan(value(g, "l2_hit_rate")));
            gpumb_set_counters(g, "instructions"); // in place of the others
            measure(g);
            CHECK_NEAR(value(g, "instructions"), 5, 1e-9);
            CHECK(std::isnan(value(g, "l2_hit_rate")));
            check_heard(0);
            close_with(g);
        }
}

// The same times with and without.
static void test_times()
{
    gpumb_result r[2];
    for (int counted = 0; counted < 2; counted++) {
        gpumb *g = open_with(settings(counted ? "instructions" : NULL), 4);
        for (int i = 0; i < 2; i++) {
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            r[counted] = *measure(g, 3e-6, [] { GPUMB_LAUNCH(gpumbi_empty_kernel, 1, 1, 0); });
        }
        close_with(g);
    }
    CHECK_INT(r[0].timing, GPUMB_TIMING_GRAPH);
    CHECK_INT(r[1].timing, GPUMB_TIMING_GRAPH);
    CHECK_NEAR(r[1].time.median, r[0].time.median, 1e-6 * r[0].time.median);
    CHECK_INT(r[0].time.count, r[1].time.count);
}

static void test_hooks()
{
    for (int cold = 0; cold < 2; cold++) {
        gpumb *g = open_with(settings("instructions"), 3);
        struct seen {
            int hooks, runs, counted;
        } seen = {0, 0, 0};
        gpumb_set_cache(g, cold ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
        gpumb_set_reset(
            g,
            [](gpumb *, void *user) {
                struct seen *s = (struct seen *)user;
                s->hooks++;
                CHECK(fake_counting != 2);
                s->counted += fake_counting == 1;
                fake_run(1e-3); // is not counted
            },
            &seen);
        measure(g, 5e-6, [&] { seen.runs++; });
        CHECK_INT(seen.hooks, seen.runs);
        CHECK_INT(seen.counted, 3);
        CHECK(cold ? evictions >= 3 : !evictions);
        CHECK_NEAR(value(g, "instructions"), 5, 1e-9);
        close_with(g);
    }
}

// After its last check, or without one; not where it is wrong.
static void test_checks()
{
    for (int what = 0; what < 4; what++) { // 1: a check; 2: wrong at once; 3: wrong at the end
        gpumb *g = open_with(settings("instructions"));
        int checks = what;
        if (what)
            gpumb_set_verify(
                g,
                [](gpumb *, void *user) {
                    int *n = (int *)user;
                    CHECK_INT(fake_counting, 0);
                    const int right = *n == 1 || *n == 3;
                    *n += *n == 3 ? 1 : 0;
                    return right ? 1 : 0;
                },
                &checks);
        const gpumb_result *r = measure(g);
        CHECK_INT(r->status, what < 2 ? GPUMB_STATUS_OK : GPUMB_STATUS_FAILED);
        CHECK(what < 2 ? value(g, "instructions") == 5 : std::isnan(value(g, "instructions")));
        close_with(g, what < 2 ? 0 : GPUMB_EXIT_FAILED);
    }
}

static void test_profiler() // its time stamps, then the counters
{
    gpumb *g = open_with(settings("instructions"), 2);
    fake_profiler = 1;
    gpumb_set_timing(g, GPUMB_TIMING_PROFILER);
    const gpumb_result *r = measure(g, 5e-6, [] { CHECK(!fake_counting || !fake_profilers); });
    CHECK_INT(r->timing, GPUMB_TIMING_PROFILER);
    CHECK_NEAR(value(g, "instructions"), 5, 1e-9);
    close_with(g);
}

static void test_absent()
{
    gpumb *g = open_with(settings("instructions,l1_hit_rate"), 0);
    for (int i = 0; i < 3; i++) {
        const gpumb_result *r = measure(g);
        CHECK_INT(r->status, GPUMB_STATUS_OK);
        CHECK(std::isnan(value(g, "instructions")));
    }
    check_heard(1, "the fake has none"); // said once
    CHECK_INT(fake_counted, 0);
    close_with(g);

    g = open_with(settings("instructions,nonsense,l1_hit_rate"), 2);
    fake_uncounted = "nonsense";
    for (int i = 0; i < 3; i++) {
        measure(g);
        CHECK_NEAR(value(g, "instructions"), 5, 1e-9);
        CHECK(std::isnan(value(g, "nonsense")));
        CHECK_NEAR(value(g, "l1_hit_rate"), 15, 1e-9);
    }
    check_heard(1, "no counter nonsense");
    close_with(g);

    g = open_with(settings("instructions"));
    gpumb_result r;
    GPUMB_TIME(&r) { // has no row for them
        CHECK_INT(fake_counting, 0);
        fake_run(1e-3);
    }
    const double t[] = {1, 2, 3, 4, 5, 6};
    gpumb_add_times(g, "given", GPUMB_MEANING_SPAN, t, 6); // nor has this one a body
    CHECK(std::isnan(value(g, "instructions")));
    CHECK_INT(fake_counted, 0);
    close_with(g);
}

static void test_interleave()
{
    for (int checked = 0; checked < 2; checked++) {
        gpumb *g = open_with(settings("instructions"), 3);
        int sampled = 0, counted = 0;
        int right = 1;
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < 3; i++) {
                if (checked)
                    gpumb_set_verify(
                        g, [](gpumb *, void *user) { return *(int *)user; }, &right);
                GPUMB_MEASURE(g, i ? "other" : "base") {
                    counted += fake_counting == 2;
                    // a check may come in between, a sample may not
                    sampled += counted && g->interleave.lane[i].phase == GPUMBI_SAMPLE;
                    fake_run((i + 1) * 1e-3);
                }
            }
        }
        CHECK_INT(counted, 9);
        CHECK_INT(sampled, 0);
        for (size_t i = 0; i < 3; i++)
            CHECK_NEAR(value(g, "instructions", i), 1e3 * ((double)i + 1), 1e-6);
        CHECK_NEAR(gpumb_row(g, 2)->comparison.ratio, 3, 0.01);
        check_heard(0);
        close_with(g);
    }
}

enum { SKIPS, REFUSED, LOST, CTRL_C, RETURNS, BREAKS, ENDS };

static void end_by(gpumb *g, int what, uint64_t pass, int *last)
{
    GPUMB_MEASURE(g, "ends") {
        fake_run(1e-3);
        if (fake_counting != 2 || fake_counted + 1 != pass)
            continue;
        *last = fake_counting;
        if (what == SKIPS)
            gpumb_skip(g, "it snows");
        if (what == REFUSED)
            fake_run_refused(FAKE_REFUSED);
        if (what == LOST)
            fake_run_refused(FAKE_LOST);
        if (what == CTRL_C)
            gpumbi_interrupted = 1;
        if (what == RETURNS)
            return;
        if (what == BREAKS)
            break;
    }
}

static void test_ends()
{
    static const gpumb_status left_as[] = {GPUMB_STATUS_SKIPPED, GPUMB_STATUS_SKIPPED};
    for (int what = 0; what < ENDS; what++)
        for (uint64_t pass = 1; pass <= 2; pass++) {
            gpumb *g = open_with(settings("instructions"), 2);
            int last = 0;
            end_by(g, what, pass, &last);
            gpumb_set_bytes(g, 1); // finds what was left by return
            CHECK_INT(last, 2);
            CHECK_CASE(!fake_counting, "end %d, pass %d", what, (int)pass);
            if (what <= REFUSED && CHECK_INT(gpumb_row_count(g), 1))
                CHECK_INT(gpumb_row(g, 0)->status, left_as[what]);
            if (what == BREAKS)
                CHECK_NEAR(value(g, "instructions"), 1e3, 1e-6);
            fake_counting = 0; // once is enough
            gpumb_close(g);
            fake_reset();
        }
}

// Beside columns that are there, in their order, in the files.
static void test_columns()
{
    gpumb_settings s = settings("instructions,a.sum");
    s.csv = "x.csv";
    gpumb *g = open_with(s);
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        gpumb_set_value(g, "mine", 1);
        measure(g, (double)n * 1e-6);
    }
    close_with(g);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(atof(fake_csv("x.csv", i, "instructions")), i + 1, 1e-9);
        CHECK_NEAR(atof(fake_csv("x.csv", i, "a.sum")), 2 * i + 2, 1e-9);
        CHECK_STR(fake_csv("x.csv", i, "mine"), "1");
    }
    unlink("x.csv");

    const std::string longest(127, 'a'), longer(128, 'a');
    g = open_with(settings(longest.c_str()));
    measure(g);
    CHECK_NEAR(value(g, longest.c_str()), 5, 1e-9);
    close_with(g);
    g = open_with(settings("a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a"));
    measure(g);
    CHECK_INT(g->instrument.counting.names, 16); // what there is room for
    close_with(g);
    static const char *const bad[][2] = {
        {"", "'' is no counter: a name has 1 to 127 characters, and no semicolon or control "
             "character; "},
        {"instructions,", "'' is no counter: a name has 1 "},
        {"median_s", "'median_s' is no counter: that is the name of a column; "},
        {"l2_hit_rate,n", "'n' is no counter: that is the name of a column; "},
        {longer.c_str(), "a' is no counter: a name has 1 "},
        {"a,b,c,d,e,f,g,h,i,j,k,l,m,n1,o,p,q", "'q' is no counter: there are 16 of them already; "},
    };
    for (const char *const *names : bad)
        for (int option = 0; option < 2; option++) { // end the context
            g = open_with(settings(option ? names[0] : NULL));
            GPUMB_SWEEP_LIST(g, n, 1) {
                (void)n;
                if (!option)
                    gpumb_set_counters(g, names[0]);
                GPUMB_MEASURE(g, "kernel") {
                    fake_run(1e-6);
                }
            }
            CHECK_INT(gpumb_row_count(g), 0);
            const std::string from = option ? "--counters " : "gpumb_set_counters() ";
            check_heard(1, ("gpumb: " + from + names[0] + ": '").c_str());
            check_heard(1, "; for example dram_read_bytes,l2_hit_rate");
            check_heard(1, names[1]);
            close_with(g, option ? GPUMB_EXIT_USAGE : GPUMB_EXIT_ERROR);
        }
}

static void test_traffic()
{
    for (int what = 0; what < 6; what++)
        for (double moved : {0.88, 0.91, 1.0, 1.09, 1.12}) {
            const char *names[] = {"dram_read_bytes,dram_write_bytes", "dram_read_bytes"};
            gpumb *g = open_with(settings(names[what == 1]));
            const double bytes = 3 * 10; // the fake counts 10 us once, and twice
            g->device.l2_bytes = 100;
            gpumb_set_bytes(g, what == 2 ? 0 : bytes / moved);
            gpumb_set_footprint(g, what == 3 ? 1999 : 2000);
            if (what == 4)
                gpumb_set_expected(g, 1000, 0.5);
            if (what == 5)
                gpumb_set_transfer(g, 30, 0);
            const gpumb_result *r = measure(g, 10e-6);
            const int off = moved < 0.9 || moved > 1.1;
            if (!CHECK_INT((r->flags & GPUMB_FLAG_TRAFFIC) != 0, off && !what))
                printf("    case %d, moved %g\n", what, moved);
            close_with(g);
        }
}

int main()
{
    const std::string folder = make_folder("gpumb-counters");
    if (!CHECK(chdir(folder.c_str()) == 0))
        return CHECK_SUMMARY();
    gpumb_cpu_set_workers(1);
    test_values();
    test_times();
    test_hooks();
    test_checks();
    test_profiler();
    test_absent();
    test_interleave();
    test_ends();
    test_columns();
    test_traffic();
    CHECK(rmdir(folder.c_str()) == 0);
    return CHECK_SUMMARY();
}

// test_sampling.cpp - warm-up, pace, the stopping rule, bad clocks and failing launches, on a
// scripted clock.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define FAKE_MULTIPROCESSORS 1
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include <math.h>

// ---- a context for each test ----

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    return s;
}

static gpumb *open(const gpumb_settings &s)
{
    fake_reset();
    heard.clear();
    return gpumb_open_settings("test_sampling", &s);
}

static void close(gpumb *g, int code)
{
    if (!code && g->rows.skipped && !g->rows.ok) // a run that measures nothing is not well
        code = GPUMB_EXIT_FAILED;
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
}

static double precision_of(const gpumb_stats &s)
{
    return (s.ci_hi - s.ci_lo) / 2 / s.median;
}

// ---- first launch and warm-up ----

static void test_first_launch()
{
    for (int warm = 0; warm < 2; warm++) {
        gpumb_settings s = settings();
        s.warmup_s = warm ? 0 : -1;
        gpumb *g = open(s);
        int runs = 0;
        gpumb_result r;
        GPUMB_TIME(&r) {
            fake_run(runs++ ? 5e-3 : 0.1);
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_NEAR(r.first_launch_s, 0.1, 1e-4);
        CHECK_NEAR(r.time.max, 5e-3, 1e-5);
        CHECK_NEAR(r.time.median, 5e-3, 1e-5);
        close(g, 0);
    }
}

// The time of a run that starts now, of a device that becomes twice as fast within `seconds` and is
// then steady.
static double falling(double steady, double began, double seconds)
{
    const double left = 1 - (fake_now - began) / seconds;
    return steady * (1 + (left > 0 ? left : 0));
}

// What the first region of a process takes longer than others: clocks can rise for 0.4 s. A shorter
// warm-up, or none, is respected. Steps and boosts within that time are not sampled.
static void test_first_region()
{
    for (double warmup_s : {0.5, 0.1, -1.0}) {
        gpumb_settings s = settings();
        s.warmup_s = warmup_s;
        gpumb *g = open(s);
        for (int i = 0; i < 3; i++) {
            gpumb_result r;
            const double began = fake_now;
            GPUMB_TIME(&r) {
                fake_run(1e-3);
            }
            const double spent_s = fake_now - began - r.sampled_s;
            CHECK(r.sampled_s >= 0.1 && r.sampled_s < 0.11);
            if (warmup_s < 0.2)
                CHECK(spent_s < fmax(warmup_s, 0) + 0.01);
            else
                CHECK(i ? spent_s < 0.1 : spent_s >= 0.45 && spent_s < 0.5);
            if (i == 1) { // another context of the process
                gpumb_close(g);
                g = gpumb_open_settings("test_sampling", &s);
            }
        }
        close(g, 0);
    }
    static const double at_s[] = {0.1, 0.2, 0.3, 0.4};
    for (double step_s : at_s)
        for (double by : {1.02, 1.1, 0.95}) {
            gpumb *g = open(settings());
            const double began = fake_now;
            gpumb_result r;
            GPUMB_TIME(&r) {
                fake_run(fake_now < began + step_s ? by * 1e-3 : 1e-3);
            }
            CHECK_NEAR(r.time.median, 1e-3, 1e-5);
            CHECK(r.time.min > 0.99e-3 && r.time.max < 1.01e-3);
            close(g, 0);
        }
}

// Samples are taken for --least seconds; two levels of 50 ms on average are both seen in most rows.
static void test_least()
{
    for (double least_s : {-1.0, 0.03, 0.1, 0.2, 3.0}) {
        gpumb_settings s = settings();
        s.least_s = least_s;
        s.max_samples = 1000000;
        gpumb *g = open(s);
        for (double seconds : {1e-5, 1e-3, 5e-3}) {
            gpumb_result r;
            GPUMB_TIME(&r) {
                fake_run(seconds);
            }
            const double wanted_s = fmax(fmin(least_s, s.budget_s), 30 * seconds * (least_s < 0));
            CHECK(r.sampled_s >= wanted_s);
            CHECK(r.sampled_s < fmax(wanted_s, 31 * seconds) + 20e-3);
            CHECK_INT(r.stop, least_s > 2 ? GPUMB_STOP_BUDGET : GPUMB_STOP_PRECISION);
        }
        close(g, 0);
    }
}

static void test_warm_up()
{
    gpumb_result r;

    // until the times have settled: nothing of the fall is left in the samples
    static const double steady[] = {5e-6, 20e-6, 100e-6, 1e-3, 5e-3};
    for (int i = 0; i < 5; i++) {
        gpumb *g = open(settings());
        const double start = fake_now;
        GPUMB_TIME(&r) {
            fake_run(falling(steady[i], start, 0.2));
        }
        if (!(CHECK_NEAR(r.time.median / steady[i], 1, 0.02) &
              CHECK_NEAR(r.time.max / steady[i], 1, 0.03)))
            printf("    a kernel of %g s is sampled while its times still fall\n", steady[i]);
        CHECK(!(r.flags & GPUMB_FLAG_UNSETTLED));
        CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
        close(g, 0);
    }

    // also where they creep: by 20 % and by 10 % in 0.4 s
    for (int percent = 10; percent <= 20; percent += 5) {
        gpumb *creeping = open(settings());
        const double start = fake_now;
        GPUMB_TIME(&r) {
            fake_run(1e-3 * (1 + percent / 100.0 * (falling(1, start, 0.4) - 1)));
        }
        CHECK_NEAR(r.time.median / 1e-3, 1, 0.01);
        CHECK_NEAR(r.time.max / 1e-3, 1, 0.02);
        close(creeping, 0);
    }

    // and not longer: a steady series does not use up the budget
    gpumb *g = open(settings());
    double began = fake_now;
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK(fake_now - began - (double)r.time.count * 5e-3 < 0.55); // of the first region
    CHECK(!(r.flags & GPUMB_FLAG_UNSETTLED));
    close(g, 0);

    // never settled
    g = open(settings());
    began = fake_now;
    int runs = 0;
    GPUMB_TIME(&r) {
        runs++;
        fake_run(1e-4 + 5e-3 * exp(-(fake_now - began) / 0.4));
    }
    CHECK(r.flags & GPUMB_FLAG_UNSETTLED);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK(r.time.max < 1e-4 + 5e-3 * exp(-0.45 / 0.4)); // the whole budget was spent before
    CHECK(r.time.max > 1e-4 + 5e-3 * exp(-0.60 / 0.4)); // and not more
    close(g, 0);

    // nor a short one, whose single steps are small
    g = open(settings());
    began = fake_now;
    GPUMB_TIME(&r) {
        fake_run(4e-6 + 20e-6 * exp(-(fake_now - began) / 0.4));
    }
    CHECK(r.flags & GPUMB_FLAG_UNSETTLED);
    close(g, 0);

    // the budget counts: half the warm-up, half the wait
    gpumb_settings s = settings();
    s.warmup_s = 0.25;
    g = open(s);
    began = fake_now;
    GPUMB_TIME(&r) {
        fake_run(1e-4 + 5e-3 * exp(-(fake_now - began) / 0.4));
    }
    CHECK(r.flags & GPUMB_FLAG_UNSETTLED);
    CHECK(r.time.max < 1e-4 + 5e-3 * exp(-0.20 / 0.4));
    CHECK(r.time.max > 1e-4 + 5e-3 * exp(-0.35 / 0.4));
    close(g, 0);

    // none
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 30;
    g = open(s);
    began = fake_now;
    runs = 0;
    GPUMB_TIME(&r) {
        runs++;
        fake_run(falling(5e-3, began, 0.2));
    }
    CHECK(r.time.max > 9.5e-3);
    CHECK_INT(r.time.count, 30);
    CHECK(runs <= 33); // the first, and at most two to choose the way of timing
    close(g, 0);
}

// Independent noise is no trend.
static void test_noise_is_settled()
{
    static const double seconds[] = {20e-6, 1e-3, 20e-3};
    for (int j = 0; j < 3; j++) {
        const int runs = SANITIZED ? 20 : 200;
        int unsettled = 0;
        for (int i = 0; i < runs; i++) {
            gpumb_settings s = settings();
            s.max_samples = 30;
            gpumb *g = open(s);
            gpumb_result r;
            random_state = (uint64_t)i + 1;
            GPUMB_TIME(&r) {
                fake_run(seconds[j] * exp(0.05 * random_normal()));
            }
            unsettled += (r.flags & GPUMB_FLAG_UNSETTLED) != 0;
            gpumb_close(g);
        }
        if (!CHECK(unsettled <= runs / 10))
            printf("    %d of %d steady noisy series of %g s are flagged\n", unsettled, runs,
                   seconds[j]);
    }
}

// Ramps that take longer than the warm-up has, in noise of 0.1 %: the median is within the
// precision of the settled one, or flagged, in 95 % of the runs; steady times get no flag, and wait
// for 30 ms longer than three windows at most. tests/coverage.c has more of both.
static double ramp_height, ramp_seconds;
static int ramp_is_linear;

static double ramp_now()
{
    const double t = (fmax(fake_now, fake_busy) - 100) / ramp_seconds;
    const double left = ramp_is_linear ? fmax(0, 1 - t) : exp(-t);
    return (1 + ramp_height * left) * (1 + 0.001 * random_normal());
}

static gpumb_result ramp_result(double seconds, gpumb_timing timing, double *spent_s)
{
    gpumb_result r;
    gpumb *g = open(settings());
    g->outcome.warmed = 1;
    fake_now = fake_busy = 100;
    fake_pace = ramp_now; // of graphs
    gpumb_set_timing(g, timing);
    GPUMB_TIME(&r) {
        fake_run(fake_capturing ? seconds : seconds * ramp_now());
    }
    *spent_s = g->region.single.samples.began_s - 100; // before the first sample that counts
    close(g, 0);
    return r;
}

// Launching takes 5 us, and wanders by a fifth for some 50 ms: no reason to wait on, nor for a
// flag, where graphs show that the kernel's times don't move.
static void test_wandering_launches()
{
    const int runs = SANITIZED ? 5 : 40;
    int late = 0, flagged = 0;
    for (int i = 0; i < runs; i++) {
        double launch_s = 5e-6;
        gpumb_result r;
        gpumb *g = open(settings());
        g->outcome.warmed = 1;
        g->device.empty_kernel_s = launch_s;
        fake_now = fake_busy = 100;
        random_state = (uint64_t)i + 1;
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&r) {
            launch_s += (5e-6 - launch_s) / 5000 + 20e-9 * random_normal();
            fake_run(2e-6 + (fake_capturing ? 0 : launch_s));
        }
        late += fake_now - 100 > 0.3;
        flagged += (r.flags & GPUMB_FLAG_UNSETTLED) != 0;
        close(g, 0);
    }
    CHECK_INT(late, 0);
    CHECK_INT(flagged, 0);
}

// Where nothing looks at whether samples move, or the warm-up leaves no time for it, the warm-up
// goes on, and says that times have not settled.
static void test_hidden_ramps()
{
    ramp_is_linear = 0;
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        gpumb_settings s = settings();
        ramp_height = interleaved ? 0.3 : 0.1;
        ramp_seconds = interleaved ? 1 : 2;
        if (!interleaved)
            s.warmup_s = 0.15;
        gpumb *g = open(s);
        g->outcome.warmed = 1;
        g->device.empty_kernel_s = 5e-6;
        fake_now = fake_busy = 100;
        fake_pace = ramp_now;
        random_state = 1;
        if (interleaved) {
            GPUMB_INTERLEAVE(g) {
                for (int i = 0; i < 2; i++) {
                    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
                    GPUMB_MEASURE(g, i ? "b" : "a")
                        fake_run(fake_capturing ? 2e-6 : 2e-6 * ramp_now());
                }
            }
        } else {
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "a")
                fake_run(fake_capturing ? 2e-6 : 2e-6 * ramp_now());
        }
        CHECK_INT(gpumb_row_count(g), interleaved ? 2 : 1);
        for (size_t i = 0; i < gpumb_row_count(g); i++)
            CHECK(gpumb_row(g, i)->flags & GPUMB_FLAG_UNSETTLED);
        close(g, 0);
    }
}

static void test_slow_ramps()
{
    static const struct {
        double seconds;
        gpumb_timing timing;
    } kernels[] = {{2e-6, GPUMB_TIMING_AUTO},   {2e-6, GPUMB_TIMING_GRAPH},
                   {20e-6, GPUMB_TIMING_GRAPH}, {100e-6, GPUMB_TIMING_GRAPH},
                   {700e-6, GPUMB_TIMING_AUTO}, {10e-3, GPUMB_TIMING_AUTO},
                   {100e-3, GPUMB_TIMING_AUTO}};
    static const double ramps[][2] = {{0.02, 0.5}, {0.05, 0.5}, {0.05, 1},   {0.1, 0.3}, {0.1, 2},
                                      {0.3, 0.1},  {0.3, 2},    {-0.1, 0.5}, {-0.2, 1}};
    const unsigned shown = GPUMB_FLAG_UNSETTLED | GPUMB_FLAG_WARMING_UP | GPUMB_FLAG_SLOWING_DOWN |
                           GPUMB_FLAG_UNSTEADY;
    for (const auto &kernel : kernels) {
        if (SANITIZED && &kernel != kernels)
            break;
        double spent = 0, settled = 0, spent_s;
        int flags = 0, right = 0, all = 0;
        ramp_height = 0, ramp_seconds = 1;
        for (int i = 0; i < 40; i++) {
            random_state = (uint64_t)i + 1;
            const gpumb_result r = ramp_result(kernel.seconds, kernel.timing, &spent_s);
            flags += (r.flags & shown) != 0;
            settled += r.time.median / 40;
            spent += spent_s / 40;
        }
        CHECK_CASE(flags <= 1, "%d of 40 steady series of %g s", flags, kernel.seconds);
        const double three_windows = fmax(60e-3, fmin(3 * 3 * kernel.seconds, 0.5));
        CHECK_CASE(spent < three_windows + 30e-3, "%g s of %g s", spent, kernel.seconds);
        for (const auto &ramp : ramps) // hundreds of each: coverage, part w
            for (int i = 0; i < 4; i++) {
                ramp_height = ramp[0], ramp_seconds = ramp[1], ramp_is_linear = i % 2;
                random_state = (uint64_t)i + 1;
                const gpumb_result r = ramp_result(kernel.seconds, kernel.timing, &spent_s);
                right += fabs(r.time.median / settled - 1) <= 0.01 || (r.flags & shown);
                all++;
            }
        CHECK_CASE(right >= 0.95 * all, "%d of %d ramps of %g s", right, all, kernel.seconds);
    }
}

// 30 samples are not to be had within the budget: what is steady takes fewer, in half the time.
static void test_slow_kernels()
{
    static const double slow[] = {0.07, 0.1, 0.2};
    for (double seconds : slow) {
        gpumb *g = open(settings());
        const double began = fake_now;
        gpumb_result r;
        random_state = 1;
        GPUMB_TIME(&r) {
            fake_run(seconds * (1 + 0.001 * random_normal()));
        }
        CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
        CHECK_INT(r.time.count, 8);
        CHECK(fake_now - began < 0.6 + 12 * seconds);
        CHECK(precision_of(r.time) > 0.002); // what correlated noise would need
        close(g, 0);
    }
    gpumb *g = open(settings()); // where they are, they are taken
    gpumb_result r;
    GPUMB_TIME(&r) {
        fake_run(0.06);
    }
    CHECK_INT(r.time.count, 30);
    close(g, 0);
}

// A coarse clock, 100 to 150 quanta to a sample: what it hides is in the interval.
static void test_coarse_clock()
{
    static const double noise[] = {0, 0.001, 0.01};
    static const double quanta[] = {0.5e-6, 1e-6};
    for (double sd : noise)
        for (double quantum : quanta) {
            int held = 0;
            double width = 0;
            for (int i = 0; i < 60; i++) {
                random_state = (uint64_t)i + 1;
                const double seconds = quantum * (100 + 50 * random_uniform());
                double median[2];
                for (int coarse = 0; coarse < 2; coarse++) {
                    const gpumb_settings s = settings();
                    fake_reset();
                    fake_quantum = coarse ? quantum : 0;
                    fake_now = fake_busy = 100 + 1e-6 * random_uniform();
                    gpumb *g = gpumb_open_settings("test_sampling", &s);
                    gpumb_result r;
                    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                    GPUMB_TIME(&r) {
                        fake_run(seconds * (1 + coarse * sd * random_normal()));
                    }
                    median[coarse] = r.time.median;
                    held += coarse && r.time.ci_lo <= median[0] && median[0] <= r.time.ci_hi;
                    width += coarse * precision_of(r.time) / 60;
                    close(g, 0);
                }
            }
            CHECK_CASE(held >= 56, "%d of 60 intervals hold: noise %g, quantum %g s", held, sd,
                       quantum);
            CHECK_CASE(width < 0.009, "+-%g", width);
        }
}

// ---- reset ----

struct resetting {
    int resets, fresh;
};

static void reset(gpumb *, void *user)
{
    resetting *state = (resetting *)user;
    state->resets++;
    state->fresh = 1;
    fake_run(1e-3);
}

static void test_reset()
{
    static const double seconds[] = {2e-6, 50e-6, 5e-3};
    static const gpumb_timing ways[] = {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT, GPUMB_TIMING_HOST,
                                        GPUMB_TIMING_BATCH};
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < 4; way++) {
            gpumb *g = open(settings());
            resetting state = {0, 0};
            int runs = 0, stale = 0;
            gpumb_result r;
            gpumb_set_timing(g, ways[way]);
            gpumb_set_reset(g, reset, &state);
            GPUMB_TIME(&r) {
                runs++;
                stale += !state.fresh;
                state.fresh = 0;
                fake_run(seconds[i]);
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK_INT(r.batch, 1);
            CHECK_INT(stale, 0);
            CHECK_INT(state.resets, runs);
            CHECK(runs > 30);
            CHECK_NEAR(r.time.max, seconds[i], 5e-6); // without the millisecond
            close(g, 0);
        }
}

// ---- when sampling ends ----

static void test_stop()
{
    gpumb_result r;
    gpumb_settings s = settings();

    // a steady series ends at the first look
    gpumb *g = open(s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
    CHECK_INT(r.time.count, 30);
    CHECK(!(r.flags & (GPUMB_FLAG_NOISY | GPUMB_FLAG_FEW_SAMPLES | GPUMB_FLAG_BAD_TIME)));
    CHECK(r.time.ci_lo > 0 && r.time.ci_lo <= r.time.median && r.time.median <= r.time.ci_hi);
    close(g, 0);

    s.min_samples = 100;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
    CHECK_INT(r.time.count, 100);
    close(g, 0);

    // the largest number of samples
    s = settings();
    s.max_samples = 50;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(1e-3 * (1 + random_uniform()));
    }
    CHECK_INT(r.stop, GPUMB_STOP_SAMPLES);
    CHECK_INT(r.time.count, 50);
    CHECK(r.flags & GPUMB_FLAG_NOISY);
    CHECK(precision_of(r.time) > 0.01);
    close(g, 0);

    s.min_samples = s.max_samples = 7;
    s.precision = 1e-9;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(1e-3 * (1 + random_uniform()));
    }
    CHECK_INT(r.time.count, 7);
    CHECK_INT(r.stop, GPUMB_STOP_SAMPLES);
    const double m = r.time.median, besides = hypot(0.004 * m, 0.58 * 32e-9); // not in samples
    const double beyond = 10 * (r.time.max - r.time.min) / 6;                 // rank 17 of 7
    CHECK_NEAR(r.time.ci_lo, fmax(m - hypot(m - (r.time.min - beyond), besides), 0), 1e-15);
    CHECK_NEAR(r.time.ci_hi, m + hypot(r.time.max + beyond - m, besides), 1e-15);
    close(g, 0);

    // times on a device that don't differ leave that much; on the host, nothing
    static const struct {
        gpumb_timing timing;
        double left;
    } ways[] = {{GPUMB_TIMING_AUTO, 0.004}, {GPUMB_TIMING_BATCH, 0.0015}, {GPUMB_TIMING_HOST, 0}};
    for (const auto &way : ways) {
        for (int fine = 0; fine < 2; fine++) {
            const int host = way.left <= 0;
            s = settings();
            s.precision = (fine ? 0.95 : 1.05) * (host ? 0.004 : way.left);
            s.max_samples = 100;
            g = open(s);
            gpumb_set_timing(g, way.timing);
            GPUMB_TIME(&r) {
                fake_run(5e-3);
            }
            CHECK_NEAR(precision_of(r.time), way.left, 1e-6);
            CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
            CHECK_INT((r.flags & GPUMB_FLAG_NOISY) != 0, fine && !host);
            close(g, 0);
        }
    }
    s = settings();

    // stopping at a narrow interval picks lucky ones: of the same series it is the wider one
    gpumb_stats ended[2];
    for (int precise = 0; precise < 2; precise++) {
        s.min_samples = 200;
        s.max_samples = precise ? 10000 : 200;
        s.precision = precise ? 0.5 : 1e-9;
        s.warmup_s = -1;
        random_state = 7;
        g = open(s);
        gpumb_set_timing(g, GPUMB_TIMING_HOST);
        double wave = 0;
        GPUMB_TIME(&r) {
            wave = 0.9 * wave + random_uniform() - 0.5;
            fake_run(5e-3 * (1 + 0.01 * wave));
        }
        CHECK_INT(r.stop, precise ? GPUMB_STOP_PRECISION : GPUMB_STOP_SAMPLES);
        ended[precise] = r.time;
        close(g, 0);
    }
    CHECK_NEAR(ended[0].median, ended[1].median, 0);
    CHECK_NEAR(ended[0].effective, ended[1].effective, 0);
    CHECK(ended[1].effective < 60);
    CHECK(precision_of(ended[1]) > 1.2 * precision_of(ended[0]));
    s = settings();

    s.min_samples = s.max_samples = 3;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.time.count, 3);
    CHECK_INT(r.stop, GPUMB_STOP_SAMPLES);
    CHECK(r.flags & GPUMB_FLAG_FEW_SAMPLES);
    CHECK_NEAR(r.time.ci_lo, 0, 0);
    CHECK_NEAR(r.time.ci_hi, 0, 0);
    close(g, 0);

    // the budget
    s = settings();
    s.budget_s = 0.2;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(4e-3 * (1 + random_uniform()));
    }
    CHECK_INT(r.stop, GPUMB_STOP_BUDGET);
    CHECK(r.time.count >= 25 && r.time.count <= 50); // at 4 ... 8 ms
    CHECK(r.flags & GPUMB_FLAG_NOISY);
    CHECK(!(r.flags & GPUMB_FLAG_FEW_SAMPLES));
    close(g, 0);

    s.budget_s = 0.012;
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.stop, GPUMB_STOP_BUDGET);
    CHECK(r.time.count >= 1 && r.time.count <= 4);
    CHECK(r.flags & GPUMB_FLAG_FEW_SAMPLES);
    CHECK_NEAR(r.time.median, 5e-3, 1e-5);
    CHECK_NEAR(r.time.ci_lo, 0, 0);
    CHECK_NEAR(r.time.ci_hi, 0, 0);
    close(g, 0);

    s.budget_s = 1e-9; // even then there is a time
    g = open(s);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.stop, GPUMB_STOP_BUDGET);
    CHECK(r.time.count >= 1 && r.time.count <= 2);
    CHECK_NEAR(r.time.median, 5e-3, 1e-5);
    close(g, 0);

    // the wanted precision: what is asked for is what one gets, and less takes less
    uint64_t counts[2];
    for (int i = 0; i < 2; i++) {
        s = settings();
        s.budget_s = 1e3;
        s.precision = i ? 0.02 : 0.005;
        random_state = 5;
        g = open(s);
        GPUMB_TIME(&r) {
            fake_run(1e-3 * (1 + 0.1 * random_normal()));
        }
        CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
        CHECK(!(r.flags & GPUMB_FLAG_NOISY));
        CHECK(precision_of(r.time) <= s.precision);
        counts[i] = r.time.count;
        close(g, 0);
    }
    CHECK(counts[1] < counts[0]);
}

// Looks happen at fixed counts: series as different as may be end at a handful of them. And with
// this rule the intervals still hold the median.
static void test_schedule()
{
    enum { SERIES = 1000 };
    static uint64_t seen[64];
    int distinct = 0, held = 0, ended = 0, precise = 0;
    for (int i = 0; i < SERIES; i++) {
        gpumb_settings s = settings();
        s.warmup_s = s.least_s = -1;
        s.budget_s = 1e3;
        s.precision = 0.01 + 0.005 * (i % 3);
        gpumb *g = open(s);
        gpumb_result r;
        random_state = (uint64_t)i * 7919 + 1;
        const double spread = 0.01 + 0.02 * (i % 7);
        GPUMB_TIME(&r) {
            fake_run(1e-3 * exp(spread * random_normal()));
        }
        gpumb_close(g);
        if (r.stop != GPUMB_STOP_PRECISION)
            continue;
        ended++;
        precise += precision_of(r.time) <= s.precision;
        const double median = 1e-3 - r.overhead_s + 1e-6; // between the event pair, and quantised
        held += r.time.ci_lo <= median + 0.6e-6 && r.time.ci_hi >= median - 0.6e-6;
        int at = 0;
        while (at < distinct && seen[at] != r.time.count)
            at++;
        if (at == distinct && distinct < 64)
            seen[distinct++] = r.time.count;
    }
    CHECK_INT(ended, SERIES);
    CHECK_INT(precise, ended);
    if (!CHECK(distinct >= 3 && distinct <= 24))
        printf("    %d different counts\n", distinct);
    for (int i = 0; i < distinct; i++) {
        CHECK(seen[i] >= 30);
        for (int j = 0; j < distinct; j++) // far enough apart
            CHECK(i == j || seen[i] * 10 >= seen[j] * 11 || seen[j] * 10 >= seen[i] * 11);
    }
    if (!CHECK(held >= ended * 92 / 100))
        printf("    %d of %d intervals hold the median\n", held, ended);
}

// ---- bad clocks, failing launches ----

static void test_bad_times()
{
    static const double bad[] = {0, -3e-6, -1};
    static const double seconds[] = {5e-3, 2e-6};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            gpumb_result r;
            gpumb *g = open(settings());
            fake_elapsed_every = 5;
            fake_elapsed_value = bad[i];
            gpumb_set_bytes(g, 1e3);
            GPUMB_TIME(&r) {
                fake_run(seconds[j]);
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK(r.flags & GPUMB_FLAG_BAD_TIME);
            CHECK_NEAR(r.time.min / seconds[j], 1, 0.05);
            CHECK_NEAR(r.time.median / seconds[j], 1, 0.05);
            CHECK(r.gbps > 0 && r.gbps <= 1e3 / (0.95 * seconds[j]) / 1e9);
            close(g, 0);

            g = open(settings());
            fake_elapsed_every = 1;
            fake_elapsed_value = bad[i];
            gpumb_set_bytes(g, 1e3);
            gpumb_set_flop(g, 1e3);
            GPUMB_TIME(&r) {
                fake_run(seconds[j]);
            }
            CHECK_INT(r.status, GPUMB_STATUS_FAILED);
            CHECK(r.reason[0]);
            CHECK(r.flags & GPUMB_FLAG_BAD_TIME);
            CHECK_NEAR(r.gbps, 0, 0);
            CHECK_NEAR(r.gflops, 0, 0);
            CHECK_INT(r.time.count, 0);
            fake_elapsed_every = 0;
            GPUMB_TIME(&r) {
                fake_run(seconds[j]);
            }
            CHECK_INT(r.status, GPUMB_STATUS_OK);
            CHECK(!(r.flags & GPUMB_FLAG_BAD_TIME));
            gpumb_close(g);
            CHECK(fake_clean());
        }
}

// The flag comes from the samples too.
static void test_bad_samples()
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    gpumb *g = open(s);
    fake_elapsed_every = 5;
    gpumb_result r;
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK(r.flags & GPUMB_FLAG_BAD_TIME);
    CHECK_INT(r.time.count, 30);
    CHECK_NEAR(r.time.min, 5e-3, 1e-5);
    close(g, 0);
}

static void test_failing_launch()
{
    gpumb_result r;
    for (int failing = 1; failing <= 40; failing++) { // the first, in the warm-up, in the samples
        gpumb_settings s = settings();
        s.warmup_s = 0.02;
        gpumb *g = open(s);
        int runs = 0;
        GPUMB_MEASURE(g, "failing") {
            if (++runs == failing)
                fake_run_refused(FAKE_REFUSED);
            else
                fake_run(1e-3);
        }
        const gpumb_result *row = gpumb_last_result(g);
        if (CHECK(row != NULL)) {
            CHECK_INT(row->status, GPUMB_STATUS_SKIPPED);
            CHECK(strstr(row->reason, "the fake refuses") != NULL);
            CHECK_INT(row->flags, GPUMB_FLAG_LAUNCH_FAILED);
            CHECK_NEAR(row->gbps, 0, 0);
        }
        if (!CHECK_INT(runs, failing))
            printf("    the body was run again after a refused launch\n");
        GPUMB_TIME(&r) {
            fake_run(1e-3);
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK); // the next is not concerned
        CHECK_STR(r.reason, "");
        close(g, 0);
    }

    gpumb *g = open(settings());
    int runs = 0;
    GPUMB_MEASURE(g, "lost") {
        runs++;
        fake_run_refused(FAKE_LOST);
    }
    CHECK(!gpumb_ok(g));
    GPUMB_MEASURE(g, "behind") {
        runs++;
    }
    CHECK_INT(runs, 1);
    CHECK(gpumb_alloc(g, 100) == NULL);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    CHECK(strstr(heard.c_str(), "the fake is lost") != NULL);
    CHECK(fake_clean());
}

// Whatever fails, and whenever: no crash, no hang, nothing left behind, a truthful exit code.
static int right(gpumb *, void *)
{
    return 1;
}

static int everything(fake_error error, uint64_t call, uint64_t *calls, gpumb_result *r)
{
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 8;
    s.warmup_s = 0.004;
    fake_reset();
    heard.clear();
    fake_fail_error = error;
    fake_fail_at = call;
    gpumb *g = gpumb_open_settings("test_sampling", &s);
    GPUMB_SWEEP_LIST(g, n, 1000, 2000) {
        gpumb_buffer *in = gpumb_alloc(g, (uint64_t)n), *out = gpumb_alloc(g, (uint64_t)n);
        gpumb_fill(g, in, GPUMB_FILL_BITS, 1);
        gpumb_set_bytes(g, 2.0 * (double)n);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, right, NULL);
        GPUMB_MEASURE(g, "copy") {
            fake_run(1e-3);
            gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), (uint64_t)n);
        }
        gpumb_compare(g, in, out, (uint64_t)n, NULL);
    }
    if (gpumb_last_result(g))
        *r = *gpumb_last_result(g);
    const int code = gpumb_close(g);
    *calls = 0;
    for (int verb = 0; verb < FAKE_VERBS; verb++)
        if (verb != FAKE_FREE && verb != FAKE_STREAM_DESTROY && verb != FAKE_EVENT_DESTROY &&
            verb != FAKE_CLOCK)
            *calls += fake_calls[verb];
    return code;
}

static void test_any_failure()
{
    static const fake_error errors[] = {FAKE_REFUSED, FAKE_NO_MEMORY, FAKE_LOST};
    gpumb_result r = gpumb_result();
    uint64_t all, calls;
    CHECK_INT(everything(FAKE_OK, 0, &all, &r), 0);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK(fake_clean());
    CHECK(all > 100);
    for (int e = 0; e < 3; e++)
        for (uint64_t call = 1; call <= all; call++) {
            const int code = everything(errors[e], call, &calls, &r);
            if (!CHECK(fake_clean()))
                printf("    something is left behind when call %d fails\n", (int)call);
            if (errors[e] == FAKE_LOST &&
                !CHECK((code == GPUMB_EXIT_ERROR || code == GPUMB_EXIT_NO_DEVICE) &&
                       !heard.empty()))
                printf("    call %d: the device is lost, the exit code %d\n", (int)call, code);
            if (code && !CHECK(!heard.empty()))
                printf("    call %d: exit code %d without a word\n", (int)call, code);
        }
}

int main()
{
    test_first_launch();
    test_first_region();
    test_least();
    test_warm_up();
    test_noise_is_settled();
    test_wandering_launches();
    test_hidden_ramps();
    test_slow_ramps();
    test_coarse_clock();
    test_slow_kernels();
    test_reset();
    test_stop();
    test_schedule();
    test_bad_times();
    test_bad_samples();
    test_failing_launch();
    test_any_failure();
    return CHECK_SUMMARY();
}

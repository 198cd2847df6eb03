// test_flags.cpp - every flag of a row: times that make it fire, times that don't; --explain; the
// shape of the series of samples; rates, of which some flags come.
#include "watched.h"
#include "printed.h"
#include <algorithm>
#include <math.h>
#include <vector>

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
    const auto of_units = [](double most) {
        return [most](gpumb *g) {
            gpumb_set_flop(g, 21e9);
            gpumb_set_peak_flop(g, most);
        };
    };
    check("above-peak", {nullptr, nullptr, of_units(20e12), 0},
          {nullptr, nullptr, of_units(22e12), 0});
    check("above-peak", {nullptr, nullptr, of_units(0), 0},
          {nullptr, nullptr, of_units(HUGE_VAL), 0});
    // of memory's peak and theirs, what is nearer to its own counts
    const auto of_both = [](double n, double most) {
        return [n, most](gpumb *g) {
            gpumb_set_bytes(g, n);
            gpumb_set_flop(g, 21e9);
            gpumb_set_peak_flop(g, most);
        };
    };
    check("above-peak", {nullptr, nullptr, of_both(0.98e9, 20e12), 0},
          {nullptr, nullptr, of_both(0.98e9, 22e12), 0});
    check("above-peak", {nullptr, nullptr, of_both(1.02e9, 22e12), 0},
          {nullptr, nullptr, of_both(0.98e9, HUGE_VAL), 0});
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
        close(g, at < 2 ? GPUMB_EXIT_FAILED : GPUMB_EXIT_OK);
        CHECK_STR(column("status", 0).c_str(), "skipped");
        CHECK_INT(flagged("launch-failed", 0), at < 2);
        CHECK(!flagged("launch-failed", 1));
    }
    flags_checked.push_back("launch-failed");

    // a body that waits, and one that uses a stream of its own, which its own waits for or not
    for (int i = 0; i < 4; i++) {
        gpumb_settings s = settings();
        gpumb *g = open(s);
        GPUMB_MEASURE(g, "body") {
            if (i == 2)
                fake_run_elsewhere(0);
            fake_run(5e-3);
            if (i == 1)
                gpumbi_dev_wait(gpumb_stream(g));
        }
        close(g, GPUMB_EXIT_OK);
        CHECK_INT(flagged("host-bound", 0), i == 1);
        CHECK_INT(flagged("other-streams", 0), i == 2);
    }
    flags_checked.push_back("host-bound");
    flags_checked.push_back("other-streams");
    flags_checked.push_back("traffic"); // needs counters: test_counters.cpp
    // two regions, of which one slows down the other
    {
        gpumb_settings s = settings();
        s.warmup_s = -1;
        gpumb *g = open(s);
        int before = -1;
        GPUMB_INTERLEAVE(g) {
            for (int i = 0; i < 2; i++) {
                gpumb_set_timing(g, GPUMB_TIMING_EVENT);
                GPUMB_MEASURE(g, i ? "b" : "a") {
                    fake_run(1e-3 * (before == 1 && i == 0 ? 1.05 : 1));
                    before = i;
                }
            }
        }
        close(g, 0);
        CHECK(flagged("carry-over", 1));
        CHECK_STR(column("verdict", 1).c_str(), "same");
    }
    flags_checked.push_back("carry-over");
    flags_checked.push_back("replayed");   // needs a file: test_resume.cpp
    flags_checked.push_back("known-seed"); // needs --strict: test_strict.cu

#define FLAG_TEXT(name, text, meaning, advice) text,
    for (const char *flag : {GPUMB_FLAGS(FLAG_TEXT)})
        CHECK_CASE(std::find(flags_checked.begin(), flags_checked.end(), flag) !=
                       flags_checked.end(),
                   "nothing here makes %s fire", flag);
}

static std::string explained(const char *name, int *code)
{
    const char *options[] = {"watched", "--explain", name};
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
    CHECK_INT(flags, 22);

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

    // independent samples count as what they are; those that are correlated for less
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
        // (1 - r) / (1 + r) for means; the median feels the signs, which are less correlated
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

// ---- rates, and flags that come of them ----

static unsigned flags_of(double seconds, double bytes, double flop, uint64_t footprint,
                         gpumb_timing timing, gpumb_check check, gpumb_result *r)
{
    gpumb *g = open_without_graphs(settings());
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, flop);
    gpumb_set_footprint(g, footprint);
    gpumb_set_timing(g, timing);
    if (check)
        gpumb_set_verify(g, check, NULL);
    GPUMB_TIME(r) {
        fake_run(seconds);
    }
    close(g, 0);
    return r->flags;
}

static void test_rates()
{
    gpumb_result r;
    const unsigned plain =
        flags_of(5e-3, 4e9, 1e9, (uint64_t)4 << 30, GPUMB_TIMING_AUTO, right, &r);
    CHECK_INT(plain, 0);
    CHECK_INT(r.verified, 1);
    CHECK_NEAR(r.bytes, 4e9, 0);
    CHECK_NEAR(r.flop, 1e9, 0);
    CHECK_NEAR(r.gbps, 4e9 / r.time.median / 1e9, 1e-9);
    CHECK_NEAR(r.gbps, 800, 1);
    CHECK_NEAR(r.gflops, 200, 0.25);
    CHECK_NEAR(r.peak_gbps, 1000, 1e-9);
    CHECK_NEAR(r.pct_peak, r.gbps / 10, 1e-9);
    CHECK_INT(r.footprint_bytes, (long long)4 << 30);
    CHECK(strcmp(r.cache, "L1") && strcmp(r.cache, "L2"));

    // fp32 peak where no bytes are stated
    flags_of(5e-3, 0, 50e9, 0, GPUMB_TIMING_AUTO, right, &r);
    CHECK_NEAR(r.gbps, 0, 0);
    CHECK_NEAR(r.gflops, 10000, 20);
    CHECK_NEAR(r.pct_peak, 50, 0.1);

    flags_of(5e-3, 0, 0, 0, GPUMB_TIMING_AUTO, NULL, &r);
    CHECK_NEAR(r.gbps, 0, 0);
    CHECK_NEAR(r.gflops, 0, 0);
    CHECK_INT(r.verified, -1);

    // the ceiling: the copy rate, read + write, though an event pair costs 1 % of a copy
    reset();
    fake_memory = (uint64_t)64 << 30;
    fake_rate = 800e9;
    fake_floor = 27e-6;
    gpumb_settings s = settings();
    gpumb *g = gpumb_open_settings("watched", &s);
    gpumb_set_bytes(g, 2e9);
    GPUMB_MEASURE(g, "rate") {
        fake_run(5e-3);
    }
    r = *gpumb_last_result(g);
    CHECK_NEAR(r.ceiling_gbps, 800, 1.5);
    CHECK_NEAR(r.pct_ceiling, 50, 0.4);
    CHECK_NEAR(gpumb_get_device(g)->ceiling_bytes_per_s, 800e9, 1.5e9);
    close(g, 0);

    // unknown peak
    reset();
    fake_peak_gbps = 0;
    g = gpumb_open_settings("watched", &s);
    gpumb_set_bytes(g, 1e12);
    GPUMB_TIME(&r) {
        fake_run(5e-3);
    }
    CHECK_NEAR(r.peak_gbps, 0, 0);
    CHECK(!(r.flags & GPUMB_FLAG_ABOVE_PEAK));
    close(g, 0);
}

static void test_flags()
{
    gpumb_result r;
    const uint64_t memory = (uint64_t)4 << 30, l2 = (uint64_t)16 << 20, l1 = (uint64_t)64 << 10;

    CHECK(flags_of(5e-3, 6e9, 0, memory, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_ABOVE_PEAK);
    CHECK(
        !(flags_of(5e-3, 4.9e9, 0, memory, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_ABOVE_PEAK));

    CHECK(flags_of(5e-3, 1e6, 0, l2, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED);
    CHECK_STR(r.cache, "L2");
    CHECK(flags_of(5e-3, 1e6, 0, l1, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED);
    CHECK_STR(r.cache, "L1");
    CHECK(!(flags_of(5e-3, 1e6, 0, memory, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED));
    // nothing said: each byte is moved once
    CHECK(flags_of(5e-3, 1e6, 0, 0, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED);
    CHECK(!(flags_of(5e-3, 4e9, 0, 0, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED));
    CHECK(!(flags_of(5e-3, 0, 0, 0, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_CACHED));

    CHECK(flags_of(0.3e-6, 0, 0, 0, GPUMB_TIMING_EVENT, right, &r) & GPUMB_FLAG_RESOLUTION);
    CHECK(!(flags_of(5e-3, 0, 0, 0, GPUMB_TIMING_EVENT, right, &r) & GPUMB_FLAG_RESOLUTION));
    CHECK(!(flags_of(2e-6, 0, 0, 0, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_RESOLUTION));

    CHECK(flags_of(5e-3, 0, 0, 0, GPUMB_TIMING_AUTO, NULL, &r) & GPUMB_FLAG_UNVERIFIED);
    CHECK(!(flags_of(5e-3, 0, 0, 0, GPUMB_TIMING_AUTO, right, &r) & GPUMB_FLAG_UNVERIFIED));
}

int main()
{
    test_each_flag();
    test_explain();
    test_series();
    test_rates();
    test_flags();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

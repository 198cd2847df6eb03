// test_given_times.cpp - rows of times that the program gives (gpumb_add_times), for they were
// taken elsewhere; and what is made of such rows: comparisons, of values of one's own, too, raw
// samples, entries for other tools.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include "read_file.h"
#include "texts.h"
#include <vector>

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    fake_reset();
    heard = "";
    return s;
}

static gpumb *open(const gpumb_settings &s = settings())
{
    return gpumb_open_settings("own", &s);
}

static void close(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
}

// Times of a normal distribution around `median`, the same for each `seed`.
static std::vector<double> times(size_t count, double median, double spread)
{
    std::vector<double> t(count);
    for (double &one : t)
        one = median * (1 + spread * random_normal());
    return t;
}

static const gpumb_result *add(gpumb *g, const std::vector<double> &t,
                               gpumb_meaning meaning = GPUMB_MEANING_SPAN)
{
    gpumb_add_times(g, "row", meaning, t.data(), t.size());
    return gpumb_last_result(g);
}

// ---- times that were taken elsewhere ----

static void test_statistics()
{
    gpumb *g = open();
    std::vector<double> t = times(20000, 1e-3, 0.01); // more than max_samples
    const std::vector<double> taken = t;
    const gpumb_result *r = add(g, t, GPUMB_MEANING_LATENCY);
    CHECK(t == taken);
    const gpumb_stats s = gpumb_statistics(t.data(), t.size());
    CHECK_INT(r->status, GPUMB_STATUS_OK);
    CHECK_INT(r->timing, GPUMB_TIMING_GIVEN);
    CHECK_INT(r->meaning, GPUMB_MEANING_LATENCY);
    CHECK_INT(r->stop, GPUMB_STOP_SAMPLES);
    CHECK_INT(r->batch, 1);
    CHECK_INT(r->time.count, 20000);
    CHECK_NEAR(r->time.median, s.median, 0);
    CHECK_NEAR(r->time.ci_lo, s.ci_lo, 0); // nothing is added to a latency, nor for a clock
    CHECK_NEAR(r->time.ci_hi, s.ci_hi, 0);
    CHECK_NEAR(r->time.min, s.min, 0);
    CHECK_NEAR(r->time.sd, s.sd, 0);
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED);
    CHECK_NEAR(r->first_launch_s + r->overhead_s, 0, 0);
    char line[300];
    gpumb_row_line(g, 0, line, sizeof line);
    CHECK(has(line, "20000 samples (latency) [unverified]")); // no first launch of 0 ns
    CHECK_INT(r->throttle, -1);
    CHECK_INT(r->others, -1);

    // a span changes slowly on a GPU, whoever has timed it
    r = add(g, std::vector<double>(40, 1e-3));
    CHECK_INT(r->meaning, GPUMB_MEANING_SPAN);
    CHECK_NEAR(gpumbi_half_width(&r->time), 0.0015, 1e-9);
    r = add(g, std::vector<double>(40, 1e-8), GPUMB_MEANING_INTERVAL); // its clock is not known
    CHECK_INT(r->meaning, GPUMB_MEANING_INTERVAL);
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED);

    gpumb_set_bytes(g, 2e6);
    gpumb_set_footprint(g, 1 << 30);
    gpumb_set_elements(g, 5e5);
    r = add(g, std::vector<double>(40, 1e-6)); // 2000 GB/s, where the peak is 1000
    CHECK_NEAR(r->gbps, 2000, 1e-9);
    CHECK_NEAR(r->elements_per_s, 5e11, 1);
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED | GPUMB_FLAG_ABOVE_PEAK);
    close(g, GPUMB_EXIT_OK);
}

static void test_flags()
{
    gpumb *g = open();
    std::vector<double> falls = times(90, 1e-3, 1e-3), jumps = falls;
    for (size_t i = 0; i < 30; i++)
        falls[i] *= 1.2;
    for (double &one : jumps)
        one *= random_uniform() < 0.4 ? 1.2 : 1;
    const gpumb_result *r = add(g, falls);
    CHECK_INT(r->series, GPUMB_SERIES_WARMING_UP);
    CHECK(r->flags & GPUMB_FLAG_WARMING_UP);
    r = add(g, jumps);
    CHECK_INT(r->series, GPUMB_SERIES_TWO_LEVELS);
    r = add(g, times(8, 1e-3, 0.2));
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED | GPUMB_FLAG_NOISY);
    r = add(g, times(5, 1e-3, 1e-3));
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED | GPUMB_FLAG_FEW_SAMPLES);
    gpumb_set_bytes(g, 1e6);
    r = add(g, times(40, 1e-3, 1e-3));
    CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED | GPUMB_FLAG_CACHED);

    // what is no time
    for (const double bad : {0.0, -1e-3, (double)NAN, HUGE_VAL}) {
        std::vector<double> some = times(40, 1e-3, 1e-3);
        some[0] = some[17] = bad;
        r = add(g, some);
        CHECK_INT(r->time.count, 38);
        CHECK_INT(r->flags, GPUMB_FLAG_UNVERIFIED | GPUMB_FLAG_BAD_TIME);
        r = add(g, std::vector<double>(40, bad));
        CHECK_INT(r->status, GPUMB_STATUS_FAILED);
        CHECK_STR(r->reason, "no time of more than zero was given");
        CHECK_INT((int)r->timing + (int)r->meaning, 0);
    }
    r = add(g, {});
    CHECK_STR(r->reason, "no time of more than zero was given");
    for (const int meaning : {-1, 0, 4}) {
        r = add(g, times(40, 1e-3, 1e-3), (gpumb_meaning)meaning);
        CHECK_INT(r->status, GPUMB_STATUS_FAILED);
        CHECK(has(r->reason, "spans, intervals or latencies"));
    }
    gpumb_skip(g, "the child did not start");
    r = add(g, {});
    CHECK_INT(r->status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(r->reason, "the child did not start");
    g->settings.cold = 1; // the library has emptied no caches for it ...
    CHECK_STR(add(g, times(40, 1e-3, 1e-3))->cache, "");
    gpumb_set_cache(g, GPUMB_CACHE_COLD); // ... but the program may have
    CHECK_STR(add(g, times(40, 1e-3, 1e-3))->cache, "cold");
    close(g, GPUMB_EXIT_FAILED);
}

static int checks;

static int check(gpumb *g, void *right)
{
    checks++;
    gpumb_set_value(g, "checks", checks);
    gpumb_reason(g, "never right");
    return right != NULL;
}

static void test_check()
{
    gpumb *g = open();
    checks = 0;
    gpumb_set_verify(g, check, &checks);
    const gpumb_result *r = add(g, times(40, 1e-3, 1e-3));
    CHECK_INT(checks, 1);
    CHECK_INT(r->verified, 1);
    CHECK_INT(r->flags, 0);
    CHECK_NEAR(gpumb_row_value(g, 0, "checks"), 1, 0);
    gpumb_set_verify(g, check, NULL);
    r = add(g, times(40, 1e-3, 1e-3));
    CHECK_INT(r->verified, 0);
    CHECK_STR(r->reason, "never right");
    close(g, GPUMB_EXIT_FAILED);
}

// Times are taken in the passes of their configurations, for those that are let through.
static void test_sweep()
{
    char program[] = "own", filter[] = "--filter=own/row", quiet[] = "--samples=6:6";
    char *arguments[] = {program, filter, quiet, NULL};
    settings();
    gpumb *g = gpumb_open(3, arguments);
    g->table.file = NULL;
    int taken = 0, others = 0;
    GPUMB_SWEEP_LIST(g, n, 3, 5) {
        if (gpumb_wants_times(g, "another"))
            others++;
        gpumb_set_bytes(g, (double)n); // goes with the next line, wanted or not
        if (gpumb_wants_times(g, "row")) {
            taken++;
            add(g, times(8, (double)n, 1e-3));
        }
        gpumb_set_flop(g, 1);
        if (gpumb_wants_times(g, "another"))
            others++;
    }
    CHECK_INT(taken, 2);
    CHECK_INT(others, 0);
    CHECK_INT(gpumb_row_count(g), 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_NEAR(gpumb_row(g, i)->time.median, i ? 5 : 3, 0.1);
        CHECK_NEAR(gpumb_row(g, i)->bytes, i ? 5 : 3, 0);
        CHECK_NEAR(gpumb_row(g, i)->flop, 0, 0);
        CHECK_INT(gpumb_row_axis(g, i, "n"), i ? 5 : 3);
    }
    close(g, GPUMB_EXIT_OK);

    g = open(); // without the question a sweep still has its rows, once
    GPUMB_SWEEP_LIST(g, n, 3, 5)
        add(g, times(8, (double)n, 1e-3));
    CHECK_INT(gpumb_row_count(g), 2);
    close(g, GPUMB_EXIT_OK);
}

static void test_rounds()
{
    gpumb *g = open();
    std::vector<double> base = times(60, 1e-3, 0.1), slower = base, measured;
    for (double &one : slower)
        one *= 1.05;
    base[7] = 0;
    slower[9] = NAN;
    int passes = 0;
    GPUMB_INTERLEAVE(g) {
        passes++;
        gpumb_add_times(g, "base", GPUMB_MEANING_LATENCY, base.data(), 60);
        gpumb_add_times(g, "slower", GPUMB_MEANING_LATENCY, slower.data(), 60);
        gpumb_add_times(g, "span", GPUMB_MEANING_SPAN, slower.data(), 60);
    }
    CHECK_INT(passes, 1);
    CHECK_INT(gpumb_row_count(g), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(gpumb_row(g, i)->time.count, 58);
        CHECK(gpumb_row(g, i)->flags & GPUMB_FLAG_BAD_TIME);
    }
    const gpumb_result *r = gpumb_row(g, 1);
    CHECK_STR(r->compared_with, "base");
    CHECK_NEAR(r->comparison.ratio, 1.05, 1e-9);
    CHECK_INT(r->comparison.rounds, 58);
    CHECK_INT(r->comparison.verdict, GPUMB_VERDICT_SLOWER);
    CHECK_STR(gpumb_row(g, 2)->compared_with, "");
    CHECK(has(heard, "span is not compared with base: the one is a time by given (span)"));

    // with regions between them: all have their rows, and what was measured has its own rounds
    heard = "";
    GPUMB_INTERLEAVE(g) {
        if (gpumb_wants_times(g, "first"))
            gpumb_add_times(g, "first", GPUMB_MEANING_SPAN, slower.data() + 10, 50);
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
        GPUMB_MEASURE(g, "measured") {
            fake_run(1e-3);
        }
        if (gpumb_wants_times(g, "second"))
            gpumb_add_times(g, "second", GPUMB_MEANING_SPAN, base.data() + 10, 50);
    }
    CHECK_INT(gpumb_row_count(g), 6);
    CHECK_INT(gpumb_row(g, 4)->time.count, 6);
    CHECK_NEAR(gpumb_row(g, 4)->time.median, 1e-3, 1e-5);
    CHECK_STR(gpumb_row(g, 4)->compared_with, "");
    CHECK_STR(gpumb_row(g, 5)->compared_with, "first");
    CHECK_NEAR(gpumb_row(g, 5)->comparison.ratio, 1 / 1.05, 1e-9);
    CHECK_INT(gpumb_row(g, 5)->comparison.verdict, GPUMB_VERDICT_FASTER);
    close(g, GPUMB_EXIT_OK);
}

static std::string table_of(FILE *file)
{
    std::string table;
    rewind(file);
    for (int c; (c = fgetc(file)) != EOF;)
        table += (char)c;
    fclose(file);
    return table;
}

// Against a file: like with like only.
static void test_compared()
{
    gpumb_settings s = settings();
    s.csv = "build/own.csv";
    gpumb *g = open(s);
    const std::vector<double> t = times(60, 1e-3, 1e-3);
    add(g, t);
    close(g, GPUMB_EXIT_OK);
    CHECK(has(read_file(s.csv), ",given,span,60,1,samples,"));
    for (int latency = 0; latency < 2; latency++) {
        s = settings();
        s.compare = "build/own.csv";
        s.fail_on_regression = 1;
        s.spread = 1e-9;
        g = open(s);
        g->table.file = tmpfile();
        add(g, t, latency ? GPUMB_MEANING_LATENCY : GPUMB_MEANING_SPAN);
        FILE *file = g->table.file;
        close(g, latency ? GPUMB_EXIT_FAILED : GPUMB_EXIT_OK);
        CHECK(has(table_of(file), latency ? "latency, hot here; span, hot in" : "1 same"));
    }
    remove("build/own.csv");
}

// ---- own values of two runs ----

struct run_of_values {
    double hits, left; // NaN: not known
};

static void run(gpumb *g, const run_of_values &v)
{
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        gpumb_set_value(g, "hits", v.hits * (double)n);
        gpumb_set_value(g, "left, right", v.left);
        add(g, std::vector<double>(40, 1e-3));
    }
}

static void test_compared_values()
{
    static const struct {
        run_of_values now;
        const char *asked;
        int code;
        const char *line, *said;
    } cases[] = {
        {{50, 7}, NULL, 0, NULL, ""}, // not asked
        {{100, -7},
         "hits",
         0,
         "  hits                        200        200   1.000"
         "                      same\n",
         ""},
        {{99.1, -7}, "hits", 0, "own values (hits): 2 same, 0 differ by more than 1 %", ""},
        {{98.9, -7},
         "hits",
         1,
         "  hits                        100       98.9   0.989"
         "                      differs\n",
         "0 rows slower than in build/own.csv, 0 no longer ok; own values differ"},
        {{101.1, -7}, "none,hits", 1, "0 same, 2 differ", "own values differ"},
        {{NAN, -7},
         "hits",
         1,
         "  hits                        100          -        "
         "                      differs\n",
         "own values differ"},
        {{100, -7},
         "none",
         0,
         "(none): 0 same, 0 differ",
         "--compare-values none: no row that has a counterpart has such a value"},
    };
    for (int json = 0; json < 2; json++) {
        const char *const file = json ? "build/own.json" : "build/own.csv";
        gpumb_settings s = settings();
        (json ? s.json : s.csv) = file;
        gpumb *g = open(s);
        run(g, {100, 7});
        close(g, GPUMB_EXIT_OK);
        for (const auto &c : cases) {
            s = settings();
            s.compare = file;
            s.compare_values = c.asked;
            s.fail_on_regression = 1;
            s.spread = 1e-9;
            g = open(s);
            FILE *out = g->table.file = tmpfile();
            run(g, c.now);
            close(g, c.code);
            const std::string table = table_of(out);
            CHECK(has(table, "0 faster, 0 slower, 2 same, 0 undecided; 0 rows not compared"));
            CHECK(!has(table, "only in")); // values are no part of a row's identity
            CHECK_CASE(!c.line || has(table, c.line), "%s", table.c_str());
            CHECK_CASE(json || (c.said[0] ? has(heard, c.said) : heard.empty()), "%s",
                       heard.c_str());
        }
        // a row that only the base has goes by its axes alone
        s = settings();
        s.compare = file;
        g = open(s);
        FILE *out = g->table.file = tmpfile();
        gpumb_add_times(g, "other", GPUMB_MEANING_SPAN, std::vector<double>(40, 1).data(), 40);
        close(g, GPUMB_EXIT_OK);
        CHECK(has(table_of(out), "own/row n=2            only in"));
        remove(file);
    }
    gpumb_settings s = settings();
    s.compare_values = "hits";
    gpumb *g = open(s);
    CHECK(has(heard, "--compare-values: needs a base; for example --compare base.csv"));
    close(g, GPUMB_EXIT_USAGE);
}

// ---- raw samples ----

static void test_raw()
{
    gpumb_settings s = settings();
    s.json = "build/own.json";
    s.raw = 1;
    s.shuffle = 1; // rows wait, and the file is written anew
    gpumb *g = open(s);
    const std::vector<double> t = {3e-6, 1e-6, 0, 1.0 / 3, 2e-6};
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        if (n == 2)
            gpumb_skip(g, "no");
        add(g, t);
    }
    GPUMB_MEASURE(g, "region") {
        fake_run(1e-3);
    }
    const double first = g->region.single.samples.values[0];
    close(g, GPUMB_EXIT_OK);
    const std::string json = read_file(s.json);
    size_t rows = 0;
    for (size_t at = 0; (at = json.find("\"samples_s\": [", at + 1)) != std::string::npos; rows++)
        if (rows < 2)
            CHECK_STR(
                json.substr(at, 69).c_str(),
                "\"samples_s\": [3e-06, 1e-06, 0.3333333333333333, 2e-06], \"axes\": {\"n\":");
        else
            CHECK_NEAR(strtod(json.c_str() + at + 14, NULL), first, 0);
    CHECK_INT(rows, 3);
    remove(s.json);
    s.raw = 0; // and not unless asked
    g = open(s);
    add(g, t);
    close(g, GPUMB_EXIT_OK);
    CHECK(!has(read_file(s.json), "samples_s"));
    remove(s.json);
    s.raw = 1;
    s.json = NULL;
    close(open(s), GPUMB_EXIT_OK); /* for gpumb_row_samples() */
    char program[] = "given", option[] = "--raw", *argv[] = {program, option, NULL};
    g = gpumb_open(2, argv);
    CHECK(has(heard, "--raw: goes into JSON; for example --json results.json"));
    close(g, GPUMB_EXIT_USAGE);
}

// ---- Google Benchmark's JSON ----

static void test_gbench()
{
    gpumb_settings s = settings();
    s.gbench = "build/own.json";
    gpumb *g = open(s);
    gpumb_skip(g, "the first entry is that of the second row");
    add(g, {});
    GPUMB_SWEEP_NAMES(g, form, "a \"b\"") {
        gpumb_set_bytes(g, 4e6);
        gpumb_set_elements(g, 1e6);
        gpumb_set_value(g, "hits", -0.5);
        gpumb_set_value(g, "name", 1); // one of its own: the tools read the last of a name
        gpumb_set_value(g, "never", NAN);
        add(g, std::vector<double>(40, 1e-3));
    }
    add(g, {0});
    add(g, {2e-9});
    close(g, GPUMB_EXIT_FAILED);
    const std::string json = read_file(s.gbench), entries = json.substr(json.find('\n') + 1);
    CHECK(!json.compare(0, 21, "{\"context\": {\"date\": "));
    const char *const same =
        "\"run_type\": \"iteration\", \"repetitions\": 1, \"repetition_index\": "
        "0, \"threads\": 1, \"iterations\": ";
    const std::string name = "\"own/row/form:a \\\"b\\\"\", ";
    CHECK_STR(entries.c_str(),
              (std::string("\"benchmarks\": [\n{\"hits\": -0.5, \"name\": 1, \"name\": ") + name +
               "\"run_name\": " + name + same +
               "40, \"time_unit\": \"ns\", \"real_time\": 1000000, \"cpu_time\": 1000000, "
               "\"bytes_per_second\": 4000000000, \"items_per_second\": 1000000000},\n"
               "{\"name\": \"own/row\", \"run_name\": \"own/row\", " +
               same + "1, \"time_unit\": \"ns\", \"real_time\": 2, \"cpu_time\": 2}\n]}\n")
                  .c_str());
    remove(s.gbench);
}

int main()
{
    test_statistics();
    test_flags();
    test_check();
    test_sweep();
    test_rounds();
    test_compared();
    test_compared_values();
    test_raw();
    test_gbench();
    return CHECK_SUMMARY();
}

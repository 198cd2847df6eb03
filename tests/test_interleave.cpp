// test_interleave.cpp - regions that are compared in one run (GPUMB_INTERLEAVE): verdicts and how
// often they are right, rounds and their order, intervals of ratios, rounds with troubles.
#define FAKE_MULTIPROCESSORS 1
#include "watched.h"
#include "printed.h"
#include <algorithm>
#include <math.h>
#include <vector>

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

// A lane that settles while it is measured is not slower for that, unless it is by far.
static void test_changing_rounds()
{
    for (double longer : {1.0, 1.01, 0.97, 1.5, 0.5, 3.0}) {
        gpumb_settings s = settings();
        s.warmup_s = 0.3;
        s.min_samples = s.max_samples = 100;
        gpumb *g = open(s);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "steady") {
                fake_run(1e-3 * noise(0.001));
            }
            GPUMB_MEASURE(g, "settles") {
                const double left = 1 - (fake_now - 100) / 1.5;
                fake_run(1e-3 * longer * (1 + 0.03 * (left > 0 ? left : 0)) * noise(0.001));
            }
        }
        gpumb_close(g);
        CHECK(flagged("unsettled", 1));
        const char *verdict = longer == 3 || longer == 1.5 ? "slower"
                              : longer == 0.5              ? "faster"
                                                           : "undecided";
        if (!CHECK_STR(column("verdict", 1).c_str(), verdict))
            printf("    %g times as long\n", longer);
    }
}

// One that had not settled when it began is measured until what is still to come can't matter.
static void test_late_settling()
{
    gpumb_settings s = settings();
    s.warmup_s = 0.02;
    gpumb *g = open(s);
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "steady") {
            fake_run(1e-5 * noise(0.001));
        }
        GPUMB_MEASURE(g, "settles") {
            fake_run(4e-5 * (1 + 0.03 * exp(-(fake_now - 100) / 0.05)) * noise(0.001));
        }
    }
    gpumb_close(g);
    CHECK(flagged("unsettled", 1));
    CHECK_STR(column("verdict", 1).c_str(), "slower");
    CHECK(atof(column("samples", 1).c_str()) > 30);
}

// Nor where the clock shows less than its change: most of these times are the same reading.
static void test_changing_readings()
{
    for (double height : {0.0, 0.1, -0.1}) {
        const int all = 60;
        int slower = 0, faster = 0;
        for (int seed = 1; seed <= all && !SANITIZED; seed++) {
            gpumb_settings s = settings();
            s.csv = NULL;
            s.seed = (uint64_t)seed;
            gpumb *g = open(s);
            random_state = (uint64_t)seed * 104729;
            GPUMB_INTERLEAVE(g) {
                GPUMB_MEASURE(g, "steady") {
                    fake_run(50e-6 * (1 + 0.0005 * random_normal()));
                }
                GPUMB_MEASURE(g, "other") {
                    const double left = exp(-(fmax(fake_now, fake_busy) - 100) / 0.6);
                    fake_run(50e-6 * (1 + (height == 0 ? 0.04 : height * left)) *
                             (1 + 0.0005 * random_normal()));
                }
            }
            slower += gpumb_row(g, 1)->comparison.verdict == GPUMB_VERDICT_SLOWER;
            faster += gpumb_row(g, 1)->comparison.verdict == GPUMB_VERDICT_FASTER;
            gpumb_close(g);
        }
        CHECK_CASE(SANITIZED || (height == 0 ? slower == all : slower + faster == 0),
                   "%g: %d slower, %d faster of %d", height, slower, faster, all);
    }
}

// Nor in noise that hides its change from the first rounds; what is slower for good is found.
static void test_changing_noise()
{
    for (double height : {0.0, 0.03, -0.03}) {
        const int all = 30;
        int slower = 0, faster = 0;
        for (int seed = 1; seed <= all && !SANITIZED; seed++) {
            gpumb_settings s = settings();
            s.csv = NULL;
            s.seed = (uint64_t)seed;
            s.max_samples = 10000;
            s.budget_s = 2;
            gpumb *g = open(s);
            random_state = (uint64_t)seed * 104729;
            GPUMB_INTERLEAVE(g) {
                GPUMB_MEASURE(g, "steady") {
                    fake_run(1e-3 * (1 + 0.01 * random_normal()));
                }
                GPUMB_MEASURE(g, "other") {
                    const double left = exp(-(fmax(fake_now, fake_busy) - 100));
                    fake_run(1e-3 * (1 + (height == 0 ? 0.02 : height * left)) *
                             (1 + 0.01 * random_normal()));
                }
            }
            slower += gpumb_row(g, 1)->comparison.verdict == GPUMB_VERDICT_SLOWER;
            faster += gpumb_row(g, 1)->comparison.verdict == GPUMB_VERDICT_FASTER;
            gpumb_close(g);
        }
        CHECK_CASE(SANITIZED || (height == 0 ? slower >= 0.9 * all : slower + faster <= 0.1 * all),
                   "%g: %d slower, %d faster of %d", height, slower, faster, all);
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
                    const int settled = !flagged("unsettled", 0) && !flagged("unsettled", row);
                    CHECK_STR(column("verdict", row).c_str(), settled ? "slower" : "undecided");
                    CHECK_NEAR(number("ratio", row), row + 1, 0.05 * (row + 1));
                }
            }
            if (check_failed != failed_before)
                printf("    region %d of 3, trouble %d\n", where, what);
        }
}

static void test_turns()
{
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 60;
    gpumb *g = open(s);
    const double began = fake_now;
    // Times drift by far more than the differences: a device that slows down by 100 % a second.
    std::string turns;
#define DRIFT (1 + (fake_now - began))
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "a") {
            turns += 'a';
            fake_run(1.00e-3 * DRIFT);
        }
        GPUMB_MEASURE(g, "b") {
            turns += 'b';
            fake_run(1.10e-3 * DRIFT);
        }
        GPUMB_MEASURE(g, "c") {
            turns += 'c';
            fake_run(2.00e-3 * DRIFT);
        }
    }
#undef DRIFT
    const double drifted = fake_now - began;
    close(g, 0);
    CHECK(drifted > 0.3);
    CHECK_INT(rows(), 3);
    double median[3], first_quartile[3], last_quartile[3];
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        CHECK_STR(column("kernel", i).c_str(), names[i]);
        CHECK_STR(column("status", i).c_str(), "ok");
        CHECK_INT(atoi(column("samples", i).c_str()), 60);
        median[i] = number("median_s", i);
        first_quartile[i] = number("q1_s", i);
        last_quartile[i] = number("q3_s", i);
    }
    CHECK(last_quartile[0] / first_quartile[0] > 1.1); // there was a drift
    CHECK_NEAR(median[1] / median[0], 1.1, 0.0055);    // limits: 0.5 % (measurement.md)
    CHECK_NEAR(median[2] / median[0], 2.0, 0.0100);

    // in turn: at the end, in the samples, each run of three has each of them, and each is first,
    // second and third equally often
    if (CHECK(turns.size() > 3 * 60)) {
        std::string samples = turns.substr(turns.size() - 3 * 51, 3 * 48);
        std::string joined = turns.substr(turns.size() - 3 * 48);
        int neighbours = 0, most = 0, position[3][3] = {{0}}, after[3][3] = {{0}};
        for (size_t i = 1, same = 1; i < joined.size(); i++) {
            same = joined[i] == joined[i - 1] ? same + 1 : 1;
            neighbours += same > 1;
            after[joined[i - 1] - 'a'][joined[i] - 'a']++;
            most = (int)same > most ? (int)same : most;
        }
        if (!CHECK(most <= 2)) // the last of a round may be the first of the next
            printf("    %s\n", turns.c_str());
        for (int offset = 0; offset < 3; offset++) { // where rounds begin
            int complete = 1;
            for (size_t i = (size_t)offset; i + 3 <= samples.size(); i += 3)
                complete = complete && samples[i] != samples[i + 1] &&
                           samples[i + 1] != samples[i + 2] && samples[i] != samples[i + 2];
            if (!complete)
                continue;
            memset(position, 0, sizeof position);
            for (size_t i = (size_t)offset; i + 3 <= samples.size(); i += 3)
                for (size_t j = 0; j < 3; j++)
                    position[j][samples[i + j] - 'a']++;
            break;
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (!CHECK(position[i][j] >= 14 && position[i][j] <= 18))
                    printf("    %c is number %d of the round %d times\n", 'a' + j, i + 1,
                           position[i][j]);
        // each follows each, itself included, in 48 / 3 of its runs or not much more or less
        CHECK_CASE(neighbours >= 24, "%d of 144 follow themselves", neighbours);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                CHECK_CASE(after[i][j] >= 6 && after[i][j] <= 28, "%c follows %c %d times", 'a' + j,
                           'a' + i, after[i][j]);
    }
}

// One region is precise at once, goes on with the other, and is spoilt after that: what its row
// says of stopping, of noise and of the interval goes together.
static void test_common_end()
{
    gpumb_settings s = settings();
    s.budget_s = 1;
    s.max_samples = 5000;
    gpumb *g = open(s);
    int spoilt = 0;
    uint32_t drawn = 1; // a coin, so that it has nothing to do with whose turn it was before
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "spoilt") {
            spoilt++;
            drawn = drawn * 1664525 + 1013904223;
            fake_run(spoilt > 120 && drawn >> 31 ? 2e-3 : 1e-3);
        }
        GPUMB_MEASURE(g, "noisy") {
            drawn = drawn * 1664525 + 1013904223;
            fake_run(drawn >> 31 ? 3e-3 : 1e-3);
        }
    }
    close(g, 0);
    CHECK_INT(rows(), 2);
    CHECK(spoilt > 200);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(column("status", i).c_str(), "ok");
        CHECK_STR(column("stop", i).c_str(), "budget");
        CHECK(strstr(column("flags", i).c_str(), "noisy") != NULL);
    }
}

// Each ends for itself; one that fails or is skipped does not stop the others.
static void test_lanes_in_trouble()
{
    gpumb *g = open(brief());
    int runs[4] = {0, 0, 0, 0};
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "fine") {
            runs[0]++;
            fake_run(1e-3);
        }
        gpumb_set_verify(
            g, [](gpumb *, void *) { return 0; }, NULL);
        GPUMB_MEASURE(g, "wrong") {
            runs[1]++;
            fake_run(1e-3);
        }
        gpumb_skip(g, "not today");
        GPUMB_MEASURE(g, "skipped") {
            runs[2]++;
            fake_run(1e-3);
        }
        gpumb_set_bytes(g, 1e6);
        GPUMB_MEASURE(g, "also fine") {
            runs[3]++;
            fake_run(2e-3);
        }
    }
    close(g, GPUMB_EXIT_FAILED);
    CHECK_INT(rows(), 4);
    static const char *const status[] = {"ok", "failed", "skipped", "ok"};
    for (int i = 0; i < 4; i++)
        CHECK_STR(column("status", i).c_str(), status[i]);
    CHECK_STR(column("reason", 2).c_str(), "not today");
    CHECK(runs[0] > 10 && runs[1] == 1 && runs[2] == 0 && runs[3] > 10);
    CHECK_STR(column("bytes", 0).c_str(), "");
    CHECK_NEAR(number("bytes", 3), 1e6, 0);
    CHECK_NEAR(number("median_s", 0), 1e-3, 1e-5);
    CHECK_NEAR(number("median_s", 3), 2e-3, 1e-5);

    // 16 of them, one alone, none
    g = open(brief());
    int all = 0;
    GPUMB_INTERLEAVE(g) {
        for (int i = 0; i < 16; i++) {
            char name[16];
            snprintf(name, sizeof name, "r%d", i);
            GPUMB_MEASURE(g, name) {
                all++;
                fake_run(1e-3);
            }
        }
    }
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "alone") {
            fake_run(1e-3);
        }
    }
    int rounds = 0;
    GPUMB_INTERLEAVE(g) {
        rounds++;
    }
    CHECK(rounds < 10);
    CHECK(all > 160);
    GPUMB_MEASURE(g, "behind") {
        fake_run(1e-3);
    }
    close(g, 0);
    CHECK_INT(rows(), 18);
    for (int i = 0; i < 18; i++)
        CHECK_STR(column("status", i).c_str(), "ok");
    CHECK_STR(column("kernel", 15).c_str(), "r15");
    CHECK_STR(column("kernel", 17).c_str(), "behind");
}

// A GPUMB_INTERLEAVE that was left by break fails the run, also when another one follows.
static void test_left_by_break()
{
    gpumb *g = open(brief());
    for (int left = 1; left >= 0; left--) {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "a") {
                fake_run(1e-3);
            }
            if (left)
                break;
        }
    }
    CHECK(strstr(heard.c_str(), "GPUMB_INTERLEAVE was left by break") != NULL);
    CHECK_INT(gpumb_row_count(g), 1);
    close(g, GPUMB_EXIT_FAILED);
}

int main()
{
    test_missing_intervals();
    test_verdicts();
    test_verdict_columns();
    test_rounds();
    test_bonferroni();
    test_captures();
    test_drawn_rounds();
    test_drawn_graphs();
    test_skewed_rounds();
    test_undecided();
    test_changing_rounds();
    test_late_settling();
    test_changing_readings();
    test_changing_noise();
    test_troubled_rounds();
    test_turns();
    test_common_end();
    test_lanes_in_trouble();
    test_left_by_break();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

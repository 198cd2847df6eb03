// test_compare.cpp - verdicts, and comparisons of scripted rows with crafted files, on the fake
// device; test_records.cpp has the readers of these files.
#include "hear.h"
#include "allocations.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include "printed.h"
#include "read_file.h"
#include "texts.h"
#include <algorithm>
#include <fcntl.h>
#include <math.h>
#include <vector>

// ---- verdicts ----

static gpumbi_estimate around(double at, double relative)
{
    const gpumbi_estimate e = {at, at * (1 - relative), at * (1 + relative), 1, -1, 0, 0, 0};
    return e;
}

static gpumbi_estimate spread_over(gpumbi_estimate e, double processes, double lo, double hi)
{
    e.processes = processes;
    e.process_lo = e.at * lo;
    e.process_hi = e.at * hi;
    return e;
}

static const double z95 = 1.959964; // of the normal distribution

static int judge(const gpumbi_estimate &base, const gpumbi_estimate &now, double width,
                 double delta, double spread = 1e-9, double *ratio = NULL)
{
    double own[3];
    gpumb_settings s = gpumb_settings_default();
    s.delta = delta;
    s.spread = spread;
    return gpumbi_judge(&base, &now, z95 * width, NULL, &s, ratio ? ratio : own);
}

static void test_verdict_cases()
{
    static const struct {
        double ratio, relative, width, delta;
        int verdict;
    } cases[] = {
        {1.1, 0.01, 1, 0.01, GPUMB_VERDICT_SLOWER},
        {0.9, 0.01, 1, 0.01, GPUMB_VERDICT_FASTER},
        {1.1, 0.08, 1, 0.01, GPUMB_VERDICT_UNDECIDED}, // 8 % and 8 % are 11 %
        {1.1, 0.06, 1, 0.01, GPUMB_VERDICT_SLOWER},
        {1.1, 0.06, 1.4, 0.01, GPUMB_VERDICT_UNDECIDED}, // among others
        {1.0, 0.001, 1, 0.01, GPUMB_VERDICT_SAME},
        {1.0, 0.02, 1, 0.01, GPUMB_VERDICT_UNDECIDED},
        {1.009, 0.0001, 1, 0.01, GPUMB_VERDICT_SAME}, // certain, but small
        {1.005, 0.004, 1, 0.01, GPUMB_VERDICT_UNDECIDED},
        {1.009, 0.0001, 1, 0.005, GPUMB_VERDICT_SLOWER},
        {1.0095, 0.0005, 1, 0.01, GPUMB_VERDICT_UNDECIDED}, // certain, perhaps beyond delta
        {1.02, 0.001, 1, 0.05, GPUMB_VERDICT_SAME},
        {1.06, 0.001, 1, 0.05, GPUMB_VERDICT_SLOWER},
        {1.0, 0, 1, 0.01, GPUMB_VERDICT_SAME},
        {2.0, 0, 1, 0.01, GPUMB_VERDICT_SLOWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const gpumbi_estimate base = around(3e-6, cases[i].relative);
        const gpumbi_estimate now = around(3e-6 * cases[i].ratio, cases[i].relative);
        const int there = judge(base, now, cases[i].width, cases[i].delta);
        const int back = judge(now, base, cases[i].width, cases[i].delta);
        CHECK_CASE(there == cases[i].verdict, "case %zu: %s", i,
                   gpumbi_verdict_name[(gpumb_verdict)there]);
        const int turned = there == GPUMB_VERDICT_SLOWER   ? GPUMB_VERDICT_FASTER
                           : there == GPUMB_VERDICT_FASTER ? GPUMB_VERDICT_SLOWER
                                                           : there;
        CHECK_CASE(back == turned, "case %zu, sides exchanged: %s", i,
                   gpumbi_verdict_name[(gpumb_verdict)back]);
    }

    // without an interval nothing is known
    gpumbi_estimate none = around(1, 0.01);
    none.lo = none.hi = 0;
    CHECK_INT(judge(none, around(9, 0.01), 1, 0.01), GPUMB_VERDICT_UNDECIDED);
    CHECK_INT(judge(around(9, 0.01), none, 1, 0.01), GPUMB_VERDICT_UNDECIDED);
    CHECK_INT(judge(none, none, 1, 0.01), GPUMB_VERDICT_UNDECIDED);

    // by hand: logarithms of 1.1/1.0 and 1.0/0.8 are 0.09531 and 0.22314
    const gpumbi_estimate base = {1.0, 0.8, 1.1, 1, -1, 0, 0, 0},
                          now = {2.0, 1.8, 2.5, 1, -1, 0, 0, 0};
    double ratio[3];
    CHECK_INT(judge(base, now, 1, 0.01, 1e-9, ratio), GPUMB_VERDICT_SLOWER);
    CHECK_NEAR(ratio[0], 2, 1e-12);
    CHECK_NEAR(ratio[1], 2 * exp(-sqrt(0.105361 * 0.105361 + 0.095310 * 0.095310)), 1e-5);
    CHECK_NEAR(ratio[2], 2 * exp(sqrt(0.223144 * 0.223144 + 0.223144 * 0.223144)), 1e-5);
}

// The quantiles by other means: z(0.975), z(0.9975), z(0.99975), z(1 - 2.5e-7); t of tables.
// Two lanes with the same time in each round, as by a coarse clock or a scripted one, and too few
// turns after themselves and each other to tell whether one disturbs the other: no ratio is above
// the median, yet none is below it either.
static void test_equal_turns()
{
    enum { ROUNDS = 12 };
    double time[ROUNDS], scratch[3 * ROUNDS];
    unsigned char first[ROUNDS], second[ROUNDS];
    int carried;
    for (int i = 0; i < ROUNDS; i++) {
        time[i] = 30e-3;
        first[i] = i >= 5;
        second[i] = i < 5;
    }
    const gpumbi_turns t = {{time, time}, {first, second}, {0, 1}, 2};
    const gpumb_comparison c = gpumbi_compare_turns(&t, ROUNDS, 0.01, 1, 0, scratch, &carried);
    CHECK_INT(carried, 0);
    CHECK_INT(c.verdict, GPUMB_VERDICT_SAME);
}

static void test_family()
{
    CHECK_NEAR(gpumbi_family_quantile(0), 1.959964, 1e-3);
    CHECK_NEAR(gpumbi_family_quantile(1), 1.959964, 1e-3);
    CHECK_NEAR(gpumbi_family_quantile(10), 2.807034, 1e-3);
    CHECK_NEAR(gpumbi_family_quantile(100), 3.480756, 1e-3);
    CHECK_NEAR(gpumbi_family_quantile(100000), 5.026314, 1e-3);
    static const struct {
        double z, freedom, t, above;
    } student[] = {{z95, 1, 12.7062, 0.39},       {z95, 2, 4.30265, 0.05},
                   {z95, 4, 2.776445, 0.01},      {z95, 8, 2.306004, 0.003},
                   {z95, 18, 2.100922, 0.001},    {z95, 198, 1.972017, 0.0002},
                   {2.807034, 4, 5.597568, 0.03}, {2.807034, 18, 3.196574, 0.003}};
    for (size_t i = 0; i < sizeof student / sizeof student[0]; i++) {
        const double over = gpumbi_student(student[i].z, student[i].freedom) / student[i].t - 1;
        CHECK_CASE(over >= -1e-5 && over <= student[i].above, "case %zu: %.3f %% too large", i,
                   100 * over);
    }

    // families of like with like: intervals as samples give them
    for (int members = 1; members <= 20; members *= 20) {
        const int families = members == 1 ? 4000 : 1000;
        int alarms = 0;
        for (int f = 0; f < families; f++) {
            int alarm = 0;
            for (int m = 0; m < members; m++) {
                double x[2][40];
                gpumbi_estimate e[2];
                for (int side = 0; side < 2; side++) {
                    for (int i = 0; i < 40; i++)
                        x[side][i] = exp(0.3 * random_normal());
                    const gpumb_stats s = gpumb_statistics(x[side], 40);
                    const gpumbi_estimate measured = {s.median, s.ci_lo, s.ci_hi, 1, -1, 0, 0, 0};
                    e[side] = measured;
                }
                const double z = gpumbi_family_quantile((uint64_t)members);
                const int v = judge(e[0], e[1], z / z95, 1e-9);
                alarm |= v != GPUMB_VERDICT_UNDECIDED;
            }
            alarms += alarm;
        }
        CHECK_CASE(alarms <= 0.05 * families, "%d false alarms in %d families of %d", alarms,
                   families, members);
    }
}

// Devices: the middle one and how they spread, by hand; then what the rule promises of ten that
// spread by 0.4 %: few false alarms, also with a device that is far off, and 3 % are found.
static void test_many_devices()
{
    std::vector<gpumbi_estimate> e;
    double scratch[10], ratio[3];
    for (int thousandths : {100, -3, 2, 0, 1, -2, 3, -1})
        e.push_back(around(exp(0.001 * thousandths), 0.0001));
    gpumbi_estimate middle = gpumbi_middle(e.data(), scratch, e.size());
    CHECK_NEAR(middle.at, 1, 1e-12);
    CHECK_INT(middle.devices, 8);
    const double scale = 1.65 * (1 - 0.8 / 8); // distances 0 1 1 2 2 3, behind them 3 100
    CHECK_NEAR(middle.variance / (scale * scale * (1 + 1 + 4 + 4 + 9) / 6e6), 1, 1e-9);
    CHECK_INT(judge(middle, e[0], 1, 0.01, 1, ratio), GPUMB_VERDICT_SLOWER);
    CHECK_INT(judge(middle, e[0], 1, 0.2, 1, ratio), GPUMB_VERDICT_SAME);
    CHECK_INT(judge(middle, e[6], 1, 0.001), GPUMB_VERDICT_UNDECIDED);
    middle = gpumbi_middle(e.data(), scratch, 4);
    CHECK(middle.at >= e[3].at && middle.at <= e[3].at && middle.devices > 0);
    middle = gpumbi_middle(e.data(), scratch, 3); // too few to tell
    CHECK(middle.at >= e[2].at && middle.at <= e[2].at && middle.lo < middle.at);
    CHECK(middle.devices <= 0 && middle.variance < 0);

    const double z = gpumbi_devices_quantile(10, 9);
    const int runs = 4000;
    int alarms = 0, found = 0;
    for (int run = 0; run < runs; run++) {
        int alarm = 0;
        e.clear();
        for (int i = 0; i < 10; i++)
            e.push_back(around(exp(0.004 * random_normal()), 0.001));
        middle = gpumbi_middle(e.data(), scratch, 10);
        for (int i = 0; i < 10; i++)
            alarm |= judge(middle, e[(size_t)i], z / z95, 0.01) == GPUMB_VERDICT_SLOWER;
        alarms += alarm;
        e[9] = around(1.03 * e[9].at, 0.001);
        middle = gpumbi_middle(e.data(), scratch, 10);
        found += judge(middle, e[9], z / z95, 0.01) == GPUMB_VERDICT_SLOWER;
    }
    CHECK_CASE(alarms <= 0.05 * runs && alarms >= 0.01 * runs, "%d false alarms", alarms);
    CHECK_CASE(found >= 0.95 * runs, "found %d times of %d", found, runs);
}

// What so many processes of a program tell of a row whose time is exp(shift). Their medians spread
// by `sd` (standard deviation of the logarithm), or lie `levels` apart with a probability of `p`.
struct program {
    int processes;
    double shift, sd, levels, p;
};

static double median_of(const program &a)
{
    return exp(a.shift + a.sd * random_normal() + (random_uniform() < a.p ? a.levels : 0));
}

static gpumbi_estimate measure(const program &a, bool old)
{
    double medians[GPUMBI_PROCESSES], lo = HUGE_VAL, hi = 0;
    gpumb_result r;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < a.processes; i++) {
        medians[i] = median_of(a);
        lo = fmin(lo, medians[i]);
        hi = fmax(hi, medians[i]);
    }
    r.time.median = r.time.ci_lo = r.time.ci_hi = medians[a.processes - 1];
    r.processes = a.processes > 1 ? a.processes : 0;
    r.process_lo_s = a.processes > 1 ? lo : 0;
    r.process_hi_s = a.processes > 1 ? hi : 0;
    r.process_medians_s = a.processes > 1 && !old ? medians : NULL;
    return gpumbi_estimate_of(&r);
}

// The share of tables of so many rows with a row that is faster or slower.
static double decided(const program &base, const program &now, int rows, double delta = 1e-9,
                      double spread = 1e-9, bool old = false)
{
    const int tables = 60000 / rows / (base.processes + now.processes) + 400;
    const double z = gpumbi_family_quantile((uint64_t)rows);
    int count = 0;
    for (int t = 0; t < tables; t++) {
        int alarm = 0;
        for (int r = 0; r < rows; r++) {
            const int v = judge(measure(base, old), measure(now, old), z / z95, delta, spread);
            alarm |= v == GPUMB_VERDICT_SLOWER || v == GPUMB_VERDICT_FASTER;
        }
        count += alarm;
    }
    return (double)count / tables;
}

static void test_processes()
{
    // false alarms of like with like, nothing assumed
    static const int k[][2] = {{2, 2}, {3, 3}, {4, 4},  {5, 5},   {7, 7}, {10, 10}, {20, 20},
                               {2, 5}, {5, 2}, {10, 3}, {5, 100}, {1, 2}, {1, 5},   {10, 1}};
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++)
        for (int rows = 1; rows <= 20; rows *= 20) {
            const program a = {k[i][0], 0, 0.01, 0, 0}, b = {k[i][1], 0, 0.01, 0, 0};
            const double alarms = decided(a, b, rows);
            CHECK_CASE(alarms <= 0.065, "%.1f %% false alarms, %d and %d processes, %d rows",
                       100 * alarms, k[i][0], k[i][1], rows);
        }
    const program five = {5, 0, 0.01, 0, 0}, ten = {10, 0, 0.01, 0, 0};
    CHECK(decided(five, five, 1) > 0.015 && decided(ten, ten, 1) > 0.02); // nor always undecided
    const program calm = {10, 0, 0.002, 0, 0}, wild = {10, 0, 0.01, 0, 0};
    CHECK(decided(calm, wild, 1) <= 0.055);
    CHECK(decided(wild, calm, 20) <= 0.065);

    // a real difference
    const program slow = {10, 0.05, 0.01, 0, 0}, slower = {5, 0.1, 0.01, 0, 0};
    CHECK(decided(ten, slow, 1, 0.01) > 0.999);
    CHECK(decided(ten, slow, 20, 0.01) > 0.999);
    CHECK(decided(five, slower, 1, 0.01) > 0.999);

    // one process on a side or both: the spread is assumed
    const double spread = gpumb_settings_default().spread;
    CHECK_NEAR(spread, 0.02, 0);
    for (int now = 1; now <= 5; now += 4)
        for (double sd = 0.005; sd < 0.03; sd *= 2) {
            const program a = {1, 0, sd, 0, 0}, b = {now, 0, sd, 0, 0};
            CHECK_CASE(decided(a, b, 20, 1e-9, spread) <= 0.055, "%d processes, spread %g", now,
                       sd);
            CHECK_CASE(decided(b, a, 1, 1e-9, spread) <= 0.055, "%d processes, spread %g", now, sd);
        }
    const program one = {1, 0, 0.01, 0, 0}, twice = {1, 0.7, 0.01, 0, 0};
    CHECK(decided(one, one, 1) > 0.99); // as it would be
    CHECK(decided(one, twice, 20, 0.01, spread) > 0.999);

    // two levels: each process is on one of them
    static const int pairs[][2] = {{1, 1}, {1, 5}, {2, 2}, {3, 3}, {5, 5}, {5, 10}, {5, 100}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (double p = 0.1; p < 0.6; p += 0.2) {
            const program a = {pairs[i][0], 0, 0.001, 0.05, p};
            const program b = {pairs[i][1], 0, 0.001, 0.05, p};
            CHECK_CASE(decided(a, b, 1, 0.01, spread) <= 0.055, "%d and %d processes on levels, %g",
                       a.processes, b.processes, p);
            CHECK_CASE(decided(b, a, 20, 0.01, spread) <= 0.065, "%d and %d on levels, %g, 20 rows",
                       a.processes, b.processes, p);
        }

    // by hand: 3 and 2 processes whose logarithms are -0.01, 0, 0.01 and 0.09, 0.11: variances of
    // 1e-4 and 2e-4, means of 0 and 0.1, shares of 1e-4/3 and 1e-4; freedom: (4e-4/3)^2 over
    // (1e-8/9/2 + 1e-8), 1.684; pooled: 4e-4/3, which counts for more than the 1e-4 of the first
    const double m3[] = {exp(0.01), exp(-0.01), 1}, m2[] = {exp(0.09), exp(0.11)};
    gpumb_result r;
    memset(&r, 0, sizeof r);
    r.time.median = 1;
    r.time.ci_lo = exp(-0.003);
    r.time.ci_hi = exp(0.006);
    r.processes = 3;
    r.process_medians_s = m3;
    const gpumbi_estimate e3 = gpumbi_estimate_of(&r);
    CHECK_NEAR(e3.at, 1, 1e-12);
    CHECK_NEAR(e3.variance, 1e-4, 1e-12);
    r.time.median = m2[1];
    r.time.ci_lo = m2[1] * exp(-0.002);
    r.time.ci_hi = m2[1] * exp(0.004);
    r.processes = 2;
    r.process_medians_s = m2;
    const gpumbi_estimate e2 = gpumbi_estimate_of(&r);
    CHECK_NEAR(e2.at, exp(0.1), 1e-12);
    CHECK_NEAR(e2.lo, exp(0.098), 1e-12);
    CHECK_NEAR(e2.hi, exp(0.104), 1e-12);
    CHECK_NEAR(e2.variance, 2e-4, 1e-12);
    const double width = gpumbi_student(z95, 16.0 / 9 / (1.0 / 18 + 1)) * sqrt(4e-4 / 9 + 1e-4);
    CHECK_NEAR(gpumbi_process_width(&e3, &e2, z95, 1e-9, NULL), width, 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e2, &e3, z95, 1e-9, NULL), width, 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e3, &e2, z95, 0.5, NULL), z95 * 0.5 * sqrt(2), 1e-9);
    double ratio[3];
    judge(e3, e2, 1, 0.01, 1e-9, ratio);
    CHECK_NEAR(log(ratio[0]), 0.1, 1e-9);
    CHECK_NEAR(log(ratio[1]), 0.1 - hypot(hypot(0.002 / sqrt(2), 0.006 / sqrt(3)), width), 1e-6);
    CHECK_NEAR(log(ratio[2]), 0.1 + hypot(hypot(0.004 / sqrt(2), 0.003 / sqrt(3)), width), 1e-6);
    // one that does not know its spread has the other's
    const gpumbi_estimate e1 = around(1, 0);
    CHECK_NEAR(gpumbi_process_width(&e1, &e2, z95, 1e-9, NULL), gpumbi_student(z95, 1) * sqrt(3e-4),
               1e-9);
    CHECK_NEAR(gpumbi_process_width(&e3, &e1, z95, 1e-9, NULL),
               gpumbi_student(z95, 2) * sqrt(4e-4 / 3), 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e1, &e1, z95, 0.02, NULL), z95 * 0.02 * sqrt(2), 1e-9);

    // known from five on, on both sides
    for (int count = 3; count < 7; count++) {
        gpumbi_estimate few = around(1, 0), five_of = around(1, 0);
        few.processes = count;
        five_of.processes = 5;
        few.variance = five_of.variance = 0;
        const double expected = count < 5 ? z95 * 0.02 * sqrt(2) : 0;
        CHECK_NEAR(gpumbi_process_width(&few, &five_of, z95, 0.02, NULL), expected, 1e-9);
        CHECK_NEAR(gpumbi_process_width(&five_of, &few, z95, 0.02, NULL), expected, 1e-9);
    }

    // files that have least and largest only
    static const int old[] = {2, 3, 4, 5, 7, 10, 20, 100};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        const program a = {old[i], 0, 0.01, 0, 0}, b = {1, 0, 0.01, 0, 0};
        const double both = decided(a, a, 1, 1e-9, 1e-9, true);
        const double single = decided(a, b, 1, 1e-9, 1e-9, true);
        CHECK_CASE(both <= 0.06, "%.1f %% false alarms, %d processes", 100 * both, old[i]);
        CHECK_CASE(single <= 0.065 && single > 0.02, "%.1f %% false alarms, %d processes, and one",
                   100 * single, old[i]);
    }
    const gpumbi_estimate range2 = spread_over(e1, 2, 1, exp(0.01));
    const gpumbi_estimate range5 = spread_over(e1, 5, 1, exp(0.01));
    CHECK_NEAR(gpumbi_process_width(&range2, &range2, z95, 1e-9, NULL), 0.0772 * sqrt(2), 1e-9);
    CHECK_NEAR(gpumbi_process_width(&range5, &e1, z95, 1e-9, NULL), 0.010965625 * sqrt(2), 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e2, &range5, 2 * z95, 1e-9, NULL),
               hypot(gpumbi_student(2 * z95, 1) * 1e-2, 2 * 0.010965625), 1e-9);
    const gpumbi_estimate alone = spread_over(around(1, 0.01), 5, 1, 1); // its median is of one
    judge(alone, alone, 1, 0.01, 1e-9, ratio);
    CHECK_NEAR(log(ratio[2]), hypot(log(1.01), log(0.99)), 1e-9);
    CHECK_NEAR(log(ratio[1]), -log(ratio[2]), 1e-9);
    const gpumbi_estimate a = around(1, 0.001), b = around(1.05, 0.001);
    CHECK_INT(judge(a, b, 1, 0.01), GPUMB_VERDICT_SLOWER);
    CHECK_INT(judge(spread_over(a, 5, 0.95, 1.05), b, 1, 0.01), GPUMB_VERDICT_UNDECIDED);
    CHECK_INT(judge(a, spread_over(b, 5, 0.95, 1.05), 1, 0.01), GPUMB_VERDICT_UNDECIDED);
    CHECK_INT(judge(a, spread_over(b, 5, 0.999, 1.001), 1, 0.01), GPUMB_VERDICT_SLOWER);
    CHECK_INT(judge(a, b, 1, 0.01, 0.02), GPUMB_VERDICT_UNDECIDED);
}

// What rows know together: digamma and trigamma by tables; the prior of variances by hand and by
// what they were drawn from; the moderated variance.
static void test_rows_together()
{
    static const struct {
        double freedom, digamma, trigamma; // of freedom / 2
    } known[] = {{1, -1.9635100260, 4.9348022005},
                 {2, -0.5772156649, 1.6449340668},
                 {4, 0.4227843351, 0.6449340668},
                 {8, 1.2561176684, 0.2838229557},
                 {100, 3.9019896734, 0.0202013332}};
    for (const auto &k : known) {
        double variance;
        const double mean = gpumbi_log_of_variance(k.freedom, &variance);
        CHECK_NEAR(mean, k.digamma - log(k.freedom / 2), 1e-8);
        CHECK_NEAR(variance, k.trigamma, 1e-8);
    }
    // none from a single row, nor from rows that do not spread
    double v[2000], d[2000];
    for (size_t i = 0; i < 2000; i++)
        d[i] = 8;
    v[0] = 1e-4;
    CHECK(gpumbi_share_variances(v, d, 1).freedom <= 0);
    v[0] = v[1] = v[2] = 0;
    CHECK(gpumbi_share_variances(v, d, 3).freedom <= 0);
    // the same true variance in all rows: known as well as half of them, without two, tell
    for (size_t i = 0; i < 20; i++)
        v[i] = 4e-4;
    gpumbi_prior p = gpumbi_share_variances(v, d, 20);
    CHECK_NEAR(p.freedom, 20 * 8 * 18 / 20.0 / 2, 1e-6);
    CHECK_NEAR(p.variance, 4e-4 * 4 / exp(1.2561176684), 1e-9); // their logarithms are too low
    // variances drawn as the model says: 6 degrees about 1e-4
    for (size_t i = 0; i < 2000; i++) {
        double chi[2] = {0, 0};
        for (int k = 0; k < 14; k++) {
            const double x = random_normal();
            chi[k < 8] += x * x;
        }
        v[i] = 1e-4 * (chi[1] / 8) / (chi[0] / 6);
    }
    p = gpumbi_share_variances(v, d, 2000);
    CHECK_CASE(p.freedom > 5 && p.freedom < 7.2, "%g degrees", p.freedom);
    CHECK_CASE(p.variance > 0.93e-4 && p.variance < 1.07e-4, "%g", p.variance);
    // moderated: between both, and not much below its own
    const gpumbi_prior ten = {1e-4, 12};
    double freedom = 4;
    CHECK_NEAR(gpumbi_moderate(&ten, 0, &freedom), 0.75e-4, 1e-12);
    CHECK_NEAR(freedom, 16, 0);
    freedom = 4;
    CHECK_NEAR(gpumbi_moderate(&ten, 8e-4, &freedom), 8e-4 / 1.1, 1e-12);
}

// Those that stand apart: none of an exponential sequence, a tenth of the values, one value; and
// too few.
static void test_apart()
{
    double v[400];
    for (int form = 0; form < 4; form++) {
        const size_t count = form == 3 ? 39 : 400, apart = form == 1 ? 40 : form ? 1 : 0;
        for (size_t i = 0; i < count; i++)
            v[i] = exp(-0.01 * log((double)(i + 1) / (double)count) + (i < apart ? 0.1 : 0));
        const double least = v[apart ? apart - 1 : 0], from = gpumbi_apart(v, count, 0.95);
        if (form == 3)
            CHECK(from <= 0);
        else if (form)
            CHECK_NEAR(from, least, 1e-12);
        else
            CHECK(from > 2 * v[count - 1]);
    }
    // one that does not is not called slower, however far beyond the spread it lies
    gpumbi_estimate middle = around(1, 0);
    middle.devices = 100;
    middle.variance = 1e-6;
    middle.process_lo = 1.05;
    CHECK_INT(judge(middle, around(1.04, 0.0001), 1, 0.01), GPUMB_VERDICT_UNDECIDED);
    CHECK_INT(judge(middle, around(1.05, 0.0001), 1, 0.01), GPUMB_VERDICT_SLOWER);
}

// ---- whole runs ----

static const char path[] = "build/compare.base";

static const std::string head = "bench,kernel,status,median_s,ci_lo_s,ci_hi_s";

static std::string table;

static int benchmarks;        // whether it is a program that has them
static double assumed = 1e-9; // spread between processes

// Rows of 100 us and the interval that the clock's quantum of 32 ns gives, below 0.1 %.
static int run(const std::string &base, const char *csv, const char *json, int fail)
{
    static const char *const forms[] = {"plain", "odd, \"name\""};
    char line[4096];
    fake_reset();
    heard.clear();
    write_file(path, base);
    gpumb_settings s = gpumb_settings_default();
    s.spread = assumed;
    s.compare = base.empty() ? NULL : path;
    s.csv = csv;
    s.json = json;
    s.fail_on_regression = fail;
    gpumb *g = gpumb_open_settings("run", &s);
    FILE *file = tmpfile();
    g->table.file = file;
    g->benchmarks.by_main = benchmarks;
    for (int pass = 0; pass < 1 && g; pass++) {
        GPUMB_SWEEP_LIST(g, n, 1, 2, 3, 4) {
            GPUMB_SWEEP_STRINGS(g, form, forms, 2) {
                if (n == 4 && form == 1)
                    gpumb_skip(g, "not this one");
                GPUMB_MEASURE(g, "copy") {
                    fake_run(100e-6 + 1e-6 * (double)(fake_runs % 2) * 1e-3);
                }
            }
        }
        GPUMB_MEASURE(g, "alone") {
            fake_run(100e-6);
        }
    }
    const int code = gpumb_close(g);
    table.clear();
    rewind(file);
    while (fgets(line, sizeof line, file))
        table += line;
    fclose(file);
    CHECK(fake_clean() && live_allocations == 0);
    return code;
}

static std::string line_with(const std::string &text, const char *part)
{
    const size_t at = text.find(part);
    if (at == std::string::npos)
        return "(no line has " + std::string(part) + ")";
    const size_t start = text.rfind('\n', at) + 1;
    return text.substr(start, text.find('\n', at) - start);
}

// The base with the figures of one row multiplied, in CSV: columns 14 to 16 (median, interval).
static std::string scaled(const std::string &csv, int wanted, double factor)
{
    std::string out;
    size_t at = 0;
    for (int line = 0; at < csv.size(); line++) {
        const size_t end = csv.find('\n', at);
        std::string text = csv.substr(at, end - at);
        if (line == wanted) {
            size_t from = 0;
            for (int c = 0; c < 17; c++) {
                size_t to = text.find(',', from);
                if (c >= 14) {
                    char number[40];
                    snprintf(number, sizeof number, "%.9g",
                             factor * atof(text.substr(from, to - from).c_str()));
                    text.replace(from, to - from, number);
                    to = from + strlen(number);
                }
                from = to + 1;
            }
        }
        out += text + "\n";
        at = end + 1;
    }
    return out;
}

// The base without a column that stands left of all quoted ones.
static std::string without(const std::string &csv, const char *column)
{
    std::string out;
    size_t wanted = 0;
    for (size_t at = 0, end; at < csv.size(); at = end + 1) {
        end = csv.find('\n', at);
        std::string text = csv.substr(at, end - at);
        if (at == 0)
            wanted = (size_t)std::count(
                text.begin(), text.begin() + (long)text.find(column + std::string(",")), ',');
        size_t from = 0;
        for (size_t c = 0; c < wanted; c++)
            from = text.find(',', from) + 1;
        text.erase(from, text.find(',', from) + 1 - from);
        out += text + "\n";
    }
    return out;
}

static void replace(std::string *text, const std::string &old, const std::string &by)
{
    const size_t at = text->find(old);
    if (CHECK(at != std::string::npos))
        text->replace(at, old.size(), by);
}

static void test_runs()
{
    const char csv[] = "build/compare.csv", json_name[] = "build/compare.json";
    CHECK_INT(run("", csv, json_name, 0), 0);
    CHECK(!has(table, "compared"));
    const std::string base = read_file(csv), base_json = read_file(json_name);
    const std::string row_start = "\n4," GPUMB_VERSION ",";
    CHECK_INT(std::count(base.begin(), base.end(), '\n'), 10);

    // like with like, in both formats; the skipped row is not compared
    for (int format = 0; format < 2; format++) {
        CHECK_INT(run(format ? base_json : base, NULL, NULL, 1), 0);
        CHECK(has(table, "0 faster, 0 slower, 8 same, 0 undecided; 1 row not compared"));
        CHECK(has(line_with(table, "run/copy n=1 form=plain"), "same"));
        CHECK(has(line_with(table, "run/copy n=4 form=odd, \"name\""), "skipped here, skipped in"));
        CHECK(has(table, "95 % for 8 ratios together (Bonferroni)\n"));
        CHECK(has(table, "  spread between processes: 1e-07 % assumed (--spread); both sides"));
        CHECK(has(table, "delta 1 %"));
        CHECK(has(table, "\ncompared with build/compare.base\n"));
        CHECK_STR(heard.c_str(), "");
    }

    // with the spread that is assumed where it is unknown, 2 %, which is 1.0e-01 for 8 ratios
    assumed = 0;
    CHECK_INT(run(scaled(base, 1, 0.92), NULL, NULL, 1), 0);
    CHECK(has(table, "0 faster, 0 slower, 0 same, 8 undecided; 1 row not compared"));
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "1.087    1.006 ... 1.175"));
    CHECK(has(table, "  spread between processes: 2 % assumed (--spread); both sides with "
                     "--processes 5 measure it\n"));
    CHECK_INT(run(scaled(base, 1, 0.8), NULL, NULL, 1), 1);
    CHECK(has(table, "0 faster, 1 slower, 0 same, 7 undecided; 1 row not compared"));
    assumed = 1e-9;

    // a program without benchmarks may have had another name, one with benchmarks has theirs
    std::string renamed = base;
    for (int i = 0; i < 9; i++)
        replace(&renamed, row_start + "run,", row_start + "walk,");
    CHECK_INT(run(renamed, NULL, NULL, 1), 0);
    CHECK(has(table, "0 faster, 0 slower, 8 same, 0 undecided; 1 row not compared"));
    benchmarks = 1;
    CHECK_INT(run(renamed, NULL, NULL, 0), 0);
    CHECK(has(table, "0 faster, 0 slower, 0 same, 0 undecided; 18 rows not compared"));
    benchmarks = 0;

    // one row was 10 % faster, one 10 % slower, one 0.2 % slower, one is unknown, one renamed
    std::string edited = scaled(scaled(scaled(base, 1, 0.9), 2, 1.1), 3, 1.002);
    replace(&edited, row_start + "run,alone", row_start + "run,elsewhere");
    CHECK_INT(run(edited, csv, json_name, 0), 0);
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), " 1.111 "));
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "slower"));
    CHECK(has(line_with(table, "run/copy n=1 form=odd"), "faster"));
    CHECK(has(line_with(table, "run/copy n=2 form=plain"), "same"));
    CHECK(has(line_with(table, "run/alone "), "only here"));
    CHECK(has(line_with(table, "run/elsewhere "), "only in build/compare.base"));
    CHECK(has(table, "1 faster, 1 slower, 5 same, 0 undecided; 3 rows not compared"));
    CHECK(has(read_file(json_name), "1 faster, 1 slower, 5 same, 0 undecided")); // a note
    CHECK_STR(heard.c_str(), "");
    CHECK_INT(run(edited, csv, NULL, 1), 1);
    CHECK(has(heard, "--fail-on-regression: 1 row slower than in build/compare.base"));
    CHECK(read_file(csv) == base); // complete, though the exit code is 1
    CHECK_INT(run(scaled(base, 1, 1.1), NULL, NULL, 1), 0);

    // a wide interval, and none
    edited = base;
    const std::string first = base.substr(base.find(row_start) + 1);
    edited = scaled(base, 1, 0.9);
    size_t at = edited.find('\n') + 1;
    for (int c = 0; c < 15; c++)
        at = edited.find(',', at) + 1;
    const size_t after = edited.find(',', edited.find(',', at) + 1);
    edited.replace(at, after - at, "5e-05,0.0002");
    CHECK_INT(run(edited, NULL, NULL, 1), 0);
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "undecided"));
    edited.replace(at, strlen("5e-05,0.0002"), ",");
    CHECK_INT(run(edited, NULL, NULL, 1), 0);
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "undecided"));

    // times that mean something else, or are of cold caches
    edited = base;
    const std::string meant = has(first, ",event,span,") ? ",event,span," : ",batch,interval,";
    replace(&edited, meant.c_str(), ",host,latency,");
    CHECK_INT(run(edited, NULL, NULL, 1), 0);
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "hot here; latency, hot in build"));
    CHECK(has(table, "2 rows not compared"));
    const char *cold_base = "bench,kernel,status,median_s,ci_lo_s,ci_hi_s,cache\n"
                            "run,alone,ok,1e-4,1e-4,1e-4,cold\n";
    CHECK_INT(run(cold_base, NULL, NULL, 1), 1); // nothing could be compared
    CHECK(has(line_with(table, "run/alone"), "hot here; -, cold in build"));

    // from elsewhere
    edited = base;
    for (int i = 0; i < 9; i++)
        replace(&edited, "Fake 9000", "Fake 8000");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(heard, "is from another device: Fake 8000, here it is Fake 9000;"));
    CHECK_INT(std::count(heard.begin(), heard.end(), '\n'), 1);
    edited = base_json;
    replace(&edited, "\"gpumb\": \"" GPUMB_VERSION, "\"gpumb\": \"0.0.1");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    const char *const older = "is from another gpumb: 0.0.1, here it is " GPUMB_VERSION;
    CHECK(has(heard, older));
    CHECK_INT(std::count(heard.begin(), heard.end(), '\n'), 1);
    edited = base; // one row of another version
    replace(&edited, row_start, "\n4,0.0.1,");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(heard, older));
    CHECK_INT(std::count(heard.begin(), heard.end(), '\n'), 1);
    replace(&edited, "Fake 9000", "Fake 8000"); // and of another device: each is said
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(heard, older));
    CHECK(has(heard, "is from another device: Fake 8000, here it is Fake 9000;"));
    CHECK_INT(std::count(heard.begin(), heard.end(), '\n'), 2);
    edited = base; // a file from before there was that column, nor those of outliers
    for (const char *name : {"gpumb", "outliers"})
        edited = without(edited, name);
    CHECK_INT(run(edited, NULL, NULL, 1), 0);
    CHECK(has(table, "8 same"));
    CHECK_STR(heard.c_str(), "");
    edited = base;
    replace(&edited, "\n4,", "\n5,");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(heard, "another schema: 5, here it is 4"));
    edited = base; // an older one, without its last columns
    for (const char *name : {"ratio_rounds", "process_medians_s", "elements", "elements_per_s",
                             "sampled_s", "values", "time_utc", "kernels", "between_s", "nodes"})
        edited = without(edited, name);
    for (int i = 0; i < 9; i++)
        replace(&edited, "\n4,", i % 3 == 0 ? "\n1," : i % 3 == 1 ? "\n2," : "\n3,");
    CHECK_INT(run(edited, NULL, NULL, 1), 0);
    CHECK(has(table, "8 same"));
    CHECK_STR(heard.c_str(), "");

    // a row that was skipped then, one that is there twice, a column that nobody knows
    edited = base;
    replace(&edited, "Fake 9000,ok,,", "Fake 9000,failed,,");
    edited += first.substr(0, first.find('\n') + 1);
    replace(&edited, row_start + "run,alone",
            "," + row_start + "run,alone"); // breaks the line before on purpose
    CHECK_INT(run(edited, NULL, NULL, 0), 2);
    CHECK(has(heard, "--compare build/compare.base: line 9: more fields than the header has; "));
    edited = base + first.substr(0, first.find('\n') + 1);
    replace(&edited, "Fake 9000,ok,,", "Fake 9000,failed,,");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "ok here, failed in"));
    CHECK(has(table, "7 same, 0 undecided; 3 rows not compared"));
    CHECK(has(heard, "several rows have one name"));
    edited = base; // it was measured then, and is skipped now
    at = edited.find(",4,\"odd");
    at = edited.rfind(row_start, at) + 1;
    edited.replace(at, edited.find('\n', at) - at,
                   first.substr(0, first.find(",1,plain")) + ",4,\"odd, \"\"name\"\"\"");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK_INT(run(edited, NULL, NULL, 1), 1); // what no longer runs is no success
    CHECK(has(heard, "0 rows slower than in build/compare.base, 1 no longer ok"));
    CHECK(has(line_with(table, "run/copy n=4 form=odd"), "skipped here, ok in"));
    CHECK(has(table, "0 faster, 0 slower, 8 same, 0 undecided; 1 row not compared"));
    edited = "note," + base;
    for (size_t i = 0; i + 1 < edited.size(); i++)
        if (edited[i] == '\n')
            edited.insert(i + 1, "\"looks, good\",");
    CHECK_INT(run(edited, NULL, NULL, 0), 0);
    CHECK(has(table, "8 same"));

    // nothing in common
    CHECK_INT(run(head + "\nb,k,ok,2,1,3\n", NULL, NULL, 0), 0);
    CHECK_INT(run(head + "\nb,k,ok,2,1,3\n", NULL, NULL, 1), 1); // a gate must not pass unseen
    CHECK(has(heard, "no row of it can be compared: one here has to have its name and axes"));
    CHECK(has(line_with(table, "b/k"), "only in"));
    CHECK_INT(run("hello", NULL, NULL, 1), 2);
    CHECK_INT(std::count(heard.begin(), heard.end(), '\n'), 1);

    // no base for what needs one
    CHECK_INT(run("", NULL, NULL, 1), 2);
    CHECK(has(heard, "--fail-on-regression: needs a base; for example --compare base.csv"));

    // no memory anywhere on the way
    allocations = 0;
    run(base_json, NULL, NULL, 0);
    const long all = allocations;
    for (fail_allocation = 1; fail_allocation <= all; fail_allocation++) {
        allocations = 0;
        CHECK_INT(run(base_json, NULL, NULL, 0), 4);
    }
    fail_allocation = 0;
}

static void names(gpumb *g)
{
    GPUMB_SWEEP_NAMES(g, form, "plain", "odd")
        GPUMB_MEASURE(g, "row")
            fake_run(1e-4);
}

static void reals(gpumb *g)
{
    GPUMB_SWEEP_REALS(g, share, 1e-3)
        GPUMB_MEASURE(g, "row")
            fake_run(1e-4);
}

// Numbers are matched as such, also where an axis of names has been left out before them.
static void test_filtered()
{
    static const gpumb_benchmark both[] = {{"names", "", names}, {"reals", "", reals}};
    char program[] = "run", filter[] = "--filter=reals", compare[] = "--compare=build/compare.base";
    char *words[] = {program, filter, compare, NULL};
    write_file(path, head + ",share\nreals,row,ok,1e-4,1e-4,1e-4,1E-03\n"); // a spreadsheet's
    fake_reset();
    const std::string text = printed([&] { CHECK_INT(gpumb_main(3, words, both, 2), 0); });
    CHECK(has(text, "0 rows not compared"));
}

// Twenty rows of five processes on either side, whose medians spread by 1 %: of those that are 4 %
// slower most are found, where each for itself would find half.
static void test_table_of_processes()
{
    const char *const now = "build/compare.now";
    std::string text[2];
    double medians[5];
    char part[400];
    int alone = 0;
    for (int side = 0; side < 2; side++)
        text[side] = head + ",processes,process_lo_s,process_hi_s,process_medians_s,n\n";
    for (int n = 1; n <= 20; n++) {
        gpumbi_estimate e[2];
        for (int side = 0; side < 2; side++) {
            std::string all;
            gpumb_result r;
            memset(&r, 0, sizeof r);
            for (int i = 0; i < 5; i++) {
                medians[i] = 1e-3 * (1 + 0.04 * side) * exp(0.01 * random_normal());
                snprintf(part, sizeof part, "%s%.9g", i ? ";" : "", medians[i]);
                all += part;
            }
            const double *const lo = std::min_element(medians, medians + 5);
            const double *const hi = std::max_element(medians, medians + 5);
            const double m = medians[4];
            snprintf(part, sizeof part, "together,row,ok,%.9g,%.9g,%.9g,5,%.9g,%.9g,", m, m, m, *lo,
                     *hi);
            text[side] += part + all + "," + std::to_string(n) + "\n";
            r.processes = 5;
            r.process_medians_s = medians;
            r.time.median = r.time.ci_lo = r.time.ci_hi = m;
            e[side] = gpumbi_estimate_of(&r);
        }
        alone += judge(e[0], e[1], gpumbi_family_quantile(20) / z95, 0.01) == GPUMB_VERDICT_SLOWER;
    }
    write_file(path, text[0]);
    write_file(now, text[1]);
    gpumb_settings s = gpumb_settings_default();
    s.compare = path;
    s.replay = now;
    gpumb *g = gpumb_open_settings("together", &s);
    FILE *file = tmpfile();
    g->table.file = file;
    GPUMB_SWEEP_RANGE(g, n, 1, 20, 1) {
        GPUMB_MEASURE(g, "row") {
        }
    }
    CHECK_INT(gpumb_close(g), 0);
    std::string said;
    rewind(file);
    for (char line[4096]; fgets(line, sizeof line, file);)
        said += line;
    fclose(file);
    remove(now);
    const std::string counts = line_with(said, " faster, ");
    int slower = -1;
    sscanf(counts.c_str() + counts.find("faster, "), "faster, %d slower", &slower);
    CHECK_CASE(slower >= 15 && alone <= slower - 5, "%d are slower, alone %d: %s", slower, alone,
               counts.c_str());
}

// More than 64 values are sorted in a copy, if there is room for one.
static void test_room()
{
    double v[65];
    for (int i = 0; i < 65; i++)
        v[i] = 65 - i;
    fail_allocation = allocations + 1;
    CHECK_INT(gpumb_statistics(v, 65).count, 0);
    CHECK_NEAR(v[0], 65, 0);
    CHECK_INT(allocations, fail_allocation);
    CHECK_INT(gpumb_statistics(v + 1, 64).count, 64);
    CHECK_NEAR(v[64], 64, 0);
    fail_allocation = 0;
    CHECK_INT(gpumb_statistics(v, 65).count, 65);
    CHECK_NEAR(v[64], 65, 0);
}

int main()
{
    fake_reset();
    test_room();
    test_verdict_cases();
    test_equal_turns();
    test_family();
    test_many_devices();
    test_processes();
    test_rows_together();
    test_apart();
    test_filtered();
    test_table_of_processes();
    test_runs();
    remove(path);
    return CHECK_SUMMARY();
}

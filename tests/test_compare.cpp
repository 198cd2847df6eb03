// test_compare.cpp - verdicts, the readers of CSV and JSON, and comparisons of scripted rows with
// crafted files, on the fake device.
#include "hear.h"
#include "allocations.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include "read_file.h"
#include "texts.h"
#include <algorithm>
#include <fcntl.h>
#include <math.h>
#include <time.h>
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
    return gpumbi_judge(&base, &now, z95 * width, &s, ratio ? ratio : own);
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
    CHECK_NEAR(gpumbi_process_width(&e3, &e2, z95, 1e-9), width, 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e2, &e3, z95, 1e-9), width, 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e3, &e2, z95, 0.5), z95 * 0.5 * sqrt(2), 1e-9);
    double ratio[3];
    judge(e3, e2, 1, 0.01, 1e-9, ratio);
    CHECK_NEAR(log(ratio[0]), 0.1, 1e-9);
    CHECK_NEAR(log(ratio[1]), 0.1 - hypot(hypot(0.002 / sqrt(2), 0.006 / sqrt(3)), width), 1e-6);
    CHECK_NEAR(log(ratio[2]), 0.1 + hypot(hypot(0.004 / sqrt(2), 0.003 / sqrt(3)), width), 1e-6);
    // one that does not know its spread has the other's
    const gpumbi_estimate e1 = around(1, 0);
    CHECK_NEAR(gpumbi_process_width(&e1, &e2, z95, 1e-9), gpumbi_student(z95, 1) * sqrt(3e-4),
               1e-9);
    CHECK_NEAR(gpumbi_process_width(&e3, &e1, z95, 1e-9), gpumbi_student(z95, 2) * sqrt(4e-4 / 3),
               1e-9);
    CHECK_NEAR(gpumbi_process_width(&e1, &e1, z95, 0.02), z95 * 0.02 * sqrt(2), 1e-9);

    // known from five on, on both sides
    for (int count = 3; count < 7; count++) {
        gpumbi_estimate few = around(1, 0), five_of = around(1, 0);
        few.processes = count;
        five_of.processes = 5;
        few.variance = five_of.variance = 0;
        const double expected = count < 5 ? z95 * 0.02 * sqrt(2) : 0;
        CHECK_NEAR(gpumbi_process_width(&few, &five_of, z95, 0.02), expected, 1e-9);
        CHECK_NEAR(gpumbi_process_width(&five_of, &few, z95, 0.02), expected, 1e-9);
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
    CHECK_NEAR(gpumbi_process_width(&range2, &range2, z95, 1e-9), 0.0772 * sqrt(2), 1e-9);
    CHECK_NEAR(gpumbi_process_width(&range5, &e1, z95, 1e-9), 0.010965625 * sqrt(2), 1e-9);
    CHECK_NEAR(gpumbi_process_width(&e2, &range5, 2 * z95, 1e-9),
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

// ---- the readers ----

static const char path[] = "build/compare.base";
static gpumb *reader; // a context for allocations

static void write_file(const char *name, const std::string &text)
{
    FILE *f = fopen(name, "wb");
    CHECK(f && fwrite(text.data(), 1, text.size(), f) == text.size());
    CHECK(f && fclose(f) == 0);
}

static gpumbi_records *read_text(const std::string &text)
{
    write_file(path, text);
    const int fd = open(path, O_RDONLY);
    gpumbi_records *t = gpumbi_read_records(reader, fd, SIZE_MAX, 0, 0);
    close(fd);
    return t;
}

// What was read, as text; or what is wrong.
static std::string show(const std::string &text)
{
    gpumbi_records *t = read_text(text);
    std::string out = t->wrong;
    char number[200];
    for (size_t i = 0; !t->wrong[0] && i < t->count; i++) {
        const gpumbi_record *r = &t->rows[i];
        snprintf(number, sizeof number, " %d %g [%g %g] %g [%g %g]", r->ok, r->time.at, r->time.lo,
                 r->time.hi, r->time.processes, r->time.process_lo, r->time.process_hi);
        out += std::string(r->text[GPUMBI_COLUMN_bench]) + "/" + r->text[GPUMBI_COLUMN_kernel];
        for (size_t a = 0; a < r->axes; a++)
            out += std::string(" ") + t->axes[r->first_axis + a].name + "=" +
                   t->axes[r->first_axis + a].text;
        out += number;
        out += "\n";
    }
    gpumbi_free_records(t);
    return out;
}

static const std::string head = "bench,kernel,status,median_s,ci_lo_s,ci_hi_s";

static void test_csv()
{
    const std::string right = "b/k n=1 1 2 [1 3] 1 [0 0]\n";
    CHECK_STR(show(head + ",n\nb,k,ok,2,1,3,1\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\nb,k,ok,2,1,3,1").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\r\nb,k,ok,2,1,3,1\r\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",n\rb,k,ok,2,1,3,1\r").c_str(), right.c_str());
    CHECK_STR(show("\xef\xbb\xbf" + head + ",n\n\nb,k,ok,2,1,3,1\n\n,,,,,,\n").c_str(),
              right.c_str());
    CHECK_STR(show("\"n\",\"ci_hi_s\",ci_lo_s,median_s,status,kernel,\"bench\"\n"
                   "1,3,\"1\",2,\"ok\",k,b\n")
                  .c_str(),
              right.c_str());
    // fixed columns that are not needed, empty axes, an axis that is called as one of those
    CHECK_STR(show(head + ",gbps,flags,n,m\nb,k,ok,2,1,3,5,noisy,1,\n").c_str(), right.c_str());
    CHECK_STR(show(head + ",seed,seed\nb,k,ok,2,1,3,7,1\n").c_str(),
              "b/k seed=1 1 2 [1 3] 1 [0 0]\n");
    CHECK_STR(show(head + ",\"a,\"\"b\"\"\nc\"\n\"x,y\",\"k\"\"\",ok,2,,,\"1\n2\"\n").c_str(),
              "x,y/k\" a,\"b\"\nc=1\n2 1 2 [0 0] 1 [0 0]\n");
    CHECK_STR(show(head + ",processes,process_lo_s,process_hi_s\nb,k,ok,2E-06,,,5,1e-6,3e-6\n"
                          "b,k,skipped,,,,,,\n")
                  .c_str(),
              "b/k 1 2e-06 [0 0] 5 [1e-06 3e-06]\nb/k 0 0 [0 0] 1 [0 0]\n");

    static const char *const wrong[][2] = {
        {"", "line 1: there are no rows"},
        {"bench,kernel,status,median_s,ci_lo_s,ci_hi_s\n", "line 1: there are no rows"},
        {"bench,kernel,status,median_s,ci_lo_s\nb,k,ok,2,1\n",
         "line 1: there is no column ci_hi_s"},
        {"bench;kernel;status\nb;k;ok\n", "line 1: there is no column bench"},
        {"hello\n", "line 1: there is no column bench"},
        {"HEAD\nb,k,ok,2,1\n", "line 2: fewer fields than the header has"},
        {"HEAD\nb,k,ok,2,1,3,4\n", "line 2: more fields than the header has"},
        {"HEAD\nb,k,ok,2,1,3\nb,k,ok,x,1,3\n", "line 3: not a number above 0 is median_s"},
        {"HEAD\nb,k,ok,2,-1,3\n", "line 2: not a number above 0 is ci_lo_s"},
        {"HEAD\nb,k,ok,2,1,inf\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,nan\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,1e999\n", "line 2: not a number above 0 is ci_hi_s"},
        {"HEAD\nb,k,ok,\"2,5\",1,3\n", "line 2: not a number above 0 is median_s"},
        {"HEAD\nb,k,ok,,,\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,4,1,3\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,2,1,\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,ok,2,,3\n", "line 2: median_s is not within ci_lo_s and ci_hi_s"},
        {"HEAD\nb,k,fine,2,1,3\n", "line 2: neither ok, skipped nor failed is the status fine"},
        {"HEAD\n\"b\n\n\",k,ok,2,1,3\nb,k,,2,1,3\n",
         "line 5: neither ok, skipped nor failed is the status "},
        {"HEAD\nb,k,ok,2,1,3\n\"b,k,ok,2,1,3\n", "line 3: a quote is not closed"},
        {"HEAD\n\"b\"x,k,ok,2,1,3\n", "line 2: text behind a closing quote"},
        {"HEAD,processes\nb,k,ok,2,1,3,5\n",
         "line 2: process_lo_s and process_hi_s are not in order"},
        {"HEAD,processes,process_lo_s,process_hi_s\nb,k,ok,2,1,3,5,3,1\n",
         "line 2: process_lo_s and process_hi_s are not in order"},
        {"HEAD,processes,process_lo_s,process_hi_s,process_medians_s\nb,k,ok,2,1,3,2,1,3,1;2;3\n",
         "line 2: processes is not the number of process_medians_s"},
        {"HEAD,process_medians_s\nb,k,ok,2,1,3,1;0\n",
         "line 2: not a number above 0 is process_medians_s"},
        {"HEAD,process_medians_s\nb,k,ok,2,1,3,1;;2\n",
         "line 2: not a number above 0 is process_medians_s"},
        {"HEAD,gbps\nb,k,ok,2,1,3,fast\n", "line 2: not a number above 0 is gbps"},
        // one line end each: LF, CR LF, CR, also within quotes
        {"HEAD\nb,k,ok,2,1,3\nb,k,no,2,1,3\n",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\r\nb,k,ok,2,1,3\r\nb,k,no,2,1,3\r\n",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\rb,k,ok,2,1,3\rb,k,no,2,1,3\r",
         "line 3: neither ok, skipped nor failed is the status no"},
        {"HEAD\r\n\"b\r\n\",k,ok,2,1,3\r\nb,k,no,2,1,3\r\n",
         "line 4: neither ok, skipped nor failed is the status no"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        std::string text = wrong[i][0];
        if (text.compare(0, 4, "HEAD") == 0)
            text = head + text.substr(4);
        CHECK_STR(show(text).c_str(), wrong[i][1]);
    }
    CHECK_STR(show(head + "\n" + std::string("b,\0,", 4)).c_str(),
              "line 2: not a text: it has a byte 0");
    CHECK_STR(show(std::string(2000, ',') + "\n").c_str(), "line 1: too many columns");

    // integers, as they are and as spreadsheets write them
    static gpumbi_line l;
    const gpumbi_field *seed = &gpumbi_row_fields[GPUMBI_COLUMN_seed];
    CHECK(gpumbi_read_field(seed, &l, "18446744073709551615") && l.result.seed == UINT64_MAX);
    CHECK(gpumbi_read_field(seed, &l, "9007199254740993"));
    CHECK(l.result.seed == 9007199254740993u); // 2^53 + 1 is no double
    CHECK(gpumbi_read_field(seed, &l, "1.5E+10") && l.result.seed == 15000000000u);
    CHECK(gpumbi_read_field(seed, &l, "1e30") && l.result.seed == UINT64_MAX);
    CHECK(!gpumbi_read_field(seed, &l, "-1") && !gpumbi_read_field(seed, &l, "7x"));
}

static const std::string row = "{\"bench\": \"b\", \"kernel\": \"k\", \"status\": \"ok\", "
                               "\"median_s\": 2, \"ci_lo_s\": 1, \"ci_hi_s\": 3";

static std::string json(const std::string &rows)
{
    return "{\"schema\": 1, \"device\": {\"name\": \"x\", \"rows\": [1, {\"a\": [true]}]},\n"
           "\"rows\": [" +
           rows + "\n],\n\"notes\": [\"one\", null, -1.5e3, {}, []]}\n";
}

static void test_json()
{
    const std::string right = "b/k n=1 1 2 [1 3] 1 [0 0]\n";
    const std::string axes = ", \"axes\": {\"n\": 1}}";
    CHECK_STR(show(json(row + axes)).c_str(), right.c_str());
    CHECK_STR(show("\xef\xbb\xbf \r\n\t" + json(row + axes)).c_str(), right.c_str());
    CHECK_STR(show(json(row + ", \"bytes\": null, \"x\": {\"bench\": \"z\"}" + axes)).c_str(),
              right.c_str());
    CHECK_STR(show(json(row + axes + ",\n" + row + ",\"axes\":{}}")).c_str(),
              (right + "b/k 1 2 [1 3] 1 [0 0]\n").c_str());
    CHECK_STR(show(json(row + ", \"axes\": {\"bench\": \"\\\"\\\\\\/\\n\\u000a\\u00e9\\u20ac\", "
                              "\"m\": -5, \"o\": null}}"))
                  .c_str(),
              "b/k bench=\"\\/\n\n\xc3\xa9\xe2\x82\xac m=-5 1 2 [1 3] 1 [0 0]\n");

    // \u escapes at the limits of UTF-8's lengths, in either case, before bytes of all kinds
    static const char *const escaped[][2] = {
        {"\\u0001", "\x01"},
        {"\\u001f", "\x1f"},
        {"\\u007f", "\x7f"},
        {"\\u0080", "\xc2\x80"},
        {"\\u00Aa", "\xc2\xaa"},
        {"\\u07ff", "\xdf\xbf"},
        {"\\u0800", "\xe0\xa0\x80"},
        {"\\ud7ff", "\xed\x9f\xbf"},
        {"\\ue000", "\xee\x80\x80"},
        {"\\uFfFf", "\xef\xbf\xbf"},
        {"\\ud800\\udc00", "\xf0\x90\x80\x80"},
        {"\\ud83d\\uDE00", "\xf0\x9f\x98\x80"},
        {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
        {" \x7f", " \x7f"},
    };
    static const char *const behind[] = {"", "0", "f", "\x80", "\xbf", "\xc3\xa9", "\\u0041"};
    for (size_t i = 0; i < sizeof escaped / sizeof escaped[0]; i++)
        for (size_t b = 0; b < sizeof behind / sizeof behind[0]; b++) {
            const std::string tail = behind[b][0] == '\\' ? "A" : behind[b];
            CHECK_STR(
                show(json(row + ", \"axes\": {\"m\": \"" + escaped[i][0] + behind[b] + "\"}}"))
                    .c_str(),
                ("b/k m=" + std::string(escaped[i][1]) + tail + " 1 2 [1 3] 1 [0 0]\n").c_str());
        }

    static const char *const wrong[][2] = {
        {"{}", "line 1: there are no rows"},
        {"{\"rows\": []}", "line 1: there are no rows"},
        {"{\"rows\":\n[1, 2]}", "line 2: there are no rows"},
        {"{\"rows\":\n[{}]}", "line 2: there is no bench"},
        {"{\"a\" 1}", "line 1: not \"name\": value"},
        {"{\n1: 2}", "line 2: not \"name\": value"},
        {"{\"a\": 1 2}", "line 1: a comma or bracket is missing"},
        {"{\"a\": [1}", "line 1: a comma or bracket is missing"},
        {"{\"a\": 1,}", "line 1: not \"name\": value"},
        {"{\"a\": nul}", "line 1: not a JSON value: nul"},
        {"{\"a\": }", "line 1: not a JSON value: "},
        {"{\"a\": NaN}", "line 1: not a JSON value: NaN"},
        {"{\"a\": \"\n\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\x\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u00g0\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u0000\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ud83d\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\ude00\\ud83d\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\udc00\\udc00\"}", "line 1: not a JSON text"},
        {"{\"a\": \"\\u00\x10"
         "0\"}",
         "line 1: not a JSON text"},
        {"{\"a\": \"\\u000", "line 1: not a JSON text"},
        {"{\"a\": \"\x1f\"}", "line 1: not a JSON text"},
        {"{\"a\": 1} 2", "line 1: text behind the last bracket"},
        {"{", "line 1: the file ends too early"},
        {"{\"a", "line 1: the file ends too early"},
        {"{\"a\"", "line 1: the file ends too early"},
        {"{\"a\":", "line 1: the file ends too early"},
        {"{\"a\": \"\\", "line 1: not a JSON text"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_STR(show(wrong[i][0]).c_str(), wrong[i][1]);
    CHECK_STR(show("{\"a\": " + std::string(100000, '[')).c_str(), "line 1: nested too deeply");
    for (size_t deep : {31, 32}) // inside of the first
        CHECK_STR(show("{\"a\": " + std::string(deep, '[') + std::string(deep, ']') + "}").c_str(),
                  deep < 32 ? "line 1: there are no rows" : "line 1: nested too deeply");
    CHECK_STR(show(json(row + axes + ",\n{\"bench\": \"b\"}")).c_str(),
              "line 3: there is no kernel");

    // cut anywhere, or with a byte changed: it is read or refused, and nothing else happens
    const std::string whole = json(row + axes + ", " + row + axes);
    const std::string table = head + ",n\nb,k,ok,2,1,3,1\n\"b\",k,ok,2,1,3,\"1\"\n";
    int read = 0;
    for (size_t i = 0; i + 2 < whole.size(); i++)
        read += show(whole.substr(0, i)).find("line") != 0;
    CHECK_INT(read, 0);
    for (size_t i = 0; i < table.size(); i++)
        show(table.substr(0, i));
    for (int i = 0; i < 4000; i++) {
        std::string text = i % 2 ? whole : table;
        text[(size_t)(random_uniform() * (double)text.size())] =
            "{}[]\",:\\\n\r01x\xff"[(int)(random_uniform() * 14)];
        read += show(text).find("line") != 0;
    }
    CHECK_CASE(read > 10 && read < 4000, "%d of 4000 were read", read);
}

// ---- what is written is read ----

static uint64_t random_bits()
{
    return ((uint64_t)(random_uniform() * 4294967296.0) << 32) |
           (uint64_t)(random_uniform() * 4294967296.0);
}

// Something for a field, of all its sizes; texts with all that has to be quoted.
static void randomize(const gpumbi_field *f, void *base, double *medians, int processes)
{
    static const char *const piece[] = {"a",  ",",    "\"",   "\n",       "\r",
                                        "\\", "\x1f", "\x01", "\xc3\xa9", "\xe2\x82\xac",
                                        " ",  ";",    "null"};
    char *at = (char *)base + f->at, text[256] = "";
    uint64_t count = random_bits() >> (random_bits() & 63);
    double number = (0.5 + random_uniform()) * exp(60 * (random_uniform() - 0.5));
    int whole = (int)(random_bits() & 0x7fffffff);
    switch (f->kind) {
    case GPUMBI_IS_TEXT:
        for (size_t i = random_bits() % 9; i-- > 0;)
            strcat(text, piece[random_bits() % 13]);
        gpumbi_copy_text(at, f->size, text);
        return;
    case GPUMBI_IS_COUNT:
        memcpy(at, &count, sizeof count);
        return;
    case GPUMBI_IS_LIST:
        for (int i = 0; i < processes; i++)
            medians[i] = (0.5 + random_uniform()) * 1e-6;
        memcpy(at, &medians, sizeof medians);
        return;
    case GPUMBI_IS_MEGA:
    case GPUMBI_IS_GIGA:
        number = floor(random_uniform() * 1e15 / (double)(1 + count % 1000000)); // Hz, byte/s
        memcpy(at, &number, sizeof number);
        return;
    case GPUMBI_IS_NUMBER:
        memcpy(at, &number, sizeof number);
        return;
    case GPUMBI_IS_NAME:
        whole = (int)(random_bits() % f->name_count);
        break;
    case GPUMBI_IS_BITS:
        whole = (int)(random_bits() & ((1u << f->name_count) - 1));
        break;
    default:
        whole >>= random_bits() % 31;
    }
    whole = f->known == GPUMBI_IF_NOT_NEGATIVE && random_bits() % 4 == 0 ? -1 : whole;
    memcpy(at, &whole, sizeof whole);
}

// As a row of the library: what can't be known is not there, and intervals hold what they should.
static void random_line(gpumbi_line *l, double medians[GPUMBI_PROCESSES])
{
    gpumb_result *r = &l->result;
    const int processes = (int)(random_bits() % (GPUMBI_PROCESSES + 1));
    char text[GPUMBI_CELL];
    memset(l, 0, sizeof *l);
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++)
        randomize(&gpumbi_row_fields[i], l, medians, processes);
    r->time.count = r->status == GPUMB_STATUS_OK ? r->time.count % 40 + 1 : 0;
    r->time.ci_lo = r->time.median * random_uniform();
    r->time.ci_hi = r->time.median / random_uniform();
    r->processes = processes;
    r->process_hi_s = r->process_lo_s * 2;
    if (!processes) {
        r->process_lo_s = r->process_hi_s = 0;
        r->process_medians_s = NULL;
    }
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++) {
        const gpumbi_field *f = &gpumbi_row_fields[i];
        if (!gpumbi_field_text(f, l, r, text)[0] && f->kind != GPUMBI_IS_LIST)
            gpumbi_read_field(f, l, "");
    }
    r->time.effective = r->time.count < 6 ? (double)r->time.count : r->time.effective;
}

// Fields of a row and of a device that are not the same after the way through a file.
static std::string differences(const gpumbi_field *fields, int count, const void *a, const void *b)
{
    std::string names;
    for (int i = 0; i < count; i++) {
        const char *x = (const char *)a + fields[i].at, *y = (const char *)b + fields[i].at;
        const bool same = fields[i].kind == GPUMBI_IS_TEXT   ? !strcmp(x, y)
                          : fields[i].kind == GPUMBI_IS_LIST ? true // behind a pointer
                                                             : !memcmp(x, y, fields[i].size);
        if (!same)
            names += std::string(names.empty() ? "" : " ") + fields[i].name;
    }
    return names;
}

static gpumbi_records *read_back(FILE *file)
{
    fflush(file);
    rewind(file);
    gpumbi_records *t = gpumbi_read_records(reader, fileno(file), SIZE_MAX, 0, 0);
    fclose(file);
    return t;
}

// Named values of a row, known and unknown, behind an axis.
static gpumbi_values random_values(gpumbi_line *l)
{
    static const char *const name[] = {"plain", "a \"b\", c", "\xc3\xa9"};
    gpumbi_values values;
    values.count = 0;
    l->values[0] = 0;
    for (int i = 0; i < 3; i++)
        if (random_bits() % 3) {
            const double value = (random_uniform() - 0.5) * exp(60 * (random_uniform() - 0.5));
            gpumbi_put_value(reader, &values, name[i], random_bits() % 4 ? value : HUGE_VAL);
            gpumbi_list(l->values, sizeof l->values, name[i]);
        }
    return values;
}

// Whether the cells behind the fixed columns are those of the row: the axis, then its values, in
// their order and unknown ones, too.
static bool same_cells(const gpumbi_records *t, const gpumbi_values *values)
{
    const gpumbi_record *r = &t->rows[0];
    const gpumbi_cell *cell = t->axes + r->first_axis;
    bool same = r->axes == 1 && !strcmp(cell->name, "side") && !strcmp(cell->text, "-7") &&
                r->values == (size_t)values->count;
    for (int i = 0; same && i < values->count; i++) {
        const gpumbi_cell *own = &cell[1 + i];
        const double value = strtod(own->text, NULL);
        same = !strcmp(own->name, reader->sweep.column[values->at[i].column]) &&
               (isfinite(values->at[i].value) ? !memcmp(&value, &values->at[i].value, sizeof value)
                                              : !own->text[0]);
    }
    return same;
}

static gpumbi_records *through(const gpumbi_line *l, gpumbi_values *values, int as_json)
{
    FILE *file = tmpfile();
    gpumbi_row one;
    memset(&one, 0, sizeof one);
    one.result = l->result;
    one.values = values;
    one.point.depth = 1;
    one.point.at[0].column = gpumbi_find_column(reader, "side", GPUMBI_AXIS);
    one.point.at[0].value = -7;
    reader->sinks.sink[GPUMBI_JSON].entries = 0;
    if (as_json) {
        gpumbi_json_frame(reader, file, 1);
        gpumbi_json_row(reader, file, &one);
        fputs("]}", file);
    } else {
        gpumbi_csv_row(reader, file, NULL);
        gpumbi_csv_row(reader, file, &one);
    }
    return read_back(file);
}

// All bytes of a struct that hold something are those of fields.
template <class T>
static void covered(const char *what, const gpumbi_field *fields, int count, size_t from)
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
    std::vector<unsigned char> field(from + sizeof(T) + 4096);
    T probe;
    memset(&probe, 0xff, sizeof probe);
    __builtin_clear_padding(&probe);
    for (int i = 0; i < count; i++)
        memset(&field[fields[i].at], 1, fields[i].size);
    size_t missing = 0;
    for (size_t i = 0; i < sizeof probe; i++)
        missing += ((const unsigned char *)&probe)[i] && !field[from + i];
    CHECK_CASE(missing == 0, "%zu bytes of %s are in no field", missing, what);
#else
    SKIP("which bytes of a struct are padding: needs gcc 11");
    (void)what, (void)fields, (void)count, (void)from;
#endif
}

static void test_round_trip()
{
    covered<gpumb_result>("gpumb_result", gpumbi_row_fields, GPUMBI_COLUMNS_FIXED,
                          offsetof(gpumbi_line, result));
    covered<gpumb_device>("gpumb_device", gpumbi_device_fields, GPUMBI_DEVICE_COUNT,
                          offsetof(gpumbi_head, device));
    static double medians[GPUMBI_PROCESSES];
    static gpumbi_line line;
    const gpumb_device device = reader->device;
    int lists = 0;
    for (int i = 0; i < 400; i++) {
        random_line(&line, medians);
        gpumbi_values values = random_values(&line);
        gpumbi_head written;
        memset(&written, 0, sizeof written);
        for (int f = 0; f < GPUMBI_DEVICE_COUNT; f++)
            randomize(&gpumbi_device_fields[f], &written, NULL, 0);
        written.emulated = 0;
        written.peak_source = 1;
        written.device.memory_clock_hz = 1.5e9; // twice this, by 512 bytes
        written.device.bus_width_bits = 4096;
        written.device.peak_bytes_per_s = 1536e9;
        reader->device = written.device;
        gpumbi_fill_line(reader, &line.result, &line);
        for (int as_json = 0; as_json < 2; as_json++) {
            gpumbi_records *t = through(&line, &values, as_json);
            CHECK_STR(t->wrong, "");
            CHECK(same_cells(t, &values));
            CHECK_STR(t->rows[0].text[GPUMBI_COLUMN_gpumb], GPUMB_VERSION);
            CHECK(!strcmp(t->rows[0].text[GPUMBI_COLUMN_settings], reader->sinks.settings));
            gpumbi_copy_text(line.version, sizeof line.version, as_json ? "" : GPUMB_VERSION);
            gpumbi_copy_text(line.settings, sizeof line.settings,
                             as_json ? "" : reader->sinks.settings);
            CHECK_STR(differences(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, &line, &t->now).c_str(),
                      "");
            for (int k = 0; k < line.result.processes; k++)
                if (t->now.medians[k] < medians[k] || t->now.medians[k] > medians[k])
                    CHECK(!"a median of a process");
            CHECK((t->now.result.process_medians_s != NULL) == (line.result.processes > 0));
            if (as_json)
                CHECK_STR(differences(gpumbi_device_fields, GPUMBI_DEVICE_COUNT, &written, &t->head)
                              .c_str(),
                          "");
            lists += line.result.processes > 1;
            gpumbi_free_records(t);
        }
    }
    CHECK(lists > 200);

    // what is no number is unknown
    random_line(&line, medians);
    line.result.status = GPUMB_STATUS_SKIPPED;
    line.result.gbps = NAN;
    line.result.power_w = HUGE_VAL;
    line.result.occupancy = -HUGE_VAL;
    gpumbi_values none = random_values(&line);
    for (int as_json = 0; as_json < 2; as_json++) {
        gpumbi_records *t = through(&line, &none, as_json);
        CHECK_STR(t->wrong, "");
        CHECK(!(t->now.result.gbps > 0) && !(t->now.result.power_w > 0));
        CHECK_NEAR(t->now.result.occupancy, -1, 0);
        gpumbi_free_records(t);
    }
    reader->device = device;
}

static int refuse(gpumb *g, void *)
{
    gpumb_reason(g, "no, \"never\"");
    return 0;
}

// Rows as they are measured, in all their kinds.
static void test_real_rows()
{
    static const char csv[] = "build/compare.csv";
    std::vector<gpumb_result> rows;
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.csv = csv;
    s.max_samples = 40;
    gpumb *g = gpumb_open_settings("rows", &s);
    GPUMB_INTERLEAVE(g) {
        gpumb_set_bytes(g, 1099511627777.0);
        GPUMB_MEASURE(g, "one") {
            fake_run(100e-6 + 1e-9 * (double)(fake_runs * 7 % 11));
        }
        GPUMB_MEASURE(g, "two") {
            fake_run(103e-6 + 1e-9 * (double)(fake_runs * 5 % 13));
        }
    }
    gpumb_set_verify(g, refuse, NULL);
    GPUMB_MEASURE(g, "wrong") {
        fake_run(1e-4);
    }
    gpumb_skip(g, "not now");
    GPUMB_MEASURE(g, "skipped") {
        fake_run(1e-4);
    }
    g->settings.max_samples = 4;
    g->settings.min_samples = 2;
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "few") {
        fake_run(1e-3 + 1e-7 * (double)(fake_runs * 7 % 11));
    }
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        rows.push_back(*gpumb_row(g, i));
    gpumb_close(g);
    const std::string text = read_file(csv);
    size_t at = text.find('\n') + 1;
    CHECK_INT(rows.size(), 5);
    for (size_t i = 0; i < rows.size(); i++) {
        static gpumbi_line line;
        line.result = rows[i];
        const size_t end = text.find('\n', at) + 1;
        gpumbi_records *t =
            read_text(text.substr(0, text.find('\n') + 1) + text.substr(at, end - at));
        CHECK_STR(t->wrong, "");
        for (int f = 0; f < GPUMBI_COLUMNS_FIXED; f++)
            if (gpumbi_row_fields[f].at >= offsetof(gpumbi_line, result))
                CHECK_STR(differences(&gpumbi_row_fields[f], 1, &line, &t->now).c_str(), "");
        gpumbi_free_records(t);
        at = end;
    }
}

// The medians of other processes, as if they had run, in the order in which they did; that of one
// is missing in the second row.
static void test_other_processes()
{
    static const double medians[] = {3e-4, 2e-4, 4e-4};
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    gpumb *g = gpumb_open_settings("others", &s);
    g->settings.processes = 4;
    for (int i = 0; i < 3; i++) {
        const std::string median = std::to_string(medians[i]) + ",,\n";
        gpumbi_records *t = read_text(head + "\nothers,one,ok," + median +
                                      (i == 1 ? "" : "others,two,ok," + median));
        CHECK_STR(t->wrong, "");
        gpumbi_index(g, t, NULL);
        t->next = g->comparison.others;
        g->comparison.others = t;
    }
    GPUMB_MEASURE(g, "one") {
        fake_run(1e-4);
    }
    GPUMB_MEASURE(g, "two") {
        fake_run(1e-4);
    }
    for (size_t row_number = 0; row_number < 2; row_number++) {
        const gpumb_result *r = gpumb_row(g, row_number);
        const int count = row_number ? 3 : 4;
        CHECK_INT(r->processes, count);
        if (!CHECK(r->process_medians_s != NULL))
            continue;
        CHECK_NEAR(r->process_medians_s[0], 3e-4, 0);
        CHECK_NEAR(r->process_medians_s[1], row_number ? 4e-4 : 2e-4, 0);
        CHECK_NEAR(r->process_medians_s[count - 2], 4e-4, 0);
        CHECK_NEAR(r->process_medians_s[count - 1], r->time.median, 0);
        CHECK_NEAR(r->process_lo_s, r->time.median, 0);
        CHECK_NEAR(r->process_hi_s, 4e-4, 0);
    }
    CHECK_INT(gpumb_close(g), 0);
}

// Processor time of reading a text with so many escapes; the least of three, in clock ticks.
static clock_t escapes_take(size_t count)
{
    std::string text;
    clock_t least = 0;
    for (size_t i = 0; i < count; i++)
        text += "\\u00e9";
    text = json(row + ", \"axes\": {\"m\": \"" + text + "\"}}");
    for (int i = 0; i < 3; i++) {
        const clock_t start = clock();
        gpumbi_records *t = read_text(text);
        const clock_t spent = clock() - start;
        CHECK_INT(t->count, 1);
        gpumbi_free_records(t);
        least = i && least < spent ? least : spent;
    }
    return least;
}

// Eight times the escapes take eight times as long, not 64 times.
static void test_escapes()
{
    const clock_t few = escapes_take(20000), many = escapes_take(160000);
    CHECK_CASE(many < 32 * few + CLOCKS_PER_SEC / 20, "%ld and %ld ticks", (long)few, (long)many);
}

// A hundred thousand rows, all different or all alike: no time that grows with the square.
static void test_many()
{
    std::string rows[2] = {head + ",n\n", head + ",n\n"};
    for (int i = 0; i < 100000; i++) {
        rows[0] += "b,k,ok,2,1,3," + std::to_string(i) + "\n";
        rows[1] += "b,k,ok," + std::to_string(i + 1) + ",,,7\n";
    }
    for (int alike = 0; alike < 2; alike++) {
        gpumbi_records *t = read_text(rows[alike]);
        CHECK_INT(t->count, 100000);
        gpumbi_index(reader, t, NULL);
        int found = 0, in_order = 0;
        for (int i = 0; i < 100001; i++) {
            const std::string text = alike ? "7" : std::to_string(100000 - i);
            const gpumbi_cell cell = {"n", text.c_str()};
            const gpumbi_record *r = gpumbi_take(t, gpumbi_key(NULL, "b", &cell, 1), "k");
            found += r != NULL;
            in_order += r && r->time.at > i && r->time.at < i + 2;
        }
        CHECK_INT(found, 100000);
        CHECK_INT(alike ? in_order : 100000, 100000);
        CHECK_INT(t->several, alike);
        gpumbi_free_records(t);
    }
}

// Keys are sums over the axes, and yet those of a grid are all different, also when values change
// places; the order of the axes does not matter.
static void test_keys()
{
    std::vector<uint64_t> keys;
    char text[2][16];
    for (int a = 0; a < 300; a++)
        for (int b = 0; b < 300; b++) {
            snprintf(text[0], sizeof text[0], "%d", a);
            snprintf(text[1], sizeof text[1], "%d", b);
            const gpumbi_cell there[] = {{"n", text[0]}, {"m", text[1]}};
            const gpumbi_cell back[] = {{"m", text[1]}, {"n", text[0]}};
            keys.push_back(gpumbi_key(NULL, "b", there, 2));
            if (gpumbi_key(NULL, "b", back, 2) != keys.back())
                CHECK(!"the order of axes");
        }
    std::sort(keys.begin(), keys.end());
    CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
    CHECK(gpumbi_key(NULL, "ab", NULL, 0) != gpumbi_key(NULL, "a", NULL, 0));
    const gpumbi_cell whole = {"n", "12"}, parts = {"n1", "2"};
    CHECK(gpumbi_key(NULL, "b", &whole, 1) != gpumbi_key(NULL, "b", &parts, 1));
}

// ---- whole runs ----

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
    g->benchmarks.listed = benchmarks;
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
    CHECK(has(line_with(table, "run/copy n=1 form=plain"), "1.087    1.006 ... 1.174"));
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

    // one row was 10 % faster, one 10 % slower, one 0.5 % slower, one is unknown, one renamed
    std::string edited = scaled(scaled(scaled(base, 1, 0.9), 2, 1.1), 3, 1.005);
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
    for (const char *name :
         {"ratio_rounds", "process_medians_s", "elements", "elements_per_s", "values"})
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

int main()
{
    fake_reset();
    test_verdict_cases();
    test_family();
    test_many_devices();
    test_processes();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    reader = gpumb_open_settings("test_compare", &s);
    reader->benchmarks.listed = 1;
    test_csv();
    test_json();
    test_round_trip();
    test_real_rows();
    test_escapes();
    test_other_processes();
    test_many();
    test_keys();
    CHECK_INT(gpumb_close(reader), 0);
    CHECK_INT(live_allocations, 0);
    test_runs();
    remove(path);
    return CHECK_SUMMARY();
}

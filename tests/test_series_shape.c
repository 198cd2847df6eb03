/* test_series_shape.c - series of samples that depend on each other: their interval, the classes of
 * their shape, comparisons round by round, and pace; against figures worked out by hand and a naive
 * reference. How often all this is right of noisy series is in tests/coverage.c. */
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define GPUMB_STATIC /* compiles what is tested, not the rest */
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include <math.h>

static double values[10000], other[10000], copy[3 * 10000];

static gpumb_stats stats_of(const double *series, size_t count)
{
    memcpy(copy, series, count * sizeof *series);
    return gpumb_statistics(copy, count);
}

/* ---- order statistics ---- */

static void test_select(void)
{
    static const double five[] = {3, -1, 1e300, 1e-300, -1};
    static const double sorted[] = {-1, -1, 1e-300, 3, 1e300};
    static const double next[] = {1, 1.0000000000000002, 1};
    size_t i;
    for (i = 0; i < 5; i++)
        CHECK_NEAR(gpumbi_select(five, 5, i), sorted[i], 0);
    CHECK_NEAR(gpumbi_select(five, 1, 0), 3, 0);
    CHECK_NEAR(gpumbi_select(next, 3, 1), 1, 0);
    CHECK_NEAR(gpumbi_select(next, 3, 2), 1.0000000000000002, 0);
}

/* ---- the interval, by a reference that does it all the slow way ---- */

/* Of 20 and more values, one of 20 at each end is brought nearer. */
static double naive_at(double *sorted, int n, double rank)
{
    const int least = n / 20, most = n - 1 - n / 20;
    const double range = sorted[most] - sorted[least];
    double spacing;
    int i;
    for (i = 0; i < n; i++)
        sorted[i] = fmax(fmin(sorted[i], sorted[most] + range), sorted[least] - range);
    spacing = (sorted[n - 1] - sorted[0]) / (n - 1);
    if (rank < 1)
        return fmax(0, sorted[0] - (1 - rank) * spacing);
    if (rank > n)
        return sorted[n - 1] + (rank - n) * spacing;
    {
        const int below = (int)floor(rank);
        const double part = rank - below;
        return below == n ? sorted[n - 1] : sorted[below - 1] * (1 - part) + sorted[below] * part;
    }
}

/* Order statistic of the values i, i + step ..., by counting. */
static double naive_of(const double *series, int n, int first, int step, int rank)
{
    int i, j;
    for (i = first; i < n; i += step) {
        int below = 0, up_to = 0;
        for (j = first; j < n; j += step) {
            below += series[j] < series[i];
            up_to += series[j] <= series[i];
        }
        if (below <= rank && rank < up_to)
            return series[i];
    }
    return -1;
}

/* How much longer the series has to be than one without correlation, if its values take turns
 * between so many levels. No more than 1024 values, for blocks of one. */
static double naive_time(const double *series, int n, int phases)
{
    static double y[1024], rho[2048];
    double most = 1, squares, pairs = 0;
    int i, k, phase, pass;
    for (phase = 0; phase < phases; phase++) {
        const int members = (n - phase + phases - 1) / phases, quarter = members / 4;
        const double center = (naive_of(series, n, phase, phases, (members - 1) / 2) +
                               naive_of(series, n, phase, phases, members / 2)) /
                              2;
        const double spread = naive_of(series, n, phase, phases, members - 1 - quarter) -
                              naive_of(series, n, phase, phases, quarter);
        double mean = 0;
        for (i = phase; i < n; i += phases) {
            y[i] = (series[i] - center) / (spread / 4);
            y[i] = y[i] < -1 ? -1 : y[i] > 1 ? 1 : y[i];
            mean += y[i] / members;
        }
        for (i = phase; i < n; i += phases)
            y[i] -= mean;
    }
    for (k = 0; k < n + phases; k++) {
        rho[k] = 0;
        for (i = k; i < n; i++)
            rho[k] += y[i] * y[i - k];
    }
    squares = rho[0];
    for (k = n + phases - 1; k >= 0; k--)
        rho[k] /= squares;
    for (i = 1; i < n; i += 2)
        pairs += (y[i] + y[i - 1]) * (y[i] + y[i - 1]);
    if (phases > 1 && pairs < 0.1 * squares)
        return 1;
    for (pass = 0; pass < 2; pass++) { /* by all lags, and by multiples of `phases` */
        const int step = pass ? phases : 1;
        double time = 0;
        for (k = 0; k < n / 2 && rho[k] + rho[k + step] > 0; k += 2 * step)
            time += 2 * (rho[k] + rho[k + step]);
        if (rho[step] >= (phases == 1 || (phases == 2 && pass) ? 0.6 : 1.6) / sqrt(n))
            most = fmax(most, step * (time - 2) + 1);
    }
    return most;
}

static void naive_interval(const double *series, int n, int stopped, double *lo, double *hi,
                           double *effective)
{
    static double sorted[1024];
    double time = 1, covered = 0, choose = 1;
    int i, j, k, rank = 0;
    for (i = 0; i < n; i++) { /* insertion sort */
        for (j = i; j > 0 && sorted[j - 1] > series[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = series[i];
    }
    for (k = 1; k <= 6 && k * 6 <= n; k++)
        time = fmax(time, naive_time(series, n, k));
    /* outside of rank k: 2 P(B < k) <= 5 % */
    for (k = 0; k < n / 2; k++) {
        covered += 2 * choose / pow(2, n);
        if (covered > 0.05)
            break;
        rank = k + 1;
        choose *= (double)(n - k) / (k + 1);
    }
    {
        const double middle = (n + 1) / 2.0;
        const double k_of = stopped || n < 29 ? 15 : 1 + 400.0 / n;
        const double short_of = k_of * (time - 1) * sqrt(time) / n;
        const double reach = fmin((middle - rank) * sqrt(time) * (1 + short_of), 1.5 * n);
        *lo = naive_at(sorted, n, middle - reach);
        *hi = naive_at(sorted, n, middle + reach);
    }
    *effective = n / time;
}

static uint64_t lcg = 1;
static double uniform(void)
{
    lcg = lcg * 6364136223846793005u + 1442695040888963407u;
    return (double)(lcg >> 11) / 9007199254740992.0;
}

static void test_interval(void)
{
    int n, kind, stopped, i;
    for (n = 6; n <= 500; n = n < 40 ? n + 1 : n * 3 / 2)
        for (kind = 0; kind < 7; kind++) {
            double lo, hi, effective, state = 0, turns[2] = {0, 0};
            gpumb_stats s;
            for (i = 0; i < n; i++) {
                state = (kind == 1 ? 0.5 : kind == 2 ? 0.9 : 0) * state + uniform();
                values[i] =
                    kind == 3 ? 5 + 0.1 * i + uniform() : 100 + state; /* the third: a ramp */
                turns[i % 2] = 0.9 * turns[i % 2] + uniform();
                if (kind == 6 && i % 25 == 5) /* outliers, one of 25 */
                    values[i] = i % 50 == 5 ? 300 : 20;
                if (kind == 4 || kind == 5) /* two levels, or two series, take turns */
                    values[i] = 100 + (kind == 4 ? turns[0] + 2 * (i % 2) : turns[i % 2]);
            }
            for (stopped = 0; stopped < 2; stopped++) {
                naive_interval(values, n, stopped, &lo, &hi, &effective);
                memcpy(copy, values, (size_t)n * sizeof *values);
                s = stopped ? gpumbi_summarize(copy, copy + n, (uint64_t)n, 0.95, 1)
                            : gpumb_statistics(copy, (uint64_t)n);
                CHECK_CASE(fabs(s.ci_lo - lo) < 1e-9 * hi && fabs(s.ci_hi - hi) < 1e-9 * hi &&
                               fabs(s.effective - effective) < 1e-6 * n,
                           "%d values, kind %d, stopped %d: %g %g, expected %g %g", n, kind,
                           stopped, s.ci_lo, s.ci_hi, lo, hi);
            }
        }
}

/* One value of 20 at either end may be as far out as it likes: the interval is the same. It reaches
 * one range beyond the ends at most, these being one range of the others beyond them. */
static void test_outliers(void)
{
    int r, i, n, wide = 0;
    for (r = 0; r < 300; r++) {
        const int far = r % 3; /* one up, one down, one of each */
        gpumb_stats s[2];
        n = r % 2 ? 30 : 20;
        for (i = 0; i < n; i++)
            values[i] = 100 + 0.1 * uniform();
        for (i = 0; i < 2; i++) {
            if (far != 1)
                values[r % n] = i ? 1e6 : 200;
            if (far != 0)
                values[(r + 7) % n] = i ? 1e-6 : 50;
            s[i] = stats_of(values, (size_t)n);
        }
        CHECK_CASE(s[0].ci_lo == s[1].ci_lo && s[0].ci_hi == s[1].ci_hi && s[0].ci_lo > 99.6 &&
                       s[0].ci_hi < 100.5,
                   "%d: %g ... %g, farther out %g ... %g", r, s[0].ci_lo, s[0].ci_hi, s[1].ci_lo,
                   s[1].ci_hi);
        wide += s[0].ci_lo < 99.99 || s[0].ci_hi > 100.11;
    }
    CHECK_CASE(wide > 15, "%d of 300 reach beyond", wide);
}

/* Where neighbours mirror each other, sums of two being at most a tenth as noisy as both, the
 * median stays, however long they swing; else it is as uncertain as they say. */
static void test_mirrored(void)
{
    int k, i;
    for (k = 0; k < 2; k++) {
        const double own = k ? 0.65 : 0.5, n = 400;
        double swing = 0, lo, hi, effective;
        gpumb_stats s;
        lcg = 1;
        for (i = 0; i < n; i += 2) {
            swing = 0.9 * swing + uniform() - 0.5;
            values[i] = 100 + swing + own * (uniform() - 0.5);
            values[i + 1] = 100 - swing + own * (uniform() - 0.5);
        }
        naive_interval(values, (int)n, 0, &lo, &hi, &effective);
        s = stats_of(values, (size_t)n);
        CHECK_NEAR(s.effective, effective, 1e-6 * n);
        CHECK_CASE(k ? s.effective < n / 2 : s.effective >= n, "%g of %g count", s.effective, n);
    }
}

/* How many of 200 intervals hold the median, 0, of AR(1) 0.9 with two levels in turn, or of two
 * such series in turn; and of `period` levels. */
static int held_of(int n, int series, int period, double height)
{
    int held = 0, r, i;
    for (r = 0; r < 200; r++) {
        double state[2] = {0, 0};
        gpumb_stats s;
        for (i = 0; i < n; i++) {
            double *now = &state[i % series], fresh = -6;
            int j;
            for (j = 0; j < 12; j++) /* nearly normal, of variance 1 */
                fresh += uniform();
            *now = i < series ? fresh : 0.9 * *now + sqrt(1 - 0.81) * fresh;
            /* levels 1, -1; 1, -1, 0; 1, -1, -1, 1 */
            values[i] = 100 + *now +
                        height * ((i % period == 0 || i % period == 3) -
                                  (i % period == 1 || (period == 4 && i % 4 == 2)));
        }
        s = stats_of(values, (size_t)n);
        held += s.ci_lo <= 100 && 100 <= s.ci_hi;
    }
    return held;
}

/* What comes back every second time, or third, or fourth, hides no correlation. */
static void test_periods(void)
{
    int n;
    for (n = 100; n <= 400; n *= 2) {
        CHECK_CASE(held_of(n, 1, 2, 1) >= 184, "alternating, %d", n);
        CHECK_CASE(held_of(n, 2, 1, 0) >= 184, "two series, %d", n);
        CHECK_CASE(held_of(n, 1, 3, 1) >= 184, "three levels, %d", n);
        CHECK_CASE(held_of(n, 1, 4, 1) >= 184, "four levels, %d", n);
    }
}

static void test_small(void)
{
    static const double six[] = {6, 1, 5, 2, 4, 3};
    static const double rising[] = {1, 2, 3, 4, 5, 6};
    gpumb_stats s;
    size_t i;
    s = gpumb_statistics(NULL, 0);
    CHECK_NEAR(s.effective, 0, 0);
    for (i = 1; i <= 5; i++) {
        s = stats_of(rising, i);
        CHECK_NEAR(s.effective, i, 0);
        CHECK_NEAR(s.ci_lo, 0, 0);
        CHECK_NEAR(s.ci_hi, 0, 0);
        CHECK(gpumbi_half_width(&s) > 1e300);
    }
    s = stats_of(six, 6); /* neighbours lie on both sides: exact ranks */
    CHECK_NEAR(s.effective, 6, 0);
    CHECK_NEAR(s.ci_lo, 1, 0);
    CHECK_NEAR(s.ci_hi, 6, 0);
    /* quartiles 2 and 5: clipped at 0.75 to -1 -1 -2/3 2/3 1 1, squares 4.8889; lag 1: 1 + 2/3 -
     * 4/9 + 2/3 + 1 = 2.8889, 2: 2/3 - 2/3 - 2/3 + 2/3 = 0, 3: -2/3 - 1 - 2/3 < 0;
     * time 2 (1 + 0.5909) - 1 = 2.1818, reach 2.5 * 1.4771 * (1 + 15 * 1.1818 * 1.4771 / 6), which
     * is more than 9 */
    s = stats_of(rising, 6);
    CHECK_NEAR(s.effective, 6 / (24.0 / 11), 1e-9);
    CHECK_NEAR(s.ci_lo, 0, 0); /* times are not below 0 */
    CHECK_NEAR(s.ci_hi, 3.5 + 9, 1e-9);

    for (i = 0; i < 100; i++)
        values[i] = 7;
    s = stats_of(values, 100); /* constant */
    CHECK_NEAR(s.ci_lo, 7, 0);
    CHECK_NEAR(s.ci_hi, 7, 0);
    CHECK_NEAR(s.effective, 100, 0);
    for (i = 0; i < 100; i++)
        values[i] = (double)(i % 2);
    s = stats_of(values, 100); /* two values in turns */
    CHECK_NEAR(s.ci_lo, 0, 0);
    CHECK_NEAR(s.ci_hi, 1, 0);
    CHECK_NEAR(s.effective, 100, 0);
    for (i = 0; i < 100; i++)
        values[i] = (double)(i / 50);
    s = stats_of(values, 100); /* the same in two blocks */
    CHECK(s.effective < 10);
    for (i = 0; i < 100; i++)
        values[i] = i == 60 || i == 61 ? 9 : 7;
    s = stats_of(values, 100); /* one outlier: quartiles equal, only signs count */
    CHECK_NEAR(s.ci_lo, 7, 0);
    CHECK_NEAR(s.ci_hi, 7, 0);
    CHECK_INT(gpumbi_next_look(30), 46);
    CHECK_INT(gpumbi_next_look(46), 70);
}

/* Fewer than 30 values, each a rank from 101 on: an interval of less than 13 ranks to either side
 * is widened to that, or, where they look independent, to what is left at 14 ... 24 values. */
static void test_few(void)
{
    static const struct {
        int count, correlated;
        double ranks; /* 1: as it was */
    } cases[] = {{5, 0, 1},   {6, 0, 13},   {8, 1, 13}, {14, 0, 13}, {15, 0, 11.7}, {19, 0, 6.5},
                 {19, 1, 13}, {23, 0, 1.3}, {24, 0, 1}, {24, 1, 13}, {29, 1, 13},   {30, 1, 1}};
    size_t k;
    int i;
    for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const double middle = 100 + (cases[k].count + 1) / 2.0;
        gpumb_stats s;
        memset(&s, 0, sizeof s);
        for (i = 0; i < cases[k].count; i++)
            values[i] = 101 + i;
        s.count = (uint64_t)cases[k].count;
        s.effective = cases[k].count - (cases[k].correlated ? 0.1 : 0);
        s.ci_lo = middle - 1;
        s.ci_hi = middle + 1;
        gpumbi_widen_few(values, &s, GPUMBI_FEW_TIMES);
        CHECK_CASE(fabs(middle - s.ci_lo - cases[k].ranks) < 1e-9 &&
                       fabs(s.ci_hi - middle - cases[k].ranks) < 1e-9,
                   "%d values: %g and %g ranks, expected %g", cases[k].count, middle - s.ci_lo,
                   s.ci_hi - middle, cases[k].ranks);
        s.ci_lo = middle - 20;
        s.ci_hi = middle + 20;
        gpumbi_widen_few(values, &s, GPUMBI_FEW_TIMES); /* never narrower */
        CHECK_NEAR(s.ci_lo, middle - 20, 0);
        CHECK_NEAR(s.ci_hi, middle + 20, 0);
    }
}

/* ---- classes, with uniform noise of +-1 % ---- */

static gpumb_series class_of(int kind, uint64_t n, double height)
{
    uint64_t i;
    lcg = 1;
    for (i = 0; i < n; i++) {
        const double t = (double)i / (double)n;
        double y = 0;
        switch (kind) {
        case 1:
            y = t < 0.5;
            break;
        case 2:
            y = t >= 0.5;
            break;
        case 3:
            y = t;
            break;
        case 4:
            y = 1 - t;
            break;
        case 5:
            y = exp(-8 * t);
            break;
        case 6:
            y = sin(6.283185307179586 * 3 * t);
            break;
        case 7:
            y = (int)(t * 5) % 2;
            break;
        case 8:
            y = (i / 7) % 2 ? 1 : 0;
            break;
        case 9:
            y = i == n / 2 ? 100 : 0;
            break;
        default:
            break;
        }
        values[i] = 5e-6 * (1 + height * y + 0.02 * (uniform() - 0.5));
    }
    return gpumb_classify(values, n, 0.01);
}

static void test_classes(void)
{
    static const gpumb_series expected[] = {GPUMB_SERIES_STEADY,       GPUMB_SERIES_WARMING_UP,
                                            GPUMB_SERIES_SLOWING_DOWN, GPUMB_SERIES_UNSTEADY,
                                            GPUMB_SERIES_UNSTEADY,     GPUMB_SERIES_WARMING_UP,
                                            GPUMB_SERIES_UNSTEADY,     GPUMB_SERIES_UNSTEADY,
                                            GPUMB_SERIES_TWO_LEVELS,   GPUMB_SERIES_STEADY};
    static const uint64_t lengths[] = {100, 300, 1000, 5000};
    static const double ticks[] = {1, 1.1, 1, 1, 1.1, 1.1, 1, 1.1, 1.1, 1, 1};
    size_t k, i;
    for (i = 0; i < 4; i++)
        for (k = 0; k < 10; k++) {
            CHECK_CASE(class_of((int)k, lengths[i], 0.1) == expected[k], "kind %d, %d values",
                       (int)k, (int)lengths[i]);
            /* smaller than the wanted precision: steady */
            if (k != 9)
                CHECK_CASE(class_of((int)k, lengths[i], 0.003) == GPUMB_SERIES_STEADY,
                           "small kind %d, %d values", (int)k, (int)lengths[i]);
        }
    CHECK_INT(class_of(1, 29, 0.5), GPUMB_SERIES_STEADY); /* too few */
    CHECK_INT(gpumb_classify(NULL, 0, 0.01), GPUMB_SERIES_STEADY);
    for (i = 0; i < 1000; i++)
        values[i] = 1;
    CHECK_INT(gpumb_classify(values, 1000, 0.01), GPUMB_SERIES_STEADY);
    for (i = 0; i < 990; i++)
        values[i] = ticks[i % 11]; /* an event clock's two ticks, 10 % apart */
    CHECK_INT(gpumb_classify(values, 990, 0.01), GPUMB_SERIES_STEADY);
    for (i = 0; i < 30; i++)
        values[i] = (i >= 3 && i < 8 ? 1.12 : 1) * (1 + 0.01 * uniform()); /* a dwell */
    CHECK_INT(gpumb_classify(values, 30, 0.01), GPUMB_SERIES_UNSTEADY);
    for (i = 0; i < 300; i++)
        values[i] = 1 + 0.12 * fmod((double)i / 20, 1) + 0.01 * uniform(); /* a saw */
    for (k = 106; k <= 300; k++)
        CHECK_CASE(gpumb_classify(values, k, 0.01) == GPUMB_SERIES_UNSTEADY, "saw, %d", (int)k);
    for (k = 0; k < 2; k++) { /* heavy tails are not two levels: Pareto 1.5, exp of a normal */
        int levels = 0, n;
        for (n = 0; n < 200; n++) {
            for (i = 0; i < 30; i++)
                values[i] = k ? exp(uniform() + uniform() + uniform() + uniform())
                              : pow(uniform() + 1e-9, -1 / 1.5);
            levels += gpumb_classify(values, 30, 0.01) == GPUMB_SERIES_TWO_LEVELS;
        }
        CHECK_CASE(levels <= 10, "%d of 200, tail %d", levels, (int)k);
    }
    for (i = 0; i < 1000; i++)
        values[i] = i < 400 ? 1.1 : 1; /* a step between two exact values */
    CHECK_INT(gpumb_classify(values, 1000, 0.01), GPUMB_SERIES_WARMING_UP);
}

/* How correlated values are: sums pairs of lags while they are positive; and by how much
 * correlations rise again behind their lowest. */
static double naive_correlation(const double *series, int n, double *rise)
{
    double mean = 0, time = 0, squares = 0, least = 1, last = 0;
    int positive = 1, lag, i;
    *rise = 0;
    for (i = 0; i < n; i++)
        mean += series[i] / n;
    for (lag = 0; lag / 2 * 2 < n / 2; lag++) {
        double now = 0;
        for (i = lag; i < n; i++)
            now += (series[i] - mean) * (series[i - lag] - mean);
        squares = lag ? squares : now;
        now /= squares;
        least = fmin(least, now);
        *rise = fmax(*rise, now - least);
        positive &= lag % 2 == 0 || last + now > 0;
        time += lag % 2 && positive ? 2 * (last + now) : 0;
        last = now;
    }
    return time - 1;
}

/* Segments differ if their variance is 9 + 50/n times what the rest lets one expect: five low ones
 * and four high ones, of noise whose mean is 0 in each. */
static void test_segments(void)
{
    static const int lengths[] = {36, 90, 900};
    size_t k;
    int high, i;
    for (k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const int n = lengths[k], members = n / 9;
        double within = 0, rise;
        lcg = 1;
        for (i = 0; i < n; i++)
            other[i] = uniform();
        for (i = 0; i < n; i++) {
            double mean = 0;
            int j;
            for (j = 0; j < members; j++)
                mean += other[i / members * members + j] / members;
            copy[i] = other[i] - mean;
            within += copy[i] * copy[i] / (n - 9);
        }
        within *= fmax(1, naive_correlation(copy, n, &rise));
        for (high = 0; high < 2; high++) {
            /* of a step of 1: 5 (4/9)^2 + 4 (5/9)^2 = 20/9, of 8 degrees of freedom */
            const double limit = (9 + 50.0 / n) * (high ? 1.04 : 0.96);
            const double step = sqrt(limit * within * 8 / (members * 20.0 / 9));
            for (i = 0; i < n; i++)
                values[i] = 10 + copy[i] + (i / members < 5 ? 0 : step);
            CHECK_CASE(gpumb_classify(values, (uint64_t)n, 0.001) ==
                           (high ? GPUMB_SERIES_SLOWING_DOWN : GPUMB_SERIES_STEADY),
                       "%d values, %d", n, high);
        }
    }
}

/* Correlations that rise by more than 0.65 + 2.5 / sqrt(n) are a cycle's: here of period 6. */
static void test_cycles(void)
{
    static const int lengths[] = {96, 576};
    size_t k;
    int part, i;
    for (k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const int n = lengths[k];
        const double limit = 0.65 + 2.5 / sqrt(n);
        double close[2] = {1, 1};
        for (part = 0; part <= 400; part++) {
            double rise, rest;
            lcg = 7;
            for (i = 0; i < n; i++)
                values[i] = 10 + sin(6.283185307179586 * i / 6) + 0.01 * part * (uniform() - 0.5);
            naive_correlation(values, n, &rise);
            if (n > 120) { /* of the newest 120, it may be more */
                naive_correlation(values + n - 120, 120, &rest);
                rise = fmax(rise, rest);
            }
            close[rise > limit] = fmin(close[rise > limit], fabs(rise - limit));
            if (fabs(rise - limit) > 0.03)
                CHECK_CASE((gpumb_classify(values, (uint64_t)n, 0.01) == GPUMB_SERIES_UNSTEADY) ==
                               (rise > limit),
                           "%d values, noise %d %%, rise %g", n, part, rise);
        }
        CHECK(close[0] < 0.03 && close[1] < 0.03);
    }
}

/* Two levels are visited 6 times, and are 4 of the clock's steps apart, unless they are visited far
 * less often than if they were drawn: 50 of 100 times, less 4 standard deviations. */
static void test_levels(void)
{
    static const struct {
        int switches;
        double quantum; /* of their distance */
        int expected;
    } cases[] = {{5, 0.01, 0}, {6, 0.01, 1}, {6, 0.9, 1},    {29, 0.3, 1},
                 {32, 0.3, 0}, {50, 0.3, 0}, {50, 0.251, 0}, {50, 0.249, 1}};
    size_t k;
    int i;
    for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int switches = cases[k].switches;
        for (i = 0; i < 100; i++) /* the first half has those that are too many to fill all */
            values[i] = 1 + (double)((i * (switches + 1) / 100) % 2);
        CHECK_CASE(gpumbi_two_levels(values, 100, 0.01, cases[k].quantum) == cases[k].expected,
                   "%d switches, quantum %g", switches, cases[k].quantum);
    }
}

/* Values jump if three are beyond the three before by 3 times what most neighbours differ by. */
static void test_jumps(void)
{
    int k, i;
    for (k = 0; k < 4; k++) {
        const double jump = (k % 2 ? 4.2 : 3.8) * (k < 2 ? 1 : -1); /* less 1, of the noise */
        for (i = 0; i < 40; i++)
            values[i] = 10 + i % 2 + (i < 20 ? 0 : jump);
        CHECK_CASE(gpumbi_jumps(values, 40, 0) == k % 2, "by %g", jump);
        CHECK(!gpumbi_jumps(values, 40, 3.3));
    }
}

/* ---- comparisons ---- */

/* Rounds count in pairs if there are 30 and 15 plus two standard errors, 5.5, are opposite. */
static void test_pairs(void)
{
    int opposite, i;
    for (opposite = 14; opposite < 30; opposite++) {
        for (i = 0; i < 60; i++) {
            const int pair = i / 2, rest = pair - opposite; /* the last pair is in the middle */
            values[i] = pair == 29 ? 1 : (rest < 0 ? i : rest) % 2 ? 1.1 : 0.9;
        }
        const uint64_t counted = gpumbi_pair_ratios(values, 60);
        CHECK_CASE(counted == (opposite > 20 ? 30 : 60), "%d opposite: %d", opposite, (int)counted);
    }
}

/* Delta 1 %: the ratio is within 0.990099 ... 1.01 or beyond, its interval within or not, and
 * certain to differ from 1 or not. */
static void test_verdicts(void)
{
    static const struct {
        double lo, hi;
        gpumb_verdict verdict;
    } cases[] = {{0.96, 0.98, GPUMB_VERDICT_FASTER}, /* all of it beyond */
                 {1.011, 1.03, GPUMB_VERDICT_SLOWER},
                 {1.0101, 9, GPUMB_VERDICT_SLOWER},
                 {0.9901, 1.01, GPUMB_VERDICT_SAME}, /* all of it within */
                 {1, 1, GPUMB_VERDICT_SAME},
                 {0.995, 0.999, GPUMB_VERDICT_SAME},
                 {1.002, 1.008, GPUMB_VERDICT_SAME},
                 {0.95, 0.99005, GPUMB_VERDICT_FASTER}, /* 1/1.01 is 0.990099 */
                 {0.95, 0.9902, GPUMB_VERDICT_UNDECIDED},
                 {0.94, 0.999, GPUMB_VERDICT_UNDECIDED}, /* certain to differ, not by how much */
                 {1.001, 1.03, GPUMB_VERDICT_UNDECIDED},
                 {1.005, 1.02, GPUMB_VERDICT_UNDECIDED},
                 {0.98, 0.995, GPUMB_VERDICT_UNDECIDED},
                 {0.99, 1.005, GPUMB_VERDICT_UNDECIDED}, /* 0.99 is more than 1 % faster */
                 {0.9, 1.1, GPUMB_VERDICT_UNDECIDED},
                 {0, 0, GPUMB_VERDICT_UNDECIDED}}; /* no interval */
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_CASE(gpumbi_verdict(cases[i].lo, cases[i].hi, 0.01) == cases[i].verdict,
                   "%g ... %g, expected %d", cases[i].lo, cases[i].hi, (int)cases[i].verdict);
    CHECK_INT(gpumbi_verdict(1.01, 1.03, 0), GPUMB_VERDICT_SLOWER); /* all counts */
    CHECK_INT(gpumbi_verdict(1.01, 1.03, 0.1), GPUMB_VERDICT_SAME);
}

static void test_comparisons(void)
{
    gpumb_comparison c;
    gpumb_stats s;
    double ratios[3 * 10], width = 0;
    size_t i;
    /* ratios 1.01 ... 1.10 in an order without correlation: 95 % is ranks 2 and 9; 99.5 %: 1 and
     * 10 (2 (1 + 10) / 1024 = 2.1 % are outside of 2 and 9) */
    for (i = 0; i < 10; i++) {
        static const int order[] = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
        values[i] = 2 + (double)i;
        other[i] = values[i] * (1 + order[i] * 0.01);
    }
    for (i = 0; i < 2; i++) {
        for (size_t k = 0; k < 10; k++)
            ratios[k] = other[k] / values[k];
        s = gpumbi_summarize(ratios, ratios + 10, 10, i ? 0.995 : 0.95, 0);
        CHECK_NEAR(s.ci_lo, i ? 1.01 : 1.02, 1e-12);
        CHECK_NEAR(s.ci_hi, i ? 1.10 : 1.09, 1e-12);
    }
    /* that few count as wider: 10 ranks to either side of 5.5 */
    c = gpumb_compare_rounds(values, other, 10, 0.01, 1);
    CHECK_INT(c.rounds, 10);
    CHECK_NEAR(c.ratio, 1.055, 1e-12);
    CHECK_NEAR(c.lo, 0.955, 1e-12);
    CHECK_NEAR(c.hi, 1.155, 1e-12);
    CHECK_INT(c.verdict, GPUMB_VERDICT_UNDECIDED);
    c = gpumb_compare_rounds(values, other, 10, 0.01, 10);
    CHECK_NEAR(c.lo, 0.955, 1e-12);
    CHECK_NEAR(c.hi, 1.155, 1e-12);
    for (i = 0; i < 10; i++)
        other[i] += 0.1 * values[i];
    c = gpumb_compare_rounds(values, other, 10, 0.01, 1);
    CHECK_INT(c.verdict, GPUMB_VERDICT_SLOWER);
    CHECK(!gpumbi_decided(&c, 0.01)); /* wider than delta to either side */
    CHECK(gpumbi_decided(&c, 0.11));
    c = gpumb_compare_rounds(values, other, 5, 0.01, 1);
    CHECK_NEAR(c.lo, 0, 0);
    CHECK_INT(c.verdict, GPUMB_VERDICT_UNDECIDED);
    CHECK(!gpumbi_decided(&c, 0.01));
    c = gpumb_compare_rounds(values, other, 0, 0.01, 1);
    CHECK_INT(c.verdict, GPUMB_VERDICT_UNDECIDED);
    c = gpumb_compare_rounds(values, values, 10, 0.01, 1);
    CHECK_INT(c.verdict, GPUMB_VERDICT_SAME);
    CHECK_NEAR(c.lo, 1, 0);
    CHECK(gpumbi_decided(&c, 0.01));

    /* of ten comparisons each has the level of 99.5 % */
    for (i = 0; i < 100; i++) {
        values[i] = 2 + (double)i;
        other[i] = values[i] * (1 + 0.001 * (double)(i * i * 37 % 101));
    }
    for (i = 1; i <= 10; i += 9) {
        for (size_t k = 0; k < 100; k++)
            copy[k] = other[k] / values[k];
        s = gpumbi_summarize(copy, copy + 100, 100, i > 1 ? 0.995 : 0.95, 0);
        c = gpumb_compare_rounds(values, other, 100, 0.01, (int)i);
        CHECK_NEAR(c.lo, s.ci_lo, 1e-12);
        CHECK_NEAR(c.hi, s.ci_hi, 1e-12);
        CHECK(i > 1 ? c.hi - c.lo > width : (width = c.hi - c.lo) > 0);
    }

    /* a load that triples whole rounds leaves the ratio alone */
    for (i = 0; i < 100; i++) {
        values[i] = (i / 10 % 2 ? 3 : 1) * (1 + 0.001 * (double)(i % 3));
        other[i] = 0.9 * values[i];
    }
    c = gpumb_compare_rounds(values, other, 100, 0.01, 1);
    CHECK_NEAR(c.ratio, 0.9, 1e-12);
    CHECK_NEAR(c.lo, 0.9, 1e-12);
    CHECK_NEAR(c.hi, 0.9, 1e-12);
    CHECK_INT(c.verdict, GPUMB_VERDICT_FASTER);

    /* whoever is first has the better of it: from 60 rounds on that cancels */
    for (i = 0; i < 60; i++) {
        values[i] = 1;
        other[i] = 1.003 * (1 + 0.0001 * (double)(i % 7)) * (i % 2 ? 1.02 : 1 / 1.02);
    }
    c = gpumb_compare_rounds(values, other, 60, 0.01, 1);
    CHECK_INT(c.rounds, 60);
    CHECK_NEAR(c.ratio, 1.0033, 1e-3);
    CHECK(c.lo > 1.002 && c.hi < 1.005);
    CHECK_INT(c.verdict, GPUMB_VERDICT_SAME);
    c = gpumb_compare_rounds(values, other, 59, 0.01, 1);
    CHECK(c.lo < 0.99 && c.hi > 1.01);
    for (i = 0; i < 60; i++) /* one of two is disturbed, to either side: single rounds tell more */
        other[i] = i % 2 ? 1 + 0.0001 * (double)(i % 7) : i % 4 ? 1.5 : 0.5;
    c = gpumb_compare_rounds(values, other, 60, 0.01, 1);
    CHECK(c.lo > 0.99 && c.hi < 1.01);

    /* undecided: until the ratio is known to a quarter of delta */
    c.verdict = GPUMB_VERDICT_UNDECIDED;
    c.lo = 1.007, c.hi = 1.0119;
    CHECK(gpumbi_decided(&c, 0.01));
    c.hi = 1.0121;
    CHECK(!gpumbi_decided(&c, 0.01));
    /* a verdict: from an interval of delta to either side on */
    c.verdict = GPUMB_VERDICT_SLOWER;
    c.lo = 1.03, c.hi = 1.0499;
    CHECK(gpumbi_decided(&c, 0.01));
    c.hi = 1.0501;
    CHECK(!gpumbi_decided(&c, 0.01));
}

/* What samples don't show is in the interval: 0.15 % of the time, 0.7 % of the gap subtracted, and
 * 0.58 quanta over the runs of a sample. */
static void test_widening(void)
{
    static const double parts[][3] = {/* time, gap, quantum */
                                      {1, 0, 0},
                                      {1e-6, 0.5, 0},
                                      {1e-6, 0, 0.1},
                                      {1, 0.5, 0.1}};
    gpumbi_sampler s;
    size_t i, k;
    for (k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        gpumb_stats now;
        const double gap = 0.007 * parts[k][1], coarse = 0.58 * parts[k][2] / 4;
        const double by = sqrt(pow(0.0015 * parts[k][0], 2) + gap * gap + coarse * coarse);
        memset(&s, 0, sizeof s);
        s.samples.values = values;
        s.samples.scratch = other;
        s.samples.count = 30;
        s.use_events = 1;
        s.result.batch = 4;
        s.result.overhead_s = parts[k][1];
        s.quantum_s = parts[k][2];
        for (i = 0; i < 30; i++)
            values[i] = parts[k][0];
        now = gpumbi_statistics_now(&s);
        CHECK_NEAR(now.ci_hi - now.median, by, 1e-9 * by);
        CHECK_NEAR(now.ci_lo, now.median > by ? now.median - by : 0, 1e-9 * by);
        s.use_events = 0; /* on the host every sample wanders by more */
        now = gpumbi_statistics_now(&s);
        CHECK_NEAR(now.ci_hi - now.median, coarse, 1e-9 * by);
    }
}

/* How sure it is that windows move, by the slope of 20 of them in its standard errors, at a least
 * slope that matters in the same: 2.7 + 120 / 18^2 = 3.07 of them; 1.3; or twice the least slope is
 * not 20 times less likely than none. */
static void test_pace(void)
{
    static const struct {
        double slope, least;
        int moves;
    } cases[] = {{3.4, 0.1, GPUMBI_MOVES},    {3.15, 0.1, GPUMBI_MAY_MOVE},
                 {1.4, 0.1, GPUMBI_MAY_MOVE}, {1.2, 0.1, GPUMBI_IN_DOUBT},
                 {0, 1.02, GPUMBI_IN_DOUBT},  {0, 1.12, GPUMBI_STEADY},
                 {0.9, 1.5, GPUMBI_IN_DOUBT}, {0.6, 1.5, GPUMBI_STEADY},
                 {-3.4, 0.1, GPUMBI_MOVES},   {-3.15, 0.1, GPUMBI_MAY_MOVE}};
    static gpumb g;
    static gpumbi_sampler s;
    double noise[20], slope, error;
    size_t k;
    int i;
    lcg = 3;
    for (i = 0; i < 20; i++)
        noise[i] = 1e-3 * (uniform() - 0.5);
    slope = gpumbi_slope(noise, 20, &error);
    for (i = 0; i < 20; i++)
        noise[i] -= slope * i;
    slope = gpumbi_slope(noise, 20, &error);
    CHECK_NEAR(slope, 0, 1e-12);
    g.settings.precision = 0.01;
    g.settings.warmup_s = 0.5;
    for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        s.pace.windows = 20;
        for (i = 0; i < 20; i++)
            s.pace.level[i] = 1 + noise[i] + cases[k].slope * error * (i - 19);
        s.pace.length_s = cases[k].least * error / (0.01 * s.pace.level[19]);
        CHECK_CASE(gpumbi_pace_moves(&g, &s) == cases[k].moves, "%g standard errors, least %g",
                   cases[k].slope, cases[k].least);
    }
    s.pace.windows = 2;
    CHECK_INT(gpumbi_pace_moves(&g, &s), GPUMBI_STEADY);
}

int main(void)
{
    test_select();
    test_small();
    test_interval();
    test_outliers();
    test_mirrored();
    test_periods();
    test_few();
    test_classes();
    test_segments();
    test_cycles();
    test_levels();
    test_jumps();
    test_pairs();
    test_verdicts();
    test_comparisons();
    test_widening();
    test_pace();
    return CHECK_SUMMARY();
}

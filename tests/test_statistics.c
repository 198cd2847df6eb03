/* test_statistics.c - gpumb_statistics() against figures worked out by hand and against its
 * promise: an interval that holds the true median in at least 95 % of all samples. */
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define GPUMB_STATIC /* compiles what is tested, not the rest */
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "random.h"
#include <math.h>

/* ---- by hand ---- */

static gpumb_stats stats_of(const double *values, size_t count)
{
    double copy[64];
    memcpy(copy, values, count * sizeof *values);
    return gpumb_statistics(copy, count);
}

#define CHECK_STATS(s, n, median_, lo, hi, min_, q1_, q3_, max_, mean_, sd_, mad_)                 \
    do {                                                                                           \
        CHECK_INT((s).count, n);                                                                   \
        CHECK_NEAR((s).median, median_, 1e-12);                                                    \
        CHECK_NEAR((s).ci_lo, lo, 0);                                                              \
        CHECK_NEAR((s).ci_hi, hi, 0);                                                              \
        CHECK_NEAR((s).min, min_, 0);                                                              \
        CHECK_NEAR((s).q1, q1_, 1e-12);                                                            \
        CHECK_NEAR((s).q3, q3_, 1e-12);                                                            \
        CHECK_NEAR((s).max, max_, 0);                                                              \
        CHECK_NEAR((s).mean, mean_, 1e-12);                                                        \
        CHECK_NEAR((s).sd, sd_, 1e-12);                                                            \
        CHECK_NEAR((s).mad, mad_, 1e-12);                                                          \
    } while (0)

static void test_small(void)
{
    static const double one[] = {5};
    static const double two[] = {3, 1};
    static const double four[] = {0, 1, 3, 10};
    static const double five[] = {100, 2, 4, 1, 3};
    static const double six[] = {6, 1, 5, 2, 4, 3};
    static const double seven[] = {11, 4, 5, 2, 9, 4, 7};
    static const double ten[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
    static const double negative[] = {-6, -1, -5, -2, -4, -3};
    static const double mixed[] = {-1, 1, -2, 2, -3, 3, 0};
    static const double ties[] = {2, 2, 2, 2, 2, 2, 2, 2};
    gpumb_stats s = gpumb_statistics(NULL, 0);

    CHECK_STATS(s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_NEAR(stats_of(four, 4).mad, 1.5, 0); /* of deviations 1 1 2 8 */
    s = stats_of(one, 1);
    CHECK_STATS(s, 1, 5, 0, 0, 5, 5, 5, 5, 5, 0, 0);
    s = stats_of(two, 2);
    CHECK_STATS(s, 2, 2, 0, 0, 1, 1.5, 2.5, 3, 2, 1.4142135623730951, 1);
    /* mean 110 / 5; deviations -21 -20 -19 -18 78: squares 7610, over 4 */
    s = stats_of(five, 5);
    CHECK_STATS(s, 5, 3, 0, 0, 1, 2, 4, 100, 22, sqrt(1902.5), 1);
    /* quartiles at 5/4 and 15/4; squares 17.5, over 5; absolute deviations .5 .5 1.5 1.5 2.5 2.5 */
    s = stats_of(six, 6);
    CHECK_STATS(s, 6, 3.5, 1, 6, 1, 2.25, 4.75, 6, 3.5, sqrt(3.5), 1.5);
    /* 2 4 4 5 7 9 11; quartiles at 1.5 and 4.5; squares 60, over 6; deviations 0 1 1 2 3 4 6 */
    s = stats_of(seven, 7);
    CHECK_STATS(s, 7, 5, 2, 11, 2, 4, 8, 11, 6, sqrt(10.0), 2);
    /* 1 1 2 3 3 4 5 5 6 9; quartiles at 2.25 and 6.75; squares 54.9, over 9; ranks 2 and 9 */
    s = stats_of(ten, 10);
    CHECK_STATS(s, 10, 3.5, 1, 6, 1, 2.25, 5, 9, 3.9, sqrt(6.1), 1.5);
    s = stats_of(negative, 6);
    CHECK_STATS(s, 6, -3.5, -6, -1, -6, -4.75, -2.25, -1, -3.5, sqrt(3.5), 1.5);
    s = stats_of(mixed, 7);
    CHECK_STATS(s, 7, 0, -3, 3, -3, -1.5, 1.5, 3, 0, sqrt(28.0 / 6), 2);
    s = stats_of(ties, 8);
    CHECK_STATS(s, 8, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0);
}

/* ---- values far out: beyond a quartile by more than 3 times the quartiles' distance ---- */

static void test_outliers(void)
{
    /* quartiles 3 and 7, at ranks 3 and 7: from -9 to 19 */
    static const double none[] = {5, 1, 9, 2, 8, 3, 7, 4, 6};
    static const double inside[] = {19, -9, 5, 2, 8, 3, 7, 4, 6};
    static const double spike[] = {5, 1, 19.5, 2, 8, 3, 7, 4, 6};
    static const double both[] = {5, -9.5, 1000, 2, 8, 3, 7, 4, 6};
    /* quartiles 4.25 and 10.75, at ranks 4.25 and 10.75: from -15.25 to 30.25 */
    static const double more[] = {31, 30, -16, 4, 5, 6, 7, 8, 9, 10, 11, 32, 2, 3};
    static const double constant[] = {2, 2, 2, 2, 2, 2, 2, 2};
    static const double nearly[] = {2, 2, 2, 2.5, 2, 2, 2, 2, 1, 2, 2, 2};
    static const double four[] = {1, 1, 1, 1000}; /* 1000 - 250.75 is 3 (250.75 - 1) */
    static const double five[] = {1, 1, 1, 1, 1000};
    static const double close[] = {1, 1, 1.0000000000000002};
    gpumb_stats s = gpumb_statistics(NULL, 0);
    CHECK_INT(s.outliers, 0);
    CHECK_INT(stats_of(none, 9).outliers, 0);
    CHECK_INT(stats_of(inside, 9).outliers, 0);
    CHECK_INT(stats_of(spike, 9).outliers, 1);
    s = stats_of(both, 9);
    CHECK_INT(s.outliers, 2);
    CHECK_INT(s.count, 9); /* and none is dropped */
    CHECK_NEAR(s.min, -9.5, 0);
    CHECK_NEAR(s.max, 1000, 0);
    CHECK_INT(stats_of(more, 14).outliers, 3);
    CHECK_INT(stats_of(constant, 8).outliers, 0);
    CHECK_INT(stats_of(nearly, 12).outliers, 2);
    CHECK_INT(stats_of(four, 1).outliers, 0);
    CHECK_INT(stats_of(four + 2, 2).outliers, 0);
    CHECK_INT(stats_of(four + 1, 3).outliers, 0);
    CHECK_INT(stats_of(close, 3).outliers, 0);
    CHECK_INT(stats_of(four, 4).outliers, 0);
    CHECK_INT(stats_of(five, 5).outliers, 1);
}

/* ---- ranks of the interval ---- */

/* Of n values in order, those of rank k and n + 1 - k hold the median with probability
 * 1 - 2 P(B <= k - 1), B ~ binomial(n, 1/2). The table has the largest k with at least 0.95 and
 * that probability, from exact sums of binomial coefficients (Python integers). The closest calls
 * below 1200 are 1001, 267 and 438: an approximation gets them wrong. */
static const struct {
    unsigned n, k;
    double coverage;
} ranks[] = {
    {6, 1, 0.96875},
    {7, 1, 0.984375},
    {8, 1, 0.9921875},
    {9, 2, 0.9609375},
    {10, 2, 0.978515625},
    {11, 2, 0.98828125},
    {12, 3, 0.9614257813},
    {13, 3, 0.9775390625},
    {14, 3, 0.9870605469},
    {15, 4, 0.9648437500},
    {16, 4, 0.9787292480},
    {17, 5, 0.9509582520},
    {18, 5, 0.9691162109},
    {19, 5, 0.9807891846},
    {20, 6, 0.9586105347},
    {21, 6, 0.9733963013},
    {22, 6, 0.9830994606},
    {23, 7, 0.9653103352},
    {24, 7, 0.9773441553},
    {25, 8, 0.9567147493},
    {26, 8, 0.9710407257},
    {27, 8, 0.9808427095},
    {28, 9, 0.9643018619},
    {29, 9, 0.9758804552},
    {30, 10, 0.9572260547},
    {31, 10, 0.9705506265},
    {32, 10, 0.9799383930},
    {33, 11, 0.9649179666},
    {34, 11, 0.9756934899},
    {35, 12, 0.9590404085},
    {36, 12, 0.9711832803},
    {37, 13, 0.9529689726},
    {38, 13, 0.9664475603},
    {39, 13, 0.9762972975},
    {40, 14, 0.9615226917},
    {50, 18, 0.9671608624},
    {60, 22, 0.9726598661},
    {70, 27, 0.9586085713},
    {75, 29, 0.9630450960},
    {99, 40, 0.9561247064},
    {100, 40, 0.9647997998},
    {101, 41, 0.9539559331},
    {150, 63, 0.9591315061},
    {200, 86, 0.9599628084},
    {267, 118, 0.9500168237},
    {300, 133, 0.9568715007},
    {438, 199, 0.9500177741},
    {500, 228, 0.9559365304},
    {501, 229, 0.9507837563},
    {999, 469, 0.9502444627},
    {1000, 469, 0.9537088026},
    {1001, 470, 0.9500154765},
    {2000, 956, 0.9534471795},
    {3000, 1446, 0.9534335506},
    {5000, 2431, 0.9506841419},
    {10000, 4902, 0.9511670501},
};
enum { RANKS = sizeof ranks / sizeof ranks[0] };

static double values[200000];

/* Low and high in turns, so that neighbours lie on opposite sides of the median: values that don't
 * are correlated keep the exact ranks. */
static void test_ranks(void)
{
    size_t i, j;
    for (i = 0; i < RANKS; i++) {
        const unsigned n = ranks[i].n;
        gpumb_stats s;
        for (j = 0; j < n; j++)
            values[j] = (double)(j % 2 ? j / 2 + 1 : n - j / 2); /* n, 1, n - 1, 2, ... */
        s = gpumb_statistics(values, n);
        if (!(CHECK_NEAR(s.ci_lo, ranks[i].k, 0) & CHECK_NEAR(s.ci_hi, n + 1 - ranks[i].k, 0)))
            printf("    with %u values\n", n);
        CHECK_INT(s.count, n);
        CHECK_NEAR(s.effective, n, 0);
        CHECK_NEAR(s.median, (n + 1) / 2.0, 0);
        CHECK_NEAR(s.q1, 1 + (n - 1) / 4.0, 1e-9);
        CHECK_NEAR(s.q3, 1 + 3 * (n - 1) / 4.0, 1e-9);
        CHECK_NEAR(s.mean, (n + 1) / 2.0, 1e-9);
        CHECK_NEAR(s.sd, sqrt(n * (n + 1.0) / 12), 1e-9 * n); /* of 1 ... n, with n - 1 */
        CHECK_NEAR(s.min, 1, 0);
        CHECK_NEAR(s.max, n, 0);
        for (j = 0; j < n && values[j] >= (double)(j + 1) && values[j] <= (double)(j + 1); j++) {
        }
        CHECK(j == n); /* "sorts them" */
    }
}

/* ---- ties, ranges, orders ---- */

static void test_range(void)
{
    static const double wide[] = {1e-150, 1e150, 1, 1e-9, 1e9, 1e-30, 1e30};
    static const double offset[] = {1e9 + 2, 1e9, 1e9 + 1, 1e9 + 2, 1e9, 1e9 + 1};
    static const double tiny[] = {3e-9, 1e-9, 2e-9, 5e-9, 4e-9, 6e-9};
    static const double two_levels[] = {9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 9};
    gpumb_stats s = stats_of(wide, 7);
    CHECK_NEAR(s.median, 1, 0);
    CHECK_NEAR(s.min, 1e-150, 0);
    CHECK_NEAR(s.max, 1e150, 0);
    CHECK_NEAR(s.ci_lo, 1e-150, 0);
    CHECK_NEAR(s.ci_hi, 1e150, 0);
    CHECK_NEAR(s.mean / 1e150, 1.0 / 7, 1e-12);
    CHECK_NEAR(s.sd / 1e150, sqrt((36.0 + 6) / 49 / 6), 1e-12);

    /* a sum of squares minus a square of the sum would lose it all */
    s = stats_of(offset, 6);
    CHECK_NEAR(s.mean, 1e9 + 1, 1e-6);
    CHECK_NEAR(s.sd, sqrt(4.0 / 5), 1e-6);
    CHECK_NEAR(s.mad, 1, 1e-6);

    s = stats_of(tiny, 6);
    CHECK_NEAR(s.median, 3.5e-9, 1e-20);
    CHECK_NEAR(s.sd, sqrt(3.5) * 1e-9, 1e-20);

    /* 9 values of 1 and 11 of 9, in turns: ranks 6 and 15 span both levels */
    s = stats_of(two_levels, 20);
    CHECK_NEAR(s.median, 9, 0);
    CHECK_NEAR(s.ci_lo, 1, 0);
    CHECK_NEAR(s.ci_hi, 9, 0);
    CHECK_NEAR(s.mad, 0, 0); /* deviations: 11 of 0, 9 of 8 */
}

/* Orders that make a careless sort quadratic, or overflow its stack. */
static void test_orders(void)
{
    enum { N = 200000 };
    int order;
    for (order = 0; order < 6; order++) {
        gpumb_stats s;
        size_t i;
        double median = (N - 1) / 2.0;
        for (i = 0; i < N; i++)
            switch (order) {
            case 0:
                values[i] = (double)i;
                break;
            case 1:
                values[i] = (double)(N - 1 - i);
                break;
            case 2:
                values[i] = 7, median = 7;
                break;
            case 3:
                values[i] = (double)(i < N / 2 ? 2 * i : 2 * (N - 1 - i) + 1);
                break;
            case 4:
                values[i] = (double)(i % 1000), median = 499.5;
                break;
            default:
                values[i] = (double)(i % 2), median = 0.5;
                break;
            }
        s = gpumb_statistics(values, N);
        CHECK_NEAR(s.median, median, 0);
        for (i = 1; i < N && values[i - 1] <= values[i]; i++) {
        }
        CHECK_INT(i, N);
    }
}

/* ---- coverage ---- */

static double coverage(size_t count, int repetitions, int logarithmic)
{
    int i, held = 0;
    for (i = 0; i < repetitions; i++) {
        gpumb_stats s;
        size_t j;
        for (j = 0; j < count; j++)
            values[j] = logarithmic ? exp(random_normal()) : 10 + random_normal();
        s = gpumb_statistics(values, count);
        held += s.ci_lo <= (logarithmic ? 1 : 10) && s.ci_hi >= (logarithmic ? 1 : 10);
    }
    return (double)held / repetitions;
}

static void test_coverage(void)
{
    static const unsigned counts[] = {6, 7, 10, 17, 20, 30, 100, 300};
    size_t i, j;
    int logarithmic;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (logarithmic = 0; logarithmic < 2; logarithmic++) {
            const int repetitions = counts[i] > 30 ? 4000 : 20000;
            const double seen = coverage(counts[i], repetitions, logarithmic);
            for (j = 0; ranks[j].n != counts[i]; j++) {
            }
            /* Chance correlation makes some intervals wider than by the ranks of independent
             * values, never narrower. Four standard errors of the simulation. */
            const double exact = ranks[j].coverage;
            const double error = 4 * sqrt(exact * (1 - exact) / repetitions);
            if (!(CHECK(seen >= exact - error) & CHECK(seen <= exact + 0.015 + error) &
                  CHECK(counts[i] < 30 || seen <= 0.98)))
                printf("    with %u values: %g, exact %g\n", counts[i], seen, exact);
        }
}

/* Rounds with a time that can be none are left out of a comparison. */
static void test_rounds(void)
{
    const double wrong[] = {NAN, HUGE_VAL, 0, -1};
    double base[40], other[40];
    size_t i, k;
    int which;
    for (k = 0; k < 4; k++)
        for (which = 0; which < 2; which++) {
            for (i = 0; i < 40; i++) {
                base[i] = 1 + 0.001 * random_normal();
                other[i] = 2 + 0.001 * random_normal();
            }
            for (i = 0; i < 40; i += 3)
                (which ? base : other)[i] = wrong[k];
            const gpumb_comparison c = gpumb_compare_rounds(base, other, 40, 0.01, 1);
            CHECK_INT(c.rounds, 26);
            CHECK_NEAR(c.ratio, 2, 0.01);
            CHECK(c.lo > 1.99 && c.hi < 2.01);
            CHECK_INT(c.verdict, GPUMB_VERDICT_SLOWER);
            for (i = 0; i < 40; i++)
                (which ? base : other)[i] = wrong[k];
            CHECK_INT(gpumb_compare_rounds(base, other, 40, 0.01, 1).verdict,
                      GPUMB_VERDICT_UNDECIDED);
        }
}

int main(void)
{
    test_small();
    test_rounds();
    test_outliers();
    test_ranks();
    test_range();
    test_orders();
    test_coverage();
    return CHECK_SUMMARY();
}

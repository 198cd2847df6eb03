/* test_fit.c - bench/fit.h: a line and its intervals. */
#include "bench/fit.h"
#include "check.h"

static int holds(estimate e, double truth)
{
    return e.lo <= truth && truth <= e.hi;
}

int main(void)
{
    /* t of Student's tables, 97.5 % */
    static const double freedom[] = {3, 5, 10, 30}, table[] = {3.182, 2.571, 2.228, 2.042};
    double size[15], time[15];
    int i, round, latency = 0, rate = 0, half = 0;
    unsigned random = 1;
    line_fit f;
    const shared_error none = {0, 0}, some = {0.02, 1e-7};
    estimate wide, narrow;
    for (i = 0; i < 4; i++)
        CHECK(fabs(students_t(freedom[i]) / table[i] - 1) < 0.01);

    for (i = 0; i < 15; i++) {
        size[i] = pow(4, i + 1);
        time[i] = 3e-6 + size[i] / 50e9;
    }
    f = fit_line(size, time, 15);
    CHECK(f.count == 15);
    CHECK(fabs(f.latency.value / 3e-6 - 1) < 1e-9 && fabs(f.rate.value / 50e9 - 1) < 1e-9);
    CHECK(fabs(f.half.value / 150e3 - 1) < 1e-9);
    CHECK(fit_line(size, time, 4).count == 0);

    /* With noise of 5 %, some 95 of 100 intervals hold the truth. */
    for (round = 0; round < 1000; round++) {
        for (i = 0; i < 15; i++) {
            double noise = 0;
            int k;
            for (k = 0; k < 12; k++) {
                random = random * 1664525u + 1013904223u;
                noise += (random >> 8) / 16777216.0;
            }
            time[i] = (3e-6 + size[i] / 50e9) * (1 + 0.05 * (noise - 6));
        }
        f = fit_line_with(size, time, 15, none);
        latency += holds(f.latency, 3e-6);
        rate += holds(f.rate, 50e9);
        half += holds(f.half, 150e3);
    }
    CHECK(latency > 920 && latency < 980);
    CHECK(rate > 920 && rate < 980);
    CHECK(half > 920 && half < 980);

    /* What the times share does not show in them: it widens what it reaches. */
    wide = fit_line_with(size, time, 15, some).rate;
    narrow = fit_line_with(size, time, 15, none).rate;
    CHECK(fabs(wide.value / narrow.value - 1) < 1e-12);
    CHECK(
        fabs(hypot(narrow.hi - narrow.value, 1.96 * 0.02 * narrow.value) / (wide.hi - wide.value) -
             1) < 1e-4);
    wide = fit_line_with(size, time, 15, some).half;
    narrow = fit_line_with(size, time, 15, none).half;
    CHECK(fabs(hypot(narrow.hi - narrow.value, 1.96e-7 * f.rate.value) / (wide.hi - wide.value) -
               1) < 1e-4);

    /* A line with a kink is held, or is none. */
    for (i = 0; i < 15; i++)
        time[i] = 3e-6 + (size[i] < 1e6 ? size[i] / 50e9 : 2e-5 + (size[i] - 1e6) / 25e9);
    f = fit_line(size, time, 15);
    CHECK(!f.count || (holds(f.latency, 3e-6) && holds(f.rate, 50e9) && holds(f.rate, 25e9)));

    for (i = 0; i < 15; i++) /* as long for a byte as for a GB: no rate */
        time[i] = 1e-6 * (1 + 0.1 * (i % 2));
    CHECK(fit_line(size, time, 15).count == 0);
    return CHECK_SUMMARY();
}

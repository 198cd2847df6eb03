/* A straight line through times: what a message of no bytes takes, and what each byte adds. */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include <math.h>
#include <stddef.h>

/* A figure and its 95 % interval. */
typedef struct estimate {
    double value, lo, hi;
} estimate;

/* time = latency + size / rate. `half` is the size at which half the rate is reached, latency *
 * rate: the n 1/2 of Hockney & Jesshope (Parallel Computers, 1981). count: 0 if there is no line:
 * fewer than 5 times, or none of them shows a rate, as also where they bend too much. */
typedef struct line_fit {
    size_t count;
    estimate latency, rate, half;
} line_fit;

/* What all times of a fit have in common, so that their spread about the line does not show it:
 * standard deviations of a factor (clocks, cards) and of a constant in seconds (launching). */
typedef struct shared_error {
    double factor, constant_s;
} shared_error;

/* The quantile of Student's t that 2.5 % are above (Abramowitz & Stegun 26.7.5; within 1 % from 3
 * degrees of freedom on). */
static inline double students_t(double freedom)
{
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

static inline estimate estimate_of(double value, double variance, double t, double shared)
{
    const double half = sqrt(t * t * fmax(variance, 0) + 1.959964 * 1.959964 * shared * shared);
    const estimate e = {value, value - half, value + half};
    return e;
}

/* Least squares of the errors relative to `about`, so that short times count as much as long ones,
 * where each error is `phi` times that of the size before it and something new. */
typedef struct weighted_fit {
    double latency, slope, latency_variance, slope_variance, covariance;
    double likelihood; /* of phi, restricted (REML), as a logarithm */
} weighted_fit;

static inline int fit_weighted(weighted_fit *f, const double *size, const double *time,
                               const double *about, size_t count, double phi)
{
    const double fresh = 1 - phi * phi, n = (double)count;
    double w = 0, x = 0, xx = 0, y = 0, xy = 0, squares = 0, determinant = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            const size_t before = i ? i - 1 : 0;
            const double now = (i ? 1 : sqrt(fresh)) / about[i];
            const double last = i ? phi / about[before] : 0;
            const double a = now - last, b = now * size[i] - last * size[before];
            const double c = now * time[i] - last * time[before];
            const double error = c - f->latency * a - f->slope * b;
            if (pass) {
                squares += error * error;
                continue;
            }
            w += a * a;
            x += a * b;
            xx += b * b;
            y += a * c;
            xy += b * c;
        }
        determinant = w * xx - x * x;
        if (!(determinant > 0))
            return 0;
        f->latency = (xx * y - x * xy) / determinant;
        f->slope = (w * xy - x * y) / determinant;
    }
    const double s2 = squares / (n - 2);
    f->latency_variance = s2 * xx / determinant;
    f->slope_variance = s2 * w / determinant;
    f->covariance = -s2 * x / determinant;
    f->likelihood = -((n - 1) * log(fresh) + log(determinant / (fresh * fresh)) +
                      (n - 2) * log(squares / fresh + 1e-30)) /
                    2;
    return 1;
}

/* Errors of neighbouring sizes may be alike, as also where the line has a kink. How much is
 * estimated: the mean of `phi` in steps of 0.05 by their likelihoods, where 0 counts ten times. Few
 * sizes show little of it, so that what is above 0.12 is taken as 1 + 60 / count times as much. The
 * three numbers are from simulation: intervals hold in 90 % and more with errors that are
 * independent, or alike by 0.5 ... 0.9, of 6 ... 25 sizes (tests/coverage.c). */
static inline line_fit fit_line_with(const double *size, const double *time, size_t count,
                                     shared_error shared)
{
    enum { MOST = 1000, STEPS = 20 };
    line_fit f = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    weighted_fit fit = {0, 0, 0, 0, 0, 0};
    double about[MOST], sum = 0, weights = 0, first = 0;
    if (count < 5 || count > MOST || !fit_weighted(&fit, size, time, time, count, 0))
        return f;
    for (size_t i = 0; i < count; i++)
        about[i] = fmax(fit.latency + fit.slope * size[i], time[i] / 2);
    for (int step = 0; step < STEPS; step++) {
        if (!fit_weighted(&fit, size, time, about, count, 0.05 * step))
            return f;
        first = step ? first : fit.likelihood;
        const double weight = (step ? 1 : 10) * exp(fmin(fit.likelihood - first, 500));
        weights += weight;
        sum += weight * 0.05 * step;
    }
    const double n = (double)count, seen = fmax(sum / weights - 0.12, 0);
    const double taken = fmin(seen * (1 + 60 / n), 0.95);
    if (!fit_weighted(&fit, size, time, about, count, taken) || !(fit.slope > 0))
        return f;
    const double t = students_t(n - 2), rate = 1 / fit.slope, half = fit.latency * rate;
    const double constant = shared.constant_s, factor = shared.factor;
    f.latency =
        estimate_of(fit.latency, fit.latency_variance, t,
                    sqrt(factor * fit.latency * factor * fit.latency + constant * constant));
    f.rate = estimate_of(rate, fit.slope_variance * rate * rate * rate * rate, t, factor * rate);
    f.half = estimate_of(
        half,
        (fit.latency_variance - 2 * fit.covariance * half + fit.slope_variance * half * half) *
            rate * rate,
        t, constant * rate); /* a factor leaves it alone */
    f.count = f.rate.lo > 0 ? count : 0;
    return f;
}

/* Times of launches and copies: 1 %, by which figures move from card to card, and 50 ns. */
static inline line_fit fit_line(const double *size, const double *time, size_t count)
{
    const shared_error usual = {0.01, 50e-9};
    return fit_line_with(size, time, count, usual);
}

#endif

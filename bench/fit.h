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
 * rate: the n 1/2 of Hockney & Jesshope (Parallel Computers, 1981). count: 0 if there are fewer
 * than 5 times, or none of them shows a rate. */
typedef struct line_fit {
    size_t count;
    estimate latency, rate, half;
} line_fit;

/* The quantile of Student's t that 2.5 % are above (Abramowitz & Stegun 26.7.5; within 1 % from 3
 * degrees of freedom on). */
static inline double students_t(double freedom)
{
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

static inline estimate estimate_of(double value, double variance, double t)
{
    const estimate e = {value, value - t * sqrt(variance), value + t * sqrt(variance)};
    return e;
}

/* Least squares of the relative errors, so that short times count as much as long ones. What a line
 * can't follow makes the intervals wide. */
static inline line_fit fit_line(const double *size, const double *time, size_t count)
{
    line_fit f = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double w = 0, x = 0, xx = 0, y = 0, xy = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double weight = 1 / (time[i] * time[i]);
        w += weight;
        x += weight * size[i];
        xx += weight * size[i] * size[i];
        y += weight * time[i];
        xy += weight * size[i] * time[i];
    }
    const double determinant = w * xx - x * x;
    const double latency = (xx * y - x * xy) / determinant, slope = (w * xy - x * y) / determinant;
    if (count < 5 || !(determinant > 0) || !(slope > 0))
        return f;
    for (size_t i = 0; i < count; i++) {
        const double error = (latency + slope * size[i]) / time[i] - 1;
        squares += error * error;
    }
    const double freedom = (double)count - 2, t = students_t(freedom), s2 = squares / freedom;
    const double vl = s2 * xx / determinant, vs = s2 * w / determinant, c = -s2 * x / determinant;
    f.latency = estimate_of(latency, vl, t);
    f.rate = estimate_of(1 / slope, vs / (slope * slope * slope * slope), t);
    f.half = estimate_of(latency / slope,
                         (vl - 2 * c * latency / slope + vs * latency * latency / slope / slope) /
                             (slope * slope),
                         t);
    f.count = f.rate.lo > 0 ? count : 0;
    return f;
}

#endif

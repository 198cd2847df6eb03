/* What the solvers on a grid share beside kernels.h: two grids compared, and a problem whose
 * solution is known. Include it after gpumb.h. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include "bench.h"
#include "kernels.h"

#include <vector>

enum { HOST_MOST = 512 }; /* points a side up to which the host checks all of them */

/* ---- two grids ------------------------------------------------------------------------------- */

/* Adds up how many points of two grids differ in a bit, and the index of the first. */
template <class Type>
static __global__ void count_different(const Type *a, const Type *b, grid of,
                                       unsigned long long *different)
{
    GPUMB_GRID_STRIDE(i, (uint64_t)of.n * of.n) {
        const uint64_t at = i / of.n * of.pitch + i % of.n;
        if (!(a[at] == b[at])) {
            atomicAdd(&different[0], 1ull);
            atomicMin(&different[1], (unsigned long long)i);
        }
    }
}

template <class Type>
static inline int same_points(gpumb *g, gpumb_buffer *found, gpumb_buffer *wanted,
                              gpumb_buffer *counts, grid of)
{
    unsigned long long different[2] = {0, ~0ull};
    if (gpumb_write(g, counts, 0, different, sizeof different))
        return 0;
    GPUMB_LAUNCH(count_different<Type>, 1024, 256, 0, GPUMB_PTR(const Type, found),
                 GPUMB_PTR(const Type, wanted), of, GPUMB_PTR(unsigned long long, counts));
    if (gpumb_read(g, counts, 0, different, sizeof different))
        return 0;
    if (different[0])
        gpumb_reason(g, "wrong points: %llu, the first at x = %llu, y = %llu", different[0],
                     different[1] % of.n, different[1] / of.n);
    return different[0] == 0;
}

/* ---- a known solution ------------------------------------------------------------------------ */

/* The solution of -u'' = f: 16 x (1 - x) y (1 - y), which the difference quotients of second order
 * leave without an error. */
static inline double exact_solution(unsigned x, unsigned y, unsigned n)
{
    const double h = 1 / (double)(n - 1), a = x * h, b = y * h;
    return 16 * a * (1 - a) * b * (1 - b);
}

/* h^2 f for it. */
static inline double exact_right_side(unsigned x, unsigned y, unsigned n)
{
    const double h = 1 / (double)(n - 1), a = x * h, b = y * h;
    return 32 * h * h * (a * (1 - a) + b * (1 - b));
}

/* A grid with `scale` times this right side, 0 at the border. */
static inline void write_right_side(gpumb *g, gpumb_buffer *to, grid of, double scale)
{
    std::vector<double> f(to ? (size_t)elements(of) : 0, 0);
    for (unsigned y = 1; y + 1 < of.n && to; y++)
        for (unsigned x = 1; x + 1 < of.n; x++)
            f[(size_t)y * of.pitch + x] = scale * exact_right_side(x, y, of.n);
    if (to)
        gpumb_write(g, to, 0, f.data(), f.size() * sizeof(double));
}

#endif

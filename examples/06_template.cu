/* 06: one kernel template, measured for types and constants that are axes, and an axis of real
 * numbers. Each can be chosen on the command line:
 *     --axis type=double --axis unroll=4 --axis a=0:1:+0.25 */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#define TYPES float, double, unsigned
#define UNROLLS 1, 2, 4

template <class T, int Unroll> __global__ void axpy(T a, const T *x, T *y, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n / Unroll)
        for (int k = 0; k < Unroll; k++)
            y[i * Unroll + (uint64_t)k] += a * x[i * Unroll + (uint64_t)k];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t n = 1 << 20;
    GPUMB_SWEEP_TYPES(g, type, TYPES)
        GPUMB_SWEEP_LIST(g, unroll, UNROLLS)
            GPUMB_SWEEP_REALS(g, a, 0.5, 1e-3) {
                gpumb_buffer *x = gpumb_alloc(g, 8 * n), *y = gpumb_alloc(g, 8 * n);
                gpumb_fill(g, x, GPUMB_FILL_ZERO, 0);
                gpumb_fill(g, y, GPUMB_FILL_ZERO, 0);
                GPUMB_MEASURE(g, "axpy")
                    GPUMB_FOR_TYPES(
                        type, T, (TYPES),
                        GPUMB_FOR_CONSTANTS(unroll, U, (UNROLLS),
                                            GPUMB_LAUNCH((axpy<T, U>), n / 256 / U, 256, 0,
                                                         static_cast<T>(a), GPUMB_PTR(const T, x),
                                                         GPUMB_PTR(T, y), n)));
            }
    size_t best = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (gpumb_row(g, i)->time.median < gpumb_row(g, best)->time.median)
            best = i;
    gpumb_note(g, "fastest with a = %g", gpumb_row_value(g, best, "a"));
    return gpumb_close(g);
}

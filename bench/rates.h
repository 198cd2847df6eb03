/* What the arithmetic units of a multiprocessor (AMD: of a compute unit) do in a clock, as their
 * vendors state it, and rows as shares of that. Include it after gpumb.h and bench.h. */
#ifndef BENCH_RATES_H
#define BENCH_RATES_H

#include <math.h>
#include <string.h>

enum {
    UNIT_F32, /* the header knows it, for more devices */
    UNIT_F64,
    UNIT_F16,
    UNIT_ADD,
    UNIT_MULTIPLY_ADD,
    UNIT_LOGIC,
    UNIT_SHIFT,
    UNIT_SPECIAL,
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_F64,
    TENSOR_I8,
    TENSOR_E4M3,
    UNITS,
    NO_UNIT = UNITS /* nothing is stated */
};

/* Operations in a clock of a multiprocessor, a multiply-add counted as 2; 0: not known.
 *
 * NVIDIA: results a clock and multiprocessor, CUDA C++ Programming Guide, "Arithmetic
 * Instructions" (since CUDA 13 Best Practices Guide, 12.1.1): fp64, fp16 in pairs, integers of 32
 * bits (addition, multiply-add, logic, shift), and 32-bit reciprocal, its root, logarithm,
 * exponential, sine; those of multiply-adds twice. What tensor cores do: white papers on the A100
 * and the H100, dense matrices. AMD: white papers on CDNA 2 and CDNA 3, and what AMD's matrix
 * instruction calculator prints. */
static inline double unit_rate(gpumb *g, int unit)
{
    static const struct {
        const char *arch; /* begins with this */
        double of[UNITS];
    } table[] = {{"sm_70", {0, 64, 256, 64, 128, 64, 64, 16}},
                 {"sm_75", {0, 4, 256, 64, 128, 64, 64, 16}},
                 {"sm_80", {0, 64, 512, 64, 128, 64, 64, 16, 2048, 2048, 1024, 128, 4096}},
                 {"sm_86", {0, 4, 256, 64, 128, 64, 64, 16}},
                 {"sm_89", {0, 4, 256, 64, 128, 64, 64, 16}},
                 {"sm_90", {0, 128, 512, 64, 128, 64, 64, 16, 4096, 4096, 2048, 256, 8192, 8192}},
                 {"gfx90a", {0, 128, 0, 0, 0, 0, 0, 0, 1024, 1024, 0, 256, 1024}},
                 {"gfx942", {0, 128, 0, 0, 0, 0, 0, 0, 2048, 2048, 1024, 256, 4096, 4096}}};
    const gpumb_device *d = gpumb_get_device(g);
    if (unit == UNIT_F32 && d->sm_clock_hz > 0 && d->multiprocessors > 0)
        return d->peak_flop_per_s / d->sm_clock_hz / d->multiprocessors;
    for (size_t i = 0; i < COUNT(table) && unit < UNITS; i++)
        if (!strncmp(d->arch, table[i].arch, strlen(table[i].arch)))
            return table[i].of[unit];
    return 0;
}

/* Operations a second of all of them at the highest clock; HUGE_VAL: not known. */
static inline double unit_peak(gpumb *g, int unit)
{
    const gpumb_device *d = gpumb_get_device(g);
    const double rate = unit_rate(g, unit);
    return rate > 0 ? rate * d->sm_clock_hz * d->multiprocessors : HUGE_VAL;
}

/* "f16 2720 (66.4 %) at 1799 MHz": operations of a row in a clock of those that its kernel has
 * counted, and their share. */
static inline void say_per_clock(gpumb *g, sentence *s, size_t row, const char *name, int unit)
{
    const gpumb_result *r = gpumb_row(g, row);
    const double clock_hz = 1e6 * gpumb_row_value(g, row, "kernel_clock_mhz");
    const int multiprocessors = gpumb_get_device(g)->multiprocessors;
    if (!r || !(r->gflops > 0) || !(clock_hz > 0) || multiprocessors < 1)
        return;
    const double rate = r->gflops * 1e9 / (clock_hz * multiprocessors), stated = unit_rate(g, unit);
    say_next(s, ", ");
    say(s, "%s %.*f", name, rate < 100 ? 1 : 0, rate);
    if (stated > 0)
        say(s, " (%.1f %%)", 100 * rate / stated);
    say(s, " at %.0f MHz", clock_hz / 1e6);
}

#endif

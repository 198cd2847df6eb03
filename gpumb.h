/*
gpumb.h - v0.1.0 - time GPU kernels correctly - MIT or public domain, no warranty

One header, C99 and C++11, for CUDA (nvcc), HIP (hipcc) and, without a GPU, any C or C++ compiler.

CONTENTS (search for the words in capitals)

    QUICK START             three lines to a time, three more to a sweep
    HOW IT MEASURES         what happens to a region, and what a row says
    CONFIGURATION           switches to define before the include
    PUBLIC API              types and functions
    LAUNCHING               GPUMB_LAUNCH, for every backend
    CPU KERNELS             threadIdx, __shared__, __shfl_sync ... for the CPU backend
    IMPLEMENTATION          below here only with GPUMB_IMPLEMENTATION
        TEXT                strings, numbers and units
        BACKEND             the only place that names cuda..., hip...
        CPU EMULATION       blocks over cores, fibers, barriers
        CONTEXT             what a context holds; errors and flags
        BUFFERS             memory with a seed, poison and a guard zone
        STATISTICS          median and its interval
        CLOCK               calibration: quantum, floor, ceiling
        SAMPLING            warm-up, batches, the stopping rule
        REGIONS             the state machine behind GPUMB_MEASURE
        SWEEPS              enumerate first, then one configuration a pass
        ROWS                derived figures and flags
        SINKS               terminal, CSV, JSON, Markdown
        COMMAND LINE        options and their errors
        PROGRAM             open, run benchmarks, close
        REFERENCE KERNELS   empty, copy, zcopy
    REVISION HISTORY
    LICENCE

QUICK START

    #define GPUMB_IMPLEMENTATION
    #include "gpumb.h"

    __global__ void scale(float *x, float a)
    {
        x[blockIdx.x * (size_t)blockDim.x + threadIdx.x] *= a;
    }

    int main(void)
    {
        gpumb_buffer *x = gpumb_alloc(NULL, sizeof(float) << 24);
        gpumb_fill(NULL, x, GPUMB_FILL_F32, 1);
        gpumb_result r;
        GPUMB_TIME(&r) GPUMB_LAUNCH(scale, (1 << 24) / 256, 256, 0, GPUMB_PTR(float, x), 2.0f);
        gpumb_print_result(&r);
        return 0;
    }

    nvcc -O3 -arch=native scale.cu      hipcc -O3 scale.hip      g++ -O3 -x c++ scale.cu -pthread

HOW IT MEASURES

A *region* is the block after GPUMB_MEASURE or GPUMB_TIME. The engine runs it as often as it needs,
zero times included, so it must be repeatable and do nothing but launch or copy on gpumb_stream().
`continue` and `break` end one run of the body. Leaving it by `return` is an error that the next
call reports.

For each region: poison the outputs; run once and keep that first time apart (module load, page
faults); check the result; warm up until times have settled; sample until the 95 % interval of the
median is within the wanted precision; poison, run and check once more; write a row.

Every time has a way (`timing`) and a meaning (`meaning`):
    event   an event pair around one run: the span of the work, plus the cost of the pair
    batch   an event pair around many runs: the interval that one more run costs in a full queue
    host    the host's clock, from before the launch to after its completion: latency

A *sweep* runs its body once for every combination of its axes. The outermost sweep first walks
through all combinations with regions skipped, so that every axis is known before the first output;
then it runs one combination a pass. Code in a sweep therefore runs more often than it seems to:
keep it to allocation, filling and the region. `continue` and `break` end one configuration.

Trouble with one configuration (no memory, launch refused, wrong result) stays in its row and the
sweep goes on. Trouble with everything (bad option, disk full, device lost) stays in the context:
later calls do nothing, and gpumb_close() says what happened and returns the exit code.

A context belongs to one thread.
*/
#ifndef GPUMB_H
#define GPUMB_H

#define GPUMB_VERSION "0.1.0"

/* ================================================================================================
 * CONFIGURATION
 *
 *     GPUMB_IMPLEMENTATION         in exactly one source file, before the include
 *     GPUMB_STATIC                 all functions static: for use inside another library
 *     GPUMB_BACKEND_CUDA, _HIP, _CPU   choose; else the compiler decides (nvcc, hipcc, any other)
 *     GPUMB_NO_KERNELS             leave the reference kernels out of the implementation
 *     GPUMB_MALLOC(n), GPUMB_FREE(p)   host memory of the library; both or none
 *     GPUMB_ASSERT(x)              checks of the library on itself
 *     GPUMB_LOG(text)              receives every line for the user; default: standard error
 */
#if defined(GPUMB_BACKEND_CUDA) + defined(GPUMB_BACKEND_HIP) + defined(GPUMB_BACKEND_CPU) > 1
#error "gpumb: define one of GPUMB_BACKEND_CUDA, GPUMB_BACKEND_HIP and GPUMB_BACKEND_CPU"
#endif
#if !defined(GPUMB_BACKEND_CUDA) && !defined(GPUMB_BACKEND_HIP) && !defined(GPUMB_BACKEND_CPU)
#if defined(__HIP__) || defined(__HIPCC__)
#define GPUMB_BACKEND_HIP
#elif defined(__CUDACC__)
#define GPUMB_BACKEND_CUDA
#else
#define GPUMB_BACKEND_CPU
#endif
#endif

#if defined(GPUMB_MALLOC) != defined(GPUMB_FREE)
#error "gpumb: define both GPUMB_MALLOC and GPUMB_FREE, or none of them"
#endif

/* The implementation needs POSIX 2008 (clock_gettime, sigaction). Strict modes such as -std=c99 hide
 * it unless asked; asking has an effect only before the first system header. */
#if defined(GPUMB_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <stddef.h>
#include <stdint.h>
#if defined(GPUMB_BACKEND_CUDA)
#include <cuda_runtime.h>
#elif defined(GPUMB_BACKEND_HIP)
#include <hip/hip_runtime.h>
#endif

#ifdef GPUMB_STATIC
#if defined(__GNUC__) || defined(__clang__)
#define GPUMB_API __attribute__((unused)) static
#else
#define GPUMB_API static
#endif
#else
#define GPUMB_API extern
#endif

#if defined(__GNUC__) || defined(__clang__)
#define GPUMBI_PRINTF(format, first) __attribute__((format(printf, format, first)))
#else
#define GPUMBI_PRINTF(format, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ================================================================================================
 * PUBLIC API
 *
 * Wherever a function takes a `gpumb *`, NULL stands for the context that was opened last, or, if
 * none is open, for a default one that is opened on first use. Sizes are bytes, times are seconds,
 * rates are decimal (1 GB/s = 1e9 byte/s), unless a name says otherwise. "Unknown" is 0 in figures
 * that can't be 0 and -1 elsewhere.
 */

typedef struct gpumb gpumb;               /* a context: device, settings, sinks, rows */
typedef struct gpumb_buffer gpumb_buffer; /* memory on the device */
typedef struct gpumb_axis gpumb_axis;     /* one axis of a sweep */

/* ---- settings and the context ---------------------------------------------------------------- */

enum { /* exit codes, as gpumb_close() returns them */
    GPUMB_EXIT_OK = 0,
    GPUMB_EXIT_FAILED = 1,       /* a check failed */
    GPUMB_EXIT_USAGE = 2,        /* bad command line */
    GPUMB_EXIT_NO_DEVICE = 3,    /* no device, or no driver */
    GPUMB_EXIT_ERROR = 4,        /* device, memory or output error */
    GPUMB_EXIT_INTERRUPTED = 130 /* Ctrl-C */
};

/* What the command line sets. Zero in a field means its default. */
typedef struct gpumb_settings {
    double precision;     /* wanted half-width of the 95 % interval over the median; 0.01 */
    double budget_s;      /* most seconds of sampling for a row; 2 */
    double warmup_s;      /* most seconds of warm-up for a row; 0.5; negative: none */
    uint64_t min_samples; /* 30 */
    uint64_t max_samples; /* 10000; at most 10 million */
    uint64_t seed;        /* of random data; 1 */
    double peak_gbps;     /* theoretical memory bandwidth; what the device reports */
    int device;           /* ordinal */
    int full;             /* 1: the full profile of the benchmarks; 0: the quick one */
    int no_color;         /* 1: no colours, even on a terminal */
    int quiet;            /* 1: no table on standard output */
    const char *csv;      /* file names, "-" for standard output, NULL for none */
    const char *json;
    const char *markdown;
} gpumb_settings;

GPUMB_API gpumb_settings gpumb_settings_default(void);

/* Opens a context from a program's arguments (gpumb_help_text() lists the options). Never returns
 * NULL: after an error the context does nothing, and gpumb_close() returns the exit code.
 * Cost: that of creating the device's context, about 0.3 s on an H200, and 20 ms of calibration. */
GPUMB_API gpumb *gpumb_open(int argc, char **argv);

/* The same from a struct; `program` names the rows and messages. */
GPUMB_API gpumb *gpumb_open_settings(const char *program, const gpumb_settings *settings);

/* 1 while the context works; 0 after an error, an interrupt, or --help. */
GPUMB_API int gpumb_ok(const gpumb *g);

/* Completes the files, prints the summary, frees everything. Returns the exit code. */
GPUMB_API int gpumb_close(gpumb *g);

/* The settings in force. */
GPUMB_API const gpumb_settings *gpumb_get_settings(gpumb *g);

/* The text of --help. */
GPUMB_API const char *gpumb_help_text(void);

/* ---- several benchmarks in one program ------------------------------------------------------- */

typedef struct gpumb_benchmark {
    const char *name;
    const char *description; /* one line, for --list */
    void (*run)(gpumb *g);   /* runs at least twice: once to enumerate, with regions skipped */
} gpumb_benchmark;

/* Runs the benchmarks that --filter selects, or lists them. Returns the exit code, as gpumb_close(). */
GPUMB_API int gpumb_main(int argc, char **argv, const gpumb_benchmark *list, size_t count);

/* GPUMB_MAIN(list) is a main() for an array of benchmarks. */
#define GPUMB_MAIN(list)                                                                            \
    int main(int argc, char **argv)                                                                 \
    {                                                                                               \
        return gpumb_main(argc, argv, (list), sizeof(list) / sizeof((list)[0]));                    \
    }

/* ---- device and stream ----------------------------------------------------------------------- */

typedef struct gpumb_device {
    char name[128];
    char backend[8]; /* "cuda", "hip", "cpu" */
    char arch[32];   /* "sm_90", "gfx90a", "x86-64" */
    int ordinal;
    int multiprocessors; /* compute units; cores on the CPU */
    int warp_size;       /* 32 or 64 */
    int max_block;       /* threads in a block */
    int max_threads;     /* resident threads on a multiprocessor */
    int bus_width_bits;  /* 0: unknown */
    int ecc;             /* 1 on, 0 off, -1 unknown */
    uint64_t memory_bytes;
    uint64_t l1_bytes; /* of one multiprocessor; 0: unknown */
    uint64_t l2_bytes; /* of the device; on the CPU the last-level cache */
    double sm_clock_hz;
    double memory_clock_hz;
    double peak_bytes_per_s; /* 2 transfers a clock x bus width, or --peak; 0: unknown */
    double peak_flop_per_s;  /* fp32, a multiply-add counted as 2; 0: unknown */
    double quantum_s;        /* smallest difference that the event clock shows */
    double floor_s;          /* an empty event pair */
    double empty_kernel_s;   /* an empty kernel in an event pair */
    double interval_s;       /* an empty kernel in a full queue */
    double ceiling_bytes_per_s; /* measured copy rate (Memcpy, read + write); 0 until needed */
} gpumb_device;

GPUMB_API const gpumb_device *gpumb_get_device(gpumb *g);

/* The stream that everything runs on: cudaStream_t or hipStream_t as a pointer. The context has one
 * of its own, ordered with the legacy default stream; gpumb_set_stream() hands in another. */
GPUMB_API void *gpumb_stream(gpumb *g);
GPUMB_API void gpumb_set_stream(gpumb *g, void *stream);

/* ---- buffers --------------------------------------------------------------------------------- */

typedef enum gpumb_fill_kind {
    GPUMB_FILL_BITS, /* random bits */
    GPUMB_FILL_F32,  /* floats, uniform in [-1, 1) */
    GPUMB_FILL_F64,  /* doubles, uniform in [-1, 1) */
    GPUMB_FILL_ZERO
} gpumb_fill_kind;

/* Memory on the device, aligned to 256 bytes, with a guard zone behind it that verification checks.
 * Returns NULL when it does not fit or while a sweep enumerates; then the next regions are skipped
 * with the reason, and every function here accepts the NULL and does nothing. Freed at the end of
 * the sweep's pass, of the benchmark or of the context in which it was allocated, or before. */
GPUMB_API gpumb_buffer *gpumb_alloc(gpumb *g, uint64_t bytes);
GPUMB_API void gpumb_free(gpumb *g, gpumb_buffer *b);

GPUMB_API void *gpumb_data(const gpumb_buffer *b);
GPUMB_API uint64_t gpumb_size(const gpumb_buffer *b);
#define GPUMB_PTR(type, buffer) ((type *)gpumb_data(buffer))

/* Fills on the device from a counter-based generator (word i depends on seed and i alone; splitmix64,
 * Steele et al., OOPSLA 2014). The kind and the seed appear in the rows that follow. */
GPUMB_API void gpumb_fill(gpumb *g, gpumb_buffer *b, gpumb_fill_kind kind, uint64_t seed);

/* The 64-bit word i of such a fill, for references on the host. */
GPUMB_API uint64_t gpumb_fill_word(gpumb_fill_kind kind, uint64_t seed, uint64_t i);

/* Sets every byte to 0xff (NaN as fp32 and fp64, -1 as integer). */
GPUMB_API void gpumb_poison(gpumb *g, gpumb_buffer *b);

/* Compares the first `bytes` of two buffers on the device. Returns the number of differing bytes
 * and, unless NULL, the offset of the first. A call that could not compare counts all as different. */
GPUMB_API uint64_t gpumb_compare(gpumb *g, const gpumb_buffer *a, const gpumb_buffer *b,
                                 uint64_t bytes, uint64_t *first);

/* Copies between a buffer and the host; complete on return. 0, or -1 with the context in error. */
GPUMB_API int gpumb_read(gpumb *g, const gpumb_buffer *b, uint64_t offset, void *host,
                         uint64_t bytes);
GPUMB_API int gpumb_write(gpumb *g, gpumb_buffer *b, uint64_t offset, const void *host,
                          uint64_t bytes);

/* The vendor's copy from device to device on the context's stream, asynchronous (on the CPU: memcpy
 * on all cores). A yardstick, and allowed in a region. */
GPUMB_API void gpumb_memcpy(gpumb *g, void *to, const void *from, uint64_t bytes);

/* ---- describing the next region -------------------------------------------------------------- */

typedef int (*gpumb_check)(gpumb *g, void *user); /* 1 right, 0 wrong; gpumb_reason() says why */
typedef void (*gpumb_hook)(gpumb *g, void *user);

typedef enum gpumb_timing {
    GPUMB_TIMING_AUTO, /* events, batched when short; the host's clock on the CPU */
    GPUMB_TIMING_EVENT,
    GPUMB_TIMING_BATCH,
    GPUMB_TIMING_HOST
} gpumb_timing;

/* These describe the next region and are forgotten when it has ended. */
GPUMB_API void gpumb_set_bytes(gpumb *g, double bytes_read_and_written); /* by one run of the body */
GPUMB_API void gpumb_set_flop(gpumb *g, double floating_point_operations);
GPUMB_API void gpumb_set_footprint(gpumb *g, uint64_t bytes); /* touched; gives the `cache` column */
GPUMB_API void gpumb_set_timing(gpumb *g, gpumb_timing timing);
GPUMB_API void gpumb_set_output(gpumb *g, gpumb_buffer *b); /* poison before a check; up to 8 */
GPUMB_API void gpumb_set_verify(gpumb *g, gpumb_check check, void *user);
GPUMB_API void gpumb_set_reset(gpumb *g, gpumb_hook reset, void *user); /* untimed, before each run */

/* Skips the next region with a reason; says why a check failed. */
GPUMB_API void gpumb_skip(gpumb *g, const char *format, ...) GPUMBI_PRINTF(2, 3);
GPUMB_API void gpumb_reason(gpumb *g, const char *format, ...) GPUMBI_PRINTF(2, 3);

/* ---- results --------------------------------------------------------------------------------- */

typedef struct gpumb_stats {
    uint64_t count;
    double median, ci_lo, ci_hi; /* 95 % interval of the median; count < 6: both 0 */
    double min, q1, q3, max, mean, sd, mad;
} gpumb_stats;

/* Statistics of `count` values; sorts them. Median and quartiles are interpolated order statistics
 * (type 7 of Hyndman & Fan 1996). The interval is the narrowest symmetric pair of order statistics
 * that covers the median with at least 95 % (binomial, no distribution assumed; Le Boudec 2010,
 * Hoefler & Belli SC15). O(n log n). */
GPUMB_API gpumb_stats gpumb_statistics(double *values, uint64_t count);

typedef enum gpumb_status { GPUMB_STATUS_OK, GPUMB_STATUS_SKIPPED, GPUMB_STATUS_FAILED } gpumb_status;

typedef enum gpumb_stop {
    GPUMB_STOP_NONE,
    GPUMB_STOP_PRECISION, /* the interval is narrow enough */
    GPUMB_STOP_SAMPLES,   /* the largest number of samples is reached */
    GPUMB_STOP_BUDGET     /* the time is used up */
} gpumb_stop;

/* What makes a figure suspicious: name, and what it means. The names stand in the `flags` column. */
#define GPUMB_FLAGS(X)                                                                              \
    X(UNVERIFIED, "unverified", "no check was set: the kernel may compute anything")                \
    X(NOISY, "noisy", "sampling ended before the interval was narrow enough")                       \
    X(FEW_SAMPLES, "few-samples", "fewer than 6 samples have no 95 % interval")                     \
    X(RESOLUTION, "resolution", "the time is close to the clock's quantum or the event pair's cost") \
    X(ABOVE_PEAK, "above-peak", "faster than the theoretical peak: wrong bytes, peak, or a cache")  \
    X(CACHED, "cached", "the footprint fits a cache: this is not a memory rate")                    \
    X(BAD_TIME, "bad-time", "the clock showed times of zero or less, which were left out")          \
    X(UNSETTLED, "unsettled", "times still changed when the warm-up's budget was used up")

#define GPUMBI_FLAG_BIT(name, text, meaning) GPUMBI_BIT_##name,
enum { GPUMB_FLAGS(GPUMBI_FLAG_BIT) GPUMBI_FLAG_COUNT };
#undef GPUMBI_FLAG_BIT
#define GPUMBI_FLAG_ENUM(name, text, meaning) GPUMB_FLAG_##name = 1 << GPUMBI_BIT_##name,
enum { GPUMB_FLAGS(GPUMBI_FLAG_ENUM) GPUMB_FLAG_NONE = 0 };
#undef GPUMBI_FLAG_ENUM

/* A row. Times are seconds for one run of the body. */
typedef struct gpumb_result {
    char bench[64];
    char kernel[64];
    gpumb_status status;
    char reason[200]; /* why it was skipped or failed */
    int verified;     /* 1 right, 0 wrong, -1 not checked */
    gpumb_timing timing;
    gpumb_stop stop;
    uint64_t batch; /* runs in one sample */
    gpumb_stats time;
    double first_launch_s; /* the first run, by the host's clock */
    double overhead_s;     /* subtracted from each sample */
    double bytes, flop;    /* of one run, as stated; 0: not stated */
    double gbps, gflops;   /* 0: unknown */
    double peak_gbps, ceiling_gbps;
    double pct_peak, pct_ceiling;
    uint64_t footprint_bytes;
    char cache[8]; /* the level that holds the footprint */
    int registers; /* of the first kernel launched by GPUMB_LAUNCH; -1: unknown */
    double occupancy; /* 0 ... 1; -1: unknown */
    double sm_clock_hz, memory_clock_hz;
    char fill[16];
    uint64_t seed;
    unsigned flags;
} gpumb_result;

/* The last row that was finished; NULL if there is none. */
GPUMB_API const gpumb_result *gpumb_last_result(gpumb *g);

/* One line on standard output. */
GPUMB_API void gpumb_print_result(const gpumb_result *r);

/* ---- regions --------------------------------------------------------------------------------- */

GPUMB_API gpumb *gpumbi_region_begin(gpumb *g, const char *name, gpumb_result *result);
GPUMB_API int gpumbi_region_next(gpumb *g);
GPUMB_API int gpumbi_region_body(gpumb *g);

/* GPUMB_MEASURE(g, "name") { body }: times the body and writes a row to the sinks. The inner loop
 * runs once, so that `break` and `continue` alike end one run of the body. */
#define GPUMB_MEASURE(g, name) GPUMBI_REGION(g, name, NULL)

/* GPUMB_TIME(&result) { body }: times the body and fills a gpumb_result; no row is written. */
#define GPUMB_TIME(result) GPUMBI_REGION(NULL, NULL, result)

#define GPUMBI_REGION(g, name, result)                                                              \
    for (gpumb *gpumbi_region = gpumbi_region_begin((g), (name), (result));                         \
         gpumbi_region_next(gpumbi_region);)                                                        \
        for (; gpumbi_region_body(gpumbi_region);)

/* GPUMB_INTERLEAVE(g) { several GPUMB_MEASURE }: takes their samples in turn, in an order that
 * rotates from round to round, so that drifting clocks and temperatures meet all of them alike.
 * Ends when each has its precision, or its budget is used up. Up to 16 regions. */
GPUMB_API gpumb *gpumbi_interleave_begin(gpumb *g);
GPUMB_API int gpumbi_interleave_next(gpumb *g);
#define GPUMB_INTERLEAVE(g)                                                                         \
    for (gpumb *gpumbi_interleave = gpumbi_interleave_begin(g);                                     \
         gpumbi_interleave_next(gpumbi_interleave);)

/* ---- sweeps ---------------------------------------------------------------------------------- */

GPUMB_API gpumb_axis *gpumbi_sweep_range(gpumb *g, const char *name, int64_t lo, int64_t hi,
                                         int64_t step, int64_t factor);
GPUMB_API gpumb_axis *gpumbi_sweep_list(gpumb *g, const char *name, const int64_t *values,
                                        size_t count);
GPUMB_API gpumb_axis *gpumbi_sweep_names(gpumb *g, const char *name, const char *const *names,
                                         size_t count);
GPUMB_API int gpumbi_axis_next(gpumb_axis *axis);
GPUMB_API int64_t gpumbi_axis_value(const gpumb_axis *axis);

/* Each declares an int64_t called `axis` and runs the block after it for each of its values.
 *     GPUMB_SWEEP_POW2(g, block, 64, 1024)          64, 128, 256, 512, 1024
 *     GPUMB_SWEEP_FACTOR(g, n, 1000, 1000000, 10)   1000, 10000, ...
 *     GPUMB_SWEEP_RANGE(g, stride, 1, 32, 1)        1, 2, ..., 32
 *     GPUMB_SWEEP_LIST(g, elem, 1, 2, 4, 8, 16)     just these
 *     GPUMB_SWEEP_ARRAY(g, n, values, count)        those of an int64_t array
 *     GPUMB_SWEEP_NAMES(g, form, "naive", "fast")   0, 1; the sinks show the names
 *     GPUMB_SWEEP_STRINGS(g, form, names, count)    the same from an array of strings
 * `--axis block=96,192` replaces the values. It may not go below the smallest value in the source,
 * or below 1 where that is larger. The names of named values can be chosen from, not extended. */
#define GPUMB_SWEEP_POW2(g, axis, lo, hi) GPUMB_SWEEP_FACTOR(g, axis, lo, hi, 2)
#define GPUMB_SWEEP_FACTOR(g, axis, lo, hi, factor)                                                 \
    GPUMBI_SWEEP(axis, gpumbi_sweep_range((g), #axis, (lo), (hi), 0, (factor)))
#define GPUMB_SWEEP_RANGE(g, axis, lo, hi, step)                                                    \
    GPUMBI_SWEEP(axis, gpumbi_sweep_range((g), #axis, (lo), (hi), (step), 0))
#define GPUMB_SWEEP_ARRAY(g, axis, values, count)                                                   \
    GPUMBI_SWEEP(axis, gpumbi_sweep_list((g), #axis, (values), (count)))
#define GPUMB_SWEEP_STRINGS(g, axis, names, count)                                                  \
    GPUMBI_SWEEP(axis, gpumbi_sweep_names((g), #axis, (names), (count)))
#define GPUMB_SWEEP_LIST(g, axis, ...)                                                              \
    for (int64_t gpumbi_list_##axis[] = {__VA_ARGS__}, *gpumbi_go_##axis = gpumbi_list_##axis;      \
         gpumbi_go_##axis; gpumbi_go_##axis = NULL)                                                 \
    GPUMB_SWEEP_ARRAY(g, axis, gpumbi_list_##axis,                                                  \
                      sizeof gpumbi_list_##axis / sizeof gpumbi_list_##axis[0])
#define GPUMB_SWEEP_NAMES(g, axis, ...)                                                             \
    for (const char *gpumbi_list_##axis[] = {__VA_ARGS__}, **gpumbi_go_##axis = gpumbi_list_##axis; \
         gpumbi_go_##axis; gpumbi_go_##axis = NULL)                                                 \
    GPUMB_SWEEP_STRINGS(g, axis, gpumbi_list_##axis,                                                \
                        sizeof gpumbi_list_##axis / sizeof gpumbi_list_##axis[0])

#define GPUMBI_SWEEP(axis, begin)                                                                   \
    for (gpumb_axis *gpumbi_axis_##axis = (begin); gpumbi_axis_next(gpumbi_axis_##axis);)           \
        for (int64_t axis = gpumbi_axis_value(gpumbi_axis_##axis), gpumbi_once_##axis = 1;          \
             gpumbi_once_##axis; gpumbi_once_##axis = 0, (void)axis)

/* ---- reference kernels ----------------------------------------------------------------------- */

typedef enum gpumb_form {
    GPUMB_FORM_NAIVE,  /* reads like the formula */
    GPUMB_FORM_FASTEST /* the same result, at the hardware's limit */
} gpumb_form;

typedef enum gpumb_mode { GPUMB_READ_WRITE, GPUMB_WRITE, GPUMB_READ } gpumb_mode;

/* These launch on the context's stream and return 0, or -1 with the row skipped and the reason in
 * it. `elem` is the element's size, `n` a count of elements, buffers are aligned to an element. */

/* Does nothing. */
GPUMB_API int gpumb_empty(gpumb *g, uint64_t blocks, int block);

/* out[i] = in[i], one element a thread. `elem` 1, 2, 4, 8, 16 or 32. Bytes: 2 * n * elem.
 * The naive form launches ceil(n / block) blocks. The fastest form moves the same bytes in 16-byte
 * words with a geometry of its own, and ignores `block` when it is 0. */
GPUMB_API int gpumb_copy(gpumb *g, gpumb_form form, int elem, uint64_t n, int block, const void *in,
                         void *out);

/* A grid-stride loop over n elements of 4, 8, 16 or 32 bytes, on `blocks` blocks (0: chosen).
 *     GPUMB_READ_WRITE   out[i] = in[i]; bytes: 2 * n * elem
 *     GPUMB_WRITE        out[i] = gpumb_zcopy_word(its 4-byte words); bytes: n * elem
 *     GPUMB_READ         exclusive-or of all 4-byte words, as 1024 partial results of 4 bytes in
 *                        out, which must hold 0 before; bytes: n * elem
 * Either pointer may be NULL where the mode does not use it. */
GPUMB_API int gpumb_zcopy(gpumb *g, gpumb_form form, gpumb_mode mode, int elem, uint64_t n,
                          uint64_t blocks, int block, const void *in, void *out);

/* What GPUMB_WRITE writes to the 4-byte word w of the output. */
GPUMB_API uint32_t gpumb_zcopy_word(uint64_t w);

/* Checks for gpumb_set_verify(). */
typedef struct gpumb_copy_check {
    const gpumb_buffer *in, *out;
    uint64_t bytes;
    gpumb_mode mode;
} gpumb_copy_check;

GPUMB_API int gpumb_check_copy(gpumb *g, void *copy_check);

/* ---- the CPU backend -------------------------------------------------------------------------- */

/* Threads that run blocks: 1 ... all cores; 0: all. And 32 or 64 threads a warp. Without effect on
 * GPUs. The current number of workers (0 on a GPU). */
GPUMB_API void gpumb_cpu_set_workers(int workers);
GPUMB_API int gpumb_cpu_workers(void);
GPUMB_API int gpumb_cpu_set_warp_size(int warp_size); /* 0, or -1 for another size */

#ifdef __cplusplus
} /* extern "C" */
#endif

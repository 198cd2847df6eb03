/*
gpumb.h - v0.1.0 - time GPU kernels correctly - MIT or public domain, no warranty

One header, C99 and C++11, for CUDA (nvcc), HIP (hipcc) and, without a GPU, any C or C++ compiler.

CONTENTS (search for the words in capitals)

    QUICK START             a time in three lines, a sweep in three more
    HOW IT MEASURES         what happens to a region, and what a row says
    CONFIGURATION           switches to define before the include
    PUBLIC API              types and functions
    CPU KERNELS             threadIdx, __shared__, __shfl_sync ... where there is no GPU
    LAUNCHING               GPUMB_LAUNCH, for every backend
    IMPLEMENTATION          below here only with GPUMB_IMPLEMENTATION
        PLATFORM            POSIX and Windows
        TEXT                strings, numbers and units
        STATISTICS          median and its interval; the shape of a series; ratios
        CPU EMULATION       blocks over cores, fibers, barriers
        BACKEND             the only place that names cuda..., hip...
        CONTEXT             what a context holds; errors; tools; opening and closing
        LAUNCHES            what GPUMB_LAUNCH checks
        RANDOM              numbers from a seed
        BASIC KERNELS       empty, fill, compare
        BUFFERS             memory with a seed, poison and a guard zone
        CLOCK               calibration: quantum, floor, ceiling
        SAMPLING            warm-up, batches, the stopping rule
        RESULT              derived figures and flags
        REGIONS             the state machine behind GPUMB_TIME; a one-off needs no more
        FIELDS              tables of what files contain
        COLUMNS             axes of rows, and values of your own
        INSTRUMENTS         profiler, hardware counters, ranges, --strict
        ROWS                finished rows
        SWEEPS              enumerate first, then one configuration per pass
        TABLE               the terminal
        FILES               CSV, JSON, Markdown, Google Benchmark's JSON
        RECORDS             rows of other runs
        KEPT ROWS           --resume and --replay
        INTERLEAVE          regions that take turns
        GIVEN TIMES         times that were taken elsewhere
        PROCESSES           --processes, and several devices
        COMPARE             --compare, and several devices
        EXPECT              --expect
        COMMAND LINE        options and their errors
        PROGRAM             open, run benchmarks
        WITHOUT MACROS      the macros' loops as functions
        COALESCING          sectors and lines of a warp's access
        KERNEL FAMILIES     on request: copy, zcopy, strided, reductions, n-body
    REVISION HISTORY
    LICENCE

QUICK START

    #define GPUMB_STATIC
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
        GPUMB_TIME(&r) GPUMB_LAUNCH(scale, (1 << 24) / 256, 256, 0, GPUMB_PTR(float, x), -1.0f);
        gpumb_print_result(&r);
        return gpumb_close(NULL);
    }

    nvcc -O3 -arch=native scale.cu      hipcc -O3 scale.hip      g++ -O3 -x c++ scale.cu -pthread

HOW IT MEASURES

A *region* is the block after GPUMB_MEASURE or GPUMB_TIME. The engine runs it as often as it needs,
zero times included, so it must be repeatable and do nothing but launch or copy on gpumb_stream().
`continue` and `break` end one run of the body. Leaving it by `return` is an error that the next
call reports.

For each region: poison the outputs; run once and report that first time separately (module load,
page faults); check the result; warm up until times have settled; sample until the 95 % interval of
the median is as narrow as wanted; poison, run and check once more; write a row.

Every time has a method (`timing`) and a meaning (`meaning`):
    event   an event pair around one run: the span of the work, plus the cost of the pair
    graph   for runs below 1.5 ms: what one more run adds to a graph of many, less the gap between
            two launches in a graph (`overhead_s`): the span of the work, from its first block's
            start to its last block's end. On request the gap is kept: the interval
    batch   where a region can't be captured into a graph: an event pair around many runs: the
            interval that one more run costs in a full queue
    given   times that were taken elsewhere (gpumb_add_times): they mean what the caller says
    host    the host's clock, from before the launch to after its completion: latency; also on the
            CPU, where many runs of a short region are timed at once
    profiler  on request: the time stamps of NVIDIA's profiler, less those of an empty kernel: the
            span, one run at a time; a yardstick for the others

A *sweep* runs its body once for every combination of its axes. The outermost sweep first walks
through all combinations with regions skipped, so that every axis is known before the first output;
then it runs one combination per pass. So code in a sweep runs more often than it looks: keep it to
allocating, filling and the region. `continue` and `break` end one configuration.

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
 *     GPUMB_STATIC                 all functions static: a program of one file compiles what it
 *                                  reaches, and a library exports no names of ours
 *     GPUMB_BACKEND_CUDA, _HIP, _CPU   choose; else the compiler decides (nvcc, hipcc, any other).
 *                                  HIP on NVIDIA is compiled by nvcc: there HIP's platform macro
 *                                  decides, from -D__HIP_PLATFORM_NVIDIA__ or a hip_runtime.h
 *                                  included before; the variable HIP_PLATFORM alone does not set it
 *     GPUMB_COPY, GPUMB_STRIDED, GPUMB_REDUCTIONS(X), GPUMB_NBODY_FORMS(X), GPUMB_NBODY_PAIRS(X)
 *                                  compile these families of kernels too: each costs compile time
 *     GPUMB_NO_KERNELS             compile none of them, nor gpumb_empty() and gpumb_check_copy()
 *     GPUMB_COALESCING             the coalescing model also with GPUMB_STATIC
 *     GPUMB_STRICT                 --strict also with GPUMB_STATIC
 *     GPUMB_MODULES                gpumb_load(), and what captures hold, also with GPUMB_STATIC
 *     GPUMB_MALLOC(n), GPUMB_FREE(p)   host memory of the library; both or none
 *     GPUMB_CPU_STACK_BYTES, GPUMB_CPU_UCONTEXT   fibers of the CPU backend: the stack of a thread
 *                                  (64 KiB; 256 with sanitizers), and a switch by ucontext
 *     GPUMB_TRACE                  on the CPU: for gpumb_trace.c, which sees each access
 *     GPUMB_CPU_DEVICES            devices that the CPU backend pretends to have, for trials; 1
 *     GPUMB_LOG(text)              receives every line for the user; default: standard error
 */
#if defined(GPUMB_BACKEND_CUDA) + defined(GPUMB_BACKEND_HIP) + defined(GPUMB_BACKEND_CPU) > 1
#error "gpumb: define one of GPUMB_BACKEND_CUDA, GPUMB_BACKEND_HIP and GPUMB_BACKEND_CPU"
#endif
#if !defined(GPUMB_BACKEND_CUDA) && !defined(GPUMB_BACKEND_HIP) && !defined(GPUMB_BACKEND_CPU)
#if defined(__HIP__) || defined(__HIPCC__) ||                                                      \
    (defined(__CUDACC__) && (defined(__HIP_PLATFORM_NVIDIA__) || defined(__HIP_PLATFORM_NVCC__)))
#define GPUMB_BACKEND_HIP
#elif defined(__CUDACC__)
#define GPUMB_BACKEND_CUDA
#elif defined(CUDART_VERSION) || defined(__VECTOR_TYPES_H__) || defined(HIP_VERSION) ||            \
    defined(HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H) /* a host compiler, the GPU's types */
#if defined(GPUMB_IMPLEMENTATION)
#error "gpumb: GPUMB_IMPLEMENTATION has kernels: use nvcc, hipcc, or no header of the GPU's"
#elif defined(CUDART_VERSION) || defined(__VECTOR_TYPES_H__)
#define GPUMB_BACKEND_CUDA
#else
#define GPUMB_BACKEND_HIP
#endif
#else
#define GPUMB_BACKEND_CPU
#endif
#endif

#if defined(GPUMB_TRACE) && !defined(GPUMB_BACKEND_CPU)
#error "gpumb: GPUMB_TRACE is for the CPU: compile with g++"
#endif
#if defined(_MSVC_TRADITIONAL) && _MSVC_TRADITIONAL && !defined(__clang__)
#error "gpumb: lists in macros need MSVC's newer preprocessor: nvcc -Xcompiler /Zc:preprocessor"
#endif
#if defined(GPUMB_MALLOC) != defined(GPUMB_FREE)
#error "gpumb: define both GPUMB_MALLOC and GPUMB_FREE, or none of them"
#endif

#if !defined(GPUMB_STATIC) || defined(GPUMB_STRICT)
#define GPUMBI_STRICT
#endif

/* The implementation needs POSIX 2008 (clock_gettime, sigaction). Strict modes such as -std=c99
 * hide it unless asked; asking has an effect only before the first system header. */
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

/* Extensions to the standards. MSVC, under nvcc on Windows, takes the second half. */
#if defined(__GNUC__) || defined(__clang__)
#define GPUMBI_INLINE inline __attribute__((always_inline))
#define GPUMBI_NOINLINE __attribute__((noinline))
#define GPUMBI_UNUSED __attribute__((unused))
#define GPUMBI_AT_END(function) __attribute__((cleanup(function))) /* of the variable's block */
#if defined(GPUMB_BACKEND_CPU) && !defined(__clang__)
#define GPUMBI_PER_THREAD __thread __attribute__((no_reorder)) /* before the arrays of users */
#else
#define GPUMBI_PER_THREAD __thread
#endif
#else
#define GPUMBI_INLINE __forceinline
#define GPUMBI_NOINLINE __declspec(noinline)
#define GPUMBI_UNUSED
#define GPUMBI_AT_END(function)
#define GPUMBI_PER_THREAD __declspec(thread)
#endif

#if defined(GPUMB_STATIC) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#define GPUMB_API static inline
#define GPUMBI_API_NOINLINE GPUMBI_NOINLINE GPUMBI_UNUSED static
#else
#define GPUMB_API extern
#define GPUMBI_API_NOINLINE GPUMBI_NOINLINE extern
#endif

#if !defined(GPUMB_STATIC) || defined(GPUMB_MODULES)
#define GPUMBI_MODULES
#endif

/* What macros expand to in the user's source has to pass the user's warnings. */
#ifdef __cplusplus
#define GPUMBI_CAST(type, x) static_cast<type>(x)
#define GPUMBI_NULL nullptr

/* Keeps a parameter out of type deduction: other arguments decide its type. */
template <class Type> struct gpumbi_as_is {
    typedef Type type;
};
#else
#define GPUMBI_CAST(type, x) ((type)(x))
#define GPUMBI_NULL NULL
#endif

/* Host C++ between these two is left unoptimised, which halves the time a file takes to compile:
 * inside a timed stretch it does nothing but launch, a few tens of ns each, and count down a batch.
 * A single region for register allocation is gcc's own choice in an unoptimised file. */
#define GPUMBI_GCC_UNOPTIMIZED                                                                     \
    _Pragma("GCC push_options")                                                                    \
        _Pragma("GCC optimize(\"O0,no-exceptions,omit-frame-pointer,ira-region=one\")")
#if !defined(__cplusplus) || !defined(__GNUC__) || defined(__HIP_DEVICE_COMPILE__)
#define GPUMBI_UNOPTIMIZED
#define GPUMBI_OPTIMIZED
#elif defined(__clang__)
#define GPUMBI_UNOPTIMIZED _Pragma("clang optimize off")
#define GPUMBI_OPTIMIZED _Pragma("clang optimize on")
#elif defined(__CUDACC__) /* 1675: "unrecognized GCC pragma", says the front end; gcc knows it */
#define GPUMBI_UNOPTIMIZED _Pragma("nv_diag_suppress 1675") GPUMBI_GCC_UNOPTIMIZED
#define GPUMBI_OPTIMIZED _Pragma("GCC pop_options") _Pragma("nv_diag_default 1675")
#else
#define GPUMBI_UNOPTIMIZED GPUMBI_GCC_UNOPTIMIZED
#define GPUMBI_OPTIMIZED _Pragma("GCC pop_options")
#endif

#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__)
#define GPUMBI_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define GPUMBI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define GPUMBI_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ================================================================================================
 * PUBLIC API
 *
 * Wherever a function takes a `gpumb *`, NULL stands for the context that this thread used last,
 * or, if none is open, for a default one that is opened on first use and prints nothing by itself.
 * Sizes are bytes, times are seconds, rates are decimal (1 GB/s = 1e9 byte/s), unless a name says
 * otherwise. "Unknown" is 0 in figures that can't be 0 and -1 elsewhere.
 */

typedef struct gpumb gpumb;               /* a context: device, settings, sinks, rows */
typedef struct gpumb_buffer gpumb_buffer; /* memory on the device */
typedef struct gpumb_axis gpumb_axis;     /* one axis of a sweep */

/* ---- settings and the context ---------------------------------------------------------------- */

/* Exit codes, as gpumb_close() returns them. */
enum {
    GPUMB_EXIT_OK = 0,
    GPUMB_EXIT_FAILED = 1,    /* a check failed; a launch was refused or failed; nothing measured, a
                               * sweep with nothing to measure, or all skipped; slower, with
                               * --fail-on-regression; --expect not met */
    GPUMB_EXIT_USAGE = 2,     /* bad command line */
    GPUMB_EXIT_NO_DEVICE = 3, /* no device, or no driver */
    GPUMB_EXIT_ERROR = 4,     /* device, memory or output error */
    GPUMB_EXIT_HUNG_UP = 129, /* SIGHUP: the terminal is gone */
    GPUMB_EXIT_INTERRUPTED = 130, /* SIGINT: Ctrl-C */
    GPUMB_EXIT_TERMINATED = 143   /* SIGTERM: batch systems send it before the time limit */
};

/* What the command line sets. Zero in a field means its default. Strings must live until
 * gpumb_close(). */
typedef struct gpumb_settings {
    size_t size;          /* sizeof, as the caller knows it: gpumb_settings_init(); 0: all */
    double precision;     /* half-width of the 95 % interval to reach, relative to the median; 0.01.
                           * On a GPU, less than 0.0015 is out of reach, or 0.004 with event
                           * pairs */
    double budget_s;      /* at most this many seconds of sampling per row; 2 */
    double warmup_s;      /* at most this many seconds of warm-up per row; 0.5; negative: none */
    uint64_t min_samples; /* 30; where the budget allows fewer, 8 may be enough */
    uint64_t max_samples; /* 10000; at most 10 million */
    uint64_t seed;        /* of random data; 1; with `strict` it is drawn and kept secret */
    double peak_gbps;     /* theoretical memory bandwidth; default: as the device reports */
    int device;           /* ordinal */
    int full;             /* 1: the full profile of the benchmarks; 0: the quick one */
    int no_color;         /* 1: no colours, even on a terminal */
    int quiet;            /* 1: no table on standard output */
    int cold;             /* 1: GPUMB_CACHE_COLD for all regions */
    int shuffle;          /* 1: configurations run in an order drawn from the seed */
    const char *csv;      /* file names, "-" for standard output, NULL for none */
    const char *json;
    const char *markdown;
    const char *gbench;         /* Google Benchmark's JSON, for the tools around it */
    const char *compare_values; /* own values that `compare` compares, "hit_rate,share" */
    int raw;                    /* 1: all samples in the JSON, and for gpumb_row_samples() */
    int resume; /* 1: rows that an interrupted run has left in the .part of `csv` or `json` are
                 * kept, and only the rest is measured; an error if it had other settings */
    const char *replay;     /* a CSV or JSON file of an earlier run: its rows stand in for the
                             * regions', its device for this one, and nothing runs. CSV says little
                             * of the device: "rows.csv,context.json" takes that from JSON */
    const char *compare;    /* a CSV or JSON file of an earlier run, to compare with */
    double delta;           /* smaller differences count as none; 0.01 */
    double spread;          /* standard deviation between processes where it is unknown; 0.02 */
    int processes;          /* to run the program in, one after the other; 1, at most 100 */
    int fail_on_regression; /* 1: exit code 1 if a row is slower than in `compare`, or not ok */
    int profile; /* runs of each region for a profiler, in place of its measurement; 0: none. Rows
                  * and results are then `skipped`, "profiled, not timed" */
    const char *counters; /* gpumb_set_counters() for all regions */
    const char *devices;  /* "0,2" or "all": the program runs in a process for each, and this one
                           * has the rows of all, told apart by the axis on_device; NULL: `device`
                           * alone */
    int together; /* 1: these devices measure each row at the same time; 0: one after the other */
    int fail_on_outlier; /* 1: exit code 1 if one device is slower by more than `delta` */
    int strict;     /* 1: for kernels that may try to fool the measurement: gpumb_set_verify() */
    double least_s; /* least seconds of sampling per row, within its budget; 0.1, so that levels
                     * that last long show. Negative: none */
    int capturable; /* 1: gpumb_set_capturable() for all regions */
    int no_signals; /* 1: SIGINT, SIGTERM and SIGHUP are left to the program; if one ends it, the
                     * rows of unfinished files are lost. Quiet contexts leave them alone anyway */
} gpumb_settings;

GPUMB_API gpumb_settings gpumb_settings_default(void);

/* Opens a context from a program's arguments (gpumb_help_text() lists the options). Never returns
 * NULL: after an error the context does nothing, and gpumb_close() returns the exit code.
 * Cost: that of creating the device's context, about 0.3 s on an H200, and 10 ms of calibration. */
GPUMB_API gpumb *gpumb_open(int argc, char **argv);

/* The same from a struct; `program` names the rows and messages. */
GPUMB_API gpumb *gpumb_open_settings(const char *program, const gpumb_settings *settings);

/* For a program with options of its own: takes out of argc and argv what gpumb knows, and leaves
 * the rest in its order. "--" is taken out, too, and ends gpumb's part: what follows is the
 * program's, whatever it is called. Refuse what is left and unknown to the program: it may be a
 * misspelt option of gpumb. */
GPUMB_API gpumb *gpumb_open_args(int *argc, char **argv);

/* 1 while the context works; 0 after an error, an interrupt, or --help. */
GPUMB_API int gpumb_ok(const gpumb *g);

/* Completes the files, prints the summary, frees everything. Returns the exit code for main() to
 * return: if a program ends without this call, what is open is closed all the same, and a line says
 * which code was lost. Calls that use the context afterwards, or from another thread, do nothing,
 * and a line says so; a second gpumb_close() returns GPUMB_EXIT_ERROR or, inside a loop of the
 * context, which still looks at it, the same code again. */
GPUMB_API int gpumb_close(gpumb *g);

GPUMB_API const gpumb_settings *gpumb_get_settings(gpumb *g); /* those in force */
GPUMB_API const char *gpumb_help_text(void);                  /* of --help */

/* ---- several benchmarks in one program ------------------------------------------------------- */

typedef struct gpumb_benchmark {
    const char *name;
    const char *description; /* one line, for --list */
    void (*run)(gpumb *g);   /* runs at least twice: once to enumerate, with regions skipped */
} gpumb_benchmark;

/* Runs the benchmarks that --filter selects, or lists them, and closes the context. Returns the
 * exit code, as gpumb_close() does. gpumb_main() first opens the context by gpumb_open(). */
GPUMB_API int gpumb_run(gpumb *g, const gpumb_benchmark *list, size_t count);
GPUMB_API int gpumb_main(int argc, char **argv, const gpumb_benchmark *list, size_t count);

/* GPUMB_MAIN(list) is a main() for an array of benchmarks. */
#define GPUMB_MAIN(list)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return gpumb_main(argc, argv, (list), sizeof(list) / sizeof((list)[0]));                   \
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
    int max_threads;     /* resident threads per multiprocessor */
    int bus_width_bits;  /* 0: unknown */
    int ecc;             /* 1 on, 0 off, -1 unknown */
    uint64_t memory_bytes;
    uint64_t l1_bytes; /* of one multiprocessor; 0: unknown */
    uint64_t l2_bytes; /* of the device; on the CPU the last-level cache */
    double sm_clock_hz;
    double memory_clock_hz;
    double peak_bytes_per_s;    /* memory clock x transfers x bus width, or --peak; 0: unknown */
    char link[24];              /* to the host: "PCIe 5.0 x16", "NVLink-C2C"; "": unknown */
    double link_bytes_per_s;    /* its highest rate, each way, line code taken off; 0: unknown */
    double peak_flop_per_s;     /* fp32, a multiply-add counted as 2; 0: unknown */
    double quantum_s;           /* smallest difference that the event clock shows */
    double floor_s;             /* an empty event pair */
    double empty_kernel_s;      /* an empty kernel in an event pair */
    double interval_s;          /* an empty kernel in a full queue */
    double graph_interval_s;    /* an empty kernel in a graph: the gap between two launches */
    double block_launch_s;      /* one more block of 256 threads in an empty kernel */
    double ceiling_bytes_per_s; /* measured copy rate (Memcpy, read + write); 0 until needed */
} gpumb_device;

GPUMB_API const gpumb_device *gpumb_get_device(gpumb *g);

/* The stream that everything runs on: cudaStream_t or hipStream_t as a pointer. The context has one
 * of its own, ordered with the legacy default stream; gpumb_set_stream() passes in another of the
 * same device, which remains the caller's; NULL is the legacy stream itself. A region's work on
 * streams that this one does not wait for is missing from its time: where the region can be
 * captured into a graph, or leaves work behind, its row fails and says so (examples/program.md). */
GPUMB_API void *gpumb_stream(gpumb *g);
GPUMB_API void gpumb_set_stream(gpumb *g, void *stream);

/* ---- buffers --------------------------------------------------------------------------------- */

typedef enum gpumb_fill_kind {
    GPUMB_FILL_BITS, /* random bits */
    GPUMB_FILL_F32,  /* floats, uniform in [-1, 1) */
    GPUMB_FILL_F64,  /* doubles, uniform in [-1, 1) */
    GPUMB_FILL_ZERO
} gpumb_fill_kind;

/* Device memory, aligned to 256 bytes, with a guard zone after it that verification checks. Returns
 * NULL while a sweep enumerates, or when the memory does not fit; all regions are then skipped,
 * with the reason, until the end of the sweep's pass, the benchmark or the context in which that
 * happened. Every function here accepts that NULL and does nothing; a NULL from elsewhere makes the
 * next region `skipped`, too. Freed at the end of the sweep's pass, the benchmark or the context in
 * which it was allocated, or earlier by gpumb_free(), which ignores what is already freed. */
GPUMB_API gpumb_buffer *gpumb_alloc(gpumb *g, uint64_t bytes);
GPUMB_API void gpumb_free(gpumb *g, gpumb_buffer *b);

typedef enum gpumb_memory {
    GPUMB_MEMORY_DEVICE,  /* as by gpumb_alloc() */
    GPUMB_MEMORY_PINNED,  /* the host's, page-locked: kernels reach it through the link */
    GPUMB_MEMORY_MANAGED, /* its pages move to whoever uses them; more than a quarter of the
                           * device's free memory in all is refused */
    GPUMB_MEMORY_HOST     /* the host's, pageable: most devices' kernels can't use it */
} gpumb_memory;

/* The same for any kind of memory: whatever takes a buffer takes each of these. */
GPUMB_API gpumb_buffer *gpumb_alloc_kind(gpumb *g, gpumb_memory kind, uint64_t bytes);

/* A buffer around memory of any kind that somebody else owns, at any address, to be filled,
 * poisoned, compared, checked. It has no guard zone, and its memory is left alone when it is freed,
 * which happens as above. NULL where gpumb_alloc() returns it. */
GPUMB_API gpumb_buffer *gpumb_wrap(gpumb *g, void *memory, uint64_t bytes);

typedef enum gpumb_advice {
    GPUMB_ADVICE_NONE, /* takes back all of these */
    GPUMB_ADVICE_READ_MOSTLY,
    GPUMB_ADVICE_PREFER_DEVICE,
    GPUMB_ADVICE_PREFER_HOST,
    GPUMB_ADVICE_DEVICE_ACCESSES, /* keeps it mapped there */
    GPUMB_ADVICE_HOST_ACCESSES
} gpumb_advice;

/* For managed buffers: moves the pages to GPUMB_MEMORY_DEVICE or _HOST, on the context's stream and
 * asynchronously, also in a region; and tells the driver how they will be used. On the CPU they do
 * nothing. Where the device or the buffer does not support this, the next region is skipped. */
GPUMB_API void gpumb_prefetch(gpumb *g, const gpumb_buffer *b, gpumb_memory to);
GPUMB_API void gpumb_advise(gpumb *g, const gpumb_buffer *b, gpumb_advice advice);

/* A buffer's memory, and its size in bytes; NULL and 0 for NULL. A buffer lives until gpumb_free(),
 * the end of its sweep's pass or its benchmark, or gpumb_close(); then it is like a pointer after
 * free(). */
GPUMB_API void *gpumb_data(const gpumb_buffer *b);
GPUMB_API uint64_t gpumb_size(const gpumb_buffer *b);
#define GPUMB_PTR(type, buffer) GPUMBI_CAST(type *, gpumb_data(buffer))

/* Fills on the device from a counter-based generator (word i depends on seed and i alone;
 * splitmix64, Steele et al., OOPSLA 2014; with --strict a cipher). The kind and the seed appear in
 * the rows that follow. */
GPUMB_API void gpumb_fill(gpumb *g, gpumb_buffer *b, gpumb_fill_kind kind, uint64_t seed);

/* The 64-bit word i of such a fill, for references on the host. With `strict` in the settings, fill
 * and words change from run to run. */
GPUMB_API uint64_t gpumb_fill_word(gpumb_fill_kind kind, uint64_t seed, uint64_t i);

/* Sets every 16 bits to 0x7ffd: NaN as fp16, bf16, fp32 and fp64, and as integers unlikely results:
 * 32765, GPUMB_POISON, bytes of 253 and 127 in turn. */
#define GPUMB_POISON 0x7ffd7ffdu
GPUMB_API void gpumb_poison(gpumb *g, gpumb_buffer *b);

/* Compares the first `bytes` of two buffers on the device. Returns the number of differing bytes
 * and, unless NULL, the offset of the first. Where it can't compare, or a buffer has fewer bytes,
 * all bytes count as different. */
GPUMB_API uint64_t gpumb_compare(gpumb *g, const gpumb_buffer *a, const gpumb_buffer *b,
                                 uint64_t bytes, uint64_t *first);

/* Copies between a buffer and the host; complete on return. 0, or -1 with the next region
 * skipped. */
GPUMB_API int gpumb_read(gpumb *g, const gpumb_buffer *b, uint64_t offset, void *host,
                         uint64_t bytes);
GPUMB_API int gpumb_write(gpumb *g, gpumb_buffer *b, uint64_t offset, const void *host,
                          uint64_t bytes);

/* The vendor's copy on the context's stream, asynchronous (on the CPU: memcpy on all cores),
 * between any two kinds of memory. A reference to compare with; allowed in a region, which may
 * become a transfer by it: see gpumb_set_transfer(). */
GPUMB_API void gpumb_memcpy(gpumb *g, void *to, const void *from, uint64_t bytes);

/* ---- describing the next region -------------------------------------------------------------- */

typedef int (*gpumb_check)(gpumb *g, void *user); /* 1 right, 0 wrong; gpumb_reason() says why */
typedef void (*gpumb_hook)(gpumb *g, void *user);

typedef enum gpumb_timing {
    GPUMB_TIMING_AUTO,  /* the span; by events, graphs when short; the host's clock on the CPU */
    GPUMB_TIMING_EVENT, /* an event pair around one run */
    GPUMB_TIMING_BATCH, /* an event pair around many, one after the other in the stream */
    GPUMB_TIMING_GRAPH, /* the interval: what one more run adds to a graph of many */
    GPUMB_TIMING_HOST,  /* the host's clock around a run and the wait for its end */
    /* The profiler's time stamps. CUPTI, of NVIDIA's CUDA Toolkit, is opened for the region, which
     * takes 20 ms; it serialises the kernels of all streams. Where there is none, as on AMD's
     * devices, a line says so, and this is the same as AUTO. */
    GPUMB_TIMING_PROFILER,
    GPUMB_TIMING_GIVEN /* of rows that gpumb_add_times() makes; not to be set */
} gpumb_timing;

/* What a time measures: see HOW IT MEASURES. */
typedef enum gpumb_meaning {
    GPUMB_MEANING_NONE,     /* there is no time */
    GPUMB_MEANING_SPAN,     /* the work alone */
    GPUMB_MEANING_INTERVAL, /* from one run to the next, back to back */
    GPUMB_MEANING_LATENCY   /* from before the launch to after completion, on the host */
} gpumb_meaning;

typedef enum gpumb_cache {
    GPUMB_CACHE_HOT, /* as the previous run left the caches */
    GPUMB_CACHE_COLD /* each sample is one run, after reading another buffer that is larger than the
                      * caches: none of the region's data is left in them, and no dirty data that it
                      * would have to write back */
} gpumb_cache;

/* These describe the next region only, also within a GPUMB_INTERLEAVE: bytes read and written by
 * one run of the body, floating-point operations in it, elements that it handles, and the bytes
 * that it touches, which together with the bytes moved decide the `cache` column. 0 means not
 * stated; a negative, NaN or infinite value makes the row `failed`. */
GPUMB_API void gpumb_set_bytes(gpumb *g, double bytes);
GPUMB_API void gpumb_set_flop(gpumb *g, double flop);
GPUMB_API void gpumb_set_elements(gpumb *g, double elements); /* gives elements a second */
GPUMB_API void gpumb_set_footprint(gpumb *g, uint64_t bytes);

/* Peak FLOP/s of the units that a region uses, where they are not those of fp32: the row's share,
 * `pct_peak`, is of that peak, or of the memory's where that share is larger. HUGE_VAL: unknown, so
 * no share. */
GPUMB_API void gpumb_set_peak_flop(gpumb *g, double flop_per_s);

/* A transfer: bytes of one run that cross the link between host and device, each way. The row then
 * has a share of the link, `pct_link`, in the busier direction, and none of the device's memory.
 * Without gpumb_set_bytes(), these are the row's bytes as well. gpumb_memcpy() states its own,
 * which count if they are at least half of the bytes stated otherwise. */
GPUMB_API void gpumb_set_transfer(gpumb *g, double to_device, double to_host);
GPUMB_API void gpumb_set_timing(gpumb *g, gpumb_timing timing);
GPUMB_API void gpumb_set_cache(gpumb *g, gpumb_cache cache);

/* The next region also launches on these streams, up to 8 of the context's device, which remain the
 * caller's: in each run they wait for gpumb_stream() before the body, and it waits for them after
 * the body, in a capture as well, so that the time covers the work on all of them. Cost per stream:
 * an event and two waits. */
GPUMB_API void gpumb_set_streams(gpumb *g, void *const *streams, int count);

/* 1: the body of the next region may be captured into a graph, and is timed by one as if
 * GPUMB_LAUNCH had launched its kernels: kernel<<<grid, block, 0, stream>>> and calls of libraries
 * on gpumb_stream() get their span. Its host code then runs a few times while nothing runs on the
 * device; a wait, a blocking copy or a launch on the legacy stream in it is a runtime error, which
 * your own error checks may see. Where that ends the capture, a line says so, and the row is timed
 * without a graph. `capturable` in the settings does this for all regions. */
GPUMB_API void gpumb_set_capturable(gpumb *g, int capturable);

/* What a model predicts for the region: a share of a reference rate, neither negative. The rate is
 * in GB/s, or in GFLOP/s where no bytes are stated. The row then says "expected 12.5 %, measured
 * 13.1 %", both relative to the reference. */
GPUMB_API void gpumb_set_expected(gpumb *g, double reference, double share);

/* A value of your own, in a column of this name in all sinks: for the next region or, called by a
 * check, for the one under way. Up to 16 names in a context, each of up to 127 characters (UTF-8)
 * without a semicolon or control characters, and not the name of another column. NaN and infinity
 * leave the cell empty. */
GPUMB_API void gpumb_set_value(gpumb *g, const char *name, double value);

/* Hardware counters of one run, in columns of these names: "dram_read_bytes,l2_hit_rate", or any
 * metric of the vendor's ("lts__t_sectors.sum"); they share the 16 names of gpumb_set_value(). The
 * body runs for them once the region has been timed, as often as they need. NVIDIA, CUDA 12.6
 * Update 2 and later; where there are none, a line says why, and the columns stay empty.
 *     dram_read_bytes, dram_write_bytes   moved by the device's memory
 *     l2_read_bytes, l2_write_bytes       by the L2, for the multiprocessors
 *     l1_hit_rate, l2_hit_rate            0 ... 1, of sectors
 *     load_sectors_per_request, store_sectors_per_request   of global memory; a request is a warp's
 *     shared_bank_conflicts               cycles beyond those without conflicts
 *     instructions                        of warps
 *     fp32_ops                            of threads: sums, products, multiply-adds, one each
 *     achieved_occupancy                  0 ... 1, of the multiprocessors that had work */
GPUMB_API void gpumb_set_counters(gpumb *g, const char *names);

/* Outputs (up to 8) are poisoned before the first run and before a last one; then come the reset
 * hook, the body and the check, which returns 1 if all is right. `user` must live until the region
 * ends; in a GPUMB_INTERLEAVE, until this pass of it does. */
GPUMB_API void gpumb_set_output(gpumb *g, gpumb_buffer *b);
GPUMB_API void gpumb_set_verify(gpumb *g, gpumb_check check, void *user);

/* With --strict (gpumb_settings.strict), for code that might be written to fool the test: before
 * each run but those of the warm-up, all buffers move to random places; what gpumb_fill() has
 * filled gets new contents, from a random key; the outputs are poisoned, and so is where the
 * buffers were. One in every few timed runs, picked at random, is checked. The device is idle when
 * contents are drawn, and when a timed run begins, so its time includes the launch. Buffers take
 * twice the memory; `check` must compute the right result from what the inputs hold then, or from
 * gpumb_fill_word(); and the body must call GPUMB_PTR(). Caches are cold. A `failed` region says
 * which trick it was, or what is missing: a check, outputs from gpumb_alloc(), and an input from
 * gpumb_fill() or a reset hook that renews it. No key is used twice or revealed. With a seed,
 * everything follows from it, which is flagged. */

/* An untimed hook before each run, for a body that changes its own input. Each sample is then a
 * single run. */
GPUMB_API void gpumb_set_reset(gpumb *g, gpumb_hook reset, void *user);

/* Skips the next region, or the one under way, with a reason. */
GPUMB_API void gpumb_skip(gpumb *g, const char *format, ...) GPUMBI_PRINTF(2, 3);

/* Called by a check: says what is wrong. */
GPUMB_API void gpumb_reason(gpumb *g, const char *format, ...) GPUMBI_PRINTF(2, 3);

/* ---- results --------------------------------------------------------------------------------- */

typedef struct gpumb_stats {
    uint64_t count;
    double median, ci_lo, ci_hi; /* 95 % interval of the median; count < 6: both 0 */
    double min, q1, q3, max, mean, sd, mad;
    double effective; /* the number of independent samples that would say as much about the median;
                       * <= count */
    /* Values outside the quartiles by more than 3 times the interquartile range ("far out": Tukey,
     * Exploratory Data Analysis, 1977): counted, never dropped. Where the quartiles are equal, all
     * values that differ from them. */
    uint64_t outliers;
} gpumb_stats;

/* Statistics of `count` finite values in the order in which they were measured; sorts them. Median
 * and quartiles are interpolated order statistics (type 7 of Hyndman & Fan 1996). The interval is
 * the narrowest symmetric pair of order statistics that covers the median with at least 95 %
 * (binomial, no distribution assumed; Le Boudec 2010, Hoefler & Belli SC15), wider by the root of
 * the autocorrelation time where values are autocorrelated (Geyer, Stat. Sci. 7, 1992), all of them
 * or every second to sixth. O(n log n), plus up to 800 n steps, at most 15 million, for the
 * autocorrelation. More than 64 values need memory for copies; without it the count is 0, and
 * nothing is sorted. */
GPUMB_API gpumb_stats gpumb_statistics(double *values, uint64_t count);

/* What a series does, as far as it exceeds `precision` times its median. */
typedef enum gpumb_series {
    GPUMB_SERIES_STEADY,
    GPUMB_SERIES_WARMING_UP,   /* times fall, then hold for at least the last four ninths */
    GPUMB_SERIES_SLOWING_DOWN, /* times rise, then hold for at least the last four ninths */
    GPUMB_SERIES_TWO_LEVELS,   /* times jump between two levels, all along */
    GPUMB_SERIES_UNSTEADY      /* a cycle, a drift to the end, a few steps up and down */
} gpumb_series;

/* Classifies values in the order in which they were measured. With fewer than 30 a shape can't be
 * told from noise: they count as steady. tests/coverage.c shows how often it is right, for which
 * lengths and amplitudes. O(n), at most a million multiplications. */
GPUMB_API gpumb_series gpumb_classify(const double *values, uint64_t count, double precision);

typedef enum gpumb_verdict {
    GPUMB_VERDICT_UNDECIDED, /* the interval contains a limit: more rounds might decide */
    GPUMB_VERDICT_FASTER,    /* all of the interval is below 1 / (1 + delta) */
    GPUMB_VERDICT_SLOWER,    /* all of the interval is above 1 + delta */
    GPUMB_VERDICT_SAME       /* all of the interval is between these two */
} gpumb_verdict;

typedef struct gpumb_comparison {
    uint64_t rounds;
    double ratio;  /* median of other / base, round by round */
    double lo, hi; /* its interval; 0, 0: too few rounds */
    gpumb_verdict verdict;
} gpumb_comparison;

/* Compares times that were measured in rounds, base[i] and other[i] in round i: what slows down a
 * whole round does not change their ratio. Nor does what favours each in turn, as when they take
 * turns in being first: from 60 rounds on, if neighbouring ratios lie on opposite sides of the
 * median far more often than not, ratios are taken over two rounds. Rounds with a time that is not
 * positive and finite are left out. `delta` is the difference that matters, 0.01 for 1 %. Several
 * comparisons with one base share the 5 % of error (Bonferroni). */
GPUMB_API gpumb_comparison gpumb_compare_rounds(const double *base, const double *other,
                                                uint64_t rounds, double delta, int comparisons);

typedef enum gpumb_status {
    GPUMB_STATUS_OK,
    GPUMB_STATUS_SKIPPED,
    GPUMB_STATUS_FAILED
} gpumb_status;

typedef enum gpumb_stop {
    GPUMB_STOP_NONE, /* there are no samples; or, in a GPUMB_INTERLEAVE, more would not decide */
    GPUMB_STOP_PRECISION, /* the interval is narrow enough, or as narrow as samples make it */
    GPUMB_STOP_SAMPLES,   /* the largest number of samples is reached */
    GPUMB_STOP_BUDGET     /* the time is used up */
} gpumb_stop;

/* What makes a figure suspicious: name, what it means, and what to do (--explain shows both). The
 * names are those in the `flags` column. */
#define GPUMB_FLAGS(X)                                                                             \
    X(UNVERIFIED, "unverified", "no check was set: the kernel may compute anything",               \
      "Set one with gpumb_set_verify(), and name what the kernel writes with gpumb_set_output(): " \
      "it is poisoned before the first and the last run, so that a kernel that does nothing is "   \
      "caught. A kernel that is wrong is often fast.")                                             \
    X(NOISY, "noisy", "half the interval is more than --precision",                                \
      "The figure is as good as its interval says, not better. Let nothing else use the device, "  \
      "give more time with --budget or --samples, or ask for less with --precision. Where the "    \
      "row's `stop` is `precision`, it is as narrow as samples make it: more time does not help.") \
    X(FEW_SAMPLES, "few-samples", "fewer than 6 samples have no 95 % interval",                    \
      "Give the row more time with --budget, or more samples with --samples: without an interval " \
      "nothing says how far off the median may be.")                                               \
    X(RESOLUTION, "resolution",                                                                    \
      "the time is close to the clock's quantum or the event pair's cost",                         \
      "An event pair alone costs microseconds, which are in the time. Give the kernel more work, " \
      "or let several runs be a sample: without gpumb_set_reset(), and with the timing left to "   \
      "the library.")                                                                              \
    X(LAUNCH_BOUND, "launch-bound", "so short that launching its blocks is more than 5 % of it",   \
      "Launching and ending blocks overlaps with their work, and how much is not known: the span " \
      "may be off by more than 5 %. Give the kernel more work or fewer, larger blocks. To see "    \
      "what one more launch costs, ask for GPUMB_TIMING_GRAPH or GPUMB_TIMING_BATCH.")             \
    X(ABOVE_PEAK, "above-peak", "faster than the theoretical peak: wrong bytes, peak, or a cache", \
      "Count bytes read plus bytes written, once each. If they are right, the data came from a "   \
      "cache: use buffers several times the L2, or --cold. If the peak is wrong (some drivers "    \
      "report half or twice the memory clock), state it with --peak. Where it is unknown, 5 "      \
      "times the measured copy rate takes its place.")                                             \
    X(CACHED, "cached", "the footprint fits a cache: this is not a memory rate",                   \
      "Right if the cache is what you want to measure. For the memory's rate use buffers several " \
      "times the L2, or --cold.")                                                                  \
    X(TRAFFIC, "traffic", "the memory moved over 10 % more or less than the stated bytes",         \
      "By the counters dram_read_bytes and dram_write_bytes. More: sectors or lines of which "     \
      "only a part is used, data that a cache could not keep, registers that spill. Less: a "      \
      "cache served some of it. Or the bytes are stated wrong. A model of the traffic, by "        \
      "gpumb_set_expected(), takes this flag's place.")                                            \
    X(BAD_TIME, "bad-time", "the clock showed times of zero or less, which were left out",         \
      "Some runtimes' events do so now and then. Compare with gpumb_set_timing(g, "                \
      "GPUMB_TIMING_HOST), and try another version of the driver.")                                \
    X(UNSETTLED, "unsettled", "times still changed when the warm-up's budget was used up",         \
      "Clocks or caches had not settled: give --warmup more seconds.")                             \
    X(WARMING_UP, "warming-up", "times fell during sampling, then held",                           \
      "The median mixes both. Give --warmup more seconds, or --samples more of them, so that the " \
      "level at the end counts for most.")                                                         \
    X(SLOWING_DOWN, "slowing-down", "times rose during sampling, then held",                       \
      "Often a clock that falls when power or temperature reach their limit: see the columns of "  \
      "clock, power and temperature, before and after. State which of both you report.")           \
    X(TWO_LEVELS, "two-levels", "times jump between two levels",                                   \
      "The median is one of them or in between, and may be the other one next time. Two clocks, "  \
      "two memory placements, or something else that comes and goes on the device: look at the "   \
      "quartiles, and report both levels.")                                                        \
    X(UNSTEADY, "unsteady", "times drift to the end, go up and down, or change in steps",          \
      "There is no level that the median could be the middle of. Look for other work on the "      \
      "device or the host, and for clocks that change; --shuffle keeps a drift from looking like " \
      "an effect of an axis.")                                                                     \
    X(THROTTLED, "throttled", "the device held its clock down for power, heat or protection",      \
      "The figure is that of the throttled device, and so of this cooling and power limit: see "   \
      "the columns throttle, power_w and temp_c. Random data draws more power than zeros.")        \
    X(SHARED, "shared", "another process computes on the device",                                  \
      "It takes part of the time, the memory's rate and the power. End it, or choose another "     \
      "device with --device. In a container, processes of others may be invisible.")               \
    X(LAUNCH_FAILED, "launch-failed", "the device refused a launch, or ended the kernel",          \
      "There is no time; the column reason has the runtime's words. Too many threads, registers "  \
      "or bytes of shared memory for a block, a grid beyond the limits, or code for another "      \
      "device (nvcc -arch, hipcc --offload-arch) are the usual causes.")                           \
    X(REPLAYED, "replayed", "an earlier run has measured it: the row is from its file",            \
      "--replay shows the rows of a file as the program would, and draws its conclusions from "    \
      "them. To measure, leave --replay out.")                                                     \
    X(HOST_BOUND, "host-bound", "the body leaves the device idle: it waits, or works on the host", \
      "An event pair around such a body times the host: so the row shows its latency, by the "     \
      "host's clock. Move waits, allocations and copies to the host out of the body to see the "   \
      "kernel's span, or ask for GPUMB_TIMING_HOST if the latency is what you want.")              \
    X(OTHER_STREAMS, "other-streams", "other streams had work; it may be missing from the time",   \
      "What gpumb_stream() does not wait for is not in the time, and here nothing tells whether "  \
      "it does. Name the streams with gpumb_set_streams(), or let the body be captured: "          \
      "gpumb_set_capturable().")                                                                   \
    X(CARRY_OVER, "carry-over",                                                                    \
      "after another region it takes longer, or less, than after itself",                          \
      "So the ratio is that of times after itself, as when it runs alone. Of two times that "      \
      "differ, the median shows neither: measure the region outside of GPUMB_INTERLEAVE too. "     \
      "What another region leaves behind, in caches above all, may be the reason: try --cold.")    \
    X(KNOWN_SEED, "known-seed",                                                                    \
      "--strict: the inputs follow from --seed, so they can be foreseen",                          \
      "Right to see a failure again. A verdict on a kernel that may be written for the test "      \
      "needs inputs that nobody knows before: leave --seed out.")

#define GPUMBI_FLAG_BIT(name, text, meaning, advice) GPUMBI_BIT_##name,
enum { GPUMB_FLAGS(GPUMBI_FLAG_BIT) GPUMBI_FLAG_COUNT };
#undef GPUMBI_FLAG_BIT
#define GPUMBI_FLAG_ENUM(name, text, meaning, advice) GPUMB_FLAG_##name = 1 << GPUMBI_BIT_##name,
enum { GPUMB_FLAGS(GPUMBI_FLAG_ENUM) GPUMB_FLAG_NONE = 0 };
#undef GPUMBI_FLAG_ENUM

/* A row. Times are seconds for one run of the body. Later versions add members at the end only:
 * callers compiled earlier copy the beginning. */
typedef struct gpumb_result {
    char bench[64];
    char kernel[64];
    gpumb_status status;
    char reason[200]; /* why it was skipped or failed */
    int verified;     /* 1 right, 0 wrong, -1 not checked */
    gpumb_timing timing;
    gpumb_stop stop;
    uint64_t batch;        /* runs in one sample */
    gpumb_stats time;      /* includes 0.15 % for slow changes of a GPU's clocks and caches, 0.4 %
                            * with event pairs */
    double first_launch_s; /* the first run, by the host's clock */
    double overhead_s;     /* subtracted from each sample: the cost of launching; 0: nothing */
    double bytes, flop;    /* of one run, as stated; 0: not stated */
    double gbps, gflops;   /* 0: unknown */
    double peak_gbps, ceiling_gbps;
    double pct_peak, pct_ceiling;
    double to_device, to_host;  /* bytes of a transfer, each way; 0, 0: no transfer */
    char link[24];              /* the link they cross; "": unknown, or none */
    double link_gbps, pct_link; /* its peak each way, and the share of it; 0: unknown */
    double reference, expected_pct, measured_pct; /* as by gpumb_set_expected(); 0: not stated */
    uint64_t footprint_bytes;
    char cache[8];                       /* the level that holds the footprint; "cold" */
    int registers;                       /* of the first kernel; -1: unknown */
    double occupancy;                    /* 0 ... 1; -1: unknown */
    double sm_clock_hz, memory_clock_hz; /* after the samples; 0: unknown */
    char fill[16];
    uint64_t seed;
    gpumb_series series;
    double sm_clock_before_hz, memory_clock_before_hz; /* before the samples; 0: unknown */
    double temperature_before_c, temperature_c;        /* before and after; 0: unknown */
    double power_w;                                    /* while sampling; 0: unknown */
    double energy_j;        /* of a run: power x time, with gaps of up to 10 %; 0: unknown */
    int throttle;           /* GPUMB_THROTTLE_... bits, while sampling; -1: unknown */
    int others;             /* at least this many other processes on the device; -1: unknown */
    double sampled_s;       /* that sampling took, by the host's clock; 0: times were given */
    char compared_with[64]; /* the first region of its GPUMB_INTERLEAVE; "": not compared */
    gpumb_comparison comparison;
    int processes;                     /* that measured it, this one included; 0: this one alone */
    double process_lo_s, process_hi_s; /* smallest and largest of their medians */
    const double *process_medians_s;   /* all, its own last; valid until gpumb_close(); or NULL */
    double elements, elements_per_s;   /* of one run, as stated; 0: not stated */
    gpumb_meaning meaning;
    unsigned flags;
    char time_utc[32]; /* when its region ended: "2026-01-31T12:00:00Z"; "": unknown */
    int kernels;       /* in one run, according to a capture of it; -1: unknown */
    double between_s;  /* part of its time: gaps between consecutive kernels, each taken to be that
                        * between empty kernels in a graph; 0: none, or unknown */
    char nodes[144];   /* all that one run launches: "fill<<<128, 256>>> x2; memset"; "": unknown */
} gpumb_result;

/* Why a device's clock is below what it could be. */
enum {
    GPUMB_THROTTLE_POWER = 1,    /* to stay within its power limit */
    GPUMB_THROTTLE_THERMAL = 2,  /* to stay within its temperature */
    GPUMB_THROTTLE_HARDWARE = 4, /* the hardware's emergency brake: half the clock, or less */
    GPUMB_THROTTLE_OTHER = 8     /* a reason that this version does not know */
};

/* The last row that was finished; NULL if there is none. Rows are valid until gpumb_close(). */
GPUMB_API const gpumb_result *gpumb_last_result(gpumb *g);

/* The rows so far, 0 ... gpumb_row_count() - 1, for conclusions after a sweep; none while a sweep
 * enumerates. gpumb_row_axis(): a row's value of an axis, a named value's index, from 0; -1: the
 * row has no such axis, or it is of reals. gpumb_row_value(): a value of your own, of any axis, or
 * of a numeric column of CSV files ("median_s"), as a double; NaN: not known. */
GPUMB_API size_t gpumb_row_count(gpumb *g);
GPUMB_API const gpumb_result *gpumb_row(gpumb *g, size_t row);
GPUMB_API int64_t gpumb_row_axis(gpumb *g, size_t row, const char *axis);
GPUMB_API double gpumb_row_value(gpumb *g, size_t row, const char *name);

/* A conclusion: a line below the table, and at the end of the JSON and Markdown files. Does nothing
 * while a sweep enumerates. */
GPUMB_API void gpumb_note(gpumb *g, const char *format, ...) GPUMBI_PRINTF(2, 3);

/* One line on standard output. */
GPUMB_API void gpumb_print_result(const gpumb_result *r);

/* ---- regions --------------------------------------------------------------------------------- */

GPUMB_API gpumb *gpumbi_region_begin(gpumb *g, const char *name, gpumb_result *result);
GPUMB_API gpumb *gpumbi_measure_begin(gpumb *g, const char *name);
GPUMB_API int gpumbi_region_next(gpumb *g);
GPUMB_API int gpumbi_region_body(gpumb *g);

/* GPUMB_MEASURE(g, "name") { body }: times the body and writes a row to the sinks. The inner loop
 * runs once, so that `break` and `continue` alike end one run of the body; a region left by return,
 * goto or an exception has no row, and the program's run fails. A name is one line of UTF-8: other
 * characters become blanks or question marks. */
#define GPUMB_MEASURE(g, name) GPUMBI_REGION(gpumbi_measure_begin((g), (name)))

/* GPUMB_TIME(&result) { body }: times the body and fills a gpumb_result; no row is written.
 * GPUMB_TIME_IN(g, &result): the same in a context of your choice. */
#define GPUMB_TIME(result) GPUMB_TIME_IN(GPUMBI_NULL, result)
#define GPUMB_TIME_IN(g, result) GPUMBI_REGION(gpumbi_region_begin((g), GPUMBI_NULL, (result)))

#define GPUMBI_REGION(begin)                                                                       \
    for (gpumb *gpumbi_region = (begin); gpumbi_region_next(gpumbi_region);)                       \
        for (; gpumbi_region_body(gpumbi_region);)

/* GPUMB_INTERLEAVE(g) { several GPUMB_MEASURE }: takes their samples in turn, in an order that is
 * drawn from the seed, so that drifting clocks, periodic disturbances, and what each region does to
 * the next affect all alike. A round in which a time is zero is left out of all. Ends when each has
 * its precision and the ratios to the first are decided, or a budget is used up. Where one can't be
 * timed like the others, those whose timing is AUTO follow it; one that is still timed differently
 * is not compared, and a line says so. Up to 16 regions. */
GPUMB_API gpumb *gpumbi_interleave_begin(gpumb *g);
GPUMB_API int gpumbi_interleave_next(gpumb *g);
#define GPUMB_INTERLEAVE(g)                                                                        \
    for (gpumb *gpumbi_interleave = gpumbi_interleave_begin(g);                                    \
         gpumbi_interleave_next(gpumbi_interleave);)

/* A row of times that were taken elsewhere (by a kernel's own clock, in fresh processes, by a
 * library's timer): `seconds` of one run each, in the order in which they were taken. Zero,
 * negative and NaN times are left out. gpumb_set_...() describe the row as they do a region, and a
 * check that is set runs once; in a GPUMB_INTERLEAVE the k-th times of all form a round. `timing`
 * is "given". */
GPUMB_API void gpumb_add_times(gpumb *g, const char *name, gpumb_meaning meaning,
                               const double *seconds, uint64_t count);

/* 1 if gpumb_add_times() would make a row now, so that times have to be taken; 0 while a sweep
 * enumerates, in passes of other configurations, and for what --filter leaves out. */
GPUMB_API int gpumb_wants_times(gpumb *g, const char *name);

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* A program with several sweeps makes each of them a gpumb_benchmark: only then are all axes known
 * before the first output, and `--axis` may name any of them. */

GPUMB_API gpumb_axis *gpumbi_sweep_range(gpumb *g, const char *name, int64_t lo, int64_t hi,
                                         int64_t step, int64_t factor);
GPUMB_API gpumb_axis *gpumbi_sweep_list(gpumb *g, const char *name, const int64_t *values,
                                        size_t count);
GPUMB_API gpumb_axis *gpumbi_sweep_names(gpumb *g, const char *name, const char *const *names,
                                         size_t count);
GPUMB_API gpumb_axis *gpumbi_sweep_reals(gpumb *g, const char *name, const double *values,
                                         size_t count);
GPUMB_API int gpumbi_sweep_next(gpumb_axis *axis);
GPUMB_API void gpumbi_sweep_left(gpumb_axis **axis);
GPUMB_API int64_t gpumbi_sweep_value(const gpumb_axis *axis);
GPUMB_API double gpumbi_sweep_real(const gpumb_axis *axis);

/* Each declares an int64_t called `axis` and runs the block after it for each of its values.
 *     GPUMB_SWEEP_POW2(g, block, 64, 1024)          64, 128, 256, 512, 1024
 *     GPUMB_SWEEP_FACTOR(g, n, 1000, 1000000, 10)   1000, 10000, ...
 *     GPUMB_SWEEP_RANGE(g, stride, 1, 32, 1)        1, 2, ..., 32
 *     GPUMB_SWEEP_LIST(g, elem, 1, 2, 4, 8, 16)     just these
 *     GPUMB_SWEEP_ARRAY(g, n, values, count)        those of an int64_t array
 *     GPUMB_SWEEP_NAMES(g, form, "naive", "fast")   0, 1; the sinks show the names
 *     GPUMB_SWEEP_STRINGS(g, form, names, count)    the same from an array of strings
 *     GPUMB_SWEEP_TYPES(g, type, float, double)     the same; for GPUMB_FOR_TYPES()
 *     GPUMB_SWEEP_REALS(g, alpha, 0.1, 0.5, 1e-3)   a double called `alpha`; finite values
 *     GPUMB_SWEEP_REAL_ARRAY(g, alpha, values, count)   those of an array of doubles
 * `--axis block=96,192` replaces the values: by any from 1 on, or from the smallest in the source
 * if that is less; reals by any. Names can be chosen from, not added to. Nested sweeps must have
 * different names, none of them that of a column. Reals keep all their digits on the way through
 * files and options. */
#define GPUMB_SWEEP_POW2(g, axis, lo, hi) GPUMB_SWEEP_FACTOR(g, axis, lo, hi, 2)
#define GPUMB_SWEEP_FACTOR(g, axis, lo, hi, factor)                                                \
    GPUMBI_SWEEP(int64_t, value, axis, gpumbi_sweep_range((g), #axis, (lo), (hi), 0, (factor)))
#define GPUMB_SWEEP_RANGE(g, axis, lo, hi, step)                                                   \
    GPUMBI_SWEEP(int64_t, value, axis, gpumbi_sweep_range((g), #axis, (lo), (hi), (step), 0))
#define GPUMB_SWEEP_ARRAY(g, axis, values, count)                                                  \
    GPUMBI_SWEEP(int64_t, value, axis, gpumbi_sweep_list((g), #axis, (values), (count)))
#define GPUMB_SWEEP_REAL_ARRAY(g, axis, values, count)                                             \
    GPUMBI_SWEEP(double, real, axis, gpumbi_sweep_reals((g), #axis, (values), (count)))
#define GPUMB_SWEEP_STRINGS(g, axis, names, count)                                                 \
    GPUMBI_SWEEP(int64_t, value, axis, gpumbi_sweep_names((g), #axis, (names), (count)))
#define GPUMB_SWEEP_LIST(g, axis, ...)                                                             \
    GPUMBI_SWEEP_OVER(GPUMB_SWEEP_ARRAY, int64_t, g, axis, __VA_ARGS__)
#define GPUMB_SWEEP_REALS(g, axis, ...)                                                            \
    GPUMBI_SWEEP_OVER(GPUMB_SWEEP_REAL_ARRAY, double, g, axis, __VA_ARGS__)
#define GPUMB_SWEEP_NAMES(g, axis, ...)                                                            \
    GPUMBI_SWEEP_OVER(GPUMB_SWEEP_STRINGS, gpumbi_name, g, axis, __VA_ARGS__)

typedef const char *gpumbi_name;
#define GPUMBI_SWEEP_OVER(sweep, type, g, axis, ...)                                               \
    for (type gpumbi_list_##axis[] = {__VA_ARGS__}, *gpumbi_go_##axis = gpumbi_list_##axis;        \
         gpumbi_go_##axis; gpumbi_go_##axis = GPUMBI_NULL)                                         \
    sweep(g, axis, gpumbi_list_##axis, sizeof gpumbi_list_##axis / sizeof gpumbi_list_##axis[0])

#define GPUMBI_SWEEP(type, what, axis, begin)                                                      \
    for (GPUMBI_AT_END(gpumbi_sweep_left) gpumb_axis *gpumbi_axis_##axis = (begin);                \
         gpumbi_sweep_next(gpumbi_axis_##axis);)                                                   \
        for (type axis = gpumbi_sweep_##what(gpumbi_axis_##axis), gpumbi_once_##axis = 1;          \
             gpumbi_once_##axis > 0; gpumbi_once_##axis = 0, (void)axis)

/* Instantiates a template for each of a list of types or constants, without a switch:
 *     #define UNROLLS 1, 2, 4
 *     GPUMB_SWEEP_TYPES(g, type, float, double)
 *     GPUMB_SWEEP_LIST(g, unroll, UNROLLS)
 *         GPUMB_MEASURE(g, "scale")
 *             GPUMB_FOR_TYPES(type, T, (float, double),
 *                 GPUMB_FOR_CONSTANTS(unroll, U, (UNROLLS),
 *                     GPUMB_LAUNCH((scale<T, U>), grid, 256, 0, GPUMB_PTR(T, x), n)))
 * compiles the last line for each pair, and runs the one for the axes' values: T is a type (the one
 * of this index), U a constant (of this value). Up to 16 in a list, each written without a comma. A
 * value that is not in it skips the region. Works in C too, for host code. */
#define GPUMB_SWEEP_TYPES(g, axis, ...)                                                            \
    GPUMB_SWEEP_NAMES(g, axis, GPUMBI_EACH(GPUMBI_TYPE_NAME, , , __VA_ARGS__))
#define GPUMB_FOR_TYPES(index, T, types, ...)                                                      \
    GPUMBI_FOR_EACH(GPUMBI_FOR_TYPE, index, T, types, (__VA_ARGS__))
#define GPUMB_FOR_CONSTANTS(value, U, constants, ...)                                              \
    GPUMBI_FOR_EACH(GPUMBI_FOR_CONSTANT, value, U, constants, (__VA_ARGS__))

#define GPUMBI_FOR_EACH(what, value, name, list, body)                                             \
    do {                                                                                           \
        int64_t gpumbi_at_##name = GPUMBI_CAST(int64_t, value);                                    \
        GPUMBI_EACH(what, name, body, GPUMBI_LIST list)                                            \
        gpumb_skip(GPUMBI_NULL, "%s is %lld: not in the list of what is compiled", #name,          \
                   GPUMBI_CAST(long long, gpumbi_at_##name));                                      \
    } while (0)
#define GPUMBI_FOR_TYPE(name, body, type)                                                          \
    if (gpumbi_at_##name-- == 0) {                                                                 \
        typedef type name;                                                                         \
        GPUMBI_LIST body;                                                                          \
    } else
#define GPUMBI_FOR_CONSTANT(name, body, constant)                                                  \
    if (gpumbi_at_##name == (constant)) {                                                          \
        GPUMBI_CONSTANT(name, constant);                                                           \
        GPUMBI_LIST body;                                                                          \
    } else
#ifdef __cplusplus
#define GPUMBI_CONSTANT(name, value) constexpr int64_t name = (value)
#else
#define GPUMBI_CONSTANT(name, value) enum { name = (value) }
#endif
#define GPUMBI_TYPE_NAME(a, b, type) #type,
#define GPUMBI_LIST(...) __VA_ARGS__
#define GPUMBI_EACH(m, a, b, ...) GPUMBI_EACH_OF(m, a, b, __VA_ARGS__)
#define GPUMBI_EACH_OF(m, a, b, ...)                                                               \
    GPUMBI_17TH(__VA_ARGS__, GPUMBI_16, GPUMBI_15, GPUMBI_14, GPUMBI_13, GPUMBI_12, GPUMBI_11,     \
                GPUMBI_10, GPUMBI_9, GPUMBI_8, GPUMBI_7, GPUMBI_6, GPUMBI_5, GPUMBI_4, GPUMBI_3,   \
                GPUMBI_2, GPUMBI_1, 0)                                                             \
    (m, a, b, __VA_ARGS__)
#define GPUMBI_17TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, it, ...) it
#define GPUMBI_1(m, a, b, x) m(a, b, x)
#define GPUMBI_2(m, a, b, x, ...) m(a, b, x) GPUMBI_1(m, a, b, __VA_ARGS__)
#define GPUMBI_3(m, a, b, x, ...) m(a, b, x) GPUMBI_2(m, a, b, __VA_ARGS__)
#define GPUMBI_4(m, a, b, x, ...) m(a, b, x) GPUMBI_3(m, a, b, __VA_ARGS__)
#define GPUMBI_5(m, a, b, x, ...) m(a, b, x) GPUMBI_4(m, a, b, __VA_ARGS__)
#define GPUMBI_6(m, a, b, x, ...) m(a, b, x) GPUMBI_5(m, a, b, __VA_ARGS__)
#define GPUMBI_7(m, a, b, x, ...) m(a, b, x) GPUMBI_6(m, a, b, __VA_ARGS__)
#define GPUMBI_8(m, a, b, x, ...) m(a, b, x) GPUMBI_7(m, a, b, __VA_ARGS__)
#define GPUMBI_9(m, a, b, x, ...) m(a, b, x) GPUMBI_8(m, a, b, __VA_ARGS__)
#define GPUMBI_10(m, a, b, x, ...) m(a, b, x) GPUMBI_9(m, a, b, __VA_ARGS__)
#define GPUMBI_11(m, a, b, x, ...) m(a, b, x) GPUMBI_10(m, a, b, __VA_ARGS__)
#define GPUMBI_12(m, a, b, x, ...) m(a, b, x) GPUMBI_11(m, a, b, __VA_ARGS__)
#define GPUMBI_13(m, a, b, x, ...) m(a, b, x) GPUMBI_12(m, a, b, __VA_ARGS__)
#define GPUMBI_14(m, a, b, x, ...) m(a, b, x) GPUMBI_13(m, a, b, __VA_ARGS__)
#define GPUMBI_15(m, a, b, x, ...) m(a, b, x) GPUMBI_14(m, a, b, __VA_ARGS__)
#define GPUMBI_16(m, a, b, x, ...) m(a, b, x) GPUMBI_15(m, a, b, __VA_ARGS__)

/* ---- without macros -------------------------------------------------------------------------- */

#if !defined(GPUMB_STATIC)

/* The same for languages without C's preprocessor or variable arguments, not with GPUMB_STATIC: a
 * function of yours, with a pointer of yours, takes the place of a block. It is called as often as
 * a block would run, in the calling thread; NULL does nothing. If it returns other than 0 it can't
 * go on: it is not called again, and the function here returns the same. No exception may pass
 * through these functions: catch it, and return 1. */
typedef int (*gpumb_body)(gpumb *g, void *user);
typedef int (*gpumb_value_body)(gpumb *g, int64_t value, void *user);
typedef int (*gpumb_real_body)(gpumb *g, double value, void *user);

/* As GPUMB_MEASURE. Where the body fails, the row is skipped, with the reason that it has given by
 * gpumb_skip_text(); in a capture, see gpumb_set_capturable(), it is run again without one. */
GPUMB_API int gpumb_run_region(gpumb *g, const char *name, gpumb_body body, void *user);

/* As GPUMB_INTERLEAVE: the body has the regions in it. Where it fails, see gpumb_abandon(). */
GPUMB_API int gpumb_run_interleave(gpumb *g, gpumb_body body, void *user);

/* As GPUMB_SWEEP_ARRAY, _REAL_ARRAY and _STRINGS, whose bodies get the index of a name. Where one
 * fails, see gpumb_abandon(). An axis without a name ends the context. */
GPUMB_API int gpumb_run_sweep(gpumb *g, const char *axis, const int64_t *values, size_t count,
                              gpumb_value_body body, void *user);
GPUMB_API int gpumb_run_sweep_reals(gpumb *g, const char *axis, const double *values, size_t count,
                                    gpumb_real_body body, void *user);
GPUMB_API int gpumb_run_sweep_names(gpumb *g, const char *axis, const char *const *names,
                                    size_t count, gpumb_value_body body, void *user);

/* For a program that goes on after an exception: forgets what was set for the next region, and ends
 * the region, the interleave and the sweeps under way, if any. Their finished rows stay, the others
 * are dropped, and the run counts as failed. */
GPUMB_API void gpumb_abandon(gpumb *g);

/* gpumb_skip(), gpumb_reason() and gpumb_note() with plain text, not a format. */
GPUMB_API void gpumb_skip_text(gpumb *g, const char *text);
GPUMB_API void gpumb_reason_text(gpumb *g, const char *text);
GPUMB_API void gpumb_note_text(gpumb *g, const char *text);

/* What a CSV file has in a column of a row, copied to `text` with a final 0, cut to `size` bytes.
 * Returns its full length; -1, and an empty text, if there is no such row or column. */
GPUMB_API int gpumb_row_text(gpumb *g, size_t row, const char *column, char *text, size_t size);

/* The columns of CSV files so far, from 0; NULL after the last. Axes and values come last, and each
 * row may add to them. */
GPUMB_API const char *gpumb_column_name(gpumb *g, size_t column);

/* As gpumb_row_text(): the line that gpumb_print_result() prints. */
GPUMB_API int gpumb_row_line(gpumb *g, size_t row, char *text, size_t size);

/* The samples of a row in seconds, in the order taken; NULL, and a `count` of 0, where it has none,
 * or the settings have not asked for them (`raw`). Valid until gpumb_close(). */
GPUMB_API const double *gpumb_row_samples(gpumb *g, size_t row, uint64_t *count);

/* A row as gpumb_row() has it, copied: `size`, up to 65536, is sizeof(gpumb_result) where the
 * caller was compiled. Members that this library does not know yet are 0. Returns 0, or -1 if there
 * is no such row. */
GPUMB_API int gpumb_row_copy(gpumb *g, size_t row, gpumb_result *result, size_t size);

/* The defaults, for a caller whose gpumb_settings has `size` bytes, up to 65536: members are only
 * added at its end, so that old callers go on working. A member that is set but that this library
 * does not know yet ends the context. */
GPUMB_API void gpumb_settings_init(gpumb_settings *settings, size_t size);

/* Lines for the user go to `log`, in the thread that has something to say, instead of standard
 * error; NULL: to standard error again. Applies to all contexts, so call it before opening any. The
 * text is valid only during the call. */
typedef void (*gpumb_log)(const char *line, void *user);
GPUMB_API void gpumb_set_log(gpumb_log log, void *user);

/* For programs that handle Ctrl-C in their own language: `poll` is called about ten times a second
 * while samples come from graphs, and no body runs. A result other than 0 ends the region as
 * skipped. NULL: nothing is called. */
GPUMB_API void gpumb_set_poll(gpumb *g, gpumb_body poll, void *user);

GPUMB_API const char *gpumb_version(void); /* "0.1.0" */

#endif

/* ---- code from elsewhere --------------------------------------------------------------------- */

#if !defined(GPUMB_STATIC) || defined(GPUMB_MODULES)

/* Kernels that another compiler, language or run has made, from a file or from memory: on NVIDIA a
 * cubin, a fatbin or PTX, which the driver compiles; on AMD a code object. Loaded through the
 * driver, for the context's device, until gpumb_close(). Returns NULL where that fails, and on the
 * CPU: the next region is skipped with the reason. */
typedef struct gpumb_module gpumb_module;
GPUMB_API gpumb_module *gpumb_load(gpumb *g, const char *path);

/* From `bytes` of memory, which may be freed afterwards. For PTX: the most registers per thread (0:
 * any), and the level of optimisation, 0 ... 4 (-1: the driver's default, 4). */
GPUMB_API gpumb_module *gpumb_load_image(gpumb *g, const void *image, uint64_t bytes,
                                         int max_registers, int optimization);

/* A kernel of a module, for gpumb_launch(), by its name there: the mangled one for a C++ kernel
 * that is not extern "C"; NULL: the only kernel. Returns NULL if there is none of this name; the
 * reason names those that there are. */
GPUMB_API const void *gpumb_function(gpumb *g, gpumb_module *from, const char *name);

#endif

/* How a kernel is launched, beyond grid and block. Asking for what a device lacks skips the
 * region. */
typedef struct gpumb_launch_config {
    uint64_t grid[3], block[3]; /* 0 counts as 1 */
    uint64_t shared_bytes;      /* of dynamic shared memory */
    int cluster[3];  /* blocks in a cluster; they divide the grid; {0}: none. NVIDIA, sm_90 on */
    int cooperative; /* 1: all blocks are resident at once, for barriers of the grid */
    int priority;    /* less is more urgent, as for streams; 0: that of the stream. NVIDIA */
    int dependent;   /* 1: programmatic dependent launch: it may begin before the launch ahead of it
                      * has ended. So the time is an interval, never a span. NVIDIA, sm_90 on */
} gpumb_launch_config;

/* As GPUMB_LAUNCH, by the address of a kernel or by what gpumb_function() returns; `parameters`
 * points to each argument, as for cudaLaunchKernel(); `name` becomes the row's if its region has
 * none. On the CPU the region is skipped: there kernels are launched by GPUMB_LAUNCH alone. */
GPUMB_API void gpumb_launch(gpumb *g, const char *name, const void *function,
                            const uint64_t grid[3], const uint64_t block[3], uint64_t shared_bytes,
                            void **parameters);
GPUMB_API void gpumb_launch_ex(gpumb *g, const char *name, const void *function,
                               const gpumb_launch_config *how, void **parameters);

/* ---- a model of coalescing ------------------------------------------------------------------- */

#if !defined(GPUMB_STATIC) || defined(GPUMB_COALESCING)

/* What one access of a warp asks of memory: the bytes that its lanes want, and the distinct aligned
 * pieces that hold them. Pure arithmetic on addresses, for any device: NVIDIA fetches sectors of 32
 * bytes in lines of 128; AMD lines of 64 (gfx9 before gfx90a) or 128 bytes. */
typedef struct gpumb_coalescing {
    uint64_t bytes;    /* wanted; what several lanes want counts once */
    uint64_t sectors;  /* distinct pieces of `sector` bytes */
    uint64_t lines;    /* distinct pieces of `line` bytes */
    double efficiency; /* bytes / (sectors * sector); 0 without lanes */
} gpumb_coalescing;

/* `lanes` accesses of `elem` bytes each, 1 to 4096, at the byte addresses `address`, in any order.
 * `sector` and `line` are in bytes, at least 1. Otherwise all results are 0. O(lanes^2 * elem). */
GPUMB_API gpumb_coalescing gpumb_coalesce(const uint64_t *address, int lanes, int elem, int sector,
                                          int line);

/* The same for a large grid whose threads access element offset + i * stride: its warps start at
 * different offsets in a sector, so bytes, sectors and lines are sums over as many warps as it
 * takes until the pattern repeats, and `efficiency` is that of the sums. `warp` is at most 64, the
 * least common multiple of `sector` and `line` 4096. */
GPUMB_API gpumb_coalescing gpumb_coalesce_strided(int elem, uint64_t stride, uint64_t offset,
                                                  int warp, int sector, int line);

/* The same for gpumb_subdomains(): blocks of `block` threads, up to 4096, in groups of `lanes`. */
GPUMB_API gpumb_coalescing gpumb_coalesce_subdomains(int elem, int block, int lanes, int iterations,
                                                     int warp, int sector, int line);

#endif

/* ---- reference kernels ----------------------------------------------------------------------- */

typedef enum gpumb_form {
    GPUMB_FORM_NAIVE,  /* reads like the formula */
    GPUMB_FORM_FASTEST /* the same result, at the hardware's limit */
} gpumb_form;

typedef enum gpumb_mode { GPUMB_READ_WRITE, GPUMB_WRITE, GPUMB_READ } gpumb_mode;

#if !defined(GPUMB_STATIC) || (defined(__cplusplus) && !defined(GPUMB_NO_KERNELS))

/* Launches a kernel that does nothing. Returns 0, or -1 with the row skipped and the reason in
 * it. */
GPUMB_API int gpumb_empty(gpumb *g, uint64_t blocks, int block);

/* A check for gpumb_set_verify(); GPUMB_WRITE and GPUMB_READ need GPUMB_COPY. */
typedef struct gpumb_copy_check {
    const gpumb_buffer *in, *out;
    uint64_t bytes;
    gpumb_mode mode;
} gpumb_copy_check;

GPUMB_API int gpumb_check_copy(gpumb *g, void *copy_check);

/* What GPUMB_WRITE writes to 4-byte word w of the output. */
GPUMB_API uint32_t gpumb_zcopy_word(uint64_t w);

#endif

/* Copies: #define GPUMB_COPY before the implementation.
 *
 * These launch on the context's stream and return 0, or -1 with the row skipped and the reason in
 * it. `elem` is the element's size, `n` a count of elements, buffers are aligned to an element.
 * gpumb_copy() and gpumb_zcopy() choose a block of threads where it is 0. */

#if !defined(GPUMB_STATIC) || defined(GPUMB_COPY)

/* out[i] = in[i], one element per thread. `elem` 1, 2, 4, 8, 16 or 32. Bytes: 2 * n * elem. The
 * naive form launches ceil(n / block) blocks. The fastest form moves the same bytes in 16-byte
 * words with a geometry of its own. */
GPUMB_API int gpumb_copy(gpumb *g, gpumb_form form, int elem, uint64_t n, int block, const void *in,
                         void *out);

/* A grid-stride loop over n elements of 4, 8, 16 or 32 bytes, on `blocks` blocks (0: chosen).
 *     GPUMB_READ_WRITE   out[i] = in[i]; bytes: 2 * n * elem
 *     GPUMB_WRITE        out[i] = gpumb_zcopy_word(its 4-byte words); bytes: n * elem
 *     GPUMB_READ         adds up all 4-byte words (modulo 2^32), as 1024 partial sums of 4 bytes
 *                        that are added to what out holds; bytes: n * elem
 * Either pointer may be NULL where the mode does not use it. */
GPUMB_API int gpumb_zcopy(gpumb *g, gpumb_form form, gpumb_mode mode, int elem, uint64_t n,
                          uint64_t blocks, int block, const void *in, void *out);

#endif

#if !defined(GPUMB_STATIC) || defined(GPUMB_STRIDED)

/* The next three are compiled with GPUMB_STRIDED defined before the implementation.
 *
 * out[i * stride] = in[i * stride] for i < n, one element per thread. `elem` 1, 2, 4, 8 or 16. The
 * buffers hold (n - 1) * stride + 1 elements. Bytes: 2 * n * elem, whatever else the memory
 * fetches; gpumb_coalesce_strided() says how much that is. */
GPUMB_API int gpumb_strided(gpumb *g, int elem, uint64_t n, uint64_t stride, int block,
                            const void *in, void *out);

/* A copy of blocks * block * iterations elements in which `lanes` consecutive threads work on a
 * sub-domain of lanes * iterations consecutive elements, `lanes` of them at a time: thread t of
 * block b moves the elements
 *     (b * block + t / lanes * lanes) * iterations + i * lanes + t % lanes,  i < iterations.
 * `block` is a multiple of `lanes`. `elem` as above. Bytes: 2 * blocks * block * iterations *
 * elem. A misaligned copy needs no kernel of its own: gpumb_copy() takes pointers to any
 * element. */
GPUMB_API int gpumb_subdomains(gpumb *g, int elem, int lanes, int iterations, uint64_t blocks,
                               int block, const void *in, void *out);

/* Check for all three: out[out_offset + i * stride] is in[in_offset + i * stride] for i < n, and
 * everything else in `out` is poison. Elements of `elem` bytes; stride 1 for gpumb_subdomains(). */
typedef struct gpumb_stride_check {
    const gpumb_buffer *in, *out;
    int elem;
    uint64_t n, stride, in_offset, out_offset;
} gpumb_stride_check;

GPUMB_API int gpumb_check_strided(gpumb *g, void *stride_check);

#endif

/* ---- reductions ------------------------------------------------------------------------------ */

typedef enum gpumb_type { GPUMB_F32, GPUMB_F64, GPUMB_I32, GPUMB_U32 } gpumb_type;
typedef enum gpumb_operation { GPUMB_SUM, GPUMB_MIN, GPUMB_MAX } gpumb_operation;

/* How the threads of a block combine their values. */
typedef enum gpumb_combine {
    GPUMB_COMBINE_FIRST_THREAD, /* through shared memory, by thread 0 alone */
    GPUMB_COMBINE_TREE,         /* a tree in shared memory, sequential addressing */
    GPUMB_COMBINE_SHUFFLE_DOWN, /* shuffles in each warp, then in the first for their results */
    GPUMB_COMBINE_SHUFFLE_XOR   /* the same; all lanes get the result */
} gpumb_combine;

/* How the blocks combine theirs. */
typedef enum gpumb_finish {
    GPUMB_FINISH_TWO_LAUNCHES, /* a second launch of one block */
    GPUMB_FINISH_ATOMIC,       /* one atomic per block, on an output that an earlier launch has
                                * set */
    GPUMB_FINISH_LAST_BLOCK    /* one launch; the last block to finish does it */
} gpumb_finish;

/* Reduces n elements of `in`, any number from 0 up, to one in `out`. Sums of integers wrap around;
 * a NaN makes a sum NaN, and is never the smallest or largest; for no elements the result is the
 * operation's identity (0, or the largest or smallest value of the type, infinity for floats).
 * Bytes: n elements.
 *
 * The naive form does what `combine` and `finish` say. Each warp takes warp_size * per_thread
 * consecutive elements at a time, in turn over the grid until all are done. The fastest form is one
 * launch that reads words of 16 bytes, to which `in` is aligned, with all loads of a thread in
 * flight, and ignores `combine`, `finish` and `per_thread`. Where `block`, `blocks` or `per_thread`
 * is 0, it is chosen by n.
 *
 * Only what is listed before the implementation is compiled, since each kernel costs compile time:
 *     #define GPUMB_REDUCTIONS(X) X(F32, SUM) X(F64, MAX)
 * or all of them: #define GPUMB_REDUCTIONS(X) GPUMB_ALL_REDUCTIONS(X). */
typedef struct gpumb_reduction {
    gpumb_type type;
    gpumb_operation operation;
    gpumb_form form;
    gpumb_combine combine;
    gpumb_finish finish;
    int block;       /* threads, up to 1024 */
    uint64_t blocks; /* grid */
    int per_thread;  /* elements that a thread takes per turn */
} gpumb_reduction;

#if !defined(GPUMB_STATIC) || defined(GPUMB_REDUCTIONS)

GPUMB_API gpumb_reduction gpumb_reduction_default(void); /* fp32 sum, fastest form */

/* What gpumb_reduce() needs besides input and output: a buffer, allocated and set up, for
 * reductions like this one of at most n elements, one at a time. */
GPUMB_API gpumb_buffer *gpumb_reduction_workspace(gpumb *g, const gpumb_reduction *how, uint64_t n);
GPUMB_API int gpumb_reduce(gpumb *g, const gpumb_reduction *how, uint64_t n, const void *in,
                           void *out, gpumb_buffer *workspace);

/* The geometry that gpumb_reduce() uses for n elements: `how` with its zeros replaced. */
GPUMB_API gpumb_reduction gpumb_reduction_geometry(gpumb *g, const gpumb_reduction *how,
                                                   uint64_t n);

/* Checks integers, minima and maxima exactly. A floating sum may differ from the exact one by
 * gamma(h) * sum |x|, where h is the largest number of additions that an element goes through in
 * this geometry, gamma(h) = h u / (1 - h u), and u the unit roundoff (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., section 4.2). The exact sum is taken on the device in
 * pairs of doubles. */
typedef struct gpumb_reduction_check {
    const gpumb_reduction *how;
    const gpumb_buffer *in, *out;
    uint64_t n;
} gpumb_reduction_check;

GPUMB_API int gpumb_check_reduction(gpumb *g, void *reduction_check);

#endif

/* ---- n-body ---------------------------------------------------------------------------------- */

typedef enum gpumb_rsqrt {
    GPUMB_RSQRT_LIBRARY,     /* rsqrtf(): guards against denormals, 4 ... 5 more instructions */
    GPUMB_RSQRT_APPROXIMATE, /* the instruction alone, denormals flushed to zero */
    GPUMB_RSQRT_INTEGER      /* 0x5f3759df and two Newton steps */
} gpumb_rsqrt;

/* All-pairs gravity with Plummer softening: body i, at (x, y, z) with mass w, is accelerated by
 *     a_i = sum over j of w_j d / (|d|^2 + softening^2)^(3/2),  d = r_j - r_i.
 * The gravitational constant is in the masses. By convention 20 FLOP per interaction, and n * n
 * interactions (Nyland, Harris & Prins, GPU Gems 3, ch. 31), however many a form carries out.
 *
 * The plain form: a block of `block` threads with `bodies` bodies each walks over all others, tile
 * by tile of `block` bodies in shared memory, `unroll` of them at a time. With `splits` above 1,
 * that many blocks share the walk, and a second launch adds up their sums.
 * Pairs: each pair is met once and serves both (Newton's third law), which halves the work; sums
 * are written by atomics, so that their last bits differ from run to run.
 *
 * Only the forms listed before the implementation are compiled, for example
 *     #define GPUMB_NBODY_FORMS(X) X(1, 1, LIBRARY) X(4, 4, APPROXIMATE)    (bodies, unroll, rsqrt)
 *     #define GPUMB_NBODY_PAIRS(X) X(8, 1)                                  (bodies, unroll) */
typedef struct gpumb_nbody {
    int pairs;  /* 1: each pair once, with GPUMB_RSQRT_APPROXIMATE */
    int bodies; /* per thread */
    int unroll; /* divides `block`; with pairs, the warp size too */
    gpumb_rsqrt rsqrt;
    int block;  /* threads: 32 ... 1024, 512 from 4 bodies on; with pairs, whole warps; 0: chosen */
    int splits; /* 1 ... 64; 0: as many as fill the device */
    float softening; /* at least 1e-12: a body meets itself */
} gpumb_nbody;

#if !defined(GPUMB_STATIC) || defined(GPUMB_NBODY_FORMS) || defined(GPUMB_NBODY_PAIRS)

GPUMB_API gpumb_nbody gpumb_nbody_default(void); /* the form listed last, softening 0.01 */

/* The forms that are compiled: returns their number, and stores up to `room` of them; block, splits
 * and softening are the defaults. */
GPUMB_API int gpumb_nbody_forms(gpumb_nbody *forms, int room);

/* Room for the partial sums of `splits`. */
GPUMB_API gpumb_buffer *gpumb_nbody_workspace(gpumb *g, const gpumb_nbody *how, uint64_t n);

/* Positions (x, y, z, mass) and accelerations (x, y, z, 0) are float4s. n up to 2^31 - 1. */
GPUMB_API int gpumb_nbody_accelerations(gpumb *g, const gpumb_nbody *how, uint64_t n,
                                        const void *positions, void *accelerations,
                                        gpumb_buffer *workspace);

/* `steps` steps of the leapfrog (kick - drift - kick), from accelerations that belong to the
 * positions. Velocities (x, y, z, 0) are those at the positions' time, before and after. n * n
 * interactions per step. */
GPUMB_API int gpumb_nbody_steps(gpumb *g, const gpumb_nbody *how, uint64_t n, int steps, float dt,
                                void *positions, void *velocities, void *accelerations,
                                gpumb_buffer *workspace);

/* Check of accelerations: up to `samples` bodies (0: 64) against fp64 sums on the host. The
 * tolerance is (6 sqrt(h) + 20) u sum |terms|: h additions one after the other (their roundings,
 * taken as independent, stay below with a probability of 1 - 3e-8: Higham & Mary, SIAM J. Sci.
 * Comput. 41, 2019), 20 for the roundings within a term, and 3 times the root's own error on top
 * where that is larger (5e-6 with GPUMB_RSQRT_INTEGER). */
typedef struct gpumb_nbody_check {
    const gpumb_nbody *how;
    const gpumb_buffer *positions, *accelerations;
    uint64_t n;
    int samples;
} gpumb_nbody_check;

GPUMB_API int gpumb_check_nbody(gpumb *g, void *nbody_check);

#endif

/* ---- the CPU backend ------------------------------------------------------------------------- */

/* Set the OS threads that run blocks, 1 ... 4096 (0: one per core), and the threads per warp, 32 or
 * 64; neither has an effect on GPUs. gpumb_cpu_workers(): how many there are now (0 on a GPU). */
GPUMB_API void gpumb_cpu_set_workers(int workers);
GPUMB_API int gpumb_cpu_workers(void);
GPUMB_API int gpumb_cpu_set_warp_size(int warp_size); /* 0, or -1 for another size */

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ================================================================================================
 * CPU KERNELS
 *
 * What kernels need where there is no GPU: the emulated thread and the CUDA names. The first part
 * is what the implementation shares with kernels and is plain C; the rest is C++.
 */
#if defined(GPUMB_BACKEND_CPU)
#ifdef __cplusplus
extern "C" {
#endif

/* A fiber's stack. Sanitizers enlarge frames; a kernel that needs more can define it itself. */
#if defined(__SANITIZE_ADDRESS__)
#define GPUMBI_ASAN 1
#elif defined(GPUMB_TRACE) /* takes the hooks of ThreadSanitizer, not its runtime */
#elif defined(__SANITIZE_THREAD__)
#define GPUMBI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUMBI_ASAN 1
#elif __has_feature(thread_sanitizer)
#define GPUMBI_TSAN 1
#endif
#endif
#ifndef GPUMB_CPU_STACK_BYTES
#if defined(GPUMBI_ASAN) || defined(GPUMBI_TSAN) || defined(GPUMB_TRACE)
#define GPUMB_CPU_STACK_BYTES (256 * 1024)
#else
#define GPUMB_CPU_STACK_BYTES (64 * 1024)
#endif
#endif

typedef struct gpumbi_uint3 {
    unsigned x, y, z;
} gpumbi_uint3;

typedef struct gpumbi_emulated_thread {
    gpumbi_uint3 thread_idx, block_idx, block_dim, grid_dim;
    void *shared;
} gpumbi_emulated_thread;

/* Everything a thread can wait at; block barriers first, votes last. */
#define GPUMBI_WAIT_LIST(X)                                                                        \
    X(SYNCTHREADS, "__syncthreads")                                                                \
    X(SYNCTHREADS_COUNT, "__syncthreads_count")                                                    \
    X(SYNCTHREADS_AND, "__syncthreads_and")                                                        \
    X(SYNCTHREADS_OR, "__syncthreads_or")                                                          \
    X(SYNCWARP, "__syncwarp")                                                                      \
    X(SHFL, "__shfl_sync")                                                                         \
    X(SHFL_UP, "__shfl_up_sync")                                                                   \
    X(SHFL_DOWN, "__shfl_down_sync")                                                               \
    X(SHFL_XOR, "__shfl_xor_sync")                                                                 \
    X(BALLOT, "__ballot_sync")                                                                     \
    X(ANY, "__any_sync")                                                                           \
    X(ALL, "__all_sync")
#define GPUMBI_WAIT_ENUM(wait, name) GPUMBI_##wait,
enum { GPUMBI_WAIT_LIST(GPUMBI_WAIT_ENUM) GPUMBI_WAITS };
#undef GPUMBI_WAIT_ENUM

/* What a thread waits at: each block-wide barrier in the source has one of its own; warp operations
 * have no line. */
typedef struct gpumbi_place {
    int wait, line;
    const char *file;
} gpumbi_place;

/* __thread and not thread_local: C++ reaches a thread_local of another translation unit through a
 * wrapper. */
#ifdef GPUMB_STATIC
static GPUMBI_PER_THREAD gpumbi_emulated_thread gpumbi_self;
static int gpumbi_warp_size = 32;
#else
extern __thread gpumbi_emulated_thread gpumbi_self;
extern int gpumbi_warp_size;
#endif

GPUMB_API const char *gpumbi_cpu_take_fault(void);
GPUMB_API void gpumbi_cpu_shutdown(void);
GPUMB_API int gpumbi_cpu_barrier(const gpumbi_place *here, int predicate);
GPUMB_API void gpumbi_cpu_warp(int wait, uint64_t mask, uint64_t value[2], unsigned x, int width);
GPUMB_API uint64_t gpumbi_cpu_active_mask(void);
enum { GPUMBI_RED_ZONE = 256 };
GPUMBI_API_NOINLINE void gpumbi_cpu_red_zones(unsigned char *first, unsigned char *last);

#ifdef __cplusplus
} /* extern "C" */

/* Function qualifiers. __noinline__ is missing: glibc and libstdc++ use that word themselves. */
#ifndef __global__
#define __global__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __host__
#define __host__
#endif
#ifndef __constant__
#define __constant__
#endif
#ifndef __forceinline__
#define __forceinline__ GPUMBI_INLINE
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#if !defined(__shared__) && defined(GPUMBI_ASAN)
#define __shared__ static /* red zones lie between these alone; so there is one worker */
#elif !defined(__shared__)
#define __shared__ static __thread /* a block never leaves its OS thread */
#endif

/* What lies behind the __shared__ arrays of a file: the first such variable, where they are laid
 * out in reverse order, as by gcc from -O1 on; else the last, as all templates are made. */
#if defined(GPUMBI_ASAN)
#define GPUMBI_RED_ZONES() (void)0
#else
static __thread unsigned char gpumbi_red_zone[GPUMBI_RED_ZONE] GPUMBI_UNUSED;
template <class Last> static unsigned char *gpumbi_last_red_zone()
{
    static __thread unsigned char zone[GPUMBI_RED_ZONE];
    return zone;
}
#define GPUMBI_RED_ZONES() gpumbi_cpu_red_zones(gpumbi_red_zone, gpumbi_last_red_zone<void>())
#endif

#define threadIdx (gpumbi_self.thread_idx)
#define blockIdx (gpumbi_self.block_idx)
#define blockDim (gpumbi_self.block_dim)
#define gridDim (gpumbi_self.grid_dim)
#define warpSize (+gpumbi_warp_size) /* hip_runtime.h comes first, or define GPUMB_BACKEND_HIP */

#define GPUMB_SHARED(type, name) type *name = static_cast<type *>(gpumbi_self.shared)

/* On a GPU the threads interleave so that neighbours share cache lines; a core wants the opposite:
 * one contiguous run per thread, which the compiler can vectorise. The tracer wants the GPU's
 * order. */
#ifndef GPUMB_TRACE
#define GPUMB_GRID_STRIDE(i, n)                                                                    \
    for (uint64_t i = 0, gpumbi_end_##i = gpumbi_chunk(n, i); i < gpumbi_end_##i; ++i)
#endif

template <class Integer> static GPUMBI_INLINE uint64_t gpumbi_chunk(Integer count, uint64_t &begin)
{
    const uint64_t n = static_cast<uint64_t>(count);
    const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint64_t chunk = n / threads + (n % threads != 0);
    begin = thread * chunk < n ? thread * chunk : n;
    return n - begin < chunk ? n : begin + chunk;
}

/* Vector types, aligned as in CUDA. */
typedef gpumbi_uint3 uint3;

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz)
    {
    }
    dim3(const uint3 &n) : x(n.x), y(n.y), z(n.z)
    {
    }
};

#define GPUMBI_VECTOR2(name, type, alignment)                                                      \
    struct alignas(alignment) name {                                                               \
        type x, y;                                                                                 \
    };                                                                                             \
    static inline name make_##name(type x, type y)                                                 \
    {                                                                                              \
        return name{x, y};                                                                         \
    }
#define GPUMBI_VECTOR4(name, type)                                                                 \
    struct alignas(16) name {                                                                      \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name make_##name(type x, type y, type z, type w)                                 \
    {                                                                                              \
        return name{x, y, z, w};                                                                   \
    }

GPUMBI_VECTOR2(int2, int, 8) /* twice? cuda_runtime.h comes first, or define GPUMB_BACKEND_CUDA */
GPUMBI_VECTOR2(uint2, unsigned, 8)
GPUMBI_VECTOR2(float2, float, 8)
GPUMBI_VECTOR2(double2, double, 16)
GPUMBI_VECTOR2(longlong2, long long, 16)
GPUMBI_VECTOR2(ulonglong2, unsigned long long, 16)
GPUMBI_VECTOR4(int4, int)
GPUMBI_VECTOR4(uint4, unsigned)
GPUMBI_VECTOR4(float4, float)
GPUMBI_VECTOR4(double4, double)

struct float3 {
    float x, y, z;
};
static inline float3 make_float3(float x, float y, float z)
{
    return float3{x, y, z};
}
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return uint3{x, y, z};
}

/* Barriers, votes and shuffles. Masks have 64 bits, for warps of 64 lanes. Barriers of a block are
 * told apart by where they stand in the source, even within a line or a macro: the address of the
 * lambda's constant stays the same where the optimiser copies code, unlike that of the call. */
#define GPUMBI_HERE(kind)                                                                          \
    [] {                                                                                           \
        static const gpumbi_place gpumbi_at = {kind, __LINE__, __FILE__};                          \
        return &gpumbi_at;                                                                         \
    }()
static inline void gpumbi_cpu_syncthreads(const gpumbi_place *here)
{
    gpumbi_cpu_barrier(here, 0);
}
#define __syncthreads() gpumbi_cpu_syncthreads(GPUMBI_HERE(GPUMBI_SYNCTHREADS))
#define __syncthreads_count(...)                                                                   \
    gpumbi_cpu_barrier(GPUMBI_HERE(GPUMBI_SYNCTHREADS_COUNT), __VA_ARGS__)
#define __syncthreads_and(...) gpumbi_cpu_barrier(GPUMBI_HERE(GPUMBI_SYNCTHREADS_AND), __VA_ARGS__)
#define __syncthreads_or(...) gpumbi_cpu_barrier(GPUMBI_HERE(GPUMBI_SYNCTHREADS_OR), __VA_ARGS__)

static inline uint64_t gpumbi_vote(int wait, uint64_t mask, int predicate)
{
    uint64_t value[2] = {predicate != 0, 0};
    gpumbi_cpu_warp(wait, mask, value, 0, 0);
    return value[0];
}
static inline void __syncwarp(unsigned long long mask = ~0ull)
{
    gpumbi_vote(GPUMBI_SYNCWARP, mask, 0);
}
static inline unsigned long long __ballot_sync(unsigned long long mask, int predicate)
{
    return gpumbi_vote(GPUMBI_BALLOT, mask, predicate);
}
static inline int __any_sync(unsigned long long mask, int predicate)
{
    return gpumbi_vote(GPUMBI_ANY, mask, predicate) != 0;
}
static inline int __all_sync(unsigned long long mask, int predicate)
{
    return gpumbi_vote(GPUMBI_ALL, mask, predicate) != 0;
}
static inline unsigned long long __activemask()
{
    return gpumbi_cpu_active_mask();
}
static inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_block()
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

template <class Type>
static inline Type gpumbi_shuffle(int wait, uint64_t mask, Type value, unsigned x, int width)
{
    static_assert(sizeof(Type) <= 16, "a shuffle moves at most 16 bytes");
    uint64_t words[2] = {0, 0};
    __builtin_memcpy(words, &value, sizeof value);
    gpumbi_cpu_warp(wait, mask, words, x, width);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
}

/* The distance may be of any integer type, signed in most kernels: no sign warnings for that. */
#define GPUMBI_SHUFFLE(name, wait)                                                                 \
    template <class Type, class Integer>                                                           \
    static inline Type name(unsigned long long mask, Type value, Integer x, int width = warpSize)  \
    {                                                                                              \
        return gpumbi_shuffle(wait, mask, value, static_cast<unsigned>(x), width);                 \
    }
GPUMBI_SHUFFLE(__shfl_sync, GPUMBI_SHFL)
GPUMBI_SHUFFLE(__shfl_up_sync, GPUMBI_SHFL_UP)
GPUMBI_SHUFFLE(__shfl_down_sync, GPUMBI_SHFL_DOWN)
GPUMBI_SHUFFLE(__shfl_xor_sync, GPUMBI_SHFL_XOR)

/* Atomics: relaxed like CUDA's, returning the old value. The type comes from the pointer alone, so
 * that atomicAdd(&counter, 1) uses the counter's. */
#define GPUMBI_ATOMIC(name, builtin)                                                               \
    template <class Type> static inline Type name(Type *p, typename gpumbi_as_is<Type>::type v)    \
    {                                                                                              \
        return builtin(p, v, __ATOMIC_RELAXED);                                                    \
    }
#define GPUMBI_ATOMIC_LOOP(head, Type, result)                                                     \
    head(Type *p, typename gpumbi_as_is<Type>::type v)                                             \
    {                                                                                              \
        Type old, next;                                                                            \
        __atomic_load(p, &old, __ATOMIC_RELAXED);                                                  \
        do {                                                                                       \
            next = result;                                                                         \
        } while (                                                                                  \
            !__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old;                                                                                \
    }
GPUMBI_ATOMIC(atomicAdd, __atomic_fetch_add)
GPUMBI_ATOMIC(atomicSub, __atomic_fetch_sub)
GPUMBI_ATOMIC(atomicAnd, __atomic_fetch_and)
GPUMBI_ATOMIC(atomicOr, __atomic_fetch_or)
GPUMBI_ATOMIC(atomicXor, __atomic_fetch_xor)
GPUMBI_ATOMIC_LOOP(static inline float atomicAdd, float, old + v)
GPUMBI_ATOMIC_LOOP(static inline double atomicAdd, double, old + v)
GPUMBI_ATOMIC_LOOP(template <class Type> static inline Type atomicMin, Type, v < old ? v : old)
GPUMBI_ATOMIC_LOOP(template <class Type> static inline Type atomicMax, Type, old < v ? v : old)
GPUMBI_ATOMIC_LOOP(template <class Type> static inline Type atomicInc, Type, old >= v ? 0 : old + 1)

template <class Type> static inline Type atomicExch(Type *p, typename gpumbi_as_is<Type>::type v)
{
    Type old;
    __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
    return old;
}
template <class Type>
static inline Type atomicCAS(Type *p, typename gpumbi_as_is<Type>::type expected,
                             typename gpumbi_as_is<Type>::type desired)
{
    __atomic_compare_exchange(p, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

/* Arithmetic and bits. glibc 2.42 has an rsqrt of its own, with C linkage: ours would clash. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 42)
#include <math.h>
#else
static inline float rsqrtf(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1.0 / __builtin_sqrt(x);
}
#endif
static inline float __fmaf_rn(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
template <class Type> static inline Type __ldg(const Type *p)
{
    return *p;
}

template <class To, class From> static inline To gpumbi_bits(From from)
{
    To to;
    static_assert(sizeof to == sizeof from, "same size");
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
#define GPUMBI_BITS(name, to, from)                                                                \
    static inline to name(from x)                                                                  \
    {                                                                                              \
        return gpumbi_bits<to>(x);                                                                 \
    }
GPUMBI_BITS(__float_as_int, int, float)
GPUMBI_BITS(__float_as_uint, unsigned, float)
GPUMBI_BITS(__int_as_float, float, int)
GPUMBI_BITS(__uint_as_float, float, unsigned)
#endif /* __cplusplus */
#endif /* GPUMB_BACKEND_CPU */

/* ================================================================================================
 * LAUNCHING
 *
 *     GPUMB_LAUNCH(kernel, grid, block, shared_bytes, args...)
 *     GPUMB_LAUNCH_BARRIER(kernel, grid, block, shared_bytes, args...)
 *     GPUMB_LAUNCH_EX(kernel, config, args...)
 *
 * launch on the context's stream and check the launch. `grid` and `block` are dim3, any integer, or
 * {x, y} and {x, y, z} of integers; `config` is a gpumb_launch_config.
 * The second form is for kernels with barriers or warp operations: the same on a GPU; on the CPU
 * each thread is then a fiber. A kernel whose name contains a comma goes in parentheses. Arguments
 * are evaluated once.
 *
 *     GPUMB_GRID_STRIDE(i, n) { ... }   in a kernel: uint64_t i over [0, n), coalesced on a GPU,
 *                                       contiguous for each thread on the CPU
 *     GPUMB_SHARED(type, name)          in a kernel: `type *name` is the dynamic shared memory
 */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpumbi_shape {
    const char *name; /* of the kernel */
    uint64_t grid[3], block[3];
    uint64_t shared_bytes;
    int barrier;
} gpumbi_shape;

/* Not inlined: on the CPU a kernel becomes one flat function with all that it calls, and one that
 * launches another would pull in the whole library. */
GPUMBI_API_NOINLINE int gpumbi_launch_begin(const gpumbi_shape *shape,
                                            const void *function); /* 1: go on */
GPUMBI_API_NOINLINE void gpumbi_launch_end(void);

#if defined(GPUMB_BACKEND_CPU)
/* run() executes every thread of the current block or, in a barrier launch, the current thread. */
GPUMBI_API_NOINLINE int gpumbi_cpu_launch(const gpumbi_shape *launch, void (*run)(void *closure),
                                          void *closure);
#endif

/* What gpumb_trace.c is told: a launch, with the row it is in; then the memory that it can reach;
 * each block, before and after; a thread, before and after it waits, and also before its first
 * instruction and after its last; a completed barrier. */
#ifdef GPUMB_TRACE
enum { GPUMBI_TRACE_BUFFER, GPUMBI_TRACE_SHARED, GPUMBI_TRACE_OWN };
extern void gpumbi_trace_launch(const gpumbi_shape *shape, const char *row);
extern void gpumbi_trace_memory(int kind, const void *memory, uint64_t bytes);
extern void gpumbi_trace_block(const gpumbi_emulated_thread *self, int warp_size, int begins);
extern void gpumbi_trace_wait(int wait, int begins);
extern void gpumbi_trace_barrier(void);
#define GPUMBI_TRACE(call) gpumbi_trace_##call
#else
#define GPUMBI_TRACE(call) (void)0
#endif

#ifdef __cplusplus
} /* extern "C" */

#if !defined(GPUMB_BACKEND_CPU) /* there it is part of the kernel */
GPUMBI_UNOPTIMIZED
#endif

/* 64-bit, so that a negative or oversized extent is seen and refused, never truncated. */
struct gpumbi_extent {
    uint64_t n[3];
    GPUMBI_INLINE gpumbi_extent(const dim3 &d) : n{d.x, d.y, d.z}
    {
    }
    template <class Type> GPUMBI_INLINE gpumbi_extent(Type x) : n{static_cast<uint64_t>(x), 1, 1}
    {
        static_assert(Type(1) / Type(2) == Type(0), "a launch extent is a dim3 or an integer");
    }
    template <class Width, class Height, class Depth = int>
    GPUMBI_INLINE gpumbi_extent(Width x, Height y, Depth z = 1)
        : n{static_cast<uint64_t>(x), static_cast<uint64_t>(y), static_cast<uint64_t>(z)}
    {
        static_assert(Width(1) / Width(2) + Height(1) / Height(2) + Depth(1) / Depth(2) == 0,
                      "a launch extent is a dim3 or an integer");
    }
};

/* For mistakes whose own compiler errors name the remedy late, or never. These overloads are chosen
 * where an argument is a buffer: then no other error follows. */
struct gpumbi_overloaded { /* stands for a kernel whose type can't be deduced */
    gpumbi_overloaded(...);
};
template <class Kernel> struct gpumbi_one_kernel {
    static_assert(sizeof(Kernel) == sizeof(void *),
                  "gpumb: which kernel? Say kernel<type>, or cast an overloaded one to its type");
    typedef Kernel type;
};
template <class... Types> struct gpumbi_if_buffer { /* has a type if one of them is a buffer */
};
template <class First, class... Rest>
struct gpumbi_if_buffer<First, Rest...> : gpumbi_if_buffer<Rest...> {
};
template <class... Rest> struct gpumbi_if_buffer<gpumb_buffer *, Rest...> {
    static_assert(!sizeof(gpumbi_as_is<void(Rest...)>),
                  "gpumb: pass GPUMB_PTR(type, buffer) to a kernel, not the buffer");
    typedef void type;
};
template <class... Rest>
struct gpumbi_if_buffer<const gpumb_buffer *, Rest...> { /* not derived: one line more of g++ */
    static_assert(!sizeof(gpumbi_as_is<void(Rest...)>),
                  "gpumb: pass GPUMB_PTR(type, buffer) to a kernel, not the buffer");
    typedef void type;
};

constexpr bool gpumbi_is_whole(const char *name, int open) /* "k<a", of k<a, b>, is not */
{
    return *name == '(' || *name == '[' || *name == '?' ||
           (*name ? gpumbi_is_whole(name + 1, open + (*name == '<') - (*name == '>')) : open <= 0);
}
template <bool Is> struct gpumbi_whole { /* in templates g++ 13 leaves bare assertions for later */
    static_assert(Is, "gpumb: put the kernel in parentheses: GPUMB_LAUNCH((kernel<a, b>), ...)");
};
#define GPUMBI_WHOLE(name) static_cast<void>(sizeof(gpumbi_whole<gpumbi_is_whole(name, 0)>))

/* A kernel with Parameters, ready to be called like a function: arguments convert as in a call.
 * On the CPU the kernel travels as a lambda that returns its address: the address is then part of a
 * type, and the compiler inlines the kernel into the loop over a block's threads. */
#if defined(GPUMB_BACKEND_CPU)

template <class Call> static void gpumbi_run_thread(void *call)
{
    GPUMBI_RED_ZONES();
    GPUMBI_TRACE(wait(GPUMBI_WAITS, 0));
    (*static_cast<const Call *>(call))();
    GPUMBI_TRACE(wait(GPUMBI_WAITS, 1));
}

/* The copy never has its address taken: no store of the kernel can alias the arguments. */
template <class Call> __attribute__((flatten)) static void gpumbi_run_block(void *call)
{
    const Call run = *static_cast<const Call *>(call);
    const uint3 size = blockDim;
    GPUMBI_RED_ZONES();
    for (unsigned z = 0; z < size.z; z++)
        for (unsigned y = 0; y < size.y; y++)
            for (unsigned x = 0; x < size.x; x++) {
                threadIdx = uint3{x, y, z};
                GPUMBI_TRACE(wait(GPUMBI_WAITS, 0));
                run();
                GPUMBI_TRACE(wait(GPUMBI_WAITS, 1));
            }
}

template <class Call> inline void gpumbi_run(const gpumbi_shape &shape, Call call)
{
    gpumbi_cpu_launch(&shape, shape.barrier ? gpumbi_run_thread<Call> : gpumbi_run_block<Call>,
                      &call);
}

template <class Kernel, class... Parameters>
inline void gpumbi_launch(const char *name, int barrier, Kernel kernel, void (*)(Parameters...),
                          const gpumbi_extent &grid, const gpumbi_extent &block,
                          uint64_t shared_bytes, typename gpumbi_as_is<Parameters>::type... args)
{
    const uint64_t *const g = grid.n, *const b = block.n;
    const gpumbi_shape shape = {
        name, {g[0], g[1], g[2]}, {b[0], b[1], b[2]}, shared_bytes, barrier};
    if (gpumbi_launch_begin(&shape, reinterpret_cast<const void *>(kernel()))) {
        gpumbi_run(shape, [=]() { kernel()(args...); });
        gpumbi_launch_end();
    }
}

template <class Kernel, class Pointer, class... Types>
typename gpumbi_if_buffer<Types...>::type gpumbi_launch(const char *, int, Kernel, Pointer,
                                                        const gpumbi_extent &,
                                                        const gpumbi_extent &, uint64_t, Types...)
{
}

template <class Kernel = gpumbi_overloaded>
typename gpumbi_one_kernel<Kernel>::type gpumbi_kernel(Kernel);

#define GPUMBI_KERNEL(kernel) [=]() -> decltype(gpumbi_kernel(kernel)) { return kernel; }, kernel
#define GPUMBI_LAUNCH(name, barrier, kernel, ...)                                                  \
    (GPUMBI_WHOLE(name), gpumbi_launch(name, barrier, GPUMBI_KERNEL(kernel), __VA_ARGS__))
#define GPUMB_LAUNCH(kernel, ...) GPUMBI_LAUNCH(#kernel, 0, kernel, __VA_ARGS__)
#define GPUMB_LAUNCH_BARRIER(kernel, ...) GPUMBI_LAUNCH(#kernel, 1, kernel, __VA_ARGS__)

/* As fibers, since nothing tells whether the kernel has barriers. */
template <class Kernel, class... Parameters>
inline void gpumbi_launch_ex(const char *name, Kernel kernel, void (*at)(Parameters...),
                             const gpumb_launch_config &how,
                             typename gpumbi_as_is<Parameters>::type... args)
{
    if (how.cooperative || how.dependent || how.cluster[0] > 1 || how.cluster[1] > 1 ||
        how.cluster[2] > 1)
        gpumb_skip(nullptr, "launch of %s: the CPU has no clusters, cooperative or dependent ones",
                   name);
    const uint64_t *const n[] = {how.grid, how.block};
    uint64_t least[2][3];
    for (int i = 0; i < 6; i++)
        least[i / 3][i % 3] = n[i / 3][i % 3] ? n[i / 3][i % 3] : 1;
    gpumbi_launch(name, 1, kernel, at, gpumbi_extent(least[0][0], least[0][1], least[0][2]),
                  gpumbi_extent(least[1][0], least[1][1], least[1][2]), how.shared_bytes, args...);
}
template <class Kernel, class Pointer, class... Types>
typename gpumbi_if_buffer<Types...>::type gpumbi_launch_ex(const char *, Kernel, Pointer,
                                                           const gpumb_launch_config &, Types...)
{
}

#define GPUMB_LAUNCH_EX(kernel, ...)                                                               \
    (GPUMBI_WHOLE(#kernel), gpumbi_launch_ex(#kernel, GPUMBI_KERNEL(kernel), __VA_ARGS__))

#else

template <class... Parameters>
inline void gpumbi_launch(const char *name, void (*kernel)(Parameters...),
                          const gpumbi_extent &grid, const gpumbi_extent &block,
                          uint64_t shared_bytes, typename gpumbi_as_is<Parameters>::type... args)
{
    void *addresses[] = {const_cast<void *>(static_cast<const void *>(&args))..., nullptr};
    gpumb_launch(nullptr, name, reinterpret_cast<const void *>(kernel), grid.n, block.n,
                 shared_bytes, addresses);
}

template <class... Parameters>
inline void gpumbi_launch_ex(const char *name, void (*kernel)(Parameters...),
                             const gpumb_launch_config &how,
                             typename gpumbi_as_is<Parameters>::type... args)
{
    void *addresses[] = {const_cast<void *>(static_cast<const void *>(&args))..., nullptr};
    gpumb_launch_ex(nullptr, name, reinterpret_cast<const void *>(kernel), &how, addresses);
}

template <class Kernel = gpumbi_overloaded, class... Types>
typename gpumbi_if_buffer<typename gpumbi_one_kernel<Kernel>::type, Types...>::type gpumbi_launch(
    const char *, Kernel, const gpumbi_extent &, const gpumbi_extent &, uint64_t, Types...);
template <class Kernel = gpumbi_overloaded, class... Types>
typename gpumbi_if_buffer<typename gpumbi_one_kernel<Kernel>::type, Types...>::type
gpumbi_launch_ex(const char *, Kernel, const gpumb_launch_config &, Types...);

#define GPUMB_LAUNCH(kernel, ...)                                                                  \
    (GPUMBI_WHOLE(#kernel), gpumbi_launch(#kernel, kernel, __VA_ARGS__))
#define GPUMB_LAUNCH_BARRIER(kernel, ...) GPUMB_LAUNCH(kernel, __VA_ARGS__)
#define GPUMB_LAUNCH_EX(kernel, ...)                                                               \
    (GPUMBI_WHOLE(#kernel), gpumbi_launch_ex(#kernel, kernel, __VA_ARGS__))

#define GPUMB_SHARED(type, name)                                                                   \
    extern __shared__ uint4 gpumbi_shared_memory[];                                                \
    type *name = static_cast<type *>(static_cast<void *>(gpumbi_shared_memory))

#endif

#ifndef GPUMB_GRID_STRIDE
#define GPUMB_GRID_STRIDE(i, n)                                                                    \
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x,                \
                  gpumbi_n_##i = static_cast<uint64_t>(n),                                         \
                  gpumbi_step_##i = gridDim.x * static_cast<uint64_t>(blockDim.x);                 \
         i < gpumbi_n_##i; i += gpumbi_step_##i)
#endif

/* The size of a warp, and its operations, under one name for all vendors. All lanes of the mask
 * take part; AMD's compilers want no mask. Launch kernels that use them by GPUMB_LAUNCH_BARRIER().
 * A lane may be of any integer type: no warning of a cast to its own. */
#if defined(GPUMB_BACKEND_CPU) || defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define GPUMB_WARP static_cast<unsigned>(warpSize)
#define GPUMB_ALL_LANES (~0ull)
#else
#define GPUMB_WARP 32u
#define GPUMB_ALL_LANES (~0u)
#endif
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define GPUMB_SHUFFLE_FROM(mask, x, lane) __shfl(x, static_cast<int>(0ll + (lane)))
#define GPUMB_SHUFFLE_UP(mask, x, distance) __shfl_up(x, distance)
#define GPUMB_SHUFFLE_DOWN(mask, x, distance) __shfl_down(x, distance)
#define GPUMB_SHUFFLE_XOR(mask, x, bits) __shfl_xor(x, static_cast<int>(0ll + (bits)))
#define GPUMB_ANY(mask, x) __any(x)
#define GPUMB_ALL(mask, x) __all(x)
#define GPUMB_BALLOT(mask, x) __ballot(x)
#else
#define GPUMB_SHUFFLE_FROM(mask, x, lane) __shfl_sync(mask, x, static_cast<int>(0ll + (lane)))
#define GPUMB_SHUFFLE_UP(mask, x, distance) __shfl_up_sync(mask, x, distance)
#define GPUMB_SHUFFLE_DOWN(mask, x, distance) __shfl_down_sync(mask, x, distance)
#define GPUMB_SHUFFLE_XOR(mask, x, bits) __shfl_xor_sync(mask, x, static_cast<int>(0ll + (bits)))
#define GPUMB_ANY(mask, x) __any_sync(mask, x)
#define GPUMB_ALL(mask, x) __all_sync(mask, x)
#define GPUMB_BALLOT(mask, x) __ballot_sync(mask, x)
#endif

#if !defined(GPUMB_BACKEND_CPU)
GPUMBI_OPTIMIZED
#endif
#endif /* __cplusplus */

#endif /* GPUMB_H */

/* ================================================================================================
 * IMPLEMENTATION
 */
#if defined(GPUMB_IMPLEMENTATION) && !defined(GPUMB_IMPLEMENTATION_DONE)
#define GPUMB_IMPLEMENTATION_DONE

/* The device pass of nvcc and hipcc needs the kernels alone: hiding the rest from it saves compile
 * time. There functions are declared and no more, GPUMB_STATIC or not. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define GPUMBI_DEVICE_PASS
#endif
#if defined(GPUMBI_DEVICE_PASS) && defined(__NVCC__) && !defined(__clang__)
#pragma nv_diag_suppress 177 /* "never referenced": kernels, whose launches are hidden here */
#endif

/* Key of the cipher that fills buffers under --strict; on host and device. */
typedef struct gpumbi_cipher_key {
    uint32_t word[8], is_set;
} gpumbi_cipher_key;

#if !defined(GPUMBI_DEVICE_PASS)

/* ================================================================================================
 * PLATFORM
 *
 * What the operating system provides, under our own names: POSIX 2008 (Linux, macOS), or Windows 7
 * and later, where the CPU backend takes threads from mingw-w64's pthread.h. Of the other sections,
 * only the switch between stacks asks which system it is.
 */
#include <math.h> /* first: after float.h, zig 0.17's headers of macOS lack NAN in C++20 */

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#if defined(GPUMB_BACKEND_CPU)
#include <pthread.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#endif
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <io.h>
#include <process.h>
#include <windows.h>
#undef near /* for kernels of users */
#undef far
#undef NEAR
#undef FAR
#define NEAR
#define FAR

#define GPUMBI_NOWHERE "NUL"
#define gpumbi_lstat gpumbi_stat
#define gpumbi_fstat _fstat64
#define gpumbi_flush _commit
#define gpumbi_cut(fd, size) _chsize_s(fd, size)
#define gpumbi_take_owner(fd, of) ((void)(fd), (void)(of))
#define gpumbi_memory_open(text, length) gpumbi_temporary()
#define gpumbi_utc(time, calendar) gmtime_s(calendar, time)
#define gpumbi_variable_clear(name) _putenv(name "=")
typedef struct _stat64 gpumbi_file_state;
typedef void (*gpumbi_handler)(int);
#ifndef S_ISREG
#define S_ISREG(mode) (((mode)&_S_IFMT) == _S_IFREG)
#define S_ISDIR(mode) (((mode)&_S_IFMT) == _S_IFDIR)
#define S_ISCHR(mode) (((mode)&_S_IFMT) == _S_IFCHR)
#define S_ISFIFO(mode) (((mode)&_S_IFMT) == _S_IFIFO)
#endif
#ifndef S_ISLNK
#define S_ISLNK(mode) 0
#define S_ISSOCK(mode) 0
#define O_NOFOLLOW 0
#define O_NONBLOCK 0
#endif
#ifndef W_OK
#define W_OK 2
#endif
#ifndef SIGHUP
#define SIGHUP 1 /* of which Windows has none */
#endif

GPUMBI_UNOPTIMIZED

/* Numbers that nobody can foresee: RtlGenRandom, by the name that its manual has. Returns 0. */
static inline int gpumbi_unforeseen(void *to, size_t bytes)
{
    BOOLEAN(APIENTRY * generate)(void *, ULONG) = NULL;
    HMODULE library = LoadLibraryA("advapi32.dll");
    FARPROC const found = library ? GetProcAddress(library, "SystemFunction036") : NULL;
    memcpy((void *)&generate, &found, sizeof found);
    return !found || !generate(to, (ULONG)bytes);
}

/* Says in errno why Windows has refused. */
static inline int gpumbi_refused(void)
{
    static const struct {
        DWORD error;
        int number;
    } table[] = {{ERROR_FILE_EXISTS, EEXIST},         {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_FILE_NOT_FOUND, ENOENT},      {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_LOCK_VIOLATION, EWOULDBLOCK}, {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_INVALID_FUNCTION, ENOTSUP},   {0, EACCES}};
    const DWORD error = GetLastError();
    size_t i = 0;
    while (table[i].error && table[i].error != error)
        i++;
    errno = table[i].number;
    return -1;
}

static inline HANDLE gpumbi_handle(int fd)
{
    return (HANDLE)_get_osfhandle(fd); /* NOLINT */
}

/* Shares for deletion: as under POSIX, an open file can be renamed, replaced and removed. */
static inline int gpumbi_open(const char *path, int flags, int mode)
{
    const int writes = flags & (O_WRONLY | O_RDWR);
    HANDLE file =
        CreateFileA(path, (flags & O_WRONLY ? 0 : GENERIC_READ) | (writes ? GENERIC_WRITE : 0),
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    flags & O_EXCL ? CREATE_NEW : OPEN_EXISTING, 0, NULL);
    (void)mode;
    return file == INVALID_HANDLE_VALUE ? gpumbi_refused()
                                        : _open_osfhandle((intptr_t)file, O_BINARY | writes);
}

static inline int64_t gpumbi_read(int fd, char *to, size_t size)
{
    return _read(fd, to, size < INT_MAX ? (unsigned)size : INT_MAX);
}

static inline int64_t gpumbi_write(int fd, const char *from, size_t size)
{
    return _write(fd, from, size < INT_MAX ? (unsigned)size : INT_MAX);
}

/* With '/' for '\\': FILES splits paths at slashes. */
static inline void gpumbi_full_path(char *to, size_t size, const char *path)
{
    const DWORD length = GetFullPathNameA(path, (DWORD)size, to, NULL);
    if (!length || length >= size)
        to[0] = 0;
    for (; *to; to++)
        *to = *to == '\\' ? '/' : *to;
}

static inline char *gpumbi_realpath(const char *folder)
{
    char path[MAX_PATH + 2];
    snprintf(path, sizeof path, "%s/", folder);
    if (GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES && strcmp(folder, "//.")) {
        gpumbi_refused();
        return NULL;
    }
    return _strdup(folder);
}

static inline int64_t gpumbi_readlink(const char *path, char *to, size_t size)
{
    (void)path, (void)to, (void)size;
    return -1;
}

static inline int gpumbi_stat(const char *path, gpumbi_file_state *about)
{
    int failed = _stat64(path, about);
    const int fd = failed ? gpumbi_open(path, O_RDONLY, 0) : -1;
    if (fd >= 0) { /* NUL, for one */
        failed = _fstat64(fd, about);
        _close(fd);
    }
    return failed;
}

static inline int gpumbi_is_at(int fd, const char *path, int behind_links)
{
    BY_HANDLE_FILE_INFORMATION ours, named;
    HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    const int known = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, &named) &&
                      GetFileInformationByHandle(gpumbi_handle(fd), &ours);
    (void)behind_links;
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return known && ours.nFileIndexHigh == named.nFileIndexHigh &&
           ours.nFileIndexLow == named.nFileIndexLow &&
           (ours.dwVolumeSerialNumber == named.dwVolumeSerialNumber ||
            !ours.dwVolumeSerialNumber); /* wine 8, of a file that was renamed */
}

/* Renames. If `to` is in use, it first becomes TO.old, which is deleted when it is closed. */
static inline int gpumbi_rename(const char *from, const char *to)
{
    char old[MAX_PATH + 8];
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    snprintf(old, sizeof old, "%s.old", to);
    if (!MoveFileExA(to, old, MOVEFILE_REPLACE_EXISTING) || !MoveFileExA(from, to, 0))
        return gpumbi_refused();
    DeleteFileA(old);
    return 0;
}

/* Locks keep others from reading what is locked, so that this lies beyond the end of any file. */
static inline int gpumbi_lock(int fd)
{
    OVERLAPPED behind;
    memset(&behind, 0, sizeof behind);
    behind.OffsetHigh = 0x40000000;
    if (LockFileEx(gpumbi_handle(fd), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                   &behind))
        return 0;
    gpumbi_refused();
    return errno;
}

/* tmpfile() of the older C runtime wants to write into C:\. */
static inline FILE *gpumbi_temporary(void)
{
    char folder[MAX_PATH + 1], path[MAX_PATH + 1];
    HANDLE file = INVALID_HANDLE_VALUE;
    if (GetTempPathA(sizeof folder, folder) && GetTempFileNameA(folder, "gpu", 0, path))
        file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return file == INVALID_HANDLE_VALUE
               ? NULL
               : _fdopen(_open_osfhandle((intptr_t)file, O_BINARY | O_RDWR), "w+b");
}

static inline int gpumbi_memory_close(FILE *file, char **text, size_t *length)
{
    *length = fflush(file) ? 0 : (size_t)ftell(file);
    rewind(file);
    *text = (char *)malloc(*length + 1);
    const int right = *text && fread(*text, 1, *length, file) == *length;
    return fclose(file) || !right;
}

static inline int gpumbi_poll(int fd, int milliseconds)
{
    HANDLE pipe = fd < 0 ? NULL : gpumbi_handle(fd);
    DWORD bytes = 0;
    for (int i = 0; !pipe || GetFileType(pipe) == FILE_TYPE_PIPE; i++) {
        if (pipe && (!PeekNamedPipe(pipe, NULL, 0, NULL, &bytes, NULL) || bytes))
            break;
        if (i == milliseconds)
            return 0;
        Sleep(1);
    }
    return 1;
}

/* A terminal that has been told to understand escapes. */
static inline int gpumbi_terminal(int fd)
{
    DWORD mode;
    return GetConsoleMode(gpumbi_handle(fd), &mode) &&
           SetConsoleMode(gpumbi_handle(fd), mode | 4); /* ENABLE_VIRTUAL_TERMINAL_PROCESSING */
}

/* Binary mode: lines end in LF. */
static inline void gpumbi_streams_prepare(void)
{
    _setmode(1, O_BINARY);
    _setmode(2, O_BINARY);
}

static inline const char *gpumbi_base_name(const char *path)
{
    static char name[_MAX_FNAME];
    _splitpath(path, NULL, NULL, name, NULL);
    return name;
}

static inline double gpumbi_now(void)
{
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
}

/* The C runtime forgets a handler when it calls it, on a thread of its own for Ctrl-C. */
static gpumbi_handler gpumbi_caught;
static inline void gpumbi_catch_again(int number)
{
    signal(number, gpumbi_catch_again);
    gpumbi_caught(number);
}

static inline void gpumbi_catch(int number, gpumbi_handler handler, gpumbi_handler *before)
{
    gpumbi_caught = handler;
    *before = signal(number, gpumbi_catch_again);
    if (*before == SIG_IGN)
        signal(number, SIG_IGN);
}

static inline void gpumbi_uncatch(int number, const gpumbi_handler *before)
{
    if (*before != SIG_ERR)
        signal(number, *before);
}

/* Two events of a process, by which it waits here until it is told to go on. */
static inline HANDLE gpumbi_process_event(HANDLE process, const char *what)
{
    char name[48];
    snprintf(name, sizeof name, "Local\\gpumb.%lu.%s", (unsigned long)GetProcessId(process), what);
    return CreateEventA(NULL, FALSE, FALSE, name);
}

static inline void gpumbi_process_pause(void)
{
    static HANDLE here, on;
    if (!here) {
        on = gpumbi_process_event(GetCurrentProcess(), "on");
        here = gpumbi_process_event(GetCurrentProcess(), "here");
    }
    SignalObjectAndWait(here, on, INFINITE, FALSE);
}

/* A handle has 32 bits that count, also in a process of 64 (Interprocess Communication Between
 * 32-bit and 64-bit Applications). */
static inline HANDLE gpumbi_process_handle(int child)
{
    return (HANDLE)(intptr_t)child; /* NOLINT */
}

static inline void gpumbi_process_resume(int child)
{
    HANDLE on = gpumbi_process_event(gpumbi_process_handle(child), "on");
    SetEvent(on);
    CloseHandle(on);
}

#define gpumbi_process_kill(child) TerminateProcess(gpumbi_process_handle(child), 1)
#define gpumbi_process_ended(status) "was ended by exception 0x%08X", (unsigned)(status)
#define gpumbi_process_parent() 1 /* it takes its processes along, and the token is proof enough */

static inline int gpumbi_process_is_ours(const char *where, int *rows, int token)
{
    HANDLE from = gpumbi_process_handle(token), to = gpumbi_process_handle(*rows);
    char text[64] = "";
    if (!PeekNamedPipe(from, text, sizeof text - 1, NULL, NULL, NULL))
        return -1;
    if (strcmp(text, where) || GetFileType(to) != FILE_TYPE_PIPE)
        return 0;
    CloseHandle(from);
    SetHandleInformation(to, HANDLE_FLAG_INHERIT, 0);
    *rows = _open_osfhandle((intptr_t)to, O_BINARY | O_WRONLY);
    return *rows < 0 ? -1 : 1;
}

/* The command line, in one piece. */
static inline FILE *gpumbi_process_arguments(void)
{
    const char *const line = GetCommandLineA();
    FILE *file = gpumbi_temporary();
    if (file) {
        fwrite(line, 1, strlen(line) + 1, file);
        rewind(file);
    }
    return file;
}

/* A job ends what is in it when its last handle is closed, as by the end of this process. */
static inline int gpumbi_process_start(char **arguments, int device, int in_step, int *fd)
{
    static HANDLE job;
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE rows[2] = {NULL, NULL}, token[2] = {NULL, NULL};
    HANDLE nowhere = CreateFileA(GPUMBI_NOWHERE, GENERIC_WRITE, FILE_SHARE_WRITE, &inherited,
                                 OPEN_EXISTING, 0, NULL);
    char where[64], program[MAX_PATH + 1];
    DWORD length;
    STARTUPINFOA start;
    PROCESS_INFORMATION child;
    memset(&start, 0, sizeof start);
    memset(&child, 0, sizeof child);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = nowhere;
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!job) {
        JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
        memset(&limits, 0, sizeof limits);
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        job = CreateJobObjectA(NULL, NULL);
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    }
    program[MAX_PATH] = 0;
    GetModuleFileNameA(NULL, program, MAX_PATH);
    if (CreatePipe(&rows[0], &rows[1], &inherited, 1 << 16) &&
        CreatePipe(&token[0], &token[1], &inherited, sizeof where)) {
        SetHandleInformation(rows[0], HANDLE_FLAG_INHERIT, 0);
        SetHandleInformation(token[1], HANDLE_FLAG_INHERIT, 0);
        snprintf(where, sizeof where, "%d:%d:%d:%d:%d", gpumbi_process_parent(),
                 (int)(intptr_t)rows[1], (int)(intptr_t)token[0], device, in_step);
        SetEnvironmentVariableA("GPUMB_PROCESS", where);
        if (WriteFile(token[1], where, (DWORD)strlen(where), &length, NULL))
            CreateProcessA(program, arguments[0], NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL,
                           &start, &child);
    }
    gpumbi_refused();
    SetEnvironmentVariableA("GPUMB_PROCESS", NULL);
    if (child.hProcess) {
        AssignProcessToJobObject(job, child.hProcess);
        ResumeThread(child.hThread);
        CloseHandle(child.hThread);
        *fd = _open_osfhandle((intptr_t)rows[0], O_BINARY | O_RDONLY);
    } else {
        CloseHandle(rows[0]);
    }
    CloseHandle(rows[1]);
    CloseHandle(token[0]);
    CloseHandle(token[1]);
    CloseHandle(nowhere);
    return child.hProcess ? (int)(intptr_t)child.hProcess : -1;
}

static inline int gpumbi_process_look(int child, int *status)
{
    HANDLE process = gpumbi_process_handle(child), here = gpumbi_process_event(process, "here");
    DWORD code = 0;
    const int ended = !WaitForSingleObject(process, 0), waits = !WaitForSingleObject(here, 0);
    CloseHandle(here);
    if (ended) {
        GetExitCodeProcess(process, &code);
        CloseHandle(process);
    }
    *status = (int)code;
    return ended ? 1 : 2 * waits;
}

#define gpumbi_aligned_free _aligned_free
static inline int gpumbi_aligned(void **p, size_t alignment, size_t bytes)
{
    *p = _aligned_malloc(bytes, alignment);
    return *p == NULL;
}

static inline uint64_t gpumbi_host_memory(void)
{
    MEMORYSTATUSEX memory;
    memory.dwLength = sizeof memory;
    return GlobalMemoryStatusEx(&memory) ? memory.ullAvailPhys : UINT64_MAX;
}

#if defined(GPUMB_BACKEND_CPU)
enum { GPUMBI_SIGNAL_STACK = 1 };
#define gpumbi_pages_free(p, bytes) VirtualFree(p, 0, MEM_RELEASE)
#define gpumbi_at_fork(child) ((void)(child), 1) /* there are none */

static inline int gpumbi_cores(void)
{
    DWORD_PTR ours = 0, all;
    GetProcessAffinityMask(GetCurrentProcess(), &ours, &all);
    return ours ? __builtin_popcountll(ours) : 1;
}

static inline void *gpumbi_pages(size_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

#define gpumbi_signal_stack_set(stack) (void)(stack)
static void (*gpumbi_crash_report)(const char *meaning);

static inline void gpumbi_aborted(int number)
{
    (void)number;
    gpumbi_crash_report("SIGABRT: abort(), or a failed assertion");
}

static inline LONG CALLBACK gpumbi_crashed(EXCEPTION_POINTERS *what)
{
    static const struct {
        DWORD code;
        const char *meaning;
    } table[] = {
        {EXCEPTION_ACCESS_VIOLATION, "access violation: an address out of bounds"},
        {EXCEPTION_STACK_OVERFLOW, "stack overflow: no stack left"},
        {EXCEPTION_INT_DIVIDE_BY_ZERO, "an integer division by zero"},
        {EXCEPTION_ILLEGAL_INSTRUCTION, "a trap, or an instruction that this processor lacks"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (what->ExceptionRecord->ExceptionCode == table[i].code)
            gpumbi_crash_report(table[i].meaning);
    return EXCEPTION_CONTINUE_SEARCH;
}

/* A fiber's stack has no bottom at which an unhandled exception would be met: so it is looked at
 * first. */
static inline void gpumbi_crashes_watch(int watch, void (*report)(const char *meaning))
{
    static gpumbi_handler before;
    static void *watching;
    gpumbi_crash_report = report;
    if (watch && !watching) {
        watching = AddVectoredExceptionHandler(1, gpumbi_crashed);
        before = signal(SIGABRT, gpumbi_aborted);
    } else if (!watch && watching) {
        RemoveVectoredExceptionHandler(watching);
        signal(SIGABRT, before);
        watching = NULL;
    }
}

static inline void gpumbi_cpu_about(gpumb_device *d)
{
    DWORD size = sizeof d->name, bytes = 0;
    MEMORYSTATUSEX memory;
    memory.dwLength = sizeof memory;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                     "ProcessorNameString", RRF_RT_REG_SZ, NULL, d->name, &size))
        d->name[0] = 0;
    if (GlobalMemoryStatusEx(&memory))
        d->memory_bytes = memory.ullTotalPhys;
    GetLogicalProcessorInformation(NULL, &bytes);
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *const all =
        (SYSTEM_LOGICAL_PROCESSOR_INFORMATION *)malloc(bytes);
    if (!all || !GetLogicalProcessorInformation(all, &bytes))
        bytes = 0;
    for (size_t i = 0; i < bytes / sizeof *all; i++) {
        const CACHE_DESCRIPTOR *const cache = &all[i].Cache;
        if (all[i].Relationship != RelationCache || cache->Type == CacheInstruction)
            continue;
        if (cache->Level == 1)
            d->l1_bytes = cache->Size;
        else if (d->l2_bytes < cache->Size)
            d->l2_bytes = cache->Size;
    }
    free(all);
}
#else
/* Vendors' libraries by their names on Linux, and what they are here. Those that are not in the
 * table have none: AMD's HIP SDK has neither ROCm SMI nor roctx (ROCm, HIP SDK for Windows,
 * "Component support"). CUPTI's name tells its version: cupti64_2026.3.1.dll; cupti64_13.dll from
 * CUDA 13.5 on (cuda-pathfinder's release notes). Sources: NVIDIA/cuda-python #1288 (the driver's),
 * "NVML API Reference" (its two places), pytorch/builder's windows/internal/copy.bat (folders of
 * CUPTI and of nvToolsExt), JuliaPackaging/Yggdrasil #6430 (nvperf_host). */
static inline void *gpumbi_library_open(const char *name)
{
#define GPUMBI_BESIDE_CUPTI "%CUDA_PATH%\\extras\\CUPTI\\lib64\\"
    static const char *const table[][2] = {
        {"libcuda.so.1", "nvcuda.dll"},
        {"libnvidia-ml.so.1", "nvml.dll"},
        {"libnvidia-ml.so.1", "%ProgramW6432%\\NVIDIA Corporation\\NVSMI\\nvml.dll"},
        {"libcupti.so", GPUMBI_BESIDE_CUPTI "cupti64_*.dll"},
        {"libnvperf_host.so", GPUMBI_BESIDE_CUPTI "nvperf_host.dll"},
        {"libnvToolsExt.so.1",
         "%ProgramW6432%\\NVIDIA Corporation\\NvToolsExt\\bin\\x64\\nvToolsExt64_1.dll"}};
    HMODULE opened = NULL;
    for (size_t i = 0; i < sizeof table / sizeof table[0] && !opened; i++) {
        char path[3 * MAX_PATH];
        WIN32_FIND_DATAA found;
        if (strcmp(name, table[i][0]) ||
            ExpandEnvironmentStringsA(table[i][1], path, 2 * MAX_PATH) > 2 * MAX_PATH)
            continue;
        char *const folder_end = strrchr(path, '\\');
        HANDLE search = folder_end ? FindFirstFileA(path, &found) : INVALID_HANDLE_VALUE;
        if (search != INVALID_HANDLE_VALUE) {
            snprintf(folder_end + 1, MAX_PATH, "%s", found.cFileName);
            FindClose(search);
        }
        opened = LoadLibraryExA(path, NULL, folder_end ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
    }
    return (void *)opened;
}

static inline void gpumbi_library_find(void *library, const char *name, void *to)
{
    FARPROC const found = GetProcAddress((HMODULE)library, name);
    memcpy(to, &found, sizeof found);
}
#endif

#else
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#if defined(GPUMB_BACKEND_CPU)
#include <sched.h>
#include <sys/mman.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#else
#include <dlfcn.h>
#endif

#if !defined(CLOCK_MONOTONIC) || !defined(SA_RESETHAND)
#error "gpumb: POSIX is hidden: use -D_DEFAULT_SOURCE or -std=gnu99, or include gpumb.h first"
#endif

#define GPUMBI_NOWHERE "/dev/null"
#define gpumbi_write write
#define gpumbi_stat stat
#define gpumbi_lstat lstat
#define gpumbi_full_path gpumbi_copy_text
#define gpumbi_fstat fstat
#define gpumbi_flush fsync
#define gpumbi_cut(file, size) ftruncate(file, (off_t)(size))
#define gpumbi_rename rename
#define gpumbi_terminal isatty
#define gpumbi_temporary tmpfile
#define gpumbi_memory_open open_memstream
#define gpumbi_memory_close(file, text, length) fclose(file)
#define gpumbi_utc(time, calendar) gmtime_r(time, calendar)
#define gpumbi_process_parent getppid
#define gpumbi_process_arguments() fopen("/proc/self/cmdline", "r")
#define gpumbi_process_kill(child) kill(child, SIGKILL)
#define gpumbi_process_ended(status) "was killed by signal %d", -(status)
#define gpumbi_process_pause() raise(SIGSTOP)
#define gpumbi_process_resume(child) kill(child, SIGCONT)
#define gpumbi_variable_clear unsetenv
#define gpumbi_streams_prepare() (void)0
#define gpumbi_aligned posix_memalign
#define gpumbi_aligned_free free
typedef struct stat gpumbi_file_state;
#define gpumbi_uncatch(number, before) sigaction(number, before, NULL)
typedef struct sigaction gpumbi_handler;

/* _FORTIFY_SOURCE makes open() a macro that has to be compiled with optimisation. */
static inline int gpumbi_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags | O_CLOEXEC, mode);
}

/* The same goes for these, unless they are called by a pointer that might change. */
static ssize_t (*gpumbi_read)(int, void *, size_t) = read;
static ssize_t (*gpumbi_readlink)(const char *, char *, size_t) = readlink;
static char *(*gpumbi_resolve)(const char *, char *) = realpath;
#define gpumbi_realpath(path) gpumbi_resolve(path, NULL)
static char *(*gpumbi_fgets)(char *, int, FILE *) = fgets;

/* Waits until there is something to read; without a file (-1) for that time. */
static inline int gpumbi_poll(int fd, int milliseconds)
{
    struct pollfd ready = {fd, POLLIN, 0};
    return poll(&ready, 1, milliseconds);
}

GPUMBI_UNOPTIMIZED

static inline int gpumbi_is_at(int fd, const char *path, int behind_links)
{
    struct stat ours, named;
    return !fstat(fd, &ours) && !(behind_links ? stat(path, &named) : lstat(path, &named)) &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* Gives a file mode and owner of another; where the group can't be kept, its permissions go. */
static inline void gpumbi_take_owner(int fd, const gpumbi_file_state *of)
{
    const int lost = fchown(fd, of->st_uid, of->st_gid) && fchown(fd, (uid_t)-1, of->st_gid);
    fchmod(fd, of->st_mode & (lost ? 0707 : 0777));
}

/* Returns why not, EWOULDBLOCK if somebody else has it. */
static inline int gpumbi_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
}

/* Numbers that nobody can foresee. Returns 0. */
static inline int gpumbi_unforeseen(void *to, size_t bytes)
{
    const int fd = gpumbi_open("/dev/urandom", O_RDONLY, 0);
    const int lacking = fd < 0 || gpumbi_read(fd, (char *)to, bytes) != (int64_t)bytes;
    if (fd >= 0)
        close(fd);
    return lacking;
}

static inline const char *gpumbi_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static inline double gpumbi_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Signals that are ignored stay so, as in the background of a script or under nohup. */
static inline void gpumbi_catch(int number, void (*handler)(int), gpumbi_handler *before)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    if (!sigaction(number, NULL, before) && before->sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

/* 1 if `rows` is a pipe to write to and the parent has left a text in the pipe `token`; -1: one of
 * them is closed. */
static inline int gpumbi_process_is_ours(const char *where, const int *rows, int token)
{
    struct stat about, of_token;
    char text[64] = "";
    if (fstat(*rows, &about) || fstat(token, &of_token))
        return -1;
    if (!S_ISFIFO(about.st_mode) || (fcntl(*rows, F_GETFL) & O_ACCMODE) != O_WRONLY ||
        !S_ISFIFO(of_token.st_mode) || fcntl(token, F_SETFL, O_NONBLOCK) ||
        gpumbi_read(token, text, sizeof text - 1) <= 0 || strcmp(text, where))
        return 0;
    close(token);
    fcntl(*rows, F_SETFD, FD_CLOEXEC); /* rows end with this process, whatever it may start */
    return 1;
}

/* Starts the program once more. Returns its process, or -1; `fd`: where its rows come from. The
 * child ends with its parent, however that ends: Linux kills it, elsewhere it looks for its parent
 * now and then. */
static inline int gpumbi_process_start(char **arguments, int device, int in_step, int *fd)
{
    char where[64];
    int ends[2], token[2] = {-1, -1};
    const pid_t parent = getpid();
    if (pipe(ends))
        return -1;
    FILE *nowhere = fopen(GPUMBI_NOWHERE, "w");
    pid_t child = -1;
    if (!pipe(token)) {
        snprintf(where, sizeof where, "%ld:%d:%d:%d:%d", (long)parent, ends[1], token[0], device,
                 in_step);
        setenv("GPUMB_PROCESS", where, 1);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        if (write(token[1], where, strlen(where)) > 0)
            child = fork();
    }
    const int error = errno;
    if (child == 0) {
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() != parent) /* it has ended before that */
            _exit(127);
        if (nowhere) /* the child's standard output is dropped: this process prints the same */
            dup2(fileno(nowhere), 1);
        close(token[1]);
        execv("/proc/self/exe", arguments);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    unsetenv("GPUMB_PROCESS");
    close(ends[1]);
    close(token[0]);
    close(token[1]);
    if (nowhere)
        fclose(nowhere);
    if (child < 0)
        close(ends[0]);
    errno = error;
    *fd = ends[0];
    return child;
}

/* 0: it runs; 1: it has ended, with this exit code or, negative, by this signal; 2: it waits. */
static inline int gpumbi_process_look(int child, int *status)
{
    int state = 0;
    const int seen = (int)waitpid(child, &state, WNOHANG | WUNTRACED);
    *status = WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state);
    return seen > 0 && WIFSTOPPED(state) ? 2 : seen > 0 || (seen < 0 && errno != EINTR);
}

/* The value after "key :" in a file such as /proc/cpuinfo; 0 if there is none. */
static inline int gpumbi_proc_value(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    FILE *file = fopen(path, "r");
    int found = 0;
    while (file && !found && gpumbi_fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && !strncmp(line, key, strlen(key))) {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
            found = 1;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* What the host could still give; where that is unknown, the allocation decides. */
static inline uint64_t gpumbi_host_memory(void)
{
    char text[64];
    return gpumbi_proc_value("/proc/meminfo", "MemAvailable", text, sizeof text)
               ? strtoull(text, NULL, 10) * 1024
               : UINT64_MAX;
}

#if defined(GPUMB_BACKEND_CPU)
enum { GPUMBI_SIGNAL_STACK = 1 << 15 };
#define gpumbi_pages_free(p, bytes) munmap(p, bytes)
#define gpumbi_at_fork(child) !pthread_atfork(NULL, NULL, child)

static inline int gpumbi_cores(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static inline void *gpumbi_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static const struct {
    int signal;
    const char *meaning;
} gpumbi_crashes[] = {{SIGSEGV, "SIGSEGV: an address out of bounds, or no stack left"},
                      {SIGBUS, "SIGBUS: an address out of bounds, or misaligned"},
                      {SIGFPE, "SIGFPE: an integer division by zero"},
                      {SIGILL, "SIGILL: a trap, or an instruction that this processor lacks"},
                      {SIGABRT, "SIGABRT: abort(), or a failed assertion"}};
enum { GPUMBI_CRASHES = sizeof gpumbi_crashes / sizeof gpumbi_crashes[0] };
static gpumbi_handler gpumbi_before_crash[GPUMBI_CRASHES];
static void (*gpumbi_crash_report)(const char *meaning);

/* After the report, the handler that was there before, or the default action. */
static inline void gpumbi_crashed(int signal, siginfo_t *info, void *context)
{
    int i = 0;
    (void)context;
    while (i < GPUMBI_CRASHES - 1 && gpumbi_crashes[i].signal != signal)
        i++;
    gpumbi_crash_report(gpumbi_crashes[i].meaning);
    sigaction(signal, &gpumbi_before_crash[i], NULL);
    if (info->si_code <= 0) /* sent; an instruction that failed will fail again */
        raise(signal);
}

/* For a kernel that has used up its stack. */
static inline void gpumbi_signal_stack_set(char *stack)
{
    stack_t s;
    if (sigaltstack(NULL, &s) || !(s.ss_flags & SS_DISABLE))
        return;
    memset(&s, 0, sizeof s);
    s.ss_sp = stack;
    s.ss_size = GPUMBI_SIGNAL_STACK;
    sigaltstack(&s, NULL);
}

static inline void gpumbi_crashes_watch(int watch, void (*report)(const char *meaning))
{
    struct sigaction ours, now;
    gpumbi_crash_report = report;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = gpumbi_crashed;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < GPUMBI_CRASHES; i++) {
        const int signal = gpumbi_crashes[i].signal;
        sigaction(signal, NULL, &now);
        const int is_ours = now.sa_flags & SA_SIGINFO && now.sa_sigaction == gpumbi_crashed;
        if (watch && !is_ours) /* a forked child has it already */
            sigaction(signal, &ours, &gpumbi_before_crash[i]);
        else if (!watch && is_ours)
            sigaction(signal, &gpumbi_before_crash[i], NULL);
    }
}

#if defined(__APPLE__)
/* What sysctl -n NAME prints; 0 or "" if there is none. */
static inline void gpumbi_sysctl(const char *name, void *to, size_t size)
{
    memset(to, 0, size);
    sysctlbyname(name, to, &size, NULL, 0);
}

static inline void gpumbi_cpu_about(gpumb_device *d)
{
    gpumbi_sysctl("machdep.cpu.brand_string", d->name, sizeof d->name - 1);
    gpumbi_sysctl("hw.memsize", &d->memory_bytes, sizeof d->memory_bytes);
    gpumbi_sysctl("hw.l1dcachesize", &d->l1_bytes, sizeof d->l1_bytes);
    gpumbi_sysctl("hw.l3cachesize", &d->l2_bytes, sizeof d->l2_bytes);
    if (!d->l2_bytes)
        gpumbi_sysctl("hw.l2cachesize", &d->l2_bytes, sizeof d->l2_bytes);
}
#else
/* The first line of a file that describes cache `index` of the first core; "" if there is none. */
static inline void gpumbi_cache_line(int index, const char *name, char text[32])
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "r");
    if (!file || !gpumbi_fgets(text, 32, file))
        text[0] = 0;
    if (file)
        fclose(file);
}

/* The size of the data cache of a level, written like "512K"; 0 if there is none. */
static inline uint64_t gpumbi_cache_bytes(int level)
{
    for (int index = 0; index < 8; index++) {
        char found[32], type[32], size[32];
        gpumbi_cache_line(index, "level", found);
        gpumbi_cache_line(index, "type", type);
        gpumbi_cache_line(index, "size", size);
        if (found[0] - '0' == level && type[0] != 'I')
            return strtoull(size, NULL, 10) * 1024;
    }
    return 0;
}

static inline void gpumbi_cpu_about(gpumb_device *d)
{
    gpumbi_proc_value("/proc/cpuinfo", "model name", d->name, sizeof d->name);
    d->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    d->l1_bytes = gpumbi_cache_bytes(1);
    d->l2_bytes = gpumbi_cache_bytes(3);
    if (!d->l2_bytes)
        d->l2_bytes = gpumbi_cache_bytes(2);
}
#endif
#else
/* What gpumbi_load() opens. */
#define gpumbi_library_open(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)

static inline void gpumbi_library_find(void *library, const char *name, void *to)
{
    void *const found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
}
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define gpumbi_exchange(p, value) __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL)
#define gpumbi_fetch_add(p, value) __atomic_fetch_add(p, value, __ATOMIC_RELAXED)
#define gpumbi_fetch_add64 gpumbi_fetch_add
#define gpumbi_compiler_barrier(used) __asm__ volatile("" : : "r"(used) : "memory")
#else
#define gpumbi_exchange(p, value) InterlockedExchange((volatile LONG *)(p), value)
#define gpumbi_fetch_add(p, value) InterlockedExchangeAdd((volatile LONG *)(p), value)
#define gpumbi_fetch_add64(p, value)                                                               \
    (uint64_t) InterlockedExchangeAdd64((volatile LONG64 *)(p), (LONG64)(value))
#define gpumbi_compiler_barrier(used) ((void)(used), _ReadWriteBarrier())
#endif

#ifndef GPUMB_MALLOC
#define GPUMB_MALLOC(n) malloc(n)
#define GPUMB_FREE(p) free(p)
#endif
#ifndef GPUMB_LOG
#define GPUMB_LOG(text) fprintf(stderr, "%s\n", text)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ================================================================================================
 * TEXT
 *
 * Owns the length of the progress line. Numbers are written and read with a decimal point, also in
 * locales that use a comma.
 */

/* Formats the variable arguments of the enclosing function. */
#define GPUMBI_FORMAT(to, size, format)                                                            \
    do {                                                                                           \
        va_list gpumbi_arguments;                                                                  \
        va_start(gpumbi_arguments, format);                                                        \
        vsnprintf(to, size, format, gpumbi_arguments);                                             \
        va_end(gpumbi_arguments);                                                                  \
    } while (0)

GPUMBI_PRINTF(3, 4)
static inline void gpumbi_format(char *to, size_t size, const char *format, ...)
{
    GPUMBI_FORMAT(to, size, format);
}

GPUMBI_PRINTF(3, 4)
static inline void gpumbi_append(char *to, size_t size, const char *format, ...)
{
    const size_t length = strlen(to);
    GPUMBI_FORMAT(to + length, size - length, format);
}

/* Adds a name to a list that semicolons separate. */
static inline void gpumbi_list(char *list, size_t size, const char *name)
{
    gpumbi_append(list, size, "%s%s", list[0] ? ";" : "", name);
}

/* Takes the first text off a list. Returns what is left of the list; NULL: it was empty. */
static inline const char *gpumbi_split(const char *list, char separator, char *first, size_t size)
{
    size_t length = 0;
    if (!*list)
        return NULL;
    while (list[length] && list[length] != separator)
        length++;
    gpumbi_format(first, size, "%.*s", (int)length, list);
    return list + length + (list[length] != 0);
}

/* Builtins: C++ overloads of fmin ... cost the compiler more than the calls. */
#if defined(__GNUC__) || defined(__clang__)
#define gpumbi_min __builtin_fmin
#define gpumbi_max __builtin_fmax
#define gpumbi_finite __builtin_isfinite
#else
#define gpumbi_min fmin
#define gpumbi_max fmax
#define gpumbi_finite isfinite
#endif

/* A count as a number: where this is not optimised, a conversion takes ten instructions. */
static inline double gpumbi_real(uint64_t count)
{
    return (double)count;
}

/* A text that is too long is cut, but never inside a UTF-8 character. */
static inline void gpumbi_copy_text(char *to, size_t size, const char *from)
{
    from = from ? from : "";
    size_t length = strlen(from);
    if (length >= size)
        for (length = size - 1; length && (from[length] & 0xC0) == 0x80;)
            length--;
    memmove(to, from, length);
    to[length] = 0;
}

#define GPUMBI_NO_CHARACTER UINT32_MAX

/* The length of the UTF-8 character at `text`, and its code point (RFC 3629); for a byte that
 * belongs to none, 1 and GPUMBI_NO_CHARACTER. */
static inline size_t gpumbi_character(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint32_t first = (unsigned char)*text;
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t value = first & (length == 1 ? 0x7fu : 0x7fu >> length);
    size_t right = 1;
    for (; right < length && (text[right] & 0xc0) == 0x80; right++)
        value = value << 6 | ((uint32_t)text[right] & 0x3f);
    const int whole = right == length && first - 0x80 >= 0x40 && first < 0xf8;
    const int none = !whole || value < least[length] || value - 0xd800 < 0x800 || value > 0x10ffff;
    *code = none ? GPUMBI_NO_CHARACTER : value;
    return none ? 1 : length;
}

/* Makes a text fit for a terminal, in place: without line breaks, control characters (C0, DEL, and
 * C1 in both spellings), what turns the direction of the text around it, and what is no UTF-8. */
static inline void gpumbi_plain(char *text)
{
    char *to = text;
    uint32_t code;
    for (size_t length; *text; text += length) {
        length = gpumbi_character(text, &code);
        const int controls = code < 0x20 || code - 0x7f < 0x21 || code == GPUMBI_NO_CHARACTER;
        if (controls || code == 0x61c || code - 0x200e < 2 || code - 0x2028 < 7 ||
            code - 0x2066 < 4) {
            *to++ = code - '\t' < 5 ? ' ' : '?';
        } else {
            memmove(to, text, length);
            to += length;
        }
    }
    *to = 0;
}

static inline void gpumbi_copy_line(char *to, size_t size, const char *from)
{
    gpumbi_copy_text(to, size, from);
    gpumbi_plain(to);
}

/* How many columns of a terminal a text takes: none for what joins the character before it, two for
 * what is wide (Unicode 15: EastAsianWidth.txt, W and F; categories Mn, Me and Cf, of the scripts
 * that are most used). */
static inline int gpumbi_width(const char *text)
{
    static const uint32_t none[][2] = {
        /* the first of a range, and how many follow */
        {0x300, 111}, {0x483, 6},   {0x591, 44},    {0x5bf, 0},   {0x5c1, 1},  {0x5c4, 1},
        {0x5c7, 0},   {0x610, 10},  {0x64b, 20},    {0x670, 0},   {0x6d6, 6},  {0x6df, 5},
        {0x6e7, 1},   {0x6ea, 3},   {0x93a, 0},     {0x93c, 0},   {0x941, 7},  {0x94d, 0},
        {0x951, 6},   {0x962, 1},   {0xe31, 0},     {0xe34, 6},   {0xe47, 7},  {0x1160, 159},
        {0x1ab0, 79}, {0x1dc0, 63}, {0x200b, 2},    {0x20d0, 32}, {0x302a, 3}, {0x3099, 1},
        {0xfe00, 15}, {0xfe20, 15}, {0xe0100, 239},
    };
    static const uint32_t wide[][2] = {
        {0x1100, 95},     {0x231a, 1},      {0x2329, 1},    {0x23e9, 3},     {0x23f0, 0},
        {0x23f3, 0},      {0x25fd, 1},      {0x2614, 1},    {0x2648, 11},    {0x267f, 0},
        {0x2693, 0},      {0x26a1, 0},      {0x26aa, 1},    {0x26bd, 1},     {0x26c4, 1},
        {0x26ce, 0},      {0x26d4, 0},      {0x26ea, 0},    {0x26f2, 1},     {0x26f5, 0},
        {0x26fa, 0},      {0x26fd, 0},      {0x2705, 0},    {0x270a, 1},     {0x2728, 0},
        {0x274c, 0},      {0x274e, 0},      {0x2753, 2},    {0x2757, 0},     {0x2795, 2},
        {0x27b0, 0},      {0x27bf, 0},      {0x2b1b, 1},    {0x2b50, 0},     {0x2b55, 0},
        {0x2e80, 446},    {0x3041, 518},    {0x3250, 7023}, {0x4e00, 22214}, {0xa960, 28},
        {0xac00, 11171},  {0xf900, 473},    {0xfe10, 9},    {0xfe30, 59},    {0xff01, 95},
        {0xffe0, 6},      {0x16fe0, 17179}, {0x1f004, 0},   {0x1f0cf, 0},    {0x1f18e, 0},
        {0x1f191, 9},     {0x1f200, 288},   {0x1f32d, 8},   {0x1f337, 69},   {0x1f37e, 21},
        {0x1f3a0, 42},    {0x1f3cf, 4},     {0x1f3e0, 16},  {0x1f3f4, 0},    {0x1f3f8, 70},
        {0x1f440, 0},     {0x1f442, 186},   {0x1f4ff, 62},  {0x1f54b, 3},    {0x1f550, 23},
        {0x1f57a, 0},     {0x1f595, 1},     {0x1f5a4, 0},   {0x1f5fb, 84},   {0x1f680, 69},
        {0x1f6cc, 0},     {0x1f6d0, 2},     {0x1f6d5, 10},  {0x1f6eb, 1},    {0x1f6f4, 8},
        {0x1f7e0, 16},    {0x1f90c, 46},    {0x1f93c, 9},   {0x1f947, 184},  {0x1fa70, 134},
        {0x20000, 70474},
    };
    int width = 0;
    uint32_t code;
    for (size_t length; *text; text += length) {
        length = gpumbi_character(text, &code);
        int columns = 1;
        for (size_t i = 0; code >= 0x1100 && i < sizeof wide / sizeof wide[0]; i++)
            columns = code - wide[i][0] <= wide[i][1] ? 2 : columns;
        for (size_t i = 0; code >= 0x300 && i < sizeof none / sizeof none[0]; i++)
            columns = code - none[i][0] <= none[i][1] ? 0 : columns;
        width += columns;
    }
    return width;
}

/* What is left of `width` columns, or 0. */
static inline int gpumbi_blank(int width, const char *text)
{
    const int wide = gpumbi_width(text);
    return width > wide ? width - wide : 0;
}

enum { GPUMBI_LINE = 5000 }; /* holds a path and some words */

/* Everything that people read is written here, except for messages, which gpumbi_say() filters in
 * the same way, and for constants. Line breaks are those at the ends of `format`. */
GPUMBI_PRINTF(2, 3)
static inline void gpumbi_print(FILE *file, const char *format, ...)
{
    char text[GPUMBI_LINE];
    for (; *format == '\n'; format++)
        fputc('\n', file);
    size_t breaks = 0, end = strlen(format);
    for (; breaks < end && format[end - breaks - 1] == '\n'; breaks++)
        continue;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < (int)sizeof text)
        text[(size_t)length - breaks] = 0;
    gpumbi_plain(text);
    fputs(text, file);
    for (; breaks; breaks--)
        fputc('\n', file);
}

/* FNV-1a over a text and its 0, mixed, since keys are sums. */
static inline uint64_t gpumbi_hash(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static GPUMBI_PER_THREAD int gpumbi_progress_length; /* of the progress line */

static inline void gpumbi_progress_clear(void)
{
    if (gpumbi_progress_length)
        fprintf(stderr, "\r%*s\r", gpumbi_progress_length, "");
    gpumbi_progress_length = 0;
}

static inline void gpumbi_show_progress(char *text)
{
    gpumbi_progress_clear();
    gpumbi_plain(text);
    fputs(text, stderr);
    fflush(stderr);
    gpumbi_progress_length = (int)strlen(text);
}

#if !defined(GPUMB_STATIC)
static struct {
    gpumb_log write;
    void *user;
} gpumbi_log;

GPUMB_API void gpumb_set_log(gpumb_log log, void *user)
{
    gpumbi_log.write = log;
    gpumbi_log.user = user;
}
#endif

GPUMBI_PRINTF(1, 2)
static inline void gpumbi_say(const char *format, ...)
{
    char text[GPUMBI_LINE] = "gpumb: ";
    gpumbi_progress_clear();
    GPUMBI_FORMAT(text + 7, sizeof text - 7, format);
    gpumbi_plain(text);
#if !defined(GPUMB_STATIC)
    if (gpumbi_log.write) {
        gpumbi_log.write(text, gpumbi_log.user);
        return;
    }
#endif
    GPUMB_LOG(text);
}

typedef struct gpumbi_number {
    char text[32];
} gpumbi_number;

/* `digits` significant ones, or with `fixed` that many after the point. */
static inline gpumbi_number gpumbi_write_number(double value, int digits, int fixed)
{
    gpumbi_number n;
    gpumbi_format(n.text, sizeof n.text, fixed ? "%.*f" : "%.*g", digits, value);
    for (char *c = n.text; *c; c++)
        if (*c == ',')
            *c = '.';
    return n;
}

/* So many digits after the point, but at least two significant ones: 0.04 is not 0.0. */
static inline gpumbi_number gpumbi_write_short(double value, int places)
{
    static const double least[] = {9.95, 0.995, 0.0995, 0.00995, 0.000995};
    const int tiny = value > 0 && value < least[places];
    return gpumbi_write_number(value, tiny ? 2 : places, !tiny);
}

/* "1 row", "2 rows", "0 processes" */
static inline gpumbi_number gpumbi_count(uint64_t n, const char *noun)
{
    gpumbi_number text;
    const char *plural = noun[strlen(noun) - 1] == 's' ? "es" : "s";
    gpumbi_format(text.text, sizeof text.text, "%llu %s%s", (unsigned long long)n, noun,
                  n == 1 ? "" : plural);
    return text;
}

/* 1.234 ms: four significant digits and a unit. */
static inline gpumbi_number gpumbi_write_time(double seconds)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double value = seconds * 1e9;
    int u = 0;
    while (u < 3 && value >= 999.95) {
        value /= 1000;
        u++;
    }
    gpumbi_number n;
    const int places = value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
    gpumbi_format(n.text, sizeof n.text, "%s %s", gpumbi_write_number(value, places, 1).text,
                  unit[u]);
    return n;
}

/* A size in the largest unit that fits: 1.5 GiB */
static inline gpumbi_number gpumbi_write_size(uint64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = gpumbi_real(bytes);
    int u = 0;
    while (u < 4 && value >= 1024) {
        value /= 1024;
        u++;
    }
    gpumbi_number n;
    gpumbi_format(n.text, sizeof n.text, "%s %s", gpumbi_write_number(value, 4, 0).text, unit[u]);
    return n;
}

/* A decimal number that takes up the whole text. Returns 1, or 0 if it is none or overflows. The
 * locale's point is tried in place of a plain one. */
static inline int gpumbi_read_number(const char *text, double *value)
{
    char local[64], *end;
    gpumbi_copy_text(local, sizeof local, text);
    char *point = strchr(local, '.');
    if (local[strspn(local, "+-.0123456789eE")] || strlen(text) >= sizeof local)
        return 0;
    *value = strtod(local, &end);
    if (*end && point) {
        *point = ',';
        *value = strtod(local, &end);
    }
    return end > local && !*end && gpumbi_finite(*value);
}

/* A number in units of 10^exponent. */
static inline int gpumbi_read_scaled(const char *text, int exponent, double *value)
{
    char shifted[100];
    const int digits = (int)strcspn(text, "eE");
    if (!gpumbi_read_number(text, value))
        return 0;
    const long power = text[digits] ? strtol(text + digits + 1, NULL, 10) : 0;
    if (!exponent || power > 999) /* of 0 */
        return 1;
    gpumbi_format(shifted, sizeof shifted, "%.*se%ld", digits, text, power + exponent);
    return gpumbi_read_number(shifted, value);
}

/* In the fewest digits that read as the same. */
static inline gpumbi_number gpumbi_write_scaled(double value, int exponent)
{
    gpumbi_number n;
    double back = 0;
    const double scaled = exponent == 9 ? value / 1e9 : exponent == 6 ? value / 1e6 : value;
    for (int digits = 15; digits <= 17; digits++) {
        n = gpumbi_write_number(scaled, digits, 0);
        if (gpumbi_read_scaled(n.text, exponent, &back) && back >= value && back <= value)
            break;
    }
    return n;
}

/* An integer with an optional suffix k M G Ki Mi Gi, or 2^k. Stops at the first character that does
 * not belong to it and returns a pointer there; NULL if there is no number or it overflows. */
static inline const char *gpumbi_read_integer(const char *text, int64_t *value)
{
    static const struct {
        const char *name;
        int64_t factor;
    } suffix[] = {{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30},
                  {"k", 1000},     {"M", 1000000},  {"G", 1000000000}};
    const int negative = *text == '-';
    text += negative;
    if (*text < '0' || *text > '9')
        return NULL;
    int64_t sum = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (sum > (INT64_MAX - (*text - '0')) / 10)
            return NULL;
        sum = sum * 10 + (*text - '0');
    }
    if (*text == '^') {
        int64_t power;
        text = gpumbi_read_integer(text + 1, &power);
        if (!text || sum != 2 || power < 0 || power > 62)
            return NULL;
        sum = (int64_t)1 << power;
    } else {
        for (size_t s = 0; s < sizeof suffix / sizeof suffix[0]; s++)
            if (!strncmp(text, suffix[s].name, strlen(suffix[s].name))) {
                if (sum > INT64_MAX / suffix[s].factor)
                    return NULL;
                sum *= suffix[s].factor;
                text += strlen(suffix[s].name);
                break;
            }
    }
    *value = negative ? -sum : sum;
    return text;
}

/* ================================================================================================
 * STATISTICS
 *
 * Keeps no state: functions of arrays. Series are in the order of measurement. The constants
 * without a source come from simulation: tests/coverage.c shows what they achieve.
 */

enum {
    GPUMBI_WINDOW = 64,     /* runs of a window of the pace */
    GPUMBI_WINDOWS = 100,   /* of these that are looked at */
    GPUMBI_BLOCKS = 1024,   /* most blocks of a series: keeps correlations below a millisecond */
    GPUMBI_SEGMENTS = 9,    /* of a series that is classified */
    GPUMBI_NEAR = 120,      /* newest values that are searched for jumps */
    GPUMBI_PHASES = 6,      /* levels that a series may take turns between */
    GPUMBI_CLASSIFIED = 30, /* fewer values than this can't tell a shape from noise */
    GPUMBI_FEW = 8          /* the first look at a slow region's samples */
};

/* A series as sums of neighbouring values, each value clipped so that outliers don't dominate. */
typedef struct gpumbi_block_sums {
    double sum[GPUMBI_BLOCKS]; /* less their mean */
    int count;
    double size;     /* values in a block */
    double variance; /* of a single clipped value */
} gpumbi_block_sums;

static inline int gpumbi_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value of 0-based rank `rank`, leaving the order alone: halves the range between two values
 * until both are one: some log2 n times, at most 1100. */
static inline double gpumbi_select(const double *values, uint64_t count, uint64_t rank)
{
    double lo = values[0], hi = values[0];
    for (uint64_t i = 1; i < count; i++) {
        lo = values[i] < lo ? values[i] : lo;
        hi = values[i] > hi ? values[i] : hi;
    }
    while (lo < hi) {
        const double halfway = lo / 2 + hi / 2;
        const double middle = halfway > lo && halfway < hi ? halfway : lo;
        double below = lo, above = hi;
        uint64_t up_to = 0;
        for (uint64_t i = 0; i < count; i++)
            if (values[i] > middle) {
                above = values[i] < above ? values[i] : above;
            } else {
                below = values[i] > below ? values[i] : below;
                up_to++;
            }
        hi = up_to > rank ? below : hi;
        lo = up_to > rank ? lo : above;
    }
    return hi;
}

/* The largest 1-based rank l so that [x(l), x(n + 1 - l)] covers the median with at least `level`;
 * 0 if there is none. The number of values below the median is binomial with p = 1/2: sums its
 * probabilities from l to n - l, from the middle outwards (David & Nagaraja, Order Statistics,
 * 2003, 7.1). */
static inline uint64_t gpumbi_median_rank(uint64_t count, double level)
{
    const double n = gpumbi_real(count);
    double l = floor(n / 2), p = 1; /* of l: lgamma() would be simpler, but writes to a global */
    if (l < 100)
        for (double i = 1; i <= l; i++)
            p *= (2 * i - 1) / (2 * i);
    else
        p = (1 - (1 - (1 + 5 / (8 * l)) / (16 * l)) / (8 * l)) / sqrt(3.14159265358979 * l);
    p *= count % 2 ? n / (n + 1) : 1;
    double covered = count % 2 ? 2 * p : p;
    for (; covered < level && l > 0; l--) {
        p *= l / (n - l + 1);
        covered += 2 * p;
    }
    return (uint64_t)l;
}

/* Clips to -1 ... 1 at `scale` from the centre; without a scale only the sign counts. Values take
 * turns between `phases` centres and scales, and blocks are less the mean of their phase. */
static inline void gpumbi_make_blocks(gpumbi_block_sums *b, const double *values, uint64_t count,
                                      int phases, const double *center, const double *scale)
{
    const uint64_t size = (count + GPUMBI_BLOCKS - 1) / GPUMBI_BLOCKS;
    double squares = 0;
    b->count = (int)(count / size);
    b->size = (double)size;
    for (int i = 0; i < b->count; i++) {
        b->sum[i] = 0;
        for (uint64_t j = 0; j < size; j++) {
            const uint64_t at = (uint64_t)i * size + j, phase = at % (uint64_t)phases;
            const double d = values[at] - center[phase];
            const double y = scale[phase] > 0 ? gpumbi_max(-1, gpumbi_min(d / scale[phase], 1))
                                              : (d > 0) - (d < 0);
            b->sum[i] += y;
            squares += y * y;
        }
    }
    for (int phase = 0; phase < phases; phase++) {
        double sum = 0, members = 0;
        for (int i = phase; i < b->count; i += phases, members++)
            sum += b->sum[i];
        for (int i = phase; i < b->count; i += phases)
            b->sum[i] -= sum / members;
        squares -= sum * sum / (members * b->size);
    }
    b->variance = squares / (b->size * b->count);
}

/* Integrated autocorrelation time of y, of mean 0: the factor by which the variance of its mean
 * exceeds that of independent values, judging by lags that are multiples of `step`. Sums pairs of
 * lags while they are positive (Geyer, Practical Markov Chain Monte Carlo, Stat. Sci. 7, 1992:
 * initial positive sequence). Also the correlation at the first lag; and, where wanted, by how much
 * correlations rise again after their lowest. */
static inline double gpumbi_correlation(const double *y, int count, int step, double *first,
                                        double *rise)
{
    double time = 0, variance = 0, least = 0, most = 0;
    int positive = 1;
    for (int lag = 0; lag < count / 2 && (positive || rise); lag += 2 * step) {
        double even = 0, odd = 0;
        for (int i = lag; i < count; i++) {
            even += y[i] * y[i - lag];
            odd += i < lag + step ? 0 : y[i] * y[i - lag - step];
        }
        if (lag == 0) {
            variance = least = even;
            *first = variance > 0 ? odd / variance : 0;
        }
        least = gpumbi_min(least, even);
        most = gpumbi_max(most, even - least);
        least = gpumbi_min(least, odd);
        most = gpumbi_max(most, odd - least);
        positive = positive && even + odd > 0;
        time += positive ? 2 * (even + odd) : 0;
    }
    if (rise)
        *rise = variance > 0 ? most / variance : 0;
    return variance > 0 ? time / variance - 1 : 1;
}

/* The slope per value of a straight line (least squares), and its standard error, which takes the
 * residuals to be as autocorrelated as they look; at most GPUMBI_WINDOWS values. */
static inline double gpumbi_slope(const double *y, int count, double *error)
{
    double rest[GPUMBI_WINDOWS] = {0}, mean = 0, slope = 0, left = 0, first;
    const double n = count, middle = (n - 1) / 2, squares = n * (n * n - 1) / 12;
    for (int i = 0; i < count; i++)
        mean += y[i] / n;
    for (int i = 0; i < count; i++)
        slope += (i - middle) * (y[i] - mean) / squares;
    for (int i = 0; i < count; i++) {
        rest[i] = y[i] - mean - (i - middle) * slope;
        left += rest[i] * rest[i];
    }
    left *= gpumbi_max(1, gpumbi_correlation(rest, count, 1, &first, NULL));
    *error = sqrt(left / (n - 2) / squares);
    return slope;
}

/* The same for the median of a series whose values take turns between `phases` levels. Deviations
 * from the median of their phase count up to a quarter of its quartiles' distance: the median feels
 * little more than their signs (whose correlation is what counts for it: Bahadur 1966), which alone
 * are noisier. Lags are multiples of `phases`, so that what comes back with them does not hide the
 * rest; the values in between count as correlated as those are, which they are at most. Few values
 * have too few of these lags: there, all lags of what is left of the phases tell more. `ranked` has
 * the values, sorted, and the place of each. */
static inline double gpumbi_phased_time(const double *series, uint64_t count, int phases,
                                        const double *ranked)
{
    gpumbi_block_sums b;
    double center[GPUMBI_PHASES] = {0}, scale[GPUMBI_PHASES] = {0};
    double first = 0, time = 1, squares = 0, pairs = 0;
    const uint64_t step = (uint64_t)phases * (1 + count / 8192 * 6); /* thousands are enough */
    uint64_t last[GPUMBI_PHASES] = {0}, seen[GPUMBI_PHASES] = {0};
    for (int i = 0; i < phases; i++)
        last[i] = (count - (uint64_t)i - 1) / step;
    for (const double *at = ranked; at < ranked + 2 * count; at += 2) {
        const uint64_t i = (uint64_t)at[1] % step;
        if (i >= (uint64_t)phases)
            continue;
        const uint64_t rank = seen[i]++, quarter = (last[i] + 1) / 4;
        center[i] += rank == last[i] / 2 ? at[0] / 2 : 0;
        center[i] += rank == (last[i] + 1) / 2 ? at[0] / 2 : 0;
        scale[i] -= rank == quarter ? at[0] / 4 : 0;
        scale[i] += rank == last[i] - quarter ? at[0] / 4 : 0;
    }
    gpumbi_make_blocks(&b, series, count, phases, center, scale);
    for (int i = 0; i < b.count; i++) {
        const double pair = i % 2 ? b.sum[i] + b.sum[i - 1] : 0;
        squares += b.sum[i] * b.sum[i];
        pairs += pair * pair;
    }
    /* Most independent series pass as such, by the first correlation in standard errors. And where
     * neighbours mirror each other, the median stays. */
    for (int lag = phases; lag > 0; lag -= lag > 1 ? lag - 1 : 1) {
        const double t = lag * gpumbi_correlation(b.sum, b.count, lag, &first, NULL) - lag + 1;
        if (first >= (phases > 2 || lag < phases ? 1.6 : 0.6) / sqrt((double)b.count))
            time = gpumbi_max(time, t);
    }
    if (b.variance <= 0 || time <= 1 || (phases > 1 && pairs < 0.1 * squares))
        return 1;
    return time * squares / b.count / (b.size * b.variance);
}

/* The value at a 1-based, fractional rank within. */
static inline double gpumbi_at_rank(const double *sorted, double rank)
{
    const uint64_t below = (uint64_t)rank - 1;
    const double part = rank - floor(rank);
    return part > 0 ? sorted[below] + part * (sorted[below + 1] - sorted[below]) : sorted[below];
}

/* Order statistic at fraction p. */
static inline double gpumbi_quantile(const double *sorted, uint64_t count, double p)
{
    return gpumbi_at_rank(sorted, 1 + p * gpumbi_real(count - 1));
}

/* An end of the interval, at such a rank. Beyond the ends it goes on with the mean spacing: a short
 * part of a correlated series need not have come near the median at all. One value of 20 to either
 * side counts no farther beyond the others than these reach: an outlier says nothing about where
 * the median may be. */
static inline double gpumbi_end_at(const double *sorted, uint64_t count, double rank)
{
    const uint64_t tail = count / 20, last = count - 1;
    const double n = gpumbi_real(count), within = gpumbi_max(1, gpumbi_min(rank, n));
    const double range = sorted[last - tail] - sorted[tail];
    const double least = gpumbi_max(sorted[0], sorted[tail] - range);
    const double most = gpumbi_min(sorted[last], sorted[last - tail] + range);
    double end = gpumbi_max(least, gpumbi_min(gpumbi_at_rank(sorted, within), most));
    if (rank < 1 || rank > n)
        end += (rank - within) * (most - least) / (n - 1);
    return sorted[0] < 0 ? end : gpumbi_max(end, 0);
}

/* Autocorrelation stretches the interval's ranks by the root of the autocorrelation time t, as it
 * does the standard error of a median, and by k (t - 1) sqrt(t) / n of that more, since t comes out
 * low from a short series. With k = 1 + 400/n, and 15 where n is small, intervals hold 92 ... 98 %
 * from 30 samples on, of AR(1) up to 0.97. Having `stopped` at the first narrow interval favours
 * those where t is lowest: k stays 15 there, with the same outcome. No reach is longer than 1.5 n
 * ranks, one range beyond the ends: else a few samples would have intervals many times as wide as
 * their whole range (tests/coverage.c). Sorts the values: in `ranked`, which has room for twice as
 * many, once with their places, so that they tell the quartiles of every phase. */
static inline gpumb_stats gpumbi_summarize(double *values, double *ranked, uint64_t count,
                                           double level, int stopped)
{
    gpumb_stats s;
    memset(&s, 0, sizeof s);
    s.count = count;
    s.effective = gpumbi_real(count);
    if (!count)
        return s;
    for (uint64_t i = 0; i < count; i++) {
        ranked[2 * i] = values[i];
        ranked[2 * i + 1] = gpumbi_real(i);
    }
    qsort(ranked, (size_t)count, 2 * sizeof *ranked, gpumbi_compare_doubles);
    const uint64_t rank = gpumbi_median_rank(count, level);
    /* How many times as many samples the median needs as if they were independent; at least 1. A
     * component of period 2 ... 6 does not hide the rest. Needs the order. */
    double time = 1;
    for (int phases = 1; rank && phases <= GPUMBI_PHASES && count >= 6 * (uint64_t)phases; phases++)
        time = gpumbi_max(time, gpumbi_phased_time(values, count, phases, ranked));
    for (uint64_t i = 0; i < count; i++)
        values[i] = ranked[2 * i];
    s.min = values[0];
    s.max = values[count - 1];
    s.q1 = gpumbi_quantile(values, count, 0.25);
    s.median = gpumbi_quantile(values, count, 0.5);
    s.q3 = gpumbi_quantile(values, count, 0.75);
    if (rank) {
        const double n = gpumbi_real(count), middle = (n + 1) / 2;
        const double k = stopped ? 15 : gpumbi_min(15, 1 + 400 / n);
        const double short_of = k * (time - 1) * sqrt(time) / n;
        const double reach =
            gpumbi_min((middle - gpumbi_real(rank)) * sqrt(time) * (1 + short_of), 1.5 * n);
        s.ci_lo = gpumbi_end_at(values, count, middle - reach);
        s.ci_hi = gpumbi_end_at(values, count, middle + reach);
        s.effective = n / time;
    }
    /* Four values can't have one that is outside by 3 interquartile ranges. */
    const double beyond = count > 4 ? 3 * (s.q3 - s.q1) : HUGE_VAL;
    double squares = 0; /* mean and variance by Welford's update */
    for (uint64_t i = 0; i < count; i++) {
        const double delta = values[i] - s.mean;
        s.mean += delta / gpumbi_real(i + 1);
        squares += delta * (values[i] - s.mean);
        s.outliers += s.q1 - values[i] > beyond || values[i] - s.q3 > beyond;
    }
    s.sd = count > 1 ? sqrt(squares / gpumbi_real(count - 1)) : 0;
    /* The deviations fall towards the median and rise from it: two sorted runs, merged up to the
     * middle one or two. */
    uint64_t right = 0;
    while (right < count && values[right] < s.median)
        right++;
    uint64_t left = right;
    double last = 0, previous = 0;
    for (uint64_t i = 0; i <= count / 2; i++) {
        previous = last;
        if (left > 0 && (right >= count || s.median - values[left - 1] <= values[right] - s.median))
            last = s.median - values[--left];
        else
            last = values[right++] - s.median;
    }
    s.mad = count % 2 ? last : (previous + last) / 2;
    return s;
}

GPUMB_API gpumb_stats gpumb_statistics(double *values, uint64_t count)
{
    double few[2 * GPUMBI_WINDOW]; /* all that the library itself passes: no allocation */
    double *ranked = few;
    if (count > GPUMBI_WINDOW)
        ranked = (double *)GPUMB_MALLOC(2 * (size_t)count * sizeof *ranked);
    const gpumb_stats s = gpumbi_summarize(values, ranked, values && ranked ? count : 0, 0.95, 0);
    if (ranked != few)
        GPUMB_FREE(ranked);
    return s;
}

/* Ranks to either side of the middle that the interval of few values reaches at least. With them 94
 * % and more hold of AR(1) 0.9, in place of 59 ... 95; and 93 % of ratios of two such series, in
 * place of 62 ... 95 (tests/coverage.c). */
enum { GPUMBI_FEW_TIMES = 13, GPUMBI_FEW_RATIOS = 10 };

/* Widens the interval of fewer than 30 values so: short parts of a correlated series look narrow,
 * and below some 20 values no less independent than others. Where they do, that is taken back from
 * 14 to 24 values. */
static inline void gpumbi_widen_few(const double *sorted, gpumb_stats *s, int reach)
{
    const double n = gpumbi_real(s->count), middle = (n + 1) / 2;
    const double part = s->effective < n ? 1 : gpumbi_max(0, gpumbi_min((24 - n) / 10, 1));
    if (s->count < 6 || s->count >= GPUMBI_CLASSIFIED)
        return;
    s->ci_lo = gpumbi_min(s->ci_lo, gpumbi_end_at(sorted, s->count, middle - reach * part));
    s->ci_hi = gpumbi_max(s->ci_hi, gpumbi_end_at(sorted, s->count, middle + reach * part));
}

/* Half the interval's width over the median; huge without an interval. */
static inline double gpumbi_half_width(const gpumb_stats *s)
{
    return s->count < 6 || s->median <= 0 ? HUGE_VAL : (s->ci_hi - s->ci_lo) / 2 / s->median;
}

/* The next count of samples to look at: half as much again, so that there are few looks. */
static inline uint64_t gpumbi_next_look(uint64_t look)
{
    return look + look / 2 + 1;
}

/* ---- the shape of a series ------------------------------------------------------------------- */

/* Two levels: one to the left and one to the right of an almost empty valley, each with a tenth of
 * the values, narrow beside their distance (which a heavy tail is not), and visited again and
 * again. */
static inline int gpumbi_two_levels(const double *series, uint64_t count, double least,
                                    double quantum)
{
    double mean[2] = {gpumbi_select(series, count, count / 10),
                      gpumbi_select(series, count, count - 1 - count / 10)};
    double n[2] = {0, 0}, squares = 0, valley = 0, switches = 0;
    for (int pass = 0; pass < 10; pass++) { /* 2-means (Lloyd 1982); the last pass also counts */
        const double border = (mean[0] + mean[1]) / 2, width = (mean[1] - mean[0]) / 8;
        double sum[2] = {0, 0}, wide[2] = {0, 0};
        int level = series[0] > border;
        n[0] = n[1] = valley = switches = 0;
        for (uint64_t i = 0; i < count; i++) {
            const int side = series[i] > border;
            /* what is far beyond the levels doesn't count: spikes */
            const int beyond = fabs(series[i] - border) > 12 * width;
            const double off = beyond ? 0 : series[i] - mean[side];
            sum[side] += beyond ? 0 : series[i];
            n[side] += !beyond;
            wide[side] += off * off;
            valley += fabs(series[i] - border) < width;
            if (side != level && fabs(series[i] - border) > 2 * width) { /* not just noise */
                switches++;
                level = side;
            }
        }
        if (n[0] < 1 || n[1] < 1)
            return 0;
        mean[0] = sum[0] / n[0];
        mean[1] = sum[1] / n[1];
        squares = gpumbi_max(wide[0] / n[0], wide[1] / n[1]);
    }
    const double apart = mean[1] - mean[0], all = gpumbi_real(count);
    const double drawn = 2 * n[0] * n[1] / all; /* switches of independent draws; sd (drawn/all) */
    const double narrow = 0.25 - 2 / all; /* from few values the spread of a tail comes out low */
    const int persistent = switches < drawn - 4 * drawn / sqrt(all);
    return apart >= least && sqrt(squares) < narrow * apart && gpumbi_min(n[0], n[1]) >= all / 10 &&
           valley <= 0.03 * all && switches >= 6 && (apart >= 4 * quantum || persistent);
}

/* Whether values jump and stay: three in a row all beyond the three before them, by 3 times what
 * three quarters of all neighbours differ by at most. Of independent normal noise that is 5
 * standard deviations; spikes don't stay, and AR(1) 0.9 hardly gets that far at once. */
static inline int gpumbi_jumps(const double *v, uint64_t count, double least)
{
    double step[GPUMBI_NEAR];
    for (uint64_t i = 1; i < count; i++)
        step[i - 1] = fabs(v[i] - v[i - 1]);
    const double usual = gpumbi_select(step, count - 1, count - 1 - count / 4);
    const double gap = gpumbi_max(least, 3 * usual);
    for (uint64_t i = 3; i + 3 <= count; i++) {
        double lo[2], hi[2];
        for (int after = 0; after < 2; after++) {
            const double *three = v + i - 3 * !after;
            lo[after] = gpumbi_min(three[0], gpumbi_min(three[1], three[2]));
            hi[after] = gpumbi_max(three[0], gpumbi_max(three[1], three[2]));
        }
        if (lo[1] - hi[0] > gap || lo[0] - hi[1] > gap)
            return 1;
    }
    return 0;
}

/* Compares the means of nine segments with what the rest of the series, its autocorrelation
 * included, lets one expect of them (one-way analysis of variance, the error variance being
 * Geyer's; the limit, from 9 on, is far above the F quantile: short segments hide part of the
 * correlation), and looks for jumps, and for negative correlations followed by positive ones at
 * longer lags: AR(1) noise hardly has those, a cycle does. */
GPUMB_API gpumb_series gpumb_classify(const double *series, uint64_t count, double precision)
{
    const int last = GPUMBI_SEGMENTS - 1;
    gpumbi_block_sums b;
    double level[GPUMBI_SEGMENTS] = {0}, members[GPUMBI_SEGMENTS] = {0};
    double first, again, again_near, between = 0, within = 0, rise = 0, fall = 0;
    if (!series || count < GPUMBI_CLASSIFIED)
        return GPUMB_SERIES_STEADY;
    const double median = gpumbi_select(series, count, count / 2);
    const double least = precision * fabs(median);
    double scale = 3 * (gpumbi_select(series, count, count - 1 - count / 4) -
                        gpumbi_select(series, count, count / 4));
    if (scale <= 0) /* more than half are one value: nothing is an outlier */
        scale = gpumbi_select(series, count, count - 1) - gpumbi_select(series, count, 0);
    if (scale <= 0)
        return GPUMB_SERIES_STEADY;
    double quantum = HUGE_VAL; /* neighbours differ by it at least: what the clock shows, at most */
    for (uint64_t i = 1; i < count; i++) {
        const double step = fabs(series[i] - series[i - 1]);
        quantum = step > 0 && step < quantum ? step : quantum;
    }
    const double coarse = gpumbi_max(least, 4 * quantum); /* less may be the clock's own beat */
    if (gpumbi_two_levels(series, count, least, quantum))
        return GPUMB_SERIES_TWO_LEVELS;

    /* fast cycles in the newest values, slow ones in all of them */
    const uint64_t most = GPUMBI_BLOCKS, newest = count < most ? count : most;
    const uint64_t few = newest < GPUMBI_NEAR ? newest : (uint64_t)GPUMBI_NEAR;
    gpumbi_make_blocks(&b, series + (count - newest), newest, 1, &median, &scale);
    gpumbi_correlation(b.sum, b.count, 1, &first, &again_near);
    gpumbi_make_blocks(&b, series, count, 1, &median, &scale);
    gpumbi_correlation(b.sum, b.count, 1, &first, &again);
    again = gpumbi_max(again, again_near);
    const double swing = sqrt(8 * b.variance) * scale; /* of a sine, peak to peak */

    for (int i = 0; i < b.count; i++) {
        level[i * GPUMBI_SEGMENTS / b.count] += b.sum[i];
        members[i * GPUMBI_SEGMENTS / b.count]++;
    }
    for (int k = 0; k <= last; k++) {
        level[k] /= members[k];
        between += members[k] * level[k] * level[k] / last;
        for (int j = 0; j < k; j++) {
            rise = gpumbi_max(rise, level[k] - level[j]);
            fall = gpumbi_max(fall, level[j] - level[k]);
        }
    }
    for (int i = 0; i < b.count; i++) {
        b.sum[i] -= level[i * GPUMBI_SEGMENTS / b.count];
        within += b.sum[i] * b.sum[i] / (b.count - GPUMBI_SEGMENTS);
    }
    within *= gpumbi_max(1, gpumbi_correlation(b.sum, b.count, 1, &first, NULL));

    const double range = gpumbi_max(rise, fall);
    if ((between <= (9 + 50 / gpumbi_real(count)) * within || range * scale / b.size < least) &&
        !gpumbi_jumps(series + (count - few), few, coarse))
        return again > 0.65 + 2.5 / sqrt(gpumbi_real(newest)) && swing >= coarse
                   ? GPUMB_SERIES_UNSTEADY
                   : GPUMB_SERIES_STEADY;
    const double late = level[last] + level[last - 1] - level[last - 2] - level[last - 3];
    if (gpumbi_min(rise, fall) > 0.35 * range || fabs(late) / 2 > 0.125 * range) /* a ramp: 0.25 */
        return GPUMB_SERIES_UNSTEADY;
    return fall > rise ? GPUMB_SERIES_WARMING_UP : GPUMB_SERIES_SLOWING_DOWN;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static inline gpumb_verdict gpumbi_verdict(double lo, double hi, double delta)
{
    const double most = 1 + delta, least = 1 / most;
    if (!(lo > 0))
        return GPUMB_VERDICT_UNDECIDED;
    return lo > most                   ? GPUMB_VERDICT_SLOWER
           : hi < least                ? GPUMB_VERDICT_FASTER
           : lo >= least && hi <= most ? GPUMB_VERDICT_SAME
                                       : GPUMB_VERDICT_UNDECIDED;
}

/* Ratios of two rounds each, where neighbours lie on different sides of the median in by far more
 * than half of the pairs (two standard errors of a sign test): being first helps, or hurts, and
 * over two rounds that cancels. Returns how many there are now. */
static inline uint64_t gpumbi_pair_ratios(double *ratios, uint64_t rounds)
{
    const uint64_t pairs = rounds / 2;
    double opposite = 0;
    if (pairs < 30) /* from fewer, correlation does not show */
        return rounds;
    const double median = gpumbi_select(ratios, rounds, rounds / 2);
    for (uint64_t i = 0; i < pairs; i++)
        opposite += (ratios[2 * i] - median) * (ratios[2 * i + 1] - median) < 0;
    if (opposite <= gpumbi_real(pairs) / 2 + sqrt(gpumbi_real(pairs)))
        return rounds;
    for (uint64_t i = 0; i < pairs; i++)
        ratios[i] = sqrt(ratios[2 * i] * ratios[2 * i + 1]);
    return pairs;
}

/* From the ratios of all rounds, in order, and room for twice as many after; sorts them.
 * `stopped`: the next rounds depend on what comes out, see gpumbi_summarize(). Several comparisons
 * share the 5 % (Bonferroni): unlike Holm's procedure, that gives intervals, and one may stop
 * before the others. */
static inline gpumb_comparison gpumbi_compare_ratios(double *ratios, uint64_t rounds, double delta,
                                                     int comparisons, int stopped)
{
    const double level = 1 - 0.05 / (comparisons > 1 ? comparisons : 1);
    const uint64_t count = gpumbi_pair_ratios(ratios, rounds);
    gpumb_stats s = gpumbi_summarize(ratios, ratios + count, count, level, stopped);
    gpumb_comparison c;
    if (s.ci_lo > 0)
        gpumbi_widen_few(ratios, &s, GPUMBI_FEW_RATIOS);
    c.rounds = rounds;
    c.ratio = s.median;
    c.lo = s.ci_lo;
    c.hi = s.ci_hi;
    c.verdict = gpumbi_verdict(c.lo, c.hi, delta);
    return c;
}

GPUMB_API gpumb_comparison gpumb_compare_rounds(const double *base, const double *other,
                                                uint64_t rounds, double delta, int comparisons)
{
    const int some = rounds && base && other;
    double *ratios = some ? (double *)GPUMB_MALLOC(3 * (size_t)rounds * sizeof *ratios) : NULL;
    uint64_t count = 0;
    for (uint64_t i = 0; ratios && i < rounds; i++) {
        const double ratio = other[i] / base[i];
        if (base[i] > 0 && ratio > 0 && gpumbi_finite(ratio))
            ratios[count++] = ratio;
    }
    const gpumb_comparison c = gpumbi_compare_ratios(ratios, count, delta, comparisons, 0);
    GPUMB_FREE(ratios);
    return c;
}

/* What two lanes of an interleave took, in rounds, and which lane ran right before each. */
typedef struct gpumbi_turns {
    const double *time[2];
    const unsigned char *before[2];
    int lane[2], lanes;
} gpumbi_turns;

/* Ratios of neighbouring times: of `b`, 0 or 1, after lane `after_b`, to `a` after `after_a`.
 * Returns how many there are. */
static inline uint64_t gpumbi_ratios_after(const gpumbi_turns *t, uint64_t rounds, int a,
                                           int after_a, int b, int after_b, double *ratios)
{
    double of_a = 0, of_b = 0;
    uint64_t count = 0;
    for (uint64_t k = 0; t->before[0] && k < rounds; k++) {
        of_a = t->before[a][k] == after_a ? t->time[a][k] : of_a;
        of_b = t->before[b][k] == after_b ? t->time[b][k] : of_b;
        if (of_a > 0 && of_b > 0) {
            ratios[count++] = of_b / of_a;
            of_a = of_b = 0;
        }
    }
    return count;
}

/* By how much what ran before matters more for the one lane than for the other, as a logarithm: 1
 * if it is more than a quarter of delta for sure; 0 if it is less than `least` for sure; else 2.
 * Sums how much longer the first takes after lane j than after itself, and the second after the
 * first lane than after j: what j does to all that follow, itself included, cancels, and leaves
 * what is compared round by round alone, too. */
static inline int gpumbi_carries_over(const gpumbi_turns *t, uint64_t rounds, double delta,
                                      double least, int stopped, double *scratch)
{
    int known = 1;
    for (int j = 0; j < t->lanes; j++) {
        double at = 0, below = 0, above = 0;
        if (j == t->lane[0])
            continue;
        for (int i = 0; i < 2; i++) {
            const uint64_t count = gpumbi_ratios_after(t, rounds, i, i ? j : t->lane[0], i,
                                                       i ? t->lane[0] : j, scratch);
            const gpumb_stats s = gpumbi_summarize(scratch, scratch + count, count,
                                                   1 - 0.01 / (t->lanes - 1), stopped);
            const int some = s.ci_lo > 0;
            at += some ? log(s.median) : 0;
            below = some ? hypot(below, log(s.median / s.ci_lo)) : HUGE_VAL;
            above = some ? hypot(above, log(s.ci_hi / s.median)) : HUGE_VAL;
        }
        if (at - below > delta / 4 || at + above < -delta / 4)
            return 1;
        known = known && at - below > -least && at + above < least;
    }
    return known ? 0 : 2;
}

/* Compares two lanes round by round; or, where one disturbs the other, by what they take after
 * themselves: then `*carried` is 1. Where both ratios differ (by a sign test: from 1.8 standard
 * errors on), but it is not known yet whether one disturbs the other, the interval is both. */
static inline gpumb_comparison gpumbi_compare_turns(const gpumbi_turns *t, uint64_t rounds,
                                                    double delta, int comparisons, int stopped,
                                                    double *scratch, int *carried)
{
    double above = 0, apart = 0; /* equal ones, as of a coarse clock, are of neither sign */
    for (uint64_t k = 0; k < rounds; k++)
        scratch[k] = t->time[1][k] / t->time[0][k];
    gpumb_comparison all = gpumbi_compare_ratios(scratch, rounds, delta, comparisons, stopped);
    const uint64_t own = gpumbi_ratios_after(t, rounds, 0, t->lane[0], 1, t->lane[1], scratch);
    *carried = 0;
    if (own < 4 || !(all.lo > 0))
        return all;
    for (uint64_t k = 0; k < own; k++) {
        above += scratch[k] > all.ratio;
        apart += scratch[k] < all.ratio || scratch[k] > all.ratio;
    }
    gpumb_comparison self = gpumbi_compare_ratios(scratch, own, delta, comparisons, stopped);
    self.rounds = rounds;
    const int differ = fabs(2 * above - apart) > 1.8 * sqrt(apart);
    const int carries = gpumbi_carries_over(t, rounds, delta, fabs(log(self.ratio / all.ratio)) / 2,
                                            stopped, scratch);
    *carried = carries == 1;
    if (*carried)
        return self;
    if (differ && carries) {
        all.lo = gpumbi_min(all.lo, self.lo);
        all.hi = gpumbi_max(all.hi, self.hi);
        all.verdict = gpumbi_verdict(all.lo, all.hi, delta);
    }
    return all;
}

/* Bias and variance of log(s^2), where s^2 estimates a variance with d, `freedom`, degrees of
 * freedom: digamma(d / 2) - log(d / 2) and trigamma(d / 2), by recurrence and Abramowitz & Stegun
 * 6.3.18 and 6.4.12. */
static inline double gpumbi_log_of_variance(double freedom, double *variance)
{
    double x = freedom / 2, mean = -log(x);
    for (*variance = 0; x < 6; x++) {
        mean -= 1 / x;
        *variance += 1 / (x * x);
    }
    const double s = 1 / (x * x);
    *variance += 1 / x + s / 2 + s / x * (1.0 / 6 - s * (1.0 / 30 - s / 42));
    return mean + log(x) - 1 / (2 * x) - s * (1.0 / 12 - s * (1.0 / 120 - s / 252));
}

/* Empirical-Bayes prior for the rows' variances (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004): a
 * variance that they share, and the degrees of freedom that it counts for. The true variances are
 * taken as a scaled inverse chi-square's, which is fitted to mean and variance of the logarithms of
 * the estimates; an estimate below a hundredth of the median one counts as that. The shared one
 * counts for at most half of the degrees of freedom of all rows but two: few look alike by chance.
 * Overwrites the variances. */
typedef struct gpumbi_prior {
    double variance, freedom; /* freedom 0: nothing */
} gpumbi_prior;

static inline gpumbi_prior gpumbi_share_variances(double *variance, const double *freedom,
                                                  size_t count)
{
    gpumbi_prior p = {0, 0};
    const double n = gpumbi_real(count);
    double mean = 0, all = 0, beyond = 0, noise, lo = 2e-3, hi = 2e6;
    const double middle = count > 2 ? gpumbi_select(variance, count, count / 2) : 0;
    for (size_t i = 0; i < count && middle > 0; i++) {
        const double floored = gpumbi_max(variance[i], middle / 100);
        variance[i] = log(floored) - gpumbi_log_of_variance(freedom[i], &noise);
        mean += variance[i] / n;
        beyond -= noise;
        all += freedom[i];
    }
    if (!(middle > 0))
        return p;
    for (size_t i = 0; i < count; i++)
        beyond += (variance[i] - mean) * (variance[i] - mean) * n / (n - 1);
    while (hi > 1.001 * lo) { /* where as much variance is left as there is */
        const double between = sqrt(lo * hi);
        (void)gpumbi_log_of_variance(between, &noise);
        *(n * noise > beyond ? &lo : &hi) = between;
    }
    p.variance = exp(mean + gpumbi_log_of_variance(hi, &noise));
    p.freedom = gpumbi_min(hi, all * (n - 2) / n / 2);
    return p;
}

/* A row's own variance with the shared one, and their degrees of freedom (moderated t). It is not
 * much below its own, which keeps false alarms rare where a few rows spread more than the others
 * (tests/coverage.c). */
static inline double gpumbi_moderate(const gpumbi_prior *p, double variance, double *freedom)
{
    const double d = *freedom, all = p->freedom + d;
    const double part = 1 + 0.25 * gpumbi_max(0, p->freedom - d) / (all + d);
    *freedom = all;
    return gpumbi_max((p->freedom * p->variance + d * variance) / all, variance / part);
}

/* Smallest outlier above the bulk, by its gaps: the least value over a gap that an upper quarter
 * whose logarithms fall off exponentially shows with a probability of at most 1 - level. The gaps
 * between its sorted logarithms are then independent, and the gap with j values above it has a j-th
 * of their scale. That is estimated from the gaps next below it (20 and an eighth of all), so the
 * ratio of the two has the distribution F. The j-th gap is tested at a share of 6 / (pi j)^2 of the
 * probability. Up to an eighth of all values can be outliers. HUGE_VAL if there is none; 0 for
 * fewer than 40 values, which are too few to know their upper quarter. Overwrites the values. */
static inline double gpumbi_apart(double *values, size_t count, double level)
{
    const size_t k = count / 4;
    if (k < 10)
        return 0;
    const double *top = values, below = gpumbi_select(values, count, count - k - 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > below)
            values[kept++] = values[i];
    while (kept <= k)
        values[kept++] = below;
    qsort(values, k + 1, sizeof *values, gpumbi_compare_doubles);
    double scale = 0; /* the sum of the gaps from `from` to m, each times the values above it */
    for (size_t m = 0, from = 0; m < k; m++) {
        const size_t window = m < 23 ? m : 20 + m / 8;
        const double above = gpumbi_real(k - m), n = gpumbi_real(window);
        const double gap = log(top[m + 1] / top[m]) * above;
        for (; from < m - window; from++)
            scale -= log(top[from + 1] / top[from]) * gpumbi_real(k - from);
        const double share = (1 - level) * 0.607927 / (above * above);
        if (m >= k / 2 && gap > gpumbi_max(scale, 0) * (pow(share, -1 / n) - 1))
            return top[m + 1];
        scale += gap;
    }
    return HUGE_VAL;
}

/* No more rounds are needed: the verdict is clear, or the ratio known to a quarter of delta, so
 * that it is close to a limit and would take very many more. A verdict counts only once the
 * interval reaches no further than delta to either side: from wider ones, the false alarms of early
 * looks would add up. */
static inline int gpumbi_decided(const gpumb_comparison *c, double delta)
{
    const double width = c->lo > 0 ? c->hi - c->lo : HUGE_VAL;
    return width <= (c->verdict == GPUMB_VERDICT_UNDECIDED ? delta / 2 : 2 * delta);
}

/* ================================================================================================
 * CPU EMULATION
 *
 * Owns what happens in a launch on the CPU: faults, stack switching, fibers, crashes and the pool
 * of workers. Knows nothing of gpumb contexts.
 */

static char gpumbi_crash_files[1200]; /* FILES: what the report of a crash says of them */

#if defined(GPUMB_BACKEND_CPU)
GPUMBI_OPTIMIZED

/* ---- CPU emulation: faults ---------------------------------------------------------------------
 * Owns the text of the first thing that went wrong, until somebody takes it. */
#ifndef GPUMB_STATIC
__thread gpumbi_emulated_thread gpumbi_self;
int gpumbi_warp_size = 32;
#endif

static pthread_mutex_t gpumbi_fault_lock = PTHREAD_MUTEX_INITIALIZER;
static char gpumbi_fault_text[512], gpumbi_note_text[384];
static int gpumbi_noted;         /* 1: to be said, 2: said; once a program */
static int gpumbi_launch_failed; /* every worker looks here between blocks */
static GPUMBI_PER_THREAD struct gpumbi_worker *gpumbi_here; /* while this thread runs a launch */

GPUMBI_PRINTF(1, 2) static inline int gpumbi_cpu_fault(const char *format, ...)
{
    pthread_mutex_lock(&gpumbi_fault_lock);
    if (!gpumbi_fault_text[0])
        GPUMBI_FORMAT(gpumbi_fault_text, sizeof gpumbi_fault_text, format);
    pthread_mutex_unlock(&gpumbi_fault_lock);
    if (gpumbi_here) /* or else a launch was refused, maybe while another one runs */
        __atomic_store_n(&gpumbi_launch_failed, 1, __ATOMIC_RELAXED);
    return -1;
}

GPUMB_API const char *gpumbi_cpu_take_fault(void)
{
    static GPUMBI_PER_THREAD char taken[sizeof gpumbi_fault_text];
    pthread_mutex_lock(&gpumbi_fault_lock);
    memcpy(taken, gpumbi_fault_text, sizeof taken);
    gpumbi_fault_text[0] = 0;
    pthread_mutex_unlock(&gpumbi_fault_lock);
    return taken[0] ? taken : NULL;
}

/* ---- CPU emulation: stack switching ------------------------------------------------------------
 * Owns the switch between stacks: a dozen instructions where we know the machine, else ucontext
 * (which enters the kernel twice per switch, to keep a signal mask that nobody here changes).
 *
 * The switch saves what a callee must preserve and leaves by a plain ret. All threads of a block
 * run the same code, so the address it returns to is mostly the one the return predictor expects.
 * There is no CFI: a backtrace stops at the switch. An x86 shadow stack (glibc enables it only on
 * request) would reject that ret: build with GPUMB_CPU_UCONTEXT then. Branch protection (IBT,
 * BTI) is content, for a ret is not an indirect branch. */
#if !defined(GPUMB_CPU_UCONTEXT) && (defined(_WIN64) || defined(__ELF__) || defined(__APPLE__)) && \
    (defined(__x86_64__) && !defined(__ILP32__) || defined(__aarch64__) && !defined(_WIN64))

typedef void *gpumbi_registers; /* the stack pointer; everything else lies on the stack */

/* The name as it is written here: Mach-O puts an underscore before those of C. */
void gpumbi_registers_switch(gpumbi_registers *from,
                             gpumbi_registers to) __asm__("gpumbi_registers_switch");

/* One symbol per program, even if several translation units define it, and none that is visible
 * outside. */
#if defined(GPUMB_STATIC)
#define GPUMBI_SWITCH_LINKAGE
#elif defined(_WIN64)
#define GPUMBI_SWITCH_LINKAGE                                                                      \
    ".section .text$gpumbi_registers_switch, \"x\"\n"                                              \
    ".linkonce discard\n"                                                                          \
    ".globl gpumbi_registers_switch\n"
#elif defined(__APPLE__)
#define GPUMBI_SWITCH_LINKAGE                                                                      \
    ".globl gpumbi_registers_switch\n"                                                             \
    ".weak_definition gpumbi_registers_switch\n"                                                   \
    ".private_extern gpumbi_registers_switch\n"
#else
#define GPUMBI_SWITCH_LINKAGE                                                                      \
    ".weak gpumbi_registers_switch\n"                                                              \
    ".hidden gpumbi_registers_switch\n"
#endif
#if defined(_WIN64) || defined(__APPLE__)
#define GPUMBI_SWITCH_BEGINS(type) ".text\n"
#define GPUMBI_SWITCH_ENDS ".text\n"
#else
#define GPUMBI_SWITCH_BEGINS(type)                                                                 \
    ".pushsection .text\n.type gpumbi_registers_switch, " type "function\n"
#define GPUMBI_SWITCH_ENDS ".size gpumbi_registers_switch, .-gpumbi_registers_switch\n.popsection\n"
#endif
#define GPUMBI_SWITCH(type, code)                                                                  \
    GPUMBI_SWITCH_BEGINS(type)                                                                     \
    GPUMBI_SWITCH_LINKAGE ".p2align 4\ngpumbi_registers_switch:\n" code GPUMBI_SWITCH_ENDS

#if defined(_WIN64) /* also what Windows knows of a thread's stack, in its TEB (winnt.h, NT_TIB) */
#define GPUMBI_XMM_LIST(X)                                                                         \
    X(6, 0)                                                                                        \
    X(7, 16) X(8, 32) X(9, 48) X(10, 64) X(11, 80) X(12, 96) X(13, 112) X(14, 128) X(15, 144)
#define GPUMBI_XMM_SAVE(n, at) "    movups %xmm" #n ", " #at "(%rsp)\n"
#define GPUMBI_XMM_LOAD(n, at) "    movups " #at "(%rsp), %xmm" #n "\n"
#define GPUMBI_SAVE_XMM GPUMBI_XMM_LIST(GPUMBI_XMM_SAVE)
#define GPUMBI_LOAD_XMM GPUMBI_XMM_LIST(GPUMBI_XMM_LOAD)
__asm__(GPUMBI_SWITCH("", "    pushq %rbp\n"
                          "    pushq %rbx\n"
                          "    pushq %rdi\n"
                          "    pushq %rsi\n"
                          "    pushq %r12\n"
                          "    pushq %r13\n"
                          "    pushq %r14\n"
                          "    pushq %r15\n"
                          "    pushq %gs:8\n"
                          "    pushq %gs:16\n"
                          "    pushq %gs:0x1478\n"
                          "    subq $168, %rsp\n" GPUMBI_SAVE_XMM "    stmxcsr 160(%rsp)\n"
                          "    fnstcw 164(%rsp)\n"
                          "    movq %rsp, (%rcx)\n"
                          "    movq %rdx, %rsp\n" GPUMBI_LOAD_XMM "    ldmxcsr 160(%rsp)\n"
                          "    fldcw 164(%rsp)\n"
                          "    addq $168, %rsp\n"
                          "    popq %gs:0x1478\n"
                          "    popq %gs:16\n"
                          "    popq %gs:8\n"
                          "    popq %r15\n"
                          "    popq %r14\n"
                          "    popq %r13\n"
                          "    popq %r12\n"
                          "    popq %rsi\n"
                          "    popq %rdi\n"
                          "    popq %rbx\n"
                          "    popq %rbp\n"
                          "    ret\n"));

static inline void gpumbi_registers_make(gpumbi_registers *context, char *low, size_t size,
                                         void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)(void *)(low + size) - 38; /* on top are 32 bytes of the callee's */
    unsigned *control = (unsigned *)(void *)(sp + 20);
    unsigned short x87;
    memset(sp, 0, 38 * sizeof *sp);
    __asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(control[0]), "=m"(x87)); /* the launcher's modes */
    control[1] = x87;
    sp[21] = sp[22] = (uintptr_t)low;
    sp[23] = (uintptr_t)(low + size);
    sp[32] = (uintptr_t)entry; /* sp[33], its return address, is zero: backtraces end there */
    *context = sp;
}
#elif defined(__x86_64__)
__asm__(GPUMBI_SWITCH("@", "    pushq %rbp\n"
                           "    pushq %rbx\n"
                           "    pushq %r12\n"
                           "    pushq %r13\n"
                           "    pushq %r14\n"
                           "    pushq %r15\n"
                           "    subq $8, %rsp\n"
                           "    stmxcsr (%rsp)\n"
                           "    fnstcw 4(%rsp)\n"
                           "    movq %rsp, (%rdi)\n"
                           "    movq %rsi, %rsp\n"
                           "    ldmxcsr (%rsp)\n"
                           "    fldcw 4(%rsp)\n"
                           "    addq $8, %rsp\n"
                           "    popq %r15\n"
                           "    popq %r14\n"
                           "    popq %r13\n"
                           "    popq %r12\n"
                           "    popq %rbx\n"
                           "    popq %rbp\n"
                           "    ret\n"));

static inline void gpumbi_registers_make(gpumbi_registers *context, char *low, size_t size,
                                         void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)(void *)(low + size) - 9;
    unsigned *control = (unsigned *)(void *)sp;
    unsigned short x87;
    memset(sp, 0, 9 * sizeof *sp);
    __asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(control[0]), "=m"(x87)); /* the launcher's modes */
    control[1] = x87;
    sp[7] = (uintptr_t)entry; /* sp[8], its return address, is zero: backtraces end there */
    *context = sp;
}
#else
#define GPUMBI_PAIR_LIST(X)                                                                        \
    X(x21, x22, 16)                                                                                \
    X(x23, x24, 32)                                                                                \
    X(x25, x26, 48)                                                                                \
    X(x27, x28, 64) X(x29, x30, 80) X(d8, d9, 96) X(d10, d11, 112) X(d12, d13, 128) X(d14, d15, 144)
#define GPUMBI_PAIR_SAVE(a, b, at) "    stp " #a ", " #b ", [sp, #" #at "]\n"
#define GPUMBI_PAIR_LOAD(a, b, at) "    ldp " #a ", " #b ", [sp, #" #at "]\n"
#define GPUMBI_SAVE_PAIRS GPUMBI_PAIR_LIST(GPUMBI_PAIR_SAVE)
#define GPUMBI_LOAD_PAIRS GPUMBI_PAIR_LIST(GPUMBI_PAIR_LOAD)
__asm__(GPUMBI_SWITCH("%", "    stp x19, x20, [sp, #-160]!\n" GPUMBI_SAVE_PAIRS "    mov x9, sp\n"
                           "    str x9, [x0]\n"
                           "    mov sp, x1\n" GPUMBI_LOAD_PAIRS "    ldp x19, x20, [sp], #160\n"
                           "    ret\n"));

static inline void gpumbi_registers_make(gpumbi_registers *context, char *low, size_t size,
                                         void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)(void *)(low + size) - 20;
    memset(sp, 0, 20 * sizeof *sp);
    sp[11] = (uintptr_t)entry; /* x30; x29 is zero: backtraces end there */
    *context = sp;
}
#endif
#define GPUMBI_CONTEXT_SWITCH(from, to) gpumbi_registers_switch(&(from), to)

#else
#include <ucontext.h>
typedef ucontext_t gpumbi_registers[1]; /* an array: on riscv64 it ends with one of no elements */

static inline void gpumbi_registers_make(gpumbi_registers *context, char *low, size_t size,
                                         void (*entry)(void))
{
    getcontext(*context);
    (*context)->uc_stack.ss_sp = low;
    (*context)->uc_stack.ss_size = size;
    (*context)->uc_link = NULL;
    makecontext(*context, entry, 0);
}
#define GPUMBI_CONTEXT_SWITCH(from, to) swapcontext(from, to)
#endif

/* The sanitizers keep track of stacks and have to be told. */
#ifdef GPUMBI_ASAN
void __sanitizer_start_switch_fiber(void **fake, const void *low, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **low, size_t *size);
void __asan_unpoison_memory_region(void const volatile *p, size_t size);
void __asan_set_error_report_callback(void (*told)(const char *report));
#elif defined(GPUMBI_TSAN)
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif

/* ---- CPU emulation: fibers ---------------------------------------------------------------------
 * Owns the threads of a block: one fiber each, all on one worker. A thread that has to wait
 * switches straight to the next one that is ready; there is no scheduler to pass through. The last
 * to arrive at a barrier makes the others ready and simply carries on. Fibers are made for each
 * launch, and reused from block to block within it.
 *
 * Only waiting switches: a thread that spins until another one stores something hangs. */
enum {
    GPUMBI_MAX_THREADS = 1024,
    GPUMBI_MAX_SHARED = 1 << 20,
    GPUMBI_MAX_WARPS = GPUMBI_MAX_THREADS / 32,
    GPUMBI_HOME = GPUMBI_MAX_THREADS, /* the fiber that is the worker's own stack */
    /* Low end of a stack: bytes to spill over into without harm to the neighbour, then the canary.
     * The odd number of cache lines on top keeps equal depths in different cache sets. */
    GPUMBI_SPILL = 4096,
    GPUMBI_CANARY = 256,
    GPUMBI_STACK_SIZE = GPUMBI_SPILL + GPUMB_CPU_STACK_BYTES / 64 * 64,
    GPUMBI_STACK_STEP = GPUMBI_STACK_SIZE + 5 * 64
};

#define GPUMBI_WAIT_NAME(wait, name) name,
#define GPUMBI_WAIT_PLACE(wait, name) {GPUMBI_##wait, 0, NULL},
static const char *const gpumbi_wait_names[] = {GPUMBI_WAIT_LIST(GPUMBI_WAIT_NAME)};
static const gpumbi_place gpumbi_nowhere[] = {GPUMBI_WAIT_LIST(GPUMBI_WAIT_PLACE)};

typedef struct gpumbi_fiber {
    gpumbi_registers context;
    gpumbi_uint3 index;
    const gpumbi_place *place;
    unsigned source;             /* the lane whose value this one wants ... */
    uint64_t given[2], taken[2]; /* ... and what it gave and got in the last warp operation */
#ifdef GPUMBI_ASAN
    void *fake;
    const void *low;
    size_t size;
#elif defined(GPUMBI_TSAN)
    void *tsan;
#endif
} gpumbi_fiber;

/* Lanes that wait for the same operation under the same mask. A warp can have several at a time. */
typedef struct gpumbi_group {
    uint64_t mask, arrived;
    int wait;
} gpumbi_group;

typedef struct gpumbi_worker {
    unsigned number;
    const gpumbi_emulated_thread *self; /* that of its OS thread, while it runs blocks ... */
    gpumbi_uint3 block;                 /* ... of which this is one */
    pthread_t os_thread;
    unsigned char *red_zone[2];
    char *shared, *stacks;
    size_t shared_size;

    unsigned threads, shift; /* of a block; log2 of the warp size */
    unsigned current, previous, alive_count;
    int abandoned, outcome;
    const gpumbi_place *barrier; /* of the block, where the first of `arrived` threads waits */
    int elsewhere;               /* and others wait at another one */
    unsigned arrived, tally;     /* the tally is of predicates */
    unsigned group_count[GPUMBI_MAX_WARPS];
    uint64_t present[GPUMBI_MAX_WARPS], alive[GPUMBI_MAX_WARPS], ready[GPUMBI_MAX_WARPS];
    gpumbi_group group[GPUMBI_MAX_THREADS]; /* those of a warp start at its first thread */
    gpumbi_fiber fiber[GPUMBI_MAX_THREADS + 1];
    char signal_stack[GPUMBI_SIGNAL_STACK];
} gpumbi_worker;

static struct {
    const gpumbi_shape *launch;
    void (*run)(void *);
    void *closure;
} gpumbi_job; /* the one launch that is under way */
static gpumbi_worker **gpumbi_pool;
static unsigned gpumbi_pool_size;

static inline unsigned gpumbi_lowest(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

static inline unsigned gpumbi_warp_of(const gpumbi_worker *w, unsigned thread)
{
    return thread >> w->shift;
}

static inline uint64_t gpumbi_lane_bit(const gpumbi_worker *w, unsigned thread)
{
    return (uint64_t)1 << (thread & ((1u << w->shift) - 1));
}

static inline char *gpumbi_stack_of(const gpumbi_worker *w, unsigned thread)
{
    return w->stacks + (size_t)thread * GPUMBI_STACK_STEP;
}

/* Not inlined: with ASan its array may live in the fake stack, which ends with each thread, and so
 * must not become part of a frame that stays. */
GPUMBI_NOINLINE GPUMBI_PRINTF(2, 3) static void gpumbi_block_fault(gpumbi_worker *w,
                                                                   const char *format, ...)
{
    char text[384];
    GPUMBI_FORMAT(text, sizeof text, format);
    w->abandoned = 1;
    gpumbi_cpu_fault("kernel %s, block (%u,%u,%u): %s", gpumbi_job.launch->name, w->block.x,
                     w->block.y, w->block.z, text);
}

static inline const char *gpumbi_file_of(const gpumbi_place *p)
{
    const char *slash = strrchr(p->file, '/');
    return slash ? slash + 1 : p->file;
}

/* Nobody can go on, yet some have not finished: say who waits where, and for whom. Places in the
 * text are named where they make the difference. */
GPUMBI_NOINLINE static void gpumbi_diagnose(gpumbi_worker *w)
{
    enum { MOST = 6 };
    const gpumbi_place *place[MOST];
    unsigned count[MOST], places = 0, warp = 0;
    char text[320] = "";
    int alike = 0;
    for (int wait = 0; wait < GPUMBI_WAITS; wait++)
        for (unsigned i = 0; i < w->threads; i++) {
            const gpumbi_place *p = w->fiber[i].place;
            if (!(w->alive[gpumbi_warp_of(w, i)] & gpumbi_lane_bit(w, i)) || p->wait != wait)
                continue;
            unsigned k = 0;
            while (k < places && p != place[k])
                k++;
            if (k == MOST)
                continue;
            if (k == places) {
                alike |= k && place[k - 1]->wait == wait;
                place[places++] = p;
                count[k] = 0;
            }
            count[k]++;
        }
    for (unsigned k = 0; k < places; k++) {
        const char *verb = k ? "" : count[k] == 1 ? "thread waits " : "threads wait ";
        const char *another =
            k && place[k]->wait == place[k - 1]->wait && place[k]->line == place[k - 1]->line
                ? "another "
                : "";
        gpumbi_append(text, sizeof text, "%s%u %sat %s%s()", k ? ", " : "", count[k], verb, another,
                      gpumbi_wait_names[place[k]->wait]);
        if (alike && place[k]->line)
            gpumbi_append(text, sizeof text, " in %.60s:%d", gpumbi_file_of(place[k]),
                          place[k]->line);
    }
    while (warp < GPUMBI_MAX_WARPS && !w->group_count[warp])
        warp++;
    if (warp < GPUMBI_MAX_WARPS) {
        const gpumbi_group *g = &w->group[warp << w->shift];
        gpumbi_append(text, sizeof text, ", warp %u lacks lanes 0x%llx of the mask 0x%llx", warp,
                      (unsigned long long)(g->mask & w->alive[warp] & ~g->arrived),
                      (unsigned long long)g->mask);
    }
    gpumbi_block_fault(w, "%s: barrier divergence", text);
}

/* A barrier that some threads have not reached, since they had ended. They count as arrived, as on
 * NVIDIA's cards since sm_70 (CUDA Programming Guide, Independent Thread Scheduling). */
GPUMBI_NOINLINE static void gpumbi_note_ended(const gpumbi_worker *w)
{
    pthread_mutex_lock(&gpumbi_fault_lock);
    if (!gpumbi_noted) {
        gpumbi_format(
            gpumbi_note_text, sizeof gpumbi_note_text,
            "kernel %.100s: %u of %u threads of a block end without %s() in %.60s:%d, which "
            "the others wait at: right since sm_70, undefined before; let all threads reach it",
            gpumbi_job.launch->name, w->threads - w->alive_count, w->threads,
            gpumbi_wait_names[w->barrier->wait], gpumbi_file_of(w->barrier), w->barrier->line);
        __atomic_store_n(&gpumbi_noted, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&gpumbi_fault_lock);
}

/* The next ready thread, round robin; lanes of the same warp first, while their stacks are hot. */
static inline unsigned gpumbi_take_ready(gpumbi_worker *w)
{
    unsigned warps = gpumbi_warp_of(w, w->threads - 1) + 1, warp = gpumbi_warp_of(w, w->current);
    uint64_t from_here = ~(gpumbi_lane_bit(w, w->current) - 1), set;
    for (unsigned i = 0; i < warps; i++) {
        if ((set = w->ready[warp]) != 0) {
            unsigned lane = gpumbi_lowest(i == 0 && (set & from_here) ? set & from_here : set);
            w->ready[warp] = set & ~((uint64_t)1 << lane);
            return (warp << w->shift) + lane;
        }
        warp = warp + 1 < warps ? warp + 1 : 0;
    }
    if (w->alive_count)
        gpumbi_diagnose(w);
    return GPUMBI_HOME;
}

/* Leaves the fiber `from` for the next one. */
static inline void gpumbi_switch(gpumbi_worker *w, unsigned from, int ended)
{
    unsigned next = w->abandoned ? (unsigned)GPUMBI_HOME : gpumbi_take_ready(w);
    gpumbi_fiber *a = &w->fiber[from], *b = &w->fiber[next];
    w->current = next;
    w->previous = from;
    gpumbi_self.thread_idx = b->index;
#ifdef GPUMBI_ASAN
    __sanitizer_start_switch_fiber(ended ? NULL : &a->fake, b->low, b->size);
#elif defined(GPUMBI_TSAN)
    __tsan_switch_to_fiber(b->tsan, 0);
#endif
    (void)ended;
    GPUMBI_CONTEXT_SWITCH(a->context, b->context);
#ifdef GPUMBI_ASAN
    b = &w->fiber[w->previous]; /* we learn the bounds of the stack we came from: home's are new */
    __sanitizer_finish_switch_fiber(ended ? NULL : a->fake, &b->low, &b->size);
#endif
}

static inline void gpumbi_wait(gpumbi_worker *w, const gpumbi_place *place)
{
    /* Past the canary already? Then the neighbours' stacks may be spoilt: resume none of them. */
    if ((char *)__builtin_frame_address(0) < gpumbi_stack_of(w, w->current) + GPUMBI_SPILL)
        gpumbi_block_fault(w, "stack overflow: a thread has %d bytes", GPUMB_CPU_STACK_BYTES);
    w->fiber[w->current].place = place;
    gpumbi_switch(w, w->current, 0);
}

/* NULL where nothing can wait: on the host or, by mistake, in a plain launch. */
static inline gpumbi_worker *gpumbi_waiting_worker(int wait)
{
    gpumbi_worker *w = gpumbi_here;
    if (w && !gpumbi_job.launch->barrier) {
        gpumbi_cpu_fault("kernel %s calls %s() but was launched with GPUMB_LAUNCH; use "
                         "GPUMB_LAUNCH_BARRIER",
                         gpumbi_job.launch->name, gpumbi_wait_names[wait]);
        w = NULL;
    }
    return w;
}

static inline void gpumbi_barrier_complete(gpumbi_worker *w)
{
    const int wait = w->barrier->wait;
    w->outcome = wait == GPUMBI_SYNCTHREADS_COUNT ? (int)w->tally
                 : wait == GPUMBI_SYNCTHREADS_AND ? w->tally == w->arrived
                                                  : w->tally != 0;
    w->arrived = w->tally = 0;
    GPUMBI_TRACE(barrier());
    memcpy(w->ready, w->alive, sizeof w->ready);
    if (w->alive_count < w->threads && !__atomic_load_n(&gpumbi_noted, __ATOMIC_RELAXED))
        gpumbi_note_ended(w);
}

/* All threads have to wait at the same one; at different ones none completes, and that is
 * diagnosed. */
GPUMB_API int gpumbi_cpu_barrier(const gpumbi_place *here, int predicate)
{
    GPUMBI_TRACE(wait(here->wait, 1));
    gpumbi_worker *w = gpumbi_waiting_worker(here->wait);
    if (!w)
        return predicate != 0;
    if (!w->arrived)
        w->barrier = here;
    w->elsewhere |= w->barrier != here;
    w->tally += predicate != 0;
    if (++w->arrived == w->alive_count && !w->elsewhere) {
        gpumbi_barrier_complete(w);
        w->ready[gpumbi_warp_of(w, w->current)] &= ~gpumbi_lane_bit(w, w->current);
    } else {
        gpumbi_wait(w, here);
    }
    GPUMBI_TRACE(wait(here->wait, 0));
    return w->outcome; /* the next barrier cannot complete before all have read this */
}

/* The last lane to arrive carries out the exchange for the whole group. So no lane ever reads a
 * slot that a faster one is filling for its next operation, whatever masks they use. */
static inline void gpumbi_group_complete(gpumbi_worker *w, unsigned warp, gpumbi_group *g)
{
    gpumbi_fiber *lane = &w->fiber[warp << w->shift];
    uint64_t votes = 0;
    for (uint64_t rest = g->arrived; rest; rest &= rest - 1) {
        unsigned i = gpumbi_lowest(rest), from = lane[i].source;
        if (!(g->arrived >> from & 1))
            from = i; /* that lane does not take part or has finished: CUDA leaves it undefined */
        memcpy(lane[i].taken, lane[from].given, sizeof lane[i].taken);
        votes |= (uint64_t)(lane[i].given[0] != 0) << i;
    }
    if (g->wait >= GPUMBI_BALLOT) {
        votes = g->wait == GPUMBI_BALLOT ? votes
                : g->wait == GPUMBI_ANY  ? votes != 0
                                         : votes == g->arrived;
        for (uint64_t rest = g->arrived; rest; rest &= rest - 1)
            lane[gpumbi_lowest(rest)].taken[0] = votes;
    }
    w->ready[warp] |= g->arrived;
    *g = w->group[(warp << w->shift) + --w->group_count[warp]];
}

/* CUDA's rules: what would come from outside the segment of `width` lanes is the lane's own value,
 * except that an xor may reach into lower segments. */
static inline unsigned gpumbi_source_lane(int wait, unsigned lane, unsigned x, unsigned width)
{
    unsigned at = lane & (width - 1), base = lane - at;
    switch (wait) {
    case GPUMBI_SHFL:
        return base + (x & (width - 1));
    case GPUMBI_SHFL_UP:
        return x <= at ? lane - x : lane;
    case GPUMBI_SHFL_DOWN:
        return x < width - at ? lane + x : lane;
    case GPUMBI_SHFL_XOR:
        return (lane ^ x) < base + width ? lane ^ x : lane;
    default:
        return lane;
    }
}

GPUMB_API void gpumbi_cpu_warp(int wait, uint64_t mask, uint64_t value[2], unsigned x, int width)
{
    GPUMBI_TRACE(wait(wait, 1));
    gpumbi_worker *w = gpumbi_waiting_worker(wait);
    if (!w)
        return;
    gpumbi_fiber *self = &w->fiber[w->current];
    const unsigned warp = gpumbi_warp_of(w, w->current), lanes = 1u << w->shift;
    const uint64_t bit = gpumbi_lane_bit(w, w->current);
    const unsigned lane = gpumbi_lowest(bit);
    unsigned size = (unsigned)width;
    if (size == 0 || size > lanes || (size & (size - 1)))
        size = lanes;
    if (!(mask & bit)) {
        gpumbi_block_fault(w,
                           "lane %u of warp %u calls %s() with a mask, 0x%llx, that does not "
                           "name it",
                           lane, warp, gpumbi_wait_names[wait], (unsigned long long)mask);
        gpumbi_switch(w, w->current, 0);
    }
    mask &= w->present[warp]; /* so that 0xffffffff and ~0 are the same for 32 lanes */
    self->given[0] = value[0];
    self->given[1] = value[1];
    self->source = gpumbi_source_lane(wait, lane, x, size);

    gpumbi_group *g = &w->group[warp << w->shift], *const end = g + w->group_count[warp];
    while (g < end && (g->mask != mask || g->wait != wait))
        g++;
    if (g == end) {
        w->group_count[warp]++;
        g->mask = mask;
        g->arrived = 0;
        g->wait = wait;
    }
    g->arrived |= bit;
    if (g->arrived == (mask & w->alive[warp])) {
        gpumbi_group_complete(w, warp, g);
        w->ready[warp] &= ~bit;
    } else {
        gpumbi_wait(w, &gpumbi_nowhere[wait]);
    }
    value[0] = self->taken[0];
    value[1] = self->taken[1];
    GPUMBI_TRACE(wait(wait, 0));
}

GPUMB_API uint64_t gpumbi_cpu_active_mask(void)
{
    const gpumbi_worker *w = gpumbi_here;
    const gpumbi_uint3 *at = &gpumbi_self.thread_idx, *size = &gpumbi_self.block_dim;
    if (w && gpumbi_job.launch->barrier)
        return w->alive[gpumbi_warp_of(w, w->current)];
    return (uint64_t)1 << ((at->x + size->x * (at->y + size->y * at->z)) %
                           (unsigned)gpumbi_warp_size);
}

/* A finished thread counts as arrived everywhere: others may have waited for just that. */
static inline void gpumbi_thread_ends(gpumbi_worker *w)
{
    const char *canary = gpumbi_stack_of(w, w->current) + GPUMBI_SPILL;
    const unsigned warp = gpumbi_warp_of(w, w->current);
    for (int i = 0; i < GPUMBI_CANARY; i += 32) /* an overflow may leave gaps */
        if (canary[i] != 0x5a) {
            gpumbi_block_fault(w, "stack overflow: a thread has %d bytes", GPUMB_CPU_STACK_BYTES);
            return;
        }
    w->alive[warp] &= ~gpumbi_lane_bit(w, w->current);
    w->alive_count--;
    if (w->arrived && w->arrived == w->alive_count && !w->elsewhere)
        gpumbi_barrier_complete(w);
    for (unsigned i = w->group_count[warp]; i-- > 0;) {
        gpumbi_group *g = &w->group[(warp << w->shift) + i];
        if (g->arrived == (g->mask & w->alive[warp]))
            gpumbi_group_complete(w, warp, g);
    }
}

static inline void gpumbi_fiber_main(void)
{
    gpumbi_worker *w = gpumbi_here;
#ifdef GPUMBI_ASAN
    gpumbi_fiber *from = &w->fiber[w->previous];
    __sanitizer_finish_switch_fiber(NULL, &from->low, &from->size);
#endif
    for (;;) {
        gpumbi_job.run(gpumbi_job.closure);
        gpumbi_thread_ends(w);
        gpumbi_switch(w, w->current, 1);
    }
}

static inline gpumbi_uint3 gpumbi_extent_of(const uint64_t n[3])
{
    const gpumbi_uint3 extent = {(unsigned)n[0], (unsigned)n[1], (unsigned)n[2]};
    return extent;
}

/* The i-th place, x first, in such an extent. */
static inline gpumbi_uint3 gpumbi_index_in(const uint64_t n[3], uint64_t i)
{
    const uint64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    return gpumbi_extent_of(at);
}

static inline int gpumbi_fibers_make(gpumbi_worker *w)
{
    const gpumbi_shape *launch = gpumbi_job.launch;
    if (!w->stacks)
        w->stacks = (char *)gpumbi_pages((size_t)GPUMBI_MAX_THREADS * GPUMBI_STACK_STEP);
    if (!w->stacks)
        return gpumbi_cpu_fault("kernel %s: no memory for the stacks of a block", launch->name);
    memset(w->present, 0, sizeof w->present);
    memset(w->ready, 0, sizeof w->ready);
    w->arrived = w->tally = 0;
    w->elsewhere = 0;
    memset(w->group_count, 0, sizeof w->group_count);
    w->abandoned = 0;
    w->shift = gpumbi_warp_size == 64 ? 6 : 5;
    for (unsigned i = 0; i < w->threads; i++) {
        gpumbi_fiber *f = &w->fiber[i];
        char *low = gpumbi_stack_of(w, i);
        w->present[gpumbi_warp_of(w, i)] |= gpumbi_lane_bit(w, i);
        f->index = gpumbi_index_in(launch->block, i);
        memset(low + GPUMBI_SPILL, 0x5a, GPUMBI_CANARY);
        gpumbi_registers_make(&f->context, low, GPUMBI_STACK_SIZE, gpumbi_fiber_main);
#ifdef GPUMBI_ASAN
        f->low = low;
        f->size = GPUMBI_STACK_SIZE;
#elif defined(GPUMBI_TSAN)
        f->tsan = __tsan_create_fiber(0);
#endif
    }
#ifdef GPUMBI_TSAN
    w->fiber[GPUMBI_HOME].tsan = __tsan_get_current_fiber();
#endif
    return 0;
}

/* What sanitizers would remember of fibers that are never resumed. */
static inline void gpumbi_fibers_forget(gpumbi_worker *w)
{
#ifdef GPUMBI_ASAN
    if (w->abandoned)
        __asan_unpoison_memory_region(w->stacks, (size_t)GPUMBI_MAX_THREADS * GPUMBI_STACK_STEP);
#elif defined(GPUMBI_TSAN)
    for (unsigned i = 0; i < w->threads; i++)
        __tsan_destroy_fiber(w->fiber[i].tsan);
#endif
    (void)w;
}

static inline void gpumbi_block_run(gpumbi_worker *w)
{
    if (gpumbi_job.launch->barrier) {
        memcpy(w->alive, w->present, sizeof w->alive);
        memcpy(w->ready, w->present, sizeof w->ready);
        w->alive_count = w->threads;
        w->current = 0;
        gpumbi_switch(w, GPUMBI_HOME, 0);
    } else {
        memset(&gpumbi_self.thread_idx, 0, sizeof gpumbi_self.thread_idx); /* for a crash */
        gpumbi_job.run(gpumbi_job.closure);
    }
}

/* ---- CPU emulation: crashes --------------------------------------------------------------------
 * A kernel that crashes is named, then what was to happen without us happens: the handler before
 * ours, or the end of the program. */
static char gpumbi_signal_stack[GPUMBI_SIGNAL_STACK]; /* of the thread that starts the workers */

/* What snprintf() does, but safe in a signal handler: appends a text and up to three numbers. */
static inline void gpumbi_crash_add(char text[2048], const char *what, const gpumbi_uint3 *numbers)
{
    const size_t length = strlen(text), more = strlen(what);
    const unsigned number[3] = {numbers ? numbers->x : 0, numbers ? numbers->y : 0,
                                numbers ? numbers->z : 0};
    char *to = text + length;
    if (length + more + 40 > 2048)
        return;
    memcpy(to, what, more + 1);
    to += more;
    for (int i = 0; numbers && i < 3; i++) {
        unsigned rest = number[i], scale = 1;
        int digits = 1;
        for (; rest >= 10; rest /= 10, digits++)
            scale *= 10;
        *to++ = i ? ',' : '(';
        for (; digits > 0; digits--, scale /= 10)
            *to++ = (char)('0' + number[i] / scale % 10);
    }
    memcpy(to, numbers ? ")" : "", numbers ? 2 : 1);
}

/* A __shared__ array that is overrun may have spoilt all that belongs to the OS thread, but not
 * where that lies. In a plain launch the compiler may store a thread's index late, where it works
 * on several threads at a time, but never early. */
static inline void gpumbi_report_crash(const char *meaning)
{
    static int reported;
    char text[2048] = "gpumb: kernel ";
    const gpumbi_worker *w = NULL;
    for (unsigned i = 0; i < gpumbi_pool_size; i++)
        if (gpumbi_pool[i]->self == &gpumbi_self)
            w = gpumbi_pool[i];
    if (!w || __atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED))
        return;
    const int fibers = gpumbi_job.launch->barrier;
    gpumbi_crash_add(text, gpumbi_job.launch->name, NULL);
    gpumbi_crash_add(text, ", block ", &w->block);
    gpumbi_crash_add(text, ", thread ",
                     fibers ? &w->fiber[w->current].index : &gpumbi_self.thread_idx);
    gpumbi_crash_add(text, fibers ? ": " : " or a later one: ", NULL);
    gpumbi_crash_add(text, meaning, NULL);
    gpumbi_crash_add(text, gpumbi_crash_files, NULL);
    gpumbi_crash_add(text, "\n", NULL);
    if (gpumbi_write(2, text, strlen(text)) < 0)
        text[0] = 0; /* nobody listens */
}

#ifdef GPUMBI_ASAN
static inline void gpumbi_asan_has_said(const char *report)
{
    (void)report;
    gpumbi_report_crash("see AddressSanitizer's report above");
}
#endif

/* ---- CPU emulation: launches -------------------------------------------------------------------
 * Owns the workers: the launching thread, which is number 0, and a pool that sleeps between
 * launches. Each gets one contiguous range of the blocks: a copy streams, and a buffer is touched
 * by the same core in every launch. */
static pthread_mutex_t gpumbi_launch_lock = PTHREAD_MUTEX_INITIALIZER; /* one launch at a time */
static pthread_mutex_t gpumbi_pool_lock = PTHREAD_MUTEX_INITIALIZER;   /* for the sleepers only */
static pthread_cond_t gpumbi_pool_changed = PTHREAD_COND_INITIALIZER;
static unsigned gpumbi_pool_spins, gpumbi_sleepers;
static int gpumbi_workers_wanted;
static uint64_t gpumbi_ticket;  /* launches so far << 16 | workers in this one; none: go home */
static uint64_t gpumbi_running; /* pool threads still busy with it */

GPUMB_API int gpumb_cpu_workers(void)
{
    int wanted = __atomic_load_n(&gpumbi_workers_wanted, __ATOMIC_RELAXED);
#if defined(GPUMB_TRACE) || defined(GPUMBI_ASAN) /* the tracer follows one; see __shared__ */
    wanted = 1;
#endif
    return wanted > 0 ? wanted : gpumbi_cores();
}

/* Waits until *word is `value` (or no longer is): spins first, since a hand-off through the
 * operating system takes longer than many kernels, but not when workers share cores. */
static inline uint64_t gpumbi_await(uint64_t *word, uint64_t value, int equal)
{
    uint64_t now;
    for (unsigned i = 0; i < gpumbi_pool_spins; i++) {
        now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if ((now == value) == equal)
            return now;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    pthread_mutex_lock(&gpumbi_pool_lock);
    __atomic_add_fetch(&gpumbi_sleepers, 1, __ATOMIC_SEQ_CST);
    while (((now = __atomic_load_n(word, __ATOMIC_SEQ_CST)) == value) != equal)
        pthread_cond_wait(&gpumbi_pool_changed, &gpumbi_pool_lock);
    __atomic_sub_fetch(&gpumbi_sleepers, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&gpumbi_pool_lock);
    return now;
}

/* After a change of a word. One side counts itself, then looks at the word; the other changes the
 * word, then looks at the count; all in one total order, so that they cannot miss each other. Words
 * are changed by read-modify-write: qemu (7.2) lets a load pass a store of that order. */
static inline void gpumbi_wake(void)
{
    if (__atomic_load_n(&gpumbi_sleepers, __ATOMIC_SEQ_CST)) {
        pthread_mutex_lock(&gpumbi_pool_lock);
        pthread_cond_broadcast(&gpumbi_pool_changed);
        pthread_mutex_unlock(&gpumbi_pool_lock);
    }
}

static unsigned char gpumbi_untouched[GPUMBI_RED_ZONE]; /* what is in one */

/* Shared memory starts out as 0xCD: as undefined as on a GPU, and more conspicuous than zeros. A
 * red zone is after it; AddressSanitizer has its own. */
static inline int gpumbi_shared_make(gpumbi_worker *w)
{
    size_t size = (size_t)gpumbi_job.launch->shared_bytes;
#ifdef GPUMBI_ASAN
    const size_t room = size, fits = size == w->shared_size;
#else
    const size_t room = size + sizeof gpumbi_untouched, fits = size <= w->shared_size;
#endif
    if (size && !fits) {
        void *p = NULL;
        gpumbi_aligned_free(w->shared);
        w->shared_size = 0;
        w->shared = NULL;
        if (gpumbi_aligned(&p, 64, room))
            return gpumbi_cpu_fault("kernel %s: no memory for %llu shared bytes",
                                    gpumbi_job.launch->name, (unsigned long long)size);
        w->shared = (char *)p;
        w->shared_size = size;
    }
    if (size)
        memset(w->shared, 0xcd, size);
    if (size && room > size)
        memcpy(w->shared + size, gpumbi_untouched, room - size);
    w->red_zone[0] = NULL;
    return 0;
}

/* A kernel of a file with these begins. */
GPUMBI_API_NOINLINE void gpumbi_cpu_red_zones(unsigned char *first, unsigned char *last)
{
    gpumbi_worker *w = gpumbi_here;
    if (w->red_zone[0] == first)
        return;
    w->red_zone[0] = (unsigned char *)memcpy(first, gpumbi_untouched, sizeof gpumbi_untouched);
    w->red_zone[1] = (unsigned char *)memcpy(last, gpumbi_untouched, sizeof gpumbi_untouched);
}

static inline void gpumbi_red_zones_look(gpumbi_worker *w)
{
    for (int i = 0; w->red_zone[0] && i < 2; i++)
        if (memcmp(w->red_zone[i], gpumbi_untouched, sizeof gpumbi_untouched))
            gpumbi_block_fault(w, "wrote past the end of a __shared__ array");
#ifndef GPUMBI_ASAN
    const size_t size = (size_t)gpumbi_job.launch->shared_bytes;
    if (size && memcmp(w->shared + size, gpumbi_untouched, sizeof gpumbi_untouched))
        gpumbi_block_fault(w, "wrote past the end of its %llu bytes of dynamic shared memory",
                           (unsigned long long)size);
#endif
}

static inline void gpumbi_share_run(gpumbi_worker *w, uint64_t workers)
{
    const gpumbi_shape *launch = gpumbi_job.launch;
    const uint64_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t each = blocks / workers, extra = blocks % workers;
    uint64_t block = w->number * each + (w->number < extra ? w->number : extra);
    const uint64_t end = block + each + (w->number < extra);

    gpumbi_here = w;
    w->threads = (unsigned)(launch->block[0] * launch->block[1] * launch->block[2]);
    if (gpumbi_shared_make(w) || (launch->barrier && gpumbi_fibers_make(w))) {
        gpumbi_here = NULL;
        return;
    }
    GPUMBI_TRACE(memory(GPUMBI_TRACE_OWN, w, sizeof *w));
    GPUMBI_TRACE(memory(GPUMBI_TRACE_OWN, w->stacks, GPUMBI_MAX_THREADS * GPUMBI_STACK_STEP));
    GPUMBI_TRACE(memory(GPUMBI_TRACE_OWN, &gpumbi_self, sizeof gpumbi_self));
    GPUMBI_TRACE(memory(GPUMBI_TRACE_SHARED, w->shared, launch->shared_bytes));
    w->self = &gpumbi_self;
    gpumbi_self.shared = launch->shared_bytes ? w->shared : NULL;
    gpumbi_self.grid_dim = gpumbi_extent_of(launch->grid);
    gpumbi_self.block_dim = gpumbi_extent_of(launch->block);
    for (; block < end && !__atomic_load_n(&gpumbi_launch_failed, __ATOMIC_RELAXED); block++) {
        gpumbi_self.block_idx = w->block = gpumbi_index_in(launch->grid, block);
        GPUMBI_TRACE(block(&gpumbi_self, gpumbi_warp_size, 1));
        gpumbi_block_run(w);
        GPUMBI_TRACE(block(&gpumbi_self, gpumbi_warp_size, 0));
        gpumbi_red_zones_look(w);
    }
    w->self = NULL;
    gpumbi_here = NULL;
    if (launch->barrier)
        gpumbi_fibers_forget(w);
}

static inline void *gpumbi_worker_main(void *argument)
{
    gpumbi_worker *w = (gpumbi_worker *)argument;
    uint64_t ticket = 0;
    gpumbi_signal_stack_set(w->signal_stack);
    for (;;) {
        ticket = gpumbi_await(&gpumbi_ticket, ticket, 0);
        const uint64_t workers = ticket & 0xffff;
        if (workers == 0)
            return NULL;
        if (w->number >= workers)
            continue;
        gpumbi_share_run(w, workers);
        if (__atomic_sub_fetch(&gpumbi_running, 1, __ATOMIC_SEQ_CST) == 0)
            gpumbi_wake();
    }
}

static inline void gpumbi_ticket_issue(uint64_t workers)
{
    __atomic_exchange_n(&gpumbi_ticket, ((gpumbi_ticket >> 16) + 1) << 16 | workers,
                        __ATOMIC_SEQ_CST);
    gpumbi_wake();
}

/* A forked child has the launching thread only; it starts over (and leaks the parent's stacks). */
static inline void gpumbi_pool_forget(void)
{
    pthread_mutex_init(&gpumbi_fault_lock, NULL);
    pthread_mutex_init(&gpumbi_launch_lock, NULL);
    pthread_mutex_init(&gpumbi_pool_lock, NULL);
    pthread_cond_init(&gpumbi_pool_changed, NULL);
    gpumbi_pool = NULL;
    gpumbi_pool_size = 0;
    gpumbi_sleepers = 0;
    gpumbi_ticket = 0;
}

/* Call with the launch lock held. */
static inline void gpumbi_pool_stop(void)
{
    if (gpumbi_pool_size > 1)
        gpumbi_ticket_issue(0);
    for (unsigned i = 0; i < gpumbi_pool_size; i++) {
        gpumbi_worker *w = gpumbi_pool[i];
        if (i > 0)
            pthread_join(w->os_thread, NULL);
        if (w->stacks)
            gpumbi_pages_free(w->stacks, (size_t)GPUMBI_MAX_THREADS * GPUMBI_STACK_STEP);
        gpumbi_aligned_free(w->shared);
        free(w);
    }
    if (gpumbi_pool_size)
        gpumbi_crashes_watch(0, gpumbi_report_crash);
#ifdef GPUMBI_ASAN
    __asan_set_error_report_callback(NULL);
#endif
    free(gpumbi_pool);
    gpumbi_pool = NULL;
    gpumbi_pool_size = 0;
    gpumbi_ticket = 0; /* where new threads start to count */
}

/* Fewer workers than wanted is fine; none is not. */
static inline int gpumbi_pool_start(void)
{
    static int watching_forks;
    if (gpumbi_pool_size)
        return 0;
    const int wanted = gpumb_cpu_workers();
    if (!watching_forks)
        watching_forks = gpumbi_at_fork(gpumbi_pool_forget);
    gpumbi_pool_spins = wanted <= gpumbi_cores() ? 200 : 0;
    memset(gpumbi_untouched, 0x5a, sizeof gpumbi_untouched);
    gpumbi_crashes_watch(1, gpumbi_report_crash);
#ifdef GPUMBI_ASAN
    __asan_set_error_report_callback(gpumbi_asan_has_said);
#endif
    gpumbi_signal_stack_set(gpumbi_signal_stack);
    gpumbi_pool = (gpumbi_worker **)calloc((size_t)wanted, sizeof *gpumbi_pool);
    for (int i = 0; gpumbi_pool && i < wanted; i++) {
        gpumbi_worker *w = (gpumbi_worker *)calloc(1, sizeof *w);
        if (!w)
            break;
        w->number = (unsigned)i;
        if (i > 0 && pthread_create(&w->os_thread, NULL, gpumbi_worker_main, w)) {
            free(w);
            break;
        }
        gpumbi_pool[gpumbi_pool_size++] = w;
    }
    return gpumbi_pool_size ? 0 : -1;
}

GPUMB_API void gpumb_cpu_set_workers(int n)
{
    if (gpumbi_here || n < 0)
        return;
    pthread_mutex_lock(&gpumbi_launch_lock);
    gpumbi_pool_stop();
    __atomic_store_n(&gpumbi_workers_wanted, n < 4096 ? n : 4096, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&gpumbi_launch_lock);
}

GPUMB_API int gpumb_cpu_set_warp_size(int lanes)
{
    if (gpumbi_here || (lanes != 32 && lanes != 64))
        return -1;
    pthread_mutex_lock(&gpumbi_launch_lock);
    gpumbi_warp_size = lanes;
    pthread_mutex_unlock(&gpumbi_launch_lock);
    return 0;
}

GPUMB_API void gpumbi_cpu_shutdown(void)
{
    if (!gpumbi_here) {
        pthread_mutex_lock(&gpumbi_launch_lock);
        gpumbi_pool_stop();
        pthread_mutex_unlock(&gpumbi_launch_lock);
    }
}

GPUMBI_API_NOINLINE int gpumbi_cpu_launch(const gpumbi_shape *launch, void (*run)(void *),
                                          void *closure)
{
    const char *name = launch->name;
    if (gpumbi_here)
        return gpumbi_cpu_fault("kernel %s: launched from inside kernel %s; launches do not nest",
                                name, gpumbi_job.launch->name);
    if (launch->shared_bytes > GPUMBI_MAX_SHARED)
        return gpumbi_cpu_fault("kernel %s: %llu bytes of shared memory, at most %d", name,
                                (unsigned long long)launch->shared_bytes, (int)GPUMBI_MAX_SHARED);
    pthread_mutex_lock(&gpumbi_launch_lock);
    __atomic_store_n(&gpumbi_launch_failed, 0, __ATOMIC_RELAXED);
    if (gpumbi_pool_start()) {
        pthread_mutex_unlock(&gpumbi_launch_lock);
        return gpumbi_cpu_fault("kernel %s: no memory for the workers", name);
    }
    gpumbi_job.launch = launch;
    gpumbi_job.run = run;
    gpumbi_job.closure = closure;
    const uint64_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t workers = blocks < gpumbi_pool_size ? blocks : gpumbi_pool_size;
    if (workers > 1) {
        __atomic_store_n(&gpumbi_running, workers - 1, __ATOMIC_RELAXED);
        gpumbi_ticket_issue(workers);
    }
    gpumbi_share_run(gpumbi_pool[0], workers);
    if (workers > 1)
        gpumbi_await(&gpumbi_running, 0, 1);
    const int failed = __atomic_load_n(&gpumbi_launch_failed, __ATOMIC_RELAXED);
    if (gpumbi_noted == 1) {
        __atomic_store_n(&gpumbi_noted, 2, __ATOMIC_RELAXED);
        gpumbi_say("%s", gpumbi_note_text);
    }
    pthread_mutex_unlock(&gpumbi_launch_lock);
    return failed ? -1 : 0;
}

GPUMBI_UNOPTIMIZED
#else /* a GPU backend has no workers to set */

GPUMB_API void gpumb_cpu_set_workers(int workers)
{
    (void)workers;
}

GPUMB_API int gpumb_cpu_workers(void)
{
    return 0;
}

GPUMB_API int gpumb_cpu_set_warp_size(int warp_size)
{
    return warp_size == 32 || warp_size == 64 ? 0 : -1;
}

#endif

/* ================================================================================================
 * BACKEND
 *
 * The only section that names vendor functions. The rest of the header knows the device through
 * these verbs. Each returns 0, or an error number that gpumbi_dev_error() explains. Streams and
 * events are pointers. Tests define GPUMB_BACKEND_FAKE (with the CPU backend) and bring their own
 * verbs, with a scripted clock and faults on demand.
 */

/* What an error means for the work at hand. */
typedef enum gpumbi_severity {
    GPUMBI_REFUSED, /* this launch can't run here: skip the row */
    GPUMBI_MEMORY,  /* not enough memory: skip the row */
    GPUMBI_FATAL    /* the device is lost or unusable: end of the context */
} gpumbi_severity;

/* What the device's sensors say right now. Where it is partitioned (MIG, compute partitions),
 * power, energy and processes would be those of the whole device, and stay unknown. */
typedef struct gpumbi_state {
    double sm_clock_hz, memory_clock_hz, temperature_c; /* 0: unknown */
    int throttle; /* GPUMB_THROTTLE_..., now or since the previous reading; -1: unknown */
    int others;   /* other processes that compute on the device, at least; -1: unknown */
} gpumbi_state;
static const gpumbi_state gpumbi_state_unknown = {0, 0, 0, -1, -1};

/* Hardware counters of what runs between start and stop, in one pass or more. `why` says what went
 * wrong, or what one of them is. */
typedef struct gpumbi_counting {
    const char *name[16];
    double value[16];
    int names;
    char why[200];
} gpumbi_counting;

/* Launches plainly, or with what `how` has beside the shape. */
typedef int gpumbi_launcher(const gpumbi_shape *shape, const gpumb_launch_config *how,
                            const void *function, void **parameters, void *stream);

/* What a capture holds. */
typedef struct gpumbi_nodes {
    int kernels, depth; /* nodes that are kernels; most of those that follow each other */
    int registers;      /* of the first, -1: unknown; its ... */
    double occupancy;   /* -1: unknown */
    char name[64];      /* "": unknown */
    char text[144];     /* see gpumb_result */
} gpumbi_nodes;

/* All verbs. Those that are not the tests' are defined below, before anything uses them, as
 * functions or macros: gcc takes 0.24 million instructions for each that is declared first. */
#if defined(GPUMB_BACKEND_FAKE)
static int gpumbi_dev_count(int *count);
static void gpumbi_dev_select(int ordinal); /* what follows in this thread is for this device */
static int gpumbi_dev_open(int ordinal, gpumb_device *device);    /* fills what the runtime knows */
static void gpumbi_dev_bus_id(int ordinal, char *text, int size); /* "": unknown */
static int gpumbi_dev_last_error(void);                           /* of a launch; clears it */
static const char *gpumbi_dev_error(int error, gpumbi_severity *severity);
static double gpumbi_dev_clock(void);       /* host, seconds, monotonic */
static void gpumbi_dev_date(char text[32]); /* "2026-01-31T12:00:00Z" */

/* For the device's memory alone there are also gpumbi_dev_room(), _malloc() and _mfree(), so that a
 * program which needs no other does not compile it. Advice is a number of both vendors' enums; it
 * and a prefetch are of managed memory, to or for a device, or -1: the host. */
static int gpumbi_dev_memory(gpumb_memory kind, uint64_t *free_bytes);
static int gpumbi_dev_alloc(void **p, uint64_t bytes, gpumb_memory kind);
static void gpumbi_dev_free(void *p, gpumb_memory kind);
static gpumb_memory gpumbi_dev_kind(const void *p); /* of memory that need not be the library's */
static int gpumbi_dev_copy(void *to, const void *from, uint64_t bytes, void *stream);
static int gpumbi_dev_set(void *p, int byte, uint64_t bytes, void *stream);
static int gpumbi_dev_prefetch(void *p, uint64_t bytes, int ordinal, void *stream);
static int gpumbi_dev_advise(void *p, uint64_t bytes, int advice, int ordinal);

static int gpumbi_dev_stream_create(void **stream);
static void gpumbi_dev_stream_destroy(void *stream);
static void gpumbi_dev_stream_device(void *stream, int *ordinal); /* left as it is: unknown */
static int gpumbi_dev_wait(void *stream);                         /* until the stream is idle */
static int gpumbi_dev_wait_all(void);         /* until the device is: all streams of this process */
static int gpumbi_dev_idle(void *stream);     /* 1: it is */
static void gpumbi_dev_occupy(uint64_t naps); /* what a kernel does on a GPU */
static int gpumbi_dev_await(void *stream, void *event); /* what follows in it waits for that */
static int gpumbi_dev_event_create(void **event);
static void gpumbi_dev_event_destroy(void *event);
static int gpumbi_dev_record(void *event, void *stream);
static int gpumbi_dev_elapsed(void *start, void *stop, double *seconds); /* waits for stop */
static int gpumbi_dev_capture_begin(void *stream);
/* The graph is ready to run; NULL: it is empty, in place of a pointer: dropped. `nodes`: what it
 * holds; in place of a pointer: not asked for. */
static int gpumbi_dev_capture_end(void *stream, void **graph, gpumbi_nodes *nodes);
static int gpumbi_dev_graph_launch(void *graph, void *stream);
static void gpumbi_dev_graph_destroy(void *graph);
static int gpumbi_dev_kernel(const void *function, int block, uint64_t shared_bytes, int *registers,
                             double *occupancy);

static gpumbi_launcher gpumbi_dev_launch, gpumbi_dev_launch_how;

/* Code from elsewhere; `why`: what the compiler of PTX says, "" if nothing. */
static int gpumbi_dev_load(void **module, const void *image, int max_registers, int optimization,
                           char why[200]);
static void gpumbi_dev_unload(void *module);
static int gpumbi_dev_find(const void **function, void *module, const char *name);
static gpumbi_launcher gpumbi_dev_launch_loaded; /* `how`: NULL for a plain launch */
static int gpumbi_dev_loaded(const void *function, int block, uint64_t shared_bytes, int *registers,
                             double *occupancy);

/* Sensors are a pointer; NULL: there are none, and all is unknown. Nothing is ever set. On an H200
 * (driver 580) open takes 10 ... 20 ms, power 0.3 us, state about 15 us; the energy counter, which
 * nothing here reads, up to 18 ms, to say what the sum of the power readings says. */
static void *gpumbi_dev_sensors_open(int ordinal);
static void gpumbi_dev_sensors_close(void *sensors);
static void gpumbi_dev_state(void *sensors, gpumbi_state *state);
static double gpumbi_dev_power(void *sensors); /* watts, newest reading; 0: unknown */
static void gpumbi_dev_link(void *sensors, gpumb_device *device); /* fills what is known of it */

/* The profiler stays attached until it has been detached as often; 1: there is none. A look says
 * how many kernels, copies and fills have ended since the last one, and the seconds from the start
 * of the first to the end of the last. On an H200 attaching takes 15 ms, detaching 3 ms, a look 40
 * us. */
static int gpumbi_dev_profiler_attach(void);
static void gpumbi_dev_profiler_detach(void);
static uint64_t gpumbi_dev_profiler_look(double *seconds);

/* Open returns 1 where there are counters; stop 1 while more passes are to come, then 0 with the
 * values, NaN where unknown. Opened, they are closed. */
static int gpumbi_dev_counters_open(gpumbi_counting *c, int ordinal);
static void gpumbi_dev_counters_start(void);
static int gpumbi_dev_counters_stop(gpumbi_counting *c);
static void gpumbi_dev_counters_close(void);

/* Between these two, profilers other than that one are asked to record, and see nested ranges of
 * these names. */
static void gpumbi_dev_mark(char (*name)[200], int names);
static void gpumbi_dev_unmark(int names);
#else
#define gpumbi_dev_clock gpumbi_now
#endif

#if defined(GPUMB_BACKEND_CPU)
#define gpumbi_dev_room(free_bytes) gpumbi_dev_memory(GPUMB_MEMORY_DEVICE, free_bytes)
#define gpumbi_dev_malloc(p, bytes) gpumbi_dev_alloc(p, bytes, GPUMB_MEMORY_DEVICE)
#define gpumbi_dev_mfree(p) gpumbi_dev_free(p, GPUMB_MEMORY_DEVICE)
#endif

/* What a device reaches by its clocks, which runtimes report without these two factors.
 *
 * fp32 lanes of a multiprocessor: CUDA C++ Programming Guide, "Arithmetic Instructions", results
 * a clock and multiprocessor. AMD: "RDNA" and "CDNA" instruction set guides; packed fp32 doubles
 * them from gfx90a on, from gfx10 on the runtime counts work-group processors of two compute units,
 * from gfx11 on each lane issues twice.
 *
 * Transfers a pin per memory clock: CUDA reports a clock of which two make the rate. ROCm reports
 * the controller's: HBM2 2, HBM3 of gfx942 4 (1300 MHz x 4 x 8192 bit = 5.3 TB/s, data sheet of the
 * MI300X), GDDR6 16 (RX 6900 XT: 1000 MHz, 16 Gbit/s). Unknown are gfx8 (GDDR5 or HBM), gfx950 and
 * what shares the host's memory: of its clock and width Jetsons tell something else (AGX Orin, 205
 * GB/s: 612 or 1300 MHz; Orin NX, 102 GB/s: 918 MHz x 64 bit or 612 MHz x 256 bit). */
static inline void gpumbi_peaks(gpumb_device *d, int integrated)
{
    static const struct {
        const char *arch; /* begins with this; the first match counts */
        int lanes, transfers;
    } table[] = {{"sm_3", 192, 2},   {"sm_5", 128, 2},   {"sm_60", 64, 2},  {"sm_6", 128, 2},
                 {"sm_7", 64, 2},    {"sm_80", 64, 2},   {"sm_", 128, 2},   {"gfx90a", 128, 2},
                 {"gfx94", 128, 4},  {"gfx95", 128, 0},  {"gfx9", 64, 2},   {"gfx8", 64, 0},
                 {"gfx10", 128, 16}, {"gfx11", 256, 16}, {"gfx12", 256, 16}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!strncmp(d->arch, table[i].arch, strlen(table[i].arch))) {
            d->peak_flop_per_s = 2.0 * d->sm_clock_hz * d->multiprocessors * table[i].lanes;
            d->peak_bytes_per_s =
                integrated ? 0 : d->memory_clock_hz * table[i].transfers * d->bus_width_bits / 8;
            return;
        }
}

/* What holds lines of the device's memory last: AMD's Infinity Cache, behind the L2, of which ROCm
 * reports that of one die (rocm.docs.amd.com, "AMD GPU specifications"). */
#if defined(GPUMB_BACKEND_HIP) || defined(GPUMB_BACKEND_FAKE)
static inline uint64_t gpumbi_last_cache(const gpumb_device *d)
{
    static const struct {
        const char *arch; /* begins with this */
        unsigned mib;     /* at most */
    } table[] = {{"gfx94", 256},  {"gfx95", 256},  {"gfx1030", 128}, {"gfx1031", 96},
                 {"gfx1032", 32}, {"gfx1100", 96}, {"gfx1101", 64},  {"gfx1102", 32},
                 {"gfx1151", 32}, {"gfx1200", 32}, {"gfx1201", 64}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!strncmp(d->arch, table[i].arch, strlen(table[i].arch)))
            return (uint64_t)table[i].mib << 20;
    return d->l2_bytes;
}
#else
#define gpumbi_last_cache(d) ((d)->l2_bytes)
#endif

#if !defined(GPUMB_BACKEND_FAKE)

/* Huge pages where the kernel has them. Returns 0 when there is none. */
static inline int gpumbi_host_alloc(void **p, uint64_t bytes)
{
    const size_t huge_page = (size_t)1 << 21;
    const int failed = gpumbi_aligned(p, bytes >= huge_page ? huge_page : 256, (size_t)bytes);
    /* The compiler must assume that others see the memory, or it drops stores to it. */
    gpumbi_compiler_barrier(*p);
    return !failed;
}

#if defined(GPUMB_BACKEND_CUDA) || defined(GPUMB_BACKEND_HIP)

/* The two runtimes differ only in their prefix, except for what is spelled out below. */
#if defined(GPUMB_BACKEND_CUDA)
#define GPUMBI_RT(name) cuda##name
typedef cudaError_t gpumbi_rt_error;
typedef cudaStream_t gpumbi_stream;
typedef cudaEvent_t gpumbi_event;
typedef struct cudaPointerAttributes gpumbi_rt_pointer;
typedef enum cudaMemoryAdvise gpumbi_rt_advice;
typedef enum cudaDeviceAttr gpumbi_rt_attribute;
typedef struct cudaDeviceProp gpumbi_rt_properties;
#define GPUMBI_RT_ATTRIBUTE(name, ordinal) gpumbi_rt_value(cudaDevAttr##name, ordinal)
#define GPUMBI_RT_NO_MEMORY cudaErrorMemoryAllocation
#define GPUMBI_RT_PIN cudaHostAlloc
#define GPUMBI_RT_UNPIN cudaFreeHost
#else
#define GPUMBI_RT(name) hip##name
typedef hipError_t gpumbi_rt_error;
typedef hipStream_t gpumbi_stream;
typedef hipEvent_t gpumbi_event;
typedef hipPointerAttribute_t gpumbi_rt_pointer;
typedef hipMemoryAdvise gpumbi_rt_advice;
typedef hipDeviceAttribute_t gpumbi_rt_attribute;
typedef hipDeviceProp_t gpumbi_rt_properties;
#define GPUMBI_RT_ATTRIBUTE(name, ordinal) gpumbi_rt_value(hipDeviceAttribute##name, ordinal)
#define GPUMBI_RT_NO_MEMORY hipErrorOutOfMemory
#define GPUMBI_RT_PIN hipHostMalloc
#define GPUMBI_RT_UNPIN hipHostFree
#endif
#if defined(GPUMB_BACKEND_CUDA) || defined(__HIP_PLATFORM_NVIDIA__) ||                             \
    defined(__HIP_PLATFORM_NVCC__)
#define GPUMBI_NVIDIA
#endif

/* Verbs that are one call of the runtime. A stream of one's own can be captured; created without
 * the non-blocking flag it still keeps order with the legacy default stream, on which a plain
 * kernel<<<grid, block>>> runs. A capture is relaxed: what other threads of the program do is their
 * own business. */
#define GPUMBI_RT_GRAPH(graph) ((GPUMBI_RT(GraphExec_t))(graph))
#define GPUMBI_RT_STREAM(stream) ((gpumbi_stream)(stream))
#define GPUMBI_RT_EVENT(event) ((gpumbi_event)(event))
#define gpumbi_dev_count(count) ((int)GPUMBI_RT(GetDeviceCount)(count))
#define gpumbi_dev_select(ordinal) ((void)GPUMBI_RT(SetDevice)(ordinal))
#define gpumbi_dev_last_error() ((int)GPUMBI_RT(GetLastError)())
#define gpumbi_dev_copy(to, from, bytes, stream)                                                   \
    ((int)GPUMBI_RT(MemcpyAsync)(to, from, (size_t)(bytes), GPUMBI_RT(MemcpyDefault),              \
                                 GPUMBI_RT_STREAM(stream)))
#define gpumbi_dev_set(p, byte, bytes, stream)                                                     \
    ((int)GPUMBI_RT(MemsetAsync)(p, byte, (size_t)(bytes), GPUMBI_RT_STREAM(stream)))
#define gpumbi_dev_prefetch(p, bytes, ordinal, stream)                                             \
    ((int)GPUMBI_RT(MemPrefetchAsync)(p, (size_t)(bytes), GPUMBI_RT_PREFETCH(ordinal),             \
                                      GPUMBI_RT_STREAM(stream)))
#define GPUMBI_RT_ADVICE(advice)                                                                   \
    ((gpumbi_rt_advice)((advice)-1 + (int)GPUMBI_RT(MemAdviseSetReadMostly)))
#define gpumbi_dev_advise(p, bytes, advice, ordinal)                                               \
    ((int)GPUMBI_RT(MemAdvise)(p, (size_t)(bytes), GPUMBI_RT_ADVICE(advice),                       \
                               GPUMBI_RT_PLACE(ordinal)))
#define gpumbi_dev_stream_create(stream) ((int)GPUMBI_RT(StreamCreate)((gpumbi_stream *)(stream)))
#define gpumbi_dev_stream_destroy(stream) ((void)GPUMBI_RT(StreamDestroy)(GPUMBI_RT_STREAM(stream)))
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 12080
#define gpumbi_dev_stream_device(stream, ordinal)                                                  \
    ((void)cudaStreamGetDevice(GPUMBI_RT_STREAM(stream), ordinal))
#else
#define gpumbi_dev_stream_device(stream, ordinal) ((void)(stream), (void)(ordinal))
#endif
#define gpumbi_dev_mfree(p) ((void)GPUMBI_RT(Free)(p))
#define gpumbi_dev_wait(stream) ((int)GPUMBI_RT(StreamSynchronize)(GPUMBI_RT_STREAM(stream)))
#define gpumbi_dev_wait_all() ((int)GPUMBI_RT(DeviceSynchronize)())
#define gpumbi_dev_await(stream, event)                                                            \
    ((int)GPUMBI_RT(StreamWaitEvent)(GPUMBI_RT_STREAM(stream), GPUMBI_RT_EVENT(event), 0))
#define gpumbi_dev_event_create(event) ((int)GPUMBI_RT(EventCreate)((gpumbi_event *)(event)))
#define gpumbi_dev_event_destroy(event) ((void)GPUMBI_RT(EventDestroy)(GPUMBI_RT_EVENT(event)))
#define gpumbi_dev_record(event, stream)                                                           \
    ((int)GPUMBI_RT(EventRecord)(GPUMBI_RT_EVENT(event), GPUMBI_RT_STREAM(stream)))
#define gpumbi_dev_capture_begin(stream)                                                           \
    ((int)GPUMBI_RT(StreamBeginCapture)(GPUMBI_RT_STREAM(stream),                                  \
                                        GPUMBI_RT(StreamCaptureModeRelaxed)))
#define gpumbi_dev_graph_launch(graph, stream)                                                     \
    ((int)GPUMBI_RT(GraphLaunch)(GPUMBI_RT_GRAPH(graph), GPUMBI_RT_STREAM(stream)))
#define gpumbi_dev_graph_destroy(graph) ((void)GPUMBI_RT(GraphExecDestroy)(GPUMBI_RT_GRAPH(graph)))

static inline int gpumbi_rt_value(gpumbi_rt_attribute attribute, int ordinal)
{
    int value = 0;
    if (GPUMBI_RT(DeviceGetAttribute)(&value, attribute, ordinal)) {
        (void)GPUMBI_RT(GetLastError)();
        return 0;
    }
    return value;
}

/* The runtime reports a busy stream as an error, which is forgotten here. */
static inline int gpumbi_dev_idle(void *stream)
{
    const int idle = !GPUMBI_RT(StreamQuery)((gpumbi_stream)stream);
    if (!idle)
        (void)GPUMBI_RT(GetLastError)();
    return idle;
}

static inline int gpumbi_dev_open(int ordinal, gpumb_device *d)
{
    gpumbi_rt_properties properties;
    gpumbi_rt_error error = GPUMBI_RT(SetDevice)(ordinal);
    if (!error)
        error = GPUMBI_RT(Free)(NULL); /* creates the context, or says why not */
    if (!error)
        error = GPUMBI_RT(GetDeviceProperties)(&properties, ordinal);
    if (error)
        return (int)error;
    gpumbi_copy_text(d->name, sizeof d->name, properties.name);
    d->multiprocessors = properties.multiProcessorCount;
    d->warp_size = properties.warpSize;
    d->max_block = properties.maxThreadsPerBlock;
    d->memory_bytes = (uint64_t)properties.totalGlobalMem;
    d->max_threads = GPUMBI_RT_ATTRIBUTE(MaxThreadsPerMultiProcessor, ordinal);
    d->sm_clock_hz = 1e3 * GPUMBI_RT_ATTRIBUTE(ClockRate, ordinal);
    d->memory_clock_hz = 1e3 * GPUMBI_RT_ATTRIBUTE(MemoryClockRate, ordinal);
    d->l2_bytes = (uint64_t)GPUMBI_RT_ATTRIBUTE(L2CacheSize, ordinal);
    d->ecc = GPUMBI_RT_ATTRIBUTE(EccEnabled, ordinal);
#if defined(GPUMB_BACKEND_CUDA)
    gpumbi_copy_text(d->backend, sizeof d->backend, "cuda");
    d->bus_width_bits = GPUMBI_RT_ATTRIBUTE(GlobalMemoryBusWidth, ordinal);
    /* L1 and shared memory are one array: its size is the most that can be carved out of it. */
    d->l1_bytes = (uint64_t)GPUMBI_RT_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, ordinal);
#else
    gpumbi_copy_text(d->backend, sizeof d->backend, "hip");
    d->bus_width_bits = GPUMBI_RT_ATTRIBUTE(MemoryBusWidth, ordinal);
#endif
#if defined(GPUMBI_NVIDIA)
    gpumbi_format(d->arch, sizeof d->arch, "sm_%d%d", properties.major, properties.minor);
#else
    gpumbi_copy_text(d->arch, sizeof d->arch, properties.gcnArchName);
    d->arch[strcspn(d->arch, ":")] = 0; /* "gfx90a:sramecc+:xnack-" */
    d->ecc = d->ecc ? 1 : -1; /* ROCm says 0 of all (errorCorrectionSupport_ in rocdevice.cpp) */
#endif
    gpumbi_peaks(d, properties.integrated);
    return 0;
}

static inline int gpumbi_dev_room(uint64_t *free_bytes)
{
    size_t free_now = 0, total = 0;
    const gpumbi_rt_error error = GPUMBI_RT(MemGetInfo)(&free_now, &total);
    *free_bytes = free_now;
    return (int)error;
}

static inline int gpumbi_dev_memory(gpumb_memory kind, uint64_t *free_bytes)
{
    if (kind == GPUMB_MEMORY_DEVICE || kind == GPUMB_MEMORY_MANAGED)
        return gpumbi_dev_room(free_bytes);
    *free_bytes = gpumbi_host_memory();
    return 0;
}

static inline int gpumbi_dev_malloc(void **p, uint64_t bytes)
{
    const gpumbi_rt_error error = GPUMBI_RT(Malloc)(p, (size_t)bytes);
    if (error)
        (void)GPUMBI_RT(GetLastError)();
    return (int)error;
}

/* Pinned memory has the same address on the device. */
static inline int gpumbi_dev_alloc(void **p, uint64_t bytes, gpumb_memory kind)
{
    gpumbi_rt_error error = (gpumbi_rt_error)0;
    if (kind == GPUMB_MEMORY_DEVICE)
        return gpumbi_dev_malloc(p, bytes);
    if (kind == GPUMB_MEMORY_MANAGED)
        error = GPUMBI_RT(MallocManaged)(p, (size_t)bytes, GPUMBI_RT(MemAttachGlobal));
    else if (kind == GPUMB_MEMORY_PINNED)
        error = GPUMBI_RT_PIN(p, (size_t)bytes, 0);
    else if (!gpumbi_host_alloc(p, bytes))
        error = GPUMBI_RT_NO_MEMORY;
    if (error)
        (void)GPUMBI_RT(GetLastError)();
    return (int)error;
}

static inline void gpumbi_dev_free(void *p, gpumb_memory kind)
{
    if (kind == GPUMB_MEMORY_HOST)
        free(p);
    else
        (void)(kind == GPUMB_MEMORY_PINNED ? GPUMBI_RT_UNPIN(p) : GPUMBI_RT(Free)(p));
}

/* What the runtime does not know is pageable memory, for HIP with an error. The member was called
 * memoryType in HIP before 6, isManaged told the rest; HIP 5.7 on NVIDIA never sets the latter. */
static inline gpumb_memory gpumbi_dev_kind(const void *p)
{
    gpumbi_rt_pointer is;
    memset(&is, 0, sizeof is);
    if (GPUMBI_RT(PointerGetAttributes)(&is, p)) {
        (void)GPUMBI_RT(GetLastError)();
        return GPUMB_MEMORY_HOST;
    }
#if defined(GPUMB_BACKEND_HIP) && HIP_VERSION_MAJOR < 6 && !defined(__CUDACC__)
    return is.isManaged                           ? GPUMB_MEMORY_MANAGED
           : is.memoryType == hipMemoryTypeDevice ? GPUMB_MEMORY_DEVICE
                                                  : GPUMB_MEMORY_PINNED;
#else
    return is.type == GPUMBI_RT(MemoryTypeDevice)    ? GPUMB_MEMORY_DEVICE
           : is.type == GPUMBI_RT(MemoryTypeManaged) ? GPUMB_MEMORY_MANAGED
           : is.type == GPUMBI_RT(MemoryTypeHost)    ? GPUMB_MEMORY_PINNED
                                                     : GPUMB_MEMORY_HOST;
#endif
}

/* From CUDA 13 on a place is a struct, and a prefetch has flags. */
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 13000
static struct cudaMemLocation gpumbi_rt_place(int ordinal)
{
    struct cudaMemLocation place;
    memset(&place, 0, sizeof place);
    place.type = ordinal < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = ordinal < 0 ? 0 : ordinal;
    return place;
}
#define GPUMBI_RT_PLACE(ordinal) gpumbi_rt_place(ordinal)
#define GPUMBI_RT_PREFETCH(ordinal) gpumbi_rt_place(ordinal), 0
#else
#define GPUMBI_RT_PLACE(ordinal) ordinal /* cudaCpuDeviceId, hipCpuDeviceId: -1 */
#define GPUMBI_RT_PREFETCH(ordinal) ordinal
#endif

static inline int gpumbi_dev_elapsed(void *start, void *stop, double *seconds)
{
    float milliseconds = 0;
    gpumbi_rt_error error = GPUMBI_RT(EventSynchronize)((gpumbi_event)stop);
    if (!error)
        error = GPUMBI_RT(EventElapsedTime)(&milliseconds, (gpumbi_event)start, (gpumbi_event)stop);
    *seconds = (double)milliseconds * 1e-3;
    return (int)error;
}

#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 11080
/* What launches have besides a shape, the same for runtime and driver. Returns their number. */
static inline unsigned gpumbi_attributes(const gpumb_launch_config *how,
                                         cudaLaunchAttribute attribute[4])
{
    unsigned count = 0;
    memset(attribute, 0, 4 * sizeof *attribute);
    if (how->cluster[0]) {
        attribute[count].id = cudaLaunchAttributeClusterDimension;
        attribute[count].val.clusterDim.x = (unsigned)how->cluster[0];
        attribute[count].val.clusterDim.y = (unsigned)how->cluster[1];
        attribute[count++].val.clusterDim.z = (unsigned)how->cluster[2];
    }
    if (how->cooperative) {
        attribute[count].id = cudaLaunchAttributeCooperative;
        attribute[count++].val.cooperative = 1;
    }
    if (how->priority) {
        attribute[count].id = cudaLaunchAttributePriority;
        attribute[count++].val.priority = how->priority;
    }
    if (how->dependent) {
        attribute[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    return count;
}
#endif

static inline dim3 gpumbi_dim3(const uint64_t n[3])
{
    return dim3((unsigned)n[0], (unsigned)n[1], (unsigned)n[2]);
}

/* After a launch that failed: more than 48 KiB of shared memory, with what the kernel declares
 * itself, has to be asked for, once. Returns 1 if it can have them. */
static inline int gpumbi_more_shared(const gpumbi_shape *shape, const void *function)
{
    if (!shape->shared_bytes ||
        GPUMBI_RT(FuncSetAttribute)(function, GPUMBI_RT(FuncAttributeMaxDynamicSharedMemorySize),
                                    (int)shape->shared_bytes))
        return 0;
    (void)GPUMBI_RT(GetLastError)(); /* forgets why it failed, if the runtime has not yet */
    return 1;
}

static inline int gpumbi_dev_launch(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                    const void *function, void **parameters, void *stream)
{
    const dim3 grid = gpumbi_dim3(shape->grid), block = gpumbi_dim3(shape->block);
    int error, tries = 0;
    (void)how;
    do
        error = (int)GPUMBI_RT(LaunchKernel)(function, grid, block, parameters,
                                             (size_t)shape->shared_bytes, (gpumbi_stream)stream);
    while (error && !tries++ && gpumbi_more_shared(shape, function));
    return error;
}

static inline int gpumbi_dev_launch_how(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                        const void *function, void **parameters, void *stream)
{
    const dim3 grid = gpumbi_dim3(shape->grid), block = gpumbi_dim3(shape->block);
    int error, tries = 0;
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 11080
    cudaLaunchAttribute attribute[4];
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = (size_t)shape->shared_bytes;
    config.stream = (gpumbi_stream)stream;
    config.attrs = attribute;
    config.numAttrs = gpumbi_attributes(how, attribute);
    do
        error = (int)cudaLaunchKernelExC(&config, function, parameters);
#else
    if (how->cluster[0] || how->priority || how->dependent || !how->cooperative)
        return (int)GPUMBI_RT(ErrorNotSupported);
    do
        error = (int)GPUMBI_RT(LaunchCooperativeKernel)(function, grid, block, parameters,
                                                        (unsigned)shape->shared_bytes,
                                                        (gpumbi_stream)stream);
#endif
    while (error && !tries++ && gpumbi_more_shared(shape, function));
    return error;
}

/* What so many blocks take of the threads that a multiprocessor can have at once; -1: unknown. */
static inline double gpumbi_rt_occupancy(int blocks, int block)
{
    int ordinal = 0;
    if (GPUMBI_RT(GetDevice)(&ordinal)) {
        (void)GPUMBI_RT(GetLastError)();
        return -1;
    }
    const int threads = GPUMBI_RT_ATTRIBUTE(MaxThreadsPerMultiProcessor, ordinal);
    return threads > 0 ? (double)blocks * block / threads : -1;
}

static inline int gpumbi_dev_kernel(const void *function, int block, uint64_t shared_bytes,
                                    int *registers, double *occupancy)
{
    int blocks = 0;
    GPUMBI_RT(FuncAttributes) attributes;
    gpumbi_rt_error error = GPUMBI_RT(FuncGetAttributes)(&attributes, function);
    if (!error)
        error = GPUMBI_RT(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, function, block,
                                                                     (size_t)shared_bytes);
    if (error) {
        (void)GPUMBI_RT(GetLastError)();
        return (int)error;
    }
    *registers = attributes.numRegs;
    *occupancy = gpumbi_rt_occupancy(blocks, block);
    return 0;
}

static inline const char *gpumbi_dev_error(int error, gpumbi_severity *severity)
{
    const gpumbi_rt_error e = (gpumbi_rt_error)error;
#if defined(GPUMB_BACKEND_CUDA)
    const gpumbi_rt_error no_image = cudaErrorNoKernelImageForDevice;
    const char *remedy = "no kernel image for this device: compile with -arch=native, or name its "
                         "architecture, for example -arch=sm_90";
    const char *look = "no CUDA device or driver: see nvidia-smi, or build for the CPU";
#else
    const gpumbi_rt_error no_image = hipErrorNoBinaryForGpu;
    const char *remedy = "no kernel image for this device: compile with --offload-arch=native, or "
                         "name its architecture, for example --offload-arch=gfx90a";
    const char *look = "no HIP device or driver: see rocminfo, or build for the CPU";
#endif
    const int refused =
        (e >= GPUMBI_RT(ErrorStreamCaptureUnsupported) &&
         e <= GPUMBI_RT(ErrorStreamCaptureWrongThread)) ||
        e == GPUMBI_RT(ErrorInvalidConfiguration) || e == GPUMBI_RT(ErrorInvalidValue) ||
        e == GPUMBI_RT(ErrorLaunchOutOfResources) || e == GPUMBI_RT(ErrorInvalidDeviceFunction) ||
        e == GPUMBI_RT(ErrorInvalidDevice) || e == GPUMBI_RT(ErrorNotSupported) ||
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 11080
        e == cudaErrorInvalidClusterSize ||
#elif !defined(GPUMBI_NVIDIA)
        /* of a block larger than __launch_bounds__(); a kernel that faults ends the process */
        e == hipErrorLaunchFailure ||
#endif
        e == GPUMBI_RT(ErrorCooperativeLaunchTooLarge);
    *severity = e == GPUMBI_RT_NO_MEMORY ? GPUMBI_MEMORY : refused ? GPUMBI_REFUSED : GPUMBI_FATAL;
    if (e == no_image)
        return remedy;
    if (e == GPUMBI_RT(ErrorNoDevice) || e == GPUMBI_RT(ErrorInsufficientDriver))
        return look;
    return GPUMBI_RT(GetErrorString)(e);
}

/* ---- libraries ---------------------------------------------------------------------------------
 * The vendors' own, opened where they are installed, and never closed. Their functions are declared
 * here by the types of the vendor's header, enums as int; all return 0 when they succeed. */

typedef struct gpumbi_symbol {
    const char *name;
    size_t at; /* offset of the pointer to it */
} gpumbi_symbol;

#define GPUMBI_SYMBOL_MEMBER(member, types, symbol) int(*member) types;

/* A call that succeeded, of a function that is there. */
#define GPUMBI_CALL(from, member, arguments) ((from)->member && !(from)->member arguments)

/* Opens the first of the libraries that is there. What it lacks becomes NULL. Both lists end with
 * NULL. */
static inline int gpumbi_load(void *into, const char *const *library, const gpumbi_symbol *symbol)
{
    void *opened = NULL;
    for (; *library && !opened; library++)
        opened = gpumbi_library_open(*library);
    for (; symbol->name && opened; symbol++)
        gpumbi_library_find(opened, symbol->name, (char *)into + symbol->at);
    return opened != NULL;
}

/* ---- sensors -----------------------------------------------------------------------------------
 * Owns a gpumbi_sensors. What the vendor's management library lacks is unknown. */

#if defined(GPUMBI_NVIDIA)

/* nvmlFieldValue_t and nvmlProcessInfo_v2_t (nvml.h of CUDA 11.1 and later). */
typedef struct gpumbi_nvml_field {
    unsigned id, scope;
    long long time_us, latency_us;
    int type, error;
    unsigned long long value; /* a union; what is read here is unsigned and little-endian */
} gpumbi_nvml_field;

typedef struct gpumbi_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance[2];
} gpumbi_process;

#define GPUMBI_SENSOR_LIBRARIES "libnvidia-ml.so.1"
#define GPUMBI_SENSOR_FUNCTIONS(X)                                                                 \
    X(init, (void), "nvmlInit_v2")                                                                 \
    X(shut_down, (void), "nvmlShutdown")                                                           \
    X(find, (const char *bus_id, void **device), "nvmlDeviceGetHandleByPciBusId_v2")               \
    X(divided, (void *device, unsigned *now, unsigned *later), "nvmlDeviceGetMigMode")             \
    X(clock, (void *device, int domain, unsigned *mhz), "nvmlDeviceGetClockInfo")                  \
    X(temperature, (void *device, int sensor, unsigned *c), "nvmlDeviceGetTemperature")            \
    X(fields, (void *device, int count, gpumbi_nvml_field *list), "nvmlDeviceGetFieldValues")      \
    X(generation, (void *device, unsigned *), "nvmlDeviceGetMaxPcieLinkGeneration")                \
    X(width, (void *device, unsigned *), "nvmlDeviceGetMaxPcieLinkWidth")                          \
    X(reasons, (void *device, unsigned long long *), "nvmlDeviceGetCurrentClocksEventReasons")     \
    X(reasons_old, (void *device, unsigned long long *),                                           \
      "nvmlDeviceGetCurrentClocksThrottleReasons")                                                 \
    X(processes, (void *device, unsigned *count, gpumbi_process *list),                            \
      "nvmlDeviceGetComputeRunningProcesses_v3")                                                   \
    X(processes_old, (void *device, unsigned *count, gpumbi_process *list),                        \
      "nvmlDeviceGetComputeRunningProcesses_v2")

#else

/* rsmi_process_info_t (rocm_smi.h of ROCm 5 ... 7). */
typedef struct gpumbi_process {
    uint32_t pid, pasid;
    uint64_t memory, sdma;
    uint32_t occupancy;
} gpumbi_process;

#define GPUMBI_SENSOR_LIBRARIES                                                                    \
    "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1",        \
        "librocm_smi64.so", "/opt/rocm/lib/librocm_smi64.so"
#define GPUMBI_SENSOR_FUNCTIONS(X)                                                                 \
    X(init, (uint64_t flags), "rsmi_init")                                                         \
    X(shut_down, (void), "rsmi_shut_down")                                                         \
    X(count, (uint32_t *), "rsmi_num_monitor_devices")                                             \
    X(bus_id, (uint32_t device, uint64_t *), "rsmi_dev_pci_id_get")                                \
    X(clock, (uint32_t device, int domain, void *table), "rsmi_dev_gpu_clk_freq_get")              \
    X(link, (uint32_t device, void *table), "rsmi_dev_pci_bandwidth_get")                          \
    X(temperature, (uint32_t device, uint32_t sensor, int metric, int64_t *),                      \
      "rsmi_dev_temp_metric_get")                                                                  \
    X(power, (uint32_t device, uint64_t *, int *kind), "rsmi_dev_power_get")                       \
    X(power_old, (uint32_t device, uint32_t sensor, uint64_t *), "rsmi_dev_power_ave_get")         \
    X(processes, (gpumbi_process *, uint32_t *), "rsmi_compute_process_info_get")                  \
    X(devices, (uint32_t pid, uint32_t *, uint32_t *), "rsmi_compute_process_gpus_get")

#endif

typedef struct gpumbi_sensors {
    GPUMBI_SENSOR_FUNCTIONS(GPUMBI_SYMBOL_MEMBER)
    int is_divided;
#if defined(GPUMBI_NVIDIA)
    void *device;
    unsigned long long throttled_ns[2]; /* by power, by heat; as last read */
#else
    uint32_t device;
#endif
} gpumbi_sensors;

#define GPUMBI_SENSOR_SYMBOL(member, types, symbol) {symbol, offsetof(gpumbi_sensors, member)},
static const gpumbi_symbol gpumbi_sensor_symbol[] = {
    GPUMBI_SENSOR_FUNCTIONS(GPUMBI_SENSOR_SYMBOL){NULL, 0}};

/* The highest of a PCIe link's rates: gigatransfers a second by generation, coded 8 in 10 bits,
 * from the third on 128 in 130, from the sixth on 242 bytes in flits of 256 (PCI Express Base
 * Specification 6.0). */
static inline void gpumbi_pcie(gpumb_device *d, unsigned generation, unsigned lanes)
{
    static const double rate[] = {2.5 * 8 / 10,     5.0 * 8 / 10,     8.0 * 128 / 130,
                                  16.0 * 128 / 130, 32.0 * 128 / 130, 64.0 * 242 / 256,
                                  128.0 * 242 / 256};
    if (generation < 1 || generation > sizeof rate / sizeof rate[0] || !lanes)
        return;
    d->link_bytes_per_s = rate[generation - 1] * lanes * 1e9 / 8;
    gpumbi_format(d->link, sizeof d->link, "PCIe %u.0 x%u", generation, lanes);
}

/* How many processes other than this one are in a list. In a container, this process may be in the
 * list under a number of the host that it does not know itself: then one of the list is it. An
 * empty list tells nothing, since this process computes on the device. Processes of other
 * containers may be missing: os_find_ns_pid() in NVIDIA's open kernel modules leaves them out. A
 * process that is in the list twice counts once. */
static inline int gpumbi_count_others(const gpumbi_process *list, unsigned count)
{
    const unsigned self = (unsigned)getpid();
    int others = 0, found = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned first = 0;
        while (list[first].pid != list[i].pid)
            first++;
        found |= list[i].pid == self;
        others += list[i].pid != self && first == i;
    }
    return found ? others : others - 1;
}

#if defined(GPUMBI_NVIDIA)

static inline int gpumbi_nvml_read(const gpumbi_sensors *s, unsigned id, unsigned scope,
                                   unsigned long long *value)
{
    gpumbi_nvml_field field;
    memset(&field, 0, sizeof field);
    field.id = id;
    field.scope = scope;
    if (!GPUMBI_CALL(s, fields, (s->device, 1, &field)) || field.error)
        return 0;
    *value = field.type == 1 ? (unsigned)field.value : field.value; /* 1: an unsigned int */
    return 1;
}

/* NVML_FI_DEV_POWER_INSTANT, from CUDA 12 on. Not nvmlDeviceGetPowerUsage(): from Ampere on that is
 * the mean over a second (nvml.h). */
static inline double gpumbi_dev_power(void *sensors)
{
    const gpumbi_sensors *s = (const gpumbi_sensors *)sensors;
    unsigned long long mw = 0;
    return s && !s->is_divided && gpumbi_nvml_read(s, 186, 0, &mw) ? 1e-3 * (double)mw : 0;
}

/* The reasons at this moment (nvmlClocksEventReasons), and those under which the driver has counted
 * more time since the last call: throttling ends with the work that causes it. Not throttling: idle
 * (1), clocks that were asked for (2, 0x100), a sync boost group (0x10). */
static inline int gpumbi_nvml_throttle(gpumbi_sensors *s)
{
    static const struct {
        unsigned long long reasons;
        int throttle;
    } table[] = {{0x4, GPUMB_THROTTLE_POWER},
                 {0x20, GPUMB_THROTTLE_THERMAL},
                 {0x40, GPUMB_THROTTLE_THERMAL | GPUMB_THROTTLE_HARDWARE},
                 {0x80, GPUMB_THROTTLE_POWER | GPUMB_THROTTLE_HARDWARE},
                 {0x8, GPUMB_THROTTLE_HARDWARE},
                 {~0x1ffull, GPUMB_THROTTLE_OTHER}};
    unsigned long long now = 0, ns = 0;
    int throttle = GPUMBI_CALL(s, reasons, (s->device, &now)) ? 0 : -1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (now & table[i].reasons)
            throttle |= table[i].throttle;
    for (unsigned i = 0; i < 2 && throttle >= 0; i++)
        if (gpumbi_nvml_read(s, 74 + i, 0, &ns)) { /* NVML_FI_DEV_PERF_POLICY_POWER, _THERMAL */
            if (ns > s->throttled_ns[i])
                throttle |= table[i].throttle;
            s->throttled_ns[i] = ns;
        }
    return throttle;
}

/* What device and board can do: an idle link runs slower. NVML_FI_DEV_C2C_LINK_COUNT, _GET_STATUS
 * and _GET_MAX_BW, of each link in MB/s. */
static inline void gpumbi_dev_link(void *sensors, gpumb_device *d)
{
    const gpumbi_sensors *s = (const gpumbi_sensors *)sensors;
    unsigned generation = 0, lanes = 0;
    unsigned long long links = 0, active = 0, mb = 0;
    if (!s)
        return;
    if (GPUMBI_CALL(s, generation, (s->device, &generation)) &&
        GPUMBI_CALL(s, width, (s->device, &lanes)))
        gpumbi_pcie(d, generation, lanes);
    double sum = 0;
    if (gpumbi_nvml_read(s, 170, 0, &links))
        for (unsigned i = 0; i < (unsigned)links && i < 64; i++)
            if (gpumbi_nvml_read(s, 171, i, &active) && (unsigned)active == 1 &&
                gpumbi_nvml_read(s, 172, i, &mb))
                sum += 1e6 * (unsigned)mb;
    if (sum > 0) {
        d->link_bytes_per_s = sum;
        gpumbi_copy_text(d->link, sizeof d->link, "NVLink-C2C");
    }
}

static inline int gpumbi_sensors_find(gpumbi_sensors *s, const char *bus_id)
{
    unsigned divided = 0, later = 0;
    if (!GPUMBI_CALL(s, init, ()))
        return 0;
    if (!GPUMBI_CALL(s, find, (bus_id, &s->device))) {
        if (s->shut_down)
            s->shut_down();
        return 0;
    }
    s->is_divided = GPUMBI_CALL(s, divided, (s->device, &divided, &later)) && divided;
    if (!s->reasons)
        s->reasons = s->reasons_old; /* before driver 535 */
    if (!s->processes)
        s->processes = s->processes_old; /* before driver 510 */
    memset(s->throttled_ns, 0xff, sizeof s->throttled_ns);
    gpumbi_nvml_throttle(s); /* notes the times so far */
    return 1;
}

static inline void gpumbi_dev_state(void *sensors, gpumbi_state *state)
{
    gpumbi_sensors *s = (gpumbi_sensors *)sensors;
    gpumbi_process list[64];
    unsigned mhz, celsius, count = sizeof list / sizeof list[0];
    *state = gpumbi_state_unknown;
    if (!s)
        return;
    if (GPUMBI_CALL(s, clock, (s->device, 1, &mhz))) /* NVML_CLOCK_SM */
        state->sm_clock_hz = 1e6 * mhz;
    if (GPUMBI_CALL(s, clock, (s->device, 2, &mhz))) /* NVML_CLOCK_MEM */
        state->memory_clock_hz = 1e6 * mhz;
    if (GPUMBI_CALL(s, temperature, (s->device, 0, &celsius))) /* NVML_TEMPERATURE_GPU */
        state->temperature_c = celsius;
    state->throttle = gpumbi_nvml_throttle(s);
    const int error = s->processes ? s->processes(s->device, &count, list) : 1;
    if (!s->is_divided && !error)
        state->others = gpumbi_count_others(list, count);
    if (!s->is_divided && error == 7) /* NVML_ERROR_INSUFFICIENT_SIZE: count is what it takes */
        state->others = (int)count - 1;
}

#else

/* rsmi_dev_pci_id_get() gives domain << 32 | bus << 8 | device << 3 | function; the number of a
 * partition is in bits 28 ... 31 or in the function. */
static inline int gpumbi_sensors_find(gpumbi_sensors *s, const char *bus_id)
{
    unsigned domain, bus, device;
    uint32_t count = 0, found = 0;
    const uint64_t only_threads = 0x400000000000000; /* RSMI_INIT_FLAG_THRAD_ONLY_MUTEX: else a
                                                        process killed in a call blocks all */
    if (sscanf(bus_id, "%x:%x:%x", &domain, &bus, &device) != 3 ||
        !GPUMBI_CALL(s, init, (only_threads)))
        return 0;
    const uint64_t wanted = (uint64_t)domain << 32 | bus << 8 | device << 3;
    if (!GPUMBI_CALL(s, count, (&count)))
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = 0;
        if (GPUMBI_CALL(s, bus_id, (i, &id)) && (id & 0xffffffff0000fff8) == wanted && !found++)
            s->device = i;
    }
    s->is_divided = found > 1;
    if (!found && s->shut_down)
        s->shut_down();
    return found > 0;
}

static inline double gpumbi_dev_power(void *sensors)
{
    const gpumbi_sensors *s = (const gpumbi_sensors *)sensors;
    uint64_t uw = 0;
    int kind = 0;
    if (!s || s->is_divided ||
        (!GPUMBI_CALL(s, power, (s->device, &uw, &kind)) && /* from ROCm 6 on */
         !GPUMBI_CALL(s, power_old, (s->device, 0, &uw))))
        return 0;
    return 1e-6 * (double)uw;
}

/* rsmi_frequencies_t is {uint32_t levels, current; uint64_t hz[32]} in ROCm 5; ROCm 6 puts a bool
 * in front (1: there is a level of deep sleep) and has one level more. What is in front says which:
 * a bool is 0, or 1 with at least one level after it, and a table of one level is at level 0.
 * Returns where the first of `levels` is; 0: it makes no sense. */
static inline size_t gpumbi_rsmi_table(const uint64_t table[64], uint32_t *levels,
                                       uint32_t *current)
{
    uint32_t head[4];
    memcpy(head, table, sizeof head);
    const uint32_t has_bool = head[0] == 0 || (head[0] == 1 && head[1] != 0);
    *levels = head[has_bool];
    *current = head[has_bool + 1];
    return *levels <= 33 && *current < *levels ? 1 + has_bool : 0;
}

static inline double gpumbi_rsmi_clock(const gpumbi_sensors *s, int domain)
{
    uint64_t table[64];
    uint32_t levels, current;
    memset(table, 0, sizeof table);
    if (!GPUMBI_CALL(s, clock, (s->device, domain, table)))
        return 0;
    const size_t first = gpumbi_rsmi_table(table, &levels, &current);
    return first ? (double)table[first + current] : 0;
}

/* rsmi_pcie_bandwidth_t: such a table of transfers a second, and after it the lanes of each. */
static inline void gpumbi_dev_link(void *sensors, gpumb_device *d)
{
    const gpumbi_sensors *s = (const gpumbi_sensors *)sensors;
    uint64_t table[64];
    uint32_t levels, current, lanes[32];
    memset(table, 0, sizeof table);
    if (!s || !GPUMBI_CALL(s, link, (s->device, table)))
        return;
    const size_t first = gpumbi_rsmi_table(table, &levels, &current);
    memcpy(lanes, table + first + (first > 1 ? 33 : 32), sizeof lanes);
    for (uint32_t i = 0; first && i < levels && i < 32; i++) {
        unsigned generation = 1; /* 2.5, 5, 8, 16, 32 ... */
        for (double rate = 2.5e9; rate * 1.2 < (double)table[first + i] && generation < 9;
             generation++)
            rate *= generation == 2 ? 1.6 : 2;
        gpumb_device level = *d;
        gpumbi_pcie(&level, generation, lanes[i]);
        if (level.link_bytes_per_s > d->link_bytes_per_s)
            *d = level;
    }
}

static inline int gpumbi_rsmi_others(const gpumbi_sensors *s)
{
    gpumbi_process list[64];
    uint32_t device[64], count = 64, kept = 0;
    if (!s->devices || !GPUMBI_CALL(s, processes, (list, &count)))
        return -1;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        uint32_t devices = 64, here = list[i].pid == (uint32_t)getpid();
        if (!here && GPUMBI_CALL(s, devices, (list[i].pid, device, &devices)))
            for (uint32_t d = 0; d < devices && d < 64; d++)
                here |= device[d] == s->device;
        if (here)
            list[kept++] = list[i];
    }
    return gpumbi_count_others(list, kept);
}

static inline void gpumbi_dev_state(void *sensors, gpumbi_state *state)
{
    gpumbi_sensors *s = (gpumbi_sensors *)sensors;
    int64_t mc = 0;
    *state = gpumbi_state_unknown;
    if (!s)
        return;
    state->sm_clock_hz = gpumbi_rsmi_clock(s, 0);     /* RSMI_CLK_TYPE_SYS */
    state->memory_clock_hz = gpumbi_rsmi_clock(s, 4); /* RSMI_CLK_TYPE_MEM */
    /* RSMI_TEMP_TYPE_JUNCTION, the hottest spot; else RSMI_TEMP_TYPE_EDGE. */
    if (GPUMBI_CALL(s, temperature, (s->device, 1, 0, &mc)) ||
        GPUMBI_CALL(s, temperature, (s->device, 0, 0, &mc)))
        state->temperature_c = 1e-3 * (double)mc;
    if (!s->is_divided)
        state->others = gpumbi_rsmi_others(s);
}

#endif

static inline void gpumbi_dev_bus_id(int ordinal, char *text, int size)
{
    if (GPUMBI_RT(DeviceGetPCIBusId)(text, size, ordinal)) {
        (void)GPUMBI_RT(GetLastError)();
        text[0] = 0;
    }
}

static inline void *gpumbi_dev_sensors_open(int ordinal)
{
    static const char *const library[] = {GPUMBI_SENSOR_LIBRARIES, NULL};
    char bus_id[32];
    gpumbi_dev_bus_id(ordinal, bus_id, (int)sizeof bus_id);
    gpumbi_sensors *s = bus_id[0] ? (gpumbi_sensors *)GPUMB_MALLOC(sizeof *s) : NULL;
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    if (gpumbi_load(s, library, gpumbi_sensor_symbol) && gpumbi_sensors_find(s, bus_id))
        return s;
    GPUMB_FREE(s);
    return NULL;
}

static inline void gpumbi_dev_sensors_close(void *sensors)
{
    gpumbi_sensors *s = (gpumbi_sensors *)sensors;
    if (s && s->shut_down)
        s->shut_down();
    GPUMB_FREE(s);
}

/* ---- profiler ----------------------------------------------------------------------------------
 * Owns gpumbi_profiler, one for the process, as CUPTI is. Attached, CUPTI adds 0.4 us to a kernel
 * in a graph even when it records nothing (H200, CUDA 13.0): it is detached as soon as nobody needs
 * it. AMD's has to be there before the runtime starts (rocprofiler-sdk, "Tool registration"), which
 * is before a region asks for it. */

#if defined(GPUMBI_NVIDIA)

#define GPUMBI_PROFILER_FUNCTIONS(X)                                                               \
    X(attach,                                                                                      \
      (void (*need)(uint8_t **, size_t *, size_t *),                                               \
       void (*full)(void *, uint32_t, uint8_t *, size_t, size_t)),                                 \
      "cuptiActivityRegisterCallbacks")                                                            \
    X(enable, (int kind), "cuptiActivityEnable")                                                   \
    X(flush, (uint32_t flags), "cuptiActivityFlushAll")                                            \
    X(next, (uint8_t * buffer, size_t bytes, void **record), "cuptiActivityGetNextRecord")         \
    X(detach, (void), "cuptiFinalize")

static struct gpumbi_profiler {
    GPUMBI_PROFILER_FUNCTIONS(GPUMBI_SYMBOL_MEMBER)
    int users, locked;
    int attached, counted;             /* in this process: not both, see below */
    uint64_t count, first_ns, last_ns; /* of what has ended since the last look */
} gpumbi_profiler;

/* CUPTI delivers full buffers on a thread of its own. */
static inline void gpumbi_profiler_lock(void)
{
    while (gpumbi_exchange(&gpumbi_profiler.locked, 1)) {
    }
}

static inline void gpumbi_profiler_unlock(void)
{
    (void)gpumbi_exchange(&gpumbi_profiler.locked, 0);
}

/* Without room, records are dropped, and the next look misses them. */
static inline void gpumbi_profiler_need(uint8_t **buffer, size_t *bytes, size_t *records)
{
    *bytes = (size_t)1 << 16;
    *records = 0; /* as many as fit */
    *buffer = (uint8_t *)malloc(*bytes);
    if (!*buffer)
        *bytes = 0;
}

/* Records of the kinds asked for hold their start at byte 16 and their end at byte 24, in
 * nanoseconds (cupti_activity.h of CUDA 8 ... 13). Zeros are unknown times. */
static inline void gpumbi_profiler_full(void *context, uint32_t stream, uint8_t *buffer,
                                        size_t room, size_t bytes)
{
    struct gpumbi_profiler *const p = &gpumbi_profiler;
    void *record = NULL;
    (void)context, (void)stream, (void)room;
    gpumbi_profiler_lock();
    while (!p->next(buffer, bytes, &record)) {
        uint64_t at[2];
        memcpy(at, (char *)record + 16, sizeof at);
        if (!at[0] || at[1] < at[0])
            continue;
        p->first_ns = p->count && p->first_ns < at[0] ? p->first_ns : at[0];
        p->last_ns = p->count && p->last_ns > at[1] ? p->last_ns : at[1];
        p->count++;
    }
    gpumbi_profiler_unlock();
    free(buffer);
}

static const char *const gpumbi_profiler_library[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so",
    "/usr/local/cuda/lib64/libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    NULL};
#define GPUMBI_PROFILER_SYMBOL(member, types, symbol)                                              \
    {symbol, offsetof(struct gpumbi_profiler, member)},
static const gpumbi_symbol gpumbi_profiler_symbol[] = {
    GPUMBI_PROFILER_FUNCTIONS(GPUMBI_PROFILER_SYMBOL){NULL, 0}};

static inline int gpumbi_dev_profiler_attach(void)
{
    /* MEMCPY, MEMSET, MEMCPY2 and KERNEL, which runs kernels one after the other. Not
     * CONCURRENT_KERNEL: under it a full wave of blocks is not resident at once, and kernels that
     * spin take up to twice as long as without (H200, CUDA 13.0, driver 580). */
    static const int kind[] = {1, 2, 22, 3};
    struct gpumbi_profiler *const p = &gpumbi_profiler;
    int failed = 0;
    if (p->counted)
        return 1;
    if (!p->users) {
        p->attached = 1;
        if (!p->attach)
            gpumbi_load(p, gpumbi_profiler_library, gpumbi_profiler_symbol);
        if (!p->attach || !p->enable || !p->flush || !p->next || !p->detach)
            return 1;
        failed = p->attach(gpumbi_profiler_need, gpumbi_profiler_full);
        for (size_t i = 0; i < sizeof kind / sizeof kind[0] && !failed; i++)
            failed = p->enable(kind[i]); /* another profiler may be attached */
        if (failed)
            p->detach();
    }
    p->users += !failed;
    return failed;
}

static inline void gpumbi_dev_profiler_detach(void)
{
    if (!--gpumbi_profiler.users)
        gpumbi_profiler.detach();
}

static inline uint64_t gpumbi_dev_profiler_look(double *seconds)
{
    struct gpumbi_profiler *const p = &gpumbi_profiler;
    (void)GPUMBI_CALL(p, flush, (1)); /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
    gpumbi_profiler_lock();
    const uint64_t count = p->count;
    *seconds = count ? 1e-9 * (double)(p->last_ns - p->first_ns) : 0;
    p->count = 0;
    gpumbi_profiler_unlock();
    return count;
}

#endif

/* ---- counters ----------------------------------------------------------------------------------
 * Owns gpumbi_counters, one for the process. CUPTI's range profiler and its host side: one range of
 * the user's, which the caller replays. All calls take a struct, as cupti_target.h,
 * cupti_profiler_host.h and cupti_range_profiler.h of CUDA 12.6 Update 2 ... 13.0 declare it. After
 * one that failed no other is made: CUPTI crashes in some, and at a context that is NULL (13.0).
 * Nothing but cuptiFinalize() leaves a kernel in a graph as fast as it was, 0.50 us in place of
 * 0.84 (H200). After it the chip's name can't be asked for, and time stamps hang (13.0): a process
 * has either these or counters. */

#if defined(GPUMBI_NVIDIA)

/* What the struct of each call begins with. */
typedef struct gpumbi_counter_head {
    int (*call)(void *);
    size_t bytes; /* CUPTI's struct: from here on */
    void *priv, *object;
} gpumbi_counter_head;

/* member, function, bytes of its struct, what its object is, what follows that */
#define GPUMBI_COUNTER_CALLS(X)                                                                    \
    X(initialize, "cuptiProfilerInitialize", 16, none, char none;)                                 \
    X(chip, "cuptiDeviceGetChipName", 32, device, const char *name;)                               \
    X(host, "cuptiProfilerHostInitialize", 48, none, const char *chip; void *available, *made;)    \
    X(add, "cuptiProfilerHostConfigAddMetrics", 40, host.made, const char **names; size_t count;)  \
    X(room, "cuptiProfilerHostGetConfigImageSize", 32, host.made, size_t bytes;)                   \
    X(config, "cuptiProfilerHostGetConfigImage", 40, host.made, size_t bytes; void *image;)        \
    X(enable, "cuptiRangeProfilerEnable", 32, context, void *made;)                                \
    X(data_room, "cuptiRangeProfilerGetCounterDataSize", 64, enable.made, const char **names;      \
      size_t count, ranges; uint32_t nodes; size_t bytes;)                                         \
    X(data, "cuptiRangeProfilerCounterDataImageInitialize", 40, enable.made, size_t bytes;         \
      void *image;)                                                                                \
    X(set, "cuptiRangeProfilerSetConfig", 90, enable.made, size_t config_bytes; void *config;      \
      size_t data_bytes; void *data; int range, replay; size_t ranges; uint16_t levels, least;     \
      size_t pass; uint16_t level;)                                                                \
    X(start, "cuptiRangeProfilerStart", 24, enable.made, char none;)                               \
    X(push, "cuptiRangeProfilerPushRange", 32, enable.made, const char *name;)                     \
    X(pop, "cuptiRangeProfilerPopRange", 24, enable.made, char none;)                              \
    X(stop, "cuptiRangeProfilerStop", 41, enable.made, size_t pass, level; uint8_t all;)           \
    X(decode, "cuptiRangeProfilerDecodeData", 32, enable.made, size_t dropped;)                    \
    X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", 72, host.made, void *data;                 \
      size_t bytes, range; const char **names; size_t count; double *values;)                      \
    X(disable, "cuptiRangeProfilerDisable", 24, enable.made, char none;)                           \
    X(end, "cuptiProfilerHostDeinitialize", 24, host.made, char none;)

#define GPUMBI_COUNTER_MEMBER(member, symbol, bytes, object, ...)                                  \
    struct {                                                                                       \
        gpumbi_counter_head head;                                                                  \
        __VA_ARGS__                                                                                \
    } member;
static struct gpumbi_counters {
    GPUMBI_COUNTER_CALLS(GPUMBI_COUNTER_MEMBER)
    void *none, *context;
    int (*current)(void **context);
    size_t device;
    char chip_name[32];
    int sought, error, counts;
    const char *failed;
    const char *metric[16]; /* of those that the device has ... */
    double scale[16];
    int place[16]; /* ... and where their values go */
} gpumbi_counters;

#define GPUMBI_COUNTER_NUMBER(member, symbol, bytes, object, ...) GPUMBI_COUNTER_##member,
enum { GPUMBI_COUNTER_CALLS(GPUMBI_COUNTER_NUMBER) GPUMBI_COUNTER_COUNT };

#define GPUMBI_COUNTER_SYMBOL(member, symbol, bytes, object, ...)                                  \
    {symbol, offsetof(struct gpumbi_counters, member)},
static const gpumbi_symbol gpumbi_counter_symbol[] = {
    GPUMBI_COUNTER_CALLS(GPUMBI_COUNTER_SYMBOL){NULL, 0}};
static const gpumbi_symbol gpumbi_counter_context[] = {
    {"cuCtxGetCurrent", offsetof(struct gpumbi_counters, current)}, {NULL, 0}};

#define GPUMBI_COUNTER_ABOUT(member, symbol, bytes, object, ...)                                   \
    {bytes, offsetof(struct gpumbi_counters, object)},
static const struct {
    size_t bytes, object_at;
} gpumbi_counter_about[] = {GPUMBI_COUNTER_CALLS(GPUMBI_COUNTER_ABOUT){0, 0}};

/* The names of gpumb_set_counters(), in the vendor's terms; a device may know the second of two. */
static const struct {
    const char *name, *metric;
    double scale;
} gpumbi_counter_names[] = {
    {"dram_read_bytes", "dram__bytes_read.sum", 1},
    {"dram_read_bytes", "dram__bytes_op_read.sum", 1},
    {"dram_write_bytes", "dram__bytes_write.sum", 1},
    {"dram_write_bytes", "dram__bytes_op_write.sum", 1},
    {"l2_read_bytes", "lts__t_sectors_srcunit_tex_op_read.sum", 32},
    {"l2_write_bytes", "lts__t_sectors_srcunit_tex_op_write.sum", 32},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", 0.01},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", 0.01},
    {"load_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 1},
    {"store_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 1},
    {"shared_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1},
    {"instructions", "smsp__inst_executed.sum", 1},
    {"fp32_ops", "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum", 1},
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 0.01}};

/* Returns CUPTI's error, of this call or of the first since open. */
static inline int gpumbi_counters_call(int which)
{
    struct gpumbi_counters *const c = &gpumbi_counters;
    const gpumbi_symbol *symbol = &gpumbi_counter_symbol[which];
    gpumbi_counter_head *head = (gpumbi_counter_head *)(void *)((char *)c + symbol->at);
    if (c->error)
        return c->error;
    head->bytes = gpumbi_counter_about[which].bytes;
    memcpy(&head->object, (char *)c + gpumbi_counter_about[which].object_at, sizeof(void *));
    c->error = head->call ? head->call(&head->bytes) : -1;
    c->failed = symbol->name;
    return c->error;
}
#define GPUMBI_CUPTI(member) gpumbi_counters_call(GPUMBI_COUNTER_##member)

/* Frees the host object, whatever has failed before. */
static inline void gpumbi_counters_end(void)
{
    struct gpumbi_counters *const c = &gpumbi_counters;
    c->error = 0;
    if (c->host.made)
        GPUMBI_CUPTI(end);
    c->host.made = NULL;
}

/* What CUPTI calls the i-th name on this device. One that it does not know spoils a host object. */
static inline void gpumbi_counters_find(gpumbi_counting *counting, int i)
{
    struct gpumbi_counters *const c = &gpumbi_counters;
    const size_t names = sizeof gpumbi_counter_names / sizeof gpumbi_counter_names[0];
    const int n = c->counts;
    for (size_t k = 0; k <= names && !c->error; k++) {
        const int own = k == names;
        if (!own && strcmp(counting->name[i], gpumbi_counter_names[k].name))
            continue;
        c->metric[n] = own ? counting->name[i] : gpumbi_counter_names[k].metric;
        c->scale[n] = own ? 1 : gpumbi_counter_names[k].scale;
        c->place[n] = i;
        c->add.names = &c->metric[n];
        c->add.count = 1;
        if (GPUMBI_CUPTI(host))
            return;
        c->counts = n + !GPUMBI_CUPTI(add);
        gpumbi_counters_end();
        if (c->counts > n)
            return;
    }
    gpumbi_format(counting->why, sizeof counting->why, "%s has no counter %s", c->chip_name,
                  counting->name[i]);
}

static inline void gpumbi_counters_why(gpumbi_counting *counting)
{
    const struct gpumbi_counters *c = &gpumbi_counters;
    const char *why = "";
    if (c->error < 0)
        why = "they need libcupti.so and libnvperf_host.so of CUDA 12.6 Update 2 or later; ";
    else if (c->error == 35 || c->error == 40) /* CUPTI_ERROR_..._INSUFFICIENT_PRIVILEGES */
        why = "root alone is permitted to count, or all where the driver's module has "
              "NVreg_RestrictProfilingToAdminUsers=0; ";
    else if (c->error == 26 || c->error == 39) /* _HARDWARE_BUSY, _MULTIPLE_SUBSCRIBERS_... */
        why = "another profiler has them; ";
    gpumbi_format(counting->why, sizeof counting->why, "no hardware counters: %s%s returns %d", why,
                  c->failed, c->error);
}

static inline void gpumbi_dev_counters_close(void)
{
    struct gpumbi_counters *const c = &gpumbi_counters;
    c->error = 0;
    if (c->enable.made)
        GPUMBI_CUPTI(disable);
    c->enable.made = NULL;
    gpumbi_counters_end();
    if (gpumbi_profiler.detach)
        gpumbi_profiler.detach();
    free(c->config.image);
    free(c->data.image);
    c->config.image = c->data.image = NULL;
}

static inline void *gpumbi_counters_image(size_t bytes)
{
    void *image = gpumbi_counters.error ? NULL : calloc(1, bytes);
    if (!image && !gpumbi_counters.error)
        gpumbi_counters.error = 8; /* CUPTI_ERROR_OUT_OF_MEMORY */
    return image;
}

static inline int gpumbi_dev_counters_open(gpumbi_counting *counting, int ordinal)
{
    /* CUPTI opens it by its name alone. */
    static const char *const host[] = {
        "libnvperf_host.so", "/usr/local/cuda/lib64/libnvperf_host.so",
        "/usr/local/cuda/extras/CUPTI/lib64/libnvperf_host.so", NULL};
    static const char *const driver[] = {"libcuda.so.1", NULL};
    static const gpumbi_symbol nothing = {NULL, 0};
    struct gpumbi_counters *const c = &gpumbi_counters;
    if (gpumbi_profiler.attached) {
        gpumbi_format(counting->why, sizeof counting->why,
                      "no hardware counters: the profiler has timed a region of this process");
        return 0;
    }
    gpumbi_profiler.counted = 1;
    if (!c->sought++) {
        gpumbi_load(c, host, &nothing);
        gpumbi_load(c, driver, gpumbi_counter_context);
        gpumbi_load(c, gpumbi_profiler_library, gpumbi_counter_symbol);
        gpumbi_load(&gpumbi_profiler, gpumbi_profiler_library, gpumbi_profiler_symbol);
    }
    c->error = c->counts = 0;
    c->device = (size_t)ordinal;
    if (GPUMBI_CUPTI(initialize) == 15) /* CUPTI_ERROR_NOT_INITIALIZED, after cuptiFinalize() */
        c->error = 0;                   /* all works nevertheless (13.0) */
    if (!c->error && !(GPUMBI_CALL(c, current, (&c->context)) && c->context)) {
        c->failed = "cuCtxGetCurrent";
        c->error = 3; /* CUPTI_ERROR_INVALID_CONTEXT */
    }
    if (!c->chip_name[0] && !GPUMBI_CUPTI(chip))
        gpumbi_format(c->chip_name, sizeof c->chip_name, "%s", c->chip.name);
    GPUMBI_CUPTI(enable);
    c->host.chip = c->chip_name;
    for (int i = 0; i < counting->names; i++)
        gpumbi_counters_find(counting, i);
    if (!c->error && !c->counts) {
        gpumbi_dev_counters_close();
        return 0;
    }
    GPUMBI_CUPTI(host);
    c->add.names = c->data_room.names = c->evaluate.names = c->metric;
    c->add.count = c->data_room.count = c->evaluate.count = (size_t)c->counts;
    GPUMBI_CUPTI(add);
    GPUMBI_CUPTI(room);
    c->set.config_bytes = c->config.bytes = c->room.bytes;
    c->set.config = c->config.image = gpumbi_counters_image(c->room.bytes);
    GPUMBI_CUPTI(config);
    c->data_room.ranges = c->set.ranges = 1;
    c->data_room.nodes = 1;
    GPUMBI_CUPTI(data_room);
    c->set.data_bytes = c->data.bytes = c->evaluate.bytes = c->data_room.bytes;
    c->set.data = c->evaluate.data = c->data.image = gpumbi_counters_image(c->data_room.bytes);
    GPUMBI_CUPTI(data);
    c->set.range = 2;  /* CUPTI_UserRange */
    c->set.replay = 3; /* CUPTI_UserReplay */
    c->set.levels = c->set.least = c->set.level = 1;
    GPUMBI_CUPTI(set);
    if (!c->error)
        return 1;
    gpumbi_counters_why(counting);
    gpumbi_dev_counters_close();
    return 0;
}

static inline void gpumbi_dev_counters_start(void)
{
    gpumbi_counters.push.name = "region";
    GPUMBI_CUPTI(start);
    GPUMBI_CUPTI(push);
}

static inline int gpumbi_dev_counters_stop(gpumbi_counting *counting)
{
    struct gpumbi_counters *const c = &gpumbi_counters;
    double value[16];
    GPUMBI_CUPTI(pop);
    if (!GPUMBI_CUPTI(stop) && !c->stop.all)
        return 1;
    GPUMBI_CUPTI(decode);
    c->evaluate.values = value;
    GPUMBI_CUPTI(evaluate);
    for (int i = 0; i < counting->names; i++)
        counting->value[i] = NAN;
    for (int i = 0; i < c->counts && !c->error; i++)
        counting->value[c->place[i]] = value[i] * c->scale[i];
    if (c->error)
        gpumbi_counters_why(counting);
    return 0;
}

#endif

/* ---- ranges for profilers ----------------------------------------------------------------------
 * NVTX's headers would add a sixth to the host code of this one (33 KB, 0.4 s; CUDA 13.0); the same
 * functions are in a library for languages without them, which finds the tool that is there. */

#if defined(GPUMBI_NVIDIA)
#include <cuda_profiler_api.h>
#define GPUMBI_RANGE_LIBRARIES                                                                     \
    "libnvtx3interop.so.1", "/usr/local/cuda/lib64/libnvtx3interop.so.1", "libnvToolsExt.so.1"
#define GPUMBI_RANGE_FUNCTIONS(X)                                                                  \
    X(push, (const char *name), "nvtxRangePushA")                                                  \
    X(pop, (void), "nvtxRangePop")
#else
/* Of ROCm 7, of 6.2 ... 6.4, and what rocprofv3 does not hear. */
#define GPUMBI_RANGE_LIBRARIES                                                                     \
    "librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0", "libroctx64.so.4",           \
        "libroctx64.so"
#define GPUMBI_RANGE_FUNCTIONS(X)                                                                  \
    X(push, (const char *name), "roctxRangePushA")                                                 \
    X(pop, (void), "roctxRangePop")                                                                \
    X(start, (uint64_t thread), "roctxProfilerResume")                                             \
    X(stop, (uint64_t thread), "roctxProfilerPause")
#endif

static struct gpumbi_ranges {
    GPUMBI_RANGE_FUNCTIONS(GPUMBI_SYMBOL_MEMBER)
    int sought;
} gpumbi_ranges;

static inline void gpumbi_dev_mark(char (*name)[200], int names)
{
    static const char *const library[] = {GPUMBI_RANGE_LIBRARIES, NULL};
#define GPUMBI_RANGE_SYMBOL(member, types, symbol) {symbol, offsetof(struct gpumbi_ranges, member)},
    static const gpumbi_symbol table[] = {GPUMBI_RANGE_FUNCTIONS(GPUMBI_RANGE_SYMBOL){NULL, 0}};
    struct gpumbi_ranges *const r = &gpumbi_ranges;
    if (!r->sought++ && !gpumbi_load(r, library, table))
        gpumbi_say("no ranges, only the profiler's start and stop: %s is not there", library[0]);
#if defined(GPUMBI_NVIDIA)
    (void)cudaProfilerStart();
#else
    (void)GPUMBI_CALL(r, start, (0));
#endif
    for (int i = 0; i < names && r->push; i++)
        r->push(name[i]);
}

static inline void gpumbi_dev_unmark(int names)
{
    struct gpumbi_ranges *const r = &gpumbi_ranges;
    for (int i = 0; i < names && r->pop; i++)
        r->pop();
#if defined(GPUMBI_NVIDIA)
    (void)cudaProfilerStop();
#else
    (void)GPUMBI_CALL(r, stop, (0));
#endif
}

/* ---- the driver --------------------------------------------------------------------------------
 * Code from elsewhere, and what graphs hold: a runtime knows the kernels alone that were linked
 * with it. NVIDIA's is opened like the other libraries, AMD's is part of the runtime. Owns
 * gpumbi_driver, one for the process. */

#if defined(GPUMBI_MODULES)

/* A node of a graph. Its types have the same numbers in both drivers, but for ROCm 5.2, where they
 * begin with 1. */
static const char *const gpumbi_node_type[] = {
    "kernel",       "memcpy", "memset",        "host",          "graph", "empty",
    "event's wait", "event",  "signal's send", "signal's wait", "alloc", "free"};
typedef struct gpumbi_node {
    int type, level, depth; /* how many nodes, and how many kernels, end with it */
    char label[96];
} gpumbi_node;
enum { GPUMBI_NODES = 1024 }; /* of more nothing is told */

/* "add<<<128, 256>>>", "<<<8x8, 16x16>>>" */
static inline void gpumbi_label_kernel(gpumbi_node *node, const char *name, const unsigned grid[3],
                                       const unsigned block[3])
{
    char of[2][40];
    for (int i = 0; i < 2; i++) {
        const unsigned *n = i ? block : grid;
        if (n[2] > 1)
            gpumbi_format(of[i], sizeof of[i], "%ux%ux%u", n[0], n[1], n[2]);
        else if (n[1] > 1)
            gpumbi_format(of[i], sizeof of[i], "%ux%u", n[0], n[1]);
        else
            gpumbi_format(of[i], sizeof of[i], "%u", n[0]);
    }
    gpumbi_format(node->label, sizeof node->label, "%.50s<<<%s, %s>>>", name ? name : "", of[0],
                  of[1]);
}

#if defined(GPUMBI_NVIDIA)

/* CUlaunchConfig and CUDA_KERNEL_NODE_PARAMS_v2 (cuda.h of CUDA 11.8 ... 13; before 12 the latter
 * ended with `extra`). */
typedef struct gpumbi_driver_launch {
    unsigned grid[3], block[3], shared_bytes;
    void *stream, *attributes;
    unsigned count;
} gpumbi_driver_launch;
typedef struct gpumbi_driver_node {
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void *parameters, *extra, *kernel, *context, *later[8];
} gpumbi_driver_node;

#define GPUMBI_DRIVER_FUNCTIONS(X)                                                                 \
    X(load, (void **module, const void *image, unsigned options, int *option, void **value),       \
      "cuModuleLoadDataEx")                                                                        \
    X(unload, (void *module), "cuModuleUnload")                                                    \
    X(find, (void **function, void *module, const char *name), "cuModuleGetFunction")              \
    X(launch,                                                                                      \
      (void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned bytes, \
       void *stream, void **parameters, void **extra),                                             \
      "cuLaunchKernel")                                                                            \
    X(launch_ex, (const gpumbi_driver_launch *, void *function, void **parameters, void **extra),  \
      "cuLaunchKernelEx")                                                                          \
    X(set, (void *function, int attribute, int value), "cuFuncSetAttribute")                       \
    X(get, (int *value, int attribute, void *function), "cuFuncGetAttribute")                      \
    X(blocks, (int *blocks, void *function, int block, size_t bytes),                              \
      "cuOccupancyMaxActiveBlocksPerMultiprocessor")                                               \
    X(name, (const char **name, void *function), "cuFuncGetName")                                  \
    X(of_kernel, (void **function, void *kernel), "cuKernelGetFunction")                           \
    X(nodes, (void *graph, void **node, size_t *count), "cuGraphGetNodes")                         \
    X(type, (void *node, int *type), "cuGraphNodeGetType")                                         \
    X(before, (void *node, void **before, size_t *count), "cuGraphNodeGetDependencies")            \
    X(kernel, (void *node, gpumbi_driver_node *), "cuGraphKernelNodeGetParams_v2")                 \
    X(kernel_old, (void *node, gpumbi_driver_node *), "cuGraphKernelNodeGetParams")

static struct gpumbi_driver {
    GPUMBI_DRIVER_FUNCTIONS(GPUMBI_SYMBOL_MEMBER)
    int sought;
} gpumbi_driver;

static inline struct gpumbi_driver *gpumbi_the_driver(void)
{
    static const char *const library[] = {"libcuda.so.1", "libcuda.so", "nvcuda.dll", NULL};
#define GPUMBI_DRIVER_SYMBOL(member, types, symbol)                                                \
    {symbol, offsetof(struct gpumbi_driver, member)},
    static const gpumbi_symbol table[] = {GPUMBI_DRIVER_FUNCTIONS(GPUMBI_DRIVER_SYMBOL){NULL, 0}};
    if (!gpumbi_driver.sought)
        gpumbi_driver.sought = 1 + gpumbi_load(&gpumbi_driver, library, table);
    return &gpumbi_driver;
}

static inline int gpumbi_dev_load(void **module, const void *image, int max_registers,
                                  int optimization, char why[200])
{
    /* CU_JIT_ERROR_LOG_BUFFER and its size, _OPTIMIZATION_LEVEL, _MAX_REGISTERS */
    int option[4] = {5, 6, 7, 0};
    void *value[4] = {why, (void *)(uintptr_t)200, (void *)(uintptr_t)optimization,
                      (void *)(uintptr_t)max_registers};
    if (optimization < 0) {
        option[2] = option[3];
        value[2] = value[3];
    }
    const unsigned options = 2u + (optimization >= 0) + (max_registers > 0);
    const struct gpumbi_driver *d = gpumbi_the_driver();
    return d->load ? d->load(module, image, options, option, value)
                   : (int)GPUMBI_RT(ErrorNotSupported);
}

static inline void gpumbi_dev_unload(void *module)
{
    (void)GPUMBI_CALL(gpumbi_the_driver(), unload, (module));
}

static inline int gpumbi_dev_find(const void **function, void *module, const char *name)
{
    void *found = NULL;
    const int error = gpumbi_the_driver()->find(&found, module, name);
    *function = found;
    return error;
}

static inline int gpumbi_driver_launches(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                         void *function, void **parameters, void *stream)
{
    const struct gpumbi_driver *d = gpumbi_the_driver();
    gpumbi_driver_launch as;
    memset(&as, 0, sizeof as);
    for (int i = 0; i < 3; i++) {
        as.grid[i] = (unsigned)shape->grid[i];
        as.block[i] = (unsigned)shape->block[i];
    }
    as.shared_bytes = (unsigned)shape->shared_bytes;
    as.stream = stream;
    if (!how)
        return d->launch(function, as.grid[0], as.grid[1], as.grid[2], as.block[0], as.block[1],
                         as.block[2], as.shared_bytes, stream, parameters, NULL);
#if defined(GPUMB_BACKEND_CUDA) && CUDART_VERSION >= 11080
    cudaLaunchAttribute attribute[4];
    as.count = gpumbi_attributes(how, attribute);
    as.attributes = attribute;
    if (d->launch_ex)
        return d->launch_ex(&as, function, parameters, NULL);
#endif
    return (int)GPUMBI_RT(ErrorNotSupported);
}

static inline int gpumbi_dev_launch_loaded(const gpumbi_shape *shape,
                                           const gpumb_launch_config *how, const void *function,
                                           void **parameters, void *stream)
{
    void *const f = (void *)(uintptr_t)function;
    int error = gpumbi_driver_launches(shape, how, f, parameters, stream);
    if (error && shape->shared_bytes && /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
        GPUMBI_CALL(gpumbi_the_driver(), set, (f, 8, (int)shape->shared_bytes)))
        error = gpumbi_driver_launches(shape, how, f, parameters, stream);
    return error;
}

static inline int gpumbi_dev_loaded(const void *function, int block, uint64_t shared_bytes,
                                    int *registers, double *occupancy)
{
    const struct gpumbi_driver *d = gpumbi_the_driver();
    void *const f = (void *)(uintptr_t)function;
    int blocks = 0;
    if (!GPUMBI_CALL(d, get, (registers, 4, f)) || /* CU_FUNC_ATTRIBUTE_NUM_REGS */
        !GPUMBI_CALL(d, blocks, (&blocks, f, block, (size_t)shared_bytes)))
        return 1;
    *occupancy = gpumbi_rt_occupancy(blocks, block);
    return 0;
}

static inline int gpumbi_graph_nodes(void *graph, void **node, size_t *count)
{
    return GPUMBI_CALL(gpumbi_the_driver(), nodes, (graph, node, count));
}

static inline int gpumbi_graph_type(void *node)
{
    int type = -1;
    return GPUMBI_CALL(gpumbi_the_driver(), type, (node, &type)) ? type : -1;
}

static inline int gpumbi_graph_before(void *node, void **before, size_t *count)
{
    return GPUMBI_CALL(gpumbi_the_driver(), before, (node, before, count));
}

/* A kernel's shape and name; of the first kernel the rest, too. */
static inline void gpumbi_graph_kernel(void *node, gpumbi_node *is, gpumbi_nodes *nodes)
{
    const struct gpumbi_driver *d = gpumbi_the_driver();
    gpumbi_driver_node p;
    const char *name = NULL;
    memset(&p, 0, sizeof p);
    if (!GPUMBI_CALL(d, kernel, (node, &p)) && !GPUMBI_CALL(d, kernel_old, (node, &p)))
        return;
    if (!p.function && p.kernel)
        (void)GPUMBI_CALL(d, of_kernel, (&p.function, p.kernel));
    if (p.function && GPUMBI_CALL(d, name, (&name, p.function)) && !nodes->name[0])
        gpumbi_copy_line(nodes->name, sizeof nodes->name, name);
    if (p.function && nodes->registers < 0)
        gpumbi_dev_loaded(p.function, (int)(p.block[0] * p.block[1] * p.block[2]), p.shared_bytes,
                          &nodes->registers, &nodes->occupancy);
    gpumbi_label_kernel(is, name, p.grid, p.block);
}

#else

static inline int gpumbi_dev_load(void **module, const void *image, int max_registers,
                                  int optimization, char why[200])
{
    (void)max_registers, (void)optimization;
    why[0] = 0;
    return (int)hipModuleLoadData((hipModule_t *)module, image);
}

static inline void gpumbi_dev_unload(void *module)
{
    (void)hipModuleUnload((hipModule_t)module);
}

static inline int gpumbi_dev_find(const void **function, void *module, const char *name)
{
    hipFunction_t found = NULL;
    const int error = (int)hipModuleGetFunction(&found, (hipModule_t)module, name);
    *function = found;
    return error;
}

static inline int gpumbi_dev_launch_loaded(const gpumbi_shape *shape,
                                           const gpumb_launch_config *how, const void *function,
                                           void **parameters, void *stream)
{
    if (how)
        return (int)hipErrorNotSupported;
    return (int)hipModuleLaunchKernel((hipFunction_t)(uintptr_t)function, (unsigned)shape->grid[0],
                                      (unsigned)shape->grid[1], (unsigned)shape->grid[2],
                                      (unsigned)shape->block[0], (unsigned)shape->block[1],
                                      (unsigned)shape->block[2], (unsigned)shape->shared_bytes,
                                      (hipStream_t)stream, parameters, NULL);
}

static inline int gpumbi_dev_loaded(const void *function, int block, uint64_t shared_bytes,
                                    int *registers, double *occupancy)
{
    const hipFunction_t f = (hipFunction_t)(uintptr_t)function;
    int blocks = 0;
    if (hipFuncGetAttribute(registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, f) ||
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, block,
                                                           (size_t)shared_bytes)) {
        (void)hipGetLastError();
        return 1;
    }
    *occupancy = gpumbi_rt_occupancy(blocks, block);
    return 0;
}

static inline int gpumbi_graph_nodes(void *graph, void **node, size_t *count)
{
    return !hipGraphGetNodes((hipGraph_t)graph, (hipGraphNode_t *)node, count);
}

static inline int gpumbi_graph_type(void *node)
{
    hipGraphNodeType type;
    return hipGraphNodeGetType((hipGraphNode_t)node, &type)
               ? -1
               : (int)type - (int)hipGraphNodeTypeKernel;
}

static inline int gpumbi_graph_before(void *node, void **before, size_t *count)
{
    return !hipGraphNodeGetDependencies((hipGraphNode_t)node, (hipGraphNode_t *)before, count);
}

/* Names are known of kernels that were linked with the runtime. */
static inline void gpumbi_graph_kernel(void *node, gpumbi_node *is, gpumbi_nodes *nodes)
{
    /* on the heap: its constructor would be a symbol of ours */
    hipKernelNodeParams *p = (hipKernelNodeParams *)calloc(1, sizeof *p);
    if (p && !hipGraphKernelNodeGetParams((hipGraphNode_t)node, p)) {
        const char *name = hipKernelNameRefByPtr(p->func, NULL);
        const unsigned grid[3] = {p->gridDim.x, p->gridDim.y, p->gridDim.z};
        const unsigned block[3] = {p->blockDim.x, p->blockDim.y, p->blockDim.z};
        if (name && !nodes->name[0])
            gpumbi_copy_line(nodes->name, sizeof nodes->name, name);
        gpumbi_label_kernel(is, name, grid, block);
    }
    free(p);
}

#endif

/* How many nodes lead to each, in as many steps as the longest way takes. */
static inline void gpumbi_graph_levels(void *const *handle, gpumbi_node *node, size_t count)
{
    void *before[64];
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < count; i++) {
            size_t n = sizeof before / sizeof before[0];
            if (!gpumbi_graph_before(handle[i], NULL, &n) || n > sizeof before / sizeof before[0] ||
                !n || !gpumbi_graph_before(handle[i], before, &n))
                continue;
            for (size_t k = 0; k < n; k++)
                for (size_t j = 0; j < count; j++) {
                    const int depth = node[j].depth + !node[i].type;
                    if (handle[j] != before[k])
                        continue;
                    changed |= node[i].level <= node[j].level || node[i].depth < depth;
                    node[i].level =
                        node[i].level > node[j].level ? node[i].level : node[j].level + 1;
                    node[i].depth = node[i].depth > depth ? node[i].depth : depth;
                }
        }
    }
}

/* In the order in which they can run; equal ones that follow each other once, with their number. */
static inline void gpumbi_graph_text(const gpumbi_node *node, size_t count, gpumbi_nodes *nodes)
{
    const gpumbi_node *last = NULL;
    size_t at = 0, end = 0, equal = 0; /* where the number of `last` goes, and what comes then */
    for (size_t k = 0, level = 1; k < count; level++)
        for (size_t i = 0; i < count; i++) {
            char text[120];
            if (node[i].level != (int)level)
                continue;
            k++;
            if (last && !strcmp(last->label, node[i].label)) {
                gpumbi_format(text, sizeof text, " x%llu", (unsigned long long)++equal);
            } else {
                gpumbi_format(text, sizeof text, "%s%s", last ? "; " : "", node[i].label);
                at = end;
                equal = 1;
            }
            if (at + strlen(text) + 5 > sizeof nodes->text) {
                gpumbi_copy_text(nodes->text + at, sizeof nodes->text - at, " ...");
                return;
            }
            gpumbi_copy_text(nodes->text + at, sizeof nodes->text - at, text);
            end = at + strlen(text);
            at = equal > 1 ? at : end;
            last = &node[i];
        }
}

static inline void gpumbi_dev_nodes(void *graph, size_t count, gpumbi_nodes *nodes)
{
    void **handle = count <= GPUMBI_NODES ? (void **)calloc(count + 1, sizeof *handle) : NULL;
    gpumbi_node *node = handle ? (gpumbi_node *)calloc(count + 1, sizeof *node) : NULL;
    memset(nodes, 0, sizeof *nodes);
    nodes->registers = nodes->kernels = -1;
    nodes->occupancy = -1;
    if (node && gpumbi_graph_nodes(graph, handle, &count)) {
        nodes->kernels = 0;
        for (size_t i = 0; i < count; i++) {
            const int type = gpumbi_graph_type(handle[i]);
            const int known = type >= 0 && type < (int)(sizeof gpumbi_node_type / sizeof(char *));
            node[i].type = type;
            node[i].level = 1;
            node[i].depth = !type;
            nodes->kernels += !type;
            gpumbi_copy_text(node[i].label, sizeof node[i].label,
                             known ? gpumbi_node_type[type] : "other");
            if (!type)
                gpumbi_graph_kernel(handle[i], &node[i], nodes);
        }
        gpumbi_graph_levels(handle, node, count);
        for (size_t i = 0; i < count; i++)
            nodes->depth = nodes->depth > node[i].depth ? nodes->depth : node[i].depth;
        gpumbi_graph_text(node, count, nodes);
    }
    free(node);
    free(handle);
}

#endif

static inline int gpumbi_dev_capture_end(void *stream, void **graph, gpumbi_nodes *nodes)
{
    GPUMBI_RT(Graph_t) captured = NULL;
    GPUMBI_RT(GraphExec_t) ready = NULL;
    size_t count = 0;
    gpumbi_rt_error error = GPUMBI_RT(StreamEndCapture)((gpumbi_stream)stream, &captured);
#if !defined(GPUMBI_NVIDIA)
    /* AMD's leaves the stream useless after a capture that failed, or the capture open: a wait
     * breaks that off, and another, empty one ends well (hip_graph.cpp of ROCm 5.2 ... 6.2). */
    if (error) {
        (void)hipStreamSynchronize((hipStream_t)stream);
        (void)gpumbi_dev_capture_begin(stream);
        (void)hipStreamEndCapture((hipStream_t)stream, &captured);
    }
#endif
    if (!error)
        error = GPUMBI_RT(GraphGetNodes)(captured, NULL, &count);
    if (!error && count && graph)
        error = GPUMBI_RT(GraphInstantiateWithFlags)(&ready, captured, 0);
#if defined(GPUMBI_MODULES)
    if (!error && nodes)
        gpumbi_dev_nodes(captured, count, nodes);
#else
    (void)nodes;
#endif
    if (captured)
        (void)GPUMBI_RT(GraphDestroy)(captured);
    (void)GPUMBI_RT(GetLastError)(); /* an invalid capture reports itself more than once */
    if (graph)
        *graph = ready;
    return (int)error;
}

#else

/* ---- the CPU as a device -----------------------------------------------------------------------
 * Launches are complete when they return, an event is a time stamp. */

enum { GPUMBI_CPU_NO_MEMORY = 1, GPUMBI_CPU_FAULT };

static char gpumbi_cpu_fault_text[256];

#ifndef GPUMB_CPU_DEVICES
#define GPUMB_CPU_DEVICES 1
#endif

/* No graphs; host code is timed by the clock, whatever is asked for. */
#define gpumbi_dev_count(count) (*(count) = GPUMB_CPU_DEVICES, 0)
#define gpumbi_dev_select(ordinal) ((void)(ordinal))
#define gpumbi_dev_copy(to, from, bytes, stream)                                                   \
    ((void)(stream), gpumbi_move((char *)(to), (const char *)(from), 0, bytes))
#define gpumbi_dev_set(p, byte, bytes, stream)                                                     \
    ((void)(stream), gpumbi_move((char *)(p), NULL, byte, bytes))
#define gpumbi_dev_prefetch(p, bytes, ordinal, stream) ((void)(ordinal), 0)
#define gpumbi_dev_advise(p, bytes, advice, ordinal) ((void)(ordinal), 0)
#define gpumbi_dev_stream_create(stream) (*(stream) = NULL, 0)
#define gpumbi_dev_stream_destroy(stream) ((void)(stream))
#define gpumbi_dev_stream_device(stream, ordinal) ((void)(stream), (void)(ordinal))
#define gpumbi_dev_wait(stream) ((void)(stream), 0)
#define gpumbi_dev_wait_all() 0
#define gpumbi_dev_idle(stream) ((void)(stream), 1)
#define gpumbi_dev_occupy(naps) ((void)(naps))
#define gpumbi_dev_await(stream, event) ((void)(stream), (void)(event), 0)
#define gpumbi_dev_event_create(event)                                                             \
    (*(event) = malloc(sizeof(double)), *(event) ? 0 : (int)GPUMBI_CPU_NO_MEMORY)
#define gpumbi_dev_event_destroy(event) free(event)
#define gpumbi_dev_record(event, stream) (*(double *)(event) = gpumbi_dev_clock(), 0)
#define gpumbi_dev_capture_begin(stream) ((void)(stream), 1)
#define gpumbi_dev_capture_end(stream, graph, nodes)                                               \
    ((void)(stream), (void)(graph), (void)(nodes), (int)GPUMBI_CPU_FAULT)
#define gpumbi_dev_graph_launch(graph, stream) ((void)(graph), (int)GPUMBI_CPU_FAULT)
#define gpumbi_dev_graph_destroy(graph) ((void)(graph))
#define gpumbi_dev_elapsed(start, stop, seconds)                                                   \
    (*(seconds) = *(double *)(stop) - *(double *)(start), 0)
#define gpumbi_dev_bus_id(ordinal, text, size) ((void)(ordinal), (void)(size), (void)(*(text) = 0))
#define gpumbi_dev_memory(kind, free_bytes) ((void)(kind), *(free_bytes) = gpumbi_host_memory(), 0)
#define gpumbi_dev_alloc(p, bytes, kind)                                                           \
    ((void)(kind), gpumbi_host_alloc(p, bytes) ? 0 : (int)GPUMBI_CPU_NO_MEMORY)
#define gpumbi_dev_free(p, kind) ((void)(kind), free(p))
#define gpumbi_dev_kind(p) ((void)(p), GPUMB_MEMORY_DEVICE) /* as far as there is one */
#define gpumbi_dev_sensors_open(ordinal) ((void)(ordinal), (void *)NULL)
#define gpumbi_dev_sensors_close(sensors) ((void)(sensors))
#define gpumbi_dev_power(sensors) ((void)(sensors), 0.0)
#define gpumbi_dev_link(sensors, device) ((void)(sensors), (void)(device))
#define gpumbi_dev_state(sensors, state) ((void)(sensors), (void)(*(state) = gpumbi_state_unknown))
#define gpumbi_dev_mark(name, names) ((void)(name), (void)(names))
#define gpumbi_dev_unmark(names) ((void)(names))

static inline int gpumbi_dev_open(int ordinal, gpumb_device *d)
{
    (void)ordinal;
    gpumbi_cpu_about(d);
    if (!d->name[0])
        gpumbi_copy_text(d->name, sizeof d->name, "CPU");
    gpumbi_copy_text(d->backend, sizeof d->backend, "cpu");
#if defined(__x86_64__)
    gpumbi_copy_text(d->arch, sizeof d->arch, "x86-64");
#elif defined(__aarch64__)
    gpumbi_copy_text(d->arch, sizeof d->arch, "aarch64");
#else
    gpumbi_copy_text(d->arch, sizeof d->arch, "unknown");
#endif
    d->multiprocessors = gpumb_cpu_workers();
    d->warp_size = gpumbi_warp_size;
    d->max_block = 1024;
    d->max_threads = 1024;
    d->ecc = -1;
    return 0;
}

/* Copies or sets memory on all workers, a stretch of whole cache lines each. */
typedef struct gpumbi_stretch {
    char *to;
    const char *from; /* NULL: set to `byte` */
    int byte;
    uint64_t bytes;
} gpumbi_stretch;

static inline void gpumbi_move_stretch(void *stretch)
{
    const gpumbi_stretch *s = (const gpumbi_stretch *)stretch;
    const uint64_t each = (s->bytes / gpumbi_self.grid_dim.x + 64) & ~(uint64_t)63;
    const uint64_t first = each * gpumbi_self.block_idx.x;
    if (first >= s->bytes)
        return;
    const size_t size = (size_t)(s->bytes - first < each ? s->bytes - first : each);
    if (s->from)
        memcpy(s->to + first, s->from + first, size);
    else
        memset(s->to + first, s->byte, size);
}

static inline int gpumbi_move(char *to, const char *from, int byte, uint64_t bytes)
{
    gpumbi_stretch stretch = {to, from, byte, bytes};
    const uint64_t parts = bytes < (1 << 16) ? 1 : (uint64_t)gpumb_cpu_workers();
    const gpumbi_shape shape = {"memcpy", {parts, 1, 1}, {1, 1, 1}, 0, 0};
    return gpumbi_cpu_launch(&shape, gpumbi_move_stretch, &stretch) ? GPUMBI_CPU_FAULT : 0;
}

static inline int gpumbi_dev_last_error(void)
{
    const char *fault = gpumbi_cpu_take_fault();
    if (fault)
        gpumbi_copy_text(gpumbi_cpu_fault_text, sizeof gpumbi_cpu_fault_text, fault);
    return fault ? GPUMBI_CPU_FAULT : 0;
}

static inline int gpumbi_dev_kernel(const void *function, int block, uint64_t shared_bytes,
                                    int *registers, double *occupancy)
{
    (void)function, (void)block, (void)shared_bytes, (void)registers, (void)occupancy;
    return GPUMBI_CPU_FAULT; /* unknown here */
}

/* Kernels run by GPUMB_LAUNCH alone. */
static inline int gpumbi_dev_launch(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                    const void *function, void **parameters, void *stream)
{
    (void)shape, (void)how, (void)function, (void)parameters, (void)stream;
    return GPUMBI_CPU_FAULT;
}

#define gpumbi_dev_launch_how gpumbi_dev_launch
#if defined(GPUMBI_MODULES)
#define gpumbi_dev_launch_loaded gpumbi_dev_launch
#define gpumbi_dev_loaded gpumbi_dev_kernel
#define gpumbi_dev_unload(module) ((void)(module))

#define gpumbi_dev_load(module, image, max_registers, optimization, why)                           \
    ((void)(module), (void)(why), (int)GPUMBI_CPU_FAULT)

static inline int gpumbi_dev_find(const void **function, void *module, const char *name)
{
    (void)function, (void)module, (void)name;
    return GPUMBI_CPU_FAULT;
}
#endif

static inline const char *gpumbi_dev_error(int error, gpumbi_severity *severity)
{
    *severity = error == GPUMBI_CPU_NO_MEMORY ? GPUMBI_MEMORY : GPUMBI_REFUSED;
    return error == GPUMBI_CPU_NO_MEMORY ? "out of memory" : gpumbi_cpu_fault_text;
}

#endif
#endif

#if !defined(GPUMBI_NVIDIA) && !defined(GPUMB_BACKEND_FAKE)
#define gpumbi_dev_counters_open(c, ordinal)                                                       \
    ((void)(ordinal),                                                                              \
     gpumbi_copy_text((c)->why, sizeof(c)->why,                                                    \
                      "no hardware counters: only NVIDIA's are supported"),                        \
     0)
#define gpumbi_dev_counters_start() (void)0
#define gpumbi_dev_counters_stop(c) ((void)(c), 0)
#define gpumbi_dev_counters_close() (void)0
#define gpumbi_dev_profiler_attach() 1
#define gpumbi_dev_profiler_detach() (void)0
#define gpumbi_dev_profiler_look(seconds) (*(seconds) = 0, (uint64_t)0)
#endif

#if !defined(GPUMB_BACKEND_FAKE)
static inline void gpumbi_dev_date(char text[32])
{
    const time_t now = time(NULL);
    struct tm utc;
    gpumbi_utc(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
#endif

/* ================================================================================================
 * CONTEXT
 *
 * Owns the structs of the implementation, the current context, its errors, the interrupt flag, and
 * the tools that plug into it: see gpumbi_tool. Opens a device on first use, and closes.
 */

enum { GPUMBI_PATH = 4096 + 32 }; /* with .part.9999 after it */
enum { GPUMBI_DEPTH = 16, GPUMBI_COLUMNS = 64, GPUMBI_OUTPUTS = 8, GPUMBI_INTERLEAVED = 16 };
enum { GPUMBI_STREAMS = 8, GPUMBI_LOOKS = 9 };

/* While others have to wait: runs in a capture; and naps that keep the device busy, to begin with
 * and at most, for they are doubled until they outlast a capture. */
enum { GPUMBI_KEPT_RUNS = 16, GPUMBI_NAPS = 64, GPUMBI_MOST_NAPS = 1 << 14 };
enum { GPUMBI_COLUMN_NAME = 128, GPUMBI_OWN_VALUES = 16 };
enum { GPUMBI_OPTIONS = 32, GPUMBI_GUARD = 256, GPUMBI_GUARD_BYTE = 0xa5 };

/* Finds numbered items by 64-bit keys. Those of one key are found in the order of their numbers, if
 * they were added from the last to the first. */
typedef struct gpumbi_index {
    uint64_t *key;       /* of the items; all three are one piece of memory */
    size_t *slot;        /* number + 1 of the first item in it; 0: none */
    size_t *next;        /* the same of the one after an item */
    size_t slots, count; /* slots: a power of 2, at least as many as items */
} gpumbi_index;

typedef struct gpumbi_block { /* of gpumbi_allocate(): before its bytes */
    struct gpumbi_block *next, **link;
} gpumbi_block;

/* A text that lives as long as the context. */
typedef struct gpumbi_text {
    struct gpumbi_text *next;
    int benchmark_number; /* as whose kernel --list has shown it last; from 1 */
    char text[1];
} gpumbi_text;

/* A configuration: a value for each open axis. Columns and texts live as long as the context. */
typedef struct gpumbi_coordinate {
    int column;
    int sibling; /* of the sweeps inside one pass of the body around them: which, from 0 */
    int is_real;
    int64_t value;    /* or the bits of a real ... */
    const char *text; /* ... which has one; or of a named value */
} gpumbi_coordinate;

typedef struct gpumbi_point {
    int depth;
    gpumbi_coordinate at[GPUMBI_DEPTH];
} gpumbi_point;

/* The columns after the fixed ones: axes, and values of the program's own. */
typedef enum gpumbi_column_kind { GPUMBI_AXIS, GPUMBI_OWN } gpumbi_column_kind;

/* Named values of a row, in columns of their own. NaN: an empty cell. */
typedef struct gpumbi_values {
    int count;
    struct {
        int column;
        double value;
    } at[GPUMBI_COLUMNS];
} gpumbi_values;

struct gpumb_axis {
    gpumb *owner;
    int depth, column, sibling, is_real;
    int wants_values;              /* all of them, while the sweep enumerates */
    size_t count, capacity, index; /* index is one ahead of the value in use */
    gpumbi_coordinate *values;
};

struct gpumb_buffer {
    gpumb_buffer *next;
    void *data;
    uint64_t bytes;
    int scope, wrapped; /* memory that is somebody else's */
    gpumb_memory kind;
    const struct gpumbi_other_memory *other; /* if that is not the device's; else NULL */
    gpumb_buffer *twin;                      /* --strict: other memory for it; else NULL */
    uint64_t shift;                          /* --strict: where it begins in its memory, else 0 */
    gpumb_fill_kind fill; /* what it holds, and may hold anew; GPUMB_FILL_ZERO: something else */
    uint64_t seed;
};

static uint64_t gpumbi_managed_bytes; /* of all buffers of the process */

#if defined(GPUMBI_STRICT)
static GPUMBI_PER_THREAD gpumbi_cipher_key gpumbi_secret; /* INSTRUMENTS: anew for each run */
#endif

/* What the public enums are called in rows; NULL ends these lists. */
static const char *const gpumbi_status_name[] = {"ok", "skipped", "failed", NULL};
static const char *const gpumbi_timing_name[] = {"auto", "event",    "batch", "graph",
                                                 "host", "profiler", "given", NULL};
static const char *const gpumbi_means_name[] = {"", "span", "interval", "latency", NULL};
static const char *const gpumbi_stop_name[] = {"", "precision", "samples", "budget", NULL};
static const char *const gpumbi_series_name[] = {"steady",     "warming up", "slowing down",
                                                 "two levels", "unsteady",   NULL};
static const char *const gpumbi_verdict_name[] = {"undecided", "faster", "slower", "same", NULL};
static const char *const gpumbi_memory_name[] = {"device", "pinned host", "managed", "host"};

/* What a time means, also before its row is finished. */
static inline gpumb_meaning gpumbi_meaning(const gpumb_result *r)
{
    return r->timing == GPUMB_TIMING_GIVEN  ? r->meaning
           : r->timing == GPUMB_TIMING_AUTO ? GPUMB_MEANING_NONE
           : r->timing == GPUMB_TIMING_HOST ? GPUMB_MEANING_LATENCY
           : r->overhead_s <= 0 &&
                   (r->timing == GPUMB_TIMING_BATCH || r->timing == GPUMB_TIMING_GRAPH)
               ? GPUMB_MEANING_INTERVAL
               : GPUMB_MEANING_SPAN;
}

static inline const char *gpumbi_meaning_name(const gpumb_result *r)
{
    return gpumbi_means_name[gpumbi_meaning(r)];
}

/* What gpumb_set_...() said about the next region. */
typedef struct gpumbi_description {
    double bytes, flop, elements, reference, expected, peak_flop;
    const char *counters;
    gpumbi_values values;
    double to_device, to_host; /* over the link */
    uint64_t footprint, given; /* times, which ... */
    gpumb_meaning meaning;     /* ... mean this */
    gpumb_timing timing;
    gpumb_cache cache;
    gpumb_buffer *output[GPUMBI_OUTPUTS];
    int outputs;
    void (*poison)(gpumb *g, gpumb_buffer *b); /* these, if any */
    gpumb_check check;
    void *check_user;
    gpumb_hook reset;
    void *reset_user;
    int capturable, streams;
    void *stream[GPUMBI_STREAMS];
    int (*order)(gpumb *g, void *const *stream, int count, int joins); /* these, if any */
    char skip[200];
} gpumbi_description;

typedef enum gpumbi_phase {
    GPUMBI_FIRST,
    GPUMBI_WARM_UP,
    GPUMBI_WITNESS, /* captured, to see whether the device has work all the same */
    GPUMBI_CAPTURE, /* into graphs, if they are to be timed */
    GPUMBI_SAMPLE,
    GPUMBI_RECHECK,
    GPUMBI_COUNT,   /* by the hardware */
    GPUMBI_PROFILE, /* in place of all from the warm-up on */
    GPUMBI_FINISHED
} gpumbi_phase;

/* Power while a region is sampled, for the mean. */
typedef struct gpumbi_power {
    double sum_w, next_s;
    uint64_t count;
} gpumbi_power;

/* A region from its first run to its row: what has been asked for, then the state of each step. */
typedef struct gpumbi_sampler {
    gpumb_result result;
    gpumb_result *copy_to; /* of GPUMB_TIME; NULL: the result becomes a row */
    gpumbi_point point;
    size_t order; /* of its configuration in the sweep */
    gpumbi_description about;
    gpumbi_phase phase;
    int use_events;
    int capturable;   /* its body may run in a capture */
    int profiled;     /* the profiler is attached for it */
    int marked;       /* the ranges that are open around a run */
    int counting;     /* the counters are open */
    double quantum_s; /* of the clock that times it, where that is known */

    struct {
        uint64_t left;              /* of the body until the sample under way ends */
        double prepared_s, began_s; /* host clock before the reset hook, and at its start */
        double launching_s;         /* of the last one, on the host */
        int evictions;              /* more than one before it: see gpumbi_empty_caches() */
    } run;

    struct {              /* at the device: see gpumbi_look() */
        int count;        /* in this round */
        int told;         /* 1: a round hinted at work on other streams; 2: a round showed it */
        int runs, waited; /* of the warm-up that were looked at; that left an idle stream */
        double wait_s[2][GPUMBI_LOOKS]; /* for the device, and for an idle one */
        uint64_t occupied; /* naps for which other work has to wait, see gpumbi_occupy(); or 0 */
    } waits;

    struct { /* --strict: the keys of the first run, of the last one and of that under way */
        gpumbi_cipher_key first, before, now;
        uint64_t next; /* the sample to check */
        int due;       /* it is under way */
    } strict;

    struct { /* what gpumb_memcpy() moves in one run: between host and device, or in unknown ways */
        double to_device, to_host, elsewhere;
    } copied;

    struct { /* the first kernel launched */
        const void *function;
        int loaded;              /* it is of gpumb_function() */
        uint64_t grid, launches; /* its blocks; launches of one run that the library knows of */
        int block;
        uint64_t shared_bytes;
        int depth; /* most kernels of a run that follow each other; 0: unknown */
    } kernel;

    struct {
        double estimate_s, began_s; /* of a run: the outcome */
        double fastest_s;           /* run */
        uint64_t runs;
        int goes_on; /* 1: single runs could not show steadiness; the first samples have to */
    } warm_up;

    struct {                          /* what runs take over time, also while sampling */
        double began_s, length_s;     /* of the window under way; of the one before */
        double run[GPUMBI_WINDOW];    /* the newest runs */
        double sum, spread;           /* of the levels of such, until the window ends */
        double level[GPUMBI_WINDOWS]; /* of the newest windows, oldest first */
        int runs, levels, windows;    /* in run, in sum, in level */
    } pace;

    struct {
        void *graph[2]; /* a short and a long one */
        uint64_t runs[2];
    } graphs;

    struct {
        double *values, *scratch; /* room for max_samples, and 3 times as many: sorted at looks */
        uint64_t capacity, count, bad, next_look;
        int fixed;      /* 1: the number of samples is fixed beforehand */
        double spent_s; /* on samples */
        double began_s;
        gpumbi_power power;
    } samples;
} gpumbi_sampler;

typedef struct gpumbi_row {
    gpumb_result result;
    size_t order, number;  /* rows are written by the first, then the second */
    size_t region;         /* on several devices: those of one are compared */
    gpumbi_values *values; /* after the point ... */
    double *samples;       /* ... and after those its times as they were taken, --raw; else NULL */
    gpumbi_point point;    /* has memory as far as its depth reaches */
} gpumbi_row;

typedef struct gpumbi_sink {
    const char *option, *path; /* as they were given */
    char name[GPUMBI_PATH];    /* behind all links; "": a device, or standard output */
    int straight;              /* not a regular file: written without a part */
    int fd;                    /* of the part, or of what is written straight; -1: none */
    int stale;    /* the part is that of the run to resume, until all of its rows are here */
    int replaces; /* a file, whose mode and owner these are */
    gpumbi_file_state replaced;
    int columns;   /* after the fixed ones, in the header already written */
    int entries;   /* rows that are not left out */
    uint64_t rows; /* all of them whole, up to ... */
    int64_t end;
} gpumbi_sink;

enum { GPUMBI_CSV, GPUMBI_JSON, GPUMBI_MARKDOWN, GPUMBI_GBENCH, GPUMBI_SINKS };

typedef struct gpumbi_record gpumbi_record; /* see RECORDS */
typedef struct gpumbi_records gpumbi_records;
typedef struct gpumbi_expectation gpumbi_expectation;

/* The tools, in the order in which they are told of what happens. */
typedef enum gpumbi_rank {
    GPUMBI_TOOL_BUFFERS,
    GPUMBI_TOOL_LAUNCHES,
    GPUMBI_TOOL_REGIONS,
    GPUMBI_TOOL_INTERLEAVE,
    GPUMBI_TOOL_SWEEPS,
    GPUMBI_TOOL_KEPT,
    GPUMBI_TOOL_PROCESSES,
    GPUMBI_TOOL_INSTRUMENTS,
    GPUMBI_TOOL_ROWS,
    GPUMBI_TOOL_PROGRAM,
    GPUMBI_TOOL_COMPARE,
    GPUMBI_TOOL_EXPECT,
    GPUMBI_TOOL_TABLE,
    GPUMBI_TOOL_FILES,
    GPUMBI_TOOL_COLUMNS,
    GPUMBI_TOOLS
} gpumbi_rank;

/* A context. Each struct in it belongs to the section that is named with it, and what comes before
 * them to CONTEXT, or to those that a comment names; so do variables of the file. Others change it
 * by functions of its owner: tests/layers.py holds that. What passes through the sections belongs
 * to none: a sampler, with its description, is changed by each step from the region's first run to
 * its row, and by whatever frees a buffer in it; a buffer by BUFFERS and by --strict. */
struct gpumb {
    gpumb *previous;      /* opened before this one */
    gpumbi_block *blocks; /* its host memory */
    const struct gpumbi_tool *tool[GPUMBI_TOOLS];
    const struct gpumbi_instruments *instruments; /* INSTRUMENTS: if there are any */
    /* CONTEXT, PROGRAM, COMMAND LINE, PROCESSES: from them, KEPT ROWS: or from a replayed file */
    gpumb_settings settings;
    char program[64];
    char bench[64]; /* CONTEXT, PROGRAM: the program's name, or that of its benchmark */
    int done;       /* nothing more happens: after an error, an interrupt, --help or --explain */
    int closed;     /* while loops still look at it */
    int exit_code;  /* then */
    int runs_benchmark;  /* of gpumb_main(), which closes the context, not what it runs */
    int process;         /* that opened it: in a fork it is dead */
    gpumb_device device; /* CONTEXT, CLOCK: measured, KEPT ROWS: or that of a replayed file */
    void *sensors, *stream, *own_stream;
    void *start, *stop; /* an event pair */
    char trouble[200];  /* why the next region has to be skipped */
    int launch_fails;   /* is why */
    char why[200];      /* CONTEXT: from gpumb_reason(), SAMPLING: or none so far */

    struct { /* LAUNCHES */
        struct gpumb_module *modules;
        const struct gpumbi_function *launched; /* of gpumb_function(), while it is launched */
        char missing[200];                      /* why the last kernel that was asked for is NULL */
    } code;

    struct { /* BUFFERS */
        gpumb_buffer *buffers;
        char missing[200];      /* why an allocation failed; regions are skipped until ... */
        int missing_scope;      /* ... this scope ends */
        int scope, outer_scope; /* 0 context, 1 benchmark, 2 pass of a sweep; and outside sweeps */
        gpumb_buffer *difference; /* see gpumbi_difference_begin() */
        char fill[16];
        uint64_t seed;
    } memory;

    struct {               /* CLOCK */
        void *fork, *join; /* events of gpumb_set_streams(); NULL: not used so far */
        int calibrated, ceiling_tried;
        gpumb_buffer *evictor; /* read to make the caches cold */
        /* of gpumbi_caches_use(), else NULL; before a run of the sampler, or NULL: calibrates */
        double (*empty_caches)(gpumb *g, gpumbi_sampler *s);
    } clock;

    struct {                      /* INSTRUMENTS */
        double profiled_launch_s; /* an empty kernel by the profiler */
        int no_profiler;          /* has been said */
        uint64_t drawn;           /* numbers so far, --strict with a seed */
        gpumbi_counting counting; /* of the region under way */
        char counters_said[200];
    } instrument;

    struct {                              /* RESULT */
        int warmed;                       /* a region has been timed */
        int skipped;                      /* one of GPUMB_TIME was not ... */
        int failed;                       /* ... or failed */
        const struct gpumbi_rates *rates; /* of gpumbi_rates_use(); else NULL */
    } outcome;

    struct { /* REGIONS */
        gpumbi_description next;
        gpumbi_sampler single, *active;
        int body_due, in_body;
        int left;         /* one was: its macro may still look at the context */
        uint64_t reached; /* regions, whatever becomes of them */
        int (*poll)(gpumb *g, void *user);
        void *poll_user;
        double poll_s; /* not before this */
    } region;

    struct { /* INTERLEAVE */
        int open, collecting;
        int turn, target, target_reached;   /* whose sample this pass takes; -1: nobody's */
        int place, lanes;                   /* regions reached in this pass, and in the first */
        int rounds_suffice, sampling_round; /* the last: when all are warm; -1: not yet */
        int limited;                        /* a budget, or the most samples, ended the rounds */
        int last;                           /* lane that ran */
        unsigned char *before;              /* lane that ran before each sample, of all lanes */
        size_t order[GPUMBI_INTERLEAVED];   /* in which lanes take turns, drawn anew each round */
        uint64_t draws; /* index of the next random number, derived from the rows so far */
        uint64_t rounds, dropped; /* sampled, and left out since a time was bad */
        uint64_t next_look;       /* at the ratios */
        gpumbi_sampler *lane;
    } interleave;

    struct { /* COLUMNS: those after the fixed ones */
        char name[GPUMBI_COLUMNS][GPUMBI_COLUMN_NAME];
        gpumbi_column_kind kind[GPUMBI_COLUMNS];
        int named[GPUMBI_COLUMNS]; /* an axis of names */
        int count;
        gpumbi_text **text;
        size_t texts, text_capacity;
        gpumbi_index index; /* of the texts */
    } columns;

    struct {                  /* SWEEPS */
        int enumerating, dry; /* dry: gpumb_main() walks through all benchmarks */
        int left;             /* early, a moment ago: those around it may be, for the same reason */
        gpumb_axis axis[GPUMBI_DEPTH];
        int siblings[GPUMBI_DEPTH + 1]; /* sweeps so far in the body at each depth */
        gpumbi_point here;              /* the open axes */
        gpumbi_coordinate *cell;        /* of all points, one after the other */
        size_t cell_count, cell_capacity;
        size_t *point; /* where its cells begin; they end where those of the next one do */
        size_t point_count, point_capacity, point_index;
        size_t *run_order; /* --shuffle: which point comes when; rows wait until the sweep ends */
        gpumbi_index index;
        size_t number;                 /* of the point that runs, in the list */
        char label[200];               /* its point as text, for the tracer: "n=1024 elem=4" */
        uint64_t reached_before;       /* regions, when it began */
        double next_s;                 /* when the search for configurations shows how far it is */
        int axis_used[GPUMBI_OPTIONS]; /* whether an --axis has found its own */
        uint64_t expected;             /* rows */
        int whole_program; /* they are those of the whole program, not of the sweeps so far */
    } sweep;

    struct {                     /* SWEEPS: what --filter lets through, and --list shows */
        uint64_t seen, matched;  /* regions enumerated; of these, let through by --filter */
        uint64_t matched_before; /* the sweep under way */
        const gpumb_benchmark *benchmark;
        int benchmark_number;              /* from 1; 0: of none */
        int head_listed;                   /* the same, once its name is shown ... */
        int column_listed[GPUMBI_COLUMNS]; /* ... and one more, once that of an axis is */
    } selection;

    struct { /* ROWS */
        gpumbi_row **at;
        size_t count, capacity, written, last_finished;
        uint64_t ok, skipped; /* the rest have failed */
        int states; /* 1: one of this benchmark has stated its bytes; -1: no more about that */
    } rows;

    struct { /* FILES */
        gpumbi_sink sink[GPUMBI_SINKS];
        char settings[1200]; /* see gpumbi_settings_text() */
        int broken;
    } sinks;

    struct { /* TABLE */
        FILE *file;
        int color, header_printed, nodes; /* `nodes`: are shown, too */
        uint64_t axes_hash, rates_hash; /* of the names in the heading, up to the axes and after */
        const char *share;              /* of which it speaks */
        int at, end; /* columns of the line that are written, and that the cells so far have */
        gpumbi_text *notes, *last_note;
    } table;

    struct { /* TABLE: the line that shows what runs */
        int shown;
        double began_s; /* the first region, on the host's clock */
    } progress;

    struct { /* COMPARE */
        gpumbi_records *base;
    } comparison;

    struct { /* KEPT ROWS: those in place of regions, of --resume or --replay */
        gpumbi_records *rows;
        size_t left, used;    /* of those: that wait for their region, and that have had it */
        int measures_nothing; /* --replay, or several devices */
        size_t skipped;       /* regions of a replay without a row, as all of their configuration */
        uint64_t here;        /* the configuration that had one last */
        const gpumbi_record *first; /* in the interleave under way, which ... */
        uint64_t first_of;          /* ... has these draws */
        size_t differ;              /* regions that state something else than their rows ... */
        char differs[300];          /* ... as the first of them does */
    } kept;

    struct { /* EXPECT */
        gpumbi_expectation *at;
        int count;
    } expected;

    struct { /* PROCESSES: for each device of --device 0,2, or each further one of --processes */
        struct gpumbi_child *at;
        int count, column;
        size_t regions;       /* reached so far, each with a row of every device */
        gpumbi_records *rows; /* a list of those of --processes */
    } children;

    struct { /* COMMAND LINE */
        int argc;
        char **argv;
        const char *filter[GPUMBI_OPTIONS], *axis[GPUMBI_OPTIONS];
        int filters, axes;
        int lists;            /* --list: regions are shown, and none runs */
        char arguments[1000]; /* all of these, and the program's own */
    } options;

    struct {         /* PROGRAM */
        int by_main; /* gpumb_main() runs them */
        int catches_signals;
    } benchmarks;
};

/* Each thread has its own. */
static GPUMBI_PER_THREAD gpumb *gpumbi_newest;     /* opened last */
static GPUMBI_PER_THREAD gpumb *gpumbi_current;    /* used last: GPUMB_LAUNCH goes there */
static GPUMBI_PER_THREAD gpumb *gpumbi_fallback;   /* the default context */
static GPUMBI_PER_THREAD gpumb *gpumbi_closed;     /* in a body, whose loops still look at them */
static GPUMBI_PER_THREAD const gpumb *gpumbi_lost; /* said to be no context of it */

static int gpumbi_parent;  /* PROCESSES: that has started this one; 0: none */
static int gpumbi_in_step; /* PROCESSES: waits before each region for those of other devices */

/* Signals that end the measurement, not the program, while a context is open that has a table. */
static const int gpumbi_signals[] = {SIGHUP, SIGINT, SIGTERM};
static const char *const gpumbi_signal_name[] = {"hung up", "interrupted", "terminated"};
enum { GPUMBI_SIGNALS = 3 };
static gpumbi_handler gpumbi_before[GPUMBI_SIGNALS];
static volatile sig_atomic_t gpumbi_interrupted; /* CONTEXT, PROCESSES: the signal, here or there */
static volatile double gpumbi_interrupted_s;     /* when */
static int gpumbi_catching;                      /* contexts that catch them */

/* A second signal ends the process, unless it comes at once: timeout(1) and many launchers send one
 * to the program and again to its group. */
static inline void gpumbi_on_signal(int number)
{
    const double now_s = gpumbi_now();
    if (!gpumbi_interrupted) {
        gpumbi_interrupted_s = now_s;
        gpumbi_interrupted = number;
    } else if (now_s > gpumbi_interrupted_s + 0.05) {
        signal(number, SIG_DFL);
        raise(number); /* comes when this returns */
    }
}

static inline void gpumbi_catch_signals(void)
{
    if (!gpumbi_fetch_add(&gpumbi_catching, 1))
        for (int i = 0; i < GPUMBI_SIGNALS; i++)
            gpumbi_catch(gpumbi_signals[i], gpumbi_on_signal, &gpumbi_before[i]);
}

static inline void gpumbi_uncatch_signals(void)
{
    if (gpumbi_fetch_add(&gpumbi_catching, -1) != 1)
        return;
    for (int i = 0; i < GPUMBI_SIGNALS; i++)
        gpumbi_uncatch(gpumbi_signals[i], &gpumbi_before[i]);
    gpumbi_interrupted = 0;
}

/* ---- tools --------------------------------------------------------------------------------------
 *
 * Whatever a one-off of three lines does not need plugs into the core here: a tool says what it
 * does when something happens in a context, from its first use there on; gpumb_open() uses all
 * tools. So calls go downwards only, and a program that never names a tool does not compile it.
 */

typedef struct gpumbi_tool {
    gpumbi_rank rank;
    const struct gpumbi_tool *needs; /* a tool that comes with it; NULL: none */
    struct {
        /* It is reached. 1: it is not to run now, or not as usual. */
        int (*takes)(gpumb *g, const char *name, gpumb_result *result);
        void (*starts)(gpumb *g, gpumbi_sampler *s); /* it is about to run */
        void (*left)(gpumb *g); /* its body was left in another way than its end */
    } region;
    struct {
        void (*make)(gpumb *g, gpumbi_sampler *s); /* a region is to become one */
        void (*made)(gpumb *g, gpumbi_row *row);   /* it has become one */
        void (*write)(gpumb *g);                   /* they are there to be shown and written */
        void (*foot)(gpumb *g, FILE *json);        /* what stands after those of a JSON file */
    } rows;
    struct {
        void (*say)(gpumb *g);  /* the context ends: what is still to be said */
        void (*free)(gpumb *g); /* and what it holds */
    } end;
} gpumbi_tool;

#define GPUMBI_NO_REGION                                                                           \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
#define GPUMBI_NO_ROWS                                                                             \
    {                                                                                              \
        NULL, NULL, NULL, NULL                                                                     \
    }
#define GPUMBI_NO_END                                                                              \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

#define GPUMBI_TOOL(name, rank, ...)                                                               \
    static const gpumbi_tool name = {GPUMBI_TOOL_##rank, __VA_ARGS__}

#define GPUMBI_EACH_TOOL(g, event, arguments)                                                      \
    for (const gpumbi_tool *const *gpumbi_at = (g)->tool; gpumbi_at < (g)->tool + GPUMBI_TOOLS;    \
         gpumbi_at++)                                                                              \
        if (*gpumbi_at && (*gpumbi_at)->event)                                                     \
    (*gpumbi_at)->event arguments

static inline void gpumbi_use(gpumb *g, const gpumbi_tool *tool)
{
    for (; tool; tool = tool->needs)
        g->tool[tool->rank] = tool;
}

static inline void gpumbi_complete_settings(gpumb_settings *s)
{
    s->precision = s->precision > 0 ? s->precision : 0.01;
    s->budget_s = s->budget_s > 0 ? s->budget_s : 2;
    s->warmup_s = s->warmup_s != 0 ? s->warmup_s : 0.5;
    s->least_s = s->least_s != 0 ? s->least_s : 0.1;
    s->min_samples = s->min_samples ? s->min_samples : 30;
    s->max_samples = s->max_samples ? s->max_samples : 10000;
    s->max_samples = s->max_samples < 10000000 ? s->max_samples : 10000000;
    s->min_samples = s->min_samples < s->max_samples ? s->min_samples : s->max_samples;
    s->seed = s->seed || s->strict ? s->seed : 1;
    s->cold |= s->strict;
    s->full = s->full > 0;
    s->delta = s->delta > 0 ? s->delta : 0.01;
    s->spread = s->spread > 0 ? s->spread : 0.02;
    s->processes = s->processes > 1 ? s->processes < 100 ? s->processes : 100 : 1;
    s->profile = s->profile > 0 ? s->profile : 0;
}

GPUMB_API gpumb_settings gpumb_settings_default(void)
{
    gpumb_settings s;
    memset(&s, 0, sizeof s);
    gpumbi_complete_settings(&s);
    s.seed = 0; /* what that stands for depends on `strict` */
    return s;
}

#if !defined(GPUMB_STATIC)
GPUMB_API void gpumb_settings_init(gpumb_settings *settings, size_t size)
{
    gpumb_settings all = gpumb_settings_default();
    if (!settings || size < sizeof all.size || size > 65536)
        return;
    all.size = size;
    memset(settings, 0, size);
    memcpy(settings, &all, size < sizeof all ? size : sizeof all);
}
#endif

/* NULL: none is open. */
static inline void gpumbi_make_current(gpumb *g)
{
    if (g && g != gpumbi_current && g->device.backend[0] && !g->kept.measures_nothing) /* is open */
        gpumbi_dev_select(g->device.ordinal);
    gpumbi_current = g;
}

#define GPUMBI_NAMELESS "region" /* where neither the region nor a kernel gave it a name */

static inline const char *gpumbi_kernel_name(const gpumb_result *r)
{
    return r->kernel[0] ? r->kernel : GPUMBI_NAMELESS;
}

static inline int gpumbi_is_cpu(const gpumb *g)
{
    return !strcmp(g->device.backend, "cpu");
}

/* A sweep enumerates: regions and axes are only registered. */
static inline int gpumbi_dry(const gpumb *g)
{
    return g->sweep.enumerating || g->options.lists;
}

/* Bodies, fills and checks do not run: while a sweep enumerates, and where rows come from
 * elsewhere. */
static inline int gpumbi_runs_nothing(const gpumb *g)
{
    return gpumbi_dry(g) || g->kept.measures_nothing;
}

/* Makes the exit code GPUMB_EXIT_FAILED, unless there is one already; the run goes on. */
static inline void gpumbi_mark_failed(gpumb *g)
{
    g->exit_code = g->exit_code ? g->exit_code : GPUMB_EXIT_FAILED;
}

/* Why the region under way, or else the next one, has to be skipped; "" if it need not. */
static inline char *gpumbi_trouble(gpumb *g)
{
    return g->region.active ? g->region.active->about.skip : g->trouble;
}

GPUMBI_PRINTF(3, 4)
static inline void gpumbi_end(gpumb *g, int exit_code, const char *format, ...)
{
    char text[GPUMBI_LINE];
    if (g->done)
        return;
    GPUMBI_FORMAT(text, sizeof text, format);
    gpumbi_say("%s", text);
    gpumbi_copy_text(gpumbi_trouble(g), sizeof g->trouble, text);
    g->done = 1;
    g->exit_code = exit_code;
}

/* Ends the context if a file, standard output for one, did not take all that was written. */
static inline void gpumbi_flushed(gpumb *g, FILE *file)
{
    errno = 0;
    if (fflush(file) || ferror(file))
        gpumbi_end(g, GPUMB_EXIT_ERROR, "standard output: can't write: %s; free some space",
                   strerror(errno ? errno : EIO));
}

/* Ends the context after --help, --version or --explain. */
static inline void gpumbi_said(gpumb *g)
{
    gpumbi_flushed(g, stdout);
    g->done = 1;
}

static inline int gpumbi_working(gpumb *g)
{
    if (gpumbi_parent &&
        gpumbi_process_parent() != gpumbi_parent) /* it has ended, and nobody reads on */
        gpumbi_interrupted = SIGHUP;
    if (gpumbi_interrupted && !g->done) {
        g->done = 1;
        g->exit_code = 128 + (int)gpumbi_interrupted; /* GPUMB_EXIT_INTERRUPTED ... */
    }
    return !g->done;
}

/* Records an error of a verb. Returns 0 for no error. */
static inline int gpumbi_try(gpumb *g, int error, const char *what)
{
    gpumbi_severity severity;
    if (!error)
        return 0;
    const char *text = gpumbi_dev_error(error, &severity);
    (void)gpumbi_dev_last_error(); /* said here, once */
    if (severity == GPUMBI_FATAL)
        gpumbi_end(g, GPUMB_EXIT_ERROR, "%s: %s", what, text);
    else
        gpumbi_format(gpumbi_trouble(g), sizeof g->trouble, "%s: %s", what, text);
    return 1;
}

/* A launch of the region under way, or else of the next one, is refused or has failed. */
static inline void gpumbi_launch_fails(gpumb *g)
{
    if (g->region.active)
        g->region.active->result.flags |= GPUMB_FLAG_LAUNCH_FAILED;
    else
        g->launch_fails = 1;
}

/* Sets the reason to skip the next region; "": none. A launch that failed before none is told. */
static inline void gpumbi_trouble_is(gpumb *g, const char *still)
{
    if (g->launch_fails && g->trouble[0] && !g->done) {
        gpumbi_say("%s", g->trouble);
        gpumbi_mark_failed(g);
    }
    gpumbi_copy_text(g->trouble, sizeof g->trouble, still);
    g->launch_fails = 0;
}

/* Whether one is why the region that begins is skipped: its row tells. */
static inline int gpumbi_take_failed_launch(gpumb *g)
{
    const int fails = g->launch_fails;
    g->launch_fails = 0;
    return fails;
}

/* Sets it aside, or takes it back. */
static inline void gpumbi_trouble_swap(gpumb *g, char *other)
{
    for (size_t i = 0; i < sizeof g->trouble; i++) {
        const char now = g->trouble[i];
        g->trouble[i] = other[i];
        other[i] = now;
    }
}

/* The same for a launch, or for the end of what was launched. */
static inline int gpumbi_try_launch(gpumb *g, int error, const char *what)
{
    if (error)
        gpumbi_launch_fails(g);
    return gpumbi_try(g, error, what);
}

/* Host memory, zeroed, until gpumbi_free() or gpumb_close(). NULL: there is none, and the context
 * has ended. */
static inline void *gpumbi_allocate(gpumb *g, size_t bytes)
{
    gpumbi_block *b = (gpumbi_block *)GPUMB_MALLOC(sizeof *b + bytes);
    if (!b) {
        gpumbi_end(g, GPUMB_EXIT_ERROR, "out of host memory: %s refused; free some, or sweep less",
                   gpumbi_write_size(bytes).text);
        return NULL;
    }
    memset(b, 0, sizeof *b + bytes);
    b->next = g->blocks;
    b->link = &g->blocks;
    if (b->next)
        b->next->link = &b->next;
    g->blocks = b;
    return b + 1;
}

static inline void gpumbi_free(void *p)
{
    if (!p)
        return;
    gpumbi_block *b = (gpumbi_block *)p - 1;
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
    GPUMB_FREE(b);
}

/* Room for one more in an array that doubles; `array` points to the pointer to it. Returns 0 when
 * there is none. */
static inline int gpumbi_grow(gpumb *g, void *array, size_t size, size_t count, size_t *capacity)
{
    if (count < *capacity)
        return 1;
    const size_t larger = *capacity ? *capacity * 2 : 64;
    void *old, *p = gpumbi_allocate(g, larger * size);
    if (!p)
        return 0;
    memcpy(&old, array, sizeof old);
    if (count)
        memcpy(p, old, count * size);
    gpumbi_free(old);
    memcpy(array, &p, sizeof p);
    *capacity = larger;
    return 1;
}

/* Makes room for so many items. Returns 0 when there is none. */
static inline int gpumbi_index_reserve(gpumb *g, gpumbi_index *x, size_t count)
{
    size_t slots = 64;
    while (slots < count)
        slots *= 2;
    if (slots <= x->slots)
        return 1;
    gpumbi_index larger;
    larger.key = (uint64_t *)gpumbi_allocate(
        g, slots * (sizeof *larger.key + sizeof *larger.slot + sizeof *larger.next));
    if (!larger.key)
        return 0;
    larger.slot = (size_t *)(void *)(larger.key + slots);
    larger.next = larger.slot + slots;
    larger.slots = slots;
    for (size_t i = x->count; i-- > 0;) {
        size_t *slot = &larger.slot[x->key[i] & (slots - 1)];
        larger.key[i] = x->key[i];
        larger.next[i] = *slot;
        *slot = i + 1;
    }
    larger.count = x->count;
    gpumbi_free(x->key);
    *x = larger;
    return 1;
}

static inline void gpumbi_index_add(gpumbi_index *x, size_t item, uint64_t key)
{
    size_t *slot = &x->slot[key & (x->slots - 1)];
    x->key[item] = key;
    x->next[item] = *slot;
    *slot = item + 1;
    x->count = item < x->count ? x->count : item + 1;
}

/* The first item of a key after another one, or from the start (SIZE_MAX); SIZE_MAX: there is
 * none. */
static inline size_t gpumbi_index_find(const gpumbi_index *x, uint64_t key, size_t after)
{
    size_t item = 0;
    if (x->slots)
        item = after == SIZE_MAX ? x->slot[key & (x->slots - 1)] : x->next[after];
    while (item && x->key[item - 1] != key)
        item = x->next[item - 1];
    return item - 1;
}

static inline void gpumbi_index_remove(gpumbi_index *x, size_t item)
{
    size_t *link = &x->slot[x->key[item] & (x->slots - 1)];
    while (*link != item + 1)
        link = &x->next[*link - 1];
    *link = x->next[item];
}

static inline void gpumbi_open_device(gpumb *g)
{
    int count = 0;
    gpumbi_severity severity;
    const int error = gpumbi_dev_count(&count);
    if (error || count == 0) {
        gpumbi_end(g, GPUMB_EXIT_NO_DEVICE, "%s",
                   error ? gpumbi_dev_error(error, &severity)
                         : "no device: see the vendor's tool, or build for the CPU");
        return;
    }
    if (g->settings.device < 0 || g->settings.device >= count) {
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--device %d: there are %d, numbered from 0; for example "
                   "--device 0",
                   g->settings.device, count);
        return;
    }
    g->device.ordinal = g->settings.device;
    if (gpumbi_try(g, gpumbi_dev_open(g->settings.device, &g->device), "device") ||
        gpumbi_try(g, gpumbi_dev_stream_create(&g->own_stream), "stream") ||
        gpumbi_try(g, gpumbi_dev_event_create(&g->start), "event") ||
        gpumbi_try(g, gpumbi_dev_event_create(&g->stop), "event")) {
        gpumbi_end(g, GPUMB_EXIT_ERROR,
                   "%s; free the device's memory, or choose another by --device", g->trouble);
        return;
    }
    g->stream = g->own_stream;
    g->sensors = gpumbi_dev_sensors_open(g->settings.device);
    gpumbi_dev_link(g->sensors, &g->device);
    if (g->settings.peak_gbps > 0)
        g->device.peak_bytes_per_s = g->settings.peak_gbps * 1e9;
}

static gpumb gpumbi_no_memory; /* a context that can do nothing */

static inline gpumb *gpumbi_new(const char *program)
{
    gpumb *g = (gpumb *)GPUMB_MALLOC(sizeof *g);
    if (g) {
        memset(g, 0, sizeof *g);
    } else {
        g = &gpumbi_no_memory;
        memset(g, 0, sizeof *g);
        gpumbi_end(g, GPUMB_EXIT_ERROR, "out of host memory: %s refused; free some",
                   gpumbi_write_size(sizeof *g).text);
    }
    g->process = getpid();
    gpumbi_copy_text(g->program, sizeof g->program, program ? gpumbi_base_name(program) : "gpumb");
    return g;
}

/* Whether it is this thread's, and open, or closed within its loops; else its memory may be gone,
 * and it is only named. */
static inline int gpumbi_is_known(const gpumb *g)
{
    for (int closed = 0; closed < 2; closed++)
        for (const gpumb *at = closed ? gpumbi_closed : gpumbi_newest; at; at = at->previous)
            if (at == g)
                return 1;
    if (g != &gpumbi_no_memory && g != gpumbi_lost)
        gpumbi_say("a context is used after gpumb_close(), or by a thread that has not opened it");
    gpumbi_lost = g;
    return g == &gpumbi_no_memory;
}

/* While one runs, it is not for gpumb_close() to end the context. */
static inline void gpumbi_benchmark_runs(gpumb *g, int runs)
{
    g->runs_benchmark = runs;
}

/* Not from where a check or hook may call: an exception may have left one of these, too. */
static inline void gpumbi_leave_region(gpumb *g)
{
    if (g->region.active)
        GPUMBI_EACH_TOOL(g, region.left, (g));
}

static inline void gpumbi_leave_body(gpumb *g)
{
    if (g->region.in_body)
        gpumbi_leave_region(g);
}

/* What is known of a device that is not opened here. */
static inline void gpumbi_device_known(gpumb *g, const gpumb_device *device)
{
    g->device = *device;
}

GPUMB_API int gpumb_close(gpumb *g)
{
    if (!g)
        g = gpumbi_current;
    if (!g)
        return GPUMB_EXIT_OK;
    if (g != gpumbi_current && !gpumbi_is_known(g))
        return GPUMB_EXIT_ERROR;
    if (g->closed)
        return g->exit_code;
    gpumbi_make_current(g);
    const int within =
        g->region.active || g->region.left || g->interleave.open || g->sweep.here.depth;
    if (g->runs_benchmark) {
        gpumbi_end(g, GPUMB_EXIT_ERROR, "%s: gpumb_close() in a benchmark: gpumb_main() closes",
                   g->bench);
        return g->exit_code;
    }
    gpumbi_leave_region(g);
    gpumbi_progress_clear();
    GPUMBI_EACH_TOOL(g, end.say, (g));
    const int exit_code = g->exit_code;
    GPUMBI_EACH_TOOL(g, end.free, (g));
    void *const event[] = {g->start, g->stop, g->clock.fork, g->clock.join};
    for (int i = 0; i < 4; i++)
        if (event[i])
            gpumbi_dev_event_destroy(event[i]);
    if (g->own_stream)
        gpumbi_dev_stream_destroy(g->own_stream);
    gpumbi_dev_sensors_close(g->sensors);
    while (g->blocks)
        gpumbi_free(g->blocks + 1);
    gpumb **link = &gpumbi_newest;
    while (*link && *link != g)
        link = &(*link)->previous;
    if (*link)
        *link = g->previous;
    gpumbi_make_current(gpumbi_newest);
    if (g == gpumbi_fallback)
        gpumbi_fallback = NULL;
    if (within && g != &gpumbi_no_memory) {
        memset(g, 0, sizeof *g);
        g->done = g->closed = 1;
        g->exit_code = exit_code;
        g->previous = gpumbi_closed;
        gpumbi_closed = g;
    } else if (g != &gpumbi_no_memory) {
        GPUMB_FREE(g);
    }
    return exit_code;
}

/* At exit: completes what the program has left open. The program's exit code is fixed by now:
 * changing it by _exit() would cut off what the program, and other libraries, still have to do. A
 * fork inherits this and the contexts, which are not its own. */
static inline void gpumbi_close_all(void)
{
    while (gpumbi_newest && gpumbi_newest->process == getpid()) {
        const int rows = gpumbi_newest != gpumbi_fallback && gpumbi_newest->rows.count;
        gpumbi_benchmark_runs(gpumbi_newest, 0); /* one of them has called exit() */
        const int exit_code = gpumb_close(gpumbi_newest);
        if (exit_code)
            gpumbi_say("the program ends without gpumb_close(), which returns exit code %d here: "
                       "end main() by return gpumb_close(NULL)",
                       exit_code);
        else if (rows)
            gpumbi_say("the program ends without gpumb_close()");
    }
}

/* Makes a new context the current one. */
static inline void gpumbi_register(gpumb *g)
{
    static int registered; /* a fork inherits that too */
    gpumbi_streams_prepare();
    if (!gpumbi_exchange(&registered, 1))
        atexit(gpumbi_close_all);
    if (g != &gpumbi_no_memory) {
        g->previous = gpumbi_newest;
        gpumbi_newest = g;
    }
    gpumbi_current = g;
    gpumbi_copy_text(g->bench, sizeof g->bench, g->program);
}

/* The context that is meant; NULL: the one used last, or the default one, which has no tools. */
static inline gpumb *gpumbi_context(gpumb *g)
{
    if (g && g != gpumbi_current) {
        if (!gpumbi_is_known(g)) {
            g = &gpumbi_no_memory;
            g->done = 1;
            g->exit_code = GPUMB_EXIT_ERROR;
        }
        gpumbi_make_current(g);
    }
    if (gpumbi_current)
        return gpumbi_current;
    g = gpumbi_fallback = gpumbi_new("gpumb");
    g->settings.quiet = 1;
    gpumbi_complete_settings(&g->settings);
    gpumbi_register(g);
    gpumbi_open_device(g);
    return g;
}

/* The start of every function that is not for use in a region. Returns the context, or NULL where
 * there is nothing to do. */
static inline gpumb *gpumbi_enter(gpumb *g)
{
    g = gpumbi_context(g);
    gpumbi_leave_body(g);
    return gpumbi_working(g) ? g : NULL;
}

GPUMB_API void gpumb_skip(gpumb *g, const char *format, ...)
{
    g = gpumbi_context(g);
    format = format ? format : "";
    GPUMBI_FORMAT(gpumbi_trouble(g), sizeof g->trouble, format);
    if (!*gpumbi_trouble(g)) /* an empty one would not skip it */
        gpumbi_copy_text(gpumbi_trouble(g), sizeof g->trouble, "no reason given");
}

/* For a value that an enumeration of so many kinds does not have: skips the next region. */
static inline int gpumbi_unknown(gpumb *g, const char *function, int kind, int kinds)
{
    if (kind >= 0 && kind < kinds)
        return 0;
    gpumb_skip(g, "%s: there is no kind %d", function, kind);
    return 1;
}

/* For a NULL where a buffer is needed: the next region is skipped with a reason, unless there is
 * one already. Returns -1; 0 while a sweep enumerates, when every buffer is NULL. */
static inline int gpumbi_null(gpumb *g, const char *function)
{
    if (gpumbi_runs_nothing(g))
        return 0;
    if (!*gpumbi_trouble(g))
        gpumb_skip(g, "%s: a pointer is NULL", function);
    return -1;
}

GPUMB_API void gpumb_reason(gpumb *g, const char *format, ...)
{
    g = gpumbi_context(g);
    format = format ? format : "no reason given";
    GPUMBI_FORMAT(g->why, sizeof g->why, format);
}

GPUMB_API int gpumb_ok(const gpumb *g)
{
    if (g && g != gpumbi_current && !gpumbi_is_known(g))
        return 0;
    g = g ? g : gpumbi_current;
    return g && !g->done && !gpumbi_interrupted;
}

GPUMB_API const gpumb_settings *gpumb_get_settings(gpumb *g)
{
    return &gpumbi_context(g)->settings;
}

GPUMB_API void *gpumb_stream(gpumb *g)
{
    return gpumbi_context(g)->stream;
}

/* Work on another device's stream is in no time of this context: there is no use in going on. The
 * legacy stream is that of the device in use. */
static inline int gpumbi_is_of_device(gpumb *g, void *stream)
{
    int ordinal = g->device.ordinal;
    if (stream)
        gpumbi_dev_stream_device(stream, &ordinal);
    if (ordinal != g->device.ordinal)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "a stream of device %d can't be timed on device %d: choose one by --device",
                   ordinal, g->device.ordinal);
    return ordinal == g->device.ordinal;
}

GPUMB_API void gpumb_set_stream(gpumb *g, void *stream)
{
    if ((g = gpumbi_enter(g)) != NULL && gpumbi_is_of_device(g, stream))
        g->stream = stream;
}

/* ================================================================================================
 * LAUNCHES
 *
 * Owns g->code. Checks what GPUMB_LAUNCH is given, and notes the first kernel of a region. Loads
 * code from elsewhere.
 */

/* What gpumb_load() and gpumb_function() have found. */
typedef struct gpumbi_function {
    struct gpumbi_function *next;
    const void *found; /* by the driver */
} gpumbi_function;

struct gpumb_module {
    struct gpumb_module *next;
    void *loaded; /* by the driver */
    gpumbi_function *functions;
    char *image; /* as long as that: AMD's runtime goes on reading it (hsa.h, code object reader) */
    char *names; /* of its kernels: "scale, add"; "": unknown */
};

GPUMBI_API_NOINLINE int gpumbi_launch_begin(const gpumbi_shape *shape, const void *function)
{
    static const uint64_t blocks[3] = {INT32_MAX, 65535, 65535};
    gpumb *g = gpumbi_context(NULL);
    if (!gpumbi_working(g) || gpumbi_runs_nothing(g) ||
        *gpumbi_trouble(g)) /* a missing buffer, say */
        return 0;
    const uint64_t most = (uint64_t)g->device.max_block;
    const int amd = !strncmp(g->device.arch, "gfx", 3), hip = !strcmp(g->device.backend, "hip");
    for (int i = 5; i >= 0; i--) { /* the block, then the grid */
        const uint64_t block = shape->block[i % 3], extent = i < 3 ? shape->grid[i] : block;
        uint64_t limit = i < 3 ? blocks[i] : i == 5 && !hip ? 64 : most;
        /* AMD's queues count threads in 32 bits: ROCm truncates (rocm-systems, issue 2372). */
        if (i < 3 && amd && limit > UINT32_MAX / block)
            limit = UINT32_MAX / block;
        if (extent < 1 || extent > limit) {
            gpumb_skip(g, "launch of %s refused: %s.%c is %llu, it can be 1 to %llu", shape->name,
                       i < 3 ? "grid" : "block", "xyz"[i % 3], (unsigned long long)extent,
                       (unsigned long long)limit);
            gpumbi_launch_fails(g);
            return 0;
        }
    }
    const uint64_t threads = shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > most) {
        gpumb_skip(g, "launch of %s refused: %llu threads in a block, at most %llu", shape->name,
                   (unsigned long long)threads, (unsigned long long)most);
        gpumbi_launch_fails(g);
        return 0;
    }
    gpumbi_sampler *s = g->region.in_body ? g->region.active : NULL;
    if (s)
        s->kernel.launches += s->phase == GPUMBI_FIRST;
    if (s && !s->kernel.function) {
        s->kernel.loaded = g->code.launched != NULL;
        s->kernel.function = function;
        s->kernel.grid = shape->grid[0] * shape->grid[1] * shape->grid[2];
        s->kernel.block = (int)threads;
        s->kernel.shared_bytes = shape->shared_bytes;
        if (!s->result.kernel[0])
            gpumbi_copy_text(s->result.kernel, sizeof s->result.kernel, shape->name);
    }
#ifdef GPUMB_TRACE
    char row[200];
    gpumbi_format(row, sizeof row, "%s/%s%s%s", g->bench, shape->name, g->sweep.label[0] ? " " : "",
                  g->sweep.label);
    gpumbi_plain(row);
    gpumbi_trace_launch(shape, row);
    for (const gpumb *owner = gpumbi_newest; owner; owner = owner->previous)
        for (const gpumb_buffer *b = owner->memory.buffers; b; b = b->next)
            gpumbi_trace_memory(GPUMBI_TRACE_BUFFER, b->data, b->bytes);
#endif
    return 1;
}

GPUMBI_API_NOINLINE void gpumbi_launch_end(void)
{
    gpumb *g = gpumbi_context(NULL);
    gpumbi_try_launch(g, gpumbi_dev_last_error(), "launch");
}

#if defined(GPUMBI_MODULES)

static inline void gpumbi_code_free(gpumb *g)
{
    for (const gpumb_module *m = g->code.modules; m; m = m->next)
        gpumbi_dev_unload(m->loaded);
}

GPUMBI_TOOL(gpumbi_code_tool, LAUNCHES, NULL, GPUMBI_NO_REGION, GPUMBI_NO_ROWS,
            {NULL, gpumbi_code_free});

/* Adds a name to a list in `names`, unless it is there, or to the room that a list takes. */
static inline void gpumbi_list_name(char *names, size_t *room, const char *name, size_t length)
{
    const char *at = names;
    while (at && *at && (strcspn(at, ",") != length || memcmp(at, name, length) != 0)) {
        at += strcspn(at, ",");
        at += *at ? 2 : 0;
    }
    if (at && !*at)
        gpumbi_format(names + strlen(names), length + 3, "%s%.*s", *names ? ", " : "", (int)length,
                      name);
    *room += length + 2;
}

/* The kernels that an image names, as far as it is not compressed: in PTX after ".entry", in
 * NVIDIA's machine code by a section ".text.NAME", in AMD's by a symbol "NAME.kd". Returns the room
 * that the list takes. */
static inline size_t gpumbi_list_kernels(const char *image, uint64_t bytes, char *names)
{
    static const char entry[] = ".entry ", section[] = ".text.", descriptor[] = ".kd";
    const int is_text = !memchr(image, 0, (size_t)bytes);
    size_t room = 1;
    for (uint64_t i = 0; i < bytes; i++) {
        const char *at = image + i;
        const size_t left = (size_t)(bytes - i);
        if (is_text && left > sizeof entry && !memcmp(at, entry, sizeof entry - 1)) {
            at += sizeof entry - 1;
            const char *const end = image + bytes;
            const char *name = at;
            while (at < end && !strchr(" (\t\r\n", *at))
                at++;
            gpumbi_list_name(names, &room, name, (size_t)(at - name));
        } else if (!is_text && (!i || !at[-1]) && *at) {
            const char *const end = (const char *)memchr(at, 0, left);
            const size_t length = end ? (size_t)(end - at) : 0;
            if (length > sizeof section && !memcmp(at, section, sizeof section - 1))
                gpumbi_list_name(names, &room, at + sizeof section - 1,
                                 length + 1 - sizeof section);
            else if (length > sizeof descriptor &&
                     !memcmp(end + 1 - sizeof descriptor, descriptor, sizeof descriptor))
                gpumbi_list_name(names, &room, at, length + 1 - sizeof descriptor);
            i += length;
        }
    }
    return room;
}

/* Each region that would launch what is missing says why it is. */
static inline void gpumbi_keep_reason(gpumb *g)
{
    gpumbi_copy_text(g->code.missing, sizeof g->code.missing, gpumbi_trouble(g));
}

/* Whether code can be loaded: not on the CPU, which has kernels of its own alone. */
static inline int gpumbi_code_loads(gpumb *g)
{
    if (gpumbi_runs_nothing(g))
        return 0;
    gpumbi_use(g, &gpumbi_code_tool);
    if (!gpumbi_is_cpu(g))
        return 1;
    gpumb_skip(g, "gpumb_load: the CPU has no code from elsewhere");
    gpumbi_keep_reason(g);
    return 0;
}

GPUMB_API gpumb_module *gpumb_load_image(gpumb *g, const void *image, uint64_t bytes,
                                         int max_registers, int optimization)
{
    char why[200] = "";
    gpumbi_severity severity;
    if ((g = gpumbi_enter(g)) == NULL || (!image && gpumbi_null(g, "gpumb_load_image")) ||
        !gpumbi_code_loads(g))
        return NULL;
    if (max_registers < 0 || optimization < -1 || optimization > 4) {
        gpumb_skip(g, "gpumb_load_image: %d registers, level %d: they can be from 0, and -1 to 4",
                   max_registers, optimization);
        gpumbi_keep_reason(g);
        return NULL;
    }
    const char *const text = (const char *)image;
    char *copy = (char *)gpumbi_allocate(g, (size_t)bytes + 1); /* PTX ends with a 0 */
    gpumb_module *m = copy ? (gpumb_module *)gpumbi_allocate(g, sizeof *m) : NULL;
    char *names = m ? (char *)gpumbi_allocate(g, gpumbi_list_kernels(text, bytes, NULL)) : NULL;
    if (names) {
        memcpy(copy, image, (size_t)bytes);
        copy[bytes] = 0;
        names[0] = 0;
        gpumbi_list_kernels(text, bytes, names);
        m->image = copy;
        m->names = names;
    }
    const int error =
        names ? gpumbi_dev_load(&m->loaded, copy, max_registers, optimization, why) : 0;
    if (names && !error) {
        m->next = g->code.modules;
        g->code.modules = m;
        return m;
    }
    why[strcspn(why, "\r\n")] = 0;
    if (error)
        gpumb_skip(g, "gpumb_load: %s%s%.120s", gpumbi_dev_error(error, &severity),
                   why[0] ? ": " : "", why);
    gpumbi_keep_reason(g);
    (void)gpumbi_dev_last_error();
    gpumbi_free(copy);
    gpumbi_free(names);
    gpumbi_free(m);
    return NULL;
}

GPUMB_API gpumb_module *gpumb_load(gpumb *g, const char *path)
{
    gpumb_module *m = NULL;
    if ((g = gpumbi_enter(g)) == NULL || (!path && gpumbi_null(g, "gpumb_load")) ||
        !gpumbi_code_loads(g))
        return NULL;
    gpumbi_file_state about;
    const int fd = gpumbi_open(path, O_RDONLY, 0);
    const int64_t bytes = fd >= 0 && !gpumbi_fstat(fd, &about) ? (int64_t)about.st_size : -1;
    char *image = bytes > 0 ? (char *)gpumbi_allocate(g, (size_t)bytes) : NULL;
    int64_t length = 0, got = image ? 1 : 0;
    while (got > 0 && length != bytes) {
        got = gpumbi_read(fd, image + length, (size_t)(bytes - length));
        length += got > 0 ? got : 0;
    }
    if (image && length == bytes)
        m = gpumb_load_image(g, image, (uint64_t)bytes, 0, -1);
    else if (!*gpumbi_trouble(g))
        gpumb_skip(g, "gpumb_load: %.120s: %s", path, bytes ? strerror(errno) : "it is empty");
    if (!m)
        gpumbi_keep_reason(g);
    gpumbi_free(image);
    if (fd >= 0)
        close(fd);
    return m;
}

/* How much of the list fits into a reason beside `others` letters: whole names, if one does. */
static inline int gpumbi_names_fit(const gpumb *g, const char *names, size_t others)
{
    const size_t room = sizeof g->trouble - sizeof ", ..." - others, length = strlen(names);
    size_t fit = length < room ? length : room;
    while (fit && names[fit] && names[fit] != ',')
        fit--;
    return (int)(fit || !length ? fit : room);
}

GPUMB_API const void *gpumb_function(gpumb *g, gpumb_module *from, const char *name)
{
    if ((g = gpumbi_enter(g)) == NULL || gpumbi_runs_nothing(g) || !from)
        return NULL; /* there is a reason already */
    const gpumb_module *m = g->code.modules;
    while (m && m != from)
        m = m->next;
    if (m && !name && m->names[0] && !strchr(m->names, ','))
        name = m->names;
    if (!m)
        gpumb_skip(g, "gpumb_function: it is no module of this context");
    const char *const names = m ? m->names : "";
    const int fit =
        gpumbi_names_fit(g, names, 40 + (name && strlen(name) < 60 ? strlen(name) : 60));
    const char *const rest = names[fit] ? ", ..." : "";
    if (m && !name)
        gpumb_skip(g, "gpumb_function: NULL for a name, and %s%.*s%s",
                   names[0] ? "there are " : "the module does not say which it has", fit, names,
                   rest);
    gpumbi_function *f =
        m && name ? (gpumbi_function *)gpumbi_allocate(g, sizeof *f) : (gpumbi_function *)NULL;
    if (f && !gpumbi_dev_find(&f->found, from->loaded, name)) {
        f->next = from->functions;
        from->functions = f;
        g->code.missing[0] = 0;
        return f;
    }
    if (f)
        gpumb_skip(g, "no kernel %.60s in this module%s%.*s%s", name, names[0] ? ", only " : "",
                   fit, names, rest);
    gpumbi_keep_reason(g);
    (void)gpumbi_dev_last_error();
    gpumbi_free(f);
    return NULL;
}

/* That of gpumb_function() at this address; NULL: it is a kernel of the program. */
static inline const gpumbi_function *gpumbi_find_function(const gpumb *g, const void *function)
{
    for (const gpumb_module *m = g->code.modules; m; m = m->next)
        for (const gpumbi_function *f = m->functions; f; f = f->next)
            if (f == function)
                return f;
    return NULL;
}

#endif

/* Launches a kernel of the program, by `launch`, or of a module; `how`: NULL for a plain launch. */
static inline void gpumbi_launch_by(gpumb *g, gpumbi_launcher *launch, const gpumbi_shape *shape,
                                    const gpumb_launch_config *how, const void *function,
                                    void **parameters)
{
    int error = 0;
    if (!function) {
#if defined(GPUMBI_MODULES)
        if (g->code.missing[0] && !*gpumbi_trouble(g))
            gpumb_skip(g, "%s", g->code.missing);
#endif
        gpumbi_null(g, "gpumb_launch");
        return;
    }
    if (gpumbi_is_cpu(g) && !*gpumbi_trouble(g))
        gpumb_skip(g, "launch of %s: the CPU launches kernels by GPUMB_LAUNCH alone", shape->name);
#if defined(GPUMBI_MODULES)
    g->code.launched = gpumbi_find_function(g, function);
    if (g->code.launched) {
        const void *const found = g->code.launched->found;
        const int begins = gpumbi_launch_begin(shape, found);
        g->code.launched = NULL;
        if (!begins)
            return;
        error = gpumbi_dev_launch_loaded(shape, how, found, parameters, g->stream);
    } else
#endif
    {
        if (!gpumbi_launch_begin(shape, function))
            return;
        error = launch(shape, how, function, parameters, g->stream);
    }
    gpumbi_try_launch(g, error, shape->name);
    gpumbi_launch_end();
}

GPUMB_API void gpumb_launch(gpumb *g, const char *name, const void *function,
                            const uint64_t grid[3], const uint64_t block[3], uint64_t shared_bytes,
                            void **parameters)
{
    g = gpumbi_context(g);
    if (!gpumbi_working(g) || gpumbi_runs_nothing(g))
        return;
    if (!grid || !block) {
        gpumbi_null(g, "gpumb_launch");
        return;
    }
    const gpumbi_shape shape = {name ? name : "kernel",
                                {grid[0], grid[1], grid[2]},
                                {block[0], block[1], block[2]},
                                shared_bytes,
                                0};
    gpumbi_launch_by(g, gpumbi_dev_launch, &shape, NULL, function, parameters);
}

GPUMB_API void gpumb_launch_ex(gpumb *g, const char *name, const void *function,
                               const gpumb_launch_config *how, void **parameters)
{
    g = gpumbi_context(g);
    if (!gpumbi_working(g) || gpumbi_runs_nothing(g) || (!how && gpumbi_null(g, "gpumb_launch_ex")))
        return;
    gpumb_launch_config all = *how;
    gpumbi_shape shape = {name ? name : "kernel", {1, 1, 1}, {1, 1, 1}, all.shared_bytes, 0};
    const int clusters = all.cluster[0] > 1 || all.cluster[1] > 1 || all.cluster[2] > 1;
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = all.grid[i] ? all.grid[i] : 1;
        shape.block[i] = all.block[i] ? all.block[i] : 1;
        all.cluster[i] = !clusters ? 0 : all.cluster[i] > 0 ? all.cluster[i] : 1;
    }
    const char *const arch = g->device.arch;
    const int nvidia = !strncmp(arch, "sm_", 3);
    if (((clusters || all.dependent) && (!nvidia || atoi(arch + 3) < 90)) ||
        (all.priority && !nvidia)) {
        gpumb_skip(g, "launch of %s refused: %s has no %s", shape.name, arch,
                   clusters        ? "clusters"
                   : all.dependent ? "programmatic dependent launches"
                                   : "priorities of launches");
        gpumbi_launch_fails(g);
        return;
    }
    gpumbi_sampler *s = g->region.in_body ? g->region.active : NULL;
    if (all.dependent && s && s->about.timing == GPUMB_TIMING_AUTO)
        s->about.timing = GPUMB_TIMING_GRAPH; /* what overlaps with the one before has no span */
    const int plain = !clusters && !all.cooperative && !all.priority && !all.dependent;
    gpumbi_launch_by(g, plain ? gpumbi_dev_launch : gpumbi_dev_launch_how, &shape,
                     plain ? NULL : &all, function, parameters);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* host pass */

/* ================================================================================================
 * RANDOM
 *
 * Keeps no state: numbers that depend on a seed and an index alone, on the host and in kernels.
 */

#if defined(GPUMB_BACKEND_CPU) /* there the kernels are host code */
GPUMBI_OPTIMIZED
#endif

#ifdef __cplusplus
#define GPUMBI_SHARED_CODE __host__ __device__
#else
#define GPUMBI_SHARED_CODE
#endif

GPUMBI_SHARED_CODE static inline uint64_t gpumbi_mix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Bits of a float in [-1, 1): 23 random bits make one in [1, 2), from which (x - 1.5) * 2. */
GPUMBI_SHARED_CODE static inline uint64_t gpumbi_f32_bits(uint32_t random)
{
    union {
        uint32_t u;
        float f;
    } x;
    x.u = (random >> 9) | UINT32_C(0x3f800000);
    x.f = (x.f - 1.5f) * 2.0f;
    return x.u;
}

GPUMBI_SHARED_CODE static inline uint64_t gpumbi_as_kind(int kind, uint64_t random)
{
    if (kind == GPUMB_FILL_F32)
        return gpumbi_f32_bits((uint32_t)random) | gpumbi_f32_bits((uint32_t)(random >> 32)) << 32;
    if (kind == GPUMB_FILL_F64) {
        union {
            uint64_t u;
            double d;
        } x;
        x.u = (random >> 12) | UINT64_C(0x3ff0000000000000);
        x.d = (x.d - 1.5) * 2.0;
        return x.u;
    }
    return random;
}

enum { GPUMBI_SAME = -1 }; /* in place of a gpumb_fill_kind: the seed itself */

GPUMBI_SHARED_CODE static inline uint64_t gpumbi_word(int kind, uint64_t seed, uint64_t i)
{
    return kind == GPUMBI_SAME ? seed : gpumbi_as_kind(kind, gpumbi_mix(seed, i));
}

#if defined(GPUMBI_STRICT)
#if !defined(GPUMB_BACKEND_CPU) && !defined(GPUMBI_DEVICE_PASS)
GPUMBI_OPTIMIZED /* checks may compute what is right from it on the host */
#endif

    GPUMBI_SHARED_CODE static inline uint32_t
    gpumbi_turn(uint32_t x, int left)
{
    return x << left | x >> (32 - left);
}

GPUMBI_SHARED_CODE static inline void gpumbi_quarter_round(uint32_t *a, uint32_t *b, uint32_t *c,
                                                           uint32_t *d)
{
    *a += *b, *d = gpumbi_turn(*d ^ *a, 16);
    *c += *d, *b = gpumbi_turn(*b ^ *c, 12);
    *a += *b, *d = gpumbi_turn(*d ^ *a, 8);
    *c += *d, *b = gpumbi_turn(*b ^ *c, 7);
}

/* A block of ChaCha with 8 rounds (Bernstein, "ChaCha, a variant of Salsa20", 2008), the number of
 * the block after the key, then the nonce, here the seed of a fill. Whoever knows words of it, but
 * not the key, can compute no others: the best attacks known reach 7 rounds, and those are far out
 * of reach (Aumasson, "Too much crypto", IACR ePrint 2019/1492). */
GPUMBI_SHARED_CODE static inline void gpumbi_cipher(const gpumbi_cipher_key *key, uint64_t seed,
                                                    uint64_t block, uint32_t *x)
{
    const uint32_t begin[16] = {0x61707865,       0x3320646e,
                                0x79622d32,       0x6b206574, /* "expand 32-byte k" */
                                key->word[0],     key->word[1],
                                key->word[2],     key->word[3],
                                key->word[4],     key->word[5],
                                key->word[6],     key->word[7],
                                (uint32_t)block,  (uint32_t)(block >> 32),
                                (uint32_t)(seed), (uint32_t)(seed >> 32)};
    for (int i = 0; i < 16; i++)
        x[i] = begin[i];
    for (int two = 0; two < 4; two++) {
        gpumbi_quarter_round(&x[0], &x[4], &x[8], &x[12]);
        gpumbi_quarter_round(&x[1], &x[5], &x[9], &x[13]);
        gpumbi_quarter_round(&x[2], &x[6], &x[10], &x[14]);
        gpumbi_quarter_round(&x[3], &x[7], &x[11], &x[15]);
        gpumbi_quarter_round(&x[0], &x[5], &x[10], &x[15]);
        gpumbi_quarter_round(&x[1], &x[6], &x[11], &x[12]);
        gpumbi_quarter_round(&x[2], &x[7], &x[8], &x[13]);
        gpumbi_quarter_round(&x[3], &x[4], &x[9], &x[14]);
    }
    for (int i = 0; i < 16; i++)
        x[i] += begin[i];
}

/* Where the j-th of a block's 8 words of 64 bits goes: 32 blocks share 256 words, of which each has
 * every 32nd, so that 32 threads with a block each write next to each other. */
GPUMBI_SHARED_CODE static inline uint64_t gpumbi_word_place(uint64_t block, int j)
{
    return block / 32 * 256 + (uint64_t)j * 32 + block % 32;
}

GPUMBI_SHARED_CODE static inline uint64_t gpumbi_secret_word(const gpumbi_cipher_key *key, int kind,
                                                             uint64_t seed, uint64_t i)
{
    uint32_t x[16];
    uint64_t word = 0;
    gpumbi_cipher(key, seed, i / 256 * 32 + i % 32, x);
    for (unsigned j = 0; j < 8; j++) /* not x[i / 32 % 8 ...], which keeps x out of registers */
        word = j == i / 32 % 8 ? x[2 * j] | (uint64_t)x[2 * j + 1] << 32 : word;
    return gpumbi_as_kind(kind, word);
}

#if !defined(GPUMB_BACKEND_CPU) && !defined(GPUMBI_DEVICE_PASS)
GPUMBI_UNOPTIMIZED
#endif
#endif /* GPUMBI_STRICT */

#if !defined(GPUMBI_DEVICE_PASS)

GPUMB_API uint64_t gpumb_fill_word(gpumb_fill_kind kind, uint64_t seed, uint64_t i)
{
    if (kind == GPUMB_FILL_ZERO)
        return 0;
#if defined(GPUMBI_STRICT)
    if (gpumbi_secret.is_set)
        return gpumbi_secret_word(&gpumbi_secret, (int)kind, seed, i);
#endif
    return gpumbi_word((int)kind, seed, i);
}

/* Draws an order of the numbers below `count` from the words of a seed, `first` and those after it
 * (Fisher & Yates, as by Durstenfeld, Comm. ACM 7, 1964). */
static inline void gpumbi_draw_order(size_t *order, size_t count, uint64_t seed, uint64_t first)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = gpumb_fill_word(GPUMB_FILL_BITS, seed, first + i);
        const size_t other = (size_t)(word % (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
}

#endif /* host pass */

/* ================================================================================================
 * BASIC KERNELS
 *
 * Keep no state: the kernels that every program has, to fill, compare, empty the caches and
 * calibrate. In a C translation unit, loops in BUFFERS fill and compare instead.
 */

/* What a comparison found, in device memory. */
typedef struct gpumbi_difference {
    unsigned long long count, first;
} gpumbi_difference;

#ifdef __cplusplus

/* Words of 8 bytes, if the address allows them; then what is left, byte by byte. */
static __device__ void gpumbi_fill_bytes(unsigned char *to, uint64_t bytes, int kind, uint64_t seed)
{
    const uint64_t words = (uintptr_t)to % 8 ? 0 : bytes / 8;
    GPUMB_GRID_STRIDE(i, bytes - words * 7) {
#if defined(__CUDA_ARCH__)
        asm volatile("" : "+r"(kind)); /* one loop, not one a kind: that compiles faster */
#endif
        const uint64_t at = i < words ? i * 8 : i + words * 7;
        const uint64_t word = gpumbi_word(kind, seed, at / 8);
        if (i < words)
            ((uint64_t *)to)[i] = word;
        else
            to[at] = (unsigned char)(word >> at % 8 * 8);
    }
}

/* The same. What differs in a word is folded into the lowest bit of each byte. */
static __device__ void gpumbi_compare_bytes(const unsigned char *a, const unsigned char *b,
                                            uint64_t bytes, gpumbi_difference *difference)
{
    const uint64_t words = ((uintptr_t)a | (uintptr_t)b) % 8 ? 0 : bytes / 8;
    GPUMB_GRID_STRIDE(i, bytes - words * 7) {
        const uint64_t at = i < words ? i * 8 : i + words * 7;
        unsigned long long differs = i < words ? ((const uint64_t *)a)[i] ^ ((const uint64_t *)b)[i]
                                               : (uint64_t)(a[at] ^ b[at]);
        if (differs) {
            differs |= differs >> 4;
            differs |= differs >> 2;
            differs |= differs >> 1;
            differs &= 0x0101010101010101ull;
            const unsigned long long below = (differs & (~differs + 1)) - 1; /* the lowest bit */
            atomicAdd(&difference->count, (unsigned long long)__popcll(differs));
            atomicMin(&difference->first, at + (unsigned long long)__popcll(below) / 8);
        }
    }
}

/* One kernel fills, compares and keeps the device busy: what nvcc adds to the host code for a
 * kernel takes the host compiler as long as 20 functions here. */
enum { GPUMBI_COMPARE = -2, GPUMBI_OCCUPY = -3 }; /* in place of a gpumb_fill_kind */

static __global__ void gpumbi_bytes_kernel(unsigned char *a, const unsigned char *b, uint64_t bytes,
                                           int kind, uint64_t seed, gpumbi_difference *difference)
{
    if (kind == GPUMBI_COMPARE)
        gpumbi_compare_bytes(a, b, bytes, difference);
    else
        gpumbi_fill_bytes(a, bytes, kind, seed);
#if !defined(GPUMB_BACKEND_CPU)
    while (kind == GPUMBI_OCCUPY && seed--)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
        asm volatile("nanosleep.u32 500;");
#else
        __threadfence();
#endif
#endif
}

#if defined(GPUMBI_STRICT)
/* What does not fill a word goes byte by byte, as all of an odd address. */
static __global__ void gpumbi_secret_kernel(unsigned char *to, uint64_t bytes, int kind,
                                            uint64_t seed, gpumbi_cipher_key key)
{
    const uint64_t words = (uintptr_t)to % 8 ? 0 : bytes / 8;
    GPUMB_GRID_STRIDE(block, (words + 255) / 256 * 32) {
        uint32_t x[16];
        gpumbi_cipher(&key, seed, block, x);
#if !defined(GPUMB_BACKEND_CPU)
#pragma unroll /* so that x is in registers */
#endif
        for (int j = 0; j < 8; j++)
            if (gpumbi_word_place(block, j) < words)
                ((uint64_t *)to)[gpumbi_word_place(block, j)] =
                    gpumbi_as_kind(kind, x[2 * j] | (uint64_t)x[2 * j + 1] << 32);
    }
    GPUMB_GRID_STRIDE(i, bytes - words * 8) {
        const uint64_t at = words * 8 + i;
        to[at] = (unsigned char)(gpumbi_secret_word(&key, kind, seed, at / 8) >> at % 8 * 8);
    }
}
#endif

static __global__ void gpumbi_empty_kernel(void)
{
}

#endif /* __cplusplus */

#if !defined(GPUMBI_DEVICE_PASS)
#ifdef __cplusplus
extern "C" {
#endif

static inline void gpumbi_launch_empty(uint64_t blocks, int block)
{
#ifdef __cplusplus
    GPUMB_LAUNCH(gpumbi_empty_kernel, blocks, block, 0);
#else
    (void)blocks, (void)block;
#endif
}

#ifdef __cplusplus
/* Enough blocks to fill the device, for loops. */
static inline uint64_t gpumbi_blocks(const gpumb *g)
{
    return 16 * (uint64_t)(g->device.multiprocessors > 0 ? g->device.multiprocessors : 1);
}

static inline void gpumbi_launch_bytes(const gpumb *g, void *a, const void *b, uint64_t bytes,
                                       int kind, uint64_t seed, gpumbi_difference *difference)
{
    GPUMB_LAUNCH(gpumbi_bytes_kernel, gpumbi_blocks(g), 256, 0, (unsigned char *)a,
                 (const unsigned char *)b, bytes, kind, seed, difference);
}

static inline void gpumbi_launch_fill(const gpumb *g, void *to, uint64_t bytes, int kind,
                                      uint64_t seed)
{
#if defined(GPUMBI_STRICT)
    if (gpumbi_secret.is_set)
        GPUMB_LAUNCH(gpumbi_secret_kernel, gpumbi_blocks(g), 256, 0, (unsigned char *)to, bytes,
                     kind, seed, gpumbi_secret);
    else
#endif
        gpumbi_launch_bytes(g, to, NULL, bytes, kind, seed, NULL);
}
#endif

/* Gives the device blocks to begin that take long, by so many naps each. Those of other streams
 * begin when the last of these has (T. Amert et al., GPU Scheduling on the NVIDIA TX2: Hidden
 * Details Revealed, RTSS 2017). They nap: behind blocks that spin, or wait for fences, mostly two
 * of eight kernels were left on one H100, and it has not been found why; behind these all eight. */
static inline void gpumbi_occupy(const gpumb *g, uint64_t naps)
{
#if defined(GPUMB_BACKEND_CPU)
    (void)g;
    gpumbi_dev_occupy(naps);
#else
    gpumbi_launch_bytes(g, NULL, NULL, 0, (int)GPUMBI_OCCUPY, naps, NULL);
#endif
}

#if defined(GPUMB_BACKEND_CPU)
GPUMBI_UNOPTIMIZED
#endif

/* ================================================================================================
 * BUFFERS
 *
 * Owns g->memory: buffers of all kinds of memory. Behind each lies a guard zone of known bytes: a
 * kernel that writes past the end is caught when its result is checked.
 */

/* Attached to buffers whose memory is not plainly the device's. */
struct gpumbi_other_memory {
    void (*count)(gpumb_memory kind, uint64_t bytes); /* all that there are, before they are made */
    int (*room)(gpumb_memory kind, uint64_t *free_bytes);
    int (*alloc)(void **p, uint64_t bytes, gpumb_memory kind);
    void (*free)(void *p, gpumb_memory kind);
    /* Of pageable memory, which kernels may not reach: fills it with a word; with what it was
     * filled before; and makes a buffer that they do reach, with its first bytes. */
    int (*fill)(gpumb *g, void *to, uint64_t bytes, uint64_t word, const char *what);
    void (*fill_again)(gpumb *g, gpumb_buffer *b);
    gpumb_buffer *(*reach)(gpumb *g, const gpumb_buffer *b, uint64_t bytes);
};

/* Sets a stretch of a buffer, in the order of the stream. */
static inline int gpumbi_set(gpumb *g, const gpumb_buffer *b, uint64_t offset, int byte,
                             uint64_t bytes, const char *what)
{
    char *const at = (char *)b->data + offset;
    if (b->kind == GPUMB_MEMORY_HOST)
        return b->other->fill(g, at, bytes, (uint64_t)byte * UINT64_C(0x0101010101010101), what);
    return gpumbi_try(g, gpumbi_dev_set(at, byte, bytes, g->stream), what);
}

#define gpumbi_set_guard(g, b)                                                                     \
    gpumbi_set(g, b, (b)->bytes, GPUMBI_GUARD_BYTE, GPUMBI_GUARD, "guard zone")

/* Whether there is room. More managed memory than the device has free moves to and fro between it
 * and the host, which has brought down drivers: a quarter keeps well away from that, also when the
 * device's memory fills up later. */
static inline int gpumbi_fits(gpumb *g, const struct gpumbi_other_memory *other, gpumb_memory kind,
                              uint64_t bytes)
{
    const int on_device = kind == GPUMB_MEMORY_DEVICE || kind == GPUMB_MEMORY_MANAGED;
    const uint64_t managed = gpumbi_fetch_add64(&gpumbi_managed_bytes, 0);
    uint64_t room = 0;
    if (gpumbi_try(g, other ? other->room(kind, &room) : gpumbi_dev_room(&room), "free memory"))
        return 0;
    const uint64_t left = kind == GPUMB_MEMORY_DEVICE ? room - bytes : room;
    if (bytes > room)
        gpumb_skip(g, "needs %s more %s memory, %s are free", gpumbi_write_size(bytes).text,
                   gpumbi_memory_name[kind], gpumbi_write_size(room).text);
    else if (on_device && managed > left / 4) /* what has been added already is in it */
        gpumb_skip(g,
                   "%s of managed memory would be more than a quarter of the %s that are free on "
                   "the device: take smaller buffers",
                   gpumbi_write_size(managed).text, gpumbi_write_size(left).text);
    else
        return 1;
    return 0;
}

/* How much memory a buffer takes beyond its own bytes: for the guard zone, and with --strict for
 * the places where it may begin. */
enum { GPUMBI_PLACES = 2048, GPUMBI_PLACE_BYTES = 512 };

static inline uint64_t gpumbi_beside(const gpumb *g)
{
    return GPUMBI_GUARD + (g->settings.strict ? GPUMBI_PLACES * GPUMBI_PLACE_BYTES : 0);
}

static inline void gpumbi_forget_output(gpumbi_description *about, const gpumb_buffer *b)
{
    for (int i = 0; i < about->outputs; i++)
        if (about->output[i] == b)
            about->output[i] = NULL;
}

GPUMB_API void gpumb_free(gpumb *g, gpumb_buffer *b)
{
    gpumb_buffer **link = NULL; /* looked up in all contexts: what is not there is not touched */
    gpumb *owner = gpumbi_newest;
    (void)g;
    for (; owner; owner = owner->previous) {
        for (link = &owner->memory.buffers; *link && *link != b;)
            link = &(*link)->next;
        if (*link)
            break;
    }
    if (!b || !owner)
        return;
    gpumbi_leave_body(owner);
    gpumbi_forget_output(&owner->region.next, b);
    gpumbi_forget_output(&owner->region.single.about, b);
    for (int i = 0; owner->interleave.lane && i < GPUMBI_INTERLEAVED; i++)
        gpumbi_forget_output(&owner->interleave.lane[i].about, b);
    *link = b->next;
    if (!b->wrapped && b->other) {
        b->other->free((char *)b->data - b->shift, b->kind);
        b->other->count(b->kind, ~(b->bytes + gpumbi_beside(owner)) + 1);
    } else if (!b->wrapped) {
        gpumbi_dev_mfree((char *)b->data - b->shift);
    }
    gpumb_free(owner, b->twin); /* unless it is gone already */
    gpumbi_free(b);
}

/* Frees what was made in this scope, and in those inside it. */
static inline void gpumbi_free_scope(gpumb *g, int scope)
{
    for (gpumb_buffer *b = g->memory.buffers, *next; b; b = next) {
        next = b->next;
        if (b->scope >= scope)
            gpumb_free(g, b);
    }
    if (g->memory.missing[0] && g->memory.missing_scope >= scope) {
        char none[sizeof g->trouble] = "";
        gpumbi_trouble_swap(g, none);
        g->memory.missing[0] = 0;
    }
}

/* What is made from now on belongs to this scope: 0 the context, 1 a benchmark, 2 the pass of a
 * sweep, which ends in the one around it. */
static inline void gpumbi_set_scope(gpumb *g, int scope)
{
    g->memory.scope = scope;
    if (scope < 2)
        g->memory.outer_scope = scope;
}

static inline void gpumbi_forget_fill(gpumb *g)
{
    g->memory.fill[0] = 0;
    g->memory.seed = 0;
}

static inline void gpumbi_buffers_free(gpumb *g)
{
    gpumbi_free_scope(g, 0);
}

GPUMBI_TOOL(gpumbi_buffers_tool, BUFFERS, NULL, GPUMBI_NO_REGION, GPUMBI_NO_ROWS,
            {NULL, gpumbi_buffers_free});

static inline gpumb_buffer *gpumbi_add_buffer(gpumb *g, const struct gpumbi_other_memory *other,
                                              gpumb_memory kind, void *memory, uint64_t bytes)
{
    gpumb_buffer *b = (gpumb_buffer *)gpumbi_allocate(g, sizeof *b);
    if (!b)
        return NULL;
    gpumbi_use(g, &gpumbi_buffers_tool);
    b->data = memory;
    b->bytes = bytes;
    b->kind = kind;
    b->other = other;
    b->fill = GPUMB_FILL_ZERO;
    b->scope = g->memory.scope;
    b->next = g->memory.buffers;
    g->memory.buffers = b;
    return b;
}

static inline gpumb_buffer *gpumbi_try_alloc(gpumb *g, const struct gpumbi_other_memory *other,
                                             gpumb_memory kind, uint64_t bytes)
{
    char what[40];
    const uint64_t padded = bytes + gpumbi_beside(g);
    if (padded < bytes) {
        gpumb_skip(g, "needs %llu bytes", (unsigned long long)bytes);
        return NULL;
    }
    void *data = NULL;
    gpumbi_format(what, sizeof what, "allocation of %s memory", gpumbi_memory_name[kind]);
    if (other)
        other->count(kind, padded);
    const int fits =
        gpumbi_fits(g, other, kind, padded) &&
        !gpumbi_try(g, other ? other->alloc(&data, padded, kind) : gpumbi_dev_malloc(&data, padded),
                    what);
    gpumb_buffer *b = fits ? gpumbi_add_buffer(g, other, kind, data, bytes) : NULL;
    if (b) {
        gpumbi_set_guard(g, b);
    } else if (other) {
        other->count(kind, ~padded + 1);
        if (data)
            other->free(data, kind);
    } else if (data) {
        gpumbi_dev_mfree(data);
    }
    return b;
}

static inline gpumb_buffer *gpumbi_alloc(gpumb *g, const struct gpumbi_other_memory *other,
                                         gpumb_memory kind, uint64_t bytes)
{
    if ((g = gpumbi_enter(g)) == NULL || gpumbi_runs_nothing(g))
        return NULL;
    gpumb_buffer *b = gpumbi_try_alloc(g, other, kind, bytes);
    if (b && g->settings.strict && !(b->twin = gpumbi_try_alloc(g, other, kind, bytes))) {
        gpumb_free(g, b);
        b = NULL;
    }
    if (!b && !g->region.active && !g->memory.missing[0]) {
        gpumbi_copy_text(g->memory.missing, sizeof g->memory.missing, g->trouble);
        g->memory.missing_scope = g->memory.scope;
    }
    return b;
}

/* One that lives as long as the context. */
static inline gpumb_buffer *gpumbi_alloc_for_context(gpumb *g, uint64_t bytes)
{
    gpumb_buffer *b = gpumbi_try_alloc(g, NULL, GPUMB_MEMORY_DEVICE, bytes);
    if (b)
        b->scope = 0;
    return b;
}

GPUMB_API gpumb_buffer *gpumb_alloc(gpumb *g, uint64_t bytes)
{
    return gpumbi_alloc(g, NULL, GPUMB_MEMORY_DEVICE, bytes);
}

GPUMB_API void *gpumb_data(const gpumb_buffer *b)
{
    return b ? b->data : NULL;
}

GPUMB_API uint64_t gpumb_size(const gpumb_buffer *b)
{
    return b ? b->bytes : 0;
}

/* Copies, and waits for it; like gpumbi_try() 0 if all is well. */
static inline int gpumbi_copy_now(gpumb *g, void *to, const void *from, uint64_t bytes,
                                  const char *what)
{
    return gpumbi_try(g, gpumbi_dev_copy(to, from, bytes, g->stream), what) ||
           gpumbi_try(g, gpumbi_dev_wait(g->stream), what);
}

/* Between a stretch of a buffer and the host. */
static inline int gpumbi_transfer(gpumb *g, const gpumb_buffer *b, uint64_t offset, uint64_t bytes,
                                  void *to_host, const void *from_host)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return -1;
    if (!b || (!to_host && !from_host)) {
        gpumbi_null(g, "gpumb_read or gpumb_write");
        return -1;
    }
    if (offset > b->bytes || bytes > b->bytes - offset) {
        gpumb_skip(g, "%s at %llu: outside a buffer of %llu", gpumbi_count(bytes, "byte").text,
                   (unsigned long long)offset, (unsigned long long)b->bytes);
        return -1;
    }
    char *data = (char *)b->data + offset;
    return -gpumbi_copy_now(g, to_host ? to_host : data, to_host ? data : from_host, bytes, "copy");
}

GPUMB_API int gpumb_read(gpumb *g, const gpumb_buffer *b, uint64_t offset, void *host,
                         uint64_t bytes)
{
    return bytes ? gpumbi_transfer(g, b, offset, bytes, host, NULL) : b ? 0 : -1;
}

GPUMB_API int gpumb_write(gpumb *g, gpumb_buffer *b, uint64_t offset, const void *host,
                          uint64_t bytes)
{
    if (b)
        b->fill = GPUMB_FILL_ZERO;
    return bytes ? gpumbi_transfer(g, b, offset, bytes, NULL, host) : b ? 0 : -1;
}

/* 1 if a managed buffer is there to be moved or advised on. */
static inline int gpumbi_is_managed(gpumb *g, const gpumb_buffer *b, const char *function)
{
    if (!gpumbi_working(g) || gpumbi_runs_nothing(g))
        return 0;
    if (!b)
        gpumbi_null(g, function);
    else if (b->kind != GPUMB_MEMORY_MANAGED)
        gpumb_skip(g, "%s is for managed memory, this is %s memory", function,
                   gpumbi_memory_name[b->kind]);
    return b && b->kind == GPUMB_MEMORY_MANAGED;
}

GPUMB_API void gpumb_prefetch(gpumb *g, const gpumb_buffer *b, gpumb_memory to)
{
    g = gpumbi_context(g);
    if (!gpumbi_is_managed(g, b, "gpumb_prefetch"))
        return;
    const int ordinal = to == GPUMB_MEMORY_DEVICE ? g->device.ordinal : -1;
    if (to != GPUMB_MEMORY_DEVICE && to != GPUMB_MEMORY_HOST)
        gpumb_skip(g, "gpumb_prefetch goes to GPUMB_MEMORY_DEVICE or GPUMB_MEMORY_HOST");
    else
        gpumbi_try(g, gpumbi_dev_prefetch(b->data, b->bytes, ordinal, g->stream), "prefetch");
}

GPUMB_API void gpumb_advise(gpumb *g, const gpumb_buffer *b, gpumb_advice advice)
{
    /* cudaMemAdviseSetReadMostly is 1, _Unset... 2, ...PreferredLocation 3 and 4, ...AccessedBy 5
     * and 6, and so are HIP's; on NVIDIA these begin at 0. */
    static const struct {
        signed char of, number, host;
    } table[] = {{GPUMB_ADVICE_NONE, 2, 0},         {GPUMB_ADVICE_NONE, 4, 0},
                 {GPUMB_ADVICE_NONE, 6, 0},         {GPUMB_ADVICE_NONE, 6, 1},
                 {GPUMB_ADVICE_READ_MOSTLY, 1, 0},  {GPUMB_ADVICE_PREFER_DEVICE, 3, 0},
                 {GPUMB_ADVICE_PREFER_HOST, 3, 1},  {GPUMB_ADVICE_DEVICE_ACCESSES, 5, 0},
                 {GPUMB_ADVICE_HOST_ACCESSES, 5, 1}};
    g = gpumbi_context(g);
    if (gpumbi_unknown(g, "gpumb_advise", (int)advice, GPUMB_ADVICE_HOST_ACCESSES + 1) ||
        !gpumbi_is_managed(g, b, "gpumb_advise"))
        return;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].of == (int)advice &&
            gpumbi_try(g,
                       gpumbi_dev_advise(b->data, b->bytes, table[i].number,
                                         table[i].host ? -1 : g->device.ordinal),
                       "advice"))
            return;
}

/* 1 if no guard zone was written to; mends them all, so that the next row starts clean, and makes
 * that the reason of a result that was `right` so far. */
static inline int gpumbi_guards_intact(gpumb *g, int right)
{
    int intact = 1;
    for (const gpumb_buffer *b = g->memory.buffers; b; b = b->next) {
        unsigned char guard[GPUMBI_GUARD];
        if (b->wrapped)
            continue;
        if (gpumbi_copy_now(g, guard, (const char *)b->data + b->bytes, sizeof guard, "guard zone"))
            return 0;
        for (int i = 0; i < GPUMBI_GUARD; i++)
            if (guard[i] != GPUMBI_GUARD_BYTE) {
                if (right && intact)
                    gpumb_reason(g, "wrote past the end of a buffer of %s, at offset %llu",
                                 gpumbi_count(b->bytes, "byte").text,
                                 (unsigned long long)b->bytes + (unsigned long long)i);
                gpumbi_set_guard(g, b);
                intact = 0;
                break;
            }
    }
    return intact;
}

/* The same words as those of a kernel. */
static inline void gpumbi_fill_host(void *to, uint64_t bytes, int kind, uint64_t seed)
{
    for (uint64_t at = 0; at < bytes; at += 8) {
        const uint64_t word =
            kind == GPUMBI_SAME ? seed : gpumb_fill_word((gpumb_fill_kind)kind, seed, at / 8);
        memcpy((char *)to + at, &word, (size_t)(bytes - at < 8 ? bytes - at : 8));
    }
}

/* With what it was filled before, by the key of now. */
static inline void gpumbi_fill_again(gpumb *g, gpumb_buffer *b)
{
    if (b->fill == GPUMB_FILL_ZERO)
        return;
#ifdef __cplusplus
    if (b->kind == GPUMB_MEMORY_HOST && !gpumbi_is_cpu(g))
        b->other->fill_again(g, b);
    else
        gpumbi_launch_fill(g, b->data, b->bytes, (int)b->fill, b->seed);
#else
    gpumbi_fill_host(b->data, b->bytes, (int)b->fill, b->seed);
    (void)g;
#endif
}

/* A buffer, and so much after it. */
static inline void gpumbi_poison(gpumb *g, gpumb_buffer *b, uint64_t behind)
{
    const uint64_t poison =
        (uintptr_t)b->data % 2 ? UINT64_C(0xfd7ffd7ffd7ffd7f) : UINT64_C(0x7ffd7ffd7ffd7ffd);
    b->fill = GPUMB_FILL_ZERO;
    if (b->kind == GPUMB_MEMORY_HOST) {
        b->other->fill(g, b->data, b->bytes + behind, poison, "poison");
        return;
    }
#ifdef __cplusplus
    gpumbi_launch_bytes(g, b->data, NULL, b->bytes + behind, GPUMBI_SAME, poison, NULL);
#else
    if (!gpumbi_try(g, gpumbi_dev_wait(g->stream), "poison"))
        gpumbi_fill_host(b->data, b->bytes + behind, GPUMBI_SAME, poison);
#endif
}

GPUMB_API void gpumb_poison(gpumb *g, gpumb_buffer *b)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    if (b)
        gpumbi_poison(g, b, 0);
    else
        gpumbi_null(g, "gpumb_poison");
}

GPUMB_API void gpumb_fill(gpumb *g, gpumb_buffer *b, gpumb_fill_kind kind, uint64_t seed)
{
    static const char *const name[] = {"bits", "f32", "f64", "zero"};
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    if (!b)
        gpumbi_null(g, "gpumb_fill");
    if (!b || gpumbi_unknown(g, "gpumb_fill", (int)kind, GPUMB_FILL_ZERO + 1))
        return;
    gpumbi_copy_text(g->memory.fill, sizeof g->memory.fill, name[kind]);
    g->memory.seed = b->seed = seed;
    b->fill = kind;
    if (kind == GPUMB_FILL_ZERO)
        gpumbi_set(g, b, 0, 0, b->bytes, "fill");
    gpumbi_fill_again(g, b);
}

#ifdef __cplusplus
/* A buffer that kernels can read instead of this one: itself, or one on the device, with the first
 * bytes of it. gpumbi_done() frees that. */
static inline gpumb_buffer *gpumbi_reachable(gpumb *g, const gpumb_buffer *b, uint64_t bytes)
{
    return b && b->kind == GPUMB_MEMORY_HOST && !gpumbi_is_cpu(g) ? b->other->reach(g, b, bytes)
                                                                  : (gpumb_buffer *)b;
}

static inline void gpumbi_done(gpumb *g, const gpumb_buffer *b, gpumb_buffer *reachable)
{
    if (reachable != b)
        gpumb_free(g, reachable);
}

/* Room on the device for what a comparison finds, kept for the next one: each run that is checked
 * needs it. NULL: the launch that follows does nothing. */
static inline gpumbi_difference *gpumbi_difference_begin(gpumb *g)
{
    const uint64_t each = sizeof(gpumbi_difference) / 2;
    if (!g->memory.difference && !gpumbi_runs_nothing(g))
        g->memory.difference = gpumbi_alloc_for_context(g, 2 * each);
    for (int i = 0; i < 2 && g->memory.difference; i++) /* {0, ~0ull}, and no wait for it */
        gpumbi_set(g, g->memory.difference, (uint64_t)i * each, i ? 0xff : 0, each, "comparison");
    return GPUMB_PTR(gpumbi_difference, g->memory.difference);
}

static inline int gpumbi_difference_end(gpumb *g, gpumbi_difference *found)
{
    if (!gpumb_read(g, g->memory.difference, 0, found, sizeof *found) && !*gpumbi_trouble(g))
        return 0;
    gpumb_free(g, g->memory.difference); /* its guard zone may not have been set */
    g->memory.difference = NULL;
    return 1;
}
#endif

GPUMB_API uint64_t gpumb_compare(gpumb *g, const gpumb_buffer *a, const gpumb_buffer *b,
                                 uint64_t bytes, uint64_t *first)
{
    gpumbi_difference found = {0, ~0ull};
    uint64_t differing = bytes;
    if (first)
        *first = 0;
    if ((g = gpumbi_enter(g)) == NULL)
        return differing;
    if (!a || !b) {
        gpumb_reason(g, "gpumb_compare: a buffer is NULL");
        return differing;
    }
    if (bytes > a->bytes || bytes > b->bytes) {
        gpumb_reason(g, "gpumb_compare: %s of buffers of %llu and %llu",
                     gpumbi_count(bytes, "byte").text, (unsigned long long)a->bytes,
                     (unsigned long long)b->bytes);
        return differing;
    }
#ifdef __cplusplus
    gpumbi_difference *difference = gpumbi_difference_begin(g);
    gpumb_buffer *here = gpumbi_reachable(g, a, bytes);
    gpumb_buffer *there = gpumbi_reachable(g, b, bytes);
    gpumbi_launch_bytes(g, gpumb_data(here), gpumb_data(there), bytes, (int)GPUMBI_COMPARE, 0,
                        difference);
    gpumbi_done(g, a, here);
    gpumbi_done(g, b, there);
    if (!gpumbi_difference_end(g, &found))
        differing = found.count;
#else
    const unsigned char *p = (const unsigned char *)a->data, *q = (const unsigned char *)b->data;
    for (uint64_t i = bytes; i-- > 0;)
        if (p[i] != q[i]) {
            found.count++;
            found.first = i;
        }
    differing = found.count;
#endif
    if (first)
        *first = found.count ? found.first : 0;
    return differing;
}

/* ---- memory that is not the device's --------------------------------------------------------- */

static inline void gpumbi_count_managed(gpumb_memory kind, uint64_t bytes)
{
    if (kind == GPUMB_MEMORY_MANAGED)
        (void)gpumbi_fetch_add64(&gpumbi_managed_bytes, bytes);
}

/* The verbs may be macros. */
static inline int gpumbi_other_room(gpumb_memory kind, uint64_t *free_bytes)
{
    return gpumbi_dev_memory(kind, free_bytes);
}

static inline int gpumbi_other_alloc(void **p, uint64_t bytes, gpumb_memory kind)
{
    return gpumbi_dev_alloc(p, bytes, kind);
}

static inline void gpumbi_other_free(void *p, gpumb_memory kind)
{
    gpumbi_dev_free(p, kind);
}

/* When the device, which may not reach it, is through with what comes before. */
static inline int gpumbi_pageable_fill(gpumb *g, void *to, uint64_t bytes, uint64_t word,
                                       const char *what)
{
    if (gpumbi_try(g, gpumbi_dev_wait(g->stream), what))
        return 1;
    gpumbi_fill_host(to, bytes, GPUMBI_SAME, word);
    return 0;
}

static inline gpumb_buffer *gpumbi_pageable_reach(gpumb *g, const gpumb_buffer *b, uint64_t bytes)
{
    gpumb_buffer *reachable = gpumb_alloc(g, b->bytes);
    gpumb_write(g, reachable, 0, b->data, bytes);
    return reachable;
}

static inline void gpumbi_pageable_fill_again(gpumb *g, gpumb_buffer *b)
{
#ifdef __cplusplus
    gpumb_buffer *filled = gpumb_alloc(g, b->bytes);
    gpumbi_launch_fill(g, gpumb_data(filled), b->bytes, (int)b->fill, b->seed);
    if (filled)
        gpumb_read(g, filled, 0, b->data, b->bytes);
    gpumb_free(g, filled);
#else /* there is no kernel */
    (void)g, (void)b;
#endif
}

/* NULL: it is the device's. */
static inline const struct gpumbi_other_memory *gpumbi_other(gpumb_memory kind)
{
    static const struct gpumbi_other_memory table = {
        gpumbi_count_managed, gpumbi_other_room,          gpumbi_other_alloc,   gpumbi_other_free,
        gpumbi_pageable_fill, gpumbi_pageable_fill_again, gpumbi_pageable_reach};
    return kind == GPUMB_MEMORY_DEVICE ? NULL : &table;
}

GPUMB_API gpumb_buffer *gpumb_alloc_kind(gpumb *g, gpumb_memory kind, uint64_t bytes)
{
    if (gpumbi_unknown(g, "gpumb_alloc_kind", (int)kind, GPUMB_MEMORY_HOST + 1))
        return NULL;
    return gpumbi_alloc(g, gpumbi_other(kind), kind, bytes);
}

GPUMB_API gpumb_buffer *gpumb_wrap(gpumb *g, void *memory, uint64_t bytes)
{
    if ((g = gpumbi_enter(g)) == NULL || gpumbi_runs_nothing(g))
        return NULL;
    if (!memory) {
        gpumbi_null(g, "gpumb_wrap");
        return NULL;
    }
    const gpumb_memory kind = gpumbi_dev_kind(memory);
    gpumb_buffer *b = gpumbi_add_buffer(g, gpumbi_other(kind), kind, memory, bytes);
    if (b)
        b->wrapped = 1;
    return b;
}

/* ================================================================================================
 * CLOCK
 *
 * Owns g->clock and the calibration figures in g->device, which are taken once per context, before
 * its first region, in about 10 ms on a GPU; and the buffer that empties the caches.
 */

/* An event pair around a graph, or without one around `launches` empty kernels. Returns 0 and the
 * seconds, or 1. */
static inline int gpumbi_time_launches(gpumb *g, void *graph, int launches, double *seconds)
{
    if (gpumbi_try(g, gpumbi_dev_record(g->start, g->stream), "event") ||
        (graph && gpumbi_try(g, gpumbi_dev_graph_launch(graph, g->stream), "graph")))
        return 1;
    for (int i = 0; i < launches; i++)
        gpumbi_launch_empty(1, 32);
    return gpumbi_try(g, gpumbi_dev_record(g->stop, g->stream), "event") ||
           gpumbi_try(g, gpumbi_dev_elapsed(g->start, g->stop, seconds), "event") ||
           !gpumbi_working(g) || *gpumbi_trouble(g) != 0;
}

/* What one more empty kernel of so many blocks adds to a graph; 0 where there are no graphs. */
static inline double gpumbi_empty_slope(gpumb *g, uint64_t blocks, int block)
{
    enum { rounds = 9, runs = 100 };
    double seconds[2][rounds + 1];
    int tried = 0;
    for (int i = 0; i < 2; i++) {
        void *graph = NULL;
        tried = 0;
        if (gpumbi_dev_capture_begin(g->stream))
            break;
        for (int run = 0; run < runs << (2 * i); run++)
            gpumbi_launch_empty(blocks, block);
        (void)gpumbi_dev_capture_end(g->stream, &graph, NULL);
        for (; graph && tried <= rounds; tried++) /* the first one uploads the graph */
            if (gpumbi_time_launches(g, graph, 0, &seconds[i][tried]))
                break;
        if (graph)
            gpumbi_dev_graph_destroy(graph);
        if (tried <= rounds)
            break;
    }
    (void)gpumbi_dev_last_error();
    if (tried <= rounds) {
        *gpumbi_trouble(g) = 0; /* that there are no graphs is no error */
        return 0;
    }
    return (gpumb_statistics(seconds[1] + 1, rounds).median -
            gpumb_statistics(seconds[0] + 1, rounds).median) /
           (3 * runs);
}

static inline void gpumbi_measure_clock(gpumb *g)
{
    enum { rounds = 64, batches = 15, launches = 100 };
    double pair[rounds], kernel[rounds], batch[batches];
    double ignored;
    if (gpumbi_time_launches(g, NULL, 1, &ignored)) /* loads the module */
        return;
    for (int i = 0; i < rounds; i++)
        if (gpumbi_time_launches(g, NULL, 0, &pair[i]) ||
            gpumbi_time_launches(g, NULL, 1, &kernel[i]))
            return;
    for (int i = 0; i < batches; i++)
        if (gpumbi_time_launches(g, NULL, launches, &batch[i]))
            return;
    g->device.empty_kernel_s = gpumb_statistics(kernel, rounds).median;
    g->device.floor_s = gpumb_statistics(pair, rounds).median;
    g->device.interval_s = gpumb_statistics(batch, batches).median / gpumbi_real(launches);
    /* Both are sorted now: the quantum is the smallest step between two readings that differ by
     * more than the rounding of the runtime's float milliseconds. */
    for (int i = 0; i < 2 * rounds - 2; i++) {
        const double *sorted = i < rounds - 1 ? pair + i : kernel + (i - (rounds - 1));
        const double step = sorted[1] - sorted[0];
        if (step > 0.5e-9 && (g->device.quantum_s <= 0 || step < g->device.quantum_s))
            g->device.quantum_s = step;
    }
    if (gpumbi_is_cpu(g))
        return;
    const uint64_t blocks = 16 * (uint64_t)g->device.multiprocessors;
    g->device.graph_interval_s = gpumbi_empty_slope(g, 1, 32);
    if (g->device.graph_interval_s <= 0) /* no graphs */
        return;
    g->device.block_launch_s =
        gpumbi_max(gpumbi_empty_slope(g, blocks, 256) - g->device.graph_interval_s, 0) /
        gpumbi_real(blocks);
}

/* Before the first region, or when somebody asks for the figures. */
static inline void gpumbi_calibrate(gpumb *g)
{
    char aside[sizeof g->trouble] = "";
    if (g->clock.calibrated++ || !g->start || g->done || g->settings.profile)
        return;
    gpumbi_trouble_swap(g, aside);
    gpumbi_measure_clock(g);
    if (!g->done && g->trouble[0])
        gpumbi_end(g, GPUMB_EXIT_ERROR, "calibration failed: %s", g->trouble);
    gpumbi_trouble_swap(g, aside);
}

GPUMB_API const gpumb_device *gpumb_get_device(gpumb *g)
{
    g = gpumbi_context(g);
    if (!g->clock.calibrated)
        (void)gpumbi_dev_last_error(); /* of what the program has done before */
    gpumbi_calibrate(g);
    return &g->device;
}

/* Orders later work of the other streams after the context's stream so far, or (`joins`) theirs so
 * far before its later work. 1: it can't be. */
static inline int gpumbi_order_streams(gpumb *g, void *const *stream, int count, int joins)
{
    int failed = (!g->clock.fork && gpumbi_dev_event_create(&g->clock.fork)) ||
                 (!g->clock.join && gpumbi_dev_event_create(&g->clock.join)) ||
                 (!joins && gpumbi_dev_record(g->clock.fork, g->stream));
    for (int i = 0; i < count && !failed; i++)
        failed = joins ? gpumbi_dev_record(g->clock.join, stream[i]) ||
                             gpumbi_dev_await(g->stream, g->clock.join)
                       : gpumbi_dev_await(stream[i], g->clock.fork);
    return failed;
}

/* Empties the caches by reading a buffer of 2.5 times their size. Meanwhile, what regions wrote is
 * written back; and since the device is busy, what follows is queued and starts without launch
 * gaps. Where launching takes longer than one reading at the memory's peak, as it may from Python,
 * there are up to 15 more readings: one more or less than last time, which follows the median and
 * not an interrupted host. Without a sampler returns the seconds of an empty kernel after that; 0
 * after an error. Half of these take 0.16 us more than the others (H100), and a median jumps
 * between the two: the midpoint of the quartiles does not. Launches that a busy host has delayed
 * move it by 0.1 us at most, up to three in four of them. */
static inline double gpumbi_empty_caches(gpumb *g, gpumbi_sampler *s)
{
    enum { most = 15, rounds = 31 };
    double seconds[rounds];
    const uint64_t least = (uint64_t)32 << 20, last = gpumbi_last_cache(&g->device);
    const uint64_t each = (last > least ? last : least) / 512 * 640; /* half of it */
    int readings = gpumbi_is_cpu(g) || g->settings.profile ? 0 : rounds;
    if (s) {
        const double more = s->run.launching_s * g->device.peak_bytes_per_s / gpumbi_real(2 * each);
        readings = s->run.evictions;
        if (more >= readings + 1 && readings < most && s->use_events)
            readings++;
        else if (more < readings)
            readings--;
        s->run.evictions = readings++;
    }
    if (!g->clock.evictor) {
        g->clock.evictor = gpumbi_alloc_for_context(g, 2 * each);
        if (!g->clock.evictor ||
            gpumbi_try(g, gpumbi_dev_set(gpumb_data(g->clock.evictor), 0, 2 * each, g->stream),
                       "memset"))
            return 0;
    }
    const char *const first = GPUMB_PTR(const char, g->clock.evictor);
    for (int i = 0; i < readings; i++) {
        /* both halves are zeros: their comparison reads, and writes nothing */
#ifdef __cplusplus
        gpumbi_launch_bytes(g, (void *)first, first + each, each, (int)GPUMBI_COMPARE, 0, NULL);
#else
        volatile int read = memcmp(first, first + each, (size_t)each); /* else it is left out */
        (void)read;
#endif
        if (!s && gpumbi_time_launches(g, NULL, 1, &seconds[i]))
            return 0;
    }
    if (s || !readings)
        return 0;
    qsort(seconds, rounds, sizeof *seconds, gpumbi_compare_doubles);
    const double lower_s = seconds[rounds / 4], apart_s = seconds[3 * rounds / 4] - lower_s;
    return lower_s + (apart_s < 0.2e-6 ? apart_s / 2 : 0.1e-6);
}

/* The rate of the vendor's copy on buffers well above the caches, once per context: on the CPU of
 * four times the last one's size (McCalpin, STREAM's rules for runs), of which a short program
 * spends most of its time. On a GPU one event pair encloses several copies: around a single one it
 * would add more than 1 %. */
static inline void gpumbi_measure_ceiling(gpumb *g)
{
    enum { rounds = 7 };
    double seconds[rounds];
    const int is_cpu = gpumbi_is_cpu(g), copies = is_cpu ? 1 : 8;
    const uint64_t most = (uint64_t)1 << (is_cpu ? 28 : 30), enough = 4 * g->device.l2_bytes;
    const uint64_t bytes = is_cpu && enough && enough < most ? enough : most;
    uint64_t free_bytes = 0;
    void *from = NULL, *to = NULL;
    int tries = 0;
    if (g->clock.ceiling_tried++)
        return;
    if (gpumbi_dev_room(&free_bytes) || free_bytes / 4 < bytes)
        return;
    if (!gpumbi_dev_malloc(&from, bytes) && !gpumbi_dev_malloc(&to, bytes) &&
        !gpumbi_dev_set(from, 0x5a, bytes, g->stream) &&
        !gpumbi_dev_set(to, 0x5a, bytes, g->stream))
        for (; tries < rounds; tries++) {
            int failed = gpumbi_dev_record(g->start, g->stream);
            for (int i = 0; i < copies && !failed; i++)
                failed = gpumbi_dev_copy(to, from, bytes, g->stream);
            if (failed || gpumbi_dev_record(g->stop, g->stream) ||
                gpumbi_dev_elapsed(g->start, g->stop, &seconds[tries]))
                break;
        }
    if (from)
        gpumbi_dev_mfree(from);
    if (to)
        gpumbi_dev_mfree(to);
    const double median = tries == rounds ? gpumb_statistics(seconds, rounds).median : 0;
    if (median > 0)
        g->device.ceiling_bytes_per_s = 2 * gpumbi_real(bytes) * copies / median;
}

/* Hooks emptying the caches in: few one-offs have cold regions. */
static inline void gpumbi_caches_use(gpumb *g)
{
    g->clock.empty_caches = gpumbi_empty_caches;
}

/* It is not measured where a row has it: one for all rows. */
static inline void gpumbi_ceiling_known(gpumb *g, double bytes_per_s)
{
    if (bytes_per_s <= 0 || g->device.ceiling_bytes_per_s > 0)
        return;
    g->device.ceiling_bytes_per_s = bytes_per_s;
    g->clock.ceiling_tried = 1;
}

/* ================================================================================================
 * SAMPLING
 *
 * Takes a gpumbi_sampler from its first run to its statistics, with its graphs. gpumbi_run_begin()
 * prepares one timed stretch of `left` runs of the body, gpumbi_run_end() evaluates it and chooses
 * the next phase. Graphs are captured in two such stretches; their samples need no body.
 */

/* What plugs into the runs of a region, in a context that uses it: see INSTRUMENTS. */
struct gpumbi_instruments {
    void (*begin)(gpumb *g, gpumbi_sampler *s); /* of the region */
    int (*renew)(gpumb *g, gpumbi_sampler *s);  /* before a run; 1: its buffers were renewed */
    void (*start)(gpumb *g, gpumbi_sampler *s); /* right before the body */
    void (*stop)(gpumbi_sampler *s);            /* after it */
    void (*copy_outputs)(gpumb *g, const gpumbi_sampler *s); /* after it, if strict.due */
    double (*seconds)(const gpumbi_sampler *s);   /* that it took, if profiled; 0: unknown */
    int (*check)(gpumb *g, gpumbi_sampler *s);    /* 1: its result is right */
    void (*choose)(gpumb *g, gpumbi_sampler *s);  /* the way of timing, if profiled */
    void (*count)(gpumb *g, gpumbi_sampler *s);   /* the region has been timed */
    void (*counted)(gpumb *g, gpumbi_sampler *s); /* it has run in the phase for that */
    void (*release)(gpumbi_sampler *s);           /* what it holds of the device */
};

/* What a tenth of a second of samples can't show: clocks and caches wander over seconds, and every
 * capture into a graph differs. Medians of rows of one kernel in one process, taken in turn with
 * others, differ (standard deviation, H200, three runs, bench/results/h200-levels.csv) by 0.01 ...
 * 0.08 % if graphs time them, by up to 0.33 % if event pairs do; those of 0.5 ... 8 us by up to 20
 * ns, since what the gap between kernels hides differs. Twice that share of the median is added to
 * every interval in quadrature, as an uncertainty of type B (JCGM 100:2008, Guide to the expression
 * of uncertainty in measurement, 5.1.2), and that of the gap to those of launch-bound rows. */
#define GPUMBI_REPRODUCIBLE 0.0015
#define GPUMBI_REPRODUCIBLE_EVENT 0.004
#define GPUMBI_REPRODUCIBLE_GAP 0.007
#define GPUMBI_REPRODUCIBLE_BOUND 0.08

/* Nor do samples show what a coarse clock hides: the median of readings is a reading, off by up to
 * half a quantum to either side, of which the standard uncertainty is 1/sqrt(12) (ibid., 4.3.7);
 * two of these. With 100 ... 150 quanta to a sample, 92 ... 100 % of the intervals hold then, in
 * place of 78 ... 96 (tests/test_sampling.cpp has such clocks). */
#define GPUMBI_QUANTA 0.58

static inline void gpumbi_widen(double at, double by, double *lo, double *hi)
{
    *lo = gpumbi_max(at - hypot(at - *lo, by), 0);
    *hi = at + hypot(*hi - at, by);
}

/* By how much samples with this median may be off without showing it. */
static inline double gpumbi_hidden(const gpumbi_sampler *s, double median)
{
    const int drifts = s->use_events; /* on the host every sample wanders by more */
    const double share =
        s->result.timing == GPUMB_TIMING_EVENT ? GPUMBI_REPRODUCIBLE_EVENT : GPUMBI_REPRODUCIBLE;
    const double slow =
        hypot(drifts * share * median, drifts * GPUMBI_REPRODUCIBLE_GAP * s->result.overhead_s);
    return hypot(slow, GPUMBI_QUANTA * s->quantum_s / gpumbi_real(s->result.batch));
}

static inline gpumb_stats gpumbi_statistics_now(gpumbi_sampler *s)
{
    memcpy(s->samples.scratch, s->samples.values,
           (size_t)s->samples.count * sizeof *s->samples.values);
    const int stopped = /* or may be, at this look */
        s->result.stop <= GPUMB_STOP_PRECISION && !s->samples.fixed;
    gpumb_stats now = gpumbi_summarize(s->samples.scratch, s->samples.scratch + s->samples.count,
                                       s->samples.count, 0.95, stopped);
    gpumbi_widen_few(s->samples.scratch, &now, GPUMBI_FEW_TIMES);
    if (now.count >= 6)
        gpumbi_widen(now.median, gpumbi_hidden(s, now.median), &now.ci_lo, &now.ci_hi);
    return now;
}

/* Whether more samples are of no use: the interval is narrow enough; or nearly all of its width is
 * uncertainty that samples can't show, so that more could narrow it by a tenth at most. */
static inline int gpumbi_suffices(gpumbi_sampler *s, double precision)
{
    const gpumb_stats now = gpumbi_statistics_now(s);
    const double hidden = gpumbi_hidden(s, now.median) / now.median;
    return gpumbi_half_width(&now) <= (hidden > precision ? 1.1 * hidden : precision);
}

/* ---- the device's state ---------------------------------------------------------------------- */

/* Whether the power is to be read at `now_s`, of a device that a region has kept busy since
 * `since_s`. A reading is the mean of a window of up to 100 ms that ended up to 100 ms ago (seen on
 * an H200), so that the first 0.2 s describe what came before. Every 20 ms is often enough, and a
 * reading of AMD's sensors is not free. */
static inline int gpumbi_power_due(const gpumbi_power *p, double since_s, double now_s)
{
    return now_s - since_s >= 0.2 && now_s >= p->next_s;
}

static inline void gpumbi_power_add(gpumbi_power *p, double now_s, double power_w)
{
    p->next_s = now_s + 20e-3;
    if (power_w > 0) {
        p->sum_w += power_w;
        p->count++;
    }
}

/* Joules of one run, of `energy_j` in the `seconds` that `runs` runs of `run_s` each took with the
 * gaps between them; 0: can't be told. The gaps count as part of the runs. They draw less than a
 * run, so that the figure is at most as much too high as they are long: 1/9 of the runs. */
static inline double gpumbi_energy_per_run(double energy_j, double runs, double run_s,
                                           double seconds)
{
    return energy_j > 0 && runs >= 1 && runs * run_s >= 0.9 * seconds ? energy_j / runs : 0;
}

/* What the sensors say as sampling ends. Power is not read for interleaved regions: it would be
 * that of all of them. */
static inline void gpumbi_state_after(const gpumbi_state *state, gpumbi_sampler *s)
{
    gpumb_result *r = &s->result;
    r->sm_clock_hz = state->sm_clock_hz;
    r->memory_clock_hz = state->memory_clock_hz;
    r->temperature_c = state->temperature_c;
    r->throttle = state->throttle;
    r->others = state->others > r->others ? state->others : r->others; /* before, or now */
    if (s->samples.power.count) {
        const double watts = s->samples.power.sum_w / gpumbi_real(s->samples.power.count);
        const double seconds = gpumbi_dev_clock() - s->samples.began_s;
        const uint64_t runs = s->graphs.graph[1] ? s->graphs.runs[0] + s->graphs.runs[1] : r->batch;
        const double median = gpumbi_statistics_now(s).median + r->overhead_s;
        r->energy_j = gpumbi_energy_per_run(watts * seconds,
                                            gpumbi_real(runs * (s->samples.count + s->samples.bad)),
                                            median, seconds);
        r->power_w = r->energy_j > 0 ? watts : 0;
    }
}

static inline void gpumbi_fail(gpumbi_sampler *s, gpumb_status status, const char *reason)
{
    s->result.status = status;
    gpumbi_copy_text(s->result.reason, sizeof s->result.reason, reason);
    s->phase = GPUMBI_FINISHED;
}

/* Trouble in the body or around it: skip the row, or, the run having ended, drop it. */
static inline int gpumbi_in_trouble(gpumb *g, gpumbi_sampler *s)
{
    const char *ended = s->about.skip[0] ? s->about.skip : g->trouble;
    if (g->done)
        gpumbi_fail(s, GPUMB_STATUS_FAILED, ended[0] ? ended : "interrupted");
    else if (s->about.skip[0])
        gpumbi_fail(s, GPUMB_STATUS_SKIPPED, s->about.skip);
    return s->phase == GPUMBI_FINISHED;
}

static inline void gpumbi_free_graphs(gpumbi_sampler *s)
{
    for (int i = 0; i < 2; i++) {
        if (s->graphs.graph[i])
            gpumbi_dev_graph_destroy(s->graphs.graph[i]);
        s->graphs.graph[i] = NULL;
    }
}

/* Frees the sampler's graphs and instruments. */
static inline void gpumbi_release(const gpumb *g, gpumbi_sampler *s)
{
    gpumbi_free_graphs(s);
    if (g->instruments)
        g->instruments->release(s);
}

/* Removes samples that are 0 or less, or not finite. */
static inline void gpumbi_drop_bad_times(gpumbi_sampler *s)
{
    uint64_t kept = 0;
    for (uint64_t k = 0; k < s->samples.count; k++)
        if (gpumbi_finite(s->samples.values[k]) && s->samples.values[k] > 0)
            s->samples.values[kept++] = s->samples.values[k];
    if (kept < s->samples.count)
        s->result.flags |= GPUMB_FLAG_BAD_TIME;
    s->samples.count = kept;
    if (!kept && s->result.status == GPUMB_STATUS_OK)
        gpumbi_fail(s, GPUMB_STATUS_FAILED, "no time of more than zero was given");
}

/* ---- one run, or one batch ------------------------------------------------------------------- */

static inline void gpumbi_sample_room(gpumb *g, gpumbi_sampler *s, uint64_t room)
{
    const size_t bytes = (size_t)room * sizeof(double);
    if (s->samples.capacity >= room)
        return;
    gpumbi_free(s->samples.values);
    gpumbi_free(s->samples.scratch);
    s->samples.values = (double *)gpumbi_allocate(g, bytes);
    s->samples.scratch = s->samples.values ? (double *)gpumbi_allocate(g, 3 * bytes) : NULL;
    s->samples.capacity = s->samples.scratch ? room : 0;
}

static inline void gpumbi_sampler_start(gpumb *g, gpumbi_sampler *s)
{
    gpumb_result *r = &s->result;
    const int has_events = !gpumbi_is_cpu(g);
    const int given = s->about.meaning != GPUMB_MEANING_NONE;
    uint64_t room = g->settings.max_samples;
    room = room < s->about.given ? s->about.given : room;
    s->use_events = has_events && !g->settings.profile && s->about.timing != GPUMB_TIMING_HOST &&
                    s->about.meaning != GPUMB_MEANING_LATENCY;
    r->timing = given ? GPUMB_TIMING_GIVEN : s->use_events ? GPUMB_TIMING_EVENT : GPUMB_TIMING_HOST;
    r->meaning = s->about.meaning;
    s->quantum_s = !given && (s->use_events || !has_events) ? g->device.quantum_s : 0;
    r->batch = 1;
    r->verified = r->registers = r->kernels = r->throttle = r->others = -1;
    r->occupancy = -1;
    s->phase = GPUMBI_FIRST;
    s->samples.fixed = g->settings.min_samples == g->settings.max_samples;
    gpumbi_sample_room(g, s, room);
    if (!gpumbi_in_trouble(g, s) && g->instruments)
        g->instruments->begin(g, s);
}

/* Whether something has to happen before each run. */
static inline int gpumbi_one_run(const gpumbi_sampler *s)
{
    return s->about.reset || s->about.cache == GPUMB_CACHE_COLD;
}

/* How many runs make a sample. One, if launching and timing it costs less than the wanted
 * precision; else as many as bring the cost below that, within what a launch queue holds without
 * blocking (1024 on NVIDIA). */
static inline void gpumbi_choose_batch(gpumb *g, gpumbi_sampler *s, double run_s)
{
    const gpumb_timing wanted = s->about.timing;
    const double cost_s =
        g->device.empty_kernel_s > 0 ? g->device.empty_kernel_s : 20 * g->device.quantum_s;
    const double target_s = gpumbi_min(cost_s / g->settings.precision, 1e-3);
    const double work_s =
        gpumbi_max(run_s - g->device.floor_s, gpumbi_max(g->device.interval_s, 1e-9));
    double batch = run_s < target_s ? ceil(target_s / work_s) : 1;
    if (wanted == GPUMB_TIMING_BATCH)
        batch = gpumbi_max(batch, 2);
    if (gpumbi_one_run(s) || s->profiled || wanted == GPUMB_TIMING_EVENT ||
        wanted == GPUMB_TIMING_HOST)
        batch = 1;
    s->result.batch = (uint64_t)gpumbi_min(batch, 1000);
    if (s->result.batch > 1 && s->use_events) /* host code runs one after the other all the same */
        s->result.timing = GPUMB_TIMING_BATCH;
}

/* An event pair around a body that waits times the host: where 9 runs of 10, each longer than
 * launching an empty kernel makes it, have left an idle device behind, the host's clock does that
 * better. A body that may be captured can still have a span; if that fails, this is asked again. */
static inline void gpumbi_choose_clock(gpumb *g, gpumbi_sampler *s, double run_s)
{
    const int waits = s->use_events && !s->profiled && !(s->about.capturable && s->capturable) &&
                      s->about.timing != GPUMB_TIMING_GRAPH && s->waits.runs >= 3 &&
                      10 * s->waits.waited >= 9 * s->waits.runs &&
                      run_s > 2 * g->device.empty_kernel_s;
    if (waits)
        s->result.flags |= GPUMB_FLAG_HOST_BOUND;
    if (waits && s->about.timing == GPUMB_TIMING_AUTO) {
        s->about.timing = s->result.timing = GPUMB_TIMING_HOST;
        s->use_events = s->capturable = 0;
        s->result.flags &= ~(unsigned)GPUMB_FLAG_OTHER_STREAMS; /* it waits for all of them */
        s->quantum_s = s->result.overhead_s = 0;
        s->pace.runs = s->pace.windows = 0; /* of another clock */
    }
    gpumbi_choose_batch(g, s, run_s);
}

/* Times it without; the line is for those who have asked for a graph. `error` or the text of a body
 * that has skipped itself in the capture says more than `why`. */
static inline void gpumbi_give_up_graphs(gpumb *g, gpumbi_sampler *s, int error, const char *why)
{
    gpumbi_severity severity;
    if (s->about.skip[0])
        why = s->about.skip;
    else if (error)
        why = gpumbi_dev_error(error, &severity);
    if (s->about.timing == GPUMB_TIMING_GRAPH || s->about.capturable)
        gpumbi_say(
            "%s: timed without a graph: %s; in a capture it must not wait, allocate, copy to "
            "the host or launch on another stream",
            gpumbi_kernel_name(&s->result), why);
    s->capturable = s->waits.count = 0;
    s->waits.occupied = 0;
    s->about.skip[0] = 0;
    (void)gpumbi_dev_last_error();
    s->result.flags &= ~(unsigned)GPUMB_FLAG_LAUNCH_FAILED; /* if it does, it will again */
    gpumbi_free_graphs(s);
    gpumbi_choose_clock(g, s, s->warm_up.estimate_s);
    s->phase = GPUMBI_SAMPLE;
}

/* Whether the long graph is captured next; a short one of 0 runs is not captured. */
static inline int gpumbi_second_graph(const gpumbi_sampler *s)
{
    return s->graphs.graph[0] || !s->graphs.runs[0];
}

/* Whether runs of the body are recorded, and nothing of it runs on the device. */
static inline int gpumbi_captured(const gpumbi_sampler *s)
{
    return s->phase == GPUMBI_CAPTURE || s->phase == GPUMBI_WITNESS;
}

/* Before (`joins`: behind) a run of a body that uses several streams. */
static inline void gpumbi_order(gpumb *g, gpumbi_sampler *s, int joins)
{
    const gpumbi_description *about = &s->about;
    if (about->order)
        gpumbi_try(g, about->order(g, about->stream, about->streams, joins), "stream");
}

static inline void gpumbi_run_begin(gpumb *g, gpumbi_sampler *s)
{
    const gpumbi_description *about = &s->about;
    const int checked = s->phase == GPUMBI_FIRST || s->phase == GPUMBI_RECHECK;
    const int renewed = g->instruments && g->instruments->renew(g, s);
    if (checked || renewed)
        for (int i = 0; i < about->outputs; i++)
            if (about->output[i]) /* not freed since */
                about->poison(g, about->output[i]);
    s->run.prepared_s = gpumbi_dev_clock();
    if (about->reset)
        about->reset(g, about->reset_user);
    if (about->cache == GPUMB_CACHE_COLD && !checked && !gpumbi_captured(s))
        g->clock.empty_caches(g, s);
    if (s->phase == GPUMBI_WITNESS) /* what a hook has done, on whatever stream, is none of its */
        gpumbi_try_launch(g, gpumbi_dev_wait_all(), "kernel");
    else if (checked || renewed || s->counting || s->profiled || !s->use_events)
        gpumbi_try(g, gpumbi_dev_wait(g->stream), "wait");
    if (g->instruments)
        g->instruments->start(g, s);
    if (s->waits.occupied)
        gpumbi_occupy(g, s->waits.occupied);
    const int refused = gpumbi_captured(s) ? gpumbi_dev_capture_begin(g->stream) : 0;
    if (refused)
        gpumbi_give_up_graphs(g, s, refused, "");
    if (gpumbi_captured(s)) {
        s->run.left = s->phase == GPUMBI_CAPTURE ? s->graphs.runs[gpumbi_second_graph(s)]
                      : s->waits.occupied        ? GPUMBI_KEPT_RUNS
                                                 : 1;
        gpumbi_order(g, s, 0);
        return;
    }
    const int all = s->phase == GPUMBI_PROFILE && !gpumbi_one_run(s);
    s->run.left = all                         ? (uint64_t)g->settings.profile
                  : s->phase == GPUMBI_SAMPLE ? s->result.batch
                                              : 1;
    s->run.began_s = gpumbi_dev_clock();
    if (!checked && s->use_events && !s->profiled && !s->counting)
        gpumbi_try(g, gpumbi_dev_record(g->start, g->stream), "event");
    gpumbi_order(g, s, 0);
    if (!gpumbi_in_trouble(g, s) && s->phase == GPUMBI_PROFILE)
        s->samples.count += s->run.left;
}

/* ---- work that a time leaves out ---------------------------------------------------------------
 *
 * A wait for the whole device, after one for the region's streams, tells whether others had work.
 * On an H200 (driver 580) it takes 0.41 ... 0.48 us if they had none since the last such wait, 1.56
 * us and more if they had some, even if that has long ended, and as long as what is left of it.
 * With PyTorch in the process it takes 1.6 ... 2.8 us and 3.1 ... 5.1, the latter also after a
 * backward pass, which is honest. */

/* From this many times an idle device's wait on, the median of nine waits shows that others had
 * work: it was 3.4 ... 24 times after that (H200, 136 rounds), 1.4 ... 3.5 if it had long ended
 * (H100), and 2.0 ... 2.6 after honest bodies in 4 rounds of 3567 (H100), in none of which the
 * other rounds of the row were so, too: a row is flagged if two rounds are. From 2 times on that
 * flagged 14 of 450 honest rows on a second H100 (tests/levels.cu). */
#define GPUMBI_TOUCHED 2.3

/* Waits for the device, and once more when it is idle, which says what that takes on this machine.
 * The legacy stream, of which the other waits tell nothing, comes first. Returns when the device
 * was idle; 0 after an error. */
static inline double gpumbi_look(gpumb *g, double *first_s, double *idle_s)
{
    double at[3];
    if (gpumbi_try_launch(g, gpumbi_dev_wait(g->stream), "kernel") ||
        gpumbi_try_launch(g, gpumbi_dev_wait(NULL), "kernel"))
        return 0;
    for (int i = 0; i < 3; i++) {
        if (i && gpumbi_try_launch(g, gpumbi_dev_wait_all(), "kernel"))
            return 0;
        at[i] = gpumbi_dev_clock();
    }
    *first_s = at[1] - at[0];
    *idle_s = at[2] - at[1];
    return at[1];
}

/* Whether the middle one of the first waits, or `all` of them, is more than `times` the middle one
 * of the second, for an idle device, and `more_s`: an interrupted host makes single ones long. */
static inline int gpumbi_waits(const gpumbi_sampler *s, int all, double times, double more_s)
{
    const int looks = GPUMBI_LOOKS;
    const uint64_t count = (uint64_t)(s->waits.count < looks ? s->waits.count : looks);
    const uint64_t middle = (count - 1) / 2;
    return gpumbi_select(s->waits.wait_s[0], count, all ? 0 : middle) >
           times * gpumbi_select(s->waits.wait_s[1], count, middle) + more_s;
}

/* The waits of a whole round show work on other streams. Once may be chance: another follows, after
 * which the row fails. Where other processes are on the device, too, two are no proof, for the
 * device may have been theirs: such a row is flagged, unless its kernel may try to hide among them.
 * Returns whether that decides: the region goes on with another round, or has ended. */
static inline int gpumbi_works_elsewhere(const gpumb *g, gpumbi_sampler *s)
{
    gpumbi_state state;
    if (s->waits.told == 2) {
        gpumbi_dev_state(g->sensors, &state);
        if (state.others > 0 && !g->settings.strict) {
            s->result.flags |= GPUMB_FLAG_OTHER_STREAMS;
            return 0;
        }
        gpumbi_fail(
            s, GPUMB_STATUS_FAILED,
            "it works on another stream than gpumb_stream(): launch there, or name yours by "
            "gpumb_set_stream() or gpumb_set_streams()");
    }
    s->waits.count = 0;
    s->waits.told = 2;
    return 1;
}

/* Behind runs that an event pair has timed, others went on if a wait was so many times as long as
 * for an idle device. Work of others that has ended, or that the stream has waited for, makes it 4
 * times as long (1.56 us by 0.41, see above): 6 leaves half as much again for noise. How AMD's
 * runtime does that has not been measured: there 20 us more have to be left. */
#define GPUMBI_LEFT_OVER 6
#if defined(GPUMBI_NVIDIA) || defined(GPUMB_BACKEND_CPU)
#define GPUMBI_LEFT_OVER_S 0
#else
#define GPUMBI_LEFT_OVER_S 20e-6
#endif

/* No more looks are to come. Of slow runs there were too few for two rounds, so all have to show
 * it: two of three may be long by chance. Where nothing can be captured, that other streams had
 * work is no proof that it is missing: the stream may have waited for it. The row says so, unless
 * the streams have been named, from 2.5 times on: the least after work that had long ended, see
 * GPUMBI_TOUCHED. */
static inline void gpumbi_last_look(const gpumb *g, gpumbi_sampler *s, double run_s)
{
    const int least = s->waits.told == 2 ? 1 : 3;
#if defined(GPUMBI_NVIDIA) || defined(GPUMB_BACKEND_CPU)
    if (s->waits.count >= least && !s->capturable && !s->about.streams &&
        gpumbi_waits(s, 0, 2.5, 0))
        s->result.flags |= GPUMB_FLAG_OTHER_STREAMS;
#endif
    if (s->waits.count < least || s->waits.count == GPUMBI_LOOKS ||
        !gpumbi_waits(s, 1, GPUMBI_LEFT_OVER, GPUMBI_LEFT_OVER_S + run_s / 10))
        return;
    s->waits.told = 2;
    gpumbi_works_elsewhere(g, s);
}

#if defined(GPUMBI_MODULES)
/* What one run launches. Where it is a launch of the library's, RESULT has the figures of that. */
static inline void gpumbi_note_nodes(gpumbi_sampler *s, const gpumbi_nodes *nodes)
{
    gpumb_result *r = &s->result;
    r->kernels = nodes->kernels;
    s->kernel.depth = nodes->depth;
    gpumbi_copy_line(r->nodes, sizeof r->nodes, nodes->text);
    if (!r->kernel[0])
        gpumbi_copy_text(r->kernel, sizeof r->kernel, nodes->name);
    r->registers = nodes->registers;
    r->occupancy = nodes->occupancy;
}
#else
#define gpumbi_note_nodes(s, nodes) ((void)(s), (void)(nodes))
#endif

/* A capture has taken all that an honest body launches: the device does not notice it. Compares
 * with captures of an empty kernel, which take turns with those of the body. Not with empty ones:
 * in one region of twenty (H100, driver 580) the wait after a capture of any kernel took 2.05 us,
 * as after foreign work, and 0.9 after an empty one.
 *
 * In a first round the device is free: copies, and whatever else takes long, are left. Code of
 * others may touch other streams without working there (a backward pass of PyTorch), and so may
 * hooks and several streams: what has ended is flagged; to fail, the wait has to be longer by 10
 * us, twice all that what has ended took there (5.1 us).
 *
 * Short kernels end before the host looks. So in a second round, of bodies that may run several
 * times in a row and are not slow to launch, others have to wait until the captures are over, and
 * what all runs have launched elsewhere is left: of kernels of 2 to 100 us at least 38 us in 692
 * rounds (two H100s), after honest bodies at most 3.0 us in 1100. */
#define GPUMBI_LEFT_S 8e-6
#define GPUMBI_SLOW_S 0.5e-3

static inline void gpumbi_witness_end(gpumb *g, gpumbi_sampler *s)
{
    double ignored;
    const int launch_error = gpumbi_dev_last_error();
    const uint64_t occupied = s->waits.occupied;
    gpumbi_order(g, s, 1);
    gpumbi_nodes nodes;
    const int asked = !occupied && !s->waits.count && !s->waits.told; /* it takes time */
    int error = gpumbi_dev_capture_end(g->stream, NULL, asked ? &nodes : NULL);
    if (error || launch_error || s->about.skip[0]) {
        gpumbi_give_up_graphs(g, s, launch_error ? launch_error : error, "");
        return;
    }
    if (asked)
        gpumbi_note_nodes(s, &nodes);
    if (occupied && occupied < GPUMBI_MOST_NAPS && gpumbi_dev_idle(g->stream)) {
        s->waits.occupied *= 2; /* the device was free before the captures were over: again */
        return;
    }
    if (gpumbi_look(g, &s->waits.wait_s[0][s->waits.count], &ignored) <= 0)
        return; /* the region is skipped */
    if (occupied)
        gpumbi_occupy(g, occupied);
    error = gpumbi_dev_capture_begin(g->stream);
    if (!error) {
        gpumbi_launch_empty(1, 32);
        error = gpumbi_dev_capture_end(g->stream, NULL, NULL);
    }
    if (error) {
        gpumbi_give_up_graphs(g, s, error, "");
        return;
    }
    if (gpumbi_look(g, &s->waits.wait_s[1][s->waits.count], &ignored) <= 0 ||
        ++s->waits.count < GPUMBI_LOOKS)
        return;
    double left_s[GPUMBI_LOOKS]; /* beyond what is left after captures of an empty kernel */
    for (int i = 0; i < GPUMBI_LOOKS; i++)
        left_s[i] = s->waits.wait_s[0][i] - s->waits.wait_s[1][i];
    const int left = occupied
                         ? gpumbi_select(left_s, GPUMBI_LOOKS, GPUMBI_LOOKS / 2) > GPUMBI_LEFT_S
                         : gpumbi_waits(s, 0, GPUMBI_TOUCHED, 10e-6);
    if (left && gpumbi_works_elsewhere(g, s))
        return;
    if (!occupied) {
        const int again = s->waits.told, touched = gpumbi_waits(s, 0, GPUMBI_TOUCHED, 0);
        const int more = !s->about.reset && s->run.launching_s <= GPUMBI_SLOW_S;
        s->waits.told = touched && !again;
        if (touched && again)
            s->result.flags |= GPUMB_FLAG_OTHER_STREAMS;
        if (s->waits.told || more) {
            s->waits.occupied = s->waits.told ? 0 : GPUMBI_NAPS;
            s->waits.count = 0;
            return;
        }
    }
    s->waits.occupied = 0;
    s->phase = s->graphs.runs[1] ? GPUMBI_CAPTURE : GPUMBI_SAMPLE;
}

/* Seconds since gpumbi_run_begin(), by the region's own clock. Launches that the library has not
 * seen, kernel<<<>>>, may be in the legacy stream, for which a wait for another stream does not
 * wait, or, where no event tells, in any. */
static inline double gpumbi_run_seconds(gpumb *g, gpumbi_sampler *s)
{
    double seconds = 0, ended_s = 0;
    const int checked = s->phase == GPUMBI_FIRST || s->phase == GPUMBI_RECHECK;
    const int has_events = s->use_events && !s->profiled && !s->counting;
    int failed;
    s->run.launching_s = gpumbi_dev_clock() - s->run.began_s;
    const int looks = has_events && !s->strict.due && (checked || s->waits.count < GPUMBI_LOOKS);
#if !defined(GPUMBI_NVIDIA) && !defined(GPUMB_BACKEND_CPU)
    /* ROCm before 7 forgets an error with the next call that succeeds */
    gpumbi_try_launch(g, gpumbi_dev_last_error(), "launch");
#endif
    if (looks && s->phase == GPUMBI_WARM_UP) {
        /* Right after a body, before anything else is in its streams: whether these are idle
         * already. One that waits, reads back or only works on the host leaves them so. */
        gpumbi_try_launch(g, gpumbi_dev_last_error(), "launch");
        int idle = gpumbi_dev_idle(g->stream) && gpumbi_dev_idle(NULL);
        for (int i = 0; i < s->about.streams && idle; i++)
            idle = gpumbi_dev_idle(s->about.stream[i]);
        s->waits.runs++;
        s->waits.waited += idle;
    }
    gpumbi_order(g, s, 1);
    if (has_events && !checked) {
        failed = gpumbi_try(g, gpumbi_dev_record(g->stop, g->stream), "event");
        if (s->strict.due)
            g->instruments->copy_outputs(g, s);
        failed |= gpumbi_try_launch(g, gpumbi_dev_elapsed(g->start, g->stop, &seconds), "kernel");
    } else {
        failed = gpumbi_try_launch(g, gpumbi_dev_wait(g->stream), "kernel") ||
                 (!s->kernel.launches &&
                  gpumbi_try_launch(g, has_events ? gpumbi_dev_wait(NULL) : gpumbi_dev_wait_all(),
                                    "kernel"));
    }
    if (!failed && looks) {
        const int at = s->waits.count++ % GPUMBI_LOOKS;
        ended_s = gpumbi_look(g, &s->waits.wait_s[0][at], &s->waits.wait_s[1][at]);
    }
    if (looks && !checked && s->waits.count == GPUMBI_LOOKS &&
        gpumbi_waits(s, 0, GPUMBI_LEFT_OVER, GPUMBI_LEFT_OVER_S + seconds / 10))
        gpumbi_works_elsewhere(g, s);
    if (!failed && !checked && s->profiled) {
        seconds = g->instruments->seconds(s);
    } else if (!failed && (checked || !has_events)) {
        seconds = (has_events ? ended_s : gpumbi_dev_clock()) - s->run.began_s;
    }
    if (!has_events && s->strict.due)
        g->instruments->copy_outputs(g, s);
    gpumbi_try_launch(g, gpumbi_dev_last_error(), "launch"); /* of an unchecked kernel<<<>>> */
    return seconds;
}

static inline void gpumbi_check_result(gpumb *g, gpumbi_sampler *s)
{
    int right = 1;
    g->why[0] = 0;
    if (g->instruments)
        right = g->instruments->check(g, s);
    else if (s->about.check)
        right = s->about.check(g, s->about.check_user) != 0;
    right &= gpumbi_guards_intact(g, right);
    if (s->about.check || !right)
        s->result.verified = right;
    const int recheck = s->phase == GPUMBI_RECHECK;
    if (gpumbi_in_trouble(g, s) || right)
        return;
    gpumbi_fail(s, GPUMB_STATUS_FAILED, g->why[0] ? g->why : "wrong result");
    if (recheck && !s->about.reset && !g->settings.strict)
        gpumbi_say("%s: right after its first run, wrong after the last: if it changes its own "
                   "input, set gpumb_set_reset()",
                   gpumbi_kernel_name(&s->result));
}

/* ---- pace: whether times still move ---------------------------------------------------------- */

/* Adds the time of a run to a window of 5 ms of the host's clock, or two runs, or a tenth of the
 * warm-up: whichever takes long enough for a slow kernel and leaves a few windows. A window's level
 * is the mean of its runs, so that a coarse clock shows what moves by less than its quantum; what
 * is far from the median counts as less far. Returns 1 if the window has ended. */
static inline int gpumbi_pace_add(gpumb *g, gpumbi_sampler *s, double now_s, double seconds,
                                  int ends)
{
    double *const run = s->pace.run, *const level = s->pace.level;
    const double length_s = now_s - s->pace.began_s, most_s = gpumbi_max(g->settings.warmup_s, 0);
    if (seconds > 0)
        run[s->pace.runs++] = seconds;
    if (!s->pace.runs && !s->pace.levels)
        return 0;
    /* of two regions that take turns in being first, each is both in a window, which may matter */
    const int turns = g->interleave.open && g->interleave.lanes == 2 ? 2 : 1;
    ends |= length_s >= gpumbi_min(5e-3, most_s / 20) &&
            (((s->pace.levels || s->pace.runs >= 2) && s->pace.runs % turns == 0) ||
             length_s >= most_s / 10);
    if (s->pace.runs == GPUMBI_WINDOW || (ends && !s->pace.levels)) {
        const gpumb_stats w = gpumb_statistics(run, (uint64_t)s->pace.runs);
        const double reach = gpumbi_max(3 * (w.q3 - w.q1), 2 * s->quantum_s);
        s->pace.sum += w.median;
        for (uint64_t i = 0; i < w.count; i++)
            s->pace.sum +=
                gpumbi_max(-reach, gpumbi_min(run[i] - w.median, reach)) / gpumbi_real(w.count);
        s->pace.spread = w.q3 - w.q1;
        s->pace.levels++;
        s->pace.runs = 0;
    }
    if (!ends)
        return 0;
    if (s->pace.windows == GPUMBI_WINDOWS)
        memmove(level, level + 1, (size_t)--s->pace.windows * sizeof *level);
    level[s->pace.windows++] = s->pace.sum / s->pace.levels;
    s->pace.sum = s->pace.levels = s->pace.runs = 0;
    s->pace.length_s = length_s;
    s->pace.began_s = now_s;
    return 1;
}

/* What the windows say about a ramp, from none to certain; each is also true of those after it. */
enum {
    GPUMBI_STEADY,
    GPUMBI_IN_DOUBT, /* a ramp is not 20 times less likely than none (Wald's sequential test, Ann.
                      * Math. Stat. 16, 1945) */
    GPUMBI_MAY_MOVE, /* by 1.3 standard errors */
    GPUMBI_MOVES     /* by so many that less than 1 % of all rows with steady times do */
};

/* Whether the newest windows rise or fall so fast as to change by half the precision within the
 * warm-up's budget, or half a second: a ramp from which more than the precision is left has at
 * least twice that slope, if it is of 5 % and more with a time constant of up to 2 s, or of 2 % and
 * up to 0.5 s. Goes back as far as it takes to tell so little from none. */
static inline int gpumbi_pace_moves(const gpumb *g, const gpumbi_sampler *s)
{
    const double *const end = s->pace.level + s->pace.windows;
    const double ahead_s = gpumbi_max(g->settings.warmup_s, 0.5);
    double slope = 0, error = 0, sure = HUGE_VAL;
    if (s->pace.windows < 3)
        return GPUMBI_STEADY;
    const double launch_s =
        s->use_events ? g->device.empty_kernel_s / gpumbi_real(s->result.batch) : 0;
    const double own_s =
        gpumbi_max(end[-1] - launch_s, end[-1] / 10); /* of a run, launching set aside */
    const double least = g->settings.precision / 2 * own_s * s->pace.length_s / ahead_s;
    for (int n = 0; n < s->pace.windows && sure > least;) {
        n += n / 4 + 8;
        n = n < s->pace.windows ? n : s->pace.windows;
        slope = gpumbi_slope(end - n, n, &error);
        /* by simulation (tests/coverage.c, w): at least 10 % above Student's 99 % quantiles, which
         * are 63.7 for 3 values ... 2.63 for 100 */
        sure = (2.9 + 120.0 / ((n - 2) * (n - 2))) * error;
    }
    slope = fabs(slope);
    if (slope > least)
        return slope > sure          ? GPUMBI_MOVES
               : slope > 1.3 * error ? GPUMBI_MAY_MOVE
                                     : GPUMBI_IN_DOUBT;
    /* log(20) less log(2), for either direction, at twice the least slope */
    return slope > least - 2.3 / 2 * error * error / least ? GPUMBI_IN_DOUBT : GPUMBI_STEADY;
}

/* ---- warm-up: until times have settled ------------------------------------------------------- */

/* How long times have to hold still; and how long the first region on a device, whose clocks may
 * still rise, warms up. tests/coverage.c, part w, shows what that finds of which ramps. */
#define GPUMBI_STILL_S 70e-3
#define GPUMBI_FIRST_S 450e-3

static GPUMBI_PER_THREAD int gpumbi_warmed_device; /* its ordinal + 1; 0: none so far */

/* A clock that shows nothing but zeros is given up after this many. One that shows a time in 1 of
 * 145 runs is mistaken for it in 0.1 % of rows; in rounds, each of which costs a run of all lanes,
 * one that shows it in 1 of 5. */
enum { GPUMBI_BAD_TIMES = 1000, GPUMBI_BAD_ROUNDS = 30 };

/* What the library has seen launched may be captured; other code might not survive that, and has to
 * ask for it. */
static inline int gpumbi_may_capture(const gpumb *g, const gpumbi_sampler *s)
{
    return s->use_events &&
           (s->about.timing == GPUMB_TIMING_GRAPH ||
            (s->about.timing == GPUMB_TIMING_AUTO && g->device.graph_interval_s > 0 &&
             (s->kernel.launches || s->about.capturable)));
}

/* From 1.5 ms on two graphs take more time for the least number of samples than a row may; below,
 * rows that graphs time differ less than those of event pairs, by a factor of 10
 * (GPUMBI_REPRODUCIBLE). */
#define GPUMBI_LONG_S 1.5e-3

/* Where one run is a sample, there is no need of a graph. Nor for long ones, but of a body that may
 * be slow to launch, as one of Python: in one graph it is launched at once. */
static inline int gpumbi_captures(const gpumb *g, const gpumbi_sampler *s, double run_s)
{
    return gpumbi_may_capture(g, s) && !gpumbi_one_run(s) &&
           (s->about.timing == GPUMB_TIMING_GRAPH || s->about.capturable || run_s < GPUMBI_LONG_S ||
            s->result.batch > 1);
}

/* Begins sampling, anew where the samples so far turn out to be part of the warm-up. */
static inline void gpumbi_samples_begin(gpumb *g, gpumbi_sampler *s)
{
    gpumbi_state state;
    s->samples.count = s->samples.bad = 0;
    s->samples.spent_s = 0;
    s->samples.next_look = g->settings.min_samples;
    memset(&s->samples.power, 0, sizeof s->samples.power);
    gpumbi_dev_state(g->sensors, &state); /* also forgets throttling so far */
    s->result.sm_clock_before_hz = state.sm_clock_hz;
    s->result.memory_clock_before_hz = state.memory_clock_hz;
    s->result.temperature_before_c = state.temperature_c;
    s->result.others = state.others;
    s->samples.began_s = gpumbi_dev_clock();
}

/* Chooses between single runs, batches and graphs. With these, a sample is the time of a long graph
 * less that of a short one: what launching and timing a graph costs is in both and cancels. The
 * difference is 2 ... 400 runs, for about a millisecond, and the short graph has a quarter as many.
 * These are choices, which tests/test_graphs.cpp tries, not the best of a search: a longer
 * difference makes samples fewer, a shorter one gives more weight to the variation of launching. */
static inline void gpumbi_sampling_begin(gpumb *g, gpumbi_sampler *s, double run_s)
{
    s->capturable = gpumbi_may_capture(g, s);
    gpumbi_last_look(g, s, run_s);
    if (s->phase == GPUMBI_FINISHED)
        return;
    gpumbi_choose_clock(g, s, run_s);
    s->phase = GPUMBI_SAMPLE;
    s->warm_up.estimate_s = run_s;
    if (s->about.cache == GPUMB_CACHE_COLD && s->about.timing == GPUMB_TIMING_AUTO &&
        s->use_events) {
        s->result.overhead_s = g->clock.empty_caches(g, NULL);
        if (gpumbi_in_trouble(g, s))
            return;
    }
    if (s->profiled)
        g->instruments->choose(g, s);
    if (gpumbi_captures(g, s, run_s)) {
        const double least = run_s < 0.5e-3 ? 4 : 2;
        const double more =
            gpumbi_min(gpumbi_max(ceil(1e-3 / gpumbi_max(run_s, 1e-9)), least), 400);
        const int one = run_s >= GPUMBI_LONG_S && s->about.timing == GPUMB_TIMING_AUTO;
        s->graphs.runs[0] = one ? 0 : 1 + (uint64_t)more / 4;
        s->graphs.runs[1] = one ? 1 : s->graphs.runs[0] + (uint64_t)more;
        s->phase = GPUMBI_CAPTURE;
    }
    if (s->phase == GPUMBI_CAPTURE || s->result.batch > 1) /* another time than that of one run */
        s->pace.runs = s->pace.windows = 0;
    if (s->capturable) {
        s->waits.count = s->waits.told = 0;
        s->phase = GPUMBI_WITNESS;
    }
    gpumbi_samples_begin(g, s);
}

/* Until 70 ms, and four windows, show no slope, and the last 50 ms one level: clocks also climb in
 * steps, between which times hold still. For that the first region of a process warms up for at
 * least 450 ms; later ones find a device that is busy already. Where the noise leaves a slow ramp
 * possible, up to two windows more are waited for; then only if there are 1.3 standard errors: a
 * fifth of all steady series has them, and they are not enough for a flag (tests/coverage.c). Where
 * launching is most of a time, it wanders by a fifth on a busy host, and more where another
 * language launches: twice as long is enough, if graphs follow, without it; what moves they have to
 * show, in 70 ms of their own, while the warm-up lasts: not in interleaved regions, whose samples
 * nothing restarts. */
static inline void gpumbi_warm_up_add(gpumb *g, gpumbi_sampler *s, double seconds)
{
    const double now_s = gpumbi_dev_clock(), spent_s = now_s - s->warm_up.began_s;
    const int first =
        s->use_events && !g->outcome.warmed && gpumbi_warmed_device != g->device.ordinal + 1;
    const double least_s = first ? GPUMBI_FIRST_S : GPUMBI_STILL_S;
    int settled = 0;
    if (seconds > 0 && (s->warm_up.fastest_s <= 0 || seconds < s->warm_up.fastest_s))
        s->warm_up.fastest_s = seconds;
    s->warm_up.runs++;
    if (seconds <= 0) {
        s->samples.bad++;
        s->result.flags |= GPUMB_FLAG_BAD_TIME;
    }
    const int out_of_time = spent_s >= g->settings.warmup_s ||
                            s->samples.bad > GPUMBI_BAD_TIMES + s->warm_up.runs / 2 ||
                            s->warm_up.runs > 1000000; /* a clock that stands still */
    const int ended = gpumbi_pace_add(g, s, now_s, seconds, out_of_time);
    const double *const newest = s->pace.level + s->pace.windows - 1;
    if (ended && s->pace.windows >= 4) {
        const double tolerance = gpumbi_max(g->settings.precision * newest[0], s->pace.spread);
        /* 5 and 10 windows of 5 ms make the 50 ms; slow runs have longer ones, and fewer */
        const int apart = s->pace.windows < 11 ? 1 : 5;
        /* 8 ms: the ends of one window, or two, come before */
        const int waits = apart > 1 && spent_s < least_s + 8e-3;
        settled = spent_s >= least_s && fabs(newest[0] - newest[-apart]) <= tolerance &&
                  fabs(newest[0] - newest[-2 * apart]) <= tolerance &&
                  gpumbi_pace_moves(g, s) < (waits ? GPUMBI_IN_DOUBT : GPUMBI_MAY_MOVE);
        if (!settled && !g->interleave.open && spent_s >= 2 * least_s &&
            spent_s + GPUMBI_STILL_S < g->settings.warmup_s &&
            (s->about.capturable || newest[0] < 2 * g->device.empty_kernel_s) &&
            gpumbi_captures(g, s, newest[0]))
            settled = s->warm_up.goes_on = 1;
    }
    if (!settled && !out_of_time)
        return;
    if (!settled && gpumbi_pace_moves(g, s) == GPUMBI_MOVES)
        s->result.flags |= GPUMB_FLAG_UNSETTLED;
    gpumbi_warmed_device = s->use_events ? g->device.ordinal + 1 : gpumbi_warmed_device;
    if (s->pace.windows)
        gpumbi_sampling_begin(g, s, *newest);
    else
        gpumbi_fail(s, GPUMB_STATUS_FAILED, "the clock shows no time of more than zero");
}

/* ---- samples: until the interval is narrow enough -------------------------------------------- */

/* Stopping at the first good moment would favour lucky intervals: it is looked at only when the
 * count is on a fixed schedule, each entry half as much again as the one before. An interleaved
 * region that was precise goes on with the others, and is looked at again. While the warm-up's
 * budget lasts, samples that move are part of it, and those that may move are not the last. */
static inline void gpumbi_sample_add(gpumb *g, gpumbi_sampler *s, double seconds)
{
    const gpumb_settings *wanted = &g->settings;
    gpumb_result *r = &s->result;
    const double now_s = gpumbi_dev_clock();
    s->samples.spent_s += now_s - s->run.prepared_s;
    if (!g->interleave.open && gpumbi_power_due(&s->samples.power, s->samples.began_s, now_s))
        gpumbi_power_add(&s->samples.power, now_s, gpumbi_dev_power(g->sensors));
    const double run_s = seconds / gpumbi_real(r->batch) - r->overhead_s;
    if (run_s > 0) {
        s->samples.values[s->samples.count++] = run_s;
    } else {
        s->samples.bad++;
        r->flags |= GPUMB_FLAG_BAD_TIME;
        if (seconds > 0 && s->samples.bad > GPUMBI_FEW + s->samples.count &&
            s->about.timing == GPUMB_TIMING_AUTO && !g->interleave.open) {
            r->overhead_s = 0; /* no more than what an empty kernel adds: that is its time, too */
            r->flags &= ~(unsigned)GPUMB_FLAG_BAD_TIME;
            gpumbi_samples_begin(g, s);
            return;
        }
    }
    gpumbi_pace_add(g, s, now_s, seconds / gpumbi_real(r->batch), 0);
    /* the least count is not to be had: what is slow is looked at before */
    if (s->samples.count == GPUMBI_FEW && s->samples.next_look == wanted->min_samples &&
        s->samples.spent_s * gpumbi_real(wanted->min_samples) >
            gpumbi_real(s->samples.count) * wanted->budget_s)
        s->samples.next_look = GPUMBI_FEW;
    if (s->samples.count >= s->samples.next_look &&
        (g->interleave.open || s->samples.spent_s >= wanted->least_s)) {
        const int early = !g->interleave.open && now_s - s->warm_up.began_s < wanted->warmup_s;
        const int moves = early ? gpumbi_pace_moves(g, s) : GPUMBI_STEADY;
        if (moves == GPUMBI_MOVES) {
            gpumbi_samples_begin(g, s);
            return;
        }
        const int may_move =
            moves == GPUMBI_MAY_MOVE ||
            (early && s->warm_up.goes_on && now_s - s->samples.began_s < GPUMBI_STILL_S);
        if (!may_move || s->samples.count >= wanted->max_samples) {
            const int suffices = gpumbi_suffices(s, wanted->precision);
            r->stop = suffices ? GPUMB_STOP_PRECISION : GPUMB_STOP_NONE;
        }
        while (s->samples.next_look <= s->samples.count)
            s->samples.next_look = gpumbi_next_look(s->samples.next_look);
    }
    if (r->stop == GPUMB_STOP_NONE && s->samples.count >= wanted->max_samples)
        r->stop = GPUMB_STOP_SAMPLES;
    if (r->stop == GPUMB_STOP_NONE && s->samples.spent_s >= wanted->budget_s)
        r->stop = GPUMB_STOP_BUDGET;
    if (!s->samples.count &&
        s->samples.bad >= (g->interleave.open ? GPUMBI_BAD_ROUNDS : GPUMBI_BAD_TIMES))
        gpumbi_fail(s, GPUMB_STATUS_FAILED,
                    seconds > 0 ? "it takes no longer than an empty kernel, and has no span: ask "
                                  "for its interval by GPUMB_TIMING_GRAPH"
                                : "the clock shows no time of more than zero");
    if (r->stop != GPUMB_STOP_NONE)
        gpumbi_last_look(g, s, run_s);
    if (r->stop != GPUMB_STOP_NONE && !g->interleave.open) {
        gpumbi_state state;
        gpumbi_dev_state(g->sensors, &state);
        gpumbi_state_after(&state, s);
    }
}

/* How much longer the long graph takes than the short one, or than none. Within each two samples
 * both orders occur, and which comes first is drawn anew, so as not to fall in step with periodic
 * disturbances. */
static inline double gpumbi_graph_seconds(gpumb *g, gpumbi_sampler *s)
{
    double seconds[2] = {0, 0};
    const uint64_t two = s->samples.count / 2;
    const uint64_t first =
        s->samples.count + gpumb_fill_word(GPUMB_FILL_BITS, g->settings.seed, two);
    for (int i = 0; i < 2; i++) {
        const int which = (int)((first + (unsigned)i) % 2);
        if (gpumbi_time_launches(g, s->graphs.graph[which], 0, &seconds[which]))
            break;
    }
    return !gpumbi_in_trouble(g, s) && seconds[0] > 0 ? seconds[1] - seconds[0] : 0;
}

/* Both graphs are there. Where they take less than half of what the stream took, launches aside,
 * part of the work went elsewhere and was not captured. Where they take longer, by a tenth for the
 * noise of two short looks, graphs do the work differently (a Memcpy of 1 GiB on an H200: 0.79 ms
 * in place of 0.50). A host that is interrupted makes one look say either, and one that is so for
 * long makes runs in the stream slow, in 2 rows of a thousand on an H100: hence three looks, and
 * the fastest run. */
static inline void gpumbi_graphs_ready(gpumb *g, gpumbi_sampler *s)
{
    const uint64_t runs = s->graphs.runs[1] - s->graphs.runs[0];
    const double work_s =
        s->warm_up.fastest_s - g->device.empty_kernel_s -
        gpumbi_real(s->kernel.launches ? s->kernel.launches : 100) * g->device.interval_s;
    const char *why = "";
    gpumbi_graph_seconds(g, s); /* the first launch of a graph uploads it */
    for (int looks = 0; why && looks < 3; looks++) {
        const double run_s = gpumbi_graph_seconds(g, s) / gpumbi_real(runs);
        if (s->phase == GPUMBI_FINISHED)
            return;
        why = !s->warm_up.runs /* without a window: no estimate */ ? NULL
              : run_s < work_s / 2                                 ? "one has only a part of it"
              : s->about.timing == GPUMB_TIMING_AUTO && run_s > 1.1 * s->warm_up.estimate_s
                  ? "in one it takes longer"
                  : NULL;
    }
    if (why) {
        gpumbi_give_up_graphs(g, s, 0, why);
        return;
    }
    s->phase = GPUMBI_SAMPLE;
    s->result.timing = GPUMB_TIMING_GRAPH;
    s->result.batch = runs;
    if (s->about.timing == GPUMB_TIMING_AUTO)
        s->result.overhead_s = g->device.graph_interval_s;
}

/* A body that can't be captured, or launches nothing on the stream, is timed another way; so is one
 * whose launches fail: they will fail again where that is noticed. */
static inline void gpumbi_capture_end(gpumb *g, gpumbi_sampler *s)
{
    gpumbi_severity severity = GPUMBI_REFUSED;
    const int which = gpumbi_second_graph(s);
    const int launch_error = gpumbi_dev_last_error();
    gpumbi_order(g, s, 1);
    const int error = gpumbi_dev_capture_end(g->stream, &s->graphs.graph[which], NULL);
    const int refused = launch_error || error || s->about.skip[0];
    if (launch_error)
        gpumbi_dev_error(launch_error, &severity);
    if (severity == GPUMBI_FATAL) {
        gpumbi_try(g, launch_error, "launch");
        gpumbi_in_trouble(g, s);
    } else if (refused || !s->graphs.graph[which]) {
        if (!refused) /* what it launches is not timed */
            s->result.flags |= GPUMB_FLAG_OTHER_STREAMS;
        gpumbi_give_up_graphs(g, s, launch_error ? launch_error : error,
                              "it launches nothing there");
    } else if (which) {
        gpumbi_graphs_ready(g, s);
    }
}

/* All that is timed of a row that is ok is done: the counters are next, or nothing is. */
static inline void gpumbi_timed(gpumb *g, gpumbi_sampler *s)
{
    s->phase = GPUMBI_FINISHED;
    if (g->instruments)
        g->instruments->count(g, s);
}

static inline void gpumbi_run_end(gpumb *g, gpumbi_sampler *s)
{
    const double seconds = gpumbi_captured(s) ? 0 : gpumbi_run_seconds(g, s);
    if (s->marked)
        g->instruments->stop(s);
    if (!gpumbi_captured(s) && gpumbi_in_trouble(g, s))
        return;
    switch (s->phase) {
    case GPUMBI_WITNESS:
        gpumbi_witness_end(g, s);
        break;
    case GPUMBI_CAPTURE:
        gpumbi_capture_end(g, s);
        break;
    case GPUMBI_FIRST:
        s->result.first_launch_s = seconds;
        gpumbi_check_result(g, s);
        if (s->about.cache == GPUMB_CACHE_COLD && s->phase != GPUMBI_FINISHED)
            g->clock.empty_caches(g, s);
        if (s->phase == GPUMBI_FINISHED || gpumbi_in_trouble(g, s))
            return;
        s->phase = g->settings.profile ? GPUMBI_PROFILE : GPUMBI_WARM_UP;
        s->warm_up.began_s = s->pace.began_s = gpumbi_dev_clock();
        s->waits.count = 0; /* the first run also loads code */
        break;
    case GPUMBI_WARM_UP:
        gpumbi_warm_up_add(g, s, seconds);
        break;
    case GPUMBI_SAMPLE:
        gpumbi_sample_add(g, s, seconds);
        if (s->strict.due && s->phase == GPUMBI_SAMPLE)
            gpumbi_check_result(g, s);
        break;
    case GPUMBI_RECHECK:
        gpumbi_check_result(g, s);
        if (s->phase == GPUMBI_RECHECK)
            gpumbi_timed(g, s);
        break;
    case GPUMBI_COUNT:
        g->instruments->counted(g, s);
        break;
    case GPUMBI_PROFILE:
        if (s->samples.count >= (uint64_t)g->settings.profile)
            s->phase = GPUMBI_FINISHED;
        break;
    case GPUMBI_FINISHED:
        break;
    }
}

/* ================================================================================================
 * RESULT
 *
 * Owns g->outcome: how the regions so far have ended. Derives rates, shares and flags from a
 * sampler.
 */

static const char *const gpumbi_throttle_name[] = {"power", "thermal", "hardware", "other", NULL};
#define GPUMBI_FLAG_NAME(name, text, meaning, advice) text,
static const char *const gpumbi_flag_name[] = {GPUMB_FLAGS(GPUMBI_FLAG_NAME) NULL};
#undef GPUMBI_FLAG_NAME

/* "noisy;cached" */
static inline const char *gpumbi_bit_names(unsigned bits, const char *const *name, char *text,
                                           size_t size)
{
    text[0] = 0;
    for (int i = 0; name[i]; i++)
        if (bits >> i & 1)
            gpumbi_list(text, size, name[i]);
    return text;
}

/* Whether launching may be more than 5 % of the time shown. What was subtracted of an empty kernel
 * differs from what another adds by up to a quarter of the gap between two launches in a graph, or
 * a tenth of an event pair behind an eviction; by no more than 0.2 us where these are long (H100s
 * with gaps of 0.8 ... 1.2 us; AMD's are not known); by more if its blocks are large. Where all
 * blocks are resident at once, they may also all end at once, which takes as long as launching
 * them; with more waves than two that is hidden by the work, and more and more of what was
 * subtracted as well, with 16 all of it (bench/floor.cu measures all of this). */
#if defined(GPUMB_BACKEND_HIP)
#define GPUMBI_LAUNCH_DIFFERS_S 1
#else
#define GPUMBI_LAUNCH_DIFFERS_S 0.2e-6
#endif

static inline int gpumbi_launch_bound(const gpumb_device *d, const gpumbi_sampler *s)
{
    const gpumb_result *r = &s->result;
    if (r->timing == GPUMB_TIMING_BATCH)
        return r->time.median < 20 * d->interval_s;
    if (r->overhead_s <= 0) /* it is no longer than an empty kernel: gpumbi_sample_add() */
        return s->about.timing == GPUMB_TIMING_AUTO && r->timing == GPUMB_TIMING_GRAPH;
    const double threads = d->max_threads * (r->occupancy > 0 ? r->occupancy : 1);
    const double resident = /* no multiprocessor holds more than 32 blocks */
        d->multiprocessors * gpumbi_min(threads / (s->kernel.block > 0 ? s->kernel.block : 1), 32);
    const double blocks = gpumbi_real(s->kernel.grid), waves = blocks / resident;
    const double large = 0.2 * gpumbi_max(s->kernel.block - 256, 0) / 1024;
    const double hidden = waves > 2 ? gpumbi_min(waves / 16, 1) : 0;
    const double launch_s = waves > 2 ? 0 : blocks * d->block_launch_s;
    const double gap_s = d->graph_interval_s > 0 ? d->graph_interval_s : r->overhead_s;
    const double part_s = r->timing == GPUMB_TIMING_EVENT ? r->overhead_s / 10 : gap_s / 4;
    const double differs_s = gpumbi_min(part_s, GPUMBI_LAUNCH_DIFFERS_S) + (large + hidden) * gap_s;
    return r->time.median < 20 * gpumbi_max(differs_s, launch_s);
}

/* ---- rates -----------------------------------------------------------------------------------
 *
 * Plug into results where a region states what it moves or computes, or copies by gpumb_memcpy().
 */

struct gpumbi_rates {
    void (*judge)(gpumbi_sampler *s);           /* what is stated */
    int (*derive)(gpumb *g, gpumbi_sampler *s); /* the figures; 1: a cache holds what it moves */
};

/* Fails a region that was described by something impossible, and forgets it. No result needs more
 * than 1e30, and rates stay finite. */
static inline void gpumbi_judge_description(gpumbi_sampler *s)
{
    static const char *const name[] = {"bytes(): bytes",       "flop(): FLOP",
                                       "elements(): elements", "expected(): a reference",
                                       "expected(): a share",  "transfer(): bytes",
                                       "transfer(): bytes"};
    double *const said[] = {&s->about.bytes,     &s->about.flop,     &s->about.elements,
                            &s->about.reference, &s->about.expected, &s->about.to_device,
                            &s->about.to_host};
    char reason[sizeof s->result.reason];
    for (int i = 0; i < 7; i++) {
        if (*said[i] >= 0 && *said[i] <= 1e30)
            continue;
        gpumbi_format(reason, sizeof reason, "gpumb_set_%s can't be %s", name[i],
                      gpumbi_write_number(*said[i], 4, 0).text);
        *said[i] = 0;
        if (s->phase != GPUMBI_FINISHED) /* by a skip that came before */
            gpumbi_fail(s, GPUMB_STATUS_FAILED, reason);
    }
}

/* Whether the region moves data between host and device, as stated or else as gpumb_memcpy() has
 * seen it; then the row has no peak but the link's. */
static inline int gpumbi_transfers(const gpumb_device *d, gpumbi_sampler *s)
{
    gpumb_result *r = &s->result;
    const double copied = s->copied.to_device + s->copied.to_host + s->copied.elsewhere;
    const int stated = s->about.to_device > 0 || s->about.to_host > 0;
    if (!stated && (copied <= 0 || 2 * copied < r->bytes || (r->flop > 0 && r->bytes <= 0)))
        return 0;
    r->to_device = stated ? s->about.to_device : s->copied.to_device;
    r->to_host = stated ? s->about.to_host : s->copied.to_host;
    r->bytes = r->bytes > 0 ? r->bytes : stated ? r->to_device + r->to_host : copied;
    if (r->to_device + r->to_host > 0) {
        gpumbi_copy_text(r->link, sizeof r->link, d->link);
        r->link_gbps = d->link_bytes_per_s / 1e9;
    }
    return 1;
}

/* Names the level of memory that holds the footprint, the L1 caches of all multiprocessors taken
 * together; returns whether that is a cache. Where no footprint is stated, each byte is taken to be
 * moved once. Data that a run moves once is not in the L1 of a GPU, whose lines are invalid as a
 * kernel starts (PTX ISA, "Cache Operators"). */
static inline int gpumbi_derive_cache(const gpumb *g, gpumbi_sampler *s, int transfers)
{
    gpumb_result *r = &s->result;
    const gpumb_device *d = &g->device;
    const double footprint = r->footprint_bytes ? gpumbi_real(r->footprint_bytes) : r->bytes;
    const int again = r->bytes <= 0 || r->bytes >= 2 * footprint || gpumbi_is_cpu(g);
    const int in_l1 = again && footprint <= gpumbi_real(d->l1_bytes) * d->multiprocessors;
    const int in_last = footprint <= gpumbi_real(gpumbi_last_cache(d));
    const int cold = s->about.cache == GPUMB_CACHE_COLD;
    const int known = !transfers && footprint > 0 && d->l2_bytes;
    if (known || cold)
        gpumbi_copy_text(r->cache, sizeof r->cache,
                         cold                                    ? "cold"
                         : in_l1                                 ? "L1"
                         : footprint <= gpumbi_real(d->l2_bytes) ? "L2"
                         : in_last                               ? "L3"
                                                                 : "memory");
    return known && !cold && (in_l1 || in_last);
}

/* Rates of a region that has a time, and their shares of what the device can do. */
static inline void gpumbi_derive_shares(gpumb *g, gpumbi_sampler *s, int transfers)
{
    gpumb_result *r = &s->result;
    const gpumb_device *d = &g->device;
    const double median = r->time.median;
    r->gbps = r->bytes / median / 1e9;
    r->gflops = r->flop / median / 1e9;
    r->elements_per_s = r->elements / median;
    if (transfers) {
        if (r->link_gbps > 0)
            r->pct_link = 100 * gpumbi_max(r->to_device, r->to_host) / median / 1e9 / r->link_gbps;
    } else if (r->bytes > 0) {
        if (g->table.file || !s->copy_to)
            gpumbi_measure_ceiling(g);
        r->ceiling_gbps = d->ceiling_bytes_per_s / 1e9;
        r->pct_peak = r->peak_gbps > 0 ? 100 * r->gbps / r->peak_gbps : 0;
        r->pct_ceiling = r->ceiling_gbps > 0 ? 100 * r->gbps / r->ceiling_gbps : 0;
    }
    if (r->flop > 0 && !transfers && (s->about.peak_flop > 0 || !(r->bytes > 0))) {
        const double most = s->about.peak_flop > 0 ? s->about.peak_flop : d->peak_flop_per_s;
        const double share = most > 0 ? 100 * r->gflops * 1e9 / most : 0;
        r->pct_peak = r->bytes > 0 ? gpumbi_max(r->pct_peak, share) : share;
    }
    if (r->reference > 0)
        r->measured_pct = 100 * (r->bytes > 0 ? r->gbps : r->gflops) / r->reference;
}

static inline int gpumbi_derive_rates(gpumb *g, gpumbi_sampler *s)
{
    gpumb_result *r = &s->result;
    r->bytes = s->about.bytes;
    r->flop = s->about.flop;
    r->elements = s->about.elements;
    r->footprint_bytes = s->about.footprint;
    if (s->about.reference > 0 && s->about.expected > 0) { /* one is nothing without the other */
        r->reference = s->about.reference;
        r->expected_pct = 100 * s->about.expected;
    }
    const int transfers = gpumbi_transfers(&g->device, s);
    r->peak_gbps = transfers ? 0 : r->peak_gbps;
    if (r->time.median > 0)
        gpumbi_derive_shares(g, s, transfers);
    return gpumbi_derive_cache(g, s, transfers);
}

static inline void gpumbi_rates_use(gpumb *g)
{
    static const struct gpumbi_rates table = {gpumbi_judge_description, gpumbi_derive_rates};
    g->outcome.rates = &table;
}

/* ---- flags, and the end of a region ---------------------------------------------------------- */

static inline void gpumbi_derive_flags(const gpumb *g, gpumbi_sampler *s, int cached)
{
    gpumb_result *r = &s->result;
    const gpumb_device *d = &g->device;
    const double sample_s = r->time.median * gpumbi_real(r->batch);
    if (r->verified < 0)
        r->flags |= GPUMB_FLAG_UNVERIFIED;
    if (r->time.count < 6)
        r->flags |= GPUMB_FLAG_FEW_SAMPLES;
    else if (gpumbi_half_width(&r->time) > g->settings.precision)
        r->flags |= GPUMB_FLAG_NOISY;
    /* launching that is not subtracted makes more than 5 %, or the quantum more than 1; of given
     * times the clock is not known */
    if (r->timing != GPUMB_TIMING_GIVEN &&
        ((r->overhead_s <= 0 && sample_s < 20 * d->empty_kernel_s) ||
         sample_s < 100 * d->quantum_s))
        r->flags |= GPUMB_FLAG_RESOLUTION;
    if (gpumbi_launch_bound(d, s)) {
        r->flags |= GPUMB_FLAG_LAUNCH_BOUND;
        if (r->time.count >= 6)
            gpumbi_widen(r->time.median, GPUMBI_REPRODUCIBLE_BOUND * d->graph_interval_s,
                         &r->time.ci_lo, &r->time.ci_hi);
    }
    /* 5 times a copy's rate is more than an H200's L1 gives: 20 TB/s, where copies reach 4.3 */
    if (r->pct_peak > 100 || r->pct_link > 100 ||
        (r->peak_gbps <= 0 && r->pct_ceiling > 500 && !cached))
        r->flags |= GPUMB_FLAG_ABOVE_PEAK;
    if (cached && r->bytes > 0)
        r->flags |= GPUMB_FLAG_CACHED;
    r->series = gpumb_classify(s->samples.values, s->samples.count, g->settings.precision);
    if (r->series != GPUMB_SERIES_STEADY)
        r->flags |= (unsigned)GPUMB_FLAG_WARMING_UP << (r->series - GPUMB_SERIES_WARMING_UP);
    if (gpumbi_pace_moves(g, s) == GPUMBI_MOVES)
        r->flags |= GPUMB_FLAG_UNSETTLED;
    if (r->throttle > 0)
        r->flags |= GPUMB_FLAG_THROTTLED;
    if (r->others > 0)
        r->flags |= GPUMB_FLAG_SHARED;
}

/* What a result shows besides what has been measured. */
static inline void gpumbi_derive(gpumb *g, gpumbi_sampler *s)
{
    gpumb_result *r = &s->result;
    const int ok = r->status == GPUMB_STATUS_OK;
    gpumbi_copy_text(r->fill, sizeof r->fill, g->memory.fill);
    r->seed = g->memory.seed;
    r->peak_gbps = g->device.peak_bytes_per_s / 1e9;
#if defined(GPUMBI_MODULES)
    if (s->kernel.loaded)
        gpumbi_dev_loaded(s->kernel.function, s->kernel.block, s->kernel.shared_bytes,
                          &r->registers, &r->occupancy);
    if (s->kernel.depth > 1)
        r->between_s = (s->kernel.depth - 1) * g->device.graph_interval_s;
#endif
    if (s->kernel.function && !s->kernel.loaded)
        gpumbi_dev_kernel(s->kernel.function, s->kernel.block, s->kernel.shared_bytes,
                          &r->registers, &r->occupancy);
    if (ok) {
        r->meaning = gpumbi_meaning(r);
        r->time = gpumbi_statistics_now(s);
        r->sampled_s = floor(1e6 * s->samples.spent_s + 0.5) / 1e6;
    } else { /* how it was not timed is nothing to go by */
        r->timing = GPUMB_TIMING_AUTO;
        r->meaning = GPUMB_MEANING_NONE;
        r->batch = 0;
        r->overhead_s = 0;
    }
    const int cached = g->outcome.rates && g->outcome.rates->derive(g, s);
    if (ok)
        gpumbi_derive_flags(g, s, cached);
}

#define GPUMBI_PROFILED "profiled, not timed" /* why a row has no time, --profile */

/* What has come of a region; `ok`: it has run. */
static inline void gpumbi_region_ran(gpumb *g, const gpumbi_sampler *s, int ok)
{
    g->outcome.warmed |= ok;
    g->outcome.skipped |= s->copy_to && !ok && s->result.status == GPUMB_STATUS_SKIPPED;
    const int launch_failed = !ok && s->result.flags & GPUMB_FLAG_LAUNCH_FAILED;
    g->outcome.failed |= (s->copy_to && s->result.status == GPUMB_STATUS_FAILED) || launch_failed;
    if (launch_failed && !g->table.file && !s->copy_to) /* nothing else says so */
        gpumbi_say("%s: %s", gpumbi_kernel_name(&s->result), s->result.reason);
}

/* A region has run, or can't: fills the result that it was given, or makes a row. */
static inline void gpumbi_finish(gpumb *g, gpumbi_sampler *s)
{
    if (s->result.status == GPUMB_STATUS_OK && !s->samples.count)
        gpumbi_fail(s, GPUMB_STATUS_FAILED, "no sample");
    const int ok = s->result.status == GPUMB_STATUS_OK;
    if (ok && g->settings.profile)
        gpumbi_fail(s, GPUMB_STATUS_SKIPPED, GPUMBI_PROFILED);
    gpumbi_derive(g, s);
    gpumbi_dev_date(s->result.time_utc);
    if (!s->result.kernel[0])
        gpumbi_copy_text(s->result.kernel, sizeof s->result.kernel, GPUMBI_NAMELESS);
    if (s->copy_to) {
        gpumbi_region_ran(g, s, ok);
        *s->copy_to = s->result;
        return;
    }
    GPUMBI_EACH_TOOL(g, rows.make, (g, s));
}

/* The rates of a result and their shares of what the device can do, as people read them: in a line,
 * on the terminal, in Markdown. */
enum { GPUMBI_GBPS, GPUMBI_GFLOPS, GPUMBI_PER_S, GPUMBI_OF_PEAK, GPUMBI_OF_LINK, GPUMBI_RATES };
static const struct {
    const char *unit;
    size_t at;
} gpumbi_rates[] = {{"GB/s", offsetof(gpumb_result, gbps)},
                    {"GFLOP/s", offsetof(gpumb_result, gflops)},
                    {"elements/s", offsetof(gpumb_result, elements_per_s)},
                    {"% of peak", offsetof(gpumb_result, pct_peak)},
                    {"% of link", offsetof(gpumb_result, pct_link)}};

/* The text of a rate; "" if the row has none. */
static inline gpumbi_number gpumbi_write_rate(const gpumb_result *r, int rate)
{
    gpumbi_number none;
    double value;
    none.text[0] = 0;
    memcpy(&value, (const char *)r + gpumbi_rates[rate].at, sizeof value);
    return value <= 0             ? none
           : rate == GPUMBI_PER_S ? gpumbi_write_number(value, 4, 0)
                                  : gpumbi_write_short(value, 1);
}

/* "expected 12.5 %, measured 13.1 %", between `before` and `behind`, where a model was set. */
static inline void gpumbi_append_expected(char *text, size_t size, const gpumb_result *r,
                                          const char *before, const char *behind)
{
    if (r->measured_pct > 0)
        gpumbi_append(text, size, "%sexpected %s %%, measured %s %%%s", before,
                      gpumbi_write_short(r->expected_pct, 1).text,
                      gpumbi_write_short(r->measured_pct, 1).text, behind);
}

enum { GPUMBI_SENTENCE = 1000 };

/* A result in a line, without its end. */
static inline void gpumbi_sentence(const gpumb_result *r, char text[GPUMBI_SENTENCE])
{
    const size_t size = GPUMBI_SENTENCE;
    char flags[300];
    if (r->status != GPUMB_STATUS_OK) {
        gpumbi_format(text, size, "%s: %s: %s", gpumbi_kernel_name(r),
                      gpumbi_status_name[r->status], r->reason);
        gpumbi_plain(text);
        return;
    }
    gpumbi_format(text, size, "%s: median %s", r->kernel, gpumbi_write_time(r->time.median).text);
    if (r->time.count >= 6)
        gpumbi_append(text, size, ", 95 %% in %s ... %s",
                      r->time.ci_lo > 0 ? gpumbi_write_time(r->time.ci_lo).text : "?",
                      gpumbi_write_time(r->time.ci_hi).text);
    gpumbi_append(text, size, ", %s", gpumbi_count(r->time.count, "sample").text);
    if (r->batch > 1)
        gpumbi_append(text, size, " of %s", gpumbi_count(r->batch, "run").text);
    gpumbi_append(text, size, " (%s)", gpumbi_meaning_name(r));
    if (r->between_s > 0)
        gpumbi_append(text, size, ", %d kernels, %s of it between them", r->kernels,
                      gpumbi_write_time(r->between_s).text);
    for (int i = 0; i <= GPUMBI_PER_S; i++)
        if (gpumbi_write_rate(r, i).text[0])
            gpumbi_append(text, size, ", %s %s", gpumbi_write_rate(r, i).text,
                          gpumbi_rates[i].unit);
    gpumbi_append_expected(text, size, r, ", ", " of the reference");
    if (r->first_launch_s > 0) /* times that were taken elsewhere have none */
        gpumbi_append(text, size, ", first launch %s", gpumbi_write_time(r->first_launch_s).text);
    gpumbi_bit_names(r->flags, gpumbi_flag_name, flags, sizeof flags);
    gpumbi_append(text, size, flags[0] ? " [%s]" : "%s", flags);
    gpumbi_plain(text);
}

GPUMB_API void gpumb_print_result(const gpumb_result *r)
{
    char text[GPUMBI_SENTENCE] = "no result: the pointer is NULL";
    if (r)
        gpumbi_sentence(r, text);
    puts(text);
}

/* ================================================================================================
 * REGIONS
 *
 * Owns g->region. Each call of gpumbi_region_next() means that a run of the body has ended; it says
 * whether another is wanted. `body_due` lets the inner loop of the macro run once; `in_body` is set
 * while the body runs.
 *
 * A one-off needs nothing below this section: the rest plugs into it as a gpumbi_tool.
 */

/* Forgets what described the last region, but not that a buffer is missing. */
static inline void gpumbi_next_region(gpumb *g)
{
    memset(&g->region.next, 0, sizeof g->region.next);
    gpumbi_trouble_is(g, g->memory.missing);
}

/* The description that gpumb_set_...() fill: of the next region, or a dummy where nothing is to be
 * done. */
static inline gpumbi_description *gpumbi_about(gpumb *g)
{
    static GPUMBI_PER_THREAD gpumbi_description nothing;
    g = gpumbi_enter(g);
    return g ? &g->region.next : &nothing;
}

/* The same for what rates are derived from. */
static inline gpumbi_description *gpumbi_about_rates(gpumb *g)
{
    gpumbi_description *about = gpumbi_about(g);
    gpumbi_rates_use(gpumbi_context(g));
    return about;
}

GPUMB_API void gpumb_set_bytes(gpumb *g, double bytes)
{
    gpumbi_about_rates(g)->bytes = bytes;
}

GPUMB_API void gpumb_set_flop(gpumb *g, double flop)
{
    gpumbi_about_rates(g)->flop = flop;
}

GPUMB_API void gpumb_set_peak_flop(gpumb *g, double flop_per_s)
{
    gpumbi_about_rates(g)->peak_flop = flop_per_s;
}

GPUMB_API void gpumb_set_elements(gpumb *g, double elements)
{
    gpumbi_about_rates(g)->elements = elements;
}

GPUMB_API void gpumb_set_footprint(gpumb *g, uint64_t bytes)
{
    gpumbi_about_rates(g)->footprint = bytes;
}

GPUMB_API void gpumb_set_transfer(gpumb *g, double to_device, double to_host)
{
    gpumbi_description *about = gpumbi_about_rates(g);
    about->to_device = to_device;
    about->to_host = to_host;
}

GPUMB_API void gpumb_set_expected(gpumb *g, double reference, double share)
{
    gpumbi_description *about = gpumbi_about_rates(g);
    about->reference = reference;
    about->expected = share;
}

GPUMB_API void gpumb_set_cache(gpumb *g, gpumb_cache cache)
{
    gpumbi_description *about = gpumbi_about_rates(g); /* which name the level of memory */
    if (gpumbi_unknown(g, "gpumb_set_cache", (int)cache, GPUMB_CACHE_COLD + 1))
        return;
    about->cache = cache;
    gpumbi_caches_use(gpumbi_context(g));
}

GPUMB_API void gpumb_set_capturable(gpumb *g, int capturable)
{
    gpumbi_about(g)->capturable = capturable;
}

GPUMB_API void gpumb_set_streams(gpumb *g, void *const *streams, int count)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    if (count < 0 || count > GPUMBI_STREAMS || (count && !streams)) {
        gpumb_skip(g, "gpumb_set_streams: %d streams, it can be 0 to %d", count,
                   (int)GPUMBI_STREAMS);
        return;
    }
    g->region.next.streams = count;
    g->region.next.order = count ? gpumbi_order_streams : NULL;
    for (int i = 0; i < count && gpumbi_is_of_device(g, streams[i]); i++)
        g->region.next.stream[i] = streams[i];
}

GPUMB_API void gpumb_set_output(gpumb *g, gpumb_buffer *b)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    g->region.next.poison = gpumb_poison;
    if (!b)
        gpumbi_null(g, "gpumb_set_output");
    else if (g->region.next.outputs < GPUMBI_OUTPUTS)
        g->region.next.output[g->region.next.outputs++] = b;
    else
        gpumb_skip(g, "more than %d outputs", (int)GPUMBI_OUTPUTS);
}

GPUMB_API void gpumb_set_verify(gpumb *g, gpumb_check check, void *user)
{
    gpumbi_description *about = gpumbi_about(g);
    about->check = check;
    about->check_user = user;
}

GPUMB_API void gpumb_set_reset(gpumb *g, gpumb_hook reset, void *user)
{
    gpumbi_description *about = gpumbi_about(g);
    about->reset = reset;
    about->reset_user = user;
}

/* What memory a pointer is of; buffers know better than the CPU. */
static inline gpumb_memory gpumbi_kind(const gpumb *g, const void *p)
{
    for (const gpumb_buffer *b = g->memory.buffers; b; b = b->next)
        if ((const char *)p >= (const char *)b->data &&
            (const char *)p < (const char *)b->data + b->bytes)
            return b->kind;
    return gpumbi_dev_kind(p);
}

GPUMB_API void gpumb_memcpy(gpumb *g, void *to, const void *from, uint64_t bytes)
{
    g = gpumbi_context(g);
    if (!gpumbi_working(g) || gpumbi_runs_nothing(g) || !bytes)
        return;
    if (!to || !from) {
        gpumbi_null(g, "gpumb_memcpy");
        return;
    }
    gpumbi_sampler *s = g->region.in_body ? g->region.active : NULL;
    if (s && s->phase == GPUMBI_FIRST) {
        const gpumb_memory into = gpumbi_kind(g, to), out_of = gpumbi_kind(g, from);
        const int device = (into == GPUMB_MEMORY_DEVICE) + (out_of == GPUMB_MEMORY_DEVICE);
        const int managed = into == GPUMB_MEMORY_MANAGED || out_of == GPUMB_MEMORY_MANAGED;
        double *copied = &s->copied.to_host;
        if (!device || managed) /* where managed pages are is not known */
            copied = &s->copied.elsewhere;
        else if (into == GPUMB_MEMORY_DEVICE)
            copied = &s->copied.to_device;
        *copied += device == 2 ? 0 : gpumbi_real(bytes);
        gpumbi_rates_use(g);
    }
    gpumbi_try(g, gpumbi_dev_copy(to, from, bytes, g->stream), "memcpy");
}

/* The next region is not run: `count` times are given for it. */
static inline void gpumbi_describe_given(gpumb *g, uint64_t count, gpumb_meaning meaning)
{
    g->region.next.timing = GPUMB_TIMING_AUTO;
    g->region.next.given = count;
    g->region.next.meaning = meaning;
}

static inline void gpumbi_region_over(gpumb *g)
{
    g->region.active = NULL;
}

/* Prepares a sampler for the region that comes next, whatever becomes of it. */
static inline void gpumbi_sampler_init(gpumb *g, gpumbi_sampler *s, const char *name,
                                       gpumb_result *result)
{
    gpumbi_sampler fresh;
    gpumbi_release(g, s);
    memset(&fresh, 0, sizeof fresh);
    fresh.samples.values = s->samples.values; /* the room is kept */
    fresh.samples.scratch = s->samples.scratch;
    fresh.samples.capacity = s->samples.capacity;
    fresh.copy_to = result;
    fresh.about = g->region.next;
    gpumbi_copy_text(fresh.about.skip, sizeof fresh.about.skip, g->trouble);
    if (g->settings.cold && !fresh.about.meaning)
        fresh.about.cache = GPUMB_CACHE_COLD;
    fresh.about.capturable |= g->settings.capturable;
    fresh.point = g->sweep.here;
    fresh.order = g->sweep.here.depth ? g->sweep.number : 0;
    fresh.result.flags = gpumbi_take_failed_launch(g) ? GPUMB_FLAG_LAUNCH_FAILED : 0;
    *s = fresh;
    gpumbi_copy_text(s->result.bench, sizeof s->result.bench, g->bench);
    gpumbi_copy_line(s->result.kernel, sizeof s->result.kernel, name);
    GPUMBI_EACH_TOOL(g, region.starts, (g, s));
    (void)gpumbi_dev_last_error(); /* of what the program did before the region */
    gpumbi_calibrate(g);
    gpumbi_sampler_start(g, s);
    if (g->outcome.rates)
        g->outcome.rates->judge(s);
}

/* A body that has not come back to its macro was left by `return` or `goto`. */
static inline void gpumbi_region_left(gpumb *g)
{
    gpumbi_sampler *s = g->region.active;
    g->region.in_body = 0;
    g->region.left = 1;
    g->region.active = NULL;
    if (s && gpumbi_captured(s))
        (void)gpumbi_dev_capture_end(g->stream, NULL, NULL);
    gpumbi_say("region \"%s\" was left by return, goto or an exception, or has a gpumb_...() call "
               "in it: its row is dropped",
               s ? s->result.kernel : "");
    if (s && !g->interleave.open)
        gpumbi_release(g, s);
    gpumbi_mark_failed(g);
}

static inline void gpumbi_regions_closing(gpumb *g)
{
    gpumbi_trouble_is(g, "");
    if (g->outcome.failed || (g->outcome.skipped && !g->outcome.warmed))
        gpumbi_mark_failed(g);
}

static inline void gpumbi_regions_free(gpumb *g)
{
    gpumbi_release(g, &g->region.single);
}

GPUMBI_TOOL(gpumbi_regions_tool, REGIONS, NULL, {NULL, NULL, gpumbi_region_left}, GPUMBI_NO_ROWS,
            {gpumbi_regions_closing, gpumbi_regions_free});

GPUMB_API gpumb *gpumbi_region_begin(gpumb *g, const char *name, gpumb_result *result)
{
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_regions_tool);
    gpumbi_leave_region(g);
    g->region.reached++;
    if (result) {
        memset(result, 0, sizeof *result);
        result->status = GPUMB_STATUS_SKIPPED;
        gpumbi_copy_text(result->reason, sizeof result->reason, "the context has ended");
    }
    if (!gpumbi_working(g))
        return g;
    int taken = 0;
    for (int i = 0; i < GPUMBI_TOOLS && !taken; i++)
        taken = g->tool[i] && g->tool[i]->region.takes && g->tool[i]->region.takes(g, name, result);
    if (!taken && !g->done) {
        gpumbi_sampler_init(g, &g->region.single, name, result);
        g->region.active = &g->region.single;
    }
    gpumbi_next_region(g);
    return g;
}

/* Lets a sampler go on with the region that is reached. The region is described again each time,
 * and the pointers for its hooks may be to locals of a function that is called each time. */
static inline void gpumbi_region_again(gpumb *g, gpumbi_sampler *s)
{
    g->region.active = s;
    if (g->region.next.check)
        s->about.check_user = g->region.next.check_user;
    if (g->region.next.reset)
        s->about.reset_user = g->region.next.reset_user;
}

#if !defined(GPUMB_STATIC)
GPUMB_API void gpumb_set_poll(gpumb *g, gpumb_body poll, void *user)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    g->region.poll = poll;
    g->region.poll_user = user;
    g->region.poll_s = 0;
}

/* Whether the program wants no more of this region. */
static inline void gpumbi_ask_program(gpumb *g, gpumbi_sampler *s)
{
    const double now_s = g->region.poll ? gpumbi_dev_clock() : 0;
    if (!g->region.poll || now_s < g->region.poll_s)
        return;
    g->region.poll_s = now_s + 0.1;
    const int code = g->region.poll(g, g->region.poll_user);
    if (code && !*gpumbi_trouble(g))
        gpumb_skip(g, "given up: the function of gpumb_set_poll() returned %d", code);
    gpumbi_in_trouble(g, s);
}
#endif

GPUMB_API int gpumbi_region_next(gpumb *g)
{
    gpumbi_sampler *s = g->region.active;
    g->region.in_body = 0;
    gpumbi_compiler_barrier(NULL); /* what the body stored counts as used */
    if (!s)
        return 0;
    if (s->run.left > 1) { /* within a batch: nothing to do */
        s->run.left--;
        if (s->about.order) {
            gpumbi_order(g, s, 1);
            gpumbi_order(g, s, 0);
        }
        g->region.body_due = 1;
        return 1;
    }
    while (s->run.left == 1 ||
           (s->phase == GPUMBI_SAMPLE && s->graphs.graph[1] && gpumbi_working(g))) {
        if (s->run.left == 1) {
            gpumbi_run_end(g, s);
        } else { /* a sample that needs no body */
            s->run.prepared_s = gpumbi_dev_clock();
            const double seconds = gpumbi_graph_seconds(g, s);
            if (s->phase != GPUMBI_FINISHED)
                gpumbi_sample_add(g, s, seconds);
#if !defined(GPUMB_STATIC)
            if (s->phase == GPUMBI_SAMPLE && s->result.stop == GPUMB_STOP_NONE)
                gpumbi_ask_program(g, s);
#endif
        }
        s->run.left = 0;
        const int sampled = s->phase == GPUMBI_SAMPLE;
        if (sampled && s->result.stop != GPUMB_STOP_NONE && !g->interleave.open)
            s->phase = GPUMBI_RECHECK;
        if (g->interleave.open && (sampled || s->phase == GPUMBI_FINISHED)) {
            if (s->phase == GPUMBI_FINISHED)
                gpumbi_release(g, s);
            g->region.active = NULL; /* the next lane's turn */
            return 0;
        }
    }
    if (s->phase == GPUMBI_RECHECK && !s->about.check && !s->about.outputs)
        gpumbi_timed(g, s);
    /* Where a graph may be chosen, one run has to tell whether it holds all of the work. */
    const int estimates = s->about.timing == GPUMB_TIMING_AUTO && s->use_events &&
                          s->kernel.launches && !gpumbi_one_run(s);
    if (s->phase == GPUMBI_WARM_UP && g->settings.warmup_s < 0 && !estimates) {
        gpumbi_sampling_begin(g, s, s->result.first_launch_s);
        if (g->interleave.open && s->phase == GPUMBI_SAMPLE) { /* not before the others */
            g->region.active = NULL;
            return 0;
        }
    }
    if (s->phase != GPUMBI_FINISHED && gpumbi_working(g))
        gpumbi_run_begin(g, s);
    if (!gpumbi_working(g) || s->phase == GPUMBI_FINISHED) {
        g->region.active = NULL;
        gpumbi_release(g, s);
        if (!g->interleave.open && s->phase == GPUMBI_FINISHED && !gpumbi_interrupted)
            gpumbi_finish(g, s);
        return 0;
    }
    g->region.body_due = 1;
    return 1;
}

GPUMB_API int gpumbi_region_body(gpumb *g)
{
    if (!g->region.body_due)
        return 0;
    g->region.body_due = 0;
    g->region.in_body = 1;
    return 1;
}

/* ================================================================================================
 * FIELDS
 *
 * Keeps no state: the tables from which rows, devices and settings are written to files and read.
 * Numbers have as many digits as it takes to read back the same value, 15 to 17; for units other
 * than the struct's the point is shifted in the text, which loses nothing. A text that names
 * nothing known is read as unknown: a later version may have written it.
 */

enum { GPUMBI_SCHEMA = 4, GPUMBI_PROCESSES = 100, GPUMBI_CELL = 25 * GPUMBI_PROCESSES };

/* The kinds of what a struct holds. */
enum {
    GPUMBI_IS_TEXT,   /* char[] */
    GPUMBI_IS_NAME,   /* int or enum, of a list of names */
    GPUMBI_IS_BITS,   /* int or unsigned, of a list of names */
    GPUMBI_IS_LIST,   /* const double *: one for each of `processes`, 1e-06;2e-06 */
    GPUMBI_IS_INT,    /* int */
    GPUMBI_IS_COUNT,  /* uint64_t */
    GPUMBI_IS_NUMBER, /* double; from here on in units of 10^(kind - this) */
    GPUMBI_IS_MEGA = GPUMBI_IS_NUMBER + 6,
    GPUMBI_IS_GIGA = GPUMBI_IS_NUMBER + 9
};

/* When a field is known. Else its text is empty, which reads as 0, or as -1 where 0 is a value.
 * Those above 0: from so many samples on. */
enum {
    GPUMBI_IF_ALWAYS = 0,
    GPUMBI_IF_TIMED = 1,
    GPUMBI_IF_SPREAD = 2,
    GPUMBI_IF_BOUNDED = 6,
    GPUMBI_IF_SHAPED = 30,
    GPUMBI_IF_POSITIVE = -1,
    GPUMBI_IF_NOT_NEGATIVE = -2,
    GPUMBI_IF_RAN = -3,      /* the row is ok */
    GPUMBI_IF_COMPARED = -4, /* in an interleave */
    GPUMBI_IF_INTERVAL = -5, /* that has an interval */
    GPUMBI_IF_FILLED = -6,   /* with random data */
    GPUMBI_IF_ENCLOSED = -7  /* there is an interval of times, which may begin at 0 */
};

typedef struct gpumbi_field {
    const char *name;
    const char *const *names;
    unsigned short at, size;
    unsigned char kind;
    signed char known;
} gpumbi_field;

/* A row with what files add to it: schema, version, device ... */
typedef struct gpumbi_line {
    int schema;
    char version[16], backend[8], device[128];
    char values[GPUMBI_CELL];   /* names of those of its columns after the fixed ones that are none
                               * of its axes; in JSON they have an object */
    char settings[GPUMBI_CELL]; /* those that are not the usual ones; in JSON all are in the head */
    double gb_per_j;
    gpumb_result result;
    double medians[GPUMBI_PROCESSES]; /* what process_medians_s points to, if it was read */
    int median_count;
} gpumbi_line;

/* The head of a JSON file. */
typedef struct gpumbi_head {
    gpumb_device device;
    gpumb_settings settings;
    char program[64], arguments[1000];
    int emulated, peak_source;
} gpumbi_head;

/* Transfers a pin per memory clock in the theoretical bandwidth; 0: unknown. */
static inline int gpumbi_transfers_per_clock(const gpumb_device *d)
{
    const double once = d->memory_clock_hz * d->bus_width_bits / 8;
    return once > 0 ? (int)gpumbi_min(d->peak_bytes_per_s / once + 0.5, 999) : 0;
}

static const char *const gpumbi_no_name[] = {NULL};
static const char *const gpumbi_yes_name[] = {"no", "yes", NULL};
static const char *const gpumbi_note_name[] = {"", "emulated, not a GPU result", NULL};
static const char *const gpumbi_peak_name[] = {"",
                                               "memory clock x 2 x bus width",
                                               "--peak",
                                               "memory clock x 4 x bus width",
                                               "memory clock x 16 x bus width",
                                               NULL};
static const char *const gpumbi_profile_name[] = {"quick", "full", NULL};
static const char *const gpumbi_cache_name[] = {"hot", "cold", NULL};
static const char *const gpumbi_order_name[] = {"natural", "drawn", NULL};

/* The fixed columns, in their order: name, kind, when it is known, where, names. */
#define GPUMBI_ROW_FIELDS(X)                                                                       \
    X(schema, INT, ALWAYS, schema, no)                                                             \
    X(gpumb, TEXT, ALWAYS, version, no)                                                            \
    X(bench, TEXT, ALWAYS, result.bench, no)                                                       \
    X(kernel, TEXT, ALWAYS, result.kernel, no)                                                     \
    X(backend, TEXT, ALWAYS, backend, no)                                                          \
    X(device, TEXT, ALWAYS, device, no)                                                            \
    X(status, NAME, ALWAYS, result.status, status)                                                 \
    X(reason, TEXT, ALWAYS, result.reason, no)                                                     \
    X(verified, NAME, NOT_NEGATIVE, result.verified, yes)                                          \
    X(timing, NAME, RAN, result.timing, timing)                                                    \
    X(meaning, NAME, RAN, result.meaning, means)                                                   \
    X(samples, COUNT, TIMED, result.time.count, no)                                                \
    X(batch, COUNT, RAN, result.batch, no)                                                         \
    X(stop, NAME, ALWAYS, result.stop, stop)                                                       \
    X(median_s, NUMBER, TIMED, result.time.median, no)                                             \
    X(ci_lo_s, NUMBER, ENCLOSED, result.time.ci_lo, no)                                            \
    X(ci_hi_s, NUMBER, BOUNDED, result.time.ci_hi, no)                                             \
    X(min_s, NUMBER, TIMED, result.time.min, no)                                                   \
    X(q1_s, NUMBER, TIMED, result.time.q1, no)                                                     \
    X(q3_s, NUMBER, TIMED, result.time.q3, no)                                                     \
    X(max_s, NUMBER, TIMED, result.time.max, no)                                                   \
    X(mean_s, NUMBER, TIMED, result.time.mean, no)                                                 \
    X(sd_s, NUMBER, SPREAD, result.time.sd, no)                                                    \
    X(mad_s, NUMBER, TIMED, result.time.mad, no)                                                   \
    X(effective_samples, NUMBER, BOUNDED, result.time.effective, no)                               \
    X(outliers, COUNT, TIMED, result.time.outliers, no)                                            \
    X(first_launch_s, NUMBER, POSITIVE, result.first_launch_s, no)                                 \
    X(overhead_s, NUMBER, RAN, result.overhead_s, no)                                              \
    X(bytes, NUMBER, POSITIVE, result.bytes, no)                                                   \
    X(flop, NUMBER, POSITIVE, result.flop, no)                                                     \
    X(gbps, NUMBER, POSITIVE, result.gbps, no)                                                     \
    X(gflops, NUMBER, POSITIVE, result.gflops, no)                                                 \
    X(peak_gbps, NUMBER, POSITIVE, result.peak_gbps, no)                                           \
    X(pct_peak, NUMBER, POSITIVE, result.pct_peak, no)                                             \
    X(ceiling_gbps, NUMBER, POSITIVE, result.ceiling_gbps, no)                                     \
    X(pct_ceiling, NUMBER, POSITIVE, result.pct_ceiling, no)                                       \
    X(reference, NUMBER, POSITIVE, result.reference, no)                                           \
    X(expected_pct, NUMBER, POSITIVE, result.expected_pct, no)                                     \
    X(measured_pct, NUMBER, POSITIVE, result.measured_pct, no)                                     \
    X(footprint_bytes, COUNT, POSITIVE, result.footprint_bytes, no)                                \
    X(cache, TEXT, ALWAYS, result.cache, no)                                                       \
    X(registers, INT, NOT_NEGATIVE, result.registers, no)                                          \
    X(occupancy, NUMBER, NOT_NEGATIVE, result.occupancy, no)                                       \
    X(sm_clock_before_mhz, MEGA, POSITIVE, result.sm_clock_before_hz, no)                          \
    X(sm_clock_mhz, MEGA, POSITIVE, result.sm_clock_hz, no)                                        \
    X(mem_clock_before_mhz, MEGA, POSITIVE, result.memory_clock_before_hz, no)                     \
    X(mem_clock_mhz, MEGA, POSITIVE, result.memory_clock_hz, no)                                   \
    X(temp_before_c, NUMBER, POSITIVE, result.temperature_before_c, no)                            \
    X(temp_c, NUMBER, POSITIVE, result.temperature_c, no)                                          \
    X(power_w, NUMBER, POSITIVE, result.power_w, no)                                               \
    X(energy_j, NUMBER, POSITIVE, result.energy_j, no)                                             \
    X(gb_per_j, NUMBER, POSITIVE, gb_per_j, no)                                                    \
    X(throttle, BITS, NOT_NEGATIVE, result.throttle, throttle)                                     \
    X(others, INT, NOT_NEGATIVE, result.others, no)                                                \
    X(series, NAME, SHAPED, result.series, series)                                                 \
    X(compared_with, TEXT, ALWAYS, result.compared_with, no)                                       \
    X(ratio, NUMBER, COMPARED, result.comparison.ratio, no)                                        \
    X(ratio_lo, NUMBER, INTERVAL, result.comparison.lo, no)                                        \
    X(ratio_hi, NUMBER, INTERVAL, result.comparison.hi, no)                                        \
    X(verdict, NAME, COMPARED, result.comparison.verdict, verdict)                                 \
    X(fill, TEXT, ALWAYS, result.fill, no)                                                         \
    X(seed, COUNT, FILLED, result.seed, no)                                                        \
    X(processes, INT, POSITIVE, result.processes, no)                                              \
    X(process_lo_s, NUMBER, POSITIVE, result.process_lo_s, no)                                     \
    X(process_hi_s, NUMBER, POSITIVE, result.process_hi_s, no)                                     \
    X(flags, BITS, ALWAYS, result.flags, flag)                                                     \
    X(ratio_rounds, COUNT, COMPARED, result.comparison.rounds, no)                                 \
    X(to_device_bytes, NUMBER, POSITIVE, result.to_device, no)                                     \
    X(to_host_bytes, NUMBER, POSITIVE, result.to_host, no)                                         \
    X(link, TEXT, ALWAYS, result.link, no)                                                         \
    X(link_gbps, NUMBER, POSITIVE, result.link_gbps, no)                                           \
    X(pct_link, NUMBER, POSITIVE, result.pct_link, no)                                             \
    X(process_medians_s, LIST, ALWAYS, result.process_medians_s, no)                               \
    X(elements, NUMBER, POSITIVE, result.elements, no)                                             \
    X(elements_per_s, NUMBER, POSITIVE, result.elements_per_s, no)                                 \
    X(sampled_s, NUMBER, POSITIVE, result.sampled_s, no)                                           \
    X(values, TEXT, ALWAYS, values, no)                                                            \
    X(settings, TEXT, ALWAYS, settings, no)                                                        \
    X(time_utc, TEXT, ALWAYS, result.time_utc, no)                                                 \
    X(kernels, INT, NOT_NEGATIVE, result.kernels, no)                                              \
    X(between_s, NUMBER, POSITIVE, result.between_s, no)                                           \
    X(nodes, TEXT, ALWAYS, result.nodes, no)

#define GPUMBI_DEVICE_FIELDS(X)                                                                    \
    X(name, TEXT, ALWAYS, device.name, no)                                                         \
    X(backend, TEXT, ALWAYS, device.backend, no)                                                   \
    X(note, NAME, ALWAYS, emulated, note)                                                          \
    X(arch, TEXT, ALWAYS, device.arch, no)                                                         \
    X(ordinal, INT, ALWAYS, device.ordinal, no)                                                    \
    X(multiprocessors, INT, ALWAYS, device.multiprocessors, no)                                    \
    X(warp_size, INT, ALWAYS, device.warp_size, no)                                                \
    X(memory_bytes, COUNT, POSITIVE, device.memory_bytes, no)                                      \
    X(l1_bytes, COUNT, POSITIVE, device.l1_bytes, no)                                              \
    X(l2_bytes, COUNT, POSITIVE, device.l2_bytes, no)                                              \
    X(sm_clock_mhz, MEGA, POSITIVE, device.sm_clock_hz, no)                                        \
    X(mem_clock_mhz, MEGA, POSITIVE, device.memory_clock_hz, no)                                   \
    X(bus_width_bits, INT, POSITIVE, device.bus_width_bits, no)                                    \
    X(ecc, INT, NOT_NEGATIVE, device.ecc, no)                                                      \
    X(peak_gbps, GIGA, POSITIVE, device.peak_bytes_per_s, no)                                      \
    X(peak_source, NAME, ALWAYS, peak_source, peak)                                                \
    X(peak_fp32_gflops, GIGA, POSITIVE, device.peak_flop_per_s, no)                                \
    X(link, TEXT, ALWAYS, device.link, no)                                                         \
    X(link_gbps, GIGA, POSITIVE, device.link_bytes_per_s, no)                                      \
    X(quantum_s, NUMBER, POSITIVE, device.quantum_s, no)                                           \
    X(event_pair_s, NUMBER, POSITIVE, device.floor_s, no)                                          \
    X(empty_kernel_s, NUMBER, POSITIVE, device.empty_kernel_s, no)                                 \
    X(launch_interval_s, NUMBER, POSITIVE, device.interval_s, no)                                  \
    X(graph_interval_s, NUMBER, POSITIVE, device.graph_interval_s, no)                             \
    X(block_launch_s, NUMBER, POSITIVE, device.block_launch_s, no)                                 \
    X(max_block, INT, ALWAYS, device.max_block, no)                                                \
    X(max_threads, INT, ALWAYS, device.max_threads, no)                                            \
    X(ceiling_gbps, GIGA, POSITIVE, device.ceiling_bytes_per_s, no)

#define GPUMBI_SETTINGS_FIELDS(X)                                                                  \
    X(precision, NUMBER, ALWAYS, settings.precision, no)                                           \
    X(budget_s, NUMBER, ALWAYS, settings.budget_s, no)                                             \
    X(least_s, NUMBER, ALWAYS, settings.least_s, no)                                               \
    X(warmup_s, NUMBER, ALWAYS, settings.warmup_s, no)                                             \
    X(min_samples, COUNT, ALWAYS, settings.min_samples, no)                                        \
    X(max_samples, COUNT, ALWAYS, settings.max_samples, no)                                        \
    X(seed, COUNT, ALWAYS, settings.seed, no)                                                      \
    X(profile, NAME, ALWAYS, settings.full, profile)                                               \
    X(cache, NAME, ALWAYS, settings.cold, cache)                                                   \
    X(order, NAME, ALWAYS, settings.shuffle, order)                                                \
    X(delta, NUMBER, ALWAYS, settings.delta, no)                                                   \
    X(peak_gbps, NUMBER, POSITIVE, settings.peak_gbps, no)                                         \
    X(processes, INT, ALWAYS, settings.processes, no)                                              \
    X(raw, NAME, ALWAYS, settings.raw, yes)                                                        \
    X(strict, NAME, ALWAYS, settings.strict, yes)                                                  \
    X(arguments, TEXT, ALWAYS, arguments, no)

#define GPUMBI_COLUMN(name, kind, known, at, names) GPUMBI_COLUMN_##name,
enum { GPUMBI_ROW_FIELDS(GPUMBI_COLUMN) GPUMBI_COLUMNS_FIXED };
#undef GPUMBI_COLUMN

/* One of the struct that GPUMBI_BASE names. */
#define GPUMBI_FIELD(name, kind, known, member, names)                                             \
    {#name,                                                                                        \
     gpumbi_##names##_name,                                                                        \
     offsetof(GPUMBI_BASE, member),                                                                \
     sizeof(((GPUMBI_BASE *)0)->member),                                                           \
     GPUMBI_IS_##kind,                                                                             \
     GPUMBI_IF_##known},
#define GPUMBI_BASE gpumbi_line
static const gpumbi_field gpumbi_row_fields[] = {GPUMBI_ROW_FIELDS(GPUMBI_FIELD)};
#undef GPUMBI_BASE
#define GPUMBI_BASE gpumbi_head
static const gpumbi_field gpumbi_device_fields[] = {GPUMBI_DEVICE_FIELDS(GPUMBI_FIELD)};
static const gpumbi_field gpumbi_settings_fields[] = {GPUMBI_SETTINGS_FIELDS(GPUMBI_FIELD)};
#undef GPUMBI_BASE
#undef GPUMBI_FIELD
enum {
    GPUMBI_DEVICE_COUNT = sizeof gpumbi_device_fields / sizeof(gpumbi_field),
    GPUMBI_SETTINGS_COUNT = sizeof gpumbi_settings_fields / sizeof(gpumbi_field)
};

/* Returns `count` for no such field. Fields come in their order: the one after `last` is tried
 * first. */
static inline int gpumbi_find_field(const gpumbi_field *fields, int count, const char *name,
                                    int last)
{
    for (int i = 1; i <= count; i++) {
        const int at = (last + i) % count;
        if (*name == *fields[at].name && !strcmp(name, fields[at].name))
            return at;
    }
    return count;
}

/* Whether the `value` of a field is known, in the row `r`. */
static inline int gpumbi_field_known(const gpumbi_field *f, double value, const gpumb_result *r)
{
    switch (f->known) {
    case GPUMBI_IF_ALWAYS:
        return 1;
    case GPUMBI_IF_POSITIVE:
        return value > 0;
    case GPUMBI_IF_NOT_NEGATIVE:
        return value >= 0;
    case GPUMBI_IF_RAN:
        return r->status == GPUMB_STATUS_OK;
    case GPUMBI_IF_COMPARED:
        return r->compared_with[0] != 0;
    case GPUMBI_IF_INTERVAL:
        return r->compared_with[0] && r->comparison.hi > 0;
    case GPUMBI_IF_FILLED:
        return r->fill[0] != 0;
    case GPUMBI_IF_ENCLOSED:
        return r->time.count ? r->time.count >= GPUMBI_IF_BOUNDED : r->time.ci_hi > 0;
    default: /* a file may have times, and not of how many samples */
        return r->time.count ? r->time.count >= (uint64_t)f->known : value > 0;
    }
}

/* The text of a field of `base`, made in `text` if it is none; "" for what is unknown. `r`: the
 * row, for its conditions. */
static inline const char *gpumbi_field_text(const gpumbi_field *f, const void *base,
                                            const gpumb_result *r, char text[GPUMBI_CELL])
{
    const char *at = (const char *)base + f->at;
    double value = 0; /* of a text */
    uint64_t count = 0;
    int whole = 0;
    if (f->kind >= GPUMBI_IS_NUMBER) {
        memcpy(&value, at, sizeof value);
    } else if (f->kind == GPUMBI_IS_COUNT) {
        memcpy(&count, at, sizeof count);
        value = gpumbi_real(count);
    } else if (f->kind != GPUMBI_IS_TEXT && f->kind != GPUMBI_IS_LIST) {
        memcpy(&whole, at, sizeof whole);
        value = whole;
    }
    text[0] = 0;
    if (!gpumbi_field_known(f, value, r) || !gpumbi_finite(value))
        return "";
    switch (f->kind) {
    case GPUMBI_IS_TEXT:
        return at;
    case GPUMBI_IS_NAME: {
        const char *const *name = f->names;
        while (whole-- > 0 && name[1]) /* the last one for what is beyond */
            name++;
        return *name;
    }
    case GPUMBI_IS_BITS:
        if (!whole && f->known == GPUMBI_IF_NOT_NEGATIVE)
            return "none";
        return gpumbi_bit_names((unsigned)whole, f->names, text, GPUMBI_CELL);
    case GPUMBI_IS_COUNT: /* a double holds 53 bits of it */
        gpumbi_format(text, GPUMBI_CELL, "%llu", (unsigned long long)count);
        break;
    case GPUMBI_IS_LIST:
        for (int i = 0; r->process_medians_s && i < r->processes; i++)
            gpumbi_append(text, GPUMBI_CELL, "%s%s", i ? ";" : "",
                          gpumbi_write_scaled(r->process_medians_s[i], 0).text);
        break;
    default:
        gpumbi_copy_text(text, GPUMBI_CELL,
                         gpumbi_write_scaled(value, f->kind - GPUMBI_IS_NUMBER).text);
    }
    return text;
}

/* Whether a name is in a list like a;b;c. */
static inline int gpumbi_is_listed(const char *list, const char *name)
{
    char one[GPUMBI_CELL];
    while ((list = gpumbi_split(list, ';', one, sizeof one)) != NULL)
        if (!strcmp(one, name))
            return 1;
    return 0;
}

/* The inverse of gpumbi_field_text(). Returns 0 if the text should be a number of 0 or more, and is
 * none. */
static inline int gpumbi_read_field(const gpumbi_field *f, void *base, const char *text)
{
    char *at = (char *)base + f->at;
    const int unknown = f->known == GPUMBI_IF_NOT_NEGATIVE ? -1 : 0;
    double number = unknown;
    char *end, one[128];
    if (f->kind == GPUMBI_IS_TEXT) {
        gpumbi_copy_text(at, f->size, text);
        return 1;
    }
    if (f->kind == GPUMBI_IS_LIST) { /* the medians of all processes */
        gpumbi_line *l = (gpumbi_line *)base;
        int right = 1;
        l->result.process_medians_s = text[0] ? l->medians : NULL;
        l->median_count = 0;
        while (right && (text = gpumbi_split(text, ';', one, sizeof one)) != NULL) {
            right = l->median_count < GPUMBI_PROCESSES && gpumbi_read_number(one, &number) &&
                    number > 0;
            if (right)
                l->medians[l->median_count++] = number;
        }
        return right;
    }
    if (f->kind == GPUMBI_IS_NAME || f->kind == GPUMBI_IS_BITS) {
        const int bits = f->kind == GPUMBI_IS_BITS;
        int whole = bits && text[0] ? 0 : unknown;
        while ((text = gpumbi_split(text, ';', one, sizeof one)) != NULL) {
            int which = 0;
            while (f->names[which] && strcmp(f->names[which], one))
                which++;
            if (f->names[which])
                whole = bits ? whole | 1 << which : which;
        }
        memcpy(at, &whole, sizeof whole);
        return 1;
    }
    errno = 0;
    uint64_t count = strtoull(text, &end, 10);
    const int exponent = f->kind > GPUMBI_IS_NUMBER ? f->kind - GPUMBI_IS_NUMBER : 0;
    if (text[0] && (!gpumbi_read_scaled(text, exponent, &number) || number < 0))
        return 0;
    if (*end || errno) /* 1e+06, as spreadsheets write it */
        count = number < 1.8e19 ? (uint64_t)number : UINT64_MAX;
    const int whole = number < INT_MAX ? (int)number : INT_MAX;
    if (f->kind == GPUMBI_IS_COUNT)
        memcpy(at, &count, sizeof count);
    else if (f->kind == GPUMBI_IS_INT)
        memcpy(at, &whole, sizeof whole);
    else
        memcpy(at, &number, sizeof number);
    return 1;
}

/* ================================================================================================
 * COLUMNS
 *
 * Owns g->columns: those after the fixed ones, for axes and own values, and the texts of values.
 */

/* The one copy of a text that lives as long as the context; NULL: no memory. */
static inline gpumbi_text *gpumbi_intern(gpumb *g, const char *text)
{
    const size_t count = g->columns.texts;
    const uint64_t key = gpumbi_hash(0, text);
    for (size_t i = SIZE_MAX; (i = gpumbi_index_find(&g->columns.index, key, i)) != SIZE_MAX;)
        if (!strcmp(g->columns.text[i]->text, text))
            return g->columns.text[i];
    if (!gpumbi_grow(g, &g->columns.text, sizeof *g->columns.text, count,
                     &g->columns.text_capacity) ||
        !gpumbi_index_reserve(g, &g->columns.index, count + 1))
        return NULL;
    gpumbi_text *t = (gpumbi_text *)gpumbi_allocate(g, sizeof *t + strlen(text));
    if (t) {
        memcpy(t->text, text, strlen(text) + 1);
        g->columns.text[g->columns.texts++] = t;
        gpumbi_index_add(&g->columns.index, count, key);
    }
    return t;
}

/* The real that these are the bits of. */
static inline double gpumbi_as_real(int64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Takes back those that came last. */
static inline void gpumbi_columns_shorten(gpumb *g, int count)
{
    g->columns.count = count;
}

GPUMBI_TOOL(gpumbi_columns_tool, COLUMNS, NULL, GPUMBI_NO_REGION, GPUMBI_NO_ROWS, GPUMBI_NO_END);

enum { GPUMBI_WHY = 200 };

/* The column of this name after the fixed ones, a new one if need be; -1 if it can't have one, and
 * why: up to a semicolon, after which is what a program can do. */
static inline int gpumbi_find_column(gpumb *g, const char *name, gpumbi_column_kind kind, char *why)
{
    static const int most[] = {GPUMBI_COLUMNS, GPUMBI_OWN_VALUES};
    char plain[sizeof g->columns.name[0]]; /* what is longer is cut */
    int taken = 0, of_kind = 0;
    why[0] = 0;
    gpumbi_copy_line(plain, sizeof plain, name);
    for (int i = 0; i < g->columns.count; i++) {
        const int same = !strcmp(g->columns.name[i], name);
        if (same && g->columns.kind[i] == kind)
            return i;
        taken |= same;
        of_kind += g->columns.kind[i] == kind;
    }
    if (taken ||
        gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, name, -1) < GPUMBI_COLUMNS_FIXED)
        gpumbi_format(why, GPUMBI_WHY,
                      "that is the name of a column; take another, my_%s for example", name);
    else if (!name[0] || strcmp(plain, name) || strchr(name, ';'))
        gpumbi_format(why, GPUMBI_WHY,
                      "a name has 1 to %d characters, and no semicolon or control character",
                      (int)sizeof plain - 1);
    else if (of_kind == most[kind] || g->columns.count == GPUMBI_COLUMNS)
        gpumbi_format(why, GPUMBI_WHY, "there are %d of them already", of_kind);
    if (why[0])
        return -1;
    gpumbi_copy_text(g->columns.name[g->columns.count], sizeof g->columns.name[0], name);
    g->columns.kind[g->columns.count] = kind;
    g->columns.named[g->columns.count] = 0; /* one that was here was taken back */
    return g->columns.count++;
}

/* -1: no axis has this name. */
static inline int gpumbi_axis_column(const gpumb *g, const char *name)
{
    int i = g->columns.count - 1;
    while (i >= 0 && (g->columns.kind[i] != GPUMBI_AXIS || strcmp(g->columns.name[i], name)))
        i--;
    return i;
}

/* The column of this name for a program, whose context ends if the column can't be had. */
static inline int gpumbi_need_column(gpumb *g, const char *name, gpumbi_column_kind kind)
{
    char why[GPUMBI_WHY];
    name = name ? name : "";
    const int column = gpumbi_find_column(g, name, kind, why);
    if (column < 0)
        gpumbi_end(g, GPUMB_EXIT_ERROR, "%s %s: %s", kind == GPUMBI_AXIS ? "axis" : "value", name,
                   why);
    return column;
}

/* Its values are no numbers, even if they look like some. */
static inline void gpumbi_column_has_names(gpumb *g, int column)
{
    if (column >= 0)
        g->columns.named[column] = 1;
}

/* Sets a row's value in a column; -1: in none. Returns the column's own copy of its name. */
static inline const char *gpumbi_put_value(gpumb *g, gpumbi_values *values, int column,
                                           double value)
{
    int i = 0;
    while (i < values->count && values->at[i].column != column)
        i++;
    if (column < 0 || i == GPUMBI_COLUMNS)
        return "";
    values->count += i == values->count;
    values->at[i].column = column;
    values->at[i].value = gpumbi_finite(value) ? value : NAN;
    return g->columns.name[column];
}

static inline double gpumbi_value_of(const gpumb *g, const gpumbi_values *values, const char *name)
{
    for (int i = 0; name && i < values->count; i++)
        if (!strcmp(g->columns.name[values->at[i].column], name))
            return values->at[i].value;
    return NAN;
}

GPUMB_API void gpumb_set_value(gpumb *g, const char *name, double value)
{
    if ((g = gpumbi_enter(g)) != NULL)
        gpumbi_put_value(
            g, g->region.active ? &g->region.active->about.values : &gpumbi_about(g)->values,
            gpumbi_need_column(g, name, GPUMBI_OWN), value);
}

/* The value of an axis as text, made in `number` if it is none; "" where the row has no such
 * axis. */
static inline const char *gpumbi_axis_text(const gpumbi_point *point, int column,
                                           gpumbi_number *number)
{
    number->text[0] = 0;
    for (int i = 0; i < point->depth; i++)
        if (point->at[i].column == column) {
            if (point->at[i].text)
                return point->at[i].text;
            gpumbi_format(number->text, sizeof number->text, "%lld", (long long)point->at[i].value);
        }
    return number->text;
}

/* Adds all axes to a text: n=1024 elem=4. */
static inline void gpumbi_append_axes(char *text, size_t size, const gpumb *g,
                                      const gpumbi_point *point, const char *between,
                                      const char *equals)
{
    gpumbi_number number;
    for (int i = 0; i < point->depth; i++) {
        const int column = point->at[i].column;
        gpumbi_append(text, size, "%s%s%s%s", text[0] ? between : "", g->columns.name[column],
                      equals, gpumbi_axis_text(point, column, &number));
    }
}

/* The text of any column after the fixed ones, values in so many digits; 0: in all of them. */
static inline const char *gpumbi_column_text(const gpumbi_row *row, int column, int digits,
                                             gpumbi_number *number)
{
    const gpumbi_values *values = row->values;
    for (int i = 0; i < values->count; i++)
        if (values->at[i].column == column && gpumbi_finite(values->at[i].value)) {
            *number = digits ? gpumbi_write_number(values->at[i].value, digits, 0)
                             : gpumbi_write_scaled(values->at[i].value, 0);
            return number->text;
        }
    return gpumbi_axis_text(&row->point, column, number);
}

/* ================================================================================================
 * INSTRUMENTS
 *
 * Owns g->instrument: the profiler and the counters while they are attached for a region; and what
 * --strict does to its buffers. A context has them from gpumb_open(), gpumb_set_timing() or
 * gpumb_set_counters() on.
 */

/* ---- the profiler's time stamps -------------------------------------------------------------- */

static inline void gpumbi_profile(gpumb *g, gpumbi_sampler *s)
{
    s->profiled = !g->instrument.no_profiler && !gpumbi_dev_profiler_attach();
    if (s->profiled)
        return;
    if (!g->instrument.no_profiler++)
        gpumbi_say("%s: no profiler to time it with: NVIDIA's needs libcupti.so of the CUDA "
                   "Toolkit, no other attached, and no counters in this process; AMD's is not "
                   "supported; timed without one",
                   gpumbi_kernel_name(&s->result));
    s->about.timing = GPUMB_TIMING_AUTO;
}

/* What the profiler shows for an empty kernel: its overhead on any kernel, 1.7 us on an H200, and
 * the 0.1 us of the kernel itself. */
static inline void gpumbi_choose_profiler(gpumb *g, gpumbi_sampler *s)
{
    enum { rounds = 31 };
    double seconds[rounds];
    s->result.timing = GPUMB_TIMING_PROFILER;
    s->result.batch = 1;
    s->quantum_s = 0;
    if (g->instrument.profiled_launch_s <= 0) {
        for (int i = 0; i < rounds; i++) {
            gpumbi_launch_empty(1, 32);
            if (gpumbi_try(g, gpumbi_dev_wait(g->stream), "wait"))
                return;
            (void)gpumbi_dev_profiler_look(&seconds[i]);
        }
        g->instrument.profiled_launch_s = gpumb_statistics(seconds, rounds).median;
    }
    s->result.overhead_s = g->instrument.profiled_launch_s;
}

/* ---- --strict: against what is written for the test ------------------------------------------ */

#if defined(GPUMBI_STRICT)
/* An unpredictable number from the system; with --seed the next of a sequence. */
static inline uint64_t gpumbi_draw(gpumb *g)
{
    uint64_t number = gpumbi_mix(g->settings.seed, ++g->instrument.drawn);
    if (!g->settings.seed && gpumbi_unforeseen(&number, sizeof number))
        gpumbi_end(g, GPUMB_EXIT_ERROR, "--strict: the system gives no random numbers");
    return number;
}

static inline void gpumbi_draw_key(gpumb *g)
{
    uint64_t number[4];
    for (int i = 0; i < 4; i++)
        number[i] = gpumbi_draw(g);
    memcpy(gpumbi_secret.word, number, sizeof number);
    gpumbi_secret.is_set = 1;
}

static inline void gpumbi_fill_all(gpumb *g, const gpumbi_cipher_key *key)
{
    gpumbi_secret = *key;
    for (gpumb_buffer *b = g->memory.buffers; b; b = b->next)
        if (b->twin)
            gpumbi_fill_again(g, b);
}

/* Swaps a buffer's memory with its twin's, and poisons what it left. */
static inline void gpumbi_move_buffer(gpumb *g, gpumb_buffer *b, int keeps)
{
    gpumb_buffer *const twin = b->twin;
    char *const from = (char *)b->data, *const memory = from - b->shift;
    b->shift = gpumbi_draw(g) % GPUMBI_PLACES * GPUMBI_PLACE_BYTES;
    b->data = (char *)twin->data + b->shift;
    twin->data = memory;
    if (keeps)
        gpumb_memcpy(g, b->data, from, b->bytes);
    gpumbi_set_guard(g, b);
    gpumbi_poison(g, twin, gpumbi_beside(g));
    gpumbi_set_guard(g, twin);
}

static inline int gpumbi_is_output(const gpumbi_sampler *s, const gpumb_buffer *b)
{
    int is = 0;
    for (int i = 0; i < s->about.outputs; i++)
        is |= s->about.output[i] == b;
    return is;
}

/* Other memory, new contents. About ten samples of thirty are checked, 50 of 10000. */
static inline int gpumbi_renew(gpumb *g, gpumbi_sampler *s)
{
    const int samples = s->phase == GPUMBI_SAMPLE;
    if (!g->settings.strict || (s->phase != GPUMBI_FIRST && !samples && s->phase != GPUMBI_RECHECK))
        return 0;
    gpumbi_try_launch(g, gpumbi_dev_wait_all(), "kernel"); /* else one could wait for the inputs */
    for (gpumb_buffer *b = g->memory.buffers; b; b = b->next)
        if (b->twin)
            gpumbi_move_buffer(g, b, b->fill == GPUMB_FILL_ZERO && !gpumbi_is_output(s, b));
    gpumbi_draw_key(g);
    const gpumbi_cipher_key key = gpumbi_secret;
    gpumbi_fill_all(g, &key);
    s->strict.before = s->strict.now;
    s->strict.now = key;
    if (s->phase == GPUMBI_FIRST)
        s->strict.first = key;
    if (!s->samples.count)
        s->strict.next = gpumbi_draw(g) % 3;
    s->strict.due = samples && s->samples.count >= s->strict.next;
    if (s->strict.due)
        s->strict.next = s->samples.count + 1 + gpumbi_draw(g) % (2 + s->samples.count / 4);
    return 1;
}

/* What a run has written when its time ends, in the order of the stream. */
static inline void gpumbi_keep_outputs(gpumb *g, const gpumbi_sampler *s)
{
    for (int i = 0; i < s->about.outputs; i++) {
        const gpumb_buffer *b = s->about.output[i];
        if (b)
            gpumb_memcpy(g, b->twin->data, b->data, b->bytes);
    }
}

/* How many outputs differ from their twins. */
static inline int gpumbi_outputs_differ(gpumb *g, const gpumbi_sampler *s)
{
    int differ = 0;
    gpumbi_try_launch(g, gpumbi_dev_wait_all(), "kernel");
    for (int i = 0; i < s->about.outputs; i++) {
        const gpumb_buffer *b = s->about.output[i];
        differ += b && gpumb_compare(g, b, b->twin, b->bytes, NULL);
    }
    return differ;
}

/* Makes the reason of a wrong result the trick that it shows. */
static inline void gpumbi_name_trick(gpumb *g, gpumbi_sampler *s)
{
    char why[sizeof g->why];
    const gpumbi_cipher_key earlier[] = {s->strict.first, s->strict.before};
    const char *trick = NULL;
    gpumbi_copy_text(why, sizeof why, g->why[0] ? g->why : "wrong result");
    for (int i = 0; i < s->about.outputs; i++)
        if (s->about.output[i])
            gpumb_poison(g, s->about.output[i]->twin);
    if (gpumbi_outputs_differ(g, s) < s->about.outputs)
        trick =
            s->phase == GPUMBI_SAMPLE
                ? "writes nothing when timed: it works in the checked runs alone, keeps a pointer "
                  "from an earlier run, or relies on what that has left"
                : "writes nothing to other memory: nothing at all, or by a pointer that is kept "
                  "from an earlier run or was taken before the region";
    for (int i = 0; i < 2 && !trick && s->phase != GPUMBI_FIRST; i++) {
        gpumbi_fill_all(g, &earlier[i]);
        if (s->about.check(g, s->about.check_user))
            trick = "its result is right for the inputs of an earlier run: it is kept";
    }
    if (trick)
        gpumb_reason(g, "%s", trick);
    else
        gpumb_reason(g, "%s%s",
                     s->phase == GPUMBI_SAMPLE    ? "in a timed run: "
                     : s->phase == GPUMBI_RECHECK ? "in other memory, with other inputs: "
                                                  : "",
                     why);
}

/* Whether new inputs take far longer, each time, than those of the run before, with which the
 * warm-up goes on: times are honest then, and the kernel is not. On a busy machine most may; and
 * after inputs that the host brings, the device was idle: all 61 runs of a kernel of 1 x 1 took 12
 * us instead of 4 (H100), which is as if it were launched twice more. The CPU's threads slept, and
 * take 30 ... 80 us to wake, or until other processes have had their turns: all six runs took 4 ms
 * instead of 75 us beside five of them (two cores). */
static inline int gpumbi_remembers(gpumb *g, gpumbi_sampler *s)
{
    const double known_s = s->warm_up.estimate_s;
    const double launches_s = 2 * g->device.empty_kernel_s + (gpumbi_is_cpu(g) ? 50e-3 : 0);
    const gpumb_stats now = gpumbi_statistics_now(s);
    const double new_s = now.median + s->result.overhead_s;
    if (!s->warm_up.runs || now.min + s->result.overhead_s < 3 * known_s + launches_s)
        return 0;
    gpumb_reason(g,
                 "takes %s with new inputs and %s with those of the run before: a result is kept, "
                 "or left in the outputs",
                 gpumbi_write_time(new_s).text, gpumbi_write_time(known_s).text);
    return 1;
}

/* What --strict can't do without. */
static inline void gpumbi_judge_strict(const gpumb *g, gpumbi_sampler *s)
{
    int renewed = s->about.reset != NULL, twins = s->about.outputs > 0;
    const int given = s->about.meaning != GPUMB_MEANING_NONE;
    for (const gpumb_buffer *b = g->memory.buffers; b; b = b->next)
        renewed |= b->twin && b->fill != GPUMB_FILL_ZERO;
    for (int i = 0; i < s->about.outputs; i++)
        twins &= s->about.output[i] && s->about.output[i]->twin;
    if (g->settings.seed)
        s->result.flags |= GPUMB_FLAG_KNOWN_SEED;
    if (given || !s->about.check || !twins || !renewed)
        gpumbi_fail(
            s, GPUMB_STATUS_FAILED,
            given             ? "--strict: times that are given can't be checked"
            : !s->about.check ? "--strict: needs a check, by gpumb_set_verify()"
            : !twins
                ? "--strict: needs gpumb_set_output(), of gpumb_alloc(), for all outputs"
                : "--strict: needs inputs of gpumb_alloc(), filled by gpumb_fill(), or a reset");
}

static inline int gpumbi_check_strictly(gpumb *g, gpumbi_sampler *s)
{
    if (s->strict.due && gpumbi_outputs_differ(g, s)) {
        gpumb_reason(g, "writes its outputs after the end of its time: it works on another stream "
                        "than gpumb_stream(), or later");
        return 0;
    }
    gpumbi_fill_all(g, &s->strict.now); /* the check reads what the kernel was given */
    const int right = s->about.check(g, s->about.check_user) != 0;
    if (!right)
        gpumbi_name_trick(g, s);
    for (int i = 0; i < s->about.outputs; i++) /* results were kept there */
        if (s->about.output[i] && s->strict.due)
            gpumb_poison(g, s->about.output[i]->twin);
    return right && !(s->phase == GPUMBI_RECHECK && gpumbi_remembers(g, s));
}

static inline void gpumbi_strict_open(gpumb *g)
{
    if (g->settings.strict)
        gpumbi_draw_key(g);
}

static inline void gpumbi_strict_close(gpumb *g)
{
    if (g->settings.strict)
        memset(&gpumbi_secret, 0, sizeof gpumbi_secret);
}
#else
static inline int gpumbi_renew(gpumb *g, gpumbi_sampler *s)
{
    (void)g, (void)s;
    return 0;
}

static inline void gpumbi_strict_open(gpumb *g)
{
    if (g->settings.strict)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--strict: with GPUMB_STATIC it is compiled on request: #define GPUMB_STRICT "
                   "before the implementation");
}

#define gpumbi_keep_outputs NULL
#define gpumbi_judge_strict(g, s) (void)0
#define gpumbi_check_strictly(g, s) 0
#define gpumbi_strict_close NULL
#endif

static inline int gpumbi_check_run(gpumb *g, gpumbi_sampler *s)
{
    if (!s->about.check)
        return 1;
    return g->settings.strict ? gpumbi_check_strictly(g, s)
                              : s->about.check(g, s->about.check_user) != 0;
}

/* ---- runs for a profiler --------------------------------------------------------------------- */

/* What the ranges are called: benchmark, kernel and, if there are any, axes, without characters
 * that have a meaning in Nsight Compute's filters ("NVTX Filtering" in its CLI's manual). Returns
 * how many. */
static inline int gpumbi_range_names(const gpumb *g, const gpumbi_sampler *s, char (*name)[200])
{
    gpumbi_copy_text(name[0], 200, s->result.bench);
    gpumbi_copy_text(name[1], 200, gpumbi_kernel_name(&s->result));
    name[2][0] = 0;
    gpumbi_append_axes(name[2], 200, g, &s->point, " ", "=");
    for (int i = 0; i < 3; i++) {
        gpumbi_plain(name[i]);
        for (char *c = name[i]; *(c += strcspn(c, "/@,[]*+\\\"")); c++)
            *c = *c == '/' ? '.' : '_';
    }
    return 2 + (name[2][0] != 0);
}

/* Work on other streams is within the ranges, too. */
static inline void gpumbi_unmark(gpumbi_sampler *s)
{
    if (s->marked) {
        (void)gpumbi_dev_wait_all(); /* an error comes again with the next wait */
        gpumbi_dev_unmark(s->marked);
    }
    s->marked = 0;
}

/* Whether a profiler or checker runs the program, by the variables that these set: Nsight Compute
 * and Compute Sanitizer 2025.3, Nsight Systems, rocprofv3, and any with ranges. */
static inline int gpumbi_profiler_runs(void)
{
    static const char *const sign[] = {
        "NV_COMPUTE_PROFILER_PERFWORKS_DIR", "NV_SANITIZER_INJECTION_PORT_BASE",
        "NSYS_PROFILING_SESSION_ID", "ROCP_TOOL_LIBRARIES", "NVTX_INJECTION64_PATH"};
    int found = 0;
    for (int i = 0; i < 5; i++)
        found |= getenv(sign[i]) != NULL;
    return found;
}

/* ---- hardware counters ----------------------------------------------------------------------- */

/* Gives each of the region's counters its column, and makes them those that are to be counted. */
static inline void gpumbi_list_counters(gpumb *g, gpumbi_sampler *s)
{
    char name[GPUMBI_COLUMN_NAME + 1], why[GPUMBI_WHY];
    gpumbi_counting *c = &g->instrument.counting;
    const int option = s->about.counters == g->settings.counters;
    c->names = 0;
    for (const char *text = s->about.counters; text && !g->done;) {
        gpumbi_format(name, sizeof name, "%.*s", (int)strcspn(text, ","), text);
        const int column = gpumbi_find_column(g, name, GPUMBI_OWN, why);
        if (column < 0)
            gpumbi_end(g, option ? GPUMB_EXIT_USAGE : GPUMB_EXIT_ERROR,
                       "%s %s: '%s' is no counter: %.*s; for example dram_read_bytes,l2_hit_rate",
                       option ? "--counters" : "gpumb_set_counters()", s->about.counters, name,
                       (int)strcspn(why, ";"), why);
        if (c->names < GPUMBI_OWN_VALUES)
            c->name[c->names++] = gpumbi_put_value(g, &s->about.values, column, NAN);
        text = strchr(text, ',');
        text += text != NULL;
    }
}

static inline void gpumbi_say_counting(gpumb *g)
{
    gpumbi_counting *c = &g->instrument.counting;
    if (c->why[0] && strcmp(c->why, g->instrument.counters_said)) {
        gpumbi_say("%s", c->why);
        gpumbi_copy_text(g->instrument.counters_said, sizeof g->instrument.counters_said, c->why);
    }
    c->why[0] = 0;
}

/* Opens the counters for a row that is ok. */
static inline void gpumbi_count_begin(gpumb *g, gpumbi_sampler *s)
{
    if (!s->about.counters || s->copy_to || gpumbi_parent)
        return;
    gpumbi_release(g, s); /* the profiler, too: it allows one at a time */
    gpumbi_list_counters(g, s);
    if (gpumbi_profiler_runs())
        gpumbi_copy_text(g->instrument.counting.why, sizeof g->instrument.counting.why,
                         "no hardware counters: another profiler has them");
    else
        s->counting = gpumbi_dev_counters_open(&g->instrument.counting, g->device.ordinal);
    if (s->counting)
        s->phase = GPUMBI_COUNT;
    gpumbi_say_counting(g);
}

static inline void gpumbi_count_end(gpumb *g, gpumbi_sampler *s)
{
    gpumbi_counting *c = &g->instrument.counting;
    if (gpumbi_dev_counters_stop(c)) /* wants another pass */
        return;
    for (int i = 0; i < c->names; i++)
        gpumbi_put_value(g, &s->about.values, gpumbi_need_column(g, c->name[i], GPUMBI_OWN),
                         c->value[i]);
    gpumbi_say_counting(g);
    s->phase = GPUMBI_FINISHED;
}

/* ---- the table of instruments ---------------------------------------------------------------- */

static inline void gpumbi_instruments_begin(gpumb *g, gpumbi_sampler *s)
{
    if (g->settings.strict)
        gpumbi_judge_strict(g, s);
    if (s->phase != GPUMBI_FINISHED && s->about.timing == GPUMB_TIMING_PROFILER && s->use_events)
        gpumbi_profile(g, s);
}

static inline void gpumbi_instruments_start(gpumb *g, gpumbi_sampler *s)
{
    double ignored;
    char name[3][200];
    if (s->profiled)
        (void)gpumbi_dev_profiler_look(&ignored);
    if (s->phase == GPUMBI_PROFILE && !gpumbi_in_trouble(g, s)) { /* the device is idle */
        s->marked = gpumbi_range_names(g, s, name);
        gpumbi_dev_mark(name, s->marked);
    }
    if (s->counting)
        gpumbi_dev_counters_start();
}

static inline double gpumbi_profiled_seconds(const gpumbi_sampler *s)
{
    double seconds;
    const uint64_t records = gpumbi_dev_profiler_look(&seconds);
    return records < s->kernel.launches ? 0 : seconds; /* some are missing */
}

static inline void gpumbi_instruments_release(gpumbi_sampler *s)
{
    gpumbi_unmark(s);
    if (s->profiled)
        gpumbi_dev_profiler_detach();
    if (s->counting)
        gpumbi_dev_counters_close();
    s->profiled = s->counting = 0;
}

/* A region is about to run: its counters get their columns. */
static inline void gpumbi_instruments_prepare(gpumb *g, gpumbi_sampler *s)
{
    if (!s->about.counters)
        s->about.counters = g->settings.counters;
    if (!s->copy_to)
        gpumbi_list_counters(g, s);
}

static inline void gpumbi_instruments_use(gpumb *g)
{
    static const struct gpumbi_instruments table = {
        gpumbi_instruments_begin,  gpumbi_renew,
        gpumbi_instruments_start,  gpumbi_unmark,
        gpumbi_keep_outputs,       gpumbi_profiled_seconds,
        gpumbi_check_run,          gpumbi_choose_profiler,
        gpumbi_count_begin,        gpumbi_count_end,
        gpumbi_instruments_release};
    GPUMBI_TOOL(tool, INSTRUMENTS, NULL, {NULL, gpumbi_instruments_prepare, NULL}, GPUMBI_NO_ROWS,
                {NULL, gpumbi_strict_close});
    g->instruments = &table;
    gpumbi_use(g, &tool);
}

GPUMB_API void gpumb_set_counters(gpumb *g, const char *names)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    gpumbi_instruments_use(g);
    gpumbi_about(g)->counters = names;
}

GPUMB_API void gpumb_set_timing(gpumb *g, gpumb_timing timing)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return;
    gpumbi_instruments_use(g);
    if (!gpumbi_unknown(g, "gpumb_set_timing", (int)timing, GPUMB_TIMING_GIVEN))
        gpumbi_about(g)->timing = timing;
}

/* ================================================================================================
 * ROWS
 *
 * Owns g->rows: the finished rows, each a result with its point, its values and, --raw, its
 * samples.
 */

/* Makes a row of a sampler; `ok`: one with times. */
static inline void gpumbi_add_row(gpumb *g, const gpumbi_sampler *s, int ok)
{
    if (!gpumbi_working(g)) /* the device is lost: the row is dropped */
        return;
    if (!gpumbi_grow(g, &g->rows.at, sizeof *g->rows.at, g->rows.count, &g->rows.capacity))
        return;
    const size_t point_bytes =
        offsetof(gpumbi_point, at) + (size_t)s->point.depth * sizeof s->point.at[0];
    const size_t values_bytes =
        offsetof(gpumbi_values, at) + (size_t)s->about.values.count * sizeof s->about.values.at[0];
    const size_t values_at = offsetof(gpumbi_row, point) + point_bytes; /* multiples of 8 */
    const size_t samples_at = values_at + values_bytes;
    const size_t samples_bytes = /* of a row that is ok */
        g->settings.raw && s->samples.count ? (size_t)s->result.time.count * sizeof(double) : 0;
    gpumbi_row *row = (gpumbi_row *)gpumbi_allocate(g, samples_at + samples_bytes);
    if (!row)
        return;
    memcpy(&row->point, &s->point, point_bytes);
    row->values = (gpumbi_values *)(void *)((char *)row + values_at);
    memcpy(row->values, &s->about.values, values_bytes);
    if (samples_bytes) {
        row->samples = (double *)(void *)((char *)row + samples_at);
        memcpy(row->samples, s->samples.values, samples_bytes);
    }
    row->result = s->result;
    row->order = s->order;
    row->region = g->children.regions;
    g->rows.at[g->rows.count++] = row;
    row->number = g->rows.count;
    g->rows.last_finished = g->rows.count - 1;
    g->rows.ok += (uint64_t)ok;
    g->rows.skipped += !ok && s->result.status == GPUMB_STATUS_SKIPPED;
    gpumbi_region_ran(g, s, ok);
    GPUMBI_EACH_TOOL(g, rows.made, (g, row));
    const gpumb_result *r = &row->result;
    if (ok && g->rows.states >= 0 && r->bytes > 0) {
        g->rows.states = 1;
    } else if (ok && g->rows.states > 0 && r->bytes <= 0 && r->flop <= 0) { /* once */
        gpumbi_say("%s/%s states no bytes, as rows before it do: what gpumb_set_bytes() says holds "
                   "for the next region alone",
                   r->bench, r->kernel);
        g->rows.states = -1;
    }
    GPUMBI_EACH_TOOL(g, rows.write, (g));
}

/* Whether the counters saw the device's memory move as much as is stated. */
static inline int gpumbi_traffic_differs(const gpumb *g, const gpumbi_sampler *s)
{
    const gpumb_result *r = &s->result;
    const uint64_t l2 = g->device.l2_bytes;
    const double moved = gpumbi_value_of(g, &s->about.values, "dram_read_bytes") +
                         gpumbi_value_of(g, &s->about.values, "dram_write_bytes");
    return r->status == GPUMB_STATUS_OK && r->bytes > 0 && r->link_gbps <= 0 &&
           r->to_device + r->to_host <= 0 && r->reference <= 0 && l2 &&
           r->footprint_bytes >= 20 * l2 &&
           fabs(moved - r->bytes) > 0.1 * r->bytes; /* unknown, it is not */
}

/* A region becomes a row; with --profile, the line that filters for it, and what came of it. */
static inline void gpumbi_rows_done(gpumb *g, gpumbi_sampler *s)
{
    char name[3][200];
    const size_t rows = g->rows.count;
    const int profiled = !strcmp(s->result.reason, GPUMBI_PROFILED);
    if (gpumbi_traffic_differs(g, s))
        s->result.flags |= GPUMB_FLAG_TRAFFIC;
    gpumbi_add_row(g, s, profiled || s->result.status == GPUMB_STATUS_OK);
    if (!g->settings.profile || g->rows.count == rows || !g->table.file)
        return;
    const uint64_t runs = profiled ? s->samples.count : 0;
    const char *slash = gpumbi_range_names(g, s, name) == 3 ? "/" : "";
    gpumbi_progress_clear();
    gpumbi_print(g->table.file, "%s/%s%s%s: %s%s%s\n", name[0], name[1], slash, name[2],
                 runs ? gpumbi_count(runs, "run").text : gpumbi_status_name[s->result.status],
                 runs ? "" : ": ", runs ? "" : s->result.reason);
    fflush(g->table.file);
}

static inline int gpumbi_row_order(const void *a, const void *b)
{
    const gpumbi_row *x = *(gpumbi_row *const *)a, *y = *(gpumbi_row *const *)b;
    const size_t i = x->order == y->order ? x->number : x->order;
    const size_t j = x->order == y->order ? y->number : y->order;
    return (i > j) - (i < j);
}

GPUMB_API size_t gpumb_row_count(gpumb *g)
{
    g = gpumbi_context(g);
    return gpumbi_dry(g) ? 0 : g->rows.count;
}

GPUMB_API const gpumb_result *gpumb_row(gpumb *g, size_t row)
{
    return row < gpumb_row_count(g) ? &gpumbi_context(g)->rows.at[row]->result : NULL;
}

/* NULL: it has no such axis. */
static inline const gpumbi_coordinate *gpumbi_row_coordinate(gpumb *g, size_t row, const char *axis)
{
    const gpumbi_point *point = row < gpumb_row_count(g) ? &g->rows.at[row]->point : NULL;
    for (int i = 0; axis && point && i < point->depth; i++)
        if (!strcmp(g->columns.name[point->at[i].column], axis))
            return &point->at[i];
    return NULL;
}

GPUMB_API int64_t gpumb_row_axis(gpumb *g, size_t row, const char *axis)
{
    g = gpumbi_context(g);
    const gpumbi_coordinate *at = gpumbi_row_coordinate(g, row, axis);
    return at && !at->is_real ? at->value : -1;
}

GPUMB_API const gpumb_result *gpumb_last_result(gpumb *g)
{
    g = gpumbi_context(g);
    return g->rows.count ? &g->rows.at[g->rows.last_finished]->result : NULL;
}

/* At the end of a shuffled sweep: those that wait, in their natural order. */
static inline void gpumbi_sort_rows(gpumb *g)
{
    if (g->rows.count > g->rows.written)
        qsort(g->rows.at + g->rows.written, g->rows.count - g->rows.written, sizeof *g->rows.at,
              gpumbi_row_order);
    for (size_t i = g->rows.written; i < g->rows.count; i++)
        if (g->rows.at[i]->number == g->rows.count)
            g->rows.last_finished = i;
    GPUMBI_EACH_TOOL(g, rows.write, (g));
}

/* The next finished row to be shown; NULL: there is none, or it waits for the end of its sweep. */
static inline const gpumbi_row *gpumbi_next_to_show(gpumb *g)
{
    const int waits = g->sweep.run_order != NULL || g->rows.written == g->rows.count;
    return waits ? NULL : g->rows.at[g->rows.written++];
}

/* A new benchmark: none of its rows has stated bytes yet. */
static inline void gpumbi_rows_benchmark(gpumb *g)
{
    g->rows.states = g->rows.states < 0 ? -1 : 0;
}

static inline void gpumbi_rows_closing(gpumb *g)
{
    if (g->rows.ok + g->rows.skipped < g->rows.count || (g->rows.skipped && !g->rows.ok))
        gpumbi_mark_failed(g);
}

GPUMBI_TOOL(gpumbi_rows_tool, ROWS, &gpumbi_columns_tool, GPUMBI_NO_REGION,
            {gpumbi_rows_done, NULL, NULL, NULL}, {gpumbi_rows_closing, NULL});

GPUMB_API gpumb *gpumbi_measure_begin(gpumb *g, const char *name)
{
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_rows_tool);
    gpumbi_rates_use(g);
    return gpumbi_region_begin(g, name, NULL);
}

/* ================================================================================================
 * SWEEPS
 *
 * Owns g->sweep: the open axes and the list of points, one for each configuration that has a
 * region; and g->selection: what --filter lets through, and --list shows.
 */

/* The first time in a benchmark that --list meets something that is let through. */
static inline void gpumbi_list_benchmark(gpumb *g)
{
    const gpumb_benchmark *benchmark = g->selection.benchmark;
    if (!benchmark || g->selection.head_listed == g->selection.benchmark_number)
        return;
    g->selection.head_listed = g->selection.benchmark_number;
    gpumbi_progress_clear();
    gpumbi_print(stdout, "%s%*s %s\n", g->bench, gpumbi_blank(20, g->bench), "",
                 benchmark->description ? benchmark->description : "");
}

/* Whether --filter lets a region through. */
static inline int gpumbi_matches(const gpumb *g, const char *kernel)
{
    char name[160];
    if (!g->options.filters)
        return 1;
    gpumbi_format(name, sizeof name, "%s/%s", g->bench, kernel ? kernel : "");
    for (int i = 0; i < g->options.filters; i++)
        if (strstr(name, g->options.filter[i]))
            return 1;
    return 0;
}

static inline int gpumbi_selected(gpumb *g, const char *kernel)
{
    const int selected = gpumbi_matches(g, kernel);
    if (gpumbi_dry(g)) {
        g->selection.seen++;
        g->selection.matched += (uint64_t)selected;
    }
    return selected;
}

/* The cells of a point in the list, and how many there are. */
static inline const gpumbi_coordinate *gpumbi_point_cells(const gpumb *g, size_t number, int *depth)
{
    const size_t begin = g->sweep.point[number];
    const size_t end =
        number + 1 < g->sweep.point_count ? g->sweep.point[number + 1] : g->sweep.cell_count;
    *depth = (int)(end - begin);
    return g->sweep.cell + begin;
}

static inline int gpumbi_is_point(const gpumb *g, size_t number, const gpumbi_coordinate *at,
                                  int depth)
{
    int count;
    const gpumbi_coordinate *cell = gpumbi_point_cells(g, number, &count);
    if (count != depth)
        return 0;
    for (int i = 0; i < depth; i++)
        if (cell[i].column != at[i].column || cell[i].value != at[i].value ||
            cell[i].sibling != at[i].sibling)
            return 0;
    return 1;
}

/* 1 where a region is to run: outside sweeps, or in the pass of its own configuration. */
static inline int gpumbi_on_point(const gpumb *g)
{
    return !g->sweep.here.depth ||
           (g->sweep.point_index < g->sweep.point_count &&
            gpumbi_is_point(g, g->sweep.number, g->sweep.here.at, g->sweep.here.depth));
}

/* Adds the point of the open axes to the list, unless it is there. */
static inline void gpumbi_add_point(gpumb *g)
{
    const gpumbi_point *here = &g->sweep.here;
    const size_t count = g->sweep.point_count, begin = g->sweep.cell_count;
    uint64_t key = 0;
    for (int i = 0; i < here->depth; i++) {
        key = (key ^ (uint64_t)here->at[i].value) * UINT64_C(0x9e3779b97f4a7c15);
        key = (key ^ (key >> 32)) + (uint64_t)here->at[i].column;
    }
    for (size_t i = SIZE_MAX; (i = gpumbi_index_find(&g->sweep.index, key, i)) != SIZE_MAX;)
        if (gpumbi_is_point(g, i, here->at, here->depth))
            return;
    if (!gpumbi_grow(g, &g->sweep.point, sizeof *g->sweep.point, count, &g->sweep.point_capacity) ||
        !gpumbi_index_reserve(g, &g->sweep.index, count + 1))
        return;
    for (int i = 0; i < here->depth; i++) {
        if (!gpumbi_grow(g, &g->sweep.cell, sizeof *g->sweep.cell, g->sweep.cell_count,
                         &g->sweep.cell_capacity))
            return;
        g->sweep.cell[g->sweep.cell_count++] = here->at[i];
    }
    g->sweep.point[g->sweep.point_count++] = begin;
    gpumbi_index_add(&g->sweep.index, count, key);
}

/* Called for each region that the first pass reaches: shows how far the search for all
 * configurations has come, four times a second, or, for --list, the region with its benchmark and
 * its axes, what is shown already left out. */
static inline void gpumbi_enumerate_region(gpumb *g, const char *kernel)
{
    char text[80];
    const double now = g->progress.shown ? gpumbi_dev_clock() : 0;
    if (g->sweep.next_s <= 0)
        g->sweep.next_s = now + 0.25;
    if (now >= g->sweep.next_s && g->progress.shown) {
        g->sweep.next_s = now + 0.25;
        gpumbi_format(text, sizeof text, "[%s found so far] %.40s",
                      gpumbi_count(g->region.reached, "region").text, g->bench);
        gpumbi_show_progress(text);
    }
    if (!g->options.lists)
        gpumbi_add_point(g);
    if (!g->options.lists || !gpumbi_matches(g, kernel))
        return;
    gpumbi_list_benchmark(g);
    const int number = g->selection.benchmark_number + 1;
    for (const gpumb_axis *a = g->sweep.axis; a < g->sweep.axis + g->sweep.here.depth; a++) {
        int *listed = &g->selection.column_listed[a->column];
        if (*listed == number)
            continue;
        *listed = number;
        gpumbi_progress_clear();
        gpumbi_print(stdout, "    axis   %s =", g->columns.name[a->column]);
        for (size_t i = 0; i < a->count && i < 20; i++)
            if (a->values[i].text)
                gpumbi_print(stdout, " %s", a->values[i].text);
            else
                printf(" %lld", (long long)a->values[i].value);
        printf(a->count > 20 ? " ...\n" : "\n");
    }
    gpumbi_copy_text(text, 64, kernel);
    gpumbi_text *kept = text[0] ? gpumbi_intern(g, text) : NULL;
    if (!kept || kept->benchmark_number == number)
        return;
    kept->benchmark_number = number;
    gpumbi_progress_clear();
    gpumbi_print(stdout, "    kernel %s\n", text);
}

/* A region is reached: whether it is to run in this pass. */
static inline int gpumbi_sweep_takes(gpumb *g, const char *name, gpumb_result *result)
{
    const int dry = gpumbi_dry(g);
    const int runs = !dry && gpumbi_on_point(g) && (result || gpumbi_selected(g, name));
    if (result && !runs)
        gpumbi_copy_text(result->reason, sizeof result->reason,
                         dry ? "the sweep enumerates" : "not the configuration of this pass");
    if (dry && (result || gpumbi_selected(g, name)))
        gpumbi_enumerate_region(g, name);
    return !runs;
}

static inline void gpumbi_axis_pop(gpumb *g)
{
    g->sweep.here.depth--;
    gpumbi_free(g->sweep.axis[g->sweep.here.depth].values);
    g->sweep.axis[g->sweep.here.depth].values = NULL;
}

static inline void gpumbi_axis_add(gpumb_axis *a, int64_t value, const char *text)
{
    if (!gpumbi_grow(a->owner, &a->values, sizeof *a->values, a->count, &a->capacity))
        return;
    const gpumbi_coordinate fresh = {a->column, a->sibling, a->is_real, value, text};
    a->values[a->count++] = fresh;
}

/* The values lo, lo + step ... or lo, lo * factor ... up to hi. Returns 0 if there would be more
 * than a million. */
static inline int gpumbi_axis_range(gpumb_axis *a, int64_t lo, int64_t hi, int64_t step,
                                    int64_t factor)
{
    if (step && hi >= lo && a->count + ((uint64_t)hi - (uint64_t)lo) / (uint64_t)step >= 1000000)
        return 0;
    for (int64_t value = lo; value <= hi && !a->owner->done;) {
        gpumbi_axis_add(a, value, NULL);
        if (step ? value > INT64_MAX - step : value > INT64_MAX / factor)
            break;
        value = step ? value + step : value * factor;
    }
    return 1;
}

/* The rows of a shuffled one get their natural order. */
static inline void gpumbi_sweep_end(gpumb *g)
{
    g->sweep.enumerating = g->sweep.dry;
    gpumbi_free_scope(g, 2);
    gpumbi_set_scope(g, g->memory.outer_scope);
    if (!g->sweep.run_order)
        return;
    gpumbi_free(g->sweep.run_order);
    g->sweep.run_order = NULL;
    gpumbi_sort_rows(g);
}

/* Ends the sweeps within so many others. */
static inline void gpumbi_end_sweeps(gpumb *g, int outer)
{
    const int ends = g->sweep.here.depth > outer;
    while (g->sweep.here.depth > outer)
        gpumbi_axis_pop(g);
    if (ends && !outer)
        gpumbi_sweep_end(g);
}

/* The same, of those that were left early. */
static inline void gpumbi_leave_sweeps(gpumb *g, int outer)
{
    if (g->sweep.here.depth <= outer)
        return;
    if (gpumbi_working(g) && !g->sweep.left) {
        gpumbi_say("%s: sweep over %s was left by break, return, goto or an exception: use "
                   "continue%s; its other rows are missing",
                   g->bench, g->columns.name[g->sweep.axis[g->sweep.here.depth - 1].column],
                   g->sweep.enumerating /* most are, because of that */
                       ? " (buffers are NULL while a sweep enumerates: go on all the same)"
                       : "");
        gpumbi_mark_failed(g);
    }
    g->sweep.left = 1;
    gpumbi_end_sweeps(g, outer);
}

/* Opens an axis on top of the stack, without values. */
static inline gpumb_axis *gpumbi_axis_open(gpumb *g, const char *name)
{
    static GPUMBI_PER_THREAD gpumb_axis none;
    memset(&none, 0, sizeof none);
    none.owner = g;
    gpumbi_leave_body(g);
    for (int i = 0; i < g->sweep.here.depth; i++)
        if (!strcmp(g->columns.name[g->sweep.axis[i].column], name)) {
            gpumbi_say("sweep over %s starts inside itself: nested sweeps need different names",
                       name);
            gpumbi_mark_failed(g);
            g->sweep.left = 1; /* it is all that is to be said */
            gpumbi_leave_sweeps(g, i);
        }
    if (!gpumbi_working(g))
        return &none;
    const int column = gpumbi_need_column(g, name, GPUMBI_AXIS);
    if (g->sweep.here.depth == GPUMBI_DEPTH)
        gpumbi_end(g, GPUMB_EXIT_ERROR, "more than %d nested sweeps", (int)GPUMBI_DEPTH);
    if (g->done)
        return &none;
    gpumb_axis *a = &g->sweep.axis[g->sweep.here.depth];
    memset(a, 0, sizeof *a);
    a->owner = g;
    a->column = column;
    a->depth = g->sweep.here.depth++;
    a->sibling = a->depth ? g->sweep.siblings[a->depth]++ : 0;
    if (a->depth == 0) {
        g->sweep.enumerating = 1;
        g->sweep.point_count = g->sweep.cell_count = 0;
        gpumbi_free(g->sweep.index.key);
        memset(&g->sweep.index, 0, sizeof g->sweep.index);
        g->sweep.reached_before = g->region.reached;
        g->selection.matched_before = g->selection.matched;
    }
    return a;
}

static inline void gpumbi_close_sweeps(gpumb *g)
{
    gpumbi_leave_sweeps(g, 0);
}

GPUMBI_TOOL(gpumbi_sweeps_tool, SWEEPS, &gpumbi_rows_tool, {gpumbi_sweep_takes, NULL, NULL},
            GPUMBI_NO_ROWS, {gpumbi_close_sweeps, NULL});

/* Opens an axis, of so many values in an array. Where the sweep runs, an inner one has one value in
 * each pass, or none. */
static inline gpumb_axis *gpumbi_axis_begin(gpumb *g, const char *name, const void *values,
                                            size_t count, int is_real)
{
    int depth;
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_sweeps_tool);
    gpumb_axis *a = gpumbi_axis_open(g, name);
    a->is_real = is_real;
    if (count && !values)
        gpumbi_end(g, GPUMB_EXIT_ERROR, "sweep over %s: its array is NULL", name);
    a->wants_values = gpumbi_working(g) && g->sweep.enumerating;
    if (!gpumbi_working(g) || a->wants_values)
        return a;
    const gpumbi_coordinate *at = gpumbi_point_cells(g, g->sweep.number, &depth) + a->depth;
    if (a->depth < depth && at->column == a->column && at->sibling == a->sibling)
        gpumbi_axis_add(a, at->value, at->text);
    return a;
}

/* With its text in the fewest digits that bring it back. */
static inline void gpumbi_axis_add_real(gpumb_axis *a, double value)
{
    int64_t bits;
    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    const gpumbi_text *kept = gpumbi_intern(a->owner, gpumbi_write_scaled(value, 0).text);
    if (kept)
        gpumbi_axis_add(a, bits, kept->text);
}

/* Replaces the values of a numeric axis by those of an option "name=1,2,4:64:*2". In ranges, reals
 * are rounded to 15 digits, so that 0:1:+0.1 comes to 0.3 and to 1. */
static inline void gpumbi_axis_parse(gpumb *g, gpumb_axis *a, const char *option)
{
    const char *name = g->columns.name[a->column], *text = option + strlen(name);
    char part[200];
    int64_t least = 1, whole[3] = {0, 0, 0};
    for (size_t i = 0; i < a->count; i++)
        least = a->values[i].value < least ? a->values[i].value : least;
    for (a->count = 0; *text && !g->done; text += strcspn(text, ",")) {
        double number[3] = {0, 0, 0}, value;
        const int length = (int)strcspn(++text, ",");
        gpumbi_format(part, sizeof part, "%.*s", length, text);
        char *to = strchr(part, ':'), *each = to ? strchr(to + 1, ':') : NULL;
        const int product = each && each[1] == '*', range = product || (each && each[1] == '+');
        int right = range || !to;
        if (range)
            *to = *each = 0;
        const char *const given[] = {part, range ? to + 1 : part, range ? each + 2 : "1"};
        for (int i = 0; i < 3 && right; i++) {
            const char *end = a->is_real ? "" : gpumbi_read_integer(given[i], &whole[i]);
            right = end && !*end && (!a->is_real || gpumbi_read_number(given[i], &number[i]));
            number[i] = a->is_real ? number[i] : (double)whole[i];
        }
        const double lo = number[0], hi = number[1], by = number[2];
        const double steps = product ? (log(hi) - log(lo)) / log(by) : hi / by - lo / by;
        int few = 1, fits = right && hi >= lo && (!range || by > product) && (!product || lo > 0) &&
                            (a->is_real ? steps < 1000001 : whole[0] >= least);
        value = lo;
        for (int i = 0; fits && a->is_real && !g->done; i++) {
            gpumbi_read_number(gpumbi_write_number(value, i ? 15 : 17, 0).text, &value);
            gpumbi_axis_add_real(a, value);
            value = product ? value * by : lo + (i + 1) * by;
            if (!range || value > hi + 1e-9 * (product ? hi : by))
                break;
            fits = i < 1000000;
        }
        if (fits && !a->is_real)
            fits = few = gpumbi_axis_range(a, whole[0], whole[1], product ? 0 : whole[2],
                                           product ? whole[2] : 0);
        gpumbi_format(part, sizeof part, "is too small, at least %lld", (long long)least);
        if (!fits && a->is_real)
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--axis %s: '%.*s' is not a list of numbers, lo:hi:+step with a step above "
                       "0, or lo:hi:*factor with lo above 0 and a factor above 1, of at most a "
                       "million; for example --axis %s=0.1,1e-3 or %s=0:1:+0.25",
                       option, length, text, name, name);
        else if (!fits)
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--axis %s: '%.*s' %s; for example --axis %s=64,128 or %s=64:1024:*2 or "
                       "%s=1:16:+1",
                       option, length, text,
                       !right             ? "is not an integer (up to 2^62; 2^k, k M G Ki Mi Gi "
                                            "allowed), lo:hi:+step or lo:hi:*factor"
                       : whole[0] < least ? part
                       : hi < lo          ? "is an empty range"
                       : !few             ? "makes more than a million values"
                       : product          ? "needs a start of 1 or more, and a factor of 2 or more"
                                          : "needs a step of 1 or more",
                       name, name, name);
    }
}

/* The same for named values, which can only be selected. */
static inline void gpumbi_axis_choose(gpumb *g, gpumb_axis *a, const char *option)
{
    const char *column = g->columns.name[a->column], *list = option + strlen(column) + 1;
    gpumbi_coordinate *const all = a->values;
    const size_t count = a->count;
    char name[GPUMBI_LINE], what[200] = "";
    a->count = a->capacity = 0;
    a->values = NULL;
    do { /* also of what follows a comma at the end: nothing */
        size_t i = 0;
        name[0] = 0;
        list = gpumbi_split(list, ',', name, sizeof name);
        while (i < count && strcmp(all[i].text, name))
            i++;
        if (i < count && a->count < count)
            gpumbi_axis_add(a, all[i].value, all[i].text);
        if (i < count)
            continue;
        for (i = 0; i < count; i++)
            gpumbi_append(what, sizeof what, "%s%s", i ? ", " : "", all[i].text);
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--axis %s: no value '%s', there are %s; for example --axis %s=%s", option, name,
                   what, column, count ? all[0].text : "");
    } while (list && list[-1] == ',' && !g->done);
    gpumbi_free(all);
}

/* Applies the command line to a new axis that has its values. */
static inline gpumb_axis *gpumbi_axis_finish(gpumb_axis *a, int named)
{
    gpumb *const g = a->owner;
    const char *name = g->columns.name[a->column];
    const size_t length = strlen(name);
    for (int i = 0; i < g->options.axes && a->wants_values; i++)
        if (!strncmp(g->options.axis[i], name, length) && g->options.axis[i][length] == '=') {
            g->sweep.axis_used[i] = 1;
            if (named)
                gpumbi_axis_choose(g, a, g->options.axis[i]);
            else
                gpumbi_axis_parse(g, a, g->options.axis[i]);
        }
    return a;
}

GPUMB_API gpumb_axis *gpumbi_sweep_range(gpumb *g, const char *name, int64_t lo, int64_t hi,
                                         int64_t step, int64_t factor)
{
    gpumb_axis *a = gpumbi_axis_begin(g, name, NULL, 0, 0);
    const int right = step > 0 || (factor > 1 && lo > 0);
    if (a->wants_values && !(right && gpumbi_axis_range(a, lo, hi, step, factor)))
        gpumbi_end(a->owner, GPUMB_EXIT_ERROR, "sweep over %s: %s", name,
                   right ? "more than a million values"
                         : "the step must be 1 or more; a factor 2 or more, from 1 or more");
    return gpumbi_axis_finish(a, 0);
}

GPUMB_API gpumb_axis *gpumbi_sweep_list(gpumb *g, const char *name, const int64_t *values,
                                        size_t count)
{
    gpumb_axis *a = gpumbi_axis_begin(g, name, values, count, 0);
    for (size_t i = 0; i < count && a->wants_values && !a->owner->done; i++)
        gpumbi_axis_add(a, values[i], NULL);
    return gpumbi_axis_finish(a, 0);
}

GPUMB_API gpumb_axis *gpumbi_sweep_reals(gpumb *g, const char *name, const double *values,
                                         size_t count)
{
    gpumb_axis *a = gpumbi_axis_begin(g, name, values, count, 1);
    for (size_t i = 0; i < count && a->wants_values && !a->owner->done; i++)
        if (gpumbi_finite(values[i]))
            gpumbi_axis_add_real(a, values[i]);
        else
            gpumbi_end(a->owner, GPUMB_EXIT_ERROR,
                       "sweep over %s: one of its values is NaN or infinite", name);
    return gpumbi_axis_finish(a, 0);
}

GPUMB_API gpumb_axis *gpumbi_sweep_names(gpumb *g, const char *name, const char *const *names,
                                         size_t count)
{
    gpumb_axis *a = gpumbi_axis_begin(g, name, names, count, 0);
    gpumbi_column_has_names(a->owner, a->column);
    for (size_t i = 0; i < count && a->wants_values && !a->owner->done; i++) {
        char text[GPUMBI_CELL];
        gpumbi_copy_line(text, sizeof text, names[i] ? names[i] : "");
        const gpumbi_text *kept = names[i] ? gpumbi_intern(a->owner, text) : NULL;
        if (!kept)
            gpumbi_end(a->owner, GPUMB_EXIT_ERROR, "sweep over %s: one of its names is NULL", name);
        else
            gpumbi_axis_add(a, (int64_t)i, kept->text);
    }
    return gpumbi_axis_finish(a, 1);
}

/* Options that name no axis: known once all axes have been seen. Returns 1 if there are none. */
static inline int gpumbi_axis_options_known(gpumb *g)
{
    for (int i = 0; i < g->options.axes && !g->done; i++)
        if (!g->sweep.axis_used[i]) {
            char axes[300] = "";
            for (int c = 0; c < g->columns.count; c++)
                if (g->columns.kind[c] == GPUMBI_AXIS)
                    gpumbi_append(axes, sizeof axes, "%s%s", axes[0] ? ", " : "",
                                  g->columns.name[c]);
            gpumbi_end(g, GPUMB_EXIT_USAGE, "--axis %s: no such axis, there are: %s%s; see --list",
                       g->options.axis[i], axes[0] ? axes : "none",
                       g->sweep.here.depth ? " (of several sweeps in main() the first decides)"
                                           : "");
        }
    return !g->done;
}

/* All configurations are known: the first pass comes. */
static inline void gpumbi_passes_begin(gpumb *g)
{
    const size_t points = g->sweep.point_count;
    g->sweep.enumerating = 0;
    g->sweep.point_index = 0;
    gpumbi_set_scope(g, 2);
    gpumbi_next_region(g);
    gpumbi_axis_options_known(g);
    if (g->settings.shuffle)
        g->sweep.run_order =
            (size_t *)gpumbi_allocate(g, (points + 1) * sizeof *g->sweep.run_order);
    if (g->sweep.run_order)
        gpumbi_draw_order(g->sweep.run_order, points, g->settings.seed, 0);
    if (!g->sweep.whole_program)
        g->sweep.expected = g->rows.count + g->selection.matched - g->selection.matched_before;
}

/* The outermost axis is through with its values, or with a pass. Returns whether a pass comes. */
static inline int gpumbi_next_pass(gpumb *g, const gpumb_axis *a)
{
    const int any = g->region.reached > g->sweep.reached_before;
    if (!g->sweep.enumerating) {
        gpumbi_free_scope(g, 2);
        gpumbi_next_region(g);
        g->sweep.point_index++;
    } else if ((g->options.lists || !g->sweep.dry) && !any) {
        /* A sweep that has nothing to measure is a mistake, in its values or its body. */
        gpumbi_say("%s: sweep over %s %s", g->bench, g->columns.name[a->column],
                   a->count ? "reached no region: none of its configurations came to one "
                              "(gpumb_alloc() returns NULL while a sweep enumerates: do "
                              "not leave the body for that)"
                            : "has no values: nothing is measured");
        gpumbi_mark_failed(g);
    }
    if (g->sweep.enumerating && !g->options.lists && !g->sweep.dry)
        gpumbi_passes_begin(g);
    const size_t next = g->sweep.point_index;
    if (g->sweep.enumerating || g->done || next >= g->sweep.point_count)
        return 0;
    g->sweep.number = g->sweep.run_order ? g->sweep.run_order[next] : next;
    g->sweep.here.at[0] = g->sweep.cell[g->sweep.point[g->sweep.number]];
    return 1;
}

GPUMB_API int gpumbi_sweep_next(gpumb_axis *a)
{
    gpumb *g = a->owner;
    int more = 0;
    if (!g) /* closed in its body */
        return 0;
    gpumbi_leave_body(g);
    if (a < g->sweep.axis ||
        a >= g->sweep.axis + GPUMBI_DEPTH) /* opened when nothing was to be done */
        return 0;
    if (g->sweep.here.depth <= a->depth) /* closed by one of its own name inside it */
        return 0;
    gpumbi_leave_sweeps(g, a->depth + 1);
    g->sweep.left = 0;
    const int working = gpumbi_working(g);
    if (working && (g->sweep.enumerating || a->depth > 0)) {
        more = a->index < a->count;
        if (more)
            g->sweep.here.at[a->depth] = a->values[a->index++];
    }
    if (working && !more && a->depth == 0)
        more = gpumbi_next_pass(g, a);
    if (!more)
        gpumbi_axis_pop(g);
#ifdef GPUMB_TRACE
    g->sweep.label[0] = 0;
    gpumbi_append_axes(g->sweep.label, sizeof g->sweep.label, g, &g->sweep.here, " ", "=");
#endif
    if (more) {
        g->sweep.siblings[a->depth + 1] = 0;
        return 1;
    }
    if (a->depth == 0)
        gpumbi_sweep_end(g);
    return 0;
}

/* The block of its variable ends: the sweep is over, or left. */
GPUMB_API void gpumbi_sweep_left(gpumb_axis **axis)
{
    const gpumb_axis *a = *axis;
    gpumb *g = a->owner;
    if (!g || a < g->sweep.axis || a >= g->sweep.axis + GPUMBI_DEPTH ||
        g->sweep.here.depth <= a->depth)
        return;
    gpumbi_leave_region(g);
    gpumbi_next_region(g);
    gpumbi_leave_sweeps(g, a->depth);
}

GPUMB_API int64_t gpumbi_sweep_value(const gpumb_axis *a)
{
    return a->owner->sweep.here.at[a->depth].value;
}

GPUMB_API double gpumbi_sweep_real(const gpumb_axis *a)
{
    return gpumbi_as_real(gpumbi_sweep_value(a));
}

/* Begins or ends the dry walk through all benchmarks, in which regions are skipped. */
static inline void gpumbi_walk(gpumb *g, int dry)
{
    g->sweep.dry = g->sweep.enumerating = dry;
    g->sweep.whole_program = !dry;
    if (!dry)
        g->sweep.expected = g->selection.matched;
}

/* What was before the walk through a benchmark. */
typedef struct gpumbi_walked {
    int columns, axis_used[GPUMBI_OPTIONS];
    uint64_t seen, matched;
} gpumbi_walked;

static inline gpumbi_walked gpumbi_benchmark_begin(gpumb *g, const gpumb_benchmark *benchmark)
{
    gpumbi_walked before;
    before.columns = g->columns.count;
    memcpy(before.axis_used, g->sweep.axis_used, sizeof before.axis_used);
    before.seen = g->selection.seen;
    before.matched = g->selection.matched;
    g->selection.benchmark = benchmark;
    g->selection.benchmark_number++;
    return before;
}

/* Whether --filter lets any of it through; if not, its axes do not count. */
static inline int gpumbi_benchmark_chosen(gpumb *g, const gpumbi_walked *before)
{
    if (g->selection.seen == before->seen) /* has no rows of its own, and counts by its name */
        gpumbi_selected(g, NULL);
    const int chosen = g->selection.matched > before->matched;
    if (g->options.lists && chosen)
        gpumbi_list_benchmark(g);
    if (!chosen) {
        gpumbi_columns_shorten(g, before->columns);
        memcpy(g->sweep.axis_used, before->axis_used, sizeof before->axis_used);
    }
    return chosen;
}

/* ================================================================================================
 * TABLE
 *
 * Owns g->table and g->progress: what is shown on the terminal, with the notes.
 */

/* "+-0.3 %", or "" without an interval. */
static inline gpumbi_number gpumbi_write_interval(const gpumb_stats *t)
{
    gpumbi_number n;
    n.text[0] = 0;
    if (t->count >= 6 && gpumbi_half_width(t) > 1) /* autocorrelated samples say little */
        gpumbi_copy_text(n.text, sizeof n.text, "+- >100 %");
    else if (t->count >= 6)
        gpumbi_format(n.text, sizeof n.text, "+-%s %%",
                      gpumbi_write_short(100 * gpumbi_half_width(t), 2).text);
    return n;
}

/* The flags of a row, as tables show them. On a GPU a time that isn't a span says so before them:
 * launching is in it. On the CPU all are latencies that were not given. */
static inline const char *gpumbi_table_flags(const gpumb *g, const gpumb_result *r, char *text,
                                             size_t size)
{
    char flags[300];
    const char *meaning = gpumbi_meaning_name(r);
    if (!strcmp(meaning, gpumbi_is_cpu(g) ? "latency" : "span"))
        meaning = "";
    gpumbi_bit_names(r->flags, gpumbi_flag_name, flags, sizeof flags);
    gpumbi_format(text, size, "%s%s%s", meaning, meaning[0] && flags[0] ? ";" : "", flags);
    return text;
}

/* What is known of the device; the rows of CSV know its name alone. */
static inline void gpumbi_table_facts(gpumb *g)
{
    const gpumb_device *d = &g->device;
    FILE *t = g->table.file;
    if (gpumbi_is_cpu(g))
        gpumbi_print(t, "  cpu backend: emulated, not a GPU result; %s\n",
                     gpumbi_count((uint64_t)d->multiprocessors, "worker").text);
    else
        gpumbi_print(t, "  %s at %s MHz, fp32 peak %s TFLOP/s, ECC %s\n",
                     gpumbi_count((uint64_t)d->multiprocessors, "multiprocessor").text,
                     gpumbi_write_short(d->sm_clock_hz / 1e6, 0).text,
                     gpumbi_write_short(d->peak_flop_per_s / 1e12, 1).text,
                     d->ecc < 0 ? "unknown"
                     : d->ecc   ? "on"
                                : "off");
    gpumbi_print(t, "  memory %s, %s %s", gpumbi_write_size(d->memory_bytes).text,
                 gpumbi_is_cpu(g) ? "last-level cache" : "L2", gpumbi_write_size(d->l2_bytes).text);
    if (g->settings.peak_gbps > 0)
        gpumbi_print(t, ", peak %s GB/s (--peak)\n",
                     gpumbi_write_short(g->settings.peak_gbps, 0).text);
    else if (d->peak_bytes_per_s > 0)
        gpumbi_print(t, ", peak %s GB/s (%s MHz x %d x %d bit)\n",
                     gpumbi_write_short(d->peak_bytes_per_s / 1e9, 0).text,
                     gpumbi_write_short(d->memory_clock_hz / 1e6, 0).text,
                     gpumbi_transfers_per_clock(d), d->bus_width_bits);
    else
        gpumbi_print(t, ", peak unknown (state it with --peak)\n");
    if (d->link_bytes_per_s > 0)
        gpumbi_print(t, "  link to the host %s, %s GB/s each way\n", d->link,
                     gpumbi_write_short(d->link_bytes_per_s / 1e9, 1).text);
    gpumbi_print(t, "  clock: quantum %s, empty event pair %s, empty kernel %s, in a full queue %s",
                 gpumbi_write_time(d->quantum_s).text, gpumbi_write_time(d->floor_s).text,
                 gpumbi_write_time(d->empty_kernel_s).text, gpumbi_write_time(d->interval_s).text);
    if (d->graph_interval_s > 0)
        gpumbi_print(t, ", in a graph %s", gpumbi_write_time(d->graph_interval_s).text);
    fputc('\n', t);
}

static inline void gpumbi_table_device(gpumb *g)
{
    const gpumb_device *d = &g->device;
    FILE *t = g->table.file;
    gpumbi_print(t, "gpumb %s on %s (%s%s%s)\n", GPUMB_VERSION, d->name, d->backend,
                 d->arch[0] ? ", " : "", d->arch);
    if (g->settings.replay)
        gpumbi_print(t, "  replayed from %s: nothing is measured here\n", g->settings.replay);
    if (d->arch[0])
        gpumbi_table_facts(g);
    if (g->settings.shuffle)
        gpumbi_print(t, "  configurations run in an order drawn from seed %llu\n",
                     (unsigned long long)g->settings.seed);
    if (g->settings.cold)
        gpumbi_print(t, "  caches are emptied before each sample\n");
    if (!g->sensors && !g->kept.measures_nothing && !gpumbi_is_cpu(g))
        gpumbi_print(t,
                     "  no sensors (the vendor's management library is not there): clocks, power, "
                     "temperature and throttling are not in the rows\n");
    gpumbi_print(
        t,
        "  GB/s = 1e9 byte/s, bytes read + written; +- is half the 95 %% interval of the median\n");
}

/* The first cell of a line, at the left. */
static inline void gpumbi_table_begin(gpumb *g, const char *text)
{
    gpumbi_print(g->table.file, "%s", text);
    g->table.at = gpumbi_width(text);
    g->table.end = 22;
}

/* The next one, at the right of its column: one that is too wide takes room from those after it. */
static inline void gpumbi_table_cell(gpumb *g, int width, const char *text)
{
    g->table.end += 1 + width;
    const int blank = 1 + gpumbi_blank(g->table.end - g->table.at - 1, text);
    gpumbi_print(g->table.file, "%*s%s", blank, "", text);
    g->table.at += blank + gpumbi_width(text);
}

static inline void gpumbi_table_cells(gpumb *g, const char *median, const char *interval,
                                      const char *rate, const char *share)
{
    gpumbi_table_cell(g, 10, median);
    gpumbi_table_cell(g, 8, interval);
    gpumbi_table_cell(g, 9, rate);
    gpumbi_table_cell(g, 8, share);
}

static inline const char *gpumbi_shown_name(const gpumb *g, int column)
{
    return column < 0 ? "elem/s" : g->columns.name[column];
}

static inline int gpumbi_shown_width(const gpumb *g, int column)
{
    const int width = gpumbi_width(gpumbi_shown_name(g, column));
    return width > 10 ? width : 10;
}

static inline void gpumbi_table_heading(gpumb *g, const gpumbi_row *row, const gpumbi_values *shown)
{
    const char *unit = row->result.bytes > 0 ? "GB/s" : row->result.flop > 0 ? "GFLOP/s" : "";
    const char *share = row->result.to_device + row->result.to_host > 0 ? "% link"
                        : row->result.pct_peak > 0 || !g->table.share   ? "% peak"
                                                                        : g->table.share;
    uint64_t axes = gpumbi_hash(1, row->result.bench);
    uint64_t rates = gpumbi_hash(gpumbi_hash(0, unit), share);
    for (int i = 0; i < row->point.depth; i++)
        axes = gpumbi_hash(axes, g->columns.name[row->point.at[i].column]);
    for (int i = 0; i < shown->count; i++)
        rates = gpumbi_hash(rates, gpumbi_shown_name(g, shown->at[i].column));
    if (g->table.axes_hash == axes &&
        (g->table.rates_hash == rates || row->result.status != GPUMB_STATUS_OK))
        return;
    g->table.axes_hash = axes;
    g->table.rates_hash = rates;
    g->table.share = share;
    fputc('\n', g->table.file);
    gpumbi_table_begin(g, row->result.bench);
    for (int i = 0; i < row->point.depth; i++)
        gpumbi_table_cell(g, 10, g->columns.name[row->point.at[i].column]);
    gpumbi_table_cells(g, "median", "+-", unit, share);
    for (int i = 0; i < shown->count; i++)
        gpumbi_table_cell(g, gpumbi_shown_width(g, shown->at[i].column),
                          gpumbi_shown_name(g, shown->at[i].column));
    fputc('\n', g->table.file);
}

static inline void gpumbi_paint(const gpumb *g, const char *color)
{
    if (g->table.color)
        fprintf(g->table.file, "\033[%sm", color);
}

static inline void gpumbi_table_row(gpumb *g, const gpumbi_row *row)
{
    const gpumb_result *r = &row->result;
    const gpumb_comparison *c = &r->comparison;
    static const char bar[] = "####################";
    char flags[300], text[GPUMBI_SENTENCE] = "";
    gpumbi_values shown; /* after the fixed columns: elements a second, as column -1, and values */
    shown.count = r->elements > 0;
    shown.at[0].column = -1;
    shown.at[0].value = r->elements_per_s;
    for (int i = 0; i < row->values->count; i++)
        shown.at[shown.count++] = row->values->at[i];
    gpumbi_table_heading(g, row, &shown);
    gpumbi_number number;
    gpumbi_table_begin(g, r->kernel);
    for (int i = 0; i < row->point.depth; i++)
        gpumbi_table_cell(g, 10, gpumbi_axis_text(&row->point, row->point.at[i].column, &number));
    if (r->status != GPUMB_STATUS_OK) {
        fputc(' ', g->table.file);
        gpumbi_paint(g, "31");
        gpumbi_print(g->table.file, "%s: %s", gpumbi_status_name[r->status], r->reason);
        gpumbi_paint(g, "0");
        fputc('\n', g->table.file);
        return;
    }
    gpumbi_table_cells(
        g, gpumbi_write_time(r->time.median).text, gpumbi_write_interval(&r->time).text,
        gpumbi_write_rate(r, r->bytes > 0 ? GPUMBI_GBPS : GPUMBI_GFLOPS).text,
        gpumbi_write_rate(r, r->pct_link > 0 ? GPUMBI_OF_LINK : GPUMBI_OF_PEAK).text);
    for (int i = 0; i < shown.count; i++)
        gpumbi_table_cell(g, gpumbi_shown_width(g, shown.at[i].column),
                          gpumbi_finite(shown.at[i].value)
                              ? gpumbi_write_number(shown.at[i].value, 4, 0).text
                              : "");
    const double share = r->pct_link > 0   ? r->pct_link
                         : r->pct_peak > 0 ? r->pct_peak
                                           : r->pct_ceiling;
    const int length = (int)gpumbi_min(gpumbi_max(share, 0) / 5 + 0.5, 20);
    gpumbi_table_flags(g, r, flags, sizeof flags);
    if (flags[0] || r->measured_pct > 0 || r->compared_with[0])
        gpumbi_print(g->table.file, "  %-20.*s", length, bar);
    else
        gpumbi_print(g->table.file, "%s%.*s", length ? "  " : "", length, bar);
    gpumbi_append_expected(text, sizeof text, r, "  ", "");
    if (r->compared_with[0]) /* "  faster: 0.512 x other (0.511 ... 0.513)" */
        gpumbi_append(text, sizeof text, "  %s: %s x %s (", gpumbi_verdict_name[c->verdict],
                      gpumbi_write_short(c->ratio, 4).text, r->compared_with);
    if (r->compared_with[0] && c->hi > 0) /* the lower end may be 0: too little is known for one */
        gpumbi_append(text, sizeof text, "%s ... %s)",
                      c->lo > 0 ? gpumbi_write_short(c->lo, 4).text : "?",
                      gpumbi_write_short(c->hi, 4).text);
    else if (r->compared_with[0])
        gpumbi_append(text, sizeof text, "no interval)");
    gpumbi_print(g->table.file, "%s", text);
    if (flags[0]) {
        fputs("  ", g->table.file);
        gpumbi_paint(g, "2");
        fputs(flags, g->table.file);
        gpumbi_paint(g, "0");
    }
    fputc('\n', g->table.file);
    if (g->table.nodes)
        gpumbi_print(g->table.file, "  nodes: %s\n",
                     r->nodes[0] ? r->nodes : "unknown, for none of it was captured");
}

static inline void gpumbi_table_shows_nodes(gpumb *g)
{
    g->table.nodes = 1;
}

/* Shows the finished rows that are not shown yet. */
static inline void gpumbi_table_rows(gpumb *g)
{
    for (const gpumbi_row *row; (row = gpumbi_next_to_show(g)) != NULL;) {
        if (!g->table.file)
            continue;
        if (!g->table.header_printed)
            gpumbi_table_device(g);
        g->table.header_printed = 1;
        gpumbi_table_row(g, row);
        fflush(g->table.file);
    }
}

/* Where the table goes, `out`; NULL: it is not wanted. */
static inline void gpumbi_table_open(gpumb *g, FILE *out)
{
    const char *terminal = getenv("TERM");
    const int dumb = terminal && !strcmp(terminal, "dumb"); /* knows no escapes, nor \r */
    g->table.file = out;
    g->progress.shown = out && !dumb && gpumbi_terminal(2);
    g->table.color = out && !dumb && !g->settings.no_color && gpumbi_terminal(fileno(out)) &&
                     (!getenv("NO_COLOR") || !getenv("NO_COLOR")[0]);
}

static inline void gpumbi_table_closing(gpumb *g)
{
    if (g->table.header_printed)
        gpumbi_print(g->table.file, "\n%s: %llu ok, %llu skipped, %llu failed\n",
                     gpumbi_count(g->rows.count, "row").text, (unsigned long long)g->rows.ok,
                     (unsigned long long)g->rows.skipped,
                     (unsigned long long)(g->rows.count - g->rows.ok - g->rows.skipped));
    if (g->table.file)
        gpumbi_flushed(g, g->table.file);
    for (int i = 0; i < GPUMBI_SIGNALS; i++)
        if (gpumbi_interrupted && g->exit_code == 128 + gpumbi_signals[i])
            gpumbi_say("%s after %s", gpumbi_signal_name[i],
                       gpumbi_count(g->rows.count, "row").text);
}

/* What runs, and how long the rest takes if it goes on as before; on a terminal only. The next line
 * overwrites it. */
static inline void gpumbi_progress(gpumb *g, gpumbi_sampler *s)
{
    char text[80];
    const uint64_t rows = g->rows.count, rest = g->sweep.expected - rows;
    const uint64_t timed = rows - g->kept.used;
    if (!g->progress.shown || s->copy_to)
        return;
    const double now = gpumbi_dev_clock();
    g->progress.began_s = timed ? g->progress.began_s : now;
    gpumbi_format(text, sizeof text, "[%llu/%llu", (unsigned long long)rows + 1,
                  (unsigned long long)(g->sweep.expected > rows ? g->sweep.expected : rows + 1));
    if (timed && g->sweep.expected > rows) {
        const int left =
            (int)((now - g->progress.began_s) / gpumbi_real(timed) * gpumbi_real(rest) + 0.5);
        gpumbi_append(text, sizeof text, ", %d:%02d left", left / 60, left % 60);
    }
    gpumbi_append(text, sizeof text, "] %s/%s", s->result.bench, s->result.kernel);
    gpumbi_append_axes(text, sizeof text, g, &s->point, " ", "=");
    gpumbi_show_progress(text);
}

GPUMBI_TOOL(gpumbi_table_tool, TABLE, NULL, {NULL, gpumbi_progress, NULL}, GPUMBI_NO_ROWS,
            {gpumbi_table_closing, NULL});

GPUMB_API void gpumb_note(gpumb *g, const char *format, ...)
{
    va_list arguments, again;
    if ((g = gpumbi_enter(g)) == NULL || gpumbi_dry(g) || !format)
        return;
    gpumbi_use(g, &gpumbi_table_tool);
    va_start(arguments, format);
    va_copy(again, arguments);
    const char *mark = g->settings.replay ? "replayed: " : "";
    const int length = vsnprintf(NULL, 0, format, arguments);
    const size_t marked = strlen(mark), room = length < 0 ? 1 : (size_t)length + 1;
    gpumbi_text *note = (gpumbi_text *)gpumbi_allocate(g, sizeof *note + marked + room);
    if (note) {
        memcpy(note->text, mark, marked);
        vsnprintf(note->text + marked, room, format, again);
    }
    va_end(again);
    va_end(arguments);
    if (!note)
        return;
    for (char *c = note->text; *c; c++)
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    if (g->table.last_note)
        g->table.last_note->next = note;
    else
        g->table.notes = note;
    g->table.last_note = note;
    if (g->table.file)
        gpumbi_print(g->table.file, "  %s\n", note->text);
}

/* ================================================================================================
 * FILES
 *
 * Owns g->sinks: CSV, JSON, Markdown and Google Benchmark's JSON. NAME is resolved first: a link
 * stays, and the file that it leads to is replaced. Anything but a regular file (standard output, a
 * pipe) is written straight through. A file is written as NAME.part, made anew before the device is
 * opened, exclusively, and locked (flock) as long as the run takes: whoever has locked the file
 * that stands at NAME.part owns the name, another run ends. A part that nobody holds is a dead
 * run's: it is renamed to a free NAME.part.1, .2 ..., or removed if nothing is in it; with --resume
 * it is left as it is until all of its rows are here, then written anew. Each row is one write; a
 * partial write is cut off again. Where a header widens, or drawn rows get their natural order, a
 * fresh file, locked too, takes the place of the part. When all is done the part is flushed to the
 * disk and renamed to NAME, with mode and owner of the file that it replaces. Where a file system
 * has no locks, any part that is already there ends the run.
 */

static inline void gpumbi_fill_line(const gpumb *g, const gpumb_result *r, gpumbi_line *l)
{
    l->schema = GPUMBI_SCHEMA;
    gpumbi_copy_text(l->version, sizeof l->version, GPUMB_VERSION);
    gpumbi_copy_text(l->backend, sizeof l->backend, g->device.backend);
    gpumbi_copy_text(l->device, sizeof l->device, g->device.name);
    gpumbi_copy_text(l->settings, sizeof l->settings, g->sinks.settings);
    l->gb_per_j = r->energy_j > 0 ? r->bytes / 1e9 / r->energy_j : 0;
    l->result = *r;
}

/* A row with what files add to it. */
static inline void gpumbi_row_line(const gpumb *g, const gpumbi_row *row, gpumbi_line *l)
{
    gpumbi_fill_line(g, &row->result, l);
    l->values[0] = 0;
    for (int i = 0; i < row->values->count; i++)
        gpumbi_list(l->values, sizeof l->values, g->columns.name[row->values->at[i].column]);
}

/* What a fixed column of that name has in a row, made in `text` if it is none; NULL: there is no
 * such column. */
static inline const char *gpumbi_row_cell(const gpumb *g, const gpumbi_row *row, const char *column,
                                          gpumbi_line *line, char text[GPUMBI_CELL])
{
    const int i = gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, column, -1);
    if (i == GPUMBI_COLUMNS_FIXED)
        return NULL;
    gpumbi_row_line(g, row, line);
    return gpumbi_field_text(&gpumbi_row_fields[i], line, &line->result, text);
}

GPUMB_API double gpumb_row_value(gpumb *g, size_t row, const char *name)
{
    gpumbi_line line;
    char text[GPUMBI_CELL];
    double value = NAN;
    g = gpumbi_context(g);
    const gpumbi_coordinate *at = gpumbi_row_coordinate(g, row, name);
    if (at)
        return at->is_real ? gpumbi_as_real(at->value) : (double)at->value;
    if (!name || row >= gpumb_row_count(g))
        return NAN;
    const char *cell = gpumbi_row_cell(g, g->rows.at[row], name, &line, text);
    if (!cell)
        return gpumbi_value_of(g, g->rows.at[row]->values, name);
    return gpumbi_read_number(cell, &value) ? value : NAN;
}

/* ---- CSV (RFC 4180, lines end in LF) --------------------------------------------------------- */

static inline void gpumbi_csv_field(FILE *file, const char *text, int first)
{
    if (!first)
        fputc(',', file);
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* A row, or (NULL) the header. */
static inline void gpumbi_csv_row(gpumb *g, FILE *file, const gpumbi_row *row)
{
    gpumbi_line line;
    gpumbi_number number;
    char text[GPUMBI_CELL];
    if (row)
        gpumbi_row_line(g, row, &line);
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++) {
        const gpumbi_field *f = &gpumbi_row_fields[i];
        gpumbi_csv_field(file, row ? gpumbi_field_text(f, &line, &line.result, text) : f->name,
                         i == 0);
    }
    for (int c = 0; c < g->columns.count; c++)
        gpumbi_csv_field(file, row ? gpumbi_column_text(row, c, 0, &number) : g->columns.name[c],
                         0);
    fputc('\n', file);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static inline void gpumbi_json_string(FILE *file, const char *text)
{
    uint32_t code;
    fputc('"', file);
    for (size_t length; *text; text += length) {
        length = gpumbi_character(text, &code);
        if (code == '"' || code == '\\')
            fprintf(file, "\\%c", *text);
        else if (code < 0x20 || code == GPUMBI_NO_CHARACTER)
            fprintf(file, "\\u%04x", code < 0x20 ? (unsigned)code : 0xfffdu);
        else
            fwrite(text, 1, length, file);
    }
    fputc('"', file);
}

/* Fields of `base` as members of an object. What has another place in the file is left out. */
static inline void gpumbi_json_fields(FILE *file, const gpumbi_field *fields, int count,
                                      const void *base, const gpumb_result *r)
{
    char text[GPUMBI_CELL];
    for (int i = 0; i < count; i++) {
        const gpumbi_field *f = &fields[i];
        const char *value = gpumbi_field_text(f, base, r, text);
        if (fields == gpumbi_row_fields &&
            (i == GPUMBI_COLUMN_gpumb || i == GPUMBI_COLUMN_values || i == GPUMBI_COLUMN_settings))
            continue;
        fprintf(file, "%s\"%s\": ", i ? ", " : "{", f->name);
        if (!value[0] && (fields != gpumbi_row_fields || i != GPUMBI_COLUMN_flags))
            fputs("null", file);
        else if (f->kind < GPUMBI_IS_INT)
            gpumbi_json_string(file, value);
        else
            fputs(value, file);
    }
}

static inline void gpumbi_head_of(const gpumb *g, gpumbi_head *head)
{
    memcpy(&head->device, &g->device, sizeof g->device);
    memcpy(&head->settings, &g->settings, sizeof g->settings);
    head->settings.warmup_s = gpumbi_max(g->settings.warmup_s, 0);
    head->settings.least_s = gpumbi_max(g->settings.least_s, 0);
    gpumbi_copy_text(head->program, sizeof head->program, g->program);
    gpumbi_copy_text(head->arguments, sizeof head->arguments, g->options.arguments);
    head->emulated = gpumbi_is_cpu(g);
    const int transfers = gpumbi_transfers_per_clock(&g->device);
    head->peak_source = g->settings.peak_gbps > 0 ? 2
                        : transfers == 4          ? 3
                        : transfers == 16         ? 4
                                                  : transfers > 0;
}

/* The program and what is not as by default: program=copy;seed=2;arguments=--axis n=1 2. Without
 * commas, for those who cut CSV into columns by them. */
static inline void gpumbi_settings_text(const gpumbi_head *head, char *text, size_t size)
{
    gpumbi_head usual;
    char cell[2][GPUMBI_CELL];
    memset(&usual, 0, sizeof usual);
    gpumbi_complete_settings(&usual.settings);
    gpumbi_format(text, size, "program=%s", head->program);
    for (int i = 0; i < GPUMBI_SETTINGS_COUNT; i++) {
        const gpumbi_field *f = &gpumbi_settings_fields[i];
        const char *value = gpumbi_field_text(f, head, NULL, cell[0]);
        if (strcmp(value, gpumbi_field_text(f, &usual, NULL, cell[1])))
            gpumbi_append(text, size, ";%s=%s", f->name, value);
    }
    for (; *text; text++)
        *text = *text == ',' ? ' ' : *text;
}

/* The head of a JSON file, or its end. */
static inline void gpumbi_json_frame(gpumb *g, FILE *file, int begins)
{
    char date[32];
    gpumbi_head head;
    if (!begins) {
        fputs("\n],\n", file);
        GPUMBI_EACH_TOOL(g, rows.foot, (g, file));
        fputs("\"notes\": [", file);
        for (const gpumbi_text *note = g->table.notes; note; note = note->next) {
            gpumbi_json_string(file, note->text);
            fputs(note->next ? ",\n" : "", file);
        }
        fputs("]}\n", file);
        return;
    }
    gpumbi_head_of(g, &head);
    gpumbi_dev_date(date);
    fprintf(file, "{\"schema\": %d,\n\"gpumb\": \"%s\",\n\"date\": \"%s\",\n\"program\": ",
            (int)GPUMBI_SCHEMA, GPUMB_VERSION, date);
    gpumbi_json_string(file, g->program);
    if (g->settings.replay) {
        fputs(",\n\"replayed\": ", file);
        gpumbi_json_string(file, g->settings.replay);
    }
    fputs(",\n\"device\": ", file);
    gpumbi_json_fields(file, gpumbi_device_fields, GPUMBI_DEVICE_COUNT, &head, NULL);
    fputs("},\n\"settings\": ", file);
    gpumbi_json_fields(file, gpumbi_settings_fields, GPUMBI_SETTINGS_COUNT, &head, NULL);
    fputs("},\n\"units\": \"seconds, bytes read + written, GB/s = 1e9 byte/s\",\n\"rows\": [",
          file);
}

/* Writes a column after the fixed ones, a value or an axis, as the `place`-th member of its JSON
 * object. */
static inline void gpumbi_json_column(gpumb *g, FILE *file, const gpumbi_row *row, int column,
                                      int place, int named)
{
    gpumbi_number number;
    const char *text = gpumbi_column_text(row, column, 0, &number);
    fputs(place ? ", " : "", file);
    gpumbi_json_string(file, g->columns.name[column]);
    fputs(": ", file);
    if (named)
        gpumbi_json_string(file, text);
    else
        fputs(text[0] ? text : "null", file);
}

static inline void gpumbi_json_row(gpumb *g, FILE *file, const gpumbi_row *row)
{
    gpumbi_line line;
    gpumbi_row_line(g, row, &line);
    fputs(g->sinks.sink[GPUMBI_JSON].entries++ ? ",\n" : "\n", file);
    gpumbi_json_fields(file, gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, &line, &row->result);
    for (uint64_t i = 0; row->samples && i < row->result.time.count; i++)
        fprintf(file, "%s%s", i ? ", " : ", \"samples_s\": [",
                gpumbi_write_scaled(row->samples[i], 0).text);
    fputs(row->samples && row->result.time.count ? "], \"axes\": {" : ", \"axes\": {", file);
    for (int i = 0; i < row->point.depth; i++)
        gpumbi_json_column(g, file, row, row->point.at[i].column, i,
                           row->point.at[i].text && !row->point.at[i].is_real);
    fputs("}, \"values\": {", file);
    for (int i = 0; i < row->values->count; i++)
        gpumbi_json_column(g, file, row, row->values->at[i].column, i, 0);
    fputs("}}", file);
}

/* ---- Google Benchmark's JSON ------------------------------------------------------------------
 *
 * As its docs/user_guide.md and src/json_reporter.cc (v1.9.5) have it: what compare.py and the
 * actions and services around it read. Counters are members of an entry: own values, here. There is
 * no processor time; the tools want one, and get the time itself.
 */

static inline void gpumbi_gbench_frame(gpumb *g, FILE *file, int begins)
{
    char date[32];
    if (!begins) {
        fputs("\n]}\n", file);
        return;
    }
    gpumbi_dev_date(date);
    fprintf(file, "{\"context\": {\"date\": \"%s\", \"executable\": ", date);
    gpumbi_json_string(file, g->program);
    fputs(g->settings.replay ? ", \"replayed\": true" : "", file);
    fputs(", \"device\": ", file);
    gpumbi_json_string(file, g->device.name);
    fputs(", \"backend\": ", file);
    gpumbi_json_string(file, g->device.backend);
    fprintf(file,
            ", \"library_version\": \"gpumb %s\", \"json_schema_version\": 1},\n\"benchmarks\": [",
            GPUMB_VERSION);
}

/* bench/kernel/axis:value ..., what is not ok left out. */
static inline void gpumbi_gbench_row(gpumb *g, FILE *file, const gpumbi_row *row)
{
    const gpumb_result *r = &row->result;
    const char *const member[] = {"real_time", "cpu_time", "bytes_per_second", "items_per_second"};
    const double value[] = {1e9 * r->time.median, 1e9 * r->time.median, 1e9 * r->gbps,
                            r->elements_per_s};
    char name[GPUMBI_LINE];
    if (r->status != GPUMB_STATUS_OK)
        return;
    gpumbi_format(name, sizeof name, "%s/%s", r->bench, r->kernel);
    gpumbi_append_axes(name, sizeof name, g, &row->point, "/", ":");
    fputs(g->sinks.sink[GPUMBI_GBENCH].entries++ ? ",\n{" : "\n{", file);
    for (int i = 0; i < row->values->count; i++) /* first: the last of one name counts */
        if (gpumbi_finite(row->values->at[i].value)) {
            gpumbi_json_column(g, file, row, row->values->at[i].column, 0, 0);
            fputs(", ", file);
        }
    for (int run = 0; run < 2; run++) {
        fputs(run ? ", \"run_name\": " : "\"name\": ", file);
        gpumbi_json_string(file, name);
    }
    fprintf(file,
            ", \"run_type\": \"iteration\", \"repetitions\": 1, \"repetition_index\": 0, "
            "\"threads\": 1, \"iterations\": %llu, \"time_unit\": \"ns\"",
            (unsigned long long)(r->time.count * r->batch));
    for (int i = 0; i < 4; i++)
        if (value[i] > 0)
            fprintf(file, ", \"%s\": %s", member[i], gpumbi_write_scaled(value[i], 0).text);
    fputs("}", file);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* One line, in which none of the special characters is markup. A backslash escapes them, and itself
 * where what follows would take it for an escape. */
static inline void gpumbi_markdown_text(FILE *file, const char *text, const char *special)
{
    char plain[GPUMBI_LINE];
    gpumbi_copy_line(plain, sizeof plain, text);
    for (const char *c = plain; *c; c++)
        fprintf(file,
                strchr(special, *c) || (*c == '\\' && (c[1] == '\\' || strchr(special, c[1])))
                    ? "\\%c"
                    : "%c",
                *c);
}

/* A bar would end the cell. */
static inline void gpumbi_markdown_cell(FILE *file, const char *text)
{
    fputc(' ', file);
    gpumbi_markdown_text(file, text, "|");
    fputs(" |", file);
}

/* The columns after the fixed ones, of axes or of values: their names, or what a row has there. */
static inline void gpumbi_markdown_columns(gpumb *g, FILE *file, const gpumbi_row *row, int axes)
{
    gpumbi_number number;
    for (int c = 0; c < g->columns.count; c++)
        if ((g->columns.kind[c] == GPUMBI_AXIS) == axes)
            gpumbi_markdown_cell(file,
                                 row ? gpumbi_column_text(row, c, 4, &number) : g->columns.name[c]);
}

#define GPUMBI_MARKUP "\\`*_#<>[]|~&" /* outside of a table */

static inline void gpumbi_markdown_frame(gpumb *g, FILE *file, int begins)
{
    if (!begins) {
        fputs(g->table.notes ? "\n" : "", file);
        for (const gpumbi_text *note = g->table.notes; note; note = note->next)
            gpumbi_print(file, "- %s\n", note->text);
        return;
    }
    fputs(g->settings.replay ? "Replayed: " : "", file);
    gpumbi_markdown_text(file, g->device.name, GPUMBI_MARKUP);
    fputs(" (", file);
    gpumbi_markdown_text(file, g->device.backend, GPUMBI_MARKUP);
    fprintf(file, ")%s, gpumb %s. Rates are 1e9 byte/s, bytes read + written.\n\n",
            gpumbi_is_cpu(g) ? ": emulated, not a GPU result" : "", GPUMB_VERSION);
    fputs("| bench | kernel |", file);
    gpumbi_markdown_columns(g, file, NULL, 1);
    fputs(" median | 95 % |", file);
    for (int i = 0; i < GPUMBI_RATES; i++)
        gpumbi_markdown_cell(file, gpumbi_rates[i].unit);
    gpumbi_markdown_columns(g, file, NULL, 0);
    fputs(" verified | flags |\n|---|---|", file);
    for (int c = 0; c < g->columns.count + 2 + GPUMBI_RATES; c++)
        fputs("---:|", file);
    fputs("---|---|\n", file);
}

static inline void gpumbi_markdown_row(gpumb *g, FILE *file, const gpumbi_row *row)
{
    const gpumb_result *r = &row->result;
    char flags[300];
    fputs("|", file);
    gpumbi_markdown_cell(file, r->bench);
    gpumbi_markdown_cell(file, r->kernel);
    gpumbi_markdown_columns(g, file, row, 1);
    if (r->status == GPUMB_STATUS_OK) {
        gpumbi_markdown_cell(file, gpumbi_write_time(r->time.median).text);
        gpumbi_markdown_cell(file, gpumbi_write_interval(&r->time).text);
    } else {
        gpumbi_markdown_cell(file, gpumbi_status_name[r->status]);
        gpumbi_markdown_cell(file, "");
    }
    for (int i = 0; i < GPUMBI_RATES; i++)
        gpumbi_markdown_cell(file, gpumbi_write_rate(r, i).text);
    gpumbi_markdown_columns(g, file, row, 0);
    gpumbi_markdown_cell(file, r->verified < 0 ? "" : r->verified ? "yes" : "no");
    gpumbi_markdown_cell(file, r->status == GPUMB_STATUS_OK
                                   ? gpumbi_table_flags(g, r, flags, sizeof flags)
                                   : r->reason);
    fputc('\n', file);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int gpumbi_held_streams; /* bit i: standard stream i was closed, and is held */

/* Finds out where a sink writes to: to standard output, by whatever name, straight to what is no
 * regular file, or to a name in a folder without links, since the program may change its own.
 * Returns what is wrong. */
static inline const char *gpumbi_sink_resolve(gpumbi_sink *sink)
{
    char path[GPUMBI_PATH], link[GPUMBI_PATH];
    gpumbi_file_state about;
    const int there = !gpumbi_stat(sink->path, &about);
    if (there && S_ISDIR(about.st_mode))
        return "is a directory, not a file";
    sink->straight = there && !S_ISREG(about.st_mode);
    for (int fd = 1; fd <= 2; fd++)
        if ((fd == 1 && !strcmp(sink->path, "-")) ||
            (strcmp(sink->path, GPUMBI_NOWHERE) && gpumbi_is_at(fd, sink->path, 1))) {
            if (gpumbi_held_streams >> fd & 1)
                return fd == 1 ? "standard output is closed" : "standard error is closed";
            sink->straight = 1;
            sink->fd = fd;
            gpumbi_format(sink->name, sizeof sink->name, "-%d", fd);
            return NULL;
        }
    errno = ENAMETOOLONG;
    gpumbi_full_path(path, sizeof path, sink->path);
    for (int links = 0; links < 40 && strlen(path) < GPUMBI_PATH - 32; links++) {
        char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        if (slash)
            *slash = 0;
        char *folder = gpumbi_realpath(slash == path ? "/" : slash ? path : ".");
        if (!folder)
            return errno == ENOENT ? "there is no such folder, make it first" : strerror(errno);
        gpumbi_format(sink->name, GPUMBI_PATH - 32, "%s/%s", folder[1] ? folder : "", name);
        free(folder);
        if (gpumbi_lstat(sink->name, &about))
            return errno == ENOENT ? NULL : strerror(errno);
        if (!S_ISLNK(about.st_mode) || sink->straight) {
            if (S_ISCHR(about.st_mode)) /* anybody may write there */
                sink->name[0] = 0;
            sink->replaces = !sink->straight;
            sink->replaced = about;
            return access(sink->path, W_OK) ? strerror(errno) : NULL;
        }
        const int64_t end = gpumbi_readlink(sink->name, link, sizeof link - 1);
        link[end < 0 ? 0 : end] = 0;
        *(strrchr(sink->name, '/') + 1) = 0;
        gpumbi_format(path, sizeof path, "%s%s", link[0] == '/' ? "" : sink->name, link);
        errno = ELOOP;
    }
    return strerror(errno);
}

static inline void gpumbi_sink_part(const gpumbi_sink *sink, char part[GPUMBI_PATH])
{
    gpumbi_format(part, GPUMBI_PATH, "%s.part", sink->name);
}

/* A new file, with mode and owner of the one that it will replace. Returns -1 if there is anything
 * of that name. */
static inline int gpumbi_new_file(const gpumbi_sink *sink, const char *path)
{
    const int fd = gpumbi_open(path, O_WRONLY | O_CREAT | O_EXCL, sink->replaces ? 0600 : 0666);
    if (fd >= 0 && sink->replaces)
        gpumbi_take_owner(fd, &sink->replaced);
    return fd;
}

/* The same of a free name NAME.part.1, .2 ... */
static inline int gpumbi_spare_file(const gpumbi_sink *sink, char path[GPUMBI_PATH])
{
    int fd = -1;
    errno = EEXIST;
    for (int n = 1; fd < 0 && errno == EEXIST && n < 10000; n++) {
        gpumbi_format(path, GPUMBI_PATH, "%s.part.%d", sink->name, n);
        fd = gpumbi_new_file(sink, path);
    }
    return fd;
}

/* Keeps what a dead run has left, which is locked now. Returns 0 if it can't be. */
static inline int gpumbi_set_aside(const gpumbi_sink *sink, int fd, const char *part)
{
    char kept[GPUMBI_PATH];
    gpumbi_file_state about;
    if (!gpumbi_fstat(fd, &about) && !about.st_size)
        return !unlink(part);
    const int spare = gpumbi_spare_file(sink, kept);
    if (spare < 0)
        return 0;
    close(spare);
    if (gpumbi_rename(part, kept)) {
        unlink(kept);
        return 0;
    }
    gpumbi_say("%s %s: what a run left that ended early is kept as %s", sink->option, sink->path,
               kept);
    return 1;
}

/* Makes the part and locks it, or takes over what a dead run has left. Returns what is wrong. Two
 * runs that meet here lock the same file, or one finds another file at the path than the one it has
 * locked, and begins again. */
static inline const char *gpumbi_make_part(gpumbi_sink *sink, int resumes)
{
    char part[GPUMBI_PATH];
    gpumbi_file_state about;
    gpumbi_sink_part(sink, part);
    for (int tries = 0; tries < 100; tries++) {
        int fd = gpumbi_new_file(sink, part);
        const int made = fd >= 0;
        if (!made && errno == EEXIST && !gpumbi_lstat(part, &about) && !S_ISREG(about.st_mode))
            return "its .part is a link, a folder or a device: remove it, or choose another name";
        if (!made && errno == EEXIST)
            fd = gpumbi_open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0)
            return strerror(errno);
        int refused = gpumbi_lock(fd);
        /* A run that was killed holds it until the driver has let go of the process. */
        for (int waits = 0; resumes && refused == EWOULDBLOCK && waits < 50; waits++) {
            gpumbi_poll(-1, 100);
            refused = gpumbi_lock(fd);
        }
        const int there = gpumbi_is_at(fd, part, 0);
        sink->fd = fd;
        sink->stale =
            resumes && !made && there && !refused && !gpumbi_fstat(fd, &about) && about.st_size;
        if (sink->stale || (made && there && refused != EWOULDBLOCK))
            return NULL;
        const int kept = made || !there || refused || gpumbi_set_aside(sink, fd, part);
        const int error = errno;
        sink->fd = -1;
        close(fd);
        if (!made && there && refused)
            return refused == EWOULDBLOCK
                       ? "another run is writing it: wait for its end, or choose another name"
                       : "its .part may be another run's, for there are no locks on this file "
                         "system: remove it if none runs";
        if (!kept)
            return strerror(error);
    }
    return "its .part comes and goes";
}

/* Lets a finished file take the place of another, which may have been removed or replaced. Data is
 * on the disk before the name is; a folder is flushed where the file system can. */
static inline int gpumbi_take_place(int fd, const char *from, const char *to)
{
    char folder[GPUMBI_PATH];
    int lost;
    do
        lost = gpumbi_flush(fd) && errno != EINVAL && errno != ENOTSUP; /* there is no disk */
    while (lost && errno == EINTR);
    if (lost)
        return 0;
    errno = ENOENT;
    if (!gpumbi_is_at(fd, from, 0) || gpumbi_rename(from, to))
        return 0;
    gpumbi_format(folder, sizeof folder, "%.*s", (int)(strrchr(to, '/') + 1 - to), to);
    const int above = gpumbi_open(folder, O_RDONLY, 0);
    if (above >= 0) {
        gpumbi_flush(above);
        close(above);
    }
    return 1;
}

/* Whether two sinks would write to one file, or one to the other's .part. */
static inline int gpumbi_sink_has(const gpumbi_sink *sink, const gpumbi_sink *other)
{
    const size_t length = strlen(sink->name);
    const char *rest = other->name + length;
    return length && !strncmp(other->name, sink->name, length) &&
           (!rest[0] || (!strncmp(rest, ".part", 5) && (!rest[5] || rest[5] == '.')));
}

/* Opens the files, all or none: looks at all names first, then makes them. Returns whether one is
 * standard output. */
static inline int gpumbi_sinks_open(gpumb *g)
{
    static const char *const option[] = {"--csv", "--json", "--md", "--gbench"};
    const char *const path[] = {g->settings.csv, g->settings.json, g->settings.markdown,
                                g->settings.gbench};
    int to_stdout = 0;
    if (g->settings.raw && !g->settings.json && g->options.argc) /* else: gpumb_row_samples() */
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--raw: goes into JSON; for example --json results.json");
    if (g->settings.resume && !g->settings.json && !g->settings.csv)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--resume: goes on with CSV or JSON; for example --csv results.csv");
    if (g->settings.resume && g->settings.processes > 1)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--resume: what other processes measured is gone with the run; leave out "
                   "--processes");
    for (int i = 0; i < 2 * GPUMBI_SINKS && !g->done; i++) {
        const int kind = i % GPUMBI_SINKS, makes = i >= GPUMBI_SINKS;
        gpumbi_sink *sink = &g->sinks.sink[kind];
        const char *wrong = NULL;
        sink->option = option[kind];
        sink->path = path[kind];
        if (!sink->path)
            continue;
        errno = 0;
        if (makes && !sink->straight)
            wrong = gpumbi_make_part(sink, g->settings.resume);
        else if (makes && sink->fd < 0 &&
                 (sink->fd = gpumbi_open(sink->path, O_WRONLY | O_TRUNC, 0)) < 0)
            wrong = strerror(errno);
        else if (!makes && sink->fd < 0)
            wrong = sink->path[0] ? gpumbi_sink_resolve(sink) : "needs the name of a file";
        for (int k = 0; k < kind && !makes && !wrong && !g->done; k++) {
            const gpumbi_sink *other = &g->sinks.sink[k];
            if (gpumbi_sink_has(sink, other) || gpumbi_sink_has(other, sink))
                gpumbi_end(g, GPUMB_EXIT_USAGE,
                           "%s %.2000s and %s %.2000s: are one file, or the .part of one; for "
                           "example %s results.%s",
                           other->option, other->path, sink->option, sink->path, sink->option,
                           sink->option + 2);
        }
        const int usage = errno == EACCES || errno == EROFS || errno == ENAMETOOLONG;
        if (wrong)
            gpumbi_end(g, makes && !usage ? GPUMB_EXIT_ERROR : GPUMB_EXIT_USAGE,
                       "%s %.4200s: %s; for example %s results.%s", sink->option, sink->path, wrong,
                       sink->option, sink->option + 2);
        to_stdout |= sink->fd == 1;
    }
    return to_stdout;
}

/* Ends the context: a sink can't be written. */
static inline void gpumbi_sink_failed(gpumb *g, const gpumbi_sink *sink)
{
    g->sinks.broken = 1;
    gpumbi_end(g, GPUMB_EXIT_ERROR,
               "%s %s: can't write: %s; free some space or choose another file", sink->option,
               sink->path, strerror(errno ? errno : EIO));
}

/* Writes a row, with the header if it is the first, or the end of the file: all of it or, in a
 * regular file, nothing. Returns 0 if it can't. */
static inline int gpumbi_sink_write(gpumb *g, int kind, const gpumbi_row *row)
{
    static const struct {
        void (*frame)(gpumb *g, FILE *file, int begins);
        void (*row)(gpumb *g, FILE *file, const gpumbi_row *row);
    } format[] = {{NULL, gpumbi_csv_row},
                  {gpumbi_json_frame, gpumbi_json_row},
                  {gpumbi_markdown_frame, gpumbi_markdown_row},
                  {gpumbi_gbench_frame, gpumbi_gbench_row}};
    gpumbi_sink *sink = &g->sinks.sink[kind];
    char *text = NULL;
    size_t length = 0, done = 0;
    FILE *file = gpumbi_memory_open(&text, &length);
    if (!file)
        return 0;
    if (format[kind].frame && (!row || !sink->rows))
        format[kind].frame(g, file, row != NULL);
    else if (row && !sink->rows)
        format[kind].row(g, file, NULL);
    if (row)
        format[kind].row(g, file, row);
    int right = !gpumbi_memory_close(file, &text, &length);
    if (sink->fd == 1) /* after what the program itself has printed */
        fflush(stdout);
    while (right && done < length) {
        const int64_t wrote = gpumbi_write(sink->fd, text + done, length - done);
        done += wrote > 0 ? (size_t)wrote : 0;
        right = wrote > 0 || errno == EINTR;
    }
    free(text);
    if (right) {
        sink->end += (int64_t)length;
        sink->rows += row != NULL;
    } else if (!sink->straight) {
        const int error = errno;
        if (!gpumbi_cut(sink->fd, sink->end))
            lseek(sink->fd, (off_t)sink->end, SEEK_SET);
        errno = error;
    }
    return right;
}

static inline int gpumbi_sink_write_rows(gpumb *g, int kind)
{
    gpumbi_sink *sink = &g->sinks.sink[kind];
    int right = 1;
    sink->columns = g->columns.count;
    while (right && sink->rows < g->rows.count)
        right = gpumbi_sink_write(g, kind, g->rows.at[sink->rows]);
    return right;
}

/* Writes the part anew, with the columns and in the order of now. At any time one of both is there,
 * with all rows that were, and locked. */
static inline int gpumbi_sink_renew(gpumb *g, int kind)
{
    char part[GPUMBI_PATH], fresh[GPUMBI_PATH];
    gpumbi_sink *sink = &g->sinks.sink[kind];
    const gpumbi_sink before = *sink;
    gpumbi_sink_part(sink, part);
    sink->fd = gpumbi_spare_file(sink, fresh);
    sink->rows = 0;
    sink->entries = 0;
    sink->end = 0;
    sink->stale = 0;
    if (sink->fd >= 0) {
        gpumbi_lock(sink->fd);
        if (gpumbi_sink_write_rows(g, kind) && gpumbi_is_at(before.fd, part, 0) &&
            gpumbi_take_place(sink->fd, fresh, part)) {
            close(before.fd);
            return 1;
        }
        const int error = errno;
        close(sink->fd);
        unlink(fresh);
        errno = error;
    }
    *sink = before;
    return 0;
}

/* Shows the finished rows in all sinks. While those of a drawn order are to come, only files get
 * them as they are, since they can be written anew when all are there. */
static inline void gpumbi_write_rows(gpumb *g)
{
    const int waiting = g->sweep.run_order != NULL;
    if (g->settings.profile) /* there is nothing in them */
        return;
    gpumbi_progress_clear();
    for (int kind = 0; kind < GPUMBI_SINKS && !g->sinks.broken; kind++) {
        gpumbi_sink *sink = &g->sinks.sink[kind];
        if (sink->fd < 0 || (waiting && sink->straight) || (sink->stale && g->kept.left))
            continue;
        const int wider = kind != GPUMBI_JSON && kind != GPUMBI_GBENCH && sink->rows &&
                          sink->columns != g->columns.count;
        const int drawn = !waiting && sink->rows > g->rows.written, before = sink->rows > 0;
        errno = 0;
        if (wider && sink->straight) {
            g->sinks.broken = 1;
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "%s %s: column %s came after the header was sent; write to a file, for "
                       "example %s results.%s",
                       sink->option, sink->path, g->columns.name[g->columns.count - 1],
                       sink->option, sink->option + 2);
        } else if (!(wider || drawn || sink->stale ? gpumbi_sink_renew(g, kind)
                                                   : gpumbi_sink_write_rows(g, kind))) {
            gpumbi_sink_failed(g, sink);
        }
        char part[GPUMBI_PATH];
        if (!before && !sink->straight && !g->sinks.broken) {
            gpumbi_sink_part(sink, part);
            gpumbi_append(gpumbi_crash_files, sizeof gpumbi_crash_files, "%s%s",
                          gpumbi_crash_files[0] ? " and " : "; finished rows are in ", part);
            gpumbi_plain(gpumbi_crash_files);
        }
    }
    if (!g->sinks.broken)
        gpumbi_table_rows(g);
}

/* Completes a file. It takes its name only if nothing went wrong, and has none without rows. */
static inline void gpumbi_sink_close(gpumb *g, int kind)
{
    char part[GPUMBI_PATH];
    gpumbi_sink *sink = &g->sinks.sink[kind];
    if (sink->fd < 0 || g->process != getpid())
        return;
    gpumbi_sink_part(sink, part);
    errno = 0;
    int right = !sink->rows || gpumbi_sink_write(g, kind, NULL);
    if (sink->straight)
        right &= sink->fd <= 2 || !close(sink->fd);
    else if (!sink->rows && !sink->stale && gpumbi_is_at(sink->fd, part, 0))
        unlink(part);
    else if (sink->rows && right && !g->done)
        right = gpumbi_take_place(sink->fd, part, sink->name);
    if (!right)
        gpumbi_sink_failed(g, sink);
    if (!sink->straight) {
        if (g->done && sink->rows && gpumbi_is_at(sink->fd, part, 0))
            gpumbi_say("%s %s in %s", gpumbi_count(sink->rows, "finished row").text,
                       sink->rows == 1 ? "is" : "are", part);
        else if (g->done && sink->stale)
            gpumbi_say("%s is as the run before has left it", part);
        close(sink->fd);
    }
    sink->fd = -1;
}

/* Before the first file is opened, which would get the number of a closed standard stream. */
static inline void gpumbi_files_begin(gpumb *g)
{
    gpumbi_file_state about;
    for (int i = 0; i < GPUMBI_SINKS; i++)
        g->sinks.sink[i].fd = -1;
    for (int fd = 0; fd <= 2; fd++)
        if (gpumbi_fstat(fd, &about) && errno == EBADF) {
            gpumbi_held_streams |= 1 << fd;
            if (!fopen(GPUMBI_NOWHERE, "r+"))
                gpumbi_end(g, GPUMB_EXIT_ERROR, "standard stream %d is closed; open it", fd);
        }
}

/* Rows go as JSON to a file that is open; -1: nowhere. */
static inline void gpumbi_files_redirect(gpumb *g, int fd)
{
    g->sinks.sink[GPUMBI_JSON].fd = fd;
    g->sinks.sink[GPUMBI_JSON].straight = fd >= 0;
}

/* What rows say of the settings: `known`, or (NULL) those in force. */
static inline void gpumbi_files_settings(gpumb *g, const char *known)
{
    gpumbi_head head;
    gpumbi_head_of(g, &head);
    gpumbi_settings_text(&head, g->sinks.settings, sizeof g->sinks.settings);
    if (known)
        gpumbi_copy_text(g->sinks.settings, sizeof g->sinks.settings, known);
}

static inline void gpumbi_files_closing(gpumb *g)
{
    for (int i = 0; i < GPUMBI_SINKS; i++)
        gpumbi_sink_close(g, i);
    if (gpumbi_crash_files[0]) /* else not touched: other threads may have contexts, too */
        gpumbi_crash_files[0] = 0;
}

GPUMBI_TOOL(gpumbi_files_tool, FILES, NULL, GPUMBI_NO_REGION, {NULL, NULL, gpumbi_write_rows, NULL},
            {gpumbi_files_closing, NULL});

/* ================================================================================================
 * RECORDS
 *
 * Keeps no state: reads rows of other runs, by one reader for CSV and one for JSON, in place: the
 * texts of a record point into what was read. A record belongs to a row of this run if bench,
 * kernel and all axes that this run has are the same; several that share these are matched in
 * order. Unknown columns are part of the record's name only: they are axes of other benchmarks, or
 * notes.
 */

enum {
    GPUMBI_READ_AXIS = GPUMBI_COLUMNS_FIXED, /* every name that is not fixed */
    GPUMBI_READ_COLUMNS = 512
};

typedef struct gpumbi_cell {
    const char *name, *text;
} gpumbi_cell;

/* A time with the 95 % interval of one process, and how the medians of so many processes spread:
 * the variance of their logarithms, or, from older files, least and largest. */
typedef struct gpumbi_estimate {
    double at, lo, hi;
    double processes, variance; /* below 0: unknown */
    double process_lo, process_hi;
    double devices; /* whose middle this is, and then how they spread; 0: of one */
} gpumbi_estimate;

struct gpumbi_record {
    size_t first_axis, axes, values;        /* cells: its axes, and after them its values */
    const char *text[GPUMBI_COLUMNS_FIXED]; /* NULL: not there */
    const char *samples;                    /* the array of JSON, each number ended by a 0 ... */
    uint64_t sampled;                       /* ... and how many there are */
    gpumbi_estimate time;
    int ok, cold, matched;
};

struct gpumbi_records {
    gpumbi_records *next;
    char *text, *at;
    size_t line, lines;                        /* of the record that is read, and so far */
    const char *version;                       /* at the top of JSON */
    char settings[GPUMBI_CELL];                /* of JSON */
    gpumbi_head head;                          /* of JSON */
    gpumbi_line now;                           /* the record that is read ... */
    unsigned char there[GPUMBI_COLUMNS_FIXED]; /* ... its columns: 1 empty, 2 not */
    int last;                                  /* field that was looked for */
    gpumbi_record *rows;
    gpumbi_index index; /* of these, by gpumbi_key() */
    gpumbi_cell *axes;
    size_t count, capacity, axis_count, axis_capacity;
    int several; /* records with the name and axes of another one that is matched */
    int exact;   /* all axes are known to be such, and count */
    char wrong[160];
};

static inline void gpumbi_wrong(gpumbi_records *t, const char *what, const char *detail)
{
    if (!t->wrong[0])
        gpumbi_format(t->wrong, sizeof t->wrong, "line %llu: %s%.40s", (unsigned long long)t->line,
                      what, detail);
}

/* For all processes that measured a row: the geometric mean of their medians, and the last one's
 * interval around it. */
static inline gpumbi_estimate gpumbi_estimate_of(const gpumb_result *r)
{
    const gpumb_stats *t = &r->time;
    gpumbi_estimate e = {t->median, t->ci_lo,        t->ci_hi,        gpumbi_max(r->processes, 1),
                         -1,        r->process_lo_s, r->process_hi_s, 0};
    double sum = 0, squares = 0;
    if (!r->process_medians_s || r->processes < 2 || r->time.median <= 0)
        return e;
    for (int i = 0; i < r->processes; i++) {
        const double ratio = log(r->process_medians_s[i] / r->time.median);
        sum += ratio;
        squares += ratio * ratio;
    }
    const double mean = sum / r->processes;
    e.variance = gpumbi_max(squares - sum * mean, 0) / (r->processes - 1);
    e.at *= exp(mean);
    e.lo *= exp(mean);
    e.hi *= exp(mean);
    return e;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The fields of a record; of one that has none yet, the values that stand for unknown. */
static inline void gpumbi_read_line(const gpumbi_record *r, gpumbi_line *line)
{
    for (int i = 0; i < GPUMBI_COLUMNS_FIXED; i++)
        gpumbi_read_field(&gpumbi_row_fields[i], line, r->text[i] ? r->text[i] : "");
    if (line->result.time.count < 6) /* they are not written, and all count */
        line->result.time.effective = gpumbi_real(line->result.time.count);
}

/* Marks the file as broken where a record lacks what it has to have. */
static inline void gpumbi_record_needs(gpumbi_records *t, const char *what)
{
    static const unsigned char needed[] = {GPUMBI_COLUMN_bench,   GPUMBI_COLUMN_kernel,
                                           GPUMBI_COLUMN_status,  GPUMBI_COLUMN_median_s,
                                           GPUMBI_COLUMN_ci_lo_s, GPUMBI_COLUMN_ci_hi_s};
    for (size_t i = 0; i < sizeof needed; i++)
        if (!t->there[needed[i]])
            gpumbi_wrong(t, what, gpumbi_row_fields[needed[i]].name);
}

static inline gpumbi_record *gpumbi_record_begin(gpumb *g, gpumbi_records *t)
{
    if (!gpumbi_grow(g, &t->rows, sizeof *t->rows, t->count, &t->capacity))
        gpumbi_wrong(t, "no memory", "");
    if (t->wrong[0])
        return NULL;
    gpumbi_record *r = &t->rows[t->count];
    memset(r, 0, sizeof *r);
    r->first_axis = t->axis_count;
    memset(t->there, 0, sizeof t->there);
    gpumbi_read_line(r, &t->now);
    return r;
}

static inline void gpumbi_record_field(gpumb *g, gpumbi_records *t, int slot, gpumbi_cell cell)
{
    if (slot < GPUMBI_READ_AXIS) {
        t->rows[t->count].text[slot] = cell.text;
        t->there[slot] = cell.text[0] ? 2 : 1;
        if (!gpumbi_read_field(&gpumbi_row_fields[slot], &t->now, cell.text))
            gpumbi_wrong(t, "not a number above 0 is ", gpumbi_row_fields[slot].name);
    }
    if (slot < GPUMBI_READ_AXIS || (!cell.text[0] && !gpumbi_is_listed(t->now.values, cell.name)))
        return;
    if (!gpumbi_grow(g, &t->axes, sizeof cell, t->axis_count, &t->axis_capacity))
        gpumbi_wrong(t, "no memory", "");
    if (!t->wrong[0])
        t->axes[t->axis_count++] = cell;
}

/* A record counts once it is complete, and makes sense. Those of its cells that are values are put
 * after its axes, in the order of their list. */
static inline void gpumbi_record_end(gpumbi_records *t)
{
    gpumbi_record *r = &t->rows[t->count];
    gpumbi_cell *const cell = t->axes + r->first_axis, kept;
    gpumb_result *now = &t->now.result;
    gpumbi_record_needs(t, "there is no ");
    if (t->wrong[0])
        return;
    const char *status = r->text[GPUMBI_COLUMN_status];
    const gpumb_stats *time = &now->time;
    const gpumb_comparison *ratio = &now->comparison;
    r->ok = !strcmp(status, "ok");
    r->cold = !strcmp(now->cache, "cold");
    const char *list = t->now.values, *what = NULL;
    char name[GPUMBI_COLUMN_NAME];
    int names = 0;
    r->axes = t->axis_count - r->first_axis;
    while ((list = gpumbi_split(list, ';', name, sizeof name)) != NULL) {
        size_t i = 0;
        while (i < r->axes && strcmp(cell[i].name, name))
            i++;
        if (names++ == GPUMBI_OWN_VALUES ||
            gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, name, -1) !=
                GPUMBI_COLUMNS_FIXED)
            gpumbi_wrong(t, "one too many, or the name of a column, is the value ", name);
        if (i == r->axes)
            continue;
        kept = cell[i];
        memmove(cell + i, cell + i + 1, (r->axes + r->values - i - 1) * sizeof kept);
        r->axes--;
        cell[r->axes + r->values++] = kept;
    }
    if (!r->ok && strcmp(status, "skipped") && strcmp(status, "failed"))
        gpumbi_wrong(t, "neither ok, skipped nor failed is the status ", status);
    else if (r->ok &&
             (time->median <= 0 || time->median < time->ci_lo ||
              (t->there[GPUMBI_COLUMN_ci_lo_s] > 1 ? time->median > time->ci_hi : time->ci_hi > 0)))
        what = "median_s is not within ci_lo_s and ci_hi_s";
    else if (now->processes > 1 &&
             (now->process_lo_s <= 0 || now->process_hi_s < now->process_lo_s))
        what = "process_lo_s and process_hi_s are not in order";
    else if (t->now.median_count && t->now.median_count != now->processes)
        what = "processes is not the number of process_medians_s";
    else if (r->samples ? r->sampled != time->count
                        : r->ok && t->there[GPUMBI_COLUMN_samples] > 1 && !time->count)
        what = "samples is 0, or not the number of samples_s";
    else if (ratio->hi > 0 &&
             (ratio->ratio < ratio->lo || ratio->ratio > ratio->hi || ratio->ratio <= 0))
        what = "ratio is not within ratio_lo and ratio_hi";
    if (what)
        gpumbi_wrong(t, what, "");
    t->count += !t->wrong[0];
    r->time = gpumbi_estimate_of(now);
}

/* The next field of a CSV file, and whether the line ends after it. */
static inline const char *gpumbi_csv_next(gpumbi_records *t, int *last)
{
    char *from = t->at, *to = from, *text = from;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); *to++ = *from++) {
            from += *from == '"';
            t->lines += *from == '\n';
        }
        if (!*from++)
            gpumbi_wrong(t, "a quote is not closed", "");
        else if (*from && !strchr(",\r\n", *from))
            gpumbi_wrong(t, "text after a closing quote", "");
    } else {
        to = from += strcspn(from, ",\r\n");
    }
    *last = *from != ',' || t->wrong[0];
    if (*from && !t->wrong[0]) {
        t->lines += *from != ',';
        from += *from == '\r' && from[1] == '\n' ? 2 : 1;
    }
    *to = 0;
    t->at = from;
    return text;
}

static inline void gpumbi_read_csv(gpumb *g, gpumbi_records *t)
{
    const char *name[GPUMBI_READ_COLUMNS];
    int slot[GPUMBI_READ_COLUMNS], columns = 0, last = 0;
    memset(t->there, 0, sizeof t->there);
    for (; !last; columns++) {
        if (columns == GPUMBI_READ_COLUMNS - 1)
            gpumbi_wrong(t, "too many columns", "");
        name[columns] = gpumbi_csv_next(t, &last);
        slot[columns] =
            gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, name[columns], columns - 1);
        for (int i = 0; i < columns; i++) /* an axis may be called as a fixed column */
            if (!strcmp(name[columns], name[i]))
                slot[columns] = GPUMBI_READ_AXIS;
        if (slot[columns] < GPUMBI_READ_AXIS)
            t->there[slot[columns]] = 1;
    }
    gpumbi_record_needs(t, "there is no column ");
    while (*t->at && !t->wrong[0]) {
        int i = 0, empty = 1;
        t->line = t->lines + 1;
        if (!gpumbi_record_begin(g, t))
            return;
        for (last = 0; !last; i++) {
            const gpumbi_cell cell = {name[i < columns ? i : 0], gpumbi_csv_next(t, &last)};
            empty &= !cell.text[0];
            if (i < columns)
                gpumbi_record_field(g, t, slot[i], cell);
        }
        if (empty) /* as spreadsheets leave behind */
            continue;
        if (i != columns)
            gpumbi_wrong(t, i < columns ? "fewer" : "more", " fields than the header has");
        gpumbi_record_end(t);
    }
}

/* XXXX of \uXXXX; 0 if this is none. */
static inline unsigned gpumbi_json_hex(const char *text)
{
    char digits[5] = "";
    if (text[0] != '\\' || text[1] != 'u' || strspn(text + 2, "0123456789abcdefABCDEF") < 4)
        return 0;
    memcpy(digits, text + 2, 4);
    return (unsigned)strtoul(digits, NULL, 16);
}

static inline const char *gpumbi_json_text(gpumbi_records *t)
{
    static const char letter[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char *from = t->at + 1, *to = from, *text = from;
    while ((unsigned char)*from >= ' ' && *from != '"') {
        const char *escape = *from == '\\' && from[1] ? strchr(letter, from[1]) : NULL;
        if (*from != '\\') {
            *to++ = *from++;
        } else if (escape) {
            *to++ = meaning[escape - letter];
            from += 2;
        } else { /* \uXXXX, or two of them for a surrogate pair, to UTF-8 (RFC 3629), shorter */
            unsigned code = gpumbi_json_hex(from);
            from += 6;
            if (code >> 10 == 0xd800 >> 10 && gpumbi_json_hex(from) >> 10 == 0xdc00 >> 10) {
                code = 0x10000 + ((code & 0x3ff) << 10 | (gpumbi_json_hex(from) & 0x3ff));
                from += 6;
            } else if (!code || code >> 11 == 0xd800 >> 11) {
                from -= 6;
                break;
            }
            int rest = code > 0xffff ? 3 : code > 0x7ff ? 2 : code > 0x7f; /* bytes of 6 bits */
            *to++ = (char)((rest ? 0xff00u >> (rest + 1) : 0) | code >> 6 * rest);
            while (rest--)
                *to++ = (char)(0x80 | (code >> 6 * rest & 0x3f));
        }
    }
    t->at = from + (*from == '"');
    if (*from != '"')
        gpumbi_wrong(t, *from ? "not a JSON text" : "the file ends too early", "");
    *to = 0;
    return text;
}

static inline void gpumbi_json_space(gpumbi_records *t)
{
    for (; *t->at && strchr(" \t\r\n", *t->at); t->at++)
        t->line += *t->at == '\n';
}

/* Where a value stands. */
enum {
    GPUMBI_AT_TOP,
    GPUMBI_AT_DEVICE,
    GPUMBI_AT_SETTINGS,
    GPUMBI_AT_ROWS,
    GPUMBI_AT_ROW,
    GPUMBI_AT_AXES,
    GPUMBI_AT_VALUES,
    GPUMBI_AT_SAMPLES,
    GPUMBI_AT_OTHER
};

static inline void gpumbi_json_scalar(gpumb *g, gpumbi_records *t, int at, const char *name)
{
    gpumbi_cell cell = {name, ""};
    if (*t->at == '"') {
        cell.text = gpumbi_json_text(t);
    } else { /* moved one to the left, onto what was read, so that it can be ended */
        double number;
        char *text = t->at - 1;
        const size_t length = strcspn(t->at, " \t\r\n,]}");
        memmove(text, t->at, length);
        text[length] = 0;
        t->at += length;
        if (!strcmp(text, "null"))
            text[0] = 0;
        else if (strcmp(text, "true") && strcmp(text, "false") &&
                 !gpumbi_read_number(text, &number))
            gpumbi_wrong(t, *text || *t->at ? "not a JSON value: " : "the file ends too early",
                         text);
        cell.text = text;
    }
    int slot = GPUMBI_READ_AXIS;
    if (at == GPUMBI_AT_ROW)
        slot = t->last = gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, name, t->last);
    if (at == GPUMBI_AT_TOP && !strcmp(name, "gpumb"))
        t->version = cell.text;
    else if (at == GPUMBI_AT_TOP && !strcmp(name, "program"))
        gpumbi_copy_text(t->head.program, sizeof t->head.program, cell.text);
    if (at == GPUMBI_AT_DEVICE || at == GPUMBI_AT_SETTINGS) {
        const gpumbi_field *fields =
            at == GPUMBI_AT_DEVICE ? gpumbi_device_fields : gpumbi_settings_fields;
        const int count =
            at == GPUMBI_AT_DEVICE ? (int)GPUMBI_DEVICE_COUNT : (int)GPUMBI_SETTINGS_COUNT;
        const int field = gpumbi_find_field(fields, count, name, -1);
        if (field < count && !gpumbi_read_field(&fields[field], &t->head, cell.text))
            gpumbi_wrong(t, "not a number above 0 is ", name);
    }
    if (at == GPUMBI_AT_VALUES)
        gpumbi_list(t->now.values, sizeof t->now.values, name);
    if (at == GPUMBI_AT_AXES || at == GPUMBI_AT_VALUES || slot < GPUMBI_READ_AXIS)
        gpumbi_record_field(g, t, slot, cell);
}

static inline void gpumbi_read_json(gpumb *g, gpumbi_records *t, int at, const char *name,
                                    int depth)
{
    gpumbi_json_space(t);
    const char open = *t->at, close = open == '{' ? '}' : ']';
    if (open != '{' && open != '[') {
        gpumbi_json_scalar(g, t, at, name);
        return;
    }
    static const struct {
        int at, inside;
        char open;
        const char *name; /* NULL: any */
    } place[] = {{GPUMBI_AT_TOP, GPUMBI_AT_DEVICE, '{', "device"},
                 {GPUMBI_AT_TOP, GPUMBI_AT_SETTINGS, '{', "settings"},
                 {GPUMBI_AT_TOP, GPUMBI_AT_ROWS, '[', "rows"},
                 {GPUMBI_AT_ROWS, GPUMBI_AT_ROW, '{', NULL},
                 {GPUMBI_AT_ROW, GPUMBI_AT_AXES, '{', "axes"},
                 {GPUMBI_AT_ROW, GPUMBI_AT_VALUES, '{', "values"},
                 {GPUMBI_AT_ROW, GPUMBI_AT_SAMPLES, '[', "samples_s"}};
    int inside = depth ? GPUMBI_AT_OTHER : GPUMBI_AT_TOP;
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++)
        if (at == place[i].at && open == place[i].open &&
            (!place[i].name || !strcmp(name, place[i].name)))
            inside = place[i].inside;
    t->at++;
    if (depth == 32)
        gpumbi_wrong(t, "nested too deeply", "");
    else if (inside == GPUMBI_AT_ROW)
        gpumbi_record_begin(g, t);
    gpumbi_json_space(t);
    if (inside == GPUMBI_AT_SAMPLES) {
        t->rows[t->count].samples = t->at - 1;
        t->rows[t->count].sampled = 0;
    }
    for (int more = *t->at != close; more && !t->wrong[0]; more = *t->at == ',' && t->at++) {
        double number;
        const char *key = "", *moved;
        gpumbi_json_space(t);
        moved = t->at - 1; /* where a number goes */
        if (open == '{') {
            key = *t->at == '"' ? gpumbi_json_text(t) : "";
            gpumbi_json_space(t);
            if (*t->at != ':')
                gpumbi_wrong(t, *t->at ? "not \"name\": value" : "the file ends too early", "");
            else
                t->at++;
        }
        if (!t->wrong[0])
            gpumbi_read_json(g, t, inside, key, depth + 1);
        if (inside == GPUMBI_AT_SAMPLES) {
            t->rows[t->count].sampled++;
            if (!gpumbi_read_number(moved, &number))
                gpumbi_wrong(t, "not a number is in samples_s", "");
        }
        gpumbi_json_space(t);
    }
    if (*t->at == close)
        t->at++;
    else
        gpumbi_wrong(t, *t->at ? "a comma or bracket is missing" : "the file ends too early", "");
    if (inside == GPUMBI_AT_ROW && !t->wrong[0])
        gpumbi_record_end(t);
}

/* All of a file or pipe, ended by a 0; NULL after an error, also if it is larger than `limit`, or
 * if nothing has come for so many seconds (0: no matter). Waits in short turns, since an interrupt
 * may come right before. */
static inline char *gpumbi_read_all(gpumb *g, int fd, size_t *length, size_t limit, int patience_s)
{
    char *text = NULL;
    size_t blocks = 0;
    int64_t got = 1;
    int waited = 0, error = ENOMEM;
    for (*length = 0; got && gpumbi_grow(g, &text, 4096, (*length + 1) / 4096, &blocks);) {
        const int polled = gpumbi_poll(fd, 100);
        if (polled > 0)
            got = gpumbi_read(fd, text + *length, blocks * 4096 - 1 - *length);
        error = errno;
        if (gpumbi_interrupted || (polled > 0 && got < 0 && error != EINTR && error != EAGAIN))
            break;
        *length += polled > 0 && got > 0 ? (size_t)got : 0;
        waited = polled == 0 ? waited + 1 : 0;
        error = *length > limit ? EFBIG : ETIMEDOUT;
        if (*length > limit || (patience_s && waited == 10 * patience_s))
            break;
    }
    if (!got && text)
        return text;
    gpumbi_free(text);
    errno = error;
    return NULL;
}

static inline const char *gpumbi_why_unread(void)
{
    const int error = errno;
    return error == EFBIG       ? "is more than 1 GiB, or 64 MiB from a pipe"
           : error == ENOTSUP   ? "is neither a file nor a pipe"
           : error == ETIMEDOUT ? "nothing has come for 10 s"
                                : strerror(error);
}

/* Reads what a sink has written; of a part, what is whole. `wrong` says what is wrong with it.
 * NULL: no memory. */
static inline gpumbi_records *gpumbi_read_records(gpumb *g, int fd, size_t limit, int patience_s,
                                                  int part)
{
    size_t length;
    gpumbi_records *t = (gpumbi_records *)gpumbi_allocate(g, sizeof *t);
    if (!t)
        return NULL;
    t->line = 1;
    t->text = gpumbi_read_all(g, fd, &length, limit, patience_s);
    if (!t->text) {
        gpumbi_copy_text(t->wrong, sizeof t->wrong, gpumbi_why_unread());
        return t;
    }
    t->at = t->text;
    if (!part && strlen(t->text) < length) {
        for (; *t->at; t->at++)
            t->line += *t->at == '\n';
        gpumbi_wrong(t, "not a text: it has a byte 0", "");
    }
    if (!strncmp(t->at, "\xef\xbb\xbf", 3)) /* byte order mark */
        t->at += 3;
    const int csv = !strncmp(t->at, "schema,", 7);
    if (part && csv) { /* its last line may be torn */
        char *end = t->at;
        int quoted = 0;
        for (char *c = t->at; *c; c++) {
            quoted ^= *c == '"';
            end = *c == '\n' && !quoted ? c + 1 : end;
        }
        *end = 0;
    } else if (part && strncmp(t->at, "{\"schema\":", 10)) {
        gpumbi_wrong(t, "not what this version writes", "");
    }
    if (t->text[0] && t->at[strspn(t->at, " \t\r\n")] == '{') {
        gpumbi_read_json(g, t, GPUMBI_AT_OTHER, "", 0);
        gpumbi_json_space(t);
        if (*t->at)
            gpumbi_wrong(t, "text after the last bracket", "");
        else if (part) /* torn in a row, or after one */
            t->wrong[0] = 0;
        gpumbi_settings_text(&t->head, t->settings, sizeof t->settings);
        for (size_t i = 0; i < t->count; i++) {
            t->rows[i].text[GPUMBI_COLUMN_gpumb] = t->version;
            t->rows[i].text[GPUMBI_COLUMN_settings] = t->settings;
        }
    } else if (t->text[0] && !t->wrong[0]) {
        gpumbi_read_csv(g, t);
    }
    if (!t->count && !part)
        gpumbi_wrong(t, "there are no rows", "");
    return t;
}

/* Reads the file that an option names, of a part what is whole; `example` is one for it. It may be
 * a file or a pipe, and has an end: 1 GiB of a file, 64 MiB of a pipe, which may start 10 s late.
 * NULL: the context has ended. */
static inline gpumbi_records *gpumbi_open_records(gpumb *g, const char *option, const char *path,
                                                  const char *example, int part)
{
    gpumbi_file_state about;
    gpumbi_records *t = NULL;
    const int fd = gpumbi_open(path, O_RDONLY | O_NONBLOCK, 0);
    const int known = fd >= 0 && !gpumbi_fstat(fd, &about), file = known && S_ISREG(about.st_mode);
    if (known && S_ISDIR(about.st_mode))
        errno = EISDIR;
    else if (known && !file && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode))
        errno = ENOTSUP; /* /dev/zero has no end */
    else if (file && about.st_size > 1 << 30)
        errno = EFBIG;
    else if (known)
        t = gpumbi_read_records(g, fd, file ? 1 << 30 : 1 << 26, 10, part);
    const char *wrong = t ? t->wrong : gpumbi_why_unread();
    if (fd >= 0)
        close(fd);
    if (wrong[0] && gpumbi_working(g))
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--%s %s: %s; make %s by --csv %s.csv, for example, and --%s %s.csv", option,
                   path, wrong, example[0] == 'b' ? "a base" : "one", example, option, example);
    return t;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* A hash of bench and axes, whatever their order; unless all count, only of axes that this run has.
 * Without a context values are what is written. Two of a million names collide with a probability
 * of 3e-8. */
static inline uint64_t gpumbi_key(const gpumb *g, int all, const char *bench,
                                  const gpumbi_cell *axis, size_t axes)
{
    uint64_t key = gpumbi_hash(0xcbf29ce484222325u, bench);
    for (size_t i = 0; i < axes; i++) {
        const char *text = axis[i].text;
        double value;
        gpumbi_number number; /* as it is written here: spreadsheets write 1E-03, or 1000.0 */
        const int column = g ? gpumbi_axis_column(g, axis[i].name) : -1;
        const int named = !g || (column >= 0 && g->columns.named[column]);
        if (!named && text[strspn(text, "-0123456789")] && gpumbi_read_number(text, &value)) {
            number = gpumbi_write_scaled(value, 0);
            text = number.text;
        }
        if (all || column >= 0)
            key += gpumbi_hash(gpumbi_hash(0x9e3779b97f4a7c15u, axis[i].name), text);
    }
    return key;
}

/* A program without benchmarks names its rows after itself, and may have had another name when it
 * wrote the base; `known` NULL: the rows are of this program for sure. */
static inline const char *gpumbi_bench(const gpumb *known, const char *bench)
{
    return !known || known->benchmarks.by_main ? bench : "";
}

/* Makes the records ready to be found, those of one key in the order of the file. */
static inline void gpumbi_index_records(gpumb *g, gpumbi_records *t, const gpumb *known)
{
    const int all = t->exact || !known;
    for (size_t i = gpumbi_index_reserve(g, &t->index, t->count) ? t->count : 0; i-- > 0;) {
        gpumbi_record *r = &t->rows[i];
        gpumbi_index_add(&t->index, i,
                         gpumbi_key(g, all, gpumbi_bench(known, r->text[GPUMBI_COLUMN_bench]),
                                    t->axes + r->first_axis, r->axes));
    }
}

/* The next record of a key that is not taken yet, of this kernel or (NULL) of any; NULL: none is
 * left. */
static inline gpumbi_record *gpumbi_find(const gpumbi_records *t, uint64_t key, const char *kernel)
{
    size_t i = gpumbi_index_find(&t->index, key, SIZE_MAX);
    while (i != SIZE_MAX && kernel && strcmp(t->rows[i].text[GPUMBI_COLUMN_kernel], kernel) != 0)
        i = gpumbi_index_find(&t->index, key, i);
    return i == SIZE_MAX ? NULL : &t->rows[i];
}

/* Takes that; NULL: none is left. */
static inline gpumbi_record *gpumbi_take(gpumbi_records *t, uint64_t key, const char *kernel)
{
    gpumbi_record *found = gpumbi_find(t, key, kernel);
    if (!found)
        return NULL;
    found->matched = 1;
    gpumbi_index_remove(&t->index, (size_t)(found - t->rows));
    t->several |= gpumbi_find(t, key, kernel) != NULL;
    return found;
}

/* bench/kernel axis=value ... in a line */
static inline void gpumbi_label(char text[200], const char *bench, const char *kernel,
                                const gpumbi_cell *axis, size_t axes)
{
    gpumbi_format(text, 200, "%s/%s", bench, kernel);
    for (size_t i = 0; i < axes; i++)
        gpumbi_append(text, 200, " %s=%s", axis[i].name, axis[i].text);
    gpumbi_plain(text);
}

/* The key of a region of this run, for a table that was indexed with `known`, and its label. */
static inline uint64_t gpumbi_region_key(const gpumb *g, const char *bench, const char *kernel,
                                         const gpumbi_point *point, const gpumb *known,
                                         char label[200])
{
    gpumbi_cell cell[GPUMBI_DEPTH];
    gpumbi_number number[GPUMBI_DEPTH];
    size_t axes = 0;
    for (int i = 0; i < point->depth && i < GPUMBI_DEPTH; i++) {
        const int column = point->at[i].column;
        cell[axes].name = g->columns.name[column];
        cell[axes].text = gpumbi_axis_text(point, column, &number[i]);
        axes += cell[axes].text[0] != 0;
    }
    gpumbi_label(label, bench, kernel, cell, axes);
    return gpumbi_key(g, 1, gpumbi_bench(known, bench), cell, axes);
}

static inline uint64_t gpumbi_row_key(const gpumb *g, const gpumbi_row *row, const gpumb *known,
                                      char label[200])
{
    return gpumbi_region_key(g, row->result.bench, row->result.kernel, &row->point, known, label);
}

/* Fields that say where a row comes from. */
static const unsigned char gpumbi_origin[] = {GPUMBI_COLUMN_schema, GPUMBI_COLUMN_backend,
                                              GPUMBI_COLUMN_device, GPUMBI_COLUMN_gpumb,
                                              GPUMBI_COLUMN_settings};

/* The first record that has another k-th of these than rows of this run have, `here`: what it has.
 * NULL: all are the same, or don't say. */
static inline const char *gpumbi_from_elsewhere(const gpumb *g, const gpumbi_records *t, int k,
                                                char here[GPUMBI_CELL])
{
    gpumbi_line line;
    const char *there = NULL;
    memset(&line, 0, sizeof line);
    gpumbi_fill_line(g, &line.result, &line);
    gpumbi_copy_text(
        here, GPUMBI_CELL,
        gpumbi_field_text(&gpumbi_row_fields[gpumbi_origin[k]], &line, &line.result, line.values));
    for (size_t i = 0; i < t->count; i++) {
        there = t->rows[i].text[gpumbi_origin[k]];
        if (there && there[0] && strcmp(there, here))
            return there;
    }
    return NULL;
}

/* ================================================================================================
 * KEPT ROWS
 *
 * Owns g->kept: rows of an interrupted run (--resume), of a file (--replay) or of the processes of
 * several devices. Where there is one for a region, the region does not run.
 */

/* What a list has that another doesn't. */
static inline const char *gpumbi_unlisted(const char *list, const char *other,
                                          char text[GPUMBI_CELL])
{
    char one[GPUMBI_CELL];
    text[0] = 0;
    while ((list = gpumbi_split(list, ';', one, sizeof one)) != NULL)
        if (!gpumbi_is_listed(other, one))
            gpumbi_list(text, GPUMBI_CELL, one);
    return text[0] ? text : "the default";
}

/* Ends the context if rows aren't of a run like this one. */
static inline void gpumbi_resume_judge(gpumb *g, const gpumbi_sink *sink, gpumbi_records *t)
{
    char here[GPUMBI_CELL], more[GPUMBI_CELL], less[GPUMBI_CELL];
    char wrong[2 * GPUMBI_CELL], part[GPUMBI_PATH];
    gpumbi_copy_text(wrong, sizeof wrong, t->wrong);
    for (int k = 0; k < 5 && !wrong[0]; k++) {
        const char *there = gpumbi_from_elsewhere(g, t, k, here);
        if (there)
            gpumbi_format(wrong, sizeof wrong, "is of a run with another %s: %s, here it is %s",
                          gpumbi_row_fields[gpumbi_origin[k]].name,
                          k < 4 ? there : gpumbi_unlisted(there, here, more),
                          k < 4 ? here : gpumbi_unlisted(here, there, less));
    }
    for (int c = 0; c < GPUMBI_COLUMNS_FIXED && t->count && !wrong[0]; c++)
        if (!t->rows[0].text[c] && c != GPUMBI_COLUMN_values && c != GPUMBI_COLUMN_sampled_s &&
            c != GPUMBI_COLUMN_time_utc)
            gpumbi_format(wrong, sizeof wrong, "has no column %s", gpumbi_row_fields[c].name);
    gpumbi_sink_part(sink, part);
    if (wrong[0])
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--resume: %s: %s; run as that run did, or without --resume: the file is then "
                   "kept as .part.1",
                   part, wrong);
}

/* Reads the parts of --resume. The one with more rows counts; raw samples are in JSON alone. */
static inline void gpumbi_resume_open(gpumb *g)
{
    for (int kind = GPUMBI_CSV; kind <= GPUMBI_JSON && !g->done; kind++) {
        const gpumbi_sink *sink = &g->sinks.sink[kind];
        if (!sink->stale || (g->settings.raw && kind == GPUMBI_CSV))
            continue;
        gpumbi_records *t = gpumbi_read_records(g, sink->fd, 1 << 30, 0, 1);
        if (!t)
            return;
        gpumbi_resume_judge(g, sink, t);
        const int more = t->count > g->kept.left;
        g->kept.rows = more ? t : g->kept.rows;
        g->kept.left = more ? t->count : g->kept.left;
    }
    if (!g->settings.resume || g->done)
        return;
    if (!g->kept.left)
        gpumbi_say("--resume: no run has left rows: all are measured");
    else
        gpumbi_say("--resume: %s of an earlier run kept", gpumbi_count(g->kept.left, "row").text);
    if (g->kept.left)
        gpumbi_index_records(g, g->kept.rows, NULL);
}

/* The row of a region in another run's file, which may be taken; NULL: there is none. A region
 * without a name has the next one of its configuration. */
static inline gpumbi_record *gpumbi_find_kept(gpumb *g, const char *kernel, int takes)
{
    char name[sizeof g->rows.at[0]->result.kernel], label[200];
    const char *of = kernel && kernel[0] ? name : NULL; /* else its row has that of its launch */
    const gpumb *known = g->kept.measures_nothing ? g : NULL;
    gpumbi_records *t = g->kept.rows;
    if (!g->kept.left && !known)
        return NULL;
    if (!t->index.slots) /* of a replay: all axes are known by now */
        gpumbi_index_records(g, t, known);
    gpumbi_copy_line(name, sizeof name, kernel);
    const uint64_t key = gpumbi_region_key(g, g->bench, name, &g->sweep.here, known, label);
    if (g->done)
        return NULL;
    if (gpumbi_find(t, key, NULL))
        g->kept.here = key;
    g->kept.skipped += known && key != g->kept.here;
    if (!takes || !gpumbi_find(t, key, of))
        return gpumbi_find(t, key, of);
    g->kept.left--;
    return gpumbi_take(t, key, of);
}

/* Ends the context: a column of the file can be none of this run's. */
static inline void gpumbi_kept_refuse(gpumb *g, const char *column, const char *why)
{
    const char *file = g->settings.replay;
    char part[GPUMBI_PATH];
    gpumbi_sink_part(&g->sinks.sink[g->kept.rows->version ? GPUMBI_JSON : GPUMBI_CSV], part);
    gpumbi_end(g, GPUMB_EXIT_USAGE, "--%s%s: its column %s can't be a value of this run: %.*s; %s",
               file ? "replay " : "resume: ", file ? file : part, column, (int)strcspn(why, ";"),
               why, file ? "take it out of the file" : "run without --resume");
}

/* Makes a row of such a record. */
static inline void gpumbi_row_of_record(gpumb *g, gpumbi_sampler *s, const gpumbi_record *r)
{
    gpumbi_line line;
    gpumb_result *now = &line.result;
    const gpumbi_cell *cell = g->kept.rows->axes + r->first_axis;
    const char *sample = r->samples;
    char why[GPUMBI_WHY] = "";
    memset(&line, 0, sizeof line);
    gpumbi_read_line(r, &line);
    double *medians = now->process_medians_s
                          ? (double *)gpumbi_allocate(g, GPUMBI_PROCESSES * sizeof(double))
                          : NULL;
    if (medians)
        memcpy(medians, line.medians, sizeof line.medians);
    now->process_medians_s = medians;
    now->flags |= g->settings.replay ? (unsigned)GPUMB_FLAG_REPLAYED : 0;
    s->result = *now;
    s->about.values.count = 0;
    /* In older files values may be among the axes: what this run has no axis for, and what could be
     * a column of its own. */
    for (size_t i = g->settings.replay ? 0 : r->axes; i < r->axes + r->values; i++) {
        const char *name = cell[i].name;
        const size_t length = strcspn(name, ";");
        int c = 0;
        while (c < s->point.depth && strcmp(g->columns.name[s->point.at[c].column], name))
            c++;
        double value;
        if (c < s->point.depth || !length || length >= GPUMBI_COLUMN_NAME || name[length] ||
            gpumbi_find_field(gpumbi_row_fields, GPUMBI_COLUMNS_FIXED, name, -1) <
                GPUMBI_COLUMNS_FIXED)
            continue;
        const int column = g->settings.devices ? gpumbi_need_column(g, name, GPUMBI_OWN)
                                               : gpumbi_find_column(g, name, GPUMBI_OWN, why);
        if (why[0])
            gpumbi_kept_refuse(g, name, why);
        gpumbi_put_value(g, &s->about.values, column,
                         gpumbi_read_number(cell[i].text, &value) ? value : NAN);
    }
    gpumbi_sample_room(g, s, r->sampled);
    for (; r->sampled > s->samples.count && !g->done; sample += strlen(sample) + 1) {
        sample += strspn(sample, ", \t\r\n");
        gpumbi_read_number(sample, &s->samples.values[s->samples.count++]);
    }
    gpumbi_ceiling_known(g, now->ceiling_gbps * 1e9);
    g->kept.used++;
    gpumbi_add_row(g, s, now->status == GPUMB_STATUS_OK);
}

/* Whether an earlier run has left the rows of all lanes; if not, none is kept, since their rounds
 * belong together. */
static inline int gpumbi_take_lane_rows(gpumb *g)
{
    const gpumbi_record *kept[GPUMBI_INTERLEAVED];
    const int lanes = g->interleave.lanes;
    int all = lanes > 0;
    for (int i = 0; i < lanes; i++) {
        kept[i] = gpumbi_find_kept(g, g->interleave.lane[i].result.kernel, 1);
        all &= kept[i] != NULL;
    }
    for (int i = 0; i < lanes && all; i++)
        gpumbi_row_of_record(g, &g->interleave.lane[i], kept[i]);
    return all;
}

/* What a region states that its row, whose device is known, says otherwise; NULL: nothing. Rows
 * were compared with the first of their interleave where their times mean the same. */
static inline const char *gpumbi_differs(gpumb *g, const gpumbi_record *kept, const gpumb_result *r)
{
    const gpumbi_description *about = &g->region.next;
    static const char *const name[] = {
        "states other bytes than its row", "states other FLOP than its row",
        "states other elements than its row", "states another footprint than its row"};
    const double here[] = {about->bytes, about->flop, about->elements,
                           gpumbi_real(about->footprint)};
    const double there[] = {r->bytes, r->flop, r->elements, gpumbi_real(r->footprint_bytes)};
    const int interleaved = g->interleave.next_look && g->interleave.turn == 0;
    const int continues = g->kept.first && g->kept.first_of == g->interleave.draws;
    if (interleaved && !continues) {
        g->kept.first = kept;
        g->kept.first_of = g->interleave.draws;
    }
    if (r->status != GPUMB_STATUS_OK)
        return NULL;
    for (int i = 0; i < 4 && g->device.arch[0]; i++)
        if (here[i] > 0 && fabs(here[i] - there[i]) > 1e-9 * here[i])
            return name[i];
    if (!gpumbi_is_cpu(g) && r->timing != GPUMB_TIMING_GIVEN &&
        (((about->timing == GPUMB_TIMING_HOST) != (r->timing == GPUMB_TIMING_HOST) &&
          !(r->flags & GPUMB_FLAG_HOST_BOUND)) ||
         (about->timing == GPUMB_TIMING_EVENT && r->timing != GPUMB_TIMING_EVENT)))
        return "is to be timed in another way than its row was";
    if (r->compared_with[0] && !interleaved)
        return "is in no GPUMB_INTERLEAVE, its row was";
    if (r->compared_with[0] || !interleaved || !continues || r->timing == GPUMB_TIMING_GIVEN)
        return NULL;
    for (int c = GPUMBI_COLUMN_status; c <= GPUMBI_COLUMN_meaning; c++)
        if (c != GPUMBI_COLUMN_reason && c != GPUMBI_COLUMN_verified &&
            (!kept->text[c] || !g->kept.first->text[c] ||
             strcmp(g->kept.first->text[c], kept->text[c])))
            return NULL;
    return "is in a GPUMB_INTERLEAVE, its row was not";
}

/* Replays a region, of a file or (`on`) as a device's process has measured it, whose name is then
 * the row's in a column of its own. A region without a row there is skipped, or left out where
 * nothing of its configuration is there. */
static inline void gpumbi_replay_one(gpumb *g, const char *kernel, const gpumbi_coordinate *on)
{
    gpumbi_sampler *s = &g->region.single;
    const size_t missing = g->kept.skipped;
    const gpumbi_record *kept = gpumbi_find_kept(g, kernel, 1);
    if (g->kept.skipped > missing || g->done)
        return;
    if (kept && !on) {
        gpumbi_line *const line = &g->kept.rows->now;
        gpumbi_read_line(kept, line);
        const char *what = gpumbi_differs(g, kept, &line->result);
        if (what && !g->kept.differ++) {
            char label[200];
            gpumbi_label(label, line->result.bench, line->result.kernel,
                         g->kept.rows->axes + kept->first_axis, kept->axes);
            gpumbi_format(g->kept.differs, sizeof g->kept.differs, "%s %s", label, what);
        }
    }
    gpumbi_next_region(g); /* its description is in the row */
    gpumbi_sampler_init(g, s, kernel, NULL);
    if (on && s->point.depth < GPUMBI_DEPTH)
        s->point.at[s->point.depth++] = *on;
    if (kept) {
        gpumbi_row_of_record(g, s, kept);
        return;
    }
    gpumbi_fail(s, GPUMB_STATUS_SKIPPED,
                on ? "its process had no such row" : "not in the file that is replayed");
    s->result.flags |= on ? 0u : (unsigned)GPUMB_FLAG_REPLAYED;
    gpumbi_finish(g, s);
}

/* The rows that a region is looked for in; NULL: none. */
static inline void gpumbi_kept_from(gpumb *g, gpumbi_records *rows)
{
    g->kept.rows = rows;
    g->kept.left = rows ? rows->count : 0;
}

/* A region is reached whose row is there already. */
static inline int gpumbi_kept_takes(gpumb *g, const char *name, gpumb_result *result)
{
    if (g->kept.measures_nothing && result)
        gpumbi_copy_text(result->reason, sizeof result->reason,
                         "--replay and several devices have rows alone");
    else if (g->settings.replay)
        gpumbi_replay_one(g, name, NULL);
    if (g->kept.measures_nothing) /* rows of several devices are PROCESSES' */
        return result || g->settings.replay;
    const gpumbi_record *kept = result ? NULL : gpumbi_find_kept(g, name, 1);
    if (kept) {
        gpumbi_sampler_init(g, &g->region.single, name, NULL);
        gpumbi_row_of_record(g, &g->region.single, kept);
    }
    return kept != NULL;
}

/* Reads the file of --replay: its device and, as far as they are known, its settings take the place
 * of this run's. CSV knows the device's name, the rates in its rows and the profile. */
static inline void gpumbi_replay_open(gpumb *g)
{
    gpumb_settings *s = &g->settings;
    char path[GPUMBI_PATH];
    gpumbi_records *t = NULL, *context = NULL;
    g->kept.measures_nothing = s->replay || s->devices;
    if (!s->replay)
        return;
    if (s->resume || s->strict || s->processes > 1)
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--replay %s: measures nothing: leave out --%s", s->replay,
                   s->resume   ? "resume"
                   : s->strict ? "strict"
                               : "processes");
    const int length = (int)strcspn(s->replay, ",");
    gpumbi_format(path, sizeof path, "%.*s", length, s->replay);
    if (!g->done)
        t = g->kept.rows = gpumbi_open_records(g, "replay", path, "rows", 0);
    if (!g->done && s->replay[length])
        context = gpumbi_open_records(g, "replay", s->replay + length + 1, "rows", 1);
    if (context || t)
        gpumbi_device_known(g, context ? &context->head.device : &t->head.device);
    if (context && !g->device.name[0])
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--replay %s: the context has no device; take what --json has written",
                   s->replay);
    if (g->done)
        return;
    const char *settings = t->rows->text[GPUMBI_COLUMN_settings];
    const int csv = !t->version, full = !settings || strstr(settings, "profile=full");
    t->exact = !csv || t->rows->text[GPUMBI_COLUMN_values];
    s->full = s->full ? s->full : full ? 1 : -1;
    if (!csv)
        memcpy(s, &t->head.settings, offsetof(gpumb_settings, device));
    if (!g->device.name[0]) {
        gpumbi_read_line(t->rows, &t->now); /* an empty line may be the last one that was read */
        gpumbi_copy_text(g->device.name, sizeof g->device.name, t->now.device);
        gpumbi_copy_text(g->device.backend, sizeof g->device.backend, t->now.backend);
        g->device.ecc = -1;
    }
    /* What programs divide by, where a file does not say it, or something impossible. */
    gpumb_device *const d = &g->device;
    if (d->warp_size != 32 && d->warp_size != 64)
        d->warp_size = strcmp(d->backend, "hip") ? 32 : 64;
    d->max_block = d->max_block > 0 && d->max_block <= 4096 ? d->max_block : 1024;
    if (d->max_threads < d->max_block || d->max_threads > 1 << 15) /* a product is an int */
        d->max_threads = 2 * d->max_block;
    if (d->multiprocessors < 1 || d->multiprocessors > 1 << 15)
        d->multiprocessors = 1;
    for (size_t i = 0; i < t->count && !g->done; i++) {
        gpumbi_read_line(&t->rows[i], &t->now);
        const gpumb_result *now = &t->now.result;
        const double there[] = {now->peak_gbps, now->ceiling_gbps, now->link_gbps};
        double *const rate[] = {&d->peak_bytes_per_s, &d->ceiling_bytes_per_s,
                                &d->link_bytes_per_s};
        for (int k = 0; k < 3; k++)
            if (*rate[k] <= 0)
                *rate[k] = 1e9 * there[k];
        if (t->now.device[0] && strcmp(t->now.device, g->device.name))
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--replay %s: has rows of %s and of %s; keep those of one device", s->replay,
                       g->device.name, t->now.device);
        if (now->link[0])
            gpumbi_copy_text(g->device.link, sizeof g->device.link, now->link);
    }
    g->kept.left = t->count;
}

/* What a row has of an axis; NULL: it has no such axis. */
static inline const char *gpumbi_record_axis(const gpumbi_records *t, const gpumbi_record *r,
                                             const char *name)
{
    for (size_t k = 0; k < r->axes; k++)
        if (!strcmp(t->axes[r->first_axis + k].name, name))
            return t->axes[r->first_axis + k].text;
    return NULL;
}

/* What a run needs to show the rows that are left, or why it can't: their axes, where none of the
 * others has such a value. */
static inline void gpumbi_replay_needs(gpumb *g, char *text, size_t size)
{
    const gpumbi_records *t = g->kept.rows;
    const gpumbi_record *first = t->rows, *const end = t->rows + t->count;
    char values[160];
    double number; /* names are the program's */
    text[0] = 0;
    while (first < end && first->matched)
        first++;
    for (size_t a = 0; first < end && a < first->axes; a++) {
        const gpumbi_cell *axis = &t->axes[first->first_axis + a];
        const int column = gpumbi_axis_column(g, axis->name);
        if (column < 0 && t->exact) {
            gpumbi_append(text, size, "; %s has no axis %s",
                          g->options.filters ? "what --filter leaves" : "this program", axis->name);
            continue;
        }
        values[0] = 0;
        for (const gpumbi_record *r = first; r < end && column >= 0; r++) {
            const char *value = gpumbi_record_axis(t, r, axis->name), *there;
            int known = r->matched || !value || !gpumbi_read_number(value, &number) ||
                        gpumbi_is_listed(values, value) ||
                        strlen(values) + strlen(value) >= sizeof values - 4;
            for (const gpumbi_record *m = t->rows; m < end && !known; m++)
                if (m->matched && (there = gpumbi_record_axis(t, m, axis->name)) != NULL)
                    known = !strcmp(there, value);
            if (!known)
                gpumbi_list(values, sizeof values, value);
        }
        for (char *v = values; *v; v++)
            *v = *v == ';' ? ',' : *v;
        if (values[0])
            gpumbi_append(text, size, "%s --axis %s=%s", strstr(text, "take") ? "" : "; they take",
                          axis->name, values);
    }
}

/* At the end: says which rows of the earlier run no region has used. */
static inline void gpumbi_resume_end(gpumb *g)
{
    const char *file = g->settings.replay, *settings = NULL;
    char needs[400] = "";
    if (!g->kept.rows || !gpumbi_working(g))
        return;
    if (file)
        gpumbi_replay_needs(g, needs, sizeof needs);
    if (g->kept.differ && file)
        gpumbi_say("--replay %s: %s of another program, or of this one before a change: %s", file,
                   gpumbi_count(g->kept.differ, "row").text, g->kept.differs);
    if (file && g->kept.skipped && g->kept.used)
        gpumbi_say("--replay %s: has nothing of the configurations of %s, left out", file,
                   gpumbi_count(g->kept.skipped, "region").text);
    if (file && !g->kept.used)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--replay %s: this run has no region for any of its rows, the first of which is "
                   "of %s; %s%s",
                   file, g->kept.rows->rows[0].text[GPUMBI_COLUMN_bench],
                   g->options.filters || g->options.axes
                       ? "--filter or --axis leaves out what they are of"
                       : "run the program that has written it",
                   needs);
    if (!g->kept.left || !g->rows.count)
        return;
    if (file)
        settings = g->kept.rows->rows[0].text[GPUMBI_COLUMN_settings];
    gpumbi_say("--%s: %s of the earlier run left out: this run has no such region%s%s%s",
               file ? "replay" : "resume", gpumbi_count(g->kept.left, "row").text, needs,
               settings ? "; that one had " : "", settings ? settings : "");
    g->kept.left = 0;
    gpumbi_write_rows(g);
}

GPUMBI_TOOL(gpumbi_kept_tool, KEPT, NULL, {gpumbi_kept_takes, NULL, NULL}, GPUMBI_NO_ROWS,
            {gpumbi_resume_end, NULL});

/* ================================================================================================
 * INTERLEAVE
 *
 * Owns g->interleave. An interleave runs its block many times. The first time (collecting) each
 * region only leaves its description in a lane; after that, each pass lets one lane proceed by one
 * sample.
 */

static inline void gpumbi_interleave_free(gpumb *g)
{
    gpumbi_sampler *const lane = g->interleave.lane;
    for (gpumbi_sampler *s = lane; lane && s < lane + GPUMBI_INTERLEAVED; s++) {
        gpumbi_release(g, s);
        gpumbi_free(s->samples.values);
        gpumbi_free(s->samples.scratch);
    }
    gpumbi_free(g->interleave.before);
    gpumbi_free(lane);
    g->interleave.before = NULL;
    g->interleave.lane = NULL;
    g->interleave.open = 0;
}

static inline void gpumbi_interleave_left(gpumb *g)
{
    if (!g->interleave.open)
        return;
    gpumbi_say("GPUMB_INTERLEAVE was left by break, return, goto or an exception: its rows, and "
               "those of regions after it, are dropped");
    gpumbi_interleave_free(g);
    gpumbi_mark_failed(g);
}

/* A region is reached in the block: it describes a lane, or is that of the lane in turn. */
static inline int gpumbi_interleave_takes(gpumb *g, const char *name, gpumb_result *result)
{
    if (!g->interleave.open)
        return 0;
    const int place = g->interleave.place, chosen = !result && gpumbi_selected(g, name);
    if (result)
        gpumbi_copy_text(result->reason, sizeof result->reason,
                         "GPUMB_INTERLEAVE takes GPUMB_MEASURE only");
    g->interleave.place += chosen;
    if (chosen && place == GPUMBI_INTERLEAVED) {
        gpumbi_end(g, GPUMB_EXIT_ERROR, "more than %d regions in GPUMB_INTERLEAVE", place);
    } else if (chosen && g->interleave.collecting) {
        gpumbi_sampler_init(g, &g->interleave.lane[g->interleave.lanes++], name, result);
    } else if (chosen && place == g->interleave.target) {
        gpumbi_region_again(g, &g->interleave.lane[place]);
        g->interleave.target_reached = 1;
    }
    return 1;
}

GPUMBI_TOOL(gpumbi_interleave_tool, INTERLEAVE, &gpumbi_sweeps_tool,
            {gpumbi_interleave_takes, NULL, gpumbi_interleave_free}, GPUMBI_NO_ROWS,
            {gpumbi_interleave_left, NULL});

GPUMB_API gpumb *gpumbi_interleave_begin(gpumb *g)
{
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_interleave_tool);
    gpumbi_leave_body(g);
    gpumbi_interleave_left(g);
    memset(&g->interleave, 0, sizeof g->interleave);
    g->interleave.turn = g->interleave.target = g->interleave.sampling_round = -1;
    g->interleave.draws = (uint64_t)g->rows.count << 32;
    g->interleave.next_look = g->settings.min_samples;
    if (gpumbi_working(g) && !gpumbi_runs_nothing(g) && gpumbi_on_point(g) &&
        !g->settings.profile) {
        g->interleave.lane =
            (gpumbi_sampler *)gpumbi_allocate(g, GPUMBI_INTERLEAVED * sizeof *g->interleave.lane);
        g->interleave.open = g->interleave.collecting = g->interleave.lane != NULL;
    }
    return g;
}

/* Times that hold different things can't be compared: a span, and an interval with its gap between
 * launches. Where lanes have ended up with different methods, those that are free to choose leave
 * graphs, and take the profiler's stamps if one of them has those, or batches, or event pairs if
 * one of them can't have batches. Cold ones stay as they are: spans. */
static inline void gpumbi_align_lanes(gpumb *g)
{
    int differ = 0, single = 0, profiled = 0;
    const gpumbi_sampler *first = NULL, *const end = g->interleave.lane + g->interleave.lanes;
    for (const gpumbi_sampler *s = g->interleave.lane; s < end; s++) {
        if (s->phase != GPUMBI_SAMPLE || s->about.cache == GPUMB_CACHE_COLD)
            continue;
        first = first ? first : s;
        differ |= s->result.timing != first->result.timing;
        single |= gpumbi_one_run(s) || s->about.timing == GPUMB_TIMING_EVENT;
        profiled |= s->profiled;
    }
    for (gpumbi_sampler *s = g->interleave.lane; s < end && differ; s++) {
        if (s->phase != GPUMBI_SAMPLE || s->about.cache == GPUMB_CACHE_COLD ||
            s->about.timing != GPUMB_TIMING_AUTO || !s->use_events)
            continue;
        gpumbi_free_graphs(s);
        s->result.overhead_s = 0;
        if (profiled) {
            gpumbi_profile(g, s);
            gpumbi_choose_profiler(g, s);
            continue;
        }
        gpumbi_choose_batch(g, s, s->warm_up.estimate_s);
        if (single)
            s->result.batch = 1;
        else if (s->result.batch < 2)
            s->result.batch = 2;
        s->result.timing = single ? GPUMB_TIMING_EVENT : GPUMB_TIMING_BATCH;
    }
}

/* Whether two times mean the same. Intervals do only if launched in the same way; spans have no
 * gap. Those that were given have no rounds in common with others. */
static inline int gpumbi_alike(const gpumb_result *a, const gpumb_result *b)
{
    const int given = (a->timing == GPUMB_TIMING_GIVEN) + (b->timing == GPUMB_TIMING_GIVEN);
    return gpumbi_meaning(a) == gpumbi_meaning(b) && given != 1 &&
           (a->timing == b->timing || gpumbi_meaning(a) == GPUMB_MEANING_SPAN);
}

/* Which lane ran right before each sample of this one; NULL: its times are given. */
static inline unsigned char *gpumbi_lane_before(gpumb *g, const gpumbi_sampler *s)
{
    return s->about.meaning
               ? NULL
               : g->interleave.before + (size_t)(s - g->interleave.lane) * g->settings.max_samples;
}

/* Whether the times of a lane still change, or did so when it had to begin. */
static inline int gpumbi_unsettled(const gpumb *g, const gpumbi_sampler *s)
{
    return s->result.flags & GPUMB_FLAG_UNSETTLED || gpumbi_pace_moves(g, s) == GPUMBI_MOVES;
}

/* How far the ratio may still be from where it settles, as a logarithm: what its drift and 1.3
 * standard errors of that, more if few values tell, make in 1.5 s, so that time constants of a
 * second are no difference (tests/coverage.c), and what a drift may have made that the clock does
 * not show, up to a quantum of each time. Values are means of as many rounds as there are lanes, in
 * which each has been in each place; outliers count as less far from the middle than they are. What
 * moves both lanes alike cancels. */
static inline double gpumbi_ratio_ahead(const gpumb *g, const gpumbi_turns *t, uint64_t rounds,
                                        double *scratch)
{
    double level[GPUMBI_WINDOWS] = {0}, error = 0, spent_s = 0, hidden = 0;
    const uint64_t lanes = (uint64_t)t->lanes, size = lanes * (rounds / lanes / GPUMBI_WINDOWS + 1);
    const int count = (int)(rounds / size);
    if (count < 3)
        return HUGE_VAL;
    for (uint64_t k = 0; k < rounds; k++)
        scratch[k] = log(t->time[1][k] / t->time[0][k]);
    for (int i = 0; i < 2; i++) {
        const gpumbi_sampler *s = &g->interleave.lane[t->lane[i]];
        hidden += s->quantum_s / gpumbi_real(s->result.batch) /
                  gpumbi_select(t->time[i], rounds, rounds / 2);
    }
    const double middle = gpumbi_select(scratch, rounds, rounds / 2);
    const double reach = hidden + 4 * (gpumbi_select(scratch, rounds, rounds * 5 / 8) -
                                       gpumbi_select(scratch, rounds, rounds * 3 / 8));
    for (uint64_t k = 0; k < (uint64_t)count * size; k++)
        level[k / size] += gpumbi_max(-reach, gpumbi_min(scratch[k] - middle, reach));
    const double slope = fabs(gpumbi_slope(level, count, &error));
    const double sure = (1.3 + 20.0 / ((count - 2) * (count - 2))) * error;
    for (int i = 0; i < t->lanes; i++)
        spent_s += g->interleave.lane[i].samples.spent_s;
    const double drift = (slope + sure) * gpumbi_real(rounds) / gpumbi_real(size * size);
    return 1.5 * (drift + hidden) / spent_s;
}

/* By how much the times differ at least, as a ratio of at least 1. */
static inline double gpumbi_least_ratio(const gpumb_comparison *c)
{
    return c->lo > 1 ? c->lo : c->hi > 0 && c->hi < 1 ? 1 / c->hi : 1;
}

#define GPUMBI_FAR_APART 1.3 /* larger ramps don't outlast a warm-up unseen */

/* Whether a difference may be no more than that: where the times of a lane move, twice as far; else
 * as long as there may be more rounds, unless they are far apart. */
static inline int gpumbi_may_settle(const gpumb *g, const gpumbi_sampler *base,
                                    const gpumbi_sampler *s, const gpumbi_turns *t, uint64_t rounds)
{
    const gpumb_comparison *c = &s->result.comparison;
    const int moves = gpumbi_unsettled(g, base) || gpumbi_unsettled(g, s);
    const double differs = gpumbi_least_ratio(c);
    const int slight = differs < GPUMBI_FAR_APART && c->verdict != GPUMB_VERDICT_SAME;
    if (s->about.meaning || !(moves || (slight && rounds < g->settings.max_samples)))
        return 0;
    return log(differs) < (1 + moves) * gpumbi_ratio_ahead(g, t, rounds, s->samples.scratch);
}

/* Compares each lane with the first, sample by sample: one of each was taken in each round. Says
 * whether all verdicts are as clear as they get. */
static inline int gpumbi_compare_lanes(gpumb *g)
{
    gpumbi_sampler *const base = g->interleave.lane, *const end = base + g->interleave.lanes;
    int decided = 1, comparisons = 0;
    for (const gpumbi_sampler *s = base + 1; s < end; s++)
        comparisons += s->samples.count > 0;
    for (gpumbi_sampler *s = base + 1; s < end; s++) {
        const uint64_t rounds =
            s->samples.count < base->samples.count ? s->samples.count : base->samples.count;
        s->result.compared_with[0] = 0;
        if (!rounds || s->result.status != GPUMB_STATUS_OK ||
            base->result.status != GPUMB_STATUS_OK || !gpumbi_alike(&s->result, &base->result))
            continue;
        gpumb_comparison *c = &s->result.comparison;
        const gpumbi_turns turns = {{base->samples.values, s->samples.values},
                                    {gpumbi_lane_before(g, base), gpumbi_lane_before(g, s)},
                                    {0, (int)(s - base)},
                                    g->interleave.lanes};
        const int stopped = !g->interleave.limited && !s->about.meaning;
        int carried = 0;
        *c = gpumbi_compare_turns(&turns, rounds, g->settings.delta, comparisons, stopped,
                                  s->samples.scratch, &carried);
        s->result.flags &= ~(unsigned)GPUMB_FLAG_CARRY_OVER;
        s->result.flags |= carried ? (unsigned)GPUMB_FLAG_CARRY_OVER : 0;
        if (s->use_events && c->hi > 0) {
            /* Of what is not reproducible a third remains, and half of that of the gap: what
             * captures differ by (bench/floor.cu, floor/equal). */
            const double run_s = gpumbi_select(base->samples.values, rounds, rounds / 2);
            const double besides = hypot(GPUMBI_REPRODUCIBLE / 3, GPUMBI_REPRODUCIBLE_GAP / 2 *
                                                                      s->result.overhead_s / run_s);
            gpumbi_widen(c->ratio, besides * c->ratio, &c->lo, &c->hi);
            c->verdict = gpumbi_verdict(c->lo, c->hi, g->settings.delta);
        }
        const int may_settle = gpumbi_may_settle(g, base, s, &turns, rounds);
        if (may_settle)
            c->verdict = GPUMB_VERDICT_UNDECIDED;
        gpumbi_copy_text(s->result.compared_with, sizeof s->result.compared_with,
                         base->result.kernel[0] ? base->result.kernel : "the first");
        /* one that had to begin like that stays so: time can only show what is far apart */
        const unsigned flags = base->result.flags | s->result.flags;
        const int slight = gpumbi_least_ratio(c) < GPUMBI_FAR_APART;
        decided &= (slight && flags & GPUMB_FLAG_UNSETTLED) ||
                   (!may_settle && gpumbi_decided(c, g->settings.delta));
    }
    return decided;
}

/* Says what is odd about the rounds, once all are measured. */
static inline void gpumbi_judge_rounds(gpumb *g)
{
    gpumbi_sampler *first = &g->interleave.lane[0];
    const gpumb_result *base = &first->result;
    if (g->interleave.dropped)
        gpumbi_say("%s: in %llu of %llu rounds a clock showed a time of zero or less; they are "
                   "left out of all regions of this GPUMB_INTERLEAVE",
                   base->kernel, (unsigned long long)g->interleave.dropped,
                   (unsigned long long)(g->interleave.dropped + g->interleave.rounds));
    for (gpumbi_sampler *s = first + 1; s < first + g->interleave.lanes; s++) {
        const gpumb_result *r = &s->result;
        const gpumb_comparison *c = &r->comparison;
        if (r->compared_with[0] && c->hi > 0) {
            const gpumb_stats times = gpumbi_statistics_now(first);
            const gpumb_stats now = gpumbi_statistics_now(s);
            if (c->lo * times.ci_lo > now.ci_hi || c->hi * times.ci_hi < now.ci_lo)
                gpumbi_say("%s: round by round it takes %.4f times as long as %s (%.4f ... %.4f), "
                           "but its median is %.4f times that one's: noise that is skewed does "
                           "that; look at the quartiles, and report both",
                           r->kernel, c->ratio, base->kernel, c->lo, c->hi,
                           now.median / times.median);
        } else if (!r->compared_with[0] && r->status == GPUMB_STATUS_OK &&
                   base->status == GPUMB_STATUS_OK && !gpumbi_alike(r, base)) {
            gpumbi_say("%s is not compared with %s: the one is a time by %s (%s), the other by %s "
                       "(%s); let gpumb_set_timing() say the same for both",
                       r->kernel, base->kernel, gpumbi_timing_name[r->timing],
                       gpumbi_meaning_name(r), gpumbi_timing_name[base->timing],
                       gpumbi_meaning_name(base));
        }
    }
}

/* Whether one of two lanes is imprecise only because of its place in the rounds: nine of ten
 * neighbouring times lie on opposite sides of the median, and their means are precise. More rounds
 * would not help. */
static inline int gpumbi_places_differ(const gpumb *g, gpumbi_sampler *s)
{
    const double *const v = s->samples.values;
    const uint64_t pairs = g->interleave.lanes == 2 ? s->samples.count / 2 : 0;
    const double median = pairs ? gpumbi_select(v, 2 * pairs, pairs) : 0;
    double opposite = 0;
    for (uint64_t i = 0; i < pairs; i++) {
        opposite += (v[2 * i] < median) != (v[2 * i + 1] < median);
        s->samples.scratch[i] = (v[2 * i] + v[2 * i + 1]) / 2;
    }
    double *const scratch = s->samples.scratch;
    const gpumb_stats mean = gpumbi_summarize(scratch, scratch + pairs, pairs, 0.95, 1);
    return pairs && opposite >= 0.9 * gpumbi_real(pairs) &&
           gpumbi_half_width(&mean) <= g->settings.precision;
}

/* Whether there have been enough rounds for the ratios, or there can be no more; `sampling`: a lane
 * is not precise yet. Looks on the schedule of the samples. At a limit between two looks, a lane
 * may have lost the precision of the last one. */
static inline int gpumbi_rounds_end(gpumb *g, int sampling)
{
    gpumb_stop limit = GPUMB_STOP_NONE;
    uint64_t rounds = g->settings.max_samples;
    gpumbi_sampler *const lane = g->interleave.lane, *const end = lane + g->interleave.lanes;
    if (g->interleave.rounds_suffice)
        return 1;
    for (const gpumbi_sampler *s = lane; s < end; s++) {
        if (s->phase == GPUMBI_SAMPLE && s->samples.count < rounds)
            rounds = s->samples.count;
        if (s->phase == GPUMBI_SAMPLE && s->samples.spent_s >= g->settings.budget_s && !sampling)
            limit = GPUMB_STOP_BUDGET;
    }
    if (rounds >= g->settings.max_samples && !sampling)
        limit = GPUMB_STOP_SAMPLES;
    for (gpumbi_sampler *s = lane; s < end && limit != GPUMB_STOP_NONE; s++)
        if (s->phase == GPUMBI_SAMPLE && s->result.stop == GPUMB_STOP_PRECISION &&
            !gpumbi_suffices(s, g->settings.precision))
            s->result.stop = limit;
    g->interleave.limited = g->interleave.rounds_suffice = limit != GPUMB_STOP_NONE;
    if (!g->interleave.rounds_suffice && rounds >= g->interleave.next_look) {
        int enough = 1;
        for (gpumbi_sampler *s = lane; s < end && enough; s++)
            enough = s->phase != GPUMBI_SAMPLE || s->result.stop != GPUMB_STOP_NONE ||
                     gpumbi_places_differ(g, s);
        g->interleave.rounds_suffice = enough && gpumbi_compare_lanes(g);
        g->interleave.next_look = gpumbi_next_look(rounds);
    }
    return g->interleave.rounds_suffice;
}

/* Of times that were given, a bad one spoils the round of all. */
static inline void gpumbi_given_rounds(gpumb *g)
{
    gpumbi_sampler *const lane = g->interleave.lane, *const end = lane + g->interleave.lanes;
    for (const gpumbi_sampler *from = lane; from < end; from++)
        for (gpumbi_sampler *to = lane; to < end; to++)
            for (uint64_t k = 0; k < from->samples.count && k < to->samples.count; k++)
                if (from->about.meaning && to->about.meaning && !(from->samples.values[k] > 0))
                    to->samples.values[k] = 0;
    for (gpumbi_sampler *s = lane; s < end; s++)
        if (s->about.meaning)
            gpumbi_drop_bad_times(s);
}

/* Where a time was bad, the round is left out of all lanes, so that their k-th samples still belong
 * to one round. */
static inline void gpumbi_round_end(gpumb *g)
{
    uint64_t least = UINT64_MAX;
    gpumbi_sampler *const lane = g->interleave.lane, *const end = lane + g->interleave.lanes;
    for (const gpumbi_sampler *s = lane; s < end; s++)
        if (s->phase == GPUMBI_SAMPLE && s->samples.count < least)
            least = s->samples.count;
    if (least > g->interleave.rounds) {
        g->interleave.rounds++;
        return;
    }
    g->interleave.dropped++;
    for (gpumbi_sampler *s = lane; s < end; s++)
        if (s->phase == GPUMBI_SAMPLE)
            s->samples.count = least;
}

/* Whose turn it is. The order is drawn anew after as many rounds as there are lanes, since a fixed
 * one would fall in step with whatever comes at regular intervals. In between, each round begins
 * with the lane that the last one ended with: so each lane is in each place equally often, and
 * follows each, itself included, almost equally often, in case that one leaves the device in
 * another state (a crossover trial: Williams, Aust. J. Sci. Res. A 2, 1949). */
static inline int gpumbi_whose_turn(gpumb *g)
{
    const int lanes = g->interleave.lanes, turn = g->interleave.turn - 1;
    const int since = g->interleave.sampling_round < 0 ? 0 : g->interleave.sampling_round;
    const int place = turn % lanes, round = (turn / lanes - since) % lanes;
    if (place == 0 && round == 0) {
        gpumbi_draw_order(g->interleave.order, (size_t)lanes, g->settings.seed,
                          g->interleave.draws);
        g->interleave.draws += (uint64_t)lanes;
    }
    return (int)g->interleave.order[(place - round + lanes) % lanes];
}

/* A pass for each lane and round, until all lanes have stopped and the ratios between them are
 * known; then one pass each for the last check. No lane samples before all are warm, so that the
 * k-th samples of all belong to one round. */
GPUMB_API int gpumbi_interleave_next(gpumb *g)
{
    gpumbi_leave_body(g);
    if (g->interleave.open && g->interleave.target >= 0 && !g->interleave.target_reached)
        gpumbi_fail(&g->interleave.lane[g->interleave.target], GPUMB_STATUS_FAILED,
                    "the region was not reached again in its GPUMB_INTERLEAVE");
    g->interleave.place = g->interleave.target_reached = 0;
    g->interleave.target = -1;
    g->interleave.turn++;
    if (!g->interleave.open) /* no times are taken, or nothing is to do: regions are reached once */
        return g->interleave.turn == 0 && gpumbi_working(g) &&
               (gpumbi_runs_nothing(g) || g->settings.profile);
    if (g->interleave.turn == 0)
        return 1;
    if (g->interleave.collecting && gpumbi_take_lane_rows(g)) {
        gpumbi_interleave_free(g);
        return 0;
    }
    const int lanes = g->interleave.lanes;
    if (g->interleave.collecting) {
        g->interleave.before = (unsigned char *)gpumbi_allocate(
            g, (size_t)(lanes + !lanes) * (size_t)g->settings.max_samples);
        g->interleave.last = GPUMBI_INTERLEAVED;
    }
    g->interleave.collecting = 0;
    gpumbi_sampler *const first = g->interleave.lane, *const end = first + lanes;
    for (; gpumbi_working(g) && lanes; g->interleave.turn++) {
        const int round = (g->interleave.turn - 1) / lanes;
        const int begins = (g->interleave.turn - 1) % lanes == 0;
        int sampling = 0, unfinished = 0, warming = 0;
        for (const gpumbi_sampler *lane = first; lane < end; lane++) {
            sampling |= lane->phase <= GPUMBI_SAMPLE && lane->result.stop == GPUMB_STOP_NONE;
            unfinished |= lane->phase != GPUMBI_FINISHED;
            warming |= lane->phase < GPUMBI_SAMPLE;
        }
        if (!unfinished)
            break;
        if (begins && g->interleave.sampling_round >= 0 && round > g->interleave.sampling_round)
            gpumbi_round_end(g);
        if (!warming && g->interleave.sampling_round < 0) {
            g->interleave.sampling_round = round + !begins;
            gpumbi_align_lanes(g);
            /* each has warmed up after itself: what others do to it is no ramp */
            for (gpumbi_sampler *lane = first; lane < end; lane++)
                lane->pace.windows = lane->pace.levels = lane->pace.runs = 0;
        }
        gpumbi_sampler *s = first + gpumbi_whose_turn(g);
        if (!warming && s->phase == GPUMBI_SAMPLE && gpumbi_rounds_end(g, sampling))
            s->phase = GPUMBI_RECHECK;
        const int waits =
            s->phase == GPUMBI_SAMPLE && (warming || round < g->interleave.sampling_round ||
                                          s->samples.count >= g->settings.max_samples);
        if (s->phase != GPUMBI_FINISHED && !waits) {
            if (s->phase == GPUMBI_SAMPLE)
                gpumbi_lane_before(g, s)[s->samples.count] = (unsigned char)g->interleave.last;
            g->interleave.target = g->interleave.last = (int)(s - first);
            return 1;
        }
    }
    gpumbi_state state;
    gpumbi_dev_state(g->sensors, &state);
    gpumbi_given_rounds(g);
    if (lanes && gpumbi_working(g)) {
        gpumbi_compare_lanes(g);
        gpumbi_judge_rounds(g);
    }
    for (gpumbi_sampler *s = first; s < end && !gpumbi_interrupted; s++)
        if (s->phase == GPUMBI_FINISHED) {
            if (!s->about.meaning)
                gpumbi_state_after(&state, s);
            gpumbi_finish(g, s);
        }
    gpumbi_interleave_free(g);
    return 0;
}

/* ================================================================================================
 * GIVEN TIMES
 *
 * Keeps no state: rows of times that were taken elsewhere.
 */

GPUMB_API int gpumb_wants_times(gpumb *g, const char *name)
{
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_sweeps_tool);
    const int later = gpumbi_dry(g) || (g->interleave.open && !g->interleave.collecting);
    const int wanted = gpumbi_working(g) && !later && !g->kept.measures_nothing &&
                       gpumbi_on_point(g) && gpumbi_matches(g, name) &&
                       (g->interleave.open || !gpumbi_find_kept(g, name, 0));
    if (!wanted)
        gpumbi_measure_begin(g, name);
    return wanted;
}

GPUMB_API void gpumb_add_times(gpumb *g, const char *name, gpumb_meaning meaning,
                               const double *seconds, uint64_t count)
{
    g = gpumbi_context(g);
    const int lane = g->interleave.lanes;
    const int known = meaning > GPUMB_MEANING_NONE && meaning <= GPUMB_MEANING_LATENCY;
    gpumbi_describe_given(g, seconds ? count : 0, known ? meaning : GPUMB_MEANING_LATENCY);
    gpumbi_measure_begin(g, name);
    gpumbi_sampler *s = g->region.active;
    if (g->interleave.open && g->interleave.lanes > lane)
        s = &g->interleave.lane[lane];
    if (s && s->phase != GPUMBI_FINISHED && gpumbi_working(g)) { /* neither skipped nor failed */
        s->samples.count = s->about.given;
        if (s->samples.count)
            memcpy(s->samples.values, seconds, (size_t)s->samples.count * sizeof *seconds);
        s->result.stop = GPUMB_STOP_SAMPLES;
        gpumbi_check_result(g, s);
        if (g->settings.profile)
            gpumbi_fail(s, GPUMB_STATUS_SKIPPED, "its times are given: nothing to profile");
        if (!known)
            gpumbi_fail(s, GPUMB_STATUS_FAILED,
                        "gpumb_add_times(): its times have to be spans, intervals or latencies");
        s->phase = GPUMBI_FINISHED;
    }
    gpumbi_region_over(g);
    if (s && !g->interleave.open) {
        gpumbi_drop_bad_times(s);
        gpumbi_finish(g, s);
    }
}

/* ================================================================================================
 * PROCESSES
 *
 * Owns g->children: the processes of --processes, and those of the devices of --device 0,2. Each is
 * this program once more, with the same arguments. In its environment,
 * GPUMB_PROCESS=PARENT:ROWS:TOKEN:DEVICE:STEP makes it write JSON into the pipe ROWS and nothing
 * else; the pipe TOKEN holds the same text, and so shows that it comes from the parent. DEVICE is
 * the one to measure on (-1: as its arguments say), STEP 1 if it waits before each region until the
 * other devices' processes get there.
 */

/* Another process: of --processes, or the one that measures on a device of --device 0,2. */
typedef struct gpumbi_child {
    int device; /* its number; -1: this one's */
    int fd, waits, status;
    int pid;     /* 0: has ended */
    FILE *spool; /* what it has written: a pipe holds little, and all are to run on */
    gpumbi_records *rows;
    uint64_t compared, slower;
    char name[48]; /* "2 0000:19:00.0" */
} gpumbi_child;

/* A region is reached that the processes of several devices have measured: a row of each. */
static inline int gpumbi_processes_take(gpumb *g, const char *name, gpumb_result *result)
{
    (void)result; /* has been refused */
    if (!g->kept.measures_nothing)
        return 0;
    g->children.regions++;
    for (int d = 0; d < g->children.count && !g->done; d++) {
        const gpumbi_coordinate on = {g->children.column, 0, 0, d, g->children.at[d].name};
        gpumbi_kept_from(g, g->children.at[d].rows);
        gpumbi_replay_one(g, name, &on);
    }
    gpumbi_kept_from(g, NULL);
    return 1;
}

/* Whether GPUMB_PROCESS is from gpumbi_process_start(): its parent is the one it names, and has
 * left the same text in a pipe. `fd`: the one that rows go to. */
static inline int gpumbi_is_process(gpumb *g, const char *where, int *fd, int device[2])
{
    long parent = 0;
    int from = -1;
    if (sscanf(where, "%ld:%d:%d:%d:%d", &parent, fd, &from, &device[0], &device[1]) != 5 ||
        parent != (long)gpumbi_process_parent())
        return 0;
    const int ours = gpumbi_process_is_ours(where, fd, from);
    if (ours < 0) /* to go on might start ever more processes */
        gpumbi_end(g, GPUMB_EXIT_ERROR,
                   "GPUMB_PROCESS is set, and its pipe is closed; unset it, or leave files open "
                   "that the program has not opened");
    return ours != 0;
}

/* Where --processes or --device has started this process, its rows go to the parent's pipe
 * alone. */
static inline void gpumbi_report_to_parent(gpumb *g)
{
    gpumb_settings *s = &g->settings;
    const char *where = getenv("GPUMB_PROCESS");
    const int asked = s->processes > 1 || s->devices;
    static int device[2], rows; /* its number, or -1; whether it goes in step with others */
    if (where && gpumbi_is_process(g, where, &rows, device)) {
        gpumbi_parent = gpumbi_process_parent();
        gpumbi_in_step = device[1];
    } else if (where) {
        gpumbi_say("GPUMB_PROCESS is set, and not by gpumb: it is ignored; unset it");
    }
    if (where)
        gpumbi_variable_clear("GPUMB_PROCESS"); /* not for what this process starts */
    if (!gpumbi_parent)
        return;
    s->processes = 1; /* and none of the next generation */
    if (s->devices && device[0] >= 0)
        s->device = device[0];
    s->devices = NULL;
    if (gpumbi_process_parent() != gpumbi_parent) { /* a fork of such a process */
        gpumbi_parent = 0;
        return;
    }
    s->quiet = 1;
    s->fail_on_regression = 0;
    s->compare = s->compare_values = NULL;
    const int first = asked && rows; /* programs rarely have another */
    s->csv = s->markdown = s->gbench = NULL;
    s->json = first ? "the process that started this one" : NULL;
    s->raw = s->resume = 0;
    gpumbi_files_redirect(g, first ? rows : -1);
    if (first)
        rows = 0;
}

/* Ends the context if a process has not ended well; a failed check has its rows. */
static inline void gpumbi_judge_process(gpumb *g, const gpumbi_records *t, int ended,
                                        const char *who, const char *alone)
{
    char why[200];
    int code = GPUMB_EXIT_ERROR;
    if (ended == -SIGINT)
        gpumbi_interrupted = SIGINT;
    if (!gpumbi_working(g))
        return;
    if (ended < 0)
        gpumbi_format(why, sizeof why, gpumbi_process_ended(ended));
    else if (ended > GPUMB_EXIT_FAILED)
        gpumbi_format(why, sizeof why, "ended with exit code %d", ended);
    else if (t->wrong[0])
        gpumbi_format(why, sizeof why, "did not write its rows: %s", t->wrong);
    else
        return;
    if (ended == GPUMB_EXIT_USAGE || ended == GPUMB_EXIT_NO_DEVICE)
        code = ended;
    gpumbi_end(g, code, "%s %s; run %s to see more", who, why, alone);
}

/* For other processes, the arguments that this one was started with: gpumb_open() may have seen
 * only some of them. */
static inline char **gpumbi_own_arguments(gpumb *g, char **text_of)
{
    size_t length = 0, count = (size_t)g->options.argc;
    FILE *file = gpumbi_process_arguments();
    char *text = file ? gpumbi_read_all(g, fileno(file), &length, SIZE_MAX, 0) : NULL;
    if (file)
        fclose(file);
    if (text)
        count = 0;
    for (size_t i = 0; i < length; i++)
        count += !text[i];
    char **arguments = (char **)gpumbi_allocate(g, (count + 1) * sizeof *arguments);
    for (size_t i = 0, at = 0; arguments && i < count; i++) {
        arguments[i] = text ? text + at : g->options.argv[i];
        at += strlen(arguments[i]) + 1;
    }
    if (arguments && !count)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--%s: the program's arguments are unknown; open by gpumb_open()",
                   g->settings.devices ? "device" : "processes");
    *text_of = text;
    return arguments;
}

/* A process for each device of --device 0,2, or for each further one of --processes. */
static inline void gpumbi_list_children(gpumb *g)
{
    const gpumb_settings *s = &g->settings;
    const char *list = s->devices;
    char one[16], bus_id[24];
    int there = s->processes - 1;
    const int all = !list || !strcmp(list, "all");
    if (list && (gpumbi_dev_count(&there) || !there)) {
        gpumbi_open_device(g); /* which says so */
        return;
    }
    gpumbi_child *at =
        (gpumbi_child *)gpumbi_allocate(g, (size_t)(all ? there : (int)strlen(list)) * sizeof *at);
    g->children.at = at;
    while (at && !g->done &&
           (all ? g->children.count < there
                : (list = gpumbi_split(list, ',', one, sizeof one)) != NULL)) {
        gpumbi_child *o = &at[g->children.count++];
        o->fd = o->device = -1;
        if (!s->devices)
            continue;
        o->device = all ? g->children.count - 1 : (int)gpumbi_min(strtod(one, NULL), INT_MAX);
        for (int i = 0; i + 1 < g->children.count; i++)
            if (at[i].device == o->device)
                gpumbi_end(g, GPUMB_EXIT_USAGE, "--device %s: %d is in it twice", s->devices,
                           o->device);
        if (o->device >= there)
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--device %s: there are %d, numbered from 0; for example --device all",
                       s->devices, there);
        gpumbi_dev_bus_id(o->device, bus_id, sizeof bus_id);
        gpumbi_format(o->name, sizeof o->name, "%d%s%s", o->device, bus_id[0] ? " " : "", bus_id);
    }
}

/* Waits for these processes and takes up what they write. With --together each stops before a
 * region until all that still run have got there. One may hang after its rows, or leave its pipe
 * to what it has started itself. */
static inline void gpumbi_wait_for_children(gpumb *g, gpumbi_child *first, int count)
{
    static char text[1 << 16];
    int running = 1;
    while (running) {
        int waiting = 0;
        running = 0;
        for (gpumbi_child *o = first; o < first + count; o++) {
            const int state = o->pid ? gpumbi_process_look(o->pid, &o->status) : 0;
            for (long n = 1; n > 0 && o->fd >= 0 && gpumbi_poll(o->fd, 0) > 0;) {
                n = (long)gpumbi_read(o->fd, text, sizeof text);
                if (n > 0 && fwrite(text, 1, (size_t)n, o->spool) != (size_t)n)
                    gpumbi_end(g, GPUMB_EXIT_ERROR,
                               "no room for the rows of other processes: free some disk");
            }
            o->waits |= state == 2;
            o->pid = state == 1 ? 0 : o->pid;
            if (o->pid && (gpumbi_interrupted || g->done))
                gpumbi_process_kill(o->pid);
            running += o->pid != 0;
            waiting += o->pid && o->waits;
        }
        for (int i = 0; i < count && running && waiting == running; i++) {
            first[i].waits = 0;
            if (first[i].pid)
                gpumbi_process_resume(first[i].pid);
        }
        if (running)
            gpumbi_poll(-1, 1);
    }
}

/* Runs the others, one after the other, or devices together, and reads what they have written: the
 * rows of devices are there in place of regions. */
static inline void gpumbi_run_children(gpumb *g)
{
    const gpumb_settings *s = &g->settings;
    char *text = NULL, who[80], alone[40] = "without --processes";
    if (s->devices && (s->processes > 1 || s->resume || s->replay || s->profile))
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--device %s: several devices: leave out --%s", s->devices,
                   s->processes > 1 ? "processes"
                   : s->resume      ? "resume"
                   : s->replay      ? "replay"
                                    : "profile");
    char **arguments = g->done ? NULL : gpumbi_own_arguments(g, &text);
    if (!g->done)
        gpumbi_list_children(g);
    if (s->devices && !g->done)
        g->children.column = gpumbi_need_column(g, "on_device", GPUMBI_AXIS);
    const int count = g->children.count, step = s->devices && s->together ? count : 1;
    for (int first = 0; first < count && gpumbi_working(g); first += step) {
        gpumbi_child *const begin = &g->children.at[first], *const end = begin + step;
        for (gpumbi_child *o = begin; o < end && !g->done; o++) {
            const int number = (int)(o - g->children.at) + 1;
            if (s->devices)
                gpumbi_format(who, sizeof who, "device %s, %d of %d", o->name, number, count);
            else
                gpumbi_format(who, sizeof who, "process %d of %d", number, s->processes);
            if (g->progress.shown)
                gpumbi_say("%s", who);
            o->spool = gpumbi_temporary();
            o->pid = o->spool ? gpumbi_process_start(arguments, o->device, step > 1, &o->fd) : -1;
            if (o->pid < 0) {
                o->pid = 0;
                o->fd = -1;
                gpumbi_end(g, GPUMB_EXIT_ERROR, "%s: can't be started: %s", who, strerror(errno));
            }
        }
        gpumbi_wait_for_children(g, begin, step);
        for (gpumbi_child *o = begin; o < end; o++) {
            if (!o->spool)
                continue;
            if (o->fd >= 0)
                close(o->fd);
            fflush(o->spool);
            rewind(o->spool);
            gpumbi_records *t =
                g->done ? NULL : gpumbi_read_records(g, fileno(o->spool), SIZE_MAX, 0, 0);
            fclose(o->spool);
            if (!t)
                continue;
            if (s->devices) {
                gpumbi_format(who, sizeof who, "device %s: its process", o->name);
                gpumbi_format(alone, sizeof alone, "with --device %d", o->device);
                t->exact = 1;
                o->rows = t;
                if (o == g->children.at)
                    gpumbi_device_known(g, &t->head.device);
            } else {
                t->next = g->children.rows;
                g->children.rows = t;
            }
            gpumbi_judge_process(g, t, o->status, who, alone);
            if (!s->devices && gpumbi_working(g))
                gpumbi_index_records(g, t, NULL);
        }
    }
    g->children.count = s->devices ? count : 0;
    gpumbi_free(arguments);
    gpumbi_free(text);
}

/* The medians of this row in all processes, this one's last. */
static inline void gpumbi_add_processes(gpumb *g, gpumbi_row *row)
{
    gpumb_result *now = &row->result;
    char label[200];
    const size_t most = (size_t)g->settings.processes;
    if (!g->children.rows)
        return;
    const uint64_t key = gpumbi_row_key(g, row, NULL, label);
    double *median = (double *)gpumbi_allocate(g, most * sizeof *median);
    size_t first = most - 1;
    if (!median)
        return;
    median[first] = now->time.median;
    for (gpumbi_records *t = g->children.rows; t && !g->done; t = t->next) { /* latest first */
        const gpumbi_record *r = gpumbi_take(t, key, now->kernel);
        if (r && r->ok)
            median[--first] = r->time.at;
    }
    if (now->status != GPUMB_STATUS_OK)
        return;
    now->processes = (int)(most - first);
    now->process_medians_s = median + first;
    now->process_lo_s = now->process_hi_s = now->time.median;
    for (size_t i = first; i < most; i++) {
        now->process_lo_s = gpumbi_min(now->process_lo_s, median[i]);
        now->process_hi_s = gpumbi_max(now->process_hi_s, median[i]);
    }
}

/* Processes that measure at the same time wait for each other before each region. */
static inline void gpumbi_processes_wait(gpumb *g, gpumbi_sampler *s)
{
    (void)g, (void)s;
    if (gpumbi_in_step)
        gpumbi_process_pause(); /* until those of all devices are here */
}

GPUMBI_TOOL(gpumbi_processes_tool, PROCESSES, NULL,
            {gpumbi_processes_take, gpumbi_processes_wait, NULL},
            {NULL, gpumbi_add_processes, NULL, NULL}, GPUMBI_NO_END);

/* ================================================================================================
 * COMPARE
 *
 * Owns g->comparison: the rows that --compare names. Judges rows of this run against them, and
 * those of several devices against each other.
 */

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The normal quantile that 0.05 / 2m are above (Abramowitz & Stegun 26.2.23, error below 4.5e-4):
 * how far estimates of means are from them at most, in standard errors, if m such statements are to
 * hold at 95 % together (Bonferroni). */
static inline double gpumbi_bonferroni(double m)
{
    const double t = sqrt(-2 * log(0.025 / m));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

static inline double gpumbi_family_quantile(uint64_t m)
{
    return gpumbi_bonferroni(gpumbi_max(gpumbi_real(m), 1));
}

/* The same where the standard error is estimated, with so many degrees of freedom: Student's t from
 * the normal quantile (Wallace, Ann. Math. Stat. 30, 1959), never too small: by 0.5 % at 4 degrees,
 * by 4 % at 2, by 38 % at 1. */
static inline double gpumbi_student(double z, double freedom)
{
    const double x = z * (8 * freedom + 3) / (8 * freedom + 1);
    return sqrt(freedom * (exp(gpumbi_min(x * x / freedom, 700)) - 1));
}

/* What the rows of a table together tell of the spread between processes: the mean variance of
 * either side, and what the rows share. */
typedef struct gpumbi_spreads {
    double mean[2];
    gpumbi_prior prior;
} gpumbi_spreads;

/* The variance between processes, so that the difference of both sides has that times 1 / processes
 * of each, and its degrees of freedom (Welch's, as of the means: those of a row would add noise); a
 * side that does not know its own has the other's. Below 0: not known. */
static inline double gpumbi_variance_of(const gpumbi_estimate *base, const gpumbi_estimate *now,
                                        const double mean[2], double *freedom)
{
    const gpumbi_estimate *const side[] = {base, now};
    double sum = 0, usual = 0, squares = 0, scale = 0;
    for (int i = 0; i < 2; i++) {
        const int known = side[i]->processes < 2 ? 1 - i : i;
        const double part = 1 / side[i]->processes;
        if (side[known]->variance < 0)
            return -1;
        sum += part * side[known]->variance;
        scale += part;
        usual += i == known ? part * mean[i] : 0;
        squares += i == known ? part * part * mean[i] * mean[i] / (side[i]->processes - 1) : 0;
    }
    *freedom = squares > 0 ? usual * usual / squares : 1;
    return sum / scale;
}

/* Half the interval that the spread between processes gives to the difference of two logarithms.
 * Welch's t (Biometrika 34, 1947), where neither variance counts for less than the pooled one: in
 * few processes that all ran at one of two levels it would come out as nothing; of several rows,
 * what they know together (moderated t). A side that does not know its spread shares the other's.
 * Fewer than 5 processes on a side are too few to tell levels from a spread: there both have the
 * assumed one at least. Where only the range of k values is known (older files), it is multiplied
 * by so much that like against like is found different in 5 % of the comparisons, for k = 2 ...
 * 100, also where one side does not know its own (from a simulation, which tests/test_compare.cpp
 * repeats). */
static inline double gpumbi_process_width(const gpumbi_estimate *base, const gpumbi_estimate *now,
                                          double z, double assumed, const gpumbi_spreads *rows)
{
    const gpumbi_estimate *const side[] = {base, now};
    const double b = base->processes - 1, n = now->processes - 1;
    double share[2] = {0, 0}, freedom = 1, ranges = 0;
    for (int i = 0; i < 2; i++) {
        const gpumbi_estimate *from = side[side[i]->processes < 2 ? 1 - i : i];
        if (from->variance >= 0) {
            share[i] = from->variance / side[i]->processes;
            freedom = from->processes - 1;
        } else if (from->processes > 1) {
            const double j = from->processes - 1;
            ranges = hypot(ranges, z / 1.959964 * (0.42 + 2.4 / j + 4.9 / (j * j * j)) *
                                       log(from->process_hi / from->process_lo));
        }
    }
    double sum = share[0] + share[1];
    if (base->variance >= 0 && now->variance >= 0) {
        const double pooled = (b * base->variance + n * now->variance) / (b + n);
        freedom = sum > 0 ? sum * sum / (share[0] * share[0] / b + share[1] * share[1] / n) : 1;
        sum = gpumbi_max(share[0], pooled / base->processes) +
              gpumbi_max(share[1], pooled / now->processes);
    }
    if (rows && rows->prior.freedom > 0) {
        double own = 0;
        const double variance = gpumbi_variance_of(base, now, rows->mean, &own);
        if (variance >= 0) {
            sum = gpumbi_moderate(&rows->prior, variance, &own) *
                  (1 / base->processes + 1 / now->processes);
            freedom = own;
        }
    }
    const double few = gpumbi_min(b, n) < 4 ? z * assumed * sqrt(2.0) : 0;
    return gpumbi_max(hypot(gpumbi_student(z, freedom) * sqrt(sum), ranges), few);
}

/* The one in the middle of several devices and, of four and more, how the logarithms of their times
 * spread: the root mean square of the three quarters nearest to it, which outliers leave alone.
 * The factor makes it that of normal values, their middle being uncertain, too; from a simulation,
 * which tests/coverage.c repeats. `scratch` has room for `count` numbers. Linear in the count. */
static inline gpumbi_estimate gpumbi_middle(const gpumbi_estimate *e, double *scratch, size_t count)
{
    const double n = gpumbi_real(count), most = 0.75 * n;
    gpumbi_estimate middle = {0, 0, 0, 1, -1, 0, 0, count < 4 ? 0 : n};
    double sum = 0, within = 0;
    for (size_t i = 0; i < count; i++)
        scratch[i] = e[i].at;
    middle.at = middle.lo = middle.hi = gpumbi_select(scratch, count, (count - 1) / 2);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = fabs(log(scratch[i] / middle.at));
        if (count < 4 && e[i].at <= middle.at && e[i].at >= middle.at)
            middle = e[i];
    }
    if (count < 4)
        return middle;
    const double last = gpumbi_select(scratch, count, (uint64_t)most);
    for (size_t i = 0; i < count; i++) {
        sum += scratch[i] < last ? scratch[i] * scratch[i] : 0;
        within += scratch[i] < last;
    }
    const double scale = 1.65 * (1 - 0.8 / n);
    middle.variance = scale * scale * (sum + (most - within) * last * last) / most;
    return middle;
}

/* The least time of those that stands apart in one of so many rows, all of which count at 95 %. */
static inline double gpumbi_apart_of(const gpumbi_estimate *e, double *scratch, size_t count,
                                     uint64_t rows)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = e[i].at;
    return gpumbi_apart(scratch, count, 1 - 0.05 / gpumbi_real(rows));
}

/* Judges now / base. The interval of the ratio follows from those of the two, on a logarithmic
 * scale (MOVER, Donner & Zou, Stat. Methods Med. Res. 21, 2012), narrower where a mean is over
 * several processes, and from the spread between processes; both at the level of `z`. Of many
 * devices that spread is measured, with 0.6 degrees of freedom each, and no part of what they are
 * held against: one is slower that lies beyond it, as measured beyond delta, and not below
 * process_lo, from where on times stand apart. */
static inline gpumb_verdict gpumbi_judge(const gpumbi_estimate *base, const gpumbi_estimate *now,
                                         double z, const gpumbi_spreads *rows,
                                         const gpumb_settings *s, double ratio[3])
{
    const double b = log(base->at), n = log(now->at);
    const double spread = base->devices > 0
                              ? gpumbi_student(z, 0.6 * base->devices - 0.3) * sqrt(base->variance)
                              : gpumbi_process_width(base, now, z, s->spread, rows);
    const double of_base = z / 1.959964 / sqrt(base->variance < 0 ? 1 : base->processes);
    const double of_now = z / 1.959964 / sqrt(now->variance < 0 ? 1 : now->processes);
    ratio[0] = now->at / base->at;
    ratio[1] = ratio[2] = 0;
    if (base->lo > 0 && now->lo > 0) {
        const double below = hypot(of_now * (n - log(now->lo)), of_base * (log(base->hi) - b));
        const double above = hypot(of_now * (log(now->hi) - n), of_base * (b - log(base->lo)));
        ratio[1] = ratio[0] * exp(-hypot(below, spread));
        ratio[2] = ratio[0] * exp(hypot(above, spread));
    }
    const int beyond = base->devices > 0 && fabs(n - b) > log(1 + s->delta);
    const gpumb_verdict verdict = gpumbi_verdict(ratio[1], ratio[2], beyond ? 0 : s->delta);
    return verdict == GPUMB_VERDICT_SLOWER && base->devices > 0 && now->at < base->process_lo
               ? GPUMB_VERDICT_UNDECIDED
               : verdict;
}

/* For `m` comparisons of so many devices: from four on only what is slower counts, one-sided. */
static inline double gpumbi_devices_quantile(int devices, uint64_t m)
{
    return gpumbi_family_quantile(devices > 3 ? (m + 1) / 2 : m);
}

/* ---- the comparison's table ------------------------------------------------------------------ */

enum { GPUMBI_VERDICTS = GPUMB_VERDICT_SAME + 1 };

static inline int gpumbi_cold(const gpumb_result *now)
{
    return !strcmp(now->cache, "cold");
}

/* Whether both have a time, and it means the same: no span against an interval, no cold cache
 * against a hot one. */
static inline int gpumbi_comparable(const gpumbi_record *r, const gpumb_result *now)
{
    const char *meaning = r ? r->text[GPUMBI_COLUMN_meaning] : NULL;
    return r && r->ok && now->status == GPUMB_STATUS_OK &&
           (!meaning || !meaning[0] || !strcmp(meaning, gpumbi_meaning_name(now))) &&
           r->cold == gpumbi_cold(now);
}

/* The line of a row with a counterpart, or without. Returns the verdict; GPUMBI_VERDICTS: none. */
static inline int gpumbi_compare_row(gpumb *g, const gpumbi_row *row, const gpumbi_record *r,
                                     double z, const gpumbi_spreads *rows, int label_width)
{
    const gpumb_result *now = &row->result;
    const gpumbi_estimate time = gpumbi_estimate_of(now);
    static const char *const color[] = {"0", "32", "31", "2"};
    char label[200], interval[40] = "";
    double ratio[3] = {0, 0, 0};
    const int timed = gpumbi_comparable(r, now);
    const int verdict =
        timed ? (int)gpumbi_judge(&r->time, &time, z, rows, &g->settings, ratio) : GPUMBI_VERDICTS;
    if (!g->table.file)
        return verdict;
    gpumbi_row_key(g, row, g, label);
    gpumbi_print(g->table.file, "%s%*s ", label, gpumbi_blank(label_width, label), "");
    if (!timed) {
        const char *here = gpumbi_status_name[now->status];
        if (r && r->ok && now->status == GPUMB_STATUS_OK)
            gpumbi_print(g->table.file, "%s, %s here; %s, %s in %s\n", gpumbi_meaning_name(now),
                         gpumbi_cache_name[gpumbi_cold(now)],
                         r->text[GPUMBI_COLUMN_meaning] ? r->text[GPUMBI_COLUMN_meaning] : "-",
                         gpumbi_cache_name[r->cold], g->settings.compare);
        else if (r)
            gpumbi_print(g->table.file, "%s here, %s in %s\n", here, r->text[GPUMBI_COLUMN_status],
                         g->settings.compare);
        else
            gpumbi_print(g->table.file, "only here%s%s\n", now->status ? ", " : "",
                         now->status ? here : "");
        return verdict;
    }
    if (ratio[1] > 0)
        gpumbi_format(interval, sizeof interval, "%7s ... %s", gpumbi_write_short(ratio[1], 3).text,
                      gpumbi_write_short(ratio[2], 3).text);
    gpumbi_print(g->table.file, "%10s %10s %7s  %-19s ", gpumbi_write_time(r->time.at).text,
                 gpumbi_write_time(time.at).text, gpumbi_write_short(ratio[0], 3).text, interval);
    gpumbi_paint(g, color[verdict]);
    fputs(gpumbi_verdict_name[(gpumb_verdict)verdict], g->table.file);
    gpumbi_paint(g, "0");
    fputc('\n', g->table.file);
    return verdict;
}

/* Own values that --compare-values names, of a row and its counterpart; counts the same ones, and
 * those that differ, also since one side does not know them. */
static inline void gpumbi_compare_values(gpumb *g, const gpumbi_row *row, const gpumbi_record *r,
                                         int width, uint64_t count[2])
{
    char name[2 + GPUMBI_COLUMN_NAME] = "  ";
    const gpumbi_cell *cell = g->comparison.base->axes + r->first_axis + r->axes;
    const char *list = g->settings.compare_values ? g->settings.compare_values : "";
    while ((list = gpumbi_split(list, ',', name + 2, sizeof name - 2)) != NULL) {
        double base = NAN;
        const double now = gpumbi_value_of(g, row->values, name + 2);
        for (size_t i = 0; i < r->values; i++)
            if (!strcmp(cell[i].name, name + 2) && !gpumbi_read_number(cell[i].text, &base))
                base = NAN;
        const int differ = !(fabs(now - base) <= g->settings.delta * fabs(base));
        if (!gpumbi_finite(base) && !gpumbi_finite(now))
            continue;
        count[differ]++;
        if (!g->table.file)
            continue;
        gpumbi_print(g->table.file, "%s%*s %10s %10s %7s  %-19s %s\n", name,
                     gpumbi_blank(width, name), "",
                     gpumbi_finite(base) ? gpumbi_write_number(base, 4, 0).text : "-",
                     gpumbi_finite(now) ? gpumbi_write_number(now, 4, 0).text : "-",
                     gpumbi_finite(now / base) ? gpumbi_write_short(now / base, 3).text : "", "",
                     differ ? "differs" : "same");
    }
}

static inline void gpumbi_compare_summary(gpumb *g, const uint64_t *count, const uint64_t *values,
                                          uint64_t rest, uint64_t matched, uint64_t lost,
                                          uint64_t assumed)
{
    gpumb_note(g,
               "compared with %s: %llu faster, %llu slower, %llu same, %llu undecided; %s "
               "not compared",
               g->settings.compare, (unsigned long long)count[GPUMB_VERDICT_FASTER],
               (unsigned long long)count[GPUMB_VERDICT_SLOWER],
               (unsigned long long)count[GPUMB_VERDICT_SAME],
               (unsigned long long)count[GPUMB_VERDICT_UNDECIDED],
               gpumbi_count(rest + count[GPUMBI_VERDICTS], "row").text);
    if (g->settings.compare_values)
        gpumb_note(g, "own values (%s): %llu same, %llu differ by more than %s %%",
                   g->settings.compare_values, (unsigned long long)values[0],
                   (unsigned long long)values[1],
                   gpumbi_write_number(100 * g->settings.delta, 4, 0).text);
    if (g->settings.compare_values && !values[0] && !values[1])
        gpumbi_say("--compare-values %s: no row that has a counterpart has such a value",
                   g->settings.compare_values);
    if (g->table.file) {
        gpumbi_print(g->table.file, "  delta %s %%; 95 %% for %s together (Bonferroni)\n",
                     gpumbi_write_number(100 * g->settings.delta, 4, 0).text,
                     gpumbi_count(matched, "ratio").text);
        if (assumed)
            gpumbi_print(g->table.file,
                         "  spread between processes: %s %% assumed (--spread); both sides with "
                         "--processes 5 measure it\n",
                         gpumbi_write_number(100 * g->settings.spread, 4, 0).text);
        else
            fputs("  spread between processes: measured, in the intervals\n", g->table.file);
    }
    if (g->comparison.base->several)
        gpumbi_say(
            "--compare %s: several rows have one name and the same axes: they are matched in "
            "their order",
            g->settings.compare);
    if (!matched)
        gpumbi_say(
            "--compare %s: no row of it can be compared: one here has to have its name and axes, "
            "its meaning (span, interval, latency) and its cache (hot, cold), and both to be ok",
            g->settings.compare);
    if (!g->settings.fail_on_regression ||
        (matched && !lost && !count[GPUMB_VERDICT_SLOWER] && !values[1]))
        return;
    if (matched || lost)
        gpumbi_say("--fail-on-regression: %s slower than in %s, %llu no longer ok%s",
                   gpumbi_count(count[GPUMB_VERDICT_SLOWER], "row").text, g->settings.compare,
                   (unsigned long long)lost, values[1] ? "; own values differ" : "");
    gpumbi_mark_failed(g);
}

/* What the rows that are compared know together of the spread between processes. */
static inline gpumbi_spreads gpumbi_spreads_of(gpumb *g, const gpumbi_record *const *found)
{
    gpumbi_spreads s = {{0, 0}, {0, 0}};
    double known[2] = {0, 0};
    const size_t rows = g->rows.count;
    double *variance = (double *)gpumbi_allocate(g, 2 * (rows + 1) * sizeof *variance);
    size_t count = 0;
    for (size_t at = 0; at < 2 * rows && variance; at++) { /* all of them twice: first the means */
        const size_t i = at % rows;
        const gpumbi_estimate time = gpumbi_estimate_of(&g->rows.at[i]->result);
        if (!gpumbi_comparable(found[i], &g->rows.at[i]->result))
            continue;
        const double there[] = {found[i]->time.variance, time.variance};
        for (int k = 0; k < 2 && at == i; k++)
            if (there[k] >= 0)
                s.mean[k] += (there[k] - s.mean[k]) / ++known[k];
        if (at == i)
            continue;
        variance[count] =
            gpumbi_variance_of(&found[i]->time, &time, s.mean, &variance[rows + count]);
        count += variance[count] >= 0;
    }
    if (count)
        s.prior = gpumbi_share_variances(variance, variance + rows, count);
    gpumbi_free(variance);
    return s;
}

static inline void gpumbi_compare_rows(gpumb *g)
{
    gpumbi_records *t = g->comparison.base;
    uint64_t count[GPUMBI_VERDICTS + 1] = {0, 0, 0, 0, 0}, matched = 0, lost = 0, assumed = 0;
    uint64_t values[2] = {0, 0}, rest = 0;
    int width = 22;
    char label[200];
    const gpumbi_record **found =
        (const gpumbi_record **)gpumbi_allocate(g, (g->rows.count + 1) * sizeof *found);
    gpumbi_index_records(g, t, g);
    for (size_t i = 0; i < g->rows.count && !g->done; i++) {
        const gpumbi_row *row = g->rows.at[i];
        const gpumb_result *now = &row->result;
        const gpumbi_record *r = found[i] =
            gpumbi_take(t, gpumbi_row_key(g, row, g, label), now->kernel);
        width = (int)gpumbi_max(width, gpumbi_min(gpumbi_width(label), 60));
        lost += r && r->ok && now->status != GPUMB_STATUS_OK;
        if (gpumbi_comparable(r, now)) {
            assumed += gpumbi_min(r->time.processes, now->processes) < 5;
            matched++;
        }
    }
    if (!g->done) {
        const double z = gpumbi_family_quantile(matched);
        const gpumbi_spreads spreads = gpumbi_spreads_of(g, found);
        if (g->table.file) {
            gpumbi_print(g->table.file, "\ncompared with %s\n", g->settings.compare);
            gpumbi_print(g->table.file, "%-*s %10s %10s %7s  %-19s %s\n", width, "", "base", "new",
                         "ratio", "95 % interval", "verdict");
        }
        for (size_t i = 0; i < g->rows.count; i++) {
            const gpumbi_row *row = g->rows.at[i];
            const gpumbi_record *r = found[i];
            count[gpumbi_compare_row(g, row, r, z, &spreads, width)]++;
            if (r && r->ok && row->result.status == GPUMB_STATUS_OK)
                gpumbi_compare_values(g, row, r, width, values);
        }
        for (size_t i = 0; i < t->count; i++) { /* what no row was compared with */
            const gpumbi_record *r = &t->rows[i];
            rest += !r->matched;
            if (!g->table.file || r->matched)
                continue;
            gpumbi_label(label, r->text[GPUMBI_COLUMN_bench], r->text[GPUMBI_COLUMN_kernel],
                         t->axes + r->first_axis, r->axes);
            gpumbi_print(g->table.file, "%s%*s only in %s%s%s\n", label, gpumbi_blank(width, label),
                         "", g->settings.compare, r->ok ? "" : ", ",
                         r->ok ? "" : r->text[GPUMBI_COLUMN_status]);
        }
        gpumbi_compare_summary(g, count, values, rest, matched, lost, assumed);
    }
    gpumbi_free(found);
}

/* Says in which respects the base, or a part of it, comes from elsewhere. Older schemas are read as
 * they were meant. */
static inline void gpumbi_compare_origin(gpumb *g)
{
    const gpumbi_records *t = g->comparison.base;
    char here[GPUMBI_CELL];
    for (int k = 0; t && k < 4; k++) {
        const char *there = gpumbi_from_elsewhere(g, t, k, here);
        if (there && (k > 0 || strtol(there, NULL, 10) > GPUMBI_SCHEMA))
            gpumbi_say("--compare %s: is from another %s: %s, here it is %s; the ratios hold that "
                       "difference too",
                       g->settings.compare, gpumbi_row_fields[gpumbi_origin[k]].name, there, here);
    }
}

/* Two devices by their ratio, more of them each with the one in the middle. `z` 0: only counts.
 * Returns how many are compared. */
static inline uint64_t gpumbi_compare_on_devices(gpumb *g, double z)
{
    const size_t most = (size_t)g->children.count, rows = g->rows.count;
    gpumbi_row *const *const at = g->rows.at;
    char label[200];
    uint64_t compared = 0;
    int width = 22;
    gpumbi_estimate *e = (gpumbi_estimate *)gpumbi_allocate(g, most * sizeof *e);
    double *scratch = (double *)gpumbi_allocate(g, most * sizeof *scratch);
    for (size_t i = 0; i < rows; i++) {
        gpumbi_row_key(g, at[i], NULL, label);
        width = (int)gpumbi_max(width, gpumbi_min(gpumbi_width(label), 60));
    }
    for (size_t i = 0, count; i < rows && e && scratch; i += count) {
        for (count = 1; i + count < rows && at[i + count]->region == at[i]->region;)
            count++;
        size_t ok = 0;
        for (size_t k = i; k < i + count && (count > 2 || k == i); k++)
            if (at[k]->result.status == GPUMB_STATUS_OK)
                e[ok++] = gpumbi_estimate_of(&at[k]->result);
        gpumbi_record middle;
        memset(&middle, 0, sizeof middle);
        if (!ok)
            continue;
        middle.time = gpumbi_middle(e, scratch, ok);
        if (middle.time.devices > 0)
            middle.time.process_lo = gpumbi_apart_of(e, scratch, ok, rows / count);
        size_t in_the_middle = i;
        while (at[in_the_middle]->result.status != GPUMB_STATUS_OK ||
               gpumbi_estimate_of(&at[in_the_middle]->result).at != middle.time.at)
            in_the_middle++;
        const gpumbi_row *base = at[in_the_middle];
        middle.ok = 1;
        middle.cold = gpumbi_cold(&base->result);
        middle.text[GPUMBI_COLUMN_meaning] = gpumbi_meaning_name(&base->result);
        for (size_t k = i; k < i + count; k++) {
            const gpumbi_row *row = at[k];
            if (row == base || !gpumbi_comparable(&middle, &row->result))
                continue;
            compared++;
            if (z <= 0)
                continue;
            const int verdict = gpumbi_compare_row(g, row, &middle, z, NULL, width);
            gpumbi_child *on = g->children.at + row->point.at[row->point.depth - 1].value;
            gpumbi_child *of = g->children.at + base->point.at[base->point.depth - 1].value;
            on->compared++;
            on->slower += verdict == GPUMB_VERDICT_SLOWER;
            of->compared += count == 2;
            of->slower += count == 2 && verdict == GPUMB_VERDICT_FASTER;
        }
    }
    gpumbi_free(e);
    gpumbi_free(scratch);
    return compared;
}

static inline void gpumbi_compare_devices(gpumb *g)
{
    const uint64_t compared = gpumbi_compare_on_devices(g, 0);
    const int many = g->children.count > 3;
    uint64_t slower = 0;
    char spread[60];
    gpumbi_format(spread, sizeof spread, "processes of %s %% (--spread)",
                  gpumbi_write_number(100 * g->settings.spread, 4, 0).text);
    if (g->table.file)
        gpumbi_print(g->table.file, "\ndevices compared, %s\n",
                     g->children.count == 2 ? "the second with the first"
                                            : "each with the one in the middle");
    if (compared)
        (void)gpumbi_compare_on_devices(g, gpumbi_devices_quantile(g->children.count, compared));
    if (g->table.file && many)
        gpumbi_print(g->table.file,
                     "  model: in a row, the logarithms of the times of equal devices "
                     "are normal%s\n",
                     g->children.count < 40 ? "" : ", or their upper quarter exponential");
    for (int i = 0; i < g->children.count; i++) {
        const gpumbi_child *d = &g->children.at[i];
        slower += d->slower;
        if (d->slower)
            gpumb_note(g, "device %s: slower by more than %s %% in %llu of %s", d->name,
                       gpumbi_write_number(100 * g->settings.delta, 4, 0).text,
                       (unsigned long long)d->slower, gpumbi_count(d->compared, "row").text);
    }
    if (!slower)
        gpumb_note(g,
                   "no device is shown to be slower than the others by more than %s %%, as far as "
                   "%s decide, with a spread between %s",
                   gpumbi_write_number(100 * g->settings.delta, 4, 0).text,
                   gpumbi_count(compared, "ratio").text, many ? "devices as measured" : spread);
    if (slower && g->settings.fail_on_outlier) {
        gpumbi_say("--fail-on-outlier: %s slower than those of the other devices",
                   gpumbi_count(slower, "row").text);
        gpumbi_mark_failed(g);
    }
}

/* Reads the base, before anything runs. */
static inline void gpumbi_compare_open(gpumb *g)
{
    const gpumb_settings *s = &g->settings;
    if (!s->compare && (s->fail_on_regression || s->compare_values))
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--%s: needs a base; for example --compare base.csv",
                   s->compare_values ? "compare-values" : "fail-on-regression");
    if (!g->done && s->compare)
        g->comparison.base = gpumbi_open_records(g, "compare", s->compare, "base", 0);
}

static inline void gpumbi_compare_closing(gpumb *g)
{
    if (g->children.count && gpumbi_working(g))
        gpumbi_compare_devices(g);
    if (g->comparison.base && gpumbi_working(g) && !g->options.lists)
        gpumbi_compare_rows(g);
    if (g->settings.fail_on_outlier && g->children.count < 2 && !gpumbi_parent &&
        gpumbi_working(g) && !g->options.lists) {
        gpumbi_say("--fail-on-outlier: one device was measured: name several, for example --device "
                   "all");
        gpumbi_mark_failed(g);
    }
}

GPUMBI_TOOL(gpumbi_compare_tool, COMPARE, NULL, GPUMBI_NO_REGION, GPUMBI_NO_ROWS,
            {gpumbi_compare_closing, NULL});

/* ================================================================================================
 * EXPECT
 *
 * Owns g->expected: what --expect says of rows.
 *
 * ROWS >= LIMIT, or <=. ROWS is a name (of a kernel, a benchmark, or both with a slash between),
 * with values of axes in brackets: copy[n=1024,elem=4]; or max() or min() of that: one row has to
 * meet it, but all where max() has to be small or min() large. Without these, all rows have to meet
 * it. LIMIT is a number with a unit, or a factor and other rows, 0.9*zcopy: rates are compared,
 * each row with the one that has the same values of all axes that both have and brackets don't set;
 * of several, with the hardest to beat.
 */

/* Units of a limit: rates, for which a shorter time is more; then times. */
static const struct {
    const char *name;
    unsigned short at; /* in a result */
    double scale;      /* of what is there */
} gpumbi_unit[] = {{"peak", offsetof(gpumb_result, pct_peak), 0.01},
                   {"ceiling", offsetof(gpumb_result, pct_ceiling), 0.01},
                   {"GB/s", offsetof(gpumb_result, gbps), 1},
                   {"GFLOP/s", offsetof(gpumb_result, gflops), 1},
                   {"elements/s", offsetof(gpumb_result, elements_per_s), 1},
                   {"s", offsetof(gpumb_result, time.median), 1},
                   {"ms", offsetof(gpumb_result, time.median), 1e3},
                   {"us", offsetof(gpumb_result, time.median), 1e6},
                   {"ns", offsetof(gpumb_result, time.median), 1e9}};
enum { GPUMBI_UNIT_SECONDS = 5, GPUMBI_UNITS = 9 };

/* In the order of their weight: the worst of several counts. */
enum { GPUMBI_MET, GPUMBI_UNDECIDED, GPUMBI_NOT_MET };
static const char *const gpumbi_met_name[] = {"met", "undecided", "not met"};

struct gpumbi_expectation {
    const char *text;
    struct {
        char name[200], axes[200];
        int extreme; /* 1 max(), -1 min() */
    } rows[2];       /* what is compared, and with what, unless a unit is given */
    int at_least, unit, lenient;
    double limit;
    int verdict;           /* and why: */
    double value[3];       /* with its interval, 0 without one */
    uint64_t rows_with[3]; /* a verdict */
    char reason[400];
};

/* A copy of a part of a text, without the blanks around it; NULL where it does not fit. */
static inline char *gpumbi_trim(char *to, size_t size, const char *from, size_t length)
{
    while (length && *from == ' ') {
        from++;
        length--;
    }
    while (length && from[length - 1] == ' ')
        length--;
    gpumbi_format(to, size, "%.*s", (int)length, from);
    return length < size ? to : NULL;
}

/* Reads ROWS. */
static inline int gpumbi_expect_rows(gpumbi_expectation *e, int side, const char *text,
                                     size_t length)
{
    char part[400], *name = e->rows[side].name;
    if (!gpumbi_trim(part, sizeof part, text, length))
        return 0;
    const size_t end = strlen(part);
    char *begin = part, *axes = strchr(part, '[');
    const int max = !strncmp(part, "max(", 4);
    if ((max || !strncmp(part, "min(", 4)) && part[end - 1] == ')') {
        e->rows[side].extreme = max ? 1 : -1;
        part[end - 1] = 0;
        begin += 4;
    }
    if (axes) {
        char *close = strchr(axes, ']');
        if (!close || close[1])
            return 0;
        *axes = *close = 0;
        if (!gpumbi_trim(e->rows[side].axes, sizeof e->rows[0].axes, axes + 1, strlen(axes + 1)))
            return 0;
    }
    return gpumbi_trim(name, sizeof e->rows[0].name, begin, strlen(begin)) && *name;
}

/* Reads an expectation. Returns 0 if it is none. */
static inline int gpumbi_expect_parse(gpumbi_expectation *e, const char *text)
{
    static const char lenient[] = " or undecided";
    char limit[400], *rest;
    e->text = text;
    const char *at = strstr(text, ">="), *other = strstr(text, "<=");
    e->at_least = at && (!other || at < other);
    at = e->at_least ? at : other;
    if (!at || !gpumbi_expect_rows(e, 0, text, (size_t)(at - text)))
        return 0;
    const size_t length = strlen(at + 2), tail = sizeof lenient - 1;
    e->lenient = length > tail && !strcmp(at + 2 + length - tail, lenient);
    if (!gpumbi_trim(limit, sizeof limit, at + 2, length - (e->lenient ? tail : 0)))
        return 0;
    e->limit = strtod(limit, &rest);
    if (*rest == '.' && rest > limit) { /* the locale has a comma there */
        *rest = ',';
        e->limit = strtod(limit, &rest);
    }
    const size_t digits = (size_t)(rest - limit);
    const int attached = digits && limit[0] <= '9' &&      /* not "inf" of a kernel "info" */
                         (!*rest || !strchr(" *", *rest)); /* a unit is to be */
    rest += strspn(rest, " ");
    while (digits && e->unit < GPUMBI_UNITS && strcmp(rest, gpumbi_unit[e->unit].name))
        e->unit++;
    if (digits && e->unit < GPUMBI_UNITS)
        return gpumbi_finite(e->limit) && e->limit > 0;
    e->unit = GPUMBI_UNITS;
    if (attached)
        return 0;
    if (!digits || *rest != '*') { /* a name may begin with a digit */
        e->limit = 1;
        rest = limit;
    } else {
        rest++;
    }
    return gpumbi_finite(e->limit) && e->limit > 0 && gpumbi_expect_rows(e, 1, rest, strlen(rest));
}

/* Whether a row is one of ROWS and, unless `left` is NULL, its counterpart. */
static inline int gpumbi_expect_match(const gpumb *g, const gpumbi_expectation *e, int side,
                                      const gpumbi_row *row, const gpumbi_row *left)
{
    char text[200], one[200];
    const gpumb_result *r = &row->result;
    const char *name = e->rows[side].name;
    gpumbi_format(text, sizeof text, "%s/%s", r->bench, r->kernel);
    size_t axes = e->rows[side].axes[0] != 0;
    for (const char *c = e->rows[side].axes; *c; c++)
        axes += *c == ',';
    if (strcmp(name, r->kernel) && strcmp(name, r->bench) && strcmp(name, text))
        return 0;
    for (int i = 0; i < row->point.depth; i++) {
        const int column = row->point.at[i].column;
        gpumbi_number here, there;
        int64_t wanted = 0, is = 0;
        const char *value = gpumbi_axis_text(&row->point, column, &here);
        const char *axis = g->columns.name[column], *list = e->rows[side].axes, *set = NULL;
        const size_t length = strlen(axis);
        while (!set && (list = gpumbi_split(list, ',', one, sizeof one)) != NULL) {
            const char *at = one + strspn(one, " "), *equals = at + length;
            if (strncmp(at, axis, length))
                continue;
            equals += strspn(equals, " ");
            if (*equals == '=')
                set = gpumbi_trim(text, sizeof text, equals + 1, strlen(equals + 1));
        }
        const char *of_left = left ? gpumbi_axis_text(&left->point, column, &there) : "";
        axes -= set != NULL;
        if (set && strcmp(set, value)) { /* 1Mi, 2^20 */
            const char *end = gpumbi_read_integer(set, &wanted);
            const char *stop = gpumbi_read_integer(value, &is);
            if (!end || *end || !stop || *stop || wanted != is)
                return 0;
        }
        if (!set && of_left[0] && strcmp(of_left, value))
            return 0;
    }
    return !axes;
}

/* What a row has in the unit of the limit, or against another row; 0: nothing. */
static inline void gpumbi_expect_value(const gpumbi_expectation *e, const gpumbi_row *row,
                                       const gpumbi_row *other, double value[3])
{
    const gpumb_result *r = &row->result;
    const gpumb_stats *t = &r->time;
    double time[3] = {t->median, t->ci_lo, t->ci_hi}, middle = 0;
    const int shorter = other || e->unit < GPUMBI_UNIT_SECONDS; /* is more */
    if (other) {                                                /* times, then rates */
        const gpumb_result *o = &other->result;
        const gpumbi_estimate base = gpumbi_estimate_of(o), now = gpumbi_estimate_of(r);
        gpumb_settings none; /* assumes no spread between processes; the verdict does not count */
        memset(&none, 0, sizeof none);
        gpumbi_judge(&base, &now, 1.959964, NULL, &none, time);
        /* Round by round, where that was compared: a drift leaves it alone. */
        const gpumb_comparison *c = &r->comparison, *back = &o->comparison;
        const int together = row->order == other->order && !strcmp(r->bench, o->bench);
        if (together && !strcmp(r->compared_with, o->kernel) && c->hi > 0) {
            time[0] = c->ratio;
            time[1] = c->lo;
            time[2] = c->hi;
        } else if (together && !strcmp(o->compared_with, r->kernel) && back->lo > 0) {
            time[0] = 1 / back->ratio;
            time[1] = 1 / back->hi;
            time[2] = 1 / back->lo;
        }
        middle = r->bytes > 0 && o->bytes > 0         ? r->bytes / o->bytes
                 : r->flop > 0 && o->flop > 0         ? r->flop / o->flop
                 : r->elements > 0 && o->elements > 0 ? r->elements / o->elements
                                                      : 1;
        middle /= time[0];
    } else {
        memcpy(&middle, (const char *)r + gpumbi_unit[e->unit].at, sizeof middle);
        middle *= gpumbi_unit[e->unit].scale;
    }
    value[0] = middle;
    value[1] = value[2] = 0; /* no interval */
    if (time[2] > 0) {       /* of times, the lower end may be 0: too little is known for one */
        value[1] = middle * (shorter ? time[0] / time[2] : time[1] / time[0]);
        value[2] = middle * (!shorter      ? time[2] / time[0]
                             : time[1] > 0 ? time[0] / time[1]
                                           : HUGE_VAL);
    }
}

/* Whether all rows of a side have to meet it, or one of them is enough: of max() and min() it is
 * all where those ask for what is hardest to meet. */
static inline int gpumbi_expect_all(const gpumbi_expectation *e, int side)
{
    const int extreme = side ? -e->rows[1].extreme : e->rows[0].extreme;
    return !extreme || (extreme < 0) == e->at_least;
}

/* The verdict on a row, or on a row and its counterpart, among so many of which one is enough, and
 * so many that all have to meet it. That one of several does is shown at a level that they share,
 * as is that one of several does not; that all of them do needs each, and no correction (an
 * intersection-union test: Berger, Technometrics 24, 1982). Each is right in 95 %, one-sided; a
 * single row has the 95 % interval's 97.5 %. How wide an interval is, few samples do not know well:
 * as with Student's t, of a quarter as many degrees. */
static inline int gpumbi_expect_one(const gpumbi_expectation *e, const double value[3],
                                    double samples, const double among[2])
{
    const double sign = e->at_least ? 1 : -1, limit = sign * e->limit;
    const double d = gpumbi_max(samples / 4, 1), usual = gpumbi_student(1.959964, d);
    double end[2]; /* on the right side of it, on the wrong one */
    for (int i = 0; i < 2; i++) {
        const double m = among[0] * among[1] > 1 ? among[i] / 2 : 1;
        const double wider = gpumbi_student(gpumbi_bonferroni(m), d) / usual;
        end[i] = sign * value[0] * pow(value[e->at_least == i ? 2 : 1] / value[0], wider);
    }
    return !(value[0] > 0)                                          ? GPUMBI_NOT_MET
           : !(value[2] > 0) || (end[0] < limit && end[1] >= limit) ? GPUMBI_UNDECIDED
           : end[0] >= limit                                        ? GPUMBI_MET
                                                                    : GPUMBI_NOT_MET;
}

/* How many rows of a side of an expectation, or counterparts of `left`, have a figure. */
static inline double gpumbi_expect_count(const gpumb *g, const gpumbi_expectation *e, int side,
                                         const gpumbi_row *left)
{
    double count = 0;
    for (size_t i = 0; i < g->rows.count; i++) {
        const gpumbi_row *row = g->rows.at[i];
        count += row != left && row->result.status == GPUMB_STATUS_OK &&
                 gpumbi_expect_match(g, e, side, row, left);
    }
    return count;
}

/* Whether a verdict and its value decide in place of others, where all count, or the best does. */
static inline int gpumbi_expect_decides(int all, int verdict, double value, int verdict_before,
                                        double before, int larger)
{
    if (verdict != verdict_before)
        return all ? verdict > verdict_before : verdict < verdict_before;
    if (!all && (value <= 0 || before <= 0)) /* without a figure it is none of the best */
        return value > before;
    return larger ? value > before : value < before;
}

/* The verdict on a row, with its counterparts, and what it is for all. */
static inline void gpumbi_expect_row(gpumb *g, gpumbi_expectation *e, const gpumbi_row *row,
                                     double rows)
{
    double value[3] = {0, 0, 0}, among[2] = {1, 1};
    int verdict = GPUMBI_NOT_MET, found = 0, extreme = e->rows[1].extreme;
    const gpumb_result *r = &row->result;
    const int ok = r->status == GPUMB_STATUS_OK, unit = e->unit < GPUMBI_UNITS;
    const int all = gpumbi_expect_all(e, 0), all_others = gpumbi_expect_all(e, 1);
    among[all] *= rows;
    if (ok && !unit)
        among[all_others] *= gpumbi_expect_count(g, e, 1, row);
    for (size_t i = 0; ok && i < (unit ? 1 : g->rows.count) && !g->done; i++) {
        const gpumbi_row *other = unit ? NULL : g->rows.at[i];
        uint64_t samples = r->time.count;
        double next[3];
        if (other) {
            const gpumb_result *o = &other->result;
            if (o->status != GPUMB_STATUS_OK || other == row ||
                !gpumbi_expect_match(g, e, 1, other, row))
                continue;
            samples = o->time.count < samples ? o->time.count : samples;
        }
        gpumbi_expect_value(e, row, other, next);
        const int v = gpumbi_expect_one(e, next, gpumbi_real(samples), among);
        if (!found || gpumbi_expect_decides(all_others, v, next[0], verdict, value[0],
                                            extreme ? extreme < 0 : !e->at_least)) {
            memcpy(value, next, sizeof value);
            verdict = v;
        }
        found = 1;
    }
    extreme = e->rows[0].extreme;
    e->rows_with[verdict]++;
    if (e->reason[0] && !gpumbi_expect_decides(all, verdict, value[0], e->verdict, e->value[0],
                                               extreme ? extreme > 0 : !e->at_least))
        return;
    e->verdict = verdict;
    memcpy(e->value, value, sizeof value);
    gpumbi_row_key(g, row, NULL, e->reason);
    if (!ok)
        gpumbi_append(e->reason, sizeof e->reason, ": %s, %s", gpumbi_status_name[r->status],
                      r->reason);
    else if (!(value[0] > 0) && unit)
        gpumbi_append(e->reason, sizeof e->reason, ": its %s is unknown",
                      gpumbi_unit[e->unit].name);
    else if (!(value[0] > 0))
        gpumbi_append(e->reason, sizeof e->reason, ": no row to compare with");
    else if (!(value[2] > 0))
        gpumbi_append(e->reason, sizeof e->reason, ": has no interval");
}

static inline void gpumbi_expect_closing(gpumb *g)
{
    if (g->options.lists || gpumbi_parent) /* whose rows are judged where they go */
        return;
    for (int k = 0; k < g->expected.count && gpumbi_working(g); k++) {
        gpumbi_expectation *e = &g->expected.at[k];
        char figure[100] = "", among[100] = "";
        const double rows = gpumbi_expect_count(g, e, 0, NULL);
        for (size_t i = 0; i < g->rows.count; i++)
            if (gpumbi_expect_match(g, e, 0, g->rows.at[i], NULL))
                gpumbi_expect_row(g, e, g->rows.at[i], rows);
        if (!e->reason[0]) {
            e->verdict = GPUMBI_NOT_MET;
            gpumbi_copy_text(e->reason, sizeof e->reason, "no such row");
        }
        if (e->value[0] > 0)
            gpumbi_format(figure, sizeof figure, "%s (%s ... %s) in ",
                          gpumbi_write_number(e->value[0], 4, 0).text,
                          gpumbi_write_number(e->value[1], 4, 0).text,
                          gpumbi_finite(e->value[2]) ? gpumbi_write_number(e->value[2], 4, 0).text
                                                     : "?");
        const uint64_t *with = e->rows_with, several = with[0] + with[1] + with[2];
        if (several > 1)
            gpumbi_format(
                among, sizeof among, "; of %llu rows %s: %llu met, %llu undecided",
                (unsigned long long)several, gpumbi_expect_all(e, 0) ? "all have to" : "one has to",
                (unsigned long long)with[GPUMBI_MET], (unsigned long long)with[GPUMBI_UNDECIDED]);
        gpumb_note(g, "expected %s: %s%s: %s%s%s", e->text, gpumbi_met_name[e->verdict],
                   e->verdict == GPUMBI_UNDECIDED && e->lenient ? ", which counts as met" : "",
                   figure, e->reason, among);
        if (e->verdict > (e->lenient ? GPUMBI_UNDECIDED : GPUMBI_MET))
            gpumbi_mark_failed(g);
    }
}

static inline void gpumbi_json_expected(gpumb *g, FILE *file)
{
    for (int k = 0; k < g->expected.count && !gpumbi_parent; k++) {
        const gpumbi_expectation *e = &g->expected.at[k];
        static const char *const name[] = {"limit", "value", "lo", "hi"};
        fputs(k ? ",\n{\"expect\": " : "\"expectations\": [\n{\"expect\": ", file);
        gpumbi_json_string(file, e->text);
        fprintf(file, ", \"verdict\": \"%s\", \"reason\": ", gpumbi_met_name[e->verdict]);
        gpumbi_json_string(file, e->reason);
        for (int i = 0; i < 4; i++) {
            const double value = i ? e->value[i - 1] : e->limit;
            fprintf(file, ", \"%s\": %s", name[i],
                    value > 0 && gpumbi_finite(value) ? gpumbi_write_scaled(value, 0).text
                                                      : "null");
        }
        fputs(k + 1 < g->expected.count ? "}" : "}],\n", file);
    }
}

/* Adds one. Returns what is wrong with it; NULL: nothing. */
static inline const char *gpumbi_expect_add(gpumb *g, const char *text)
{
    GPUMBI_TOOL(tool, EXPECT, NULL, GPUMBI_NO_REGION, {NULL, NULL, NULL, gpumbi_json_expected},
                {gpumbi_expect_closing, NULL});
    gpumbi_use(g, &tool);
    if (!g->expected.at)
        g->expected.at =
            (gpumbi_expectation *)gpumbi_allocate(g, GPUMBI_OPTIONS * sizeof *g->expected.at);
    if (g->expected.count == GPUMBI_OPTIONS)
        return "is one expectation too many";
    if (g->expected.at && !gpumbi_expect_parse(&g->expected.at[g->expected.count++], text))
        return "is not rows, >= or <=, and a limit with a unit (peak, ceiling, GB/s, GFLOP/s, "
               "elements/s, s, ms, us, ns) or other rows";
    return NULL;
}

/* ================================================================================================
 * COMMAND LINE
 *
 * Owns g->options, and fills g->settings. Every error is one line that names the option, what is
 * wrong and an example of what is right.
 */

/* What a value is, and so where it goes: most into a member of the settings. */
enum {
    GPUMBI_VALUE_OWN,      /* see gpumbi_own_options */
    GPUMBI_VALUE_FLAG,     /* int: none, sets it to 1 */
    GPUMBI_VALUE_TEXT,     /* const char * */
    GPUMBI_VALUE_POSITIVE, /* double ... */
    GPUMBI_VALUE_PERCENT   /* ... of which the member is a hundredth */
};

/* In the order of --help: name, example of a value ("" for none), kind, member (of OWN any),
 * help. */
#define GPUMBI_OPTION_LIST(X)                                                                      \
    X(LIST, "list", "", OWN, full, "the benchmarks with their kernels and axes")                   \
    X(FILTER, "filter", "NAME", OWN, full, "only what has NAME in bench/kernel; may be repeated")  \
    X(AXIS, "axis", "block=64,128", OWN, full,                                                     \
      "values of an axis: a,b,c or lo:hi:+step or lo:hi:*factor")                                  \
    X(QUICK, "quick", "", OWN, full, "the quick profile of each benchmark (default)")              \
    X(FULL, "full", "", OWN, full, "the full profile")                                             \
    X(SHUFFLE, "shuffle", "", FLAG, shuffle, "configurations in an order drawn from the seed")     \
    X(SEED, "seed", "1", OWN, seed, "of the random data, and of --shuffle")                        \
    X(DEVICE, "device", "0", OWN, device, "number of the device; 0,2 or all: several")             \
    X(TOGETHER, "together", "", FLAG, together, "several devices: each row at the same time")      \
    X(PEAK, "peak", "4800", POSITIVE, peak_gbps, "theoretical memory bandwidth, GB/s")             \
    X(PRECISION, "precision", "1", PERCENT, precision,                                             \
      "per cent of the median, half its 95 % interval; GPU: 0.15 at best")                         \
    X(BUDGET, "budget", "2", POSITIVE, budget_s, "seconds of sampling per row, at most")           \
    X(LEAST, "least", "0.1", OWN, least_s, "seconds of sampling per row, at least; 0: none")       \
    X(SAMPLES, "samples", "30:10000", OWN, min_samples,                                            \
      "least and most samples, within the budget")                                                 \
    X(WARMUP, "warmup", "0.5", OWN, warmup_s, "seconds of warm-up per row, at most; 0: none")      \
    X(COLD, "cold", "", FLAG, cold, "caches emptied before each sample")                           \
    X(STRICT, "strict", "", FLAG, strict,                                                          \
      "new inputs for each sample, timed runs checked: a grader's")                                \
    X(PROFILE, "profile", "[=1]", OWN, profile,                                                    \
      "each region so many times for a profiler, in NVTX ranges; no times")                        \
    X(COUNTERS, "counters", "NAME,NAME", TEXT, counters,                                           \
      "hardware counters of each row: dram_read_bytes,l2_hit_rate ...")                            \
    X(CSV, "csv", "results.csv", TEXT, csv, "write rows as CSV; - is standard output")             \
    X(JSON, "json", "results.json", TEXT, json, "write context and rows as JSON")                  \
    X(MARKDOWN, "md", "results.md", TEXT, markdown, "write a Markdown table")                      \
    X(GBENCH, "gbench", "gbench.json", TEXT, gbench, "write rows as Google Benchmark's JSON")      \
    X(RAW, "raw", "", FLAG, raw, "every sample in the JSON, in the order taken")                   \
    X(RESUME, "resume", "", FLAG, resume,                                                          \
      "keep the rows that an interrupted run has left, measure the rest")                          \
    X(REPLAY, "replay", "rows.json", TEXT, replay,                                                 \
      "the rows of an earlier run in place of measurements; needs no device")                      \
    X(NO_COLOR, "no-color", "", FLAG, no_color, "no colours on the terminal")                      \
    X(COMPARE, "compare", "base.csv", TEXT, compare,                                               \
      "compare with a CSV or JSON file of an earlier run")                                         \
    X(COMPARE_VALUES, "compare-values", "NAME,NAME", TEXT, compare_values,                         \
      "also own values: a regression if they differ by more than --delta")                         \
    X(DELTA, "delta", "1", PERCENT, delta, "per cent; smaller differences count as the same")      \
    X(FAIL, "fail-on-regression", "", FLAG, fail_on_regression,                                    \
      "exit code 1 if a row is slower than in --compare, or no longer ok")                         \
    X(EXPECT, "expect", "'a>=0.9*b'", OWN, full,                                                   \
      "exit code 1 if rows miss it; 'max(copy)>=0.85peak'; may be repeated")                       \
    X(OUTLIER, "fail-on-outlier", "", FLAG, fail_on_outlier,                                       \
      "exit code 1 if one of several devices is slower by more than --delta")                      \
    X(PROCESSES, "processes", "5", OWN, processes,                                                 \
      "run the program so many times, to see how processes differ")                                \
    X(SPREAD, "spread", "2", PERCENT, spread,                                                      \
      "standard deviation between processes, per cent, where fewer than 5 ran")                    \
    X(HELP, "help", "", OWN, full, "this text")                                                    \
    X(EXPLAIN, "explain", "noisy", OWN, full,                                                      \
      "what a flag means, what to do; all: of each; nodes: what rows launch")                      \
    X(VERSION, "version", "", OWN, full, "version of gpumb")

#define GPUMBI_OPTION_ENUM(id, name, example, kind, member, help) GPUMBI_OPTION_##id,
typedef enum gpumbi_option {
    GPUMBI_OPTION_LIST(GPUMBI_OPTION_ENUM) GPUMBI_OPTION_COUNT
} gpumbi_option;
#undef GPUMBI_OPTION_ENUM

static const struct {
    const char *name, *example, *help;
    unsigned short at, kind;
} gpumbi_options[] = {
#define GPUMBI_OPTION_ENTRY(id, name, example, kind, member, help)                                 \
    {name, example, help, offsetof(gpumb_settings, member), GPUMBI_VALUE_##kind},
    GPUMBI_OPTION_LIST(GPUMBI_OPTION_ENTRY)
#undef GPUMBI_OPTION_ENTRY
};

/* The headings of --help, each before the option named. */
static const struct {
    gpumbi_option before;
    const char *title;
} gpumbi_option_groups[] = {{GPUMBI_OPTION_LIST, "What runs"},
                            {GPUMBI_OPTION_PRECISION, "How it is measured"},
                            {GPUMBI_OPTION_CSV, "What is written"},
                            {GPUMBI_OPTION_COMPARE, "What it is compared with"},
                            {GPUMBI_OPTION_HELP, "Explanations"}};

GPUMB_API const char *gpumb_help_text(void)
{
    static char text[6000]; /* more than it takes, as tests/test_golden.cpp would show */
    text[0] = 0;
    for (int i = 0, group = 0; i < GPUMBI_OPTION_COUNT; i++) {
        char option[40];
        if (group < 5 && i == (int)gpumbi_option_groups[group].before)
            gpumbi_append(text, sizeof text, "%s:\n", gpumbi_option_groups[group++].title);
        gpumbi_format(option, sizeof option, "--%s%s%s", gpumbi_options[i].name,
                      gpumbi_options[i].example[0] == '[' ? "" : " ", gpumbi_options[i].example);
        gpumbi_append(text, sizeof text, "  %-26s %s\n", option, gpumbi_options[i].help);
    }
    gpumbi_append(
        text, sizeof text,
        "Integers may end in k M G Ki Mi Gi or be 2^k. Options may be written --name=value.\n"
        "Exit codes: 0 all well, 1 a check or a launch failed, nothing measured, --expect missed,\n"
        "regression with --fail-on-regression, 2 bad usage, 3 no device, 4 device, memory or "
        "output\nerror, 129 hung up, 130 interrupted, 143 terminated.\n");
    return text;
}

static inline void gpumbi_bad_value(gpumb *g, gpumbi_option option, const char *value,
                                    const char *what)
{
    gpumbi_end(g, GPUMB_EXIT_USAGE, "--%s %s: %s; for example --%s %s", gpumbi_options[option].name,
               value, what, gpumbi_options[option].name, gpumbi_options[option].example);
}

static inline double gpumbi_number_option(gpumb *g, gpumbi_option option, const char *value,
                                          int zero)
{
    double number = 0;
    if (!gpumbi_read_number(value, &number))
        gpumbi_bad_value(g, option, value, "is not a number");
    else if (number < 0 || (number == 0 && !zero))
        gpumbi_bad_value(g, option, value, zero ? "must be 0 or more" : "must be more than 0");
    return number;
}

/* `wrong`: the message for values outside `least` ... `most`. */
static inline uint64_t gpumbi_integer_option(gpumb *g, gpumbi_option option, const char *value,
                                             uint64_t least, uint64_t most, const char *wrong)
{
    int64_t number = 0;
    const char *end = gpumbi_read_integer(value, &number);
    char *rest; /* more than an int64_t holds? */
    errno = 0;
    const uint64_t large = strtoull(value, &rest, 10);
    const int fits = end && !*end && number >= 0;
    const uint64_t result = fits ? (uint64_t)number : large;
    if (!fits && (value[0] < '0' || value[0] > '9' || *rest || errno))
        gpumbi_bad_value(g, option, value, "is not an integer from 0 to 2^64 - 1");
    else if (result < least || result > most)
        gpumbi_bad_value(g, option, value, wrong);
    return g->done ? least : result;
}

/* --explain: prints what a flag, or each of them ("all"), means. */
static inline void gpumbi_explain(gpumb *g, gpumbi_option option, const char *name)
{
    static const char *const flag[][3] = {
#define GPUMBI_FLAG_TEXT(name, text, meaning, advice) {text, meaning, advice},
        GPUMB_FLAGS(GPUMBI_FLAG_TEXT)
#undef GPUMBI_FLAG_TEXT
    };
    char names[300] = "is no flag; there are";
    int found = 0;
    if (!strcmp(name, "nodes")) {
        gpumbi_table_shows_nodes(g);
        return;
    }
    for (int i = 0; i < GPUMBI_FLAG_COUNT; i++) {
        gpumbi_append(names, sizeof names, " %s", flag[i][0]);
        if (!strcmp(name, flag[i][0]) || !strcmp(name, "all")) {
            printf("%s%s: %s.\n%s\n", found ? "\n" : "", flag[i][0], flag[i][1], flag[i][2]);
            found = 1;
        }
    }
    if (!found)
        gpumbi_bad_value(g, option, name, names);
    gpumbi_said(g);
}

/* What options do that take more than to fill a member. */

static inline void gpumbi_help_option(gpumb *g, gpumbi_option option, const char *value)
{
    (void)value;
    if (option == GPUMBI_OPTION_LIST) {
        g->options.lists = 1;
        return;
    }
    if (option == GPUMBI_OPTION_VERSION) {
        puts("gpumb " GPUMB_VERSION);
    } else {
        gpumbi_print(stdout, "usage: %s [options]\n", g->program);
        fputs(gpumb_help_text(), stdout);
    }
    gpumbi_said(g);
}

static inline void gpumbi_expect_option(gpumb *g, gpumbi_option option, const char *value)
{
    const char *wrong = gpumbi_expect_add(g, value);
    (void)option;
    if (wrong)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--expect '%s': %s; for example --expect 'max(copy[elem=16])>=0.85peak' or "
                   "--expect 'mine>=0.9*zcopy'",
                   value, wrong);
}

static inline void gpumbi_filter_option(gpumb *g, gpumbi_option option, const char *value)
{
    if (g->options.filters == GPUMBI_OPTIONS)
        gpumbi_bad_value(g, option, value, "is one filter too many");
    else
        g->options.filter[g->options.filters++] = value;
}

static inline void gpumbi_axis_option(gpumb *g, gpumbi_option option, const char *value)
{
    const size_t name = strcspn(value, "=") + 1;
    if (g->options.axes == GPUMBI_OPTIONS)
        gpumbi_bad_value(g, option, value, "is one axis too many");
    else if (!strchr(value, '=') || value[0] == '=' || !value[name])
        gpumbi_bad_value(g, option, value, "is not name=values");
    for (int i = 0; i < g->options.axes && !g->done; i++)
        if (!strncmp(g->options.axis[i], value, name) && strcmp(g->options.axis[i], value))
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--axis %s: there is --axis %s before it; give all values in one, for "
                       "example --axis block=64,128",
                       value, g->options.axis[i]);
    if (!g->done)
        g->options.axis[g->options.axes++] = value;
}

static inline void gpumbi_device_option(gpumb *g, gpumbi_option option, const char *value)
{
    gpumb_settings *s = &g->settings;
    const int all = !strcmp(value, "all"), several = all || strchr(value, ',');
    s->devices = several ? value : NULL;
    if (several && !all &&
        (value[strspn(value, "0123456789,")] || strstr(value, ",,") || value[0] == ',' ||
         value[strlen(value) - 1] == ','))
        gpumbi_bad_value(g, option, value, "must be numbers between commas, or all");
    if (!several)
        s->device = (int)gpumbi_integer_option(g, option, value, 0, INT_MAX, "is too large");
}

static inline void gpumbi_samples_option(gpumb *g, gpumbi_option option, const char *value)
{
    int64_t least = 0, most = 0;
    const char *end = gpumbi_read_integer(value, &least);
    end = end && *end == ':' ? gpumbi_read_integer(end + 1, &most) : NULL;
    if (!end || *end || least < 1 || most < least || most > 10000000)
        gpumbi_bad_value(g, option, value, "is not least:most with 1 <= least <= most <= 10M");
    g->settings.min_samples = (uint64_t)least;
    g->settings.max_samples = (uint64_t)most;
}

static inline void gpumbi_profile_option(gpumb *g, gpumbi_option option, const char *value)
{
    int64_t runs = 1;
    const char *end = gpumbi_read_integer(value, &runs);
    (void)option;
    if (!end || *end || runs < 1 || runs > 1000000)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--profile=%s: is not 1 to 1M runs; for example --profile=2", value);
    g->settings.profile = (int)(runs % 1000001);
}

static inline void gpumbi_seconds_option(gpumb *g, gpumbi_option option, const char *value)
{
    const double seconds = gpumbi_number_option(g, option, value, 1);
    *(option == GPUMBI_OPTION_LEAST ? &g->settings.least_s : &g->settings.warmup_s) =
        seconds > 0 ? seconds : -1;
}

static inline void gpumbi_size_option(gpumb *g, gpumbi_option option, const char *value)
{
    const int full = option == GPUMBI_OPTION_FULL ? 1 : -1;
    (void)value;
    if (g->settings.full && g->settings.full != full)
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--quick and --full: choose one; for example --full");
    g->settings.full = full;
}

static inline void gpumbi_whole_option(gpumb *g, gpumbi_option option, const char *value)
{
    const int seed = option == GPUMBI_OPTION_SEED;
    const uint64_t number = gpumbi_integer_option(g, option, value, 1, seed ? UINT64_MAX : 100,
                                                  seed ? "must be 1 or more" : "must be 1 to 100");
    if (seed)
        g->settings.seed = number;
    else
        g->settings.processes = (int)number;
}

static const struct {
    gpumbi_option option;
    void (*take)(gpumb *g, gpumbi_option option, const char *value);
} gpumbi_own_options[] = {
    {GPUMBI_OPTION_LIST, gpumbi_help_option},       {GPUMBI_OPTION_FILTER, gpumbi_filter_option},
    {GPUMBI_OPTION_AXIS, gpumbi_axis_option},       {GPUMBI_OPTION_QUICK, gpumbi_size_option},
    {GPUMBI_OPTION_FULL, gpumbi_size_option},       {GPUMBI_OPTION_SEED, gpumbi_whole_option},
    {GPUMBI_OPTION_DEVICE, gpumbi_device_option},   {GPUMBI_OPTION_SAMPLES, gpumbi_samples_option},
    {GPUMBI_OPTION_WARMUP, gpumbi_seconds_option},  {GPUMBI_OPTION_LEAST, gpumbi_seconds_option},
    {GPUMBI_OPTION_PROFILE, gpumbi_profile_option}, {GPUMBI_OPTION_EXPECT, gpumbi_expect_option},
    {GPUMBI_OPTION_PROCESSES, gpumbi_whole_option}, {GPUMBI_OPTION_HELP, gpumbi_help_option},
    {GPUMBI_OPTION_EXPLAIN, gpumbi_explain},        {GPUMBI_OPTION_VERSION, gpumbi_help_option}};

static inline void gpumbi_one_option(gpumb *g, gpumbi_option option, const char *value)
{
    const int kind = gpumbi_options[option].kind, yes = 1;
    void *const member = (char *)&g->settings + gpumbi_options[option].at;
    if (kind == GPUMBI_VALUE_FLAG)
        memcpy(member, &yes, sizeof yes);
    if (kind == GPUMBI_VALUE_TEXT)
        memcpy(member, &value, sizeof value);
    if (kind >= GPUMBI_VALUE_POSITIVE) {
        double number = gpumbi_number_option(g, option, value, 0);
        number /= kind == GPUMBI_VALUE_PERCENT ? 100 : 1;
        memcpy(member, &number, sizeof number);
    }
    for (size_t i = 0; i < sizeof gpumbi_own_options / sizeof gpumbi_own_options[0]; i++)
        if (gpumbi_own_options[i].option == option)
            gpumbi_own_options[i].take(g, option, value);
}

/* Of two values for an option that takes one, neither is chosen silently. */
static inline void gpumbi_one_value(gpumb *g, gpumbi_option option, const char **given,
                                    const char *value)
{
    if (*given && strcmp(*given, value) && option != GPUMBI_OPTION_FILTER &&
        option != GPUMBI_OPTION_AXIS && option != GPUMBI_OPTION_EXPECT)
        gpumbi_end(g, GPUMB_EXIT_USAGE, "--%s %s: there is --%s %s before it; choose one",
                   gpumbi_options[option].name, value, gpumbi_options[option].name, *given);
    *given = value;
    if (!g->done)
        gpumbi_one_option(g, option, value);
}

/* Takes what gpumb knows. The rest is the program's: it goes to `own`, or is an error where that is
 * NULL. Returns how much that is, the program's name included. */
static inline int gpumbi_parse_options(gpumb *g, int argc, char **argv, char **own)
{
    const char *given[GPUMBI_OPTION_COUNT] = {NULL};
    int i = 1, kept = argc > 0;
    for (; i < argc && argv[i] && !g->done; i++) {
        char name[64] = "";
        const char *word = argv[i], *value = gpumbi_split(word, '=', name, sizeof name);
        int option = 0;
        if (value && value[-1] != '=')
            value = NULL;
        while (option < GPUMBI_OPTION_COUNT &&
               (strncmp(name, "--", 2) || strcmp(name + 2, gpumbi_options[option].name)))
            option++;
        if (!strcmp(word, "-h"))
            option = GPUMBI_OPTION_HELP;
        const char *example = gpumbi_options[option % GPUMBI_OPTION_COUNT].example;
        if (option == GPUMBI_OPTION_COUNT && own && strcmp(word, "--")) {
            own[kept++] = argv[i];
        } else if (option == GPUMBI_OPTION_COUNT && own) {
            i++;
            break;
        } else if (option == GPUMBI_OPTION_COUNT) {
            gpumbi_end(g, GPUMB_EXIT_USAGE, "%s: no such option; see --help", word);
        } else if (!example[0] && value) {
            gpumbi_end(g, GPUMB_EXIT_USAGE, "%s: takes no value; for example %s", word, name);
        } else if (value) {
            gpumbi_one_value(g, (gpumbi_option)option, &given[option], value);
        } else if (!example[0] || example[0] == '[') {
            gpumbi_one_option(g, (gpumbi_option)option, "1");
        } else if (i + 1 < argc && argv[i + 1] && strncmp(argv[i + 1], "--", 2)) {
            gpumbi_one_value(g, (gpumbi_option)option, &given[option], argv[++i]);
        } else {
            gpumbi_end(g, GPUMB_EXIT_USAGE, "%s: needs a value; for example %s %s", name, name,
                       example);
        }
    }
    while (i < argc && own)
        own[kept++] = argv[i++];
    return kept;
}

/* Takes the options, and notes what they and the program's own arguments say of what is measured.
 * Returns as gpumbi_parse_options(). */
static inline int gpumbi_options_open(gpumb *g, int argc, char **argv, char **own)
{
    g->options.argc = argc;
    g->options.argv = argv;
    const int count = g->done ? 0 : gpumbi_parse_options(g, argc, argv, own);
    char *text = g->options.arguments; /* with a blank before each, the first of which goes */
    for (int i = 0; i < g->options.filters; i++)
        gpumbi_append(text, sizeof g->options.arguments, " --filter %s", g->options.filter[i]);
    for (int i = 0; i < g->options.axes; i++)
        gpumbi_append(text, sizeof g->options.arguments, " --axis %s", g->options.axis[i]);
    for (int i = 1; own && i < count; i++)
        gpumbi_append(text, sizeof g->options.arguments, " %s", own[i]);
    gpumbi_copy_text(text, sizeof g->options.arguments, text + (text[0] != 0));
    return count;
}

/* A profiler is given no times: options that ask for some are refused. */
static inline void gpumbi_judge_profile(gpumb *g)
{
    const gpumb_settings *s = &g->settings;
    for (int i = 0; i < GPUMBI_OPTION_COUNT && s->profile; i++) {
        const char *text = NULL;
        if (gpumbi_options[i].kind == GPUMBI_VALUE_TEXT)
            memcpy(&text, (const char *)s + gpumbi_options[i].at, sizeof text);
        if (text || (i == GPUMBI_OPTION_PROCESSES && s->processes > 1))
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "--profile takes no times, which --%s is for: leave one out",
                       gpumbi_options[i].name);
    }
}

/* ================================================================================================
 * PROGRAM
 *
 * Owns g->benchmarks. Opens contexts that have a command line or settings, with all tools, and runs
 * several benchmarks.
 */

/* Nothing has got past the filters, if there are any. */
static inline void gpumbi_filters_missed(gpumb *g, const char *example)
{
    if (g->options.filters)
        gpumbi_end(g, GPUMB_EXIT_USAGE,
                   "--filter %s: nothing has that in its name; for example --filter %s, see --list",
                   g->options.filter[0], example);
}

static inline void gpumbi_program_closing(gpumb *g)
{
    const int measures = gpumbi_working(g) && !g->options.lists;
    if (measures) {
        gpumbi_axis_options_known(g);
        if (g->selection.seen && !g->selection.matched && !g->rows.count)
            gpumbi_filters_missed(g, g->program);
    }
    if (gpumbi_working(g) && measures && g->table.file && !g->region.reached) {
        gpumbi_say("%s: nothing was measured: no GPUMB_MEASURE or GPUMB_TIME was reached",
                   g->program);
        gpumbi_mark_failed(g);
    }
}

static inline void gpumbi_program_free(gpumb *g)
{
    if (g->benchmarks.catches_signals)
        gpumbi_uncatch_signals();
}

/* All tools, in a context that a program opens. */
static inline void gpumbi_use_all(gpumb *g)
{
    GPUMBI_TOOL(tool, PROGRAM, NULL, GPUMBI_NO_REGION, GPUMBI_NO_ROWS,
                {gpumbi_program_closing, gpumbi_program_free});
    gpumbi_use(g, &tool);
    gpumbi_instruments_use(g);
    gpumbi_use(g, &gpumbi_interleave_tool);
    gpumbi_use(g, &gpumbi_kept_tool);
    gpumbi_use(g, &gpumbi_processes_tool);
    gpumbi_use(g, &gpumbi_compare_tool);
    gpumbi_use(g, &gpumbi_table_tool);
    gpumbi_use(g, &gpumbi_files_tool);
}

/* Everything after the settings are known. */
static inline void gpumbi_start(gpumb *g)
{
    const gpumb_settings *s = &g->settings;
    gpumbi_use_all(g);
    gpumbi_rates_use(g);
    gpumbi_caches_use(g);
    gpumbi_files_begin(g);
    gpumbi_report_to_parent(g);
    gpumbi_register(g);
    if (!g->options.lists)
        gpumbi_replay_open(g);
    gpumbi_complete_settings(&g->settings);
    gpumbi_strict_open(g);
    const gpumbi_record *replayed = g->kept.rows && !g->done ? g->kept.rows->rows : NULL;
    gpumbi_files_settings(g, replayed ? replayed->text[GPUMBI_COLUMN_settings] : NULL);
    const int measures = !g->options.lists;
    if (measures) {
        gpumbi_judge_profile(g);
        gpumbi_compare_open(g);
    }
    const int to_stdout = !g->done && measures && gpumbi_sinks_open(g);
    gpumbi_table_open(g, s->quiet ? NULL : to_stdout ? stderr : stdout);
    g->benchmarks.catches_signals = !g->done && measures && !s->quiet && !s->no_signals;
    if (g->benchmarks.catches_signals)
        gpumbi_catch_signals();
    if (!g->done && measures && (s->devices || s->processes > 1))
        gpumbi_run_children(g);
    if (gpumbi_working(g) && !g->kept.measures_nothing)
        gpumbi_open_device(g);
    if (!g->done && measures && !s->profile && !g->kept.measures_nothing) {
        if (gpumbi_profiler_runs() && g->table.file && !gpumbi_is_cpu(g))
            gpumbi_say("runs under a profiler or checker, which is in all of its times and sees "
                       "thousands of launches: --profile runs each region once for it");
        gpumbi_calibrate(g);
    }
    if (!g->done)
        gpumbi_compare_origin(g);
    if (!g->done && measures)
        gpumbi_resume_open(g);
}

/* Leaves the program's arguments in argv, *own of them, or refuses them where `own` is NULL. Other
 * processes are started before that, with all arguments. */
static inline gpumb *gpumbi_open_sharing(int argc, char **argv, int *own)
{
    argc = argv ? argc : 0;
    gpumb *g = gpumbi_new(argc > 0 ? argv[0] : NULL);
    const size_t bytes = (size_t)argc * sizeof *argv;
    char **kept = own && bytes ? (char **)gpumbi_allocate(g, bytes) : NULL;
    const int count = gpumbi_options_open(g, argc, argv, kept);
    gpumbi_start(g);
    if (kept && count) {
        memcpy(argv + 1, kept + 1, (size_t)(count - 1) * sizeof *argv);
        memset(argv + count, 0, (size_t)(argc - count) * sizeof *argv);
        *own = count;
    }
    gpumbi_free(kept);
    return g;
}

GPUMB_API gpumb *gpumb_open(int argc, char **argv)
{
    return gpumbi_open_sharing(argc, argv, NULL);
}

GPUMB_API gpumb *gpumb_open_args(int *argc, char **argv)
{
    return gpumbi_open_sharing(argc ? *argc : 0, argv, argc);
}

GPUMB_API gpumb *gpumb_open_settings(const char *program, const gpumb_settings *settings)
{
    gpumb *g = gpumbi_new(program);
    const size_t size = settings && settings->size ? settings->size : sizeof *settings;
    if (settings)
        memcpy(&g->settings, settings, size < sizeof *settings ? size : sizeof *settings);
    for (size_t i = sizeof *settings; settings && i < size; i++)
        if (((const char *)settings)[i])
            gpumbi_end(g, GPUMB_EXIT_USAGE,
                       "gpumb_open_settings: byte %llu of the settings is set, gpumb %s knows %llu "
                       "bytes of them: use a newer library",
                       (unsigned long long)i, GPUMB_VERSION, (unsigned long long)sizeof *settings);
    gpumbi_start(g);
    return g;
}

static inline void gpumbi_run_benchmark(gpumb *g, const gpumb_benchmark *benchmark)
{
    gpumbi_copy_text(g->bench, sizeof g->bench, benchmark->name);
    gpumbi_set_scope(g, 1);
    gpumbi_forget_fill(g);
    gpumbi_rows_benchmark(g);
    gpumbi_next_region(g);
    gpumbi_benchmark_runs(g, 1);
    benchmark->run(g);
    gpumbi_benchmark_runs(g, 0);
    gpumbi_leave_body(g);
    gpumbi_interleave_left(g);
    gpumbi_close_sweeps(g);
    gpumbi_free_scope(g, 1);
    gpumbi_set_scope(g, 0);
}

GPUMB_API int gpumb_run(gpumb *g, const gpumb_benchmark *list, size_t count)
{
    g = gpumbi_context(g);
    gpumbi_use(g, &gpumbi_sweeps_tool);
    unsigned char *chosen = g->done ? NULL : (unsigned char *)gpumbi_allocate(g, count + 1);
    gpumbi_walk(g, 1);
    g->benchmarks.by_main = 1;
    for (size_t i = 0; i < count && gpumbi_working(g); i++) {
        if (!list || !list[i].name || !list[i].run) {
            gpumbi_end(g, GPUMB_EXIT_USAGE, "benchmark %llu in the list has %s",
                       (unsigned long long)i + 1,
                       list && list[i].name ? "no function to run" : "no name");
            break;
        }
        const gpumbi_walked before = gpumbi_benchmark_begin(g, &list[i]);
        gpumbi_run_benchmark(g, &list[i]);
        chosen[i] = (unsigned char)gpumbi_benchmark_chosen(g, &before);
    }
    gpumbi_walk(g, 0);
    if (gpumbi_working(g) && gpumbi_axis_options_known(g) && !g->selection.matched)
        gpumbi_filters_missed(g, count ? list[0].name : "NAME");
    for (size_t i = 0; i < count && gpumbi_working(g) && !g->options.lists; i++)
        if (chosen[i])
            gpumbi_run_benchmark(g, &list[i]);
    gpumbi_free(chosen);
    return gpumb_close(g);
}

GPUMB_API int gpumb_main(int argc, char **argv, const gpumb_benchmark *list, size_t count)
{
    return gpumb_run(gpumb_open(argc, argv), list, count);
}

/* ================================================================================================
 * WITHOUT MACROS
 *
 * Keeps no state: the macros' loops as functions, which other languages can call.
 */
#if !defined(GPUMB_STATIC)

GPUMB_API const char *gpumb_version(void)
{
    return GPUMB_VERSION;
}

GPUMB_API void gpumb_abandon(gpumb *g)
{
    g = gpumbi_context(g);
    gpumbi_next_region(g);
    if (!g->region.active && !g->interleave.open && !g->sweep.here.depth)
        return;
    gpumbi_say("%s: abandoned: rows that are not finished are dropped", g->bench);
    gpumbi_leave_region(g);
    gpumbi_interleave_free(g);
    gpumbi_end_sweeps(g, 0);
    gpumbi_mark_failed(g);
}

GPUMB_API int gpumb_run_region(gpumb *g, const char *name, gpumb_body body, void *user)
{
    int code = 0;
    g = gpumbi_context(g);
    GPUMB_MEASURE(g, name) {
        code = code || !body ? code : body(g, user);
        if (code && !*gpumbi_trouble(g))
            gpumb_skip(g, "its body returned %d", code);
        if (code && g->region.active && gpumbi_captured(g->region.active))
            code = 0; /* outside of a capture it may run */
    }
    return code;
}

GPUMB_API int gpumb_run_interleave(gpumb *g, gpumb_body body, void *user)
{
    int code = 0;
    for (g = gpumbi_interleave_begin(g); !code && gpumbi_interleave_next(g);)
        code = body ? body(g, user) : 0;
    if (code)
        gpumb_abandon(g);
    return code;
}

/* Macros make a name of their argument; here it may be missing, which ends the context. */
static inline int gpumbi_has_name(gpumb *g, const char *axis)
{
    if (axis && axis[0])
        return 1;
    gpumbi_end(gpumbi_context(g), GPUMB_EXIT_ERROR, "gpumb_run_sweep: its axis has no name");
    return 0;
}

/* Either body; the axis is of reals if `real` is there. */
static inline int gpumbi_run_axis(gpumb_axis *a, gpumb_value_body body, gpumb_real_body real,
                                  void *user)
{
    gpumb *const g = a->owner;
    int code = 0;
    while (!code && gpumbi_sweep_next(a))
        code = real   ? real(g, gpumbi_sweep_real(a), user)
               : body ? body(g, gpumbi_sweep_value(a), user)
                      : 0;
    if (code)
        gpumb_abandon(g);
    return code;
}

GPUMB_API int gpumb_run_sweep(gpumb *g, const char *axis, const int64_t *values, size_t count,
                              gpumb_value_body body, void *user)
{
    return gpumbi_has_name(g, axis)
               ? gpumbi_run_axis(gpumbi_sweep_list(g, axis, values, count), body, NULL, user)
               : GPUMB_EXIT_ERROR;
}

GPUMB_API int gpumb_run_sweep_reals(gpumb *g, const char *axis, const double *values, size_t count,
                                    gpumb_real_body body, void *user)
{
    return gpumbi_has_name(g, axis)
               ? gpumbi_run_axis(gpumbi_sweep_reals(g, axis, values, count), NULL, body, user)
               : GPUMB_EXIT_ERROR;
}

GPUMB_API int gpumb_run_sweep_names(gpumb *g, const char *axis, const char *const *names,
                                    size_t count, gpumb_value_body body, void *user)
{
    return gpumbi_has_name(g, axis)
               ? gpumbi_run_axis(gpumbi_sweep_names(g, axis, names, count), body, NULL, user)
               : GPUMB_EXIT_ERROR;
}

GPUMB_API void gpumb_skip_text(gpumb *g, const char *text)
{
    gpumb_skip(g, text ? "%s" : NULL, text);
}

GPUMB_API void gpumb_reason_text(gpumb *g, const char *text)
{
    gpumb_reason(g, text ? "%s" : NULL, text);
}

GPUMB_API void gpumb_note_text(gpumb *g, const char *text)
{
    if (text)
        gpumb_note(g, "%s", text);
}

GPUMB_API int gpumb_row_text(gpumb *g, size_t row, const char *column, char *text, size_t size)
{
    gpumbi_line line;
    gpumbi_number number;
    char cell[GPUMBI_CELL];
    g = gpumbi_context(g);
    const int known = column && column[0] && row < gpumb_row_count(g);
    const char *found = known ? gpumbi_row_cell(g, g->rows.at[row], column, &line, cell) : NULL;
    for (int c = 0; c < g->columns.count && known && !found; c++)
        if (!strcmp(g->columns.name[c], column))
            found = gpumbi_column_text(g->rows.at[row], c, 0, &number);
    if (text && size)
        gpumbi_copy_text(text, size, found);
    return found ? (int)strlen(found) : -1;
}

GPUMB_API const char *gpumb_column_name(gpumb *g, size_t column)
{
    g = gpumbi_context(g);
    if (column < GPUMBI_COLUMNS_FIXED)
        return gpumbi_row_fields[column].name;
    column -= GPUMBI_COLUMNS_FIXED;
    return column < (size_t)g->columns.count ? g->columns.name[column] : NULL;
}

GPUMB_API int gpumb_row_line(gpumb *g, size_t row, char *text, size_t size)
{
    char line[GPUMBI_SENTENCE] = "";
    const gpumb_result *r = gpumb_row(g, row);
    if (r)
        gpumbi_sentence(r, line);
    if (text && size)
        gpumbi_copy_text(text, size, line);
    return r ? (int)strlen(line) : -1;
}

GPUMB_API const double *gpumb_row_samples(gpumb *g, size_t row, uint64_t *count)
{
    g = gpumbi_context(g);
    const gpumbi_row *r = row < gpumb_row_count(g) ? g->rows.at[row] : NULL;
    const int has = r && r->samples && r->result.time.count;
    if (count)
        *count = has ? r->result.time.count : 0;
    return has ? r->samples : NULL;
}

GPUMB_API int gpumb_row_copy(gpumb *g, size_t row, gpumb_result *result, size_t size)
{
    const gpumb_result *r = gpumb_row(g, row);
    if (!r || !result || size > 65536)
        return -1;
    memset(result, 0, size);
    memcpy(result, r, size < sizeof *r ? size : sizeof *r);
    return 0;
}

#endif /* GPUMB_STATIC */

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* host pass */

/* ================================================================================================
 * COALESCING
 *
 * Keeps no state: arithmetic on addresses.
 */
#if !defined(GPUMBI_DEVICE_PASS) && (!defined(GPUMB_STATIC) || defined(GPUMB_COALESCING))

enum { GPUMBI_MODEL_LANES = 64, GPUMBI_MODEL_BYTES = 4096 }; /* more than any device has */

/* Distinct pieces of `size` bytes that the lanes touch: a lane counts those that no lane before it
 * has. */
static inline uint64_t gpumbi_pieces(const uint64_t *address, int lanes, uint64_t elem,
                                     uint64_t size)
{
    uint64_t pieces = 0;
    for (int lane = 0; lane < lanes; lane++) {
        const uint64_t first = address[lane] / size;
        const uint64_t count = (address[lane] % size + elem - 1) / size + 1;
        for (uint64_t p = first; p - first < count; p++) {
            int known = 0;
            for (int other = 0; other < lane && !known; other++)
                known = p - address[other] / size <= (address[other] % size + elem - 1) / size;
            pieces += !known;
        }
    }
    return pieces;
}

GPUMB_API gpumb_coalescing gpumb_coalesce(const uint64_t *address, int lanes, int elem, int sector,
                                          int line)
{
    gpumb_coalescing c = {0, 0, 0, 0};
    if (!address || lanes < 1 || elem < 1 || elem > GPUMBI_MODEL_BYTES || sector < 1 || line < 1)
        return c;
    c.bytes = gpumbi_pieces(address, lanes, (uint64_t)elem, 1);
    c.sectors = gpumbi_pieces(address, lanes, (uint64_t)elem, (uint64_t)sector);
    c.lines = gpumbi_pieces(address, lanes, (uint64_t)elem, (uint64_t)line);
    c.efficiency = (double)c.bytes / ((double)c.sectors * sector);
    return c;
}

static inline void gpumbi_coalesce_add(gpumb_coalescing *sum, const uint64_t *address, int lanes,
                                       int elem, int sector, int line, uint64_t times)
{
    const gpumb_coalescing c = gpumb_coalesce(address, lanes, elem, sector, line);
    sum->bytes += times * c.bytes;
    sum->sectors += times * c.sectors;
    sum->lines += times * c.lines;
    sum->efficiency = sum->sectors ? (double)sum->bytes / ((double)sum->sectors * sector) : 0;
}

static inline uint64_t gpumbi_greatest_divisor(uint64_t a, uint64_t b) /* Euclid */
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* After how many steps of `step` bytes addresses lie in sectors and lines as they did at first. */
static inline uint64_t gpumbi_alignment_period(uint64_t step, int sector, int line)
{
    const uint64_t a = (uint64_t)sector, b = (uint64_t)line;
    const uint64_t both = a / gpumbi_greatest_divisor(a, b) * b;
    return both > GPUMBI_MODEL_BYTES ? 0 : both / gpumbi_greatest_divisor(step, both);
}

GPUMB_API gpumb_coalescing gpumb_coalesce_strided(int elem, uint64_t stride, uint64_t offset,
                                                  int warp, int sector, int line)
{
    gpumb_coalescing sum = {0, 0, 0, 0};
    uint64_t address[GPUMBI_MODEL_LANES];
    if (elem < 1 || warp < 1 || warp > GPUMBI_MODEL_LANES || sector < 1 || line < 1)
        return sum;
    const uint64_t step = stride * (uint64_t)elem, lanes = (uint64_t)warp;
    const uint64_t warps = step ? gpumbi_alignment_period(step * lanes, sector, line) : 1;
    for (uint64_t w = 0; w < warps; w++) {
        for (uint64_t lane = 0; lane < lanes; lane++)
            address[lane] = offset * (uint64_t)elem + (w * lanes + lane) * step;
        gpumbi_coalesce_add(&sum, address, warp, elem, sector, line, 1);
    }
    return sum;
}

GPUMB_API gpumb_coalescing gpumb_coalesce_subdomains(int elem, int block, int lanes, int iterations,
                                                     int warp, int sector, int line)
{
    gpumb_coalescing sum = {0, 0, 0, 0};
    uint64_t address[GPUMBI_MODEL_LANES];
    if (elem < 1 || warp < 1 || warp > GPUMBI_MODEL_LANES || sector < 1 || line < 1 || lanes < 1 ||
        iterations < 1 || block < 1 || block > GPUMBI_MODEL_BYTES || block % lanes)
        return sum;
    const uint64_t all = (uint64_t)iterations, elements = (uint64_t)block * all;
    const uint64_t blocks = gpumbi_alignment_period(elements * (uint64_t)elem, sector, line);
    const uint64_t period = gpumbi_alignment_period((uint64_t)lanes * (uint64_t)elem, sector, line);
    for (uint64_t b = 0; b < blocks; b++)
        for (int first = 0; first < block; first += warp)
            for (uint64_t i = 0; i < all && i < period; i++) {
                const int count = block - first < warp ? block - first : warp;
                for (int k = 0; k < count; k++) {
                    const int group = (first + k) / lanes, lane = (first + k) % lanes;
                    address[k] = (b * elements + ((uint64_t)group * all + i) * (uint64_t)lanes +
                                  (uint64_t)lane) *
                                 (uint64_t)elem;
                }
                gpumbi_coalesce_add(&sum, address, count, elem, sector, line,
                                    (all - i + period - 1) / period);
            }
    return sum;
}

#endif /* host pass */

/* ================================================================================================
 * KERNEL FAMILIES
 *
 * Keep no state. First the device code, which is all that the compiler's device pass sees of them;
 * then the functions that launch it. Each family is compiled only on request: its kernels are
 * templates over what must be known at compile time, instantiated by the lists of its macros.
 */
#if defined(GPUMB_BACKEND_CPU) /* there the kernels are host code */
GPUMBI_OPTIMIZED
#endif

#if defined(__cplusplus) && !defined(GPUMB_NO_KERNELS)

/* ---- what they share ------------------------------------------------------------------------- */

/* The first `lanes` lanes of a warp, as a mask. */
#if defined(GPUMB_BACKEND_CPU)
#define GPUMBI_FIRST(lanes) ((lanes) < 64 ? (1ull << (lanes)) - 1 : ~0ull)
#else
#define GPUMBI_FIRST(lanes) ((unsigned)((lanes) < 64 ? (1ull << (lanes)) - 1 : ~0ull))
#endif
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define GPUMBI_SYNC_WARP() __threadfence_block() /* a wavefront runs in step */
#else
#define GPUMBI_SYNC_WARP() __syncwarp()
#endif

/* What a warp's integers come to, in one instruction; clang before 17 has no name for it. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && (!defined(__clang__) || __clang_major__ >= 17)
#define GPUMBI_REDUX
#endif

/* For the loop that follows. A loop that is not unrolled also compiles in less time. */
#if defined(GPUMB_BACKEND_CPU)
#define GPUMBI_UNROLL
#define GPUMBI_NO_UNROLL
#elif defined(_MSC_VER)
#define GPUMBI_UNROLL __pragma(unroll)
#define GPUMBI_NO_UNROLL __pragma(unroll 1)
#else
#define GPUMBI_UNROLL _Pragma("unroll")
#define GPUMBI_NO_UNROLL _Pragma("unroll 1")
#endif

/* ---- copy and zcopy: each in a form that reads like the formula, and in a fastest one -------- */

/* What a write-only kernel writes: 32 bits that tell where they belong. */
static __host__ __device__ __forceinline__ uint32_t gpumbi_write_word(uint64_t w)
{
    return (uint32_t)w * UINT32_C(0x9e3779b1) + (uint32_t)(w >> 32) + 1;
}

#if defined(GPUMB_COPY)

typedef struct gpumbi_32_bytes {
    uint4 low, high;
} gpumbi_32_bytes;

#define GPUMBI_COPY_ELEMENTS(X) X(1, unsigned char) X(2, unsigned short) GPUMBI_ZCOPY_ELEMENTS(X)
#define GPUMBI_ZCOPY_ELEMENTS(X) X(4, unsigned) X(8, uint2) X(16, uint4) X(32, gpumbi_32_bytes)

/* Copy: each thread moves one element. Expect the rate to rise with the element's size until one
 * warp's load fills whole lines and enough bytes are in flight: 16 bytes reach the rate of the
 * vendor's Memcpy, 4 bytes about 60 % of it (H200). 32 bytes are two loads with a gap between the
 * lanes' addresses, and slower again. */
#define GPUMBI_COPY_KERNEL(size, type)                                                             \
    static __global__ void gpumbi_copy_##size(const type *__restrict__ in, type *__restrict__ out, \
                                              uint64_t n)                                          \
    {                                                                                              \
        const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;                        \
        if (i < n)                                                                                 \
            out[i] = in[i];                                                                        \
    }
GPUMBI_COPY_ELEMENTS(GPUMBI_COPY_KERNEL)

/* A store of what nobody will read again soon. On the CPU it goes around the caches: a plain store
 * first reads the line that it overwrites, half as much traffic again. GPUs write sectors whole. */
static __device__ __forceinline__ void gpumbi_stream_store(uint4 *to, uint4 value)
{
#if defined(GPUMB_BACKEND_CPU) && defined(__SSE2__) && !defined(GPUMB_TRACE)
    __m128i bits;
    memcpy(&bits, &value, sizeof bits);
    _mm_stream_si128((__m128i *)(void *)to, bits);
#else
    *to = value;
#endif
}

/* Copy, fastest form: the same bytes in words of 16, one per thread in blocks of 128 (1024 on the
 * CPU). Blocks start in order, so that all multiprocessors work in one narrow window of memory;
 * that gains 6 % over a grid-stride loop of resident blocks (H200). The last thread copies the odd
 * bytes. */
static __global__ void gpumbi_copy_fastest(const uint4 *__restrict__ in, uint4 *__restrict__ out,
                                           uint64_t bytes)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t words = bytes / 16;
    if (i < words)
        gpumbi_stream_store(&out[i], in[i]);
    else if (i == words)
        for (uint64_t byte = words * 16; byte < bytes; byte++)
            ((unsigned char *)out)[byte] = ((const unsigned char *)in)[byte];
}

static __device__ __forceinline__ void gpumbi_write_element(unsigned *to, uint64_t i)
{
    *to = gpumbi_write_word(i);
}

static __device__ __forceinline__ void gpumbi_write_element(uint2 *to, uint64_t i)
{
    *to = make_uint2(gpumbi_write_word(2 * i), gpumbi_write_word(2 * i + 1));
}

static __device__ __forceinline__ uint4 gpumbi_write_16(uint64_t i)
{
    return make_uint4(gpumbi_write_word(4 * i), gpumbi_write_word(4 * i + 1),
                      gpumbi_write_word(4 * i + 2), gpumbi_write_word(4 * i + 3));
}

static __device__ __forceinline__ void gpumbi_write_element(uint4 *to, uint64_t i)
{
    *to = gpumbi_write_16(i);
}

static __device__ __forceinline__ void gpumbi_write_element(gpumbi_32_bytes *to, uint64_t i)
{
    to->low = gpumbi_write_16(2 * i);
    to->high = gpumbi_write_16(2 * i + 1);
}

/* The sum of an element's 4-byte words: what a read-only kernel makes of it. */
static __device__ __forceinline__ unsigned gpumbi_sum_words(unsigned x)
{
    return x;
}

static __device__ __forceinline__ unsigned gpumbi_sum_words(uint2 x)
{
    return x.x + x.y;
}

static __device__ __forceinline__ unsigned gpumbi_sum_words(uint4 x)
{
    return x.x + x.y + x.z + x.w;
}

static __device__ __forceinline__ unsigned gpumbi_sum_words(gpumbi_32_bytes x)
{
    return gpumbi_sum_words(x.low) + gpumbi_sum_words(x.high);
}

enum { GPUMBI_SUMS = 1024 };

/* Adds up what the threads of a block have read. One atomic per thread would slow down grids of
 * many short-lived threads by a third: a warp adds up first, as newer compilers for AMD also do by
 * themselves, but not those of ROCm 5. Threads of the CPU come one after the other. */
static __device__ __forceinline__ void gpumbi_add_sum(unsigned *sums, unsigned sum)
{
#if !defined(GPUMB_BACKEND_CPU) || defined(GPUMB_TRACE)
    const unsigned lane = threadIdx.x % GPUMB_WARP;
    const unsigned rest = blockDim.x - (threadIdx.x - lane); /* threads from this warp on */
    const unsigned lanes = rest < GPUMB_WARP ? rest : GPUMB_WARP;
#ifdef GPUMBI_REDUX
    sum = __reduce_add_sync(GPUMBI_FIRST(lanes), sum);
#else
    for (unsigned distance = 1; distance < GPUMB_WARP; distance *= 2) {
        const unsigned other = GPUMB_SHUFFLE_DOWN(GPUMBI_FIRST(lanes), sum, distance);
        sum += lane + distance < lanes ? other : 0;
    }
#endif
    if (lane != 0)
        return;
#endif
    atomicAdd(&sums[blockIdx.x % GPUMBI_SUMS], sum);
}

/* Zcopy: the canonical grid-stride loop. Each thread has one load in flight, so by Little's law it
 * takes many resident threads: expect a rise over blocks per multiprocessor, and the plateau only
 * where blocks are many and short-lived. */
#define GPUMBI_ZCOPY_KERNEL(size, type)                                                            \
    static __global__ void gpumbi_zcopy_##size(const type *__restrict__ in,                        \
                                               type *__restrict__ out, uint64_t n, int mode)       \
    {                                                                                              \
        if (mode == GPUMB_READ_WRITE) {                                                            \
            GPUMB_GRID_STRIDE(i, n)                                                                \
                out[i] = in[i];                                                                    \
        } else if (mode == GPUMB_WRITE) {                                                          \
            GPUMB_GRID_STRIDE(i, n)                                                                \
                gpumbi_write_element(&out[i], i);                                                  \
        } else {                                                                                   \
            unsigned sum = 0;                                                                      \
            GPUMB_GRID_STRIDE(i, n)                                                                \
                sum += gpumbi_sum_words(in[i]);                                                    \
            gpumbi_add_sum((unsigned *)(void *)out, sum);                                          \
        }                                                                                          \
    }
GPUMBI_ZCOPY_ELEMENTS(GPUMBI_ZCOPY_KERNEL)

/* Zcopy, fastest form: words of 16 bytes, and as many blocks as there are tiles, so that memory is
 * walked through in order as in the fastest copy (H200: 1.00 of Memcpy against 0.94 for resident
 * blocks). Reading needs loads in flight, not order: there each thread has four under way, one from
 * each quarter, before it adds them up, and resident blocks keep the sums at the end few. `words`
 * counts 4 bytes; the first block also sees to those that are left over. */
static __global__ void gpumbi_zcopy_fastest(const uint4 *__restrict__ in, uint4 *__restrict__ out,
                                            uint64_t words, int mode)
{
    const uint64_t n = words / 4, quarter = n / 4;
    const uint64_t done = mode == GPUMB_READ ? quarter * 16 : n * 4;
    const unsigned *from = (const unsigned *)in;
    unsigned *to = (unsigned *)out, sum = 0;
    if (mode == GPUMB_READ_WRITE) {
        GPUMB_GRID_STRIDE(i, n)
            gpumbi_stream_store(&out[i], in[i]);
    } else if (mode == GPUMB_WRITE) {
        GPUMB_GRID_STRIDE(i, n)
            gpumbi_stream_store(&out[i], gpumbi_write_16(i));
    } else {
        GPUMB_GRID_STRIDE(i, quarter) {
            const uint4 a = in[i], b = in[i + quarter], c = in[i + 2 * quarter],
                        d = in[i + 3 * quarter];
            sum += gpumbi_sum_words(a) + gpumbi_sum_words(b) + gpumbi_sum_words(c) +
                   gpumbi_sum_words(d);
        }
    }
    for (uint64_t w = done + threadIdx.x; blockIdx.x == 0 && w < words; w += blockDim.x) {
        if (mode == GPUMB_READ)
            sum += from[w];
        else
            to[w] = mode == GPUMB_WRITE ? gpumbi_write_word(w) : from[w];
    }
    if (mode == GPUMB_READ)
        gpumbi_add_sum(to, sum);
}

#endif /* GPUMB_COPY */

/* ---- strided and sub-domains: what an access pattern costs ----------------------------------- */

#if defined(GPUMB_STRIDED)
#define GPUMBI_ACCESS_ELEMENTS(X)                                                                  \
    X(1, unsigned char) X(2, unsigned short) X(4, unsigned) X(8, uint2) X(16, uint4)

/* Strided: expect the rate to fall with the sectors that a warp's load touches, until each thread
 * has one of its own; see gpumb_coalesce(). One kernel for all sizes of elements, since all threads
 * take the same branch. */
static __global__ void gpumbi_strided(const void *__restrict__ in, void *__restrict__ out,
                                      uint64_t n, uint64_t stride, int elem)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x, at = i * stride;
    if (i >= n)
        return;
    switch (elem) {
#define GPUMBI_STRIDED_MOVE(size, type)                                                            \
    case size:                                                                                     \
        ((type *)out)[at] = ((const type *)in)[at];                                                \
        break;
        GPUMBI_ACCESS_ELEMENTS(GPUMBI_STRIDED_MOVE)
    }
}

/* Sub-domains: groups of `lanes` threads, each group with consecutive elements of its own, one load
 * of a thread in flight, as in zcopy. Expect the full rate once lanes * elem fills a sector, though
 * a warp's load is in several pieces. */
template <class Type>
static __device__ __forceinline__ void gpumbi_move(const void *in, void *out, uint64_t start,
                                                   unsigned lanes, unsigned iterations)
{
    GPUMBI_NO_UNROLL
    for (unsigned i = 0; i < iterations; i++)
        ((Type *)out)[start + i * lanes] = ((const Type *)in)[start + i * lanes];
}

static __global__ void gpumbi_subdomains(const void *__restrict__ in, void *__restrict__ out,
                                         unsigned lanes, unsigned iterations, int elem)
{
    const uint64_t block_start = blockIdx.x * (uint64_t)blockDim.x * iterations;
    const unsigned group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    const uint64_t start = block_start + group * (uint64_t)lanes * iterations + lane;
    switch (elem) {
#define GPUMBI_SUBDOMAIN_MOVE(size, type)                                                          \
    case size:                                                                                     \
        gpumbi_move<type>(in, out, start, lanes, iterations);                                      \
        break;
        GPUMBI_ACCESS_ELEMENTS(GPUMBI_SUBDOMAIN_MOVE)
    }
}

/* Element by element: one that was to be moved, or poison. */
static __global__ void gpumbi_check_strided(const unsigned char *in, const unsigned char *out,
                                            uint64_t bytes, uint64_t n, uint64_t stride,
                                            uint64_t in_offset, uint64_t out_offset, unsigned elem,
                                            gpumbi_difference *found)
{
    GPUMB_GRID_STRIDE(e, (bytes + elem - 1) / elem) {
        const uint64_t i = e - out_offset;
        const int moved = e >= out_offset && i % stride == 0 && i / stride < n;
        GPUMBI_NO_UNROLL
        for (uint64_t b = 0; b < elem && e * elem + b < bytes; b++) {
            const uint64_t at = e * elem + b;
            const unsigned right =
                moved ? in[(in_offset + i) * elem + b] : GPUMB_POISON >> at % 2 * 8 & 0xff;
            if (out[at] != right) {
                atomicAdd(&found->count, 1ull);
                atomicMin(&found->first, (unsigned long long)at);
            }
        }
    }
}
#endif /* GPUMB_STRIDED */

/* ---- reductions ------------------------------------------------------------------------------ */

#if defined(GPUMB_NBODY_FORMS) || defined(GPUMB_NBODY_PAIRS)
#define GPUMBI_NBODY
#endif
#if defined(GPUMB_REDUCTIONS) || defined(GPUMBI_NBODY)
/* Loads of a thread that are in flight together. Sources name them one by one, in an array, with
 * the second between them and their use: of a plain loop's loads the compiler waits for as many at
 * a time as it likes, which differs by its version, the type and the constants. */
enum { GPUMBI_LOADS = 4 };
#if defined(__AMDGCN__)
#define GPUMBI_LOADED(x) asm volatile("" : "+v"(x[0]), "+v"(x[1]), "+v"(x[2]), "+v"(x[3]))
#else
#define GPUMBI_LOADED(x) asm volatile("" : : : "memory")
#endif

#endif

#if defined(GPUMB_REDUCTIONS)
template <class Type> static __device__ __forceinline__ Type gpumbi_add(Type a, Type b)
{
    return a + b;
}

static __device__ __forceinline__ int gpumbi_add(int a, int b) /* wraps around */
{
    return (int)((unsigned)a + (unsigned)b);
}

/* The comparison is false for a NaN: it never replaces a number. */
template <int operation, class Type>
static __device__ __forceinline__ Type gpumbi_apply(Type a, Type b)
{
    if (operation == GPUMB_MIN)
        return b < a ? b : a;
    if (operation == GPUMB_MAX)
        return a < b ? b : a;
    return gpumbi_add(a, b);
}

/* A warp's elements, in its lane 0. Shuffle-down halves the lanes that count; in the butterfly of
 * shuffle-xor a full warp ends with the result in all of them. Either takes log2(lanes) steps, with
 * no shared memory and no barrier. */
template <int operation, class Type>
static __device__ __forceinline__ Type gpumbi_combine_warp(Type x, unsigned lane, unsigned lanes,
                                                           int combine)
{
    if (combine == GPUMB_COMBINE_SHUFFLE_XOR) {
        GPUMBI_NO_UNROLL
        for (unsigned step = 1; step < GPUMB_WARP; step *= 2) {
            const Type other = GPUMB_SHUFFLE_XOR(GPUMBI_FIRST(lanes), x, step);
            if ((lane ^ step) < lanes)
                x = gpumbi_apply<operation>(x, other);
        }
    } else
        for (unsigned step = GPUMB_WARP / 2; step > 0; step /= 2) {
            const Type other = GPUMB_SHUFFLE_DOWN(GPUMBI_FIRST(lanes), x, step);
            if (lane + step < lanes)
                x = gpumbi_apply<operation>(x, other);
        }
    return x;
}

/* A block's elements, one of each thread, in thread 0. */
template <int operation, class Type>
static __device__ Type gpumbi_combine_block(Type x, Type neutral, int combine)
{
    GPUMB_SHARED(Type, shared);
    const unsigned t = threadIdx.x, threads = blockDim.x;
    if (combine == GPUMB_COMBINE_FIRST_THREAD) { /* as one would on a host */
        shared[t] = x;
        __syncthreads();
        const unsigned end = t == 0 ? threads : 0;
        GPUMBI_NO_UNROLL
        for (unsigned i = 1; i < end; i++)
            x = gpumbi_apply<operation>(x, shared[i]);
    } else if (combine == GPUMB_COMBINE_TREE) {
        /* log2(threads) steps; neighbours stay neighbours, so that banks do not conflict and whole
         * warps fall out */
        unsigned apart = 1;
        while (apart < threads)
            apart *= 2;
        for (shared[t] = x; apart > 0; apart /= 2) {
            __syncthreads();
            if (t < apart && t + apart < threads)
                shared[t] = gpumbi_apply<operation>(shared[t], shared[t + apart]);
        }
        x = shared[t];
    } else {
        const unsigned warp = t / GPUMB_WARP, lane = t % GPUMB_WARP;
        const unsigned rest = threads - warp * GPUMB_WARP;
        const unsigned warps = (threads + GPUMB_WARP - 1) / GPUMB_WARP;
        x = gpumbi_combine_warp<operation>(x, lane, rest < GPUMB_WARP ? rest : GPUMB_WARP, combine);
        if (lane == 0)
            shared[warp] = x;
        __syncthreads();
        if (warp == 0) {
            const unsigned lanes = threads < GPUMB_WARP ? threads : GPUMB_WARP;
            x = lane < warps ? shared[lane] : neutral;
            x = gpumbi_combine_warp<operation>(x, lane, lanes, combine);
        }
    }
    return x;
}

/* What blocks hand to each other, fences aside: volatile is enough on GPUs, C++ of the host asks
 * for atomics. */
template <class Type> static __device__ __forceinline__ Type gpumbi_get(const Type *from)
{
#if defined(GPUMB_BACKEND_CPU)
    Type x;
    __atomic_load(from, &x, __ATOMIC_RELAXED);
    return x;
#else
    return *(const volatile Type *)from;
#endif
}

template <class Type> static __device__ __forceinline__ void gpumbi_put(Type *to, Type x)
{
#if defined(GPUMB_BACKEND_CPU)
    __atomic_store(to, &x, __ATOMIC_RELAXED);
#else
    *(volatile Type *)to = x;
#endif
}

/* Leaves a block's result in `partials` and draws a ticket. 1 in all threads of the block that has
 * drawn the last one: it finds the results of all of them there. The ticket wraps around to 0, for
 * the next launch. */
template <class Type>
static __device__ __forceinline__ int gpumbi_is_last_block(Type x, Type *partials, unsigned *ticket)
{
    int last = 0;
    if (threadIdx.x == 0) {
        gpumbi_put(&partials[blockIdx.x], x);
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    last = __syncthreads_or(last);
    __threadfence();
    return last;
}

/* For operations that the hardware has no atomic for. */
template <int operation, class Word, class Type>
static __device__ void gpumbi_atomic_swap(Type *out, Type x)
{
    union {
        Type value;
        Word bits;
    } old, next;
    Word *word = (Word *)(void *)out, seen;
    old.value = gpumbi_get(out);
    do {
        seen = old.bits;
        next.value = gpumbi_apply<operation>(old.value, x);
        old.bits = atomicCAS(word, seen, next.bits);
    } while (old.bits != seen);
}

template <class Type> static __device__ void gpumbi_atomic_add(Type *out, Type x)
{
    atomicAdd(out, x);
}

static __device__ __forceinline__ void gpumbi_atomic_add(double *out, double x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
    gpumbi_atomic_swap<GPUMB_SUM, unsigned long long>(out, x);
#else
    atomicAdd(out, x);
#endif
}

template <int operation, class Type> static __device__ void gpumbi_atomic(Type *out, Type x)
{
    if (operation == GPUMB_SUM)
        gpumbi_atomic_add(out, x);
    else if (sizeof(Type) == 8)
        gpumbi_atomic_swap<operation, unsigned long long>(out, x);
    else
        gpumbi_atomic_swap<operation, unsigned>(out, x);
}

enum { GPUMBI_FINISH_STORE = 16 }; /* beside gpumb_finish: each block stores its result */

/* The naive reduction: elements are taken as they come, four loads before the first of them is used
 * (H200, one block of 64 threads per multiprocessor: two at a time take 1.8 times as long); what
 * happens to those of a block, and to those of the grid, can be chosen. The bound lets nvcc use
 * registers for loads: without, it spares them in case that blocks are small. */
template <class Type, int operation>
static __global__ void __launch_bounds__(1024)
    gpumbi_reduce(const void *input, uint64_t n, void *output, void *partials, unsigned *ticket,
                  double neutral_value, int combine, int finish, int per_thread)
{
    const Type *in = (const Type *)input, neutral = (Type)neutral_value;
    Type *out = (Type *)output, x = neutral;
    const unsigned first = threadIdx.x / GPUMB_WARP * GPUMB_WARP, rest = blockDim.x - first;
    const unsigned lanes = rest < GPUMB_WARP ? rest : GPUMB_WARP;
    const uint64_t each = (unsigned)per_thread, turn = gridDim.x * (uint64_t)blockDim.x * each;
    uint64_t start = (blockIdx.x * (uint64_t)blockDim.x + first) * each + (threadIdx.x - first);
    for (; start < n; start += turn) {
        const uint64_t end = start + each * lanes < n ? start + each * lanes : n;
        uint64_t i = start;
        Type load[GPUMBI_LOADS];
        GPUMBI_NO_UNROLL
        for (; i + (GPUMBI_LOADS - 1) * lanes < end; i += GPUMBI_LOADS * lanes) {
            for (unsigned k = 0; k < GPUMBI_LOADS; k++)
                load[k] = in[i + k * lanes];
            GPUMBI_LOADED(load);
            for (unsigned k = 0; k < GPUMBI_LOADS; k++)
                x = gpumbi_apply<operation>(x, load[k]);
        }
        if (i < end) {
            for (unsigned k = 0; k < GPUMBI_LOADS - 1; k++)
                load[k] = i + k * lanes < end ? in[i + k * lanes] : neutral;
            for (unsigned k = 0; k < GPUMBI_LOADS - 1; k++)
                x = gpumbi_apply<operation>(x, load[k]);
        }
    }
    for (int last = 0;;) {
        x = gpumbi_combine_block<operation>(x, neutral, combine);
        if (finish != GPUMB_FINISH_LAST_BLOCK || last)
            break;
        last = gpumbi_is_last_block(x, (Type *)partials, ticket);
        if (!last)
            return;
        x = neutral;
        GPUMBI_NO_UNROLL
        for (uint64_t i = threadIdx.x; i < gridDim.x; i += GPUMBI_LOADS * blockDim.x) {
            Type load[GPUMBI_LOADS];
            for (unsigned k = 0; k < GPUMBI_LOADS; k++) {
                const uint64_t at = i + k * blockDim.x;
                load[k] = at < gridDim.x ? gpumbi_get((const Type *)partials + at) : neutral;
            }
            for (unsigned k = 0; k < GPUMBI_LOADS; k++)
                x = gpumbi_apply<operation>(x, load[k]);
        }
    }
    if (threadIdx.x == 0 && finish == GPUMB_FINISH_ATOMIC)
        gpumbi_atomic<operation>(out, x);
    else if (threadIdx.x == 0)
        out[finish == GPUMBI_FINISH_STORE ? blockIdx.x : 0u] = x;
}

/* The fastest reduction: a thread has four loads of 16 bytes in flight before it adds anything up,
 * as Little's law asks of few resident blocks (H200: 97 % of peak; one element per load 60 %); and
 * blocks join in one launch, at the price of one trip to the L2, not three (H200, 2^16 elements:
 * 1.4 us instead of 2.2). Sums of integers: one 64-bit atomic adds a block's sum, above, and counts
 * it, below; who completes the count has the sum. Others: each block leaves its result in a slot
 * that was empty before, and the last block, which starts last, waits for all of them: a value and
 * the sign that it is there are one 64-bit store. `empty` is no value: those of 4 bytes have zeros
 * above, and a NaN is stored as another one. (An atomic on a float2 of sum and count took 0.2 us
 * less there, but is atomic for either element alone: who has seen the count may miss a sum.)
 *
 * A small n takes as long as what one thread does step by step. So BLOCK, the size of a block, is
 * known to the compiler where it is the usual one: offsets become part of the loads, and loops over
 * warps unroll (H200, 2^16 elements: 0.1 us less). 0: any size, and no more registers than let all
 * threads be resident, two blocks of 1024 where a multiprocessor has room for 2048 threads (CUDA
 * Programming Guide, table of compute capabilities). */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 && __CUDA_ARCH__ != 800 &&                      \
    __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
#define GPUMBI_RESIDENT 1
#else
#define GPUMBI_RESIDENT 2
#endif
enum {
    GPUMBI_BLOCK = 256,
    GPUMBI_COLLECT = 8, /* slots that a lane looks at together */
    GPUMBI_SLOTS = 16384,
    GPUMBI_SLOT_BYTES = 8
};

template <class Type> struct alignas(16) gpumbi_16_bytes {
    Type at[16 / sizeof(Type)];
};

/* A sum begins with the first element, the others with the neutral one, which a NaN leaves. */
template <int operation, class Type>
static __device__ __forceinline__ Type gpumbi_fold_16(const gpumbi_16_bytes<Type> &x, Type neutral)
{
    Type result = operation == GPUMB_SUM ? x.at[0] : gpumbi_apply<operation>(neutral, x.at[0]);
    for (unsigned i = 1; i < 16 / sizeof(Type); i++)
        result = gpumbi_apply<operation>(result, x.at[i]);
    return result;
}

/* What one thread makes of its share: whole tiles of GPUMBI_LOADS loads per thread, then what is
 * left of the last one, then the elements that fill no load. */
template <int operation, unsigned block_size, class Type>
static __device__ __forceinline__ Type gpumbi_fold_share(const Type *in, uint64_t n, Type neutral)
{
    const gpumbi_16_bytes<Type> *words = (const gpumbi_16_bytes<Type> *)(const void *)in;
    const uint64_t each = 16 / sizeof(Type), count = n / each;
    const unsigned t = threadIdx.x, threads = block_size ? block_size : blockDim.x;
    const unsigned tile = GPUMBI_LOADS * threads;
    uint64_t first = blockIdx.x * (uint64_t)tile; /* the same in all threads */
    Type x = neutral;
    for (; first + tile <= count; first += gridDim.x * (uint64_t)tile) {
        gpumbi_16_bytes<Type> load[GPUMBI_LOADS];
        Type part[GPUMBI_LOADS];
        for (unsigned k = 0; k < GPUMBI_LOADS; k++)
            load[k] = words[first + t + k * threads];
        for (unsigned k = 0; k < GPUMBI_LOADS; k++)
            part[k] = gpumbi_fold_16<operation>(load[k], neutral);
        x = gpumbi_apply<operation>(
            x, gpumbi_apply<operation>(gpumbi_apply<operation>(part[0], part[1]),
                                       gpumbi_apply<operation>(part[2], part[3])));
    }
    if (first < count) {
        gpumbi_16_bytes<Type> load[GPUMBI_LOADS];
        for (unsigned k = 0; k < GPUMBI_LOADS; k++) {
            for (unsigned i = 0; i < each; i++)
                load[k].at[i] = neutral;
            if (first + t + k * threads < count)
                load[k] = words[first + t + k * threads];
        }
        for (unsigned k = 0; k < GPUMBI_LOADS; k++)
            x = gpumbi_apply<operation>(x, gpumbi_fold_16<operation>(load[k], neutral));
    }
    if (n % each != 0 && blockIdx.x == 0) {
        GPUMBI_NO_UNROLL
        for (uint64_t i = count * each + t; i < n; i += threads)
            x = gpumbi_apply<operation>(x, in[i]);
    }
    return x;
}

/* Lane 0 gets what the first `lanes` lanes have; NVIDIA has an instruction for it from sm_80 on. */
template <int operation, class Type>
static __device__ __forceinline__ Type gpumbi_combine_lanes(Type x, unsigned lane, unsigned lanes)
{
    return gpumbi_combine_warp<operation>(x, lane, lanes, GPUMB_COMBINE_SHUFFLE_DOWN);
}

#ifdef GPUMBI_REDUX
#define GPUMBI_COMBINE_LANES(type)                                                                 \
    template <int operation>                                                                       \
    static __device__ __forceinline__ type gpumbi_combine_lanes(type x, unsigned, unsigned lanes)  \
    {                                                                                              \
        const unsigned mask = GPUMBI_FIRST(lanes);                                                 \
        return operation == GPUMB_MIN   ? (type)__reduce_min_sync(mask, x)                         \
               : operation == GPUMB_MAX ? (type)__reduce_max_sync(mask, x)                         \
                                        : (type)__reduce_add_sync(mask, (unsigned)x);              \
    }
GPUMBI_COMBINE_LANES(unsigned)
GPUMBI_COMBINE_LANES(int)
#endif

/* A block's elements, in thread 0: each warp leaves in shared memory what it has, and thread 0
 * fetches 16 bytes of that at a time, which takes less time than another round of shuffles. */
template <int operation, unsigned block_size, class Type>
static __device__ __forceinline__ Type gpumbi_combine_fastest(Type x, Type neutral)
{
    GPUMB_SHARED(Type, shared);
    const gpumbi_16_bytes<Type> *words = (const gpumbi_16_bytes<Type> *)(const void *)shared;
    const unsigned t = threadIdx.x, threads = block_size ? block_size : blockDim.x;
    const unsigned warp = t / GPUMB_WARP, lane = t % GPUMB_WARP, rest = threads % GPUMB_WARP;
    const unsigned warps = (threads + GPUMB_WARP - 1) / GPUMB_WARP, each = 16 / sizeof(Type);
    const unsigned count = (warps + each - 1) / each;
    const unsigned lanes = rest == 0 || warp < threads / GPUMB_WARP ? GPUMB_WARP : rest;
    x = gpumbi_combine_lanes<operation>(x, lane, lanes);
    if (lane == 0)
        shared[warp] = x;
    if (warps % each != 0) /* fill the last word up */
        for (unsigned i = warps + t; i < count * each; i += threads)
            shared[i] = neutral;
    __syncthreads();
    if (t == 0) {
        x = gpumbi_fold_16<operation>(words[0], neutral);
        for (unsigned i = 1; i < count; i++)
            x = gpumbi_apply<operation>(x, gpumbi_fold_16<operation>(words[i], neutral));
    }
    return x;
}

template <class Type> union gpumbi_slot {
    Type value;
    unsigned bits32;
    unsigned long long bits64;
};

template <class Type> static __device__ __forceinline__ unsigned long long gpumbi_to_slot(Type x)
{
    gpumbi_slot<Type> slot;
    slot.value = x;
    if (sizeof(Type) == 4)
        return slot.bits32;
    return x == x ? slot.bits64 : 0x7ff8000000000000ull;
}

template <class Type>
static __device__ __forceinline__ Type gpumbi_from_slot(unsigned long long bits)
{
    gpumbi_slot<Type> slot;
    if (sizeof(Type) == 4)
        slot.bits32 = (unsigned)bits;
    else
        slot.bits64 = bits;
    return slot.value;
}

/* What `threads` threads find in the slots, joined to the x of each. A warp looks again as a whole
 * until none is empty: were each lane to loop until it has its own, they would part ways, and small
 * n would take 0.3 us more (H200). */
template <int operation, unsigned at_once, class Type>
static __device__ __forceinline__ Type gpumbi_collect(Type x, unsigned long long *slot,
                                                      unsigned count, unsigned threads)
{
    const unsigned long long empty = ~0ull;
    const unsigned t = threadIdx.x, rest = threads - t / GPUMB_WARP * GPUMB_WARP;
    const unsigned lanes = rest < GPUMB_WARP ? rest : GPUMB_WARP;
    (void)lanes;
    GPUMBI_NO_UNROLL
    for (unsigned first = 0; first < count; first += at_once * threads) {
        unsigned long long bits[at_once];
        int missing;
        for (unsigned k = 0; k < at_once; k++)
            bits[k] = first + k * threads + t < count ? empty : 0;
        do {
            missing = 0;
            for (unsigned k = 0; k < at_once; k++)
                if (bits[k] == empty)
                    bits[k] = gpumbi_get(&slot[first + k * threads + t]);
            for (unsigned k = 0; k < at_once; k++)
                missing |= bits[k] == empty;
        } while (GPUMB_ANY(GPUMBI_FIRST(lanes), missing));
        for (unsigned k = 0; k < at_once; k++)
            if (first + k * threads + t < count) {
                gpumbi_put(&slot[first + k * threads + t], empty);
                x = gpumbi_apply<operation>(x, gpumbi_from_slot<Type>(bits[k]));
            }
    }
    return x;
}

template <class Type, int operation, unsigned block_size>
static __global__ void __launch_bounds__(block_size ? block_size : 1024, GPUMBI_RESIDENT)
    gpumbi_reduce_fastest(const void *input, uint64_t n, void *output, void *slots,
                          unsigned *ticket, double neutral_value, int combine, int finish,
                          int per_thread)
{
    unsigned long long *total = (unsigned long long *)(void *)ticket + 1;
    unsigned long long *slot = (unsigned long long *)slots;
    const unsigned t = threadIdx.x, threads = block_size ? block_size : blockDim.x,
                   last = gridDim.x - 1;
    const int counts = operation == GPUMB_SUM && (Type)1 / (Type)2 == (Type)0;
    const int collects = !counts && last != 0 && blockIdx.x == last;
    const Type neutral = operation == GPUMB_SUM ? (Type)0 : (Type)neutral_value;
    Type *out = (Type *)output;
    Type x = gpumbi_fold_share<operation, block_size>((const Type *)input, n, neutral);
    (void)combine, (void)finish, (void)per_thread;
    if (!block_size && collects) /* from many blocks: all threads */
        x = gpumbi_collect<operation, 2>(x, slot, last, threads);
    x = gpumbi_combine_fastest<operation, block_size>(x, neutral);
    if (block_size && collects && t < GPUMB_WARP) { /* from few: one warp, which spares a barrier */
        x = gpumbi_collect<operation, GPUMBI_COLLECT>(t == 0 ? x : neutral, slot, last, GPUMB_WARP);
        x = gpumbi_combine_lanes<operation>(x, t, GPUMB_WARP);
    }
    if (t != 0)
        return;
    if (counts && last != 0) {
        const unsigned long long mine = (unsigned long long)(unsigned)x << 32;
        const unsigned long long before = atomicAdd(total, mine | 1u);
        if ((unsigned)before == last) {
            *out = (Type)(unsigned)((before + mine) >> 32);
            gpumbi_put(total, 0ull);
        }
    } else if (blockIdx.x == last) {
        *out = x;
    } else {
        gpumbi_put(&slot[blockIdx.x], gpumbi_to_slot(x));
    }
}

/* What a thread of the check finds: the sum as an unevaluated sum of two doubles (Dekker 1971;
 * Knuth's TwoSum), that of the absolute values, and all that is exact. */
typedef struct gpumbi_exact {
    double high, low, absolute, least, most;
    unsigned long long integer;
} gpumbi_exact;

static __host__ __device__ __forceinline__ void gpumbi_add_exactly(gpumbi_exact *sum, double x)
{
    const double high = sum->high + x, part = high - sum->high;
    if (high - high == 0) /* else it is infinite or no number, and stays so */
        sum->low += (sum->high - (high - part)) + (x - part);
    sum->high = high;
}

template <class Type>
static __global__ void gpumbi_reduce_exactly(const void *input, uint64_t n, gpumbi_exact *found)
{
    const Type *in = (const Type *)input;
    gpumbi_exact mine = {0, 0, 0, HUGE_VAL, -HUGE_VAL, 0};
    GPUMB_GRID_STRIDE(i, n) {
        const double x = (double)in[i];
        gpumbi_add_exactly(&mine, x);
        mine.absolute += x < 0 ? -x : x;
        mine.least = x < mine.least ? x : mine.least;
        mine.most = mine.most < x ? x : mine.most;
        if ((Type)1 / (Type)2 == (Type)0) /* an integer */
            mine.integer += (unsigned long long)(long long)in[i];
    }
    found[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

/* The list is here, where the device pass sees which kernels the templates are to become. */
#define GPUMB_ALL_REDUCTIONS(X)                                                                    \
    GPUMBI_OPERATIONS(X, F32)                                                                      \
    GPUMBI_OPERATIONS(X, F64) GPUMBI_OPERATIONS(X, I32) GPUMBI_OPERATIONS(X, U32)
#define GPUMBI_OPERATIONS(X, type) X(type, SUM) X(type, MIN) X(type, MAX)

typedef void gpumbi_reducer(const void *, uint64_t, void *, void *, unsigned *, double, int, int,
                            int);
typedef struct gpumbi_reduction {
    gpumb_type type;
    gpumb_operation operation;
    gpumbi_reducer *naive, *fastest, *fastest_any;
    void (*exactly)(const void *, uint64_t, gpumbi_exact *);
} gpumbi_reduction;

typedef float gpumbi_F32;
typedef double gpumbi_F64;
typedef int gpumbi_I32;
typedef unsigned gpumbi_U32;

static inline const gpumbi_reduction *gpumbi_reduction_list(size_t *count)
{
#define GPUMBI_REDUCTION_ENTRY(type, operation)                                                    \
    {GPUMB_##type,                                                                                 \
     GPUMB_##operation,                                                                            \
     gpumbi_reduce<gpumbi_##type, GPUMB_##operation>,                                              \
     gpumbi_reduce_fastest<gpumbi_##type, GPUMB_##operation, GPUMBI_BLOCK>,                        \
     gpumbi_reduce_fastest<gpumbi_##type, GPUMB_##operation, 0>,                                   \
     gpumbi_reduce_exactly<gpumbi_##type>},
    static const gpumbi_reduction list[] = {GPUMB_REDUCTIONS(GPUMBI_REDUCTION_ENTRY)};
    *count = sizeof list / sizeof list[0];
    return list;
}
#endif /* GPUMB_REDUCTIONS */

/* ---- n-body ---------------------------------------------------------------------------------- */

#if defined(GPUMBI_NBODY)
/* 1 / sqrt(x) with a relative error of some 2^-23; denormals count as zero, which saves a
 * comparison and two multiplications on either vendor. */
static __device__ __forceinline__ float gpumbi_rsqrt_approximate(float x)
{
#if defined(__CUDA_ARCH__)
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__)
    return __builtin_amdgcn_rsqf(x);
#else
    return rsqrtf(x);
#endif
}

template <int kind> static __device__ __forceinline__ float gpumbi_rsqrt(float x)
{
    if (kind == GPUMB_RSQRT_APPROXIMATE)
        return gpumbi_rsqrt_approximate(x);
    if (kind == GPUMB_RSQRT_LIBRARY)
        return rsqrtf(x);
    /* A first guess by halving the exponent (Lomont 2003), then Newton's method, twice. */
    const float h = 0.5f * x;
    float y = __uint_as_float(0x5f3759dfu - (__float_as_uint(x) >> 1));
    y *= 1.5f - h * y * y;
    return y * (1.5f - h * y * y);
}

/* a += what a body at `other`, with its mass in w, does to one at (x, y, z). 13 instructions: 3
 * subtractions, 3 multiply-adds into the softening, the root, 3 products, 3 multiply-adds. */
template <int kind>
static __device__ __forceinline__ void gpumbi_attract(float3 *a, const float3 &at,
                                                      const float4 &other, float softening2)
{
    const float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
    const float r = gpumbi_rsqrt<kind>(softening2 + dx * dx + dy * dy + dz * dz);
    const float s = other.w * r * (r * r);
    a->x += dx * s;
    a->y += dy * s;
    a->z += dz * s;
}

static __device__ __forceinline__ float4 gpumbi_body(const float4 *bodies, unsigned i, unsigned n)
{
    return i < n ? bodies[i] : make_float4(0, 0, 0, 0); /* no mass, no effect */
}

/* All pairs, tile by tile. One body per thread and no unrolling is the textbook form. More bodies
 * per thread share each load from shared memory: 13 + 1 / bodies instructions per interaction.
 * Unrolling takes away the loop's own. What then bounds it is the issue of instructions, of which a
 * root takes the time of four (H200: 42.9 of 51.0 TFLOP/s). One resident block is enough: registers
 * are for the bodies. */
template <int bodies, int unroll, int kind>
static __global__ void __launch_bounds__(bodies < 4 ? 1024 : 512, 1)
    gpumbi_nbody(const void *positions, void *accelerations, unsigned n, unsigned share,
                 float softening2)
{
    GPUMB_SHARED(float4, tile);
    const float4 *body = (const float4 *)positions;
    float4 *result = (float4 *)accelerations + blockIdx.y * (uint64_t)n;
    const unsigned first = blockIdx.x * blockDim.x * bodies + threadIdx.x;
    const unsigned tiles = (n + blockDim.x - 1) / blockDim.x;
    const unsigned last = (blockIdx.y + 1) * share < tiles ? (blockIdx.y + 1) * share : tiles;
    float3 at[bodies], a[bodies];
    GPUMBI_UNROLL
    for (int b = 0; b < bodies; b++) {
        const float4 own = gpumbi_body(body, first + (unsigned)b * blockDim.x, n);
        at[b] = make_float3(own.x, own.y, own.z);
        a[b] = make_float3(0, 0, 0);
    }
    for (unsigned t = blockIdx.y * share; t < last; t++) {
        const float4 mine = gpumbi_body(body, t * blockDim.x + threadIdx.x, n);
        __syncthreads(); /* all are done with the tile before */
        tile[threadIdx.x] = mine;
        __syncthreads();
        GPUMBI_NO_UNROLL
        for (unsigned j = 0; j < blockDim.x; j += unroll) {
            GPUMBI_UNROLL
            for (int u = 0; u < unroll; u++) {
                const float4 other = tile[j + (unsigned)u];
                GPUMBI_UNROLL
                for (int b = 0; b < bodies; b++)
                    gpumbi_attract<kind>(&a[b], at[b], other, softening2);
            }
        }
    }
    GPUMBI_UNROLL
    for (int b = 0; b < bodies; b++) {
        const unsigned i = first + (unsigned)b * blockDim.x;
        if (i < n)
            result[i] = make_float4(a[b].x, a[b].y, a[b].z, 0);
    }
}

/* accelerations[i] = the sum of the parts that the splits have left. */
static __global__ void gpumbi_nbody_add(const void *parts, void *accelerations, uint64_t n,
                                        unsigned splits)
{
    const float4 *part = (const float4 *)parts;
    GPUMB_GRID_STRIDE(i, n) {
        float4 sum = make_float4(0, 0, 0, 0);
        GPUMBI_NO_UNROLL
        for (unsigned s = 0; s < splits; s += GPUMBI_LOADS) {
            float4 load[GPUMBI_LOADS];
            for (unsigned k = 0; k < GPUMBI_LOADS; k++)
                load[k] = part[(s + k < splits ? s + k : s) * n + i];
            for (unsigned k = 0; k < GPUMBI_LOADS; k++) {
                const float4 x = s + k < splits ? load[k] : make_float4(0, 0, 0, 0);
                sum = make_float4(sum.x + x.x, sum.y + x.y, sum.z + x.z, 0);
            }
        }
        ((float4 *)accelerations)[i] = sum;
    }
}

static __device__ __forceinline__ void gpumbi_add_to(float4 *sum, float x, float y, float z)
{
#if defined(__NVCC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010
    atomicAdd(sum, make_float4(x, y, z, 0)); /* Clang 16 lacks it */
#else
    atomicAdd(&sum->x, x);
    atomicAdd(&sum->y, y);
    atomicAdd(&sum->z, z);
#endif
}

/* Each pair once: one root and 17 instructions serve two interactions. A warp holds a group of
 * lanes * bodies bodies, and meets chunks of one body per lane, of its own group and of the half of
 * all groups that follow, in a circle: so each two groups meet once, and all warps work alike. In
 * step s lane l meets body (l + s) of the chunk, which lies twice in shared memory to save the
 * wrap; the sums for the chunk's bodies travel along, to the next lane after each step. */
template <int bodies, int unroll>
static __global__ void __launch_bounds__(bodies < 4 ? 1024 : 512, 1)
    gpumbi_nbody_pairs(const void *positions, void *accelerations, unsigned n, unsigned share,
                       float softening2)
{
    GPUMB_SHARED(float4, chunks);
    const float4 *body = (const float4 *)positions;
    float4 *result = (float4 *)accelerations;
    const unsigned lanes = GPUMB_WARP, lane = threadIdx.x % lanes;
    /* the same in all lanes, as the compiler can see after a shuffle */
    const unsigned warp = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, threadIdx.x / lanes, 0);
    const unsigned size = lanes * bodies, groups = (n + size - 1) / size;
    const unsigned group = blockIdx.x * (blockDim.x / lanes) + warp;
    if (group >= groups)
        return;
    /* With an even number of groups those half a circle apart would meet twice: the first half of
     * the groups does it. */
    const unsigned partners =
        (groups % 2 == 0 && group >= groups / 2 ? groups - 1 : groups) / 2 + 1;
    const unsigned all = partners * bodies;
    const unsigned last = (blockIdx.y + 1) * share < all ? (blockIdx.y + 1) * share : all;
    float4 *chunk = chunks + warp * 2 * lanes;
    float3 at[bodies], a[bodies];
    float mass[bodies];
    GPUMBI_UNROLL
    for (int b = 0; b < bodies; b++) {
        const float4 own = gpumbi_body(body, group * size + (unsigned)b * lanes + lane, n);
        at[b] = make_float3(own.x, own.y, own.z);
        mass[b] = own.w;
        a[b] = make_float3(0, 0, 0);
    }
    for (unsigned c = blockIdx.y * share; c < last; c++) {
        const unsigned ahead = group + c / bodies;
        const unsigned other_group = ahead < groups ? ahead : ahead - groups;
        const unsigned i = other_group * size + c % bodies * lanes + lane;
        const float4 mine = gpumbi_body(body, i, n);
        float3 back = make_float3(0, 0, 0);
        GPUMBI_SYNC_WARP();
        chunk[lane] = chunk[lane + lanes] = mine;
        GPUMBI_SYNC_WARP();
        GPUMBI_NO_UNROLL
        for (unsigned step = 0; step < lanes; step += unroll) {
            GPUMBI_UNROLL
            for (int u = 0; u < unroll; u++) {
                const float4 other = chunk[lane + step + (unsigned)u];
                GPUMBI_UNROLL
                for (int b = 0; b < bodies; b++) {
                    const float dx = other.x - at[b].x, dy = other.y - at[b].y,
                                dz = other.z - at[b].z;
                    const float r =
                        gpumbi_rsqrt_approximate(softening2 + dx * dx + dy * dy + dz * dz);
                    const float cube = r * r * r, s = cube * other.w, t = cube * mass[b];
                    a[b].x += dx * s;
                    a[b].y += dy * s;
                    a[b].z += dz * s;
                    back.x -= dx * t;
                    back.y -= dy * t;
                    back.z -= dz * t;
                }
                back.x = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, back.x, (lane + 1) % lanes);
                back.y = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, back.y, (lane + 1) % lanes);
                back.z = GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, back.z, (lane + 1) % lanes);
            }
        }
        if (c >= bodies && i < n) /* within a group both sides have met already */
            gpumbi_add_to(&result[i], back.x, back.y, back.z);
    }
    GPUMBI_UNROLL
    for (int b = 0; b < bodies; b++) {
        const unsigned i = group * size + (unsigned)b * lanes + lane;
        if (i < n)
            gpumbi_add_to(&result[i], a[b].x, a[b].y, a[b].z);
    }
}

/* v += a * kick; r += v * drift. */
static __global__ void gpumbi_nbody_move(void *positions, void *velocities,
                                         const void *accelerations, uint64_t n, float kick,
                                         float drift)
{
    float4 *position = (float4 *)positions, *velocity = (float4 *)velocities;
    const float4 *acceleration = (const float4 *)accelerations;
    GPUMB_GRID_STRIDE(i, n) {
        const float4 a = acceleration[i];
        float4 v = velocity[i], r = position[i];
        v = make_float4(v.x + a.x * kick, v.y + a.y * kick, v.z + a.z * kick, 0);
        r = make_float4(r.x + v.x * drift, r.y + v.y * drift, r.z + v.z * drift, r.w);
        velocity[i] = v;
        position[i] = r;
    }
}

#ifndef GPUMB_NBODY_FORMS
#define GPUMB_NBODY_FORMS(X)
#endif
#ifndef GPUMB_NBODY_PAIRS
#define GPUMB_NBODY_PAIRS(X)
#endif

typedef struct gpumbi_nbody_form {
    gpumb_nbody how; /* by default */
    void (*kernel)(const void *, void *, unsigned, unsigned, float);
} gpumbi_nbody_form;

static inline const gpumbi_nbody_form *gpumbi_nbody_list(int *count)
{
#define GPUMBI_NBODY_FORM(bodies, unroll, rsqrt)                                                   \
    {{0, bodies, unroll, GPUMB_RSQRT_##rsqrt, 0, 0, 0.01f},                                        \
     gpumbi_nbody<bodies, unroll, GPUMB_RSQRT_##rsqrt>},
#define GPUMBI_NBODY_PAIR(bodies, unroll)                                                          \
    {{1, bodies, unroll, GPUMB_RSQRT_APPROXIMATE, 0, 0, 0.01f}, gpumbi_nbody_pairs<bodies, unroll>},
    static const gpumbi_nbody_form list[] = {GPUMB_NBODY_FORMS(GPUMBI_NBODY_FORM)
                                                 GPUMB_NBODY_PAIRS(GPUMBI_NBODY_PAIR)};
    *count = (int)(sizeof list / sizeof list[0]);
    return list;
}
#endif /* GPUMBI_NBODY */

/* ---- references for checks ------------------------------------------------------------------- */

#if defined(GPUMB_COPY)
/* In the plainest way, one word per step: how many words of a written buffer are wrong, or the sum
 * of the words of one that is read. */
static __global__ void gpumbi_check_kernel(const unsigned *words, uint64_t n, int mode,
                                           gpumbi_difference *found)
{
    unsigned long long sum = 0;
    GPUMB_GRID_STRIDE(i, n) {
        if (mode == GPUMB_READ)
            sum += words[i];
        else if (words[i] != gpumbi_write_word(i)) {
            sum++;
            atomicMin(&found->first, (unsigned long long)i * 4);
        }
    }
    atomicAdd(&found->count, sum);
}
#endif

#endif /* __cplusplus && !GPUMB_NO_KERNELS */

/* ---- launches -------------------------------------------------------------------------------- */

#if !defined(GPUMBI_DEVICE_PASS)
#if defined(__cplusplus) && !defined(GPUMB_NO_KERNELS)

static inline uint64_t gpumbi_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* A function of a family that is not compiled: other files may call it. */
#define GPUMBI_ABSENT(returns, name, say, why, result, ...)                                        \
    GPUMB_API returns name(gpumb *g, __VA_ARGS__)                                                  \
    {                                                                                              \
        say(g, why);                                                                               \
        return result;                                                                             \
    }

/* 0 if a launch function may go on; -1 with the row skipped if the arguments are wrong. */
static inline int gpumbi_kernel_arguments(gpumb *g, const char *name, int elem, int least, int most,
                                          int block, uint64_t n)
{
    if (elem < least || elem > most || (elem & (elem - 1)))
        gpumb_skip(g, "%s has no kernel for elem %d: it can be a power of 2 in %d ... %d (bytes)",
                   name, elem, least, most);
    else if (block < 0 || block > g->device.max_block)
        gpumb_skip(g, "%s: block %d, at most %d threads", name, block, g->device.max_block);
    else if (n > INT64_MAX / 32)
        gpumb_skip(g, "%s: n is too large", name);
    else
        return 0;
    return -1;
}

GPUMB_API int gpumb_empty(gpumb *g, uint64_t blocks, int block)
{
    g = gpumbi_context(g);
    GPUMB_LAUNCH(gpumbi_empty_kernel, blocks, block, 0);
    return *gpumbi_trouble(g) ? -1 : 0;
}

#if defined(GPUMB_COPY)

/* Kernels that differ in the type of their elements alone are launched in one place: each further
 * launch would cost the compiler 5 ms. The CPU needs them apart, to inline them. */
#if defined(GPUMB_BACKEND_CPU)
#define GPUMBI_LAUNCH_COPY(kernel, type)                                                           \
    GPUMB_LAUNCH(kernel, blocks, block, 0, (const type *)in, (type *)out, n)
#ifdef GPUMB_TRACE /* where sums are combined as on a GPU */
#define GPUMBI_LAUNCH_SUMS GPUMB_LAUNCH_BARRIER
#else
#define GPUMBI_LAUNCH_SUMS GPUMB_LAUNCH
#endif
#define GPUMBI_LAUNCH_ZCOPY(kernel, type)                                                          \
    GPUMBI_LAUNCH_SUMS(kernel, blocks, block, 0, (const type *)in, (type *)out, n, (int)mode)
#else
static inline void gpumbi_launch_copy(const char *name,
                                      void (*kernel)(const void *, void *, uint64_t),
                                      uint64_t blocks, int block, const void *in, void *out,
                                      uint64_t n)
{
    gpumbi_launch(name, kernel, blocks, block, 0, in, out, n);
}

static inline void gpumbi_launch_zcopy(const char *name,
                                       void (*kernel)(const void *, void *, uint64_t, int),
                                       uint64_t blocks, int block, const void *in, void *out,
                                       uint64_t n, gpumb_mode mode)
{
    gpumbi_launch(name, kernel, blocks, block, 0, in, out, n, (int)mode);
}

#define GPUMBI_LAUNCH_COPY(kernel, type)                                                           \
    gpumbi_launch_copy(#kernel, (void (*)(const void *, void *, uint64_t))kernel, blocks, block,   \
                       in, out, n)
#define GPUMBI_LAUNCH_ZCOPY(kernel, type)                                                          \
    gpumbi_launch_zcopy(#kernel, (void (*)(const void *, void *, uint64_t, int))kernel, blocks,    \
                        block, in, out, n, mode)
#endif

GPUMB_API int gpumb_copy(gpumb *g, gpumb_form form, int elem, uint64_t n, int block, const void *in,
                         void *out)
{
    g = gpumbi_context(g);
    if (gpumbi_kernel_arguments(g, "copy", elem, 1, 32, block, n))
        return -1;
    if (!n)
        return 0;
    if (!in || !out)
        return gpumbi_null(g, "gpumb_copy");
    const int aligned = ((uintptr_t)in | (uintptr_t)out) % 16 == 0;
    if (form == GPUMB_FORM_FASTEST && aligned) {
        const uint64_t bytes = n * (uint64_t)elem;
        block = block ? block : gpumbi_is_cpu(g) ? 1024 : 128;
        const uint64_t blocks = gpumbi_ceil_div(gpumbi_ceil_div(bytes, 16), (uint64_t)block);
        n = bytes;
        GPUMBI_LAUNCH_COPY(gpumbi_copy_fastest, uint4);
        return *gpumbi_trouble(g) ? -1 : 0;
    }
    block = block ? block : 256;
    const uint64_t blocks = gpumbi_ceil_div(n, (uint64_t)block);
#define GPUMBI_COPY_LAUNCH(size, type)                                                             \
    if (elem == size)                                                                              \
        GPUMBI_LAUNCH_COPY(gpumbi_copy_##size, type);
    GPUMBI_COPY_ELEMENTS(GPUMBI_COPY_LAUNCH)
    return *gpumbi_trouble(g) ? -1 : 0;
}

GPUMB_API int gpumb_zcopy(gpumb *g, gpumb_form form, gpumb_mode mode, int elem, uint64_t n,
                          uint64_t blocks, int block, const void *in, void *out)
{
    g = gpumbi_context(g);
    if (gpumbi_kernel_arguments(g, "zcopy", elem, 4, 32, block, n))
        return -1;
    if (!n)
        return 0;
    const int reads = mode != GPUMB_WRITE, writes = mode != GPUMB_READ;
    if ((reads && !in) || !out)
        return gpumbi_null(g, "gpumb_zcopy");
    const uint64_t words = n * (uint64_t)elem / 4;
    const int aligned =
        (!reads || (uintptr_t)in % 16 == 0) && (!writes || (uintptr_t)out % 16 == 0);
    const int on_gpu = !gpumbi_is_cpu(g);
    block = block ? block : !on_gpu ? 1 : mode == GPUMB_READ_WRITE ? 128 : 256;
    if (form == GPUMB_FORM_FASTEST && aligned) {
        if (!blocks)
            blocks = mode == GPUMB_READ || !on_gpu ? gpumbi_blocks(g)
                                                   : gpumbi_ceil_div(words, 4 * (uint64_t)block);
        n = words;
        GPUMBI_LAUNCH_ZCOPY(gpumbi_zcopy_fastest, uint4);
        return *gpumbi_trouble(g) ? -1 : 0;
    }
    blocks = blocks ? blocks : gpumbi_blocks(g);
#define GPUMBI_ZCOPY_LAUNCH(size, type)                                                            \
    if (elem == size)                                                                              \
        GPUMBI_LAUNCH_ZCOPY(gpumbi_zcopy_##size, type);
    GPUMBI_ZCOPY_ELEMENTS(GPUMBI_ZCOPY_LAUNCH)
    return *gpumbi_trouble(g) ? -1 : 0;
}

#elif !defined(GPUMB_STATIC)
#define GPUMBI_NO_COPY "no copies are compiled: #define GPUMB_COPY before the implementation"
GPUMBI_ABSENT(int, gpumb_copy, gpumb_skip, GPUMBI_NO_COPY, -1, gpumb_form, int, uint64_t, int,
              const void *, void *)
GPUMBI_ABSENT(int, gpumb_zcopy, gpumb_skip, GPUMBI_NO_COPY, -1, gpumb_form, gpumb_mode, int,
              uint64_t, uint64_t, int, const void *, void *)
#endif

GPUMB_API uint32_t gpumb_zcopy_word(uint64_t w)
{
    return gpumbi_write_word(w);
}

/* For a check whose description lacks a pointer. */
static inline int gpumbi_null_check(gpumb *g, const char *function)
{
    gpumb_reason(g, "%s: a pointer in what is to be checked is NULL", function);
    return 0;
}

/* ---- strided and sub-domains ----------------------------------------------------------------- */

#if defined(GPUMB_STRIDED)
GPUMB_API int gpumb_strided(gpumb *g, int elem, uint64_t n, uint64_t stride, int block,
                            const void *in, void *out)
{
    g = gpumbi_context(g);
    if (gpumbi_kernel_arguments(g, "strided", elem, 1, 16, block, n))
        return -1;
    if (!stride || (n && (n - 1) > INT64_MAX / 32 / stride)) {
        gpumb_skip(g, "strided: stride %llu, it can be 1 and more, up to n * stride = 2^58",
                   (unsigned long long)stride);
        return -1;
    }
    if (n && (!in || !out))
        return gpumbi_null(g, "gpumb_strided");
    if (n)
        GPUMB_LAUNCH(gpumbi_strided, gpumbi_ceil_div(n, block ? (uint64_t)block : 1), block, 0, in,
                     out, n, stride, elem);
    return *gpumbi_trouble(g) ? -1 : 0;
}

GPUMB_API int gpumb_subdomains(gpumb *g, int elem, int lanes, int iterations, uint64_t blocks,
                               int block, const void *in, void *out)
{
    g = gpumbi_context(g);
    if (gpumbi_kernel_arguments(g, "subdomains", elem, 1, 16, block, blocks))
        return -1;
    if (lanes < 1 || block % lanes || iterations < 1) {
        gpumb_skip(g,
                   "subdomains: block %d, lanes %d, iterations %d: at least 1 of each, and whole "
                   "groups of lanes in a block",
                   block, lanes, iterations);
        return -1;
    }
    if (blocks && (!in || !out))
        return gpumbi_null(g, "gpumb_subdomains");
    if (blocks)
        GPUMB_LAUNCH(gpumbi_subdomains, blocks, block, 0, in, out, (unsigned)lanes,
                     (unsigned)iterations, elem);
    return *gpumbi_trouble(g) ? -1 : 0;
}

/* Whether a buffer holds elements offset + i * stride for all i < n. */
static inline int gpumbi_holds(const gpumb_buffer *b, const gpumb_stride_check *c, uint64_t offset)
{
    const uint64_t elements = gpumb_size(b) / (uint64_t)c->elem;
    return !c->n || (offset < elements && (c->n - 1) <= (elements - 1 - offset) / c->stride);
}

GPUMB_API int gpumb_check_strided(gpumb *g, void *stride_check)
{
    const gpumb_stride_check *c = (const gpumb_stride_check *)stride_check;
    gpumbi_difference found;
    if ((g = gpumbi_enter(g)) == NULL)
        return 0;
    if (!c || !c->in || !c->out)
        return gpumbi_null_check(g, "gpumb_check_strided");
    if (c->elem < 1 || !c->stride) {
        gpumb_reason(g, "gpumb_check_strided: elem and stride have to be 1 and more");
        return 0;
    }
    if (!gpumbi_holds(c->in, c, c->in_offset) || !gpumbi_holds(c->out, c, c->out_offset)) {
        gpumb_reason(g, "the buffers are too small for what is to be checked");
        return 0;
    }
    gpumbi_difference *result = gpumbi_difference_begin(g);
    gpumb_buffer *in = gpumbi_reachable(g, c->in, gpumb_size(c->in));
    gpumb_buffer *out = gpumbi_reachable(g, c->out, gpumb_size(c->out));
    GPUMB_LAUNCH(gpumbi_check_strided, gpumbi_blocks(g), 256, 0, GPUMB_PTR(const unsigned char, in),
                 GPUMB_PTR(const unsigned char, out), gpumb_size(c->out), c->n, c->stride,
                 c->in_offset, c->out_offset, (unsigned)c->elem, result);
    gpumbi_done(g, c->in, in);
    gpumbi_done(g, c->out, out);
    if (gpumbi_difference_end(g, &found))
        return 0;
    if (found.count)
        gpumb_reason(g, "%s, the first at byte %llu", gpumbi_count(found.count, "wrong byte").text,
                     found.first);
    return found.count == 0;
}

#elif !defined(GPUMB_STATIC)
#define GPUMBI_NO_STRIDED                                                                          \
    "no strided copy is compiled: #define GPUMB_STRIDED before the implementation"
GPUMBI_ABSENT(int, gpumb_strided, gpumb_skip, GPUMBI_NO_STRIDED, -1, int, uint64_t, uint64_t, int,
              const void *, void *)
GPUMBI_ABSENT(int, gpumb_subdomains, gpumb_skip, GPUMBI_NO_STRIDED, -1, int, int, int, uint64_t,
              int, const void *, void *)
GPUMBI_ABSENT(int, gpumb_check_strided, gpumb_skip, GPUMBI_NO_STRIDED, 0, void *)
#endif

/* ---- reductions ------------------------------------------------------------------------------ */

GPUMB_API gpumb_reduction gpumb_reduction_default(void)
{
    gpumb_reduction how;
    memset(&how, 0, sizeof how);
    how.form = GPUMB_FORM_FASTEST;
    return how;
}

#if defined(GPUMB_REDUCTIONS)
/* The one compiled for it; NULL with the row skipped if there is none. */
static inline const gpumbi_reduction *gpumbi_find_reduction(gpumb *g, const gpumb_reduction *how)
{
    size_t count;
    const gpumbi_reduction *list = gpumbi_reduction_list(&count);
    static const char *const type[] = {"F32", "F64", "I32", "U32"};
    static const char *const operation[] = {"SUM", "MIN", "MAX"};
    for (size_t i = 0; i < count; i++)
        if (list[i].type == how->type && list[i].operation == how->operation)
            return &list[i];
    const int known = (unsigned)how->type <= GPUMB_U32 && (unsigned)how->operation <= GPUMB_MAX;
    gpumb_skip(g, "X(%s, %s) is not in GPUMB_REDUCTIONS, as it is compiled here",
               known ? type[how->type] : "?", known ? operation[how->operation] : "?");
    return NULL;
}

static inline double gpumbi_neutral(gpumb_type type, gpumb_operation operation)
{
    static const double most[] = {HUGE_VAL, HUGE_VAL, INT32_MAX, UINT32_MAX};
    static const double least[] = {-HUGE_VAL, -HUGE_VAL, INT32_MIN, 0};
    return operation == GPUMB_SUM ? 0 : operation == GPUMB_MIN ? most[type] : least[type];
}

static inline uint64_t gpumbi_size_of(gpumb_type type)
{
    return type == GPUMB_F64 ? 8 : 4;
}

/* Found by search on an H200: up to 32 KiB one block; then one per tile, up to two per
 * multiprocessor or what the last block collects at once; from 32 MiB on four resident blocks of
 * 512. A CPU has no use for more threads than cores. */
static inline void gpumbi_fastest_geometry(const gpumb *g, gpumb_reduction *r, uint64_t n)
{
    const uint64_t bytes = n * gpumbi_size_of(r->type), load = GPUMBI_LOADS * 16;
    const int cpu = gpumbi_is_cpu(g);
    const int counts = r->operation == GPUMB_SUM && r->type >= GPUMB_I32;
    r->block = r->block > 0 ? r->block : cpu ? 1 : bytes < (1 << 25) ? GPUMBI_BLOCK : 512;
    r->per_thread = (int)(load / gpumbi_size_of(r->type));
    const uint64_t tiles = bytes / ((uint64_t)r->block * load), few = GPUMBI_COLLECT * 32 + 1;
    uint64_t resident = gpumbi_blocks(g) / (r->block >= 512 ? 4 : cpu ? 16 : 8);
    if (!cpu && !counts && r->block < 512 && resident > few)
        resident = few;
    const uint64_t most = r->block <= 128 || tiles < resident ? tiles : resident;
    if (!r->blocks)
        r->blocks = most < 1 || (!cpu && bytes <= 1 << 15) ? 1 : most;
    if (r->blocks > GPUMBI_SLOTS)
        r->blocks = GPUMBI_SLOTS;
}

GPUMB_API gpumb_reduction gpumb_reduction_geometry(gpumb *g, const gpumb_reduction *how, uint64_t n)
{
    gpumb_reduction r = how ? *how : gpumb_reduction_default();
    g = gpumbi_context(g);
    const uint64_t resident = gpumbi_blocks(g) / 2;
    if (r.form == GPUMB_FORM_FASTEST) {
        gpumbi_fastest_geometry(g, &r, n);
        return r;
    }
    r.block = r.block > 0 ? r.block : 256;
    r.per_thread = r.per_thread > 0 ? r.per_thread : 8;
    const int given = r.blocks != 0;
    if (!given)
        r.blocks = gpumbi_ceil_div(n, (uint64_t)r.block * (uint64_t)r.per_thread);
    if (!given && r.blocks > resident)
        r.blocks = resident;
    r.blocks = r.blocks ? r.blocks : 1;
    return r;
}

/* A ticket and a total, zero between launches; the slots of the fastest form, empty; partial
 * results. */
enum { GPUMBI_TICKET_BYTES = 256 };

static inline uint64_t gpumbi_reduction_bytes(const gpumb_reduction *geometry)
{
    return GPUMBI_TICKET_BYTES + (GPUMBI_SLOTS + geometry->blocks) * GPUMBI_SLOT_BYTES;
}

GPUMB_API gpumb_buffer *gpumb_reduction_workspace(gpumb *g, const gpumb_reduction *how, uint64_t n)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return NULL;
    if (!how) {
        gpumbi_null(g, "gpumb_reduction_workspace");
        return NULL;
    }
    const gpumb_reduction r = gpumb_reduction_geometry(g, how, n);
    gpumb_buffer *b = gpumb_alloc(g, gpumbi_reduction_bytes(&r));
    if (b && !gpumbi_try(g, gpumbi_dev_set(b->data, 0, GPUMBI_TICKET_BYTES, g->stream), "ticket"))
        gpumbi_try(g,
                   gpumbi_dev_set((char *)b->data + GPUMBI_TICKET_BYTES, 0xff,
                                  GPUMBI_SLOTS * GPUMBI_SLOT_BYTES, g->stream),
                   "slots");
    return b;
}

GPUMB_API int gpumb_reduce(gpumb *g, const gpumb_reduction *how, uint64_t n, const void *in,
                           void *out, gpumb_buffer *workspace)
{
    g = gpumbi_context(g);
    if (!how || !out || (n && !in))
        return gpumbi_null(g, "gpumb_reduce");
    const gpumbi_reduction *compiled = gpumbi_find_reduction(g, how);
    if (how->block < 0 || how->per_thread < 0)
        gpumb_skip(g, "reduction: block %d and per_thread %d can't be negative", how->block,
                   how->per_thread);
    if (!compiled || *gpumbi_trouble(g))
        return -1;
    const gpumb_reduction r = gpumb_reduction_geometry(g, how, n);
    const int fastest = r.form == GPUMB_FORM_FASTEST;
    if (fastest && (uintptr_t)in % 16)
        gpumb_skip(g, "the fastest reduction reads words of 16 bytes: align the input to that");
    else if (gpumb_size(workspace) < gpumbi_reduction_bytes(&r))
        gpumb_skip(g, "the workspace is for fewer elements or blocks: gpumb_reduction_workspace()");
    if (*gpumbi_trouble(g))
        return -1;
    unsigned *ticket = GPUMB_PTR(unsigned, workspace);
    char *slots = GPUMB_PTR(char, workspace) + GPUMBI_TICKET_BYTES;
    void *partials = fastest ? slots : slots + GPUMBI_SLOTS * GPUMBI_SLOT_BYTES;
    const double neutral = gpumbi_neutral(r.type, r.operation);
    const uint64_t whole_words = fastest ? 16 : 0; /* the last one may not be full */
    const uint64_t shared = (uint64_t)r.block * gpumbi_size_of(r.type) + whole_words;
    const int combine = (int)r.combine, finish = (int)r.finish, store = GPUMBI_FINISH_STORE;
    gpumbi_reducer *const reduce = !fastest                  ? compiled->naive
                                   : r.block == GPUMBI_BLOCK ? compiled->fastest
                                                             : compiled->fastest_any;
#define GPUMBI_REDUCE(blocks, in, n, out, finish)                                                  \
    GPUMB_LAUNCH_BARRIER(reduce, blocks, r.block, shared, in, n, out, partials, ticket, neutral,   \
                         combine, finish, r.per_thread)
    if (fastest || r.finish == GPUMB_FINISH_LAST_BLOCK) {
        GPUMBI_REDUCE(r.blocks, in, n, out, finish);
    } else if (r.finish == GPUMB_FINISH_ATOMIC) {
        GPUMBI_REDUCE(1, in, 0, out, store);
        GPUMBI_REDUCE(r.blocks, in, n, out, finish);
    } else {
        GPUMBI_REDUCE(r.blocks, in, n, partials, store);
        GPUMBI_REDUCE(1, partials, r.blocks, out, store);
    }
#undef GPUMBI_REDUCE
    return *gpumbi_trouble(g) ? -1 : 0;
}

/* The most operations that an element goes through: those of its thread, those of its block, and
 * those that join the blocks. */
static inline double gpumbi_reduction_depth(gpumb *g, const gpumb_reduction *how, uint64_t n)
{
    const gpumb_reduction r = gpumb_reduction_geometry(g, how, n);
    const double block = r.block, blocks = (double)r.blocks;
    const double turn = blocks * block * r.per_thread;
    const double own = ceil((double)n / turn) * r.per_thread;
    const double combine = r.combine == GPUMB_COMBINE_FIRST_THREAD && r.form == GPUMB_FORM_NAIVE
                               ? block
                               : ceil(log2(block)) + 2;
    const int naive = r.form == GPUMB_FORM_NAIVE;
    const double again = naive && r.finish == GPUMB_FINISH_TWO_LAUNCHES ? r.per_thread : 1;
    const double lanes = block < g->device.warp_size ? block : g->device.warp_size;
    if (naive && r.finish == GPUMB_FINISH_ATOMIC)
        return own + combine + blocks;
    if (!naive) /* a thread takes the results of all warps, a lane those of many blocks */
        return own + 2 * combine + ceil((block + blocks) / lanes);
    return own + 2 * combine + ceil(blocks / (block * again)) * again;
}

static inline int gpumbi_right_sum(gpumb *g, const gpumb_reduction_check *c,
                                   const gpumbi_exact *exact, double result)
{
    const double unit = c->how->type == GPUMB_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    const double largest = c->how->type == GPUMB_F32 ? FLT_MAX : DBL_MAX;
    const double hu = gpumbi_reduction_depth(g, c->how, c->n) * unit;
    const double bound = hu / (1 - hu) * exact->absolute;
    const double error = fabs((result - exact->high) - exact->low);
    if (isnan(exact->high) || isinf(exact->high))
        return isnan(exact->high) ? isnan(result) != 0 : result == exact->high;
    if (exact->absolute + bound > largest && !(fabs(result) <= largest))
        return 1; /* a partial sum went out of range */
    if (error <= bound)
        return 1;
    gpumb_reason(g, "sum %.17g, expected %.17g: off by %.3g, at most %.3g is rounding", result,
                 exact->high + exact->low, error, bound);
    return 0;
}

static inline int gpumbi_right_reduction(gpumb *g, const gpumb_reduction_check *c,
                                         const gpumbi_exact *exact, double result)
{
    const gpumb_reduction *how = c->how;
    double expected = how->operation == GPUMB_MIN ? exact->least : exact->most;
    if (how->operation == GPUMB_SUM && how->type <= GPUMB_F64)
        return gpumbi_right_sum(g, c, exact, result);
    if (how->operation == GPUMB_SUM && how->type == GPUMB_I32)
        expected = (double)(int32_t)(uint32_t)exact->integer;
    else if (how->operation == GPUMB_SUM)
        expected = (double)(uint32_t)exact->integer;
    else if (!c->n)
        expected = gpumbi_neutral(how->type, how->operation);
    if (result == expected)
        return 1;
    gpumb_reason(g, "result %.17g, expected %.17g", result, expected);
    return 0;
}

GPUMB_API int gpumb_check_reduction(gpumb *g, void *reduction_check)
{
    const gpumb_reduction_check *c = (const gpumb_reduction_check *)reduction_check;
    gpumbi_exact total = {0, 0, 0, HUGE_VAL, -HUGE_VAL, 0};
    union {
        float f32;
        double f64;
        int32_t i32;
        uint32_t u32;
    } result;
    if ((g = gpumbi_enter(g)) == NULL)
        return 0;
    if (!c || !c->how || !c->out || (c->n && !c->in))
        return gpumbi_null_check(g, "gpumb_check_reduction");
    const gpumbi_reduction *compiled = gpumbi_find_reduction(g, c->how);
    const gpumb_type type = c->how->type;
    const uint64_t blocks = gpumbi_blocks(g) / 4, threads = blocks * 64;
    gpumb_buffer *found = gpumb_alloc(g, threads * sizeof total);
    gpumbi_exact *parts = (gpumbi_exact *)gpumbi_allocate(g, (size_t)threads * sizeof total);
    int right = 0;
    if (compiled && found && parts) {
        void (*const exactly)(const void *, uint64_t, gpumbi_exact *) = compiled->exactly;
        gpumb_buffer *in = gpumbi_reachable(g, c->in, gpumb_size(c->in));
        GPUMB_LAUNCH(exactly, blocks, 64, 0, gpumb_data(in), c->n, GPUMB_PTR(gpumbi_exact, found));
        gpumbi_done(g, c->in, in);
        if (!gpumb_read(g, found, 0, parts, threads * sizeof total) &&
            !gpumb_read(g, c->out, 0, &result, gpumbi_size_of(type))) {
            for (uint64_t i = 0; i < threads; i++) {
                gpumbi_add_exactly(&total, parts[i].high);
                gpumbi_add_exactly(&total, parts[i].low);
                total.absolute += parts[i].absolute;
                total.least = gpumbi_min(total.least, parts[i].least);
                total.most = gpumbi_max(total.most, parts[i].most);
                total.integer += parts[i].integer;
            }
            right = gpumbi_right_reduction(g, c, &total,
                                           type == GPUMB_F32   ? (double)result.f32
                                           : type == GPUMB_F64 ? result.f64
                                           : type == GPUMB_I32 ? (double)result.i32
                                                               : (double)result.u32);
        }
    }
    gpumbi_free(parts);
    gpumb_free(g, found);
    return right;
}

#elif !defined(GPUMB_STATIC)

#define GPUMBI_NO_REDUCTION                                                                        \
    "no reduction is compiled: #define GPUMB_REDUCTIONS(X) X(F32, SUM) before the implementation"
GPUMBI_ABSENT(gpumb_buffer *, gpumb_reduction_workspace, gpumb_skip, GPUMBI_NO_REDUCTION, NULL,
              const gpumb_reduction *, uint64_t)
GPUMBI_ABSENT(int, gpumb_reduce, gpumb_skip, GPUMBI_NO_REDUCTION, -1, const gpumb_reduction *,
              uint64_t, const void *, void *, gpumb_buffer *)
GPUMBI_ABSENT(int, gpumb_check_reduction, gpumb_reason, GPUMBI_NO_REDUCTION, 0, void *)

GPUMB_API gpumb_reduction gpumb_reduction_geometry(gpumb *, const gpumb_reduction *how, uint64_t)
{
    return how ? *how : gpumb_reduction_default();
}
#endif

/* ---- n-body ---------------------------------------------------------------------------------- */

#if defined(GPUMBI_NBODY)
GPUMB_API gpumb_nbody gpumb_nbody_default(void)
{
    int count;
    const gpumbi_nbody_form *list = gpumbi_nbody_list(&count);
    return list[count - 1].how;
}

GPUMB_API int gpumb_nbody_forms(gpumb_nbody *forms, int room)
{
    int count;
    const gpumbi_nbody_form *list = gpumbi_nbody_list(&count);
    for (int i = 0; forms && i < count && i < room; i++)
        forms[i] = list[i].how;
    return count;
}

static inline int gpumbi_lanes(const gpumb *g)
{
#if defined(GPUMB_BACKEND_CPU)
    (void)g;
    return gpumbi_warp_size; /* can be set at any time */
#else
    return g->device.warp_size;
#endif
}

/* How a form is launched for n bodies. */
typedef struct gpumbi_nbody_launch {
    uint64_t blocks, shared_bytes, share; /* of the walk: tiles, or chunks of one body per lane */
    int block, splits;
} gpumbi_nbody_launch;

static inline gpumbi_nbody_launch gpumbi_nbody_geometry(const gpumb *g, const gpumb_nbody *how,
                                                        uint64_t n)
{
    gpumbi_nbody_launch l;
    const int warp = gpumbi_lanes(g), bodies = how->bodies > 0 ? how->bodies : 1;
    l.block = how->block > 0 ? how->block : n < (1 << 14) ? 64 : n < (1 << 17) ? 256 : 512;
    if (!how->block && !how->pairs && how->unroll > l.block)
        l.block = how->unroll;
    l.blocks = gpumbi_ceil_div(n, (uint64_t)l.block * (uint64_t)bodies);
    l.shared_bytes = (uint64_t)(how->pairs ? 2 * l.block : l.block) * sizeof(float4);
    const uint64_t groups = gpumbi_ceil_div(n, (uint64_t)(warp * bodies));
    const uint64_t walk =
        how->pairs ? (groups / 2 + 1) * (uint64_t)bodies : gpumbi_ceil_div(n, (uint64_t)l.block);
    l.splits = how->splits;
    if (!l.splits) { /* eight blocks per multiprocessor even out how long each of them takes; a
                      * split has at least a tile, or two chunks, to do */
        const uint64_t wanted = gpumbi_ceil_div(gpumbi_blocks(g) / 2, l.blocks ? l.blocks : 1);
        const uint64_t most = how->pairs ? walk / 2 + 1 : walk + 1;
        l.splits = (int)(wanted < most ? wanted : most);
        l.splits = l.splits < 64 ? l.splits : 64;
    }
    l.share = gpumbi_ceil_div(walk, l.splits > 0 ? (uint64_t)l.splits : 1);
    return l;
}

GPUMB_API gpumb_buffer *gpumb_nbody_workspace(gpumb *g, const gpumb_nbody *how, uint64_t n)
{
    if ((g = gpumbi_enter(g)) == NULL)
        return NULL;
    if (!how) {
        gpumbi_null(g, "gpumb_nbody_workspace");
        return NULL;
    }
    const int splits = how->pairs ? 1 : gpumbi_nbody_geometry(g, how, n).splits;
    return gpumb_alloc(g, splits > 1 ? (uint64_t)splits * n * sizeof(float4) : sizeof(float4));
}

/* The form to launch, and how; NULL with the row skipped if what is asked for can't be done. */
static inline const gpumbi_nbody_form *gpumbi_nbody_ready(gpumb *g, const gpumb_nbody *how,
                                                          uint64_t n, const gpumb_buffer *workspace,
                                                          gpumbi_nbody_launch *launch)
{
    int count;
    const gpumbi_nbody_form *form = gpumbi_nbody_list(&count), *const end = form + count;
    while (form < end && (form->how.pairs != how->pairs || form->how.bodies != how->bodies ||
                          form->how.unroll != how->unroll || form->how.rsqrt != how->rsqrt))
        form++;
    if (form == end) {
        gpumb_skip(g,
                   "no n-body has bodies %d, unroll %d and that root: list it in "
                   "GPUMB_NBODY_%s",
                   how->bodies, how->unroll, how->pairs ? "PAIRS" : "FORMS");
        return NULL;
    }
    const gpumbi_nbody_launch l = *launch = gpumbi_nbody_geometry(g, how, n);
    const int whole = how->pairs ? gpumbi_lanes(g) : how->unroll;
    if (l.block % whole || (how->pairs && whole % how->unroll)) {
        gpumb_skip(g, "n-body: block %d, unroll %d: the block is to be whole %s", l.block,
                   how->unroll, how->pairs ? "warps, and those whole unrolled steps" : "steps");
        return NULL;
    }
    const int most = form->how.bodies < 4 ? 1024 : 512; /* as in their launch bounds */
    if (how->block < 0 || l.block < 32 || l.block > most || !(how->softening >= 1e-12f) ||
        n > INT32_MAX || l.splits < 1 || l.splits > 64) {
        gpumb_skip(g,
                   "n-body: block %d, splits %d, softening %g, n %llu: they can be 32 ... %d, 1 "
                   "... 64, 1e-12 and more, up to 2^31 - 1",
                   l.block, l.splits, (double)how->softening, (unsigned long long)n, most);
        return NULL;
    }
    if (!how->pairs && l.splits > 1 &&
        gpumb_size(workspace) < (uint64_t)l.splits * n * sizeof(float4)) {
        gpumb_skip(g, "the workspace is for fewer bodies or splits: gpumb_nbody_workspace()");
        return NULL;
    }
    return *gpumbi_trouble(g) || !gpumbi_working(g) || gpumbi_runs_nothing(g) ? NULL : form;
}

GPUMB_API int gpumb_nbody_accelerations(gpumb *g, const gpumb_nbody *how, uint64_t n,
                                        const void *positions, void *accelerations,
                                        gpumb_buffer *workspace)
{
    g = gpumbi_context(g);
    gpumbi_nbody_launch l;
    if (!how || (n && (!positions || !accelerations)))
        return gpumbi_null(g, "gpumb_nbody_accelerations");
    const gpumbi_nbody_form *form = gpumbi_nbody_ready(g, how, n, workspace, &l);
    if (!form || !n)
        return *gpumbi_trouble(g) ? -1 : 0;
    const float softening2 = how->softening * how->softening;
    void (*const nbody)(const void *, void *, unsigned, unsigned, float) = form->kernel;
    void *sums = !how->pairs && l.splits > 1 ? gpumb_data(workspace) : accelerations;
    if (how->pairs)
        gpumbi_try(g, gpumbi_dev_set(accelerations, 0, n * sizeof(float4), g->stream), "n-body");
    GPUMB_LAUNCH_BARRIER(nbody, dim3((unsigned)l.blocks, (unsigned)l.splits), l.block,
                         l.shared_bytes, positions, sums, (unsigned)n, (unsigned)l.share,
                         softening2);
    if (sums != accelerations)
        GPUMB_LAUNCH(gpumbi_nbody_add, gpumbi_ceil_div(n, 256), 256, 0, sums, accelerations, n,
                     (unsigned)l.splits);
    return *gpumbi_trouble(g) ? -1 : 0;
}

GPUMB_API int gpumb_nbody_steps(gpumb *g, const gpumb_nbody *how, uint64_t n, int steps, float dt,
                                void *positions, void *velocities, void *accelerations,
                                gpumb_buffer *workspace)
{
    const uint64_t blocks = gpumbi_ceil_div(n, 256);
    gpumbi_nbody_launch ignored; /* each step has its own look */
    g = gpumbi_context(g);
    if (!how || (n && (!positions || !velocities || !accelerations)))
        return gpumbi_null(g, "gpumb_nbody_steps");
    if (!gpumbi_nbody_ready(g, how, n, workspace, &ignored) || !n)
        return *gpumbi_trouble(g) ? -1 : 0;
    for (int step = 0; step < steps; step++) {
        GPUMB_LAUNCH(gpumbi_nbody_move, blocks, 256, 0, positions, velocities, accelerations, n,
                     dt / 2, dt);
        if (gpumb_nbody_accelerations(g, how, n, positions, accelerations, workspace))
            return -1;
        GPUMB_LAUNCH(gpumbi_nbody_move, blocks, 256, 0, positions, velocities, accelerations, n,
                     dt / 2, 0.0f);
    }
    return *gpumbi_trouble(g) ? -1 : 0;
}

/* One body's acceleration in fp64, and the sums of the terms' absolute values. */
static inline void gpumbi_attract_exactly(const float4 *body, uint64_t n, uint64_t i,
                                          double softening2, double a[3], double absolute[3])
{
    for (int k = 0; k < 3; k++)
        a[k] = absolute[k] = 0;
    for (uint64_t j = 0; j < n; j++) {
        const double d[3] = {(double)body[j].x - (double)body[i].x,
                             (double)body[j].y - (double)body[i].y,
                             (double)body[j].z - (double)body[i].z};
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
        const double s = (double)body[j].w / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++) {
            a[k] += d[k] * s;
            absolute[k] += fabs(d[k] * s);
        }
    }
}

GPUMB_API int gpumb_check_nbody(gpumb *g, void *nbody_check)
{
    const gpumb_nbody_check *c = (const gpumb_nbody_check *)nbody_check;
    if ((g = gpumbi_enter(g)) == NULL)
        return 0;
    if (!c || (c->n && (!c->how || !c->positions || !c->accelerations)))
        return gpumbi_null_check(g, "gpumb_check_nbody");
    if (!c->n)
        return 1;
    const uint64_t wanted = c->samples > 0 ? (uint64_t)c->samples : 64;
    const uint64_t samples = wanted < c->n ? wanted : c->n, bytes = c->n * sizeof(float4);
    const double unit = FLT_EPSILON / 2,
                 softening2 = (double)(c->how->softening * c->how->softening);
    const double root = c->how->rsqrt == GPUMB_RSQRT_INTEGER ? 3 * 5e-6 : 0;
    const double allowed = (6 * sqrt((double)c->n) + 20) * unit + root;
    float4 *body = (float4 *)gpumbi_allocate(g, (size_t)(2 * bytes));
    float4 *result = body ? body + c->n : NULL;
    int right = body && !gpumb_read(g, c->positions, 0, body, bytes) &&
                !gpumb_read(g, c->accelerations, 0, result, bytes);
    for (uint64_t s = 0; s < samples && right; s++) {
        const uint64_t i = s == samples - 1 ? c->n - 1 : s * c->n / samples;
        double a[3], absolute[3];
        const double found[3] = {(double)result[i].x, (double)result[i].y, (double)result[i].z};
        gpumbi_attract_exactly(body, c->n, i, softening2, a, absolute);
        for (int k = 0; k < 3 && right; k++) {
            right = fabs(found[k] - a[k]) <= allowed * absolute[k];
            if (!right)
                gpumb_reason(g, "body %llu: a.%c is %.9g, expected %.9g +- %.2g",
                             (unsigned long long)i, "xyz"[k], found[k], a[k],
                             allowed * absolute[k]);
        }
    }
    gpumbi_free(body);
    return right;
}

#elif !defined(GPUMB_STATIC)

#define GPUMBI_NO_NBODY                                                                            \
    "no n-body is compiled: #define GPUMB_NBODY_PAIRS(X) X(8, 1) before the implementation"
GPUMBI_ABSENT(gpumb_buffer *, gpumb_nbody_workspace, gpumb_skip, GPUMBI_NO_NBODY, NULL,
              const gpumb_nbody *, uint64_t)
GPUMBI_ABSENT(int, gpumb_nbody_accelerations, gpumb_skip, GPUMBI_NO_NBODY, -1, const gpumb_nbody *,
              uint64_t, const void *, void *, gpumb_buffer *)
GPUMBI_ABSENT(int, gpumb_nbody_steps, gpumb_skip, GPUMBI_NO_NBODY, -1, const gpumb_nbody *,
              uint64_t, int, float, void *, void *, void *, gpumb_buffer *)
GPUMBI_ABSENT(int, gpumb_check_nbody, gpumb_reason, GPUMBI_NO_NBODY, 0, void *)

GPUMB_API gpumb_nbody gpumb_nbody_default(void)
{
    const gpumb_nbody how = {0, 0, 0, GPUMB_RSQRT_LIBRARY, 0, 0, 0};
    return how;
}

GPUMB_API int gpumb_nbody_forms(gpumb_nbody *, int)
{
    return 0;
}
#endif

/* ---- checks of copies ------------------------------------------------------------------------ */

#if defined(GPUMB_COPY)
static inline int gpumbi_check_sums(gpumb *g, const gpumb_copy_check *c,
                                    const gpumbi_difference *expected)
{
    uint32_t sums[GPUMBI_SUMS], total = 0;
    if (gpumb_read(g, c->out, 0, sums, sizeof sums))
        return 0;
    for (int i = 0; i < GPUMBI_SUMS; i++)
        total += sums[i] - GPUMB_POISON; /* on which they lie */
    if (total == (uint32_t)expected->count)
        return 1;
    gpumb_reason(g, "the sums add up to %u, expected %u", (unsigned)total,
                 (unsigned)(uint32_t)expected->count);
    return 0;
}

/* Checks what a zcopy that only writes, or only reads, has left. */
static inline int gpumbi_check_words(gpumb *g, const gpumb_copy_check *c, gpumbi_difference *found)
{
    const gpumb_buffer *checked = c->mode == GPUMB_WRITE ? c->out : c->in;
    gpumbi_difference *result = gpumbi_difference_begin(g);
    gpumb_buffer *words = gpumbi_reachable(g, checked, gpumb_size(checked));
    GPUMB_LAUNCH(gpumbi_check_kernel, gpumbi_blocks(g), 256, 0, GPUMB_PTR(const unsigned, words),
                 c->bytes / 4, (int)c->mode, result);
    gpumbi_done(g, checked, words);
    if (gpumbi_difference_end(g, found))
        return 0;
    if (c->mode == GPUMB_READ)
        return gpumbi_check_sums(g, c, found);
    return found->count == 0;
}
#endif

GPUMB_API int gpumb_check_copy(gpumb *g, void *copy_check)
{
    const gpumb_copy_check *c = (const gpumb_copy_check *)copy_check;
    gpumbi_difference found = {0, 0};
    int right = 0;
    if ((g = gpumbi_enter(g)) == NULL)
        return 0;
    if (!c || !c->out || (c->mode != GPUMB_WRITE && !c->in))
        return gpumbi_null_check(g, "gpumb_check_copy");
    if (c->mode == GPUMB_READ_WRITE) {
        uint64_t first = 0;
        found.count = gpumb_compare(g, c->in, c->out, c->bytes, &first);
        found.first = first;
        right = !found.count;
    } else {
#if defined(GPUMB_COPY)
        right = gpumbi_check_words(g, c, &found);
#else
        gpumb_reason(g, "no zcopy is compiled: #define GPUMB_COPY before the implementation");
#endif
    }
    if (!right && found.count && !g->why[0])
        gpumb_reason(
            g, "%s, the first at byte %llu",
            gpumbi_count(found.count, c->mode == GPUMB_WRITE ? "wrong word" : "wrong byte").text,
            found.first);
    return right;
}

#endif /* __cplusplus && !GPUMB_NO_KERNELS */

#if !defined(GPUMB_BACKEND_CPU)
GPUMBI_OPTIMIZED
#endif
#endif /* host pass */

#if defined(GPUMBI_DEVICE_PASS) && defined(__NVCC__) && !defined(__clang__)
#pragma nv_diag_default 177
#endif

/* What was not asked for, or left out, does not compile, and says what to define. */
#if !defined(__cplusplus) || defined(GPUMB_NO_KERNELS)
#define gpumb_empty gpumb_empty_needs_CXX_without_GPUMB_NO_KERNELS
#define gpumb_copy_check gpumb_copy_check_needs_CXX_without_GPUMB_NO_KERNELS
#define gpumb_check_copy gpumb_check_copy_needs_CXX_without_GPUMB_NO_KERNELS
#define gpumb_zcopy_word gpumb_zcopy_word_needs_CXX_without_GPUMB_NO_KERNELS
#endif
#if !defined(GPUMB_COPY)
#define gpumb_copy gpumb_copy_needs_GPUMB_COPY_to_be_defined_before_gpumb_h
#define gpumb_zcopy gpumb_zcopy_needs_GPUMB_COPY_to_be_defined_before_gpumb_h
#endif
#if !defined(GPUMB_STRIDED)
#define gpumb_strided gpumb_strided_needs_GPUMB_STRIDED_to_be_defined_before_gpumb_h
#define gpumb_subdomains gpumb_subdomains_needs_GPUMB_STRIDED_to_be_defined_before_gpumb_h
#define gpumb_stride_check gpumb_stride_check_needs_GPUMB_STRIDED_to_be_defined_before_gpumb_h
#define gpumb_check_strided gpumb_check_strided_needs_GPUMB_STRIDED_to_be_defined_before_gpumb_h
#endif
#if !defined(GPUMB_REDUCTIONS)
#define gpumb_reduction_default                                                                    \
    gpumb_reduction_default_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#define gpumb_reduction_workspace                                                                  \
    gpumb_reduction_workspace_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#define gpumb_reduce gpumb_reduce_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#define gpumb_reduction_geometry                                                                   \
    gpumb_reduction_geometry_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#define gpumb_reduction_check                                                                      \
    gpumb_reduction_check_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#define gpumb_check_reduction                                                                      \
    gpumb_check_reduction_needs_GPUMB_REDUCTIONS_to_be_defined_before_gpumb_h
#endif
#if !defined(GPUMBI_NBODY)
#define gpumb_nbody_default gpumb_nbody_default_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_nbody_forms gpumb_nbody_forms_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_nbody_workspace                                                                      \
    gpumb_nbody_workspace_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_nbody_accelerations                                                                  \
    gpumb_nbody_accelerations_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_nbody_steps gpumb_nbody_steps_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_nbody_check gpumb_nbody_check_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#define gpumb_check_nbody gpumb_check_nbody_needs_GPUMB_NBODY_FORMS_to_be_defined_before_gpumb_h
#endif
#if defined(GPUMB_STATIC) && !defined(GPUMB_MODULES)
#define gpumb_module gpumb_module_needs_GPUMB_MODULES_to_be_defined_before_gpumb_h
#define gpumb_load gpumb_load_needs_GPUMB_MODULES_to_be_defined_before_gpumb_h
#define gpumb_load_image gpumb_load_image_needs_GPUMB_MODULES_to_be_defined_before_gpumb_h
#define gpumb_function gpumb_function_needs_GPUMB_MODULES_to_be_defined_before_gpumb_h
#endif
#if defined(GPUMB_STATIC) && !defined(GPUMB_COALESCING)
#define gpumb_coalescing gpumb_coalescing_needs_GPUMB_COALESCING_to_be_defined_before_gpumb_h
#define gpumb_coalesce gpumb_coalesce_needs_GPUMB_COALESCING_to_be_defined_before_gpumb_h
#define gpumb_coalesce_strided                                                                     \
    gpumb_coalesce_strided_needs_GPUMB_COALESCING_to_be_defined_before_gpumb_h
#define gpumb_coalesce_subdomains                                                                  \
    gpumb_coalesce_subdomains_needs_GPUMB_COALESCING_to_be_defined_before_gpumb_h
#endif

#endif /* GPUMB_IMPLEMENTATION */

/* ================================================================================================
 * REVISION HISTORY
 *
 *     0.1.0  regions timed by events, graphs, batches, the host's clock or a profiler; sweeps,
 *            interleaved comparisons, verification, statistics, hardware counters, --strict; CSV,
 *            JSON, Markdown and Google Benchmark's JSON, --resume, --replay, --compare, --expect,
 *            several processes and devices; kernels of copy, zcopy, strided, reductions and n-body;
 *            a model of coalescing; CUDA, HIP and CPU backends; functions for other languages
 *
 * LICENCE
 *
 * Choose one: MIT, or public domain (Unlicense). Both are in the file LICENSE.
 */

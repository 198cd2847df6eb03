/* What the host's cores make of a copy, a sum, a Jacobi sweep and the n-body forces, on one thread
 * up to all: rows to set beside those of a device. Threads by OpenMP where the compiler has it,
 * else one; each stays on its core, and touches first what it will work on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity */
#endif
#include "gpumb.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mman.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- threads --------------------------------------------------------------------------------- */

enum { MOST_CPUS = 1024 };

/* What this process may use: a hardware thread of each core first, then the second ones. */
static struct {
    int count, cores;
    int number[MOST_CPUS];
} cpus;

#if defined(__linux__) && defined(_OPENMP)
#define PINNED
#endif

#ifdef PINNED
/* How many hardware threads of its core have smaller numbers and may be used. */
static int place_in_core(int cpu, const cpu_set_t *allowed)
{
    char name[100];
    int sibling, place = 0;
    FILE *file;
    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    file = fopen(name, "r");
    while (file && fscanf(file, "%d", &sibling) == 1) { /* "3,67" or "6-7" */
        int last = sibling;
        const int separator = fgetc(file);
        if (separator == '-' && fscanf(file, "%d", &last) == 1)
            (void)fgetc(file);
        for (; sibling <= last; sibling++)
            place += sibling < cpu && CPU_ISSET((size_t)sibling, allowed);
    }
    if (file)
        fclose(file);
    return place;
}
#endif

static void find_cpus(void)
{
#ifdef PINNED
    cpu_set_t allowed;
    if (!cpus.count && !sched_getaffinity(0, sizeof allowed, &allowed))
        for (int place = 0, found = 1; found; place++) {
            found = 0;
            for (int cpu = 0; cpu < MOST_CPUS; cpu++)
                if (CPU_ISSET((size_t)cpu, &allowed) && place_in_core(cpu, &allowed) == place) {
                    cpus.number[cpus.count++] = cpu;
                    cpus.cores += place == 0;
                    found = 1;
                }
        }
#elif defined(_OPENMP)
    if (!cpus.count)
        cpus.count = cpus.cores = omp_get_num_procs();
#endif
    if (!cpus.count)
        cpus.count = cpus.cores = 1;
}

/* Keeps the calling thread on one CPU, or (-1) lets it go anywhere again. */
static void pin(int thread)
{
#ifdef PINNED
    static __thread int where; /* 1 + its number; 0: anywhere */
    cpu_set_t set;
    if (where == thread + 1)
        return;
    CPU_ZERO(&set);
    for (int i = 0; i < cpus.count; i++)
        if (thread < 0 || i == thread % cpus.count)
            CPU_SET((size_t)cpus.number[i], &set);
    if (!sched_setaffinity(0, sizeof set, &set))
        where = thread + 1;
#else
    (void)thread;
#endif
}

/* A thread's share of the work on n elements. */
typedef struct part {
    uint64_t begin, end, n;
    size_t thread;
} part;

struct job;
typedef void (*work)(const struct job *j, part p);

static void on_threads(int64_t threads, uint64_t n, work of, const struct job *j)
{
#ifdef _OPENMP
#pragma omp parallel num_threads((int)threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const part p = {n * me / all, n * (me + 1) / all, n, (size_t)me};
        pin((int)me);
        of(j, p);
    }
#else
    const part p = {0, n, n, 0};
    (void)threads;
    of(j, p);
#endif
}

/* 1, 2, 4, 8 ... and all. */
static values list_threads(gpumb *g)
{
    static int64_t list[32];
    size_t count = 0;
    const int full = gpumb_get_settings(g)->full;
    find_cpus();
    for (int64_t t = 1; t < cpus.count; t *= 2)
        if (full || t == 1 || t == cpus.cores)
            list[count++] = t;
    list[count++] = cpus.count;
    return values_of(list, count);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* An experiment on n units: elements, rows of a grid, bodies; each has so many bytes in the arrays.
 * The output is poisoned before the first run and, by the check, before the last one. */
typedef struct job {
    int64_t threads;
    uint64_t n, in_bytes, in2_bytes, out_bytes; /* bytes: of a unit */
    uint64_t seed;
    work fill, run;
    const char *(*wrong)(const struct job *j); /* NULL: right */
    void *in, *in2, *out;
    double sum; /* of the threads' sums */
} job;

static double sums[8 * MOST_CPUS]; /* of the threads, a cache line apart */

/* Its pages belong to who touches them first. */
static void *new_array(uint64_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, (size_t)1 << 21, (size_t)bytes + 1))
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return p;
}

static void poison(const job *j, part p)
{
    memset((char *)j->out + p.begin * j->out_bytes, 0xff,
           (size_t)((p.end - p.begin) * j->out_bytes));
    sums[8 * p.thread] = NAN;
}

static int check_job(gpumb *g, void *user)
{
    const job *j = (const job *)user;
    const char *wrong = j->wrong(j);
    if (wrong)
        gpumb_reason(g, "%s", wrong);
    on_threads(j->threads, j->n, poison, j);
    return !wrong;
}

static void measure_on_threads(gpumb *g, const char *name, job *j)
{
    gpumb_buffer *running = gpumb_alloc(g, 1); /* NULL: a sweep enumerates */
    const uint64_t each = j->in_bytes + j->in2_bytes + j->out_bytes;
    j->seed = gpumb_get_settings(g)->seed;
    if (running) {
        j->in = new_array(j->n * j->in_bytes);
        j->in2 = new_array(j->n * j->in2_bytes);
        j->out = new_array(j->n * j->out_bytes);
    }
#ifndef _OPENMP
    if (j->threads > 1)
        gpumb_skip(g, "more than one thread takes a compiler with OpenMP");
#endif
    if (running && !(j->in && j->in2 && j->out))
        gpumb_skip(g, "no memory for %.3g GB", 1e-9 * (double)(j->n * each));
    else if (running) {
        on_threads(j->threads, j->n, j->fill, j);
        on_threads(j->threads, j->n, poison, j);
    }
    gpumb_set_footprint(g, j->n * each);
    gpumb_set_verify(g, check_job, j);
    GPUMB_MEASURE(g, name)
        on_threads(j->threads, j->n, j->run, j);
    pin(-1);
    free(j->in);
    free(j->in2);
    free(j->out);
}

static job job_of(int64_t threads, uint64_t n, work fill, work run,
                  const char *(*wrong)(const job *j))
{
    job j;
    memset(&j, 0, sizeof j);
    j.threads = threads;
    j.n = n;
    j.fill = fill;
    j.run = run;
    j.wrong = wrong;
    return j;
}

/* What the threads bring, and from how many on they are enough. Noisy rows count, too: few of a
 * host's are quiet. */
static void note_threads(gpumb *g, const char *bench, const char *kernel, figure of,
                         const char *unit)
{
    const rows any = noisy_too(rows_of(bench, kernel));
    const rows some = having(any, "n", last_value(g, any, "n"));
    const gpumb_result *one = first_row(g, having(some, "threads", 1));
    const int64_t last = last_value(g, some, "threads");
    double most = 0;
    if (!one || last < 2)
        return;
    for (int64_t t = 1; t > 0; t = next_value(g, some, "threads", t))
        most = fmax(most, of(first_row(g, having(some, "threads", t))));
    for (int64_t t = 1; t > 0; t = next_value(g, some, "threads", t)) {
        if (of(first_row(g, having(some, "threads", t))) < 0.9 * most)
            continue;
        const double all = of(first_row(g, having(some, "threads", last)));
        gpumb_note(g,
                   "%s: %.4g %s on one thread, %.4g on %lld, %.2f times as much; 90 %% of the "
                   "most, %.4g, takes %lld.",
                   kernel, of(one), unit, all, (long long)last, all / of(one), most, (long long)t);
        return;
    }
}

/* Word i of the random data: bits, or a float from [0, 1). */
static uint32_t random_bits(uint64_t seed, uint64_t i)
{
    const uint64_t two = gpumb_fill_word(GPUMB_FILL_BITS, seed, i / 2);
    return (uint32_t)(i % 2 ? two >> 32 : two);
}

static float random_float(uint64_t seed, uint64_t i)
{
    return (float)(random_bits(seed, i) >> 8) / 16777216.0f;
}

static void fill_bits(const job *j, part p)
{
    for (uint64_t i = p.begin; i < p.end; i++)
        ((uint32_t *)j->in)[i] = random_bits(j->seed, i);
}

static void fill_floats(const job *j, part p)
{
    for (uint64_t i = p.begin; i < p.end; i++)
        ((float *)j->in)[i] = random_float(j->seed, i);
}

/* Of copy and sum: 512 MiB, or 256. */
static int64_t elements(gpumb *g)
{
    return (int64_t)1 << (gpumb_get_settings(g)->full ? 27 : 26);
}

/* ---- copy ------------------------------------------------------------------------------------ */

static void copy(const job *j, part p)
{
    memcpy((uint32_t *)j->out + p.begin, (const uint32_t *)j->in + p.begin,
           (size_t)(p.end - p.begin) * 4);
}

static const char *wrong_copy(const job *j)
{
    return memcmp(j->in, j->out, (size_t)j->n * 4) ? "the copy differs" : NULL;
}

static void host_copy(gpumb *g)
{
    const values counts = list_threads(g);
    GPUMB_SWEEP_LIST(g, n, elements(g))
        GPUMB_SWEEP_ARRAY(g, threads, counts.at, counts.count) {
            job j = job_of(threads, (uint64_t)n, fill_bits, copy, wrong_copy);
            j.in_bytes = j.out_bytes = 4;
            gpumb_set_bytes(g, 8.0 * (double)n);
            measure_on_threads(g, "memcpy", &j);
        }
    note_threads(g, "host/copy", "memcpy", gbps_of, "GB/s");
}

/* ---- sum ------------------------------------------------------------------------------------- */

enum { LANES = 64, PIECE = 256 }; /* sums side by side, and additions to each */

/* Sums side by side are what the compiler can put into vectors without changing the result. */
static void sum_u32(const job *j, part p)
{
    const uint32_t *in = (const uint32_t *)j->in;
    uint32_t lane[LANES] = {0}, sum = 0;
    uint64_t i = p.begin;
    for (; i + LANES <= p.end; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += in[i + (uint64_t)k];
    for (; i < p.end; i++)
        sum += in[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    sums[8 * p.thread] = sum;
}

/* In fp32 within a piece; the pieces in fp64. */
static void sum_f32(const job *j, part p)
{
    const float *in = (const float *)j->in;
    double sum = 0;
    uint64_t i = p.begin;
    while (i + LANES * PIECE <= p.end) {
        float lane[LANES] = {0};
        for (const uint64_t end = i + LANES * PIECE; i < end; i += LANES)
            for (int k = 0; k < LANES; k++)
                lane[k] += in[i + (uint64_t)k];
        for (int k = 0; k < LANES; k++)
            sum += (double)lane[k];
    }
    for (; i < p.end; i++)
        sum += (double)in[i];
    sums[8 * p.thread] = sum;
}

static const char *wrong_u32(const job *j)
{
    uint32_t sum = 0, expected = 0;
    for (int64_t t = 0; t < j->threads; t++)
        sum += sums[8 * t] >= 0 ? (uint32_t)sums[8 * t] : 1;
    for (uint64_t i = 0; i < j->n; i++)
        expected += ((const uint32_t *)j->in)[i];
    return sum == expected ? NULL : "the sum differs";
}

/* An element goes through up to PIECE additions in fp32: gamma(h) sum |x|, as in gpumb.h; those in
 * fp64 add nothing to speak of. */
static const char *wrong_f32(const job *j)
{
    const double bound = PIECE * 0x1p-24 / (1 - PIECE * 0x1p-24);
    double sum = 0, expected = 0;
    for (int64_t t = 0; t < j->threads; t++)
        sum += sums[8 * t];
    for (uint64_t i = 0; i < j->n; i++)
        expected += (double)((const float *)j->in)[i];
    return fabs(sum - expected) <= bound * expected ? NULL
                                                    : "the sum is off by more than its bound";
}

static void host_sum(gpumb *g)
{
    static const char *const types[] = {"u32", "f32"};
    const values counts = list_threads(g);
    GPUMB_SWEEP_STRINGS(g, type, types, 2)
        GPUMB_SWEEP_LIST(g, n, elements(g))
            GPUMB_SWEEP_ARRAY(g, threads, counts.at, counts.count) {
                job j = job_of(threads, (uint64_t)n, type ? fill_floats : fill_bits,
                               type ? sum_f32 : sum_u32, type ? wrong_f32 : wrong_u32);
                j.in_bytes = 4;
                gpumb_set_bytes(g, 4.0 * (double)n);
                measure_on_threads(g, type ? "sum f32" : "sum u32", &j);
            }
    note_threads(g, "host/sum", "sum u32", gbps_of, "GB/s");
    note_threads(g, "host/sum", "sum f32", gbps_of, "GB/s");
}

/* ---- Jacobi ---------------------------------------------------------------------------------- */

/* One sweep for the Poisson equation on n x n points, `in` into `out`, `in2` the right side times
 * the square of the distance: 24 bytes and 5 operations a point. The edge stays as it is. */
static double jacobi_point(const double *u, const double *f, uint64_t n, uint64_t i)
{
    return 0.25 * (u[i - n] + u[i - 1] + u[i + 1] + u[i + n] + f[i]);
}

static void jacobi(const job *j, part p)
{
    const double *u = (const double *)j->in, *f = (const double *)j->in2;
    double *out = (double *)j->out;
    const uint64_t n = j->n;
    for (uint64_t row = p.begin; row < p.end; row++) {
        if (row == 0 || row == n - 1) {
            memcpy(out + row * n, u + row * n, (size_t)n * sizeof *out);
            continue;
        }
        out[row * n] = u[row * n];
        for (uint64_t i = row * n + 1; i < row * n + n - 1; i++)
            out[i] = jacobi_point(u, f, n, i);
        out[row * n + n - 1] = u[row * n + n - 1];
    }
}

static void fill_grid(const job *j, part p)
{
    for (uint64_t i = p.begin * j->n; i < p.end * j->n; i++) {
        ((double *)j->in)[i] = (double)random_float(j->seed, i);
        ((double *)j->in2)[i] = (double)random_float(j->seed + 1, i) - 0.5;
    }
}

/* Four additions in one order and an exact product: bit by bit. */
static const char *wrong_jacobi(const job *j)
{
    const double *u = (const double *)j->in, *f = (const double *)j->in2;
    const double *out = (const double *)j->out;
    const uint64_t n = j->n;
    for (uint64_t i = 0; i < n * n; i++) {
        const uint64_t row = i / n, column = i % n;
        const int edge = row == 0 || row == n - 1 || column == 0 || column == n - 1;
        const double expected = edge ? u[i] : jacobi_point(u, f, n, i);
        if (memcmp(&out[i], &expected, sizeof expected))
            return "a point differs";
    }
    return NULL;
}

static void host_jacobi(gpumb *g)
{
    const values counts = list_threads(g);
    GPUMB_SWEEP_LIST(g, n, gpumb_get_settings(g)->full ? 8192 : 4096)
        GPUMB_SWEEP_ARRAY(g, threads, counts.at, counts.count) {
            job j = job_of(threads, (uint64_t)n, fill_grid, jacobi, wrong_jacobi);
            j.in_bytes = j.in2_bytes = j.out_bytes = (uint64_t)n * sizeof(double);
            gpumb_set_bytes(g, 24.0 * (double)n * (double)n);
            gpumb_set_flop(g, 5.0 * (double)n * (double)n);
            measure_on_threads(g, "jacobi", &j);
        }
    note_threads(g, "host/jacobi", "jacobi", gbps_of, "GB/s");
}

/* ---- n-body ---------------------------------------------------------------------------------- */

enum { BODIES = 32 };                    /* side by side */
static const float softening2 = 0.0001f; /* squared */

/* `in` has all x, then all y, z and masses; `out` the accelerations in x, y and z. */
static void nbody(const job *j, part p)
{
    const uint64_t n = j->n;
    const float *x = (const float *)j->in, *y = x + n, *z = y + n, *m = z + n;
    float *out = (float *)j->out;
    for (uint64_t first = p.begin; first < p.end; first += BODIES) {
        const int count = p.end - first < BODIES ? (int)(p.end - first) : BODIES;
        float px[BODIES], py[BODIES], pz[BODIES];
        float ax[BODIES] = {0}, ay[BODIES] = {0}, az[BODIES] = {0};
        for (int k = 0; k < BODIES; k++) {
            const uint64_t i = first + (uint64_t)(k < count ? k : 0);
            px[k] = x[i];
            py[k] = y[i];
            pz[k] = z[i];
        }
        for (uint64_t i = 0; i < n; i++) {
            const float xi = x[i], yi = y[i], zi = z[i], mi = m[i];
            for (int k = 0; k < BODIES; k++) {
                const float dx = xi - px[k], dy = yi - py[k], dz = zi - pz[k];
                const float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening2);
                const float w = mi * r * r * r;
                ax[k] += w * dx;
                ay[k] += w * dy;
                az[k] += w * dz;
            }
        }
        for (int k = 0; k < count; k++) {
            const uint64_t i = first + (uint64_t)k;
            out[i] = ax[k];
            out[n + i] = ay[k];
            out[2 * n + i] = az[k];
        }
    }
}

static void fill_bodies(const job *j, part p)
{
    float *at = (float *)j->in;
    for (uint64_t i = p.begin; i < p.end; i++)
        for (uint64_t k = 0; k < 4; k++)
            at[k * j->n + i] = k < 3 ? 2 * random_float(j->seed, 4 * i + k) - 1
                                     : (random_float(j->seed, 4 * i + k) + 0.1f) / (float)j->n;
}

/* Up to 64 bodies against fp64, each component within (6 sqrt(n) + 20) u sum |terms|: as
 * gpumb_nbody_check. */
static const char *wrong_nbody(const job *j)
{
    const uint64_t n = j->n, step = n / 64 + 1;
    const float *at = (const float *)j->in, *out = (const float *)j->out;
    for (uint64_t i = n - 1; i < n; i -= step) { /* past 0 it wraps around */
        double a[3] = {0, 0, 0}, terms[3] = {0, 0, 0};
        for (uint64_t other = 0; other < n; other++) {
            double d[3], r2 = (double)softening2;
            for (uint64_t k = 0; k < 3; k++) {
                d[k] = (double)at[k * n + other] - (double)at[k * n + i];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++) {
                const double term = (double)at[3 * n + other] * d[k] / (r2 * sqrt(r2));
                a[k] += term;
                terms[k] += fabs(term);
            }
        }
        for (uint64_t k = 0; k < 3; k++)
            if (!(fabs((double)out[k * n + i] - a[k]) <=
                  (6 * sqrt((double)n) + 20) * 0x1p-24 * terms[k]))
                return "an acceleration is off by more than its bound";
    }
    return NULL;
}

static void host_nbody(gpumb *g)
{
    const values counts = list_threads(g);
    GPUMB_SWEEP_LIST(g, n, gpumb_get_settings(g)->full ? 32768 : 4096)
        GPUMB_SWEEP_ARRAY(g, threads, counts.at, counts.count) {
            job j = job_of(threads, (uint64_t)n, fill_bodies, nbody, wrong_nbody);
            j.in_bytes = 4 * sizeof(float);
            j.out_bytes = 3 * sizeof(float);
            gpumb_set_flop(g, 20.0 * (double)n * (double)n);
            measure_on_threads(g, "nbody", &j);
        }
    note_threads(g, "host/nbody", "nbody", gflops_of, "GFLOP/s");
}

static const gpumb_benchmark benchmarks[] = {
    {"host/copy", "memcpy, each thread its part", host_copy},
    {"host/sum", "sums of integers and floats", host_sum},
    {"host/jacobi", "a Jacobi sweep, fp64, 24 bytes a point", host_jacobi},
    {"host/nbody", "forces of all bodies on all, 20 FLOP each by convention", host_nbody},
};

GPUMB_MAIN(benchmarks)

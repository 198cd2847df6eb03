/* The roofline of the device: a kernel that reads and writes words of 16 bytes and does more and
 * more arithmetic in between, in fp64, fp32 and fp16, and other kernels beside it, at the
 * intensities that they have. Williams, Waterman & Patterson, CACM 52, 2009. */
#define GPUMB_REDUCTIONS(X) X(F32, SUM) X(F64, SUM)
#define GPUMB_NBODY_FORMS(X) X(1, 1, LIBRARY) X(8, 4, APPROXIMATE)
#define GPUMB_NBODY_PAIRS(X) X(8, 2)
#define GPUMB_IMPLEMENTATION /* of its own, for these forms */
#include "gpumb.h"

#include "bench.h"
#include "kernels.h"
#include "rates.h"

#if defined(GPUMB_BACKEND_CUDA)
#include <cuda_fp16.h>
#elif defined(GPUMB_BACKEND_HIP)
#include <hip/hip_fp16.h>
#endif

#include <math.h>
#include <string.h>
#include <vector>

static const char bench_name[] = "roofline/roofs";

/* ---- multiply-adds on the way from memory to memory ------------------------------------------ */

enum { F64, F32, F16, TYPES };
static const char *const types[] = {"f64", "f32", "f16"};
static const char *const names[] = {"multiply-adds, f64", "multiply-adds, f32",
                                    "multiply-adds, f16"};
static const int units[] = {UNIT_F64, UNIT_F32, UNIT_F16};
static const int values_each[] = {1, 1, 2}; /* in a part of a word: f16 come in pairs */
static const double steps[] = {1.0 / 4096, 1.0 / 4096, 1.0 / 1024};

static __device__ inline double multiply_add(double x, double a, double b)
{
    return x * a + b;
}

static __device__ inline float multiply_add(float x, float a, float b)
{
    return x * a + b;
}

#if !defined(GPUMB_BACKEND_CPU)
static __device__ inline __half2 multiply_add(__half2 x, __half2 a, __half2 b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 530 /* these have no arithmetic of fp16 */
    const float2 p = __half22float2(x), q = __half22float2(a), r = __half22float2(b);
    return __floats2half2_rn(p.x * q.x + r.x, p.y * q.y + r.y);
#else
    return __hfma2(x, a, b);
#endif
}

static inline __half2 from_double(double x, __half2)
{
    return __float2half2_rn((float)x);
}
#endif

static inline double from_double(double x, double)
{
    return x;
}

static inline float from_double(double x, float)
{
    return (float)x;
}

/* A word per thread, or `each`; their parts take turns, `once` multiply-adds at a time. With a = 1
 * and a power of two for b all sums are exact, and count the multiply-adds.
 *
 * sm_90 has two pipes for fp16, HFMA2 and HFMA2.MMA, and takes both to reach its rate. Hence a and
 * b come as they are used: pairs made here, of one half each, would be multiplied by selecting that
 * half, which only the first can. And hence two words where there is much to do: the second's
 * results take twice as long, and with four parts the compiler has its share wait until the end. */
template <class Type, int once, int each>
static __global__ void add_up(const word<Type> *__restrict__ in, word<Type> *__restrict__ out,
                              Type a, Type b, uint64_t words, unsigned turns)
{
    const uint64_t first = blockIdx.x * (uint64_t)blockDim.x * each + threadIdx.x;
    word<Type> w[each];
    UNROLL
    for (unsigned j = 0; j < each; j++)
        w[j] = in[first + j * blockDim.x < words ? first + j * blockDim.x : 0];
    for (unsigned turn = 0; turn < turns; turn++) {
        UNROLL
        for (int k = 0; k < once; k++) {
            UNROLL
            for (unsigned j = 0; j < each; j++) {
                Type &x = w[j].at[k % word<Type>::COUNT];
                x = multiply_add(x, a, b);
            }
        }
    }
    UNROLL
    for (unsigned j = 0; j < each; j++)
        if (first + j * blockDim.x < words)
            out[first + j * blockDim.x] = w[j];
}

/* Random bits become multiples of 1/1024 in [-1, 1), as halves. */
static __global__ void make_halves(unsigned short *bits, uint64_t count)
{
    GPUMB_GRID_STRIDE(i, count) {
        const int k = (int)(bits[i] % 2048) - 1024, size = k < 0 ? -k : k;
        int exponent = -1;
        while (size >> (exponent + 1))
            exponent++;
        const int half =
            exponent < 0 ? 0 : ((exponent + 5) << 10) + ((size << (10 - exponent)) & 1023);
        bits[i] = (unsigned short)(half | (k < 0 ? 0x8000 : 0));
    }
}

static __host__ __device__ inline double half_of(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    const double size =
        exponent ? (1024 + fraction) * (1 << exponent) / 33554432.0 : fraction / 16777216.0;
    return exponent == 31 ? (double)NAN : bits & 0x8000 ? -size : size;
}

/* The value at an index, of any of the types. */
static __host__ __device__ inline double value_at(const void *from, uint64_t i, int type)
{
    return type == F64   ? ((const double *)from)[i]
           : type == F32 ? (double)((const float *)from)[i]
                         : half_of(((const unsigned short *)from)[i]);
}

/* How many multiply-adds the value at an index goes through, of `adds` of its word. */
static __host__ __device__ inline unsigned adds_of(uint64_t i, int type, unsigned adds)
{
    const unsigned all = type == F64 ? 2 : 4;
    const unsigned part = (unsigned)(type == F16 ? i / 2 % all : i % all);
    return adds / all + (part < adds % all);
}

static __global__ void count_wrong(const void *in, const void *out, uint64_t count, int type,
                                   double step, unsigned adds, unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(i, count)
        if (!(value_at(out, i, type) == value_at(in, i, type) + step * adds_of(i, type, adds))) {
            atomicAdd(&wrong[0], 1ull);
            atomicMin(&wrong[1], (unsigned long long)i);
        }
}

typedef struct arithmetic {
    gpumb_buffer *in, *out, *wrong;
    uint64_t words;
    int type;
    unsigned adds;
} arithmetic;

static void make_input(gpumb *g, void *user)
{
    const arithmetic *d = (const arithmetic *)user;
    static const gpumb_fill_kind kinds[] = {GPUMB_FILL_F64, GPUMB_FILL_F32, GPUMB_FILL_BITS};
    gpumb_fill(g, d->in, kinds[d->type], gpumb_get_settings(g)->seed);
    if (d->type == F16) {
        GPUMB_LAUNCH(make_halves, 1024, 256, 0, GPUMB_PTR(unsigned short, d->in), d->words * 8);
        keep_contents(g, d->in);
    }
}

/* All of them on the device, a stretch at either end on the host. */
static int check_arithmetic(gpumb *g, void *user)
{
    const arithmetic *d = (const arithmetic *)user;
    const uint64_t size = d->type == F64 ? 8 : d->type == F32 ? 4 : 2, count = d->words * 16 / size;
    unsigned long long wrong[2] = {0, ~0ull};
    if (gpumb_write(g, d->wrong, 0, wrong, sizeof wrong))
        return 0;
    GPUMB_LAUNCH(count_wrong, 1024, 256, 0, gpumb_data(d->in), gpumb_data(d->out), count, d->type,
                 steps[d->type], d->adds, GPUMB_PTR(unsigned long long, d->wrong));
    if (gpumb_read(g, d->wrong, 0, wrong, sizeof wrong))
        return 0;
    if (wrong[0]) {
        gpumb_reason(g, "wrong values: %llu, the first at %llu", wrong[0], wrong[1]);
        return 0;
    }
    const uint64_t bytes = d->words < 1024 ? d->words * 16 : 1024 * 16;
    std::vector<double> in((size_t)bytes / 8), out((size_t)bytes / 8);
    for (int end = 0; end < 2; end++) {
        const uint64_t start = end ? d->words * 16 - bytes : 0;
        if (gpumb_read(g, d->in, start, in.data(), bytes) ||
            gpumb_read(g, d->out, start, out.data(), bytes))
            return 0;
        for (uint64_t i = 0; i < bytes / size; i++) {
            const double found = value_at(out.data(), i, d->type),
                         wanted = value_at(in.data(), i, d->type) +
                                  steps[d->type] * adds_of(i, d->type, d->adds);
            if (!(found <= wanted && found >= wanted)) {
                gpumb_reason(g, "value %llu is %.17g, not %.17g by the host",
                             (unsigned long long)(start / size + i), found, wanted);
                return 0;
            }
        }
    }
    return 1;
}

template <class Type, int once> static void launch_once(const arithmetic *d)
{
    enum { EACH = once < 128 ? 1 : 2 };
    GPUMB_LAUNCH((add_up<Type, once, EACH>), ceil_div(d->words, 128 * EACH), 128, 0,
                 GPUMB_PTR(const word<Type>, d->in), GPUMB_PTR(word<Type>, d->out),
                 from_double(1, Type()), from_double(steps[d->type], Type()), d->words,
                 d->adds / once);
}

template <class Type> static void launch_adds(const arithmetic *d)
{
    switch (d->adds) {
    case 1:
        launch_once<Type, 1>(d);
        break;
    case 2:
        launch_once<Type, 2>(d);
        break;
    case 4:
        launch_once<Type, 4>(d);
        break;
    case 8:
        launch_once<Type, 8>(d);
        break;
    case 16:
        launch_once<Type, 16>(d);
        break;
    case 32:
        launch_once<Type, 32>(d);
        break;
    case 64:
        launch_once<Type, 64>(d);
        break;
    default:
        launch_once<Type, 128>(d);
    }
}

/* A row's work, and where it is in the figure. */
static void describe(gpumb *g, double bytes, double flop, int type)
{
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, flop);
    gpumb_set_footprint(g, (uint64_t)bytes);
    gpumb_set_peak_flop(g, unit_peak(g, units[type]));
    gpumb_set_value(g, "flop_per_byte", flop / bytes);
}

/* FLOP for the 32 bytes of a word that is read and written: 1/16 to 256 a byte. */
static void sweep_intensity(gpumb *g)
{
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const uint64_t words = !gpu ? 4099 : full ? (uint64_t)1 << 26 : (uint64_t)1 << 24;
    GPUMB_SWEEP_STRINGS(g, type, types, gpu ? TYPES : F16)
        GPUMB_SWEEP_FACTOR(g, flop_per_word, type == F16 ? 4 : 2, 8192, full || !gpu ? 2 : 4) {
            const unsigned each = 2 * (unsigned)values_each[type];
            arithmetic d;
            d.words = words;
            d.type = (int)type;
            d.adds = (unsigned)flop_per_word / each;
            d.in = gpumb_alloc(g, words * 16);
            d.out = gpumb_alloc(g, words * 16);
            d.wrong = gpumb_alloc(g, 16);
            make_input(g, &d);
            if (type == F16)
                make_anew_if_strict(g, make_input, &d);
            describe(g, 32.0 * (double)words, (double)(each * d.adds) * (double)words, d.type);
            gpumb_set_output(g, d.out);
            gpumb_set_verify(g, check_arithmetic, &d);
            if (!d.adds || (d.adds & (d.adds - 1) && d.adds % 128))
                gpumb_skip(g, "as many multiply-adds per word are not compiled");
            GPUMB_MEASURE(g, names[type]) {
                if (type == F64)
                    launch_adds<double>(&d);
                else if (type == F32)
                    launch_adds<float>(&d);
#if !defined(GPUMB_BACKEND_CPU)
                else
                    launch_adds<__half2>(&d);
#endif
            }
        }
}

/* ---- other kernels --------------------------------------------------------------------------- */

static __global__ void count_wrong_triad(const double *x, const double *y, const double *z,
                                         double s, uint64_t n, unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(i, n) {
        volatile double product = s * y[i];
        if (!(z[i] == fma(s, y[i], x[i]) || z[i] == x[i] + product)) {
            atomicAdd(&wrong[0], 1ull);
            atomicMin(&wrong[1], (unsigned long long)i);
        }
    }
}

static __global__ void count_wrong_sweep(const double *u, const double *f, const double *out,
                                         grid of, unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(point, (uint64_t)of.n * of.n) {
        const unsigned x = (unsigned)(point % of.n), y = (unsigned)(point / of.n);
        const uint64_t i = (uint64_t)y * of.pitch + x;
        const double wanted =
            inside(x, of.n) && inside(y, of.n)
                ? f[i] + 0.25 * ((u[i - 1] + u[i + 1]) + (u[i - of.pitch] + u[i + of.pitch]))
                : u[i];
        if (!(out[i] == wanted)) {
            atomicAdd(&wrong[0], 1ull);
            atomicMin(&wrong[1], (unsigned long long)point);
        }
    }
}

static const double triad_scalar = 0.4;

/* n: of a triad; else (0) a sweep over the grid. */
typedef struct three {
    gpumb_buffer *x, *y, *z, *wrong;
    uint64_t n;
    grid of;
} three;

static int check_three(gpumb *g, void *user)
{
    const three *d = (const three *)user;
    const double *x = GPUMB_PTR(const double, d->x), *y = GPUMB_PTR(const double, d->y),
                 *z = GPUMB_PTR(const double, d->z);
    unsigned long long wrong[2] = {0, ~0ull};
    if (gpumb_write(g, d->wrong, 0, wrong, sizeof wrong))
        return 0;
    if (d->n)
        GPUMB_LAUNCH(count_wrong_triad, 1024, 256, 0, x, y, z, triad_scalar, d->n,
                     GPUMB_PTR(unsigned long long, d->wrong));
    else
        GPUMB_LAUNCH(count_wrong_sweep, 1024, 256, 0, x, y, z, d->of,
                     GPUMB_PTR(unsigned long long, d->wrong));
    if (gpumb_read(g, d->wrong, 0, wrong, sizeof wrong))
        return 0;
    if (wrong[0])
        gpumb_reason(g, "wrong values: %llu, the first at %llu", wrong[0], wrong[1]);
    return wrong[0] == 0;
}

static three new_three(gpumb *g, uint64_t elements_each)
{
    const uint64_t seed = gpumb_get_settings(g)->seed;
    three d;
    memset(&d, 0, sizeof d);
    d.x = gpumb_alloc(g, elements_each * sizeof(double));
    d.y = gpumb_alloc(g, elements_each * sizeof(double));
    d.z = gpumb_alloc(g, elements_each * sizeof(double));
    d.wrong = gpumb_alloc(g, 16);
    gpumb_fill(g, d.y, GPUMB_FILL_F64, seed + 1);
    gpumb_fill(g, d.x, GPUMB_FILL_F64, seed);
    gpumb_set_output(g, d.z);
    return d;
}

/* x + s y: 2 FLOP for 24 bytes. */
static void measure_triad(gpumb *g, uint64_t n)
{
    three d = new_three(g, n);
    d.n = n;
    describe(g, 24.0 * (double)n, 2.0 * (double)n, F64);
    gpumb_set_verify(g, check_three, &d);
    GPUMB_MEASURE(g, "triad, f64")
        GPUMB_LAUNCH((wide<TRIAD, double, 1>), ceil_div(n, 256), 128, 0,
                     GPUMB_PTR(const double, d.x), GPUMB_PTR(const double, d.y),
                     GPUMB_PTR(double, d.z), triad_scalar, n);
}

/* A sweep of Jacobi's method: 5 FLOP for 24 bytes. */
static void measure_sweep(gpumb *g, int64_t n)
{
    const grid of = new_grid(n);
    const double points = (double)n * (double)n;
    three d = new_three(g, elements(of));
    d.of = of;
    describe(g, 24 * points, 5 * points, F64);
    gpumb_set_verify(g, check_three, &d);
    GPUMB_MEASURE(g, "Jacobi, f64")
        GPUMB_LAUNCH((sweep_words<double, 2>),
                     dim3((unsigned)ceil_div(of.n, 256), (unsigned)ceil_div(of.n, 2)), 128, 0,
                     GPUMB_PTR(const double, d.x), GPUMB_PTR(const double, d.y),
                     GPUMB_PTR(double, d.z), of);
}

/* An addition for each element. */
static void measure_sum(gpumb *g, gpumb_type type, uint64_t n)
{
    const uint64_t bytes = n * (type == GPUMB_F64 ? 8 : 4);
    gpumb_reduction how = gpumb_reduction_default();
    how.type = type;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, 8);
    gpumb_buffer *workspace = gpumb_reduction_workspace(g, &how, n);
    gpumb_fill(g, in, type == GPUMB_F64 ? GPUMB_FILL_F64 : GPUMB_FILL_F32,
               gpumb_get_settings(g)->seed);
    gpumb_reduction_check check = {&how, in, out, n};
    describe(g, (double)bytes, (double)n, type == GPUMB_F64 ? F64 : F32);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_reduction, &check);
    GPUMB_MEASURE(g, type == GPUMB_F64 ? "sum, f64" : "sum, f32")
        gpumb_reduce(g, &how, n, gpumb_data(in), gpumb_data(out), workspace);
}

/* 20 FLOP for each of n * n interactions, by convention; bytes that have to be moved, for the tiles
 * come from the caches: a body read, an acceleration written. */
static void measure_nbody(gpumb *g, const char *name, int pairs, int bodies, int unroll, uint64_t n)
{
    gpumb_nbody how = gpumb_nbody_default();
    how.pairs = pairs;
    how.bodies = bodies;
    how.unroll = unroll;
    how.rsqrt = bodies == 1 ? GPUMB_RSQRT_LIBRARY : GPUMB_RSQRT_APPROXIMATE;
    gpumb_buffer *positions = gpumb_alloc(g, n * 16), *accelerations = gpumb_alloc(g, n * 16);
    gpumb_buffer *workspace = gpumb_nbody_workspace(g, &how, n);
    gpumb_fill(g, positions, GPUMB_FILL_F32, gpumb_get_settings(g)->seed);
    gpumb_nbody_check check = {&how, positions, accelerations, n, 16};
    describe(g, 32.0 * (double)n, 20.0 * (double)n * (double)n, F32);
    gpumb_set_output(g, accelerations);
    gpumb_set_verify(g, gpumb_check_nbody, &check);
    GPUMB_MEASURE(g, name)
        gpumb_nbody_accelerations(g, &how, n, gpumb_data(positions), gpumb_data(accelerations),
                                  workspace);
}

static const char *const others[] = {"triad, f64", "sum, f64",     "Jacobi, f64",  "sum, f32",
                                     "n-body",     "n-body, best", "n-body, pairs"};
enum { OTHERS = 7 };

static void place_kernels(gpumb *g)
{
    const int gpu = is_gpu(g), full = gpumb_get_settings(g)->full;
    const uint64_t n = !gpu ? 100003 : full ? (uint64_t)1 << 28 : (uint64_t)1 << 26;
    const uint64_t bodies = gpu ? 512 * (uint64_t)gpumb_get_device(g)->multiprocessors : 1024;
    const int64_t side = !gpu ? 301 : full ? 16384 : 8192;
    GPUMB_SWEEP_STRINGS(g, placed, others, OTHERS) {
        if (placed == 0)
            measure_triad(g, n);
        else if (placed == 1 || placed == 3)
            measure_sum(g, placed == 1 ? GPUMB_F64 : GPUMB_F32, n);
        else if (placed == 2)
            measure_sweep(g, side);
        else if (placed == 4)
            measure_nbody(g, others[4], 0, 1, 1, bodies);
        else if (placed == 5)
            measure_nbody(g, others[5], 0, 8, 4, bodies);
        else
            measure_nbody(g, others[6], 1, 8, 2, bodies);
    }
}

/* ---- conclusions ----------------------------------------------------------------------------- */

static void roofline(gpumb *g)
{
    sweep_intensity(g);
    place_kernels(g);
    double ridge[TYPES] = {0}, gbps[TYPES] = {0}, gflops[TYPES] = {0};
    for (int type = 0; type < TYPES; type++) {
        const rows own = rows_of(bench_name, names[type]);
        const extremes memory = extremes_of(g, own, gbps_of), most = extremes_of(g, own, gflops_of);
        if (!memory.high || !most.high || most.count < 2)
            continue;
        gbps[type] = memory.high->gbps;
        gflops[type] = most.high->gflops;
        ridge[type] = gflops[type] / gbps[type];
        const double peak = unit_peak(g, units[type]) / 1e9;
        sentence s = no_words();
        if (peak < HUGE_VAL)
            say(&s, ", %.1f %% of the peak", 100 * gflops[type] / peak);
        gpumb_note(g, "Roofs of %s: %.0f GB/s and %.0f GFLOP/s%s; they meet at %.3g FLOP a byte.",
                   types[type], gbps[type], gflops[type], s.text, ridge[type]);
    }
    sentence s = no_words();
    for (int k = 0; k < OTHERS; k++) {
        const gpumb_result *r = first_row(g, rows_of(bench_name, others[k]));
        const int type = strstr(others[k], "f64") ? F64 : F32;
        if (!r || !(ridge[type] > 0))
            continue;
        const double intensity = r->flop / r->bytes;
        const double roof = intensity < ridge[type] ? intensity * gbps[type] : gflops[type];
        say_next(&s, ", ");
        say(&s, "%s at %.3g FLOP a byte %.0f GFLOP/s, %.1f %%", others[k], intensity, r->gflops,
            100 * r->gflops / roof);
    }
    if (s.text[0])
        gpumb_note(g, "Other kernels, and the share of the roof above them: %s.", s.text);
}

static const gpumb_benchmark benchmarks[] = {
    {"roofline/roofs", "rate over arithmetic intensity, and kernels placed on it", roofline},
};

GPUMB_MAIN(benchmarks)

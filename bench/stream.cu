/* The kernels of STREAM and BabelStream, over their launch geometry and as BabelStream launches
 * them; a random gather over footprint and element size; shared memory with and without bank
 * conflicts. */
#include "gpumb.h"

#include "bench.h"
#include "hash.h"
#include "kernels.h"

#include <math.h>
#include <string.h>
#include <vector>

/* ---- the five kernels ------------------------------------------------------------------------ */

static const char *const operations[] = {"copy", "mul", "add", "triad", "dot"};
static const char *const types[] = {"f64", "f32"};

static const double scalar = 0.4; /* BabelStream's */

/* As BabelStream has them: one element per thread. */
template <int op, class Type>
static __global__ void narrow(const Type *__restrict__ x, const Type *__restrict__ y,
                              Type *__restrict__ z, Type s, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        z[i] = element<op>(x[i], op >= ADD ? y[i] : Type(0), s);
}

/* As BabelStream has it: a sum for each block, which the host adds up. */
template <class Type>
static __global__ void narrow_dot(const Type *__restrict__ x, const Type *__restrict__ y,
                                  Type *sums, uint64_t n)
{
    GPUMB_SHARED(Type, shared);
    Type sum = 0;
    GPUMB_GRID_STRIDE(i, n)
        sum += x[i] * y[i];
    sum = sum_of_block(sum, shared);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/* Words of 16 bytes, twice `words` of them in flight per thread; the last block to finish adds up
 * the blocks' sums. `finished` is 0 before and after. */
template <class Type, int words>
static __global__ void wide_dot(const Type *__restrict__ x, const Type *__restrict__ y, Type *sums,
                                unsigned *finished, uint64_t n)
{
    typedef word<Type> Word;
    GPUMB_SHARED(Type, shared);
    const uint64_t tile = (uint64_t)blockDim.x * words, tiles = n / Word::COUNT / tile;
    const Word *xs = (const Word *)x, *ys = (const Word *)y;
    Type sum[Word::COUNT] = {};
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        Word a[words], b[words];
        UNROLL
        for (int k = 0; k < words; k++) {
            a[k] = xs[t * tile + (unsigned)k * blockDim.x + threadIdx.x];
            b[k] = ys[t * tile + (unsigned)k * blockDim.x + threadIdx.x];
        }
        UNROLL
        for (int k = 0; k < words; k++) {
            UNROLL
            for (int e = 0; e < Word::COUNT; e++)
                sum[e] += a[k].at[e] * b[k].at[e];
        }
    }
    for (uint64_t i = tiles * tile * Word::COUNT + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
         i < n; i += gridDim.x * (uint64_t)blockDim.x)
        sum[0] += x[i] * y[i];
    UNROLL
    for (int e = 1; e < Word::COUNT; e++)
        sum[0] += sum[e];
    sum_of_grid(sum[0], shared, &sums[0], &sums[1], finished);
}

/* ---- their checks ---------------------------------------------------------------------------- */

enum { PARTS = 1 << 14, LONGEST = 1 << 12 }; /* sums of the reference; a stretch for the host */

/* What the device adds up for the check: elements that are neither the product and sum rounded once
 * nor those rounded twice, and the index of the first. */
template <int op, class Type>
static __global__ void count_wrong(const Type *x, const Type *y, const Type *z, Type s, uint64_t n,
                                   unsigned long long *wrong)
{
    GPUMB_GRID_STRIDE(i, n) {
        const Type b = op >= ADD ? y[i] : Type(0), found = z[i];
        volatile Type product = op == TRIAD ? s * b : Type(0); /* so that it is rounded */
        const Type once = op == COPY  ? x[i]
                          : op == MUL ? s * x[i]
                          : op == ADD ? x[i] + b
                                      : /* TRIAD */ fma(s, b, x[i]);
        if (!(found == once || (op == TRIAD && found == x[i] + product))) {
            atomicAdd(&wrong[0], 1ull);
            atomicMin(&wrong[1], (unsigned long long)i);
        }
    }
}

/* Products without rounding, in pairs of doubles (Dekker 1971, Ogita, Rump & Oishi 2005), and the
 * sum of their magnitudes: for each part an own stretch of every PARTS-th element. */
template <class Type>
static __global__ void exact_dot(const Type *x, const Type *y, double *sums, uint64_t n)
{
    const uint64_t part = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    double high = 0, low = 0, magnitude = 0;
    for (uint64_t i = part; i < n && part < PARTS; i += PARTS) {
        const double a = (double)x[i], b = (double)y[i], product = a * b;
        const double sum = high + product, back = sum - high;
        low += fma(a, b, -product) + ((high - (sum - back)) + (product - back));
        high = sum;
        magnitude += fabs(product);
    }
    if (part < PARTS) {
        sums[3 * part] = high;
        sums[3 * part + 1] = low;
        sums[3 * part + 2] = magnitude;
    }
}

/* A region's data, and what its check needs. */
typedef struct arrays {
    gpumb_buffer *x, *y, *z, *sums, *finished, *wrong, *exact;
    uint64_t n, seed;
    int op, single;   /* single: fp32 */
    uint64_t parts;   /* of a dot product, to be added up by the host; 0: the sum is there */
    double additions; /* that an element of a dot product goes through, at most */
} arrays;

static double input(const arrays *a, int second, uint64_t i)
{
    const uint64_t seed = a->seed + (uint64_t)second;
    if (a->single) {
        const uint64_t two = gpumb_fill_word(GPUMB_FILL_F32, seed, i / 2);
        const uint32_t bits = (uint32_t)(i % 2 ? two >> 32 : two);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    const uint64_t bits = gpumb_fill_word(GPUMB_FILL_F64, seed, i);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What z[i] has to be, rounded once, and (in `twice`) rounded after the product as well. */
static double expected(const arrays *a, uint64_t i, double *twice)
{
    const double x = input(a, 0, i), y = input(a, 1, i);
    if (a->single) {
        const float s = (float)scalar, xs = (float)x, ys = (float)y;
        volatile float product = s * ys;
        *twice = (double)(a->op == TRIAD ? xs + product : element<ADD>(xs, ys, s));
        return (double)(a->op == COPY  ? xs
                        : a->op == MUL ? s * xs
                        : a->op == ADD ? xs + ys
                                       : /* TRIAD */ fmaf(s, ys, xs));
    }
    volatile double product = scalar * y;
    *twice = a->op == TRIAD ? x + product : x + y;
    return a->op == COPY  ? x
           : a->op == MUL ? scalar * x
           : a->op == ADD ? x + y
                          : /* TRIAD */ fma(scalar, y, x);
}

/* The device looks at all elements, and the host, with inputs of its own, at three stretches. */
template <int op, class Type> static int check_elements(gpumb *g, const arrays *a)
{
    unsigned long long wrong[2] = {0, ~0ull};
    if (gpumb_write(g, a->wrong, 0, wrong, sizeof wrong))
        return 0;
    GPUMB_LAUNCH((count_wrong<op, Type>), 1024, 256, 0, GPUMB_PTR(const Type, a->x),
                 GPUMB_PTR(const Type, a->y), GPUMB_PTR(const Type, a->z), (Type)scalar, a->n,
                 GPUMB_PTR(unsigned long long, a->wrong));
    if (gpumb_read(g, a->wrong, 0, wrong, sizeof wrong))
        return 0;
    if (wrong[0]) {
        gpumb_reason(g, "wrong elements: %llu, the first at %llu", wrong[0], wrong[1]);
        return 0;
    }
    const uint64_t most = LONGEST, count = a->n < most ? a->n : most;
    std::vector<Type> found((size_t)count);
    for (uint64_t part = 0; part < 3; part++) {
        const uint64_t start = (a->n - count) * part / 2;
        if (gpumb_read(g, a->z, start * sizeof(Type), found.data(), count * sizeof(Type)))
            return 0;
        for (uint64_t i = 0; i < count; i++) {
            double twice;
            const double once = expected(a, start + i, &twice), value = (double)found[(size_t)i];
            if (!(value <= once && value >= once) &&
                !(op == TRIAD && value <= twice && value >= twice)) {
                gpumb_reason(g, "element %llu is %.17g, not %.17g", (unsigned long long)(start + i),
                             value, once);
                return 0;
            }
        }
    }
    return 1;
}

/* |found - exact| <= gamma(h) sum |x y|, h roundings for the product and the additions (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). */
template <class Type> static int check_dot(gpumb *g, const arrays *a)
{
    const double u = a->single ? ldexp(1, -24) : ldexp(1, -53);
    std::vector<Type> sums((size_t)(a->parts ? a->parts : 1));
    std::vector<double> exact(3 * (size_t)PARTS);
    GPUMB_LAUNCH(exact_dot<Type>, PARTS / 128, 128, 0, GPUMB_PTR(const Type, a->x),
                 GPUMB_PTR(const Type, a->y), GPUMB_PTR(double, a->exact), a->n);
    if (gpumb_read(g, a->sums, 0, sums.data(), sums.size() * sizeof(Type)) ||
        gpumb_read(g, a->exact, 0, exact.data(), exact.size() * sizeof(double)))
        return 0;
    long double truth = 0, magnitude = 0, found = 0;
    for (int part = 0; part < PARTS; part++) {
        truth +=
            (long double)exact[(size_t)(3 * part)] + (long double)exact[(size_t)(3 * part + 1)];
        magnitude += (long double)exact[(size_t)(3 * part + 2)];
    }
    for (Type sum : sums)
        found += (long double)sum;
    const double h = a->additions + 1, bound = h * u / (1 - h * u) * (double)magnitude;
    if (!(fabs((double)(found - truth)) <= bound)) {
        gpumb_reason(g, "the product is %.17Lg, not %.17Lg +- %.2g", found, truth, bound);
        return 0;
    }
    return 1;
}

template <class Type> static int check_type(gpumb *g, const arrays *a)
{
    switch (a->op) {
    case COPY:
        return check_elements<COPY, Type>(g, a);
    case MUL:
        return check_elements<MUL, Type>(g, a);
    case ADD:
        return check_elements<ADD, Type>(g, a);
    case TRIAD:
        return check_elements<TRIAD, Type>(g, a);
    default:
        return check_dot<Type>(g, a);
    }
}

static int check_arrays(gpumb *g, void *user)
{
    const arrays *a = (const arrays *)user;
    return a->single ? check_type<float>(g, a) : check_type<double>(g, a);
}

/* ---- their rows ------------------------------------------------------------------------------ */

/* Threads and 16-byte words each; 0 words: BabelStream's form. Blocks: of a dot product. */
typedef struct geometry {
    int block, words;
    uint64_t blocks;
} geometry;

/* The fastest of stream/geometry on an H200. */
static geometry fastest_geometry(gpumb *g, int op)
{
    const uint64_t sms = (uint64_t)gpumb_get_device(g)->multiprocessors;
    const geometry elements = {is_gpu(g) ? 128 : 1024, 1, 0},
                   dot = {is_gpu(g) ? 512 : 1, 4, is_gpu(g) ? 4 * sms : sms};
    return op == DOT ? dot : elements;
}

static geometry babelstream(gpumb *g)
{
    const geometry how = {is_gpu(g) ? 1024 : 64, 0,
                          (is_gpu(g) ? 4 : 1) * (uint64_t)gpumb_get_device(g)->multiprocessors};
    return how;
}

template <int op, class Type, int words>
static void launch_wide(const arrays *a, const geometry *how)
{
    GPUMB_LAUNCH((wide<op, Type, words>),
                 ceil_div(a->n, (uint64_t)how->block * words * word<Type>::COUNT), how->block, 0,
                 GPUMB_PTR(const Type, a->x), GPUMB_PTR(const Type, a->y), GPUMB_PTR(Type, a->z),
                 (Type)scalar, a->n);
}

template <int op, class Type> static void launch_elements(const arrays *a, const geometry *how)
{
    if (how->words == 4)
        launch_wide<op, Type, 4>(a, how);
    else if (how->words == 2)
        launch_wide<op, Type, 2>(a, how);
    else if (how->words)
        launch_wide<op, Type, 1>(a, how);
    else
        GPUMB_LAUNCH((narrow<op, Type>), ceil_div(a->n, (uint64_t)how->block), how->block, 0,
                     GPUMB_PTR(const Type, a->x), GPUMB_PTR(const Type, a->y),
                     GPUMB_PTR(Type, a->z), (Type)scalar, a->n);
}

template <class Type, int words> static void launch_wide_dot(const arrays *a, const geometry *how)
{
    GPUMB_LAUNCH_BARRIER((wide_dot<Type, words>), how->blocks, how->block,
                         (size_t)(how->block + 1) * sizeof(Type), GPUMB_PTR(const Type, a->x),
                         GPUMB_PTR(const Type, a->y), GPUMB_PTR(Type, a->sums),
                         GPUMB_PTR(unsigned, a->finished), a->n);
}

template <class Type> static void launch(const arrays *a, const geometry *how)
{
    switch (a->op) {
    case COPY:
        launch_elements<COPY, Type>(a, how);
        break;
    case MUL:
        launch_elements<MUL, Type>(a, how);
        break;
    case ADD:
        launch_elements<ADD, Type>(a, how);
        break;
    case TRIAD:
        launch_elements<TRIAD, Type>(a, how);
        break;
    default:
        if (how->words == 4)
            launch_wide_dot<Type, 4>(a, how);
        else if (how->words == 2)
            launch_wide_dot<Type, 2>(a, how);
        else if (how->words)
            launch_wide_dot<Type, 1>(a, how);
        else
            GPUMB_LAUNCH_BARRIER(narrow_dot<Type>, how->blocks, how->block,
                                 (size_t)how->block * sizeof(Type), GPUMB_PTR(const Type, a->x),
                                 GPUMB_PTR(const Type, a->y), GPUMB_PTR(Type, a->sums), a->n);
    }
}

enum { MOST_BLOCKS = 1 << 16 }; /* of a dot product */

static arrays new_arrays(gpumb *g, int64_t n, int op, int single)
{
    arrays a;
    const uint64_t elem = single ? 4 : 8, bytes = (uint64_t)n * elem;
    const gpumb_fill_kind kind = single ? GPUMB_FILL_F32 : GPUMB_FILL_F64;
    memset(&a, 0, sizeof a);
    a.n = (uint64_t)n;
    a.seed = gpumb_get_settings(g)->seed;
    a.op = op;
    a.single = single;
    a.x = gpumb_alloc(g, bytes);
    a.y = gpumb_alloc(g, bytes);
    gpumb_fill(g, a.y, kind, a.seed + 1);
    gpumb_fill(g, a.x, kind, a.seed);
    if (op != DOT)
        a.z = gpumb_alloc(g, bytes);
    a.sums = gpumb_alloc(g, (MOST_BLOCKS + 1) * elem);
    a.finished = gpumb_alloc(g, sizeof(unsigned));
    gpumb_fill(g, a.finished, GPUMB_FILL_ZERO, 0);
    gpumb_fill(g, a.x, kind, a.seed); /* the kind that the rows show */
    a.wrong = gpumb_alloc(g, 16);
    a.exact = gpumb_alloc(g, 3 * PARTS * sizeof(double));
    return a;
}

/* Describes the next region. */
static void describe(gpumb *g, arrays *a, const geometry *how)
{
    static const int moved[] = {2, 2, 3, 3, 2}, flop[] = {0, 1, 1, 2, 2};
    const double elem = a->single ? 4 : 8, n = (double)a->n;
    gpumb_set_bytes(g, moved[a->op] * elem * n);
    gpumb_set_flop(g, flop[a->op] * n);
    gpumb_set_footprint(g, (uint64_t)(moved[a->op] * elem * n));
    gpumb_set_output(g, a->op == DOT ? a->sums : a->z);
    if (a->op == DOT && how) {
        /* a thread's own, with what others lack; its words, two trees; sums of blocks, in turn */
        const uint64_t block = (uint64_t)how->block, alone = ceil_div(a->n, how->blocks * block);
        a->parts = how->words ? 0 : how->blocks;
        a->additions = (double)(alone + (uint64_t)how->words * 4 + 2 * 10 +
                                (how->words ? ceil_div(how->blocks, block) : 0));
    }
    gpumb_set_verify(g, check_arrays, a);
}

static void measure_operation(gpumb *g, const char *name, arrays *a, const geometry *how)
{
    describe(g, a, how);
    GPUMB_MEASURE(g, name) {
        if (a->single)
            launch<float>(a, how);
        else
            launch<double>(a, how);
    }
}

/* ---- stream/kernels -------------------------------------------------------------------------- */

static const char kernels_bench[] = "stream/kernels";

/* The row of a form; NULL: none to conclude from. */
static const gpumb_result *find(gpumb *g, const char *kernel, int64_t op, int64_t type, int64_t n)
{
    return first_row(
        g, having(having(having(rows_of(kernels_bench, kernel), "operation", op), "type", type),
                  "n", n));
}

/* BabelStream's own figures: best of 100 runs of 2^25 doubles by the host's clock, in GB/s. The
 * peak is the data sheet's. github.com/UoB-HPC/BabelStream/issues/194 */
static const struct {
    const char *device;
    double peak, gbps[OPERATIONS];
} published = {"GH200 (Julia, CUDA)", 4000, {2979, 2891, 3302, 3315, 1838}};

static void note_kernels(gpumb *g, int64_t n)
{
    for (int type = 0; type < 2; type++) {
        sentence s = no_words();
        for (int op = 0; op < OPERATIONS; op++) {
            const gpumb_result *best = find(g, "fastest", op, type, n),
                               *other = find(g, "babelstream", op, type, n);
            if (!best || !other)
                continue;
            say_next(&s, ", ");
            say(&s, "%s %.0f and %.0f (%.2f x)", operations[op], best->gbps, other->gbps,
                best->gbps / other->gbps);
        }
        const gpumb_result *copy = find(g, "fastest", COPY, type, n),
                           *vendor = find(g, "memcpy", COPY, type, n);
        if (s.text[0])
            gpumb_note(
                g, "GB/s of %lld %s, in words of 16 bytes and as BabelStream launches them: %s.",
                (long long)n, types[type], s.text);
        if (copy && vendor)
            gpumb_note(g, "The fastest copy of %lld %s has %.3f times the rate of Memcpy.",
                       (long long)n, types[type], copy->gbps / vendor->gbps);
    }
    const gpumb_result *triad = find(g, "fastest", TRIAD, 0, n);
    if (triad && triad->pct_peak > 0 && is_gpu(g))
        gpumb_note(g,
                   "BabelStream's own on a %s: copy %.0f, mul %.0f, add %.0f, triad %.0f, dot %.0f "
                   "GB/s; triad is %.1f %% of the peak there, %.1f %% here.",
                   published.device, published.gbps[COPY], published.gbps[MUL], published.gbps[ADD],
                   published.gbps[TRIAD], published.gbps[DOT],
                   100 * published.gbps[TRIAD] / published.peak, triad->pct_peak);
}

/* Interleaved: BabelStream's launch and the fastest, for copy with the vendor's. */
static void stream_kernels(gpumb *g)
{
    static const int64_t full[] = {1 << 25, 1 << 29}, quick[] = {1 << 27}, cpu[] = {1 << 22};
    const values n_values = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_ARRAY(g, n, n_values.at, n_values.count)
        GPUMB_SWEEP_STRINGS(g, type, types, 2)
            GPUMB_SWEEP_STRINGS(g, operation, operations, OPERATIONS) {
                arrays a[2];
                const geometry how[2] = {babelstream(g), fastest_geometry(g, (int)operation)};
                a[0] = a[1] = new_arrays(g, n, (int)operation, (int)type);
                GPUMB_INTERLEAVE(g) {
                    measure_operation(g, "babelstream", &a[0], &how[0]);
                    measure_operation(g, "fastest", &a[1], &how[1]);
                    if (operation == COPY) {
                        describe(g, &a[0], NULL);
                        GPUMB_MEASURE(g, "memcpy")
                            gpumb_memcpy(g, gpumb_data(a[0].z), gpumb_data(a[0].x),
                                         gpumb_size(a[0].x));
                    }
                }
            }
    const rows all = rows_of(kernels_bench, NULL);
    for (int64_t n = next_value(g, all, "n", 0); n > 0; n = next_value(g, all, "n", n))
        note_kernels(g, n);
}

/* ---- stream/geometry ------------------------------------------------------------------------- */

static const char geometry_bench[] = "stream/geometry";

static void stream_geometry(gpumb *g)
{
    static const char *const some[] = {"copy", "triad", "dot"};
    static const int ops[] = {COPY, TRIAD, DOT};
    static const int64_t words_full[] = {0, 1, 4}, words_quick[] = {1, 4};
    static const int64_t block_full[] = {64, 128, 256, 512, 1024}, block_quick[] = {128, 512};
    static const int64_t cpu[] = {64};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const values some_words =
        choose(g, VALUES(words_full), VALUES(words_quick), VALUES(words_quick));
    const values some_blocks = choose(g, VALUES(block_full), VALUES(block_quick), VALUES(cpu));
    const int64_t most = !gpu ? 1 << 20 : full ? 1 << 28 : 1 << 27;
    const uint64_t sms = (uint64_t)gpumb_get_device(g)->multiprocessors;
    GPUMB_SWEEP_STRINGS(g, operation, some, 3)
        GPUMB_SWEEP_ARRAY(g, words, some_words.at, some_words.count)
            GPUMB_SWEEP_ARRAY(g, block, some_blocks.at, some_blocks.count)
                GPUMB_SWEEP_FACTOR(g, n, most, most, 2) {
                    arrays a = new_arrays(g, n, ops[operation], 0);
                    /* as many blocks as are resident at 32 registers a thread, at most 16 */
                    const uint64_t each = 2048 / (uint64_t)(block > 128 ? block : 128);
                    const geometry how = {(int)block, (int)words, gpu ? each * sms : sms};
                    measure_operation(g, words ? "words" : "elements", &a, &how);
                }
    for (int k = 0; k < 3; k++) {
        const extremes e =
            extremes_of(g, having(rows_of(geometry_bench, NULL), "operation", k), gbps_of);
        if (e.count > 1 && e.high)
            gpumb_note(g,
                       "%s of doubles is fastest with blocks of %lld and %lld words of 16 bytes a "
                       "thread: %.0f GB/s; the slowest geometry has %.0f.",
                       some[k], (long long)gpumb_row_axis(g, e.high_row, "block"),
                       (long long)gpumb_row_axis(g, e.high_row, "words"), e.high->gbps,
                       e.low->gbps);
    }
}

/* ---- stream/gather --------------------------------------------------------------------------- */

static const char gather_bench[] = "stream/gather";

enum { IN_FLIGHT = 8 }; /* gathers of a thread */

/* Which element the k-th gather takes. */
static __host__ __device__ inline uint64_t gathered(uint32_t k, uint64_t elements)
{
    return mixed(k) * elements >> 32;
}

template <int words> struct alignas(4 * words <= 16 ? 4 * words : 16) element_of {
    unsigned at[words];
};

/* Each thread adds up the 32-bit words of IN_FLIGHT elements from anywhere in the table. */
template <int words>
static __global__ void gather(const element_of<words> *__restrict__ table, unsigned *out,
                              uint64_t elements)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    element_of<words> x[IN_FLIGHT];
    UNROLL
    for (unsigned k = 0; k < IN_FLIGHT; k++)
        x[k] = table[gathered(thread * IN_FLIGHT + k, elements)];
    unsigned sum = 0;
    UNROLL
    for (unsigned k = 0; k < IN_FLIGHT; k++) {
        UNROLL
        for (int w = 0; w < words; w++)
            sum += x[k].at[w] * (k + 1);
    }
    out[thread] = sum;
}

typedef struct gather_check {
    gpumb_buffer *out;
    uint64_t seed, threads, elements;
    int words;
} gather_check;

/* The sums of every 61st thread, of all in small grids. */
static int check_gather(gpumb *g, void *user)
{
    const gather_check *c = (const gather_check *)user;
    const unsigned step = c->threads > 1 << 16 ? 61 : 1, words = (unsigned)c->words;
    std::vector<unsigned> found((size_t)c->threads);
    if (gpumb_read(g, c->out, 0, found.data(), c->threads * sizeof(unsigned)))
        return 0;
    for (unsigned t = 0; t < c->threads; t += step) {
        unsigned sum = 0;
        for (unsigned k = 0; k < IN_FLIGHT; k++) {
            const uint64_t at = gathered(t * IN_FLIGHT + k, c->elements) * words;
            for (uint64_t w = at; w < at + words; w++) {
                const uint64_t two = gpumb_fill_word(GPUMB_FILL_BITS, c->seed, w / 2);
                sum += (unsigned)(w % 2 ? two >> 32 : two) * (k + 1);
            }
        }
        if (sum != found[t]) {
            gpumb_reason(g, "the sum of thread %u is %u, not %u", t, found[t], sum);
            return 0;
        }
    }
    return 1;
}

template <int words> static void launch_gather(const gather_check *c, gpumb_buffer *table)
{
    GPUMB_LAUNCH(gather<words>, c->threads / 256, 256, 0, GPUMB_PTR(const element_of<words>, table),
                 GPUMB_PTR(unsigned, c->out), c->elements);
}

static void stream_gather(gpumb *g)
{
    static const int64_t elems[] = {4, 8, 16, 32};
    const int full = gpumb_get_settings(g)->full, gpu = is_gpu(g);
    const int64_t most = !gpu ? 1 << 24 : full ? (int64_t)1 << 34 : (int64_t)1 << 30;
    gather_check c;
    c.threads = gpu ? 1 << 21 : 1 << 15;
    c.seed = gpumb_get_settings(g)->seed;
    c.out = gpumb_alloc(g, c.threads * sizeof(unsigned));
    gpumb_buffer *table = gpumb_alloc(g, (uint64_t)most);
    gpumb_fill(g, table, GPUMB_FILL_BITS, c.seed);
    GPUMB_SWEEP_ARRAY(g, elem, elems, 4)
        GPUMB_SWEEP_FACTOR(g, footprint, 1 << 14, most, full ? 4 : 16) {
            c.elements = (uint64_t)(footprint / elem);
            c.words = (int)elem / 4;
            gpumb_set_bytes(g, (double)(c.threads * IN_FLIGHT * (uint64_t)elem));
            gpumb_set_footprint(g, (uint64_t)footprint);
            gpumb_set_output(g, c.out);
            gpumb_set_verify(g, check_gather, &c);
            GPUMB_MEASURE(g, "gather") {
                if (elem == 4)
                    launch_gather<1>(&c, table);
                else if (elem == 8)
                    launch_gather<2>(&c, table);
                else if (elem == 16)
                    launch_gather<4>(&c, table);
                else
                    launch_gather<8>(&c, table);
            }
        }
    const rows all = rows_of(gather_bench, NULL);
    const int64_t last = last_value(g, all, "footprint"),
                  first = next_value(g, all, "footprint", 0);
    for (int k = 0; k < 2 && last > first; k++) {
        const rows at = having(all, "footprint", k ? last : first);
        const gpumb_result *small = first_row(g, having(at, "elem", 4)),
                           *large = first_row(g, having(at, "elem", 32));
        sentence s = no_words();
        say_bytes(&s, k ? last : first);
        if (small && large)
            gpumb_note(g,
                       "Random elements from %s: %.3g of 4 bytes and %.3g of 32 bytes per ns, %.0f "
                       "and %.0f GB/s that are wanted.",
                       s.text, small->gbps / 4, large->gbps / 32, small->gbps, large->gbps);
    }
}

/* ---- stream/shared --------------------------------------------------------------------------- */

static const char shared_bench[] = "stream/shared";

enum { PIECE = 1024, SHARED_BYTES = 1 << 15, SHARED_BLOCK = 1024 }; /* PIECE: elements */

static __host__ __device__ inline unsigned word_in_shared(unsigned w)
{
    return w * 0x9e3779b1u;
}

/* Each lane reads the element at `stride` times its index in each of the pieces that fit 32 KiB,
 * again and again, with the index changed alike for all: what lies in one bank stays together. */
template <int words>
static __global__ void read_shared(unsigned *out, unsigned stride, unsigned rounds)
{
    const unsigned pieces = SHARED_BYTES / PIECE / 4 / words;
    GPUMB_SHARED(element_of<words>, elements);
    unsigned *all = (unsigned *)elements;
    for (unsigned w = threadIdx.x; w < SHARED_BYTES / 4; w += blockDim.x)
        all[w] = word_in_shared(w);
    __syncthreads();
    unsigned sum = blockIdx.x;
    for (unsigned round = 0; round < rounds; round++) {
        const unsigned at = (threadIdx.x * stride % PIECE) ^ (round % 32);
        element_of<words> x[pieces];
        UNROLL
        for (unsigned k = 0; k < pieces; k++)
            x[k] = elements[k * PIECE + at];
        UNROLL
        for (unsigned k = 0; k < pieces; k++) {
            UNROLL
            for (int w = 0; w < words; w++)
                sum += x[k].at[w];
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

typedef struct shared_check {
    gpumb_buffer *out;
    unsigned blocks, block, stride, rounds;
    int words;
} shared_check;

static int check_shared(gpumb *g, void *user)
{
    const shared_check *c = (const shared_check *)user;
    const unsigned words = (unsigned)c->words, pieces = SHARED_BYTES / PIECE / 4 / words;
    std::vector<unsigned> found((size_t)c->blocks * c->block), expected_sums(c->block, 0);
    if (gpumb_read(g, c->out, 0, found.data(), found.size() * sizeof(unsigned)))
        return 0;
    for (unsigned t = 0; t < c->block; t++)
        for (unsigned round = 0; round < c->rounds; round++)
            for (unsigned k = 0; k < pieces; k++)
                for (unsigned w = 0; w < words; w++)
                    expected_sums[t] += word_in_shared(
                        (k * PIECE + ((t * c->stride % PIECE) ^ (round % 32))) * words + w);
    for (unsigned i = 0; i < c->blocks * c->block; i++)
        if (found[i] != expected_sums[i % c->block] + i / c->block) {
            gpumb_reason(g, "thread %u of block %u: the sum is %u, not %u", i % c->block,
                         i / c->block, found[i], expected_sums[i % c->block] + i / c->block);
            return 0;
        }
    return 1;
}

/* The most words of one bank that lanes which are served together want: 128 bytes' worth of them,
 * from 32 banks of 4 bytes. */
static int conflicts(int words, unsigned stride)
{
    int most = 1;
    for (int bank = 0; bank < 32; bank++) {
        int wanted = 0;
        for (int lane = 0; lane < 32 / words; lane++)
            for (int w = 0; w < words; w++)
                wanted += (int)(((unsigned)lane * stride % PIECE * (unsigned)words + (unsigned)w) %
                                32) == bank;
        most = wanted > most ? wanted : most;
    }
    return most;
}

static void stream_shared(gpumb *g)
{
    static const int64_t elems[] = {4, 8, 16};
    static const int64_t full_strides[] = {1, 2, 3, 4, 7, 8, 16, 17, 24, 31, 32, 33};
    static const int64_t quick_strides[] = {1, 2, 3, 8, 32};
    const values strides =
        choose(g, VALUES(full_strides), VALUES(quick_strides), VALUES(quick_strides));
    const gpumb_device *d = gpumb_get_device(g);
    const double peak = 128.0 * d->multiprocessors * d->sm_clock_hz / 1e9;
    shared_check c;
    c.block = is_gpu(g) ? SHARED_BLOCK : 64;
    c.blocks = (is_gpu(g) ? 2 : 1) * (unsigned)d->multiprocessors;
    c.rounds = is_gpu(g) ? 256 : 16;
    c.out = gpumb_alloc(g, (uint64_t)c.blocks * c.block * sizeof(unsigned));
    GPUMB_SWEEP_ARRAY(g, elem, elems, 3)
        GPUMB_SWEEP_ARRAY(g, stride, strides.at, strides.count) {
            c.words = (int)elem / 4;
            c.stride = (unsigned)stride;
            const double bytes = SHARED_BYTES / (int)PIECE;
            gpumb_set_bytes(g, bytes * c.blocks * c.block * c.rounds);
            gpumb_set_footprint(g, SHARED_BYTES);
            if (!strcmp(d->backend, "cuda") && peak > 0)
                gpumb_set_expected(g, peak, 1.0 / conflicts(c.words, c.stride));
            gpumb_set_output(g, c.out);
            gpumb_set_verify(g, check_shared, &c);
            GPUMB_MEASURE(g, "read shared") {
                if (c.words == 1)
                    GPUMB_LAUNCH_BARRIER(read_shared<1>, c.blocks, c.block, SHARED_BYTES,
                                         GPUMB_PTR(unsigned, c.out), c.stride, c.rounds);
                else if (c.words == 2)
                    GPUMB_LAUNCH_BARRIER(read_shared<2>, c.blocks, c.block, SHARED_BYTES,
                                         GPUMB_PTR(unsigned, c.out), c.stride, c.rounds);
                else
                    GPUMB_LAUNCH_BARRIER(read_shared<4>, c.blocks, c.block, SHARED_BYTES,
                                         GPUMB_PTR(unsigned, c.out), c.stride, c.rounds);
            }
        }
    const extremes e = extremes_of(g, rows_of(shared_bench, NULL), gbps_of);
    const double clock = 1e9 / d->sm_clock_hz / d->multiprocessors;
    if (is_gpu(g) && d->sm_clock_hz > 0 && e.high && e.high != e.low)
        gpumb_note(g,
                   "Shared memory delivers %.0f GB/s, %.1f bytes a clock and multiprocessor, and "
                   "%.1f with the most conflicts.",
                   e.high->gbps, e.high->gbps * clock, e.low->gbps * clock);
}

static const gpumb_benchmark benchmarks[] = {
    {"stream/kernels", "copy, mul, add, triad, dot, as BabelStream's and fastest", stream_kernels},
    {"stream/geometry", "their rate over block size and words a thread", stream_geometry},
    {"stream/gather", "random gather over footprint and element size", stream_gather},
    {"stream/shared", "shared memory over stride and element size", stream_shared},
};

GPUMB_MAIN(benchmarks)

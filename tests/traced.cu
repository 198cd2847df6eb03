/* Kernels whose accesses can be counted by hand, for the tracer (tests/test_trace.sh) and for the
 * counters of a GPU (bench/h200-memory.md). Each is launched once, in this order, with whole blocks
 * of 256 threads (tiles: 32 x 8; `tail`: a rest). */
#define GPUMB_COPY
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include <vector>

enum { BLOCK = 256, BLOCKS = 32, N = BLOCK * BLOCKS, SIDE = 128, BINS = 64 };

static __device__ __forceinline__ unsigned thread_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- global memory --------------------------------------------------------------------------- */

template <class Type> static __global__ void copied(const Type *in, Type *out)
{
    const unsigned i = thread_index();
    out[i] = in[i];
}

template <int stride> static __global__ void strided(const float *in, float *out)
{
    out[thread_index()] = in[thread_index() * stride];
}

template <int offset> static __global__ void shifted(const float *in, float *out)
{
    out[thread_index()] = in[thread_index() + offset];
}

static __global__ void reversed(const float *in, float *out)
{
    out[thread_index()] = in[N - 1 - thread_index()];
}

static __global__ void broadcast(const float *in, float *out)
{
    out[thread_index()] = in[thread_index() / 32];
}

template <class Type> static __global__ void same_address(const Type *in, float *out)
{
    out[thread_index()] = (float)in[thread_index() / 32].x;
}

/* Groups of 8 lanes, each with 16 elements of its own. */
static __global__ void subdomains(const float *in, float *out)
{
    const unsigned i = thread_index();
    out[i] = in[i / 8 * 16 + i % 8];
}

struct particle {
    float x, y, z, mass;
};

static __global__ void structs(const particle *in, float *out)
{
    const unsigned i = thread_index();
    out[i] = in[i].x * in[i].mass;
}

static __global__ void arrays(const float *x, const float *mass, float *out)
{
    const unsigned i = thread_index();
    out[i] = x[i] * mass[i];
}

static __global__ void gathered(const unsigned *index, const float *in, float *out)
{
    const unsigned i = thread_index();
    out[i] = in[index[i]];
}

template <class Type>
static __global__ void wide_gathered(const unsigned *index, const Type *in, Type *out)
{
    const unsigned i = thread_index();
    out[i] = in[index[i]];
}

static __global__ void scattered(const unsigned *index, const float *in, float *out)
{
    const unsigned i = thread_index();
    out[index[i]] = in[i];
}

static __global__ void tail(const float *in, float *out, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        out[i] = in[i] + 1;
}

/* ---- transposes ------------------------------------------------------------------------------ */

static __global__ void transpose_naive(const float *in, float *out)
{
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (unsigned k = 0; k < 32; k += 8)
        out[x * SIDE + y + k] = in[(y + k) * SIDE + x];
}

template <int width> static __global__ void transpose_tiled(const float *in, float *out)
{
    __shared__ float tile[32][width];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    for (unsigned k = 0; k < 32; k += 8)
        tile[y + k][x] = in[(blockIdx.y * 32 + y + k) * SIDE + blockIdx.x * 32 + x];
    __syncthreads();
    for (unsigned k = 0; k < 32; k += 8)
        out[(blockIdx.x * 32 + y + k) * SIDE + blockIdx.y * 32 + x] = tile[x][y + k];
}

static __global__ void transpose_swizzled(const float *in, float *out)
{
    __shared__ float tile[32][32];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    for (unsigned k = 0; k < 32; k += 8)
        tile[y + k][x ^ (y + k)] = in[(blockIdx.y * 32 + y + k) * SIDE + blockIdx.x * 32 + x];
    __syncthreads();
    for (unsigned k = 0; k < 32; k += 8)
        out[(blockIdx.x * 32 + y + k) * SIDE + blockIdx.y * 32 + x] = tile[x][x ^ (y + k)];
}

/* ---- reductions ------------------------------------------------------------------------------ */

static __global__ void reduce_interleaved(const float *in, float *out)
{
    __shared__ float sum[BLOCK];
    const unsigned t = threadIdx.x;
    sum[t] = in[thread_index()];
    for (unsigned apart = 1; apart < BLOCK; apart *= 2) {
        const unsigned at = 2 * apart * t;
        __syncthreads();
        if (at < BLOCK)
            sum[at] += sum[at + apart];
    }
    if (t == 0)
        out[blockIdx.x] = sum[0];
}

static __global__ void reduce_sequential(const float *in, float *out)
{
    __shared__ float sum[BLOCK];
    const unsigned t = threadIdx.x;
    sum[t] = in[thread_index()];
    for (unsigned apart = BLOCK / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if (t < apart)
            sum[t] += sum[t + apart];
    }
    if (t == 0)
        out[blockIdx.x] = sum[0];
}

#if defined(__HIP_PLATFORM_AMD__)
#define SHUFFLE_DOWN(x, step) __shfl_down(x, step)
#else
#define SHUFFLE_DOWN(x, step) __shfl_down_sync(0xffffffff, x, step)
#endif
static __global__ void reduce_shuffled(const float *in, float *out)
{
    __shared__ float sum[BLOCK / 32];
    const unsigned t = threadIdx.x;
    float x = in[thread_index()];
    for (int step = 16; step > 0; step /= 2)
        x += SHUFFLE_DOWN(x, step);
    if (t % 32 == 0)
        sum[t / 32] = x;
    __syncthreads();
    if (t < 32) {
        x = t < BLOCK / 32 ? sum[t] : 0;
        for (int step = 4; step > 0; step /= 2)
            x += SHUFFLE_DOWN(x, step);
    }
    if (t == 0)
        out[blockIdx.x] = x;
}

/* ---- shared memory: a store side by side, a load in a pattern -------------------------------- */

template <int stride> static __global__ void banks(const float *in, float *out)
{
    __shared__ float word[BLOCK];
    const unsigned t = threadIdx.x;
    word[t] = in[thread_index()];
    __syncthreads();
    out[thread_index()] = word[t * stride % BLOCK];
}

/* Elements of 8 and 16 bytes: every stride-th one; 0: the same for all; -k: neighbours in groups of
 * k have the same one. */
template <class Type, int stride> static __global__ void wide_banks(const Type *in, Type *out)
{
    __shared__ Type word[BLOCK];
    const unsigned t = threadIdx.x;
    word[t] = in[thread_index()];
    __syncthreads();
    out[thread_index()] =
        word[stride < 0 ? t / (unsigned)(stride < 0 ? -stride : 1) : t * (unsigned)stride % BLOCK];
}

/* Who shares an element, or does not take part; what is wanted lies side by side. */
enum pattern {
    PAIRS_2,    /* lanes i and i ^ 2 want the same one */
    PAIRS_4,    /* i and i ^ 4 */
    HALVES,     /* i and i ^ 16 */
    QUARTERS,   /* i, i ^ 8, i ^ 16 ... */
    LOW_PAIRS,  /* i and i ^ 1, in the lower half */
    SOME_PAIRS, /* i and i ^ 1 or i ^ 2, by quarters */
    EVEN,       /* only even lanes */
    TWO_IN_FOUR,
    LOWER_HALF,
    ENDS, /* the first and the last 8 */
    ANY   /* pseudo-random */
};

template <class Type, int pattern>
static __global__ void wide_pattern(const unsigned *index, const Type *in, Type *out)
{
    __shared__ Type word[BLOCK];
    const unsigned t = threadIdx.x, lane = t % 32, base = t - lane;
    unsigned at = lane;
    word[t] = in[thread_index()];
    __syncthreads();
    if (pattern == PAIRS_2 || pattern == TWO_IN_FOUR)
        at = lane % 2 + lane / 4 * 2;
    if (pattern == PAIRS_4)
        at = lane % 4 + lane / 8 * 4;
    if (pattern == HALVES || pattern == ENDS)
        at = lane % 16;
    if (pattern == QUARTERS)
        at = lane % 8;
    if (pattern == LOW_PAIRS)
        at = lane < 16 ? lane / 2 : lane - 8;
    if (pattern == SOME_PAIRS)
        at = lane / 8 % 2 ? lane / 2 : lane % 2 + lane / 4 * 2;
    if (pattern == EVEN)
        at = lane / 2;
    if (pattern == ANY)
        at = index[thread_index()] % 32;
    if (pattern == EVEN && lane % 2)
        return;
    if (pattern == TWO_IN_FOUR && lane % 4 > 1)
        return;
    if (pattern == LOWER_HALF && lane > 15)
        return;
    if (pattern == ENDS && lane > 7 && lane < 24)
        return;
    out[thread_index()] = word[base + at];
}

template <class Type>
static __global__ void random_banks(const unsigned *index, const Type *in, Type *out)
{
    __shared__ Type word[BLOCK];
    const unsigned t = threadIdx.x;
    word[t] = in[thread_index()];
    __syncthreads();
    out[thread_index()] = word[index[thread_index()] % BLOCK];
}

static __global__ void bank_bytes(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char byte[BLOCK];
    const unsigned t = threadIdx.x;
    byte[t] = in[thread_index()];
    __syncthreads();
    out[thread_index()] = byte[BLOCK - 1 - t];
}

/* ---- histograms ------------------------------------------------------------------------------ */

static __global__ void histogram_global(const unsigned *in, unsigned *bins)
{
    atomicAdd(&bins[in[thread_index()] % BINS], 1u);
}

static __global__ void histogram_shared(const unsigned *in, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    const unsigned t = threadIdx.x;
    if (t < BINS)
        mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[in[thread_index()] % BINS], 1u);
    __syncthreads();
    if (t < BINS)
        atomicAdd(&bins[t], mine[t]);
}

/* The old values are used: another instruction than where they are not. */
static __global__ void tickets(const unsigned *index, unsigned *bins, unsigned *out)
{
    const unsigned i = thread_index();
    out[i] = atomicAdd(&bins[index[i] % BINS], 1u);
}

static __global__ void one_counter(unsigned *bins)
{
    atomicAdd(&bins[0], thread_index());
}

/* ---- lanes that go different ways ------------------------------------------------------------ */

static __global__ void halves(const float *in, float *out)
{
    const unsigned i = thread_index();
    if (i % 32 < 16)
        out[i] = in[i];
    else
        out[i] = in[N + 2 * i];
}

/* A loop that ends earlier for some, as rows of a sparse matrix do. */
static __global__ void ragged(const unsigned *length, const float *in, float *out)
{
    const unsigned i = thread_index(), n = length[i] % 16;
    float sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += in[k * N + i];
    out[i] = sum;
}

#if defined(__CUDACC__)
#define NOT_UNROLLED _Pragma("unroll 1")
#else
#define NOT_UNROLLED
#endif
static __global__ void ragged_plain(const unsigned *length, const float *in, float *out)
{
    const unsigned i = thread_index(), n = length[i] % 16;
    float sum = 0;
    NOT_UNROLLED
    for (unsigned k = 0; k < n; k++)
        sum += in[k * N + i];
    out[i] = sum;
}

/* Inner loops of unequal length: a lane's third access may be in another round than its
 * neighbour's third. */
static __global__ void nested(const float *in, float *out)
{
    const unsigned i = thread_index();
    float sum = 0;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned k = 0; k < 1 + (i + round) % 2; k++)
            sum += in[(round * 2 + k) * N + i];
    out[i] = sum;
}

/* A condition in a loop: even lanes load in even rounds, odd ones in odd rounds. */
static __global__ void alternating(const float *in, float *out)
{
    const unsigned i = thread_index();
    float sum = 0;
    for (unsigned k = 0; k < 4; k++)
        if ((i + k) % 2 == 0)
            sum += in[k * N + i];
    out[i] = sum;
}

#if defined(__GNUC__) && !defined(__CUDACC__)
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED __noinline__
#endif
static __device__ NOT_INLINED float load(const float *p)
{
    return *p;
}

/* One load in the text, called from two places. */
static __global__ void two_sites(const float *in, float *out)
{
    const unsigned i = thread_index();
    if (i % 2)
        out[i] = load(&in[i]) + 1;
    else
        out[i] = load(&in[N + i]) + 2;
}

/* As `alternating`, in a function that comes later in the code than its caller. */
static __device__ NOT_INLINED float load_later(const float *p);

static __global__ void calling(const float *in, float *out)
{
    const unsigned i = thread_index();
    float sum = 0;
    for (unsigned k = 0; k < 4; k++)
        if ((i + k) % 2 == 0)
            sum += load_later(&in[k * N + i]);
    out[i] = sum;
}

static __device__ NOT_INLINED float load_later(const float *p)
{
    return *p;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* The same for all: as indices below N / 2, as floats tiny. */
static std::vector<unsigned> contents(uint64_t bytes)
{
    std::vector<unsigned> words(bytes / 4 + 1);
    uint64_t state = 1;
    for (size_t i = 0; i < words.size(); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[i] = (unsigned)(state >> 33) % (N / 2);
    }
    return words;
}

template <class Type> static Type *filled(uint64_t count)
{
    gpumb_buffer *b = gpumb_alloc(NULL, count * sizeof(Type));
    gpumb_write(NULL, b, 0, contents(count * sizeof(Type)).data(), count * sizeof(Type));
    return (Type *)gpumb_data(b);
}

/* What the model of gpumb.h says of addresses that are not regular: sums over the warps. */
struct model {
    const char *name;
    uint64_t requests, lanes, sectors, lines;

    ~model()
    {
        printf("model %s %llu %llu %llu %llu\n", name, (unsigned long long)requests,
               (unsigned long long)lanes, (unsigned long long)sectors, (unsigned long long)lines);
    }
    void request(const uint64_t *address, int count)
    {
        const gpumb_coalescing c = gpumb_coalesce(address, count, 4, 32, 128);
        requests += count > 0;
        lanes += (unsigned)count;
        sectors += c.sectors;
        lines += c.lines;
    }
    /* Lanes at one address take turns: the n-th of them in the n-th turn. */
    void request_in_turns(const uint64_t *address, int count)
    {
        uint64_t in_turn[32];
        for (int n = 0, done = 0; done < count; n++) {
            int taken = 0;
            for (int i = 0; i < count; i++) {
                int before = 0;
                for (int k = 0; k < i; k++)
                    before += address[k] == address[i];
                if (before == n)
                    in_turn[taken++] = address[i];
            }
            done += taken;
            sectors += gpumb_coalesce(in_turn, taken, 4, 32, 128).sectors;
        }
        requests++;
        lanes += (unsigned)count;
        lines += gpumb_coalesce(address, count, 4, 32, 128).lines;
    }
};

static void print_models(const unsigned *index)
{
    model gather = {"gathered", 0, 0, 0, 0}, bins = {"histogram_global", 0, 0, 0, 0},
          rows = {"ragged", 0, 0, 0, 0};
    for (unsigned warp = 0; warp < N / 32; warp++) {
        uint64_t into[32], bin[32], row[32];
        for (unsigned lane = 0; lane < 32; lane++) {
            into[lane] = 4 * index[warp * 32 + lane];
            bin[lane] = 4 * (index[warp * 32 + lane] % BINS);
        }
        gather.request(into, 32);
        bins.request_in_turns(bin, 32);
        for (unsigned k = 0; k < 16; k++) {
            int lanes = 0;
            for (unsigned lane = 0; lane < 32; lane++)
                if (k < index[warp * 32 + lane] % 16)
                    row[lanes++] = 4 * (uint64_t)(k * N + warp * 32 + lane);
            rows.request(row, lanes);
        }
    }
}

int main()
{
    const float *in = filled<float>(32 * N);
    const unsigned *index = filled<unsigned>(N);
    float *out = filled<float>(32 * N);
    unsigned *bins = filled<unsigned>(BINS);
    const dim3 tiles(SIDE / 32, SIDE / 32), tile(32, 8);

#define LAUNCH(kernel, ...) GPUMB_LAUNCH(kernel, BLOCKS, BLOCK, 0, __VA_ARGS__)
#define LAUNCH_BARRIER(kernel, ...) GPUMB_LAUNCH_BARRIER(kernel, BLOCKS, BLOCK, 0, __VA_ARGS__)
#define COPY(type) LAUNCH((copied<type>), (const type *)(const void *)in, (type *)(void *)out)
    COPY(unsigned char);
    COPY(float);
    COPY(float2);
    COPY(float3);
    COPY(float4);
    LAUNCH((strided<2>), in, out);
    LAUNCH((strided<8>), in, out);
    LAUNCH((strided<32>), in, out);
    LAUNCH((shifted<1>), in, out);
    LAUNCH((shifted<8>), in, out);
    LAUNCH(reversed, in, out);
    LAUNCH(broadcast, in, out);
    LAUNCH((same_address<float2>), (const float2 *)(const void *)in, out);
    LAUNCH((same_address<float4>), (const float4 *)(const void *)in, out);
    LAUNCH(subdomains, in, out);
    LAUNCH(structs, (const particle *)(const void *)in, out);
    LAUNCH(arrays, in, in + N, out);
    LAUNCH(gathered, index, in, out);
    LAUNCH(scattered, index, in, out);
    GPUMB_LAUNCH(tail, 8, BLOCK, 0, in, out, (uint64_t)N - 5);

    GPUMB_LAUNCH(transpose_naive, tiles, tile, 0, in, out);
    GPUMB_LAUNCH_BARRIER((transpose_tiled<32>), tiles, tile, 0, in, out);
    GPUMB_LAUNCH_BARRIER((transpose_tiled<33>), tiles, tile, 0, in, out);
    GPUMB_LAUNCH_BARRIER(transpose_swizzled, tiles, tile, 0, in, out);

    LAUNCH_BARRIER(reduce_interleaved, in, out);
    LAUNCH_BARRIER(reduce_sequential, in, out);
    LAUNCH_BARRIER(reduce_shuffled, in, out);

    LAUNCH_BARRIER((banks<0>), in, out);
    LAUNCH_BARRIER((banks<2>), in, out);
    LAUNCH_BARRIER((banks<3>), in, out);
    LAUNCH_BARRIER((banks<8>), in, out);
    LAUNCH_BARRIER((banks<32>), in, out);
    LAUNCH_BARRIER(bank_bytes, (const unsigned char *)(const void *)in,
                   (unsigned char *)(void *)out);
#define WIDE(type, stride)                                                                         \
    LAUNCH_BARRIER((wide_banks<type, stride>), (const type *)(const void *)in, (type *)(void *)out)
    WIDE(float2, 1);
    WIDE(float2, 2);
    WIDE(float2, 16);
    WIDE(float2, 0);
    WIDE(float2, -2);
    WIDE(float4, 1);
    WIDE(float4, 2);
    WIDE(float4, 8);
    WIDE(float4, 0);
    WIDE(float4, -2);
    WIDE(float4, -4);

#define PATTERN(type, pattern)                                                                     \
    LAUNCH_BARRIER((wide_pattern<type, pattern>), index, (const type *)(const void *)in,           \
                   (type *)(void *)out)
#define PATTERNS(type)                                                                             \
    PATTERN(type, PAIRS_2);                                                                        \
    PATTERN(type, PAIRS_4);                                                                        \
    PATTERN(type, HALVES);                                                                         \
    PATTERN(type, QUARTERS);                                                                       \
    PATTERN(type, LOW_PAIRS);                                                                      \
    PATTERN(type, SOME_PAIRS);                                                                     \
    PATTERN(type, EVEN);                                                                           \
    PATTERN(type, TWO_IN_FOUR);                                                                    \
    PATTERN(type, LOWER_HALF);                                                                     \
    PATTERN(type, ENDS);                                                                           \
    PATTERN(type, ANY)
    PATTERNS(float2);
    PATTERNS(float4);
    LAUNCH_BARRIER((random_banks<float>), index, in, out);
    LAUNCH_BARRIER((random_banks<float2>), index, (const float2 *)(const void *)in,
                   (float2 *)(void *)out);
    LAUNCH_BARRIER((random_banks<float4>), index, (const float4 *)(const void *)in,
                   (float4 *)(void *)out);
    LAUNCH((wide_gathered<float2>), index, (const float2 *)(const void *)in, (float2 *)(void *)out);
    LAUNCH((wide_gathered<float4>), index, (const float4 *)(const void *)in, (float4 *)(void *)out);

    LAUNCH(histogram_global, index, bins);
    LAUNCH(tickets, index, bins, (unsigned *)(void *)out);
    LAUNCH(one_counter, bins);
    LAUNCH_BARRIER(histogram_shared, index, bins);

    LAUNCH(halves, in, out);
    LAUNCH(ragged, index, in, out);
    LAUNCH(ragged_plain, index, in, out);
    LAUNCH(nested, in, out);
    LAUNCH(alternating, in, out);
    LAUNCH(two_sites, in, out);
    LAUNCH(calling, in, out);
    /* The header's own kernels go the GPU's way, too. */
    gpumb_zcopy(NULL, GPUMB_FORM_NAIVE, GPUMB_READ_WRITE, 4, N, 8, BLOCK, in, out);
    gpumb_zcopy(NULL, GPUMB_FORM_NAIVE, GPUMB_READ, 8, N, 8, BLOCK, in, out);
    gpumb_copy(NULL, GPUMB_FORM_FASTEST, 4, N, BLOCK, in, out);
    print_models(contents(N * sizeof(unsigned)).data());
    return gpumb_close(NULL);
}

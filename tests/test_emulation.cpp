// test_emulation.cpp - kernels on the CPU: barriers, warps, shared memory, atomics, launches, and
// what is said about kernels that go wrong. Results are compared with direct computations.
#define GPUMB_BACKEND_CPU
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"
#include "folder.h"
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>

// ---- faults: a launch files them as the trouble of the next region ----

static std::string take_fault()
{
    char *trouble = gpumbi_trouble(gpumbi_context(NULL));
    const std::string text = trouble;
    trouble[0] = '\0';
    return text;
}

static bool faulted(const char *first, const char *second = "")
{
    const std::string text = take_fault();
    const bool right = !text.empty() && text.find(first) != std::string::npos &&
                       text.find(second) != std::string::npos;
    if (!right)
        printf("    expected \"%s\" and \"%s\", got \"%s\"\n", first, second, text.c_str());
    return right;
}

#define CHECK_NO_FAULT() CHECK_STR(take_fault().c_str(), "")

// A tile of 32 x 33 with a pitch of `pitch`: 34 is one too many. Stands before all other arrays of
// this file, as it lies behind them, beside the red zone.
static __global__ void tiled(float *out, unsigned pitch)
{
    __shared__ float tile[32][33];
    float *flat = &tile[0][0];
    flat[threadIdx.y * pitch + threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = flat[threadIdx.y * pitch + threadIdx.x];
}

// ---- block barriers ----

static __global__ void reduce(const int *in, int *out)
{
    GPUMB_SHARED(int, sum);
    const unsigned t = threadIdx.x, n = blockDim.x;
    sum[t] = in[blockIdx.x * n + t];
    ::__syncthreads(); /* as libraries write it */
    for (unsigned width = n; width > 1;) {
        const unsigned half = (width + 1) / 2;
        if (t + half < width)
            sum[t] += sum[t + half];
        width = half;
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sum[0];
}

static void test_reduce()
{
    enum { BLOCKS = 7 };
    static int in[BLOCKS * 1024];
    for (int i = 0; i < BLOCKS * 1024; i++)
        in[i] = i * 7919 % 1009;
    for (unsigned n : {1u, 2u, 32u, 33u, 64u, 97u, 128u, 1000u, 1024u}) {
        int out[BLOCKS], right = 0;
        GPUMB_LAUNCH_BARRIER(reduce, int(BLOCKS), n, n * sizeof(int), in, out);
        for (unsigned b = 0; b < BLOCKS; b++) {
            int sum = 0;
            for (unsigned i = 0; i < n; i++)
                sum += in[b * n + i];
            right += sum == out[b];
        }
        CHECK_INT(right, BLOCKS);
    }
    CHECK_NO_FAULT();
}

// Some leave before the first barrier, some before the second: those who stay must not wait for
// them, even if the last thread of all leaves.
static __global__ void early_return(int *out, unsigned leaving)
{
    __shared__ int value[256];
    const unsigned t = threadIdx.x;
    if (t % 3 == leaving)
        return;
    value[t] = static_cast<int>(t);
    __syncthreads();
    if (t >= 250)
        return;
    __syncthreads();
    if (t % 3 == (leaving + 1) % 3)
        out[t] = value[t + 1];
}

// Those who wait at any kind of barrier are let go by the last one that ends instead of arriving.
static __global__ void last_leaves(int *out, int kind)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t == 63)
        return;
    if (kind == 0)
        __syncthreads();
    out[t] = kind == 1   ? __syncthreads_count(t < 10)
             : kind == 2 ? 10 * __syncthreads_and(t < 63)
             : kind == 3 ? 10 * __syncthreads_or(t == 5)
                         : 10;
}

static __global__ void count(int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    const int a = __syncthreads_count(t % 3 == 0), b = __syncthreads_and(t >= 0);
    const int c = __syncthreads_and(t != 5), d = __syncthreads_or(t == 7), e = __syncthreads_or(0);
    out[t] = a * 10000 + b * 1000 + c * 100 + d * 10 + e;
}

// Nobody may pass a barrier before all have arrived, nor miss one of many.
static __global__ void in_step(int *arrived, int *wrong, int rounds)
{
    const int n = static_cast<int>(blockDim.x);
    for (int round = 0; round < rounds; round++) {
        atomicAdd(&arrived[blockIdx.x], 1);
        __syncthreads();
        if (arrived[blockIdx.x] != n * (round + 1))
            atomicAdd(wrong, 1);
        __syncthreads();
    }
}

static void test_barriers()
{
    int out[100] = {0}, right = 0, arrived[5] = {0}, wrong = 0;
    for (unsigned leaving = 0; leaving < 3; leaving++) {
        int next[250] = {0};
        GPUMB_LAUNCH_BARRIER(early_return, 1, 256, 0, next, leaving);
        for (unsigned t = 0; t < 250; t++)
            wrong += next[t] != (t % 3 == (leaving + 1) % 3 ? static_cast<int>(t + 1) : 0);
        CHECK_INT(wrong, 0);
    }
    for (int kind = 0; kind < 4; kind++) {
        int after[64] = {0};
        right = 0;
        GPUMB_LAUNCH_BARRIER(last_leaves, 1, 64, 0, after, kind);
        for (int v : after)
            right += v == 10;
        CHECK_INT(right, 63);
    }
    GPUMB_LAUNCH_BARRIER(count, 1, 100, 0, out);
    right = 0;
    for (int v : out)
        right += v == 34 * 10000 + 1000 + 0 + 10 + 0;
    CHECK_INT(right, 100);
    GPUMB_LAUNCH_BARRIER(in_step, 5, 97, 0, arrived, &wrong, 20);
    CHECK_INT(wrong, 0);
    CHECK_INT(arrived[4], 97 * 20);
    CHECK_NO_FAULT();
}

// Eight live doubles and six integers of each thread: more than the registers that a callee keeps.
// On the host it runs alone, and the waits are none.
static __global__ void registers(const double *in, double *out, uint64_t *sums)
{
    const unsigned t = threadIdx.x;
    double a = in[t], b = a * 3, c = a + 5, d = a / 8, e = a - 11, f = a * a, g = -a, h = a + .5;
    uint64_t i = t, j = t * 3, k = t + 9, l = t ^ 5, m = t << 7, n = ~i;
    for (int round = 0; round < 20; round++) {
        __syncthreads();
        a += 1, b += a, c -= 2, d += c, e += d, f += .25, g += h, h += 1;
        i += j, j += k, k ^= l, l += 3, m += n, n += i;
        __syncwarp();
    }
    out[t] = a + b + c + d + e + f + g + h; // exact: multiples of 1/8
    sums[t] = i + j + k + l + m + n;
}

static void test_registers()
{
    double in[96], out[96], out_alone[96];
    uint64_t sums[96], sums_alone[96];
    int right = 0;
    for (int t = 0; t < 96; t++)
        in[t] = 1.0 + t;
    GPUMB_LAUNCH_BARRIER(registers, 1, 96, 0, in, out, sums);
    for (int t = 0; t < 96; t++) {
        threadIdx.x = static_cast<unsigned>(t);
        registers(in, out_alone, sums_alone);
        right += out[t] - out_alone[t] == 0 && sums[t] == sums_alone[t];
    }
    CHECK_INT(right, 96);
    CHECK_NO_FAULT();
}

// ---- warp operations ----

struct wide {
    unsigned a, b, c, d;
};

// A row of 8 results for each thread.
static __global__ void shuffle(unsigned *out, int width, int distance)
{
    const unsigned t = threadIdx.x, d = static_cast<unsigned>(distance);
    unsigned *row = out + (blockIdx.x * blockDim.x + t) * 8;
    const unsigned long long all = ~0ull;
    row[0] = __shfl_sync(all, t, distance, width);
    row[1] = __shfl_up_sync(all, t, d, width);
    row[2] = __shfl_down_sync(all, t, distance, width);
    row[3] = __shfl_xor_sync(all, t, distance, width);
    const wide v = {t, t + 1, t + 2, t * 3};
    const wide s = __shfl_xor_sync(all, v, 1, width);
    row[4] = s.a == (t ^ 1) && s.b == s.a + 1 && s.c == s.a + 2 && s.d == s.a * 3;
    row[5] = static_cast<unsigned>(__shfl_down_sync(all, t + 0.5, d, width) * 2);
    row[6] = static_cast<unsigned>(__popcll(__ballot_sync(all, t % 3 == 0)));
    row[7] = static_cast<unsigned>(__any_sync(all, t == 70) * 2 + __all_sync(all, t < 64));
}

// What the row has to be, by CUDA's rules: a source outside the segment means the own value.
static bool shuffled_right(const unsigned *row, int t, int warp, int width, int distance)
{
    const int lane = t % warp, first = t - lane, at = lane % width, base = t - at;
    const int up = at >= distance ? t - distance : t;
    const int down = at + distance < width ? t + distance : t;
    const int across = (lane ^ distance) < lane - at + width ? first + (lane ^ distance) : t;
    int votes = 0;
    for (int k = 0; k < warp; k++)
        votes += (first + k) % 3 == 0;
    const int any = first <= 70 && 70 < first + warp, all = first + warp <= 64;
    const int expected[8] = {
        base + distance % width, up, down, across, 1, 2 * down + 1, votes, any * 2 + all};
    int right = 0;
    for (int i = 0; i < 8; i++)
        right += static_cast<int>(row[i]) == expected[i];
    return right == 8;
}

static void test_shuffles(int warp)
{
    enum { THREADS = 128, BLOCKS = 3 };
    static unsigned out[BLOCKS * THREADS * 8];
    CHECK_INT(gpumb_cpu_set_warp_size(warp), 0);
    for (int width = 8; width <= warp; width *= 2)
        for (int distance = 0; distance < width + 2; distance += distance < 3 ? 1 : 5) {
            int right = 0;
            GPUMB_LAUNCH_BARRIER(shuffle, int(BLOCKS), int(THREADS), 0, out, width, distance);
            for (int i = 0; i < BLOCKS * THREADS; i++)
                right += shuffled_right(out + i * 8, i % THREADS, warp, width, distance);
            CHECK_INT(right, BLOCKS * THREADS);
        }
    CHECK_INT(gpumb_cpu_set_warp_size(32), 0);
    CHECK_NO_FAULT();
}

static __global__ void first_warp(int *out)
{
    int v = static_cast<int>(threadIdx.x);
    if (threadIdx.x < 32)
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// Two halves with masks of their own, in a different number of rounds, then overlapping masks.
static __global__ void half_warps(int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    const bool low = t < 16;
    int v = t, w = 0;
    for (int round = 0; round < (low ? 5 : 9); round++)
        v = __shfl_sync(low ? 0xffffu : 0xffff0000u, v, (t + 1) % 16, 16);
    if (t < 2)
        w = __shfl_xor_sync(0x3, t + 100, 1);
    if (t < 3)
        w += __shfl_sync(0x7, t + 200, 2);
    out[t] = v * 1000 + w;
}

// Odd lanes leave; the others shuffle under the full mask, in a warp that is not full.
static __global__ void leave_odd(int *out)
{
    const int t = static_cast<int>(threadIdx.x);
    out[t] = -1;
    if (t % 2)
        return;
    const unsigned long long live = __activemask();
    out[t] = __shfl_xor_sync(0xffffffff, t, 2) + (__popcll(live) << 8);
}

static void test_warps()
{
    int out[128], right = 0;
    GPUMB_LAUNCH_BARRIER(first_warp, 1, 128, 0, out);
    CHECK_INT(out[0], 31 * 32 / 2);
    CHECK_INT(out[127], 127);
    GPUMB_LAUNCH_BARRIER(half_warps, 1, 32, 0, out);
    for (int t = 0; t < 32; t++) {
        const int v = t < 16 ? (t + 5) % 16 : 16 + (t + 9) % 16;
        const int w = (t < 2 ? (t ^ 1) + 100 : 0) + (t < 3 ? 202 : 0);
        right += out[t] == v * 1000 + w;
    }
    CHECK_INT(right, 32);
    GPUMB_LAUNCH_BARRIER(leave_odd, 1, 44, 0, out);
    right = 0;
    for (int t = 0; t < 44; t++)
        right += t % 2 ? out[t] == -1 : (out[t] & 255) == ((t ^ 2) < 44 ? t ^ 2 : t);
    CHECK_INT(right, 44);
    CHECK(out[42] >> 8 >= 6 && out[42] >> 8 <= 12);
    CHECK_INT(gpumb_cpu_set_warp_size(48), -1);
    CHECK_NO_FAULT();
}

// ---- kernels that go wrong ----

static __global__ void diverge(int *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        out[threadIdx.x] = __shfl_down_sync(0xffffffff, 1, 1);
}
static __global__ void two_kinds()
{
    threadIdx.x % 2 ? __syncthreads() : (void)__syncthreads_count(1);
}
static __global__ void branch_each(int *out)
{
    if (threadIdx.x % 4 == 0)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}
static __global__ void first_half_only(int *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 2;
}
// In one line, and of one macro: different places all the same.
static __global__ void line_of_two(int *out)
{
    threadIdx.x < 8 ? __syncthreads() : __syncthreads();
    out[threadIdx.x] = 1;
}
#define SYNC_EACH(condition)                                                                       \
    if (condition) {                                                                               \
        __syncthreads();                                                                           \
    } else {                                                                                       \
        __syncthreads();                                                                           \
    }
static __global__ void macro_of_two(int *out)
{
    SYNC_EACH(threadIdx.x < 31)
    out[threadIdx.x] = 1;
}
// Right: the two of a line one after the other, in a loop that may be unrolled, in a template.
template <int n> static __device__ __forceinline__ void sync_twice(int *out)
{
    for (int i = 0; i < n; i++)
        out[threadIdx.x] += __syncthreads_count(i % 2), out[threadIdx.x] += __syncthreads_or(1);
}
static __global__ void lines_in_a_row(int *out)
{
    sync_twice<2>(out);
    sync_twice<4>(out);
}
static __device__ void sync_all()
{
    __syncthreads();
}
// Right, though the barrier's place is reached on two ways, and the warp's operations are at two.
static __global__ void same_place(int *out)
{
    if (threadIdx.x < 16)
        sync_all();
    else
        sync_all();
    for (unsigned i = 0; i < 3; i++)
        if (threadIdx.x < 16)
            out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x, 31);
        else
            out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x, 0);
}
static __global__ void half_ends(int *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = 3;
}
static __global__ void missing_lane()
{
    threadIdx.x < 31 ? __syncwarp() : __syncthreads();
}
static __global__ void not_named()
{
    __syncwarp(0xff);
}
static __global__ void first_block_fails(int *ran)
{
    atomicAdd(ran, 1);
    if (blockIdx.x == 0)
        threadIdx.x == 0 ? __syncthreads() : (void)__syncthreads_or(1);
}
static __global__ void plain_barrier(int *out)
{
    __syncthreads();
    out[threadIdx.x] = __shfl_xor_sync(~0ull, 5, 1);
}
static __global__ void plain_barriers(int *ran)
{
    atomicAdd(ran, 1);
    __syncthreads();
}
static __global__ void nested(int *out)
{
    GPUMB_LAUNCH(plain_barrier, 1, 1, 0, out);
}

// Fills the stack from `top` down to below its canary; then waits there, if asked to.
__attribute__((noinline)) static int dig(char *top, int depth, bool wait)
{
    volatile char room[1024];
    for (int i = 0; i < 1024; i++)
        room[i] = static_cast<char>(depth);
    if (top - static_cast<char *>(__builtin_frame_address(0)) < GPUMB_CPU_STACK_BYTES + 1024)
        return dig(top, depth + 1, wait) + room[0];
    if (wait)
        __syncthreads();
    return depth + room[1023];
}
static __global__ void overflow(int *passed, bool wait)
{
    if (threadIdx.x == 3 && dig(static_cast<char *>(__builtin_frame_address(0)), 0, wait) < 0)
        return;
    __syncthreads();
    atomicAdd(passed, 1);
}

static void test_faults()
{
    int out[64], ran = 0;
    GPUMB_LAUNCH_BARRIER(diverge, dim3(2, 2), 32, 0, out);
    CHECK(
        faulted("16 threads wait at __syncthreads(), 16 at __shfl_down_sync()", "kernel diverge"));
    GPUMB_LAUNCH_BARRIER(two_kinds, 1, 64, 0);
    CHECK(faulted("32 threads wait at __syncthreads(), 32 at __syncthreads_count()", "divergence"));
    for (int &x : out)
        x = 0;
    GPUMB_LAUNCH_BARRIER(branch_each, 1, 32, 0, out);
    CHECK(faulted("kernel branch_each, block (0,0,0): 8 threads wait at __syncthreads() in "
                  "test_emulation.cpp:",
                  ", 24 at __syncthreads() in test_emulation.cpp:"));
    CHECK_INT(out[0] + out[1], 0); // nobody has passed
    GPUMB_LAUNCH_BARRIER(first_half_only, 1, 48, 0, out);
    CHECK(faulted("16 threads wait at __syncthreads() in test_emulation.cpp:",
                  ", 32 at __syncthreads() in test_emulation.cpp:"));
    CHECK_INT(out[0] + out[47], 1);
    GPUMB_LAUNCH_BARRIER(line_of_two, 1, 32, 0, out);
    CHECK(faulted("kernel line_of_two, block (0,0,0): 8 threads wait at __syncthreads() in ",
                  ", 24 at another __syncthreads() in test_emulation.cpp:"));
    GPUMB_LAUNCH_BARRIER(macro_of_two, 1, 32, 0, out);
    CHECK(faulted("31 threads wait at __syncthreads() in ",
                  ", 1 at another __syncthreads() in test_emulation.cpp:"));
    CHECK_INT(out[0] + out[31], 1); // nobody has passed
    for (int &x : out)
        x = 0;
    GPUMB_LAUNCH_BARRIER(lines_in_a_row, 1, 32, 0, out);
    CHECK_NO_FAULT();
    CHECK_INT(out[0], 6 + 3 * 32);
    GPUMB_LAUNCH_BARRIER(same_place, 1, 32, 0, out);
    CHECK_NO_FAULT();
    CHECK_INT(out[0], 31);
    CHECK_INT(out[31], 0);
    GPUMB_LAUNCH_BARRIER(half_ends, 1, 32, 0, out);
    CHECK_NO_FAULT();
    CHECK_INT(out[0] + out[31], 6);
    GPUMB_LAUNCH_BARRIER(missing_lane, 1, 32, 0);
    CHECK(faulted("1 thread waits at __syncthreads(), 31 at __syncwarp()", "lanes 0x80000000"));
    GPUMB_LAUNCH_BARRIER(not_named, 1, 32, 0);
    CHECK(faulted("lane 8 of warp 0 calls __syncwarp()", "0xff"));

    gpumb_cpu_set_workers(1);
    GPUMB_LAUNCH_BARRIER(first_block_fails, 100, 8, 0, &ran);
    CHECK_INT(ran, 8);
    CHECK(faulted("block (0,0,0)"));
    GPUMB_LAUNCH(plain_barriers, 100, 8, 0, &ran);
    CHECK_INT(ran, 16); // the first block of each
    CHECK(faulted("use GPUMB_LAUNCH_BARRIER"));
    gpumb_cpu_set_workers(0);

    GPUMB_LAUNCH(plain_barrier, 1, 4, 0, out);
    CHECK_INT(out[3], 5);
    CHECK(faulted("kernel plain_barrier calls __syncthreads() but was launched with GPUMB_LAUNCH; "
                  "use GPUMB_LAUNCH_BARRIER"));
    GPUMB_LAUNCH(nested, 1, 1, 0, out);
    CHECK(faulted("kernel plain_barrier: launched from inside kernel nested"));

    // Past the canary: noticed at the next barrier, which nobody passes, or when the thread ends.
    for (bool wait : {true, false}) {
        int passed = 0;
        GPUMB_LAUNCH_BARRIER(overflow, 4, 32, 0, &passed, wait);
        CHECK(faulted("stack overflow", "kernel overflow"));
        CHECK(!wait || passed == 0);
    }
    GPUMB_LAUNCH_BARRIER(first_warp, 1, 64, 0, out);
    CHECK_INT(out[0], 31 * 32 / 2);
    CHECK_NO_FAULT();
}

// The same as a region meets it: the row is skipped and says why; the next one is well.
static void test_faults_in_regions()
{
    gpumb *g = gpumbi_context(NULL);
    int out[64];
    gpumb_result r;
    GPUMB_TIME(&r)
        GPUMB_LAUNCH_BARRIER(diverge, 2, 32, 0, out);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(r.kernel, "diverge");
    CHECK(strstr(r.reason, "16 threads wait at __syncthreads(), 16 at __shfl_down_sync()"));
    CHECK(strstr(r.reason, "barrier divergence"));

    GPUMB_MEASURE(g, "plain") {
        GPUMB_LAUNCH(plain_barrier, 1, 4, 0, out);
    }
    const gpumb_result *row = gpumb_last_result(g);
    if (CHECK(row != NULL)) {
        CHECK_INT(row->status, GPUMB_STATUS_SKIPPED);
        CHECK(strstr(row->reason, "use GPUMB_LAUNCH_BARRIER"));
    }

    GPUMB_TIME(&r)
        GPUMB_LAUNCH_BARRIER(overflow, 4, 32, 0, out, true);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK(strstr(r.reason, "stack overflow"));

    GPUMB_TIME(&r)
        GPUMB_LAUNCH_BARRIER(first_warp, 1, 64, 0, out);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_STR(r.reason, "");

    GPUMB_LAUNCH_BARRIER(not_named, 1, 32, 0); // outside: the next region does not run
    int runs = 0;
    GPUMB_TIME(&r) {
        runs++;
    }
    CHECK_INT(runs, 0);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK(strstr(r.reason, "kernel not_named"));
    CHECK_NO_FAULT();
}

static __global__ void nothing()
{
}
static __global__ void run_once(int *ran)
{
    atomicAdd(ran, 1);
}

static void test_limits()
{
    int ran = 0;
    GPUMB_LAUNCH(run_once, 0, 32, 0, &ran);
    CHECK(faulted("launch of run_once refused: grid.x is 0, it can be 1 to 2147483647"));
    GPUMB_LAUNCH(run_once, 1, 0, 0, &ran);
    CHECK(faulted("refused", "block.x is 0, it can be 1 to 1024"));
    GPUMB_LAUNCH(run_once, 1ull << 31, 32, 0, &ran);
    CHECK(faulted("refused", "2147483648"));
    GPUMB_LAUNCH(run_once, 1ull << 32, 32, 0, &ran); // would be 0 in 32 bits
    CHECK(faulted("refused", "4294967296"));
    GPUMB_LAUNCH(run_once, -1, 32, 0, &ran);
    CHECK(faulted("refused", "18446744073709551615"));
    GPUMB_LAUNCH(run_once, 1, -1, 0, &ran);
    CHECK(faulted("refused", "18446744073709551615"));
    GPUMB_LAUNCH(run_once, dim3(1, 65536), 32, 0, &ran);
    CHECK(faulted("refused", "grid.y is 65536, it can be 1 to 65535"));
    GPUMB_LAUNCH(run_once, dim3(1, 1, 65536), 32, 0, &ran);
    CHECK(faulted("refused", "grid.z is 65536"));
    GPUMB_LAUNCH(run_once, 1, 1025, 0, &ran);
    CHECK(faulted("refused", "block.x is 1025"));
    GPUMB_LAUNCH(run_once, 1, dim3(1, 1, 65), 0, &ran);
    CHECK(faulted("refused", "block.z is 65, it can be 1 to 64"));
    GPUMB_LAUNCH(run_once, 1, dim3(33, 32), 0, &ran);
    CHECK(faulted("refused", "1056 threads in a block, at most 1024"));
    GPUMB_LAUNCH(run_once, 1, 1, (1 << 20) + 1, &ran);
    CHECK(faulted("kernel run_once: 1048577 bytes of shared memory, at most 1048576"));
    CHECK_INT(ran, 0);
    GPUMB_LAUNCH(run_once, 1, 1024, 1 << 20, &ran);
    CHECK_INT(ran, 1024);
    CHECK_NO_FAULT();
}

// ---- indices, arguments, shared memory ----

static __global__ void index_once(unsigned char *seen, int *wrong, dim3 grid, dim3 block)
{
    const uint64_t b = blockIdx.x + uint64_t(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
    const uint64_t t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if (gridDim.x != grid.x || gridDim.y != grid.y || gridDim.z != grid.z ||
        blockDim.x != block.x || blockDim.y != block.y || blockDim.z != block.z)
        atomicAdd(wrong, 1);
    seen[b * (blockDim.x * blockDim.y * blockDim.z) + t]++;
}
static __global__ void index_kept(unsigned char *seen, int *wrong, dim3 grid, dim3 block)
{
    const uint3 before = threadIdx;
    __syncthreads();
    if (before.x != threadIdx.x || before.y != threadIdx.y || before.z != threadIdx.z)
        atomicAdd(wrong, 1);
    index_once(seen, wrong, grid, block);
}

static void test_indices()
{
    for (const dim3 &grid : {dim3(13), dim3(3, 5), dim3(2, 3, 4)})
        for (const dim3 &block : {dim3(33), dim3(8, 4), dim3(5, 3, 7)}) {
            static unsigned char seen[24 * 105], again[24 * 105];
            const size_t n = grid.x * grid.y * grid.z * size_t(block.x * block.y * block.z);
            int wrong = 0;
            memset(seen, 0, sizeof seen);
            memset(again, 0, sizeof again);
            GPUMB_LAUNCH(index_once, grid, block, 0, seen, &wrong, grid, block);
            GPUMB_LAUNCH_BARRIER(index_kept, grid, block, 0, again, &wrong, grid, block);
            for (size_t i = 0; i < sizeof seen; i++)
                wrong += seen[i] != (i < n) || again[i] != (i < n);
            CHECK_INT(wrong, 0);
        }
    CHECK_NO_FAULT();
}

static __global__ void take(uint64_t *sum, size_t a, short b, float c, const char *d, double e)
{
    atomicAdd(sum, a + static_cast<uint64_t>(b) + static_cast<uint64_t>(c) + strlen(d) +
                       static_cast<uint64_t>(e));
}
template <class T, int N> static __global__ void fill(T *p)
{
    p[threadIdx.x] = T(N);
}

static void test_arguments()
{
    uint64_t sum = 0;
    int once = 0;
    size_t again = 1;
    float f[4] = {0};
    GPUMB_LAUNCH(take, ++once, 10, 0, &sum, again++, 3, 4, "five!", 6.f);
    CHECK_INT(once, 1);
    CHECK_INT(again, 2);
    CHECK_INT(sum, 10 * (1 + 3 + 4 + 5 + 6));
    GPUMB_LAUNCH((fill<float, 9>), 1, 4, 0, f);
    CHECK(f[0] + f[3] > 17.5f);
    void (*chosen)(float *) = sum ? fill<float, 2> : fill<float, 3>;
    GPUMB_LAUNCH(chosen, 1, 4, 0, f);
    CHECK_NEAR(f[3], 2, 0);
    CHECK_NO_FAULT();
}

static __global__ void use_shared(int *wrong, unsigned bytes)
{
    GPUMB_SHARED(unsigned char, p);
    if (reinterpret_cast<uintptr_t>(p) % 64)
        atomicAdd(wrong, 1);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
        p[i] = static_cast<unsigned char>(i + blockIdx.x);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
        if (p[bytes - 1 - i] != static_cast<unsigned char>(bytes - 1 - i + blockIdx.x))
            atomicAdd(wrong, 1);
    __syncthreads();
}

static __global__ void past_dynamic(unsigned from)
{
    GPUMB_SHARED(char, text);
    if (blockIdx.x == 3)
        text[from] = 0;
}

// The fault names kernel and block; launches that follow are well.
static void test_red_zones()
{
    static float out[32 * 32];
#if defined(__aarch64__)
    SKIP("overruns of shared memory are told on x86-64 alone");
    (void)out;
#elif !defined(__clang__) && !defined(GPUMBI_ASAN)
    for (int blocks : {1, 5}) {
        GPUMB_LAUNCH_BARRIER(tiled, blocks, dim3(32, 32), 0, out, 34);
        CHECK(faulted("kernel tiled, block (", ": wrote past the end of a __shared__ array"));
    }
    GPUMB_LAUNCH(past_dynamic, 5, 4, 100, 100);
    CHECK(faulted("kernel past_dynamic, block (3,0,0): wrote past the end of its 100 bytes of "
                  "dynamic shared memory"));
    GPUMB_LAUNCH(past_dynamic, 5, 4, 100, 355);
    CHECK(faulted("kernel past_dynamic, block (3,0,0)"));
#endif
    GPUMB_LAUNCH(past_dynamic, 5, 4, 100, 99);
    GPUMB_LAUNCH_BARRIER(tiled, 5, dim3(32, 32), 0, out, 33);
    CHECK_NO_FAULT();
}

static void test_shared_memory()
{
    int wrong = 0;
    for (unsigned bytes = 1; bytes <= 1u << 20; bytes *= 8)
        GPUMB_LAUNCH_BARRIER(use_shared, 5, 64, bytes, &wrong, bytes);
    CHECK_INT(wrong, 0);
    CHECK_NO_FAULT();
}

// ---- grid stride, atomics, helpers ----

static __global__ void stride(unsigned char *seen, uint64_t n, int *evaluated)
{
    GPUMB_GRID_STRIDE(i, (atomicAdd(evaluated, 1), n)) {
        seen[i]++;
        GPUMB_GRID_STRIDE(j, 0)
            seen[j]++;
    }
}
static __global__ void stride_ends(uint64_t *last, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n) {
        *last = i;
        i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x != gridDim.x * blockDim.x - 1);
    }
}

static void test_grid_stride()
{
    static unsigned char seen[8000];
    for (uint64_t n : {0u, 1u, 2u, 7u, 63u, 97u, 1009u, 7919u})
        for (int threads : {1, 3, 32, 100}) {
            int wrong = 0, evaluated = 0;
            memset(seen, 0, sizeof seen);
            GPUMB_LAUNCH(stride, 5, threads, 0, seen, n, &evaluated);
            for (uint64_t i = 0; i < sizeof seen; i++)
                wrong += seen[i] != (i < n);
            CHECK_INT(wrong, 0);
            CHECK_INT(evaluated, 5 * threads);
        }
    const uint64_t huge = uint64_t(1) << 63;
    uint64_t last = 0;
    gpumb_cpu_set_workers(1);
    GPUMB_LAUNCH(stride_ends, 7, 1000, 0, &last, huge);
    CHECK(last > huge - huge / 6000 && last < huge);
    gpumb_cpu_set_workers(0);
    CHECK_NO_FAULT();
}

struct tallies {
    int i, low, high;
    unsigned u, ring, bits, off, flip;
    unsigned long long ull;
    float f;
    double d;
};
static __global__ void count_up(tallies *p)
{
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&p->i, 2);
    atomicSub(&p->u, 1u);
    atomicAdd(&p->ull, 1);
    atomicAdd(&p->f, 1);
    atomicAdd(&p->d, 0.5);
    atomicMin(&p->low, -t);
    atomicMax(&p->high, t);
    atomicInc(&p->ring, 9);
    atomicOr(&p->bits, 1u << t % 32);
    atomicAnd(&p->off, ~(1u << t % 31));
    atomicXor(&p->flip, 3);
}

static void test_atomics()
{
    const int total = 1001 * 33;
    for (int workers : {1, 2, 3, 7, 0}) {
        tallies p = {0, 0, 0, 1 << 20, 0, 0, ~0u, 0, 0, 0, 0};
        gpumb_cpu_set_workers(workers);
#ifdef GPUMBI_ASAN
        CHECK_INT(gpumb_cpu_workers(), 1);
#else
        CHECK(workers ? gpumb_cpu_workers() == workers : gpumb_cpu_workers() >= 1);
#endif
        GPUMB_LAUNCH(count_up, 1001, 33, 0, &p);
        CHECK_INT(p.i, 2 * total);
        CHECK_INT(p.low, 1 - total);
        CHECK_INT(p.high, total - 1);
        CHECK_INT(p.u, (1 << 20) - total);
        CHECK_INT(p.ull, total);
        CHECK_NEAR(p.f, total, 0);
        CHECK_NEAR(p.d, total * 0.5, 0);
        CHECK_INT(p.ring, total % 10);
        CHECK(p.bits == ~0u && p.off == 1u << 31 && p.flip == 3);
        test_reduce();
    }
    int i = 5;
    unsigned long long u = 1;
    CHECK(atomicExch(&i, 6) == 5 && atomicCAS(&i, 6, 7) == 6 && atomicCAS(&i, 6, 8) == 7 && i == 7);
    CHECK(atomicMax(&u, 9) == 1 && atomicMin(&u, 3) == 9 && u == 3);
}

static void test_helpers()
{
    const float x = -2.5f;
    CHECK_NEAR(rsqrtf(4), 0.5, 0);
    CHECK_NEAR(rsqrt(16.0), 0.25, 0);
    CHECK_NEAR(__fmaf_rn(2, 3, 4), 10, 0);
    CHECK(__popc(0xf0u) == 4 && __popcll(~0ull) == 64);
    CHECK(__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __ffs(0) == 0 && __ffs(8) == 4);
    CHECK_NEAR(__ldg(&x), x, 0);
    CHECK_NEAR(__int_as_float(__float_as_int(x)), x, 0);
    CHECK_NEAR(__uint_as_float(__float_as_uint(x)), x, 0);
    CHECK(alignof(float4) == 16 && alignof(int2) == 8 && alignof(double4) == 16);
    CHECK(sizeof(float3) == 12 && sizeof(double4) == 32 && make_uint4(1, 2, 3, 4).w == 4);
    CHECK(warpSize == 32 && dim3(4).y == 1);
}

// ---- endurance: many launches, several threads, a fork, a restart ----

static void test_many_launches()
{
    int out[128], right = 0;
    tallies p = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 10000; i++)
        GPUMB_LAUNCH(count_up, 3, 2, 0, &p);
    CHECK_INT(p.ull, 60000);
    for (int i = 0; i < 500; i++) {
        GPUMB_LAUNCH_BARRIER(first_warp, 2, 64, 0, out);
        right += out[0] == 496 && out[64] == 496;
    }
    CHECK_INT(right, 500);
    CHECK_NO_FAULT();
}

// A context belongs to one thread, the emulation to all: 1200 counts, without a context.
static void *launch_some(void *argument)
{
    tallies *p = static_cast<tallies *>(argument);
    const gpumbi_shape shape = {"count_up", {3, 1, 1}, {2, 1, 1}, 0, 0};
    for (int i = 0; i < 200; i++)
        gpumbi_run(shape, [=]() { count_up(p); });
    return NULL;
}

static void test_threads()
{
    tallies p[4];
    pthread_t threads[4];
    memset(p, 0, sizeof p);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, launch_some, &p[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(p[i].ull, 1200);
    }
    CHECK_NO_FAULT();
}

// A forked child can't have threads under qemu's user mode, which names the process, or TSan.
static const char *why_no_fork()
{
    char name[16] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    if (file && !fgets(name, sizeof name, file))
        name[0] = '\0';
    if (file)
        fclose(file);
    if (!strncmp(name, "qemu", 4))
        return "fork: not under qemu";
#if defined(GPUMBI_TSAN)
    return "fork: not under TSan";
#endif
    return getenv("TEST_NO_FORK") ? "fork: TEST_NO_FORK is set" : NULL;
}

static void test_fork_and_restart()
{
    tallies p = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    int status = -1;
    launch_some(&p); // so that there are workers, and the child has none
    if (why_no_fork()) {
        SKIP(why_no_fork());
    } else {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            launch_some(&p);
            _exit(p.ull == 2400 ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_INT(status, 0);
    }
    gpumbi_cpu_shutdown();
    launch_some(&p);
    CHECK_INT(p.ull, 2400);
    GPUMB_LAUNCH(nothing, 2, 1, 0);
    CHECK_NO_FAULT();
}

// ---- crashes, and what is said once: in a child each, whose standard error is read ----

static __global__ void out_of_bounds(volatile int *x, unsigned bad)
{
    if (blockIdx.x == 2 && blockIdx.y == 1 && threadIdx.x == bad && threadIdx.y == 1)
        *x = 1;
}
static __global__ void out_of_bounds_later(volatile int *x, unsigned bad)
{
    __syncthreads();
    if (blockIdx.x == 2 && blockIdx.y == 1 && threadIdx.x == bad && threadIdx.y == 1)
        *x = 1;
}
static __global__ void divide(volatile int *x, int by)
{
    if (blockIdx.x == 9 && threadIdx.x == 3)
        *x = by ? 1 / by : (raise(SIGFPE), 0);
}
// As an array that is overrun does: nothing of the OS thread's is to be trusted.
static __global__ void spoils_and_crashes(volatile int *x)
{
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 5) {
        memset(&gpumbi_self, 0x7a, sizeof gpumbi_self);
        memset(static_cast<void *>(&gpumbi_here), 0x7a, sizeof gpumbi_here);
        *x = 1;
    }
}
static __global__ void aborts(int thread)
{
    if (threadIdx.x == (unsigned)thread)
        abort();
}
#if !defined(GPUMBI_ASAN) && !defined(GPUMBI_TSAN)
__attribute__((noinline)) static int deep(volatile char *above, int depth)
{
    volatile char room[4096];
    room[0] = above[0];
    return depth ? deep(room, depth - 1) + room[0] : 0;
}
static __global__ void no_stack()
{
    volatile char x = 0;
    if (blockIdx.x == 1)
        deep(&x, 1 << 20);
}
#endif

static int *const nowhere = reinterpret_cast<int *>(16);

// Runs `what` in a child: its standard error, and how it ended.
template <class What> static std::string child_says(int *status, What what)
{
    int ends[2];
    std::string said;
    char text[512];
    if (!CHECK(pipe(ends) == 0))
        return said;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        gpumb_cpu_set_workers(1); // qemu forgets how to make threads
        what();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;)
        said.append(text, static_cast<size_t>(n));
    close(ends[0]);
    CHECK(waitpid(child, status, 0) == child);
    return said;
}

// One line, and the signal ends the child as if nobody had looked. Sanitizers end it their way.
template <class What> static void check_crash(int signal, const char *line, What what)
{
    int status = 0;
    const std::string said = child_says(&status, what);
    const bool right = said.compare(0, strlen(line), line) == 0;
    CHECK(right);
    if (!right)
        printf("    expected \"%s\", got \"%s\"\n", line, said.c_str());
#if !defined(GPUMBI_ASAN) && !defined(GPUMBI_TSAN)
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    CHECK(said.find("gpumb:", 1) == std::string::npos);
#else
    CHECK(status != 0);
    (void)signal;
#endif
}

static void test_crashes()
{
    check_crash(SIGSEGV,
                "gpumb: kernel out_of_bounds, block (2,1,0), thread (5,1,0) or a later one: "
                "SIGSEGV: an address out of bounds, or no stack left\n",
                [] { GPUMB_LAUNCH(out_of_bounds, dim3(3, 2), dim3(8, 2), 0, nowhere, 5); });
    check_crash(
        SIGSEGV, "gpumb: kernel out_of_bounds_later, block (2,1,0), thread (13,1,0): SIGSEGV",
        [] { GPUMB_LAUNCH_BARRIER(out_of_bounds_later, dim3(3, 2), dim3(16, 2), 0, nowhere, 13); });
    check_crash(SIGSEGV, "gpumb: kernel spoils_and_crashes, block (1,0,0), thread (5,0,0): SIGSEGV",
                [] { GPUMB_LAUNCH_BARRIER(spoils_and_crashes, 2, 16, 0, nowhere); });
    check_crash(SIGFPE,
                "gpumb: kernel divide, block (9,0,0), thread (3,0,0) or a later one: "
                "SIGFPE: an integer division by zero\n",
                [] {
                    int x = 0;
                    GPUMB_LAUNCH(divide, 10, 8, 0, &x, 0);
                });
    check_crash(SIGABRT, "gpumb: kernel aborts, block (0,0,0), thread (7,0,0)",
                [] { GPUMB_LAUNCH(aborts, 1, 8, 0, 7); });
#if !defined(GPUMBI_ASAN) && !defined(GPUMBI_TSAN)
    check_crash(SIGSEGV, "gpumb: kernel no_stack, block (1,0,0), thread (0,0,0)", [] {
        const struct rlimit limit = {1 << 23, 1 << 23};
        setrlimit(RLIMIT_STACK, &limit);
        GPUMB_LAUNCH(no_stack, 2, 1, 0);
    });

    // Behind ours comes the program's own handler; outside of kernels we say nothing.
    int status = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = [](int) { _exit(3); };
    std::string said = child_says(&status, [&] {
        gpumbi_cpu_shutdown();
        sigaction(SIGSEGV, &action, NULL);
        GPUMB_LAUNCH(out_of_bounds, dim3(3, 2), dim3(8, 2), 0, nowhere, 5);
    });
    CHECK(said.find("kernel out_of_bounds") != std::string::npos);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    said = child_says(&status, [] {
        gpumbi_self = {{0, 1, 0}, {2, 1, 0}, {8, 2, 1}, {3, 2, 1}, NULL};
        out_of_bounds(nowhere, 0);
    });
    CHECK(said.find("gpumb:") == std::string::npos);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

    // Handlers leave with the workers.
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    CHECK(now.sa_flags & SA_SIGINFO);
    gpumbi_cpu_shutdown();
    sigaction(SIGSEGV, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
#endif
}

#ifdef GPUMBI_ASAN
// Its report has the line; ours follows.
static void test_overruns()
{
    static float out[32 * 32];
    int status = 0;
    std::string said =
        child_says(&status, [] { GPUMB_LAUNCH_BARRIER(tiled, 2, dim3(32, 32), 0, out, 34); });
    CHECK(said.find("global-buffer-overflow") != std::string::npos);
    CHECK(said.find("in tiled") != std::string::npos);
    CHECK(said.find("tests/test_emulation.cpp:") != std::string::npos);
    CHECK(said.find("gpumb: kernel tiled, block (0,0,0), thread (2,31,0): see AddressSanitizer's "
                    "report above\n") != std::string::npos);
    CHECK(status != 0);
    for (int before : {50, 500}) // where there was more for the launch before, too
        said = child_says(&status, [&] {
            GPUMB_LAUNCH(past_dynamic, 5, 1, before, 49);
            GPUMB_LAUNCH(past_dynamic, 5, 1, 100, 100);
        });
    CHECK(said.find("heap-buffer-overflow") != std::string::npos);
    CHECK(said.find("gpumb: kernel past_dynamic, block (3,0,0), thread (0,0,0)") !=
          std::string::npos);
}
#endif

// The rows so far are in the part, and the report says so.
static void test_crash_with_files()
{
    const std::string name = temporary("gpumb_crash_" + std::to_string(getpid()) + ".csv");
    const std::string part = name + ".part";
    int status = 0;
    const std::string said = child_says(&status, [&] {
        gpumb_settings settings = gpumb_settings_default();
        settings.quiet = 1;
        settings.csv = name.c_str();
        settings.min_samples = settings.max_samples = 6;
        gpumb *g = gpumb_open_settings("crash", &settings);
        GPUMB_MEASURE(g, "fine")
            gpumb_empty(g, 1, 32);
        GPUMB_MEASURE(g, "crashes")
            GPUMB_LAUNCH(out_of_bounds, dim3(3, 2), dim3(8, 2), 0, nowhere, 5);
        gpumb_close(g);
    });
    CHECK(said.find("kernel out_of_bounds, block (2,1,0)") != std::string::npos);
    CHECK(said.find("; finished rows are in " + part + "\n") != std::string::npos);
    CHECK(access(name.c_str(), F_OK) != 0);
    FILE *file = fopen(part.c_str(), "r");
    if (CHECK(file != NULL)) {
        char line[4096] = "";
        for (int i = 0; i < 2; i++)
            CHECK(fgets(line, sizeof line, file) != NULL);
        CHECK(strstr(line, ",fine,") != NULL);
        fclose(file);
    }
    remove(part.c_str());
}

// A thread that ends before a barrier is arrived: a line says once that older cards differ.
static void test_note()
{
    int status = 0;
    const std::string said = child_says(&status, [] {
        int out[32] = {0};
        gpumbi_noted = 0;
        for (int i = 0; i < 2; i++)
            GPUMB_LAUNCH_BARRIER(half_ends, 2, 32, 0, out);
        _exit(out[0] == 3 ? 0 : 1);
    });
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const char *note = "gpumb: kernel half_ends: 16 of 32 threads of a block end without "
                       "__syncthreads() in test_emulation.cpp:";
    CHECK(said.find(note) == 0);
    CHECK(said.find("undefined before") != std::string::npos);
    CHECK(said.find('\n') + 1 == said.size()); // once
}

int main()
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = 6;
    gpumb *g = gpumb_open_settings("test_emulation", &settings);
    CHECK(gpumb_ok(g));
    test_reduce();
    test_barriers();
    test_registers();
    test_shuffles(32);
    test_shuffles(64);
    test_warps();
    test_faults();
    test_faults_in_regions();
    test_limits();
    test_indices();
    test_arguments();
    test_shared_memory();
    test_red_zones();
    test_grid_stride();
    test_atomics();
    test_helpers();
    test_many_launches();
    test_threads();
    test_fork_and_restart();
    if (why_no_fork() && strcmp(why_no_fork(), "fork: not under qemu")) {
        SKIP(why_no_fork());
    } else {
        test_crashes();
#ifdef GPUMBI_ASAN
        test_overruns();
#endif
        test_crash_with_files();
        test_note();
    }
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // every row was to be refused
    gpumbi_cpu_shutdown();
    return CHECK_SUMMARY();
}

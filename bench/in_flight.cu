/* What has to be in flight for a rate: reading by loads, by copies to shared memory and by bulk
 * copies, over the bytes that a multiprocessor has asked for. */
#include "gpumb.h"

#include "async.h"

/* ---- in_flight/memory, in_flight/l2 ---------------------------------------------------------- */

#define KIB 4, 8, 16, 32, 64, 128, 192
enum { THREADS = 256, TILE = THREADS * 16, LOADS = 0, COPIES, BULK, WAYS };
static const char *const ways[] = {"loads", "copies", "bulk copies"};
static const char memory_bench[] = "in_flight/memory", l2_bench[] = "in_flight/l2";

/* One block for each multiprocessor reads its tiles of the first `n` words, of which there are only
 * `around`, over and over, and keeps `kib` KiB in flight: to registers, or to shared memory. Both
 * are powers of two, so that tiles are whole. Bulk copies, for which a block waits together, bring
 * a thread up to 4 words at a time. */
template <int way, int kib>
__global__ void read_ahead(const uint4 *in, unsigned *out, uint64_t n, uint64_t around)
{
    enum {
        EACH = way != BULK || kib < 64 ? 1
               : kib < 128             ? 2
                                       : 4, /* words of a thread in a tile */
        TILES = kib * 1024 / (EACH * TILE)
    };
    __shared__ copy_barrier there[TILES];
    GPUMB_SHARED(uint4, room);
    uint4 taken[TILES] = {}, *own = room + threadIdx.x;
    unsigned total = 0;
    const uint64_t tile = EACH * THREADS, step = gridDim.x * tile, first = blockIdx.x * tile;
    const auto start = [&](unsigned t, uint64_t i) {
        const uint4 *from = in + (i & (around - 1));
        if (i >= n)
            return;
        if (way == LOADS)
            taken[t] = from[threadIdx.x];
        else if (way == COPIES)
            copy16(own + t * THREADS, from + threadIdx.x);
        else if (threadIdx.x == 0)
            copy_bulk(room + t * tile, from, EACH * TILE, there + t);
    };
    const auto end = [&] { way == COPIES ? end_of_group() : (void)0; };

    if (way == BULK && threadIdx.x == 0)
        new_barriers(there, TILES);
    __syncthreads();
    UNROLL
    for (unsigned t = 0; t < TILES; t++)
        start(t, first + t * step), end();
    unsigned turn = 0;
    for (uint64_t i = first; i < n; i += TILES * step, turn++) {
        UNROLL
        for (unsigned t = 0; t < TILES; t++) {
            if (way == COPIES)
                wait_for_copies<TILES - 1>();
            if (i + t * step < n) {
                if (way == BULK)
                    wait_bulk(there + t, turn);
                UNROLL
                for (unsigned e = 0; e < EACH; e++) {
                    const uint4 w = way == LOADS ? taken[t] : own[(t * EACH + e) * THREADS];
                    total += w.x + w.y + w.z + w.w;
                }
                if (way == BULK)
                    __syncthreads(); /* all have taken theirs */
            }
            start(t, i + (TILES + t) * step), end();
        }
    }
    out[blockIdx.x * THREADS + threadIdx.x] = total;
}

/* What the rate tells of how long a byte is on its way, at most: J. D. C. Little, Operations
 * Research 9 (1961). */
static void note_rates(gpumb *g, const char *bench)
{
    for (int way = 0; way < WAYS; way++) {
        const rows some = noisy_too(having(rows_of(bench, NULL), "way", way));
        const extremes e = extremes_of(g, some, gbps_of);
        sentence s = no_words();
        if (!is_gpu(g) || !e.high || e.count < 2)
            continue;
        for (size_t i = 0; i < gpumb_row_count(g); i++) {
            const gpumb_result *r = row_in(g, some, i);
            if (!r)
                continue;
            const int64_t kib = gpumb_row_axis(g, i, "kib");
            const double all = (double)(kib * KiB * gpumb_get_device(g)->multiprocessors);
            say_next(&s, ", ");
            say(&s, "%lld KiB %.4g (%.0f ns)", (long long)kib, r->gbps, all / r->gbps);
        }
        gpumb_note(g,
                   "%s, GB/s by what a multiprocessor has in flight (and how long a byte is): %s.",
                   ways[way], s.text);
    }
}

static void measure_rates(gpumb *g, const char *bench, uint64_t around, uint64_t passes)
{
    static const int64_t full[] = {KIB}, quick[] = {8, 32, 128}, cpu[] = {4, 16};
    const values amounts = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const unsigned blocks = is_gpu(g) ? (unsigned)gpumb_get_device(g)->multiprocessors : 3;
    gpumb_buffer *in = gpumb_alloc(g, around), *out = gpumb_alloc(g, 4 * THREADS * blocks);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    all_read check = {in, out, around / 4, (unsigned)passes};
    GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
        GPUMB_SWEEP_ARRAY(g, kib, amounts.at, amounts.count) {
            gpumb_set_bytes(g, (double)(around * passes));
            gpumb_set_output(g, out);
            gpumb_set_verify(g, check_all_read, &check);
            needs_sm(g, way == BULK ? 90 : way == COPIES ? 80 : 0, "such copies");
            GPUMB_MEASURE(g, ways[way])
                GPUMB_FOR_CONSTANTS(
                    way, W, (LOADS, COPIES, BULK),
                    GPUMB_FOR_CONSTANTS(kib, K, (KIB),
                                        GPUMB_LAUNCH_BARRIER((read_ahead<W, K>), blocks, THREADS,
                                                             W == LOADS ? 0 : 1024 * K,
                                                             GPUMB_PTR(const uint4, in),
                                                             GPUMB_PTR(unsigned, out),
                                                             passes * around / 16, around / 16)));
        }
    note_rates(g, bench);
}

static void in_flight_memory(gpumb *g)
{
    measure_rates(g, memory_bench, is_gpu(g) ? GiB : MiB, 1);
}

static void in_flight_l2(gpumb *g)
{
    measure_rates(g, l2_bench, is_gpu(g) ? 16 * MiB : 256 * KiB, is_gpu(g) ? 16 : 3);
}

static const gpumb_benchmark benchmarks[] = {
    {memory_bench, "reading memory, over the bytes that are in flight", in_flight_memory},
    {l2_bench, "reading the L2, over the bytes that are in flight", in_flight_l2},
};

GPUMB_MAIN(benchmarks)

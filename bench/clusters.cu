/* Blocks of a cluster in each other's shared memory: what a load and an atomic addition take there,
 * and the rate of reading. */
#include "gpumb.h"

#include "async.h"
#include "cycles.h"

/* ---- clusters/latency ------------------------------------------------------------------------ */

static const char latency_bench[] = "clusters/latency", rate_bench[] = "clusters/rate";
static const char *const accesses[] = {"load", "atomic addition"};
enum { NODES = 1024, BLOCKS_MOST = 8 /* of a cluster, on all devices that have any */ };

/* Skips the next region where there is no such cluster. */
static int has_cluster(gpumb *g, int64_t cluster, int64_t rank)
{
    if (cluster > BLOCKS_MOST || rank >= cluster)
        gpumb_skip(g, "clusters of 1 ... %d blocks, and ranks below that", (int)BLOCKS_MOST);
    else
        needs_sm(g, cluster > 1 ? 90 : 0, "clusters");
    return cluster <= BLOCKS_MOST && rank < cluster;
}

/* The first thread of the first block goes through a cycle of words in the block of that rank, or
 * adds to its first one, always to what it has got. */
template <int adds>
__global__ void chase_peer(const uint32_t *next, word *out, chase_length l, unsigned rank)
{
    GPUMB_SHARED(unsigned, own);
    for (unsigned i = threadIdx.x; i < NODES; i += blockDim.x)
        own[i] = adds ? 0 : next[i];
    sync_cluster();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const cluster_words there = words_of(own, rank);
        unsigned at = 0;
        word ticks = 0, all = 0;
        const auto step = [&] {
            at = adds ? fetch_add(there, 0, 1 + (at >> 31)) : load_word(there, at);
        };
        for (unsigned i = 0; i < l.warm; i++)
            step();
        for (unsigned s = 0; s < l.samples; s++) {
            const word began = cycles_after(at, out);
            ticks = s ? ticks : ticks_now();
            all = s ? all : began;
            for (unsigned i = 0; i < l.steps; i++)
                step();
            out[SAMPLES + s] = cycles_after(at, out) - began;
        }
        out[CYCLES] = cycles_now() - all;
        out[TICKS] = ticks_now() - ticks;
    }
    sync_cluster(); /* a block that has ended has no shared memory */
}

static void measure_latency(gpumb *g, int64_t access, int64_t cluster, int64_t rank, double tick_s)
{
    job j;
    j.groups = 0;
    j.length.warm = 2 * NODES;
    j.length.steps = 1 << 9;
    j.length.samples = 32;
    gpumb_set_value(g, "cycles", NAN);
    const int there = has_cluster(g, cluster, rank);
    if (!gpumb_wants_times(g, accesses[access]))
        return;
    if (!there) {
        gpumb_add_times(g, accesses[access], GPUMB_MEANING_SPAN, NULL, 0);
        return;
    }
    std::vector<uint32_t> next(NODES);
    make_cycle(next.data(), NODES, gpumb_get_settings(g)->seed);
    gpumb_buffer *chain = gpumb_alloc(g, NODES * sizeof(uint32_t));
    j.out = gpumb_alloc(g, (SAMPLES + j.length.samples) * sizeof(word));
    gpumb_write(g, chain, 0, next.data(), NODES * sizeof(uint32_t));
    gpumb_poison(g, j.out);
    gpumb_launch_config how = {};
    how.block[0] = 32;
    how.grid[0] = (uint64_t)cluster;
    how.cluster[0] = (int)cluster;
    how.shared_bytes = NODES * sizeof(unsigned);
    GPUMB_FOR_CONSTANTS(access, A, (0, 1),
                        GPUMB_LAUNCH_EX(chase_peer<A>, how, GPUMB_PTR(const uint32_t, chain),
                                        GPUMB_PTR(word, j.out), j.length, (unsigned)rank));
    j.expected = access ? loads_of(j.length) - 1 : walk_cycle(next.data(), 0, loads_of(j.length));
    add_row(g, accesses[access], &j, check_end, &j, tick_s);
    gpumb_free(g, chain);
    gpumb_free(g, j.out);
}

static void note_latencies(gpumb *g)
{
    for (int access = 0; access < (int)COUNT(accesses); access++) {
        const rows all = noisy_too(having(rows_of(latency_bench, NULL), "access", access));
        const gpumb_result *own = first_row(g, having(all, "rank", 0));
        sentence s = no_words();
        for (size_t i = 0; own && i < gpumb_row_count(g); i++)
            if (row_in(g, all, i) && gpumb_row_axis(g, i, "rank")) {
                say_next(&s, ", ");
                say(&s, "%.4g cycles (block %lld of %lld)", gpumb_row_value(g, i, "cycles"),
                    (long long)gpumb_row_axis(g, i, "rank"),
                    (long long)gpumb_row_axis(g, i, "cluster"));
            }
        if (s.text[0])
            gpumb_note(g,
                       "%s, own shared memory %.4g ns; that of another block of the cluster: %s.",
                       accesses[access], 1e9 * own->time.median, s.text);
    }
}

static void clusters_latency(gpumb *g)
{
    static const int64_t full[] = {2, 4, 8}, quick[] = {8}, cpu[] = {1};
    const values clusters = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, access, accesses, COUNT(accesses))
        GPUMB_SWEEP_ARRAY(g, cluster, clusters.at, clusters.count)
            GPUMB_SWEEP_RANGE(g, rank, 0, cluster - 1, 1)
                measure_latency(g, access, cluster, rank, tick_s);
    note_latencies(g);
}

/* ---- clusters/rate --------------------------------------------------------------------------- */

enum { READERS = 1024, WORDS = 1 << 15 };

/* Each block reads all words of the one that is so many ranks farther, so often; a thread others in
 * each pass, or the assembler makes one load of those of two passes. */
__global__ void read_peer(const unsigned *in, unsigned *out, unsigned cluster, unsigned distance,
                          unsigned passes)
{
    GPUMB_SHARED(unsigned, own);
    const unsigned rank = cluster_rank();
    unsigned total = 0;
    for (unsigned i = threadIdx.x; i < WORDS; i += READERS)
        own[i] = in[rank * WORDS + i];
    sync_cluster();
    const cluster_words there = words_of(own, (rank + distance) % cluster);
    for (unsigned pass = 0; pass < passes; pass++)
        UNROLL
    for (unsigned i = 0; i < WORDS; i += 4 * READERS) {
        const uint4 w = load_words(there, (i + 4 * (threadIdx.x + pass)) % WORDS);
        total += w.x + w.y + w.z + w.w;
    }
    sync_cluster();
    out[blockIdx.x * READERS + threadIdx.x] = total;
}

static void note_peer_rates(gpumb *g)
{
    const rows all = noisy_too(rows_of(rate_bench, NULL));
    const gpumb_result *own = first_row(g, having(all, "distance", 0));
    sentence s = no_words();
    for (size_t i = 0; own && i < gpumb_row_count(g); i++)
        if (row_in(g, all, i) && gpumb_row_axis(g, i, "distance")) {
            say_next(&s, ", ");
            say(&s, "%.4g GB/s (cluster of %lld, distance %lld)", gpumb_row(g, i)->gbps,
                (long long)gpumb_row_axis(g, i, "cluster"),
                (long long)gpumb_row_axis(g, i, "distance"));
        }
    if (s.text[0])
        gpumb_note(g, "Reading own shared memory %.4g GB/s, that of another block: %s.", own->gbps,
                   s.text);
}

static void clusters_rate(gpumb *g)
{
    static const int64_t full[] = {2, 4, 8}, quick[] = {2, 8}, cpu[] = {1};
    const values clusters = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const unsigned passes = is_gpu(g) ? 64 : 2;
    gpumb_buffer *in = gpumb_alloc(g, BLOCKS_MOST * WORDS * sizeof(unsigned));
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    GPUMB_SWEEP_ARRAY(g, cluster, clusters.at, clusters.count)
        GPUMB_SWEEP_RANGE(g, distance, 0, cluster / 2, 1) {
            gpumb_launch_config how = {};
            how.block[0] = READERS;
            how.cluster[0] = (int)cluster;
            how.shared_bytes = WORDS * sizeof(unsigned);
            how.grid[0] = resident_blocks(g, read_peer, &how);
            all_read check = {in, gpumb_alloc(g, 4 * READERS * how.grid[0]),
                              WORDS * (uint64_t)cluster,
                              passes * (unsigned)(how.grid[0] / (uint64_t)cluster)};
            if (!gpumb_get_settings(g)->replay) /* there only the row knows how many blocks ran */
                gpumb_set_bytes(g, 4.0 * (double)(WORDS * passes * how.grid[0]));
            (void)has_cluster(g, cluster, 0); /* else skipped */
            gpumb_set_output(g, check.out);
            gpumb_set_verify(g, check_all_read, &check);
            GPUMB_MEASURE(g, distance ? "another block's" : "own")
                GPUMB_LAUNCH_EX(read_peer, how, GPUMB_PTR(const unsigned, in),
                                GPUMB_PTR(unsigned, check.out), (unsigned)cluster,
                                (unsigned)distance, passes);
        }
    note_peer_rates(g);
}

static const gpumb_benchmark benchmarks[] = {
    {latency_bench, "a load and an atomic addition in another block's shared memory",
     clusters_latency},
    {rate_bench, "reading another block's shared memory", clusters_rate},
};

GPUMB_MAIN(benchmarks)

/* Lab 23: clusters: blocks that use each other's shared memory.
 * Question: random words are counted in `bins` of 4 bytes. A block has room for 227 KiB of shared
 * memory: for which `bins` is that enough? For the others, the blocks of a `cluster` share one set:
 * they have bins in turn, and each adds to those of the others from afar. (0: all add in global
 * memory, 1: each block has a set.) How many blocks of 1024 threads fit on a multiprocessor in each
 * case? Where does a cluster win: where it makes room for bins, for threads, or for neither?
 * Clusters lie in groups of multiprocessors, at most 18: how many of 132 can have work?
 * Change: square the words first (high half): half of them are in a quarter of the bins then.
 * Let a block have neighbouring bins, in place of bins in turn. What does the busiest of 8 have
 * to do? */
#include "async.h"

#define CLUSTERS 0, 1, 2, 4, 8
enum { THREADS = 1024 };

template <int cluster>
__global__ void count(const uint4 *in, unsigned *out, uint64_t n, unsigned bins)
{
    GPUMB_SHARED(unsigned, own);
    const unsigned each = lab_each(bins, cluster);
    const auto add = [&](unsigned word) {
        const unsigned bin = lab_bin(word, bins);
        if constexpr (cluster == 0)
            atomicAdd(out + bin, 1u);
        else if constexpr (cluster == 1)
            atomicAdd(own + bin, 1u);
        else
            add_at(own + bin / cluster, bin % cluster);
    };

    for (unsigned i = threadIdx.x; i < each; i += THREADS)
        own[i] = 0;
    sync_cluster();
    GPUMB_GRID_STRIDE(i, n) {
        const uint4 words = in[i];
        add(words.x), add(words.y), add(words.z), add(words.w);
    }
    sync_cluster();
    for (unsigned i = threadIdx.x; i < each; i += THREADS)
        if (i * cluster + cluster_rank() < bins)
            atomicAdd(out + i * cluster + cluster_rank(), own[i]);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t n = (lab_gpu(g) ? 1 << 25 : 1 << 12) - 5; /* words of 16 bytes */
    gpumb_buffer *in = lab_words(g, 4 * n);
    GPUMB_SWEEP_LIST(g, bins, 10000, 50000, 200000, 400000)
        GPUMB_SWEEP_LIST(g, cluster, CLUSTERS) {
            gpumb_launch_config how = {};
            how.block[0] = THREADS;
            how.cluster[0] = (int)cluster;
            how.shared_bytes = 4 * lab_each((unsigned)bins, (unsigned)cluster);
            if (how.shared_bytes > lab_room(g))
                continue; /* nor has it a row */
            GPUMB_FOR_CONSTANTS(cluster, C, (CLUSTERS),
                                how.grid[0] = resident_blocks(g, count<C>, &how));
            lab_counts counts = {gpumb_alloc(g, 4 * (uint64_t)bins), 4 * n, (unsigned)bins, 0};
            gpumb_buffer *zeros = gpumb_alloc(g, 4 * (uint64_t)bins);
            gpumb_fill(g, zeros, GPUMB_FILL_ZERO, 0);
            gpumb_set_bytes(g, 16.0 * (double)n);
            gpumb_set_value(g, "blocks", (double)how.grid[0]);
            gpumb_set_output(g, counts.out);
            gpumb_set_verify(g, lab_check_counts, &counts);
            needs_sm(g, cluster > 1 ? 90 : 0, "clusters");
            GPUMB_MEASURE(g, "count") {
                gpumb_memcpy(g, gpumb_data(counts.out), gpumb_data(zeros), 4 * (uint64_t)bins);
                GPUMB_FOR_CONSTANTS(cluster, C, (CLUSTERS),
                                    GPUMB_LAUNCH_EX(count<C>, how, GPUMB_PTR(const uint4, in),
                                                    GPUMB_PTR(unsigned, counts.out), n,
                                                    (unsigned)bins));
            }
        }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        gpumb_note(g, "%lld bins, cluster %lld: %.0f blocks at once, %.0f additions a ns",
                   (long long)gpumb_row_axis(g, i, "bins"),
                   (long long)gpumb_row_axis(g, i, "cluster"), gpumb_row_value(g, i, "blocks"),
                   gpumb_row(g, i)->gbps / 4);
    return lab_close(g, __FILE__);
}

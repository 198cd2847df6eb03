/* Lab 23, changed: squares are counted, by blocks that have bins in turn, or in runs. */
#include "../async.h"

#define CLUSTERS 0, 1, 2, 4, 8
enum { THREADS = 1024, IN_TURN = 0, IN_RUNS };

template <int cluster, int order>
__global__ void count(const uint4 *in, unsigned *out, uint64_t n, unsigned bins)
{
    GPUMB_SHARED(unsigned, own);
    const unsigned each = lab_each(bins, cluster);
    const auto add = [&](unsigned word) {
        const unsigned bin = lab_bin(lab_square(word), bins);
        if constexpr (cluster == 0)
            atomicAdd(out + bin, 1u);
        else if constexpr (cluster == 1)
            atomicAdd(own + bin, 1u);
        else
            order == IN_TURN ? add_at(own + bin / cluster, bin % cluster)
                             : add_at(own + bin % each, bin / each);
    };

    for (unsigned i = threadIdx.x; i < each; i += THREADS)
        own[i] = 0;
    sync_cluster();
    GPUMB_GRID_STRIDE(i, n) {
        const uint4 words = in[i];
        add(words.x), add(words.y), add(words.z), add(words.w);
    }
    sync_cluster();
    for (unsigned i = threadIdx.x; i < each; i += THREADS) {
        const unsigned bin = order == IN_TURN ? i * cluster + cluster_rank() : i + each * cluster_rank();
        if (bin < bins)
            atomicAdd(out + bin, own[i]);
    }
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t n = (lab_gpu(g) ? 1 << 25 : 1 << 12) - 5; /* words of 16 bytes */
    gpumb_buffer *in = lab_words(g, 4 * n);
    GPUMB_SWEEP_LIST(g, bins, 10000, 50000, 200000, 400000)
        GPUMB_SWEEP_NAMES(g, order, "in turn", "in runs")
            GPUMB_SWEEP_LIST(g, cluster, CLUSTERS) {
                gpumb_launch_config how = {};
                how.block[0] = THREADS;
                how.cluster[0] = (int)cluster;
                how.shared_bytes = 4 * lab_each((unsigned)bins, (unsigned)cluster);
                if (how.shared_bytes > lab_room(g) || (order == IN_RUNS && cluster < 2))
                    continue;
                GPUMB_FOR_CONSTANTS(
                    order, O, (IN_TURN, IN_RUNS),
                    GPUMB_FOR_CONSTANTS(cluster, C, (CLUSTERS),
                                        how.grid[0] = resident_blocks(g, count<C, O>, &how)));
                lab_counts counts = {gpumb_alloc(g, 4 * (uint64_t)bins), 4 * n, (unsigned)bins, 1};
                gpumb_buffer *zeros = gpumb_alloc(g, 4 * (uint64_t)bins);
                gpumb_fill(g, zeros, GPUMB_FILL_ZERO, 0);
                gpumb_set_bytes(g, 16.0 * (double)n);
                gpumb_set_value(g, "blocks", (double)how.grid[0]);
                gpumb_set_output(g, counts.out);
                gpumb_set_verify(g, lab_check_counts, &counts);
                needs_sm(g, cluster > 1 ? 90 : 0, "clusters");
                GPUMB_MEASURE(g, "count") {
                    gpumb_memcpy(g, gpumb_data(counts.out), gpumb_data(zeros), 4 * (uint64_t)bins);
                    GPUMB_FOR_CONSTANTS(
                        order, O, (IN_TURN, IN_RUNS),
                        GPUMB_FOR_CONSTANTS(
                            cluster, C, (CLUSTERS),
                            GPUMB_LAUNCH_EX((count<C, O>), how, GPUMB_PTR(const uint4, in),
                                            GPUMB_PTR(unsigned, counts.out), n, (unsigned)bins)));
                }
            }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        gpumb_note(g, "%lld bins %s, cluster %lld: %.0f blocks at once, %.0f additions a ns",
                   (long long)gpumb_row_axis(g, i, "bins"),
                   gpumb_row_axis(g, i, "order") ? "in runs" : "in turn",
                   (long long)gpumb_row_axis(g, i, "cluster"), gpumb_row_value(g, i, "blocks"),
                   gpumb_row(g, i)->gbps / 4);
    return lab_close(g, __FILE__);
}

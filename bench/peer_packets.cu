/* Pieces of lines that one device writes to or reads from the memory of another: what a packet of
 * the link costs beside its data. */
#include "gpumb.h"

#include "fit.h"
#include "peer_packets.h"

static const char packet_bench[] = "peers/packet";

/* The time of a piece is that of its bytes and of what goes with it, whatever its size: a line,
 * whose n 1/2 is the size of what goes with it. */
static void note_packets(gpumb *g)
{
    for (int64_t way = 0; way < 2; way++) {
        enum { MOST = 32 };
        const rows some = having(noisy_too(rows_of(packet_bench, NULL)), "way", way);
        double size[MOST], time[MOST];
        size_t count = 0;
        for (size_t i = 0; i < gpumb_row_count(g) && count < MOST; i++) {
            const gpumb_result *r = row_in(g, some, i);
            if (!r)
                continue;
            size[count] = (double)gpumb_row_axis(g, i, "piece_bytes");
            time[count] = r->time.median / (r->bytes / size[count]);
            count++;
        }
        const shared_error shared = {0.01, 0}; /* launching is divided among thousands of pieces */
        const line_fit f = fit_line_with(size, time, count, shared);
        if (f.count)
            gpumb_note(g,
                       "%s, fitted: a piece takes as long as its bytes and %.3g (%.3g ... %.3g) "
                       "more, at %.4g GB/s (%.4g ... %.4g).",
                       ways[WRITTEN + way], f.half.value, f.half.lo, f.half.hi, f.rate.value / 1e9,
                       f.rate.lo / 1e9, f.rate.hi / 1e9);
        else if (count)
            gpumb_note(g, "%s: the times of %d sizes are no line within their errors.",
                       ways[WRITTEN + way], (int)count);
    }
}

/* Device 0 writes or reads the memory of device 1, in the caches there. */
static void packets(gpumb *g)
{
    GPUMB_SWEEP_STRINGS(g, way, ways + WRITTEN, 2)
        GPUMB_SWEEP_LIST(g, apart_bytes, 128, 256)
            GPUMB_SWEEP_LIST(g, piece_bytes, 32, 64, 96, 128) {
                packet p;
                std::vector<double> times;
                const char *trouble = NULL;
                if (!gpumb_wants_times(g, ways[WRITTEN + way]))
                    continue;
                p.reads = way == 1;
                p.seed = (uint32_t)gpumb_get_settings(g)->seed;
                p.blocks = is_gpu(g) ? 8 * (uint64_t)gpumb_get_device(g)->multiprocessors : 4;
                p.p.apart = (unsigned)apart_bytes / 16;
                p.p.piece = (unsigned)piece_bytes / 16;
                p.p.lines = (uint64_t)((is_gpu(g) ? 16 * MiB : 64 * KiB) / apart_bytes);
                p.p.rounds = is_gpu(g) ? (unsigned)(16 * 256 / piece_bytes) : 2;
                p.memory = memory_on(1, 16 * p.p.lines * p.p.apart);
                p.sum = (word *)memory_on(0, sizeof(word));
                p.stream = new_stream();
                p.began = new_timer();
                p.ended = new_timer();
                if (!can_reach(0, 1))
                    gpumb_skip(g, "device 0 can't reach the memory of device 1");
                else if (!p.memory || !p.sum || piece_bytes % 16 || piece_bytes > apart_bytes)
                    gpumb_skip(g, "no memory, or no such pieces");
                else
                    times = times_of(g, [&p] { return run_packets(&p); });
                trouble = runtime_trouble();
                if (trouble)
                    gpumb_skip(g, "%s", trouble);
                gpumb_set_bytes(g, (double)bytes_of(p.p));
                gpumb_set_verify(g, check_packets, &p);
                gpumb_add_times(g, ways[WRITTEN + way], GPUMB_MEANING_SPAN, times.data(),
                                times.size());
                free_timer(p.began);
                free_timer(p.ended);
                free_stream(p.stream);
                free_on(1, p.memory);
                free_on(0, p.sum);
                use_device(gpumb_get_device(g)->ordinal);
            }
    note_packets(g);
}

static void packet_bench_run(gpumb *g)
{
    with_access(g, packets);
}

static const gpumb_benchmark benchmarks[] = {
    {packet_bench, "pieces of lines: what the link carries beside the data", packet_bench_run},
};

int main(int argc, char **argv)
{
    return main_for_devices(argc, argv, "peer_packets", benchmarks, COUNT(benchmarks));
}

/* What one thread waits for another device: for a load from its memory, and for a flag there and
 * back, between all pairs. */
#include "gpumb.h"

#include "peer_waits.h"

static const char latency_bench[] = "peers/latency";

static void note_waits(gpumb *g)
{
    for (int64_t what = 0; what < WAITS; what++)
        note_matrix(g, having(noisy_too(rows_of(latency_bench, NULL)), "what", what),
                    wait_names[what], "ns", time_of, 1e9);
}

static void latencies(gpumb *g)
{
    const int n = device_count();
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_STRINGS(g, what, wait_names, is_gpu(g) ? (int)WAITS : (int)FLAG_HERE)
        GPUMB_SWEEP_RANGE(g, from, 0, n - 1, 1)
            GPUMB_SWEEP_RANGE(g, to, 0, n - 1, 1) {
                wait_job j;
                std::vector<double> times;
                memset(&j, 0, sizeof j);
                j.flag = what >= FLAG_HERE ? (int)what : 0;
                if ((j.flag && from == to) || !gpumb_wants_times(g, wait_names[what]))
                    continue;
                j.a = (int)from;
                j.b = (int)to;
                j.seed = (uint32_t)gpumb_get_settings(g)->seed;
                j.nodes = what == LOAD_NEAR ? 1 << 13 : is_gpu(g) ? 1 << 21 : 1 << 14;
                j.warm = what == LOAD_NEAR ? 2 * j.nodes : 256;
                j.steps = is_gpu(g) ? 1024 : 64;
                j.samples = 32;
                j.patience_s = 2;
                j.chain = (word *)memory_on(j.b, (uint64_t)j.nodes * NODE * sizeof(word));
                j.of_a = (word *)shared_memory_on(j.a, sizeof(word));
                j.of_b = (word *)shared_memory_on(j.b, sizeof(word));
                j.out_a = (word *)memory_on(j.a, (1 + j.samples) * sizeof(word));
                j.out_b = (word *)memory_on(j.b, 2 * sizeof(word));
                use_device(j.b);
                j.stream_b = new_stream();
                use_device(j.a);
                j.stream_a = new_stream();
                if (!can_reach(j.a, j.b) || !can_reach(j.b, j.a)) {
                    gpumb_skip(g, "devices %d and %d can't reach each other's memory", j.a, j.b);
                } else if (!j.chain || !j.of_a || !j.of_b || !j.out_a || !j.out_b) {
                    gpumb_skip(g, "not enough memory");
                } else {
                    if (!j.flag)
                        link_lines(&j);
                    else
                        j.expected = j.steps;
                    warm_up(&j, tick_s);
                    for (int i = 0; i < (j.flag ? 30 : 1) && (!i || j.ended == j.expected); i++)
                        (void)wait_once(&j, tick_s, &times);
                }
                const char *trouble = runtime_trouble();
                if (trouble)
                    gpumb_skip(g, "%s", trouble);
                use_device(gpumb_get_device(g)->ordinal);
                gpumb_set_verify(g, check_wait, &j);
                gpumb_add_times(g, wait_names[what], GPUMB_MEANING_SPAN, times.data(),
                                times.size());
                free_on(j.b, j.chain);
                free_on(j.a, j.of_a);
                free_on(j.b, j.of_b);
                free_on(j.a, j.out_a);
                free_on(j.b, j.out_b);
                use_device(j.b);
                free_stream(j.stream_b);
                use_device(j.a);
                free_stream(j.stream_a);
                use_device(gpumb_get_device(g)->ordinal);
            }
    note_waits(g);
}

static void latency_bench_run(gpumb *g)
{
    with_access(g, latencies);
}

static const gpumb_benchmark benchmarks[] = {
    {latency_bench, "a dependent load, a flag there and back, of all pairs", latency_bench_run},
};

int main(int argc, char **argv)
{
    return main_for_devices(argc, argv, "peer_latency", benchmarks, COUNT(benchmarks));
}

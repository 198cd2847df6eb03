/* A producer on one device averages chunks of its input, a consumer on another waits for each
 * and writes it over a chunk of its output; and the same without waiting. Flags polled in local or
 * in remote memory, values behind a flag or in the same word, one slot or more: what of the time
 * the communication takes, over the size of a chunk and over the launch geometry. */
#include "gpumb.h"

#include "pipeline_run.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* The forms take turns. */
static void measure_pipeline(gpumb *g, pipe_job *j, const handing *const *how, size_t count,
                             double tick_s)
{
    const gpumb_settings *s = gpumb_get_settings(g);
    std::vector<std::vector<double>> times(count), host(count), waits[SIDES];
    std::vector<check_job> checks(count);
    std::vector<int> wants(count);
    int wanted = 0, ready = 0;
    const char *trouble = NULL;
    for (int d = 0; d < SIDES; d++)
        waits[d].resize(count);
    for (size_t i = 0; i < count; i++)
        wanted |= wants[i] = gpumb_wants_times(g, how[i]->name);
    if (wanted) {
        (void)runtime_trouble();
        ready = can_reach(PRODUCER, CONSUMER) && can_reach(CONSUMER, PRODUCER) && prepare(j);
        for (size_t i = 0; i < count && ready; i++) {
            checks[i].j = j;
            checks[i].how = how[i];
            checks[i].right = is_right(j, how[i]);
        }
        const double began = host_now();
        const double budget = s->budget_s * (double)count;
        for (uint64_t round = 0; ready && round < s->min_samples; round++) {
            if (round >= 6 && host_now() - began > budget)
                break;
            for (size_t i = 0; i < count; i++) {
                pass p;
                if (!checks[i].right || !run(j, how[i], tick_s, &p))
                    continue;
                times[i].push_back(longest(&p));
                host[i].push_back(1e6 * p.host_s);
                for (int d = 0; d < SIDES; d++)
                    waits[d][i].push_back(p.waits_pct[d]);
            }
        }
        trouble = runtime_trouble();
        use_device(gpumb_get_device(g)->ordinal);
    }
    GPUMB_INTERLEAVE(g)
        for (size_t i = 0; i < count; i++) {
            if (!wants[i])
                continue;
            std::vector<double> t = times[i], h = host[i];
            std::vector<double> p = waits[PRODUCER][i], c = waits[CONSUMER][i];
            if (!ready || trouble)
                gpumb_skip(g, "%s", trouble ? trouble : "no memory, or no access to the other's");
            gpumb_set_value(g, "producer_waits_pct",
                            p.empty() ? NAN : gpumb_statistics(p.data(), p.size()).median);
            gpumb_set_value(g, "consumer_waits_pct",
                            c.empty() ? NAN : gpumb_statistics(c.data(), c.size()).median);
            gpumb_set_value(g, "host_us",
                            h.empty() ? NAN : gpumb_statistics(h.data(), h.size()).median);
            gpumb_set_elements(g, (double)chunks_of(j));
            gpumb_set_verify(g, check_pipe, &checks[i]);
            gpumb_add_times(g, how[i]->name, GPUMB_MEANING_SPAN, t.data(), t.size());
        }
    if (wanted) {
        release(j);
        use_device(gpumb_get_device(g)->ordinal);
    }
}

static pipe_job new_job(gpumb *g, int64_t blocks, int64_t threads, int64_t results,
                        int64_t chunk_bytes)
{
    pipe_job j;
    memset(&j, 0, sizeof j);
    j.blocks = (unsigned)blocks;
    j.threads = (unsigned)threads;
    j.results = (unsigned)results;
    j.words = (unsigned)(chunk_bytes / 16);
    j.seed = (unsigned)gpumb_get_settings(g)->seed;
    if (threads > THREADS_MOST || threads & (threads - 1) || chunk_bytes < 16 || chunk_bytes % 16)
        gpumb_skip(g, "a block has 2^k threads, up to 1024, and a chunk words of 16 bytes");
    return j;
}

/* The share of the time of the row that is more than without communication, in per cent; NAN: not
 * known. */
static double lost_pct(gpumb *g, size_t row)
{
    const gpumb_result *r = gpumb_row(g, row);
    return r->comparison.ratio > 0 ? 100 - 100 / r->comparison.ratio : NAN;
}

/* ---- pipeline/chunk -------------------------------------------------------------------------- */

static const char chunk_bench[] = "pipeline/chunk";

/* The smallest chunk from which on less than 10 % are lost; 0: none. */
static int64_t small_loss(gpumb *g, rows some)
{
    int64_t from = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (row_in(g, some, i)) {
            const int64_t chunk = gpumb_row_axis(g, i, "chunk_bytes");
            if (!(lost_pct(g, i) < 10))
                from = 0;
            else if (!from)
                from = chunk;
        }
    return from;
}

static void note_chunks(gpumb *g)
{
    for (size_t f = 1; f < COUNT(forms); f++) {
        const rows all = noisy_too(rows_of(chunk_bench, forms[f].name));
        for (int64_t blocks = next_value(g, all, "blocks", 0); blocks > 0;
             blocks = next_value(g, all, "blocks", blocks)) {
            const rows some = having(all, "blocks", blocks);
            const int64_t from = small_loss(g, some);
            sentence s = no_words();
            for (size_t i = 0; i < gpumb_row_count(g); i++) {
                const double lost = lost_pct(g, i);
                if (!row_in(g, some, i) || !(lost == lost))
                    continue;
                say_next(&s, ", ");
                say(&s, "%.1f at ", lost > 0 ? lost : 0);
                say_bytes(&s, gpumb_row_axis(g, i, "chunk_bytes"));
            }
            if (!s.text[0])
                continue;
            say(&s, from ? "; less than 10 from " : "; never less than 10");
            if (from) {
                say_bytes(&s, from);
                say(&s, " on");
            }
            gpumb_note(g, "%s, %lld blocks: per cent lost to communication %s.", forms[f].name,
                       (long long)blocks, s.text);
        }
    }
}

static void chunks(gpumb *g)
{
    static const int64_t size_full[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18};
    static const int64_t size_quick[] = {1 << 12, 1 << 16}, size_cpu[] = {1 << 10, 1 << 12};
    static const int64_t blocks_full[] = {1, 132}, blocks_quick[] = {132}, blocks_cpu[] = {2};
    const values sizes = choose(g, VALUES(size_full), VALUES(size_quick), VALUES(size_cpu));
    const values counts = choose(g, VALUES(blocks_full), VALUES(blocks_quick), VALUES(blocks_cpu));
    const double tick_s = tick_seconds(g);
    const handing *all[COUNT(forms)];
    for (size_t i = 0; i < COUNT(forms); i++)
        all[i] = &forms[i];
    GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count)
        GPUMB_SWEEP_ARRAY(g, chunk_bytes, sizes.at, sizes.count) {
            pipe_job j = new_job(g, blocks, is_gpu(g) ? 256 : 32, is_gpu(g) ? 64 : 5, chunk_bytes);
            measure_pipeline(g, &j, all, COUNT(all), tick_s);
        }
    note_chunks(g);
}

/* ---- pipeline/geometry ----------------------------------------------------------------------- */

static const char geometry_bench[] = "pipeline/geometry";

static void note_geometry(gpumb *g)
{
    for (size_t f = 1; f < COUNT(forms); f++) {
        const rows some = noisy_too(rows_of(geometry_bench, forms[f].name));
        double least = 100, most = -100;
        for (size_t i = 0; i < gpumb_row_count(g); i++) {
            const double lost = row_in(g, some, i) ? lost_pct(g, i) : NAN;
            least = lost < least ? lost : least;
            most = lost > most ? lost : most;
        }
        if (least <= most)
            gpumb_note(g,
                       "%s: %.1f ... %.1f %% lost to communication, by results, blocks, threads.",
                       forms[f].name, least, most);
    }
}

static void geometry(gpumb *g)
{
    static const int64_t results_full[] = {1, 8, 64}, results_quick[] = {1, 64};
    static const int64_t blocks_full[] = {1, 8, 66, 132, 264}, blocks_quick[] = {1, 132};
    static const int64_t threads_full[] = {64, 256, 1024}, threads_quick[] = {256};
    static const int64_t results_cpu[] = {1, 4}, blocks_cpu[] = {1, 3}, threads_cpu[] = {32};
    static const char *const names[] = {"no communication", "flag, remote, 1 slot",
                                        "flag, local, 2 slots", "word, local, 8 slots"};
    const handing *some[COUNT(names)];
    const values results_of =
        choose(g, VALUES(results_full), VALUES(results_quick), VALUES(results_cpu));
    const values counts = choose(g, VALUES(blocks_full), VALUES(blocks_quick), VALUES(blocks_cpu));
    const values sizes =
        choose(g, VALUES(threads_full), VALUES(threads_quick), VALUES(threads_cpu));
    const double tick_s = tick_seconds(g);
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t f = 0; f < COUNT(forms); f++)
            if (!strcmp(names[i], forms[f].name))
                some[i] = &forms[f];
    GPUMB_SWEEP_ARRAY(g, results, results_of.at, results_of.count)
        GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count)
            GPUMB_SWEEP_ARRAY(g, threads, sizes.at, sizes.count) {
                pipe_job j = new_job(g, blocks, threads, results, is_gpu(g) ? 1 << 14 : 1 << 10);
                measure_pipeline(g, &j, some, COUNT(some), tick_s);
            }
    note_geometry(g);
}

/* ---- main ------------------------------------------------------------------------------------ */

static void with_access(gpumb *g, void (*bench)(gpumb *g))
{
    let_reach(PRODUCER, CONSUMER, 1);
    let_reach(CONSUMER, PRODUCER, 1);
    use_device(gpumb_get_device(g)->ordinal);
    bench(g);
}

static void chunk_bench_run(gpumb *g)
{
    with_access(g, chunks);
}

static void geometry_bench_run(gpumb *g)
{
    with_access(g, geometry);
}

static const gpumb_benchmark benchmarks[] = {
    {chunk_bench, "forms of handing over, over the size of a chunk", chunk_bench_run},
    {geometry_bench, "results per block, blocks and threads", geometry_bench_run},
};

int main(int argc, char **argv)
{
    return main_for_devices(argc, argv, "pipeline", benchmarks, COUNT(benchmarks));
}

/* How good the measuring itself is. floor/span: spin kernels of known length, timed in each way,
 * against the span that their own clock shows. floor/result: how long a result takes, and how far
 * it is off. floor/coverage: how many intervals hold the median. floor/compare: verdicts on the
 * same code, on 2 % more work, and under a load that comes and goes. floor/equal: verdicts and
 * intervals of three regions of the same code, down to 1.5 us. floor/idle: the first result of a
 * device that was idle. floor/cache: a read, hot and cold. What synthetic series show is in
 * tests/coverage.c. */
#include "gpumb.h"

#include "bench.h"
#include "clock.h"

/* Each thread spins for so many ticks. Unless NULL, stamp[0] becomes the earliest start of a block,
 * stamp[1] the complement of the latest end, so that both begin with all bits set. What is timed
 * leaves no stamps: the kernel would end only when they have arrived, after the end that they show.
 */
__global__ void spin(word ticks, word *stamp)
{
    const word begin = ticks_now();
    while (ticks_now() - begin < ticks) {
    }
    if (stamp && threadIdx.x == 0) {
        atomicMin(&stamp[0], begin);
        atomicMin(&stamp[1], ~ticks_now());
    }
}

/* First start and last end of one launch, in ticks; 0 in both where nothing is allocated yet. */
static void stamps_of(gpumb *g, gpumb_buffer *stamp, word ticks, int64_t blocks, int block,
                      word at[2])
{
    const word none[2] = {~(word)0, ~(word)0};
    at[0] = at[1] = 0;
    gpumb_write(g, stamp, 0, none, sizeof none);
    GPUMB_LAUNCH(spin, blocks, block, 0, ticks, GPUMB_PTR(word, stamp));
    gpumb_read(g, stamp, 0, at, 2 * sizeof at[0]);
    at[1] = ~at[1];
}

/* On the CPU the threads of a block spin one after the other. */
static int threads_of(gpumb *g)
{
    return is_gpu(g) ? 256 : 1;
}

/* A full wave of them. */
static int64_t blocks_of(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    return (int64_t)d->multiprocessors * (is_gpu(g) ? d->max_threads / 256 : 1);
}

static double percent(double value, double of)
{
    return 100 * (value / of - 1);
}

/* ---- floor/span ------------------------------------------------------------------------------ */

static double median_span(gpumb *g, gpumb_buffer *stamp, word ticks, double tick_s, int64_t blocks,
                          int block)
{
    enum { LAUNCHES = 31, WARM = 5 };
    double seconds[LAUNCHES];
    for (int i = -WARM; i < LAUNCHES; i++) {
        word at[2];
        stamps_of(g, stamp, ticks, blocks, block, at);
        if (i >= 0)
            seconds[i] = (double)(at[1] - at[0]) * tick_s;
    }
    return gpumb_statistics(seconds, LAUNCHES).median;
}

/* Of spans of 2 us and more. */
typedef struct tally {
    int judged, within, flagged;
    double worst; /* bias of those without a flag, in % */
} tally;

/* Whether the row says itself that its span may be off. */
static int judge(tally *t, const gpumb_result *r, double span)
{
    const unsigned doubts = GPUMB_FLAG_LAUNCH_BOUND | GPUMB_FLAG_RESOLUTION | GPUMB_FLAG_NOISY;
    const int flagged = (r->flags & doubts) != 0;
    const double bias = percent(r->time.median, span);
    if (r->status != GPUMB_STATUS_OK || span < 2e-6)
        return flagged;
    t->judged++;
    t->within += fabs(bias) <= 5;
    t->flagged += flagged;
    if (!flagged && fabs(bias) > fabs(t->worst))
        t->worst = bias;
    return flagged;
}

static void say_tally(gpumb *g, const char *how, const tally *t)
{
    if (t->judged)
        gpumb_note(g,
                   "Spans of 2 us and more, %s: %d of %d within 5 %%; %d flagged; worst without a "
                   "flag %+.1f %%.",
                   how, t->within, t->judged, t->flagged, t->worst);
}

static void floor_span(gpumb *g)
{
    enum { PROFILER = 3, COLD, CHOSEN, WAYS };
    static const char *const name[WAYS] = {"event", "batch", "graph", "profiler", "cold", "chosen"};
    static const gpumb_timing way[WAYS] = {GPUMB_TIMING_EVENT, GPUMB_TIMING_BATCH,
                                           GPUMB_TIMING_GRAPH, GPUMB_TIMING_PROFILER,
                                           GPUMB_TIMING_AUTO,  GPUMB_TIMING_AUTO};
    static const int64_t us_full[] = {1, 2, 20, 200, 1000};
    static const int64_t us_quick[] = {2, 20, 200}, us_cpu[] = {100, 1000};
    const gpumb_device *d = gpumb_get_device(g);
    const int64_t sms = d->multiprocessors;
    const int64_t wave = blocks_of(g);
    const int64_t grids_gpu[] = {1, sms, wave, 2 * wave, 8 * wave, 16 * wave};
    const int64_t grids_cpu[] = {1, sms};
    const int64_t blocks_full[] = {256, 1024}, blocks_quick[] = {256}, blocks_cpu[] = {1};
    const values grids = is_gpu(g) ? VALUES(grids_gpu) : VALUES(grids_cpu);
    const values sizes = choose(g, VALUES(blocks_full), VALUES(blocks_quick), VALUES(blocks_cpu));
    const values spins = choose(g, VALUES(us_full), VALUES(us_quick), VALUES(us_cpu));
    gpumb_buffer *stamp = gpumb_alloc(g, 2 * sizeof(word));
    const double tick_s = tick_seconds(g);
    tally of[WAYS];
    memset(of, 0, sizeof of);
    GPUMB_SWEEP_ARRAY(g, block, sizes.at, sizes.count)
        GPUMB_SWEEP_ARRAY(g, blocks, grids.at, grids.count)
            GPUMB_SWEEP_ARRAY(g, us, spins.at, spins.count) {
                if (block > 256 &&
                    (us > 20 || blocks > wave)) /* what launching costs is seen here */
                    continue;
                const word ticks = (word)((double)us * 1e-6 / tick_s);
                const size_t before = gpumb_row_count(g);
                const double own_s =
                    stamp ? median_span(g, stamp, ticks, tick_s, blocks, (int)block) : NAN;
                for (int i = is_gpu(g) ? 0 : WAYS - 1; i < WAYS; i++) {
                    gpumb_set_value(g, "span_s", own_s); /* for a replay, which has no stamps */
                    gpumb_set_timing(g, way[i]);
                    gpumb_set_cache(g, i == COLD ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
                    GPUMB_MEASURE(g, name[i])
                        GPUMB_LAUNCH(spin, blocks, block, 0, ticks, (word *)NULL);
                }
                const double span = gpumb_row_value(g, before, "span_s");
                if (!(span > 0)) /* enumerating, or rows of an older version */
                    continue;
                char text[400];
                int length =
                    snprintf(text, sizeof text, "%lld x %lld threads spin %lld us: span %.2f us",
                             (long long)blocks, (long long)block, (long long)us, span * 1e6);
                for (size_t row = before; row < gpumb_row_count(g); row++) {
                    const gpumb_result *r = gpumb_row(g, row);
                    int kind = 0;
                    while (strcmp(r->kernel, name[kind]))
                        kind++;
                    if (r->status != GPUMB_STATUS_OK ||
                        (kind == PROFILER && r->timing != GPUMB_TIMING_PROFILER)) /* none here */
                        continue;
                    const int flagged = judge(&of[kind], r, span);
                    length += snprintf(text + length, sizeof text - (size_t)length,
                                       ", %s %+.1f %%%s", r->kernel, percent(r->time.median, span),
                                       flagged && kind >= PROFILER ? " (flagged)" : "");
                }
                gpumb_note(g, "%s", text);
            }
    say_tally(g, "with the way that is chosen", &of[CHOSEN]);
    say_tally(g, "with the way that is chosen for cold caches", &of[COLD]);
    say_tally(g, "by the profiler's time stamps", &of[PROFILER]);
}

/* ---- floor/result ---------------------------------------------------------------------------- */

static void floor_result(gpumb *g)
{
    static const int64_t us_gpu[] = {2, 5, 20, 100, 1000}, us_cpu[] = {100, 1000};
    const values spins = is_gpu(g) ? VALUES(us_gpu) : VALUES(us_cpu);
    const int repetitions = gpumb_get_settings(g)->full ? 10 : 5;
    const double tick_s = tick_seconds(g);
    GPUMB_SWEEP_ARRAY(g, us, spins.at, spins.count) {
        const word ticks = (word)((double)us * 1e-6 / tick_s);
        const size_t row = gpumb_row_count(g);
        if (gpumb_wants_times(g, "spin")) {
            double medians[50], wall[50]; /* the long run: results over and over */
            for (int i = 0; i < repetitions; i++) {
                gpumb_result again;
                const double began = host_now();
                GPUMB_TIME(&again)
                    GPUMB_LAUNCH(spin, 1, threads_of(g), 0, ticks, (word *)NULL);
                wall[i] = host_now() - began;
                medians[i] = again.time.median;
            }
            const gpumb_stats seconds = gpumb_statistics(wall, (uint64_t)repetitions);
            gpumb_set_value(g, "results", repetitions);
            gpumb_set_value(g, "results_median_s",
                            gpumb_statistics(medians, (uint64_t)repetitions).median);
            gpumb_set_value(g, "result_takes_s", seconds.median);
            gpumb_set_value(g, "result_takes_at_most_s", seconds.max);
            GPUMB_MEASURE(g, "spin")
                GPUMB_LAUNCH(spin, 1, threads_of(g), 0, ticks, (word *)NULL);
        }
        const gpumb_result *r = gpumb_row(g, row);
        const double truth = gpumb_row_value(g, row, "results_median_s");
        if (r && r->status == GPUMB_STATUS_OK && r->time.count >= 6 && truth > 0)
            gpumb_note(g,
                       "%lld us: +-%.2f %%, off by %+.2f %% from the median of %.0f results, which "
                       "take %.3f s each, %.3f s at most",
                       (long long)us, 50 * (r->time.ci_hi - r->time.ci_lo) / r->time.median,
                       percent(r->time.median, truth), gpumb_row_value(g, row, "results"),
                       gpumb_row_value(g, row, "result_takes_s"),
                       gpumb_row_value(g, row, "result_takes_at_most_s"));
    }
}

/* ---- kernels whose time is not known --------------------------------------------------------- */

/* Arithmetic alone, so that the clock of the multiprocessors is all that matters. */
__global__ void arithmetic(int rounds, float *out)
{
    float x = (float)threadIdx.x, y = 0.5f;
    for (int i = 0; i < rounds; i++) {
        x = x * 0.999f + y;
        y = y * 0.999f + x;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = x + y;
}

static gpumb_buffer *arithmetic_output(gpumb *g)
{
    return gpumb_alloc(g, (uint64_t)blocks_of(g) * sizeof(float));
}

/* Launches it, in proportion to `share`. */
static void do_arithmetic(gpumb *g, double share, gpumb_buffer *out)
{
    const int rounds = is_gpu(g) ? 1 << 16 : 1 << 20;
    GPUMB_LAUNCH(arithmetic, blocks_of(g), threads_of(g), 0, (int)(rounds * share),
                 GPUMB_PTR(float, out));
}

/* ---- floor/coverage -------------------------------------------------------------------------- */

static void floor_coverage(gpumb *g)
{
    enum { KERNELS = 3, RESULTS = 24 };
    static const char *const name[KERNELS] = {"arithmetic", "copy in L2", "copy in memory"};
    const int results = is_gpu(g) ? (gpumb_get_settings(g)->full ? RESULTS : 15) : 6;
    const uint64_t bytes[KERNELS] = {0, (uint64_t)4 << 20, (uint64_t)256 << 20};
    gpumb_buffer *out = arithmetic_output(g);
    gpumb_buffer *from = gpumb_alloc(g, bytes[2]), *to = gpumb_alloc(g, bytes[2]);
    gpumb_fill(g, from, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        static gpumb_result result[RESULTS];
        double medians[RESULTS];
        int holds = 0, count = 0;
        for (int i = 0; i < results; i++) {
            gpumb_set_bytes(g, 2.0 * (double)bytes[kernel]);
            GPUMB_TIME(&result[count]) {
                if (kernel == 0)
                    do_arithmetic(g, 0.05, out);
                else
                    gpumb_copy(g, GPUMB_FORM_FASTEST, 16, bytes[kernel] / 16, 0, gpumb_data(from),
                               gpumb_data(to));
            }
            if (result[count].status == GPUMB_STATUS_OK && result[count].time.ci_lo > 0)
                count++;
        }
        if (!count)
            continue;
        for (int i = 0; i < count; i++)
            medians[i] = result[i].time.median;
        const gpumb_stats all = gpumb_statistics(medians, (uint64_t)count);
        for (int i = 0; i < count; i++)
            holds += result[i].time.ci_lo <= all.median && all.median <= result[i].time.ci_hi;
        gpumb_note(g,
                   "%s: %.1f %% of %d intervals hold the median of the medians, %.3f us; these "
                   "spread by %.2f %% (standard deviation)",
                   name[kernel], 100.0 * holds / count, count, all.median * 1e6,
                   100 * all.sd / all.median);
    }
}

/* ---- floor/compare --------------------------------------------------------------------------- */

/* Work that both regions have more of for 0.1 s, every 0.25 s. */
static double load_now(int loaded)
{
    return loaded && fmod(host_now(), 0.25) < 0.1 ? 0.065 : 0.05;
}

static void floor_compare(gpumb *g)
{
    static const char *const question[] = {"same code", "2 % more work", "same, under load"};
    const int64_t trials = is_gpu(g) ? (gpumb_get_settings(g)->full ? 8 : 5) : 2;
    gpumb_buffer *out = arithmetic_output(g);
    for (int kind = 0; kind < 3; kind++) {
        const double share = kind == 1 ? 1.02 : 1;
        const size_t before = gpumb_row_count(g);
        GPUMB_SWEEP_RANGE(g, trial, 1, trials, 1) {
            GPUMB_INTERLEAVE(g) {
                gpumb_set_timing(g, kind == 2 ? GPUMB_TIMING_EVENT : GPUMB_TIMING_AUTO);
                GPUMB_MEASURE(g, "first")
                    do_arithmetic(g, load_now(kind == 2), out);
                gpumb_set_timing(g, kind == 2 ? GPUMB_TIMING_EVENT : GPUMB_TIMING_AUTO);
                GPUMB_MEASURE(g, question[kind])
                    do_arithmetic(g, share * load_now(kind == 2), out);
            }
        }
        int verdicts[4] = {0, 0, 0, 0}, all = 0;
        double worst = 1, sum = 0;
        int holds = 0, far = 0;
        for (size_t row = before; row < gpumb_row_count(g); row++) {
            const gpumb_result *r = gpumb_row(g, row);
            if (!r->compared_with[0])
                continue;
            all++;
            verdicts[r->comparison.verdict]++;
            if (fabs(r->comparison.ratio - share) > fabs(worst - share) || all == 1)
                worst = r->comparison.ratio;
            sum += r->comparison.ratio;
            holds += r->comparison.lo <= share && share <= r->comparison.hi;
            far += fabs(r->comparison.ratio - share) >= 0.005;
        }
        if (all)
            gpumb_note(
                g,
                "%s, %d comparisons: %d faster, %d slower, %d same, %d undecided; mean ratio "
                "%.4f, the one furthest from %.2f is %.4f; %d are off by 0.5 %% and more, %d "
                "intervals hold %.2f",
                question[kind], all, verdicts[GPUMB_VERDICT_FASTER], verdicts[GPUMB_VERDICT_SLOWER],
                verdicts[GPUMB_VERDICT_SAME], verdicts[GPUMB_VERDICT_UNDECIDED], sum / all, share,
                worst, far, holds, share);
    }
}

/* ---- floor/equal ----------------------------------------------------------------------------- */

/* Each lane has a capture of its own, and each capture differs: of three regions of one code, are
 * verdicts `same`, and do intervals hold 1, also where a launch takes longer than the kernel? */
static void floor_equal(gpumb *g)
{
    static const struct {
        const char *name;
        double share; /* of arithmetic, in about 1.5, 5 and 20 us on an H200; 0: a copy */
        uint64_t mib;
    } work[] = {{"arithmetic, short", 0.0011, 0},
                {"arithmetic, medium", 0.004, 0},
                {"arithmetic, long", 0.016, 0},
                {"copy of 4 MiB", 0, 4},
                {"copy of 32 MiB", 0, 32}};
    const int64_t trials = is_gpu(g) ? (gpumb_get_settings(g)->full ? 8 : 5) : 2;
    const uint64_t most = (uint64_t)32 << 20;
    gpumb_buffer *out = arithmetic_output(g), *from = gpumb_alloc(g, most),
                 *to = gpumb_alloc(g, most);
    gpumb_fill(g, from, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    for (const auto &w : work) {
        const uint64_t bytes = w.mib << 20;
        const size_t before = gpumb_row_count(g);
        GPUMB_SWEEP_RANGE(g, trial, 1, trials, 1) {
            GPUMB_INTERLEAVE(g) {
                for (int i = 0; i < 3; i++) {
                    gpumb_set_bytes(g, 2.0 * (double)bytes);
                    GPUMB_MEASURE(g, w.name) {
                        if (bytes)
                            gpumb_copy(g, GPUMB_FORM_FASTEST, 16, bytes / 16, 0, gpumb_data(from),
                                       gpumb_data(to));
                        else
                            do_arithmetic(g, w.share, out);
                    }
                }
            }
        }
        int all = 0, same = 0, holds = 0;
        double seconds = 0;
        for (size_t row = before; row < gpumb_row_count(g); row++) {
            const gpumb_result *r = gpumb_row(g, row);
            if (!r->compared_with[0])
                continue;
            all++;
            same += r->comparison.verdict == GPUMB_VERDICT_SAME;
            holds += r->comparison.lo <= 1 && 1 <= r->comparison.hi;
            seconds += r->time.median;
        }
        if (all)
            gpumb_note(g,
                       "%s, %.2f us, with itself: of %d comparisons %.1f %% are the same, %.1f %% "
                       "of the intervals hold 1%s",
                       w.name, seconds / all * 1e6, all, 100.0 * same / all, 100.0 * holds / all,
                       !is_gpu(g)                                  ? ""
                       : same >= 0.92 * all && holds >= 0.92 * all ? "; 92 % is met"
                                                                   : "; 92 % IS NOT MET");
    }
}

/* ---- floor/idle ------------------------------------------------------------------------------ */

static void floor_idle(gpumb *g)
{
    const int idle_s = gpumb_get_settings(g)->full ? 10 : 2;
    gpumb_buffer *out = arithmetic_output(g);
    const size_t before = gpumb_row_count(g);
    if (out)
        std::this_thread::sleep_for(std::chrono::seconds(idle_s));
    GPUMB_MEASURE(g, "after idling")
        do_arithmetic(g, 0.05, out);
    for (double until = host_now() + (out ? 1 : 0); host_now() < until;) {
        gpumb_result ignored;
        GPUMB_TIME(&ignored)
            do_arithmetic(g, 0.05, out);
    }
    GPUMB_MEASURE(g, "steady")
        do_arithmetic(g, 0.05, out);
    const gpumb_result *first = gpumb_row(g, before), *steady = gpumb_row(g, before + 1);
    if (first && steady && steady->time.median > 0)
        gpumb_note(g, "After %d idle seconds the median is %+.2f %% from the steady one.", idle_s,
                   percent(first->time.median, steady->time.median));
}

/* ---- floor/cache ----------------------------------------------------------------------------- */

static void floor_cache(gpumb *g)
{
    static const char *const name[] = {"hot", "cold"};
    const uint64_t bytes = (uint64_t)16 << 20, n = bytes / 16;
    gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, 4096);
    gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
    double gbps[2] = {0, 0};
    for (int cold = 0; cold < 2; cold++) {
        gpumb_set_bytes(g, (double)bytes);
        gpumb_set_footprint(g, bytes);
        gpumb_set_cache(g, cold ? GPUMB_CACHE_COLD : GPUMB_CACHE_HOT);
        GPUMB_MEASURE(g, name[cold])
            gpumb_zcopy(g, GPUMB_FORM_FASTEST, GPUMB_READ, 16, n, 0, 256, gpumb_data(in),
                        gpumb_data(out));
        const gpumb_result *r = gpumb_last_result(g);
        gbps[cold] = r && r->status == GPUMB_STATUS_OK ? r->gbps : 0;
    }
    if (gbps[0] > 0 && gbps[1] > 0)
        gpumb_note(g, "A read of 16 MiB: %.0f GB/s hot, %.0f GB/s cold, %.2f times as fast.",
                   gbps[0], gbps[1], gbps[0] / gbps[1]);
}

static const gpumb_benchmark benchmarks[] = {
    {"floor/span", "spin kernels timed in each way, against their own clock", floor_span},
    {"floor/result", "how long a result of +-1 % takes, and how far it is off", floor_result},
    {"floor/coverage", "how many 95 % intervals hold the median", floor_coverage},
    {"floor/compare", "verdicts on the same code and on 2 % more work, interleaved", floor_compare},
    {"floor/equal", "verdicts and intervals of three regions of the same code", floor_equal},
    {"floor/idle", "the first result of an idle device against the steady one", floor_idle},
    {"floor/cache", "a read of 16 MiB, hot and cold", floor_cache},
};

GPUMB_MAIN(benchmarks)

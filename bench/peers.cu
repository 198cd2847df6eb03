/* E21: copies from one device of a host to another, between all pairs, one way, both ways and all
 * at once: by the copy engine and by kernels that write or read the other's memory, with and
 * without peer access; the kernels' forms and the multiprocessors they need; what a packet of the
 * link costs beside its data; and what one thread waits for the other device. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "bench.h"
#include "chase.h"
#include "fit.h"
#include "nvlink.h"
#include "peers.h"

#include <vector>

static const int64_t KiB = 1024, MiB = 1024 * KiB;

/* ---- flows ----------------------------------------------------------------------------------- */

enum { PUSHED, PULLED, WRITTEN, READ, WAYS };
static const char *const ways[WAYS] = {"engine pushes", "engine pulls", "kernel writes",
                                       "kernel reads"};

/* Bytes that go from one device to another, on a stream of the one that moves them. */
typedef struct flow {
    int from, to;
    void *in, *out, *stream, *done;
} flow;

typedef struct job {
    std::vector<flow> flows;
    int way, form;
    uint64_t blocks, bytes; /* of each flow */
    int staged;             /* without peer access */
    uint32_t seed;
    void *began, *ended; /* on the first flow's stream */
    char wrong[120];
} job;

static int by_kernel(const job *j)
{
    return j->way == WRITTEN || j->way == READ;
}

static int mover(const job *j, const flow *f)
{
    return j->way == PUSHED || j->way == WRITTEN ? f->from : f->to;
}

static job new_job(gpumb *g, int way, int64_t bytes)
{
    job j;
    j.way = way;
    j.form = WORDS_8;
    j.blocks = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
    j.bytes = (uint64_t)bytes;
    j.staged = 0;
    j.seed = (uint32_t)gpumb_get_settings(g)->seed;
    j.began = j.ended = NULL;
    j.wrong[0] = 0;
    return j;
}

static void add_flow(job *j, int64_t from, int64_t to)
{
    flow f;
    memset(&f, 0, sizeof f);
    f.from = (int)from;
    f.to = (int)to;
    j->flows.push_back(f);
}

static void let_all_reach(int on)
{
    for (int a = 0; a < device_count(); a++)
        for (int b = 0; b < device_count(); b++)
            let_reach(a, b, on);
}

/* The kernels that make and check what is moved run on the device that has it. */
static uint64_t words_of(const job *j)
{
    return (j->bytes + GUARD + 3) / 4;
}

static int prepare(job *j)
{
    int enough = 1;
    for (size_t i = 0; i < j->flows.size(); i++) {
        flow *f = &j->flows[i];
        f->in = memory_on(f->from, 4 * words_of(j));
        f->out = memory_on(f->to, 4 * words_of(j));
        use_device(mover(j, f));
        f->stream = new_stream();
        f->done = new_event();
        if (i == 0) {
            j->began = new_timer();
            j->ended = new_timer();
        }
        use_device(f->from);
        enough &= f->in && f->out;
        if (f->in)
            LAUNCH_ON(NULL, fill_pattern, 1024, 256, (uint32_t *)f->in, words_of(j),
                      j->seed + (uint32_t)i);
        wait_for(NULL);
    }
    return enough;
}

static void release(job *j)
{
    for (size_t i = 0; i < j->flows.size(); i++) {
        flow *f = &j->flows[i];
        free_on(f->from, f->in);
        free_on(f->to, f->out);
        use_device(mover(j, f));
        free_event(f->done);
        free_stream(f->stream);
        if (i == 0) {
            free_timer(j->began);
            free_timer(j->ended);
        }
    }
}

static void launch(const job *j, const flow *f)
{
    if (by_kernel(j))
        launch_copy(f->stream, j->form, j->blocks, f->in, f->out, j->bytes);
    else
        copy_between(f->stream, f->out, f->to, f->in, f->from, j->bytes);
}

/* All flows once, from when the first could begin to when the last has ended. A short kernel holds
 * the first back until all are on their streams; a copy alone needs none, and would wait for that
 * kernel's engine. Returns seconds. */
static double run(const job *j)
{
    const flow *first = &j->flows[0];
    use_device(mover(j, first));
    if (by_kernel(j) || j->flows.size() > 1)
        hold(first->stream, 1e-5 * (1 + (double)j->flows.size()));
    record(j->began, first->stream);
    for (size_t i = 0; i < j->flows.size(); i++) {
        const flow *f = &j->flows[i];
        use_device(mover(j, f));
        if (i)
            wait_in(f->stream, j->began);
        launch(j, f);
        if (i) {
            record(f->done, f->stream);
            use_device(mover(j, first));
            wait_in(first->stream, f->done);
        }
    }
    use_device(mover(j, first));
    record(j->ended, first->stream);
    wait_for(first->stream);
    return seconds_between(j->began, j->ended);
}

/* Once more, onto poison; what is wrong is in j->wrong. */
static int is_right(job *j)
{
    for (size_t i = 0; i < j->flows.size(); i++) {
        use_device(j->flows[i].to);
        set_bytes(NULL, j->flows[i].out, 0xff, 4 * words_of(j));
        wait_for(NULL);
    }
    (void)run(j);
    for (size_t i = 0; i < j->flows.size() && !j->wrong[0]; i++) {
        const flow *f = &j->flows[i];
        word wrong = 0;
        void *count = memory_on(f->to, sizeof wrong);
        copy_now(count, &wrong, sizeof wrong);
        LAUNCH_ON(NULL, check_pattern, 1024, 256, (const uint32_t *)f->out, j->bytes, words_of(j),
                  j->seed + (uint32_t)i, (word *)count);
        wait_for(NULL);
        wrong = 1;
        copy_now(&wrong, count, sizeof wrong);
        free_on(f->to, count);
        if (wrong)
            snprintf(j->wrong, sizeof j->wrong, "from device %d to %d: %llu words are wrong",
                     f->from, f->to, wrong);
    }
    return !j->wrong[0];
}

static int check_job(gpumb *g, void *user)
{
    job *j = (job *)user;
    const int right = !j->wrong[0] && is_right(j);
    use_device(gpumb_get_device(g)->ordinal);
    if (!right)
        gpumb_reason(g, "%s", j->wrong);
    return right;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Times by `once`, after three runs, until their median is known as well as is wanted. */
template <class Once> static std::vector<double> times_of(gpumb *g, Once once)
{
    const gpumb_settings *s = gpumb_get_settings(g);
    std::vector<double> times;
    const double began = host_now();
    for (int i = 0; i < 3; i++)
        (void)once();
    for (uint64_t wanted = s->min_samples; times.size() < s->max_samples; wanted *= 2) {
        while (times.size() < wanted && (times.size() < 6 || host_now() - began < s->budget_s))
            times.push_back(once());
        std::vector<double> sorted(times);
        const gpumb_stats t = gpumb_statistics(sorted.data(), sorted.size());
        if (times.size() < wanted || t.ci_hi - t.ci_lo < 2 * s->precision * t.median)
            break;
    }
    return times;
}

/* The devices of a pair, for rows that can't be. */
static void measure(gpumb *g, const char *name, job *j)
{
    char why[160] = "";
    link_rate link = {0, 0, 0};
    double load = 0; /* bytes on the first flow's link */
    gpumb_set_value(g, "link_share_pct", NAN);
    if (!gpumb_wants_times(g, name))
        return;
    std::vector<double> times;
    (void)runtime_trouble();
    for (const flow &f : j->flows)
        if (by_kernel(j) && !can_reach(mover(j, &f), mover(j, &f) == f.from ? f.to : f.from))
            snprintf(why, sizeof why, "device %d can't reach the memory of the other",
                     mover(j, &f));
    if (by_kernel(j) && j->form == BULKED &&
        (strncmp(gpumb_get_device(g)->arch, "sm_", 3) || atoi(gpumb_get_device(g)->arch + 3) < 90 ||
         !TOOLKIT_HAS_BULK_COPIES))
        snprintf(why, sizeof why,
                 "needs a device with bulk copies, NVIDIA's from sm_90 on, and CUDA 12");
    if (!why[0] && !prepare(j))
        snprintf(why, sizeof why, "not enough memory for %llu bytes", (unsigned long long)j->bytes);
    if (!why[0]) {
        if (j->staged)
            let_all_reach(0);
        if (is_right(j))
            times = times_of(g, [j] { return run(j); });
        link = link_between(j->flows[0].from, j->flows[0].to);
        for (size_t i = 0; i < j->flows.size(); i++)
            if (i == 0 || (link.shared && j->flows[i].from == j->flows[0].from))
                load += (double)j->bytes;
    }
    const char *trouble = runtime_trouble();
    if (trouble && !why[0])
        snprintf(why, sizeof why, "%s", trouble);
    if (why[0])
        gpumb_skip(g, "%s", why);
    if (!times.empty() && link.bytes_per_s > 0) {
        std::vector<double> sorted(times);
        gpumb_set_value(g, "link_share_pct",
                        100 * load / gpumb_statistics(sorted.data(), sorted.size()).median /
                            link.bytes_per_s);
    }
    use_device(gpumb_get_device(g)->ordinal);
    gpumb_set_bytes(g, (double)j->bytes * (double)j->flows.size());
    gpumb_set_verify(g, check_job, j);
    gpumb_add_times(g, name, GPUMB_MEANING_SPAN, times.data(), why[0] ? 0 : times.size());
    release(j);
    if (j->staged)
        let_all_reach(1);
    use_device(gpumb_get_device(g)->ordinal);
}

/* ---- conclusions ----------------------------------------------------------------------------- */

/* "395.2 GB/s, 82.6 % of the link's 478.1 GB/s (18 links)" */
static void say_rate(gpumb *g, sentence *s, size_t row)
{
    const gpumb_result *r = gpumb_row(g, row);
    const double share = gpumb_row_value(g, row, "link_share_pct");
    say(s, "%.4g GB/s", r->gbps);
    if (share > 0)
        say(s, ", %.1f %% of the link's rate", share);
}

/* A line for each device that sends: what `of` makes of the row for each that receives. */
static void note_matrix(gpumb *g, rows some, const char *title, const char *unit, figure of,
                        double scale)
{
    for (int64_t from = next_value(g, some, "from", -1); from >= 0;
         from = next_value(g, some, "from", from)) {
        sentence s = no_words();
        for (int64_t to = 0; to <= last_value(g, some, "to"); to++) {
            const gpumb_result *r = first_row(g, having(having(some, "from", from), "to", to));
            if (!r || !(of(r) > 0))
                continue;
            say_next(&s, ", ");
            say(&s, "%lld: %.4g", (long long)to, scale * of(r));
        }
        if (s.text[0])
            gpumb_note(g, "%s, from device %lld to %s %s.", title, (long long)from, s.text, unit);
    }
}

/* ---- peers/matrix ---------------------------------------------------------------------------- */

static const char matrix_bench[] = "peers/matrix";
enum { ONE_WAY, BOTH_WAYS, ALL_PAIRS };
static const char *const at_once_names[] = {"one way", "both ways", "all pairs"};

static void note_matrices(gpumb *g)
{
    const link_rate link = link_between(0, 1);
    if (link.bytes_per_s > 0)
        gpumb_note(g, "The driver says: %d links from device 0 %s, %.4g GB/s each way.", link.links,
                   link.shared ? "to a switch" : "to device 1", link.bytes_per_s / 1e9);
    for (int64_t at_once = 0; at_once < 3; at_once++)
        for (int64_t way = 0; way < WAYS; way++) {
            const rows some = having(
                having(noisy_too(rows_of(matrix_bench, NULL)), "at_once", at_once), "way", way);
            sentence s = no_words();
            say(&s, "%s, %s", ways[way], at_once_names[at_once]);
            note_matrix(g, some, s.text, "GB/s", gbps_of, 1);
        }
}

/* The diagonal is a copy on one device. */
static void matrix(gpumb *g)
{
    const int64_t most = is_gpu(g) ? 256 * MiB : MiB;
    const int n = device_count();
    GPUMB_SWEEP_STRINGS(g, at_once, at_once_names, n > 2 ? 3 : 2)
        GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
            GPUMB_SWEEP_RANGE(g, from, 0, n - 1, 1)
                GPUMB_SWEEP_RANGE(g, to, 0, n - 1, 1) {
                    job j = new_job(g, (int)way, most);
                    if (at_once != ONE_WAY && (from >= to || (at_once == ALL_PAIRS && to > 1)))
                        continue; /* the same as that from there to here; one row for all */
                    if (at_once == ALL_PAIRS) {
                        for (int a = 0; a < n; a++)
                            for (int b = 0; b < n; b++)
                                if (a != b)
                                    add_flow(&j, a, b);
                    } else {
                        add_flow(&j, from, to);
                        if (at_once == BOTH_WAYS)
                            add_flow(&j, to, from);
                    }
                    measure(g, ways[way], &j);
                }
    note_matrices(g);
}

/* ---- peers/size ------------------------------------------------------------------------------ */

static const char size_bench[] = "peers/size";
static const char *const access_names[] = {"peer", "none"};

static void note_sizes(gpumb *g)
{
    enum { MOST = 100 };
    for (int64_t access = 0; access < 2; access++)
        for (int64_t way = 0; way < WAYS; way++) {
            const rows some =
                having(having(rows_of(size_bench, NULL), "access", access), "way", way);
            const extremes e = extremes_of(g, some, gbps_of), t = extremes_of(g, some, time_of);
            double size[MOST], time[MOST];
            size_t count = 0;
            sentence s = no_words();
            if (!e.high || e.count < 2)
                continue;
            for (size_t i = 0; i < gpumb_row_count(g) && count < MOST; i++) {
                const gpumb_result *r = row_in(g, some, i);
                if (r) {
                    size[count] = r->bytes;
                    time[count++] = r->time.median;
                }
            }
            const line_fit f = fit_line(size, time, count);
            say_bytes(&s, gpumb_row_axis(g, t.low_row, "size"));
            say(&s, " take ");
            say_time(&s, t.low->time.median);
            say(&s, "; ");
            say_bytes(&s, gpumb_row_axis(g, e.high_row, "size"));
            say(&s, " move at ");
            say_rate(g, &s, e.high_row);
            if (f.count)
                say(&s, "; half the rate at %.4g KiB (%.4g ... %.4g)", f.half.value / 1024,
                    f.half.lo / 1024, f.half.hi / 1024);
            gpumb_note(g, "%s, %s: %s.", ways[way],
                       access ? "without peer access" : "with peer access", s.text);
        }
}

static void sizes(gpumb *g)
{
    static const int64_t full[] = {4,       64,      1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18,
                                   1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    static const int64_t quick[] = {4, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28};
    static const int64_t cpu[] = {4, 1 << 12, 1 << 16};
    const values all = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    GPUMB_SWEEP_STRINGS(g, access, access_names, 2)
        GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
            GPUMB_SWEEP_ARRAY(g, size, all.at, all.count) {
                job j = new_job(g, (int)way, size);
                if (access && by_kernel(&j))
                    continue; /* can't do without it */
                const uint64_t enough = j.bytes / (16 * 8 * COPY_BLOCK) + 1;
                if (enough < j.blocks)
                    j.blocks = enough;
                j.staged = (int)access;
                add_flow(&j, 0, 1);
                measure(g, ways[way], &j);
            }
    note_sizes(g);
}

/* ---- peers/form ------------------------------------------------------------------------------ */

static const char form_bench[] = "peers/form";
enum { ENGINE = FORMS }; /* after the kernels' */

/* The fewest blocks with which a form is within 5 % of its best. */
static int64_t fewest_blocks(gpumb *g, rows some, const gpumb_result *best)
{
    for (int64_t b = next_value(g, some, "blocks", 0); b > 0;
         b = next_value(g, some, "blocks", b)) {
        const gpumb_result *r = first_row(g, having(some, "blocks", b));
        if (r && r->gbps >= 0.95 * best->gbps)
            return b;
    }
    return 0;
}

static void note_forms(gpumb *g)
{
    for (int64_t way = 0; way < 2; way++) {
        const rows own = having(noisy_too(rows_of(form_bench, NULL)), "way", way);
        const gpumb_result *engine = first_row(g, having(own, "form", ENGINE));
        for (int64_t form = 0; form < ENGINE; form++) {
            const rows some = having(own, "form", form);
            const extremes e = extremes_of(g, some, gbps_of);
            sentence s = no_words();
            if (!e.high)
                continue;
            say_rate(g, &s, e.high_row);
            if (engine)
                say(&s, ", %.3f of the copy engine's", e.high->gbps / engine->gbps);
            const int64_t fewest = fewest_blocks(g, some, e.high);
            if (fewest && e.count > 1)
                say(&s, "; within 5 %% of it from %lld blocks on", (long long)fewest);
            gpumb_note(g, "%s, %s: %s.", ways[WRITTEN + way], form_names[form], s.text);
        }
    }
}

static void forms(gpumb *g)
{
    static const int64_t full[] = {0, 1, 2, 4, 8, 16, 24, 33, 44, 66, 88, 132, 264, 1056};
    static const int64_t quick[] = {0, 1, 16, 66, 132}, cpu[] = {0, 1, 3};
    const values counts = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const char *names[FORMS + 1];
    for (int i = 0; i < FORMS; i++)
        names[i] = form_names[i];
    names[ENGINE] = "copy engine";
    GPUMB_SWEEP_STRINGS(g, way, ways + WRITTEN, 2)
        GPUMB_SWEEP_STRINGS(g, form, names, COUNT(names))
            GPUMB_SWEEP_ARRAY(g, blocks, counts.at, counts.count) {
                const int chooses = form < WORDS_1 || form == ENGINE;
                job j = new_job(g, (int)way + (form == ENGINE ? PUSHED : WRITTEN),
                                is_gpu(g) ? 256 * MiB : MiB);
                if (chooses != !blocks)
                    continue; /* 0: as many as it takes */
                j.form = (int)form;
                j.blocks = (uint64_t)blocks;
                add_flow(&j, 0, 1);
                measure(g, ways[j.way], &j);
            }
    note_forms(g);
}

/* ---- peers/packet ---------------------------------------------------------------------------- */

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
        const line_fit f = fit_line(size, time, count);
        if (f.count)
            gpumb_note(g,
                       "%s, fitted: a piece takes as long as its bytes and %.3g (%.3g ... %.3g) "
                       "more, at %.4g GB/s (%.4g ... %.4g).",
                       ways[WRITTEN + way], f.half.value, f.half.lo, f.half.hi, f.rate.value / 1e9,
                       f.rate.lo / 1e9, f.rate.hi / 1e9);
    }
}

typedef struct packet {
    pieces p;
    int reads;
    void *memory, *stream, *began, *ended;
    word *sum; /* of what is read */
    uint32_t seed;
    uint64_t blocks;
} packet;

static double run_packets(const packet *p)
{
    use_device(0);
    record(p->began, p->stream);
    if (p->reads)
        LAUNCH_ON(p->stream, read_pieces, p->blocks, COPY_BLOCK, (const uint4 *)p->memory, p->p,
                  p->sum);
    else
        LAUNCH_ON(p->stream, write_pieces, p->blocks, COPY_BLOCK, (uint4 *)p->memory, p->p,
                  p->seed);
    record(p->ended, p->stream);
    wait_for(p->stream);
    return seconds_between(p->began, p->ended);
}

static int check_packets(gpumb *g, void *user)
{
    const packet *p = (const packet *)user;
    const uint64_t bytes = 16 * p->p.lines * p->p.apart;
    word wanted = 0, found = 0;
    void *wrong = memory_on(1, sizeof found);
    set_bytes(NULL, p->memory, 0xff, bytes);
    copy_now(wrong, &found, sizeof found);
    if (p->reads) {
        pieces once = p->p;
        once.rounds = 1;
        LAUNCH_ON(NULL, write_pieces, p->blocks, COPY_BLOCK, (uint4 *)p->memory, once, p->seed);
        for (uint64_t line = 0; line < p->p.lines; line++)
            for (unsigned part = 0; part < p->p.piece; part++) {
                const uint4 x = pattern_of(line * p->p.apart + part, p->seed);
                for (unsigned round = 0; round < p->p.rounds; round++)
                    wanted += (word)(x.x ^ round) + x.y + x.z + x.w;
            }
        copy_now(p->sum, &found, sizeof found);
    }
    wait_for(NULL);
    (void)run_packets(p);
    if (p->reads) {
        copy_now(&found, p->sum, sizeof found);
    } else {
        use_device(1);
        LAUNCH_ON(NULL, check_pieces, 1024, COPY_BLOCK, (const uint4 *)p->memory, p->p, p->seed,
                  (word *)wrong);
        wait_for(NULL);
        found = 1;
        copy_now(&found, wrong, sizeof found);
    }
    free_on(1, wrong);
    use_device(gpumb_get_device(g)->ordinal);
    if (found != wanted)
        gpumb_reason(
            g, p->reads ? "words read add up to %llu, not %llu" : "%llu words are wrong, not %llu",
            found, wanted);
    return found == wanted;
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

/* ---- peers/latency --------------------------------------------------------------------------- */

static const char latency_bench[] = "peers/latency";
enum { LOAD_NEAR, LOAD_FAR, FLAG_HERE, FLAG_THERE, WAITS };
static const char *const wait_names[WAITS] = {"load from the L2", "load from memory",
                                              "there and back, flags in the poller's memory",
                                              "there and back, flags in the writer's memory"};

/* Device `a` waits for memory of device `b`, or for `b` itself. */
typedef struct wait_job {
    int a, b, flag;
    uint32_t seed;
    unsigned nodes, warm, steps, samples;
    double patience_s;
    word *chain, *of_a, *of_b, *out_a, *out_b;
    void *stream_a, *stream_b;
    word ended, expected;
} wait_job;

enum { NODE = 16 }; /* words of a line of 128 bytes */

/* One launch: seconds of a load, or there and back. */
static double wait_once(wait_job *j, double tick_s, std::vector<double> *times)
{
    if (!j->flag) {
        std::vector<word> out(1 + j->samples);
        use_device(j->a);
        LAUNCH_ON(j->stream_a, follow, 1, 1, (const word *)j->chain, j->warm, j->steps, j->samples,
                  j->out_a);
        wait_for(j->stream_a);
        copy_now(out.data(), j->out_a, out.size() * sizeof(word));
        j->ended = out[0];
        for (unsigned s = 0; s < j->samples; s++)
            times->push_back(tick_s * (double)out[1 + s] / j->steps);
        return 0;
    }
    word out[2] = {0, 0};
    const int near = j->flag == FLAG_HERE;
    word *mine_a = near ? j->of_a : j->of_b, *mine_b = near ? j->of_b : j->of_a;
    const word patience = ticks_of(j->patience_s);
    use_device(j->a);
    set_bytes(j->stream_a, j->of_a, 0xff, sizeof(word));
    wait_for(j->stream_a);
    use_device(j->b);
    set_bytes(j->stream_b, j->of_b, 0xff, sizeof(word));
    wait_for(j->stream_b);
    LAUNCH_ON(j->stream_b, bounce, 1, 1, (const word *)mine_b, mine_a, (word)j->steps, 0, patience,
              j->out_b);
    use_device(j->a);
    LAUNCH_ON(j->stream_a, bounce, 1, 1, (const word *)mine_a, mine_b, (word)j->steps, 1, patience,
              j->out_a);
    wait_for(j->stream_a);
    use_device(j->b);
    wait_for(j->stream_b);
    copy_now(out, j->out_a, sizeof out);
    j->ended = out[0];
    times->push_back(tick_s * (double)out[1] / (j->steps - 1));
    return 0;
}

/* Loads the kernels; a chase leaves the lines that are timed where they are. */
static void warm_up(const wait_job *j, double tick_s)
{
    std::vector<double> times;
    wait_job once = *j;
    once.warm = 0;
    once.samples = 1;
    once.steps = 2;
    (void)wait_once(&once, tick_s, &times);
}

static int check_wait(gpumb *g, void *user)
{
    const wait_job *j = (const wait_job *)user;
    if (j->ended != j->expected)
        gpumb_reason(g, "ended at %llu, not at %llu", j->ended, j->expected);
    return j->ended == j->expected;
}

/* A random cycle of lines. */
static void link_lines(wait_job *j)
{
    std::vector<uint32_t> next(j->nodes);
    std::vector<word> chain((size_t)j->nodes * NODE);
    make_cycle(next.data(), j->nodes, j->seed);
    for (unsigned i = 0; i < j->nodes; i++)
        chain[(size_t)i * NODE] = (word)next[i] * NODE;
    copy_now(j->chain, chain.data(), chain.size() * sizeof(word));
    const uint64_t loads = j->warm + (uint64_t)j->steps * j->samples;
    j->expected = (word)walk_cycle(next.data(), 0, loads) * NODE;
}

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

/* ---- main ------------------------------------------------------------------------------------ */

static void with_access(gpumb *g, void (*bench)(gpumb *g))
{
    let_all_reach(1);
    use_device(gpumb_get_device(g)->ordinal);
    bench(g);
}

static void matrix_bench_run(gpumb *g)
{
    with_access(g, matrix);
}

static void size_bench_run(gpumb *g)
{
    with_access(g, sizes);
}

static void form_bench_run(gpumb *g)
{
    with_access(g, forms);
}

static void packet_bench_run(gpumb *g)
{
    with_access(g, packets);
}

static void latency_bench_run(gpumb *g)
{
    with_access(g, latencies);
}

static const gpumb_benchmark benchmarks[] = {
    {matrix_bench, "rate between all pairs, one way, both ways, all at once", matrix_bench_run},
    {size_bench, "rate and time over the size, with and without peer access", size_bench_run},
    {form_bench, "forms of a kernel that writes or reads, over its blocks", form_bench_run},
    {packet_bench, "pieces of lines: what the link carries beside the data", packet_bench_run},
    {latency_bench, "a dependent load, a flag there and back, of all pairs", latency_bench_run},
};

#ifndef PEERS_NO_MAIN
int main(int argc, char **argv)
{
    return main_for_devices(argc, argv, "peers", benchmarks, COUNT(benchmarks));
}
#endif

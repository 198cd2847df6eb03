/* The vendor's copies between host and device, from pageable and from pinned memory, up, down and
 * both at once, and on the device: time and rate over the size, and the line through them. */
#include "gpumb.h"

#include "bench.h"
#include "fit.h"
#include "vendor.h"

static const char size_bench[] = "transfer/size";

typedef struct route {
    gpumb_memory host;
    int up, down; /* crosses the link to the device, from it; neither: on the device */
} route;

static const char *const names[] = {"pinned up",     "pinned down",   "pinned both",  "pageable up",
                                    "pageable down", "pageable both", "on the device"};
static const route routes[] = {
    {GPUMB_MEMORY_PINNED, 1, 0}, {GPUMB_MEMORY_PINNED, 0, 1}, {GPUMB_MEMORY_PINNED, 1, 1},
    {GPUMB_MEMORY_HOST, 1, 0},   {GPUMB_MEMORY_HOST, 0, 1},   {GPUMB_MEMORY_HOST, 1, 1},
    {GPUMB_MEMORY_DEVICE, 0, 0},
};

/* One copy, or two at once in two streams. */
typedef struct transfer {
    gpumb_copy_check up, down; /* on the device: up */
    const route *p;
    void *side, *fork, *join;
} transfer;

static void copy(gpumb *g, const gpumb_copy_check *c)
{
    gpumb_memcpy(g, gpumb_data(c->out), gpumb_data(c->in), c->bytes);
}

static void run_transfer(gpumb *g, const transfer *t)
{
    const int both = t->p->up && t->p->down;
    if (both) {
        order_streams(gpumb_stream(g), t->fork, t->side);
        copy_on(t->side, gpumb_data(t->down.out), gpumb_data(t->down.in), t->down.bytes);
    }
    copy(g, t->p->down && !both ? &t->down : &t->up);
    if (both)
        order_streams(t->side, t->join, gpumb_stream(g));
}

static int check_transfer(gpumb *g, void *user)
{
    transfer *t = (transfer *)user;
    const int up = t->p->up || !t->p->down;
    return (!up || gpumb_check_copy(g, &t->up)) && (!t->p->down || gpumb_check_copy(g, &t->down));
}

static void prepare(gpumb *g, gpumb_copy_check *c, gpumb_memory from, gpumb_memory to,
                    uint64_t bytes, uint64_t seed)
{
    gpumb_buffer *in = gpumb_alloc_kind(g, from, bytes), *out = gpumb_alloc_kind(g, to, bytes);
    gpumb_fill(g, in, GPUMB_FILL_BITS, seed);
    gpumb_set_output(g, out);
    c->in = in;
    c->out = out;
    c->bytes = bytes;
    c->mode = GPUMB_READ_WRITE;
}

/* ---- conclusions ----------------------------------------------------------------------------- */

static void say_estimate(sentence *s, const char *unit, estimate e, double divisor)
{
    say(s, "%.4g %s (%.4g ... %.4g)", e.value / divisor, unit, e.lo / divisor, e.hi / divisor);
}

static line_fit fit_of(gpumb *g, int64_t which)
{
    enum { MOST = 100 };
    double size[MOST], time[MOST];
    size_t count = 0;
    for (size_t i = 0; i < gpumb_row_count(g) && count < MOST; i++) {
        const gpumb_result *r = row_in(g, having(rows_of(size_bench, NULL), "path", which), i);
        if (!r)
            continue;
        size[count] = r->bytes;
        time[count++] = r->time.median;
    }
    return fit_line(size, time, count);
}

static void note_transfers(gpumb *g)
{
    for (size_t which = 0; which < COUNT(routes); which++) {
        const rows some = having(rows_of(size_bench, NULL), "path", (int64_t)which);
        const extremes e = extremes_of(g, some, gbps_of), t = extremes_of(g, some, time_of);
        const line_fit f = fit_of(g, (int64_t)which);
        sentence s = no_words();
        if (!e.high || e.count < 2)
            continue;
        say_bytes(&s, gpumb_row_axis(g, t.low_row, "size"));
        say(&s, " take ");
        say_time(&s, t.low->time.median);
        say(&s, ", the best rate is %.4g GB/s at ", e.high->gbps);
        say_bytes(&s, gpumb_row_axis(g, e.high_row, "size"));
        if (e.high->pct_link > 0)
            say(&s, ", %.1f %% of the link's%s", e.high->pct_link,
                routes[which].up && routes[which].down ? " each way" : "");
        else if (e.high->pct_peak > 0 && !(e.high->flags & GPUMB_FLAG_CACHED))
            say(&s, ", %.1f %% of the peak", e.high->pct_peak);
        gpumb_note(g, "%s: %s.", names[which], s.text);
        if (!f.count)
            continue;
        s = no_words();
        say_estimate(&s, "us", f.latency, 1e-6);
        say(&s, " + bytes / ");
        say_estimate(&s, "GB/s", f.rate, 1e9);
        say(&s, ", half the rate at ");
        say_estimate(&s, "KiB", f.half, 1024);
        gpumb_note(g, "%s, fitted: %s.", names[which], s.text);
    }
}

static void transfer_size(gpumb *g)
{
    static const int64_t full[] = {4,       64,      1 << 10, 1 << 12, 1 << 14, 1 << 16,
                                   1 << 18, 1 << 20, 1 << 22, 1 << 26, 1 << 28, 1 << 30};
    static const int64_t quick[] = {4, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28};
    static const int64_t cpu[] = {4, 1 << 12, 1 << 16, 1 << 20, 1 << 24};
    const values sizes = choose(g, VALUES(full), VALUES(quick), VALUES(cpu));
    const uint64_t seed = gpumb_get_settings(g)->seed;
    transfer t;
    memset(&t, 0, sizeof t);
    t.side = new_stream();
    t.fork = new_event();
    t.join = new_event();
    GPUMB_SWEEP_STRINGS(g, path, names, COUNT(names))
        GPUMB_SWEEP_ARRAY(g, size, sizes.at, sizes.count) {
            const uint64_t bytes = (uint64_t)size;
            t.p = &routes[path];
            if (t.p->up || !t.p->down)
                prepare(g, &t.up, t.p->host, GPUMB_MEMORY_DEVICE, bytes, seed);
            if (t.p->down)
                prepare(g, &t.down, GPUMB_MEMORY_DEVICE, t.p->host, bytes, seed + 1);
            if (t.p->host == GPUMB_MEMORY_DEVICE)
                gpumb_set_bytes(g, 2.0 * (double)bytes);
            else
                gpumb_set_transfer(g, t.p->up * (double)bytes, t.p->down * (double)bytes);
            gpumb_set_footprint(g, (t.p->host == GPUMB_MEMORY_DEVICE ? 2 : 1) * bytes);
            gpumb_set_timing(g, is_gpu(g) ? GPUMB_TIMING_EVENT : GPUMB_TIMING_AUTO);
            gpumb_set_verify(g, check_transfer, &t);
            GPUMB_MEASURE(g, names[path])
                run_transfer(g, &t);
        }
    free_event(t.join);
    free_event(t.fork);
    free_stream(t.side);
    note_transfers(g);
}

static const gpumb_benchmark benchmarks[] = {
    {size_bench, "Memcpy: time and rate over the size, for each kind of memory and way",
     transfer_size},
};

GPUMB_MAIN(benchmarks)

/* fake.h - a device with a scripted clock and faults on demand, for tests. C99 and C++11.
 *
 *     #define GPUMB_BACKEND_CPU
 *     #define GPUMB_BACKEND_FAKE
 *     #define GPUMB_IMPLEMENTATION
 *     #include "gpumb.h"
 *     #include "fake.h"
 *
 * defines the verbs of the section BACKEND. Time stands still until somebody spends it. There are
 * two clocks: the host's, fake_now, and the point up to which the device's only queue is filled,
 * fake_busy. fake_run(s) launches s seconds of work: the host goes on after fake_launch_cost, the
 * device works later. Waiting moves the host to the end of the queue. Memory is the host's, so that
 * kernels of the CPU emulation run; they take no time, unless a fake_run() stands beside them.
 * Not for several threads.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define FAKE_UNUSED __attribute__((unused)) static
#else
#define FAKE_UNUSED static
#endif

/* ---- what a test sets; fake_reset() restores it ---- */

FAKE_UNUSED double fake_now;           /* the host's clock, seconds */
FAKE_UNUSED double fake_busy;          /* when the queue will be empty */
FAKE_UNUSED double fake_elsewhere;     /* when another stream's queue will be */
FAKE_UNUSED double fake_launch_cost;   /* of the host, for a launch */
FAKE_UNUSED double fake_record_cost;   /* of the host, for an event */
FAKE_UNUSED double fake_clock_cost;    /* of the host, for a look at its clock */
FAKE_UNUSED double fake_floor;         /* of the device, for an event */
FAKE_UNUSED double fake_quantum;       /* stamps of events are multiples of it; 0: exact */
FAKE_UNUSED double fake_graph_cost;    /* of the device, for a graph's launch, once */
FAKE_UNUSED double fake_node_cost;     /* of the device, for each run in it */
FAKE_UNUSED double (*fake_pace)(void); /* by what a graph's work takes longer now */
FAKE_UNUSED double fake_rate;          /* byte/s that the device's memory moves */
FAKE_UNUSED uint64_t fake_memory;      /* bytes of the device */
FAKE_UNUSED uint64_t fake_host_memory; /* pinned and plain, of the host */
FAKE_UNUSED double fake_link_rate;     /* byte/s of the link, each way; also what copies take */
FAKE_UNUSED uint64_t fake_moves;       /* larger ones on the device take time, but move nothing */
FAKE_UNUSED const uint64_t *fake_free; /* answers on free memory; then the truth */
FAKE_UNUSED size_t fake_free_count;
FAKE_UNUSED int fake_devices;        /* how many there are */
FAKE_UNUSED int fake_stream_ordinal; /* the device of a stream that is handed in; -1: unknown */
FAKE_UNUSED const char *fake_date = "2026-01-31T12:00:00Z";
/* 1, set before this file: launches of the header's own kernels are soon emulated. */
#ifndef FAKE_MULTIPROCESSORS
#define FAKE_MULTIPROCESSORS 100
#endif
FAKE_UNUSED int fake_multiprocessors; /* kernels that fill, compare and check launch so many */
FAKE_UNUSED int fake_warp_size;       /* goes with gpumb_cpu_set_warp_size() */
FAKE_UNUSED const char *fake_backend; /* "cpu" makes the engine do without events */
FAKE_UNUSED const char *fake_arch;
FAKE_UNUSED double fake_peak_gbps;        /* 0: unknown */
FAKE_UNUSED int fake_sensors;             /* 1: there are some */
FAKE_UNUSED double fake_power;            /* watts */
FAKE_UNUSED double fake_temperature;      /* degrees C */
FAKE_UNUSED double fake_memory_clock;     /* Hz */
FAKE_UNUSED int fake_throttle;            /* GPUMB_THROTTLE_... */
FAKE_UNUSED int fake_others;              /* other processes */
FAKE_UNUSED int fake_profiler;            /* 1: there is one */
FAKE_UNUSED double fake_profiler_cost;    /* seconds that it adds to what it shows */
FAKE_UNUSED uint64_t fake_profiler_drops; /* records that it loses, the next ones */
FAKE_UNUSED int fake_counters;            /* 1: there are some */
FAKE_UNUSED int fake_passes;              /* that counting takes */
FAKE_UNUSED const char *fake_uncounted;   /* what is none of them; NULL: all are */
FAKE_UNUSED uint64_t fake_elapsed_every;  /* each so many-th time is fake_elapsed_value; 0: none */
FAKE_UNUSED double fake_elapsed_value;

/* The fake_fail_at-th call from now (1: the next) of the verbs that can fail returns
 * fake_fail_error; so does the fake_fail_verb_at-th call of fake_fail_verb. 0: none. */
typedef enum fake_error {
    FAKE_OK,
    FAKE_REFUSED,
    FAKE_NO_MEMORY,
    FAKE_LOST,
    FAKE_MISUSED
} fake_error;

typedef enum fake_verb {
    FAKE_COUNT,
    FAKE_OPEN,
    FAKE_MEMORY,
    FAKE_ALLOC,
    FAKE_FREE,
    FAKE_COPY,
    FAKE_SET,
    FAKE_STREAM_CREATE,
    FAKE_STREAM_DESTROY,
    FAKE_WAIT,
    FAKE_EVENT_CREATE,
    FAKE_EVENT_DESTROY,
    FAKE_RECORD,
    FAKE_ELAPSED,
    FAKE_LAST_ERROR,
    FAKE_CAPTURE_BEGIN,
    FAKE_CAPTURE_END,
    FAKE_GRAPH_LAUNCH,
    FAKE_GRAPH_DESTROY,
    FAKE_KERNEL,
    FAKE_PREFETCH,
    FAKE_ADVISE,
    FAKE_AWAIT,
    FAKE_LOAD,
    FAKE_FIND,
    FAKE_LAUNCH_BY,
    FAKE_CLOCK,
    FAKE_VERBS
} fake_verb;

FAKE_UNUSED uint64_t fake_fail_at, fake_fail_verb_at;
FAKE_UNUSED fake_error fake_fail_error;
FAKE_UNUSED fake_verb fake_fail_verb;
FAKE_UNUSED int fake_lost; /* a lost device stays lost: every verb says so */

/* ---- what a test reads ---- */

FAKE_UNUSED uint64_t fake_calls[FAKE_VERBS]; /* of each verb */
FAKE_UNUSED int fake_selected;               /* device */
FAKE_UNUSED uint64_t fake_runs;              /* calls of fake_run() */
FAKE_UNUSED int fake_live_streams, fake_live_events, fake_live_graphs;
FAKE_UNUSED int fake_profilers;     /* attached now */
FAKE_UNUSED uint64_t fake_attached; /* how often one was */
FAKE_UNUSED int fake_counting;      /* 1: counters are open; 2: a pass is under way */
FAKE_UNUSED uint64_t fake_counted;  /* passes so far ... */
FAKE_UNUSED double fake_counted_s;  /* ... and the work in the one under way */
FAKE_UNUSED int fake_misuses; /* freed twice, unknown pointers, events that were never recorded */

typedef struct fake_block { /* live memory */
    void *p;
    void *raw;
    uint64_t bytes;
    gpumb_memory kind;
} fake_block;
enum { FAKE_BLOCKS = 4096 };
FAKE_UNUSED fake_block fake_blocks[FAKE_BLOCKS];
FAKE_UNUSED int fake_live_blocks;
FAKE_UNUSED uint64_t fake_live_bytes[2]; /* of the device, of the host */
FAKE_UNUSED char fake_advice[200];       /* prefetches and advice so far: P-1 A3:0 ... */

typedef struct fake_graph {
    double seconds;
    uint64_t runs;
} fake_graph;
FAKE_UNUSED fake_graph *fake_capturing;   /* launches go there instead of the queue */
FAKE_UNUSED gpumbi_nodes fake_nodes;      /* what all captures hold */
FAKE_UNUSED int fake_modules;             /* that are loaded */
FAKE_UNUSED int fake_module_options[2];   /* of the last load: registers, level */
FAKE_UNUSED gpumb_launch_config fake_how; /* of the last launch by address that was not plain */
FAKE_UNUSED char fake_launched[64]; /* function that was launched last by address; "": a kernel of
                                     * the program */
FAKE_UNUSED double fake_kernel_s;   /* that such a launch takes */

/* ---- what a test does ---- */

/* What the profiler has seen since the last look. */
FAKE_UNUSED uint64_t fake_seen;
FAKE_UNUSED double fake_seen_from, fake_seen_to;

/* What gpumbi_dev_mark() and gpumbi_dev_unmark() left, and the work in between:
 * "[bench|kernel|axes" a "." for each launch, "]". */
FAKE_UNUSED char fake_marks[4000];
FAKE_UNUSED int fake_marked; /* ranges that are open */

static void fake_mark(const char *text)
{
    if (fake_marked)
        strncat(fake_marks, text, sizeof fake_marks - strlen(fake_marks) - 1);
}

static void fake_spend(double seconds) /* of the device */
{
    if (fake_busy < fake_now)
        fake_busy = fake_now;
    fake_busy += seconds;
}

/* The same, of what a profiler records. */
static void fake_work(double seconds)
{
    fake_spend(seconds);
    fake_mark(".");
    fake_counted_s += seconds;
    if (!fake_profilers)
        return;
    if (fake_profiler_drops) {
        fake_profiler_drops--;
        return;
    }
    fake_seen_from = fake_seen++ ? fake_seen_from : fake_busy - seconds;
    fake_seen_to = fake_busy;
}

static double fake_occupied;    /* until when nothing begins on other streams */
static int fake_occupations;    /* so often that was asked for */
static int fake_touched;        /* it had work since the device was waited for */
FAKE_UNUSED double fake_wait_s; /* the next wait for an idle device takes so long; 0: as always */
FAKE_UNUSED void *fake_other;   /* the stream whose queue is fake_elsewhere; NULL: no known one */

/* The same on a stream that the library does not know of. */
FAKE_UNUSED void fake_run_elsewhere(double seconds)
{
    fake_runs++;
    fake_now += fake_launch_cost;
    const double begins = fake_now < fake_occupied ? fake_occupied : fake_now;
    fake_elsewhere = (fake_elsewhere < begins ? begins : fake_elsewhere) + seconds;
    fake_touched = 1;
}

FAKE_UNUSED fake_error fake_pending;  /* of a launch; see fake_run_refused() */
FAKE_UNUSED void (*fake_later)(void); /* what work elsewhere does, when the device is waited for */

/* Launches `seconds` of work. */
FAKE_UNUSED void fake_run(double seconds)
{
    fake_runs++;
    fake_now += fake_launch_cost;
    if (fake_capturing) {
        fake_capturing->seconds += seconds;
        fake_capturing->runs++;
        return;
    }
    fake_work(seconds);
}

/* A launch that fails, as an unchecked kernel<<<...>>> would. */
FAKE_UNUSED void fake_run_refused(fake_error error)
{
    fake_now += fake_launch_cost;
    fake_pending = error;
}

/* Streams and memory outlive it. */
FAKE_UNUSED void fake_reset(void)
{
    gpumbi_warmed_device = 0; /* a process of its own */
    fake_wait_s = 0;
    fake_now = fake_busy = fake_elsewhere = 100;
    fake_occupied = fake_occupations = 0;
    fake_launch_cost = 1e-6;
    fake_record_cost = 0.13e-6;
    fake_clock_cost = 17e-9;
    fake_floor = 0.6e-6;
    fake_quantum = 32e-9;
    fake_graph_cost = 2e-6;
    fake_node_cost = 0.5e-6;
    fake_pace = NULL;
    fake_rate = 1e12;
    fake_memory = (uint64_t)512 << 20;
    fake_host_memory = (uint64_t)512 << 20;
    fake_link_rate = 0;
    fake_moves = (uint64_t)64 << 20;
    fake_free = NULL;
    fake_free_count = 0;
    fake_devices = 1;
    fake_stream_ordinal = -1;
    fake_date = "2026-01-31T12:00:00Z";
    fake_multiprocessors = FAKE_MULTIPROCESSORS;
    fake_warp_size = 32;
    fake_backend = "fake";
    fake_arch = "fk_90";
    fake_peak_gbps = 1000;
    fake_sensors = 0;
    fake_power = 300;
    fake_temperature = 40;
    fake_memory_clock = 2e9;
    fake_throttle = fake_others = 0;
    fake_profiler = 0;
    fake_profiler_cost = 0.6e-6;
    fake_profiler_drops = 0;
    fake_counters = 0;
    fake_passes = 1;
    fake_uncounted = NULL;
    fake_counted = 0;
    fake_attached = fake_seen = 0;
    fake_elapsed_every = 0;
    fake_elapsed_value = 0;
    fake_fail_at = fake_fail_verb_at = 0;
    fake_fail_error = FAKE_REFUSED;
    fake_fail_verb = FAKE_VERBS;
    fake_pending = FAKE_OK;
    fake_lost = 0;
    fake_marks[0] = '\0';
    fake_advice[0] = '\0';
    memset(fake_calls, 0, sizeof fake_calls);
    memset(&fake_nodes, 0, sizeof fake_nodes);
    fake_nodes.registers = fake_nodes.kernels = -1;
    fake_nodes.occupancy = -1;
    fake_kernel_s = 20e-6;
    fake_runs = 0;
    fake_misuses = 0;
}

/* 1 if nothing is left behind. */
FAKE_UNUSED int fake_clean(void)
{
    return !fake_live_streams && !fake_live_events && !fake_live_graphs && !fake_live_blocks &&
           !fake_profilers && !fake_counting && !fake_capturing && !fake_marked && !fake_modules &&
           !fake_misuses;
}

/* Contexts that were closed within their own regions: these know them until the program ends. */
FAKE_UNUSED int fake_closed(void)
{
    int count = 0;
    const gpumb *g;
    for (g = gpumbi_closed; g; g = g->previous)
        count++;
    return count;
}

/* The field in row `row` (0: the first behind the header) and column `column` of a CSV file; "" if
 * there is none. Without line breaks in fields. */
FAKE_UNUSED const char *fake_csv(const char *path, int row, const char *column)
{
    static char text[4][8192]; /* four calls may stand in one expression */
    static int turn;
    static char line[65536];
    char *field = text[turn++ % 4];
    int at, wanted = -1, count = -1;
    FILE *file = fopen(path, "r");
    field[0] = '\0';
    while (file && count <= row && fgets(line, sizeof line, file)) {
        const char *c = line;
        for (at = 0; *c && *c != '\r' && *c != '\n'; at++) {
            size_t n = 0;
            const int quoted = *c == '"';
            for (c += quoted; *c && (quoted ? *c != '"' || c[1] == '"' : !strchr(",\r\n", *c));
                 c++) {
                c += quoted && *c == '"';
                if (n < sizeof text[0] - 1)
                    field[n++] = *c;
            }
            field[n] = '\0';
            c += quoted && *c == '"';
            if (count < 0 && !strcmp(field, column))
                wanted = at;
            if (count == row && at == wanted)
                break;
            c += *c == ',';
            field[0] = '\0';
        }
        if (count == row)
            break;
        count++;
    }
    if (file)
        fclose(file);
    if (count != row || wanted < 0)
        field[0] = '\0';
    return field;
}

FAKE_UNUSED int fake_csv_rows(const char *path)
{
    int rows = 0;
    while (*fake_csv(path, rows, "schema"))
        rows++;
    return rows;
}

/* ---- the verbs ---- */

static int fake_enter(fake_verb verb)
{
    int fails = 0;
    fake_calls[verb]++;
    if (fake_fail_at && !--fake_fail_at)
        fails = 1;
    if (verb == fake_fail_verb && fake_fail_verb_at && !--fake_fail_verb_at)
        fails = 1;
    if (fails && fake_fail_error == FAKE_LOST)
        fake_lost = 1;
    return fake_lost ? FAKE_LOST : fails ? (int)fake_fail_error : 0;
}

static int fake_misuse(const char *what)
{
    fprintf(stderr, "fake.h: %s\n", what);
    fake_misuses++;
    return FAKE_MISUSED;
}

static int gpumbi_dev_count(int *count)
{
    const int error = fake_enter(FAKE_COUNT);
    *count = error ? 0 : fake_devices;
    return error;
}

static void gpumbi_dev_bus_id(int ordinal, char *text, int size)
{
    snprintf(text, (size_t)size, "0000:0%d:00.0", ordinal % 10);
}

static void gpumbi_dev_select(int ordinal)
{
    fake_selected = ordinal;
}

static int gpumbi_dev_open(int ordinal, gpumb_device *device)
{
    fake_selected = ordinal;
    const int error = fake_enter(FAKE_OPEN);
    if (error)
        return error;
    snprintf(device->name, sizeof device->name, "Fake 9000");
    snprintf(device->backend, sizeof device->backend, "%s", fake_backend);
    snprintf(device->arch, sizeof device->arch, "%s", fake_arch);
    device->ordinal = ordinal;
    device->multiprocessors = fake_multiprocessors;
    device->warp_size = fake_warp_size;
    device->max_block = 1024;
    device->max_threads = 2048;
    device->bus_width_bits = fake_peak_gbps > 0 ? 4000 : 0;
    device->ecc = 1;
    device->memory_bytes = fake_memory;
    device->l1_bytes = (uint64_t)128 << 10;
    device->l2_bytes = (uint64_t)32 << 20;
    device->sm_clock_hz = 1e9;
    device->memory_clock_hz = fake_peak_gbps * 1e6; /* 2 transfers a clock x 500 byte */
    device->peak_bytes_per_s = fake_peak_gbps * 1e9;
    device->peak_flop_per_s = 20e12;
    gpumbi_peaks(device, 0); /* fk_90 is in no table */
    return 0;
}

static int fake_is_host(gpumb_memory kind)
{
    return kind == GPUMB_MEMORY_PINNED || kind == GPUMB_MEMORY_HOST;
}

static uint64_t fake_room(gpumb_memory kind)
{
    const int host = fake_is_host(kind);
    const uint64_t all = host ? fake_host_memory : fake_memory;
    return all > fake_live_bytes[host] ? all - fake_live_bytes[host] : 0;
}

static int gpumbi_dev_memory(gpumb_memory kind, uint64_t *free_bytes)
{
    const int error = fake_enter(FAKE_MEMORY);
    *free_bytes = fake_room(kind);
    if (fake_free_count) {
        *free_bytes = *fake_free++;
        fake_free_count--;
    }
    return error;
}

static int gpumbi_dev_alloc(void **p, uint64_t bytes, gpumb_memory kind)
{
    const int error = fake_enter(FAKE_ALLOC);
    fake_block *block = &fake_blocks[fake_live_blocks];
    *p = NULL;
    if (error)
        return error;
    if (fake_live_blocks == FAKE_BLOCKS || bytes > fake_room(kind))
        return FAKE_NO_MEMORY;
    block->raw = malloc((size_t)bytes + 256);
    if (!block->raw)
        return FAKE_NO_MEMORY;
    block->p = (char *)block->raw + (256 - (uintptr_t)block->raw % 256);
    block->bytes = bytes;
    block->kind = kind;
    if (bytes <= fake_moves)
        memset(block->p, 0xcd, (size_t)bytes); /* never fresh zeros */
    fake_live_bytes[fake_is_host(kind)] += bytes;
    fake_live_blocks++;
    *p = block->p;
    return 0;
}

static const fake_block *fake_find(const void *p)
{
    int i;
    for (i = 0; i < fake_live_blocks; i++)
        if ((const char *)p >= (const char *)fake_blocks[i].p &&
            (const char *)p < (const char *)fake_blocks[i].p + fake_blocks[i].bytes)
            return &fake_blocks[i];
    return NULL;
}

static void gpumbi_dev_free(void *p, gpumb_memory kind)
{
    const fake_block *block = fake_find(p);
    fake_calls[FAKE_FREE]++;
    if (!p)
        return;
    if (fake_now < fake_busy)
        fake_now = fake_busy;
    if (!block || block->p != p || block->kind != kind) {
        fake_misuse("memory is freed that is none");
        return;
    }
    free(block->raw);
    fake_live_bytes[fake_is_host(kind)] -= block->bytes;
    fake_blocks[block - fake_blocks] = fake_blocks[--fake_live_blocks];
}

static gpumb_memory gpumbi_dev_kind(const void *p)
{
    const fake_block *block = fake_find(p);
    return block ? block->kind : GPUMB_MEMORY_HOST;
}

static int fake_managed(const char *what, void *p, uint64_t bytes, int number, int ordinal)
{
    const fake_block *block = fake_find(p);
    const size_t used = strlen(fake_advice);
    if (!block || block->kind != GPUMB_MEMORY_MANAGED || bytes > block->bytes)
        return fake_misuse("that is no managed memory");
    snprintf(fake_advice + used, sizeof fake_advice - used, "%s%d:%d ", what, number, ordinal);
    return 0;
}

static int gpumbi_dev_prefetch(void *p, uint64_t bytes, int ordinal, void *stream)
{
    const int error = fake_enter(FAKE_PREFETCH);
    (void)stream;
    return error ? error : fake_managed("P", p, bytes, 0, ordinal);
}

static int gpumbi_dev_advise(void *p, uint64_t bytes, int advice, int ordinal)
{
    const int error = fake_enter(FAKE_ADVISE);
    return error ? error : fake_managed("A", p, bytes, advice, ordinal);
}

/* A copy within the device moves its bytes in and out; larger ones only seem to. */
static int gpumbi_dev_copy(void *to, const void *from, uint64_t bytes, void *stream)
{
    const int error = fake_enter(FAKE_COPY);
    const int host = fake_is_host(gpumbi_dev_kind(to)) || fake_is_host(gpumbi_dev_kind(from));
    (void)stream;
    if (error)
        return error;
    const double seconds =
        (double)bytes * (host ? 1 : 2) / (host && fake_link_rate > 0 ? fake_link_rate : fake_rate);
    if (fake_capturing) { /* this one is not recorded */
        fake_run_elsewhere(seconds);
    } else {
        fake_now += fake_launch_cost;
        fake_work(seconds);
    }
    if (bytes && (host || bytes <= fake_moves))
        memmove(to, from, (size_t)bytes);
    return 0;
}

static int gpumbi_dev_set(void *p, int byte, uint64_t bytes, void *stream)
{
    const int error = fake_enter(FAKE_SET);
    (void)stream;
    if (error)
        return error;
    if (gpumbi_dev_kind(p) == GPUMB_MEMORY_HOST)
        return fake_misuse("the device is to set memory that it can't reach");
    fake_now += fake_launch_cost;
    fake_work((double)bytes / fake_rate);
    if (bytes && bytes <= fake_moves)
        memset(p, byte, (size_t)bytes);
    return 0;
}

static int gpumbi_dev_stream_create(void **stream)
{
    const int error = fake_enter(FAKE_STREAM_CREATE);
    *stream = error ? NULL : malloc(1);
    if (!error && *stream)
        fake_live_streams++;
    return error;
}

static void gpumbi_dev_stream_destroy(void *stream)
{
    fake_calls[FAKE_STREAM_DESTROY]++;
    if (stream)
        fake_live_streams--;
    free(stream);
}

static void gpumbi_dev_stream_device(void *stream, int *ordinal)
{
    if (stream && fake_stream_ordinal >= 0)
        *ordinal = fake_stream_ordinal;
}

static int gpumbi_dev_wait(void *stream)
{
    const int error = fake_enter(FAKE_WAIT);
    if (fake_capturing)
        return fake_misuse("a wait while a graph is captured");
    if (stream && fake_now < fake_busy) /* the legacy stream has no work */
        fake_now = fake_busy;
    return error;
}

static int gpumbi_dev_wait_all(void)
{
    const int error = gpumbi_dev_wait(&fake_busy);
    if (fake_now < fake_elsewhere)
        fake_now = fake_elsewhere;
    fake_now += fake_touched ? 1.5e-6 : fake_wait_s > 0 ? fake_wait_s : 0.4e-6; /* as on an H200 */
    fake_touched = 0;
    fake_wait_s = 0;
    if (fake_later)
        fake_later();
    fake_later = NULL;
    return error;
}

static int gpumbi_dev_idle(void *stream)
{
    return fake_now >= (fake_other && stream == fake_other ? fake_elsewhere : fake_busy);
}

static void gpumbi_dev_occupy(uint64_t naps)
{
    fake_occupations++;
    fake_spend((double)naps * 1e-6);
    fake_occupied = fake_busy;
}

static int gpumbi_dev_await(void *stream, void *event)
{
    (void)event;
    if (fake_other && stream != fake_other && fake_busy < fake_elsewhere)
        fake_busy = fake_elsewhere;
    return fake_enter(FAKE_AWAIT);
}

static int gpumbi_dev_capture_begin(void *stream)
{
    const int error = fake_enter(FAKE_CAPTURE_BEGIN);
    (void)stream;
    if (error)
        return error;
    if (fake_capturing)
        return fake_misuse("two captures at a time");
    fake_capturing = (fake_graph *)calloc(1, sizeof *fake_capturing);
    return 0;
}

static int gpumbi_dev_capture_end(void *stream, void **graph, gpumbi_nodes *nodes)
{
    const int error = fake_enter(FAKE_CAPTURE_END);
    (void)stream;
    if (graph)
        *graph = NULL;
    if (nodes)
        *nodes = fake_nodes;
    if (!fake_capturing)
        return error ? error : fake_misuse("no capture is open");
    if (error || !graph || !fake_capturing->runs) {
        free(fake_capturing);
    } else {
        *graph = fake_capturing;
        fake_live_graphs++;
    }
    fake_capturing = NULL;
    return error;
}

static int gpumbi_dev_graph_launch(void *graph, void *stream)
{
    const int error = fake_enter(FAKE_GRAPH_LAUNCH);
    const fake_graph *g = (const fake_graph *)graph;
    (void)stream;
    if (error)
        return error;
    fake_now += fake_launch_cost;
    fake_spend(fake_graph_cost + g->seconds * (fake_pace ? fake_pace() : 1) +
               (double)g->runs * fake_node_cost);
    return 0;
}

static void gpumbi_dev_graph_destroy(void *graph)
{
    fake_calls[FAKE_GRAPH_DESTROY]++;
    fake_live_graphs--;
    free(graph);
}

static int gpumbi_dev_event_create(void **event)
{
    const int error = fake_enter(FAKE_EVENT_CREATE);
    double *stamp = error ? NULL : (double *)malloc(sizeof(double));
    if (stamp) {
        *stamp = -1;
        fake_live_events++;
    }
    *event = stamp;
    return error;
}

static void gpumbi_dev_event_destroy(void *event)
{
    fake_calls[FAKE_EVENT_DESTROY]++;
    if (event)
        fake_live_events--;
    free(event);
}

static int gpumbi_dev_record(void *event, void *stream)
{
    const int error = fake_enter(FAKE_RECORD);
    (void)stream;
    if (error)
        return error;
    fake_now += fake_record_cost;
    if (!fake_capturing)
        fake_spend(fake_floor);
    *(double *)event = fake_busy;
    return 0;
}

static double fake_stamp(double t)
{
    return fake_quantum > 0 ? (double)(uint64_t)(t / fake_quantum + 0.5) * fake_quantum : t;
}

static int gpumbi_dev_elapsed(void *start, void *stop, double *seconds)
{
    const int error = fake_enter(FAKE_ELAPSED);
    const double from = *(double *)start, to = *(double *)stop;
    *seconds = 0;
    if (error)
        return error;
    if (from < 0 || to < 0)
        return fake_misuse("an event that was never recorded");
    if (fake_now < to)
        fake_now = to;
    *seconds = fake_stamp(to) - fake_stamp(from);
    if (fake_elapsed_every && fake_calls[FAKE_ELAPSED] % fake_elapsed_every == 0)
        *seconds = fake_elapsed_value;
    return 0;
}

static int gpumbi_dev_last_error(void)
{
    const int error = fake_enter(FAKE_LAST_ERROR), pending = (int)fake_pending;
    fake_pending = FAKE_OK;
    if (pending == FAKE_LOST)
        fake_lost = 1;
    return error ? error : pending;
}

static int gpumbi_dev_kernel(const void *function, int block, uint64_t shared_bytes, int *registers,
                             double *occupancy)
{
    const int error = fake_enter(FAKE_KERNEL);
    (void)function, (void)block, (void)shared_bytes;
    if (error)
        return error;
    *registers = 40;
    *occupancy = 0.75;
    return 0;
}

/* ---- code from elsewhere: an image is "name name ...", a function its name ---- */

FAKE_UNUSED int gpumbi_dev_load(void **module, const void *image, int max_registers,
                                int optimization, char why[200])
{
    const int error = fake_enter(FAKE_LOAD);
    fake_module_options[0] = max_registers;
    fake_module_options[1] = optimization;
    if (error)
        snprintf(why, 200, "line 1; unknown instruction\nand more");
    if (error)
        return error;
    *module = malloc(strlen((const char *)image) + 1);
    strcpy((char *)*module, (const char *)image);
    fake_modules++;
    return 0;
}

FAKE_UNUSED void gpumbi_dev_unload(void *module)
{
    fake_modules--;
    free(module);
}

FAKE_UNUSED int gpumbi_dev_find(const void **function, void *module, const char *name)
{
    const int error = fake_enter(FAKE_FIND);
    const char *at = strstr((const char *)module, name);
    *function = at;
    return error ? error : at ? 0 : (int)FAKE_REFUSED;
}

static int fake_launch(const char *function, const gpumb_launch_config *how)
{
    const int error = fake_enter(FAKE_LAUNCH_BY);
    snprintf(fake_launched, sizeof fake_launched, "%s", function);
    memset(&fake_how, 0, sizeof fake_how);
    if (how)
        fake_how = *how;
    if (!error)
        fake_run(fake_kernel_s);
    return error;
}

static int gpumbi_dev_launch(const gpumbi_shape *shape, const gpumb_launch_config *how,
                             const void *function, void **parameters, void *stream)
{
    (void)shape, (void)function, (void)parameters, (void)stream;
    return fake_launch("", how);
}

static int gpumbi_dev_launch_how(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                 const void *function, void **parameters, void *stream)
{
    return gpumbi_dev_launch(shape, how, function, parameters, stream);
}

FAKE_UNUSED int gpumbi_dev_launch_loaded(const gpumbi_shape *shape, const gpumb_launch_config *how,
                                         const void *function, void **parameters, void *stream)
{
    (void)shape, (void)parameters, (void)stream;
    return fake_launch((const char *)function, how);
}

FAKE_UNUSED int gpumbi_dev_loaded(const void *function, int block, uint64_t shared_bytes,
                                  int *registers, double *occupancy)
{
    (void)function, (void)block, (void)shared_bytes;
    *registers = 24;
    *occupancy = 0.5;
    return 0;
}

static void *gpumbi_dev_sensors_open(int ordinal)
{
    (void)ordinal;
    return fake_sensors ? &fake_sensors : NULL;
}

static void gpumbi_dev_sensors_close(void *sensors)
{
    (void)sensors;
}

static double gpumbi_dev_power(void *sensors)
{
    return sensors ? fake_power : 0;
}

static void gpumbi_dev_link(void *sensors, gpumb_device *device)
{
    (void)sensors;
    if (fake_link_rate <= 0)
        return;
    snprintf(device->link, sizeof device->link, "Fake 5.0 x16");
    device->link_bytes_per_s = fake_link_rate;
}

static void gpumbi_dev_state(void *sensors, gpumbi_state *state)
{
    memset(state, 0, sizeof *state);
    state->throttle = state->others = -1;
    if (!sensors)
        return;
    state->sm_clock_hz = 1e9;
    state->memory_clock_hz = fake_memory_clock;
    state->temperature_c = fake_temperature;
    state->throttle = fake_throttle;
    state->others = fake_others;
}

static int gpumbi_dev_profiler_attach(void)
{
    fake_profilers += fake_profiler;
    fake_attached += (uint64_t)fake_profiler;
    return !fake_profiler;
}

static void gpumbi_dev_profiler_detach(void)
{
    if (fake_profilers-- <= 0)
        fake_misuse("no profiler is attached");
}

static uint64_t gpumbi_dev_profiler_look(double *seconds)
{
    const uint64_t seen = fake_seen;
    if (fake_profilers <= 0)
        fake_misuse("a look without a profiler");
    if (fake_now < fake_busy && seen)
        fake_misuse("a look before the end");
    *seconds = seen ? fake_seen_to - fake_seen_from + fake_profiler_cost : 0;
    fake_seen = 0;
    return seen;
}

/* Each counts the microseconds of work in a pass, times its place in the list, from 1. */
static int gpumbi_dev_counters_open(gpumbi_counting *c, int ordinal)
{
    if (fake_counting || fake_profilers || ordinal < 0 || c->names < 1)
        fake_misuse("counters are open, or a profiler is attached");
    if (!fake_counters)
        snprintf(c->why, sizeof c->why, "no hardware counters: the fake has none");
    fake_counting = fake_counters;
    return fake_counting;
}

static void gpumbi_dev_counters_start(void)
{
    if (fake_counting != 1 || fake_now < fake_busy || fake_capturing)
        fake_misuse("a pass without counters, or on a device that works");
    fake_counting = 2;
    fake_counted_s = 0;
}

static int gpumbi_dev_counters_stop(gpumbi_counting *c)
{
    int i;
    if (fake_counting != 2 || fake_now < fake_busy)
        fake_misuse("no pass is under way, or it has not ended");
    fake_counting = 1;
    if (++fake_counted % (uint64_t)fake_passes)
        return 1;
    for (i = 0; i < c->names; i++) {
        const int known = !fake_uncounted || strcmp(c->name[i], fake_uncounted) != 0;
        c->value[i] = known ? 1e6 * fake_counted_s * (i + 1) : NAN;
        if (!known)
            snprintf(c->why, sizeof c->why, "the fake has no counter %s", c->name[i]);
    }
    return 0;
}

static void gpumbi_dev_counters_close(void)
{
    if (!fake_counting)
        fake_misuse("no counters are open");
    fake_counting = 0;
}

static void gpumbi_dev_mark(char (*name)[200], int names)
{
    int i;
    if (fake_marked || fake_now < fake_busy)
        fake_misuse("ranges in ranges, or on a device that works");
    fake_marked = names;
    for (i = 0; i < names; i++) {
        fake_mark(i ? "|" : "[");
        fake_mark(name[i]);
    }
}

static void gpumbi_dev_unmark(int names)
{
    if (fake_marked != names || fake_now < fake_busy || fake_now < fake_elsewhere)
        fake_misuse("not the ranges that are open, or before the end");
    fake_mark("]");
    fake_marked = 0;
}

static const char *gpumbi_dev_error(int error, gpumbi_severity *severity)
{
    *severity = GPUMBI_FATAL;
    switch (error) {
    case FAKE_REFUSED:
        *severity = GPUMBI_REFUSED;
        return "the fake refuses";
    case FAKE_NO_MEMORY:
        *severity = GPUMBI_MEMORY;
        return "the fake is full";
    case FAKE_LOST:
        return "the fake is lost";
    default:
        return "the fake is misused";
    }
}

static double gpumbi_dev_clock(void)
{
    fake_calls[FAKE_CLOCK]++;
    fake_now += fake_clock_cost;
    return fake_now;
}

static void gpumbi_dev_date(char text[32])
{
    snprintf(text, 32, "%s", fake_date);
}

#endif

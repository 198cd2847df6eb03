/* watched.h - gpumb.h on the fake device, with a test that looks on: which launches, events and
 * graphs there are, times that are spoiled, and rows as they stand in their CSV file. It includes
 * gpumb.h and fake.h; for tests in C++. */
#ifndef WATCHED_H
#define WATCHED_H

#include "hear.h"
#include "no_disk.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#include "gpumb.h"

// The library's own launches pass by here: 1 if the test has done what the kernel would do.
static int launched(const char *kernel, uint64_t blocks, int kind);
template <class Difference> // of gpumbi_bytes_kernel; 0: of another
static int kind_of_bytes(int, int, unsigned char *, const unsigned char *, uint64_t, int kind,
                         uint64_t, Difference *)
{
    return kind;
}
static int kind_of_bytes(...)
{
    return 0;
}
#undef GPUMB_LAUNCH
#define GPUMB_LAUNCH(kernel, blocks, ...)                                                          \
    do {                                                                                           \
        if (!launched(#kernel, (uint64_t)(blocks), kind_of_bytes(__VA_ARGS__)))                    \
            gpumbi_launch(                                                                         \
                #kernel, 0, [=]() { return kernel; }, kernel, blocks, __VA_ARGS__);                \
    } while (0)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_record fake_verb_record /* the tests look on, see below */
#define gpumbi_dev_elapsed fake_verb_elapsed
#define gpumbi_dev_graph_launch fake_verb_graph_launch
#define gpumbi_dev_state fake_verb_state
#include "fake.h"
#undef gpumbi_dev_record
#undef gpumbi_dev_elapsed
#undef gpumbi_dev_graph_launch
#undef gpumbi_dev_state

#include "check.h"
#include "folder.h"
#include "random.h"
#include "read_file.h"
#include "texts.h"
#include <functional>

// ---- what the tests see and do behind the library's back ----

static std::string trace;       // E: eviction, r: event, and what bodies add
static double eviction_s;       // of the device
static double empty_s, block_s; // an empty kernel, and each block of it; negative: no trace of it
static double uneven_s;         // that every second empty kernel takes more
static int spoil;               // so many times from now come out as 0
static int latched;             // throttling since the state was last asked for
static std::function<void(const fake_graph *)> on_graph;

static int launched(const char *kernel, uint64_t blocks, int kind)
{
    if (kind == GPUMBI_COMPARE) { // nobody compares here: an eviction
        trace += 'E';
        fake_run(eviction_s);
        return 1;
    }
    if (strcmp(kernel, "gpumbi_empty_kernel") != 0)
        return 0;
    static int odd;
    odd = !odd;
    if (empty_s >= 0)
        fake_run(empty_s + block_s * (double)blocks + odd * uneven_s);
    return 1;
}

static int gpumbi_dev_record(void *event, void *stream)
{
    trace += 'r';
    return fake_verb_record(event, stream);
}

static int gpumbi_dev_elapsed(void *start, void *stop, double *seconds)
{
    const int error = fake_verb_elapsed(start, stop, seconds);
    if (spoil > 0 && spoil--)
        *seconds = 0;
    return error;
}

static int gpumbi_dev_graph_launch(void *graph, void *stream)
{
    if (on_graph)
        on_graph((const fake_graph *)graph);
    return fake_verb_graph_launch(graph, stream);
}

// As NVML's counters are used: what held the clock down since the last call.
static void gpumbi_dev_state(void *sensors, gpumbi_state *state)
{
    fake_verb_state(sensors, state);
    if (sensors && state->throttle >= 0)
        state->throttle |= latched;
    latched = 0;
}

static __global__ void nothing(int)
{
}

// As GPUMB_LAUNCH, which would let the emulation work through its threads.
static inline void known_run(double seconds, uint64_t grid = 1, uint64_t block = 32)
{
    const gpumbi_shape shape = {"nothing", {grid, 1, 1}, {block, 1, 1}, 0, 0};
    if (gpumbi_launch_begin(&shape, (const void *)nothing))
        gpumbi_launch_end();
    fake_run(seconds);
}

// ---- contexts ----

// Of this process alone.
static const std::string csv_path =
    temporary("gpumb-watched." + std::to_string((long)getpid()) + ".csv");

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.csv = csv_path.c_str();
    return s;
}

static inline gpumb_settings brief() // ten samples and no warm-up: traces stay short
{
    gpumb_settings s = settings();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    return s;
}

static void reset()
{
    fake_reset();
    heard.clear();
    trace.clear();
    eviction_s = 300e-6;
    empty_s = block_s = -1;
    uneven_s = 0;
    spoil = latched = 0;
    on_graph = nullptr;
    random_state = 1;
}

static inline gpumb_device *device(gpumb *g)
{
    return (gpumb_device *)gpumb_get_device(g);
}

// What the emulated empty kernel does not show.
static gpumb *open_after_reset(const gpumb_settings &s)
{
    gpumb *g = gpumb_open_settings("watched", &s);
    if (empty_s < 0)
        device(g)->graph_interval_s = fake_node_cost;
    trace.clear();
    return g;
}

static inline gpumb *open(const gpumb_settings &s)
{
    reset();
    return open_after_reset(s);
}

// Nothing is known of graphs: AUTO has none.
static inline gpumb *open_without_graphs(const gpumb_settings &s)
{
    reset();
    return gpumb_open_settings("watched", &s);
}

static inline void close(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    if (!CHECK(fake_clean()))
        printf("    %d streams, %d events, %d graphs, %d blocks, %d misuses\n", fake_live_streams,
               fake_live_events, fake_live_graphs, fake_live_blocks, fake_misuses);
}

static inline std::string column(const char *name, int row = 0)
{
    return fake_csv(csv_path.c_str(), row, name);
}

static inline double number(const char *name, int row = 0)
{
    return atof(column(name, row).c_str());
}

static inline int rows()
{
    return fake_csv_rows(csv_path.c_str());
}

static inline bool flagged(const char *flag, int row = 0)
{
    return (";" + column("flags", row) + ";").find(std::string(";") + flag + ";") !=
           std::string::npos;
}

// ---- times that are not the same ----

static inline double noise(double amplitude)
{
    return 1 + amplitude * random_normal();
}

static inline double drawn(double seconds, double amplitude = 0.3) // never precise
{
    return seconds * (1 + amplitude * (random_uniform() - 0.5));
}

#endif

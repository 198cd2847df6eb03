/* counted.h - contexts on the fake device that have to leave nothing behind, neither there nor on
 * the heap: allocations and launches of graphs are counted. The files are called x, in the folder
 * in which the test runs. It includes gpumb.h and fake.h; for tests in C++. */
#ifndef COUNTED_H
#define COUNTED_H

#include "allocations.h"
#include "no_disk.h"
#include "hear_lines.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_graph_launch fake_graph_launch /* the tests look on, see below */
#include "fake.h"
#undef gpumbi_dev_graph_launch

#include "read_file.h"
#include <functional>
#include <string>
#include <vector>

// ---- what the tests see and do behind the library's back ----

static std::vector<uint64_t> launches; // how many runs each launched graph holds
static std::function<void(const fake_graph *)> on_launch;

static int gpumbi_dev_graph_launch(void *graph, void *stream)
{
    launches.push_back(((const fake_graph *)graph)->runs);
    if (on_launch)
        on_launch((const fake_graph *)graph);
    return fake_graph_launch(graph, stream);
}

static void forget()
{
    fake_reset();
    heard.clear();
    launches.clear();
    on_launch = nullptr;
    allocations = fail_allocation = 0;
}

static gpumb_settings settings() // few samples, so that traces stay short
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 10;
    s.csv = "x.csv";
    s.json = "x.json";
    s.markdown = "x.md";
    return s;
}

// Calibration tries to capture an empty kernel; the fake sees nothing of it, so that AUTO has no
// graphs here.
static const uint64_t calibrated = 1;

static inline gpumb *open_with(const gpumb_settings &s)
{
    forget();
    gpumb *g = gpumb_open_settings("counted", &s);
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], calibrated);
    CHECK_INT(fake_calls[FAKE_CAPTURE_END], calibrated);
    CHECK_NEAR(gpumb_get_device(g)->graph_interval_s, 0, 0);
    return g;
}

static void check_clean()
{
    if (!CHECK(fake_clean()) || !CHECK_INT(live_allocations, fake_closed())) {
        printf("    %d streams, %d events, %d graphs, %d blocks, %d misuses, capture %d\n",
               fake_live_streams, fake_live_events, fake_live_graphs, fake_live_blocks,
               fake_misuses, fake_capturing != NULL);
        fake_live_streams = fake_live_events = fake_live_graphs = 0; // once is enough
        live_allocations = fake_closed();
        free(fake_capturing);
        fake_capturing = NULL;
    }
}

static inline void close_with(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    check_clean();
}

static inline void check_silent()
{
    check_heard(0);
}

static void remove_files()
{
    for (const char *name : {"x.csv", "x.json", "x.md"})
        remove_file(name);
}

#endif

// test_graphs.cpp - regions timed by graphs: the time of a run, checks before and behind, where
// there are none, bodies that are left, interrupts, errors and faults.
#define FAKE_MULTIPROCESSORS 1
#include "counted.h"
#include "folder.h"
#include "json.h"
#include "poison.h"
#include "printed.h"
#include "texts.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

// ---- the time of a run ----

// Stamps are rounded: each of the four in a sample by half a quantum at most.
static double tolerance(const gpumb_result &r)
{
    return 2 * fake_quantum / (double)r.batch + 1e-7 * r.time.median;
}

// Captures before that of the first graph: of a body and of an empty kernel, in turn, while the
// device is free and while it is kept busy.
enum { WITNESSES = 4 * GPUMBI_LOOKS };

static void check_graph_row(const gpumb_result &r, double seconds)
{
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_STR(r.reason, "");
    CHECK_INT(r.timing, GPUMB_TIMING_GRAPH);
    CHECK(r.batch > 1);
    CHECK_NEAR(r.time.median, seconds, tolerance(r));
    CHECK_NEAR(r.time.min, seconds, 2 * tolerance(r));
    CHECK_NEAR(r.time.max, seconds, 2 * tolerance(r));
    CHECK_INT(r.flags & GPUMB_FLAG_RESOLUTION, 0);
    CHECK_INT(fake_live_graphs, 0);
    CHECK(!fake_capturing);
}

// `launches` has two kinds of graphs; returns the difference in runs.
static uint64_t difference()
{
    uint64_t less = UINT64_MAX, more = 0;
    for (uint64_t runs : launches) {
        less = runs < less ? runs : less;
        more = runs > more ? runs : more;
    }
    for (uint64_t runs : launches)
        CHECK(runs == less || runs == more);
    return launches.empty() ? 0 : more - less;
}

static void test_median()
{
    static const double times[] = {0.5e-6, 0.7e-6, 1e-6,   3e-6, 10e-6,
                                   35e-6,  100e-6, 350e-6, 1e-3, 2e-3};
    static const struct { // seconds for a launch, for a run in it, for an event
        double graph, node, floor;
    } costs[] = {{2e-6, 0.5e-6, 0.6e-6}, {0, 0, 0.6e-6}, {50e-6, 0.1e-6, 5e-6}, {1e-3, 2e-6, 0}};
    for (double t : times) {
        for (const auto &cost : costs) {
            forget();
            fake_graph_cost = cost.graph;
            fake_node_cost = cost.node;
            fake_floor = cost.floor;
            gpumb_settings s = settings();
            gpumb *g = gpumb_open_settings("counted", &s);
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "graph") {
                fake_run(t);
            }
            if (CHECK(gpumb_last_result(g) != NULL)) {
                const gpumb_result &r = *gpumb_last_result(g);
                check_graph_row(r, t + cost.node);
                CHECK_INT(r.time.count, 10);
                CHECK_INT(r.batch, difference());
                CHECK(launches.size() >= 20); // a long one and a short one for each sample
            }
            CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], fake_calls[FAKE_CAPTURE_END]);
            check_silent();
            close_with(g, 0);
            CHECK_STR(fake_csv("x.csv", 0, "timing"), "graph");
            CHECK_STR(fake_csv("x.csv", 0, "meaning"), "interval");
            CHECK_INT(atoi(fake_csv("x.csv", 0, "batch")), difference());
            CHECK_NEAR(atof(fake_csv("x.csv", 0, "median_s")), t + cost.node,
                       0.01 * (t + cost.node));
            const json file = read_json(read_file("x.json"));
            CHECK_STR(json_field(file, 0, "timing").c_str(), "graph");
            CHECK_STR(json_field(file, 0, "meaning").c_str(), "interval");
            CHECK_INT(atoi(json_field(file, 0, "batch").c_str()), difference());
        }
    }
}

// Several launches in a body; a warm-up, and as many samples as the precision takes.
static void test_defaults()
{
    gpumb_settings s = settings();
    s.warmup_s = 0;
    s.min_samples = s.max_samples = 0;
    gpumb *g = open_with(s);
    gpumb_result r;
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_TIME(&r) {
        for (int i = 0; i < 3; i++)
            fake_run(2e-6);
    }
    check_graph_row(r, 3 * (2e-6 + fake_node_cost));
    CHECK_INT(r.stop, GPUMB_STOP_PRECISION);
    CHECK(r.time.count >= 30);

    gpumb_set_timing(g, GPUMB_TIMING_GRAPH); // a run that is longer than what others sample
    GPUMB_TIME(&r) {
        fake_run(0.1);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_NEAR(r.time.median, 0.1, 1e-4);
    CHECK_INT(fake_live_graphs, 0);

    // what is asked for is forgotten, and nobody else makes graphs
    const uint64_t captures = fake_calls[FAKE_CAPTURE_BEGIN];
    static const gpumb_timing others[] = {GPUMB_TIMING_AUTO, GPUMB_TIMING_EVENT, GPUMB_TIMING_BATCH,
                                          GPUMB_TIMING_HOST};
    GPUMB_TIME(&r) {
        fake_run(100e-6);
    }
    CHECK(r.timing != GPUMB_TIMING_GRAPH);
    for (gpumb_timing way : others) {
        gpumb_set_timing(g, way);
        GPUMB_TIME(&r) {
            fake_run(5e-6);
        }
        CHECK(r.timing != GPUMB_TIMING_GRAPH);
    }
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], captures);
    close_with(g, 0);
}

// A sample is the difference of two times over the difference in runs, nothing else: what the long
// graph alone pays shows, what both pay does not, not even when it drifts.
static void test_formula()
{
    const double t = 20e-6, more = 300e-6;
    gpumb *g = open_with(settings());
    gpumb_result r;
    uint64_t most = 0;
    on_launch = [&](const fake_graph *graph) {
        most = graph->runs > most ? graph->runs : most; // known behind the first few
        fake_graph_cost = 1e-6 + (launches.size() > 4 && graph->runs == most ? more : 0);
    };
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_TIME(&r) {
        fake_run(t);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_NEAR(r.time.median, t + fake_node_cost + more / (double)r.batch, tolerance(r));
    CHECK_INT(r.batch, difference());

    close_with(g, 0);

    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 100;
    g = open_with(s);
    on_launch = [&](const fake_graph *) { // it never falls, and jumps by far more than a run takes
        fake_graph_cost = 1e-3 * (double)(launches.size() / 8);
    };
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_TIME(&r) {
        fake_run(t);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_NEAR(r.time.median, t + fake_node_cost, tolerance(r));
    close_with(g, 0);
}

// Stamps that make no sense are left out, and said.
static void test_bad_times()
{
    for (double value : {0.0, -1e-3}) {
        gpumb_settings s = settings();
        s.min_samples = s.max_samples = 50;
        gpumb *g = open_with(s);
        gpumb_result r;
        fake_elapsed_every = 7;
        fake_elapsed_value = value;
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&r) {
            fake_run(10e-6);
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        if (r.timing == GPUMB_TIMING_GRAPH) {
            CHECK(r.flags & GPUMB_FLAG_BAD_TIME);
            CHECK_NEAR(r.time.median, 10e-6 + fake_node_cost, 2 * tolerance(r));
            CHECK_NEAR(r.time.min, 10e-6 + fake_node_cost, 2 * tolerance(r));
            CHECK_NEAR(r.time.max, 10e-6 + fake_node_cost, 2 * tolerance(r));
        }
        CHECK_INT(fake_live_graphs, 0);
        fake_elapsed_every = 0;
        close_with(g, 0);
    }
}

// ---- checks before and behind ----

struct observer {
    gpumb_buffer *out;
    std::string trace; // Poisoned or -, then Run, or G into a graph; Check
    int checks, fails_at;
};

static int observe_check(gpumb *g, void *user)
{
    observer *o = (observer *)user;
    o->trace += "C";
    CHECK(!fake_capturing);
    CHECK(fake_now >= fake_busy); // what is checked is complete
    CHECK_INT(GPUMB_PTR(unsigned char, o->out)[7], 0x11);
    if (++o->checks != o->fails_at)
        return 1;
    gpumb_reason(g, "byte %d is wrong", 7);
    return 0;
}

static void observe_run(observer *o)
{
    unsigned char *bytes = GPUMB_PTR(unsigned char, o->out);
    const int poisoned = is_poison(bytes, 100, 0);
    memset(bytes, 0x11, 100);
    o->trace += poisoned ? "P" : "-";
    o->trace += fake_capturing ? "G" : "R";
    fake_run(50e-6);
}

static void test_verification()
{
    for (int fails_at = 0; fails_at <= 2; fails_at++) {
        gpumb *g = open_with(settings());
        observer o = {gpumb_alloc(g, 100), "", 0, fails_at};
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        gpumb_set_output(g, o.out);
        gpumb_set_verify(g, observe_check, &o);
        GPUMB_MEASURE(g, "observed") {
            observe_run(&o);
        }
        const gpumb_result r = *gpumb_last_result(g);
        CHECK_STR(o.trace.substr(0, 3).c_str(), "PRC");
        if (fails_at == 1) {
            CHECK_STR(o.trace.c_str(), "PRC");
            CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], calibrated);
        } else if (CHECK(o.trace.size() > 6)) {
            CHECK_STR(o.trace.substr(o.trace.size() - 3).c_str(), "PRC");
            CHECK_INT(o.checks, 2);
            CHECK(o.trace.find("-G") != std::string::npos);
        }
        if (fails_at) {
            CHECK_INT(r.status, GPUMB_STATUS_FAILED);
            CHECK_INT(r.verified, 0);
            CHECK(strstr(r.reason, "byte 7 is wrong") != NULL);
        } else {
            check_graph_row(r, 50e-6 + fake_node_cost);
            CHECK_INT(r.verified, 1);
        }
        CHECK_INT(fake_live_graphs, 0);
        gpumb_result next;
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&next) {
            fake_run(30e-6);
        }
        check_graph_row(next, 30e-6 + fake_node_cost);
        close_with(g, fails_at ? GPUMB_EXIT_FAILED : GPUMB_EXIT_OK);
    }
}

// ---- where there are none ----

static void no_reset(gpumb *, void *user)
{
    ++*(int *)user;
}

static void test_ordinary()
{
    gpumb *g = open_with(settings());
    gpumb_result r;
    int resets = 0;
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    gpumb_set_reset(g, no_reset, &resets);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.timing, GPUMB_TIMING_EVENT);
    CHECK_INT(r.batch, 1);
    CHECK_INT(r.time.count, 10);
    CHECK_NEAR(r.time.median, 1e-3, 2e-6);
    CHECK(resets > 10);
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN],
              calibrated + WITNESSES / 2);   // see gpumbi_witness_end()
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH); // and this one again
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    check_graph_row(r, 1e-3 + fake_node_cost);
    close_with(g, 0);

    forget();
    fake_backend = "cpu";
    gpumb_settings s = settings();
    g = gpumb_open_settings("counted", &s);
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.timing, GPUMB_TIMING_HOST);
    CHECK_NEAR(r.time.median, 1e-3, 5e-6);
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], 0);
    close_with(g, 0);
}

static void check_fallback(gpumb *g, const gpumb_result &r)
{
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_STR(r.reason, "");
    CHECK(r.timing == GPUMB_TIMING_EVENT || r.timing == GPUMB_TIMING_BATCH);
    CHECK_INT(r.time.count, 10);
    CHECK_NEAR(r.time.median, 100e-6, 3e-6);
    CHECK_INT(fake_live_graphs, 0);
    CHECK(!fake_capturing);
    if (CHECK_INT(heard.size(), 1)) {
        CHECK(heard[0].find("graph") != std::string::npos);
        CHECK(heard[0].find_last_not_of('\n') < heard[0].find('\n')); // one line
    }
    heard.clear();
    gpumb_result next;
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_TIME(&next) {
        fake_run(30e-6);
    }
    check_graph_row(next, 30e-6 + fake_node_cost);
    check_silent();
}

static void test_no_capture()
{
    gpumb *g = open_with(settings());
    gpumb_result r;
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_MEASURE(g, "elsewhere") {
        if (!fake_capturing)
            fake_run(100e-6);
    }
    r = *gpumb_last_result(g);
    CHECK(!heard.empty() && heard[0].find("elsewhere") != std::string::npos);
    check_fallback(g, r);
    close_with(g, 0);

    // it launches into the first graph only, or into the second
    for (unsigned wanted = 0; wanted < 2; wanted++) {
        g = open_with(settings());
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&r) {
            if (!fake_capturing ||
                fake_calls[FAKE_CAPTURE_BEGIN] == calibrated + WITNESSES + 1 + wanted)
                fake_run(100e-6);
        }
        check_fallback(g, r);
        close_with(g, 0);
    }

    // refused: a capture that looks for work elsewhere, that of the first graph, or of the second
    for (fake_verb verb : {FAKE_CAPTURE_BEGIN, FAKE_CAPTURE_END}) {
        for (uint64_t at : {1, 2, WITNESSES + 1, WITNESSES + 2}) {
            for (fake_error error : {FAKE_REFUSED, FAKE_NO_MEMORY}) {
                g = open_with(settings());
                fake_fail_verb = verb;
                fake_fail_verb_at = at;
                fake_fail_error = error;
                gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
                GPUMB_TIME(&r) {
                    fake_run(100e-6);
                }
                CHECK_INT(fake_fail_verb_at, 0);
                check_fallback(g, r);
                close_with(g, 0);
            }
        }
    }

    // a launch that is refused is trouble of this row alone; a lost device ends everything
    for (uint64_t at = 1; at <= 22; at++) {
        for (fake_error error : {FAKE_REFUSED, FAKE_NO_MEMORY, FAKE_LOST}) {
            g = open_with(settings());
            fake_fail_verb = FAKE_GRAPH_LAUNCH;
            fake_fail_verb_at = at;
            fake_fail_error = error;
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_TIME(&r) {
                fake_run(100e-6);
            }
            if (fake_fail_verb_at)
                check_graph_row(r, 100e-6 + fake_node_cost);
            else if (CHECK(r.status != GPUMB_STATUS_OK))
                CHECK(r.reason[0]);
            CHECK_INT(fake_live_graphs, 0);
            const int lost = error == FAKE_LOST && !fake_fail_verb_at;
            CHECK_INT(gpumb_ok(g), !lost);
            fake_fail_verb_at = 0;
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_TIME(&r) {
                fake_run(30e-6);
            }
            if (!lost)
                check_graph_row(r, 30e-6 + fake_node_cost);
            const int code = gpumb_close(g);
            if (lost)
                CHECK_INT(code, GPUMB_EXIT_ERROR);
            else
                CHECK(code == GPUMB_EXIT_OK || code == GPUMB_EXIT_FAILED);
            check_clean();
        }
    }
    for (fake_verb verb : {FAKE_CAPTURE_BEGIN, FAKE_CAPTURE_END}) {
        for (uint64_t at = 1; at <= 2; at++) {
            g = open_with(settings());
            fake_fail_verb = verb;
            fake_fail_verb_at = at;
            fake_fail_error = FAKE_LOST;
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_TIME(&r) {
                fake_run(100e-6);
            }
            CHECK(r.status != GPUMB_STATUS_OK);
            CHECK_INT(fake_live_graphs, 0);
            CHECK(!gpumb_ok(g));
            close_with(g, GPUMB_EXIT_ERROR);
            CHECK(!heard.empty());
        }
    }
}

// ---- leaving the body ----

static void test_break()
{
    gpumb *g = open_with(settings());
    gpumb_result r;
    for (int way = 0; way < 4; way++) {
        int runs = 0, behind = 0;
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&r) {
            fake_run(200e-6);
            runs++;
            if (way == 1 || (way == 3 && runs % 2))
                continue;
            if (way == 2)
                break;
            behind++;
        }
        check_graph_row(r, 200e-6 + fake_node_cost);
        CHECK_INT(r.time.count, 10);
        CHECK_INT(behind, way == 0 ? runs : way == 3 ? runs / 2 : 0);
    }
    check_silent();
    close_with(g, 0);
}

// Leaves by `return` in run number `at`. Returns the number of runs.
static int leave(gpumb *g, int at, bool *into_graph)
{
    int runs = 0;
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    GPUMB_MEASURE(g, "left early") {
        fake_run(1e-3);
        *into_graph = fake_capturing != NULL;
        if (++runs == at)
            return runs;
    }
    return runs;
}

static int leave_interleaved(gpumb *g, int at, bool *into_graph)
{
    int runs = 0;
    GPUMB_INTERLEAVE(g) {
        for (int i = 0; i < 3; i++) { // the first by events
            if (i)
                gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "left early") {
                fake_run(1e-3);
                *into_graph = fake_capturing != NULL;
                if (++runs == at)
                    return runs;
            }
        }
    }
    return runs;
}

static void test_return()
{
    for (auto leaver : {leave, leave_interleaved}) {
        bool into_graph;
        int captured = 0, worked = 0, alive = 0;
        gpumb *g = open_with(settings());
        const int all = leaver(g, 0, &into_graph);
        close_with(g, 0);
        CHECK(all > 3);
        for (int at = 1; at <= all; at++) {
            g = open_with(settings());
            CHECK_INT(leaver(g, at, &into_graph), at);
            captured += into_graph;
            check_silent();
            gpumb_result r = gpumb_result();
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH); // this call reports, and the next works
            if (CHECK(!heard.empty())) {
                CHECK(heard[0].find("left early") != std::string::npos);
                CHECK(heard[0].find("return") != std::string::npos);
            }
            GPUMB_TIME(&r) {
                fake_run(2e-3);
            }
            worked += r.status == GPUMB_STATUS_OK && r.timing == GPUMB_TIMING_GRAPH &&
                      fabs(r.time.median - 2e-3 - fake_node_cost) < 1e-7;
            alive += fake_live_graphs;
            gpumb_close(g);
            check_clean();

            g = open_with(settings()); // the next call closes
            leaver(g, at, &into_graph);
            gpumb_close(g);
            CHECK(!heard.empty());
            check_clean();
        }
        CHECK(captured >= 3); // one for the short graph, at least two for the long one
        CHECK_INT(worked, all);
        CHECK_INT(alive, 0);
    }
}

// ---- interrupts and errors ----

__global__ void touch(int *to)
{
    if (!blockIdx.x && !threadIdx.x)
        ++*to;
}

enum trouble { INTERRUPTED, LOST, REFUSED, LAUNCH_REFUSED, SKIPPED, TROUBLES };

// Trouble in run number `at` of the body, or in launch number `launch` of a graph. Returns runs.
static int meet(gpumb *g, trouble what, int at, int launch, bool interleaved)
{
    int runs = 0, x = 0;
    on_launch = [&](const fake_graph *) {
        if ((int)launches.size() == launch && what == INTERRUPTED)
            raise(SIGINT);
    };
    const auto body = [&] {
        fake_run(1e-3);
        if (++runs != at)
            return;
        if (what == INTERRUPTED)
            raise(SIGINT);
        else if (what == LOST)
            fake_run_refused(FAKE_LOST);
        else if (what == REFUSED)
            fake_run_refused(FAKE_REFUSED);
        else if (what == LAUNCH_REFUSED)
            GPUMB_LAUNCH(touch, 1, 1000000, 0, &x);
        else
            gpumb_skip(g, "it rains");
    };
    if (interleaved) {
        GPUMB_INTERLEAVE(g) {
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "a") {
                body();
            }
            GPUMB_MEASURE(g, "b") {
                body();
            }
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, "c") {
                body();
            }
        }
    } else {
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "a") {
            body();
        }
    }
    on_launch = nullptr;
    return runs;
}

static int alive; // graphs behind regions

static void check_met(gpumb *g, trouble what)
{
    alive += fake_live_graphs;
    CHECK(!fake_capturing);
    CHECK_INT(gpumb_ok(g), what != INTERRUPTED && what != LOST);
    for (size_t i = 0; i < gpumb_row_count(g); i++) { // right, or it says why not
        const gpumb_result r = *gpumb_row(g, i);
        if (r.status == GPUMB_STATUS_OK)
            CHECK_NEAR(r.time.median, 1e-3, 5e-6);
        else
            CHECK(r.reason[0]);
    }
    if (what != INTERRUPTED && what != LOST) {
        gpumb_result next = gpumb_result();
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_TIME(&next) {
            fake_run(2e-3);
        }
        check_graph_row(next, 2e-3 + fake_node_cost);
    }
    const int code = gpumb_close(g);
    if (what == INTERRUPTED)
        CHECK_INT(code, GPUMB_EXIT_INTERRUPTED);
    else if (what == LOST)
        CHECK_INT(code, GPUMB_EXIT_ERROR);
    else
        CHECK(code == GPUMB_EXIT_OK || code == GPUMB_EXIT_FAILED);
    check_clean();
}

// A context that is quiet leaves interrupts to the program.
static void meet_one(trouble what, int at, int launch, bool interleaved)
{
    printed([&] {
        gpumb_settings s = settings();
        s.quiet = 0;
        gpumb *g = open_with(s);
        meet(g, what, at, launch, interleaved);
        check_met(g, what);
    });
    remove_files();
}

static void test_trouble()
{
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        gpumb *g = open_with(settings());
        const int all = meet(g, INTERRUPTED, 0, 0, interleaved);
        const int graphs = (int)launches.size();
        close_with(g, 0);
        for (int what = 0; what < TROUBLES; what++) {
            const int before = check_failed;
            alive = 0;
            for (int at = 1; at <= all && check_failed < before + 10; at++)
                meet_one((trouble)what, at, 0, interleaved);
            if (!CHECK_INT(alive, 0))
                printf("    trouble %d, interleaved %d\n", what, interleaved);
        }
        const int before = check_failed;
        alive = 0;
        for (int launch = 1; launch <= graphs && check_failed < before + 10; launch++)
            meet_one(INTERRUPTED, 0, launch, interleaved);
        CHECK_INT(alive, 0);
    }
}

// ---- interleaved ----

static void test_interleave()
{
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 60;
    gpumb *g = open_with(s);
    std::string trace;
    on_launch = [&](const fake_graph *graph) {
        trace += graph->seconds / (double)graph->runs < 50e-6 ? 'g' : 'h';
    };
    GPUMB_INTERLEAVE(g) {
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "short") {
            fake_run(5e-6);
        }
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
        GPUMB_MEASURE(g, "event") {
            if (!fake_capturing)
                trace += 'e';
            fake_run(1e-3);
        }
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "long") {
            fake_run(300e-6);
        }
    }
    if (CHECK_INT(heard.size(), 1))
        CHECK(heard[0].find("event is not compared with short") != std::string::npos);
    heard.clear();
    if (CHECK_INT(gpumb_row_count(g), 3)) {
        check_graph_row(*gpumb_row(g, 0), 5e-6 + fake_node_cost);
        CHECK_INT(gpumb_row(g, 1)->timing, GPUMB_TIMING_EVENT);
        CHECK_INT(gpumb_row(g, 1)->batch, 1);
        CHECK_NEAR(gpumb_row(g, 1)->time.median, 1e-3, 3e-6);
        check_graph_row(*gpumb_row(g, 2), 300e-6 + fake_node_cost);
        for (size_t i = 0; i < 3; i++)
            CHECK_INT(gpumb_row(g, i)->time.count, 60);
    }
    CHECK_INT(fake_live_graphs, 0);
    on_launch = nullptr;
    // in turn: a run of the event's region between samples of two graphs, never many of a kind
    std::string samples = trace.substr(trace.size() > 250 ? trace.size() - 250 : 0);
    char last = 0;
    int same = 0, most = 0;
    for (char c : samples) {
        same = c == last ? same + 1 : 1;
        most = same > most ? same : most;
        last = c;
    }
    if (!CHECK(most <= 4)) // the last of a round may be the first of the next
        printf("    %s\n", trace.c_str());

    // one alone; two; one that can't; one that is wrong
    gpumb_settings few = settings();
    gpumb_close(g);
    g = open_with(few);
    GPUMB_INTERLEAVE(g) {
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "alone") {
            fake_run(40e-6);
        }
    }
    GPUMB_INTERLEAVE(g) {
        for (int i = 1; i <= 2; i++) {
            gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
            GPUMB_MEASURE(g, i == 1 ? "one" : "two") {
                fake_run(20e-6 * i);
                if (i == 1)
                    continue;
                break;
            }
        }
    }
    check_silent();
    CHECK_INT(fake_live_graphs, 0);
    GPUMB_INTERLEAVE(g) {
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "can") {
            fake_run(20e-6);
        }
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        GPUMB_MEASURE(g, "can't") {
            if (!fake_capturing)
                fake_run(100e-6);
        }
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        gpumb_set_verify(
            g, [](gpumb *, void *user) { return (int)(++*(int *)user == 1); }, &same);
        same = 0;
        GPUMB_MEASURE(g, "wrong") {
            fake_run(20e-6);
        }
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        gpumb_skip(g, "it rains");
        GPUMB_MEASURE(g, "skipped") {
            fake_run(20e-6);
        }
    }
    if (CHECK_INT(gpumb_row_count(g), 7)) {
        check_graph_row(*gpumb_row(g, 0), 40e-6 + fake_node_cost);
        check_graph_row(*gpumb_row(g, 1), 20e-6 + fake_node_cost);
        check_graph_row(*gpumb_row(g, 2), 40e-6 + fake_node_cost);
        CHECK_INT(gpumb_row(g, 1)->time.count, gpumb_row(g, 2)->time.count);
        check_graph_row(*gpumb_row(g, 3), 20e-6 + fake_node_cost);
        CHECK_INT(gpumb_row(g, 4)->status, GPUMB_STATUS_OK);
        CHECK(gpumb_row(g, 4)->timing != GPUMB_TIMING_GRAPH);
        CHECK_NEAR(gpumb_row(g, 4)->time.median, 100e-6, 3e-6);
        CHECK_INT(gpumb_row(g, 6)->status, GPUMB_STATUS_SKIPPED);
    }
    CHECK_INT(fake_live_graphs, 0);
    CHECK_INT(heard.size(), 2); // one can't be captured, and so is not compared
    gpumb_close(g);
    check_clean();
}

// ---- all faults ----

static std::vector<gpumb_result> left; // the rows of the program

static int faulty()
{
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 6;
    s.warmup_s = 0.0003;
    s.csv = NULL;
    s.markdown = NULL;
    gpumb *g = gpumb_open_settings("counted", &s);
    gpumb_buffer *x = gpumb_alloc(g, 100);
    observer o = {x, "", 0, 0};
    left.clear();
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
    gpumb_set_bytes(g, 1e6);
    gpumb_set_expected(g, 100, 0.5);
    gpumb_set_output(g, x);
    if (x)
        gpumb_set_verify(g, observe_check, &o);
    GPUMB_MEASURE(g, "checked") {
        observe_run(&o); // 50 us
    }
    GPUMB_INTERLEAVE(g) {
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        gpumb_set_bytes(g, 1e6);
        GPUMB_MEASURE(g, "graph") {
            fake_run(50e-6);
        }
        gpumb_set_timing(g, GPUMB_TIMING_GRAPH);
        gpumb_set_bytes(g, 1e6);
        GPUMB_MEASURE(g, "another") {
            fake_run(50e-6);
        }
    }
    gpumb_note(g, "the %s end", "very");
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        left.push_back(*gpumb_row(g, i));
    return gpumb_close(g);
}

// `codes`: those allowed, as bits.
static void check_fault(unsigned codes, const char *what, uint64_t k)
{
    const int before = check_failed;
    remove_files();
    live_allocations = fake_closed();
    const int code = faulty();
    CHECK(code >= 0 && code < 8 && (codes >> code & 1));
    check_clean();
    CHECK(code == GPUMB_EXIT_OK || code == GPUMB_EXIT_FAILED || !heard.empty());
    CHECK(left.size() <= 3);
    if (code == GPUMB_EXIT_OK || code == GPUMB_EXIT_FAILED) {
        CHECK_INT(left.size(), 3);
        CHECK(exists("x.json"));
        CHECK_INT(notes_of(read_json(read_file("x.json"))).size(), 1);
    } else {
        CHECK(!exists("x.json"));
    }
    for (const gpumb_result &r : left) {
        if (r.status != GPUMB_STATUS_OK) {
            CHECK(r.reason[0]);
            CHECK_NEAR(r.gbps + r.measured_pct, 0, 0);
        } else if (r.timing == GPUMB_TIMING_GRAPH) {
            CHECK_NEAR(r.time.median, 50e-6 + fake_node_cost, tolerance(r));
        } else {
            CHECK_NEAR(r.time.median, 50e-6, 2e-6);
        }
    }
    if (check_failed != before)
        printf("    %s %llu: exit code %d, said %s\n", what, (unsigned long long)k, code,
               heard.empty() ? "nothing" : heard[0].c_str());
}

static void test_faults()
{
    static const char *const names[] = {"", "refused call", "call without memory", "lost at call"};
    const unsigned trouble = 1u << GPUMB_EXIT_NO_DEVICE | 1u << GPUMB_EXIT_ERROR;
    const unsigned done = 1u << GPUMB_EXIT_OK | 1u << GPUMB_EXIT_FAILED;
    forget();
    check_fault(1u << GPUMB_EXIT_OK, "without a fault", 0);
    const long all = allocations;
    uint64_t calls = 0;
    CHECK_INT(left.size(), 3);
    check_silent();
    for (int verb = 0; verb < FAKE_VERBS; verb++)
        calls += fake_calls[verb];
    for (int error = FAKE_REFUSED; error <= FAKE_LOST; error++) {
        uint64_t k = 1;
        for (int failed = 1; failed && check_failed < 200; k++) {
            forget();
            fake_fail_at = k;
            fake_fail_error = (fake_error)error;
            check_fault(trouble | done, names[error], k);
            failed = !fake_fail_at; // there was such a call
            if (failed && error == FAKE_LOST && !CHECK(fake_lost))
                break;
        }
        CHECK(k > 100 && k <= calls);
    }
    for (int verb = 0; verb < FAKE_VERBS; verb++) {
        forget();
        faulty();
        const uint64_t times = fake_calls[verb];
        for (uint64_t k = 1; k <= times && k <= 3 && check_failed < 200; k++) {
            forget();
            fake_fail_verb = (fake_verb)verb;
            fake_fail_verb_at = k;
            fake_fail_error = FAKE_LOST;
            const unsigned codes = verb == FAKE_COUNT  ? 1u << GPUMB_EXIT_NO_DEVICE
                                   : verb == FAKE_OPEN ? trouble
                                                       : 1u << GPUMB_EXIT_ERROR;
            if (verb == FAKE_FREE || verb == FAKE_CLOCK || verb == FAKE_STREAM_DESTROY ||
                verb == FAKE_EVENT_DESTROY || verb == FAKE_GRAPH_DESTROY)
                continue; // these can't fail
            check_fault(codes, "lost at a verb's call", k);
        }
    }
    for (long k = 1; k <= all && check_failed < 200; k++) {
        forget();
        fail_allocation = k;
        check_fault(done | 1u << GPUMB_EXIT_ERROR, "allocation", (uint64_t)k);
    }
    remove_files();
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    const std::string folder = make_folder("gpumb-graphs");
    if (!CHECK(chdir(folder.c_str()) == 0))
        return CHECK_SUMMARY();
    gpumb_cpu_set_workers(1);
    test_median();
    test_defaults();
    test_formula();
    test_bad_times();
    test_verification();
    test_ordinary();
    test_no_capture();
    test_break();
    test_return();
    test_trouble();
    test_interleave();
    test_faults();
    remove_files();
    unlink("out");
    CHECK(rmdir(folder.c_str()) == 0);
    return CHECK_SUMMARY();
}

// test_graphs.cpp - regions timed by graphs; what a model expects; rows and notes for conclusions.
#include "allocations.h"
#include "no_disk.h"
static void hear(const char *text);
#define GPUMB_LOG(text) hear(text)
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#define gpumbi_dev_graph_launch fake_graph_launch // the tests look on, see below
#include "fake.h"
#undef gpumbi_dev_graph_launch

#include "check.h"
#include "printed.h"
#include "read_file.h"
#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <math.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// ---- what the tests see and do behind the library's back ----

static std::vector<std::string> heard; // lines that gpumb.h has said
static std::vector<uint64_t> launches; // how many runs each launched graph holds
static std::function<void(const fake_graph *)> on_launch;

static void hear(const char *text)
{
    heard.push_back(text);
}

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

static gpumb *open_with(const gpumb_settings &s)
{
    forget();
    gpumb *g = gpumb_open_settings("test_graphs", &s);
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

static void close_with(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    check_clean();
}

static void check_silent()
{
    if (!CHECK_INT(heard.size(), 0))
        printf("    %s\n", heard[0].c_str());
}

static std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines(1);
    for (char c : text) {
        if (c == '\n')
            lines.push_back("");
        else
            lines.back() += c;
    }
    return lines;
}

// The number of the first line that has `part` (behind a line break: at its beginning), or, but for
// blanks before it, is it if `whole`; -1.
static int line_with(const std::string &text, const std::string &part, bool whole = false)
{
    const std::vector<std::string> lines = lines_of(text);
    for (size_t i = 0; i < lines.size(); i++) {
        const std::string line = "\n" + lines[i];
        const size_t first = std::min(lines[i].find_first_not_of(' '), lines[i].size());
        if (whole ? lines[i].substr(first) == part : line.find(part) != std::string::npos)
            return (int)i;
    }
    return -1;
}

static int times_in(const std::string &text, const std::string &part)
{
    int times = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        times++;
    return times;
}

static bool exists(const char *name)
{
    struct stat s;
    return stat(name, &s) == 0;
}

static void remove_files()
{
    for (const char *name : {"x.csv", "x.json", "x.md"})
        remove_file(name);
}

// ---- JSON, strictly as RFC 8259 has it ----

struct json {
    char kind; // { [ " 0 (number) t f n, or ! for what is none
    std::string text;
    std::vector<std::string> keys;
    std::vector<json> items;

    const json *get(const char *key) const
    {
        for (size_t i = 0; i < keys.size(); i++)
            if (keys[i] == key)
                return &items[i];
        return NULL;
    }
};

static void json_blanks(const char **p)
{
    *p += strspn(*p, " \t\r\n");
}

static bool json_string(const char **p, std::string *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (*(*p)++ != '"')
        return false;
    for (; **p != '"'; (*p)++) {
        if ((unsigned char)**p < 0x20) // the end of the text is one of them
            return false;
        if (**p != '\\') {
            *out += **p;
            continue;
        }
        (*p)++;
        const char *letter = **p ? strchr(letters, **p) : NULL;
        if (letter) {
            *out += meant[letter - letters];
        } else if (**p == 'u' && strspn(*p + 1, "0123456789abcdefABCDEF") >= 4) {
            const long code = strtol(std::string(*p + 1, 4).c_str(), NULL, 16);
            *out += code < 0x80 ? (char)code : '?'; // no test needs others
            *p += 4;
        } else {
            return false;
        }
    }
    return (*p)++, true;
}

static json json_value(const char **p)
{
    json value = {'!', "", {}, {}};
    json_blanks(p);
    const char first = **p;
    if (first == '"') {
        value.kind = json_string(p, &value.text) ? '"' : '!';
    } else if (first == '{' || first == '[') {
        const char end = first == '{' ? '}' : ']';
        (*p)++;
        json_blanks(p);
        for (bool more = **p != end; more;) {
            std::string key;
            json_blanks(p);
            if (first == '{') {
                if (!json_string(p, &key))
                    return value;
                json_blanks(p);
                if (*(*p)++ != ':')
                    return value;
                value.keys.push_back(key);
            }
            value.items.push_back(json_value(p));
            if (value.items.back().kind == '!')
                return value;
            json_blanks(p);
            more = **p == ',';
            if (!more && **p != end)
                return value;
            *p += more;
        }
        (*p)++;
        value.kind = first;
    } else if (!strncmp(*p, "true", 4) || !strncmp(*p, "null", 4)) {
        *p += 4;
        value.kind = first;
    } else if (!strncmp(*p, "false", 5)) {
        *p += 5;
        value.kind = first;
    } else if (first == '-' || (first >= '0' && first <= '9')) {
        char *end;
        value.text = std::string(*p, strspn(*p, "0123456789+-.eE"));
        strtod(value.text.c_str(), &end);
        *p += value.text.size();
        value.kind = *end ? '!' : '0';
    }
    return value;
}

static json read_json(const std::string &text)
{
    const char *p = text.c_str();
    json value = json_value(&p);
    json_blanks(&p);
    if (*p || value.kind != '{')
        value.kind = '!';
    if (!CHECK(value.kind == '{'))
        printf("    at %.60s\n", p);
    return value;
}

static std::vector<std::string> notes_of(const json &file)
{
    std::vector<std::string> notes;
    const json *list = file.get("notes");
    if (CHECK(list && list->kind == '['))
        for (const json &note : list->items) {
            CHECK(note.kind == '"');
            notes.push_back(note.text);
        }
    return notes;
}

// Field `key` of row `row` as text; "null" where it is null.
static std::string json_field(const json &file, size_t row, const char *key)
{
    const json *rows = file.get("rows");
    const json *field = rows && row < rows->items.size() ? rows->items[row].get(key) : NULL;
    return !field ? "(missing)" : field->kind == 'n' ? "null" : field->text;
}

static bool is_utf8(const std::string &text)
{
    int more = 0;
    for (char c : text) {
        const unsigned char byte = (unsigned char)c;
        if ((byte & 0xc0) == 0x80) {
            if (!more--)
                return false;
        } else if (more) {
            return false;
        } else {
            more = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        }
    }
    return !more;
}

// ---- graphs: the time of a run ----

// Stamps are rounded: each of the four in a sample by half a quantum at most.
static double tolerance(const gpumb_result &r)
{
    return 2 * fake_quantum / (double)r.batch + 1e-7 * r.time.median;
}

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
            gpumb *g = gpumb_open_settings("test_graphs", &s);
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

// ---- graphs: checks before and behind ----

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
    const int poisoned = std::all_of(bytes, bytes + 100, [](unsigned char b) { return b == 0xff; });
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

// ---- graphs: where there are none ----

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
    CHECK_INT(fake_calls[FAKE_CAPTURE_BEGIN], calibrated);
    gpumb_set_timing(g, GPUMB_TIMING_GRAPH); // and this one again
    GPUMB_TIME(&r) {
        fake_run(1e-3);
    }
    check_graph_row(r, 1e-3 + fake_node_cost);
    close_with(g, 0);

    forget();
    fake_backend = "cpu";
    gpumb_settings s = settings();
    g = gpumb_open_settings("test_graphs", &s);
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
            if (!fake_capturing || fake_calls[FAKE_CAPTURE_BEGIN] == calibrated + 1 + wanted)
                fake_run(100e-6);
        }
        check_fallback(g, r);
        close_with(g, 0);
    }

    // refused: the first of the two, or the second
    for (fake_verb verb : {FAKE_CAPTURE_BEGIN, FAKE_CAPTURE_END}) {
        for (uint64_t at = 1; at <= 2; at++) {
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

// ---- graphs: leaving the body ----

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

// ---- graphs: interrupts and errors ----

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

// ---- graphs: interleaved ----

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

// ---- graphs: all faults ----

static std::vector<gpumb_result> left; // the rows of the program

static int faulty()
{
    gpumb_settings s = settings();
    s.min_samples = s.max_samples = 6;
    s.warmup_s = 0.0003;
    s.csv = NULL;
    s.markdown = NULL;
    gpumb *g = gpumb_open_settings("test_graphs", &s);
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

// ---- what a model expects ----

static void expect(gpumb *g, double bytes, double flop, double reference, double share,
                   const char *name)
{
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, flop);
    gpumb_set_expected(g, reference, share);
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, name) {
        fake_run(1e-3 - fake_floor);
    }
}

static void test_expected()
{
    gpumb_settings s = settings();
    s.quiet = 0;
    forget();
    fake_quantum = 0;
    fake_floor = 0.5e-6;
    fake_launch_cost = 0; // a span is the run and one event's cost
    gpumb *g = NULL;
    std::vector<gpumb_result> rows;
    gpumb_result once = gpumb_result();
    const std::string table = printed([&] {
        g = gpumb_open_settings("test_graphs", &s);
        expect(g, 131e6, 0, 1000, 0.125, "bytes"); // 131 GB/s of 1000
        expect(g, 0, 131e6, 200, 0.5, "flop");     // 131 GFLOP/s of 200
        expect(g, 100e6, 500e6, 1000, 2, "both");  // bytes count
        expect(g, 0, 0, 1000, 0.125, "neither");
        GPUMB_MEASURE(g, "forgotten") {
            fake_run(1e-3);
        }
        for (double bad : {0.0, -1.0, (double)NAN}) {
            expect(g, 131e6, 0, bad, 0.125, "bad reference");
            expect(g, 131e6, 0, 1000, bad, "bad share");
        }
        gpumb_skip(g, "it rains");
        expect(g, 131e6, 0, 1000, 0.125, "skipped");
        gpumb_set_bytes(g, 131e6);
        GPUMB_MEASURE(g, "behind it") {
            fake_run(1e-3);
        }
        gpumb_set_verify(
            g, [](gpumb *, void *) { return 0; }, NULL);
        expect(g, 131e6, 0, 1000, 0.125, "failed");
        GPUMB_INTERLEAVE(g) {
            expect(g, 131e6, 0, 1000, 0.125, "first lane");
            gpumb_set_bytes(g, 131e6);
            GPUMB_MEASURE(g, "second lane") {
                fake_run(1e-3);
            }
            expect(g, 131e6, 0, 500, 0.25, "third lane");
        }
        for (size_t i = 0; i < gpumb_row_count(g); i++)
            rows.push_back(*gpumb_row(g, i));
        gpumb_set_bytes(g, 131e6);
        gpumb_set_expected(g, 1000, 0.125);
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
        GPUMB_TIME(&once) {
            fake_run(1e-3 - fake_floor);
        }
    });
    static const struct {
        const char *name;
        double reference, expected, measured;
    } right[] = {
        {"bytes", 1000, 12.5, 13.1}, {"flop", 200, 50, 65.5},      {"both", 1000, 200, 10},
        {"neither", 1000, 12.5, 0},  {"forgotten", 0, 0, 0},       {"bad reference", 0, 0, 0},
        {"bad share", 0, 0, 0},      {"bad reference", 0, 0, 0},   {"bad share", 0, 0, 0},
        {"bad reference", 0, 0, 0},  {"bad share", 0, 0, 0},       {"skipped", -1, -1, 0},
        {"behind it", 0, 0, 0},      {"failed", -1, -1, 0},        {"first lane", 1000, 12.5, 13.1},
        {"second lane", 0, 0, 0},    {"third lane", 500, 25, 26.2}};
    const size_t count = sizeof right / sizeof right[0];
    const std::string printed_once = printed([&] { gpumb_print_result(&once); });
    const std::string printed_none = printed([&] { gpumb_print_result(&rows[4]); });
    CHECK(printed_once.find("expected 12.5 %, measured 13.1 %") != std::string::npos ||
          !printf("    %s\n", printed_once.c_str()));
    CHECK_INT(lines_of(printed_once).size(), 2); // one line
    CHECK(printed_none.find("expected") == std::string::npos);
    printed([&] { close_with(g, GPUMB_EXIT_FAILED); });
    check_clean();

    const json file = read_json(read_file("x.json"));
    const std::string csv = read_file("x.csv");
    const std::vector<std::string> csv_lines = lines_of(csv);
    CHECK(csv_lines[0].find(",pct_ceiling,reference,expected_pct,measured_pct,footprint_bytes,") !=
          std::string::npos);
    CHECK_INT(rows.size(), count);
    CHECK_INT(fake_csv_rows("x.csv"), count);
    static const char *const names[] = {"reference", "expected_pct", "measured_pct"};
    for (size_t i = 0; i < count && i < rows.size(); i++) {
        const gpumb_result &r = rows[i];
        const double figures[] = {r.reference, r.expected_pct, r.measured_pct};
        const double wanted[] = {right[i].reference, right[i].expected, right[i].measured};
        const int before = check_failed;
        CHECK_STR(r.kernel, right[i].name);
        for (int j = 0; j < 3; j++) {
            const char *field = fake_csv("x.csv", (int)i, names[j]);
            const std::string other = json_field(file, i, names[j]);
            if (wanted[j] < 0) // of a row without a time: stated, or not
                continue;
            CHECK_NEAR(figures[j], wanted[j], 1e-6 * wanted[j] + (j == 2 ? 1e-3 : 0));
            CHECK_NEAR(atof(field), wanted[j], 1e-3);
            CHECK((*field != 0) == (wanted[j] > 0));
            if (wanted[j] > 0)
                CHECK_NEAR(atof(other.c_str()), wanted[j], 1e-3);
            else
                CHECK_STR(other.c_str(), "null");
        }
        if (check_failed != before)
            printf("    row %d, %s\n", (int)i, right[i].name);
    }
    static const struct {
        const char *name, *text;
    } said[] = {{"bytes ", "expected 12.5 %, measured 13.1 %"},
                {"flop ", "expected 50.0 %, measured 65.5 %"},
                {"both ", "expected 200.0 %, measured 10.0 %"},
                {"first lane ", "expected 12.5 %, measured 13.1 %"},
                {"third lane ", "expected 25.0 %, measured 26.2 %"}};
    for (const auto &s1 : said) {
        const int line = line_with(table, std::string("\n") + s1.name);
        if (CHECK(line >= 0) &&
            !CHECK(lines_of(table)[(size_t)line].find(s1.text) != std::string::npos))
            printf("    %s\n", lines_of(table)[(size_t)line].c_str());
    }
    for (const char *name : {"forgotten ", "bad reference ", "bad share ", "skipped ", "behind it ",
                             "failed ", "second lane "}) {
        const int line = line_with(table, std::string("\n") + name);
        CHECK(line >= 0 && lines_of(table)[(size_t)line].find("measured") == std::string::npos);
    }
    CHECK_INT(times_in(table, "measured"), 5);
    remove_files();
}

// ---- rows ----

struct pass { // what a benchmark saw at one place
    int call;
    size_t count;
    int64_t values[2];
};
static std::vector<pass> seen;
static int first_calls, second_calls;
static size_t rows_at_end;

static void check_none(gpumb *g)
{
    CHECK_INT(gpumb_row_count(g), 0);
    CHECK(gpumb_row(g, 0) == NULL);
    CHECK_INT(gpumb_row_axis(g, 0, "n"), -1);
}

static void first_benchmark(gpumb *g)
{
    const int call = ++first_calls;
    GPUMB_SWEEP_LIST(g, n, 10, 20, 30) {
        GPUMB_SWEEP_NAMES(g, form, "naive", "fast") {
            if (!gpumb_alloc(g, 16)) // it enumerates, the second time too
                check_none(g);
            else
                seen.push_back({call, gpumb_row_count(g), {n, form}});
            if (n == 20 && form == 1)
                gpumb_skip(g, "not this one");
            GPUMB_MEASURE(g, "one") {
                fake_run((double)n * 1e-6 * (form ? 1 : 2));
            }
        }
    }
    if (call == 1) {
        check_none(g);
        return;
    }
    if (!CHECK_INT(gpumb_row_count(g), seen.size()))
        return;
    for (size_t i = 0; i < seen.size(); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const int64_t n = seen[i].values[0], form = seen[i].values[1];
        CHECK_INT(seen[i].count, i);
        CHECK_STR(r->bench, "first");
        CHECK_STR(r->kernel, "one");
        CHECK_INT(gpumb_row_axis(g, i, "n"), n);
        CHECK_INT(gpumb_row_axis(g, i, "form"), form);
        CHECK_INT(gpumb_row_axis(g, i, "stride"), -1);
        CHECK_INT(gpumb_row_axis(g, i, ""), -1);
        CHECK_INT(gpumb_row_axis(g, i, "nn"), -1);
        if (n == 20 && form == 1) {
            CHECK_INT(r->status, GPUMB_STATUS_SKIPPED);
            CHECK_STR(r->reason, "not this one");
        } else {
            CHECK_INT(r->status, GPUMB_STATUS_OK);
            CHECK_NEAR(r->time.median, (double)n * 1e-6 * (form ? 1 : 2), 1.2e-6);
        }
    }
    CHECK(gpumb_last_result(g) == gpumb_row(g, seen.size() - 1));
    CHECK(gpumb_row(g, seen.size()) == NULL);
    CHECK(gpumb_row(g, SIZE_MAX) == NULL);
    CHECK_INT(gpumb_row_axis(g, seen.size(), "n"), -1);
    CHECK_INT(gpumb_row_axis(g, SIZE_MAX, "n"), -1);
}

static void second_benchmark(gpumb *g)
{
    const int call = ++second_calls;
    const size_t before = seen.size();
    GPUMB_SWEEP_RANGE(g, stride, 0, 2, 1) { // a value may be 0
        GPUMB_SWEEP_LIST(g, form, 7, 9) {   // the name of another benchmark's axis
            if (!gpumb_alloc(g, 16))
                check_none(g);
            else
                CHECK_INT(gpumb_row_count(g), before + (size_t)(stride * 2 + (form == 9)));
            GPUMB_MEASURE(g, "two") {
                fake_run(100e-6);
            }
        }
    }
    if (call > 1)
        GPUMB_MEASURE(g, "without axes") {
            fake_run(100e-6);
        }
    rows_at_end = gpumb_row_count(g);
    if (call == 1) {
        check_none(g);
        return;
    }
    CHECK(gpumb_row_count(NULL) == rows_at_end); // NULL is the context that was used last
    if (!CHECK_INT(rows_at_end, before + 7))
        return;
    for (size_t i = 0; i < rows_at_end; i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const size_t j = i - before;
        CHECK_STR(r->bench, i < before ? "first" : "second");
        CHECK_STR(r->kernel, i < before ? "one" : j == 6 ? "without axes" : "two");
        CHECK_INT(gpumb_row_axis(g, i, "n"), i < before ? seen[i].values[0] : -1);
        CHECK_INT(gpumb_row_axis(g, i, "stride"), i < before || j == 6 ? -1 : (int64_t)j / 2);
        CHECK_INT(gpumb_row_axis(g, i, "form"), i < before ? seen[i].values[1]
                                                : j == 6   ? -1
                                                : j % 2    ? 9
                                                           : 7);
    }
}

static const gpumb_benchmark two[] = {{"first", "a sweep with names", first_benchmark},
                                      {"second", "another sweep", second_benchmark}};

static int run_main(const gpumb_benchmark *list, size_t count, std::vector<std::string> arguments)
{
    std::vector<char *> argv;
    forget();
    arguments.insert(arguments.begin(), {"test_graphs", "--samples", "10:10", "--warmup", "0.001"});
    for (std::string &argument : arguments)
        argv.push_back(&argument[0]);
    argv.push_back(NULL);
    return gpumb_main((int)arguments.size(), argv.data(), list, count);
}

static int run_benchmarks(size_t count, const std::vector<std::string> &arguments)
{
    int code = -1;
    seen.clear();
    first_calls = second_calls = 0;
    rows_at_end = 0;
    printed([&] { code = run_main(two, count, arguments); });
    check_clean();
    return code;
}

static void test_rows()
{
    CHECK_INT(run_benchmarks(2, {}), 0);
    CHECK(first_calls > 1 && second_calls > 1);
    CHECK_INT(seen.size(), 6);
    CHECK_INT(rows_at_end, 13);
    // replaced values: what the body got is what the row has
    CHECK_INT(run_benchmarks(2, {"--axis", "n=15,25", "--filter", "first"}), 0);
    CHECK_INT(seen.size(), 4);
    CHECK_INT(run_benchmarks(1, {"--axis", "form=fast"}), 0);
    CHECK_INT(seen.size(), 3);
    for (const pass &p : seen)
        CHECK_INT(p.values[1], 1);

    // a program of its own: no rows at all, a region without a row, two sweeps
    gpumb_settings s = settings();
    gpumb *g = open_with(s);
    gpumb_result once;
    check_none(g);
    CHECK(gpumb_last_result(g) == NULL);
    GPUMB_TIME(&once) {
        fake_run(1e-3);
    }
    check_none(g);
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        gpumb_buffer *b = gpumb_alloc(g, 16); // there is none while the sweep enumerates
        CHECK_INT(gpumb_row_count(g), b ? n - 1 : 0);
        GPUMB_MEASURE(g, "n") {
            fake_run(1e-3);
        }
    }
    CHECK_INT(gpumb_row_count(g), 3);
    GPUMB_SWEEP_LIST(g, m, 1, 2, 3) {
        gpumb_buffer *b = gpumb_alloc(g, 16);
        if (!b)
            check_none(g);
        else
            CHECK_INT(gpumb_row_count(g), 2 + m);
        GPUMB_MEASURE(g, "m") {
            fake_run(1e-3);
        }
    }
    if (CHECK_INT(gpumb_row_count(g), 6))
        for (int i = 0; i < 6; i++) {
            CHECK_INT(gpumb_row_axis(g, (size_t)i, "n"), i < 3 ? i + 1 : -1);
            CHECK_INT(gpumb_row_axis(g, (size_t)i, "m"), i < 3 ? -1 : i - 2);
        }
    close_with(g, 0);

    g = open_with(s); // many, so that they move
    GPUMB_SWEEP_RANGE(g, i, 0, 199, 1) {
        GPUMB_MEASURE(g, "many") {
            fake_run(1e-6 * (double)(i + 10));
        }
    }
    CHECK_INT(gpumb_row_count(g), 200);
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        CHECK_INT(gpumb_row_axis(g, i, "i"), (int64_t)i);
        CHECK_NEAR(gpumb_row(g, i)->time.median, 1e-6 * (double)(i + 10), 1.2e-6);
    }
    close_with(g, 0);
    remove_files();
}

// ---- notes ----

static const char special[] = "a \"quoted\" back\\slash, tab\tand | bar";
static const char as_shown[] = "a \"quoted\" back\\slash, tab and | bar";

static void noting_first(gpumb *g)
{
    gpumb_note(g, "before the sweep");
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        GPUMB_MEASURE(g, "row of the first") {
            fake_run(100e-6);
        }
        gpumb_note(g, "n is %d", (int)n);
    }
    gpumb_note(g, "the %s of %d rows takes %.1f us", "second", (int)gpumb_row_count(g),
               gpumb_row_count(g) ? gpumb_last_result(g)->time.median * 1e6 : 0);
}

static void noting_second(gpumb *g)
{
    GPUMB_MEASURE(g, "row of the second") {
        fake_run(100e-6);
    }
    gpumb_note(g, "%s", special);
    gpumb_note(g, "100 %% done");
}

static void quiet_benchmark(gpumb *g)
{
    GPUMB_MEASURE(g, "row") {
        fake_run(100e-6);
    }
}

static const gpumb_benchmark noting[] = {{"first", "notes on a sweep", noting_first},
                                         {"second", "notes on a region", noting_second},
                                         {"quiet", "no notes", quiet_benchmark}};

static void test_notes()
{
    int code = -1;
    const std::vector<std::string> files = {"--csv", "x.csv", "--json", "x.json", "--md", "x.md"};
    std::string text = printed([&] { code = run_main(noting, 2, files); });
    CHECK_INT(code, 0);
    check_clean();
    check_silent();
    const json file = read_json(read_file("x.json"));
    const std::vector<std::string> notes = notes_of(file);
    const char *const right[] = {"before the sweep",     "n is 1", "n is 2",
                                 "the second of 2 rows", as_shown, "100 % done"};
    const std::string md = read_file("x.md");
    int line = -1, md_line = -1;
    if (CHECK_INT(notes.size(), 6))
        for (size_t i = 0; i < 6; i++) {
            const char *const kept = i == 4 ? special : right[i]; // files keep what was said
            CHECK(notes[i].compare(0, strlen(kept), kept) == 0);
            CHECK_INT(times_in(text, right[i]), 1); // not while it enumerates
            CHECK(line_with(text, right[i]) > line);
            line = line_with(text, right[i]);
            CHECK_INT(times_in(md, std::string("- ") + right[i]), 1);
            CHECK(line_with(md, std::string("- ") + right[i]) > md_line);
            md_line = line_with(md, std::string("- ") + right[i]);
        }
    // below the tables: of the benchmark, and of all in the file
    const std::vector<std::string> lines = lines_of(text), md_lines = lines_of(md);
    for (size_t i = 0; i < lines.size(); i++) {
        if (lines[i].find("row of the first") != std::string::npos)
            CHECK((int)i < line_with(text, "the second of 2 rows"));
        if (lines[i].find("row of the second") != std::string::npos)
            CHECK((int)i < line_with(text, as_shown));
    }
    for (size_t i = 0; i < md_lines.size(); i++)
        if (md_lines[i][0] == '|')
            CHECK((int)i < line_with(md, "- before the sweep"));
    CHECK(times_in(read_file("x.csv"), "done") == 0);
    const int first = line_with(md, "- before the sweep"); // a list needs a blank line before it
    CHECK(first > 0 && md_lines[(size_t)first - 1].empty());

    // none
    text = printed([&] {
        std::vector<std::string> arguments = files;
        arguments.insert(arguments.end(), {"--filter", "quiet"});
        code = run_main(noting, 3, arguments);
    });
    CHECK_INT(code, 0);
    CHECK(notes_of(read_json(read_file("x.json"))).empty());
    CHECK_INT(line_with(read_file("x.md"), "- "), -1);
    CHECK(line_with(text, "row") >= 0);

    // standard output is the file: nothing else is there
    text = printed([&] { code = run_main(noting, 2, {"--json", "-"}); });
    CHECK_INT(code, 0);
    CHECK_INT(notes_of(read_json(text)).size(), 6);
    check_clean();

    // quiet
    gpumb_settings s = settings();
    text = printed([&] {
        gpumb *g = open_with(s);
        GPUMB_MEASURE(g, "row") { // without rows there is no file
            fake_run(1e-3);
        }
        gpumb_note(NULL, "not on standard output");
        close_with(g, 0);
    });
    CHECK_INT(times_in(text, "not on"), 0);
    CHECK_INT(notes_of(read_json(read_file("x.json"))).size(), 1);
    remove_files();
}

// A note is one line, however its text looks.
static void test_note_texts()
{
    gpumb_settings s = settings();
    s.quiet = 0;
    std::string controls, escaped;
    for (char c = 1; c < 0x20; c++)
        controls += c;
    std::string text = printed([&] {
        gpumb *g = open_with(s);
        gpumb_note(g, "two\nlines");
        gpumb_note(g, "<%s>", controls.c_str());
        gpumb_note(g, "%s", "%s %n %d");
        gpumb_note(g, "gr\xc3\xbc\xc3\x9f");
        GPUMB_MEASURE(g, "row") {
            fake_run(1e-3);
        }
        close_with(g, 0);
    });
    const json file = read_json(read_file("x.json"));
    const std::vector<std::string> notes = notes_of(file);
    if (CHECK_INT(notes.size(), 4)) {
        CHECK(notes[0].compare(0, 3, "two") == 0 && notes[0].size() == 9);
        CHECK(notes[1][0] == '<' && notes[1].back() == '>');
        CHECK_STR(notes[2].c_str(), "%s %n %d");
        CHECK_STR(notes[3].c_str(), "gr\xc3\xbc\xc3\x9f");
    }
    CHECK(text.find("two\nlines") == std::string::npos);
    CHECK(read_file("x.md").find("two\nlines") == std::string::npos);
    CHECK(line_with(text, "%s %n %d", true) >= 0);

    // cut, not overflowed, and not inside a character
    int broken[3] = {0, 0, 0};
    for (size_t length :
         {199u, 200u, 255u, 256u, 511u, 512u, 1000u, 1023u, 1024u, 4096u, 100000u}) {
        for (size_t shift = 0; shift < 3; shift++) {
            std::string note(shift, 'x');
            while (note.size() < length)
                note += "\xe2\x82\xac";
            const std::string plain(length, 'y');
            text = printed([&] {
                gpumb *g = open_with(s);
                GPUMB_MEASURE(g, "row") {
                    fake_run(1e-3);
                }
                gpumb_note(g, "%s", note.c_str());
                gpumb_note(g, "%s%s", plain.c_str(), plain.c_str());
                gpumb_note(g, "the next");
                close_with(g, 0);
            });
            const std::string written = read_file("x.json");
            broken[0] += !is_utf8(text);
            broken[1] += !is_utf8(written);
            broken[2] += !is_utf8(read_file("x.md"));
            const std::vector<std::string> cut = notes_of(read_json(written));
            if (CHECK_INT(cut.size(), 3)) {
                CHECK(cut[0].compare(0, 150, note, 0, 150) == 0);
                CHECK(cut[0].size() <= note.size());
                CHECK(cut[1].compare(0, 150, plain + plain, 0, 150) == 0);
                CHECK(cut[1].size() <= 2 * length);
                CHECK_STR(cut[2].c_str(), "the next");
            }
            CHECK(line_with(text, "the next", true) >= 0);
        }
    }
    CHECK_INT(broken[0], 0); // JSON has to be UTF-8 (RFC 8259, section 8.1)
    CHECK_INT(broken[1], 0);
    CHECK_INT(broken[2], 0);
    remove_files();
}

// After an error or an interrupt there are no conclusions.
static void test_note_trouble()
{
    for (int what = 0; what < 2; what++) {
        gpumb_settings s = settings();
        s.quiet = 0;
        int code = -1;
        remove_files();
        const std::string text = printed([&] {
            gpumb *g = open_with(s);
            GPUMB_MEASURE(g, "row") {
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "trouble") {
                fake_run(1e-3);
                if (what)
                    raise(SIGINT);
                else
                    fake_run_refused(FAKE_LOST);
            }
            gpumb_note(g, "a conclusion");
            code = gpumb_close(g);
        });
        CHECK_INT(code, what ? GPUMB_EXIT_INTERRUPTED : GPUMB_EXIT_ERROR);
        check_clean();
        CHECK(text.find("row") != std::string::npos);
        CHECK(text.find("a conclusion") == std::string::npos);
        for (const char *name : {"x.json", "x.md", "x.json.part", "x.md.part"})
            CHECK(read_file(name).find("a conclusion") == std::string::npos);
        if (exists("x.json.part"))
            CHECK(notes_of(read_json(read_file("x.json.part"))).empty());
    }

    // a row that is wrong or skipped is none of these
    gpumb_settings s = settings();
    s.quiet = 0;
    const std::string text = printed([&] {
        gpumb *g = open_with(s);
        gpumb_skip(g, "it rains");
        GPUMB_MEASURE(g, "skipped") {
            fake_run(1e-3);
        }
        gpumb_set_verify(
            g, [](gpumb *, void *) { return 0; }, NULL);
        GPUMB_MEASURE(g, "wrong") {
            fake_run(1e-3);
        }
        gpumb_note(g, "a conclusion");
        close_with(g, GPUMB_EXIT_FAILED);
    });
    CHECK_INT(times_in(text, "a conclusion"), 1);
    CHECK_INT(notes_of(read_json(read_file("x.json"))).size(), 1);
    remove_files();
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    char folder[] = "/tmp/gpumb-graphs-XXXXXX";
    if (!CHECK(mkdtemp(folder)) || !CHECK(chdir(folder) == 0))
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
    test_expected();
    test_rows();
    test_notes();
    test_note_texts();
    test_note_trouble();
    remove_files();
    unlink("out");
    CHECK(rmdir(folder) == 0);
    return CHECK_SUMMARY();
}

/* test_faults.cpp - fails every call of every verb of the fake device, in each way that a device
 * can fail, and every host allocation. Whatever fails: no crash, nothing left behind, no rate from
 * a call that failed, files whole or absent, the right exit code and one line that says why. */
#include "allocations.h"
#include "no_disk.h"
static void log_line(const char *text);
#define GPUMB_LOG(text) log_line(text)
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "../gpumb.h"

#include "check.h"
#include "folder.h"
#include "read_file.h"
#include "texts.h"
#define gpumbi_dev_capture_begin fake_verb_capture_begin /* the tests look on, see below */
#define gpumbi_dev_capture_end fake_verb_capture_end
#include "fake.h"
#undef gpumbi_dev_capture_begin
#undef gpumbi_dev_capture_end

#include <csignal>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

/* ---- host memory and messages --------------------------------------------------------------- */

static std::vector<std::string> lines;

static void log_line(const char *text)
{
    lines.push_back(text);
    while (!lines.back().empty() && lines.back().back() == '\n')
        lines.back().pop_back();
}

/* ---- graphs that are only tried -------------------------------------------------------------- */

/* Calibration tries to capture empty kernels. What fails meanwhile leaves no trace by design: then
 * AUTO has no graphs, and times by events. (It has none here anyway, for the fake sees nothing of
 * the empty kernels.) A trial: from the capture's begin to the call behind its end that clears the
 * error; the numbers of its calls, by verb. */

struct trial {
    uint64_t first[FAKE_VERBS], last[FAKE_VERBS];
};
static std::vector<trial> trials;

static int gpumbi_dev_capture_begin(void *stream)
{
    trial t;
    for (int verb = 0; verb < FAKE_VERBS; verb++) {
        t.first[verb] = fake_calls[verb] + 1;
        t.last[verb] = 0;
    }
    trials.push_back(t);
    return fake_verb_capture_begin(stream);
}

static int gpumbi_dev_capture_end(void *stream, void **graph, gpumbi_nodes *nodes)
{
    const int error = fake_verb_capture_end(stream, graph, nodes);
    for (int verb = 0; verb < FAKE_VERBS; verb++)
        trials.back().last[verb] = fake_calls[verb] + (verb == FAKE_LAST_ERROR);
    return error;
}

static bool on_trial(const std::vector<trial> &all, int verb, uint64_t call)
{
    for (const trial &t : all) {
        if (t.first[verb] <= call && call <= t.last[verb])
            return true;
    }
    return false;
}

/* ---- the programs that meet the faults ------------------------------------------------------ */

static const unsigned words = 300;

__global__ void touch(unsigned *x, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

static int check_words(gpumb *g, void *user)
{
    unsigned host[words];
    if (gpumb_read(g, (gpumb_buffer *)user, 0, host, sizeof host))
        return 0;
    for (unsigned i = 0; i < words; i++) {
        if (host[i] != i)
            return 0;
    }
    return 1;
}

static void reset(gpumb *g, void *user)
{
    gpumb_poison(g, (gpumb_buffer *)user);
}

/* The bodies take these times, always: a rate is right, or it is wrong. */
static void copy(gpumb *g)
{
    GPUMB_SWEEP_LIST(g, n, 1024, 4096) {
        GPUMB_SWEEP_NAMES(g, form, "memcpy", "loop") {
            const uint64_t bytes = (uint64_t)n;
            gpumb_buffer *in = gpumb_alloc(g, bytes), *out = gpumb_alloc(g, bytes);
            gpumb_copy_check check = {in, out, bytes, GPUMB_READ_WRITE};
            gpumb_fill(g, in, GPUMB_FILL_F32, 1);
            gpumb_set_bytes(g, 64e6);
            gpumb_set_footprint(g, (uint64_t)1 << 30);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "copy") {
                gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), bytes);
                fake_run(form ? 200e-6 : 100e-6);
            }
        }
    }
}

static void ways(gpumb *g)
{
    gpumb_buffer *x = gpumb_alloc(g, words * sizeof(unsigned));
    gpumb_set_bytes(g, 8e6);
    gpumb_set_output(g, x);
    gpumb_set_verify(g, check_words, x);
    GPUMB_MEASURE(g, "launch") {
        GPUMB_LAUNCH(touch, 3, 100, 0, GPUMB_PTR(unsigned, x), words);
        fake_run(50e-6);
    }
    gpumb_set_bytes(g, 1e6);
    gpumb_set_timing(g, GPUMB_TIMING_BATCH);
    GPUMB_MEASURE(g, "batch") {
        fake_run(5e-6);
    }
    gpumb_set_bytes(g, 1e6);
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "host") {
        fake_run(300e-6);
    }
    gpumb_set_bytes(g, 1e6);
    gpumb_set_reset(g, reset, x);
    GPUMB_MEASURE(g, "reset") {
        fake_run(100e-6);
    }
    GPUMB_INTERLEAVE(g) {
        gpumb_set_bytes(g, 1e6);
        GPUMB_MEASURE(g, "left") {
            fake_run(100e-6);
        }
        gpumb_set_bytes(g, 1e6);
        GPUMB_MEASURE(g, "right") {
            fake_run(200e-6);
        }
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"copy", "a sweep with a check", copy},
    {"ways", "ways of timing", ways},
};

static int program(void)
{
    const char *arguments[] = {"faults",   "--samples", "6:8",   "--budget", "0.01",
                               "--warmup", "0.0003",    "--csv", "x.csv",    "--json",
                               "x.json",   "--md",      "x.md",  NULL};
    return gpumb_main(13, const_cast<char **>(arguments), benchmarks, 2);
}

static std::vector<gpumb_result> results;

static int one_off(void)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.min_samples = 6;
    settings.max_samples = 8;
    settings.warmup_s = 0.0003;
    gpumb *g = gpumb_open_settings("faults", &settings);
    gpumb_buffer *x = gpumb_alloc(g, 4096);
    gpumb_fill(g, x, GPUMB_FILL_ZERO, 0);
    for (int i = 0; i < 2; i++) {
        gpumb_result r;
        memset(&r, 0x55, sizeof r); /* it is filled, whatever happens */
        gpumb_set_bytes(g, 1e6);
        GPUMB_TIME(&r) {
            fake_run(20e-6);
        }
        gpumb_print_result(&r);
        results.push_back(r);
    }
    return gpumb_close(g);
}

/* ---- reading what they left ----------------------------------------------------------------- */

typedef std::map<std::string, std::string> row;

/* The rows of a CSV file (RFC 4180). False if it is not one, or its last line is not whole. */
static bool read_csv(const std::string &text, std::vector<row> *rows)
{
    std::vector<std::string> names, fields(1);
    bool quoted = false;
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            fields.back() += c;
            i++;
        } else if (c == '"' && (quoted || fields.back().empty())) {
            quoted = !quoted;
        } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
            fields.back() += c;
        } else if (c == ',') {
            fields.push_back("");
        } else if (c == '\n') {
            if (names.empty()) {
                names = fields;
            } else {
                row r;
                if (fields.size() != names.size())
                    return false;
                for (size_t j = 0; j < names.size(); j++)
                    r[names[j]] = fields[j];
                rows->push_back(r);
            }
            fields.assign(1, "");
        }
    }
    return !quoted && fields.size() == 1 && fields[0].empty();
}

/* Moves *p over one JSON value; false if it is none. */
static bool json_value(const char **p)
{
    const auto blanks = [p] { *p += strspn(*p, " \t\r\n"); };
    blanks();
    if (**p == '{' || **p == '[') {
        const bool object = *(*p)++ == '{';
        const char close = object ? '}' : ']';
        blanks();
        if (**p == close)
            return (*p)++, true;
        for (;;) {
            if (object) {
                blanks();
                if (**p != '"' || !json_value(p))
                    return false;
                blanks();
                if (*(*p)++ != ':')
                    return false;
            }
            if (!json_value(p))
                return false;
            blanks();
            if (**p == close)
                return (*p)++, true;
            if (*(*p)++ != ',')
                return false;
        }
    }
    if (**p == '"') {
        for ((*p)++; **p != '"'; (*p)++) {
            if ((unsigned char)**p < 0x20 || (**p == '\\' && !*++*p))
                return false;
        }
        return (*p)++, true;
    }
    static const char *const literals[] = {"true", "false", "null"};
    for (const char *literal : literals) {
        if (strncmp(*p, literal, strlen(literal)) == 0)
            return *p += strlen(literal), true;
    }
    const size_t length = strspn(*p, "0123456789+-.eE");
    return *p += length, length > 0;
}

static bool is_json(const std::string &text)
{
    const char *p = text.c_str();
    return json_value(&p) && p[strspn(p, " \t\r\n")] == '\0';
}

/* ---- one run -------------------------------------------------------------------------------- */

struct outcome {
    int code;
    bool clean;
    std::vector<std::string> log;
    std::vector<row> rows;
    std::vector<gpumb_result> once;
    std::string printed;
};

static char where[200]; /* for the case of a crash */
static int output;      /* the real standard output */

static void crashed(int signal)
{
    static const char text[] = "test_faults: crashed or hung: ";
    ssize_t done = write(2, text, sizeof text - 1) + write(2, where, strlen(where));
    done += write(2, "\n", 1);
    (void)done;
    std::signal(signal, SIG_DFL);
    raise(signal);
}

static void remove_files(void)
{
    for (const char *name : {"x.csv", "x.json", "x.md"})
        remove_file(name);
}

/* Runs a program; its standard output goes to the file `out`. The fault has been set. */
static outcome run(int (*body)(void))
{
    outcome o;
    fake_multiprocessors = 1; /* what the emulation runs is a few words each */
    remove_files();
    lines.clear();
    results.clear();
    allocations = 0;
    fflush(stdout);
    const int out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0644);
    dup2(out, 1);
    close(out);
    alarm(20);
    o.code = body();
    alarm(0);
    fflush(stdout);
    dup2(output, 1);
    o.clean = fake_clean() && live_allocations == 0;
    if (!o.clean) { /* once is enough */
        printf("    %d streams, %d events, %d blocks, %ld allocations, %d misuses: %s\n",
               fake_live_streams, fake_live_events, fake_live_blocks, live_allocations,
               fake_misuses, where);
        live_allocations = 0;
        fake_live_streams = fake_live_events = 0;
    }
    o.log = lines;
    o.once = results;
    o.printed = read_file("out");
    return o;
}

static bool close_to(const std::string &a, const std::string &b)
{
    const double x = atof(a.c_str()), y = atof(b.c_str());
    return (x > y ? x - y : y - x) <= 0.02 * y;
}

/* A field that may be unknown after a fault, but not wrong. */
static const char *const optional_fields[] = {"registers",   "occupancy",       "ceiling_gbps",
                                              "pct_ceiling", "footprint_bytes", "cache"};

/* What must hold after any fault. `seen` is set to 1 if the fault left a trace. */
static void check_rows(const outcome &o, const std::vector<row> &right, int complete, int *seen)
{
    static const char *const rates[] = {"gbps", "gflops", "pct_peak", "pct_ceiling"};
    int failed = 0;
    if (complete)
        CHECK_INT(o.rows.size(), right.size());
    else
        CHECK(o.rows.size() <= right.size());
    for (size_t i = 0; i < o.rows.size() && i < right.size(); i++) {
        row a = o.rows[i], b = right[i];
        CHECK_STR(a["bench"].c_str(), b["bench"].c_str());
        CHECK_STR(a["kernel"].c_str(), b["kernel"].c_str());
        CHECK_STR(a["n"].c_str(), b["n"].c_str());
        CHECK_STR(a["form"].c_str(), b["form"].c_str());
        if (a["status"] == "ok") {
            CHECK_STR(a["reason"].c_str(), "");
            CHECK_STR(a["verified"].c_str(), b["verified"].c_str());
            CHECK(close_to(a["median_s"], b["median_s"]) ||
                  !printf("    %s and %s\n", a["median_s"].c_str(), b["median_s"].c_str()));
            CHECK(close_to(a["gbps"], b["gbps"]));
            CHECK(close_to(a["max_s"], b["max_s"]));
            for (const char *name : optional_fields) {
                CHECK(a[name].empty() || a[name] == b[name] || close_to(a[name], b[name]));
                if (a[name] != b[name])
                    *seen = 1;
            }
        } else {
            *seen = 1;
            failed +=
                a["status"] == "failed" || a["flags"].find("launch-failed") != std::string::npos;
            CHECK(a["status"] == "skipped" || a["status"] == "failed");
            CHECK(!a["reason"].empty());
            for (const char *name : rates)
                CHECK_STR(a[name].c_str(), "");
        }
    }
    if (complete)
        CHECK_INT(o.code, failed ? GPUMB_EXIT_FAILED : GPUMB_EXIT_OK);
    if (o.code)
        *seen = 1;
}

/* Files after a run with this exit code; reads the rows. */
static void check_files(outcome *o)
{
    const int complete = o->code == GPUMB_EXIT_OK || o->code == GPUMB_EXIT_FAILED;
    const char *const csv = complete ? "x.csv" : "x.csv.part";
    const char *const json = complete ? "x.json" : "x.json.part";
    if (complete) {
        CHECK(exists("x.csv") && exists("x.json") && exists("x.md"));
        CHECK(!exists("x.csv.part") && !exists("x.json.part") && !exists("x.md.part"));
    } else {
        CHECK(!exists("x.csv") && !exists("x.json") && !exists("x.md"));
    }
    CHECK(read_csv(read_file(csv), &o->rows));
    if (exists(json))
        CHECK(is_json(read_file(json)) || !printf("    %s\n", read_file(json).c_str()));
}

/* One line that names the cause, and perhaps others on where the finished rows are. With `remedy`,
 * it goes on with what to do about it; the device's own texts are the backend's. */
static void check_message(const outcome &o, const char *cause, bool remedy)
{
    std::vector<std::string> messages;
    for (const std::string &line : o.log) {
        CHECK(line.find('\n') == std::string::npos);
        if (line.find("finished row") == std::string::npos)
            messages.push_back(line);
    }
    if (!CHECK_INT(messages.size(), 1)) {
        for (const std::string &line : messages)
            printf("    %s\n", line.c_str());
        return;
    }
    const size_t at = messages[0].find(cause);
    if (!CHECK(at != std::string::npos) ||
        (remedy && !CHECK(messages[0].find_first_of(",;:", at) != std::string::npos)))
        printf("    %s\n", messages[0].c_str());
}

/* ---- all faults ----------------------------------------------------------------------------- */

static const char *const verbs[] = {
    "count",         "open",          "memory",        "alloc",          "free",
    "copy",          "set",           "stream_create", "stream_destroy", "wait",
    "event_create",  "event_destroy", "record",        "elapsed",        "last_error",
    "capture_begin", "capture_end",   "graph_launch",  "graph_destroy",  "kernel",
    "prefetch",      "advise",        "await",         "load",           "find",
    "launch_by",     "clock"};
static_assert(sizeof verbs / sizeof verbs[0] == FAKE_VERBS, "a name for each");
static const char *const causes[] = {"", "the fake refuses", "the fake is full", "the fake is lost",
                                     ""};

static void check_once(const outcome &o, const outcome &right, int *seen)
{
    CHECK_INT(o.once.size(), right.once.size());
    for (size_t i = 0; i < o.once.size() && i < right.once.size(); i++) {
        const gpumb_result &a = o.once[i], &b = right.once[i];
        if (a.status == GPUMB_STATUS_OK) {
            CHECK_NEAR(a.time.median, b.time.median, 0.02 * b.time.median);
            CHECK_NEAR(a.gbps, b.gbps, 0.02 * b.gbps);
        } else {
            *seen = 1;
            CHECK(a.status == GPUMB_STATUS_SKIPPED || a.status == GPUMB_STATUS_FAILED);
            CHECK(a.reason[0] != '\0');
            if (a.status == GPUMB_STATUS_FAILED && o.code == GPUMB_EXIT_ERROR) /* the run's end */
                CHECK(!o.log.empty() && o.log[0].find(a.reason) != std::string::npos);
            CHECK_NEAR(a.gbps, 0, 0);
            CHECK_NEAR(a.time.median, 0, 0);
        }
    }
    if (o.code)
        *seen = 1;
}

static void run_all(const char *name, int (*body)(void), bool files)
{
    fake_reset();
    snprintf(where, sizeof where, "%s without a fault", name);
    trials.clear();
    outcome right = run(body);
    const std::vector<trial> tried = trials;
    CHECK_INT(tried.size(), 1);
    uint64_t calls[FAKE_VERBS];
    memcpy(calls, fake_calls, sizeof calls);
    const long all = allocations;
    int unseen = 0, nothing = 0;
    /* an error that is pending when a region begins is not the region's */
    const int regions = files ? 10 : 2;
    int forgiven[FAKE_LOST + 1] = {0};
    if (files)
        check_files(&right);
    CHECK_INT(right.code, 0);
    CHECK(right.clean);
    CHECK(right.log.empty());
    CHECK_INT(right.rows.size(), files ? 10 : 0);
    CHECK_INT(right.once.size(), files ? 0 : 2);
    check_rows(right, right.rows, 1, &unseen);
    CHECK_INT(unseen, 0);
    for (row &r : right.rows) {
        CHECK_STR(r["status"].c_str(), "ok");
        const double seconds = r["kernel"] == "launch"                         ? 50e-6
                               : r["kernel"] == "batch"                        ? 5e-6
                               : r["kernel"] == "host"                         ? 300e-6
                               : r["kernel"] == "right" || r["form"] == "loop" ? 200e-6
                                                                               : 100e-6;
        CHECK_NEAR(atof(r["median_s"].c_str()), seconds, 0.05 * seconds + 2e-6);
        CHECK_NEAR(atof(r["gbps"].c_str()) * atof(r["median_s"].c_str()),
                   atof(r["bytes"].c_str()) / 1e9, 1e-5 * atof(r["bytes"].c_str()) / 1e9);
    }

    for (int verb = 0; verb < FAKE_VERBS; verb++) {
        if (verb == FAKE_FREE || verb == FAKE_STREAM_DESTROY || verb == FAKE_EVENT_DESTROY ||
            verb == FAKE_GRAPH_DESTROY || verb == FAKE_CLOCK)
            continue; /* these can't fail */
        printf("%s: %s: %llu calls\n", name, verbs[verb], (unsigned long long)calls[verb]);
        for (uint64_t k = 1; k <= calls[verb]; k++) {
            for (int error = FAKE_REFUSED; error <= FAKE_LOST; error++) {
                const int before = check_failed;
                int seen = 0;
                fake_reset();
                fake_fail_verb = (fake_verb)verb;
                fake_fail_verb_at = k;
                fake_fail_error = (fake_error)error;
                snprintf(where, sizeof where, "%s, call %llu of %s: %s", name,
                         (unsigned long long)k, verbs[verb], causes[error]);
                outcome o = run(body);
                CHECK(o.clean);
                CHECK_INT(fake_fail_verb_at, 0); /* it was called */
                if (files)
                    check_files(&o);
                const int stopped = o.code != GPUMB_EXIT_OK && o.code != GPUMB_EXIT_FAILED;
                if (files)
                    check_rows(o, right.rows, !stopped, &seen);
                else
                    check_once(o, right, &seen);
                if (verb == FAKE_COUNT)
                    CHECK_INT(o.code, GPUMB_EXIT_NO_DEVICE);
                else if (verb == FAKE_OPEN)
                    CHECK(o.code == GPUMB_EXIT_NO_DEVICE || o.code == GPUMB_EXIT_ERROR);
                else if (error == FAKE_LOST)
                    CHECK_INT(o.code, GPUMB_EXIT_ERROR);
                else
                    CHECK(!stopped || o.code == GPUMB_EXIT_ERROR);
                if (stopped)
                    check_message(o, causes[error], false);
                /* what the engine can do without may stay silent: free memory, attributes */
                if (on_trial(tried, verb, k) && error != FAKE_LOST) {
                    CHECK(!seen);
                    CHECK_INT(o.code, GPUMB_EXIT_OK);
                    CHECK(o.log.empty());
                } else if (verb == FAKE_LAST_ERROR && error != FAKE_LOST && !seen) {
                    forgiven[error]++;
                } else if (verb != FAKE_MEMORY && verb != FAKE_KERNEL) {
                    CHECK(seen);
                }
                if (check_failed != before) {
                    printf("    %s: exit code %d\n", where, o.code);
                    if (check_failed > 200)
                        return;
                }
            }
        }
    }

    for (int error = 0; error <= FAKE_LOST; error++)
        CHECK(forgiven[error] <= regions);

    printf("%s: %ld allocations\n", name, all);
    for (long k = 1; k <= all; k++) {
        const int before = check_failed;
        int seen = 0;
        fake_reset();
        fail_allocation = k;
        snprintf(where, sizeof where, "%s, allocation %ld", name, k);
        outcome o = run(body);
        fail_allocation = 0;
        CHECK(o.clean);
        if (files)
            check_files(&o);
        const int stopped = o.code != GPUMB_EXIT_OK && o.code != GPUMB_EXIT_FAILED;
        if (files)
            check_rows(o, right.rows, !stopped, &seen);
        else
            check_once(o, right, &seen);
        CHECK(!stopped || o.code == GPUMB_EXIT_ERROR);
        if (stopped)
            check_message(o, "memory", true);
        if (check_failed != before) {
            printf("    %s: exit code %d\n", where, o.code);
            if (check_failed > 200)
                return;
        }
        nothing += !seen;
    }
    printf("%s: %d failed allocations of %ld left no trace\n", name, nothing, all);
}

/* No device at all. */
static void no_device(void)
{
    fake_reset();
    fake_devices = 0;
    snprintf(where, sizeof where, "no device");
    outcome o = run(program);
    CHECK_INT(o.code, GPUMB_EXIT_NO_DEVICE);
    CHECK_STR(o.printed.c_str(), "");
    check_message(o, "device", true);
    CHECK(!exists("x.csv") && !exists("x.csv.part"));
    CHECK(o.clean);
}

int main()
{
    char memory[] = "/dev/shm/gpumb-faults-XXXXXX"; // for thousands of files
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM};
    const std::string folder = mkdtemp(memory) ? memory : make_folder("gpumb-faults");
    if (!CHECK(chdir(folder.c_str()) == 0))
        return CHECK_SUMMARY();
    for (int number : signals)
        std::signal(number, crashed);
    output = dup(1);
    gpumb_cpu_set_workers(1);
    no_device();
    run_all("program", program, true);
    run_all("one-off", one_off, false);
    remove_files();
    unlink("out");
    CHECK(rmdir(folder.c_str()) == 0);
    return CHECK_SUMMARY();
}

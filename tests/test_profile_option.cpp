// test_profile_option.cpp - --profile: what a profiler is shown, and what it is not.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"
#include "fake.h"
#include <vector>

static FILE *lines;

static gpumb *open_with(std::vector<std::string> options)
{
    static std::vector<std::string> kept;
    static std::vector<char *> argv;
    kept = options;
    kept.insert(kept.begin(), "test_profile");
    argv.clear();
    for (std::string &option : kept)
        argv.push_back(&option[0]);
    argv.push_back(NULL);
    fake_reset();
    fake_moves = (uint64_t)128 << 20; // so that what empties the caches is cleared
    heard.clear();
    gpumb *g = gpumb_open((int)kept.size(), argv.data());
    if (g->table.file)
        g->table.file = lines = tmpfile();
    return g;
}

static std::string read_all(FILE *file)
{
    std::string text(4000, '\0');
    rewind(file);
    text.resize(fread(&text[0], 1, text.size(), file));
    fclose(file);
    return text;
}

// Closes, and compares what was shown to the profiler, and said.
static void close_with(gpumb *g, const char *marks, const char *printed, int code = 0)
{
    CHECK_STR(fake_marks, marks);
    // nothing that is timed
    CHECK_INT(fake_calls[FAKE_RECORD] + fake_calls[FAKE_ELAPSED] + fake_calls[FAKE_CAPTURE_BEGIN] +
                  fake_calls[FAKE_GRAPH_LAUNCH],
              0);
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
    CHECK_STR(read_all(lines).c_str(), printed);
}

static void reset_hook(gpumb *, void *user)
{
    ++*(int *)user;
    fake_run(5e-6); // not waited for
}

static int check_hook(gpumb *, void *user)
{
    fake_run(3e-6);
    fake_now = fake_busy;
    return *(int *)user;
}

// One run to warm up, then as many as are asked for, in plain launches; hooks and checks outside.
static void test_runs()
{
    for (int runs = 1; runs <= 3; runs++) {
        const std::string option = runs > 1 ? "--profile=" + std::to_string(runs) : "--profile";
        for (int hook = 0; hook < 2; hook++)
            for (int cold = 0; cold < 2; cold++) {
                gpumb *g = open_with({option});
                int bodies = 0, resets = 0, right = 1;
                gpumb_buffer *b = gpumb_alloc(g, 100);
                gpumb_set_output(g, b);
                gpumb_set_verify(g, check_hook, &right);
                gpumb_set_bytes(g, 1e6);
                if (hook)
                    gpumb_set_reset(g, reset_hook, &resets);
                if (cold)
                    gpumb_set_cache(g, GPUMB_CACHE_COLD);
                GPUMB_MEASURE(g, "two launches") {
                    fake_run(10e-6);
                    bodies++;
                    fake_run(10e-6);
                }
                CHECK_INT(bodies, 1 + runs);
                CHECK_INT(resets, hook ? 1 + runs : 0);
                const gpumb_result *r = gpumb_last_result(g);
                CHECK_INT(gpumb_row_count(g), 1);
                CHECK_INT(r->status, GPUMB_STATUS_SKIPPED);
                CHECK_STR(r->reason, "profiled, not timed");
                CHECK_INT(r->verified, 1);
                CHECK(r->time.count == 0 && r->gbps <= 0);
                std::string marks; // each run by itself where something comes before it
                const std::string range = "[test_profile|two launches";
                for (int i = 0; i < (hook || cold ? runs : 1); i++) {
                    marks += range;
                    for (int j = 0; j < (hook || cold ? 1 : runs); j++)
                        marks += "..";
                    marks += "]";
                }
                const std::string line = "test_profile/two launches: " + std::to_string(runs) +
                                         (runs > 1 ? " runs\n" : " run\n");
                close_with(g, marks.c_str(), line.c_str());
                CHECK_STR(heard.c_str(), "");
            }
    }
}

// Ranges of benchmark, kernel and axes, without what filters take for something else.
static void run_names(gpumb *g)
{
    GPUMB_SWEEP_NAMES(g, form, "a/b", "plain")
        GPUMB_SWEEP_LIST(g, n, 1, 2) {
            GPUMB_MEASURE(g, "copy<float, 4>[*] + \"x\"@y\\z\n")
                fake_run(1e-6);
            GPUMB_MEASURE(g, NULL)
                fake_run(1e-6);
        }
}

static void test_names()
{
    static const gpumb_benchmark list[] = {{"copy/grid", "", run_names}, {"other", "", run_names}};
    gpumb *g = open_with({"--profile", "--axis", "n=2", "--filter", "copy/grid/copy", "--shuffle"});
    gpumb_settings settings = *gpumb_get_settings(g);
    CHECK_INT(settings.profile, 1);
    for (int i = 0; i < 2; i++) { // gpumb_run() closes
        fake_marks[0] = '\0';
        FILE *const file = tmpfile();
        g->table.file = file ? fdopen(dup(fileno(file)), "w+") : NULL;
        CHECK_INT(gpumb_run(g, list, 2), 0);
        const std::string marks = fake_marks, printed = read_all(file);
        const std::string kernel = "copy<float_ 4>___ _ _x__y_z ", first = "form=a.b n=2",
                          second = "form=plain n=2";
        const std::string one = "[copy.grid|" + kernel + "|" + first + ".]",
                          two = "[copy.grid|" + kernel + "|" + second + ".]";
        CHECK(marks == one + two || marks == two + one);
        CHECK(printed.find("copy.grid/" + kernel + "/" + first + ": 1 run\n") != printed.npos);
        CHECK(printed.find("copy.grid/" + kernel + "/" + second + ": 1 run\n") != printed.npos);
        if (marks != one + two && marks != two + one)
            printf("    %s\n    %s\n", marks.c_str(), printed.c_str());
        if (!i)
            g = open_with({"--profile", "--axis", "n=2", "--filter", "copy/grid/copy"});
    }
}

static void leave(gpumb *g, int *bodies)
{
    GPUMB_MEASURE(g, "left") {
        fake_run(1e-6);
        if (++*bodies == 2)
            return;
    }
}

// What goes wrong: before the ranges it is not shown, within them they are closed.
static void test_trouble()
{
    int wrong = 0, bodies = 0;
    gpumb *g = open_with({"--profile=2"});
    gpumb_set_verify(g, check_hook, &wrong);
    GPUMB_MEASURE(g, "wrong")
        fake_run(1e-6);
    gpumb_skip(g, "no room");
    GPUMB_MEASURE(g, "skipped")
        fake_run(1e-6);
    gpumb_set_bytes(g, -1);
    GPUMB_MEASURE(g, "failed")
        fake_run(1e-6);
    GPUMB_MEASURE(g, "refused")
        if (++bodies == 2)
            fake_run_refused(FAKE_REFUSED);
    CHECK_INT(fake_marked, 0);
    bodies = 0;
    leave(g, &bodies);
    gpumb_set_bytes(g, 1);
    GPUMB_MEASURE(g, "right")
        fake_run(1e-6);
    const double seconds[] = {1e-6, 2e-6};
    gpumb_add_times(g, "given", GPUMB_MEANING_SPAN, seconds, 2);
    CHECK(heard.find("left by return") != heard.npos);
    close_with(g,
               "[test_profile|refused]"
               "[test_profile|left.]"
               "[test_profile|right..]",
               "test_profile/wrong: failed: wrong result\n"
               "test_profile/skipped: skipped: no room\n"
               "test_profile/failed: failed: gpumb_set_bytes(): bytes can't be -1\n"
               "test_profile/refused: skipped: launch: the fake refuses\n"
               "test_profile/right: 2 runs\n"
               "test_profile/given: skipped: its times are given: nothing to profile\n",
               GPUMB_EXIT_FAILED);

    g = open_with({"--profile"}); // none profiled, and none failed
    gpumb_skip(g, "no room");
    GPUMB_MEASURE(g, "skipped")
        fake_run(1e-6);
    close_with(g, "", "test_profile/skipped: skipped: no room\n", GPUMB_EXIT_FAILED);
}

// Regions that would take turns are profiled one after the other.
static void test_interleave()
{
    gpumb *g = open_with({"--profile"});
    GPUMB_SWEEP_LIST(g, n, 1, 2)
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "one")
                fake_run(1e-6);
            GPUMB_MEASURE(g, "two")
                for (int i = 0; i < n; i++)
                    fake_run(1e-6);
        }
    close_with(g,
               "[test_profile|one|n=1.][test_profile|two|n=1.]"
               "[test_profile|one|n=2.][test_profile|two|n=2..]",
               "test_profile/one/n=1: 1 run\ntest_profile/two/n=1: 1 run\n"
               "test_profile/one/n=2: 1 run\ntest_profile/two/n=2: 1 run\n");
}

// GPUMB_TIME: no row, no line, and a result that says so.
static void test_time()
{
    gpumb_result r;
    gpumb *g = open_with({"--profile"});
    GPUMB_TIME(&r)
        fake_run(1e-6);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(r.reason, "profiled, not timed");
    close_with(g, "[test_profile|region.]", "");

    g = open_with({"--profile"}); // work on another stream is waited for before the end
    GPUMB_TIME(&r) {
        GPUMB_LAUNCH(gpumbi_empty_kernel, 1, 32, 0);
        fake_run_elsewhere(1e-3);
    }
    close_with(g, "[test_profile|gpumbi_empty_kernel]", "");
}

static void test_options()
{
    static const struct {
        std::vector<std::string> options;
        const char *said;
    } cases[] = {
        {{"--profile=0"}, "--profile=0: is not 1 to 1M runs; for example --profile=2"},
        {{"--profile="}, "--profile=: "},
        {{"--profile=2x"}, "--profile=2x: "},
        {{"--profile=-1"}, "--profile=-1: "},
        {{"--profile=2M"}, "--profile=2M: "},
        {{"--profile", "2"}, "2: no such option"},
        {{"--profile", "--csv", "x.csv"}, "--profile takes no times, which --csv is for"},
        {{"--json=x", "--profile"}, "--profile takes no times, which --json is for"},
        {{"--compare=x", "--profile"}, "--profile takes no times, which --compare is for"},
        {{"--processes=2", "--profile"}, "--profile takes no times, which --processes is for"},
    };
    for (const auto &c : cases) {
        gpumb *g = open_with(c.options);
        if (!CHECK(heard.find(c.said) != heard.npos))
            printf("    %s\n    %s\n", c.said, heard.c_str());
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_USAGE);
    }
    CHECK(fopen("x.csv.part", "r") == NULL); // refused before files are opened
    gpumb *g = open_with({"--profile=1M"});
    CHECK_INT(gpumb_get_settings(g)->profile, 1000000);
    g->settings.profile = 0;
    g->table.file = NULL;
    CHECK_INT(gpumb_close(g), 0);
}

// Under a profiler without --profile, a line says so: to people, on a GPU.
static void test_noticed()
{
    const char *const sign[] = {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "NVTX_INJECTION64_PATH",
                                "NSYS_PROFILING_SESSION_ID", "NV_SANITIZER_INJECTION_PORT_BASE",
                                "ROCP_TOOL_LIBRARIES"};
    for (const char *name : sign) {
        setenv(name, "1", 1);
        for (int what = 0; what < 4; what++) {
            fake_reset();
            fake_backend = what == 1 ? "cpu" : "fake";
            gpumb_settings s = gpumb_settings_default();
            s.profile = what == 2;
            s.quiet = what == 3;
            heard.clear();
            gpumb *g = gpumb_open_settings("noticed", &s);
            CHECK_INT(heard.find("--profile runs each region once") != heard.npos, what == 0);
            g->table.file = NULL;
            CHECK_INT(gpumb_close(g), 0);
        }
        unsetenv(name);
    }
    gpumb *g = open_with({});
    CHECK_STR(heard.c_str(), "");
    g->table.file = NULL;
    gpumb_close(g);
}

int main()
{
    test_runs();
    test_names();
    test_trouble();
    test_interleave();
    test_time();
    test_options();
    test_noticed();
    return CHECK_SUMMARY();
}

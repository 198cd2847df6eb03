// test_devices.cpp - --device 0,2 and all, in turn and together: this program is started by itself,
// with four devices that the CPU backend pretends to have and a scripted clock.
#include <sstream>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <time.h>
#include <unistd.h>

// The clock moves by a look at it, and by what regions say that they take, give or take 0.1 %.
static long long scripted_ns = 1000000000;

static int scripted_clock(clockid_t, struct timespec *now)
{
    scripted_ns += 20;
    now->tv_sec = (time_t)(scripted_ns / 1000000000);
    now->tv_nsec = (long)(scripted_ns % 1000000000);
    return 0;
}

#define clock_gettime scripted_clock
#define GPUMB_CPU_DEVICES 4
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"
#include "folder.h"
#include "printed.h"
#include "read_file.h"
#include "start.h"

static void takes(double us)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    scripted_ns += (long long)(us * (999 + (double)(state >> 16) * 2 / 65536));
}

// ---- the program that is started ----------------------------------------------------------------

static int device_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : -1;
}

static void rows(gpumb *g)
{
    const int device = gpumb_get_device(g)->ordinal;
    const double by = getenv("BY") ? atof(getenv("BY")) : 0.3;
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        int met = 0;
        if (n == 3 && device == device_in("LACKS"))
            continue;
        GPUMB_MEASURE(g, "row") {
            const char *log = getenv("LOG");
            FILE *file = !met++ && log ? fopen(log, "a") : NULL;
            if (file) {
                fprintf(file, "%d", (int)n);
                fclose(file);
            }
            if (n == 2 && device == device_in("DIES"))
                raise(SIGKILL);
            takes(100.0 * (double)n * (device == device_in("SLOW") ? 1 + by : 1));
        }
    }
}

static void wrong(gpumb *g)
{
    GPUMB_MEASURE(g, "wrong") {
        takes(100);
        if (gpumb_get_device(g)->ordinal == device_in("WRONG"))
            gpumb_skip(g, "on purpose");
    }
}

// ---- the tests ----------------------------------------------------------------------------------

static char self[4096];

// Runs it, with its output in `text`; returns its exit code.
static int run(const char *environment, const char *options, std::string *text)
{
    int code = -1;
    std::vector<std::string> words = {"env"};
    std::istringstream variables(environment), more(options);
    for (std::string word; variables >> word;)
        words.push_back(word);
    words.insert(words.end(), {self, "--warmup=0", "--budget=0.05"});
    for (std::string word; more >> word;)
        words.push_back(word);
    *text = printed([&] { code = start(words); });
    return code;
}

static int count_of(const std::string &text, const char *what)
{
    int count = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++)
        count++;
    return count;
}

#define RUNS(environment, options, code)                                                           \
    do {                                                                                           \
        const int ended = run(environment, options, &text);                                        \
        CHECK_CASE(ended == (code), "%s %s: %d\n%s", environment, options, ended, text.c_str());   \
    } while (0)
#define SAYS(what)                                                                                 \
    CHECK_CASE(text.find(what) != std::string::npos, "no \"%s\":\n%s", what, text.c_str())

static void test_in_turn()
{
    std::string text;
    RUNS("A=1", "--device 0,2 --filter rows --csv a.csv --json a.json", 0);
    SAYS("6 rows: 6 ok");
    SAYS("the second with the first");
    SAYS("no device is shown to be slower than the others by more than 1 %, as far as 3 ratios "
         "decide");
    const std::string csv = read_file("a.csv"), json = read_file("a.json");
    CHECK_INT(count_of(csv, "\n"), 7);
    CHECK(count_of(csv, "on_device") == 1);
    CHECK_INT(count_of(json, "\"on_device\": \"0\""), 3);
    CHECK_INT(count_of(json, "\"on_device\": \"2\""), 3);
    CHECK_INT(count_of(text, "undecided\n") + count_of(text, "same\n"), 3);

    // which device it was belongs to what --compare matches by
    RUNS("SLOW=3", "--device 2,3 --filter rows --compare a.csv", 0);
    SAYS("0 faster, 0 slower");
    SAYS("6 rows not compared"); // those of 3 here, those of 0 there
    CHECK_CASE(text.find("--compare a.csv:") == std::string::npos, "%s", text.c_str());
    RUNS("SLOW=2", "--device 0,2 --filter rows --compare a.json --fail-on-regression", 1);
    SAYS("0 faster, 3 slower");
    RUNS("A=1", "--device 0,2 --filter wrong --compare a.csv", 0); // said once, by the parent
    CHECK_INT(count_of(text, "--compare a.csv: no row of it can be compared"), 1);

    // the head is of the first device, what one has not measured is said
    RUNS("LACKS=3", "--device 2,3 --filter rows --json a.json", 0);
    SAYS(" 3 skipped: its process had no such row");
    const std::string head = read_file("a.json");
    CHECK_INT(count_of(head, "\"ordinal\": 2,"), 1);
    CHECK_INT(count_of(head, "\"event_pair_s\": null"), 0);
}

static void test_outliers()
{
    std::string text;
    RUNS("SLOW=2", "--device all --filter rows --fail-on-outlier", 1);
    SAYS("each with the one in the middle");
    SAYS("device 2: slower by more than 1 % in 3 of 3 rows");
    SAYS("--fail-on-outlier: 3 rows slower");
    SAYS("12 rows: 12 ok");
    CHECK_INT(count_of(text, ": slower by more"), 1);
    CHECK_INT(count_of(text, "slower\n"), 3);
    RUNS("SLOW=2", "--device all --filter rows", 0);
    RUNS("SLOW=2", "--device all --filter rows --fail-on-outlier --delta 40", 0);
    // four show themselves how they spread; of two that is assumed
    RUNS("SLOW=2 BY=0.03", "--device all --filter rows --fail-on-outlier", 1);
    SAYS("device 2: slower by more than 1 % in 3 of 3 rows");
    RUNS("SLOW=2 BY=0.03", "--device all --filter rows --fail-on-outlier --delta 4", 0);
    SAYS("with a spread between devices as measured");
    RUNS("SLOW=2 BY=0.03", "--device 0,2 --filter rows --fail-on-outlier", 0);
    SAYS("with a spread between processes of 2 % (--spread)");
    RUNS("SLOW=1", "--device 1,3 --filter rows --fail-on-outlier", 1); // of two: also the first
    SAYS("device 1: slower by more than 1 % in 3 of 3 rows");
    RUNS("SLOW=3", "--device 1,3 --filter rows --fail-on-outlier", 1);
    SAYS("device 3: slower");
    RUNS("SLOW=3", "--device 0,1,2 --filter rows --fail-on-outlier", 0);
    for (const char *one :
         {"--filter rows --fail-on-outlier", "--device 3 --filter rows --fail-on-outlier"}) {
        RUNS("SLOW=3", one, 1); // a check that compares nothing is none
        SAYS("--fail-on-outlier: one device was measured");
    }
}

// In step: no process is at its next row before all are.
static void test_together()
{
    std::string text;
    RUNS("LOG=in_turn", "--device all --filter rows", 0);
    CHECK_STR(read_file("in_turn").c_str(), "123123123123");
    RUNS("LOG=together SLOW=1", "--device all --filter rows --together --fail-on-outlier", 1);
    CHECK_STR(read_file("together").c_str(), "111122223333");
    SAYS("device 1: slower by more than 1 % in 3 of 3 rows");
    SAYS("12 rows: 12 ok");
}

// Their spread is measured if both sides had enough of them.
static void test_processes()
{
    std::string text;
    RUNS("A=1", "--processes 5 --filter rows --csv five.csv --compare a.csv", 0);
    SAYS("spread between processes: 2 % assumed (--spread)");
    RUNS("A=1", "--processes 5 --filter rows --compare five.csv", 0);
    SAYS("spread between processes: measured, in the intervals");
    RUNS("A=1", "--processes 4 --filter rows --compare five.csv", 0);
    SAYS("spread between processes: 2 % assumed (--spread)");
    RUNS("A=1", "--filter rows --compare five.csv", 0);
    SAYS("spread between processes: 2 % assumed (--spread)");
}

static void test_trouble()
{
    std::string text;
    for (const char *how : {"", "--together"}) {
        char options[100];
        snprintf(options, sizeof options, "--device all --filter rows %s", how);
        RUNS("DIES=1", options, GPUMB_EXIT_ERROR);
        SAYS("device 1: its process was killed by signal 9; run with --device 1 to see more");
    }
    RUNS("WRONG=1", "--device 0,1 --filter wrong", 0);
    SAYS("2 rows: 1 ok, 1 skipped");
    RUNS("A=1", "--device 0,4", GPUMB_EXIT_USAGE);
    SAYS("--device 0,4: there are 4, numbered from 0");
    RUNS("A=1", "--device 1,1", GPUMB_EXIT_USAGE);
    SAYS("1 is in it twice");
    for (const char *bad : {"1,", ",1", "1,,2", "a,b", "-1,2", "All"}) {
        char options[40];
        snprintf(options, sizeof options, "--device=%s", bad);
        RUNS("A=1", options, GPUMB_EXIT_USAGE);
    }
    RUNS("A=1", "--device 0,1 --processes 2", GPUMB_EXIT_USAGE);
    SAYS("leave out --processes");
    RUNS("A=1", "--device all --profile", GPUMB_EXIT_USAGE);
    RUNS("A=1", "--device all --list", 0);
    CHECK_INT(count_of(text, "on_device"), 0);
    RUNS("A=1", "--device 3 --filter rows", 0);
    SAYS("3 rows: 3 ok");
}

// Only what its parent has started, and left the same text in a pipe for, reports to it.
static void test_token()
{
    static const struct {
        int parent, more, known; // of the text, what is added to its end, or left out
    } cases[] = {{0, 0, 1}, {0, 1, 0}, {0, -1, 0}, {1, 0, 0}};
    std::string text;
    char rows[1000];
    for (const auto &c : cases) {
        int ends[2], token[2];
        CHECK(!pipe(ends) && !pipe(token));
        const std::string where = std::to_string(c.parent ? c.parent : getpid()) + ":" +
                                  std::to_string(ends[1]) + ":" + std::to_string(token[0]) +
                                  ":-1:0";
        const std::string left =
            c.more > 0 ? where + "1" : where.substr(0, where.size() - (size_t)-c.more);
        CHECK(write(token[1], left.data(), left.size()) == (ssize_t)left.size());
        RUNS(("GPUMB_PROCESS=" + where).c_str(), "--filter rows --processes 2", 0);
        CHECK_CASE((text.find("set, and not by gpumb") == std::string::npos) == c.known, "%s",
                   text.c_str());
        CHECK_CASE((text.find("3 rows: 3 ok") == std::string::npos) == c.known, "%s", text.c_str());
        for (const int fd : {ends[1], token[0], token[1]})
            close(fd);
        CHECK((read(ends[0], rows, sizeof rows) > 0) == c.known);
        close(ends[0]);
    }
}

int main(int argc, char **argv)
{
    static const gpumb_benchmark benchmarks[] = {{"rows", "of three", rows}, {"wrong", "", wrong}};
    if (argc > 1)
        return gpumb_main(argc, argv, benchmarks, 2);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const std::string folder = make_folder("gpumb-devices");
    if (length <= 0 || chdir(folder.c_str())) {
        SKIP("it can't find itself, or make a folder");
        return CHECK_SUMMARY();
    }
    test_in_turn();
    test_outliers();
    test_together();
    test_processes();
    test_trouble();
    test_token();
    CHECK(remove_folder(folder));
    return CHECK_SUMMARY();
}

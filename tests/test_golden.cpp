/* test_golden.cpp - what users see, byte for byte, on the fake device with its scripted clock:
 * terminal, CSV, JSON, Markdown, help and messages, against the files in tests/golden. Fractions in
 * files are rounded to 9 digits before: those behind them depend on the C library.
 *
 *     GOLDEN_RECORD=1 build/cpu/tests/test_golden      writes them anew; read the difference
 *
 * parse_back.py reads the recorded files with other parsers. */
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "../gpumb.h"

#include "check.h"
#include "fake.h"
#include "folder.h"
#include "read_file.h"

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/* ---- the program ---------------------------------------------------------------------------- */

static const unsigned words = 1000;

__global__ void touch(unsigned *x, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

/* Work of `seconds`, with a spread of `spread` times that, from a generator with a fixed seed. */
static void work(double seconds, double spread)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    fake_run(seconds * (1 + spread * ((double)(state >> 40) / (double)(1 << 24) - 0.5)));
}

struct expectation {
    gpumb_buffer *out;
    unsigned wrong; /* a word that is expected to be another; 0: none */
};

static int check_words(gpumb *g, void *user)
{
    const expectation *e = (const expectation *)user;
    std::vector<unsigned> host(words);
    if (gpumb_read(g, e->out, 0, host.data(), words * sizeof(unsigned)))
        return 0;
    for (unsigned i = 0; i < words; i++) {
        const unsigned right = i && i == e->wrong ? i + 1 : i;
        gpumb_set_value(g, "right_words", i + 1);
        if (host[i] != right) {
            gpumb_reason(g, "word %u is %u, not %u", i, host[i], right);
            return 0;
        }
    }
    return 1;
}

/* Rows for every status, way of timing, verdict and most flags. */
static void copy(gpumb *g)
{
    GPUMB_SWEEP_POW2(g, block, 64, 256) {
        GPUMB_SWEEP_NAMES(g, form, "naive", "fast") {
            gpumb_buffer *out = gpumb_alloc(g, words * sizeof(unsigned));
            expectation e = {out, block == 256 && form == 0 ? 7u : 0u};
            double seconds = form ? 80e-6 : 120e-6;
            double spread = 0.01;
            if (block == 64 && form == 1)
                seconds = 50e-6; /* above the peak */
            if (block == 128 && form == 1)
                spread = 1.5;
            gpumb_fill(g, out, GPUMB_FILL_F32, gpumb_get_settings(g)->seed);
            gpumb_set_bytes(g, 64e6);
            gpumb_set_footprint(g, block == 128 ? 16 << 20 : 64 << 20);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, check_words, &e);
            gpumb_set_value(g, "hit_rate", form ? NAN : 1 / (double)block);
            if (block == 256 && form == 1)
                gpumb_skip(g, "the fast form takes blocks up to %d", 128);
            GPUMB_MEASURE(g, "copy") {
                GPUMB_LAUNCH(touch, 10, 100, 0, GPUMB_PTR(unsigned, out), words);
                work(seconds, spread);
            }
        }
    }
}

static void launch(gpumb *g)
{
    GPUMB_MEASURE(g, "empty, \"short\" | and\nlong\\names") {
        work(0.3e-6, 0.02);
    }
    gpumb_set_flop(g, 1e9);
    gpumb_set_elements(g, 1e6);
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    GPUMB_MEASURE(g, "flop by the host's clock") {
        work(1e-3, 0.001);
    }
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, "a long one") {
        work(0.25, 0);
    }
    GPUMB_SWEEP_LIST(g, gib, 1, 1024) {
        gpumb_buffer *b = gpumb_alloc(g, (uint64_t)gib << 30);
        gpumb_set_bytes(g, (double)gpumb_size(b));
        GPUMB_MEASURE(g, "too large") {
            work(1e-3, 0);
        }
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"copy", "a copy of 64 MB that takes as long as we say", copy},
    {"launch", "names, times and memory that need care", launch},
};

static int program(const std::vector<std::string> &arguments)
{
    std::vector<char *> argv;
    for (size_t i = 0; i < arguments.size(); i++)
        argv.push_back(const_cast<char *>(arguments[i].c_str()));
    argv.push_back(NULL);
    return gpumb_main((int)arguments.size(), argv.data(), benchmarks, 2);
}

static int once(const std::vector<std::string> &)
{
    gpumb_result r;
    gpumb_buffer *x = gpumb_alloc(NULL, sizeof(float) << 10);
    gpumb_fill(NULL, x, GPUMB_FILL_F32, 1);
    GPUMB_TIME(&r) {
        work(20e-6, 0.05);
    }
    gpumb_print_result(&r);
    gpumb_set_bytes(NULL, 8e6);
    GPUMB_TIME(&r) {
        work(10e-6, 0.05);
    }
    gpumb_print_result(&r);
    gpumb_skip(NULL, "it rains");
    GPUMB_TIME(&r) {
        work(10e-6, 0.05);
    }
    gpumb_print_result(&r);
    return gpumb_close(NULL);
}

/* ---- running, comparing --------------------------------------------------------------------- */

static std::string golden, scratch;

static std::string rounded(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const bool field =
            i > 1 && (text[i - 1] == ',' || text[i - 1] == '[' || !text.compare(i - 2, 2, ": ") ||
                      !text.compare(i - 2, 2, ", "));
        const bool starts = field && text[i] >= '0' && text[i] <= '9';
        char *end = NULL, number[32];
        const double value = starts ? strtod(text.c_str() + i, &end) : 0;
        const size_t length = starts ? (size_t)(end - text.c_str()) - i : 1;
        const std::string token = text.substr(i, length);
        snprintf(number, sizeof number, "%.9g", value);
        out += starts && token.find_first_of(".e") != std::string::npos ? number : token;
        i += length;
    }
    return out;
}

/* Compares a text with tests/golden/NAME, or records it. */
static void compare(const std::string &name, const std::string &text)
{
    if (getenv("GOLDEN_RECORD")) {
        write_file(golden + name, text);
        return;
    }
    const std::string right = read_file(golden + name);
    if (CHECK(!access((golden + name).c_str(), R_OK)) && CHECK(text == right))
        return;
    size_t start = 0, line = 1;
    for (size_t i = 0; i < text.size() && i < right.size() && text[i] == right[i]; i++) {
        if (text[i] == '\n') {
            start = i + 1;
            line++;
        }
    }
    printf("    tests/golden/%s, line %zu:\n    is: %s\n    golden: %s\n", name.c_str(), line,
           text.substr(start, text.find('\n', start) - start).c_str(),
           right.substr(start, right.find('\n', start) - start).c_str());
}

static std::string line_with(const std::string &name, const char *part)
{
    const std::string text = read_file(name);
    const size_t at = text.find(part);
    if (!CHECK(at != std::string::npos))
        return "";
    const size_t start = text.rfind('\n', at) + 1;
    return text.substr(start, text.find('\n', at) - start);
}

/* Runs in a process of its own: its output goes to NAME.txt and NAME.log. Returns the exit code. */
static int run(const std::string &name, int (*body)(const std::vector<std::string> &),
               const std::vector<std::string> &arguments, const char *backend)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int out = open((name + ".txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        const int err = open((name + ".log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
            _exit(99);
        close(out);
        close(err);
        alarm(60);
        fake_reset();
        fake_backend = backend;
        const int code = body(arguments);
        if (!fake_clean())
            fprintf(stderr, "something is left behind\n");
        exit(code);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void compare_files(const std::string &name, const std::vector<std::string> &ends)
{
    for (size_t i = 0; i < ends.size(); i++)
        compare(name + ends[i], ends[i] == ".csv" || ends[i] == ".json" || ends[i] == ".gb"
                                    ? rounded(read_file(name + ends[i]))
                                    : read_file(name + ends[i]));
}

static const char *const wrong[][4] = {
    {"--axis", "block=0"},
    {"--axis", "block=2^80"},
    {"--axis", "block="},
    {"--axis", "block=4:1:+1"},
    {"--axis", "block=1:10:*1"},
    {"--axis", "form=fat"},
    {"--axis", "nosuch=1"},
    {"--precision", "-1"},
    {"--budget", "1e400"},
    {"--samples", "10:5"},
    {"--samples", "0:5"},
    {"--samples", "1:10000001"},
    {"--processes", "101"},
    {"--device", "2147483648"},
    {"--seed", "-1"},
    {"--peak", "0"},
    {"--device", "99"},
    {"--device", "-1"},
    {"--filter", "nosuch"},
    {"--csv", "/nonexistent/x.csv"},
    {"--csv", "/"},
    {"--csv"},
    {"--nosuch"},
    {"stray"},
    {"--quick", "--full"},
};

int main()
{
    const std::string path = make_folder("gpumb-golden");
    char *const here = realpath(__FILE__, NULL);
    unsetenv("NO_COLOR");
    if (!CHECK(here) || !CHECK(chdir(path.c_str()) == 0))
        return CHECK_SUMMARY();
    golden = here;
    golden = golden.substr(0, golden.rfind('/')) + "/golden/";
    free(here);
    if (getenv("GOLDEN_RECORD"))
        mkdir(golden.c_str(), 0755);

    const std::vector<std::string> texts = {".txt", ".log"};
    const std::vector<std::string> all = {".txt", ".log", ".csv", ".json", ".md"};
    const std::vector<std::string> gb = {".gb"};
    std::string short_runs[] = {"--samples", "10:40", "--budget", "1", "--seed", "7"};
    std::vector<std::string> arguments(short_runs, short_runs + 6);
    arguments.insert(arguments.begin(), "golden");

    std::vector<std::string> sweep = arguments;
    sweep.insert(sweep.end(), {"--csv", "sweep.csv", "--json", "sweep.json", "--md", "sweep.md"});
    sweep.insert(sweep.end(), {"--gbench", "sweep.gb"});
    CHECK_INT(run("sweep", program, sweep, "fake"), 1);
    compare_files("sweep", all);
    compare_files("sweep", gb);

    /* the CPU backend says that it is one, everywhere */
    std::vector<std::string> cpu = arguments;
    cpu.insert(cpu.end(), {"--csv", "cpu.csv", "--json", "cpu.json", "--md", "cpu.md"});
    cpu.insert(cpu.end(),
               {"--raw", "--axis", "form=fast", "--axis", "block=64", "--filter", "copy"});
    CHECK_INT(run("cpu", program, cpu, "cpu"), 0);
    compare_files("cpu", all);
    CHECK(read_file("cpu.txt").find("emulated") != std::string::npos);
    CHECK(read_file("cpu.json").find("emulated") != std::string::npos);
    CHECK(read_file("cpu.md").find("emulated") != std::string::npos);
    CHECK(read_file("cpu.csv").find("cpu") != std::string::npos);
    CHECK(read_file("sweep.txt").find("emulated") == std::string::npos);

    /* what no recording may bless: a row on two lines, a fill that was another benchmark's, and a
     * figure without its unit */
    CHECK(read_file("sweep.txt").find("and\nlong") == std::string::npos);
    CHECK(line_with("sweep.csv", "flop by the host's clock").find("f32") == std::string::npos);
    CHECK(read_file("sweep.txt").find("GFLOP/s") != std::string::npos);

    CHECK_INT(run("once", once, {}, "fake"), 0);
    compare_files("once", texts);
    CHECK_INT(run("help", program, {"golden", "--help"}, "fake"), 0);
    compare_files("help", texts);
    CHECK_INT(run("list", program, {"golden", "--list"}, "fake"), 0);
    compare_files("list", texts);
    CHECK(read_file("list.txt").find("and\nlong") == std::string::npos);

    std::string messages;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        std::vector<std::string> options(1, "golden");
        for (size_t j = 0; j < 4 && wrong[i][j]; j++)
            options.push_back(wrong[i][j]);
        CHECK_INT(run("wrong", program, options, "fake"), 2);
        CHECK_STR(read_file("wrong.txt").c_str(), "");
        for (size_t j = 1; j < options.size(); j++)
            messages += options[j] + (j + 1 < options.size() ? " " : "\n");
        messages += "    " + read_file("wrong.log");
    }
    compare("messages.txt", messages);

    CHECK(remove_folder(path));
    return CHECK_SUMMARY();
}

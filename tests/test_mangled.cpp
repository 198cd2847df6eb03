// test_mangled.cpp - files and command lines that are mangled at random, from a seed: each is read,
// or refused by one line that names it, with an exit code that is documented and nothing left half
// written; what is written from it reads as the same. And what fuzzing has found.
#include "hear.h"
#include <algorithm>
#include <unistd.h>
#include <vector>
#define fsync(fd) ((void)(fd), 0)
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"
#undef fsync

#include "check.h"
#include "folder.h"
#include "printed.h"
#include "random.h"
#include "read_file.h"
#include "texts.h"

typedef std::vector<std::string> words;
enum { COUNT = SANITIZED ? 60 : 200 };

static int refuse(gpumb *g, void *)
{
    gpumb_reason(g, "no, \"never\",\nnot here");
    return 0;
}

// Rows of all kinds, in microseconds: those have an exponent where they are written.
static void sweeps(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    const char *const names[] = {"plain", "comma, \"quote\""};
    const double given[] = {3e-6, 3.5e-6, 2e-6, 4e-6 / 3, 2e-6, 5e-6};
    GPUMB_SWEEP_STRINGS(g, form, names, 2)
        GPUMB_SWEEP_RANGE(g, n, 1, 2, 1) {
            gpumb_set_bytes(g, 1e6 * (double)n / 3);
            gpumb_set_value(
                g, "own", d->multiprocessors * d->max_threads / d->warp_size + 1024 / d->max_block);
            if (n == 2 && form == 1)
                gpumb_set_verify(g, refuse, NULL);
            GPUMB_MEASURE(g, "kernel")
                fake_run(7e-6 * (double)(n + 3 * form));
        }
    GPUMB_SWEEP_REALS(g, share, 0.1, 1e-7)
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base")
                fake_run(1e-6);
            GPUMB_MEASURE(g, "info")
                fake_run(1.3e-6 + 1e-9 * (double)(fake_runs * 7 % 5));
        }
    if (gpumb_wants_times(g, "given"))
        gpumb_add_times(g, "given", GPUMB_MEANING_LATENCY, given, 6);
}

// Returns the exit code.
static int run(words options)
{
    static const gpumb_benchmark list[] = {{"sweeps", "", sweeps}};
    char program[] = "program";
    std::vector<char *> argument = {program};
    int code = -1;
    for (std::string &word : options)
        argument.push_back(&word[0]);
    argument.push_back(NULL);
    fake_reset();
    heard.clear();
    printed([&] { code = gpumb_main((int)argument.size() - 1, argument.data(), list, 1); });
    return code;
}

// ---- files and options that are mangled ----

static size_t below(size_t count)
{
    return (size_t)(random_uniform() * (double)count);
}

// With lines and fields that are gone, there twice or something else.
static std::string mangled(std::string text, const char *ends)
{
    static const words odd = {
        "",   "0",  "-1", "1e999", "nan", "1e308", "0e99999999999999999999", "18446744073709551616",
        "{}", "[]", "\"", "x",     "1;2", "\n",    "2305843009213693952",    "median_s",
        "7",  "ok", "\r", "1e-9",  "\xff"};
    for (size_t i = below(3) + 1; i > 0 && !text.empty(); i--) {
        const size_t at = below(text.size()), kind = below(8), line = text.rfind('\n', at) + 1;
        const size_t begin = text.find_last_of(ends, at) + 1;
        const size_t length = std::min(text.find_first_of(ends, begin), text.size()) - begin;
        const std::string whole = text.substr(line, text.find('\n', line) + 1 - line);
        if (kind == 0)
            text.erase(line, whole.size());
        else if (kind == 1)
            text.insert(line, whole);
        else if (kind == 2)
            text.insert(begin, text.substr(begin, length + 1));
        else if (kind == 3 && i == 1)
            text.resize(at);
        else
            text.replace(begin, length, odd[below(odd.size())]);
    }
    return text;
}

static words operator+(words a, const words &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

static const words both = {"--csv=o.csv", "--json=o.json"};
static std::string csv, json, raw;

// Runs with these; returns whether that was refused: by a line that begins like this, and no file.
static bool refused(const words &options, const std::string &line)
{
    remove_file("o.csv");
    remove_file("o.json");
    const int code = run(both + options);
    CHECK_CASE(code >= 0 && code <= 2, "exit code %d: %s", code, heard.c_str());
    for (const char *name : {"o.csv", "o.json"})
        CHECK_CASE(exists(name) == (code < 2) && !exists(std::string(name) + ".part"), "%s", name);
    if (code == 2)
        CHECK_CASE(!heard.compare(0, line.size(), line) && times_in(heard, "\n") == 1, "%s",
                   heard.c_str());
    return code == 2;
}

static std::string rows_of(const std::string &text)
{
    const size_t begin = text.find("\"rows\": [");
    return text.substr(begin, text.rfind("\n],\n") - begin);
}

// Replays a text; returns whether it was read. What is written then replays as the same.
static bool replays(const std::string &text, const words &more = {})
{
    write_file("in", text);
    if (refused(words{"--replay=in"} + more, "gpumb: --replay in: "))
        return false;
    const std::string read = heard;
    run(words{"--replay=o.csv", "--csv=p.csv"});
    CHECK_CASE(read_file("p.csv") == read_file("o.csv"), "%s", heard.c_str());
    run(words{"--replay=o.json", "--json=p.json"} + more);
    CHECK_CASE(rows_of(read_file("p.json")) == rows_of(read_file("o.json")), "%s", heard.c_str());
    heard = read;
    return true;
}

static void test_files()
{
    static const char of_csv[] = ",\n", of_json[] = ",:\n{}[]";
    const std::string torn = raw.substr(0, raw.rfind("\n],"));
    const words resumed = both + words{"--resume", "--raw", "--samples=8:8"};
    int replayed = 0, compared = 0, kept = 0;
    write_file("rows", json);
    for (int i = 0; i < COUNT; i++) {
        replayed += replays(mangled(csv, of_csv)) + replays(mangled(raw, of_json), {"--raw"});
        write_file("in", csv);
        write_file("context", mangled(json, of_json));
        replayed += !refused({"--replay=in,context"}, "gpumb: --replay ");
        write_file("in", i % 2 ? mangled(csv, of_csv) : mangled(json, of_json));
        compared += !refused({"--replay=rows", "--compare=in"}, "gpumb: --compare in: ");

        const std::string part = mangled(i % 2 ? raw : torn, of_json);
        remove_file("o.json");
        write_file("o.json.part", part);
        const int code = run(resumed); // refused, it stays as it is
        CHECK_CASE(code == 1 || code == 2, "exit code %d: %s", code, heard.c_str());
        CHECK_CASE(code == 1 ? times_in(read_file("o.json"), "\"bench\"") == 9
                             : has(heard, "o.json.part: ") && read_file("o.json.part") == part,
                   "%s", heard.c_str());
        kept += has(heard, " of an earlier run kept");
    }
    CHECK_CASE(replayed > COUNT / 2 && replayed < 5 * COUNT / 2, "%d were replayed", replayed);
    CHECK_CASE(compared > COUNT / 8 && compared < 7 * COUNT / 8, "%d were compared", compared);
    CHECK_CASE(kept > COUNT / 8 && kept < 7 * COUNT / 8, "%d were kept", kept);
}

static void test_options()
{
    static const words right = {"--axis=n=1:2:+1",      "--axis=share=0.1:1:*10",
                                "--axis=form=plain",    "--expect=base<=1.5e3 ns",
                                "--filter=sweeps/base", "--expect=max(kernel[n=1])>=0.5*info",
                                "--samples=30:10000",   "--seed=18446744073709551615",
                                "--compare=rows",       "--compare-values=own",
                                "--device=0",           "--processes=1",
                                "--precision=0.5",      "--warmup=0",
                                "--profile=3",          "--explain=noisy"};
    int ran = 0;
    for (int i = 0; i < 2 * COUNT; i++) {
        const std::string option = mangled(right[below(right.size())], "=,:<>*()[]");
        const int code = run({"--replay=rows", option});
        CHECK_CASE(code >= 0 && code <= 2, "exit code %d of %s", code, option.c_str());
        if (code == 2)
            CHECK_CASE(!heard.compare(0, 7, "gpumb: ") && times_in(heard, "\n") == 1, "%s of %s",
                       heard.c_str(), option.c_str());
        ran += code < 2;
    }
    CHECK_CASE(ran > COUNT / 4 && ran < 2 * COUNT, "%d of %d ran", ran, 2 * COUNT);
}

// ---- what was found ----

// A JSON in which all members of a name have another value, or at first another begin of it.
static std::string with(std::string text, const std::string &name, const std::string &other)
{
    const std::string field = "\"" + name + "\": ";
    for (size_t at = 0; (at = text.find(field, at)) != std::string::npos; at++) {
        const size_t begin = at + field.size();
        text.replace(begin, text.find_first_of(",}", begin) - begin, other);
    }
    return text;
}

static std::string samples_of(const std::string &text)
{
    std::string all;
    for (size_t at = 0; (at = text.find("\"samples_s\": [", at)) != std::string::npos; at++)
        all += text.substr(at, text.find(']', at) - at);
    return all;
}

static void test_found()
{
    // the first sample of a row keeps its first digit; rows without samples get none
    CHECK(has(samples_of(raw), "[7.1") && has(samples_of(raw), "e-06"));
    CHECK(replays(raw, {"--raw"}));
    CHECK(samples_of(read_file("o.json")) == samples_of(raw));
    for (const std::string &text : {csv, json}) {
        CHECK(replays(text, {"--raw"}));
        CHECK_STR(samples_of(read_file("o.json")).c_str(), "");
    }

    static const char *const lies[][3] = {
        {"samples", "2305843009213693952", "samples is 0, or not the number of samples_s"},
        {"samples", "7", "samples is 0, or not the number of samples_s"},
        {"samples", "0", "samples is 0, or not the number of samples_s"},
        {"samples_s", "[true", "not a number is in samples_s"},
        {"samples_s", "[null", "not a number is in samples_s"},
        {"samples_s", "[\"1\"", "not a number is in samples_s"},
        {"samples_s", "[[1]", "not a number is in samples_s"},
        {"ratio", "0", "ratio is not within ratio_lo and ratio_hi"},
        {"ratio", "9", "ratio is not within ratio_lo and ratio_hi"},
        {"ratio_lo", "9", "ratio is not within ratio_lo and ratio_hi"},
    };
    for (const char *const *lie : lies)
        CHECK_CASE(!replays(with(raw, lie[0], lie[1]), {"--raw"}) && has(heard, lie[2]), "%s: %s",
                   lie[2], heard.c_str());

    CHECK(!replays(with(json, "samples", "0")) && has(heard, "samples is 0, or not "));
    CHECK(!replays(with(with(json, "ratio_lo", "0"), "ratio", "0")) && has(heard, ": ratio is "));

    // columns that are there twice
    std::string text = raw;
    CHECK(!replays(text.replace(text.find("\"own\":"), 5, "\"median_s\"")) &&
          has(heard, ": one too many, or the name of a column, is the value median_s"));
    text = raw;
    for (char name = 'a'; name < 'r'; name++) // 17
        text.insert(text.find("\"own\":"), std::string("\"") + name + "\": 1, ");
    CHECK(!replays(text) && has(heard, ": one too many, or the name of a column, is the value "));
    CHECK(
        replays("schema,bench,kernel,status,samples,median_s,ci_lo_s,ci_hi_s,n,form,median_s,,a;b\n"
                "1,sweeps,kernel,ok,9,2e-6,1e-6,3e-6,1,plain,5,6,7\n")); // nor are these values

    // a context has a device, of which it may say anything
    CHECK(refused({"--replay=in,in"}, "gpumb: --replay in,in: the context has no device; "));
    CHECK(replays(with(with(json, "multiprocessors", "2147483647"), "max_threads", "2147483647")));
    CHECK(replays(with(json, "sm_clock_mhz", "0e99999999999999999999")));
    CHECK(replays(with(with(json, "mem_clock_mhz", "1e-300"), "bus_width_bits", "1")));

    // more columns than a run can have values, or one that is called as another axis
    const std::string begin = "schema,bench,kernel,status,samples,median_s,ci_lo_s,ci_hi_s,n,form";
    std::string names, cells;
    for (int i = 1; i < 16; i++) { // beside the program's own
        names += ",v" + std::to_string(i);
        cells += ",1";
    }
    CHECK(replays(begin + names + "\n1,sweeps,kernel,ok,9,2e-6,1e-6,3e-6,1,plain" + cells + "\n"));
    CHECK(!replays(begin + names + ",v16\n1,sweeps,kernel,ok,9,2e-6,1e-6,3e-6,1,plain" + cells +
                   ",1\n"));
    CHECK_STR(heard.c_str(),
              "gpumb: --replay in: its column v16 can't be a value of this run: there "
              "are 16 of them already; take it out of the file\n");
    CHECK(!replays(begin + ",share,values\n1,sweeps,kernel,ok,9,2e-6,1e-6,3e-6,1,plain,1,share\n"));
    CHECK_STR(heard.c_str(),
              "gpumb: --replay in: its column share can't be a value of this run: that "
              "is the name of a column; take it out of the file\n");

    // times, and not of how many samples: these, and no others, are written
    CHECK(replays("schema,bench,kernel,status,median_s,ci_lo_s,ci_hi_s,n,form\n"
                  "1,sweeps,kernel,skipped,,,,1,plain\n"
                  "1,sweeps,kernel,ok,2e-6,1e-6,3e-6,2,plain\n"));
    CHECK_STR(fake_csv("o.csv", 1, "samples"), "");
    CHECK_STR(fake_csv("o.csv", 1, "ci_hi_s"), "3e-06");
    CHECK_STR(fake_csv("o.csv", 1, "min_s"), "");
    CHECK(replays(with(json, "samples", "null")));
    text = json;
    for (size_t at; (at = text.find("\"samples\": ")) != std::string::npos;)
        text.erase(at, text.find(',', at) + 2 - at);
    CHECK(replays(text));

    // a row without a comparison that lacks what tells how it was timed
    text = with(json, "compared_with", "null");
    const size_t at = text.find("\"timing\"", text.find("\"kernel\": \"info\""));
    CHECK(replays(text.erase(at, text.find(',', at) + 2 - at)));

    // names that begin as numbers do; a number that is more than an int
    write_file("rows", json);
    CHECK_INT(run({"--replay=rows", "--expect=base>=0.1*info", "--expect=base>=info"}), 1);
    CHECK(!has(heard, "is not rows"));
    for (const char *wrong : {"base>=infs", "base>=1e999GB/s", "base>=1.2.3s"})
        CHECK_INT(run({"--replay=rows", std::string("--expect=") + wrong}), 2);
    CHECK_INT(run({"--device=4294967296,0"}), 2);
    CHECK(has(heard, "--device 4294967296,0: there are 1, numbered from 0"));
}

int main()
{
    const std::string folder = make_folder("mangled");
    if (!CHECK(!folder.empty() && !chdir(folder.c_str())))
        return CHECK_SUMMARY();
    CHECK_INT(run({"--samples=8:8", "--csv=o.csv", "--json=o.json", "--raw"}), 1);
    csv = read_file("o.csv");
    raw = read_file("o.json");
    CHECK_INT(run({"--samples=8:8", "--json=o.json"}), 1);
    json = read_file("o.json");
    test_found();
    test_files();
    test_options();
    CHECK(chdir("/") == 0 && remove_folder(folder));
    return CHECK_SUMMARY();
}

// test_resume.cpp - runs that end early at every point and are resumed: what they then have written
// is, byte for byte, what a run has that nothing interrupts; and runs that are replayed, without a
// device: the same but for the mark; on the fake device.
#include <cmath>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int die_at_write, written, torn; // SIGKILL at the so many-th, half of it written; 0: never
static int die_at_rename, renames;      // before the so many-th, or after if negative

static ssize_t watched_write(int fd, const void *data, size_t size)
{
    if (++written == die_at_write) {
        if (torn && write(fd, data, size / 2) < 0)
            abort();
        raise(SIGKILL);
    }
    return write(fd, data, size);
}

static int watched_rename(const char *from, const char *to)
{
    if (++renames == die_at_rename)
        raise(SIGKILL);
    const int error = rename(from, to);
    if (renames == -die_at_rename)
        raise(SIGKILL);
    return error;
}

static int polls, free_after, held = -1; // unlocks `held` at the so many-th wait; 0: never

static int watched_poll(pollfd *ready, nfds_t count, int milliseconds)
{
    if (ready->fd >= 0)
        return poll(ready, count, milliseconds);
    if (++polls == free_after)
        flock(held, LOCK_UN);
    return 0;
}

static std::string lines;
#define GPUMB_LOG(text) lines += text
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define write watched_write
#define rename watched_rename
#define poll watched_poll
#define fsync(fd) ((void)(fd), 0)
#include "../gpumb.h"
#undef write
#undef rename
#undef poll
#undef fsync

#include "check.h"
#include "fake.h"
#include "folder.h"
#include "read_file.h"
#include "texts.h"

// ---- a program with all that rows can hold ------------------------------------------------------

static int measured;       // regions whose body ran
static int interrupted;    // SIGTERM in the so many-th of these; 0: never
static int fewer, renamed; // the program has changed
static enum { NOT, BYTES, ELEMENTS, TIMING, APART, TOGETHER } changed;
enum { ROWS = 16 };

// What runs from here on does so at the same time in each process: the clock's stamps are multiples
// of its quantum.
static void at(double seconds)
{
    fake_now = fake_busy = fake_elsewhere = seconds;
}

// One run of a region, of a time that depends on nothing but how many there were.
static void work(int *runs, double seconds)
{
    if (++*runs == 1 && ++measured == interrupted)
        raise(SIGTERM);
    fake_run(seconds * (1 + 0.003 * (*runs * 7 % 5)));
}

static int right(gpumb *g, void *value)
{
    gpumb_set_value(g, "of the check", *(const double *)value);
    return 1;
}

static int wrong(gpumb *g, void *)
{
    gpumb_set_value(g, "of a late check", 1); // widens the header
    gpumb_reason(g, "element 7 is \"8\",\nnot 9");
    return 0;
}

static int divides; // as programs do

static void sweeps(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    if (divides)
        gpumb_set_value(g, "divided",
                        1024 / d->warp_size + 1024 / d->max_block + 4096 / (d->max_threads / 256) +
                            64 / d->multiprocessors);
    const char *const names[] = {"plain", "comma, \"quote\"\nand line"};
    GPUMB_SWEEP_STRINGS(g, form, names, 2) {
        GPUMB_SWEEP_RANGE(g, n, 1, 3, 1) {
            int runs = 0;
            gpumb_buffer *b = gpumb_alloc(g, 4096);
            at(1000 + 100 * (double)n + (double)form);
            gpumb_fill(g, b, GPUMB_FILL_F32, 18446744073709551615u - (uint64_t)n);
            gpumb_set_bytes(g, (changed == BYTES && n > 1 ? 2e6 : 1e6) * (double)n / 3);
            gpumb_set_elements(g, (double)n + (changed == ELEMENTS && n == 3));
            gpumb_set_expected(g, 1000, 0.1 * (double)n);
            gpumb_set_value(g, "z last", n == 2 ? NAN : 1.0 / (double)n);
            gpumb_set_value(g, "a first", 1e-300);
            double value = 1.0 / 3 + (double)form;
            gpumb_set_verify(g, n == 3 && form == 1 ? wrong : right, &value);
            if (n == 2 && form == 1)
                gpumb_skip(g, "not here");
            GPUMB_MEASURE(g, "kernel, \"not \xff UTF-8\"") {
                work(&runs, 1e-4 * (double)(n + 3 * form + 1));
            }
        }
    }
    GPUMB_SWEEP_REALS(g, share, 0.1, 1e-7) {
        int runs[2] = {0, 0};
        at(5000 + share);
        if (changed == APART) {
            GPUMB_MEASURE(g, "base")
                work(&runs[0], 1e-4);
            GPUMB_MEASURE(g, "other")
                work(&runs[1], 1.3e-4);
            continue;
        }
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "base")
                work(&runs[0], 1e-4);
            GPUMB_MEASURE(g, "other")
                work(&runs[1], 1.3e-4);
        }
    }
}

static void times(gpumb *g)
{
    for (int twice = 0; twice < 2 && changed != TOGETHER; twice++) { // two rows of one name
        int runs = 0;
        at(7000 + twice);
        gpumb_set_transfer(g, 1e6, 0);
        GPUMB_MEASURE(g, "again")
            work(&runs, twice ? 3e-4 : 2e-4);
    }
    int twins[2] = {0, 0};
    if (changed == TOGETHER)
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "again")
                work(&twins[0], 2e-4);
            GPUMB_MEASURE(g, "again")
                work(&twins[1], 3e-4);
        }
    static const int64_t both[] = {-7, 9};
    GPUMB_SWEEP_ARRAY(g, late, both, 2) {
        const double time[] = {3e-3, 3.5e-3, 2e-3, 4e-3 / 3};
        if (gpumb_wants_times(g, "elsewhere")) {
            measured++;
            gpumb_add_times(g, "elsewhere", GPUMB_MEANING_LATENCY, time, 4);
        }
        int runs = 0;
        at(8000 + (double)late);
        if (changed == TIMING)
            gpumb_set_timing(g, GPUMB_TIMING_HOST);
        GPUMB_MEASURE(g, renamed ? "renamed" : "late") {
            work(&runs, 1e-3);
        }
    }
    const gpumb_result *last = gpumb_last_result(g);
    gpumb_note(g, "the last took %.9g s, full %d", last ? last->time.median : 0,
               gpumb_get_settings(g)->full);
}

static const gpumb_benchmark benchmarks[] = {{"sweeps", "", sweeps}, {"times", "", times}};

typedef std::vector<std::string> words;

static const words files = {"--csv=x.csv", "--json=x.json", "--md=x.md", "--gbench=x.gb"};

static words operator+(words a, const words &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct outcome {
    int code; // or minus the signal
    int measured;
    std::string said;
};

// The program in a process of its own, with what `before` does first.
static outcome run(
    const words &options, const std::function<void()> &before = [] {})
{
    const pid_t child = fork();
    if (!child) {
        alarm(20);
        dup2(open("/dev/null", O_WRONLY), 1);
        char program[] = "program", warmup[] = "--warmup=0.01", samples[] = "--samples=8:12";
        std::vector<char *> argument = {program, warmup, samples};
        for (const std::string &word : options)
            argument.push_back(const_cast<char *>(word.c_str()));
        argument.push_back(NULL);
        fake_reset();
        fake_link_rate = 1e10;
        fake_memory = (uint64_t)8 << 30; // enough to measure its rate
        fake_multiprocessors = 1;        // fills that are soon done
        lines.clear();
        before();
        int own = (int)argument.size() - 1;
        gpumb *g = gpumb_open_args(&own, argument.data());
        const int code = gpumb_run(g, benchmarks, fewer ? 1 : 2);
        FILE *file = fopen("said", "w");
        fprintf(file, "%d %s", measured, lines.c_str());
        fclose(file);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::string text = read_file("said");
    unlink("said");
    const size_t blank = text.find(' ');
    return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
            text.empty() ? -1 : atoi(text.c_str()),
            blank == std::string::npos ? "" : text.substr(blank + 1)};
}

static void clean()
{
    empty_folder(".");
}

static void store(const char *name, const std::string &text)
{
    FILE *file = fopen(name, "w");
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
}

static std::string replaced(std::string text, const std::string &from, const std::string &to)
{
    for (size_t i = 0; (i = text.find(from, i)) != std::string::npos; i += to.size())
        text.replace(i, from.size(), to);
    return text;
}

static int rows_of(const std::string &csv)
{
    return (int)(csv.size() - replaced(csv, ",program=", ",").size()) / 8;
}

// Of a file, without the date.
static std::string content(const char *name)
{
    std::string text = read_file(name);
    const size_t date = text.find("\"date\": \"");
    if (date != std::string::npos)
        text.erase(date, text.find(',', date) - date);
    return text;
}

static const char *const names[] = {"x.csv", "x.json", "x.md", "x.gb"};
static std::string whole[4]; // of a run that nothing interrupts

static void remember(const words &options)
{
    clean();
    const outcome o = run(options);
    CHECK_INT(o.code, GPUMB_EXIT_FAILED); // a check does
    CHECK_INT(o.measured, ROWS - 1);      // one is skipped
    for (int i = 0; i < 4; i++) {
        whole[i] = content(names[i]);
        CHECK(!whole[i].empty());
    }
}

// Nothing is lost, and nothing else is there.
static bool is_whole()
{
    bool same = true;
    for (int i = 0; i < 4; i++) {
        const std::string now = content(names[i]);
        same &= now == whole[i] && !exists((std::string(names[i]) + ".part").c_str());
        if (now != whole[i]) {
            store("now", now);
            store("expected", whole[i]);
            CHECK(!system("diff expected now | cut -c1-200 | head -4 >&2; false"));
        }
    }
    return same;
}

// How many rows a run said that it kept.
static int kept(const outcome &o)
{
    const size_t at_number = o.said.find("--resume: ");
    return has(o.said, "of an earlier run") ? atoi(o.said.c_str() + at_number + 10) : 0;
}

// Resumes what is there.
static outcome resume(const words &options)
{
    const outcome o = run(options + words{"--resume"});
    CHECK_INT(o.code, GPUMB_EXIT_FAILED);
    CHECK(is_whole());
    return o;
}

// ---- tests --------------------------------------------------------------------------------------

// Killed at each write, which is torn or not there at all, and once more while it is resumed.
static void test_killed(const words &options, int step)
{
    remember(options);
    int most = 0, dead = 1;
    for (int k = 1; dead; k += step * (SANITIZED ? 7 : 1)) {
        clean();
        dead = run(options, [&] {
                   die_at_write = k;
                   torn = k % 2;
               }).code == -SIGKILL;
        if (!dead)
            break;
        if (k % 3 == 0)
            run(options + words{"--resume"}, [&] {
                die_at_write = 1 + k / 2;
                torn = k % 2;
            });
        const outcome o = resume(options);
        CHECK_INT(kept(o) + o.measured >= ROWS - 1 && kept(o) + o.measured <= ROWS + 1, 1);
        most = kept(o) > most ? kept(o) : most;
    }
    CHECK(most >= ROWS - 1);
}

// A write of a file that is made anew, or its new name, is the last thing that happens.
static void test_killed_renaming()
{
    remember(files);
    for (int k = -8; k <= 8; k += SANITIZED ? 4 : 1) {
        clean();
        run(files, [] { interrupted = 9; });
        run(files + words{"--resume"}, [&] { die_at_rename = k; });
        if (exists("x.csv.part") || exists("x.json.part"))
            resume(files);
        CHECK(whole[0] == content("x.csv"));
    }
}

// A signal lets files be completed; the body of a region that is under way leaves no row.
static void test_interrupted()
{
    remember(files);
    for (int k = 1; k <= ROWS - 1; k += 2) {
        clean();
        const outcome o = run(files, [&] { interrupted = k; });
        CHECK_INT(o.code, GPUMB_EXIT_TERMINATED);
        const outcome again = resume(files);
        CHECK(k < 4 || kept(again) >= k - 3);
        CHECK(again.measured <= ROWS - k + 1);
    }
    clean();
    run(files, [] { interrupted = 9; });
    const std::string part = read_file("x.csv.part");
    const outcome o = run(files + words{"--resume"}, [] { interrupted = 1; });
    CHECK_INT(o.code, GPUMB_EXIT_TERMINATED); // at once: nothing is lost
    CHECK(read_file("x.csv.part") == part);
    run(files + words{"--resume"}, [] { die_at_write = 5; }); // as the rows are written anew
    CHECK_INT(kept(resume(files)), rows_of(part));
}

// One kind of file alone; drawn orders; every sample; and a comparison at the end.
static void test_kinds()
{
    for (int kind = 0; kind < 2; kind++) {
        const words one = {files[(size_t)kind]};
        clean();
        run(one);
        for (int i = 0; i < 4; i++)
            whole[i] = content(names[i]);
        for (int k = 2; k < 14; k += 3) {
            clean();
            run(one, [&] {
                die_at_write = k;
                torn = 1;
            });
            CHECK(kept(resume(one)) >= (k < 8 ? k - 1 : 5));
        }
    }
    clean(); // torn within a field
    run(words{"--csv=x.csv"});
    whole[0] = content("x.csv");
    for (int i = 1; i < 4; i++)
        whole[i].clear();
    clean();
    store("x.csv.part", whole[0].substr(0, whole[0].find("\nnot 9") + 1));
    CHECK_INT(kept(resume(words{"--csv=x.csv"})), 5);
    clean(); // without the first of two lanes, both are measured again
    const size_t lane = whole[0].find(",sweeps,base,"), line = whole[0].rfind('\n', lane) + 1;
    store("x.csv.part", whole[0].substr(0, line) + whole[0].substr(whole[0].find('\n', lane) + 1));
    CHECK_INT(resume(words{"--csv=x.csv"}).measured, 2);
    test_killed(files + words{"--shuffle"}, 7);
    test_killed(files + words{"--raw"}, 5);
    CHECK(has(whole[1], "samples_s"));
    clean();
    run(words{"--csv=base.csv"});
    run(files, [] { interrupted = 11; });
    const outcome o = run(files + words{"--resume", "--compare=base.csv", "--fail-on-regression"});
    CHECK_INT(o.code, GPUMB_EXIT_FAILED); // by its check
    CHECK(has(content("x.json"), "14 undecided; 2 rows not compared"));
}

// Whatever is of another run is refused in words, and stays.
static void test_refused()
{
    const words csv = {"--csv=x.csv"}, again = {"--csv=x.csv", "--resume"};
    clean();
    run(csv, [] { interrupted = 9; });
    const std::string part = read_file("x.csv.part");
    const struct {
        std::string from, to;
        words options;
        const char *text;
    } cases[] = {
        {"", "", {"--precision=2"}, "another settings: the default, here it is precision=0.02;"},
        {"", "", {"--axis", "n=1,2"}, "the default, here it is arguments=--axis n=1 2;"},
        {"", "", {"--filter", "kernel"}, "here it is arguments=--filter kernel;"},
        {"", "", {"mine"}, "here it is arguments=mine;"},
        {"program=program", "program=other", {}, "settings: program=other, here it is program="},
        {"program=program", "program=program;delta=0.1", {}, "delta=0.1, here it is the default;"},
        {"\n4,", "\n3,", {}, "another schema: 3, here it is 4"},
        {",0.1.0,", ",0.0.9,", {}, "another gpumb: 0.0.9, here it is 0.1.0"},
        {",fake,", ",cuda,", {}, "another backend: cuda, here it is fake"},
        {"Fake 9000", "Fake 9001", {}, "another device: Fake 9001, here it is Fake 9000"},
        {",verified,", ",certified,", {}, "has no column verified"},
        {",yes,", ",yes,,", {}, "line 2: "},
        {part, "what is this\n", {}, "line 1: not what this version writes"},
    };
    for (const auto &c : cases) {
        const std::string text = c.from.empty() ? part : replaced(part, c.from, c.to);
        store("x.csv.part", text);
        const outcome o = run(again + c.options);
        CHECK_INT(o.code, GPUMB_EXIT_USAGE);
        CHECK(has(o.said, "x.csv.part: ") && has(o.said, c.text));
        CHECK(has(o.said, "x.csv.part is as the run before has left it"));
        if (!has(o.said, c.text))
            fprintf(stderr, "%s", o.said.c_str());
        CHECK(read_file("x.csv.part") == text && !exists("x.csv.part.1"));
    }
    std::string last = part; // one row of many is enough
    last.replace(last.rfind(",fake,"), 6, ",cuda,");
    store("x.csv.part", last);
    CHECK(has(run(again).said, "another backend: cuda, here it is fake"));
    run(words{"--json=x.json"}, [] { interrupted = 9; });
    std::string many = read_file("x.json.part"); // values, than there can be, a few in each row
    int values = 0;
    for (size_t at = 0; (at = many.find("\"a first\": ", at)) != std::string::npos; at += 100)
        for (int i = 0; i < 6; i++)
            many.insert(at, "\"v" + std::to_string(values++) + "\": 1, ");
    store("x.json.part", many);
    const outcome o = run(words{"--json=x.json", "--resume"});
    CHECK_INT(o.code, GPUMB_EXIT_USAGE);
    CHECK(has(o.said, "x.json.part: its column v") &&
          has(o.said, " can't be a value of this run: there are 16 of them already; run without "));
    CHECK(read_file("x.json.part") == many);
    clean();
    CHECK_INT(run(words{"--md=x.md", "--resume"}).code, GPUMB_EXIT_USAGE);
    const outcome both = run(again + words{"--processes=2"});
    CHECK(both.code == GPUMB_EXIT_USAGE && has(both.said, "leave out --processes"));
    store("x.csv.part", part);
    const int fd = open("x.csv.part", O_RDWR);
    flock(fd, LOCK_EX); // a run that lives
    CHECK(has(run(again).said, "another run is writing it"));
    CHECK(read_file("x.csv.part") == part);
    const outcome freed = run(again, [&] { // or one that was killed, and is not gone yet
        held = fd;
        free_after = 50;
    });
    CHECK_INT(freed.code, GPUMB_EXIT_FAILED);
    CHECK(!has(freed.said, "another run"));
    close(fd);
    store("x.csv.part", part);
    CHECK_INT(run(again).code, GPUMB_EXIT_FAILED);
    CHECK(!exists("x.csv.part"));
    CHECK(has(run(again).said, "no run has left rows"));
    run(csv, [] { die_at_write = 1; }); // an empty one
    CHECK(has(run(again).said, "no run has left rows"));
}

// Regions that are gone have no row, and new ones are measured.
static void test_changed()
{
    const words csv = {"--csv=x.csv"}, again = {"--csv=x.csv", "--resume"};
    clean();
    run(csv, [] { die_at_write = ROWS + 5; });
    const outcome o = run(again, [] { fewer = 1; });
    CHECK(has(o.said, "5 rows of the earlier run left out"));
    CHECK_INT(o.measured, 0);
    clean();
    run(csv, [] { die_at_write = ROWS + 5; });
    const outcome other = run(again, [] { renamed = 1; });
    CHECK(has(other.said, "1 row of the earlier run left out"));
    CHECK_INT(other.measured, 2);
    CHECK_INT(rows_of(read_file("x.csv")), ROWS);
}

// Without the marks of a replay.
static std::string unmarked(std::string text)
{
    for (const char *mark : {";replayed", "replayed: ", "Replayed: ", ", \"replayed\": true"})
        text = replaced(text, mark, "");
    text = replaced(replaced(text, ",replayed,", ",,"), "| replayed |", "| |");
    text = replaced(text, "\"flags\": \"replayed\"", "\"flags\": \"\"");
    return replaced(text, "\"replayed\": \"w.json\",\n", "");
}

static size_t count(const std::string &text, const std::string &part)
{
    return (text.size() - replaced(text, part, "").size()) / part.size();
}

static void no_device()
{
    fake_devices = 0;
}

// Of JSON all comes back, of CSV all rows. Nothing runs, and no device is opened.
static void test_replayed()
{
    remember(files + words{"--raw"});
    rename("x.json", "w.json");
    rename("x.csv", "w.csv");
    const outcome o = run(files + words{"--raw", "--replay=w.json"}, no_device);
    CHECK_INT(o.code, GPUMB_EXIT_FAILED); // by the row that failed
    CHECK_INT(o.measured, 0);
    CHECK(!has(o.said, "replay"));
    for (int i = 0; i < 4; i++) {
        const std::string now = content(names[i]), plain = unmarked(now);
        CHECK(plain == whole[i]);
        if (plain != whole[i]) {
            store("now", plain);
            store("expected", whole[i]);
            CHECK(!system("diff expected now | cut -c1-300 | head -8 >&2; false"));
        }
        const size_t wanted[] = {ROWS, ROWS + 2, ROWS - 2 + 2, 1}; // with a note, and the head
        CHECK_INT(count(now, "replayed") + count(now, "Replayed"), wanted[i]);
    }
    const outcome csv = run(words{"--csv=x.csv", "--replay=w.csv"}, no_device);
    CHECK_INT(csv.measured, 0);
    CHECK(unmarked(read_file("x.csv")) == whole[0]);
    const outcome both = run(words{"--json=x.json", "--replay=w.csv,w.json"}, no_device);
    CHECK_INT(both.measured, 0);
    const std::string json = read_file("x.json");
    CHECK(has(json, "\"name\": \"Fake 9000\"") && has(json, "\"multiprocessors\": 1,"));
    // Compared with itself: without a difference, whatever the spread of processes.
    const outcome same = run(words{"--replay=w.json", "--compare=w.csv", "--json=x.json"});
    CHECK_INT(same.code, GPUMB_EXIT_FAILED);
    CHECK(has(read_file("x.json"), "compared with w.csv: 0 faster, 0 slower"));
    // Some of it, in another order.
    const outcome some = run(words{"--replay=w.json", "--csv=x.csv", "--shuffle", "--axis=n=2,3,7",
                                   "--filter=kernel", "--filter=again"});
    CHECK_INT(some.measured, 0);
    CHECK_INT(rows_of(read_file("x.csv")), 6);
    CHECK(has(some.said, "has nothing of the configurations of 2 regions"));
    CHECK(has(some.said, "10 rows of the earlier run left out: this run has no such region; they "
                         "take --axis n=1; that one had "));
}

// A part of a file, from where `begin` stands in it to `end`.
static std::string part_of(const std::string &text, const char *begin, const char *end)
{
    const size_t at_begin = text.find(begin);
    return at_begin == std::string::npos ? "" : text.substr(at_begin, text.find(end) - at_begin);
}

// Device, profile and settings are the file's, of CSV as far as it or the JSON behind it has them.
static void test_replayed_settings()
{
    clean();
    run(words{"--json=w.json", "--csv=w.csv", "--full", "--precision=3", "--seed=5"});
    const std::string json = read_file("w.json");
    const std::string device = part_of(json, "\"device\": {", "\"settings\": {");
    const std::string settings = part_of(json, "\"settings\": {", "\"units\": ");
    CHECK(has(device, "\"l2_bytes\": 33554432") && has(settings, "\"seed\": 5"));
    CHECK(has(json, "s, full 1\""));
    for (const char *from : {"w.json", "w.csv,w.json", "w.csv"}) {
        run(words{"--json=x.json", "--csv=x.csv", std::string("--replay=") + from}, no_device);
        const std::string now = read_file("x.json");
        CHECK(has(now, "s, full 1\"") && has(now, "\"name\": \"Fake 9000\""));
        CHECK(has(device, part_of(now, "\"device\": {", "\"settings\": {")) ==
              (from[2] == 'j' || from[5]));
        CHECK(has(settings, part_of(now, "\"settings\": {", "\"units\": ")) == (from[2] == 'j'));
        CHECK_STR(fake_csv("x.csv", 0, "settings"), fake_csv("w.csv", 0, "settings"));
    }
    run(words{"--json=w.json", "--csv=w.csv"});
    for (const char *from : {"--replay=w.json", "--replay=w.csv"}) {
        run(words{"--json=x.json", from}, no_device);
        CHECK(has(read_file("x.json"), "s, full 0\""));
    }
}

// An older file has values among its axes; medians of processes are kept, all of them.
static void test_replayed_older()
{
    clean();
    const std::string kernel = "sweeps,\"kernel, \"\"not ? UTF-8\"\"\",hip,";
    store("w.csv", "bench,kernel,backend,status,median_s,ci_lo_s,ci_hi_s,processes,process_lo_s,"
                   "process_hi_s,process_medians_s,peak_gbps,link_gbps,n,form,z last\n" +
                       kernel + "ok,3e-4,2e-4,4e-4,,,,,,,1,plain,0.5\n" + kernel +
                       "ok,3e-4,2e-4,4e-4,3,1e-4,3e-4,0.0001;0.0002;0.0003,800,50,2,plain,0.25\n" +
                       kernel + "ok,3e-4,2e-4,4e-4,,,,,900,60,3,plain,\n");
    CHECK_INT(run(words{"--csv=x.csv", "--json=x.json", "--replay=w.csv"}, no_device).code,
              GPUMB_EXIT_OK);
    CHECK_INT(rows_of(read_file("x.csv")), 3);
    CHECK_STR(fake_csv("x.csv", 1, "process_medians_s"), "0.0001;0.0002;0.0003");
    for (int i = 0; i < 3; i++)
        CHECK_STR(fake_csv("x.csv", i, "z last"), i ? i == 1 ? "0.25" : "" : "0.5");
    CHECK_STR(fake_csv("x.csv", 1, "values"), "z last");
    const std::string json = read_file("x.json");
    for (const char *field : {"\"warp_size\": 64,", "\"max_block\": 1024,", "\"peak_gbps\": 800,",
                              "\"link_gbps\": 50,", "\"ecc\": null,"})
        CHECK_CASE(count(part_of(json, "\"device\": {", "\"settings\": {"), field) == 1, "%s",
                   field);
}

// What is in the file and not in the program, or the other way round, is said.
static void test_replayed_otherwise()
{
    clean();
    run(words{"--csv=w.csv", "--json=w.json"});
    const outcome o = run(words{"--csv=x.csv", "--replay=w.csv"}, [] { fewer = 1; });
    CHECK(has(o.said, "6 rows of the earlier run left out"));
    const std::string whole_csv = read_file("w.csv");
    const size_t row = whole_csv.find("times,elsewhere"), line = whole_csv.rfind('\n', row) + 1;
    store("w.csv", whole_csv.substr(0, line) + whole_csv.substr(whole_csv.find('\n', row) + 1));
    const outcome lacks = run(words{"--csv=x.csv", "--replay=w.csv"});
    CHECK_INT(lacks.measured, 0);
    const std::string csv = read_file("x.csv");
    CHECK_INT(rows_of(csv), ROWS);
    CHECK(has(csv, "skipped,not in the file that is replayed"));
    CHECK_INT(count(csv, "replayed"), ROWS + 1);

    const struct {
        const char *from, *to, *text;
    } cases[] = {
        {"sweeps,", "swoops,", "w.csv: this run has no region for any of its rows, the first"},
        {"Fake 9000", "Fake 9001", "has rows of Fake 9001 and of Fake 9000; keep those of one"},
        {",ok,", ",well,",
         "line 2: neither ok, skipped nor failed is the status well; make one by"},
        {",bench,", ",branch,", "line 1: there is no column bench; make one by --csv rows.csv"},
    };
    for (const auto &c : cases) {
        std::string text = whole_csv;
        if (c.from == cases[1].from) // the first alone
            text.replace(text.find(c.from), strlen(c.from), c.to);
        else
            text = replaced(replaced(text, c.from, c.to), "times,", "swoops,");
        store("w.csv", text);
        const outcome wrong = run(words{"--csv=y.csv", "--replay=w.csv"}, no_device);
        CHECK_INT(wrong.code, GPUMB_EXIT_USAGE);
        CHECK(has(wrong.said, c.text) && has(wrong.said, "--replay w.csv: "));
        if (!has(wrong.said, c.text))
            fprintf(stderr, "%s", wrong.said.c_str());
        CHECK(!exists("y.csv") && !exists("y.csv.part"));
    }
    store("w.csv", whole_csv + "\n\n"); // as spreadsheets leave behind
    const outcome ends = run(words{"--csv=z.csv", "--replay=w.csv"}, no_device);
    CHECK(ends.code != GPUMB_EXIT_USAGE && rows_of(read_file("z.csv")) == ROWS);
    store("w.csv", whole_csv.substr(0, whole_csv.size() - 100)); // a line is torn
    const outcome torn_line = run(words{"--replay=w.csv"});
    CHECK(torn_line.code == GPUMB_EXIT_USAGE &&
          has(torn_line.said, "fewer fields than the header"));
    const std::string json = read_file("w.json");
    store("w.json", json.substr(0, json.find(", \"status\": ", json.size() / 2) + 2));
    CHECK(has(run(words{"--replay=w.json"}).said, "the file ends too early"));
    CHECK(has(run(words{"--replay=none.csv"}).said, "none.csv: No such file or directory; make "));
    store("w.csv", whole_csv);
    for (const char *option : {"--resume", "--processes=2", "--profile"}) {
        const outcome wrong = run(words{"--csv=y.csv", "--replay=w.csv", option});
        CHECK(wrong.code == GPUMB_EXIT_USAGE && has(wrong.said, "leave "));
    }
}

// Rows of a program that was changed since are shown, and it is said that they are of another one.
static void test_replayed_of_another()
{
    clean();
    run(words{"--csv=w.csv", "--json=w.json"});
    const struct {
        int change;
        const char *said;
    } cases[] = {
        {NOT, NULL},
        {BYTES, "2 rows of another program, or of this one before a change: sweeps/kernel, "
                "\"not ? UTF-8\" form=plain n=2 states other bytes than its row"},
        {ELEMENTS, "1 row of another program, or of this one before a change: sweeps/kernel, "
                   "\"not ? UTF-8\" form=plain n=3 states other elements than its row"},
        {TIMING, "2 rows of another program, or of this one before a change: times/late late=-7 is "
                 "to be timed in another way than its row was"},
        {APART, "2 rows of another program, or of this one before a change: sweeps/other share=0.1 "
                "is in no GPUMB_INTERLEAVE, its row was"},
        {TOGETHER, "1 row of another program, or of this one before a change: times/again is in a "
                   "GPUMB_INTERLEAVE, its row was not"},
    };
    for (const auto &c : cases)
        for (const char *file : {"--replay=w.json", "--replay=w.csv,w.json", "--replay=w.csv"}) {
            const outcome o =
                run(words{"--csv=x.csv", file}, [&] { changed = (decltype(changed))c.change; });
            // Of CSV alone the device is not known, which bytes may follow from.
            const bool told = c.said && (c.change > ELEMENTS || !!strcmp(file, "--replay=w.csv"));
            CHECK_INT(rows_of(read_file("x.csv")), ROWS);
            CHECK_INT(has(o.said, "another program"), told);
            if (!CHECK(!told || has(o.said, c.said)))
                fprintf(stderr, "%s", o.said.c_str());
        }
    // Where the first of an interleave is filtered out, its row is not missed.
    CHECK(!has(run(words{"--replay=w.json", "--filter=other"}).said, "another program"));

    // Values of an axis that the run lacks, and axes that the program has not.
    const outcome fewer_values = run(words{"--replay=w.json", "--axis", "n=2"});
    CHECK(has(fewer_values.said, "this run has no such region; they take --axis n=1,3; that one "));
    run(words{"--csv=v.csv", "--axis", "n=7,8", "--axis", "share=0.25", "--filter=kernel",
              "--filter=base"});
    const outcome none = run(words{"--replay=v.csv"});
    CHECK_INT(none.code, GPUMB_EXIT_USAGE);
    CHECK(has(none.said, "run the program that has written it; they take --axis n=7,8"));
    const outcome given = run(words{"--replay=v.csv", "--axis=n=7,8", "--axis=share=0.25"});
    CHECK(has(given.said, "has nothing of the configurations of") && !has(given.said, "they take"));
    store("v.csv", replaced(read_file("v.csv"), ",form,n,", ",form,size,"));
    const outcome axis = run(words{"--replay=v.csv"});
    CHECK_INT(axis.code, GPUMB_EXIT_USAGE);
    CHECK(has(axis.said, "; this program has no axis size"));
}

__global__ void first()
{
}

__global__ void second()
{
}

// Returns the CSV, without what differs from one run to the next: `replayed`, ...
static std::string run_nameless(const char *replay, int resume)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.csv = "x.csv";
    settings.replay = replay;
    settings.resume = resume;
    settings.warmup_s = settings.least_s = -1;
    settings.min_samples = settings.max_samples = 8;
    fake_reset();
    gpumb *g = gpumb_open_settings("program", &settings);
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        GPUMB_MEASURE(g, NULL)
            GPUMB_LAUNCH(first, n, 1, 0);
        GPUMB_MEASURE(g, "named")
            GPUMB_LAUNCH(second, n, 1, 0);
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, NULL)
                GPUMB_LAUNCH(second, n, 1, 0);
            GPUMB_MEASURE(g, "")
                GPUMB_LAUNCH(first, n, 1, 0);
        }
    }
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    return replaced(read_file("x.csv"), ";replayed", "");
}

// Rows of regions without a name have that of what they launch, and are found all the same.
static void test_nameless()
{
    clean();
    const std::string all = run_nameless(NULL, 0);
    CHECK(count(all, ",program,first,") == 4 && count(all, ",program,second,") == 2);
    store("w.csv", all);
    CHECK_STR(run_nameless("w.csv", 0).c_str(), all.c_str());
    for (size_t rows = 1; rows <= 8; rows++) {
        size_t end = all.find('\n') + 1; // of the header
        for (size_t i = 0; i < rows; i++)
            end = all.find('\n', end) + 1;
        if (rows % 4 == 3) // a lane is kept with the other one alone
            continue;
        store("x.csv.part", all.substr(0, end));
        const std::string csv = run_nameless(NULL, 1);
        CHECK_CASE(rows_of(csv) == 8 && !csv.compare(0, end, all, 0, end), "%d rows", (int)rows);
    }
}

// A row keeps the time at which it was measured, and files from before that column go on.
static void test_dates()
{
    const words csv = {"--csv=x.csv"};
    clean();
    run(csv, [] { interrupted = 9; });
    const std::string part = read_file("x.csv.part");
    CHECK_INT(count(part, ",2026-01-31T12:00:00Z,"), rows_of(part));
    const auto later = [] { fake_date = "2027-02-01T00:00:00Z"; };
    const outcome o = run(csv + words{"--resume"}, later);
    CHECK_INT(kept(o), rows_of(part));
    const std::string resumed = read_file("x.csv");
    CHECK_INT(count(resumed, ",2026-01-31T12:00:00Z,"), kept(o));
    CHECK_INT(count(resumed, ",2027-02-01T00:00:00Z,"), ROWS - kept(o));
    rename("x.csv", "w.csv");
    run(csv + words{"--replay=w.csv", "--json=x.json"}, [] { fake_date = "2028"; });
    CHECK_INT(count(read_file("x.json"), "\"time_utc\": \"2026-01-31T12:00:00Z\""), kept(o));
    CHECK(!has(read_file("x.csv"), "2028"));

    const std::string old = replaced(replaced(part, ",time_utc", ""), ",2026-01-31T12:00:00Z", "");
    store("x.csv.part", old);
    CHECK_INT(kept(run(csv + words{"--resume"})), rows_of(part));
    CHECK_INT(rows_of(read_file("x.csv")), ROWS);
    CHECK(has(read_file("x.csv"), ",settings,time_utc,"));
    store("w.csv", old);
    const outcome replayed = run(words{"--json=x.json", "--replay=w.csv"});
    CHECK(!has(replayed.said, "time_utc") && has(read_file("x.json"), "\"time_utc\": null"));
    CHECK(!has(run(csv + words{"--compare=w.csv"}).said, "w.csv"));
}

// What programs divide by, and names that end a line of a sink, or mean something there.
static void test_replayed_devices()
{
    clean();
    run(words{"--json=w.json"});
    const std::string json = read_file("w.json");
    for (const char *value : {"null", "0", "7", "-1", "2147483647"}) {
        const bool none = value[0] != '-' && value[0] != '7';
        std::string text = json;
        for (const char *name : {"warp_size", "max_block", "max_threads", "multiprocessors"}) {
            const std::string key = "\"" + std::string(name) + "\": ";
            const size_t begin = text.find(key) + key.size();
            if (none || !strcmp(name, "warp_size"))
                text.replace(begin, text.find(',', begin) - begin, value[0] == '-' ? "1" : value);
        }
        store("n.json", text);
        const outcome o = run(words{"--json=x.json", "--replay=n.json"}, [] { divides = 1; });
        CHECK_INT(o.code, GPUMB_EXIT_FAILED); // by the row that failed
        CHECK(has(read_file("x.json"), "\"warp_size\": 32,"));
    }
    std::string text = replaced(json, "\"Fake 9000\"", "\"\\u001b[31mFake\\n# *9*\\r<b>\"");
    text = replaced(text, "\"backend\": \"fake\"", "\"backend\": \"a\\\"\\n# \"");
    store("n.json", text);
    CHECK_INT(run(files + words{"--replay=n.json"}).code, GPUMB_EXIT_FAILED);
    const std::string md = read_file("x.md"), gbench = read_file("x.gb");
    CHECK_STR(md.substr(0, md.find(", gpumb")).c_str(),
              "Replayed: ?\\[31mFake \\# \\*9\\* \\<b\\> (a\" \\# )");
    CHECK(has(gbench, "\"device\": \"\\u001b[31mFake\\u000a# *9*\\u000d<b>\", "
                      "\"backend\": \"a\\\"\\u000a# \", "));
}

int main()
{
    const std::string folder = make_folder("gpumb-resume");
    if (chdir(folder.c_str()))
        return 1;
    test_killed(files, 1);
    test_killed_renaming();
    test_interrupted();
    test_kinds();
    test_refused();
    test_changed();
    test_replayed();
    test_replayed_settings();
    test_replayed_older();
    test_replayed_otherwise();
    test_replayed_of_another();
    test_nameless();
    test_replayed_devices();
    test_dates();
    CHECK(remove_folder(folder));
    return CHECK_SUMMARY();
}

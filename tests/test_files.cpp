// test_files.cpp - what gets to files and to the terminal, on the fake device: names that are links
// or taken, two runs at once, runs that are ended in the middle, disks that are full; and texts
// that would drive a terminal.
#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// The system's calls, which the tests look at and let fail.
static std::string calls;     // "f" a file is flushed, "r" renamed, "d" a folder flushed
static int no_locks;          // as on some network file systems
static void (*before_lock)(); // once
static long disk_left = -1;   // bytes until it is full; -1: never
static int freed;             // it has room again as soon as that is known
static int short_writes;      // of 100 bytes at most, every other one interrupted
static int die_at_rename = 0; // SIGKILL before the so many-th, or after if negative; 0: never
static int renames;

static std::vector<int> flush_errors; // of the next flushes, from the last on
static int watched_fsync(int fd)
{
    struct stat about;
    fstat(fd, &about);
    calls += S_ISDIR(about.st_mode) ? "d" : "f";
    if (flush_errors.empty())
        return 0;
    errno = flush_errors.back();
    flush_errors.pop_back();
    return errno ? -1 : 0;
}

static int watched_rename(const char *from, const char *to)
{
    if (++renames == die_at_rename)
        raise(SIGKILL);
    calls += "r";
    const int error = rename(from, to);
    if (renames == -die_at_rename)
        raise(SIGKILL);
    return error;
}

static int watched_flock(int fd, int operation)
{
    void (*const before)() = before_lock;
    before_lock = NULL;
    if (before)
        before();
    errno = ENOLCK;
    return no_locks ? -1 : flock(fd, operation);
}

static mode_t mode_before; // of a file whose mode is set

static int watched_fchmod(int fd, mode_t mode)
{
    struct stat about;
    fstat(fd, &about);
    mode_before = about.st_mode & 0777;
    return fchmod(fd, mode);
}

static ssize_t watched_write(int fd, const void *data, size_t size)
{
    static int count;
    if (short_writes && count++ % 2) {
        errno = EINTR;
        return -1;
    }
    size = short_writes && size > 100 ? 100 : size;
    if (disk_left >= 0 && (long)size > disk_left)
        size = (size_t)disk_left;
    disk_left -= disk_left >= 0 ? (long)size : 0;
    if (size)
        return write(fd, data, size);
    disk_left = freed ? -1 : 0;
    errno = ENOSPC;
    return -1;
}

static std::vector<std::string> lines; // what was said, without "gpumb: "
#define GPUMB_LOG(text) lines.push_back(std::string(text).substr(7))
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define fsync watched_fsync
#define rename watched_rename
#define flock watched_flock
#define write watched_write
#define fchmod watched_fchmod
#include "../gpumb.h"
#undef fsync
#undef rename
#undef flock
#undef write
#undef fchmod

#include "check.h"
#include "fake.h"
#include "folder.h"
#include "printed.h"
#include "read_file.h"
#include "texts.h"

// ---- runs ---------------------------------------------------------------------------------------

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.warmup_s = -1;
    s.max_samples = 30;
    s.csv = "x.csv";
    fake_reset();
    lines.clear();
    return s;
}

static void nothing(gpumb *)
{
}

// Two rows, `hook` in the middle of the next, and two more with another axis. Returns its code.
static int measure(const gpumb_settings &s, const std::function<void(gpumb *)> &hook = nothing)
{
    gpumb *g = gpumb_open_settings("program", &s);
    GPUMB_SWEEP_RANGE(g, n, 1, 3, 1) {
        int first = n == 3;
        GPUMB_MEASURE(g, "kernel") {
            fake_run(1e-3);
            if (first)
                hook(g);
            first = 0;
        }
    }
    GPUMB_SWEEP_LIST(g, late, 7, 9) {
        GPUMB_MEASURE(g, "kernel") {
            fake_run(1e-3);
        }
    }
    return gpumb_close(g);
}

// What a process of its own came to: its exit code, or minus the signal that ended it.
struct outcome {
    int code;
    std::string said;
    size_t count; // of lines
};

static pid_t start(const std::function<int()> &body, const char *said)
{
    const pid_t child = fork();
    if (child)
        return child;
    const int out = open("/dev/null", O_WRONLY);
    dup2(out, 1);
    alarm(20); // nothing may hang
    lines.clear();
    const int code = body();
    FILE *file = fopen(said, "w");
    for (const std::string &line : lines)
        fprintf(file, "%s\n", line.c_str());
    fclose(file);
    _exit(code);
}

static outcome finish(pid_t child, const char *said)
{
    outcome o = {-1, "", 0};
    int status = 0;
    waitpid(child, &status, 0);
    o.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    o.said = read_file(said);
    for (char c : o.said)
        o.count += c == '\n';
    unlink(said);
    return o;
}

static outcome run(const std::function<int()> &body)
{
    return finish(start(body, "said"), "said");
}

static outcome run(const gpumb_settings &s, const std::function<void(gpumb *)> &hook = nothing)
{
    return run([&] { return measure(s, hook); });
}

static void store(const std::string &name, const char *text)
{
    FILE *file = fopen(name.c_str(), "w");
    fputs(text, file);
    fclose(file);
}

static void clean()
{
    empty_folder(".");
}

static std::string listing() // of the folder, but for `said`
{
    std::string text;
    std::vector<std::string> names;
    DIR *const folder = opendir(".");
    while (const dirent *entry = readdir(folder))
        if (strspn(entry->d_name, ".") < strlen(entry->d_name) && !has(entry->d_name, "said"))
            names.push_back(entry->d_name);
    closedir(folder);
    std::sort(names.begin(), names.end());
    for (const std::string &name : names)
        text += name + " ";
    return text;
}

// Rows of a CSV file, which has a header and only whole lines; -1: it is not so.
static int rows_of(const std::string &name)
{
    const std::string text = read_file(name.c_str());
    int count = -1;
    for (char c : text)
        count += c == '\n';
    return text.compare(0, 7, "schema,") || text.back() != '\n' ? -1 : count;
}

static bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && !text.compare(text.size() - end.size(), end.size(), end);
}

// ---- texts --------------------------------------------------------------------------------------

// All that a terminal may act upon, and what is no UTF-8: each in brackets.
static const struct {
    const char *text, *shown;
} texts[] = {
    {"\033[2J", "?[2J"},
    {"\001\002\a\b\016\017\x1e\x1f", "????????"},
    {"\t\n\v\f\r", "     "},
    {"\x7f", "?"},
    {"\x80\x9b\x9d\x9f", "????"},
    {"\xc2\x80\xc2\x9b\xc2\x9f", "???"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"\xe2\x80\xae\xe2\x80\x8f", "??"}, // direction: override, mark
    {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", "???"},
    {"\xe2\x80\xa8\xe2\x80\xaa", "??"},
    {"\xe2\x80\xad\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", "?\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
    {"\xc0\xaf\xc1\x9b", "????"},                                   // too long for what they are
    {"\xe0\x82\x9b\xf0\x82\x82\x9b", "???????"},                    // the same
    {"\xe0\x9f\xbf", "???"},                                        // the same of \xdf\xbf
    {"\xed\xa0\x80\xed\xbf\xbf\xed\x9f\xbf", "??????\xed\x9f\xbf"}, // a surrogate is no character
    {"\xf4\x90\x80\x80\xf4\x8f\xbf\xbf", "????\xf4\x8f\xbf\xbf"},   // the last one
    {"\xff\xf8\x88\x80\x80\x80", "??????"},                         // never in UTF-8
    {"\xe2\x82", "??"},                                             // cut
    {"\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x9f\x98\x80 ~",
     "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbd\xf0\x9f\x98\x80 ~"},
};

static std::string every(bool shown)
{
    std::string all;
    for (const auto &t : texts)
        all += std::string("[") + (shown ? t.shown : t.text) + "]";
    return all;
}

static int wrong(gpumb *g, void *user)
{
    gpumb_reason(g, "%s", (const char *)user);
    return 0;
}

static void hostile(gpumb *g)
{
    for (const auto &t : texts) {
        const char *const names[] = {t.text};
        GPUMB_SWEEP_STRINGS(g, form, names, 1) {
            gpumb_set_verify(g, wrong, const_cast<char *>(t.text));
            GPUMB_MEASURE(g, t.text) {
                fake_run(1e-3);
            }
        }
    }
    gpumb_note(g, "%s", every(false).c_str());
}

static void test_texts()
{
    for (const auto &t : texts) {
        char text[64];
        strcpy(text, t.text);
        gpumbi_plain(text);
        CHECK_STR(text, t.shown);
    }
    const gpumb_benchmark benchmarks[] = {{"first\033[31m",
                                           "does \x9b"
                                           "2J this",
                                           hostile}};
    const char *arguments[] = {"program\033c", "--csv=x.csv", "--json=x.json",
                               "--md=x.md",    "--list",      "--axis=\033c=1"};
    int code = -1;
    lines.clear();
    for (int count = 4; count <= 6; count++) { // a run, a list, an error
        fake_reset();
        const std::string text = printed(
            [&] { code = gpumb_main(count, const_cast<char **>(arguments), benchmarks, 1); });
        CHECK_INT(code, count == 6   ? GPUMB_EXIT_USAGE
                        : count == 4 ? GPUMB_EXIT_FAILED
                                     : GPUMB_EXIT_OK);
        std::string said = text;
        for (const std::string &line : lines)
            said += line + "\n";
        for (size_t length, i = 0; i < said.size(); i += length) {
            uint32_t character;
            length = gpumbi_character(said.c_str() + i, &character);
            if (!CHECK((character >= ' ' || character == '\n') &&
                       (character < 0x7f || character > 0x9f) && character != GPUMBI_NO_CHARACTER &&
                       character != 0x202e))
                printf("    at %zu of:\n%s\n", i, said.c_str());
        }
        if (count == 5)
            continue; // the list shows a part only
        for (const auto &t : texts) {
            if (count == 4) // the name of a kernel, the value of the axis, the reason
                CHECK(text.find(std::string(t.shown) + " ") != std::string::npos &&
                      text.find(std::string("failed: ") + t.shown) != std::string::npos);
        }
        if (count == 4) {
            CHECK(text.find("  " + every(true) + "\n") != std::string::npos);
            CHECK(text.find("\nfirst?[31m") != std::string::npos);
            CHECK(read_file("x.md").find("- " + every(true) + "\n") != std::string::npos);
        } else {
            CHECK(!lines.empty() && lines.back().find("--axis ?c=1") == 0);
        }
    }
    // files keep what was said; JSON is UTF-8 all the same
    const std::string csv = read_file("x.csv"), json = read_file("x.json");
    for (const auto &t : texts)
        CHECK(csv.find(t.text) != std::string::npos);
    for (const char *part :
         {"\\u001b[2J", "\\u0001\\u0002", "\x7f", "\\ufffd\\ufffd", "\xc2\x9b", "\xe2\x80\xae"})
        CHECK(json.find(part) != std::string::npos);
    for (size_t length, i = 0; i < json.size(); i += length) {
        uint32_t character;
        length = gpumbi_character(json.c_str() + i, &character);
        CHECK(character != GPUMBI_NO_CHARACTER);
    }
}

// ---- names --------------------------------------------------------------------------------------

// NAME, what it leads to, and the file that is to get the rows.
static void test_links()
{
    static const struct {
        const char *link, *to, *file;
    } cases[] = {
        {"x.csv", "data/old.csv", "data/old.csv"}, // relative
        {"x.csv", "/ABSOLUTE/data/old.csv", "data/old.csv"},
        {"x.csv", "data/new.csv", "data/new.csv"},           // dangling, in a folder that exists
        {"x.csv", "second", "data/old.csv"},                 // second -> data/third -> old.csv
        {"x.csv", "folder/../data/new.csv", "data/new.csv"}, // folder -> data
        {"x.csv", "folder/third", "data/old.csv"},
    };
    for (const auto &c : cases) {
        clean();
        std::string to = c.to;
        char here[4096];
        if (to[0] == '/')
            to = std::string(getcwd(here, sizeof here)) + to.substr(9);
        mkdir("data", 0755);
        store("data/old.csv", "precious\n");
        CHECK(!symlink("data/third", "second") && !symlink("old.csv", "data/third") &&
              !symlink("data", "folder") && !symlink(to.c_str(), c.link));
        const outcome killed = run(settings(), [](gpumb *) { raise(SIGKILL); });
        CHECK_INT(killed.code, -SIGKILL);
        CHECK_STR(read_file("data/old.csv").c_str(), "precious\n"); // the result before
        CHECK_INT(rows_of(std::string(c.file) + ".part"), 2);
        CHECK(!exists("x.csv.part"));
        const outcome o = run(settings());
        CHECK_CASE(o.code == 0, "%s: %s", c.to, o.said.c_str());
        CHECK_CASE(rows_of(c.file) == 5, "%s", c.to);
        struct stat about;
        CHECK(!lstat("x.csv", &about) && S_ISLNK(about.st_mode));
        CHECK(!exists(std::string(c.file) + ".part") && !exists("x.csv.part"));
        CHECK(!strcmp(c.file, "data/old.csv") || read_file("data/old.csv") == "precious\n");
    }
    clean();
    CHECK(!symlink("y.csv", "x.csv") && !symlink("x.csv", "y.csv"));
    outcome o = run(settings());
    CHECK_INT(o.code, GPUMB_EXIT_USAGE);
    CHECK(o.count == 1 && has(o.said, "--csv x.csv: Too many levels of symbolic links"));
    CHECK_STR(listing().c_str(), "x.csv y.csv ");
    // the folder that the program goes to afterwards is none of the file's business
    clean();
    mkdir("data", 0755);
    o = run(settings(), [](gpumb *) { CHECK(!chdir("data")); });
    CHECK_INT(o.code, 0);
    CHECK_INT(rows_of("x.csv"), 5);
}

static void test_wrong_names()
{
    const std::string component(255, 'n');
    std::string deep = "a";
    for (int i = 0; i < 2500; i++)
        deep += "/a";
    mkdir("folder", 0755);
    const struct {
        std::string path, words;
    } cases[] = {
        {"", "needs the name of a file"},
        {".", "is a directory"},
        {"..", "is a directory"},
        {"folder", "is a directory"},
        {"folder/", "is a directory"},
        {"/", "is a directory"},
        {"down", "is a directory"},
        {"missing/x.csv", "no such folder"},
        {"missing/", "no such folder"},
        {component, "File name too long"}, // and so would be its .part
        {component + "n", "File name too long"},
        {deep + "/x.csv", "File name too long"},
        {deep.substr(0, 4001), "no such folder"},
        {"file/x.csv", "Not a directory"},
        {"file/", "Not a directory"},
    };
    for (const auto &c : cases) {
        clean();
        mkdir("folder", 0755);
        store("file", "");
        CHECK(!symlink("folder", "down"));
        gpumb_settings s = settings();
        s.csv = c.path.c_str();
        const outcome o = run(s);
        CHECK_CASE(o.code == GPUMB_EXIT_USAGE, "%.80s: %d", c.path.c_str(), o.code);
        CHECK_CASE(o.count == 1 && has(o.said, c.words) && has(o.said, "; for example --csv "),
                   "%.80s: %.200s", c.path.c_str(), o.said.c_str());
        CHECK_STR(listing().c_str(), "down file folder ");
    }
    clean();
    const std::string longest(248, 'n');
    gpumb_settings s = settings();
    s.csv = longest.c_str();
    CHECK_INT(run(s).code, 0);
    CHECK_INT(rows_of(longest), 5);

    // where it may not write; root may everywhere, so it gives that up
    clean();
    mkdir("locked", 0755);
    store("locked/x.csv", "precious\n");
    store("mine.csv", "precious\n");
    chmod("mine.csv", 0444);
    chmod("locked/x.csv", 0666);
    chmod("locked", 0555);
    chmod(".", 0777);
    for (const char *path : {"locked/x.csv", "locked/new.csv", "mine.csv"}) {
        const outcome o = run([&] {
            if (!getuid() && (setgid(65534) || setuid(65534)))
                return 99;
            s.csv = path;
            return measure(s);
        });
        CHECK_CASE(o.code == GPUMB_EXIT_USAGE && has(o.said, "Permission denied; for example"),
                   "%s: %d %s", path, o.code, o.said.c_str());
        unlink("said");
    }
    CHECK_STR(read_file("locked/x.csv").c_str(), "precious\n");
    CHECK_STR(read_file("mine.csv").c_str(), "precious\n");
}

// Options whose files would get into each other's way.
static void test_one_file()
{
    static const struct {
        const char *csv, *json;
    } wrong[] = {
        {"x", "x"},         {"x", "./x"},           {"x", "data/../x"},          {"x", "link"},
        {"x.part", "x"},    {"x", "x.part"},        {"./x.part", "link"},        {"x", "data/up/x"},
        {"x.part.1", "x"},  {"x", "x.part.23"},     {"link.part", "x.part"},     {"-", "-"},
        {"fifo", "./fifo"}, {"dangling", "data/n"}, {"data/n.part", "dangling"},
    };
    for (const auto &c : wrong) {
        clean();
        mkdir("data", 0755);
        store("x", "precious\n");
        store("x.part", "");
        CHECK(!symlink("x", "link") && !symlink("..", "data/up") &&
              !symlink("x.part", "link.part") && !symlink("data/n", "dangling"));
        unlink("x.part");
        mkfifo("fifo", 0666);
        gpumb_settings s = settings();
        s.csv = c.csv;
        s.json = c.json;
        const outcome o = run(s);
        CHECK_CASE(o.code == GPUMB_EXIT_USAGE && o.count == 1, "%s, %s: %d: %s", c.csv, c.json,
                   o.code, o.said.c_str());
        CHECK_CASE(has(o.said, std::string("--json ") + c.json + ": ") &&
                       has(o.said, "for example --json "),
                   "%s", o.said.c_str());
        CHECK_STR(listing().c_str(), "dangling data fifo link link.part x ");
        CHECK_STR(read_file("x").c_str(), "precious\n");
    }
    static const struct {
        const char *csv, *json;
    } right[] = {{"x", "x.partial"}, {"x.par", "x"}, {"x", "hard"}};
    for (const auto &c : right) {
        clean();
        store("x", "precious\n");
        CHECK(!link("x", "hard"));
        gpumb_settings s = settings();
        s.csv = c.csv;
        s.json = c.json;
        const outcome o = run(s);
        CHECK_CASE(o.code == 0, "%s, %s: %s", c.csv, c.json, o.said.c_str());
        CHECK_INT(rows_of(c.csv), 5);
        CHECK(ends_with(read_file(c.json), "]}\n"));
    }
    CHECK(has(listing(), "hard x ")); // each of two names of a file has its own rows now
    // the base of a comparison may be what is written, and what a dead run has left
    clean();
    gpumb_settings s = settings();
    CHECK_INT(run(s, [](gpumb *) { raise(SIGKILL); }).code, -SIGKILL);
    s.compare = "x.csv.part";
    CHECK_INT(run(s).code, 0);
    s.compare = "x.csv";
    CHECK_INT(run(s).code, 0);
    CHECK_INT(rows_of("x.csv"), 5);
}

// Standard output by any name is written as it comes, in the order of what the program prints. The
// name is one of the test's own: as root, broken code would replace /dev/stdout for all programs.
static void test_stdout()
{
    for (const char *path : {"-", "stdout", "/proc/self/fd/1", "link", "out"}) {
        clean();
        CHECK(!symlink("/proc/self/fd/1", "stdout") && !symlink("stdout", "link"));
        store("out", "earlier\n");
        gpumb_settings s = settings();
        s.csv = path;
        s.quiet = 1;
        const outcome o = run([&] {
            const int out = open("out", O_WRONLY | O_APPEND);
            dup2(out, 1);
            close(out);
            printf("before\n");
            return measure(s, [](gpumb *) { printf("within\n"); }); // a line that is not flushed
        });
        CHECK_INT(o.code, GPUMB_EXIT_USAGE); // a header that was sent can't be changed
        const std::string text = read_file("out");
        CHECK(!text.compare(0, 22, "earlier\nbefore\nschema,"));
        size_t at = 0;
        for (const char *part : {",1\n", ",2\n", "within\n", ",3\n"})
            CHECK((at = text.find(part, at)) != std::string::npos);
        CHECK_STR(listing().c_str(), "link out stdout ");
        CHECK(has(o.said, "column late came after the header was sent"));
    }
    // a pipe by its number
    clean();
    int ends[2];
    CHECK(!pipe(ends));
    const std::string name = "/dev/fd/" + std::to_string(ends[1]);
    gpumb_settings s = settings();
    s.csv = NULL;
    s.json = name.c_str();
    CHECK_INT(run(s).code, 0);
    close(ends[1]);
    std::string text(100000, 0);
    const ssize_t got = read(ends[0], &text[0], text.size());
    close(ends[0]);
    text.resize(got > 0 ? (size_t)got : 0);
    CHECK(ends_with(text, "]}\n") && !text.compare(0, 10, "{\"schema\":"));
    CHECK_STR(listing().c_str(), "");
}

// ---- parts --------------------------------------------------------------------------------------

// What others have put where the part is to be: it is not written through, and does not hang.
static void test_planted()
{
    static const char *const names[] = {"link", "dangling link", "fifo", "folder"};
    for (int what = 0; what < 4; what++) {
        clean();
        store("victim", "precious\n");
        store("x.csv", "older\n");
        const int made = what == 0   ? symlink("victim", "x.csv.part")
                         : what == 1 ? symlink("new", "x.csv.part")
                         : what == 2 ? mkfifo("x.csv.part", 0666)
                                     : mkdir("x.csv.part", 0777);
        CHECK_INT(made, 0);
        const outcome o = run(settings());
        CHECK_CASE(o.code == GPUMB_EXIT_ERROR && o.count == 1, "%s: %d: %s", names[what], o.code,
                   o.said.c_str());
        CHECK(has(o.said, "--csv x.csv: its .part is ") && has(o.said, "remove it"));
        CHECK_STR(listing().c_str(), "victim x.csv x.csv.part ");
        CHECK_STR(read_file("victim").c_str(), "precious\n");
        CHECK_STR(read_file("x.csv").c_str(), "older\n");
    }
    // and where a dead run's part is to be kept
    clean();
    store("victim", "precious\n");
    store("x.csv.part", "dead\n");
    CHECK(!symlink("victim", "x.csv.part.1") && !mkfifo("x.csv.part.2", 0666) &&
          !symlink("new", "x.csv.part.3"));
    const outcome o = run(settings());
    CHECK_INT(o.code, 0);
    CHECK(has(o.said, "x.csv.part.4"));
    CHECK_STR(read_file("x.csv.part.4").c_str(), "dead\n");
    CHECK_STR(read_file("victim").c_str(), "precious\n");
    CHECK_STR(listing().c_str(),
              "victim x.csv x.csv.part.1 x.csv.part.2 x.csv.part.3 x.csv.part.4 ");
}

// What dead runs have left is kept, but not what holds nothing.
static void test_dead_runs()
{
    clean();
    const auto die = [](gpumb *) { raise(SIGKILL); };
    for (int n = 1; n <= 3; n++) {
        const outcome o = run(settings(), die);
        CHECK_INT(o.code, -SIGKILL);
        CHECK_INT(rows_of("x.csv.part"), 2);
        store("x.csv.part", std::to_string(n).c_str());
    }
    const outcome o = run(settings());
    CHECK_INT(o.code, 0);
    CHECK(o.count == 1 && has(o.said, "--csv x.csv: ") && ends_with(o.said, "/x.csv.part.3\n"));
    CHECK_STR(listing().c_str(), "x.csv x.csv.part.1 x.csv.part.2 x.csv.part.3 ");
    for (int n = 1; n <= 3; n++)
        CHECK_STR(read_file(("x.csv.part." + std::to_string(n)).c_str()).c_str(),
                  std::to_string(n).c_str());
    clean();
    store("x.csv.part", "");
    const outcome quiet = run(settings());
    CHECK(quiet.code == 0 && quiet.count == 0);
    CHECK_STR(listing().c_str(), "x.csv ");
}

// Without a row there is no file, and the older one stays.
static void test_no_rows()
{
    for (int ends = 0; ends < 2; ends++) {
        clean();
        store("x.csv", "older\n");
        gpumb_settings s = settings();
        s.json = "x.json";
        s.device = ends ? 99 : 0;
        run([&] { return gpumb_close(gpumb_open_settings("program", &s)); });
        CHECK_STR(read_file("x.csv").c_str(), "older\n");
        CHECK_STR(listing().c_str(), "x.csv ");
    }
}

// ---- two runs -----------------------------------------------------------------------------------

static void wait_for(int fd)
{
    char c;
    while (read(fd, &c, 1) < 0 && errno == EINTR)
        continue;
}

static void test_two_runs()
{
    static const char *const names[] = {"x.csv", "./x.csv", "link", "data/../x.csv"};
    for (const char *name : names)
        for (int as_json = 0; as_json < 2; as_json++) {
            clean();
            mkdir("data", 0755);
            CHECK(!symlink("x.csv", "link"));
            int there[2], go[2];
            CHECK(!pipe(there) && !pipe(go));
            const gpumb_settings first = settings();
            const pid_t child = start(
                [&] {
                    return measure(first, [&](gpumb *) {
                        CHECK(write(there[1], "", 1) == 1);
                        wait_for(go[0]);
                    });
                },
                "said.1");
            wait_for(there[0]);
            gpumb_settings second = settings();
            second.csv = as_json ? NULL : name;
            second.json = as_json ? name : NULL;
            const outcome o = run([&] {
                const int code = measure(second);
                return fake_runs || fake_calls[FAKE_OPEN] ? 99 : code; // before all else
            });
            CHECK_CASE(o.code == GPUMB_EXIT_ERROR && o.count == 1, "%s: %d: %s", name, o.code,
                       o.said.c_str());
            CHECK(has(o.said, "another run is writing it: wait for its end, or choose another"));
            CHECK_INT(rows_of("x.csv.part"), 2);
            CHECK(write(go[1], "", 1) == 1);
            CHECK_INT(finish(child, "said.1").code, 0);
            CHECK_INT(rows_of("x.csv"), 5);
            CHECK_STR(listing().c_str(), "data link x.csv ");
            for (int fd : {there[0], there[1], go[0], go[1]})
                close(fd);
        }
    // in one process
    clean();
    const outcome o = run(settings(), [](gpumb *) {
        gpumb_settings s = gpumb_settings_default();
        s.csv = "x.csv";
        gpumb *other = gpumb_open_settings("other", &s);
        if (gpumb_close(other) != GPUMB_EXIT_ERROR)
            raise(SIGABRT);
    });
    CHECK_INT(o.code, 0);
    CHECK_INT(rows_of("x.csv"), 5);
}

// Many at once, on what a dead run has left: one of them writes, and what was left is there once.
static void test_race()
{
    enum { RUNS = 6 };
    for (int round = 0; round < 30; round++) {
        clean();
        store("x.csv.part", round % 3 ? "dead\n" : "");
        int go[2], tried[2];
        pid_t child[RUNS];
        CHECK(!pipe(go) && !pipe(tried));
        for (int i = 0; i < RUNS; i++)
            child[i] = start(
                [&] {
                    wait_for(go[0]);
                    gpumb_settings s = settings();
                    gpumb *g = gpumb_open_settings("program", &s);
                    const int won = gpumb_ok(g);
                    if (write(tried[1], "", 1) != 1)
                        return 99;
                    close(tried[1]);
                    while (won) { // until all have
                        char c;
                        if (read(tried[0], &c, 1) == 0)
                            break;
                    }
                    GPUMB_MEASURE(g, "kernel") {
                        fake_run(1e-3);
                    }
                    gpumb_close(g);
                    return won;
                },
                ("said." + std::to_string(i)).c_str());
        close(tried[1]);
        CHECK(write(go[1], "123456", RUNS) == RUNS);
        int won = 0;
        for (int i = 0; i < RUNS; i++)
            won += finish(child[i], ("said." + std::to_string(i)).c_str()).code;
        CHECK_INT(won, 1);
        CHECK_INT(rows_of("x.csv"), 1);
        CHECK_STR(listing().c_str(), round % 3 ? "x.csv x.csv.part.1 " : "x.csv ");
        CHECK(!(round % 3) || read_file("x.csv.part.1") == "dead\n");
        for (int fd : {go[0], go[1], tried[0]})
            close(fd);
    }
}

// The same, in the moments that matter: between a file's making, or its opening, and its lock.
static int others; // what another run has opened

static void taken_for_dead() // the new part is locked by one that looks for dead runs
{
    others = open("x.csv.part", O_RDONLY);
    flock(others, LOCK_EX);
}

static void replaced() // it was, and a part is there that is not ours
{
    unlink("x.csv.part");
    store("x.csv.part", "another's\n");
    taken_for_dead();
}

static void gone()
{
    unlink("x.csv.part");
}

static void test_moments()
{
    for (int what = 0; what < 5; what++) {
        clean();
        if (what > 1)
            store("x.csv.part", "dead\n");
        const outcome o = run([&] {
            before_lock = what % 2 ? replaced : what == 4 ? gone : taken_for_dead;
            return measure(settings());
        });
        const bool alone = what == 4;
        CHECK_CASE(o.code == (alone ? 0 : GPUMB_EXIT_ERROR), "%d: %s", what, o.said.c_str());
        CHECK(alone || has(o.said, "another run is writing it"));
        CHECK_STR(listing().c_str(), alone ? "x.csv " : "x.csv.part ");
        CHECK_STR(read_file("x.csv.part").c_str(), alone       ? ""
                                                   : what % 2  ? "another's\n"
                                                   : what == 2 ? "dead\n"
                                                               : "");
    }
    // after the part was written anew it is locked as before
    clean();
    outcome o = run([] {
        const gpumb_settings s = settings();
        gpumb *g = gpumb_open_settings("program", &s);
        GPUMB_SWEEP_LIST(g, n, 1, 2) {
            GPUMB_MEASURE(g, "kernel") {
                fake_run(1e-3);
            }
        }
        GPUMB_SWEEP_LIST(g, late, 1, 2) {
            GPUMB_MEASURE(g, "kernel") {
                fake_run(1e-3);
            }
        }
        others = open("x.csv.part", O_RDONLY);
        const int free = !flock(others, LOCK_EX | LOCK_NB);
        return free ? 99 : gpumb_close(g);
    });
    CHECK_INT(o.code, 0);
    // a part that was taken away meanwhile is not looked for, what is there now is not touched
    for (int late = 0; late < 2; late++) {
        clean();
        o = run(settings(), [&](gpumb *) {
            if (rename("x.csv.part", "moved"))
                raise(SIGABRT);
            if (late)
                store("x.csv.part", "another's\n");
        });
        CHECK_INT(o.code, GPUMB_EXIT_ERROR);
        CHECK_STR(listing().c_str(), late ? "moved x.csv.part " : "moved ");
        CHECK_INT(rows_of("moved"), 3);
        CHECK_STR(read_file("x.csv.part").c_str(), late ? "another's\n" : "");
    }
}

// A file that stands where the part was is not taken for it at the end.
static void test_exchanged()
{
    clean();
    const outcome o = run([] {
        const gpumb_settings s = settings();
        gpumb *g = gpumb_open_settings("program", &s);
        GPUMB_MEASURE(g, "kernel") {
            fake_run(1e-3);
        }
        if (rename("x.csv.part", "moved"))
            return 99;
        store("x.csv.part", "another's\n");
        return gpumb_close(g);
    });
    CHECK_INT(o.code, GPUMB_EXIT_ERROR);
    CHECK_STR(listing().c_str(), "moved x.csv.part ");
}

// A file system without locks: as long as nobody else is there, all is well.
static void test_no_locks()
{
    clean();
    no_locks = 1;
    CHECK_INT(run(settings()).code, 0);
    CHECK_INT(rows_of("x.csv"), 5);
    store("x.csv.part", "another's\n");
    const outcome o = run(settings());
    no_locks = 0;
    CHECK_INT(o.code, GPUMB_EXIT_ERROR);
    CHECK(o.count == 1 && has(o.said, "no locks on this file system: remove it if none runs"));
    CHECK_STR(read_file("x.csv.part").c_str(), "another's\n");
}

// A fork has the contexts of its parent, and their files, but they are not its own.
static void test_forks()
{
    for (int what = 0; what < 3; what++) {
        clean();
        const outcome o = run(settings(), [&](gpumb *g) {
            const pid_t child = fork();
            if (!child) {
                if (!freopen("said.child", "w", stdout))
                    _exit(1);
                if (what == 1) {
                    gpumb_settings s = gpumb_settings_default();
                    gpumb_open_settings("own", &s);
                } else if (what == 2) {
                    gpumb_close(g);
                }
                exit(0);
            }
            waitpid(child, NULL, 0);
            if (what < 2 && !read_file("said.child").empty()) // a second summary
                raise(SIGABRT);
            if (exists("x.csv") || rows_of("x.csv.part") != 2)
                raise(SIGABRT);
        });
        CHECK_INT(o.code, 0);
        CHECK_INT(rows_of("x.csv"), 5);
        CHECK_STR(listing().c_str(), "x.csv ");
    }
}

// ---- in the middle ------------------------------------------------------------------------------

static void test_kill()
{
    clean();
    store("x.csv", "older\n");
    gpumb_settings s = settings();
    s.json = "x.json";
    s.markdown = "x.md";
    CHECK_INT(run(s, [](gpumb *) { raise(SIGKILL); }).code, -SIGKILL);
    CHECK_STR(read_file("x.csv").c_str(), "older\n");
    CHECK_INT(rows_of("x.csv.part"), 2);
    CHECK(ends_with(read_file("x.json.part"), "}}")); // README: with ]} behind it, it is JSON
    CHECK(ends_with(read_file("x.md.part"), "|\n"));
    CHECK_STR(listing().c_str(), "x.csv x.csv.part x.json.part x.md.part ");
}

// An axis that comes late has all rows written anew; a drawn order, too. Whenever the run is ended,
// all that were finished are there.
static void test_written_anew()
{
    static const struct {
        int shuffle, at, rows; // SIGKILL before this rename, or after, finds so many rows
    } cases[] = {{0, 1, 3}, {0, -1, 4}, {0, 2, 5}, {0, -2, 5},  // wider, done
                 {1, 1, 3}, {1, -1, 3}, {1, 2, 3}, {1, -2, 4},  // in order, wider,
                 {1, 3, 5}, {1, -3, 5}, {1, 4, 5}, {1, -4, 5}}; // in order, done
    for (const auto &c : cases) {
        clean();
        gpumb_settings s = settings();
        s.shuffle = c.shuffle;
        const outcome o = run([&] {
            renames = 0;
            die_at_rename = c.at;
            return measure(s);
        });
        CHECK_INT(o.code, -SIGKILL);
        const int rows = rows_of(exists("x.csv") ? "x.csv" : "x.csv.part");
        CHECK_CASE(rows == c.rows, "shuffle %d, rename %d: %d rows", c.shuffle, c.at, rows);
        CHECK_INT(run(s).code, 0);
        CHECK_INT(rows_of("x.csv"), 5);
    }
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        clean();
        gpumb_settings s = settings();
        s.shuffle = shuffle;
        s.json = "x.json";
        CHECK_INT(run(s,
                      [&](gpumb *) {
                          if (rows_of("x.csv.part") < 0 && !shuffle)
                              raise(SIGABRT);
                      })
                      .code,
                  0);
        CHECK_STR(listing().c_str(), "x.csv x.json ");
        const std::string text = read_file("x.csv");
        CHECK(has(text.substr(0, text.find('\n')), ",n,late"));
        size_t at = 0;
        for (const char *end : {",1,\n", ",2,\n", ",3,\n", ",,7\n", ",,9\n"}) // natural order
            CHECK((at = text.find(end, at)) != std::string::npos);
    }
}

// ---- signals ------------------------------------------------------------------------------------

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static void caught_elsewhere(int)
{
}

static void test_signals()
{
    static const struct {
        int number, code;
        const char *word;
    } signals[] = {{SIGHUP, GPUMB_EXIT_HUNG_UP, "hung up"},
                   {SIGINT, GPUMB_EXIT_INTERRUPTED, "interrupted"},
                   {SIGTERM, GPUMB_EXIT_TERMINATED, "terminated"}};
    for (const auto &c : signals) {
        CHECK_INT(c.code, 128 + c.number);
        clean();
        store("x.csv", "older\n");
        gpumb_settings s = settings();
        s.json = "x.json";
        s.markdown = "x.md";
        // the row under way is not counted: it is in no file; an echo of the signal does nothing
        const auto twice = [&](gpumb *) {
            raise(c.number);
            raise(c.number);
        };
        const outcome o = run([&] {
            for (const auto &d : signals) // a shell may start tests deaf to them
                signal(d.number, caught_elsewhere);
            const int code = measure(s, twice);
            for (const auto &d : signals) {
                struct sigaction now;
                sigaction(d.number, NULL, &now);
                if (now.sa_handler != caught_elsewhere)
                    return 99;
            }
            return code;
        });
        CHECK_CASE(o.code == c.code, "%s: %d", c.word, o.code);
        CHECK(has(o.said, std::string(c.word) + " after 2 rows\n"));
        for (const char *name : {"csv", "json", "md"})
            CHECK_CASE(has(o.said, "2 finished rows are in ") &&
                           has(o.said, std::string("/x.") + name + ".part\n"),
                       "%s", o.said.c_str());
        CHECK_STR(read_file("x.csv").c_str(), "older\n");
        CHECK_INT(rows_of("x.csv.part"), 2);
        CHECK(ends_with(read_file("x.json.part"), "]}\n"));
        CHECK_STR(listing().c_str(), "x.csv x.csv.part x.json.part x.md.part ");
        for (const auto &d : signals) {
            const outcome second = run([&] {
                signal(c.number, SIG_DFL);
                signal(d.number, SIG_DFL);
                return measure(s, [&](gpumb *) {
                    raise(c.number);
                    pause_ms(80);
                    raise(d.number); // ends it at once
                });
            });
            CHECK_CASE(second.code == -d.number, "%s: %d", c.word, second.code);
        }
        clean();
        const outcome deaf = run([&] {
            signal(c.number, SIG_IGN);
            return measure(s, twice);
        });
        CHECK_INT(deaf.code, 0);
        s.quiet = 1; // leaves signals alone
        clean();
        CHECK_INT(run([&] {
                      signal(c.number, SIG_DFL);
                      return measure(s, twice);
                  }).code,
                  -c.number);
    }
}

// ---- disks --------------------------------------------------------------------------------------

// A disk that is full at any byte: whole rows only, and as many as are said.
static void test_full_disk()
{
    gpumb_settings s = settings();
    s.json = "x.json";
    clean();
    CHECK_INT(run(s).code, 0);
    const long all = (long)(read_file("x.csv").size() + read_file("x.json").size());
    int partly = 0;
    for (long room = 0; room < all; room += 97) {
        clean();
        const outcome o = run([&] {
            disk_left = room;
            freed = (int)(room % 2);
            return measure(s);
        });
        CHECK_CASE(o.code == GPUMB_EXIT_ERROR, "%ld bytes: %d", room, o.code);
        CHECK(has(o.said, "can't write: No space left on device; free some space"));
        CHECK(!exists("x.csv") || !exists("x.json"));
        for (const char *name : {"x.csv", "x.json"}) {
            const std::string part = std::string(name) + ".part", text = read_file(part.c_str());
            int rows = 0, told = 0;
            for (size_t at = 0; (at = text.find(",program,kernel,", at)) != std::string::npos; at++)
                rows++;
            for (size_t at = 0; (at = text.find("{\"schema\": 4,", at + 1)) != std::string::npos;)
                rows++;
            const size_t where = o.said.find("/" + part + "\n");
            if (where != std::string::npos)
                told = atoi(o.said.c_str() + o.said.rfind('\n', where) + 1);
            CHECK_CASE(exists(part) == (told > 0), "%ld bytes: %s: %s", room, name, o.said.c_str());
            CHECK_CASE(text.empty() || rows == told, "%ld bytes: %s: %d rows, %d told", room, name,
                       rows, told);
            CHECK(text.empty() || ends_with(text, name[2] == 'c' ? "\n" : "}}") ||
                  ends_with(text, "]}\n"));
            CHECK(text.find('\0') == std::string::npos); // no hole
            CHECK(!(room % 2) || name[2] == 'c' || text.empty() || ends_with(text, "]}\n"));
            partly += rows > 0;
        }
    }
    CHECK(partly > 10);
    clean();
    for (const char *path : {"/dev/full", "-"}) {
        s = settings();
        s.csv = path;
        const outcome o = run([&] {
            const int full = open("/dev/full", O_WRONLY);
            dup2(full, 1);
            return measure(s);
        });
        CHECK_INT(o.code, GPUMB_EXIT_ERROR);
        CHECK_STR(listing().c_str(), "");
    }
}

// Writes that are short, or interrupted, are gone on with.
static void test_short_writes()
{
    clean();
    gpumb_settings s = settings();
    s.json = "x.json";
    CHECK_INT(run(s).code, 0);
    const std::string csv = read_file("x.csv"), json = read_file("x.json");
    clean();
    const outcome o = run([&] {
        short_writes = 1;
        return measure(s);
    });
    CHECK_INT(o.code, 0);
    CHECK(csv == read_file("x.csv"));
    CHECK_INT(json.size(), read_file("x.json").size());
}

// Data is on the disk before the name is.
static void test_flushed()
{
    clean();
    const gpumb_settings s = settings();
    const outcome o = run([&] {
        gpumb *g = gpumb_open_settings("program", &s);
        GPUMB_MEASURE(g, "kernel") {
            fake_run(1e-3);
        }
        calls.clear();
        gpumb_close(g);
        return calls == "frd" ? 0 : 1;
    });
    CHECK_INT(o.code, 0);
}

// A flush that is interrupted is tried again, what has no disk needs none, and after one that fails
// the rows are left where they are: here before the header widens.
static void test_flush_fails()
{
    static const std::vector<int> errors[] = {
        {EINTR, EINTR}, {EINVAL}, {ENOTSUP}, {EIO}, {EIO, EINTR}};
    for (int i = 0; i < 5; i++) {
        clean();
        store("x.csv", "older\n");
        const outcome o = run([&] {
            flush_errors = errors[i];
            const int code = measure(settings());
            return flush_errors.empty() ? code : 99;
        });
        const bool fails = i > 2;
        CHECK_CASE(o.code == (fails ? GPUMB_EXIT_ERROR : 0), "%d: %d: %s", i, o.code,
                   o.said.c_str());
        CHECK_STR(listing().c_str(), fails ? "x.csv x.csv.part " : "x.csv ");
        CHECK_INT(rows_of(fails ? "x.csv.part" : "x.csv"), fails ? 3 : 5);
        CHECK_STR(fails ? read_file("x.csv").c_str() : "older\n", "older\n");
        CHECK_INT(has(o.said, "x.csv: can't write: "), fails);
    }
}

// The new file is as open as the old one, from its first byte on.
static void test_modes()
{
    for (int mode : {0, 0600, 0640, 0666, 0755}) {
        clean();
        if (mode)
            store("x.csv", "older\n");
        chmod("x.csv", (mode_t)mode);
        const bool given = mode && !getuid() && !chown("x.csv", 1234, 2345);
        struct stat about;
        const outcome o = run([&] {
            umask(027);
            return measure(settings(), [&](gpumb *) {
                struct stat part;
                if (mode && mode_before != 0600)
                    raise(SIGABRT);
                if (stat("x.csv.part", &part) ||
                    (part.st_mode & 0777) != (mode ? (mode_t)mode : 0640))
                    raise(SIGABRT);
            });
        });
        CHECK_INT(o.code, 0);
        CHECK(!stat("x.csv", &about));
        CHECK_INT(about.st_mode & 0777, mode ? mode : 0640);
        CHECK(!given || (about.st_uid == 1234 && about.st_gid == 2345));
    }
    // who can't keep the group does not open the file to another one
    clean();
    store("x.csv", "older\n");
    chmod("x.csv", 0666);
    chmod(".", 0777);
    if (!getuid()) {
        const outcome o = run([&] {
            char here[4096];
            if (setgid(65534) || setuid(65534))
                return 99;
            if (!getcwd(here, sizeof here) || access(here, X_OK)) // behind one of root's alone
                return 98;
            return measure(settings());
        });
        struct stat about;
        if (o.code == 98) {
            SKIP("TMPDIR is not for others");
            return;
        }
        CHECK_INT(o.code, 0);
        CHECK(!stat("x.csv", &about) && (about.st_mode & 0777) == 0606);
    }
}

int main()
{
    const std::string folder = make_folder("gpumb-files");
    if (chdir(folder.c_str()))
        return 1;
    test_texts();
    test_links();
    test_wrong_names();
    test_one_file();
    test_stdout();
    test_planted();
    test_dead_runs();
    test_no_rows();
    test_two_runs();
    test_race();
    test_moments();
    test_exchanged();
    test_no_locks();
    test_forks();
    test_kill();
    test_written_anew();
    test_signals();
    test_full_disk();
    test_short_writes();
    test_flushed();
    test_flush_fails();
    test_modes();
    CHECK(remove_folder(folder));
    return CHECK_SUMMARY();
}

// test_progress.cpp - the line that shows how far a sweep is: on a terminal, in its width, in a
// pipe.
#include "watched.h"
#include <algorithm>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static std::string on_terminal, piped; // what the last program wrote to each

// Runs `program` in a process with standard error, and standard output if `both`, on a pseudo
// terminal. 0: there is none.
static int play(const std::function<void()> &program, bool terminal, bool both = false)
{
    int ends[2], outs[2];
    on_terminal.clear();
    piped.clear();
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master) || pipe(ends) || pipe(outs))
        return 0;
    const int slave = ::open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        return 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(terminal ? slave : ends[1], 2);
        dup2(both ? slave : outs[1], 1);
        program();
        fflush(stdout);
        _exit(0);
    }
    ::close(slave);
    ::close(ends[1]);
    ::close(outs[1]);
    struct pollfd from[] = {{master, POLLIN, 0}, {ends[0], POLLIN, 0}, {outs[0], POLLIN, 0}};
    for (int open_ends = 3; open_ends > 0 && poll(from, 3, 20000) > 0;)
        for (struct pollfd &end : from) {
            char piece[4096];
            if (end.fd < 0 || !end.revents)
                continue;
            const ssize_t n = read(end.fd, piece, sizeof piece);
            if (n > 0) {
                (end.fd == master ? on_terminal : piped).append(piece, (size_t)n);
            } else {
                end.fd = -1;
                open_ends--;
            }
        }
    ::close(master);
    ::close(ends[0]);
    ::close(outs[0]);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    return 1;
}

// What a terminal shows in the end, and all lines that were there at some time: \r goes back.
static std::string screen(const std::string &text, std::vector<std::string> *shown)
{
    std::string done, line;
    size_t at = 0;
    for (char c : text) {
        if (c == '\r' || c == '\n') {
            std::string trimmed = line;
            trimmed.erase(trimmed.find_last_not_of(' ') + 1);
            if (shown && !trimmed.empty())
                shown->push_back(trimmed);
            if (c == '\n') {
                done += trimmed + "\n";
                line.clear();
            }
            at = 0;
        } else {
            line.resize(std::max(line.size(), at + 1), ' ');
            line[at++] = c;
        }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return done + line;
}

static void progressing(const gpumb_settings &s, int extra)
{
    gpumb *g = open(s);
    if (extra)
        GPUMB_MEASURE(g, "extra") {
            fake_run(10);
        }
    GPUMB_SWEEP_RANGE(g, size, 1, 4, 1) {
        GPUMB_MEASURE(g, "work") {
            fake_run(2);
        }
    }
    gpumb_close(g);
}

static gpumb_settings loud()
{
    gpumb_settings s = brief();
    s.quiet = 0;
    s.csv = NULL;
    s.no_color = 1;
    s.min_samples = s.max_samples = 6;
    s.budget_s = 1000;
    return s;
}

static int minutes_left(const std::string &line) // in seconds; -1: not told
{
    int minutes, seconds;
    const size_t at = line.find(", ");
    if (at == std::string::npos ||
        sscanf(line.c_str() + at, ", %d:%2d left", &minutes, &seconds) != 2)
        return -1;
    return 60 * minutes + seconds;
}

static void six_rows(gpumb *g, const char *name)
{
    GPUMB_SWEEP_RANGE(g, a, 1, 6, 1) {
        GPUMB_MEASURE(g, name) {
            fake_run(1e-3);
        }
    }
}

static void test_progress()
{
    if (!play([] { progressing(loud(), 0); }, true)) {
        SKIP("no pseudo terminals");
        return;
    }
    std::vector<std::string> shown;
    CHECK_STR(screen(on_terminal, &shown).c_str(), ""); // nothing stays
    if (CHECK_INT(shown.size(), 4))
        for (int k = 1; k <= 4; k++) {
            const std::string &line = shown[(size_t)k - 1];
            char count[24], size[24];
            snprintf(count, sizeof count, "%d/4", k);
            snprintf(size, sizeof size, "size=%d", k);
            CHECK_CASE(line.find(count) != std::string::npos, "%s", line.c_str());
            CHECK_CASE(line.find(size) != std::string::npos, "%s", line.c_str());
            CHECK(line.find("work") != std::string::npos);
            // 7 runs of 2 s each
            CHECK_CASE(k == 1 ? minutes_left(line) < 0
                              : abs(minutes_left(line) - 14 * (5 - k)) <= 1,
                       "%s", line.c_str());
        }
    CHECK_INT(times_in(piped, "work"), 4);
    CHECK(piped.find('\r') == std::string::npos);

    // both on the terminal: each row on a line of its own, of which the progress line is gone
    play([] { progressing(loud(), 0); }, true, true);
    shown.clear();
    const std::string table = screen(on_terminal, &shown);
    CHECK_INT(times_in(table, "work"), 4);
    CHECK(table.find("/4") == std::string::npos && table.find(" left") == std::string::npos);
    CHECK(std::count_if(shown.begin(), shown.end(), [](const std::string &line) {
              return line.find("/4") != std::string::npos;
          }) == 4);

    // the rows on standard output are a file's
    play(
        [] {
            gpumb_settings s = loud();
            s.csv = "-";
            progressing(s, 0);
        },
        true);
    CHECK_INT(times_in(piped, "work"), 4);
    CHECK(piped.find('\r') == std::string::npos);

    // an error is not written into the line
    play(
        [] {
            gpumb *g = open(loud());
            GPUMB_MEASURE(g, "lost") {
                fake_run(1);
                fake_lost = 1;
            }
            gpumb_close(g);
        },
        true);
    CHECK_STR(screen(on_terminal, NULL).c_str(), "");

    // the search for configurations is no silence, and leaves nothing behind
    play(
        [] {
            gpumb *g = open(loud());
            fake_clock_cost = 1e-3;
            GPUMB_SWEEP_RANGE(g, size, 1, 1000, 1) {
                if (!gpumbi_dry(g))
                    g->done = 1;
                GPUMB_MEASURE(g, "never") {
                    fake_run(1);
                }
            }
            gpumb_close(g);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    const long found = std::count_if(shown.begin(), shown.end(), [](const std::string &line) {
        return line.find(" regions found so far] watched") != std::string::npos;
    });
    CHECK_CASE(found == 3, "%ld lines in a second", found); // each quarter, but for the first

    // a row outside the sweep counts too
    play([] { progressing(loud(), 1); }, true);
    shown.clear();
    screen(on_terminal, &shown);
    if (CHECK_INT(shown.size(), 5))
        for (int k = 2; k <= 5; k++) {
            const std::string &line = shown[(size_t)k - 1];
            char count[24];
            snprintf(count, sizeof count, "%d/5", k);
            CHECK_CASE(line.find(count) != std::string::npos, "%s, not %s", line.c_str(), count);
        }

    // benchmarks: all rows of the program are known from the beginning
    play(
        [] {
            static const gpumb_benchmark list[] = {
                {"one", "", [](gpumb *b) { six_rows(b, "x"); }},
                {"two", "", [](gpumb *b) { six_rows(b, "y"); }},
            };
            const char *options[] = {"watched", "--samples=6:6", "--warmup=0"};
            reset();
            gpumb_main(3, (char **)options, list, 2);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    if (CHECK_INT(shown.size(), 12)) {
        CHECK(shown[0].find("1/12") != std::string::npos);
        CHECK(shown[11].find("12/12") != std::string::npos);
        CHECK(shown[11].find("two/y a=6") != std::string::npos);
    }

    // drawn order: rows wait, the line does not
    play(
        [] {
            gpumb_settings s = loud();
            s.shuffle = 1;
            progressing(s, 0);
        },
        true);
    shown.clear();
    CHECK_STR(screen(on_terminal, &shown).c_str(), "");
    CHECK_INT(shown.size(), 4);

    // no terminal; quiet; a single result
    play([] { progressing(loud(), 0); }, false);
    CHECK_STR(on_terminal.c_str(), "");
    CHECK(piped.find('\r') == std::string::npos && piped.find("/4") == std::string::npos);
    play(
        [] {
            gpumb_settings s = loud();
            s.quiet = 1;
            progressing(s, 0);
        },
        true);
    CHECK_STR(on_terminal.c_str(), "");
    play(
        [] {
            gpumb_result r;
            gpumb *g = open(loud());
            GPUMB_TIME(&r) {
                fake_run(1);
            }
            gpumb_close(g);
        },
        true);
    CHECK_STR(on_terminal.c_str(), "");
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    test_progress();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

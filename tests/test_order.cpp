// test_order.cpp - the order of a sweep's configurations when it is drawn (--shuffle): of the runs,
// of rows and files, of several sweeps, and when a run ends early.
#include "watched.h"
#include "printed.h"
#include <algorithm>
#include <signal.h>
#include <vector>

static const std::string json_path = csv_path + ".json";

static std::string order_of_run; // of configurations

static void note_config(const char *name, int64_t a, int64_t b)
{
    char text[40];
    snprintf(text, sizeof text, "%s%d.%d ", name, (int)a, (int)b);
    if (order_of_run.size() < strlen(text) ||
        order_of_run.compare(order_of_run.size() - strlen(text), strlen(text), text))
        order_of_run += text;
}

static void two_axes(gpumb *g)
{
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        GPUMB_SWEEP_LIST(g, b, 20, 10, 30) {
            GPUMB_MEASURE(g, "x") {
                note_config("x", a, b);
                fake_run(1e-3 * (double)a + 1e-6 * (double)b);
            }
            GPUMB_MEASURE(g, "y") {
                note_config("y", a, b);
                fake_run(2e-3);
            }
        }
    }
}

static std::vector<std::string> words(const std::string &text)
{
    std::vector<std::string> list;
    for (size_t at = 0, end; (end = text.find(' ', at)) != std::string::npos; at = end + 1)
        list.push_back(text.substr(at, end - at));
    return list;
}

static gpumb_settings shuffled(uint64_t seed)
{
    gpumb_settings s = brief();
    s.shuffle = 1;
    s.seed = seed;
    return s;
}

// Kernel and axes of all rows of a CSV file.
static std::string csv_order(const std::string &path)
{
    std::string order;
    for (int row = 0; *fake_csv(path.c_str(), row, "schema"); row++)
        for (const char *name : {"kernel", "a", ".", "b", " "})
            order += name[0] < 'a' ? name : fake_csv(path.c_str(), row, name);
    return order;
}

static std::string row_order(gpumb *g)
{
    std::string order;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        order += gpumb_row(g, i)->kernel + std::to_string((long)gpumb_row_axis(g, i, "a")) + "." +
                 std::to_string((long)gpumb_row_axis(g, i, "b")) + " ";
    return order;
}

static void test_order()
{
    order_of_run.clear();
    gpumb *g = open(brief());
    two_axes(g);
    const std::string natural = order_of_run;
    close(g, 0);
    CHECK_INT(words(natural).size(), 24);
    CHECK_STR(csv_order(csv_path).c_str(), natural.c_str());

    std::string first;
    int different = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        std::string order[2];
        for (std::string &o : order) {
            order_of_run.clear();
            gpumb_settings s = shuffled(seed);
            s.json = json_path.c_str();
            g = open(s);
            two_axes(g);
            CHECK_STR(row_order(g).c_str(), natural.c_str());
            if (CHECK_INT(gpumb_row_count(g), 24))
                for (size_t i = 0; i < 24; i += 2)
                    CHECK_NEAR(gpumb_row(g, i)->time.median,
                               1e-3 * (double)gpumb_row_axis(g, i, "a") +
                                   1e-6 * (double)gpumb_row_axis(g, i, "b"),
                               2e-6);
            close(g, 0);
            o = order_of_run;
        }
        CHECK_STR(order[0].c_str(), order[1].c_str());
        CHECK_CASE(order[0] != natural, "seed %d", (int)seed);
        first = seed == 1 ? order[0] : first;
        different += seed > 1 && order[0] != first;
        std::vector<std::string> run = words(order[0]), all = words(natural);
        for (size_t i = 0; i + 1 < run.size(); i += 2) // a configuration's regions stay together
            CHECK(run[i][0] == 'x' && "y" + run[i].substr(1) == run[i + 1]);
        std::sort(run.begin(), run.end());
        std::sort(all.begin(), all.end());
        CHECK(run == all);
        CHECK_STR(csv_order(csv_path).c_str(), natural.c_str());
        const std::string json = read_file(json_path.c_str());
        size_t at = 0;
        for (const std::string &word : words(natural)) {
            const size_t dot = word.find('.');
            at = json.find("\"kernel\": \"" + word.substr(0, 1), at);
            at = at == std::string::npos ? at : json.find("\"axes\": {", at);
            if (!CHECK(at != std::string::npos))
                break;
            const std::string axes = "\"axes\": {\"a\": " + word.substr(1, dot - 1) +
                                     ", \"b\": " + word.substr(dot + 1) + "}";
            CHECK_STR(json.substr(at, axes.size()).c_str(), axes.c_str());
        }
    }
    CHECK(different >= 6);

    // every place of a configuration is drawn alike: chi^2 over 16 cells, 9 degrees of freedom
    int place[4][4] = {{0}};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int turn = 0, last = -1;
        g = open(shuffled(seed));
        GPUMB_SWEEP_RANGE(g, a, 0, 3, 1) {
            GPUMB_MEASURE(g, "x") {
                if (last != (int)a)
                    place[a][turn++ % 4]++;
                last = (int)a;
                fake_run(1e-3);
            }
        }
        close(g, 0);
        CHECK_INT(turn, 4);
    }
    double chi = 0;
    for (const auto &row : place)
        for (int n : row)
            chi += (n - 100.) * (n - 100.) / 100;
    CHECK_CASE(chi < 27.9, "chi^2 is %g", chi); // 0.1 %

    // the table: in the natural order, and with the seed
    gpumb_settings s = shuffled(77);
    s.quiet = 0;
    const std::string table = printed([&] {
        g = open(s);
        two_axes(g);
        gpumb_close(g);
    });
    CHECK(table.find("seed 77") != std::string::npos);
    size_t at = 0;
    for (int a = 1; a <= 4; a++)
        for (const char *b : {"20", "10", "30"}) {
            const std::string time = std::to_string(a) + ".0" + b; // 1.02 ms
            at = table.find(time.substr(0, time.back() == '0' ? time.size() - 1 : time.size()), at);
            CHECK_CASE(at != std::string::npos, "%d, %s in\n%s", a, b, table.c_str());
        }
    s.shuffle = 0;
    CHECK(printed([&] { // nobody draws, nobody says so
              g = open(s);
              two_axes(g);
              gpumb_close(g);
          })
              .find("seed 77") == std::string::npos);
}

static void one_axis(gpumb *g, const char *name, int64_t stop)
{
    GPUMB_SWEEP_RANGE(g, a, 1, 6, 1) {
        GPUMB_MEASURE(g, name) {
            note_config(name, a, 0);
            fake_run(1e-3);
            if (a == stop && order_of_run.size() > 20)
                raise(SIGINT);
        }
    }
}

static void test_orders_of_many()
{
    // several sweeps, rows before, between and behind them, axes that come late
    order_of_run.clear();
    gpumb *g = open(shuffled(3));
    GPUMB_MEASURE(g, "p") {
        fake_run(1e-3);
    }
    one_axis(g, "x", 0);
    CHECK_STR(row_order(g).c_str(), "p-1.-1 x1.-1 x2.-1 x3.-1 x4.-1 x5.-1 x6.-1 ");
    GPUMB_MEASURE(g, "q") {
        fake_run(1e-3);
    }
    GPUMB_SWEEP_RANGE(g, b, 1, 3, 1) {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "y") {
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "z") {
                fake_run(1e-3);
            }
        }
    }
    GPUMB_MEASURE(g, "r") {
        fake_run(1e-3);
    }
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(),
              "p. x1. x2. x3. x4. x5. x6. q. y.1 z.1 y.2 z.2 y.3 z.3 r. ");
    CHECK(order_of_run != "x1.0 x2.0 x3.0 x4.0 x5.0 x6.0 ");

    // configurations without a region, and one that fails, keep their places
    g = open(shuffled(5));
    GPUMB_SWEEP_RANGE(g, a, 1, 6, 1) {
        if (a == 2)
            continue;
        if (a == 4)
            gpumb_skip(g, "not today");
        GPUMB_MEASURE(g, "x") {
            fake_run(1e-3);
        }
    }
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1. x3. x4. x5. x6. ");
    CHECK_STR(column("status", 2).c_str(), "skipped");

    // configurations of different depth; the row that was finished last
    g = open(shuffled(4));
    double last = 0;
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        if (a % 2) {
            GPUMB_SWEEP_RANGE(g, b, 1, 2, 1) {
                GPUMB_MEASURE(g, "x") {
                    last = 1e-3 * (double)(2 * a + b);
                    fake_run(last);
                }
            }
        } else {
            GPUMB_MEASURE(g, "y") {
                last = 20e-3 * (double)a;
                fake_run(last);
            }
        }
        if (last > 0)
            CHECK_NEAR(gpumb_last_result(g)->time.median, last, 2e-6);
    }
    CHECK_NEAR(gpumb_last_result(g)->time.median, last, 2e-6);
    close(g, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1.1 x1.2 y2. x3.1 x3.2 y4. ");

    // as benchmarks of a program
    static const gpumb_benchmark list[] = {
        {"one", "", [](gpumb *b) { one_axis(b, "x", 0); }},
        {"two", "", [](gpumb *b) { one_axis(b, "y", 0); }},
    };
    const std::string csv = "--csv=" + csv_path;
    std::vector<const char *> options = {"watched",    "--shuffle", "--samples=6:6",
                                         "--warmup=0", "--seed=9",  csv.c_str()};
    reset();
    order_of_run.clear();
    int code = -1;
    printed([&] { code = gpumb_main((int)options.size(), (char **)options.data(), list, 2); });
    CHECK_INT(code, 0);
    CHECK_STR(csv_order(csv_path).c_str(), "x1. x2. x3. x4. x5. x6. y1. y2. y3. y4. y5. y6. ");
    CHECK(order_of_run != "x1.0 x2.0 x3.0 x4.0 x5.0 x6.0 y1.0 y2.0 y3.0 y4.0 y5.0 y6.0 ");
}

// What can't be written anew, such as standard output, gets its rows when all are there.
static void test_order_straight()
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        gpumb_settings s = shuffled(seed);
        s.csv = "-";
        order_of_run.clear();
        write_file(csv_path, printed([&] {
                       gpumb *g = open(s);
                       GPUMB_SWEEP_RANGE(g, a, 1, 5, 1)
                           GPUMB_MEASURE(g, "x") {
                               note_config("x", a, 0);
                               fake_run(1e-3);
                           }
                       close(g, 0);
                   }));
        CHECK(order_of_run != "x1.0 x2.0 x3.0 x4.0 x5.0 ");
        CHECK_STR(csv_order(csv_path).c_str(), "x1. x2. x3. x4. x5. ");
    }
}

// Each interleave draws its own order of turns; the same ones again from the same seed.
static void test_order_of_turns()
{
    std::string turns[2][3];
    for (auto &run : turns) {
        gpumb *g = open(brief());
        for (std::string &turn : run)
            GPUMB_INTERLEAVE(g) {
                for (const char *lane : {"x", "y", "z"})
                    GPUMB_MEASURE(g, lane) {
                        turn += lane;
                        fake_run(1e-3);
                    }
            }
        close(g, 0);
    }
    for (int k = 0; k < 3; k++) {
        CHECK_STR(turns[0][k].c_str(), turns[1][k].c_str());
        CHECK_INT(turns[0][k].size(), turns[0][0].size());
        CHECK(turns[0][k] != turns[0][(k + 1) % 3]);
    }
}

// What was finished before Ctrl-C, or before the device was lost, is written.
static void test_order_ends_early()
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        order_of_run.clear();
        gpumb_settings s = shuffled(seed);
        s.quiet = 0; // a quiet context leaves Ctrl-C alone
        std::string done;
        int code = 0;
        printed([&] {
            gpumb *g = open(s);
            GPUMB_SWEEP_RANGE(g, a, 1, 8, 1) {
                int runs = 0;
                GPUMB_MEASURE(g, "x") {
                    note_config("x", a, 0);
                    fake_run(1e-3);
                    if (words(order_of_run).size() == 5 && runs++ == 3)
                        raise(SIGINT);
                }
            }
            code = gpumb_close(g);
        });
        CHECK_INT(code, GPUMB_EXIT_INTERRUPTED);
        CHECK_INT(words(order_of_run).size(), 5);
        std::vector<std::string> finished = words(order_of_run);
        finished.pop_back();
        std::sort(finished.begin(), finished.end());
        for (const std::string &word : finished)
            done += word.substr(0, word.size() - 1) + " ";
        CHECK_STR(csv_order(csv_path + ".part").c_str(), done.c_str());
        CHECK(fake_clean());
    }

    for (int drawn = 0; drawn < 2; drawn++) {
        gpumb_settings s = shuffled(2);
        s.quiet = 0;
        s.shuffle = drawn;
        int configurations = 0, code = 0;
        const std::string table = printed([&] {
            gpumb *g = open(s);
            GPUMB_SWEEP_RANGE(g, a, 1, 8, 1) {
                int runs = 0;
                GPUMB_MEASURE(g, "before") {
                    configurations += runs++ == 0;
                    fake_run(1e-3);
                    if (configurations == 5)
                        fake_lost = 1;
                }
            }
            code = gpumb_close(g);
        });
        CHECK_INT(code, GPUMB_EXIT_ERROR);
        if (!CHECK_INT(times_in(table, "1.001 ms"), 4))
            printf("    drawn %d:\n%s\n", drawn, table.c_str());
    }
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    test_order();
    test_orders_of_many();
    test_order_ends_early();
    test_order_straight();
    test_order_of_turns();
    remove_file(csv_path);
    unlink(json_path.c_str());
    return CHECK_SUMMARY();
}

// test_options.cpp - what options put into the settings, what may be said twice, what is the
// program's; on the fake device. What errors say is in test_cli.sh and test_golden.cpp.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define FAKE_MULTIPROCESSORS 1
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "printed.h"
#include "texts.h"
#include <vector>

typedef std::vector<std::string> words;

static gpumb_settings settings; // that were in force
static words own;               // what was left to the program

// Returns the exit code of a run with one row.
static int run(const words &options)
{
    std::vector<char *> argument = {const_cast<char *>("options")};
    for (const std::string &word : options)
        argument.push_back(const_cast<char *>(word.c_str()));
    argument.push_back(NULL);
    fake_reset();
    fake_moves = (uint64_t)128 << 20; // so that what empties the caches is cleared
    heard.clear();
    int code = -1, count = (int)argument.size() - 1;
    printed([&] {
        gpumb *g = gpumb_open_args(&count, argument.data());
        settings = *gpumb_get_settings(g);
        own.assign(argument.begin() + 1, argument.begin() + count);
        GPUMB_SWEEP_LIST(g, n, 1)
            GPUMB_MEASURE(g, "row")
                fake_run(1e-3 * (double)n);
        code = gpumb_close(g);
    });
    CHECK(fake_clean());
    return code;
}

static void test_values()
{
    CHECK_INT(run({"--precision=5", "--delta", "2.5", "--spread=0.5", "--budget", "0.25", "--peak",
                   "4800", "--warmup=0.125", "--samples=7:1Ki", "--seed", "18446744073709551615"}),
              0);
    CHECK_NEAR(settings.precision, 0.05, 1e-12);
    CHECK_NEAR(settings.delta, 0.025, 1e-12);
    CHECK_NEAR(settings.spread, 0.005, 1e-12);
    CHECK_NEAR(settings.budget_s, 0.25, 0);
    CHECK_NEAR(settings.peak_gbps, 4800, 0);
    CHECK_NEAR(settings.warmup_s, 0.125, 0);
    CHECK_INT(settings.min_samples, 7);
    CHECK_INT(settings.max_samples, 1024);
    CHECK(settings.seed == UINT64_MAX && !settings.full && !settings.cold && !settings.shuffle);

    CHECK_INT(run({"--full", "--cold", "--shuffle", "--seed=2^40"}), 0);
    CHECK(settings.seed == (uint64_t)1 << 40 && settings.full && settings.cold && settings.shuffle);
    CHECK_INT(run({}), 0);
    const uint64_t warmed = fake_runs;
    CHECK_INT(run({"--warmup=0"}), 0);
    CHECK(settings.warmup_s < 0 && fake_runs < warmed);
    CHECK_INT(run({"--profile=1000000", "--filter=none"}), GPUMB_EXIT_USAGE); // of the filter
    CHECK_INT(settings.profile, 1000000);
}

// The same again is no contradiction; another value is one, but for what there may be several of.
static void test_twice()
{
    static const char *const twice[][2] = {{"--seed=5", "--seed=6"},
                                           {"--budget=0.1", "--budget=0.2"},
                                           {"--warmup=0.1", "--warmup=0.2"},
                                           {"--quick", "--full"},
                                           {"--axis=n=1", "--axis=n=1,2"}};
    for (const auto &option : twice) {
        CHECK_CASE(run({option[0], option[0]}) == 0, "%s twice: %s", option[0], heard.c_str());
        CHECK_CASE(run({option[0], option[1]}) == GPUMB_EXIT_USAGE, "%s %s", option[0], option[1]);
    }
    CHECK_INT(run({"--filter=none", "--filter=row"}), 0);
    CHECK_INT(run({"--expect=row<=2ms", "--expect=row>=0.1ms"}), 0);
}

static void test_many()
{
    words filters(GPUMBI_OPTIONS, "--filter=row"), axes(GPUMBI_OPTIONS, "--axis=n=1");
    CHECK_INT(run(filters), 0);
    CHECK_INT(run(axes), 0);
    filters.push_back("--filter=row");
    axes.push_back("--axis=n=1");
    CHECK_INT(run(filters), GPUMB_EXIT_USAGE);
    CHECK(has(heard, "is one filter too many"));
    CHECK_INT(run(axes), GPUMB_EXIT_USAGE);
    CHECK(has(heard, "is one axis too many"));
}

static void test_wrong()
{
    for (const char *text :
         {"--seed=0",      "--seed=12x",        "--seed=-1",     "--seed=18446744073709551616",
          "--samples=0:5", "--samples=5:4",     "--samples=5",   "--precision=0",
          "--profile=0",   "--profile=1000001", "--processes=0", "--processes=101",
          "--device=1,,2", "--device=,1",       "--device=1,",   "--device=2147483648",
          "--axis=n",      "--axis==1",         "--axis=n=",     "--list=1",
          "--csv"})
        CHECK_CASE(run({text}) == GPUMB_EXIT_USAGE, "%s", text);
    CHECK_INT(run({"--profile", "--processes=2"}), GPUMB_EXIT_USAGE);
    CHECK(has(heard, "--profile takes no times, which --processes is for"));
    CHECK_INT(run({"--profile", "--csv=-"}), GPUMB_EXIT_USAGE);
    CHECK_INT(run({"--profile=1"}), 0);
}

static void test_own()
{
    CHECK_INT(run({"mine", "--seed", "7", "--more=1", "--", "--seed", "8", "--"}), 0);
    CHECK_INT(settings.seed, 7);
    CHECK(own == words({"mine", "--more=1", "--seed", "8", "--"}));
}

int main()
{
    test_values();
    test_twice();
    test_many();
    test_wrong();
    test_own();
    return CHECK_SUMMARY();
}

/* test_contexts.cpp - several contexts: a call that names one works there, a launch goes to the
 * one used last. */
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#include "gpumb.h"

#include "check.h"

#include <thread>

/* One context for each thread: launches and NULL go to that of the thread. */
static void measure_in_thread(const char *name, int block, int *trouble)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = 200;
    gpumb *g = gpumb_open_settings(name, &settings);
    int wrong = 0;
    for (int i = 0; i < 20; i++) {
        GPUMB_MEASURE(g, NULL)
            GPUMB_LAUNCH(gpumbi_empty_kernel, 2, block, 0);
        wrong += strcmp(gpumb_last_result(NULL)->bench, name) != 0;
        wrong += strcmp(gpumb_last_result(g)->kernel, "gpumbi_empty_kernel") != 0;
        wrong += g->region.single.kernel.block != block;
    }
    wrong += gpumb_row_count(g) != 20;
    *trouble = wrong + gpumb_close(g);
}

/* gpumb_main() closes the context, and nobody before it. */
static void closes(gpumb *g)
{
    gpumb_close(g);
    GPUMB_MEASURE(g, "not reached")
        gpumb_empty(g, 1, 32);
}

static void test_closing_in_a_benchmark()
{
    static const gpumb_benchmark list[] = {{"closes", "", closes}};
    char program[] = "test_contexts", *arguments[] = {program, NULL};
    CHECK_INT(gpumb_main(1, arguments, list, 1), GPUMB_EXIT_ERROR);
    char filter[] = "--filter=x", *filtered[] = {program, filter, NULL};
    CHECK_INT(gpumb_main(2, filtered, NULL, 0), GPUMB_EXIT_USAGE);
}

/* What gpumb knows is taken out; the rest stays, in its order; "--" ends gpumb's part. */
static void test_options_of_ones_own()
{
    static const struct {
        const char *given, *left;
        int code;
        double budget; /* 0: the usual one */
    } cases[] = {
        {"", "", 0, 0},
        {"--budget 3", "", 0, 3},
        {"--mine", "--mine", 0, 0},
        {"--mine 7 --budget=3 file -x", "--mine 7 file -x", 0, 3},
        {"a --budget 3 --no-color b --seed 4", "a b", 0, 3},
        {"--mine -- --budget 3", "--mine --budget 3", 0, 0},
        {"--budget 3 -- -- --help", "-- --help", 0, 3},
        {"--", "", 0, 0},
        {"-- --", "--", 0, 0},
        {"--budge 3 --budgets=2", "--budge 3 --budgets=2", 0, 0},
        {"--mine --budget x --other", "--mine --other", GPUMB_EXIT_USAGE, 0},
        {"--budget", "", GPUMB_EXIT_USAGE, 0},
        {"--budget -- 3", "-- 3", GPUMB_EXIT_USAGE, 0}, /* nothing is sorted behind an error */
    };
    for (const auto &c : cases) {
        char text[200] = "program ", left[200] = "", *argv[20] = {NULL};
        int argc = 0;
        strcat(text, c.given);
        for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
            argv[argc++] = word;
        const int given = argc;
        gpumb *g = gpumb_open_args(&argc, argv);
        const double usual = gpumb_settings_default().budget_s;
        for (int i = 1; i < argc; i++)
            snprintf(left + strlen(left), 100, "%s%s", i > 1 ? " " : "", argv[i]);
        CHECK_STR(argv[0], "program");
        CHECK(argc > given || argv[argc] == NULL);
        CHECK_INT(gpumb_ok(g), c.code == 0);
        if (!c.code)
            CHECK_NEAR(gpumb_get_settings(g)->budget_s, c.budget > 0 ? c.budget : usual, 0);
        if (!CHECK_STR(left, c.left))
            printf("    of \"%s\"\n", c.given);
        g->table.file = NULL; /* else it would say that nothing was measured */
        CHECK_INT(gpumb_close(g), c.code);
    }
    CHECK_INT(gpumb_close(gpumb_open_args(NULL, NULL)), GPUMB_EXIT_FAILED); /* nothing measured */

    /* gpumb_open() and gpumb_main() have no program's options, and refuse them */
    char program[] = "program", mine[] = "--mine", end[] = "--",
         *all[] = {program, mine, end, NULL};
    CHECK_INT(gpumb_close(gpumb_open(2, all)), GPUMB_EXIT_USAGE);
    all[1] = end;
    CHECK_INT(gpumb_close(gpumb_open(2, all)), GPUMB_EXIT_USAGE);
    CHECK_INT(gpumb_main(2, all, NULL, 0), GPUMB_EXIT_USAGE);

    /* a list of benchmarks behind options of the program's */
    static int ran;
    struct run {
        static void one(gpumb *)
        {
            ran++;
        }
    };
    static const gpumb_benchmark list[] = {{"one", "", run::one}, {"two", "", run::one}};
    char filter[] = "--filter=two";
    char *some[] = {program, mine, filter, NULL};
    int argc = 3;
    gpumb *g = gpumb_open_args(&argc, some);
    CHECK(argc == 2 && some[1] == mine && !some[2]);
    gpumb_run(g, list, 2);
    CHECK_INT(ran, 3); /* both are walked through, one is run */
}

/* GPUMB_TIME_IN: where one says, whatever was used last. */
static void test_time_in(gpumb *a, gpumb *b)
{
    gpumb_result r;
    gpumb_set_bytes(a, 123);
    gpumb_set_bytes(b, 456);
    GPUMB_TIME_IN(a, &r)
    gpumb_empty(NULL, 1, 32);
    CHECK_STR(r.bench, "a");
    CHECK_NEAR(r.bytes, 123, 0);
    GPUMB_TIME(&r)
        gpumb_empty(NULL, 1, 32);
    CHECK_STR(r.bench, "a"); /* which was used last */
    CHECK_NEAR(r.bytes, 0, 0);
    GPUMB_TIME_IN(b, &r)
    gpumb_empty(NULL, 1, 32);
    CHECK_STR(r.bench, "b");
    CHECK_NEAR(r.bytes, 456, 0);
}

static __global__ void waits()
{
    __syncthreads();
}

enum { FINE, TOO_LARGE, NO_BLOCK, WRONG_FORM, BEFORE, ONE_OFF, AFTER, NO_MEMORY, LACKING, ALL };

/* Beside a row that is fine: what the device lacks is no failure, a launch that it refuses is. */
static void test_exit_codes()
{
    for (int what = FINE; what < ALL; what++) {
        gpumb_settings settings = gpumb_settings_default();
        gpumb_result r;
        settings.quiet = 1;
        settings.warmup_s = -1;
        settings.min_samples = settings.max_samples = 6;
        gpumb *g = gpumb_open_settings("codes", &settings);
        GPUMB_MEASURE(g, "fine")
            gpumb_empty(g, 1, 32);
        if (what == NO_MEMORY)
            GPUMB_SWEEP_LIST(g, n, 1)
                if (!gpumb_alloc(g, (uint64_t)n << 62))
                    GPUMB_MEASURE(g, "other")
                        gpumb_empty(g, 1, 32);
        if (what == LACKING)
            gpumb_skip(g, "this form is for GPUs");
        if (what == BEFORE)
            GPUMB_LAUNCH(waits, 2, 2, 0);
        if (what == ONE_OFF)
            GPUMB_TIME_IN(g, &r)
        GPUMB_LAUNCH(waits, 1, 4096, 0);
        GPUMB_MEASURE(g, "other")
            if (what == WRONG_FORM)
                GPUMB_LAUNCH(waits, 2, 2, 0);
            else
                GPUMB_LAUNCH_BARRIER(waits, 1, what == TOO_LARGE ? 2048 : what != NO_BLOCK, 0);
        if (what == AFTER)
            GPUMB_LAUNCH(waits, 2, 2, 0);
        const bool skipped = what != FINE && what != ONE_OFF && what != AFTER && what != NO_MEMORY;
        const bool refused = what >= TOO_LARGE && what <= AFTER;
        const gpumb_result *last = gpumb_last_result(g);
        CHECK_INT(last->status, skipped ? GPUMB_STATUS_SKIPPED : GPUMB_STATUS_OK);
        CHECK_INT(!!(last->flags & GPUMB_FLAG_LAUNCH_FAILED), refused && what < ONE_OFF);
        CHECK_INT(gpumb_row_count(g), what == NO_MEMORY ? 3 : 2);
        if (!CHECK_INT(gpumb_close(g), refused ? GPUMB_EXIT_FAILED : GPUMB_EXIT_OK))
            printf("    case %d\n", what);
    }
}

int main()
{
    int in_other = -1, in_this = -1;
    std::thread other(measure_in_thread, "other", 64, &in_other);
    measure_in_thread("this", 32, &in_this);
    other.join();
    CHECK_INT(in_other, 0);
    CHECK_INT(in_this, 0);
    test_closing_in_a_benchmark();
    test_options_of_ones_own();
    test_exit_codes();

    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.budget_s = 0.01;
    settings.warmup_s = -1;
    gpumb *a = gpumb_open_settings("a", &settings), *b = gpumb_open_settings("b", &settings);

    test_time_in(a, b);
    CHECK(gpumb_empty(a, 0, 32) == -1); /* refused, in a */
    GPUMB_MEASURE(b, "fine")
        gpumb_empty(b, 1, 32);
    GPUMB_MEASURE(a, "skipped")
        gpumb_empty(a, 1, 32);
    CHECK(gpumb_last_result(b)->status == GPUMB_STATUS_OK);
    CHECK(gpumb_last_result(a)->status == GPUMB_STATUS_SKIPPED);

    GPUMB_MEASURE(a, "launch") /* b was opened last, but this is a's region */
        GPUMB_LAUNCH(gpumbi_empty_kernel, 1, 2048, 0);
    CHECK(gpumb_last_result(a)->status == GPUMB_STATUS_SKIPPED);
    CHECK(gpumb_last_result(b)->status == GPUMB_STATUS_OK);

    CHECK(gpumb_close(a) == GPUMB_EXIT_FAILED); /* nothing of it was measured */
    GPUMB_MEASURE(NULL, "in b, the one that is left")
        gpumb_empty(NULL, 1, 32);
    CHECK_STR(gpumb_last_result(b)->kernel, "in b, the one that is left");
    CHECK(gpumb_close(b) == GPUMB_EXIT_OK);
    return CHECK_SUMMARY();
}

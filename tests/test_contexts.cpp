/* Several contexts: a call that names one works there, a launch goes to the one used last. */
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

int main()
{
    int in_other = -1, in_this = -1;
    std::thread other(measure_in_thread, "other", 64, &in_other);
    measure_in_thread("this", 32, &in_this);
    other.join();
    CHECK_INT(in_other, 0);
    CHECK_INT(in_this, 0);
    test_closing_in_a_benchmark();

    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.budget_s = 0.01;
    settings.warmup_s = -1;
    gpumb *a = gpumb_open_settings("a", &settings), *b = gpumb_open_settings("b", &settings);

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

/* Several contexts: a call that names one works there, a launch goes to the one used last. */
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#include "gpumb.h"

#include "check.h"

int main()
{
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

    CHECK(gpumb_close(a) == GPUMB_EXIT_OK);
    GPUMB_MEASURE(NULL, "in b, the one that is left")
        gpumb_empty(NULL, 1, 32);
    CHECK_STR(gpumb_last_result(b)->kernel, "in b, the one that is left");
    CHECK(gpumb_close(b) == GPUMB_EXIT_OK);
    return CHECK_SUMMARY();
}

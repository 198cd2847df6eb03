/* test_lifetimes.cpp - what outlives what: buffers, results, descriptions and files, in programs
 * that are careless. */
#include "hear.h"
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#include "gpumb.h"

#include "check.h"
#include "poison.h"
#include "read_file.h"

static gpumb_settings quick()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    heard.clear();
    return s;
}

static gpumb *open()
{
    const gpumb_settings s = quick();
    return gpumb_open_settings("lifetimes", &s);
}

static int always_right(gpumb *g, void *user)
{
    (void)g, (void)user;
    return 1;
}

static void test_interleave()
{
    gpumb *g = open();
    int pass = 0;
    GPUMB_INTERLEAVE(g) {
        if (pass++ == 0)
            GPUMB_MEASURE(g, "once")
                gpumb_empty(g, 1, 32);
        GPUMB_MEASURE(g, "always")
            gpumb_empty(g, 1, 32);
    }
    int failed = 0, ok = 0;
    for (size_t i = 0; i < g->rows.count; i++) {
        failed += g->rows.at[i]->result.status == GPUMB_STATUS_FAILED;
        ok += g->rows.at[i]->result.status == GPUMB_STATUS_OK;
    }
    CHECK(failed >= 1); /* a region that is not met again ends, and so does the interleave */
    CHECK(failed + ok == 2);
    CHECK(gpumb_close(g) == GPUMB_EXIT_FAILED);

    g = open();
    GPUMB_INTERLEAVE(g) {
        gpumb_result r; /* dies with each pass */
        GPUMB_TIME(&r)
            gpumb_empty(g, 1, 32);
        CHECK(r.status == GPUMB_STATUS_SKIPPED && strstr(r.reason, "GPUMB_MEASURE only"));
    }
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
}

/* What a hook is given in a pass of a GPUMB_INTERLEAVE may be gone in the next one. */
static int hooks_run;

static int checks_this_pass(gpumb *g, void *alive)
{
    (void)g;
    hooks_run++;
    return *(int *)alive;
}

static void resets_this_pass(gpumb *g, void *alive)
{
    (void)g;
    hooks_run++;
    CHECK(*(int *)alive);
}

static void test_hooks_of_a_pass()
{
    int alive[1000] = {0}, pass = 0;
    gpumb *g = open();
    hooks_run = 0;
    GPUMB_INTERLEAVE(g) {
        alive[pass] = 1;
        for (const char *name : {"this", "that"}) {
            gpumb_set_verify(g, checks_this_pass, &alive[pass]);
            gpumb_set_reset(g, resets_this_pass, &alive[pass]);
            GPUMB_MEASURE(g, name)
                gpumb_empty(g, 1, 32);
        }
        alive[pass] = 0;
        pass += pass < 999;
    }
    CHECK(g->rows.ok == 2);
    CHECK(pass > 10);
    CHECK(hooks_run > 2 * (6 + 2)); /* a reset before each sample, checks of the first and last */
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
}

static void test_buffers()
{
    gpumb *g = open();
    gpumb_buffer *b = gpumb_alloc(g, 100);
    gpumb_set_output(g, b);
    gpumb_set_verify(g, always_right, NULL);
    gpumb_free(g, b);
    gpumb_free(g, b); /* is freed already */
    GPUMB_MEASURE(g, "an output that is gone")
        gpumb_empty(g, 1, 32);
    CHECK(gpumb_last_result(g)->status == GPUMB_STATUS_OK);

    char bytes[8] = {0};
    b = gpumb_alloc(g, 100);
    CHECK(gpumb_read(g, b, 92, bytes, 8) == 0);
    CHECK(gpumb_read(g, b, 93, bytes, 8) == -1);
    CHECK(gpumb_write(g, b, UINT64_MAX, bytes, 8) == -1);
    GPUMB_MEASURE(g, "after a read outside")
        gpumb_empty(g, 1, 32);
    CHECK(gpumb_last_result(g)->status == GPUMB_STATUS_SKIPPED);
    CHECK(strstr(gpumb_last_result(g)->reason, "outside a buffer of 100") != NULL);
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
}

/* Memory that is wrapped stays, whoever frees the buffer, and whenever. */
static void test_wrapped()
{
    unsigned char mine[64];
    memset(mine, 1, sizeof mine);
    gpumb *g = open();
    int passes = 0;
    gpumb_buffer *outer = gpumb_wrap(g, mine, 8);
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        gpumb_buffer *b = gpumb_wrap(g, mine + 8, (uint64_t)n);
        CHECK(!b == (passes++ < 2)); /* none while it enumerates */
        gpumb_set_output(g, b);
        gpumb_set_verify(g, always_right, NULL);
        GPUMB_MEASURE(g, "wrapped")
            gpumb_empty(g, 1, 32);
        mine[10] = mine[16] = 2; /* where a guard zone would be */
    }
    CHECK(passes == 4 && g->rows.ok == 2);
    CHECK(g->memory.buffers == outer && !outer->next); /* the others ended with their pass */
    CHECK(is_poison(mine + 8, 2, 0) && mine[10] == 2 && mine[11] == 1);
    CHECK(gpumb_wrap(g, NULL, 100) == NULL);
    GPUMB_MEASURE(g, "of nothing")
        gpumb_empty(g, 1, 32);
    CHECK(gpumb_last_result(g)->status == GPUMB_STATUS_SKIPPED);
    CHECK_STR(gpumb_last_result(g)->reason, "gpumb_wrap: a pointer is NULL");
    gpumb_free(g, outer);
    gpumb_free(g, outer);
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
    CHECK(mine[0] == 1 && heard.empty());
}

static void test_descriptions()
{
    gpumb *g = open();
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        GPUMB_MEASURE(g, "each")
            gpumb_empty(g, 1, 32);
        if (n == 1)
            gpumb_skip(g, "for a region that does not come");
    }
    CHECK(g->rows.count == 2 && g->rows.ok == 2);
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
}

static void test_sweep_left_for_null()
{
    gpumb *g = open();
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        gpumb_buffer *b = gpumb_alloc(g, (uint64_t)n);
        if (!b)
            continue;
        GPUMB_MEASURE(g, "never met")
            gpumb_empty(g, 1, 32);
    }
    CHECK(heard.find("reached no region") != std::string::npos);
    gpumb_close(g);
}

/* Two sweeps in a program: the second has an axis that the header does not know yet. */
static void test_wider_files()
{
    gpumb_settings s = quick();
    s.csv = "build/lifetimes.csv";
    s.markdown = "build/lifetimes.md";
    gpumb *g = gpumb_open_settings("lifetimes", &s);
    GPUMB_SWEEP_LIST(g, n, 1)
        GPUMB_MEASURE(g, "first")
            gpumb_empty(g, 1, 32);
    GPUMB_SWEEP_LIST(g, m, 7)
        GPUMB_MEASURE(g, "second")
            gpumb_empty(g, 1, 32);
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
    const std::string csv = read_file(s.csv), markdown = read_file(s.markdown);
    CHECK(csv.find(",n,m\n") != std::string::npos);
    CHECK(markdown.find("| bench | kernel | n | m | median |") != std::string::npos);
    CHECK(markdown.find("| lifetimes | first | 1 |  |") != std::string::npos);
    CHECK(markdown.find("| lifetimes | second |  | 7 |") != std::string::npos);
    remove(s.csv);
    remove(s.markdown);
}

static void test_long_names()
{
    gpumb_settings s = quick();
    s.csv = "build/lifetimes.csv";
    gpumb *g = gpumb_open_settings("lifetimes", &s);
    GPUMB_SWEEP_NAMES(g, form, "coalesced_vectorised_unrolled_by_4",
                      "coalesced_vectorised_unrolled_by_8")
        GPUMB_MEASURE(g, "kernel")
            gpumb_empty(g, 1, 32);
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
    CHECK(read_file(s.csv).find("unrolled_by_8\n") != std::string::npos);
    remove(s.csv);

    g = open();
    const int64_t one = 1;
    gpumbi_sweep_list(g, std::string(128, 'a').c_str(), &one, 1);
    CHECK(gpumb_close(g) == GPUMB_EXIT_ERROR);
    CHECK(heard.find("has 1 to 127 characters") != std::string::npos);
}

/* --list measures nothing, in a program without a sweep either. */
static void test_list()
{
    char program[] = "lifetimes", option[] = "--list";
    char *arguments[] = {program, option, NULL};
    int runs = 0;
    gpumb *g = gpumb_open(2, arguments);
    GPUMB_MEASURE(g, "flat")
        runs++;
    CHECK(gpumb_close(g) == GPUMB_EXIT_OK);
    CHECK(runs == 0);
}

static gpumb *reset_context;
static void slow_reset(gpumb *g, void *user)
{
    (void)g, (void)user;
    const double until = gpumbi_dev_clock() + 2e-3;
    while (gpumbi_dev_clock() < until) {
    }
}

static void test_budget_counts_reset()
{
    gpumb_settings s = quick();
    s.budget_s = 1e-3;
    s.min_samples = s.max_samples = 1000;
    reset_context = gpumb_open_settings("lifetimes", &s);
    gpumb_set_reset(reset_context, slow_reset, NULL);
    GPUMB_MEASURE(reset_context, "reset")
        gpumb_empty(reset_context, 1, 32);
    CHECK(gpumb_last_result(reset_context)->stop == GPUMB_STOP_BUDGET);
    CHECK(gpumb_last_result(reset_context)->time.count == 1);
    gpumb_close(reset_context);
}

/* A benchmark that ends the program: what is open is closed, once. */
static void run_exit(gpumb *g)
{
    (void)g;
    exit(5);
}

static void test_exit_in_benchmark()
{
    static const gpumb_benchmark list[] = {{"ends", "", run_exit}};
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        gpumb_run(open(), list, 1);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main()
{
    test_exit_in_benchmark();
    test_interleave();
    test_hooks_of_a_pass();
    test_buffers();
    test_wrapped();
    test_descriptions();
    test_sweep_left_for_null();
    test_wider_files();
    test_long_names();
    test_list();
    test_budget_counts_reset();
    return CHECK_SUMMARY();
}

/* test_calls.c - the macros' loops as functions: the same rows, failing bodies, nothing lost. */
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#include "gpumb.h"

#include "check.h"

enum { SAMPLES = 6 };

static gpumb *open_quietly(void)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = SAMPLES;
    return gpumb_open_settings("calls", &settings);
}

/* What a body does, and has seen. */
typedef struct task {
    int calls, fails_at; /* 0: never */
    const char *reason, *name;
    int64_t values[100];
    double reals[100];
} task;

static int work(gpumb *g, void *user)
{
    task *t = (task *)user;
    static volatile double sum;
    for (int i = 0; i < 1000; i++)
        sum = sum + 1;
    if (++t->calls != t->fails_at)
        return 0;
    if (t->reason)
        gpumb_skip_text(g, t->reason);
    return 7;
}

static const char *text_of(gpumb *g, size_t row, const char *column)
{
    static char text[8][100];
    static int at;
    at = (at + 1) % 8;
    return gpumb_row_text(g, row, column, text[at], sizeof text[0]) < 0 ? "none" : text[at];
}

static void test_region(void)
{
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, NULL, {0}, {0}}, fails = t, says = t;
    fails.fails_at = says.fails_at = 3;
    says.reason = "100 % of it";
    CHECK_INT(gpumb_run_region(g, "fine", work, &t), 0);
    CHECK(t.calls > SAMPLES);
    CHECK_INT(gpumb_run_region(g, "fails", work, &fails), 7);
    CHECK_INT(fails.calls, 3);
    CHECK_INT(gpumb_run_region(g, "says", work, &says), 7);
    CHECK_INT(gpumb_run_region(g, "nothing", NULL, NULL), 0);
    CHECK_INT(gpumb_run_region(g, NULL, work, &t), 0);
    CHECK_INT((int)gpumb_row_count(g), 5);
    CHECK_STR(text_of(g, 0, "status"), "ok");
    CHECK_STR(text_of(g, 1, "status"), "skipped");
    CHECK_STR(text_of(g, 1, "reason"), "its body returned 7");
    CHECK_STR(text_of(g, 2, "reason"), "100 % of it");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

static int lanes(gpumb *g, void *user)
{
    task *t = (task *)user;
    task none = {0, 0, NULL, NULL, {0}, {0}};
    const int code = gpumb_run_region(g, "base", work, &none);
    return code ? code : gpumb_run_region(g, "other", work, t);
}

static int lanes_end(gpumb *g, void *user)
{
    lanes(g, user);
    return ((task *)user)->calls > 2 ? 9 : 0;
}

static void test_interleave(void)
{
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, NULL, {0}, {0}}, ends = t;
    CHECK_INT(gpumb_run_interleave(g, lanes, &t), 0);
    CHECK_INT((int)gpumb_row_count(g), 2);
    CHECK_STR(text_of(g, 1, "compared_with"), "base");
    CHECK_INT(gpumb_run_interleave(g, NULL, NULL), 0);
    CHECK_INT(gpumb_run_interleave(g, lanes_end, &ends), 9);
    CHECK_INT((int)gpumb_row_count(g), 2); /* theirs are dropped */
    gpumb_run_region(g, "after", work, &t);
    CHECK_INT((int)gpumb_row_count(g), 3);
    CHECK_STR(text_of(g, 2, "kernel"), "after");
    CHECK_STR(text_of(g, 2, "compared_with"), "");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
}

static int value_body(gpumb *g, int64_t value, void *user)
{
    task *t = (task *)user;
    task none = {0, 0, NULL, NULL, {0}, {0}};
    t->values[t->calls % 100] = value;
    gpumb_run_region(g, t->name, work, &none);
    return ++t->calls == t->fails_at ? 5 : 0;
}

static int real_body(gpumb *g, double value, void *user)
{
    task *t = (task *)user;
    task none = {0, 0, NULL, NULL, {0}, {0}};
    t->reals[t->calls++ % 100] = value;
    return gpumb_run_region(g, "real", work, &none);
}

static int outer_body(gpumb *g, int64_t value, void *user)
{
    static const int64_t inner[] = {10, 20};
    (void)value;
    return gpumb_run_sweep(g, "inner", inner, 2, value_body, user);
}

static void test_sweeps(void)
{
    static const int64_t values[] = {3, 1, 4};
    static const double reals[] = {0.5, 1e-3};
    static const char *const names[] = {"naive", "fast"};
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, "swept", {0}, {0}}, named = t, of_reals = t, nested = t;
    CHECK_INT(gpumb_run_sweep(g, "n", values, 3, value_body, &t), 0);
    CHECK_INT((int)gpumb_row_count(g), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT((int)gpumb_row_axis(g, i, "n"), (int)values[i]);
    CHECK_STR(text_of(g, 2, "n"), "4");
    CHECK_INT(gpumb_run_sweep_reals(g, "alpha", reals, 2, real_body, &of_reals), 0);
    CHECK_NEAR(gpumb_row_value(g, 4, "alpha"), 1e-3, 0);
    CHECK_STR(text_of(g, 3, "alpha"), "0.5");
    CHECK_STR(text_of(g, 3, "n"), "");
    CHECK_INT(gpumb_run_sweep_names(g, "form", names, 2, value_body, &named), 0);
    CHECK_STR(text_of(g, 5, "form"), "naive");
    CHECK_STR(text_of(g, 6, "form"), "fast");
    CHECK_INT(gpumb_run_sweep(g, "outer", values, 3, outer_body, &nested), 0);
    CHECK_INT((int)gpumb_row_count(g), 13);
    CHECK_STR(text_of(g, 12, "inner"), "20");
    CHECK_INT(gpumb_run_sweep(g, "none", values, 3, NULL, NULL), 0);
    gpumb_close(g); /* a sweep that measures nothing is a mistake: see test_sweeps */
}

/* While it enumerates, and where it runs: what is behind it is measured, and what was finished
 * stays. */
static void test_left_sweeps(void)
{
    static const int64_t values[] = {3, 1, 4};
    for (int nests = 0; nests < 2; nests++)
        for (int fails_at = 1; fails_at < 7; fails_at++) {
            gpumb *g = open_quietly();
            task t = {0, fails_at, NULL, "swept", {0}, {0}}, after = t;
            after.fails_at = 0;
            CHECK_INT(gpumb_run_sweep(g, "n", values, 3, nests ? outer_body : value_body, &t),
                      nests || fails_at <= 6 ? 5 : 0);
            CHECK_INT(t.calls, fails_at);
            const size_t before = gpumb_row_count(g);
            CHECK_INT(gpumb_run_region(g, "after", work, &after), 0);
            CHECK_INT((int)gpumb_row_count(g), (int)before + 1);
            CHECK_STR(text_of(g, before, "kernel"), "after");
            CHECK_STR(text_of(g, before, "n"), "");
            CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
        }
}

static int right(gpumb *g, void *user)
{
    (void)g, (void)user;
    return 1;
}

/* Says what the region is, and fails before that: of no later row is it said. */
static int described(gpumb *g, void *user)
{
    (void)user;
    gpumb_set_verify(g, right, NULL);
    gpumb_set_bytes(g, 128);
    gpumb_set_value(g, "mine", 7);
    gpumb_skip(g, "never run");
    return 1;
}

static int described_at(gpumb *g, int64_t value, void *user)
{
    (void)value;
    return described(g, user);
}

static void test_described(void)
{
    static const int64_t values[] = {1, 2};
    for (int how = 0; how < 3; how++) {
        gpumb *g = open_quietly();
        task t = {0, 0, NULL, NULL, {0}, {0}};
        if (how == 0)
            CHECK_INT(gpumb_run_sweep(g, "n", values, 2, described_at, NULL), 1);
        else if (how == 1)
            CHECK_INT(gpumb_run_interleave(g, described, NULL), 1);
        else
            described(g, NULL);
        gpumb_abandon(g);
        gpumb_run_region(g, "after", work, &t);
        CHECK_INT((int)gpumb_row_count(g), 1);
        CHECK_STR(text_of(g, 0, "status"), "ok");
        CHECK_STR(text_of(g, 0, "verified"), "");
        CHECK_STR(text_of(g, 0, "bytes"), "");
        CHECK(isnan(gpumb_row_value(g, 0, "mine")));
        CHECK_INT(gpumb_close(g), how == 2 ? GPUMB_EXIT_OK : GPUMB_EXIT_FAILED);
    }
}

static void test_texts(void)
{
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, NULL, {0}, {0}};
    char text[4] = "xyz";
    gpumb_abandon(g); /* nothing is under way */
    gpumb_set_value(g, "mine", 0.25);
    gpumb_run_region(g, "a region", work, &t);
    CHECK_INT(gpumb_row_text(g, 0, "kernel", text, sizeof text), 8);
    CHECK_STR(text, "a r");
    CHECK_INT(gpumb_row_text(g, 0, "kernel", NULL, 0), 8);
    CHECK_STR(text_of(g, 0, "mine"), "0.25");
    CHECK_INT(gpumb_row_text(g, 0, "no such", text, sizeof text), -1);
    CHECK_STR(text, "");
    CHECK_INT(gpumb_row_text(g, 1, "kernel", text, sizeof text), -1);
    CHECK_INT(gpumb_row_text(g, 0, NULL, text, sizeof text), -1);
    CHECK_INT(gpumb_row_text(g, 0, "", text, sizeof text), -1);
    gpumb_skip_text(g, "50 %d");
    gpumb_run_region(g, "skipped", work, &t);
    CHECK_STR(text_of(g, 1, "reason"), "50 %d");
    gpumb_skip_text(g, NULL);
    gpumb_run_region(g, "skipped", work, &t);
    CHECK_STR(text_of(g, 2, "reason"), "no reason given");
    gpumb_skip_text(g, ""); /* skips as well */
    gpumb_run_region(g, "skipped", work, &t);
    CHECK_STR(text_of(g, 3, "reason"), "no reason given");
    gpumb_note_text(g, "100 %");
    gpumb_note_text(g, NULL);
    CHECK_STR(g->table.notes->text, "100 %");
    gpumb_reason_text(g, "%s");
    CHECK_STR(g->why, "%s");
    CHECK_STR(gpumb_version(), GPUMB_VERSION);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

static void test_no_name(void)
{
    static const int64_t values[] = {1, 2};
    for (int i = 0; i < 2; i++) {
        gpumb *g = open_quietly();
        task t = {0, 0, NULL, "swept", {0}, {0}};
        CHECK_INT(gpumb_run_sweep(g, i ? "" : NULL, values, 2, value_body, &t), GPUMB_EXIT_ERROR);
        CHECK_INT(t.calls, 0);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    }
}

static void test_numbers(void)
{
    static const int64_t values[] = {3, 1};
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, "swept", {0}, {0}}, fails = t;
    fails.fails_at = 1;
    gpumb_set_value(g, "mine", 0.25);
    gpumb_set_bytes(g, 1e6);
    gpumb_run_region(g, "one", work, &t);
    gpumb_run_sweep(g, "n", values, 2, value_body, &t);
    gpumb_run_region(g, "fails", work, &fails);
    const gpumb_result *r = gpumb_row(g, 0);
    CHECK_NEAR(gpumb_row_value(g, 0, "median_s") / r->time.median, 1, 1e-6);
    CHECK_NEAR(gpumb_row_value(g, 0, "gbps") / r->gbps, 1, 1e-6);
    CHECK_NEAR(gpumb_row_value(g, 0, "samples"), SAMPLES, 0);
    CHECK_NEAR(gpumb_row_value(g, 0, "mine"), 0.25, 0);
    CHECK_NEAR(gpumb_row_value(g, 2, "n"), 1, 0);
    static const char *const none[] = {"kernel", "flags", "n", "gflops", "no such", "", NULL};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK(isnan(gpumb_row_value(g, 0, none[i])));
    CHECK(isnan(gpumb_row_value(g, 1, "mine")));
    size_t columns = 0, known = 0;
    for (const char *name; (name = gpumb_column_name(g, columns)) != NULL; columns++)
        known += gpumb_row_text(g, 0, name, NULL, 0) >= 0;
    CHECK(columns > 60 && known == columns);
    CHECK_STR(gpumb_column_name(g, 0), "schema");
    CHECK_STR(gpumb_column_name(g, columns - 2), "mine");
    CHECK_STR(gpumb_column_name(g, columns - 1), "n");
    CHECK(!gpumb_column_name(g, (size_t)-1));
    CHECK(isnan(gpumb_row_value(g, 3, "median_s"))); /* it was skipped */
    CHECK(isnan(gpumb_row_value(g, 4, "median_s")));
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

/* Callers that were compiled before find what they know where it was: members are in the order of
 * version 0.1, and later ones come after these. */
static void test_members_stay(void)
{
#define AT(member) offsetof(gpumb_result, member)
    static const size_t at[] = {AT(bench),
                                AT(kernel),
                                AT(status),
                                AT(reason),
                                AT(verified),
                                AT(timing),
                                AT(stop),
                                AT(batch),
                                AT(time),
                                AT(first_launch_s),
                                AT(overhead_s),
                                AT(bytes),
                                AT(flop),
                                AT(gbps),
                                AT(gflops),
                                AT(peak_gbps),
                                AT(ceiling_gbps),
                                AT(pct_peak),
                                AT(pct_ceiling),
                                AT(to_device),
                                AT(to_host),
                                AT(link),
                                AT(link_gbps),
                                AT(pct_link),
                                AT(reference),
                                AT(expected_pct),
                                AT(measured_pct),
                                AT(footprint_bytes),
                                AT(cache),
                                AT(registers),
                                AT(occupancy),
                                AT(sm_clock_hz),
                                AT(memory_clock_hz),
                                AT(fill),
                                AT(seed),
                                AT(series),
                                AT(sm_clock_before_hz),
                                AT(memory_clock_before_hz),
                                AT(temperature_before_c),
                                AT(temperature_c),
                                AT(power_w),
                                AT(energy_j),
                                AT(throttle),
                                AT(others),
                                AT(sampled_s),
                                AT(compared_with),
                                AT(comparison),
                                AT(processes),
                                AT(process_lo_s),
                                AT(process_hi_s),
                                AT(process_medians_s),
                                AT(elements),
                                AT(elements_per_s),
                                AT(meaning),
                                AT(flags),
                                AT(time_utc),
                                AT(kernels),
                                AT(between_s),
                                AT(nodes)};
#undef AT
    const size_t count = sizeof at / sizeof at[0];
    CHECK_INT((int)at[0], 0);
    for (size_t i = 1; i < count; i++)
        CHECK(at[i] > at[i - 1]);
    if (sizeof(void *) == 8) /* none has come in between, nor have structs in it grown */
        CHECK_INT((int)at[count - 1], 968);
}

/* Callers that were compiled with a shorter gpumb_result, or a longer one. */
static void test_copied_rows(void)
{
    gpumb *g = open_quietly();
    task t = {0, 0, NULL, NULL, {0}, {0}};
    struct {
        gpumb_result result;
        unsigned char later[100];
    } room;
    gpumb_run_region(g, "copied", work, &t);
    memset(&room, 0xa5, sizeof room);
    const size_t older = offsetof(gpumb_result, time_utc);
    CHECK_INT(gpumb_row_copy(g, 0, &room.result, older), 0);
    CHECK(!memcmp(&room, gpumb_row(g, 0), older));
    CHECK_INT((unsigned char)room.result.time_utc[0], 0xa5);
    CHECK_INT(gpumb_row_copy(g, 0, &room.result, sizeof room), 0);
    CHECK(!memcmp(&room, gpumb_row(g, 0), sizeof room.result));
    for (size_t i = 0; i < sizeof room.later; i++)
        CHECK_INT(room.later[i], 0);
    CHECK_INT(gpumb_row_copy(g, 1, &room.result, sizeof room), -1);
    CHECK_INT(gpumb_row_copy(g, 0, NULL, sizeof room), -1);
    CHECK_INT(gpumb_row_copy(g, 0, &room.result, (size_t)-1), -1);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

static char logged[10][300];
static int log_lines;

static void take_line(const char *line, void *user)
{
    CHECK(user == logged);
    snprintf(logged[log_lines++ % 10], sizeof logged[0], "%s", line);
}

static void test_log(void)
{
    FILE *errors = tmpfile();
    const int kept = dup(2);
    dup2(fileno(errors), 2);
    gpumb_set_log(take_line, logged);
    gpumb *g = open_quietly();
    gpumb_run_sweep(g, NULL, NULL, 0, NULL, NULL);
    CHECK_INT(log_lines, 1);
    CHECK_STR(logged[0], "gpumb: gpumb_run_sweep: its axis has no name");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR); /* a message without a context */
    CHECK_INT(log_lines, 2);
    CHECK_INT((int)lseek(fileno(errors), 0, SEEK_END), 0);
    gpumb_set_log(NULL, NULL);
    g = open_quietly();
    gpumb_run_sweep(g, NULL, NULL, 0, NULL, NULL);
    gpumb_close(g);
    CHECK_INT(log_lines, 2);
    CHECK(lseek(fileno(errors), 0, SEEK_END) > 20);
    dup2(kept, 2);
    close(kept);
    fclose(errors);
}

/* Callers that were compiled with shorter settings, or longer ones. */
static void test_settings(void)
{
    struct {
        gpumb_settings settings;
        unsigned char later[16];
    } room;
    const gpumb_settings usual = gpumb_settings_default();
    const size_t older = offsetof(gpumb_settings, no_signals);
    for (int longer = 0; longer < 3; longer++) {
        memset(&room, 0xa5, sizeof room);
        gpumb_settings_init(&room.settings, longer ? sizeof room : older);
        CHECK_INT((int)room.settings.size, (int)(longer ? sizeof room : older));
        CHECK_NEAR(room.settings.precision, usual.precision, 0);
        CHECK_INT(room.settings.no_signals == 0, longer > 0);
        CHECK_INT(room.later[15], longer ? 0 : 0xa5);
        room.settings.quiet = 1;
        room.settings.min_samples = room.settings.max_samples = SAMPLES;
        room.later[15] = longer == 2;
        gpumb *g = gpumb_open_settings("calls", &room.settings);
        CHECK_INT(gpumb_get_settings(g)->no_signals, 0);
        CHECK_INT((int)gpumb_get_settings(g)->max_samples, SAMPLES);
        CHECK_INT(gpumb_close(g), longer == 2 ? GPUMB_EXIT_USAGE : GPUMB_EXIT_OK);
    }
    memset(&room, 0xa5, sizeof room);
    gpumb_settings_init(&room.settings, sizeof(size_t) - 1);
    gpumb_settings_init(&room.settings, (size_t)-1);
    gpumb_settings_init(NULL, sizeof room);
    CHECK_INT(room.later[0], 0xa5);
    CHECK_INT(*(unsigned char *)&room, 0xa5);
}

static void test_samples(void)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = SAMPLES;
    for (int raw = 0; raw < 2; raw++) {
        settings.raw = raw;
        gpumb *g = gpumb_open_settings("calls", &settings);
        task t = {0, 0, NULL, NULL, {0}, {0}}, fails = t;
        uint64_t count = 99;
        char line[400], few[9];
        fails.fails_at = 1;
        gpumb_run_region(g, "sampled", work, &t);
        gpumb_run_region(g, "fails", work, &fails);
        const double *sample = gpumb_row_samples(g, 0, &count);
        CHECK_INT((int)count, raw ? SAMPLES : 0);
        CHECK_INT(sample != NULL, raw);
        double sum = 0;
        for (uint64_t i = 0; i < count; i++)
            sum += sample[i];
        if (raw)
            CHECK_NEAR(sum / SAMPLES / gpumb_row(g, 0)->time.mean, 1, 1e-12);
        CHECK(!gpumb_row_samples(g, 1, &count));
        CHECK_INT((int)count, 0);
        CHECK(!gpumb_row_samples(g, 2, NULL));
        const int length = gpumb_row_line(g, 0, line, sizeof line);
        CHECK_INT(length, (int)strlen(line));
        CHECK(!strncmp(line, "sampled: median ", 16) && strstr(line, ", 6 samples"));
        CHECK_INT(gpumb_row_line(g, 0, few, sizeof few), length);
        CHECK_STR(few, "sampled:");
        CHECK_INT(gpumb_row_line(g, 0, NULL, 0), length);
        gpumb_row_line(g, 1, line, sizeof line);
        CHECK_STR(line, "fails: skipped: its body returned 7");
        CHECK_INT(gpumb_row_line(g, 2, line, sizeof line), -1);
        CHECK_STR(line, "");
        gpumb_close(g);
    }
}

/* Whose Ctrl-C it is. */
static void test_signals(void)
{
    gpumb_settings settings = gpumb_settings_default();
    for (int ours = 0; ours < 2; ours++) {
        struct sigaction now;
        settings.no_signals = !ours;
        settings.csv = "/dev/null";
        fflush(stdout);
        const int kept = dup(1), nowhere = open("/dev/null", O_WRONLY); /* for the table */
        dup2(nowhere, 1);
        gpumb *g = gpumb_open_settings("calls", &settings);
        sigaction(SIGINT, NULL, &now);
        CHECK_INT(now.sa_handler == SIG_DFL, !ours);
        gpumb_close(g);
        fflush(stdout);
        dup2(kept, 1);
        close(kept);
        close(nowhere);
        sigaction(SIGINT, NULL, &now);
        CHECK_INT(now.sa_handler == SIG_DFL, 1);
    }
}

int main(void)
{
    test_region();
    test_interleave();
    test_sweeps();
    test_left_sweeps();
    test_described();
    test_texts();
    test_no_name();
    test_numbers();
    test_members_stay();
    test_copied_rows();
    test_log();
    test_settings();
    test_samples();
    test_signals();
    return CHECK_SUMMARY();
}

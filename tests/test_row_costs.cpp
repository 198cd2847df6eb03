// test_row_costs.cpp - what rows, configurations and names cost, by the thousands: bytes and
// comparisons are counted, not seconds. And that a row stays where it is meanwhile.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vector>

static size_t live, peak; // bytes of the library
static void *counted_malloc(size_t bytes)
{
    size_t *p = (size_t *)malloc(16 + bytes);
    p[0] = bytes;
    live += bytes;
    peak = live > peak ? live : peak;
    return p + 2;
}

static void counted_free(void *p)
{
    if (p) {
        live -= ((size_t *)p)[-2];
        free((size_t *)p - 2);
    }
}

static long texts_compared; // of texts
static int counted_strcmp(const char *a, const char *b)
{
    texts_compared++;
    return strcmp(a, b);
}

#include "hear.h"
#define GPUMB_MALLOC(n) counted_malloc(n)
#define GPUMB_FREE(p) counted_free(p)
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define strcmp(a, b) counted_strcmp(a, b)
#include "gpumb.h"
#undef strcmp
#include "fake.h"

#include "check.h"
#include "printed.h"

static gpumb *open()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    fake_reset();
    heard = "";
    return gpumb_open_settings("test_row_costs", &s);
}

static void row(gpumb *g, const char *name)
{
    gpumb_skip(g, "counted, not timed");
    GPUMB_MEASURE(g, name)
        fake_run(1e-3);
}

// Three axes, and one configuration more than fits before everything grows: at its worst.
static void test_bytes()
{
    const size_t count = 64 * 128 + 1;
    gpumb *g = open();
    const size_t before = peak = live;
    size_t enumerated = 0;
    GPUMB_SWEEP_RANGE(g, i, 0, 128, 1)
        GPUMB_SWEEP_NAMES(g, form, "plain", "fast")
            GPUMB_SWEEP_RANGE(g, k, 1, 32, 1) {
                if (i == 128 && (form || k > 1))
                    continue;
                if (!enumerated && !gpumbi_dry(g))
                    enumerated = peak;
                row(g, "kernel");
            }
    CHECK_INT(gpumb_row_count(g), count);
    const double configuration = (double)(enumerated - before) / (double)count;
    const double all = (double)(peak - before) / (double)count;
    if (CHECK(configuration < 300) + CHECK(all < 1500) < 2)
        printf("    bytes for a configuration: %.0f, with its row: %.0f\n", configuration, all);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // all are skipped
    CHECK_INT(live, 0);
}

// Text texts_compared for a sweep over so many names.
static long compared_names(size_t count)
{
    std::vector<std::string> texts;
    std::vector<const char *> names;
    for (size_t i = 0; i < count; i++)
        texts.push_back("a name, " + std::to_string(i));
    for (const std::string &text : texts)
        names.push_back(text.c_str());
    gpumb *g = open();
    texts_compared = 0;
    size_t configurations = 0;
    GPUMB_SWEEP_STRINGS(g, name, names.data(), count)
        GPUMB_SWEEP_STRINGS(g, again, names.data(), 2) {
            configurations += gpumbi_dry(g) ? 1 : 0;
            if (!again && name == (int64_t)count - 1)
                row(g, "kernel");
        }
    CHECK_INT(configurations, 2 * count);
    const gpumbi_point *point = &g->rows.at[0]->point;
    CHECK_STR(point->at[0].text, names[count - 1]);
    CHECK(point->at[1].text == gpumbi_intern(g, names[0])->text); // kept once
    const long compared = texts_compared;
    gpumb_close(g);
    CHECK_INT(live, 0);
    return compared;
}

// Text texts_compared for --list over so many configurations of 100 kernels.
static long compared_list(int64_t count, std::string *list)
{
    const char *const arguments[] = {"test_row_costs", "--list", NULL};
    long compared = 0;
    fake_reset();
    *list = printed([&] {
        gpumb *g = gpumb_open(2, (char **)arguments);
        texts_compared = 0;
        const size_t before = peak = live;
        GPUMB_SWEEP_RANGE(g, i, 1, count, 1)
            GPUMB_SWEEP_RANGE(g, k, 1, 10, 1)
                row(g, ("kernel " + std::to_string(i % 100)).c_str());
        compared = texts_compared;
        CHECK(peak - before < 100000); // nothing is kept for what is not to run
        CHECK_INT(gpumb_close(g), 0);
    });
    return compared;
}

static void test_linear()
{
    const long few = compared_names(2000), many = compared_names(8000);
    CHECK_CASE(many < 5 * few, "%ld texts_compared of 2000 names, %ld of 8000", few, many);

    std::string list, longer;
    const long short_list = compared_list(200, &list), long_list = compared_list(800, &longer);
    CHECK_CASE(long_list < 5 * short_list, "%ld texts_compared, %ld", short_list, long_list);
    CHECK_STR(longer.c_str(), list.c_str());
    CHECK(list.find("    axis   i = 1 2 3 4") == 0);
    CHECK(list.find("    axis   k = 1 2 3 4 5 6 7 8 9 10\n") != std::string::npos);
    for (int i = 0; i < 100; i++) {
        const std::string line = "    kernel kernel " + std::to_string(i) + "\n";
        CHECK(list.find(line) != std::string::npos && list.find(line) == list.rfind(line));
    }
}

// A row stays where it is, so that two can be looked at side by side.
static void test_valid()
{
    gpumb *g = open();
    row(g, "first");
    const gpumb_result *first = gpumb_row(g, 0), *last = gpumb_last_result(g);
    for (int i = 0; i < 1000; i++)
        row(g, "another");
    CHECK(gpumb_row(g, 0) == first && last == first);
    CHECK_STR(first->kernel, "first");
    CHECK_STR(gpumb_row(g, 1000)->kernel, "another");
    CHECK(gpumb_row(g, 1001) == NULL);
    gpumb_close(g);
}

// A million values on an axis are the most that a range may have.
static void test_million()
{
    for (int more = 0; more < 2; more++) {
        gpumb *g = open();
        int64_t values = 0;
        GPUMB_SWEEP_RANGE(g, i, 1, 1000000 + more, 1) {
            values++;
            if (!gpumbi_dry(g))
                break;
            if (i == 7)
                row(g, "kernel");
        }
        CHECK_INT(values, more ? 0 : 1000001);
        CHECK_STR(heard.c_str(), more ? "gpumb: sweep over i: more than a million values\n" : "");
        CHECK_INT(gpumb_close(g), more ? GPUMB_EXIT_ERROR : GPUMB_EXIT_OK);
    }
}

// The same of options; too many are refused before there is room for them.
static void test_ranges()
{
    static const struct {
        const char *option, *wrong;
    } table[] = {
        {"n=1:1000000:+1", NULL},
        {"n=3,0:1999997:+2", NULL},
        {"n=3,0:1999998:+2",
         "'0:1999998:+2' makes more than a million values; for example --axis n="},
        {"n=1:10000000:+1",
         "'1:10000000:+1' makes more than a million values; for example --axis n="},
        {"n=0:2^62:+1", "'0:2^62:+1' makes more than a million values; for example --axis n="},
        {"x=0:1:+1e-6", NULL},
        {"x=-1e308:1e308:+1e308", NULL},
        {"x=1e-300:1e308:*1e300", NULL},
        {"x=1:10000000:+1", "'1:10000000:+1' is not a list of numbers, "},
        {"x=1:2:*1.0000001", "of at most a million; for example --axis x="},
        {"x=1e300:1e308:+1", "of at most a million; for example --axis x="},
    };
    for (const auto &t : table) {
        char program[] = "program", option[] = "--axis", list[] = "--list";
        char *argv[] = {program, option, const_cast<char *>(t.option), list, NULL};
        heard = "";
        fake_reset();
        gpumb *g = gpumb_open(4, argv);
        const size_t before = peak = live;
        printed([&] {
            GPUMB_SWEEP_LIST(g, n, 0)
                GPUMB_SWEEP_REALS(g, x, 0)
                    if (n < 0 && x < 0)
                        row(g, "kernel");
        });
        if (t.wrong)
            CHECK_CASE(peak - before < 10000, "%s: %zu bytes", t.option, peak - before);
        const int code = gpumb_close(g);
        CHECK_CASE((code == GPUMB_EXIT_USAGE) == (t.wrong != NULL), "%s: %d", t.option, code);
        CHECK_CASE(!t.wrong || heard.find(t.wrong) != std::string::npos, "%s", heard.c_str());
    }
}

int main()
{
    test_bytes();
    test_linear();
    test_valid();
    test_million();
    test_ranges();
    return CHECK_SUMMARY();
}

// test_table.cpp - what people read: columns that stay straight whatever the names are, figures
// that are too small for their places, singular and plural.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "texts.h"
#include <vector>

static std::vector<std::string> lines; // of the table

static gpumb_settings settings()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    return s;
}

// The table goes into a file of its own.
static gpumb *open(const gpumb_settings &s)
{
    gpumb *g = gpumb_open_settings("table", &s);
    heard = "";
    g->table.file = tmpfile();
    return g;
}

static void close(gpumb *g, int code)
{
    FILE *file = g->table.file;
    char line[2000];
    CHECK_INT(gpumb_close(g), code);
    lines.clear();
    rewind(file);
    while (fgets(line, sizeof line, file))
        lines.push_back(line);
    fclose(file);
}

static bool says(const char *part)
{
    for (const std::string &line : lines)
        if (has(line, part))
            return true;
    return false;
}

static const struct {
    const char *text;
    int width;
} names[] = {{"", 0},
             {"plain", 5},
             {"gr\xC3\xB6\xC3\x9F"
              "e",
              5},
             {"\xE6\xBC\xA2\xE5\xAD\x97", 4},                     // two ideographs
             {"\xED\x95\x9C\xEA\xB8\x80", 4},                     // Hangul
             {"\xE3\x81\x8B\xE3\x82\x99", 2},                     // a letter, and its voicing
             {"e\xCC\x81t\xC3\xA9", 3},                           // an accent of its own
             {"\xF0\x9F\x98\x80", 2},                             // a face
             {"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x92\xBB", 4}, // two, joined
             {"\xEF\xBC\xA1\xEF\xBC\xA2", 4},                     // fullwidth letters
             {"\xEF\xBD\xB1", 1},                                 // a halfwidth one
             {"\xE2\x86\x92\xC2\xB5", 2},                         // an arrow, a micro sign
             {"\xD7\xA9\xD6\xB8\xD7\x9C", 2},                     // Hebrew with a point
             {"\xF0\xA0\x80\x80", 2},                             // beyond the BMP
             {"two\nlines\r\n", 11},                              // shown as blanks
             {"bad \xFF\xFE", 6},                                 // no UTF-8
             {"e\xE2\x80\x8E", 2}};                               // turns what follows: a ?

// The column in which `part` ends; -1: it is not in the line.
static int end_of(const std::string &line, const std::string &part)
{
    const size_t at = line.find(part);
    return at == std::string::npos ? -1 : gpumbi_width(line.substr(0, at + part.size()).c_str());
}

static void test_straight()
{
    std::vector<const char *> list;
    for (const auto &name : names) {
        CHECK_CASE(gpumbi_width(name.text) == name.width, "\"%s\": %d, not %d", name.text,
                   gpumbi_width(name.text), name.width);
        list.push_back(name.text);
    }
    // as a kernel's name, as the value of an axis, and as the bench's
    for (const auto &bench : names) {
        fake_reset();
        gpumb *g = open(settings());
        gpumbi_copy_text(g->bench, sizeof g->bench, bench.text);
        GPUMB_SWEEP_STRINGS(g, form, list.data(), list.size()) {
            gpumb_set_bytes(g, 123.4e6);
            GPUMB_MEASURE(g, form ? names[form].text : "-")
                fake_run(1e-3);
        }
        close(g, 0);
        int rows = 0;
        for (const std::string &line : lines) {
            const int heading = has(line, "median   ");
            if (!heading && !has(line, "1.001 ms"))
                continue;
            rows += !heading;
            CHECK_CASE(end_of(line, heading ? " median" : "1.001 ms") == 22 + 11 + 11 &&
                           end_of(line, heading ? "GB/s" : "123.3") == 22 + 11 + 11 + 9 + 10,
                       "%s", line.c_str());
        }
        CHECK_INT(rows, list.size());
    }

    // too long for its column: what follows makes room
    fake_reset();
    gpumb *g = open(settings());
    GPUMB_SWEEP_LIST(g, n, 1, 123456789012)
        GPUMB_MEASURE(g, n == 1 ? "a kernel's name, 32 characters.." : "short")
            fake_run(1e-3);
    close(g, 0);
    int straight = 0;
    for (const std::string &line : lines)
        straight += (has(line, "123456789012") || has(line, "32 characters..")) &&
                    end_of(line, "1.001 ms") == 22 + 11 + 11;
    CHECK_INT(straight, 2);
}

static void test_small_figures()
{
    static const struct {
        double value;
        int places;
        const char *text;
    } figures[] = {{0.04, 1, "0.04"},       {0.0412, 1, "0.041"}, {4e-7, 1, "4e-07"},
                   {0.5, 1, "0.5"},         {0.996, 1, "1.0"},    {1.04, 1, "1.0"},
                   {12.34, 1, "12.3"},      {0, 1, "0.0"},        {0.003, 2, "0.003"},
                   {0.37, 2, "0.37"},       {4.8, 0, "4.8"},      {4814.2, 0, "4814"},
                   {0.00012, 4, "0.00012"}, {0.5, 4, "0.5000"}};
    for (const auto &figure : figures)
        CHECK_STR(gpumbi_write_short(figure.value, figure.places).text, figure.text);

    fake_reset();
    gpumb_settings s = settings();
    s.markdown = "build/test_table.md";
    gpumb *g = open(s);
    gpumb_set_bytes(g, 4e4);
    gpumb_set_expected(g, 1000, 0.0002);
    GPUMB_MEASURE(g, "slow")
        fake_run(1e-3);
    gpumb_set_flop(g, 3e4);
    GPUMB_MEASURE(g, "slow")
        fake_run(1e-3);
    close(g, 0);
    CHECK(says(" 0.04 ") && says(" 0.004") && says("expected 0.02 %, measured 0.004 %"));
    CHECK(says(" 0.03 "));
    std::string markdown;
    char text[400];
    FILE *file = fopen(s.markdown, "r");
    while (file && fgets(text, sizeof text, file))
        markdown += text;
    if (file)
        fclose(file);
    remove(s.markdown);
    CHECK(has(markdown, "| 0.04 |") && has(markdown, "| 0.03 |") && has(markdown, "| 0.004 |"));
}

static void test_plural()
{
    CHECK_STR(gpumbi_count(0, "row").text, "0 rows");
    CHECK_STR(gpumbi_count(1, "row").text, "1 row");
    CHECK_STR(gpumbi_count(2, "row").text, "2 rows");
    CHECK_STR(gpumbi_count(1, "process").text, "1 process");
    CHECK_STR(gpumbi_count(2, "process").text, "2 processes");
    for (int several = 0; several < 2; several++)
        for (int cpu = 0; cpu < 2; cpu++) {
            fake_reset();
            if (cpu)
                fake_backend = "cpu";
            gpumb *g = open(settings());
            g->device.multiprocessors = 1 + several;
            for (int row = 0; row <= several; row++)
                GPUMB_MEASURE(g, "row")
                    fake_run(1e-3);
            close(g, 0);
            CHECK(says(cpu       ? several ? "2 workers\n" : "1 worker\n"
                       : several ? "  2 multiprocessors at"
                                 : "  1 multiprocessor at"));
            CHECK(says(several ? "2 rows: 2 ok, 0 sk" : "1 row: 1 ok, 0 sk"));
        }
}

static void test_times()
{
    CHECK_STR(gpumbi_write_time(0).text, "0.000 ns");
    CHECK_STR(gpumbi_write_time(9.9994e-9).text, "9.999 ns");
    CHECK_STR(gpumbi_write_time(9.9996e-9).text, "10.00 ns");
    CHECK_STR(gpumbi_write_time(99.994e-6).text, "99.99 us");
    CHECK_STR(gpumbi_write_time(99.996e-6).text, "100.0 us");
    CHECK_STR(gpumbi_write_time(999.94e-9).text, "999.9 ns");
    CHECK_STR(gpumbi_write_time(999.96e-9).text, "1.000 us");
    CHECK_STR(gpumbi_write_time(0.99996).text, "1.000 s");
    CHECK_STR(gpumbi_write_time(12345).text, "12345.0 s");
}

int main()
{
    test_straight();
    test_small_figures();
    test_plural();
    test_times();
    return CHECK_SUMMARY();
}

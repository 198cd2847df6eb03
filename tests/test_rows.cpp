// test_rows.cpp - rows as the program reads them back; what a model expects of a row; notes, the
// conclusions below the rows.
#include "counted.h"
#include "folder.h"
#include "json.h"
#include "printed.h"
#include "texts.h"
#include <algorithm>
#include <math.h>
#include <signal.h>
#include <unistd.h>

static std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines(1);
    for (char c : text) {
        if (c == '\n')
            lines.push_back("");
        else
            lines.back() += c;
    }
    return lines;
}

// The number of the first line that has `part` (behind a line break: at its beginning), or, but for
// blanks before it, is it if `whole`; -1.
static int line_with(const std::string &text, const std::string &part, bool whole = false)
{
    const std::vector<std::string> lines = lines_of(text);
    for (size_t i = 0; i < lines.size(); i++) {
        const std::string line = "\n" + lines[i];
        const size_t first = std::min(lines[i].find_first_not_of(' '), lines[i].size());
        if (whole ? lines[i].substr(first) == part : line.find(part) != std::string::npos)
            return (int)i;
    }
    return -1;
}

static bool is_utf8(const std::string &text)
{
    int more = 0;
    for (char c : text) {
        const unsigned char byte = (unsigned char)c;
        if ((byte & 0xc0) == 0x80) {
            if (!more--)
                return false;
        } else if (more) {
            return false;
        } else {
            more = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        }
    }
    return !more;
}

// ---- what a model expects ----

static void expect(gpumb *g, double bytes, double flop, double reference, double share,
                   const char *name)
{
    gpumb_set_bytes(g, bytes);
    gpumb_set_flop(g, flop);
    gpumb_set_expected(g, reference, share);
    gpumb_set_timing(g, GPUMB_TIMING_EVENT);
    GPUMB_MEASURE(g, name) {
        fake_run(1e-3 - fake_floor);
    }
}

static void test_expected()
{
    gpumb_settings s = settings();
    s.quiet = 0;
    forget();
    fake_quantum = 0;
    fake_floor = 0.5e-6;
    fake_launch_cost = 0; // a span is the run and one event's cost
    gpumb *g = NULL;
    std::vector<gpumb_result> rows;
    gpumb_result once = gpumb_result();
    const std::string table = printed([&] {
        g = gpumb_open_settings("counted", &s);
        expect(g, 131e6, 0, 1000, 0.125, "bytes"); // 131 GB/s of 1000
        expect(g, 0, 131e6, 200, 0.5, "flop");     // 131 GFLOP/s of 200
        expect(g, 100e6, 500e6, 1000, 2, "both");  // bytes count
        expect(g, 0, 0, 1000, 0.125, "neither");
        GPUMB_MEASURE(g, "forgotten") {
            fake_run(1e-3);
        }
        for (double bad : {0.0, -1.0, (double)NAN}) {
            expect(g, 131e6, 0, bad, 0.125, "bad reference");
            expect(g, 131e6, 0, 1000, bad, "bad share");
        }
        gpumb_skip(g, "it rains");
        expect(g, 131e6, 0, 1000, 0.125, "skipped");
        gpumb_set_bytes(g, 131e6);
        GPUMB_MEASURE(g, "behind it") {
            fake_run(1e-3);
        }
        gpumb_set_verify(
            g, [](gpumb *, void *) { return 0; }, NULL);
        expect(g, 131e6, 0, 1000, 0.125, "failed");
        GPUMB_INTERLEAVE(g) {
            expect(g, 131e6, 0, 1000, 0.125, "first lane");
            gpumb_set_bytes(g, 131e6);
            GPUMB_MEASURE(g, "second lane") {
                fake_run(1e-3);
            }
            expect(g, 131e6, 0, 500, 0.25, "third lane");
        }
        for (size_t i = 0; i < gpumb_row_count(g); i++)
            rows.push_back(*gpumb_row(g, i));
        gpumb_set_bytes(g, 131e6);
        gpumb_set_expected(g, 1000, 0.125);
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
        GPUMB_TIME(&once) {
            fake_run(1e-3 - fake_floor);
        }
    });
    static const struct {
        const char *name;
        double reference, expected, measured;
    } right[] = {
        {"bytes", 1000, 12.5, 13.1}, {"flop", 200, 50, 65.5},      {"both", 1000, 200, 10},
        {"neither", 1000, 12.5, 0},  {"forgotten", 0, 0, 0},       {"bad reference", 0, 0, 0},
        {"bad share", 0, 0, 0},      {"bad reference", 0, 0, 0},   {"bad share", 0, 0, 0},
        {"bad reference", 0, 0, 0},  {"bad share", 0, 0, 0},       {"skipped", -1, -1, 0},
        {"behind it", 0, 0, 0},      {"failed", -1, -1, 0},        {"first lane", 1000, 12.5, 13.1},
        {"second lane", 0, 0, 0},    {"third lane", 500, 25, 26.2}};
    const size_t count = sizeof right / sizeof right[0];
    const std::string printed_once = printed([&] { gpumb_print_result(&once); });
    const std::string printed_none = printed([&] { gpumb_print_result(&rows[4]); });
    CHECK(printed_once.find("expected 12.5 %, measured 13.1 %") != std::string::npos ||
          !printf("    %s\n", printed_once.c_str()));
    CHECK_INT(lines_of(printed_once).size(), 2); // one line
    CHECK(printed_none.find("expected") == std::string::npos);
    printed([&] { close_with(g, GPUMB_EXIT_FAILED); });
    check_clean();

    const json file = read_json(read_file("x.json"));
    const std::string csv = read_file("x.csv");
    const std::vector<std::string> csv_lines = lines_of(csv);
    CHECK(csv_lines[0].find(",pct_ceiling,reference,expected_pct,measured_pct,footprint_bytes,") !=
          std::string::npos);
    CHECK_INT(rows.size(), count);
    CHECK_INT(fake_csv_rows("x.csv"), count);
    static const char *const names[] = {"reference", "expected_pct", "measured_pct"};
    for (size_t i = 0; i < count && i < rows.size(); i++) {
        const gpumb_result &r = rows[i];
        const double figures[] = {r.reference, r.expected_pct, r.measured_pct};
        const double wanted[] = {right[i].reference, right[i].expected, right[i].measured};
        const int before = check_failed;
        CHECK_STR(r.kernel, right[i].name);
        for (int j = 0; j < 3; j++) {
            const char *field = fake_csv("x.csv", (int)i, names[j]);
            const std::string other = json_field(file, i, names[j]);
            if (wanted[j] < 0) // of a row without a time: stated, or not
                continue;
            CHECK_NEAR(figures[j], wanted[j], 1e-6 * wanted[j] + (j == 2 ? 1e-3 : 0));
            CHECK_NEAR(atof(field), wanted[j], 1e-3);
            CHECK((*field != 0) == (wanted[j] > 0));
            if (wanted[j] > 0)
                CHECK_NEAR(atof(other.c_str()), wanted[j], 1e-3);
            else
                CHECK_STR(other.c_str(), "null");
        }
        if (check_failed != before)
            printf("    row %d, %s\n", (int)i, right[i].name);
    }
    static const struct {
        const char *name, *text;
    } said[] = {{"bytes ", "expected 12.5 %, measured 13.1 %"},
                {"flop ", "expected 50.0 %, measured 65.5 %"},
                {"both ", "expected 200.0 %, measured 10.0 %"},
                {"first lane ", "expected 12.5 %, measured 13.1 %"},
                {"third lane ", "expected 25.0 %, measured 26.2 %"}};
    for (const auto &s1 : said) {
        const int line = line_with(table, std::string("\n") + s1.name);
        if (CHECK(line >= 0) &&
            !CHECK(lines_of(table)[(size_t)line].find(s1.text) != std::string::npos))
            printf("    %s\n", lines_of(table)[(size_t)line].c_str());
    }
    for (const char *name : {"forgotten ", "bad reference ", "bad share ", "skipped ", "behind it ",
                             "failed ", "second lane "}) {
        const int line = line_with(table, std::string("\n") + name);
        CHECK(line >= 0 && lines_of(table)[(size_t)line].find("measured") == std::string::npos);
    }
    CHECK_INT(times_in(table, "measured"), 5);
    remove_files();
}

// ---- rows ----

struct pass { // what a benchmark saw at one place
    int call;
    size_t count;
    int64_t values[2];
};
static std::vector<pass> seen;
static int first_calls, second_calls;
static size_t rows_at_end;

static void check_none(gpumb *g)
{
    CHECK_INT(gpumb_row_count(g), 0);
    CHECK(gpumb_row(g, 0) == NULL);
    CHECK_INT(gpumb_row_axis(g, 0, "n"), -1);
}

static void first_benchmark(gpumb *g)
{
    const int call = ++first_calls;
    GPUMB_SWEEP_LIST(g, n, 10, 20, 30) {
        GPUMB_SWEEP_NAMES(g, form, "naive", "fast") {
            if (!gpumb_alloc(g, 16)) // it enumerates, the second time too
                check_none(g);
            else
                seen.push_back({call, gpumb_row_count(g), {n, form}});
            if (n == 20 && form == 1)
                gpumb_skip(g, "not this one");
            GPUMB_MEASURE(g, "one") {
                fake_run((double)n * 1e-6 * (form ? 1 : 2));
            }
        }
    }
    if (call == 1) {
        check_none(g);
        return;
    }
    if (!CHECK_INT(gpumb_row_count(g), seen.size()))
        return;
    for (size_t i = 0; i < seen.size(); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const int64_t n = seen[i].values[0], form = seen[i].values[1];
        CHECK_INT(seen[i].count, i);
        CHECK_STR(r->bench, "first");
        CHECK_STR(r->kernel, "one");
        CHECK_INT(gpumb_row_axis(g, i, "n"), n);
        CHECK_INT(gpumb_row_axis(g, i, "form"), form);
        CHECK_INT(gpumb_row_axis(g, i, "stride"), -1);
        CHECK_INT(gpumb_row_axis(g, i, ""), -1);
        CHECK_INT(gpumb_row_axis(g, i, "nn"), -1);
        if (n == 20 && form == 1) {
            CHECK_INT(r->status, GPUMB_STATUS_SKIPPED);
            CHECK_STR(r->reason, "not this one");
        } else {
            CHECK_INT(r->status, GPUMB_STATUS_OK);
            CHECK_NEAR(r->time.median, (double)n * 1e-6 * (form ? 1 : 2), 1.2e-6);
        }
    }
    CHECK(gpumb_last_result(g) == gpumb_row(g, seen.size() - 1));
    CHECK(gpumb_row(g, seen.size()) == NULL);
    CHECK(gpumb_row(g, SIZE_MAX) == NULL);
    CHECK_INT(gpumb_row_axis(g, seen.size(), "n"), -1);
    CHECK_INT(gpumb_row_axis(g, SIZE_MAX, "n"), -1);
}

static void second_benchmark(gpumb *g)
{
    const int call = ++second_calls;
    const size_t before = seen.size();
    GPUMB_SWEEP_RANGE(g, stride, 0, 2, 1) { // a value may be 0
        GPUMB_SWEEP_LIST(g, form, 7, 9) {   // the name of another benchmark's axis
            if (!gpumb_alloc(g, 16))
                check_none(g);
            else
                CHECK_INT(gpumb_row_count(g), before + (size_t)(stride * 2 + (form == 9)));
            GPUMB_MEASURE(g, "two") {
                fake_run(100e-6);
            }
        }
    }
    if (call > 1)
        GPUMB_MEASURE(g, "without axes") {
            fake_run(100e-6);
        }
    rows_at_end = gpumb_row_count(g);
    if (call == 1) {
        check_none(g);
        return;
    }
    CHECK(gpumb_row_count(NULL) == rows_at_end); // NULL is the context that was used last
    if (!CHECK_INT(rows_at_end, before + 7))
        return;
    for (size_t i = 0; i < rows_at_end; i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const size_t j = i - before;
        CHECK_STR(r->bench, i < before ? "first" : "second");
        CHECK_STR(r->kernel, i < before ? "one" : j == 6 ? "without axes" : "two");
        CHECK_INT(gpumb_row_axis(g, i, "n"), i < before ? seen[i].values[0] : -1);
        CHECK_INT(gpumb_row_axis(g, i, "stride"), i < before || j == 6 ? -1 : (int64_t)j / 2);
        CHECK_INT(gpumb_row_axis(g, i, "form"), i < before ? seen[i].values[1]
                                                : j == 6   ? -1
                                                : j % 2    ? 9
                                                           : 7);
    }
}

static const gpumb_benchmark two[] = {{"first", "a sweep with names", first_benchmark},
                                      {"second", "another sweep", second_benchmark}};

static int run_main(const gpumb_benchmark *list, size_t count, std::vector<std::string> arguments)
{
    std::vector<char *> argv;
    forget();
    arguments.insert(arguments.begin(), {"counted", "--samples", "10:10", "--warmup", "0.001"});
    for (std::string &argument : arguments)
        argv.push_back(&argument[0]);
    argv.push_back(NULL);
    return gpumb_main((int)arguments.size(), argv.data(), list, count);
}

static int run_benchmarks(size_t count, const std::vector<std::string> &arguments)
{
    int code = -1;
    seen.clear();
    first_calls = second_calls = 0;
    rows_at_end = 0;
    printed([&] { code = run_main(two, count, arguments); });
    check_clean();
    return code;
}

static void test_rows()
{
    CHECK_INT(run_benchmarks(2, {}), 0);
    CHECK(first_calls > 1 && second_calls > 1);
    CHECK_INT(seen.size(), 6);
    CHECK_INT(rows_at_end, 13);
    // replaced values: what the body got is what the row has
    CHECK_INT(run_benchmarks(2, {"--axis", "n=15,25", "--filter", "first"}), 0);
    CHECK_INT(seen.size(), 4);
    CHECK_INT(run_benchmarks(1, {"--axis", "form=fast"}), 0);
    CHECK_INT(seen.size(), 3);
    for (const pass &p : seen)
        CHECK_INT(p.values[1], 1);

    // a program of its own: no rows at all, a region without a row, two sweeps
    gpumb_settings s = settings();
    gpumb *g = open_with(s);
    gpumb_result once;
    check_none(g);
    CHECK(gpumb_last_result(g) == NULL);
    GPUMB_TIME(&once) {
        fake_run(1e-3);
    }
    check_none(g);
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        gpumb_buffer *b = gpumb_alloc(g, 16); // there is none while the sweep enumerates
        CHECK_INT(gpumb_row_count(g), b ? n - 1 : 0);
        GPUMB_MEASURE(g, "n") {
            fake_run(1e-3);
        }
    }
    CHECK_INT(gpumb_row_count(g), 3);
    GPUMB_SWEEP_LIST(g, m, 1, 2, 3) {
        gpumb_buffer *b = gpumb_alloc(g, 16);
        if (!b)
            check_none(g);
        else
            CHECK_INT(gpumb_row_count(g), 2 + m);
        GPUMB_MEASURE(g, "m") {
            fake_run(1e-3);
        }
    }
    if (CHECK_INT(gpumb_row_count(g), 6))
        for (int i = 0; i < 6; i++) {
            CHECK_INT(gpumb_row_axis(g, (size_t)i, "n"), i < 3 ? i + 1 : -1);
            CHECK_INT(gpumb_row_axis(g, (size_t)i, "m"), i < 3 ? -1 : i - 2);
        }
    close_with(g, 0);

    g = open_with(s); // many, so that they move
    GPUMB_SWEEP_RANGE(g, i, 0, 199, 1) {
        GPUMB_MEASURE(g, "many") {
            fake_run(1e-6 * (double)(i + 10));
        }
    }
    CHECK_INT(gpumb_row_count(g), 200);
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        CHECK_INT(gpumb_row_axis(g, i, "i"), (int64_t)i);
        CHECK_NEAR(gpumb_row(g, i)->time.median, 1e-6 * (double)(i + 10), 1.2e-6);
    }
    close_with(g, 0);
    remove_files();
}

// ---- notes ----

static const char special[] = "a \"quoted\" back\\slash, tab\tand | bar";
static const char as_shown[] = "a \"quoted\" back\\slash, tab and | bar";

static void noting_first(gpumb *g)
{
    gpumb_note(g, "before the sweep");
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        GPUMB_MEASURE(g, "row of the first") {
            fake_run(100e-6);
        }
        gpumb_note(g, "n is %d", (int)n);
    }
    gpumb_note(g, "the %s of %d rows takes %.1f us", "second", (int)gpumb_row_count(g),
               gpumb_row_count(g) ? gpumb_last_result(g)->time.median * 1e6 : 0);
}

static void noting_second(gpumb *g)
{
    GPUMB_MEASURE(g, "row of the second") {
        fake_run(100e-6);
    }
    gpumb_note(g, "%s", special);
    gpumb_note(g, "100 %% done");
}

static void quiet_benchmark(gpumb *g)
{
    GPUMB_MEASURE(g, "row") {
        fake_run(100e-6);
    }
}

static const gpumb_benchmark noting[] = {{"first", "notes on a sweep", noting_first},
                                         {"second", "notes on a region", noting_second},
                                         {"quiet", "no notes", quiet_benchmark}};

static void test_notes()
{
    int code = -1;
    const std::vector<std::string> files = {"--csv", "x.csv", "--json", "x.json", "--md", "x.md"};
    std::string text = printed([&] { code = run_main(noting, 2, files); });
    CHECK_INT(code, 0);
    check_clean();
    check_silent();
    const json file = read_json(read_file("x.json"));
    const std::vector<std::string> notes = notes_of(file);
    const char *const right[] = {"before the sweep",     "n is 1", "n is 2",
                                 "the second of 2 rows", as_shown, "100 % done"};
    const std::string md = read_file("x.md");
    int line = -1, md_line = -1;
    if (CHECK_INT(notes.size(), 6))
        for (size_t i = 0; i < 6; i++) {
            const char *const kept = i == 4 ? special : right[i]; // files keep what was said
            CHECK(notes[i].compare(0, strlen(kept), kept) == 0);
            CHECK_INT(times_in(text, right[i]), 1); // not while it enumerates
            CHECK(line_with(text, right[i]) > line);
            line = line_with(text, right[i]);
            CHECK_INT(times_in(md, std::string("- ") + right[i]), 1);
            CHECK(line_with(md, std::string("- ") + right[i]) > md_line);
            md_line = line_with(md, std::string("- ") + right[i]);
        }
    // below the tables: of the benchmark, and of all in the file
    const std::vector<std::string> lines = lines_of(text), md_lines = lines_of(md);
    for (size_t i = 0; i < lines.size(); i++) {
        if (lines[i].find("row of the first") != std::string::npos)
            CHECK((int)i < line_with(text, "the second of 2 rows"));
        if (lines[i].find("row of the second") != std::string::npos)
            CHECK((int)i < line_with(text, as_shown));
    }
    for (size_t i = 0; i < md_lines.size(); i++)
        if (md_lines[i][0] == '|')
            CHECK((int)i < line_with(md, "- before the sweep"));
    CHECK(times_in(read_file("x.csv"), "done") == 0);
    const int first = line_with(md, "- before the sweep"); // a list needs a blank line before it
    CHECK(first > 0 && md_lines[(size_t)first - 1].empty());

    // none
    text = printed([&] {
        std::vector<std::string> arguments = files;
        arguments.insert(arguments.end(), {"--filter", "quiet"});
        code = run_main(noting, 3, arguments);
    });
    CHECK_INT(code, 0);
    CHECK(notes_of(read_json(read_file("x.json"))).empty());
    CHECK_INT(line_with(read_file("x.md"), "- "), -1);
    CHECK(line_with(text, "row") >= 0);

    // standard output is the file: nothing else is there
    text = printed([&] { code = run_main(noting, 2, {"--json", "-"}); });
    CHECK_INT(code, 0);
    CHECK_INT(notes_of(read_json(text)).size(), 6);
    check_clean();

    // quiet
    gpumb_settings s = settings();
    text = printed([&] {
        gpumb *g = open_with(s);
        GPUMB_MEASURE(g, "row") { // without rows there is no file
            fake_run(1e-3);
        }
        gpumb_note(NULL, "not on standard output");
        close_with(g, 0);
    });
    CHECK_INT(times_in(text, "not on"), 0);
    CHECK_INT(notes_of(read_json(read_file("x.json"))).size(), 1);
    remove_files();
}

// A note is one line, however its text looks.
static void test_note_texts()
{
    gpumb_settings s = settings();
    s.quiet = 0;
    std::string controls, escaped;
    for (char c = 1; c < 0x20; c++)
        controls += c;
    std::string text = printed([&] {
        gpumb *g = open_with(s);
        gpumb_note(g, "two\nlines");
        gpumb_note(g, "<%s>", controls.c_str());
        gpumb_note(g, "%s", "%s %n %d");
        gpumb_note(g, "gr\xc3\xbc\xc3\x9f");
        GPUMB_MEASURE(g, "row") {
            fake_run(1e-3);
        }
        close_with(g, 0);
    });
    const json file = read_json(read_file("x.json"));
    const std::vector<std::string> notes = notes_of(file);
    if (CHECK_INT(notes.size(), 4)) {
        CHECK(notes[0].compare(0, 3, "two") == 0 && notes[0].size() == 9);
        CHECK(notes[1][0] == '<' && notes[1].back() == '>');
        CHECK_STR(notes[2].c_str(), "%s %n %d");
        CHECK_STR(notes[3].c_str(), "gr\xc3\xbc\xc3\x9f");
    }
    CHECK(text.find("two\nlines") == std::string::npos);
    CHECK(read_file("x.md").find("two\nlines") == std::string::npos);
    CHECK(line_with(text, "%s %n %d", true) >= 0);

    // cut, not overflowed, and not inside a character
    int broken[3] = {0, 0, 0};
    for (size_t length :
         {199u, 200u, 255u, 256u, 511u, 512u, 1000u, 1023u, 1024u, 4096u, 100000u}) {
        for (size_t shift = 0; shift < 3; shift++) {
            std::string note(shift, 'x');
            while (note.size() < length)
                note += "\xe2\x82\xac";
            const std::string plain(length, 'y');
            text = printed([&] {
                gpumb *g = open_with(s);
                GPUMB_MEASURE(g, "row") {
                    fake_run(1e-3);
                }
                gpumb_note(g, "%s", note.c_str());
                gpumb_note(g, "%s%s", plain.c_str(), plain.c_str());
                gpumb_note(g, "the next");
                close_with(g, 0);
            });
            const std::string written = read_file("x.json");
            broken[0] += !is_utf8(text);
            broken[1] += !is_utf8(written);
            broken[2] += !is_utf8(read_file("x.md"));
            const std::vector<std::string> cut = notes_of(read_json(written));
            if (CHECK_INT(cut.size(), 3)) {
                CHECK(cut[0].compare(0, 150, note, 0, 150) == 0);
                CHECK(cut[0].size() <= note.size());
                CHECK(cut[1].compare(0, 150, plain + plain, 0, 150) == 0);
                CHECK(cut[1].size() <= 2 * length);
                CHECK_STR(cut[2].c_str(), "the next");
            }
            CHECK(line_with(text, "the next", true) >= 0);
        }
    }
    CHECK_INT(broken[0], 0); // JSON has to be UTF-8 (RFC 8259, section 8.1)
    CHECK_INT(broken[1], 0);
    CHECK_INT(broken[2], 0);
    remove_files();
}

// After an error or an interrupt there are no conclusions.
static void test_note_trouble()
{
    for (int what = 0; what < 2; what++) {
        gpumb_settings s = settings();
        s.quiet = 0;
        int code = -1;
        remove_files();
        const std::string text = printed([&] {
            gpumb *g = open_with(s);
            GPUMB_MEASURE(g, "row") {
                fake_run(1e-3);
            }
            GPUMB_MEASURE(g, "trouble") {
                fake_run(1e-3);
                if (what)
                    raise(SIGINT);
                else
                    fake_run_refused(FAKE_LOST);
            }
            gpumb_note(g, "a conclusion");
            code = gpumb_close(g);
        });
        CHECK_INT(code, what ? GPUMB_EXIT_INTERRUPTED : GPUMB_EXIT_ERROR);
        check_clean();
        CHECK(text.find("row") != std::string::npos);
        CHECK(text.find("a conclusion") == std::string::npos);
        for (const char *name : {"x.json", "x.md", "x.json.part", "x.md.part"})
            CHECK(read_file(name).find("a conclusion") == std::string::npos);
        if (exists("x.json.part"))
            CHECK(notes_of(read_json(read_file("x.json.part"))).empty());
    }

    // a row that is wrong or skipped is none of these
    gpumb_settings s = settings();
    s.quiet = 0;
    const std::string text = printed([&] {
        gpumb *g = open_with(s);
        gpumb_skip(g, "it rains");
        GPUMB_MEASURE(g, "skipped") {
            fake_run(1e-3);
        }
        gpumb_set_verify(
            g, [](gpumb *, void *) { return 0; }, NULL);
        GPUMB_MEASURE(g, "wrong") {
            fake_run(1e-3);
        }
        gpumb_note(g, "a conclusion");
        close_with(g, GPUMB_EXIT_FAILED);
    });
    CHECK_INT(times_in(text, "a conclusion"), 1);
    CHECK_INT(notes_of(read_json(read_file("x.json"))).size(), 1);
    remove_files();
}

int main()
{
    signal(SIGINT, SIG_DFL); // what a script starts in the background is deaf to it
    const std::string folder = make_folder("gpumb-rows");
    if (chdir(folder.c_str()))
        return 1;
    gpumb_cpu_set_workers(1);
    test_expected();
    test_rows();
    test_notes();
    test_note_texts();
    test_note_trouble();
    remove_files();
    return CHECK_SUMMARY() || rmdir(folder.c_str());
}

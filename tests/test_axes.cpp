/* test_axes.cpp - axes of real numbers, all the way through a program's options, files and other
 * processes without a loss, and templates for lists of types and constants. With arguments it is a
 * program with such an axis, which the tests run. */
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#define GPUMB_LOG(text) (heard += (text), heard += '\n', (void)(loud && fputs(text, stderr)))
#include <string>
static std::string heard;
static int loud;
#include "../gpumb.h"

#include "check.h"
#include "fake.h"
#include "folder.h"
#include "printed.h"
#include "start.h"

#include <cfloat>
#include <unistd.h>
#include <vector>

static const double reals[] = {
    0.1, 1.0 / 3, 1e-300, DBL_TRUE_MIN,        DBL_MAX,        -2.5, 0.1 + 0.2, -0.0,
    3,   1e22,    -1e-5,  123456789.123456789, 1 + DBL_EPSILON};
static const size_t real_count = sizeof reals / sizeof reals[0];

static std::vector<double> seen; // by the body, where it measured

static int has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

/* A program with an axis of reals, and one of integers inside it; its output goes to a file. */
static int program(std::vector<std::string> options, const char *out = "/dev/null")
{
    fflush(stdout);
    const int before = loud ? -1 : dup(1);
    if (!loud && !freopen(out, "w", stdout))
        return -1;
    std::vector<char *> argv;
    options.insert(options.begin(), "axes");
    for (std::string &option : options)
        argv.push_back(&option[0]);
    fake_reset();
    heard.clear();
    seen.clear();
    gpumb *g = gpumb_open((int)argv.size(), argv.data());
    GPUMB_SWEEP_REAL_ARRAY(g, alpha, reals, real_count)
        GPUMB_SWEEP_LIST(g, n, 1, 2) {
            int runs = 0;
            GPUMB_MEASURE(g, "row") {
                if (!runs++ && n == 1)
                    seen.push_back(alpha);
                fake_run(1e-3 + 1e-4 * (double)seen.size());
            }
        }
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const double alpha = gpumb_row_value(g, i, "alpha");
        CHECK_INT(memcmp(&alpha, &seen[i / 2], sizeof alpha), 0);
        CHECK_INT(gpumb_row_axis(g, i, "alpha"), -1);
        CHECK_INT(gpumb_row_axis(g, i, "n"), i % 2 + 1);
        CHECK_NEAR(gpumb_row_value(g, i, "n"), i % 2 + 1, 0);
        CHECK(gpumb_row_value(g, i, "no") != gpumb_row_value(g, i, "no"));
    }
    const int code = gpumb_close(g);
    fflush(stdout);
    if (!loud) {
        dup2(before, 1);
        close(before);
    }
    return code;
}

static std::vector<double> with(const char *option)
{
    CHECK_INT(
        program({"--samples", "6:6", "--warmup", "0", "--axis", option, "--csv", "/dev/null"}), 0);
    return seen;
}

static std::string read_all(const char *path)
{
    std::string text;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        text += (char)c;
    if (file)
        fclose(file);
    return text;
}

static void write_all(const char *path, const std::string &text)
{
    FILE *file = fopen(path, "w");
    if (file) {
        fwrite(text.data(), 1, text.size(), file);
        fclose(file);
    }
}

static std::string replaced(std::string text, const std::string &from, const std::string &to)
{
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

static std::string folder;

static std::vector<std::string> plus(const std::vector<std::string> &more)
{
    std::vector<std::string> all = {"--samples", "6:6", "--warmup", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/* Every bit of every value comes to the body, to the program's conclusions, to the files, and back
 * from them; and each row finds its own. */
static void test_lossless()
{
    const std::string csv = folder + "/base.csv", json = folder + "/base.json";
    CHECK_INT(program(plus({"--csv", csv, "--json", json})), 0);
    CHECK_INT(seen.size(), real_count);
    for (size_t i = 0; i < real_count && i < seen.size(); i++)
        CHECK(seen[i] >= reals[i] && seen[i] <= reals[i]);
    CHECK(!std::signbit(seen[7])); // -0 would be 0 under another name
    const std::string tree = read_all(json.c_str());
    for (size_t i = 0; i < real_count; i++) {
        const std::string text = fake_csv(csv.c_str(), (int)(2 * i), "alpha");
        CHECK(strtod(text.c_str(), NULL) >= reals[i] && strtod(text.c_str(), NULL) <= reals[i]);
        CHECK(has(tree, ("{\"alpha\": " + text + ", \"n\": 1}").c_str())); // a number
    }
    CHECK_STR(fake_csv(csv.c_str(), 0, "alpha"), "0.1");
    CHECK_STR(fake_csv(csv.c_str(), 12, "alpha"), "0.30000000000000004");
    for (const std::string &base : {csv, json}) {
        CHECK_INT(program(plus({"--compare", base, "--fail-on-regression", "--quiet-table"})), 2);
        CHECK_INT(program(plus({"--compare", base, "--fail-on-regression"})), 0);
        CHECK(!has(heard, "not compared") && !has(heard, "no row"));
    }
}

/* Rows that were compared, as the closing line counts them. */
static int compared(const std::string &base)
{
    const std::string out = folder + "/out.txt";
    program(plus({"--compare", base}), out.c_str());
    int faster = 0, slower = 0, same = 0, undecided = 0;
    const std::string text = read_all(out.c_str());
    const size_t at =
        text.find(".csv: ") == std::string::npos ? text.find(".json: ") : text.find(".csv: ");
    if (at == std::string::npos ||
        sscanf(text.c_str() + text.find(": ", at), ": %d faster, %d slower, %d same, %d undecided",
               &faster, &slower, &same, &undecided) != 4)
        return -2;
    return faster + slower + same + undecided;
}

static void test_compare()
{
    const std::string csv = folder + "/base.csv", json = folder + "/base.json";
    CHECK_INT(compared(csv), 2 * (int)real_count);
    CHECK_INT(compared(json), 2 * (int)real_count);
    // as a spreadsheet writes it
    const std::string other = folder + "/other.csv";
    std::string text = read_all(csv.c_str());
    CHECK(has(text, ",0.1,1\n") && has(text, ",3,2\n") && has(text, ",1e-300,1\n"));
    text = replaced(text, ",0.1,", ",1.0E-01,");
    text = replaced(text, ",3,1\n", ",3.0,1.0\n");
    text = replaced(text, ",3,2\n", ",3.00E+00,2\n");
    text = replaced(text, ",1e-300,", ",0.1E-299,");
    write_all(other.c_str(), text);
    CHECK_INT(compared(other), 2 * (int)real_count);
    // another value is another row
    write_all(other.c_str(), replaced(text, ",1.0E-01,", ",0.1000000000000001,"));
    CHECK_INT(compared(other), 2 * (int)real_count - 2);
}

/* The values of an option: those meant, to the bit. */
static void test_option()
{
    const struct {
        const char *option;
        std::vector<double> values;
    } table[] = {
        {"alpha=0.5", {0.5}},
        {"alpha=-1e-3,7,0.30000000000000004", {-1e-3, 7, 0.1 + 0.2}},
        {"alpha=0:1:+0.1", {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}},
        {"alpha=-0.3:0.3:+0.2", {-0.3, -0.1, 0.1, 0.3}},
        {"alpha=0:1:+0.3", {0, 0.3, 0.6, 0.9}},
        {"alpha=1e-3:10:*10", {1e-3, 1e-2, 0.1, 1, 10}},
        {"alpha=0.1:1:*3", {0.1, 0.3, 0.9}},
        {"alpha=2:2:+1,5", {2, 5}},
        {"alpha=1e17", {1e17}},
        {"alpha=4.9406564584124654e-324,1.7976931348623157e308", {DBL_TRUE_MIN, DBL_MAX}},
    };
    for (const auto &t : table) {
        const std::vector<double> found = with(t.option);
        CHECK_INT(found.size(), t.values.size());
        for (size_t i = 0; i < found.size() && i < t.values.size(); i++)
            if (!CHECK(found[i] >= t.values[i] && found[i] <= t.values[i]))
                printf("    %s: %.17g, not %.17g\n", t.option, found[i], t.values[i]);
    }
    for (const char *wrong :
         {"alpha=x", "alpha=1,", "alpha=nan", "alpha=1e400", "alpha=inf", "alpha=1:2",
          "alpha=1:2:3", "alpha=1:2:*1", "alpha=0:1:*2", "alpha=-1:1:*2", "alpha=0:1:+0",
          "alpha=0:1:+-1", "alpha=2:1:+1", "alpha=0:1:+1e-7", "alpha=1:2:*1.0000000001",
          "alpha=1:2:+1:3", "alpha=1k"}) {
        CHECK_INT(program(plus({"--axis", wrong})), GPUMB_EXIT_USAGE);
        if (!CHECK(has(heard, "is not a list of numbers, lo:hi:+step") &&
                   has(heard, "for example --axis alpha=0.1,1e-3 or alpha=0:1:+0.25")))
            printf("    %s: %s", wrong, heard.c_str());
    }
}

static void test_bad_values()
{
    for (const double bad : {(double)NAN, (double)INFINITY, -(double)INFINITY}) {
        fake_reset();
        heard.clear();
        gpumb_settings s = gpumb_settings_default();
        s.quiet = 1;
        gpumb *g = gpumb_open_settings("axes", &s);
        GPUMB_SWEEP_REALS(g, beta, 1, bad)
            CHECK(false); // the body of a sweep over what is no number
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
        CHECK(has(heard, "sweep over beta: one of its values is NaN or infinite"));
    }
    heard.clear();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    gpumb *g = gpumb_open_settings("axes", &s);
    const double *none = NULL;
    GPUMB_SWEEP_REAL_ARRAY(g, beta, none, 2)
        CHECK(false); // the body of a sweep over NULL
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    CHECK(has(heard, "sweep over beta: its array is NULL"));
}

/* --list shows the values, and processes find each other's rows. */
static void test_other_processes(const char *self)
{
    const std::string csv = folder + "/three.csv";
    const std::string list = printed([&] { CHECK_INT(start({self, "--list"}), 0); });
    CHECK(has(list, " axis   alpha = 0.1 0.3333333333333333 1e-300 "));
    printed([&] {
        CHECK_INT(start({self, "--samples=6:6", "--warmup=0", "--processes=3", "--csv", csv}), 0);
    });
    for (int i = 0; i < 2 * (int)real_count; i++)
        CHECK_STR(fake_csv(csv.c_str(), i, "processes"), "3");
}

// ---- types and constants ----

template <class T, int U> static std::string name_of()
{
    return std::to_string(sizeof(T)) + (T(1) / T(2) > T(0) ? "f" : "i") + std::to_string(U) + " ";
}

#define TYPES float, double, unsigned long long, signed char
#define SIXTEEN 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -14, 1 << 15

static void test_templates()
{
    fake_reset();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    gpumb *g = gpumb_open_settings("axes", &s);
    std::string ran;
    GPUMB_SWEEP_TYPES(g, type, TYPES)
        GPUMB_SWEEP_LIST(g, unroll, 1, 4) {
            std::string name;
            int bodies = 0;
            GPUMB_MEASURE(g, "region")
                GPUMB_FOR_TYPES(type, T, (TYPES), GPUMB_FOR_CONSTANTS(unroll, U, (1, 2, 4), {
                                    name = name_of<T, U>();
                                    bodies++;
                                    fake_run(1e-3);
                                }));
            ran += name;
            CHECK(!bodies || !name.empty());
        }
    CHECK_STR(ran.c_str(), "4f1 4f4 8f1 8f4 8i1 8i4 1i1 1i4 ");
    CHECK_INT(gpumb_row_count(g), 8);
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        CHECK_INT(gpumb_row(g, i)->status, GPUMB_STATUS_OK);
        CHECK_INT(gpumb_row_axis(g, i, "type"), i / 2);
    }

    // all of a long list, and what is not in it
    const int64_t all[] = {SIXTEEN};
    for (const int64_t value : all) {
        int64_t found = -1;
        GPUMB_FOR_CONSTANTS(value, U, (SIXTEEN), found = U);
        CHECK_INT(found, value);
    }
    gpumb_result r;
    for (const int64_t value : {(int64_t)-1, (int64_t)14, INT64_MAX}) {
        GPUMB_TIME(&r)
            GPUMB_FOR_CONSTANTS(value, U, (SIXTEEN), fake_run(1e-3 * (double)U));
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK_STR(
            r.reason,
            ("U is " + std::to_string(value) + ": not in the list of what is compiled").c_str());
    }
    GPUMB_TIME(&r)
        GPUMB_FOR_TYPES(2, T, (int, float), fake_run(1e-3 * sizeof(T)));
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK_INT(gpumb_close(g), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        loud = 1;
        return program(std::vector<std::string>(argv + 1, argv + argc));
    }
    folder = make_folder("gpumb-axes");
    if (!CHECK(!folder.empty()))
        return CHECK_SUMMARY();
    test_lossless();
    test_compare();
    test_option();
    test_bad_values();
    test_other_processes(argv[0]);
    test_templates();
    CHECK(remove_folder(folder));
    return CHECK_SUMMARY();
}

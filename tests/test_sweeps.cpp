// test_sweeps.cpp - which configurations a sweep has, in which order they run, and what is left
// when one of them goes wrong.
#include "hear.h"
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "fake.h"

#include "check.h"
#include "read_file.h"
#include <vector>

static char csv_path[64]; // of this process alone

static gpumb *open()
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    s.csv = csv_path;
    fake_reset();
    heard.clear();
    return gpumb_open_settings("test_sweeps", &s);
}

static void close(gpumb *g, int code)
{
    CHECK_INT(gpumb_close(g), code);
    CHECK(fake_clean());
}

// ---- a trace of configurations, written like "1/10 1/20 2/10 " ----

static std::string body, region; // of the sweep's body, and of what was measured

static std::string key(int64_t a)
{
    return std::to_string((long long)a);
}

static std::string key(int64_t a, int64_t b)
{
    return key(a) + "/" + key(b);
}

static void measure(gpumb *g, const std::string &configuration)
{
    int runs = 0;
    GPUMB_MEASURE(g, "region") {
        if (!runs++)
            region += configuration + " ";
        fake_run(1e-3);
    }
}

static void visit(gpumb *g, const std::string &configuration)
{
    body += configuration + " ";
    measure(g, configuration);
}

static void start()
{
    body = region = "";
}

// Each configuration is walked through once, then runs once.
#define CHECK_SWEEP(g, expected)                                                                   \
    do {                                                                                           \
        CHECK_STR(region.c_str(), expected);                                                       \
        CHECK_STR(body.c_str(), (std::string(expected) + (expected)).c_str());                     \
        CHECK(gpumb_ok(g));                                                                        \
        start();                                                                                   \
    } while (0)

// ---- values ----

static void test_values()
{
    gpumb *g = open();
    const int64_t values[] = {7, -7, 7000000000};
    const char *const names[] = {"naive", "fast", "wild"};
    start();
    GPUMB_SWEEP_POW2(g, pow2, 64, 1024) {
        visit(g, key(pow2));
    }
    CHECK_SWEEP(g, "64 128 256 512 1024 ");
    GPUMB_SWEEP_POW2(g, odd_end, 3, 47) {
        visit(g, key(odd_end));
    }
    CHECK_SWEEP(g, "3 6 12 24 ");
    GPUMB_SWEEP_FACTOR(g, factor, 1000, 1000000, 10) {
        visit(g, key(factor));
    }
    CHECK_SWEEP(g, "1000 10000 100000 1000000 ");
    GPUMB_SWEEP_RANGE(g, range, 1, 10, 4) {
        visit(g, key(range));
    }
    CHECK_SWEEP(g, "1 5 9 ");
    GPUMB_SWEEP_RANGE(g, negative, -3, 4, 3) {
        visit(g, key(negative));
    }
    CHECK_SWEEP(g, "-3 0 3 ");
    GPUMB_SWEEP_RANGE(g, below, -9, -7, 1) {
        visit(g, key(below));
    }
    CHECK_SWEEP(g, "-9 -8 -7 ");
    GPUMB_SWEEP_LIST(g, list, 5, 1, 5000000000) {
        visit(g, key(list));
    }
    CHECK_SWEEP(g, "5 1 5000000000 ");
    GPUMB_SWEEP_ARRAY(g, array, values, 3) {
        visit(g, key(array));
    }
    CHECK_SWEEP(g, "7 -7 7000000000 ");
    GPUMB_SWEEP_NAMES(g, form, "naive", "fast") {
        visit(g, key(form));
    }
    CHECK_SWEEP(g, "0 1 ");
    GPUMB_SWEEP_STRINGS(g, string, names, 3) {
        visit(g, key(string));
    }
    CHECK_SWEEP(g, "0 1 2 ");

    // one value
    GPUMB_SWEEP_POW2(g, one_pow2, 64, 64) {
        visit(g, key(one_pow2));
    }
    CHECK_SWEEP(g, "64 ");
    GPUMB_SWEEP_RANGE(g, one_range, -5, -5, 1) {
        visit(g, key(one_range));
    }
    CHECK_SWEEP(g, "-5 ");
    GPUMB_SWEEP_LIST(g, one_list, 0) {
        visit(g, key(one_list));
    }
    CHECK_SWEEP(g, "0 ");

    // to the ends of the type, without overflow
    GPUMB_SWEEP_RANGE(g, last, INT64_MAX - 2, INT64_MAX, 1) {
        visit(g, key(last));
    }
    CHECK_SWEEP(g, "9223372036854775805 9223372036854775806 9223372036854775807 ");
    GPUMB_SWEEP_RANGE(g, first, INT64_MIN, INT64_MIN + 3, 2) {
        visit(g, key(first));
    }
    CHECK_SWEEP(g, "-9223372036854775808 -9223372036854775806 ");
    GPUMB_SWEEP_RANGE(g, all, INT64_MIN, INT64_MAX, INT64_MAX) {
        visit(g, key(all));
    }
    CHECK_SWEEP(g, "-9223372036854775808 -1 9223372036854775806 ");
    GPUMB_SWEEP_FACTOR(g, high, INT64_MAX / 2, INT64_MAX, 2) {
        visit(g, key(high));
    }
    CHECK_SWEEP(g, "4611686018427387903 9223372036854775806 ");
    int passes = 0;
    GPUMB_SWEEP_POW2(g, bits, 1, INT64_MAX) {
        passes++;
        measure(g, key(bits));
    }
    CHECK_INT(passes, 2 * 63);
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
}

// A mistake in the source ends, and does not end silently.
static void test_bad_steps()
{
    for (int mistake = 0; mistake < 5; mistake++) {
        gpumb *g = open();
        int passes = 0;
        if (mistake == 0)
            GPUMB_SWEEP_RANGE(g, a, 1, 10, 0) {
                if (++passes > 1000)
                    break;
            }
        if (mistake == 1)
            GPUMB_SWEEP_FACTOR(g, a, 1, 10, 1) {
                if (++passes > 1000)
                    break;
            }
        if (mistake == 2)
            GPUMB_SWEEP_FACTOR(g, a, 0, 10, 2) {
                if (++passes > 1000)
                    break;
            }
        if (mistake == 3)
            GPUMB_SWEEP_FACTOR(g, a, 1, 10, 0) {
                if (++passes > 1000)
                    break;
            }
        if (mistake == 4)
            GPUMB_SWEEP_FACTOR(g, a, -4, 10, -2) {
                if (++passes > 1000)
                    break;
            }
        if (!CHECK(passes <= 1000))
            printf("    mistake %d\n", mistake);
        gpumb_close(g);
        CHECK(!heard.empty());
        CHECK(fake_clean());
    }
}

// ---- nests ----

static void test_nests()
{
    gpumb *g = open();
    start();
    GPUMB_SWEEP_RANGE(g, a, 1, 3, 1)
        GPUMB_SWEEP_LIST(g, b, 20, 10) {
            visit(g, key(a, b));
        }
    CHECK_SWEEP(g, "1/20 1/10 2/20 2/10 3/20 3/10 ");

    // the outer body runs once a pass
    int passes = 0;
    GPUMB_SWEEP_RANGE(g, c, 1, 3, 1) {
        passes++;
        GPUMB_SWEEP_NAMES(g, d, "x", "y")
            GPUMB_SWEEP_POW2(g, e, 1, 2) {
                visit(g, key(c, d) + "/" + key(e));
            }
    }
    CHECK_INT(passes, 3 + 12);
    CHECK_SWEEP(g, "1/0/1 1/0/2 1/1/1 1/1/2 2/0/1 2/0/2 2/1/1 2/1/2 3/0/1 3/0/2 3/1/1 3/1/2 ");

    // inner bounds that depend on the outer value, and are empty at times
    GPUMB_SWEEP_RANGE(g, f, 0, 3, 1)
        GPUMB_SWEEP_RANGE(g, h, 1, f, 1) {
            visit(g, key(f, h));
        }
    CHECK_SWEEP(g, "1/1 2/1 2/2 3/1 3/2 3/3 ");
    CHECK_STR(heard.c_str(), "");
    close(g, 0);

    // Siblings, and regions before, between and behind them. A pass is for one configuration with
    // all of its regions; that of the outer axis alone comes where its first region stands.
    g = open();
    GPUMB_SWEEP_LIST(g, outer, 1, 2) {
        measure(g, key(outer) + "<");
        GPUMB_SWEEP_LIST(g, left, 5, 6) {
            measure(g, key(outer, left) + "l");
        }
        measure(g, key(outer) + "=");
        GPUMB_SWEEP_LIST(g, right, 7, 8, 9) {
            measure(g, key(outer, right) + "r");
            measure(g, key(outer, right) + "R");
        }
        measure(g, key(outer) + ">");
    }
    CHECK_STR(region.c_str(), "1< 1= 1> 1/5l 1/6l 1/7r 1/7R 1/8r 1/8R 1/9r 1/9R "
                              "2< 2= 2> 2/5l 2/6l 2/7r 2/7R 2/8r 2/8R 2/9r 2/9R ");
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
    if (CHECK_INT(fake_csv_rows(csv_path), 22)) {
        CHECK_STR(fake_csv(csv_path, 3, "outer"), "1");
        CHECK_STR(fake_csv(csv_path, 3, "left"), "5");
        CHECK_STR(fake_csv(csv_path, 3, "right"), "");
        CHECK_STR(fake_csv(csv_path, 13, "outer"), "2");
        CHECK_STR(fake_csv(csv_path, 13, "left"), "");
        CHECK_STR(fake_csv(csv_path, 13, "right"), "");
        CHECK_STR(fake_csv(csv_path, 21, "outer"), "2");
        CHECK_STR(fake_csv(csv_path, 21, "left"), "");
        CHECK_STR(fake_csv(csv_path, 21, "right"), "9");
    }
    start();

    // none inside: the sweep is walked through, and nothing happens
    g = open();
    passes = 0;
    GPUMB_SWEEP_RANGE(g, idle, 1, 3, 1) {
        passes++;
    }
    CHECK(passes >= 3);
    measure(g, "behind");
    CHECK_STR(region.c_str(), "behind ");
    CHECK(gpumb_ok(g));
    close(g, GPUMB_EXIT_FAILED);
    start();
}

// The same sweep again, in a function, in a loop.
static void three(gpumb *g)
{
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        visit(g, key(n));
    }
}

static void test_again()
{
    gpumb *g = open();
    start();
    for (int i = 0; i < 4; i++) {
        three(g);
        CHECK_SWEEP(g, "1 2 3 ");
    }
    int runs = 0;
    GPUMB_MEASURE(g, "outside") {
        runs++;
        fake_run(1e-3);
    }
    CHECK(runs > 6);
    close(g, 0);
    if (CHECK_INT(fake_csv_rows(csv_path), 13)) {
        CHECK_STR(fake_csv(csv_path, 11, "n"), "3");
        CHECK_STR(fake_csv(csv_path, 12, "n"), "");
    }

    // names in the sinks
    g = open();
    GPUMB_SWEEP_NAMES(g, form, "naive", "fast")
        GPUMB_SWEEP_LIST(g, n, -1, 4000000000) {
            visit(g, key(form, n));
        }
    close(g, 0);
    CHECK_STR(fake_csv(csv_path, 1, "form"), "naive");
    CHECK_STR(fake_csv(csv_path, 2, "form"), "fast");
    CHECK_STR(fake_csv(csv_path, 2, "n"), "-1");
    CHECK_STR(fake_csv(csv_path, 3, "n"), "4000000000");
    CHECK_STR(fake_csv(csv_path, 3, "median_s")[0] ? "there" : "", "there");
    start();
}

// An interleave in a sweep: its regions are one configuration's.
static void test_interleave()
{
    gpumb *g = open();
    int runs[2] = {0, 0};
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, "slow") {
                runs[0]++;
                fake_run(2e-3 * (double)n);
            }
            GPUMB_MEASURE(g, "fast") {
                runs[1]++;
                fake_run(1e-3 * (double)n);
            }
        }
    }
    close(g, 0);
    CHECK(runs[0] > 18 && runs[1] > 18);
    if (CHECK_INT(fake_csv_rows(csv_path), 6))
        for (int i = 0; i < 6; i++) {
            CHECK_STR(fake_csv(csv_path, i, "kernel"), i % 2 ? "fast" : "slow");
            CHECK_STR(fake_csv(csv_path, i, "n"), key(i / 2 + 1).c_str());
            CHECK_NEAR(atof(fake_csv(csv_path, i, "median_s")), (i % 2 ? 1e-3 : 2e-3) * (i / 2 + 1),
                       2e-5);
        }
}

// ---- memory ----

static void test_memory()
{
    gpumb *g = open();
    start();
    gpumb_buffer *before = gpumb_alloc(g, 50);
    CHECK(before != NULL);
    gpumb_buffer *outside = NULL;
    const int live = fake_live_blocks;
    const uint64_t bytes = fake_live_bytes[0];
    int enumerated = 0, passes = 0;
    GPUMB_SWEEP_LIST(g, n, 100, 2000, 300) {
        CHECK_INT(fake_live_blocks, live); // those of the last pass are gone
        CHECK_INT(fake_live_bytes[0], bytes);
        gpumb_buffer *outer = gpumb_alloc(g, (uint64_t)n);
        GPUMB_SWEEP_LIST(g, m, 1, 2) {
            gpumb_buffer *inner = gpumb_alloc(g, (uint64_t)(n * m));
            gpumb_buffer *gone = gpumb_alloc(g, 10);
            CHECK(!outer == !inner);
            enumerated += !inner;
            passes += !!inner;
            CHECK_INT(gpumb_size(inner), inner ? n * m : 0);
            CHECK_INT(fake_live_blocks, inner ? live + 3 : live);
            if (inner) {
                memset(gpumb_data(outer), 1, (size_t)n);
                memset(gpumb_data(inner), 2, (size_t)(n * m));
            }
            gpumb_fill(g, inner, GPUMB_FILL_BITS, 1);
            gpumb_poison(g, inner);
            gpumb_free(g, gone); // earlier than at the end
            visit(g, key(n, m));
        }
        outside = outer;
    }
    CHECK_INT(enumerated, 6);
    CHECK_INT(passes, 6);
    CHECK_SWEEP(g, "100/1 100/2 2000/1 2000/2 300/1 300/2 ");
    CHECK_INT(fake_live_blocks, live);
    CHECK(outside != NULL); // it was there in a pass
    memset(gpumb_data(before), 3, 50);
    CHECK_INT(fake_calls[FAKE_ALLOC] - fake_calls[FAKE_FREE], live);
    close(g, 0);
    for (int i = 0; i < 6; i++)
        CHECK_STR(fake_csv(csv_path, i, "reason"), "");
}

// A configuration that does not fit is a row, and the others run.
static void test_no_memory()
{
    gpumb *g = open();
    start();
    int ran = 0;
    GPUMB_SWEEP_LIST(g, mib, 1, 4096, 2) {
        gpumb_buffer *b = gpumb_alloc(g, (uint64_t)mib << 20);
        gpumb_fill(g, b, GPUMB_FILL_F32, 1);
        gpumb_set_output(g, b);
        GPUMB_MEASURE(g, "fits") {
            CHECK(gpumb_data(b) != NULL);
            ran++;
            fake_run(1e-3);
        }
    }
    CHECK(ran > 12);
    CHECK(gpumb_ok(g));
    close(g, 0);
    CHECK_INT(fake_csv_rows(csv_path), 3);
    CHECK_STR(fake_csv(csv_path, 0, "status"), "ok");
    CHECK_STR(fake_csv(csv_path, 1, "status"), "skipped");
    CHECK(strlen(fake_csv(csv_path, 1, "reason")) > 3);
    CHECK_STR(fake_csv(csv_path, 1, "median_s"), "");
    CHECK_STR(fake_csv(csv_path, 2, "status"), "ok");

    // the device says no at the allocation itself, though memory seemed free
    g = open();
    GPUMB_SWEEP_LIST(g, n, 1, 2, 3) {
        if (n == 2 && fake_calls[FAKE_ALLOC]) {
            fake_fail_verb = FAKE_ALLOC;
            fake_fail_verb_at = 1;
            fake_fail_error = FAKE_NO_MEMORY;
        }
        gpumb_buffer *b = gpumb_alloc(g, 1000);
        (void)b;
        GPUMB_MEASURE(g, "fits") {
            fake_run(1e-3);
        }
    }
    close(g, 0);
    CHECK_STR(fake_csv(csv_path, 0, "status"), "ok");
    CHECK_STR(fake_csv(csv_path, 1, "status"), "skipped");
    CHECK(strlen(fake_csv(csv_path, 1, "reason")) > 3);
    CHECK_STR(fake_csv(csv_path, 2, "status"), "ok");
}

// ---- leaving ----

static void test_leaving()
{
    gpumb *g = open();
    start();
    // before the region: there is no such configuration
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        if (a == 2)
            continue;
        if (a == 3)
            break;
        visit(g, key(a));
    }
    CHECK_SWEEP(g, "1 4 ");
    // behind it
    GPUMB_SWEEP_RANGE(g, b, 1, 4, 1) {
        visit(g, key(b));
        if (b == 2)
            break;
        if (b == 3)
            continue;
    }
    CHECK_SWEEP(g, "1 2 3 4 ");
    // in the inner sweep: the next inner value
    GPUMB_SWEEP_RANGE(g, c, 1, 2, 1)
        GPUMB_SWEEP_RANGE(g, d, 1, 3, 1) {
            if (d == 2 && c == 1)
                break;
            if (d == 1 && c == 2)
                continue;
            visit(g, key(c, d));
        }
    CHECK_SWEEP(g, "1/1 1/3 2/2 2/3 ");
    // in the outer one
    GPUMB_SWEEP_RANGE(g, e, 1, 3, 1) {
        if (e == 2)
            break;
        GPUMB_SWEEP_RANGE(g, f, 1, 2, 1) {
            visit(g, key(e, f));
        }
        continue;
    }
    CHECK_SWEEP(g, "1/1 1/2 3/1 3/2 ");
    CHECK_STR(heard.c_str(), "");
    close(g, 0);
    CHECK_INT(fake_csv_rows(csv_path), 2 + 4 + 4 + 4);
}

static void test_skip()
{
    gpumb *g = open();
    int ran = 0;
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        if (a % 2 == 0)
            gpumb_skip(g, "%d is even", (int)a);
        GPUMB_MEASURE(g, "odd") {
            CHECK(a % 2);
            ran++;
            fake_run(1e-3);
        }
    }
    CHECK(ran > 12);
    close(g, 0);
    CHECK_INT(fake_csv_rows(csv_path), 4);
    for (int i = 0; i < 4; i++)
        CHECK_STR(fake_csv(csv_path, i, "status"), i % 2 ? "skipped" : "ok");
    CHECK_STR(fake_csv(csv_path, 1, "reason"), "2 is even");
    CHECK_STR(fake_csv(csv_path, 3, "reason"), "4 is even");
    CHECK_STR(fake_csv(csv_path, 2, "reason"), "");

    // a launch that is refused, a wrong result
    g = open();
    GPUMB_SWEEP_RANGE(g, a, 1, 4, 1) {
        if (a == 3)
            gpumb_set_verify(
                g, [](gpumb *, void *) { return 0; }, NULL);
        GPUMB_MEASURE(g, "trouble") {
            if (a == 2)
                fake_run_refused(FAKE_REFUSED);
            else
                fake_run(1e-3);
        }
    }
    close(g, GPUMB_EXIT_FAILED);
    static const char *const status[] = {"ok", "skipped", "failed", "ok"};
    for (int i = 0; i < 4; i++)
        CHECK_STR(fake_csv(csv_path, i, "status"), status[i]);

    // a device that is lost ends the sweep
    g = open();
    int passes = 0;
    GPUMB_SWEEP_RANGE(g, a, 1, 100, 1) {
        passes++;
        GPUMB_MEASURE(g, "lost") {
            if (a == 3)
                fake_run_refused(FAKE_LOST);
            else
                fake_run(1e-3);
        }
    }
    CHECK(passes <= 104);
    CHECK(!gpumb_ok(g));
    close(g, GPUMB_EXIT_ERROR);
    CHECK(!heard.empty());
}

static int leave(gpumb *g, int at)
{
    int passes = 0;
    GPUMB_SWEEP_RANGE(g, width, 1, 3, 1) {
        measure(g, key(width));
        if (++passes == at)
            return 1;
    }
    return 0;
}

static void test_return()
{
    for (int at = 1; at <= 6; at++) { // 3 of the enumeration, 3 passes
        remove_file(csv_path);        // that an earlier part is kept would be said
        gpumb *g = open();
        CHECK_INT(leave(g, at), 1);
        if (!CHECK(strstr(heard.c_str(), "width") != NULL &&
                   strstr(heard.c_str(), "return") != NULL))
            printf("    left in pass %d: \"%s\"\n", at, heard.c_str());
        measure(g, "after");
        CHECK_INT(gpumb_row_count(g), (at > 3 ? at - 3 : 0) + 1);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
        CHECK(fake_clean());
        start();
    }
}

// ---- --axis ----

// What `--axis option` makes of n = 4, 5, 6 and form = naive, fast, wild, or of negative = -3, -2
static std::string with(const char *option, const char *option2 = NULL)
{
    char program[] = "test_sweeps", precision[] = "--warmup=0", samples[] = "--samples=6:6";
    char axis[] = "--axis", value[200], value2[200];
    snprintf(value, sizeof value, "%s", option);
    snprintf(value2, sizeof value2, "%s", option2 ? option2 : "");
    char *argv[] = {program, precision, samples, axis, value, axis, value2, NULL};
    start();
    fake_reset();
    heard.clear();
    fflush(stdout); // the table is not of interest
    const int out = dup(1);
    if (!freopen("/dev/null", "w", stdout))
        return "no /dev/null";
    gpumb *g = gpumb_open(option2 ? 7 : 5, argv);
    if (!strncmp(option, "negative", 8))
        GPUMB_SWEEP_RANGE(g, negative, -3, -2, 1) {
            measure(g, key(negative));
        }
    else
        GPUMB_SWEEP_LIST(g, n, 4, 5, 6)
            GPUMB_SWEEP_NAMES(g, form, "naive", "fast", "wild") {
                if (option2 || form == 0)
                    measure(g, option2 ? key(n, form) : key(n));
            }
    const int code = gpumb_close(g);
    fflush(stdout);
    dup2(out, 1);
    ::close(out);
    CHECK(fake_clean());
    return code ? "exit " + key(code) : region;
}

#define CHECK_AXIS(expected, ...) CHECK_STR(with(__VA_ARGS__).c_str(), expected)

static void test_axis_option()
{
    CHECK_AXIS("4 5 6 ", "n=4,5,6");
    CHECK_AXIS("6 1 5 ", "n=6,1,5");
    CHECK_AXIS("17 ", "n=17");
    CHECK_AXIS("1 3 5 ", "n=1:6:+2");
    CHECK_AXIS("1 3 9 27 ", "n=1:27:*3");
    CHECK_AXIS("1000 1000000 1000000000 ", "n=1k,1M,1G");
    CHECK_AXIS("1024 1048576 1073741824 ", "n=1Ki,1Mi,1Gi");
    CHECK_AXIS("1 2 1024 4611686018427387904 ", "n=2^0,2^1,2^10,2^62");
    CHECK_AXIS("1024 2048 3072 ", "n=1Ki:3Ki:+1Ki");
    CHECK_AXIS("8 64 ", "n=2^3:2^7:*8");
    CHECK_AXIS("7 1 2 3 100 ", "n=7,1:3:+1,100");
    CHECK_AXIS("9223372036854775805 9223372036854775807 ",
               "n=9223372036854775805:9223372036854775807:+2");
    CHECK_AXIS("3 6148914691236517206 ", "n=3:9223372036854775807:*2049638230412172402");
    CHECK_AXIS("-3 -2 5 ", "negative=-3,-2,5");
    CHECK_STR(heard.c_str(), "");

    // names: by name, in the order that is asked for; with a second axis
    CHECK_AXIS("5/1 ", "form=fast", "n=5");
    CHECK_AXIS("5/2 5/0 6/2 6/0 ", "form=wild,naive", "n=5:6:+1");

    static const char *const wrong[] = {"n=0",
                                        "n=-4",
                                        "n=",
                                        "n=1,",
                                        ",n=1",
                                        "n=4:1:+1",
                                        "n=1:10",
                                        "n=1:10:+0",
                                        "n=1:4:*1",
                                        "n=1:4:*0",
                                        "n=1:4:+-1",
                                        "n=2^63",
                                        "n=2^64",
                                        "n=10000000000G",
                                        "n=18446744073709552k", // 384 + 2^64
                                        "n=1x",
                                        "n=4 5",
                                        "n=0x10",
                                        "n=1:2:3:+4",
                                        "n=1.5",
                                        "m=4",
                                        "=4",
                                        "n",
                                        "form=slow",
                                        "form=nai",
                                        "form=",
                                        "negative=-4",
                                        "n=4:4",
                                        "n=1ki",
                                        "n=9223372036854775808"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (!CHECK_AXIS("exit 2", wrong[i]))
            printf("    with --axis %s\n", wrong[i]);
        if (!CHECK(strstr(heard.c_str(), "--axis") != NULL))
            printf("    with --axis %s: \"%s\"\n", wrong[i], heard.c_str());
        CHECK_STR(region.c_str(), ""); // known before anything runs
    }
}

// ---- benchmarks ----

static int bench_bodies;

static void bench_one(gpumb *g)
{
    bench_bodies++;
    gpumb_buffer *b = gpumb_alloc(g, 1000);
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        gpumb_fill(g, b, GPUMB_FILL_BITS, 1);
        visit(g, key(n));
    }
    GPUMB_MEASURE(g, "alone") {
        fake_run(1e-3);
    }
}

static void bench_two(gpumb *g)
{
    measure(g, "two");
}

static void test_benchmarks()
{
    static const gpumb_benchmark list[] = {{"one", "a sweep", bench_one},
                                           {"two", "a region", bench_two}};
    char program[] = "test_sweeps", warmup[] = "--warmup=0", samples[] = "--samples=6:6";
    char csv[200], filter[] = "--filter=two";
    snprintf(csv, sizeof csv, "--csv=%s", csv_path);
    char *argv[] = {program, warmup, samples, csv, filter, NULL};
    for (int filtered = 0; filtered < 2; filtered++) {
        start();
        fake_reset();
        heard.clear();
        bench_bodies = 0;
        fflush(stdout);
        const int out = dup(1);
        if (!CHECK(freopen("/dev/null", "w", stdout) != NULL))
            return;
        const int code = gpumb_main(4 + filtered, argv, list, 2);
        fflush(stdout);
        dup2(out, 1);
        ::close(out);
        CHECK_INT(code, 0);
        CHECK(fake_clean());
        CHECK_STR(region.c_str(), filtered ? "two " : "1 2 two ");
        CHECK_INT(fake_csv_rows(csv_path), filtered ? 1 : 4);
        CHECK_STR(fake_csv(csv_path, 0, "bench"), filtered ? "two" : "one");
        CHECK(filtered || bench_bodies >= 2);
        if (!filtered) {
            CHECK_STR(fake_csv(csv_path, 1, "n"), "2");
            CHECK_STR(fake_csv(csv_path, 2, "kernel"), "alone");
            CHECK_STR(fake_csv(csv_path, 3, "bench"), "two");
            CHECK_STR(fake_csv(csv_path, 3, "n"), "");
        }
    }
}

// Sweeps with one name, one behind the other in a body: each has its own values and names.
static void test_siblings()
{
    start();
    gpumb *g = open();
    GPUMB_SWEEP_LIST(g, outer, 1, 2) {
        GPUMB_SWEEP_LIST(g, k, 1, 2)
            measure(g, "x" + key(outer, k));
        GPUMB_SWEEP_LIST(g, k, 2, 3)
            measure(g, "y" + key(outer, k));
        GPUMB_SWEEP_NAMES(g, form, "naive", "fast")
            measure(g, "p" + key(outer, form));
        GPUMB_SWEEP_NAMES(g, form, "small", "large")
            measure(g, "q" + key(outer, form));
    }
    CHECK_STR(region.c_str(), "x1/1 x1/2 y1/2 y1/3 p1/0 p1/1 q1/0 q1/1 "
                              "x2/1 x2/2 y2/2 y2/3 p2/0 p2/1 q2/0 q2/1 ");
    CHECK_INT(gpumb_row_count(g), 16);
    const char *const names[] = {"naive", "fast", "small", "large"};
    for (int i = 0; i < 4; i++)
        CHECK_STR(g->rows.at[4 + i]->point.at[1].text, names[i]);
    close(g, 0);
}

// A sweep inside one of its own name ends the outer one, in words, and nothing else.
static void sweep_n(gpumb *g)
{
    GPUMB_SWEEP_LIST(g, n, 3, 4)
        measure(g, key(n));
}

static void test_inside_itself()
{
    for (int between = 0; between < 2; between++) {
        start();
        gpumb *g = open();
        GPUMB_SWEEP_LIST(g, n, 10, 20) {
            if (!between)
                sweep_n(g);
            else
                GPUMB_SWEEP_LIST(g, m, 1, 2)
                    sweep_n(g);
        }
        CHECK(strstr(heard.c_str(), "sweep over n starts inside itself") != NULL);
        CHECK(strstr(heard.c_str(), "nested sweeps need different names") != NULL);
        CHECK(!strstr(heard.c_str(), "was left"));
        measure(g, "after");
        CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_OK);
        close(g, GPUMB_EXIT_FAILED);
    }
}

static void test_names_of_columns()
{
    for (const char *name : {"bytes", "seed", "flags", "gpumb"}) {
        start();
        gpumb *g = open();
        gpumb_axis *axis = gpumbi_sweep_range(g, name, 1, 2, 1, 0);
        CHECK_INT(gpumbi_sweep_next(axis), 0);
        CHECK(strstr(heard.c_str(), "that is the name of a column") && strstr(heard.c_str(), name));
        close(g, GPUMB_EXIT_ERROR);
    }
}

// ---- own values and elements ----

static int says_seven(gpumb *g, void *)
{
    gpumb_set_value(g, "by_check", 7);
    return 1;
}

static void test_own_values()
{
    gpumb *g = open();
    GPUMB_SWEEP_LIST(g, n, 10, 20) {
        gpumb_set_value(g, "half", -1);
        gpumb_set_value(g, "half", (double)n / 2); // the last one counts
        gpumb_set_value(g, "never", n == 10 ? NAN : HUGE_VAL);
        gpumb_set_elements(g, 1e6 * (double)n);
        gpumb_set_verify(g, says_seven, NULL);
        measure(g, "");
    }
    measure(g, "");
    gpumb_set_elements(g, -1);
    measure(g, "");
    CHECK(strstr(gpumb_last_result(g)->reason, "gpumb_set_elements(): elements can't be -1"));
    CHECK_INT(gpumb_row_count(g), 4);
    for (size_t row = 0; row < 3; row++) {
        const gpumb_result *r = gpumb_row(g, row);
        const double n = 10 * (double)(row + 1);
        CHECK_NEAR(r->elements, row < 2 ? 1e6 * n : 0, 0);
        CHECK_NEAR(r->elements_per_s, r->elements / r->time.median, 0);
        if (row < 2) {
            CHECK_NEAR(gpumb_row_value(g, row, "half"), n / 2, 0);
            CHECK_NEAR(gpumb_row_value(g, row, "by_check"), 7, 0);
        } else {
            CHECK(isnan(gpumb_row_value(g, row, "half"))); // for the next region alone
        }
        CHECK(isnan(gpumb_row_value(g, row, "never")));
        const int64_t of_axis = gpumb_row_axis(g, row, "n");
        const double as_value = gpumb_row_value(g, row, "n");
        CHECK(of_axis < 0 ? isnan(as_value) : (int64_t)as_value == of_axis);
    }
    CHECK(isnan(gpumb_row_value(g, 4, "half")) && isnan(gpumb_row_value(g, 0, NULL)));
    CHECK_INT(gpumb_row_axis(g, 1, "half"), -1);
    close(g, GPUMB_EXIT_FAILED);
    const std::string csv = read_file(csv_path);
    CHECK(csv.find(",n,half,never,by_check\n") != std::string::npos);
    CHECK(csv.find(",half;never;by_check,program=") != std::string::npos);
    CHECK(csv.find(",20,10,,7\n") != std::string::npos);

    // names: as many as there may be, one too many, and those that can't be
    g = open();
    for (int i = 0; i < GPUMBI_OWN_VALUES; i++)
        gpumb_set_value(g, ("v" + std::to_string(i)).c_str(), i);
    CHECK(gpumb_ok(g));
    gpumb_set_value(g, "v16", 16);
    CHECK_STR(heard.c_str(), "gpumb: value v16: there are 16 of them already\n");
    close(g, GPUMB_EXIT_ERROR);
    const std::string longest(127, 'x');
    g = open();
    gpumb_set_value(g, longest.c_str(), 1);
    CHECK(gpumb_ok(g));
    close(g, GPUMB_EXIT_OK);
    for (const char *name :
         {"", "a;b", "median_s", "n", (const char *)NULL, "x", "a\nb", "a\x1b[1m", "a\xff"}) {
        g = open();
        GPUMB_SWEEP_LIST(g, n, 1, 2) {
            gpumb_set_value(g, name && *name == 'x' ? (longest + "x").c_str() : name, (double)n);
            measure(g, "");
        }
        CHECK(strstr(heard.c_str(), name && (*name == 'm' || *name == 'n')
                                        ? "is the name of a column"
                                        : "has 1 to 127 characters"));
        close(g, GPUMB_EXIT_ERROR);
    }
    g = open(); // and an axis that is called as a value
    gpumb_set_value(g, "n", 1);
    GPUMB_SWEEP_LIST(g, n, 1, 2)
        measure(g, "");
    CHECK_STR(heard.c_str(),
              "gpumb: axis n: that is the name of a column; take another, my_n for example\n");
    close(g, GPUMB_EXIT_ERROR);
}

static void returns_for_null(gpumb *g)
{
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        if (!gpumb_alloc(g, (uint64_t)n))
            return;
        measure(g, key(n));
    }
}

// Who leaves a body for a buffer that is NULL hears of it, and what measures nothing is not well.
static void test_nothing_measured()
{
    start();
    gpumb *g = open();
    GPUMB_SWEEP_LIST(g, n, 1, 2) {
        if (!gpumb_alloc(g, (uint64_t)n))
            continue;
        measure(g, key(n));
    }
    CHECK(strstr(heard.c_str(), "reached no region") != NULL);
    close(g, GPUMB_EXIT_FAILED);

    const int64_t values[] = {7};
    for (int empty = 0; empty < 5; empty++) { // no values, or none of their combinations
        start();
        g = open();
        measure(g, "a row all the same");
        GPUMB_SWEEP_RANGE(g, no_range, 5, empty == 0 ? 4 : 5, 1)
            GPUMB_SWEEP_POW2(g, no_pow2, 8, empty == 1 ? 4 : 8)
                GPUMB_SWEEP_ARRAY(g, no_array, values, empty == 2 ? 0 : 1) {
                    if (empty == 3)
                        continue;
                    measure(g, key(no_range, no_pow2));
                }
        CHECK_INT(gpumb_row_count(g), empty == 4 ? 2 : 1);
        if (empty == 4)
            CHECK_STR(heard.c_str(), "");
        else
            CHECK(strstr(heard.c_str(), empty ? "sweep over no_range reached no region"
                                              : "sweep over no_range has no values") != NULL);
        close(g, empty == 4 ? 0 : GPUMB_EXIT_FAILED);
    }

    start();
    close(open(), 0); // a quiet one may only lend its buffers
    gpumb_settings with_table = gpumb_settings_default();
    close(gpumb_open_settings("test_sweeps", &with_table), GPUMB_EXIT_FAILED);
    CHECK(
        strstr(heard.c_str(), "nothing was measured: no GPUMB_MEASURE or GPUMB_TIME was reached"));

    start();
    g = open();
    returns_for_null(g);
    returns_for_null(g);
    CHECK(strstr(heard.c_str(), "buffers are NULL while a sweep enumerates") != NULL);
    close(g, GPUMB_EXIT_FAILED);

    start();
    g = open();
    for (int fine = 0; fine < 2; fine++) {
        gpumb_skip(g, "not here");
        measure(g, "skipped");
    }
    close(g, GPUMB_EXIT_FAILED);

    g = open();
    gpumb_skip(g, "not here");
    measure(g, "skipped");
    measure(g, "ok");
    close(g, 0);
}

// Names are a program's, and go into files: what is no text there is replaced, as in a kernel's.
static void test_odd_names()
{
    static const char *const names[] = {"\xff\xfe bad", "\x1b[31mred", "Größe"};
    static const char *const plain[] = {"?? bad", "?[31mred", "Größe"};
    gpumb *g = open();
    char text[40];
    GPUMB_SWEEP_STRINGS(g, name, names, 3) {
        measure(g, "");
    }
    CHECK_INT(gpumb_row_count(g), 3);
    for (int i = 0; i < 3; i++) {
        gpumb_row_text(g, (uint64_t)i, "name", text, sizeof text);
        CHECK_STR(text, plain[i]);
    }
    close(g, 0);
    CHECK(read_file(csv_path).find_first_of("\xff\x1b") == std::string::npos);
}

int main()
{
    snprintf(csv_path, sizeof csv_path, "build/test_sweeps.%d.csv", (int)getpid());
    test_values();
    test_bad_steps();
    test_nests();
    test_again();
    test_interleave();
    test_memory();
    test_no_memory();
    test_leaving();
    test_skip();
    test_return();
    test_axis_option();
    test_siblings();
    test_inside_itself();
    test_names_of_columns();
    test_odd_names();
    test_own_values();
    test_nothing_measured();
    test_benchmarks();
    remove_file(csv_path);
    return CHECK_SUMMARY();
}

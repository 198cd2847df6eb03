/* cli_program.cu - the program that test_cli.sh drives: benchmarks with sweeps over reference
 * kernels, and one whose rows go wrong in the way that its axis `trouble` asks for. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The clock is scripted: it moves by a look at it, and by what regions say that they take, give or
 * take 1 %. So rows and verdicts are the same on every machine, however busy. With REAL_CLOCK it is
 * the machine's, for what has to last. */
static const int real_clock = getenv("REAL_CLOCK") != NULL;
static long long scripted_ns = 1000000000;

static int scripted_clock(clockid_t id, struct timespec *now)
{
    if (real_clock)
        return clock_gettime(id, now);
    scripted_ns += 20;
    now->tv_sec = (time_t)(scripted_ns / 1000000000);
    now->tv_nsec = (long)(scripted_ns % 1000000000);
    return 0;
}

static void takes(double us)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    scripted_ns += (long long)(us * (990 + (double)(state >> 16) * 20 / 65536));
}

/* No room for the copies that find the machine's memory rate: they take longest of all. */
extern "C" int little_memory(void **p, size_t alignment, size_t bytes) throw() /* as libc's */
{
    return bytes > (size_t)64 << 20 ? ENOMEM : posix_memalign(p, alignment, bytes);
}

#define clock_gettime scripted_clock
#define posix_memalign little_memory
#define GPUMB_COPY
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

/* A program may follow the user's locale; its numbers must not. */
static const char *const locale_in_force = setlocale(LC_ALL, "");

enum { FINE, WRONG, SKIPPED, TOO_LARGE, REFUSED, WRONG_LATER };

static void copy(gpumb *g)
{
    GPUMB_SWEEP_POW2(g, block, 64, 256) {
        GPUMB_SWEEP_LIST(g, n, 1000, 4096) {
            uint64_t count = (uint64_t)n << (gpumb_get_settings(g)->full ? 1 : 0);
            gpumb_buffer *in = gpumb_alloc(g, 4 * count), *out = gpumb_alloc(g, 4 * count);
            gpumb_copy_check check = {in, out, 4 * count, GPUMB_READ_WRITE};
            gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);
            gpumb_set_bytes(g, 8.0 * (double)count);
            gpumb_set_flop(g, 2.0 * (double)count); /* not so, but it fills the column */
            gpumb_set_footprint(g, 8 * count);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "copy") {
                gpumb_copy(g, GPUMB_FORM_NAIVE, 4, count, (int)block, gpumb_data(in),
                           gpumb_data(out));
                takes(10);
            }
        }
    }
}

static void zcopy(gpumb *g)
{
    GPUMB_SWEEP_NAMES(g, form, "naive", "fastest") {
        GPUMB_SWEEP_LIST(g, blocks, 2, 4) {
            gpumb_buffer *out = gpumb_alloc(g, 1 << 16);
            gpumb_copy_check check = {NULL, out, 1 << 16, GPUMB_WRITE};
            gpumb_set_bytes(g, 1 << 16);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "write") {
                gpumb_zcopy(g, form ? GPUMB_FORM_FASTEST : GPUMB_FORM_NAIVE, GPUMB_WRITE, 4,
                            1 << 14, (uint64_t)blocks, 128, NULL, gpumb_data(out));
                takes(form ? 20 : 40);
            }
        }
    }
}

struct odd_state {
    int64_t trouble;
    int checks;
};

static int odd_check(gpumb *g, void *user)
{
    odd_state *state = (odd_state *)user;
    state->checks++;
    if (state->trouble == WRONG || (state->trouble == WRONG_LATER && state->checks > 1)) {
        gpumb_reason(g, "element 7 is \"8\", not 9,\nand there is a | in it");
        return 0;
    }
    return 1;
}

static void odd(gpumb *g)
{
    GPUMB_SWEEP_NAMES(g, label, "plain", "comma, \"quote\" | bar") {
        GPUMB_SWEEP_LIST(g, trouble, FINE) {
            odd_state state = {trouble, 0};
            gpumb_buffer *b = gpumb_alloc(g, trouble == TOO_LARGE ? (uint64_t)1 << 60 : 4096);
            if (trouble == SKIPPED)
                gpumb_skip(g, "the author \"said\" so, didn't he");
            gpumb_set_bytes(g, 4096);
            gpumb_set_output(g, b);
            gpumb_set_verify(g, odd_check, &state);
            GPUMB_MEASURE(g, "a \"quoted\", name | with\na newline and \\") {
                gpumb_empty(g, 1, trouble == REFUSED ? 1 << 20 : 32);
                takes(5);
            }
            (void)label;
            (void)locale_in_force;
        }
    }
}

static const gpumb_benchmark benchmarks[] = {
    {"copy", "one element a thread", copy},
    {"zcopy", "a grid-stride loop that writes", zcopy},
    {"odd", "names that need quotes, and rows that go wrong", odd},
};

/* Adds a line to the file that OWN_LOG names. */
static void log_line(const char *text)
{
    const char *name = getenv("OWN_LOG");
    FILE *file = name ? fopen(name, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", text);
        fclose(file);
    }
}

/* What the first process of --processes may go through, as CHILD_TROUBLE says. */
static int child_trouble(void)
{
    const char *trouble = getenv("CHILD_TROUBLE"), *where = getenv("GPUMB_PROCESS");
    if (!trouble || !where)
        return -1;
    log_line(trouble);
    if (!strcmp(trouble, "exit"))
        return 7;
    if (!strcmp(trouble, "kill"))
        raise(SIGKILL);
    if (!strcmp(trouble, "half") && write(atoi(strchr(where, ':') + 1), "{\"rows\": [", 10) < 10)
        return 8;
    if (!strcmp(trouble, "hang"))
        sleep(60);
    return 0;
}

/* A program with an argument of its own, which it leaves out for gpumb. */
int main(int argc, char **argv)
{
    const int trouble = child_trouble();
    if (trouble >= 0)
        return trouble;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--own=", 6)) {
            printf("own: %s\n", argv[i] + 6);
            log_line(argv[i] + 6);
            memmove(argv + i, argv + i + 1, (size_t)(argc - i) * sizeof *argv);
            argc--;
        }
    return gpumb_main(argc, argv, benchmarks, sizeof benchmarks / sizeof benchmarks[0]);
}

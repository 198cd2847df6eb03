#!/bin/sh
# test_null_arguments.sh - calls every public function of gpumb.h, as the header declares them,
# with all combinations of NULL and of pointers to zeros, in every state that a context can be in:
# nothing crashes, and what launches says why it did not.
# shellcheck disable=SC2086  # words in $CXXFLAGS are meant to split
cd "$(dirname "$0")/.." || exit 1
. tests/checks.sh

# ---- the list: names of declarations, up to the implementation -----------------------------------

sed '/^#if defined(GPUMB_IMPLEMENTATION) && !defined(GPUMB_IMPLEMENTATION_DONE)/q' gpumb.h |
    awk '/^GPUMB_API/ { text = ""; on = 1 }
         on { text = text " " $0 }
         on && /;/ {
             on = 0
             if (match(text, /gpumb_[a-z0-9_]*\(/))
                 print substr(text, RSTART, RLENGTH - 1)
         }' |
    sort -u >"$tmp/names"
sed 's/.*/    CALL(&),/' "$tmp/names" >"$tmp/functions.h"

# ---- the program ---------------------------------------------------------------------------------

cat >"$tmp/null.cpp" <<'END'
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define FAKE_MULTIPROCESSORS 1
#define GPUMB_COPY
#define GPUMB_STRIDED
#define GPUMB_REDUCTIONS(X) X(F32, SUM)
#define GPUMB_NBODY_FORMS(X) X(1, 1, LIBRARY)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include "tests/fake.h"

#include "tests/check.h"
#include <tuple>
#include <type_traits>

/* What an argument is in a trial: a pointer is NULL or not by the bits of `mask`, any other value
 * is `number`. What a pointer points to is zero, structs with members that are NULL. */
static unsigned mask;
static int pointers, number;
static gpumb *context;
static unsigned char zeros[1 << 20];

static int not_null()
{
    return mask >> pointers++ & 1;
}

static int no_check(gpumb *, void *)
{
    return 0;
}

static void no_hook(gpumb *, void *)
{
}

static void no_log(const char *line, void *)
{
    fprintf(stderr, "%s\n", line);
}

template <class T, class = void> struct argument { /* a number */
    static T value()
    {
        return static_cast<T>(number);
    }
};

template <class T>
struct argument<T, typename std::enable_if<std::is_enum<T>::value>::type> {
    static T value()
    {
        return static_cast<T>(number % 3);
    }
};

template <class T> struct argument<T *> {
    static T *value()
    {
        return not_null() ? (T *)(void *)zeros : NULL;
    }
};

template <> struct argument<gpumb *> {
    static gpumb *value()
    {
        return not_null() ? context : NULL;
    }
};

template <> struct argument<const gpumb *> {
    static gpumb *value()
    {
        return not_null() ? context : NULL;
    }
};

template <> struct argument<gpumb_buffer *> {
    static gpumb_buffer *value()
    {
        return not_null() ? gpumb_alloc(context, 1 << 18) : NULL;
    }
};

template <> struct argument<const gpumb_buffer *> {
    static const gpumb_buffer *value()
    {
        return argument<gpumb_buffer *>::value();
    }
};

template <> struct argument<gpumb_check> {
    static gpumb_check value()
    {
        return not_null() ? no_check : NULL;
    }
};

template <> struct argument<gpumb_log> {
    static gpumb_log value()
    {
        return not_null() ? no_log : NULL;
    }
};

template <> struct argument<gpumb_hook> {
    static gpumb_hook value()
    {
        return not_null() ? no_hook : NULL;
    }
};

/* Braces evaluate from left to right. */
template <class R, class... Types> static void call(R (*function)(Types...))
{
    const std::tuple<Types...> arguments{argument<Types>::value()...};
    std::apply(function, arguments);
}

template <class R, class... Types> static void call(R (*function)(Types..., ...))
{
    const std::tuple<Types...> arguments{argument<Types>::value()...};
    std::apply([&](Types... each) { function(each...); }, arguments);
}

struct function {
    const char *name;
    void (*call)();
};

#define CALL(f) {#f, []() { call(f); }}
static const function functions[] = {
#include "functions.h"
};

/* ---- the states ---- */

enum state { FRESH, ENDED, NO_ROOM, ENUMERATING, IN_A_PASS, IN_A_REGION, IN_A_LANE, STATES };
static const char *const state_name[] = {"fresh",       "ended",       "a buffer does not fit",
                                         "enumerating", "in a pass",   "in a region",
                                         "in an interleave"};

static void one(const function &f, unsigned which, int value)
{
    mask = which;
    pointers = 0;
    number = value;
    memset(zeros, 0, sizeof zeros);
    f.call();
}

static gpumb *open_context(state in)
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    s.csv = in == ENDED ? "/nonexistent/x.csv" : NULL;
    fake_reset();
    gpumb *g = gpumb_open_settings("null", &s);
    if (in == NO_ROOM)
        gpumb_alloc(g, (uint64_t)1 << 60);
    return g;
}

/* Everything that can come after, at least. */
static void go_on(gpumb *g)
{
    gpumb_result r;
    GPUMB_SWEEP_LIST(g, n, 1, 2)
        GPUMB_MEASURE(g, "after")
            fake_run(1e-3);
    GPUMB_TIME(&r)
        fake_run(1e-3);
}

static void in_state(state in, const function &f, unsigned which, int value)
{
    gpumb *g = context = open_context(in);
    int done = 0;
    if (in <= NO_ROOM) {
        one(f, which, value);
    } else if (in <= IN_A_PASS) {
        GPUMB_SWEEP_LIST(g, n, 1, 2) {
            if ((g->done || gpumbi_dry(g) == (in == ENUMERATING)) && !done++)
                one(f, which, value);
            GPUMB_MEASURE(g, NULL)
                fake_run(1e-3);
        }
    } else if (in == IN_A_REGION) {
        GPUMB_MEASURE(g, NULL) {
            fake_run(1e-3);
            if (!done++)
                one(f, which, value);
        }
    } else {
        GPUMB_INTERLEAVE(g) {
            GPUMB_MEASURE(g, NULL)
                fake_run(1e-3);
            GPUMB_MEASURE(g, NULL) {
                if (!done++)
                    one(f, which, value);
            }
        }
    }
    if (strcmp(f.name, "gpumb_close") && strcmp(f.name, "gpumb_run")) { /* which close it */
        go_on(g);
        gpumb_close(g);
    }
}

static void silence()
{
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(9);
}

static void all_states(const function &f)
{
    static const int numbers[] = {0, 1, 4, 32};
    for (int in = FRESH; in < STATES; in++) {
        volatile unsigned *where = (volatile unsigned *)mmap(NULL, 64, PROT_READ | PROT_WRITE,
                                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            silence();
            for (int value : numbers)
                for (unsigned which = 0, all = 1; which < all; which++) {
                    where[0] = which;
                    where[1] = (unsigned)value;
                    in_state((state)in, f, which, value);
                    all = 1u << pointers;
                }
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_CASE(status == 0, "%s, %s: status %d with pointers 0x%x, numbers %u", f.name,
                   state_name[in], status, where[0], where[1]);
        munmap((void *)where, 64);
    }
}

/* ---- reasons ---- */

static char reason[300];

/* Calls it outside of a region, and says what the next row is skipped for. */
static const char *why(const char *name, unsigned which, int value, state in = FRESH)
{
    gpumb *g = context = open_context(in);
    for (const function &f : functions)
        if (!strcmp(f.name, name))
            one(f, which, value);
    GPUMB_MEASURE(g, "row")
        fake_run(1e-3);
    snprintf(reason, sizeof reason, "%s", gpumb_last_result(g)->reason);
    gpumb_close(g);
    return reason;
}

/* Why a check says that a result is wrong, of a struct whose members are pointers or zero. */
template <class T> static const char *why_wrong(gpumb_check check, const T &user)
{
    T copy = user;
    gpumb *g = open_context(FRESH);
    gpumb_set_verify(g, check, &copy);
    GPUMB_MEASURE(g, "row")
        fake_run(1e-3);
    snprintf(reason, sizeof reason, "%s", gpumb_last_result(g)->reason);
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_FAILED);
    gpumb_close(g);
    return reason;
}

static void test_reasons()
{
    static const struct {
        const char *name;
        int pointers; /* behind the context; each that is NULL is a reason */
        int number;
    } refuse[] = {{"gpumb_fill", 1, 4},
                  {"gpumb_poison", 1, 4},
                  {"gpumb_read", 2, 4},
                  {"gpumb_write", 2, 4},
                  {"gpumb_memcpy", 2, 4},
                  {"gpumb_set_output", 1, 4},
                  {"gpumb_copy", 2, 4},
                  {"gpumb_zcopy", 2, 8}, /* GPUMB_READ */
                  {"gpumb_strided", 2, 4},
                  {"gpumb_subdomains", 2, 4},
                  {"gpumb_reduce", 3, 4}, /* and the workspace: too small */
                  {"gpumb_reduction_workspace", 1, 4},
                  {"gpumb_nbody_workspace", 1, 4},
                  {"gpumb_nbody_accelerations", 3, 4},
                  {"gpumb_nbody_steps", 4, 4}};
    for (const auto &r : refuse) {
        const unsigned all = (1u << r.pointers) - 1;
        for (unsigned given = 0; given < all; given++) {
            CHECK_CASE(strstr(why(r.name, 1 | given << 1, r.number), r.name + 6) &&
                           strstr(reason, "NULL"),
                       "%s, pointers 0x%x: \"%s\"", r.name, given, reason);
            CHECK_CASE(strstr(why(r.name, 1 | given << 1, r.number, NO_ROOM), "more device memory"),
                       "%s, pointers 0x%x of a buffer that does not fit: \"%s\"", r.name, given,
                       reason);
        }
    }
    CHECK_STR(why("gpumb_skip", 1, 0), "no reason given");

    const gpumb_copy_check copy = {};
    const gpumb_stride_check stride = {};
    const gpumb_reduction_check reduction = {};
    gpumb_nbody_check nbody = {};
    nbody.n = 1;
    CHECK(strstr(why_wrong(gpumb_check_copy, copy), "NULL"));
    CHECK(strstr(why_wrong(gpumb_check_strided, stride), "NULL"));
    CHECK(strstr(why_wrong(gpumb_check_reduction, reduction), "NULL"));
    CHECK(strstr(why_wrong(gpumb_check_nbody, nbody), "NULL"));
    gpumb *g = open_context(FRESH);
    gpumb_buffer *b = gpumb_alloc(g, 64);
    const gpumb_reduction how = gpumb_reduction_default();
    const gpumb_nbody walk = gpumb_nbody_default();
    gpumb_copy_check copies[] = {{b, NULL, 8, GPUMB_READ_WRITE}, {NULL, b, 8, GPUMB_READ_WRITE},
                                 {b, NULL, 8, GPUMB_WRITE},      {NULL, b, 8, GPUMB_READ}};
    gpumb_stride_check strides[] = {{b, NULL, 4, 1, 1, 0, 0}, {NULL, b, 4, 1, 1, 0, 0}};
    gpumb_reduction_check reductions[] = {{NULL, b, b, 1}, {&how, NULL, b, 1}, {&how, b, NULL, 1}};
    gpumb_nbody_check walks[] = {{NULL, b, b, 1, 0}, {&walk, NULL, b, 1, 0},
                                 {&walk, b, NULL, 1, 0}};
    for (gpumb_copy_check &c : copies)
        CHECK(!gpumb_check_copy(g, &c) && strstr(g->why, "NULL"));
    for (gpumb_stride_check &c : strides)
        CHECK(!gpumb_check_strided(g, &c) && strstr(g->why, "NULL"));
    for (gpumb_reduction_check &c : reductions)
        CHECK(!gpumb_check_reduction(g, &c) && strstr(g->why, "NULL"));
    for (gpumb_nbody_check &c : walks)
        CHECK(!gpumb_check_nbody(g, &c) && strstr(g->why, "NULL"));
    g->why[0] = 0;
    CHECK(gpumb_compare(g, b, NULL, 7, NULL) == 7 && strstr(g->why, "NULL"));

    /* no row is lost for a hook that copies from a buffer that is not there */
    gpumb_set_reset(g, [](gpumb *c, void *to) { gpumb_memcpy(c, to, NULL, 8); }, gpumb_data(b));
    GPUMB_MEASURE(g, "hook")
        fake_run(1e-3);
    CHECK_STR(gpumb_last_result(g)->reason, "gpumb_memcpy: a pointer is NULL");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
}

/* Lists that are NULL, or have a NULL in them, end the sweep. */
static void test_lists()
{
    const char *const hole[] = {"plain", NULL};
    for (int list = 0; list < 3; list++) {
        gpumb *g = open_context(FRESH);
        int bodies = 0;
        if (list == 0)
            GPUMB_SWEEP_ARRAY(g, n, (const int64_t *)NULL, 2)
                bodies++;
        else
            GPUMB_SWEEP_STRINGS(g, form, list == 1 ? NULL : hole, 2)
                bodies++;
        CHECK_INT(bodies, 0);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    }
    for (int none = 0; none < 3; none++) {
        const gpumb_benchmark list[] = {{none == 1 ? NULL : "name", NULL, NULL}};
        char program[] = "null";
        char *arguments[] = {program, NULL};
        CHECK_INT(gpumb_main(1, arguments, none ? list : NULL, 1), GPUMB_EXIT_USAGE);
    }
}

int main()
{
    for (const function &f : functions)
        all_states(f);
    test_reasons();
    test_lists();
    printf("%d functions\n", (int)(sizeof functions / sizeof functions[0]));
    return CHECK_SUMMARY();
}
END

functions=$(grep -c . "$tmp/names")
if ! ${CXX:-c++} -std=c++17 -O1 -w -pthread -I. -I"$tmp" ${CXXFLAGS-} "$tmp/null.cpp" \
    -o "$tmp/null" 2>"$tmp/err"; then
    fail "does not compile" "$tmp/err"
    finish
fi
timeout 300 "$tmp/null" >"$tmp/out" 2>"$tmp/err"
status=$?
sed "\$d" "$tmp/out" | head -n 40
counts=$(tail -n 1 "$tmp/out")
if [ $status -gt 1 ] || [ "$functions" -lt 50 ] ||
    ! grep -q "^$functions functions\$" "$tmp/out"; then
    fail "status $status after $functions functions" "$tmp/err"
    finish
fi
echo "$counts"
exit $status

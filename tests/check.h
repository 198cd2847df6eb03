/* check.h - checks for the tests, C99 and C++11.
 *
 *     CHECK(list != NULL);               a condition
 *     CHECK_INT(count, 3);               two integers
 *     CHECK_NEAR(mean, 0.5, 1e-9);       two numbers, at most `tolerance` apart
 *     CHECK_STR(row.reason, "");         two strings
 *     SKIP("no device");                 something that this machine can't check
 *     return CHECK_SUMMARY();            at the end of main()
 *
 * A check that fails says so and the program goes on, unless CHECK_STOP is in the environment. Each
 * is an expression: 1 right, 0 wrong.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check_count((condition) ? 1 : 0, __FILE__, __LINE__, #condition, "")
#define CHECK_INT(a, b) check_int((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_NEAR(a, b, tolerance)                                                                \
    check_near((double)(a), (double)(b), (double)(tolerance), __FILE__, __LINE__, #a " ~ " #b)
#define CHECK_STR(a, b) check_str((a), (b), __FILE__, __LINE__, #a " == " #b)
#define SKIP(reason) check_skip(__FILE__, __LINE__, (reason))
#define CHECK_SUMMARY() check_summary()

/* 1: with sanitizers, which are slow and see in some cases of a kind what they would in all. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

static int check_passed, check_failed, check_skipped;

static inline int check_count(int right, const char *file, int line, const char *expression,
                              const char *values)
{
    check_passed += right;
    check_failed += !right;
    if (!right)
        printf("%s:%d: failed: %s%s\n", file, line, expression, values);
    fflush(stdout); /* should the program crash later */
    if (!right && getenv("CHECK_STOP"))
        exit(1);
    return right;
}

static inline int check_int(long long a, long long b, const char *file, int line,
                            const char *expression)
{
    char values[80];
    snprintf(values, sizeof values, ": %lld and %lld", a, b);
    return check_count(a == b, file, line, expression, values);
}

static inline int check_near(double a, double b, double tolerance, const char *file, int line,
                             const char *expression)
{
    char values[120];
    int right = (a >= b && a <= b) || (a - b <= tolerance && b - a <= tolerance);
    snprintf(values, sizeof values, ": %.17g and %.17g, tolerance %g", a, b, tolerance);
    return check_count(right, file, line, expression, values);
}

static inline int check_str(const char *a, const char *b, const char *file, int line,
                            const char *expression)
{
    char values[1000];
    snprintf(values, sizeof values, ":\n    \"%s\"\n    \"%s\"", a ? a : "(NULL)",
             b ? b : "(NULL)");
    return check_count(a && b ? !strcmp(a, b) : a == b, file, line, expression, values);
}

static inline void check_skip(const char *file, int line, const char *reason)
{
    check_skipped++;
    printf("%s:%d: skipped: %s\n", file, line, reason);
    fflush(stdout);
}

static inline int check_summary(void)
{
    printf("%d passed, %d failed, %d skipped\n", check_passed, check_failed, check_skipped);
    return check_failed != 0;
}

/* A check that says in which case it failed. */
#define CHECK_CASE(condition, ...)                                                                 \
    do {                                                                                           \
        if (!CHECK(condition)) {                                                                   \
            printf("    " __VA_ARGS__);                                                            \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

#endif

/* profiler.c - the profiler of BACKEND in gpumb.h against fake_cupti.c, by test_sensors.sh:
 *
 *     profiler absent      no library, or a broken one
 *     profiler all         the library as it is, with errors, and with a function hidden
 *     profiler NAME        this library is the only one that is there
 *
 * -DPROFILER="file": the part of gpumb.h. Libraries are looked for below $FAKE_LIBRARIES alone.
 * -DHEADER="file": also holds the declarations against CUPTI's header. C99 and C++11. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fake_cupti.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static int gpumbi_dev_profiler_attach(void); /* as gpumb.h declares them */
static void gpumbi_dev_profiler_detach(void);
static uint64_t gpumbi_dev_profiler_look(double *seconds);

static fake_cupti *cupti; /* once it is loaded */
static const char *hidden = "none";
static char tried[1000];
static long live_buffers, fail_malloc; /* of the code under test, also from threads */

static void *look_for(const char *name, int flags)
{
    char path[1000];
    fake_cupti *(*of)(void);
    snprintf(path, sizeof path, "%s/%s", getenv("FAKE_LIBRARIES"), name);
    snprintf(tried + strlen(tried), sizeof tried - strlen(tried), "%s ", name);
    void *library = dlopen(path, flags);
    void *symbol = library ? dlsym(library, "fake_cupti_of") : NULL;
    if (symbol) {
        memcpy(&of, &symbol, sizeof of);
        cupti = of();
    }
    return library;
}

static void *find(void *library, const char *name)
{
    return strcmp(name, hidden) ? dlsym(library, name) : NULL;
}

static void *count_malloc(size_t bytes)
{
    void *p = __atomic_load_n(&fail_malloc, __ATOMIC_RELAXED) ? NULL : malloc(bytes);
    __atomic_fetch_add(&live_buffers, p != NULL, __ATOMIC_RELAXED);
    return p;
}

static void count_free(void *p)
{
    __atomic_fetch_sub(&live_buffers, p != NULL, __ATOMIC_RELAXED);
    free(p);
}

#define GPUMBI_NVIDIA
#define dlopen look_for
#define dlsym find
#define malloc count_malloc
#define free count_free
#include PROFILER

enum { COPY = 1, FILL = 2, KERNEL = 3, PEER_COPY = 22 };

/* The next look; 0 records have no time. */
static void check_look(uint64_t count, double seconds, int line)
{
    double shown = -1;
    const uint64_t seen = gpumbi_dev_profiler_look(&shown);
    if (!CHECK_INT(seen, count) || !CHECK_NEAR(shown, seconds, 1e-15))
        printf("    of line %d\n", line);
}
#define LOOK(count, seconds) check_look(count, seconds, __LINE__)

/* Detached, with nothing left of it. */
static void check_detached(void)
{
    CHECK_INT(cupti->attached, cupti->detached);
    CHECK_INT(cupti->kinds, 0);
    CHECK_INT(cupti->buffers, 0);
    CHECK_INT(cupti->misuses, 0);
    CHECK_INT(live_buffers, 0);
    cupti->misuses = 0;
}

static void test_absent(void)
{
    double seconds = -1;
    for (int i = 0; i < 3; i++) {
        CHECK(gpumbi_dev_profiler_attach() != 0);
        CHECK(!cupti);
    }
    CHECK(!gpumbi_dev_profiler_look(&seconds) && seconds == 0); /* harmless */
    CHECK(strstr(tried, "libcupti.so.13 ") == tried);
    CHECK(strstr(tried, "libcupti.so.12 ") && strstr(tried, "libcupti.so "));
    CHECK(strstr(tried, "/usr/local/cuda/lib64/libcupti.so ") != NULL);
}

static void test_records(void)
{
    CHECK_INT(gpumbi_dev_profiler_attach(), 0);
    if (!CHECK(cupti != NULL))
        return;
    CHECK_INT(cupti->kinds, 1 << COPY | 1 << FILL | 1 << KERNEL | 1 << PEER_COPY);
    LOOK(0, 0);
    cupti->run(KERNEL, 1000, 3500);
    LOOK(1, 2.5e-6);
    LOOK(0, 0); /* forgotten */
    cupti->run(KERNEL, 5000, 7000);
    cupti->run(PEER_COPY, 1000, 9000); /* the first that began, and the last that ended */
    cupti->run(COPY, 2000, 3000);
    cupti->run(FILL, 3000, 3001);
    LOOK(4, 8e-6);
    const uint64_t now = UINT64_C(1790000000123456789); /* more digits than a double has */
    cupti->run(FILL, now + 100, now + 200);
    cupti->run(COPY, now + 150, now + 733);
    LOOK(2, 633e-9);
    static const uint64_t unknown[][2] = {{0, 0}, {0, 5000}, {5000, 0}, {5000, 4999}};
    for (size_t i = 0; i < 4; i++) { /* alone, and beside one that is known */
        cupti->run(KERNEL, unknown[i][0], unknown[i][1]);
        LOOK(0, 0);
        cupti->run(KERNEL, unknown[i][0], unknown[i][1]);
        cupti->run(COPY, 7000, 7000);
        cupti->run(KERNEL, unknown[i][0], unknown[i][1]);
        cupti->run(COPY, 8000, 8500);
        LOOK(2, 1.5e-6);
    }
    cupti->ask(); /* and has no use for it */
    LOOK(0, 0);
    for (size_t used = 300; used <= 600; used += 60) { /* several deliveries before a look */
        const int before = cupti->deliveries;
        cupti->used = used;
        for (uint64_t i = 0; i < 10; i++) {
            cupti->run(KERNEL, 1000 - 10 * i, 2000 + i);
            cupti->run(COPY, 1500, 1501);
        }
        LOOK(20, 1.099e-6);
        CHECK(cupti->deliveries - before > 2);
    }
    cupti->used = 0;
    __atomic_store_n(&fail_malloc, 1, __ATOMIC_RELAXED); /* no room: lost, and missed */
    cupti->run(KERNEL, 1000, 2000);
    __atomic_store_n(&fail_malloc, 0, __ATOMIC_RELAXED);
    CHECK_INT(cupti->dropped, 1);
    cupti->run(KERNEL, 3000, 4000);
    LOOK(1, 1e-6);
    cupti->run(KERNEL, 1000, 2000); /* nobody looks at it */
    gpumbi_dev_profiler_detach();
    check_detached();
}

static void test_pairs(void)
{
    for (int depth = 1; depth <= 4; depth++) {
        const int before = cupti->attached;
        for (int i = 0; i < depth; i++)
            CHECK_INT(gpumbi_dev_profiler_attach(), 0);
        CHECK_INT(cupti->attached, before + 1);
        for (int i = 0; i < depth; i++) {
            double ignored;
            CHECK_INT(cupti->detached, before);
            gpumbi_dev_profiler_look(&ignored); /* of what nobody looked at before */
            cupti->run(KERNEL, 1000, 2000);
            LOOK(1, 1e-6);
            gpumbi_dev_profiler_detach();
        }
        check_detached();
    }
}

/* No profiler: nothing of it is left, and it works once the reason has gone. */
static void check_refused(const char *why)
{
    const int refused = gpumbi_dev_profiler_attach();
    CHECK_CASE(refused, "attached, though %s fails or is missing", why);
    if (!refused)
        gpumbi_dev_profiler_detach();
    CHECK_CASE(cupti->attached == cupti->detached && !cupti->misuses,
               "%s fails or is missing: attached %d times, detached %d times", why, cupti->attached,
               cupti->detached);
    cupti->attached = cupti->detached = cupti->misuses = 0; /* once is enough */
    check_detached();
}

static void test_errors(void)
{
    static const int kinds[] = {COPY, FILL, KERNEL, PEER_COPY};
    for (int i = 0; i < 4; i++) {
        cupti->refused_kind = kinds[i];
        check_refused("a kind");
        cupti->refused_kind = 0;
        test_pairs();
    }
    cupti->fails = "RegisterCallbacks";
    check_refused(cupti->fails);
    cupti->fails = "Enable";
    check_refused(cupti->fails);
    cupti->fails = NULL;
    static const char *const later[] = {"FlushAll",
                                        "GetNextRecord"}; /* seen by nobody, but given */
    for (int i = 0; i < 2; i++) {
        CHECK_INT(gpumbi_dev_profiler_attach(), 0);
        cupti->fails = later[i];
        cupti->run(KERNEL, 1000, 2000);
        LOOK(0, 0);
        gpumbi_dev_profiler_detach();
        check_detached();
        cupti->fails = NULL;
        test_pairs();
    }
    cupti->fails = "Finalize";
    test_pairs();
    cupti->fails = NULL;
}

static void test_hidden(void)
{
    static const char *const name[] = {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
                                       "cuptiActivityFlushAll", "cuptiActivityGetNextRecord",
                                       "cuptiFinalize"};
    for (int i = 0; i < 5; i++) {
        memset(&gpumbi_profiler, 0, sizeof gpumbi_profiler); /* as in a new process */
        hidden = name[i];
        check_refused(hidden);
        check_refused(hidden); /* once more */
    }
    hidden = "none";
    memset(&gpumbi_profiler, 0, sizeof gpumbi_profiler);
    test_pairs();
}

enum { RUNS = 20000 };

static void *run_many(void *going)
{
    for (int i = 0; i < RUNS; i++)
        cupti->run(i % 3 ? KERNEL : COPY, 1000, 2000);
    __atomic_store_n((int *)going, 0, __ATOMIC_RELEASE);
    return NULL;
}

/* Buffers come while others come and the program looks; none is lost or counted twice. */
static void test_threads(void)
{
    pthread_t thread;
    int going = 1, wrong = 0;
    uint64_t count = 0;
    double seconds;
    CHECK_INT(gpumbi_dev_profiler_attach(), 0);
    gpumbi_dev_profiler_look(&seconds);
    cupti->used = 500;
    if (!CHECK(!pthread_create(&thread, NULL, run_many, &going)))
        return;
    for (int last = 0; !last;) {
        last = !__atomic_load_n(&going, __ATOMIC_ACQUIRE);
        const uint64_t seen = gpumbi_dev_profiler_look(&seconds);
        wrong += seen ? fabs(seconds - 1e-6) > 1e-12 : seconds != 0;
        count += seen;
    }
    pthread_join(thread, NULL);
    CHECK_INT(count, RUNS);
    CHECK_INT(wrong, 0);
    cupti->used = 0;
    gpumbi_dev_profiler_detach();
    check_detached();
}

static void test_name(const char *name)
{
    CHECK_INT(gpumbi_dev_profiler_attach(), 0);
    CHECK(strlen(tried) > strlen(name) &&
          !strncmp(tried + strlen(tried) - strlen(name) - 1, name, strlen(name)));
    gpumbi_dev_profiler_detach();
    if (CHECK(cupti != NULL))
        check_detached();
}

#if defined(HEADER)
#include HEADER
#include <type_traits>

/* Arguments are passed in the same way. */
template <class R, class... A, class S, class... B> static bool fit(R (*)(A...), S (*)(B...))
{
    const bool same[] = {
        (sizeof(A) == sizeof(B) && std::is_pointer<A>::value == std::is_pointer<B>::value)...};
    bool all = std::is_void<R>::value == std::is_void<S>::value;
    for (bool one : same)
        all = all && one;
    return all;
}

static bool fit(int (*)(void), CUptiResult (*)(void))
{
    return true;
}

static void test_header(void)
{
#define FITS(member, types, symbol) CHECK(fit(gpumbi_profiler.member, FUNCTION_##member));
#define FUNCTION_attach cuptiActivityRegisterCallbacks
#define FUNCTION_enable cuptiActivityEnable
#define FUNCTION_flush cuptiActivityFlushAll
#define FUNCTION_next real_next
#define FUNCTION_detach cuptiFinalize
    CUptiResult (*real_next)(uint8_t *, size_t, CUpti_Activity **) = cuptiActivityGetNextRecord;
    GPUMBI_PROFILER_FUNCTIONS(FITS)
    CHECK(fit(gpumbi_profiler_need, (CUpti_BuffersCallbackRequestFunc)NULL));
    CHECK(fit(gpumbi_profiler_full, (CUpti_BuffersCallbackCompleteFunc)NULL));
    CHECK_INT(sizeof(CUptiResult), sizeof(int));
    CHECK_INT(CUPTI_SUCCESS, 0);
    CHECK_INT(CUPTI_ACTIVITY_KIND_MEMCPY, COPY);
    CHECK_INT(CUPTI_ACTIVITY_KIND_MEMSET, FILL);
    CHECK_INT(CUPTI_ACTIVITY_KIND_KERNEL, KERNEL);
    CHECK_INT(CUPTI_ACTIVITY_KIND_MEMCPY2, PEER_COPY);
    CHECK_INT(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, 1);
#define STAMPS(record)                                                                             \
    CHECK_INT(offsetof(record, start), 16);                                                        \
    CHECK_INT(offsetof(record, end), 24);                                                          \
    CHECK_INT(sizeof(((record *)NULL)->end), 8);
    STAMPS_OF_ALL
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "absent";
    if (!strcmp(what, "absent")) {
        test_absent();
    } else if (!strcmp(what, "all")) {
        test_records();
        if (cupti) {
            test_pairs();
            test_errors();
            test_threads();
            test_hidden();
        }
    } else {
        test_name(what);
    }
#if defined(HEADER)
    test_header();
#endif
    return CHECK_SUMMARY();
}

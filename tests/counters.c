/* counters.c - the hardware counters of BACKEND in gpumb.h against fake_cupti.c, by
 * test_sensors.sh:
 *
 *     counters absent     no library, or a broken one
 *     counters all        the library as it is, with errors, and with each function hidden
 *     counters names      the vendor's own: whether its chips have what the names stand for
 *
 * -DPROFILER="file": the part of gpumb.h. Libraries are looked for below $FAKE_LIBRARIES alone.
 * -DHEADERS: also holds the declarations against CUPTI's headers. C99 and C++11. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fake_cupti.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

typedef struct gpumbi_counting { /* as gpumb.h declares them */
    const char *name[16];
    double value[16];
    int names;
    char why[200];
} gpumbi_counting;
static int gpumbi_dev_counters_open(gpumbi_counting *c, int ordinal);
static int gpumbi_dev_profiler_attach(void);
static void gpumbi_dev_profiler_detach(void);
static void gpumbi_dev_counters_start(void);
static int gpumbi_dev_counters_stop(gpumbi_counting *c);
static void gpumbi_dev_counters_close(void);
#define gpumbi_format snprintf
#define gpumbi_say printf

static fake_cupti *cupti; /* once it is loaded */
static const char *hidden = "none";
static char tried[1000];
static long live, fail_calloc; /* allocations of the code under test */
static int real;               /* the vendor's library */

static void *look_for(const char *name, int flags)
{
    char path[1000];
    fake_cupti *(*of)(void);
    snprintf(path, sizeof path, "%s/%s", getenv("FAKE_LIBRARIES"), name);
    snprintf(tried + strlen(tried), sizeof tried - strlen(tried), "%s ", name);
    void *library = dlopen(real ? name : path, flags);
    void *symbol = library && !real ? dlsym(library, "fake_cupti_of") : NULL;
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

static void *count_calloc(size_t count, size_t bytes)
{
    void *p = fail_calloc && !--fail_calloc ? NULL : calloc(count, bytes);
    live += p != NULL;
    return p;
}

static void count_free(void *p)
{
    live -= p != NULL;
    free(p);
}

#define GPUMBI_NVIDIA
#define dlopen look_for
#define dlsym find
#define calloc count_calloc
#define free count_free
#include PROFILER

/* Opened for these names, which end with NULL. */
static int open_for(gpumbi_counting *c, const char *const *name)
{
    memset(c, 0, sizeof *c);
    while (name[c->names]) {
        c->name[c->names] = name[c->names];
        c->names++;
    }
    return gpumbi_dev_counters_open(c, 3);
}

/* Nothing is left. */
static void check_closed(const char *when)
{
    CHECK_CASE(!live && !cupti->range && !cupti->hosts && !cupti->misuses && !cupti->bad,
               "%s: %ld allocations, range %d, hosts %d, misuses %d, after an error %d", when, live,
               cupti->range, cupti->hosts, cupti->misuses, cupti->bad);
    CHECK_INT(cupti->attached, cupti->detached);
    live = cupti->range = cupti->hosts = cupti->misuses = cupti->bad = 0; /* once is enough */
    cupti->detached = cupti->attached;
}

static int pass(gpumbi_counting *c, double work)
{
    gpumbi_dev_counters_start();
    cupti->failed |= gpumbi_counters.error != 0; /* also by what is hidden */
    cupti->count(work);
    return gpumbi_dev_counters_stop(c);
}

static void test_absent(void)
{
    static const char *const names[] = {"instructions", NULL};
    gpumbi_counting c;
    for (int i = 0; i < 2; i++) {
        CHECK(!open_for(&c, names));
        CHECK(!cupti);
        CHECK(strstr(c.why, "CUDA 12.6 Update 2") != NULL);
    }
    CHECK(strstr(tried, "libnvperf_host.so ") == tried);
    CHECK(strstr(tried, "/usr/local/cuda/extras/CUPTI/lib64/libnvperf_host.so ") != NULL);
    CHECK(strstr(tried, "libcupti.so.13 ") != NULL);
    gpumbi_dev_counters_close(); /* harmless */
}

static void test_values(void)
{
    static const char *const names[] = {
        "own.sum",          "nonsense",     "l1_hit_rate", "dram_read_bytes",
        "dram_write_bytes", "instructions", "own.sum",     NULL};
    gpumbi_counting c;
    for (size_t passes = 1; passes <= 3; passes++)
        for (int row = 0; row < 3; row++) {
            if (!CHECK(open_for(&c, names)))
                return;
            cupti->passes = passes;
            CHECK(strstr(c.why, "FAKE has no counter instructions") != NULL);
            for (size_t i = 1; i < passes; i++)
                CHECK_INT(pass(&c, 7), 1);
            cupti->count(1e9); /* between two passes: nobody's */
            CHECK_INT(pass(&c, row + 2), 0);
            static const double expected[] = {1000, 0, 1, 1, 10, 0, 1000};
            for (int i = 0; i < 7; i++)
                if (expected[i] > 0)
                    CHECK_NEAR(c.value[i], (row + 2) * expected[i], 1e-9);
                else
                    CHECK(isnan(c.value[i]));
            gpumbi_dev_counters_close();
            check_closed("a row");
            CHECK_INT(cupti->chips, 1);
        }
    cupti->passes = 1;
    static const char *const none[] = {"nonsense", "", NULL};
    CHECK(!open_for(&c, none)); /* not even asked for */
    CHECK(strstr(c.why, "FAKE has no counter") != NULL);
    check_closed("nothing that it has");
}

static const char *const few[] = {"dram_read_bytes", "own.sum", NULL};

static void check_works(const char *when)
{
    gpumbi_counting c;
    const int opened = open_for(&c, few);
    CHECK_CASE(opened, "%s: %s", when, c.why);
    if (opened) {
        CHECK_INT(pass(&c, 5), 0);
        CHECK_NEAR(c.value[1], 5000, 1e-9);
        CHECK_STR(c.why, "");
        gpumbi_dev_counters_close();
    }
    check_closed(when);
}

/* A function that fails or is not there: NaN with a reason, or no counters with one. */
static void check_refused(const char *what, const char *why)
{
    gpumbi_counting c;
    gpumbi_counters.chip_name[0] = 0; /* it is asked for once */
    const int opened = open_for(&c, few);
    if (opened) {
        CHECK_INT(pass(&c, 5), 0);
        CHECK(isnan(c.value[0]) && isnan(c.value[1]));
        gpumbi_dev_counters_close();
    }
    CHECK_CASE(strstr(c.why, why) != NULL, "%s: no '%s' in '%s'", what, why, c.why);
    if (!strcmp(hidden, "cuptiProfilerInitialize")) { /* never attached: the end is harmless */
        cupti->misuses = 0;
        cupti->detached = cupti->attached;
    }
    check_closed(what);
    cupti->range = cupti->hosts = 0;
    CHECK_INT(live, 0);
}

static void test_errors(void)
{
    static const struct {
        int error;
        const char *why;
    } errors[] = {{1, " returns 1"},
                  {35, "NVreg_RestrictProfilingToAdminUsers=0"},
                  {40, "root"},
                  {39, "another profiler"},
                  {26, "another profiler"},
                  {15, " returns 15"},
                  {999, " returns 999"}};
    for (int i = 0; i < GPUMBI_COUNTER_COUNT; i++) {
        const char *name = gpumbi_counter_symbol[i].name;
        if (strstr(name, "Disable") || strstr(name, "Deinitialize"))
            continue; /* nothing is to be done about it */
        for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
            if (!i && errors[k].error == 15)
                continue; /* is no error there */
            cupti->fails = name;
            cupti->error = errors[k].error;
            check_refused(name, strstr(name, "AddMetrics") ? "has no counter" : errors[k].why);
            cupti->fails = NULL;
            cupti->error = 0;
            check_works(name);
        }
    }
    for (long at = 1; at <= 2; at++) {
        fail_calloc = at;
        check_refused("no memory", " returns 8");
    }
    fail_calloc = 0;
    cupti->no_context = 1;
    check_refused("no context", "cuCtxGetCurrent");
    cupti->no_context = 0;
    check_works("a context");
    for (int i = 0; i < GPUMBI_COUNTER_COUNT; i++) { /* as in a new process */
        hidden = gpumbi_counter_symbol[i].name;
        memset(&gpumbi_counters, 0, sizeof gpumbi_counters);
        if (strstr(hidden, "Disable") || strstr(hidden, "Deinitialize"))
            continue;
        check_refused(hidden, strstr(hidden, "AddMetrics") ? "has no counter" : "12.6 Update 2");
        cupti->range = cupti->hosts = 0;
    }
    hidden = "none";
    memset(&gpumbi_counters, 0, sizeof gpumbi_counters);
    check_works("after all");
}

/* A process has either time stamps or counters. */
static void test_between(void)
{
    gpumbi_counting c;
    for (int i = 0; i < 3; i++) {
        CHECK(gpumbi_dev_profiler_attach() != 0);
        check_works("no time stamps");
    }
    memset(&gpumbi_profiler, 0, sizeof gpumbi_profiler); /* as in a new process */
    CHECK_INT(gpumbi_dev_profiler_attach(), 0);
    for (int attached = 1; attached >= 0; attached--) {
        CHECK(!open_for(&c, few));
        CHECK(strstr(c.why, "the profiler has timed a region") != NULL);
        CHECK((cupti->kinds != 0) == attached);
        if (attached)
            gpumbi_dev_profiler_detach();
    }
    check_closed("time stamps");
}

/* Without a device: the host's side knows all chips. */
static void test_names(void)
{
    static const char *const chip[] = {"GV100", "TU102", "GA100", "GA102",
                                       "AD102", "GH100", "GB100", "GB202"};
    struct gpumbi_counters *const k = &gpumbi_counters;
    real = 1;
    if (!gpumbi_load(k, gpumbi_profiler_library, gpumbi_counter_symbol) || !k->host.head.call) {
        SKIP("no libcupti.so of CUDA 12.6 Update 2 or later");
        return;
    }
    for (size_t i = 0; i < sizeof chip / sizeof chip[0]; i++) {
        gpumbi_counting c;
        memset(&c, 0, sizeof c);
        k->host.chip = chip[i];
        for (size_t n = 0; n < sizeof gpumbi_counter_names / sizeof gpumbi_counter_names[0]; n++) {
            k->error = k->counts = 0;
            c.name[0] = gpumbi_counter_names[n].name;
            gpumbi_counters_find(&c, 0);
            CHECK_CASE(k->counts == 1 && !k->error, "%s: %s, error %d", chip[i], c.name[0],
                       k->error);
        }
        c.name[0] = "nonsense.sum";
        k->error = k->counts = 0;
        gpumbi_counters_find(&c, 0);
        CHECK(!k->counts && !k->error);
    }
}

#if defined(HEADERS)
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

static void test_headers(void)
{
#define AT(member, field)                                                                          \
    ((char *)&gpumbi_counters.member.field - (char *)&gpumbi_counters.member.head.bytes)
#define SIZE(member, type)                                                                         \
    CHECK_INT(gpumbi_counter_about[GPUMBI_COUNTER_##member].bytes, type##_Params_STRUCT_SIZE);     \
    CHECK_INT(AT(member, head.bytes), offsetof(type##_Params, structSize));                        \
    CHECK_INT(AT(member, head.priv), offsetof(type##_Params, pPriv))
#define FIELD(member, field, type, real_field)                                                     \
    CHECK_INT(AT(member, field), offsetof(type##_Params, real_field));                             \
    CHECK_INT(sizeof gpumbi_counters.member.field, sizeof(((type##_Params *)0)->real_field))
    SIZE(initialize, CUpti_Profiler_Initialize);
    SIZE(chip, CUpti_Device_GetChipName);
    FIELD(chip, head.object, CUpti_Device_GetChipName, deviceIndex);
    FIELD(chip, name, CUpti_Device_GetChipName, pChipName);
    SIZE(host, CUpti_Profiler_Host_Initialize);
    CHECK_INT(AT(host, head.object), offsetof(CUpti_Profiler_Host_Initialize_Params, profilerType));
    CHECK_INT(CUPTI_PROFILER_TYPE_RANGE_PROFILER, 0);
    FIELD(host, chip, CUpti_Profiler_Host_Initialize, pChipName);
    FIELD(host, available, CUpti_Profiler_Host_Initialize, pCounterAvailabilityImage);
    FIELD(host, made, CUpti_Profiler_Host_Initialize, pHostObject);
    SIZE(add, CUpti_Profiler_Host_ConfigAddMetrics);
    FIELD(add, head.object, CUpti_Profiler_Host_ConfigAddMetrics, pHostObject);
    FIELD(add, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
    FIELD(add, count, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics);
    SIZE(room, CUpti_Profiler_Host_GetConfigImageSize);
    FIELD(room, head.object, CUpti_Profiler_Host_GetConfigImageSize, pHostObject);
    FIELD(room, bytes, CUpti_Profiler_Host_GetConfigImageSize, configImageSize);
    SIZE(config, CUpti_Profiler_Host_GetConfigImage);
    FIELD(config, head.object, CUpti_Profiler_Host_GetConfigImage, pHostObject);
    FIELD(config, bytes, CUpti_Profiler_Host_GetConfigImage, configImageSize);
    FIELD(config, image, CUpti_Profiler_Host_GetConfigImage, pConfigImage);
    SIZE(enable, CUpti_RangeProfiler_Enable);
    FIELD(enable, head.object, CUpti_RangeProfiler_Enable, ctx);
    FIELD(enable, made, CUpti_RangeProfiler_Enable, pRangeProfilerObject);
    SIZE(data_room, CUpti_RangeProfiler_GetCounterDataSize);
    FIELD(data_room, head.object, CUpti_RangeProfiler_GetCounterDataSize, pRangeProfilerObject);
    FIELD(data_room, names, CUpti_RangeProfiler_GetCounterDataSize, pMetricNames);
    FIELD(data_room, count, CUpti_RangeProfiler_GetCounterDataSize, numMetrics);
    FIELD(data_room, ranges, CUpti_RangeProfiler_GetCounterDataSize, maxNumOfRanges);
    FIELD(data_room, nodes, CUpti_RangeProfiler_GetCounterDataSize, maxNumRangeTreeNodes);
    FIELD(data_room, bytes, CUpti_RangeProfiler_GetCounterDataSize, counterDataSize);
    CHECK_INT(gpumbi_counter_about[GPUMBI_COUNTER_data].bytes,
              CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    CHECK_INT(
        AT(data, head.object),
        offsetof(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pRangeProfilerObject));
    CHECK_INT(AT(data, bytes),
              offsetof(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize));
    CHECK_INT(AT(data, image),
              offsetof(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData));
    SIZE(set, CUpti_RangeProfiler_SetConfig);
    FIELD(set, head.object, CUpti_RangeProfiler_SetConfig, pRangeProfilerObject);
    FIELD(set, config_bytes, CUpti_RangeProfiler_SetConfig, configSize);
    FIELD(set, config, CUpti_RangeProfiler_SetConfig, pConfig);
    FIELD(set, data_bytes, CUpti_RangeProfiler_SetConfig, counterDataImageSize);
    FIELD(set, data, CUpti_RangeProfiler_SetConfig, pCounterDataImage);
    FIELD(set, range, CUpti_RangeProfiler_SetConfig, range);
    FIELD(set, replay, CUpti_RangeProfiler_SetConfig, replayMode);
    FIELD(set, ranges, CUpti_RangeProfiler_SetConfig, maxRangesPerPass);
    FIELD(set, levels, CUpti_RangeProfiler_SetConfig, numNestingLevels);
    FIELD(set, least, CUpti_RangeProfiler_SetConfig, minNestingLevel);
    FIELD(set, pass, CUpti_RangeProfiler_SetConfig, passIndex);
    FIELD(set, level, CUpti_RangeProfiler_SetConfig, targetNestingLevel);
    CHECK_INT(CUPTI_UserRange, 2); /* as fake_cupti.c has them */
    CHECK_INT(CUPTI_UserReplay, 3);
    SIZE(start, CUpti_RangeProfiler_Start);
    FIELD(start, head.object, CUpti_RangeProfiler_Start, pRangeProfilerObject);
    SIZE(push, CUpti_RangeProfiler_PushRange);
    FIELD(push, head.object, CUpti_RangeProfiler_PushRange, pRangeProfilerObject);
    FIELD(push, name, CUpti_RangeProfiler_PushRange, pRangeName);
    SIZE(pop, CUpti_RangeProfiler_PopRange);
    FIELD(pop, head.object, CUpti_RangeProfiler_PopRange, pRangeProfilerObject);
    SIZE(stop, CUpti_RangeProfiler_Stop);
    FIELD(stop, head.object, CUpti_RangeProfiler_Stop, pRangeProfilerObject);
    FIELD(stop, pass, CUpti_RangeProfiler_Stop, passIndex);
    FIELD(stop, all, CUpti_RangeProfiler_Stop, isAllPassSubmitted);
    SIZE(decode, CUpti_RangeProfiler_DecodeData);
    FIELD(decode, head.object, CUpti_RangeProfiler_DecodeData, pRangeProfilerObject);
    FIELD(decode, dropped, CUpti_RangeProfiler_DecodeData, numOfRangeDropped);
    SIZE(evaluate, CUpti_Profiler_Host_EvaluateToGpuValues);
    FIELD(evaluate, head.object, CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject);
    FIELD(evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
    FIELD(evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
    FIELD(evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
    FIELD(evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
    FIELD(evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics);
    FIELD(evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues);
    SIZE(disable, CUpti_RangeProfiler_Disable);
    FIELD(disable, head.object, CUpti_RangeProfiler_Disable, pRangeProfilerObject);
    SIZE(end, CUpti_Profiler_Host_Deinitialize);
    FIELD(end, head.object, CUpti_Profiler_Host_Deinitialize, pHostObject);
    CHECK_INT(CUPTI_ERROR_OUT_OF_MEMORY, 8);
    CHECK_INT(CUPTI_ERROR_HARDWARE_BUSY, 26);
    CHECK_INT(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35);
    CHECK_INT(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39);
    CHECK_INT(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40);
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "absent";
    if (!strcmp(what, "absent")) {
        test_absent();
    } else if (!strcmp(what, "all")) {
        test_values();
        if (cupti) {
            test_errors();
            test_between();
        }
    } else {
        test_names();
    }
#if defined(HEADERS)
    test_headers();
#endif
    return CHECK_SUMMARY();
}

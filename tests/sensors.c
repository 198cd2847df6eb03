/* sensors.c - the sensors of BACKEND in gpumb.h against fake_nvml.c or fake_rsmi.c, by
 * test_sensors.sh:
 *
 *     sensors absent          without a library: all is unknown
 *     sensors all             every figure
 *     sensors without NAME    this function is missing or fails: its figures alone are unknown
 *     sensors library         exit code 0 if a library of that name can be opened
 *
 * -DSENSORS="file": the part of gpumb.h that GPUs have, and -DHIP: as HIP compiles it; without
 * SENSORS, the CPU's. -DHEADERS="file": also holds the declarations against the vendor's header.
 * C99 and C++11. */
#define GPUMB_BACKEND_CPU
#define GPUMB_IMPLEMENTATION
#define GPUMB_NO_KERNELS
#if defined(SENSORS)
#define GPUMB_BACKEND_FAKE
#endif
#include "gpumb.h"

#include "check.h"

#if defined(SENSORS)
/* Everything is the fake's but the sensors. */
#define gpumbi_dev_sensors_open fake_sensors_open
#define gpumbi_dev_sensors_close fake_sensors_close
#define gpumbi_dev_state fake_dev_state
#define gpumbi_dev_power fake_dev_power
#define gpumbi_dev_link fake_dev_link
#define gpumbi_dev_bus_id fake_dev_bus_id
#include "fake.h"
#undef gpumbi_dev_sensors_open
#undef gpumbi_dev_sensors_close
#undef gpumbi_dev_state
#undef gpumbi_dev_power
#undef gpumbi_dev_link
#undef gpumbi_dev_bus_id

#if defined(_WIN32)
#define dlopen(name, flags) GetModuleHandleA("nvml.dll")
#define setenv(name, value, over) _putenv_s(name, *(value) ? value : " ") /* none is empty */
#define unsetenv(name) _putenv_s(name, "")
#else
#include <dlfcn.h>
#endif
#if defined(HIP)
#define GPUMB_BACKEND_HIP
#define GPUMBI_RT(name) hip##name
#define BUS "0000:c3:00.0"
#else
#define GPUMBI_NVIDIA
#define GPUMBI_RT(name) cuda##name
#define BUS "0000:3B:00.0"
#endif

static int GPUMBI_RT(GetLastError)(void)
{
    return 0;
}

static int GPUMBI_RT(DeviceGetPCIBusId)(char *id, int size, int ordinal)
{
    snprintf(id, (size_t)size, "%s", getenv("FAKE_ASKED") ? getenv("FAKE_ASKED") : BUS);
    return ordinal ? 101 : 0;
}

#include SENSORS
#endif

#if defined(SENSORS)
static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}
#endif

typedef struct all {
    gpumbi_state state;
    double power_w;
    gpumb_device device;
} all;

static all once(void)
{
    all a;
    void *sensors = gpumbi_dev_sensors_open(0);
    memset(&a.device, 0, sizeof a.device);
    gpumbi_dev_link(sensors, &a.device);
    gpumbi_dev_state(sensors, &a.state);
    a.power_w = gpumbi_dev_power(sensors);
    gpumbi_dev_sensors_close(sensors);
    return a;
}

static int is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

static int blank(const all *a)
{
    const gpumbi_state *s = &a->state;
    return s->sm_clock_hz == 0 && s->memory_clock_hz == 0 && a->power_w == 0 &&
           !a->device.link[0] && a->device.link_bytes_per_s == 0 && s->temperature_c == 0 &&
           s->throttle == -1 && s->others == -1;
}

static void test_energy(void)
{
    CHECK(is_near(gpumbi_energy_per_run(600, 3000, 0.5e-3, 1.6), 0.2));
    CHECK(gpumbi_energy_per_run(600, 3000, 0.5e-3, 1.7) == 0); /* idle for 12 % */
    CHECK(gpumbi_energy_per_run(0, 3000, 0.5e-3, 1.6) == 0);
    CHECK(gpumbi_energy_per_run(-1, 3000, 0.5e-3, 1.6) == 0);
    CHECK(gpumbi_energy_per_run(600, 0, 0.5e-3, 1.6) == 0);

    /* A sensor like that of an H200: its reading is the mean of the last whole 100 ms. 100 W up to
     * second 7, then 400 W; samples of 1 ms. */
    for (double s = 0.05; s < 0.5; s += 0.05) {
        gpumbi_power p = {0, 0, 0};
        uint64_t samples = 0;
        for (double now = 7.0; now < 7.0 + s; now += 1e-3, samples++)
            if (gpumbi_power_due(&p, 7.0, now))
                gpumbi_power_add(&p, now, now < 7.142 ? (now < 7.042 ? 100 : 226) : 400);
        CHECK(s < 0.2 ? !p.count : is_near(p.sum_w, 400 * (double)p.count));
        CHECK(p.count <= samples / 20 + 1);
        CHECK(s < 0.21 || p.count);
    }
    gpumbi_power p = {0, 0, 0};
    gpumbi_power_add(&p, 1, 0); /* unknown */
    CHECK(!p.count && !gpumbi_power_due(&p, 0, 1.01) && gpumbi_power_due(&p, 0, 1.03));
}

static void test_absent(void)
{
    const all a = once();
    CHECK(blank(&a));
    CHECK(gpumbi_dev_sensors_open(0) == NULL);
    CHECK(gpumbi_dev_power(NULL) == 0);
    gpumbi_dev_sensors_close(NULL);
#if !defined(SENSORS)
    double seconds = -1; /* nor a profiler */
    CHECK(gpumbi_dev_profiler_attach() != 0);
    CHECK(!gpumbi_dev_profiler_look(&seconds) && seconds == 0);
    gpumbi_dev_profiler_detach();
#endif
}

#if defined(SENSORS)

#if defined(GPUMBI_NVIDIA)
#define LIBRARY "libnvidia-ml.so.1"
#else
#define LIBRARY "librocm_smi64.so.7"
#endif

/* How often the library has been opened and not closed. */
static int still_open(void)
{
    int (*opened)(void) = NULL;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        gpumbi_library_find(library, "fake_opened", &opened);
    return opened ? opened() : -1;
}

/* One function is missing or fails: exactly its own figures are unknown. */
static void test_without(const char *name)
{
    set("FAKE_F186", "412345");
    all a = once();
    gpumbi_state s = a.state;
    const int is_init = strstr(name, "nit") != NULL;
    const int is_find = strstr(name, "Handle") || strstr(name, "monitor") || strstr(name, "pci_id");
    if (is_init || is_find) {
        CHECK(blank(&a));
    } else {
        const int clock = strstr(name, "Clock") && strstr(name, "Info");
        CHECK((s.sm_clock_hz == 0) == (clock || strstr(name, "clk")));
        CHECK((s.memory_clock_hz == 0) == (clock || strstr(name, "clk")));
        CHECK((s.temperature_c == 0) == (strstr(name, "emp") != NULL));
        const int link = strstr(name, "Pcie") || strstr(name, "pci_bandwidth");
        CHECK((a.device.link_bytes_per_s == 0) == link && (!a.device.link[0]) == link);
#if defined(GPUMBI_NVIDIA)
        CHECK((a.power_w == 0) == (strstr(name, "FieldValues") != NULL));
        CHECK(s.throttle == (strstr(name, "Reasons") && getenv("FAKE_FAIL") ? -1 : 0));
        CHECK((s.others == -1) == (strstr(name, "Processes") && getenv("FAKE_FAIL")));
#else
        CHECK(a.power_w > 0); /* each has a substitute */
        CHECK(s.throttle == -1);
        /* alone in the list, it need not ask for the devices of others */
        CHECK((s.others == -1) == (strstr(name, "process_info") ||
                                   (strstr(name, "process_gpus") && !getenv("FAKE_FAIL"))));
#endif
    }
    if (!strstr(name, "hut") && !is_init)
        CHECK(still_open() == 0);
}

static void test_common(void)
{
    gpumbi_state state;
    CHECK(gpumbi_dev_sensors_open(1) == NULL); /* the runtime does not know it */
    set("FAKE_ASKED", "0000:99:00.0");
    CHECK(gpumbi_dev_sensors_open(0) == NULL); /* the library does not know it */
    set("FAKE_ASKED", "nonsense");
    CHECK(gpumbi_dev_sensors_open(0) == NULL);
    set("FAKE_ASKED", NULL);
    CHECK(still_open() == 0);
    void *a = gpumbi_dev_sensors_open(0), *b = gpumbi_dev_sensors_open(0); /* two contexts */
    CHECK(a && b && a != b && still_open() == 2);
    gpumbi_dev_sensors_close(a);
    gpumbi_dev_state(b, &state);
    CHECK(state.sm_clock_hz > 0);
    gpumbi_dev_sensors_close(b);
    CHECK(still_open() == 0);
}

static int link_is(const char *name, double gbps)
{
    const all a = once();
    return !strcmp(a.device.link, name) && is_near(a.device.link_bytes_per_s, gbps * 1e9);
}

#if defined(GPUMBI_NVIDIA)

/* PCIe x16, each way, as the PCI-SIG's table of raw rates and codings has it. */
static void test_link(void)
{
    static const double x16[] = {4, 8, 15.753846, 31.507692, 63.015385, 121, 242};
    char generation[16], name[64], lanes[16];
    for (int i = 1; i <= 7; i++)
        for (int width = 1; width <= 16; width *= 2) {
            snprintf(generation, sizeof generation, "%d", i);
            snprintf(lanes, sizeof lanes, "%d", width);
            snprintf(name, sizeof name, "PCIe %d.0 x%d", i, width);
            set("FAKE_GENERATION", generation);
            set("FAKE_LANES", lanes);
            CHECK(link_is(name, x16[i - 1] * width / 16));
        }
    set("FAKE_GENERATION", "8"); /* of the future: unknown */
    CHECK(link_is("", 0));
    set("FAKE_GENERATION", "0");
    CHECK(link_is("", 0));
    set("FAKE_GENERATION", NULL);
    set("FAKE_LANES", "0");
    CHECK(link_is("", 0));
    set("FAKE_LANES", NULL);

    /* NVLink-C2C of a GH200: 10 links, of which two are down */
    set("FAKE_F170", "10");
    CHECK(link_is("PCIe 5.0 x16", 63.015385)); /* no link's state is known */
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, i ? "FAKE_F171_%d" : "FAKE_F171", i);
        set(name, i == 3 || i == 9 ? "0" : "1");
        snprintf(name, sizeof name, i ? "FAKE_F172_%d" : "FAKE_F172", i);
        set(name, "44712");
    }
    CHECK(link_is("NVLink-C2C", 8 * 44.712));
    set("FAKE_FAIL", "nvmlDeviceGetMaxPcieLinkWidth");
    CHECK(link_is("NVLink-C2C", 8 * 44.712));
    set("FAKE_FAIL", "nvmlDeviceGetFieldValues");
    CHECK(link_is("PCIe 5.0 x16", 63.015385));
    set("FAKE_FAIL", NULL);
    set("FAKE_F170", "0");
    CHECK(link_is("PCIe 5.0 x16", 63.015385));
    set("FAKE_F170", NULL);
}

static void test_values(void)
{
    test_link();
    all a = once();
    gpumbi_state s = a.state;
    CHECK(is_near(s.sm_clock_hz, 1.98e9) && is_near(s.memory_clock_hz, 3.201e9));
    CHECK(is_near(s.temperature_c, 41));
    CHECK(a.power_w == 0);
    CHECK(s.throttle == 0 && s.others == 0);
    set("FAKE_F186", "412345");
    a = once();
    s = a.state;
    CHECK(is_near(a.power_w, 412.345));
    set("FAKE_MIG", "1");
    a = once();
    s = a.state;
    CHECK(a.power_w == 0 && s.others == -1 && s.sm_clock_hz > 0 && s.throttle == 0);
    set("FAKE_MIG", NULL);

    static const struct {
        const char *reasons;
        int throttle;
    } throttle[] = {{"0", 0},
                    {"1", 0},
                    {"2", 0},
                    {"0x10", 0},
                    {"0x100", 0},
                    {"0x113", 0}, /* all that is no throttling */
                    {"0x4", GPUMB_THROTTLE_POWER},
                    {"0x8", GPUMB_THROTTLE_HARDWARE},
                    {"0x20", GPUMB_THROTTLE_THERMAL},
                    {"0x40", GPUMB_THROTTLE_THERMAL | GPUMB_THROTTLE_HARDWARE},
                    {"0x80", GPUMB_THROTTLE_POWER | GPUMB_THROTTLE_HARDWARE},
                    {"0x200", GPUMB_THROTTLE_OTHER},
                    {"0x8000000000000000", GPUMB_THROTTLE_OTHER},
                    {"0xffffffffffffffff", 15}};
    for (size_t i = 0; i < sizeof throttle / sizeof throttle[0]; i++) {
        set("FAKE_REASONS", throttle[i].reasons);
        a = once();
        s = a.state;
        CHECK(s.throttle == throttle[i].throttle);
    }
    set("FAKE_REASONS", "1");

    static const char *const field[] = {"FAKE_F74", "FAKE_F75"};
    static const int bits[] = {GPUMB_THROTTLE_POWER, GPUMB_THROTTLE_THERMAL};
    for (int i = 0; i < 2; i++) { /* times that grow */
        set(field[i], "5000");
        void *sensors = gpumbi_dev_sensors_open(0);
        gpumbi_dev_state(sensors, &s);
        CHECK(s.throttle == 0);
        set(field[i], "6000");
        gpumbi_dev_state(sensors, &s);
        CHECK(s.throttle == bits[i]);
        gpumbi_dev_state(sensors, &s);
        CHECK(s.throttle == 0);
        set(field[i], "10"); /* the driver was loaded anew */
        gpumbi_dev_state(sensors, &s);
        CHECK(s.throttle == 0);
        set("FAKE_FAIL", "nvmlDeviceGetFieldValues");
        gpumbi_dev_state(sensors, &s);
        CHECK(s.throttle == 0);
        set("FAKE_FAIL", NULL);
        gpumbi_dev_sensors_close(sensors);
        set(field[i], NULL);
    }
    set("FAKE_F74", NULL); /* comes late: no baseline, no throttling */
    void *sensors = gpumbi_dev_sensors_open(0);
    set("FAKE_F74", "77");
    gpumbi_dev_state(sensors, &s);
    CHECK(s.throttle == 0);
    gpumbi_dev_sensors_close(sensors);
    set("FAKE_F74", NULL);
    set("FAKE_REASONS", NULL);

    static const struct {
        const char *pids;
        int others;
    } others[] = {{"", -1},
                  {"self", 0},
                  {"self self", 0},
                  {"9999999", 0},
                  {"9999999 9999999", 0},
                  {"self 9999999", 1},
                  {"9999999 self", 1},
                  {"9999999 self 9999999 self", 1},
                  {"9999998 9999999", 1},
                  {"1 2 3 self", 3}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        set("FAKE_PIDS", others[i].pids);
        a = once();
        s = a.state;
        CHECK(s.others == others[i].others);
    }
    char many[2048] = "self";
    for (int i = 0; i < 63; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), " %d", 100000 + i);
    set("FAKE_PIDS", many);
    a = once();
    s = a.state;
    CHECK(s.others == 63);
    strcat(many, " 200000");
    set("FAKE_PIDS", many);
    a = once();
    s = a.state;
    CHECK(s.others == 64); /* more than there is room for */
    set("FAKE_PIDS", NULL);
}

#else

/* The fastest of the levels, at whatever it is now. */
static void test_link(void)
{
    static const struct {
        const char *rates, *lanes, *name;
        double gbps;
    } table[] = {
        {"2500000000 16000000000", "1 16", "PCIe 4.0 x16", 31.507692},
        {"32000000000 2500000000", "16 16", "PCIe 5.0 x16", 63.015385},
        {"8000000000", "8", "PCIe 3.0 x8", 7.876923},
        {"5000000000", "4", "PCIe 2.0 x4", 2},
        {"2500000000", "1", "PCIe 1.0 x1", 0.25},
        {"64000000000", "16", "PCIe 6.0 x16", 121},
        {"16000000000 8000000000", "2 16", "PCIe 3.0 x16", 15.753846},
        {"16000000000", "0", "", 0},
        {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 "
         "16000000000",
         "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 16", "PCIe 4.0 x16",
         31.507692}};
    for (int layout = 5; layout <= 6; layout++)
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            set("FAKE_LAYOUT", layout == 5 ? "5" : "6");
            set("FAKE_RATES", table[i].rates);
            set("FAKE_WIDTHS", table[i].lanes);
            set("FAKE_CURRENT", "0");
            CHECK(link_is(table[i].name, table[i].gbps));
        }
    set("FAKE_CURRENT", "40"); /* makes no sense */
    CHECK(link_is("", 0));
    set("FAKE_LAYOUT", NULL);
    set("FAKE_RATES", NULL);
    set("FAKE_WIDTHS", NULL);
    set("FAKE_CURRENT", NULL);
}

static void test_values(void)
{
    test_link();
    all a = once();
    gpumbi_state s = a.state;
    CHECK(is_near(s.sm_clock_hz, 1.7e9) && is_near(s.memory_clock_hz, 0.9e9));
    CHECK(is_near(s.temperature_c, 61) && is_near(a.power_w, 450));
    CHECK(s.throttle == -1 && s.others == 0);
    set("FAKE_NO_JUNCTION", "1");
    a = once();
    s = a.state;
    CHECK(is_near(s.temperature_c, 52));
    set("FAKE_NO_JUNCTION", NULL);
    set("FAKE_FAIL", "rsmi_dev_power_get");
    a = once();
    s = a.state;
    CHECK(is_near(a.power_w, 440));
    set("FAKE_FAIL", NULL);

    static const struct {
        const char *layout, *hz, *current, *deep;
        double expected;
    } clock[] = {{"5", "500000000 1700000000", "0", "0", 5e8},
                 {"5", "500000000 1700000000", "33", "0", 0}, /* none is current */
                 {"5", "1500000000", "0", "0", 1.5e9},
                 {"5", "1500000000", "33", "0", 0},
                 {"5",
                  "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 "
                  "29 30 31 1234567890",
                  "31", "0", 1234567890},
                 {"6", "500000000 1700000000", "0", "0", 5e8},
                 {"6", "500000000 1700000000", "34", "0", 0},
                 {"6", "500000000 1700000000", "4294967295", "0", 0},
                 {"6", "1500000000", "0", "0", 1.5e9},
                 {"6", "1500000000", "0", "1", 1.5e9},
                 {"6", "78000000 500000000 2100000000", "2", "1", 2.1e9},
                 {"6", "78000000 500000000 2100000000", "0", "1", 78e6},
                 {"6",
                  "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 "
                  "29 30 31 32 1234567890",
                  "32", "0", 1234567890}};
    for (size_t i = 0; i < sizeof clock / sizeof clock[0]; i++) {
        set("FAKE_LAYOUT", clock[i].layout);
        set("FAKE_HZ", clock[i].hz);
        set("FAKE_CURRENT", clock[i].current);
        set("FAKE_DEEP", clock[i].deep);
        a = once();
        s = a.state;
        CHECK(is_near(s.sm_clock_hz, clock[i].expected));
        CHECK(is_near(s.memory_clock_hz, 0.9e9));
    }
    set("FAKE_LAYOUT", NULL);
    set("FAKE_HZ", NULL);
    set("FAKE_CURRENT", NULL);
    set("FAKE_DEEP", NULL);

    static const struct {
        const char *pids;
        int others;
    } others[] = {{"", -1},
                  {"self/1", 0},
                  {"self/0", 0},
                  {"9999999/1", 0},
                  {"9999999/0", -1},
                  {"self/1 9999999/1", 1},
                  {"self/1 9999999/0", 0},
                  {"9999998/1 9999999/1", 1}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        set("FAKE_PIDS", others[i].pids);
        a = once();
        s = a.state;
        CHECK(s.others == others[i].others);
    }
    set("FAKE_PIDS", NULL);

    set("FAKE_ID1", "0x50000c300"); /* another domain */
    CHECK(gpumbi_dev_sensors_open(0) == NULL);
    set("FAKE_ASKED", "0005:c3:00.0");
    a = once();
    s = a.state;
    CHECK(is_near(a.power_w, 450));
    set("FAKE_ID1", "0x53000c300"); /* a partition by itself */
    a = once();
    s = a.state;
    CHECK(is_near(a.power_w, 450));
    set("FAKE_ID2", "0x54000c301"); /* and another */
    a = once();
    s = a.state;
    CHECK(a.power_w == 0 && s.others == -1 && s.sm_clock_hz > 0);
    set("FAKE_ID1", NULL);
    set("FAKE_ID2", NULL);
    set("FAKE_ASKED", NULL);
}

#endif
#endif

#if defined(HEADERS)
#define SAME(a, b) CHECK((unsigned long long)(a) == (unsigned long long)(b))
#if defined(GPUMBI_NVIDIA)
#include HEADERS
static void test_headers(void)
{
    SAME(sizeof(gpumbi_nvml_field), sizeof(nvmlFieldValue_t));
    SAME(offsetof(gpumbi_nvml_field, scope), offsetof(nvmlFieldValue_t, scopeId));
    SAME(offsetof(gpumbi_nvml_field, time_us), offsetof(nvmlFieldValue_t, timestamp));
    SAME(offsetof(gpumbi_nvml_field, type), offsetof(nvmlFieldValue_t, valueType));
    SAME(offsetof(gpumbi_nvml_field, error), offsetof(nvmlFieldValue_t, nvmlReturn));
    SAME(offsetof(gpumbi_nvml_field, value), offsetof(nvmlFieldValue_t, value));
    SAME(sizeof(gpumbi_process), sizeof(nvmlProcessInfo_t));
    SAME(offsetof(gpumbi_process, bytes), offsetof(nvmlProcessInfo_t, usedGpuMemory));
    SAME(sizeof(int), sizeof(nvmlReturn_t));
    SAME(sizeof(void *), sizeof(nvmlDevice_t));
    SAME(NVML_SUCCESS, 0);
    SAME(NVML_CLOCK_SM, 1);
    SAME(NVML_CLOCK_MEM, 2);
    SAME(NVML_TEMPERATURE_GPU, 0);
    SAME(NVML_FI_DEV_POWER_INSTANT, 186);
    SAME(NVML_FI_DEV_C2C_LINK_COUNT, 170);
    SAME(NVML_FI_DEV_C2C_LINK_GET_STATUS, 171);
    SAME(NVML_FI_DEV_C2C_LINK_GET_MAX_BW, 172);
    SAME(NVML_FI_DEV_PERF_POLICY_POWER, 74);
    SAME(NVML_FI_DEV_PERF_POLICY_THERMAL, 75);
    SAME(NVML_VALUE_TYPE_UNSIGNED_INT, 1);
    SAME(nvmlClocksEventReasonSwPowerCap, 4);
    SAME(nvmlClocksThrottleReasonHwSlowdown, 8);
    SAME(nvmlClocksEventReasonSwThermalSlowdown, 0x20);
    SAME(nvmlClocksThrottleReasonHwThermalSlowdown, 0x40);
    SAME(nvmlClocksThrottleReasonHwPowerBrakeSlowdown, 0x80);
    SAME(nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonApplicationsClocksSetting |
             nvmlClocksEventReasonSyncBoost | nvmlClocksEventReasonDisplayClockSetting,
         0x113);
    /* the types of the functions, by a call that is never made */
    volatile int never = 0;
    if (never) {
        nvmlDevice_t d = NULL;
        unsigned u;
        unsigned long long ull;
        nvmlFieldValue_t field;
        nvmlProcessInfo_t process;
        nvmlInit_v2(), nvmlShutdown(), nvmlDeviceGetHandleByPciBusId_v2("", &d);
        nvmlDeviceGetMigMode(d, &u, &u), nvmlDeviceGetClockInfo(d, NVML_CLOCK_SM, &u);
        nvmlDeviceGetTemperature(d, NVML_TEMPERATURE_GPU, &u);
        nvmlDeviceGetMaxPcieLinkGeneration(d, &u), nvmlDeviceGetMaxPcieLinkWidth(d, &u);
        nvmlDeviceGetFieldValues(d, 1, &field);
        nvmlDeviceGetCurrentClocksEventReasons(d, &ull);
        nvmlDeviceGetComputeRunningProcesses_v3(d, &u, &process);
    }
}
#else
#include HEADERS
static void test_headers(void)
{
    SAME(sizeof(gpumbi_process), sizeof(rsmi_process_info_t));
    SAME(offsetof(gpumbi_process, pid), offsetof(rsmi_process_info_t, process_id));
    SAME(RSMI_CLK_TYPE_SYS, 0);
    SAME(RSMI_CLK_TYPE_MEM, 4);
    SAME(RSMI_TEMP_TYPE_EDGE, 0);
    SAME(RSMI_TEMP_TYPE_JUNCTION, 1);
    SAME(RSMI_TEMP_CURRENT, 0);
    SAME(RSMI_STATUS_SUCCESS, 0);
    SAME(sizeof(rsmi_status_t), sizeof(int));
    SAME(offsetof(rsmi_frequencies_t, num_supported), 0); /* that of ROCm 5 */
    SAME(offsetof(rsmi_frequencies_t, frequency), 8);
    CHECK(sizeof(rsmi_pcie_bandwidth_t) <= 64 * 8);
    SAME(offsetof(rsmi_pcie_bandwidth_t, lanes), sizeof(rsmi_frequencies_t));
    volatile int never = 0;
    if (never) {
        uint32_t u;
        uint64_t ull;
        int64_t ll;
        rsmi_frequencies_t table;
        rsmi_pcie_bandwidth_t link;
        rsmi_dev_pci_bandwidth_get(0, &link);
        rsmi_process_info_t process;
        rsmi_init(0), rsmi_shut_down(), rsmi_num_monitor_devices(&u);
        rsmi_dev_pci_id_get(0, &ull);
        rsmi_dev_gpu_clk_freq_get(0, RSMI_CLK_TYPE_SYS, &table);
        rsmi_dev_temp_metric_get(0, 1, RSMI_TEMP_CURRENT, &ll);
        rsmi_dev_power_ave_get(0, 0, &ull);
        rsmi_compute_process_info_get(&process, &u);
        rsmi_compute_process_gpus_get(1, &u, &u);
    }
}
#endif
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "absent";
#if defined(_WIN32)
    set("ProgramW6432", getenv("FAKE_FILES")); /* that of the environment is not heard by wine */
    set("CUDA_PATH", getenv("FAKE_FILES"));
    CHECK((gpumbi_library_open("libcupti.so") != NULL) == !strcmp(what, "all"));
#endif
    if (!strcmp(what, "absent"))
        test_absent();
#if defined(SENSORS)
    if (!strcmp(what, "library")) {
        static const char *const name[] = {GPUMBI_SENSOR_LIBRARIES};
        for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
            if (dlopen(name[i], RTLD_NOW))
                return 0;
        return 1;
    }
    if (!strcmp(what, "all")) {
        test_values();
        test_common();
    }
    if (!strcmp(what, "without"))
        test_without(argv[2]);
#endif
#if defined(HEADERS)
    test_headers();
#endif
    test_energy();
    return CHECK_SUMMARY();
}

/* fake_nvml.c - a libnvidia-ml.so.1 that says what the environment tells it. FAKE_FAIL=name,...:
 * these functions fail. test_sensors.sh builds it once more for each function with that one
 * hidden. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}
static unsigned long long number(const char *name, unsigned long long otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 0) : otherwise;
}
static int fails(const char *name)
{
    return strstr(text("FAKE_FAIL", ""), name) != NULL ? 3 : 0; /* NVML_ERROR_NOT_SUPPORTED */
}
#define FAILS                                                                                      \
    do {                                                                                           \
        if (opened <= 0)                                                                           \
            return 1;                                                                              \
        if (device != &the_device)                                                                 \
            return 2;                                                                              \
        if (fails(__func__))                                                                       \
            return 3;                                                                              \
    } while (0)

typedef struct field {
    unsigned id, scope;
    long long t, latency;
    int type, error;
    union {
        unsigned u;
        unsigned long long ull;
        double d;
    } value;
} field;
typedef struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gi, ci;
} process;

static int the_device, opened;
int fake_opened(void)
{
    return opened;
}

int nvmlInit_v2(void)
{
    if (fails(__func__))
        return 9; /* NVML_ERROR_DRIVER_NOT_LOADED */
    opened++;
    return 0;
}
int nvmlShutdown(void)
{
    return opened-- > 0 ? 0 : 1;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    if (opened <= 0 || fails(__func__))
        return 1;
    if (strcmp(id, text("FAKE_BUS", "0000:3B:00.0")))
        return 6; /* NVML_ERROR_NOT_FOUND */
    *device = &the_device;
    return 0;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    FAILS;
    *now = *later = (unsigned)number("FAKE_MIG", 0);
    return 0;
}
int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *mhz)
{
    FAILS;
    if (domain != 1 && domain != 2)
        return 2;
    *mhz = domain == 1 ? (unsigned)number("FAKE_SM", 1980) : (unsigned)number("FAKE_MEM", 3201);
    return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *generation)
{
    FAILS;
    *generation = (unsigned)number("FAKE_GENERATION", 5);
    return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *lanes)
{
    FAILS;
    *lanes = (unsigned)number("FAKE_LANES", 16);
    return 0;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *c)
{
    FAILS;
    if (sensor)
        return 2;
    *c = (unsigned)number("FAKE_TEMP", 41);
    return 0;
}
/* FAKE_F186: field 186; FAKE_F172_3: field 172 of scope 3. */
int nvmlDeviceGetFieldValues(void *device, int count, field *list)
{
    FAILS;
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, list[i].scope ? "FAKE_F%u_%u" : "FAKE_F%u", list[i].id,
                 list[i].scope);
        const char *value = getenv(name);
        list[i].error = value ? 0 : 3;
        list[i].type = list[i].id >= 170 ? 1 : 3;
        memset(&list[i].value, 0xee, sizeof list[i].value); /* what is unused stays dirty */
        if (value && list[i].type == 1)
            list[i].value.u = (unsigned)strtoul(value, NULL, 0);
        else if (value)
            list[i].value.ull = strtoull(value, NULL, 0);
    }
    return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
{
    FAILS;
    *reasons = number("FAKE_REASONS", 0);
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    FAILS;
    *reasons = number("FAKE_REASONS", 0);
    return 0;
}
/* FAKE_PIDS: numbers, or "self". */
static int processes(unsigned *count, process *list)
{
    char copy[2048];
    unsigned n = 0;
    snprintf(copy, sizeof copy, "%s", text("FAKE_PIDS", "self"));
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "), n++)
        if (n < *count && list) {
            memset(&list[n], 0xee, sizeof *list);
            list[n].pid = !strcmp(p, "self") ? (unsigned)getpid() : (unsigned)strtoul(p, NULL, 0);
        }
    const int small = n > *count;
    *count = n;
    return small ? 7 : 0; /* NVML_ERROR_INSUFFICIENT_SIZE */
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list)
{
    FAILS;
    return processes(count, list);
}
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, process *list)
{
    FAILS;
    return processes(count, list);
}

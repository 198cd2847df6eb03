/* fake_rsmi.c - a librocm_smi64.so that says what the environment tells it; see fake_nvml.c.
 * FAKE_LAYOUT=6: the frequency table of ROCm 6 and later. */
#include <stdint.h>
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
static int opened;
int fake_opened(void)
{
    return opened;
}
#define FAILS                                                                                      \
    do {                                                                                           \
        if (opened <= 0)                                                                           \
            return 8;                                                                              \
        if (strstr(text("FAKE_FAIL", ""), __func__))                                               \
            return 2; /* RSMI_STATUS_NOT_SUPPORTED */                                              \
    } while (0)
#define DEVICE                                                                                     \
    do {                                                                                           \
        if (device != number("FAKE_DEVICE", 1))                                                    \
            return 1;                                                                              \
    } while (0)

typedef struct process {
    uint32_t pid, pasid;
    uint64_t memory, sdma;
    uint32_t occupancy;
} process;
struct old {
    uint32_t levels, current;
    uint64_t hz[32];
};
struct new
{
    _Bool deep;
    uint32_t levels, current;
    uint64_t hz[33];
};

int rsmi_init(uint64_t flags)
{
    if (strstr(text("FAKE_FAIL", ""), __func__) || flags != 0x400000000000000)
        return 8;
    opened++;
    return 0;
}
int rsmi_shut_down(void)
{
    return opened-- > 0 ? 0 : 8;
}
int rsmi_num_monitor_devices(uint32_t *count)
{
    FAILS;
    *count = 3;
    return 0;
}
int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id)
{
    static const char *const names[] = {"FAKE_ID0", "FAKE_ID1", "FAKE_ID2"};
    static const uint64_t ids[] = {0x000000000300ull, 0xc300ull, 0x8300ull};
    FAILS;
    if (device > 2)
        return 1;
    *id = number(names[device], ids[device]);
    return 0;
}
enum { LINK = -1 }; /* not a domain */
/* FAKE_HZ: the levels; FAKE_CURRENT: which one; FAKE_DEEP: the first is deep sleep. */
static int frequencies(uint32_t device, int domain, void *table)
{
    char copy[512];
    uint64_t hz[33];
    uint32_t n = 0;
    DEVICE;
    if (domain != 0 && domain != 4 && domain != LINK)
        return 1;
    snprintf(copy, sizeof copy, "%s",
             domain == LINK ? text("FAKE_RATES", "2500000000 16000000000")
             : domain       ? text("FAKE_MEM", "900000000")
                            : text("FAKE_HZ", "500000000 1700000000"));
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        hz[n++] = strtoull(p, NULL, 0);
    const uint32_t current = domain > 0 ? 0 : (uint32_t)number("FAKE_CURRENT", n - 1);
    if (number("FAKE_LAYOUT", 5) == 5) {
        struct old *t = (struct old *)table;
        memset(t, 0, sizeof *t);
        t->levels = n;
        t->current = current;
        memcpy(t->hz, hz, n * sizeof *hz);
    } else {
        struct new *t = (struct new *)table;
        memset(t, 0, sizeof *t);
        t->deep = domain == 0 && number("FAKE_DEEP", 0);
        t->levels = n;
        t->current = current;
        memcpy(t->hz, hz, n * sizeof *hz);
    }
    return 0;
}
int rsmi_dev_gpu_clk_freq_get(uint32_t device, int domain, void *table)
{
    FAILS;
    return frequencies(device, domain, table);
}
/* FAKE_RATES, and FAKE_WIDTHS, of the lanes at each. */
int rsmi_dev_pci_bandwidth_get(uint32_t device, void *table)
{
    char copy[512];
    uint32_t lanes[33] = {0}, n = 0;
    const int old = number("FAKE_LAYOUT", 5) == 5;
    FAILS;
    const int error = frequencies(device, LINK, table);
    snprintf(copy, sizeof copy, "%s", text("FAKE_WIDTHS", "1 16"));
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        lanes[n++] = (uint32_t)strtoul(p, NULL, 0);
    memcpy((char *)table + (old ? sizeof(struct old) : sizeof(struct new)), lanes,
           (old ? 32 : 33) * sizeof *lanes);
    return error;
}
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t *mc)
{
    FAILS;
    DEVICE;
    if (metric || (sensor == 1 && number("FAKE_NO_JUNCTION", 0)))
        return 2;
    *mc = sensor == 1 ? 61000 : 52000;
    return 0;
}
int rsmi_dev_power_get(uint32_t device, uint64_t *uw, int *kind)
{
    FAILS;
    DEVICE;
    *uw = 450000000;
    *kind = 1;
    return 0;
}
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *uw)
{
    FAILS;
    DEVICE;
    *uw = 440000000 + sensor;
    return 0;
}
/* FAKE_PIDS: "pid/device" or "self/device". */
int rsmi_compute_process_info_get(process *list, uint32_t *count)
{
    char copy[2048];
    uint32_t n = 0;
    FAILS;
    snprintf(copy, sizeof copy, "%s", text("FAKE_PIDS", "self/1"));
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "), n++)
        if (n < *count)
            list[n].pid =
                !strncmp(p, "self", 4) ? (uint32_t)getpid() : (uint32_t)strtoul(p, NULL, 0);
    const int small = n > *count;
    *count = n;
    return small ? 12 : 0; /* RSMI_STATUS_INSUFFICIENT_SIZE */
}
int rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *list, uint32_t *count)
{
    char copy[2048];
    FAILS;
    snprintf(copy, sizeof copy, "%s", text("FAKE_PIDS", "self/1"));
    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        if ((!strncmp(p, "self", 4) ? (uint32_t)getpid() : (uint32_t)strtoul(p, NULL, 0)) == pid) {
            list[0] = (uint32_t)strtoul(strchr(p, '/') + 1, NULL, 0);
            *count = 1;
            return 0;
        }
    return 6; /* RSMI_STATUS_NOT_FOUND */
}

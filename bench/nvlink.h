/* What the driver says of the link between two devices: NVIDIA's, by NVML, which is opened when it
 * is asked for. Include it after gpumb.h. */
#ifndef BENCH_NVLINK_H
#define BENCH_NVLINK_H

#include "bench.h"
#include "devices.h"

/* Bytes a second each way, before what the line code takes; 0: unknown. `shared`: the links lead to
 * a switch, as far as is known, and carry what a device exchanges with all others. */
typedef struct link_rate {
    double bytes_per_s;
    int links, shared;
} link_rate;

#if defined(GPUMB_BACKEND_CUDA)
#include <dlfcn.h>

/* As in nvml.h, of which these are part of the interface. */
typedef struct nvml_bus {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
} nvml_bus;

typedef struct nvml_field {
    unsigned id, scope;
    long long when, took;
    unsigned type;
    int error;
    union {
        double real;
        unsigned number;
        unsigned long long large;
    } value;
} nvml_field;

typedef struct nvml_calls {
    int (*init)(void);
    int (*by_bus)(const char *, void **);
    int (*bus_of)(void *, nvml_bus *);
    int (*state)(void *, unsigned, unsigned *);
    int (*remote)(void *, unsigned, nvml_bus *);
    int (*remote_type)(void *, unsigned, unsigned *);
    int (*fields)(void *, int, nvml_field *);
} nvml_calls;

/* Links that are known to lead to a third device do not count; where the far ends are hidden, as in
 * virtual machines, all do. */
static inline link_rate ask_nvml(const nvml_calls *nvml, int device, int other)
{
    enum { LINKS_MOST = 36, SPEED_OF = 164, SPEED_OF_ALL = 90 }; /* NVML_FI_DEV_NVLINK_... */
    link_rate rate = {0, 0, 0};
    char from[32], to[32];
    void *here = NULL, *there = NULL;
    nvml_bus bus;
    memset(&bus, 0, sizeof bus);
    bus_id(device, from, sizeof from);
    bus_id(other, to, sizeof to);
    if (nvml->by_bus(from, &here) || nvml->by_bus(to, &there) || nvml->bus_of(there, &bus))
        return rate;
    for (unsigned link = 0; link < LINKS_MOST; link++) {
        enum { TO_GPU = 0 };
        unsigned active = 0, type = 0;
        nvml_bus end;
        nvml_field speed[2];
        memset(&end, 0, sizeof end);
        memset(speed, 0, sizeof speed);
        speed[0].id = SPEED_OF; /* since the H100 */
        speed[0].scope = link;
        speed[1].id = SPEED_OF_ALL;
        if (nvml->state(here, link, &active) || !active)
            continue;
        const int known = !nvml->remote_type(here, link, &type) && type == TO_GPU &&
                          !nvml->remote(here, link, &end) && end.domain != ~0u;
        const int same = end.domain == bus.domain && end.bus == bus.bus && end.device == bus.device;
        if ((known && !same) || nvml->fields(here, 2, speed))
            continue;
        const nvml_field *told = speed[0].error ? &speed[1] : &speed[0];
        rate.links++;
        rate.shared |= !known;
        rate.bytes_per_s += told->error ? 0 : 1e6 * told->value.number;
    }
    return rate;
}

/* 1: the library is there, and open until the program ends. */
static inline int open_nvml(nvml_calls *nvml)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    const struct {
        void *to;
        const char *name;
    } calls[] = {
        {&nvml->init, "nvmlInit_v2"},
        {&nvml->by_bus, "nvmlDeviceGetHandleByPciBusId_v2"},
        {&nvml->bus_of, "nvmlDeviceGetPciInfo_v3"},
        {&nvml->state, "nvmlDeviceGetNvLinkState"},
        {&nvml->remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2"},
        {&nvml->remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType"},
        {&nvml->fields, "nvmlDeviceGetFieldValues"},
    };
    for (size_t i = 0; i < COUNT(calls); i++) {
        void *at = library ? dlsym(library, calls[i].name) : NULL;
        if (!at)
            return 0;
        memcpy(calls[i].to, &at, sizeof at);
    }
    return !nvml->init();
}

/* Asked once for each pair: it takes milliseconds. */
static inline link_rate link_between(int device, int other)
{
    enum { MOST = 16 };
    static link_rate known[MOST][MOST];
    static int asked[MOST][MOST], opened;
    static nvml_calls nvml;
    if (device == other || device >= MOST || other >= MOST)
        return known[0][0]; /* unknown */
    if (!opened)
        opened = open_nvml(&nvml) ? 1 : -1;
    if (opened > 0 && !asked[device][other])
        known[device][other] = ask_nvml(&nvml, device, other);
    asked[device][other] = 1;
    return known[device][other];
}

#else

static inline link_rate link_between(int, int)
{
    const link_rate unknown = {0, 0, 0};
    return unknown;
}
#endif

#endif

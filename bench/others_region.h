// others_region.h - what others.sh puts into programs of others.
#ifndef OTHERS_REGION_H
#define OTHERS_REGION_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <string>

// Where their kernels are launched: in a region gpumb's stream, else the default stream as before.
inline cudaStream_t &others_stream()
{
    static cudaStream_t stream = nullptr;
    return stream;
}

// A name without the blanks that some are padded with.
inline std::string others_trimmed(const std::string &name)
{
    return name.substr(0, name.find_last_not_of(' ') + 1);
}

// Their own figure for a region, in seconds, and what it says. Names have no commas.
inline void others_own(const std::string &region, double seconds, const char *meaning)
{
    const char *const path = getenv("OTHERS_OWN");
    FILE *file = path ? fopen(path, "a") : nullptr;
    if (!file ||
        fprintf(file, "%s,%.9g,%s\n", others_trimmed(region).c_str(), seconds, meaning) < 0 ||
        fclose(file))
        fprintf(stderr, "others: can't write to OTHERS_OWN=%s\n", path ? path : "");
}

#ifdef OTHERS_REGION
#define GPUMB_STATIC
#define GPUMB_MODULES
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

inline gpumb *&others_context()
{
    static gpumb *g = nullptr;
    return g;
}

// Opened with the first region, on their device and behind their flags for it.
inline gpumb *others_open()
{
    if (!others_context()) {
        gpumb_settings settings = gpumb_settings_default();
        settings.csv = getenv("OTHERS_CSV");
        settings.quiet = 1;
        settings.budget_s = 0.2;
        if (cudaGetDevice(&settings.device) != cudaSuccess)
            settings.device = 0;
        others_context() = gpumb_open_settings(getenv("OTHERS_PROGRAM"), &settings);
        atexit([]() { gpumb_close(others_context()); });
    }
    return others_context();
}

// Their launches as they are, with their own check behind each (OTHERS_AS_THEY_ARE=1): what
// becomes of them where regions are captured that have not been told.
#ifndef OTHERS_THEIR_STREAM
#define OTHERS_THEIR_STREAM nullptr
#endif
#ifndef OTHERS_THEIR_CHECK
#define OTHERS_THEIR_CHECK cudaGetLastError()
#endif

inline void others_check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "its own check of errors exits: %s\n", cudaGetErrorString(error));
    exit((int)error);
}

// A region around what follows, which may be captured.
#define OTHERS_TIME(region, ...)                                                                   \
    do {                                                                                           \
        gpumb *const others_g = others_open();                                                     \
        const std::string others_region = others_trimmed(region);                                  \
        const bool others_as_they_are = getenv("OTHERS_AS_THEY_ARE") != nullptr;                   \
        gpumb_set_capturable(others_g, 1);                                                         \
        others_stream() =                                                                          \
            others_as_they_are ? OTHERS_THEIR_STREAM : (cudaStream_t)gpumb_stream(others_g);       \
        GPUMB_MEASURE(others_g, others_region.c_str()) {                                           \
            __VA_ARGS__;                                                                           \
            if (others_as_they_are)                                                                \
                others_check(OTHERS_THEIR_CHECK);                                                  \
        }                                                                                          \
        others_stream() = nullptr;                                                                 \
    } while (0)
#endif

#endif

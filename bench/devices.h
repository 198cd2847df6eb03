/* What programs for several devices need of the vendor's runtime beside vendor.h: memory, peer
 * access, copies from one device to another, timers; and loads and stores that another device sees
 * while kernels run. gpumb's context belongs to one device: its rows get times that are taken here.
 * On the CPU there is one device, or as many of the same as PRETENDED_DEVICES in the environment
 * says, for tests. Include it after gpumb.h. */
#ifndef BENCH_DEVICES_H
#define BENCH_DEVICES_H

#include "clock.h"
#include "vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the host's side ------------------------------------------------------------------------- */

#if defined(RUNTIME)

static inline int device_count(void)
{
    int count = 0;
    return RUNTIME(GetDeviceCount)(&count) == RUNTIME(Success) ? count : 0;
}

/* What follows is for this device: streams, events, launches. */
static inline void use_device(int device)
{
    (void)RUNTIME(SetDevice)(device);
}

/* What went wrong since the last call; NULL: nothing. */
static inline const char *runtime_trouble(void)
{
    const RUNTIME(Error_t) error = RUNTIME(GetLastError)();
    return error == RUNTIME(Success) ? NULL : RUNTIME(GetErrorString)(error);
}

/* Whether kernels of `device` could use the memory of `other`. */
static inline int can_reach(int device, int other)
{
    int can = 0;
    return device == other ||
           (RUNTIME(DeviceCanAccessPeer)(&can, device, other) == RUNTIME(Success) && can);
}

/* Lets them, or not; what is so already stays so. */
static inline void let_reach(int device, int other, int on)
{
    if (device == other || !can_reach(device, other))
        return;
    use_device(device);
    if (on)
        (void)RUNTIME(DeviceEnablePeerAccess)(other, 0);
    else
        (void)RUNTIME(DeviceDisablePeerAccess)(other);
    (void)RUNTIME(GetLastError)();
}

/* NULL: there is not so much. */
static inline void *memory_on(int device, uint64_t bytes)
{
    void *memory = NULL;
    use_device(device);
    return RUNTIME(Malloc)(&memory, (size_t)bytes) == RUNTIME(Success) ? memory : NULL;
}

/* The same for words that kernels of two devices use at the same time: AMD's devices want it said
 * that caches are to be kept out of it. */
static inline void *shared_memory_on(int device, uint64_t bytes)
{
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    void *memory = NULL;
    use_device(device);
    return hipExtMallocWithFlags(&memory, (size_t)bytes, hipDeviceMallocFinegrained) == hipSuccess
               ? memory
               : NULL;
#else
    return memory_on(device, bytes);
#endif
}

static inline void free_on(int device, void *memory)
{
    use_device(device);
    (void)RUNTIME(Free)(memory);
}

static inline void set_bytes(void *stream, void *memory, int value, uint64_t bytes)
{
    (void)RUNTIME(MemsetAsync)(memory, value, (size_t)bytes, (RUNTIME(Stream_t))stream);
}

static inline void copy_between(void *stream, void *to, int to_device, const void *from,
                                int from_device, uint64_t bytes)
{
    (void)RUNTIME(MemcpyPeerAsync)(to, to_device, from, from_device, (size_t)bytes,
                                   (RUNTIME(Stream_t))stream);
}

/* Between the host and a device, complete on return. */
static inline void copy_now(void *to, const void *from, uint64_t bytes)
{
    (void)RUNTIME(Memcpy)(to, from, (size_t)bytes, RUNTIME(MemcpyDefault));
}

static inline void wait_for(void *stream)
{
    (void)RUNTIME(StreamSynchronize)((RUNTIME(Stream_t))stream);
}

/* An event with a time stamp. */
static inline void *new_timer(void)
{
    RUNTIME(Event_t) event = NULL;
    (void)RUNTIME(EventCreate)(&event);
    return event;
}

static inline void record(void *timer, void *stream)
{
    (void)RUNTIME(EventRecord)((RUNTIME(Event_t))timer, (RUNTIME(Stream_t))stream);
}

/* What is on the stream from here on waits for the event. */
static inline void wait_in(void *stream, void *event)
{
    (void)RUNTIME(StreamWaitEvent)((RUNTIME(Stream_t))stream, (RUNTIME(Event_t))event, 0);
}

/* Of two timers of one device, both reached. */
static inline double seconds_between(void *first, void *last)
{
    float ms = 0;
    (void)RUNTIME(EventElapsedTime)(&ms, (RUNTIME(Event_t))first, (RUNTIME(Event_t))last);
    return 1e-3 * (double)ms;
}

static inline void bus_id(int device, char *text, int room)
{
    text[0] = 0;
    (void)RUNTIME(DeviceGetPCIBusId)(text, room, device);
}

#else

static inline int device_count(void)
{
    const char *pretended = getenv("PRETENDED_DEVICES");
    return pretended ? atoi(pretended) : 1;
}

static inline void use_device(int)
{
}

static inline const char *runtime_trouble(void)
{
    return NULL;
}

static inline int can_reach(int, int)
{
    return 1;
}

static inline void let_reach(int, int, int)
{
}

static inline void *memory_on(int, uint64_t bytes)
{
    void *memory = NULL;
    return posix_memalign(&memory, 256, (size_t)bytes) ? NULL : memory;
}

static inline void *shared_memory_on(int device, uint64_t bytes)
{
    return memory_on(device, bytes);
}

static inline void free_on(int, void *memory)
{
    free(memory);
}

static inline void set_bytes(void *, void *memory, int value, uint64_t bytes)
{
    memset(memory, value, (size_t)bytes);
}

static inline void copy_between(void *, void *to, int, const void *from, int, uint64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

static inline void copy_now(void *to, const void *from, uint64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

static inline void wait_for(void *)
{
}

static inline void *new_timer(void)
{
    return calloc(1, sizeof(double));
}

static inline void record(void *timer, void *)
{
    if (timer) /* not an event of vendor.h, which is nothing here */
        *(double *)timer = host_now();
}

static inline void wait_in(void *, void *)
{
}

static inline double seconds_between(void *first, void *last)
{
    return *(double *)last - *(double *)first;
}

static inline void bus_id(int, char *text, int)
{
    text[0] = 0;
}
#endif

static inline void free_timer(void *timer)
{
#if defined(RUNTIME)
    free_event(timer);
#else
    free(timer);
#endif
}

/* A main() for benchmarks that need two devices: where there is one, it says so in a line. */
static inline int main_for_devices(int argc, char **argv, const char *name,
                                   const gpumb_benchmark *list, size_t count)
{
    int asks = 0; /* for what needs no device */
    for (int i = 1; i < argc; i++)
        asks |= !strcmp(argv[i], "--list") || !strcmp(argv[i], "--help");
    if (asks || device_count() != 1)
        return gpumb_main(argc, argv, list, count);
    fprintf(stderr, "%s: needs two devices, and there is one: run it on a host with more\n", name);
    return GPUMB_EXIT_NO_DEVICE;
}

/* ---- the devices' side ----------------------------------------------------------------------- */

/* Words that another device writes or reads meanwhile. `ordered`: what was stored before by this
 * thread is there for whoever loads the word so, and what is loaded after is as new as it. */
template <int ordered> static __device__ inline void store_for_all(word *p, word x)
{
#if defined(GPUMB_BACKEND_CPU)
    __atomic_store_n(p, x, ordered ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    __hip_atomic_store(p, x, ordered ? __ATOMIC_RELEASE : __ATOMIC_RELAXED,
                       __HIP_MEMORY_SCOPE_SYSTEM);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    if (ordered)
        asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(p), "l"(x) : "memory");
    else
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(p), "l"(x) : "memory");
#else
    if (ordered)
        __threadfence_system();
    *(volatile word *)p = x;
#endif
}

template <int ordered> static __device__ inline word load_from_all(const word *p)
{
#if defined(GPUMB_BACKEND_CPU)
    return __atomic_load_n(p, ordered ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
#elif defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    return __hip_atomic_load(p, ordered ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED,
                             __HIP_MEMORY_SCOPE_SYSTEM);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    word x;
    if (ordered)
        asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
    else
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
    return x;
#else
    const word x = *(const volatile word *)p;
    if (ordered)
        __threadfence_system();
    return x;
#endif
}

/* So many seconds in ticks of ticks_now(). NVIDIA's timer counts ns, AMD's what the runtime says
 * from ROCm 5.3 on; most often 10 ns. */
static inline word ticks_of(double seconds)
{
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
    int device = 0, khz = 0;
#if HIP_VERSION >= 50300000
    (void)hipGetDevice(&device);
    (void)hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, device);
#endif
    (void)device;
    return (word)(seconds * (khz > 0 ? 1e3 * khz : 1e8));
#else
    return (word)(seconds * 1e9);
#endif
}

/* Keeps a stream busy, while the host launches what is to begin together. */
#if defined(RUNTIME)
static __global__ void spin(word ticks)
{
    const word began = ticks_now();
    while (ticks_now() - began < ticks) {
    }
}

static inline void hold(void *stream, double seconds)
{
    LAUNCH_ON(stream, spin, 1, 1, ticks_of(seconds));
}
#else
static inline void hold(void *, double)
{
}
#endif

#endif

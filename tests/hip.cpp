// hip.cpp - what gpumb.h makes of AMD's runtime (BACKEND), without one: compiled by hipcc for the
// host alone, and linked with the runtime below, which executes nothing, takes 20 us for a kernel,
// and answers as ROCm's sources do. tests/test_hip.sh builds it.
#define GPUMB_IMPLEMENTATION
#include "hear.h"
#include "gpumb.h"

#include "check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

// ---- the runtime ----

static const double kernel_ns = 20e3, launch_ns = 3e3;
static double now_ns = 1e9;   // of the device
static hipError_t last_error; // of this thread
static unsigned drawn = 1;

struct fake_node {
    int type; // from 0
    dim3 grid, block;
};
static std::vector<fake_node> *capture; // NULL: nothing is captured
static std::vector<fake_node> captured; // by the graph that is looked at
static bool invalid, unjoined;          // the capture, of which ...
static int damaged;                     // ... so many were

// As HIP_RETURN() of ROCm 5 and 6 does it: what succeeds takes away what has failed before.
static hipError_t answer(hipError_t error)
{
    last_error = error;
    return error;
}

// An invalid capture lets nothing happen in its stream, its end included.
static hipError_t takes(int type, double ns, dim3 grid = dim3(), dim3 block = dim3())
{
    if (invalid)
        return answer(hipErrorStreamCaptureInvalidated);
    const fake_node node = {type, grid, block};
    if (capture)
        capture->push_back(node);
    else
        now_ns += ns;
    return answer(hipSuccess);
}

extern "C" {

void **__hipRegisterFatBinary(const void *)
{
    return nullptr;
}

void __hipUnregisterFatBinary(void **)
{
}

void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *,
                           void *, void *, int *)
{
}

hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *)
{
    return hipSuccess;
}

hipError_t hipGetLastError(void)
{
    const hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

const char *hipGetErrorString(hipError_t error)
{
    return error == hipErrorLaunchFailure ? "unspecified launch failure" : "an error";
}

hipError_t hipGetDeviceCount(int *count)
{
    *count = 1;
    return answer(hipSuccess);
}

hipError_t hipGetDevice(int *ordinal)
{
    *ordinal = 0;
    return answer(hipSuccess);
}

hipError_t hipSetDevice(int)
{
    return answer(hipSuccess);
}

// A MI300X.
hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "AMD Instinct MI300X");
    strcpy(p->gcnArchName, "gfx942:sramecc+:xnack-");
    p->multiProcessorCount = 304;
    p->warpSize = 64;
    p->maxThreadsPerBlock = 1024;
    p->totalGlobalMem = (size_t)192 << 30;
    return answer(hipSuccess);
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int)
{
    *value = attribute == hipDeviceAttributeClockRate                     ? 2100000
             : attribute == hipDeviceAttributeMemoryClockRate             ? 1300000
             : attribute == hipDeviceAttributeMemoryBusWidth              ? 8192
             : attribute == hipDeviceAttributeL2CacheSize                 ? 4 << 20
             : attribute == hipDeviceAttributeMaxThreadsPerMultiProcessor ? 2048
                                                                          : 0; // EccEnabled
    return answer(hipSuccess);
}

hipError_t hipDeviceGetPCIBusId(char *text, int size, int)
{
    snprintf(text, (size_t)size, "0000:c1:00.0");
    return answer(hipSuccess);
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = (size_t)1 << 31; // too little for the copies that show the ceiling
    return answer(hipSuccess);
}

static uint64_t largest; // buffer of the device

hipError_t hipMalloc(void **p, size_t bytes)
{
    largest = bytes > largest ? bytes : largest;
    *p = calloc(1, bytes);
    return answer(*p ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipMallocManaged(void **p, size_t bytes, unsigned)
{
    return hipMalloc(p, bytes);
}

hipError_t hipHostMalloc(void **p, size_t bytes, unsigned)
{
    return hipMalloc(p, bytes);
}

hipError_t hipFree(void *p)
{
    free(p);
    return answer(hipSuccess);
}

hipError_t hipHostFree(void *p)
{
    return hipFree(p);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind, hipStream_t)
{
    if (!capture)
        memmove(to, from, bytes);
    return takes(1, 1e4);
}

hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t)
{
    return takes(2, 1e4);
}

hipError_t hipMemAdvise(const void *, size_t, hipMemoryAdvise, int)
{
    return answer(hipSuccess);
}

hipError_t hipMemPrefetchAsync(const void *, size_t, int, hipStream_t)
{
    return answer(hipSuccess);
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *, const void *)
{
    return answer(hipErrorInvalidValue);
}

hipError_t hipStreamCreate(hipStream_t *stream)
{
    *stream = (hipStream_t)malloc(1);
    return answer(hipSuccess);
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
    free(stream);
    return answer(hipSuccess);
}

hipError_t hipStreamQuery(hipStream_t)
{
    return answer(hipErrorNotReady);
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    invalid = invalid || (capture && stream);
    return answer(invalid && stream ? hipErrorStreamCaptureUnsupported : hipSuccess);
}

hipError_t hipDeviceSynchronize(void)
{
    return answer(hipSuccess);
}

hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned)
{
    return answer(hipSuccess);
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    *event = (hipEvent_t)calloc(1, sizeof(double));
    return answer(hipSuccess);
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    free(event);
    return answer(hipSuccess);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t)
{
    if (invalid)
        return answer(hipErrorStreamCaptureInvalidated);
    drawn = drawn * 1664525u + 1013904223u;
    now_ns += 1000 + 10 * (drawn >> 30); // of a clock of 100 MHz
    memcpy((void *)event, &now_ns, sizeof now_ns);
    return answer(hipSuccess);
}

hipError_t hipEventSynchronize(hipEvent_t)
{
    return answer(hipSuccess);
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    double at[2];
    memcpy(&at[0], (void *)start, sizeof at[0]);
    memcpy(&at[1], (void *)stop, sizeof at[1]);
    *ms = (float)((at[1] - at[0]) * 1e-6);
    return answer(hipSuccess);
}

// As ihipLaunchKernel_validate() has it for more than __launch_bounds__().
static unsigned bounds;

hipError_t hipLaunchKernel(const void *, dim3 grid, dim3 block, void **, size_t, hipStream_t)
{
    if (block.x * block.y * block.z > bounds)
        return answer(hipErrorLaunchFailure);
    return takes(0, launch_ns + (grid.x > 1 ? kernel_ns : 0), grid, block);
}

hipError_t hipLaunchCooperativeKernel(const void *, dim3, dim3, void **, unsigned, hipStream_t)
{
    return answer(hipErrorNotSupported);
}

hipError_t hipFuncSetAttribute(const void *, hipFuncAttribute, int)
{
    return answer(hipSuccess);
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->numRegs = 40;
    return answer(hipSuccess);
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute, hipFunction_t)
{
    *value = 24;
    return answer(hipSuccess);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t)
{
    *blocks = 2;
    return answer(hipSuccess);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t, int,
                                                              size_t)
{
    *blocks = 2;
    return answer(hipSuccess);
}

const char *hipKernelNameRefByPtr(const void *function, hipStream_t)
{
    return function ? "_Z5twicePf" : nullptr;
}

// Nodes are numbers behind one: a NULL is none.
hipError_t hipStreamBeginCapture(hipStream_t, hipStreamCaptureMode)
{
    if (capture && !invalid)
        return answer(hipErrorIllegalState);
    delete capture;
    capture = new std::vector<fake_node>;
    invalid = unjoined = false;
    return answer(hipSuccess);
}

// As hipStreamEndCapture_common() does it.
hipError_t hipStreamEndCapture(hipStream_t, hipGraph_t *graph)
{
    *graph = nullptr;
    damaged += invalid || unjoined;
    if (invalid)
        return answer(hipErrorStreamCaptureInvalidated); // and stays so
    if (unjoined)
        return answer(hipErrorStreamCaptureUnjoined); // and stays open
    captured = *capture;
    *graph = (hipGraph_t)capture;
    capture = nullptr;
    return answer(hipSuccess);
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
    delete (std::vector<fake_node> *)graph;
    return answer(hipSuccess);
}

hipError_t hipGraphGetNodes(hipGraph_t, hipGraphNode_t *nodes, size_t *count)
{
    for (size_t i = 0; nodes && i < captured.size(); i++)
        nodes[i] = (hipGraphNode_t)(uintptr_t)(i + 1);
    *count = captured.size();
    return answer(hipSuccess);
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type)
{
    *type = (hipGraphNodeType)(hipGraphNodeTypeKernel + captured[(uintptr_t)node - 1].type);
    return answer(hipSuccess);
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *before, size_t *count)
{
    *count = (uintptr_t)node > 1;
    if (before && *count)
        *before = (hipGraphNode_t)((uintptr_t)node - 1);
    return answer(hipSuccess);
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *p)
{
    p->func = (void *)&captured;
    p->gridDim = captured[(uintptr_t)node - 1].grid;
    p->blockDim = captured[(uintptr_t)node - 1].block;
    return answer(hipSuccess);
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *ready, hipGraph_t, unsigned long long)
{
    *ready = (hipGraphExec_t) new std::vector<fake_node>(captured);
    return answer(hipSuccess);
}

hipError_t hipGraphLaunch(hipGraphExec_t ready, hipStream_t)
{
    for (const fake_node &node : *(std::vector<fake_node> *)ready)
        now_ns += 500 + (node.grid.x > 1 ? kernel_ns : 0);
    return answer(hipSuccess);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t ready)
{
    delete (std::vector<fake_node> *)ready;
    return answer(hipSuccess);
}

// The image is read until the module is unloaded.
static const char *module_image;
static int modules_damaged;
static const char code[] = "\177ELF and then a code object, longer than what free() may leave";

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    module_image = (const char *)image;
    *module = (hipModule_t)malloc(1);
    return answer(hipSuccess);
}

hipError_t hipModuleUnload(hipModule_t module)
{
    modules_damaged += memcmp(module_image, code, sizeof code) != 0;
    free(module);
    return answer(hipSuccess);
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t, const char *)
{
    *function = (hipFunction_t)(uintptr_t)code;
    return answer(hipSuccess);
}

hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned x, unsigned y, unsigned z, unsigned bx,
                                 unsigned by, unsigned bz, unsigned, hipStream_t, void **, void **)
{
    return takes(0, launch_ns + kernel_ns, dim3(x, y, z), dim3(bx, by, bz));
}

// Libraries that are opened: the one named `there` has what this program has.
static const char *there;
static std::string told;

void *dlopen(const char *name, int) noexcept(true)
{
    return there && !strcmp(name, there) ? (void *)&there : nullptr;
}

int roctxRangePushA(const char *name)
{
    told += name;
    return 0;
}

int roctxRangePop(void)
{
    told += ')';
    return 0;
}

int roctxProfilerResume(uint64_t thread)
{
    told += thread ? "?" : "(";
    return 0;
}

int roctxProfilerPause(uint64_t thread)
{
    told += thread ? "?" : ".";
    return 0;
}

void *dlsym(void *library, const char *name) noexcept(true)
{
    static const struct {
        const char *name;
        void *at;
    } known[] = {{"roctxRangePushA", (void *)roctxRangePushA},
                 {"roctxRangePop", (void *)roctxRangePop},
                 {"roctxProfilerResume", (void *)roctxProfilerResume},
                 {"roctxProfilerPause", (void *)roctxProfilerPause}};
    for (const auto &k : known)
        if (library == (void *)&there && !strcmp(name, k.name))
            return k.at;
    return nullptr;
}

} // extern "C"

// ---- the tests ----

static float *const data = nullptr; // nothing runs

static __global__ void twice(float *x)
{
    *x *= 2;
}

static gpumb *open_context()
{
    bounds = 1024;
    last_error = hipSuccess;
    heard.clear();
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = 1e-3;
    s.least_s = -1;
    s.min_samples = s.max_samples = 10;
    return gpumb_open_settings("hip", &s);
}

static void test_device()
{
    gpumb *g = open_context();
    const gpumb_device *d = gpumb_get_device(g);
    CHECK_STR(d->backend, "hip");
    CHECK_STR(d->arch, "gfx942");
    CHECK_INT(d->ecc, -1); // ROCm does not tell
    CHECK_INT(d->warp_size, 64);
    CHECK_INT(d->l2_bytes, 4 << 20);
    CHECK_NEAR(d->sm_clock_hz, 2100e6, 0);
    CHECK_NEAR(d->peak_bytes_per_s / 1e9, 5324.8, 0.1);
    CHECK_NEAR(d->peak_flop_per_s / 1e12, 163.4, 0.1);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

// A block that the kernel is not compiled for is its row's trouble, not that of the device.
static void test_bounds()
{
    gpumb *g = open_context();
    gpumb_result r;
    bounds = 256;
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH(twice, 64, 512, 0, data);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    CHECK_STR(r.reason, "twice: unspecified launch failure");
    CHECK((r.flags & GPUMB_FLAG_LAUNCH_FAILED) != 0);
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH(twice, 64, 256, 0, data);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.registers, 40);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
}

// A launch that the library does not see, without a warm-up, which looks at once.
static void test_unchecked()
{
    gpumb *g = open_context();
    gpumb_result r;
    bounds = 256;
    for (int hosts = 0; hosts < 2; hosts++) {
        gpumb_set_timing(g, hosts ? GPUMB_TIMING_HOST : GPUMB_TIMING_AUTO);
        GPUMB_TIME_IN(g, &r)
        hipLaunchKernel((const void *)twice, dim3(64), dim3(512), nullptr, 0,
                        (hipStream_t)gpumb_stream(g));
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK_STR(r.reason, "launch: unspecified launch failure");
    }
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
}

// A body that waits, or works on a stream that does not come back: its captures fail, it is timed
// without, and what follows has its graphs.
static void test_lost_captures()
{
    for (int joins = 0; joins < 2; joins++) {
        gpumb *g = open_context();
        gpumb_result r;
        damaged = 0;
        GPUMB_TIME_IN(g, &r)
        {
            GPUMB_LAUNCH(twice, 64, 256, 0, data);
            unjoined = capture && !joins;
            if (joins)
                (void)hipStreamSynchronize((hipStream_t)gpumb_stream(g));
        }
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_STR(r.reason, "");
        CHECK(r.timing != GPUMB_TIMING_GRAPH);
        CHECK_INT(damaged, 1);
        CHECK(!capture && !invalid);
        GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH(twice, 64, 256, 0, data);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_INT(r.timing, GPUMB_TIMING_GRAPH);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    }
}

static void test_nodes()
{
    gpumb *g = open_context();
    gpumb_result r;
    gpumb_set_capturable(g, 1);
    GPUMB_TIME_IN(g, &r)
    {
        hipMemsetAsync(data, 0, sizeof(float), (hipStream_t)gpumb_stream(g));
        hipLaunchKernel((const void *)twice, dim3(64, 2), dim3(256), nullptr, 0,
                        (hipStream_t)gpumb_stream(g));
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.kernels, 1);
    CHECK_STR(r.nodes, "memset; _Z5twicePf<<<64x2, 256>>>");
    CHECK_STR(r.kernel, "_Z5twicePf");
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    CHECK_STR(heard.c_str(), "");
}

static void test_module()
{
    static const uint64_t grid[3] = {64, 1, 1}, block[3] = {256, 1, 1};
    gpumb *g = open_context();
    gpumb_result r;
    modules_damaged = 0;
    char *image = (char *)malloc(sizeof code); // the caller may free it at once
    memcpy(image, code, sizeof code);
    gpumb_module *m = gpumb_load_image(g, image, sizeof code, 0, -1);
    memset(image, 0, sizeof code);
    free(image);
    const void *function = gpumb_function(g, m, "scale");
    GPUMB_TIME_IN(g, &r) gpumb_launch(g, "scale", function, grid, block, 0, nullptr);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.registers, 24);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    CHECK_INT(modules_damaged, 0);
}

// The Infinity Cache is a cache, too.
static void test_caches()
{
    static const struct {
        uint64_t mib;
        const char *cache;
    } footprints[] = {{4, "L2"}, {5, "L3"}, {256, "L3"}, {257, "memory"}};
    gpumb *g = open_context();
    gpumb_result r;
    for (const auto &f : footprints) {
        gpumb_set_bytes(g, 1e6);
        gpumb_set_footprint(g, f.mib << 20);
        GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH(twice, 64, 256, 0, data);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_STR(r.cache, f.cache);
        CHECK_INT((r.flags & GPUMB_FLAG_CACHED) != 0, f.mib <= 256);
    }
    largest = 0;
    gpumb_set_cache(g, GPUMB_CACHE_COLD);
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH(twice, 64, 256, 0, data);
    CHECK_STR(r.cache, "cold");
    CHECK(largest >= (uint64_t)512 << 20); // is read before each run
    gpumb_close(g);                        // it is found damaged: nothing has filled it
}

// Of ROCm 6.2 ... 6.4, whose rocprofv3 hears no other.
static void test_ranges()
{
    char names[2][200] = {"row ", "n=1"};
    there = "librocprofiler-sdk-roctx.so.0";
    heard.clear();
    gpumbi_dev_mark(names, 2);
    gpumbi_dev_unmark(2);
    CHECK_STR(told.c_str(), "(row n=1)).");
    CHECK_STR(heard.c_str(), "");
}

int main()
{
    test_device();
    test_bounds();
    test_unchecked();
    test_lost_captures();
    test_nodes();
    test_module();
    test_caches();
    test_ranges();
    return CHECK_SUMMARY();
}

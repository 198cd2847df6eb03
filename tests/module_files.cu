// module_files.cu - for test_module_files.sh, on a GPU: kernels of files that another compilation
// has made, checked and timed beside the same kernel of this program; launches with clusters and
// more; what captures hold. Arguments: cubin, fatbin, PTX.
#include "gpumb.h"

#include "check.h"
#include <string>
#include <vector>

#if defined(GPUMB_BACKEND_CPU)
int main()
{
    SKIP("modules need a GPU");
    return CHECK_SUMMARY();
}
#else

__global__ void scale_here(float *x, float by, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[i] *= by;
}

__global__ void ranks(unsigned *out)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned rank, blocks;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    out[blockIdx.x] = rank + 100 * blocks;
#else
    out[blockIdx.x] = 0;
#endif
}

static const int n = 1000003;
static const uint64_t grid[3] = {(uint64_t)(n + 255) / 256, 1, 1}, block[3] = {256, 1, 1};

typedef struct scaled {
    gpumb_buffer *x;
    float by;
} scaled;

static int check_scaled(gpumb *g, void *user)
{
    const scaled *s = (const scaled *)user;
    std::vector<float> x((size_t)n);
    if (gpumb_read(g, s->x, 0, x.data(), x.size() * sizeof(float)))
        return 0;
    for (int i = 0; i < n; i++)
        if (!(x[(size_t)i] == (float)(i % 1000) * s->by))
            return 0;
    return 1;
}

static void refill(gpumb *g, void *user)
{
    std::vector<float> x((size_t)n);
    for (int i = 0; i < n; i++)
        x[(size_t)i] = (float)(i % 1000);
    gpumb_write(g, ((const scaled *)user)->x, 0, x.data(), x.size() * sizeof(float));
}

static gpumb_result time_scaled(gpumb *g, const void *function, scaled *s, int resets)
{
    gpumb_result r;
    float *x = GPUMB_PTR(float, s->x);
    int count = n;
    void *parameters[] = {&x, &s->by, &count};
    if (resets) {
        gpumb_set_reset(g, refill, s);
        gpumb_set_verify(g, check_scaled, s);
    }
    GPUMB_TIME_IN(g, &r) gpumb_launch(g, "scale", function, grid, block, 0, parameters);
    return r;
}

int main(int argc, char **argv)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.budget_s = 0.3;
    gpumb *g = gpumb_open_settings("modules", &settings);
    scaled s = {gpumb_alloc(g, (uint64_t)n * sizeof(float)), 3};
    const void *here = (const void *)scale_here;
    gpumb_result r = time_scaled(g, here, &s, 0);
    const double own_s = r.time.median;
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    printf("of the program: %.3f us, %d registers, occupancy %g: %s\n", 1e6 * own_s, r.registers,
           r.occupancy, r.nodes);
    for (int i = 1; i < argc; i++) {
        gpumb_module *m = gpumb_load(g, argv[i]);
        CHECK(m != nullptr);
        const void *there = gpumb_function(g, m, "scale");
        CHECK(there != nullptr);
        r = time_scaled(g, there, &s, 1);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_INT(r.verified, 1);
        r = time_scaled(g, there, &s, 0);
        printf("%s: %.3f us, %d registers, occupancy %g: %s; %s\n", argv[i], 1e6 * r.time.median,
               r.registers, r.occupancy, r.nodes, gpumb_ok(g) ? "ok" : "ended");
        CHECK(r.registers > 0);
        CHECK(r.occupancy > 0);
        CHECK_INT(r.timing, GPUMB_TIMING_GRAPH);
        CHECK_INT(r.kernels, 1);
        CHECK(std::string(r.nodes).find("<<<3907, 256>>>") != std::string::npos);
        CHECK(gpumb_function(g, m, "nosuch") == nullptr);
        r = time_scaled(g, nullptr, &s, 0);
        printf("    %s\n", r.reason);
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK(std::string(r.reason).find("no kernel nosuch in this module") == 0);
    }
    static const char bad[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry x() { what; }\n";
    CHECK(gpumb_load_image(g, bad, sizeof bad - 1, 0, -1) == nullptr);
    r = time_scaled(g, here, &s, 0);
    printf("bad PTX: %s\n", r.reason);
    CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
    r = time_scaled(g, here, &s, 0);
    CHECK_INT(r.status, GPUMB_STATUS_OK); // nothing is left of the error

    // What a launch can ask for.
    gpumb_buffer *out = gpumb_alloc(g, 64 * sizeof(unsigned));
    unsigned found[64];
    gpumb_launch_config how = {};
    how.grid[0] = 64;
    how.block[0] = 32;
    how.cluster[0] = 4;
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH_EX(ranks, how, GPUMB_PTR(unsigned, out));
    printf("clusters: %s %s\n", r.reason, r.nodes);
    if (r.status == GPUMB_STATUS_OK) {
        CHECK_INT(gpumb_read(g, out, 0, found, sizeof found), 0);
        for (unsigned i = 0; i < 64; i++)
            CHECK_INT(found[i], i % 4 + 400);
        how.cluster[0] = 0;
        how.dependent = 1;
        GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH_EX(ranks, how, GPUMB_PTR(unsigned, out));
        printf("dependent: %.3f us, meaning %d %s\n", 1e6 * r.time.median, (int)r.meaning,
               r.reason);
        CHECK_INT(r.status, GPUMB_STATUS_OK);
        CHECK_INT(r.meaning, GPUMB_MEANING_INTERVAL);
        how.dependent = 0;
        how.priority = -1;
        GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH_EX(ranks, how, GPUMB_PTR(unsigned, out));
        CHECK_INT(r.status, GPUMB_STATUS_OK);
    }
    how.cluster[0] = how.priority = 0;
    how.cooperative = 1;
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH_EX(ranks, how, GPUMB_PTR(unsigned, out));
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    how.grid[0] = 1 << 20; // can't be resident at once
    GPUMB_TIME_IN(g, &r) GPUMB_LAUNCH_EX(ranks, how, GPUMB_PTR(unsigned, out));
    printf("too many: %s\n", r.reason);
    CHECK(r.status != GPUMB_STATUS_OK);

    // What captures hold: kernels in turn, a copy, launches that the library does not see.
    gpumb_buffer *other = gpumb_alloc(g, (uint64_t)n * sizeof(float));
    GPUMB_TIME_IN(g, &r)
    {
        GPUMB_LAUNCH(ranks, 8, 32, 0, GPUMB_PTR(unsigned, out));
        GPUMB_LAUNCH(ranks, 8, 32, 0, GPUMB_PTR(unsigned, out));
        GPUMB_LAUNCH(scale_here, {(n + 255) / 256, 1}, 256, 0, GPUMB_PTR(float, s.x), 1.0f, n);
        gpumb_memcpy(g, gpumb_data(other), gpumb_data(s.x), (uint64_t)n * sizeof(float));
    }
    printf("three and a copy: %d kernels, %.3f us between: %s\n", r.kernels, 1e6 * r.between_s,
           r.nodes);
    CHECK_INT(r.kernels, 3);
    CHECK_NEAR(r.between_s, 2 * gpumb_get_device(g)->graph_interval_s, 1e-12);
    CHECK(std::string(r.nodes).find(" x2; ") != std::string::npos);
    CHECK(std::string(r.nodes).find("memcpy") != std::string::npos);
#if defined(GPUMB_BACKEND_CUDA)
    gpumb_set_capturable(g, 1);
    GPUMB_TIME_IN(g, &r)
    scale_here<<<(n + 255) / 256, 256, 0, (cudaStream_t)gpumb_stream(g)>>>(GPUMB_PTR(float, s.x),
                                                                           1.0f, n);
    printf("<<<>>>: %s %d registers: %s\n", r.kernel, r.registers, r.nodes);
    CHECK_INT(r.kernels, 1);
    CHECK(r.registers > 0);
#endif
    gpumb_close(g);
    return CHECK_SUMMARY();
}
#endif

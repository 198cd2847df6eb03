/* 11: code from elsewhere: additions that Triton, Numba, Mojo and Julia have compiled, in turn
 * with one written here. 11_elsewhere.py, .mojo and .jl make them: see launches.md.
 *     11_elsewhere [FILE:THREADS:ELEMENTS ...] [options]
 * A file has one kernel, a block of which has so many threads and adds so many elements. */
#define GPUMB_STATIC
#define GPUMB_MODULES
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include <stdio.h>
#include <vector>

__global__ void by_hand(const float4 *x, const float4 *y, float4 *sum)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = make_float4(x[i].x + y[i].x, x[i].y + y[i].y, x[i].z + y[i].z, x[i].w + y[i].w);
}

struct addition {
    gpumb_buffer *x, *y, *sum;
    size_t n;
};

static int is_right(gpumb *g, void *user)
{
    const addition *a = (const addition *)user;
    std::vector<float> x(a->n), y(a->n), sum(a->n);
    const uint64_t bytes = a->n * sizeof(float);
    if (gpumb_read(g, a->x, 0, x.data(), bytes) || gpumb_read(g, a->y, 0, y.data(), bytes) ||
        gpumb_read(g, a->sum, 0, sum.data(), bytes))
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (sum[i] != x[i] + y[i])
            return gpumb_reason(g, "sum[%zu] is %g, not %g", i, sum[i], x[i] + y[i]), 0;
    return 1;
}

static void describe(gpumb *g, addition *a)
{
    gpumb_set_bytes(g, 12.0 * (double)a->n);
    gpumb_set_output(g, a->sum);
    gpumb_set_verify(g, is_right, a);
}

struct code {
    char file[200];
    unsigned threads, elements;
    const void *function;
};

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open_args(&argc, argv);
    std::vector<code> codes((size_t)argc - 1);
    for (int i = 1; i < argc; i++) {
        code *c = &codes[(size_t)i - 1];
        if (sscanf(argv[i], "%199[^:]:%u:%u", c->file, &c->threads, &c->elements) != 3 ||
            !c->elements) {
            fprintf(stderr, "11_elsewhere: %s is no FILE:THREADS:ELEMENTS\n", argv[i]);
            gpumb_close(g);
            return GPUMB_EXIT_USAGE;
        }
        c->function = gpumb_function(g, gpumb_load(g, c->file), NULL);
    }
    GPUMB_SWEEP_LIST(g, n, 1 << 20, 1 << 22, 1 << 24) {
        const uint64_t bytes = (uint64_t)n * sizeof(float);
        addition a = {gpumb_alloc(g, bytes), gpumb_alloc(g, bytes), gpumb_alloc(g, bytes),
                      (size_t)n};
        gpumb_fill(g, a.x, GPUMB_FILL_F32, 1);
        gpumb_fill(g, a.y, GPUMB_FILL_F32, 2);
        GPUMB_INTERLEAVE(g) {
            describe(g, &a);
            GPUMB_MEASURE(g, "by hand")
                GPUMB_LAUNCH(by_hand, (uint64_t)n / 1024, 256, 0, GPUMB_PTR(const float4, a.x),
                             GPUMB_PTR(const float4, a.y), GPUMB_PTR(float4, a.sum));
            for (const code &c : codes) {
                const uint64_t grid[3] = {((uint64_t)n + c.elements - 1) / c.elements, 1, 1};
                const uint64_t block[3] = {c.threads, 1, 1};
                describe(g, &a);
                GPUMB_MEASURE(g, c.file) {
                    void *x = gpumb_data(a.x), *y = gpumb_data(a.y), *sum = gpumb_data(a.sum);
                    void *none = NULL; /* two for Triton, which a kernel of four does not read */
                    int count = (int)n;
                    void *parameters[] = {&x, &y, &sum, &count, &none, &none};
                    gpumb_launch(g, c.file, c.function, grid, block, 0, parameters);
                }
            }
        }
        gpumb_free(g, a.x);
        gpumb_free(g, a.y);
        gpumb_free(g, a.sum);
    }
    return gpumb_close(g);
}

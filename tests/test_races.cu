/* test_races.cu - blocks that hand values to each other, for ThreadSanitizer, which knows
 * atomics but no fences: every way of joining blocks, each launch several times on the same
 * workspace.
 * shares the GPU: results are compared, not times */
#define GPUMB_REDUCTIONS(X) X(F32, SUM) X(F64, MAX) X(U32, SUM)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "check.h"

/* The sum of n ones, or the largest of them. */
static double reduced(gpumb *g, const gpumb_reduction *how, uint64_t n, gpumb_buffer *ones)
{
    gpumb_buffer *out = gpumb_alloc(g, 8), *workspace = gpumb_reduction_workspace(g, how, n);
    union {
        float f;
        double d;
        unsigned u;
    } x;
    for (int i = 0; i < 2; i++) {
        gpumb_poison(g, out);
        gpumb_reduce(g, how, n, gpumb_data(ones), gpumb_data(out), workspace);
    }
    memset(&x, 0, sizeof x);
    gpumb_read(g, out, 0, &x, how->type == GPUMB_F64 ? 8 : 4);
    gpumb_free(g, workspace);
    gpumb_free(g, out);
    return how->type == GPUMB_F32 ? (double)x.f : how->type == GPUMB_F64 ? x.d : (double)x.u;
}

template <class Type> static gpumb_buffer *ones_of(gpumb *g, uint64_t n)
{
    gpumb_buffer *b = gpumb_alloc(g, n * sizeof(Type));
    Type *x = (Type *)malloc(n * sizeof(Type));
    for (uint64_t i = 0; i < n; i++)
        x[i] = 1;
    gpumb_memcpy(g, gpumb_data(b), x, n * sizeof(Type));
    free(x);
    return b;
}

int main()
{
    static const gpumb_type types[] = {GPUMB_F32, GPUMB_F64, GPUMB_U32};
    static const gpumb_operation operations[] = {GPUMB_SUM, GPUMB_MAX, GPUMB_SUM};
    const uint64_t n = 3001;
    gpumb_cpu_set_workers(4);
    gpumb *g = gpumb_open(0, NULL);
    for (int kind = 0; kind < 3; kind++) {
        gpumb_reduction how = gpumb_reduction_default();
        how.type = types[kind];
        how.operation = operations[kind];
        how.combine = GPUMB_COMBINE_SHUFFLE_DOWN;
        gpumb_buffer *ones = how.type == GPUMB_F32   ? ones_of<float>(g, n)
                             : how.type == GPUMB_F64 ? ones_of<double>(g, n)
                                                     : ones_of<unsigned>(g, n);
        const double expected = how.operation == GPUMB_SUM ? (double)n : 1;
        for (int finish = GPUMB_FINISH_TWO_LAUNCHES; finish <= GPUMB_FINISH_LAST_BLOCK; finish++) {
            how.form = GPUMB_FORM_NAIVE;
            how.finish = (gpumb_finish)finish;
            how.block = 32;
            how.blocks = 5;
            CHECK_NEAR(reduced(g, &how, n, ones), expected, 0);
        }
        how.form = GPUMB_FORM_FASTEST;
        for (how.block = 32; how.block <= 256; how.block *= 8) {
            how.blocks = how.block == 32 ? 9 : 3;
            CHECK_NEAR(reduced(g, &how, n, ones), expected, 0);
        }
        gpumb_free(g, ones);
    }
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_empty(g, 5, 32);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

// test_listed_forms.cu - only the listed reductions and n-body forms are compiled, and all others
// say which macro lists them. test_default_forms.cu is the same with nothing listed.
// shares the GPU: results are compared, not times
#ifndef NOTHING_LISTED
#define GPUMB_REDUCTIONS(X) X(F32, SUM) X(I32, MAX)
#define GPUMB_NBODY_PAIRS(X) X(2, 1)
#define GPUMB_IMPLEMENTATION
#endif
#include "gpumb.h"

#include "device.h"
#include "refused.h"
#include <initializer_list>

#ifdef NOTHING_LISTED /* calls do not compile beside the implementation: as in another file */
#undef gpumb_reduce
#undef gpumb_nbody_accelerations
#undef gpumb_nbody_steps
enum { LISTED = 0 };
#else
enum { LISTED = 1 };
#endif

static void test_reductions(gpumb *g)
{
    static const char *const types[] = {"F32", "F64", "I32", "U32"};
    static const char *const operations[] = {"SUM", "MIN", "MAX"};
    gpumb_buffer *in = gpumb_alloc(g, 8000), *out = gpumb_alloc(g, 8);
    gpumb_fill(g, in, GPUMB_FILL_ZERO, 0);
    for (int type = GPUMB_F32; type <= GPUMB_U32; type++)
        for (int operation = GPUMB_SUM; operation <= GPUMB_MAX; operation++)
            for (gpumb_form form : {GPUMB_FORM_NAIVE, GPUMB_FORM_FASTEST}) {
                gpumb_reduction how = gpumb_reduction_default();
                how.type = (gpumb_type)type;
                how.operation = (gpumb_operation)operation;
                how.form = form;
                gpumb_poison(g, out); // before something is refused
                gpumb_buffer *workspace = gpumb_reduction_workspace(g, &how, 1000);
                const int returned =
                    gpumb_reduce(g, &how, 1000, gpumb_data(in), gpumb_data(out), workspace);
                uint32_t found = 0;
                CHECK_INT(gpumb_read(g, out, 0, &found, 4), 0);
                const bool sum = type == GPUMB_F32 && operation == GPUMB_SUM;
                if (LISTED && (sum || (type == GPUMB_I32 && operation == GPUMB_MAX))) {
                    CHECK_INT(returned, 0);
                    CHECK_INT(found, 0);
                } else {
                    CHECK(refused(returned, "GPUMB_REDUCTIONS"));
                    CHECK_INT(found, GPUMB_POISON);
                    GPUMB_MEASURE(g, "not compiled") {
                        gpumb_reduce(g, &how, 1000, gpumb_data(in), gpumb_data(out), workspace);
                    }
                    const gpumb_result *row = gpumb_last_result(g);
                    CHECK_INT(row->status, GPUMB_STATUS_SKIPPED);
                    if (LISTED) {
                        CHECK(strstr(row->reason, types[type]) != NULL);
                        CHECK(strstr(row->reason, operations[operation]) != NULL);
                    }
                }
                gpumb_free(g, workspace);
            }
    gpumb_free(g, in);
    gpumb_free(g, out);
}

static int accelerate(gpumb *g, const gpumb_nbody *how)
{
    gpumb_buffer *r = gpumb_alloc(g, 1600), *a = gpumb_alloc(g, 1600);
    gpumb_buffer *workspace = gpumb_nbody_workspace(g, how, 100);
    gpumb_fill(g, r, GPUMB_FILL_F32, 1);
    gpumb_poison(g, a);
    const int returned =
        gpumb_nbody_accelerations(g, how, 100, gpumb_data(r), gpumb_data(a), workspace);
    if (returned == 0) {
        gpumb_nbody_check check = {how, r, a, 100, 100};
        CHECK_INT(gpumb_check_nbody(g, &check), 1);
    }
    gpumb_free(g, r);
    gpumb_free(g, a);
    gpumb_free(g, workspace);
    return returned;
}

static void test_nbody(gpumb *g)
{
    gpumb_nbody form, how = gpumb_nbody_default();
    CHECK_INT(gpumb_nbody_forms(NULL, 0), LISTED);
    CHECK_INT(gpumb_nbody_forms(&form, 1), LISTED);
    if (LISTED) {
        CHECK_NEAR(how.softening, 0.01, 1e-9);
        CHECK(form.pairs && form.bodies == 2 && form.unroll == 1);
        CHECK(how.pairs && how.bodies == 2 && how.unroll == 1); // the one listed last
        CHECK_INT(accelerate(g, &form), 0);
        CHECK_INT(accelerate(g, &how), 0);
        how.unroll = 2;
        CHECK(refused(accelerate(g, &how), "GPUMB_NBODY_PAIRS"));
        how.unroll = 1;
        how.pairs = 0;
        CHECK(refused(accelerate(g, &how), "GPUMB_NBODY_FORMS"));
    }
    for (int pairs = 0; pairs <= 1; pairs++) {
        how.pairs = pairs;
        how.bodies = how.unroll = 1;
        how.rsqrt = GPUMB_RSQRT_APPROXIMATE;
        CHECK(refused(accelerate(g, &how), "GPUMB_NBODY_"));
    }
}

int main()
{
    gpumb *g = open_device("test_listed_forms");
    if (!g)
        return CHECK_SUMMARY();
    test_reductions(g);
    test_nbody(g);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // its regions are there to be skipped
    return CHECK_SUMMARY();
}

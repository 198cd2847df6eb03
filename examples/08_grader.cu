/* 08: a grader for kernels of others, homework or a program's: run by grade.py, which gives the
 * verdict. Asked for is GELU in fp32, out = in / 2 * (1 + erf(in / sqrt(2))), by launch_mine() in a
 * file of its own, 08_grader_kernels.cu. */
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"
#include <math.h>

extern "C" void launch_mine(const float *in, float *out, uint64_t n);

__global__ void reference(const float *in, float *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i] * (1 + erff(in[i] * 0.70710678f));
}

struct verdict {
    unsigned wrong;
    int worst; /* bits of the largest error: as integers they have the same order */
};

/* In fp64, from what the inputs hold now: each check has others. */
__global__ void judge(const float *in, const float *out, uint64_t n, verdict *v)
{
    GPUMB_GRID_STRIDE(i, n) {
        const double x = (double)in[i], right = x / 2 * (1 + erf(x * 0.70710678118654752));
        const float off = (float)fabs((double)out[i] - right);
        if (!(off <= 3e-7f)) { /* 2.5 units in the last place of 1; a NaN is wrong as well */
            atomicAdd(&v->wrong, 1u);
            atomicMax(&v->worst, __float_as_int(off));
        }
    }
}

struct work {
    gpumb_buffer *in, *out, *verdict;
    uint64_t n;
};

static int check(gpumb *g, void *user)
{
    const work *w = (const work *)user;
    verdict v = {0, 0};
    gpumb_write(g, w->verdict, 0, &v, sizeof v);
    GPUMB_LAUNCH(judge, 1024, 256, 0, GPUMB_PTR(const float, w->in), GPUMB_PTR(const float, w->out),
                 w->n, GPUMB_PTR(verdict, w->verdict));
    if (gpumb_read(g, w->verdict, 0, &v, sizeof v))
        return 0;
    float worst;
    memcpy(&worst, &v.worst, sizeof worst);
    gpumb_reason(g, "%u of %llu are wrong, by up to %.2g: %.0f bits are right, fp32 has 24",
                 v.wrong, (unsigned long long)w->n, worst, worst < 1 ? -log2(worst) : 0);
    return v.wrong == 0;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const int gpu = strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
    work w = {NULL, NULL, gpumb_alloc(g, sizeof(verdict)), (gpu ? 1u << 25 : 1u << 16) - 5};
    w.in = gpumb_alloc(g, 4 * w.n);
    w.out = gpumb_alloc(g, 4 * w.n);
    gpumb_fill(g, w.in, GPUMB_FILL_F32, 1); /* filled: renewed by --strict */
    GPUMB_INTERLEAVE(g)
        for (int mine = 0; mine < 2; mine++) {
            gpumb_set_bytes(g, 8.0 * (double)w.n);
            gpumb_set_output(g, w.out); /* declared: poisoned, and looked at when its time ends */
            gpumb_set_verify(g, check, &w);
            GPUMB_MEASURE(g, mine ? "mine" : "reference") { /* GPUMB_PTR() here: buffers move */
                if (mine)
                    launch_mine(GPUMB_PTR(const float, w.in), GPUMB_PTR(float, w.out), w.n);
                else
                    GPUMB_LAUNCH(reference, (w.n + 255) / 256, 256, 0, GPUMB_PTR(const float, w.in),
                                 GPUMB_PTR(float, w.out), w.n);
            }
        }
    return gpumb_close(g);
}

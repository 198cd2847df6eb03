/* saxpy.c - a loop of OpenMP, checked and timed: on a GPU where the compiler has code for it
 * (clang -fopenmp --offload-arch=native, nvc -mp=gpu), else on the CPU (cc -fopenmp). gpumb.o is
 * the header's implementation. */
#include "gpumb.h"

enum { N = 1000000 };
static float x[N], y[N], z[N];

static int check(gpumb *g, void *user)
{
    (void)g, (void)user;
    int right = 1;
#pragma omp target update from(z)
    for (int i = 0; i < N; i++) {
        right &= z[i] == 2 * (float)(i % 1000) + 3;
        z[i] = 0;
    }
#pragma omp target update to(z)
    return right;
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 1000);
        y[i] = 3;
    }
#pragma omp target enter data map(to : x, y, z)
    gpumb_set_verify(g, check, NULL);
    gpumb_set_bytes(g, 12.0 * N);           /* two read, one written */
    gpumb_set_timing(g, GPUMB_TIMING_HOST); /* a target region has ended when its end is reached */
    GPUMB_MEASURE(g, "saxpy") {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            z[i] = 2 * x[i] + y[i];
    }
    return gpumb_close(g);
}

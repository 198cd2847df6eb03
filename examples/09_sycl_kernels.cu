/* For 09_sycl.cpp: gpumb with its own kernels, by any compiler that it knows. */
#define GPUMB_COPY
#define GPUMB_REDUCTIONS(X) X(I32, SUM)
#define GPUMB_NBODY_FORMS(X) X(1, 16, APPROXIMATE)
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

#include "09_sycl_compiler.h"

const char own_name[] = "gpumb, " COMPILER;

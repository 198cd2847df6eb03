/* The vendor's library of parallel algorithms as the namespace `library`, where it is there: CUB's
 * header of the name CUB_HEADER, or hipCUB. They want C++17, and hipCUB is not part of every ROCm.
 * Include it after gpumb.h. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include <string.h>

#if __cplusplus >= 201703L
#if defined(GPUMB_BACKEND_CUDA) && __has_include(CUB_HEADER)
#include CUB_HEADER
#define LIBRARY_NAME "CUB"
namespace library = cub;
typedef cudaStream_t library_stream;
#define library_error cudaGetErrorString
#elif defined(GPUMB_BACKEND_HIP) && __has_include(<hipcub/hipcub.hpp>)
#include <hipcub/hipcub.hpp>
#define LIBRARY_NAME "hipCUB"
namespace library = hipcub;
typedef hipStream_t library_stream;
#define library_error hipGetErrorString
#endif
#endif
#ifndef LIBRARY_NAME
#define LIBRARY_NAME "the library" /* no rows, except of another build's that are replayed */
#define NO_LIBRARY
#endif

/* Its region where it isn't compiled. */
static inline void replay_library(gpumb *g)
{
    if (gpumb_get_settings(g)->replay && strcmp(gpumb_get_device(g)->backend, "cpu"))
        GPUMB_MEASURE(g, "library") {
        }
}

#endif

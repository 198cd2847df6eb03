// msvc.h - included by tests/matrix.sh before all else, to read gpumb.h as MSVC would under nvcc,
// by clang with mingw-w64's headers: what GNU's compilers have and MSVC lacks is an error, and what
// kernels call is declared. It shows no more than that: MSVC itself accepts or refuses else.
#include <_mingw.h>
#undef __attribute__ // mingw-w64 hides it from other compilers than its own
#undef __MINGW_NOTHROW
#undef __MINGW_ATTRIB_NORETURN
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_NOTHROW // where they stand, MSVC's order of words has no room
#define __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_DEPRECATED
#include <stdint.h>

#define __CUDA_RUNTIME_H__ // what it has beside these wants MSVC's C++ library
#include <cuda_runtime_api.h>
#include <windows.h>

#include <cuda_profiler_api.h>
#include <fcntl.h>
#include <float.h>
#include <io.h>
#include <limits.h>
#include <math.h>
#include <process.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifdef __cplusplus
#include <vector_functions.h>
#undef __launch_bounds__
#undef __shared__
#define __launch_bounds__(...)
#define __shared__
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
#define ATOMIC(name) template <class T, class... More> T name(T *, More...);
#define SHUFFLE(name) template <class T, class... More> T name(uint64_t, T, More...);
#define OTHER(name, type) template <class... Of> type name(Of...);
ATOMIC(atomicAdd)
ATOMIC(atomicCAS)
ATOMIC(atomicInc)
ATOMIC(atomicMin)
SHUFFLE(__shfl_sync)
SHUFFLE(__shfl_up_sync)
SHUFFLE(__shfl_down_sync)
SHUFFLE(__shfl_xor_sync)
OTHER(__any_sync, int)
OTHER(__all_sync, int)
OTHER(__ballot_sync, unsigned)
OTHER(__float_as_uint, unsigned)
OTHER(__uint_as_float, float)
OTHER(__popcll, int)
OTHER(__syncthreads, void)
OTHER(__syncthreads_or, int)
OTHER(__syncwarp, void)
OTHER(__threadfence, void)
OTHER(rsqrtf, float)
extern "C" void _ReadWriteBarrier(void);
#endif

#undef __clang__
#pragma clang poison __attribute__ __asm__ __thread __typeof__ __extension__ __int128
#pragma clang poison __atomic_load_n __atomic_store_n __atomic_exchange_n __atomic_fetch_add
#pragma clang poison __atomic_fetch_sub __atomic_load __atomic_store __sync_synchronize
#pragma clang poison __builtin_expect __builtin_memcpy __builtin_popcountll __builtin_ctzll
#pragma clang poison ssize_t mode_t pid_t usleep setenv unsetenv strtok_r strndup asprintf

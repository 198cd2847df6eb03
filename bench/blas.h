/* cuBLAS, opened at run time: nothing has to be linked, and where it is missing the rest runs.
 * Include it after gpumb.h. */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#if defined(GPUMB_BACKEND_CUDA)
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* What cublas_api.h has, for 64-bit Linux; its numbers have been the same from version 11 on. */
enum { BLAS_AS_STORED = 0, BLAS_F32 = 0, BLAS_BF16 = 14, BLAS_SUMS_F32 = 68, BLAS_CHOOSE = -1 };
enum { BLAS_NO_TF32 = 2 }; /* CUBLAS_PEDANTIC_MATH */
enum { BLAS_RESULT_ON_HOST = 0, BLAS_RESULT_ON_DEVICE = 1 };

typedef struct blas {
    void *handle;
    char why_not[200]; /* "": it is there */
    int (*create)(void **handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_math)(void *handle, int mode);
    int (*product)(void *handle, int of_a, int of_b, int m, int n, int k, const void *alpha,
                   const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                   const void *beta, void *c, int type_c, int ldc, int sums, int algorithm);
    int (*set_pointer_mode)(void *handle, int mode); /* where results of one number go */
    int (*absolute_sum)(void *handle, int n, const float *x, int stride, float *result);
} blas;

static inline void *blas_function(blas *l, void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function && !l->why_not[0])
        snprintf(l->why_not, sizeof l->why_not, "cuBLAS has no %s", name);
    return function;
}

/* Stays open until the program ends. */
static inline blas open_blas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so", "/usr/local/cuda/lib64/libcublas.so"};
    blas l;
    memset(&l, 0, sizeof l);
    void *library = NULL;
    for (int i = 0; i < 5 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(l.why_not, sizeof l.why_not, "no cuBLAS: the loader finds no libcublas.so");
        return l;
    }
    *(void **)&l.create = blas_function(&l, library, "cublasCreate_v2");
    *(void **)&l.set_stream = blas_function(&l, library, "cublasSetStream_v2");
    *(void **)&l.set_math = blas_function(&l, library, "cublasSetMathMode");
    *(void **)&l.product = blas_function(&l, library, "cublasGemmEx");
    *(void **)&l.set_pointer_mode = blas_function(&l, library, "cublasSetPointerMode_v2");
    *(void **)&l.absolute_sum = blas_function(&l, library, "cublasSasum_v2");
    const int error = l.why_not[0] ? 0 : l.create(&l.handle);
    if (error)
        snprintf(l.why_not, sizeof l.why_not, "cuBLAS can't start: error %d", error);
    return l;
}

/* C = A B of matrices that are stored row by row: to the library, whose matrices are stored column
 * by column, they are transposed, and so is C = (B' A')'. Returns its error. */
static inline int blas_product(const blas *l, void *stream, int bf16s, int m, int n, int k,
                               const void *a, int width_a, const void *b, int width_b, float *c)
{
    const float one = 1, zero = 0;
    const int type = bf16s ? BLAS_BF16 : BLAS_F32;
    const int error = l->set_stream(l->handle, stream);
    if (error || l->set_math(l->handle, BLAS_NO_TF32))
        return error ? error : -1;
    return l->product(l->handle, BLAS_AS_STORED, BLAS_AS_STORED, n, m, k, &one, b, type, width_b, a,
                      type, width_a, &zero, c, BLAS_F32, n, BLAS_SUMS_F32, BLAS_CHOOSE);
}
#endif

#endif

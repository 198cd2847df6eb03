/* COMPILER: the one at work. Rows are named by it, as a ratio is one of compilers, too. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined(__NVCC__)
#define COMPILER "nvcc " TEXT(__CUDACC_VER_MAJOR__) "." TEXT(__CUDACC_VER_MINOR__)
#elif defined(__clang__)
#define COMPILER "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__)
#else
#define COMPILER "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__)
#endif

extern const char own_name[]; /* of the rows of 09_sycl_kernels.cu */

/* What kernels of the benchmarks share. Include it after gpumb.h. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

/* Before a loop over registers of a thread: gcc has another word for it, and needs none. */
#if defined(GPUMB_BACKEND_CPU)
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

/* 16 bytes. */
template <class Type> struct word {
    enum { COUNT = 16 / sizeof(Type) };
    alignas(16) Type at[COUNT];
};

static __host__ __device__ inline uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* What the next or the previous lane of a warp has; the lane at the end gets its own. All lanes
 * take part. */
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
#define NEXT_LANE(x) __shfl_down(x, 1)
#define PREVIOUS_LANE(x) __shfl_up(x, 1)
#elif defined(GPUMB_BACKEND_CPU)
#define NEXT_LANE(x) __shfl_down_sync(~0ull, x, 1)
#define PREVIOUS_LANE(x) __shfl_up_sync(~0ull, x, 1)
#else
#define NEXT_LANE(x) __shfl_down_sync(~0u, x, 1)
#define PREVIOUS_LANE(x) __shfl_up_sync(~0u, x, 1)
#endif

/* Adds up what the threads of a block have; thread 0 gets the sum. A power of two of threads. */
template <class Type> static __device__ inline Type sum_of_block(Type mine, Type *shared)
{
    shared[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    return shared[0];
}

/* Adds up what the threads of all blocks have into sums[0]: the last block to finish adds up the
 * blocks' sums, which are behind it. `finished` is 0 before and after. `shared`: an element more
 * than a block has threads. */
template <class Type>
static __device__ inline void sum_of_grid(Type mine, Type *shared, Type *sums, unsigned *finished)
{
    const Type of_block = sum_of_block(mine, shared);
    unsigned *last = (unsigned *)&shared[blockDim.x];
    if (threadIdx.x == 0) {
        sums[1 + blockIdx.x] = of_block;
        __threadfence();
        *last = atomicAdd(finished, 1u) == gridDim.x - 1;
        if (*last)
            *finished = 0;
    }
    __syncthreads();
    if (!*last)
        return;
    __threadfence();
    Type total = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        total += ((volatile Type *)sums)[1 + b];
    __syncthreads();
    total = sum_of_block(total, shared);
    if (threadIdx.x == 0)
        sums[0] = total;
}

#endif

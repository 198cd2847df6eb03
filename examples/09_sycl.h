/* The kernels of 09_sycl.cpp, each as gpumb's own of the same name does it, but for n-body's root;
 * a queue's stream. n is a multiple of 256. */
#include <sycl/sycl.hpp>

#include <stdint.h>

using item = sycl::nd_item<1>;
constexpr int block = 256;
enum { ZCOPY, TREE, GROUP, NBODY };

/* 16 bytes: AdaptiveCpp 24.06 moves a sycl::uint4 as two words of 8. */
typedef uint32_t word __attribute__((vector_size(16)));

/* Where a queue in order launches; NULL on the CPU. */
inline void *stream_of(sycl::queue &queue)
{
    void *stream = NULL;
#ifdef __ACPP_ENABLE_CUDA_TARGET__
    queue.AdaptiveCpp_enqueue_custom_operation([&](sycl::interop_handle &native) {
        stream = native.get_native_queue<sycl::backend::cuda>();
    });
    queue.wait();
#else
    (void)queue;
#endif
    return stream;
}

inline void zcopy(sycl::queue &queue, size_t groups, uint64_t n, const word *in, word *out)
{
    queue.parallel_for(sycl::nd_range<1>(groups * block, block), [=](item me) {
        for (uint64_t i = me.get_global_id(0); i < n; i += me.get_global_range(0))
            out[i] = in[i];
    });
}

/* A kernel whose groups have a tile of local memory. */
template <class Type, class Body> void launch(sycl::queue &queue, size_t groups, Body body)
{
    queue.submit([&](sycl::handler &handler) {
        const sycl::local_accessor<Type, 1> tile(block, handler);
        handler.parallel_for(sycl::nd_range<1>(groups * block, block),
                             [=](item me) { body(me, &tile[0]); });
    });
}

/* The work-items of a group add up what they have by a tree in local memory, or by the group
 * algorithm; then one group adds up what the groups have. */
template <bool tree>
void sum(sycl::queue &queue, size_t groups, uint64_t n, const int *in, int *out)
{
    launch<int>(queue, groups, [=](item me, int *tile) {
        const int lane = (int)me.get_local_id(0);
        const uint64_t stride = me.get_global_range(0);
        uint64_t i = me.get_global_id(0);
        int x = 0;
        for (; i + 3 * stride < n; i += 4 * stride) /* four loads in flight, as gpumb has */
            x += (in[i] + in[i + stride]) + (in[i + 2 * stride] + in[i + 3 * stride]);
        for (; i < n; i += stride)
            x += in[i];
        if (tree)
            tile[lane] = x;
        for (int apart = tree ? block / 2 : 0; apart > 0; apart /= 2) {
            sycl::group_barrier(me.get_group());
            if (lane < apart)
                x = tile[lane] += tile[lane + apart];
        }
        x = tree ? x : sycl::reduce_over_group(me.get_group(), x, sycl::plus<int>());
        if (lane == 0)
            out[me.get_group(0)] = x;
    });
    if (groups > 1)
        sum<tree>(queue, 1, groups, out, out);
}

inline void nbody(sycl::queue &queue, uint64_t n, float softening, const sycl::float4 *at,
                  sycl::float4 *out)
{
    launch<sycl::float4>(queue, n / block, [=](item me, sycl::float4 *tile) {
        const sycl::float4 own = at[me.get_global_id(0)];
        sycl::float4 a(0);
        for (uint64_t first = 0; first < n; first += block) {
            sycl::group_barrier(me.get_group());
            tile[me.get_local_id(0)] = at[first + me.get_local_id(0)];
            sycl::group_barrier(me.get_group());
#pragma unroll 16
            for (int j = 0; j < block; j++) {
                const sycl::float4 d = tile[j] - own;
                const float square =
                    d.x() * d.x() + d.y() * d.y() + d.z() * d.z() + softening * softening;
                const float r = sycl::rsqrt(square);
                a += tile[j].w() * r * (r * r) * d;
            }
        }
        out[me.get_global_id(0)] = sycl::float4(a.x(), a.y(), a.z(), 0);
    });
}

inline void run(sycl::queue &queue, int64_t work, size_t groups, uint64_t n, float softening,
                const void *in, void *out)
{
    if (work == ZCOPY)
        zcopy(queue, groups, n / 4, (const word *)in, (word *)out);
    else if (work == TREE)
        sum<true>(queue, groups, n, (const int *)in, (int *)out);
    else if (work == GROUP)
        sum<false>(queue, groups, n, (const int *)in, (int *)out);
    else
        nbody(queue, n, softening, (const sycl::float4 *)in, (sycl::float4 *)out);
}

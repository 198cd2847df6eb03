/* Lab 21: libraries: what a call does beside its work.
 * Question: n floats are added by a kernel of one's own, launched twice, whose blocks add by a tree
 * or by CUB; by a call of CUB, of Thrust, of cuBLAS. Who needs memory besides, and when is it made?
 * Which calls come back before the sum is there, so that the device's time can be had (`sum`);
 * which have only the host's, until the sum is in the device's memory (`and wait`)? Predict both
 * for 4096 floats and for 2^28. What is in a first call that is in no other?
 * Change: give Thrust memory that is kept, by an allocator; let cuBLAS leave its sum on the device.
 * What does each save, and whose `sum` can be had now? */
#include "libraries.h"

enum { TREE, BLOCK, CUB, THRUST, CUBLAS, WAYS, BLOCKS = 1024 };
static const char *const ways[] = {"tree", "block", "CUB", "Thrust", "cuBLAS"};

template <int way> __global__ void add(const float4 *in, float *out, uint64_t n)
{
    float x = 0;
    GPUMB_GRID_STRIDE(i, n / 4)
        x += in[i].x + in[i].y + (in[i].z + in[i].w);
    x = way == TREE ? lab_sum_by_tree(x) : lab_sum_by_library(x);
    if (threadIdx.x == 0)
        out[blockIdx.x] = x;
}

__global__ void put(float *out, float value)
{
    *out = value;
}

template <int way> static void add_twice(const float *in, float *parts, float *out, uint64_t n)
{
    const uint64_t wanted = (n + 4 * LAB_BLOCK - 1) / (4 * LAB_BLOCK), most = BLOCKS;
    const uint64_t blocks = wanted < most ? wanted : most;
    GPUMB_LAUNCH_BARRIER(add<way>, blocks, LAB_BLOCK, 0, (const float4 *)in, parts, n);
    GPUMB_LAUNCH_BARRIER(add<way>, 1, LAB_BLOCK, 0, (const float4 *)parts, out, blocks);
}

static float by_thrust(gpumb *g, const float *in, uint64_t n)
{
#ifdef LAB_THRUST
    return thrust::reduce(thrust::cuda::par.on((library_stream)gpumb_stream(g)), in, in + n);
#else
    return (void)g, (void)n, *in;
#endif
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    lab_blas *library = lab_open_blas(g);
    const char *const lacks[] = {NULL, LAB_NO_CUB, LAB_NO_CUB, LAB_NO_THRUST, library->why_not};
    GPUMB_SWEEP_FACTOR(g, n, 1 << 12, lab_gpu(g) ? 1 << 28 : 1 << 12, 256) {
        const uint64_t count = (uint64_t)n;
        gpumb_buffer *values = lab_ones(g, count), *sum = gpumb_alloc(g, 4);
        gpumb_buffer *some = gpumb_alloc(g, 4 * BLOCKS);
        const float *in = GPUMB_PTR(float, values);
        float *parts = GPUMB_PTR(float, some), *out = GPUMB_PTR(float, sum);
        float on_host = 0;
        size_t bytes = 0;
        (void)lab_cub_sum(g, NULL, &bytes, in, out, count); /* how many does it want? */
        gpumb_buffer *room = gpumb_alloc(g, bytes);
        lab_host host(sum, NULL, lab_count_of_ones, n, 1, 0);
        GPUMB_SWEEP_STRINGS(g, way, ways, WAYS)
            for (int waits = way >= THRUST; waits < 2; waits++) {
                lab_expect(g, &host);
                gpumb_set_bytes(g, 4.0 * (double)n);
                gpumb_set_capturable(g, !waits);
                gpumb_set_timing(g, waits ? GPUMB_TIMING_HOST : GPUMB_TIMING_AUTO);
                if (lacks[way] && !gpumb_get_settings(g)->replay)
                    gpumb_skip(g, "%s", lacks[way]);
                GPUMB_MEASURE(g, waits ? "and wait" : "sum") {
                    if (way == TREE)
                        add_twice<TREE>(in, parts, out, count);
                    else if (way == BLOCK)
                        add_twice<BLOCK>(in, parts, out, count);
                    else if (way == CUB)
                        (void)lab_cub_sum(g, gpumb_data(room), &bytes, in, out, count);
                    else if (way == THRUST)
                        GPUMB_LAUNCH(put, 1, 1, 0, out, by_thrust(g, in, count));
                    else if (!lab_blas_sum(library, in, &on_host, count, 0))
                        GPUMB_LAUNCH(put, 1, 1, 0, out, on_host);
                }
            }
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        if (gpumb_row_axis(g, i, "n") == 1 << 12 &&
            (i == 0 || gpumb_row_axis(g, i, "way") != gpumb_row_axis(g, i - 1, "way")))
            gpumb_note(g, "By the host's clock: first call of %s %.1f us.",
                       ways[gpumb_row_axis(g, i, "way")], 1e6 * gpumb_row(g, i)->first_launch_s);
    return lab_close(g, __FILE__);
}

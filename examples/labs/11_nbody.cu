/* Lab 11: n-body, tiling and unrolling.
 *
 * Question: all bodies attract all others: 20 FLOP for each pair by convention. A warp's threads
 * all read the same body at the same time. So does it help to put tiles into shared memory? And to
 * unroll the loop, which the compiler does on its own as far as it dares?
 * Change: rsqrtf(...) in place of 1 / sqrtf(...). Then two bodies a thread, so that each body that
 * is loaded serves two pairs: is that faster with so few threads? */
#include "lab.h"

enum { BLOCK = 128 };

__device__ inline void pull(float4 me, float4 other, float3 *a)
{
    const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    const float s = 1 / sqrtf(x * x + y * y + z * z + 1e-2f), f = other.w * s * s * s;
    a->x += f * x;
    a->y += f * y;
    a->z += f * z;
}

template <int tiled, int unroll> __global__ void forces(const float4 *body, float4 *out, unsigned n)
{
    __shared__ float4 tile[BLOCK];
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    float3 a = {0, 0, 0};
    for (unsigned first = 0; first < n; first += BLOCK) {
        __syncthreads();
        if (tiled)
            tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < BLOCK; j += unroll)
            for (unsigned k = 0; k < unroll; k++) /* of a constant length: unrolled */
                pull(body[i], tiled ? tile[j + k] : body[first + j + k], &a);
    }
    out[i] = make_float4(a.x, a.y, a.z, 0);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 65536 : 256;
    gpumb_buffer *body = gpumb_alloc(g, n * sizeof(float4)),
                 *out = gpumb_alloc(g, gpumb_size(body));
    gpumb_fill(g, body, GPUMB_FILL_F32, 1);
    GPUMB_SWEEP_NAMES(g, tiled, "no", "yes")
        GPUMB_SWEEP_LIST(g, unroll, 1, 4, 16) {
            lab_host host = {out, NULL, lab_force, n, 30, 0.1};
            lab_expect(g, &host);
            gpumb_set_flop(g, 20.0 * n * n);
            GPUMB_MEASURE(g, "forces")
                GPUMB_FOR_CONSTANTS(
                    tiled, T, (0, 1),
                    GPUMB_FOR_CONSTANTS(unroll, U, (1, 4, 16),
                                        GPUMB_LAUNCH_BARRIER((forces<T, U>), n / BLOCK, BLOCK, 0,
                                                             GPUMB_PTR(float4, body),
                                                             GPUMB_PTR(float4, out), n)));
        }
    return lab_close(g, __FILE__);
}

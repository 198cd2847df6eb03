/* Lab 11, changed: rsqrtf(); then two bodies a thread, too. */
#include "../lab.h"

enum { BLOCK = 128 };

__device__ inline void pull(float4 me, float4 other, float3 *a)
{
    const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    const float s = rsqrtf(x * x + y * y + z * z + 1e-2f), f = other.w * s * s * s;
    a->x += f * x;
    a->y += f * y;
    a->z += f * z;
}

template <int tiled, int unroll, int bodies>
__global__ void forces(const float4 *body, float4 *out, unsigned n)
{
    __shared__ float4 tile[BLOCK];
    const unsigned i = blockIdx.x * bodies * BLOCK + threadIdx.x;
    float3 a[bodies] = {};
    for (unsigned first = 0; first < n; first += BLOCK) {
        __syncthreads();
        if (tiled)
            tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < BLOCK; j += unroll)
            for (unsigned k = 0; k < unroll; k++) /* of a constant length: unrolled */
                for (unsigned b = 0; b < bodies; b++)
                    pull(body[i + b * BLOCK], tiled ? tile[j + k] : body[first + j + k], &a[b]);
    }
    for (unsigned b = 0; b < bodies; b++)
        out[i + b * BLOCK] = make_float4(a[b].x, a[b].y, a[b].z, 0);
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
            for (int bodies = 1; bodies <= 2; bodies++) {
                lab_host host = {out, NULL, lab_force, n, 30, 0.1};
                lab_expect(g, &host);
                gpumb_set_flop(g, 20.0 * n * n);
                GPUMB_MEASURE(g, bodies == 1 ? "forces" : "two bodies")
                    GPUMB_FOR_CONSTANTS(
                        tiled, T, (0, 1),
                        GPUMB_FOR_CONSTANTS(
                            unroll, U, (1, 4, 16),
                            GPUMB_FOR_CONSTANTS(bodies, B, (1, 2),
                                                GPUMB_LAUNCH_BARRIER((forces<T, U, B>),
                                                                     n / BLOCK / B, BLOCK, 0,
                                                                     GPUMB_PTR(float4, body),
                                                                     GPUMB_PTR(float4, out), n))));
            }
        }
    return lab_close(g, __FILE__);
}

/* Lab 16: warps: votes, shuffles, lanes that don't take part.
 * Question: bytes are counted into 256 bins. How often does a warp of `shared` add for its 32
 * bytes, and with how many lanes? One of `agreed`, where a lane adds for all that have its byte, if
 * bytes are random, skewed, all in one bin? Where is it slower? Why is `global` slow everywhere?
 *     make trace FILE=examples/labs/16_warps.cu ARGS=--profile
 * Change: agree by one vote: if all have the same byte, one adds, else each. Who gains by that? */
#include "lab.h"

#include "../../bench/histogram.h" /* the data, and the check */

enum { GLOBAL, SHARED, AGREED };

/* One lane adds for all that have its byte. */
__device__ inline void add_agreed(unsigned *bins, unsigned byte)
{
    for (lab_lanes left = lab_vote(1), same; left; left &= ~same) { /* who is not counted yet */
        same = lab_vote(byte == lab_from(byte, lab_first(left)));
        if (threadIdx.x % (unsigned)warpSize == lab_first(same))
            atomicAdd(&bins[byte], (unsigned)__popcll(same));
    }
}

template <int form>
__global__ void count(const unsigned char *in, unsigned long long *out, unsigned n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    GPUMB_GRID_STRIDE(i, n)
        if (form == GLOBAL)
            atomicAdd(&out[in[i]], 1ull);
        else if (form == SHARED)
            atomicAdd(&own[in[i]], 1u);
        else
            add_agreed(own, in[i]);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], (unsigned long long)own[threadIdx.x]);
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned blocks = lab_gpu(g) ? 1024 : 64, n = blocks << (lab_gpu(g) ? 16 : 8);
    GPUMB_SWEEP_STRINGS(g, data, data_names, DATA) {
        counting j = new_counting(g, n, (int)data); /* `sums` are zeros */
        const unsigned char *in = GPUMB_PTR(const unsigned char, j.in);
        unsigned long long *bins = GPUMB_PTR(unsigned long long, j.out);
        GPUMB_SWEEP_NAMES(g, form, "global", "shared", "agreed") {
            gpumb_set_bytes(g, n);
            gpumb_set_output(g, j.out);
            gpumb_set_verify(g, check_histogram, &j);
            GPUMB_MEASURE(g, "count") {
                gpumb_memcpy(g, bins, gpumb_data(j.sums), 8 * BINS);
                GPUMB_FOR_CONSTANTS(form, F, (GLOBAL, SHARED, AGREED),
                                    GPUMB_LAUNCH_BARRIER(count<F>, blocks, BINS, 0, in, bins, n));
            }
        }
    }
    return lab_close(g, __FILE__);
}

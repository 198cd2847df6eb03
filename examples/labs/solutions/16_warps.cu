/* Lab 16, changed: lanes agree by one vote, too. */
#include "../lab.h"

#include "../../../bench/histogram.h"

enum { GLOBAL, SHARED, AGREED, BY_VOTE };

/* One lane adds for all that have its byte. */
__device__ inline void add_agreed(unsigned *bins, unsigned byte)
{
    for (lab_lanes left = lab_vote(1), same; left; left &= ~same) { /* who is not counted yet */
        same = lab_vote(byte == lab_from(byte, lab_first(left)));
        if (threadIdx.x % (unsigned)warpSize == lab_first(same))
            atomicAdd(&bins[byte], (unsigned)__popcll(same));
    }
}

/* One lane adds for all if they have the same byte. */
__device__ inline void add_by_vote(unsigned *bins, unsigned byte)
{
    const lab_lanes all = lab_vote(1), same = lab_vote(byte == lab_from(byte, 0));
    if (same != all)
        atomicAdd(&bins[byte], 1u);
    else if (threadIdx.x % (unsigned)warpSize == 0)
        atomicAdd(&bins[byte], (unsigned)__popcll(all));
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
        else if (form == AGREED)
            add_agreed(own, in[i]);
        else
            add_by_vote(own, in[i]);
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
        GPUMB_SWEEP_NAMES(g, form, "global", "shared", "agreed", "by vote") {
            gpumb_set_bytes(g, n);
            gpumb_set_output(g, j.out);
            gpumb_set_verify(g, check_histogram, &j);
            GPUMB_MEASURE(g, "count") {
                gpumb_memcpy(g, bins, gpumb_data(j.sums), 8 * BINS);
                GPUMB_FOR_CONSTANTS(form, F, (GLOBAL, SHARED, AGREED, BY_VOTE),
                                    GPUMB_LAUNCH_BARRIER(count<F>, blocks, BINS, 0, in, bins, n));
            }
        }
    }
    return lab_close(g, __FILE__);
}

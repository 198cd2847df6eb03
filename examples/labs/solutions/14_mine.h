/* 14_mine.h - a histogram of each block in shared memory, words of 16 bytes. */
__global__ void mine(const uint4 *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint4 word = in[i];
        const unsigned words[] = {word.x, word.y, word.z, word.w};
        for (int k = 0; k < 16; k++)
            atomicAdd(&own[words[k / 4] >> 8 * (k % 4) & 255], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

static void launch_mine(const uint8_t *in, unsigned *bins, unsigned n)
{
    GPUMB_LAUNCH_BARRIER(mine, 1056, BLOCK, 0,
                         static_cast<const uint4 *>(static_cast<const void *>(in)), bins, n / 16);
}

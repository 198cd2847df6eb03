/* 14_mine.h - yours: the naive way, for a start. */
__global__ void mine(const uint8_t *in, unsigned *bins, unsigned n)
{
    GPUMB_GRID_STRIDE(i, n)
        atomicAdd(&bins[in[i]], 1);
}

static void launch_mine(const uint8_t *in, unsigned *bins, unsigned n)
{
    GPUMB_LAUNCH(mine, 1024, BLOCK, 0, in, bins, n);
}

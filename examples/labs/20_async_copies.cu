/* Lab 20: copies that a thread starts and does not wait for: bytes on their way without registers.
 * Question: each multiprocessor adds up its part of 1 GiB, by one block of 256 threads, in tiles of
 * 4 KiB; `kib` of them are always on their way. A load from memory that has nothing else to do
 * takes 0.33 us. How many KiB does the peak want? What do half as many reach? Do `loads` get there,
 * which have a register for each 4 bytes that are to come? What do the others save: `copies`, where
 * each thread copies 16 bytes to shared memory, and `bulk`, where one copies the tile for all?
 * Change: let THREADS be 64. Which way is the first to have no room, and where do its words go? */
#include "async.h"

#define KIB 4, 8, 16, 32, 64, 128
enum { THREADS = 256, LOADS = 0, COPIES, BULK };

/* This thread's word of a tile, which has one for each of its block. */
__device__ inline uint64_t place(unsigned tile)
{
    return (blockIdx.x + tile * (uint64_t)gridDim.x) * THREADS + threadIdx.x;
}

template <int way, int kib> __global__ void read(const uint4 *in, unsigned *out, uint64_t n)
{
    enum { TILES = kib * 64 / THREADS };
    __shared__ copy_barrier there[TILES];
    GPUMB_SHARED(uint4, room);
    uint4 word[TILES], *own = room + threadIdx.x;
    unsigned total = 0;
    const auto start = [&](unsigned t, uint64_t i) {
        const uint64_t tile = i < n && n - i < THREADS ? n - i : (uint64_t)THREADS;
        if (way == LOADS)
            word[t] = i < n ? in[i] : uint4();
        else if (way == COPIES && i < n)
            copy16(own + t * THREADS, in + i);
        else if (way == BULK && threadIdx.x == 0 && i < n)
            copy_bulk(own + t * THREADS, in + i, 16 * (unsigned)tile, there + t);
        if (way == COPIES)
            end_of_group();
    };

    if (way == BULK && threadIdx.x == 0)
        new_barriers(there, TILES);
    __syncthreads();
    for (unsigned t = 0; t < TILES; t++)
        start(t, place(t));
    for (unsigned tile = 0; place(tile) - threadIdx.x < n; tile += TILES)
        for (unsigned t = 0; t < TILES && place(tile + t) - threadIdx.x < n; t++) {
            if (way == COPIES)
                wait_for_copies<TILES - 1>();
            else if (way == BULK)
                wait_bulk(there + t, tile / TILES);
            if (place(tile + t) < n)
                total += lab_sum(way == LOADS ? word[t] : own[t * THREADS]);
            if (way == BULK)
                __syncthreads(); /* all have taken theirs */
            start(t, place(tile + TILES + t));
        }
    out[place(0)] = total;
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"loads", "copies", "bulk"};
    gpumb *g = gpumb_open(argc, argv);
    const unsigned blocks = lab_gpu(g) ? (unsigned)gpumb_get_device(g)->multiprocessors : 3;
    const uint64_t n = (lab_gpu(g) ? 1 << 26 : 1 << 15) - 5; /* words of 16 bytes */
    lab_sums_of_words sums = {gpumb_alloc(g, 4 * THREADS * blocks), n, THREADS * blocks, 4096};
    gpumb_buffer *in = lab_words(g, 4 * n);
    GPUMB_SWEEP_LIST(g, kib, KIB)
        GPUMB_SWEEP_STRINGS(g, way, ways, 3) {
            gpumb_set_bytes(g, 16.0 * (double)n);
            gpumb_set_output(g, sums.out);
            gpumb_set_verify(g, lab_check_sums_of_words, &sums);
            needs_sm(g, way == BULK ? 90 : way == COPIES ? 80 : 0, "such copies");
            GPUMB_MEASURE(g, "read")
                GPUMB_FOR_CONSTANTS(
                    way, W, (LOADS, COPIES, BULK),
                    GPUMB_FOR_CONSTANTS(kib, K, (KIB),
                                        GPUMB_LAUNCH_BARRIER((read<W, K>), blocks, THREADS,
                                                             W == LOADS ? 0 : 1024 * K,
                                                             GPUMB_PTR(const uint4, in),
                                                             GPUMB_PTR(unsigned, sums.out), n)));
        }
    lab_note_on_way(g, ways, blocks);
    return lab_close(g, __FILE__);
}

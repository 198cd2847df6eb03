/* Lab 9: pinned and managed memory.
 *
 * Question: how many GB/s cross the link between host and device, and from which size on? What does
 * it change that the host's memory is page-locked? And a kernel that reads it in place? And one
 * that reads managed memory, whose pages are on the host before each run?
 * Change: copy to the host instead. Then a kernel that reads each word 10 times: is it still better
 * off in place? */
#include "lab.h"

__global__ void read_in_place(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

/* Before each run: what a run has moved goes back. */
static void to_host(gpumb *g, void *managed)
{
    gpumb_prefetch(g, (const gpumb_buffer *)managed, GPUMB_MEMORY_HOST);
}

int main(int argc, char **argv)
{
    static const gpumb_memory kinds[] = {GPUMB_MEMORY_HOST, GPUMB_MEMORY_PINNED,
                                         GPUMB_MEMORY_PINNED, GPUMB_MEMORY_MANAGED};
    gpumb *g = gpumb_open(argc, argv);
    GPUMB_SWEEP_FACTOR(g, size, 1 << 14, lab_gpu(g) ? 1 << 26 : 1 << 16, 16)
        GPUMB_SWEEP_NAMES(g, way, "pageable", "pinned", "in place", "managed") {
            const uint64_t bytes = (uint64_t)size;
            gpumb_buffer *host = gpumb_alloc_kind(g, kinds[way], bytes);
            gpumb_buffer *device = gpumb_alloc(g, bytes), *expected = gpumb_alloc(g, bytes);
            lab_pair pair = {device, expected};
            gpumb_fill(g, expected, GPUMB_FILL_BITS, 1);
            gpumb_memcpy(g, gpumb_data(host), gpumb_data(expected), bytes);
            gpumb_set_transfer(g, (double)bytes, 0);
            gpumb_set_output(g, device);
            gpumb_set_verify(g, lab_same, &pair);
            if (way == 3)
                gpumb_set_reset(g, to_host, host);
            GPUMB_MEASURE(g, "to the device") {
                if (way >= 2)
                    GPUMB_LAUNCH(read_in_place, bytes / 1024, 256, 0, GPUMB_PTR(unsigned, host),
                                 GPUMB_PTR(unsigned, device), (unsigned)(bytes / 4));
                else
                    gpumb_memcpy(g, gpumb_data(device), gpumb_data(host), bytes);
            }
        }
    return lab_close(g, __FILE__);
}

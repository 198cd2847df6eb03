/* Lab 9, changed: to the host; and a kernel that needs each word 10 times, in place or copied. */
#include "../lab.h"

__global__ void copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

enum { TIMES = 10 };

/* A word for each thread, 10 times: of blocks far apart, so that no cache has it by then. */
__global__ void ten_times(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = 0;
    for (unsigned k = 0; k < TIMES; k++)
        own += in[(i + k * (n / 16)) % n];
    out[i] = own;
}

static unsigned expected(uint64_t i, int64_t n)
{
    unsigned sum = 0;
    for (uint64_t k = 0; k < TIMES; k++)
        sum += lab_word((i + k * ((uint64_t)n / 16)) % (uint64_t)n);
    return sum;
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
            const unsigned n = (unsigned)(bytes / 4), blocks = n / 256;
            gpumb_buffer *host = gpumb_alloc_kind(g, kinds[way], bytes);
            gpumb_buffer *device = gpumb_alloc(g, bytes), *words = lab_words(g, n);
            gpumb_buffer *out = gpumb_alloc(g, bytes);
            lab_pair pair = {host, words};
            lab_host ten = {out, expected, NULL, n, 1 << 20, 0};
            gpumb_set_transfer(g, 0, (double)bytes);
            gpumb_set_output(g, host);
            gpumb_set_verify(g, lab_same, &pair);
            if (way == 3)
                gpumb_set_reset(g, to_host, host);
            GPUMB_MEASURE(g, "to the host") {
                if (way >= 2)
                    GPUMB_LAUNCH(copy, blocks, 256, 0, GPUMB_PTR(unsigned, words),
                                 GPUMB_PTR(unsigned, host), n);
                else
                    gpumb_memcpy(g, gpumb_data(host), gpumb_data(words), bytes);
            }
            gpumb_memcpy(g, gpumb_data(host), gpumb_data(words), bytes);
            lab_expect(g, &ten);
            gpumb_set_transfer(g, (double)bytes, 0);
            if (way == 3)
                gpumb_set_reset(g, to_host, host);
            GPUMB_MEASURE(g, "10 times") {
                if (way < 2)
                    gpumb_memcpy(g, gpumb_data(device), gpumb_data(host), bytes);
                GPUMB_LAUNCH(ten_times, blocks, 256, 0,
                             GPUMB_PTR(unsigned, way < 2 ? device : host), GPUMB_PTR(unsigned, out),
                             n);
            }
        }
    return lab_close(g, __FILE__);
}

/* 05: kinds of memory: a copy between each two of them, as a share of the link to the host, and a
 * kernel that reads the host's memory through that link. */
#define GPUMB_COPY
#define GPUMB_IMPLEMENTATION
#include "gpumb.h"

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t bytes = (uint64_t)64 << 20;
    GPUMB_SWEEP_NAMES(g, from, "device", "pinned", "managed", "host")
        GPUMB_SWEEP_NAMES(g, to, "device", "pinned", "managed", "host") {
            gpumb_buffer *in = gpumb_alloc_kind(g, (gpumb_memory)from, bytes);
            gpumb_buffer *out = gpumb_alloc_kind(g, (gpumb_memory)to, bytes);
            gpumb_copy_check check = {in, out, bytes, GPUMB_READ_WRITE};
            gpumb_fill(g, in, GPUMB_FILL_BITS, gpumb_get_settings(g)->seed);

            gpumb_set_bytes(g,
                            (double)bytes); /* once, as it crosses the link: not read + written */
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "memcpy")
                gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), bytes);

            if (from != GPUMB_MEMORY_PINNED || to != GPUMB_MEMORY_DEVICE)
                continue;
            gpumb_set_transfer(g, (double)bytes, 0); /* nobody sees what memory a kernel reads */
            gpumb_set_output(g, out);
            gpumb_set_verify(g, gpumb_check_copy, &check);
            GPUMB_MEASURE(g, "zero-copy")
                gpumb_copy(g, GPUMB_FORM_NAIVE, 16, bytes / 16, 0, gpumb_data(in), gpumb_data(out));
        }
    return gpumb_close(g);
}

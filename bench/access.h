/* What strided.cu and offset.cu share: the sizes in which a device fetches, which their models of
 * coalescing need. Include it after gpumb.h. */
#ifndef BENCH_ACCESS_H
#define BENCH_ACCESS_H

#include "bench.h"

/* Threads that ask together, and bytes in which the memory answers. */
typedef struct access_unit {
    int warp, sector, line;
} access_unit;

static inline access_unit unit_of_access(gpumb *g, int elem)
{
    const gpumb_device *d = gpumb_get_device(g);
    access_unit unit = {d->warp_size, 32, 128}; /* NVIDIA, through either runtime */
    if (!strncmp(d->arch, "gfx", 3)) {
        /* gfx900 ... gfx909 and what came before have the short lines */
        const int vega = !strncmp(d->arch, "gfx90", 5) && d->arch[5] >= '0' && d->arch[5] <= '9';
        const int before = d->arch[3] == '8' || d->arch[3] == '7' || d->arch[3] == '6';
        unit.sector = 64;
        unit.line = (vega || before) && strlen(d->arch) == 6 ? 64 : 128;
    } else if (!is_gpu(g)) {
        /* Nothing asks for a warp at once: lines are fetched for the threads one after the other.
         * A run of 64 bytes, aligned to a line, gives the same count. */
        unit.warp = elem > 0 && elem < 64 ? 64 / elem : 1;
        unit.sector = unit.line = 64;
    }
    return unit;
}

/* The next region moves check->n elements and is checked for it; `touched` are the bytes of both
 * buffers that the caches meet. */
static inline void describe_access(gpumb *g, gpumb_stride_check *check, gpumb_buffer *out,
                                   uint64_t touched)
{
    gpumb_set_bytes(g, 2.0 * (double)check->n * check->elem);
    gpumb_set_footprint(g, touched);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_strided, check);
}

#endif

/* What the benchmarks share. Include it after gpumb.h. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <string.h>

static inline int is_gpu(gpumb *g)
{
    return strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
}

/* The values of an axis. */
typedef struct values {
    const int64_t *at;
    size_t count;
} values;

static inline values values_of(const int64_t *at, size_t count)
{
    const values v = {at, count};
    return v;
}
#define VALUES(array) values_of((array), sizeof(array) / sizeof((array)[0]))

/* Those of the profile; the CPU backend takes long for a row, and has a short list of its own. */
static inline values choose(gpumb *g, values full, values quick, values cpu)
{
    return gpumb_get_settings(g)->full ? full : is_gpu(g) ? quick : cpu;
}

/* The row if it is one of this benchmark with a rate to conclude from, else NULL. */
static inline const gpumb_result *row_of(gpumb *g, size_t row, const char *bench)
{
    const gpumb_result *r = gpumb_row(g, row);
    const int sound = r && r->status == GPUMB_STATUS_OK && !(r->flags & GPUMB_FLAG_NOISY);
    return sound && r->gbps > 0 && !strcmp(r->bench, bench) ? r : NULL;
}

#endif

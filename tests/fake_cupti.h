/* fake_cupti.h - what profiler.c tells fake_cupti.c to do, and what it has seen. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

typedef struct fake_cupti {
    const char *fails; /* the end of the name of a function that fails */
    int refused_kind;  /* cuptiActivityEnable() fails for it */
    size_t used;       /* bytes that it uses of a buffer at most; 0: all */

    uint32_t kinds;          /* bit k: kind k is recorded */
    int attached, detached;  /* calls; the first call of any function attaches */
    int misuses;             /* wrong arguments, or a function that is not due */
    int buffers, deliveries; /* buffers that it has now; how many it has given back */
    uint64_t dropped;        /* records that found no buffer */

    /* the range profiler */
    int error;               /* that the failing function returns; 0: 1 */
    size_t passes;           /* that it takes */
    int range, hosts, opens; /* enabled now; host objects that live; how often enabled */
    int failed, bad;         /* one has; calls after that: the real one may crash */
    int started;             /* passes */
    int no_context;          /* cuCtxGetCurrent() finds none */
    int chips; /* that a chip was asked for: the real one crashes when detached once */

    void (*count)(double work);                                     /* for the counters */
    void (*run)(uint32_t kind, uint64_t start_ns, uint64_t end_ns); /* something has ended */
    void (*ask)(void);                                              /* for a buffer, without need */
} fake_cupti;

#endif

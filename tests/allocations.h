// allocations.h - counts the library's host allocations and fails one of them. Before gpumb.h.
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdlib.h>

static long allocations, live_allocations, fail_allocation; // the one that fails; 0: none

static void *counted_malloc(size_t bytes)
{
    if (++allocations == fail_allocation)
        return NULL;
    void *p = malloc(bytes);
    live_allocations += p != NULL;
    return p;
}

static void counted_free(void *p)
{
    live_allocations -= p != NULL;
    free(p);
}

#define GPUMB_MALLOC(n) counted_malloc(n)
#define GPUMB_FREE(p) counted_free(p)

#endif

/* What latency.cu is made of and no device is needed for: chains for a pointer chase, the plateaus
 * of a latency over the footprint, groups of latencies. C99 and C++11. */
#ifndef BENCH_CHASE_H
#define BENCH_CHASE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- chains ---------------------------------------------------------------------------------- */

/* next[i], i < n: where a chase goes from i; all of them are one cycle, drawn from all such cycles
 * (S. Sattolo, Inf. Process. Lett. 22, 1986), so that no prefetcher knows what comes. */
static inline void make_cycle(uint32_t *next, uint32_t n, uint64_t seed)
{
    uint64_t state = seed * 0xd1342543de82ef95u; /* far from that of the next seed */
    for (uint32_t i = 0; i < n; i++)
        next[i] = i;
    for (uint32_t i = n; i-- > 1;) {                   /* with one below it, never with itself */
        uint64_t mixed = state += 0x9e3779b97f4a7c15u; /* splitmix64, Steele et al., OOPSLA 2014 */
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
        const uint32_t j = (uint32_t)((mixed >> 32) * i >> 32), kept = next[i];
        next[i] = next[j];
        next[j] = kept;
    }
}

/* Where so many steps lead. */
static inline uint32_t walk_cycle(const uint32_t *next, uint32_t at, uint64_t steps)
{
    while (steps--)
        at = next[at];
    return at;
}

/* ---- plateaus -------------------------------------------------------------------------------- */

/* Points first ... last; `level` is the median of their y. */
typedef struct plateau {
    size_t first, last;
    double level;
} plateau;

#define PLATEAU_FLAT 1.10 /* its largest y is at most so many times its smallest, */
#define PLATEAU_WIDE 1.33 /* its last x at least so many times its first, */
#define PLATEAU_APART 1.2 /* and the level of the next is at least so far from it */
enum { PLATEAU_POINTS = 3, PLATEAU_POINTS_MOST = 512 };

static inline double median_of(const double *y, size_t first, size_t last)
{
    double sorted[PLATEAU_POINTS_MOST];
    const size_t n = last - first + 1;
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        for (; k && sorted[k - 1] > y[first + i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = y[first + i];
    }
    return 0.5 * (sorted[n / 2] + sorted[(n - 1) / 2]);
}

/* The widest flat stretch within points begin ... end - 1; of equally wide ones the flattest. 0:
 * there is none. */
static inline int widest_plateau(const double *x, const double *y, size_t begin, size_t end,
                                 plateau *p)
{
    double widest = 0, flattest = 0;
    for (size_t i = begin; i < end; i++) {
        double low = y[i], high = y[i];
        for (size_t k = i; k < end; k++) {
            low = y[k] < low ? y[k] : low;
            high = y[k] > high ? y[k] : high;
            if (!(y[k] > 0) || high > PLATEAU_FLAT * low)
                break;
            const double width = log(x[k] / x[i]);
            const int same = fabs(width - widest) < 1e-9;
            if (k - i + 1 < PLATEAU_POINTS || width < log(PLATEAU_WIDE) - 1e-9 ||
                (same ? high / low >= flattest : width < widest))
                continue;
            widest = width;
            flattest = high / low;
            p->first = i;
            p->last = k;
        }
    }
    if (widest > 0)
        p->level = median_of(y, p->first, p->last);
    return widest > 0;
}

static inline size_t split_plateaus(const double *x, const double *y, size_t begin, size_t end,
                                    plateau *found, size_t most)
{
    plateau p;
    if (!most || !widest_plateau(x, y, begin, end, &p))
        return 0;
    size_t count = split_plateaus(x, y, begin, p.first, found, most - 1);
    found[count++] = p;
    return count + split_plateaus(x, y, p.last + 1, end, found + count, most - count);
}

/* The plateaus of n points, x rising, x and y positive: the widest flat stretch first, then the
 * same on either side of it. Of two neighbours that are not apart, pieces of a slope, the wider
 * stays. Returns how many, in the order of x. */
static inline size_t find_plateaus(const double *x, const double *y, size_t n, plateau *found,
                                   size_t most)
{
    size_t count = n <= PLATEAU_POINTS_MOST ? split_plateaus(x, y, 0, n, found, most) : 0;
    for (size_t i = 0; i + 1 < count;) {
        const plateau *a = &found[i], *b = a + 1;
        const double ratio = b->level / a->level;
        if (ratio >= PLATEAU_APART || ratio <= 1 / PLATEAU_APART) {
            i++;
            continue;
        }
        const int first = x[a->last] / x[a->first] < x[b->last] / x[b->first];
        for (size_t k = first ? i : i + 1; k + 1 < count; k++)
            found[k] = found[k + 1];
        count--;
        i = i ? i - 1 : 0; /* the one before has a new neighbour */
    }
    return count;
}

/* Which memory a plateau is of, by the size in whose middle it lies; caches of 0 bytes are not
 * known. */
enum { IN_L1, IN_L2, IN_MEMORY, MEMORIES };

static inline int memory_of(const double *x, const plateau *p, double l1, double l2)
{
    const double middle = sqrt(x[p->first] * x[p->last]);
    return middle <= l1 ? IN_L1 : middle <= l2 ? IN_L2 : IN_MEMORY;
}

/* ---- groups ---------------------------------------------------------------------------------- */

#define GROUP_APART 0.01 /* the gap between two groups is at least such a part of the median, */
#define GROUP_GAP 30     /* so many times as wide as the mean one of the middle four fifths, */
#define GROUP_SHARE 0.1  /* and has at least such a part of all values on either side */
enum { GROUP_LEAST = 40 };

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts n values. Returns how many are in the lower of two groups, those below the widest gap; 0:
 * there are no two. */
static inline size_t split_groups(double *v, size_t n)
{
    const size_t edge = (size_t)ceil(GROUP_SHARE * (double)n);
    size_t at = 0;
    double widest = 0;
    qsort(v, n, sizeof *v, compare_doubles);
    if (n < GROUP_LEAST)
        return 0;
    for (size_t i = edge; i <= n - edge; i++)
        if (v[i] - v[i - 1] > widest) {
            widest = v[i] - v[i - 1];
            at = i;
        }
    const double mean = (v[n - edge] - v[edge - 1] - widest) / (double)(n - 2 * edge);
    return widest >= GROUP_APART * v[n / 2] && widest > GROUP_GAP * mean ? at : 0;
}

#endif

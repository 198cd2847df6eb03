/* lab.h - what the labs share: the header, whose implementation is an object that is linked, and
 * checks. */
#ifndef LAB_H
#define LAB_H

#include "../../gpumb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1 on a GPU, also one whose rows are replayed; the CPU gets smaller sizes. */
static inline int lab_gpu(gpumb *g)
{
    return strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
}

/* For gpumb_set_verify(): `out` has to hold what `expected` holds. */
typedef struct lab_pair {
    gpumb_buffer *out, *expected;
} lab_pair;

static inline int lab_same(gpumb *g, void *user)
{
    const lab_pair *pair = (const lab_pair *)user;
    uint64_t first = 0;
    if (!gpumb_compare(g, pair->out, pair->expected, gpumb_size(pair->expected), &first))
        return 1;
    gpumb_reason(g, "byte %llu is not as expected", (unsigned long long)first);
    return 0;
}

/* A buffer of random words, or of random floats in [-1, 1); and one of them, on the host. */
static inline gpumb_buffer *lab_words(gpumb *g, uint64_t count)
{
    gpumb_buffer *b = gpumb_alloc(g, 4 * count);
    gpumb_fill(g, b, GPUMB_FILL_BITS, 1);
    return b;
}

static inline unsigned lab_word(uint64_t i)
{
    return (unsigned)(gpumb_fill_word(GPUMB_FILL_BITS, 1, i / 2) >> 32 * (i % 2));
}

static inline double lab_float(uint64_t i)
{
    const uint64_t pair = gpumb_fill_word(GPUMB_FILL_F32, 1, i / 2);
    const unsigned bits = (unsigned)(pair >> 32 * (i % 2));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* For gpumb_set_verify(): each i-th word, or float, of `out` has to be what a function of the host
 * says; `most` of them are looked at, spread over the buffer. */
typedef struct lab_host {
    gpumb_buffer *out;
    unsigned (*word)(uint64_t i, int64_t about);
    double (*real)(uint64_t i, int64_t about); /* in place of that ... */
    int64_t about;
    uint64_t most;
    double tolerance; /* ... as close as that */
} lab_host;

static inline int lab_check(gpumb *g, void *user)
{
    const lab_host *h = (const lab_host *)user;
    const uint64_t count = gpumb_size(h->out) / 4, step = count / h->most | 1;
    unsigned *out = (unsigned *)malloc(4 * count + 1);
    int right = out && !gpumb_read(g, h->out, 0, out, 4 * count);
    for (uint64_t i = 0; i < count && right; i += step) {
        float value;
        memcpy(&value, &out[i], sizeof value);
        const double wanted = h->real ? h->real(i, h->about) : (double)h->word(i, h->about);
        const double found = h->real ? (double)value : (double)out[i];
        right = fabs(found - wanted) <= h->tolerance;
        if (!right)
            gpumb_reason(g, "element %llu is %.10g, not %.10g", (unsigned long long)i, found,
                         wanted);
    }
    free(out);
    return right;
}

/* Describes the next region: what it writes, and how that is checked. */
static inline void lab_expect(gpumb *g, lab_host *h)
{
    gpumb_set_output(g, h->out);
    gpumb_set_verify(g, lab_check, h);
}

/* What lab 11 computes, in fp64: component i % 4 of the force on body i / 4. Bodies are x, y, z,
 * mass: four floats each. */
static inline double lab_force(uint64_t i, int64_t n)
{
    double sum = 0;
    for (uint64_t j = 0; j < 4 * (uint64_t)n && i % 4 < 3; j += 4) {
        double d[3], square = 1e-2;
        for (uint64_t k = 0; k < 3; k++) {
            d[k] = lab_float(j + k) - lab_float(i / 4 * 4 + k);
            square += d[k] * d[k];
        }
        sum += lab_float(j + 3) * d[i % 4] / (square * sqrt(square));
    }
    return sum;
}

#endif

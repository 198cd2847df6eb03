/* lab.h - what the labs share: the header, whose implementation is an object that is linked, and
 * checks. */
#ifndef LAB_H
#define LAB_H

#include "../../gpumb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 on a GPU, also one whose rows are replayed; the CPU gets smaller sizes. */
static inline int lab_gpu(gpumb *g)
{
    return strcmp(gpumb_get_device(g)->backend, "cpu") != 0;
}

/* What a warp's lanes do together, all of them: which lanes say yes, as bits; what a lane has; the
 * first of some lanes. In CUDA, where a warp has 32, these are __ballot_sync(0xffffffff, yes),
 * __shfl_sync(0xffffffff, x, lane) and __ffs(lanes) - 1. */
typedef unsigned long long lab_lanes;

static __device__ inline lab_lanes lab_vote(int yes)
{
    return GPUMB_BALLOT(GPUMB_ALL_LANES, yes);
}

static __device__ inline unsigned lab_from(unsigned x, unsigned lane)
{
    return GPUMB_SHUFFLE_FROM(GPUMB_ALL_LANES, x, lane);
}

static __device__ inline unsigned lab_first(lab_lanes lanes)
{
    return (unsigned)__popcll((lanes & (0 - lanes)) - 1);
}

static __device__ inline unsigned lab_sum(uint4 word)
{
    return word.x + word.y + word.z + word.w;
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

/* A buffer of random words; and one of them, or of random floats or doubles in [-1, 1), on the
 * host. */
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

static inline double lab_double(uint64_t i)
{
    const uint64_t bits = gpumb_fill_word(GPUMB_FILL_F64, 1, i);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double lab_float(uint64_t i)
{
    const uint64_t pair = gpumb_fill_word(GPUMB_FILL_F32, 1, i / 2);
    const unsigned bits = (unsigned)(pair >> 32 * (i % 2));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* For gpumb_set_verify(): each i-th word, float or double of `out` has to be what a function of the
 * host says; `most` of them are looked at, spread over the buffer. */
struct lab_host {
    gpumb_buffer *out;
    unsigned (*word)(uint64_t i, int64_t about);
    double (*real)(uint64_t i, int64_t about); /* in place of that ... */
    int64_t about;
    uint64_t most;
    double tolerance; /* ... as close as that */
    int doubles;      /* 1: 8 bytes each, not 4 */

    lab_host(gpumb_buffer *output, unsigned (*word_at)(uint64_t, int64_t),
             double (*real_at)(uint64_t, int64_t), int64_t of, uint64_t looks, double close,
             int has_doubles = 0)
        : out(output), word(word_at), real(real_at), about(of), most(looks), tolerance(close),
          doubles(has_doubles)
    {
    }
};

static inline int lab_check(gpumb *g, void *user)
{
    const lab_host *h = (const lab_host *)user;
    const uint64_t size = h->doubles ? 8 : 4, count = gpumb_size(h->out) / size;
    unsigned char *out = (unsigned char *)malloc(size * count + 1);
    int right = out && !gpumb_read(g, h->out, 0, out, size * count);
    for (uint64_t i = 0; i < count && right; i += count / h->most | 1) {
        double found = 0;
        float real;
        unsigned word;
        memcpy(&found, out + size * i, h->doubles ? 8 : 0);
        memcpy(&real, out + size * i, sizeof real);
        memcpy(&word, out + size * i, sizeof word);
        found = h->doubles ? found : h->real ? (double)real : (double)word;
        const double wanted = h->real ? h->real(i, h->about) : (double)h->word(i, h->about);
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

/* What lab 15 computes, in fp64: element i of the square of a matrix of n x n floats. */
static inline double lab_product(uint64_t i, int64_t n)
{
    const uint64_t side = (uint64_t)n, row = i / side * side, column = i % side;
    double sum = 0;
    for (uint64_t k = 0; k < side; k++)
        sum += lab_float(row + k) * lab_float(k * side + column);
    return sum;
}

/* What lab 18 computes, of a word and of word i. No compiler knows a shorter way. */
static __host__ __device__ inline unsigned lab_scrambled(unsigned x, unsigned steps)
{
    while (steps-- > 0)
        x += (x * x) | 5;
    return x;
}

static inline unsigned lab_scrambled_word(uint64_t i, int64_t steps)
{
    return lab_scrambled(lab_word(i), (unsigned)steps);
}

/* Lab 18's model: when the last of `chunks` is back, if a stage takes stage[k] for all of them. A
 * chunk's stage begins when its stage before is through, and the same stage of the chunk before;
 * its first one, when the chunk before in its stream is back. */
static inline double lab_pipeline(const double stage[3], int64_t chunks, int streams)
{
    double through[3] = {0, 0, 0}, back[8] = {0, 0, 0, 0, 0, 0, 0, 0}, now = 0;
    for (int64_t c = 0; c < chunks; c++) {
        now = back[c % streams];
        for (int k = 0; k < 3; k++)
            now = through[k] = fmax(now, through[k]) + stage[k] / (double)chunks;
        back[c % streams] = now;
    }
    return now;
}

/* A checksum of a text without its comments, white space and what is in quotes (FNV-1a): the names
 * there are looked for by a replay itself, and the rest is said of the rows. 0: no such file. */
static inline unsigned lab_checksum(const char *name)
{
    FILE *file = fopen(name, "rb");
    unsigned sum = file ? 2166136261u : 0;
    int inside = 0, before = ' '; /* '/', '*' or '"': what opened it */
    for (int c = ' '; file && before != EOF; c = fgetc(file)) {
        if (inside) {
            const int escapes = inside == '"' && before == '\\';
            const int ends = inside == '/'   ? c == '\n'
                             : inside == '*' ? before == '*' && c == '/'
                                             : c == '"' && !escapes;
            inside = ends ? 0 : inside;
            before = c != EOF && (ends || escapes) ? ' ' : c;
        } else {
            const int comment = before == '/' && (c == '/' || c == '*');
            const int opens = comment || (c == '"' && before != '\'');
            if (!comment && !strchr(" \t\r\n", before))
                sum = (sum ^ (unsigned)before) * 16777619u;
            inside = opens ? c : 0;
            before = opens ? ' ' : c;
        }
    }
    if (file)
        fclose(file);
    return sum;
}

/* Such a note from the file's name on: a solution compiled in its own folder has no path. */
static inline const char *lab_named(const char *note)
{
    const char *slash = strrchr(note, '/'), *blank = strchr(note, ' ');
    return slash ? slash + 1 : blank ? blank + 1 : note;
}

/* Notes which program the rows are of, and closes the context. Where they are replayed by another
 * one, changed since, it says so. `part`: a file beside `source` that it includes. */
static inline int lab_close(gpumb *g, const char *source, const char *part = NULL)
{
    const char *slash = strrchr(source, '/'), *file = slash ? slash + 1 : source;
    const char *solution = strstr(source, "solutions/"), *name = solution ? solution : file;
    const char *rows = gpumb_get_settings(g)->replay;
    char path[1000], here[200], there[200] = "";
    unsigned sum = lab_checksum(source);
    if (part && sum) {
        snprintf(path, sizeof path, "%.*s%s", (int)(file - source), source, part);
        sum ^= lab_checksum(path);
    }
    snprintf(here, sizeof here, "Source: %s, checksum %08x.", part ? part : name, sum);
    FILE *kept = rows ? fopen(rows, "r") : NULL;
    while (kept && fgets(path, sizeof path, kept))
        if (strstr(path, "\"Source: "))
            snprintf(there, sizeof there, "%.*s", (int)strcspn(strstr(path, "Source: "), "\""),
                     strstr(path, "Source: "));
    if (kept)
        fclose(kept);
    if (sum && (!rows || !strcmp(lab_named(here), lab_named(there))))
        gpumb_note(g, "%s", here);
    else if (rows && !sum)
        gpumb_note(g, "Run it where %s can be read, to learn whether these rows are its own.",
                   source);
    else if (there[0])
        gpumb_note(g, "THESE ROWS ARE OF ANOTHER PROGRAM, and don't show what differs here! %s",
                   there);
    return gpumb_close(g);
}

#endif

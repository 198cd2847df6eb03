/* async.h - for labs 20 and 23: what their kernels have read and counted is checked; copies and
 * clusters are those of bench/async.h. */
#ifndef LAB_ASYNC_H
#define LAB_ASYNC_H

#include "lab.h"

#include "../../bench/async.h"

#include <vector>

/* By the names that the labs have for them; their stored rows are of these very sources. */
#define lab_needs needs_sm
#define lab_copy16 copy16
#define lab_end_group end_of_group
#define lab_wait_groups wait_for_copies
#define lab_barrier copy_barrier
#define lab_new_barriers new_barriers
#define lab_copy_bulk copy_bulk
#define lab_wait_bulk wait_bulk
#define lab_rank cluster_rank
#define lab_sync_cluster sync_cluster
#define lab_add_at add_at
#define lab_resident resident_blocks

/* Little's law: what is on its way is the rate, times how long each byte takes. */
static inline void lab_note_on_way(gpumb *g, const char *const *ways, unsigned blocks)
{
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const double kib = (double)gpumb_row_axis(g, i, "kib");
        if (r->gbps > 0)
            gpumb_note(g, "%.0f KiB, %s: %.0f GB/s, each on its way for %.0f ns; %d registers", kib,
                       ways[gpumb_row_axis(g, i, "way")], r->gbps, 1024 * kib * blocks / r->gbps,
                       r->registers);
    }
}

/* For gpumb_set_verify(): word i of `out` has to be the sum of what thread i of all reads, every
 * `threads`-th word of 16 bytes of `n`; `most` of them are looked at. */
struct lab_sums_of_words {
    gpumb_buffer *out;
    uint64_t n, threads, most;
};

static inline int lab_check_sums_of_words(gpumb *g, void *user)
{
    const lab_sums_of_words *s = (const lab_sums_of_words *)user;
    unsigned *out = (unsigned *)malloc(4 * s->threads + 1);
    int right = out && !gpumb_read(g, s->out, 0, out, 4 * s->threads);
    for (uint64_t i = 0; i < s->threads && right; i += s->threads / s->most | 1) {
        unsigned wanted = 0;
        for (uint64_t j = i; j < s->n; j += s->threads)
            for (uint64_t k = 0; k < 4; k++)
                wanted += lab_word(4 * j + k);
        right = out[i] == wanted;
        if (!right)
            gpumb_reason(g, "thread %llu has added up %u, not %u", (unsigned long long)i, out[i],
                         wanted);
    }
    free(out);
    return right;
}

/* The bins of a block, where so many blocks share them; 0: they are in global memory. */
static __host__ __device__ inline unsigned lab_each(unsigned bins, unsigned cluster)
{
    return cluster ? (bins + cluster - 1) / cluster : 0;
}

/* Into which of the bins, all equally wide, a word falls; and its square's high half. */
static __host__ __device__ inline unsigned lab_bin(unsigned word, unsigned bins)
{
    return (unsigned)((uint64_t)word * bins >> 32);
}

static __host__ __device__ inline unsigned lab_square(unsigned word)
{
    return lab_bin(word, word);
}

/* Bytes of shared memory that a block can have. */
static inline uint64_t lab_room(gpumb *g)
{
    const gpumb_device *d = gpumb_get_device(g);
    return !lab_gpu(g) ? 1 << 20 : strncmp(d->arch, "sm_", 3) ? d->l1_bytes : d->l1_bytes - 1024;
}

/* For gpumb_set_verify(): `out` has to be how many of the first words of random bits, or of their
 * squares, are in each of the bins. */
struct lab_counts {
    gpumb_buffer *out;
    uint64_t words;
    unsigned bins;
    int squared;
};

static inline int lab_check_counts(gpumb *g, void *user)
{
    static std::vector<unsigned> wanted; /* by what was asked for last: counting takes a while */
    static int of_squares;
    const lab_counts *c = (const lab_counts *)user;
    std::vector<unsigned> found(c->bins);
    if (gpumb_read(g, c->out, 0, found.data(), 4 * (uint64_t)c->bins))
        return 0;
    if (wanted.size() != c->bins || of_squares != c->squared) {
        wanted.assign(c->bins, 0);
        of_squares = c->squared;
        for (uint64_t i = 0; i < c->words; i++)
            wanted[lab_bin(c->squared ? lab_square(lab_word(i)) : lab_word(i), c->bins)]++;
    }
    for (unsigned bin = 0; bin < c->bins; bin++)
        if (found[bin] != wanted[bin]) {
            gpumb_reason(g, "bin %u has %u, not %u", bin, found[bin], wanted[bin]);
            return 0;
        }
    return 1;
}

#endif

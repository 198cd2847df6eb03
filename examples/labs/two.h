/* two.h - for lab 24: a second device of the host, beside the context's own; how sums and copies
 * are checked that both have made; a model of what the second one brings. */
#ifndef LAB_TWO_H
#define LAB_TWO_H

#include "lab.h"

#include "../../bench/devices.h"

#include <vector>

/* Devices, and what belongs to the second one; its number is negative where there is none whose
 * memory the first one reaches, and it the first one's. */
struct lab_two {
    int here, there;
    void *stream, *began, *ended; /* `began` is an event of the first */
    unsigned *memory;
    uint64_t bytes;
};

static inline lab_two lab_second_device(gpumb *g, uint64_t bytes)
{
    const int here = gpumb_get_device(g)->ordinal;
    const int count = gpumb_get_settings(g)->replay ? 1 : device_count();
    const int there = count > 1 ? (here + 1) % count : here;
    lab_two two = {here, -1, NULL, NULL, NULL, NULL, bytes};
    if (there == here || !can_reach(here, there) || !can_reach(there, here))
        return two;
    let_reach(here, there, 1);
    let_reach(there, here, 1);
    two.memory = (unsigned *)memory_on(there, bytes);
    two.stream = new_stream();
    two.ended = new_event();
    two.there = two.memory ? there : -1;
    use_device(here);
    two.began = new_event();
    return two;
}

static inline void lab_free_second(lab_two *two)
{
    free_event(two->began);
    if (two->there >= 0) {
        free_on(two->there, two->memory);
        free_stream(two->stream);
        free_event(two->ended);
        use_device(two->here);
    }
}

/* Skips the next region where it needs a second device that isn't there. */
static inline void lab_needs_two(gpumb *g, const lab_two *two)
{
    if (two && two->there < 0 && !gpumb_get_settings(g)->replay)
        gpumb_skip(g, "needs two devices that reach each other's memory, and there is one");
}

/* What is launched between these runs on the second device, after what the first one has had to do
 * so far; and what the first one gets later waits for it. */
static inline void *lab_begin_there(gpumb *g, const lab_two *two)
{
    order_streams(gpumb_stream(g), two->began, two->stream);
    use_device(two->there);
    return two->stream;
}

static inline void lab_end_there(gpumb *g, const lab_two *two)
{
    use_device(two->there);
    order_streams(two->stream, two->ended, gpumb_stream(g));
    use_device(two->here);
}

/* Before a region, or behind its check: the second device's memory is poison, but for what it has
 * of `from`. */
static inline void lab_lay(const lab_two *two, const void *from, uint64_t bytes)
{
    if (!two || two->there < 0)
        return;
    use_device(two->there);
    set_bytes(two->stream, two->memory, 0xff, two->bytes);
    copy_between(two->stream, two->memory, two->there, from, two->here, bytes);
    wait_for(two->stream);
    use_device(two->here);
}

/* For gpumb_set_verify(): the words of `out` have to make the sum of the first random words. */
struct lab_total {
    gpumb_buffer *out;
    uint64_t words;
    const lab_two *two; /* NULL: the first device alone */
    const void *laid;   /* what the second device has from the start, so many bytes */
    uint64_t bytes;
};

static inline int lab_check_total(gpumb *g, void *user)
{
    static uint64_t words; /* for which the sum is known: it takes a while */
    static unsigned wanted;
    const lab_total *t = (const lab_total *)user;
    std::vector<unsigned> out(gpumb_size(t->out) / 4);
    unsigned found = 0;
    if (gpumb_read(g, t->out, 0, out.data(), 4 * out.size()))
        return 0;
    lab_lay(t->two, t->laid, t->bytes);
    for (const unsigned part : out)
        found += part;
    if (words != t->words)
        for (words = 0, wanted = 0; words < t->words; words++)
            wanted += lab_word(words);
    if (found != wanted)
        gpumb_reason(g, "the sum is %u, not %u", found, wanted);
    return found == wanted;
}

/* Describes the next region, which event pairs are to time, and poisons what it writes on the
 * second device, but for what is there from the start. */
static inline void lab_expect_total(gpumb *g, lab_total *t)
{
    lab_needs_two(g, t->two);
    lab_lay(t->two, t->laid, t->bytes);
    gpumb_set_output(g, t->out);
    gpumb_set_verify(g, lab_check_total, t);
    if (lab_gpu(g))
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
}

/* The same: `out` has to be as `in`, and so has the second device's memory behind the first `bytes`
 * of it, where both have sent. */
struct lab_arrived {
    gpumb_buffer *out, *in, *back; /* the last one for what comes back, to look at */
    const lab_two *two;
    uint64_t bytes;
    int both;
};

static inline int lab_check_arrived(gpumb *g, void *user)
{
    const lab_arrived *a = (const lab_arrived *)user;
    uint64_t first = 0;
    if (gpumb_compare(g, a->out, a->in, a->bytes, &first)) {
        gpumb_reason(g, "byte %llu is not as it was sent", (unsigned long long)first);
        return 0;
    }
    if (!a->both)
        return 1;
    use_device(a->two->there);
    copy_between(a->two->stream, gpumb_data(a->back), a->two->here,
                 (const char *)a->two->memory + a->bytes, a->two->there, a->bytes);
    wait_for(a->two->stream);
    use_device(a->two->here);
    lab_lay(a->two, gpumb_data(a->in), a->bytes);
    if (gpumb_compare(g, a->back, a->in, a->bytes, &first)) {
        gpumb_reason(g, "byte %llu there is not as it was sent", (unsigned long long)first);
        return 0;
    }
    return 1;
}

static inline void lab_expect_arrived(gpumb *g, lab_arrived *a)
{
    lab_needs_two(g, a->two);
    lab_lay(a->two, gpumb_data(a->in), a->bytes);
    gpumb_set_output(g, a->out);
    gpumb_set_verify(g, lab_check_arrived, a);
    if (lab_gpu(g))
        gpumb_set_timing(g, GPUMB_TIMING_EVENT);
}

/* Lab 24's model: how many times as fast two devices are as one, which takes `one_s` for all uses
 * of the words; `part` of them are the second one's, and take `link_s` from device to device. */
enum { LAB_ONE, LAB_SPLIT, LAB_SENT, LAB_REACHED };

static inline double lab_gain(int64_t way, double one_s, double times, double part, double link_s)
{
    const double here = one_s * (1 - part), there = one_s * part;
    return way == LAB_SENT      ? one_s / fmax(here, link_s + there)
           : way == LAB_REACHED ? one_s / fmax(here, fmax(times * link_s, there))
                                : one_s / fmax(here, there);
}

/* For each sum, how many times as fast it is as that by one device, and what the model says, by the
 * rate of the longest copy one way. */
static inline void lab_note_gains(gpumb *g, int per_cent)
{
    static const char *const ways[] = {"one", "split", "sent", "reached"};
    const double part = per_cent / 100.0;
    double rate = 0, one_s = 0;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        if (!strcmp(gpumb_row(g, i)->kernel, "copy") && gpumb_row_axis(g, i, "at_once") == 0)
            rate = 1e9 * gpumb_row(g, i)->gbps;
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g) && rate > 0; i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const int64_t way = gpumb_row_axis(g, i, "way"), words = gpumb_row_axis(g, i, "words");
        const double times = (double)gpumb_row_axis(g, i, "times"), s = r->time.median;
        if (!strcmp(r->kernel, "copy") || !(s > 0))
            continue;
        one_s = way == LAB_ONE ? s : one_s;
        if (way != LAB_ONE)
            gpumb_note(g, "%lld words, %.0f times: %s %.2f times as fast as one, by the model %.2f",
                       (long long)words, times, ways[way], one_s / s,
                       lab_gain(way, one_s, times, part, 4 * part * (double)words / rate));
    }
}

#endif

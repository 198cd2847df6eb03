/* test_closed.cpp - a context that has been closed: every function says so, and reads nothing. */
#include <stdlib.h>
#include <string.h>

/* What is freed is full of nonsense from then on, and is not handed out again. */
struct Block {
    Block *next;
    size_t bytes;
};
static thread_local Block *freed;

static void *allocate(size_t bytes)
{
    Block *block = static_cast<Block *>(malloc(sizeof(Block) + bytes));
    block->bytes = bytes;
    return block + 1;
}

static void discard(void *p)
{
    if (!p)
        return;
    Block *block = static_cast<Block *>(p) - 1;
    memset(p, 0xdd, block->bytes);
    block->next = freed;
    freed = block;
}

#define GPUMB_MALLOC(bytes) allocate(bytes)
#define GPUMB_FREE(p) discard(p)
#define GPUMB_IMPLEMENTATION
#define GPUMB_BACKEND_CPU
#define GPUMB_COPY
#include "gpumb.h"

#include "check.h"

#include <thread>

static int right(gpumb *, void *)
{
    return 1;
}

static void again(gpumb *, void *)
{
}

/* All that a context is given to. */
static void use(gpumb *g)
{
    static const int64_t list[] = {1, 2};
    static const double reals[] = {0.5, 1};
    static const char *const names[] = {"a", "b"};
    static const double times[] = {1e-3, 1e-3};
    float there[16] = {0};
    void *streams[] = {NULL};
    int bodies = 0;
    CHECK(!gpumb_ok(g));
    CHECK(gpumb_get_settings(g) && gpumb_get_device(g));
    gpumb_stream(g);
    gpumb_set_stream(g, NULL);
    CHECK(!gpumb_alloc(g, 64) && !gpumb_alloc_kind(g, GPUMB_MEMORY_PINNED, 64));
    CHECK(!gpumb_wrap(g, there, sizeof there));
    gpumb_free(g, NULL);
    gpumb_prefetch(g, NULL, GPUMB_MEMORY_DEVICE);
    gpumb_advise(g, NULL, GPUMB_ADVICE_NONE);
    gpumb_fill(g, NULL, GPUMB_FILL_F32, 1);
    gpumb_poison(g, NULL);
    gpumb_compare(g, NULL, NULL, 1, NULL);
    CHECK(gpumb_read(g, NULL, 0, there, 4) == -1 && gpumb_write(g, NULL, 0, there, 4) == -1);
    gpumb_memcpy(g, there, there + 8, 16);
    gpumb_set_bytes(g, 1);
    gpumb_set_flop(g, 1);
    gpumb_set_peak_flop(g, 1);
    gpumb_set_elements(g, 1);
    gpumb_set_footprint(g, 1);
    gpumb_set_transfer(g, 1, 1);
    gpumb_set_timing(g, GPUMB_TIMING_HOST);
    gpumb_set_cache(g, GPUMB_CACHE_COLD);
    gpumb_set_streams(g, streams, 1);
    gpumb_set_capturable(g, 1);
    gpumb_set_expected(g, 1, 1);
    gpumb_set_value(g, "mine", 1);
    gpumb_set_counters(g, "dram_read_bytes");
    gpumb_set_output(g, NULL);
    gpumb_set_verify(g, right, NULL);
    gpumb_set_reset(g, again, NULL);
    gpumb_skip(g, "no %s", "reason");
    gpumb_reason(g, "no %s", "reason");
    gpumb_note(g, "no %s", "note");
    CHECK(!gpumb_last_result(g) && !gpumb_row_count(g) && !gpumb_row(g, 0));
    gpumb_row_axis(g, 0, "n");
    gpumb_row_value(g, 0, "mine");
    GPUMB_MEASURE(g, "measured")
        bodies++;
    gpumb_result result;
    GPUMB_TIME_IN(g, &result)
    bodies++;
    CHECK_INT(result.status, GPUMB_STATUS_SKIPPED);
    GPUMB_INTERLEAVE(g) {
        GPUMB_MEASURE(g, "base")
            bodies++;
        GPUMB_MEASURE(g, "other")
            bodies++;
    }
    GPUMB_SWEEP_POW2(g, n, 1, 4)
        GPUMB_MEASURE(g, "swept")
            bodies++;
    gpumbi_sweep_next(gpumbi_sweep_list(g, "list", list, 2));
    gpumbi_sweep_next(gpumbi_sweep_reals(g, "reals", reals, 2));
    gpumbi_sweep_next(gpumbi_sweep_names(g, "names", names, 2));
    CHECK(!gpumb_wants_times(g, "given"));
    gpumb_add_times(g, "given", GPUMB_MEANING_SPAN, times, 2);
    CHECK(gpumb_empty(g, 1, 32) == -1);
    gpumb_copy(g, GPUMB_FORM_NAIVE, 4, 4, 32, there, there + 8);
    gpumb_run(g, NULL, 0);
    CHECK_INT(bodies, 0);
}

static gpumb *open(const char *name)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = 10;
    return gpumb_open_settings(name, &settings);
}

static void measure(gpumb *g)
{
    GPUMB_MEASURE(g, "fine")
        gpumb_empty(g, 1, 32);
    CHECK(gpumb_last_result(g) && gpumb_last_result(g)->status == GPUMB_STATUS_OK);
}

static void test_no_other()
{
    gpumb *g = open("only");
    measure(g);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    CHECK_INT(gpumb_close(NULL), GPUMB_EXIT_OK); /* nothing is open: no mistake */
    use(g);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
}

/* Another one goes on as if nothing had been. */
static void test_another()
{
    gpumb *g = open("closed"), *other = open("other");
    measure(g);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
    measure(other);
    use(g);
    measure(other);
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_ERROR);
    measure(other);
    CHECK_INT((int)gpumb_row_count(other), 3);
    CHECK_INT(gpumb_close(other), GPUMB_EXIT_OK);
}

static void close_it(gpumb *g, void *)
{
    gpumb_close(g);
}

static int close_as_check(gpumb *g, void *)
{
    gpumb_close(g);
    return 1;
}

/* Within its own loops, and of another thread. */
static void test_within()
{
    gpumb *g = open("within");
    int bodies = 0;
    GPUMB_SWEEP_POW2(g, n, 1, 4) {
        GPUMB_MEASURE(g, "swept")
            gpumb_empty(g, (uint64_t)n, 32);
        if (!gpumb_row_count(g))
            continue;
        bodies++;
        gpumb_close(g);
        CHECK_INT(gpumb_close(g), gpumb_close(g));
        use(g);
    }
    CHECK_INT(bodies, 1);
    g = open("left"); // in a body that counts as left, since it describes a region
    GPUMB_MEASURE(g, "left") {
        gpumb_set_bytes(g, 1);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
    }
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED);
    use(g);
    for (int resets = 0; resets < 2; resets++) { // by a hook of its region
        g = open("hook");
        if (resets)
            gpumb_set_reset(g, close_it, NULL);
        else
            gpumb_set_verify(g, close_as_check, NULL);
        GPUMB_MEASURE(g, "closed in it")
            gpumb_empty(g, 1, 32);
        use(g);
    }
    gpumb *theirs = open("theirs");
    std::thread([&] { use(theirs); }).join();
    measure(theirs);
    CHECK_INT(gpumb_close(theirs), GPUMB_EXIT_OK);
}

int main()
{
    test_no_other();
    test_another();
    test_within();
    return CHECK_SUMMARY();
}

// test_histogram.cu - the histogram against one on the host, at awkward sizes and again and again
// on the same counters, and its check against wrong results, on whatever backend this is built for.
// shares the GPU: results are compared, not times
#include "gpumb.h"

#include "check.h"

#include "../bench/histogram.h"

#include <vector>

static void free_counting(gpumb *g, counting *j)
{
    gpumb_free(g, j->in);
    gpumb_free(g, j->out);
    gpumb_free(g, j->sums);
    gpumb_free(g, j->finished);
}

// Twice: what a run leaves behind is what it has found.
static bool counts(gpumb *g, uint64_t n, int data)
{
    counting j = new_counting(g, n, data);
    bool right = true;
    for (unsigned run = 0; run < 2; run++) {
        std::vector<unsigned char> in((size_t)n);
        std::vector<unsigned long long> wanted(BINS), out(BINS);
        for (uint64_t i = 0; i < n; i++) {
            in[(size_t)i] =
                byte_of(data, (unsigned char)gpumb_fill_word(GPUMB_FILL_BITS, n + run, i));
            wanted[in[(size_t)i]]++;
        }
        gpumb_write(g, j.in, 0, in.data(), n);
        gpumb_poison(g, j.out);
        launch_histogram(g, &j);
        gpumb_read(g, j.out, 0, out.data(), BINS * sizeof out[0]);
        right = right && out == wanted;
    }
    free_counting(g, &j);
    return right;
}

// Right where the histogram is, and wrong by one; with bytes of the host's and of the device's
// counting.
static void test_check(gpumb *g, uint64_t n, int data)
{
    counting j = new_counting(g, n, data);
    launch_histogram(g, &j);
    CHECK(check_histogram(g, &j) == 1);
    for (uint64_t bin : {0u, 100u, 255u}) {
        unsigned long long kept, wrong;
        gpumb_read(g, j.out, 8 * bin, &kept, 8);
        wrong = kept + 1;
        gpumb_write(g, j.out, 8 * bin, &wrong, 8);
        CHECK_CASE(check_histogram(g, &j) == 0, "%s, bin %d", data_names[data], (int)bin);
        gpumb_write(g, j.out, 8 * bin, &kept, 8);
    }
    free_counting(g, &j);
}

int main()
{
    gpumb_cpu_set_workers(2);
    gpumb *g = gpumb_open(0, NULL);
    const uint64_t tile = 16 * AHEAD * THREADS;
    const uint64_t sizes[] = {1, 15, 16, 1003, tile - 1, tile, tile + 17, 9 * tile + 5};
    for (int data = 0; data < DATA; data++) {
        for (uint64_t n : sizes)
            CHECK_CASE(counts(g, n, data), "%s, n = %llu", data_names[data], (unsigned long long)n);
        test_check(g, 10007, data);
    }
    if (!SANITIZED)
        test_check(g, MOST_ON_HOST + 3, UNIFORM);
    counting j = new_counting(g, 1000, UNIFORM);
    gpumb_result r;
    gpumb_set_output(g, j.out);
    gpumb_set_verify(g, check_histogram, &j);
    GPUMB_TIME(&r)
        launch_histogram(g, &j);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

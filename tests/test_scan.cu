// test_scan.cu - every form of the scan against sums computed on the host, at awkward sizes and
// addresses, again and again on one state, and its check against wrong results, on whatever
// backend this is built for.
#include "gpumb.h"

#include "check.h"
#include "poison.h"

#include "../bench/scan.h"

#include <stdlib.h>

enum { MARGIN = 64 }; // elements

template <class Type> static std::vector<Type> read_back(gpumb *g, gpumb_buffer *b)
{
    std::vector<Type> x((size_t)(gpumb_size(b) / sizeof(Type)));
    gpumb_read(g, b, 0, x.data(), gpumb_size(b));
    return x;
}

// Integers are random; floats are small integers, whose sums are exact in whatever order.
template <class Type> static std::vector<Type> numbers(uint64_t n, uint64_t seed)
{
    std::vector<Type> x((size_t)n);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t random = gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
        x[(size_t)i] =
            sizeof(Type) == 4 && (Type)0.5 != 0 ? (Type)((int)(random % 17) - 8) : (Type)random;
    }
    return x;
}

// Three scans on one state of n elements, from element in_at to element out_at: each element, and
// nothing around them.
template <class Type>
static bool scans(gpumb *g, const scan_form *form, uint64_t n, int exclusive, unsigned in_at,
                  unsigned out_at)
{
    scan_job j = new_scan(g, form, (Type)0.5 != 0, exclusive, n);
    j.in = gpumb_alloc(g, (n + MARGIN) * sizeof(Type));
    j.out = gpumb_alloc(g, (n + 2 * MARGIN) * sizeof(Type));
    bool right = true;
    for (uint64_t run = 0; run < 3 && right; run++) {
        const std::vector<Type> in = numbers<Type>(n + MARGIN, 3 * n + run);
        gpumb_write(g, j.in, 0, in.data(), in.size() * sizeof(Type));
        gpumb_poison(g, j.out);
        launch_scan(g, &j, GPUMB_PTR(const Type, j.in) + in_at,
                    GPUMB_PTR(Type, j.out) + MARGIN + out_at);
        const std::vector<Type> out = read_back<Type>(g, j.out);
        std::vector<Type> wanted(out.size());
        put_poison(wanted.data(), wanted.size() * sizeof(Type), 0);
        Type sum = 0;
        for (uint64_t i = 0; i < n; i++) {
            const Type next = sum + in[(size_t)(in_at + i)];
            wanted[(size_t)(MARGIN + out_at + i)] = exclusive ? sum : next;
            sum = next;
        }
        for (size_t i = 0; i < out.size() && right; i++)
            if (memcmp(&out[i], &wanted[i], sizeof(Type)) &&
                !(out[i] <= wanted[i] && out[i] >= wanted[i])) { // -0 is 0
                printf("    run %d: element %lld\n", (int)run, (long long)(i - MARGIN - out_at));
                right = false;
            }
    }
    gpumb_free(g, j.in);
    gpumb_free(g, j.out);
    gpumb_free(g, j.state);
    gpumb_free(g, j.sums);
    return right;
}

template <class Type> static void test_sizes(gpumb *g, const scan_form *form)
{
    const uint64_t tile = scan_tile(form);
    const uint64_t sizes[] = {0,    1,        2,        31,           32,           33,
                              tile, tile - 1, tile + 1, 3 * tile - 1, 5 * tile + 1, 9 * tile + 3};
    for (uint64_t n : sizes) {
        const int exclusive = n % 2 == 0;
        for (int kind = 0; kind < (n < tile ? 2 : 1); kind++)
            CHECK_CASE(scans<Type>(g, form, n, exclusive ^ kind, 0, 0),
                       "%d threads, %d words: n = %llu", form->threads, form->words,
                       (unsigned long long)n);
    }
    // neither aligned, both, one of them
    for (unsigned at = 1; at < 4; at++)
        CHECK_CASE(scans<Type>(g, form, 2 * tile + 5, (int)at % 2, at, at == 2 ? 0 : at),
                   "%d threads, %d words: from element %u", form->threads, form->words, at);
}

enum { TILES = 400, BEFORE = 40 };

template <class Type>
static __global__ void look_back_once(const uint64_t *tiles, unsigned tile, Type *sums)
{
    sums[threadIdx.x] = look_back<Type>(tiles, tile, BEFORE);
}

// What blocks that run one after the other never leave behind: predecessors that know only their
// own sum, so far that it takes several looks to get to one that knows all.
template <class Type> static void test_look_back(gpumb *g, unsigned lanes)
{
    gpumb_buffer *state = gpumb_alloc(g, 8 * TILES), *out = gpumb_alloc(g, 4 * 64);
    const unsigned spans[] = {1, 2, lanes, lanes + 1, 2 * lanes, 2 * lanes + 1, 5 * lanes, 399};
    for (const unsigned span : spans)
        for (const unsigned tile : {span, TILES - 1u}) {
            std::vector<uint64_t> words(TILES);
            Type wanted = 0;
            for (unsigned i = 0; i < TILES; i++) {
                // those behind the nearest that knows all are of either kind, and of no interest
                const bool of_all = i + span == tile || (i + span < tile && i % 3 == 0);
                const Type value = (Type)(gpumb_fill_word(GPUMB_FILL_BITS, span, i) % 1000);
                words[i] = i < tile ? state_word(BEFORE + (of_all ? OF_ALL : OF_TILE), value)
                                    : state_word(BEFORE, value);
                wanted += i < tile && i + span >= tile ? value : 0;
            }
            gpumb_write(g, state, 0, words.data(), 8 * TILES);
            gpumb_poison(g, out);
            GPUMB_LAUNCH_BARRIER(look_back_once<Type>, 1, lanes, 0,
                                 GPUMB_PTR(const uint64_t, state), tile, GPUMB_PTR(Type, out));
            const std::vector<Type> sums = read_back<Type>(g, out);
            unsigned right = 0;
            for (unsigned lane = 0; lane < lanes; lane++)
                right += sums[lane] >= wanted && sums[lane] <= wanted;
            CHECK_CASE(right == lanes, "tile %u, %u back", tile, span);
        }
    gpumb_free(g, state);
    gpumb_free(g, out);
}

static void fill(gpumb *g, const scan_job *j)
{
    gpumb_fill(g, j->in, j->floats ? GPUMB_FILL_F32 : GPUMB_FILL_BITS, 5);
}

// The check: right where the scan is, and wrong by one element, wherever.
static void test_check(gpumb *g, int floats, int exclusive)
{
    scan_job j = new_scan(g, &scan_forms[1], floats, exclusive, 40007);
    j.in = gpumb_alloc(g, 4 * j.n);
    j.out = gpumb_alloc(g, 4 * j.n);
    fill(g, &j);
    scan(g, &j);
    CHECK(check_scan(g, &j) == 1);
    for (uint64_t at : {(uint64_t)0, (uint64_t)1, (uint64_t)4095, (uint64_t)20000, j.n - 1}) {
        unsigned kept, wrong = 0x41200000; // 10 as a float, further than any bound at these n
        gpumb_read(g, j.out, 4 * at, &kept, 4);
        wrong = floats ? kept ^ 0x41200000 : kept ^ 1;
        gpumb_write(g, j.out, 4 * at, &wrong, 4);
        CHECK_CASE(check_scan(g, &j) == 0, "element %llu", (unsigned long long)at);
        gpumb_write(g, j.out, 4 * at, &kept, 4);
    }
    // a tile that is missing from all after it
    const uint64_t tile = scan_tile(j.form);
    std::vector<unsigned> out = read_back<unsigned>(g, j.out), kept = out;
    for (size_t i = (size_t)(3 * tile); i < out.size(); i++) {
        if (floats) {
            float x;
            memcpy(&x, &out[i], 4);
            x += 1;
            memcpy(&out[i], &x, 4);
        } else {
            out[i] += 1;
        }
    }
    gpumb_write(g, j.out, 0, out.data(), 4 * j.n);
    CHECK(check_scan(g, &j) == 0);
    gpumb_write(g, j.out, 0, kept.data(), 4 * j.n);
    CHECK(check_scan(g, &j) == 1);
    gpumb_free(g, j.in);
    gpumb_free(g, j.out);
    gpumb_free(g, j.state);
    gpumb_free(g, j.sums);
}

int main()
{
    gpumb_cpu_set_workers(4);
    gpumb *g = gpumb_open(0, NULL);
    for (const scan_form &form : scan_forms) {
        test_sizes<unsigned>(g, &form);
        test_sizes<float>(g, &form);
    }
    const unsigned lanes = (unsigned)gpumb_get_device(g)->warp_size;
    test_look_back<unsigned>(g, lanes);
    test_look_back<float>(g, lanes);
    const scan_form *last = &scan_forms[sizeof scan_forms / sizeof *scan_forms - 1];
    gpumb_cpu_set_workers(1); // blocks one after the other
    test_sizes<unsigned>(g, last);
    test_sizes<unsigned>(g, &scan_forms[0]);
    if (!gpumb_cpu_set_warp_size(64)) { // CPU alone
        test_sizes<unsigned>(g, &scan_forms[1]);
        test_sizes<float>(g, last);
        test_look_back<unsigned>(g, 64);
        gpumb_cpu_set_warp_size(32);
    }
    for (int kind = 0; kind < 4; kind++)
        test_check(g, kind / 2, kind % 2);
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_empty(g, 5, 32);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

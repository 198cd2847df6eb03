// test_transpose.cu - the transpose against one on the host, at sizes that are multiples of
// nothing, and its check against wrong results, on whatever backend this is built for.
// shares the GPU: results are compared, not times
#include "gpumb.h"

#include "check.h"
#include "poison.h"

#include "../bench/transpose.h"

#include <vector>

enum { MARGIN = 64 }; // words behind the result

static bool transposes(gpumb *g, unsigned high, unsigned wide)
{
    transposition j = new_transposition(g, high, wide);
    const size_t count = (size_t)high * wide;
    gpumb_free(g, j.out);
    j.out = gpumb_alloc(g, 4 * (count + MARGIN));
    gpumb_poison(g, j.out);
    std::vector<unsigned> in(count), out(count + MARGIN);
    for (size_t i = 0; i < count; i++)
        in[i] = (unsigned)gpumb_fill_word(GPUMB_FILL_BITS, high + 77, i);
    gpumb_write(g, j.in, 0, in.data(), 4 * count);
    launch_transpose(&j);
    gpumb_read(g, j.out, 0, out.data(), 4 * out.size());
    bool right = is_poison(&out[count], 4 * MARGIN, 4 * count) != 0;
    for (size_t y = 0; y < high; y++)
        for (size_t x = 0; x < wide; x++)
            right = right && out[x * high + y] == in[y * wide + x];
    gpumb_free(g, j.in);
    gpumb_free(g, j.out);
    return right;
}

// Right where the transpose is, and wrong by one word.
static void test_check(gpumb *g, unsigned high, unsigned wide)
{
    transposition j = new_transposition(g, high, wide);
    launch_transpose(&j);
    CHECK(check_transpose(g, &j) == 1);
    for (uint64_t at : {(uint64_t)0, (uint64_t)high, (uint64_t)high * wide - 1}) {
        unsigned kept, wrong;
        gpumb_read(g, j.out, 4 * at, &kept, 4);
        wrong = kept ^ 1u << 31;
        gpumb_write(g, j.out, 4 * at, &wrong, 4);
        CHECK_CASE(check_transpose(g, &j) == 0, "word %llu", (unsigned long long)at);
        gpumb_write(g, j.out, 4 * at, &kept, 4);
    }
    CHECK(check_transpose(g, &j) == 1);
    // Other data than that of the fill, transposed all the same: the host sees it.
    unsigned words[64] = {0};
    const uint64_t middle = (uint64_t)high * wide / 2, from = middle % high * wide + middle / high;
    gpumb_write(g, j.in, 4 * from, words, 4);
    launch_transpose(&j);
    CHECK(check_transpose(g, &j) == 0);
    gpumb_free(g, j.in);
    gpumb_free(g, j.out);
}

// A warp's accesses to the tile meet at no bank, but that 16 bytes of each lane take four rounds.
static void test_banks()
{
    for (unsigned part = 0; part < PARTS; part++)
        for (unsigned warp = 0; warp < THREADS / 32; warp++)
            for (unsigned e = 0; e < 4; e++) {
                unsigned long long loads = 0, stores = 0;
                for (unsigned lane = 0; lane < 32; lane++) {
                    const unsigned t = warp * 32 + lane;
                    loads |=
                        1ull << place_in_tile(row_of_load(part, t) + e, column_of_load(part, t)) %
                                    32;
                }
                for (unsigned lane = 8 * e; lane < 8 * e + 8; lane++) // what is served at once
                    stores |= 15ull << place_in_tile(row_of_store(part, warp * 32 + lane),
                                                     column_of_store(warp * 32 + lane)) %
                                           32;
                CHECK_CASE(loads == 0xffffffff && stores == 0xffffffff,
                           "part %u, warp %u: banks %llx and %llx", part, warp, loads, stores);
            }
}

int main()
{
    gpumb_cpu_set_workers(2);
    gpumb *g = gpumb_open(0, NULL);
    const unsigned sides[] = {1, 3, 4, 31, 63, 64, 65, 100, 130, 257};
    for (unsigned high : sides)
        for (unsigned wide : sides)
            CHECK_CASE(transposes(g, high, wide), "%u x %u", high, wide);
    CHECK(transposes(g, SIDE * (BAND + 1) + 5, 70)); // more than a band
    CHECK(transposes(g, SIDE * BAND, 132));
    test_check(g, 100, 60);
    test_check(g, 33, 71);
    test_banks();
    transposition j = new_transposition(g, 64, 128);
    gpumb_result r;
    gpumb_set_output(g, j.out);
    gpumb_set_verify(g, check_transpose, &j);
    GPUMB_TIME(&r)
        launch_transpose(&j);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

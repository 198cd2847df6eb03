/* test_chase.c - bench/chase.h: chains that are one cycle, drawn evenly; plateaus of awkward
 * series. */
#include "bench/chase.h"
#include "check.h"

/* ---- chains ---------------------------------------------------------------------------------- */

static void test_cycles(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 31, 64, 1000, 65537};
    static uint32_t next[65537], other[65537];
    static unsigned char seen[65537];
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t n = sizes[i];
        uint32_t at = 0, steps = 0, moved = 0, k;
        memset(seen, 0, sizeof seen);
        make_cycle(next, n, 7);
        make_cycle(other, n, 8);
        for (; steps < n && !seen[at]; steps++) {
            seen[at] = 1;
            at = next[at];
        }
        CHECK_INT(steps, n);
        CHECK_INT(at, 0);
        CHECK_INT(walk_cycle(next, 0, n), 0);
        CHECK_INT(walk_cycle(next, 0, (uint64_t)3 * n + 1), next[0]);
        CHECK_INT(walk_cycle(next, 0, 0), 0);
        for (k = 0; k < n; k++)
            moved += next[k] != other[k];
        CHECK_CASE(n < 31 || moved > n / 2, "%u: two seeds, %u places differ", n, moved);
    }
}

/* There are 3! cycles of four: 1000 each of 6000, within 5 standard deviations of 29. Steps to a
 * neighbour are as rare as they should be. */
static void test_evenness(void)
{
    static uint32_t next[1000];
    unsigned found[64] = {0}, kinds = 0, near_ones = 0;
    uint64_t seed;
    int i;
    for (seed = 1; seed <= 6000; seed++) {
        make_cycle(next, 4, seed);
        found[next[0] * 16 + next[1] * 4 + next[2]]++;
    }
    for (i = 0; i < 64; i++)
        if (found[i]) {
            kinds++;
            CHECK_CASE(found[i] > 855 && found[i] < 1145, "cycle %d: %u times", i, found[i]);
        }
    CHECK_INT(kinds, 6);
    for (seed = 1; seed <= 100; seed++) { /* 1 / 999 of all: 100, within 5 of 10 */
        make_cycle(next, 1000, seed);
        for (i = 0; i < 1000; i++)
            near_ones += next[i] == (uint32_t)i + 1;
    }
    CHECK_CASE(near_ones > 50 && near_ones < 150, "%u steps to the next", near_ones);
}

/* ---- plateaus -------------------------------------------------------------------------------- */

enum { MOST = 8 };
static double x[PLATEAU_POINTS_MOST + 1], y[PLATEAU_POINTS_MOST + 1];
static plateau found[MOST];

/* `each` points an octave, from 1 KiB on. */
static size_t find(size_t n, int each)
{
    size_t i;
    for (i = 0; i < n; i++)
        x[i] = 1024 * pow(2, (double)i / each);
    memset(found, 0, sizeof found);
    return find_plateaus(x, y, n, found, MOST);
}

static void put(const double *values, size_t n)
{
    memcpy(y, values, n * sizeof *y);
}

static void is_plateau(const char *what, size_t i, size_t first, size_t last, double level)
{
    CHECK_CASE(found[i].first == first && found[i].last == last &&
                   fabs(found[i].level / level - 1) < 1e-9,
               "%s: plateau %d is %d ... %d at %g", what, (int)i, (int)found[i].first,
               (int)found[i].last, found[i].level);
}

static void test_steps(void)
{
    /* a GPU's, two points an octave: L1, a ramp, L2, its other half, memory, a TLB */
    static const double gpu[] = {17,  17,  17,  17.2, 17,  17,  17,  17,  17,  60,  120,
                                 140, 141, 142, 143,  143, 145, 146, 200, 230, 231, 235,
                                 300, 310, 312, 311,  315, 400, 480, 520, 521, 525};
    static const double bump[] = {10, 10, 10, 10, 14, 10, 10, 10, 10, 10};
    static const double tie[] = {11, 10.2, 10, 9.5};
    static const double back[] = {10, 10, 10, 10, 12.5, 12.5, 12.5, 11.3, 11.3, 11.3, 11.3, 11.3};
    static const double down[] = {50, 50, 50, 50, 20, 20, 20, 20};
    size_t i;
    put(gpu, 32);
    CHECK_INT(find(32, 2), 5);
    is_plateau("gpu", 0, 0, 8, 17);
    is_plateau("gpu", 1, 11, 17, 143);
    is_plateau("gpu", 2, 19, 21, 231);
    is_plateau("gpu", 3, 22, 26, 311);
    is_plateau("gpu", 4, 28, 31, 520.5);

    for (i = 0; i < 20; i++)
        y[i] = 5;
    CHECK_INT(find(20, 1), 1);
    is_plateau("one level", 0, 0, 19, 5);

    put(bump, 10); /* of two pieces of one level the wider */
    CHECK_INT(find(10, 2), 1);
    is_plateau("bump", 0, 5, 9, 10);

    put(tie, 4); /* of equally wide ones the flattest */
    CHECK_INT(find(4, 1), 1);
    is_plateau("tie", 0, 1, 3, 10);
    for (i = 0; i < 4; i++)
        y[i] = tie[3 - i];
    CHECK_INT(find(4, 1), 1);
    is_plateau("tie, reversed", 0, 0, 2, 10);

    put(back, 12); /* what is left of the second and third is too close to the first */
    CHECK_INT(find(12, 1), 1);
    is_plateau("back", 0, 7, 11, 11.3);

    put(down, 8);
    CHECK_INT(find(8, 1), 2);
    is_plateau("down", 0, 0, 3, 50);
    is_plateau("down", 1, 4, 7, 20);
}

static void test_none(void)
{
    size_t i, n;
    CHECK_INT(find(0, 1), 0);
    for (i = 0; i < PLATEAU_POINTS_MOST + 1; i++)
        y[i] = 5;
    CHECK_INT(find(1, 1), 0);
    CHECK_INT(find(2, 1), 0);
    CHECK_INT(find(3, 1), 1);
    CHECK_INT(find(3, 5), 0); /* three points, but no wider than 1.32 */
    CHECK_INT(find(4, 5), 1); /* 1.52 */
    CHECK_INT(find(3, 4), 1); /* 1.41 */
    CHECK_INT(find(PLATEAU_POINTS_MOST, 8), 1);
    CHECK_INT(find(PLATEAU_POINTS_MOST + 1, 8), 0); /* too many to look at */

    for (i = 0; i < 30; i++) /* a slope has none */
        y[i] = 10 * pow(1.12, (double)i);
    CHECK_INT(find(30, 2), 0);
    for (i = 0; i < 30; i++) /* a slow one falls into pieces, of which no two are neighbours */
        y[i] = 10 * pow(1.03, (double)i);
    n = find(30, 2);
    CHECK(n > 0);
    for (i = 0; i + 1 < n; i++)
        CHECK_CASE(found[i + 1].level >= 1.2 * found[i].level, "%g and %g", found[i].level,
                   found[i + 1].level);
    for (i = 0; i < 30; i++)
        y[i] = i % 2 ? 10 : 13;
    CHECK_INT(find(30, 2), 0);
    for (i = 0; i < 9; i++)
        y[i] = i == 4 ? NAN : 10;
    n = find(9, 2); /* what is not known is in no plateau */
    for (i = 0; i < n; i++)
        CHECK(found[i].last < 4 || found[i].first > 4);
    for (i = 0; i < 40; i++) /* more than there is room for */
        y[i] = pow(2, (double)(i / 4));
    CHECK_INT(find(40, 2), MOST);
}

/* With noise of 2 % the steps are found where they are. */
static void test_noise(void)
{
    unsigned random = 1;
    int round, right = 0;
    size_t i;
    for (round = 0; round < 500; round++) {
        for (i = 0; i < 40; i++) {
            random = random * 1664525u + 1013904223u;
            y[i] = (i < 15 ? 17 : i < 28 ? 143 : 310) * (0.98 + 0.04 * (random >> 8) / 16777216.0);
        }
        right += find(40, 2) == 3 && found[0].last == 14 && found[1].first == 15 &&
                 found[1].last == 27 && found[2].first == 28 &&
                 fabs(found[1].level / 143 - 1) < 0.02;
    }
    CHECK_INT(right, 500);
}

static void test_memories(void)
{
    static const double at[] = {1024, 65536, 1 << 20, 1 << 25, 1 << 26, 1 << 30};
    static const plateau low = {0, 1, 1}, middle = {2, 3, 1}, high = {4, 5, 1}, both = {1, 4, 1},
                         inner = {0, 2, 1};
    CHECK_INT(memory_of(at, &low, 1 << 18, 1 << 26), IN_L1);
    CHECK_INT(memory_of(at, &middle, 1 << 18, 1 << 26), IN_L2);
    CHECK_INT(memory_of(at, &high, 1 << 18, 1 << 26), IN_MEMORY);
    CHECK_INT(memory_of(at, &both, 1 << 18, 1 << 26), IN_L2);
    CHECK_INT(memory_of(at, &inner, 1 << 16, 1 << 26), IN_L1); /* 32 KiB */
    CHECK_INT(memory_of(at, &low, 0, 1 << 26), IN_L2);
    CHECK_INT(memory_of(at, &low, 0, 0), IN_MEMORY);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static double v[1024];

static double noise(unsigned *random) /* 12 uniform ones: variance 1 */
{
    double sum = -6;
    int k;
    for (k = 0; k < 12; k++) {
        *random = *random * 1664525u + 1013904223u;
        sum += (*random >> 8) / 16777216.0;
    }
    return sum;
}

static void test_groups(void)
{
    unsigned random = 5;
    int round, split[4] = {0, 0, 0, 0};
    size_t i;
    for (round = 0; round < 200; round++) {
        for (i = 0; i < 1024; i++) /* two of equal size, shuffled; 40 % and 60 %; one; a tail */
            v[i] = (i % 2 ? 298 : 264) + 3 * noise(&random);
        split[0] += split_groups(v, 1024) == 512 && v[511] < 281 && v[512] > 281;
        for (i = 0; i < 1000; i++)
            v[i] = (i % 5 < 2 ? 100 : 90) + 0.7 * noise(&random);
        split[1] += split_groups(v, 1000) == 600;
        for (i = 0; i < 1024; i++)
            v[i] = 1000 + 200 * noise(&random);
        split[2] += split_groups(v, 100) != 0;
        for (i = 0; i < 1024; i++)
            v[i] = (i % 12 ? 280 : 400) + 4 * noise(&random);
        split[3] += split_groups(v, 1024) != 0;
    }
    CHECK_INT(split[0], 200);
    CHECK_INT(split[1], 200);
    CHECK_CASE(split[2] <= 2, "one group is split %d times", split[2]);
    CHECK_INT(split[3], 0); /* fewer than a tenth */

    for (i = 0; i < 1024; i++)
        v[i] = 7;
    CHECK_INT(split_groups(v, 1024), 0);
    v[3] = 9;
    CHECK_INT(split_groups(v, 1024), 0);
    for (i = 0; i < 1024; i++)
        v[i] = i % 2 ? 7 : 7.5;
    CHECK_INT(split_groups(v, 1024), 512);
    for (i = 0; i < 1024; i++)
        v[i] = i % 2 ? 7 : 7.05; /* a gap of 0.7 % */
    CHECK_INT(split_groups(v, 1024), 0);
    for (i = 0; i < 39; i++)
        v[i] = i % 2 ? 7 : 9;
    CHECK_INT(split_groups(v, 0), 0);
    CHECK_INT(split_groups(v, 1), 0);
    CHECK_INT(split_groups(v, 39), 0);
    v[39] = 7;
    CHECK_INT(split_groups(v, 40), 20);
}

int main(void)
{
    test_cycles();
    test_evenness();
    test_steps();
    test_none();
    test_noise();
    test_memories();
    test_groups();
    return CHECK_SUMMARY();
}

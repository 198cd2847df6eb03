/* test_coalescing.c - the model of coalescing against sets of byte, sector and line numbers,
 * against what must not change it, and against textbook values. Needs no device. */
#define GPUMB_BACKEND_CPU
#define GPUMB_COALESCING
#define GPUMB_IMPLEMENTATION
#define GPUMB_STATIC /* compiles what is tested, not the rest */
#include "gpumb.h"

#include "check.h"
#include "random.h"
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

enum { MOST_LANES = 256 };

static uint64_t random_below(uint64_t n)
{
    return (random_bits() >> 11) % n;
}

static int random_int(int lo, int hi) /* both included */
{
    return lo + (int)random_below((uint64_t)(hi - lo + 1));
}

static int pick(const int *values, int count)
{
    return values[random_below((uint64_t)count)];
}

static void shuffle(uint64_t *values, int count)
{
    for (int i = count; i > 1; i--) {
        const int j = random_int(0, i - 1);
        const uint64_t swapped = values[i - 1];
        values[i - 1] = values[j];
        values[j] = swapped;
    }
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

static uint64_t lcm(uint64_t a, uint64_t b)
{
    return a / gcd(a, b) * b;
}

/* ---- the reference: sets of numbers, in a hash table that a new generation empties ---- */

enum { SLOTS = 1 << 15 }; /* above 256 lanes of 32 bytes */

typedef struct set {
    uint64_t number[SLOTS];
    unsigned generation[SLOTS], now;
    uint64_t size, last;
} set;

static set bytes_wanted, sectors_touched, lines_touched;

static void set_clear(set *s)
{
    s->now++;
    s->size = 0;
}

static void set_add(set *s, uint64_t number)
{
    uint64_t slot = (number * 0x9e3779b97f4a7c15u) >> 49;
    if (s->size && s->last == number)
        return; /* most bytes are in the sector of the one before */
    s->last = number;
    while (s->generation[slot] == s->now && s->number[slot] != number)
        slot = (slot + 1) % SLOTS;
    if (s->generation[slot] != s->now) {
        s->generation[slot] = s->now;
        s->number[slot] = number;
        s->size++;
    }
}

typedef struct counts {
    uint64_t bytes, sectors, lines;
} counts;

static counts count_access(const uint64_t *address, int lanes, int elem, int sector, int line)
{
    counts c;
    set_clear(&bytes_wanted);
    set_clear(&sectors_touched);
    set_clear(&lines_touched);
    for (int lane = 0; lane < lanes; lane++)
        for (int byte = 0; byte < elem; byte++) {
            const uint64_t at = address[lane] + (uint64_t)byte;
            set_add(&bytes_wanted, at);
            set_add(&sectors_touched, at / (uint64_t)sector);
            set_add(&lines_touched, at / (uint64_t)line);
        }
    c.bytes = bytes_wanted.size;
    c.sectors = sectors_touched.size;
    c.lines = lines_touched.size;
    return c;
}

static void add(counts *sum, counts c)
{
    sum->bytes += c.bytes;
    sum->sectors += c.sectors;
    sum->lines += c.lines;
}

static double efficiency_of(counts c, int sector)
{
    return c.sectors ? (double)c.bytes / ((double)c.sectors * sector) : 0;
}

static int near(double a, double b)
{
    return a - b <= 1e-12 && b - a <= 1e-12;
}

static int equal(gpumb_coalescing m, counts c, int sector)
{
    return m.bytes == c.bytes && m.sectors == c.sectors && m.lines == c.lines &&
           near(m.efficiency, efficiency_of(c, sector));
}

static int same(gpumb_coalescing a, gpumb_coalescing b)
{
    return a.bytes == b.bytes && a.sectors == b.sectors && a.lines == b.lines &&
           near(a.efficiency, b.efficiency);
}

/* Whether sums over different numbers of warps have the same means. */
static int proportional(gpumb_coalescing m, counts c, int sector)
{
    return m.bytes > 0 && m.sectors * c.bytes == c.sectors * m.bytes &&
           m.lines * c.bytes == c.lines * m.bytes && near(m.efficiency, efficiency_of(c, sector));
}

static int zero(gpumb_coalescing m)
{
    return m.bytes == 0 && m.sectors == 0 && m.lines == 0 && m.efficiency >= 0 && m.efficiency <= 0;
}

/* ---- one access ---- */

static const int sectors[] = {16, 32, 64};
static const int lines[] = {32, 64, 128, 256};
static const int elems[] = {1, 2, 4, 8, 16};
static const uint64_t bases[] = {0, 1, 4096, UINT64_C(1) << 32, (UINT64_C(1) << 60) - 1};

enum { ANYWHERE, CROWDED, REPEATED, CONSECUTIVE, STRIDED, STRADDLING, PATTERNS };

/* Addresses such as lanes may have: far apart, overlapping, the same, in a row, across an edge. */
static void make_addresses(uint64_t *address, int lanes, int elem, int pattern)
{
    const uint64_t base = bases[random_below(COUNT(bases))];
    const uint64_t start = base + random_below(300), stride = random_below(200);
    for (int lane = 0; lane < lanes; lane++) {
        const uint64_t i = (uint64_t)lane, size = (uint64_t)elem;
        switch (pattern) {
        case ANYWHERE:
            address[lane] = base + random_below(UINT64_C(1) << 40);
            break;
        case CROWDED:
            address[lane] = base + random_below(4 * size * (uint64_t)lanes);
            break;
        case REPEATED:
            address[lane] = start + random_below(3) * size;
            break;
        case CONSECUTIVE:
            address[lane] = start + i * size;
            break;
        case STRIDED:
            address[lane] = start + i * stride;
            break;
        default: /* around an edge of every piece there is */
            address[lane] = base / 256 * 256 + 256 * (1 + random_below(8)) - random_below(size + 1);
        }
    }
    if (random_below(2))
        shuffle(address, lanes);
}

static void test_one(const uint64_t *address, int lanes, int elem, int sector, int line)
{
    const gpumb_coalescing m = gpumb_coalesce(address, lanes, elem, sector, line);
    const counts c = count_access(address, lanes, elem, sector, line);
    CHECK_CASE(equal(m, c, sector),
               "lanes %d, elem %d, sector %d, line %d, first address %llu: "
               "bytes %llu (%llu), sectors %llu (%llu), lines %llu (%llu), efficiency %g (%g)",
               lanes, elem, sector, line, (unsigned long long)address[0],
               (unsigned long long)m.bytes, (unsigned long long)c.bytes,
               (unsigned long long)m.sectors, (unsigned long long)c.sectors,
               (unsigned long long)m.lines, (unsigned long long)c.lines, m.efficiency,
               efficiency_of(c, sector));
}

static void test_properties(uint64_t *address, int lanes, int elem, int sector, int line)
{
    uint64_t other[MOST_LANES];
    const gpumb_coalescing m = gpumb_coalesce(address, lanes, elem, sector, line);
    const uint64_t shift = lcm((uint64_t)sector, (uint64_t)line) * (1 + random_below(1000));

    memcpy(other, address, (size_t)lanes * sizeof *other);
    shuffle(other, lanes);
    CHECK(same(m, gpumb_coalesce(other, lanes, elem, sector, line)));
    for (int lane = 0; lane < lanes; lane++)
        other[lane] += shift;
    CHECK(same(m, gpumb_coalesce(other, lanes, elem, sector, line)));

    CHECK(m.bytes >= (uint64_t)elem && m.bytes <= (uint64_t)(lanes * elem));
    CHECK(m.bytes <= m.sectors * (uint64_t)sector);
    CHECK(m.bytes <= m.lines * (uint64_t)line);
    CHECK(m.efficiency > 0 && m.efficiency <= 1);
    if (line % sector == 0)
        CHECK(m.lines <= m.sectors && m.sectors <= m.lines * (uint64_t)(line / sector));
    if (sector % 2 == 0) {
        const gpumb_coalescing fine = gpumb_coalesce(address, lanes, elem, sector / 2, line);
        CHECK(fine.sectors >= m.sectors && fine.sectors <= 2 * m.sectors);
        CHECK(fine.bytes == m.bytes && fine.lines == m.lines);
    }
    if (lanes > 1) { /* one lane less wants no more */
        const gpumb_coalescing less = gpumb_coalesce(address, lanes - 1, elem, sector, line);
        CHECK(less.bytes <= m.bytes && less.sectors <= m.sectors && less.lines <= m.lines);
    }
}

static void test_random(void)
{
    uint64_t address[MOST_LANES];
    for (int round = 0; round < 400; round++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            const int lanes = random_int(1, 64), elem = random_int(1, 32);
            const int sector = pick(sectors, COUNT(sectors)), line = pick(lines, COUNT(lines));
            make_addresses(address, lanes, elem, pattern);
            test_one(address, lanes, elem, sector, line);
            test_properties(address, lanes, elem, sector, line);
        }
    /* pieces that are no powers of two, and more lanes than a warp has */
    for (int round = 0; round < 60; round++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            const int lanes = random_int(1, MOST_LANES), elem = random_int(1, 32);
            const int sector = random_int(1, 100), line = random_int(1, 300);
            make_addresses(address, lanes, elem, pattern);
            test_one(address, lanes, elem, sector, line);
            test_properties(address, lanes, elem, sector, line);
        }
}

/* An element may end with the last byte that 64 bits can address. */
static void test_top(void)
{
    for (int elem = 1; elem <= 32; elem++)
        for (int s = 0; s < COUNT(sectors); s++)
            for (int l = 0; l < COUNT(lines); l++) {
                uint64_t address[3];
                address[0] = UINT64_MAX - (uint64_t)elem + 1;
                address[1] = address[0] - 300;
                address[2] = address[0] - 1;
                test_one(address, 1, elem, sectors[s], lines[l]);
                test_one(address, 3, elem, sectors[s], lines[l]);
            }
}

/* By hand: what a reader can count. */
static void test_by_hand(void)
{
    static const uint64_t apart[] = {0, 32, 64, 96}, twice[] = {8, 8, 4, 4};
    static const uint64_t overlapping[] = {30, 31}, unsorted[] = {260, 0, 256, 4};
    gpumb_coalescing m = gpumb_coalesce(apart, 4, 4, 32, 128);
    CHECK_INT(m.bytes, 16);
    CHECK_INT(m.sectors, 4);
    CHECK_INT(m.lines, 1);
    CHECK_NEAR(m.efficiency, 0.125, 0);
    m = gpumb_coalesce(twice, 4, 4, 32, 128);
    CHECK_INT(m.bytes, 8);
    CHECK_INT(m.sectors, 1);
    CHECK_INT(m.lines, 1);
    CHECK_NEAR(m.efficiency, 0.25, 0);
    m = gpumb_coalesce(overlapping, 2, 4, 32, 32);
    CHECK_INT(m.bytes, 5);
    CHECK_INT(m.sectors, 2);
    CHECK_INT(m.lines, 2);
    CHECK_NEAR(m.efficiency, 5.0 / 64, 1e-15);
    m = gpumb_coalesce(unsorted, 4, 4, 32, 128);
    CHECK_INT(m.bytes, 16);
    CHECK_INT(m.sectors, 2);
    CHECK_INT(m.lines, 2);
    CHECK_NEAR(m.efficiency, 0.25, 0);
    m = gpumb_coalesce(unsorted, 1, 1, 1, 1);
    CHECK_INT(m.bytes, 1);
    CHECK_INT(m.sectors, 1);
    CHECK_INT(m.lines, 1);
    CHECK_NEAR(m.efficiency, 1, 0);
}

/* ---- a grid of strided accesses ---- */

static counts count_warp(int elem, uint64_t stride, uint64_t offset, int warp, uint64_t number,
                         int sector, int line)
{
    uint64_t address[64];
    for (int lane = 0; lane < warp; lane++)
        address[lane] =
            (offset + (number * (uint64_t)warp + (uint64_t)lane) * stride) * (uint64_t)elem;
    return count_access(address, warp, elem, sector, line);
}

/* What is wrong with a model is wrong in thousands of cases: count them, show the first. */
typedef struct verdict {
    unsigned cases, wrong_sums, wrong_means;
} verdict;

/* The model sums over the first warps of the grid, as many as bring the addresses back to the same
 * place of sector and line. Over `many` warps, a multiple of that, the means are the same. */
static void test_strided(verdict *v, int elem, uint64_t stride, uint64_t offset, int warp,
                         int sector, int line, uint64_t many)
{
    const gpumb_coalescing m = gpumb_coalesce_strided(elem, stride, offset, warp, sector, line);
    const uint64_t period = lcm((uint64_t)sector, (uint64_t)line);
    const uint64_t step = (uint64_t)warp * stride % period * (uint64_t)elem % period;
    const uint64_t repeats = period / gcd(step, period);
    counts all = {0, 0, 0}, first = {0, 0, 0};
    int wrong_sums, wrong_means;
    for (uint64_t i = 0; i < many; i++) {
        const counts c = count_warp(elem, stride, offset, warp, i, sector, line);
        add(&all, c);
        if (i < repeats)
            add(&first, c);
    }
    wrong_sums = !equal(m, first, sector);
    wrong_means = many % repeats != 0 || many == repeats || !proportional(m, all, sector);
    if ((wrong_sums && !v->wrong_sums) || (wrong_means && !v->wrong_means))
        printf("    strided, elem %d, stride %llu, offset %llu, warp %d, sector %d, line %d: "
               "bytes %llu (%llu), sectors %llu (%llu), lines %llu (%llu), efficiency %g (%g), "
               "repeats after %llu warps\n",
               elem, (unsigned long long)stride, (unsigned long long)offset, warp, sector, line,
               (unsigned long long)m.bytes, (unsigned long long)first.bytes,
               (unsigned long long)m.sectors, (unsigned long long)first.sectors,
               (unsigned long long)m.lines, (unsigned long long)first.lines, m.efficiency,
               efficiency_of(all, sector), (unsigned long long)repeats);
    v->cases++;
    v->wrong_sums += (unsigned)wrong_sums;
    v->wrong_means += (unsigned)wrong_means;
}

static void check_verdict(verdict v, unsigned cases)
{
    CHECK(v.cases >= cases);
    CHECK_INT(v.wrong_sums, 0);
    CHECK_INT(v.wrong_means, 0);
}

static void test_strided_all(void)
{
    static const int warps[] = {32, 64};
    verdict v = {0, 0, 0};
    for (uint64_t stride = 0; stride <= 300; stride++)
        for (uint64_t offset = 0; offset <= 64; offset++) {
            /* of large strides some offsets and pieces, for the time it takes */
            if (stride > 5 && offset % 32 != 0 && offset != 1 && offset != stride % 65)
                continue;
            for (int e = 0; e < COUNT(elems); e++)
                for (int w = 0; w < COUNT(warps); w++)
                    for (int sector = 32; sector <= 64; sector *= 2)
                        for (int line = 64; line <= 128; line *= 2)
                            if (stride <= 5 || random_below(8) == 0)
                                test_strided(&v, elems[e], stride, offset, warps[w], sector, line,
                                             16);
        }
    check_verdict(v, 15000);
}

/* Any warp, element and piece: the pattern may take as many warps as a common multiple has
 * bytes. */
static void test_strided_odd(void)
{
    verdict v = {0, 0, 0};
    for (int round = 0; round < 150; round++) {
        const int sector = random_int(1, 40), line = random_int(1, 60);
        const uint64_t many = 2 * lcm((uint64_t)sector, (uint64_t)line);
        const int elem = random_int(1, 32), warp = random_int(1, 64);
        const uint64_t stride = random_below(50), offset = random_below(100);
        if (many <= 1000)
            test_strided(&v, elem, stride, offset, warp, sector, line, many);
    }
    for (int round = 0; round < 100; round++) /* far apart, and far away */
        test_strided(&v, pick(elems, COUNT(elems)), random_below(UINT64_C(1) << 32),
                     random_below(UINT64_C(1) << 50), random_int(1, 64), 32, 128, 256);
    check_verdict(v, 100);
}

static void check_textbook(int elem, uint64_t stride, uint64_t offset, double per_warp,
                           double efficiency)
{
    const gpumb_coalescing m = gpumb_coalesce_strided(elem, stride, offset, 32, 32, 128);
    const double warps = (double)m.bytes / (32.0 * elem);
    CHECK_CASE(near((double)m.sectors, per_warp * warps) && near(m.efficiency, efficiency),
               "elem %d, stride %llu, offset %llu: %g sectors a warp, efficiency %g", elem,
               (unsigned long long)stride, (unsigned long long)offset, (double)m.sectors / warps,
               m.efficiency);
}

static void test_textbook(void)
{
    const gpumb_coalescing m = gpumb_coalesce_strided(4, 1, 0, 32, 32, 128);
    CHECK_INT(m.bytes, 128);
    CHECK_INT(m.sectors, 4);
    CHECK_INT(m.lines, 1);
    check_textbook(4, 1, 0, 4, 1);
    check_textbook(4, 2, 0, 8, 0.5);
    check_textbook(4, 8, 0, 32, 0.125);
    check_textbook(4, 32, 0, 32, 0.125);
    check_textbook(8, 4, 0, 32, 0.25);
    check_textbook(4, 1, 1, 5, 0.8);
    check_textbook(4, 1, 8, 4, 1);
    check_textbook(1, 1, 0, 1, 1);
    check_textbook(16, 1, 0, 16, 1);
    for (uint64_t stride = 2; stride <= 100; stride++)
        check_textbook(16, stride, 0, 32, 0.5);
    /* a broadcast: one element for the whole warp */
    CHECK_NEAR(gpumb_coalesce_strided(4, 0, 0, 32, 32, 128).efficiency, 0.125, 0);
    /* a cache line of AMD as the smallest piece */
    CHECK_NEAR(gpumb_coalesce_strided(4, 16, 0, 64, 64, 64).efficiency, 0.0625, 0);
    CHECK_NEAR(gpumb_coalesce_strided(4, 1, 0, 64, 64, 64).efficiency, 1, 0);
}

/* ---- sub-domains ---- */

/* Each iteration is an access of its own; the last warp of a block may have fewer lanes. */
static counts count_blocks(int elem, int block, int lanes, int iterations, int warp, int sector,
                           int line, uint64_t blocks)
{
    counts sum = {0, 0, 0};
    uint64_t address[64];
    for (uint64_t b = 0; b < blocks; b++)
        for (int first = 0; first < block; first += warp)
            for (int i = 0; i < iterations; i++) {
                int active = 0;
                for (int t = first; t < first + warp && t < block; t++) {
                    const uint64_t group = (b * (uint64_t)block + (uint64_t)(t / lanes * lanes)) *
                                           (uint64_t)iterations;
                    const uint64_t element = group + (uint64_t)(i * lanes + t % lanes);
                    address[active++] = element * (uint64_t)elem;
                }
                add(&sum, count_access(address, active, elem, sector, line));
            }
    return sum;
}

static void test_subdomains(int elem, int block, int lanes, int iterations, int warp, int sector,
                            int line)
{
    const gpumb_coalescing m =
        gpumb_coalesce_subdomains(elem, block, lanes, iterations, warp, sector, line);
    const uint64_t period = lcm((uint64_t)sector, (uint64_t)line);
    const uint64_t step = (uint64_t)(elem * block * iterations);
    const counts c = count_blocks(elem, block, lanes, iterations, warp, sector, line,
                                  2 * period / gcd(step, period));
    CHECK_CASE(proportional(m, c, sector),
               "sub-domains, elem %d, block %d, lanes %d, iterations %d, warp %d, sector %d, "
               "line %d: bytes %llu, sectors %llu, lines %llu, efficiency %g; "
               "counted %llu, %llu, %llu, %g",
               elem, block, lanes, iterations, warp, sector, line, (unsigned long long)m.bytes,
               (unsigned long long)m.sectors, (unsigned long long)m.lines, m.efficiency,
               (unsigned long long)c.bytes, (unsigned long long)c.sectors,
               (unsigned long long)c.lines, efficiency_of(c, sector));
}

static void test_subdomains_all(void)
{
    static const int blocks[] = {1, 32, 48, 64, 100, 192};
    static const int iterations[] = {1, 2, 3, 16};
    for (int k = 0; k < COUNT(blocks); k++)
        for (int lanes = 1; lanes <= blocks[k]; lanes++) {
            if (blocks[k] % lanes)
                continue;
            for (int e = 0; e < COUNT(elems); e++)
                for (int i = 0; i < COUNT(iterations); i++) {
                    const int warp = 32 << random_below(2), sector = 32 << random_below(2);
                    test_subdomains(elems[e], blocks[k], lanes, iterations[i], warp, sector,
                                    64 << random_below(2));
                }
        }
    for (int round = 0; round < 300; round++) { /* nothing is a power of two */
        const int lanes = random_int(1, 20), groups = random_int(1, 8);
        test_subdomains(random_int(1, 32), lanes * groups, lanes, random_int(1, 9),
                        random_int(1, 64), random_int(1, 6) * 4, random_int(1, 10) * 8);
    }
}

/* One iteration is a plain copy whatever the groups; lanes alone are a stride of `iterations`. */
static void test_subdomains_as_strided(void)
{
    for (int e = 0; e < COUNT(elems); e++)
        for (int warp = 32; warp <= 64; warp *= 2) {
            for (int lanes = 1; lanes <= 128; lanes *= 2) {
                const gpumb_coalescing m =
                    gpumb_coalesce_subdomains(elems[e], 128, lanes, 1, warp, 32, 128);
                CHECK_NEAR(m.efficiency, 1, 0);
                CHECK_NEAR(gpumb_coalesce_strided(elems[e], 1, 0, warp, 32, 128).efficiency, 1, 0);
                CHECK_INT(m.bytes, 32 * m.sectors);
            }
            for (int iterations = 1; iterations <= 20; iterations++) {
                const gpumb_coalescing m =
                    gpumb_coalesce_subdomains(elems[e], 128, 1, iterations, warp, 32, 128);
                double sectors_a_byte = 0;
                for (int i = 0; i < iterations; i++) {
                    const gpumb_coalescing s = gpumb_coalesce_strided(
                        elems[e], (uint64_t)iterations, (uint64_t)i, warp, 32, 128);
                    sectors_a_byte += (double)s.sectors / (double)s.bytes / iterations;
                }
                CHECK_CASE(near((double)m.sectors / (double)m.bytes, sectors_a_byte),
                           "elem %d, warp %d, iterations %d", elems[e], warp, iterations);
            }
        }
    /* textbook: a whole warp together is coalesced, a thread alone walks like a stride */
    CHECK_NEAR(gpumb_coalesce_subdomains(4, 256, 32, 16, 32, 32, 128).efficiency, 1, 0);
    CHECK_NEAR(gpumb_coalesce_subdomains(4, 256, 8, 16, 32, 32, 128).efficiency, 1, 0);
    CHECK_NEAR(gpumb_coalesce_subdomains(4, 256, 4, 16, 32, 32, 128).efficiency, 0.5, 0);
    CHECK_NEAR(gpumb_coalesce_subdomains(4, 256, 1, 16, 32, 32, 128).efficiency, 0.125, 0);
    CHECK_NEAR(gpumb_coalesce_subdomains(4, 256, 1, 2, 32, 32, 128).efficiency, 0.5, 0);
}

/* ---- arguments out of range ---- */

/* What no device has ends at once, and so does what repeats. */
static void test_huge(void)
{
    static const uint64_t address[] = {0, 4};
    const int huge = INT32_MAX;
    CHECK(zero(gpumb_coalesce(address, 2, 4097, 32, 128)));
    CHECK(zero(gpumb_coalesce(address, 2, huge, 32, 128)));
    CHECK(!zero(gpumb_coalesce(address, 2, 4096, 32, 128)));
    CHECK(zero(gpumb_coalesce_strided(4, 1, 0, 32, huge, huge - 1)));
    CHECK(zero(gpumb_coalesce_strided(4, 1, 0, 32, 63, 128)));
    CHECK(!zero(gpumb_coalesce_strided(4, UINT64_MAX, UINT64_MAX, 32, 4096, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(4, huge, 1, huge, 32, 32, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(huge, 64, 8, 2, 32, 32, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, 2, 32, huge, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, 2, 32, huge - 1, huge)));
    const gpumb_coalescing m = gpumb_coalesce_subdomains(4, 4096, 8, 1 << 30, 32, 32, 128);
    CHECK(m.bytes == UINT64_C(4) * 4096 << 30);
    CHECK(m.sectors == UINT64_C(4) * 4096 / 32 << 30);
}

static void test_out_of_range(void)
{
    static const uint64_t address[] = {0, 4};
    static const int wrong[] = {0, -1, -32, INT32_MIN};
    CHECK(zero(gpumb_coalesce(NULL, 0, 4, 32, 128)));
    for (int i = 0; i < COUNT(wrong); i++) {
        const int v = wrong[i];
        CHECK(zero(gpumb_coalesce(address, v, 4, 32, 128)));
        CHECK(zero(gpumb_coalesce(address, 2, v, 32, 128)));
        CHECK(zero(gpumb_coalesce(address, 2, 4, v, 128)));
        CHECK(zero(gpumb_coalesce(address, 2, 4, 32, v)));
        CHECK(zero(gpumb_coalesce_strided(v, 1, 0, 32, 32, 128)));
        CHECK(zero(gpumb_coalesce_strided(4, 1, 0, v, 32, 128)));
        CHECK(zero(gpumb_coalesce_strided(4, 1, 0, 32, v, 128)));
        CHECK(zero(gpumb_coalesce_strided(4, 1, 0, 32, 32, v)));
        CHECK(zero(gpumb_coalesce_subdomains(v, 64, 8, 2, 32, 32, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, v, 8, 2, 32, 32, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, 64, v, 2, 32, 32, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, v, 32, 32, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, 2, v, 32, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, 2, 32, v, 128)));
        CHECK(zero(gpumb_coalesce_subdomains(4, 64, 8, 2, 32, 32, v)));
    }
    CHECK(!zero(gpumb_coalesce_strided(4, 1, 0, 64, 32, 128)));
    CHECK(zero(gpumb_coalesce_strided(4, 1, 0, 65, 32, 128)));
    CHECK(!zero(gpumb_coalesce_subdomains(4, 128, 8, 2, 64, 32, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(4, 128, 8, 2, 65, 32, 128)));
    CHECK(zero(gpumb_coalesce_subdomains(4, 64, 24, 2, 32, 32, 128))); /* no part of the block */
    CHECK(zero(gpumb_coalesce_subdomains(4, 64, 128, 2, 32, 32, 128)));
}

int main(void)
{
    test_by_hand();
    test_random();

    test_textbook();
    test_strided_all();
    test_strided_odd();
    test_subdomains_all();
    test_subdomains_as_strided();
    test_out_of_range();
    test_huge();
    test_top();
    return CHECK_SUMMARY();
}

// test_kernels.cu - the reference kernels, the fill, the comparison and the check against results
// computed on the host, on whatever backend this is built for.
// shares the GPU: results are compared, not times
#include "gpumb.h"

#include "device.h"
#include "poison.h"
#include "refused.h"
#include <algorithm>
#include <functional>
#include <stdlib.h>
#include <vector>

typedef std::vector<unsigned char> bytes;

enum { MARGIN = 256, SUMS = 4096 };
enum { OUTPUTS = 64 << 20 }; // bytes for those of many cases
static const uint64_t big = 1000003, largest = big * 32;
static const gpumb_form forms[] = {GPUMB_FORM_NAIVE, GPUMB_FORM_FASTEST};
static const gpumb_mode modes[] = {GPUMB_READ_WRITE, GPUMB_WRITE, GPUMB_READ};

// ---- expected results, on the host ----

static bytes filled(gpumb_fill_kind kind, uint64_t seed, uint64_t size)
{
    bytes b((size + 7) / 8 * 8);
    for (uint64_t i = 0; i < b.size() / 8; i++) {
        const uint64_t word = gpumb_fill_word(kind, seed, i);
        memcpy(&b[8 * i], &word, 8);
    }
    b.resize(size);
    return b;
}

static bytes zcopy_words(uint64_t size)
{
    bytes b(size);
    for (uint64_t i = 0; i < size / 4; i++) {
        const uint32_t word = gpumb_zcopy_word(i);
        memcpy(&b[4 * i], &word, 4);
    }
    return b;
}

static bytes all_poison(uint64_t size)
{
    bytes b(size);
    put_poison(b.data(), size, 0);
    return b;
}

static bool looks_poisoned(unsigned char byte)
{
    return byte == poison_at(0) || byte == poison_at(1);
}

static uint32_t sum_words(const unsigned char *p, uint64_t size)
{
    uint32_t sum = 0, word;
    for (uint64_t i = 0; i + 4 <= size; i += 4) {
        memcpy(&word, p + i, 4);
        sum += word;
    }
    return sum;
}

// ---- an input, outputs with margins, and what they have to hold ----

// The output of a case, with its margins, when it has been read back.
struct output_read {
    const unsigned char *data;
    uint64_t size;
};

// Each case has an output of its own in `out`, and they are read back and looked at together: on a
// GPU that others use as well, a wait takes longer than many launches. All that no case has been
// given yet is poison.
struct workplace {
    gpumb *g;
    gpumb_buffer *in, *out;
    bytes source, written;      // what `in` holds; what GPUMB_WRITE writes
    uint64_t begin, size, used; // of the last output, with its margins; of `out`
    struct expected {
        uint64_t begin, size;
        std::function<void(const output_read &)> look;
    };
    std::vector<expected> cases;
};

static const unsigned char *input(const workplace &w, uint64_t offset)
{
    return GPUMB_PTR(const unsigned char, w.in) + offset;
}

static unsigned char *output(const workplace &w, uint64_t offset)
{
    return GPUMB_PTR(unsigned char, w.out) + w.begin + MARGIN + offset;
}

static void poison_used(workplace &w)
{
    gpumb_buffer *used = gpumb_wrap(w.g, gpumb_data(w.out), w.used);
    gpumb_poison(w.g, used);
    gpumb_free(w.g, used);
    w.used = 0;
}

static void look_at_outputs(workplace &w)
{
    bytes got(w.used + 1);
    CHECK_INT(gpumb_read(w.g, w.out, 0, got.data(), w.used), 0);
    for (const workplace::expected &e : w.cases)
        e.look({&got[e.begin], e.size});
    w.cases.clear();
    poison_used(w);
}

// Room for a case's output, and what is to be done with it when it has been read back.
static void make_output(workplace &w, uint64_t size)
{
    w.size = (size + 2 * MARGIN + 255) / 256 * 256;
    if (w.used + w.size > OUTPUTS)
        look_at_outputs(w);
    w.begin = w.used;
    w.used += w.size;
}

static void when_read(workplace &w, const std::function<void(const output_read &)> &look)
{
    w.cases.push_back({w.begin, w.size, look});
}

static bytes read_back(gpumb *g, const gpumb_buffer *b)
{
    bytes copy(gpumb_size(b) + 1);
    CHECK_INT(gpumb_read(g, b, 0, copy.data(), copy.size() - 1), 0);
    copy.pop_back();
    return copy;
}

// Whether the output holds `expected`, and poison before and behind it.
static bool holds(const output_read &got, uint64_t offset, const unsigned char *expected,
                  uint64_t size)
{
    const uint64_t begin = MARGIN + offset, end = begin + size;
    return is_poison(got.data, begin, 0) &&
           (size == 0 || memcmp(got.data + begin, expected, size) == 0) &&
           is_poison(got.data + end, got.size - end, end);
}

// The same for partial sums, which lie on top of the poison.
static bool holds_sum(const output_read &got, uint32_t expected)
{
    const uint32_t sum = sum_words(got.data + MARGIN, SUMS) - 0x7ffd7ffdu * (SUMS / 4);
    return sum == expected && is_poison(got.data, MARGIN, 0) &&
           is_poison(got.data + MARGIN + SUMS, got.size - MARGIN - SUMS, MARGIN + SUMS);
}

// The edges of a block of 1, 4 or 16 elements a thread, and primes.
static std::vector<uint64_t> counts(uint64_t block, bool with_big)
{
    std::vector<uint64_t> n = {0,          1,    block - 1,      block,         block + 1,
                               4 * block,  1009, 4 * block - 1,  65537,         4 * block + 1,
                               16 * block, 15,   16 * block - 1, 16 * block + 1};
    if (with_big)
        n.push_back(big);
    return n;
}

// ---- copy ----

static void test_copy(workplace &w, bool on_cpu)
{
    for (int elem = 1; elem <= 32; elem *= 2)
        for (int block : {0, 32, 97, 128, 256, 1024})
            for (uint64_t n :
                 counts(block ? (uint64_t)block : 256, !on_cpu || block == 0 || block == 97)) {
                const uint64_t size = n * (uint64_t)elem;
                for (gpumb_form form : forms) {
                    make_output(w, size);
                    CHECK_INT(gpumb_copy(w.g, form, elem, n, block, input(w, 0), output(w, 0)), 0);
                    when_read(w, [=, &w](const output_read &got) {
                        CHECK_CASE(holds(got, 0, w.source.data(), size),
                                   "copy, form %d, elem %d, n %llu, block %d", (int)form, elem,
                                   (unsigned long long)n, block);
                    });
                }
            }
    look_at_outputs(w);
}

// The fastest form takes words of 16 bytes where it may, and only there.
static void test_copy_unaligned(workplace &w)
{
    for (int elem = 1; elem <= 32; elem *= 2)
        for (uint64_t n : {1u, 15u, 1009u, 65537u})
            for (int which = 1; which <= 3; which++)
                for (int block : {0, 97}) {
                    const uint64_t size = n * (uint64_t)elem;
                    const uint64_t from = which & 1 ? (uint64_t)elem : 0;
                    const uint64_t to = which & 2 ? (uint64_t)elem : 0;
                    make_output(w, size + (uint64_t)elem);
                    CHECK_INT(gpumb_copy(w.g, GPUMB_FORM_FASTEST, elem, n, block, input(w, from),
                                         output(w, to)),
                              0);
                    when_read(w, [=, &w](const output_read &got) {
                        CHECK_CASE(holds(got, to, &w.source[from], size),
                                   "copy, elem %d, n %llu, block %d, in + %llu, out + %llu", elem,
                                   (unsigned long long)n, block, (unsigned long long)from,
                                   (unsigned long long)to);
                    });
                }
    look_at_outputs(w);
}

// ---- strided ----

// Whether the output holds `count` elements `stride` apart that begin at byte `to`, and poison in
// every other byte, margins included. The elements come from the source, equally far apart, from
// byte `from` on.
static bool holds_strided(const workplace &w, const output_read &read, uint64_t from, uint64_t to,
                          uint64_t elem, uint64_t count, uint64_t stride)
{
    bytes got(read.data, read.data + read.size);
    bool right = true;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *element = got.data() + MARGIN + to + i * stride * elem;
        right = right && memcmp(element, &w.source[from + i * stride * elem], elem) == 0;
        put_poison(element, elem, (size_t)(element - got.data())); // only what should not be there
    }
    return right && is_poison(got.data(), got.size(), 0);
}

// What the header's own check says of the last output.
static int check_last(const workplace &w, int elem, uint64_t n, uint64_t stride, uint64_t from,
                      uint64_t to)
{
    gpumb_buffer *out = gpumb_wrap(w.g, GPUMB_PTR(char, w.out) + w.begin, w.size);
    gpumb_stride_check check = {w.in, out, elem, n, stride, from, to + MARGIN / (uint64_t)elem};
    const int right = gpumb_check_strided(w.g, &check);
    gpumb_free(w.g, out);
    return right;
}

static void check_strided(workplace &w, int elem, uint64_t n, uint64_t stride, int block,
                          uint64_t from, uint64_t to)
{
    const uint64_t size = (uint64_t)elem;
    make_output(w, to * size + (n ? ((n - 1) * stride + 1) * size : 0));
    CHECK_INT(
        gpumb_strided(w.g, elem, n, stride, block, input(w, from * size), output(w, to * size)), 0);
    when_read(w, [=, &w](const output_read &got) {
        CHECK_CASE(holds_strided(w, got, from * size, to * size, size, n, stride),
                   "strided, elem %d, n %llu, stride %llu, block %d, in + %llu, out + %llu", elem,
                   (unsigned long long)n, (unsigned long long)stride, block,
                   (unsigned long long)from, (unsigned long long)to);
    });
    CHECK_INT(check_last(w, elem, n, stride, from, to), 1);
}

static void test_strided(workplace &w, bool on_cpu)
{
    const uint64_t most = on_cpu ? 4u << 20 : largest; // bytes that it spans
    for (int elem = 1; elem <= 16; elem *= 2)
        for (int block : {32, 33, 96, 256, 1000, 1024}) {
            const uint64_t b = (uint64_t)block;
            for (uint64_t n :
                 {(uint64_t)0, (uint64_t)1, b - 1, b, b + 1, (uint64_t)1009, (uint64_t)100003})
                for (uint64_t stride : {1u, 2u, 3u, 7u, 32u, 33u, 1000u})
                    if (n * stride * (uint64_t)elem <= most &&
                        (n < 2000 || block == 96 || block == 256))
                        check_strided(w, elem, n, stride, block, 0, 0);
        }
    check_strided(w, 8, 100003, 33, 96, 0, 0); // what the CPU has left out above
    check_strided(w, 1, 2, largest - 1, 32, 0, 0);
    for (int elem = 1; elem <= 16; elem *= 2) // pointers to any element
        for (uint64_t from = 0; from < 5; from++)
            for (uint64_t to = 0; to < 5; to++)
                check_strided(w, elem, 97, 1 + (from + to) % 4, 32, from, to);
    look_at_outputs(w);
}

// ---- sub-domains ----

// What the threads move, by the formula: all of it, so that an element that two of them move shows.
static bytes subdomains(const workplace &w, uint64_t from, uint64_t elem, uint64_t lanes,
                        uint64_t iterations, uint64_t blocks, uint64_t block)
{
    bytes moved(blocks * block * iterations * elem);
    put_poison(moved.data(), moved.size(), 0);
    for (uint64_t b = 0; b < blocks; b++)
        for (uint64_t t = 0; t < block; t++)
            for (uint64_t i = 0; i < iterations; i++) {
                const uint64_t k =
                    (b * block + t / lanes * lanes) * iterations + i * lanes + t % lanes;
                memcpy(&moved[k * elem], &w.source[from + k * elem], elem);
            }
    return moved;
}

static void check_subdomains(workplace &w, int elem, int lanes, int iterations, uint64_t blocks,
                             int block, uint64_t from, uint64_t to)
{
    const uint64_t size = (uint64_t)elem, n = blocks * (uint64_t)block * (uint64_t)iterations;
    make_output(w, (n + to) * size);
    CHECK_INT(gpumb_subdomains(w.g, elem, lanes, iterations, blocks, block, input(w, from * size),
                               output(w, to * size)),
              0);
    when_read(w, [=, &w](const output_read &got) {
        const bytes moved = subdomains(w, from * size, size, (uint64_t)lanes, (uint64_t)iterations,
                                       blocks, (uint64_t)block);
        CHECK_CASE(holds(got, to * size, moved.data(), n * size),
                   "sub-domains, elem %d, lanes %d, iterations %d, blocks %llu, block %d, "
                   "in + %llu, out + %llu",
                   elem, lanes, iterations, (unsigned long long)blocks, block,
                   (unsigned long long)from, (unsigned long long)to);
    });
    CHECK_INT(check_last(w, elem, n, 1, from, to), 1);
}

static void test_subdomains(workplace &w)
{
    for (int block : {1, 32, 33, 96, 256, 1000, 1024})
        for (int lanes : {1, 2, 3, 4, 8, 16, 32, block})
            for (int iterations : {1, 2, 3, 16}) {
                if (block % lanes || (lanes == block && block <= 32 && block != 1))
                    continue; // 32 is in the list
                for (int elem = 1; elem <= 16; elem *= 2)
                    for (uint64_t blocks : {1u, 3u})
                        check_subdomains(w, elem, lanes, iterations, blocks, block, 0, 0);
            }
    for (int elem = 1; elem <= 16; elem *= 2)
        for (uint64_t from = 0; from < 4; from++)
            for (uint64_t to = 0; to < 4; to++)
                check_subdomains(w, elem, 8, 5, 3, 96, from, to);
    check_subdomains(w, 4, 4, 16, 1009, 96, 0, 0);
    look_at_outputs(w);
}

// ---- misaligned copies: every place in a word of 16 bytes, for input and output ----

static void test_copy_misaligned(workplace &w, bool on_cpu)
{
    for (int elem = 1; elem <= 32; elem *= 2) {
        const uint64_t size = (uint64_t)elem;
        for (uint64_t n : {1u, 37u, 1009u}) {
            for (uint64_t from = 0; from <= 17; from++)
                for (uint64_t to = 0; to <= 17; to++)
                    for (gpumb_form form : forms) {
                        if (on_cpu && (elem == 32 || n != 37) && (from + 2 * to) % 5)
                            continue; // for the time it takes
                        make_output(w, (n + 17) * size);
                        CHECK_INT(gpumb_copy(w.g, form, elem, n, 96, input(w, from * size),
                                             output(w, to * size)),
                                  0);
                        when_read(w, [=, &w](const output_read &got) {
                            CHECK_CASE(holds(got, to * size, &w.source[from * size], n * size),
                                       "copy, form %d, elem %d, n %llu, in + %llu, out + %llu",
                                       (int)form, elem, (unsigned long long)n,
                                       (unsigned long long)from, (unsigned long long)to);
                        });
                    }
        }
    }
    look_at_outputs(w);
}

// ---- zcopy ----

static void check_zcopy(workplace &w, gpumb_form form, gpumb_mode mode, int elem, uint64_t n,
                        uint64_t grid, int block, uint64_t from, uint64_t to, uint32_t sum)
{
    const uint64_t size = n * (uint64_t)elem;
    const void *in = mode == GPUMB_WRITE ? NULL : input(w, from);
    make_output(w, mode == GPUMB_READ ? (uint64_t)SUMS : to + size);
    CHECK_INT(gpumb_zcopy(w.g, form, mode, elem, n, grid, block, in, output(w, to)), 0);
    when_read(w, [=, &w](const output_read &got) {
        CHECK_CASE(mode == GPUMB_READ_WRITE ? holds(got, to, &w.source[from], size)
                   : mode == GPUMB_WRITE    ? holds(got, to, w.written.data(), size)
                                            : holds_sum(got, sum),
                   "zcopy, form %d, mode %d, elem %d, n %llu, grid %llu, block %d, in + %llu, "
                   "out + %llu",
                   (int)form, (int)mode, elem, (unsigned long long)n, (unsigned long long)grid,
                   block, (unsigned long long)from, (unsigned long long)to);
    });
}

// Grids of 70000 blocks take their time on a CPU: few of them there.
static bool affordable(uint64_t grid, int block, uint64_t n, bool on_cpu)
{
    if (grid == 70000)
        return on_cpu ? block == 33 && (n == 1 || n == 65537) : block == 0 || block == 33;
    return n != big || ((grid == 0 || grid == 3) && (block == 0 || block == 33));
}

static void test_zcopy(workplace &w, bool on_cpu)
{
    for (gpumb_mode mode : modes)
        for (int elem = 4; elem <= 32; elem *= 2)
            for (int block : {0, 32, 33, 96, 1000, 1024})
                for (uint64_t n : counts(block ? (uint64_t)block : on_cpu ? 1024 : 256, true)) {
                    const uint64_t size = n * (uint64_t)elem;
                    const uint32_t sum = mode == GPUMB_READ ? sum_words(w.source.data(), size) : 0;
                    for (gpumb_form form : forms)
                        for (uint64_t grid : {0u, 1u, 3u, 132u, 70000u})
                            if (affordable(grid, block, n, on_cpu))
                                check_zcopy(w, form, mode, elem, n, grid, block, 0, 0, sum);
                }
    look_at_outputs(w);
}

static void test_zcopy_unaligned(workplace &w)
{
    for (gpumb_mode mode : modes)
        for (int elem = 4; elem <= 32; elem *= 2)
            for (uint64_t n : {1u, 15u, 1009u, 65537u})
                for (int which = 1; which <= 3; which++) {
                    const uint64_t size = n * (uint64_t)elem;
                    const uint64_t from = which & 1 ? (uint64_t)elem : 0;
                    const uint64_t to = which & 2 && mode != GPUMB_READ ? (uint64_t)elem : 0;
                    check_zcopy(w, GPUMB_FORM_FASTEST, mode, elem, n, 0, 0, from, to,
                                sum_words(&w.source[from], size));
                }
    look_at_outputs(w);
}

// ---- arguments that no kernel takes ----

static void test_refusals(workplace &w)
{
    const void *in = input(w, 0);
    void *out = output(w, 0);
    gpumb *g = w.g;
    for (gpumb_form form : forms) {
        for (int elem : {0, -4, 3, 5, 12, 33, 64})
            CHECK(refused(gpumb_copy(g, form, elem, 8, 128, in, out), "no kernel for elem"));
        for (int block : {-1, 1025, 1 << 20})
            CHECK(refused(gpumb_copy(g, form, 4, 8, block, in, out), ": block"));
        CHECK(refused(gpumb_copy(g, form, 1, UINT64_MAX, 128, in, out), "n is too large"));
        for (gpumb_mode mode : modes) {
            for (int elem : {0, -4, 1, 2, 3, 24, 64})
                CHECK(refused(gpumb_zcopy(g, form, mode, elem, 8, 1, 128, in, out),
                              "no kernel for elem"));
            for (int block : {-1, 1025})
                CHECK(refused(gpumb_zcopy(g, form, mode, 4, 8, 1, block, in, out), ": block"));
            CHECK(refused(gpumb_zcopy(g, form, mode, 4, 8, 1ull << 31, 128, in, out), "refused"));
        }
    }
    // 2^32 blocks, which 32 bits would make none
    CHECK(refused(gpumb_copy(g, GPUMB_FORM_NAIVE, 1, 1ull << 40, 256, in, out), "refused"));
    CHECK(refused(gpumb_empty(g, 0, 32), "refused"));
    CHECK(refused(gpumb_empty(g, 1, 1025), "refused"));
    CHECK_INT(gpumb_empty(g, 3, 33), 0);

    GPUMB_MEASURE(g, "three bytes") {
        gpumb_copy(g, GPUMB_FORM_NAIVE, 3, 8, 128, in, out);
    }
    CHECK_INT(gpumb_last_result(g)->status, GPUMB_STATUS_SKIPPED);
    CHECK(strstr(gpumb_last_result(g)->reason, "no kernel for elem 3"));
}

static void expect_poison(workplace &w)
{
    when_read(w, [](const output_read &got) { CHECK(holds(got, 0, NULL, 0)); });
    look_at_outputs(w);
    make_output(w, 4096); // the same again
}

// Refused, and nothing launched: the output is still poison.
static void test_access_refusals(workplace &w)
{
    const void *in = input(w, 0);
    gpumb *g = w.g;
    make_output(w, 4096);
    void *out = output(w, 0);
    for (int elem : {0, -4, 3, 5, 12, 32, 64}) {
        CHECK(refused(gpumb_strided(g, elem, 8, 2, 128, in, out), "no kernel for elem"));
        CHECK(refused(gpumb_subdomains(g, elem, 8, 2, 1, 128, in, out), "no kernel for elem"));
    }
    for (int block : {-32, 1025, 2000, 1 << 20}) {
        CHECK(refused(gpumb_strided(g, 4, 8, 2, block, in, out), "block"));
        CHECK(refused(gpumb_subdomains(g, 4, 1, 2, 1, block, in, out), "block"));
    }
    CHECK(refused(gpumb_strided(g, 4, 8, 0, 128, in, out), "stride"));
    for (int lanes : {-8, 0, 5, 64, 192, 256}) // of 96
        CHECK(refused(gpumb_subdomains(g, 4, lanes, 2, 1, 96, in, out), ""));
    for (int iterations : {-1, 0})
        CHECK(refused(gpumb_subdomains(g, 4, 8, iterations, 1, 96, in, out), "iterations"));
    // more blocks than a grid has; 2^32 of them, which 32 bits would make none
    CHECK(refused(gpumb_strided(g, 1, UINT64_MAX, 1, 128, in, out), ""));
    CHECK(refused(gpumb_strided(g, 1, 1ull << 40, 1, 256, in, out), "refused"));
    CHECK(refused(gpumb_subdomains(g, 4, 8, 2, 1ull << 32, 96, in, out), ""));
    expect_poison(w);
    gpumb_subdomains(g, 4, 8, 2, 1, 0, in, out); // blocks * block * iterations elements: none
    gpumb_result ignored;
    GPUMB_TIME(&ignored) {
    }
    expect_poison(w);

    GPUMB_MEASURE(g, "lanes that do not divide the block") {
        gpumb_subdomains(g, 4, 7, 2, 1, 96, in, out);
    }
    const gpumb_result *r = gpumb_last_result(g);
    CHECK_INT(r->status, GPUMB_STATUS_SKIPPED);
    CHECK(r->reason[0] != '\0');
    expect_poison(w);
    poison_used(w);
}

// ---- the check ----

struct damage {
    gpumb_copy_check check;
    uint64_t at; // the byte to flip first; its size or more: none
};

static int check_damaged(gpumb *g, void *user)
{
    damage *d = (damage *)user;
    gpumb_buffer *out = const_cast<gpumb_buffer *>(d->check.out);
    unsigned char byte;
    if (d->at < gpumb_size(out)) {
        gpumb_read(g, out, d->at, &byte, 1);
        byte ^= 0x10;
        gpumb_write(g, out, d->at, &byte, 1);
    }
    return gpumb_check_copy(g, &d->check);
}

// Whether the last row failed, with `word` in the reason.
static bool failed(gpumb *g, const char *word)
{
    const gpumb_result *r = gpumb_last_result(g);
    const bool right =
        r && r->status == GPUMB_STATUS_FAILED && r->verified == 0 && strstr(r->reason, word);
    if (!right)
        printf("    status %d, reason \"%s\", expected \"%s\" in it\n", r ? (int)r->status : -1,
               r ? r->reason : "", word);
    return right;
}

static void expect(gpumb *g, gpumb_buffer *out, gpumb_check check, void *user)
{
    gpumb_set_output(g, out);
    gpumb_set_verify(g, check, user);
}

static void test_check_flipped(workplace &w)
{
    const uint64_t n = 1009, size = 4 * n;
    char word[40];
    for (gpumb_mode mode : modes)
        for (gpumb_form form : forms) {
            const uint64_t results = mode == GPUMB_READ ? (uint64_t)SUMS : size;
            gpumb_buffer *out = gpumb_alloc(w.g, results);
            for (uint64_t at : {(uint64_t)0, results / 2 + 1, results - 1, results}) {
                damage d = {{w.in, out, size, mode}, at};
                expect(w.g, out, check_damaged, &d);
                GPUMB_MEASURE(w.g, "flipped") {
                    gpumb_zcopy(w.g, form, mode, 4, n, 2, 64, input(w, 0), gpumb_data(out));
                }
                const uint64_t seen_at = mode == GPUMB_WRITE ? at / 4 * 4 : at;
                snprintf(word, sizeof word, "first at byte %llu", (unsigned long long)seen_at);
                if (at < results) {
                    CHECK_CASE(failed(w.g, mode == GPUMB_READ ? "the sums add up to" : word),
                               "mode %d, byte %llu flipped", (int)mode, (unsigned long long)at);
                } else {
                    CHECK_INT(gpumb_last_result(w.g)->status, GPUMB_STATUS_OK);
                    CHECK_INT(gpumb_last_result(w.g)->verified, 1);
                }
            }
            gpumb_free(w.g, out);
        }
}

template <class T>
static __global__ void copy_but(const T *in, T *out, uint64_t n, uint64_t left_out, uint64_t beyond)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n && i != left_out)
        out[i] = in[i];
    else if (i >= n && i < n + beyond)
        out[i] = T();
}

// Copies of n elements of type T by a kernel that leaves one out, or writes more than there are.
template <class T> static void test_check_broken(workplace &w, gpumb_mode mode, uint64_t n)
{
    const uint64_t size = n * sizeof(T);
    gpumb_buffer *model = gpumb_alloc(w.g, size), *out = gpumb_alloc(w.g, size);
    gpumb_copy_check check = {model, out, size, mode};
    bytes right = mode == GPUMB_WRITE ? zcopy_words(size) : filled(GPUMB_FILL_BITS, 5, size);
    for (unsigned char &byte : right) // for none to look like poison
        byte = mode == GPUMB_READ_WRITE && looks_poisoned(byte) ? 1 : byte;
    gpumb_write(w.g, model, 0, right.data(), size);
    for (uint64_t left_out : {(uint64_t)0, n / 2, n - 1, n}) {
        expect(w.g, out, gpumb_check_copy, &check);
        GPUMB_MEASURE(w.g, "leaves one out") {
            GPUMB_LAUNCH(copy_but<T>, n / 256 + 2, 256, 0, GPUMB_PTR(const T, model),
                         GPUMB_PTR(T, out), n, left_out, 0);
        }
        if (left_out < n)
            CHECK(failed(w.g, mode == GPUMB_WRITE ? "wrong word" : "wrong byte"));
        else
            CHECK_INT(gpumb_last_result(w.g)->status, GPUMB_STATUS_OK);
    }
    for (uint64_t beyond : {1u, 16u}) { // the guard zone has 256 bytes
        expect(w.g, out, gpumb_check_copy, &check);
        GPUMB_MEASURE(w.g, "goes beyond") {
            GPUMB_LAUNCH(copy_but<T>, n / 256 + 2, 256, 0, GPUMB_PTR(const T, model),
                         GPUMB_PTR(T, out), n, n, beyond);
        }
        CHECK(failed(w.g, "past the end"));
    }
    gpumb_free(w.g, model);
    gpumb_free(w.g, out);
}

// Reads all but one element: two launches, of what is before it and of what is behind.
static void test_check_read_broken(workplace &w)
{
    const uint64_t n = 1009;
    gpumb_buffer *out = gpumb_alloc(w.g, SUMS);
    gpumb_copy_check check = {w.in, out, 4 * n, GPUMB_READ};
    for (gpumb_form form : forms)
        for (uint64_t left_out : {(uint64_t)0, n / 2, n - 1, n}) {
            const uint64_t rest = left_out < n ? n - left_out - 1 : 0;
            expect(w.g, out, gpumb_check_copy, &check);
            GPUMB_MEASURE(w.g, "leaves one out") {
                gpumb_zcopy(w.g, form, GPUMB_READ, 4, left_out, 2, 64, input(w, 0),
                            gpumb_data(out));
                gpumb_zcopy(w.g, form, GPUMB_READ, 4, rest, 2, 64, input(w, 4 * left_out + 4),
                            gpumb_data(out));
            }
            if (left_out < n)
                CHECK(failed(w.g, "the sums add up to"));
            else
                CHECK_INT(gpumb_last_result(w.g)->status, GPUMB_STATUS_OK);
        }
    gpumb_free(w.g, out);
}

// ---- the check of strided copies ----

// An input without poison, so that nothing that is missing looks like it, a right output of n
// elements `stride` apart, and what the check is to say of that and of other contents.
struct strided_place {
    bytes source, right;
    gpumb_stride_check check;
    struct candidate {
        bytes contents;
        gpumb_stride_check check;
        int answer, line;
    };
    std::vector<candidate> candidates;
};

static uint64_t element(const strided_place &p, uint64_t offset, uint64_t i)
{
    return (offset + i * p.check.stride) * (uint64_t)p.check.elem;
}

static strided_place make_strided(int elem, uint64_t n, uint64_t stride, uint64_t in_offset,
                                  uint64_t out_offset)
{
    const uint64_t size = (uint64_t)elem, span = n * stride + 2; // one more than it takes
    strided_place p = {filled(GPUMB_FILL_BITS, 11, (in_offset + span) * size),
                       all_poison((out_offset + span) * size),
                       {NULL, NULL, elem, n, stride, in_offset, out_offset},
                       {}};
    for (unsigned char &byte : p.source)
        byte = looks_poisoned(byte) ? 1 : byte;
    for (uint64_t i = 0; i < n; i++)
        memcpy(&p.right[element(p, out_offset, i)], &p.source[element(p, in_offset, i)], size);
    return p;
}

static uint64_t append(bytes &image, const bytes &contents)
{
    const uint64_t at = image.size();
    image.insert(image.end(), contents.begin(), contents.end());
    image.resize((image.size() + 255) / 256 * 256);
    return at;
}

// How many of the answers are wrong. All that is looked at is written at once, behind the input,
// which is to be the same afterwards.
static int wrong_answers(workplace &w, const strided_place &p)
{
    int wrong = 0;
    bytes image, in_after(p.source.size());
    std::vector<uint64_t> at;
    append(image, p.source);
    for (const strided_place::candidate &c : p.candidates)
        at.push_back(append(image, c.contents));
    CHECK_INT(gpumb_write(w.g, w.out, 0, image.data(), image.size()), 0);
    w.used = image.size();
    gpumb_buffer *in = gpumb_wrap(w.g, gpumb_data(w.out), p.source.size());
    for (size_t i = 0; i < at.size(); i++) {
        const strided_place::candidate &c = p.candidates[i];
        gpumb_buffer *out = gpumb_wrap(w.g, GPUMB_PTR(char, w.out) + at[i], c.contents.size());
        gpumb_stride_check check = c.check;
        check.in = in;
        check.out = out;
        const int got = gpumb_check_strided(w.g, &check);
        if (got != c.answer)
            printf("    line %d: elem %d, n %llu, stride %llu, in + %llu, out + %llu: %d\n", c.line,
                   check.elem, (unsigned long long)check.n, (unsigned long long)check.stride,
                   (unsigned long long)check.in_offset, (unsigned long long)check.out_offset, got);
        wrong += got != c.answer;
        gpumb_free(w.g, out);
    }
    CHECK_INT(gpumb_read(w.g, in, 0, in_after.data(), in_after.size()), 0);
    CHECK(in_after == p.source);
    gpumb_free(w.g, in);
    poison_used(w);
    return wrong;
}

#define WANT(answer, contents) p.candidates.push_back({contents, p.check, answer, __LINE__})

static void test_stride_check(workplace &w, int elem, uint64_t n, uint64_t stride,
                              uint64_t in_offset, uint64_t out_offset)
{
    strided_place p = make_strided(elem, n, stride, in_offset, out_offset);
    const uint64_t size = (uint64_t)elem, end = element(p, out_offset, n - 1) + size;

    WANT(1, p.right);
    // a bit in the first, the middle and the last element, in its first and last byte
    for (uint64_t i : {(uint64_t)0, n / 2, n - 1})
        for (uint64_t byte : {(uint64_t)0, size - 1}) {
            bytes broken = p.right;
            broken[element(p, out_offset, i) + byte] ^= 0x10;
            WANT(0, broken);
            broken = p.right; // a byte that was never written
            broken[element(p, out_offset, i) + byte] = poison_at(element(p, out_offset, i) + byte);
            WANT(0, broken);
        }
    // a byte before, between and behind the elements, the buffer's first and last among them
    std::vector<uint64_t> elsewhere = {end, p.right.size() - 1};
    if (out_offset) {
        elsewhere.push_back(0);
        elsewhere.push_back(out_offset * size - 1);
    }
    if (stride > 1 && n > 1) {
        elsewhere.push_back(element(p, out_offset, 0) + size);
        elsewhere.push_back(element(p, out_offset, 1) - 1);
        elsewhere.push_back(element(p, out_offset, n - 1) - 1);
        elsewhere.push_back(element(p, out_offset, n / 2) - size);
    }
    for (uint64_t at : elsewhere)
        for (int bit : {0x01, 0x80}) {
            bytes broken = p.right;
            broken[at] = (unsigned char)(poison_at(at) ^ bit);
            WANT(0, broken);
        }
    // the last element is missing; there is one too many
    bytes broken = p.right;
    put_poison(&broken[end - size], size, end - size);
    WANT(0, broken);
    broken = p.right;
    memcpy(&broken[element(p, out_offset, n)], &p.source[element(p, in_offset, n)], size);
    WANT(0, broken);
    // nothing, or all of the input
    WANT(0, all_poison(p.right.size()));
    if (stride > 1 && n > 1) {
        broken = p.right;
        memcpy(&broken[out_offset * size], &p.source[in_offset * size],
               element(p, 0, n - 1) + size);
        WANT(0, broken);
    }
    // the right elements one further than they belong; those next to the right ones
    broken = all_poison(p.right.size());
    for (uint64_t i = 0; i < n; i++)
        memcpy(&broken[element(p, out_offset, i) + size], &p.source[element(p, in_offset, i)],
               size);
    WANT(0, broken);
    if (elem > 1 || n > 3) { // one byte or three may be the same as its neighbour
        broken = p.right;
        for (uint64_t i = 0; i < n; i++)
            memcpy(&broken[element(p, out_offset, i)], &p.source[element(p, in_offset, i) + size],
                   size);
        WANT(0, broken);
    }
    WANT(1, p.right); // still: the input is as it was
    // a check of fewer elements, of more, from elsewhere, to elsewhere, further apart
    const gpumb_stride_check right = p.check;
    p.check.n = n - 1;
    WANT(0, p.right);
    p.check.n = n + 1;
    WANT(0, p.right);
    p.check = right;
    if (elem > 1 || n > 3) {
        p.check.in_offset = in_offset + 1;
        WANT(0, p.right);
        p.check = right;
    }
    p.check.out_offset = out_offset + 1;
    WANT(0, p.right);
    p.check = right;
    if (n > 1) { // still in the buffer with half of them
        p.check.stride = stride + 1;
        p.check.n = n / 2 + 1;
        WANT(0, p.right);
        p.check = right;
    }
    WANT(1, p.right);
    CHECK_INT(wrong_answers(w, p), 0);
}

// Nothing moved: right if and only if all is poison.
static void test_stride_check_empty(workplace &w)
{
    for (int elem = 1; elem <= 16; elem *= 2) {
        strided_place p = make_strided(elem, 0, 3, 2, 5);
        WANT(1, p.right);
        for (uint64_t at : {(uint64_t)0, (uint64_t)(5 * elem), p.right.size() - 1}) {
            bytes broken = p.right;
            broken[at] = 0;
            WANT(0, broken);
        }
        CHECK_INT(wrong_answers(w, p), 0);
    }
}
#undef WANT

static void test_stride_checks(workplace &w)
{
    for (int elem = 1; elem <= 16; elem *= 2)
        for (uint64_t n : {1u, 2u, 255u, 1009u})
            for (uint64_t stride : {1u, 2u, 7u, 33u})
                for (int offsets = n == 1009 ? 3 : 0; offsets < 4; offsets++)
                    test_stride_check(w, elem, n, stride, offsets & 1 ? 17 : 0,
                                      offsets & 2 ? 5 : 0);
    test_stride_check_empty(w);
    gpumb_result r; // those checks have left a reason behind
    GPUMB_TIME(&r) {
    }
}

// Elements that have no place in one of the buffers are not right, and not looked for behind them,
// in numbers that wrap around neither. The buffers end with the last element.
static void test_stride_check_short(gpumb *g, int elem, uint64_t n, uint64_t stride)
{
    const uint64_t size = ((n - 1) * stride + 1) * (uint64_t)elem, most = UINT64_MAX;
    const strided_place p = make_strided(elem, n, stride, 0, 0);
    gpumb_buffer *out = gpumb_alloc(g, size), *in = gpumb_alloc(g, size);
    gpumb_buffer *long_out = gpumb_alloc(g, p.right.size());
    gpumb_buffer *long_in = gpumb_alloc(g, p.source.size());
    gpumb_write(g, in, 0, p.source.data(), size);
    gpumb_write(g, out, 0, p.right.data(), size);
    gpumb_stride_check check = {in, out, elem, n, stride, 0, 0};
    CHECK_INT(gpumb_check_strided(g, &check), 1);
    const gpumb_stride_check wrong[] = {
        {long_in, out, elem, n + 1, stride, 0, 0}, // one too many for the output
        {in, long_out, elem, n + 1, stride, 0, 0}, // and for the input
        {in, out, elem, n + 1, stride, 0, 0},
        {in, out, elem, most, stride, 0, 0},
        {in, out, elem, most / (uint64_t)elem, stride, 0, 0},
        {in, out, elem, n, most / (uint64_t)elem, 0, 0},
        {in, out, elem, n, stride, 1, 0},
        {in, out, elem, n, stride, 100 * size, 0},
        {in, out, elem, n, stride, most, 0},
        {in, out, elem, n, stride, 0, 1},
        {in, out, elem, n, stride, 0, most},
        {in, out, elem, n, stride, most, most},
        {NULL, out, elem, n, stride, 0, 0},
        {in, NULL, elem, n, stride, 0, 0},
    };
    gpumb_write(g, long_in, 0, p.source.data(), p.source.size());
    gpumb_write(g, long_out, 0, p.right.data(), p.right.size());
    for (const gpumb_stride_check &w : wrong) {
        check = w;
        CHECK_CASE(gpumb_check_strided(g, &check) == 0, "check %d of elem %d, stride %d",
                   (int)(&w - wrong), elem, (int)stride);
    }
    gpumb_poison(g, out); // one element, right behind the buffer, of which nothing is seen in it
    check = {in, out, elem, 1, stride, 0, size / (uint64_t)elem};
    CHECK_INT(gpumb_check_strided(g, &check), 0);
    gpumb_result r; // those checks have left a reason behind
    GPUMB_TIME(&r) {
    }
    gpumb_free(g, in);
    gpumb_free(g, out);
    gpumb_free(g, long_in);
    gpumb_free(g, long_out);
}

// The check in a region: it fails the row with a reason, and passes the right kernels.
static void test_stride_rows(workplace &w)
{
    const uint64_t n = 1009, stride = 3;
    gpumb_buffer *out = gpumb_alloc(w.g, 4 * (n * stride + 7));
    gpumb_stride_check check = {w.in, out, 4, n, stride, 5, 2};
    for (uint64_t moved : {n, n - 1, n + 1}) {
        expect(w.g, out, gpumb_check_strided, &check);
        GPUMB_MEASURE(w.g, "strided") {
            gpumb_strided(w.g, 4, moved, stride, 96, input(w, 20), GPUMB_PTR(char, out) + 8);
        }
        if (moved == n) {
            CHECK_INT(gpumb_last_result(w.g)->status, GPUMB_STATUS_OK);
            CHECK_INT(gpumb_last_result(w.g)->verified, 1);
        } else {
            CHECK(failed(w.g, ""));
            CHECK(gpumb_last_result(w.g)->reason[0] != '\0');
        }
    }
    check.stride = 1;
    check.n = 96 * 2 * 3;
    for (int iterations : {3, 2, 4}) {
        expect(w.g, out, gpumb_check_strided, &check);
        GPUMB_MEASURE(w.g, "sub-domains") {
            gpumb_subdomains(w.g, 4, 8, iterations, 2, 96, input(w, 20), GPUMB_PTR(char, out) + 8);
        }
        CHECK_INT(gpumb_last_result(w.g)->status,
                  iterations == 3 ? GPUMB_STATUS_OK : GPUMB_STATUS_FAILED);
    }
    check.n = n;
    for (uint64_t shift : {0u, 1u}) {
        expect(w.g, out, gpumb_check_strided, &check);
        GPUMB_MEASURE(w.g, "misaligned copy") {
            gpumb_copy(w.g, GPUMB_FORM_FASTEST, 4, n, 96, input(w, 20 + 4 * shift),
                       GPUMB_PTR(char, out) + 8);
        }
        CHECK_INT(gpumb_last_result(w.g)->status, shift ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
    }
    // a write behind the buffer is the guard zone's, and of any region
    check.n = 2;
    check.stride = (n * stride + 7) / 2; // twice that is the first element behind the buffer
    check.in_offset = check.out_offset = 0;
    expect(w.g, out, gpumb_check_strided, &check);
    GPUMB_MEASURE(w.g, "goes beyond") {
        gpumb_strided(w.g, 4, 3, check.stride, 96, input(w, 0), gpumb_data(out));
    }
    CHECK(failed(w.g, "past the end"));
    gpumb_free(w.g, out);
}

// ---- fill ----

// The generator is splitmix64: its first words from seed 0, as its authors' program prints them.
static void test_fill_word()
{
    CHECK(gpumb_fill_word(GPUMB_FILL_BITS, 0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    CHECK(gpumb_fill_word(GPUMB_FILL_BITS, 0, 1) == UINT64_C(0x6e789e6aa1b965f4));
    CHECK(gpumb_fill_word(GPUMB_FILL_BITS, 0, 2) == UINT64_C(0x06c45d188009454f));
    CHECK(gpumb_fill_word(GPUMB_FILL_ZERO, 1, 2) == 0);
}

static void test_fill(gpumb *g)
{
    const gpumb_fill_kind kinds[] = {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_F64,
                                     GPUMB_FILL_ZERO};
    for (uint64_t size : {0u, 1u, 3u, 7u, 8u, 9u, 255u, 256u, 1009u, 65537u, 1000003u}) {
        gpumb_buffer *b = gpumb_alloc(g, size);
        for (gpumb_fill_kind kind : kinds) {
            bytes before;
            for (uint64_t seed : {(uint64_t)0, (uint64_t)1, UINT64_MAX}) {
                gpumb_poison(g, b);
                gpumb_fill(g, b, kind, seed);
                const bytes got = read_back(g, b);
                CHECK_CASE(got == filled(kind, seed, size), "fill, kind %d, seed %llu, size %llu",
                           (int)kind, (unsigned long long)seed, (unsigned long long)size);
                CHECK_CASE(size < 8 || kind == GPUMB_FILL_ZERO || got != before,
                           "kind %d, seed %llu", (int)kind, (unsigned long long)seed);
                before = got;
            }
        }
        gpumb_result r;
        GPUMB_TIME(&r) {
        } // looks at the guard zones
        CHECK_STR(r.reason, "");
        gpumb_free(g, b);
    }
}

template <class T> static void test_fill_range(gpumb *g, gpumb_fill_kind kind)
{
    const int count = 1 << 18;
    std::vector<T> x(count);
    gpumb_buffer *b = gpumb_alloc(g, count * sizeof(T));
    gpumb_fill(g, b, kind, 42);
    CHECK_INT(gpumb_read(g, b, 0, x.data(), count * sizeof(T)), 0);
    double lowest = 2, highest = -2, sum = 0, squares = 0;
    int outside = 0;
    for (T v : x) {
        outside += !(v >= -1 && v < 1);
        lowest = v < lowest ? v : lowest;
        highest = v > highest ? v : highest;
        sum += v;
        squares += (double)v * v;
    }
    CHECK_INT(outside, 0);
    CHECK_NEAR(lowest, -1, 1e-3);
    CHECK_NEAR(highest, 1, 1e-3);
    CHECK_NEAR(sum / count, 0, 0.01);
    CHECK_NEAR(squares / count, 1.0 / 3, 0.01);
    gpumb_free(g, b);
}

// ---- compare ----

static void test_compare(gpumb *g)
{
    for (uint64_t size : {1u, 2u, 7u, 8u, 9u, 15u, 16u, 17u, 1009u, 65537u}) {
        gpumb_buffer *a = gpumb_alloc(g, size), *b = gpumb_alloc(g, size);
        const bytes same = filled(GPUMB_FILL_BITS, 3, size);
        uint64_t first = 77;
        gpumb_write(g, a, 0, same.data(), size);
        gpumb_write(g, b, 0, same.data(), size);
        CHECK_INT(gpumb_compare(g, a, b, size, &first), 0);
        CHECK_INT(first, 0);
        for (uint64_t at : {(uint64_t)0, size / 2, size - 1}) {
            bytes other = same;
            other[at] ^= 0x80;
            gpumb_write(g, b, 0, other.data(), size);
            CHECK_INT(gpumb_compare(g, a, b, size, &first), 1);
            CHECK_INT(first, at);
            CHECK_INT(gpumb_compare(g, b, a, size, NULL), 1);
            CHECK_INT(gpumb_compare(g, a, b, at, &first), 0); // what is before it
            other[size - 1] ^= 1;
            gpumb_write(g, b, 0, other.data(), size);
            CHECK_INT(gpumb_compare(g, a, b, size, &first), at == size - 1 ? 1 : 2);
            CHECK_INT(first, at);
        }
        bytes none = same;
        for (unsigned char &byte : none)
            byte = (unsigned char)~byte;
        gpumb_write(g, b, 0, none.data(), size);
        CHECK_INT(gpumb_compare(g, a, b, size, &first), size);
        CHECK_INT(first, 0);
        CHECK_INT(gpumb_compare(g, a, b, 0, &first), 0);
        CHECK_INT(gpumb_compare(g, a, NULL, size, NULL), size);
        gpumb_free(g, a);
        gpumb_free(g, b);
    }
}

// ---- grid stride ----

static __global__ void visit(unsigned *visits, uint64_t n)
{
    GPUMB_GRID_STRIDE(i, n)
        atomicAdd(&visits[i], 1u);
}

static void test_grid_stride(gpumb *g)
{
    enum { ROOM = 70000 };
    gpumb_buffer *b = gpumb_alloc(g, ROOM * sizeof(unsigned));
    std::vector<unsigned> visits(ROOM);
    for (uint64_t n : {0u, 1u, 7u, 1009u, 65537u})
        for (int grid : {1, 3, 132})
            for (int block : {1, 32, 33, 1000}) {
                gpumb_fill(g, b, GPUMB_FILL_ZERO, 0);
                GPUMB_LAUNCH(visit, grid, block, 0, GPUMB_PTR(unsigned, b), n);
                gpumb_read(g, b, 0, visits.data(), ROOM * sizeof(unsigned));
                int wrong = 0;
                for (uint64_t i = 0; i < ROOM; i++)
                    wrong += visits[i] != (i < n);
                CHECK_CASE(wrong == 0, "n %llu, grid %d, block %d", (unsigned long long)n, grid,
                           block);
            }
    gpumb_free(g, b);
}

// ---- more elements than 31 bits count ----

// Buffers that fit only a large device: NULL, and a line about it, on others.
static gpumb_buffer *alloc_large(gpumb *g, uint64_t size)
{
    gpumb_buffer *b = gpumb_alloc(g, size);
    gpumb_result r;
    GPUMB_TIME(&r) {
    }
    if (!b)
        SKIP(r.reason);
    return b;
}

// Whether the first bytes, those around 2^31 elements and the last ones are the expected words.
static bool large_right(gpumb *g, const gpumb_buffer *b, uint64_t elem, bool zcopy)
{
    const uint64_t size = gpumb_size(b);
    for (uint64_t at : {(uint64_t)0, (elem << 31) - 32, (size - 40) / 8 * 8}) {
        unsigned char got[64], expected[64];
        const uint64_t length = size - at < 64 ? size - at : 64;
        for (uint64_t i = 0; i < 64; i += 8) {
            uint64_t word = gpumb_fill_word(GPUMB_FILL_BITS, 9, (at + i) / 8);
            if (zcopy)
                word = gpumb_zcopy_word((at + i) / 4) | (uint64_t)gpumb_zcopy_word((at + i) / 4 + 1)
                                                            << 32;
            memcpy(&expected[i], &word, 8);
        }
        if (gpumb_read(g, b, at, got, length) || memcmp(got, expected, length))
            return false;
    }
    return true;
}

static void test_large(gpumb *g, bool on_cpu)
{
    const uint64_t n = (1ull << 31) + 5;
    if (on_cpu || gpumb_get_device(g)->memory_bytes < 16ull << 30) {
        SKIP("2^31 + 5 elements: needs a device with 16 GB");
        return;
    }
    gpumb_buffer *in = alloc_large(g, n), *out = in ? alloc_large(g, n) : NULL;
    if (out) {
        gpumb_copy_check check = {in, out, n, GPUMB_READ_WRITE};
        gpumb_fill(g, in, GPUMB_FILL_BITS, 9);
        for (gpumb_form form : forms) {
            gpumb_poison(g, out);
            CHECK_INT(gpumb_copy(g, form, 1, n, 0, gpumb_data(in), gpumb_data(out)), 0);
            CHECK_INT(gpumb_check_copy(g, &check), 1);
            CHECK(large_right(g, out, 1, false));
        }
    }
    gpumb_free(g, in);
    gpumb_free(g, out);

    gpumb_buffer *words = alloc_large(g, 4 * n), *sums = gpumb_alloc(g, SUMS);
    if (words) {
        gpumb_copy_check written = {NULL, words, 4 * n, GPUMB_WRITE};
        gpumb_copy_check read = {words, sums, 4 * n, GPUMB_READ};
        for (gpumb_form form : forms) {
            gpumb_poison(g, words);
            gpumb_poison(g, sums);
            CHECK_INT(gpumb_zcopy(g, form, GPUMB_WRITE, 4, n, 0, 0, NULL, gpumb_data(words)), 0);
            CHECK_INT(gpumb_check_copy(g, &written), 1);
            CHECK(large_right(g, words, 4, true));
            CHECK_INT(
                gpumb_zcopy(g, form, GPUMB_READ, 4, n, 0, 0, gpumb_data(words), gpumb_data(sums)),
                0);
            CHECK_INT(gpumb_check_copy(g, &read), 1);
        }
    }
    gpumb_free(g, words);
    gpumb_free(g, sums);
}

// ---- all of it, in one context ----

// ---- memory that is somebody else's: any address, any length, and nothing beside it ----

static void test_wrap(gpumb *g)
{
    const uint64_t around = 1200;
    gpumb_buffer *place[2] = {gpumb_alloc(g, around), gpumb_alloc(g, around)};
    for (uint64_t at : {0u, 1u, 2u, 4u, 7u, 8u, 13u})
        for (uint64_t size : {0u, 1u, 7u, 8u, 9u, 64u, 1009u})
            for (gpumb_fill_kind kind : {GPUMB_FILL_BITS, GPUMB_FILL_F64, GPUMB_FILL_ZERO}) {
                gpumb_buffer *b[2];
                for (int i = 0; i < 2; i++) { // the second at another distance from a word
                    const uint64_t from = at + 8 + (unsigned)i * size % 8;
                    gpumb_poison(g, place[i]);
                    b[i] = gpumb_wrap(g, GPUMB_PTR(char, place[i]) + from, size);
                    CHECK_INT(gpumb_size(b[i]), size);
                    CHECK(gpumb_data(b[i]) == GPUMB_PTR(char, place[i]) + from);
                    gpumb_fill(g, b[i], kind, 5);
                    bytes right = all_poison(around);
                    const bytes inside = filled(kind, 5, size);
                    std::copy(inside.begin(), inside.end(), right.begin() + (long)from);
                    bytes got = read_back(g, place[i]);
                    CHECK_CASE(got == right, "%d bytes at %d, kind %d", (int)size, (int)from,
                               (int)kind);
                }
                uint64_t first = 77;
                CHECK_INT(gpumb_compare(g, b[0], b[1], size, &first), 0);
                for (uint64_t other : {(uint64_t)0, size / 2, size - 1}) {
                    const unsigned char byte = 0x5a;
                    unsigned char before = 0;
                    if (other >= size)
                        continue;
                    gpumb_read(g, b[1], other, &before, 1);
                    gpumb_write(g, b[1], other, &byte, 1);
                    CHECK_INT(gpumb_compare(g, b[0], b[1], size, &first), before != byte);
                    CHECK_INT(first, before != byte ? other : 0);
                    CHECK_INT(gpumb_compare(g, b[0], b[1], other, NULL), 0);
                    gpumb_write(g, b[1], other, &before, 1);
                }
                gpumb_poison(g, b[0]);
                CHECK(is_poison(read_back(g, place[0]).data(), around, 0));
                gpumb_free(g, b[0]);
                gpumb_free(g, b[1]);
                CHECK_INT(gpumb_write(g, place[0], 0, "", 1), 0); // the memory stays
            }
    gpumb_free(g, place[0]);
    gpumb_free(g, place[1]);
}

// An output of a region: poisoned, written, checked; what is behind it is the owner's.
static void test_wrapped_output(workplace &w)
{
    const uint64_t size = 1009;
    gpumb_buffer *place = gpumb_alloc(w.g, 2 * size);
    gpumb_buffer *out = gpumb_wrap(w.g, GPUMB_PTR(char, place) + 3, size);
    for (uint64_t moved : {size, size - 1, size + 1}) {
        gpumb_copy_check check = {w.in, out, size, GPUMB_READ_WRITE};
        expect(w.g, out, gpumb_check_copy, &check);
        GPUMB_MEASURE(w.g, "copy into what is wrapped") {
            gpumb_copy(w.g, GPUMB_FORM_NAIVE, 1, moved, 32, input(w, 0), gpumb_data(out));
        }
        CHECK_INT(gpumb_last_result(w.g)->status,
                  moved < size ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
    }
    gpumb_free(w.g, out);
    gpumb_free(w.g, place);
}

static void test_all(gpumb *g, bool on_cpu)
{
    workplace w = {g,
                   gpumb_alloc(g, largest + 64),
                   gpumb_alloc(g, OUTPUTS),
                   filled(GPUMB_FILL_BITS, 7, largest + 64),
                   zcopy_words(largest),
                   0,
                   0,
                   0,
                   {}};
    gpumb_poison(g, w.out);
    gpumb_fill(g, w.in, GPUMB_FILL_BITS, 7);
    test_fill_word();
    test_fill(g);
    test_fill_range<float>(g, GPUMB_FILL_F32);
    test_fill_range<double>(g, GPUMB_FILL_F64);
    test_compare(g);
    test_wrap(g);
    test_wrapped_output(w);
    test_grid_stride(g);
    test_copy(w, on_cpu);
    test_copy_unaligned(w);
    test_copy_misaligned(w, on_cpu);
    test_strided(w, on_cpu);
    test_subdomains(w);
    test_zcopy(w, on_cpu);
    test_zcopy_unaligned(w);
    test_refusals(w);
    test_access_refusals(w);
    test_check_flipped(w);
    test_check_broken<unsigned char>(w, GPUMB_READ_WRITE, 1009);
    test_check_broken<unsigned>(w, GPUMB_READ_WRITE, 1009);
    test_check_broken<uint4>(w, GPUMB_READ_WRITE, 257);
    test_check_broken<unsigned>(w, GPUMB_WRITE, 1009);
    test_check_read_broken(w);
    test_stride_checks(w);
    test_stride_rows(w);
    CHECK(read_back(g, w.in) == w.source);
    test_large(g, on_cpu);
    for (int elem = 1; elem <= 16; elem *= 2) // last: a read out of bounds can take the device down
        for (uint64_t stride : {1u, 7u})
            test_stride_check_short(g, elem, 97, stride);
}

int main()
{
    for (int warp : {32, 64}) {
        gpumb_cpu_set_warp_size(warp);
        gpumb *g = open_device("test_kernels");
        if (!g)
            return CHECK_SUMMARY();
        const bool on_cpu = !strcmp(gpumb_get_device(g)->backend, "cpu");
        test_all(g, on_cpu);
        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // there are rows that have to fail
        if (!on_cpu)
            break;
    }
    return CHECK_SUMMARY();
}

/* kernels.cpp - the kernels of gpumb.h as AMD machine code, against references computed apart.
 *
 *     kernels OBJECT LISTING SEED [FAMILY]...     all families, or these: see the list at the end
 *
 * OBJECT is a code object for one target, LISTING what llvm-objdump makes of it: see
 * tests/test_amd.sh. Sizes are awkward, geometry and interleaving random; half of the launches are
 * weak (machine.h). Buffers have just the size that they need, so that what is read or written
 * beyond is an error, and what a kernel has to leave alone is compared, too.
 */
#include "../../gpumb.h"
#include "../check.h"
#include "machine.h"

static Machine machine;
static const size_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 1000, 4099, 9001};

static int between(int least, int most)
{
    return least + static_cast<int>(below(static_cast<u64>(most - least + 1)));
}

/* Runs one case: an error of the machine is a failed check. */
template <class F> static void attempt(const std::string &what, F f)
{
    const int failed = check_failed;
    machine.weak = below(2);
    machine.in_order = false;
    try {
        f();
    } catch (const std::exception &e) {
        printf("%s\n", e.what());
        check_count(0, what.c_str(), 0, "runs", "");
    }
    if (check_failed != failed)
        printf("    in %s%s\n", what.c_str(), machine.weak ? ", weak" : "");
    machine.buffers.clear();
}

template <class... T> static std::string text(const char *format, T... values)
{
    char line[200];
    snprintf(line, sizeof line, format, values...);
    return line;
}

/* A block of some threads, and blocks that are as good as any for a loop. */
struct Grid {
    int block = between(1, below(2) ? 64 : 300), blocks = between(1, 6);
};

static int blocks_for(size_t n, int block)
{
    return static_cast<int>(n / static_cast<size_t>(block)) + 1;
}

/* ---- fill, compare, check -------------------------------------------------------------------- */

/* Floats from the upper bits */
static u64 as_kind(int kind, u64 z)
{
    const auto single = [](u32 x) {
        return bits<u32>(static_cast<float>(x >> 9) / 4194304.0f - 1.0f);
    };
    if (kind == GPUMB_FILL_F32)
        return single(static_cast<u32>(z)) | static_cast<u64>(single(static_cast<u32>(z >> 32)))
                                                 << 32;
    if (kind == GPUMB_FILL_F64)
        return bits<u64>(static_cast<double>(z >> 12) / 2251799813685248.0 - 1.0);
    return z;
}

/* splitmix64 (Steele, Lea & Flood 2014) */
static u64 filled_word(int kind, u64 seed, u64 i)
{
    u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return as_kind(kind, z ^ z >> 31);
}

/* ChaCha with 8 rounds (Bernstein 2008): key, number of the block, nonce. Words of 64 bits of 32
 * blocks take turns. */
struct Key {
    u32 word[8], is_set;
};

static u64 secret_word(const Key &key, int kind, u64 seed, u64 i)
{
    static const int way[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                  {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};
    static const unsigned turns[4] = {16, 12, 8, 7};
    const u64 block = i / 256 * 32 + i % 32;
    u32 first[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    std::copy(key.word, key.word + 8, first + 4);
    first[12] = static_cast<u32>(block);
    first[13] = static_cast<u32>(block >> 32);
    first[14] = static_cast<u32>(seed);
    first[15] = static_cast<u32>(seed >> 32);
    std::copy(first, first + 16, x);
    for (int round = 0; round < 8; round++)
        for (int q = 0; q < 4; q++)
            for (int step = 0; step < 4; step++) {
                const int *at = way[round % 2 * 4 + q];
                u32 &sum = x[at[step % 2 * 2]], &turned = x[at[step % 2 ? 1 : 3]];
                sum += x[at[step % 2 ? 3 : 1]];
                turned ^= sum;
                turned = turned << turns[step] | turned >> (32 - turns[step]);
            }
    const u64 j = i / 32 % 8 * 2;
    return as_kind(kind, (x[j] + first[j]) | static_cast<u64>(x[j + 1] + first[j + 1]) << 32);
}

static void fill_family()
{
    for (size_t n : sizes)
        for (int kind : {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_F64})
            attempt(text("fill, %zu bytes, kind %d", n, kind), [&] {
                const Grid g;
                const u64 seed = randomly(), shift = below(4) ? 0 : 3;
                Buffer &to = machine.buffer(n + shift);
                std::vector<u8> expected = to.bytes;
                for (size_t b = 0; b < n; b++)
                    expected[shift + b] =
                        static_cast<u8>(filled_word(kind, seed, b / 8) >> b % 8 * 8);
                machine.launch("gpumbi_bytes_kernel", g.blocks, 1, g.block, 0, to.address + shift,
                               u64(), static_cast<u64>(n), kind, seed, u64());
                CHECK(to.bytes == expected);
            });
}

static void secret_family()
{
    for (size_t n : sizes)
        for (int kind : {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_F64})
            attempt(text("secret, %zu bytes, kind %d", n, kind), [&] {
                const Grid g;
                const u64 seed = randomly(), shift = below(4) ? 0 : 3;
                Key key = {{}, 1};
                for (u32 &w : key.word)
                    w = static_cast<u32>(randomly());
                Buffer &to = machine.buffer(n + shift);
                std::vector<u8> expected = to.bytes;
                for (size_t b = 0; b < n; b++)
                    expected[shift + b] =
                        static_cast<u8>(secret_word(key, kind, seed, b / 8) >> b % 8 * 8);
                machine.launch("gpumbi_secret_kernel", g.blocks, 1, g.block, 0, to.address + shift,
                               static_cast<u64>(n), kind, seed, key);
                CHECK(to.bytes == expected);
            });
}

struct Difference {
    unsigned long long count, first;
};

static void compare_family()
{
    for (size_t n : sizes)
        attempt(text("compare, %zu bytes", n), [&] {
            const Grid g;
            const u64 shift = below(4) ? 0 : 5;
            Buffer &a = machine.buffer(n), &b = machine.buffer(n + shift);
            Buffer &found = machine.buffer(sizeof(Difference));
            Difference expected = {0, ~0ull};
            std::copy(a.bytes.begin(), a.bytes.end(), b.bytes.begin() + static_cast<long>(shift));
            for (size_t k = below(20); k > 0 && n; k--)
                b.bytes[shift + below(n)] ^= static_cast<u8>(1 << below(8));
            for (size_t i = n; i-- > 0;)
                if (a.bytes[i] != b.bytes[shift + i])
                    expected = {expected.count + 1, i};
            *found.as<Difference>() = {0, ~0ull};
            machine.launch("gpumbi_bytes_kernel", g.blocks, 1, g.block, 0, &a, b.address + shift,
                           static_cast<u64>(n), -2, u64(), &found); /* GPUMBI_COMPARE */
            CHECK_INT(found.as<Difference>()->count, expected.count);
            CHECK_INT(found.as<Difference>()->first, expected.first);
        });
    attempt("empty", [] { machine.launch("gpumbi_empty_kernel", 3, 1, 100, 0); });
}

static u32 written_word(u64 w)
{
    return static_cast<u32>(w * 0x9e3779b1u + (w >> 32) + 1);
}

static void check_family()
{
    for (size_t n : sizes)
        for (int mode : {GPUMB_WRITE, GPUMB_READ})
            attempt(text("check, %zu words, mode %d", n, mode), [&] {
                const Grid g;
                Buffer &words = machine.buffer(n * 4), &found = machine.buffer(sizeof(Difference));
                Difference expected = {0, ~0ull};
                for (size_t i = n; i-- > 0;) {
                    u32 &word = words.as<u32>()[i];
                    if (below(16))
                        word = written_word(i);
                    if (mode == GPUMB_READ)
                        expected.count += word;
                    else if (word != written_word(i))
                        expected = {expected.count + 1, i * 4};
                }
                *found.as<Difference>() = {0, ~0ull};
                machine.launch("gpumbi_check_kernel", g.blocks, 1, g.block, 0, &words,
                               static_cast<u64>(n), mode, &found);
                CHECK_INT(found.as<Difference>()->count, expected.count);
                CHECK_INT(found.as<Difference>()->first, expected.first);
            });
}

/* ---- copy, zcopy, strided -------------------------------------------------------------------- */

static void copy_family()
{
    for (size_t n : sizes)
        for (int size : {1, 2, 4, 8, 16, 32, 0}) /* 0: the fastest form, n bytes */
            attempt(text("copy, %zu elements of %d bytes", n, size), [&] {
                const size_t bytes = n * static_cast<size_t>(size ? size : 1);
                const int block = between(1, 300);
                Buffer &in = machine.buffer(bytes), &out = machine.buffer(bytes);
                const std::vector<u8> expected = in.bytes;
                const int blocks = blocks_for(size ? n : n / 16 + 1, block);
                const std::string name =
                    size ? text("gpumbi_copy_%dP", size) : "gpumbi_copy_fastest";
                machine.launch(name, blocks, 1, block, 0, &in, &out, static_cast<u64>(n));
                CHECK(out.bytes == expected && in.bytes == expected);
            });
}

static void zcopy_family()
{
    for (size_t n : sizes)
        for (int size : {4, 8, 16, 32, 0}) /* 0: the fastest form, n words of 4 bytes */
            for (int mode : {GPUMB_READ_WRITE, GPUMB_WRITE, GPUMB_READ})
                attempt(text("zcopy, %zu elements of %d bytes, mode %d", n, size, mode), [&] {
                    const Grid g;
                    const size_t bytes = n * static_cast<size_t>(size ? size : 4);
                    Buffer &in = machine.buffer(bytes);
                    Buffer &out = machine.buffer(mode == GPUMB_READ ? 4096 : bytes);
                    if (mode == GPUMB_READ)
                        out.bytes.assign(4096, 0);
                    const std::string name =
                        size ? text("gpumbi_zcopy_%dP", size) : "gpumbi_zcopy_fastest";
                    machine.launch(name, g.blocks, 1, g.block, 0, &in, &out, static_cast<u64>(n),
                                   mode);
                    if (mode == GPUMB_READ_WRITE)
                        CHECK(out.bytes == in.bytes);
                    u32 sum = 0, wrong = 0;
                    for (size_t w = 0; w < bytes / 4; w++) {
                        sum += in.as<u32>()[w];
                        wrong += mode == GPUMB_WRITE && out.as<u32>()[w] != written_word(w);
                    }
                    CHECK_INT(wrong, 0);
                    if (mode == GPUMB_READ) {
                        for (size_t s = 0; s < 1024; s++)
                            sum -= out.as<u32>()[s];
                        CHECK_INT(sum, 0);
                    }
                });
}

static void move(Buffer &out, const Buffer &in, u64 element, int size)
{
    const u64 at = element * static_cast<u64>(size);
    memcpy(out.bytes.data() + at, in.bytes.data() + at, static_cast<size_t>(size));
}

static void strided_family()
{
    for (int size : {1, 2, 4, 8, 16})
        for (size_t n : {1, 33, 64, 257, 1000}) {
            attempt(text("strided, %zu elements of %d bytes", n, size), [&] {
                const u64 stride = 1 + below(5), each = static_cast<u64>(size);
                const int block = between(1, 300);
                Buffer &in = machine.buffer(((n - 1) * stride + 1) * each);
                Buffer &out = machine.buffer(in.bytes.size());
                Buffer expected = out;
                for (size_t i = 0; i < n; i++)
                    move(expected, in, i * stride, size);
                machine.launch("gpumbi_stridedP", blocks_for(n, block), 1, block, 0, &in, &out,
                               static_cast<u64>(n), stride, size);
                CHECK(out.bytes == expected.bytes);
            });
            attempt(text("sub-domains, about %zu elements of %d bytes", n, size), [&] {
                const int lanes = 1 << between(0, 6), block = lanes * between(1, 3);
                const int iterations = between(1, 5), blocks = blocks_for(n, block * iterations);
                const size_t all = static_cast<size_t>(blocks * block * iterations);
                Buffer &in = machine.buffer(all * static_cast<size_t>(size));
                Buffer &out = machine.buffer(in.bytes.size());
                machine.launch("gpumbi_subdomainsP", blocks, 1, block, 0, &in, &out, lanes,
                               iterations, size);
                CHECK(out.bytes == in.bytes);
            });
            attempt(text("check of strided, %zu elements of %d bytes", n, size), [&] {
                const Grid g;
                const u64 stride = 1 + below(5), each = static_cast<u64>(size);
                const u64 from = below(5), to = below(5), rest = below(each);
                Buffer &in = machine.buffer((from + (n - 1) * stride + 1) * each + each);
                Buffer &out = machine.buffer((to + (n - 1) * stride + 1) * each + rest);
                Buffer &found = machine.buffer(sizeof(Difference));
                for (size_t b = 0; b < out.bytes.size(); b++)
                    out.bytes[b] = b % 2 ? 0x7f : 0xfd; /* what gpumb_poison() leaves there */
                for (size_t i = 0; i < n; i++)
                    for (u64 b = 0; b < each; b++)
                        out.bytes[(to + i * stride) * each + b] =
                            in.bytes[(from + i * stride) * each + b];
                std::set<u64> wrong;
                for (u64 k = below(5); k > 0; k--) {
                    const u64 at = below(out.bytes.size());
                    if (wrong.insert(at).second)
                        out.bytes[at] ^= 0x10;
                }
                *found.as<Difference>() = {0, ~0ull};
                machine.launch("gpumbi_check_stridedP", g.blocks, 1, g.block, 0, &in, &out,
                               static_cast<u64>(out.bytes.size()), static_cast<u64>(n), stride,
                               from, to, size, &found);
                CHECK_INT(found.as<Difference>()->count, wrong.size());
                CHECK_INT(found.as<Difference>()->first, wrong.empty() ? ~0ull : *wrong.begin());
            });
        }
}

/* ---- reductions ------------------------------------------------------------------------------ */

template <class T>
static T reduced(const T *x, size_t n, int operation, double neutral, double *tolerance)
{
    const bool whole = std::is_integral<T>::value;
    long double sum = 0, size = 0;
    T best = static_cast<T>(neutral);
    u32 wrapped = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        size += std::fabs(static_cast<long double>(x[i]));
        best = operation == GPUMB_MIN ? std::min(best, x[i]) : std::max(best, x[i]);
        if (whole)
            wrapped += static_cast<u32>(x[i]);
    }
    *tolerance = 0;
    if (operation != GPUMB_SUM)
        return best;
    if (whole)
        return static_cast<T>(wrapped);
    /* an element goes through fewer additions than there are elements and threads */
    *tolerance = static_cast<double>(size) * 16 * std::numeric_limits<T>::epsilon();
    return static_cast<T>(sum);
}

template <class T> static void fill_with(Buffer &b)
{
    for (size_t i = 0; i < b.bytes.size() / sizeof(T); i++)
        b.as<T>()[i] =
            std::is_integral<T>::value
                ? static_cast<T>(randomly())
                : static_cast<T>(static_cast<double>(static_cast<i64>(randomly())) / 0x1p63);
}

template <class T> static double identity(int operation)
{
    using L = std::numeric_limits<T>;
    const double most = L::has_infinity ? HUGE_VAL : static_cast<double>(L::max());
    const double least = L::has_infinity ? -HUGE_VAL : static_cast<double>(L::min());
    return operation == GPUMB_SUM ? 0 : operation == GPUMB_MIN ? most : least;
}

enum { FINISH_STORE = 16 };

template <class T>
static void naive_case(const std::string &letter, int operation, size_t n, int combine, int finish)
{
    const Grid g;
    const int each = between(1, 5), threads = g.block;
    const std::string name = text("13gpumbi_reduceI%sLi%dE", letter.c_str(), operation);
    if (!machine.find_kernel(name))
        return;
    attempt(text("%s, n %zu, %d x %d threads, %d each, combine %d, finish %d", name.c_str(), n,
                 g.blocks, threads, each, combine, finish),
            [&] {
                Buffer &in = machine.buffer(n * sizeof(T)), &out = machine.buffer(sizeof(T));
                Buffer &parts = machine.buffer(static_cast<size_t>(g.blocks) * sizeof(T));
                Buffer &ticket = machine.buffer(4);
                const double neutral = identity<T>(operation);
                const u32 lds = static_cast<u32>(threads) * sizeof(T);
                fill_with<T>(in);
                *ticket.as<u32>() = 0;
                double tolerance;
                const T right = reduced(in.as<T>(), n, operation, neutral, &tolerance);
                const auto launch = [&](int blocks, Buffer &from, size_t count, Buffer &to,
                                        int how) {
                    machine.launch(name, blocks, 1, threads, lds, &from, static_cast<u64>(count),
                                   &to, &parts, &ticket, neutral, combine, how, each);
                };
                /* the second time finds the ticket as the first has left it */
                for (int time = 0; time < 2; time++) {
                    *out.as<T>() = static_cast<T>(neutral);
                    if (finish == GPUMB_FINISH_TWO_LAUNCHES) {
                        launch(g.blocks, in, n, parts, FINISH_STORE);
                        launch(1, parts, static_cast<size_t>(g.blocks), out, FINISH_STORE);
                    } else
                        launch(g.blocks, in, n, out, finish);
                    CHECK_NEAR(*out.as<T>(), right, tolerance);
                    if (finish != GPUMB_FINISH_LAST_BLOCK)
                        break;
                }
                CHECK_INT(*ticket.as<u32>(), 0);
            });
}

template <class T> static void fastest_case(const std::string &letter, int operation, size_t n)
{
    const bool usual = below(2);
    const int block = usual ? 256 : between(1, 300), blocks = between(1, below(4) ? 7 : 40);
    const std::string name =
        text("21gpumbi_reduce_fastestI%sLi%dELj%dE", letter.c_str(), operation, usual ? 256 : 0);
    if (!machine.find_kernel(name))
        return;
    attempt(text("%s, n %zu, %d x %d threads", name.c_str(), n, blocks, block), [&] {
        machine.in_order = true; /* a block waits for those before it */
        Buffer &in = machine.buffer(n * sizeof(T)), &out = machine.buffer(sizeof(T));
        Buffer &slots = machine.buffer(static_cast<size_t>(blocks) * 8);
        Buffer &ticket = machine.buffer(16);
        fill_with<T>(in);
        std::fill(slots.bytes.begin(), slots.bytes.end(), 0xff);
        ticket.bytes.assign(16, 0);
        double tolerance;
        const double neutral = identity<T>(operation);
        const T right = reduced(in.as<T>(), n, operation, neutral, &tolerance);
        const u32 size = sizeof(T), lds = (static_cast<u32>(block + 31) / 32 * size + 15) / 16 * 16;
        for (int time = 0; time < 2; time++) {
            machine.launch(name, blocks, 1, block, lds, &in, static_cast<u64>(n), &out, &slots,
                           &ticket, neutral, 0, 0, 0);
            CHECK_NEAR(*out.as<T>(), right, tolerance);
        }
        CHECK(std::count(slots.bytes.begin(), slots.bytes.end(), 0xff) == 8 * blocks);
        CHECK(std::count(ticket.bytes.begin(), ticket.bytes.end(), 0) == 16);
    });
}

struct Exact {
    double high, low, absolute, least, most;
    unsigned long long integer;
};

template <class T> static void exactly_case(const std::string &letter, size_t n)
{
    const Grid g;
    const std::string name = "21gpumbi_reduce_exactlyI" + letter;
    if (!machine.find_kernel(name))
        return;
    attempt(text("gpumbi_reduce_exactly %s, n %zu", letter.c_str(), n), [&] {
        Buffer &in = machine.buffer(n * sizeof(T));
        Buffer &found = machine.buffer(static_cast<size_t>(g.blocks * g.block) * sizeof(Exact));
        fill_with<T>(in);
        machine.launch(name, g.blocks, 1, g.block, 0, &in, static_cast<u64>(n), &found);
        long double sum = 0, absolute = 0;
        double least = HUGE_VAL, most = -HUGE_VAL;
        u64 integer = 0;
        for (size_t i = 0; i < n; i++) {
            const T x = in.as<T>()[i];
            sum -= x;
            absolute -= std::fabs(static_cast<double>(x));
            least = std::min(least, static_cast<double>(x));
            most = std::max(most, static_cast<double>(x));
            integer -= std::is_integral<T>::value ? static_cast<u64>(static_cast<i64>(x)) : 0;
        }
        const double size = static_cast<double>(-absolute);
        double lowest = HUGE_VAL, highest = -HUGE_VAL;
        for (int t = 0; t < g.blocks * g.block; t++) {
            const Exact &x = found.as<Exact>()[t];
            sum += static_cast<long double>(x.high) + x.low;
            absolute += x.absolute;
            integer += x.integer;
            lowest = std::min(lowest, x.least);
            highest = std::max(highest, x.most);
        }
        CHECK_NEAR(sum, 0, 1e-17 * size);
        CHECK_NEAR(absolute, 0, 1e-13 * size);
        CHECK(lowest == least && highest == most);
        CHECK_INT(integer, 0);
    });
}

template <class F> static void of_each_type(F f)
{
    f(float(), "f");
    f(double(), "d");
    f(int(), "i");
    f(unsigned(), "j");
}

static void naive_family()
{
    of_each_type([](auto zero, const char *letter) {
        for (int operation : {GPUMB_SUM, GPUMB_MIN, GPUMB_MAX})
            for (int combine : {GPUMB_COMBINE_FIRST_THREAD, GPUMB_COMBINE_TREE,
                                GPUMB_COMBINE_SHUFFLE_DOWN, GPUMB_COMBINE_SHUFFLE_XOR})
                for (int finish :
                     {GPUMB_FINISH_TWO_LAUNCHES, GPUMB_FINISH_ATOMIC, GPUMB_FINISH_LAST_BLOCK})
                    for (int n = 0; n < 3; n++)
                        naive_case<decltype(zero)>(letter, operation, sizes[below(15)], combine,
                                                   finish);
    });
}

static void fastest_family()
{
    of_each_type([](auto zero, const char *letter) {
        for (int operation : {GPUMB_SUM, GPUMB_MIN, GPUMB_MAX})
            for (size_t n : sizes)
                fastest_case<decltype(zero)>(letter, operation, n * (1 + below(2) * 4));
        for (size_t n : sizes)
            exactly_case<decltype(zero)>(letter, n);
    });
}

/* ---- n-body ---------------------------------------------------------------------------------- */

static void random_bodies(Buffer &b)
{
    fill_with<float>(b);
    for (size_t i = 3; i < b.bytes.size() / 4; i += 4)
        b.as<float>()[i] = std::fabs(b.as<float>()[i]);
}

/* The sum over all pairs in double precision; the kernel's roots are good to 5e-6. */
static void check_accelerations(Buffer &positions, Buffer &found, size_t n, double softening2)
{
    const float *p = positions.as<float>(), *a = found.as<float>();
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double sum[3] = {0, 0, 0}, size[3] = {0, 0, 0};
        for (size_t j = 0; j < n; j++) {
            double d[3], r2 = softening2;
            for (int k = 0; k < 3; k++) {
                d[k] = static_cast<double>(p[4 * j + k]) - p[4 * i + k];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++) {
                const double term = p[4 * j + 3] * d[k] / (r2 * std::sqrt(r2));
                sum[k] += term;
                size[k] += std::fabs(term);
            }
        }
        for (int k = 0; k < 3; k++) {
            const double off = std::fabs(a[4 * i + k] - sum[k]) / (size[k] + 1e-30);
            worst = off <= worst ? worst : off; /* a NaN stays */
        }
        worst = a[4 * i + 3] == 0 ? worst : HUGE_VAL;
    }
    CHECK_NEAR(worst, 0, 3e-5);
}

static void nbody_case(const std::string &name, int bodies, int unroll, size_t n)
{
    const int block = unroll * between(1, (bodies < 4 ? 256 : 128) / unroll);
    n = std::min(n, 20 * static_cast<size_t>(block)); /* few tiles, as the machine has a limit */
    const int tiles = blocks_for(n - 1, block), splits = std::min(between(1, 3), tiles);
    const int share = (tiles + splits - 1) / splits;
    attempt(text("%s, n %zu, %d threads, %d splits", name.c_str(), n, block, splits), [&] {
        Buffer &positions = machine.buffer(n * 16), &result = machine.buffer(n * 16);
        Buffer &parts = machine.buffer(n * 16 * static_cast<size_t>(splits));
        const float softening2 = 1e-3f;
        random_bodies(positions);
        machine.launch(name, blocks_for(n - 1, block * bodies), splits, block, 16 * block,
                       &positions, &parts, static_cast<u32>(n), share, softening2);
        const Grid g;
        machine.launch("gpumbi_nbody_addP", g.blocks, 1, g.block, 0, &parts, &result,
                       static_cast<u64>(n), splits);
        check_accelerations(positions, result, n, softening2);
    });
}

static void pairs_case(const std::string &name, int bodies, size_t n)
{
    const int lanes = machine.lanes(), warps = between(1, 4);
    const int groups = blocks_for(n - 1, lanes * bodies), splits = between(1, 3);
    const int share = ((groups / 2 + 1) * bodies + splits - 1) / splits;
    attempt(text("%s, n %zu, %d warps, %d splits", name.c_str(), n, warps, splits), [&] {
        Buffer &positions = machine.buffer(n * 16), &result = machine.buffer(n * 16);
        random_bodies(positions);
        result.bytes.assign(n * 16, 0);
        const float softening2 = 1e-3f;
        machine.launch(name, blocks_for(groups - 1, warps), splits, warps * lanes,
                       warps * lanes * 32, &positions, &result, static_cast<u32>(n), share,
                       softening2);
        check_accelerations(positions, result, n, softening2);
    });
}

static void nbody_family(bool pairs)
{
    for (const auto &k : machine.kernels) {
        int bodies, unroll, root;
        const char *name = k.first.c_str();
        const bool is_pairs =
            sscanf(name, "_ZL18gpumbi_nbody_pairsILi%dELi%dE", &bodies, &unroll) == 2;
        const bool is_plain =
            sscanf(name, "_ZL12gpumbi_nbodyILi%dELi%dELi%dE", &bodies, &unroll, &root) == 3;
        for (int time = 0; time < 4; time++) {
            const size_t n = static_cast<size_t>(between(1, time ? 700 : 40));
            if (pairs && is_pairs)
                pairs_case(name, bodies, n);
            else if (!pairs && is_plain)
                nbody_case(name, bodies, unroll, n);
        }
    }
    for (int n : {1, 64, 200})
        attempt(text("move, n %d", n), [&] {
            const Grid g;
            const size_t bytes = static_cast<size_t>(n) * 16;
            Buffer &position = machine.buffer(bytes), &velocity = machine.buffer(bytes);
            Buffer &acceleration = machine.buffer(bytes);
            for (Buffer *b : {&position, &velocity, &acceleration})
                random_bodies(*b);
            Buffer r = position, v = velocity;
            machine.launch("gpumbi_nbody_moveP", g.blocks, 1, g.block, 0, &position, &velocity,
                           &acceleration, static_cast<u64>(n), 0.25f, 0.5f);
            double worst = 0;
            for (int i = 0; i < 4 * n; i++) {
                const double speed = v.as<float>()[i] + 0.25 * acceleration.as<float>()[i];
                const double to = r.as<float>()[i] + 0.5 * speed;
                const bool mass = i % 4 == 3;
                worst = std::max(worst, std::fabs(velocity.as<float>()[i] - (mass ? 0 : speed)));
                worst = std::max(
                    worst, std::fabs(position.as<float>()[i] - (mass ? r.as<float>()[i] : to)));
            }
            CHECK_NEAR(worst, 0, 1e-6);
        });
}

/* ---- all of them ----------------------------------------------------------------------------- */

int main(int count, char **argument)
{
    const std::vector<std::pair<std::string, std::function<void()>>> families = {
        {"fill", fill_family},
        {"secret", secret_family},
        {"compare", compare_family},
        {"check", check_family},
        {"copy", copy_family},
        {"zcopy", zcopy_family},
        {"strided", strided_family},
        {"naive", naive_family},
        {"fastest", fastest_family},
        {"nbody", [] { nbody_family(false); }},
        {"pairs", [] { nbody_family(true); }},
    };
    if (count < 4) {
        fprintf(stderr, "kernels: OBJECT LISTING SEED [FAMILY]...\n");
        return 2;
    }
    if (!CHECK(machine.start(argument)))
        return CHECK_SUMMARY();
    for (const auto &family : families)
        if (count == 4 ||
            std::find(argument + 4, argument + count, family.first) != argument + count)
            family.second();
    size_t instructions = 0, reached = 0;
    for (const auto &k : machine.kernels) {
        instructions += k.second.code.size();
        for (const Instruction &i : k.second.code)
            reached += i.reached;
        if (count == 4 && !machine.executed_kernels.count(k.first)) {
            printf("%s was not executed\n", k.first.c_str());
            CHECK(0);
        }
    }
    CHECK(machine.executed > 0);
    for (const std::string &name : machine.spilling)
        SKIP((name + " spills registers").c_str());
    printf("%zu kernels of %zu mnemonics; %zu of %zu instructions reached, %llu executed by waves; "
           "%llu accesses of threads checked\n",
           machine.executed_kernels.size(), machine.mnemonics.size(), reached, instructions,
           static_cast<unsigned long long>(machine.executed),
           static_cast<unsigned long long>(machine.accesses));
    return CHECK_SUMMARY();
}

// test_matmul.cu - every step and plan of the product of matrices against sums of integers, at
// sizes that fit its tiles and at awkward ones, and its check against wrong results, on whatever
// backend this is built for.
// shares the GPU: results are compared, not times
#include "gpumb.h"

// Other plans than those that are measured: of few and of many warps, shallow and deep.
#define AHEAD_PLANS(X) X(64, 32, 2, 4, 16, 3, 1) X(64, 64, 2, 2, 8, 4, 1) X(32, 16, 1, 2, 16, 2, 1)
#define STAGED_PLANS(X)                                                                            \
    X(64, 64, 2, 2, 32, 4, 1) X(32, 16, 2, 1, 64, 2, 1) X(16, 32, 1, 2, 32, 3, 1)

#include "check.h"
#include "poison.h"

#include "../bench/matmul.h"

#include <vector>

enum { MARGIN = 128 }; // elements behind C

template <class Type> static Type as(int x);
template <> float as<float>(int x)
{
    return (float)x;
}
template <> bf16 as<bf16>(int x)
{
    return bf16_of((float)x);
}

// Small integers: exact in bf16, and so are their sums in fp32, in whatever order. NaN between the
// rows.
template <class Type>
static std::vector<int> put_integers(gpumb *g, const product *p, gpumb_buffer *to, unsigned high,
                                     unsigned wide, uint64_t seed)
{
    const unsigned width = width_of(p, wide);
    std::vector<int> numbers((size_t)high * wide);
    std::vector<Type> x((size_t)high * width, sizeof(Type) == 2 ? (Type)0x7fff : (Type)NAN);
    for (size_t i = 0; i < numbers.size(); i++) {
        numbers[i] = (int)(gpumb_fill_word(GPUMB_FILL_BITS, seed, i) % 17) - 8;
        x[i / wide * width + i % wide] = as<Type>(numbers[i]);
    }
    gpumb_write(g, to, 0, x.data(), x.size() * sizeof(Type));
    return numbers;
}

template <class Type>
static bool multiplies(gpumb *g, int step, int plan, unsigned m, unsigned n, unsigned k)
{
    product p = new_product(g, step, plan, m, n, k);
    gpumb_free(g, p.c);
    const size_t count = (size_t)m * n;
    p.c = gpumb_alloc(g, (count + MARGIN) * sizeof(float));
    gpumb_poison(g, p.c);
    const std::vector<int> a = put_integers<Type>(g, &p, p.a, m, k, 3 * m + k),
                           b = put_integers<Type>(g, &p, p.b, k, n, 5 * n + k);
    launch_product(&p);
    std::vector<float> c(count + MARGIN);
    gpumb_read(g, p.c, 0, c.data(), c.size() * sizeof(float));
    bool right = true;
    for (size_t i = 0; i < count && right; i++) {
        int sum = 0;
        for (size_t l = 0; l < k; l++)
            sum += a[i / n * k + l] * b[l * n + i % n];
        right = c[i] >= (float)sum && c[i] <= (float)sum;
        if (!right)
            printf("    row %d, column %d: %g, not %d\n", (int)(i / n), (int)(i % n), (double)c[i],
                   sum);
    }
    if (!is_poison(&c[count], MARGIN * sizeof(float), count * sizeof(float))) {
        printf("    it wrote behind C\n");
        right = false;
    }
    gpumb_free(g, p.a);
    gpumb_free(g, p.b);
    gpumb_free(g, p.c);
    return right;
}

static const unsigned shapes[][3] = {{1, 1, 1},      {3, 5, 7},     {33, 31, 40},   {128, 128, 64},
                                     {64, 200, 100}, {129, 66, 9},  {130, 257, 70}, {256, 128, 96},
                                     {17, 128, 129}, {200, 20, 33}, {8, 8, 200}};

static void test_shapes(gpumb *g, int step, int plan)
{
    for (const unsigned *s : shapes) {
        // The CPU takes long for what tensor cores do.
        if (SANITIZED && (uint64_t)s[0] * s[1] * s[2] > 100000)
            continue;
        CHECK_CASE(step >= TENSOR ? multiplies<bf16>(g, step, plan, s[0], s[1], s[2])
                                  : multiplies<float>(g, step, plan, s[0], s[1], s[2]),
                   "%s, plan %d: %u x %u x %u", step_names[step], plan, s[0], s[1], s[2]);
    }
}

static void free_product(gpumb *g, product *p)
{
    gpumb_free(g, p->a);
    gpumb_free(g, p->b);
    gpumb_free(g, p->c);
}

// Right where the product is, and wrong by one element, or by one term of all of them.
static void test_check(gpumb *g, int step)
{
    product p = new_product(g, step, 0, 70, 50, 333);
    launch_product(&p);
    CHECK(check_product(g, &p) == 1);
    for (uint64_t at : {0u, 1u, 1777u, 3499u}) {
        float kept;
        gpumb_read(g, p.c, 4 * at, &kept, 4);
        for (float wrong : {kept + 0.1f, kept - 0.1f, (float)NAN}) {
            gpumb_write(g, p.c, 4 * at, &wrong, 4);
            CHECK_CASE(check_product(g, &p) == 0, "element %llu is %g, not %g",
                       (unsigned long long)at, (double)wrong, (double)kept);
        }
        gpumb_write(g, p.c, 4 * at, &kept, 4);
    }
    CHECK(check_product(g, &p) == 1);
    product shorter = p; // the last column of A belongs to the gap
    shorter.k--;
    if (width_of(&shorter, shorter.k) == width_of(&p, p.k)) {
        launch_product(&shorter);
        CHECK(check_product(g, &p) == 0);
    }
    free_product(g, &p);
}

// The bound of fp32 is one that inputs rounded to TF32, of 11 bits, don't keep.
static __global__ void round_to_tf32(float *x, uint64_t count)
{
    GPUMB_GRID_STRIDE(i, count) {
        unsigned bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits + 0x0fff + (bits >> 13 & 1)) & 0xffffe000u;
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static void test_tf32(gpumb *g, unsigned k)
{
    product p = new_product(g, COALESCED, 0, 40, 40, k), rounded = p;
    launch_product(&p);
    CHECK(check_product(g, &p) == 1);
    rounded.a = gpumb_alloc(g, gpumb_size(p.a));
    rounded.b = gpumb_alloc(g, gpumb_size(p.b));
    gpumb_memcpy(g, gpumb_data(rounded.a), gpumb_data(p.a), gpumb_size(p.a));
    gpumb_memcpy(g, gpumb_data(rounded.b), gpumb_data(p.b), gpumb_size(p.b));
    GPUMB_LAUNCH(round_to_tf32, 64, 256, 0, GPUMB_PTR(float, rounded.a), gpumb_size(p.a) / 4);
    GPUMB_LAUNCH(round_to_tf32, 64, 256, 0, GPUMB_PTR(float, rounded.b), gpumb_size(p.b) / 4);
    launch_product(&rounded); // into the same C
    CHECK_CASE(check_product(g, &p) == 0, "TF32 passes for fp32 at k = %u", k);
    gpumb_free(g, rounded.a);
    gpumb_free(g, rounded.b);
    free_product(g, &p);
}

// bf16: what it can hold stays, the rest goes to the nearest, of two to the even one.
static void test_bf16()
{
    CHECK_INT(bf16_of(1), 0x3f80);
    CHECK_INT(bf16_of(-2.5f), 0xc020);
    CHECK_INT(bf16_of(1 + 1.0f / 256), 0x3f80);         // in the middle
    CHECK_INT(bf16_of(1 + 3.0f / 256), 0x3f82);         // in the middle
    CHECK_INT(bf16_of(1 + 1.0f / 256 + 1e-6f), 0x3f81); // behind it
    for (unsigned bits = 0; bits < 0x7f80; bits += 97)
        CHECK_CASE(bf16_of(float_of((bf16)bits)) == bits, "%04x", bits);
}

// The same 16 bytes of 8 rows in a row, which are read at once, are in all 8 parts of the banks,
// and no two words of a tile are in one place.
template <unsigned in_a_row> static void test_places()
{
    std::vector<bool> taken(64 * in_a_row, false);
    for (unsigned row = 0; row < 64; row += 8)
        for (unsigned column = 0; column < in_a_row; column++) {
            unsigned parts = 0;
            for (unsigned r = row; r < row + 8; r++) {
                const unsigned at = place<in_a_row>(r, column);
                parts |= 1u << at % 8;
                CHECK_CASE(at / in_a_row == r && !taken[at], "row %u, column %u", r, column);
                taken[at] = true;
            }
            CHECK_CASE(parts == 0xff, "%u in a row: rows from %u, column %u: parts %x", in_a_row,
                       row, column, parts);
        }
}

int main()
{
    gpumb_cpu_set_workers(2);
    gpumb *g = gpumb_open(0, NULL);
    const char *lacks = lacks_tensor(g);
    for (int step = 0; step < STEPS; step++) {
        const int plans = step == AHEAD    ? (int)(sizeof ahead_plans / sizeof *ahead_plans)
                          : step == STAGED ? (int)(sizeof staged_plans / sizeof *staged_plans)
                                           : 1;
        if (step >= AHEAD && lacks) {
            SKIP(lacks);
            continue;
        }
        for (int plan = 0; plan < plans; plan++)
            test_shapes(g, step, plan);
        test_check(g, step);
    }
    test_tf32(g, 64);
    test_tf32(g, 4096);
    if (!gpumb_cpu_set_warp_size(64)) { // CPU alone
        test_shapes(g, AHEAD, 2);
        test_shapes(g, STAGED, 2);
        gpumb_cpu_set_warp_size(32);
    }
    test_bf16();
    test_places<2>();
    test_places<4>();
    test_places<8>();
    test_places<32>();
    gpumb_result r;
    product p = new_product(g, VECTORS, 0, 128, 128, 8);
    gpumb_set_output(g, p.c);
    gpumb_set_verify(g, check_product, &p);
    GPUMB_TIME(&r)
        launch_product(&p);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

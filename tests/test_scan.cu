// test_scan.cu - every form of the scan against sums computed on the host, at awkward sizes and
// addresses, again and again on one state, and its check against wrong results, on whatever
// backend this is built for.
// shares the GPU: results are compared, not times
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

template <class Type> static bool of_floats()
{
    return (Type)0.5 != 0;
}

template <class Type> static int type_of()
{
    return (sizeof(Type) == 8 ? SCAN_U64 : SCAN_I32) + of_floats<Type>();
}

// Integers are random; floats are small integers, whose sums are exact in whatever order.
template <class Type> static std::vector<Type> numbers(uint64_t n, uint64_t seed)
{
    std::vector<Type> x((size_t)n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t random = gpumb_fill_word(GPUMB_FILL_BITS, seed, i);
        random = random << 32 | gpumb_fill_word(GPUMB_FILL_BITS, seed + 1, i);
        x[(size_t)i] = of_floats<Type>() ? (Type)((int)(random % 17) - 8) : (Type)random;
    }
    return x;
}

// Three scans on one state of n elements, the second from element in_at to element out_at: each
// element, and nothing around them. Inputs and outputs are in one buffer, and outputs are read back
// at once: on a GPU that others use as well, a wait takes longer than many launches.
template <class Type>
static bool scans(gpumb *g, const scan_form *form, uint64_t n, int exclusive, unsigned in_at,
                  unsigned out_at)
{
    enum { RUNS = 3 };
    const uint64_t apart = (n + 2 * MARGIN + 63) / 64 * 64; // addresses as those of buffers
    scan_job j = new_scan(g, form, type_of<Type>(), exclusive, n);
    gpumb_buffer *memory = gpumb_alloc(g, 2 * RUNS * apart * sizeof(Type));
    Type *const first = GPUMB_PTR(Type, memory);
    std::vector<Type> in, out((size_t)(RUNS * apart)), wanted(out.size());
    for (uint64_t run = 0; run < RUNS; run++) {
        const std::vector<Type> more = numbers<Type>(apart, 3 * n + run);
        in.insert(in.end(), more.begin(), more.end());
    }
    gpumb_poison(g, memory);
    gpumb_write(g, memory, 0, in.data(), in.size() * sizeof(Type));
    put_poison(wanted.data(), wanted.size() * sizeof(Type), 0);
    for (uint64_t run = 0; run < RUNS; run++) {
        const uint64_t from = run * apart + (run == 1 ? in_at : 0),
                       to = run * apart + MARGIN + (run == 1 ? out_at : 0);
        launch_scan(g, &j, (const Type *)first + from, first + RUNS * apart + to);
        Type sum = 0;
        for (uint64_t i = 0; i < n; i++) {
            const Type next = sum + in[(size_t)(from + i)];
            wanted[(size_t)(to + i)] = exclusive ? sum : next;
            sum = next;
        }
    }
    bool right =
        !gpumb_read(g, memory, RUNS * apart * sizeof(Type), out.data(), out.size() * sizeof(Type));
    for (size_t i = 0; i < out.size() && right; i++)
        if (memcmp(&out[i], &wanted[i], sizeof(Type)) &&
            !(out[i] <= wanted[i] && out[i] >= wanted[i])) { // -0 is 0
            printf("    run %d: element %lld\n", (int)(i / apart), (long long)(i % apart) - MARGIN);
            right = false;
        }
    gpumb_free(g, memory);
    gpumb_free(g, j.state);
    gpumb_free(g, j.sums);
    return right;
}

template <class Type> static void test_sizes(gpumb *g, const scan_form *form)
{
    const uint64_t tile = scan_tile(form, type_of<Type>());
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

enum { TILES = 400 };
const unsigned BEFORE = 40;

template <class Type>
static __global__ void look_back_once(const uint64_t *tiles, unsigned tile, Type *sums)
{
    sums[threadIdx.x] = look_back<Type>(tiles, tile, BEFORE);
}

template <class Type>
static __global__ void look_back_in_ring(const uint64_t *tiles, unsigned from, unsigned to,
                                         Type *sums)
{
#if ASYNC_BARRIERS
    sums[threadIdx.x] = sum_of_tiles<Type>(tiles, from, to, BEFORE);
#else
    (void)tiles, (void)from, (void)to, (void)sums;
#endif
}

template <class Type> struct look {
    unsigned tile, span;
    bool in_ring;
    Type wanted;
};

// What blocks that run one after the other never leave behind: predecessors that know only their
// own sum, so far that it takes several looks to get to one that knows all.
template <class Type> static void test_look_back(gpumb *g, unsigned lanes)
{
    typedef tile_state<Type> state_type;
    const unsigned spans[] = {1, 2, lanes, lanes + 1, 2 * lanes, 2 * lanes + 1, 5 * lanes, 399};
    const bool ring = lanes == 32 && blocks_of_ring<Type>(g);
    std::vector<look<Type>> looks;
    std::vector<state_type> states; // TILES for each
    for (const unsigned span : spans)
        for (const unsigned tile : {span, TILES - 1u}) {
            Type wanted = 0;
            for (unsigned i = 0; i < TILES; i++) {
                // those behind the nearest that knows all are of either kind, and of no interest
                const bool of_all = i + span == tile || (i + span < tile && i % 3 == 0);
                const Type value = (Type)(gpumb_fill_word(GPUMB_FILL_BITS, span, i) % 1000);
                states.push_back(i < tile ? state_of(BEFORE + (of_all ? OF_ALL : OF_TILE), value)
                                          : state_of(BEFORE, value));
                wanted += i < tile && i + span >= tile ? value : 0;
            }
            looks.push_back({tile, span, false, wanted});
            if (!ring)
                continue;
            for (unsigned i = 0; i < TILES; i++) // of this launch: those that are asked for
                states.push_back(state_of(BEFORE - (i >= tile || i + span < tile),
                                          value_of(states[states.size() - TILES])));
            looks.push_back({tile, span, true, wanted});
        }
    gpumb_buffer *memory = gpumb_alloc(g, sizeof(state_type) * states.size());
    gpumb_buffer *out = gpumb_alloc(g, sizeof(Type) * 64 * looks.size());
    gpumb_write(g, memory, 0, states.data(), sizeof(state_type) * states.size());
    gpumb_poison(g, out);
    for (size_t i = 0; i < looks.size(); i++) {
        const look<Type> &l = looks[i];
        const uint64_t *const at =
            GPUMB_PTR(const uint64_t, memory) + i * TILES * state_type::WORDS;
        Type *const sums = GPUMB_PTR(Type, out) + 64 * i;
        if (l.in_ring)
            GPUMB_LAUNCH_BARRIER(look_back_in_ring<Type>, 1, lanes, 0, at, l.tile - l.span, l.tile,
                                 sums);
        else
            GPUMB_LAUNCH_BARRIER(look_back_once<Type>, 1, lanes, 0, at, l.tile, sums);
    }
    const std::vector<Type> found = read_back<Type>(g, out);
    for (size_t i = 0; i < looks.size(); i++) {
        const look<Type> &l = looks[i];
        unsigned right = 0;
        for (unsigned lane = 0; lane < lanes; lane++)
            right += found[64 * i + lane] >= l.wanted && found[64 * i + lane] <= l.wanted;
        CHECK_CASE(right == lanes, "%stile %u, %u back", l.in_ring ? "ring: " : "", l.tile, l.span);
    }
    state_type mixed = state_of(BEFORE, (Type)1);
    mixed.at[0] += (uint64_t)OF_TILE << 32;
    CHECK_INT(status_of(mixed, 7), sizeof(Type) == 8 ? 7 : BEFORE + OF_TILE);
    gpumb_free(g, memory);
    gpumb_free(g, out);
}

// The check: right where the scan is, and wrong by one element, wherever.
template <class Type> static void test_check(gpumb *g, int exclusive)
{
    static const gpumb_fill_kind fills[] = {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_BITS,
                                            GPUMB_FILL_F64};
    const Type more = of_floats<Type>() && sizeof(Type) == 8 ? (Type)1e-7 : 1;
    scan_job j = new_scan(g, &scan_forms[1], type_of<Type>(), exclusive, 40007);
    j.in = gpumb_alloc(g, sizeof(Type) * j.n);
    j.out = gpumb_alloc(g, sizeof(Type) * j.n);
    gpumb_fill(g, j.in, fills[j.type], 5);
    scan(g, &j);
    CHECK(check_scan(g, &j) == 1);
    std::vector<Type> kept = read_back<Type>(g, j.out), out = kept;
    for (uint64_t at : {(uint64_t)0, (uint64_t)1, (uint64_t)4095, (uint64_t)20000, j.n - 1}) {
        out[(size_t)at] += more;
        gpumb_write(g, j.out, 0, out.data(), sizeof(Type) * j.n);
        CHECK_CASE(check_scan(g, &j) == 0, "element %llu", (unsigned long long)at);
        out[(size_t)at] = kept[(size_t)at];
    }
    // a tile that is missing from all after it
    for (size_t i = (size_t)(3 * j.tile); i < out.size(); i++)
        out[i] += more;
    gpumb_write(g, j.out, 0, out.data(), sizeof(Type) * j.n);
    CHECK(check_scan(g, &j) == 0);
    gpumb_write(g, j.out, 0, kept.data(), sizeof(Type) * j.n);
    CHECK(check_scan(g, &j) == 1);
    gpumb_free(g, j.in);
    gpumb_free(g, j.out);
    gpumb_free(g, j.state);
    gpumb_free(g, j.sums);
}

// A block takes more tiles than it has slots.
template <class Type> static void test_slots(gpumb *g)
{
    const uint64_t blocks = blocks_of_ring<Type>(g);
    const uint64_t tiles = is_gpu(g) ? blocks * (SLOTS + 2) : 3 * SLOTS + 1;
    if (!blocks) {
        SKIP("no barriers in shared memory, or too little of it");
        return;
    }
    CHECK(scans<Type>(g, &scan_forms[RING],
                      tiles * scan_tile(&scan_forms[RING], type_of<Type>()) - 1, of_floats<Type>(),
                      0, 0));
}

template <class Type> static void test_type(gpumb *g)
{
    const unsigned lanes = (unsigned)gpumb_get_device(g)->warp_size;
    for (const scan_form &form : scan_forms)
        test_sizes<Type>(g, &form);
    test_look_back<Type>(g, lanes);
    for (int exclusive = 0; exclusive < 2; exclusive++)
        test_check<Type>(g, exclusive);
    gpumb_cpu_set_workers(1); // blocks one after the other
    test_slots<Type>(g);
    gpumb_cpu_set_workers(4);
}

int main()
{
    gpumb_cpu_set_workers(4);
    gpumb *g = gpumb_open(0, NULL);
    test_type<unsigned>(g);
    test_type<float>(g);
    test_type<uint64_t>(g);
    test_type<double>(g);
    const scan_form *last = &scan_forms[RING - 1];
    gpumb_cpu_set_workers(1); // blocks one after the other
    test_sizes<unsigned>(g, last);
    test_sizes<unsigned>(g, &scan_forms[0]);
    if (!gpumb_cpu_set_warp_size(64)) { // CPU alone
        test_sizes<unsigned>(g, &scan_forms[1]);
        test_sizes<double>(g, last);
        test_look_back<float>(g, 64);
        gpumb_cpu_set_warp_size(32);
    }
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_empty(g, 5, 32);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

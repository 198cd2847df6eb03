/* test_memory.cpp - kinds of memory on the fake device: fills, poison, guard zones and checks of
 * all of them, copies between all of them, managed memory and its limits, and what a transfer's row
 * says. */
#define GPUMB_BACKEND_CPU
#define GPUMB_BACKEND_FAKE
#define GPUMB_COPY
#define GPUMB_IMPLEMENTATION
#define GPUMB_STRIDED
#define GPUMB_REDUCTIONS(X) X(F32, SUM)
#include "hear.h"
#include "../gpumb.h"

#include "check.h"
#include "fake.h"
#include "folder.h"
#include "poison.h"
#include "printed.h"
#include "texts.h"

#include <cmath>
#include <unistd.h>
#include <vector>

static const uint64_t MiB = 1 << 20;
static const gpumb_memory kinds[] = {GPUMB_MEMORY_DEVICE, GPUMB_MEMORY_PINNED, GPUMB_MEMORY_MANAGED,
                                     GPUMB_MEMORY_HOST};

/* For 2 samples of one run, without the devices's state. */
static gpumb *open(const char *csv = nullptr)
{
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    s.csv = csv;
    heard.clear();
    return gpumb_open_settings("memory", &s);
}

static std::vector<unsigned char> contents(gpumb *g, const gpumb_buffer *b)
{
    std::vector<unsigned char> bytes(gpumb_size(b));
    CHECK_INT(gpumb_read(g, b, 0, bytes.data(), bytes.size()), 0);
    return bytes;
}

// ---- what works with every kind ----

static int finds_poison(gpumb *g, void *b)
{
    return is_poison(contents(g, (const gpumb_buffer *)b).data(),
                     gpumb_size((const gpumb_buffer *)b), 0);
}

// Nothing that a kernel leaves: not a number of any width, and as an integer neither small nor -1.
static void test_poison()
{
    fake_reset();
    gpumb *g = open();
    gpumb_buffer *b = gpumb_alloc(g, 64);
    gpumb_poison(g, b);
    double d;
    float f;
    uint16_t h;
    uint32_t u;
    const unsigned char *bytes = GPUMB_PTR(const unsigned char, b);
    memcpy(&d, bytes, sizeof d);
    memcpy(&f, bytes + 4, sizeof f);
    memcpy(&h, bytes + 2, sizeof h);
    memcpy(&u, bytes + 60, sizeof u);
    CHECK(std::isnan(d) && std::isnan(f));
    CHECK((h & 0x7c00) == 0x7c00 && (h & 0x3ff)); // as fp16
    CHECK((h & 0x7f80) == 0x7f80 && (h & 0x7f));  // as bf16
    CHECK(u == GPUMB_POISON && u + 1000 > 2000 && bytes[0] != bytes[1]);
    gpumb_buffer *odd = gpumb_wrap(g, GPUMB_PTR(char, b) + 3, 9); // in step with what is aligned
    gpumb_fill(g, odd, GPUMB_FILL_ZERO, 0);
    gpumb_poison(g, odd);
    CHECK(is_poison(bytes, 64, 0));
    CHECK_INT(gpumb_close(g), GPUMB_EXIT_OK);
}

// Enumerations out of range are reasons, and read nothing.
static void test_no_such_kind()
{
    fake_reset();
    gpumb *g = open();
    gpumb_buffer *b = gpumb_alloc(g, 64);
    for (int kind : {-1, 4, 1 << 30}) {
        gpumb_fill(g, b, (gpumb_fill_kind)kind, 1);
        GPUMB_MEASURE(g, "filled")
            fake_run(1e-3);
        CHECK(has(gpumb_last_result(g)->reason, "gpumb_fill: there is no kind "));
        CHECK(gpumb_alloc_kind(g, (gpumb_memory)kind, 64) == NULL);
        GPUMB_MEASURE(g, "allocated")
            fake_run(1e-3);
        CHECK(has(gpumb_last_result(g)->reason, "gpumb_alloc_kind: there is no kind "));
    }
    for (int kind : {-1, 6, 1 << 30}) { // 6: GPUMB_TIMING_GIVEN, not to be set
        gpumb_set_timing(g, (gpumb_timing)kind);
        GPUMB_MEASURE(g, "timed")
            fake_run(1e-3);
        CHECK(has(gpumb_last_result(g)->reason, "gpumb_set_timing: there is no kind "));
        gpumb_set_cache(g, (gpumb_cache)kind);
        GPUMB_MEASURE(g, "cold")
            fake_run(1e-3);
        CHECK(has(gpumb_last_result(g)->reason, "gpumb_set_cache: there is no kind "));
        gpumb_advise(g, gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, 64), (gpumb_advice)kind);
        GPUMB_MEASURE(g, "advised")
            fake_run(1e-3);
        CHECK(has(gpumb_last_result(g)->reason, "gpumb_advise: there is no kind "));
    }
    gpumb_close(g);
}

static void test_kinds()
{
    for (const gpumb_memory kind : kinds) {
        fake_reset();
        gpumb *g = open();
        const uint64_t bytes = 10007;
        gpumb_buffer *b = gpumb_alloc_kind(g, kind, bytes);
        gpumb_buffer *reference = gpumb_alloc(g, bytes);
        CHECK(b && gpumb_size(b) == bytes && (uintptr_t)gpumb_data(b) % 256 == 0);
        CHECK_INT(gpumbi_dev_kind(gpumb_data(b)), kind);
        CHECK(gpumbi_guards_intact(g, 1));

        for (const gpumb_fill_kind fill :
             {GPUMB_FILL_BITS, GPUMB_FILL_F32, GPUMB_FILL_F64, GPUMB_FILL_ZERO}) {
            uint64_t first = 7, word;
            gpumb_fill(g, b, fill, 5);
            gpumb_fill(g, reference, fill, 5);
            const std::vector<unsigned char> filled = contents(g, b);
            for (uint64_t i = 0; i < bytes / 8; i++) {
                memcpy(&word, &filled[8 * i], 8);
                if (word != gpumb_fill_word(fill, 5, i))
                    CHECK(false); // the words of the fill
            }
            CHECK_INT(gpumb_compare(g, b, reference, bytes, &first), 0);
            CHECK_INT(first, 0);
            const unsigned char other = (unsigned char)(filled[9999] ^ 1);
            CHECK_INT(gpumb_write(g, b, 9999, &other, 1), 0);
            CHECK_INT(gpumb_compare(g, b, reference, bytes, &first), 1);
            CHECK_INT(first, 9999);
            CHECK_INT(gpumb_compare(g, reference, b, bytes, &first), 1);
            CHECK(gpumbi_guards_intact(g, 1)); // the last word of a fill reaches into it
        }

        gpumb_poison(g, b);
        CHECK(finds_poison(g, b));

        // outputs are poisoned, and what writes past the end is caught
        const int live = fake_live_blocks;
        for (const int past : {0, 1}) {
            gpumb_result r;
            gpumb_fill(g, b, GPUMB_FILL_ZERO, 0);
            gpumb_set_output(g, b);
            gpumb_set_verify(g, finds_poison, b);
            GPUMB_TIME(&r) {
                fake_run(1e-3);
                GPUMB_PTR(char, b)[bytes + 255] = (char)(past ? 1 : GPUMBI_GUARD_BYTE);
            }
            CHECK_INT(r.status, past ? GPUMB_STATUS_FAILED : GPUMB_STATUS_OK);
            CHECK_INT(r.verified, !past);
            CHECK(!past ||
                  has(r.reason, "past the end of a buffer of 10007 bytes, at offset 10262"));
            CHECK(gpumbi_guards_intact(g, 1));
        }
        CHECK_INT(fake_live_blocks, live); // what was staged is gone

        // checks that run on the device
        gpumb_copy_check copy = {b, reference, bytes, GPUMB_READ_WRITE};
        gpumb_stride_check strided = {b, reference, 1, bytes, 1, 0, 0};
        gpumb_fill(g, b, GPUMB_FILL_F32, 3);
        gpumb_fill(g, reference, GPUMB_FILL_F32, 3);
        CHECK(gpumb_check_copy(g, &copy) && gpumb_check_strided(g, &strided));
        gpumb_copy_check written = {nullptr, b, 10004, GPUMB_WRITE};
        CHECK(!gpumb_check_copy(g, &written));
        for (unsigned i = 0; i < 2501; i++) {
            const uint32_t word = gpumb_zcopy_word(i);
            gpumb_write(g, b, 4 * i, &word, 4);
        }
        CHECK(gpumb_check_copy(g, &written));
        CHECK(!gpumb_check_copy(g, &copy) && !gpumb_check_strided(g, &strided));
        const gpumb_reduction how = gpumb_reduction_default();
        gpumb_buffer *sum = gpumb_alloc_kind(g, kind, sizeof(float));
        const float one = 1, values[] = {0.5f, 0.25f, 0.25f};
        gpumb_reduction_check reduction = {&how, b, sum, 3};
        gpumb_write(g, b, 0, values, sizeof values);
        gpumb_write(g, sum, 0, &one, sizeof one);
        CHECK(gpumb_check_reduction(g, &reduction));
        gpumb_write(g, b, 4, &one, sizeof one);
        CHECK(!gpumb_check_reduction(g, &reduction));
        gpumb_free(g, sum);
        CHECK_INT(fake_live_blocks, live);

        CHECK_INT(gpumb_close(g), GPUMB_EXIT_FAILED); // of the region whose guard zone was hit
        CHECK(fake_clean());
        CHECK_INT(fake_live_bytes[0] + fake_live_bytes[1], 0);
        CHECK_INT(gpumbi_managed_bytes, 0);
    }
}

/* A device that may not read pageable memory fills and compares a copy; without room for that, the
 * row says so. */
static void test_staging()
{
    fake_reset();
    gpumb *g = open();
    fake_memory = 20 * MiB;
    gpumb_buffer *b = gpumb_alloc_kind(g, GPUMB_MEMORY_HOST, 30 * MiB);
    CHECK(b && g->trouble[0] == 0);
    gpumb_fill(g, b, GPUMB_FILL_BITS, 1);
    CHECK_STR(g->trouble, "needs 30 MiB more device memory, 20 MiB are free");
    gpumb_close(g);
    CHECK(fake_clean());
}

// ---- where it does not fit ----

static std::string refused(gpumb_memory kind, uint64_t bytes)
{
    gpumb_result r;
    gpumb *g = open();
    gpumb_buffer *b = gpumb_alloc_kind(g, kind, bytes);
    GPUMB_TIME(&r)
        fake_run(1e-3);
    CHECK((r.status == GPUMB_STATUS_SKIPPED) == !b);
    gpumb_close(g);
    CHECK(fake_clean());
    CHECK_INT(gpumbi_managed_bytes, 0);
    return r.reason;
}

static void test_no_room()
{
    fake_reset();
    CHECK_STR(refused(GPUMB_MEMORY_PINNED, 600 * MiB).c_str(),
              "needs 600 MiB more pinned host memory, 512 MiB are free");
    CHECK_STR(refused(GPUMB_MEMORY_HOST, 600 * MiB).c_str(),
              "needs 600 MiB more host memory, 512 MiB are free");
    CHECK_STR(refused(GPUMB_MEMORY_MANAGED, 600 * MiB).c_str(),
              "needs 600 MiB more managed memory, 512 MiB are free");
    for (const gpumb_memory kind : kinds) {
        const std::string all = refused(kind, UINT64_MAX - 3);
        CHECK(has(all, "needs 18446744073709551612 bytes"));
    }
    // the runtime refuses what seems to fit: locked memory has limits of its own
    static const char *const name[] = {"device", "pinned host", "managed", "host"};
    for (const gpumb_memory kind : kinds) {
        fake_fail_verb = FAKE_ALLOC;
        fake_fail_verb_at = 1;
        fake_fail_error = FAKE_NO_MEMORY;
        gpumb_result r;
        gpumb *g = open();
        gpumb_buffer *b = gpumb_alloc_kind(g, kind, 100);
        CHECK(!b);
        GPUMB_TIME(&r)
            fake_run(1e-3);
        CHECK_STR(
            r.reason,
            (std::string("allocation of ") + name[kind] + " memory: the fake is full").c_str());
        CHECK_INT(gpumbi_managed_bytes, 0);
        gpumb_close(g);
    }
    fake_reset();
}

static void test_managed_limit()
{
    fake_reset();
    CHECK_STR(refused(GPUMB_MEMORY_MANAGED, 127 * MiB).c_str(), "");
    CHECK_STR(refused(GPUMB_MEMORY_MANAGED, 129 * MiB).c_str(),
              "129 MiB of managed memory would be more than a quarter of the 512 MiB that are free "
              "on the device: take smaller buffers");

    // all of it together, in all contexts, also while the device's memory fills up
    gpumb *g = open(), *other = open();
    gpumb_buffer *first = gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, 60 * MiB);
    gpumb_buffer *second = gpumb_alloc_kind(other, GPUMB_MEMORY_MANAGED, 40 * MiB);
    CHECK(first && second); // 100 of 412
    CHECK(!gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, 20 * MiB));
    CHECK(has(g->memory.missing, "120 MiB of managed memory would be more than a quarter of the "
                                 "412 MiB"));
    CHECK(!gpumb_alloc(other, 20 * MiB)); // would leave 392, a quarter of which is 98
    CHECK(has(other->memory.missing,
              "100 MiB of managed memory would be more than a quarter of the "
              "392 MiB"));
    CHECK(gpumb_alloc(other, 5 * MiB) != nullptr);
    CHECK(gpumb_alloc_kind(other, GPUMB_MEMORY_PINNED, 400 * MiB) != nullptr); // is the host's
    gpumb_free(g, second);
    CHECK(gpumb_alloc(other, 20 * MiB) != nullptr);
    gpumb_free(g, first);
    gpumb_free(g, first);
    CHECK_INT(gpumbi_managed_bytes, 0);
    gpumb_close(other);
    gpumb_close(g);
    CHECK(fake_clean());
}

// ---- prefetches and advice ----

static void test_advice()
{
    fake_reset();
    fake_devices = 3;
    gpumb_settings s = gpumb_settings_default();
    s.quiet = 1;
    s.device = 2;
    gpumb *g = gpumb_open_settings("memory", &s);
    gpumb_buffer *b = gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, 1000);
    const struct {
        gpumb_advice advice;
        const char *said;
    } table[] = {
        {GPUMB_ADVICE_NONE, "A2:2 A4:2 A6:2 A6:-1 "}, {GPUMB_ADVICE_READ_MOSTLY, "A1:2 "},
        {GPUMB_ADVICE_PREFER_DEVICE, "A3:2 "},        {GPUMB_ADVICE_PREFER_HOST, "A3:-1 "},
        {GPUMB_ADVICE_DEVICE_ACCESSES, "A5:2 "},      {GPUMB_ADVICE_HOST_ACCESSES, "A5:-1 "}};
    for (const auto &t : table) {
        fake_advice[0] = 0;
        gpumb_advise(g, b, t.advice);
        CHECK_STR(fake_advice, t.said);
    }
    fake_advice[0] = 0;
    gpumb_prefetch(g, b, GPUMB_MEMORY_DEVICE);
    gpumb_prefetch(g, b, GPUMB_MEMORY_HOST);
    CHECK_STR(fake_advice, "P0:2 P0:-1 ");

    // in a region, and of a buffer that is none
    gpumb_result r;
    GPUMB_TIME(&r) {
        gpumb_prefetch(g, b, GPUMB_MEMORY_DEVICE);
        fake_run(1e-3);
    }
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK(fake_calls[FAKE_PREFETCH] > 10);
    fake_advice[0] = 0;
    GPUMB_SWEEP_LIST(g, n, 1, 2) // NULL while it enumerates
    {
        gpumb_buffer *inner = gpumb_alloc_kind(g, GPUMB_MEMORY_MANAGED, (uint64_t)n);
        gpumb_prefetch(g, inner, GPUMB_MEMORY_HOST);
        gpumb_advise(g, inner, GPUMB_ADVICE_READ_MOSTLY);
        GPUMB_MEASURE(g, "one")
            fake_run(1e-3);
    }
    CHECK_STR(fake_advice, "P0:-1 A1:2 P0:-1 A1:2 ");
    gpumb_close(g);
    CHECK(fake_clean());

    const struct {
        gpumb_memory of, to;
        int which; // 0 prefetch, 1 advise, 2 both of NULL, 3 and 4: the runtime refuses
        const char *reason;
    } wrong[] = {
        {GPUMB_MEMORY_DEVICE, GPUMB_MEMORY_DEVICE, 0,
         "gpumb_prefetch is for managed memory, this is device memory"},
        {GPUMB_MEMORY_PINNED, GPUMB_MEMORY_DEVICE, 1,
         "gpumb_advise is for managed memory, this is pinned host memory"},
        {GPUMB_MEMORY_HOST, GPUMB_MEMORY_HOST, 0,
         "gpumb_prefetch is for managed memory, this is host memory"},
        {GPUMB_MEMORY_MANAGED, GPUMB_MEMORY_PINNED, 0,
         "gpumb_prefetch goes to GPUMB_MEMORY_DEVICE or GPUMB_MEMORY_HOST"},
        {GPUMB_MEMORY_MANAGED, GPUMB_MEMORY_DEVICE, 2, "gpumb_prefetch: a pointer is NULL"},
        {GPUMB_MEMORY_MANAGED, GPUMB_MEMORY_DEVICE, 3, "prefetch: the fake refuses"},
        {GPUMB_MEMORY_MANAGED, GPUMB_MEMORY_DEVICE, 4, "advice: the fake refuses"}};
    for (const auto &w : wrong) {
        fake_reset();
        g = open();
        b = gpumb_alloc_kind(g, w.of, 100);
        fake_fail_verb = w.which == 3 ? FAKE_PREFETCH : FAKE_ADVISE;
        fake_fail_verb_at = w.which > 2;
        if (w.which % 3 == 1)
            gpumb_advise(g, b, GPUMB_ADVICE_NONE);
        else
            gpumb_prefetch(g, w.which == 2 ? nullptr : b, w.to);
        GPUMB_TIME(&r)
            fake_run(1e-3);
        CHECK_INT(r.status, GPUMB_STATUS_SKIPPED);
        CHECK_STR(r.reason, w.reason);
        gpumb_close(g);
        CHECK(fake_clean());
    }
}

// ---- transfers ----

/* What a copy of a MiB from one kind to another says in its row. */
static gpumb_result copies(gpumb_memory from, gpumb_memory to, double stated, double flop)
{
    gpumb_result r;
    gpumb *g = open();
    gpumb_buffer *in = gpumb_alloc_kind(g, from, MiB), *out = gpumb_alloc_kind(g, to, MiB);
    gpumb_copy_check check = {in, out, MiB, GPUMB_READ_WRITE};
    gpumb_fill(g, in, GPUMB_FILL_BITS, 1);
    gpumb_set_output(g, out);
    gpumb_set_verify(g, gpumb_check_copy, &check);
    gpumb_set_bytes(g, stated);
    gpumb_set_flop(g, flop);
    GPUMB_TIME(&r)
        gpumb_memcpy(g, gpumb_data(out), gpumb_data(in), MiB);
    CHECK_INT(r.status, GPUMB_STATUS_OK);
    CHECK_INT(r.verified, 1);
    gpumb_close(g);
    CHECK(fake_clean());
    return r;
}

static void test_copies()
{
    fake_reset();
    fake_link_rate = 50e9;
    for (const gpumb_memory from : kinds)
        for (const gpumb_memory to : kinds)
            for (const double stated : {0.0, 1.0 * (double)MiB, 2.0 * (double)MiB}) {
                const gpumb_result r = copies(from, to, stated, 0);
                const int in = to == GPUMB_MEMORY_DEVICE && fake_is_host(from);
                const int out = from == GPUMB_MEMORY_DEVICE && fake_is_host(to);
                const int local = from == GPUMB_MEMORY_DEVICE && to == from;
                CHECK_NEAR(r.to_device, in ? MiB : 0, 0);
                CHECK_NEAR(r.to_host, out ? MiB : 0, 0);
                CHECK_STR(r.link, in || out ? "Fake 5.0 x16" : "");
                CHECK_NEAR(r.link_gbps, in || out ? 50 : 0, 1e-9);
                CHECK_NEAR(r.pct_link, in || out ? 100 * (double)MiB / r.time.median / 50e9 : 0,
                           1e-9);
                CHECK(!(in || out) || (r.pct_link > 90 && r.pct_link <= 100));
                // never of the device's memory
                CHECK((r.peak_gbps > 0) == local);
                CHECK((r.pct_peak > 0) == (local && stated > 0));
                CHECK(r.ceiling_gbps == 0 || local);
                CHECK((r.cache[0] != 0) == (local && stated > 0));
                CHECK_NEAR(r.bytes, stated > 0 || local ? stated : (double)MiB, 0);
                CHECK_NEAR(r.gbps, r.bytes / r.time.median / 1e9, 1e-9);
            }
}

/* Few bytes beside many, or beside arithmetic, are a read-back, not a transfer. */
static void test_read_back()
{
    fake_reset();
    fake_link_rate = 50e9;
    gpumb_result r = copies(GPUMB_MEMORY_PINNED, GPUMB_MEMORY_DEVICE, 2.1 * (double)MiB, 0);
    CHECK(r.pct_link == 0 && r.pct_peak > 0 && r.to_device == 0 && !r.link[0]);
    r = copies(GPUMB_MEMORY_PINNED, GPUMB_MEMORY_DEVICE, 0, 1e6);
    CHECK(r.pct_link == 0 && r.pct_peak > 0 && r.bytes == 0);
    r = copies(GPUMB_MEMORY_PINNED, GPUMB_MEMORY_DEVICE, 1.9 * (double)MiB, 1e6);
    CHECK(r.pct_link > 0 && r.pct_peak == 0);
}

static gpumb_result states(double to_device, double to_host, double bytes, double seconds,
                           const char *csv = nullptr)
{
    gpumb *g = open(csv);
    gpumb_set_transfer(g, to_device, to_host);
    gpumb_set_bytes(g, bytes);
    GPUMB_MEASURE(g, "stated")
        fake_run(seconds);
    const gpumb_result r = *gpumb_last_result(g);
    gpumb_close(g);
    CHECK(fake_clean());
    return r;
}

static void test_stated()
{
    fake_reset();
    fake_link_rate = 50e9;
    gpumb_result r = states(1e8, 0, 0, 4e-3);
    CHECK_NEAR(r.pct_link, 50, 0.1);
    CHECK_NEAR(r.gbps, 25, 0.1);
    CHECK(r.pct_peak == 0 && r.peak_gbps == 0 && r.pct_ceiling == 0);
    r = states(1e8, 1.5e8, 0, 4e-3); // both at once: each way has the link's rate
    CHECK_NEAR(r.pct_link, 75, 0.1);
    CHECK_NEAR(r.gbps, 62.5, 0.1);
    CHECK(!(r.flags & GPUMB_FLAG_ABOVE_PEAK));
    r = states(0, 2.1e8, 5, 4e-3);
    CHECK_NEAR(r.bytes, 5, 0);
    CHECK(r.pct_link > 100 && (r.flags & GPUMB_FLAG_ABOVE_PEAK));

    // in the file, in columns of its own; gpumb_set_transfer() is for the next region only
    const std::string folder = make_folder("gpumb-memory"), name = folder + "/rows.csv";
    const char *const csv = name.c_str();
    states(1e8, 3e7, 0, 4e-3, csv);
    CHECK_STR(fake_csv(csv, 0, "to_device_bytes"), "100000000");
    CHECK_STR(fake_csv(csv, 0, "to_host_bytes"), "30000000");
    CHECK_STR(fake_csv(csv, 0, "link"), "Fake 5.0 x16");
    CHECK_STR(fake_csv(csv, 0, "link_gbps"), "50");
    CHECK_NEAR(atof(fake_csv(csv, 0, "pct_link")), 50, 0.1);
    CHECK_STR(fake_csv(csv, 0, "peak_gbps"), "");
    CHECK_STR(fake_csv(csv, 0, "pct_peak"), "");
    states(0, 0, 1e8, 4e-3, csv);
    CHECK_STR(fake_csv(csv, 0, "link"), "");
    CHECK_STR(fake_csv(csv, 0, "pct_link"), "");
    CHECK(atof(fake_csv(csv, 0, "pct_peak")) > 0);
    CHECK(remove_folder(folder));

    fake_link_rate = 0; // unknown: neither share
    r = states(1e8, 0, 0, 4e-3);
    CHECK(r.pct_link == 0 && r.link_gbps == 0 && !r.link[0] && r.pct_peak == 0 && r.gbps > 24);
    CHECK_NEAR(r.to_device, 1e8, 0);

    for (const double bad : {-1.0, (double)NAN, (double)INFINITY}) {
        r = states(bad, 0, 0, 4e-3);
        CHECK_INT(r.status, GPUMB_STATUS_FAILED);
        CHECK(has(r.reason, "gpumb_set_transfer(): bytes can't be "));
        r = states(0, bad, 0, 4e-3);
        CHECK_INT(r.status, GPUMB_STATUS_FAILED);
    }
}

static void show_rows()
{
    gpumb_settings s = gpumb_settings_default();
    s.warmup_s = -1;
    s.min_samples = s.max_samples = 6;
    gpumb *g = gpumb_open_settings("memory", &s);
    for (int i = 0; i < 4; i++) {
        gpumb_set_bytes(g, 1e8);
        if (i % 4 == 1 || i % 4 == 2)
            gpumb_set_transfer(g, 1e8, 0);
        GPUMB_MEASURE(g, "row")
            fake_run(4e-3);
    }
    gpumb_close(g);
}

/* The heading says what the share is of, anew where that changes. */
static void test_table()
{
    fake_reset();
    fake_link_rate = 50e9;
    const std::string text = printed(show_rows);
    CHECK(has(text, "\n  link to the host Fake 5.0 x16, 50.0 GB/s each way\n"));
    CHECK_INT(times_in(text, "% peak\n"), 2);
    CHECK_INT(times_in(text, "% link\n"), 1);
}

int main()
{
    test_poison();
    test_no_such_kind();
    test_kinds();
    test_staging();
    test_no_room();
    test_managed_limit();
    test_advice();
    test_copies();
    test_read_back();
    test_stated();
    test_table();
    return CHECK_SUMMARY();
}

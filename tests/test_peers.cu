// test_peers.cu - the kernels of bench/peer_*.h against bytes that the host knows, at awkward sizes
// and on whatever backend this is built for; their checks against wrong bytes; rows whose bytes are
// wrong. On the CPU two devices are pretended. test_pair.sh runs the programs.
#include "gpumb.h"

#include "check.h"

#include "../bench/peer_copies.h"
#include "../bench/peer_packets.h"
#include "../bench/peer_waits.h"

// ---- copies -------------------------------------------------------------------------------------

static void *const no_stream = NULL;

static word wrong_words(const void *at, uint64_t bytes, uint64_t words, uint32_t seed)
{
    word wrong = 0;
    void *count = memory_on(0, sizeof wrong);
    copy_now(count, &wrong, sizeof wrong);
    LAUNCH_ON(no_stream, check_pattern, 3, 64, (const uint32_t *)at, bytes, words, seed,
              (word *)count);
    wait_for(no_stream);
    copy_now(&wrong, count, sizeof wrong);
    free_on(0, count);
    return wrong;
}

static void test_copies(int form)
{
    const uint64_t sizes[] = {0,     1,    3,    4,        15,       16,           17,
                              4096,  4099, BULK, BULK - 1, BULK + 1, 9 * BULK + 5, 70 * 16 + 7,
                              100003};
    const uint64_t elem = form == ELEMENTS_4 ? 4 : form == ELEMENTS_8 ? 8 : 16;
    for (uint64_t size : sizes)
        for (uint64_t blocks : {1, 3, 8}) {
            const uint64_t bytes = form < WORDS_1 ? size / elem * elem : size;
            const uint64_t words = (bytes + GUARD + 3) / 4;
            void *in = memory_on(0, 4 * words), *out = memory_on(0, 4 * words);
            std::vector<uint32_t> found(words);
            LAUNCH_ON(no_stream, fill_pattern, 3, 64, (uint32_t *)in, words, 7u);
            set_bytes(no_stream, out, 0xff, 4 * words);
            launch_copy(no_stream, form, blocks, in, out, bytes);
            wait_for(no_stream);
            copy_now(found.data(), out, 4 * words);
            bool right = true;
            for (uint64_t i = 0; i < 4 * words && right; i++) {
                const uint32_t word_i = i < bytes ? hash_of(i / 4, 7) : ~0u;
                right = ((const unsigned char *)found.data())[i] ==
                        (unsigned char)(word_i >> (8 * (i % 4)));
            }
            CHECK_CASE(right, "%s, %llu bytes, %llu blocks", form_names[form],
                       (unsigned long long)bytes, (unsigned long long)blocks);
            CHECK_INT(wrong_words(out, bytes, words, 7), 0);
            free_on(0, in);
            free_on(0, out);
        }
}

static void test_pattern_check()
{
    enum { BYTES = 1003, WORDS = (BYTES + GUARD + 3) / 4 };
    std::vector<uint32_t> x(WORDS);
    void *at = memory_on(0, 4 * WORDS);
    LAUNCH_ON(no_stream, fill_pattern, 2, 32, (uint32_t *)at, (uint64_t)WORDS, 1u);
    wait_for(no_stream);
    CHECK(wrong_words(at, BYTES, WORDS, 1) > 0); // no poison behind
    copy_now(x.data(), at, 4 * WORDS);
    memset((char *)x.data() + BYTES, 0xff, 4 * WORDS - BYTES);
    copy_now(at, x.data(), 4 * WORDS);
    CHECK_INT(wrong_words(at, BYTES, WORDS, 1), 0);
    CHECK(wrong_words(at, BYTES, WORDS, 2) > 200);
    CHECK_INT(wrong_words(at, BYTES - 1, WORDS, 1), 1);
    CHECK_INT(wrong_words(at, BYTES + 1, WORDS, 1), 1);
    for (size_t byte :
         {size_t(0), size_t(500), size_t(BYTES - 1), size_t(BYTES), size_t(4 * WORDS - 1)}) {
        std::vector<uint32_t> y(x);
        ((unsigned char *)y.data())[byte] ^= 4;
        copy_now(at, y.data(), 4 * WORDS);
        CHECK_CASE(wrong_words(at, BYTES, WORDS, 1) == 1, "byte %d", (int)byte);
    }
    free_on(0, at);
}

// ---- pieces -------------------------------------------------------------------------------------

static void test_pieces()
{
    for (unsigned apart : {8u, 16u})
        for (unsigned piece : {1u, 2u, 4u, 6u, 8u})
            for (uint64_t lines : {1, 31, 1000}) {
                const pieces p = {lines, piece, apart, 2};
                std::vector<uint4> x((size_t)(lines * apart));
                void *at = memory_on(0, 16 * x.size()), *sum = memory_on(0, sizeof(word));
                word got = 0, wanted = 0;
                set_bytes(no_stream, at, 0xff, 16 * x.size());
                set_bytes(no_stream, sum, 0, sizeof(word));
                LAUNCH_ON(no_stream, write_pieces, 3, 64, (uint4 *)at, p, 9u);
                LAUNCH_ON(no_stream, read_pieces, 3, 64, (const uint4 *)at, p, (word *)sum);
                wait_for(no_stream);
                copy_now(x.data(), at, 16 * x.size());
                copy_now(&got, sum, sizeof got);
                bool right = true;
                for (size_t i = 0; i < x.size(); i++) {
                    const bool in = i % apart < piece;
                    const uint32_t h = hash_of(i, 9);
                    right = right && x[i].x == (in ? h : ~0u) && x[i].y == (in ? ~h : ~0u) &&
                            x[i].z == (in ? h + 1 : ~0u) && x[i].w == (in ? h ^ 9 : ~0u);
                    for (unsigned round = 0; round < 2 && in; round++)
                        wanted += (word)(h ^ round) + ~h + (h + 1) + (h ^ 9);
                }
                CHECK_CASE(right && got == wanted, "%u of %u, %d lines", piece, apart, (int)lines);
                CHECK_INT(bytes_of(p), 32 * lines * piece);
                free_on(0, at);
                free_on(0, sum);
            }
}

// ---- waiting ------------------------------------------------------------------------------------

// A number that is there already is answered; one that never comes is given up.
static void test_bounce()
{
    word *words = (word *)memory_on(0, 4 * sizeof(word)), x[4];
    for (int first = 0; first < 2; first++)
        for (word there = 0; there < 3; there++) {
            const word start[4] = {there, 77, 0, 0};
            copy_now(words, start, sizeof start);
            LAUNCH_ON(no_stream, bounce, 1, 1, (const word *)words, words + 1, (word)1, first,
                      ticks_of(1e-3), words + 2);
            wait_for(no_stream);
            copy_now(x, words, sizeof x);
            CHECK_INT(x[2], there);
            CHECK_INT(x[1], first || there == 1 ? 1 : 77);
        }
    free_on(0, words);
}

static void test_follow()
{
    wait_job j;
    memset(&j, 0, sizeof j);
    j.nodes = 1000;
    j.warm = 13;
    j.steps = 50;
    j.samples = 3;
    j.seed = 5;
    j.chain = (word *)memory_on(0, j.nodes * NODE * sizeof(word));
    j.out_a = (word *)memory_on(0, 4 * sizeof(word));
    link_lines(&j);
    std::vector<double> times;
    wait_once(&j, 1e-9, &times);
    CHECK_INT(times.size(), 3);
    CHECK_INT(j.ended, j.expected);
    CHECK(j.ended % NODE == 0 && j.ended / NODE < j.nodes);
    free_on(0, j.chain);
    free_on(0, j.out_a);
}

// ---- rows ---------------------------------------------------------------------------------------

// A row whose bytes are wrong fails.
static void break_it(gpumb *g)
{
    GPUMB_SWEEP_LIST(g, broken, 0, 1) {
        job j = new_job(g, PUSHED, 4099);
        add_flow(&j, 0, 1);
        add_flow(&j, 1, 0);
        if (broken)
            snprintf(j.wrong, sizeof j.wrong, "broken");
        measure_flows(g, "broken", &j);
    }
}

static void test_wrong_bytes(gpumb *g)
{
    job j = new_job(g, PUSHED, 4099);
    add_flow(&j, 0, device_count() > 1);
    CHECK(prepare(&j));
    CHECK(is_right(&j));
    j.seed++;
    CHECK(!is_right(&j));
    CHECK(strstr(j.wrong, "wrong words: "));
    release(&j);
}

static void test_rows()
{
    static const gpumb_benchmark broken[] = {{"peers/broken", "", break_it}};
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.budget_s = 100;
    settings.min_samples = settings.max_samples = 6;
    gpumb *g = gpumb_open_settings("peers", &settings);
    break_it(g);
    CHECK_INT(gpumb_row_count(g), 2);
    CHECK_INT(gpumb_row(g, 0) ? gpumb_row(g, 0)->status : -1, GPUMB_STATUS_OK);
    CHECK_INT(gpumb_row(g, 1) ? gpumb_row(g, 1)->status : -1, GPUMB_STATUS_FAILED);
    CHECK_INT(gpumb_run(g, broken, 1), GPUMB_EXIT_FAILED);
}

int main()
{
    setenv("PRETENDED_DEVICES", "2", 1);
    gpumb *g = gpumb_open(0, NULL);
    for (int form = 0; form < FORMS; form++)
        test_copies(form);
    test_pattern_check();
    test_pieces();
    test_bounce();
    test_follow();
    test_wrong_bytes(g);
    const int devices = device_count();
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_empty(g, 5, 32);
    CHECK_INT(gpumb_close(g), 0);
    if (devices > 1)
        test_rows();
    else
        SKIP("one device");
    return CHECK_SUMMARY();
}

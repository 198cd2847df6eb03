// test_pipeline.cu - bench/pipeline.h: how results are handed over, step by step in any order; both
// kernels in turns, where they can't run at the same time, with awkward geometries; what fails if
// one of them goes wrong. On the CPU two devices are pretended. test_pair.sh runs the program.
#include "gpumb.h"

#include "check.h"

#include "../bench/pipeline_run.h"

// ---- handing over -------------------------------------------------------------------------------

#if defined(GPUMB_BACKEND_CPU)
// Each side tries in an order that is drawn: what is taken is what was put, in its order, once.
template <int signal> static void test_steps(unsigned slots)
{
    enum { RESULTS = 300, BLOCKS = 2, BLOCK = 1 };
    std::vector<word> memory(BLOCKS * LINES * LINE, 0), acks(memory);
    const channel c = {memory.data(), acks.data(), NULL, NULL, slots};
    word seen = 0;
    unsigned put = 0, taken = 0, refused_put = 0, refused_take = 0, random = slots;
    bool right = true;
    while (taken < RESULTS && right) {
        random = random * 1664525u + 1013904223u;
        if (random >> 31 && put < RESULTS) {
            const bool room = has_room<signal>(&c, BLOCK, put, &seen);
            right = room == (put - taken < slots);
            refused_put += !room;
            if (room) {
                put_result<signal>(&c, BLOCK, put, ~put * 2654435761u);
                put++;
            }
        } else {
            unsigned value = 0;
            const bool there = take_result<signal>(&c, BLOCK, taken, &value);
            right = there == (taken < put) && (!there || value == ~taken * 2654435761u);
            refused_take += !there;
            taken += there;
        }
    }
    CHECK_CASE(right, "signal %d, %u slots: %u put, %u taken", signal, slots, put, taken);
    CHECK(refused_put > 0 && refused_take > 0);
    for (unsigned line = 0; line < LINES * LINE; line++) // nothing of another block's
        CHECK(memory[line] == 0 && acks[line] == 0);
}
#endif

// ---- the kernels --------------------------------------------------------------------------------

static pipe_job job_of(unsigned blocks, unsigned threads, unsigned results, unsigned words)
{
    pipe_job j;
    memset(&j, 0, sizeof j);
    j.blocks = blocks;
    j.threads = threads;
    j.results = results;
    j.words = words;
    j.seed = 3;
    return j;
}

static void test_geometries()
{
    const unsigned some[][4] = {{1, 1, 1, 1},  {1, 1, 5, 3},   {2, 2, 9, 1},    {3, 32, 4, 17},
                                {5, 64, 3, 7}, {2, 16, 20, 4}, {1, 128, 2, 300}};
    for (const unsigned *s : some) {
        pipe_job j = job_of(s[0], s[1], s[2], s[3]);
        CHECK(prepare(&j));
        for (const handing &how : forms)
            CHECK_CASE(is_right(&j, &how), "%s, %u x %u, %u results, %u words: %s", how.name, s[0],
                       s[1], s[2], s[3], j.trouble);
        release(&j);
    }
}

// What the averages and the output have to be, from a host's walk over the input.
static void test_expected()
{
    pipe_job j = job_of(2, 4, 3, 5);
    CHECK(prepare(&j) && is_right(&j, &forms[1]));
    std::vector<float> in(6 * 20), out(6 * 20);
    copy_now(in.data(), j.in, in.size() * sizeof(float));
    copy_now(out.data(), j.out, out.size() * sizeof(float));
    int same = 0;
    for (size_t c = 0; c < 6; c++) {
        double sum = 0;
        for (size_t i = 0; i < 20; i++)
            sum += (double)in[20 * c + i];
        for (size_t i = 0; i < 20; i++)
            CHECK(out[20 * c + i] >= (float)(sum / 20) && out[20 * c + i] <= (float)(sum / 20));
        same += out[20 * c] >= out[0] && out[20 * c] <= out[0];
    }
    CHECK(same < 6);
    release(&j);
}

static void test_wrong()
{
    pipe_job j = job_of(3, 16, 6, 9);
    CHECK(prepare(&j));
    for (const handing &how : forms) {
        CHECK(is_right(&j, &how));
        word broken = 0;
        copy_now(&broken, j.in, sizeof broken);
        const word kept = broken;
        broken ^= 0x00400000; // of the first number
        copy_now(j.in, &broken, sizeof broken);
        if (how.signal == APART) { // each side by itself
            CHECK(!is_right(&j, &how));
        } else {
            CHECK(!is_right(&j, &how));
            CHECK(strstr(j.trouble, "wrong elements: "));
        }
        copy_now(j.in, &kept, sizeof kept);
    }
    // a word behind the output
    CHECK(is_right(&j, &forms[1]));
    const unsigned touched = 0;
    copy_now(j.out + chunks_of(&j) * j.words * 4 + GUARD - 1, &touched, sizeof touched);
    CHECK_INT(wrong_elements(&j, CONSUMER), 1);
    // a side that is not done
    pass p;
    CHECK(look_at(&j, CONSUMER, 1e-9, &p));
    word state = j.results - 1;
    copy_now(&j.states[CONSUMER][2 * STATE + DONE], &state, sizeof state);
    CHECK(!look_at(&j, CONSUMER, 1e-9, &p));
    CHECK_STR(j.trouble, "block 2 of the consumer has done 5 of 6");
    release(&j);
}

#if defined(GPUMB_BACKEND_CPU)
// Launched once each, neither is ahead of the other by more than there are slots; alone, neither
// gets anywhere.
static void test_turns()
{
    pipe_job j = job_of(2, 8, 40, 2);
    CHECK(prepare(&j));
    for (unsigned slots : {1u, 2u, 8u}) {
        const channel c = {j.channel[CONSUMER], j.channel[PRODUCER], j.channel[PRODUCER],
                           j.channel[CONSUMER], slots};
        for (int d = 0; d < SIDES; d++) {
            set_bytes(NULL, j.channel[d], 0, channel_bytes(&j));
            set_bytes(NULL, j.states[d], 0, j.blocks * STATE * sizeof(word));
        }
        word before = 0;
        int turns = 0;
        while (j.states[CONSUMER][DONE] < j.results && turns++ < 60) {
            launch_both<PACKED>(&j, &c, 0);
            const word put = j.states[PRODUCER][DONE], taken = j.states[CONSUMER][DONE];
            CHECK(put >= taken && put - taken <= slots);
            CHECK(taken - before <= slots);
            before = taken;
        }
        CHECK_INT(j.states[CONSUMER][DONE], j.results);
        CHECK(turns >= (int)(40 / slots));
    }
    release(&j);
}
#endif

int main()
{
    setenv("PRETENDED_DEVICES", "2", 1);
    gpumb *g = gpumb_open(0, NULL);
    const int devices = device_count();
#if defined(GPUMB_BACKEND_CPU)
    for (unsigned slots : {1u, 2u, 3u, 8u}) {
        test_steps<FLAGGED>(slots);
        test_steps<PACKED>(slots);
    }
    test_turns();
#endif
    if (devices > 1 && can_reach(0, 1) && can_reach(1, 0)) {
        let_reach(PRODUCER, CONSUMER, 1);
        let_reach(CONSUMER, PRODUCER, 1);
        test_geometries();
        test_expected();
        test_wrong();
        use_device(gpumb_get_device(g)->ordinal);
    } else {
        SKIP("no two devices that reach each other's memory");
    }
    gpumb_result r;
    GPUMB_TIME(&r)
        gpumb_empty(g, 5, 32);
    CHECK_INT(gpumb_close(g), 0);
    return CHECK_SUMMARY();
}

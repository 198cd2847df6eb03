/* tensor.cpp - the chains of bench/tensor.cu as AMD machine code, with the matrices that the
 * benchmark gives them and the sums that it demands.
 *
 *     tensor OBJECT LISTING SEED
 */
#define GPUMB_STATIC
#define GPUMB_IMPLEMENTATION
#include "../../gpumb.h"

#include "../../bench/bench.h"
#include "../../bench/tensor_chain.h"
#include "../check.h"
#include "machine.h"

/* Whether all sums of a chain come out, -1: it does not run; `turned`: where one element of A, B or
 * -B has the other sign, so that they must not. */
static int right(Machine *machine, int type, int data, u32 blocks, unsigned turns, int turned)
{
    const int block = 256;
    trial t = new_trial(MFMA, type, data, blocks * block / 64, turns + 1, turns);
    const std::vector<unsigned> words = words_of_lanes(&t);
    Buffer &in = machine->buffer(words.size() * 4), &took = machine->buffer(16 * blocks);
    Buffer &out = machine->buffer(t.groups * sums_of(&t) * sum_bytes(&t));
    memcpy(in.bytes.data(), words.data(), words.size() * 4);
    if (turned)
        in.bytes[below(in.bytes.size()) | 7] ^= 0x80;
    machine->weak = below(2);
    const std::string name = "5chainILi" + std::to_string(type) + "EE";
    double wanted = 0;
    try {
        machine->launch(name, blocks, 1, block, 0, &in, &out, &took, turns);
    } catch (const std::exception &e) {
        printf("%s: %s\n", types[type], e.what());
        machine->buffers.clear();
        return -1;
    }
    const i64 wrong = first_wrong(&t, out.as<unsigned>(), &wanted);
    if (wrong >= 0 && !turned)
        printf("%s: sum %lld is %.9g, not %.9g\n", types[type], static_cast<long long>(wrong),
               sum_at(&t, out.as<unsigned>(), static_cast<u64>(wrong)), wanted);
    machine->buffers.clear();
    return wrong < 0;
}

int main(int count, char **argument)
{
    Machine machine;
    if (count != 4) {
        fprintf(stderr, "tensor: OBJECT LISTING SEED\n");
        return 2;
    }
    if (!CHECK(machine.start(argument)))
        return CHECK_SUMMARY();
    for (int type : {F16, BF16_TYPE, TF32, F64, I8}) {
        if (type == TF32 && machine.target != GFX942)
            continue;
        for (unsigned turns : {0u, 1u, 3u})
            for (int data = 0; data < 2; data++)
                CHECK(right(&machine, type, data, 2, turns, 0) == 1);
        CHECK(right(&machine, type, 1, 1, 1, 1) == 0); /* not whatever comes out */
    }
    std::string made_of;
    for (const std::string &name : machine.mnemonics)
        if (name.find("v_mfma_") == 0)
            made_of += " " + name;
    printf("made of%s\n", made_of.c_str());
    return CHECK_SUMMARY();
}

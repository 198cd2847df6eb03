// tries: to work in the memory of two runs ago, since buffers go back and forth between two
// strict: caught: writes nothing when timed | bits are right | to other memory
#include "../honest.h"

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    static const float *inputs[2];
    static float *outputs[2];
    static int runs;
    const int slot = runs++ % 2;
    if (!inputs[slot] || outputs[slot] == out) {
        inputs[slot] = in;
        outputs[slot] = out;
    }
    honest(inputs[slot], outputs[slot], n);
}

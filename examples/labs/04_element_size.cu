/* Lab 4: the size of an element.
 *
 * Question: the same bytes are copied as elements of 1, 2, 4, 8 and 16 bytes, one a thread. A warp
 * then asks for 32 to 512 bytes at a time. Which sizes reach the memory's rate, and why not all?
 * Change: let each thread copy 4 elements, n / 4 apart. Which sizes gain? */
#include "lab.h"

template <class T> __global__ void copy(const T *in, T *out, uint64_t n)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

enum { EACH = 256 }; /* elements of a block */
#define TYPES uint8_t, uint16_t, unsigned, uint2, uint4

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {1, 2, 4, 8, 16};
    gpumb *g = gpumb_open(argc, argv);
    const uint64_t words = lab_gpu(g) ? 1u << 26 : 1u << 14;
    gpumb_buffer *in = lab_words(g, words), *out = gpumb_alloc(g, 4 * words);
    lab_pair pair = {out, in};
    GPUMB_SWEEP_TYPES(g, type, TYPES) {
        const uint64_t n = 4 * words / sizes[type];
        gpumb_set_bytes(g, 8.0 * (double)words);
        gpumb_set_elements(g, (double)n);
        gpumb_set_output(g, out);
        gpumb_set_verify(g, lab_same, &pair);
        GPUMB_MEASURE(g, "copy")
            GPUMB_FOR_TYPES(
                type, T, (TYPES),
                GPUMB_LAUNCH((copy<T>), n / EACH, 256, 0, GPUMB_PTR(T, in), GPUMB_PTR(T, out), n));
    }
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        gpumb_note(g, "%2d bytes: %.0f GB/s, %.0f elements and %.2f blocks a ns",
                   1 << gpumb_row_axis(g, i, "type"), gpumb_row(g, i)->gbps,
                   gpumb_row(g, i)->elements_per_s / 1e9,
                   gpumb_row(g, i)->elements_per_s / 1e9 / (double)EACH);
    return lab_close(g, __FILE__);
}

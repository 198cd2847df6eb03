/* Lab 3, changed: a thread copies 4 words, and loads all before it stores the first. */
#include "../lab.h"

__global__ void copy(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, part = n / 4;
    unsigned own[4];
    for (unsigned k = 0; k < 4; k++)
        own[k] = in[i + k * part];
    for (unsigned k = 0; k < 4; k++)
        out[i + k * part] = own[k];
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    const unsigned n = lab_gpu(g) ? 1u << 26 : 1u << 16;
    gpumb_buffer *in = lab_words(g, n), *out = gpumb_alloc(g, 4 * (uint64_t)n);
    lab_pair pair = {out, in};
    GPUMB_SWEEP_LIST(g, block, 64, 256, 1024)
        GPUMB_SWEEP_LIST(g, shared_kib, 0, 8, 16, 32, 48) {
            gpumb_set_bytes(g, 8.0 * n);
            gpumb_set_output(g, out);
            gpumb_set_verify(g, lab_same, &pair);
            GPUMB_MEASURE(g, "copy")
                GPUMB_LAUNCH(copy, n / 4 / block, block, 1024 * (unsigned)shared_kib,
                             GPUMB_PTR(unsigned, in), GPUMB_PTR(unsigned, out), n);
        }
    double best = 0, enough = 1;
    for (size_t i = 0; i < gpumb_row_count(g); i++)
        best = gpumb_row(g, i)->gbps > best ? gpumb_row(g, i)->gbps : best;
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        if (r->gbps >= 0.95 * best && r->occupancy > 0 && r->occupancy < enough)
            enough = r->occupancy;
    }
    if (lab_gpu(g) && best > 0)
        gpumb_note(g, "The best is %.0f GB/s; 95 %% of that take an occupancy of %.0f %%.", best,
                   100 * enough);
    for (size_t i = 0; i < gpumb_row_count(g) && lab_gpu(g); i++)
        if (gpumb_row(g, i)->occupancy > 0)
            gpumb_note(g, "block %lld, %lld KiB: occupancy %.0f %%, %.0f GB/s",
                       (long long)gpumb_row_axis(g, i, "block"),
                       (long long)gpumb_row_axis(g, i, "shared_kib"),
                       100 * gpumb_row(g, i)->occupancy, gpumb_row(g, i)->gbps);
    return lab_close(g, __FILE__);
}

/* 09: kernels in SYCL beside gpumb's own of the same geometry, in one table: see sycl.md. */
#define ACPP_ALLOW_INSTANT_SUBMISSION 1 /* launches at once, in this thread: it may be capturing */
#include "09_sycl.h"
#include "09_sycl_compiler.h"
#include "gpumb.h"

struct job {
    sycl::queue *queue;
    int64_t work;
    uint64_t n;
    gpumb_reduction sum = gpumb_reduction_default();
    gpumb_nbody nbody = gpumb_nbody_default();
    gpumb_buffer *in = NULL, *out = NULL, *room = NULL;
};

static void run_own(gpumb *g, const job &j)
{
    const void *in = gpumb_data(j.in);
    void *out = gpumb_data(j.out);
    if (j.work == ZCOPY)
        gpumb_zcopy(g, GPUMB_FORM_NAIVE, GPUMB_READ_WRITE, 16, j.n / 4, j.sum.blocks, block, in,
                    out);
    else if (j.work == NBODY)
        gpumb_nbody_accelerations(g, &j.nbody, j.n, in, out, j.room);
    else
        gpumb_reduce(g, &j.sum, j.n, in, out, j.room);
}

static int is_right(gpumb *g, const job &j)
{
    gpumb_copy_check copied = {j.in, j.out, sizeof(int) * j.n, GPUMB_READ_WRITE};
    gpumb_reduction_check summed = {&j.sum, j.in, j.out, j.n};
    gpumb_nbody_check attracted = {&j.nbody, j.in, j.out, j.n, 64};
    return j.work == ZCOPY   ? gpumb_check_copy(g, &copied)
           : j.work == NBODY ? gpumb_check_nbody(g, &attracted)
                             : gpumb_check_reduction(g, &summed);
}

static int check(gpumb *g, void *user)
{
    const job &j = *(const job *)user;
    if (is_right(g, j))
        return 1;
    j.queue->wait(); /* for what the queue has kept back, or launched elsewhere */
    if (!j.queue->is_in_order() || is_right(g, j))
        gpumb_reason(g, "it works on another stream than gpumb_stream(), or later: see sycl.md");
    return 0;
}

static void describe(gpumb *g, job *j)
{
    const double n = (double)j->n;
    gpumb_set_bytes(g, j->work == ZCOPY ? 8 * n : j->work == NBODY ? 0 : 4 * n);
    gpumb_set_flop(g, j->work == NBODY ? 20 * n * n : 0);
    gpumb_set_output(g, j->out);
    gpumb_set_verify(g, check, j);
    gpumb_set_capturable(g, 1); /* SYCL's launches get their span, as those of GPUMB_LAUNCH do */
}

int main(int argc, char **argv)
{
    gpumb *g = gpumb_open(argc, argv);
    if (!gpumb_ok(g)) /* --help, a wrong option, no device */
        return gpumb_close(g);
    sycl::queue queue{{sycl::property::queue::in_order(), /* one stream, and no event a launch */
                       sycl::property::queue::AdaptiveCpp_coarse_grained_events()}};
    void *stream = stream_of(queue);
    if (stream)
        gpumb_set_stream(g, stream);
    GPUMB_SWEEP_NAMES(g, work, "zcopy", "tree", "group", "nbody")
        GPUMB_SWEEP_LIST(g, n, 1 << 12, 1 << 20, 1 << 26) {
            if (work == NBODY && n > 1 << 18)
                continue;
            job j{&queue, work, (uint64_t)n};
            j.sum.type = GPUMB_I32;
            j.sum.form = GPUMB_FORM_NAIVE;
            j.sum.combine = work == TREE ? GPUMB_COMBINE_TREE : GPUMB_COMBINE_SHUFFLE_DOWN;
            j.sum.block = j.nbody.block = block;
            j.sum.blocks = 8 * (uint64_t)gpumb_get_device(g)->multiprocessors;
            j.nbody.splits = 1;
            const uint64_t each = work == NBODY ? sizeof(sycl::float4) : sizeof(int);
            j.in = gpumb_alloc(g, each * j.n);
            j.out = gpumb_alloc(g, each * j.n);
            j.room = gpumb_reduction_workspace(g, &j.sum, j.n);
            gpumb_fill(g, j.in, work == NBODY ? GPUMB_FILL_F32 : GPUMB_FILL_BITS, 1);
            GPUMB_INTERLEAVE(g) {
                describe(g, &j);
                GPUMB_MEASURE(g, own_name)
                    run_own(g, j);
                describe(g, &j);
                GPUMB_MEASURE(g, "SYCL, " COMPILER) {
                    run(queue, j.work, j.sum.blocks, j.n, j.nbody.softening, gpumb_data(j.in),
                        gpumb_data(j.out));
                    if (!stream)
                        queue.wait(); /* on the CPU */
                }
            }
        }
    return gpumb_close(g);
}

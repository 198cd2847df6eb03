/* ranks.cu - bandwidth and latency between two ranks of a job, of one node or of two: there and
 * back, one way, both ways, through MPI with buffers in the host's memory, on the device where the
 * MPI can, and staged through the host by hand; and through NCCL, where it was there to build with.
 *
 *     mpirun -n 2 build/cuda/ranks --csv ranks.csv
 *
 * Besides gpumb's options: --limit SECONDS (1200) ends it where an MPI waits for ever, and
 * --device-pointers says that the MPI takes pointers to the device's memory, where it does and
 * can't be asked, as with UCX.
 *
 * Rank 0 measures with each other rank in turn, which does what rank 0's orders say. A rank takes
 * the device at its place on its node. */
#define GPUMB_IMPLEMENTATION /* of its own, for so many devices: */
#define GPUMB_CPU_DEVICES 64 /* one a rank, where there is no GPU */
#define GPUMB_NO_KERNELS
#define OMPI_SKIP_MPICXX 1 /* the C interface */
#define MPICH_SKIP_MPICXX 1
#include "gpumb.h"

#include <algorithm>
#include <mpi.h>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#ifdef RANKS_NCCL
#include <nccl.h>
#endif

enum { WORDS_TO_PEER = 1, DATA = 2, WINDOW = 16, SAMPLES = 30 };
enum { HOST, DEVICE, STAGED };
enum { THERE_AND_BACK, ONE_WAY, BOTH_WAYS, ECHO, GOOD_BYE };

typedef struct order {
    int what, memory, nccl, rounds;
    long long bytes;
} order;

typedef struct end {
    gpumb_buffer *out, *in;
} end;

static gpumb *context;
static end ends[2];                           /* in the host's memory, on the device */
static std::vector<unsigned char> staging[2]; /* to send from, to receive into */
static long long largest;
static int rank, ranks;
static int device_fine = 1, mpi_takes_device, nccl_fine;
#ifdef RANKS_NCCL
static ncclComm_t nccl;
#endif

/* ---- what both ranks do ---------------------------------------------------------------------- */

/* Whether this MPI takes pointers to memory of the device. */
static int takes_device_pointers(void)
{
#if defined(GPUMB_BACKEND_CPU)
    return 1;
#elif defined(GPUMB_BACKEND_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support();
#elif defined(GPUMB_BACKEND_HIP) && defined(MPIX_ROCM_AWARE_SUPPORT)
    return MPIX_Query_rocm_support();
#else
    return 0;
#endif
}

static void *to_send(const order *o)
{
    if (o->memory != STAGED)
        return gpumb_data(ends[o->memory].out);
    gpumb_read(context, ends[DEVICE].out, 0, staging[0].data(), (uint64_t)o->bytes);
    return staging[0].data();
}

static void *to_receive(const order *o)
{
    return o->memory == STAGED ? staging[1].data() : gpumb_data(ends[o->memory].in);
}

static void received(const order *o)
{
    if (o->memory == STAGED)
        gpumb_write(context, ends[DEVICE].in, 0, staging[1].data(), (uint64_t)o->bytes);
}

static void send(const order *o, int peer)
{
    MPI_Send(to_send(o), (int)o->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
}

static void receive(const order *o, int peer)
{
    MPI_Recv(to_receive(o), (int)o->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received(o);
}

static void wait_for_stream(void)
{
#if defined(GPUMB_BACKEND_CUDA)
    cudaStreamSynchronize((cudaStream_t)gpumb_stream(context));
#elif defined(GPUMB_BACKEND_HIP)
    (void)hipStreamSynchronize((hipStream_t)gpumb_stream(context));
#endif
}

#ifdef RANKS_NCCL
static void exchange_by_nccl(const order *o, int peer)
{
    const cudaStream_t stream = (cudaStream_t)gpumb_stream(context);
    void *out = gpumb_data(ends[DEVICE].out), *in = gpumb_data(ends[DEVICE].in);
    for (int i = 0; i < o->rounds; i++) {
        const int first = !rank || o->what == BOTH_WAYS;
        const int second = rank || o->what != ONE_WAY;
        if (o->what == BOTH_WAYS)
            ncclGroupStart();
        if (first)
            ncclSend(out, (size_t)o->bytes, ncclChar, peer, nccl, stream);
        if (second)
            ncclRecv(in, (size_t)o->bytes, ncclChar, peer, nccl, stream);
        if (rank && o->what == THERE_AND_BACK)
            ncclSend(out, (size_t)o->bytes, ncclChar, peer, nccl, stream);
        if (o->what == BOTH_WAYS)
            ncclGroupEnd();
    }
    wait_for_stream();
}
#endif

/* So many rounds of the order; rank 0 begins. One way ends with a word from the receiver. */
static void exchange(const order *o, int peer)
{
    MPI_Request request[2 * WINDOW];
#ifdef RANKS_NCCL
    if (o->nccl) {
        exchange_by_nccl(o, peer);
        return;
    }
#endif
    if (o->what == THERE_AND_BACK) {
        for (int i = 0; i < o->rounds; i++) {
            if (!rank)
                send(o, peer);
            receive(o, peer);
            if (rank)
                send(o, peer);
        }
        return;
    }
    const int sends = !rank || o->what == BOTH_WAYS, receives = rank || o->what == BOTH_WAYS;
    for (int i = 0, n = 0; i < o->rounds; i++) {
        if (receives)
            MPI_Irecv(to_receive(o), (int)o->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD,
                      &request[n++]);
        if (sends)
            MPI_Isend(to_send(o), (int)o->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD,
                      &request[n++]);
        if (n >= WINDOW || i + 1 == o->rounds || o->memory == STAGED) {
            MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
            n = 0;
            if (receives)
                received(o);
        }
    }
    if (o->what == ONE_WAY) {
        char word = 0;
        if (rank)
            MPI_Send(&word, 1, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
        else
            MPI_Recv(&word, 1, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* ---- the other ranks ------------------------------------------------------------------------- */

static end *end_of(const order *o)
{
    return &ends[o->memory == HOST ? HOST : DEVICE];
}

/* What came last goes back, for rank 0 to compare it. */
static void echo(const order *o)
{
    gpumb_memcpy(context, gpumb_data(end_of(o)->out), gpumb_data(end_of(o)->in),
                 (uint64_t)o->bytes);
    wait_for_stream();
}

static void follow_orders(void)
{
    for (;;) {
        order o;
        MPI_Recv(&o, (int)sizeof o, MPI_BYTE, 0, WORDS_TO_PEER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (o.what == GOOD_BYE)
            return;
        if (o.what == ECHO) { /* of what the order before left; poisoned behind that */
            echo(&o);
            o.memory = o.memory == HOST ? HOST : STAGED;
            send(&o, 0);
            gpumb_poison(context, end_of(&o)->in);
            gpumb_fill(context, end_of(&o)->out, GPUMB_FILL_BITS, 1);
            wait_for_stream();
        } else {
            exchange(&o, 0);
        }
    }
}

/* ---- rank 0 ---------------------------------------------------------------------------------- */

static void give(const order *o, int peer)
{
    order now = *o;
    MPI_Send(&now, (int)sizeof now, MPI_BYTE, peer, WORDS_TO_PEER, MPI_COMM_WORLD);
}

/* Seconds of one message: half a round there and back. */
static double time_of(order o, int peer)
{
    give(&o, peer);
    const double start = MPI_Wtime();
    exchange(&o, peer);
    return (MPI_Wtime() - start) / o.rounds / (o.what == THERE_AND_BACK ? 2 : 1);
}

typedef struct link_job {
    order o;
    int peer;
} link_job;

/* Both ranks have the same data to send. What has come, and what the other rank has got, are
 * compared with it, in fresh poison. */
static int check_link(gpumb *g, void *user)
{
    const link_job *j = (const link_job *)user;
    const uint64_t bytes = (uint64_t)j->o.bytes;
    const end *e = end_of(&j->o);
    order o = j->o;
    uint64_t wrong = 0, lost = 0;
    for (int pass = 0; pass < 2; pass++) { /* the first leaves poison over there */
        o.what = ECHO;
        give(&o, j->peer);
        order back = o;
        back.memory = o.memory == HOST ? HOST : STAGED;
        gpumb_poison(g, e->in);
        wait_for_stream();
        receive(&back, j->peer);
        if (pass) {
            wait_for_stream();
            lost = gpumb_compare(g, e->out, e->in, bytes, NULL);
            break;
        }
        gpumb_poison(g, e->in);
        wait_for_stream();
        o.what = j->o.what;
        o.rounds = 2;
        (void)time_of(o, j->peer);
        if (o.what != ONE_WAY)
            wrong = gpumb_compare(g, e->out, e->in, bytes, NULL);
    }
    if (wrong || lost)
        gpumb_reason(g, "wrong bytes: %llu here, %llu there", (unsigned long long)wrong,
                     (unsigned long long)lost);
    return !wrong && !lost;
}

static std::vector<std::string> names;
static std::vector<const char *> peers;

static void measure_messages(gpumb *g, const char *name, const order *wanted, int peer)
{
    static link_job job;
    const gpumb_settings *s = gpumb_get_settings(g);
    order o = *wanted;
    std::vector<double> times;
    if (!gpumb_wants_times(g, name))
        return;
    if (o.memory == DEVICE && !o.nccl && !mpi_takes_device)
        gpumb_skip(g, "this MPI takes no pointers to the device's memory");
    else if (o.nccl && !nccl_fine)
        gpumb_skip(g, "NCCL could not connect all ranks");
    else if (o.bytes > largest)
        gpumb_skip(g, "the buffers have %lld bytes", largest);
    else {
        o.rounds = 2;
        (void)time_of(o, peer);
        const double once = time_of(o, peer), most = s->budget_s / (double)SAMPLES;
        o.rounds = (int)std::max(1.0, std::min(1000.0, std::min(5e-4, most) / once));
        for (int i = 0; i < SAMPLES; i++)
            times.push_back(time_of(o, peer));
    }
    job = {o, peer};
    gpumb_set_bytes(g, (double)o.bytes * (o.what == BOTH_WAYS ? 2 : 1));
    gpumb_set_verify(g, check_link, &job);
    gpumb_add_times(g, name,
                    o.what == THERE_AND_BACK ? GPUMB_MEANING_LATENCY : GPUMB_MEANING_INTERVAL,
                    times.data(), times.size());
}

static void all_links(gpumb *g, int what)
{
    const int64_t top = gpumb_get_settings(g)->full ? 1 << 28 : 1 << 24;
    GPUMB_SWEEP_STRINGS(g, peer, peers.data(), peers.size())
        GPUMB_SWEEP_NAMES(g, memory, "host", "device", "staged")
            GPUMB_SWEEP_FACTOR(g, size, 8, top, 8) {
                order o = {what, (int)memory, 0, 0, (long long)size};
                measure_messages(g, "mpi", &o, (int)peer + 1);
#ifdef RANKS_NCCL
                o.nccl = 1;
                if (memory == DEVICE)
                    measure_messages(g, "nccl", &o, (int)peer + 1);
#endif
            }
}

static void there_and_back(gpumb *g)
{
    all_links(g, THERE_AND_BACK);
}

static void one_way(gpumb *g)
{
    all_links(g, ONE_WAY);
}

static void both_ways(gpumb *g)
{
    all_links(g, BOTH_WAYS);
}

static const gpumb_benchmark benchmarks[] = {
    {"there-and-back", "time of a message: half of what it takes with its answer", there_and_back},
    {"one-way", "messages one after the other, up to 16 under way", one_way},
    {"both-ways", "the same both ways at once", both_ways},
};

/* ---- main ------------------------------------------------------------------------------------ */

static void too_late(int number)
{
    static const char line[] = "ranks: the time limit is over (--limit)\n";
    if (number && write(2, line, sizeof line - 1) > 0)
        _exit(GPUMB_EXIT_ERROR);
    _exit(GPUMB_EXIT_ERROR);
}

static void connect_nccl(void)
{
#ifdef RANKS_NCCL
    ncclUniqueId id;
    if (!rank)
        ncclGetUniqueId(&id);
    MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    nccl_fine = ncclCommInitRank(&nccl, ranks, id, rank) == ncclSuccess;
#endif
    MPI_Allreduce(MPI_IN_PLACE, &nccl_fine, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
}

/* Names of the other ranks: where they are is part of a row's name. */
static void find_peers(int place)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    std::vector<char> hosts((size_t)ranks * sizeof host);
    std::vector<int> places((size_t)ranks);
    MPI_Allgather(host, (int)sizeof host, MPI_BYTE, hosts.data(), (int)sizeof host, MPI_BYTE,
                  MPI_COMM_WORLD);
    MPI_Allgather(&place, 1, MPI_INT, places.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 1; i < ranks; i++) {
        const char *there = &hosts[(size_t)i * sizeof host];
        names.push_back("rank " + std::to_string(i) + " " +
                        (strcmp(there, hosts.data()) ? there : "same node") + " device " +
                        std::to_string(places[(size_t)i]));
    }
    for (const std::string &name : names)
        peers.push_back(name.c_str());
}

int main(int argc, char **argv)
{
    int place = 0, code = 0;
    const char *unknown = NULL;
    MPI_Comm node;
    signal(SIGALRM, too_late);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    alarm(1200);
    if (rank) {
        gpumb_settings s = gpumb_settings_default();
        s.device = place;
        s.quiet = 1;
        context = gpumb_open_settings("ranks", &s);
    } else {
        context = gpumb_open_args(&argc, argv);
        for (int i = 1; i < argc; i++) {
            const int limit = !strcmp(argv[i], "--limit") && i + 1 < argc ? atoi(argv[i + 1]) : 0;
            if (limit > 0)
                alarm((unsigned)atoi(argv[++i]));
            else if (!strcmp(argv[i], "--device-pointers"))
                mpi_takes_device = 1;
            else
                unknown = argv[i];
        }
    }
    find_peers(place);
    largest = !rank && gpumb_get_settings(context)->full ? 1 << 28 : 1 << 24;
    MPI_Bcast(&largest, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    device_fine = gpumb_ok(context);
    for (int kind = HOST; kind <= DEVICE; kind++) {
        ends[kind].out = gpumb_alloc_kind(context, kind ? GPUMB_MEMORY_DEVICE : GPUMB_MEMORY_PINNED,
                                          (uint64_t)largest);
        ends[kind].in = gpumb_alloc_kind(context, kind ? GPUMB_MEMORY_DEVICE : GPUMB_MEMORY_PINNED,
                                         (uint64_t)largest);
        device_fine &= ends[kind].in && ends[kind].out;
        gpumb_fill(context, ends[kind].out, GPUMB_FILL_BITS, 1);
        gpumb_poison(context, ends[kind].in);
        staging[kind].assign((size_t)largest, 0);
    }
    wait_for_stream();
    mpi_takes_device |= takes_device_pointers();
    device_fine &= !unknown;
    MPI_Allreduce(MPI_IN_PLACE, &device_fine, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (ranks < 2 || !device_fine) {
        if (unknown)
            fprintf(stderr, "ranks: %s: no such option, or not a value for it\n", unknown);
        else if (!rank)
            fprintf(stderr,
                    ranks < 2 ? "ranks: needs two ranks and more: mpirun -n 2\n"
                              : "ranks: not all ranks have a device with %lld bytes free: "
                                "start as many on a node as it has\n",
                    4 * largest);
        gpumb_close(context);
        code = ranks < 2 || unknown ? GPUMB_EXIT_USAGE : GPUMB_EXIT_NO_DEVICE;
    } else if (connect_nccl(), !rank) {
        code = gpumb_run(context, benchmarks, sizeof benchmarks / sizeof *benchmarks);
        const order over = {GOOD_BYE, 0, 0, 0, 0};
        for (int i = 1; i < ranks; i++)
            give(&over, i);
    } else {
        follow_orders();
        gpumb_close(context);
    }
    MPI_Finalize();
    return code;
}

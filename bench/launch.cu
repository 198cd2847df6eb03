/* What a launch costs, from a fresh process on, over its arguments and over the launches that are
 * under way. A diamond of four kernels, A before B and C, both before D: in one stream, in two with
 * events, as a graph. */
#define GPUMB_IMPLEMENTATION /* of its own: what a process loads is measured */
#include "gpumb.h"

#include "bench.h"
#include "clock.h"
#include "vendor.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- a kernel that takes arguments and does nothing ------------------------------------------ */

static __device__ unsigned taken; /* by kernels that were asked */

template <int words> struct arguments {
    unsigned word[words];
};

/* The first block does nothing. A second one, in the check alone, adds up what has arrived. */
template <int words> static __global__ void take(const arguments<words> a)
{
    if (blockIdx.x == 1) {
        unsigned sum = 1;
        for (int i = 0; i < words; i++)
            sum += a.word[i] * (unsigned)(i + 1);
        atomicAdd(&taken, sum);
    }
}

static __global__ void take_none()
{
    if (blockIdx.x == 1)
        atomicAdd(&taken, 1u);
}

static __global__ void hand_over(unsigned *out)
{
    *out = taken;
    taken = 0;
}

/* Each kind of arguments is filled once: what is timed is their way to the kernel. */
template <int words> static unsigned launch_with(void *stream, int grid)
{
    static arguments<words> a;
    static unsigned sum;
    if (!sum) {
        sum = 1;
        for (int i = 0; i < words; i++) {
            a.word[i] = (unsigned)(i * i + 7);
            sum += a.word[i] * (unsigned)(i + 1);
        }
    }
    LAUNCH_ON(stream, take<words>, grid, 1, a);
    return sum;
}

static unsigned launch_without(void *stream, int grid)
{
#if defined(RUNTIME)
    take_none<<<(unsigned)grid, 1, 0, (RUNTIME(Stream_t))stream>>>();
#else
    (void)stream;
    GPUMB_LAUNCH(take_none, grid, 1, 0);
#endif
    return 1;
}

/* Bytes of arguments, and what launches a kernel with them: returns what its second block adds. */
typedef struct taker {
    int64_t bytes;
    unsigned (*launch)(void *stream, int grid);
} taker;

static const taker takers[] = {
    {0, launch_without},      {4, launch_with<1>},       {32, launch_with<8>},
    {128, launch_with<32>},   {512, launch_with<128>},   {1024, launch_with<256>},
    {2048, launch_with<512>}, {4096, launch_with<1024>},
};

/* ---- launch/interval ------------------------------------------------------------------------- */

static const char interval_bench[] = "launch/interval";
enum { IN_STREAM, IN_GRAPH };
static const char *const ways[] = {"stream", "graph"};

/* So many launches, one after the other. */
typedef struct series {
    const taker *kernel;
    int64_t count;
    int way;
    void *graph;
    gpumb_buffer *out;
} series;

/* Returns what a kernel of two blocks adds up. */
static unsigned launch_all(gpumb *g, const series *s, int grid)
{
    unsigned sum = 0;
    for (int64_t i = 0; i < s->count; i++)
        sum = s->kernel->launch(gpumb_stream(g), grid);
    return sum;
}

/* The same launches of two blocks, which say what arrived; in a graph if these are. */
static int check_series(gpumb *g, void *user)
{
    const series *s = (const series *)user;
    unsigned got[2] = {0, 0}, wanted = 0;
    for (int i = 0; i < 2; i++) {
        if (i && s->way == IN_GRAPH)
            begin_graph(gpumb_stream(g));
        if (i)
            wanted = (unsigned)s->count * launch_all(g, s, 2);
        if (i && s->way == IN_GRAPH) {
            void *graph = end_graph(gpumb_stream(g));
            run_graph(graph, gpumb_stream(g));
            gpumb_read(g, s->out, 0, got, sizeof got[0]); /* waits */
            free_graph(graph);
        }
        GPUMB_LAUNCH(hand_over, 1, 1, 0, GPUMB_PTR(unsigned, s->out));
        if (gpumb_read(g, s->out, 0, &got[i], sizeof got[i]))
            return 0;
    }
    if (got[0])
        gpumb_reason(g, "kernels of one block have added %u", got[0]);
    else if (got[1] != wanted)
        gpumb_reason(g, "%lld kernels have taken arguments that add up to %u, not %u",
                     (long long)s->count, got[1], wanted);
    return !got[0] && got[1] == wanted;
}

static void measure_series(gpumb *g, series *s)
{
    if (s->way == IN_GRAPH && s->out) {
        begin_graph(gpumb_stream(g));
        (void)launch_all(g, s, 1);
        s->graph = end_graph(gpumb_stream(g));
        if (!s->graph)
            gpumb_skip(g, is_gpu(g) ? "these launches can't be captured" : "graphs need a GPU");
    }
    gpumb_set_elements(g, (double)s->count);
    gpumb_set_timing(g, is_gpu(g) ? GPUMB_TIMING_EVENT : GPUMB_TIMING_AUTO);
    gpumb_set_output(g, s->out);
    gpumb_set_verify(g, check_series, s);
    GPUMB_MEASURE(g, ways[s->way]) {
        if (s->way == IN_GRAPH)
            run_graph(s->graph, gpumb_stream(g));
        else
            (void)launch_all(g, s, 1);
    }
    free_graph(s->graph);
}

/* Seconds that one more launch takes, from the rows with the fewest and with the most launches; 0:
 * unknown. The host launches into a stream, and that it is noisy belongs to the figure. */
static double interval_of(gpumb *g, int64_t way, int64_t bytes)
{
    const rows some = having(having(noisy_too(rows_of(interval_bench, NULL)), "way", way),
                             "argument_bytes", bytes);
    const int64_t first = next_value(g, some, "launches", 0),
                  last = last_value(g, some, "launches");
    if (first < 0 || last < 4 * first)
        return 0;
    return (first_row(g, having(some, "launches", last))->time.median -
            first_row(g, having(some, "launches", first))->time.median) /
           (double)(last - first);
}

static void note_interval(gpumb *g)
{
    for (int way = 0; way < 2; way++) {
        const rows some = having(noisy_too(rows_of(interval_bench, NULL)), "way", way);
        const int64_t least = next_value(g, some, "argument_bytes", -1);
        const int64_t most = last_value(g, some, "argument_bytes");
        const double low = interval_of(g, way, least), high = interval_of(g, way, most);
        const gpumb_result *one =
            first_row(g, having(having(some, "argument_bytes", least), "launches", 1));
        sentence s = no_words();
        if (!(low > 0))
            continue;
        say(&s, "One more launch in a %s takes ", ways[way]);
        say_time(&s, low);
        say(&s, " with %lld bytes of arguments", (long long)least);
        if (high > 0 && most > least) {
            say(&s, ", ");
            say_time(&s, high);
            say(&s, " with %lld", (long long)most);
        }
        if (one) {
            say(&s, "; a single one ");
            say_time(&s, one->time.median);
        }
        gpumb_note(g, "%s.", s.text);
    }
    const double stream = interval_of(g, IN_STREAM, 0), graph = interval_of(g, IN_GRAPH, 0);
    if (stream > 0 && graph > 0)
        gpumb_note(g, "Without arguments a launch in a graph takes %.2f of one in a stream.",
                   graph / stream);
}

static void launch_interval(gpumb *g)
{
    static const int64_t bytes_full[] = {0, 512, 4096}, bytes_cpu[] = {0, 4096};
    static const int64_t bytes_quick[] = {0, 4096};
    static const int64_t launches_full[] = {1, 4, 16, 64, 256, 2048};
    static const int64_t launches_quick[] = {1, 16, 256}, launches_cpu[] = {1, 64};
    const values sizes = choose(g, VALUES(bytes_full), VALUES(bytes_quick), VALUES(bytes_cpu));
    const values counts =
        choose(g, VALUES(launches_full), VALUES(launches_quick), VALUES(launches_cpu));
    GPUMB_SWEEP_STRINGS(g, way, ways, is_gpu(g) ? 2 : 1)
        GPUMB_SWEEP_ARRAY(g, argument_bytes, sizes.at, sizes.count)
            GPUMB_SWEEP_ARRAY(g, launches, counts.at, counts.count) {
                series s;
                memset(&s, 0, sizeof s);
                for (size_t i = 0; i < COUNT(takers); i++)
                    if (takers[i].bytes <= argument_bytes)
                        s.kernel = &takers[i];
                s.count = launches;
                s.way = (int)way;
                s.out = gpumb_alloc(g, sizeof(unsigned));
                if (s.kernel->bytes != argument_bytes)
                    gpumb_skip(g, "there is no kernel with %lld bytes of arguments",
                               (long long)argument_bytes);
                measure_series(g, &s);
            }
    note_interval(g);
}

/* ---- launch/diamond -------------------------------------------------------------------------- */

static const char diamond_bench[] = "launch/diamond";
enum { ONE_STREAM, STREAMS, GRAPH, CHAIN };
static const char *const shapes[] = {"one stream", "streams and events", "graph",
                                     "graph, as a chain"};
enum { A, B, C, D, NODES };

/* Spins for so many ticks. Unless NULL, out[node] becomes what the node makes of the nodes before
 * it: any other order of the four leaves another number in the last one. */
static __global__ void node(unsigned *out, int which, word ticks)
{
    if (ticks) {
        const word begin = ticks_now();
        while (ticks_now() - begin < ticks) {
        }
    }
    if (out)
        out[which] = which == A   ? 17
                     : which == D ? 5 * out[B] + 7 * out[C]
                                  : out[A] * (unsigned)(which + 2) + 1;
}

typedef struct diamond {
    gpumb_buffer *out;
    word ticks;
    int64_t shape;
    void *graph, *side, *fork, *join;
} diamond;

static void launch_nodes(void *stream, const diamond *d, unsigned *out)
{
    const int forked = d->shape == STREAMS || d->shape == GRAPH;
    LAUNCH_ON(stream, node, 1, 1, out, (int)A, d->ticks);
    if (forked)
        order_streams(stream, d->fork, d->side);
    LAUNCH_ON(stream, node, 1, 1, out, (int)B, d->ticks);
    LAUNCH_ON(forked ? d->side : stream, node, 1, 1, out, (int)C, d->ticks);
    if (forked)
        order_streams(d->side, d->join, stream);
    LAUNCH_ON(stream, node, 1, 1, out, (int)D, d->ticks);
}

static void *graph_of(void *stream, const diamond *d, unsigned *out)
{
    if (d->shape != GRAPH && d->shape != CHAIN)
        return NULL;
    begin_graph(stream);
    launch_nodes(stream, d, out);
    return end_graph(stream);
}

static void run_diamond(void *stream, const diamond *d, void *graph, unsigned *out)
{
    if (graph)
        run_graph(graph, stream);
    else
        launch_nodes(stream, d, out);
}

/* Empty nodes store nothing when they are timed: here the same shape does. */
static int check_diamond(gpumb *g, void *user)
{
    const diamond *d = (const diamond *)user;
    unsigned out[NODES];
    if (!d->ticks) {
        void *graph = graph_of(gpumb_stream(g), d, GPUMB_PTR(unsigned, d->out));
        run_diamond(gpumb_stream(g), d, graph, GPUMB_PTR(unsigned, d->out));
        gpumb_read(g, d->out, 0, out, sizeof out);
        free_graph(graph);
    }
    if (gpumb_read(g, d->out, 0, out, sizeof out))
        return 0;
    const unsigned b = 17 * (B + 2) + 1, c = 17 * (C + 2) + 1;
    if (out[B] == b && out[C] == c && out[D] == 5 * b + 7 * c)
        return 1;
    gpumb_reason(g, "the nodes hold %u, %u, %u and %u", out[A], out[B], out[C], out[D]);
    return 0;
}

static void note_diamond(gpumb *g)
{
    const rows all = noisy_too(rows_of(diamond_bench, NULL));
    for (int64_t us = next_value(g, all, "us", -1); us >= 0; us = next_value(g, all, "us", us)) {
        const gpumb_result *of[COUNT(shapes)];
        sentence s = no_words();
        for (size_t i = 0; i < COUNT(shapes); i++) {
            of[i] = first_row(g, having(having(all, "us", us), "shape", (int64_t)i));
            if (!of[i])
                continue;
            say_next(&s, ", ");
            say(&s, "%s ", shapes[i]);
            say_time(&s, of[i]->time.median);
        }
        for (int i = STREAMS; i <= GRAPH && us; i++) {
            const gpumb_result *chain = of[i == GRAPH ? CHAIN : ONE_STREAM];
            if (!of[i] || !chain)
                continue;
            const double saved = chain->time.median - of[i]->time.median;
            say(&s, "; %s ", i == GRAPH ? "the graph saves" : "two streams save");
            say_time(&s, saved);
            say(&s, "%s", saved > 0.5e-6 * (double)us ? ": B and C overlap" : ": it does not pay");
        }
        if (s.text[0])
            gpumb_note(g, "Diamond of four nodes of %lld us: %s.", (long long)us, s.text);
    }
}

static void launch_diamond(gpumb *g)
{
    static const int64_t us_full[] = {0, 2, 5, 20}, us_quick[] = {0, 5}, us_cpu[] = {0, 20};
    const values spins = choose(g, VALUES(us_full), VALUES(us_quick), VALUES(us_cpu));
    const double tick_s = tick_seconds(g);
    diamond d;
    memset(&d, 0, sizeof d);
    d.side = new_stream();
    d.fork = new_event();
    d.join = new_event();
    GPUMB_SWEEP_ARRAY(g, us, spins.at, spins.count)
        GPUMB_SWEEP_STRINGS(g, shape, shapes, is_gpu(g) ? COUNT(shapes) : 1) {
            d.out = gpumb_alloc(g, NODES * sizeof(unsigned));
            d.ticks = (word)((double)us * 1e-6 / tick_s);
            d.shape = shape;
            unsigned *out = us ? GPUMB_PTR(unsigned, d.out) : NULL;
            d.graph = d.out ? graph_of(gpumb_stream(g), &d, out) : NULL;
            if (d.out && !d.graph && shape >= GRAPH)
                gpumb_skip(g, is_gpu(g) ? "these launches can't be captured" : "graphs need a GPU");
            gpumb_set_timing(g, is_gpu(g) ? GPUMB_TIMING_BATCH : GPUMB_TIMING_AUTO);
            gpumb_set_output(g, d.out);
            gpumb_set_verify(g, check_diamond, &d);
            GPUMB_MEASURE(g, shapes[shape])
                run_diamond(gpumb_stream(g), &d, d.graph, out);
            free_graph(d.graph);
        }
    free_event(d.join);
    free_event(d.fork);
    free_stream(d.side);
    note_diamond(g);
}

/* ---- launch/process -------------------------------------------------------------------------- */

static const char process_bench[] = "launch/process";
enum { CONTEXT, MODULE, FIRST, SECOND, LATER, STEPS };
static const char *const steps[] = {"context", "module", "first launch", "second launch",
                                    "later launch"};
static const char *const loadings[] = {"lazy", "eager"};
static const char child_option[] = "--fresh-process";

/* A launch and its completion, by the host's clock. */
static double launch_seconds(void)
{
    const double began = host_now();
    (void)launch_without(NULL, 1);
#if defined(RUNTIME)
    (void)RUNTIME(DeviceSynchronize)();
#endif
    return host_now() - began;
}

/* What the fresh process does: prints the seconds of each step and what its last kernel took. */
static int fresh_process(int device)
{
    double seconds[STEPS] = {0, 0, 0, 0, 0}, later[101];
    unsigned answer[2] = {0, 0};
#if defined(RUNTIME)
    int failed = 0;
    double began = host_now();
    failed |= RUNTIME(SetDevice)(device) || RUNTIME(Free)(NULL);
    seconds[CONTEXT] = host_now() - began;
    began = host_now();
#if defined(GPUMB_BACKEND_CUDA)
    cudaFuncAttributes attributes;
#else
    hipFuncAttributes attributes;
#endif
    failed |= RUNTIME(FuncGetAttributes)(&attributes, (const void *)take_none) != RUNTIME(Success);
    seconds[MODULE] = host_now() - began;
    if (failed)
        return 1;
#else
    (void)device;
    gpumb_get_device(NULL); /* the library's own start is not a launch's */
#endif
    seconds[FIRST] = launch_seconds();
    seconds[SECOND] = launch_seconds();
    for (size_t i = 0; i < COUNT(later); i++)
        later[i] = launch_seconds();
    seconds[LATER] = gpumb_statistics(later, COUNT(later)).median;
    gpumb_buffer *out = gpumb_alloc(NULL, sizeof(unsigned));
    for (int i = 0; i < 2; i++) { /* 0 by one block, 1 by two */
        (void)launch_without(gpumb_stream(NULL), i + 1);
        GPUMB_LAUNCH(hand_over, 1, 1, 0, GPUMB_PTR(unsigned, out));
        if (gpumb_read(NULL, out, 0, &answer[i], sizeof answer[i]))
            return 1;
    }
    for (int i = 0; i < STEPS; i++)
        printf("%.9f ", seconds[i]);
    printf("%u %u\n", answer[0], answer[1]);
    (void)gpumb_close(NULL); /* nothing was measured, which it minds */
    return 0;
}

/* Runs one. 0, or why there is none. */
static const char *run_process(int device, int64_t loading, double seconds[STEPS])
{
    static char path[4096], command[128];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    unsigned answer[2] = {1, 0};
    if (length <= 0)
        return "this system does not say which program runs";
    path[length] = '\0';
    setenv("GPUMB_LAUNCH_PROGRAM", path, 1);
    setenv("CUDA_MODULE_LOADING", loading ? "EAGER" : "LAZY", 1);
    setenv("HIP_ENABLE_DEFERRED_LOADING", loading ? "0" : "1", 1);
    snprintf(command, sizeof command, "exec \"$GPUMB_LAUNCH_PROGRAM\" %s %d", child_option, device);
    FILE *child = popen(command, "r");
    if (!child)
        return "no process can be started";
    int fields = 0;
    for (int i = 0; i < STEPS; i++)
        fields += fscanf(child, "%lf", &seconds[i]);
    fields += fscanf(child, "%u %u", &answer[0], &answer[1]);
    const int status = pclose(child);
    if (status || fields != STEPS + 2)
        return "a fresh process has failed";
    return answer[0] == 0 && answer[1] == 1 ? NULL : "a fresh process's kernel has not run";
}

/* Each process has checked its own kernels. */
static int check_process(gpumb *g, void *trouble)
{
    if (trouble)
        gpumb_reason(g, "%s", (const char *)trouble);
    return !trouble;
}

static void note_process(gpumb *g)
{
    for (size_t loading = 0; loading < COUNT(loadings); loading++) {
        sentence s = no_words();
        const gpumb_result *of[STEPS];
        for (int step = 0; step < STEPS; step++) {
            of[step] = first_row(g, having(noisy_too(rows_of(process_bench, steps[step])),
                                           "loading", (int64_t)loading));
            if (!of[step])
                continue;
            say_next(&s, ", ");
            say(&s, "%s ", steps[step]);
            say_time(&s, of[step]->time.median);
        }
        if (!s.text[0])
            continue;
        gpumb_note(g, "A fresh process, %s loading of modules: %s.", loadings[loading], s.text);
        if (of[FIRST] && of[LATER])
            gpumb_note(g, "Its first launch takes %.3g times as long as later ones.",
                       of[FIRST]->time.median / of[LATER]->time.median);
    }
}

/* All rows of a step, each time from a process of its own. */
static void launch_process(gpumb *g)
{
    enum { MOST = 15 };
    static double seconds[STEPS][MOST];
    const int count = gpumb_get_settings(g)->full ? MOST : 6;
    GPUMB_SWEEP_STRINGS(g, loading, loadings, is_gpu(g) ? 2 : 1) {
        const char *trouble = NULL;
        int done = 0;
        for (int step = is_gpu(g) ? CONTEXT : FIRST; step < STEPS; step++) {
            if (!gpumb_wants_times(g, steps[step]))
                continue;
            for (; done < count && !trouble; done++) {
                double one[STEPS];
                trouble = run_process(gpumb_get_device(g)->ordinal, loading, one);
                for (int i = 0; i < STEPS; i++)
                    seconds[i][done] = trouble ? 0 : one[i];
            }
            gpumb_set_verify(g, check_process, (void *)trouble);
            gpumb_add_times(g, steps[step], GPUMB_MEANING_LATENCY, seconds[step], (uint64_t)done);
        }
    }
    note_process(g);
}

static const gpumb_benchmark benchmarks[] = {
    {process_bench, "context, module and first launches of fresh processes", launch_process},
    {interval_bench, "launches under way, and the bytes of their arguments", launch_interval},
    {diamond_bench, "four kernels, A before B and C before D, in streams and as graphs",
     launch_diamond},
};

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], child_option))
        return fresh_process(atoi(argv[2]));
    return gpumb_main(argc, argv, benchmarks, COUNT(benchmarks));
}

/* What the benchmarks need of the vendor's runtime beside gpumb.h: further streams, events between
 * them, graphs. The two runtimes differ in their prefix. On the CPU, where there is none of it,
 * these do nothing, and rows that need them are to be skipped. Include it after gpumb.h. */
#ifndef BENCH_VENDOR_H
#define BENCH_VENDOR_H

#if defined(GPUMB_BACKEND_CUDA)
#define RUNTIME(name) cuda##name
#elif defined(GPUMB_BACKEND_HIP)
#define RUNTIME(name) hip##name
#endif

#if defined(RUNTIME)

/* kernel<<<...>>>(arguments...) on a stream, without what GPUMB_LAUNCH() checks. */
#define LAUNCH_ON(stream, kernel, grid, block, ...)                                                \
    kernel<<<(unsigned)(grid), (unsigned)(block), 0, (RUNTIME(Stream_t))(stream)>>>(__VA_ARGS__)
#define LAUNCH_BARRIER_ON LAUNCH_ON

static inline void *new_stream(void)
{
    RUNTIME(Stream_t) stream = NULL;
    (void)RUNTIME(StreamCreateWithFlags)(&stream, RUNTIME(StreamNonBlocking));
    return stream;
}

/* Its kernels' blocks go before those of other streams. */
static inline void *new_urgent_stream(void)
{
    RUNTIME(Stream_t) stream = NULL;
    int least = 0, most = 0;
    (void)RUNTIME(DeviceGetStreamPriorityRange)(&least, &most);
    (void)RUNTIME(StreamCreateWithPriority)(&stream, RUNTIME(StreamNonBlocking), most);
    return stream;
}

static inline void free_stream(void *stream)
{
    (void)RUNTIME(StreamDestroy)((RUNTIME(Stream_t))stream);
}

/* Without a time stamp. */
static inline void *new_event(void)
{
    RUNTIME(Event_t) event = NULL;
    (void)RUNTIME(EventCreateWithFlags)(&event, RUNTIME(EventDisableTiming));
    return event;
}

static inline void free_event(void *event)
{
    (void)RUNTIME(EventDestroy)((RUNTIME(Event_t))event);
}

/* What follows on stream `later` waits for all that is on stream `first` by now. */
static inline void order_streams(void *first, void *event, void *later)
{
    (void)RUNTIME(EventRecord)((RUNTIME(Event_t))event, (RUNTIME(Stream_t))first);
    (void)RUNTIME(StreamWaitEvent)((RUNTIME(Stream_t))later, (RUNTIME(Event_t))event, 0);
}

static inline void copy_on(void *stream, void *to, const void *from, uint64_t bytes)
{
    (void)RUNTIME(MemcpyAsync)(to, from, (size_t)bytes, RUNTIME(MemcpyDefault),
                               (RUNTIME(Stream_t))stream);
}

static inline void begin_graph(void *stream)
{
    (void)RUNTIME(StreamBeginCapture)((RUNTIME(Stream_t))stream,
                                      RUNTIME(StreamCaptureModeThreadLocal));
}

/* What was launched since; NULL: it could not be captured. */
static inline void *end_graph(void *stream)
{
    RUNTIME(Graph_t) graph = NULL;
    RUNTIME(GraphExec_t) ready = NULL;
    if (RUNTIME(StreamEndCapture)((RUNTIME(Stream_t))stream, &graph) != RUNTIME(Success) ||
        RUNTIME(GraphInstantiateWithFlags)(&ready, graph, 0) != RUNTIME(Success))
        ready = NULL;
    if (graph)
        (void)RUNTIME(GraphDestroy)(graph);
    return ready;
}

static inline void run_graph(void *graph, void *stream)
{
    (void)RUNTIME(GraphLaunch)((RUNTIME(GraphExec_t))graph, (RUNTIME(Stream_t))stream);
}

static inline void free_graph(void *graph)
{
    if (graph)
        (void)RUNTIME(GraphExecDestroy)((RUNTIME(GraphExec_t))graph);
}

#else

#define LAUNCH_ON(stream, kernel, grid, block, ...)                                                \
    ((void)(stream), GPUMB_LAUNCH(kernel, grid, block, 0, __VA_ARGS__))
#define LAUNCH_BARRIER_ON(stream, kernel, grid, block, ...)                                        \
    ((void)(stream), GPUMB_LAUNCH_BARRIER(kernel, grid, block, 0, __VA_ARGS__))

static inline void *new_stream(void)
{
    return NULL;
}

static inline void *new_urgent_stream(void)
{
    return NULL;
}

static inline void free_stream(void *)
{
}

static inline void *new_event(void)
{
    return NULL;
}

static inline void free_event(void *)
{
}

static inline void order_streams(void *, void *, void *)
{
}

static inline void copy_on(void *, void *to, const void *from, uint64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

static inline void begin_graph(void *)
{
}

static inline void *end_graph(void *)
{
    return NULL;
}

static inline void run_graph(void *, void *)
{
}

static inline void free_graph(void *)
{
}
#endif

#endif

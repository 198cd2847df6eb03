/* runner.cu - times a submission's kernels beside the baseline's, by --strict: the one process in
 * whose context the submission's device code runs. It knows no key, no right result and no verdict;
 * judge.py tells it what to take, and listens.
 *
 *     runner PLAN FROM TO INPUTS OUTPUTS BASELINE SUBMISSION SAMPLES
 *
 * BASELINE and SUBMISSION are code objects; on the CPU shared objects. With BASELINE "-" all cases
 * of the plan are checked, without it; else the first one is timed. */
#include "judge.h"
#if defined(GPUMB_BACKEND_CPU)
#include <dlfcn.h>
#endif

enum { CANARY = 1 << 18 };

struct lane {
    int side, wrong;
    const char *path;
    plan_case *about;
    const void *function[MOST_LAUNCHES];
#if defined(GPUMB_BACKEND_CPU)
    void *loaded;
#else
    gpumb_module *loaded;
#endif
};

static char *inputs, *outputs;
static gpumb_buffer *canary;
static unsigned char canary_is[CANARY], canary_was[CANARY];

/* On a GPU modules stay until the context ends; what is loaded next has variables of its own. */
static void unload(lane *w)
{
#if defined(GPUMB_BACKEND_CPU)
    if (w->loaded)
        dlclose(w->loaded);
#endif
    w->loaded = NULL;
}

static void load(gpumb *g, lane *w)
{
    const plan_case *c = w->about;
    unload(w);
#if defined(GPUMB_BACKEND_CPU)
    w->loaded = dlopen(w->path, RTLD_NOW | RTLD_LOCAL);
    if (!w->loaded)
        gpumb_skip(g, "%s", dlerror());
#else
    w->loaded = gpumb_load(g, w->path);
#endif
    for (int i = 0; i < c->launches; i++) {
        const plan_launch *l = &c->launch[i];
        if (l->side != w->side || !w->loaded)
            continue;
#if defined(GPUMB_BACKEND_CPU)
        char name[32];
        snprintf(name, sizeof name, "judge_launch_%d", l->index);
        w->function[i] = dlsym(w->loaded, name);
#else
        w->function[i] = gpumb_function(g, w->loaded, l->name);
#endif
    }
}

static void launch(gpumb *g, const lane *w)
{
    const plan_case *c = w->about;
    for (int i = 0; i < c->launches; i++) {
        const plan_launch *l = &c->launch[i];
        judge_argument a[MOST_ARGUMENTS];
        if (l->side != w->side || !w->function[i])
            continue;
        judge_arguments(c, l, a);
#if defined(GPUMB_BACKEND_CPU)
        (void)g;
        ((judge_launcher *)w->function[i])(l->extent, a);
#else
        /* The driver copies as many bytes as the kernel says: zeros behind each, not our memory. */
        static uint64_t room[MOST_ARGUMENTS + 1][4096 / sizeof(uint64_t)];
        void *parameters[512];
        for (int k = 0; k < 512; k++) {
            const int at = k < l->count ? k : MOST_ARGUMENTS;
            if (k < l->count)
                memcpy(room[k], a[k].pointer ? (void *)&a[k].pointer : (void *)&a[k].value, 8);
            parameters[k] = room[at];
        }
        gpumb_launch(g, l->name, w->function[i], l->extent, l->extent + 3, l->extent[6],
                     parameters);
#endif
    }
}

/* So that neither a copy nor a load is left for the time of the run, nor lines of the L2 that are
 * to be evicted last: reading others would not empty it of those. */
static void settle_device(void)
{
#if defined(GPUMB_BACKEND_CUDA)
    (void)cudaDeviceSynchronize();
    if (cudaCtxResetPersistingL2Cache())
        (void)cudaGetLastError(); /* a device without such lines */
#elif defined(GPUMB_BACKEND_HIP)
    (void)hipDeviceSynchronize();
#endif
}

/* Before each run: inputs that are new, poison in all else, at times the module anew. */
static void renew(gpumb *g, void *user)
{
    lane *w = (lane *)user;
    plan_case *c = w->about;
    char line[4096];
    judge_say("want %d %d", (int)(c - judge_case), w->side);
    judge_hear(line);
    judge_demand(!strncmp(line, "take", 4), "the word of judge.py");
    if (!w->loaded || !strcmp(line, "take anew"))
        load(g, w);
    for (int i = 0; i < c->buffers; i++) {
        plan_buffer *b = &c->buffer[i];
        if (b->role == INPUT)
            gpumb_write(g, b->memory, 0, inputs + b->offset, b->bytes);
        else if (b->memory)
            gpumb_poison(g, b->memory);
    }
    settle_device();
    judge_say("taken");
}

static int check(gpumb *g, void *user)
{
    lane *w = (lane *)user;
    const plan_case *c = w->about;
    char line[4096];
    if (w->wrong)
        return 0;
    w->wrong = 1;
    if (gpumb_read(g, canary, 0, canary_was, CANARY))
        return 0;
    if (memcmp(canary_is, canary_was, CANARY)) {
        gpumb_reason(g, "changes memory that is not its own");
        return 0;
    }
    for (int i = 0; i < c->buffers; i++) {
        const plan_buffer *b = &c->buffer[i];
        if (b->role == OUTPUT && gpumb_read(g, b->memory, 0, outputs + b->offset, b->bytes))
            return 0;
    }
    judge_say("check");
    judge_hear(line);
    w->wrong = strcmp(line, "right") != 0;
    return !w->wrong;
}

static void measure(gpumb *g, lane *w, const char *name)
{
    plan_case *c = w->about;
    gpumb_set_bytes(g, c->bytes);
    gpumb_set_flop(g, c->flop);
    gpumb_set_reset(g, renew, w);
    gpumb_set_verify(g, check, w);
    for (int i = 0; i < c->buffers; i++)
        if (c->buffer[i].role == OUTPUT)
            gpumb_set_output(g, c->buffer[i].memory);
    GPUMB_MEASURE(g, name)
        launch(g, w);
}

static void report(gpumb *g)
{
    for (size_t i = 0; i < gpumb_row_count(g); i++) {
        const gpumb_result *r = gpumb_row(g, i);
        const gpumb_stats *t = &r->time;
        const gpumb_comparison *of = &r->comparison;
        char flags[256] = "";
        gpumb_row_text(g, i, "flags", flags, sizeof flags);
        judge_say("row %s %d %d %" PRIu64 " %.9g %.9g %.9g %.9g %.9g %.9g %s|%s", r->kernel,
                  r->status == GPUMB_STATUS_OK, r->verified, t->count, t->median, t->ci_lo,
                  t->ci_hi, of->ratio, of->lo, of->hi, flags, r->reason);
    }
}

int main(int argc, char **argv)
{
    judge_begin(argc, argv);
    judge_demand(argc >= 9, "arguments");
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* else a kernel's first run loads it */
    inputs = judge_share(argv[4], 0, 0);
    outputs = judge_share(argv[5], 1, 0);
    const char *const baseline = argv[6], *const submission = argv[7];
    gpumb_settings settings = gpumb_settings_default();
    settings.strict = settings.quiet = 1;
    settings.min_samples = settings.max_samples = strtoull(argv[8], NULL, 10);
    settings.budget_s = 30;
    settings.warmup_s = 0.05;
    gpumb *g = gpumb_open_settings("runner", &settings);
    const int timed = strcmp(baseline, "-") != 0;
    canary = gpumb_alloc(g, CANARY);
    for (int i = 0; i < CANARY; i++)
        canary_is[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
    gpumb_write(g, canary, 0, canary_is, CANARY);
    judge_say("open %s %s", gpumb_get_device(g)->backend, gpumb_get_device(g)->name);
    for (plan_case *c = judge_case; c < judge_case + (timed ? 1 : judge_cases); c++) {
        static lane lanes[2];
        for (int side = 0; side < 2; side++) {
            unload(&lanes[side]);
            lanes[side] = lane{};
            lanes[side].side = side;
            lanes[side].about = c;
            lanes[side].path = side == BASELINE ? baseline : submission;
        }
        for (int i = 0; i < c->buffers; i++)
            if (c->buffer[i].side <= SUBMISSION)
                c->buffer[i].memory = gpumb_alloc(g, c->buffer[i].bytes);
        if (timed) {
            measure(g, &lanes[BASELINE], "alone"); /* before the submission is loaded */
            GPUMB_INTERLEAVE(g) {
                measure(g, &lanes[BASELINE], "baseline");
                measure(g, &lanes[SUBMISSION], "submission");
            }
        } else {
            measure(g, &lanes[SUBMISSION], "submission");
        }
        for (int i = 0; i < c->buffers; i++)
            if (c->buffer[i].memory)
                gpumb_free(g, c->buffer[i].memory);
    }
    report(g);
    fflush(stdout); /* what kernels have printed; judge.py ends this process now */
    judge_say("done");
    return gpumb_close(g);
}

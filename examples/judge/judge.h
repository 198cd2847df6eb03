/* judge.h - what runner.cu and referee.cu share: the plan that judge.py has written, with all sizes
 * evaluated, two pipes to judge.py, and memory that they share with each other. */
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CASES = 64, MOST_BUFFERS = 32, MOST_LAUNCHES = 32, MOST_ARGUMENTS = 32 };
enum { BASELINE, SUBMISSION, CHECK };
enum { INPUT = 'i', OUTPUT = 'o', SCRATCH = 's', REFERENCE = 'r', ERRORS = 'e' };

struct plan_buffer {
    char role, type[16];
    int side;               /* whose it is; -1: everybody's */
    uint64_t bytes, offset; /* in the shared memory of inputs or outputs */
    gpumb_buffer *memory;
};

struct plan_launch {
    int side, index;                   /* of the launches of its side */
    char name[512];                    /* in the code object */
    uint64_t extent[7];                /* grid, block, bytes of shared memory */
    int count, buffer[MOST_ARGUMENTS]; /* of each argument; -1: it is a value */
    uint64_t value[MOST_ARGUMENTS];
};

struct plan_case {
    double bytes, flop;
    int buffers, launches;
    plan_buffer buffer[MOST_BUFFERS];
    plan_launch launch[MOST_LAUNCHES];
};

static plan_case judge_case[MOST_CASES];
static int judge_cases;
static FILE *judge_from, *judge_to;

static void judge_demand(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "judge: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
        exit(9);
    }
}

static void judge_hear(char line[4096])
{
    judge_demand(fgets(line, 4096, judge_from) && strchr(line, '\n'), "the pipe from judge.py");
    *strchr(line, '\n') = 0;
}

static void judge_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int said = vfprintf(judge_to, format, args);
    va_end(args);
    judge_demand(said > 0 && fputc('\n', judge_to) == '\n' && !fflush(judge_to),
                 "the pipe to judge.py");
}

/* `path` is a file of as many bytes as it takes. Copies of `pinned` memory are fast, and a device
 * can reach it: not for the process that a submission runs in. */
static char *judge_share(const char *path, int writes, int pinned)
{
    struct stat about;
    const int fd = open(path, writes ? O_RDWR : O_RDONLY);
    judge_demand(fd >= 0 && !fstat(fd, &about), path);
    void *memory = mmap(NULL, (size_t)about.st_size, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, fd, 0);
    judge_demand(memory != MAP_FAILED, path);
    close(fd);
#if defined(GPUMB_BACKEND_CUDA)
    if (pinned && cudaHostRegister(memory, (size_t)about.st_size, 0))
        (void)cudaGetLastError(); /* slower */
#elif defined(GPUMB_BACKEND_HIP)
    if (pinned && hipHostRegister(memory, (size_t)about.st_size, 0))
        (void)hipGetLastError();
#else
    (void)pinned;
#endif
    return (char *)memory;
}

static uint64_t judge_number(FILE *plan)
{
    uint64_t number;
    judge_demand(fscanf(plan, "%" SCNu64, &number) == 1, "a number in the plan");
    return number;
}

static void judge_read_launch(FILE *plan, plan_launch *l)
{
    judge_demand(fscanf(plan, "%d %d %511s", &l->side, &l->index, l->name) == 3, "a launch");
    for (int i = 0; i < 7; i++)
        l->extent[i] = judge_number(plan);
    l->count = (int)judge_number(plan);
    judge_demand(l->count <= MOST_ARGUMENTS, "a launch's arguments");
    for (int i = 0; i < l->count; i++) {
        judge_demand(fscanf(plan, "%d", &l->buffer[i]) == 1, "an argument");
        l->value[i] = judge_number(plan);
    }
}

static void judge_read_plan(const char *path)
{
    char word[16];
    FILE *plan = fopen(path, "r");
    judge_demand(plan != NULL, path);
    for (plan_case *c = NULL; fscanf(plan, "%15s", word) == 1;) {
        if (!strcmp(word, "case")) {
            judge_demand(judge_cases < MOST_CASES, "so many cases");
            c = &judge_case[judge_cases++];
            judge_demand(fscanf(plan, "%lf %lf", &c->bytes, &c->flop) == 2, "a case");
        } else if (c && !strcmp(word, "buffer") && c->buffers < MOST_BUFFERS) {
            plan_buffer *b = &c->buffer[c->buffers++];
            judge_demand(fscanf(plan, " %c %15s %d", &b->role, b->type, &b->side) == 3, "a buffer");
            b->bytes = judge_number(plan);
            b->offset = judge_number(plan);
        } else {
            judge_demand(c && !strcmp(word, "launch") && c->launches < MOST_LAUNCHES, word);
            judge_read_launch(plan, &c->launch[c->launches++]);
        }
    }
    fclose(plan);
}

/* PLAN, pipes from and to judge.py, and the two files: argument 1 and the next. */
static void judge_begin(int argc, char **argv)
{
    judge_demand(argc >= 4, "arguments");
    judge_read_plan(argv[1]);
    judge_from = fdopen(atoi(argv[2]), "r");
    judge_to = fdopen(atoi(argv[3]), "w");
    judge_demand(judge_from && judge_to, "pipes");
}

/* Those of one run, in their order. */
static inline void judge_arguments(const plan_case *c, const plan_launch *l,
                                   judge_argument a[MOST_ARGUMENTS])
{
    for (int i = 0; i < l->count; i++) {
        const int b = l->buffer[i];
        a[i] = judge_argument{b < 0 ? NULL : gpumb_data(c->buffer[b].memory), l->value[i]};
    }
}

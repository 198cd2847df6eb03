/* fleet.c - a gpumb program on every GPU of a job: under mpirun or srun, one rank a GPU.
 *
 *     mpirun -n 4 build/fleet --csv rows.csv -- build/cuda/copy --quick
 *
 * Each rank starts the program in a process that sees the device at the rank's place on its node,
 * and only watches: the rank itself never touches a device, so that what happens to the process is
 * a row and not the end of the job. Rank 0 puts all rows into one table and one CSV file, with
 * their rank, host and device, and names the ranks that are slower than the others, by the rule of
 * --device (see gpumbi_middle() and gpumbi_judge() in gpumb.h). */
#define GPUMB_IMPLEMENTATION /* of its own, whose functions it calls */
#define GPUMB_STATIC
#define GPUMB_NO_KERNELS
#define GPUMB_BACKEND_CPU
#include "gpumb.h"

#include <mpi.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum { TO_ROOT = 1, TURN = 2, GRACE_S = 30, REGION_SLOTS = 1 << 12 };

static const char usage[] =
    "usage: mpirun -n RANKS fleet [options] -- PROGRAM [its options]\n"
    "  --csv FILE          all rows, with their rank, host and device\n"
    "  --in-turn job|node  one rank after the other, of all or of each node; else all at once\n"
    "  --limit 600         seconds after which a rank's program is ended\n"
    "  --place N           the device to use, of those that a rank sees, where each has its own;\n"
    "                      else that at the rank's place on its node\n"
    "  --delta 1           smaller differences count as none, %\n"
    "  --spread 2          standard deviation between processes, %, for fewer than four ranks\n"
    "  --fail-on-outlier   exit code 1 if a rank is slower than the others\n"
    "  --group model       compares each with those of its model alone, as devices report it\n"
    "  --simulate RANKS    no program: what that many cost rank 0, with given times\n";

typedef struct options {
    const char *csv, *in_turn, *group;
    double limit_s;
    long place, simulate;
    gpumb_settings settings; /* delta, spread, fail_on_outlier */
    char **program;
} options;

/* What a rank has to say, followed by so many bytes of CSV. */
typedef struct report {
    long long bytes;
    int rank;
    char host[64], device[40], reason[200];
} report;

static gpumb context; /* for functions of the header: its memory, files and messages */
static int rank, ranks;
static double deadline; /* of MPI_Wtime(): nothing waits longer */

/* Zeros; ends the job where there is no memory. */
static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, GPUMB_EXIT_ERROR);
    return memory;
}

/* ---- options --------------------------------------------------------------------------------- */

static int number(const char *text, double least, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end > text && !*end && *value >= least && *value <= 1e12;
}

/* 1 if it is fine. */
static int read_options(int argc, char **argv, options *o)
{
    int i = 1;
    memset(o, 0, sizeof *o);
    o->settings = gpumb_settings_default();
    o->limit_s = 600;
    o->place = -1;
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        double x = 0;
        int fine = 1;
        if (!strcmp(name, "--fail-on-outlier")) {
            o->settings.fail_on_outlier = 1;
            continue;
        }
        i++;
        if (!strcmp(name, "--csv")) {
            o->csv = value;
            fine = *value && *value != '-';
        } else if (!strcmp(name, "--in-turn")) {
            o->in_turn = value;
            fine = !strcmp(value, "job") || !strcmp(value, "node");
        } else if (!strcmp(name, "--group")) {
            o->group = value;
            fine = !strcmp(value, "model");
        } else if (!strcmp(name, "--limit")) {
            fine = number(value, 0.1, &o->limit_s);
        } else if (!strcmp(name, "--place")) {
            fine = number(value, 0, &x);
            o->place = (long)x;
        } else if (!strcmp(name, "--simulate")) {
            fine = number(value, 1, &x);
            o->simulate = (long)x;
        } else if (!strcmp(name, "--delta")) {
            fine = number(value, 0, &x);
            o->settings.delta = x / 100;
        } else if (!strcmp(name, "--spread")) {
            fine = number(value, 0, &x);
            o->settings.spread = x / 100;
        } else {
            if (!rank)
                fprintf(stderr, "fleet: %s: no such option\n%s", name, usage);
            return 0;
        }
        if (!fine) {
            if (!rank)
                fprintf(stderr, "fleet: %s %s: not a value for it\n%s", name, value, usage);
            return 0;
        }
    }
    o->program = argv + (i < argc ? i + 1 : i);
    if (!*o->program && !o->simulate && !rank)
        fprintf(stderr, "fleet: which program? it stands behind --\n%s", usage);
    return *o->program || o->simulate;
}

/* ---- waiting for other ranks ----------------------------------------------------------------- */

/* MPI's own waiting would keep a core busy beside what is measured. 1: done; 0: too late. */
static int await(MPI_Request *request)
{
    int done = 0;
    while (!MPI_Test(request, &done, MPI_STATUS_IGNORE) && !done) {
        if (MPI_Wtime() > deadline)
            return 0;
        poll(NULL, 0, 1);
    }
    return 1;
}

static int send_to(MPI_Comm comm, int to, int tag, void *data, long long bytes)
{
    MPI_Request request;
    MPI_Issend(data, (int)bytes, MPI_BYTE, to, tag, comm, &request); /* takes no room over there */
    return await(&request);
}

static int receive_from(MPI_Comm comm, int from, int tag, void *data, long long bytes)
{
    MPI_Request request;
    MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, comm, &request);
    if (await(&request))
        return 1;
    MPI_Cancel(&request);
    return 0;
}

/* ---- the program of this rank ---------------------------------------------------------------- */

/* A process forked before MPI_Init(), which inherits nothing of MPI's: it waits for the device that
 * its rank will know after it, and becomes the program. */
typedef struct worker {
    pid_t process;
    int device, rows, messages; /* the rank's ends of its pipes */
} worker;

static void become_program(char **program, const int *device, const int *rows, const int *messages)
{
    char *arguments[1024], text[64] = "", csv[] = "--csv", to[] = "-";
    int count = 0;
    setpgid(0, 0);
    for (; program[count] && count < 1000; count++)
        arguments[count + (count ? 2 : 0)] = program[count];
    if (!count || program[count])
        _exit(127);
    arguments[1] = csv;
    arguments[2] = to;
    arguments[count + 2] = NULL;
    close(device[1]);
    if (read(device[0], text, sizeof text - 1) <= 0) /* the rank has ended, or has none for it */
        _exit(127);
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0); /* numbers are those of nvidia-smi */
    setenv("CUDA_VISIBLE_DEVICES", text, 1);
    setenv("HIP_VISIBLE_DEVICES", text, 1);
    const int nowhere = open("/dev/null", O_RDONLY);
    dup2(nowhere, 0);
    dup2(rows[1], 1);
    dup2(messages[1], 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execvp(arguments[0], arguments);
    fprintf(stderr, "%s: %s", arguments[0], strerror(errno));
    fflush(stderr);
    _exit(127);
}

static worker start_worker(char **program)
{
    worker w = {-1, -1, -1, -1};
    int device[2], rows[2], messages[2];
    const pid_t parent = getpid();
    if (!*program || pipe(device) || pipe(rows) || pipe(messages))
        return w;
    w.process = fork();
    if (w.process == 0) {
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() == parent)
            become_program(program, device, rows, messages);
        _exit(127);
    }
    w.device = device[1];
    w.rows = rows[0];
    w.messages = messages[0];
    close(device[0]);
    close(rows[1]);
    close(messages[1]);
    return w;
}

static pid_t running; /* for end_worker() */

static void end_worker(int signal_number)
{
    if (running > 0)
        kill(-running, SIGKILL);
    _exit(128 + signal_number);
}

/* The last line that is not empty. */
static const char *last_line(char *text)
{
    size_t n = strlen(text);
    while (n && strchr(" \r\n", text[n - 1]))
        text[--n] = 0;
    while (n && text[n - 1] != '\n')
        n--;
    return text + n;
}

/* Lets it run on the device, to its end or its time limit. The text is what it wrote. */
static char *watch(worker w, const char *device, double limit_s, report *r)
{
    static char said[8192]; /* the end of it */
    char *text = NULL, piece[4096];
    size_t blocks = 0, length = 0, kept = 0;
    int status = 0, ended = 0, late = 0, open_ends = 2;
    const double start = MPI_Wtime();
    struct pollfd from[2] = {{w.rows, POLLIN, 0}, {w.messages, POLLIN, 0}};
    running = w.process;
    if (write(w.device, device, strlen(device)) < 0)
        late = 0; /* it has ended, and its status says how */
    close(w.device);
    while (open_ends || !ended) {
        const int ready = poll(from, 2, 20);
        for (int i = 0; i < 2 && ready > 0; i++) {
            const ssize_t n = from[i].revents ? read(from[i].fd, piece, sizeof piece) : 0;
            if (from[i].revents && n <= 0) {
                from[i].fd = -1;
                open_ends--;
            }
            if (n > 0 && i == 0) {
                while (length + (size_t)n >= 4096 * blocks)
                    if (!gpumbi_grow(&context, &text, 4096, blocks, &blocks))
                        MPI_Abort(MPI_COMM_WORLD, GPUMB_EXIT_ERROR);
                memcpy(text + length, piece, (size_t)n);
                text[length += (size_t)n] = 0;
            } else if (n > 0) {
                if (kept + (size_t)n >= sizeof said) {
                    memmove(said, said + kept / 2, kept - kept / 2);
                    kept -= kept / 2;
                }
                memcpy(said + kept, piece, (size_t)n);
                said[kept += (size_t)n] = 0;
            }
        }
        ended = ended || waitpid(w.process, &status, WNOHANG) == w.process;
        if (ended && ready == 0)
            break; /* something that it started holds the pipe */
        if (MPI_Wtime() - start > limit_s && !late) {
            late = 1;
            kill(-w.process, SIGKILL);
        }
        if (ready > 0 && open_ends == 0 && !ended)
            poll(NULL, 0, 5);
    }
    kill(-w.process, SIGKILL); /* and what it has left behind */
    running = 0;
    r->bytes = (long long)length;
    const char *line = last_line(said);
    const char *rows = text ? strchr(text, '\n') : NULL;
    if (late)
        snprintf(r->reason, sizeof r->reason, "took more than %g s (--limit)", limit_s);
    else if (WIFSIGNALED(status))
        snprintf(r->reason, sizeof r->reason, "was killed by signal %d%s%.150s", WTERMSIG(status),
                 *line ? ": " : "", line);
    else if (WEXITSTATUS(status) > GPUMB_EXIT_FAILED)
        snprintf(r->reason, sizeof r->reason, "ended with exit code %d%s%.150s",
                 WEXITSTATUS(status), *line ? ": " : "", line);
    else if (!rows || !rows[1])
        snprintf(r->reason, sizeof r->reason, "wrote no rows%s%.150s", *line ? ": " : "", line);
    return text;
}

/* The device at a place, of those that this process may see. 0: there is none. */
static int device_at(long place, char device[40], char reason[200])
{
    static const char *const variable[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};
    for (int i = 0; i < 2; i++) {
        const char *list = getenv(variable[i]);
        long left = place;
        if (!list)
            continue;
        while ((list = gpumbi_split(list, ',', device, 40)) != NULL)
            if (left-- == 0)
                return 1;
        device[0] = 0;
        snprintf(reason, 200, "has no device: number %ld on its node, %s=%.60s", place, variable[i],
                 getenv(variable[i]));
        return 0;
    }
    snprintf(device, 40, "%ld", place);
    return 1;
}

/* ---- what rank 0 makes of it ----------------------------------------------------------------- */

/* A row of the program, on all ranks. */
typedef struct region {
    struct region *next;
    uint64_t key;
    char label[200];
    gpumbi_estimate *time;
    int *rank;
    size_t count, capacity, capacity_of_ranks;
} region;

typedef struct fleet {
    region *slot[REGION_SLOTS], **at;
    size_t regions, capacity, ranks_capacity;
    report *report; /* of each rank */
    unsigned *compared, *slower;
    double *beyond; /* of each rank: the logarithms of its times over the middle, added up */
    int by_model, mixed, models;
    char model[200]; /* the first */
    char *header;
    FILE *csv;
    long long rows, failed_rows;
    int received, failed;
} fleet;

/* The region of a row: the next one with its name and axes that this rank has not been in. */
static region *region_of(fleet *f, const gpumbi_records *t, const gpumbi_record *row, int from)
{
    const gpumbi_cell *axes = t->axes + row->first_axis;
    const char *meaning = row->text[GPUMBI_COLUMN_meaning];
    uint64_t key = gpumbi_key(NULL, 1, row->text[GPUMBI_COLUMN_bench], axes, row->axes);
    key = gpumbi_hash(gpumbi_hash(key, row->text[GPUMBI_COLUMN_kernel]), meaning ? meaning : "");
    const char *model = row->text[GPUMBI_COLUMN_device] ? row->text[GPUMBI_COLUMN_device] : "";
    if (!f->models++)
        snprintf(f->model, sizeof f->model, "%s", model);
    f->mixed |= strcmp(f->model, model) != 0;
    key = f->by_model ? gpumbi_hash(key, model) : key;
    for (key += (uint64_t)row->cold;; key++) {
        region **link = &f->slot[key % REGION_SLOTS];
        while (*link && (*link)->key != key)
            link = &(*link)->next;
        region *found = *link;
        if (!found && gpumbi_grow(&context, &f->at, sizeof *f->at, f->regions, &f->capacity) &&
            (found = (region *)room(sizeof *found)) != NULL) {
            found->key = key;
            gpumbi_label(found->label, row->text[GPUMBI_COLUMN_bench],
                         row->text[GPUMBI_COLUMN_kernel], axes, row->axes);
            if (f->by_model)
                snprintf(found->label + strlen(found->label),
                         sizeof found->label - strlen(found->label), " on %s", model);
            *link = f->at[f->regions++] = found;
        }
        if (!found || !found->count || found->rank[found->count - 1] != from)
            return found;
    }
}

/* Writes the lines of a rank with its columns behind. */
static void write_lines(const fleet *f, const char *text, const report *r)
{
    const char *from = text;
    for (int quoted = 0; *text; text++) {
        quoted ^= *text == '"';
        if (*text != '\n' || quoted)
            continue;
        if (r)
            fprintf(f->csv, "%.*s,%d,%s,%s\n", (int)(text - from), from, r->rank, r->host,
                    r->device);
        else
            fprintf(f->csv, "%.*s,rank,host,on_device\n", (int)(text - from), from);
        from = text + 1;
    }
}

/* Takes up the rows of a rank, whose text it uses up. */
static void take(fleet *f, report r, char *text)
{
    char *rows = text ? strchr(text, '\n') : NULL;
    if (rows) {
        const size_t length = (size_t)(rows - text) + 1;
        if (!f->header && (f->header = (char *)room(length + 1)) != NULL) {
            memcpy(f->header, text, length);
            if (f->csv)
                write_lines(f, f->header, NULL);
        }
        if (f->header && (strncmp(f->header, text, length) || f->header[length])) {
            snprintf(r.reason, sizeof r.reason, "has other columns than the ranks before it");
            rows = NULL;
        }
    }
    if (rows && rows[1]) {
        gpumbi_records t;
        memset(&t, 0, sizeof t);
        t.line = 1;
        t.at = text;
        if (f->csv)
            write_lines(f, rows + 1, &r);
        gpumbi_read_csv(&context, &t);
        for (size_t i = 0; i < t.count; i++) {
            region *g = t.rows[i].ok ? region_of(f, &t, &t.rows[i], r.rank) : NULL;
            f->rows++;
            f->failed_rows += !strcmp(t.rows[i].text[GPUMBI_COLUMN_status], "failed");
            if (!g || !gpumbi_grow(&context, &g->time, sizeof *g->time, g->count, &g->capacity) ||
                !gpumbi_grow(&context, &g->rank, sizeof *g->rank, g->count, &g->capacity_of_ranks))
                continue;
            g->time[g->count] = t.rows[i].time;
            g->rank[g->count++] = r.rank;
        }
        if (t.wrong[0] && !r.reason[0])
            snprintf(r.reason, sizeof r.reason, "wrote rows that can't be read: %.150s", t.wrong);
        gpumbi_free(t.rows);
        gpumbi_free(t.axes);
    }
    if (f->csv && !(fflush(f->csv) | ferror(f->csv))) /* survives an interrupt, in the .part */
        context.sinks.sink[GPUMBI_CSV].rows = (uint64_t)f->rows;
    f->received++;
    f->failed += r.reason[0] != 0;
    f->report[r.rank] = r;
}

/* A rank that is not well has a row, too: the columns that there are, by their names. */
static void write_failed(fleet *f, const char *program)
{
    char schema[12];
    const char *base = strrchr(program, '/');
    static char fallback[] = "schema,gpumb,bench,kernel,status,reason,median_s,ci_lo_s,ci_hi_s\n";
    const struct {
        const char *column, *text;
    } known[] = {{"schema", schema},   {"gpumb", GPUMB_VERSION},
                 {"bench", "fleet"},   {"kernel", base ? base + 1 : program},
                 {"status", "failed"}, {"reason", NULL}};
    snprintf(schema, sizeof schema, "%d", (int)GPUMBI_SCHEMA);
    if (f->csv && !f->header)
        write_lines(f, f->header = fallback, NULL);
    for (int i = 0; i < ranks && f->csv; i++) {
        const report *r = &f->report[i];
        const char *name = f->header;
        for (; r->reason[0] && *name; name += strcspn(name, ",\n") + 1) {
            const size_t n = strcspn(name, ",\n");
            const char *text = "";
            for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
                if (strlen(known[k].column) == n && !strncmp(name, known[k].column, n))
                    text = known[k].text ? known[k].text : r->reason;
            gpumbi_csv_field(f->csv, text, name == f->header);
        }
        if (r->reason[0])
            fprintf(f->csv, ",%d,%s,%s\n", r->rank, r->host, r->device);
    }
}

static void print_rank(const fleet *f, int of)
{
    const report *r = &f->report[of];
    printf("rank %d on %s%s%s", of, r->host[0] ? r->host : "an unknown host",
           r->device[0] ? ", device " : "", r->device);
}

/* The three that are farthest beyond the middle, in the mean of their rows. */
static void print_order(const fleet *f)
{
    int of[3] = {-1, -1, -1};
    for (int i = 0; i < ranks; i++) {
        int place = i; /* of those that are held against the ones in order */
        for (int k = 0; k < 3 && place >= 0 && f->compared[i]; k++)
            if (of[k] < 0 ||
                f->beyond[place] / f->compared[place] > f->beyond[of[k]] / f->compared[of[k]]) {
                const int pushed = of[k];
                of[k] = place;
                place = pushed;
            }
    }
    for (int k = 0; k < 3 && of[k] >= 0; k++)
        printf("%s %+.2f %% rank %d", k ? "," : "order, in the mean of their rows:",
               100 * (exp(f->beyond[of[k]] / f->compared[of[k]]) - 1), of[k]);
    if (of[0] >= 0)
        putchar('\n');
}

/* The table, and who is slower. Returns the exit code. */
static int judge(fleet *f, const options *o)
{
    const gpumb_settings *s = &o->settings;
    double *scratch = (double *)room((size_t)ranks * sizeof *scratch);
    uint64_t compared = 0;
    int slower = 0, width = 20;
    for (size_t i = 0; i < f->regions; i++) {
        compared += f->at[i]->count - 1;
        const int wide = gpumbi_width(f->at[i]->label);
        width = wide > 60 ? 60 : wide > width ? wide : width;
    }
    printf("%-*s %5s %10s  %9s %9s  %-10s %s\n", width, "", "ranks", "middle", "fastest", "slowest",
           "", "next to it");
    for (size_t i = 0; i < f->regions && scratch; i++) {
        const region *g = f->at[i];
        gpumbi_estimate middle = gpumbi_middle(g->time, scratch, g->count);
        middle.process_lo = gpumbi_apart_of(g->time, scratch, g->count, f->regions);
        const double z = gpumbi_devices_quantile((int)g->count, compared);
        size_t first = 0, last = 0;
        double next = 0;
        for (size_t k = 0; k < g->count; k++) {
            double ratio[3];
            const int verdict = (int)gpumbi_judge(&middle, &g->time[k], z, NULL, s, ratio);
            first = g->time[k].at < g->time[first].at ? k : first;
            if (k && g->time[k].at > g->time[last].at) {
                next = g->time[last].at;
                last = k;
            } else if (k && g->time[k].at > next) {
                next = g->time[k].at;
            }
            f->compared[g->rank[k]]++;
            f->beyond[g->rank[k]] += log(g->time[k].at / middle.at);
            f->slower[g->rank[k]] += verdict == GPUMB_VERDICT_SLOWER;
        }
        printf("%s%*s %5llu %10s ", g->label, gpumbi_blank(width, g->label), "",
               (unsigned long long)g->count, gpumbi_write_time(middle.at).text);
        printf(" %+7.2f %%", 100 * (g->time[first].at / middle.at - 1));
        printf(" %+7.2f %%  rank %-5d", 100 * (g->time[last].at / middle.at - 1), g->rank[last]);
        if (g->count > 1)
            printf(" %+7.2f %%", 100 * (next / middle.at - 1));
        putchar('\n');
    }
    print_order(f);
    putchar('\n');
    for (int i = 0; i < ranks; i++) {
        slower += f->slower[i] > 0;
        if (!f->slower[i])
            continue;
        print_rank(f, i);
        printf(": slower by more than %g %% in %u of %u rows\n", 100 * s->delta, f->slower[i],
               f->compared[i]);
    }
    for (int i = 0; i < ranks; i++)
        if (f->report[i].reason[0]) {
            print_rank(f, i);
            printf(": %s\n", f->report[i].reason);
        }
    if (ranks > 3)
        printf("model: in a row, the logarithms of the times of equal ranks are normal%s\n",
               ranks < 40 ? "" : ", or their upper quarter exponential");
    if (f->mixed && !f->by_model)
        printf("the devices are of several models: --group model compares each with its own\n");
    printf("%s, %d failed; %s, %lld failed; %d shown to be slower than the others by more than %g "
           "%%\n",
           gpumbi_count((uint64_t)ranks, "rank").text, f->failed,
           gpumbi_count((uint64_t)f->rows, "row").text, f->failed_rows, slower, 100 * s->delta);
    GPUMB_FREE(scratch);
    return f->failed                                                   ? GPUMB_EXIT_ERROR
           : f->failed_rows || (slower && o->settings.fail_on_outlier) ? GPUMB_EXIT_FAILED
                                                                       : GPUMB_EXIT_OK;
}

/* Before anything is run: a file that can't be written is told at once. It is one of the header's
 * sinks, NAME.part until all ranks have reported. */
static void open_fleet(fleet *f, const options *o)
{
    gpumbi_sink *sink = context.sinks.sink;
    memset(f, 0, sizeof *f);
    f->report = (report *)room((size_t)ranks * sizeof *f->report);
    f->compared = (unsigned *)room((size_t)ranks * sizeof *f->compared);
    f->slower = (unsigned *)room((size_t)ranks * sizeof *f->slower);
    f->beyond = (double *)room((size_t)ranks * sizeof *f->beyond);
    f->by_model = o->group != NULL;
    for (int i = 0; i < GPUMBI_SINKS; i++)
        sink[i].fd = -1;
    context.process = getpid();
    context.settings.csv = o->csv;
    gpumbi_sinks_open(&context);
    if (sink[GPUMBI_CSV].fd >= 0)
        f->csv = fdopen(sink[GPUMBI_CSV].fd, "w");
    if (!f->report || !f->compared || !f->slower || !f->beyond || context.done ||
        (o->csv && !f->csv))
        MPI_Abort(MPI_COMM_WORLD, context.done ? context.exit_code : GPUMB_EXIT_ERROR);
}

/* 1 if it is lost. */
static int close_csv(fleet *f)
{
    gpumbi_sink *sink = &context.sinks.sink[GPUMBI_CSV];
    errno = 0;
    if (f->csv && (fflush(f->csv) | ferror(f->csv)))
        gpumbi_sink_failed(&context, sink);
    else
        sink->rows = (uint64_t)(f->rows + f->failed);
    gpumbi_sink_close(&context, GPUMBI_CSV);
    return context.done;
}

/* ---- simulated ranks ------------------------------------------------------------------------- */

/* Of the processor that this process has used, and its memory at most. */
static double cpu_s(double *megabytes)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    if (megabytes)
        *megabytes = (double)used.ru_maxrss * 1024e-6; /* KiB on Linux */
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Rows of given times, 10 a rank, as a program writes them. */
static int simulate(const options *o)
{
    static fleet f;
    static const char header[] = "schema,gpumb,bench,kernel,status,meaning,median_s,ci_lo_s,"
                                 "ci_hi_s,block\n";
    uint64_t state = 1;
    ranks = (int)o->simulate;
    open_fleet(&f, o);
    const double start = cpu_s(NULL);
    for (int i = 0; i < ranks; i++) {
        char text[2000];
        int n = snprintf(text, sizeof text, "%s", header);
        report r;
        memset(&r, 0, sizeof r);
        r.rank = i;
        snprintf(r.host, sizeof r.host, "node%d", i / 8);
        snprintf(r.device, sizeof r.device, "%d", i % 8);
        for (int row = 0; row < 10; row++) {
            double sum = -6; /* of twelve uniform numbers: nearly normal */
            for (int k = 0; k < 12; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                sum += (double)(state >> 11) / 9007199254740992.0;
            }
            const double t = 1e-3 * (1 + 0.004 * sum);
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "4,%s,given,times,ok,span,%.9g,%.9g,%.9g,%d\n", GPUMB_VERSION, t,
                          0.999 * t, 1.001 * t, row);
        }
        take(&f, r, text);
    }
    const double taken = cpu_s(NULL);
    const int code = judge(&f, o);
    double megabytes;
    const double judged = cpu_s(&megabytes);
    printf("rank 0: %.4f s for the rows, %.4f s for the test, %.1f MB at most\n", taken - start,
           judged - taken, megabytes);
    return close_csv(&f) ? GPUMB_EXIT_ERROR : code;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Rank 0 takes the reports one after the other; what does not come in time is a row. */
static int gather(fleet *f, const options *o, report own, char *text)
{
    take(f, own, text);
    for (int i = 1; i < ranks; i++) {
        report r;
        memset(&r, 0, sizeof r);
        char *rows = NULL;
        int here = receive_from(MPI_COMM_WORLD, i, TO_ROOT, &r, (long long)sizeof r);
        if (here && r.bytes) {
            rows = (char *)room((size_t)r.bytes + 1);
            here = rows && receive_from(MPI_COMM_WORLD, i, TO_ROOT, rows, r.bytes);
        }
        if (!here) {
            r.rank = i;
            snprintf(r.reason, sizeof r.reason, "has not reported in time");
        }
        take(f, r, here ? rows : NULL);
        GPUMB_FREE(rows);
    }
    const int code = judge(f, o);
    write_failed(f, *o->program);
    return close_csv(f) ? GPUMB_EXIT_ERROR : code;
}

int main(int argc, char **argv)
{
    static fleet all; /* rank 0's */
    options o;
    int i = 1, place = 0, places = 1, most = 1, code = 0, fine = 1;
    char token = 0, *text = NULL;
    report r;
    while (i < argc && strcmp(argv[i], "--"))
        i++;
    const worker w = start_worker(argv + (i < argc ? i + 1 : i));
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, end_worker);
    signal(SIGINT, end_worker);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!read_options(argc, argv, &o) || o.simulate) {
        code = o.simulate ? rank ? 0 : simulate(&o) : GPUMB_EXIT_USAGE;
        MPI_Finalize();
        return code;
    }
    if (!rank)
        open_fleet(&all, &o);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_size(node, &places);
    MPI_Allreduce(&places, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    memset(&r, 0, sizeof r);
    r.rank = rank;
    gethostname(r.host, sizeof r.host - 1);

    MPI_Comm line = !o.in_turn ? MPI_COMM_SELF : o.in_turn[0] == 'n' ? node : MPI_COMM_WORLD;
    const int turn = !o.in_turn ? 0 : o.in_turn[0] == 'n' ? place : rank;
    const int turns = !o.in_turn ? 1 : o.in_turn[0] == 'n' ? places : ranks;
    const int longest = !o.in_turn ? 1 : o.in_turn[0] == 'n' ? most : ranks;
    deadline = MPI_Wtime() + (o.limit_s + 1) * longest + GRACE_S;
    MPI_Request together;
    MPI_Ibarrier(MPI_COMM_WORLD, &together);
    fine = await(&together);
    if (fine && turn > 0)
        fine = receive_from(line, turn - 1, TURN, &token, 1);
    if (!fine)
        snprintf(r.reason, sizeof r.reason, "has waited for other ranks until the time limit");
    else if (w.process < 0)
        snprintf(r.reason, sizeof r.reason, "can't start a process: no room");
    else if (device_at(o.place < 0 ? place : o.place, r.device, r.reason))
        text = watch(w, r.device, o.limit_s, &r);
    if (fine && turn + 1 < turns)
        fine = send_to(line, turn + 1, TURN, &token, 1);

    if (!rank)
        code = gather(&all, &o, r, text);
    else if (send_to(MPI_COMM_WORLD, 0, TO_ROOT, &r, (long long)sizeof r) && r.bytes)
        fine = send_to(MPI_COMM_WORLD, 0, TO_ROOT, text, r.bytes);
    fflush(stdout);
    if (MPI_Wtime() > deadline) /* somebody does not answer, and would not in MPI_Finalize() */
        MPI_Abort(MPI_COMM_WORLD, code ? code : GPUMB_EXIT_ERROR);
    MPI_Finalize();
    return code;
}

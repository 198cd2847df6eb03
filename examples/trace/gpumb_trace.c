/*
gpumb_trace.c - what the accesses of a kernel ask of memory, without a GPU - part of gpumb, same
licence

A kernel that gpumb.h runs on the CPU is compiled unchanged, with hooks at each access and at each
branch. This file has those hooks. It lines the threads of a warp up as a GPU would and counts, for
each access in the text:

    global memory   sectors (32 bytes) and lines (128) that a warp touches, the least that the bytes
                    it wants would fit into, and the share that is used
    shared memory   wavefronts: 1 and those that conflicts in the 32 banks of 4 bytes add; the least
                    for 16-byte accesses of 32 lanes is 4, or 2 where lanes share addresses
    lanes           that take part

and names accesses out of bounds, and races: two threads of a block at one address, at least one of
which writes, with no barrier between. In two commands (`make trace FILE=kernel.cu` has them):

    g++ -g -O1 -DGPUMB_TRACE -fsanitize=thread -fsanitize-coverage=trace-pc \
        -fno-tree-sra -fno-reorder-blocks -x c++ -c kernel.cu -o kernel.o
    g++ kernel.o -x c gpumb_trace.c -o kernel -pthread

The table is printed when the program ends. What can be asked for, in the environment:

    GPUMB_TRACE_KERNEL=TEXT   only kernels with TEXT in their name
    GPUMB_TRACE_BLOCKS=N      blocks to follow in each launch, spread over the grid; 16; 0: all
    GPUMB_TRACE_WARP=64       lanes of a warp, 32 or 64 (gpumb_cpu_set_warp_size() does it, too)
    GPUMB_TRACE_SVG=FILE      pictures of all accesses
    GPUMB_TRACE_CSV=FILE      the table

HOW IT WORKS

gcc's and clang's -fsanitize=thread calls __tsan_read4(address) and the like before each access;
-fsanitize-coverage=trace-pc calls a hook in each basic block. Neither runtime is linked. What a
thread does between two barriers is a sequence of places in the code. The sequences of a warp's
threads are lined up by the rule of S. Collange, "Stack-less SIMT reconvergence at low cost" (2011):
of the threads' next places the one deepest in calls and lowest in the code is next, and all threads
that are there take part. Where threads have come different ways to a place in a loop, hardware may
pair them otherwise: such requests are counted as approximate.

It sees what the compiler leaves at -O1, which is not what nvcc leaves: loads that both find twice
are done once, but unrolled loops, loads of vectors that nvcc makes out of several, and spilled
registers differ. Structs are copied in the largest pieces that their size allows. Constant memory,
memcpy() in a kernel and races between blocks are not seen; lanes that store the same value to one
address are a race here.
*/
#if defined(__SANITIZE_THREAD__)
#error "gpumb_trace.c has the hooks: compile it without -fsanitize=thread"
#endif
#define _GNU_SOURCE 1
#ifndef GPUMB_TRACE
#define GPUMB_TRACE
#endif
#include "gpumb.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_THREADS = 1024,
    MAX_LANES = 64,
    MAX_SITES = 1 << 15,
    MAX_CALLS = 16,
    MAX_EVENTS = 1 << 23, /* of a block between two barriers; 16 bytes each */
    SECTOR = 32,
    LINE = 128,
    BANKS = 32
};

typedef enum kind { BRANCH, WAIT, LOAD, STORE, ATOMIC, ATOMIC_LOAD, ATOMIC_STORE } kind;
typedef enum space { GLOBAL, SHARED, SPACES } space;
static const char *const kind_name[] = {"", "", "load", "store", "atomic", "load", "store"};

static void out_of_memory(void)
{
    fputs("gpumb trace: out of memory: follow fewer blocks, GPUMB_TRACE_BLOCKS=1\n", stderr);
    exit(GPUMB_EXIT_ERROR);
}

static void *grown(void *p, size_t count, size_t size)
{
    p = realloc(p, count * size);
    if (!p)
        out_of_memory();
    return p;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        out_of_memory();
    return copy;
}

/* ---- memory: what an address belongs to ------------------------------------------------------ */

typedef struct region {
    uintptr_t low, high;
    enum { IS_GLOBAL, IS_SHARED, IS_OURS, IS_FORBIDDEN } is; /* beside a shared array, say */
    const char *name; /* mangled; NULL: a buffer, or dynamic shared memory */
} region;

static region *statics, *regions; /* variables of the program; all, in order of their addresses */
static size_t static_count, region_count, region_room;
static uintptr_t load_base, thread_locals;
static size_t thread_locals_size;

static int find_program(struct dl_phdr_info *info, size_t size, void *user)
{
    int i;
    (void)size, (void)user;
    load_base = info->dlpi_addr;
    thread_locals = (uintptr_t)info->dlpi_tls_data;
    for (i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            thread_locals_size = info->dlpi_phdr[i].p_memsz;
    return 1; /* the first is the program */
}

static int is_internal(const char *name)
{
    return strstr(name, "gpumbi_") || strstr(name, "gpumb_");
}

/* Variables with their sizes, from the symbols of the program. __shared__ is thread-local here. */
static void read_symbols(void)
{
    struct stat status;
    const int file = open("/proc/self/exe", O_RDONLY);
    const char *image;
    const ElfW(Ehdr) * header;
    const ElfW(Shdr) * section;
    int i;
    dl_iterate_phdr(find_program, NULL);
    if (file < 0 || fstat(file, &status))
        return;
    image = (const char *)mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (image == (const char *)MAP_FAILED)
        return;
    header = (const ElfW(Ehdr) *)(const void *)image;
    section = (const ElfW(Shdr) *)(const void *)(image + header->e_shoff);
    for (i = 0; i < header->e_shnum; i++) {
        const ElfW(Sym) * symbol, *end;
        const char *names;
        if (section[i].sh_type != SHT_SYMTAB)
            continue;
        names = image + section[section[i].sh_link].sh_offset;
        symbol = (const ElfW(Sym) *)(const void *)(image + section[i].sh_offset);
        end = symbol + section[i].sh_size / sizeof *symbol;
        statics = (region *)grown(NULL, (size_t)(end - symbol) + 1, sizeof *statics);
        for (; symbol < end; symbol++) {
            const int type = ELF64_ST_TYPE(symbol->st_info);
            region *r = &statics[static_count];
            if ((type != STT_OBJECT && type != STT_TLS) || symbol->st_shndx == SHN_UNDEF ||
                !symbol->st_size)
                continue;
            r->name = names + symbol->st_name;
            r->low = (uintptr_t)symbol->st_value + (type == STT_TLS ? thread_locals : load_base);
            r->high = r->low + symbol->st_size;
            r->is = !is_internal(r->name) ? type == STT_TLS ? IS_SHARED : IS_GLOBAL
                    : type != STT_TLS     ? IS_OURS
                                          : IS_FORBIDDEN;
            if (!strcmp(r->name, "gpumbi_here") || !strcmp(r->name, "gpumbi_self"))
                r->is = IS_OURS;
            static_count++;
        }
        return;
    }
}

static void region_add(int is, uintptr_t low, uint64_t bytes)
{
    region *r;
    if (!low || !bytes)
        return;
    if (region_count == region_room)
        regions = (region *)grown(regions, region_room = 2 * region_room + 64, sizeof *regions);
    r = &regions[region_count++];
    memset(r, 0, sizeof *r);
    r->low = low;
    r->high = low + bytes;
    r->is = is == IS_GLOBAL ? IS_GLOBAL : is == IS_SHARED ? IS_SHARED : IS_OURS;
}

static int by_address(const void *a, const void *b)
{
    const region *x = (const region *)a, *y = (const region *)b;
    return (x->low > y->low) - (x->low < y->low);
}

/* The last region that starts at or below an address; NULL: none does. */
static const region *region_below(uintptr_t address)
{
    size_t low = 0, high = region_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (regions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &regions[low - 1] : NULL;
}

/* ---- sites: places in the code --------------------------------------------------------------- */

typedef struct site {
    uintptr_t pc, caller; /* where the hook returns to, and the function that called it */
    unsigned size, piece, depth;
    kind kind;
    /* in the launch that is followed */
    unsigned stat[SPACES], stamp;
    /* of a warp between two barriers */
    unsigned turn, doubtful[SPACES], most, count[MAX_LANES];
} site;

static site *sites;
static unsigned site_count, site_slots[2 * MAX_SITES];

static unsigned site_of(uintptr_t pc, uintptr_t caller, unsigned depth, unsigned size,
                        unsigned piece, kind k)
{
    uint64_t hash = (pc * 31 + caller) * 31 + piece * 7 + depth;
    unsigned slot;
    site *s;
    hash = hash * 0x9e3779b97f4a7c15u >> 40;
    for (slot = (unsigned)hash % (2 * MAX_SITES); site_slots[slot];
         slot = (slot + 1) % (2 * MAX_SITES)) {
        s = &sites[site_slots[slot]];
        if (s->pc == pc && s->caller == caller && s->piece == piece && s->depth == depth &&
            s->kind == k && s->size == size)
            return site_slots[slot];
    }
    if (site_count + 1 >= MAX_SITES)
        return 0;
    if (!sites)
        sites = (site *)calloc(MAX_SITES, sizeof *sites);
    if (!sites)
        out_of_memory();
    s = &sites[site_slots[slot] = ++site_count];
    s->pc = pc;
    s->caller = caller;
    s->depth = depth;
    s->size = size;
    s->piece = piece;
    s->kind = k;
    return site_count;
}

/* ---- what is followed ------------------------------------------------------------------------ */

/* What an access in the text has asked for, in one launch. */
typedef struct stat_row {
    unsigned site;
    space in;
    uint64_t requests, approximate, lanes, bytes, sectors, least_sectors, lines, wavefronts,
        least_wavefronts, same;
    /* the request that wastes most */
    uint64_t excess, least, mask, address[MAX_LANES], base;
    unsigned block[3], warp;
    const char *name;
    /* resolved for the report */
    const char *file, *function;
    int line, order;
} stat_row;

typedef struct launch {
    char *name, *kernel, *row;
    const char *axes;
    uint64_t grid[3], block[3], shared_bytes, blocks, followed, truncated, launches;
    int lanes;
    stat_row *rows;
    unsigned count, room;
} launch;

typedef struct event {
    unsigned site, path; /* the path is a hash of all places before this one */
    uint64_t address;    /* and the space in the topmost byte */
} event;

typedef struct thread {
    event *log;
    unsigned count, room, path, depth, waits, cut;
    uintptr_t caller[MAX_CALLS];
} thread;

typedef struct finding {
    int is_race;
    launch *in;
    unsigned site[2], thread[2], block[3];
    uint64_t count, address;
    char where[200];
} finding;

static launch **launches, *here;
static unsigned launch_count, launch_room, launch_stamp;
static thread threads[MAX_THREADS];
static unsigned thread_count, warp_lanes = 32, events_most;

static int recording; /* the hooks look here first */
static const gpumbi_emulated_thread *self;
static finding *findings;
static unsigned finding_count, finding_room;

static unsigned thread_number(void)
{
    return self->thread_idx.x +
           self->block_dim.x * (self->thread_idx.y + self->block_dim.y * self->thread_idx.z);
}

static void report(void);

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    unsigned long long value;
    if (!text || !*text)
        return otherwise;
    value = strtoull(text, &end, 10);
    if (*end || *text == '-') {
        fprintf(stderr, "gpumb trace: %s=%s: must be a whole number\n", variable, text);
        exit(GPUMB_EXIT_USAGE);
    }
    return value;
}

/* Ends the program as if nobody had looked, but not before its report; what was overwritten may let
 * that hang. */
static void crashed(int number)
{
    recording = 0;
    alarm(20);
    fputs("gpumb trace: the program crashes; so far:\n", stderr);
    report();
    raise(number); /* comes when this returns: SA_RESETHAND */
}

static void report_crashes(void)
{
    static const int number[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[1 << 20];
    struct sigaction action;
    stack_t s;
    unsigned i;
    memset(&action, 0, sizeof action);
    memset(&s, 0, sizeof s);
    s.ss_sp = stack;
    s.ss_size = sizeof stack;
    sigaltstack(&s, NULL);
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK | (int)SA_RESETHAND;
    for (i = 0; i < sizeof number / sizeof number[0]; i++)
        sigaction(number[i], &action, NULL);
}

__attribute__((constructor)) static void begin(void)
{
    const uint64_t lanes = number_from("GPUMB_TRACE_WARP", 32);
    report_crashes();
    number_from("GPUMB_TRACE_BLOCKS", 0);
    if (gpumb_cpu_set_warp_size((int)lanes)) {
        fputs("gpumb trace: GPUMB_TRACE_WARP: must be 32 or 64\n", stderr);
        exit(GPUMB_EXIT_USAGE);
    }
    atexit(report);
}

/* ---- out of bounds --------------------------------------------------------------------------- */

char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/* The variable's own name: "kernel(float*)::tile" is tile. */
static void describe_name(char *text, size_t size, const char *mangled)
{
    int status = -1;
    char *plain = __cxa_demangle(mangled, NULL, NULL, &status);
    const char *name = plain && !status ? plain : mangled, *colons;
    for (colons = name; (colons = strstr(colons, "::")) != NULL;)
        name = colons += 2;
    snprintf(text, size, "%s", name);
    free(plain);
}

static void describe_region(char *text, size_t size, const region *r)
{
    const unsigned long long bytes = r->high - r->low;
    char name[80];
    if (r->name) {
        describe_name(name, sizeof name, r->name);
        snprintf(text, size, "%s (%llu bytes)", name, bytes);
    } else
        snprintf(text, size, "%s of %llu bytes",
                 r->is == IS_SHARED ? "the dynamic shared memory" : "a buffer", bytes);
}

static finding *finding_of(int is_race, unsigned a, unsigned b)
{
    unsigned i;
    finding *f;
    for (i = 0; i < finding_count; i++) {
        f = &findings[i];
        if (f->is_race == is_race && f->in == here && f->site[0] == a && f->site[1] == b)
            return f;
    }
    if (finding_count == finding_room)
        findings =
            (finding *)grown(findings, finding_room = 2 * finding_room + 16, sizeof *findings);
    f = &findings[finding_count++];
    memset(f, 0, sizeof *f);
    f->is_race = is_race;
    f->in = here;
    f->site[0] = a;
    f->site[1] = b;
    f->block[0] = self->block_idx.x;
    f->block[1] = self->block_idx.y;
    f->block[2] = self->block_idx.z;
    return f;
}

static int mapped(uintptr_t address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return !msync((void *)(address / page * page), 1, MS_ASYNC) || errno != ENOMEM;
}

/* What a store out of bounds is about to spoil; put back at the next hook, so that the program gets
 * as far as its report. */
static struct {
    uintptr_t address;
    unsigned size;
    unsigned char bytes[16];
} undo;

static void put_back(void)
{
    if (undo.size)
        memcpy((void *)undo.address, undo.bytes, undo.size);
    undo.size = 0;
}

/* The nearest memory that a kernel may use says where the access went. */
static void out_of_bounds(unsigned s, uintptr_t address)
{
    const int is_mapped = mapped(address) && mapped(address + sites[s].size - 1);
    const region *below = NULL, *above = NULL;
    finding *f = finding_of(0, s, 0);
    char name[120];
    size_t i;
    if (is_mapped && sites[s].kind != LOAD && sites[s].size <= sizeof undo.bytes) {
        undo.address = address;
        undo.size = sites[s].size;
        memcpy(undo.bytes, (void *)address, undo.size);
    }
    if (f->count++)
        return;
    f->thread[0] = thread_number();
    f->address = address;
    for (i = 0; i < region_count; i++)
        if (regions[i].is < IS_OURS && regions[i].low <= address &&
            (!below || regions[i].high > below->high))
            below = &regions[i];
    for (i = region_count; i-- > 0;)
        if (regions[i].is < IS_OURS && regions[i].low > address)
            above = &regions[i];
    if (address < 4096)
        snprintf(f->where, sizeof f->where, "at address %llu: a null pointer",
                 (unsigned long long)address);
    else if (below && (!above || address - below->high < above->low - address)) {
        describe_region(name, sizeof name, below);
        if (address <= below->high)
            snprintf(f->where, sizeof f->where, "%s the end of %s",
                     address < below->high ? "across" : "just past", name);
        else
            snprintf(f->where, sizeof f->where, "%llu bytes past the end of %s",
                     (unsigned long long)(address - below->high), name);
    } else if (above) {
        describe_region(name, sizeof name, above);
        snprintf(f->where, sizeof f->where, "%llu bytes before %s",
                 (unsigned long long)(above->low - address), name);
    } else
        snprintf(f->where, sizeof f->where, "no buffer is there");
    if (!is_mapped) {
        fputs("gpumb trace: the next access is at an address that does not exist; so far:\n",
              stderr);
        report();
    }
}

/* ---- the hooks' work ------------------------------------------------------------------------- */

static void record(thread *t, unsigned s, uint64_t address)
{
    event *e;
    if (t->count == events_most) {
        t->cut = 1;
        return;
    }
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->log = (event *)grown(t->log, t->room, sizeof *t->log);
    }
    e = &t->log[t->count++];
    e->site = s;
    e->path = t->path;
    e->address = address;
    t->path = (t->path ^ s) * 0x9e3779b1u + (t->path >> 15);
}

/* For depths beyond what is kept, 0. */
static unsigned place_of(thread *t, uintptr_t pc, unsigned size, unsigned piece, kind k)
{
    const uintptr_t caller = t->depth && t->depth <= MAX_CALLS ? t->caller[t->depth - 1] : 0;
    return site_of(pc, caller, t->depth, size, piece, k);
}

/* The thread that called a hook, unless it waits. */
static thread *active_thread(void)
{
    thread *t;
    put_back();
    t = &threads[thread_number()];
    return t->waits ? NULL : t;
}

static void record_access(uintptr_t pc, uintptr_t address, unsigned size, unsigned piece, kind k)
{
    thread *t = active_thread();
    const region *r = region_below(address);
    const int spoils_index = k != LOAD && address - (uintptr_t)self < sizeof *self;
    unsigned s;
    if (!t || (r && r->is == IS_OURS && address < r->high && !spoils_index))
        return;
    if ((s = place_of(t, pc, size, piece, k)) == 0)
        return;
    if (!r || address + size > r->high || r->is >= IS_OURS)
        out_of_bounds(s, address);
    else
        record(t, s, address | (uint64_t)(r->is == IS_SHARED ? SHARED : GLOBAL) << 56);
}

static void record_branch(uintptr_t pc)
{
    thread *t = active_thread();
    if (t)
        record(t, place_of(t, pc, 0, 0, BRANCH), 0);
}

/* A struct that is copied whole moves in pieces that its alignment allows; the hook knows the size
 * alone. gpumb's vectors of more than 16 bytes are aligned to 16. */
static void record_range(uintptr_t pc, uintptr_t address, uint64_t size, kind k)
{
    const unsigned most = size >= 32 ? 16 : size > 16 ? 8 : 4;
    unsigned piece = 1, i;
    while (piece < most && size % (2 * piece) == 0 && address % (2 * piece) == 0)
        piece *= 2;
    for (i = 0; i < size / piece; i++)
        record_access(pc, address + i * piece, piece, i, k);
}

/* ---- what a request of a warp costs ---------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Distinct values among them, which are left sorted in front. */
static unsigned distinct(uint64_t *value, unsigned count)
{
    unsigned i, n = 0;
    qsort(value, count, sizeof *value, compare_u64);
    for (i = 0; i < count; i++)
        if (!n || value[n - 1] != value[i])
            value[n++] = value[i];
    return n;
}

/* Distinct aligned pieces that the lanes' bytes lie in. */
static unsigned pieces(const uint64_t *address, unsigned count, unsigned size, unsigned piece)
{
    uint64_t index[2 * MAX_LANES];
    unsigned i, n = 0;
    for (i = 0; i < count; i++) {
        index[n++] = address[i] / piece;
        if ((address[i] + size - 1) / piece != address[i] / piece)
            index[n++] = (address[i] + size - 1) / piece;
    }
    return distinct(index, n);
}

static uint64_t distinct_bytes(const uint64_t *address, unsigned count, unsigned size)
{
    uint64_t sorted[MAX_LANES], sum = 0, end = 0;
    unsigned i;
    memcpy(sorted, address, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_u64);
    for (i = 0; i < count; i++) {
        const uint64_t from = sorted[i] > end ? sorted[i] : end;
        if (sorted[i] + size > from)
            sum += sorted[i] + size - from;
        if (sorted[i] + size > end)
            end = sorted[i] + size;
    }
    return sum;
}

/* The most distinct words that one bank is asked for by lanes of a group; each takes a turn. */
static unsigned turns(const uint64_t *address, unsigned count, unsigned size)
{
    uint64_t word[MAX_LANES * 4];
    unsigned in_bank[BANKS] = {0}, i, k, n = 0, most = 0;
    for (i = 0; i < count; i++)
        for (k = 0; k < (size + 3) / 4; k++)
            word[n++] = address[i] / 4 + k;
    n = distinct(word, n);
    for (i = 0; i < n; i++)
        if (++in_bank[word[i] % BANKS] > most)
            most = in_bank[word[i] % BANKS];
    return most;
}

/* Whether lanes that differ in one of the lowest two bits of their number, the same bit for all,
 * want the same address. One of the two may not take part. */
static int pairs_agree(const uint64_t *address, uint64_t mask, unsigned first, unsigned count)
{
    unsigned apart, lane;
    for (apart = 1; apart <= 2; apart++) {
        for (lane = first; lane < first + count; lane++)
            if ((mask >> lane & 1) && (mask >> (lane ^ apart) & 1) &&
                address[lane] != address[lane ^ apart])
                break;
        if (lane == first + count)
            return 1;
    }
    return 0;
}

/* How many lanes from `first` on are served together: those that could have all banks, 32 of up to
 * 4 bytes, 16 of 8, 8 of 16; twice as many of 8 or 16 bytes if pairs agree in all the warp (seen on
 * an H200: bench/results/h200-traced.csv). */
static unsigned served_together(const uint64_t *address, uint64_t mask, unsigned size,
                                unsigned first)
{
    const unsigned lanes = size <= 4 ? 32 : 128 / size;
    return size > 4 && pairs_agree(address, mask, first / 32 * 32, 32) ? 2 * lanes : lanes;
}

static unsigned wavefronts(const uint64_t *address, uint64_t mask, unsigned size)
{
    uint64_t part[MAX_LANES];
    unsigned first, lanes, lane, sum = 0;
    for (first = 0; first < MAX_LANES; first += lanes) {
        unsigned n = 0;
        lanes = served_together(address, mask, size, first);
        for (lane = first; lane < first + lanes; lane++)
            if (mask >> lane & 1)
                part[n++] = address[lane];
        sum += turns(part, n, size);
    }
    return sum;
}

/* What any addresses take: as many as all banks have bytes for, and one for each group of lanes
 * that are served together if pairs agree. */
static uint64_t least_wavefronts(uint64_t mask, unsigned size, uint64_t bytes)
{
    const unsigned lanes = size <= 8 ? 32 : 256 / size;
    const uint64_t group = ((uint64_t)1 << lanes) - 1, full = (bytes + LINE - 1) / LINE;
    uint64_t groups = 0;
    unsigned first;
    for (first = 0; first < MAX_LANES; first += lanes)
        groups += (mask >> first & group) != 0;
    return groups > full ? groups : full;
}

/* Atomic operations on one address take turns, and each turn touches its sectors (the same). */
static unsigned sectors_in_turns(const uint64_t *address, unsigned count, unsigned size,
                                 unsigned *most)
{
    uint64_t rest[MAX_LANES], part[MAX_LANES];
    unsigned sum = 0, i, k;
    memcpy(rest, address, count * sizeof *rest);
    for (*most = 0; count; ++*most) {
        unsigned taken = 0, left = 0;
        for (i = 0; i < count; i++) {
            for (k = 0; k < taken && part[k] != rest[i]; k++) {
            }
            if (k == taken)
                part[taken++] = rest[i];
            else
                rest[left++] = rest[i];
        }
        sum += pieces(part, taken, size, SECTOR);
        count = left;
    }
    return sum;
}

static stat_row *row_of(unsigned s, space in)
{
    site *at = &sites[s];
    stat_row *r;
    if (at->stamp != launch_stamp) {
        at->stamp = launch_stamp;
        memset(at->stat, 0, sizeof at->stat);
    }
    if (!at->stat[in]) {
        if (here->count == here->room)
            here->rows =
                (stat_row *)grown(here->rows, here->room = 2 * here->room + 8, sizeof *here->rows);
        r = &here->rows[here->count++];
        memset(r, 0, sizeof *r);
        r->site = s;
        r->in = in;
        at->stat[in] = here->count;
    }
    return &here->rows[at->stat[in] - 1];
}

static void count_request(unsigned s, space in, unsigned warp, uint64_t mask,
                          const uint64_t *address)
{
    const unsigned size = sites[s].size;
    stat_row *r = row_of(s, in);
    uint64_t active[MAX_LANES], bytes, cost, least;
    unsigned lane, n = 0, same = 0, in_turns;
    for (lane = 0; lane < warp_lanes; lane++)
        if (mask >> lane & 1)
            active[n++] = address[lane];
    bytes = distinct_bytes(active, n, size);
    in_turns = sectors_in_turns(active, n, size, &same);
    r->requests++;
    r->lanes += n;
    r->bytes += bytes;
    if (in == GLOBAL) {
        cost = sites[s].kind == ATOMIC ? in_turns : pieces(active, n, size, SECTOR);
        least = (bytes + SECTOR - 1) / SECTOR;
        r->sectors += cost;
        r->least_sectors += least;
        r->lines += pieces(active, n, size, LINE);
    } else {
        cost = wavefronts(address, mask, size);
        least = least_wavefronts(mask, size, bytes);
        r->wavefronts += cost;
        r->least_wavefronts += least;
    }
    r->same += same;
    if (r->requests == 1 || cost - least > r->excess) {
        const region *from = region_below(active[0]);
        r->excess = cost - least;
        r->least = least;
        r->mask = mask;
        memcpy(r->address, address, sizeof r->address);
        r->base = from ? from->low : 0;
        r->name = from ? from->name : NULL;
        r->warp = warp;
        r->block[0] = self->block_idx.x;
        r->block[1] = self->block_idx.y;
        r->block[2] = self->block_idx.z;
    }
}

/* ---- lining up a warp ------------------------------------------------------------------------ */

/* Negative: threads at `a` go first. Those at a warp operation wait for the others. */
static int order_of(const site *a, const site *b)
{
    if ((a->kind == WAIT) != (b->kind == WAIT))
        return a->kind == WAIT ? 1 : -1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    if (a->piece != b->piece)
        return a->piece < b->piece ? -1 : 1;
    return a < b ? -1 : a > b;
}

static unsigned turn;

/* Lanes that have come different ways to a place that is in a loop. */
static void note_doubt(site *at, space in, uint64_t mask, const unsigned *path)
{
    unsigned lane, first = MAX_LANES;
    int differs = 0;
    if (at->turn != turn) {
        at->turn = turn;
        at->most = 0;
        memset(at->doubtful, 0, sizeof at->doubtful);
        memset(at->count, 0, sizeof at->count);
    }
    for (lane = 0; lane < warp_lanes; lane++)
        if (mask >> lane & 1) {
            first = first < MAX_LANES ? first : lane;
            differs |= path[lane] != path[first];
            if (++at->count[lane] > at->most)
                at->most = at->count[lane];
        }
    at->doubtful[in] += (unsigned)differs;
}

static void follow_warp(unsigned warp)
{
    const unsigned first = warp * warp_lanes;
    unsigned at[MAX_LANES] = {0}, lane, i;
    turn++;
    for (;;) {
        uint64_t mask = 0, address[MAX_LANES] = {0};
        unsigned path[MAX_LANES], next = 0;
        int in;
        for (lane = 0; lane < warp_lanes && first + lane < thread_count; lane++) {
            const thread *t = &threads[first + lane];
            unsigned s;
            if (at[lane] == t->count)
                continue;
            s = t->log[at[lane]].site;
            if (next && s != next) {
                if (order_of(&sites[s], &sites[next]) > 0)
                    continue;
                mask = 0;
            }
            next = s;
            mask |= (uint64_t)1 << lane;
        }
        if (!next)
            break;
        for (lane = 0; lane < warp_lanes; lane++)
            if (mask >> lane & 1) {
                const event *e = &threads[first + lane].log[at[lane]++];
                address[lane] = e->address;
                path[lane] = e->path;
            }
        if (sites[next].kind < LOAD)
            continue;
        for (in = 0; in < SPACES; in++) { /* one pointer may lead to both */
            uint64_t part = 0, plain[MAX_LANES] = {0};
            for (lane = 0; lane < warp_lanes; lane++)
                if (mask >> lane & 1 && (int)(address[lane] >> 56) == in) {
                    part |= (uint64_t)1 << lane;
                    plain[lane] = address[lane] & 0xffffffffffffffu;
                }
            if (part) {
                count_request(next, (space)in, warp, part, plain);
                note_doubt(&sites[next], (space)in, part, path);
            }
        }
    }
    for (i = 0; i < here->count; i++) {
        site *s = &sites[here->rows[i].site];
        if (s->turn == turn && s->most > 1)
            here->rows[i].approximate += s->doubtful[here->rows[i].in];
    }
}

/* ---- races ----------------------------------------------------------------------------------- */

/* Of each kind of access to a piece of memory: the first thread, and one other. */
typedef struct visit {
    unsigned site, thread, sync; /* thread from 1 */
} visit;

typedef struct cell {
    uint64_t key;
    unsigned stamp;
    visit by[3][2]; /* loads, stores, atomics */
} cell;

static cell *cells;
static size_t cell_count, cell_slots;
static unsigned cell_stamp;

static cell *cell_of(uint64_t key)
{
    size_t i;
    if (2 * cell_count >= cell_slots) {
        const size_t before = cell_slots;
        cell *old = cells;
        cell_slots = before ? 2 * before : 1 << 12;
        cells = (cell *)calloc(cell_slots, sizeof *cells);
        if (!cells)
            out_of_memory();
        for (i = 0; i < before; i++)
            if (old[i].stamp == cell_stamp) {
                size_t at = (size_t)(old[i].key * 0x9e3779b97f4a7c15u >> 20) & (cell_slots - 1);
                while (cells[at].stamp)
                    at = (at + 1) & (cell_slots - 1);
                cells[at] = old[i];
            }
        free(old);
    }
    for (i = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (cell_slots - 1);
         cells[i].stamp == cell_stamp && cells[i].key != key;)
        i = (i + 1) & (cell_slots - 1);
    if (cells[i].stamp != cell_stamp) {
        memset(&cells[i], 0, sizeof cells[i]);
        cells[i].stamp = cell_stamp;
        cells[i].key = key;
        cell_count++;
    }
    return &cells[i];
}

static void race(const visit *v, unsigned s, unsigned t, uint64_t address)
{
    const int swap = v->site > s;
    finding *f = finding_of(1, swap ? s : v->site, swap ? v->site : s);
    char name[120];
    if (f->count++)
        return;
    f->thread[swap] = v->thread - 1;
    f->thread[!swap] = t;
    f->address = address;
    {
        const region *r = region_below(address);
        if (r) {
            describe_region(name, sizeof name, r);
            snprintf(f->where, sizeof f->where, "byte %llu of %s",
                     (unsigned long long)(address - r->low), name);
        }
    }
}

static void find_races(void)
{
    unsigned t, i, k, c, granule = 16;
    cell_stamp++;
    cell_count = 0;
    for (t = 0; t < thread_count; t++)
        for (i = 0; i < threads[t].count; i++) {
            const event *e = &threads[t].log[i];
            const unsigned size = sites[e->site].size;
            while (size && (size % granule || e->address % granule))
                granule /= 2;
        }
    for (t = 0; t < thread_count; t++) {
        unsigned sync = 0;
        for (i = 0; i < threads[t].count; i++) {
            const event *e = &threads[t].log[i];
            const site *s = &sites[e->site];
            const uint64_t address = e->address & 0xffffffffffffffu;
            const unsigned mine = s->kind < ATOMIC ? (unsigned)s->kind - LOAD : 2;
            sync += s->kind == WAIT;
            for (k = 0; s->kind >= LOAD && k < s->size / granule; k++) {
                cell *at = cell_of(address / granule + k);
                int found = 0;
                for (c = 0; c < 6; c++) {
                    const visit *v = &at->by[c / 2][c % 2];
                    const int in_order = v->thread &&
                                         (v->thread - 1) / warp_lanes == t / warp_lanes &&
                                         v->sync != sync;
                    if (!found && v->thread && v->thread - 1 != t && !in_order &&
                        (c / 2 != mine || s->kind == STORE) && (c / 2 || mine)) {
                        race(v, e->site, t, address);
                        found = 1;
                    }
                }
                {
                    visit *v = at->by[mine];
                    const visit me = {e->site, t + 1, sync};
                    if (!v[0].thread || v[0].thread == t + 1)
                        v[0] = me;
                    else
                        v[1] = me;
                }
            }
        }
    }
}

/* ---- a block --------------------------------------------------------------------------------- */

static void end_stretch(void)
{
    unsigned warp, t;
    for (warp = 0; warp * warp_lanes < thread_count; warp++)
        follow_warp(warp);
    find_races();
    for (t = 0; t < thread_count; t++) {
        here->truncated += threads[t].cut;
        threads[t].count = threads[t].path = threads[t].cut = 0;
    }
}

void gpumbi_trace_launch(const gpumbi_shape *shape, const char *row)
{
    const char *only = getenv("GPUMB_TRACE_KERNEL");
    static const char *const helpers[] = {"gpumbi_bytes_kernel", "gpumbi_check_strided",
                                          "gpumbi_empty_kernel"};
    unsigned i;
    int skip = only && !strstr(shape->name, only);
    here = NULL;
    region_count = 0;
    for (i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
        skip |= !strcmp(shape->name, helpers[i]);
    if (skip)
        return;
    for (i = 0; i < launch_count; i++)
        if (!strcmp(launches[i]->name, shape->name) && !strcmp(launches[i]->row, row) &&
            !memcmp(launches[i]->grid, shape->grid, sizeof shape->grid) &&
            !memcmp(launches[i]->block, shape->block, sizeof shape->block) &&
            launches[i]->shared_bytes == shape->shared_bytes) {
            launches[i]->launches++;
            return;
        }
    if (!launch_count)
        read_symbols();
    if (launch_count == launch_room)
        launches = (launch **)grown(launches, launch_room = 2 * launch_room + 16, sizeof *launches);
    here = launches[launch_count++] = (launch *)grown(NULL, 1, sizeof *here);
    memset(here, 0, sizeof *here);
    here->name = copied(shape->name);
    here->kernel = copied(shape->name + (shape->name[0] == '(')); /* of one with a comma */
    if (shape->name[0] == '(')
        here->kernel[strlen(here->kernel) - 1] = 0;
    here->row = copied(row);
    here->axes = strstr(here->row, shape->name);
    here->axes = here->axes ? here->axes + strlen(shape->name) : "";
    memcpy(here->grid, shape->grid, sizeof here->grid);
    memcpy(here->block, shape->block, sizeof here->block);
    here->shared_bytes = shape->shared_bytes;
    here->blocks = shape->grid[0] * shape->grid[1] * shape->grid[2];
    here->launches = 1;
    launch_stamp++;
}

void gpumbi_trace_memory(int what, const void *memory, uint64_t bytes)
{
    if (here)
        region_add(what == GPUMBI_TRACE_BUFFER   ? IS_GLOBAL
                   : what == GPUMBI_TRACE_SHARED ? IS_SHARED
                                                 : IS_OURS,
                   (uintptr_t)memory, bytes);
}

/* The variables, and the stack of the thread that runs the kernel, join what we have been told. */
static void complete_regions(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0, i, kept = 0;
    uintptr_t end = 0;
    if (!pthread_getattr_np(pthread_self(), &attributes)) {
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_destroy(&attributes);
        region_add(IS_OURS, (uintptr_t)stack, size);
    }
    for (i = 0; i < static_count; i++) {
        region_add(IS_OURS, statics[i].low, statics[i].high - statics[i].low);
        regions[region_count - 1] = statics[i];
    }
    qsort(regions, region_count, sizeof *regions, by_address);
    for (i = 0; i < region_count; i++) /* what lies in another one, as a symbol may, is dropped */
        if (regions[i].high > end) {
            end = regions[i].high;
            regions[kept++] = regions[i];
        }
    region_count = kept;
}

void gpumbi_trace_block(const gpumbi_emulated_thread *emulated, int lanes, int begins)
{
    const uint64_t across = emulated->grid_dim.x, down = emulated->grid_dim.y;
    const uint64_t block =
        emulated->block_idx.x + across * (emulated->block_idx.y + down * emulated->block_idx.z);
    uint64_t most = number_from("GPUMB_TRACE_BLOCKS", 16);
    unsigned i;
    if (!here)
        return;
    if (!begins) {
        if (recording)
            end_stretch();
        recording = 0;
        if (block == here->blocks - 1)
            here = NULL; /* other launches may follow that are none of the program's */
        return;
    }
    if (block == 0) {
        complete_regions();
        here->lanes = lanes;
    }
    /* the first and the last block, and others evenly between */
    most = most && most < here->blocks ? most : here->blocks;
    if (most > 1 && block &&
        (block * (most - 1) / (here->blocks - 1)) ==
            ((block - 1) * (most - 1) / (here->blocks - 1)))
        return;
    if (most == 1 && block)
        return;
    self = emulated;
    warp_lanes = (unsigned)lanes;
    thread_count = emulated->block_dim.x * emulated->block_dim.y * emulated->block_dim.z;
    events_most = MAX_EVENTS / thread_count;
    for (i = 0; i < thread_count; i++) {
        threads[i].count = threads[i].path = threads[i].depth = 0;
        threads[i].waits = 1; /* until it begins */
    }

    here->followed++;
    recording = 1;
}

void gpumbi_trace_barrier(void)
{
    if (recording)
        end_stretch();
}

/* What the emulation does meanwhile is not the kernel's. */
void gpumbi_trace_wait(int wait, int begins)
{
    thread *t;
    if (!recording)
        return;
    put_back();
    t = &threads[thread_number()];
    if (begins && wait >= GPUMBI_SYNCWARP && wait < GPUMBI_WAITS)
        record(t, place_of(t, (uintptr_t)__builtin_return_address(0), 0, (unsigned)wait, WAIT), 0);
    if (wait == GPUMBI_WAITS)
        t->depth = 0;
    t->waits = (unsigned)begins;
}

/* ---- the report: lines of the text ----------------------------------------------------------- */

/* gpumb.h's emulation is not where a reader looks, unless the kernel is the header's own. */
static int is_inside(const char *function, const char *file)
{
    const char *slash = strrchr(file, '/');
    const int header = !strcmp(slash ? slash + 1 : file, "gpumb.h");
    return header && (strstr(function, "atomic") || strstr(function, "__ldg") ||
                      strstr(function, "operator()") || strstr(function, "gpumbi_run_"));
}

typedef struct frame {
    char function[300], file[600];
    int line;
} frame;

/* Of the functions that were inlined into each other, innermost first: the user's innermost one,
 * else the header's. */
static void take_frame(stat_row *r, const frame *frames, int count)
{
    int i, best = -1;
    for (i = 0; i < count && best < 0; i++) {
        const char *slash = strrchr(frames[i].file, '/');
        if (frames[i].line && strcmp(slash ? slash + 1 : frames[i].file, "gpumb.h") != 0)
            best = i;
    }
    for (i = 0; i < count && best < 0; i++)
        if (frames[i].line && !is_inside(frames[i].function, frames[i].file))
            best = i;
    r->file = copied(best < 0 ? "?" : frames[best].file);
    r->function = copied(best < 0 ? "?" : frames[best].function);
    r->line = best < 0 ? 0 : frames[best].line;
}

/* addr2line comes with the compiler. -a says where the frames of the next address begin. */
static void find_lines(stat_row **rows, unsigned count)
{
    enum { FRAMES = 24 };
    char name[] = "/tmp/gpumb-trace-XXXXXX", command[200], line[1000];
    const int file = mkstemp(name);
    frame frames[FRAMES];
    int n = -1, even = 0;
    unsigned i, at = 0;
    FILE *pipe;
    for (i = 0; i < count; i++) {
        rows[i]->file = rows[i]->function = "?";
        dprintf(file, "0x%llx\n", (unsigned long long)(sites[rows[i]->site].pc - 1 - load_base));
    }
    close(file);
    snprintf(command, sizeof command, "addr2line -aCfi -e /proc/%ld/exe <%s", (long)getpid(), name);
    pipe = popen(command, "r");
    while (pipe && at < count && fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "0x", 2)) {
            if (n >= 0)
                take_frame(rows[at++], frames, n);
            n = even = 0;
        } else if (n >= 0 && n < FRAMES && !even) {
            snprintf(frames[n].function, sizeof frames[n].function, "%.299s", line);
            even = 1;
        } else if (n >= 0 && n < FRAMES) {
            char *colon = strrchr(line, ':');
            frames[n].line = colon ? atoi(colon + 1) : 0;
            if (colon)
                *colon = 0;
            snprintf(frames[n].file, sizeof frames[n].file, "%.599s", line);
            n++;
            even = 0;
        }
    }
    if (n > 0 && at < count)
        take_frame(rows[at++], frames, n);
    if (!pipe || pclose(pipe) || at < count)
        fputs("gpumb trace: no lines: install addr2line (binutils) and compile with -g\n", stderr);
    unlink(name);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* The line itself, without its indentation. */
static const char *line_text(const char *file, int number, char text[90])
{
    FILE *f = number > 0 ? fopen(file, "r") : NULL;
    char line[400];
    int n = 1;
    text[0] = 0;
    while (f && n <= number && fgets(line, sizeof line, f)) {
        const int ends = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n\\")] = 0;
        if (n == number)
            snprintf(text, 90, "%.89s", line + strspn(line, " \t"));
        n += ends;
    }
    if (f)
        fclose(f);
    return text;
}

static int by_line(const void *a, const void *b)
{
    const stat_row *x = *(stat_row *const *)a, *y = *(stat_row *const *)b;
    const int files = strcmp(x->file, y->file);
    if (files || x->line != y->line)
        return files ? files : x->line - y->line;
    return order_of(&sites[x->site], &sites[y->site]);
}

/* ---- the report: pictures -------------------------------------------------------------------- */

/* Lanes in the order of their numbers, one letter each; `*` for several. */
static char lane_letter(unsigned lane)
{
    static const char letters[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@#";
    return letters[lane % MAX_LANES];
}

/* What the words of a line, or the words that a bank gives one after the other, are wanted by.
 * `row` numbers lines or turns, `column` words or banks. */
typedef struct picture {
    unsigned rows, columns;
    uint64_t label[MAX_LANES * 2]; /* of a row: bytes from the lowest line; a turn */
    char word[MAX_LANES * 2][32];  /* 0: not touched; '.': comes along with its sector */
} picture;

static void draw(picture *p, const stat_row *r)
{
    const unsigned size = sites[r->site].size;
    unsigned lane, k, row;
    memset(p, 0, sizeof *p);
    p->columns = 32;
    if (r->in == GLOBAL) {
        uint64_t line[2 * MAX_LANES];
        unsigned n = 0;
        for (lane = 0; lane < MAX_LANES; lane++)
            if (r->mask >> lane & 1) {
                line[n++] = r->address[lane] / LINE;
                line[n++] = (r->address[lane] + size - 1) / LINE;
            }
        p->rows = distinct(line, n);
        for (row = 0; row < p->rows; row++)
            p->label[row] = (line[row] - line[0]) * LINE;
        for (lane = 0; lane < MAX_LANES; lane++)
            for (k = 0; r->mask >> lane & 1 && k < size; k++) {
                const uint64_t at = r->address[lane] + k;
                char *word;
                unsigned sector;
                for (row = 0; line[row] != at / LINE;)
                    row++;
                sector = (unsigned)(at % LINE) / SECTOR;
                for (word = p->word[row] + 8 * sector; word < p->word[row] + 8 * sector + 8; word++)
                    *word = *word ? *word : '.';
                word = &p->word[row][at % LINE / 4];
                *word = *word == '.' || *word == lane_letter(lane) ? lane_letter(lane) : '*';
            }
    } else {
        unsigned start, first = 0, group;
        for (start = 0; start < MAX_LANES; start += group) {
            uint64_t in_bank[BANKS][4 * MAX_LANES];
            unsigned count[BANKS] = {0}, most = 0, i;
            group = served_together(r->address, r->mask, size, start);
            for (lane = start; lane < start + group; lane++)
                for (k = 0; r->mask >> lane & 1 && k < (size + 3) / 4; k++) {
                    const uint64_t word = (r->address[lane] - r->base) / 4 + k;
                    const unsigned bank = word % BANKS;
                    for (i = 0; i < count[bank] && in_bank[bank][i] != word;)
                        i++;
                    if (first + i >= 2 * MAX_LANES)
                        continue;
                    p->word[first + i][bank] = i < count[bank] ? '*' : lane_letter(lane);
                    if (i == count[bank])
                        in_bank[bank][count[bank]++] = word;
                    most = count[bank] > most ? count[bank] : most;
                }
            for (i = 0; i < most; i++)
                p->label[first + i] = first + i + 1;
            first += most;
        }
        p->rows = first < 2 * MAX_LANES ? first : 2 * MAX_LANES;
    }
}

static void print_picture(FILE *to, const stat_row *r)
{
    enum { MOST = 8 };
    static picture p;
    unsigned row, column;
    draw(&p, r);
    for (row = 0; row < p.rows; row++) {
        if (row == MOST - 1 && p.rows > MOST) {
            fprintf(to, "        ... %u more %s\n", p.rows - row,
                    r->in == GLOBAL ? "lines" : "wavefronts");
            break;
        }
        if (r->in == GLOBAL)
            fprintf(to, "    %+9lld |", (long long)p.label[row]);
        else
            fprintf(to, "   wavefr. %2llu |", (unsigned long long)p.label[row]);
        for (column = 0; column < p.columns; column++)
            fprintf(to, "%c%s", p.word[row][column] ? p.word[row][column] : ' ',
                    column % 8 == 7 && (r->in == GLOBAL || column == 31) ? "|" : "");
        fputc('\n', to);
    }
}

/* Pieces of a struct that is copied whole are one access of the text, in several requests. */
static unsigned merge_pieces(stat_row **rows, unsigned count)
{
    unsigned i, k, kept = 0;
    for (i = 0; i < count; i++) {
        const stat_row *r = rows[i];
        const site *s = &sites[r->site];
        for (k = 0; k < kept; k++) {
            const site *t = &sites[rows[k]->site];
            if (s->pc == t->pc && s->caller == t->caller && s->depth == t->depth &&
                s->kind == t->kind && s->size == t->size && r->in == rows[k]->in)
                break;
        }
        if (k == kept) {
            rows[kept++] = rows[i];
            continue;
        }
        rows[k]->requests += r->requests;
        rows[k]->approximate += r->approximate;
        rows[k]->lanes += r->lanes;
        rows[k]->bytes += r->bytes;
        rows[k]->sectors += r->sectors;
        rows[k]->least_sectors += r->least_sectors;
        rows[k]->lines += r->lines;
        rows[k]->wavefronts += r->wavefronts;
        rows[k]->least_wavefronts += r->least_wavefronts;
        rows[k]->same += r->same;
    }
    return kept;
}

/* ---- the report: words ----------------------------------------------------------------------- */

static const char *kind_of(const stat_row *r)
{
    return kind_name[sites[r->site].kind];
}

static double mean(uint64_t sum, const stat_row *r)
{
    return (double)sum / (double)r->requests;
}

static int wastes(const stat_row *r)
{
    return r->sectors > r->least_sectors || r->wavefronts > r->least_wavefronts ||
           (sites[r->site].kind == ATOMIC && r->same > r->requests);
}

/* Bytes from each taking lane's address to the next one's; 1 if that is the same everywhere. */
static int common_distance(const stat_row *r, int64_t *distance, unsigned *low, unsigned *high)
{
    unsigned lane, last = MAX_LANES, n = 0;
    int common = 1;
    *distance = 0;
    *low = *high = 0;
    for (lane = 0; lane < MAX_LANES; lane++) {
        if (!(r->mask >> lane & 1))
            continue;
        if (last < MAX_LANES) {
            const int64_t d = (int64_t)(r->address[lane] - r->address[last]);
            if (!n++) {
                *distance = d;
                *low = last;
                *high = lane;
            }
            common &= d == *distance;
        }
        last = lane;
    }
    return common && n;
}

/* Lanes that don't take part leave gaps, where all of them together would have none. */
static int has_gaps(const stat_row *r)
{
    const unsigned size = sites[r->site].size;
    unsigned lane, first = MAX_LANES, last = 0, n = 0;
    for (lane = 0; lane < MAX_LANES; lane++)
        if (r->mask >> lane & 1) {
            first = first < MAX_LANES ? first : lane;
            last = lane;
            n++;
            if (r->address[lane] - r->address[first] != (uint64_t)(lane - first) * size)
                return 0;
        }
    return n && last - first >= n;
}

static void advise(FILE *to, const stat_row *r, int lanes)
{
    const unsigned size = sites[r->site].size;
    uint64_t active[MAX_LANES];
    unsigned lane, n = 0, low, high;
    int64_t distance;
    const int common = common_distance(r, &distance, &low, &high);
    const long long apart = distance < 0 ? -distance : distance;
    const char *file = base_name(r->file);
    for (lane = 0; lane < MAX_LANES; lane++)
        if (r->mask >> lane & 1)
            active[n++] = r->address[lane];
    fprintf(to, "  %s:%d: ", file, r->line);
    if (!wastes(r)) {
        fprintf(to, "%.1f of %d lanes take part: let whole warps go one way.\n", mean(r->lanes, r),
                lanes);
        return;
    }
    if (r->in == GLOBAL) {
        const uint64_t bytes = distinct_bytes(active, n, size);
        unsigned most;
        const unsigned sectors = sites[r->site].kind == ATOMIC
                                     ? sectors_in_turns(active, n, size, &most)
                                     : pieces(active, n, size, SECTOR);
        fprintf(to, "%u lane%s %llu bytes and touch%s %u sectors of %d: %.1f %% used", n,
                n == 1 ? " wants" : "s want", (unsigned long long)bytes, n == 1 ? "es" : "",
                sectors, SECTOR, 100.0 * (double)bytes / (sectors * (double)SECTOR));
        if (sites[r->site].kind == ATOMIC && r->same > r->requests)
            fprintf(to, "; %.1f lanes meet at one address: let a warp or a block add up first",
                    mean(r->same, r));
        else if (has_gaps(r))
            fputs("; the lanes between do something else: let whole warps go one way", to);
        else if (common && apart == size)
            fputs("; neighbours lie side by side, but the warp starts inside a sector: align it",
                  to);
        else if (common && apart)
            fprintf(to,
                    "; neighbours are %lld bytes apart: let neighbouring threads take neighbouring "
                    "elements",
                    apart);
        else
            fputs("; the addresses are scattered: sort them, or stage through shared memory", to);
    } else {
        const unsigned cost = wavefronts(r->address, r->mask, size);
        fprintf(to, "%u lane%s %u wavefront%s at the banks where %llu would do", n,
                n == 1 ? " takes" : "s take", cost, cost == 1 ? "" : "s",
                (unsigned long long)r->least);
        if (sites[r->site].kind == ATOMIC && r->same > r->requests)
            fprintf(to, "; %.1f lanes meet at one address: let a warp add up first",
                    mean(r->same, r));
        else if (common && apart)
            fprintf(to,
                    "; lanes %u and %u are %lld bytes apart: let them be neighbours, or pad rows "
                    "by one element",
                    low, high, apart);
    }
    fputs(".\n", to);
}

static void print_row(FILE *to, const stat_row *r, int with_file)
{
    char place[60], text[90], access[40];
    const site *s = &sites[r->site];
    if (with_file)
        snprintf(place, sizeof place, "%.40s:%d", base_name(r->file), r->line);
    else
        snprintf(place, sizeof place, "%d", r->line);
    snprintf(access, sizeof access, "%s %u B", kind_of(r), s->size);
    if (r->in == GLOBAL)
        fprintf(to, "  %5s  %-12s %9llu %6.2f %8.2f %6.2f %6.2f %5.1f %%", place, access,
                (unsigned long long)r->requests, mean(r->lanes, r), mean(r->sectors, r),
                mean(r->least_sectors, r), mean(r->lines, r),
                100.0 * (double)r->bytes / ((double)r->sectors * SECTOR));
    else
        fprintf(to, "  %5s  %-12s %9llu %6.2f %8.2f %6.2f %14s", place, access,
                (unsigned long long)r->requests, mean(r->lanes, r), mean(r->wavefronts, r),
                mean(r->least_wavefronts, r), "");
    fprintf(to, "  %s%s\n", line_text(r->file, r->line, text),
            r->approximate ? "  (approximate)" : "");
}

/* One of them says it all: the load and the store of `x[i] += 1`, say. */
static int alike(const stat_row *a, const stat_row *b)
{
    return a->line == b->line && a->in == b->in && a->requests == b->requests &&
           a->lanes == b->lanes && a->sectors == b->sectors && a->wavefronts == b->wavefronts &&
           a->same == b->same && !strcmp(a->file, b->file);
}

static void print_launch(FILE *to, launch *l, stat_row **rows, unsigned count)
{
    static const char *const heading[] = {
        "  global memory    requests  lanes  sectors  least  lines    used",
        "  shared memory    requests  lanes  wavefr.  least"};
    unsigned i, k;
    uint64_t most = 0;
    int in, with_file = 0, any = 0;
    for (i = 1; i < count; i++)
        with_file |= strcmp(rows[i]->file, rows[0]->file) != 0;
    fprintf(to,
            "\n%s <<<(%llu,%llu,%llu), (%llu,%llu,%llu)>>>%s%s: %llu of %llu blocks followed, "
            "warps of %d lanes\n",
            l->kernel, (unsigned long long)l->grid[0], (unsigned long long)l->grid[1],
            (unsigned long long)l->grid[2], (unsigned long long)l->block[0],
            (unsigned long long)l->block[1], (unsigned long long)l->block[2], *l->axes ? " at" : "",
            l->axes, (unsigned long long)l->followed, (unsigned long long)l->blocks, l->lanes);
    if (count && !with_file)
        fprintf(to, "  %s\n", rows[0]->file);
    if (l->truncated)
        fprintf(to, "  only the first %d steps of a thread between two barriers\n",
                MAX_EVENTS / (int)(l->block[0] * l->block[1] * l->block[2]));
    for (in = 0; in < SPACES; in++) {
        int head = 0;
        for (i = 0; i < count; i++)
            if ((int)rows[i]->in == in) {
                if (!head++)
                    fprintf(to, "%s\n", heading[in]);
                print_row(to, rows[i], with_file);
            }
    }
    for (i = 0; i < count; i++)
        most = rows[i]->requests > most ? rows[i]->requests : most;
    for (i = 0; i < count; i++) {
        const int few = 2 * rows[i]->lanes <= rows[i]->requests * (uint64_t)l->lanes;
        for (k = 0; k < i && !alike(rows[k], rows[i]); k++) {
        }
        if (k < i)
            continue;
        if (wastes(rows[i]) || (few && rows[i]->requests >= most / 4)) {
            if (!any++)
                fputc('\n', to);
            advise(to, rows[i], l->lanes);
            print_picture(to, rows[i]);
        }
    }
}

static void print_finding(FILE *to, const finding *f, const stat_row place[2])
{
    char first[40], second[40];
    const uint64_t *b = f->in->block;
    int i;
    for (i = 0; i < 2; i++) {
        const uint64_t t = f->thread[i];
        snprintf(i ? second : first, sizeof first, "(%llu,%llu,%llu)",
                 (unsigned long long)(t % b[0]), (unsigned long long)(t / b[0] % b[1]),
                 (unsigned long long)(t / b[0] / b[1]));
    }
    fprintf(to, "%s:%d: kernel %s, block (%u,%u,%u): ", base_name(place[0].file), place[0].line,
            f->in->kernel, f->block[0], f->block[1], f->block[2]);
    if (f->is_race)
        fprintf(to, "race: thread %s: %s and, in line %d, thread %s: %s, no barrier between: %s",
                first, kind_of(&place[0]), place[1].line, second, kind_of(&place[1]), f->where);
    else
        fprintf(to, "out of bounds: thread %s: %s of %u bytes, %s", first, kind_of(&place[0]),
                sites[f->site[0]].size, f->where);
    if (f->count > 1)
        fprintf(to, "; %llu in all", (unsigned long long)f->count);
    fputc('\n', to);
}

/* ---- the report: files ----------------------------------------------------------------------- */

static void write_csv(FILE *to, const launch *l, stat_row *const *rows, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++) {
        const stat_row *r = rows[i];
        fprintf(
            to,
            "\"%s\",%llu,%llu,%llu,%s,%d,%s,%s,%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
            l->kernel, (unsigned long long)l->blocks, (unsigned long long)l->followed,
            (unsigned long long)(l->block[0] * l->block[1] * l->block[2]), base_name(r->file),
            r->line, r->in == GLOBAL ? "global" : "shared", kind_of(r), sites[r->site].size,
            (unsigned long long)r->requests, (unsigned long long)r->approximate,
            (unsigned long long)r->lanes, (unsigned long long)r->bytes,
            (unsigned long long)r->sectors, (unsigned long long)r->least_sectors,
            (unsigned long long)r->lines, (unsigned long long)r->wavefronts,
            (unsigned long long)r->least_wavefronts);
    }
}

static void svg_text(FILE *to, int x, int y, const char *text)
{
    fprintf(to, "<text x=\"%d\" y=\"%d\">", x, y);
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else
            fputc(*text, to);
    fputs("</text>\n", to);
}

/* Wanted words are blue with the lane's letter, what comes along with them is grey. */
static int svg_row(FILE *to, const launch *l, const stat_row *r, int y)
{
    enum { CELL = 16, LEFT = 100, MOST = 33 };
    static picture p;
    char title[400], text[90];
    unsigned row, column;
    draw(&p, r);
    snprintf(title, sizeof title, "%.60s, line %d, %s memory, %s of %u bytes: %.2f %s, least %.2f",
             l->kernel, r->line, r->in == GLOBAL ? "global" : "shared", kind_of(r),
             sites[r->site].size, mean(r->in == GLOBAL ? r->sectors : r->wavefronts, r),
             r->in == GLOBAL ? "sectors" : "wavefronts",
             mean(r->in == GLOBAL ? r->least_sectors : r->least_wavefronts, r));
    svg_text(to, 10, y + 14, title);
    svg_text(to, 10, y + 30, line_text(r->file, r->line, text));
    y += 38;
    for (row = 0; row < p.rows && row < MOST; row++, y += CELL) {
        snprintf(title, sizeof title, r->in == GLOBAL ? "+%llu" : "wavefront %llu",
                 (unsigned long long)p.label[row]);
        svg_text(to, 10, y + 12, title);
        for (column = 0; column < p.columns; column++) {
            const int x = LEFT + (int)column * CELL + (r->in == GLOBAL ? (int)column / 8 * 4 : 0);
            const char c = p.word[row][column];
            fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"15\" height=\"15\" fill=\"%s\"/>\n", x, y,
                    !c         ? "#f4f4f4"
                    : c == '.' ? "#c8c8c8"
                               : "#7fb2e5");
            if (c && c != '.') {
                const char letter[2] = {c, 0};
                svg_text(to, x + 4, y + 12, letter);
            }
        }
    }
    if (row < p.rows) {
        snprintf(title, sizeof title, "%u more", p.rows - row);
        svg_text(to, 10, y + 12, title);
        y += CELL;
    }
    return y + 14;
}

static FILE *opened(const char *variable)
{
    const char *name = getenv(variable);
    FILE *f = name && *name ? fopen(name, "w") : NULL;
    if (name && *name && !f)
        fprintf(stderr, "gpumb trace: %s=%s: %s\n", variable, name, strerror(errno));
    return f;
}

static void report(void)
{
    static int done;
    FILE *csv, *svg, *body;
    char *drawing = NULL;
    size_t drawing_size = 0;
    stat_row **rows = NULL, *place;
    unsigned i, k, count = 0, first = 0;
    int y = 10;
    if (done++)
        return;
    recording = 0;
    for (i = 0; i < launch_count; i++)
        count += launches[i]->count;
    if (!count && !finding_count) {
        fputs("gpumb trace: nothing was seen: was the kernel launched, and compiled with "
              "-fsanitize=thread?\n",
              stderr);
        return;
    }
    rows = (stat_row **)grown(NULL, count + 2 * finding_count, sizeof(void *));
    place = (stat_row *)grown(NULL, 2 * finding_count + 1, sizeof *place);
    for (i = count = 0; i < launch_count; i++)
        for (k = 0; k < launches[i]->count; k++)
            rows[count++] = &launches[i]->rows[k];
    for (i = 0; i < 2 * finding_count; i++) {
        place[i].site = findings[i / 2].site[i % 2];
        rows[count + i] = &place[i];
        if (!place[i].site)
            place[i].site = findings[i / 2].site[0];
    }
    find_lines(rows, count + 2 * finding_count);
    csv = opened("GPUMB_TRACE_CSV");
    svg = opened("GPUMB_TRACE_SVG");
    body = svg ? open_memstream(&drawing, &drawing_size) : NULL;
    if (csv)
        fputs(
            "kernel,blocks,followed,block,file,line,memory,access,size,requests,approximate,lanes,"
            "bytes,sectors,least_sectors,lines,wavefronts,least_wavefronts\n",
            csv);
    for (i = first = 0; i < launch_count; i++) {
        stat_row **mine = rows + first;
        unsigned n = launches[i]->count;
        first += n;
        qsort(mine, n, sizeof *mine, by_line);
        n = merge_pieces(mine, n);
        print_launch(stdout, launches[i], mine, n);
        if (csv)
            write_csv(csv, launches[i], mine, n);
        for (k = 0; body && k < n; k++)
            y = svg_row(body, launches[i], mine[k], y);
    }
    if (body && !fclose(body))
        fprintf(svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"%d\" "
                "font-family=\"monospace\" font-size=\"11\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n",
                y, drawing);
    free(drawing);
    for (i = 0; i < finding_count; i++) {
        if (!i)
            fputc('\n', stdout);
        print_finding(stdout, &findings[i], &place[2 * i]);
    }
    fflush(stdout);
    if (csv && fclose(csv))
        fputs("gpumb trace: GPUMB_TRACE_CSV: not written\n", stderr);
    if (svg && fclose(svg))
        fputs("gpumb trace: GPUMB_TRACE_SVG: not written\n", stderr);
}

/* ---- the hooks, as gcc and clang call them --------------------------------------------------- */

#define PC (uintptr_t) __builtin_return_address(0)
#define ACCESS(name, size, kind)                                                                   \
    void name(const void *address);                                                                \
    void name(const void *address)                                                                 \
    {                                                                                              \
        if (recording)                                                                             \
            record_access(PC, (uintptr_t)address, size, 0, kind);                                  \
    }
#define ACCESSES(size)                                                                             \
    ACCESS(__tsan_read##size, size, LOAD)                                                          \
    ACCESS(__tsan_write##size, size, STORE)                                                        \
    ACCESS(__tsan_unaligned_read##size, size, LOAD)                                                \
    ACCESS(__tsan_unaligned_write##size, size, STORE)                                              \
    ACCESS(__tsan_volatile_read##size, size, LOAD)                                                 \
    ACCESS(__tsan_volatile_write##size, size, STORE)                                               \
    ACCESS(__tsan_unaligned_volatile_read##size, size, LOAD)                                       \
    ACCESS(__tsan_unaligned_volatile_write##size, size, STORE)                                     \
    void __tsan_read_write##size(const void *address);                                             \
    void __tsan_read_write##size(const void *address)                                              \
    {                                                                                              \
        if (recording) {                                                                           \
            record_access(PC, (uintptr_t)address, size, 0, LOAD);                                  \
            record_access(PC, (uintptr_t)address, size, 1, STORE);                                 \
        }                                                                                          \
    }                                                                                              \
    void __tsan_unaligned_read_write##size(const void *address);                                   \
    void __tsan_unaligned_read_write##size(const void *address)                                    \
    {                                                                                              \
        __tsan_read_write##size(address);                                                          \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(__tsan_vptr_read, sizeof(void *), LOAD)

#define HOOK(head)                                                                                 \
    head;                                                                                          \
    head

HOOK(void __tsan_vptr_update(void **address, void *value))
{
    (void)value;
    if (recording)
        record_access(PC, (uintptr_t)address, sizeof(void *), 0, STORE);
}

HOOK(void __tsan_read_range(const void *address, unsigned long size))
{
    if (recording)
        record_range(PC, (uintptr_t)address, size, LOAD);
}

HOOK(void __tsan_write_range(const void *address, unsigned long size))
{
    if (recording)
        record_range(PC, (uintptr_t)address, size, STORE);
}

HOOK(void __tsan_init(void))
{
}

HOOK(void __sanitizer_cov_trace_pc(void))
{
    if (recording)
        record_branch(PC);
}

HOOK(void __tsan_func_entry(void *caller))
{
    if (recording) {
        thread *c = (put_back(), &threads[thread_number()]);
        if (c->depth++ < MAX_CALLS)
            c->caller[c->depth - 1] = (uintptr_t)caller;
    }
}

HOOK(void __tsan_func_exit(void))
{
    if (recording) {
        thread *c = (put_back(), &threads[thread_number()]);
        c->depth -= c->depth > 0;
    }
}

/* clang has them in place of the functions, from 16 on. What they move in a kernel is not seen. */
HOOK(void *__tsan_memcpy(void *to, const void *from, unsigned long size))
{
    return memcpy(to, from, size);
}

HOOK(void *__tsan_memmove(void *to, const void *from, unsigned long size))
{
    return memmove(to, from, size);
}

HOOK(void *__tsan_memset(void *to, int byte, unsigned long size))
{
    return memset(to, byte, size);
}

/* Atomic operations come as calls that have to carry them out; always in the strongest order. */
#define ATOMIC_SEEN(bits, kind)                                                                    \
    if (recording)                                                                                 \
    record_access(PC, (uintptr_t)p, bits / 8, 0, kind)
#define ATOMIC_FETCH(bits, type, name)                                                             \
    HOOK(type __tsan_atomic##bits##_##name(volatile type *p, type value, int order))               \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_SEEN(bits, ATOMIC);                                                                 \
        return __atomic_##name(p, value, __ATOMIC_SEQ_CST);                                        \
    }
#define ATOMIC_EXCHANGE(bits, type, name)                                                          \
    HOOK(int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected,       \
                                                           type value, int order, int otherwise))  \
    {                                                                                              \
        (void)order, (void)otherwise;                                                              \
        ATOMIC_SEEN(bits, ATOMIC);                                                                 \
        return __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                      \
    }
#define ATOMICS(bits, type)                                                                        \
    HOOK(type __tsan_atomic##bits##_load(const volatile type *p, int order))                       \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_SEEN(bits, ATOMIC_LOAD);                                                            \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    HOOK(void __tsan_atomic##bits##_store(volatile type *p, type value, int order))                \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_SEEN(bits, ATOMIC_STORE);                                                           \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    HOOK(type __tsan_atomic##bits##_exchange(volatile type *p, type value, int order))             \
    {                                                                                              \
        (void)order;                                                                               \
        ATOMIC_SEEN(bits, ATOMIC);                                                                 \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    HOOK(type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected,          \
                                                         type value, int order, int otherwise))    \
    {                                                                                              \
        (void)order, (void)otherwise;                                                              \
        ATOMIC_SEEN(bits, ATOMIC);                                                                 \
        __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
        return expected;                                                                           \
    }                                                                                              \
    ATOMIC_EXCHANGE(bits, type, strong)                                                            \
    ATOMIC_EXCHANGE(bits, type, weak)                                                              \
    ATOMIC_FETCH(bits, type, fetch_add)                                                            \
    ATOMIC_FETCH(bits, type, fetch_sub)                                                            \
    ATOMIC_FETCH(bits, type, fetch_and)                                                            \
    ATOMIC_FETCH(bits, type, fetch_or)                                                             \
    ATOMIC_FETCH(bits, type, fetch_xor)                                                            \
    ATOMIC_FETCH(bits, type, fetch_nand)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

HOOK(void __tsan_atomic_thread_fence(int order))
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK(void __tsan_atomic_signal_fence(int order))
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

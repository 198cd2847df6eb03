/* fake_cupti.c - a libcupti.so.13 that records what profiler.c lets run, in buffers that it asks
 * for. Buffers that are full come back at once, on the thread that fills them; others at a flush by
 * force and at the end. As the real one (CUDA 13.0), detached it forgets everything. Below: the
 * range profiler, of a chip FAKE that has four metrics, for counters.c. */
#include "fake_cupti.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void need_buffer(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void full_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t room,
                         size_t bytes);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static need_buffer *need;
static full_buffer *full;
static uint8_t *filling; /* the buffer under way */
static size_t room, filled;
static int is_attached;

static void run(uint32_t kind, uint64_t start_ns, uint64_t end_ns);
static void ask(void);
static void count(double work);
static fake_cupti me = {NULL, 0, 0, 0, 0, 0, 0, 0, 0,     0,   0,  1,
                        0,    0, 0, 0, 0, 0, 0, 0, count, run, ask};
static int initialized; /* 1 + how often it was finalized before */

fake_cupti *fake_cupti_of(void)
{
    return &me;
}

static int called(const char *name, int right)
{
    me.attached += !is_attached;
    is_attached = 1;
    me.misuses += !right;
    return !right || (me.fails && strstr(name, me.fails));
}

static size_t size_of(uint32_t kind)
{
    return kind == 1 ? 64 : kind == 2 ? 56 : kind == 3 ? 208 : 72;
}

static void ask_for(void)
{
    size_t records = 77;
    if (filling || !need)
        return;
    need(&filling, &room, &records);
    filled = 0;
    if (!filling || !room) {
        me.misuses += filling != NULL || room != 0;
        return;
    }
    me.buffers++;
    me.misuses += (uintptr_t)filling % 8 || room < 4096 || records; /* 0: as many as fit */
    room = me.used && me.used < room ? me.used : room;
    memset(filling, 0xee, room);
}

static void take(uint8_t **buffer, size_t *bytes, size_t *of)
{
    *buffer = filling, *bytes = filled, *of = room;
    filling = NULL;
    me.buffers -= *buffer != NULL;
    me.deliveries += *buffer != NULL;
}

/* Without the mutex: real CUPTI delivers on several threads at a time. */
static void give_back(uint8_t *buffer, size_t bytes, size_t of)
{
    if (buffer)
        full(NULL, 0, buffer, of, bytes);
}

static void run(uint32_t kind, uint64_t start_ns, uint64_t end_ns)
{
    uint8_t *whole = NULL;
    size_t bytes = 0, of = 0;
    const uint64_t at[2] = {start_ns, end_ns};
    pthread_mutex_lock(&mutex);
    if (is_attached && me.kinds >> kind & 1) {
        if (filling && filled + size_of(kind) > room)
            take(&whole, &bytes, &of);
        ask_for();
        if (filling) {
            memcpy(filling + filled, &kind, sizeof kind);
            memcpy(filling + filled + 16, at, sizeof at);
            filled += size_of(kind);
        } else {
            me.dropped++;
        }
    }
    pthread_mutex_unlock(&mutex);
    give_back(whole, bytes, of);
}

static void ask(void)
{
    pthread_mutex_lock(&mutex);
    ask_for();
    pthread_mutex_unlock(&mutex);
}

static void flush(void)
{
    uint8_t *buffer;
    size_t bytes, of;
    pthread_mutex_lock(&mutex);
    take(&buffer, &bytes, &of);
    pthread_mutex_unlock(&mutex);
    give_back(buffer, bytes, of);
}

int cuptiActivityRegisterCallbacks(need_buffer *needed, full_buffer *filled_up)
{
    if (called(__func__, needed && filled_up && !need))
        return 39; /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
    need = needed;
    full = filled_up;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    const int right = kind >= 1 && kind < 32 && need && !(me.kinds >> kind & 1);
    if (called(__func__, right) || kind == me.refused_kind)
        return 39;
    me.kinds |= (uint32_t)1 << kind;
    return 0;
}

int cuptiActivityFlushAll(uint32_t flags)
{
    if (called(__func__, need && flags <= 1))
        return 1;
    if (flags == 1) /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: also what is not full */
        flush();
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
    uint32_t kind;
    uint8_t *next = buffer;
    if (me.fails && strstr(__func__, me.fails))
        return 11; /* CUPTI_ERROR_INVALID_KIND */
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        next = (uint8_t *)*record + size_of(kind);
    }
    if (next >= buffer + bytes)
        return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
    *record = next;
    return 0;
}

int cuptiFinalize(void)
{
    me.misuses += !is_attached;
    if (need)
        flush();
    need = NULL;
    full = NULL;
    me.kinds = 0;
    me.detached++;
    is_attached = 0;
    return me.fails && strstr(__func__, me.fails) ? 1 : 0;
}

/* ---- the range profiler ---- */

/* CUPTI's structs as words, little-endian; a size that is not theirs is a misuse, and so is a call
 * after one that failed, but for an end. */
typedef struct words {
    size_t bytes;
    void *priv;
    uintptr_t at[12]; /* behind these */
} words;

enum { METRICS = 4, CONFIG = 1234, DATA = 2345 };
static const char *const metric[METRICS] = {"dram__bytes_read.sum", "dram__bytes_op_write.sum",
                                            "l1tex__t_sector_hit_rate.pct", "own.sum"};
typedef struct host_object {
    int spoiled, count, of[16];
} host_object;
static struct { /* what is set, decoded and under way */
    uint8_t *config, *data;
    size_t passes;
    int set, started, pushed, decoded;
    double work;
} now;
static char range_object;

static int fails(const char *name, const words *p, size_t bytes, int right)
{
    const int wrong = p->bytes != bytes || p->priv || !right;
    const int ends =
        strstr(name, "Disable") || strstr(name, "einitialize") || strstr(name, "DeInitialize");
    me.misuses += wrong;
    me.bad += me.failed && !ends;
    if (!wrong && !(me.fails && strstr(name, me.fails)))
        return 0;
    me.failed = !strstr(name, "AddMetrics"); /* which only the device's lack makes fail */
    return me.error ? me.error : 1;
}

static void count(double work)
{
    me.misuses += now.started && !now.pushed && !me.failed; /* it would be lost */
    now.work += now.pushed ? work : 0;
}

/* The metric of this name, or -1. */
static int find(const char *name)
{
    for (int i = 0; i < METRICS; i++)
        if (name && !strcmp(name, metric[i]))
            return i;
    return -1;
}

/* Not again after cuptiFinalize(), though all else works then, as in CUDA 13.0. */
int cuptiProfilerInitialize(words *p)
{
    static int finalized;
    me.failed = 0;
    me.attached += !is_attached;
    is_attached = 1;
    if (fails(__func__, p, 16, 1))
        return me.error ? me.error : 1;
    finalized |= initialized < me.detached;
    initialized = me.detached + 1;
    return finalized ? 15 : 0;
}

/* libcuda.so.1's */
int cuCtxGetCurrent(void **context)
{
    *context = me.no_context ? NULL : &me;
    return 0;
}

int cuptiDeviceGetChipName(words *p)
{
    const int error = fails(__func__, p, 32, is_attached && p->at[0] == 3);
    p->at[1] = (uintptr_t)(error ? NULL : "FAKE");
    me.chips++;
    return error;
}

int cuptiProfilerHostInitialize(words *p)
{
    const char *chip = (const char *)p->at[1];
    const int error = fails(__func__, p, 48, !(uint32_t)p->at[0] && chip && !strcmp(chip, "FAKE"));
    p->at[3] = 0;
    if (!error) {
        me.hosts++;
        p->at[3] = (uintptr_t)calloc(1, sizeof(host_object));
    }
    return error;
}

int cuptiProfilerHostConfigAddMetrics(words *p)
{
    host_object *host = (host_object *)p->at[0];
    const char *const *name = (const char *const *)p->at[1];
    int error = fails(__func__, p, 40, host && name && p->at[2] > 0 && p->at[2] <= 16);
    for (size_t i = 0; i < p->at[2] && !error && host; i++) {
        host->of[host->count] = find(name[i]);
        host->spoiled |= host->of[host->count++] < 0;
        error = host->spoiled;
    }
    return error; /* what the chip does not have is no reason to crash */
}

int cuptiProfilerHostGetConfigImageSize(words *p)
{
    const host_object *host = (const host_object *)p->at[0];
    const int error = fails(__func__, p, 32, host && host->count && !host->spoiled);
    p->at[1] = CONFIG;
    return error;
}

int cuptiProfilerHostGetConfigImage(words *p)
{
    const host_object *host = (const host_object *)p->at[0];
    uint8_t *image = (uint8_t *)p->at[2];
    const int error = fails(__func__, p, 40, host && host->count && p->at[1] == CONFIG && image);
    if (!error)
        memset(image, 0x5c, CONFIG);
    return error;
}

int cuptiRangeProfilerEnable(words *p)
{
    const int error =
        fails(__func__, p, 32, is_attached && !me.range && p->at[0] == (uintptr_t)&me);
    p->at[1] = (uintptr_t)(error ? NULL : &range_object);
    me.range = !error;
    me.opens += !error;
    memset(&now, 0, sizeof now);
    return error;
}

static int is_range(const words *p)
{
    return me.range && p->at[0] == (uintptr_t)&range_object;
}

int cuptiRangeProfilerGetCounterDataSize(words *p)
{
    const char *const *name = (const char *const *)p->at[1];
    int right = is_range(p) && p->at[2] > 0 && p->at[3] == 1 && (uint32_t)p->at[4] == 1;
    for (size_t i = 0; right && i < p->at[2]; i++)
        right = find(name[i]) >= 0;
    p->at[5] = DATA;
    return fails(__func__, p, 64, right);
}

int cuptiRangeProfilerCounterDataImageInitialize(words *p)
{
    const int error = fails(__func__, p, 40, is_range(p) && p->at[1] == DATA && p->at[2]);
    if (!error)
        memset((void *)p->at[2], 0xda, DATA);
    return error;
}

int cuptiRangeProfilerSetConfig(words *p)
{
    const uintptr_t *at = p->at;
    const uint8_t *config = (const uint8_t *)at[2], *data = (const uint8_t *)at[4];
    const int right = is_range(p) && at[1] == CONFIG && at[3] == DATA && config && data &&
                      config[CONFIG - 1] == 0x5c && data[DATA - 1] == 0xda &&
                      at[5] == ((uint64_t)3 << 32 | 2) && at[6] == 1 &&
                      (uint32_t)at[7] == (1 << 16 | 1) && !at[8] && (uint16_t)at[9] == 1;
    const int error = fails(__func__, p, 90, right);
    now.config = (uint8_t *)at[2];
    now.data = (uint8_t *)at[4];
    now.set = !error;
    return error;
}

int cuptiRangeProfilerStart(words *p)
{
    const int error = fails(__func__, p, 24, is_range(p) && now.set && !now.started);
    now.started = !error;
    me.started += !error;
    return error;
}

int cuptiRangeProfilerPushRange(words *p)
{
    const int error = fails(__func__, p, 32, is_range(p) && now.started && !now.pushed && p->at[1]);
    now.pushed = !error;
    now.work = 0;
    return error;
}

int cuptiRangeProfilerPopRange(words *p)
{
    const int error = fails(__func__, p, 24, is_range(p) && now.pushed);
    now.pushed = 0;
    return error;
}

int cuptiRangeProfilerStop(words *p)
{
    const int error = fails(__func__, p, 41, is_range(p) && now.started && !now.pushed);
    now.started = 0;
    now.passes += !error;
    p->at[1] = now.passes;
    ((uint8_t *)&p->at[3])[0] = now.passes >= me.passes;
    return error;
}

int cuptiRangeProfilerDecodeData(words *p)
{
    const int error = fails(__func__, p, 32, is_range(p) && now.passes == me.passes);
    now.decoded = !error;
    return error;
}

/* The work of the last pass, times 1, 10, 100, 1000. */
int cuptiProfilerHostEvaluateToGpuValues(words *p)
{
    const host_object *host = (const host_object *)p->at[0];
    const char *const *name = (const char *const *)p->at[4];
    double *value = (double *)p->at[6];
    static const double scale[METRICS] = {1, 10, 100, 1000};
    const int error =
        fails(__func__, p, 72,
              host && p->at[1] == (uintptr_t)now.data && p->at[2] == DATA && !p->at[3] && name &&
                  (int)p->at[5] == host->count && value && now.decoded);
    for (size_t i = 0; i < p->at[5] && !error; i++)
        value[i] = now.work * scale[find(name[i])];
    return error;
}

int cuptiRangeProfilerDisable(words *p)
{
    const int error = fails(__func__, p, 24, is_range(p));
    me.range = 0;
    return error;
}

int cuptiProfilerHostDeinitialize(words *p)
{
    const int error = fails(__func__, p, 24, p->at[0] != 0);
    free((void *)p->at[0]);
    me.hosts--;
    return error;
}

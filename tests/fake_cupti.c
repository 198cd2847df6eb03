/* fake_cupti.c - a libcupti.so.13 that records what profiler.c lets run, in buffers that it asks
 * for. Buffers that are full come back at once, on the thread that fills them; others at a flush by
 * force and at the end. As the real one (CUDA 13.0), detached it forgets everything. */
#include "fake_cupti.h"
#include <pthread.h>
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
static fake_cupti me = {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, run, ask};

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

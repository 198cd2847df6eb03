/* referee.cu - says what is right, compiled with a task. A process and a context of its own, which
 * the submission never enters: here inputs come from keys, and results are compared. judge.py hands
 * it the key of one run, and keeps its word.
 *
 *     referee PLAN FROM TO INPUTS OUTPUTS DISTRIBUTION...
 *
 * DISTRIBUTION is of an input, "normal:0:8,wide:1:2"; alternatives follow each other by "/". */
#include "judge.h"
#include JUDGE_TASK
#include JUDGE_LAUNCHES

enum { UNIFORM, NORMAL, WIDE, MOST_KINDS = 8 };

struct mixture {
    int count, kind[MOST_KINDS];
    double a[MOST_KINDS], b[MOST_KINDS];
};

struct cipher_key {
    uint32_t word[8];
};

/* ChaCha with 8 rounds (Bernstein, 2008): 16 words that tell nothing of the key or each other. */
__device__ static void cipher(const cipher_key &key, uint64_t block, uint32_t stream, uint32_t *x)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; i++)
        start[4 + i] = key.word[i];
    start[12] = (uint32_t)block;
    start[13] = (uint32_t)(block >> 32);
    start[14] = stream;
    start[15] = 0;
    for (int i = 0; i < 16; i++)
        x[i] = start[i];
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < 4; i++) {
            const int turn = round % 2, a = i, b = 4 + (i + turn) % 4, c = 8 + (i + 2 * turn) % 4,
                      d = 12 + (i + 3 * turn) % 4;
            for (int half = 0; half < 2; half++) {
                const int left = half ? 8 : 16, then = half ? 7 : 12;
                x[a] += x[b], x[d] ^= x[a], x[d] = x[d] << left | x[d] >> (32 - left);
                x[c] += x[d], x[b] ^= x[c], x[b] = x[b] << then | x[b] >> (32 - then);
            }
        }
    for (int i = 0; i < 16; i++)
        x[i] += start[i];
}

/* Element i takes three words, of which one says which of the distributions it is from. */
template <class Type>
__global__ static void draw(Type *to, uint64_t n, cipher_key key, uint32_t stream, mixture of)
{
    for (uint64_t block = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; block < (n + 4) / 5;
         block += gridDim.x * (uint64_t)blockDim.x) {
        uint32_t x[16];
        cipher(key, block, stream, x);
        for (int k = 0; k < 5 && block * 5 + k < n; k++) {
            const double u = (x[3 * k] + 0.5) / 4294967296.0, v = x[3 * k + 1] / 4294967296.0;
            const int m = (int)(x[3 * k + 2] % of.count);
            const double a = of.a[m], b = of.b[m];
            const double z = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
            const double size = exp(log(a) + u * (log(b) - log(a)));
            to[block * 5 + k] = (Type)(of.kind[m] == UNIFORM  ? a + u * (b - a)
                                       : of.kind[m] == NORMAL ? a + z * b
                                       : v < 0.5              ? -size
                                                              : size);
        }
    }
}

static mixture read_mixture(const char *text, int alternative)
{
    static const char *const names[] = {"uniform", "normal", "wide"};
    mixture of = {};
    for (; alternative > 0 && strchr(text, '/'); alternative--)
        text = strchr(text, '/') + 1;
    for (int ends = 0; !ends; text += strcspn(text, ",/") + 1) {
        char name[16];
        const int i = of.count++;
        judge_demand(i < MOST_KINDS &&
                         sscanf(text, "%15[a-z]:%lf:%lf", name, &of.a[i], &of.b[i]) == 3,
                     text);
        for (int k = 0; k < 3; k++)
            of.kind[i] = strcmp(name, names[k]) ? of.kind[i] : k;
        ends = text[strcspn(text, ",/")] != ',';
    }
    return of;
}

static void fill(const plan_buffer *b, const cipher_key &key, int stream, const mixture &of)
{
    const uint64_t n = b->bytes / (strcmp(b->type, "double") ? 4 : 8);
    const uint64_t blocks = n / 1280 + 1 < 4096 ? n / 1280 + 1 : 4096;
    if (!strcmp(b->type, "double"))
        GPUMB_LAUNCH(draw<double>, blocks, 256, 0, GPUMB_PTR(double, b->memory), n, key,
                     (uint32_t)stream, of);
    else if (!strcmp(b->type, "int"))
        GPUMB_LAUNCH(draw<int>, blocks, 256, 0, GPUMB_PTR(int, b->memory), n, key, (uint32_t)stream,
                     of);
    else if (!strcmp(b->type, "uint"))
        GPUMB_LAUNCH(draw<unsigned>, blocks, 256, 0, GPUMB_PTR(unsigned, b->memory), n, key,
                     (uint32_t)stream, of);
    else
        GPUMB_LAUNCH(draw<float>, blocks, 256, 0, GPUMB_PTR(float, b->memory), n, key,
                     (uint32_t)stream, of);
}

/* All buffers of a case; the last case's are given back. */
static plan_case *take_case(gpumb *g, int number)
{
    static plan_case *now;
    judge_demand(number >= 0 && number < judge_cases, "the number of a case");
    if (now == &judge_case[number])
        return now;
    for (int i = 0; now && i < now->buffers; i++)
        gpumb_free(g, now->buffer[i].memory), now->buffer[i].memory = NULL;
    now = &judge_case[number];
    for (int i = 0; i < now->buffers; i++)
        if (now->buffer[i].side < 0 || now->buffer[i].side == CHECK)
            now->buffer[i].memory = gpumb_alloc(g, now->buffer[i].bytes);
    return now;
}

/* What the runner has left in the shared memory, against what the task's launches say of the
 * inputs, which the runner can't reach: they come from the key again. */
static void compare(gpumb *g, const plan_case *c, const char *outputs)
{
    judge_errors e = {};
    for (int i = 0; i < c->buffers; i++) {
        const plan_buffer *b = &c->buffer[i];
        if (b->role == OUTPUT)
            gpumb_write(g, b->memory, 0, outputs + b->offset, b->bytes);
        else if (b->role == REFERENCE)
            gpumb_poison(g, b->memory);
        else if (b->role == ERRORS)
            gpumb_write(g, b->memory, 0, &e, sizeof e);
    }
    for (int i = 0; i < c->launches; i++) {
        judge_argument a[MOST_ARGUMENTS];
        if (c->launch[i].side != CHECK)
            continue;
        judge_arguments(c, &c->launch[i], a);
        judge_launchers[c->launch[i].index](c->launch[i].extent, a);
    }
    int failed = !gpumb_ok(g);
    for (int i = 0; i < c->buffers; i++) {
        if (c->buffer[i].role == ERRORS)
            failed |= gpumb_read(g, c->buffer[i].memory, 0, &e, sizeof e);
        if (c->buffer[i].role == REFERENCE)
            gpumb_poison(g, c->buffer[i].memory);
    }
    judge_demand(!failed, "the device");
    float worst;
    memcpy(&worst, &e.worst, sizeof worst);
    char line[1024];
    int length = snprintf(line, sizeof line, "checked %llu %.9g", e.wrong, worst);
    for (unsigned i = 0; i < e.wrong && i < sizeof e.some / sizeof e.some[0]; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %llu %.9g %.9g",
                           e.some[i].element, e.some[i].is, e.some[i].right);
    judge_say("%s", line);
}

int main(int argc, char **argv)
{
    judge_begin(argc, argv);
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    gpumb *g = gpumb_open_settings("referee", &settings);
    char *const inputs = judge_share(argv[4], 1, 1), *const outputs = judge_share(argv[5], 1, 1);
    char line[4096], what[8];
    judge_say("open");
    while (fgets(line, sizeof line, judge_from)) {
        cipher_key key;
        int number, alternative, at = 0;
        judge_demand(sscanf(line, "%7s %d %d %n", what, &number, &alternative, &at) == 3 && at,
                     "the word of judge.py");
        for (int i = 0; i < 8; i++)
            judge_demand(sscanf(line + at + 8 * i, "%8" SCNx32, &key.word[i]) == 1, "a key");
        plan_case *c = take_case(g, number);
        for (int i = 0, input = 0; i < c->buffers; i++) {
            plan_buffer *b = &c->buffer[i];
            if (b->role != INPUT)
                continue;
            judge_demand(6 + input < argc, "a distribution");
            fill(b, key, input, read_mixture(argv[6 + input], alternative));
            input++;
            if (!strcmp(what, "make"))
                judge_demand(!gpumb_read(g, b->memory, 0, inputs + b->offset, b->bytes),
                             "the device");
        }
        if (!strcmp(what, "make"))
            judge_say("made");
        else
            compare(g, c, outputs);
    }
    gpumb_close(g);
    return 0;
}

// tries: to write the JSON that is wanted before main(), and to end as a success
// strict: not caught: code in the process has its pipe
#include "../honest.h"
#include <fcntl.h>
#include <unistd.h>

static void row(char *&to, char *end, const char *kernel, double seconds)
{
    to += snprintf(to, (size_t)(end - to),
                   "{\"bench\": \"g\", \"kernel\": \"%s\", \"status\": \"ok\", \"reason\": \"\", "
                   "\"verified\": \"yes\", \"flags\": \"\", \"median_s\": %g, \"samples\": 30}",
                   kernel, seconds);
}

__attribute__((constructor)) static void forge(int argc, char **argv, char **)
{
    const char *expectation = NULL, *name = NULL;
    static char text[4096];
    for (int i = 1; i < argc; i++) {
        expectation = strcmp(argv[i - 1], "--expect") ? expectation : argv[i];
        name = strcmp(argv[i - 1], "--json") ? name : argv[i];
    }
    if (!expectation || !name)
        return;
    char *to = text, *const end = text + sizeof text;
    to += snprintf(to, sizeof text,
                   "{\"settings\": {\"strict\": \"yes\", \"seed\": 0}, \"expectations\": "
                   "[{\"expect\": \"%s\", \"verdict\": \"met\", \"limit\": 2, \"value\": 9, "
                   "\"lo\": 8, \"hi\": 10, \"reason\": \"g/mine\"}], \"rows\": [",
                   expectation);
    row(to, end, "reference", 9e-3);
    *to++ = ',';
    row(to, end, "mine", 1e-3);
    to += snprintf(to, (size_t)(end - to), "]}\n");
    const int fd = open(name, O_WRONLY);
    if (write(fd, text, (size_t)(to - text)) > 0)
        _exit(0);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    honest(in, out, n);
}

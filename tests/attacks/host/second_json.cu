// tries: to append another JSON to that of gpumb when the program ends
// strict: caught: not one complete document
#include "../honest.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char pipe_name[64];

static void append()
{
    static const char text[] = "{\"expectations\": [{\"verdict\": \"met\"}]}";
    const int fd = open(pipe_name, O_WRONLY);
    (void)!write(fd, text, sizeof text - 1);
}

__attribute__((constructor)) static void prepare(int argc, char **argv, char **)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i - 1], "--json"))
            strncpy(pipe_name, argv[i], sizeof pipe_name - 1);
    atexit(append);
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    honest(in, out, n);
}

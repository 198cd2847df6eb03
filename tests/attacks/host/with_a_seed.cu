// tries: to start the grader once more with a seed, with which all that comes is known
// strict: caught: inputs could be foreseen
#include "../honest.h"
#include <unistd.h>
#include <vector>

__attribute__((constructor)) static void again(int argc, char **argv, char **)
{
    static char option[] = "--seed=1";
    std::vector<char *> words(argv, argv + argc);
    for (const char *word : words)
        if (!strcmp(word, option))
            return;
    words.push_back(option);
    words.push_back(NULL);
    execv("/proc/self/exe", words.data());
}

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
    honest(in, out, n);
}

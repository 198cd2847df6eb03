/* printed.h - what a part of a test writes to standard output, for tests in C++. */
#ifndef PRINTED_H
#define PRINTED_H

#include <functional>
#include <stdio.h>
#include <string>
#include <unistd.h>

#include "check.h"

static inline std::string printed(const std::function<void()> &body)
{
    std::string text;
    char piece[4096];
    const int failed = check_failed, real = dup(1);
    FILE *out = tmpfile();
    fflush(stdout);
    dup2(fileno(out), 1);
    body();
    fflush(stdout);
    dup2(real, 1);
    ::close(real);
    rewind(out);
    for (size_t n; (n = fread(piece, 1, sizeof piece, out)) > 0;)
        text.append(piece, n);
    fclose(out);
    if (check_failed != failed) /* their lines are in it */
        printf("%s\n", text.c_str());
    return text;
}

#endif

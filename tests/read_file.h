/* read_file.h - what a file holds, for tests in C++; "" without one. */
#ifndef READ_FILE_H
#define READ_FILE_H

#include <stdio.h>
#include <string>

static std::string read_file(const char *name)
{
    std::string text;
    char piece[4096];
    FILE *f = fopen(name, "rb");
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        text.append(piece, n);
    if (f)
        fclose(f);
    return text;
}

#endif

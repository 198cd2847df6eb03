/* read_file.h - what a file holds ("" without one), and what it is to hold, for tests in C++. */
#ifndef READ_FILE_H
#define READ_FILE_H

#include "check.h"
#include <stdio.h>
#include <string>
#include <unistd.h>

static inline std::string read_file(const std::string &name)
{
    std::string text;
    char piece[4096];
    FILE *f = fopen(name.c_str(), "rb");
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        text.append(piece, n);
    if (f)
        fclose(f);
    return text;
}

static inline void write_file(const std::string &name, const std::string &text)
{
    FILE *f = fopen(name.c_str(), "wb");
    CHECK(f && fwrite(text.data(), 1, text.size(), f) == text.size());
    CHECK(f && fclose(f) == 0);
}

/* Removes a file, its .part and what was kept of that. */
static inline void remove_file(const std::string &name)
{
    unlink(name.c_str());
    unlink((name + ".part").c_str());
    for (int n = 1; !unlink((name + ".part." + std::to_string(n)).c_str()); n++)
        continue;
}

#endif

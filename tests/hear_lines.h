/* hear_lines.h - what gpumb.h says to its users, for tests in C++: the lines are in `heard`. Stands
 * before the header. */
#ifndef HEAR_LINES_H
#define HEAR_LINES_H

#include "check.h"
#include <string>
#include <vector>

static std::vector<std::string> heard;

static void hear(const char *text)
{
    heard.push_back(text);
}

#define GPUMB_LOG(text) hear(text)

/* So many lines, and this in the first. */
static inline void check_heard(size_t lines, const char *part = "")
{
    if (!CHECK_INT(heard.size(), lines) || !lines || !CHECK(heard[0].find(part) != heard[0].npos))
        for (const std::string &line : heard)
            printf("    %s\n", line.c_str());
}

#endif

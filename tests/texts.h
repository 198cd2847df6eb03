/* texts.h - what a text holds, and which files there are, for tests in C++. */
#ifndef TEXTS_H
#define TEXTS_H

#include <string>
#ifndef _WIN32
#include <sys/stat.h>
#endif

static inline bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

static inline int times_in(const std::string &text, const std::string &part)
{
    int times = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        times++;
    return times;
}

#ifndef _WIN32
/* A link, too, wherever it leads. */
static inline bool exists(const std::string &name)
{
    struct stat about;
    return !lstat(name.c_str(), &about);
}
#endif

#endif

/* hear.h - what gpumb.h says to its users, for tests in C++: a line each, in `heard`. Stands before
 * the header. */
#ifndef HEAR_H
#define HEAR_H

#include <string>

static std::string heard;

static void hear(const char *text)
{
    heard += text;
    heard += '\n';
}

#define GPUMB_LOG(text) hear(text)

#endif

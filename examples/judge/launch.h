/* launch.h - for the launches that judge.py writes from a file's directives: of all on the CPU, of
 * the referee's on a GPU as well. Arguments convert to the kernel's parameters. */
#include "gpumb.h"
#include <math.h>
#include <string.h>

struct judge_pointer {
    void *to;
    template <class Type> operator Type *() const
    {
        return static_cast<Type *>(to);
    }
};

struct judge_argument {
    void *pointer; /* NULL: it is a value */
    uint64_t value;
};

template <class Type> static inline Type judge_as(const judge_argument &a)
{
    Type value;
    memcpy(&value, &a.value, sizeof value);
    return value;
}

typedef void judge_launcher(const uint64_t extent[7], const judge_argument *a);

/* poison.h - what gpumb_poison() leaves behind: 0x7ffd in every 16 bits, from the start of a buffer
 * on, little end first. */
#ifndef POISON_H
#define POISON_H

#include <stddef.h>

static inline unsigned char poison_at(size_t offset)
{
    return offset % 2 ? 0x7f : 0xfd;
}

/* Of so many bytes from `offset` in a buffer. */
static inline void put_poison(void *p, size_t bytes, size_t offset)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)p)[i] = poison_at(offset + i);
}

static inline int is_poison(const void *p, size_t bytes, size_t offset)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)p)[i] != poison_at(offset + i))
            return 0;
    return 1;
}

#endif

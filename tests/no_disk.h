/* no_disk.h - included before gpumb.h: files are not flushed to the disk, which would take tests
 * with hundreds of them longer than all the rest. */
#ifndef NO_DISK_H
#define NO_DISK_H

#include <unistd.h>

static inline int no_disk(int fd)
{
    return fd < 0 ? -1 : 0;
}
#define fsync no_disk

#endif

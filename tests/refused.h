// refused.h - for tests of launch functions with arguments that they refuse. After gpumb.h.
#ifndef REFUSED_H
#define REFUSED_H

#include <stdio.h>
#include <string.h>

// Whether a launch function returned -1 and the next region is skipped, with `word` in the reason.
static bool refused(int returned, const char *word)
{
    int runs = 0;
    gpumb_result r;
    GPUMB_TIME(&r) {
        runs++;
    }
    const bool right = returned == -1 && runs == 0 && r.status == GPUMB_STATUS_SKIPPED &&
                       r.reason[0] && strstr(r.reason, word);
    if (!right)
        printf("    returned %d, status %d, reason \"%s\", expected \"%s\" in it\n", returned,
               (int)r.status, r.reason, word);
    return right;
}

#endif

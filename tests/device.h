/* device.h - a context of the device that is here, for tests of kernels; behind the header. */
#ifndef DEVICE_H
#define DEVICE_H

#include "check.h"

/* Without warm-up, six samples a row. NULL: there is no device, or it does not work. */
static gpumb *open_device(const char *test)
{
    gpumb_settings settings = gpumb_settings_default();
    settings.quiet = 1;
    settings.warmup_s = -1;
    settings.min_samples = settings.max_samples = 6;
    gpumb *g = gpumb_open_settings(test, &settings);
    if (gpumb_ok(g))
        return g;
    const int code = gpumb_close(g);
    if (code == GPUMB_EXIT_NO_DEVICE)
        SKIP("no device");
    else
        CHECK_INT(code, GPUMB_EXIT_OK);
    return NULL;
}

#endif

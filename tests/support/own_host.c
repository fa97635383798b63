/*
 * Own host: see own_host.h. Loopback addresses are as many as processes can have numbers.
 */
#include "tests/support/own_host.h"

#include <stdio.h>
#include <unistd.h>

const char *own_host_url(void)
{
    static char url[32];
    const unsigned pid = (unsigned)getpid(); /* below 1 << 22 */
    (void)snprintf(url, sizeof(url), "tcp://127.%u.%u.%u:0", 64 + (pid >> 16), pid >> 8 & 255,
                   pid & 255);
    return url;
}

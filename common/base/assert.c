/*
 * The end of a process that found a fault of its own. Any thread.
 */
#include "common/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void aq_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

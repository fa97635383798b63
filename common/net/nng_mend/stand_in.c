/*
 * See stand_in.h.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "common/net/nng_mend/stand_in.h"

#include <dlfcn.h>
#include <string.h>

#include "common/base/assert.h"

void aq_find_theirs(const char *name, void *ret_function)
{
    void *theirs = dlsym(RTLD_NEXT, name);

    AQ_ASSERT(theirs != NULL);
    _Static_assert(sizeof(void (*)(void)) == sizeof(theirs), "POSIX lets a pointer be either");
    memcpy(ret_function, &theirs, sizeof(theirs));
}

bool aq_stands_in(const char *name)
{
    return dlsym(RTLD_DEFAULT, name) != dlsym(RTLD_NEXT, name);
}

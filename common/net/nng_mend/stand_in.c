/*
 * See stand_in.h.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "common/net/nng_mend/stand_in.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "common/base/assert.h"

/* Process-wide, as the stand-ins are. */
static void *_Atomic nng; /* where its library begins; NULL: not known yet */
static _Atomic bool is_for_all;

/* Where that begins; NULL: the code is nobody's. */
static void *library_of(const void *code)
{
    Dl_info found;

    return dladdr(code, &found) != 0 ? found.dli_fbase : NULL;
}

void aq_mend_for(const char *name)
{
    void *library = library_of(dlsym(RTLD_NEXT, name));

    AQ_ASSERT(library != NULL);
    atomic_store(&nng, library);
}

bool aq_mends_for(const void *code)
{
    void *library = atomic_load(&nng);

    return (library != NULL && library_of(code) == library) || atomic_load(&is_for_all);
}

void aq_mend_for_all(bool for_all)
{
    atomic_store(&is_for_all, for_all);
}

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

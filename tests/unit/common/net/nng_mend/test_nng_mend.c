/*
 * How many processors NNG sees. What else is mended there needs peers that die: see test_rpc_faults
 * and the storms.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "common/net/nng_mend/stand_in.h"
#include "tests/support/test.h"

static long processors; /* 0: as many as there are */

/* Stands in for the C library's. The thread sanitizer calls it before it is ready itself. */
long __sysconf(int name);
__attribute__((no_sanitize("thread"))) long __sysconf(int name)
{
    long (*real)(int name);
    void *found = dlsym(RTLD_NEXT, "__sysconf");

    memcpy(&real, &found, sizeof(real));
    return name == _SC_NPROCESSORS_ONLN && processors > 0 ? processors : real(name);
}

static long seen_by(bool nng)
{
    aq_mend_for_all(nng);
    const long seen = sysconf(_SC_NPROCESSORS_ONLN);
    aq_mend_for_all(false);
    return seen;
}

TEST(nng_sees_few_processors_and_others_see_all)
{
    processors = 200;
    assert_int_equal(seen_by(true), 16);
    assert_int_equal(seen_by(false), 200);
    processors = 2;
    assert_int_equal(seen_by(true), 2);
    processors = 0;
    assert_true(sysconf(_SC_PAGESIZE) > 0);
}

/*
 * How many processors NNG sees. What else is mended there needs peers that die: see test_rpc_faults
 * and the storms.
 */
#include <unistd.h>

#include "common/net/nng_mend/stand_in.h"
#include "tests/support/test.h"

static long processors; /* 0: as many as there are */

/* Stands in for the C library's. */
long __sysconf(int name);
long __sysconf(int name)
{
    long (*real)(int name);

    aq_find_theirs("__sysconf", &real);
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

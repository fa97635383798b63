/*
 * The main of a program of tests that has none of its own: all tests, those of one file, or those
 * whose names fit a pattern.
 *
 *   build-test/tests/unit/common/test_common_base queue
 *   build-test/tests/unit/common/test_common_base 'a_full_*'
 */
#include "tests/support/test.h"

/* Of a program in which sockets are tested; else NULL. NNG's threads end before the leaks are
 * counted. */
void aq_net_fini(void) __attribute__((weak));

int main(int argc, char **argv)
{
    const int failed = aq_test_run(argc > 1 ? argv[1] : NULL);
    if (aq_net_fini != NULL) {
        aq_net_fini();
    }
    return failed;
}

/*
 * The main of a program of tests that has none of its own: all tests, those of one file, or those
 * whose names fit a pattern.
 *
 *   build-test/tests/unit/common/test_common_base queue
 *   build-test/tests/unit/common/test_common_base 'a_full_*'
 */
#include "tests/support/test.h"

int main(int argc, char **argv)
{
    return aq_test_run(argc > 1 ? argv[1] : NULL);
}

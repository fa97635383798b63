/*
 * The main of a program of tests that runs the program in its first argument and has none of its
 * own: all tests, those of one file, or those whose names fit a pattern.
 *
 *   build-test/tests/integration/cli/test_cli_env build-test/cli/actorq 'a_full_*'
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s PROGRAM [TESTS]\n", argv[0]);
        return EXIT_FAILURE;
    }
    program_choose(argv[1]);
    return aq_test_run(argc > 2 ? argv[2] : NULL);
}

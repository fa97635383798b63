/*
 * actorq certs: what it makes and prints, what it refuses, and that others take it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_WITH(a_folder_is_made_once_and_renewed, cli_fixture_setup, cli_fixture_teardown)
{
    char folder[512];
    char file[600];
    struct stat before, after;
    (void)snprintf(folder, sizeof(folder), "%s", cli_path(state, "certs"));
    (void)snprintf(file, sizeof(file), "%s/learner/cert.pem", folder);
    program_run("certs", folder, "--days", "30", NULL);
    program_assert_success();
    program_assert_out("valid for 30 days");
    program_assert_out("/operator");
    program_assert_out("--certs DIR");
    assert_int_equal(stat(file, &before), 0);
    program_run("certs", folder, NULL);
    program_assert_failure(1, "is not empty");
    program_run("certs", folder, "--renew", NULL);
    program_assert_success();
    program_assert_out("one after the other");
    assert_int_equal(stat(file, &after), 0);
    assert_true(before.st_ino != after.st_ino);
}

TEST(what_is_wrong_is_said)
{
    program_run("certs", NULL);
    program_assert_failure(1, "DIR is missing; see --help");
    program_run("certs", "/tmp/x", "--days", "0", NULL);
    program_assert_failure(1, "--days");
    program_run("certs", "/nonexistent/certs", NULL);
    program_assert_failure(1, "/nonexistent/certs");
    program_run("status", "tcp://127.0.0.1:1", "--certs", "/nonexistent", NULL);
    program_assert_failure(1, "/nonexistent/ca.pem");
    program_run("call", "tcp://127.0.0.1:1", "Operations/Status", "--token-file", "/nonexistent",
                NULL);
    program_assert_failure(1, "/nonexistent");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}

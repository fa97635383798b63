/*
 * An assertion ends the process, in every build, and says where. Each case forks, as abort does.
 */
#include <signal.h>
#include <sys/wait.h>

#include "common/base/assert.h"
#include "tests/support/test.h"

TEST(a_true_condition_goes_on)
{
    int evaluations = 0;
    AQ_ASSERT(++evaluations == 1);
    assert_int_equal(evaluations, 1);
}

TEST(a_false_condition_aborts_and_names_itself)
{
    char output[256] = "";
    size_t size = 0;
    ssize_t got;
    int pipe_fds[2];
    int status;
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* not cmocka's handler */
        dup2(pipe_fds[1], STDERR_FILENO);
        AQ_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(pipe_fds[1]);
    while ((got = read(pipe_fds[0], output + size, sizeof(output) - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close(pipe_fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_says(output, "test_assert.c:");
    assert_says(output, "assertion failed: 1 + 1 == 3");
}

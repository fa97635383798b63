/*
 * Catches what a test writes to standard error, by putting a pipe in the place of descriptor 2.
 */
#include "tests/support/test.h"

#include "tests/unit/common/sys/stderr_capture.h"

static int real_stderr;
static int pipe_read;

void stderr_capture_begin(void)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    real_stderr = dup(STDERR_FILENO);
    assert_true(real_stderr >= 0);
    assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
    close(fds[1]);
    pipe_read = fds[0];
}

size_t stderr_capture_end(char *out, size_t size)
{
    size_t used = 0;
    ssize_t got;
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0); /* closes the pipe's last write end */
    close(real_stderr);
    while (used + 1 < size && (got = read(pipe_read, out + used, size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    close(pipe_read);
    out[used] = '\0';
    return used;
}

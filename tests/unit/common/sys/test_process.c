/*
 * A child that ends with its parent, however that ends, and where a program's neighbours are.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/sys/process.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { PATIENCE_MS = 120000 };

/* ---- following ----------------------------------------------------------------------------- */

/* A parent that has a follower, both children of this test. The follower holds the writing end of
 * the pipe until it ends. */
typedef struct family {
    pid_t parent;
    int pipe_read;
} family;

/* The follower: says 'f' once it follows, and would then stay for ever. */
static void follow(int pipe_write, int64_t parent)
{
    int rc = aq_process_follow_parent(parent, NULL);
    char word = rc == 0 && !aq_process_lost_parent() ? 'f' : '!';
    if (write(pipe_write, &word, 1) != 1 || rc != 0) {
        _exit(1);
    }
    for (;;) {
        pause();
    }
}

/* The parent exits after one byte on `pipe_go`; without one (-1) it stays for ever. */
static family start_family(int pipe_go)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
        pid_t self = getpid();
        char go;
        close(fds[0]);
        pid_t follower = fork();
        if (follower == 0) {
            follow(fds[1], self);
        }
        close(fds[1]);
        while (pipe_go < 0) {
            pause();
        }
        (void)!read(pipe_go, &go, 1);
        _exit(follower > 0 ? 0 : 1);
    }
    close(fds[1]);
    return (family){parent, fds[0]};
}

/* What comes next out of the pipe: a letter, 0 at its end, -1 when nothing comes. */
static int next_word(int pipe_read)
{
    struct pollfd wait = {.fd = pipe_read, .events = POLLIN};
    char word = 0;
    if (poll(&wait, 1, PATIENCE_MS) != 1) {
        return -1;
    }
    return read(pipe_read, &word, 1) == 1 ? word : 0;
}

TEST(a_follower_ends_when_its_parent_is_killed)
{
    int status = 0;
    family started = start_family(-1);
    assert_int_equal(next_word(started.pipe_read), 'f');
    assert_int_equal(kill(started.parent, SIGKILL), 0);
    assert_int_equal(next_word(started.pipe_read), 0); /* nobody holds the other end any more */
    assert_int_equal(waitpid(started.parent, &status, 0), started.parent);
    assert_true(WIFSIGNALED(status));
    close(started.pipe_read);
}

TEST(a_follower_ends_when_its_parent_exits)
{
    int go[2];
    int status = 0;
    assert_int_equal(pipe(go), 0);
    family started = start_family(go[0]);
    assert_int_equal(next_word(started.pipe_read), 'f');
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(next_word(started.pipe_read), 0);
    assert_int_equal(waitpid(started.parent, &status, 0), started.parent);
    assert_int_equal(status, 0);
    close(started.pipe_read);
    close(go[0]);
    close(go[1]);
}

/* In a child of its own: following leaves a mark on the process. */
static void expect_no_parent(int64_t parent)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char number[32];
        int rc = aq_process_follow_parent(parent, &refusal);
        snprintf(number, sizeof(number), "process %lld", (long long)parent);
        _exit(rc == AQ_E_NOT_FOUND && strstr(refusal.text, number) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_process_that_is_not_the_parent_is_not_followed)
{
    expect_no_parent(1 << 30);                       /* nobody */
    expect_no_parent((INT64_C(1) << 32) + getpid()); /* the parent, cut to 32 bits */
    expect_no_parent(-1);
}

/* ---- pipes --------------------------------------------------------------------------------- */

TEST(a_write_to_a_closed_pipe_is_an_error)
{
    int fds[2];
    aq_process_let_writes_fail();
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(write(fds[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(fds[1]);
}

TEST(a_write_beyond_the_largest_file_is_an_error)
{
    struct rlimit before;
    const int file = open(file_in(file_folder(), "file"), O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
    aq_process_let_writes_fail();
    const struct rlimit nothing = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &nothing), 0);
    const ssize_t written = write(file, "x", 1);
    const int reason = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(written, -1);
    assert_int_equal(reason, EFBIG);
    close(file);
}

/* In a child of its own, with those of the three closed whose bits are set. What is opened next is
 * none of them, and a result is not taken for written. */
static void expect_filled(unsigned closed)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int number = 0; number < 3; number++) {
            (void)((closed >> number & 1u) != 0 && close(number));
        }
        aq_process_fill_standard_files();
        const int next = open("/dev/null", O_RDONLY);
        const bool is_lost = write(STDOUT_FILENO, "", 0) < 0;
        _exit(next > STDERR_FILENO && is_lost == ((closed >> STDOUT_FILENO & 1u) != 0) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(standard_files_that_are_closed_are_taken_by_nothing_else)
{
    for (unsigned closed = 0; closed < 8; closed++) {
        expect_filled(closed);
    }
}

/* ---- neighbours ---------------------------------------------------------------------------- */

TEST(a_program_is_found_beside_this_one)
{
    char path[4096] = "";
    assert_int_equal(aq_process_find_program("test_process", "elsewhere", path, sizeof(path), NULL),
                     0);
    assert_int_equal(access(path, X_OK), 0);
    assert_string_equal(strrchr(path, '/'), "/test_process");
}

/* As in the build tree, where each program has a folder of its own. */
TEST(a_program_is_found_in_a_folder_beside_this_ones)
{
    char own[4096] = "", path[4096] = "", name[4200], folder[4096];
    assert_int_equal(aq_process_find_program("test_process", "x", own, sizeof(own), NULL), 0);
    *strrchr(own, '/') = '\0';
    snprintf(folder, sizeof(folder), "%s", strrchr(own, '/') + 1);
    snprintf(name, sizeof(name), "%s/test_process", folder); /* not beside this one */
    assert_int_equal(aq_process_find_program(name, ".", path, sizeof(path), NULL), 0);
    assert_int_equal(access(path, X_OK), 0);
    assert_says(path, "/.././");
}

/* Packages install what is loaded without the right to run it. */
TEST(a_module_is_found_that_nobody_may_run)
{
    char path[4096], name[4096];
    const char *module = file_in(file_folder(), "module.so");
    file_put(module, "x", 1);
    assert_int_equal(chmod(module, 0644), 0);
    (void)snprintf(name, sizeof(name), "../../../../../../../../../../../..%s", module);
    assert_int_equal(aq_process_find_module(name, "x", path, sizeof(path), NULL), 0);
    assert_int_equal(aq_process_find_program(name, "x", path, sizeof(path), NULL), AQ_E_NOT_FOUND);
}

TEST(where_a_program_was_looked_for_is_said)
{
    char path[64] = "untouched";
    assert_refused(
        aq_process_find_program("actorq-nothing", "somewhere", path, sizeof(path), &refusal),
        AQ_E_NOT_FOUND, "/actorq-nothing nor at ");
    assert_says(refusal.text, "/../somewhere/actorq-nothing");
    assert_string_equal(path, "untouched");
}

TEST(a_path_that_does_not_fit_is_refused)
{
    char path[4] = "abc";
    assert_int_equal(aq_process_find_program("test_process", "x", path, sizeof(path), NULL),
                     AQ_E_TOO_BIG);
}

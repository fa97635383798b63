/*
 * The folder of sockets: it goes with its maker, and one whose maker was killed goes with the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/launch/socket_folder.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

TEST(a_folder_goes_with_what_is_in_it)
{
    aq_socket_folder folder = {0};
    char path[128];
    assert_int_equal(aq_socket_folder_make(&folder, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s", folder.path);
    file_put_text(file_in(path, "learner"), "");
    aq_socket_folder_remove(&folder);
    assert_false(is_there(path));
    aq_socket_folder_remove(&folder); /* once more is fine */
}

TEST(a_folder_in_use_stays)
{
    aq_socket_folder first = {0}, second = {0};
    assert_int_equal(aq_socket_folder_make(&first, NULL), 0);
    assert_int_equal(aq_socket_folder_make(&second, NULL), 0);
    assert_true(is_there(first.path));
    aq_socket_folder_remove(&first);
    aq_socket_folder_remove(&second);
}

/* As systemd-tmpfiles asks before it looks for what is old in a folder. */
TEST(a_folder_in_use_is_held_against_those_who_clean_by_age)
{
    aq_socket_folder folder = {0};
    assert_int_equal(aq_socket_folder_make(&folder, NULL), 0);
    const int other = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(other >= 0);
    const bool is_had = flock(other, LOCK_EX | LOCK_NB) == 0;
    const int problem = errno;
    aq_socket_folder_remove(&folder);
    const bool is_free = flock(other, LOCK_EX | LOCK_NB) == 0;
    (void)close(other);
    assert_false(is_had);
    assert_int_equal(problem, EWOULDBLOCK);
    assert_true(is_free);
}

/* The lock of a maker that lives keeps its folder from all others on this host, until it ends. */
TEST(a_folder_whose_maker_was_killed_goes_with_the_next)
{
    int ends[2], status = 0;
    char left[AQ_SOCKET_FOLDER_PATH_MAX] = "";
    aq_socket_folder next = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        aq_socket_folder folder = {0};
        if (aq_socket_folder_make(&folder, NULL) == 0 &&
            write(ends[1], folder.path, sizeof(folder.path)) == sizeof(folder.path)) {
            (void)pause();
        }
        _exit(1);
    }
    (void)close(ends[1]);
    const bool is_told = read(ends[0], left, sizeof(left)) == sizeof(left);
    const bool was_there = is_there(left);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(is_told && was_there);
    assert_int_equal(aq_socket_folder_make(&next, NULL), 0);
    assert_false(is_there(left));
    aq_socket_folder_remove(&next);
    (void)close(ends[0]);
}

/*
 * Files are read whole within a limit, and written whole or not at all.
 *
 * The linker sends write, fsync and rename of the library through the functions below (see
 * meson.build), so that a disk can be full, or die, at any of them.
 */
#define _DEFAULT_SOURCE /* mknod */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

#define SIZE_MAX_BYTES 300000

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

/* Which call fails, how, and how many of its kind go well before. */
enum { NONE, WRITE, FSYNC, RENAME };
static int failing;
static int failing_errno;
static int failing_after;
static size_t write_bytes_max = SIZE_MAX; /* a disk may also take less than it was given */

static aq_buffer buffer; /* to read into, within 10 bytes unless a test says otherwise */

static const char *folder;

static bool fails_now(int call)
{
    if (failing != call || failing_after-- > 0) {
        return false;
    }
    errno = failing_errno;
    return true;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (fails_now(WRITE)) {
        if (failing_errno == EINTR) {
            failing = NONE; /* once */
        }
        return -1;
    }
    return __real_write(fd, bytes, size < write_bytes_max ? size : write_bytes_max);
}

int __wrap_fsync(int fd)
{
    return fails_now(FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails_now(RENAME) ? -1 : __real_rename(from, to);
}

static const char *path_of(const char *name)
{
    return file_in(folder, name);
}

static void assert_content(const char *path, const void *bytes, size_t size)
{
    const aq_buffer *content = file_bytes(path);
    assert_int_equal(content->size, size);
    assert_memory_equal(content->data, bytes, size);
}

static void write_file(const void *bytes, size_t size)
{
    assert_succeeds(aq_file_write_atomic(path_of("a"), bytes, size, &refusal));
}

static void fail_call(int call, int with_errno, int after)
{
    failing = call;
    failing_errno = with_errno;
    failing_after = after;
}

static int begin(void **state)
{
    (void)state;
    folder = file_folder();
    aq_buffer_init(&buffer, 10);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    fail_call(NONE, 0, 0);
    write_bytes_max = SIZE_MAX;
    aq_buffer_fini(&buffer);
    return 0;
}

#define TEST_ON_DISK(name) TEST_WITH(name, begin, clean_up)

TEST_ON_DISK(what_was_written_is_read)
{
    static const size_t sizes[] = {0, 1, 4096, 65536, 65537, SIZE_MAX_BYTES};
    uint8_t *bytes = aq_alloc(SIZE_MAX_BYTES, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE_MAX_BYTES; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        write_file(bytes, sizes[i]);
        assert_content(path_of("a"), bytes, sizes[i]);
        assert_int_equal(file_count(folder, ""), 1);
    }
    aq_free(bytes);
}

TEST_ON_DISK(reading_appends)
{
    write_file("def", 3);
    aq_buffer_init(&buffer, 100);
    assert_int_equal(aq_buffer_append(&buffer, "abc", 3), 0);
    assert_succeeds(aq_file_read(path_of("a"), &buffer, &refusal));
    assert_int_equal(buffer.size, 6);
    assert_memory_equal(buffer.data, "abcdef", 6);
}

TEST_ON_DISK(a_file_of_exactly_the_limit_is_read)
{
    write_file("abcdef", 6);
    aq_buffer_init(&buffer, 6);
    assert_succeeds(aq_file_read(path_of("a"), &buffer, &refusal));
    assert_int_equal(buffer.size, 6);
}

TEST_ON_DISK(a_file_past_the_limit_is_refused)
{
    write_file("abcdef", 6);
    aq_buffer_init(&buffer, 8);
    assert_int_equal(aq_buffer_append(&buffer, "xyz", 3), 0);
    assert_refused(aq_file_read(path_of("a"), &buffer, &refusal), AQ_E_TOO_BIG,
                   "larger than the limit of 8 bytes");
    assert_int_equal(buffer.size, 3);
}

TEST_ON_DISK(a_file_that_tells_no_size_is_read_within_the_limit)
{
    aq_buffer_init(&buffer, 1 << 20);
    assert_succeeds(aq_file_read("/proc/self/status", &buffer, &refusal));
    assert_true(buffer.size > 100);
    aq_buffer_fini(&buffer);
    aq_buffer_init(&buffer, 10);
    assert_int_equal(aq_file_read("/proc/self/status", &buffer, &refusal), AQ_E_TOO_BIG);
    assert_int_equal(buffer.size, 0);
    assert_int_equal(aq_file_read("/dev/zero", &buffer, &refusal), AQ_E_TOO_BIG);
}

TEST_ON_DISK(a_missing_file_is_named)
{
    assert_refused(aq_file_read(path_of("none"), &buffer, &refusal), AQ_E_NOT_FOUND,
                   path_of("none"));
    assert_says(refusal.text, "No such file");
    assert_null(buffer.data);
}

TEST_ON_DISK(a_folder_is_no_file)
{
    assert_int_equal(aq_file_read(folder, &buffer, &refusal), AQ_E_INVALID);
    assert_int_equal(buffer.size, 0);
}

TEST_ON_DISK(the_beginning_of_a_file_is_as_much_as_there_is_room_for)
{
    char some[4], all[8];
    write_file("abcdef", 6);
    assert_true(aq_file_peek(some, sizeof(some), "%s/%s", folder, "a"));
    assert_string_equal(some, "abc");
    assert_true(aq_file_peek(all, sizeof(all), "%s", path_of("a")));
    assert_string_equal(all, "abcdef");
}

TEST_ON_DISK(a_file_without_a_beginning_is_none)
{
    char text[4] = "abc", long_name[2 * PATH_MAX];
    write_file("", 0);
    assert_false(aq_file_peek(text, sizeof(text), "%s", path_of("a")));
    assert_string_equal(text, "");
    assert_false(aq_file_peek(text, sizeof(text), "%s", path_of("b")));
    assert_int_equal(errno, ENOENT);
    memset(long_name, '/', sizeof(long_name));
    assert_false(aq_file_peek(text, sizeof(text), "%.*s", 2 * PATH_MAX, long_name));
}

TEST_ON_DISK(reading_without_memory_fails_cleanly)
{
    write_file("abc", 3);
    assert_fails_without_memory(aq_file_read(path_of("a"), &buffer, &refusal));
    assert_int_equal(buffer.size, 0);
}

/* The old content stays, no temporary file does, and the error names the path. */
static void assert_write_fails(int code, const char *reason)
{
    assert_refused(aq_file_write_atomic(path_of("a"), "new", 3, &refusal), code, reason);
    failing = NONE;
    assert_says(refusal.text, path_of("a"));
    assert_content(path_of("a"), "old", 3);
    assert_int_equal(file_count(folder, ""), 1);
}

TEST_ON_DISK(a_secret_is_for_nobody_else_and_replaces_a_link)
{
    struct stat status;
    write_file("old", 3);
    assert_int_equal(symlink(path_of("a"), path_of("b")), 0);
    const mode_t before = umask(0);
    const int rc = aq_file_write_private(path_of("b"), "new", 3, NULL);
    (void)umask(before);
    assert_int_equal(rc, 0);
    assert_int_equal(lstat(path_of("b"), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    assert_content(path_of("b"), "new", 3);
    assert_content(path_of("a"), "old", 3);
}

TEST_ON_DISK(a_failed_write_leaves_the_old_content)
{
    write_file("old", 3);
    fail_call(WRITE, ENOSPC, 0);
    assert_write_fails(AQ_E_NO_SPACE, "can't write: No space left on device");
    fail_call(FSYNC, EIO, 0);
    assert_write_fails(AQ_E_IO, "can't sync: Input/output error");
    fail_call(RENAME, EDQUOT, 0);
    assert_write_fails(AQ_E_NO_SPACE, "can't rename");
    fail_call(WRITE, ENOSPC, 2); /* halfway */
    write_bytes_max = 1;
    assert_write_fails(AQ_E_NO_SPACE, "can't write: No space left on device");
}

TEST_ON_DISK(a_folder_that_cannot_sync_is_an_error_after_the_fact)
{
    write_file("old", 3);
    fail_call(FSYNC, EIO, 1);
    assert_refused(aq_file_write_atomic(path_of("a"), "new", 3, &refusal), AQ_E_IO,
                   "can't sync the folder");
    failing = NONE;
    assert_content(path_of("a"), "new", 3);
    assert_int_equal(file_count(folder, ""), 1);
}

TEST_ON_DISK(a_file_system_without_folder_sync_is_fine)
{
    fail_call(FSYNC, EINVAL, 1);
    write_file("new", 3);
}

TEST_ON_DISK(interrupted_and_partial_writes_go_on)
{
    fail_call(WRITE, EINTR, 1);
    write_bytes_max = 2;
    write_file("abcdefg", 7);
    assert_content(path_of("a"), "abcdefg", 7);
}

TEST_ON_DISK(a_link_stays_and_what_it_leads_to_is_replaced)
{
    const char *there = path_of("new");
    write_file("old", 3);
    assert_int_equal(symlink("a", path_of("link")), 0);
    assert_int_equal(symlink("link", path_of("chain")), 0);
    assert_int_equal(symlink(there, path_of("to_nothing")), 0);
    assert_succeeds(aq_file_write_atomic(path_of("chain"), "newer", 5, &refusal));
    assert_content(path_of("a"), "newer", 5);
    assert_succeeds(aq_file_write_atomic(path_of("to_nothing"), "x", 1, &refusal));
    assert_content(there, "x", 1);
    assert_int_equal(file_count(folder, ""), 5);
    static const char *const links[] = {"link", "chain", "to_nothing"};
    EACH_ROW(i, links) {
        char to[PATH_MAX];
        assert_true(readlink(path_of(links[i]), to, sizeof(to)) > 0);
    }
}

TEST_ON_DISK(a_pipe_is_written_and_stays)
{
    char got[8];
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    const int pipe_end = open(path_of("pipe"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(symlink("pipe", path_of("link")), 0);
    assert_succeeds(aq_file_write_atomic(path_of("pipe"), "one", 3, &refusal));
    assert_succeeds(aq_file_write_atomic(path_of("link"), "two", 3, &refusal));
    assert_int_equal(read(pipe_end, got, sizeof(got)), 6);
    assert_memory_equal(got, "onetwo", 6);
    assert_int_equal(file_count(folder, ""), 2);
    fail_call(WRITE, ENOSPC, 0);
    assert_refused(aq_file_write_atomic(path_of("pipe"), "x", 1, &refusal), AQ_E_NO_SPACE,
                   "pipe: can't write: No space left on device");
    close(pipe_end);
}

/* One of our own, as the null device is: a mistake would cost no more than that. */
TEST_ON_DISK(a_device_is_written_and_stays)
{
    struct stat status;
    const int made = mknod(path_of("null"), S_IFCHR | 0600, makedev(1, 3));
    const int opened = made == 0 ? open(path_of("null"), O_WRONLY) : -1;
    if (opened < 0) {
        skip(); /* for root alone, where the folder's file system has devices */
    }
    close(opened);
    assert_succeeds(aq_file_write_atomic(path_of("null"), "one", 3, &refusal));
    assert_int_equal(lstat(path_of("null"), &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(file_count(folder, ""), 1);
}

/* As `actorq export -o /dev/stdout >FILE`, where FILE must not become another behind its back; and
 * a socket can't be opened by any name. */
TEST_ON_DISK(standard_output_is_written_by_its_descriptor)
{
    int ends[2];
    char got[8];
    write_file("", 0);
    const int before = dup(STDOUT_FILENO);
    assert_int_equal(symlink("/proc/self/fd/1", path_of("link")), 0);
    assert_int_equal(dup2(open(path_of("a"), O_WRONLY), STDOUT_FILENO), STDOUT_FILENO);
    int rc = aq_file_write_atomic(path_of("link"), "one", 3, &refusal);
    const bool goes_on = write(STDOUT_FILENO, "two", 3) == 3;
    const int rc_of_pair = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    (void)dup2(ends[0], STDOUT_FILENO);
    const int rc_of_socket = aq_file_write_atomic(path_of("link"), "one", 3, &refusal);
    (void)dup2(before, STDOUT_FILENO);
    assert_int_equal(rc, 0);
    assert_true(goes_on);
    assert_content(path_of("a"), "onetwo", 6);
    assert_int_equal(rc_of_pair, 0);
    assert_int_equal(rc_of_socket, 0);
    assert_int_equal(read(ends[1], got, sizeof(got)), 3);
    close(ends[0]);
    close(ends[1]);
    close(before);
}

TEST_ON_DISK(a_link_to_no_file_is_refused_in_its_name)
{
    assert_int_equal(symlink("none/a", path_of("far")), 0);
    assert_refused(aq_file_write_atomic(path_of("far"), "x", 1, &refusal), AQ_E_NOT_FOUND,
                   "none/a");
    assert_int_equal(symlink(folder, path_of("folder")), 0);
    assert_true(aq_file_write_atomic(path_of("folder"), "x", 1, &refusal) != 0);
    assert_true(aq_path_is_folder(path_of("folder")));
}

TEST_ON_DISK(a_write_into_no_folder_is_refused)
{
    assert_refused(aq_file_write_atomic(path_of("none/a"), "x", 1, &refusal), AQ_E_NOT_FOUND,
                   "none/a");
}

TEST_ON_DISK(a_path_without_a_folder_is_of_the_current_one)
{
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(folder), 0);
    assert_succeeds(aq_file_write_atomic("a", "x", 1, &refusal));
    assert_int_equal(chdir(before), 0);
    assert_content(path_of("a"), "x", 1);
}

TEST_ON_DISK(a_path_too_long_is_refused)
{
    char path[PATH_MAX + 8];
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(aq_file_write_atomic(path, "x", 1, &refusal), AQ_E_TOO_BIG);
    assert_int_equal(aq_dir_create(path, &refusal), AQ_E_TOO_BIG);
}

TEST_ON_DISK(folders_are_made_with_their_parents)
{
    assert_succeeds(aq_dir_create(path_of("x/y//z/"), &refusal));
    assert_int_equal(aq_dir_create(path_of("x/y/z"), &refusal), 0); /* again is fine */
    assert_true(aq_path_exists(path_of("x/y/z")));
    assert_int_equal(rmdir(path_of("x/y/z")), 0);
    assert_int_equal(rmdir(path_of("x/y")), 0);
    assert_int_equal(rmdir(path_of("x")), 0);
}

TEST_ON_DISK(a_folder_goes_with_all_that_is_in_it_and_links_lead_nowhere)
{
    assert_succeeds(aq_dir_create(path_of("kept"), &refusal));
    assert_succeeds(aq_dir_create(path_of("gone/deep"), &refusal));
    assert_succeeds(aq_file_write_atomic(path_of("gone/deep/file"), "x", 1, &refusal));
    assert_int_equal(symlink("../kept", path_of("gone/link")), 0);
    aq_dir_remove(path_of("gone"));
    assert_false(aq_path_exists(path_of("gone")));
    assert_int_equal(rmdir(path_of("kept")), 0);
    aq_dir_remove(path_of("gone")); /* again is fine */
}

TEST_ON_DISK(a_file_in_the_way_of_a_folder_is_named)
{
    write_file("old", 3);
    assert_refused(aq_dir_create(path_of("a"), &refusal), AQ_E_EXISTS, path_of("a"));
    assert_true(aq_dir_create(path_of("a/b"), &refusal) < 0);
    assert_int_equal(aq_dir_create("", &refusal), AQ_E_INVALID);
}

static void touch(const char *name)
{
    assert_succeeds(aq_file_write_atomic(path_of(name), "x", 1, &refusal));
}

TEST_ON_DISK(what_crashes_left_goes_once_it_is_old)
{
    static const char *const kept[] = {"a.tmp-0123456789abcde", "a.tmp-0123456789abcdeg", "a.tmp-"};
    touch("a.tmp-0123456789abcdef");
    EACH_ROW(i, kept) {
        touch(kept[i]);
    }
    aq_dir_tidy(folder, 60);
    assert_true(aq_path_exists(path_of("a.tmp-0123456789abcdef")));
    aq_dir_tidy(folder, 0);
    assert_false(aq_path_exists(path_of("a.tmp-0123456789abcdef")));
    EACH_ROW(i, kept) {
        assert_true(aq_path_exists(path_of(kept[i])));
    }
    aq_dir_tidy(path_of("nowhere"), 0);
}

/* What can't be looked at is not absent. */
TEST_ON_DISK(nobody_can_tell_is_not_nothing_there)
{
    char long_name[NAME_MAX + 2];
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    assert_false(aq_path_exists(path_of(long_name)));
    touch("file");
    assert_false(aq_path_exists(path_of("file/below")));
    assert_true(aq_path_exists_in(folder, "file"));
    assert_false(aq_path_exists_in(folder, "below"));
    assert_false(aq_path_exists_in(folder, long_name));
    assert_int_equal(symlink("loop", path_of("loop")), 0);
    assert_true(aq_path_exists(path_of("loop/below"))); /* ELOOP */
}

TEST_ON_DISK(a_link_to_nowhere_exists)
{
    assert_false(aq_path_exists(path_of("link")));
    assert_int_equal(symlink("nowhere", path_of("link")), 0);
    assert_true(aq_path_exists(path_of("link")));
    assert_true(aq_path_exists(folder));
}

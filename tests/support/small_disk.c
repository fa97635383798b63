/*
 * Small disks of tests: see small_disk.h.
 */
#define _GNU_SOURCE /* unshare */
#include "tests/support/small_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "tests/support/test.h"

static void write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY);
    if (file >= 0) {
        ssize_t written = write(file, text, strlen(text));
        (void)written; /* what it was for fails then */
        (void)close(file);
    }
}

/* Into a mount namespace of our own, as somebody who may mount there. */
static bool enter_namespace(void)
{
    char map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
            return false;
        }
        write_text("/proc/self/setgroups", "deny");
        (void)snprintf(map, sizeof(map), "%u %u 1", (unsigned)user, (unsigned)user);
        write_text("/proc/self/uid_map", map);
        (void)snprintf(map, sizeof(map), "%u %u 1", (unsigned)group, (unsigned)group);
        write_text("/proc/self/gid_map", map);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Also under processes that still use it. */
static void unmount(void *folder)
{
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
    free(folder);
}

bool small_disk_mount(const char *folder, size_t bytes)
{
    char options[64];
    (void)snprintf(options, sizeof(options), "size=%zu", bytes);
    if (!enter_namespace() || mount("tmpfs", folder, "tmpfs", 0, options) != 0) {
        return false;
    }
    char *mounted = strdup(folder);
    assert_non_null(mounted);
    at_end(unmount, mounted);
    return true;
}

void small_disk_fill(const char *path)
{
    static const char zeros[4096];
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(file >= 0);
    while (write(file, zeros, sizeof(zeros)) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    (void)close(file);
}

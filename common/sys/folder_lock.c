/*
 * A file that is locked, and a line in it.
 */
#define _GNU_SOURCE /* F_OFD_SETLK, F_OFD_GETLK: of the open file, not of the process */

#include "common/sys/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

enum { OWNER_BYTES = 64 };

struct aq_folder_lock {
    int file;
};

/* What the file says of who has it, as far as it is plain text. Readers do not sign. */
static int refuse(const char *folder, int file, aq_error *error)
{
    char owner[OWNER_BYTES] = "";
    struct flock in_the_way = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_GETLK, &in_the_way) == 0 && in_the_way.l_type == F_RDLCK) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s: is being read by another process (as by actorq replay export)", folder);
    }
    const ssize_t size = pread(file, owner, sizeof(owner) - 1, 0);
    ssize_t length = 0;
    while (length < size && owner[length] >= ' ' && owner[length] <= '~') {
        length++;
    }
    owner[length] = '\0';
    return aq_fail(error, AQ_E_EXISTS, "%s: in use by %s", folder,
                   length > 0 ? owner : "another process");
}

static int lock_file(const char *folder, const char *path, int file, short type, aq_error *error)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_SETLK, &whole) == 0) {
        return 0;
    }
    return errno == EAGAIN || errno == EACCES ? refuse(folder, file, error)
                                              : aq_file_fail(error, path, "lock");
}

/* For people: a file without it is a lock as well. */
static void sign(int file)
{
    char owner[OWNER_BYTES], since[32];
    struct tm parts;
    const time_t now_s = (time_t)(aq_clock_wall_ns() / AQ_NS_PER_S);
    (void)strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now_s, &parts));
    const int size = snprintf(owner, sizeof(owner), "pid %ld since %s\n", (long)getpid(), since);
    ssize_t written = ftruncate(file, 0) == 0 ? pwrite(file, owner, (size_t)size, 0) : -1;
    (void)written;
}

static int lock_with(const char *folder, int flags, short type, aq_folder_lock **ret_lock,
                     aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, "lock", error);
    if (rc != 0) {
        return rc;
    }
    aq_folder_lock *lock = aq_alloc(1, sizeof(*lock));
    if (lock == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    }
    lock->file = open(path, flags | O_CLOEXEC, 0666);
    rc = lock->file < 0 ? aq_file_fail(error, path, "open")
                        : lock_file(folder, path, lock->file, type, error);
    if (rc != 0) {
        aq_folder_lock_release(lock);
        return rc;
    }
    *ret_lock = lock;
    return 0;
}

int aq_folder_lock_take(const char *folder, aq_folder_lock **ret_lock, aq_error *error)
{
    int rc = lock_with(folder, O_RDWR | O_CREAT, F_WRLCK, ret_lock, error);
    if (rc == 0) {
        sign((*ret_lock)->file);
    }
    return rc;
}

int aq_folder_lock_share(const char *folder, aq_folder_lock **ret_lock, aq_error *error)
{
    return lock_with(folder, O_RDONLY, F_RDLCK, ret_lock, error);
}

void aq_folder_lock_release(aq_folder_lock *lock)
{
    if (lock == NULL) {
        return;
    }
    if (lock->file >= 0) {
        (void)close(lock->file);
    }
    aq_free(lock);
}

int aq_folder_lock_check(const char *folder, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, "lock", error);
    if (rc != 0) {
        return rc;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT || errno == ENOTDIR ? 0 : aq_file_fail(error, path, "open");
    }
    /* Whoever takes it meanwhile gets it: this only asks who is in the way of a reader. */
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_GETLK, &whole) != 0) {
        rc = aq_file_fail(error, path, "look at");
    } else if (whole.l_type != F_UNLCK) {
        rc = refuse(folder, file, error);
    }
    (void)close(file);
    return rc;
}

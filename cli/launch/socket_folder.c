/*
 * Socket folder: see socket_folder.h.
 *
 * Between making the file and locking it somebody else may take it for one that was left, so that
 * a maker looks afterwards whether its file is still there, and begins again if not. It is no
 * folder_lock, whose file a run's folder below /tmp has as well, and nobody is to remove that.
 */
#include "cli/launch/socket_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/file.h"

enum { TRIES_MAX = 8 };

static const char parent[] = "/tmp";
static const char prefix[] = "actorq-";
static const char owner_name[] = "owner";

/* Opens and locks the owner's file of a folder of this user's; -1: there is none, it is not ours,
 * or somebody holds it. */
static int lock_owner(const char *path, int flags)
{
    char name[AQ_SOCKET_FOLDER_PATH_MAX + sizeof(owner_name)];
    struct stat status;
    if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
        return -1;
    }
    (void)snprintf(name, sizeof(name), "%s/%s", path, owner_name);
    int owner = open(name, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (owner >= 0 && flock(owner, LOCK_EX | LOCK_NB)) {
        (void)close(owner);
        owner = -1;
    }
    return owner;
}

static void remove_left(void)
{
    char path[AQ_SOCKET_FOLDER_PATH_MAX];
    DIR *dir = opendir(parent);
    if (!dir) {
        return;
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            aq_text_format(path, sizeof(path), "%s/%s", parent, entry->d_name) != 0) {
            continue;
        }
        int owner = lock_owner(path, 0);
        if (owner >= 0) {
            aq_dir_remove(path);
            (void)close(owner);
        }
    }
    (void)closedir(dir);
}

/* Whoever cleans heeds a shared lock, too. -1: it could not be had, without which the folder is as
 * good until it is old. */
static int hold(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder >= 0 && flock(folder, LOCK_SH | LOCK_NB)) {
        (void)close(folder);
        folder = -1;
    }
    return folder;
}

static bool is_there(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && status.st_nlink > 0;
}

int aq_socket_folder_make(aq_socket_folder *folder, aq_error *error)
{
    remove_left();
    for (int i = 0; i < TRIES_MAX; i++) {
        (void)snprintf(folder->path, sizeof(folder->path), "%s/%sXXXXXX", parent, prefix);
        if (!mkdtemp(folder->path)) {
            break;
        }
        folder->owner = lock_owner(folder->path, O_CREAT | O_EXCL);
        if (folder->owner >= 0 && is_there(folder->owner)) {
            folder->held = hold(folder->path);
            return 0;
        }
        if (folder->owner >= 0) {
            (void)close(folder->owner);
        }
        (void)rmdir(folder->path);
    }
    int problem = errno;
    folder->path[0] = '\0';
    return aq_fail(error, aq_error_from_errno(problem), "a folder for sockets in %s: %s", parent,
                   strerror(problem));
}

void aq_socket_folder_remove(aq_socket_folder *folder)
{
    if (folder->path[0] != '\0') {
        aq_dir_remove(folder->path);
        (void)close(folder->owner);
        if (folder->held >= 0) {
            (void)close(folder->held);
        }
        folder->path[0] = '\0';
    }
}

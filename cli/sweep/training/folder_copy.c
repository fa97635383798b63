/*
 * Folder copy: see folder_copy.h.
 */
#include "cli/sweep/training/folder_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/sys/file.h"

enum { PATH_BYTES = PATH_MAX + 512, DEPTH_MAX = 8 };

/* With the mode that it has: segments, which are secrets, are for nobody else. */
static int copy_file(const char *from, const char *to, aq_error *error)
{
    uv_fs_t copy;
    const int problem = uv_fs_copyfile(NULL, &copy, from, to, UV_FS_COPYFILE_EXCL, NULL);
    uv_fs_req_cleanup(&copy);
    if (problem != 0) {
        errno = -problem;
        return aq_file_fail(error, from, "copy it");
    }
    const int fd = open(to, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 || fdatasync(fd) != 0 ? aq_file_fail(error, to, "sync it") : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

static int copy_folder(const char *from, const char *to, int depth, aq_error *error);

static int copy_entry(const char *from, const char *to, const char *name, int depth,
                      aq_error *error)
{
    char inner_from[PATH_BYTES], inner_to[PATH_BYTES];
    struct stat status;
    if (aq_path_in(inner_from, sizeof(inner_from), from, name, error) != 0 ||
        aq_path_in(inner_to, sizeof(inner_to), to, name, error) != 0) {
        return AQ_E_TOO_BIG;
    }
    if (lstat(inner_from, &status) != 0) {
        return aq_file_fail(error, inner_from, "look at it");
    }
    return S_ISDIR(status.st_mode)   ? copy_folder(inner_from, inner_to, depth + 1, error)
           : S_ISREG(status.st_mode) ? copy_file(inner_from, inner_to, error)
                                     : 0;
}

static int copy_folder(const char *from, const char *to, int depth, aq_error *error)
{
    int rc = aq_dir_create(to, error);
    DIR *folder = rc == 0 && depth < DEPTH_MAX ? opendir(from) : NULL;
    if (rc == 0 && folder == NULL) {
        return aq_file_fail(error, from, "read it");
    }
    errno = 0; /* the only way to tell the end from a failure */
    for (const struct dirent *entry; rc == 0 && (entry = readdir(folder)) != NULL; errno = 0) {
        const bool is_left_out = strcmp(entry->d_name, ".") == 0 ||
                                 strcmp(entry->d_name, "..") == 0 ||
                                 (depth == 0 && strcmp(entry->d_name, "lock") == 0);
        rc = is_left_out ? 0 : copy_entry(from, to, entry->d_name, depth, error);
    }
    if (rc == 0 && errno != 0) {
        rc = aq_file_fail(error, from, "read it");
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return rc;
}

int aq_folder_copy(const char *from, const char *part, const char *to, aq_error *error)
{
    int rc = copy_folder(from, part, 0, error);
    if (rc == 0 && rename(part, to) != 0) {
        errno = errno == ENOTEMPTY ? EEXIST : errno; /* POSIX allows either */
        rc = aq_file_fail(error, to, "make it");
    }
    if (rc != 0) {
        aq_dir_remove(part);
    }
    return rc;
}

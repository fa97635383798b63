/*
 * Whole-file reads and atomic writes. Any thread; no state.
 *
 * The order of a write is what makes it atomic: the bytes are on the disk before the name points at
 * them (fsync, then rename), and the name is on the disk before the caller is told so (fsync of the
 * folder). A rename would put a file in the place of a link, a pipe or a device: links are followed
 * first, and the others are opened and written.
 */
#include "common/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/rng.h"

#define READ_CHUNK_BYTES ((size_t)64 * 1024)
#define TEMPORARY_MARK   ".tmp-"
enum { TEMPORARY_DIGITS = 16, LINKS_MAX = 40 /* as Linux follows */ };

/* Modes of new files; the umask takes away from them. */
enum { EVERYBODYS = 0666, OWN = 0600 };

int aq_file_fail(aq_error *error, const char *path, const char *what)
{
    int errno_value = errno;
    char reason[128];

    if (strerror_r(errno_value, reason, sizeof(reason)) != 0) {
        snprintf(reason, sizeof(reason), "error %d", errno_value);
    }
    return aq_fail(error, aq_error_from_errno(errno_value), "%s: can't %s: %s", path, what, reason);
}

static int fail_too_big(aq_error *error, const char *path, const aq_buffer *out)
{
    return aq_fail(error, AQ_E_TOO_BIG, "%s: larger than the limit of %zu bytes", path,
                   out->size_max);
}

static ssize_t read_some(int fd, void *bytes, size_t size)
{
    ssize_t got;

    do {
        got = read(fd, bytes, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Reads to the end of the file. `expected` is a hint that saves growing; what is true of the file
 * is what read says, as a file in /proc has no size and another may grow meanwhile. */
static int read_all(int fd, const char *path, size_t expected, aq_buffer *out, aq_error *error)
{
    for (;;) {
        size_t room = out->size_max - out->size;
        size_t left = out->capacity - out->size; /* the end is looked for without growing */
        size_t chunk = expected > 0 ? expected : left > 0 ? left : READ_CHUNK_BYTES;
        uint8_t past_the_end;
        uint8_t *bytes = &past_the_end;
        int rc;

        chunk = chunk < room ? chunk : room;
        if (chunk > 0) {
            rc = aq_buffer_extend_unset(out, chunk, &bytes);
            if (rc < 0) {
                return aq_fail(error, rc, "%s: %s", path, aq_error_text(rc));
            }
        }
        ssize_t got = read_some(fd, bytes, chunk > 0 ? chunk : 1);
        if (got < 0) {
            return aq_file_fail(error, path, "read");
        }
        if (got > 0 && chunk == 0) {
            return fail_too_big(error, path, out);
        }
        out->size -= chunk - (size_t)(chunk > 0 ? got : 0);
        if (got == 0) {
            return 0;
        }
        expected = 0;
    }
}

int aq_file_read(const char *path, aq_buffer *out, aq_error *error)
{
    size_t size_before = out->size;
    size_t expected = 0;
    struct stat status;
    int rc;

    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return aq_file_fail(error, path, "open");
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        expected = (size_t)status.st_size + 1; /* one more, to see the end in the same call */
    }
    if (expected > out->size_max - out->size + 1) {
        rc = fail_too_big(error, path, out);
    } else {
        rc = read_all(fd, path, expected, out, error);
    }
    close(fd);
    if (rc < 0) {
        out->size = size_before;
    }
    return rc;
}

bool aq_file_peek(char *out, size_t size, const char *path_format, ...)
{
    char path[PATH_MAX];
    va_list parts;

    out[0] = '\0';
    va_start(parts, path_format);
    const int length = vsnprintf(path, sizeof(path), path_format, parts);
    va_end(parts);
    const bool fits = length >= 0 && (size_t)length < sizeof(path);
    const int fd = fits ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return false;
    }
    const ssize_t got = read_some(fd, out, size - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno != EINTR) {
            return -1;
        }
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

int aq_file_sync_folder(const char *path, aq_error *error)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int rc = 0;

    if (slash == NULL) {
        rc = aq_text_set(folder, sizeof(folder), ".");
    } else {
        rc = aq_text_format(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
    }
    if (rc < 0) {
        return aq_fail(error, rc, "%s: the path is too long", path);
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return aq_file_fail(error, folder, "open the folder");
    }
    /* Some file systems can't sync a folder and say EINVAL; there is nothing more to do there. */
    if (fsync(fd) != 0 && errno != EINVAL) {
        rc = aq_file_fail(error, folder, "sync the folder");
    }
    close(fd);
    return rc;
}

int aq_file_temporary(char *out, size_t size, const char *path)
{
    /* Random rather than the process id: daemons in containers are all process 1, and may share a
     * volume. */
    return aq_text_format(out, size, "%s" TEMPORARY_MARK "%016" PRIx64, path, aq_rng_system_seed());
}

/* By a temporary file, which takes the place of `path` once it is whole. */
static int replace(const char *path, const void *bytes, size_t size, mode_t mode, aq_error *error)
{
    char temporary[PATH_MAX];

    int rc = aq_file_temporary(temporary, sizeof(temporary), path);
    if (rc < 0) {
        return aq_fail(error, rc, "%s: the path is too long", path);
    }
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        return aq_file_fail(error, path, "create a temporary file beside it");
    }
    if (write_all(fd, bytes, size) != 0) {
        rc = aq_file_fail(error, path, "write");
        goto fail_open;
    }
    if (fsync(fd) != 0) {
        rc = aq_file_fail(error, path, "sync");
        goto fail_open;
    }
    if (close(fd) != 0) {
        rc = aq_file_fail(error, path, "close");
        goto fail_closed;
    }
    if (rename(temporary, path) != 0) {
        rc = aq_file_fail(error, path, "rename the temporary file to it");
        goto fail_closed;
    }
    return aq_file_sync_folder(path, error);

fail_open:
    close(fd);
fail_closed:
    unlink(temporary);
    return rc;
}

/* The name of the file that links lead to, be there one or not. */
static int follow_links(const char *path, char target[PATH_MAX], aq_error *error)
{
    char next[PATH_MAX];
    int rc = aq_text_set(target, PATH_MAX, path);
    for (int i = 0; rc == 0; i++) {
        const ssize_t size = readlink(target, next, sizeof(next));
        if (size < 0) {
            return 0; /* no link, or one that whoever opens it hears of */
        }
        if (size == sizeof(next) || i == LINKS_MAX) {
            rc = AQ_E_TOO_BIG;
            break;
        }
        next[size] = '\0';
        char *slash = next[0] != '/' ? strrchr(target, '/') : NULL;
        const size_t folder = slash != NULL ? (size_t)(slash - target) + 1 : 0;
        rc = aq_text_set(target + folder, PATH_MAX - folder, next);
    }
    return aq_fail(error, rc, "%s: the link leads too far", path);
}

int aq_path_stream(const char *path)
{
    struct stat own, led_to, stream;
    if (stat(path, &led_to) != 0 || lstat(path, &own) != 0 || S_ISREG(own.st_mode)) {
        return -1;
    }
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &stream) == 0 && stream.st_dev == led_to.st_dev &&
            stream.st_ino == led_to.st_ino) {
            return fd;
        }
    }
    return -1;
}

/* To a pipe or a device; nothing there could be replaced. */
static int write_through(const char *path, int stream, const void *bytes, size_t size,
                         aq_error *error)
{
    int fd = stream >= 0 ? stream : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return aq_file_fail(error, path, "open");
    }
    int rc = write_all(fd, bytes, size) != 0 ? aq_file_fail(error, path, "write") : 0;
    if (stream < 0 && close(fd) != 0 && rc == 0) {
        rc = aq_file_fail(error, path, "close");
    }
    return rc;
}

int aq_file_write_atomic(const char *path, const void *bytes, size_t size, aq_error *error)
{
    char target[PATH_MAX];
    struct stat own, led_to;
    /* What can't be looked at is written like a file, and that says why it can't. */
    if (lstat(path, &own) != 0 || S_ISREG(own.st_mode) || S_ISDIR(own.st_mode)) {
        return replace(path, bytes, size, EVERYBODYS, error);
    }
    const bool is_there = stat(path, &led_to) == 0;
    const bool is_absent = !is_there && errno == ENOENT;
    const bool is_file = !is_there || S_ISREG(led_to.st_mode) || S_ISDIR(led_to.st_mode);
    const int stream = is_there ? aq_path_stream(path) : -1;
    if (stream >= 0 || !is_file) {
        return write_through(path, stream, bytes, size, error);
    }
    /* A link that the system refuses to follow may be a trap: nobody else follows it either. */
    if (!is_there && !is_absent) {
        return replace(path, bytes, size, EVERYBODYS, error);
    }
    int rc = follow_links(path, target, error);
    return rc != 0 ? rc : replace(target, bytes, size, EVERYBODYS, error);
}

int aq_file_write_private(const char *path, const void *bytes, size_t size, aq_error *error)
{
    return replace(path, bytes, size, OWN, error);
}

int aq_path_in(char *out, size_t size, const char *folder, const char *name, aq_error *error)
{
    int rc = aq_text_format(out, size, "%s/%s", folder, name);
    return rc != 0 ? aq_fail(error, rc, "%s: the path is too long", folder) : 0;
}

bool aq_path_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int aq_dir_create(const char *path, aq_error *error)
{
    char part[PATH_MAX];
    size_t length = strlen(path);

    if (length == 0) {
        return aq_fail(error, AQ_E_INVALID, "the path of a folder is empty");
    }
    if (aq_text_set(part, sizeof(part), path) < 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: the path is too long", path);
    }
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0') {
            continue;
        }
        part[i] = '\0';
        /* Asking after the failure rather than before the attempt: another process may make the
         * same folder in between. */
        if (mkdir(part, 0777) != 0) {
            int errno_value = errno;

            if (!aq_path_is_folder(part)) {
                errno = errno_value;
                return aq_file_fail(error, part, "make the folder");
            }
        } else {
            int rc = aq_file_sync_folder(part, error);
            if (rc != 0) {
                return rc;
            }
        }
        part[i] = path[i];
    }
    return 0;
}

static uint64_t remove_folder(int parent, const char *name)
{
    uint64_t bytes = 0;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        if (folder >= 0) {
            (void)close(folder);
        }
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat status = {0};
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        (void)fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW);
        bytes += unlinkat(folder, entry->d_name, 0) == 0 ? (uint64_t)status.st_size
                                                         : remove_folder(folder, entry->d_name);
    }
    (void)closedir(entries);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
    return bytes;
}

uint64_t aq_dir_remove(const char *path)
{
    return remove_folder(AT_FDCWD, path);
}

/* ".tmp-" and 16 hexadecimal digits, as aq_file_write_atomic makes them. */
static bool is_temporary(const char *name)
{
    const char *mark = strstr(name, TEMPORARY_MARK);

    return mark != NULL && strlen(mark) == sizeof(TEMPORARY_MARK) - 1 + TEMPORARY_DIGITS &&
           strspn(mark + sizeof(TEMPORARY_MARK) - 1, "0123456789abcdef") == TEMPORARY_DIGITS;
}

void aq_dir_tidy(const char *path, int64_t age_s)
{
    DIR *entries = opendir(path);

    if (entries == NULL) {
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat status;
        if (is_temporary(entry->d_name) &&
            fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            aq_clock_wall_ns() / AQ_NS_PER_S - status.st_mtim.tv_sec >= age_s) {
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    (void)closedir(entries);
}

bool aq_path_exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 ||
           (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

bool aq_path_exists_in(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];

    return aq_path_in(path, sizeof(path), folder, name, NULL) == 0 && aq_path_exists(path);
}

/*
 * Fault shim: preloaded into a daemon, it numbers every call on files below FAULT_ROOT and lets one
 * of them go wrong. The calls are those of the C library, under the names that a 64-bit build of
 * the daemons asks for, so that nothing in them knows.
 *
 *   FAULT_ROOT    the folder that is watched
 *   FAULT_MATCH   only calls whose "KIND PATH" holds this text are counted; unset: all
 *   FAULT_AT      the number of the call, from 1
 *   FAULT_TIMES   so many from there on; 0: all that follow. Default 1
 *   FAULT_DO      before, after: kill -9 there; torn: half of a write, and then that;
 *                 short: half of a read or write; or an errno in digits
 *   FAULT_TRACE   a file that gets a line of each call
 *   FAULT_SHADOW  a folder that gets what was synced: iINODE, a file's bytes; dINODE, names
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES_MAX = 1024, ENTRY_MAX = PATH_MAX + 32 };

enum verdict { PASS, FAIL, SHORT, TORN, AFTER };

static char paths[FILES_MAX][PATH_MAX]; /* of descriptors below the root; "": another */
static atomic_ulong calls;

#define REAL(name) (__extension__(__typeof__(&(name))) dlsym(RTLD_NEXT, #name))

static bool is_watched(const char *path)
{
    const char *root = getenv("FAULT_ROOT");
    return root != NULL && path != NULL && strncmp(path, root, strlen(root)) == 0;
}

/* Who closes a file past close() may leave its path to what gets its number: an eventfd of NNG's,
 * which a write that is refused ends. */
static const char *path_of(int file)
{
    struct stat status;
    return file >= 0 && file < FILES_MAX && paths[file][0] != '\0' && fstat(file, &status) == 0 &&
                   (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
               ? paths[file]
               : NULL;
}

static unsigned long number_of(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

static void trace(unsigned long number, const char *entry)
{
    static _Atomic int file = -1;
    char line[ENTRY_MAX + 32];
    const char *path = getenv("FAULT_TRACE");
    if (path == NULL) {
        return;
    }
    if (file < 0) {
        file = REAL(open64)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    }
    const int size = snprintf(line, sizeof(line), "%lu %s\n", number, entry);
    const ssize_t written = REAL(write)(file, line, (size_t)size);
    (void)written;
}

static void end_here(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause();
    }
}

/* Counts the call; what is to become of it. With FAIL, errno is set. */
static enum verdict judge(const char *kind, const char *path)
{
    char entry[ENTRY_MAX];
    const char *match = getenv("FAULT_MATCH");
    const char *deed = getenv("FAULT_DO");
    const int before = errno;
    if (!is_watched(path)) {
        return PASS;
    }
    snprintf(entry, sizeof(entry), "%s %s", kind, path);
    if (match != NULL && strstr(entry, match) == NULL) {
        return PASS;
    }
    const unsigned long number = atomic_fetch_add(&calls, 1) + 1;
    const unsigned long at = number_of("FAULT_AT", 0), times = number_of("FAULT_TIMES", 1);
    trace(number, entry);
    errno = before;
    if (deed == NULL || at == 0 || number < at || (times != 0 && number >= at + times)) {
        return PASS;
    }
    if (strcmp(deed, "before") == 0) {
        end_here();
    }
    if (strcmp(deed, "after") == 0) {
        return AFTER;
    }
    if (strcmp(deed, "short") == 0) {
        return SHORT;
    }
    if (strcmp(deed, "torn") == 0) {
        return TORN;
    }
    errno = atoi(deed);
    return FAIL;
}

static void settle(enum verdict verdict)
{
    if (verdict == AFTER || verdict == TORN) {
        end_here();
    }
}

static size_t part(enum verdict verdict, size_t size)
{
    return (verdict == SHORT || verdict == TORN) && size > 1 ? size / 2 : size;
}

/* ---- what was synced ------------------------------------------------------------------------- */

static void copy_file(int file, const char *to)
{
    static _Thread_local char bytes[65536];
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof(temporary), "%.4000s.%d", to, (int)getpid());
    const int in = REAL(open64)(paths[file], O_RDONLY | O_CLOEXEC);
    const int out = REAL(open64)(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    for (ssize_t got; in >= 0 && (got = REAL(read)(in, bytes, sizeof(bytes))) > 0;) {
        const ssize_t written = REAL(write)(out, bytes, (size_t)got);
        (void)written;
    }
    (void)close(in);
    (void)close(out);
    (void)REAL(rename)(temporary, to);
}

static void copy_names(const char *folder, const char *to)
{
    DIR *entries = REAL(opendir)(folder);
    FILE *out = fopen(to, "w");
    if (entries != NULL && out != NULL) {
        for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
            fprintf(out, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
        }
    }
    if (out != NULL) {
        fclose(out);
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/* Where the shadow keeps it; false where there is none. */
static bool shadow_of(int file, struct stat *status, char to[PATH_MAX])
{
    const char *shadow = getenv("FAULT_SHADOW");
    if (shadow == NULL || path_of(file) == NULL || fstat(file, status) != 0) {
        return false;
    }
    snprintf(to, PATH_MAX, "%s/%c%lu", shadow, S_ISDIR(status->st_mode) ? 'd' : 'i',
             (unsigned long)status->st_ino);
    return true;
}

static void note_synced(int file)
{
    struct stat status;
    char to[PATH_MAX];
    if (!shadow_of(file, &status, to)) {
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        copy_names(paths[file], to);
    } else {
        copy_file(file, to);
    }
}

/* What was synced under this number was of a file that is gone. */
static void note_made(int file)
{
    struct stat status;
    char to[PATH_MAX];
    if (shadow_of(file, &status, to) && S_ISREG(status.st_mode) && status.st_size == 0) {
        (void)REAL(unlink)(to);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int opened(enum verdict verdict, int file, const char *path)
{
    if (file >= 0 && file < FILES_MAX) {
        snprintf(paths[file], sizeof(paths[file]), "%s", is_watched(path) ? path : "");
        note_made(file);
    }
    settle(verdict);
    return file;
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    const enum verdict verdict = judge((flags & O_CREAT) != 0 ? "make" : "open", path);
    return verdict == FAIL ? -1 : opened(verdict, REAL(open64)(path, flags, mode), path);
}

int close(int file)
{
    if (file >= 0 && file < FILES_MAX) {
        paths[file][0] = '\0';
    }
    return REAL(close)(file);
}

DIR *opendir(const char *path)
{
    const enum verdict verdict = judge("list", path);
    DIR *folder = verdict == FAIL ? NULL : REAL(opendir)(path);
    settle(verdict);
    return folder;
}

/* `call` with `size`, which may be half of what was asked for. */
#define SIZED(type, kind, file, call)                                                              \
    const enum verdict verdict = judge(kind, path_of(file));                                       \
    if (verdict == FAIL) {                                                                         \
        return -1;                                                                                 \
    }                                                                                              \
    size = part(verdict, size);                                                                    \
    const type result = call;                                                                      \
    settle(verdict);                                                                               \
    return result;

ssize_t read(int file, void *bytes,
             size_t size){SIZED(ssize_t, "read", file, REAL(read)(file, bytes, size))}

ssize_t write(int file, const void *bytes,
              size_t size){SIZED(ssize_t, "write", file, REAL(write)(file, bytes, size))}

ssize_t pread64(int file, void *bytes, size_t size,
                off64_t at){SIZED(ssize_t, "read", file, REAL(pread64)(file, bytes, size, at))}

ssize_t pwrite64(int file, const void *bytes, size_t size,
                 off64_t at){SIZED(ssize_t, "write", file, REAL(pwrite64)(file, bytes, size, at))}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    const enum verdict verdict = judge("write", path_of(file));
    if (verdict == FAIL) {
        return -1;
    }
    struct iovec half = parts[0];
    half.iov_len = part(verdict, half.iov_len);
    const ssize_t result = verdict == SHORT || verdict == TORN ? REAL(writev)(file, &half, 1)
                                                               : REAL(writev)(file, parts, count);
    settle(verdict);
    return result;
}

#define SYNC(name)                                                                                 \
    int name(int file)                                                                             \
    {                                                                                              \
        const enum verdict verdict = judge("sync", path_of(file));                                 \
        const int result = verdict == FAIL ? -1 : REAL(name)(file);                                \
        if (result == 0) {                                                                         \
            note_synced(file);                                                                     \
        }                                                                                          \
        settle(verdict);                                                                           \
        return result;                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)

#define PLAIN(kind, path, call)                                                                    \
    const enum verdict verdict = judge(kind, path);                                                \
    const int result = verdict == FAIL ? -1 : call;                                                \
    settle(verdict);                                                                               \
    return result;

int rename(const char *from, const char *to)
{
    PLAIN("rename", to, REAL(rename)(from, to))
}

int unlink(const char *path)
{
    PLAIN("unlink", path, REAL(unlink)(path))
}

int mkdir(const char *path, mode_t mode)
{
    PLAIN("mkdir", path, REAL(mkdir)(path, mode))
}

int truncate64(const char *path, off64_t size)
{
    PLAIN("truncate", path, REAL(truncate64)(path, size))
}

int ftruncate64(int file, off64_t size)
{
    PLAIN("truncate", path_of(file), REAL(ftruncate64)(file, size))
}

int lstat64(const char *path, struct stat64 *status)
{
    PLAIN("look", path, REAL(lstat64)(path, status))
}

int stat64(const char *path, struct stat64 *status)
{
    PLAIN("look", path, REAL(stat64)(path, status))
}

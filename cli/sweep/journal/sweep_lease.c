/*
 * Sweep lease: see sweep_lease.h.
 */
#define _GNU_SOURCE /* F_OFD_SETLK: of the open file, which children share */

#include "cli/sweep/journal/sweep_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { PATH_BYTES = PATH_MAX + 128, WORKERS_MAX = 1 << 16, COUNT_BYTES = 24, NAME_BYTES = 80 };

/* ---- one's own ------------------------------------------------------------------------------ */

struct aq_sweep_presence {
    char path[PATH_BYTES];
    int file;
    uint64_t beats;
};

static int open_presence(aq_sweep_presence *presence, aq_error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    presence->file = open(presence->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (presence->file < 0) {
        return aq_file_fail(error, presence->path, "make it");
    }
    return fcntl(presence->file, F_OFD_SETLK, &whole) != 0
               ? aq_file_fail(error, presence->path, "lock it")
               : 0;
}

int aq_sweep_presence_create(const char *dir, const char *worker, aq_sweep_presence **ret_presence,
                             aq_error *error)
{
    aq_sweep_presence *presence = aq_alloc(1, sizeof(*presence));
    if (presence == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", dir);
    }
    presence->file = -1;
    int rc = aq_path_in(presence->path, sizeof(presence->path), dir, "workers", error);
    if (rc == 0) {
        rc = aq_dir_create(presence->path, error);
    }
    if (rc == 0) {
        (void)snprintf(presence->path, sizeof(presence->path), "%s/workers/%s", dir, worker);
        rc = open_presence(presence, error);
    }
    if (rc != 0) {
        if (presence->file >= 0) {
            (void)close(presence->file);
        }
        aq_free(presence);
        return rc;
    }
    aq_sweep_presence_beat(presence);
    *ret_presence = presence;
    return 0;
}

void aq_sweep_presence_destroy(aq_sweep_presence *presence)
{
    if (presence != NULL) {
        (void)unlink(presence->path);
        (void)close(presence->file);
        aq_free(presence);
    }
}

void aq_sweep_presence_beat(aq_sweep_presence *presence)
{
    char count[COUNT_BYTES];
    (void)snprintf(count, sizeof(count), "%-20" PRIu64 "\n", ++presence->beats);
    /* Over NFS what is not synced may stay on this host. */
    const bool is_written =
        pwrite(presence->file, count, strlen(count), 0) > 0 && fdatasync(presence->file) == 0;
    (void)is_written;
}

int aq_sweep_presence_file(const aq_sweep_presence *presence)
{
    return presence->file;
}

/* ---- others' -------------------------------------------------------------------------------- */

/* What was last heard of a worker. */
typedef struct heard {
    char worker[NAME_BYTES];
    char count[COUNT_BYTES];
    int64_t since_ns;
} heard;

struct aq_sweep_watch {
    char dir[PATH_BYTES];
    int64_t lease_ns;
    heard *workers;
    size_t count, capacity;
};

int aq_sweep_watch_create(const char *dir, int64_t lease_ns, aq_sweep_watch **ret_watch)
{
    aq_sweep_watch *watch = aq_alloc(1, sizeof(*watch));
    if (watch == NULL) {
        return AQ_E_NOMEM;
    }
    watch->lease_ns = lease_ns;
    int rc = aq_text_set(watch->dir, sizeof(watch->dir), dir);
    if (rc != 0) {
        aq_sweep_watch_destroy(watch);
        return rc;
    }
    *ret_watch = watch;
    return 0;
}

void aq_sweep_watch_destroy(aq_sweep_watch *watch)
{
    if (watch != NULL) {
        aq_free(watch->workers);
        aq_free(watch);
    }
}

static heard *find(aq_sweep_watch *watch, const char *worker)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (strcmp(watch->workers[i].worker, worker) == 0) {
            return &watch->workers[i];
        }
    }
    if (aq_grow(&watch->workers, &watch->capacity, watch->count, sizeof(*watch->workers),
                WORKERS_MAX) != 0) {
        return NULL;
    }
    heard *its = &watch->workers[watch->count++];
    *its = (heard){.since_ns = -1};
    int rc = aq_text_set(its->worker, sizeof(its->worker), worker);
    (void)rc; /* names are shorter: sweep_study.h */
    return its;
}

/* Silent for too long, by its count. */
static bool is_silent(aq_sweep_watch *watch, const char *worker, int file, int64_t now_ns)
{
    char count[COUNT_BYTES] = "";
    heard *its = find(watch, worker);
    const ssize_t size = pread(file, count, sizeof(count) - 1, 0);
    if (its == NULL || size < 0) {
        return false;
    }
    if (its->since_ns < 0 || strcmp(its->count, count) != 0) {
        its->since_ns = now_ns;
        memcpy(its->count, count, sizeof(count));
    }
    return now_ns - its->since_ns >= watch->lease_ns;
}

bool aq_sweep_watch_is_over(aq_sweep_watch *watch, const char *worker, int64_t now_ns)
{
    char path[2 * PATH_BYTES];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    (void)snprintf(path, sizeof(path), "%s/workers/%s", watch->dir, worker);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT;
    }
    const bool is_free = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    const bool is_over = is_free || is_silent(watch, worker, file, now_ns);
    (void)close(file);
    return is_over;
}

/*
 * Writing the snapshot, and reading it: into memory, as a disk that can't be read is the end of the
 * process in a mapping. It is synced before it is renamed: after the end of the machine the name
 * means the old file or the new one, and the check sums tell if a disk lied.
 */
#include "replay/disk/segment_snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/sys/file.h"
#include "replay/disk/segment_format.h"

/* Half a millisecond of a fast disk. */
#define SLICE_BYTES ((size_t)1 << 20)

#define FILE_BYTES_MAX ((size_t)AQ_FILE_FRONT_BYTES + UINT32_MAX)

void aq_segment_snapshot_init(aq_segment_snapshot *snapshot, const aq_segment_disk *disk,
                              const aq_segment_folder *folder)
{
    *snapshot = (aq_segment_snapshot){.disk = disk, .folder = folder, .fd = -1};
}

static int write_all(aq_segment_snapshot *snapshot, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
        const ssize_t written = snapshot->disk->writev(snapshot->fd, &part, 1);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            errno = written == 0 ? EIO : errno;
            return -1;
        }
    }
    return 0;
}

static int fail(aq_segment_snapshot *snapshot, const char *what, aq_error *error)
{
    char path[PATH_MAX];
    const int errno_value = errno;
    aq_segment_snapshot_abort(snapshot);
    return aq_segment_fail(error, aq_snapshot_path(snapshot->folder->path, path), what,
                           errno_value);
}

int aq_segment_snapshot_begin(aq_segment_snapshot *snapshot, const uint8_t *bytes, size_t size,
                              uint64_t durable, aq_error *error)
{
    char path[PATH_MAX];
    uint8_t front[AQ_FILE_FRONT_BYTES];
    const aq_file_header file = {
        .kind = AQ_STORE_FILE_SNAPSHOT,
        .store = snapshot->folder->identity.store,
    };
    AQ_ASSERT(size <= UINT32_MAX);
    aq_file_front_encode(&file, AQ_RECORD_SNAPSHOT, durable, bytes, (uint32_t)size, front);
    aq_segment_snapshot_abort(snapshot);
    snapshot->fd = snapshot->disk->open(aq_snapshot_temporary_path(snapshot->folder->path, path),
                                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, AQ_SEGMENT_MODE);
    if (snapshot->fd < 0) {
        return fail(snapshot, "create a temporary file beside it", error);
    }
    if (write_all(snapshot, front, sizeof(front)) != 0) {
        return fail(snapshot, "write", error);
    }
    snapshot->bytes = bytes;
    snapshot->size = size;
    snapshot->written = 0;
    return 0;
}

static int finish(aq_segment_snapshot *snapshot, aq_error *error)
{
    char temporary[PATH_MAX];
    char path[PATH_MAX];
    if (snapshot->disk->sync(snapshot->fd) != 0) {
        return fail(snapshot, "sync", error);
    }
    if (snapshot->disk->rename(aq_snapshot_temporary_path(snapshot->folder->path, temporary),
                               aq_snapshot_path(snapshot->folder->path, path)) != 0) {
        return fail(snapshot, "rename the temporary file to it", error);
    }
    close(snapshot->fd);
    snapshot->fd = -1;
    return 0;
}

int aq_segment_snapshot_go_on(aq_segment_snapshot *snapshot, bool *ret_done, aq_error *error)
{
    AQ_ASSERT(snapshot->fd >= 0);
    const size_t left = snapshot->size - snapshot->written;
    const size_t slice = left < SLICE_BYTES ? left : SLICE_BYTES;
    if (slice > 0 && write_all(snapshot, snapshot->bytes + snapshot->written, slice) != 0) {
        return fail(snapshot, "write", error);
    }
    snapshot->written += slice;
    int rc = 0;
    if (snapshot->written == snapshot->size) {
        rc = finish(snapshot, error);
    }
    if (rc == 0) {
        *ret_done = snapshot->fd < 0;
    }
    return rc;
}

void aq_segment_snapshot_abort(aq_segment_snapshot *snapshot)
{
    char path[PATH_MAX];
    if (snapshot->fd >= 0) {
        close(snapshot->fd);
        snapshot->fd = -1;
        (void)snapshot->disk->unlink(aq_snapshot_temporary_path(snapshot->folder->path, path));
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static int check(const aq_segment_folder *folder, const char *path, const uint8_t *bytes,
                 size_t size, const uint8_t **ret_bytes, size_t *ret_size, uint64_t *ret_durable,
                 aq_error *error)
{
    aq_file_header header = {0};
    int rc = aq_file_header_decode(bytes, size, path, &header, error);
    if (rc == AQ_E_VERSION) {
        return rc;
    }
    if (rc == AQ_E_FOREIGN) {
        return aq_fail(error, rc, "%s: not a snapshot of a replay store", path);
    }
    if (rc == 0 &&
        (header.kind != AQ_STORE_FILE_SNAPSHOT || header.store != folder->identity.store)) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: it belongs to another store", path);
    }
    aq_scan_step step = {.kind = AQ_SCAN_TORN};
    if (rc == 0) {
        step = aq_segment_scan(bytes, size, aq_record_salt(folder->identity.store, 0),
                               AQ_FILE_HEADER_BYTES);
    }
    if (step.kind != AQ_SCAN_RECORD || step.record.kind != AQ_RECORD_SNAPSHOT) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: damaged", path);
    }
    *ret_bytes = step.payload;
    *ret_size = step.record.size;
    *ret_durable = step.record.number;
    return 0;
}

int aq_segment_snapshot_read(const aq_segment_folder *folder, aq_buffer *ret_file,
                             const uint8_t **ret_bytes, size_t *ret_size, uint64_t *ret_durable,
                             aq_error *error)
{
    char path[PATH_MAX];
    struct stat status;
    aq_error reason = {0};
    aq_buffer file;
    aq_buffer_init(&file, FILE_BYTES_MAX);
    if (stat(aq_snapshot_path(folder->path, path), &status) != 0) {
        if (errno != ENOENT) {
            return aq_segment_fail(error, path, "look at", errno);
        }
        *ret_file = file;
        return 0;
    }
    if (!S_ISREG(status.st_mode)) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a file", path);
    }
    int rc = aq_file_read(path, &file, &reason);
    if (rc != 0) {
        rc = aq_fail(error, rc == AQ_E_NOMEM ? rc : AQ_E_IO, "%s", reason.text);
    } else if (file.size == 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: damaged: it is empty", path);
    } else {
        rc = check(folder, path, file.data, file.size, ret_bytes, ret_size, ret_durable, error);
    }
    if (rc != 0) {
        aq_buffer_fini(&file);
        return rc;
    }
    *ret_file = file;
    return 0;
}

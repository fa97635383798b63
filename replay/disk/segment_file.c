/*
 * Appends to one file. O_APPEND puts every write behind what is there, so that cutting the file is
 * all that going back takes.
 */
#include "replay/disk/segment_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "replay/disk/segment_folder.h"

#if defined(IOV_MAX)
_Static_assert(2 * AQ_SEGMENT_PIECES_MAX <= IOV_MAX, "all pieces fit one call");
#endif

void aq_segment_file_init(aq_segment_file *file, const aq_segment_disk *disk)
{
    *file = (aq_segment_file){.disk = disk, .fd = -1};
}

int aq_segment_file_open(aq_segment_file *file, const char *path, aq_error *error)
{
    struct stat status;
    AQ_ASSERT(file->fd < 0);
    int rc = aq_text_set(file->path, sizeof(file->path), path);
    AQ_ASSERT(rc == 0);
    const int fd =
        file->disk->open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, AQ_SEGMENT_MODE);
    if (fd < 0) {
        return aq_segment_fail(error, path, "create", errno);
    }
    if (fstat(fd, &status) != 0) {
        rc = aq_segment_fail(error, path, "look at", errno);
    } else if (!S_ISREG(status.st_mode) || status.st_size != 0) {
        rc = aq_segment_fail(error, path, "create", EEXIST);
    }
    if (rc != 0) {
        close(fd);
        return rc;
    }
    file->fd = fd;
    file->size = 0;
    file->synced = 0;
    file->torn = false;
    return 0;
}

void aq_segment_file_close(aq_segment_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}

static void cut_back(aq_segment_file *file)
{
    file->torn = file->disk->truncate(file->fd, (off_t)file->size) != 0;
}

void aq_segment_file_cut(aq_segment_file *file, uint64_t size)
{
    AQ_ASSERT(size <= file->size);
    file->size = size;
    file->synced = file->synced < size ? file->synced : size;
    cut_back(file);
}

static size_t piece_size(const aq_segment_piece *piece)
{
    return piece->front_size + piece->body_size;
}

/* What is left of the pieces after their first `done` bytes. */
static int parts_after(const aq_segment_piece *pieces, size_t count, size_t done,
                       struct iovec *ret_parts)
{
    int parts = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const aq_segment_piece *piece = &pieces[i / 2];
        const uint8_t *bytes = i % 2 == 0 ? piece->front : piece->body;
        const size_t size = i % 2 == 0 ? piece->front_size : piece->body_size;
        const size_t skipped = done < size ? done : size;
        done -= skipped;
        if (skipped < size) {
            ret_parts[parts++] = (struct iovec){
                .iov_base = (void *)(uintptr_t)(bytes + skipped),
                .iov_len = size - skipped,
            };
        }
    }
    return parts;
}

/* Returns how many bytes got there; fewer than all with errno. */
static size_t write_parts(const aq_segment_file *file, const aq_segment_piece *pieces, size_t count)
{
    struct iovec parts[2 * AQ_SEGMENT_PIECES_MAX];
    size_t done = 0;
    for (;;) {
        const int left = parts_after(pieces, count, done, parts);
        if (left == 0) {
            return done;
        }
        const ssize_t written = file->disk->writev(file->fd, parts, left);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0) {
            errno = EIO; /* a disk that takes nothing and says nothing */
            return done;
        } else if (errno != EINTR) {
            return done;
        }
    }
}

int aq_segment_file_write(aq_segment_file *file, const aq_segment_piece *pieces, size_t count,
                          size_t *ret_whole, aq_error *error)
{
    AQ_ASSERT(file->fd >= 0);
    AQ_ASSERT(count <= AQ_SEGMENT_PIECES_MAX);
    *ret_whole = 0;
    if (file->torn) {
        cut_back(file);
    }
    if (file->torn) {
        return aq_segment_fail(error, file->path, "cut off what was written in part", errno);
    }
    size_t done = write_parts(file, pieces, count);
    const int errno_value = errno;
    size_t whole = 0;
    while (whole < count && done >= piece_size(&pieces[whole])) {
        done -= piece_size(&pieces[whole]);
        file->size += piece_size(&pieces[whole]);
        whole++;
    }
    *ret_whole = whole;
    if (whole == count) {
        return 0;
    }
    cut_back(file);
    return aq_segment_fail(error, file->path, "write", errno_value);
}

int aq_segment_file_sync(aq_segment_file *file, aq_error *error)
{
    if (file->synced == file->size) {
        return 0;
    }
    if (file->disk->sync(file->fd) != 0) {
        return aq_segment_fail(error, file->path, "sync", errno);
    }
    file->synced = file->size;
    return 0;
}

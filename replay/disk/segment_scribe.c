/*
 * Segments, step by step. A sync that failed is not trusted when it is tried again: the kernel
 * tells of each lost page once. Where syncs come before acknowledgements, what the failed one
 * covered is therefore cut off, to be written anew.
 */
#include "replay/disk/segment_scribe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

enum { NOTES_MAX = 64 };

int aq_segment_scribe_init(aq_segment_scribe *scribe, const aq_segment_folder *folder,
                           aq_segment_map *map, const aq_segment_disk *disk, bool sync_each,
                           bool compressed, uint64_t headed, aq_error *error)
{
    aq_segment_batch *batch;
    int rc = aq_segment_batch_create(folder->identity.store, compressed, &batch);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: no memory to write segments", folder->path);
    }
    const int folder_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0) {
        rc = aq_segment_fail(error, folder->path, "open the folder", errno);
        aq_segment_batch_destroy(batch);
        return rc;
    }
    *scribe = (aq_segment_scribe){
        .folder = folder,
        .map = map,
        .disk = disk,
        .sync_each = sync_each,
        .batch = batch,
        .headed = headed,
        .folder_fd = folder_fd,
        .folder_synced = true,
    };
    aq_segment_file_init(&scribe->file, disk);
    return 0;
}

void aq_segment_scribe_fini(aq_segment_scribe *scribe)
{
    aq_segment_file_close(&scribe->file);
    close(scribe->folder_fd);
    aq_segment_batch_destroy(scribe->batch);
}

/* ---- syncing -------------------------------------------------------------------------------- */

bool aq_segment_scribe_is_synced(const aq_segment_scribe *scribe)
{
    return scribe->file.fd < 0 ||
           (scribe->folder_synced && scribe->file.synced == scribe->file.size);
}

int aq_segment_scribe_sync(aq_segment_scribe *scribe, aq_error *error)
{
    int rc = 0;
    if (aq_segment_scribe_is_synced(scribe)) {
        return 0;
    }
    if (!scribe->folder_synced && scribe->disk->sync(scribe->folder_fd) != 0) {
        rc = aq_segment_fail(error, scribe->folder->path, "sync the folder", errno);
    }
    if (rc == 0) {
        scribe->folder_synced = true;
        rc = aq_segment_file_sync(&scribe->file, error);
        if (rc != 0 && !scribe->sync_each) { /* else what is in doubt is cut off */
            aq_segment_map_distrust(scribe->map, scribe->segment);
        }
    }
    if (rc == 0 && scribe->file.size > 0) {
        scribe->headed = scribe->segment;
    }
    scribe->sync_failures += rc != 0;
    return rc;
}

/* What was appended since `size_before` counts from here on; or is gone. */
static int settle(aq_segment_scribe *scribe, uint64_t size_before, aq_error *error)
{
    int rc = scribe->sync_each ? aq_segment_scribe_sync(scribe, error) : 0;
    if (rc != 0) {
        aq_segment_file_cut(&scribe->file, size_before);
    }
    aq_segment_map_size(scribe->map, scribe->segment, scribe->file.size);
    return rc;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* The file of the segment before gives way to a new one. It has been opened already where this is
 * tried again. */
static int open_file(aq_segment_scribe *scribe, uint64_t segment, aq_error *error)
{
    char path[PATH_MAX];
    if (scribe->segment == segment && scribe->file.fd >= 0) {
        return 0;
    }
    int rc = aq_segment_scribe_sync(scribe, error);
    if (rc != 0) {
        return rc;
    }
    aq_segment_file_close(&scribe->file);
    rc = aq_segment_file_open(&scribe->file, aq_segment_path(scribe->folder->path, segment, path),
                              error);
    if (rc == 0) {
        scribe->segment = segment;
        scribe->folder_synced = false;
        scribe->noted = 0; /* notes in the file before are synced */
    }
    return rc;
}

int aq_segment_scribe_start(aq_segment_scribe *scribe, const aq_segment_item *item, aq_error *error)
{
    uint64_t *live = NULL;
    uint64_t live_count = 0;
    size_t count;
    size_t whole;
    AQ_ASSERT(item->head != NULL);
    int rc = open_file(scribe, item->segment, error);
    if (rc != 0) {
        return rc;
    }
    AQ_ASSERT(scribe->file.size == 0);
    rc = aq_segment_map_live(scribe->map, item->segment, &live, &live_count);
    if (rc == 0) {
        rc = aq_segment_batch_start(scribe->batch, item, live, live_count);
    }
    aq_free(live);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: can't write its head: %s", scribe->file.path,
                       aq_error_text(rc));
    }
    const aq_segment_piece *pieces = aq_segment_batch_pieces(scribe->batch, &count);
    rc = aq_segment_file_write(&scribe->file, pieces, count, &whole, error);
    if (rc == 0) {
        rc = settle(scribe, 0, error);
    }
    return rc;
}

/* The first `whole` pieces lie in the file from `offset` on. Returns how many are frames. */
static size_t take_note(aq_segment_scribe *scribe, uint64_t offset, size_t whole,
                        const uint64_t *notes, size_t note_count, const aq_segment_item *items)
{
    size_t count;
    const aq_segment_piece *pieces = aq_segment_batch_pieces(scribe->batch, &count);
    size_t frames = 0;
    for (size_t i = 0; i < whole; i++) {
        const uint64_t end = offset + pieces[i].front_size + pieces[i].body_size;
        if (i < note_count) {
            aq_segment_map_noted(scribe->map, notes[i]);
            scribe->noted = end;
        } else {
            aq_segment_map_place(scribe->map, scribe->segment, items[frames++].number, offset);
        }
        offset = end;
    }
    return frames;
}

int aq_segment_scribe_write(aq_segment_scribe *scribe, const aq_segment_item *items, size_t count,
                            size_t *ret_written, aq_error *error)
{
    uint64_t notes[NOTES_MAX];
    size_t whole = 0;
    size_t piece_count;
    *ret_written = 0;
    if (scribe->file.fd < 0) {
        AQ_ASSERT(count == 0);
        return 0;
    }
    const size_t note_count = aq_segment_map_to_note(scribe->map, scribe->headed, notes, NOTES_MAX);
    aq_segment_batch_fill(scribe->batch, scribe->segment, notes, note_count, items, count);
    const aq_segment_piece *pieces = aq_segment_batch_pieces(scribe->batch, &piece_count);
    if (piece_count == 0) {
        return 0;
    }
    const uint64_t size_before = scribe->file.size;
    int rc = aq_segment_file_write(&scribe->file, pieces, piece_count, &whole, error);
    if (whole > 0 && settle(scribe, size_before, rc == 0 ? error : NULL) != 0) {
        rc = rc != 0 ? rc : AQ_E_IO;
        whole = 0;
    }
    *ret_written = take_note(scribe, size_before, whole, notes, note_count, items);
    return rc;
}

/* ---- deleting ------------------------------------------------------------------------------- */

/* A note that is lost with the power, when its file is gone already, would leave a file that is
 * missing. */
int aq_segment_scribe_delete(aq_segment_scribe *scribe, bool *ret_any, aq_error *error)
{
    char path[PATH_MAX];
    uint64_t segment;
    while (scribe->noted <= scribe->file.synced &&
           aq_segment_map_to_delete(scribe->map, scribe->headed, &segment)) {
        if (scribe->disk->unlink(aq_segment_path(scribe->folder->path, segment, path)) != 0 &&
            errno != ENOENT) {
            return aq_segment_fail(error, path, "delete", errno);
        }
        aq_segment_map_forget(scribe->map, segment);
        *ret_any = true;
    }
    return 0;
}

/* Cutting the file would do, but it may be mapped. Without an empty file in its place, the next
 * life may say that it is missing; no more than that. */
int aq_segment_scribe_make_room(aq_segment_scribe *scribe, bool *ret_any, aq_error *error)
{
    char path[PATH_MAX];
    uint64_t segment;
    while (aq_segment_map_to_empty(scribe->map, scribe->headed, &segment)) {
        if (scribe->disk->unlink(aq_segment_path(scribe->folder->path, segment, path)) != 0 &&
            errno != ENOENT) {
            return aq_segment_fail(error, path, "delete", errno);
        }
        const int fd =
            scribe->disk->open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, AQ_SEGMENT_MODE);
        if (fd >= 0) {
            close(fd);
        }
        aq_segment_map_emptied(scribe->map, segment);
        *ret_any = true;
    }
    return 0;
}

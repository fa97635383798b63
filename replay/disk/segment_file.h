/*
 * Segment file: the one that is being written. Pieces (whole records, mostly) are appended; after
 * a failure nothing is left of a piece that didn't get there whole, as far as the disk lets us, and
 * nothing is written before that is so.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_FILE_H
#define AQ_REPLAY_DISK_SEGMENT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "replay/disk/segment_disk.h"

enum { AQ_SEGMENT_PIECES_MAX = 256 };

/* Bytes that belong together, in two parts. */
typedef struct aq_segment_piece {
    const uint8_t *front, *body;
    size_t front_size, body_size;
} aq_segment_piece;

typedef struct aq_segment_file {
    const aq_segment_disk *disk;
    int fd;          /* -1: none is open */
    uint64_t size;   /* of its whole pieces */
    uint64_t synced; /* up to here */
    bool torn;       /* there may be more than `size` */
    char path[PATH_MAX];
} aq_segment_file;

/* No file is open after that. */
void aq_segment_file_init(aq_segment_file *file, const aq_segment_disk *disk);

/* A new file. An existing one of the name is not touched, unless it is empty. */
int aq_segment_file_open(aq_segment_file *file, const char *path, aq_error *error) AQ_MUST_USE;
void aq_segment_file_close(aq_segment_file *file); /* nothing is synced */

/* At most AQ_SEGMENT_PIECES_MAX. *ret_whole, set on failure too, is how many are in the file. */
int aq_segment_file_write(aq_segment_file *file, const aq_segment_piece *pieces, size_t count,
                          size_t *ret_whole, aq_error *error) AQ_MUST_USE;

/* Cuts the file back to `size` bytes, which were whole pieces. Where that fails, it is done before
 * the next write. */
void aq_segment_file_cut(aq_segment_file *file, uint64_t size);

int aq_segment_file_sync(aq_segment_file *file, aq_error *error) AQ_MUST_USE;

#endif

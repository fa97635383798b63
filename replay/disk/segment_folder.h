/*
 * Segment folder: a store's folder, locked, known to be ours, and the names of the files in it.
 * Whatever is refused is refused in words before anything is written.
 *
 * One owner, no locking; the paths any thread.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_FOLDER_H
#define AQ_REPLAY_DISK_SEGMENT_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/folder_lock.h"

enum {
    AQ_STORE_TASK_BYTES_MAX = 256,
    AQ_STORE_SCHEMA_BYTES_MAX = 3072,
    AQ_SEGMENTS_MAX = 1 << 15, /* of 65,530 mappings that a process may have on Linux */
    /* What a path of ours may take, so that every name of a file fits behind it. */
    AQ_SEGMENT_FOLDER_BYTES_MAX = PATH_MAX - 64
};

/* What a store is of. */
typedef struct aq_store_identity {
    uint64_t store; /* not 0 */
    uint64_t run_id;
    uint64_t schema_hash;
    char task[AQ_STORE_TASK_BYTES_MAX];
    uint8_t schema[AQ_STORE_SCHEMA_BYTES_MAX]; /* packed (wire_run.h); bytes to whom keeps them */
    uint32_t schema_bytes;                     /* 0: of an older store, which has none */
} aq_store_identity;

typedef struct aq_segment_folder {
    char path[AQ_SEGMENT_FOLDER_BYTES_MAX];
    aq_folder_lock *lock;
    aq_store_identity identity;
} aq_segment_folder;

/* Reads what the store in the folder is of; neither locks nor changes anything. AQ_E_NOT_FOUND when
 * nothing says so there. */
int aq_segment_folder_identify(const char *path, aq_store_identity *ret_identity,
                               aq_error *error) AQ_MUST_USE;

/* Makes the folder and what names the store, if they aren't there; `wanted->store` is then its
 * name. Refusals as of aq_segment_log_open. */
int aq_segment_folder_open(const char *path, const aq_store_identity *wanted,
                           aq_segment_folder *ret_folder, aq_error *error) AQ_MUST_USE;

/* A store of whatever run, which must be there already, to read from. It is locked all the same,
 * if a file to lock is there. */
int aq_segment_folder_open_any(const char *path, aq_segment_folder *ret_folder,
                               aq_error *error) AQ_MUST_USE;

void aq_segment_folder_close(aq_segment_folder *folder);

/* The numbers of the segments, ascending; aq_free them. */
int aq_segment_folder_list(const aq_segment_folder *folder, uint64_t **ret_numbers,
                           size_t *ret_count, aq_error *error) AQ_MUST_USE;

/* For qsort and bsearch: of numbers, and of rows that begin with theirs. */
int aq_segment_compare(const void *number, const void *row) AQ_MUST_USE;

/* Into out[PATH_MAX]; returns `out`. */
const char *aq_segment_path(const char *folder, uint64_t segment, char *out);
const char *aq_snapshot_path(const char *folder, char *out);
const char *aq_snapshot_temporary_path(const char *folder, char *out);

/* "PATH: can't WHAT: No space left on device", with an error of our list. Files that may not be
 * opened or written are AQ_E_IO, a full disk is AQ_E_NO_SPACE. */
int aq_segment_fail(aq_error *error, const char *path, const char *what, int errno_value);

#endif

/*
 * A store's folder.
 */
#include "replay/disk/segment_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "replay/disk/segment_format.h"

#define SEGMENT_PREFIX "segment-"
#define SUFFIX         ".aqrs"

enum { SEGMENT_DIGITS = 14, IDENTITY_NUMBERS = 2, IDENTITY_FILE_BYTES_MAX = 4096 };

/* ---- names ---------------------------------------------------------------------------------- */

/* Every folder is short enough (aq_segment_folder_open). */
static const char *path_of(const char *folder, const char *name, char *out)
{
    int rc = aq_text_format(out, PATH_MAX, "%s/%s", folder, name);
    AQ_ASSERT(rc == 0);
    return out;
}

const char *aq_segment_path(const char *folder, uint64_t segment, char *out)
{
    int rc = aq_text_format(out, PATH_MAX, "%s/" SEGMENT_PREFIX "%0*" PRIu64 SUFFIX, folder,
                            SEGMENT_DIGITS, segment);
    AQ_ASSERT(rc == 0);
    return out;
}

const char *aq_snapshot_path(const char *folder, char *out)
{
    return path_of(folder, "snapshot" SUFFIX, out);
}

const char *aq_snapshot_temporary_path(const char *folder, char *out)
{
    return path_of(folder, "snapshot" SUFFIX ".tmp", out);
}

/* 0 where it isn't the name of a segment. */
static uint64_t segment_of(const char *name)
{
    const size_t prefix = strlen(SEGMENT_PREFIX);
    char digits[SEGMENT_DIGITS + 1] = {0};
    uint64_t number = 0;
    if (strlen(name) != prefix + SEGMENT_DIGITS + strlen(SUFFIX) ||
        strncmp(name, SEGMENT_PREFIX, prefix) != 0 ||
        strcmp(name + prefix + SEGMENT_DIGITS, SUFFIX) != 0) {
        return 0;
    }
    memcpy(digits, name + prefix, SEGMENT_DIGITS);
    return strspn(digits, "0123456789") == SEGMENT_DIGITS && aq_parse_u64(digits, &number) == 0
               ? number
               : 0;
}

int aq_segment_fail(aq_error *error, const char *path, const char *what, int errno_value)
{
    char reason[128];
    if (strerror_r(errno_value, reason, sizeof(reason)) != 0) {
        snprintf(reason, sizeof(reason), "error %d", errno_value);
    }
    int code = aq_error_from_errno(errno_value);
    if (code != AQ_E_NO_SPACE && code != AQ_E_NOMEM) {
        code = AQ_E_IO;
    }
    return aq_fail(error, code, "%s: can't %s: %s", path, what, reason);
}

/* ---- the file that names the store ----------------------------------------------------------- */

static int identity_write(const char *folder, const aq_store_identity *identity, aq_error *error)
{
    const size_t task_size = strlen(identity->task) + 1;
    uint8_t bytes[AQ_FILE_FRONT_BYTES + IDENTITY_NUMBERS * sizeof(uint64_t) +
                  AQ_STORE_TASK_BYTES_MAX + AQ_STORE_SCHEMA_BYTES_MAX];
    uint8_t *payload = bytes + AQ_FILE_FRONT_BYTES;
    char path[PATH_MAX];
    aq_u64_put(payload, identity->run_id);
    aq_u64_put(payload + 8, identity->schema_hash);
    memcpy(payload + IDENTITY_NUMBERS * sizeof(uint64_t), identity->task, task_size);
    uint32_t size = (uint32_t)(IDENTITY_NUMBERS * sizeof(uint64_t) + task_size);
    memcpy(payload + size, identity->schema, identity->schema_bytes);
    size += identity->schema_bytes;
    const aq_file_header header = {.kind = AQ_STORE_FILE_IDENTITY, .store = identity->store};
    aq_file_front_encode(&header, AQ_RECORD_IDENTITY, 0, payload, size, bytes);
    return aq_file_write_atomic(path_of(folder, "store" SUFFIX, path), bytes,
                                AQ_FILE_FRONT_BYTES + (size_t)size, error);
}

/* The task, and behind a zero the schema, which older stores have not. */
static bool take_texts(const uint8_t *bytes, size_t size, aq_store_identity *identity)
{
    const uint8_t *end = memchr(bytes, 0, size);
    const size_t task_size = end != NULL ? (size_t)(end - bytes) : size;
    const size_t schema_bytes = end != NULL ? size - task_size - 1 : 0;
    if (task_size >= AQ_STORE_TASK_BYTES_MAX || schema_bytes > AQ_STORE_SCHEMA_BYTES_MAX) {
        return false;
    }
    memcpy(identity->task, bytes, task_size);
    if (schema_bytes > 0) {
        memcpy(identity->schema, end + 1, schema_bytes);
    }
    identity->schema_bytes = (uint32_t)schema_bytes;
    return true;
}

static int identity_decode(const char *path, const uint8_t *bytes, size_t size,
                           aq_store_identity *ret_identity, aq_error *error)
{
    aq_file_header header = {0};
    int rc = aq_file_header_decode(bytes, size, path, &header, error);
    if (rc == AQ_E_VERSION) {
        return rc;
    }
    if (rc == AQ_E_FOREIGN || (rc == 0 && header.kind != AQ_STORE_FILE_IDENTITY)) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a file that names a replay store", path);
    }
    aq_scan_step step = {0};
    aq_store_identity identity = {0};
    if (rc == 0) {
        step = aq_segment_scan(bytes, size, aq_record_salt(header.store, 0), AQ_FILE_HEADER_BYTES);
    }
    const size_t fixed = IDENTITY_NUMBERS * sizeof(uint64_t);
    if (rc != 0 || step.kind != AQ_SCAN_RECORD || step.record.kind != AQ_RECORD_IDENTITY ||
        step.record.size < fixed ||
        !take_texts(step.payload + fixed, step.record.size - fixed, &identity)) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: damaged: it can't be told what the store is of",
                       path);
    }
    identity.store = header.store;
    identity.run_id = aq_u64_get(step.payload);
    identity.schema_hash = aq_u64_get(step.payload + 8);
    *ret_identity = identity;
    return 0;
}

/* AQ_E_NOT_FOUND when there is none. */
static int identity_read(const char *folder, aq_store_identity *ret_identity, aq_error *error)
{
    char path[PATH_MAX];
    aq_buffer buffer;
    aq_error reason = {0};
    aq_buffer_init(&buffer, IDENTITY_FILE_BYTES_MAX);
    int rc = aq_file_read(path_of(folder, "store" SUFFIX, path), &buffer, &reason);
    if (rc == AQ_E_TOO_BIG || rc == AQ_E_INVALID) {
        rc = aq_fail(error, AQ_E_FOREIGN, "%s: not a file that names a replay store", path);
    } else if (rc == 0) {
        rc = identity_decode(path, buffer.data, buffer.size, ret_identity, error);
    } else if (rc != 0) {
        const bool is_telling = rc == AQ_E_NOT_FOUND || rc == AQ_E_NOMEM;
        rc = aq_fail(error, is_telling ? rc : AQ_E_IO, "%s", reason.text);
    }
    aq_buffer_fini(&buffer);
    return rc;
}

static int identity_compare(const aq_segment_folder *folder, const aq_store_identity *wanted,
                            aq_error *error)
{
    const aq_store_identity *found = &folder->identity;
    if (found->run_id != wanted->run_id) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s: a store of another run: %016" PRIx64 " (task %s), not %016" PRIx64,
                       folder->path, found->run_id, found->task, wanted->run_id);
    }
    if (found->schema_hash != wanted->schema_hash) {
        return aq_fail(
            error, AQ_E_SCHEMA,
            "%s: a store with other columns, of another schema or recorded for another algorithm, "
            "which 'actorq replay inspect' lists: %016" PRIx64 " (task %s), not %016" PRIx64
            " (task %s)",
            folder->path, found->schema_hash, found->task, wanted->schema_hash, wanted->task);
    }
    return 0;
}

/* ---- listing -------------------------------------------------------------------------------- */

int aq_segment_compare(const void *number, const void *row)
{
    const uint64_t wanted = *(const uint64_t *)number, found = *(const uint64_t *)row;
    return (wanted > found) - (wanted < found);
}

int aq_segment_folder_list(const aq_segment_folder *folder, uint64_t **ret_numbers,
                           size_t *ret_count, aq_error *error)
{
    aq_buffer buffer;
    int rc = 0;
    DIR *dir = opendir(folder->path);
    if (dir == NULL) {
        return aq_segment_fail(error, folder->path, "list the folder", errno);
    }
    aq_buffer_init(&buffer, AQ_SEGMENTS_MAX * sizeof(uint64_t));
    errno = 0;
    for (const struct dirent *entry = readdir(dir); rc == 0 && entry != NULL;
         entry = readdir(dir)) {
        const uint64_t number = segment_of(entry->d_name);
        if (number != 0) {
            rc = aq_buffer_append(&buffer, &number, sizeof(number));
        }
        errno = 0;
    }
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: too many segments to list: %s", folder->path,
                     aq_error_text(rc));
    } else if (errno != 0) {
        rc = aq_segment_fail(error, folder->path, "list the folder", errno);
    }
    closedir(dir);
    if (rc != 0) {
        aq_buffer_fini(&buffer);
        return rc;
    }
    *ret_count = buffer.size / sizeof(uint64_t);
    *ret_numbers = (uint64_t *)(void *)buffer.data;
    if (*ret_count > 0) {
        qsort(*ret_numbers, *ret_count, sizeof(uint64_t), aq_segment_compare);
    }
    return 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Nothing names the store: it is new, if nothing else of a store is here either. */
static int start_store(aq_segment_folder *folder, const aq_store_identity *wanted, aq_error *error)
{
    char path[PATH_MAX];
    uint64_t *numbers = NULL;
    size_t count = 0;
    int rc = aq_segment_folder_list(folder, &numbers, &count, error);
    if (rc != 0) {
        return rc;
    }
    aq_free(numbers);
    if (count > 0 || aq_path_exists(aq_snapshot_path(folder->path, path))) {
        return aq_fail(error, AQ_E_FOREIGN,
                       "%s: it holds segments or a snapshot, but no store" SUFFIX
                       " that says what they are of",
                       folder->path);
    }
    AQ_ASSERT(wanted->store != 0);
    folder->identity = *wanted;
    return identity_write(folder->path, &folder->identity, error);
}

static int take_path(const char *path, aq_segment_folder *folder, aq_error *error)
{
    *folder = (aq_segment_folder){.lock = NULL};
    if (aq_text_set(folder->path, sizeof(folder->path), path) != 0) {
        return aq_fail(error, AQ_E_IO, "the path of the store is too long: %s", path);
    }
    return 0;
}

int aq_segment_folder_identify(const char *path, aq_store_identity *ret_identity, aq_error *error)
{
    aq_segment_folder folder;
    int rc = take_path(path, &folder, error);
    return rc == 0 ? identity_read(path, ret_identity, error) : rc;
}

int aq_segment_folder_open(const char *path, const aq_store_identity *wanted,
                           aq_segment_folder *ret_folder, aq_error *error)
{
    aq_segment_folder folder;
    int rc = take_path(path, &folder, error);
    if (rc != 0) {
        return rc;
    }
    aq_error reason = {0};
    rc = aq_dir_create(path, &reason);
    if (rc != 0) {
        return aq_fail(error, rc == AQ_E_NO_SPACE ? rc : AQ_E_IO, "%s", reason.text);
    }
    rc = access(path, R_OK | W_OK | X_OK) != 0
             ? aq_segment_fail(error, path, "use the folder", errno)
             : aq_folder_lock_take(path, &folder.lock, error);
    if (rc != 0) {
        return rc;
    }
    rc = identity_read(folder.path, &folder.identity, error);
    if (rc == AQ_E_NOT_FOUND) {
        rc = start_store(&folder, wanted, error);
    } else if (rc == 0) {
        rc = identity_compare(&folder, wanted, error);
    }
    if (rc != 0) {
        aq_segment_folder_close(&folder);
        return rc;
    }
    *ret_folder = folder;
    return 0;
}

int aq_segment_folder_open_any(const char *path, aq_segment_folder *ret_folder, aq_error *error)
{
    aq_segment_folder folder;
    int rc = take_path(path, &folder, error);
    if (rc == 0) {
        rc = aq_folder_lock_share(path, &folder.lock, error);
    }
    /* A copy may lack the lock's file: then nobody uses it. */
    if (rc != 0 && rc != AQ_E_NOT_FOUND) {
        return rc;
    }
    rc = identity_read(folder.path, &folder.identity, error);
    if (rc != 0) {
        aq_segment_folder_close(&folder);
        return rc;
    }
    *ret_folder = folder;
    return 0;
}

void aq_segment_folder_close(aq_segment_folder *folder)
{
    aq_folder_lock_release(folder->lock);
    folder->lock = NULL;
}

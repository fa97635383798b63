/*
 * The log on disk, put together: folder, recovery, map and writer. This file counts records and
 * segments, on the caller's thread.
 */
#include "replay/disk/segment_log.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "replay/disk/segment_disk.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_format.h"
#include "replay/disk/segment_map.h"
#include "replay/disk/segment_recovery.h"
#include "replay/disk/segment_writer.h"

/* A file may end up larger than a segment's size by its last frame; mapped along at once. */
#define MAPPED_BEYOND_BYTES ((uint64_t)4 << 20)

/* Segments that a life goes up to. Each start must begin one, to note in it what is dropped: once
 * none can, tables that keep less free nothing any more. */
enum { SEGMENTS_FULL = AQ_SEGMENTS_MAX - 1024 };

typedef struct segment_log {
    aq_replay_log log; /* first */
    aq_segment_folder folder;
    aq_segment_map *map;
    aq_segment_writer *writer;
    uint64_t segment_bytes;
    uint64_t segments_full;
    uint64_t last_number;
    uint64_t last_segment;
    bool begun;      /* last_segment is one of this life */
    uint64_t handed; /* bytes of its frames so far */
} segment_log;

static segment_log *mine(aq_replay_log *log)
{
    return (segment_log *)(void *)log;
}

static bool wants_head(const aq_replay_log *log)
{
    const segment_log *segments = (const segment_log *)(const void *)log;
    return !segments->begun || segments->handed >= segments->segment_bytes ||
           aq_segment_writer_wants_segment(segments->writer);
}

/* Whether the next segment waits until one is deleted. */
static bool waits_for_segment(segment_log *segments)
{
    return aq_segment_map_count(segments->map) >=
           (segments->begun ? segments->segments_full : AQ_SEGMENTS_MAX);
}

static int begin(aq_replay_log *log, const aq_log_head *head, uint64_t *ret_segment)
{
    segment_log *segments = mine(log);
    const uint64_t segment = segments->last_segment + 1;
    if (waits_for_segment(segments)) {
        return AQ_E_FULL;
    }
    int rc =
        aq_segment_map_add(segments->map, segment, segments->segment_bytes + MAPPED_BEYOND_BYTES);
    if (rc != 0) {
        return rc;
    }
    rc = aq_segment_writer_begin(segments->writer, segment, segments->last_number + 1, head);
    if (rc != 0) {
        aq_segment_map_forget(segments->map, segment);
        return rc;
    }
    segments->begun = true;
    segments->last_segment = segment;
    segments->handed = 0;
    *ret_segment = segment;
    return 0;
}

static int append(aq_replay_log *log, uint64_t number, aq_lease *frame, uint64_t *ret_segment)
{
    segment_log *segments = mine(log);
    AQ_ASSERT(segments->begun);
    AQ_ASSERT(number == segments->last_number + 1);
    AQ_ASSERT(frame->size <= AQ_RECORD_BYTES_MAX);
    int rc = aq_segment_map_reserve(segments->map, segments->last_segment, number);
    if (rc != 0) {
        return rc;
    }
    rc = aq_segment_writer_append(segments->writer, segments->last_segment, number, frame);
    if (rc != 0) {
        aq_segment_map_unreserve(segments->map, segments->last_segment, number);
        return rc;
    }
    segments->last_number = number;
    segments->handed += AQ_RECORD_HEADER_BYTES + frame->size;
    *ret_segment = segments->last_segment;
    return 0;
}

static void poll_progress(aq_replay_log *log, aq_log_progress *ret_progress)
{
    segment_log *segments = mine(log);
    aq_segment_writer_progress(segments->writer, ret_progress);
    if (!ret_progress->stuck && wants_head(log) && waits_for_segment(segments)) {
        aq_error reason;
        (void)aq_fail(&reason, AQ_E_FULL,
                      "%s: it has as many segments as it may: it needs tables that keep less, or a "
                      "new store with larger ones (segment_bytes)",
                      segments->folder.path);
        ret_progress->stuck = true;
        memcpy(ret_progress->reason, reason.text, sizeof(ret_progress->reason));
    }
}

static void drop(aq_replay_log *log, uint64_t segment)
{
    segment_log *segments = mine(log);
    AQ_ASSERT(!segments->begun || segment < segments->last_segment);
    aq_segment_map_drop(segments->map, segment);
    aq_segment_writer_drop(segments->writer);
}

static int snapshot(aq_replay_log *log, aq_lease *bytes)
{
    segment_log *segments = mine(log);
    return aq_segment_writer_snapshot(segments->writer, bytes, segments->last_number);
}

static int map(aq_replay_log *log, uint64_t number, uint64_t segment, aq_lease **ret_frame)
{
    return aq_segment_map_lease(mine(log)->map, segment, number, ret_frame);
}

static void close_log(aq_replay_log *log, aq_error *error)
{
    segment_log *segments = mine(log);
    aq_segment_writer_destroy(segments->writer, error);
    aq_segment_map_destroy(segments->map);
    aq_segment_folder_close(&segments->folder);
    aq_free(segments);
}

static const aq_replay_log_class SEGMENT_LOG_CLASS = {
    .append = append,
    .wants_head = wants_head,
    .begin = begin,
    .poll = poll_progress,
    .drop = drop,
    .snapshot = snapshot,
    .map = map,
    .close = close_log,
};

/* ---- opening -------------------------------------------------------------------------------- */

static int open_folder(const aq_segment_log_config *config, segment_log *segments, aq_error *error)
{
    aq_store_identity wanted = {
        .store = config->store,
        .run_id = config->run_id,
        .schema_hash = config->schema_hash,
    };
    int rc = aq_text_set(wanted.task, sizeof(wanted.task), config->task);
    if (rc != 0) {
        return aq_fail(error, AQ_E_INVALID, "%s: the name of the task is too long", config->folder);
    }
    AQ_ASSERT(config->schema_bytes <= sizeof(wanted.schema));
    wanted.schema_bytes = (uint32_t)config->schema_bytes;
    if (config->schema_bytes > 0) {
        memcpy(wanted.schema, config->schema, config->schema_bytes);
    }
    return aq_segment_folder_open(config->folder, &wanted, &segments->folder, error);
}

static int start_writer(const aq_segment_log_config *config, segment_log *segments,
                        const aq_segment_recovered *recovered, aq_error *error)
{
    const aq_segment_writer_config writer = {
        .folder = &segments->folder,
        .map = segments->map,
        .disk = config->disk != NULL ? config->disk : aq_segment_disk_system(),
        .last_number = recovered->last_number,
        .headed = recovered->headed,
        .backlog_bytes = config->backlog_bytes,
        .fsync_ms = config->fsync_ms,
        .compressed = config->compressed,
        .wake = config->wake,
        .user = config->user,
    };
    return aq_segment_writer_create(&writer, &segments->writer, error);
}

/* Without its steps new records would get the numbers of old ones, and the next snapshot would say
 * that they have left. */
static int refuse_unreadable(const segment_log *segments, uint64_t segment, aq_error *error)
{
    char path[PATH_MAX];
    return aq_fail(error, AQ_E_IO,
                   "%s: it can't be read to its end just now; start again once it can, or move it "
                   "away to go on without its steps",
                   aq_segment_path(segments->folder.path, segment, path));
}

int aq_segment_log_open(const aq_segment_log_config *config, const aq_replay_log_recovery *recovery,
                        aq_segment_log_found *ret_found, aq_replay_log **ret_log, aq_error *error)
{
    aq_segment_recovered recovered = {0};
    segment_log *segments = aq_alloc(1, sizeof(*segments));
    if (segments == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a segment log");
    }
    segments->log.class = &SEGMENT_LOG_CLASS;
    segments->segment_bytes = config->segment_bytes;
    segments->segments_full = config->segments_full != 0 ? config->segments_full : SEGMENTS_FULL;
    int rc = open_folder(config, segments, error);
    if (rc != 0) {
        goto fail_folder;
    }
    rc = aq_segment_map_create(&segments->folder, &segments->map);
    if (rc != 0) {
        rc = aq_fail(error, rc, "no memory for a segment log");
        goto fail_map;
    }
    rc = aq_segment_recover(&segments->folder, segments->map, recovery, &recovered, error);
    if (rc == 0 && recovered.unreadable != 0) {
        rc = refuse_unreadable(segments, recovered.unreadable, error);
    }
    if (rc == 0) {
        rc = aq_segment_mend(&segments->folder, &recovered, error);
    }
    if (rc == 0) {
        rc = start_writer(config, segments, &recovered, error);
    }
    if (rc != 0) {
        goto fail_recovery;
    }
    segments->last_number = recovered.last_number;
    segments->last_segment = recovered.last_segment;
    *ret_found = (aq_segment_log_found){
        .store = segments->folder.identity.store,
        .last_number = recovered.last_number,
    };
    *ret_log = &segments->log;
    return 0;

fail_recovery:
    aq_segment_map_destroy(segments->map);
fail_map:
    aq_segment_folder_close(&segments->folder);
fail_folder:
    aq_free(segments);
    return rc;
}

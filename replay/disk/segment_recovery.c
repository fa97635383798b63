/*
 * Reading a store, segment by segment. See the header.
 */
#include "replay/disk/segment_recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "common/base/memory.h"
#include "common/sys/file.h"
#include "replay/disk/segment_format.h"
#include "replay/disk/segment_mapping.h"
#include "replay/disk/segment_snapshot.h"
#include "replay/disk/segment_view.h"

typedef struct store_reader {
    const aq_segment_folder *folder;
    aq_segment_map *map;
    const aq_replay_log_recovery *to;
    aq_error *error;
    aq_segment_recovered found;
    struct ZSTD_DCtx_s *zstd; /* made when it is needed */
    aq_segment_head head;     /* the newest good one */
    void *head_block;
    aq_buffer dropped;      /* numbers of segments, as far as that is noted */
    uint64_t whole_segment; /* the last that was read and had nothing wrong */
} store_reader;

/* The segment that is being read. */
typedef struct segment_read {
    aq_segment_view view;
    bool newest;
    bool damaged;
    uint64_t frames, notes;
} segment_read;

static void tell_damage(const store_reader *reader, const char *what)
{
    if (reader->to->damage != NULL) {
        reader->to->damage(reader->to->user, what);
    }
}

static void damage(store_reader *reader, segment_read *segment, size_t offset, const char *format,
                   ...) AQ_PRINTF(4, 5);

static void damage(store_reader *reader, segment_read *segment, size_t offset, const char *format,
                   ...)
{
    char reason[256];
    char what[PATH_MAX + sizeof(reason) + 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    snprintf(what, sizeof(what), "%s: offset %zu: %s", segment->view.path, offset, reason);
    segment->damaged = true;
    tell_damage(reader, what);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Records up to `number` were there once. What was dropped between two segments is not missed. */
static void compare_number(store_reader *reader, segment_read *segment, const aq_scan_step *step)
{
    const uint64_t before = step->record.number > 0 ? step->record.number - 1 : 0;
    if (before <= reader->found.last_number) {
        return;
    }
    if (reader->whole_segment != 0 && reader->whole_segment + 1 == segment->view.segment) {
        damage(reader, segment, step->offset,
               "records %" PRIu64 " to %" PRIu64 ", which came before, are missing",
               reader->found.last_number + 1, before);
    }
    reader->found.last_number = before;
}

static int take_head(store_reader *reader, segment_read *segment, const aq_scan_step *step)
{
    aq_segment_head head;
    void *block;
    int rc = aq_segment_head_decode(step->payload, step->record.size, &head, &block);
    if (rc == AQ_E_CORRUPT) {
        damage(reader, segment, step->offset, "a head that makes no sense is left out");
        return 0;
    }
    if (rc != 0) {
        return aq_fail(reader->error, rc, "%s: no memory for its head", segment->view.path);
    }
    aq_free(reader->head_block);
    reader->head = head;
    reader->head_block = block;
    reader->found.headed = segment->view.segment;
    compare_number(reader, segment, step);
    const aq_replay_log_recovery *to = reader->to;
    return to->head != NULL ? to->head(to->user, segment->view.segment, &head.log, reader->error)
                            : 0;
}

/* A frame that was packed, as it was before. AQ_E_CORRUPT, AQ_E_NOMEM. */
static int unpack(store_reader *reader, const aq_scan_step *step, aq_lease **ret_frame)
{
    const size_t size = step->record.unpacked_size;
    uint8_t *bytes;
    aq_lease *frame;
    if (size > AQ_RECORD_BYTES_MAX) {
        return AQ_E_CORRUPT;
    }
    if (reader->zstd == NULL) {
        reader->zstd = ZSTD_createDCtx();
    }
    if (reader->zstd == NULL || aq_lease_create(size, &bytes, &frame) != 0) {
        return AQ_E_NOMEM;
    }
    const size_t got =
        ZSTD_decompressDCtx(reader->zstd, bytes, size, step->payload, step->record.size);
    if (ZSTD_isError(got) || got != size) {
        aq_lease_unref(frame);
        return AQ_E_CORRUPT;
    }
    *ret_frame = frame;
    return 0;
}

static int lease_frame(store_reader *reader, segment_read *segment, const aq_scan_step *step,
                       aq_lease **ret_frame)
{
    const aq_record *record = &step->record;
    if ((record->flags & ~AQ_RECORD_ZSTD) != 0) {
        return AQ_E_CORRUPT;
    }
    if (record->flags != 0) {
        return unpack(reader, step, ret_frame);
    }
    return aq_segment_mapping_lease(segment->view.mapping, step->offset + AQ_RECORD_HEADER_BYTES,
                                    record->size, ret_frame);
}

static int take_frame(store_reader *reader, segment_read *segment, const aq_scan_step *step)
{
    const uint64_t number = step->record.number;
    aq_lease *frame = NULL;
    aq_error reason = {0};
    if (number <= reader->found.last_number) {
        damage(reader, segment, step->offset, "record %" PRIu64 " after %" PRIu64 " is left out",
               number, reader->found.last_number);
        return 0;
    }
    reader->found.last_number = number;
    segment->frames++;
    int rc = lease_frame(reader, segment, step, &frame);
    if (rc == AQ_E_CORRUPT) {
        damage(reader, segment, step->offset,
               "record %" PRIu64 " can't be unpacked and is left out", number);
        return 0;
    }
    if (rc == 0) {
        rc = aq_segment_map_reserve(reader->map, segment->view.segment, number);
    }
    if (rc != 0) {
        aq_lease_unref(frame);
        return aq_fail(reader->error, rc, "%s: no memory for record %" PRIu64, segment->view.path,
                       number);
    }
    aq_segment_map_place(reader->map, segment->view.segment, number, step->offset);
    if (reader->to->record != NULL) {
        const bool mapped = (step->record.flags & AQ_RECORD_ZSTD) == 0;
        rc = reader->to->record(reader->to->user, segment->view.segment, number, frame, mapped,
                                &reason);
    }
    aq_lease_unref(frame);
    if (rc == AQ_E_CORRUPT) {
        damage(reader, segment, step->offset, "record %" PRIu64 " is left out: %.160s", number,
               reason.text);
        return 0;
    }
    if (rc != 0) {
        return aq_fail(reader->error, rc, "%s: record %" PRIu64 ": %s", segment->view.path, number,
                       reason.text);
    }
    return 0;
}

static int take_record(store_reader *reader, segment_read *segment, const aq_scan_step *step)
{
    switch (step->record.kind) {
    case AQ_RECORD_HEAD:
        return take_head(reader, segment, step);
    case AQ_RECORD_FRAME:
        return take_frame(reader, segment, step);
    case AQ_RECORD_DROP:
        segment->notes++;
        if (aq_buffer_append(&reader->dropped, &step->record.number, sizeof(uint64_t)) != 0) {
            return aq_fail(reader->error, AQ_E_NOMEM, "%s: no memory for what was dropped",
                           segment->view.path);
        }
        return 0;
    default:
        damage(reader, segment, step->offset, "a record of unknown kind %d is left out",
               step->record.kind);
        return 0;
    }
}

static void tell_torn(store_reader *reader, segment_read *segment, const aq_scan_step *step)
{
    const bool cut = segment->newest && segment->view.read_errno == 0;
    damage(reader, segment, step->offset, "%zu bytes at the end of the file are no whole record",
           step->size);
    if (cut) {
        reader->found.torn_segment = segment->view.segment;
        reader->found.torn_at = step->offset;
    }
}

static int take_records(store_reader *reader, segment_read *segment)
{
    const aq_segment_view *view = &segment->view;
    const uint32_t salt = aq_record_salt(reader->folder->identity.store, view->segment);
    size_t offset = AQ_FILE_HEADER_BYTES; /* whatever is shorter is empty */
    int rc = 0;
    while (rc == 0) {
        const aq_scan_step step = aq_segment_scan(view->bytes, view->size, salt, offset);
        offset = step.offset + step.size;
        switch (step.kind) {
        case AQ_SCAN_RECORD:
            rc = take_record(reader, segment, &step);
            break;
        case AQ_SCAN_PAYLOAD:
            damage(reader, segment, step.offset,
                   "record %" PRIu64 " of %" PRIu32 " bytes is damaged and left out",
                   step.record.number, step.record.size);
            if (step.record.kind == AQ_RECORD_FRAME &&
                step.record.number > reader->found.last_number) {
                reader->found.last_number = step.record.number;
            }
            break;
        case AQ_SCAN_LOST:
            damage(reader, segment, step.offset, "%zu bytes are damaged and left out", step.size);
            break;
        case AQ_SCAN_TORN:
            tell_torn(reader, segment, &step);
            break;
        case AQ_SCAN_END:
            return 0;
        }
    }
    return rc;
}

/* ---- one segment ---------------------------------------------------------------------------- */

static int enter_in_map(store_reader *reader, const aq_segment_view *view)
{
    int rc = aq_segment_map_add(reader->map, view->segment, view->size);
    if (rc != 0) {
        return aq_fail(reader->error, rc, "%s: too many segments: %s", reader->folder->path,
                       aq_error_text(rc));
    }
    aq_segment_map_size(reader->map, view->segment, view->size);
    if (view->mapping != NULL) {
        aq_segment_map_adopt(reader->map, view->segment, view->mapping);
    }
    return 0;
}

/* Nothing of it was ever whole, as a crash came before its head was written; or it was emptied when
 * it was dropped. */
static int nothing_there(store_reader *reader, segment_read *segment)
{
    if (segment->newest && segment->view.read_errno == 0) {
        reader->found.torn_segment = segment->view.segment;
        reader->found.torn_at = 0;
    } else if (segment->view.size == 0 && segment->view.read_errno == 0) {
        int rc = enter_in_map(reader, &segment->view);
        if (rc != 0) {
            return rc;
        }
        aq_segment_map_drop(reader->map, segment->view.segment);
    }
    return 0;
}

/* What is wrong with the file as a whole. */
static void tell_state(store_reader *reader, segment_read *segment)
{
    const aq_segment_view *view = &segment->view;
    if (view->read_errno != 0) {
        char reason[128] = "";
        (void)strerror_r(view->read_errno, reason, sizeof(reason));
        damage(reader, segment, view->size, "can't be read from here on: %s", reason);
    }
    if (view->state == AQ_SEGMENT_BAD_HEADER) {
        damage(reader, segment, 0, "the header of the file is damaged");
    }
    if (view->state == AQ_SEGMENT_EMPTY && view->size > 0) {
        damage(reader, segment, 0, "%zu bytes that are no whole record", view->size);
    }
}

static int read_segment(store_reader *reader, segment_read *segment, uint64_t number)
{
    int rc = aq_segment_view_open(reader->folder, number, &segment->view, reader->error);
    if (rc != 0) {
        return rc;
    }
    tell_state(reader, segment);
    if (segment->view.state == AQ_SEGMENT_EMPTY) {
        rc = nothing_there(reader, segment);
    } else {
        rc = enter_in_map(reader, &segment->view);
        if (rc == 0) {
            rc = take_records(reader, segment);
        }
    }
    if (segment->view.read_errno != 0) {
        reader->found.unreadable = number;
    }
    reader->whole_segment =
        segment->damaged || segment->view.state == AQ_SEGMENT_EMPTY ? 0 : number;
    aq_segment_view_close(&segment->view);
    return rc;
}

static int read_segments(store_reader *reader, const uint64_t *numbers, size_t count)
{
    uint64_t idle = 0; /* the newest segment with a head and nothing else */
    for (size_t i = 0; i < count; i++) {
        segment_read segment = {.newest = i + 1 == count};
        reader->found.last_segment = numbers[i];
        int rc = read_segment(reader, &segment, numbers[i]);
        if (rc != 0) {
            return rc;
        }
        if (reader->found.headed != numbers[i]) {
            continue;
        }
        if (idle != 0) {
            aq_segment_map_drop(reader->map, idle); /* a newer head has come */
        }
        idle = segment.frames == 0 && segment.notes == 0 && !segment.damaged ? numbers[i] : 0;
    }
    return 0;
}

/* ---- what is not there ----------------------------------------------------------------------- */

static bool is_in(const uint64_t *numbers, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == number) {
            return true;
        }
    }
    return false;
}

static void tell_missing(store_reader *reader, const uint64_t *numbers, size_t count)
{
    const uint64_t *dropped = (const uint64_t *)(const void *)reader->dropped.data;
    const size_t dropped_count = reader->dropped.size / sizeof(uint64_t);
    size_t next = 0;
    for (uint64_t i = 0; i < reader->head.live_count; i++) { /* both ascend */
        const uint64_t live = reader->head.live[i];
        while (next < count && numbers[next] < live) {
            next++;
        }
        if ((next == count || numbers[next] != live) && !is_in(dropped, dropped_count, live)) {
            segment_read segment = {0};
            aq_segment_path(reader->folder->path, live, segment.view.path);
            damage(reader, &segment, 0, "the file is missing, and its records with it");
        }
    }
}

/* What the snapshot tells of records must never be taken for what it tells of others: numbers go on
 * after those that it knows, be they there or not. */
static void compare_snapshot(store_reader *reader, uint64_t number)
{
    char path[PATH_MAX];
    char what[PATH_MAX + 128];
    if (number <= reader->found.last_number) {
        return;
    }
    snprintf(what, sizeof(what),
             "%s: records %" PRIu64 " to %" PRIu64 ", which it names, are missing",
             aq_snapshot_path(reader->folder->path, path), reader->found.last_number + 1, number);
    tell_damage(reader, what);
    reader->found.last_number = number;
}

static int read_snapshot(store_reader *reader)
{
    aq_buffer file = {0};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t number = 0;
    aq_error reason = {0};
    int rc = aq_segment_snapshot_read(reader->folder, &file, &bytes, &size, &number, &reason);
    if (rc == AQ_E_CORRUPT || rc == AQ_E_IO) {
        tell_damage(reader, reason.text);
    } else if (rc != 0) {
        return aq_fail(reader->error, rc, "%s", reason.text);
    }
    compare_snapshot(reader, number);
    rc = reader->to->snapshot != NULL
             ? reader->to->snapshot(reader->to->user, bytes, size, reader->error)
             : 0;
    aq_buffer_fini(&file);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------ */

int aq_segment_recover(const aq_segment_folder *folder, aq_segment_map *map,
                       const aq_replay_log_recovery *to, aq_segment_recovered *ret_recovered,
                       aq_error *error)
{
    store_reader reader = {.folder = folder, .map = map, .to = to, .error = error};
    uint64_t *numbers = NULL;
    size_t count = 0;
    int rc = aq_segment_folder_list(folder, &numbers, &count, error);
    if (rc != 0) {
        return rc;
    }
    aq_buffer_init(&reader.dropped, AQ_SEGMENTS_MAX * sizeof(uint64_t));
    rc = read_segments(&reader, numbers, count);
    if (rc == 0) {
        tell_missing(&reader, numbers, count);
        rc = read_snapshot(&reader);
    }
    if (rc == 0) {
        *ret_recovered = reader.found;
    }
    (void)ZSTD_freeDCtx(reader.zstd);
    aq_free(reader.head_block);
    aq_buffer_fini(&reader.dropped);
    aq_free(numbers);
    return rc;
}

/* The life before was perhaps killed before its last sync, which nobody would make up for. What was
 * read is acknowledged from here on. */
static int sync_newest(const aq_segment_folder *folder, uint64_t segment, aq_error *error)
{
    char path[PATH_MAX];
    const int file = open(aq_segment_path(folder->path, segment, path), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return aq_segment_fail(error, path, "open", errno);
    }
    int rc = fdatasync(file) != 0 ? aq_segment_fail(error, path, "sync", errno) : 0;
    close(file);
    return rc;
}

int aq_segment_mend(const aq_segment_folder *folder, const aq_segment_recovered *recovered,
                    aq_error *error)
{
    char path[PATH_MAX];
    int rc = recovered->last_segment != 0 ? sync_newest(folder, recovered->last_segment, error) : 0;
    if (rc != 0) {
        return rc;
    }
    (void)unlink(aq_snapshot_temporary_path(folder->path, path));
    aq_dir_tidy(folder->path, 0);
    if (recovered->torn_segment == 0) {
        return 0;
    }
    aq_segment_path(folder->path, recovered->torn_segment, path);
    if (recovered->torn_at == 0) {
        return unlink(path) == 0 ? 0 : aq_segment_fail(error, path, "delete", errno);
    }
    return truncate(path, (off_t)recovered->torn_at) == 0
               ? 0
               : aq_segment_fail(error, path, "cut off its torn end", errno);
}

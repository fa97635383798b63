/*
 * The blocks are packed (data_packer.h) and handed to a segment log, whose thread writes them; when
 * too much waits, this one waits for it.
 *
 * Nobody else knows the folder meanwhile, so it is emptied by name when something fails.
 */
#include "replay/data/data_import.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/queue.h"
#include "common/base/rng.h"
#include "common/config/run_config.h"
#include "common/sys/file.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_run.h"
#include "replay/data/data_packer.h"
#include "replay/disk/segment_log.h"

enum { BACKLOG_BYTES = 64 << 20 };

typedef struct importing {
    aq_data_set_reader *reader;
    const aq_data_import *import;
    char folder[PATH_MAX];
    aq_layout layout; /* of the chunks that are made */
    aq_replay_log *log;
    uint64_t segment, number; /* the last ones */
    uint64_t transitions;
    aq_data_lanes *senders;
    aq_queue *news; /* of the log: one at most, as it is looked at anew after each */
} importing;

/* ---- the log --------------------------------------------------------------------------------- */

/* A queue that is full says all there is to say. */
static void on_wake(void *user)
{
    importing *work = user;
    int rc = aq_queue_push(work->news, work);
    AQ_ASSERT(rc == 0 || rc == AQ_E_FULL);
}

static void wait_for_news(importing *work)
{
    void *ignored;
    int rc = aq_queue_pop(work->news, -1, &ignored);
    AQ_ASSERT(rc == 0);
}

/* A disk that is full ends an import: nobody waits for room. */
static int check_log(importing *work, aq_log_progress *ret_progress, aq_error *error)
{
    work->log->class->poll(work->log, ret_progress);
    return ret_progress->stuck ? aq_fail(error, AQ_E_IO, "%s", ret_progress->reason) : 0;
}

static int begin_segment(importing *work, aq_error *error)
{
    const size_t count = aq_data_lanes_count(work->senders);
    aq_log_mark *marks = aq_alloc(count, sizeof(*marks));
    aq_log_head head = {.inserted = work->transitions, .marks = marks};
    if (marks == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        const aq_data_lane *lane = aq_data_lanes_at(work->senders, i);
        const aq_data_sender *sent = lane->memory;
        if (sent->seq > 0) { /* else the first message is the one that wants the segment */
            marks[head.mark_count++] = (aq_log_mark){
                .actor = lane->actor,
                .incarnation = lane->incarnation,
                .acknowledged = sent->seq,
                .transitions = sent->transitions,
            };
        }
    }
    int rc = work->log->class->begin(work->log, &head, &work->segment);
    aq_free(marks);
    return rc != 0 ? aq_fail(error, rc, "a segment: %s", aq_error_text(rc)) : 0;
}

static int try_append(importing *work, const aq_data_message *message, aq_error *error)
{
    int rc = work->log->class->wants_head(work->log) ? begin_segment(work, error) : 0;
    if (rc != 0) {
        return rc;
    }
    rc = work->log->class->append(work->log, work->number + 1, message->frame, &work->segment);
    return rc != 0 ? aq_fail(error, rc, "a record: %s", aq_error_text(rc)) : 0;
}

static int append(importing *work, const aq_data_message *message, aq_error *error)
{
    int rc = try_append(work, message, error);
    while (rc == AQ_E_FULL) {
        aq_log_progress progress;
        rc = check_log(work, &progress, error);
        if (rc != 0) {
            return rc;
        }
        wait_for_news(work);
        rc = try_append(work, message, error);
    }
    work->number += rc == 0;
    return rc;
}

static int on_message(void *user, const aq_data_message *message, aq_error *error)
{
    importing *work = user;
    int rc = append(work, message, error);
    work->transitions += rc == 0 ? message->transitions : 0;
    return rc;
}

static int settle(importing *work, aq_error *error)
{
    for (;;) {
        aq_log_progress progress;
        int rc = check_log(work, &progress, error);
        if (progress.durable >= work->number) {
            return 0; /* whatever would come next */
        }
        if (rc != 0) {
            return rc;
        }
        wait_for_news(work);
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* Without slashes at its end: what is made beside it must not lie in it. */
static int name_length(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return length < PATH_MAX ? (int)length : PATH_MAX;
}

static int open_log(importing *work, aq_error *error)
{
    aq_data_set_info info = *aq_data_set_reader_info(work->reader);
    info.recorded_count = work->import->standard_columns ? 0 : info.recorded_count;
    int rc = aq_data_set_run_layout(&info, work->import->n_step, work->import->chunk_length,
                                    &work->layout, error);
    if (rc != 0) {
        return rc;
    }
    uint8_t schema[AQ_WIRE_SCHEMA_BYTES_MAX];
    const aq_segment_log_config config = {
        .folder = work->folder,
        .run_id = work->import->run_id,
        .schema_hash = work->layout.hash,
        .task = info.task,
        .schema = schema,
        .schema_bytes = aq_wire_schema_pack(&info.schema, schema),
        .store = aq_rng_system_seed() | 1,
        .segment_bytes = work->import->segment_bytes,
        .backlog_bytes = BACKLOG_BYTES,
        .fsync_ms = 0, /* what settles is on the disk: the folder gets its name after that */
        .compressed = work->import->compressed,
        .wake = on_wake,
        .user = work,
    };
    const aq_replay_log_recovery nothing = {0}; /* is in a new folder */
    aq_segment_log_found found;
    return aq_segment_log_open(&config, &nothing, &found, &work->log, error);
}

/* ---- the work -------------------------------------------------------------------------------- */

/* A chunk goes in one message, so messages are as large as the longest takes, as a run's are. */
static uint64_t message_bytes(const importing *work)
{
    const aq_chunk longest = {.view.length = work->layout.length_max}, *const chunk = &longest;
    const uint64_t bytes = aq_wire_experience_bytes_max(&work->layout, &chunk, 1);
    const uint64_t least = bytes < AQ_MESSAGE_BYTES_MAX ? bytes : AQ_MESSAGE_BYTES_MAX;
    return least > work->import->message_bytes ? least : work->import->message_bytes;
}

/* A run that learns from these alone would wait for the others for ever. */
static int check_least(const importing *work, uint64_t left_out, aq_error *error)
{
    if (work->transitions >= work->import->least) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "only %" PRIu64 " steps make items of %" PRIu32 " steps, and %" PRIu64
                   " are needed; %" PRIu64 " are left out, as too few follow them: a lower "
                   "learner.n_step, or a data set of a run of one shard, takes more",
                   work->transitions, work->layout.n_step, work->import->least, left_out);
}

static int copy(importing *work, aq_data_imported *ret_imported, aq_error *error)
{
    const aq_data_packing packing = {
        .layout = work->layout,
        .senders = work->senders,
        .run_id = work->import->run_id,
        .message_bytes = message_bytes(work),
        .send = on_message,
        .user = work,
    };
    uint64_t left_out;
    int rc = aq_data_pack(work->reader, &packing, &work->import->progress, &left_out, error);
    if (rc == 0) {
        rc = check_least(work, left_out, error);
    }
    if (rc == 0) {
        rc = settle(work, error);
    }
    if (rc == 0) {
        *ret_imported = (aq_data_imported){
            .transitions = work->transitions,
            .messages = work->number,
            .left_out = left_out,
        };
    }
    return rc;
}

static int fill_folder(importing *work, aq_data_imported *ret_imported, aq_error *error)
{
    int rc = aq_data_lanes_create(sizeof(aq_data_sender), &work->senders);
    rc = rc != 0 ? rc : aq_queue_create(1, &work->news);
    rc = rc != 0 ? aq_fail(error, rc, "out of memory") : open_log(work, error);
    if (rc == 0) {
        rc = copy(work, ret_imported, error);
        work->log->class->close(work->log, NULL);
    }
    aq_queue_destroy(work->news);
    aq_data_lanes_destroy(work->senders);
    return rc;
}

int aq_data_import_folder(aq_data_set_reader *reader, const aq_data_import *import,
                          aq_data_imported *ret_imported, aq_error *error)
{
    aq_data_imported imported;
    if (aq_path_exists(import->folder)) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s exists already; a data set is imported into a new folder",
                       import->folder);
    }
    importing *work = aq_alloc(1, sizeof(*work));
    if (work == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    work->reader = reader;
    work->import = import;
    int rc = aq_text_format(work->folder, sizeof(work->folder), "%.*s.importing-%016" PRIx64,
                            name_length(import->folder), import->folder, aq_rng_system_seed());
    if (rc != 0) {
        rc = aq_fail(error, rc, "the path of the folder is too long");
    } else {
        rc = fill_folder(work, &imported, error);
        if (rc == 0 && rename(work->folder, import->folder) != 0) {
            rc = aq_file_fail(error, import->folder, "make the folder");
        }
        if (rc != 0) {
            (void)aq_dir_remove(work->folder);
        } else { /* its new name lies where the other did */
            rc = aq_file_sync_folder(work->folder, error);
        }
    }
    aq_free(work);
    if (rc == 0) {
        *ret_imported = imported;
    }
    return rc;
}

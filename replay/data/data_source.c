/*
 * A message may be there twice, as in a folder whose missing file was put back after its senders
 * had sent it again: it is told as often, and its chunks once.
 */
#include "replay/data/data_source.h"

#include "common/experience/arrival.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_experience.h"
#include "replay/data/data_lanes.h"
#include "replay/disk/segment_map.h"
#include "replay/disk/segment_recovery.h"

typedef struct source_reading {
    const aq_segment_folder *folder;
    const aq_data_sink *sink;
    aq_layout layout;
    aq_data_lanes *senders; /* each remembers its last message */
    int sink_code;          /* a failure of the sink's, which is not of the record */
    aq_error sink_error;
} source_reading;

/* A sender's incarnation stays in its store: whoever may read a data set must not speak for it. */
static int give(const aq_arrival *arrival, bool known, const aq_data_sink *sink, aq_error *error)
{
    const uint64_t sender = aq_incarnation_name(arrival->incarnation);
    int rc = sink->message != NULL
                 ? sink->message(sink->user, arrival->actor, sender, arrival->seq, error)
                 : 0;
    for (uint32_t i = 0; rc == 0 && !known && i < arrival->chunk_count; i++) {
        const aq_data_set_block block = {
            .actor = arrival->actor,
            .incarnation = sender,
            .view = arrival->chunks[i],
        };
        rc = sink->block(sink->user, &block, error);
    }
    return rc;
}

int aq_data_source_frame(aq_lease *frame, uint64_t run_id, const aq_layout *layout,
                         const aq_data_sink *sink, aq_error *error)
{
    aq_arrival *arrival;
    int rc = aq_wire_experience_arrive(frame, false, run_id, layout, &arrival, error);
    if (rc == 0) {
        rc = give(arrival, false, sink, error);
        aq_arrival_unref(arrival);
    }
    return rc;
}

static int on_head(void *user, uint64_t segment, const aq_log_head *head, aq_error *error)
{
    source_reading *reading = user;
    const aq_data_sink *sink = reading->sink;
    int rc = 0;
    (void)segment;
    for (uint64_t i = 0; rc == 0 && sink->mark != NULL && i < head->mark_count; i++) {
        const aq_log_mark *mark = &head->marks[i];
        rc = sink->mark(sink->user, mark->actor, aq_incarnation_name(mark->incarnation),
                        mark->acknowledged, error);
    }
    return rc;
}

static int take(source_reading *reading, const aq_arrival *arrival, aq_error *error)
{
    aq_data_lane *sender;
    int rc = aq_data_lanes_find(reading->senders, arrival->actor, arrival->incarnation,
                                AQ_DATA_LANE_ALL, &sender);
    if (rc != 0) {
        return aq_fail(error, rc, "the senders of a store: %s", aq_error_text(rc));
    }
    uint64_t *last = sender->memory;
    const bool known = arrival->seq <= *last;
    *last = known ? *last : arrival->seq;
    return give(arrival, known, reading->sink, error);
}

/* What is not of the record ends the reading. */
static int end_reading(source_reading *reading, int rc, const aq_error *error)
{
    reading->sink_code = rc;
    reading->sink_error = *error;
    return AQ_E_IO;
}

static int on_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                     aq_error *error)
{
    source_reading *reading = user;
    aq_arrival *arrival;
    (void)segment;
    (void)number;
    (void)mapped;
    /* There is no saying how many follow. */
    int rc = aq_data_progress_tell(&reading->sink->progress, -1.0, error);
    if (rc != 0) {
        return end_reading(reading, rc, error);
    }
    rc = aq_wire_experience_arrive(frame, true, reading->folder->identity.run_id, &reading->layout,
                                   &arrival, error);
    if (rc != 0) {
        return rc == AQ_E_NOMEM || rc == AQ_E_VERSION ? rc : AQ_E_CORRUPT;
    }
    rc = take(reading, arrival, error);
    aq_arrival_unref(arrival);
    return rc != 0 ? end_reading(reading, rc, error) : 0;
}

static void on_damage(void *user, const char *what)
{
    const source_reading *reading = user;
    if (reading->sink->damage != NULL) {
        reading->sink->damage(reading->sink->user, what);
    }
}

int aq_data_source_read(const aq_segment_folder *folder, const aq_data_set_info *info,
                        const aq_data_sink *sink, aq_error *error)
{
    source_reading reading = {.folder = folder, .sink = sink};
    const aq_replay_log_recovery calls = {
        .user = &reading,
        .head = on_head,
        .record = on_record,
        .damage = on_damage,
    };
    aq_segment_recovered recovered = {0};
    aq_segment_map *map = NULL;
    int rc = aq_data_set_layout(info, &reading.layout, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_data_lanes_create(sizeof(uint64_t), &reading.senders);
    if (rc == 0) {
        rc = aq_segment_map_create(folder, &map);
    }
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: %s", folder->path, aq_error_text(rc));
    } else {
        rc = aq_segment_recover(folder, map, &calls, &recovered, error);
    }
    if (rc != 0 && reading.sink_code != 0) {
        rc = reading.sink_code;
        *error = reading.sink_error;
    }
    aq_segment_map_destroy(map);
    aq_data_lanes_destroy(reading.senders);
    return rc;
}

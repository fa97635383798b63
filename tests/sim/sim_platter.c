/*
 * Everything is kept as leases; what is durable follows from the clock.
 */
#include "tests/sim/sim_platter.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

enum { PLATTER_STREAM = 0x6469736b, SEGMENT_BYTES_MIN = 2000, SEGMENT_BYTES_MAX = 20000 };

static const char full_words[] = "the disk is full";

/* ---- what time brings ----------------------------------------------------------------------- */

static void settle_snapshot(sim_platter *platter)
{
    if (platter->waiting != NULL && platter->waiting_number <= platter->durable && !platter->full) {
        aq_lease_unref(platter->snapshot);
        platter->snapshot = platter->waiting;
        platter->waiting = NULL;
        platter->snapshots++;
    }
}

/* Whether all its records are durable. */
static bool is_written(const sim_platter *platter, uint64_t number)
{
    return platter->durable == platter->count ||
           platter->records[platter->durable].segment > number;
}

static void remove_records(sim_platter *platter, uint64_t number)
{
    sim_segment *segment = &platter->segments[number - 1];
    segment->dropped = true;
    platter->drops++;
    for (uint64_t i = segment->first_number - 1;
         i < platter->count && platter->records[i].segment == number; i++) {
        aq_lease_unref(platter->records[i].frame);
        platter->records[i].frame = NULL;
    }
}

static void settle_drops(sim_platter *platter)
{
    for (uint64_t number = platter->gone + 1;
         number <= platter->segment_count && platter->segments[number - 1].goes &&
         is_written(platter, number);
         number++) {
        remove_records(platter, number);
        platter->gone = number;
    }
}

/* Nothing, while nobody runs who would write or remove. */
static void settle(sim_platter *platter)
{
    const int64_t now_ns = sim_now_ns(platter->world);
    if (!platter->is_open) {
        return;
    }
    while (!platter->full && platter->durable < platter->count &&
           platter->records[platter->durable].due_ns <= now_ns) {
        platter->durable++;
    }
    settle_drops(platter);
    settle_snapshot(platter);
}

static uint64_t backlog_of(const sim_platter *platter)
{
    uint64_t bytes = 0;
    for (uint64_t i = platter->durable; i < platter->count; i++) {
        bytes += platter->records[i].frame->size;
    }
    return bytes;
}

/* ---- the log's class ------------------------------------------------------------------------ */

static bool wants_head(const aq_replay_log *log)
{
    const sim_platter *platter = (const sim_platter *)log;
    return !platter->begun ||
           platter->segments[platter->segment_count - 1].bytes >= platter->segment_bytes;
}

static bool has_room(sim_platter *platter)
{
    settle(platter);
    return backlog_of(platter) < SIM_BACKLOG_BYTES;
}

static int begin(aq_replay_log *log, const aq_log_head *head, uint64_t *ret_segment)
{
    sim_platter *platter = (sim_platter *)log;
    if (!has_room(platter)) {
        return AQ_E_FULL;
    }
    AQ_ASSERT(platter->segment_count < SIM_SEGMENTS_MAX);
    sim_segment *segment = &platter->segments[platter->segment_count++];
    *segment = (sim_segment){
        .inserted = head->inserted,
        .mark_count = head->mark_count,
        .marks = aq_alloc(head->mark_count + 1, sizeof(*segment->marks)),
        .first_number = platter->count + 1,
    };
    AQ_ASSERT(segment->marks != NULL);
    if (head->mark_count > 0) {
        memcpy(segment->marks, head->marks, head->mark_count * sizeof(*segment->marks));
    }
    platter->begun = true;
    *ret_segment = platter->segment_count;
    return 0;
}

static int append(aq_replay_log *log, uint64_t number, aq_lease *frame, uint64_t *ret_segment)
{
    sim_platter *platter = (sim_platter *)log;
    AQ_ASSERT(platter->is_open && platter->begun);
    AQ_ASSERT(number == platter->count + 1);
    AQ_ASSERT(platter->count < SIM_RECORDS_MAX);
    if (!has_room(platter)) {
        return AQ_E_FULL;
    }
    const int64_t due_ns =
        sim_now_ns(platter->world) + sim_draw_ns(&platter->rng, 0, platter->delay_ns_max);
    platter->records[platter->count++] = (sim_record){
        .frame = aq_lease_ref(frame),
        .segment = platter->segment_count,
        .due_ns = due_ns,
    };
    platter->segments[platter->segment_count - 1].bytes += frame->size;
    *ret_segment = platter->segment_count;
    return 0;
}

static void poll(aq_replay_log *log, aq_log_progress *ret_progress)
{
    sim_platter *platter = (sim_platter *)log;
    settle(platter);
    *ret_progress = (aq_log_progress){
        .durable = platter->plant == SIM_PLANT_EARLY ? platter->count : platter->durable,
        .segment = platter->segment_count,
        .backlog_bytes = backlog_of(platter),
        .stuck = platter->full && platter->durable < platter->count,
        .snapshots = platter->snapshots,
    };
    for (uint64_t i = 0; i < platter->segment_count; i++) {
        ret_progress->disk_bytes += platter->segments[i].dropped ? 0 : platter->segments[i].bytes;
    }
    ret_progress->kept_bytes = ret_progress->disk_bytes;
    if (ret_progress->stuck) {
        memcpy(ret_progress->reason, full_words, sizeof(full_words));
    }
}

/* What is not durable yet is written first: then the segment goes. */
static void drop(aq_replay_log *log, uint64_t number)
{
    sim_platter *platter = (sim_platter *)log;
    AQ_ASSERT(number >= 1 && number < platter->segment_count);
    AQ_ASSERT(!platter->segments[number - 1].dropped && !platter->segments[number - 1].goes);
    platter->segments[number - 1].goes = true;
    settle(platter);
}

static int snapshot(aq_replay_log *log, aq_lease *bytes)
{
    sim_platter *platter = (sim_platter *)log;
    if (platter->waiting != NULL) {
        return AQ_E_AGAIN;
    }
    platter->waiting = aq_lease_ref(bytes);
    platter->waiting_number = platter->count;
    return 0;
}

static int map(aq_replay_log *log, uint64_t number, uint64_t segment, aq_lease **ret_frame)
{
    sim_platter *platter = (sim_platter *)log;
    if (!platter->maps || platter->plant == SIM_PLANT_EARLY) {
        return AQ_E_UNSUPPORTED;
    }
    AQ_ASSERT(number >= 1 && number <= platter->durable);
    const sim_record *record = &platter->records[number - 1];
    AQ_ASSERT(record->segment == segment && record->frame != NULL);
    return aq_lease_copy(record->frame->bytes, record->frame->size, ret_frame);
}

/* An orderly end writes all there is, if it can. */
static void close_log(aq_replay_log *log, aq_error *error)
{
    sim_platter *platter = (sim_platter *)log;
    if (!platter->is_open) {
        return; /* it was killed */
    }
    if (platter->full) {
        sim_platter_kill(platter);
        (void)aq_fail(error, AQ_E_NO_SPACE, "the disk is full");
        return;
    }
    platter->durable = platter->count;
    settle_snapshot(platter);
    platter->is_open = false;
}

/* ---- lives ---------------------------------------------------------------------------------- */

void sim_platter_init(sim_platter *platter, sim_world *world, const sim_scenario *scenario,
                      uint64_t index)
{
    static const aq_replay_log_class class = {
        .append = append,
        .wants_head = wants_head,
        .begin = begin,
        .poll = poll,
        .drop = drop,
        .snapshot = snapshot,
        .map = map,
        .close = close_log,
    };
    *platter = (sim_platter){
        .log = {&class},
        .world = world,
        .plant = scenario->plant,
        .records = aq_alloc(SIM_RECORDS_MAX, sizeof(*platter->records)),
        .segments = aq_alloc(SIM_SEGMENTS_MAX, sizeof(*platter->segments)),
    };
    AQ_ASSERT(platter->records != NULL && platter->segments != NULL);
    aq_rng_init(&platter->rng, scenario->seed, PLATTER_STREAM + index);
    platter->segment_bytes = sim_draw_number(&platter->rng, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
    platter->delay_ns_max = sim_chance(&platter->rng, 0.5)
                                ? sim_draw_ns(&platter->rng, 0, 10 * AQ_NS_PER_MS)
                                : sim_draw_ns(&platter->rng, 0, 200 * AQ_NS_PER_MS);
    platter->maps = sim_chance(&platter->rng, 0.7);
}

void sim_platter_fini(sim_platter *platter)
{
    for (uint64_t i = 0; i < platter->count; i++) {
        aq_lease_unref(platter->records[i].frame);
    }
    for (uint64_t i = 0; i < platter->segment_count; i++) {
        aq_free(platter->segments[i].marks);
    }
    aq_lease_unref(platter->snapshot);
    aq_lease_unref(platter->waiting);
    aq_free(platter->records);
    aq_free(platter->segments);
}

/* Heads that no record follows are there if everything before them is, and chance has it; and where
 * the segment before was removed, which it is not until the next head is safe. */
static void lose_segments(sim_platter *platter)
{
    while (platter->segment_count > 0) {
        sim_segment *last = &platter->segments[platter->segment_count - 1];
        const bool is_needed = platter->segment_count > 1 && last[-1].dropped;
        if (last->dropped || is_needed || last->first_number <= platter->count ||
            (last->first_number == platter->count + 1 && sim_chance(&platter->rng, 0.5))) {
            return;
        }
        aq_free(last->marks);
        platter->segment_count--;
    }
}

void sim_platter_kill(sim_platter *platter)
{
    AQ_ASSERT(platter->is_open);
    settle(platter);
    const uint64_t pending = platter->count - platter->durable;
    const uint64_t kept = platter->full ? 0 : aq_rng_below(&platter->rng, pending + 1);
    platter->torn = kept < pending && sim_chance(&platter->rng, 0.5);
    platter->lost += pending - kept;
    for (uint64_t i = platter->durable + kept; i < platter->count; i++) {
        platter->segments[platter->records[i].segment - 1].bytes -= platter->records[i].frame->size;
        aq_lease_unref(platter->records[i].frame);
    }
    platter->count = platter->durable + kept;
    platter->durable = platter->count;
    if (sim_chance(&platter->rng, 0.5)) {
        settle_snapshot(platter);
    }
    aq_lease_unref(platter->waiting);
    platter->waiting = NULL;
    lose_segments(platter);
    platter->is_open = false;
}

void sim_platter_fill(sim_platter *platter, bool full)
{
    settle(platter);
    platter->full = full;
}

uint64_t sim_platter_oldest(const sim_platter *platter)
{
    uint64_t number = 1;
    while (number <= platter->count && platter->records[number - 1].frame == NULL) {
        number++;
    }
    return number;
}

static int recover_segment(const sim_platter *platter, uint64_t number,
                           const aq_replay_log_recovery *to, aq_error *error)
{
    const sim_segment *segment = &platter->segments[number - 1];
    const uint64_t mark_count = platter->plant == SIM_PLANT_MARKS ? 0 : segment->mark_count;
    const aq_log_head head = {segment->inserted, mark_count, segment->marks};
    int rc = to->head(to->user, number, &head, error);
    for (uint64_t i = segment->first_number;
         rc == 0 && i <= platter->count && platter->records[i - 1].segment == number; i++) {
        if (platter->plant != SIM_PLANT_MISSING || i % 16 != 0) {
            rc = to->record(to->user, number, i, platter->records[i - 1].frame, false, error);
        }
    }
    return rc;
}

bool sim_platter_open(sim_platter *platter, const aq_replay_log_recovery *to,
                      uint64_t *ret_last_number, aq_replay_log **ret_log, aq_error *error)
{
    int rc = 0;
    AQ_ASSERT(!platter->is_open);
    for (uint64_t i = 0; i < platter->segment_count; i++) {
        platter->segments[i].goes = false;
    }
    for (uint64_t number = 1; rc == 0 && number <= platter->segment_count; number++) {
        if (!platter->segments[number - 1].dropped) {
            rc = recover_segment(platter, number, to, error);
        }
    }
    if (rc == 0 && platter->torn) {
        to->damage(to->user, "a torn record at the end");
    }
    if (rc == 0) {
        const aq_lease *saved = platter->plant == SIM_PLANT_PRIORITIES ? NULL : platter->snapshot;
        rc = to->snapshot(to->user, saved != NULL ? saved->bytes : NULL,
                          saved != NULL ? saved->size : 0, error);
    }
    if (rc != 0) {
        return false;
    }
    platter->torn = false;
    platter->begun = false;
    platter->snapshots = 0;
    platter->is_open = true;
    *ret_last_number = platter->count;
    *ret_log = &platter->log;
    return true;
}

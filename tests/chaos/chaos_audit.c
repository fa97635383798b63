/*
 * Everything that was read is kept as a list of keys, and sorted in the end: what is there twice or
 * missing is then next to each other.
 */
#include "tests/chaos/chaos_audit.h"

#include "common/experience/arrival.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_experience.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_log.h"
#include "tests/chaos/chaos_cartpole.h"
#include "tests/support/must.h"
#include "tests/support/test.h"

typedef struct step_key {
    uint64_t incarnation, episode;
    uint32_t lane, index;
} step_key;

typedef struct message_key {
    uint64_t incarnation, store, seq;
} message_key;

void chaos_audit_init(chaos_audit *audit, const aq_run_plan *plan)
{
    *audit = (chaos_audit){.plan = plan};
}

void chaos_audit_fini(chaos_audit *audit)
{
    aq_free(audit->steps);
    aq_free(audit->messages);
}

chaos_actor *chaos_audit_heard(chaos_audit *audit, uint64_t incarnation, uint64_t acknowledged)
{
    chaos_actor *actor = NULL;
    for (size_t i = 0; i < audit->actor_count; i++) {
        if (audit->actors[i].incarnation == incarnation) {
            actor = &audit->actors[i];
        }
    }
    if (actor == NULL) {
        assert_true(audit->actor_count < CHAOS_ACTORS_MAX);
        actor = &audit->actors[audit->actor_count++];
        *actor = (chaos_actor){.incarnation = incarnation};
    }
    if (acknowledged > actor->acknowledged) {
        actor->acknowledged = acknowledged;
    }
    return actor;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int32_t action_at(const aq_chunk_view *view, const aq_layout *layout, uint32_t row)
{
    int32_t action = 0;
    const size_t bytes = layout->columns[AQ_COLUMN_ACTION].bytes;
    assert_true(bytes <= sizeof(action));
    memcpy(&action, aq_chunk_view_column(view, AQ_COLUMN_ACTION) + row * bytes, bytes);
    return action;
}

static bool is_genuine(const aq_chunk_view *view, const aq_layout *layout, uint32_t row)
{
    const size_t bytes = layout->columns[AQ_COLUMN_OBS].bytes;
    const uint8_t *obs = aq_chunk_view_column(view, AQ_COLUMN_OBS) + row * bytes;
    const uint8_t *next = obs + bytes;
    const bool ends = row + 1 == view->length && view->terminated;
    return chaos_cartpole_follows(obs, action_at(view, layout, row), next) &&
           aq_chunk_view_reward(view, row) == 1.0f &&
           (ends ? chaos_cartpole_is_out(next, -1e-5) : !chaos_cartpole_is_out(next, 1e-5));
}

static void take_chunk(chaos_audit *audit, uint64_t incarnation, const aq_chunk_view *view)
{
    for (uint32_t row = 0; row < view->length; row++) {
        audit->corrupt += !is_genuine(view, &audit->plan->layout, row);
        if (row < view->overlap) {
            continue; /* the chunk before has it */
        }
        must_grow(&audit->steps, &audit->step_capacity, audit->step_count, sizeof(step_key));
        ((step_key *)audit->steps)[audit->step_count++] =
            (step_key){incarnation, view->episode, view->lane, view->first + row};
        audit->transitions++;
    }
}

static int on_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                     aq_error *error)
{
    chaos_audit *audit = user;
    const aq_run_plan *plan = audit->plan;
    aq_arrival *arrival;
    (void)segment;
    (void)number;
    (void)mapped;
    int rc = aq_wire_experience_arrive(frame, true, audit->run_id, &plan->layout, &arrival, error);
    if (rc != 0) {
        return AQ_E_CORRUPT;
    }
    const uint64_t sender = aq_incarnation_name(arrival->incarnation); /* as status calls it */
    must_grow(&audit->messages, &audit->message_capacity, audit->message_count,
              sizeof(message_key));
    ((message_key *)audit->messages)[audit->message_count++] =
        (message_key){sender, arrival->store, arrival->seq};
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        take_chunk(audit, sender, &arrival->chunks[i]);
    }
    audit->records++;
    aq_arrival_unref(arrival);
    return 0;
}

static void on_damage(void *user, const char *what)
{
    chaos_audit *audit = user;
    print_error("%s\n", what);
    audit->damaged++;
}

void chaos_audit_read(chaos_audit *audit, const char *folder)
{
    const aq_replay_log_recovery recovery = {
        .user = audit,
        .record = on_record,
        .damage = on_damage,
    };
    aq_segment_folder held;
    assert_succeeds(aq_segment_folder_open_any(folder, &held, &refusal));
    audit->run_id = held.identity.run_id;
    const aq_segment_log_config config = {
        .folder = folder,
        .run_id = held.identity.run_id,
        .schema_hash = audit->plan->settings.schema_hash,
        .task = audit->plan->settings.task,
        .store = held.identity.store,
        .segment_bytes = audit->plan->settings.config.replay.segment_bytes,
        .backlog_bytes = 1 << 20,
        .fsync_ms = 1000,
    };
    aq_segment_folder_close(&held);
    aq_segment_log_found found;
    aq_replay_log *log;
    if (aq_segment_log_open(&config, &recovery, &found, &log, &refusal) != 0) {
        fail_msg("%s", refusal.text);
    }
    log->class->close(log, NULL);
}

/* ---- the sums ------------------------------------------------------------------------------- */

#define COMPARE(a, b, member)                                                                      \
    if ((a)->member != (b)->member) {                                                              \
        return (a)->member < (b)->member ? -1 : 1;                                                 \
    }

static int compare_steps(const void *left, const void *right)
{
    const step_key *a = left, *b = right;
    COMPARE(a, b, incarnation)
    COMPARE(a, b, lane)
    COMPARE(a, b, episode)
    COMPARE(a, b, index)
    return 0;
}

static int compare_messages(const void *left, const void *right)
{
    const message_key *a = left, *b = right;
    COMPARE(a, b, incarnation)
    COMPARE(a, b, store)
    COMPARE(a, b, seq)
    return 0;
}

static void count_messages(chaos_audit *audit)
{
    const message_key *keys = audit->messages;
    for (size_t i = 0; i < audit->message_count; i++) {
        const bool goes_on = i > 0 && keys[i].incarnation == keys[i - 1].incarnation &&
                             keys[i].store == keys[i - 1].store;
        const uint64_t before = goes_on ? keys[i - 1].seq : 0;
        audit->duplicated += goes_on && keys[i].seq == before;
        audit->holes += keys[i].seq > before + 1 ? keys[i].seq - before - 1 : 0;
    }
}

static bool is_drained(const chaos_audit *audit, uint64_t incarnation)
{
    for (size_t i = 0; i < audit->actor_count; i++) {
        if (audit->actors[i].incarnation == incarnation) {
            return audit->actors[i].drained;
        }
    }
    return false;
}

static void count_steps(chaos_audit *audit)
{
    const step_key *keys = audit->steps;
    chaos_actor *actor = NULL;
    for (size_t i = 0; i < audit->step_count; i++) {
        const bool same_actor = i > 0 && keys[i].incarnation == keys[i - 1].incarnation;
        const bool goes_on = same_actor && keys[i].lane == keys[i - 1].lane &&
                             keys[i].episode == keys[i - 1].episode;
        const uint32_t expected = goes_on ? keys[i - 1].index + 1 : 0;
        audit->duplicated += goes_on && keys[i].index == keys[i - 1].index;
        if (!same_actor) {
            actor = chaos_audit_heard(audit, keys[i].incarnation, 0);
        }
        actor->found++;
        if (keys[i].index > expected && is_drained(audit, keys[i].incarnation)) {
            audit->holes += keys[i].index - expected;
        }
    }
}

void chaos_audit_close(chaos_audit *audit)
{
    if (audit->step_count > 0) {
        qsort(audit->steps, audit->step_count, sizeof(step_key), compare_steps);
        qsort(audit->messages, audit->message_count, sizeof(message_key), compare_messages);
    }
    count_messages(audit);
    count_steps(audit);
    for (size_t i = 0; i < audit->actor_count; i++) {
        const chaos_actor *actor = &audit->actors[i];
        audit->acknowledged += actor->acknowledged;
        audit->lost += actor->acknowledged > actor->found ? actor->acknowledged - actor->found : 0;
    }
}

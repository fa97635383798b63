/*
 * Records become durable in their order, so a ring by number is all that has to be remembered.
 */
#include "replay/shard/replay_journal.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

void aq_replay_journal_init(aq_replay_journal *journal)
{
    *journal = (aq_replay_journal){.next_number = 1};
}

void aq_replay_journal_close(aq_replay_journal *journal, aq_error *error)
{
    if (journal->log != NULL) {
        journal->log->class->close(journal->log, error);
    }
    aq_item_column_fini(&journal->pending);
    aq_free(journal->marks);
    aq_replay_journal_init(journal);
}

int aq_replay_journal_attach(aq_replay_journal *journal, aq_replay_log *log, uint64_t last_number,
                             uint64_t backlog_bytes_max)
{
    AQ_ASSERT(journal->log == NULL);
    AQ_ASSERT(backlog_bytes_max > 0);
    aq_log_mark *marks = aq_alloc(AQ_ROSTER_ACTORS_MAX, sizeof(*marks));
    if (marks == NULL) {
        return AQ_E_NOMEM;
    }
    *journal = (aq_replay_journal){
        .log = log,
        .next_number = last_number + 1,
        .backlog_bytes_max = backlog_bytes_max,
        .acknowledged_number = last_number,
        .marks = marks,
    };
    aq_item_column_init(&journal->pending, sizeof(aq_pending_record));
    log->class->poll(log, &journal->progress);
    return 0;
}

aq_log_head aq_replay_journal_head(const aq_replay_roster *roster, uint64_t inserted,
                                   aq_log_mark *marks)
{
    size_t count = aq_replay_roster_count(roster);
    for (size_t i = 0; i < count; i++) {
        const aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        marks[i] = (aq_log_mark){
            .actor = actor->actor,
            .incarnation = actor->incarnation,
            .acknowledged = actor->sequence.taken,
            .transitions = actor->transitions,
        };
    }
    return (aq_log_head){.inserted = inserted, .mark_count = count, .marks = marks};
}

/* Room for one more record. */
static int reserve(aq_replay_journal *journal)
{
    const uint64_t first = journal->acknowledged_number + 1, end = journal->next_number;
    return end - first == AQ_JOURNAL_PENDING_MAX
               ? AQ_E_FULL
               : aq_item_column_reserve(&journal->pending, first, end, end + 1);
}

int aq_replay_journal_begin(aq_replay_journal *journal, const aq_replay_roster *roster,
                            uint64_t inserted, uint64_t *ret_segment)
{
    aq_replay_log *log = journal->log;
    uint64_t segment = 0;
    int rc = 0;
    if (log->class->wants_head(log)) {
        if (journal->progress.stuck) { /* each failed sync would have a segment of its own */
            return AQ_E_FULL;
        }
        aq_log_head head = aq_replay_journal_head(roster, inserted, journal->marks);
        rc = log->class->begin(log, &head, &segment);
    }
    if (rc == 0) {
        *ret_segment = segment;
    }
    return rc;
}

int aq_replay_journal_append(aq_replay_journal *journal, const aq_arrival *arrival,
                             uint64_t *ret_number, uint64_t *ret_segment)
{
    aq_replay_log *log = journal->log;
    uint64_t segment;
    int rc = reserve(journal);
    if (rc == 0) {
        rc = log->class->append(log, journal->next_number, arrival->frame, &segment);
    }
    if (rc != 0) {
        return rc;
    }
    *(aq_pending_record *)aq_item_column_at(&journal->pending, journal->next_number) =
        (aq_pending_record){arrival->actor, arrival->incarnation, arrival->seq};
    journal->handed_bytes += arrival->frame->size;
    *ret_number = journal->next_number++;
    *ret_segment = segment;
    return 0;
}

bool aq_replay_journal_poll(aq_replay_journal *journal, aq_replay_roster *roster)
{
    uint64_t first = journal->acknowledged_number + 1;
    journal->log->class->poll(journal->log, &journal->progress);
    journal->handed_bytes = 0;
    AQ_ASSERT(journal->progress.durable < journal->next_number);
    for (uint64_t number = first; number <= journal->progress.durable; number++) {
        const aq_pending_record *record = aq_item_column_at(&journal->pending, number);
        aq_replay_actor *actor = aq_replay_roster_find(roster, record->actor, record->incarnation);
        if (actor != NULL && record->seq <= actor->sequence.taken) {
            aq_seq_tracker_acknowledge(&actor->sequence, record->seq);
        }
        journal->acknowledged_number = number;
    }
    return journal->acknowledged_number >= first;
}

uint64_t aq_replay_journal_room(const aq_replay_journal *journal)
{
    uint64_t waiting = journal->progress.backlog_bytes + journal->handed_bytes;
    if (journal->progress.stuck || waiting >= journal->backlog_bytes_max) {
        return 0;
    }
    return journal->backlog_bytes_max - waiting;
}

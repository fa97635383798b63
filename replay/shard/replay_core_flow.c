/*
 * Flow: who may send how much, who waits for whom.
 *
 * What the log lets wait is room as well: steps that are granted may come at any moment, and are to
 * find it. So outstanding grants are bounded by the backlog's rest, in steps of the mean size that
 * came so far.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "replay/shard/replay_core_priv.h"

/* Actors fall silent without anything happening, so credit is shared anew this often at least. */
#define SHARE_INTERVAL_MAX_NS (50 * AQ_NS_PER_MS)

int aq_replay_core_called(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                          aq_error *error)
{
    AQ_ASSERT(aq_replay_core_is_meant(core, call->store));
    if (call->known_acknowledged > AQ_CREDIT_COUNT_MAX ||
        call->known_granted > AQ_CREDIT_COUNT_MAX ||
        call->acknowledged_steps > AQ_CREDIT_COUNT_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor %" PRIu64 " knows of %" PRIu64 " messages, %" PRIu64
                       " steps and a grant of %" PRIu64 "; all are below 2^62 in any run",
                       call->actor, call->known_acknowledged, call->acknowledged_steps,
                       call->known_granted);
    }
    if (call->acknowledged_steps >
        call->known_granted + aq_replay_credit_overdraft(&core->credit)) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor %" PRIu64 " had %" PRIu64 " steps acknowledged of %" PRIu64
                       " that it was granted",
                       call->actor, call->acknowledged_steps, call->known_granted);
    }
    aq_replay_actor *actor;
    int rc = aq_replay_core_meet(core, now_ns, call->actor, call->incarnation,
                                 call->known_acknowledged, &actor, error);
    if (rc == 0) {
        aq_replay_credit_called(actor, now_ns, call->known_granted);
        aq_replay_credit_acknowledged(actor, call->acknowledged_steps);
        core->changed = true;
    }
    return rc;
}

/* At least one step, so that an empty backlog always has room for some. */
static uint64_t steps_in(const aq_replay_core *core, uint64_t bytes)
{
    uint64_t steps = bytes / aq_replay_core_step_bytes(core);
    return steps > 0 ? steps : 1;
}

static aq_credit_supply supply_of(const aq_replay_core *core)
{
    const aq_replay_journal *journal = &core->journal;
    aq_credit_supply supply = aq_replay_tables_supply(&core->tables);
    if (journal->log == NULL) {
        return supply;
    }
    uint64_t room = aq_replay_journal_room(journal);
    uint64_t capacity = steps_in(core, journal->backlog_bytes_max);
    uint64_t steps = room > 0 ? steps_in(core, room) : 0;
    supply.width = capacity < supply.width ? capacity : supply.width;
    supply.headroom = steps < supply.headroom ? steps : supply.headroom;
    return supply;
}

void aq_replay_core_share(aq_replay_core *core, int64_t now_ns)
{
    if (core->changed || now_ns >= core->share_next_ns) {
        aq_credit_supply supply = supply_of(core);
        aq_replay_credit_share(&core->credit, &supply, core->roster, now_ns);
        core->share_next_ns = now_ns + SHARE_INTERVAL_MAX_NS;
        core->changed = false;
    }
}

bool aq_replay_core_answer(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                           bool now_or_never, aq_credit *ret_credit)
{
    aq_replay_actor *actor = aq_replay_roster_find(core->roster, call->actor, call->incarnation);
    if (actor == NULL) { /* forgotten while the call was held: this process stood still that long */
        *ret_credit = (aq_credit){
            .acknowledged = call->known_acknowledged,
            .granted = call->known_granted,
            .expected = call->known_acknowledged + 1,
        };
        return true;
    }
    if (!now_or_never && !aq_replay_credit_due(&core->credit, actor, now_ns,
                                               call->known_acknowledged, call->known_granted)) {
        return false;
    }
    aq_replay_credit_answered(actor, now_ns);
    *ret_credit = (aq_credit){
        .acknowledged = actor->sequence.acknowledged,
        .granted = actor->granted,
        .expected = aq_seq_tracker_expected(&actor->sequence),
        .gaps = actor->sequence.gaps,
        .version_min = core->version_min,
    };
    return true;
}

bool aq_replay_core_is_announced(const aq_replay_core *core, uint64_t actor, uint64_t incarnation)
{
    const aq_replay_actor *known = aq_replay_roster_find(core->roster, actor, incarnation);
    return known != NULL && known->polled;
}

size_t aq_replay_core_actors(const aq_replay_core *core)
{
    return aq_replay_roster_count(core->roster);
}

const aq_replay_actor *aq_replay_core_actor(const aq_replay_core *core, size_t index)
{
    return aq_replay_roster_at(core->roster, index);
}

/* ---- who waits ----------------------------------------------------------------------------- */

/* Whoever was refused asks again in some milliseconds, or when it was at the other shards. */
#define AWAITED_NS (100 * AQ_NS_PER_MS)

/* Whether a request had to wait since the last tick. */
static bool requests_waited(aq_replay_core *core, int64_t now_ns)
{
    bool waited = false;
    for (size_t i = 0; i < core->tables.count; i++) {
        aq_replay_shelf *shelf = &core->tables.shelves[i];
        if (shelf->refused) {
            shelf->awaited_until_ns = now_ns + AWAITED_NS;
            waited = true;
        }
        shelf->refused = false;
        shelf->awaited = now_ns < shelf->awaited_until_ns;
    }
    return waited;
}

/* Once a tick: since when the same side has waited, and for what time accounts. */
void aq_replay_core_watch(aq_replay_core *core, int64_t now_ns)
{
    aq_core_wait wait = {.since_ns = core->wait.since_ns};
    bool learner_waited = requests_waited(core, now_ns);
    wait.side = aq_replay_tables_waiting(&core->tables, core->credit.least_steps, &wait.table);
    if (core->journal.log != NULL && aq_replay_journal_room(&core->journal) == 0) {
        wait.side = AQ_REPLAY_WAIT_ACTORS;
        wait.by_log = true;
    }
    if (wait.side != core->wait.side || wait.table != core->wait.table ||
        wait.by_log != core->wait.by_log) {
        wait.since_ns = now_ns;
    }
    core->wait = wait;
    aq_shard_accounting_tick(&core->accounting, now_ns, wait.side == AQ_REPLAY_WAIT_ACTORS,
                             learner_waited);
}

const char *aq_replay_core_waiting(aq_replay_core *core)
{
    const aq_log_progress *progress = &core->journal.progress;
    size_t table;
    if (core->journal.log != NULL && progress->stuck) {
        (void)snprintf(core->waiting, sizeof(core->waiting),
                       "actors wait: nothing can be written: %s", progress->reason);
        return core->waiting;
    }
    if (core->journal.log != NULL && aq_replay_journal_room(&core->journal) == 0) {
        (void)snprintf(core->waiting, sizeof(core->waiting),
                       "actors wait: %" PRIu64 " bytes wait for the disk", progress->backlog_bytes);
        return core->waiting;
    }
    enum aq_replay_wait side =
        aq_replay_tables_waiting(&core->tables, core->credit.least_steps, &table);
    const char *nobody =
        side == AQ_REPLAY_WAIT_LEARNER && core->credit.live == 0 ? ", but no actor is there" : "";
    (void)snprintf(core->waiting, sizeof(core->waiting), "%s%s",
                   aq_replay_tables_words(&core->tables, side, table), nobody);
    return core->waiting;
}

int64_t aq_replay_core_waiting_since(const aq_replay_core *core)
{
    return core->wait.since_ns;
}

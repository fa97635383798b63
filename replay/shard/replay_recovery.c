/*
 * A record that cannot be read, or not under the settings of today, is left out and said; a store
 * that misses a few steps is worth more than one that does not open. Only what would go wrong with
 * every record ends the recovery.
 */
#include "replay/shard/replay_recovery.h"

#include "common/base/assert.h"
#include "common/wire/wire_experience.h"

static int on_head(void *user, uint64_t segment, const aq_log_head *head, aq_error *error)
{
    aq_replay_recovery *recovery = user;
    int rc = aq_replay_core_restore_head(recovery->core, segment, head);
    return rc != 0 ? aq_fail(error, rc, "the marks of its senders: %s", aq_error_text(rc)) : 0;
}

/* Whether another record could do better. One of another version is nobody's damage, and all of the
 * store may be of it: left out they would be gone for good. */
static bool is_of_the_record(int rc)
{
    return rc != AQ_E_NOMEM && rc != AQ_E_FULL && rc != AQ_E_VERSION;
}

static int on_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                     aq_error *error)
{
    aq_replay_recovery *recovery = user;
    aq_replay_core *core = recovery->core;
    aq_arrival *arrival;
    if (recovery->advanced != NULL) {
        recovery->advanced(recovery->user);
    }
    int rc = aq_wire_experience_arrive(frame, true, aq_replay_core_run_id(core),
                                       aq_replay_core_layout(core), &arrival, error);
    if (rc == 0) {
        rc =
            aq_replay_core_restore_record(core, recovery->now_ns, segment, number, mapped, arrival);
        if (rc != 0) {
            rc = aq_fail(error, rc, "it cannot be stored: %s", aq_error_text(rc));
        }
    }
    return rc != 0 && is_of_the_record(rc) ? AQ_E_CORRUPT : rc;
}

static void on_damage(void *user, const char *what)
{
    aq_replay_recovery *recovery = user;
    aq_replay_core_damaged(recovery->core);
    recovery->damaged(recovery->user, what);
}

/* Without its snapshot a store is still the store: priorities begin anew. */
static int on_snapshot(void *user, const void *bytes, size_t size, aq_error *error)
{
    aq_replay_recovery *recovery = user;
    if (size == 0) {
        return 0;
    }
    aq_error fault;
    int rc = aq_replay_core_restore_snapshot(recovery->core, bytes, size, &fault);
    if (rc == AQ_E_NOMEM) {
        return aq_fail(error, rc, "the snapshot: %s", aq_error_text(rc));
    }
    if (rc != 0) {
        on_damage(recovery, fault.text);
    }
    return 0;
}

aq_replay_log_recovery aq_replay_recovery_calls(aq_replay_recovery *recovery)
{
    AQ_ASSERT(recovery->damaged != NULL);
    return (aq_replay_log_recovery){
        .user = recovery,
        .head = on_head,
        .record = on_record,
        .snapshot = on_snapshot,
        .damage = on_damage,
    };
}

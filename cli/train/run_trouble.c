/*
 * Run trouble: see run_trouble.h.
 */
#include "cli/train/run_trouble.h"

#include <inttypes.h>
#include <stdio.h>

/* Members join within this time, on a host that is busy, too. */
#define SETTLED_S 10.0

/* Of an environment without a step, until nothing is expected of it any more: a fraction of a
 * second with what it waits in between. */
enum { FAILURES_MAX = 5 };

static size_t count_members(const Actorq__V1__StatusReply *status, Actorq__V1__Role role)
{
    size_t count = 0;
    for (size_t i = 0; i < status->n_members; i++) {
        count += status->members[i]->role == role;
    }
    return count;
}

/* NULL: all can write. */
static const Actorq__V1__MemberStatus *stuck_shard(const Actorq__V1__StatusReply *status)
{
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__ReplayStats *replay = status->members[i]->replay;
        if (replay != NULL && replay->stuck[0] != '\0') {
            return status->members[i];
        }
    }
    return NULL;
}

void aq_run_trouble_of(const Actorq__V1__StatusReply *status, bool is_offline,
                       char out[AQ_TROUBLE_MAX])
{
    const Actorq__V1__MemberStatus *stuck = stuck_shard(status);
    const bool is_settled =
        status->state == ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING && status->uptime_s > SETTLED_S;
    out[0] = '\0';
    if (stuck != NULL) {
        (void)snprintf(out, AQ_TROUBLE_MAX, "replay %" PRIu32 " cannot write: %s", stuck->slot,
                       stuck->replay->stuck);
    } else if (status->learner->trouble[0] != '\0') {
        (void)snprintf(out, AQ_TROUBLE_MAX, "the learner cannot write: %s",
                       status->learner->trouble);
    } else if (is_settled && count_members(status, ACTORQ__V1__ROLE__ROLE_REPLAY) == 0) {
        (void)snprintf(out, AQ_TROUBLE_MAX, "no replay shard is in the run");
    } else if (is_settled && !is_offline &&
               count_members(status, ACTORQ__V1__ROLE__ROLE_ACTOR) == 0) {
        (void)snprintf(out, AQ_TROUBLE_MAX, "no actor is in the run");
    }
}

bool aq_run_is_of_failures(const Actorq__V1__StatusReply *status, uint64_t envs)
{
    uint64_t failures = 0, steps = 0;
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__ActorStats *actor = status->members[i]->actor;
        if (status->members[i]->role == ACTORQ__V1__ROLE__ROLE_ACTOR && actor != NULL) {
            failures += actor->env_failures;
            steps += actor->acknowledged_steps;
        }
    }
    return steps == 0 && failures >= FAILURES_MAX * envs;
}

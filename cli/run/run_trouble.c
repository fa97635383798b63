/*
 * Run trouble: see run_trouble.h.
 */
#include "cli/run/run_trouble.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/plain_text.h"

/* Members join within this time, on a host that is busy, too. */
#define SETTLED_S 10.0

/* Of an environment without a step, until it is said: a fraction of a second with what it waits in
 * between. One that has worked may be of a simulator that is being started again. */
enum { FAILURES_MAX = 5 };
#define HOPE_NS (60 * AQ_NS_PER_S)

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

void aq_run_trouble_of(const Actorq__V1__StatusReply *status, bool is_offline, const char *failure,
                       char out[AQ_TROUBLE_MAX])
{
    char words[AQ_TROUBLE_MAX] = "";
    const Actorq__V1__MemberStatus *stuck = stuck_shard(status);
    const bool is_settled =
        status->state == ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING && status->uptime_s > SETTLED_S;
    if (failure != NULL) {
        (void)snprintf(words, sizeof(words), "the environment fails each time: %s",
                       aq_last_line(failure));
    } else if (stuck != NULL) {
        (void)snprintf(words, sizeof(words), "replay %" PRIu32 " cannot write: %s", stuck->slot,
                       stuck->replay->stuck);
    } else if (status->learner->trouble[0] != '\0') {
        (void)snprintf(words, sizeof(words),
                       "the learner cannot keep or publish what it learns: %s",
                       status->learner->trouble);
    } else if (is_settled && count_members(status, ACTORQ__V1__ROLE__ROLE_REPLAY) == 0) {
        (void)snprintf(words, sizeof(words), "no replay shard is in the run");
    } else if (is_settled && !is_offline &&
               count_members(status, ACTORQ__V1__ROLE__ROLE_ACTOR) == 0) {
        (void)snprintf(words, sizeof(words), "no actor is in the run");
    }
    (void)aq_plain_text(out, AQ_TROUBLE_MAX, words);
}

const char *aq_failure_watch_take(aq_failure_watch *watch, int64_t now_ns,
                                  const Actorq__V1__StatusReply *status, uint64_t envs,
                                  bool *ret_is_hopeless)
{
    uint64_t failures = 0, steps = 0;
    const char *last = "";
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__ActorStats *actor = status->members[i]->actor;
        if (status->members[i]->role == ACTORQ__V1__ROLE__ROLE_ACTOR && actor != NULL) {
            failures += actor->env_failures;
            steps += actor->acknowledged_steps;
            last = actor->env_failure[0] != '\0' ? actor->env_failure : last;
        }
    }
    if (steps != watch->steps || failures < watch->failures) { /* or an actor was started again */
        *watch = (aq_failure_watch){steps, failures, now_ns};
    }
    *ret_is_hopeless = watch->stepped_ns == 0 || now_ns - watch->stepped_ns > HOPE_NS;
    return failures - watch->failures >= FAILURES_MAX * envs ? last : NULL;
}

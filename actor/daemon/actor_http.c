/*
 * See actor_http.h.
 */
#include "actor/daemon/actor_http.h"

#include <stdint.h>

#include "actor/daemon/exported_actor_stats.h"

/* The pages only read; their `user` is not const for others' sake. */
static const aq_participant *participant_of(void *user)
{
    return user;
}

static int add_actor(void *user, aq_metrics_page *page)
{
    aq_actor_export(aq_participant_stats(participant_of(user)), page);
    return 0;
}

static int add_evaluator(void *user, aq_metrics_page *page)
{
    aq_evaluator_export(aq_participant_stats(participant_of(user)), page);
    return 0;
}

static const char *not_ready(void *user)
{
    switch (aq_participant_phase_of(participant_of(user))) {
    case AQ_PARTICIPANT_JOINING:
        return "it has not joined a run";
    case AQ_PARTICIPANT_TAKING_PART:
        return aq_participant_stats(participant_of(user))->policy_version != 0
                   ? NULL
                   : "it has no policy yet";
    default:
        return "it leaves";
    }
}

int aq_actor_http_open(uv_loop_t *loop, const char *listen, const aq_participant *participant,
                       const aq_security *security, bool evaluates, aq_daemon_http **ret_http,
                       aq_error *error)
{
    const aq_daemon_pages pages = {
        .role = evaluates ? "evaluator" : "actor",
        .user = (void *)(uintptr_t)participant,
        .metrics = evaluates ? add_evaluator : add_actor,
        .not_ready = not_ready,
        .security = security,
    };
    return aq_daemon_http_open(loop, listen, &pages, ret_http, error);
}

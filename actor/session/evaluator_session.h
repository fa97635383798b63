/*
 * Evaluator session: an evaluator without sockets, threads or a clock. Takes the newest policy
 * whenever it is idle and has time left (evaluation_pace.h), runs it in the evaluator core, and
 * reports each result to the learner until the learner has answered. If the run asks for it, each
 * screening is then played again under the version's fp32 form. Needs no replay shard.
 *
 * Driven like aq_actor_session. One thread, but for what a policy listener does with its feed.
 */
#ifndef AQ_ACTOR_SESSION_EVALUATOR_SESSION_H
#define AQ_ACTOR_SESSION_EVALUATOR_SESSION_H

#include <stdint.h>

#include "actor/session/participant_session.h"

typedef struct aq_evaluator_session aq_evaluator_session;

/* `config` has role evaluator. */
int aq_evaluator_session_create(aq_rpc_channel *learner, const aq_session_config *config,
                                aq_evaluator_session **ret_session) AQ_MUST_USE;

/* The channels to the learner must have been closed, or have answered every call. NULL is fine. */
void aq_evaluator_session_destroy(aq_evaluator_session *session);

void aq_evaluator_session_tick(aq_evaluator_session *session, int64_t now_ns);
int64_t aq_evaluator_session_next_ns(const aq_evaluator_session *session);

/* One batched step; returns the transitions made, 0 when there is nothing to evaluate for now. The
 * time from a call that made some to the next counts as work. */
uint32_t aq_evaluator_session_work(aq_evaluator_session *session, int64_t now_ns);

/* Whom to ask to stop: aq_participant_stop. */
aq_participant *aq_evaluator_session_participant(aq_evaluator_session *session);

#endif

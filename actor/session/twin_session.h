/*
 * Twin session: fetches the fp32 form of a version that an evaluator has just screened, so that the
 * same episodes can be played under both. One call at a time and no second try: when the learner
 * does not answer, or holds that version no more, the next one is compared instead. Loop thread
 * only.
 *
 * Logs twin_fetched, twin_failed.
 */
#ifndef AQ_ACTOR_SESSION_TWIN_SESSION_H
#define AQ_ACTOR_SESSION_TWIN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/core/policy_feed.h"
#include "common/member/member.h"
#include "common/net/rpc/rpc.h"
#include "quantizer/engine/engine.h"

typedef struct aq_twin_session aq_twin_session;

int aq_twin_session_create(aq_rpc_channel *learner, aq_twin_session **ret_session) AQ_MUST_USE;

/* The channel must have been closed, or have answered every call. NULL is fine. */
void aq_twin_session_destroy(aq_twin_session *session);

/* A run begins: what was asked for in another one is forgotten. Takes a copy of the task. */
void aq_twin_session_start(aq_twin_session *session, const aq_member_view *view,
                           const aq_policy_feed_config *config);

/* Asks for that version, unless an earlier call is still out; false then. */
bool aq_twin_session_ask(aq_twin_session *session, uint64_t version);

/* Whether the answer to the last ask is still to come. */
bool aq_twin_session_waits(const aq_twin_session *session);

/* What came, for the caller to destroy; NULL when nothing did. */
aq_engine *aq_twin_session_take(aq_twin_session *session);

#endif

/*
 * Actor session: an actor without sockets, threads or a clock. Joins the run, makes the core that
 * it asks for, keeps it supplied with policies and credit, sends what it makes, and finishes in
 * order. The daemon's shell (actor_net.c) and the simulated cluster of the tests drive the same
 * code.
 *
 *   loop:  let things happen;  tick(now);  work(now) while it returns steps;
 *          when it returns none, wait until something happens or aq_actor_session_next_ns
 *
 * One thread, but for what a policy listener does with its feed.
 */
#ifndef AQ_ACTOR_SESSION_ACTOR_SESSION_H
#define AQ_ACTOR_SESSION_ACTOR_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/session/participant_session.h"
#include "actor/session/shard_session.h"

typedef struct aq_actor_session aq_actor_session;

typedef struct aq_actor_session_config {
    aq_session_config common; /* role actor */
    aq_shard_transport transport;
    bool is_sealed;                      /* the transport seals what is sent */
    aq_gradient_maker_open_fn gradients; /* of a run that wants them; NULL: it sends steps */
    int64_t (*clock_ns)(void); /* to count where the time goes by; NULL: it is not counted */
} aq_actor_session_config;

int aq_actor_session_create(aq_rpc_channel *learner, const aq_actor_session_config *config,
                            aq_actor_session **ret_session) AQ_MUST_USE;

/* Closes the transport and stops listening. The channels to the learner must have been closed, or
 * have answered every call. NULL is fine. */
void aq_actor_session_destroy(aq_actor_session *session);

/* To be called after anything happened and at aq_actor_session_next_ns. */
void aq_actor_session_tick(aq_actor_session *session, int64_t now_ns);
int64_t aq_actor_session_next_ns(const aq_actor_session *session);

/* One batched step and what there is to send then; returns the transitions made, 0 when there is
 * nothing to do for now. */
uint32_t aq_actor_session_work(aq_actor_session *session, int64_t now_ns);

/* Whom the transport tells of lanes that are open. */
aq_shard_session *aq_actor_session_shards(aq_actor_session *session);

/* Whom to ask to stop: aq_participant_stop. */
aq_participant *aq_actor_session_participant(aq_actor_session *session);
const aq_actor_core *aq_actor_session_core(const aq_actor_session *session); /* NULL: none yet */

#endif

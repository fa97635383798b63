/*
 * Shard session: an actor's dealings with the one replay shard that serves it: which shard that is,
 * sending what the core offers (E1), and asking for credit (E3, credit_session.h).
 *
 * The shard is number slot % count of the learner's list. One that is still listed, or connected,
 * is left only when everything sent to it is acknowledged, so that no message reaches two shards;
 * one that is gone is left at once. (A learner that was restarted lists shards as they come back,
 * so a list may lack some that live.) With no shard listed, the last one is held on to.
 *
 * Loop thread only. Logs shard_connected, shard_lost, shard_unreachable, resending.
 */
#ifndef AQ_ACTOR_SHARD_SESSION_H
#define AQ_ACTOR_SHARD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/actor_core.h"
#include "common/net/rpc.h"
#include "common/wire/member.h"

/* The transport, real or simulated. */
typedef struct aq_shard_transport {
    void *user;
    /* Opens both connections; `*ret_flow` is the channel for the shard's Flow service, valid until
     * close. Only called when nothing is open. */
    int (*open)(void *user, const char *rpc_url, const char *push_url, const aq_net_limits *limits,
                aq_rpc_channel **ret_flow, aq_error *error);
    /* Every call on the channel has been answered when it returns. Only called when it is open. */
    void (*close)(void *user);
    /* One EXPERIENCE frame, copied. AQ_E_AGAIN: not now; connected or writable is told later. */
    int (*send)(void *user, const uint8_t *frame, size_t size);
} aq_shard_transport;

typedef struct aq_shard_session aq_shard_session;

/* `seed` feeds the back-off's jitter. */
int aq_shard_session_create(const aq_shard_transport *transport, uint64_t seed,
                            aq_shard_session **ret_session) AQ_MUST_USE;
void aq_shard_session_destroy(aq_shard_session *session); /* closes; NULL is fine */

/* A run begins, in which this process is view->member, with the core that is to be served (lent
 * until the next start or stop). */
void aq_shard_session_start(aq_shard_session *session, const aq_member_view *view,
                            uint64_t incarnation, aq_actor_core *core);

/* Closes the transport and forgets the core. */
void aq_shard_session_stop(aq_shard_session *session);

/* The list of shards may have changed. */
void aq_shard_session_changed(aq_shard_session *session, const aq_member_view *view);

/* Asks for credit, moves to another shard when it must. To be called after anything
 * happened and at aq_shard_session_next_ns. */
void aq_shard_session_tick(aq_shard_session *session, int64_t now_ns);
int64_t aq_shard_session_next_ns(const aq_shard_session *session);

/* Sends what the core has, as far as it goes. */
void aq_shard_session_pump(aq_shard_session *session, int64_t now_ns);

/* Whether the core may step: not while it waits to move to another shard. */
bool aq_shard_session_may_step(const aq_shard_session *session);

/* What the transport tells. */
void aq_shard_session_connected(aq_shard_session *session, int64_t now_ns);
void aq_shard_session_disconnected(aq_shard_session *session);
void aq_shard_session_writable(aq_shard_session *session);

#endif

/*
 * Credit session: the Credit call (E3) that an actor always has out at each of its shards, and what
 * comes back: acknowledgements and credit. The shard holds the call until there is something new;
 * one that fails is made again after a pause that grows.
 *
 * Loop thread only. Logs credit_failed.
 */
#ifndef AQ_ACTOR_SESSION_CREDIT_SESSION_H
#define AQ_ACTOR_SESSION_CREDIT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/core/outbox.h"
#include "common/base/rng.h"
#include "common/net/rpc/rpc.h"
#include "common/sys/log.h"

/* Who asks. */
typedef struct aq_credit_asker {
    uint64_t run_id;
    uint64_t actor; /* member number */
    uint64_t incarnation;
    uint32_t rpc_timeout_ms;
    uint32_t pause_ms_min, pause_ms_max; /* after failures */
} aq_credit_asker;

/* What a call tells the shard. */
typedef struct aq_credit_known {
    uint64_t store; /* whom it is meant for; 0: whoever is there */
    uint64_t acknowledged, granted;
    uint64_t acknowledged_steps; /* fresh transitions in the acknowledged messages */
} aq_credit_known;

/* What the shard answers. From a store that was not meant come no more than `store`, `durable` and
 * the shard's incarnation. */
typedef struct aq_credit_answer {
    uint64_t store; /* that answers; 0: it does not say */
    bool durable;   /* what it acknowledges survives the end of its process */
    aq_shard_mark mark;
    uint64_t granted;     /* fresh transitions that may be sent in all */
    uint64_t version_min; /* no step of an older policy is wanted */
} aq_credit_answer;

/* Embedded in a shard's lane; private but for that. */
typedef struct aq_credit_session {
    aq_credit_asker asker;
    aq_rpc_stub stub;
    aq_rng jitter;
    bool is_open;
    bool is_calling;
    bool has_answer; /* for the next tick */
    bool has_failed; /* likewise */
    bool is_heard;   /* the last call was answered */
    aq_credit_answer answer;
    uint32_t failures;
    int64_t call_at_ns;
    int64_t now_ns; /* of the last tick */
    aq_log_limit failed_limit;
} aq_credit_session;

/* `seed` and `stream` feed the back-off's jitter. */
void aq_credit_session_init(aq_credit_session *session, uint64_t seed, uint64_t stream);

/* A shard can be called over this channel. */
void aq_credit_session_open(aq_credit_session *session, const aq_credit_asker *asker,
                            aq_rpc_channel *channel);

/* Before the channel is closed: what still comes is ignored. */
void aq_credit_session_close(aq_credit_session *session);

/* To be called after anything happened and at aq_credit_session_next_ns: first _take, which is true
 * when an answer has come, then, with what is known by that, _ask, which calls if it is time. */
bool aq_credit_session_take(aq_credit_session *session, int64_t now_ns,
                            aq_credit_answer *ret_answer);
void aq_credit_session_ask(aq_credit_session *session, const aq_credit_known *known);
int64_t aq_credit_session_next_ns(const aq_credit_session *session);

/* The answer that was taken is of no use: like a failure, the next call waits. */
void aq_credit_session_discard(aq_credit_session *session);

/* The reason of failures has gone: the next call does not wait. */
void aq_credit_session_hurry(aq_credit_session *session);

/* Whether the shard answered the last call, since it was opened. */
bool aq_credit_session_is_heard(const aq_credit_session *session);

#endif

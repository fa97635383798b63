/*
 * Credit session: the Credit call (E3) that an actor always has out at its shard, and what comes
 * back for the core: acknowledgements and credit. The shard holds the call until there is something
 * new; one that fails is made again after a pause that grows.
 *
 * Loop thread only. Logs credit_failed.
 */
#ifndef AQ_ACTOR_CREDIT_SESSION_H
#define AQ_ACTOR_CREDIT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/actor_core.h"
#include "common/base/rng.h"
#include "common/net/rpc.h"
#include "common/sys/log.h"

/* Who asks. */
typedef struct aq_credit_asker {
    uint64_t run_id;
    uint64_t actor; /* member number */
    uint64_t incarnation;
    uint32_t rpc_timeout_ms;
    uint32_t pause_ms_min, pause_ms_max; /* after failures */
} aq_credit_asker;

/* Embedded in the shard session; private but for that. */
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

void aq_credit_session_init(aq_credit_session *session, uint64_t seed);

/* A shard can be called over this channel. */
void aq_credit_session_open(aq_credit_session *session, const aq_credit_asker *asker,
                            aq_rpc_channel *channel);

/* Before the channel is closed: what still comes is ignored. */
void aq_credit_session_close(aq_credit_session *session);

/* Hands an answer to the core and asks again. To be called after anything happened and at
 * aq_credit_session_next_ns. */
void aq_credit_session_tick(aq_credit_session *session, int64_t now_ns, aq_actor_core *core);
int64_t aq_credit_session_next_ns(const aq_credit_session *session);

/* Whether the shard answered the last call, since it was opened. */
bool aq_credit_session_is_heard(const aq_credit_session *session);

#endif

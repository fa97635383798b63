/*
 * Actor core: steps K environments together under the newest policy and turns what happens into
 * experience messages. No sockets, no clock: credit, acknowledgements and policies are handed in,
 * messages are taken out.
 */
#ifndef AQ_ACTOR_ACTOR_CORE_H
#define AQ_ACTOR_ACTOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/chunk.h"
#include "common/rl/run_settings.h"
#include "quantizer/engine.h"

typedef struct aq_actor_core aq_actor_core;

typedef struct aq_actor_counters {
    uint64_t env_steps;
    uint64_t episodes;
    double return_mean; /* of the last (up to 100) episodes; NaN: none yet */
    uint64_t policy_version;
    uint64_t unacknowledged; /* messages */
    uint64_t resent;         /* messages */
} aq_actor_counters;

/* `slot` places the actor on the exploration ladder; `incarnation` starts its numbering. The task
 * must be known here and its schema must have the run's hash: AQ_E_NOT_FOUND, AQ_E_SCHEMA in words. */
int aq_actor_core_create(const aq_run_settings *settings, uint64_t run_id, uint64_t member,
                         uint64_t incarnation, uint32_t slot, aq_actor_core **ret_core,
                         aq_error *error) AQ_MUST_USE;
void aq_actor_core_destroy(aq_actor_core *core); /* NULL is fine */

/* Swaps the policy in before the next step; the old engine is handed back for its maker to free
 * (NULL at first). Without one the actor acts at random, as version 0. */
aq_engine *aq_actor_core_set_engine(aq_actor_core *core, aq_engine *engine);

/* Steps all environments once, if credit and the outbox allow: returns the steps made, 0 when it
 * has to wait. */
uint32_t aq_actor_core_step(aq_actor_core *core, int64_t now_ns);

/* The next message to send, as an EXPERIENCE frame that stays valid until it is acknowledged; false
 * when there is none. After a successful send, aq_actor_core_sent. */
bool aq_actor_core_next(aq_actor_core *core, int64_t now_ns, const uint8_t **ret_frame,
                        size_t *ret_size);
void aq_actor_core_sent(aq_actor_core *core, int64_t now_ns);

/* What the shard answered. Another shard incarnation, a gap, or a mark that stands still for
 * `resend_ms` while messages are out makes the unacknowledged ones be sent again, in order. */
void aq_actor_core_credit(aq_actor_core *core, int64_t now_ns, uint64_t shard_incarnation,
                          uint64_t acknowledged, uint64_t granted, uint64_t expected);

/* A new connection: everything unacknowledged goes again. */
void aq_actor_core_reconnected(aq_actor_core *core, int64_t now_ns);

/* Stops stepping; open chunks are closed as they are (truncated is not claimed) and offered for
 * sending, so that a SIGTERM loses nothing. True once everything is acknowledged. */
void aq_actor_core_drain(aq_actor_core *core);
bool aq_actor_core_drained(const aq_actor_core *core);

aq_actor_counters aq_actor_core_counters(const aq_actor_core *core);
void aq_actor_core_known(const aq_actor_core *core, uint64_t *ret_acknowledged,
                         uint64_t *ret_granted);

#endif

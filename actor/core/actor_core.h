/*
 * Actor core: steps K environments together under the newest policy and turns what happens into
 * experience messages for the replay shards. No sockets, no clock: credit, acknowledgements and
 * policies are handed in, messages are taken out, shard by shard (shard_spread.h).
 *
 * Credit is counted in fresh transitions. What an actor may hold back in the end, out of credit, is
 * at most K - 1 transitions of credit, over all shards, that is not enough for a step of all
 * environments, and K * (n - 1) transitions that are too few for an item; a shard must grant more
 * than that.
 *
 * With a gradient maker what leaves is the gradient of so many steps, in a row of one transition:
 * that is what credit counts then. Steps of one gradient are of one version, and are its alone, but
 * for items of n > 1 steps: those that end in its first n - 1 steps begin in the version before.
 *
 * One thread at a time. After create, a step allocates nothing but the chunks that it opens or
 * makes longer.
 */
#ifndef AQ_ACTOR_CORE_ACTOR_CORE_H
#define AQ_ACTOR_CORE_ACTOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/core/shard_spread.h"
#include "common/base/error.h"
#include "common/config/run_settings.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"
#include "rollout/gradient_maker.h"

typedef struct aq_actor_core aq_actor_core;

typedef struct aq_actor_counters {
    uint64_t env_steps;    /* those of episodes that failed included */
    uint64_t env_failures; /* steps and resets */
    uint64_t episodes;
    double return_mean; /* of the last (up to 100) episodes; NaN: none yet */
    uint64_t policy_version;
    uint64_t unacknowledged;     /* messages */
    uint64_t resent;             /* messages */
    uint64_t acknowledged_steps; /* of env_steps, those that a shard has acknowledged */
    uint64_t shard_steps;        /* of them, by the stores that the shards have now */
    int64_t inference_ns;        /* choosing actions; 0 without a clock, as the next one */
    int64_t environment_ns;      /* stepping environments */
    uint64_t gradients;          /* that were made */
} aq_actor_counters;

typedef struct aq_actor_core_config {
    uint64_t run_id, member;
    uint64_t incarnation;      /* starts the numbering of messages */
    uint32_t slot;             /* places the actor on the exploration ladder */
    bool is_sealed;            /* messages have no crc: whoever sends them seals each */
    int64_t (*clock_ns)(void); /* by which the core counts where its time goes, and nothing else;
                                  NULL: it is not counted */
} aq_actor_core_config;

/* The settings are valid (aq_run_settings_validate). The task must be known here and its schema
 * must have the run's hash: AQ_E_NOT_FOUND, AQ_E_SCHEMA, AQ_E_UNSUPPORTED; and a chunk must fit in
 * a message: AQ_E_TOO_BIG; in words. */
int aq_actor_core_create(const aq_run_settings *settings, const aq_actor_core_config *config,
                         aq_actor_core **ret_core, aq_error *error) AQ_MUST_USE;

/* The same in a task that is open already, and is the settings' own; `core` takes a copy of it. */
int aq_actor_core_create_in(const aq_env_task *task, const aq_run_settings *settings,
                            const aq_actor_core_config *config, aq_actor_core **ret_core,
                            aq_error *error) AQ_MUST_USE;

/* From now on steps go to `maker`, and the gradients of so many of them at a time to the shards:
 * the settings' run is of gradients (gradient_rows.h). The maker is the core's from here on. Before
 * the first step. */
void aq_actor_core_make_gradients(aq_actor_core *core, const aq_gradient_maker *maker,
                                  uint64_t steps);

/* NULL is fine. The engine is not the core's: take it back first with aq_actor_core_set_engine. */
void aq_actor_core_destroy(aq_actor_core *core);

/* Explores by the ladders of `config` from the next step on, where `slot` places the actor: another
 * one, if its own was taken while it was away. Nothing else is taken from it. */
void aq_actor_core_explore(aq_actor_core *core, const aq_run_config *config, uint32_t slot);

/* Swaps the policy in before the next step; the old engine is handed back for its maker to free
 * (NULL at first). It must allow actor.envs rows and be a policy for the task. Without
 * one the actor acts at random, as version 0. */
aq_engine *aq_actor_core_set_engine(aq_actor_core *core, aq_engine *engine);

/* Whether it may be swapped now: a gradient is of steps of one version. */
bool aq_actor_core_may_change(const aq_actor_core *core);

/* Steps all environments once, if credit, the outboxes and memory allow: returns the transitions
 * made, 0 when it has to wait. An environment that fails loses its episode, of which nothing more
 * is sent than what already was, and comes back in time; the others go on. */
uint32_t aq_actor_core_step(aq_actor_core *core, int64_t now_ns);

/* When the next step may do something, as far as the environments are concerned: in the past,
 * unless all of them have failed and wait to be tried again. */
int64_t aq_actor_core_env_due_ns(const aq_actor_core *core);

/* Steps and resets that failed, and why the last of them did, in words, one line or several. */
uint64_t aq_actor_core_env_failures(const aq_actor_core *core);
const char *aq_actor_core_env_failure(const aq_actor_core *core);

/* The version that the steps which it has credit for are to be of, at least; with an older one it
 * does not step. 0: any. */
uint64_t aq_actor_core_version_min(const aq_actor_core *core);

/* Whether credit is what aq_actor_core_step waits for. */
bool aq_actor_core_needs_credit(const aq_actor_core *core);

/* The shards that it spreads its experience over, to be opened and told of what happens to them. At
 * first there is none. */
aq_shard_spread *aq_actor_core_spread(aq_actor_core *core);

/* The next message for a shard, as an EXPERIENCE frame that is valid until the next call for this
 * core; false when there is none. After a successful send, aq_shard_spread_sent. */
bool aq_actor_core_next(aq_actor_core *core, uint32_t shard, int64_t now_ns,
                        const uint8_t **ret_frame, size_t *ret_size);

/* When aq_actor_core_next may have a message if no step is made until then: a time in the past when
 * it may have one now, INT64_MAX when there will be none. */
int64_t aq_actor_core_due_ns(const aq_actor_core *core, uint32_t shard);

/* Stops stepping; open chunks are closed as they are (truncated is not claimed) and offered for
 * sending, so that a SIGTERM loses nothing that could be learned from. (They may overdraw the
 * credit by what is open, when a shard has gone away with its own.) Drained once everything is
 * acknowledged. */
void aq_actor_core_drain(aq_actor_core *core);
bool aq_actor_core_is_draining(const aq_actor_core *core);
bool aq_actor_core_drained(const aq_actor_core *core);

aq_actor_counters aq_actor_core_counters(const aq_actor_core *core);

/* The task, to check policies with, and the rows that an engine must allow. */
const aq_env_task *aq_actor_core_task(const aq_actor_core *core);
uint32_t aq_actor_core_lanes(const aq_actor_core *core);

#endif

/*
 * Chooser: the actions of an actor's environments. At random before there is a policy; then greedy
 * ones that explore by the run's ladders, or drawn ones, as the policy's head says.
 *
 * One thread at a time. Nothing is allocated after create but where a policy draws that did not
 * before.
 */
#ifndef AQ_ACTOR_CORE_CHOOSER_H
#define AQ_ACTOR_CORE_CHOOSER_H

#include <stdint.h>

#include "actor/core/record.h"
#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/config/run_config.h"
#include "common/policy/exploration.h"
#include "rollout/act.h"
#include "rollout/env_task.h"

typedef struct aq_chooser {
    const aq_env_task *task; /* lent */
    uint32_t lanes;
    uint32_t version_min;        /* 1: what a policy leaves is recorded; chance alone leaves none */
    aq_exploration *exploration; /* (lanes): at first */
    aq_run_config config;        /* by which it falls */
    aq_rng *rngs;                /* (lanes): exploration; environments have their own */
    aq_act *act;
    aq_act_draws draws; /* of a policy that draws */
    float *draws_room;  /* (lanes): theirs where they are not recorded */
    uint8_t *actions;   /* (lanes) rows: what was chosen last */
    float *state;       /* (lanes, state_width): what the policy keeps, where it is recorded */
    uint32_t state_width;
} aq_chooser;

/* What draws leave goes into `record`, where the run records it. AQ_E_NOMEM. `fini` is due then,
 * too. */
int aq_chooser_init(aq_chooser *chooser, const aq_env_task *task, const aq_run_config *config,
                    uint32_t slot, uint64_t seed, aq_record *record) AQ_MUST_USE;
void aq_chooser_fini(aq_chooser *chooser); /* zeroes are fine */

/* Explores by the rung `slot` of the ladders of `config` from the next step on, as far as the
 * policy's training leaves of it. */
void aq_chooser_explore(aq_chooser *chooser, const aq_run_config *config, uint32_t slot);

/* Another episode begins there: what is kept of the one before is forgotten. */
void aq_chooser_begin(aq_chooser *chooser, uint32_t lane);

/* Chooses for `obs`, a row for each environment; without a policy (NULL) at random. AQ_E_NOMEM:
 * nothing was chosen. */
int aq_chooser_choose(aq_chooser *chooser, aq_engine *engine, const void *obs) AQ_MUST_USE;

#endif

/*
 * Bench lanes: lanes of one environment that are stepped with random actions drawn beforehand, and
 * started anew where an episode ends: as little around the environment as there can be. One thread.
 */
#ifndef AQ_CLI_ENV_BENCH_LANES_H
#define AQ_CLI_ENV_BENCH_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "envs/env_open.h"

enum { AQ_BENCH_ACTIONS = 256 }; /* steps before the actions begin again */

typedef struct aq_bench_lanes {
    const aq_env *env;
    aq_step_rows rows; /* columns and states */
    uint32_t *state_at;
    uint32_t *elapsed;
    uint8_t *actions; /* (AQ_BENCH_ACTIONS, lanes) rows */
    size_t action_bytes, obs_bytes;
    uint32_t begun; /* lanes that have to be ended */
    uint64_t seed;
    aq_rng rng;   /* of the actions */
    aq_rng *rngs; /* each lane's own, as an actor's have: some foresee what they draw */
    uint64_t episodes;
} aq_bench_lanes;

/* Lends `env` until fini. AQ_E_NOMEM, what begin says. After a failure there is nothing to fini. */
int aq_bench_lanes_init(aq_bench_lanes *lanes, const aq_env *env, uint32_t count, uint64_t seed,
                        aq_error *error) AQ_MUST_USE;
void aq_bench_lanes_fini(aq_bench_lanes *lanes);

/* Draws new actions, uniform; where a bound is infinite, within 1 of the other or of 0. */
void aq_bench_lanes_draw(aq_bench_lanes *lanes);

/* What the lanes draw from here on is of that number: after the same one it is the same again. */
void aq_bench_lanes_seed(aq_bench_lanes *lanes, uint64_t number);

/* An episode begins in each lane. AQ_E_PEER when one fails to. */
int aq_bench_lanes_reset(aq_bench_lanes *lanes, aq_error *error) AQ_MUST_USE;

/* That many steps of every lane. AQ_E_PEER when one fails. */
int aq_bench_lanes_step(aq_bench_lanes *lanes, uint64_t steps, aq_error *error) AQ_MUST_USE;

/* What the physics alone does to begin an episode in each lane. The lanes are to be reset. */
void aq_bench_lanes_start_physics(aq_bench_lanes *lanes);

/* The first `steps` steps of the lanes' physics alone, lane by lane. The lanes are to be reset. */
void aq_bench_lanes_step_physics(aq_bench_lanes *lanes, uint64_t steps);

#endif

/*
 * The environment interface.
 *
 * An environment is an immutable description (parameters) and plain-data state that can be copied
 * with memcpy; it holds no buffers of its own: the caller lends the rows that it writes into.
 * Nothing here knows about networks, threads, time limits of episodes or rendering.
 *
 *   step() says `terminated` when the task ended by its own rules. A time limit is not the task's
 *   rule: the class states `step_limit`, and whoever drives the environment says `truncated`.
 *   The observation after the last step is written before any reset.
 */
#ifndef AQ_ENVS_ENV_H
#define AQ_ENVS_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/rl/schema.h"

typedef struct aq_env_class aq_env_class;

struct aq_env_class {
    const char *name;        /* "gym:CartPole-v1" */
    const char *summary;     /* one sentence, for `actorq envs` */
    uint32_t step_limit;     /* steps after which an episode is truncated; 0: none */
    double reward_threshold; /* a greedy mean return from which it counts as solved; NaN: none */
    size_t params_bytes;
    size_t state_bytes;

    void (*init_params)(void *params);
    void (*schema)(const void *params, aq_schema *ret_schema);

    /* Writes the first observation row. */
    void (*reset)(const void *params, void *state, aq_rng *rng, void *obs);

    /* `action` is one row as stored in columns (int32 for a discrete one) and within the schema.
     * Writes the observation row after the step and the reward; returns whether the episode
     * terminated, after which the next call is `reset`. */
    bool (*step)(const void *params, void *state, aq_rng *rng, const void *action, void *obs,
                 float *reward);
};

/* The class of that name, or NULL. "CartPole-v1" alone is accepted when it is unambiguous. */
const aq_env_class *aq_env_find(const char *name);

/* All classes, in the order of their names; NULL past the last. */
size_t aq_env_count(void);
const aq_env_class *aq_env_at(size_t index);

#endif

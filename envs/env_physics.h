/*
 * Physics alone: what an environment's physics library costs without anything of ours around it, so
 * that `actorq env bench` can tell what ours adds, on the same states, in the same run. Optional
 * (aq_env_class.physics). One thread, the one that owns the state.
 */
#ifndef AQ_ENVS_ENV_PHYSICS_H
#define AQ_ENVS_ENV_PHYSICS_H

#include "common/base/rng.h"

struct aq_env_physics {
    /* The library's part of an episode's start, drawn from `rng`: where things are, and the steps
     * that the task's rules ask for before the first observation. Without this observation. */
    void (*start)(const void *params, void *state, aq_rng *rng);

    /* One control step of the library from where the state stands: the action, a row as stored in
     * columns, as controls, and the physics steps. No observation, no reward, no copy of the state,
     * which is not used again before it is reset. */
    void (*step)(const void *params, void *state, const void *action);
};

#endif

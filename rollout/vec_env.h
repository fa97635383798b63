/*
 * Vec env: K environments of one class, stepped together. One block holds parameters, states and
 * columns; nothing is allocated after create.
 *
 * An episode that ends is started anew in the same step: then `next_obs` still holds the row it
 * ended with, and `obs` the first row of the next one. The class's step limit is applied here and
 * called truncation (a class without one is cut at AQ_VEC_ENV_STEPS_MAX, so that counts fit their
 * types); a task that ends by its own rules in that very step has terminated.
 *
 * Each lane draws from a random stream of its own, so what happens in one depends neither on how
 * many there are nor on their order. One thread at a time.
 */
#ifndef AQ_ROLLOUT_VEC_ENV_H
#define AQ_ROLLOUT_VEC_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "rollout/env_task.h"

enum { AQ_VEC_ENV_LANES_MAX = 4096, AQ_VEC_ENV_STEPS_MAX = 1 << 30 };

/* Read by everybody, written by the functions below. Columns have one row per lane. */
typedef struct aq_vec_env {
    aq_env_task task;
    uint32_t lanes; /* in play: rows 0 .. lanes - 1 */
    uint32_t lanes_max;

    float *obs;              /* (lanes, obs_elements): what to act on */
    float *next_obs;         /* (lanes, obs_elements): where the last step led */
    float *reward;           /* of the last step */
    uint8_t *terminated;     /* the last step ended the episode by the task's rules */
    uint8_t *truncated;      /* the last step was the last that the limit allows */
    double *episode_return;  /* of the episode that the last step belongs to, that step included */
    uint32_t *episode_steps; /* likewise */

    void *params;
    uint8_t *states;
    uint32_t step_limit;
    size_t state_stride;
    aq_rng *rngs;
} aq_vec_env;

/* All lanes at the start of an episode, as after aq_vec_env_start. `lanes` is 1 to
 * AQ_VEC_ENV_LANES_MAX. AQ_E_NOMEM. */
int aq_vec_env_create(const aq_env_task *task, uint32_t lanes, uint64_t seed,
                      aq_vec_env **ret_vec) AQ_MUST_USE;
void aq_vec_env_destroy(aq_vec_env *vec); /* NULL is fine */

/* Puts `lanes` lanes (1 to lanes_max) in play, each at the start of an episode; lane i draws from
 * stream i of `seed`. */
void aq_vec_env_start(aq_vec_env *vec, uint32_t lanes, uint64_t seed);

/* Starts one lane's episode anew, drawing from that stream from here on. */
void aq_vec_env_restart(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream);

/* Takes a lane out of play: the last lane moves into its row. */
void aq_vec_env_drop(aq_vec_env *vec, uint32_t lane);

/* Steps every lane in play once; actions (lanes) are choices of the task. */
void aq_vec_env_step(aq_vec_env *vec, const int32_t *actions);

static inline bool aq_vec_env_ended(const aq_vec_env *vec, uint32_t lane)
{
    return vec->terminated[lane] || vec->truncated[lane];
}

#endif

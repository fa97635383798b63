/*
 * Vec env: K environments of one task, stepped together. One block holds states and columns;
 * nothing is allocated after create.
 *
 * An episode that ends is started anew in the same step: then `next_obs` still holds the row it
 * ended with, and `obs` the first row of the next one. The task's step limit is applied here and
 * called truncation (a task without one is cut at AQ_VEC_ENV_STEPS_MAX, so that counts fit their
 * types); a task that ends by its own rules in that very step has terminated.
 *
 * An environment that fails, or shows a number that is not finite, loses its episode and is started
 * anew, too. When it fails again before it has made a step the lane waits, and is tried again after
 * a while that doubles each time; the others go on.
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

enum { AQ_VEC_ENV_LANES_MAX = 4096, AQ_VEC_ENV_STEPS_MAX = 1 << 30, AQ_ENV_FAILURE_MAX = 4096 };

/* What the last call did in a lane. */
enum aq_lane_event {
    AQ_LANE_STEPPED = 1,    /* a transition was made: next_obs, reward and the counts hold */
    AQ_LANE_TERMINATED = 2, /* it ended the episode by the task's rules */
    AQ_LANE_TRUNCATED = 4,  /* it was the last one that a limit allows */
    AQ_LANE_FAILED = 8,     /* the episode came to nothing; no transition was made */
    AQ_LANE_BEGAN = 16,     /* obs is the first row of an episode */
};

/* Read by everybody, written by the functions below. Columns have one row per lane. */
typedef struct aq_vec_env {
    aq_env_task task;
    uint32_t lanes; /* in play: rows 0 .. lanes - 1 */
    uint32_t lanes_max;

    uint8_t *obs;            /* (lanes, obs_bytes): what to act on; zeros while the lane waits */
    uint8_t *next_obs;       /* (lanes, obs_bytes): where the last step led */
    float *reward;           /* of the last step */
    uint8_t *events;         /* enum aq_lane_event, those that happened */
    uint8_t *waits;          /* there is no episode to act in */
    uint8_t *ends;           /* how the last step ended, of lanes that are stepped together */
    double *episode_return;  /* of the episode that the last step belongs to, that step included */
    uint32_t *episode_steps; /* likewise */

    uint64_t failures;                /* steps and resets that failed, in all lanes */
    char failure[AQ_ENV_FAILURE_MAX]; /* the last of them, in words */

    /* Set by the owner: a lane whose episode ended waits as it is for the next step, which begins
     * another. And: nothing is announced, as that may begin the next episode sooner. */
    bool holds_ends;
    bool is_quiet;
    uint32_t waiting_count; /* lanes that wait */
    uint32_t step_limit;
    uint8_t *states; /* (lanes_max) */
    size_t state_stride;
    uint32_t *state_at; /* which of them is the lane's */
    aq_rng *rngs;
    int64_t *retry_ns;       /* when a lane that waits tries again */
    uint32_t *failed_in_row; /* steps and resets, since a step was made */
    uint32_t begun;          /* states that have to be ended */
    void *arrays;            /* the block of all */
} aq_vec_env;

/* All lanes at the start of an episode, as after aq_vec_env_start. `lanes` is 1 to
 * AQ_VEC_ENV_LANES_MAX. Takes a reference to the environment. AQ_E_NOMEM, or what the
 * environment's `begin` refuses; in words. */
int aq_vec_env_create(const aq_env_task *task, uint32_t lanes, uint64_t seed, aq_vec_env **ret_vec,
                      aq_error *error) AQ_MUST_USE;
void aq_vec_env_destroy(aq_vec_env *vec); /* NULL is fine */

/* Puts `lanes` lanes (1 to lanes_max) in play, each at the start of an episode; lane i draws from
 * stream i of `seed`. */
void aq_vec_env_start(aq_vec_env *vec, uint32_t lanes, uint64_t seed);

/* Starts one lane's episode anew, drawing from that stream from here on. */
void aq_vec_env_restart(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream);

/* Likewise, but the lane waits first, for a while that doubles with each of `failures`. */
void aq_vec_env_retry(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream,
                      uint32_t failures, int64_t now_ns);

/* Takes a lane out of play: the last lane moves into its row. */
void aq_vec_env_drop(aq_vec_env *vec, uint32_t lane);

/* Rows of somebody else's in the place of the vec's own columns of the same names, until others are
 * lent. What is in those is not copied: a start or a step writes all lanes. */
void aq_vec_env_lend(aq_vec_env *vec, void *obs, void *next_obs, float *reward);

/* Steps every lane in play once, but those that wait; actions are rows within the task's schema.
 * Returns the transitions made. */
uint32_t aq_vec_env_step(aq_vec_env *vec, const void *actions, int64_t now_ns);

/* The state of a lane in play, for the functions of its class. */
void *aq_vec_env_state(const aq_vec_env *vec, uint32_t lane);

/* When a step can do something: in the past, unless all lanes wait. */
int64_t aq_vec_env_due_ns(const aq_vec_env *vec);

static inline bool aq_vec_env_ended(const aq_vec_env *vec, uint32_t lane)
{
    return (vec->events[lane] & (AQ_LANE_TERMINATED | AQ_LANE_TRUNCATED)) != 0;
}

#endif

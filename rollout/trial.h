/*
 * Trial: exactly so many greedy episodes of one policy, many at once, in slices.
 *
 * Each episode draws from a random stream of its own, and what acts at random in it from another,
 * and all that were begun are finished. So the result is a function of policy, seed and number
 * alone: short episodes are not favoured, and it does not matter how many lanes there are or in
 * which order they finish. One thread at a time.
 */
#ifndef AQ_ROLLOUT_TRIAL_H
#define AQ_ROLLOUT_TRIAL_H

#include <stdint.h>

#include "common/base/error.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"

/* Where a task has no step limit of its own, an episode is cut off here: a greedy policy may go
 * round in circles for ever. */
enum { AQ_TRIAL_EPISODE_STEPS_MAX = 10000 };

typedef struct aq_trial aq_trial;

typedef struct aq_trial_result {
    uint32_t episodes;
    double return_mean;
    double return_std; /* of the sample (n - 1); 0 for one episode */
    double return_min, return_max;
    uint32_t cut_off;    /* of the episodes, at AQ_TRIAL_EPISODE_STEPS_MAX */
    uint32_t drawn_anew; /* of them: their own failed, and others stand in their places */
} aq_trial_result;

/* For up to episodes_max episodes (at least 1) in up to lanes_max environments at once. As
 * aq_vec_env_create. */
int aq_trial_create(const aq_env_task *task, uint32_t episodes_max, uint32_t lanes_max,
                    aq_trial **ret_trial, aq_error *error) AQ_MUST_USE;
void aq_trial_destroy(aq_trial *trial); /* NULL is fine */

/* Rows that an engine must allow. */
uint32_t aq_trial_lanes(const aq_trial *trial);

/* In the place of random actions, those of the class's script, which it must have. */
void aq_trial_take_script(aq_trial *trial);

/* Begins; what was going on is forgotten. */
void aq_trial_start(aq_trial *trial, uint32_t episodes, uint64_t seed);

enum aq_trial_state {
    AQ_TRIAL_GOES_ON = 0,
    AQ_TRIAL_DONE,   /* that was the last step of all: the result is there */
    AQ_TRIAL_FAILED, /* the environment fails too often, or does not come back: it is given up */
};

/* Steps every environment once under the engine, the same one from start to end, or where it is
 * NULL with random actions, which the task's space must have bounds for, or the script's. An
 * episode that fails is played again; from its second failure on another one is in its place, as
 * the numbers that it is drawn from may be why. */
enum aq_trial_state aq_trial_step(aq_trial *trial, aq_engine *engine, int64_t now_ns);

/* When a step can do something: in the past, unless all environments wait to be tried again. */
int64_t aq_trial_due_ns(const aq_trial *trial);

/* How often the environment failed, over all trials. */
uint64_t aq_trial_failures(const aq_trial *trial);

/* Why the environment failed last, in words; "" if it never did. */
const char *aq_trial_failure(const aq_trial *trial);

/* Environment steps made so far, over all trials. */
uint64_t aq_trial_steps(const aq_trial *trial);

/* Of a trial that is complete: the return of each episode, in the order of their numbers; valid
 * until the next start. */
const double *aq_trial_returns(const aq_trial *trial);

/* Of a trial that is complete. */
aq_trial_result aq_trial_result_of(const aq_trial *trial);

#endif

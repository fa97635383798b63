/*
 * Golden access: an environment's state in the terms of a recording, so that what the original did
 * can be put into ours and compared in double. Optional (aq_env_class.golden); for tests and
 * `env_replay` (bench/env_replay), never on the way of training.
 *
 * Names of values are the recording's: "state" of Gymnasium's classics (the numbers of
 * `env.unwrapped.state`) and of toy text (one: the cell); "qpos", "qvel", "act", "ctrl",
 * "qacc_warmstart", "target_geom_pos", "target_site_pos" of the control suite.
 *
 * One thread, the one that owns the state.
 */
#ifndef AQ_ENVS_ENV_GOLDEN_H
#define AQ_ENVS_ENV_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "envs/env.h"

enum { AQ_GOLDEN_VALUES_MAX = 16, AQ_GOLDEN_OUTCOMES_MAX = 16 };

typedef struct aq_golden_value {
    const char *name;
    size_t count;
    const double *numbers;
} aq_golden_value;

typedef struct aq_golden_values {
    size_t count;
    aq_golden_value rows[AQ_GOLDEN_VALUES_MAX];
} aq_golden_values;

/* What may come of one action in one state of a table. */
typedef struct aq_golden_outcome {
    double chance;
    uint32_t next;
    double reward;
    bool terminated;
} aq_golden_outcome;

struct aq_env_golden {
    /* Puts the state (zeroed, or of an episode) at the start of a control step with those values,
     * as the original does before it observes. What the recording does not name keeps what an
     * episode begins with, where that is no matter of chance, or 0; values that the task has no use
     * for are ignored. AQ_E_INVALID, in words: one that is needed is missing or has another
     * length. */
    int (*set)(const void *params, void *state, const aq_golden_values *values, aq_error *error);

    /* The numbers of one named value into out[0 .. room), and how many there are; 0 for a name that
     * is not known here or more numbers than there is room for. */
    size_t (*get)(const void *params, const void *state, const char *name, double *out,
                  size_t room);

    /* The observation and the reward of the state itself, as the suite defines it, in double;
     * NaN where the reward is one of a transition. NULL: the class's observe, and NaN. */
    void (*observe)(const void *params, const void *state, double *obs, double *reward);

    /* As the class's step, but with action, observation and reward in double. NULL: the class's
     * step, with the action rounded as the action space stores it. */
    enum aq_step_end (*step)(const void *params, void *state, aq_rng *rng, const double *action,
                             double *obs, double *reward);

    /* For tasks that are a table: the outcomes of an action in a state that the schema allows, at
     * most AQ_GOLDEN_OUTCOMES_MAX, in any order, and their number; and the chance that an episode
     * begins in a state. Both or none. */
    size_t (*outcomes)(const void *params, uint32_t cell, uint32_t action,
                       aq_golden_outcome *ret_outcomes);
    double (*start_chance)(const void *params, uint32_t cell);
};

/* The numbers of that value; NULL when the recording does not name it or has another count. */
const double *aq_golden_find(const aq_golden_values *values, const char *name, size_t count);

/* AQ_E_INVALID, saying that the value is missing, if it is needed, or has how many numbers. */
int aq_golden_check(const aq_golden_values *values, const char *name, size_t count, bool is_needed,
                    aq_error *error) AQ_MUST_USE;

/* Copies to out a value that is needed; likewise. */
int aq_golden_copy(const aq_golden_values *values, const char *name, size_t count, double *out,
                   aq_error *error) AQ_MUST_USE;

#endif

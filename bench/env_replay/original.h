/*
 * Original: what is asked of an environment besides its class's members, so that what it does can
 * be compared with a recording in double. Constant; one thread for one state.
 */
#ifndef AQ_BENCH_ENV_REPLAY_ORIGINAL_H
#define AQ_BENCH_ENV_REPLAY_ORIGINAL_H

#include <stddef.h>
#include <stdint.h>

#include "envs/env.h"
#include "envs/text/tabular.h"

enum { AQ_ORIGINAL_OUTCOMES_MAX = 16 };

typedef struct aq_original {
    /* The numbers of one named value (env_golden.h) into out[0 .. room), and how many there are; 0
     * for a name that is not known here or more numbers than there is room for. */
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
     * most AQ_ORIGINAL_OUTCOMES_MAX, in any order, and their number; and the chance that an episode
     * begins in a state. Both or none. */
    size_t (*outcomes)(const void *params, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes);
    double (*start_chance)(const void *params, uint32_t cell);
} aq_original;

/* Of a class of ours that takes recordings; NULL: of another one. */
const aq_original *aq_original_of(const aq_env_class *class);

/* Of the control suite (original_suite.c). */
extern const aq_original aq_original_suite;

#endif

/*
 * Sum env: environments whose every number can be foretold, for the tests of playback and of
 * measurements. They count their calls, for the whole process; sum_env_open forgets.
 */
#ifndef AQ_TESTS_UNIT_CLI_SUM_ENV_H
#define AQ_TESTS_UNIT_CLI_SUM_ENV_H

#include <stdint.h>

#include "bench/env_replay/original.h"
#include "envs/env_open.h"

/* "sum:Plain": state x += action / 2; obs = {x}; reward = action; terminates at x >= 4; cut after 8
 * steps. The action is 1-D from -1 to 1. Option fail_step=N: that step of an episode fails;
 * fail_resets=yes: every reset does. */
extern const aq_env_class sum_env_plain;

/* "sum:Exact": the same with a step and observe of its original in double, and physics of its own;
 * two actions, of which the first counts. */
extern const aq_env_class sum_env_exact;

/* "sum:Closed": the same, but nothing can be put into it. */
extern const aq_env_class sum_env_closed;

/* "sum:Table": two cells, 0 the start. Action 0 stays with reward 0; action 1 goes to cell 1 with
 * reward 5 and ends, or, half of the time, stays with reward -1. */
extern const aq_env_class sum_env_table;

typedef struct sum_env_calls {
    uint64_t begins, ends, steps, physics_starts, physics_steps;
    double actions, physics_actions; /* sums of what was done */
} sum_env_calls;

extern sum_env_calls sum_env_counts;

/* What playback asks of it; NULL for sum:Closed. */
const aq_original *sum_env_original(const aq_env_class *class);

/* Until the test is over. */
aq_env *sum_env_open(const aq_env_class *class, const char *options);

#endif

/*
 * Agents of the tests: made in one call, and what they keep by name.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_AGENT_KIT_H
#define AQ_TESTS_UNIT_LEARNER_AGENT_KIT_H

#include "learner/algorithms/agent.h"
#include "learner/algorithms/value_figures.h"

extern const aq_algorithm_class aq_dqn_class, aq_c51_class, aq_qr_dqn_class;

/* Until the test ends; fails it when it can't be made. */
aq_agent *agent_of(const aq_algorithm_class *class, const aq_run_config *config,
                   const aq_schema *schema, uint64_t seed);

/* As aq_agent_create; the settings' algorithm becomes the one of `class`. */
int agent_try(const aq_algorithm_class *class, const aq_run_config *config, const aq_schema *schema,
              uint64_t seed, aq_agent **ret_agent, aq_error *error) AQ_MUST_USE;

/* Views into the agent; NULL for what it does not keep. */
typedef struct kept_state {
    size_t count, target_count, adam_count;
    float *parameters, *target, *adam_m, *adam_v;
    uint64_t adam_step;
    size_t statistics_count;
    double *statistics;
} kept_state;

kept_state agent_state(aq_agent *agent);

/* Takes up its own state, as if so many steps had been taken. */
void agent_resume_at(aq_agent *agent, uint64_t adam_step);

/* All that an agent keeps, as it was; until the test ends. */
typedef struct kept_copy {
    aq_named_arrays arrays;
    kept_state state; /* views into them */
} kept_copy;

kept_copy agent_copy(aq_agent *agent);
void agent_take_up(aq_agent *agent, const kept_copy *copy);

/* Fails the test unless the agent is as it was, or two keep the same. */
void agent_assert_as(aq_agent *agent, const kept_copy *copy);
void agent_assert_same(aq_agent *a, aq_agent *b);

/* One update, which must succeed. */
aq_update_report agent_train(aq_agent *agent, const aq_batch *batch);

/* What lists of metrics begin with; a table's has no gradients. */
enum {
    METRIC_LOSS = AQ_VALUE_LOSS,
    METRIC_Q_MEAN = AQ_VALUE_MEAN,
    METRIC_GRADIENT_NORM = AQ_VALUE_GRADIENT_NORM,
    METRIC_GRADIENT_CLIPPED = AQ_VALUE_GRADIENT_CLIPPED
};

#endif

/*
 * Agent: an algorithm at work on a task, with everything around it that is the same for all of
 * them. Observations are normalized if the run wants it, an update gets as many rows as it wants,
 * and the state that a checkpoint keeps is one list.
 *
 * Normalized observations are the agent's own business. Rows go in normalized by what was trained
 * on so far, and the policy comes out as one for observations as they are (obs_normalizer.h). So
 * actors, evaluators and exported policies know nothing of it, and what they run is frozen with
 * each version.
 *
 * One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_AGENT_H
#define AQ_LEARNER_ALGORITHMS_AGENT_H

#include "common/policy/snapshot.h"
#include "learner/algorithms/algorithm.h"

typedef struct aq_agent aq_agent;

/* Of `class`, which need not be the one of the settings. AQ_E_UNSUPPORTED, in words, when the
 * settings' algorithm is not for the task, or observations can't be normalized; otherwise as the
 * class's create. */
int aq_agent_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                    aq_agent **ret_agent, aq_error *error) AQ_MUST_USE;
void aq_agent_destroy(aq_agent *agent); /* NULL is fine */

const aq_algorithm_class *aq_agent_class(const aq_agent *agent);

/* The class's, then what an agent tells of any algorithm's rows; lives as long as the agent. */
const aq_metric_list *aq_agent_metrics(const aq_agent *agent);

enum {
    AQ_AGENT_REWARD_SIZE,
    AQ_AGENT_REWARDED,
    AQ_AGENT_ENDED,
    AQ_AGENT_VALUE_FLOOR,
    AQ_AGENT_VALUE_CEILING,
    AQ_AGENT_EXPLORATION,
    /* These the trainer tells. */
    AQ_AGENT_AUDITED,
    AQ_AGENT_AUDIT_DIFFERENT,
    AQ_AGENT_LEVELS_CHANGED,
    AQ_AGENT_RANKS,
    AQ_AGENT_EXCHANGE_BYTES,
    AQ_AGENT_EXCHANGE_MS,
    AQ_AGENT_NOISE_SCALE,
    AQ_AGENT_GRADIENT_COSINE,
    AQ_AGENT_GRADIENTS_DAMPED,
    AQ_AGENT_GRADIENTS_DROPPED,
    AQ_AGENT_GRADIENTS_REFUSED,
    AQ_AGENT_METRICS
};
extern const aq_metric aq_agent_metric_rows[AQ_AGENT_METRICS];

/* The rows of one update, when `group_rows` are there: all of them, or learner.batch_size. */
uint32_t aq_agent_update_rows(const aq_agent *agent, uint32_t group_rows);

/* One update; as the class's train, with a number for each of the agent's metrics. */
int aq_agent_train(aq_agent *agent, const aq_batch *rows, aq_update_report *ret_report) AQ_MUST_USE;

const aq_net_spec *aq_agent_spec(const aq_agent *agent); /* of the policy */

/* The parameters that actors act with, until the next update. Ranks that share networks ask at
 * once; only the first of them gets it. NULL: not here, or a rank is lost. */
const aq_params *aq_agent_policy(aq_agent *agent);

/* ---- where actors compute the gradients (actor.gradients) ----------------------------------- */

/* Parameters that a gradient is of; 0: it learns from rows. */
size_t aq_agent_gradient_values(const aq_agent *agent);

/* One step along a gradient of so many, as aq_agent_train, but for the report's metrics, which are
 * the caller's. */
int aq_agent_follow(aq_agent *agent, const float *gradient,
                    aq_update_report *ret_report) AQ_MUST_USE;

/* Goes on from the parameters that a version gives. AQ_E_SCHEMA when it is of another network. */
int aq_agent_adopt(aq_agent *agent, const aq_snapshot *version) AQ_MUST_USE;

/* ---- what others see ------------------------------------------------------------------------ */

/* As aq_explore_entropy, which is only told on, and aq_explore_mean_rate say of the settings that
 * actors go by now. */
void aq_agent_set_exploration(aq_agent *agent, double entropy, double epsilon);

void aq_agent_set_rates(aq_agent *agent, double learning_rate, double critic_learning_rate);

/* Everything that a checkpoint keeps: views into the agent, of what this rank has of it. */
void aq_agent_arrays(aq_agent *agent, aq_named_arrays *ret_arrays);

/* With which ranks it shares its networks, NULL for none; and of what one of its arrays is then a
 * slice. */
aq_model_group *aq_agent_model(const aq_agent *agent);
aq_slices aq_agent_slices(const aq_agent *agent, const aq_named_array *array);

/* Takes up what a checkpoint kept, whole. AQ_E_INVALID, in words, when it is of another algorithm's
 * or network's making; AQ_E_CORRUPT for numbers that can't be; nothing has changed then. */
int aq_agent_restore(aq_agent *agent, const aq_named_arrays *kept, aq_error *error) AQ_MUST_USE;

#endif

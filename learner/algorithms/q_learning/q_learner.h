/*
 * Q-learner: what dqn and c51 have in common, each of which is a file that says in what it differs.
 * The values of all actions are learned, as numbers or as distributions, from n-step returns and an
 * older copy of the network, which follows it every learner.target_period steps or, with
 * learner.tau, a little each step. A dueling head (Wang et al., 2016), layer normalization and
 * quantization-aware training can be asked for.
 *
 * For boxes of float32 (as they are) or uint8 (divided by 255) and discrete actions.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LEARNER_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LEARNER_H

#include <stdbool.h>

#include "learner/algorithms/algorithm.h"

typedef struct aq_q_learner_kind {
    const aq_algorithm_class *class;
    bool is_distributional;
} aq_q_learner_kind;

/* As aq_algorithm_class.create. */
int aq_q_learner_create(const aq_q_learner_kind *kind, const aq_run_config *config,
                        const aq_schema *schema, uint64_t seed, aq_algorithm **ret_algorithm,
                        aq_error *error) AQ_MUST_USE;

/* Members of the class. */
void aq_q_learner_destroy(aq_algorithm *algorithm);
int aq_q_learner_train(aq_algorithm *algorithm, const aq_batch *batch,
                       aq_train_stats *ret_stats) AQ_MUST_USE;
const aq_net_spec *aq_q_learner_spec(const aq_algorithm *algorithm);
const aq_params *aq_q_learner_policy(const aq_algorithm *algorithm);
void aq_q_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                            double critic_learning_rate);
void aq_q_learner_state(aq_algorithm *algorithm, aq_algorithm_state *ret_state);
void aq_q_learner_restored(aq_algorithm *algorithm, uint64_t adam_step);

#endif

/*
 * C51: in what it differs; the rest is q_learner.c.
 */
#include "learner/algorithms/q_learning/c51.h"

#include "learner/algorithms/q_learning/q_learner.h"

static const aq_q_learner_kind kind = {.class = &aq_c51_class, .is_distributional = true};

static int create(const aq_run_config *config, const aq_schema *schema, uint64_t seed,
                  aq_algorithm **ret_algorithm, aq_error *error)
{
    return aq_q_learner_create(&kind, config, schema, seed, ret_algorithm, error);
}

const aq_algorithm_class aq_c51_class = {
    .name = "c51",
    .summary = "Q-learning of return distributions, for discrete actions",
    .act_rule = AQ_ACT_ARGMAX,
    .create = create,
    .destroy = aq_q_learner_destroy,
    .train = aq_q_learner_train,
    .spec = aq_q_learner_spec,
    .policy = aq_q_learner_policy,
    .set_rates = aq_q_learner_set_rates,
    .state = aq_q_learner_state,
    .restored = aq_q_learner_restored,
};

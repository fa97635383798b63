/*
 * D4PG: in what it differs from the others; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/d4pg.h"

#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .class = &aq_d4pg_class,
    .critics = 1,
    .is_distributional = true,
    .improves_at_next = true,
    .clips_action_slope = true,
};

static int create(const aq_run_config *config, const aq_schema *schema, uint64_t seed,
                  aq_algorithm **ret_algorithm, aq_error *error)
{
    return aq_actor_critic_create(&kind, config, schema, seed, ret_algorithm, error);
}

const aq_algorithm_class aq_d4pg_class = {
    .name = "d4pg",
    .summary = "a policy and a critic of return distributions, for continuous actions",
    .act_rule = AQ_ACT_CONTINUOUS,
    .has_own_threads = true,
    .create = create,
    .destroy = aq_actor_critic_destroy,
    .train = aq_actor_critic_train,
    .spec = aq_actor_critic_spec,
    .policy = aq_actor_critic_policy,
    .set_rates = aq_actor_critic_set_rates,
    .state = aq_actor_critic_state,
    .restored = aq_actor_critic_restored,
};

/*
 * Actor-critic setup: see actor_critic_setup.h.
 */
#include "learner/algorithms/actor_critic/actor_critic_setup.h"

#include <math.h>
#include <string.h>

#include "common/base/exact_math.h"
#include "common/base/rng.h"
#include "learner/algorithms/actor_critic/policy_network.h"
#include "learner/nn/hidden_layers.h"
#include "learner/nn/products.h"

/* The stream of the initial weights, among those of the run's seed: "a-c init". */
#define INIT_STREAM UINT64_C(0x612d6320696e6974)

static float log_temperature(double temperature)
{
    return temperature > 0.0 ? (float)aq_exact_log(temperature) : -INFINITY;
}

static void take_bounds(const aq_space *action, aq_actor_critic_setup *setup)
{
    setup->bounds = action->bound_count;
    for (uint32_t i = 0; i < action->bound_count; i++) {
        setup->middle[i] = 0.5f * action->low[i] + 0.5f * action->high[i];
        setup->half_range[i] = 0.5f * action->high[i] - 0.5f * action->low[i];
    }
}

static void take_settings(const aq_actor_critic_kind *kind, const aq_run_config *config,
                          aq_actor_critic_setup *setup)
{
    setup->kind = kind;
    setup->critics = kind->is_soft && !config->learner.clipped_double_q ? 1 : kind->critics;
    setup->judges = kind->is_soft ? setup->critics : 1;
    if (kind->is_distributional) {
        aq_atoms_init(&setup->atoms, (uint32_t)config->learner.atoms,
                      (float)config->learner.value_min, (float)config->learner.value_max);
    }
    if (kind->clips_action_slope) {
        setup->action_slope_max = (float)config->learner.action_gradient_clip;
    }
    if (kind->is_delayed) {
        setup->target_noise = (float)config->learner.target_noise;
        setup->target_noise_clip = (float)config->learner.target_noise_clip;
    }
    setup->bc_weight = (float)config->learner.bc_weight;
    setup->expectile = (float)config->learner.expectile;
    setup->inverse_temperature = (float)config->learner.inverse_temperature;
    if (kind->is_conservative) {
        setup->conservative_weight = (float)config->learner.conservative_weight;
    }
    if (kind->is_soft) {
        const double fixed = config->learner.temperature;
        setup->learns_temperature = config->learner.learn_temperature;
        setup->log_temperature_min =
            log_temperature(setup->learns_temperature ? config->learner.temperature_min : fixed);
        setup->log_temperature_max = setup->learns_temperature ? INFINITY : log_temperature(fixed);
    }
}

static void take_task(const aq_run_config *config, const aq_schema *schema,
                      aq_actor_critic_setup *setup)
{
    setup->inputs = (uint32_t)aq_space_elements(&schema->obs);
    setup->actions = (uint32_t)aq_space_elements(&schema->action);
    setup->obs_dtype = schema->obs.dtype;
    if (schema->action.kind == AQ_SPACE_DISCRETE) {
        setup->choices = schema->action.choice_count;
        setup->target_entropy = config->learner.target_entropy_share * log(setup->choices);
    } else {
        take_bounds(&schema->action, setup);
        setup->target_entropy = config->learner.target_entropy * setup->actions;
        setup->candidates =
            setup->kind->is_conservative ? 2 * (uint32_t)config->learner.conservative_actions : 0;
    }
}

int aq_actor_critic_setup_init(const aq_algorithm_class *class, const aq_algorithm_setup *from,
                               aq_actor_critic_setup *ret_setup, aq_error *error)
{
    const aq_actor_critic_kind *kind = class->kind;
    const aq_run_config *config = from->config;
    const aq_schema *schema = from->schema;
    aq_split_ranks *ranks = aq_model_group_split(from->model);
    aq_actor_critic_setup setup;
    aq_net_spec policy, critic, value;
    uint32_t outputs = 1;

    memset(&setup, 0, sizeof(setup));
    take_settings(kind, config, &setup);
    int rc = aq_policy_network_spec(config, schema, class, &policy, error);
    if (rc != 0) {
        return rc;
    }
    take_task(config, schema, &setup);
    if (kind->is_distributional) {
        outputs = setup.atoms.count;
    } else if (setup.choices > 0) {
        outputs = setup.choices;
    }
    rc = aq_critic_network_spec(config, schema, outputs, &critic, error);
    if (rc == 0) {
        rc = aq_value_network_spec(config, schema, &value, error);
    }
    if (rc != 0) {
        return rc;
    }
    setup.policy = aq_net_split_of(&policy, ranks);
    setup.critic = aq_net_split_of(&critic, ranks);
    setup.value = aq_net_split_of(&value, ranks);
    setup.seed = from->seed;
    setup.noise_first =
        aq_gradient_exchange_rank(from->exchange) * (uint32_t)config->learner.batch_size;
    setup.quant = aq_fake_quant_of(config, &policy);
    setup.bf16_threads = aq_products_bf16_threads(config, 1);
    *ret_setup = setup;
    return 0;
}

size_t aq_actor_critic_parameters(const aq_actor_critic_setup *setup)
{
    const size_t value = setup->kind->is_implicit ? aq_net_spec_parameters(&setup->value.slice) : 0;

    return aq_net_spec_parameters(&setup->policy.slice) +
           setup->critics * aq_net_spec_parameters(&setup->critic.slice) + value +
           setup->kind->is_soft;
}

aq_actor_critic_nets aq_actor_critic_nets_view(const aq_actor_critic_setup *setup, float *block)
{
    aq_actor_critic_nets nets = {.block = block,
                                 .policy = aq_params_view(&setup->policy.slice, block)};
    float *at = block + nets.policy.count;

    for (uint32_t k = 0; k < setup->critics; k++) {
        nets.critic[k] = aq_params_view(&setup->critic.slice, at);
        at += nets.critic[k].count;
    }
    if (setup->kind->is_implicit) {
        nets.value = aq_params_view(&setup->value.slice, at);
        at += nets.value.count;
    }
    nets.log_temperature = setup->kind->is_soft ? at : NULL;
    return nets;
}

int aq_actor_critic_nets_begin(const aq_actor_critic_setup *setup, const aq_run_config *config,
                               aq_actor_critic_nets *nets, aq_error *error)
{
    aq_rng rng;

    aq_rng_init(&rng, setup->seed, INIT_STREAM);
    int rc = aq_net_split_randomize(&setup->policy, &nets->policy, &rng);
    aq_last_layer_begin(&setup->policy.slice, &nets->policy);
    for (uint32_t k = 0; rc == 0 && k < setup->critics; k++) {
        rc = aq_net_split_randomize(&setup->critic, &nets->critic[k], &rng);
        if (setup->kind->begins_near_zero) {
            aq_last_layer_begin(&setup->critic.slice, &nets->critic[k]);
            aq_atoms_begin(&setup->atoms,
                           nets->critic[k].bias[setup->critic.slice.layer_count - 1]);
        }
    }
    if (rc == 0 && setup->kind->is_implicit) {
        rc = aq_net_split_randomize(&setup->value, &nets->value, &rng);
    }
    if (setup->kind->is_soft) {
        *nets->log_temperature = log_temperature(config->learner.temperature);
        aq_actor_critic_hold_temperature(setup, nets);
    }
    return rc == 0 ? 0 : aq_fail(error, rc, "no memory to begin a policy and its critics");
}

void aq_actor_critic_hold_temperature(const aq_actor_critic_setup *setup,
                                      const aq_actor_critic_nets *nets)
{
    float *at = nets->log_temperature;
    if (at != NULL) {
        *at = fminf(fmaxf(*at, setup->log_temperature_min), setup->log_temperature_max);
    }
}

aq_slices aq_actor_critic_setup_slices(const aq_actor_critic_setup *setup, const char *array)
{
    const bool is_followed_only = setup->kind->is_soft && strcmp(array, "target") == 0;
    aq_slices slices = {.rest = setup->kind->is_soft && !is_followed_only ? 1 : 0};

    if (!is_followed_only) {
        slices.nets[slices.count++] = &setup->policy;
    }
    for (uint32_t k = 0; k < setup->critics; k++) {
        slices.nets[slices.count++] = &setup->critic;
    }
    if (setup->kind->is_implicit) {
        slices.nets[slices.count++] = &setup->value;
    }
    return slices;
}

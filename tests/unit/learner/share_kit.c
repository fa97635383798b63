/*
 * See share_kit.h.
 */
#include "tests/unit/learner/share_kit.h"

#include "common/base/parse.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

enum { ROWS = SHARE_KIT_ROWS };

aq_schema share_kit_schema(bool has_choices)
{
    const float low[] = {-1, -1, -1}, high[] = {1, 1, 1};
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, SHARE_KIT_INPUTS, low, high);
    aq_space_init_box(&schema.action, SHARE_KIT_ACTIONS, low, high);
    if (has_choices) {
        aq_space_init_discrete(&schema.action, SHARE_KIT_CHOICES);
    }
    return schema;
}

aq_run_config share_kit_config(enum aq_algorithm algorithm)
{
    aq_run_config config = config_defaults();
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "7"), 0);
    assert_int_equal(aq_text_set(config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    config.learner.activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.critic_activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.algorithm = algorithm;
    config.learner.inverse_temperature = 0.7;
    config.learner.target_noise = 0;
    return config;
}

TEST_ENDING(share_destroy, aq_actor_critic_share_destroy);

void share_kit_make(share_kit *kit, const aq_run_config *config, bool has_choices)
{
    const aq_schema schema = share_kit_schema(has_choices);
    const aq_algorithm_setup from = {.config = config, .schema = &schema, .seed = 5};
    aq_rng rng = rng_of(3, 0);
    assert_succeeds(aq_actor_critic_setup_init(aq_algorithm_at(config->learner.algorithm), &from,
                                               &kit->setup, &refusal));
    const size_t count = aq_actor_critic_parameters(&kit->setup);
    float *block = aq_alloc(2 * count, sizeof(*block));
    assert_non_null(block);
    at_end(aq_free, block);
    fill_normal(block, 2 * count, 0.6, &rng);
    kit->online = aq_actor_critic_nets_view(&kit->setup, block);
    kit->target = aq_actor_critic_nets_view(&kit->setup, block + count);
    kit->batch = fixture_batch(&schema, ROWS);
    kit->value_scale = 1.0f;
    fixture_randomize(kit->batch, SHARE_KIT_CHOICES, &rng);
    if (!has_choices) {
        fill_normal((float *)(void *)kit->batch->action, (size_t)ROWS * SHARE_KIT_ACTIONS, 0.3,
                    &rng);
    }
    if (kit->setup.kind->is_soft) {
        kit->target.policy = kit->online.policy;
    }
    assert_succeeds(aq_actor_critic_share_create(&kit->setup, ROWS, &kit->share, &refusal));
    at_end(share_destroy, kit->share);
}

aq_actor_critic_sums share_kit_train(const share_kit *kit, float temperature)
{
    const aq_actor_critic_work work = {
        .batch = kit->batch,
        .online = &kit->online,
        .target = &kit->target,
        .improves_policy = true,
        .temperature = temperature,
        .value_scale = kit->value_scale,
        .step = 9,
    };
    aq_actor_critic_share_train(kit->share, &work, 0, ROWS);
    if (kit->setup.kind->clones) {
        aq_actor_critic_share_improve(kit->share, &work, 0, ROWS);
    }
    aq_actor_critic_sums sums = {0};
    aq_actor_critic_share_add_sums(kit->share, &sums);
    return sums;
}

/* The mean loss that the parameter counts in: the policy's, or the critics', in whose target the
 * policy stands still. */
static double loss_with(const share_kit *kit, size_t parameter, float value)
{
    const float kept = kit->online.block[parameter];
    kit->online.block[parameter] = value;
    const aq_actor_critic_sums sums = share_kit_train(kit, 0.4f);
    kit->online.block[parameter] = kept;
    const double cloning =
        kit->setup.kind->clones ? (double)kit->setup.bc_weight * sums.distance : 0.0;
    const double policy = cloning - (double)kit->value_scale * sums.policy_value;
    return (parameter < kit->online.policy.count ? policy : sums.loss) / ROWS;
}

/* Advantages and targets are constants to what is learned from them; so a state's value has two
 * gradients in a finite difference, of which the loss has one. Those parameters are left out: the
 * steps of PyTorch have them. So is the temperature. */
static size_t compared(const share_kit *kit)
{
    const size_t count = aq_actor_critic_parameters(&kit->setup) - kit->setup.kind->is_soft;
    return count - (kit->setup.kind->is_implicit ? kit->online.value.count : 0);
}

void share_kit_check_gradients(share_kit *kit)
{
    const float step = 4e-3f;
    const aq_actor_critic_sums sums = share_kit_train(kit, 0.4f);
    kit->value_scale = kit->setup.kind->clones ? (float)(ROWS / sums.own_size) : 1.0f;
    (void)share_kit_train(kit, 0.4f);
    const size_t count = compared(kit);
    float *gradient = aq_alloc(count, sizeof(*gradient));
    assert_non_null(gradient);
    memcpy(gradient, aq_actor_critic_share_gradient(kit->share), count * sizeof(*gradient));
    for (size_t i = 0; i < count; i++) {
        const float at = kit->online.block[i];
        const double slope =
            (loss_with(kit, i, at + step) - loss_with(kit, i, at - step)) / (2.0 * (double)step);
        if (!(fabs(slope - (double)gradient[i]) <= 1e-3 + 5e-3 * fabs(slope))) {
            fail_msg("parameter %d: %g, not %g", (int)i, (double)gradient[i], slope);
        }
    }
    aq_free(gradient);
}

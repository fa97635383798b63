/*
 * What is td3_bc's, iql's and cql's own: gradients of their losses against finite differences, and
 * small data sets of which it is known what is to be learned. What they have in common with others
 * is in test_actor_critic.c.
 */
#include "common/base/exact_math.h"
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "learner/algorithms/actor_critic/actor_critic_share.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 3, ACTIONS = 2, CHOICES = 4, ROWS = 6 };

/* The branches of the losses. */
static const struct branch {
    enum aq_algorithm algorithm;
    bool has_choices;
} branches[] = {{AQ_ALGORITHM_TD3_BC, false},
                {AQ_ALGORITHM_IQL, false},
                {AQ_ALGORITHM_IQL, true},
                {AQ_ALGORITHM_CQL, false},
                {AQ_ALGORITHM_CQL, true}};

typedef struct stand {
    aq_actor_critic_setup setup;
    aq_actor_critic_share *share;
    aq_actor_critic_nets online, target;
    aq_batch *batch;
    float value_scale;
} stand;

static void share_destroy(void *share)
{
    aq_actor_critic_share_destroy(share);
}

static void fill(float *out, size_t count, double scale, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)(scale * aq_rng_normal(rng));
    }
}

static aq_schema schema_of(bool has_choices)
{
    const float low[] = {-1, -1, -1}, high[] = {1, 1, 1};
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, INPUTS, low, high);
    aq_space_init_box(&schema.action, ACTIONS, low, high);
    if (has_choices) {
        aq_space_init_discrete(&schema.action, CHOICES);
    }
    return schema;
}

static aq_run_config config_of(enum aq_algorithm algorithm)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "7"), 0);
    assert_int_equal(aq_text_set(config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    config.learner.activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.critic_activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.algorithm = algorithm;
    config.learner.inverse_temperature = 0.7;
    config.learner.target_noise = 0;
    return config;
}

/* Networks whose parameters are all of a size that matters, and a batch. */
static void make(stand *s, const struct branch *of)
{
    const aq_run_config config = config_of(of->algorithm);
    const aq_schema schema = schema_of(of->has_choices);
    const aq_algorithm_setup from = {.config = &config, .schema = &schema, .seed = 5};
    aq_rng rng = rng_of(3, 0);
    assert_succeeds(
        aq_actor_critic_setup_init(aq_algorithm_at(of->algorithm), &from, &s->setup, &refusal));
    const size_t count = aq_actor_critic_parameters(&s->setup);
    float *block = aq_alloc(2 * count, sizeof(*block));
    assert_non_null(block);
    at_end(aq_free, block);
    fill(block, 2 * count, 0.6, &rng);
    s->online = aq_actor_critic_nets_view(&s->setup, block);
    s->target = aq_actor_critic_nets_view(&s->setup, block + count);
    s->batch = fixture_batch(&schema, ROWS);
    s->value_scale = 1.0f;
    fixture_randomize(s->batch, CHOICES, &rng);
    if (!of->has_choices) {
        fill((float *)(void *)s->batch->action, (size_t)ROWS * ACTIONS, 0.3, &rng);
    }
    if (s->setup.kind->is_soft) {
        s->target.policy = s->online.policy;
    }
    assert_succeeds(aq_actor_critic_share_create(&s->setup, ROWS, &s->share, &refusal));
    at_end(share_destroy, s->share);
}

static aq_actor_critic_sums sums_of(const stand *s)
{
    const aq_actor_critic_work work = {
        .batch = s->batch,
        .online = &s->online,
        .target = &s->target,
        .improves_policy = true,
        .temperature = 0.4f,
        .value_scale = s->value_scale,
        .step = 9,
    };
    aq_actor_critic_share_train(s->share, &work, 0, ROWS);
    if (s->setup.kind->clones) {
        aq_actor_critic_share_improve(s->share, &work, 0, ROWS);
    }
    aq_actor_critic_sums sums = {0};
    aq_actor_critic_share_add_sums(s->share, &sums);
    return sums;
}

/* The mean loss that the parameter counts in. */
static double loss_with(const stand *s, size_t parameter, float value)
{
    const float kept = s->online.block[parameter];
    s->online.block[parameter] = value;
    const aq_actor_critic_sums sums = sums_of(s);
    s->online.block[parameter] = kept;
    const double cloning = s->setup.kind->clones ? (double)s->setup.bc_weight * sums.distance : 0.0;
    const double policy = cloning - (double)s->value_scale * sums.policy_value;
    return (parameter < s->online.policy.count ? policy : sums.loss) / ROWS;
}

/* Advantages and targets are constants to what is learned from them; so a state's value has two
 * gradients in a finite difference, of which the loss has one. Those parameters are left out: the
 * steps of PyTorch have them. */
static size_t compared(const stand *s)
{
    const size_t count = aq_actor_critic_parameters(&s->setup) - s->setup.kind->is_soft;
    return count - (s->setup.kind->is_implicit ? s->online.value.count : 0);
}

TEST(gradients_agree_with_finite_differences_in_each_branch)
{
    EACH_ROW(b, branches) {
        static stand s;
        const float step = 4e-3f;
        make(&s, &branches[b]);
        const aq_actor_critic_sums sums = sums_of(&s);
        s.value_scale = s.setup.kind->clones ? (float)(ROWS / sums.own_size) : 1.0f;
        (void)sums_of(&s);
        const size_t count = compared(&s);
        float *gradient = aq_alloc(count, sizeof(*gradient));
        assert_non_null(gradient);
        memcpy(gradient, aq_actor_critic_share_gradient(s.share), count * sizeof(*gradient));
        for (size_t i = 0; i < count; i++) {
            const float at = s.online.block[i];
            const double slope =
                (loss_with(&s, i, at + step) - loss_with(&s, i, at - step)) / (2.0 * (double)step);
            if (!(fabs(slope - (double)gradient[i]) <= 1e-3 + 5e-3 * fabs(slope))) {
                fail_msg("branch %d, parameter %d: %g, not %g", (int)b, (int)i, (double)gradient[i],
                         slope);
            }
        }
        aq_free(gradient);
    }
}

/* ---- known answers -------------------------------------------------------------------------- */

enum { BATCH = 64 };

/* One step; choice 3 is never done. The critics of an online algorithm guess what it is worth. */
static const float rewards[CHOICES] = {0.1f, 0.9f, 0.2f, 0.0f};

static void fill_bandit(aq_batch *batch, aq_rng *rng)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        const uint64_t choice = aq_rng_below(rng, CHOICES - 1);
        for (uint32_t k = 0; k < INPUTS; k++) {
            fixture_obs(batch)[i * INPUTS + k] = k == 0 ? 1.0f : 0.0f;
            fixture_next_obs(batch)[i * INPUTS + k] = 0.0f;
        }
        fixture_set_action(batch, i, (int32_t)choice);
        batch->reward[i] = rewards[choice];
        batch->bootstrap[i] = 0.0f;
        batch->weight[i] = 1.0f;
    }
}

/* Logits of the policy that learns from these. */
static void learn_bandit(aq_run_config *config, uint64_t seed, float ret_logits[CHOICES])
{
    const aq_schema schema = schema_of(true);
    const float obs[INPUTS] = {1.0f};
    float scratch[2 * 64];
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    config->learner.batch_size = BATCH;
    config->learner.learning_rate = 5e-3;
    aq_agent *agent = agent_of(aq_algorithm_at(config->learner.algorithm), config, &schema, seed);
    aq_batch *batch = fixture_batch(&schema, BATCH);
    aq_rng rng = rng_of(seed, 1);
    for (int step = 0; step < 600; step++) {
        fill_bandit(batch, &rng);
        (void)agent_train(agent, batch);
    }
    aq_forward_reference(aq_agent_spec(agent), aq_agent_policy(agent), obs, 1, scratch, ret_logits);
}

TEST(the_better_of_what_was_done_is_imitated_and_nothing_else)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        aq_run_config config = config_of(AQ_ALGORITHM_IQL);
        float logits[CHOICES];
        config.learner.inverse_temperature = 10;
        learn_bandit(&config, seed, logits);
        const double total = aq_exact_log_sum_exp(logits, CHOICES);
        assert_true(aq_exact_exp((double)logits[1] - total) > 0.9);
        assert_true(aq_exact_exp((double)logits[3] - total) < 0.01);
    }
}

/* Without an inverse temperature all that was done is imitated alike. */
TEST(iql_clones_where_advantages_do_not_count)
{
    aq_run_config config = config_of(AQ_ALGORITHM_IQL);
    float logits[CHOICES];
    config.learner.inverse_temperature = 0;
    learn_bandit(&config, 1, logits);
    const double total = aq_exact_log_sum_exp(logits, CHOICES);
    for (size_t i = 0; i + 1 < CHOICES; i++) {
        assert_near(aq_exact_exp((double)logits[i] - total), 1.0 / 3, 0.05);
    }
}

TEST(what_was_never_done_is_not_preferred_by_conservative_values)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        aq_run_config config = config_of(AQ_ALGORITHM_CQL);
        float logits[CHOICES];
        config.learner.temperature = 0.05;
        config.learner.learn_temperature = false;
        learn_bandit(&config, seed, logits);
        assert_int_equal(aq_argmax(logits, CHOICES), 1);
        assert_true(logits[3] < logits[1] - 3.0f);
    }
}

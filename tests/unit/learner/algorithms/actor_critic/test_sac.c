/*
 * What is sac's own: its losses' gradients against finite differences, and small problems whose
 * answers are known. What it has in common with others is in test_actor_critic.c.
 */
#include "common/base/exact_math.h"
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "learner/algorithms/actor_critic/actor_critic_share.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

extern const aq_algorithm_class aq_sac_class;

enum { INPUTS = 3, ACTIONS = 2, CHOICES = 4, ROWS = 6 };

/* The branches of the losses. */
static const struct branch {
    bool has_choices, clips;
} branches[] = {{false, true}, {false, false}, {true, true}, {true, false}};

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_actor_critic_setup setup;
    aq_actor_critic_share *share;
    aq_actor_critic_nets online, target;
    aq_batch *batch;
} stand;

static void fill(float *out, size_t count, double scale, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)(scale * aq_rng_normal(rng));
    }
}

static aq_schema make_schema(bool has_choices)
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

static aq_run_config make_config(void)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "7"), 0);
    assert_int_equal(aq_text_set(config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    config.learner.activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.critic_activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
    config.learner.algorithm = AQ_ALGORITHM_SAC;
    return config;
}

static void share_destroy(void *share)
{
    aq_actor_critic_share_destroy(share);
}

/* Networks whose parameters are all of a size that matters, and a batch. */
static stand make(const struct branch *of)
{
    stand s = {.config = make_config(), .schema = make_schema(of->has_choices)};
    aq_rng rng = rng_of(3, 0);
    s.config.learner.clipped_double_q = of->clips;
    const aq_algorithm_setup from = {.config = &s.config, .schema = &s.schema, .seed = 5};
    assert_succeeds(aq_actor_critic_setup_init(&aq_sac_class, &from, &s.setup, &refusal));
    const size_t count = aq_actor_critic_parameters(&s.setup);
    float *block = aq_alloc(2 * count, sizeof(*block));
    assert_non_null(block);
    at_end(aq_free, block);
    fill(block, 2 * count, 0.6, &rng);
    s.online = aq_actor_critic_nets_view(&s.setup, block);
    s.target = aq_actor_critic_nets_view(&s.setup, block + count);
    s.target.policy = s.online.policy;
    s.batch = fixture_batch(&s.schema, ROWS);
    fixture_randomize(s.batch, CHOICES, &rng);
    if (!of->has_choices) {
        fill((float *)(void *)s.batch->action, (size_t)ROWS * ACTIONS, 0.3, &rng);
    }
    return s;
}

/* The share points to the setup, so it is made where that stays. */
static void make_share(stand *s)
{
    assert_succeeds(aq_actor_critic_share_create(&s->setup, ROWS, &s->share, &refusal));
    at_end(share_destroy, s->share);
}

static aq_actor_critic_sums sums_at(const stand *s, float temperature)
{
    const aq_actor_critic_work work = {
        .batch = s->batch,
        .online = &s->online,
        .target = &s->target,
        .improves_policy = true,
        .temperature = temperature,
        .value_scale = 1.0f,
        .step = 9,
    };
    aq_actor_critic_share_train(s->share, &work, 0, ROWS);
    aq_actor_critic_sums sums = {0};
    aq_actor_critic_share_add_sums(s->share, &sums);
    return sums;
}

/* The mean loss that the parameter counts in: the policy's, or the critics', in whose target the
 * policy stands still. */
static double loss_with(const stand *s, size_t parameter, float value)
{
    const float kept = s->online.block[parameter];
    s->online.block[parameter] = value;
    const aq_actor_critic_sums sums = sums_at(s, 0.4f);
    s->online.block[parameter] = kept;
    return (parameter < s->online.policy.count ? -sums.policy_value : sums.loss) / ROWS;
}

TEST(gradients_agree_with_finite_differences_in_each_branch)
{
    EACH_ROW(b, branches) {
        static stand s;
        const float step = 4e-3f;
        s = make(&branches[b]);
        make_share(&s);
        const size_t count = aq_actor_critic_parameters(&s.setup) - 1;
        (void)sums_at(&s, 0.4f);
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

TEST(the_temperature_falls_where_entropy_is_beyond_its_target)
{
    EACH_ROW(b, branches) {
        static stand s;
        s = make(&branches[b]);
        make_share(&s);
        const aq_actor_critic_sums sums = sums_at(&s, 0.4f);
        const float *gradient = aq_actor_critic_share_gradient(s.share);
        const double beyond = sums.entropy / ROWS - s.setup.target_entropy;
        assert_near(gradient[aq_actor_critic_parameters(&s.setup) - 1], beyond, 1e-5);
    }
}

/* A bias of a logarithm of a deviation may grow where all are held to the least. */
TEST(deviations_that_are_held_find_back)
{
    const float temperatures[] = {1e-4f, 100.0f};
    static stand s;
    s = make(&branches[0]);
    make_share(&s);
    const size_t first_bias = s.online.policy.count - ACTIONS;
    for (size_t i = 0; i < ACTIONS; i++) {
        s.online.block[first_bias + i] = -40.0f;
    }
    EACH_ROW(t, temperatures) {
        (void)sums_at(&s, temperatures[t]);
        for (size_t i = 0; i < ACTIONS; i++) {
            const float slope = aq_actor_critic_share_gradient(s.share)[first_bias + i];
            assert_true(slope <= 0.0f);
            assert_true(t == 0 || slope < -10.0f);
        }
    }
}

/* ---- known answers -------------------------------------------------------------------------- */

enum { BATCH = 64, STATES = 3 };

static const float rewards[STATES][CHOICES] = {
    {0.0f, 0.5f, 1.0f, 0.2f}, {0.9f, 0.9f, -1.0f, 0.0f}, {0.1f, 0.1f, 0.1f, 0.1f}};

/* One step from a state that is told one-hot, with the choice's reward. */
static void fill_bandit(aq_batch *batch, aq_rng *rng)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        const uint64_t state = aq_rng_below(rng, STATES), choice = aq_rng_below(rng, CHOICES);
        for (uint32_t k = 0; k < STATES; k++) {
            fixture_obs(batch)[i * STATES + k] = k == state ? 1.0f : 0.0f;
            fixture_next_obs(batch)[i * STATES + k] = 0.0f;
        }
        fixture_set_action(batch, i, (int32_t)choice);
        batch->reward[i] = rewards[state][choice];
        batch->bootstrap[i] = 0.0f;
        batch->weight[i] = 1.0f;
    }
}

static aq_agent *train_bandit(aq_run_config *config, uint64_t seed, int steps,
                              aq_update_report *ret_report)
{
    const aq_schema schema = make_schema(true);
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    assert_int_equal(aq_text_set(config->learner.critic_hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    config->learner.batch_size = BATCH;
    config->learner.learning_rate = 2e-3;
    aq_agent *agent = agent_of(&aq_sac_class, config, &schema, seed);
    aq_batch *batch = fixture_batch(&schema, BATCH);
    aq_rng rng = rng_of(seed, 1);
    for (int step = 0; step < steps; step++) {
        fill_bandit(batch, &rng);
        *ret_report = agent_train(agent, batch);
    }
    return agent;
}

/* With a temperature, what is best to do is softmax(rewards / temperature). */
TEST(choices_come_to_have_the_probabilities_that_a_temperature_makes_best)
{
    const double temperature = 0.5;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        aq_run_config config = make_config();
        aq_update_report report;
        config.learner.temperature = temperature;
        config.learner.learn_temperature = false;
        aq_agent *agent = train_bandit(&config, seed, 2500, &report);
        assert_near(report.metrics[AQ_SOFT_TEMPERATURE], temperature, 1e-6);
        for (uint32_t at = 0; at < STATES; at++) {
            float obs[STATES] = {0}, best[CHOICES], out[CHOICES], scratch[2 * 64];
            obs[at] = 1.0f;
            aq_forward_reference(aq_agent_spec(agent), aq_agent_policy(agent), obs, 1, scratch,
                                 out);
            for (uint32_t i = 0; i < CHOICES; i++) {
                best[i] = rewards[at][i] / (float)temperature;
            }
            for (uint32_t i = 0; i < CHOICES; i++) {
                const double p = exp((double)out[i] - aq_exact_log_sum_exp(out, CHOICES));
                const double want = exp((double)best[i] - aq_exact_log_sum_exp(best, CHOICES));
                assert_near(p, want, 0.05);
            }
        }
    }
}

TEST(entropy_comes_to_where_it_is_aimed_at)
{
    const double shares[] = {0.6, 0.8}; /* of equal rewards more than a half stays */
    EACH_ROW(i, shares) {
        aq_run_config config = make_config();
        aq_update_report report;
        config.learner.target_entropy_share = shares[i];
        config.learner.temperature = 0.2;
        (void)train_bandit(&config, 1, 3000, &report);
        assert_near(report.metrics[AQ_SOFT_ENTROPY], shares[i] * log(CHOICES), 0.1);
    }
}

/*
 * What is sac's and dsac's own: their losses' gradients against finite differences, and small
 * problems whose answers are known. What it has in common with others is in test_actor_critic.c.
 */
#include "common/base/exact_math.h"
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "tests/support/test.h"
#include "tests/unit/learner/share_kit.h"

enum { ACTIONS = SHARE_KIT_ACTIONS, CHOICES = SHARE_KIT_CHOICES };

/* The branches of the losses. */
static const struct branch {
    enum aq_algorithm algorithm;
    bool has_choices, clips;
} branches[] = {{AQ_ALGORITHM_SAC, false, true},
                {AQ_ALGORITHM_SAC, false, false},
                {AQ_ALGORITHM_SAC, true, true},
                {AQ_ALGORITHM_SAC, true, false},
                {AQ_ALGORITHM_DSAC, false, true}};

static void make(share_kit *kit, const struct branch *of)
{
    aq_run_config config = share_kit_config(of->algorithm);
    config.learner.clipped_double_q = of->clips;
    config.learner.atoms = 7;
    config.learner.value_min = -3;
    config.learner.value_max = 5;
    share_kit_make(kit, &config, of->has_choices);
}

TEST(gradients_agree_with_finite_differences_in_each_branch)
{
    EACH_ROW(b, branches) {
        static share_kit kit;
        make(&kit, &branches[b]);
        share_kit_check_gradients(&kit);
    }
}

TEST(the_temperature_falls_where_entropy_is_beyond_its_target)
{
    EACH_ROW(b, branches) {
        static share_kit kit;
        make(&kit, &branches[b]);
        const aq_actor_critic_sums sums = share_kit_train(&kit, 0.4f);
        const float *gradient = aq_actor_critic_share_gradient(kit.share);
        const double beyond = sums.entropy / SHARE_KIT_ROWS - kit.setup.target_entropy;
        assert_near(gradient[aq_actor_critic_parameters(&kit.setup) - 1], beyond, 1e-5);
    }
}

/* A bias of a logarithm of a deviation may grow where all are held to the least. */
TEST(deviations_that_are_held_find_back)
{
    const float temperatures[] = {1e-4f, 100.0f};
    static share_kit kit;
    make(&kit, &branches[0]);
    const size_t first_bias = kit.online.policy.count - ACTIONS;
    for (size_t i = 0; i < ACTIONS; i++) {
        kit.online.block[first_bias + i] = -40.0f;
    }
    EACH_ROW(t, temperatures) {
        (void)share_kit_train(&kit, temperatures[t]);
        for (size_t i = 0; i < ACTIONS; i++) {
            const float slope = aq_actor_critic_share_gradient(kit.share)[first_bias + i];
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
    const aq_schema schema = share_kit_schema(true);
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    assert_int_equal(aq_text_set(config->learner.critic_hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    config->learner.batch_size = BATCH;
    config->learner.learning_rate = 2e-3;
    aq_agent *agent = agent_of(aq_algorithm_at(AQ_ALGORITHM_SAC), config, &schema, seed);
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
    for (uint64_t seed = 1; seed <= test_rounds(3); seed++) {
        aq_run_config config = share_kit_config(AQ_ALGORITHM_SAC);
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
        aq_run_config config = share_kit_config(AQ_ALGORITHM_SAC);
        aq_update_report report;
        config.learner.target_entropy_share = shares[i];
        config.learner.temperature = 0.2;
        (void)train_bandit(&config, 1, 3000, &report);
        assert_near(report.metrics[AQ_SOFT_ENTROPY], shares[i] * log(CHOICES), 0.1);
    }
}

/* Any entropy is more than is aimed at, so the temperature falls for ever. */
TEST(a_temperature_falls_to_its_least_and_not_below)
{
    const double least[] = {0, 0.15, 0.3};
    double found[3];
    EACH_ROW(i, least) {
        aq_run_config config = share_kit_config(AQ_ALGORITHM_SAC);
        aq_update_report report;
        config.learner.target_entropy_share = 0;
        config.learner.temperature = 0.2;
        config.learner.temperature_min = least[i];
        (void)train_bandit(&config, 1, 300, &report);
        found[i] = report.metrics[AQ_SOFT_TEMPERATURE];
    }
    assert_true(found[0] < 0.14);
    assert_near(found[1], 0.15, 1e-6);
    assert_near(found[2], 0.3, 1e-6); /* also where it begins below */
}

/* The checkpoint has the one of before. */
TEST(a_temperature_that_is_not_learned_is_the_settings_after_a_resume_too)
{
    static const bool learned[] = {false, true};
    EACH_ROW(i, learned) {
        aq_run_config config = share_kit_config(AQ_ALGORITHM_SAC);
        const aq_schema schema = share_kit_schema(true);
        aq_update_report report;
        aq_named_arrays kept;
        config.learner.learn_temperature = learned[i];
        config.learner.temperature = 0.5;
        aq_agent_arrays(train_bandit(&config, 1, 1, &report), &kept);
        config.learner.temperature = 0.25;
        aq_agent *agent = agent_of(aq_algorithm_at(AQ_ALGORITHM_SAC), &config, &schema, 2);
        assert_succeeds(aq_agent_restore(agent, &kept, &refusal));
        aq_batch *batch = fixture_batch(&schema, BATCH);
        aq_rng rng = rng_of(1, 2);
        fill_bandit(batch, &rng);
        report = agent_train(agent, batch);
        assert_near(report.metrics[AQ_SOFT_TEMPERATURE], learned[i] ? 0.5 : 0.25,
                    learned[i] ? 0.01 : 1e-6);
    }
}

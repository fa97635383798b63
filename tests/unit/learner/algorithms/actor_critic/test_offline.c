/*
 * What is td3_bc's, iql's and cql's own: gradients of their losses against finite differences, and
 * small data sets of which it is known what is to be learned. What they have in common with others
 * is in test_actor_critic.c.
 */
#include "common/base/exact_math.h"
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "tests/support/test.h"
#include "tests/unit/learner/share_kit.h"

enum { INPUTS = SHARE_KIT_INPUTS, CHOICES = SHARE_KIT_CHOICES };

/* The branches of the losses. */
static const struct branch {
    enum aq_algorithm algorithm;
    bool has_choices;
} branches[] = {{AQ_ALGORITHM_TD3_BC, false},
                {AQ_ALGORITHM_IQL, false},
                {AQ_ALGORITHM_IQL, true},
                {AQ_ALGORITHM_CQL, false},
                {AQ_ALGORITHM_CQL, true}};

TEST(gradients_agree_with_finite_differences_in_each_branch)
{
    EACH_ROW(b, branches) {
        static share_kit kit;
        const aq_run_config config = share_kit_config(branches[b].algorithm);
        share_kit_make(&kit, &config, branches[b].has_choices);
        share_kit_check_gradients(&kit);
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
    const aq_schema schema = share_kit_schema(true);
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
    for (uint64_t seed = 1; seed <= test_rounds(3); seed++) {
        aq_run_config config = share_kit_config(AQ_ALGORITHM_IQL);
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
    aq_run_config config = share_kit_config(AQ_ALGORITHM_IQL);
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
    for (uint64_t seed = 1; seed <= test_rounds(3); seed++) {
        aq_run_config config = share_kit_config(AQ_ALGORITHM_CQL);
        float logits[CHOICES];
        config.learner.temperature = 0.05;
        config.learner.learn_temperature = false;
        learn_bandit(&config, seed, logits);
        assert_int_equal(aq_argmax(logits, CHOICES), 1);
        assert_true(logits[3] < logits[1] - 3.0f);
    }
}

/* What a run without it is compared by. */
TEST(the_gap_is_told_whatever_it_counts)
{
    const aq_schema schema = share_kit_schema(true);
    aq_run_config config = share_kit_config(AQ_ALGORITHM_CQL);
    aq_batch *batch = fixture_batch(&schema, BATCH);
    aq_rng rng = rng_of(1, 1);
    double gaps[2];
    config.learner.batch_size = BATCH;
    fill_bandit(batch, &rng);
    EACH_ROW(i, gaps) {
        config.learner.conservative_weight = (double)i;
        aq_agent *agent = agent_of(aq_algorithm_at(AQ_ALGORITHM_CQL), &config, &schema, 1);
        gaps[i] = agent_train(agent, batch).metrics[AQ_VALUE_GAP];
    }
    assert_true(gaps[0] > 0 && gaps[0] == gaps[1]);
}

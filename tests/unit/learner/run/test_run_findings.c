/*
 * Why a run does not learn, in words: a run that goes well has no findings, and what is wrong has
 * its own, with a setting that can be set.
 */
#include "common/config/run_rules.h"
#include "learner/run/run_findings.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

static aq_run_config default_config(void)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    config.learner.algorithm = AQ_ALGORITHM_DQN; /* a run has one */
    return config;
}

/* A run of DQN at its limit that learned all that it could. */
static aq_learning_facts good_facts(const aq_run_config *config)
{
    aq_learning_facts facts;
    aq_learning_facts_init(&facts, config);
    facts.state = AQ_RUN_BUDGET;
    facts.env_steps = facts.own_steps = 500000;
    facts.learner_steps = 250000;
    facts.wall_s = 60;
    facts.versions = 2500;
    facts.fallbacks = 50;
    facts.q_least = -5;
    facts.q_greatest = 104;
    facts.reward_size = 3;
    facts.value_floor = 1;
    facts.value_ceiling = 100;
    facts.rewarded_share = 1;
    facts.ended_share = 0.05;
    facts.levels_changed = 0.3;
    facts.step_kl = 0.01;
    return facts;
}

static aq_findings findings_of(const aq_learning_facts *facts)
{
    aq_findings findings;
    aq_findings_of(facts, &findings);
    return findings;
}

TEST(a_run_that_goes_well_has_none)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    assert_int_equal(findings_of(&facts).count, 0);
    facts.state = AQ_RUN_RUNNING;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(a_run_that_has_just_begun_has_none)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts;
    aq_learning_facts_init(&facts, &config);
    facts.state = AQ_RUN_RUNNING;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.env_steps = 49000; /* of 500,000 */
    facts.versions = 1;
    assert_int_equal(findings_of(&facts).count, 0);
}

/* One fact that is otherwise, and what is said of it. */
typedef struct row {
    const char *change; /* a setting; NULL: none */
    size_t fact;        /* where it is in the facts */
    double value;
    const char *words, *setting;
} row;

#define FACT(name) offsetof(aq_learning_facts, name)

static const row rows[] = {
    {NULL, FACT(q_greatest), 3944, "values of up to 3.94e+03", "learner.tau=0.005"},
    {NULL, FACT(q_least), -3944, "can be worth no more than 100", "learner.tau=0.005"},
    {"learner.tau=0.01", FACT(q_greatest), 3944, "values of up to", "learner.learning_rate=0.0005"},
    {"learner.value_max=50", FACT(mass_above), 0.7, "70 % of the targets lie above",
     "learner.value_max=100"},
    {"learner.value_min=0", FACT(mass_below), 0.3, "30 % of the targets lie below",
     "learner.value_min=-170"},
    {NULL, FACT(actions_saturated), 0.99, "99 % of the policy's actions are at a bound",
     "learner.learning_rate=0.0002"},
    {NULL, FACT(rewarded_share), 0, "no reward was seen in 500.0k", "actor.epsilon_alpha=1"},
    {NULL, FACT(reward_size), 300, "rewards are large: 100 a step", "learner.reward_scale=0.01"},
    {"learner.reward_scale=0.5", FACT(reward_size), 300, "rewards are large",
     "learner.reward_scale=0.005"},
    {NULL, FACT(reward_size), 3e9, "rewards are large", "learner.reward_scale=1e-06"},
    {"quantizer.format=int2", FACT(fallbacks), 1250, "50 % of the versions went out in fp32",
     "learner.qat_bits=2"},
    {"quantizer.format=int4", FACT(fallbacks), 1250, "50 % of the versions", "learner.qat_bits=4"},
    {"quantizer.bits=3", FACT(fallbacks), 1250, "50 % of the versions", "learner.qat_bits=3"},
    {"quantizer.format=int8-tensor", FACT(fallbacks), 1250, "50 %", "quantizer.format=int8"},
    {NULL, FACT(fallbacks), 1250, "50 % of the versions", "quantizer.error_budget=0.5"},
    {NULL, FACT(fallbacks), 2495, "99 % of the versions", "quantizer.error_budget=0.5"},
    {NULL, FACT(levels_changed), 0.001, "is frozen: of its quantized weights 0.1 % change",
     "quantizer.format=fp16"},
    {"quantizer.bits=2", FACT(levels_changed), 0.001, "is frozen", "quantizer.bits=8"},
    {"learner.qat_bits=8", FACT(levels_changed), 0.001, "is frozen", "learner.qat_bits=0"},
    {NULL, FACT(learner_steps), 250, "there were 250 updates in 500.0k environment steps",
     "limits.env_steps=20000000"},
    {"replay.samples_per_insert=1", FACT(learner_steps), 250, "250 updates",
     "replay.samples_per_insert=40"},
    {"limits.env_steps=10000", FACT(learner_steps), 2250, "2.2k updates", "limits.env_steps=45000"},
    {"limits.wall_s=3600", FACT(learner_steps), 2250, "2.2k updates", "limits.env_steps=2300000"},
    {"limits.wall_s=50", FACT(learner_steps), 2250, "2.2k updates", "limits.wall_s=230"},
    {"learner.value_max=300", FACT(mass_above), 0.7, "lie above", "learner.value_max=750"},
    {"learner.value_min=-200", FACT(mass_below), 0.3, "lie below", "learner.value_min=-550"},
    {"actor.epsilon_alpha=0", FACT(rewarded_share), 0, "no reward", "actor.epsilon_base=0.8"},
    {"learner.noisy=1", FACT(rewarded_share), 0, "no reward", "learner.noisy_deviation=1"},
    {"quantizer.publish_period=100000", FACT(versions), 4, "only 4 versions",
     "quantizer.publish_period=100"},
    {NULL, FACT(state), AQ_RUN_DIVERGED, "losses were not finite", "learner.learning_rate=0.0002"},
};

static void change(aq_learning_facts *facts, size_t fact, double value)
{
    char *at = (char *)facts + fact;
    if (fact == FACT(state)) {
        facts->state = (enum aq_run_state)(int)value;
    } else if (fact == FACT(versions) || fact == FACT(fallbacks) || fact == FACT(learner_steps)) {
        *(uint64_t *)(void *)at = (uint64_t)value;
    } else {
        *(double *)(void *)at = value;
    }
}

TEST(each_fault_has_its_words_and_a_setting_that_can_be_set)
{
    const aq_settings_table *table = aq_run_config_table();
    EACH_ROW(i, rows) {
        aq_run_config config = default_config();
        if (rows[i].change != NULL) {
            assert_succeeds(aq_settings_assign(table, rows[i].change, &config, &refusal));
        }
        aq_learning_facts facts = good_facts(&config);
        facts.value_floor = rows[i].fact == FACT(mass_below) ? -163 : facts.value_floor;
        facts.fallbacks = rows[i].fact == FACT(versions) ? 0 : facts.fallbacks;
        change(&facts, rows[i].fact, rows[i].value);
        const aq_findings findings = findings_of(&facts);
        assert_int_equal(findings.count, 1);
        assert_says(findings.rows[0].words, rows[i].words);
        assert_string_equal(findings.rows[0].setting, rows[i].setting);
        assert_succeeds(aq_settings_assign(table, findings.rows[0].setting, &config, &refusal));
        assert_succeeds(aq_run_rules_check(&config, &refusal));
    }
}

/* Exploration is at its most. */
TEST(where_nothing_is_left_to_explore_with_more_steps_are_proposed)
{
    static const char *const changes[][2] = {{"limits.wall_s=3600", "limits.wall_s=7200"},
                                             {"limits.wall_s=0", "actor.count=2"}};
    aq_run_config config = default_config();
    config.actor.epsilon_alpha = 0;
    config.actor.epsilon_base = 1;
    config.actor.count = 1;
    config.limits.env_steps = config.limits.learner_steps = 0;
    EACH_ROW(i, changes) {
        assert_succeeds(
            aq_settings_assign(aq_run_config_table(), changes[i][0], &config, &refusal));
        aq_learning_facts facts = good_facts(&config);
        facts.rewarded_share = 0;
        const aq_findings findings = findings_of(&facts);
        assert_string_equal(findings.rows[0].setting, changes[i][1]);
    }
}

/* One update where ten thousand would be few. */
TEST(no_more_is_proposed_than_can_be_set)
{
    static const struct {
        const char *change;
        double wall_s;
        const char *setting;
    } changes[] = {
        {"limits.env_steps=500000000", 60, "limits.env_steps=1e+12"},
        {"limits.wall_s=3600", 3600, "limits.wall_s=10000000"},
        {"actor.count=1000", 60, "actor.count=4096"},
    };
    EACH_ROW(i, changes) {
        aq_run_config config = default_config();
        config.limits.env_steps = config.limits.learner_steps = 0;
        config_set(&config, changes[i].change);
        aq_learning_facts facts = good_facts(&config);
        facts.env_steps = facts.own_steps = 500000000;
        facts.learner_steps = 1;
        facts.wall_s = changes[i].wall_s;
        const aq_findings findings = findings_of(&facts);
        assert_int_equal(findings.count, 1);
        assert_string_equal(findings.rows[0].setting, changes[i].setting);
        assert_succeeds(
            aq_settings_assign(aq_run_config_table(), findings.rows[0].setting, &config, &refusal));
    }
}

/* They lie within the atoms. */
TEST(values_of_distributions_are_never_too_large)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.q_greatest = 3944;
    facts.mass_above = 0;
    assert_int_equal(findings_of(&facts).count, 0);
}

/* It knows of no rewards but those that it has drawn itself. */
TEST(of_a_resumed_run_no_rewards_are_missed)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.rewarded_share = 0;
    assert_says(findings_of(&facts).rows[0].words,
                "no reward was seen in 500.0k environment steps");
    facts.own_steps = 20000;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.rewarded_share = 1;
    facts.value_floor = facts.value_ceiling; /* as where a pole is balanced */
    facts.ended_share = 0;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.env_steps = facts.own_steps = 0;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(rewards_that_are_always_the_same_tell_nothing)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.value_floor = facts.value_ceiling = -100;
    facts.ended_share = 0;
    assert_int_equal(findings_of(&facts).count, 1);
    assert_says(findings_of(&facts).rows[0].words, "nothing tells actions apart");
    facts.ended_share = 0.001; /* some reach the goal */
    facts.q_greatest = 0;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(a_policy_that_does_not_move_is_not_frozen)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.levels_changed = 0;
    facts.step_kl = 0;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.levels_changed = NAN; /* in fp32 */
    facts.step_kl = 0.01;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(what_is_not_in_levels_is_not_frozen)
{
    aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.levels_changed = 0.001;
    assert_int_equal(findings_of(&facts).count, 1);
    config_set(&config, "quantizer.format=fp16");
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(continuous_actions_are_explored_by_noise)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.actions_saturated = 0.5;
    facts.rewarded_share = 0;
    assert_string_equal(findings_of(&facts).rows[0].setting, "actor.noise=0.5");
}

TEST(what_is_at_its_bound_already_is_not_proposed)
{
    aq_run_config config = default_config();
    config.actor.noise = 2;
    config.learner.noisy_deviation = 10;
    config.quantizer.error_budget = 1;
    aq_learning_facts facts = good_facts(&config);
    facts.fallbacks = facts.versions;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.env_steps=1000000");
    facts.fallbacks = 0;
    facts.rewarded_share = 0;
    config.learner.noisy = 1;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.env_steps=1000000");
    facts.actions_saturated = 0.5;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.env_steps=1000000");
    config.actor.explore_steps = 1000;
    assert_string_equal(findings_of(&facts).rows[0].setting, "actor.explore_steps=2000");
}

TEST(policies_that_draw_are_paid_for_entropy_and_explore_by_holding_noise)
{
    aq_run_config config = default_config();
    config.learner.algorithm = AQ_ALGORITHM_SAC;
    aq_learning_facts facts = good_facts(&config);
    facts.q_greatest = 3944; /* beyond all rewards */
    assert_int_equal(findings_of(&facts).count, 0);
    facts.rewarded_share = 0;
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.n_step=10");
    facts.actions_saturated = 0.5;
    assert_string_equal(findings_of(&facts).rows[0].setting, "actor.noise_steps=30");
    config.actor.noise_steps = 30;
    assert_string_equal(findings_of(&facts).rows[0].setting, "actor.noise_steps=60");
}

TEST(trpo_which_is_paid_for_no_entropy_sees_larger_groups)
{
    aq_run_config config = default_config();
    config.learner.algorithm = AQ_ALGORITHM_TRPO;
    config.actor.count = 2;
    config.actor.envs = 8;
    config.replay.selector = AQ_SELECTOR_QUEUE;
    config.replay.sequence_length = 128;
    aq_learning_facts facts = good_facts(&config);
    facts.rewarded_share = 0;
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.group_steps=4096");
    config.learner.group_steps = 40000;
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.group_steps=65536");
    config.learner.group_steps = 65536;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.env_steps=1000000");
}

/* A quarter of the way there: what is too little so far will be too little. */
TEST(too_few_updates_are_foreseen)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.state = AQ_RUN_RUNNING;
    facts.env_steps = 125000;
    facts.learner_steps = 3000;
    assert_int_equal(findings_of(&facts).count, 0); /* 12,000 at its limit */
    facts.learner_steps = 2000;
    assert_says(findings_of(&facts).rows[0].words, "2.0k updates in 125.0k");
    facts.state = AQ_RUN_STOPPED; /* somebody wanted no more */
    assert_int_equal(findings_of(&facts).count, 0);
}

/* Learning more often from each step would end it sooner. */
TEST(of_a_run_that_its_updates_end_more_are_proposed)
{
    aq_run_config config = default_config();
    config.replay.samples_per_insert = 1;
    config.limits.learner_steps = 2000;
    aq_learning_facts facts = good_facts(&config);
    facts.env_steps = 100000;
    facts.learner_steps = 2000;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.learner_steps=10000");
}

TEST(without_a_limit_nothing_is_foreseen)
{
    aq_run_config config = default_config();
    config.limits.env_steps = 0;
    aq_learning_facts facts = good_facts(&config);
    facts.state = AQ_RUN_RUNNING;
    facts.env_steps = 125000;
    facts.learner_steps = 2000;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(an_update_by_all_that_was_played_counts_for_many)
{
    aq_run_config config = default_config();
    config.learner.algorithm = AQ_ALGORITHM_A2C;
    config.replay.samples_per_insert = 0;
    config.limits.env_steps = 20000;
    aq_learning_facts facts = good_facts(&config);
    facts.state = AQ_RUN_BUDGET;
    facts.env_steps = 20000;
    facts.learner_steps = 120;
    assert_int_equal(findings_of(&facts).count, 0);
    config.quantizer.publish_period = 1000000; /* of batches: here each update makes a version */
    facts.versions = 5;
    facts.fallbacks = 0;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.learner_steps = 80;
    assert_string_equal(findings_of(&facts).rows[0].setting, "limits.env_steps=25000");
    facts.rewarded_share = 0;
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.entropy_weight=0.02");
}

TEST(an_update_of_a_table_counts_for_many)
{
    aq_run_config config = default_config();
    config.learner.algorithm = AQ_ALGORITHM_Q;
    aq_learning_facts facts = good_facts(&config);
    facts.learner_steps = 120;
    assert_int_equal(findings_of(&facts).count, 0);
    facts.learner_steps = 80;
    assert_says(findings_of(&facts).rows[0].words, "there were 80 updates");
}

/* Rewards of any size do, and values begin where somebody said. */
TEST(sizes_of_rewards_and_values_are_no_matter_to_a_table)
{
    aq_run_config config = default_config();
    config.learner.algorithm = AQ_ALGORITHM_Q;
    aq_learning_facts facts = good_facts(&config);
    facts.q_greatest = 3944;
    facts.reward_size = 300;
    assert_int_equal(findings_of(&facts).count, 0);
}

TEST(nobody_is_told_to_set_what_is_refused_or_not_read)
{
    aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.fallbacks = facts.versions;
    config_set(&config, "quantizer.format=int4");
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.qat_bits=4");
    config.learner.model_ranks = 2;
    assert_string_equal(findings_of(&facts).rows[0].setting, "quantizer.format=int8");
    config.learner.model_ranks = 1;
    config.learner.algorithm = AQ_ALGORITHM_PQN;
    assert_string_equal(findings_of(&facts).rows[0].setting, "quantizer.format=int8");
    config_set(&config, "quantizer.format=int8-tensor");
    config_set(&config, "quantizer.bits=4");
    assert_string_equal(findings_of(&facts).rows[0].setting, "quantizer.bits=8");
    facts.fallbacks = 0;
    facts.q_greatest = 3944;
    assert_string_equal(findings_of(&facts).rows[0].setting, "learner.learning_rate=0.0005");
}

TEST(what_is_solved_needs_no_reason)
{
    const aq_run_config config = default_config();
    aq_learning_facts facts = good_facts(&config);
    facts.q_greatest = 3944;
    facts.fallbacks = facts.versions;
    facts.learner_steps = 5;
    facts.state = AQ_RUN_SOLVED;
    assert_int_equal(findings_of(&facts).count, 0);
}

/* All faults that there are together, or as many as exclude one another. */
TEST(everything_at_once_has_room)
{
    aq_run_config config = default_config();
    config.quantizer.publish_period = 1000000;
    aq_learning_facts facts = good_facts(&config);
    facts.mass_above = facts.mass_below = facts.actions_saturated = 1;
    facts.rewarded_share = facts.levels_changed = 0;
    facts.reward_size = 1e30;
    facts.learner_steps = facts.versions = facts.fallbacks = 5;
    const aq_findings findings = findings_of(&facts);
    assert_in_range(findings.count, 9, AQ_FINDINGS_MAX);
}

TEST(facts_are_the_latest_or_the_extremes_of_metrics_of_their_names)
{
    static const aq_metric metrics[] = {
        {.name = "q_greatest"}, {.name = "value_ceiling"}, {.name = "value_floor"}};
    const aq_metric_list list = {metrics, 3};
    const aq_run_config config = default_config();
    aq_learning_facts facts;
    aq_learning_facts_init(&facts, &config);
    aq_learning_facts_take(&facts, &list, (const double[]){7, 10, -1});
    aq_learning_facts_take(&facts, &list, (const double[]){5, 8, -3});
    aq_learning_facts_take(&facts, &list, (const double[]){NAN, NAN, NAN});
    assert_true(facts.q_greatest == 5);
    assert_true(facts.value_ceiling == 10);
    assert_true(facts.value_floor == -3);
    assert_true(isnan(facts.q_least));
}

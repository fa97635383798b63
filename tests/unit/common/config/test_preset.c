/*
 * Presets: what is in configs/, and which of them a task gets.
 */
#include "common/config/preset.h"

#include "common/base/parse.h"
#include "common/config/pacing.h"
#include "common/config/run_rules.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

static aq_schema choices, counted, several, floats;

static int setup(void **state)
{
    const float low = -1, high = 1;
    (void)state;
    aq_space_init_discrete(&choices.action, 2);
    aq_space_init_discrete(&counted.action, 2);
    aq_space_init_discrete(&counted.obs, 16);
    aq_space_init_choices(&several.action, 2, (uint32_t[]){2, 2});
    aq_space_init_box(&floats.action, 1, &low, &high);
    return 0;
}

/* The name that is chosen. */
static const char *chosen(const char *name, const char *task, const aq_schema *schema,
                          uint32_t algorithm)
{
    const char *found = NULL;
    const aq_preset_wish wish = {name, task, schema, algorithm, false};
    assert_succeeds(aq_preset_choose(&wish, &found, &refusal));
    return found;
}

TEST(every_preset_is_a_run_of_an_algorithm)
{
    aq_preset preset;
    size_t count = 0;
    for (; aq_preset_read(count, &preset, &refusal) == 0; count++) {
        assert_true(preset.config.learner.algorithm < AQ_ALGORITHM_AUTO);
        if (strcmp(preset.name, "suite-best") != 0) { /* with which one is no promise */
            assert_says(preset.name, aq_algorithm_names[preset.config.learner.algorithm]);
        }
        assert_int_equal(aq_text_set(preset.config.task, AQ_TASK_NAME_MAX, "any"), 0);
        assert_succeeds(aq_run_rules_check(&preset.config, &refusal));
    }
    assert_int_equal(refusal.code, AQ_E_NOT_FOUND);
    assert_true(count > 5);
}

static const struct {
    const char *name, *task;
    const aq_schema *schema;
    uint32_t algorithm;
    const char *want;
} first_presets[] = {
    {NULL, "dmc:walker_walk", &floats, AQ_ALGORITHM_AUTO, "dmc-d4pg"},
    {NULL, "dmc:walker_walk?action_repeat=2", &floats, AQ_ALGORITHM_AUTO, "dmc-d4pg"},
    {NULL, "dmc:walker_walk", &floats, AQ_ALGORITHM_TD3, "none"},
    {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, "pendulum-td3"},
    {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_DDPG, "pendulum-ddpg"},
    {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_A2C, "pendulum-a2c"},
    {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_IMPALA, "pendulum-impala"},
    {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_REINFORCE, "pendulum-reinforce"},
    {NULL, "gym:MountainCarContinuous-v0", &floats, AQ_ALGORITHM_SAC, "mountaincar-sac"},
    {NULL, "gym:MountainCarContinuous-v0", &floats, AQ_ALGORITHM_DDPG, "mountaincar-ddpg"},
    {NULL, "gym:MountainCarContinuous-v0", &floats, AQ_ALGORITHM_D4PG, "mountaincar-d4pg"},
    {NULL, "dmc:walker_walk", &floats, AQ_ALGORITHM_SAC, "dmc-sac"},
    {NULL, "dmc:walker_walk", &floats, AQ_ALGORITHM_PPO, "dmc-ppo"},
    {NULL, "gym:CartPole-v0", &choices, AQ_ALGORITHM_AUTO, "cartpole-dqn"},
    {NULL, "gym:CartPole-v1", &choices, AQ_ALGORITHM_C51, "cartpole-c51"},
    {NULL, "gym:CartPole-v1?mask=velocity", &choices, AQ_ALGORITHM_AUTO, "cartpole-gru-ppo"},
    {NULL, "gym:CartPole-v1?mask=velocity", &choices, AQ_ALGORITHM_DQN, "cartpole-dqn"},
    {NULL, "so:./mine.so?a=gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, "none"},
    {NULL, "so:./dmc:.so", &floats, AQ_ALGORITHM_AUTO, "none"},
    {NULL, "gym:Taxi-v3", &choices, AQ_ALGORITHM_AUTO, "taxi-dqn"},
    {NULL, "gym:Taxi-v3", &choices, AQ_ALGORITHM_Q, "tabular-q"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_AUTO, "tabular-q"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_DQN, "taxi-dqn"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_C51, "taxi-c51"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_PPO, "tabular-ppo"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_QR_DQN, "tabular-qr_dqn"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_TRPO, "tabular-trpo"},
    {NULL, "gym:Taxi-v3", &counted, AQ_ALGORITHM_SAC, "tabular-sac"},
    {NULL, "gym:Taxi-v3", &choices, AQ_ALGORITHM_PPO, "any-ppo"},
    {NULL, "gym:FrozenLake-v1", &counted, AQ_ALGORITHM_AUTO, "frozenlake-q"},
    {NULL, "gym:FrozenLake-v1", &counted, AQ_ALGORITHM_PPO, "tabular-ppo"},
    {NULL, "py:mine:Maze", &counted, AQ_ALGORITHM_AUTO, "tabular-q"},
    {NULL, "gym:FrozenLake8x8-v1", &choices, AQ_ALGORITHM_Q, "frozenlake8x8-q"},
    {NULL, "gym:FrozenLake-v1", &choices, AQ_ALGORITHM_SARSA, "tabular-sarsa"},
    /* A table is asked for, and so is what learns on-policy. */
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_AUTO, "none"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_PPO, "acrobot-ppo"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_A2C, "any-a2c"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_QR_DQN, "acrobot-qr_dqn"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_PQN, "any-pqn"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_R2D2, "any-r2d2"},
    {NULL, "gym:MountainCar-v0", &choices, AQ_ALGORITHM_R2D2, "mountaincar-r2d2"},
    {NULL, "gym:LunarLander-v3", &choices, AQ_ALGORITHM_R2D2, "lander-r2d2"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_TD3, "lander-td3"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_DDPG, "none"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_AUTO, "lander-td3"},
    {NULL, "gym:Acrobot-v1", &choices, AQ_ALGORITHM_SAC, "any-sac"},
    {NULL, "gym:LunarLander-v3?wind=yes", &choices, AQ_ALGORITHM_AUTO, "lander-dqn"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_PPO, "lander-ppo"},
    {NULL, "gym:LunarLander-v3", &choices, AQ_ALGORITHM_IMPALA, "lander-impala"},
    {NULL, "gym:LunarLander-v3", &choices, AQ_ALGORITHM_PQN, "lander-pqn"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_A2C, "lander-a2c"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_REINFORCE, "lander-reinforce"},
    {NULL, "gym:LunarLanderContinuous-v3", &floats, AQ_ALGORITHM_TRPO, "any-trpo"},
    {NULL, "gym:MountainCar-v0", &choices, AQ_ALGORITHM_AUTO, "mountaincar-dqn"},
    {NULL, "gym:MountainCar-v0", &choices, AQ_ALGORITHM_PPO, "mountaincar-ppo"},
    {NULL, "gym:MountainCar-v0", &choices, AQ_ALGORITHM_TRPO, "any-trpo"},
    {NULL, "gym:MountainCarContinuous-v0", &floats, AQ_ALGORITHM_AUTO, "mountaincar-td3"},
    {NULL, "gym:MountainCarContinuous-v0", &floats, AQ_ALGORITHM_TRPO, "mountaincar-trpo"},
    {NULL, "game:seaquest?actions=pair", &several, AQ_ALGORITHM_AUTO, "games-ppo"},
    {NULL, "game:seaquest?actions=pair", &several, AQ_ALGORITHM_DQN, "none"},
    {"none", "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, "none"},
    {"pendulum-td3-256", "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, "pendulum-td3-256"},
    {"pendulum", "so:./mine.so", &floats, AQ_ALGORITHM_AUTO, "pendulum-td3"},
    {"pendulum", "so:./mine.so", &floats, AQ_ALGORITHM_D4PG, "pendulum-d4pg"},
    {"tabular", "gym:Taxi-v3?one_hot=yes", &choices, AQ_ALGORITHM_PPO, "tabular-ppo"},
    {"paper", "gym:CartPole-v1", &choices, AQ_ALGORITHM_AUTO, "paper-dqn"},
    {"paper", "dmc:walker_walk", &floats, AQ_ALGORITHM_AUTO, "paper-d4pg"},
};

TEST_WITH(a_task_gets_the_first_preset_that_is_for_it, setup, NULL)
{
    for (size_t i = 0; i < sizeof(first_presets) / sizeof(first_presets[0]); i++) {
        assert_string_equal(chosen(first_presets[i].name, first_presets[i].task,
                                   first_presets[i].schema, first_presets[i].algorithm),
                            first_presets[i].want);
    }
}

/* Which know nothing of normalized observations, such as pendulum-a2c has. */
TEST_WITH(a_task_gets_a_preset_that_suits_actors_with_gradients, setup, NULL)
{
    const char *found = NULL;
    aq_preset_wish wish = {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_A2C, true};
    assert_succeeds(aq_preset_choose(&wish, &found, &refusal));
    assert_string_equal(found, "any-a2c");
    wish.name = "pendulum";
    assert_succeeds(aq_preset_choose(&wish, &found, &refusal));
    assert_string_equal(found, "pendulum-a2c"); /* that is refused later, in words */
}

/* Steps are made on demand; a gradient is often overtaken by a version on its way. */
TEST(no_preset_drops_gradients_of_the_version_before)
{
    aq_preset preset;
    aq_run_config of_steps = config_defaults();
    for (size_t i = 0; aq_preset_read(i, &preset, NULL) == 0; i++) {
        preset.config.actor.gradients = true;
        assert_int_not_equal(aq_pacing_lag(&preset.config), 1);
    }
    assert_int_equal(aq_preset_apply("lander-impala", &of_steps, NULL), 0);
    assert_int_equal(aq_pacing_lag(&of_steps), 1);
}

TEST_WITH(a_preset_that_there_is_not_is_said, setup, NULL)
{
    const char *found = "untouched";
    aq_preset_wish wish = {"papper", "gym:CartPole-v1", &choices, AQ_ALGORITHM_AUTO, false};
    assert_refused(aq_preset_choose(&wish, &found, &refusal), AQ_E_NOT_FOUND, "'paper'?");
    /* Which is for choices. */
    wish = (aq_preset_wish){"cartpole", "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, false};
    assert_refused(aq_preset_choose(&wish, &found, &refusal), AQ_E_NOT_FOUND,
                   "there is no preset 'cartpole' for gym:Pendulum-v1");
    wish = (aq_preset_wish){"offline", "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, false};
    assert_refused(aq_preset_choose(&wish, &found, &refusal), AQ_E_NOT_FOUND,
                   "named in full: offline-td3_bc, offline-iql, offline-cql");
    assert_string_equal(found, "untouched");
}

TEST(a_preset_may_be_called_by_its_family)
{
    assert_true(aq_preset_has_name("paper-dqn", "paper-dqn"));
    assert_true(aq_preset_has_name("paper-dqn", "paper"));
    assert_true(aq_preset_has_name("gone-dqn", "gone"));
    assert_false(aq_preset_has_name("paper-dqn", "paper-d4pg"));
    assert_false(aq_preset_has_name("pendulum-td3-256", "pendulum-td3")); /* which is another */
}

TEST(a_preset_is_put_over_all_but_the_task)
{
    aq_run_config config = config_defaults();
    config.actor.count = 7; /* of which it says nothing */
    assert_int_equal(aq_preset_apply("dmc-d4pg", &config, NULL), 0);
    assert_string_equal(config.task, "gym:CartPole-v1");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_D4PG);
    assert_int_equal(config.actor.count, 7);
    const aq_run_config before = config;
    assert_int_equal(aq_preset_apply(AQ_PRESET_NONE, &config, NULL), 0);
    assert_memory_equal(&config, &before, sizeof(config));
    assert_refused(aq_preset_apply("any-pqm", &config, &refusal), AQ_E_NOT_FOUND, "'any-pqm'");
}

TEST(a_preset_is_put_over_the_one_that_it_builds_on)
{
    aq_run_config base = config_defaults(), config = config_defaults();
    assert_int_equal(aq_preset_apply("any-pqn", &base, NULL), 0);
    assert_int_equal(aq_preset_apply("lander-pqn", &config, NULL), 0);
    assert_string_equal(config.preset, "any-pqn");
    assert_string_equal(config.task, "gym:CartPole-v1");
    assert_string_equal(config.evaluator.threshold, "240");
    assert_string_not_equal(base.evaluator.threshold, "240");
    assert_string_equal(config.learner.hidden, base.learner.hidden);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_PQN);
}

TEST(the_papers_preset_is_the_papers_set_up)
{
    aq_run_config config = config_defaults();
    assert_int_equal(aq_preset_apply("paper-d4pg", &config, NULL), 0);
    assert_string_equal(config.learner.hidden, "2048,2048,2048");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_TANH);
    assert_int_equal(config.actor.count, 4);
    assert_int_equal(config.actor.envs, 1);
    assert_true(config.replay.samples_per_insert == 16);
    /* 8 learner steps of 256 rows use up what 4 actors make in 32 steps each. */
    assert_int_equal(config.quantizer.publish_period * config.learner.batch_size / 16 / 4, 32);
}

TEST_WITH(without_memory_nothing_is_chosen, setup, NULL)
{
    const char *found = NULL;
    const aq_preset_wish wish = {NULL, "gym:Pendulum-v1", &floats, AQ_ALGORITHM_AUTO, false};
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_preset_choose(&wish, &found, NULL);
    }
    assert_string_equal(found, "pendulum-td3");
}

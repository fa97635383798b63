/*
 * Run request: what comes before what, and that everybody who asks the same gets the same.
 */
#include "common/config/run_request.h"

#include "common/config/preset.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

#define TASK "gym:Pendulum-v1"

static aq_settings_assignments none, sets;
static const char *path;

static int setup(void **state)
{
    (void)state;
    sets = none;
    path = file_in(file_folder(), "config.yaml");
    return 0;
}

static void set(const char *assignment)
{
    assert_int_equal(aq_settings_assignments_add(&sets, assignment, NULL), 0);
}

static aq_schema schema_of_floats(void)
{
    const float low = -1, high = 1;
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, 1, &low, &high);
    aq_space_init_box(&schema.action, 1, &low, &high);
    return schema;
}

static aq_run_config read_request(const aq_run_request *request, const char *want_preset)
{
    const aq_schema schema = schema_of_floats();
    aq_run_config config = {0};
    assert_succeeds(aq_run_request_read(request, TASK, &schema, &config, &refusal));
    assert_string_equal(config.preset, want_preset);
    assert_string_equal(config.task, TASK);
    return config;
}

static void check_offline(const aq_run_request *request, const char *task, const aq_schema *schema,
                          const char *want_preset)
{
    aq_run_config config = {0};
    assert_succeeds(aq_run_request_read(request, task, schema, &config, &refusal));
    assert_string_equal(config.preset, want_preset);
}

TEST(a_data_set_alone_is_learned_from_by_what_is_made_for_it)
{
    aq_run_request request = {.task = TASK, .assignments = &none, .is_offline = true};
    const aq_run_config config = read_request(&request, "offline-iql");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_IQL);
    aq_schema choices = schema_of_floats();
    aq_space_init_discrete(&choices.action, 2);
    check_offline(&request, "gym:CartPole-v1", &choices, "offline-iql");
    check_offline(&request, "gym:Taxi-v3?one_hot=bytes", &choices, "tabular-q");
    aq_schema counted = choices;
    aq_space_init_discrete(&counted.obs, 500);
    check_offline(&request, "gym:Taxi-v3", &counted, "tabular-q");
    aq_space_init_choices(&choices.action, 2, (uint32_t[]){2, 2}); /* nothing learns these */
    check_offline(&request, "gym:CartPole-v1", &choices, "any-ppo");
    request.preset = "pendulum-td3"; /* unless somebody chose */
    (void)read_request(&request, "pendulum-td3");
    request.preset = NULL;
    request.assignments = &sets;
    set("learner.algorithm=td3");
    (void)read_request(&request, "pendulum-td3");
}

TEST(an_option_that_is_not_there_may_be_a_setting)
{
    static const struct {
        const char *option, *key;
    } rows[] = {
        {"learning-rate", "learner.learning_rate"},
        {"lr", "learner.learning_rate"},
        {"steps", "limits.env_steps"},
        {"total_timesteps", "limits.env_steps"},
        {"num-envs", "actor.envs"},
        {"env", "task"},
        {"gamma", "learner.discount"},
        {"precision", "quantizer.format"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(aq_run_request_setting(rows[i].option), rows[i].key);
    }
    assert_null(aq_run_request_setting("gpu"));
}

TEST(a_task_alone_gets_its_preset)
{
    const aq_run_request request = {.task = TASK, .assignments = &none};
    const aq_run_config config = read_request(&request, "pendulum-td3");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_TD3);
    assert_true(config.learner.tau == 0.01);
}

/* An untrained policy would be called solved. */
TEST(a_presets_threshold_is_of_rewards_as_they_are)
{
    static const struct {
        const char *task, *threshold;
    } rows[] = {{TASK "?time_limit=100", "-200"},
                {TASK "?reward_scale=0.1", "auto"},
                {TASK "?clip_reward=yes", "auto"}};
    const aq_schema schema = schema_of_floats();
    EACH_ROW(i, rows) {
        const aq_run_request request = {.task = rows[i].task, .assignments = &none};
        aq_run_config config;
        assert_succeeds(aq_run_request_read(&request, rows[i].task, &schema, &config, &refusal));
        assert_string_equal(config.preset, "pendulum-td3");
        assert_string_equal(config.evaluator.threshold, rows[i].threshold);
    }
}

/* On another no policy would reach it. */
TEST(a_presets_threshold_is_of_the_ground_as_it_is)
{
    static const struct {
        const char *task, *preset, *threshold;
    } rows[] = {{"gym:CliffWalking-v1?slippery=no", "cliffwalking-dqn", "-13"},
                {"gym:CliffWalking-v1?slippery=yes", "cliffwalking-dqn", "auto"},
                {"gym:FrozenLake8x8-v1?slippery=no", "frozenlake8x8-q", "0.895"},
                {"gym:FrozenLake8x8-v1?map=4x4", "frozenlake8x8-q", "auto"}};
    aq_schema schema = {0};
    aq_space_init_discrete(&schema.obs, 48);
    aq_space_init_discrete(&schema.action, 4);
    EACH_ROW(i, rows) {
        const aq_run_request request = {
            .task = rows[i].task, .preset = rows[i].preset, .assignments = &none};
        aq_run_config config;
        assert_succeeds(aq_run_request_read(&request, rows[i].task, &schema, &config, &refusal));
        assert_string_equal(config.evaluator.threshold, rows[i].threshold);
    }
}

TEST(without_a_preset_there_is_still_an_algorithm)
{
    const aq_run_request request = {.task = TASK, .preset = AQ_PRESET_NONE, .assignments = &none};
    const aq_run_config config = read_request(&request, "none");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_TD3);
    assert_true(config.learner.tau == 0);
}

TEST_WITH(a_file_counts_over_the_preset_and_a_setting_over_the_file, setup, NULL)
{
    file_put_text(path, "learner: {n_step: 5, batch_size: 96}");
    set("learner.batch_size=112");
    const aq_run_request request = {.task = TASK, .path = path, .assignments = &sets};
    const aq_run_config config = read_request(&request, "pendulum-td3");
    assert_true(config.learner.tau == 0.01);
    assert_int_equal(config.learner.n_step, 5);
    assert_int_equal(config.learner.batch_size, 112);
}

TEST_WITH(a_preset_is_of_the_algorithm_that_is_asked_for, setup, NULL)
{
    file_put_text(path, "learner: {algorithm: ddpg}");
    const aq_run_request request = {.task = TASK, .path = path, .assignments = &none};
    (void)read_request(&request, "pendulum-ddpg");
}

TEST_WITH(a_file_names_what_it_begins_with_unless_an_option_does, setup, NULL)
{
    file_put_text(path, "preset: pendulum-d4pg\nlearner: {n_step: 7}");
    aq_run_request request = {.task = TASK, .path = path, .assignments = &none};
    aq_run_config config = read_request(&request, "pendulum-d4pg");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_D4PG);
    assert_int_equal(config.learner.n_step, 7);
    request.preset = "pendulum-ddpg";
    config = read_request(&request, "pendulum-ddpg");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DDPG);
    assert_int_equal(config.learner.n_step, 7);
    set("preset=none");
    request = (aq_run_request){.task = TASK, .path = path, .assignments = &sets};
    config = read_request(&request, "none");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_TD3);
}

/* Such a file says all that there was to say when it was written. */
TEST_WITH(under_a_runs_own_file_lies_no_preset, setup, NULL)
{
    file_put_text(path, "preset: gone-since\nlearner: {algorithm: td3}");
    const aq_run_request request = {.task = TASK, .own = path, .assignments = &none};
    aq_run_config config = read_request(&request, "gone-since");
    assert_true(config.learner.tau == 0);
    file_put_text(path, "learner: {algorithm: td3}");
    config = read_request(&request, "none");
    assert_true(config.learner.tau == 0);
}

/* As after an ActorQ that knew more. */
TEST_WITH(a_line_of_a_runs_own_file_that_nobody_knows_may_be_taken_out, setup, NULL)
{
    aq_run_config config;
    aq_run_request request = {.own = path, .assignments = &none};
    file_put_text(path, "learner: {algorithm: td3, colour: red}");
    assert_refused(aq_run_request_asked(&request, &config, &refusal), AQ_E_INVALID,
                   "learner.colour: no such setting");
    assert_says(refusal.text, "a newer ActorQ may have written this line");
    request = (aq_run_request){.path = path, .assignments = &none};
    assert_int_equal(aq_run_request_asked(&request, &config, &refusal), AQ_E_INVALID);
    assert_null(strstr(refusal.text, "ActorQ may"));
}

/* It would be told as what the run began with, and change nothing. */
TEST_WITH(a_runs_own_file_has_no_other_preset_by_a_setting, setup, NULL)
{
    aq_run_request request = {.task = TASK, .own = path, .assignments = &sets};
    file_put_text(path, "preset: pendulum-ddpg\nlearner: {algorithm: ddpg}");
    set("preset=pendulum-ddpg");
    aq_run_config config = read_request(&request, "pendulum-ddpg");
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DDPG);
    set("preset=pendulum-td3");
    assert_refused(aq_run_request_asked(&request, &config, &refusal), AQ_E_INVALID,
                   "leave preset=pendulum-td3 out");
}

/* Its preset may be another one in this program, and its settings were changed since. */
TEST_WITH(a_run_goes_on_as_it_was_but_for_what_the_file_says, setup, NULL)
{
    static const struct {
        const char *file, *option, *preset;
        bool goes_on;
    } rows[] = {
        {"learner: {n_step: 7}", NULL, "pendulum-td3", true},
        {"preset: pendulum-td3\nlearner: {n_step: 7}", NULL, "pendulum-td3", true},
        {"learner: {n_step: 7}", "pendulum-td3", "pendulum-td3", true},
        {"learner: {n_step: 7}", "pendulum", "pendulum-td3", true},
        {"preset: pendulum\nlearner: {n_step: 7}", NULL, "pendulum-td3", true},
        {"preset: pendulum-ddpg\nlearner: {n_step: 7}", NULL, "pendulum-ddpg", false},
        {"learner: {n_step: 7}", "pendulum-ddpg", "pendulum-ddpg", false},
    };
    const char *own = file_in(file_folder(), "own.yaml");
    file_put_text(own, "preset: pendulum-td3\n"
                       "learner: {algorithm: td3, tau: 0.5, n_step: 3, batch_size: 96}");
    EACH_ROW(i, rows) {
        aq_run_request request = {
            .preset = rows[i].option, .task = TASK, .path = path, .assignments = &none};
        file_put_text(path, rows[i].file);
        assert_succeeds(aq_run_request_resume(&request, own, &refusal));
        const aq_run_config config = read_request(&request, rows[i].preset);
        assert_int_equal(config.learner.n_step, 7);
        assert_int_equal(config.learner.tau == 0.5, rows[i].goes_on);
        assert_int_equal(config.learner.batch_size == 96, rows[i].goes_on);
    }
    file_put_text(own, "learner: [");
    aq_run_request request = {.task = TASK, .path = path, .assignments = &none};
    assert_refused(aq_run_request_resume(&request, own, &refusal), AQ_E_INVALID, "own.yaml");
    assert_null(request.own);
}

TEST_WITH(the_task_is_the_one_that_was_named_last, setup, NULL)
{
    char task[AQ_TASK_NAME_MAX];
    aq_run_request request = {.path = path, .assignments = &none};
    file_put_text(path, "task: of-the-file");
    assert_int_equal(aq_run_request_task(&request, task, NULL), 0);
    assert_string_equal(task, "of-the-file");
    request.task = "given";
    assert_int_equal(aq_run_request_task(&request, task, NULL), 0);
    assert_string_equal(task, "given");
    set("task=set");
    request.assignments = &sets;
    assert_int_equal(aq_run_request_task(&request, task, NULL), 0);
    assert_string_equal(task, "set");
}

TEST_WITH(settings_for_many_tasks_need_one, setup, NULL)
{
    char task[AQ_TASK_NAME_MAX];
    const aq_run_request request = {.path = path, .assignments = &none};
    file_put_text(path, "task: \"dmc:*\"");
    assert_refused(aq_run_request_task(&request, task, &refusal), AQ_E_INVALID, "which task");
}

TEST_WITH(what_cannot_be_is_refused_before_anything_is_chosen, setup, NULL)
{
    aq_run_config config;
    const aq_schema schema = schema_of_floats();
    const aq_run_request request = {.task = TASK, .assignments = &sets};
    set("learner.algorithm=dqn");
    assert_refused(aq_run_request_read(&request, TASK, &schema, &config, &refusal),
                   AQ_E_UNSUPPORTED, "td3");
}

TEST_WITH(where_layers_are_noisy_epsilon_is_off_unless_somebody_said_so, setup, NULL)
{
    static const struct {
        const char *file, *setting;
        double epsilon;
    } cases[] = {
        {"seed: 1\n", "learner.algorithm=dqn", 0.4},
        {"seed: 1\n", "learner.algorithm=rainbow", 0},
        {"learner: {algorithm: dqn}\n", "learner.noisy=2", 0},
        {"learner: {algorithm: dqn, noisy: 1}\n", "learner.noisy=0", 0.4},
        {"actor: {epsilon_base: 0.4}\n", "learner.algorithm=rainbow", 0.4},
        {"learner: {algorithm: c51, noisy: 1}\n", "actor.epsilon_base=0.1", 0.1},
    };
    aq_schema schema = schema_of_floats();
    aq_space_init_discrete(&schema.action, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const aq_run_request request = {.task = TASK, .path = path, .assignments = &sets};
        aq_run_config config = {0};
        sets = none;
        file_put_text(path, cases[i].file);
        set(cases[i].setting);
        assert_succeeds(aq_run_request_read(&request, TASK, &schema, &config, &refusal));
        assert_true(config.actor.epsilon_base == cases[i].epsilon);
    }
}

TEST_WITH(what_has_no_noisy_layers_says_so, setup, NULL)
{
    aq_run_config config;
    aq_schema schema = schema_of_floats();
    const aq_run_request request = {.task = TASK, .assignments = &sets};
    aq_space_init_discrete(&schema.action, 2);
    set("learner.algorithm=ppo");
    set("learner.noisy=1");
    assert_refused(aq_run_request_read(&request, TASK, &schema, &config, &refusal),
                   AQ_E_UNSUPPORTED, "learner.noisy=0 works");
}

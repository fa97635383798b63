/*
 * Every setting is in the JSON with the value that it has.
 */
#include "cli/policy/config_view.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST(what_a_text_leaves_out_is_the_default)
{
    aq_run_config config, initial;
    aq_settings_init(aq_run_config_table(), &initial);
    assert_int_equal(aq_config_view_parse("learner:\n  discount: 0.5\n", &config, NULL), 0);
    assert_true(config.learner.discount == 0.5);
    assert_int_equal(config.learner.batch_size, initial.learner.batch_size);
}

TEST(a_bad_configuration_leaves_the_result_alone)
{
    aq_run_config config;
    memset(&config, 0x5a, sizeof(config));
    assert_int_equal(aq_config_view_parse("learner:\n  discount: 5\n", &config, &refusal),
                     AQ_E_INVALID);
    assert_int_equal(*(const unsigned char *)&config, 0x5a);
    assert_says(refusal.text, "learner.discount");
}

TEST(every_setting_is_in_the_json)
{
    aq_run_config config;
    size_t leaves = 0;
    const char *key;
    json_t *value;
    assert_int_equal(aq_config_view_parse("", &config, NULL), 0);
    json_t *json = cli_json(aq_config_view_json(&config));
    json_object_foreach(json, key, value)
    {
        leaves += json_is_object(value) ? json_object_size(value) : 1;
    }
    assert_int_equal(leaves, aq_run_config_table()->count);
}

TEST(values_keep_their_types)
{
    aq_run_config config;
    const char *task, *hidden, *format;
    json_int_t capacity;
    double discount;
    assert_int_equal(
        aq_config_view_parse("task: gym:CartPole-v0\nlearner:\n  hidden: \"8\"\n  discount: 0.5\n"
                             "replay:\n  capacity: 5000\nquantizer:\n  format: fp32\n",
                             &config, NULL),
        0);
    json_t *json = cli_json(aq_config_view_json(&config));
    assert_int_equal(json_unpack(json, "{s:s, s:{s:s, s:f}, s:{s:I}, s:{s:s}}", "task", &task,
                                 "learner", "hidden", &hidden, "discount", &discount, "replay",
                                 "capacity", &capacity, "quantizer", "format", &format),
                     0);
    assert_string_equal(task, "gym:CartPole-v0");
    assert_string_equal(hidden, "8");
    assert_true(discount == 0.5);
    assert_int_equal(capacity, 5000);
    assert_string_equal(format, "fp32");
}

TEST(people_see_what_tells_runs_apart)
{
    aq_run_config config;
    assert_int_equal(
        aq_config_view_parse(
            "learner:\n  algorithm: dqn\n  hidden: \"16,8\"\n  activation: tanh\n  discount: 0.97\n"
            "limits:\n  env_steps: 777\n",
            &config, NULL),
        0);
    aq_config_view_print(cli_print_begin(), &config);
    const char *text = cli_print_end();
    assert_says(text, "dqn, hidden layers 16,8 (tanh)");
    assert_says(text, "discount 0.97");
    assert_says(text, "777 steps\n");
}

TEST(of_a_table_there_are_no_layers_and_no_returns)
{
    aq_run_config config;
    assert_int_equal(aq_config_view_parse("learner:\n  algorithm: q\n", &config, NULL), 0);
    aq_config_view_print(cli_print_begin(), &config);
    assert_says(cli_print_end(), "  q, a table, batches of 64 sequences, learning rate 0.002, "
                                 "discount 0.99\n");
}

static void assert_limits(const char *yaml, const char *wanted)
{
    aq_run_config config;
    assert_int_equal(aq_config_view_parse(yaml, &config, NULL), 0);
    aq_config_view_print(cli_print_begin(), &config);
    assert_says(cli_print_end(), wanted);
}

TEST(people_see_all_limits_that_there_are)
{
    assert_limits("limits:\n  env_steps: 5\n  learner_steps: 7\n  wall_s: 2.5\n",
                  " 5 steps, 7 learner steps, 2.5 s\n");
    assert_limits("limits:\n  env_steps: 0\n  learner_steps: 7\n", " 7 learner steps\n");
    assert_limits("limits:\n  env_steps: 0\n", " none\n");
}

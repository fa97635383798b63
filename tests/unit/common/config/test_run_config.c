/*
 * The run's configuration: its defaults start a run, its file form reads back, and its texts become
 * numbers or are refused.
 */
#include "common/config/run_config.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

TEST(the_defaults_are_what_is_documented)
{
    aq_run_config config = config_defaults();
    assert_string_equal(config.task, "gym:CartPole-v1");
    assert_int_equal(config.seed, 0);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_AUTO);
    assert_string_equal(config.learner.hidden, "64,64");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_RELU);
    assert_int_equal(config.learner.batch_size, 64);
    assert_true(config.learner.learning_rate == 0.002);
    assert_int_equal(config.learner.n_step, 3);
    assert_int_equal(config.replay.capacity, 100000);
    assert_true(config.replay.samples_per_insert == 32.0);
    assert_int_equal(config.actor.count, 2);
    assert_true(config.actor.epsilon_base == 0.4);
    assert_string_equal(config.evaluator.threshold, "auto");
    assert_int_equal(aq_run_config_format(&config), AQ_FORMAT_INT8_CHANNEL);
    assert_true(config.quantizer.error_budget == 0.25);
    assert_int_equal(config.limits.env_steps, 500000);
    assert_int_equal(config.net.message_bytes, 262144);
}

TEST(the_defaults_contradict_nothing)
{
    aq_run_config config = config_defaults();
    config_accept(&config);
}

TEST(every_setting_is_explained_and_has_a_place_of_its_own)
{
    const aq_settings_table *table = aq_run_config_table();
    size_t end = 0;
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        size_t length = strlen(row->comment);
        assert_true(length > 20);
        assert_int_equal(row->comment[length - 1], '.');
        assert_true(row->offset >= end); /* rows stand in the order of the members */
        end = row->offset + row->size;
        assert_true(end <= sizeof(aq_run_config));
    }
}

TEST(the_printed_configuration_reads_back)
{
    aq_run_config config = config_defaults(), read = config_defaults();
    config_set(&config, "seed=9007199254740991");
    config_set(&config, "learner.hidden=");
    config_set(&config, "learner.activation=elu");
    config_set(&config, "learner.learning_rate=0.00025");
    config_set(&config, "quantizer.format=fp32");
    config_set(&config, "evaluator.threshold=-110.5");
    config_set(&config, "limits.env_steps=1000000000000");
    aq_buffer *text = buffer_up_to(1 << 20);
    assert_int_equal(aq_settings_print_yaml(aq_run_config_table(), &config, text), 0);
    assert_int_equal(aq_settings_read_yaml(aq_run_config_table(), "printed",
                                           (const char *)text->data, text->size, &read, NULL),
                     0);
    assert_memory_equal(&read, &config, sizeof(config));
}

TEST(what_is_of_all_shards_is_shared_among_them)
{
    aq_run_config config = config_defaults();
    config.replay.shards = 2;
    assert_int_equal(aq_run_config_shard_share(&config, 3000001), 1500001);
    assert_int_equal(aq_run_config_shard_share(&config, 0), 0);
}

TEST(choices_become_enums)
{
    aq_run_config config = config_defaults();
    config_set(&config, "learner.activation=tanh");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_TANH);
    config_set(&config, "learner.activation=elu");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_ELU);
    config_set(&config, "quantizer.format=fp32");
    assert_int_equal(aq_run_config_format(&config), AQ_FORMAT_F32);
    assert_int_equal(
        aq_settings_assign(aq_run_config_table(), "learner.algorithm=sunshine", &config, NULL),
        AQ_E_INVALID);
}

TEST(hidden_layers_are_parsed)
{
    static const struct {
        const char *text;
        aq_hidden_shape want;
    } rows[] = {
        {"", {0}},
        {"16384,128,1", {.count = 3, .widths = {16384, 128, 1}}},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
         {.count = 15, .widths = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}},
        {"simba:128x1", {.count = 1, .widths = {128}, .blocks = 1}},
        {"simba:4096x3", {.count = 1, .widths = {4096}, .blocks = 3}},
    };
    EACH_ROW(i, rows) {
        aq_run_config config = config_defaults();
        aq_hidden_shape shape, critic;
        snprintf(config.learner.hidden, sizeof(config.learner.hidden), "%s", rows[i].text);
        config_accept(&config);
        assert_int_equal(aq_run_config_hidden(&config, &shape), 0);
        assert_int_equal(aq_run_config_critic_hidden(&config, &critic), 0);
        assert_memory_equal(&shape, &rows[i].want, sizeof(shape));
        assert_memory_equal(&critic, &shape, sizeof(shape));
        snprintf(config.learner.critic_hidden, sizeof(config.learner.critic_hidden), "simba:8x2");
        assert_int_equal(aq_run_config_critic_hidden(&config, &critic), 0);
        assert_int_equal(critic.blocks, 2);
    }
}

TEST(hidden_widths_that_are_none_are_refused)
{
    const char *const bad[] = {"64,",
                               ",64",
                               "64,,64",
                               " ",
                               "0",
                               "16385",
                               "-1",
                               "64;64",
                               "64 64",
                               "64.0",
                               "0x40",
                               "wide",
                               "99999999999999999999999",
                               "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
                               "simba:128",
                               "simba:128x0",
                               "simba:128x4",
                               "simba:4097x1",
                               "simba:128x1,64"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_config config = config_defaults();
        aq_hidden_shape shape = {.count = 77};
        snprintf(config.learner.hidden, sizeof(config.learner.hidden), "%s", bad[i]);
        assert_int_equal(aq_run_config_hidden(&config, &shape), AQ_E_INVALID);
        assert_int_equal(shape.count, 77);
        config_refuse(&config, (const char *const[]){"learner.hidden", bad[i], NULL});
    }
}

TEST(the_formats_have_the_names_of_the_choices)
{
    aq_run_config config = config_defaults();
    assert_int_equal(aq_run_config_format(&config), AQ_FORMAT_INT8_CHANNEL);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        char assignment[64];
        snprintf(assignment, sizeof(assignment), "quantizer.format=%s", aq_format_name(format));
        config_set(&config, assignment);
        assert_int_equal(aq_run_config_format(&config), format);
        config_accept(&config);
    }
}

TEST(layers_may_have_formats_of_their_own)
{
    aq_run_config config = config_defaults();
    config_set(&config, "quantizer.layer_formats=0:fp32,-1:bf16,15:int8-sparse");
    config_accept(&config);
}

TEST(layer_formats_that_are_none_are_refused)
{
    const char *const bad[] = {"fp32",     "0",       ":fp32",    "0:",      "0:fp33",
                               "0x0:fp32", "49:fp32", "1.5:fp32", "0:fp32,", "0:fp32;1:int8"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_config config = config_defaults();
        snprintf(config.quantizer.layer_formats, sizeof(config.quantizer.layer_formats), "%s",
                 bad[i]);
        config_refuse(&config, (const char *const[]){"quantizer.layer_formats", bad[i], NULL});
    }
}

TEST(the_threshold_is_the_environments_or_a_number)
{
    aq_run_config config = config_defaults();
    double threshold = 0.0;
    assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), 0);
    assert_true(threshold == 475.0);
    assert_int_equal(aq_run_config_threshold(&config, NAN, &threshold), 0);
    assert_true(isnan(threshold));
    config_set(&config, "evaluator.threshold=-200.5");
    assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), 0);
    assert_true(threshold == -200.5);
}

TEST(a_threshold_that_is_none_is_refused)
{
    const char *const bad[] = {"", "Auto", "nan", "inf", "475 points", "4,5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_config config = config_defaults();
        double threshold = 7.0;
        snprintf(config.evaluator.threshold, sizeof(config.evaluator.threshold), "%s", bad[i]);
        assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), AQ_E_INVALID);
        assert_true(threshold == 7.0);
        config_refuse(&config, (const char *const[]){"evaluator.threshold", bad[i], NULL});
    }
}

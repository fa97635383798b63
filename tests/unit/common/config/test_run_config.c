/*
 * The run's configuration: its defaults start a run, its file form reads back, its texts become
 * numbers, and settings that contradict each other are refused in words that name them.
 */
#include "common/config/run_config.h"
#include "common/experience/batch.h"
#include "tests/support/test.h"

enum { SETTINGS_MAX = 4 };

static aq_run_config defaults(void)
{
    aq_run_config config;
    memset(&config, 0, sizeof(config));
    aq_settings_init(aq_run_config_table(), &config);
    return config;
}

static void set(aq_run_config *config, const char *assignment)
{
    assert_succeeds(aq_settings_assign(aq_run_config_table(), assignment, config, &refusal));
}

static aq_run_config config_with(const char *const settings[SETTINGS_MAX])
{
    aq_run_config config = defaults();
    for (size_t i = 0; i < SETTINGS_MAX && settings[i] != NULL; i++) {
        set(&config, settings[i]);
    }
    return config;
}

static void accept(const aq_run_config *config)
{
    assert_succeeds(aq_run_config_validate(config, &refusal));
}

/* Refused with all of these words. */
static void refuse(const aq_run_config *config, const char *const *words)
{
    assert_int_equal(aq_run_config_validate(config, &refusal), AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    for (; *words != NULL; words++) {
        assert_says(refusal.text, *words);
    }
}

TEST(the_defaults_are_what_is_documented)
{
    aq_run_config config = defaults();
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
    aq_run_config config = defaults();
    accept(&config);
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
    aq_run_config config = defaults(), read = defaults();
    set(&config, "seed=9007199254740991");
    set(&config, "learner.hidden=");
    set(&config, "learner.activation=elu");
    set(&config, "learner.learning_rate=0.00025");
    set(&config, "quantizer.format=fp32");
    set(&config, "evaluator.threshold=-110.5");
    set(&config, "limits.env_steps=1000000000000");
    aq_buffer *text = buffer_up_to(1 << 20);
    assert_int_equal(aq_settings_print_yaml(aq_run_config_table(), &config, text), 0);
    assert_int_equal(aq_settings_read_yaml(aq_run_config_table(), "printed",
                                           (const char *)text->data, text->size, &read, NULL),
                     0);
    assert_memory_equal(&read, &config, sizeof(config));
}

TEST(what_is_of_all_shards_is_shared_among_them)
{
    aq_run_config config = defaults();
    config.replay.shards = 2;
    assert_int_equal(aq_run_config_shard_share(&config, 3000001), 1500001);
    assert_int_equal(aq_run_config_shard_share(&config, 0), 0);
}

TEST(choices_become_enums)
{
    aq_run_config config = defaults();
    set(&config, "learner.activation=tanh");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_TANH);
    set(&config, "learner.activation=elu");
    assert_int_equal(aq_run_config_activation(&config), AQ_ACTIVATION_ELU);
    set(&config, "quantizer.format=fp32");
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
        aq_run_config config = defaults();
        aq_hidden_shape shape, critic;
        snprintf(config.learner.hidden, sizeof(config.learner.hidden), "%s", rows[i].text);
        assert_succeeds(aq_run_config_validate(&config, &refusal));
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
        aq_run_config config = defaults();
        aq_hidden_shape shape = {.count = 77};
        snprintf(config.learner.hidden, sizeof(config.learner.hidden), "%s", bad[i]);
        assert_int_equal(aq_run_config_hidden(&config, &shape), AQ_E_INVALID);
        assert_int_equal(shape.count, 77);
        refuse(&config, (const char *const[]){"learner.hidden", bad[i], NULL});
    }
}

TEST(the_formats_have_the_names_of_the_choices)
{
    aq_run_config config = defaults();
    assert_int_equal(aq_run_config_format(&config), AQ_FORMAT_INT8_CHANNEL);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        char assignment[64];
        snprintf(assignment, sizeof(assignment), "quantizer.format=%s", aq_format_name(format));
        set(&config, assignment);
        assert_int_equal(aq_run_config_format(&config), format);
        accept(&config);
    }
}

TEST(layers_may_have_formats_of_their_own)
{
    aq_run_config config = defaults();
    set(&config, "quantizer.layer_formats=0:fp32,-1:bf16,15:int8-sparse");
    accept(&config);
}

TEST(layer_formats_that_are_none_are_refused)
{
    const char *const bad[] = {"fp32",     "0",       ":fp32",    "0:",      "0:fp33",
                               "0x0:fp32", "49:fp32", "1.5:fp32", "0:fp32,", "0:fp32;1:int8"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_config config = defaults();
        snprintf(config.quantizer.layer_formats, sizeof(config.quantizer.layer_formats), "%s",
                 bad[i]);
        refuse(&config, (const char *const[]){"quantizer.layer_formats", bad[i], NULL});
    }
}

TEST(the_threshold_is_the_environments_or_a_number)
{
    aq_run_config config = defaults();
    double threshold = 0.0;
    assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), 0);
    assert_true(threshold == 475.0);
    assert_int_equal(aq_run_config_threshold(&config, NAN, &threshold), 0);
    assert_true(isnan(threshold));
    set(&config, "evaluator.threshold=-200.5");
    assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), 0);
    assert_true(threshold == -200.5);
}

TEST(a_threshold_that_is_none_is_refused)
{
    const char *const bad[] = {"", "Auto", "nan", "inf", "475 points", "4,5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_config config = defaults();
        double threshold = 7.0;
        snprintf(config.evaluator.threshold, sizeof(config.evaluator.threshold), "%s", bad[i]);
        assert_int_equal(aq_run_config_threshold(&config, 475.0, &threshold), AQ_E_INVALID);
        assert_true(threshold == 7.0);
        refuse(&config, (const char *const[]){"evaluator.threshold", bad[i], NULL});
    }
}

typedef struct conflict {
    const char *settings[SETTINGS_MAX]; /* assignments */
    const char *words[5];               /* what the message must say */
} conflict;

/* Also those with which somebody would wait for ever, or something would be lost. */
TEST(settings_that_contradict_each_other_are_refused)
{
    static const conflict conflicts[] = {
        {{"replay.min_size=200000"}, {"replay: table main", "capacity 100000", "min_size 200000"}},
        {{"replay.capacity=1000", "replay.chunk_length=600", "replay.tolerance=1e6"},
         {"table main: capacity 1000", "replay.chunk_length 600", "1200"}},
        {{"replay.capacity=2000", "replay.shards=64"},
         {"table main: capacity 2000", "replay.shards 64", "4096"}},
        {{"replay.chunk_length=2"}, {"replay.chunk_length is 2", "learner.n_step 3"}},
        {{"net.reconnect_min_ms=3000"}, {"net.reconnect_max_ms 2000", "net.reconnect_min_ms 3000"}},
        {{"net.heartbeat_ms=1600"},
         {"net.member_timeout_ms 3000", "net.heartbeat_ms 1600", "3200 is the least"}},
        {{"replay.min_size=63"}, {"replay.min_size is 63", "learner.batch_size of 64"}},
        {{"learner.batch_size=1024", "learner.batches_per_request=65", "replay.min_size=2000"},
         {"learner.batch_size 1024", "learner.batches_per_request 65", "65536", "at most 64"}},
        {{"limits.env_steps=999"}, {"limits.env_steps 999", "replay.min_size 1000"}},
        {{"actor.count=64", "replay.tolerance=2000"},
         {"replay.tolerance is 2000", "actor.count times actor.envs, 512", "replay.chunk_length 32",
          "16384 is the least"}},
        {{"replay.samples_per_insert=0.25", "replay.tolerance=2000"},
         {"replay.tolerance is 2000", "512 rows", "2048 steps", "2080 is the least"}},
        {{"quantizer.format=int4", "quantizer.bits=3"},
         {"quantizer.bits is 3", "quantizer.format int4"}},
        {{"learner.qat_bits=1"}, {"learner.qat_bits is 1", "2 to 8"}},
        {{"learner.qat_bits=4", "quantizer.format=fp32"},
         {"learner.qat_bits 4", "quantizer.format fp32", "quantizer.format=int8"}},
        {{"learner.qat_bits=8", "quantizer.format=int4"},
         {"learner.qat_bits 8", "quantizer.format int4"}},
        {{"learner.qat_bits=4", "quantizer.bits=3"}, {"learner.qat_bits 4", "quantizer.bits 3"}},
        {{"learner.qat_bits=8", "quantizer.format=int8-tensor", "quantizer.formula=paper"},
         {"learner.qat_bits 8", "quantizer.formula must be symmetric"}},
        {{"learner.qat_bits=8", "quantizer.layer_formats=0:fp32"},
         {"learner.qat_bits 8", "quantizer.layer_formats empty"}},
        {{"learner.table=mian"}, {"learner.table", "'mian'", "did you mean main?"}},
        {{"learner.table=elsewhere"}, {"'elsewhere'", "see replay.tables"}},
        {{"replay.tables=recent"}, {"replay: ", "\"recent\" has no name"}},
        {{"replay.tables=recent: capacity=1"}, {"table recent: capacity is 1"}},
        {{"replay.sequence_length=8"},
         {"learner.table main", "sequences of 8", "sequence_length=0 works"}},
        {{"replay.tables=whole: sequence_length=33"},
         {"replay.chunk_length is 32", "sequence_length 33 of table whole"}},
        {{"replay.tables=long: n_step=40"}, {"replay.chunk_length is 32", "learner.n_step 40"}},
        {{"replay.tables=small: capacity=100", "replay.chunk_length=60", "replay.min_size=2000"},
         {"table small: capacity 100", "which takes 120"}},
        {{"replay.tables=q: selector=queue"},
         {"table q is a queue", "learner.table is main", "for ever"}},
        {{"replay.tables=other: samples_per_insert=4"},
         {"table other has samples_per_insert 4", "learner.table is main"}},
        {{"replay.tables=other: capacity=5000", "learner.table=other"},
         {"table main has samples_per_insert 32", "learner.table is other", "=0 works"}},
        {{"replay.selector=queue"}, {"table main: a queue", "samples_per_insert=0 works"}},
        {{"replay.selector=queue", "replay.samples_per_insert=0", "replay.capacity=1000"},
         {"table main is a queue of capacity 1000", "512 items", "1024 is the least"}},
        {{"replay.times_sampled_max=8"}, {"times_sampled_max 8", "samples_per_insert 32"}},
        {{"replay.segment_bytes=65536"}, {"replay.segment_bytes 65536", "net.message_bytes"}},
        {{"replay.memory_bytes=1000000", "replay.storage=memory"},
         {"replay.memory_bytes 1000000", "replay.storage=segments works"}},
        {{"replay.memory_bytes=1000000", "replay.compression=true"},
         {"replay.memory_bytes 1000000", "replay.compression=false works"}},
    };
    EACH_ROW(i, conflicts) {
        const aq_run_config config = config_with(conflicts[i].settings);
        refuse(&config, conflicts[i].words);
    }
}

TEST(the_least_that_works_works)
{
    static const char *const limits[][SETTINGS_MAX] = {
        {"replay.min_size=100000"},
        {"replay.capacity=4096", "replay.shards=64"},
        {"replay.chunk_length=3"},
        {"net.reconnect_min_ms=2000"},
        {"net.heartbeat_ms=1500"},
        {"replay.min_size=64"},
        {"learner.batch_size=1024", "learner.batches_per_request=64", "replay.min_size=1024",
         "replay.tolerance=2080"},
        {"limits.env_steps=1000"},
        {"limits.env_steps=0"},
        {"actor.count=64", "replay.tolerance=16384"},
        {"actor.count=4096"},
        {"replay.samples_per_insert=0.25", "replay.tolerance=2080"},
        {"replay.samples_per_insert=0.25"},
        {"quantizer.format=int4", "quantizer.layer_formats=0:int8", "quantizer.bits=3"},
        {"quantizer.bits=2"},
        {"learner.qat_bits=2"},
        {"learner.qat_bits=8"},
        {"learner.qat_bits=4", "quantizer.bits=4"},
        {"learner.qat_bits=5", "quantizer.format=int8-tensor"},
        {"learner.qat_bits=4", "quantizer.format=int4"},
        {"learner.qat_bits=2", "quantizer.format=int2"},
        {"learner.qat_bits=0", "quantizer.format=fp32"},
        {"replay.selector=prioritized", "replay.priority_exponent=0"},
        {"replay.selector=prioritized", "replay.remover=lowest-priority"},
        {"replay.selector=queue", "replay.samples_per_insert=0", "replay.capacity=1024"},
        {"replay.samples_per_insert=0", "replay.tolerance=1"},
        {"replay.times_sampled_max=32"},
        {"replay.tables=recent: selector=lifo capacity=10000; whole: sequence_length=32"},
        {"replay.tables=other: samples_per_insert=4", "learner.table=other",
         "replay.samples_per_insert=0"},
        {"replay.segment_bytes=262144"},
        {"replay.memory_bytes=1000000"},
        {"replay.storage=memory", "replay.compression=true"},
    };
    EACH_ROW(i, limits) {
        const aq_run_config config = config_with(limits[i]);
        accept(&config);
    }
}

TEST(bounds_at_their_extremes_do_not_overflow_the_rules)
{
    aq_run_config config = defaults();
    set(&config, "learner.batch_size=65536");
    set(&config, "learner.batches_per_request=256");
    set(&config, "replay.chunk_length=65536");
    set(&config, "replay.shards=64");
    set(&config, "replay.samples_per_insert=0.001");
    set(&config, "actor.count=4096");
    set(&config, "actor.envs=4096");
    refuse(&config, (const char *const[]){"at most 1 batches fit", NULL});
    set(&config, "learner.batches_per_request=1");
    set(&config, "replay.min_size=65536");
    refuse(&config, (const char *const[]){"which takes 8388608", NULL});
    set(&config, "replay.capacity=8388608");
    refuse(&config, (const char *const[]){"1099511627776 is the least", NULL});
}

TEST(an_algorithm_is_refused_for_actions_that_it_is_not_made_for)
{
    static const struct {
        const char *algorithm;
        bool wants_choices;
    } rows[] = {{"dqn", true}, {"c51", true}, {"d4pg", false}, {"ddpg", false}, {"td3", false}};
    const float low = -1, high = 1;
    aq_schema choices = {0}, floats = {0};
    aq_space_init_discrete(&choices.action, 2);
    aq_space_init_box(&floats.action, 1, &low, &high);
    aq_space_init_box(&choices.obs, 1, &low, &high);
    aq_space_init_box(&floats.obs, 1, &low, &high);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_run_config config;
        char assignment[64];
        aq_settings_init(aq_run_config_table(), &config);
        (void)snprintf(assignment, sizeof(assignment), "learner.algorithm=%s", rows[i].algorithm);
        assert_int_equal(aq_settings_assign(aq_run_config_table(), assignment, &config, NULL), 0);
        const aq_schema *fits = rows[i].wants_choices ? &choices : &floats;
        const aq_schema *other = rows[i].wants_choices ? &floats : &choices;
        assert_int_equal(aq_run_config_check_task(&config, fits, NULL), 0);
        assert_refused(aq_run_config_check_task(&config, other, &refusal), AQ_E_UNSUPPORTED,
                       rows[i].algorithm);
        assert_says(refusal.text, config.task);
    }
}

TEST(where_nobody_chose_an_algorithm_the_actions_do)
{
    const float low = -1, high = 1;
    aq_schema choices = {0}, floats = {0};
    aq_space_init_discrete(&choices.action, 2);
    aq_space_init_box(&floats.action, 1, &low, &high);
    aq_space_init_box(&choices.obs, 1, &low, &high);
    aq_space_init_box(&floats.obs, 1, &low, &high);
    aq_run_config config = defaults();
    aq_run_config_choose_algorithm(&config, &choices);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DQN);
    assert_int_equal(aq_run_config_check_task(&config, &choices, NULL), 0);
    aq_run_config_choose_algorithm(&config, &floats); /* it is chosen already */
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DQN);
    config = defaults();
    aq_run_config_choose_algorithm(&config, &floats);
    assert_int_equal(aq_run_config_check_task(&config, &floats, NULL), 0);
}

TEST(of_a_discrete_state_a_table_is_learned_unless_another_algorithm_is_asked_for)
{
    static const float low = -1, high = 1;
    aq_schema schema = {0};
    aq_space_init_discrete(&schema.obs, AQ_NET_WIDTH_MAX);
    aq_space_init_discrete(&schema.action, 2);
    aq_run_config config = defaults();
    aq_run_config_choose_algorithm(&config, &schema);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_Q);
    assert_int_equal(aq_run_config_check_task(&config, &schema, NULL), 0);
    config.learner.algorithm = AQ_ALGORITHM_DQN;
    assert_int_equal(aq_run_config_check_task(&config, &schema, NULL), 0);
    aq_space_init_box(&schema.action, 1, &low, &high);
    config = defaults();
    aq_run_config_choose_algorithm(&config, &schema);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_TD3);
    assert_int_equal(aq_run_config_check_task(&config, &schema, NULL), 0);
    aq_space_init_discrete(&schema.obs, AQ_NET_WIDTH_MAX + 1);
    assert_refused(aq_run_config_check_task(&config, &schema, &refusal), AQ_E_UNSUPPORTED,
                   "this task has 16385");
}

typedef struct room {
    const char *settings[SETTINGS_MAX];
    double main, other; /* what the tolerance of the tables comes to */
} room;

TEST(without_a_tolerance_there_is_enough)
{
    static const room rooms[] = {
        {{"replay.tables=other: samples_per_insert=0.25"}, 2000, 2048 + 32},
        {{"actor.count=64", "replay.tables=other: samples_per_insert=1"}, 16384, 16384},
        {{"actor.count=64", "replay.tables=other: samples_per_insert=1 tolerance=5"}, 16384, 5},
        {{"replay.tolerance=3000", "replay.tables=other: samples_per_insert=1"}, 3000, 3000},
        {{"replay.tolerance=3000", "replay.tables=other: samples_per_insert=0.25 tolerance=0"},
         3000,
         2048 + 32},
        {{"replay.tables=other: selector=lifo"}, 2000, 0},
    };
    EACH_ROW(i, rooms) {
        const aq_run_config config = config_with(rooms[i].settings);
        aq_table_spec specs[AQ_TABLES_MAX];
        uint32_t count = 0, learner = 7;
        assert_int_equal(aq_run_config_tables(&config, specs, &count, &learner, NULL), 0);
        assert_int_equal(count, 2);
        assert_true(specs[0].tolerance == rooms[i].main);
        assert_true(specs[1].tolerance == rooms[i].other);
    }
}

TEST(the_main_table_is_made_of_the_settings)
{
    static const char *const settings[SETTINGS_MAX] = {
        "replay.selector=prioritized", "replay.tables=recent: selector=lifo capacity=5000",
        "learner.n_step=5"};
    const aq_run_config config = config_with(settings);
    aq_table_spec specs[AQ_TABLES_MAX];
    uint32_t count = 0, learner = 7;
    assert_int_equal(aq_run_config_tables(&config, specs, &count, &learner, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(learner, 0);
    assert_string_equal(specs[0].name, "main");
    assert_int_equal(specs[0].selector, AQ_SELECTOR_PRIORITIZED);
    assert_int_equal(specs[0].n_step, 5);
    assert_int_equal(specs[0].capacity, 100000);
    assert_int_equal(specs[1].selector, AQ_SELECTOR_LIFO);
    assert_int_equal(specs[1].n_step, 5);
}

/*
 * The rules between settings: those that contradict each other are refused in words that name them,
 * and so is an algorithm for a task that it is not made for.
 */
#include "common/config/run_rules.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

typedef struct conflict {
    const char *settings[CONFIG_SETTINGS_MAX]; /* assignments */
    const char *words[5];                      /* what the message must say */
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
        {{"learner.algorithm=c51", "learner.value_min=200"}, {"value_min 200", "value_max 150"}},
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
        {{"replay.tables=recent: capacity=1"}, {"replay: table recent: replay.capacity: '1'"}},
        {{"replay.sequence_length=8"},
         {"learner.table main", "sequences of 8", "sequence_length=0 works"}},
        {{"replay.tables=whole: sequence_length=33"},
         {"replay.chunk_length is 32", "sequence_length 33 of table whole"}},
        {{"replay.tables=long: n_step=40"}, {"replay.chunk_length is 32", "learner.n_step 40"}},
        {{"replay.tables=small: capacity=100", "replay.chunk_length=60", "replay.min_size=2000"},
         {"table small: capacity 100", "which takes 120"}},
        {{"learner.algorithm=ppo", "replay.sequence_length=16", "replay.sequence_period=16"},
         {"ppo learns once from each step", "learner.table main", "selector=queue works"}},
        {{"learner.algorithm=pqn", "replay.sequence_length=16", "replay.sequence_period=16"},
         {"pqn learns once from each step", "learner.table main", "selector=queue works"}},
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
        config_refuse(&config, conflicts[i].words);
    }
}

/* A group of it, and how often a step is learned from, go by the settings of the main table. */
TEST(only_the_main_table_may_be_a_queue_of_sequences)
{
    static const conflict conflicts[] = {
        {{"learner.algorithm=ppo", "learner.table=fresh", "replay.samples_per_insert=0",
          "replay.tables=fresh: selector=queue sequence_length=16 sequence_period=8"},
         {"table fresh is a queue of sequences", "learner.table=main without this table works"}},
        {{"learner.algorithm=pqn", "learner.table=fresh", "replay.samples_per_insert=0",
          "replay.tables=fresh: selector=queue sequence_length=16 sequence_period=16"},
         {"table fresh is a queue of sequences", "learner.table=main without this table works"}},
        {{"learner.algorithm=r2d2", "learner.table=fresh", "replay.samples_per_insert=0",
          "replay.tables=fresh: selector=queue sequence_length=8 sequence_period=8"},
         {"learner.table fresh is a queue of sequences", "selector=uniform works"}},
        {{"learner.algorithm=ppo", "learner.table=other", "replay.samples_per_insert=0",
          "replay.tables=other: sequence_length=16"},
         {"learner.table other gives steps again", "learner.table=main works"}},
    };
    EACH_ROW(i, conflicts) {
        const aq_run_config config = config_with(conflicts[i].settings);
        config_refuse(&config, conflicts[i].words);
    }
    aq_run_config config = config_with((const char *const[CONFIG_SETTINGS_MAX]){
        "learner.algorithm=ppo", "learner.lag_max=none", "replay.samples_per_insert=0",
        "replay.selector=queue", "replay.sequence_length=16", "replay.sequence_period=16"});
    config_set(&config,
               "replay.tables=fresh: selector=queue sequence_length=16 sequence_period=16");
    config_refuse(&config, (const char *const[]){"table fresh is a queue, but", NULL});
    config_set(&config, "learner.table=fresh");
    config_refuse(&config, conflicts[1].words);
    config_set(&config, "learner.table=main");
    config_set(&config, "replay.tables=");
    config_accept(&config);
}

TEST(the_least_that_works_works)
{
    static const char *const limits[][CONFIG_SETTINGS_MAX] = {
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
        {"limits.env_steps=0", "limits.learner_steps=1", "learner.learning_rate_end=0"},
        {"limits.env_steps=500", "actor.gradients=true"},
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
        {"learner.algorithm=ppo", "replay.selector=queue", "replay.samples_per_insert=0",
         "replay.sequence_length=16", "replay.sequence_period=16", "learner.batch_size=60000"},
        {"learner.algorithm=dqn", "learner.value_min=200"}, /* which has no use for it */
    };
    EACH_ROW(i, limits) {
        const aq_run_config config = config_with(limits[i]);
        config_accept(&config);
    }
}

TEST(what_changes_up_to_a_limit_needs_one)
{
    static const conflict conflicts[] = {
        {{"limits.env_steps=0", "limits.wall_s=60", "learner.learning_rate_end=0.1"},
         {"learner.learning_rate_end needs limits.learner_steps", "learning_rate_end=1 works"}},
        {{"limits.env_steps=0", "learner.importance_end=1"},
         {"learner.importance_end needs limits.learner_steps", "importance_end=0 works"}},
    };
    EACH_ROW(i, conflicts) {
        const aq_run_config config = config_with(conflicts[i].settings);
        config_refuse(&config, conflicts[i].words);
    }
}

/* One request is 512 rows, and a chunk 32 steps. */
TEST(a_table_that_cannot_answer_a_request_is_refused)
{
    static const struct {
        const char *settings[CONFIG_SETTINGS_MAX], *least, *words[4];
    } tables[] = {
        {{"replay.selector=lifo", "replay.min_size=500", "replay.capacity=543"},
         "replay.capacity=544",
         {"table main has a capacity of 543", "512 items", "544 is the least"}},
        {{"replay.selector=fifo", "replay.shards=16", "replay.capacity=8703"},
         "replay.capacity=8704",
         {"capacity of 8703", "one of 16 shards", "8704 is the least"}},
        {{"replay.times_sampled_max=2", "replay.samples_per_insert=2", "replay.min_size=64",
          "replay.capacity=287"},
         "replay.capacity=288",
         {"capacity of 287", "256 items", "288 is the least"}},
        {{"learner.algorithm=r2d2", "learner.table=seq", "replay.samples_per_insert=0",
          "replay.tables=seq: selector=lifo sequence_length=8 sequence_period=4 capacity=2079"},
         "replay.tables=seq: selector=lifo sequence_length=8 sequence_period=4 capacity=2080",
         {"table seq has a capacity of 2079", "512 items", "2080 is the least"}},
    };
    EACH_ROW(i, tables) {
        aq_run_config config = config_with(tables[i].settings);
        config_refuse(&config, tables[i].words);
        config_set(&config, tables[i].least);
        config_accept(&config);
    }
}

TEST(bounds_at_their_extremes_do_not_overflow_the_rules)
{
    aq_run_config config = config_defaults();
    config_set(&config, "learner.batch_size=65536");
    config_set(&config, "learner.batches_per_request=256");
    config_set(&config, "replay.chunk_length=65536");
    config_set(&config, "replay.shards=64");
    config_set(&config, "replay.samples_per_insert=0.001");
    config_set(&config, "actor.count=4096");
    config_set(&config, "actor.envs=4096");
    config_refuse(&config, (const char *const[]){"at most 1 batches fit", NULL});
    config_set(&config, "learner.batches_per_request=1");
    config_set(&config, "replay.min_size=65536");
    config_refuse(&config, (const char *const[]){"which takes 8388608", NULL});
    config_set(&config, "replay.capacity=8388608");
    config_refuse(&config,
                  (const char *const[]){"1099511627776 steps", "1000000000 is the most", NULL});
    config_set(&config, "learner.algorithm=r2d2");
    config_refuse(&config, (const char *const[]){"sequence_length=1024 works", NULL});
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
        char assignment[64];
        aq_run_config config = config_defaults();
        (void)snprintf(assignment, sizeof(assignment), "learner.algorithm=%s", rows[i].algorithm);
        config_set(&config, assignment);
        const aq_schema *fits = rows[i].wants_choices ? &choices : &floats;
        const aq_schema *other = rows[i].wants_choices ? &floats : &choices;
        assert_int_equal(aq_run_rules_check_task(&config, fits, NULL), 0);
        assert_refused(aq_run_rules_check_task(&config, other, &refusal), AQ_E_UNSUPPORTED,
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
    aq_run_config config = config_defaults();
    aq_run_config_choose_algorithm(&config, &choices);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DQN);
    assert_int_equal(aq_run_rules_check_task(&config, &choices, NULL), 0);
    aq_run_config_choose_algorithm(&config, &floats); /* it is chosen already */
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_DQN);
    config = config_defaults();
    aq_run_config_choose_algorithm(&config, &floats);
    assert_int_equal(aq_run_rules_check_task(&config, &floats, NULL), 0);
}

TEST(a_table_does_not_normalize_what_it_looks_up)
{
    static const float low[4] = {0}, high[4] = {1, 1, 1, 1};
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, 4, low, high);
    aq_space_init_discrete(&schema.action, 2);
    aq_run_config config = config_defaults();
    config_set(&config, "task=any?one_hot=yes");
    config_set(&config, "learner.algorithm=q");
    assert_int_equal(aq_run_rules_check_task(&config, &schema, NULL), 0);
    config_set(&config, "learner.normalize_obs=true");
    assert_refused(aq_run_rules_check_task(&config, &schema, &refusal), AQ_E_UNSUPPORTED,
                   "learner.normalize_obs=false works");
    schema.obs.dtype = AQ_DTYPE_U8; /* of which a plan has it off */
    assert_int_equal(aq_run_rules_check_task(&config, &schema, NULL), 0);
}

TEST(of_a_discrete_state_a_table_is_learned_unless_another_algorithm_is_asked_for)
{
    static const float low = -1, high = 1;
    aq_schema schema = {0};
    aq_space_init_discrete(&schema.obs, AQ_NET_WIDTH_MAX);
    aq_space_init_discrete(&schema.action, 2);
    aq_run_config config = config_defaults();
    aq_run_config_choose_algorithm(&config, &schema);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_Q);
    assert_int_equal(aq_run_rules_check_task(&config, &schema, NULL), 0);
    config.learner.algorithm = AQ_ALGORITHM_DQN;
    assert_int_equal(aq_run_rules_check_task(&config, &schema, NULL), 0);
    aq_space_init_box(&schema.action, 1, &low, &high);
    config = config_defaults();
    aq_run_config_choose_algorithm(&config, &schema);
    assert_int_equal(config.learner.algorithm, AQ_ALGORITHM_TD3);
    assert_int_equal(aq_run_rules_check_task(&config, &schema, NULL), 0);
    aq_space_init_discrete(&schema.obs, AQ_NET_WIDTH_MAX + 1);
    assert_refused(aq_run_rules_check_task(&config, &schema, &refusal), AQ_E_UNSUPPORTED,
                   "this task has 16385");
}

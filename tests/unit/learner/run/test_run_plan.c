/*
 * What follows from a configuration, and what is said when nothing can follow.
 */
#include <inttypes.h>

#include "common/base/parse.h"
#include "common/wire/wire_sample.h"
#include "envs/env.h"
#include "learner/run/run_plan.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

static aq_run_plan plan_of(const aq_run_config *config)
{
    aq_run_plan plan;
    assert_succeeds(aq_run_plan_make(config, &plan, &refusal));
    return plan;
}

/* The plan is untouched then. */
static void refuse(const aq_run_config *config, int code)
{
    static aq_run_plan plan, before;
    memset(&plan, 0x5a, sizeof(plan));
    memset(&before, 0x5a, sizeof(before));
    assert_int_equal(aq_run_plan_make(config, &plan, &refusal), code);
    assert_int_equal(refusal.code, code);
    assert_memory_equal(&plan, &before, sizeof(plan));
}

/* ---- what follows -------------------------------------------------------------------------- */

/* Tables and networks take a state that is shown as one of many, whoever asked for that. */
TEST(a_task_shows_its_state_as_one_of_many)
{
    static const char *const rows[][2] = {
        {"gym:FrozenLake-v1", "gym:FrozenLake-v1?one_hot=bytes"},
        {"gym:FrozenLake-v1?slippery=no", "gym:FrozenLake-v1?slippery=no&one_hot=bytes"},
        {"Blackjack", "gym:Blackjack-v1?one_hot=bytes"},
        {"Taxi?sticky=0.1", "gym:Taxi-v4?sticky=0.1&one_hot=bytes"},
        {"gym:Taxi-v3?one_hot=yes", "gym:Taxi-v3?one_hot=yes"},
    };
    aq_run_config config = config_defaults();
    config.learner.algorithm = AQ_ALGORITHM_Q;
    config.replay.sequence_length = 16;
    EACH_ROW(i, rows) {
        (void)snprintf(config.task, sizeof(config.task), "%s", rows[i][0]);
        const aq_run_plan plan = plan_of(&config);
        assert_string_equal(plan.config.task, rows[i][1]);
        assert_string_equal(plan.settings.task, rows[i][1]);
        assert_int_equal(plan.settings.schema.obs.kind, AQ_SPACE_BOX);
        aq_run_config other = config_defaults();
        other.learner.algorithm = AQ_ALGORITHM_DQN;
        (void)snprintf(other.task, sizeof(other.task), "%s", rows[i][0]);
        assert_string_equal(plan_of(&other).settings.task, rows[i][1]);
    }
}

TEST(a_task_that_cannot_is_refused)
{
    static const char *const rows[][2] = {{"gym:FrozenLake-v1?one_hot=no", "leave out one_hot"},
                                          {"gym:CartPole-v1", "table of discrete states"}};
    aq_run_config config = config_defaults();
    config.learner.algorithm = AQ_ALGORITHM_Q;
    config.replay.sequence_length = 16;
    EACH_ROW(i, rows) {
        aq_run_plan plan;
        (void)snprintf(config.task, sizeof(config.task), "%s", rows[i][0]);
        assert_true(aq_run_plan_make(&config, &plan, &refusal) != 0);
        assert_says(refusal.text, rows[i][1]);
    }
}

/* So that no layer is published in fp32 for a normalization that does not take place. */
TEST(bytes_are_not_normalized)
{
    static const struct {
        const char *task;
        bool is_normalized;
    } rows[] = {{"gym:Acrobot-v1", true},
                {"game:breakout", false},
                {"game:breakout?frame_stack=2", false},
                {"gym:Taxi-v3", false}};
    aq_run_config config = config_defaults();
    config.learner.normalize_obs = true;
    EACH_ROW(i, rows) {
        (void)snprintf(config.task, sizeof(config.task), "%s", rows[i].task);
        assert_int_equal(plan_of(&config).config.learner.normalize_obs, rows[i].is_normalized);
    }
}

TEST(members_are_told_what_the_configuration_says)
{
    aq_run_config config = config_defaults();
    config.seed = 99;
    config.learner.n_step = 5;
    config.learner.batch_size = 32;
    config.learner.batches_per_request = 4;
    config.actor.count = 7;
    config.net.heartbeat_ms = 123;
    config.actor.noise_ladder = AQ_NOISE_UNIFORM;
    config.evaluator.share = 0.25;
    config.evaluator.fp32 = true;
    aq_run_plan plan = plan_of(&config);
    const aq_run_settings *settings = &plan.settings;
    assert_string_equal(settings->task, "gym:CartPole-v1");
    assert_int_equal(settings->seed, 99);
    assert_int_equal(settings->n_step, 5);
    assert_int_equal(settings->config.replay.chunk_length, config.replay.chunk_length);
    assert_int_equal(settings->config.net.heartbeat_ms, 123);
    assert_int_equal(settings->config.actor.count, 7);
    assert_int_equal(settings->config.actor.noise_ladder, AQ_NOISE_UNIFORM);
    assert_true(settings->config.evaluator.share == 0.25);
    assert_true(settings->config.evaluator.fp32);
    assert_true(settings->tables[0].samples_per_insert == config.replay.samples_per_insert);
    assert_true(settings->tables[0].tolerance == 2000.0);
    assert_int_equal(settings->sample_rows, 32 * 4);
    assert_int_equal(aq_run_settings_validate(settings, NULL), 0);
}

TEST(messages_are_as_large_as_a_chunk)
{
    aq_run_config config = config_defaults();
    assert_int_equal(plan_of(&config).settings.config.net.message_bytes, 262144);
    (void)snprintf(config.task, sizeof(config.task), "game:seaquest");
    config.replay.chunk_length = 512;
    const aq_run_plan plan = plan_of(&config);
    const uint64_t obs_bytes = aq_space_bytes(&plan.settings.schema.obs);
    assert_in_range(plan.config.net.message_bytes, 512 * obs_bytes, 700 * obs_bytes);
    assert_int_equal(plan.settings.config.net.message_bytes, plan.config.net.message_bytes);
    config.net.message_bytes = 4096;
    config.replay.segment_bytes = 65536;
    refuse(&config, AQ_E_TOO_BIG);
}

TEST(a_group_has_no_more_rows_than_a_reply)
{
    aq_run_config config = config_defaults();
    (void)snprintf(config.task, sizeof(config.task), "game:seaquest");
    config.learner.algorithm = AQ_ALGORITHM_REINFORCE;
    config.learner.group_steps = 2048;
    config.replay.selector = AQ_SELECTOR_QUEUE;
    config.replay.sequence_length = config.replay.sequence_period = config.replay.chunk_length =
        512;
    config.replay.samples_per_insert = 0;
    config.replay.capacity = 1000000;
    config.actor.random_first = false;
    const aq_run_plan plan = plan_of(&config);
    const uint32_t rows = plan.settings.sample_rows;
    assert_in_range(rows, 4, 2047);
    assert_true(aq_wire_sample_bytes(&plan.layout, 512, rows) <= AQ_WIRE_SAMPLE_BYTES_MAX);
    assert_true(aq_wire_sample_bytes(&plan.layout, 512, rows + 1) > AQ_WIRE_SAMPLE_BYTES_MAX);
    aq_run_plan changed;
    assert_succeeds(aq_run_plan_change(&plan, &plan.config, &changed, &refusal));
    assert_int_equal(changed.settings.sample_rows, rows);
    (void)snprintf(config.task, sizeof(config.task), "gym:CartPole-v1");
    assert_int_equal(plan_of(&config).settings.sample_rows, 2048);
}

TEST(rows_that_no_reply_holds_are_refused)
{
    aq_run_config config = config_defaults();
    (void)snprintf(config.task, sizeof(config.task), "game:seaquest");
    config.learner.batches_per_request = 64;
    config.learner.batch_size = config.replay.min_size = 1024;
    config.replay.tolerance = 100000;
    refuse(&config, AQ_E_TOO_BIG);
    assert_says(refusal.text, "learner.batches_per_request");
    config.learner.batches_per_request = 16;
    assert_int_equal(plan_of(&config).settings.sample_rows, 16 * 1024);
}

TEST(the_plan_is_of_the_task)
{
    aq_run_config config = config_defaults();
    aq_run_plan plan = plan_of(&config);
    assert_int_equal(plan.settings.schema.obs.shape[0], 4);
    assert_int_equal(plan.settings.schema.action.choice_count, 2);
    assert_int_equal(plan.settings.schema_hash, aq_schema_hash(&plan.settings.schema));
    assert_int_equal(plan.layout.columns[AQ_COLUMN_OBS].bytes, 16);
    assert_int_equal(plan.layout.columns[AQ_COLUMN_ACTION].choices[0], 2);
    assert_int_equal(plan.layout.n_step, config.learner.n_step);
    assert_string_equal(plan.algorithm_class->name, "dqn");
}

TEST(a_short_name_becomes_the_whole_one)
{
    aq_run_config config = config_defaults();
    strcpy(config.task, "CartPole-v1");
    aq_run_plan plan = plan_of(&config);
    assert_string_equal(plan.config.task, "gym:CartPole-v1");
    assert_string_equal(plan.settings.task, "gym:CartPole-v1");
}

TEST(a_seed_is_chosen_where_none_is_given)
{
    aq_run_config config = config_defaults();
    config.seed = 0;
    aq_run_plan first = plan_of(&config);
    aq_run_plan second = plan_of(&config);
    assert_true(first.config.seed != 0);
    assert_true(first.config.seed < UINT64_C(1) << 53);
    assert_int_equal(first.settings.seed, first.config.seed);
    assert_true(first.config.seed != second.config.seed);
    config.seed = (UINT64_C(1) << 53) - 1;
    assert_int_equal(plan_of(&config).config.seed, config.seed);
}

TEST(the_threshold_is_the_tasks_own_or_a_number)
{
    aq_run_config config = config_defaults();
    const aq_env_class *env = aq_env_find("gym:CartPole-v1");
    aq_run_plan plan = plan_of(&config);
    assert_true(plan.threshold == env->reward_threshold);
    assert_true(plan.settings.evaluation_threshold == env->reward_threshold);
    strcpy(config.evaluator.threshold, "-12.5");
    plan = plan_of(&config);
    assert_true(plan.threshold == -12.5);
    assert_true(plan.settings.evaluation_threshold == -12.5);
}

TEST(the_table_is_spread_over_the_shards)
{
    aq_run_config config = config_defaults();
    config.replay.capacity = 100000;
    config.replay.min_size = 1000;
    config.replay.shards = 3;
    aq_run_plan plan = plan_of(&config);
    assert_int_equal(plan.settings.tables[0].capacity, 33333);
    assert_int_equal(plan.settings.tables[0].min_size, 334); /* never less than asked for in all */
}

TEST(every_table_is_spread_and_chunks_serve_the_longest_items)
{
    aq_run_config config = config_defaults();
    config.replay.shards = 2;
    config.replay.samples_per_insert = 0.0;
    config.replay.capacity_bytes = 1000001;
    config.replay.memory_bytes = 3000001;
    config.replay.fsync_ms = 5;
    assert_int_equal(aq_text_set(config.learner.table, sizeof(config.learner.table), "other"), 0);
    assert_int_equal(aq_text_set(config.replay.tables, sizeof(config.replay.tables),
                                 "other: capacity=5001 samples_per_insert=4; "
                                 "whole: sequence_length=20"),
                     0);
    aq_run_plan plan = plan_of(&config);
    assert_int_equal(plan.settings.table_count, 3);
    assert_int_equal(plan.settings.n_step, 20);
    assert_int_equal(plan.layout.n_step, 20);
    assert_int_equal(plan.settings.tables[0].capacity_bytes, 500001);
    assert_int_equal(plan.settings.tables[1].capacity, 2500);
    assert_int_equal(plan.settings.tables[1].n_step, config.learner.n_step);
    assert_string_equal(plan.table.name, "other");
    assert_int_equal(plan.table.capacity, 2500);
    assert_int_equal(plan.settings.config.replay.storage, AQ_STORAGE_SEGMENTS);
    assert_int_equal(plan.settings.config.replay.memory_bytes, 3000001);
    assert_int_equal(plan.settings.config.replay.fsync_ms, 5);
}

/* So many bytes are possible, and not one less. */
static void assert_least_bytes(aq_run_config *config, uint64_t bytes)
{
    char words[64];
    config->replay.capacity_bytes = bytes;
    (void)plan_of(config);
    config->replay.capacity_bytes--;
    refuse(config, AQ_E_INVALID);
    snprintf(words, sizeof(words), "capacity_bytes=%" PRIu64 " works", bytes);
    assert_says(refusal.text, words);
}

TEST(bytes_that_may_hold_too_few_steps_are_refused)
{
    enum { STEP = 16 + 4 + 4 + 4, FIRST = 16, CHUNK = FIRST + 32 * STEP };
    aq_run_config config = config_defaults();
    config.replay.min_size = config.learner.batch_size = 1;
    assert_least_bytes(&config, 2 * CHUNK);
    config.replay.min_size = 1000;
    assert_least_bytes(&config, CHUNK + 1000 * (FIRST + 3 * STEP));
    config.replay.selector = AQ_SELECTOR_LIFO;
    config.learner.batch_size = 500;
    config.learner.batches_per_request = 3;
    assert_least_bytes(&config, CHUNK + 1500 * (FIRST + 3 * STEP));
    config.replay.shards = 2;
    config.replay.min_size = 4000;
    config.replay.capacity_bytes = 1;
    refuse(&config, AQ_E_INVALID);
    assert_says(refusal.text, "capacity_bytes leaves each shard 1 bytes, but the 2000 steps");
}

TEST(a_table_that_must_be_full_is_possible_in_any_number_of_shards)
{
    aq_run_config config = config_defaults();
    config.replay.capacity = 1000;
    config.replay.min_size = 1000;
    config.replay.shards = 3;
    aq_run_plan plan = plan_of(&config);
    assert_int_equal(plan.settings.tables[0].capacity, 333);
    assert_int_equal(plan.settings.tables[0].min_size, 333);
}

/* ---- what can't ---------------------------------------------------------------------------- */

TEST(a_slip_of_the_fingers_is_answered_with_the_name_that_was_meant)
{
    aq_run_config config = config_defaults();
    strcpy(config.task, "gym:CartPol-v1");
    refuse(&config, AQ_E_NOT_FOUND);
    assert_says(refusal.text, "'gym:CartPol-v1' is not known");
    assert_says(refusal.text, "did you mean 'gym:CartPole-v1'?");
}

TEST(a_name_like_no_other_is_answered_with_where_to_look)
{
    aq_run_config config = config_defaults();
    strcpy(config.task, "chess");
    refuse(&config, AQ_E_NOT_FOUND);
    assert_says(refusal.text, "chess");
    assert_says(refusal.text, "actorq envs");
}

TEST(a_queue_of_sequences_is_for_those_who_learn_from_groups)
{
    static const char *const settings[] = {"replay.selector=queue", "replay.samples_per_insert=0",
                                           "replay.sequence_length=16", "replay.sequence_period=16",
                                           "actor.random_first=false"};
    aq_run_config config = config_defaults();
    EACH_ROW(i, settings) {
        config_set(&config, settings[i]);
    }
    config_set(&config, "learner.algorithm=pqn");
    (void)plan_of(&config);
    config_set(&config, "learner.algorithm=r2d2");
    refuse(&config, AQ_E_INVALID);
    assert_says(refusal.text, "r2d2 learns from learner.batch_size sequences at a time");
}

TEST(settings_that_contradict_each_other_are_named)
{
    aq_run_config config = config_defaults();
    config.replay.chunk_length = 2;
    config.learner.n_step = 3;
    refuse(&config, AQ_E_INVALID);
    assert_says(refusal.text, "replay.chunk_length");
    config = config_defaults();
    strcpy(config.evaluator.threshold, "high");
    refuse(&config, AQ_E_INVALID);
    assert_says(refusal.text, "evaluator.threshold");
}

TEST(without_memory_there_is_no_plan)
{
    aq_run_config config = config_defaults();
    aq_memory_fail_at(1, 0);
    refuse(&config, AQ_E_NOMEM);
}

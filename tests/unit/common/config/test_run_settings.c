/*
 * What the learner hands out at Join is believed only within the bounds of the configuration.
 */
#include <math.h>
#include <string.h>

#include "common/config/run_settings.h"
#include "common/experience/batch.h"
#include "tests/support/test.h"

static aq_run_settings valid_settings(void)
{
    const float low[4] = {-1, -1, -1, -1}, high[4] = {1, 1, 1, 1};
    aq_run_settings settings = {
        .task = "gym:CartPole-v1",
        .seed = UINT64_MAX,
        .n_step = 3,
        .chunk_length = 32,
        .message_bytes = 262144,
        .rpc_timeout_ms = 2000,
        .heartbeat_ms = 500,
        .reconnect_min_ms = 50,
        .reconnect_max_ms = 2000,
        .actor_envs = 8,
        .actor_count = 2,
        .epsilon_base = 0.4,
        .epsilon_alpha = 7.0,
        .flush_ms = 20,
        .screen_episodes = 10,
        .evaluation_episodes = 100,
        .evaluation_threshold = 475.0,
        .evaluator_share = 1.0,
        .tables = {{.name = "main",
                    .capacity = 100000,
                    .n_step = 3,
                    .min_size = 1000,
                    .samples_per_insert = 32.0,
                    .tolerance = 2000.0}},
        .table_count = 1,
        .storage = {.segment_bytes = 1 << 20, .snapshot_ms = 1000},
        .sample_rows = 512,
    };
    aq_space_init_box(&settings.schema.obs, 4, low, high);
    aq_space_init_discrete(&settings.schema.action, 2);
    settings.schema_hash = aq_schema_hash(&settings.schema);
    return settings;
}

static void accept(const aq_run_settings *settings)
{
    aq_error error = {0};
    if (aq_run_settings_validate(settings, &error) != 0) {
        fail_msg("refused: %s", error.text);
    }
}

/* Refused with these words; the settings are then made valid again. */
static void refuse(aq_run_settings *settings, int code, const char *words)
{
    aq_error error = {0};
    assert_int_equal(aq_run_settings_validate(settings, &error), code);
    assert_int_equal(error.code, code);
    if (strstr(error.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    }
    *settings = valid_settings();
}

TEST(usual_settings_are_valid)
{
    aq_run_settings settings = valid_settings();
    accept(&settings);
}

TEST(a_task_is_named_and_the_name_ends)
{
    aq_run_settings settings = valid_settings();
    settings.task[0] = '\0';
    refuse(&settings, AQ_E_INVALID, "task");
    memset(settings.task, 'x', sizeof(settings.task));
    refuse(&settings, AQ_E_INVALID, "task");
}

TEST(the_schema_is_valid_and_has_its_hash)
{
    aq_run_settings settings = valid_settings();
    settings.schema.obs.kind = 7;
    refuse(&settings, AQ_E_SCHEMA, "observation");
    settings.schema_hash++;
    refuse(&settings, AQ_E_SCHEMA, "hash");
    settings.schema.action.choice_count = 3;
    refuse(&settings, AQ_E_SCHEMA, "hash");
}

typedef struct whole_case {
    const char *key;
    size_t offset;
    uint32_t low, high;
} whole_case;

/* Both bounds are in, one past each is out, whatever the relations to other settings say. */
TEST(whole_numbers_are_held_to_their_bounds)
{
    const whole_case cases[] = {
        {"replay.chunk_length", offsetof(aq_run_settings, chunk_length), 1, 65536},
        {"net.message_bytes", offsetof(aq_run_settings, message_bytes), 4096, 67108864},
        {"net.rpc_timeout_ms", offsetof(aq_run_settings, rpc_timeout_ms), 10, 600000},
        {"net.heartbeat_ms", offsetof(aq_run_settings, heartbeat_ms), 10, 60000},
        {"net.reconnect_min_ms", offsetof(aq_run_settings, reconnect_min_ms), 1, 60000},
        {"net.reconnect_max_ms", offsetof(aq_run_settings, reconnect_max_ms), 1, 600000},
        {"actor.envs", offsetof(aq_run_settings, actor_envs), 1, 4096},
        {"actor.count", offsetof(aq_run_settings, actor_count), 1, 4096},
        {"actor.flush_ms", offsetof(aq_run_settings, flush_ms), 1, 10000},
        {"evaluator.screen_episodes", offsetof(aq_run_settings, screen_episodes), 1, 10000},
        {"evaluator.episodes", offsetof(aq_run_settings, evaluation_episodes), 1, 10000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t outside[] = {cases[i].low - 1, cases[i].high + 1, UINT32_MAX};
        aq_run_settings settings = valid_settings();
        for (int k = 0; k < 3; k++) {
            memcpy((char *)&settings + cases[i].offset, &outside[k], sizeof(uint32_t));
            refuse(&settings, AQ_E_INVALID, cases[i].key);
        }
    }
}

TEST(tables_are_held_to_the_bounds_of_their_settings)
{
    aq_run_settings settings = valid_settings();
    settings.tables[0].capacity = 99;
    refuse(&settings, AQ_E_INVALID, "table main: capacity is 99");
    settings.tables[0].capacity = UINT64_MAX;
    refuse(&settings, AQ_E_INVALID, "capacity");
    settings.tables[0].min_size = 0;
    refuse(&settings, AQ_E_INVALID, "min_size");
    settings.tables[0].min_size = settings.tables[0].capacity = 1000000000;
    accept(&settings);
}

TEST(there_is_a_table_and_no_name_comes_twice)
{
    aq_run_settings settings = valid_settings();
    settings.table_count = 0;
    refuse(&settings, AQ_E_INVALID, "0 tables");
    settings.table_count = AQ_TABLES_MAX + 1;
    refuse(&settings, AQ_E_INVALID, "9 tables");
    settings.tables[1] = settings.tables[0];
    settings.table_count = 2;
    refuse(&settings, AQ_E_INVALID, "two tables are called main");
}

TEST(chunks_are_made_for_the_longest_items)
{
    aq_run_settings settings = valid_settings();
    settings.n_step = 4;
    refuse(&settings, AQ_E_INVALID, "the longest of the tables spans 3");
    settings.tables[1] = settings.tables[0];
    memcpy(settings.tables[1].name, "whole", sizeof("whole"));
    settings.tables[1].sequence_length = settings.n_step = 20;
    settings.tables[1].sequence_period = 10;
    settings.table_count = 2;
    accept(&settings);
    settings.chunk_length = 19;
    refuse(&settings, AQ_E_INVALID, "replay.chunk_length 19 is less than the 20 transitions");
}

TEST(a_memory_budget_needs_files_that_can_be_mapped)
{
    aq_run_settings settings = valid_settings();
    settings.storage.memory_bytes = 1 << 20;
    refuse(&settings, AQ_E_INVALID, "replay.storage must be segments");
    settings.storage.memory_bytes = 1 << 20;
    settings.storage.durable = true;
    accept(&settings);
    settings.storage.compressed = true;
    refuse(&settings, AQ_E_INVALID, "replay.compression must be false");
    settings.storage.segment_bytes = 65535;
    refuse(&settings, AQ_E_INVALID, "replay.segment_bytes");
    settings.storage.fsync_ms = 600001;
    refuse(&settings, AQ_E_INVALID, "replay.fsync_ms");
    settings.storage.snapshot_ms = 9;
    refuse(&settings, AQ_E_INVALID, "replay.snapshot_ms");
}

TEST(ratios_are_held_to_their_bounds_and_are_numbers)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, -1.0, 1e10};
    aq_run_settings settings = valid_settings();
    for (int i = 0; i < 5; i++) {
        settings.epsilon_base = bad[i];
        refuse(&settings, AQ_E_INVALID, "actor.epsilon_base");
        settings.epsilon_alpha = bad[i];
        refuse(&settings, AQ_E_INVALID, "actor.epsilon_alpha");
        settings.tables[0].samples_per_insert = bad[i];
        refuse(&settings, AQ_E_INVALID, "samples_per_insert");
        settings.tables[0].tolerance = bad[i];
        refuse(&settings, AQ_E_INVALID, "tolerance");
    }
    /* Nothing is left to be settled by whoever takes part. */
    settings.tables[0].tolerance = 0.0;
    refuse(&settings, AQ_E_INVALID, "tolerance is 0");
}

TEST(a_threshold_is_a_number_or_none)
{
    aq_run_settings settings = valid_settings();
    settings.evaluation_threshold = NAN;
    accept(&settings);
    settings.evaluation_threshold = -1e9;
    accept(&settings);
    settings.evaluation_threshold = INFINITY;
    refuse(&settings, AQ_E_INVALID, "evaluator.threshold");
}

TEST(a_share_is_of_one_processor_and_not_none)
{
    const double bad[] = {0.0, 0.0009, 1.001, -1.0, (double)NAN};
    aq_run_settings settings = valid_settings();
    settings.evaluator_share = 0.001;
    accept(&settings);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        settings.evaluator_share = bad[i];
        refuse(&settings, AQ_E_INVALID, "evaluator.share");
    }
}

TEST(a_ladder_that_there_is_not_is_refused)
{
    aq_run_settings settings = valid_settings();
    settings.noise_ladder = AQ_NOISE_UNIFORM;
    accept(&settings);
    settings.noise_ladder = 2;
    refuse(&settings, AQ_E_INVALID, "actor.noise_ladder");
}

TEST(settings_that_contradict_each_other_are_refused)
{
    aq_run_settings settings = valid_settings();
    settings.chunk_length = 2;
    refuse(&settings, AQ_E_INVALID, "replay.chunk_length 2 is less than the 3 transitions");
    settings.tables[0].min_size = settings.tables[0].capacity + 1;
    refuse(&settings, AQ_E_INVALID, "capacity 100000 is less than min_size 100001");
    settings.reconnect_max_ms = 49;
    refuse(&settings, AQ_E_INVALID, "net.reconnect_max_ms 49");
}

TEST(a_sample_request_has_rows_and_fits_a_batch)
{
    aq_run_settings settings = valid_settings();
    settings.sample_rows = 0;
    refuse(&settings, AQ_E_INVALID, "0 rows");
    settings.sample_rows = AQ_BATCH_ROWS_MAX + 1;
    refuse(&settings, AQ_E_INVALID, "65537 rows");
    settings.sample_rows = AQ_BATCH_ROWS_MAX;
    accept(&settings);
}

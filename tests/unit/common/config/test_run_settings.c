/*
 * What the learner hands out at Join: what goes together, what may change, and what may not.
 */
#include "common/config/run_settings.h"

#include "common/experience/batch.h"
#include "tests/support/config_kit.h"
#include "tests/support/run_settings_kit.h"
#include "tests/support/test.h"

static void accept(const aq_run_settings *settings)
{
    assert_succeeds(aq_run_settings_validate(settings, &refusal));
}

/* Refused with these words; the settings are then made valid again. */
static void refuse(aq_run_settings *settings, int code, const char *words)
{
    assert_refused(aq_run_settings_validate(settings, &refusal), code, words);
    *settings = run_settings_kit();
}

TEST(usual_settings_are_valid)
{
    aq_run_settings settings = run_settings_kit();
    accept(&settings);
}

TEST(a_task_is_named_and_the_name_ends)
{
    aq_run_settings settings = run_settings_kit();
    settings.task[0] = '\0';
    refuse(&settings, AQ_E_INVALID, "task");
    memset(settings.task, 'x', sizeof(settings.task));
    refuse(&settings, AQ_E_INVALID, "task");
}

TEST(the_schema_is_valid_and_has_its_hash)
{
    aq_run_settings settings = run_settings_kit();
    settings.schema.obs.kind = 7;
    refuse(&settings, AQ_E_SCHEMA, "observation");
    settings.schema_hash++;
    refuse(&settings, AQ_E_SCHEMA, "hash");
    settings.schema.action.choice_count = 3;
    refuse(&settings, AQ_E_SCHEMA, "hash");
}

TEST(tables_are_held_to_the_bounds_of_their_settings)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, -1.0, 1e10};
    aq_run_settings settings = run_settings_kit();
    settings.tables[0].capacity = 1;
    refuse(&settings, AQ_E_INVALID, "table main: capacity is 1");
    settings.tables[0].capacity = UINT64_MAX;
    refuse(&settings, AQ_E_INVALID, "capacity");
    settings.tables[0].min_size = 0;
    refuse(&settings, AQ_E_INVALID, "min_size");
    settings.tables[0].min_size = settings.tables[0].capacity + 1;
    refuse(&settings, AQ_E_INVALID, "capacity 100000 is less than min_size 100001");
    for (int i = 0; i < 5; i++) {
        settings.tables[0].samples_per_insert = bad[i];
        refuse(&settings, AQ_E_INVALID, "samples_per_insert");
        settings.tables[0].tolerance = bad[i];
        refuse(&settings, AQ_E_INVALID, "tolerance");
    }
    /* Nothing is left to be settled by whoever takes part. */
    settings.tables[0].tolerance = 0.0;
    refuse(&settings, AQ_E_INVALID, "tolerance is 0");
    settings.tables[0].min_size = settings.tables[0].capacity = 1000000000;
    accept(&settings);
}

TEST(there_is_a_table_and_no_name_comes_twice)
{
    aq_run_settings settings = run_settings_kit();
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
    aq_run_settings settings = run_settings_kit();
    settings.n_step = 4;
    refuse(&settings, AQ_E_INVALID, "the longest of the tables spans 3");
    settings.config.replay.chunk_length = 2;
    refuse(&settings, AQ_E_INVALID, "replay.chunk_length 2 is less than the 3 transitions");
    settings.tables[1] = settings.tables[0];
    memcpy(settings.tables[1].name, "whole", sizeof("whole"));
    settings.tables[1].sequence_length = settings.n_step = 20;
    settings.tables[1].sequence_period = 10;
    settings.table_count = 2;
    accept(&settings);
    settings.config.replay.chunk_length = 19;
    refuse(&settings, AQ_E_INVALID, "replay.chunk_length 19 is less than the 20 transitions");
}

TEST(settings_that_contradict_each_other_are_refused)
{
    aq_run_settings settings = run_settings_kit();
    settings.config.net.reconnect_max_ms = 49;
    refuse(&settings, AQ_E_INVALID, "net.reconnect_max_ms 49");
    settings.config.replay.memory_bytes = 1 << 20;
    settings.config.replay.storage = AQ_STORAGE_MEMORY;
    refuse(&settings, AQ_E_INVALID, "replay.storage=segments works");
    settings.config.replay.memory_bytes = 1 << 20;
    settings.config.replay.compression = true;
    refuse(&settings, AQ_E_INVALID, "replay.compression=false works");
}

TEST(a_threshold_is_a_number_or_none)
{
    aq_run_settings settings = run_settings_kit();
    settings.evaluation_threshold = NAN;
    accept(&settings);
    settings.evaluation_threshold = -1e9;
    accept(&settings);
    settings.evaluation_threshold = INFINITY;
    refuse(&settings, AQ_E_INVALID, "evaluator.threshold");
}

TEST(a_sample_request_has_rows_and_fits_a_batch)
{
    aq_run_settings settings = run_settings_kit();
    settings.sample_rows = 0;
    refuse(&settings, AQ_E_INVALID, "0 rows");
    settings.sample_rows = AQ_BATCH_ROWS_MAX + 1;
    refuse(&settings, AQ_E_INVALID, "65537 rows");
    settings.sample_rows = AQ_BATCH_ROWS_MAX;
    accept(&settings);
}

/* ---- who sees what, and what may change ----------------------------------------------------- */

TEST(only_what_members_see_is_taken_from_the_configuration)
{
    aq_run_settings settings;
    memset(&settings, 0, sizeof(settings));
    aq_run_config config = config_defaults();
    aq_run_settings_take(&settings, &config);
    assert_int_equal(settings.config.actor.envs, 8);
    assert_true(settings.config.evaluator.share == 0.1);
    assert_int_equal(settings.config.learner.batch_size, 0);
    assert_int_equal(settings.config.net.member_timeout_ms, 0);
    assert_int_equal(settings.config.task[0], '\0');
}

TEST(only_live_settings_change_in_a_running_system)
{
    aq_run_settings settings = run_settings_kit(), now = run_settings_kit();
    now.config.actor.epsilon_base = 0.125;
    now.config.actor.envs = 9;
    now.config.log.level = 1;
    now.evaluation_threshold = 3.0;
    aq_run_settings_take_live(&settings, &now);
    assert_true(settings.config.actor.epsilon_base == 0.125);
    assert_int_equal(settings.config.actor.envs, 8);
    assert_int_equal(settings.config.log.level, 1);
    assert_true(settings.evaluation_threshold == 3.0);
}

TEST(who_does_not_see_a_setting_goes_on_whatever_it_is)
{
    const aq_run_settings settings = run_settings_kit();
    aq_run_settings other = settings;
    other.config.actor.flush_ms++;
    assert_false(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_ACTORS));
    assert_true(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_SHARDS));
    other = settings;
    other.config.replay.fsync_ms++;
    assert_true(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_ACTORS));
    assert_false(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_SHARDS));
    other = settings;
    other.config.actor.envs++;
    assert_false(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_ACTORS));
    assert_false(aq_run_settings_agree(&settings, &other, AQ_SEEN_BY_SHARDS));
}

TEST(live_settings_and_those_of_the_membership_begin_nothing_anew)
{
    const uint32_t roles = AQ_SEEN_BY_ACTORS | AQ_SEEN_BY_EVALUATORS | AQ_SEEN_BY_SHARDS;
    const aq_run_settings settings = run_settings_kit();
    aq_run_settings other = settings;
    other.config.actor.noise = 0.5;
    other.config.net.heartbeat_ms++;
    other.config.net.rpc_timeout_ms++;
    assert_true(aq_run_settings_agree(&settings, &other, roles));
    other.n_step++;
    assert_false(aq_run_settings_agree(&settings, &other, roles));
    other = settings;
    other.schema_hash++;
    assert_false(aq_run_settings_agree(&settings, &other, roles));
    other = settings;
    other.task[0] = 'G';
    assert_false(aq_run_settings_agree(&settings, &other, roles));
}

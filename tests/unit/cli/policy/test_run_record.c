/*
 * A run folder is read as far as it is whole, and shown as it was read.
 */
#include "cli/policy/run_record.h"
#include "cli/policy/run_view.h"
#include "common/sys/folder_lock.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static int run_setup(void **state)
{
    int rc = cli_fixture_setup(state);
    if (rc == 0) {
        cli_write_run(*state);
    }
    return rc;
}

TEST_ENDING(end_record, aq_run_record_free);

/* As a list of runs has it. */
static aq_run_record *read_little(void **state)
{
    aq_run_record *record = NULL;
    assert_succeeds(aq_run_record_read(*state, &record, &refusal));
    at_end(end_record, record);
    return record;
}

static aq_run_record *read_run(void **state)
{
    aq_run_record *record = read_little(state);
    aq_run_record_read_policies(*state, record);
    return record;
}

TEST_WITH(a_whole_run_is_read_without_problems, run_setup, cli_fixture_teardown)
{
    aq_run_record *record = read_run(state);
    assert_string_equal(record->run_id, "1122334455667788");
    assert_string_equal(record->task, "gym:CartPole-v1");
    assert_string_equal(record->made, "2026-01-31T12:00:00Z");
    assert_int_equal(record->seed, 42);
    assert_true(record->has_config);
    assert_true(record->config.learner.discount == 0.97);
    assert_true(record->has_checkpoint);
    assert_int_equal(record->newest.checkpoint.learner_step, 3000);
    assert_int_equal(record->metrics.lines, 5);
    assert_non_null(record->policy);
    assert_true(record->has_policy_fp32);
    assert_string_equal(aq_run_record_state(record), "interrupted");
    assert_int_equal(record->problem_count, 0);
}

TEST_WITH(a_young_run_has_no_problems, run_setup, cli_fixture_teardown)
{
    unlink(cli_path(state, "metrics.jsonl"));
    unlink(cli_path(state, "policy.aq"));
    unlink(cli_path(state, "policy.fp32.aq"));
    unlink(cli_path(state, "checkpoints/step-000000001000.aqc"));
    unlink(cli_path(state, "checkpoints/step-000000002000.aqc"));
    unlink(cli_path(state, "checkpoints/step-000000003000.aqc"));
    aq_folder_lock *lock;
    assert_int_equal(aq_folder_lock_take(*state, &lock, NULL), 0);
    aq_run_record *record = read_run(state);
    assert_false(record->has_checkpoint);
    assert_null(record->policy);
    assert_null(record->metrics.last);
    assert_string_equal(aq_run_record_state(record), "running");
    assert_int_equal(record->problem_count, 0);
    aq_folder_lock_release(lock);
}

TEST_WITH(a_lock_that_cannot_be_looked_at_is_held_by_nobody, run_setup, cli_fixture_teardown)
{
    assert_int_equal(symlink("lock", cli_path(state, "lock")), 0); /* leads to itself */
    assert_string_equal(aq_run_record_state(read_run(state)), "interrupted");
}

TEST_WITH(damaged_checkpoints_are_named_and_an_older_one_is_read, run_setup, cli_fixture_teardown)
{
    file_flip(cli_path(state, "checkpoints/step-000000003000.aqc"), -100);
    aq_run_record *record = read_run(state);
    assert_int_equal(record->newest.checkpoint.learner_step, 2000);
    assert_int_equal(record->problem_count, 1);
    assert_says(record->problems[0], "step-000000003000.aqc");
}

TEST_WITH(a_list_looks_at_no_checkpoint_and_no_policy, run_setup, cli_fixture_teardown)
{
    file_flip(cli_path(state, "checkpoints/step-000000003000.aqc"), -100);
    file_flip(cli_path(state, "policy.aq"), 20);
    aq_run_record *record = read_little(state);
    assert_int_equal(record->problem_count, 0);
    assert_false(record->has_checkpoint);
    assert_null(record->policy);
}

TEST_WITH(a_damaged_policy_and_configuration_are_named, run_setup, cli_fixture_teardown)
{
    file_flip(cli_path(state, "policy.aq"), 20);
    file_put_text(cli_path(state, "config.yaml"), "learner: 5\n");
    aq_run_record *record = read_run(state);
    assert_null(record->policy);
    assert_false(record->has_config);
    assert_int_equal(record->problem_count, 2);
    assert_says(record->problems[0], "config.yaml");
    assert_says(record->problems[1], "policy.aq");
}

TEST_WITH(a_folder_without_identity_is_no_run, run_setup, cli_fixture_teardown)
{
    aq_run_record *record = NULL;
    unlink(cli_path(state, "run.json"));
    assert_refused(aq_run_record_read(*state, &record, &refusal), AQ_E_NOT_FOUND, "run.json");
    assert_null(record);
}

TEST_WITH(a_damaged_identity_is_named, run_setup, cli_fixture_teardown)
{
    static const char *const bad[] = {"", "[]", "{\"run_id\": 5, \"task\": \"x\"}",
                                      "{\"run_id\": \"5\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_record *record = NULL;
        file_put_text(cli_path(state, "run.json"), bad[i]);
        assert_refused(aq_run_record_read(*state, &record, &refusal), AQ_E_CORRUPT, "run.json");
    }
}

TEST_WITH(what_replay_said_in_another_version_is_left_out, run_setup, cli_fixture_teardown)
{
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\":\"progress\",\"replay\":{\"fullness\":0.5}}\n");
    aq_run_record *record = read_run(state);
    aq_run_view_print(cli_print_begin(), *state, record);
    const char *text = cli_print_end();
    assert_says(text, "1 lines, the last after - (progress)");
    assert_null(strstr(text, "in memory"));
}

TEST_WITH(without_memory_nothing_is_believed, run_setup, cli_fixture_teardown)
{
    int rc = AQ_E_NOMEM;
    uint64_t nth = 1;
    for (size_t problems = 1; problems; nth++) {
        aq_run_record *record = NULL;
        aq_memory_fail_at(nth, 0);
        rc = aq_run_record_read(*state, &record, NULL);
        if (rc == 0) {
            aq_run_record_read_policies(*state, record);
        }
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 || rc == AQ_E_NOMEM);
        problems = rc != 0 ? 1 : record->problem_count; /* read on, but not without a word */
        aq_run_record_free(record);
    }
    assert_true(nth > 10);
}

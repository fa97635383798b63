/*
 * A run folder is read as far as it is whole, and shown as it was read.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/policy/run_record.h"
#include "cli/policy/run_view.h"
#include "common/base/memory.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static int run_setup(void **state)
{
    int rc = cli_fixture_setup(state);
    if (!rc) {
        cli_write_run(*state);
    }
    return rc;
}

static aq_run_record *read_run(void **state)
{
    aq_run_record *record = NULL;
    aq_error error = {0};
    assert_succeeds(aq_run_record_read(*state, &record, &error), &error);
    return record;
}

/* What people see; free it. */
static char *view(void **state, const aq_run_record *record)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    aq_run_view_print(out, *state, record);
    assert_int_equal(fclose(out), 0);
    return text;
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
    assert_false(record->is_live);
    assert_int_equal(record->problem_count, 0);
    aq_run_record_free(record);
}

TEST_WITH(a_young_run_has_no_problems, run_setup, cli_fixture_teardown)
{
    unlink(cli_path(state, "metrics.jsonl"));
    unlink(cli_path(state, "policy.aq"));
    unlink(cli_path(state, "policy.fp32.aq"));
    unlink(cli_path(state, "checkpoints/step-000000001000.aqc"));
    unlink(cli_path(state, "checkpoints/step-000000002000.aqc"));
    unlink(cli_path(state, "checkpoints/step-000000003000.aqc"));
    cli_write_text(cli_path(state, "endpoint.json"), "{}");
    aq_run_record *record = read_run(state);
    assert_false(record->has_checkpoint);
    assert_null(record->policy);
    assert_null(record->metrics.last);
    assert_true(record->is_live);
    assert_int_equal(record->problem_count, 0);
    char *text = view(state, record);
    cli_assert_in(text, ", live\n");
    cli_assert_in(text, "no evaluation yet");
    free(text);
    aq_run_record_free(record);
}

TEST_WITH(damaged_checkpoints_are_named_and_an_older_one_is_read, run_setup, cli_fixture_teardown)
{
    cli_damage(cli_path(state, "checkpoints/step-000000003000.aqc"), -100);
    aq_run_record *record = read_run(state);
    assert_int_equal(record->newest.checkpoint.learner_step, 2000);
    assert_int_equal(record->problem_count, 1);
    cli_assert_in(record->problems[0], "step-000000003000.aqc");
    char *text = view(state, record);
    cli_assert_in(text, "problem");
    cli_assert_in(text, "step-000000002000.aqc: learner step 2000");
    free(text);
    aq_run_record_free(record);
}

TEST_WITH(a_damaged_policy_and_configuration_are_named, run_setup, cli_fixture_teardown)
{
    cli_damage(cli_path(state, "policy.aq"), 20);
    cli_write_text(cli_path(state, "config.yaml"), "learner: 5\n");
    aq_run_record *record = read_run(state);
    assert_null(record->policy);
    assert_false(record->has_config);
    assert_int_equal(record->problem_count, 2);
    cli_assert_in(record->problems[0], "config.yaml");
    cli_assert_in(record->problems[1], "policy.aq");
    aq_run_record_free(record);
}

TEST_WITH(a_folder_without_identity_is_no_run, run_setup, cli_fixture_teardown)
{
    aq_run_record *record = NULL;
    aq_error error = {0};
    unlink(cli_path(state, "run.json"));
    assert_int_equal(aq_run_record_read(*state, &record, &error), AQ_E_NOT_FOUND);
    cli_assert_in(error.text, "run.json");
    assert_null(record);
}

TEST_WITH(a_damaged_identity_is_named, run_setup, cli_fixture_teardown)
{
    static const char *const bad[] = {"", "[]", "{\"run_id\": 5, \"task\": \"x\"}",
                                      "{\"run_id\": \"5\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        aq_run_record *record = NULL;
        aq_error error = {0};
        cli_write_text(cli_path(state, "run.json"), bad[i]);
        assert_int_equal(aq_run_record_read(*state, &record, &error), AQ_E_CORRUPT);
        cli_assert_in(error.text, "run.json");
    }
}

TEST_WITH(people_see_the_best_evaluation_and_the_configuration, run_setup, cli_fixture_teardown)
{
    aq_run_record *record = read_run(state);
    char *text = view(state, record);
    cli_assert_in(text, "a run of gym:CartPole-v1\n");
    cli_assert_in(text, "187.5 +- 25.5 over 100 episodes of version 31 (confirmed)");
    cli_assert_in(text, "discount 0.97");
    cli_assert_in(text, "version 31 of learner step 3100, int8");
    cli_assert_in(text, "5 lines, the last: {");
    assert_null(strstr(text, "problem"));
    free(text);
    aq_run_record_free(record);
}

TEST_WITH(people_see_what_replay_said_last, run_setup, cli_fixture_teardown)
{
    aq_run_record *record = read_run(state);
    char *text = view(state, record);
    cli_assert_in(text, "1.7k transitions, 170.0 kB in memory, 100 B each\n");
    cli_assert_in(text, "inserting 25 %");
    cli_assert_in(text, "half under 1 versions, 90 % under 4, all under 4 [# +]\n");
    cli_assert_in(text, "200.0 kB on disk");
    assert_null(strstr(text, "times_sampled")); /* the line is shown without its parts */
    free(text);
    aq_run_record_free(record);
}

TEST_WITH(what_replay_said_in_another_version_is_left_out, run_setup, cli_fixture_teardown)
{
    cli_write_text(cli_path(state, "metrics.jsonl"),
                   "{\"event\":\"progress\",\"replay\":{\"fullness\":0.5}}\n");
    aq_run_record *record = read_run(state);
    char *text = view(state, record);
    cli_assert_in(text, "1 lines, the last: {");
    assert_null(strstr(text, "in memory"));
    free(text);
    aq_run_record_free(record);
}

TEST_WITH(programs_see_the_same, run_setup, cli_fixture_teardown)
{
    const char *kind;
    double best;
    json_int_t step, steps;
    aq_run_record *record = read_run(state);
    json_t *json = aq_run_view_json(*state, record);
    assert_int_equal(json_unpack(json, "{s:s, s:{s:f}, s:{s:I}, s:{s:I}}", "kind", &kind,
                                 "best_evaluation", "return_mean", &best, "checkpoint",
                                 "learner_step", &step, "last_metrics", "env_steps", &steps),
                     0);
    assert_string_equal(kind, "run");
    assert_true(best == 187.5);
    assert_int_equal(step, 3000);
    assert_int_equal(steps, 1800);
    assert_int_equal(json_array_size(json_object_get(json, "problems")), 0);
    json_decref(json);
    aq_run_record_free(record);
}

TEST_WITH(without_memory_nothing_is_believed, run_setup, cli_fixture_teardown)
{
    int rc = AQ_E_NOMEM;
    uint64_t nth = 1;
    for (size_t problems = 1; problems; nth++) {
        aq_run_record *record = NULL;
        aq_memory_fail_at(nth, 0);
        rc = aq_run_record_read(*state, &record, NULL);
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 || rc == AQ_E_NOMEM);
        problems = rc ? 1 : record->problem_count; /* read on, but not without a word */
        aq_run_record_free(record);
    }
    assert_true(nth > 10);
}

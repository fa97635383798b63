/*
 * Policies and checkpoints are shown with the figures that are in them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/policy/checkpoint_folder.h"
#include "cli/policy/checkpoint_view.h"
#include "cli/policy/policy_view.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static char *policy_text(const aq_snapshot *snapshot)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(aq_policy_view_print(out, "policy.aq", snapshot, 1234), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(people_see_what_a_policy_is)
{
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_INT8_CHANNEL, 7);
    char *text = policy_text(snapshot);
    cli_assert_in(text, "policy.aq: a policy, int8\n");
    cli_assert_in(text, "gym:CartPole-v1 (box f32[4] -> discrete 2)");
    cli_assert_in(text, "31, of learner step 3100, run 1122334455667788");
    cli_assert_in(text, "4-16r-8t-2, 234 parameters, acts by argmax");
    cli_assert_in(text, "1.2 kB;");
    cli_assert_in(text, "0.78 % of 256 greedy actions differ");
    cli_assert_in(text, "int8");
    free(text);
    aq_snapshot_unref(snapshot);
}

TEST(an_fp32_policy_has_no_error_and_no_scales)
{
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 7);
    char *text = policy_text(snapshot);
    cli_assert_in(text, "not measured");
    cli_assert_in(text, "(1 times as much)");
    assert_null(strstr(text, "int8"));
    free(text);
    json_t *json = aq_policy_view_json(snapshot, 0);
    assert_true(json_is_null(json_object_get(json, "quant_error")));
    assert_true(json_is_null(json_object_get(json, "file_bytes")));
    json_decref(json);
    aq_snapshot_unref(snapshot);
}

TEST(programs_see_what_a_policy_is)
{
    const char *kind, *run_id, *network, *precision;
    json_int_t version, bytes, bytes_fp32, rows;
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_INT8_CHANNEL, 7);
    json_t *json = aq_policy_view_json(snapshot, 1234);
    assert_int_equal(json_unpack(json, "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:{s:I}}", "kind",
                                 &kind, "run_id", &run_id, "network", &network, "precision",
                                 &precision, "policy_version", &version, "tensor_bytes", &bytes,
                                 "tensor_bytes_fp32", &bytes_fp32, "quant_error", "rows", &rows),
                     0);
    assert_string_equal(kind, "policy");
    assert_string_equal(run_id, "1122334455667788");
    assert_string_equal(network, "4-16r-8t-2");
    assert_string_equal(precision, "int8");
    assert_int_equal(version, 31);
    assert_int_equal(bytes, aq_snapshot_tensor_bytes(snapshot));
    assert_int_equal(bytes_fp32, 234 * 4);
    assert_int_equal(rows, 256);
    assert_int_equal(json_array_size(json_object_get(json, "layers")), 3);
    json_decref(json);
    aq_snapshot_unref(snapshot);
}

static void on_passed(void *user, const aq_error *error)
{
    (void)user;
    fail_msg("%s", error->text);
}

static aq_checkpoint_found read_checkpoint(void **state)
{
    aq_checkpoint_found found;
    cli_write_checkpoint(cli_path(state, "step-000000003000.aqc"), 3000);
    assert_int_equal(aq_checkpoint_folder_newest(*state, on_passed, NULL, &found, NULL), 0);
    return found;
}

TEST_WITH(people_see_what_a_checkpoint_is, cli_fixture_setup, cli_fixture_teardown)
{
    char *text = NULL;
    size_t size = 0;
    aq_checkpoint_found found = read_checkpoint(state);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(aq_checkpoint_view_print(out, found.path, &found.checkpoint, found.file_bytes),
                     0);
    assert_int_equal(fclose(out), 0);
    cli_assert_in(text, "step-000000003000.aqc: a checkpoint\n");
    cli_assert_in(text, "learner step 3000, 12.0k environment steps");
    cli_assert_in(text, "187.5 (confirmed)");
    cli_assert_in(text, "version 31 of learner step 3100, int8");
    cli_assert_in(text, "hidden layers 16,8 (relu)");
    free(text);
    aq_checkpoint_fini(&found.checkpoint);
}

TEST_WITH(programs_see_what_a_checkpoint_is, cli_fixture_setup, cli_fixture_teardown)
{
    const char *kind, *hidden, *precision;
    json_int_t step, parameters;
    double best;
    aq_checkpoint_found found = read_checkpoint(state);
    json_t *json = aq_checkpoint_view_json(&found.checkpoint, found.file_bytes);
    assert_int_equal(json_unpack(json, "{s:s, s:I, s:I, s:f, s:{s:s}, s:{s:{s:s}}}", "kind", &kind,
                                 "learner_step", &step, "parameters", &parameters, "best_return",
                                 &best, "best_policy", "precision", &precision, "config", "learner",
                                 "hidden", &hidden),
                     0);
    assert_string_equal(kind, "checkpoint");
    assert_int_equal(step, 3000);
    assert_int_equal(parameters, 234);
    assert_true(best == 187.5);
    assert_string_equal(precision, "int8");
    assert_string_equal(hidden, "16,8");
    json_decref(json);
    aq_checkpoint_fini(&found.checkpoint);
}

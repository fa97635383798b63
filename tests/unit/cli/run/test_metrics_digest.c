/*
 * The last line and the best version are found, whatever else is in the file.
 */
#include "cli/run/metrics_digest.h"
#include "cli/run/run_lines.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

#define PROGRESS(steps) "{\"event\":\"progress\",\"env_steps\":" steps "}\n"
#define EVALUATION(version, mean, confirmed)                                                       \
    "{\"event\":\"evaluation\",\"policy_version\":" version ",\"return_mean\":" mean               \
    ",\"confirmed\":" confirmed "}\n"

static aq_metrics_digest digest; /* of the test */

TEST_ENDING(end_digest, aq_metrics_digest_fini);

static void digest_of(void **state, const char *text)
{
    file_put_text(cli_path(state, "metrics.jsonl"), text);
    assert_succeeds(aq_metrics_digest_read(*state, &digest, &refusal));
    at_end(end_digest, &digest);
}

static json_int_t whole(const json_t *line, const char *key)
{
    assert_non_null(line);
    return json_integer_value(json_object_get(line, key));
}

TEST_IN_FOLDER(an_empty_file_has_nothing)
{
    digest_of(state, "");
    assert_int_equal(digest.lines, 0);
    assert_null(digest.last);
    assert_null(digest.best);
}

TEST_IN_FOLDER(the_last_line_is_kept)
{
    digest_of(state, PROGRESS("1") PROGRESS("2") PROGRESS("3"));
    assert_int_equal(digest.lines, 3);
    assert_int_equal(whole(digest.last, "env_steps"), 3);
}

TEST_IN_FOLDER(the_last_progress_is_kept_beside_the_last_line)
{
    digest_of(state, PROGRESS("1") PROGRESS("2") EVALUATION("1", "10.0", "false"));
    assert_int_equal(whole(digest.progress, "env_steps"), 2);
    assert_int_equal(whole(digest.last, "policy_version"), 1);
}

TEST_IN_FOLDER(half_a_line_at_the_end_is_passed_over)
{
    digest_of(state, PROGRESS("1") "{\"event\":\"prog");
    assert_int_equal(digest.lines, 1);
    assert_int_equal(whole(digest.last, "env_steps"), 1);
}

TEST_IN_FOLDER(empty_and_damaged_lines_are_passed_over)
{
    digest_of(state, "{\"event\":\"evaluation\",\n\n" PROGRESS("7"));
    assert_int_equal(whole(digest.last, "env_steps"), 7);
    assert_null(digest.best);
}

#define BEST(version, mean)                                                                        \
    ",\"best\":{\"policy_version\":" version ",\"episodes\":40,\"return_mean\":" mean              \
    ",\"return_std\":2,\"confirmed\":true}}\n"

TEST_IN_FOLDER(the_best_is_what_the_learner_said_last)
{
    digest_of(state, "{\"event\":\"progress\"" BEST("2", "30") "{\"event\":\"progress\"" BEST(
                         "1", "20") EVALUATION("3", "99.0", "false"));
    const aq_best_figure best = aq_metrics_digest_best(&digest);
    assert_int_equal(best.version, 1);
    assert_int_equal(best.episodes, 40);
    assert_true(best.mean == 20 && best.std == 2 && best.is_fresh);
}

TEST_IN_FOLDER(the_end_says_what_the_best_came_to)
{
    digest_of(state,
              "{\"event\":\"progress\"" BEST("2", "30") "{\"event\":\"end\"" BEST("2", "25"));
    assert_true(aq_metrics_digest_best(&digest).mean == 25);
    assert_int_equal(digest.lines, 2);
}

TEST_IN_FOLDER(without_a_word_there_is_no_best)
{
    digest_of(state, PROGRESS("1") EVALUATION("3", "99.0", "true"));
    assert_true(isnan(aq_metrics_digest_best(&digest).mean));
}

TEST_IN_FOLDER(a_line_that_is_too_long_to_be_ours_is_passed_over)
{
    enum { LONG = AQ_RUN_LINE_BYTES_MAX + 1000 };
    char *text = calloc(1, LONG + 1000);
    assert_non_null(text);
    memset(text, 'x', LONG);
    strcat(text, "\n" PROGRESS("5"));
    digest_of(state, text);
    assert_int_equal(digest.lines, 1);
    assert_int_equal(whole(digest.last, "env_steps"), 5);
    free(text);
}

#define END "{\"event\":\"end\",\"state\":\"solved\"}\n"

TEST_IN_FOLDER(the_end_of_a_run_is_told)
{
    digest_of(state, PROGRESS("1") END EVALUATION("2", "5.0", "false"));
    assert_non_null(digest.end);
    assert_string_equal(json_string_value(json_object_get(digest.end, "state")), "solved");
}

TEST_IN_FOLDER(a_run_that_was_resumed_has_no_end)
{
    digest_of(state, PROGRESS("1") END PROGRESS("2"));
    assert_null(digest.end);
}

/* It was interrupted before it told its progress. */
TEST_IN_FOLDER(an_evaluation_beyond_the_end_is_of_a_run_that_goes_on)
{
    digest_of(state, PROGRESS("1") END "{\"event\":\"evaluation\",\"env_steps\":1000000}\n");
    assert_null(digest.end);
}

TEST_IN_FOLDER(a_missing_file_is_named)
{
    assert_refused(aq_metrics_digest_read(*state, &digest, &refusal), AQ_E_NOT_FOUND,
                   cli_path(state, "metrics.jsonl"));
}

TEST_IN_FOLDER(a_folder_is_no_file)
{
    cli_make_folder(cli_path(state, "metrics.jsonl"));
    assert_true(aq_metrics_digest_read(*state, &digest, NULL) < 0);
}

TEST_IN_FOLDER(without_memory_nothing_is_read)
{
    file_put_text(cli_path(state, "metrics.jsonl"), PROGRESS("1"));
    assert_fails_without_memory(aq_metrics_digest_read(*state, &digest, NULL));
}

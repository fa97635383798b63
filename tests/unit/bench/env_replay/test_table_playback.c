/*
 * A table against a task that is one: chances, rewards, flags and starts, each found when wrong.
 */
#include "bench/env_replay/playback.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/sum_env.h"

#define STAY   "[[1, 0, 0, false]]"
#define GO     "[[0.5, 1, 5, true], [0.5, 0, -1, false]]"
#define THERE  "[[[1, 1, 0, true]], [[1, 1, 0, true]]]"
#define STARTS "\"initial_state_distrib\": [1, 0]"
#define EPISODES                                                                                   \
    "\"episodes\": [{\"initial_state\": 0, \"steps\": [[0, 0, 0, false, false, 1], "               \
    "[1, 1, 5, true, false, 0.5, 0], [1, 0, -1, false, false, 0.5]]}]"
#define TABLE(stay, go, starts, episodes)                                                          \
    "{\"id\": \"X\", \"P\": [[" stay ", " go "], " THERE "], " starts ", " episodes "}"

static int play(void **state, const aq_env_class *class, const char *text,
                aq_playback_report *report, aq_error *error)
{
    aq_recording *recording = NULL;
    const char *path = cli_path(state, "table.json");
    file_put_text(path, text);
    if (aq_recording_read(path, &recording, error) != 0) {
        fail_msg("%s", error->text);
    }
    int rc = aq_playback(sum_env_open(class, ""), sum_env_original(class), recording, false, report,
                         error);
    aq_recording_free(recording);
    return rc;
}

static aq_playback_report report_of(void **state, const char *text)
{
    aq_playback_report report;
    assert_succeeds(play(state, &sum_env_table, text, &report, &refusal));
    return report;
}

TEST(a_true_table_has_no_errors)
{
    aq_playback_report report = report_of(state, TABLE(STAY, GO, STARTS, EPISODES));
    assert_int_equal(report.steps, 4);
    assert_int_equal(report.state.compared, 2);
    assert_true(report.obs.error == 0 && report.reward.error == 0 && report.state.error == 0);
    assert_int_equal(report.mismatched_flags, 0);
}

TEST(the_order_of_outcomes_and_their_parts_do_not_matter)
{
    aq_playback_report report = report_of(
        state, TABLE(STAY, "[[0.25, 0, -1, false], [0.5, 1, 5, true], [0.25, 0, -1, false]]",
                     STARTS, EPISODES));
    assert_true(report.obs.error == 0 && report.reward.error == 0);
}

TEST(wrong_chances_are_found)
{
    aq_playback_report report = report_of(
        state, TABLE(STAY, "[[0.75, 1, 5, true], [0.25, 0, -1, false]]", STARTS, EPISODES));
    assert_true(report.obs.error == 0.25);
    assert_int_equal(report.obs.step, 0);
    assert_true(report.reward.error == 0);
}

TEST(an_outcome_that_ours_has_not_is_found)
{
    aq_playback_report report = report_of(state, TABLE("[[1, 1, 0, false]]", GO, STARTS, EPISODES));
    assert_true(report.obs.error == 1);
}

TEST(wrong_rewards_are_found)
{
    aq_playback_report report =
        report_of(state, TABLE(STAY, "[[0.5, 1, 4, true], [0.5, 0, -1, false]]", STARTS, EPISODES));
    assert_true(report.reward.error == 0.25);
    assert_true(report.obs.error == 0);
}

TEST(wrong_flags_are_counted)
{
    aq_playback_report report = report_of(
        state, TABLE(STAY, "[[0.5, 1, 5, false], [0.5, 0, -1, false]]", STARTS, EPISODES));
    assert_true(report.mismatched_flags > 0);
}

TEST(wrong_starts_are_found)
{
    aq_playback_report report =
        report_of(state, TABLE(STAY, GO, "\"initial_state_distrib\": [0.5, 0.5]", EPISODES));
    assert_true(report.state.error == 0.5);
}

TEST(an_episode_that_ours_could_not_play_is_found)
{
    aq_playback_report report = report_of(
        state, TABLE(STAY, GO, STARTS,
                     "\"episodes\": [{\"initial_state\": 0, \"steps\": [[0, 1, 0, false, true, 1, "
                     "0]]}]"));
    assert_true(report.obs.error == 1);
    assert_int_equal(report.mismatched_flags, 1); /* it was cut, and ours has no limit */
}

TEST(another_shape_is_refused)
{
    aq_playback_report report;
    assert_refused(play(state, &sum_env_table, "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]]]}",
                        &report, &refusal),
                   AQ_E_SCHEMA, "the recording has 1 states and 1 actions");
    assert_refused(
        play(state, &sum_env_plain, TABLE(STAY, GO, STARTS, EPISODES), &report, &refusal),
        AQ_E_UNSUPPORTED, "sum:Plain is no table");
}

TEST_GROUP(cli_fixture_setup, cli_fixture_teardown);

/*
 * What a playback finds is what was put into the recording: nothing, or the one wrong number.
 */
#include "bench/env_replay/playback.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/sum_env.h"

/* Three steps of sum:Plain from 1: as it does them. The numbers are exact in float, too. */
#define TRUE_START        "\"initial_state\": [1], \"initial_observation\": [1], "
#define TRUE_ACTIONS      "\"actions\": [[1], [-0.5], [0.25]], "
#define TRUE_OBSERVATIONS "\"observations\": [[1.5], [1.25], [1.375]], "
#define TRUE_STATES       "\"states\": [[1.5], [1.25], [1.375]], "
#define TRUE_REWARDS      "\"rewards\": [1, -0.5, 0.25], "
#define NO_ENDS           "\"terminated\": [0, 0, 0], \"truncated\": [0, 0, 0]"

TEST_ENDING(free_recording, aq_recording_free);

static aq_recording *record_text(void **state, const char *text)
{
    aq_recording *recording = NULL;
    const char *path = cli_path(state, "recording.json");
    file_put_text(path, text);
    assert_succeeds(aq_recording_read(path, &recording, &refusal));
    at_end(free_recording, recording);
    return recording;
}

static aq_recording *record(void **state, const char *members)
{
    char text[4096];
    (void)snprintf(text, sizeof(text), "{\"id\": \"X\", %s}", members);
    return record_text(state, text);
}

static aq_playback_report play(void **state, const aq_env_class *class, const char *members,
                               bool per_step)
{
    aq_playback_report report = {0};
    aq_recording *recording = record(state, members);
    aq_env *env = sum_env_open(class, "");
    assert_succeeds(
        aq_playback(env, sum_env_original(env->class), recording, per_step, &report, &refusal));
    assert_int_equal(sum_env_counts.begins, sum_env_counts.ends);
    return report;
}

static void refuse(void **state, const aq_env_class *class, const char *options,
                   const char *members, int code, const char *words)
{
    aq_playback_report report = {.steps = 77};
    aq_recording *recording = record(state, members);
    aq_env *env = sum_env_open(class, options);
    assert_refused(
        aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal), code,
        words);
    assert_int_equal(report.steps, 77);
    assert_int_equal(sum_env_counts.begins, sum_env_counts.ends);
}

/* ---- episodes ------------------------------------------------------------------------------- */

TEST(a_true_recording_has_no_errors)
{
    for (int per_step = 0; per_step < 2; per_step++) {
        aq_playback_report report = play(
            state, &sum_env_plain,
            TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS, per_step);
        assert_int_equal(report.steps, 3);
        assert_int_equal(report.obs.compared, 4);
        assert_int_equal(report.reward.compared, 3);
        assert_int_equal(report.state.compared, 3);
        assert_true(report.obs.error == 0 && report.reward.error == 0 && report.state.error == 0);
        assert_int_equal(report.mismatched_flags, 0);
    }
}

TEST(a_wrong_number_is_found_with_its_step)
{
    aq_playback_report report =
        play(state, &sum_env_plain,
             TRUE_START TRUE_ACTIONS
             "\"observations\": [[1.5], [1.25], [1.875]], "
             "\"states\": [[1.5], [1], [1.375]], \"rewards\": [1, 0, 0.25], " NO_ENDS,
             false);
    assert_true(report.obs.error == 0.5 / 1.875); /* scaled by what was recorded */
    assert_int_equal(report.obs.step, 2);
    assert_true(report.state.error == 0.25);
    assert_int_equal(report.state.step, 1);
    assert_true(report.reward.error == 0.5);
    assert_int_equal(report.reward.step, 1);
}

TEST(a_wrong_first_observation_has_step_minus_one)
{
    aq_playback_report report = play(
        state, &sum_env_plain,
        "\"initial_state\": [1], \"initial_observation\": [0.5], " TRUE_ACTIONS TRUE_OBSERVATIONS
            TRUE_STATES TRUE_REWARDS NO_ENDS,
        false);
    assert_true(report.obs.error == 0.5);
    assert_int_equal(report.obs.step, -1);
}

TEST(per_step_begins_each_step_in_the_recorded_state)
{
    /* All recorded states are one too high: open-loop all are wrong, per step only the first. */
    const char *members =
        TRUE_START TRUE_ACTIONS "\"observations\": [[2.5], [2.25], [2.375]], "
                                "\"states\": [[2.5], [2.25], [2.375]], " TRUE_REWARDS NO_ENDS;
    aq_playback_report loop = play(state, &sum_env_plain, members, false);
    assert_true(loop.state.error == 1 / 2.25);
    assert_int_equal(loop.state.step, 1);
    aq_playback_report steps = play(state, &sum_env_plain, members, true);
    assert_true(steps.state.error == 1 / 2.5);
    assert_int_equal(steps.state.step, 0);
}

TEST(a_reset_is_followed)
{
    aq_playback_report report =
        play(state, &sum_env_plain,
             "\"initial_state\": [3.5], \"initial_observation\": [3.5], "
             "\"actions\": [[1], [1], [1]], \"observations\": [[4], [0.5], [1]], "
             "\"states\": [[4], [0.5], [1]], \"rewards\": [1, 1, 1], "
             "\"terminated\": [true, false, false], \"truncated\": [false, false, false], "
             "\"resets\": [{\"after_step\": 0, \"state\": [0], \"observation\": [0]}]",
             false);
    assert_true(report.obs.error == 0 && report.state.error == 0);
    assert_int_equal(report.obs.compared, 5);
    assert_int_equal(report.mismatched_flags, 0);
}

TEST(flags_that_differ_are_counted_and_the_playback_goes_on)
{
    aq_playback_report report =
        play(state, &sum_env_plain,
             "\"initial_state\": [3.5], \"initial_observation\": [3.5], "
             "\"actions\": [[1], [0.5], [-1]], \"observations\": [[4], [4.25], [3.75]], "
             "\"states\": [[4], [4.25], [3.75]], \"rewards\": [1, 0.5, -1], "
             "\"terminated\": [false, true, false], \"truncated\": [false, false, true]",
             false);
    assert_int_equal(report.mismatched_flags, 2); /* ours ends in step 0, theirs is cut in step 2 */
    assert_true(report.state.error == 0);
}

TEST(the_step_limit_truncates)
{
    /* Eight steps of nothing: the eighth is the last. */
    aq_playback_report report = play(
        state, &sum_env_plain,
        "\"initial_state\": [0], \"initial_observation\": [0], \"actions\": [0, 0, 0, 0, 0, 0, 0, "
        "0], \"observations\": [0, 0, 0, 0, 0, 0, 0, 0], \"states\": [0, 0, 0, 0, 0, 0, 0, 0], "
        "\"rewards\": [0, 0, 0, 0, 0, 0, 0, 0], \"terminated\": [0, 0, 0, 0, 0, 0, 0, 0], "
        "\"truncated\": [0, 0, 0, 0, 0, 0, 0, 1]",
        true);
    assert_int_equal(report.mismatched_flags, 0);
}

TEST(a_golden_step_takes_actions_in_double)
{
    const char *members =
        "\"initial_state\": [0], \"initial_observation\": [0], \"actions\": [[0.1, 0]], "
        "\"observations\": [[0.05]], \"states\": [[0.05]], \"rewards\": [0.1], "
        "\"terminated\": [false], \"truncated\": [false]";
    aq_playback_report report = play(state, &sum_env_exact, members, false);
    assert_true(report.obs.error == 0 && report.reward.error == 0 && report.state.error == 0);
}

TEST(rows_of_floats_are_compared_as_they_are)
{
    aq_playback_report report =
        play(state, &sum_env_plain,
             "\"initial_state\": [0], \"initial_observation\": [0], \"actions\": [[0.1]], "
             "\"observations\": [[0.05]], \"states\": [[0.05]], \"rewards\": [0.1], "
             "\"terminated\": [false], \"truncated\": [false]",
             false);
    assert_true(report.obs.error > 0 && report.obs.error < 1e-8);
}

/* ---- errors --------------------------------------------------------------------------------- */

TEST(nan_against_a_number_is_an_infinite_error)
{
    aq_worst worst = {0};
    aq_worst_offer(&worst, 3, (double)NAN, (double)NAN);
    assert_true(worst.error == 0);
    aq_worst_offer(&worst, 4, (double)INFINITY, (double)INFINITY);
    assert_true(worst.error == 0);
    aq_worst_offer(&worst, 5, (double)NAN, 1);
    assert_true(isinf(worst.error));
    assert_int_equal(worst.step, 5);
    aq_worst_offer(&worst, 6, 1, 2);
    assert_int_equal(worst.step, 5);
    assert_int_equal(worst.compared, 4);
}

TEST(what_cannot_be_played_back_is_refused)
{
    refuse(state, &sum_env_closed, "",
           TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS,
           AQ_E_UNSUPPORTED, "sum:Closed can't be put into a recorded state");
    refuse(state, &sum_env_exact, "",
           TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS, AQ_E_SCHEMA,
           "an action of sum:Exact has 2 numbers, a recorded one 1");
    refuse(state, &sum_env_plain, "",
           "\"initial_state\": [1], \"initial_observation\": [1, 2], " TRUE_ACTIONS
           "\"observations\": [[1, 2], [1, 2], [1, 2]], " TRUE_STATES TRUE_REWARDS NO_ENDS,
           AQ_E_SCHEMA, "an observation of sum:Plain has 1 numbers, a recorded one 2");
    refuse(state, &sum_env_plain, "",
           "\"initial_state\": [1, 2], \"initial_observation\": [1], "
           "\"states\": [[1, 2], [1, 2], [1, 2]], " TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_REWARDS
               NO_ENDS,
           AQ_E_INVALID, "the recording's 'state' has 2 numbers, not 1");
    refuse(state, &sum_env_plain, "",
           TRUE_START
           "\"actions\": [[1], [-1.5], [0]], " TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS,
           AQ_E_CORRUPT, "step 1: an action has -1.5, out of its bounds");
    refuse(state, &sum_env_plain, "?fail_step=2",
           TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS, AQ_E_PEER,
           "step 1: sum:Plain?fail_step=2: a step failed: it was asked to");
    refuse(state, &sum_env_plain, "?fail_resets=yes",
           TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS, AQ_E_PEER,
           "a reset failed: it was asked to");
}

TEST(a_failing_allocation_leaves_nothing_behind)
{
    aq_recording *recording =
        record(state, TRUE_START TRUE_ACTIONS TRUE_OBSERVATIONS TRUE_STATES TRUE_REWARDS NO_ENDS);
    aq_env *env = sum_env_open(&sum_env_plain, "");
    int rc = 0;
    EACH_ALLOCATION_FAILS(rc) {
        aq_playback_report report;
        rc = aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal);
        assert_int_equal(sum_env_counts.begins, sum_env_counts.ends);
    }
}

/* ---- probes --------------------------------------------------------------------------------- */

static aq_recording *probe(void **state, const char *members)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "{\"domain\": \"sum\", \"task\": \"Any\", \"probes\": [{%s, "
                   "\"observation\": [1], \"reward\": 2}]}",
                   members);
    return record_text(state, text);
}

TEST(probes_compare_the_state_as_it_was_put_in)
{
    aq_playback_report report;
    /* Its state is called "state", so that a probe that has none is refused. */
    aq_recording *recording = probe(state, "\"qpos\": [1]");
    aq_env *env = sum_env_open(&sum_env_exact, "");
    assert_refused(
        aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal),
        AQ_E_INVALID, "probe 0: the recording has no 'state'");
    recording->series[0].name = "state";
    assert_succeeds(
        aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal));
    assert_int_equal(report.steps, 1);
    assert_true(report.obs.error == 0 && report.reward.error == 0 && report.state.error == 0);
    assert_int_equal(report.reward.compared, 1);
}

TEST(a_state_of_another_width_than_ours_is_refused)
{
    aq_playback_report report;
    aq_recording *recording = probe(state, "\"qpos\": [1], \"qvel\": [1, 2]");
    aq_env *env = sum_env_open(&sum_env_exact, "");
    recording->series[0].name = recording->series[1].name = "state"; /* the first is put in */
    assert_refused(
        aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal),
        AQ_E_SCHEMA, "probe 0: 'state' is 1 numbers in sum:Exact, but 2 in the recording");
}

TEST(a_reward_of_transitions_is_not_asked_of_a_state)
{
    aq_playback_report report;
    aq_recording *recording = probe(state, "\"qpos\": [1]");
    recording->series[0].name = "state";
    aq_env *env = sum_env_open(&sum_env_plain, "");
    assert_succeeds(
        aq_playback(env, sum_env_original(env->class), recording, false, &report, &refusal));
    assert_int_equal(report.reward.compared, 0);
    assert_true(report.obs.error == 0);
}

TEST_GROUP(cli_fixture_setup, cli_fixture_teardown);

/*
 * What a comparison reads of a run: curve, totals, times and energy, whole or damaged.
 */
#include "cli/compare/compare_curve.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const char whole[] =
    "{\"event\":\"evaluation\",\"wall_s\":1.0,\"env_steps\":100,\"return_mean\":10.0}\n"
    "{\"event\":\"progress\",\"wall_s\":1.5,\"env_steps\":150,\"staleness\":2.0}\n"
    "not a line of ours\n"
    "{\"event\":\"evaluation\",\"wall_s\":1.7,\"env_steps\":170,\"return_mean\":500.0,"
    "\"format\":\"fp32\",\"fell_back\":true}\n"
    "{\"event\":\"evaluation\",\"wall_s\":1.8,\"env_steps\":180,\"return_mean\":500.0,"
    "\"format\":\"int8\",\"confirmed\":true}\n"
    "{\"event\":\"evaluation\",\"wall_s\":2.0,\"env_steps\":950,\"return_mean\":20.0}\n"
    "{\"event\":\"evaluation\",\"wall_s\":2.5,\"env_steps\":960,\"return_mean\":null}\n"
    "{\"event\":\"progress\",\"wall_s\":2.5,\"env_steps\":960,\"staleness\":4.0}\n"
    "{\"event\":\"evaluation\",\"wall_s\":3.0,\"env_steps\":1000,\"return_mean\":40.0}\n"
    "{\"event\":\"end\",\"wall_s\":4.0,\"state\":\"budget\",\"env_steps\":1000,"
    "\"learner_steps\":50,\"policy_versions\":8,\"policy_fallbacks\":2,\"broadcast_bytes\":700,"
    "\"time\":{\"actors\":{\"env_steps\":900,"
    "\"inference_s\":1.25,\"waiting_s\":0.5},\"learner\":{\"training_s\":3.5},\"replay\":null}}\n";

static aq_compare_curve curve; /* of the test */

TEST_ENDING(end_curve, aq_compare_curve_fini);

static void read_text(void **state, const char *text)
{
    file_put_text(cli_path(state, "metrics.jsonl"), text);
    assert_int_equal(aq_compare_curve_read(*state, &curve, NULL), 0);
    at_end(end_curve, &curve);
}

/* But not that of a version that fell back to fp32, nor one that repeats a screening. */
TEST_IN_FOLDER(evaluations_become_points)
{
    read_text(state, whole);
    assert_int_equal(curve.returns.count, 3);
    assert_true(curve.returns.points[1].wall_s == 2.0 && curve.returns.points[1].env_steps == 950);
    assert_true(curve.returns.points[2].value == 40.0);
}

TEST_IN_FOLDER(the_end_tells_the_totals)
{
    read_text(state, whole);
    assert_string_equal(curve.end, "budget");
    assert_true(curve.wall_s == 4.0);
    assert_int_equal(curve.env_steps, 1000);
    assert_int_equal(curve.learner_steps, 50);
    assert_int_equal(curve.broadcast_bytes, 700);
    assert_int_equal(curve.policy_versions, 8);
    assert_int_equal(curve.policy_fallbacks, 2);
    assert_true(curve.staleness == 3.0);
}

/* From an hour on they are told ever more rarely. */
TEST_IN_FOLDER(a_line_of_progress_counts_as_the_seconds_that_it_stands_for)
{
    read_text(state, "{\"event\":\"progress\",\"wall_s\":35990.0,\"staleness\":2.0}\n"
                     "{\"event\":\"progress\",\"wall_s\":35991.01,\"staleness\":3.0}\n"
                     "{\"event\":\"progress\",\"wall_s\":36001.0,\"staleness\":3.0}\n"
                     "{\"event\":\"progress\",\"wall_s\":35990.0,\"staleness\":3.0}\n");
    assert_near(curve.staleness, (2.0 + 12 * 3.0) / 13, 1e-9);
}

/* What fuzzing found: one such line was the end of the whole file. */
TEST_IN_FOLDER(an_end_in_no_state_of_ours_is_passed_over)
{
    char text[sizeof(whole) + 200];
    snprintf(text, sizeof(text), "%s%s", whole,
             "{\"event\":\"end\",\"wall_s\":9.0,\"state\":\"a state of nobody's\"}\n");
    read_text(state, text);
    assert_string_equal(curve.end, "budget");
    assert_true(curve.wall_s == 4.0);
}

TEST_IN_FOLDER(times_that_were_not_told_are_not_known)
{
    read_text(state, whole);
    assert_true(curve.states[AQ_TIME_ACTOR_INFERENCE] == 1.25);
    assert_true(curve.states[AQ_TIME_LEARNER_TRAINING] == 3.5);
    assert_true(curve.actor_steps == 900);
    assert_true(isnan(curve.states[AQ_TIME_ACTOR_ENVIRONMENT]));
    assert_true(isnan(curve.states[AQ_TIME_REPLAY_SAMPLING]));
}

TEST_IN_FOLDER(the_final_return_is_the_mean_of_the_last_tenth)
{
    read_text(state, whole);
    assert_true(aq_compare_curve_final(&curve) == 30.0);
    curve.env_steps *= 10; /* it went on for long, and nothing was shown */
    assert_true(aq_compare_curve_final(&curve) == 40.0);
    aq_compare_curve_fini(&curve);
    assert_true(isnan(aq_compare_curve_final(&curve)));
}

TEST_IN_FOLDER(a_run_that_was_resumed_goes_back)
{
    read_text(state, "{\"event\":\"evaluation\",\"wall_s\":1.0,\"env_steps\":1,\"return_mean\":1}\n"
                     "{\"event\":\"evaluation\",\"wall_s\":3.0,\"env_steps\":3,\"return_mean\":3}\n"
                     "{\"event\":\"end\",\"wall_s\":3.5,\"state\":\"stopped\",\"env_steps\":3}\n"
                     "{\"event\":\"evaluation\",\"wall_s\":2.0,\"env_steps\":2,\"return_mean\":2}\n"
                     "{\"event\":\"progress\",\"wall_s\":2.5,\"env_steps\":2}\n");
    assert_int_equal(curve.returns.count, 2);
    assert_true(curve.returns.points[1].value == 2.0);
    assert_string_equal(curve.end, "");
    assert_true(curve.wall_s == 2.5);
}

TEST_IN_FOLDER(time_that_a_clock_went_back_by_is_kept)
{
    read_text(state, "{\"event\":\"progress\",\"wall_s\":60.0}\n"
                     "{\"event\":\"progress\",\"wall_s\":52.0}\n"
                     "{\"event\":\"end\",\"wall_s\":100.0,\"state\":\"budget\"}\n");
    assert_true(curve.lost_s == 8.0);
}

/* Some of them lie in mapped files. */
TEST_IN_FOLDER(a_step_takes_what_shards_have_of_it_anywhere)
{
    read_text(state, "{\"event\":\"progress\",\"wall_s\":1,\"replay\":{\"stored\":100,"
                     "\"bytes\":18000,\"bytes_per_step\":90}}\n");
    assert_true(curve.row_bytes == 180);
}

#define TIMES(actors, learner, replay)                                                             \
    "{\"event\":\"progress\",\"wall_s\":1,\"time\":{\"actors\":{\"env_steps\":" actors             \
    ",\"inference_s\":" actors "},\"learner\":{\"training_s\":" learner                            \
    ",\"waiting_s\":1},\"replay\":{\"sampling_s\":" replay "}}}\n"

TEST_IN_FOLDER(times_of_all_lives_are_added_up)
{
    read_text(state, TIMES("10", "5", "2") TIMES("20", "9", "4") TIMES("3", "1", "1")
                         TIMES("6", "2", "2"));
    assert_true(curve.states[AQ_TIME_LEARNER_TRAINING] == 9 + 2);
    assert_true(curve.states[AQ_TIME_LEARNER_WAITING] == 1 + 1);
    assert_true(curve.states[AQ_TIME_ACTOR_INFERENCE] == 20 + 6);
    assert_true(curve.states[AQ_TIME_REPLAY_SAMPLING] == 4 + 2);
    assert_true(curve.actor_steps == 20 + 6);
}

#define USE(training, waiting, behind)                                                             \
    "{\"event\":\"progress\",\"wall_s\":1,\"time\":{\"learner\":{\"training_s\":" training         \
    ",\"publishing_s\":0,\"waiting_s\":" waiting ",\"other_ranks\":[{\"training_s\":" waiting      \
    ",\"publishing_s\":0,\"waiting_s\":" training "}]}},\"replay_use\":{\"staleness\":" behind     \
    "}}\n"

TEST_IN_FOLDER(shares_are_of_all_lives)
{
    read_text(state, USE("5", "3", "[9]") USE("6", "4", "[1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,3,4,5]")
                         USE("1", "2", "[1]") USE("2", "4", "[8,1]"));
    assert_near(curve.rank_waits[0], (4 + 4.0) / (6 + 4 + 2 + 4), 1e-12);
    assert_near(curve.rank_waits[1], (6 + 2.0) / (6 + 4 + 2 + 4), 1e-12);
    assert_true(isnan(curve.rank_waits[2]));
    assert_int_equal(curve.behind[0], 1 + 8);
    assert_int_equal(curve.behind[1], 2 + 1);
    assert_int_equal(curve.behind[AQ_CURVE_BINS - 1], 3 + 4 + 5); /* and more */
}

/* A learner's first line comes before its actors have told of a step. */
TEST_IN_FOLDER(times_of_a_life_that_begins_are_added_when_they_are_told)
{
    static const char first[] =
        "{\"event\":\"progress\",\"wall_s\":1,\"time\":{\"actors\":null,"
        "\"learner\":{\"training_s\":1,\"waiting_s\":1},\"replay\":null}}\n";
    char text[4096];
    snprintf(text, sizeof(text), "%s%s%s", TIMES("10", "5", "2"), first, TIMES("12", "2", "3"));
    read_text(state, text);
    assert_true(curve.states[AQ_TIME_LEARNER_TRAINING] == 5 + 2);
    assert_true(curve.states[AQ_TIME_ACTOR_INFERENCE] == 10 + 12);
    assert_true(curve.states[AQ_TIME_REPLAY_SAMPLING] == 2 + 3);
    assert_true(curve.actor_steps == 10 + 12);
}

TEST_IN_FOLDER(a_file_that_is_not_there_is_said)
{
    assert_refused(aq_compare_curve_read(*state, &curve, &refusal), AQ_E_NOT_FOUND, "can't open");
}

TEST_IN_FOLDER(no_memory_leaves_nothing_behind)
{
    file_put_text(cli_path(state, "metrics.jsonl"), whole);
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_compare_curve_read(*state, &curve, NULL);
    }
    aq_compare_curve_fini(&curve);
}

/* ---- when a threshold is reached ------------------------------------------------------------ */

enum { COUNT = 12 };

/* Values 0, 1, 2 ... */
static size_t crossing_of_ramp(size_t count, double threshold)
{
    aq_series_point points[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        points[i] = (aq_series_point){.value = (double)i};
    }
    const aq_compare_curve ramp = {.returns = {.points = points, .count = count}};
    return aq_compare_curve_crossing(&ramp, threshold);
}

TEST(a_threshold_that_is_never_reached_has_no_crossing)
{
    assert_int_equal(crossing_of_ramp(COUNT, 11.5), COUNT);
    assert_int_equal(crossing_of_ramp(COUNT, (double)NAN), COUNT);
    assert_int_equal(crossing_of_ramp(0, 0), 0);
}

TEST(a_crossing_waits_for_a_whole_window)
{
    assert_int_equal(crossing_of_ramp(COUNT, 0), 9);
    assert_int_equal(crossing_of_ramp(COUNT, 4.5), 9); /* the mean itself */
    assert_int_equal(crossing_of_ramp(COUNT, 5), 10);
    assert_int_equal(crossing_of_ramp(COUNT, 6.6), COUNT);
    assert_int_equal(crossing_of_ramp(9, 0), 9);
}

TEST(a_single_peak_crosses_nothing_in_the_mean)
{
    aq_series_point points[COUNT] = {{0}};
    const aq_compare_curve peak = {.returns = {.points = points, .count = COUNT}};
    points[3].value = 100;
    assert_int_equal(aq_compare_curve_crossing(&peak, 50), COUNT);
}

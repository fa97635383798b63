/*
 * Every line of metrics.jsonl is one JSON object, whatever the numbers and however full the disk.
 */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "learner/metrics/metrics.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { FILE_BYTES_MAX = 65536, LINES_MAX = 64 };

/* The lines as objects; NULL for one that is none. */
typedef struct metrics_lines {
    json_t *objects[LINES_MAX];
    size_t count;
    size_t broken;
} metrics_lines;

static metrics_lines read_lines(void **state)
{
    static char text[FILE_BYTES_MAX];
    metrics_lines lines = {.count = 0};
    size_t size = fixture_read_bytes(run_dir_path(state, "metrics.jsonl"), text, sizeof(text) - 1);
    text[size] = '\0';
    assert_true(size == 0 || text[size - 1] == '\n');
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');
        *end = '\0';
        assert_true(lines.count < LINES_MAX);
        json_t *object = json_loads(line, 0, NULL);
        lines.objects[lines.count++] = object;
        lines.broken += object == NULL;
        line = end + 1;
    }
    return lines;
}

static void lines_fini(metrics_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        json_decref(lines->objects[i]);
    }
}

static aq_metrics *open_metrics(void **state)
{
    aq_metrics *metrics = NULL;
    assert_int_equal(aq_metrics_open(*state, &metrics, NULL), 0);
    return metrics;
}

/* Its metrics are of static storage, until the next call. */
static aq_metrics_sample sample_of(double loss)
{
    static double values[2];
    values[0] = loss;
    values[1] = 3;
    return (aq_metrics_sample){
        .wall_s = 12.5,
        .env_steps = 1000,
        .learner_steps = 200,
        .env_steps_per_s = 100.25,
        .learner_steps_per_s = 20,
        .metrics = &fixture_metrics,
        .metric_values = values,
        .staleness = 1.5,
        .training_return = 22,
        .policy_version = 7,
        .policy_versions = 6,
        .policy_deltas = 5,
        .broadcast_bytes = 700,
        .broadcast_bytes_fp32 = 2800,
        .action_disagreement = 0.01,
        .actors = 2,
        .evaluators = 1,
        .shards = 3,
        .batch_wait_share = 0.5,
    };
}

static int progress(aq_metrics *metrics, double loss)
{
    aq_metrics_sample sample = sample_of(loss);
    return aq_metrics_progress(metrics, &sample, NULL);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        fail_msg("%s is not a number", key);
    }
    return json_number_value(value);
}

static void assert_text(const json_t *object, const char *key, const char *expected)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* ---- lines --------------------------------------------------------------------------------- */

TEST_WITH(a_progress_line_has_every_number, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = open_metrics(state);
    assert_int_equal(progress(metrics, 0.125), 0);
    aq_metrics_close(metrics);

    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 1);
    const json_t *line = lines.objects[0];
    assert_text(line, "event", "progress");
    assert_true(number(line, "wall_s") == 12.5);
    assert_true(number(line, "env_steps") == 1000);
    assert_true(number(line, "learner_steps") == 200);
    assert_true(number(line, "env_steps_per_s") == 100.25);
    assert_true(number(line, "learner_steps_per_s") == 20);
    assert_true(number(line, "loss") == 0.125);
    assert_true(number(line, "q_mean") == 3);
    assert_true(number(line, "staleness") == 1.5);
    assert_true(number(line, "training_return") == 22);
    assert_true(number(line, "policy_version") == 7);
    assert_true(number(line, "broadcast_bytes") == 700);
    assert_true(number(line, "broadcast_bytes_fp32") == 2800);
    assert_true(number(line, "action_disagreement") == 0.01);
    assert_true(number(line, "actors") == 2);
    assert_true(number(line, "evaluators") == 1);
    assert_true(number(line, "shards") == 3);
    assert_true(number(line, "batch_wait_share") == 0.5);
    assert_true(number(line, "policy_versions") == 6);
    assert_true(number(line, "policy_deltas") == 5);
    assert_int_equal(json_object_size(line), 20);
    lines_fini(&lines);
}

TEST_WITH(what_replay_came_to_is_part_of_the_line, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = open_metrics(state);
    aq_metrics_sample sample = sample_of(1);
    sample.replay =
        json_pack("{s:i, s:[i,i], s:s, s:[{s:s, s:s}]}", "inserted", 5, "age_ms", 1, 2, "waiting",
                  "for actors", "tables", "name", "main", "times_sampled", "NaN");
    sample.replay_use = json_pack("{s:i, s:s}", "answers", 9, "answer_ms_mean", "-Infinity");
    assert_int_equal(aq_metrics_progress(metrics, &sample, NULL), 0);
    json_decref(sample.replay);
    json_decref(sample.replay_use);
    aq_metrics_close(metrics);

    metrics_lines lines = read_lines(state);
    const json_t *replay = json_object_get(lines.objects[0], "replay");
    const json_t *use = json_object_get(lines.objects[0], "replay_use");
    const json_t *table = json_array_get(json_object_get(replay, "tables"), 0);
    assert_true(number(replay, "inserted") == 5);
    assert_int_equal(json_array_size(json_object_get(replay, "age_ms")), 2);
    assert_text(replay, "waiting", "for actors");
    assert_text(table, "name", "main");
    assert_true(json_is_null(json_object_get(table, "times_sampled")));
    assert_true(number(use, "answers") == 9);
    assert_true(json_is_null(json_object_get(use, "answer_ms_mean")));
    lines_fini(&lines);
}

TEST_WITH(what_is_not_a_number_is_null, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = open_metrics(state);
    assert_int_equal(progress(metrics, NAN), 0);
    assert_int_equal(progress(metrics, INFINITY), 0);
    assert_int_equal(progress(metrics, -INFINITY), 0);
    aq_metrics_close(metrics);
    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(json_is_null(json_object_get(lines.objects[i], "loss")));
        assert_true(number(lines.objects[i], "q_mean") == 3);
    }
    lines_fini(&lines);
}

TEST_WITH(an_evaluation_and_the_end_are_lines_of_their_own, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = open_metrics(state);
    aq_evaluation_result result = {.version = 9,
                                   .episodes = 100,
                                   .return_mean = 480.5,
                                   .return_std = 20,
                                   .return_min = 300,
                                   .return_max = 500,
                                   .confirmed = true};
    assert_int_equal(aq_metrics_evaluation(metrics, 30, 5000, &result, NULL), 0);
    aq_metrics_outcome outcome = {.state = "solved",
                                  .wall_s = 31,
                                  .env_steps = 6000,
                                  .learner_steps = 700,
                                  .policy_versions = 80,
                                  .broadcast_bytes = 900,
                                  .broadcast_bytes_fp32 = 1000};
    assert_int_equal(aq_metrics_end(metrics, &outcome, NULL), 0);
    aq_metrics_close(metrics);

    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 2);
    assert_text(lines.objects[0], "event", "evaluation");
    assert_true(number(lines.objects[0], "wall_s") == 30);
    assert_true(number(lines.objects[0], "env_steps") == 5000);
    assert_true(number(lines.objects[0], "policy_version") == 9);
    assert_true(number(lines.objects[0], "episodes") == 100);
    assert_true(number(lines.objects[0], "return_mean") == 480.5);
    assert_true(number(lines.objects[0], "return_std") == 20);
    assert_true(number(lines.objects[0], "return_min") == 300);
    assert_true(number(lines.objects[0], "return_max") == 500);
    assert_true(json_is_true(json_object_get(lines.objects[0], "confirmed")));
    assert_text(lines.objects[1], "event", "end");
    assert_true(number(lines.objects[1], "wall_s") == 31);
    assert_text(lines.objects[1], "state", "solved");
    assert_true(number(lines.objects[1], "env_steps") == 6000);
    assert_true(number(lines.objects[1], "learner_steps") == 700);
    assert_true(number(lines.objects[1], "policy_versions") == 80);
    assert_true(number(lines.objects[1], "broadcast_bytes") == 900);
    assert_true(number(lines.objects[1], "broadcast_bytes_fp32") == 1000);
    lines_fini(&lines);
}

TEST_WITH(a_comparison_is_a_line_and_their_sum_part_of_the_end, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = open_metrics(state);
    const aq_version_gap one = {.version = 7, .episodes = 1, .return_fp32 = 90, .mean = -4};
    const aq_version_gap other = {
        .version = 8, .episodes = 4, .return_fp32 = 95, .mean = 2, .std = 2};
    aq_metrics_outcome outcome = {.state = "budget"};
    assert_int_equal(aq_metrics_end(metrics, &outcome, NULL), 0);
    aq_precision_gap_add(&outcome.gap, &one);
    aq_precision_gap_add(&outcome.gap, &other);
    assert_int_equal(aq_metrics_gap(metrics, 30, 5000, &one, NULL), 0);
    assert_int_equal(aq_metrics_gap(metrics, 31, 5001, &other, NULL), 0);
    assert_int_equal(aq_metrics_end(metrics, &outcome, NULL), 0);
    aq_metrics_close(metrics);

    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 4);
    assert_null(json_object_get(lines.objects[0], "precision_gap")); /* nothing was compared */
    assert_text(lines.objects[1], "event", "gap");
    assert_true(number(lines.objects[1], "policy_version") == 7);
    assert_true(number(lines.objects[1], "return_fp32") == 90);
    assert_true(number(lines.objects[1], "mean") == -4);
    assert_true(json_is_null(json_object_get(lines.objects[1], "ci95")));
    assert_true(fabs(number(lines.objects[2], "ci95") - 1.95996398454) < 1e-6);
    const json_t *gap = json_object_get(lines.objects[3], "precision_gap");
    assert_true(number(gap, "versions") == 2 && number(gap, "episodes") == 5);
    assert_true(number(gap, "mean") == -1);
    assert_true(fabs(number(gap, "ci95") - 3 * 1.95996398454) < 1e-6);
    lines_fini(&lines);
}

TEST_WITH(a_resumed_run_goes_on_below, run_dir_setup, run_dir_teardown)
{
    for (int i = 0; i < 3; i++) {
        aq_metrics *metrics = open_metrics(state);
        assert_int_equal(progress(metrics, i), 0);
        aq_metrics_close(metrics);
    }
    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 3);
    assert_int_equal(lines.broken, 0);
    assert_true(number(lines.objects[2], "loss") == 2);
    lines_fini(&lines);
}

/* ---- a full disk --------------------------------------------------------------------------- */

static void limit_file_size(size_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t file_size(void **state)
{
    struct stat status;
    assert_int_equal(stat(run_dir_path(state, "metrics.jsonl"), &status), 0);
    return (size_t)status.st_size;
}

/* One good line, one that the disk has only `room` bytes for, then room again. */
static void tear(void **state, size_t room, bool reopen)
{
    aq_metrics *metrics = open_metrics(state);
    assert_int_equal(progress(metrics, 1), 0);
    limit_file_size(file_size(state) + room);
    int first = progress(metrics, 2);
    int second = progress(metrics, 3);
    limit_file_size(0);
    assert_true(first != 0);
    assert_true(second != 0);
    if (reopen) {
        aq_metrics_close(metrics);
        metrics = open_metrics(state);
    }
    assert_int_equal(progress(metrics, 4), 0);
    assert_int_equal(progress(metrics, 5), 0);
    aq_metrics_close(metrics);

    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, room > 0 ? 4 : 3);
    assert_int_equal(lines.broken, room > 0 ? 1 : 0);
    assert_true(number(lines.objects[0], "loss") == 1);
    assert_true(number(lines.objects[lines.count - 2], "loss") == 4);
    assert_true(number(lines.objects[lines.count - 1], "loss") == 5);
    lines_fini(&lines);
    assert_int_equal(unlink(run_dir_path(state, "metrics.jsonl")), 0);
}

TEST_WITH(a_line_that_was_cut_short_costs_no_other, run_dir_setup, run_dir_teardown)
{
    static const size_t rooms[] = {0, 1, 2, 100, 200};
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        tear(state, rooms[i], false);
        tear(state, rooms[i], true); /* by the process after it */
    }
}

TEST_WITH(a_crash_in_the_middle_of_a_line_costs_no_other, run_dir_setup, run_dir_teardown)
{
    fixture_write_bytes(run_dir_path(state, "metrics.jsonl"), "{\"event\":\"prog", 14);
    aq_metrics *metrics = open_metrics(state);
    assert_int_equal(progress(metrics, 1), 0);
    aq_metrics_close(metrics);
    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 2);
    assert_int_equal(lines.broken, 1);
    assert_true(number(lines.objects[1], "loss") == 1);
    lines_fini(&lines);
}

TEST_WITH(a_full_disk_is_said, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = NULL;
    aq_metrics_sample sample = sample_of(1);
    aq_error error = {0};
    if (symlink("/dev/full", run_dir_path(state, "metrics.jsonl")) != 0 ||
        access("/dev/full", W_OK) != 0) {
        skip();
    }
    assert_int_equal(aq_metrics_open(*state, &metrics, NULL), 0);
    assert_int_equal(aq_metrics_progress(metrics, &sample, &error), AQ_E_NO_SPACE);
    assert_non_null(strstr(error.text, "metrics.jsonl"));
    aq_metrics_close(metrics);
}

/* ---- opening ------------------------------------------------------------------------------- */

TEST_WITH(a_folder_that_is_not_there_is_named, run_dir_setup, run_dir_teardown)
{
    int untouched = 0;
    aq_metrics *metrics = (aq_metrics *)(void *)&untouched;
    aq_error error = {0};
    assert_int_equal(aq_metrics_open(run_dir_path(state, "nowhere"), &metrics, &error),
                     AQ_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "nowhere/metrics.jsonl"));
    assert_ptr_equal(metrics, &untouched);
}

TEST_WITH(a_path_that_is_too_long_is_refused, run_dir_setup, run_dir_teardown)
{
    static char path[5000];
    aq_metrics *metrics = NULL;
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(aq_metrics_open(path, &metrics, NULL), AQ_E_TOO_BIG);
    assert_null(metrics);
    aq_metrics_close(NULL);
}

TEST_WITH(a_failed_allocation_costs_the_line_alone, run_dir_setup, run_dir_teardown)
{
    aq_metrics *metrics = NULL;
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_metrics_open(*state, &metrics, NULL), AQ_E_NOMEM);
    metrics = open_metrics(state);
    aq_memory_fail_at(1, 0);
    assert_int_equal(progress(metrics, 1), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_int_equal(progress(metrics, 2), 0);
    aq_metrics_close(metrics);
    metrics_lines lines = read_lines(state);
    assert_int_equal(lines.count, 1);
    lines_fini(&lines);
}

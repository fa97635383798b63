/*
 * Every line of metrics.jsonl is one JSON object, whatever the numbers and however full the disk.
 */
#define _GNU_SOURCE /* memfd_create */

#include <fcntl.h>
#include <jansson.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "learner/metrics/log_file.h"
#include "learner/metrics/metrics.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { LINES_MAX = 64 };

/* The lines as objects; NULL for one that is none. */
typedef struct metrics_lines {
    json_t *objects[LINES_MAX];
    size_t count;
    size_t broken;
} metrics_lines;

typedef struct metrics_desk {
    run_dir dir;
    aq_metrics *metrics; /* open */
    metrics_lines lines; /* that were read */
} metrics_desk;

/* Without other people's files. */
static int open_in(const char *folder, aq_run_history *history, aq_metrics **ret_metrics,
                   aq_error *error)
{
    const aq_mirror_config config = {
        .run_dir = folder, .metrics = &fixture_metrics, .format = "int8", .history = history};
    return aq_metrics_open(&config, ret_metrics, error);
}

static void open_metrics(metrics_desk *desk)
{
    aq_metrics_close(desk->metrics);
    assert_int_equal(open_in(desk->dir.path, NULL, &desk->metrics, NULL), 0);
}

static void metrics_desk_setup(metrics_desk *desk)
{
    run_dir_setup(&desk->dir);
    open_metrics(desk);
}

static void metrics_desk_teardown(metrics_desk *desk)
{
    for (size_t i = 0; i < desk->lines.count; i++) {
        json_decref(desk->lines.objects[i]);
    }
    aq_metrics_close(desk->metrics);
    run_dir_teardown(&desk->dir);
}

static const char *file_of(const metrics_desk *desk)
{
    return run_dir_path(&desk->dir, "metrics.jsonl");
}

static const metrics_lines *read_lines(metrics_desk *desk, size_t count)
{
    metrics_lines *lines = &desk->lines;
    char *text = file_text(file_of(desk));
    assert_true(text[0] == '\0' || text[strlen(text) - 1] == '\n');
    while (lines->count > 0) {
        json_decref(lines->objects[--lines->count]);
    }
    lines->broken = 0;
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');
        *end = '\0';
        assert_true(lines->count < LINES_MAX);
        json_t *object = json_loads(line, 0, NULL);
        lines->objects[lines->count++] = object;
        lines->broken += object == NULL;
        line = end + 1;
    }
    assert_int_equal(lines->count, count);
    return lines;
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
        .policies = {.versions = 6,
                     .deltas = 5,
                     .fallbacks = 4,
                     .bytes = 700,
                     .bytes_fp32 = 2800,
                     .packed_bytes_fp32 = 1400},
        .quantization_cost = 0.01,
        .actors = 2,
        .evaluators = 1,
        .shards = 3,
        .batch_wait_share = 0.5,
    };
}

static int progress(metrics_desk *desk, double loss)
{
    aq_metrics_sample sample = sample_of(loss);
    return aq_metrics_progress(desk->metrics, &sample);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        fail_msg("%s is not a number", key);
    }
    return json_number_value(value);
}

/* The object is this one, key by key. */
static void assert_is(const json_t *object, const char *text)
{
    json_t *expected = json_loads(text, 0, NULL);
    assert_non_null(expected);
    if (!json_equal(object, expected)) {
        char *got = json_dumps(object, 0);
        print_error("%s\nis not\n%s\n", got, text);
        free(got);
        fail();
    }
    json_decref(expected);
}

/* ---- lines --------------------------------------------------------------------------------- */

TEST_IN(metrics_desk, desk, a_progress_line_has_every_number)
{
    assert_int_equal(progress(desk, 0.125), 0);
    assert_is(read_lines(desk, 1)->objects[0],
              "{\"event\": \"progress\", \"wall_s\": 12.5, \"env_steps\": 1000, "
              "\"learner_steps\": 200, \"env_steps_per_s\": 100.25, \"learner_steps_per_s\": 20.0, "
              "\"loss\": 0.125, \"q_mean\": 3.0, \"staleness\": 1.5, \"training_return\": 22.0, "
              "\"policy_version\": 7, \"policy_versions\": 6, \"policy_deltas\": 5, "
              "\"policy_fallbacks\": 4, "
              "\"broadcast_bytes\": 700, \"broadcast_bytes_fp32\": 2800, "
              "\"broadcast_packed_bytes_fp32\": 1400, "
              "\"quantization_cost\": 0.01, \"actors\": 2, \"evaluators\": 1, \"shards\": 3, "
              "\"batch_wait_share\": 0.5}");
}

TEST_IN(metrics_desk, desk, what_replay_came_to_is_part_of_the_line)
{
    aq_metrics_sample sample = sample_of(1);
    sample.replay =
        json_pack("{s:i, s:[i,i], s:s, s:[{s:s, s:s}]}", "inserted", 5, "age_ms", 1, 2, "waiting",
                  "for actors", "tables", "name", "main", "times_sampled", "NaN");
    sample.replay_use = json_pack("{s:i, s:s}", "answers", 9, "answer_ms_mean", "-Infinity");
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
    json_decref(sample.replay);
    json_decref(sample.replay_use);

    const json_t *line = read_lines(desk, 1)->objects[0];
    assert_is(json_object_get(line, "replay"),
              "{\"inserted\": 5, \"age_ms\": [1, 2], \"waiting\": \"for actors\", "
              "\"tables\": [{\"name\": \"main\", \"times_sampled\": null}]}");
    assert_is(json_object_get(line, "replay_use"), "{\"answers\": 9, \"answer_ms_mean\": null}");
}

TEST_IN(metrics_desk, desk, what_is_not_a_number_is_null)
{
    assert_int_equal(progress(desk, NAN), 0);
    assert_int_equal(progress(desk, INFINITY), 0);
    assert_int_equal(progress(desk, -INFINITY), 0);
    const metrics_lines *lines = read_lines(desk, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(json_is_null(json_object_get(lines->objects[i], "loss")));
        assert_true(number(lines->objects[i], "q_mean") == 3);
    }
}

TEST_IN(metrics_desk, desk, an_evaluation_and_the_end_are_lines_of_their_own)
{
    aq_evaluation_result result = {.version = 9,
                                   .format = AQ_FORMAT_F32,
                                   .fell_back = true,
                                   .episodes = 100,
                                   .return_mean = 480.5,
                                   .return_std = 20,
                                   .return_min = 300,
                                   .return_max = 500,
                                   .cut_off = 3,
                                   .confirmed = true};
    assert_int_equal(aq_metrics_evaluation(desk->metrics, 30, 5000, &result, true), 0);
    aq_metrics_outcome outcome = {
        .state = "solved",
        .products = "bf16",
        .wall_s = 31,
        .env_steps = 6000,
        .learner_steps = 700,
        .policies = {.versions = 80, .fallbacks = 20, .bytes = 900, .bytes_fp32 = 1000},
        .findings = {.rows = {{"a", "learner.tau=0.005"}}, .count = 1},
        .best = &result};
    assert_int_equal(aq_metrics_end(desk->metrics, &outcome), 0);

    const metrics_lines *lines = read_lines(desk, 2);
    assert_is(lines->objects[0],
              "{\"event\": \"evaluation\", \"wall_s\": 30.0, \"env_steps\": 5000, "
              "\"policy_version\": 9, \"format\": \"fp32\", \"fell_back\": true, "
              "\"episodes\": 100, \"return_mean\": 480.5, "
              "\"return_std\": 20.0, \"return_min\": 300.0, \"return_max\": 500.0, \"cut_off\": 3, "
              "\"confirmed\": true, \"ranks_only\": false}");
    assert_is(lines->objects[1],
              "{\"event\": \"end\", \"wall_s\": 31.0, \"state\": \"solved\", \"env_steps\": 6000, "
              "\"learner_steps\": 700, \"policy_versions\": 80, \"policy_deltas\": 0, "
              "\"policy_fallbacks\": 20, "
              "\"broadcast_bytes\": 900, \"broadcast_bytes_fp32\": 1000, "
              "\"broadcast_packed_bytes_fp32\": 0, "
              "\"findings\": [{\"words\": \"a\", \"setting\": \"learner.tau=0.005\"}], "
              "\"products\": \"bf16\", "
              "\"best\": {\"policy_version\": 9, \"episodes\": 100, \"return_mean\": 480.5, "
              "\"return_std\": 20.0, \"confirmed\": true}}");
}

TEST_IN(metrics_desk, desk, a_comparison_is_a_line_and_their_sum_part_of_the_end)
{
    aq_metrics *metrics = desk->metrics;
    const aq_version_gap one = {.version = 7, .episodes = 1, .return_fp32 = 90, .mean = -4};
    const aq_version_gap other = {
        .version = 8, .episodes = 4, .return_fp32 = 95, .mean = 2, .std = 2};
    aq_metrics_outcome outcome = {.state = "budget", .products = "fp32"};
    assert_int_equal(aq_metrics_end(metrics, &outcome), 0);
    aq_precision_gap_add(&outcome.gap, &one);
    aq_precision_gap_add(&outcome.gap, &other);
    assert_int_equal(aq_metrics_gap(metrics, 30, 5000, &one), 0);
    assert_int_equal(aq_metrics_gap(metrics, 31, 5001, &other), 0);
    assert_int_equal(aq_metrics_end(metrics, &outcome), 0);

    json_t *const *lines = read_lines(desk, 4)->objects;
    assert_null(json_object_get(lines[0], "precision_gap")); /* nothing was compared */
    assert_string_equal(json_string_value(json_object_get(lines[1], "event")), "gap");
    assert_true(number(lines[1], "policy_version") == 7);
    assert_true(number(lines[1], "return_fp32") == 90);
    assert_true(number(lines[1], "mean") == -4);
    assert_true(json_is_null(json_object_get(lines[1], "ci95")));
    assert_near(number(lines[2], "ci95"), 3.18244630528, 1e-6);
    const json_t *gap = json_object_get(lines[3], "precision_gap");
    assert_true(number(gap, "versions") == 2 && number(gap, "episodes") == 5);
    assert_true(number(gap, "mean") == -1);
    assert_near(number(gap, "ci95"), 3 * 12.7062047362, 1e-6);
}

TEST_IN(metrics_desk, desk, a_resumed_run_goes_on_below)
{
    for (int i = 0; i < 3; i++) {
        open_metrics(desk);
        assert_int_equal(progress(desk, i), 0);
    }
    const metrics_lines *lines = read_lines(desk, 3);
    assert_int_equal(lines->broken, 0);
    assert_true(number(lines->objects[2], "loss") == 2);
}

/* ---- a full disk --------------------------------------------------------------------------- */

/* One good line, one that the disk has only `room` bytes for, then room again. */
static void tear(metrics_desk *desk, size_t room, bool reopen)
{
    struct stat status;
    open_metrics(desk);
    assert_int_equal(progress(desk, 1), 0);
    assert_int_equal(stat(file_of(desk), &status), 0);
    fixture_limit_file_size((size_t)status.st_size + room);
    int first = progress(desk, 2);
    int second = progress(desk, 3);
    fixture_limit_file_size(0);
    assert_true(first != 0);
    assert_true(second != 0);
    if (reopen) {
        open_metrics(desk);
    }
    assert_int_equal(progress(desk, 4), 0);
    assert_int_equal(progress(desk, 5), 0);

    const metrics_lines *lines = read_lines(desk, 3);
    assert_int_equal(lines->broken, 0);
    assert_true(number(lines->objects[0], "loss") == 1);
    assert_true(number(lines->objects[1], "loss") == 4);
    assert_true(number(lines->objects[2], "loss") == 5);
    assert_int_equal(unlink(file_of(desk)), 0);
}

TEST_IN(metrics_desk, desk, a_line_that_was_cut_short_costs_no_other)
{
    static const size_t rooms[] = {0, 1, 2, 100, 200};
    EACH_ROW(i, rooms) {
        tear(desk, rooms[i], false);
        tear(desk, rooms[i], true); /* by the process after it */
    }
}

TEST_IN(metrics_desk, desk, a_crash_in_the_middle_of_a_line_costs_no_other)
{
    file_put(file_of(desk), "{\"event\":\"prog", 14);
    open_metrics(desk);
    assert_int_equal(progress(desk, 1), 0);
    const metrics_lines *lines = read_lines(desk, 1);
    assert_int_equal(lines->broken, 0);
    assert_true(number(lines->objects[0], "loss") == 1);
}

TEST_IN(metrics_desk, desk, an_old_run_keeps_a_line_now_and_then)
{
    aq_metrics_sample sample = sample_of(1);
    for (unsigned i = 0; i < 100; i++) {
        sample.wall_s = 36000 + i;
        assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
        read_lines(desk, 1 + i / 10);
    }
    assert_true(number(read_lines(desk, 10)->objects[9], "wall_s") == 36090);
}

/* Who asks for the status in between should be told of it. */
TEST_IN(metrics_desk, desk, trouble_of_an_old_run_lasts_until_a_line_is_written)
{
    aq_metrics_sample sample = sample_of(1);
    fixture_limit_file_size(1);
    for (unsigned i = 0; i < 3; i++) {
        sample.wall_s = 36000 + i;
        assert_true(aq_metrics_progress(desk->metrics, &sample) != 0);
        assert_says(aq_metrics_trouble(desk->metrics), "metrics.jsonl");
    }
    fixture_limit_file_size(0);
    for (unsigned i = 3; i < 6; i++) {
        sample.wall_s = 36000 + i;
        assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
        assert_string_equal(aq_metrics_trouble(desk->metrics), "");
    }
    const char *text = file_text(file_of(desk));
    assert_says(text, "\"wall_s\":36003");
    assert_null(strstr(text, "\"wall_s\":36004"));
}

TEST_IN(metrics_desk, desk, an_evaluation_that_is_not_kept_is_in_the_history_alone)
{
    const aq_evaluation_result result = {.version = 9, .return_mean = 480};
    aq_run_history *history = NULL;
    assert_int_equal(aq_run_history_create(&fixture_metrics, &history), 0);
    aq_metrics_close(desk->metrics);
    assert_int_equal(open_in(desk->dir.path, history, &desk->metrics, NULL), 0);
    assert_int_equal(aq_metrics_evaluation(desk->metrics, 30, 5000, &result, false), 0);
    read_lines(desk, 0);
    assert_int_equal(
        aq_history_series_rows(aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_SCREENED)),
        1);
    open_metrics(desk); /* which lets go of the history */
    aq_run_history_destroy(history);
}

TEST_IN(metrics_desk, desk, after_another_line_failed_an_old_run_tries_the_next_second)
{
    aq_metrics_sample sample = sample_of(1);
    const aq_evaluation_result result = {.version = 9};
    sample.wall_s = 36000;
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
    sample.wall_s = 36001;
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
    read_lines(desk, 1);
    fixture_limit_file_size(1);
    assert_true(aq_metrics_evaluation(desk->metrics, 36001.5, 1, &result, true) != 0);
    fixture_limit_file_size(0);
    sample.wall_s = 36002;
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
    read_lines(desk, 2);

    fixture_limit_file_size(1);
    assert_true(aq_metrics_setting(desk->metrics, 36002.5, 1, 1, "learner.tau", "0.1", "0.2") != 0);
    fixture_limit_file_size(0);
    sample.wall_s = 36003;
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), 0);
    read_lines(desk, 3);
}

/* Here nothing can be cut off. */
TEST(nothing_is_appended_behind_a_record_that_was_cut_short)
{
    struct stat status;
    aq_log_file log = {.file = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    assert_int_equal(fcntl(log.file, F_SETFL, O_APPEND), 0);
    assert_int_equal(aq_log_file_append(&log, "one\n", 4), 0);
    assert_int_equal(fcntl(log.file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    fixture_limit_file_size(6);
    assert_true(aq_log_file_append(&log, "two\n", 4) < 0);
    fixture_limit_file_size(0);
    assert_true(aq_log_file_append(&log, "three\n", 6) < 0);
    assert_int_equal(fstat(log.file, &status), 0);
    assert_int_equal(status.st_size, 6);
    aq_log_file_fini(&log);
}

TEST_IN(metrics_desk, desk, a_full_disk_is_said)
{
    aq_metrics_sample sample = sample_of(1);
    if (unlink(file_of(desk)) != 0 || symlink("/dev/full", file_of(desk)) != 0 ||
        access("/dev/full", W_OK) != 0) {
        skip();
    }
    open_metrics(desk);
    assert_int_equal(aq_metrics_progress(desk->metrics, &sample), AQ_E_NO_SPACE);
    assert_says(aq_metrics_trouble(desk->metrics), "metrics.jsonl");
}

/* ---- opening ------------------------------------------------------------------------------- */

TEST_IN(metrics_desk, desk, a_folder_that_is_not_there_is_named)
{
    aq_metrics *metrics = desk->metrics;
    assert_refused(open_in(run_dir_path(&desk->dir, "nowhere"), NULL, &metrics, &refusal),
                   AQ_E_NOT_FOUND, "nowhere/metrics.jsonl");
    assert_ptr_equal(metrics, desk->metrics); /* untouched */
}

TEST(a_path_that_is_too_long_is_refused)
{
    static char path[5000];
    aq_metrics *metrics = NULL;
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(open_in(path, NULL, &metrics, NULL), AQ_E_TOO_BIG);
    assert_null(metrics);
    aq_metrics_close(NULL);
}

TEST_IN(metrics_desk, desk, without_memory_nothing_is_opened)
{
    aq_metrics *metrics = NULL;
    assert_fails_without_memory(open_in(desk->dir.path, NULL, &metrics, NULL));
}

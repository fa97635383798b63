/*
 * The lines of metrics in other people's files: names, columns, rows, and what a crash left.
 */
#include <jansson.h>

#include "learner/metrics/csv_log.h"
#include "learner/metrics/metric_names.h"
#include "learner/metrics/metrics_mirror.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { NAMES_BYTES_MAX = 2048 };

static const char progress_text[] =
    "{\"event\":\"progress\",\"wall_s\":1.5,\"env_steps\":100,\"learner_steps\":20,\"loss\":0.25,"
    "\"q_mean\":null,\"training_return\":9,\"replay\":{\"stored\":7,\"staleness\":[1,2],"
    "\"tables\":[{\"name\":\"main\",\"items\":3}]},"
    "\"energy\":{\"source\":\"model\",\"roles\":{\"actor\":{\"energy_j\":2.5}}}}";

static const char evaluation_text[] =
    "{\"event\":\"evaluation\",\"wall_s\":2,\"env_steps\":150,\"policy_version\":3,"
    "\"return_mean\":187.5,\"return_std\":1,\"confirmed\":true}";

static const char gap_text[] =
    "{\"event\":\"gap\",\"wall_s\":2,\"env_steps\":150,\"return_fp32\":190,\"mean\":-2.5}";

static json_t *line_of(const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    assert_non_null(line);
    return line;
}

/* ---- names ---------------------------------------------------------------------------------- */

typedef struct tag_list {
    const char *event;
    char text[NAMES_BYTES_MAX];
} tag_list;

static void add_tag(void *user, const char *name, double value)
{
    tag_list *list = user;
    char room[AQ_METRIC_NAME_MAX], entry[2 * AQ_METRIC_NAME_MAX];
    const char *tag = aq_metric_tag(list->event, name, "int8", room, sizeof(room));
    if (tag) {
        (void)snprintf(entry, sizeof(entry), "%s=%g ", tag, value);
        assert_true(strlen(list->text) + strlen(entry) < sizeof(list->text));
        strcat(list->text, entry);
    }
}

static void assert_tags(const char *event, const char *text, const char *expected)
{
    tag_list list = {.event = event};
    json_t *line = line_of(text);
    aq_metric_each(line, add_tag, &list);
    json_decref(line);
    assert_string_equal(list.text, expected);
}

TEST(progress_has_the_names_of_its_line)
{
    assert_tags("progress", progress_text,
                "learner_steps=20 loss=0.25 return/training=9 replay/stored=7 "
                "replay/tables/main/items=3 energy/roles/actor/energy_j=2.5 ");
}

TEST(returns_are_called_by_their_precision)
{
    assert_tags("evaluation", evaluation_text,
                "evaluation/policy_version=3 return/int8=187.5 evaluation/return_std=1 ");
    assert_tags("gap", gap_text, "return/fp32=190 gap/mean=-2.5 ");
}

TEST(the_end_is_no_curve)
{
    assert_tags("end", "{\"event\":\"end\",\"wall_s\":2,\"learner_steps\":1}", "");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static const char *read_csv(run_dir *dir)
{
    return file_text(run_dir_path(dir, "metrics.csv"));
}

static void append_row(run_dir *dir, const char *text)
{
    aq_csv_log *csv = NULL;
    json_t *line = line_of(text);
    assert_int_equal(aq_csv_log_open(dir->path, &fixture_metrics, &csv, NULL), 0);
    assert_int_equal(aq_csv_log_row(csv, line, NULL), 0);
    aq_csv_log_close(csv);
    json_decref(line);
}

static size_t count_of(const char *text, size_t size, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == letter;
    }
    return count;
}

TEST_IN(run_dir, dir, every_row_has_a_cell_for_each_column)
{
    append_row(dir, progress_text);
    append_row(dir, evaluation_text);
    append_row(dir, "{\"event\":\"end\",\"wall_s\":3,\"state\":\"solved\"}");
    const char *text = read_csv(dir);
    assert_memory_equal(text, "event,wall_s,env_steps,", 23);
    const size_t commas = count_of(text, strcspn(text, "\n"), ',');
    size_t rows = 0;
    for (const char *row = text; *row; row += strcspn(row, "\n") + 1, rows++) {
        assert_int_equal(count_of(row, strcspn(row, "\n"), ','), commas);
    }
    assert_int_equal(rows, 4);
    assert_says(text, "\nprogress,1.5,100,20,,,0.25,,");
    assert_says(text, "\nend,3,");
    assert_says(text, ",solved\n");
}

TEST_IN(run_dir, dir, a_file_that_is_there_keeps_its_columns)
{
    static const char before[] = "env_steps,confirmed,colour,return_mean,mean\n1,0,red,2,\n";
    file_put(run_dir_path(dir, "metrics.csv"), before, sizeof(before) - 1);
    append_row(dir, evaluation_text);
    append_row(dir, gap_text);
    assert_string_equal(read_csv(dir), "env_steps,confirmed,colour,return_mean,mean\n"
                                       "1,0,red,2,\n"
                                       "150,1,,187.5,\n"
                                       "150,,,,-2.5\n");
}

TEST_IN(run_dir, dir, a_row_that_was_cut_short_is_taken_away)
{
    static const char before[] = "env_steps,loss\n1,2\n3,";
    file_put(run_dir_path(dir, "metrics.csv"), before, sizeof(before) - 1);
    append_row(dir, progress_text);
    assert_string_equal(read_csv(dir), "env_steps,loss\n1,2\n100,0.25\n");
}

TEST_IN(run_dir, dir, a_header_that_was_cut_short_is_made_anew)
{
    file_put(run_dir_path(dir, "metrics.csv"), "event,wa", 8);
    append_row(dir, progress_text);
    assert_memory_equal(read_csv(dir), "event,wall_s,env_steps,", 23);
}

TEST_IN(run_dir, dir, a_file_without_columns_is_refused)
{
    aq_csv_log *csv = NULL;
    file_put(run_dir_path(dir, "metrics.csv"), "a,,b\n", 5);
    assert_refused(aq_csv_log_open(dir->path, &fixture_metrics, &csv, &refusal), AQ_E_CORRUPT,
                   "metrics.csv");
    assert_string_equal(read_csv(dir), "a,,b\n");
}

/* ---- both ----------------------------------------------------------------------------------- */

static int open_mirror(const run_dir *dir, bool tensorboard, bool csv,
                       aq_metrics_mirror **ret_mirror)
{
    const aq_mirror_config config = {.run_dir = dir->path,
                                     .metrics = &fixture_metrics,
                                     .format = "int8",
                                     .tensorboard = tensorboard,
                                     .csv = csv};
    return aq_metrics_mirror_open(&config, ret_mirror, NULL);
}

static void mirror_progress(const run_dir *dir, bool tensorboard, bool csv)
{
    aq_metrics_mirror *mirror = NULL;
    json_t *line = line_of(progress_text);
    assert_int_equal(open_mirror(dir, tensorboard, csv, &mirror), 0);
    assert_int_equal(aq_metrics_mirror_line(mirror, line, true, NULL), 0);
    aq_metrics_mirror_close(mirror);
    json_decref(line);
}

TEST_IN(run_dir, dir, each_file_can_be_turned_off)
{
    mirror_progress(dir, false, false);
    assert_int_equal(file_count(dir->path, "tfevents") + file_count(dir->path, "csv"), 0);
    mirror_progress(dir, true, false);
    assert_int_equal(file_count(dir->path, "tfevents"), 1);
    assert_int_equal(file_count(dir->path, "csv"), 0);
    mirror_progress(dir, false, true);
    assert_int_equal(file_count(dir->path, "tfevents"), 1);
    assert_int_equal(file_count(dir->path, "csv"), 1);
}

TEST_IN(run_dir, dir, a_line_that_is_not_kept_is_in_the_history_alone)
{
    aq_metrics_mirror *mirror = NULL;
    aq_run_history *history = NULL;
    json_t *line = line_of(progress_text);
    assert_int_equal(aq_run_history_create(&fixture_metrics, &history), 0);
    const aq_mirror_config config = {.run_dir = dir->path,
                                     .metrics = &fixture_metrics,
                                     .format = "int8",
                                     .csv = true,
                                     .history = history};
    assert_int_equal(aq_metrics_mirror_open(&config, &mirror, NULL), 0);
    assert_int_equal(aq_metrics_mirror_line(mirror, line, false, NULL), 0);
    assert_null(strstr(read_csv(dir), "progress"));
    assert_int_equal(
        aq_history_series_rows(aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_PROGRESS)),
        1);
    aq_metrics_mirror_close(mirror);
    aq_run_history_destroy(history);
    json_decref(line);
}

TEST_IN(run_dir, dir, a_file_that_has_no_room_now_is_opened_once_there_is)
{
    aq_metrics_mirror *mirror = NULL;
    json_t *line = line_of(progress_text);
    fixture_limit_file_size(1);
    assert_int_equal(open_mirror(dir, true, true, &mirror), 0);
    assert_true(aq_metrics_mirror_line(mirror, line, true, NULL) != 0);
    assert_int_equal(file_count(dir->path, "tfevents"), 0); /* none is left with each attempt */
    fixture_limit_file_size(0);
    assert_int_equal(aq_metrics_mirror_line(mirror, line, true, NULL), 0);
    assert_int_equal(file_count(dir->path, "tfevents"), 1);
    assert_says(read_csv(dir), "progress");
    aq_metrics_mirror_close(mirror);
    json_decref(line);
}

TEST_IN(run_dir, dir, without_memory_there_is_no_mirror)
{
    aq_metrics_mirror *mirror;
    assert_made_despite_failures(mirror, open_mirror(dir, true, true, &mirror));
    aq_metrics_mirror_close(mirror);
    aq_metrics_mirror_close(NULL);
}

/* The one file whose name has `part`, as a text: its zeros are dots. */
static const char *read_file_with(run_dir *dir, const char *part)
{
    aq_buffer *bytes = file_bytes(file_last(dir->path, part));
    for (size_t i = 0; i < bytes->size; i++) {
        bytes->data[i] = bytes->data[i] != '\0' ? bytes->data[i] : '.';
    }
    return (const char *)bytes->data;
}

/* A restart at step 0 takes away what TensorBoard has drawn. */
TEST_IN(run_dir, dir, a_resumed_run_goes_on_from_its_steps_with_whatever_comes_first)
{
    aq_metrics_mirror *mirror = NULL;
    json_t *line = line_of(evaluation_text);
    const aq_mirror_config config = {.run_dir = dir->path,
                                     .metrics = &fixture_metrics,
                                     .format = "int8",
                                     .tensorboard = true,
                                     .step = AQ_LOG_STEP_LEARNER,
                                     .goes_on = true,
                                     .learner_steps = 'z'};
    assert_int_equal(aq_metrics_mirror_open(&config, &mirror, NULL), 0);
    assert_int_equal(aq_metrics_mirror_line(mirror, line, true, NULL), 0);
    aq_metrics_mirror_close(mirror);
    json_decref(line);
    assert_says(read_file_with(dir, "tfevents"), "\x10z"); /* field 2, a varint, of an event */
}

TEST_IN(run_dir, dir, a_version_that_fell_back_is_shown_as_what_was_played)
{
    aq_metrics_mirror *mirror = NULL;
    json_t *line = line_of("{\"event\":\"evaluation\",\"env_steps\":150,\"format\":\"fp32\","
                           "\"fell_back\":true,\"return_mean\":500.0}");
    assert_int_equal(open_mirror(dir, true, true, &mirror), 0);
    assert_int_equal(aq_metrics_mirror_line(mirror, line, true, NULL), 0);
    aq_metrics_mirror_close(mirror);
    json_decref(line);
    const char *events = read_file_with(dir, "tfevents");
    assert_says(events, "return/fp32");
    assert_null(strstr(events, "return/int8"));
    assert_says(read_csv(dir), ",fp32,");
}

/*
 * What the dashboard draws: from the lines of a run, within bounds, and from its file when it is
 * resumed.
 */
#include <jansson.h>

#include "learner/metrics/run_history.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { HOUR_S = 3600, WEEK_S = 7 * 24 * HOUR_S, DOCUMENT_BYTES_MAX = 200000 };

TEST_ENDING(destroy, aq_run_history_destroy);

static aq_run_history *make(void)
{
    aq_run_history *history;
    assert_int_equal(aq_run_history_create(&fixture_metrics, &history), 0);
    at_end(destroy, history);
    return history;
}

static void tell(aq_run_history *history, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    assert_non_null(line);
    aq_run_history_line(history, line);
    json_decref(line);
}

static size_t rows_of(const aq_run_history *history, enum aq_history_span span,
                      enum aq_history_kind kind)
{
    return aq_history_series_rows(aq_run_history_series(history, span, kind));
}

/* The document of the span; json_decref. */
static json_t *document_of(const aq_run_history *history, enum aq_history_span span,
                           size_t *ret_size)
{
    aq_buffer *text = buffer_up_to((size_t)4 << 20);
    assert_int_equal(aq_run_history_print(history, span, text), 0);
    json_t *json = json_loadb((const char *)text->data, text->size, 0, NULL);
    assert_non_null(json);
    *ret_size = text->size;
    return json;
}

static double number_at(const json_t *document, const char *kind, const char *column, size_t row)
{
    const json_t *list = json_object_get(json_object_get(document, kind), column);
    assert_true(json_is_number(json_array_get(list, row)));
    return json_number_value(json_array_get(list, row));
}

TEST(each_event_goes_to_its_series)
{
    size_t size;
    aq_run_history *history = make();
    tell(history,
         "{\"event\":\"progress\",\"wall_s\":1.5,\"env_steps\":100,\"loss\":0.25,\"q_mean\":null,"
         "\"replay\":{\"stored\":7},\"time\":{\"actors\":{\"waiting_s\":2.5}},"
         "\"energy\":{\"roles\":{\"actor\":{\"energy_j\":3.5}}}}");
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":2,\"env_steps\":150,\"return_mean\":187.5,"
                  "\"return_std\":1,\"confirmed\":false}");
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":3,\"env_steps\":160,\"return_mean\":200,"
                  "\"return_std\":1,\"confirmed\":true}");
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":3,\"env_steps\":160,\"return_mean\":250,"
                  "\"confirmed\":true,\"ranks_only\":true}"); /* no point of any */
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":3,\"env_steps\":160,\"return_mean\":300,"
                  "\"format\":\"fp32\",\"fell_back\":true,\"confirmed\":true}");
    tell(history, "{\"event\":\"gap\",\"wall_s\":3,\"env_steps\":160,\"return_fp32\":190,"
                  "\"mean\":-2.5}");
    for (int span = 0; span < AQ_HISTORY_SPANS; span++) {
        json_t *document = document_of(history, (enum aq_history_span)span, &size);
        assert_true(number_at(document, "progress", "wall_s", 0) == 1.5);
        assert_true(number_at(document, "progress", "loss", 0) == 0.25);
        assert_true(number_at(document, "progress", "stored", 0) == 7);
        assert_true(number_at(document, "progress", "actors_waited_s", 0) == 2.5);
        assert_true(number_at(document, "progress", "actor_j", 0) == 3.5);
        assert_true(number_at(document, "screened", "return", 0) == 187.5);
        assert_true(number_at(document, "confirmed", "return", 0) == 200);
        assert_true(number_at(document, "fell_back", "return", 0) == 300);
        assert_true(number_at(document, "compared", "gap", 0) == -2.5);
        json_decref(document);
    }
}

TEST(columns_that_are_asked_for_by_number_are_where_they_are_said_to_be)
{
    aq_run_history *history = make();
    tell(history, "{\"event\":\"progress\",\"wall_s\":1,\"env_steps_per_s\":3,"
                  "\"learner_steps_per_s\":4,\"batch_wait_share\":9,"
                  "\"time\":{\"actors\":{\"waiting_s\":10,\"running_s\":11}},"
                  "\"replay_use\":{\"waited_limiter_s\":12,\"waited_answer_s\":13}}");
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":1,\"return_mean\":33,\"confirmed\":false}");
    const aq_history_series *progress =
        aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_PROGRESS);
    const aq_history_series *screened =
        aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_SCREENED);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_ENV_RATE) == 3);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_LEARNER_RATE) == 4);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_LEARNER_WAITS) == 9);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_ACTORS_WAITED) == 10);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_ACTORS_RAN) == 11);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_WAITED_FOR_ACTORS) == 12);
    assert_true(aq_history_series_at(progress, 0, AQ_PROGRESS_WAITED_FOR_ANSWERS) == 13);
    assert_true(aq_history_series_at(screened, 0, AQ_EVALUATION_RETURN) == 33);
}

TEST(lines_that_are_not_shown_change_nothing)
{
    aq_run_history *history = make();
    tell(history, "{\"event\":\"end\",\"wall_s\":1}");
    tell(history, "{\"event\":7}");
    tell(history, "{}");
    tell(history, "[1]");
    tell(history, "{\"event\":\"progress\",\"wall_s\":null}");
    aq_run_history_line(history, NULL);
    for (int kind = 0; kind < AQ_HISTORY_KINDS; kind++) {
        assert_int_equal(rows_of(history, AQ_SPAN_RUN, (enum aq_history_kind)kind), 0);
    }
}

/* A line as a running learner writes it, with figures as long as its are. */
static void write_progress(char *out, size_t size, int second)
{
    const double at = second;
    (void)snprintf(
        out, size,
        "{\"event\":\"progress\",\"wall_s\":%d.2628728,\"env_steps\":%.0f,"
        "\"learner_steps\":%.0f,\"env_steps_per_s\":2112.315688,"
        "\"learner_steps_per_s\":264.039461,\"loss\":1.469368763,"
        "\"q_mean\":7.156174956,\"staleness\":747.4868744,"
        "\"training_return\":72.42372724,\"broadcast_bytes\":%.0f,"
        "\"broadcast_bytes_fp32\":%.0f,\"quantization_cost\":0.01234567,\"actors\":2,"
        "\"batch_wait_share\":0.0127349,\"replay\":{\"sample_per_s\":318608.6296,"
        "\"stored\":99991,\"waiting\":\"\"},\"time\":{\"actors\":{\"waiting_s\":%d.548,"
        "\"running_s\":%d.953669}},\"replay_use\":{\"waited_limiter_s\":%d.264039461,"
        "\"waited_answer_s\":%d.039461469},\"energy\":{\"roles\":{\"learner\":{\"energy_j\":%d."
        "8144752},\"actor\":{\"energy_j\":%d.116},\"evaluator\":{\"energy_j\":%d.2738},"
        "\"replay\":{\"energy_j\":%d.9696048}}}}",
        second, 2000 * at, 300 * at, 1000 * at, 3900 * at, second, 2 * second, second / 3,
        second / 4, 3 * second, second, second / 2, 2 * second);
}

TEST(a_week_fits_into_a_document_of_200_kb)
{
    char text[2048];
    size_t size;
    aq_run_history *history = make();
    /* By five minutes before the last hour: parsing takes longer than it is worth. */
    for (int second = 0; second < WEEK_S; second += second < WEEK_S - HOUR_S ? 300 : 1) {
        write_progress(text, sizeof(text), second);
        tell(history, text);
        (void)snprintf(text, sizeof(text),
                       "{\"event\":\"evaluation\",\"wall_s\":%d.51234,\"env_steps\":%d,"
                       "\"policy_version\":%d,\"return_mean\":74.21969614,\"return_std\":1.376847,"
                       "\"return_min\":72.2842689,\"return_max\":75.81185166,\"confirmed\":%s}",
                       second, 2000 * second, second, second % 1200 ? "false" : "true");
        tell(history, text);
    }
    for (int span = 0; span < AQ_HISTORY_SPANS; span++) {
        json_decref(document_of(history, (enum aq_history_span)span, &size));
        assert_in_range(size, 10000, DOCUMENT_BYTES_MAX);
    }
    assert_in_range(rows_of(history, AQ_SPAN_RUN, AQ_HISTORY_PROGRESS), 300, 600);
    assert_int_equal(rows_of(history, AQ_SPAN_HOUR, AQ_HISTORY_PROGRESS), 360);
}

TEST(evaluations_that_are_rare_are_as_old_as_the_progress_beside_them)
{
    char text[128];
    aq_run_history *history = make();
    for (int second = 0; second < 2 * HOUR_S; second++) {
        (void)snprintf(text, sizeof(text), "{\"event\":\"progress\",\"wall_s\":%d.5}", second);
        tell(history, text);
        (void)snprintf(text, sizeof(text),
                       "{\"event\":\"evaluation\",\"wall_s\":%d.5,\"return_mean\":1}", second);
        if (second % 30 == 0 && second < HOUR_S + HOUR_S / 2) {
            tell(history, text);
        }
    }
    assert_int_equal(rows_of(history, AQ_SPAN_MINUTES, AQ_HISTORY_PROGRESS), 300);
    assert_int_equal(rows_of(history, AQ_SPAN_MINUTES, AQ_HISTORY_SCREENED), 0);
    assert_int_equal(rows_of(history, AQ_SPAN_HOUR, AQ_HISTORY_SCREENED), 60);
    assert_int_equal(rows_of(history, AQ_SPAN_RUN, AQ_HISTORY_SCREENED), 180);
}

TEST(a_run_that_goes_back_loses_the_points_of_every_kind)
{
    aq_run_history *history = make();
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":40,\"confirmed\":true}");
    tell(history, "{\"event\":\"evaluation\",\"wall_s\":90,\"confirmed\":true}");
    tell(history, "{\"event\":\"gap\",\"wall_s\":90}");
    tell(history, "{\"event\":\"progress\",\"wall_s\":89.9}"); /* looked at the clock before */
    for (int span = 0; span < AQ_HISTORY_SPANS; span++) {
        assert_int_equal(rows_of(history, (enum aq_history_span)span, AQ_HISTORY_CONFIRMED), 2);
    }
    tell(history, "{\"event\":\"progress\",\"wall_s\":60}");
    for (int span = 0; span < AQ_HISTORY_SPANS; span++) {
        assert_int_equal(rows_of(history, (enum aq_history_span)span, AQ_HISTORY_CONFIRMED), 1);
        assert_int_equal(rows_of(history, (enum aq_history_span)span, AQ_HISTORY_COMPARED), 0);
    }
}

/* The history of the run's file. */
static aq_run_history *read_run(const run_dir *dir)
{
    aq_run_history *history = make();
    assert_succeeds(aq_run_history_read(history, run_dir_path(dir, "metrics.jsonl"), &refusal));
    return history;
}

/* ---- from a file ---------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, a_run_that_has_no_file_begins_empty)
{
    assert_int_equal(rows_of(read_run(dir), AQ_SPAN_RUN, AQ_HISTORY_PROGRESS), 0);
}

TEST_IN(run_dir, dir, a_file_that_cannot_be_read_is_named)
{
    aq_run_history *history = make();
    assert_true(aq_run_history_read(history, dir->path, &refusal) < 0);
    assert_says(refusal.text, dir->path);
}

TEST_IN(run_dir, dir, lines_that_are_torn_or_none_are_passed_over)
{
    static const char text[] = "{\"event\":\"progress\",\"wall_s\":1,\"loss\":1}\n"
                               "{\"event\":\"progr\n"
                               "\n"
                               "no json at all\n"
                               "{\"event\":\"progress\",\"wall_s\":2,\"loss\":2}\n"
                               "{\"event\":\"progress\",\"wall_s\":3,\"lo";
    file_put(run_dir_path(dir, "metrics.jsonl"), text, sizeof(text) - 1);
    assert_int_equal(rows_of(read_run(dir), AQ_SPAN_RUN, AQ_HISTORY_PROGRESS), 2);
}

/* Writes so many seconds of a run, after each line blanks, which JSON doesn't mind: they make a
 * file long that is parsed soon. */
static void write_run(const char *path, int seconds, int blanks)
{
    char line[2048];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int second = 0; second < seconds; second++) {
        write_progress(line, sizeof(line), second);
        assert_true(fprintf(file, "%s%*s\n", line, blanks, "") > 0);
    }
    assert_int_equal(fclose(file), 0);
}

TEST_IN(run_dir, dir, a_short_file_is_read_whole)
{
    enum { SECONDS = 500 };
    write_run(run_dir_path(dir, "metrics.jsonl"), SECONDS, 0);
    assert_int_equal(rows_of(read_run(dir), AQ_SPAN_RUN, AQ_HISTORY_PROGRESS), SECONDS);
}

TEST_IN(run_dir, dir, of_a_long_file_the_whole_time_is_known_and_the_end_by_the_second)
{
    enum { SECONDS = 3600 }; /* 11 MB */
    write_run(run_dir_path(dir, "metrics.jsonl"), SECONDS, 2100);
    const aq_run_history *history = read_run(dir);
    const aq_history_series *run = aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_PROGRESS);
    const size_t rows = aq_history_series_rows(run);
    assert_in_range(rows, 300, 600);
    assert_true(aq_history_series_at(run, 0, 0) < 64);
    assert_true(aq_history_series_at(run, rows - 1, 0) > SECONDS - 1);
    for (size_t i = 1; i < rows; i++) {
        const double pause_s =
            aq_history_series_at(run, i, 0) - aq_history_series_at(run, i - 1, 0);
        assert_true(pause_s > 0 && pause_s < 100);
    }
    assert_int_equal(rows_of(history, AQ_SPAN_MINUTES, AQ_HISTORY_PROGRESS), 300);
}

TEST(every_failed_allocation_is_reported)
{
    aq_run_history *history;
    assert_made_despite_failures(history, aq_run_history_create(&fixture_metrics, &history));
    aq_run_history_destroy(history);
    aq_run_history_destroy(NULL);
}

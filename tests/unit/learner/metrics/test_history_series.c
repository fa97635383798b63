/*
 * Numbers over time in memory that never grows: merging, sliding, going back, and their JSON.
 */
#include <jansson.h>

#include "learner/metrics/history_series.h"
#include "tests/support/test.h"

enum { TEXT_BYTES_MAX = 1 << 20 };
enum { TIME, LAST, MEAN, LEAST, MOST, COLUMNS };

static const aq_history_column columns[] = {
    {"wall_s", "wall_s", AQ_HISTORY_LAST}, {"last", "last", AQ_HISTORY_LAST},
    {"mean", "mean", AQ_HISTORY_MEAN},     {"least", "least", AQ_HISTORY_LEAST},
    {"most", "most", AQ_HISTORY_MOST},
};

TEST_ENDING(destroy, aq_history_series_destroy);

static aq_history_series *make(size_t rows_max, double period_s, bool slides)
{
    const aq_history_shape shape = {columns, COLUMNS, rows_max, period_s, slides};
    aq_history_series *series;
    assert_int_equal(aq_history_series_create(&shape, &series), 0);
    at_end(destroy, series);
    return series;
}

static void add(aq_history_series *series, double time_s, double value)
{
    const double values[COLUMNS] = {time_s, value, value, value, value};
    aq_history_series_add(series, values);
}

static double at(const aq_history_series *series, size_t row, size_t column)
{
    return aq_history_series_at(series, row, column);
}

TEST(a_row_keeps_what_its_columns_say)
{
    aq_history_series *series = make(4, 10, false);
    add(series, 1, 5);
    add(series, 4, 2);
    add(series, 9, 8);
    assert_int_equal(aq_history_series_rows(series), 1);
    assert_true(at(series, 0, TIME) == 9);
    assert_true(at(series, 0, LAST) == 8);
    assert_true(at(series, 0, MEAN) == 5);
    assert_true(at(series, 0, LEAST) == 2);
    assert_true(at(series, 0, MOST) == 8);
}

TEST(what_is_not_known_yields_to_a_number)
{
    aq_history_series *series = make(4, 10, false);
    add(series, 1, NAN);
    add(series, 2, 3);
    add(series, 3, NAN);
    for (size_t column = LAST; column < COLUMNS; column++) {
        assert_true(at(series, 0, column) == 3);
    }
}

TEST(a_mean_is_of_the_numbers_that_came)
{
    aq_history_series *series = make(2, 10, false);
    add(series, 1, NAN);
    add(series, 2, NAN);
    add(series, 3, 6);
    add(series, 4, 0);
    assert_true(at(series, 0, MEAN) == 3);
    add(series, 11, 9);
    add(series, 21, 1); /* rows are of 20 seconds now */
    assert_true(at(series, 0, MEAN) == 5);
}

TEST(one_that_is_full_holds_the_whole_time_more_coarsely)
{
    aq_history_series *series = make(8, 1, false);
    for (int second = 0; second < 1000; second++) {
        add(series, second, second);
        assert_in_range(aq_history_series_rows(series), second < 4 ? 1 : 4, 8);
    }
    assert_true(at(series, 0, LEAST) == 0);
    assert_true(at(series, 0, MEAN) == 63.5); /* a row of 128 seconds */
    assert_true(at(series, aq_history_series_rows(series) - 1, LAST) == 999);
}

TEST(a_week_by_the_second_keeps_its_means)
{
    enum { WEEK_S = 7 * 24 * 3600 };
    aq_history_series *series = make(600, 1, false);
    for (int second = 0; second < WEEK_S; second++) {
        add(series, second, second % 2);
    }
    assert_in_range(aq_history_series_rows(series), 300, 600);
    for (size_t row = 0; row + 1 < aq_history_series_rows(series); row++) {
        assert_near(at(series, row, MEAN), 0.5, 1e-9);
    }
}

TEST(one_that_slides_forgets_the_oldest)
{
    aq_history_series *series = make(3, 1, true);
    for (int second = 0; second < 10; second++) {
        add(series, second, second);
    }
    assert_int_equal(aq_history_series_rows(series), 3);
    assert_true(at(series, 0, LAST) == 7);
    assert_true(at(series, 2, LAST) == 9);
}

TEST(one_that_slides_ends_at_the_same_age_however_rare_its_rows_are)
{
    aq_history_series *series = make(100, 1, true);
    for (int second = 0; second <= 300; second += 30) {
        add(series, second, second);
    }
    assert_int_equal(aq_history_series_rows(series), 4);
    assert_true(at(series, 0, LAST) == 210);
    aq_history_series_pass(series, 309);
    assert_int_equal(aq_history_series_rows(series), 4);
    aq_history_series_pass(series, 310);
    assert_true(at(series, 0, LAST) == 240);
    aq_history_series_pass(series, NAN);
    assert_int_equal(aq_history_series_rows(series), 3);
    aq_history_series_pass(series, 1000);
    assert_int_equal(aq_history_series_rows(series), 0);
}

TEST(one_that_holds_the_whole_time_forgets_nothing_as_time_passes)
{
    aq_history_series *series = make(4, 1, false);
    add(series, 1, 1);
    aq_history_series_pass(series, 1000);
    assert_int_equal(aq_history_series_rows(series), 1);
}

TEST(time_that_goes_back_takes_what_came_later_away)
{
    aq_history_series *series = make(16, 1, false);
    for (int second = 0; second < 10; second++) {
        add(series, second, second);
    }
    add(series, 4.5, 77);
    assert_int_equal(aq_history_series_rows(series), 5);
    assert_true(at(series, 4, LAST) == 77);
    assert_true(at(series, 4, LEAST) == 4); /* within the second of the row that stayed */
}

TEST(what_lies_ahead_is_forgotten_without_a_row_too)
{
    aq_history_series *series = make(16, 1, false);
    for (int second = 0; second < 10; second++) {
        add(series, second, second);
    }
    aq_history_series_pass(series, 8.75); /* of the same moment */
    aq_history_series_pass(series, -1);
    assert_int_equal(aq_history_series_rows(series), 10);
    aq_history_series_pass(series, 4.25);
    assert_int_equal(aq_history_series_rows(series), 5);
}

TEST(times_that_are_none_are_passed_over)
{
    aq_history_series *series = make(4, 1, false);
    add(series, NAN, 1);
    add(series, INFINITY, 1);
    add(series, -1, 1);
    assert_int_equal(aq_history_series_rows(series), 0);
    assert_true(isnan(aq_history_series_recent(series, MEAN, 60)));
}

TEST(the_recent_mean_is_of_the_last_seconds)
{
    aq_history_series *series = make(100, 1, true);
    for (int second = 0; second < 100; second++) {
        add(series, second, second < 90 ? 1 : second == 95 ? (double)NAN : 3);
    }
    assert_true(aq_history_series_recent(series, MEAN, 10) == 3);
    assert_true(aq_history_series_recent(series, MEAN, 1) == 3);
    assert_near(aq_history_series_recent(series, MEAN, 1000), 117.0 / 99.0, 1e-12);
}

TEST(its_json_has_a_list_for_each_column)
{
    aq_history_series *series = make(4, 1, false);
    add(series, 0.5, 12345678901.0);
    add(series, 1.25, NAN);
    aq_buffer *text = buffer_up_to(TEXT_BYTES_MAX);
    assert_int_equal(aq_history_series_print(series, text), 0);
    json_t *json = json_loadb((const char *)text->data, text->size, 0, NULL);
    assert_non_null(json);
    assert_true(json_number_value(json_object_get(json, "period_s")) == 1);
    assert_int_equal(json_object_size(json), 1 + COLUMNS);
    const json_t *times = json_object_get(json, "wall_s");
    const json_t *values = json_object_get(json, "last");
    assert_true(json_number_value(json_array_get(times, 1)) == 1.25);
    assert_true(json_integer_value(json_array_get(values, 0)) == 12345678901);
    assert_true(json_is_null(json_array_get(values, 1)));
    json_decref(json);
}

TEST(differences_of_large_sums_survive_the_json)
{
    aq_history_series *series = make(4, 1, false);
    add(series, 0, 12000000.25);
    add(series, 1, 12000000.75);
    aq_buffer *text = buffer_up_to(TEXT_BYTES_MAX);
    assert_int_equal(aq_history_series_print(series, text), 0);
    json_t *json = json_loadb((const char *)text->data, text->size, 0, NULL);
    const json_t *sums = json_object_get(json, "last");
    assert_true(json_number_value(json_array_get(sums, 0)) == 12000000.25);
    assert_true(json_number_value(json_array_get(sums, 1)) == 12000000.75);
    json_decref(json);
}

TEST(too_little_room_for_the_json_is_said)
{
    aq_history_series *series = make(4, 1, false);
    add(series, 1, 1);
    assert_int_equal(aq_history_series_print(series, buffer_up_to(40)), AQ_E_TOO_BIG);
}

TEST(every_failed_allocation_is_reported)
{
    const aq_history_shape shape = {columns, COLUMNS, 4, 1, false};
    aq_history_series *series;
    assert_made_despite_failures(series, aq_history_series_create(&shape, &series));
    aq_history_series_destroy(series);
    aq_history_series_destroy(NULL);
}

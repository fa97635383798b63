/*
 * The picture of a run's returns: the least below, the greatest above, the steps from left to
 * right.
 */
#include "cli/run/return_picture.h"
#include "common/base/plain_text.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static aq_series_point three_points[] = {
    {.env_steps = 0, .value = 1}, {.env_steps = 3000, .value = 5}, {.env_steps = 6000, .value = 9}};
static const aq_run_series three = {.points = three_points, .count = 3};

TEST(a_line_that_rises_is_drawn_so)
{
    aq_series_point points[60];
    for (size_t i = 0; i < 60; i++) {
        points[i] = (aq_series_point){.env_steps = 100 * (double)(i + 1), .value = (double)i};
    }
    aq_return_picture_draw(cli_print_begin(), &(aq_run_series){.points = points, .count = 60}, 80);
    cli_assert_page("return_picture.txt", cli_print_end());
}

TEST(a_column_without_an_evaluation_is_as_the_one_before)
{
    aq_return_picture_draw(cli_print_begin(), &three, 80);
    cli_assert_page("return_picture_steps.txt", cli_print_end());
}

TEST(small_returns_are_labelled_with_their_digits)
{
    aq_series_point points[] = {{.env_steps = 0, .value = 0.004},
                                {.env_steps = 3000, .value = 0.04}};
    aq_return_picture_draw(cli_print_begin(), &(aq_run_series){.points = points, .count = 2}, 80);
    const char *picture = cli_print_end();
    assert_says(picture, " 0.04 ");
    assert_says(picture, " 0.004 ");
}

TEST(no_line_is_wider_than_the_terminal)
{
    aq_return_picture_draw(cli_print_begin(), &three, 40);
    for (const char *line = strtok((char *)(uintptr_t)cli_print_end(), "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        assert_int_equal(aq_plain_columns(line), 40);
    }
    aq_return_picture_draw(cli_print_begin(), &three, 20);
    assert_string_equal(cli_print_end(), "");
}

TEST(of_fewer_than_two_levels_nothing_is_drawn)
{
    aq_series_point level[] = {{.env_steps = 100, .value = 7}, {.env_steps = 200, .value = 7}};
    aq_return_picture_draw(cli_print_begin(), &(aq_run_series){.points = level, .count = 1}, 80);
    assert_string_equal(cli_print_end(), "");
    aq_return_picture_draw(cli_print_begin(), &(aq_run_series){.points = level, .count = 2}, 80);
    assert_string_equal(cli_print_end(), "");
}

TEST_IN_FOLDER(a_run_without_evaluations_has_no_picture)
{
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_string_equal(cli_print_end(), "");
    file_put_text(
        cli_path(state, "metrics.jsonl"),
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 100, \"return_mean\": 1.0}\n"
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 200, \"return_mean\": 2.0}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

TEST_IN_FOLDER(what_a_restart_took_back_is_not_in_the_picture)
{
    file_put_text(
        cli_path(state, "metrics.jsonl"),
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 100, \"return_mean\": 1.0}\n"
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 300, \"return_mean\": 9.0}\n"
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 200, \"return_mean\": 2.0}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

TEST_IN_FOLDER(a_confirmation_is_of_a_version_that_is_in_the_picture)
{
    file_put_text(
        cli_path(state, "metrics.jsonl"),
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 100, \"return_mean\": 1.0}\n"
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 200, \"return_mean\": 2.0}\n"
        "{\"event\": \"evaluation\", \"wall_s\": 1, \"env_steps\": 300, \"return_mean\": 9.0, "
        "\"confirmed\": true}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

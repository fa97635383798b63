/*
 * The picture of a run's returns: the least below, the greatest above, the steps from left to
 * right.
 */
#include "cli/run/return_picture.h"
#include "common/base/plain_text.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST(a_line_that_rises_is_drawn_so)
{
    aq_return_point points[60];
    for (size_t i = 0; i < 60; i++) {
        points[i] = (aq_return_point){100 * (double)(i + 1), (double)i};
    }
    aq_return_picture_draw(cli_print_begin(), points, 60, 80);
    cli_assert_page("return_picture.txt", cli_print_end());
}

TEST(a_column_without_an_evaluation_is_as_the_one_before)
{
    const aq_return_point points[] = {{0, 1}, {3000, 5}, {6000, 9}};
    aq_return_picture_draw(cli_print_begin(), points, 3, 80);
    cli_assert_page("return_picture_steps.txt", cli_print_end());
}

TEST(no_line_is_wider_than_the_terminal)
{
    const aq_return_point points[] = {{0, 1}, {3000, 5}, {6000, 9}};
    aq_return_picture_draw(cli_print_begin(), points, 3, 40);
    for (const char *line = strtok((char *)(uintptr_t)cli_print_end(), "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        assert_int_equal(aq_plain_columns(line), 40);
    }
    aq_return_picture_draw(cli_print_begin(), points, 3, 20);
    assert_string_equal(cli_print_end(), "");
}

TEST(of_fewer_than_two_levels_nothing_is_drawn)
{
    const aq_return_point level[] = {{100, 7}, {200, 7}};
    aq_return_picture_draw(cli_print_begin(), level, 1, 80);
    assert_string_equal(cli_print_end(), "");
    aq_return_picture_draw(cli_print_begin(), level, 2, 80);
    assert_string_equal(cli_print_end(), "");
}

TEST_IN_FOLDER(a_run_without_evaluations_has_no_picture)
{
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_string_equal(cli_print_end(), "");
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"evaluation\", \"env_steps\": 100, \"return_mean\": 1.0}\n"
                  "{\"event\": \"evaluation\", \"env_steps\": 200, \"return_mean\": 2.0}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

TEST_IN_FOLDER(what_a_restart_took_back_is_not_in_the_picture)
{
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"evaluation\", \"env_steps\": 100, \"return_mean\": 1.0}\n"
                  "{\"event\": \"evaluation\", \"env_steps\": 300, \"return_mean\": 9.0}\n"
                  "{\"event\": \"evaluation\", \"env_steps\": 200, \"return_mean\": 2.0}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

TEST_IN_FOLDER(a_confirmation_is_of_a_version_that_is_in_the_picture)
{
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"evaluation\", \"env_steps\": 100, \"return_mean\": 1.0}\n"
                  "{\"event\": \"evaluation\", \"env_steps\": 200, \"return_mean\": 2.0}\n"
                  "{\"event\": \"evaluation\", \"env_steps\": 300, \"return_mean\": 9.0, "
                  "\"confirmed\": true}\n");
    aq_return_picture_print(cli_print_begin(), *state, 80);
    assert_says(cli_print_end(), "         2.0 ");
}

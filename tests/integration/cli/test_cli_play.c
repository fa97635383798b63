/*
 * Episodes are shown as text, as an animation and as a sheet, and what cannot be shown is refused
 * in words.
 */
#include <string.h>

#include "common/policy/format.h"
#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/gif_reader.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static uint8_t bytes[FILE_BYTES_MAX];

TEST_WITH(random_play_is_shown_in_plain_characters, cli_fixture_setup, cli_fixture_teardown)
{
    program_run("play", "random", "--env", "game:juggle", "--seed", "1", "--size", "20x20", NULL);
    program_assert_success();
    program_assert_out("episode 1, step 0, return 0.00\n");
    program_assert_out("random: game:juggle, seed 1\n");
    program_assert_out("@@@@"); /* the tray */
    assert_null(strchr(
        program_run("play", "random", "--env", "game:juggle", "--seed", "1", NULL)->out, '\x1b'));
}

TEST_WITH(the_same_seed_shows_the_same, cli_fixture_setup, cli_fixture_teardown)
{
    static char first[PROGRAM_TEXT_MAX];
    const program_result *result = program_run("play", "random", "--env", "game:miner", "--seed",
                                               "3", "--size", "10x10", "-n", "3", NULL);
    memcpy(first, result->out, sizeof(first));
    result = program_run("play", "random", "--env", "game:miner", "--seed", "3", "--size", "10x10",
                         "-n", "3", NULL);
    assert_string_equal(first, result->out);
}

TEST_WITH(a_policy_is_played_into_an_animation_with_a_frame_a_step, cli_fixture_setup,
          cli_fixture_teardown)
{
    static gif_reader reader;
    const char *policy = cli_path(state, "p.aq"), *gif = cli_path(state, "run.gif");
    size_t frames = 0;
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 7);
    program_run("play", policy, "--seed", "5", "--gif", gif, "--size", "48x32", "--fps", "20",
                "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    const json_t *episode = json_array_get(json_object_get(object, "episodes"), 0);
    const json_int_t steps = json_integer_value(json_object_get(episode, "steps"));
    assert_string_equal(json_string_value(json_object_get(object, "task")), "gym:CartPole-v1");
    gif_reader_open(&reader, bytes, cli_read(gif, bytes, sizeof(bytes)));
    while (gif_reader_next(&reader)) {
        frames++;
    }
    assert_int_equal(reader.width, 48);
    assert_int_equal(reader.height, 32);
    assert_int_equal(reader.delay_cs, 5);
    assert_int_equal(frames, steps + 1 + 10); /* the last one for half a second more */
    json_decref(object);
}

TEST_WITH(a_run_is_played_by_its_best_policy, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    program_run("play", *state, "--json", "--seed", "1", "--episodes", "4", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_non_null(strstr(json_string_value(json_object_get(object, "policy")), "policy.aq"));
    assert_int_equal(json_array_size(json_object_get(object, "episodes")), 4);
    json_decref(object);
}

TEST_WITH(a_sheet_is_a_png, cli_fixture_setup, cli_fixture_teardown)
{
    const char *png = cli_path(state, "sheet.png");
    program_run("play", "random", "--env", "game:lanes", "--seed", "2", "--png", png, NULL);
    program_assert_success();
    program_assert_out(png);
    assert_true(cli_read(png, bytes, sizeof(bytes)) > 100);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
}

TEST_WITH(what_is_missing_or_wrong_is_said, cli_fixture_setup, cli_fixture_teardown)
{
    program_run("play", NULL);
    program_assert_failure(1, "RUN, POLICY or random is missing");
    program_run("play", "random", NULL);
    program_assert_failure(1, "random play needs a task");
    program_run("play", "random", "--env", "game:juggel", NULL);
    program_assert_failure(1, "did you mean 'game:juggle'?");
    program_run("play", "random", "--env", "game:juggle", "--size", "20", NULL);
    program_assert_failure(1, "'20' is no size such as 640x480");
    program_run("play", "random", "--env", "game:juggle", "--size", "2x20", NULL);
    program_assert_failure(1, "of 8 to 1024 pixels");
    program_run("play", "random", "--env", "game:juggle", "--fps", "0", NULL);
    program_assert_failure(1, "'0' is not a whole number from 1 to 50");
    program_run("play", "random", "--env", "game:juggle", "--gif", "", NULL);
    program_assert_failure(1, "the name of the file is empty");
    program_run("play", "random", "again", NULL);
    program_assert_failure(1, "one argument too many");
}

TEST_WITH(a_file_that_cannot_be_written_is_said, cli_fixture_setup, cli_fixture_teardown)
{
    program_run("play", "random", "--env", "game:juggle", "--gif",
                cli_path(state, "no/such/folder.gif"), NULL);
    program_assert_failure(1, "folder.gif");
}

TEST_WITH(a_policy_for_another_task_is_refused, cli_fixture_setup, cli_fixture_teardown)
{
    const char *policy = cli_path(state, "p.aq");
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 7);
    program_run("play", policy, "--env", "game:miner", NULL);
    program_assert_failure(1, "not for \"game:miner\"");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}

/*
 * Runs are drawn, and what cannot be drawn is refused in words.
 */
#include <stdio.h>
#include <string.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static char bytes[FILE_BYTES_MAX];

/* A run folder with two evaluations; in `paths`, which stays valid. */
static const char *make_run(void **state, const char *name, const char *config)
{
    static char paths[4][CLI_PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    char file[CLI_PATH_MAX];
    (void)snprintf(path, CLI_PATH_MAX, "%s", cli_path(state, name));
    cli_make_folder(path);
    (void)snprintf(file, sizeof(file), "%s/config.yaml", path);
    cli_write_text(file, config);
    (void)snprintf(file, sizeof(file), "%s/metrics.jsonl", path);
    cli_write_text(file, "{\"event\":\"evaluation\",\"wall_s\":1,\"env_steps\":0,\"return_mean\":"
                         "20}\n{\"event\":\"evaluation\",\"wall_s\":9,\"env_steps\":1000,"
                         "\"return_mean\":195}\n");
    return path;
}

TEST_WITH(a_run_is_drawn_as_svg, cli_fixture_setup, cli_fixture_teardown)
{
    const char *svg = cli_path(state, "a.svg");
    program_run("plot", make_run(state, "a", "seed: 1\n"), "--out", svg, "--level", "195", NULL);
    program_assert_success();
    program_assert_out("a.svg: return over environment steps\n");
    program_assert_out("  gym:CartPole-v1: 1 run, 195 at ");
    bytes[cli_read(svg, bytes, sizeof(bytes) - 1)] = '\0';
    assert_memory_equal(bytes, "<svg ", 5);
    cli_assert_in(bytes, ">environment steps</text>");
    cli_assert_in(bytes, "aq-level");
}

TEST_WITH(kinds_of_runs_are_told_apart, cli_fixture_setup, cli_fixture_teardown)
{
    const char *png = cli_path(state, "a.png");
    const char *a = make_run(state, "a", "seed: 1\n"), *b = make_run(state, "b", "seed: 2\n");
    const char *c = make_run(state, "c", "quantizer:\n  format: fp32\n");
    program_run("plot", a, b, c, "-o", png, "-x", "time", "--size", "400x300", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    const json_t *curves = json_object_get(object, "curves");
    assert_int_equal(json_array_size(curves), 2);
    const json_t *int8 = json_array_get(curves, 0);
    assert_string_equal(json_string_value(json_object_get(int8, "name")), "int8");
    assert_int_equal(json_integer_value(json_object_get(int8, "runs")), 2);
    assert_true(json_number_value(json_object_get(int8, "mean")) == 195);
    assert_true(json_number_value(json_object_get(int8, "ci95")) == 0);
    assert_true(json_is_null(json_object_get(json_array_get(curves, 1), "ci95")));
    assert_string_equal(json_string_value(json_object_get(object, "x")), "time (s)");
    json_decref(object);
    assert_true(cli_read(png, bytes, sizeof(bytes)) > 100);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
}

TEST_WITH(a_dash_prints_the_picture, cli_fixture_setup, cli_fixture_teardown)
{
    const char *run = make_run(state, "a", "seed: 1\n");
    assert_memory_equal(program_run("plot", run, "--out", "-", NULL)->out, "<svg ", 5);
    program_assert_success();
}

TEST_WITH(what_cannot_be_drawn_is_refused, cli_fixture_setup, cli_fixture_teardown)
{
    const char *run = make_run(state, "a", "seed: 1\n");
    program_run("plot", NULL);
    program_assert_failure(1, "RUN is missing");
    program_run("plot", cli_path(state, "nowhere"), NULL);
    program_assert_failure(1, "nowhere is no run folder: it has no config.yaml");
    program_run("plot", run, "--out", cli_path(state, "a.gif"), NULL);
    program_assert_failure(1, "a.gif' is neither FILE.svg nor FILE.png");
    program_run("plot", run, "-y", "lost", NULL);
    program_assert_failure(1, "no run has a number called 'lost'");
    program_run("plot", run, "-x", "lost", NULL);
    program_assert_failure(1, "'lost' can't be along the x axis");
    program_run("plot", run, "--by", "learner.lost", NULL);
    program_assert_failure(1, "'learner.lost' is no setting of a run");
    program_run("plot", run, "--size", "40x40", NULL);
    program_assert_failure(1, "'40x40' is no size such as 640x480");
    program_run("plot", run, "--size", "400", NULL);
    program_assert_failure(1, "'400' is no size such as 640x480");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}

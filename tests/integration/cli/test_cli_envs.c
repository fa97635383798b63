/*
 * `actorq envs` as its users run it.
 */
#include <string.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

TEST(people_see_tasks_by_suite)
{
    program_run("envs", NULL);
    program_assert_success();
    program_assert_out("Gymnasium's classics and toy text\n");
    program_assert_out("task ");
    program_assert_out("  gym:CartPole-v1 ");
    program_assert_out("box f32[4] -> discrete 2");
    program_assert_out("'actorq envs TASK' tells more");
}

/* Each task has all of its members, of their types. */
static void assert_task(json_t *task)
{
    const char *name, *suite, *summary, *schema, *kind;
    assert_int_equal(json_unpack(task, "{s:s, s:s, s:s, s:s, s:{s:s}, s:{s:s}}", "name", &name,
                                 "suite", &suite, "summary", &summary, "schema", &schema,
                                 "observation", "kind", &kind, "action", "kind", &kind),
                     0);
    assert_int_equal(strncmp(name, suite, strlen(suite)), 0);
    assert_int_equal(name[strlen(suite)], ':');
    assert_true(summary[0] != '\0');
    assert_non_null(strstr(schema, " -> "));
    json_t *limit = json_object_get(task, "step_limit");
    assert_true(json_is_null(limit) || json_integer_value(limit) > 0);
    json_t *threshold = json_object_get(task, "reward_threshold");
    assert_true(json_is_null(threshold) || json_is_number(threshold));
    json_t *options = json_object_get(task, "options");
    assert_true(json_is_null(options) || json_is_string(options));
    assert_true(json_is_boolean(json_object_get(task, "can_be_drawn")));
    assert_true(json_is_boolean(json_object_get(task, "can_be_replayed")));
}

TEST(programs_get_every_task_and_family)
{
    program_run("envs", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    const json_t *tasks = json_object_get(object, "envs");
    assert_true(json_array_size(tasks) >= 10);
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        assert_task(json_array_get(tasks, i));
    }
    const json_t *families = json_object_get(object, "families");
    for (size_t i = 0; i < json_array_size(families); i++) {
        const char *prefix, *summary;
        assert_int_equal(json_unpack(json_array_get(families, i), "{s:s, s:s}", "prefix", &prefix,
                                     "summary", &summary),
                         0);
        assert_int_equal(prefix[strlen(prefix) - 1], ':');
    }
    json_decref(object);
}

TEST(one_task_is_shown_whole)
{
    program_run("envs", "gym:Pendulum-v1", NULL);
    program_assert_success();
    program_assert_out("gym:Pendulum-v1\n");
    program_assert_out("observation     box f32[3], -1 to 1, -1 to 1, -8 to 8\n");
    program_assert_out("action          box f32[1], -2 to 2\n");
    program_assert_out("episode         up to 200 steps\n");
}

TEST(a_task_is_shown_as_its_options_make_it)
{
    json_int_t cells;
    const char *name;
    program_run("envs", "FrozenLake-v1?map=8x8", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_task(object);
    assert_int_equal(
        json_unpack(object, "{s:s, s:{s:I}}", "name", &name, "observation", "choices", &cells), 0);
    assert_string_equal(name, "gym:FrozenLake-v1?map=8x8");
    assert_int_equal(cells, 64);
    json_decref(object);
}

TEST(bounds_without_end_are_null)
{
    program_run("envs", "gym:CartPole-v1", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    const json_t *observation = json_object_get(object, "observation");
    const json_t *high = json_object_get(observation, "high");
    assert_int_equal(json_array_size(high), 4);
    assert_true(json_is_number(json_array_get(high, 0)));
    assert_true(json_is_null(json_array_get(high, 1)));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(observation, "shape"), 0)),
                     4);
    json_decref(object);
}

TEST(mistakes_are_answered_in_words)
{
    program_run("envs", "gym:CartPol-v1", NULL);
    program_assert_failure(1, "the task 'gym:CartPol-v1' is not known; did you mean "
                              "'gym:CartPole-v1'?");
    program_run("envs", "cartpole-v1", NULL);
    program_assert_failure(1, "did you mean 'CartPole-v1'?");
    program_run("envs", "Lake", NULL);
    program_assert_failure(1, "the task 'Lake' is not known; there are gym:FrozenLake-v1, "
                              "gym:FrozenLake8x8-v1");
    program_run("envs", "gym:Tennis-v5", NULL);
    program_assert_failure(1, "'actorq envs' lists those that are");
    program_run("envs", "gym:CartPole-v1", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many after 'gym:CartPole-v1'");
    program_run("envs", "gym:FrozenLake-v1?map=9x9", NULL);
    program_assert_failure(1, "9x9");
    program_run("envs", "gym:CartPole-v1?colour=red", NULL);
    program_assert_failure(1, "colour");
    program_run("envs", "--jason", NULL);
    program_assert_failure(1, "actorq envs: unknown option --jason");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}

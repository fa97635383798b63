/*
 * `actorq env` and `actorq envs` for programs. Times are never asserted: the machine is shared.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

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
    json_t *object = program_gives("envs", "--json", NULL);
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
}

static void assert_bench(const char *task, bool has_physics)
{
    const char *name, *clock;
    json_int_t envs, seconds, seed, slices, steps, episodes;
    double rate, low, high, step_ns, reset_ns;
    json_t *object = program_gives("env", "bench", task, "--seconds", "1", "--json", NULL);
    assert_int_equal(
        json_unpack(object, "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:F, s:F, s:F, s:F, s:F}",
                    "task", &name, "clock", &clock, "envs", &envs, "seconds", &seconds, "seed",
                    &seed, "slices", &slices, "steps", &steps, "episodes", &episodes, "steps_per_s",
                    &rate, "steps_per_s_low", &low, "steps_per_s_high", &high, "step_ns", &step_ns,
                    "reset_ns", &reset_ns),
        0);
    assert_string_equal(name, task);
    assert_string_equal(clock, "processor");
    assert_true(envs > 0 && slices > 0 && steps > 0 && episodes > 0);
    assert_true(low > 0 && low <= rate && rate <= high);
    const json_t *physics = json_object_get(object, "physics_steps_per_s");
    const json_t *ratio = json_object_get(object, "physics_ratio");
    assert_true(has_physics ? json_is_real(physics) : json_is_null(physics));
    assert_true(has_physics ? json_is_real(ratio) : json_is_null(ratio));
}

TEST(programs_get_rates)
{
    assert_bench("gym:CartPole-v1", false);
    if (program_run("envs", "dmc:pendulum_swingup", NULL)->exit_status == 0) {
        assert_bench("dmc:pendulum_swingup", true);
    }
}

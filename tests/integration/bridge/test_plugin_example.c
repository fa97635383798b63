/*
 * The example plug-in, built as its README says, out of tree and by the compiler of the house, then
 * loaded and played. Arguments: the folder of the example, the program actorq.
 */
#include "rollout/vec_env.h"
#include "tests/integration/bridge/bridge_lane.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { LANES = 8, STEPS = 1000 };

static const char *example;
static char *actorq;
static char folder[] = "/tmp/bridge-plugin-XXXXXX";

static int build_example(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return -1;
    }
    return shell("'%s/build.sh' .", example);
}

static int remove_example(void **state)
{
    (void)state;
    return unlink("point_robot.so") + rmdir(folder);
}

/* The returns of all lanes over STEPS steps of pushes that a seed gives. */
static double *play(const char *name)
{
    aq_env_task task;
    aq_vec_env *vec = NULL;
    int32_t pushes[LANES];
    aq_env *env = bridge_open(name);
    double *sums = aq_alloc(LANES + 1, sizeof(double));
    assert_non_null(sums);
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    assert_int_equal(aq_vec_env_create(&task, LANES, 7, &vec, NULL), 0);
    aq_rng rng = rng_of(1, 0);
    for (int step = 0; step < STEPS; step++) {
        for (int lane = 0; lane < LANES; lane++) {
            pushes[lane] = (int32_t)aq_rng_below(&rng, 5);
        }
        assert_int_equal(aq_vec_env_step(vec, pushes, 0), LANES);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            sums[lane] += (double)vec->reward[lane];
            sums[LANES] += aq_vec_env_ended(vec, lane) ? 1.0 : 0.0; /* episodes */
        }
    }
    assert_int_equal(vec->failures, 0);
    aq_vec_env_destroy(vec);
    aq_env_task_fini(&task);
    aq_env_unref(env);
    return sums;
}

TEST(many_lanes_are_the_same_again_and_nothing_is_wrong_with_them)
{
    double *first = play("so:./point_robot.so:reach");
    double *checked = play("so:./point_robot.so:reach?check=yes");
    assert_memory_equal(first, checked, (LANES + 1) * sizeof(double));
    assert_true(first[LANES] >= LANES * STEPS / 200.0);
    assert_true(first[0] < 0.0 && first[0] > -3.0 * STEPS);
    aq_free(first);
    aq_free(checked);
}

TEST(friction_slows)
{
    const float push[2] = {1.0f, 0.0f}, none[2] = {0.0f, 0.0f};
    float speeds[2];
    for (int i = 0; i < 2; i++) {
        bridge_lane lane;
        aq_env *env = bridge_open(i == 0 ? "so:./point_robot.so:steer?friction=0"
                                         : "so:./point_robot.so:steer?friction=5");
        bridge_lane_init(&lane, env, 4);
        assert_true(bridge_reset(&lane));
        assert_int_equal(bridge_step(&lane, push), AQ_STEP_GOES_ON);
        assert_int_equal(bridge_step(&lane, none), AQ_STEP_GOES_ON);
        speeds[i] = lane.obs.numbers[2];
        bridge_lane_fini(&lane);
        aq_env_unref(env);
    }
    assert_true(speeds[0] > 0.19f && speeds[0] < 0.21f);
    assert_true(speeds[1] < 0.8f * speeds[0]);
}

TEST(the_program_measures_it)
{
    shell_succeeds("'%s' env bench 'so:./point_robot.so:reach?check=yes' --seconds 1 >/dev/null",
                   actorq);
}

/* Exit status of the program; what it said is in the file `said`. */
static int run_actorq(const char *arguments)
{
    return WEXITSTATUS(shell("'%s' %s >said 2>&1", actorq, arguments));
}

/* What was trained here may be read by somebody who has only been given it. */
TEST(what_names_the_plugin_loads_it_only_where_that_is_allowed)
{
    static const struct {
        const char *arguments;
        bool needs_code;
    } readers[] = {
        {"eval run --episodes 1", true},
        {"play run --json", true},
        {"quantize run other.aq", true},
        {"train --offline steps.aqds --run again --set limits.learner_steps=1", true},
        {"train --run run --resume", true},
        {"replay inspect run/replay-0 --quiet", false},
        {"replay export run/replay-0 other.aqds --quiet --force", false},
        {"replay inspect steps.aqds --quiet", false},
        {"inspect run", false},
    };
    assert_int_equal(run_actorq("train so:./point_robot.so:reach --run run --quiet --no-http "
                                "--set limits.env_steps=2000 --no-evaluator"),
                     0);
    assert_int_equal(run_actorq("replay export run/replay-0 steps.aqds --quiet"), 0);
    assert_int_equal(rename("point_robot.so", "hidden.so"), 0); /* it cannot be loaded at all */
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        const int expected = readers[i].needs_code ? 1 : 0;
        if (run_actorq(readers[i].arguments) != expected ||
            (readers[i].needs_code && system("grep -q -- --allow-code said") != 0)) {
            fail_msg("%s", readers[i].arguments);
        }
    }
    assert_int_equal(rename("hidden.so", "point_robot.so"), 0);
    assert_int_equal(run_actorq("eval run --episodes 1 --allow-code"), 0);
    assert_int_equal(run_actorq("quantize run other.aq --rows 64 --allow-code"), 0);
    assert_int_equal(system("rm -r run steps.aqds other.aqds other.aq said"), 0);
}

TEST_GROUP(build_example, remove_example);

int main(int argument_count, char **arguments)
{
    if (argument_count != 3) {
        return 1;
    }
    example = arguments[1];
    actorq = realpath(arguments[2], NULL); /* as the folder changes */
    if (actorq == NULL) {
        return 1;
    }
    const int status = aq_test_run(NULL);
    free(actorq);
    return status;
}

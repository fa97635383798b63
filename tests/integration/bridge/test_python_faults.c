/*
 * Environments in Python that go wrong, and workers that die, hang or cannot start: episodes fail
 * in words, others go on, nothing is left behind.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rollout/evaluation.h"
#include "rollout/vec_env.h"
#include "tests/integration/bridge/bridge_lane.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { GONE_MS = 120000, LANES = 3 };
enum { BACK_OFF_MS = 100 }; /* of a worker that died, as it has it */

static const char *own_path;

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(what_is_no_environment_is_refused_in_words)
{
    assert_says(bridge_refusal("py:"), "py:gymnasium:CartPole-v1");
    assert_says(bridge_refusal("py:bridge_tasks"), "what it is to make");
    assert_says(bridge_refusal("py:no_such_module:X"), "no Python module no_such_module");
    assert_says(bridge_refusal("py:bridge_tasks:math.nothing"), "no environment math.nothing");
    assert_says(bridge_refusal("py:bridge_lane_of_nobody:X"), "no Python module");
    assert_says(bridge_refusal("py:json:NoClass"), "no class or function NoClass");
    assert_says(bridge_refusal("py:bridge_tasks:NoSpaces"), "has no observation_space");
    assert_says(bridge_refusal("py:bridge_tasks:Flags"), "observation space is a MultiBinary");
    assert_says(bridge_refusal("py:bridge_tasks:Wide"), "has 1099511627776 choices");
    assert_says(bridge_refusal("py:bridge_tasks:Counter?timeout_s=0"), "timeout_s");
    assert_says(bridge_refusal("py:bridge_tasks:Counter?speed=3"), "speed");
}

TEST(an_exception_at_the_start_comes_with_its_place)
{
    const char *words = bridge_refusal("py:bridge_tasks:RaisingInInit");
    assert_says(words, "LookupError: the model file is missing");
    assert_says(words, "bridge_tasks.py");
    assert_says(words, "in __init__");
    assert_null(strstr(words, "maker.py"));
}

TEST(a_worker_that_dies_at_the_start_is_told)
{
    assert_says(bridge_refusal("py:bridge_tasks:DyingEarly"), "ended with status 4");
}

/* The refusal with a variable of the environment set. */
static const char *refusal_with(const char *name, const char *value)
{
    static char before[4096];
    const char *set = getenv(name);
    (void)snprintf(before, sizeof(before), "%s", set != NULL ? set : "");
    assert_int_equal(setenv(name, value, 1), 0);
    const char *words = bridge_refusal("py:bridge_tasks:Counter");
    assert_int_equal(set != NULL ? setenv(name, before, 1) : unsetenv(name), 0);
    return words;
}

TEST(a_python_or_package_that_is_not_there_is_told)
{
    assert_says(refusal_with("ACTORQ_PYTHON", "/no/such/python3"), "/no/such/python3");
    assert_says(refusal_with("ACTORQ_PYTHONPATH", "/no/such/folder"), "/no/such/folder");
}

TEST(a_python_without_numpy_is_told)
{
    const char *path = file_in(file_folder(), "python"), *python = getenv("ACTORQ_PYTHON");
    char script[512];
    (void)snprintf(script, sizeof(script), "#!/bin/sh\nexec '%s' -S \"$@\"\n",
                   python != NULL ? python : "python3");
    file_put_text(path, script);
    assert_int_equal(chmod(path, 0700), 0);
    const char *words = refusal_with("ACTORQ_PYTHON", path);
    assert_says(words, "has no NumPy");
    assert_says(words, "python3-numpy");
}

/* ---- faults of an environment --------------------------------------------------------------- */

/* The first two steps of an episode are fine, unless `fine` says fewer; then one fails with these
 * words, and the next episode begins. */
static void assert_fails(const char *task, int fine, const char *words)
{
    char name[AQ_TASK_NAME_MAX];
    (void)snprintf(name, sizeof(name), "py:bridge_tasks:%s", task);
    bridge_lane *lane = bridge_lane_of(name, 1);
    for (int episode = 0; episode < 2; episode++) {
        assert_true(bridge_reset(lane));
        for (int i = 0; i < fine; i++) {
            assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
        }
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_FAILED);
        assert_says(bridge_failure(lane), words);
        assert_says(bridge_failure(lane), name);
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_FAILED); /* until it is reset */
    }
}

TEST(an_exception_fails_its_episode_with_its_traceback)
{
    assert_fails("Raising", 2, "ValueError: the gears are jammed");
    assert_fails("Raising", 2, "in step");
}

TEST(an_exception_far_below_is_told_to_its_last_line)
{
    aq_evaluation result;
    aq_env *env = bridge_open("py:bridge_tasks:RaisingDeep");
    const int rc = aq_evaluate(env, NULL, 1, 7, &result, &refusal);
    aq_env_unref(env);
    assert_refused(rc, AQ_E_PEER, "fails too often");
    assert_says(refusal.text, "ValueError: the gears are jammed");
}

TEST(what_python_gives_is_looked_at)
{
    assert_fails("WrongShape", 1, "an observation of shape (4,); the space says (3,)");
    assert_fails("Scalar", 0, "an observation of shape ()");
    assert_fails("NaNs", 1, "as element 1 of the observation");
    assert_fails("NaNReward", 1, "a reward of ");
    assert_fails("FourTuple", 0, "step gives 4 values");
}

TEST(a_reset_that_fails_can_be_tried_again)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:RaisingInReset", 1);
    assert_true(bridge_reset(lane));
    const aq_rng before = lane->rng;
    assert_false(bridge_reset(lane));
    assert_says(bridge_failure(lane), "RuntimeError: no second chance");
    /* Not with the same seed, which may be why. */
    assert_memory_not_equal(&lane->rng, &before, sizeof(before));
    bridge_lane *old = bridge_lane_of("py:bridge_tasks:OldReset", 1);
    assert_false(bridge_reset(old));
    assert_says(bridge_failure(old), "no pair of an observation and an info");
}

TEST(what_an_environment_prints_stays_off_standard_output)
{
    bridge_lane lane;
    struct stat written;
    int file = open(file_in(file_folder(), "out"), O_WRONLY | O_CREAT, 0600);
    int out = dup(STDOUT_FILENO);
    assert_true(file >= 0 && out >= 0);
    (void)fflush(stdout);
    assert_true(dup2(file, STDOUT_FILENO) >= 0);
    aq_env *env = bridge_open("py:bridge_tasks:Chatty");
    bridge_lane_init(&lane, env, 1);
    bool began = bridge_reset(&lane);
    enum aq_step_end end = bridge_choose(&lane, 0);
    bridge_lane_fini(&lane);
    aq_env_unref(env);
    (void)dup2(out, STDOUT_FILENO);
    (void)close(out);
    assert_int_equal(fstat(file, &written), 0);
    (void)close(file);
    assert_true(began);
    assert_int_equal(end, AQ_STEP_GOES_ON);
    assert_int_equal(written.st_size, 0);
}

/* ---- workers -------------------------------------------------------------------------------- */

static void init_lanes(bridge_lane *lanes, aq_env *env)
{
    for (size_t i = 0; i < LANES; i++) {
        bridge_lane_init(&lanes[i], env, i);
        assert_true(bridge_reset(&lanes[i]));
    }
}

/* All episodes that the worker knew fail, with words; then all begin again. */
static void assert_all_restart(bridge_lane *lanes, const char *words)
{
    const int64_t before_ns = aq_clock_monotonic_ns();
    for (size_t i = 0; i < LANES; i++) {
        bridge_announce(&lanes[i], 0);
    }
    for (size_t i = 0; i < LANES; i++) {
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_FAILED);
        assert_says(bridge_failure(&lanes[i]), words);
    }
    const bool begins = bridge_reset(&lanes[0]); /* not at once */
    assert_true(!begins || aq_clock_monotonic_ns() - before_ns >= BACK_OFF_MS * AQ_NS_PER_MS);
    for (size_t i = 0; i < LANES; i++) {
        bridge_reset_at_last(&lanes[i]);
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
    }
}

static void fini_lanes(bridge_lane *lanes, aq_env *env)
{
    for (size_t i = 0; i < LANES; i++) {
        bridge_lane_fini(&lanes[i]);
    }
    aq_env_unref(env);
    assert_int_equal(bridge_child_of(getpid()), 0);
}

TEST(a_worker_killed_in_mid_episode_is_started_again)
{
    bridge_lane lanes[LANES];
    aq_env *env = bridge_open("py:bridge_tasks:Counter");
    init_lanes(lanes, env);
    pid_t worker = bridge_child_of(getpid());
    assert_true(worker > 0);
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_true(bridge_wait_until_gone(worker, GONE_MS));
    assert_all_restart(lanes, "was killed by signal 9");
    fini_lanes(lanes, env);
}

TEST(who_waits_for_a_worker_that_died_begins_at_once)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Dying?frame_stack=2", 1);
    const aq_env *env = lane->env;
    assert_true(bridge_reset(lane));
    for (int life = 0; life < 2; life++) {
        env->class->await(env->params); /* for nothing: it is there */
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_FAILED);
        env->class->await(env->params);
        assert_true(bridge_reset(lane));
    }
}

TEST(who_waits_hears_of_a_worker_that_died_between_two_calls)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Counter?frame_stack=2", 1);
    const aq_env *env = lane->env;
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
    const pid_t worker = bridge_child_of(getpid());
    assert_true(worker > 0);
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_true(bridge_wait_until_gone(worker, GONE_MS));
    env->class->await(env->params);
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
}

static void assert_ends_itself(const char *task)
{
    bridge_lane lanes[LANES];
    aq_env *env = bridge_open(task);
    init_lanes(lanes, env);
    for (size_t i = 0; i < LANES; i++) {
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
    }
    assert_all_restart(lanes, "ended with status 3");
    fini_lanes(lanes, env);
}

TEST(a_worker_that_ends_itself_is_started_again)
{
    assert_ends_itself("py:bridge_tasks:Dying");
}

TEST(what_a_worker_leaves_behind_does_not_hide_its_end)
{
    assert_ends_itself("py:bridge_tasks:DyingWithHeirs?timeout_s=10");
}

TEST(a_worker_that_hangs_is_killed_and_started_again)
{
    bridge_lane lanes[LANES];
    aq_env *env = bridge_open("py:bridge_tasks:Hanging?timeout_s=15");
    init_lanes(lanes, env);
    pid_t worker = bridge_child_of(getpid());
    for (size_t i = 0; i < LANES; i++) {
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
    }
    assert_all_restart(lanes, "did not answer within 15 s");
    assert_true(bridge_wait_until_gone(worker, GONE_MS));
    fini_lanes(lanes, env);
}

TEST(who_steps_many_goes_on_when_their_worker_dies)
{
    aq_env_task task;
    aq_vec_env *vec = NULL;
    const int32_t actions[LANES] = {0};
    aq_env *env = bridge_open("py:bridge_tasks:Counter");
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    assert_int_equal(aq_vec_env_create(&task, LANES, 7, &vec, NULL), 0);
    assert_int_equal(aq_vec_env_step(vec, actions, aq_clock_monotonic_ns()), LANES);
    assert_int_equal(kill(bridge_child_of(getpid()), SIGKILL), 0);
    const int64_t until_ns = aq_clock_monotonic_ns() + GONE_MS * AQ_NS_PER_MS;
    uint32_t made = 0;
    while (vec->failures == 0 || made < LANES) {
        made = aq_vec_env_step(vec, actions, aq_clock_monotonic_ns());
        assert_true(aq_clock_monotonic_ns() < until_ns);
    }
    assert_true(vec->failures >= LANES);
    assert_says(vec->failure, "signal 9");
    aq_vec_env_destroy(vec);
    aq_env_task_fini(&task);
    aq_env_unref(env);
}

/* Nobody sends what was announced where the first to work is a lane that waited. Two batches of so
 * many lanes have no room in one. */
TEST(what_was_announced_to_a_worker_that_died_takes_no_room_in_the_next)
{
    enum { MANY = 4000 };
    static const int32_t actions[MANY];
    aq_env_task task;
    aq_vec_env *vec = NULL;
    aq_env *env = bridge_open("py:bridge_tasks:Counter");
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    assert_int_equal(aq_vec_env_create(&task, MANY, 7, &vec, NULL), 0);
    assert_int_equal(aq_vec_env_step(vec, actions, aq_clock_monotonic_ns()), MANY);
    const pid_t worker = bridge_child_of(getpid());
    aq_vec_env_retry(vec, 0, 7, 0, 0, aq_clock_monotonic_ns() - AQ_NS_PER_S); /* it is due */
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_true(bridge_wait_until_gone(worker, GONE_MS));
    const int64_t until_ns = aq_clock_monotonic_ns() + GONE_MS * AQ_NS_PER_MS;
    while (aq_vec_env_step(vec, actions, aq_clock_monotonic_ns()) < MANY) {
        assert_true(aq_clock_monotonic_ns() < until_ns);
    }
    assert_true(vec->failures >= MANY);
    aq_vec_env_destroy(vec);
    aq_env_task_fini(&task);
    aq_env_unref(env);
}

/* ---- forks ---------------------------------------------------------------------------------- */

/* In a process that was forked off; returns whether all of it is refused in words. */
static bool is_refused_and_ended(bridge_lane *lanes, aq_env *env)
{
    const bool is_refused = bridge_choose(&lanes[0], 0) == AQ_STEP_FAILED &&
                            strstr(bridge_failure(&lanes[0]), "before a fork") != NULL &&
                            !bridge_reset(&lanes[1]);
    for (size_t i = 0; i < LANES; i++) {
        bridge_lane_fini(&lanes[i]);
    }
    aq_env_unref(env);
    return is_refused;
}

TEST(a_process_that_is_forked_off_leaves_the_worker_to_its_parent)
{
    bridge_lane lanes[LANES];
    int status = 1;
    aq_env *env = bridge_open("py:bridge_tasks:Counter");
    init_lanes(lanes, env);
    const pid_t worker = bridge_child_of(getpid());
    assert_int_equal(bridge_choose(&lanes[0], 0), AQ_STEP_GOES_ON);
    const pid_t forked = fork();
    assert_true(forked >= 0);
    if (forked == 0) {
        _exit(is_refused_and_ended(lanes, env) ? 0 : 1);
    }
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < LANES; i++) {
        assert_int_equal(bridge_choose(&lanes[i], 0), AQ_STEP_GOES_ON);
        assert_true(lanes[i].reward == (i == 0 ? 1.0F : 0.5F));
    }
    assert_int_equal(bridge_child_of(getpid()), worker);
    fini_lanes(lanes, env);
}

/* ---- orphans -------------------------------------------------------------------------------- */

/* In a process of its own: hangs in a step, after it has said that it is about to. */
static int be_a_victim(void)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Hanging", 1);
    (void)bridge_reset(lane);
    (void)bridge_choose(lane, 0);
    (void)bridge_choose(lane, 0);
    (void)dprintf(STDOUT_FILENO, "now\n");
    (void)bridge_choose(lane, 0);
    return 1;
}

TEST(a_worker_dies_with_a_program_that_is_killed)
{
    char command[512], line[16] = "";
    (void)snprintf(command, sizeof(command), "exec '%s' victim", own_path);
    FILE *victim = popen(command, "r");
    assert_non_null(victim);
    assert_non_null(fgets(line, sizeof(line), victim));
    assert_string_equal(line, "now\n");
    pid_t program = bridge_child_of(getpid());
    pid_t worker = bridge_child_of(program);
    assert_true(program > 0 && worker > 0);
    assert_int_equal(kill(program, SIGKILL), 0);
    assert_true(bridge_wait_until_gone(worker, GONE_MS));
    (void)pclose(victim);
}

int main(int argument_count, char **arguments)
{
    own_path = arguments[0];
    if (argument_count > 1 && strcmp(arguments[1], "victim") == 0) {
        return be_a_victim();
    }
    return aq_test_run(NULL);
}

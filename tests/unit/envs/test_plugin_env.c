/*
 * Plug-ins in C: what is loaded and what is refused, what is played, and what the watched calls of
 * check=yes see. The plug-ins are builds of plugin_faults.c.
 */
#include "envs/env_code.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

enum { STEPS = 200 };

static void refuse(const char *name, int code, const char *words)
{
    aq_env *env = NULL;
    aq_env_allow_code(name);
    assert_refused(aq_env_open(name, &env, &refusal), code, words);
    assert_null(env);
}

/* ---- whose code ----------------------------------------------------------------------------- */

/* A plug-in's code runs when it is loaded, so nothing of it is looked at before. */
TEST(code_is_loaded_only_where_it_was_named)
{
    static const struct {
        const char *named, *found;
        bool loads;
    } rows[] = {
        {"so:./plugin_good.so:good", "so:./plugin_good.so:good", true},
        {"so:./plugin_good.so:good", "so:plugin_good.so:good?frame_stack=2", true},
        {"so:./plugin_good.so:good?frame_stack=2", "so:./plugin_good.so:good", true},
        {"so:./plugin_good.so:nan", "so:./plugin_good.so:good", false},
        {"gym:CartPole-v1", "so:./plugin_good.so:good", false},
        {"gym:CartPole-v1", "py:this:That", false},
        {"gym:CartPole-v1", "gym:Acrobot-v1", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_env *env = NULL;
        aq_env_allow_code(rows[i].named);
        int rc = aq_env_open(rows[i].found, &env, &refusal);
        if (rows[i].loads) {
            assert_succeeds(rc);
        } else {
            assert_refused(rc, AQ_E_UNSUPPORTED, "--allow-code");
        }
        aq_env_unref(env);
    }
}

/* ---- loading -------------------------------------------------------------------------------- */

TEST(a_plugin_of_another_abi_is_refused_with_both_versions)
{
    refuse("so:./plugin_abi.so", AQ_E_VERSION, "version 7");
    refuse("so:./plugin_abi.so", AQ_E_VERSION, "version 1 is needed");
    refuse("so:./plugin_sizes.so", AQ_E_VERSION, "changed actorq_env.h");
    refuse("so:./plugin_magic.so", AQ_E_VERSION, "00001234");
}

TEST(what_is_no_plugin_is_refused_in_words)
{
    refuse("so:", AQ_E_INVALID, "so:./my_env.so");
    refuse("so:./no_such.so", AQ_E_NOT_FOUND, "there is no plug-in ./no_such.so");
    refuse("so:no_such.so:good", AQ_E_NOT_FOUND, "./no_such.so");
    refuse("so:/proc/version", AQ_E_UNSUPPORTED, "can't be loaded");
    refuse("so:./plugin_symbol.so", AQ_E_INVALID, "exports no actorq_plugin_table");
}

TEST(what_a_plugin_cannot_be_is_refused_in_words)
{
    refuse("so:./plugin_none.so", AQ_E_INVALID, "offers 0 environments");
    refuse("so:./plugin_step.so:good", AQ_E_INVALID, "no function \"step\"");
    refuse("so:./plugin_huge.so:good", AQ_E_INVALID, "1099511627776 of state");
    refuse("so:./plugin_good.so:spaces", AQ_E_SCHEMA, "9 dimensions");
}

TEST(one_of_several_is_chosen_by_name)
{
    aq_env *env = env_lane_open("so:./plugin_good.so:good");
    assert_int_equal(env->step_limit, 50);
    assert_true(isnan(env->reward_threshold));
    (void)env_lane_open("so:plugin_good.so:good"); /* in this folder, too */
    refuse("so:./plugin_good.so", AQ_E_INVALID, "choose with so:./plugin_good.so:good");
    refuse("so:./plugin_good.so:bad", AQ_E_NOT_FOUND, "no \"bad\", but good, nan");
}

TEST(a_plugin_says_itself_what_it_is)
{
    const aq_env *env = env_lane_open("so:./plugin_good.so:good?frame_stack=2");
    assert_string_equal(env->summary, "A test.");
    assert_says(env->options, "check (yes:");
    assert_false(env->can_be_drawn);
}

TEST(an_action_may_be_several_choices)
{
    char text[64];
    const aq_env *env = env_lane_open("so:./plugin_good.so:several?check=yes");
    assert_string_equal(aq_schema_text(&env->schema, text, sizeof(text)),
                        "box f32[2] -> discrete 3,2");
}

TEST(a_whole_name_has_the_whole_path)
{
    char folder[AQ_TASK_NAME_MAX], name[AQ_TASK_NAME_MAX], expected[2 * AQ_TASK_NAME_MAX];
    assert_non_null(getcwd(folder, sizeof(folder)));
    (void)snprintf(expected, sizeof(expected), "so:%s/plugin_good.so:good?time_limit=3", folder);
    aq_env_whole_name("so:./plugin_good.so:good?time_limit=3", name);
    assert_string_equal(name, expected);
    (void)env_lane_open(name);
    aq_env_whole_name(expected, name);
    assert_string_equal(name, expected);
    aq_env_whole_name("gym:CartPole-v1", name);
    assert_string_equal(name, "gym:CartPole-v1");
}

TEST(options_are_the_plugins_own)
{
    refuse("so:./plugin_good.so:refusing", AQ_E_INVALID, "it needs a map");
    refuse("so:./plugin_good.so:refusing?map=a&speed=2", AQ_E_INVALID, "speed");
    refuse("so:./plugin_good.so:refusing?map=a&colour=red", AQ_E_INVALID, "colour");
    aq_env *env = env_lane_open("so:./plugin_good.so:refusing?map=a&speed=0.5");
    assert_true(env->reward_threshold == 3.0);
}

TEST(every_failed_allocation_is_told)
{
    aq_env *env = NULL;
    int rc;
    aq_env_allow_code("so:./plugin_good.so:good");
    EACH_ALLOCATION_FAILS(rc) {
        refusal = (aq_error){0};
        rc = aq_env_open("so:./plugin_good.so:good?check=yes", &env, &refusal);
        assert_true(rc == 0 || strstr(refusal.text, "no memory") != NULL);
    }
    aq_env_unref(env);
}

/* ---- playing -------------------------------------------------------------------------------- */

TEST(the_same_seed_gives_the_same_bits_checked_or_not)
{
    env_lane plain, checked;
    env_lane_init(&plain, env_lane_open("so:./plugin_good.so:good"), 9);
    env_lane_init(&checked, env_lane_open("so:./plugin_good.so:good?check=yes"), 9);
    for (int i = 0; i < STEPS; i++) {
        env_lane_step(&plain);
        env_lane_step(&checked);
        env_lane_assert_same(&plain, &checked);
    }
    env_lane_fini(&plain);
    env_lane_fini(&checked);
}

TEST(an_episode_depends_on_its_seed_and_nothing_else)
{
    env_lane_check_fresh(env_lane_open("so:./plugin_good.so:good"));
}

TEST(a_step_allocates_nothing)
{
    env_lane_check_memory(env_lane_open("so:./plugin_good.so:good?check=yes"));
}

/* ---- faults --------------------------------------------------------------------------------- */

/* A step of that environment fails with these words and the plug-in's name; the next one, after a
 * reset, does so again. */
static void assert_step_fails(const char *task, bool checked, const char *words)
{
    char name[AQ_TASK_NAME_MAX];
    const int32_t action = 1;
    env_lane lane;
    (void)snprintf(name, sizeof(name), "so:./plugin_good.so:%s%s", task,
                   checked ? "?check=yes" : "");
    aq_env *env = env_lane_open(name);
    env_lane_init(&lane, env, 9);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            env->class->step(env->params, lane.state, &lane.rng, &action, lane.obs, &lane.reward),
            AQ_STEP_FAILED);
        const char *failure = env->class->failure(env->params, lane.state);
        assert_says(failure, words);
        assert_says(failure, "plugin_good.so");
        assert_true(env->class->reset(env->params, lane.state, &lane.rng, lane.obs));
    }
    env_lane_fini(&lane);
}

TEST(numbers_that_are_not_finite_fail_the_step)
{
    assert_step_fails("nan", false, "as element 1 of the observation");
    assert_step_fails("nan", true, "as element 1 of the observation");
    assert_step_fails("infinite-reward", false, "a reward of inf");
}

TEST(an_end_that_nobody_knows_fails_the_step)
{
    assert_step_fails("unknown-end", false, "step says that it failed");
    assert_step_fails("failed", false, "step says that it failed");
    assert_step_fails("failed", true, "step says that it failed");
}

TEST(writes_out_of_bounds_are_seen)
{
    assert_step_fails("beyond", true, "beyond the end of the observation row (byte 9 of 8)");
    assert_step_fails("before", true, "before the start of the observation row");
    assert_step_fails("beyond-state", true, "beyond the end of the state (byte 9 of 8)");
    assert_step_fails("beyond-reward", true, "beyond the end of the reward");
    assert_step_fails("action", true, "writes to the action");
}

TEST(what_is_not_written_is_seen)
{
    assert_step_fails("half-row", true, "leaves element 1 of the observation unwritten");
    assert_step_fails("no-reward", true, "leaves the reward unwritten");
}

TEST(memory_outside_of_the_state_is_seen)
{
    assert_step_fails("memory", true, "gives another observation (element 0)");
    assert_step_fails("other-row", true, "another observation than its `observe`");
}

/* Shown as one of four, the fifth state has no place; what is drawn of it then is the first. */
TEST(a_state_outside_of_its_space_fails_the_step_however_it_is_shown)
{
    static const float first[] = {1, 0, 0, 0};
    const int32_t action = 1;
    env_lane lane;
    aq_env *env = env_lane_open("so:./plugin_good.so:counted?one_hot=yes");
    env_lane_init(&lane, env, 9);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(
            env->class->step(env->params, lane.state, &lane.rng, &action, lane.obs, &lane.reward),
            i < 4 ? AQ_STEP_GOES_ON : AQ_STEP_FAILED);
    }
    assert_says(env->class->failure(env->params, lane.state), "shows observation 4, not 0 to 3");
    assert_true(lane.reward == 0.0f);
    env->class->observe(env->params, lane.state, lane.obs);
    assert_memory_equal(lane.obs, first, sizeof(first));
    env_lane_fini(&lane);
}

TEST(an_episode_that_ends_as_it_begins_is_no_episode)
{
    uint8_t lane[256] __attribute__((aligned(16))) = {0};
    float obs[2];
    aq_rng rng;
    aq_env *env = env_lane_open("so:./plugin_good.so:ended");
    aq_rng_init(&rng, 1, 0);
    assert_true(env->class->state_bytes <= sizeof(lane));
    assert_int_equal(env->class->begin(env->params, lane, NULL), 0);
    assert_false(env->class->reset(env->params, lane, &rng, obs));
    assert_says(env->class->failure(env->params, lane), "ends the episode that it begins");
    env->class->end(env->params, lane);
}

int main(void)
{
    if (chdir(AQ_TEST_PLUGIN_DIR) != 0) {
        return 1;
    }
    return aq_test_run(NULL);
}

/*
 * What fits what: settings, policies and environments.
 */
#include "rollout/env_task.h"
#include "tests/support/test.h"
#include "tests/unit/rollout/tally_env.h"

static aq_env_task cartpole(void)
{
    aq_env *env = NULL;
    aq_env_task task;
    assert_int_equal(aq_env_open("gym:CartPole-v1", &env, NULL), 0);
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    aq_env_unref(env);
    return task;
}

static uint64_t cartpole_hash(void)
{
    aq_env_task task = cartpole();
    uint64_t hash = task.schema_hash;
    aq_env_task_fini(&task);
    return hash;
}

TEST(a_task_is_found_with_its_sizes)
{
    aq_env_task task;
    assert_int_equal(aq_env_task_find("gym:CartPole-v1", cartpole_hash(), &task, NULL), 0);
    assert_string_equal(task.env->name, "gym:CartPole-v1");
    assert_int_equal(task.obs_elements, 4);
    assert_int_equal(task.obs_bytes, 16);
    assert_int_equal(task.action_bytes, 4);
    aq_env_task_fini(&task);
}

TEST(who_acts_is_shown_a_counted_state_as_one_of_many)
{
    aq_env_task task;
    assert_succeeds(aq_env_task_open("gym:FrozenLake-v1", &task, &refusal));
    assert_string_equal(task.env->name, "gym:FrozenLake-v1?one_hot=bytes");
    assert_int_equal(task.obs_bytes, 16);
    aq_env_task_fini(&task);
}

TEST(an_unknown_task_is_answered_with_the_nearest)
{
    aq_env_task task = {.obs_elements = 77};
    assert_refused(aq_env_task_find("gym:CartPoel-v1", 1, &task, &refusal), AQ_E_NOT_FOUND,
                   "gym:CartPole-v1");
    assert_refused(aq_env_task_find("nothing like it", 1, &task, &refusal), AQ_E_NOT_FOUND,
                   "actorq envs");
    assert_int_equal(task.obs_elements, 77);
}

TEST(another_schema_is_refused)
{
    aq_env_task task;
    assert_refused(aq_env_task_find("gym:CartPole-v1", cartpole_hash() + 1, &task, &refusal),
                   AQ_E_SCHEMA, "different versions");
}

TEST(what_cannot_be_acted_in_is_refused)
{
    aq_env_task task;
    aq_env *bytes = tally_open(&tally_env_bytes, ""), *wide = tally_open(&tally_env_boundless, "");
    assert_refused(aq_env_task_init(bytes, &task, &refusal), AQ_E_UNSUPPORTED, "u8");
    assert_refused(aq_env_task_init(wide, &task, &refusal), AQ_E_UNSUPPORTED, "without bounds");
    assert_says(refusal.text, "test:TallyBoundless");
    aq_env_unref(bytes);
    aq_env_unref(wide);
}

static void schema_wide(const void *params, aq_schema *ret_schema)
{
    const float low[1] = {-3e38f}, high[1] = {3e38f};
    tally_env.schema(params, ret_schema);
    aq_space_init_box(&ret_schema->action, 1, low, high);
}

/* An action is the lower bound and a part of their distance. */
TEST(bounds_too_far_apart_for_a_float_are_none)
{
    aq_env_task task;
    aq_env_class class = tally_env;
    class.schema = schema_wide;
    aq_env *wide = tally_open(&class, "");
    assert_refused(aq_env_task_init(wide, &task, &refusal), AQ_E_UNSUPPORTED, "too wide ones");
    aq_env_unref(wide);
}

TEST(no_memory_is_said)
{
    aq_env_task task;
    int rc;
    const uint64_t hash = cartpole_hash();
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_env_task_find("gym:CartPole-v1", hash, &task, NULL);
    }
    aq_env_task_fini(&task);
}

/* ---- policies ------------------------------------------------------------------------------- */

static const float bias[TALLY_CHOICES] = {0.0f, 0.0f, 1.0f};

TEST(a_policy_for_the_task_fits)
{
    aq_env_task task = tally_task("");
    aq_snapshot *snapshot = tally_policy(bias);
    assert_int_equal(aq_env_task_check_policy(&task, snapshot, NULL), 0);
    aq_env_task_fini(&task);
}

TEST(a_short_name_of_the_task_fits_too)
{
    aq_env_task task = cartpole();
    aq_snapshot *snapshot = tally_policy(bias);
    memcpy(snapshot->task, "CartPole-v1", sizeof("CartPole-v1"));
    assert_refused(aq_env_task_check_policy(&task, snapshot, &refusal), AQ_E_SCHEMA,
                   "a policy of another schema than gym"); /* the name is not what is wrong */
    assert_says(refusal.text, "and here it is box f32[4] -> discrete 2 (");
    aq_env_task_fini(&task);
}

TEST(a_policy_for_something_else_is_refused_in_words)
{
    aq_env_task task = tally_task("");
    aq_snapshot *snapshot = tally_policy(bias);
    snapshot->schema.action.choice_count++;
    assert_int_equal(aq_env_task_check_policy(&task, snapshot, &refusal), AQ_E_SCHEMA);
    snapshot->schema.action.choice_count--;

    memcpy(snapshot->task, "gym:CartPole-v1", sizeof("gym:CartPole-v1"));
    assert_refused(aq_env_task_check_policy(&task, snapshot, &refusal), AQ_E_SCHEMA,
                   "gym:CartPole-v1");
    aq_env_task_fini(&task);
}

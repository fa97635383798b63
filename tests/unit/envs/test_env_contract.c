/*
 * What every environment owes to whoever drives it, whatever it is, alone and wrapped: the same
 * bits from the same seed whatever was before, numbers within the schema, and no memory but what it
 * was lent. Families, whose environments others bring, are tested by themselves.
 */
#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

enum { STEPS = 500 };

/* Wrapped as far as it can be: a state that is a number cannot be stacked. */
static const char *wrappers_of(const aq_env *env)
{
    return env->schema.obs.kind == AQ_SPACE_BOX
               ? "?action_repeat=2&frame_stack=3&reward_scale=0.5&sticky=0.25&time_limit=100"
               : "?action_repeat=2&one_hot=bytes&reward_scale=0.5&sticky=0.25&time_limit=100";
}

static void for_each_environment(void (*check)(aq_env *env))
{
    char name[AQ_TASK_NAME_MAX];
    for (size_t i = 0; i < aq_env_count(); i++) {
        if (aq_env_is_family(aq_env_at(i))) {
            continue;
        }
        aq_env *plain = env_lane_open(aq_env_at(i)->name);
        assert_int_equal(
            aq_text_format(name, sizeof(name), "%s%s", plain->name, wrappers_of(plain)), 0);
        aq_env *wrapped = env_lane_open(name);
        check(plain);
        check(wrapped);
    }
}

static void check_seed(aq_env *env)
{
    env_lane first, again;
    env_lane_init(&first, env, 7);
    env_lane_init(&again, env, 7);
    assert_memory_equal(first.obs, again.obs, first.obs_bytes);
    for (uint64_t i = test_rounds(STEPS); i > 0; i--) {
        env_lane_step(&first);
        env_lane_step(&again);
        env_lane_assert_same(&first, &again);
    }
    assert_memory_equal(&first.rng, &again.rng, sizeof(first.rng));
    env_lane_fini(&first);
    env_lane_fini(&again);
}

TEST(the_same_seed_gives_the_same_bits)
{
    for_each_environment(check_seed);
}

TEST(an_episode_depends_on_its_seed_and_nothing_else)
{
    for_each_environment(env_lane_check_fresh);
}

static void check_numbers(aq_env *env)
{
    env_lane lane;
    assert_int_equal(aq_schema_validate(&env->schema, NULL), 0);
    env_lane_init(&lane, env, 9);
    env_lane_check_obs(&lane);
    for (uint64_t i = test_rounds(STEPS); i > 0; i--) {
        env_lane_step(&lane);
        env_lane_check_obs(&lane);
    }
    env_lane_fini(&lane);
}

TEST(what_is_seen_is_within_the_schema)
{
    for_each_environment(check_numbers);
}

TEST(steps_and_resets_allocate_nothing)
{
    for_each_environment(env_lane_check_memory);
}

/* Opening and a lane's beginning, with every allocation failing in turn. */
static void check_no_memory(aq_env *open)
{
    uint8_t *lane = aq_alloc(1, open->class->state_bytes);
    assert_non_null(lane);
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        aq_env *env = NULL;
        memset(lane, 0, open->class->state_bytes);
        rc = aq_env_open(open->name, &env, NULL);
        if (rc == 0 && env->class->begin != NULL) {
            rc = env->class->begin(env->params, lane, NULL);
            if (rc == 0 && env->class->end != NULL) {
                env->class->end(env->params, lane);
            }
        }
        aq_env_unref(env);
    }
    aq_free(lane);
}

TEST(without_memory_nothing_is_opened)
{
    for_each_environment(check_no_memory);
}

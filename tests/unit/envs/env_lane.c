/*
 * Lanes of tests: see env_lane.h.
 */
#include "tests/unit/envs/env_lane.h"

#include "envs/env_code.h"
#include "tests/support/must.h"
#include "tests/support/test.h"

enum { GUARD_BYTES = 64, GUARD = 0xa5, STEPS = 500, HALF = STEPS / 2 };

static uint8_t *guarded(size_t bytes)
{
    uint8_t *block = aq_alloc(1, bytes + GUARD_BYTES);
    assert_non_null(block);
    memset(block + bytes, GUARD, GUARD_BYTES);
    return block;
}

static void check_guard(const uint8_t *block, size_t bytes)
{
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        assert_int_equal(block[bytes + i], GUARD);
    }
}

TEST_ENDING(unref, aq_env_unref);

aq_env *env_lane_open(const char *name)
{
    aq_env *env = NULL;
    aq_env_allow_code(name);
    assert_succeeds(aq_env_open(name, &env, &refusal));
    at_end(unref, env);
    return env;
}

static void reset(env_lane *lane)
{
    assert_true(lane->env->class->reset(lane->env->params, lane->state, &lane->rng, lane->obs));
}

/* An episode of that seed. */
static void begin_episode(env_lane *lane, uint64_t seed)
{
    aq_rng_init(&lane->rng, seed, 0);
    aq_rng_init(&lane->action_rng, seed, 1);
    reset(lane);
}

void env_lane_init(env_lane *lane, aq_env *env, uint64_t seed)
{
    lane->env = aq_env_ref(env);
    lane->obs_bytes = aq_space_bytes(&env->schema.obs);
    lane->action_bytes = aq_space_bytes(&env->schema.action);
    lane->state = guarded(env->class->state_bytes);
    lane->obs = guarded(lane->obs_bytes);
    lane->action = guarded(lane->action_bytes);
    lane->end = AQ_STEP_GOES_ON;
    if (env->class->begin != NULL) {
        assert_int_equal(env->class->begin(env->params, lane->state, NULL), 0);
    }
    begin_episode(lane, seed);
}

void env_lane_fini(env_lane *lane)
{
    check_guard(lane->state, lane->env->class->state_bytes);
    check_guard(lane->obs, lane->obs_bytes);
    check_guard(lane->action, lane->action_bytes);
    if (lane->env->class->end != NULL) {
        lane->env->class->end(lane->env->params, lane->state);
    }
    aq_free(lane->state);
    aq_free(lane->obs);
    aq_free(lane->action);
    aq_env_unref(lane->env);
}

static void draw_action(env_lane *lane)
{
    const aq_space *space = &lane->env->schema.action;
    if (space->kind == AQ_SPACE_DISCRETE) {
        *(int32_t *)(void *)lane->action =
            (int32_t)aq_rng_below(&lane->action_rng, space->choice_count);
        return;
    }
    float *elements = (float *)(void *)lane->action;
    for (size_t i = 0; i < aq_space_elements(space); i++) {
        const size_t bound = space->bound_count > 1 ? i : 0;
        elements[i] = (float)aq_rng_range(&lane->action_rng, (double)space->low[bound],
                                          (double)space->high[bound]);
    }
}

void env_lane_step(env_lane *lane)
{
    const aq_env *env = lane->env;
    draw_action(lane);
    lane->end = env->class->step(env->params, lane->state, &lane->rng, lane->action, lane->obs,
                                 &lane->reward);
    assert_int_not_equal(lane->end, AQ_STEP_FAILED);
    assert_true(isfinite(lane->reward));
    if (lane->end != AQ_STEP_GOES_ON) {
        reset(lane);
    }
}

static bool is_within(const aq_space *space, size_t element, const uint8_t *obs)
{
    const size_t bound = space->bound_count > 1 ? element : 0;
    if (space->kind == AQ_SPACE_DISCRETE) {
        const int32_t choice = *(const int32_t *)(const void *)obs;
        return choice >= 0 && (uint32_t)choice < space->choice_count;
    }
    const float value = space->dtype == AQ_DTYPE_F32 ? ((const float *)(const void *)obs)[element]
                                                     : (float)obs[element];
    return isfinite(value) && value >= space->low[bound] && value <= space->high[bound];
}

void env_lane_check_obs(const env_lane *lane)
{
    const aq_space *space = &lane->env->schema.obs;
    for (size_t i = 0; i < aq_space_elements(space); i++) {
        if (!is_within(space, i, lane->obs)) {
            print_error("%s: element %zu of an observation\n", lane->env->name, i);
            fail();
        }
    }
    uint8_t *again = must_alloc(1, lane->obs_bytes);
    lane->env->class->observe(lane->env->params, lane->state, again);
    assert_memory_equal(again, lane->obs, lane->obs_bytes);
    aq_free(again);
}

void env_lane_assert_same(const env_lane *a, const env_lane *b)
{
    if (a->end != b->end || memcmp(a->obs, b->obs, a->obs_bytes) != 0 ||
        memcmp(&a->reward, &b->reward, sizeof(a->reward)) != 0) {
        print_error("%s\n", a->env->name);
        fail();
    }
}

void env_lane_check_fresh(aq_env *env)
{
    env_lane used, fresh;
    env_lane_init(&used, env, 8);
    for (int i = 0; i < HALF; i++) {
        env_lane_step(&used);
    }
    begin_episode(&used, 7);
    env_lane_init(&fresh, env, 7);
    assert_memory_equal(used.obs, fresh.obs, used.obs_bytes);
    for (int i = 0; i < HALF; i++) {
        env_lane_step(&used);
        env_lane_step(&fresh);
        env_lane_assert_same(&used, &fresh);
    }
    env_lane_fini(&used);
    env_lane_fini(&fresh);
}

void env_lane_check_memory(aq_env *env)
{
    env_lane lane;
    env_lane_init(&lane, env, 10);
    const uint64_t before = aq_memory_allocation_count();
    for (int i = 0; i < STEPS; i++) {
        env_lane_step(&lane);
    }
    assert_true(aq_memory_allocation_count() == before);
    env_lane_fini(&lane);
}

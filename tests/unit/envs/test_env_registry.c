/*
 * Environments are found by name, short or long, and every class is complete and behaves behind the
 * interface alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "envs/cartpole.h"
#include "envs/env.h"

static void test_a_full_name_finds_its_class(void **state)
{
    (void)state;
    assert_ptr_equal(aq_env_find("gym:CartPole-v0"), &aq_cartpole_v0);
    assert_ptr_equal(aq_env_find("gym:CartPole-v1"), &aq_cartpole_v1);
}

static void test_a_name_without_the_suite_finds_its_class(void **state)
{
    (void)state;
    assert_ptr_equal(aq_env_find("CartPole-v1"), &aq_cartpole_v1);
}

static void test_an_unknown_name_finds_nothing(void **state)
{
    (void)state;
    assert_null(aq_env_find(""));
    assert_null(aq_env_find("gym:"));
    assert_null(aq_env_find("CartPole"));
    assert_null(aq_env_find("gym:CartPole-v12"));
    assert_null(aq_env_find("dmc:CartPole-v1"));
    assert_null(aq_env_find("gym:cartpole-v1"));
}

static void test_classes_are_listed_in_the_order_of_their_names(void **state)
{
    (void)state;
    assert_true(aq_env_count() >= 2);
    for (size_t i = 0; i < aq_env_count(); i++) {
        assert_ptr_equal(aq_env_find(aq_env_at(i)->name), aq_env_at(i));
        if (i > 0) {
            assert_true(strcmp(aq_env_at(i - 1)->name, aq_env_at(i)->name) < 0);
        }
    }
    assert_null(aq_env_at(aq_env_count()));
    assert_null(aq_env_at(SIZE_MAX));
}

static void test_every_class_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *env = aq_env_at(i);
        assert_non_null(env->summary);
        assert_true(env->params_bytes > 0);
        assert_true(env->state_bytes > 0);
        assert_false(isinf(env->reward_threshold));
        void *params = aq_alloc(1, env->params_bytes);
        assert_non_null(params);
        aq_schema schema;
        env->init_params(params);
        env->schema(params, &schema);
        assert_int_equal(aq_schema_validate(&schema, NULL), 0);
        aq_free(params);
    }
}

/* Bytes that no environment may touch follow each row and state that it is lent. */
enum { GUARD_BYTES = 64, GUARD = 0xa5 };

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

static void play_randomly(const aq_env_class *env, int steps)
{
    uint8_t *params = guarded(env->params_bytes);
    uint8_t *s = guarded(env->state_bytes);
    aq_schema schema;
    aq_rng rng;
    float reward = NAN;
    env->init_params(params);
    env->schema(params, &schema);
    size_t obs_bytes = aq_space_bytes(&schema.obs);
    uint8_t *obs = guarded(obs_bytes);
    aq_rng_init(&rng, 11, 0);
    env->reset(params, s, &rng, obs);
    for (int i = 0; i < steps; i++) {
        assert_int_equal(schema.action.kind, AQ_SPACE_DISCRETE);
        int32_t action = (int32_t)aq_rng_below(&rng, schema.action.choice_count);
        bool ended = env->step(params, s, &rng, &action, obs, &reward);
        assert_true(isfinite(reward));
        if (ended) {
            env->reset(params, s, &rng, obs);
        }
    }
    check_guard(params, env->params_bytes);
    check_guard(s, env->state_bytes);
    check_guard(obs, obs_bytes);
    aq_free(obs);
    aq_free(s);
    aq_free(params);
}

static void test_every_class_stays_within_what_it_is_lent(void **state)
{
    (void)state;
    for (size_t i = 0; i < aq_env_count(); i++) {
        play_randomly(aq_env_at(i), 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_name_finds_its_class),
        cmocka_unit_test(test_a_name_without_the_suite_finds_its_class),
        cmocka_unit_test(test_an_unknown_name_finds_nothing),
        cmocka_unit_test(test_classes_are_listed_in_the_order_of_their_names),
        cmocka_unit_test(test_every_class_is_complete),
        cmocka_unit_test(test_every_class_stays_within_what_it_is_lent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

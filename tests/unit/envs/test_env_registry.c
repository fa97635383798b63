/*
 * Environments are found by name, short or long, and every class is complete.
 */
#include "envs/classic/cartpole.h"
#include "envs/env.h"
#include "tests/support/test.h"

TEST(a_full_name_finds_its_class)
{
    assert_ptr_equal(aq_env_find("gym:CartPole-v0"), &aq_cartpole_v0);
    assert_ptr_equal(aq_env_find("gym:CartPole-v1"), &aq_cartpole_v1);
}

TEST(a_name_without_the_suite_finds_its_class)
{
    assert_ptr_equal(aq_env_find("CartPole-v1"), &aq_cartpole_v1);
}

TEST(an_unknown_name_finds_nothing)
{
    assert_null(aq_env_find(""));
    assert_null(aq_env_find("gym:"));
    assert_null(aq_env_find("gym:CartPole-v12"));
    assert_null(aq_env_find("dmc:CartPole-v1"));
    assert_null(aq_env_find("Cart"));
}

TEST(a_name_may_be_in_any_case_and_without_its_version)
{
    assert_ptr_equal(aq_env_find("gym:CartPole"), &aq_cartpole_v1);
    assert_ptr_equal(aq_env_find("CartPole"), &aq_cartpole_v1);
    assert_ptr_equal(aq_env_find("cartpole"), &aq_cartpole_v1);
    assert_ptr_equal(aq_env_find("gym:cartpole-V0"), &aq_cartpole_v0);
}

TEST(classes_are_listed_in_the_order_of_their_names)
{
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

TEST(every_class_is_complete)
{
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *env = aq_env_at(i);
        assert_non_null(env->summary);
        assert_true(env->params_bytes > 0);
        assert_false(isinf(env->reward_threshold));
        assert_non_null(env->schema);
        assert_non_null(env->reset);
        assert_non_null(env->step);
        assert_non_null(env->observe);
        assert_true(env->state_bytes > 0);
    }
}

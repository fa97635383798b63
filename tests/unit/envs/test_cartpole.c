/*
 * CartPole behind the environment interface: what its description says, and how an episode
 * ends. How it starts is in test_classics.c.
 */
#include "envs/classic/cartpole.h"
#include "tests/support/test.h"

enum { LEFT = 0, RIGHT = 1 };

static void open_params(const aq_env_class *env, aq_cartpole_params *ret_params)
{
    memcpy(ret_params, env->defaults, sizeof(*ret_params));
}

static aq_cartpole_params params_of_v1(void)
{
    aq_cartpole_params params;
    open_params(&aq_cartpole_v1, &params);
    return params;
}

TEST(the_two_forms_differ_in_length_alone)
{
    aq_cartpole_params v0, v1;
    aq_schema schema_v0, schema_v1;
    char text[128];
    open_params(&aq_cartpole_v0, &v0);
    open_params(&aq_cartpole_v1, &v1);
    assert_memory_equal(&v0, &v1, sizeof(v0));
    aq_cartpole_v0.schema(&v0, &schema_v0);
    aq_cartpole_v1.schema(&v1, &schema_v1);
    assert_true(aq_schema_hash(&schema_v0) == aq_schema_hash(&schema_v1));
    assert_string_equal(aq_schema_text(&schema_v1, text, sizeof(text)), "box f32[4] -> discrete 2");
    assert_int_equal(aq_cartpole_v0.step_limit, 200);
    assert_true(aq_cartpole_v0.reward_threshold == 195.0);
    assert_int_equal(aq_cartpole_v1.step_limit, 500);
    assert_true(aq_cartpole_v1.reward_threshold == 475.0);
}

/* One step to the right from `start`; whether it ended the episode. */
static bool ends(aq_cartpole_state start, float *obs, float *reward)
{
    aq_cartpole_params params = params_of_v1();
    int32_t action = RIGHT;
    return aq_cartpole_v1.step(&params, &start, NULL, &action, obs, reward) == AQ_STEP_TERMINATED;
}

TEST(an_episode_ends_past_each_limit_and_not_on_it)
{
    aq_cartpole_params params = params_of_v1();
    float obs[AQ_CARTPOLE_OBS], reward;
    assert_false(ends((aq_cartpole_state){.x = params.x_limit}, obs, &reward));
    assert_false(ends((aq_cartpole_state){.x = -params.x_limit}, obs, &reward));
    assert_false(ends((aq_cartpole_state){.theta = params.theta_limit}, obs, &reward));
    assert_false(ends((aq_cartpole_state){.theta = -params.theta_limit}, obs, &reward));
    assert_true(ends((aq_cartpole_state){.x = nextafter(params.x_limit, 3)}, obs, &reward));
    assert_true(ends((aq_cartpole_state){.x = nextafter(-params.x_limit, -3)}, obs, &reward));
    assert_true(ends((aq_cartpole_state){.theta = nextafter(params.theta_limit, 1)}, obs, &reward));
    assert_true(
        ends((aq_cartpole_state){.theta = nextafter(-params.theta_limit, -1)}, obs, &reward));
}

TEST(the_last_step_writes_its_observation_and_is_rewarded)
{
    float obs[AQ_CARTPOLE_OBS] = {0}, reward = 0.0f;
    assert_true(ends((aq_cartpole_state){.x = 2.39, .x_dot = 1.0}, obs, &reward));
    assert_true(reward == 1.0f);
    assert_true(obs[0] == (float)(2.39 + 0.02 * 1.0));
    assert_true(obs[1] > 1.0f); /* pushed to the right */
    assert_true(obs[3] < 0.0f); /* so the pole falls to the left */
}

TEST(mirrored_pushes_give_mirrored_states)
{
    aq_cartpole_params params = params_of_v1();
    aq_cartpole_state a = {.x = 0.1, .x_dot = -0.2, .theta = 0.03, .theta_dot = 0.4};
    aq_cartpole_state b = {.x = -0.1, .x_dot = 0.2, .theta = -0.03, .theta_dot = -0.4};
    float obs[AQ_CARTPOLE_OBS], reward;
    const int32_t left = LEFT, right = RIGHT;
    for (int i = 0; i < 8; i++) {
        aq_cartpole_v1.step(&params, &a, NULL, i % 3 == 0 ? &left : &right, obs, &reward);
        aq_cartpole_v1.step(&params, &b, NULL, i % 3 == 0 ? &right : &left, obs, &reward);
        assert_true(a.x == -b.x && a.x_dot == -b.x_dot);
        assert_true(a.theta == -b.theta && a.theta_dot == -b.theta_dot);
    }
}

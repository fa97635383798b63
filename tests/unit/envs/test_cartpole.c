/*
 * CartPole behind the environment interface: what its description says, how an episode starts and
 * ends, and that its state is plain data.
 */
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "envs/classic/cartpole.h"
#include "tests/support/test.h"

enum { LEFT = 0, RIGHT = 1 };

static void open_params(const aq_env_class *env, aq_cartpole_params *ret_params)
{
    assert_int_equal(env->open(ret_params, "", NULL, NULL, NULL, NULL), 0);
}

static aq_cartpole_params params_of_v1(void)
{
    aq_cartpole_params params;
    open_params(&aq_cartpole_v1, &params);
    return params;
}

TEST(the_schema_is_a_box_of_four_and_two_choices)
{
    aq_cartpole_params params = params_of_v1();
    aq_schema schema;
    char text[128];
    aq_cartpole_v1.schema(&params, &schema);
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
    assert_string_equal(aq_schema_text(&schema, text, sizeof(text)), "box f32[4] -> discrete 2");
}

TEST(the_two_forms_differ_in_length_alone)
{
    aq_cartpole_params v0, v1;
    aq_schema schema_v0, schema_v1;
    open_params(&aq_cartpole_v0, &v0);
    open_params(&aq_cartpole_v1, &v1);
    assert_memory_equal(&v0, &v1, sizeof(v0));
    aq_cartpole_v0.schema(&v0, &schema_v0);
    aq_cartpole_v1.schema(&v1, &schema_v1);
    assert_true(aq_schema_hash(&schema_v0) == aq_schema_hash(&schema_v1));
    assert_int_equal(aq_cartpole_v0.step_limit, 200);
    assert_true(aq_cartpole_v0.reward_threshold == 195.0);
    assert_int_equal(aq_cartpole_v1.step_limit, 500);
    assert_true(aq_cartpole_v1.reward_threshold == 475.0);
}

TEST(an_episode_starts_near_the_middle_and_everywhere_there)
{
    aq_cartpole_params params = params_of_v1();
    aq_cartpole_state s;
    double low[4] = {1, 1, 1, 1}, high[4] = {-1, -1, -1, -1};
    float obs[AQ_CARTPOLE_OBS];
    aq_rng rng;
    aq_rng_init(&rng, 1, 0);
    for (int episode = 0; episode < 1000; episode++) {
        aq_cartpole_v1.reset(&params, &s, &rng, obs);
        const double values[4] = {s.x, s.x_dot, s.theta, s.theta_dot};
        for (int i = 0; i < 4; i++) {
            low[i] = fmin(low[i], values[i]);
            high[i] = fmax(high[i], values[i]);
            assert_true(obs[i] == (float)values[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        assert_true(low[i] >= -0.05 && low[i] < -0.049);
        assert_true(high[i] < 0.05 && high[i] > 0.049);
    }
}

TEST(a_seed_gives_one_first_state_and_another_seed_another)
{
    aq_cartpole_params params = params_of_v1();
    aq_cartpole_state first, again, other;
    float obs[AQ_CARTPOLE_OBS];
    aq_rng rng;
    aq_rng_init(&rng, 7, 0);
    aq_cartpole_v1.reset(&params, &first, &rng, obs);
    aq_rng_init(&rng, 7, 0);
    aq_cartpole_v1.reset(&params, &again, &rng, obs);
    aq_rng_init(&rng, 8, 0);
    aq_cartpole_v1.reset(&params, &other, &rng, obs);
    assert_memory_equal(&first, &again, sizeof(first));
    assert_memory_not_equal(&first, &other, sizeof(first));
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

TEST(a_copied_state_goes_on_identically)
{
    const aq_env_class *env = &aq_cartpole_v1;
    aq_cartpole_params params = params_of_v1();
    aq_cartpole_state original, copy;
    float obs[2][AQ_CARTPOLE_OBS], reward[2];
    aq_rng rng;
    aq_rng_init(&rng, 3, 0);
    env->reset(&params, &original, &rng, obs[0]);
    for (int i = 0; i < 5; i++) {
        int32_t action = (int32_t)aq_rng_below(&rng, 2);
        env->step(&params, &original, &rng, &action, obs[0], &reward[0]);
    }
    memcpy(&copy, &original, env->state_bytes);
    aq_rng rng_copy = rng;
    for (int i = 0; i < 8; i++) {
        int32_t action = i % 2;
        enum aq_step_end ended = env->step(&params, &original, &rng, &action, obs[0], &reward[0]);
        assert_true(env->step(&params, &copy, &rng_copy, &action, obs[1], &reward[1]) == ended);
        assert_memory_equal(&original, &copy, env->state_bytes);
        assert_memory_equal(obs[0], obs[1], sizeof(obs[0]));
    }
}

TEST(neither_reset_nor_step_allocates)
{
    aq_cartpole_params params = params_of_v1();
    aq_cartpole_state s;
    float obs[AQ_CARTPOLE_OBS], reward;
    aq_rng rng;
    uint64_t before = aq_memory_allocation_count();
    aq_rng_init(&rng, 5, 0);
    aq_cartpole_v1.reset(&params, &s, &rng, obs);
    for (int i = 0; i < 1000; i++) {
        int32_t action = (int32_t)aq_rng_below(&rng, 2);
        if (aq_cartpole_v1.step(&params, &s, &rng, &action, obs, &reward) != AQ_STEP_GOES_ON) {
            aq_cartpole_v1.reset(&params, &s, &rng, obs);
        }
    }
    assert_true(aq_memory_allocation_count() == before);
}

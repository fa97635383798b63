/*
 * Environments in Python, as they are played: spaces, rows, ends, seeds, many at once.
 */
#include "rollout/vec_env.h"
#include "tests/integration/bridge/bridge_lane.h"
#include "tests/support/test.h"

enum { LENGTH = 5, LANES = 6, STEPS = 300 }; /* LENGTH: of a Counter's episode */

static void assert_schema(const char *name, const char *text)
{
    char out[160];
    aq_env *env = bridge_open(name);
    assert_string_equal(aq_schema_text(&env->schema, out, sizeof(out)), text);
    aq_env_unref(env);
}

TEST(spaces_become_a_schema)
{
    assert_schema("py:bridge_tasks:Counter", "box f32[3] -> discrete 3");
    assert_schema("py:bridge_tasks:Picture", "box u8[6,5,2] -> box f32[2]");
    assert_schema("py:bridge_tasks:Atari", "box u8[210,160,3] -> discrete 18");
    assert_schema("py:bridge_tasks:GreyAtari?frame_stack=4", "box u8[84,84,4] -> discrete 6");
    assert_schema("py:bridge_tasks:Cell", "discrete 10 -> discrete 2");
}

TEST(bounds_are_as_few_as_say_the_same)
{
    aq_env *env = bridge_open("py:bridge_tasks:Picture");
    assert_int_equal(env->schema.obs.bound_count, 1);
    assert_true(env->schema.obs.high[0] == 255.0f);
    assert_int_equal(env->schema.action.bound_count, 2);
    assert_true(env->schema.action.low[1] == -2.0f);
    aq_env_unref(env);
}

TEST(what_a_registry_knows_of_a_task_is_known)
{
    aq_env *env = bridge_open("py:bridge_tasks:CartPole-v1"); /* the module's make */
    assert_int_equal(env->step_limit, 500);
    assert_true(env->reward_threshold == 475.0);
    aq_env_unref(env);
    env = bridge_open("py:bridge_tasks:Counter");
    assert_int_equal(env->step_limit, 0);
    assert_true(isnan(env->reward_threshold));
    aq_env_unref(env);
}

/* The seed that a reset from these random numbers is given, as a Counter shows it. */
static float digits_of(aq_rng rng)
{
    return (float)((aq_rng_next(&rng) >> 32) % 1000);
}

TEST(an_episode_is_what_python_plays)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Counter", 3);
    const float digits = digits_of(lane->rng);
    assert_true(bridge_reset(lane));
    assert_true(lane->obs.numbers[0] == 0.0f);
    assert_true(lane->obs.numbers[1] == digits);
    for (int i = 1; i <= LENGTH; i++) {
        enum aq_step_end end = bridge_choose(lane, i % 3);
        assert_int_equal(end, i < LENGTH ? AQ_STEP_GOES_ON : AQ_STEP_TERMINATED);
        assert_true(lane->obs.numbers[0] == (float)i);
        assert_true(lane->obs.numbers[1] == digits);
        assert_true(lane->obs.numbers[2] == (float)(i % 3 + 1)); /* its choices begin with 1 */
        assert_true(lane->reward == 0.5f * (float)i);
    }
}

TEST(truncation_is_not_termination)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Truncating", 3);
    assert_true(bridge_reset(lane));
    for (int i = 1; i < LENGTH; i++) {
        assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
    }
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_TRUNCATED);
}

TEST(pictures_and_float_actions_arrive)
{
    const float action[2] = {0.5f, -1.25f};
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Picture", 3);
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_step(lane, action), AQ_STEP_GOES_ON);
    assert_int_equal(bridge_step(lane, action), AQ_STEP_GOES_ON);
    assert_int_equal(lane->obs.bytes[0], 2);
    assert_int_equal(lane->obs.bytes[59], 255);
    assert_true(lane->reward == -1.25f);
    assert_int_equal(bridge_step(lane, action), AQ_STEP_TERMINATED);
}

TEST(pictures_of_ataris_sizes_arrive_whole_and_stacked)
{
    enum { PIXELS = 84 * 84, FRAMES = 4, STEPS_TAKEN = 3 };
    aq_env_frame frame;
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Atari", 3);
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_choose(lane, 17), AQ_STEP_GOES_ON);
    assert_true(lane->env->class->frame(lane->env->params, lane->state, &frame));
    for (size_t i = 0; i < (size_t)210 * 160 * 3; i++) {
        assert_int_equal(lane->obs.bytes[i], (uint8_t)(i + 20 + 17));
        assert_int_equal(frame.pixels[i], lane->obs.bytes[i]);
    }
    lane = bridge_lane_of("py:bridge_tasks:GreyAtari?frame_stack=4", 3);
    assert_true(bridge_reset(lane));
    for (int i = 0; i < STEPS_TAKEN; i++) {
        assert_int_equal(bridge_choose(lane, 5), AQ_STEP_GOES_ON);
    }
    for (size_t i = 0; i < PIXELS; i++) {
        assert_int_equal(lane->obs.bytes[i * FRAMES], (uint8_t)i);
        assert_int_equal(lane->obs.bytes[i * FRAMES + 1], (uint8_t)(i + 20 + 5));
        assert_int_equal(lane->obs.bytes[i * FRAMES + 3], (uint8_t)(i + 60 + 5));
    }
}

TEST(discrete_observations_are_counted_from_0)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Cell", 3);
    assert_true(bridge_reset(lane));
    assert_int_equal(lane->obs.choice, 0);
    assert_int_equal(bridge_choose(lane, 1), AQ_STEP_GOES_ON);
    assert_int_equal(bridge_choose(lane, 1), AQ_STEP_GOES_ON);
    assert_int_equal(lane->obs.choice, 2);
}

/* Announced steps to the end of the episode. */
static void play_announced(bridge_lane *lane)
{
    enum aq_step_end end = AQ_STEP_GOES_ON;
    while (end == AQ_STEP_GOES_ON) {
        bridge_announce(lane, 1);
        end = bridge_choose(lane, 1);
    }
    assert_int_equal(end, AQ_STEP_TERMINATED);
}

TEST(an_episode_begun_ahead_has_the_seed_that_is_drawn)
{
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Counter", 3);
    assert_true(bridge_reset(lane));
    for (uint64_t i = 0; i < 3; i++) {
        play_announced(lane);
        float digits = digits_of(lane->rng);
        assert_true(bridge_reset(lane));
        assert_true(lane->obs.numbers[1] == digits);
        play_announced(lane);
        aq_rng_init(&lane->rng, 1000 + i, 5); /* which nobody could foresee */
        digits = digits_of(lane->rng);
        assert_true(bridge_reset(lane));
        assert_true(lane->obs.numbers[1] == digits);
        assert_true(lane->obs.numbers[0] == 0.0f);
    }
}

TEST(a_step_that_was_announced_and_given_up_is_not_taken)
{
    bridge_lane lanes[2];
    aq_env *env = bridge_open("py:bridge_tasks:Counter");
    for (size_t i = 0; i < 2; i++) {
        bridge_lane_init(&lanes[i], env, i);
        assert_true(bridge_reset(&lanes[i]));
    }
    bridge_announce(&lanes[0], 1);
    bridge_announce(&lanes[1], 1);
    assert_true(bridge_reset(&lanes[0])); /* instead */
    assert_int_equal(bridge_choose(&lanes[1], 1), AQ_STEP_GOES_ON);
    assert_int_equal(bridge_choose(&lanes[0], 1), AQ_STEP_GOES_ON);
    assert_true(lanes[0].obs.numbers[0] == 1.0f);
    assert_true(lanes[1].obs.numbers[0] == 1.0f);
    bridge_lane_fini(&lanes[0]);
    bridge_lane_fini(&lanes[1]);
    aq_env_unref(env);
}

/* The first of the steps is the one that was announced, beside another lane's. */
TEST(an_announced_action_that_is_repeated_is_taken_as_often)
{
    static const float rewards[] = {0.5f * (1 + 2 + 3), 0.5f * (4 + LENGTH)};
    bridge_lane lanes[2];
    aq_env *env = bridge_open("py:bridge_tasks:Counter?action_repeat=3");
    for (size_t i = 0; i < 2; i++) {
        bridge_lane_init(&lanes[i], env, i);
        assert_true(bridge_reset(&lanes[i]));
    }
    for (size_t step = 0; step < 2; step++) {
        bridge_announce(&lanes[0], 1);
        bridge_announce(&lanes[1], 1);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(bridge_choose(&lanes[i], 1),
                             step == 0 ? AQ_STEP_GOES_ON : AQ_STEP_TERMINATED);
            assert_true(lanes[i].obs.numbers[0] == (step == 0 ? 3.0f : (float)LENGTH));
            assert_true(lanes[i].reward == rewards[step]);
        }
    }
    bridge_lane_fini(&lanes[0]);
    bridge_lane_fini(&lanes[1]);
    aq_env_unref(env);
}

/* Everything that `lanes` lanes of CartPole show in STEPS steps, by lane; aq_free it. */
static float *play_cart_poles(uint32_t lanes)
{
    aq_env_task task;
    aq_vec_env *vec = NULL;
    int32_t actions[LANES];
    aq_env *env = bridge_open("py:bridge_tasks:CartPole");
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    assert_int_equal(aq_vec_env_create(&task, lanes, 7, &vec, NULL), 0);
    float *shown = aq_alloc(LANES * STEPS, 4 * sizeof(float));
    assert_non_null(shown);
    for (size_t step = 0; step < STEPS; step++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            memcpy(shown + 4 * (lane * STEPS + step), vec->obs + lane * task.obs_bytes,
                   task.obs_bytes);
            actions[lane] = (int32_t)((step * 7 + lane * 3) / 4 % 2);
        }
        assert_int_equal(aq_vec_env_step(vec, actions, 0), lanes);
    }
    assert_int_equal(vec->failures, 0);
    aq_vec_env_destroy(vec);
    aq_env_task_fini(&task);
    aq_env_unref(env);
    return shown;
}

TEST(lanes_depend_on_their_seed_alone)
{
    float *many = play_cart_poles(LANES);
    float *again = play_cart_poles(LANES);
    float *few = play_cart_poles(2);
    assert_memory_equal(many, again, LANES * STEPS * 4 * sizeof(float));
    assert_memory_equal(many, few, 2 * STEPS * 4 * sizeof(float));
    assert_memory_not_equal(many, many + 4 * STEPS, 4 * sizeof(float));
    aq_free(many);
    aq_free(again);
    aq_free(few);
}

/* ---- pictures ------------------------------------------------------------------------------- */

static bool frame_of(bridge_lane *lane, aq_env_frame *ret_frame)
{
    return lane->env->class->frame(lane->env->params, lane->state, ret_frame);
}

TEST(a_picture_is_of_the_state_also_of_the_last)
{
    aq_env_frame frame;
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Painted?reward_scale=2", 3);
    assert_true(lane->env->can_be_drawn);
    assert_false(frame_of(lane, &frame)); /* no episode, no picture */
    assert_true(bridge_reset(lane));
    for (int i = 0; i <= LENGTH; i++) {
        assert_true(frame_of(lane, &frame));
        assert_int_equal(frame.rows, 2);
        assert_int_equal(frame.columns, 2);
        assert_int_equal(frame.pixels[3 * (i < 4 ? i : 3)], i < 4 ? 0 : 255);
        assert_true(i == 0 || frame.pixels[3 * (i < 4 ? i - 1 : 3)] == 255);
        assert_true(i == LENGTH || bridge_choose(lane, 0) != AQ_STEP_FAILED);
    }
}

TEST(text_is_a_picture_and_a_failure_has_its_reason)
{
    aq_env_frame frame;
    bridge_lane *lane = bridge_lane_of("py:bridge_tasks:Written", 3);
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
    assert_true(frame_of(lane, &frame));
    assert_null(frame.pixels);
    assert_string_equal(frame.text, "step\n  1\n");
    lane = bridge_lane_of("py:bridge_tasks:Smudged", 3);
    assert_true(bridge_reset(lane));
    assert_true(frame_of(lane, &frame));
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
    assert_false(frame_of(lane, &frame));
    assert_says(bridge_failure(lane), "ZeroDivisionError: division by zero");
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_FAILED); /* its environment was given up */
    assert_says(bridge_failure(lane), "ZeroDivisionError: division by zero");
    assert_true(bridge_reset(lane));
    assert_int_equal(bridge_choose(lane, 0), AQ_STEP_GOES_ON);
    assert_false(bridge_lane_of("py:bridge_tasks:Counter", 3)->env->can_be_drawn);
}

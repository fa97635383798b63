/*
 * Environments that step all lanes in one call, among many lanes and alone: a lane's episodes are
 * those of its stream, whoever else is in play.
 */
#include "rollout/vec_env.h"
#include "tests/support/test.h"

enum { LANES = 70, STEPS = 300 };
#define SEED UINT64_C(21)

static aq_vec_env *vec_of(const char *name, uint32_t lanes)
{
    aq_env *env;
    aq_env_task task;
    aq_vec_env *vec;
    assert_succeeds(aq_env_open(name, &env, &refusal));
    assert_non_null(env->class->step_rows);
    assert_succeeds(aq_env_task_init(env, &task, &refusal));
    assert_succeeds(aq_vec_env_create(&task, lanes, SEED, &vec, &refusal));
    aq_env_task_fini(&task);
    aq_env_unref(env);
    return vec;
}

/* An action's row that depends on the lane and the step alone. */
static uint32_t action_of(const aq_vec_env *vec, uint32_t lane, int step)
{
    const uint32_t mixed = (lane * 2654435761u + (uint32_t)step * 40503u) >> 7;
    const aq_space *space = &vec->task.env->schema.action;
    if (space->kind == AQ_SPACE_DISCRETE) {
        return mixed % space->choice_count;
    }
    uint32_t row;
    const float value = (float)(mixed % 201) / 100.0f - 1.0f;
    memcpy(&row, &value, sizeof(row));
    return row;
}

static void check_lane(const aq_vec_env *many, uint32_t lane, const aq_vec_env *alone)
{
    const size_t bytes = many->task.obs_bytes;
    assert_memory_equal(many->obs + lane * bytes, alone->obs, bytes);
    assert_memory_equal(many->next_obs + lane * bytes, alone->next_obs, bytes);
    assert_true(many->reward[lane] == alone->reward[0]);
    assert_int_equal(many->events[lane], alone->events[0]);
    assert_true(many->episode_return[lane] == alone->episode_return[0]);
    assert_int_equal(many->episode_steps[lane], alone->episode_steps[0]);
}

/* Plays LANES lanes, of which one leaves every few steps, and stream `stream` alone beside. */
static void check_stream(const char *name, uint32_t stream)
{
    aq_vec_env *many = vec_of(name, LANES), *alone = vec_of(name, 1);
    uint32_t streams[LANES], actions[LANES], ended = 0, at = stream;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        streams[lane] = lane;
    }
    aq_vec_env_restart(alone, 0, SEED, stream);
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t lane = 0; lane < many->lanes; lane++) {
            actions[lane] = action_of(many, streams[lane], step);
        }
        assert_int_equal(aq_vec_env_step(many, actions, 0), many->lanes);
        assert_int_equal(aq_vec_env_step(alone, &actions[at], 0), 1);
        check_lane(many, at, alone);
        ended += aq_vec_env_ended(alone, 0);
        if (step % 5 == 4 && many->lanes > 1) {
            const uint32_t leaves = at == 0 ? 1 : at - 1, last = many->lanes - 1;
            aq_vec_env_drop(many, leaves);
            streams[leaves] = streams[last];
            at = at == last ? leaves : at;
        }
    }
    assert_true(ended > 0);
    aq_vec_env_destroy(many);
    aq_vec_env_destroy(alone);
}

TEST(cartpoles_lanes_are_those_of_their_streams)
{
    check_stream("gym:CartPole-v1", 0);
    check_stream("gym:CartPole-v1", 33);
    check_stream("gym:CartPole-v1", LANES - 1);
}

TEST(pendulums_lanes_are_those_of_their_streams)
{
    check_stream("gym:Pendulum-v1", 0);
    check_stream("gym:Pendulum-v1", LANES - 1);
}

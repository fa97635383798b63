/*
 * Greedy observations are those that the policy acted on, and the same for the same seed.
 */
#include "rollout/greedy_obs.h"
#include "tests/support/must.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/rollout/tally_env.h"

enum { ROWS = 5 * AQ_GREEDY_OBS_LANES + 3, LONG = 5000 };

typedef struct player {
    aq_env_task task;
    aq_engine *engine;
} player;

static player *player_new(void)
{
    static player one;
    const float bias[] = {0.0f, 1.0f, 0.5f};
    aq_snapshot *snapshot = tally_policy(bias);
    one.task = tally_task("");
    assert_int_equal(aq_engine_create(snapshot, AQ_GREEDY_OBS_LANES, 0, &one.engine, NULL), 0);
    return &one;
}

static void player_fini(player *one)
{
    aq_engine_destroy(one->engine);
    aq_env_task_fini(&one->task);
}

#define TEST_OF_PLAYER(name) TEST_OF(name, player *one, player_new(), player_fini)

/* How many rows there were. */
static size_t play(player *one, size_t rows, uint64_t seed, float *obs)
{
    assert_succeeds(aq_greedy_obs(&one->task, one->engine, &rows, seed, obs, &refusal));
    return rows;
}

TEST_OF_PLAYER(the_same_seed_gives_the_same_rows)
{
    float first[ROWS][TALLY_OBS], again[ROWS][TALLY_OBS], other[ROWS][TALLY_OBS];
    assert_int_equal(play(one, ROWS, 7, &first[0][0]), ROWS);
    assert_int_equal(play(one, ROWS, 7, &again[0][0]), ROWS);
    assert_int_equal(play(one, ROWS, 8, &other[0][0]), ROWS);
    assert_memory_equal(first, again, sizeof(first));
    assert_memory_not_equal(first, other, sizeof(first));
}

TEST_OF_PLAYER(rows_are_lane_by_lane_and_step_by_step)
{
    float obs[ROWS][TALLY_OBS];
    assert_int_equal(play(one, ROWS, 7, &obs[0][0]), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const float *before = i < AQ_GREEDY_OBS_LANES ? NULL : obs[i - AQ_GREEDY_OBS_LANES];
        const float steps = obs[i][0];
        assert_true(before == NULL ? steps == 0.0f : steps == 0.0f || steps == before[0] + 1.0f);
        assert_true(obs[i][3] == 1.0f);
    }
}

TEST_OF_PLAYER(a_few_rows_are_the_first_of_many)
{
    float many[ROWS][TALLY_OBS], few[3][TALLY_OBS];
    assert_int_equal(play(one, ROWS, 7, &many[0][0]), ROWS);
    assert_int_equal(play(one, 3, 7, &few[0][0]), 3);
    assert_memory_equal(many, few, sizeof(few));
}

/* Rows of several episodes, or lanes, would be met with the state that others left. */
TEST_OF_PLAYER(of_a_policy_with_a_memory_rows_are_one_episode)
{
    static float obs[LONG][TALLY_OBS];
    const aq_layer_spec layers[] = {
        aq_layer_linear(TALLY_OBS, AQ_GRU_GATES * 4, AQ_ACTIVATION_NONE), aq_layer_gru(4),
        aq_layer_linear(4, TALLY_CHOICES, AQ_ACTIVATION_NONE)};
    const aq_net_spec spec = net_of(layers);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_ARGMAX, "test:Tally", &one->task.env->schema);
    aq_engine_destroy(one->engine);
    must(aq_engine_create(snapshot, AQ_GREEDY_OBS_LANES, 0, &one->engine, NULL));
    const size_t rows = play(one, LONG, 7, &obs[0][0]);
    assert_in_range(rows, 2, LONG - 1);
    for (size_t i = 0; i < rows; i++) {
        assert_true(obs[i][0] == (float)i);
    }
    assert_int_equal(play(one, 2, 7, &obs[0][0]), 2);
}

TEST_OF_PLAYER(an_environment_that_does_not_begin_is_refused)
{
    float obs[3][TALLY_OBS];
    aq_env_task sick = tally_task("?fail_resets=1000");
    size_t rows = 3;
    assert_refused(aq_greedy_obs(&sick, one->engine, &rows, 7, &obs[0][0], &refusal), AQ_E_PEER,
                   "could not be reset");
    aq_env_task_fini(&sick);
}

TEST_OF_PLAYER(without_memory_nothing_is_played)
{
    float obs[ROWS][TALLY_OBS];
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        size_t rows = ROWS;
        rc = aq_greedy_obs(&one->task, one->engine, &rows, 7, &obs[0][0], NULL);
    }
}

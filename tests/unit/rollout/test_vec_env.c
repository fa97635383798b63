/*
 * Many environments against the same ones stepped alone: rows, flags, returns, resets and streams.
 */
#include "rollout/vec_env.h"
#include "tests/support/test.h"
#include "tests/unit/rollout/tally_env.h"

enum { LANES = 5, STEPS = 400 };
#define SEED UINT64_C(77)

static aq_vec_env *vec_in(aq_env *env, uint32_t lanes, uint64_t seed)
{
    aq_env_task task;
    aq_vec_env *vec = NULL;
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    assert_int_equal(aq_vec_env_create(&task, lanes, seed, &vec, NULL), 0);
    aq_env_task_fini(&task);
    aq_env_unref(env);
    return vec;
}

static aq_vec_env *vec_of(const char *options, uint32_t lanes, uint64_t seed)
{
    return vec_in(tally_open(&tally_env, options), lanes, seed);
}

#define TEST_OF_VEC(name, options, lanes)                                                          \
    TEST_OF(name, aq_vec_env *vec, vec_of(options, lanes, SEED), aq_vec_env_destroy)

static void step(aq_vec_env *vec, const int32_t *actions)
{
    assert_int_equal(aq_vec_env_step(vec, actions, 0), vec->lanes);
}

/* The row of a lane as floats. */
static const float *row(const uint8_t *rows, uint32_t lane)
{
    return (const float *)(const void *)rows + lane * (size_t)TALLY_OBS;
}

static bool has(const aq_vec_env *vec, uint32_t lane, enum aq_lane_event event)
{
    return (vec->events[lane] & event) != 0;
}

/* One environment, stepped by hand. */
typedef struct single {
    uint8_t state[256] __attribute__((aligned(16)));
    aq_rng rng;
    float obs[TALLY_OBS], next_obs[TALLY_OBS];
    uint32_t steps;
    double sum;
} single;

static void single_init(single *one, const aq_env *env, uint64_t stream)
{
    assert_true(env->class->state_bytes <= sizeof(one->state));
    memset(one, 0, sizeof(*one));
    aq_rng_init(&one->rng, SEED, stream);
    assert_true(env->class->reset(env->params, one->state, &one->rng, one->obs));
}

/* Steps it and asserts that lane `lane` of `vec`, stepped with the same action, agrees. */
static void single_step_and_compare(single *one, const aq_vec_env *vec, uint32_t lane,
                                    int32_t action)
{
    const aq_env *env = vec->task.env;
    float reward = 0.0f;
    bool terminated = env->class->step(env->params, one->state, &one->rng, &action, one->next_obs,
                                       &reward) == AQ_STEP_TERMINATED;
    one->steps++;
    one->sum += (double)reward;
    bool truncated = !terminated && one->steps == env->step_limit;
    assert_memory_equal(one->next_obs, row(vec->next_obs, lane), sizeof(one->next_obs));
    assert_memory_equal(&reward, &vec->reward[lane], sizeof(reward));
    assert_int_equal(has(vec, lane, AQ_LANE_TERMINATED), terminated);
    assert_int_equal(has(vec, lane, AQ_LANE_TRUNCATED), truncated);
    assert_int_equal(has(vec, lane, AQ_LANE_BEGAN), terminated || truncated);
    assert_int_equal(vec->episode_steps[lane], one->steps);
    assert_memory_equal(&one->sum, &vec->episode_return[lane], sizeof(one->sum));
    memcpy(one->obs, one->next_obs, sizeof(one->obs));
    if (terminated || truncated) {
        assert_true(env->class->reset(env->params, one->state, &one->rng, one->obs));
        one->steps = 0;
        one->sum = 0.0;
    }
    assert_memory_equal(one->obs, row(vec->obs, lane), sizeof(one->obs));
}

static void compare_with_singles(aq_env *env)
{
    single singles[LANES];
    int32_t actions[LANES];
    aq_rng rng;
    aq_vec_env *vec = vec_in(aq_env_ref(env), LANES, SEED);
    aq_rng_init(&rng, 1, 1);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        single_init(&singles[lane], env, lane);
        assert_memory_equal(singles[lane].obs, row(vec->obs, lane), sizeof(singles[lane].obs));
    }
    for (int i = 0; i < STEPS; i++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            actions[lane] = (int32_t)aq_rng_below(&rng, vec->task.env->schema.action.choice_count);
        }
        step(vec, actions);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            single_step_and_compare(&singles[lane], vec, lane, actions[lane]);
        }
    }
    aq_vec_env_destroy(vec);
    aq_env_unref(env);
}

TEST(each_lane_does_what_the_environment_does_alone)
{
    aq_env *cartpole = NULL; /* which shows four numbers as well */
    assert_int_equal(aq_env_open("gym:CartPole-v1", &cartpole, NULL), 0);
    compare_with_singles(tally_open(&tally_env, ""));
    compare_with_singles(cartpole);
}

/* What an episode of the counting environment ends like, by its length. */
TEST_OF_VEC(the_limit_truncates_and_the_task_terminates, "", LANES)
{
    const int32_t actions[LANES] = {0};
    int lengths_seen[TALLY_LENGTH_MAX + 1] = {0};
    for (int i = 0; i < STEPS; i++) {
        step(vec, actions);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const float *end = row(vec->next_obs, lane);
            int length = (int)end[1];
            if (aq_vec_env_ended(vec, lane)) {
                lengths_seen[length]++;
                assert_int_equal(has(vec, lane, AQ_LANE_TERMINATED), length <= TALLY_LIMIT);
                assert_int_equal(has(vec, lane, AQ_LANE_TRUNCATED), length > TALLY_LIMIT);
            }
        }
    }
    assert_true(lengths_seen[TALLY_LIMIT] > 0); /* terminated on the very step of the limit */
    assert_true(lengths_seen[TALLY_LIMIT + 1] > 0);
}

TEST_OF_VEC(the_terminal_observation_is_kept_beside_the_first_of_the_next_episode, "", LANES)
{
    const int32_t actions[LANES] = {0};
    int ends = 0;
    for (int i = 0; i < STEPS; i++) {
        step(vec, actions);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const float *now = row(vec->obs, lane);
            const float *end = row(vec->next_obs, lane);
            assert_int_equal((int)end[0], vec->episode_steps[lane]);
            if (aq_vec_env_ended(vec, lane)) {
                ends++;
                assert_int_equal((int)now[0], 0);
            } else {
                assert_memory_equal(now, end, TALLY_OBS * sizeof(float));
            }
        }
    }
    assert_true(ends > LANES);
}

TEST(a_lane_does_not_depend_on_how_many_there_are)
{
    const int32_t actions[LANES] = {2, 2, 2, 2, 2};
    aq_vec_env *many = vec_of("", LANES, SEED);
    aq_vec_env *few = vec_of("", 2, SEED);
    for (int i = 0; i < STEPS; i++) {
        step(many, actions);
        step(few, actions);
        assert_memory_equal(many->obs, few->obs, 2 * TALLY_OBS * sizeof(float));
    }
    aq_vec_env_destroy(many);
    aq_vec_env_destroy(few);
}

TEST(another_seed_is_another_course)
{
    aq_vec_env *one = vec_of("", LANES, SEED);
    aq_vec_env *other = vec_of("", LANES, SEED + 1);
    assert_memory_not_equal(one->obs, other->obs, LANES * TALLY_OBS * sizeof(float));
    aq_vec_env_destroy(one);
    aq_vec_env_destroy(other);
}

TEST_OF_VEC(starting_again_repeats_the_course, "", LANES)
{
    const int32_t actions[LANES] = {0};
    float first[LANES * TALLY_OBS];
    memcpy(first, vec->obs, sizeof(first));
    step(vec, actions);
    aq_vec_env_start(vec, LANES, SEED);
    assert_memory_equal(vec->obs, first, sizeof(first));
    assert_int_equal(vec->episode_steps[0], 0);
}

TEST_OF_VEC(a_restarted_lane_draws_from_its_new_stream, "", LANES)
{
    aq_vec_env *other = vec_of("", LANES, SEED + 1);
    aq_vec_env_restart(vec, 1, SEED + 1, 3);
    assert_memory_equal(row(vec->obs, 1), row(other->obs, 3), TALLY_OBS * sizeof(float));
    aq_vec_env_destroy(other);
}

TEST_OF_VEC(a_dropped_lane_is_replaced_by_the_last, "", LANES)
{
    const int32_t actions[LANES] = {1, 1, 1, 1, 1};
    const size_t row_bytes = TALLY_OBS * sizeof(float);
    aq_vec_env *whole = vec_of("", LANES, SEED);
    step(vec, actions);
    step(whole, actions);
    aq_vec_env_drop(vec, 1);
    assert_int_equal(vec->lanes, LANES - 1);
    assert_memory_equal(row(vec->next_obs, 1), row(whole->next_obs, LANES - 1), row_bytes);
    for (int i = 0; i < STEPS; i++) {
        step(vec, actions);
        step(whole, actions);
        assert_memory_equal(vec->obs, whole->obs, row_bytes);
        assert_memory_equal(row(vec->obs, 1), row(whole->obs, LANES - 1), row_bytes);
        assert_memory_equal(row(vec->obs, 2), row(whole->obs, 2), 2 * row_bytes);
        assert_memory_equal(&vec->episode_return[1], &whole->episode_return[LANES - 1],
                            sizeof(double));
    }
    aq_vec_env_destroy(whole);
}

TEST_OF_VEC(all_lanes_can_be_dropped, "", 2)
{
    aq_vec_env_drop(vec, 1);
    aq_vec_env_drop(vec, 0);
    assert_int_equal(vec->lanes, 0);
    step(vec, NULL);
    aq_vec_env_start(vec, 2, SEED);
    assert_int_equal(vec->lanes, 2);
}

/* ---- failures ------------------------------------------------------------------------------- */

#define MS INT64_C(1000000)

TEST_OF_VEC(a_step_that_fails_ends_the_episode_without_a_transition, "?fail_step=3", LANES)
{
    const int32_t actions[LANES] = {0};
    uint64_t failures = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t made = 0;
        const uint32_t counted = aq_vec_env_step(vec, actions, i * MS);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            assert_true(row(vec->obs, lane)[0] < 3.0f);
            made += has(vec, lane, AQ_LANE_STEPPED);
            if (has(vec, lane, AQ_LANE_FAILED)) {
                failures++;
                assert_int_equal(vec->events[lane], AQ_LANE_FAILED | AQ_LANE_BEGAN);
                assert_true(row(vec->obs, lane)[0] == 0.0f);
            }
        }
        assert_int_equal(counted, made);
    }
    assert_true(failures > 0);
    assert_int_equal(vec->failures, failures);
    assert_says(vec->failure, "failed in a step");
}

TEST_OF_VEC(a_number_that_is_not_finite_is_a_failure, "?nan_step=2", LANES)
{
    const int32_t actions[LANES] = {0};
    bool failed = false;
    for (int i = 0; i < STEPS; i++) {
        (void)aq_vec_env_step(vec, actions, i * MS);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            failed |= has(vec, lane, AQ_LANE_FAILED);
            for (int element = 0; element < TALLY_OBS; element++) {
                assert_true(isfinite(row(vec->obs, lane)[element]));
            }
            assert_true(!has(vec, lane, AQ_LANE_STEPPED) || vec->episode_steps[lane] == 1);
        }
    }
    assert_true(failed);
    assert_says(vec->failure, "not finite");
}

static const char *said_before(const void *params, const void *state)
{
    (void)params;
    (void)state;
    return "what it failed of before";
}

/* The environment knows nothing of numbers that are found here. */
TEST(a_number_that_is_not_finite_is_not_called_what_the_environment_said_last)
{
    const int32_t action = 0;
    aq_env_class class = tally_env;
    class.failure = said_before;
    aq_vec_env *vec = vec_in(tally_open(&class, "?nan_step=1"), 1, SEED);
    (void)aq_vec_env_step(vec, &action, 0);
    assert_int_equal(vec->failures, 1);
    assert_says(vec->failure, "not finite");
    aq_vec_env_destroy(vec);
}

TEST_OF_VEC(a_lane_that_cannot_be_reset_waits_longer_and_longer, "?fail_resets=3", 1)
{
    const int32_t action = 0;
    assert_true(vec->waits[0]); /* since it was made, and may be tried again at once */
    assert_true(aq_vec_env_due_ns(vec) == INT64_MIN);
    assert_int_equal(aq_vec_env_step(vec, &action, 100 * MS), 0);
    assert_int_equal(vec->events[0], AQ_LANE_FAILED);
    assert_int_equal(aq_vec_env_due_ns(vec), 120 * MS);
    assert_int_equal(aq_vec_env_step(vec, &action, 120 * MS - 1), 0);
    assert_int_equal(vec->events[0], 0);
    assert_int_equal(vec->failures, 2);
    assert_int_equal(aq_vec_env_step(vec, &action, 120 * MS), 0);
    assert_int_equal(aq_vec_env_due_ns(vec), 160 * MS);
    assert_int_equal(aq_vec_env_step(vec, &action, 160 * MS), 0);
    assert_int_equal(vec->events[0], AQ_LANE_BEGAN);
    assert_false(vec->waits[0]);
    assert_true(aq_vec_env_due_ns(vec) == INT64_MIN);
    assert_int_equal(aq_vec_env_step(vec, &action, 160 * MS), 1);
    assert_int_equal(vec->episode_steps[0], 1);
    assert_int_equal(vec->failures, 3);
}

TEST_OF_VEC(waiting_is_bounded, "?fail_resets=100", 1)
{
    const int32_t action = 0;
    int64_t now_ns = 0;
    for (int i = 0; i < 50; i++) {
        (void)aq_vec_env_step(vec, &action, now_ns);
        assert_true(aq_vec_env_due_ns(vec) - now_ns <= 10000 * MS);
        now_ns = aq_vec_env_due_ns(vec);
    }
    assert_int_equal(vec->failures, 51);
}

TEST_OF_VEC(failing_at_once_again_and_again_does_not_spin, "?fail_step=1", 1)
{
    const int32_t action = 0;
    for (int i = 0; i < 1000; i++) { /* in no time */
        assert_int_equal(aq_vec_env_step(vec, &action, 0), 0);
    }
    assert_int_equal(vec->failures, 2);
    assert_true(vec->waits[0]);
    assert_true(row(vec->obs, 0)[3] == 0.0f); /* nothing is seen of what failed */
}

/* Time stands still, so that who has to wait, waits for ever. */
TEST_OF_VEC(the_others_go_on_while_one_waits, "?fail_resets=1", 2)
{
    const int32_t actions[2] = {1, 1};
    uint32_t waiting = 0, alone = 0;
    assert_int_equal(aq_vec_env_step(vec, actions, 0), 0); /* begins both */
    while (waiting < 2) {
        assert_int_equal(aq_vec_env_step(vec, actions, 0), 2 - waiting);
        alone += waiting == 1;
        waiting = vec->waiting_count;
    }
    assert_true(alone > 0);
    assert_int_equal(aq_vec_env_step(vec, actions, 0), 0);
}

TEST_OF_VEC(starting_again_ends_all_waiting, "?fail_resets=1", 3)
{
    assert_int_equal(vec->waiting_count, 3);
    aq_vec_env_start(vec, 3, SEED);
    assert_int_equal(vec->waiting_count, 0);
    assert_true(aq_vec_env_due_ns(vec) == INT64_MIN);
}

TEST_OF_VEC(a_dropped_lane_may_wait, "?fail_resets=1", 3)
{
    aq_vec_env_drop(vec, 0);
    assert_int_equal(vec->waiting_count, 2);
    aq_vec_env_drop(vec, 1);
    aq_vec_env_drop(vec, 0);
    assert_int_equal(vec->waiting_count, 0);
    aq_vec_env_start(vec, 3, SEED);
    assert_int_equal(vec->waiting_count, 0); /* it was their second reset */
}

TEST_OF_VEC(who_takes_the_place_of_a_dropped_lane_waits_on, "?fail_resets=3", 2)
{
    const int32_t action = 0;
    aq_vec_env_retry(vec, 0, SEED, 7, 1, 0);
    aq_vec_env_retry(vec, 1, SEED, 8, 4, 0);
    aq_vec_env_drop(vec, 0);
    assert_int_equal(aq_vec_env_due_ns(vec), 80 * MS);
    assert_int_equal(aq_vec_env_step(vec, &action, 80 * MS), 0);
    assert_int_equal(vec->events[0], AQ_LANE_FAILED);
    assert_int_equal(aq_vec_env_due_ns(vec), (80 + 160) * MS);
}

static uint32_t announced;

static void announce(const void *params, void *state, const void *action)
{
    (void)params, (void)state, (void)action;
    announced++;
}

TEST(actions_are_announced_for_those_that_take_them_unless_the_owner_is_quiet)
{
    static const uint32_t expected[] = {0, 2, 4, 4}; /* both begin, two steps, and then quiet */
    const int32_t actions[2] = {0};
    aq_env_class class = tally_env;
    class.announce = announce;
    aq_vec_env *vec = vec_in(tally_open(&class, "?fail_resets=1"), 2, SEED);
    announced = 0;
    EACH_ROW(i, expected) {
        vec->is_quiet = i == 3;
        (void)aq_vec_env_step(vec, actions, 0);
        assert_int_equal(announced, expected[i]);
    }
    aq_vec_env_destroy(vec);
}

TEST_OF_VEC(stepping_allocates_nothing, "", LANES)
{
    const int32_t actions[LANES] = {0};
    uint64_t before = aq_memory_allocation_count();
    for (int i = 0; i < STEPS; i++) {
        step(vec, actions);
    }
    aq_vec_env_start(vec, LANES, SEED);
    assert_int_equal(aq_memory_allocation_count(), before);
}

TEST(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    aq_env_task task = tally_task("");
    aq_vec_env *vec = NULL;
    assert_made_despite_failures(vec, aq_vec_env_create(&task, LANES, SEED, &vec, NULL));
    aq_vec_env_destroy(vec);
    aq_env_task_fini(&task);
    aq_vec_env_destroy(NULL);
}

/*
 * Environments of the public library are the vec env of actors in the caller's rows, and look at
 * what they are told before they do it.
 */
#include <pthread.h>

#include "envs/env_open.h"
#include "include/actorq/actorq.h"
#include "rollout/vec_env.h"
#include "tests/support/test.h"

enum { LANES = 5, WIDTH = 32, STEPS = 400 };

TEST_ENDING(end_vec, actorq_vec_close);

static actorq_error library_error;

typedef struct arrays {
    float obs[LANES * WIDTH], finals[LANES * WIDTH], rewards[LANES];
    uint8_t terminated[LANES], truncated[LANES];
    double returns[LANES];
    uint32_t lengths[LANES];
} arrays;

static actorq_rows rows_of(arrays *a)
{
    return (actorq_rows){.observations = a->obs,
                         .finals = a->finals,
                         .rewards = a->rewards,
                         .terminated = a->terminated,
                         .truncated = a->truncated,
                         .returns = a->returns,
                         .lengths = a->lengths};
}

static actorq_vec *vec_open(const char *task, uint32_t lanes)
{
    actorq_vec *vec = NULL;
    if (actorq_vec_open(task, lanes, 11, &vec, &library_error) != 0) {
        fail_msg("%s", library_error.text);
    }
    at_end(end_vec, vec);
    return vec;
}

static aq_vec_env *actors_vec(const char *task)
{
    aq_env *env;
    aq_env_task opened;
    aq_vec_env *vec = NULL;
    assert_succeeds(aq_env_open(task, &env, &refusal));
    assert_succeeds(aq_env_task_init(env, &opened, &refusal));
    assert_succeeds(aq_vec_env_create(&opened, LANES, 11, &vec, &refusal));
    aq_env_task_fini(&opened);
    aq_env_unref(env);
    return vec;
}

TEST(steps_are_those_of_an_actor_in_rows_of_the_caller)
{
    static arrays even, odd;
    const uint64_t seed = 11;
    aq_rng rng = rng_of(1, 2);
    actorq_vec *ours = vec_open("gym:CartPole-v1", LANES);
    aq_vec_env *theirs = actors_vec("gym:CartPole-v1");
    const size_t bytes = LANES * 4 * sizeof(float);
    uint32_t ends = 0;
    assert_int_equal(actorq_vec_reset(ours, &seed, odd.obs, NULL), 0);
    assert_memory_equal(odd.obs, theirs->obs, bytes);
    for (int i = 0; i < STEPS; i++) {
        arrays *a = i % 2 == 0 ? &even : &odd;
        const actorq_rows rows = rows_of(a);
        int32_t actions[LANES];
        uint32_t ended, expected = 0;
        for (int lane = 0; lane < LANES; lane++) {
            actions[lane] = (int32_t)aq_rng_below(&rng, 2);
        }
        assert_int_equal(actorq_vec_step(ours, actions, &rows, &ended, NULL), 0);
        assert_int_equal(aq_vec_env_step(theirs, actions, 0), LANES);
        assert_memory_equal(a->obs, theirs->obs, bytes);
        assert_memory_equal(a->finals, theirs->next_obs, bytes);
        assert_memory_equal(a->rewards, theirs->reward, sizeof(a->rewards));
        assert_memory_equal(a->returns, theirs->episode_return, sizeof(a->returns));
        for (uint32_t lane = 0; lane < LANES; lane++) {
            assert_int_equal(a->terminated[lane] || a->truncated[lane],
                             aq_vec_env_ended(theirs, lane));
            expected += aq_vec_env_ended(theirs, lane);
        }
        assert_int_equal(ended, expected);
        ends += ended;
    }
    assert_true(ends > LANES);
    aq_vec_env_destroy(theirs);
}

TEST(chance_goes_on_where_no_seed_is_given)
{
    static arrays a, b;
    const uint64_t seed = 4;
    actorq_vec *vec = vec_open("gym:CartPole-v1", LANES);
    assert_int_equal(actorq_vec_reset(vec, &seed, a.obs, NULL), 0);
    assert_int_equal(actorq_vec_reset(vec, NULL, b.obs, NULL), 0);
    assert_true(memcmp(a.obs, b.obs, sizeof(a.obs)) != 0);
    assert_int_equal(actorq_vec_reset(vec, &seed, b.obs, NULL), 0);
    assert_memory_equal(a.obs, b.obs, sizeof(a.obs));
    assert_int_equal(actorq_vec_reset(vec, NULL, a.obs, NULL), 0);
}

TEST(actions_are_looked_at_before_anything_is_stepped)
{
    static arrays a;
    const uint64_t seed = 1;
    const int32_t choices[LANES] = {0, 1, 1, 2, 0};
    const float numbers[LANES] = {0.0f, NAN, 0.0f, 0.0f, 0.0f};
    const float far[LANES] = {9.0f, -9.0f, 2.0f, INFINITY, 0.5f};
    const float held[LANES] = {2.0f, -2.0f, 2.0f, 2.0f, 0.5f};
    float first[LANES * 3];
    uint32_t ended;
    const actorq_rows rows = rows_of(&a);
    actorq_vec *pole = vec_open("gym:CartPole-v1", LANES);
    assert_int_equal(actorq_vec_step(pole, choices, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, "action 2 of environment 3; gym:CartPole-v1 has");
    actorq_vec *pairs = vec_open("game:seaquest?actions=pair", 2);
    assert_int_equal(actorq_vec_look(pairs)->action_bytes, 2 * sizeof(int32_t));
    assert_int_equal(actorq_vec_step(pairs, (int32_t[]){4, 1, 1, 2}, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, "action 2 of environment 1");
    assert_says(library_error.text, "has the choices 0 to 1");
    actorq_vec *pendulum = vec_open("gym:Pendulum-v1", LANES);
    assert_int_equal(actorq_vec_step(pendulum, numbers, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, "environment 1 is not a number");
    assert_int_equal(actorq_vec_reset(pendulum, &seed, a.obs, NULL), 0);
    assert_int_equal(actorq_vec_step(pendulum, far, &rows, &ended, NULL), 0);
    memcpy(first, a.obs, sizeof(first));
    assert_int_equal(actorq_vec_reset(pendulum, &seed, a.obs, NULL), 0);
    assert_int_equal(actorq_vec_step(pendulum, held, &rows, &ended, NULL), 0);
    assert_memory_equal(a.obs, first, sizeof(first));
}

/* One member after the other. */
static void refuse_rows(actorq_vec *vec, const int32_t *choices, actorq_rows rows, const char *name)
{
    uint32_t ended;
    assert_int_equal(actorq_vec_step(vec, choices, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, name);
}

TEST(what_is_not_given_is_named_before_anything_is_stepped)
{
    static arrays a;
    const int32_t choices[LANES] = {0};
    uint8_t pixels[12];
    uint32_t ended;
    actorq_vec *opened = NULL;
    const actorq_rows rows = rows_of(&a);
    actorq_vec *vec = vec_open("gym:CartPole-v1", LANES);
    actorq_error *error = &library_error;
    const actorq_value value = {"state", 4, NULL};
    const int refused[] = {
        actorq_vec_open(NULL, 1, 0, &opened, error),
        actorq_vec_open("gym:CartPole-v1", 1, 0, NULL, error),
        actorq_vec_reset(NULL, NULL, a.obs, error),
        actorq_vec_reset(vec, NULL, NULL, error),
        actorq_vec_step(NULL, choices, &rows, &ended, error),
        actorq_vec_step(vec, NULL, &rows, &ended, error),
        actorq_vec_step(vec, choices, NULL, &ended, error),
        actorq_vec_step(vec, choices, &rows, NULL, error),
        actorq_vec_put(vec, 0, &value, 1, a.obs, error),
        actorq_vec_put(vec, 0, NULL, 1, a.obs, error),
        actorq_vec_draw(vec, 0, 2, 2, NULL, error),
        actorq_vec_draw(NULL, 0, 2, 2, pixels, error),
    };
    EACH_ROW(i, refused) {
        assert_int_equal(refused[i], ACTORQ_E_INVALID);
    }
    refuse_rows(vec, choices, (actorq_rows){.observations = a.obs}, "rows.finals is NULL");
    actorq_rows lacking = rows;
    lacking.returns = NULL;
    refuse_rows(vec, choices, lacking, "rows.returns is NULL");
    assert_null(opened);
    assert_null(actorq_vec_look(NULL));
    assert_int_equal(actorq_vec_step(vec, choices, &rows, &ended, NULL), 0);
    assert_int_equal(a.lengths[0], 1);
}

TEST(what_cannot_be_opened_is_refused_in_words)
{
    const struct {
        const char *task;
        uint32_t lanes;
        int code;
        const char *words;
    } refused[] = {
        {"gym:CartPole-v1", 0, ACTORQ_E_INVALID, "0 environments"},
        {"gym:CartPole-v1", 4097, ACTORQ_E_INVALID, "1 to 4096"},
        {"gym:CartPoole-v1", 1, ACTORQ_E_NOT_FOUND, "did you mean"},
        {"gym:CartPole-v1?wind=1", 1, ACTORQ_E_INVALID, "wind"},
        {"so:/no/such.so", 1, ACTORQ_E_NOT_FOUND, "/no/such.so"},
    };
    EACH_ROW(i, refused) {
        actorq_vec *vec = NULL;
        const int rc = actorq_vec_open(refused[i].task, refused[i].lanes, 1, &vec, &library_error);
        assert_says(library_error.text, refused[i].words);
        assert_int_equal(rc, refused[i].code);
        assert_null(vec);
    }
}

TEST(a_state_is_put_and_drawn)
{
    const double numbers[4] = {0.0, 0.0, 0.1, 0.0};
    const actorq_value value = {.name = "state", .count = 4, .numbers = numbers};
    static uint8_t pixels[60 * 80 * 3];
    float row[WIDTH];
    actorq_vec *vec = vec_open("gym:CartPole-v1", LANES);
    assert_int_equal(actorq_vec_put(vec, 2, &value, 1, row, NULL), 0);
    assert_true(row[2] == 0.1f);
    assert_int_equal(actorq_vec_put(vec, LANES, &value, 1, row, &library_error), ACTORQ_E_INVALID);
    assert_says(library_error.text, "environment 5 of 5");
    assert_int_equal(actorq_vec_put(vec, 0, &value, 0, row, &library_error), ACTORQ_E_INVALID);
    assert_says(library_error.text, "no 'state'");
    assert_int_equal(actorq_vec_draw(vec, 2, 80, 60, pixels, NULL), 0);
    assert_true(pixels[0] != 0);
    assert_int_equal(actorq_vec_draw(vec, 2, 0, 60, pixels, &library_error), ACTORQ_E_INVALID);
}

/* The lone environment of steps that have no place for the next episode's row. */
TEST(an_episode_that_ended_is_kept_until_a_reset)
{
    static arrays kept, going;
    const int32_t action = 0;
    const uint64_t seed = 3;
    uint32_t ended = 0, ended_too = 0;
    static uint8_t before[60 * 80 * 3], after[60 * 80 * 3];
    actorq_vec *vec = vec_open("gym:CartPole-v1", 1), *other = vec_open("gym:CartPole-v1", 1);
    actorq_rows rows = rows_of(&kept), other_rows = rows_of(&going);
    rows.observations = NULL;
    assert_int_equal(actorq_vec_reset(vec, &seed, kept.obs, NULL), 0);
    assert_int_equal(actorq_vec_reset(other, &seed, going.obs, NULL), 0);
    while (ended == 0) {
        assert_int_equal(actorq_vec_draw(vec, 0, 80, 60, before, NULL), 0);
        assert_int_equal(actorq_vec_step(vec, &action, &rows, &ended, NULL), 0);
        assert_int_equal(actorq_vec_step(other, &action, &other_rows, &ended_too, NULL), 0);
        assert_memory_equal(kept.finals, going.finals, 4 * sizeof(float));
        assert_int_equal(ended, ended_too);
    }
    assert_int_equal(actorq_vec_draw(vec, 0, 80, 60, after, NULL), 0);
    assert_memory_not_equal(before, after, sizeof(after)); /* it leans further */
    assert_int_equal(actorq_vec_step(vec, &action, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, "the episode has ended");
    assert_int_equal(actorq_vec_reset(vec, NULL, kept.obs, NULL), 0);
    assert_memory_equal(kept.obs, going.obs, 4 * sizeof(float));
    assert_int_equal(actorq_vec_step(vec, &action, &rows, &ended, NULL), 0);
    vec = vec_open("gym:CartPole-v1", LANES);
    assert_int_equal(actorq_vec_step(vec, &action, &rows, &ended, &library_error),
                     ACTORQ_E_INVALID);
    assert_says(library_error.text, "no place for the observations of 5");
}

TEST(opening_survives_every_failed_allocation)
{
    actorq_vec *vec = NULL;
    assert_made_despite_failures(vec, actorq_vec_open("gym:Acrobot-v1", LANES, 1, &vec, NULL));
    actorq_vec_close(vec);
    actorq_vec_close(NULL);
}

static void *play(void *failed)
{
    arrays *a = calloc(1, sizeof(*a));
    const actorq_rows rows = rows_of(a);
    const float push[LANES] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
    actorq_vec *vec = NULL;
    uint32_t ended;
    int rc = actorq_vec_open("gym:Pendulum-v1", LANES, 1, &vec, NULL);
    for (int i = 0; rc == 0 && i < STEPS; i++) {
        rc = actorq_vec_step(vec, push, &rows, &ended, NULL);
    }
    actorq_vec_close(vec);
    free(a);
    return rc == 0 ? NULL : failed;
}

TEST(threads_have_environments_of_their_own)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, play, &threads), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

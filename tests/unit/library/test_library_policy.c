/*
 * A policy of the public library acts as the engine of actors does, to the bit, in any number of
 * rows and threads.
 */
#include <pthread.h>

#include "common/sys/cpu.h"
#include "common/wire/wire_policy.h"
#include "include/actorq/actorq.h"
#include "rollout/act.h"
#include "tests/support/file_kit.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { INPUTS = 4, ROWS_MAX = 600, THREADS = 4 };

TEST_ENDING(end_policy, actorq_policy_free);
TEST_ENDING(end_engine, aq_engine_destroy);
TEST_ENDING(end_act, aq_act_destroy);

/* The library's own words, in the place of `refusal`. */
static actorq_error library_error;

static void assert_library_refuses(int rc, int code, const char *words)
{
    assert_int_equal(rc, code);
    assert_int_equal(library_error.code, code);
    assert_says(library_error.text, words);
}

static actorq_policy *load(const char *path, const char *precision)
{
    actorq_policy *policy = NULL;
    if (actorq_policy_load(path, precision, &policy, &library_error) != 0) {
        fail_msg("%s", library_error.text);
    }
    at_end(end_policy, policy);
    return policy;
}

static float *observations(void)
{
    static float obs[ROWS_MAX * INPUTS];
    aq_rng rng = rng_of(3, 1);
    fill_range(obs, ROWS_MAX * INPUTS, -2.0, 2.0, &rng);
    return obs;
}

static aq_engine *engine_of(aq_snapshot *snapshot)
{
    aq_engine *engine = NULL;
    assert_succeeds(aq_engine_create(snapshot, ROWS_MAX, aq_cpu_flags(), &engine, &refusal));
    at_end(end_engine, engine);
    return engine;
}

static aq_act *act_of(const aq_snapshot *snapshot)
{
    aq_act *act = NULL;
    assert_int_equal(aq_act_create(&snapshot->schema, ROWS_MAX, &act), 0);
    at_end(end_act, act);
    return act;
}

TEST_IN_FOLDER(actions_are_those_of_the_engine_of_actors)
{
    static const uint32_t formats[] = {AQ_FORMAT_F32, AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT4,
                                       AQ_FORMAT_BF16};
    static const uint32_t rows[] = {1, 3, 64, ROWS_MAX, 2};
    const float *obs = observations();
    EACH_ROW(i, formats) {
        const char *path = cli_path(state, "policy.aq");
        cli_write_policy(path, formats[i], 5);
        actorq_policy *policy = load(path, NULL);
        aq_snapshot *snapshot = cli_policy(formats[i], 5);
        aq_engine *engine = engine_of(snapshot);
        aq_act *act = act_of(snapshot);
        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
            int32_t theirs[ROWS_MAX], ours[ROWS_MAX];
            float their_outputs[ROWS_MAX * 2], our_outputs[ROWS_MAX * 2];
            aq_act_greedy(act, engine, obs, rows[k], theirs);
            aq_engine_forward(engine, obs, rows[k], their_outputs);
            assert_int_equal(actorq_policy_act(policy, obs, rows[k], ours, NULL), 0);
            assert_int_equal(actorq_policy_outputs(policy, obs, rows[k], our_outputs, NULL), 0);
            assert_memory_equal(ours, theirs, rows[k] * sizeof(*ours));
            assert_memory_equal(our_outputs, their_outputs, rows[k] * 2 * sizeof(float));
        }
    }
}

/* Of CartPole, but drawn from. */
static aq_snapshot *write_drawing(const char *path)
{
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    snapshot->head = AQ_HEAD_CATEGORICAL;
    assert_succeeds(aq_policy_file_write(path, snapshot, &refusal));
    return snapshot;
}

TEST_IN_FOLDER(draws_are_those_of_an_actor_with_that_key)
{
    const float *obs = observations();
    const char *path = cli_path(state, "policy.aq");
    aq_snapshot *snapshot = write_drawing(path);
    actorq_policy *policy = load(path, NULL);
    aq_engine *engine = engine_of(snapshot);
    aq_act *act = act_of(snapshot);
    float log_prob[ROWS_MAX], drawn[ROWS_MAX], ours_log_prob[ROWS_MAX];
    int32_t theirs[ROWS_MAX], ours[ROWS_MAX];
    assert_int_equal(aq_act_prepare(act, engine), 0);
    for (uint64_t i = 0; i < 6; i++) {
        /* Keys and numbers in any order, and more rows than before. */
        const uint64_t key = 7 + i % 2, number = 3 - i / 2;
        const uint32_t rows = 10 + (uint32_t)i * 30;
        const aq_act_draws draws = {.key = key,
                                    .number = number,
                                    .period = 1,
                                    .octaves = 1,
                                    .drawn = drawn,
                                    .log_prob = log_prob};
        aq_act_draw(act, engine, obs, rows, &draws, theirs);
        assert_int_equal(
            actorq_policy_draw(policy, obs, rows, key, number, ours, ours_log_prob, NULL), 0);
        assert_memory_equal(ours, theirs, rows * sizeof(*ours));
        assert_memory_equal(ours_log_prob, log_prob, rows * sizeof(float));
    }
    assert_int_equal(actorq_policy_look(policy)->draws, 1);
    assert_library_refuses(actorq_policy_draw(policy, obs, 65537, 0, 0, ours, NULL, &library_error),
                           ACTORQ_E_INVALID, "up to 65536");
}

/* Of observations so wide that PIECE rows are what there is room for at once. */
enum { WIDE = 16384, PIECE = 512 };

static aq_snapshot *write_wide(const char *path)
{
    const aq_layer_spec layers[] = {aq_layer_linear(WIDE, 2, AQ_ACTIVATION_NONE)};
    const aq_net_spec spec = net_of(layers);
    aq_schema schema = {.obs = {.kind = AQ_SPACE_BOX,
                                .dtype = AQ_DTYPE_U8,
                                .rank = 1,
                                .shape = {WIDE},
                                .bound_count = 1,
                                .high = {255.0f}}};
    aq_space_init_discrete(&schema.action, 2);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_CATEGORICAL, "test:Wide", &schema);
    aq_rng rng = rng_of(4, 1);
    aq_snapshot_layer_data layer;
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    fill_range(layer.weights, 2 * WIDE, -0.02, 0.02, &rng);
    assert_succeeds(aq_policy_file_write(path, snapshot, &refusal));
    return snapshot;
}

/* More rows need no more memory, and draws are those of each row's place among all. */
TEST_IN_FOLDER(wide_rows_are_done_in_pieces_that_nobody_sees)
{
    static uint8_t obs[ROWS_MAX * WIDE];
    const char *path = cli_path(state, "policy.aq");
    aq_snapshot *snapshot = write_wide(path);
    actorq_policy *policy = load(path, NULL);
    aq_engine *engine = engine_of(snapshot);
    aq_act *act = act_of(snapshot);
    aq_rng rng = rng_of(3, 1);
    float log_prob[ROWS_MAX], drawn[ROWS_MAX], our_log_prob[ROWS_MAX];
    int32_t theirs[ROWS_MAX], ours[ROWS_MAX];
    const aq_act_draws draws = {
        .key = 7, .number = 3, .period = 1, .octaves = 1, .drawn = drawn, .log_prob = log_prob};
    for (size_t i = 0; i < sizeof(obs); i++) {
        obs[i] = (uint8_t)aq_rng_below(&rng, 256);
    }
    assert_int_equal(aq_act_prepare(act, engine), 0);
    assert_int_equal(actorq_policy_act(policy, obs, PIECE, ours, NULL), 0);
    const uint64_t bytes = aq_memory_allocated_bytes();
    aq_act_greedy(act, engine, obs, ROWS_MAX, theirs);
    assert_int_equal(actorq_policy_act(policy, obs, ROWS_MAX, ours, NULL), 0);
    assert_memory_equal(ours, theirs, sizeof(ours));
    aq_act_draw(act, engine, obs, ROWS_MAX, &draws, theirs);
    assert_int_equal(actorq_policy_draw(policy, obs, ROWS_MAX, 7, 3, ours, our_log_prob, NULL), 0);
    assert_memory_equal(ours, theirs, sizeof(ours));
    assert_memory_equal(our_log_prob, log_prob, sizeof(log_prob));
    assert_true(aq_memory_allocated_bytes() == bytes);
}

/* Of CartPole, with a gru. */
static aq_snapshot *write_remembering(const char *path, uint32_t head)
{
    enum { WIDTH = 6 };
    const aq_layer_spec layers[] = {
        aq_layer_linear(INPUTS, AQ_GRU_GATES * WIDTH, AQ_ACTIVATION_NONE), aq_layer_gru(WIDTH),
        aq_layer_linear(WIDTH, 2, AQ_ACTIVATION_NONE)};
    const aq_snapshot *like = cli_policy(AQ_FORMAT_F32, 5);
    const aq_net_spec spec = net_of(layers);
    aq_snapshot *snapshot = policy_of(&spec, head, like->task, &like->schema);
    aq_rng rng = rng_of(4, 1);
    snapshot->run_id = like->run_id;
    snapshot->version = like->version;
    for (uint32_t i = 0; i < 3; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&layers[i]);
        aq_snapshot_layer_data layer;
        aq_snapshot_layer_edit(snapshot, i, &layer);
        fill_range(layer.weights, (size_t)matrix.rows * matrix.columns, -1.0, 1.0, &rng);
    }
    assert_succeeds(aq_policy_file_write(path, snapshot, &refusal));
    return snapshot;
}

TEST_IN_FOLDER(rows_go_on_from_the_states_that_they_are_given)
{
    static const uint32_t heads[] = {AQ_HEAD_ARGMAX, AQ_HEAD_CATEGORICAL};
    enum { ROWS = 70, PART = 10, WIDTH = 6 };
    const float *obs = observations();
    EACH_ROW(i, heads) {
        const char *path = cli_path(state, "policy.aq");
        aq_snapshot *snapshot = write_remembering(path, heads[i]);
        actorq_policy *policy = load(path, NULL);
        aq_act *act = act_of(snapshot);
        aq_engine *engine = engine_of(snapshot);
        float states[ROWS * WIDTH] = {0}, before[PART * WIDTH], log_prob[ROWS], drawn[ROWS];
        uint32_t width;
        assert_int_equal(actorq_policy_look(policy)->state_count, WIDTH);
        assert_int_equal(aq_act_prepare(act, engine), 0);
        for (uint64_t step = 0; step < 5; step++) {
            int32_t theirs[ROWS], ours[ROWS], again[PART];
            const float *seen = obs + step * PART * INPUTS;
            memcpy(before, states, sizeof(before));
            if (heads[i] == AQ_HEAD_ARGMAX) {
                aq_act_greedy(act, engine, seen, ROWS, theirs);
                assert_int_equal(actorq_policy_act_from(policy, seen, ROWS, states, ours, NULL), 0);
                assert_int_equal(actorq_policy_act_from(policy, seen, PART, before, again, NULL),
                                 0);
            } else {
                const aq_act_draws draws = {.key = 7,
                                            .number = step,
                                            .period = 1,
                                            .octaves = 1,
                                            .drawn = drawn,
                                            .log_prob = log_prob};
                aq_act_draw(act, engine, seen, ROWS, &draws, theirs);
                assert_int_equal(
                    actorq_policy_draw_from(policy, seen, ROWS, 7, step, states, ours, NULL, NULL),
                    0);
                assert_int_equal(
                    actorq_policy_draw_from(policy, seen, PART, 7, step, before, again, NULL, NULL),
                    0);
            }
            assert_memory_equal(ours, theirs, sizeof(ours));
            assert_memory_equal(ours, again, sizeof(again));
            assert_memory_equal(states, aq_act_state(act, &width), sizeof(states));
            assert_memory_equal(states, before, sizeof(before));
            aq_act_begin(act, 3); /* another episode */
            memset(states + 3 * WIDTH, 0, WIDTH * sizeof(float));
        }
        assert_library_refuses(actorq_policy_act(policy, obs, 1, drawn, &library_error),
                               ACTORQ_E_UNSUPPORTED, "actorq_policy_act_from and draw_from");
        assert_library_refuses(actorq_policy_outputs(policy, obs, 1, drawn, &library_error),
                               ACTORQ_E_UNSUPPORTED, "keeps a state");
    }
}

TEST_IN_FOLDER(what_is_no_policy_is_refused_in_words)
{
    const struct {
        const char *name, *precision;
        int code;
        const char *words;
    } rows[] = {
        {"none", NULL, ACTORQ_E_NOT_FOUND, "none"},
        {"text", NULL, ACTORQ_E_FOREIGN, "neither a policy (.aq) nor a checkpoint"},
        {"policy.aq", "int9", ACTORQ_E_INVALID, "'int9' is no format"},
        {"policy.aq", "fp32", ACTORQ_E_UNSUPPORTED, "cannot be had"},
    };
    file_put_text(cli_path(state, "text"), "no policy, and long enough for one");
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 5);
    EACH_ROW(i, rows) {
        actorq_policy *policy = NULL;
        assert_library_refuses(actorq_policy_load(cli_path(state, rows[i].name), rows[i].precision,
                                                  &policy, &library_error),
                               rows[i].code, rows[i].words);
        assert_null(policy);
    }
    actorq_policy *policy = load(cli_path(state, "policy.aq"), "int8");
    int32_t action;
    assert_library_refuses(
        actorq_policy_draw(policy, observations(), 1, 0, 0, &action, NULL, &library_error),
        ACTORQ_E_UNSUPPORTED, "draws nothing");
}

TEST_IN_FOLDER(what_is_not_given_is_named)
{
    actorq_policy *made = NULL;
    actorq_error *error = &library_error;
    int32_t actions[2];
    float *obs = observations(), outputs[4];
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 5);
    actorq_policy *policy = load(cli_path(state, "policy.aq"), NULL);
    const int refused[] = {
        actorq_policy_load(NULL, NULL, &made, error),
        actorq_policy_load("x", NULL, NULL, error),
        actorq_policy_copy(NULL, &made, error),
        actorq_policy_act(NULL, obs, 2, actions, error),
        actorq_policy_act(policy, NULL, 2, actions, error),
        actorq_policy_outputs(policy, obs, 2, NULL, error),
        actorq_policy_draw(NULL, obs, 2, 0, 0, actions, NULL, error),
        actorq_policy_evaluate(policy, 1, 0, NULL, error),
    };
    EACH_ROW(i, refused) {
        assert_int_equal(refused[i], ACTORQ_E_INVALID);
    }
    assert_library_refuses(actorq_policy_act(policy, obs, 2, NULL, error), ACTORQ_E_INVALID,
                           "actions is NULL");
    assert_library_refuses(actorq_policy_act(policy, obs, UINT64_MAX, actions, error),
                           ACTORQ_E_INVALID, "18446744073709551615 observations are more than");
    assert_null(made);
    assert_null(actorq_policy_look(NULL));
    assert_int_equal(actorq_policy_act(policy, NULL, 0, NULL, NULL), 0); /* no rows need nothing */
    assert_int_equal(actorq_policy_outputs(policy, obs, 2, outputs, NULL), 0);
}

TEST_IN_FOLDER(a_checkpoint_is_the_policy_that_was_trained_then)
{
    const char *path = cli_path(state, "step-000000000500.aqc");
    cli_write_checkpoint(path, 500);
    const actorq_policy_facts *facts = actorq_policy_look(load(path, NULL));
    assert_string_equal(facts->precision, "fp32");
    assert_string_equal(facts->path, path);
    assert_int_equal(facts->learner_step, 500);
    assert_string_equal(actorq_policy_look(load(path, "int8"))->precision, "int8");
}

TEST_IN_FOLDER(evaluations_are_those_of_a_seed)
{
    actorq_worth first, again;
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 5);
    actorq_policy *policy = load(cli_path(state, "policy.aq"), NULL);
    assert_int_equal(actorq_policy_evaluate(policy, 20, 9, &first, NULL), 0);
    assert_int_equal(actorq_policy_evaluate(policy, 20, 9, &again, NULL), 0);
    assert_true(first.return_mean == again.return_mean && first.return_mean > 0.0);
    assert_int_equal(first.episodes, 20);
    assert_library_refuses(actorq_policy_evaluate(policy, 0, 9, &first, &library_error),
                           ACTORQ_E_INVALID, "0");
}

static void *open_others(void *unused)
{
    for (int i = 0; i < 50; i++) {
        actorq_vec *vec = NULL;
        if (actorq_vec_open("gym:CartPole-v1", 1, 1, &vec, NULL) != 0) {
            return &library_error;
        }
        actorq_vec_close(vec);
    }
    return unused;
}

TEST_IN_FOLDER(code_that_was_not_named_is_refused_whatever_another_thread_opens)
{
    pthread_t other;
    void *failed;
    actorq_worth worth;
    const char *path = cli_path(state, "policy.aq");
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 5);
    (void)snprintf(snapshot->task, sizeof(snapshot->task), "so:./nowhere.so");
    assert_succeeds(aq_policy_file_write(path, snapshot, &refusal));
    actorq_policy *policy = load(path, NULL);
    assert_int_equal(pthread_create(&other, NULL, open_others, NULL), 0);
    for (int i = 0; i < 50; i++) {
        assert_library_refuses(actorq_policy_evaluate(policy, 1, 9, &worth, &library_error),
                               ACTORQ_E_UNSUPPORTED, "code that you have not named");
    }
    assert_int_equal(pthread_join(other, &failed), 0);
    assert_null(failed);
}

TEST_IN_FOLDER(loading_survives_every_failed_allocation)
{
    actorq_policy *policy = NULL;
    int32_t actions[ROWS_MAX];
    int rc;
    const float *obs = observations();
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 5);
    assert_made_despite_failures(
        policy, actorq_policy_load(cli_path(state, "policy.aq"), NULL, &policy, NULL));
    EACH_ALLOCATION_FAILS(rc) {
        rc = actorq_policy_act(policy, obs, ROWS_MAX, actions, NULL);
    }
    actorq_policy_free(policy);
    actorq_policy_free(NULL);
}

typedef struct worker {
    actorq_policy *policy;
    const float *obs;
    int32_t actions[ROWS_MAX];
} worker;

static void *act_often(void *argument)
{
    worker *self = argument;
    for (int i = 0; i < 50; i++) {
        if (actorq_policy_act(self->policy, self->obs, ROWS_MAX, self->actions, NULL) != 0) {
            return self;
        }
    }
    return NULL;
}

TEST_IN_FOLDER(each_thread_acts_with_a_copy_of_its_own)
{
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    int32_t actions[ROWS_MAX];
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 5);
    actorq_policy *policy = load(cli_path(state, "policy.aq"), NULL);
    assert_int_equal(actorq_policy_act(policy, observations(), ROWS_MAX, actions, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].obs = observations();
        assert_int_equal(actorq_policy_copy(policy, &workers[i].policy, NULL), 0);
        at_end(end_policy, workers[i].policy);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, act_often, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        assert_memory_equal(workers[i].actions, actions, sizeof(actions));
    }
}

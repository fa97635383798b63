/*
 * Algorithms on several ranks: as one learner on all of their rows, step by step; the same bits on
 * all; and the same decisions, whoever's rows are the reason.
 */
#include "common/base/parse.h"
#include "common/policy/torso.h"
#include "tests/support/config_kit.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 6, ACTIONS = 2, CHOICES = 3, ROWS = 6, RANKS = 3, STEPS = 12, NOBODY = 99 };
enum { LENGTH = 5 }; /* of sequences */

static const struct trained {
    enum aq_algorithm algorithm;
    bool has_choices;
    double bound; /* how far ranks may be from one learner, in steps of Adam; 0: a thousandth */
} trained[] = {
    {AQ_ALGORITHM_DQN, true, 0},      {AQ_ALGORITHM_C51, true, 0},
    {AQ_ALGORITHM_QR_DQN, true, 0},   {AQ_ALGORITHM_PQN, true, 0},
    {AQ_ALGORITHM_D4PG, false, 0},    {AQ_ALGORITHM_DDPG, false, 0},
    {AQ_ALGORITHM_TD3, false, 0},     {AQ_ALGORITHM_SAC, false, 0},
    {AQ_ALGORITHM_SAC, true, 0},      {AQ_ALGORITHM_REINFORCE, true, 0},
    {AQ_ALGORITHM_A2C, true, 0},      {AQ_ALGORITHM_A2C, false, 0},
    {AQ_ALGORITHM_PPO, true, 0},      {AQ_ALGORITHM_PPO, false, 0},
    {AQ_ALGORITHM_IMPALA, true, 0},   {AQ_ALGORITHM_TRPO, true, 0.05},
    {AQ_ALGORITHM_TRPO, false, 0.05}, {AQ_ALGORITHM_Q, true, 0},
    {AQ_ALGORITHM_SARSA, true, 0},    {AQ_ALGORITHM_EXPECTED_SARSA, true, 0},
    {AQ_ALGORITHM_TD3_BC, false, 0},  {AQ_ALGORITHM_IQL, false, 0},
    {AQ_ALGORITHM_IQL, true, 0},      {AQ_ALGORITHM_CQL, false, 0},
    {AQ_ALGORITHM_CQL, true, 0},      {AQ_ALGORITHM_R2D2, true, 0},
    {AQ_ALGORITHM_DSAC, false, 0},
};

static bool learns_table(const struct trained *of)
{
    return aq_algorithm_has(of->algorithm, AQ_LEARNS_A_TABLE);
}

/* Its rows are sequences, and as many as there are make a group. */
static bool learns_groups(const struct trained *of)
{
    return aq_algorithm_at(of->algorithm)->needs.update == AQ_UPDATES_BY_GROUP;
}

/* What each rank trains on, and what comes of it. */
typedef struct team {
    aq_run_config config;
    aq_schema schema;
    aq_batch *batches[STEPS]; /* the rows of all ranks, in their order */
    uint32_t bad_rank;        /* whose first row of step 1 has no number */
    aq_agent *agents[RANKS];
    int codes[RANKS][STEPS];
    uint64_t steps[RANKS][STEPS]; /* of gradients */
    uint64_t hashes[RANKS][STEPS];
    aq_error error;
} team;

static void take_schema(bool has_choices, aq_schema *schema)
{
    *schema = fixture_schema(INPUTS, CHOICES);
    if (!has_choices) {
        aq_space_init_box(&schema->action, ACTIONS, (const float[]){-1, -1}, (const float[]){1, 1});
    }
}

/* Of a table each rank sees states of its own, so that they learn as one. Sequences are of any
 * length, so that ranks have other numbers of steps. */
static void fill_sequences(aq_batch *batch, const struct trained *of, aq_rng *rng)
{
    enum { SEEN = INPUTS / RANKS };
    const uint32_t boundaries = batch->rows * (LENGTH + 1);
    for (uint32_t row = 0; row < batch->rows; row++) {
        batch->length[row] = 1 + (uint32_t)aq_rng_below(rng, LENGTH);
    }
    for (uint32_t i = 0; learns_table(of) && i < boundaries; i++) {
        const uint32_t rank = i / (LENGTH + 1) / ROWS;
        memset(fixture_obs(batch) + i * INPUTS, 0, INPUTS * sizeof(float));
        fixture_obs(batch)[i * INPUTS + rank * SEEN + aq_rng_below(rng, SEEN)] = 1;
    }
    for (uint32_t c = AQ_BATCH_RECORDED; c < batch->column_count; c += 2) {
        const aq_batch_column *column = &batch->columns[c];
        float *recorded = (float *)(void *)column->bytes;
        fill_range(recorded, batch->rows * aq_batch_column_bytes(column) / sizeof(float), -1.2,
                   -0.8, rng);
    }
}

static void fill(aq_batch *batch, const struct trained *of, aq_rng *rng)
{
    fixture_randomize(batch, CHOICES, rng);
    float *actions = (float *)(void *)batch->action;
    for (size_t i = 0; !of->has_choices && i < (size_t)batch->rows * batch->steps * ACTIONS; i++) {
        actions[i] = (float)aq_rng_range(rng, -1, 1);
    }
    if (aq_batch_has_sequences(batch)) {
        fill_sequences(batch, of, rng);
    }
}

static void drop_agents(void *user)
{
    team *t = user;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        aq_agent_destroy(t->agents[rank]);
        t->agents[rank] = NULL;
    }
}

static aq_run_config config_of(const struct trained *of)
{
    aq_run_config config = config_defaults();
    config.learner.algorithm = of->algorithm;
    config.learner.batch_size = ROWS;
    config.learner.gradient_clip = 0.05; /* which clips */
    config.learner.target_period = 4;
    config.learner.threads = 2;
    config.learner.normalize_obs = !learns_table(of);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    if (aq_algorithm_learns_from(of->algorithm) == AQ_LEARNS_FROM_SEQUENCES) {
        config.replay.sequence_length = config.replay.sequence_period = LENGTH;
        config.learner.learning_rate = learns_table(of) ? 0.3 : config.learner.learning_rate;
        (void)snprintf(config.task, sizeof(config.task), "so:chain?" AQ_ONE_HOT "=yes");
    }
    if (of->algorithm == AQ_ALGORITHM_R2D2) {
        assert_int_equal(aq_text_set(config.learner.torso, AQ_RUN_TEXT_MAX, "gru:4"), 0);
    }
    if (learns_groups(of)) {
        config.replay.selector = AQ_SELECTOR_QUEUE;
        config.learner.group_steps = (uint64_t)RANKS * ROWS * LENGTH;
        config.learner.epochs = 3;
        config.learner.minibatches = 1;
        config.learner.normalize_rewards = config.learner.recompute_advantages = true;
    }
    return config;
}

static team *make_team(const struct trained *of)
{
    static team made;
    aq_rng rng = rng_of(3, 0);
    drop_agents(&made);
    made = (team){.bad_rank = NOBODY};
    made.config = config_of(of);
    take_schema(of->has_choices, &made.schema);
    const char *const *columns = aq_algorithm_at(of->algorithm)->needs.columns;
    for (int step = 0; step < STEPS; step++) {
        made.batches[step] =
            fixture_remembered(&made.schema, columns, aq_torso_state(made.config.learner.torso),
                               (uint32_t)made.config.replay.sequence_length, RANKS * ROWS);
        fill(made.batches[step], of, &rng);
    }
    return &made;
}

static int make_agent(team *t, aq_gradient_exchange *exchange, aq_agent **ret_agent)
{
    const aq_algorithm_setup setup = {
        .config = &t->config,
        .schema = &t->schema,
        .sequence_length = (uint32_t)t->config.replay.sequence_length,
        .seed = 7,
        .exchange = exchange,
    };
    return aq_agent_create(aq_algorithm_at(t->config.learner.algorithm), &setup, ret_agent,
                           &t->error);
}

static uint64_t hash_of(aq_agent *agent)
{
    aq_named_arrays arrays;
    aq_agent_arrays(agent, &arrays);
    return aq_named_arrays_hash(&arrays);
}

static void act(void *user, aq_rank_link *link)
{
    team *t = user;
    const uint32_t rank = link->rank;
    aq_gradient_exchange *exchange = NULL;
    aq_agent *agent = NULL;
    int rc = aq_gradient_exchange_create(
        link, (enum aq_gradient_format)t->config.learner.gradient_format, &exchange);
    rc = rc == 0 ? make_agent(t, exchange, &agent) : rc;
    for (int step = 0; step < STEPS; step++) {
        aq_batch rows = aq_batch_slice(t->batches[step], rank * ROWS, ROWS);
        aq_update_report report = {.steps = 0};
        if (step == 1 && rank == t->bad_rank) {
            rows.reward[0] = NAN;
        }
        t->codes[rank][step] = rc != 0 ? rc : aq_agent_train(agent, &rows, &report);
        t->steps[rank][step] = report.steps;
        t->hashes[rank][step] = rc != 0 ? 0 : hash_of(agent);
    }
    t->agents[rank] = agent;
    aq_gradient_exchange_destroy(exchange);
}

static void run_team(team *t)
{
    crew_run(RANKS, 0, act, t);
    at_end(drop_agents, t);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        assert_memory_equal(t->codes[rank], t->codes[0], sizeof(t->codes[0]));
        assert_memory_equal(t->steps[rank], t->steps[0], sizeof(t->steps[0]));
        assert_memory_equal(t->hashes[rank], t->hashes[0], sizeof(t->hashes[0]));
    }
}

#define EACH(of)                                                                                   \
    for (const struct trained *of = trained;                                                       \
         (of) < trained + sizeof(trained) / sizeof(trained[0]); (of)++)

static double greatest_difference(const float *a, const float *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    }
    return most;
}

/* Sums are made in other orders, and Adam divides by what may be hardly there: all that may differ
 * is a thousandth of the way that Adam can go in so many steps. What trpo solves is had by
 * differences, which rounding shows in. */
TEST(ranks_learn_as_one_learner_does_from_all_of_their_rows)
{
    EACH(of)
    {
        team *t = make_team(of);
        aq_agent *alone = NULL;
        run_team(t);
        aq_run_config config = t->config;
        t->config.learner.batch_size = RANKS * ROWS;
        assert_int_equal(make_agent(t, NULL, &alone), 0);
        at_end((void (*)(void *))aq_agent_destroy, alone);
        for (int step = 0; step < STEPS; step++) {
            aq_update_report report;
            assert_int_equal(t->codes[0][step], 0);
            assert_int_equal(aq_agent_train(alone, t->batches[step], &report), 0);
        }
        const kept_state ours = agent_state(t->agents[0]), its = agent_state(alone);
        assert_int_equal(ours.adam_step, its.adam_step);
        assert_true(its.statistics == NULL || ours.statistics[0] == its.statistics[0]);
        const double bound =
            (of->bound > 0 ? of->bound : 1e-3) * STEPS * config.learner.learning_rate;
        const double far = greatest_difference(ours.parameters, its.parameters, its.count);
        if (!(far < bound)) {
            fail_msg("%s: %g, %g are possible", aq_algorithm_at(of->algorithm)->name, far, bound);
        }
        assert_true(greatest_difference(ours.target, its.target, its.target_count) < bound);
    }
}

TEST(rows_of_one_rank_that_have_no_number_are_a_step_of_none)
{
    EACH(of)
    {
        team *t = make_team(of);
        t->config.learner.normalize_obs = false;
        t->bad_rank = 1;
        run_team(t);
        for (int step = 0; step < STEPS; step++) {
            assert_int_equal(t->codes[0][step], step == 1 ? AQ_E_CORRUPT : 0);
        }
        assert_true(t->hashes[0][1] == t->hashes[0][0]);
        assert_true(t->hashes[0][2] != t->hashes[0][1]);
    }
}

static aq_agent *make_alone(team *t, aq_gradient_exchange *exchange)
{
    aq_agent *agent = NULL;
    assert_int_equal(make_agent(t, exchange, &agent), 0);
    at_end((void (*)(void *))aq_agent_destroy, agent);
    return agent;
}

/* The same rows again and again, whose gradients are much alike. */
TEST(a_lone_learner_tells_the_noise_of_its_gradients_and_keeps_its_bits)
{
    EACH(of)
    {
        team *t = make_team(of);
        aq_gradient_exchange *exchange = NULL;
        t->config.learner.batch_size = RANKS * ROWS;
        assert_int_equal(aq_gradient_exchange_create(NULL, AQ_GRADIENT_INT8, &exchange), 0);
        aq_agent *watched = make_alone(t, exchange), *plain = make_alone(t, NULL);
        for (int step = 0; step < AQ_NOISE_LOOK; step++) {
            aq_update_report report;
            assert_int_equal(aq_agent_train(watched, t->batches[0], &report), 0);
            assert_int_equal(aq_agent_train(plain, t->batches[0], &report), 0);
            assert_true(hash_of(watched) == hash_of(plain));
        }
        const double cosine = aq_gradient_exchange_noise(exchange).cosine;
        if (!learns_table(of) && !(cosine > 0.3)) {
            fail_msg("%s: a cosine of %g", aq_algorithm_at(of->algorithm)->name, cosine);
        }
        aq_gradient_exchange_destroy(exchange);
    }
}

TEST(formats_that_round_keep_the_ranks_the_same)
{
    EACH(of)
    {
        for (uint32_t format = AQ_GRADIENT_BF16; format <= AQ_GRADIENT_INT8; format++) {
            team *t = make_team(of);
            t->config.learner.gradient_format = format;
            run_team(t);
            assert_int_equal(t->codes[0][STEPS - 1], 0);
        }
    }
}

/* Minibatches of which one rank has hardly a step, and updates that the divergence ends, which is
 * of all steps. */
TEST(ranks_with_other_numbers_of_steps_take_the_same_steps)
{
    EACH(of)
    {
        if (!learns_groups(of)) {
            continue;
        }
        team *t = make_team(of);
        t->config.learner.minibatches = 8;
        t->config.learner.kl_max = 1e-4;
        for (int step = 0; step < STEPS; step++) {
            for (uint32_t row = 0; row < ROWS; row++) {
                t->batches[step]->length[row] = row == 0 ? 1 + (uint32_t)step : 0;
            }
            t->batches[step]->length[0] = step % LENGTH + 1;
        }
        run_team(t);
        for (int step = 0; step < STEPS; step++) {
            assert_int_equal(t->codes[0][step], 0);
        }
    }
}

/* Of one cell, which every rank moves: by the sum, or, where that would be more than all of the
 * way, to the mean of where they would have it. */
TEST(a_cell_that_several_ranks_move_goes_no_further_than_one_of_them_says)
{
    static const struct trained q = {AQ_ALGORITHM_Q, true, 0};
    static const struct {
        double rate, want;
    } rows[] = {{0.125, 0.125 * 6}, {1.0 / 3, 2}, {0.5, 2}, {1, 2}};
    EACH_ROW(i, rows) {
        team *t = make_team(&q);
        t->config.learner.learning_rate = rows[i].rate;
        for (int step = 0; step < STEPS; step++) {
            aq_batch *batch = t->batches[step];
            memset(batch->obs, 0, (size_t)batch->rows * (LENGTH + 1) * batch->obs_bytes);
            memset(batch->weight, 0, batch->rows * sizeof(float));
            for (uint32_t row = 0; row < batch->rows; row++) {
                const uint32_t at = row * LENGTH, rank = row / ROWS;
                batch->length[row] = 1;
                batch->weight[row] = row % ROWS == 0 && step == 0;
                batch->reward[at] = 1.0f + (float)rank;
                batch->bootstrap[at] = 0;
                fixture_set_action(batch, at, 0);
                for (uint32_t b = 0; b < 2; b++) {
                    fixture_obs(batch)[(row * (LENGTH + 1) + b) * INPUTS] = 1;
                }
            }
        }
        run_team(t);
        assert_near(agent_state(t->agents[0]).parameters[0], rows[i].want, 1e-5);
    }
}

TEST(more_rows_than_a_batch_can_have_are_refused_in_words)
{
    team *t = make_team(&trained[0]);
    aq_rank_link link = {.count = 2};
    aq_gradient_exchange *exchange = NULL;
    aq_agent *agent = NULL;
    assert_succeeds(aq_gradient_exchange_create(&link, AQ_GRADIENT_FP32, &exchange));
    t->config.learner.batch_size = 40000;
    assert_int_equal(make_agent(t, exchange, &agent), AQ_E_UNSUPPORTED);
    assert_non_null(strstr(t->error.text, "more than 65536 rows a step"));
    aq_gradient_exchange_destroy(exchange);
}

/*
 * Algorithms on several ranks: as one learner on all of their rows, step by step; the same bits on
 * all; and the same decisions, whoever's rows are the reason.
 */
#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"
#include "tests/unit/learner/rank_crew.h"

enum { INPUTS = 5, ACTIONS = 2, CHOICES = 3, ROWS = 6, RANKS = 3, STEPS = 12, NOBODY = 99 };

static const struct trained {
    enum aq_algorithm algorithm;
    bool has_choices;
} trained[] = {
    {AQ_ALGORITHM_DQN, true},   {AQ_ALGORITHM_C51, true},  {AQ_ALGORITHM_D4PG, false},
    {AQ_ALGORITHM_DDPG, false}, {AQ_ALGORITHM_TD3, false}, {AQ_ALGORITHM_SAC, false},
    {AQ_ALGORITHM_SAC, true},
};

/* What each rank trains on, and what comes of it. */
typedef struct team {
    aq_run_config config;
    aq_schema schema;
    aq_batch *batches[STEPS]; /* the rows of all ranks, in their order */
    uint32_t bad_rank;        /* whose first row of step 1 has no number */
    aq_agent *agents[RANKS];
    int codes[RANKS][STEPS];
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

static void fill(aq_batch *batch, bool has_choices, aq_rng *rng)
{
    fixture_randomize(batch, CHOICES, rng);
    float *actions = (float *)(void *)batch->action;
    for (size_t i = 0; !has_choices && i < (size_t)batch->rows * ACTIONS; i++) {
        actions[i] = (float)aq_rng_range(rng, -1, 1);
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

static team *make_team(const struct trained *of)
{
    static team made;
    aq_rng rng = rng_of(3, 0);
    drop_agents(&made);
    made = (team){.bad_rank = NOBODY};
    aq_settings_init(aq_run_config_table(), &made.config);
    made.config.learner.algorithm = of->algorithm;
    made.config.learner.batch_size = ROWS;
    made.config.learner.gradient_clip = 0.05; /* which clips */
    made.config.learner.target_period = 4;
    made.config.learner.threads = 2;
    made.config.learner.normalize_obs = true;
    assert_int_equal(aq_text_set(made.config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    take_schema(of->has_choices, &made.schema);
    for (int step = 0; step < STEPS; step++) {
        made.batches[step] = fixture_batch(&made.schema, RANKS * ROWS);
        fill(made.batches[step], of->has_choices, &rng);
    }
    return &made;
}

static int make_agent(team *t, aq_gradient_exchange *exchange, aq_agent **ret_agent)
{
    const aq_algorithm_setup setup = {
        .config = &t->config, .schema = &t->schema, .seed = 7, .exchange = exchange};
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
        aq_update_report report;
        if (step == 1 && rank == t->bad_rank) {
            rows.reward[0] = NAN;
        }
        t->codes[rank][step] = rc != 0 ? rc : aq_agent_train(agent, &rows, &report);
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
 * is a thousandth of the way that Adam can go in so many steps. */
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
        assert_true(ours.statistics[0] == its.statistics[0]);
        const double bound = 1e-3 * STEPS * config.learner.learning_rate;
        assert_true(greatest_difference(ours.parameters, its.parameters, its.count) < bound);
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

TEST(who_shares_no_gradients_is_refused_in_words)
{
    team *t = make_team(&trained[0]);
    t->config.learner.algorithm = AQ_ALGORITHM_PPO;
    t->config.replay.sequence_length = 8;
    aq_rank_link link = {.count = 2};
    aq_gradient_exchange *exchange = NULL;
    aq_agent *agent = NULL;
    assert_succeeds(aq_gradient_exchange_create(&link, AQ_GRADIENT_FP32, &exchange));
    assert_int_equal(make_agent(t, exchange, &agent), AQ_E_UNSUPPORTED);
    assert_string_equal(t->error.text, "ppo is not trained by several ranks: start one learner");
    t->config.learner.algorithm = AQ_ALGORITHM_DQN;
    t->config.learner.batch_size = 40000;
    assert_int_equal(make_agent(t, exchange, &agent), AQ_E_UNSUPPORTED);
    assert_non_null(strstr(t->error.text, "more than 65536 rows a step"));
    aq_gradient_exchange_destroy(exchange);
}

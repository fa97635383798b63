/*
 * Ranks that share networks: as one learner that has them to itself, update by update; the same
 * bits where all have the same; and checkpoints that go from any number of ranks to any other.
 */
#include <math.h>

#include "common/base/parse.h"
#include "learner/daemon/ranks.h"
#include "learner/nn/blas.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 5, ACTIONS = 2, CHOICES = 3, ROWS = 6, UPDATES = 20, NOBODY = 99 };

static const struct trained {
    enum aq_algorithm algorithm;
    bool has_choices;
    const char *hidden; /* NULL: plain layers */
} trained[] = {
    {AQ_ALGORITHM_DQN, true, NULL},     {AQ_ALGORITHM_C51, true, NULL},
    {AQ_ALGORITHM_D4PG, false, NULL},   {AQ_ALGORITHM_DDPG, false, NULL},
    {AQ_ALGORITHM_TD3, false, NULL},    {AQ_ALGORITHM_SAC, false, NULL},
    {AQ_ALGORITHM_SAC, true, NULL},     {AQ_ALGORITHM_SAC, false, "simba:48x2"},
    {AQ_ALGORITHM_TD3_BC, false, NULL}, {AQ_ALGORITHM_IQL, false, NULL},
    {AQ_ALGORITHM_CQL, false, NULL},    {AQ_ALGORITHM_DSAC, false, NULL},
    {AQ_ALGORITHM_RAINBOW, true, NULL},
};

/* How many ranks, and how many of them share a network. */
static const struct sharing {
    uint32_t ranks, sharing;
} sharings[] = {{2, 2}, {3, 3}, {4, 2}};

typedef struct team {
    aq_run_config config;
    aq_schema schema;
    struct sharing how;
    aq_batch *batches[UPDATES]; /* the rows of all groups, in their order */
    uint32_t bad_group;         /* whose first row of update 1 has no number */
    const aq_named_arrays *resumed;
    int updates;
    unsigned lost_at;
    int begun[CREW_MAX], codes[CREW_MAX][UPDATES], kept_code;
    int64_t patience_ms[CREW_MAX]; /* that was set last */
    uint64_t hashes[CREW_MAX][UPDATES];
    size_t parameters[CREW_MAX];
    aq_error errors[CREW_MAX];
    aq_named_arrays kept;
    bool has_policy, policy_is_kept;
} team;

static team made;

static void drop_kept(void *user)
{
    team *t = user;
    aq_named_arrays_fini(&t->kept);
}

static team *make_team(const struct trained *of, const struct sharing *how)
{
    aq_rng rng = rng_of(3, 0);
    drop_kept(&made);
    made = (team){.how = *how, .bad_group = NOBODY, .updates = (int)test_rounds(UPDATES)};
    at_end(drop_kept, &made);
    aq_run_config *config = &made.config;
    aq_settings_init(aq_run_config_table(), config);
    config->learner.algorithm = of->algorithm;
    config->learner.batch_size = ROWS;
    config->learner.gradient_clip = 0.05; /* which clips */
    config->learner.target_period = 4;
    config->learner.normalize_obs = true;
    config->learner.norm_first = true;
    config->learner.model_ranks = how->sharing;
    const char *hidden = of->hidden != NULL ? of->hidden : "16,192,24";
    const char *critic_hidden = of->hidden != NULL ? of->hidden : "192,16";
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, hidden), 0);
    assert_int_equal(aq_text_set(config->learner.critic_hidden, AQ_RUN_TEXT_MAX, critic_hidden), 0);
    made.schema = fixture_schema(INPUTS, CHOICES);
    if (!of->has_choices) {
        aq_space_init_box(&made.schema.action, ACTIONS, (const float[]){-1, -1},
                          (const float[]){1, 1});
    }
    for (int update = 0; update < UPDATES; update++) {
        aq_batch *batch = made.batches[update] =
            fixture_batch(&made.schema, how->ranks / how->sharing * ROWS);
        float *actions = (float *)(void *)batch->action;
        fixture_randomize(batch, CHOICES, &rng);
        for (size_t i = 0; !of->has_choices && i < (size_t)batch->rows * ACTIONS; i++) {
            actions[i] = (float)aq_rng_range(&rng, -1, 1);
        }
    }
    return &made;
}

static int make_agent(team *t, const aq_ranks *ranks, aq_agent **ret_agent, aq_error *error)
{
    const aq_algorithm_setup setup = {.config = &t->config,
                                      .schema = &t->schema,
                                      .seed = 7,
                                      .exchange = ranks->exchange,
                                      .model = ranks->model};
    aq_blas_set_threads(1); /* as learners do whose algorithms have threads of their own */
    return aq_agent_create(aq_algorithm_at(t->config.learner.algorithm), &setup, ret_agent, error);
}

/* Followers begin with other rows than they should train on. */
static int update(team *t, const aq_ranks *ranks, aq_agent *agent, uint32_t rank, int number)
{
    const uint32_t group = rank / t->how.sharing;
    aq_batch rows = aq_batch_slice(t->batches[number], group * ROWS, ROWS);
    aq_batch *mine = NULL;
    aq_update_report report;
    aq_layout layout;
    aq_error ignored;
    int rc = aq_layout_init(&t->schema, 1, 2, &layout, &ignored);
    rc = rc == 0 ? aq_batch_create(&layout, 0, ROWS, &mine) : rc;
    if (rc == 0 && aq_model_group_rank(ranks->model) == 0) {
        mine->rows = ROWS;
        for (uint32_t c = 0; c < rows.column_count; c++) {
            const size_t bytes = ROWS * aq_batch_column_bytes(&rows.columns[c]);
            if (bytes > 0) { /* else it may be nowhere */
                memcpy(mine->columns[c].bytes, rows.columns[c].bytes, bytes);
            }
        }
        if (number == 1 && group == t->bad_group) {
            mine->reward[0] = NAN;
        }
    }
    rc = rc == 0 ? aq_model_group_share_rows(ranks->model, mine) : rc;
    rc = rc == 0 ? aq_agent_train(agent, mine, &report) : rc;
    aq_batch_destroy(mine);
    return rc;
}

static void keep(team *t, aq_ranks *ranks, aq_agent *agent)
{
    const uint32_t rank = ranks->link->rank;
    aq_named_arrays own, whole;
    aq_agent_arrays(agent, &own);
    aq_agent_whole(agent, &whole);
    t->parameters[rank] = aq_named_arrays_find(&own, "parameters")->count;
    const aq_params *policy = rank < t->how.sharing ? aq_agent_policy(agent) : NULL;
    int rc = rank == 0 ? aq_named_arrays_like(&whole, &t->kept) : 0;
    rc = rc == 0 ? aq_ranks_keep(ranks, agent, true, &t->kept) : rc;
    if (rank == 0) {
        t->kept_code = rc;
        t->has_policy = policy != NULL;
        t->policy_is_kept =
            policy != NULL && !t->config.learner.normalize_obs &&
            memcmp(policy->block, aq_named_arrays_find(&t->kept, "parameters")->values,
                   policy->count * sizeof(float)) == 0;
    }
}

static void note_patience(aq_rank_link *link, int64_t patience_ms)
{
    made.patience_ms[link->rank] = patience_ms;
}

static void act(void *user, aq_rank_link *link)
{
    team *t = user;
    const uint32_t rank = link->rank;
    link->set_patience = note_patience;
    aq_error *error = &t->errors[rank];
    aq_ranks ranks = {0};
    aq_agent *agent = NULL;
    int rc = aq_ranks_make(link, &t->config, &ranks, error);
    rc = rc == 0 ? make_agent(t, &ranks, &agent, error) : rc;
    rc = rc == 0 && rank == 0 && t->resumed != NULL ? aq_agent_restore(agent, t->resumed, error)
                                                    : rc;
    ranks.link = link;
    t->begun[rank] = aq_ranks_begin(&ranks, agent, rc, rank == 0 ? t->resumed : NULL, 1000, error);
    for (int number = 0; t->begun[rank] == 0 && number < t->updates; number++) {
        t->codes[rank][number] = update(t, &ranks, agent, rank, number);
        t->hashes[rank][number] = aq_agent_hash(agent);
    }
    if (t->begun[rank] == 0) {
        keep(t, &ranks, agent);
    }
    aq_agent_destroy(agent);
    aq_ranks_fini(&ranks);
}

/* All go the same way, bit by bit. */
static void run_team(team *t)
{
    crew_run(t->how.ranks, t->lost_at, act, t);
    for (uint32_t rank = 0; rank < t->how.ranks; rank++) {
        assert_string_equal(t->errors[rank].text, "");
        assert_int_equal(t->begun[rank], 0);
        assert_memory_equal(t->codes[rank], t->codes[0], sizeof(t->codes[0]));
        assert_memory_equal(t->hashes[rank], t->hashes[0], sizeof(t->hashes[0]));
    }
    assert_int_equal(t->kept_code, 0);
}

/* One that has the networks to itself, and the rows of all groups. */
static aq_agent *lone_agent(team *t)
{
    const aq_ranks nobody = {0};
    aq_agent *agent = NULL;
    aq_run_config config = t->config;
    t->config.learner.batch_size = t->how.ranks / t->how.sharing * ROWS;
    assert_succeeds(make_agent(t, &nobody, &agent, &refusal));
    t->config = config;
    at_end((void (*)(void *))aq_agent_destroy, agent);
    return agent;
}

static double greatest_difference(const aq_named_arrays *a, const aq_named_arrays *b,
                                  const char *name)
{
    const aq_named_array *one = aq_named_arrays_find(a, name),
                         *other = aq_named_arrays_find(b, name);
    const float *x = one->values, *y = other->values;
    double most = 0;
    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < one->count; i++) {
        most = fmax(most, fabs((double)x[i] - (double)y[i]));
    }
    return most;
}

/* Sums are made in another order, and Adam divides by what may be hardly there: all that may differ
 * is a thousandth of the way that Adam can go in so many steps. */
static void compare(team *t, aq_agent *alone)
{
    const double bound = 1e-3 * t->updates * t->config.learner.learning_rate;
    aq_named_arrays its;
    aq_agent_arrays(alone, &its);
    assert_succeeds(aq_named_arrays_check_same(&its, &t->kept, &refusal));
    assert_true(greatest_difference(&t->kept, &its, "parameters") < bound);
    assert_true(greatest_difference(&t->kept, &its, "target") < bound);
    assert_memory_equal(aq_named_arrays_find(&its, "adam_step")->values,
                        aq_named_arrays_find(&t->kept, "adam_step")->values, sizeof(uint64_t));
}

TEST(ranks_that_share_networks_learn_as_one_that_has_them_to_itself)
{
    for (size_t k = 0; k < sizeof(sharings) / sizeof(sharings[0]); k++) {
        EACH_ROW(i, trained) {
            team *t = make_team(&trained[i], &sharings[k]);
            run_team(t);
            aq_agent *alone = lone_agent(t);
            for (int number = 0; number < t->updates; number++) {
                aq_update_report report;
                assert_int_equal(t->codes[0][number], 0);
                assert_int_equal(aq_agent_train(alone, t->batches[number], &report), 0);
            }
            compare(t, alone);
            aq_named_arrays its;
            aq_agent_arrays(alone, &its);
            assert_true(t->has_policy);
            assert_true(t->parameters[0] < aq_named_arrays_find(&its, "parameters")->count);
        }
    }
}

TEST(a_checkpoint_is_taken_up_by_any_number_of_ranks_bit_by_bit)
{
    EACH_ROW(i, trained) {
        team *t = make_team(&trained[i], &sharings[0]);
        run_team(t);
        aq_named_arrays first = t->kept;
        t->kept.count = 0;
        const uint64_t hash = aq_named_arrays_hash(&first);
        for (size_t k = 0; k < sizeof(sharings) / sizeof(sharings[0]); k++) {
            t = make_team(&trained[i], &sharings[k]);
            t->resumed = &first;
            t->updates = 0;
            run_team(t);
            assert_true(aq_named_arrays_hash(&t->kept) == hash);
        }
        aq_named_arrays its;
        aq_agent *alone = lone_agent(t);
        assert_succeeds(aq_agent_restore(alone, &first, &refusal));
        aq_agent_arrays(alone, &its);
        assert_true(aq_named_arrays_hash(&its) == hash);
        aq_named_arrays_fini(&first);
    }
}

/* It may have a checkpoint to write first; by then the others have come. */
TEST(rank_0_is_waited_for_longest_before_the_last_checkpoint)
{
    team *t = make_team(&trained[0], &sharings[2]);
    t->updates = 0;
    run_team(t);
    assert_int_equal(t->patience_ms[0], 20000);
    assert_int_equal(t->patience_ms[1], 600000);
    assert_int_equal(t->patience_ms[2], 1000); /* it has nothing to bring */
}

TEST(the_policy_is_that_of_the_checkpoint)
{
    EACH_ROW(i, trained) {
        team *t = make_team(&trained[i], &sharings[2]);
        t->config.learner.normalize_obs = false;
        run_team(t);
        assert_true(t->policy_is_kept);
    }
}

TEST(rows_without_a_number_in_one_group_are_a_step_of_none)
{
    for (uint32_t format = AQ_GRADIENT_FP32; format <= AQ_GRADIENT_BF16; format++) {
        EACH_ROW(i, trained) {
            team *t = make_team(&trained[i], &sharings[2]);
            t->config.learner.gradient_format = format;
            t->config.learner.normalize_obs = false;
            t->bad_group = 1;
            run_team(t);
            for (int number = 0; number < t->updates; number++) {
                assert_int_equal(t->codes[0][number], number == 1 ? AQ_E_CORRUPT : 0);
            }
            assert_true(t->hashes[0][1] == t->hashes[0][0]);
            assert_true(t->hashes[0][2] != t->hashes[0][1]);
        }
    }
}

TEST(nothing_is_learned_or_kept_without_a_rank_that_is_lost)
{
    team *t = make_team(&trained[2], &sharings[0]);
    t->config.learner.normalize_obs = false;
    t->updates = UPDATES;
    t->lost_at = 300;
    crew_run(t->how.ranks, t->lost_at, act, t);
    int number = 0;
    while (number < UPDATES && t->codes[0][number] == 0) {
        number++;
    }
    assert_in_range(number, 1, UPDATES - 1);
    assert_int_equal(t->codes[0][number], AQ_E_PEER);
    assert_int_equal(t->kept_code, AQ_E_PEER);
    assert_false(t->has_policy);
}

static void want_threads(aq_run_config *config)
{
    config->learner.threads = 2;
}

static void want_levels(aq_run_config *config)
{
    config->learner.qat_bits = 8;
}

static void want_pacing(aq_run_config *config)
{
    config->replay.selector = AQ_SELECTOR_QUEUE;
    (void)snprintf(config->learner.lag_max, sizeof(config->learner.lag_max), "2");
}

static void want_int8(aq_run_config *config)
{
    config->learner.gradient_format = AQ_GRADIENT_INT8;
}

static void want_three(aq_run_config *config)
{
    config->learner.model_ranks = 3;
}

static void want_narrow(aq_run_config *config)
{
    (void)snprintf(config->learner.hidden, sizeof(config->learner.hidden), "64,64");
}

static void want_ppo(aq_run_config *config)
{
    config->learner.algorithm = AQ_ALGORITHM_PPO;
    config->replay.sequence_length = 8;
}

TEST(what_ranks_cannot_share_is_refused_in_words)
{
    static const struct {
        size_t trained, sharing;
        void (*want)(aq_run_config *config);
        const char *words;
    } rows[] = {
        {2, 0, want_threads, "have one thread each: learner.threads has to be 1"},
        {0, 0, want_pacing, "learner.lag_max is not for networks that ranks share"},
        {0, 0, want_levels, "learner.qat_bits is not for networks that ranks share"},
        {0, 2, want_int8, "learner.gradient_format int8 is not for networks that ranks share"},
        {0, 2, want_three, "learner.model_ranks is 3, and the learner has 4 rank(s)"},
        {0, 0, want_narrow, "nothing of 5-64-normt-64r-3 can be shared"},
        {0, 0, want_ppo, "learner.model_ranks has to be 1"},
    };
    EACH_ROW(i, rows) {
        team *t = make_team(&trained[rows[i].trained], &sharings[rows[i].sharing]);
        rows[i].want(&t->config);
        crew_run(t->how.ranks, 0, act, t);
        for (uint32_t rank = 0; rank < t->how.ranks; rank++) {
            assert_int_not_equal(t->begun[rank], 0);
            assert_says(t->errors[rank].text, rows[i].words);
        }
    }
}

/*
 * Tables: what one step changes, that they come to what dynamic programming says, that actors
 * choose the same in every format, and what is refused.
 *
 * The task is a chain of five states. Going right from the last one ends with 1, going left from
 * the first one with 0.1; nothing else is rewarded.
 */
#include "common/nn/forward.h"
#include "common/policy/head.h"
#include "common/sys/cpu.h"
#include "quantizer/engine/engine.h"
#include "quantizer/quantize/quantize.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { STATES = 5, ACTIONS = 2, RIGHT = 1, LENGTH = 6, ROWS = 16, UPDATES = 3000 };
enum { CELLS = STATES * ACTIONS };

static const double discount = 0.9, epsilon = 0.2;

extern const aq_algorithm_class aq_q_class, aq_sarsa_class, aq_expected_sarsa_class;
static const aq_algorithm_class *const classes[] = {&aq_q_class, &aq_sarsa_class,
                                                    &aq_expected_sarsa_class};

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *batch;
    aq_rng rng;
} stand;

static aq_run_config config_of(void)
{
    aq_run_config config = config_defaults();
    (void)snprintf(config.task, sizeof(config.task), "so:chain?" AQ_ONE_HOT "=yes");
    config.learner.batch_size = ROWS;
    config.learner.learning_rate = 0.5;
    config.replay.sequence_length = LENGTH;
    config.actor.epsilon_base = epsilon;
    config.actor.epsilon_alpha = 0;
    return config;
}

static stand make(const aq_algorithm_class *class)
{
    stand all = {
        .config = config_of(), .schema = fixture_schema(STATES, ACTIONS), .rng = rng_of(3, 0)};
    all.agent = agent_of(class, &all.config, &all.schema, 1);
    all.batch = fixture_sequences(&all.schema, LENGTH, ROWS);
    return all;
}

static float value_at(const stand *all, int state, int action)
{
    return agent_state(all->agent).parameters[action * STATES + state];
}

/* ---- the chain ------------------------------------------------------------------------------ */

/* Where an action leads, and its reward; STATES behind an end. */
static int moved(int state, int action, double *ret_reward)
{
    const int next = state + (action == RIGHT ? 1 : -1);
    *ret_reward = next < 0 ? 0.1 : next == STATES ? 1 : 0;
    return next < 0 ? STATES : next;
}

/* A policy that acts at random with that chance, and else greedily by `values`. */
static double value_under(const double *values, double chance)
{
    return chance * 0.5 * (values[0] + values[1]) + (1 - chance) * fmax(values[0], values[1]);
}

/* The values of the best policy among those that act at random with that chance. */
static void solve(double chance, double values[CELLS])
{
    memset(values, 0, CELLS * sizeof(*values));
    for (int sweep = 0; sweep < 200; sweep++) {
        for (int i = 0; i < CELLS; i++) {
            double reward;
            const int next = moved(i / ACTIONS, i % ACTIONS, &reward);
            values[i] =
                reward +
                (next == STATES ? 0 : discount * value_under(values + next * ACTIONS, chance));
        }
    }
}

static void put_state(stand *all, uint32_t row, uint32_t t, int state)
{
    fixture_obs(all->batch)[((size_t)row * (LENGTH + 1) + t) * STATES + (size_t)state] = 1;
}

/* An episode from a state of chance, acted by the table as it is, with the chance of a random
 * action. The state behind the end is the last one. */
static void draw_sequence(stand *all, uint32_t row, double chance)
{
    int at = (int)aq_rng_below(&all->rng, STATES), next = at;
    all->batch->length[row] = 0;
    all->batch->weight[row] = 1;
    put_state(all, row, 0, at);
    for (uint32_t t = 0; t < LENGTH && next != STATES; t++, at = next) {
        const bool is_random = aq_rng_uniform(&all->rng) < chance;
        const int action = is_random ? (int)aq_rng_below(&all->rng, ACTIONS)
                                     : value_at(all, at, RIGHT) > value_at(all, at, 0);
        double reward;
        next = moved(at, action, &reward);
        const uint32_t step = row * LENGTH + t;
        fixture_set_action(all->batch, step, action);
        all->batch->reward[step] = (float)reward;
        all->batch->bootstrap[step] = next == STATES ? 0.0f : (float)discount;
        all->batch->length[row]++;
        put_state(all, row, t + 1, next == STATES ? at : next);
    }
}

static void draw_batch(stand *all, double chance)
{
    memset(all->batch->obs, 0, (size_t)ROWS * (LENGTH + 1) * all->batch->obs_bytes);
    for (uint32_t row = 0; row < ROWS; row++) {
        draw_sequence(all, row, chance);
    }
}

static void check_values(const stand *all, double chance)
{
    double want[CELLS];
    solve(chance, want);
    for (int i = 0; i < CELLS; i++) {
        assert_near(value_at(all, i / ACTIONS, i % ACTIONS), want[i], 0.02);
    }
}

/* Q-learning from random actions alone; the others under the policy that they learn. */
TEST(the_values_are_those_of_dynamic_programming)
{
    for (size_t i = 0; i < 3; i++) {
        stand all = make(classes[i]);
        for (int n = 0; n < UPDATES; n++) {
            aq_agent_set_rates(all.agent, fmax(0.002, 0.5 / (1 + 0.1 * n)), 0);
            draw_batch(&all, classes[i] == &aq_q_class ? 1 : epsilon);
            agent_train(all.agent, all.batch);
        }
        check_values(&all, classes[i] == &aq_q_class ? 0 : epsilon);
    }
}

/* ---- one step ------------------------------------------------------------------------------- */

/* State 1, right, 0.25, state 2, left, state 1: two steps that go on, under values that differ. */
static void put_two_steps(stand *all)
{
    const float q[CELLS] = {0, 0.5f, 0.25f, 0, 0, 0, -0.5f, 1, 0, 0}; /* (actions, states) */
    memset(all->batch->obs, 0, (size_t)(LENGTH + 1) * all->batch->obs_bytes);
    memcpy(agent_state(all->agent).parameters, q, sizeof(q));
    all->batch->rows = 1;
    all->batch->length[0] = 2;
    all->batch->weight[0] = 1;
    for (uint32_t t = 0; t < 2; t++) {
        fixture_set_action(all->batch, t, t == 0 ? RIGHT : 0);
        all->batch->reward[t] = t == 0 ? 0.25f : 0;
        all->batch->bootstrap[t] = (float)discount;
        put_state(all, 0, t, t == 0 ? 1 : 2);
    }
    put_state(all, 0, 2, 1);
}

/* The second step comes first, and the first one then learns from what it made of state 2. */
TEST(a_step_moves_the_cell_it_visited_by_its_error)
{
    static const struct {
        double behind;    /* V of state 1 */
        bool learns_last; /* whether the step has one */
    } rows[] = {{0.5, true}, {0, false}, {0.2 * 0 + 0.8 * 0.5, true}};
    for (size_t i = 0; i < 3; i++) {
        stand all = make(classes[i]);
        put_two_steps(&all);
        const aq_update_report report = agent_train(all.agent, all.batch);
        const double second =
            rows[i].learns_last ? 0.25 + 0.5 * (discount * rows[i].behind - 0.25) : 0.25;
        const double best = 1, mean = 0.5 * (second + 1);
        const double next = classes[i] == &aq_q_class       ? best
                            : classes[i] == &aq_sarsa_class ? second
                                                            : epsilon * mean + (1 - epsilon) * best;
        assert_near(value_at(&all, 2, 0), second, 1e-6);
        assert_near(value_at(&all, 1, RIGHT), -0.5 + 0.5 * (0.25 + discount * next + 0.5), 1e-6);
        assert_near(value_at(&all, 1, 0), 0.5, 0);
        assert_near(value_at(&all, 2, RIGHT), 1, 0);
        const double first_error = 0.25 + discount * next + 0.5, last_error = 2 * (second - 0.25);
        const int learned = rows[i].learns_last ? 2 : 1;
        assert_near(report.metrics[AQ_VALUE_MEAN], (rows[i].learns_last ? -0.25 : -0.5) / learned,
                    1e-6);
        assert_near(report.metrics[AQ_VALUE_LOSS],
                    0.5 * (first_error * first_error + last_error * last_error) / learned, 1e-6);
        assert_near(all.batch->priority[0], (fabs(first_error) + fabs(last_error)) / learned, 1e-6);
    }
}

/* What comes behind its only step is not in it. */
TEST(a_sequence_that_teaches_nothing_has_no_priority)
{
    stand all = make(&aq_sarsa_class);
    put_two_steps(&all);
    all.batch->length[0] = 1;
    (void)agent_train(all.agent, all.batch);
    assert_near(all.batch->priority[0], 0, 0);
    assert_near(value_at(&all, 1, RIGHT), -0.5, 0);
}

TEST(no_weight_moves_a_cell_beyond_what_it_should_have_been)
{
    stand all = make(&aq_q_class);
    put_two_steps(&all);
    all.batch->weight[0] = 9;
    (void)agent_train(all.agent, all.batch);
    assert_near(value_at(&all, 2, 0), discount * 0.5, 1e-6);
}

TEST(a_reward_reaches_the_beginning_of_a_sequence_at_once)
{
    stand all = make(&aq_q_class);
    aq_agent_set_rates(all.agent, 1, 0);
    memset(all.batch->obs, 0, (size_t)(LENGTH + 1) * all.batch->obs_bytes);
    all.batch->rows = 1;
    all.batch->length[0] = STATES;
    all.batch->weight[0] = 1;
    for (uint32_t t = 0; t < STATES; t++) {
        const bool is_end = t == STATES - 1;
        fixture_set_action(all.batch, t, RIGHT);
        all.batch->reward[t] = is_end;
        all.batch->bootstrap[t] = is_end ? 0.0f : (float)discount;
        put_state(&all, 0, t, (int)t);
    }
    put_state(&all, 0, STATES, STATES - 1);
    (void)agent_train(all.agent, all.batch);
    assert_near(value_at(&all, 0, RIGHT), pow(discount, STATES - 1), 1e-6);
}

TEST(expected_sarsa_expects_what_actors_do_now)
{
    stand all = make(&aq_expected_sarsa_class);
    aq_agent_set_exploration(all.agent, 0, 1);
    put_two_steps(&all);
    (void)agent_train(all.agent, all.batch);
    assert_near(value_at(&all, 2, 0), 0.25 + 0.5 * (discount * 0.5 * (0.5 - 0.5) - 0.25), 1e-6);
}

/* ---- what is published ---------------------------------------------------------------------- */

enum { WIDE_STATES = 24, WIDE_ACTIONS = 3 };

/* What is chosen in each state under the parameters, in a format. */
static void choose_in(aq_agent *agent, const aq_schema *schema, const aq_params *params,
                      enum aq_format format, uint32_t *choices)
{
    const aq_quantize_plan plan = {.format = format};
    const aq_quantize_meta meta = {
        .run_id = 1, .version = 1, .task = "so:wide", .schema = schema, .head = AQ_HEAD_ARGMAX};
    float obs[WIDE_STATES * WIDE_STATES] = {0}, out[WIDE_STATES * WIDE_ACTIONS];
    aq_snapshot *snapshot;
    aq_engine *engine;
    for (size_t s = 0; s < WIDE_STATES; s++) {
        obs[s * WIDE_STATES + s] = 1;
    }
    assert_succeeds(aq_quantize(aq_agent_spec(agent), params, &plan, &meta, &snapshot, &refusal));
    assert_succeeds(aq_engine_create(snapshot, WIDE_STATES, aq_cpu_flags(), &engine, &refusal));
    aq_engine_forward(engine, obs, WIDE_STATES, out);
    for (size_t s = 0; s < WIDE_STATES; s++) {
        choices[s] = aq_argmax(out + s * WIDE_ACTIONS, WIDE_ACTIONS);
    }
    aq_engine_destroy(engine);
    aq_snapshot_unref(snapshot);
}

/* Values of a table that nothing has trained; of two actions that are as good everywhere, and one
 * that is worse; of one size in most states, with actions that differ by a thousandth, and a cliff
 * in one. */
enum stage { UNTRAINED, TIED, TRAINED, STAGES };

static float value_in(enum stage stage, size_t i, aq_rng *rng)
{
    switch (stage) {
    case TIED:
        return i / WIDE_STATES < 2 ? 1.0f : 0.0f;
    case TRAINED:
        return i % WIDE_STATES == 0 ? -100 : -10 + 0.001f * (float)aq_rng_below(rng, 9);
    default:
        return 0.0f;
    }
}

/* Of the trained values themselves int8 loses many choices. */
TEST(actors_choose_in_every_format_as_in_fp32)
{
    static const enum aq_format formats[] = {AQ_FORMAT_F32,          AQ_FORMAT_BF16,
                                             AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_TENSOR,
                                             AQ_FORMAT_INT4,         AQ_FORMAT_INT2};
    aq_run_config config = config_of();
    const aq_schema schema = fixture_schema(WIDE_STATES, WIDE_ACTIONS);
    aq_agent *agent = agent_of(&aq_q_class, &config, &schema, 1);
    float *values = agent_state(agent).parameters;
    aq_rng rng = rng_of(4, 0);
    uint32_t exact[WIDE_STATES], chosen[WIDE_STATES], lost = 0;
    for (int stage = 0; stage < STAGES; stage++) {
        for (size_t i = 0; i < WIDE_STATES * WIDE_ACTIONS; i++) {
            values[i] = value_in((enum stage)stage, i, &rng);
        }
        const aq_params raw = aq_params_view(aq_agent_spec(agent), values);
        choose_in(agent, &schema, &raw, AQ_FORMAT_F32, exact);
        EACH_ROW(i, formats) {
            choose_in(agent, &schema, aq_agent_policy(agent), formats[i], chosen);
            assert_memory_equal(chosen, exact, sizeof(exact));
        }
        if (stage == TRAINED) {
            choose_in(agent, &schema, &raw, AQ_FORMAT_INT8_CHANNEL, chosen);
        }
    }
    for (size_t s = 0; s < WIDE_STATES; s++) {
        lost += chosen[s] != exact[s];
    }
    assert_true(lost > WIDE_STATES / 4);
}

/* ---- as every algorithm --------------------------------------------------------------------- */

static void train(stand *all, int updates)
{
    for (int i = 0; i < updates; i++) {
        draw_batch(all, 0.5);
        agent_train(all->agent, all->batch);
    }
}

TEST(the_same_updates_give_the_same_bits_on_every_rung)
{
    stand a = make(&aq_expected_sarsa_class);
    train(&a, 50);
    aq_cpu_set_mask(0);
    stand b = make(&aq_expected_sarsa_class);
    train(&b, 50);
    aq_cpu_set_mask(UINT32_MAX);
    agent_assert_same(a.agent, b.agent);
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    for (size_t i = 0; i < 3; i++) {
        stand a = make(classes[i]), b = make(classes[i]);
        train(&a, 7);
        train(&b, 2);
        const kept_copy middle = agent_copy(a.agent);
        agent_take_up(b.agent, &middle);
        b.rng = a.rng;
        train(&a, 7);
        train(&b, 7);
        agent_assert_same(a.agent, b.agent);
    }
}

TEST(states_can_be_seen_in_bytes)
{
    stand floats = make(&aq_q_class), bytes = floats;
    bytes.schema.obs.dtype = AQ_DTYPE_U8;
    bytes.agent = agent_of(&aq_q_class, &bytes.config, &bytes.schema, 1);
    bytes.batch = fixture_sequences(&bytes.schema, LENGTH, ROWS);
    draw_batch(&floats, 1);
    for (size_t i = 0; i < (size_t)ROWS * (LENGTH + 1) * STATES; i++) {
        bytes.batch->obs[i] = fixture_obs(floats.batch)[i] > 0 ? UINT8_MAX : 0;
    }
    for (size_t i = AQ_BATCH_ACTION; i <= AQ_BATCH_LENGTH; i++) {
        const aq_batch_column *from = &floats.batch->columns[i];
        memcpy(bytes.batch->columns[i].bytes, from->bytes, ROWS * aq_batch_column_bytes(from));
    }
    agent_train(floats.agent, floats.batch);
    agent_train(bytes.agent, bytes.batch);
    agent_assert_same(floats.agent, bytes.agent);
}

static void check_refused(stand *all)
{
    aq_update_report report = {0};
    const kept_copy before = agent_copy(all->agent);
    assert_int_equal(aq_agent_train(all->agent, all->batch, &report), AQ_E_CORRUPT);
    agent_assert_as(all->agent, &before);
    train(all, 1);
}

TEST(what_cannot_be_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e20f};
    const uint32_t last = (ROWS - 1) * LENGTH;
    stand all = make(&aq_sarsa_class);
    train(&all, 3);
    EACH_ROW(i, bad) {
        all.batch->reward[last] = bad[i];
        check_refused(&all);
        all.batch->weight[ROWS - 1] = bad[i];
        check_refused(&all);
        all.batch->bootstrap[last] = bad[i];
        check_refused(&all);
        fixture_obs(all.batch)[(ROWS - 1) * (LENGTH + 1) * STATES] = bad[i];
        check_refused(&all);
    }
    fixture_set_action(all.batch, last, ACTIONS);
    check_refused(&all);
    fixture_set_action(all.batch, last, -1);
    check_refused(&all);
    memset(all.batch->obs, 0, all.batch->obs_bytes); /* no state */
    check_refused(&all);
    fixture_obs(all.batch)[0] = fixture_obs(all.batch)[1] = 1; /* two */
    check_refused(&all);
}

TEST(training_allocates_nothing_and_create_survives_its_failures)
{
    stand all = make(&aq_sarsa_class);
    aq_agent *made;
    const uint64_t before = aq_memory_allocation_count();
    train(&all, 20);
    (void)aq_agent_policy(all.agent);
    assert_int_equal(aq_memory_allocation_count(), before);
    assert_made_despite_failures(made,
                                 agent_try(&aq_q_class, &all.config, &all.schema, 7, &made, NULL));
    aq_agent_destroy(made);
    aq_agent_destroy(NULL);
}

static void check_task_refused(const aq_run_config *config, const aq_schema *schema,
                               const char *words)
{
    aq_agent *agent = NULL;
    assert_refused(agent_try(&aq_q_class, config, schema, 1, &agent, &refusal), AQ_E_UNSUPPORTED,
                   words);
    assert_null(agent);
}

TEST(tasks_that_are_not_for_it_are_refused_in_words)
{
    aq_run_config config = config_of();
    aq_schema schema = fixture_schema(4, 2);
    config.learner.qat_bits = 4;
    check_task_refused(&config, &schema, "qat_bits=0 works");
    config.learner.qat_bits = 0;
    schema.action = schema.obs;
    check_task_refused(&config, &schema, "discrete actions");
    schema = fixture_schema(4, 2);
    (void)snprintf(config.task, sizeof(config.task), "gym:CartPole-v1");
    check_task_refused(&config, &schema, "table of discrete states");
}

/*
 * Policies that keep a state: what actors did is found again by going through their sequences, and
 * what was seen once is remembered.
 *
 * The problem: the first observation is -1 or 1 and the others are 0. From the second step on the
 * right choice is that of the first observation's sign.
 */
#include "common/base/parse.h"
#include "common/config/run_rules.h"
#include "common/experience/column_catalog.h"
#include "common/nn/forward.h"
#include "common/policy/draw_source.h"
#include "common/policy/head.h"
#include "learner/algorithms/on_policy/on_policy.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ROWS = 32, STEPS = 5, WIDTH = 8, SCRATCH = 1024 };

extern const aq_algorithm_class aq_ppo_class;

typedef struct memory_stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *group;
    aq_rng rng;
    uint64_t drawn;
    uint32_t right; /* of the last group's choices */
} memory_stand;

static void memory_stand_setup(memory_stand *all)
{
    const float low[] = {-1}, high[] = {1};
    aq_layout layout;
    aq_column log_prob, state;
    aq_settings_init(aq_run_config_table(), &all->config);
    assert_int_equal(aq_text_set(all->config.learner.hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    assert_int_equal(aq_text_set(all->config.learner.torso, AQ_RUN_TEXT_MAX, "gru:8"), 0);
    all->config.learner.activation = 2; /* tanh, see the table's choices */
    all->config.learner.learning_rate = 0.02;
    all->config.learner.group_steps = ROWS * STEPS;
    all->config.learner.epochs = 4;
    all->config.learner.minibatches = 2;
    all->config.replay.selector = AQ_SELECTOR_QUEUE;
    all->config.replay.sequence_length = STEPS;
    all->config.replay.sequence_period = STEPS;
    all->rng = rng_of(5, 1);
    aq_space_init_box(&all->schema.obs, 1, low, high);
    aq_space_init_discrete(&all->schema.action, 2);
    all->agent = agent_of(&aq_ppo_class, &all->config, &all->schema, 7);
    assert_int_equal(aq_column_find("log_prob", &all->schema, &log_prob), 0);
    assert_int_equal(aq_column_find(AQ_STATE_COLUMN, &all->schema, &state), 0);
    state.bytes = WIDTH * sizeof(float);
    assert_int_equal(aq_layout_init(&all->schema, 1, STEPS, &layout, NULL), 0);
    assert_int_equal(aq_layout_record(&layout, &log_prob, 1, NULL), 0);
    assert_int_equal(aq_layout_record(&layout, &state, 1, NULL), 0);
    assert_int_equal(aq_batch_create(&layout, STEPS, ROWS, &all->group), 0);
    all->group->rows = ROWS;
}

static void memory_stand_teardown(memory_stand *all)
{
    aq_batch_destroy(all->group);
}

/* An episode from a state of its own, as an actor would go through it. */
static void fill_row(memory_stand *all, uint32_t row)
{
    aq_batch *group = all->group;
    const aq_net_spec *spec = aq_agent_spec(all->agent);
    const aq_head_terms terms = {
        .head = aq_head_of(AQ_HEAD_CATEGORICAL), .action = &all->schema.action, .width = 2};
    float *log_prob = (float *)(void *)group->columns[AQ_BATCH_RECORDED].bytes;
    float *states = (float *)(void *)group->columns[AQ_BATCH_RECORDED + 2].bytes;
    float state[WIDTH], scratch[SCRATCH], outputs[2], noise[1];
    const bool sign = aq_rng_below(&all->rng, 2) == 1;
    assert_true(aq_forward_scratch(spec, 1) <= SCRATCH);
    group->length[row] = 2 + row % (STEPS - 1);
    group->weight[row] = 1;
    fill_range(state, WIDTH, -0.1, 0.1, &all->rng);
    for (uint32_t t = 0; t < group->length[row]; t++) {
        const size_t place = (size_t)row * STEPS + t, boundary = place + row;
        float *obs = (float *)(void *)group->obs + boundary;
        int32_t *choice = (int32_t *)(void *)(group->action + place * group->action_bytes);
        *obs = t > 0 ? 0.0f : sign ? 1.0f : -1.0f;
        memcpy(states + boundary * WIDTH, state, sizeof(state));
        aq_forward_step(spec, aq_agent_policy(all->agent), obs, state, 1, scratch, outputs);
        const aq_draw_at at = {.key = 9, .draw = all->drawn++, .lane = row, .octaves = 1};
        aq_draw_noise(terms.head->drawing, &at, 1, noise);
        log_prob[place] = terms.head->drawing->draw(&terms, outputs, noise, choice, NULL);
        group->reward[place] = t > 0 && *choice == sign ? 1.0f : 0.0f;
        group->bootstrap[place] = t + 1 == group->length[row] ? 0.0f : 0.5f;
        group->version[place] = 1;
        all->right += t > 0 && *choice == sign;
    }
    memcpy(states + ((size_t)row * (STEPS + 1) + group->length[row]) * WIDTH, state, sizeof(state));
}

static aq_update_report update(memory_stand *all)
{
    all->right = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        fill_row(all, row);
    }
    return agent_train(all->agent, all->group);
}

TEST_IN(memory_stand, all, what_actors_drew_is_found_again_through_their_sequences)
{
    for (int i = 0; i < 3; i++) {
        const aq_update_report report = update(all);
        assert_true(fabs(report.metrics[AQ_ON_POLICY_ACTOR_K1]) < 1e-6);
        assert_true(report.metrics[AQ_ON_POLICY_ACTOR_K3] < 1e-10);
    }
}

TEST_IN(memory_stand, all, what_was_seen_once_is_remembered)
{
    uint32_t choices = 0;
    for (int i = 0; i < 60; i++) {
        (void)update(all);
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        choices += all->group->length[row] - 1;
    }
    assert_true(all->right > 0.9 * choices);
}

TEST(a_memory_is_for_algorithms_that_train_one)
{
    aq_schema schema;
    aq_run_config config;
    const float low[] = {-1}, high[] = {1};
    memset(&schema, 0, sizeof(schema));
    aq_settings_init(aq_run_config_table(), &config);
    aq_space_init_box(&schema.obs, 1, low, high);
    aq_space_init_discrete(&schema.action, 2);
    assert_int_equal(aq_text_set(config.learner.torso, AQ_RUN_TEXT_MAX, "gru:8"), 0);
    config.learner.algorithm = AQ_ALGORITHM_DQN;
    assert_refused(aq_run_rules_check_task(&config, &schema, &refusal), AQ_E_UNSUPPORTED,
                   "and dqn trains none that does");
    config.learner.algorithm = AQ_ALGORITHM_PPO;
    assert_succeeds(aq_run_rules_check_task(&config, &schema, &refusal));
    config.actor.gradients = true;
    assert_refused(aq_run_rules_check_task(&config, &schema, &refusal), AQ_E_UNSUPPORTED,
                   "actor.gradients=false works");
}

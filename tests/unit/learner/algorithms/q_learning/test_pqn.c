/*
 * PQN: it finds the right choice where that is known, goes on from what it keeps with the same
 * bits, and refuses what it cannot learn from. That its numbers and gradients are right is
 * in test_golden_steps.c, against autograd.
 *
 * The problem: an observation x of two numbers. Choice 1 is right where x[0] > 0, choice 0
 * elsewhere; what is right earns 1, and each step leads to another x by chance.
 */
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "common/policy/head.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 2, CHOICES = 2, ROWS = 16, STEPS = 4, GROUP = ROWS * STEPS, SCRATCH = 4096 };

extern const aq_algorithm_class aq_pqn_class;

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *group;
    aq_rng rng;
} stand;

static aq_run_config config_of(void)
{
    aq_run_config config = config_defaults();
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    config.learner.norm = true;
    config.learner.learning_rate = 0.01;
    config.learner.group_steps = GROUP;
    config.learner.epochs = 3;
    config.learner.minibatches = 2;
    config.replay.selector = AQ_SELECTOR_QUEUE;
    config.replay.sequence_length = STEPS;
    config.replay.sequence_period = STEPS;
    return config;
}

static stand make(const aq_run_config *config)
{
    stand s = {.config = *config, .rng = rng_of(5, 0)};
    s.schema = fixture_schema(INPUTS, CHOICES);
    s.agent = agent_of(&aq_pqn_class, &s.config, &s.schema, 7);
    s.group = fixture_recorded(&s.schema, NULL, STEPS, ROWS);
    return s;
}

static void fill(stand *s)
{
    fixture_randomize(s->group, CHOICES, &s->rng);
    const float *obs = fixture_obs(s->group);
    for (uint32_t i = 0; i < GROUP; i++) {
        const uint32_t row = i / STEPS, t = i % STEPS;
        const int32_t action = (int32_t)aq_rng_below(&s->rng, CHOICES);
        fixture_set_action(s->group, i, action);
        const float x = obs[((size_t)row * (STEPS + 1) + t) * INPUTS];
        s->group->reward[i] = action == (x > 0) ? 1.0f : 0.0f;
        s->group->bootstrap[i] = t == STEPS - 1 && row % 2 == 0 ? 0.0f : 0.5f;
        s->group->length[row] = STEPS;
    }
}

static void train(stand *s, int updates)
{
    for (int i = 0; i < updates; i++) {
        fill(s);
        const aq_update_report report = agent_train(s->agent, s->group);
        assert_int_equal(report.steps, 6);
    }
}

/* The share of observations for which the greedy choice is right. */
static double right_share(stand *s)
{
    enum { ASKED = 400 };
    static float scratch[SCRATCH];
    int right = 0;
    for (int i = 0; i < ASKED; i++) {
        float q[CHOICES];
        const float obs[INPUTS] = {(float)aq_rng_range(&s->rng, -1, 1),
                                   (float)aq_rng_range(&s->rng, -1, 1)};
        aq_forward_reference(aq_agent_spec(s->agent), aq_agent_policy(s->agent), obs, 1, scratch,
                             q);
        right += aq_argmax(q, CHOICES) == (obs[0] > 0);
    }
    return (double)right / ASKED;
}

TEST(it_finds_the_right_choices)
{
    const aq_run_config config = config_of();
    stand s = make(&config);
    train(&s, 150);
    assert_true(right_share(&s) > 0.95);
}

TEST(a_restored_one_goes_on_with_the_same_bits)
{
    const aq_run_config config = config_of();
    stand a = make(&config), b = make(&config);
    aq_named_arrays own, kept;
    train(&a, 5);
    aq_agent_arrays(a.agent, &own);
    assert_int_equal(aq_named_arrays_like(&own, &kept), 0);
    aq_named_arrays_copy(&own, &kept);
    assert_succeeds(aq_agent_restore(b.agent, &kept, &refusal));
    aq_named_arrays_fini(&kept);
    b.rng = a.rng;
    train(&a, 3);
    train(&b, 3);
    agent_assert_same(a.agent, b.agent);
}

TEST(what_it_cannot_learn_from_changes_nothing)
{
    const int32_t wrong[] = {-1, CHOICES, INT32_MIN, INT32_MAX};
    const aq_run_config config = config_of();
    stand s = make(&config);
    aq_update_report report;
    train(&s, 1);
    const kept_copy before = agent_copy(s.agent);
    EACH_ROW(i, wrong) {
        fill(&s);
        fixture_set_action(s.group, GROUP - 1, wrong[i]);
        assert_int_equal(aq_agent_train(s.agent, s.group, &report), AQ_E_CORRUPT);
    }
    fill(&s);
    for (uint32_t i = 0; i < GROUP; i++) {
        s.group->reward[i] = NAN;
    }
    assert_int_equal(aq_agent_train(s.agent, s.group, &report), AQ_E_CORRUPT);
    agent_assert_as(s.agent, &before);
}

/* The last sequence of a group may be longer than what was missing. */
TEST(a_group_may_be_longer_or_shorter_than_was_asked_for)
{
    aq_run_config config = config_of();
    config.learner.minibatches = 3;
    stand s = make(&config);
    s.group = fixture_recorded(&s.schema, NULL, STEPS, ROWS + 1);
    fill(&s);
    s.group->length[ROWS - 1] = STEPS - 1;
    s.group->length[ROWS] = STEPS;
    assert_int_equal(agent_train(s.agent, s.group).steps, 9);
    s.group->rows = 1;
    s.group->length[0] = 1; /* which is one minibatch */
    assert_int_equal(agent_train(s.agent, s.group).steps, 3);
}

TEST(quantization_aware_training_is_refused)
{
    aq_run_config config = config_of();
    const aq_schema schema = fixture_schema(INPUTS, CHOICES);
    aq_agent *agent = NULL;
    config.learner.qat_bits = 8;
    assert_refused(agent_try(&aq_pqn_class, &config, &schema, 1, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "qat_bits=0");
}

TEST(create_survives_the_failure_of_each_allocation)
{
    const aq_run_config config = config_of();
    const aq_schema schema = fixture_schema(INPUTS, CHOICES);
    aq_agent *agent;
    assert_made_despite_failures(agent,
                                 agent_try(&aq_pqn_class, &config, &schema, 1, &agent, NULL));
    aq_agent_destroy(agent);
}

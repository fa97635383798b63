/*
 * Step sizes that change while an algorithm trains, of every algorithm there is.
 */
#include "common/base/parse.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ACTION_ELEMENTS = 2, STEPS = 3, LENGTH = 4 };

typedef struct fixture {
    aq_agent *algorithm;
    aq_batch *batch;
} fixture;

/* Actions within every bound there is: the first choice, or the middle. */
static fixture make(size_t index)
{
    const float low[] = {-1, -1}, high[] = {1, 1};
    const aq_algorithm_class *class = aq_algorithm_at(index);
    aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_run_config config = config_defaults();
    config.learner.batch_size = FIXTURE_ROWS;
    config.learner.policy_delay = 1;
    const bool is_table = aq_algorithm_has((enum aq_algorithm)index, AQ_LEARNS_A_TABLE);
    (void)snprintf(config.task, sizeof(config.task), "gym:Any-v1%s",
                   is_table ? "?one_hot=yes" : "");
    const bool has_sequences =
        aq_algorithm_learns_from((enum aq_algorithm)index) == AQ_LEARNS_FROM_SEQUENCES;
    config.replay.sequence_length = has_sequences ? LENGTH : 0;
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    if (!aq_algorithm_takes((enum aq_algorithm)index, &schema.action)) {
        aq_space_init_box(&schema.action, ACTION_ELEMENTS, low, high);
    }
    const fixture f = {.algorithm = agent_of(class, &config, &schema, 1),
                       .batch =
                           fixture_sequences(&schema, has_sequences ? LENGTH : 0, FIXTURE_ROWS)};
    aq_rng rng = rng_of(2, 0);
    fixture_randomize(f.batch, 1, &rng);
    if (is_table) {
        fixture_show_states(f.batch, FIXTURE_INPUTS, &rng);
    }
    return f;
}

/* Takes steps under these rates; whether the `count` parameters from `first` on stayed. */
static bool stay(const fixture *f, double rate, double critic_rate, size_t first, size_t count)
{
    const kept_copy before = agent_copy(f->algorithm);
    aq_agent_set_rates(f->algorithm, rate, critic_rate);
    for (int i = 0; i < STEPS; i++) {
        agent_train(f->algorithm, f->batch);
    }
    const float *now = agent_state(f->algorithm).parameters;
    for (size_t i = first; i < first + count; i++) {
        if (now[i] != before.state.parameters[i]) { /* a step of nothing makes 0 of -0 */
            return false;
        }
    }
    return true;
}

/* But on-policy ones, which want to know what was drawn: see on_policy/test_on_policy.c. */
#define EACH_BUT_ON_POLICY(i)                                                                      \
    for (size_t i = 0; i < aq_algorithm_count(); i++)                                              \
        if (!draws(i) || !aq_algorithm_has((enum aq_algorithm)(i), AQ_LEARNS_ONCE))

static bool draws(size_t index)
{
    return aq_algorithm_has((enum aq_algorithm)index, AQ_DRAWS_ACTIONS);
}

TEST(without_a_rate_nothing_moves)
{
    EACH_BUT_ON_POLICY(i)
    {
        const fixture f = make(i);
        const size_t count = agent_state(f.algorithm).count;
        assert_true(stay(&f, 0, 0, 0, count));
        assert_false(stay(&f, 0.001, 0, 0, count));
    }
}

/* The last parameter of those that draw is their temperature, which goes at the policy's. */
TEST(policy_and_critic_have_rates_of_their_own)
{
    EACH_BUT_ON_POLICY(i)
    {
        const fixture f = make(i), g = make(i);
        const size_t of_policy = aq_agent_policy(f.algorithm)->count;
        const kept_state kept = agent_state(f.algorithm);
        const bool has_more = kept.adam_count == kept.count; /* than what it acts by */
        const size_t last = kept.count - (draws(i) ? 1 : 0);
        const size_t of_critic = has_more ? last - of_policy : 0;
        assert_true(stay(&f, 0, 0.001, 0, of_policy));
        assert_true(of_critic == 0 || !stay(&g, 0, 0.001, of_policy, of_critic));
        assert_true(stay(&f, 0, 0.001, last, kept.count - last));
        assert_true(!draws(i) || !stay(&f, 0.001, 0, last, 1));
    }
}

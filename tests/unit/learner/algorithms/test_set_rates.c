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
    return memcmp(agent_state(f->algorithm).parameters + first, before.state.parameters + first,
                  count * sizeof(float)) == 0;
}

/* Those that draw are in on_policy/test_on_policy.c: they want to know what was drawn. */
#define EACH_GREEDY(i)                                                                             \
    for (size_t i = 0; i < aq_algorithm_count(); i++)                                              \
        if (!aq_algorithm_has((enum aq_algorithm)(i), AQ_DRAWS_ACTIONS))

TEST(without_a_rate_nothing_moves)
{
    EACH_GREEDY(i)
    {
        const fixture f = make(i);
        const size_t count = agent_state(f.algorithm).count;
        assert_true(stay(&f, 0, 0, 0, count));
        assert_false(stay(&f, 0.001, 0, 0, count));
    }
}

TEST(policy_and_critic_have_rates_of_their_own)
{
    EACH_GREEDY(i)
    {
        const fixture f = make(i), g = make(i);
        const size_t of_policy = aq_agent_policy(f.algorithm)->count;
        const kept_state kept = agent_state(f.algorithm);
        const bool has_more = kept.adam_count == kept.count; /* than what it acts by */
        const size_t of_critic = has_more ? kept.count - of_policy : 0;
        assert_true(stay(&f, 0, 0.001, 0, of_policy));
        assert_true(of_critic == 0 || !stay(&g, 0, 0.001, of_policy, of_critic));
    }
}

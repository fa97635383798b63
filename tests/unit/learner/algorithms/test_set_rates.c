/*
 * Step sizes that change while an algorithm trains, of every algorithm there is.
 */
#include <string.h>

#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ACTION_ELEMENTS = 2, PARAMETERS_MAX = 16384, STEPS = 3, LENGTH = 4 };

typedef struct fixture {
    aq_run_config config;
    aq_schema schema;
    const aq_algorithm_class *class;
    aq_agent *algorithm;
    aq_batch *batch;
} fixture;

/* Actions within every bound there is: the first choice, or the middle. */
static void init(fixture *f, size_t index)
{
    const float low[] = {-1, -1}, high[] = {1, 1};
    aq_rng rng;

    memset(f, 0, sizeof(*f));
    aq_settings_init(aq_run_config_table(), &f->config);
    f->config.learner.algorithm = (uint32_t)index;
    f->config.learner.batch_size = FIXTURE_ROWS;
    f->config.learner.policy_delay = 1;
    const bool has_sequences =
        aq_algorithm_learns_from((enum aq_algorithm)index) == AQ_LEARNS_FROM_SEQUENCES;
    f->config.replay.sequence_length = has_sequences ? LENGTH : 0;
    assert_int_equal(aq_text_set(f->config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &f->schema);
    f->class = aq_algorithm_at(index);
    if (f->class->head == AQ_HEAD_TANH_BOX) {
        aq_space_init_box(&f->schema.action, ACTION_ELEMENTS, low, high);
    }
    assert_int_equal(agent_try(f->class, &f->config, &f->schema, 1, &f->algorithm, NULL), 0);
    f->batch = has_sequences ? fixture_sequences(&f->schema, LENGTH, FIXTURE_ROWS)
                             : fixture_batch(&f->schema, FIXTURE_ROWS);
    aq_rng_init(&rng, 2, 0);
    fixture_randomize(f->batch, 1, &rng);
}

static void fini(fixture *f)
{
    aq_agent_destroy(f->algorithm);
    aq_batch_destroy(f->batch);
}

/* Steps under these rates; into ret_before what the parameters were. */
static kept_state train(fixture *f, double rate, double critic_rate, float *ret_before)
{
    kept_state state;
    aq_update_report stats;

    state = agent_state(f->algorithm);
    assert_true(state.count <= PARAMETERS_MAX);
    memcpy(ret_before, state.parameters, state.count * sizeof(float));
    aq_agent_set_rates(f->algorithm, rate, critic_rate);
    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), 0);
    }
    state = agent_state(f->algorithm);
    return state;
}

static bool is_same(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof(float)) == 0;
}

TEST(without_a_rate_nothing_moves)
{
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        static float before[PARAMETERS_MAX];
        fixture f;

        init(&f, i);
        kept_state s = train(&f, 0, 0, before);
        assert_true(is_same(s.parameters, before, s.count));
        s = train(&f, 0.001, 0, before);
        assert_false(is_same(s.parameters, before, s.count));
        fini(&f);
    }
}

TEST(policy_and_critic_have_rates_of_their_own)
{
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        static float before[PARAMETERS_MAX];
        fixture f;

        init(&f, i);
        const size_t of_policy = aq_agent_policy(f.algorithm)->count;
        kept_state s = train(&f, 0, 0.001, before);
        assert_true(is_same(s.parameters, before, of_policy));
        if (s.count > of_policy) {
            assert_false(
                is_same(s.parameters + of_policy, before + of_policy, s.count - of_policy));
        }
        fini(&f);
    }
}

/*
 * Training with products in bf16: what it has in common with training in fp32. That it learns is
 * in q_learning/test_dqn_chain.c.
 */
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/nn/products.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ROWS = 64, STEPS = 10, LENGTH = 8 /* of sequences */ };

extern const aq_algorithm_class aq_trpo_class;

static aq_run_config config_of(const char *hidden, uint32_t products, uint64_t threads)
{
    aq_run_config config = fixture_config();
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, hidden), 0);
    config.learner.batch_size = ROWS;
    config.learner.products = products;
    config.learner.threads = threads;
    return config;
}

static aq_agent *agent_with(const char *hidden, uint32_t products, uint64_t threads)
{
    const aq_run_config config = config_of(hidden, products, threads);
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    return agent_of(&aq_dqn_class, &config, &schema, 1);
}

static aq_agent *agent_in(uint32_t products, uint64_t threads)
{
    return agent_with("64,70", products, threads);
}

static void train(aq_agent *agent, uint64_t seed)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_rng rng = rng_of(seed, 0);
    for (int step = 0; step < STEPS; step++) {
        fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
        agent_train(agent, batch);
    }
}

TEST(any_number_of_threads_gives_the_same_bits)
{
    static const char *const hidden[] = {"64,70", "simba:32x2"};
    EACH_ROW(i, hidden) {
        aq_agent *one = agent_with(hidden[i], AQ_PRODUCTS_BF16, 1);
        aq_agent *three = agent_with(hidden[i], AQ_PRODUCTS_BF16, 3);
        train(one, 1);
        train(three, 1);
        agent_assert_same(one, three);
    }
}

/* A checkpoint has nothing of the format in it. */
TEST(what_was_trained_in_one_format_goes_on_in_the_other)
{
    aq_agent *bf16 = agent_in(AQ_PRODUCTS_BF16, 1), *fp32 = agent_in(AQ_PRODUCTS_FP32, 1);
    train(bf16, 1);
    const kept_copy middle = agent_copy(bf16);
    agent_take_up(fp32, &middle);
    agent_assert_same(bf16, fp32);
    train(bf16, 2);
    train(fp32, 2);
    const kept_state a = agent_state(bf16), b = agent_state(fp32);
    double off = 0, length = 0;
    for (size_t i = 0; i < a.count; i++) {
        off += pow((double)a.parameters[i] - (double)b.parameters[i], 2);
        length += pow((double)b.parameters[i] - (double)middle.state.parameters[i], 2);
    }
    assert_true(length > 0);
    assert_true(sqrt(off) < 0.1 * sqrt(length));
    assert_true((off > 0) == aq_products_has_bf16());
    const kept_copy end = agent_copy(fp32);
    agent_take_up(bf16, &end);
    agent_assert_same(bf16, fp32);
}

TEST(a_processor_without_bf16_computes_as_in_fp32)
{
    aq_cpu_set_mask(~(uint32_t)(AQ_CPU_AVX512_BF16 | AQ_CPU_AMX));
    aq_agent *bf16 = agent_in(AQ_PRODUCTS_BF16, 1), *fp32 = agent_in(AQ_PRODUCTS_FP32, 1);
    train(bf16, 1);
    train(fp32, 1);
    aq_cpu_set_mask(UINT32_MAX);
    agent_assert_same(bf16, fp32);
}

/* With values whose layers are too narrow to be rounded. */
static aq_agent *trpo_in(uint32_t products)
{
    static const char *const settings[CONFIG_SETTINGS_MAX] = {
        "learner.hidden=64,64",  "learner.critic_hidden=8",  "learner.group_steps=512",
        "replay.selector=queue", "replay.sequence_length=8", "replay.sequence_period=8"};
    aq_run_config config = config_with(settings);
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    config.learner.products = products;
    return agent_of(&aq_trpo_class, &config, &schema, 1);
}

/* Its curvature is a difference of gradients, at parameters that bf16 does not tell apart. */
TEST(trpo_improves_its_policy_in_fp32)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_agent *bf16 = trpo_in(AQ_PRODUCTS_BF16), *fp32 = trpo_in(AQ_PRODUCTS_FP32);
    aq_batch *group = fixture_recorded(&schema, aq_trpo_class.needs.columns, LENGTH, ROWS);
    float *log_prob = fixture_column(group, "log_prob");
    const kept_copy before = agent_copy(fp32);
    aq_rng rng = rng_of(1, 0);
    fixture_randomize(group, FIXTURE_ACTIONS, &rng);
    for (int i = 0; i < ROWS * LENGTH; i++) {
        log_prob[i] = logf(1.0f / FIXTURE_ACTIONS);
    }
    agent_train(bf16, group);
    agent_train(fp32, group);
    assert_memory_not_equal(agent_state(fp32).parameters, before.state.parameters,
                            aq_agent_policy(fp32)->count * sizeof(float));
    agent_assert_same(bf16, fp32);
}

TEST(training_in_bf16_allocates_nothing)
{
    aq_agent *agent = agent_in(AQ_PRODUCTS_BF16, 2);
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_rng rng = rng_of(1, 0);
    fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
    const uint64_t before = aq_memory_allocation_count();
    agent_train(agent, batch);
    assert_int_equal(aq_memory_allocation_count(), before);
}

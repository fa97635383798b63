/*
 * DQN with quantization-aware training, dueling heads and norms: when quantization begins, what is
 * published, and that a resumed one goes on with the same bits.
 */
#include "common/sys/cpu.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/passes.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { DELAY = 5 };

typedef struct fixture {
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} fixture;

static aq_run_config config_of(uint64_t bits, uint64_t delay)
{
    aq_run_config config = fixture_config();
    config.learner.qat_bits = bits;
    config.learner.qat_delay = delay;
    config.learner.norm = true;
    config.learner.dueling = true;
    return config;
}

static fixture make(uint64_t bits, uint64_t delay)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    const aq_run_config config = config_of(bits, delay);
    return (fixture){.algorithm = agent_of(&aq_dqn_class, &config, &schema, 1),
                     .batch = fixture_batch(&schema, FIXTURE_ROWS),
                     .rng = rng_of(2, 0)};
}

static kept_state state_of(const fixture *f)
{
    return agent_state(f->algorithm);
}

static double train(fixture *f, int steps)
{
    aq_update_report stats = {0};
    for (int i = 0; i < steps; i++) {
        fixture_randomize(f->batch, FIXTURE_ACTIONS, &f->rng);
        stats = agent_train(f->algorithm, f->batch);
    }
    return stats.metrics[METRIC_LOSS];
}

TEST(the_network_is_what_the_settings_say)
{
    char text[96];
    const fixture f = make(0, 0);
    assert_string_equal(aq_net_spec_text(aq_agent_spec(f.algorithm), text, sizeof(text)),
                        "4-16-normr-12-normr-4-dueling3");
}

TEST(training_is_in_fp32_until_the_delay_is_over)
{
    fixture plain = make(0, 0), f = make(3, DELAY);
    for (int step = 0; step < DELAY; step++) {
        assert_ptr_equal(aq_agent_policy(f.algorithm)->block, state_of(&f).parameters);
        train(&plain, 1);
        train(&f, 1);
        agent_assert_same(plain.algorithm, f.algorithm);
    }
    assert_true(train(&plain, 1) != train(&f, 1));
}

TEST(the_policy_is_what_the_levels_stand_for)
{
    const aq_fake_quant quant = {.bits = 3, .format = AQ_FORMAT_INT8_CHANNEL};
    aq_params real, want;
    fixture f = make(3, DELAY);
    train(&f, DELAY + 2);
    const kept_state s = state_of(&f);
    assert_int_equal(aq_params_init(aq_agent_spec(f.algorithm), &real), 0);
    assert_int_equal(aq_params_init(aq_agent_spec(f.algorithm), &want), 0);
    memcpy(real.block, s.parameters, s.count * sizeof(float));
    aq_fake_quant_params(&quant, aq_agent_spec(f.algorithm), &real, &want);
    fixture_assert_same(aq_agent_policy(f.algorithm)->block, want.block, want.count);
    /* The real weights stay what they were. */
    fixture_assert_same(s.parameters, real.block, real.count);
    assert_memory_not_equal(want.block, real.block, real.count * sizeof(float));
    aq_params_fini(&want);
    aq_params_fini(&real);
}

TEST(without_a_delay_the_first_policy_is_quantized)
{
    const fixture f = make(8, 0);
    assert_ptr_not_equal(aq_agent_policy(f.algorithm)->block, state_of(&f).parameters);
}

/* From before the delay's end, at it, and from after it. */
TEST(a_resumed_one_goes_on_with_the_same_bits)
{
    for (int steps = DELAY - 2; steps <= DELAY + 2; steps++) {
        fixture a = make(2, DELAY), b = make(2, DELAY);
        train(&a, steps);
        train(&b, DELAY + 3); /* something else to be overwritten */
        const kept_copy middle = agent_copy(a.algorithm);
        agent_take_up(b.algorithm, &middle);
        b.rng = a.rng;
        train(&a, 7);
        train(&b, 7);
        agent_assert_same(a.algorithm, b.algorithm);
        fixture_assert_same(aq_agent_policy(a.algorithm)->block,
                            aq_agent_policy(b.algorithm)->block, state_of(&a).count);
    }
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    aq_update_report stats;
    fixture f = make(4, 0);
    train(&f, 3);
    const kept_copy before = agent_copy(f.algorithm);
    EACH_ROW(i, bad) {
        fixture_randomize(f.batch, FIXTURE_ACTIONS, &f.rng);
        fixture_obs(f.batch)[5] = bad[i];
        assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), AQ_E_CORRUPT);
        fixture_randomize(f.batch, FIXTURE_ACTIONS, &f.rng);
        fixture_next_obs(f.batch)[5] = bad[i]; /* row 1, which is not terminal */
        assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), AQ_E_CORRUPT);
    }
    agent_assert_as(f.algorithm, &before);
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    fixture best = make(4, 2);
    train(&best, 20);
    for (size_t i = 0; aq_passes_rung(i) != NULL; i++) {
        aq_cpu_set_mask(aq_passes_rung(i)->cpu_flags);
        fixture f = make(4, 2);
        train(&f, 20);
        aq_cpu_set_mask(UINT32_MAX);
        agent_assert_same(best.algorithm, f.algorithm);
    }
}

TEST(quantized_training_allocates_nothing)
{
    fixture f = make(4, 3);
    const uint64_t before = aq_memory_allocation_count();
    train(&f, 10);
    assert_non_null(aq_agent_policy(f.algorithm));
    assert_int_equal(aq_memory_allocation_count(), before);
}

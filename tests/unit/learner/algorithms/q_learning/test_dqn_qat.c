/*
 * DQN with quantization-aware training, dueling heads and norms: when quantization begins, what is
 * published, and that a resumed one goes on with the same bits.
 */
#include <stdio.h>
#include <string.h>

#include <math.h>

#include "common/base/memory.h"
#include "common/sys/cpu.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/passes.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { DELAY = 5, PARAMETERS_MAX = 1024 };

typedef struct fixture {
    aq_run_config config;
    aq_schema schema;
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} fixture;

typedef struct copy {
    float arrays[4][PARAMETERS_MAX];
    uint64_t adam_step;
} copy;

static void init(fixture *f, uint64_t bits, uint64_t delay)
{
    memset(f, 0, sizeof(*f));
    fixture_config(&f->config);
    f->config.learner.qat_bits = bits;
    f->config.learner.qat_delay = delay;
    f->config.learner.norm = true;
    f->config.learner.dueling = true;
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &f->schema);
    f->algorithm = fixture_algorithm(&f->config, &f->schema, 1);
    f->batch = fixture_batch(&f->schema, FIXTURE_ROWS);
    aq_rng_init(&f->rng, 2, 0);
}

static void fini(fixture *f)
{
    aq_agent_destroy(f->algorithm);
    aq_batch_destroy(f->batch);
}

static kept_state state_of(const fixture *f)
{
    kept_state state;

    state = agent_state(f->algorithm);
    assert_true(state.count <= PARAMETERS_MAX);
    return state;
}

static double train(fixture *f, int steps)
{
    aq_update_report stats = {0};

    for (int i = 0; i < steps; i++) {
        fixture_randomize(f->batch, FIXTURE_ACTIONS, &f->rng);
        assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), 0);
    }
    return stats.metrics[METRIC_LOSS];
}

static copy copy_of(const fixture *f)
{
    kept_state state = state_of(f);
    const size_t bytes = state.count * sizeof(float);
    copy out;

    memset(&out, 0, sizeof(out));
    memcpy(out.arrays[0], state.parameters, bytes);
    memcpy(out.arrays[1], state.target, bytes);
    memcpy(out.arrays[2], state.adam_m, bytes);
    memcpy(out.arrays[3], state.adam_v, bytes);
    out.adam_step = state.adam_step;
    return out;
}

static void resume(fixture *f, const copy *from)
{
    kept_state state = state_of(f);
    const size_t bytes = state.count * sizeof(float);

    memcpy(state.parameters, from->arrays[0], bytes);
    memcpy(state.target, from->arrays[1], bytes);
    memcpy(state.adam_m, from->arrays[2], bytes);
    memcpy(state.adam_v, from->arrays[3], bytes);
    agent_resume_at(f->algorithm, from->adam_step);
}

static void assert_equal_state(const fixture *a, const fixture *b)
{
    static copy left, right;

    left = copy_of(a);
    right = copy_of(b);
    assert_memory_equal(&left, &right, sizeof(left));
}

TEST(the_network_is_what_the_settings_say)
{
    char text[96];
    fixture f;

    init(&f, 0, 0);
    assert_string_equal(aq_net_spec_text(aq_agent_spec(f.algorithm), text, sizeof(text)),
                        "4-16-normr-12-normr-4-dueling3");
    fini(&f);
}

TEST(training_is_in_fp32_until_the_delay_is_over)
{
    fixture plain, f;

    init(&plain, 0, 0);
    init(&f, 3, DELAY);
    for (int step = 0; step < DELAY; step++) {
        assert_ptr_equal(aq_agent_policy(f.algorithm)->block, state_of(&f).parameters);
        train(&plain, 1);
        train(&f, 1);
        assert_equal_state(&plain, &f);
    }
    assert_true(train(&plain, 1) != train(&f, 1));
    fini(&f);
    fini(&plain);
}

TEST(the_policy_is_what_the_levels_stand_for)
{
    const aq_fake_quant quant = {.bits = 3, .format = AQ_FORMAT_INT8_CHANNEL};
    kept_state s;
    aq_params real, want;
    fixture f;

    init(&f, 3, DELAY);
    train(&f, DELAY + 2);
    s = state_of(&f);
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
    fini(&f);
}

TEST(without_a_delay_the_first_policy_is_quantized)
{
    fixture f;

    init(&f, 8, 0);
    assert_ptr_not_equal(aq_agent_policy(f.algorithm)->block, state_of(&f).parameters);
    fini(&f);
}

/* From before the delay's end, at it, and from after it. */
TEST(a_resumed_one_goes_on_with_the_same_bits)
{
    static copy middle;

    for (int steps = DELAY - 2; steps <= DELAY + 2; steps++) {
        fixture a, b;

        init(&a, 2, DELAY);
        train(&a, steps);
        middle = copy_of(&a);
        init(&b, 2, DELAY);
        train(&b, DELAY + 3); /* something else to be overwritten */
        resume(&b, &middle);
        b.rng = a.rng;
        train(&a, 7);
        train(&b, 7);
        assert_equal_state(&a, &b);
        fixture_assert_same(aq_agent_policy(a.algorithm)->block,
                            aq_agent_policy(b.algorithm)->block, state_of(&a).count);
        fini(&a);
        fini(&b);
    }
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    static copy before, after;
    aq_update_report stats;
    fixture f;

    init(&f, 4, 0);
    train(&f, 3);
    before = copy_of(&f);
    for (size_t i = 0; i < 3; i++) {
        fixture_randomize(f.batch, FIXTURE_ACTIONS, &f.rng);
        fixture_obs(f.batch)[5] = bad[i];
        assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), AQ_E_CORRUPT);
        fixture_randomize(f.batch, FIXTURE_ACTIONS, &f.rng);
        fixture_next_obs(f.batch)[5] = bad[i]; /* row 1, which is not terminal */
        assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), AQ_E_CORRUPT);
    }
    after = copy_of(&f);
    assert_memory_equal(&before, &after, sizeof(before));
    fini(&f);
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    fixture best, f;

    init(&best, 4, 2);
    train(&best, 20);
    for (size_t i = 0; aq_passes_rung(i) != NULL; i++) {
        aq_cpu_set_mask(aq_passes_rung(i)->cpu_flags);
        init(&f, 4, 2);
        train(&f, 20);
        aq_cpu_set_mask(UINT32_MAX);
        assert_equal_state(&best, &f);
        fini(&f);
    }
    fini(&best);
}

TEST(quantized_training_allocates_nothing)
{
    uint64_t before;
    fixture f;

    init(&f, 4, 3);
    before = aq_memory_allocation_count();
    train(&f, 10);
    assert_non_null(aq_agent_policy(f.algorithm));
    assert_int_equal(aq_memory_allocation_count(), before);
    fini(&f);
}

TEST(create_survives_the_failure_of_each_allocation)
{
    aq_agent *algorithm = NULL;
    int rc;
    fixture f;

    init(&f, 4, 0);
    EACH_ALLOCATION_FAILS(rc) {
        rc = agent_try(&aq_dqn_class, &f.config, &f.schema, 1, &algorithm, NULL);
        assert_true(rc == 0 || algorithm == NULL);
    }
    aq_agent_destroy(algorithm);
    fini(&f);
}

TEST(more_layers_than_a_network_has_are_refused)
{
    aq_agent *algorithm = NULL;
    aq_error error = {0};
    fixture f;

    init(&f, 0, 0);
    assert_int_equal(snprintf(f.config.learner.hidden, AQ_RUN_TEXT_MAX, "8,8,8,8,8,8,8,8"), 15);
    assert_refused(agent_try(&aq_dqn_class, &f.config, &f.schema, 1, &algorithm, &error),
                   AQ_E_INVALID, &error, "16 layers");
    assert_null(algorithm);
    fini(&f);
}

/*
 * DQN's algorithm: what a step changes and what it leaves alone, which batches it refuses, and that
 * the same steps give the same bits.
 */
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/nn/blas.h"
#include "learner/nn/optimizer.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { PARAMETERS = (4 + 1) * 16 + (16 + 1) * 12 + (12 + 1) * 3 };

typedef struct fixture {
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} fixture;

static fixture make_with(const aq_run_config *config)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    fixture f = {.algorithm = agent_of(&aq_dqn_class, config, &schema, 1),
                 .batch = fixture_batch(&schema, FIXTURE_ROWS),
                 .rng = rng_of(2, 0)};
    fixture_randomize(f.batch, FIXTURE_ACTIONS, &f.rng);
    return f;
}

static fixture make(void)
{
    const aq_run_config config = fixture_config();
    return make_with(&config);
}

static kept_state state_of(const fixture *f)
{
    return agent_state(f->algorithm);
}

static void train(fixture *f, int steps)
{
    for (int i = 0; i < steps; i++) {
        fixture_randomize(f->batch, FIXTURE_ACTIONS, &f->rng);
        agent_train(f->algorithm, f->batch);
    }
}

TEST(a_fresh_one_has_equal_networks_and_no_moments)
{
    const float zeros[PARAMETERS] = {0};
    const fixture f = make();
    const kept_state s = state_of(&f);
    assert_int_equal(s.count, PARAMETERS);
    fixture_assert_same(s.parameters, s.target, PARAMETERS);
    fixture_assert_same(s.adam_m, zeros, PARAMETERS);
    fixture_assert_same(s.adam_v, zeros, PARAMETERS);
    assert_int_equal(s.adam_step, 0);
    assert_ptr_equal(aq_agent_class(f.algorithm), &aq_dqn_class);
    assert_ptr_equal(aq_agent_policy(f.algorithm)->block, s.parameters);
    assert_int_equal(aq_net_spec_parameters(aq_agent_spec(f.algorithm)), PARAMETERS);
}

TEST(the_seed_decides_the_initial_weights)
{
    const aq_run_config config = fixture_config();
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    const fixture f = make();
    aq_agent *same = agent_of(&aq_dqn_class, &config, &schema, 1);
    aq_agent *other = agent_of(&aq_dqn_class, &config, &schema, 2);
    fixture_assert_same(aq_agent_policy(same)->block, state_of(&f).parameters, PARAMETERS);
    assert_memory_not_equal(aq_agent_policy(other)->block, state_of(&f).parameters,
                            PARAMETERS * sizeof(float));
}

TEST(the_target_is_copied_every_period)
{
    float target[PARAMETERS];
    fixture f = make();
    for (uint64_t step = 1; step <= 12; step++) {
        memcpy(target, state_of(&f).target, sizeof(target));
        train(&f, 1);
        fixture_assert_same(state_of(&f).target, step % 4 == 0 ? state_of(&f).parameters : target,
                            PARAMETERS);
        assert_int_equal(state_of(&f).adam_step, step);
    }
}

static void destroy_alone(void *algorithm)
{
    aq_dqn_class.destroy(algorithm);
}

static aq_algorithm *alone_of(const aq_run_config *config)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    const aq_algorithm_setup setup = {.config = config, .schema = &schema, .seed = 1};
    aq_algorithm *algorithm;
    assert_succeeds(aq_dqn_class.create(&aq_dqn_class, &setup, &algorithm, &refusal));
    at_end(destroy_alone, algorithm);
    return algorithm;
}

static const float *target_of(aq_algorithm *algorithm)
{
    aq_named_arrays arrays = {.count = 0};
    aq_dqn_class.arrays(algorithm, &arrays);
    return aq_named_arrays_find(&arrays, "target")->values;
}

/* By whoever makes gradients and does not hear of every step: every period of 4 counts, and so
 * does a learner that went back. */
TEST(what_is_adopted_is_the_target_when_a_period_has_ended_since)
{
    static const struct {
        uint64_t step;
        bool is_target;
    } versions[] = {{5, true}, {6, false}, {9, true}, {11, false}, {17, true}, {16, true}};
    const aq_run_config config = fixture_config();
    aq_algorithm *algorithm = alone_of(&config);
    float parameters[PARAMETERS] = {0}, expected[PARAMETERS];
    EACH_ROW(i, versions) {
        parameters[7] = (float)versions[i].step;
        aq_dqn_class.by_gradients->adopt(algorithm, parameters, versions[i].step);
        memcpy(expected, versions[i].is_target ? parameters : expected, sizeof(expected));
        fixture_assert_same(target_of(algorithm), expected, PARAMETERS);
    }
}

TEST(the_target_comes_nearer_by_every_step_until_the_next_version)
{
    aq_run_config config = fixture_config();
    float parameters[PARAMETERS] = {0};
    config.learner.tau = 0.25;
    aq_algorithm *algorithm = alone_of(&config);
    aq_dqn_class.by_gradients->adopt(algorithm, parameters, 5);
    parameters[7] = 64;
    aq_dqn_class.by_gradients->adopt(algorithm, parameters, 8);
    assert_near(target_of(algorithm)[7], 64 - 27, 1e-4); /* three quarters are left, of it again */
}

/* After the first step m is a tenth of the gradient that Adam was given. */
TEST(a_long_gradient_is_clipped_and_its_length_reported)
{
    const double clip = 1e-3;
    aq_run_config config = fixture_config();
    config.learner.gradient_clip = clip;
    const fixture f = make_with(&config);
    const aq_update_report stats = agent_train(f.algorithm, f.batch);
    assert_true(stats.metrics[METRIC_GRADIENT_NORM] > 0.01);
    assert_near(stats.metrics[METRIC_GRADIENT_CLIPPED], clip, 1e-9);
    assert_near(10 * aq_gradient_norm(state_of(&f).adam_m, PARAMETERS), clip, 1e-5 * clip);
}

TEST(a_short_gradient_is_left_as_it_is)
{
    aq_run_config config = fixture_config();
    fixture off = make_with(&config);
    config.learner.gradient_clip = 1e5;
    fixture wide = make_with(&config);
    train(&off, 10);
    train(&wide, 10);
    fixture_assert_same(state_of(&off).parameters, state_of(&wide).parameters, PARAMETERS);
}

/* A batch that was made bad is refused, changes nothing, and the next good one is learned from. */
static void check_refused(fixture *f)
{
    const aq_update_report untouched = {.steps = 6, .metrics = {7, 8, 9}};
    aq_update_report stats = untouched;
    const kept_copy before = agent_copy(f->algorithm);
    assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), AQ_E_CORRUPT);
    agent_assert_as(f->algorithm, &before);
    assert_memory_equal(&stats, &untouched, sizeof(stats));
    train(f, 1);
    assert_int_equal(state_of(f).adam_step, before.state.adam_step + 1);
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    fixture f = make();
    train(&f, 3);
    EACH_ROW(i, bad) {
        f.batch->reward[1] = bad[i];
        check_refused(&f);
        f.batch->weight[2] = bad[i];
        check_refused(&f);
        f.batch->bootstrap[1] = bad[i];
        check_refused(&f);
    }
    fixture_obs(f.batch)[5] = NAN;
    check_refused(&f);
    fixture_next_obs(f.batch)[5] = NAN;
    check_refused(&f);
}

TEST(an_action_that_does_not_exist_is_refused)
{
    fixture f = make();
    fixture_set_action(f.batch, 3, FIXTURE_ACTIONS);
    check_refused(&f);
}

TEST(a_gradient_too_long_for_adam_is_refused_unless_clipped)
{
    aq_run_config config = fixture_config();
    fixture f = make_with(&config);
    fixture_obs(f.batch)[0] = 1e25f;
    check_refused(&f);
    config.learner.gradient_clip = 10;
    f = make_with(&config);
    fixture_obs(f.batch)[0] = 1e25f;
    const aq_update_report stats = agent_train(f.algorithm, f.batch);
    assert_true(stats.metrics[METRIC_GRADIENT_NORM] > AQ_GRADIENT_NORM_MAX);
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    fixture a = make();
    train(&a, 50);
    aq_cpu_set_mask(0);
    fixture b = make();
    train(&b, 50);
    aq_cpu_set_mask(UINT32_MAX);
    agent_assert_same(a.algorithm, b.algorithm);
}

/* Wide enough for OpenBLAS to share out the products. */
TEST(the_same_steps_on_two_threads_give_the_same_bits)
{
    enum { ROWS = 64, STEPS = 20 };
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_run_config config = fixture_config();
    aq_agent *algorithms[2];
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "256,256"), 0);
    config.learner.batch_size = ROWS;
    aq_blas_set_threads(2);
    for (int i = 0; i < 2; i++) {
        algorithms[i] = agent_of(&aq_dqn_class, &config, &schema, 1);
        aq_rng rng = rng_of(3, 0);
        for (int step = 0; step < STEPS; step++) {
            fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
            agent_train(algorithms[i], batch);
        }
    }
    aq_blas_set_threads(1);
    agent_assert_same(algorithms[0], algorithms[1]);
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    fixture a = make(), b = make();
    train(&a, 7);
    train(&b, 2); /* something else to be overwritten */
    const kept_copy middle = agent_copy(a.algorithm);
    agent_take_up(b.algorithm, &middle);
    b.rng = a.rng;
    train(&a, 7);
    train(&b, 7);
    agent_assert_same(a.algorithm, b.algorithm);
}

TEST(bytes_count_as_0_to_1)
{
    const aq_run_config config = fixture_config();
    aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    const fixture f = make();
    schema.obs.dtype = AQ_DTYPE_U8;
    aq_agent *of_bytes = agent_of(&aq_dqn_class, &config, &schema, 1);
    aq_batch *bytes = fixture_batch(&schema, FIXTURE_ROWS);
    assert_int_equal(bytes->obs_bytes, FIXTURE_INPUTS);
    for (uint32_t i = 0; i < FIXTURE_ROWS * FIXTURE_INPUTS; i++) {
        bytes->obs[i] = (uint8_t)(i * 37);
        bytes->next_obs[i] = (uint8_t)(i * 91);
        fixture_obs(f.batch)[i] = (float)bytes->obs[i] / 255;
        fixture_next_obs(f.batch)[i] = (float)bytes->next_obs[i] / 255;
    }
    memcpy(bytes->action, f.batch->action, FIXTURE_ROWS * sizeof(int32_t));
    memcpy(bytes->reward, f.batch->reward, FIXTURE_ROWS * sizeof(float));
    memcpy(bytes->bootstrap, f.batch->bootstrap, FIXTURE_ROWS * sizeof(float));
    memcpy(bytes->weight, f.batch->weight, FIXTURE_ROWS * sizeof(float));
    agent_train(f.algorithm, f.batch);
    agent_train(of_bytes, bytes);
    fixture_assert_same(aq_agent_policy(of_bytes)->block, state_of(&f).parameters, PARAMETERS);
}

TEST(fewer_rows_than_a_batch_are_learned_from)
{
    const fixture f = make();
    for (uint32_t rows = 1; rows <= FIXTURE_ROWS; rows++) {
        f.batch->rows = rows;
        assert_true(agent_train(f.algorithm, f.batch).metrics[METRIC_LOSS] > 0);
    }
}

TEST(training_allocates_nothing)
{
    fixture f = make();
    const uint64_t before = aq_memory_allocation_count();
    train(&f, 20);
    assert_int_equal(aq_memory_allocation_count(), before);
}

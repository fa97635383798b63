/*
 * DQN's algorithm: what a step changes and what it leaves alone, which batches it refuses, and that
 * the same steps give the same bits.
 */
#include <string.h>

#include <math.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/nn/adam.h"
#include "learner/nn/blas.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { PARAMETERS = (4 + 1) * 16 + (16 + 1) * 12 + (12 + 1) * 3 };

typedef struct fixture {
    aq_run_config config;
    aq_schema schema;
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} fixture;

static void init_with(fixture *f, const aq_run_config *config)
{
    f->config = *config;
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &f->schema);
    f->algorithm = fixture_algorithm(&f->config, &f->schema, 1);
    f->batch = fixture_batch(&f->schema, FIXTURE_ROWS);
    aq_rng_init(&f->rng, 2, 0);
    fixture_randomize(f->batch, FIXTURE_ACTIONS, &f->rng);
}

static void init(fixture *f)
{
    aq_run_config config;

    fixture_config(&config);
    init_with(f, &config);
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
    return state;
}

static void train(fixture *f, int steps)
{
    for (int i = 0; i < steps; i++) {
        aq_update_report stats;

        fixture_randomize(f->batch, FIXTURE_ACTIONS, &f->rng);
        assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), 0);
    }
}

TEST(a_fresh_one_has_equal_networks_and_no_moments)
{
    const float zeros[PARAMETERS] = {0};
    kept_state s;
    fixture f;

    init(&f);
    s = state_of(&f);
    assert_int_equal(s.count, PARAMETERS);
    fixture_assert_same(s.parameters, s.target, PARAMETERS);
    fixture_assert_same(s.adam_m, zeros, PARAMETERS);
    fixture_assert_same(s.adam_v, zeros, PARAMETERS);
    assert_int_equal(s.adam_step, 0);
    assert_ptr_equal(aq_agent_class(f.algorithm), &aq_dqn_class);
    assert_ptr_equal(aq_agent_policy(f.algorithm)->block, s.parameters);
    assert_int_equal(aq_net_spec_parameters(aq_agent_spec(f.algorithm)), PARAMETERS);
    fini(&f);
}

TEST(the_seed_decides_the_initial_weights)
{
    aq_agent *same, *other;
    fixture f;

    init(&f);
    same = fixture_algorithm(&f.config, &f.schema, 1);
    other = fixture_algorithm(&f.config, &f.schema, 2);
    fixture_assert_same(aq_agent_policy(same)->block, state_of(&f).parameters, PARAMETERS);
    assert_memory_not_equal(aq_agent_policy(other)->block, state_of(&f).parameters,
                            PARAMETERS * sizeof(float));
    aq_agent_destroy(same);
    aq_agent_destroy(other);
    fini(&f);
}

TEST(the_target_is_copied_every_period)
{
    float target[PARAMETERS];
    fixture f;

    init(&f);
    for (uint64_t step = 1; step <= 12; step++) {
        memcpy(target, state_of(&f).target, sizeof(target));
        train(&f, 1);
        fixture_assert_same(state_of(&f).target, step % 4 == 0 ? state_of(&f).parameters : target,
                            PARAMETERS);
        assert_int_equal(state_of(&f).adam_step, step);
    }
    fini(&f);
}

/* After the first step m is a tenth of the gradient that Adam was given. */
TEST(a_long_gradient_is_clipped_and_its_length_reported)
{
    const double clip = 1e-3;
    aq_run_config config;
    aq_update_report stats;
    double given;
    fixture f;

    fixture_config(&config);
    config.learner.gradient_clip = clip;
    init_with(&f, &config);
    assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), 0);
    given = 10 * aq_gradient_norm(state_of(&f).adam_m, PARAMETERS);
    assert_true(stats.metrics[METRIC_GRADIENT_NORM] > 0.01);
    assert_true(fabs(given - clip) <= 1e-5 * clip);
    fini(&f);
}

TEST(a_short_gradient_is_left_as_it_is)
{
    aq_run_config config;
    fixture off, wide;

    fixture_config(&config);
    init_with(&off, &config);
    config.learner.gradient_clip = 1e5;
    init_with(&wide, &config);
    train(&off, 10);
    train(&wide, 10);
    fixture_assert_same(state_of(&off).parameters, state_of(&wide).parameters, PARAMETERS);
    fini(&off);
    fini(&wide);
}

/* Everything that a checkpoint keeps, as a copy. */
typedef struct copy {
    float arrays[4][PARAMETERS];
    uint64_t adam_step;
} copy;

static copy copy_of(const fixture *f)
{
    kept_state s = state_of(f);
    copy c;

    memcpy(c.arrays[0], s.parameters, sizeof(c.arrays[0]));
    memcpy(c.arrays[1], s.target, sizeof(c.arrays[1]));
    memcpy(c.arrays[2], s.adam_m, sizeof(c.arrays[2]));
    memcpy(c.arrays[3], s.adam_v, sizeof(c.arrays[3]));
    c.adam_step = s.adam_step;
    return c;
}

/* A batch that was made bad is refused, changes nothing, and the next good one is learned from. */
static void check_refused(fixture *f)
{
    const aq_update_report untouched = {.steps = 6, .metrics = {7, 8, 9}};
    aq_update_report stats = untouched;
    copy before = copy_of(f), after;

    assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), AQ_E_CORRUPT);
    after = copy_of(f);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_memory_equal(&stats, &untouched, sizeof(stats));
    train(f, 1);
    assert_int_equal(copy_of(f).adam_step, before.adam_step + 1);
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    fixture f;

    init(&f);
    train(&f, 3);
    for (size_t i = 0; i < 3; i++) {
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
    fini(&f);
}

TEST(an_action_that_does_not_exist_is_refused)
{
    fixture f;

    init(&f);
    fixture_set_action(f.batch, 3, FIXTURE_ACTIONS);
    check_refused(&f);
    fini(&f);
}

TEST(a_gradient_too_long_for_adam_is_refused_unless_clipped)
{
    aq_run_config config;
    aq_update_report stats;
    fixture f;

    fixture_config(&config);
    init_with(&f, &config);
    fixture_obs(f.batch)[0] = 1e25f;
    check_refused(&f);
    fini(&f);

    config.learner.gradient_clip = 10;
    init_with(&f, &config);
    fixture_obs(f.batch)[0] = 1e25f;
    assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), 0);
    assert_true(stats.metrics[METRIC_GRADIENT_NORM] > AQ_GRADIENT_NORM_MAX);
    fini(&f);
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    fixture a, b;

    init(&a);
    train(&a, 50);
    aq_cpu_set_mask(0);
    init(&b);
    train(&b, 50);
    aq_cpu_set_mask(UINT32_MAX);
    copy ca = copy_of(&a), cb = copy_of(&b);
    assert_memory_equal(&ca, &cb, sizeof(ca));
    fini(&a);
    fini(&b);
}

/* Wide enough for OpenBLAS to share out the products. */
TEST(the_same_steps_on_two_threads_give_the_same_bits)
{
    enum { ROWS = 64, STEPS = 20 };
    aq_agent *algorithms[2];
    aq_run_config config;
    aq_schema schema;
    aq_batch *batch;

    fixture_config(&config);
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &schema);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "256,256"), 0);
    config.learner.batch_size = ROWS;
    batch = fixture_batch(&schema, ROWS);
    aq_blas_set_threads(2);
    for (int i = 0; i < 2; i++) {
        aq_update_report stats;
        aq_rng rng;

        algorithms[i] = fixture_algorithm(&config, &schema, 1);
        aq_rng_init(&rng, 3, 0);
        for (int step = 0; step < STEPS; step++) {
            fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
            assert_int_equal(aq_agent_train(algorithms[i], batch, &stats), 0);
        }
    }
    aq_blas_set_threads(1);
    fixture_assert_same(aq_agent_policy(algorithms[0])->block,
                        aq_agent_policy(algorithms[1])->block,
                        aq_agent_policy(algorithms[0])->count);
    aq_agent_destroy(algorithms[0]);
    aq_agent_destroy(algorithms[1]);
    aq_batch_destroy(batch);
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    kept_state s;
    fixture a, b;
    copy middle, end_a, end_b;

    init(&a);
    train(&a, 7);
    middle = copy_of(&a);

    init(&b);
    train(&b, 2); /* something else to be overwritten */
    s = state_of(&b);
    memcpy(s.parameters, middle.arrays[0], sizeof(middle.arrays[0]));
    memcpy(s.target, middle.arrays[1], sizeof(middle.arrays[1]));
    memcpy(s.adam_m, middle.arrays[2], sizeof(middle.arrays[2]));
    memcpy(s.adam_v, middle.arrays[3], sizeof(middle.arrays[3]));
    agent_resume_at(b.algorithm, middle.adam_step);
    b.rng = a.rng;

    train(&a, 7);
    train(&b, 7);
    end_a = copy_of(&a);
    end_b = copy_of(&b);
    assert_memory_equal(&end_a, &end_b, sizeof(end_a));
    fini(&a);
    fini(&b);
}

TEST(bytes_count_as_0_to_1)
{
    aq_agent *bytes_algorithm;
    aq_schema bytes_schema;
    aq_batch *bytes_batch;
    aq_update_report stats;
    fixture f;

    init(&f);
    bytes_schema = f.schema;
    bytes_schema.obs.dtype = AQ_DTYPE_U8;
    bytes_algorithm = fixture_algorithm(&f.config, &bytes_schema, 1);
    bytes_batch = fixture_batch(&bytes_schema, FIXTURE_ROWS);
    assert_int_equal(bytes_batch->obs_bytes, FIXTURE_INPUTS);
    for (uint32_t i = 0; i < FIXTURE_ROWS * FIXTURE_INPUTS; i++) {
        bytes_batch->obs[i] = (uint8_t)(i * 37);
        bytes_batch->next_obs[i] = (uint8_t)(i * 91);
        fixture_obs(f.batch)[i] = (float)bytes_batch->obs[i] / 255;
        fixture_next_obs(f.batch)[i] = (float)bytes_batch->next_obs[i] / 255;
    }
    memcpy(bytes_batch->action, f.batch->action, FIXTURE_ROWS * sizeof(int32_t));
    memcpy(bytes_batch->reward, f.batch->reward, FIXTURE_ROWS * sizeof(float));
    memcpy(bytes_batch->bootstrap, f.batch->bootstrap, FIXTURE_ROWS * sizeof(float));
    memcpy(bytes_batch->weight, f.batch->weight, FIXTURE_ROWS * sizeof(float));
    assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), 0);
    assert_int_equal(aq_agent_train(bytes_algorithm, bytes_batch, &stats), 0);
    fixture_assert_same(aq_agent_policy(bytes_algorithm)->block, state_of(&f).parameters,
                        PARAMETERS);
    aq_agent_destroy(bytes_algorithm);
    aq_batch_destroy(bytes_batch);
    fini(&f);
}

TEST(fewer_rows_than_a_batch_are_learned_from)
{
    aq_update_report stats;
    fixture f;

    init(&f);
    for (uint32_t rows = 1; rows <= FIXTURE_ROWS; rows++) {
        f.batch->rows = rows;
        assert_int_equal(aq_agent_train(f.algorithm, f.batch, &stats), 0);
        assert_true(stats.metrics[METRIC_LOSS] > 0);
    }
    fini(&f);
}

TEST(training_allocates_nothing)
{
    uint64_t before;
    fixture f;

    init(&f);
    before = aq_memory_allocation_count();
    train(&f, 20);
    assert_int_equal(aq_memory_allocation_count(), before);
    fini(&f);
}

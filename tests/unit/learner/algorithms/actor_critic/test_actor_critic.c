/*
 * What d4pg, ddpg and td3 share, of each of them; test_torch_golden.c has their numbers.
 */
#include <string.h>

#include <math.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/nn/adam.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"

enum { INPUTS = 5, ACTIONS = 2, ROWS = 12 };

static const enum aq_algorithm algorithms[] = {AQ_ALGORITHM_D4PG, AQ_ALGORITHM_DDPG,
                                               AQ_ALGORITHM_TD3};
enum { ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0]) };

typedef struct fixture {
    aq_run_config config;
    aq_schema schema;
    const aq_algorithm_class *class;
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} fixture;

static void make_schema(aq_schema *schema)
{
    const float low[] = {-10, -10, -10, -10, -10}, high[] = {10, 10, 10, 10, 10};

    memset(schema, 0, sizeof(*schema));
    aq_space_init_box(&schema->obs, INPUTS, low, high);
    aq_space_init_box(&schema->action, ACTIONS, (const float[]){-2, 0}, (const float[]){2, 3});
}

static void make_config(enum aq_algorithm algorithm, aq_run_config *config)
{
    aq_settings_init(aq_run_config_table(), config);
    config->learner.algorithm = algorithm;
    config->learner.batch_size = ROWS;
    config->learner.learning_rate = 1e-3;
    config->learner.target_period = 4;
    config->learner.norm_first = true;
    assert_int_equal(aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    assert_int_equal(aq_text_set(config->learner.critic_hidden, AQ_RUN_TEXT_MAX, "20"), 0);
}

static void randomize(fixture *f)
{
    const float middle[] = {0, 1.5f}, half[] = {2, 1.5f};
    float *action = (float *)(void *)f->batch->action;

    f->batch->rows = ROWS;
    for (uint32_t i = 0; i < ROWS * INPUTS; i++) {
        ((float *)(void *)f->batch->obs)[i] = (float)aq_rng_normal(&f->rng);
        ((float *)(void *)f->batch->next_obs)[i] = (float)aq_rng_normal(&f->rng);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t a = 0; a < ACTIONS; a++) {
            *action++ = middle[a] + half[a] * (float)aq_rng_range(&f->rng, -1, 1);
        }
        f->batch->reward[i] = (float)aq_rng_range(&f->rng, -1, 1);
        f->batch->bootstrap[i] = i % 3 == 2 ? 0.0f : 0.9f;
        f->batch->weight[i] = (float)aq_rng_range(&f->rng, 0.2, 1);
        f->batch->priority[i] = -1.0f;
    }
}

static void init_with(fixture *f, const aq_run_config *config)
{
    aq_layout layout;

    memset(f, 0, sizeof(*f));
    f->config = *config;
    make_schema(&f->schema);
    f->class = aq_algorithm_at(config->learner.algorithm);
    assert_int_equal(agent_try(f->class, &f->config, &f->schema, 7, &f->algorithm, NULL), 0);
    assert_int_equal(aq_layout_init(&f->schema, 1, 2, &layout, NULL), 0);
    assert_int_equal(aq_batch_create(&layout, 0, ROWS, &f->batch), 0);
    aq_rng_init(&f->rng, 5, 0);
    randomize(f);
}

static void init(fixture *f, enum aq_algorithm algorithm)
{
    aq_run_config config;

    make_config(algorithm, &config);
    init_with(f, &config);
}

static void fini(fixture *f)
{
    aq_agent_destroy(f->algorithm);
    aq_batch_destroy(f->batch);
}

static kept_state state_of(fixture *f)
{
    kept_state s;

    s = agent_state(f->algorithm);
    return s;
}

static void train(fixture *f, int steps)
{
    aq_update_report stats;

    for (int i = 0; i < steps; i++) {
        randomize(f);
        assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), 0);
    }
}

enum { STATE_FLOATS_MAX = 4 * 8192 };

typedef struct copy {
    uint64_t step;
    size_t count;
    float floats[STATE_FLOATS_MAX];
} copy;

static void take_copy(fixture *f, copy *ret_copy)
{
    const kept_state s = state_of(f);
    const float *const arrays[] = {s.parameters, s.target, s.adam_m, s.adam_v};

    assert_true(4 * s.count <= STATE_FLOATS_MAX);
    memset(ret_copy, 0, sizeof(*ret_copy));
    ret_copy->step = s.adam_step;
    ret_copy->count = s.count;
    for (size_t i = 0; i < 4; i++) {
        memcpy(ret_copy->floats + i * s.count, arrays[i], s.count * sizeof(float));
    }
}

static void assert_same(const copy *a, const copy *b)
{
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->floats, b->floats, 4 * a->count * sizeof(float));
}

TEST(the_policys_parameters_are_the_first)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        fixture f;

        init(&f, algorithms[i]);
        const aq_net_spec *spec = aq_agent_spec(f.algorithm);
        const aq_params *policy = aq_agent_policy(f.algorithm);
        assert_ptr_equal(policy->block, state_of(&f).parameters);
        assert_int_equal(policy->count, aq_net_spec_parameters(spec));
        assert_true(state_of(&f).count > policy->count);
        assert_int_equal(aq_net_spec_inputs(spec), INPUTS);
        assert_int_equal(aq_net_spec_outputs(spec), ACTIONS);
        assert_int_equal(spec->layers[spec->layer_count - 1].activation, AQ_ACTIVATION_TANH);
        assert_int_equal(f.class->head, AQ_HEAD_TANH_BOX);
        fini(&f);
    }
}

TEST(targets_are_copied_every_period)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        static copy before;
        fixture f;

        init(&f, algorithms[i]);
        for (uint64_t step = 1; step <= 9; step++) {
            take_copy(&f, &before);
            train(&f, 1);
            const kept_state s = state_of(&f);
            const float *want = step % 4 == 0 ? s.parameters : before.floats + before.count;
            assert_memory_equal(s.target, want, s.count * sizeof(float));
        }
        fini(&f);
    }
}

TEST(targets_follow_by_tau_when_the_policy_does)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        static copy before;
        aq_run_config config;
        fixture f;

        make_config(algorithms[i], &config);
        config.learner.tau = 0.25;
        init_with(&f, &config);
        for (uint64_t step = 1; step <= 4; step++) {
            take_copy(&f, &before);
            train(&f, 1);
            const kept_state s = state_of(&f);
            const bool follows = algorithms[i] != AQ_ALGORITHM_TD3 || step % 2 == 0;
            for (size_t k = 0; k < s.count; k++) {
                const float old = before.floats[before.count + k];
                const float want = follows ? old + 0.25f * (s.parameters[k] - old) : old;
                assert_true(fabsf(s.target[k] - want) <= 1e-6f);
            }
        }
        fini(&f);
    }
}

TEST(td3_improves_its_policy_now_and_then)
{
    static copy before;
    fixture f;

    init(&f, AQ_ALGORITHM_TD3);
    for (uint64_t step = 1; step <= 6; step++) {
        take_copy(&f, &before);
        train(&f, 1);
        const size_t bytes = aq_agent_policy(f.algorithm)->count * sizeof(float);
        assert_true((memcmp(state_of(&f).parameters, before.floats, bytes) == 0) ==
                    (step % 2 == 1));
    }
    fini(&f);
}

TEST(priorities_are_written_and_not_negative)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        fixture f;

        init(&f, algorithms[i]);
        train(&f, 1);
        for (uint32_t r = 0; r < ROWS; r++) {
            assert_true(f.batch->priority[r] >= 0.0f);
        }
        fini(&f);
    }
}

/* A training step is refused and has changed nothing; then the batch is good again. */
static void check_refused(fixture *f)
{
    static copy before, after;
    aq_update_report stats;

    take_copy(f, &before);
    assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), AQ_E_CORRUPT);
    take_copy(f, &after);
    assert_same(&before, &after);
    randomize(f);
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < ALGORITHMS; i++) {
        fixture f;

        init(&f, algorithms[i]);
        train(&f, 3);
        for (size_t b = 0; b < 3; b++) {
            f.batch->reward[1] = bad[b];
            check_refused(&f);
            f.batch->weight[2] = bad[b];
            check_refused(&f);
            f.batch->bootstrap[3] = bad[b];
            check_refused(&f);
        }
        ((float *)(void *)f.batch->obs)[5] = NAN;
        check_refused(&f);
        ((float *)(void *)f.batch->next_obs)[5] = NAN;
        check_refused(&f);
        fini(&f);
    }
}

TEST(an_action_out_of_bounds_is_refused)
{
    const float bad[] = {2.1f, -2.1f, NAN, INFINITY};

    for (size_t i = 0; i < ALGORITHMS; i++) {
        fixture f;

        init(&f, algorithms[i]);
        for (size_t b = 0; b < 4; b++) {
            ((float *)(void *)f.batch->action)[2 * ACTIONS] = bad[b];
            check_refused(&f);
        }
        fini(&f);
    }
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        static copy best, least;
        fixture a, b;

        init(&a, algorithms[i]);
        train(&a, 20);
        aq_cpu_set_mask(0);
        init(&b, algorithms[i]);
        train(&b, 20);
        aq_cpu_set_mask(UINT32_MAX);
        take_copy(&a, &best);
        take_copy(&b, &least);
        assert_same(&best, &least);
        fini(&a);
        fini(&b);
    }
}

TEST(the_same_steps_on_three_threads_give_the_same_bits)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        static copy ends[2];

        for (int run = 0; run < 2; run++) {
            aq_run_config config;
            fixture f;

            make_config(algorithms[i], &config);
            config.learner.threads = 3;
            init_with(&f, &config);
            train(&f, 20);
            take_copy(&f, &ends[run]);
            fini(&f);
        }
        assert_same(&ends[0], &ends[1]);
    }
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        static copy middle, end_a, end_b;
        fixture a, b;

        init(&a, algorithms[i]);
        train(&a, 7);
        take_copy(&a, &middle);
        init(&b, algorithms[i]);
        train(&b, 2); /* something else to be overwritten */
        const kept_state s = state_of(&b);
        float *const arrays[] = {s.parameters, s.target, s.adam_m, s.adam_v};
        for (size_t k = 0; k < 4; k++) {
            memcpy(arrays[k], middle.floats + k * s.count, s.count * sizeof(float));
        }
        agent_resume_at(b.algorithm, middle.step);
        b.rng = a.rng;
        train(&a, 6);
        train(&b, 6);
        take_copy(&a, &end_a);
        take_copy(&b, &end_b);
        assert_same(&end_a, &end_b);
        fini(&a);
        fini(&b);
    }
}

TEST(training_allocates_nothing)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        aq_run_config config;
        fixture f;

        make_config(algorithms[i], &config);
        config.learner.threads = 2;
        init_with(&f, &config);
        const uint64_t before = aq_memory_allocation_count();
        train(&f, 5);
        assert_int_equal(aq_memory_allocation_count(), before);
        fini(&f);
    }
}

TEST(the_policy_acts_quantized_where_training_does)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        aq_run_config config;
        fixture f;

        make_config(algorithms[i], &config);
        config.learner.qat_bits = 8;
        config.learner.qat_delay = 2;
        init_with(&f, &config);
        assert_ptr_equal(aq_agent_policy(f.algorithm)->block, state_of(&f).parameters);
        train(&f, 4);
        const aq_params *acting = aq_agent_policy(f.algorithm);
        assert_ptr_not_equal(acting->block, state_of(&f).parameters);
        for (size_t k = 0; k < acting->count; k++) {
            assert_true(fabsf(acting->block[k] - state_of(&f).parameters[k]) < 0.05f);
        }
        fini(&f);
    }
}

TEST(create_survives_the_failure_of_each_allocation)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        aq_agent *algorithm = NULL;
        const aq_algorithm_class *class = aq_algorithm_at(algorithms[i]);
        aq_run_config config;
        aq_schema schema;
        int rc = AQ_E_NOMEM, failures = 0;

        make_config(algorithms[i], &config);
        make_schema(&schema);
        config.learner.threads = 2;
        config.learner.qat_bits = 8;
        while (rc != 0) {
            aq_memory_fail_at((uint64_t)failures + 1, 0);
            rc = agent_try(class, &config, &schema, 1, &algorithm, NULL);
            aq_memory_fail_at(0, 0);
            if (rc != 0) {
                assert_int_equal(rc, AQ_E_NOMEM);
                assert_null(algorithm);
                failures++;
            }
        }
        assert_true(failures >= 8);
        aq_agent_destroy(algorithm);
        aq_agent_destroy(NULL);
    }
}

static void check_unsupported(const aq_schema *schema, const char *word)
{
    for (size_t i = 0; i < ALGORITHMS; i++) {
        aq_agent *algorithm = NULL;
        aq_error error = {0};
        aq_run_config config;

        make_config(algorithms[i], &config);
        assert_refused(
            agent_try(aq_algorithm_at(algorithms[i]), &config, schema, 1, &algorithm, &error),
            AQ_E_UNSUPPORTED, &error, word);
        assert_null(algorithm);
    }
}

TEST(tasks_that_are_not_for_them_are_refused_in_words)
{
    aq_schema schema;

    make_schema(&schema);
    aq_space_init_discrete(&schema.action, 3);
    check_unsupported(&schema, "dqn");
    make_schema(&schema);
    schema.action.high[0] = INFINITY;
    check_unsupported(&schema, "bounds");
    make_schema(&schema);
    aq_space_init_discrete(&schema.obs, 3);
    check_unsupported(&schema, "observations");
    make_schema(&schema);
    schema.obs.shape[0] = AQ_NET_WIDTH_MAX;
    check_unsupported(&schema, "critic");
}

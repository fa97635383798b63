/*
 * What d4pg, ddpg, td3, sac, dsac, td3_bc, iql and cql share, of each of them;
 * test_golden_steps.c has their numbers.
 */
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/algorithms/actor_critic/actor_critic.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 5, ACTIONS = 2, CHOICES = 3, ROWS = 12 };

static const struct learned {
    enum aq_algorithm algorithm;
    bool has_choices; /* else numbers */
    uint32_t head, outputs;
} learned[] = {
    {AQ_ALGORITHM_D4PG, false, AQ_HEAD_TANH_BOX, ACTIONS},
    {AQ_ALGORITHM_DDPG, false, AQ_HEAD_TANH_BOX, ACTIONS},
    {AQ_ALGORITHM_TD3, false, AQ_HEAD_TANH_BOX, ACTIONS},
    {AQ_ALGORITHM_SAC, false, AQ_HEAD_SQUASHED, 2 * ACTIONS},
    {AQ_ALGORITHM_SAC, true, AQ_HEAD_CATEGORICAL, CHOICES},
    {AQ_ALGORITHM_DSAC, false, AQ_HEAD_SQUASHED, 2 * ACTIONS},
    {AQ_ALGORITHM_TD3_BC, false, AQ_HEAD_TANH_BOX, ACTIONS},
    {AQ_ALGORITHM_IQL, false, AQ_HEAD_TANH_BOX, ACTIONS},
    {AQ_ALGORITHM_IQL, true, AQ_HEAD_ARGMAX, CHOICES},
    {AQ_ALGORITHM_CQL, false, AQ_HEAD_SQUASHED, 2 * ACTIONS},
    {AQ_ALGORITHM_CQL, true, AQ_HEAD_CATEGORICAL, CHOICES},
};
static const struct learned *const td3 = &learned[2];

static bool is_soft(const struct learned *of)
{
    return of->algorithm == AQ_ALGORITHM_SAC || of->algorithm == AQ_ALGORITHM_DSAC ||
           of->algorithm == AQ_ALGORITHM_CQL;
}

static bool is_delayed(const struct learned *of)
{
    return of->algorithm == AQ_ALGORITHM_TD3 || of->algorithm == AQ_ALGORITHM_TD3_BC;
}

typedef struct fixture {
    aq_agent *algorithm;
    aq_batch *batch;
    bool has_choices;
    aq_rng rng;
} fixture;

static aq_schema make_schema(bool has_choices)
{
    const float low[] = {-10, -10, -10, -10, -10}, high[] = {10, 10, 10, 10, 10};
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, INPUTS, low, high);
    aq_space_init_box(&schema.action, ACTIONS, (const float[]){-2, 0}, (const float[]){2, 3});
    if (has_choices) {
        aq_space_init_discrete(&schema.action, CHOICES);
    }
    return schema;
}

static aq_run_config make_config(const struct learned *of)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    config.learner.algorithm = of->algorithm;
    config.learner.batch_size = ROWS;
    config.learner.learning_rate = 1e-3;
    config.learner.target_period = 4;
    config.learner.norm_first = true;
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    assert_int_equal(aq_text_set(config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "20"), 0);
    return config;
}

static void randomize(fixture *f)
{
    const float middle[] = {0, 1.5f}, half[] = {2, 1.5f};
    float *action = (float *)(void *)f->batch->action;
    for (uint32_t i = 0; i < ROWS * INPUTS; i++) {
        fixture_obs(f->batch)[i] = (float)aq_rng_normal(&f->rng);
        fixture_next_obs(f->batch)[i] = (float)aq_rng_normal(&f->rng);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        if (f->has_choices) {
            fixture_set_action(f->batch, i, (int32_t)aq_rng_below(&f->rng, CHOICES));
        }
        for (uint32_t a = 0; a < ACTIONS && !f->has_choices; a++) {
            *action++ = middle[a] + half[a] * (float)aq_rng_range(&f->rng, -1, 1);
        }
        f->batch->reward[i] = (float)aq_rng_range(&f->rng, -1, 1);
        f->batch->bootstrap[i] = i % 3 == 2 ? 0.0f : 0.9f;
        f->batch->weight[i] = (float)aq_rng_range(&f->rng, 0.2, 1);
        f->batch->priority[i] = -1.0f;
    }
}

static fixture make_with(const struct learned *of, const aq_run_config *config)
{
    const aq_schema schema = make_schema(of->has_choices);
    const aq_algorithm_class *class = aq_algorithm_at(config->learner.algorithm);
    fixture f = {.algorithm = agent_of(class, config, &schema, 7),
                 .batch = fixture_batch(&schema, ROWS),
                 .has_choices = of->has_choices,
                 .rng = rng_of(5, 0)};
    randomize(&f);
    return f;
}

static fixture make(const struct learned *of)
{
    const aq_run_config config = make_config(of);
    return make_with(of, &config);
}

static void train(fixture *f, int steps)
{
    for (int i = 0; i < steps; i++) {
        randomize(f);
        agent_train(f->algorithm, f->batch);
    }
}

TEST(the_policys_parameters_are_the_first)
{
    EACH_ROW(i, learned) {
        fixture f = make(&learned[i]);
        const aq_net_spec *spec = aq_agent_spec(f.algorithm);
        const aq_params *policy = aq_agent_policy(f.algorithm);
        assert_ptr_equal(policy->block, agent_state(f.algorithm).parameters);
        assert_int_equal(policy->count, aq_net_spec_parameters(spec));
        assert_true(agent_state(f.algorithm).count > policy->count);
        assert_int_equal(aq_net_spec_inputs(spec), INPUTS);
        const aq_run_config config = make_config(&learned[i]);
        const aq_schema schema = make_schema(learned[i].has_choices);
        const bool is_tanh = learned[i].head == AQ_HEAD_TANH_BOX;
        assert_int_equal(aq_net_spec_outputs(spec), learned[i].outputs);
        assert_int_equal(spec->layers[spec->layer_count - 1].activation,
                         is_tanh ? AQ_ACTIVATION_TANH : AQ_ACTIVATION_NONE);
        assert_int_equal(aq_algorithm_acts_by(aq_agent_class(f.algorithm), &config, &schema),
                         learned[i].head);
    }
}

/* Where what targets follow begins: a policy that draws has no older copy. */
static size_t followed_from(const struct learned *of, const fixture *f)
{
    return is_soft(of) ? aq_agent_policy(f->algorithm)->count : 0;
}

TEST(targets_are_copied_every_period)
{
    EACH_ROW(i, learned) {
        fixture f = make(&learned[i]);
        for (uint64_t step = 1; step <= 9; step++) {
            const kept_copy before = agent_copy(f.algorithm);
            train(&f, 1);
            const kept_state s = agent_state(f.algorithm);
            const float *now = s.parameters + followed_from(&learned[i], &f);
            const float *want = step % 4 == 0 ? now : before.state.target;
            assert_memory_equal(s.target, want, s.target_count * sizeof(float));
        }
    }
}

TEST(targets_follow_by_tau_when_the_policy_does)
{
    EACH_ROW(i, learned) {
        aq_run_config config = make_config(&learned[i]);
        config.learner.tau = 0.25;
        fixture f = make_with(&learned[i], &config);
        for (uint64_t step = 1; step <= 4; step++) {
            const kept_copy before = agent_copy(f.algorithm);
            train(&f, 1);
            const kept_state s = agent_state(f.algorithm);
            const float *now = s.parameters + followed_from(&learned[i], &f);
            const bool follows = !is_delayed(&learned[i]) || step % 2 == 0;
            for (size_t k = 0; k < s.target_count; k++) {
                const float old = before.state.target[k];
                const float want = follows ? old + 0.25f * (now[k] - old) : old;
                assert_near(s.target[k], want, 1e-6);
            }
        }
    }
}

TEST(td3_improves_its_policy_now_and_then)
{
    fixture f = make(td3);
    for (uint64_t step = 1; step <= 6; step++) {
        const kept_copy before = agent_copy(f.algorithm);
        train(&f, 1);
        const aq_params *policy = aq_agent_policy(f.algorithm);
        const bool same =
            memcmp(policy->block, before.state.parameters, policy->count * sizeof(float)) == 0;
        assert_int_equal(same, step % 2 == 1);
    }
}

TEST(the_policys_figures_are_told_where_it_is_improved)
{
    fixture f = make(td3);
    for (uint64_t step = 1; step <= 4; step++) {
        const aq_update_report report = agent_train(f.algorithm, f.batch);
        for (size_t i = AQ_POLICY_LOSS; i <= AQ_POLICY_SATURATED; i++) {
            assert_int_equal(isnan(report.metrics[i]), step % 2 == 1);
        }
        assert_true(isfinite(report.metrics[AQ_VALUE_LEAST]));
    }
}

TEST(actions_at_their_bounds_are_counted)
{
    EACH_ROW(i, learned) {
        if (learned[i].has_choices) {
            continue;
        }
        fixture f = make(&learned[i]);
        const kept_state kept = agent_state(f.algorithm);
        const size_t policy = aq_agent_policy(f.algorithm)->count;
        aq_update_report report = {.steps = 0};
        for (size_t k = 0; k < policy; k++) {
            kept.parameters[k] *= 1e3f;
        }
        for (int step = 0; step < 2; step++) { /* td3 improves its policy in the second */
            report = agent_train(f.algorithm, f.batch);
        }
        assert_true(report.metrics[AQ_POLICY_SATURATED] > 0.9);
        assert_true(report.metrics[AQ_POLICY_SATURATED] <= 1);
    }
}

TEST(priorities_are_written_and_not_negative)
{
    EACH_ROW(i, learned) {
        fixture f = make(&learned[i]);
        train(&f, 1);
        for (uint32_t r = 0; r < ROWS; r++) {
            assert_true(f.batch->priority[r] >= 0.0f);
        }
    }
}

/* A training step is refused and has changed nothing; then the batch is good again. */
static void check_refused(fixture *f)
{
    aq_update_report stats;
    const kept_copy before = agent_copy(f->algorithm);
    assert_int_equal(aq_agent_train(f->algorithm, f->batch, &stats), AQ_E_CORRUPT);
    agent_assert_as(f->algorithm, &before);
    randomize(f);
}

TEST(what_is_not_finite_is_refused_and_changes_nothing)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    EACH_ROW(i, learned) {
        fixture f = make(&learned[i]);
        train(&f, 3);
        for (size_t b = 0; b < 3; b++) {
            f.batch->reward[1] = bad[b];
            check_refused(&f);
            f.batch->weight[2] = bad[b];
            check_refused(&f);
            f.batch->bootstrap[3] = bad[b];
            check_refused(&f);
        }
        fixture_obs(f.batch)[5] = NAN;
        check_refused(&f);
        fixture_next_obs(f.batch)[5] = NAN;
        check_refused(&f);
    }
}

TEST(an_action_out_of_bounds_is_refused)
{
    const float bad[] = {2.1f, -2.1f, NAN, INFINITY};
    const int32_t bad_choices[] = {-1, CHOICES, INT32_MAX, INT32_MIN};
    EACH_ROW(i, learned) {
        fixture f = make(&learned[i]);
        for (size_t b = 0; b < 4; b++) {
            if (f.has_choices) {
                fixture_set_action(f.batch, 2, bad_choices[b]);
            } else {
                ((float *)(void *)f.batch->action)[2 * ACTIONS] = bad[b];
            }
            check_refused(&f);
        }
    }
}

TEST(the_same_steps_give_the_same_bits_on_every_rung)
{
    EACH_ROW(i, learned) {
        fixture a = make(&learned[i]);
        train(&a, 20);
        aq_cpu_set_mask(0);
        fixture b = make(&learned[i]);
        train(&b, 20);
        aq_cpu_set_mask(UINT32_MAX);
        agent_assert_same(a.algorithm, b.algorithm);
    }
}

TEST(the_same_steps_on_three_threads_give_the_same_bits)
{
    EACH_ROW(i, learned) {
        aq_run_config config = make_config(&learned[i]);
        config.learner.threads = 3;
        fixture a = make_with(&learned[i], &config);
        fixture b = make_with(&learned[i], &config);
        train(&a, 20);
        train(&b, 20);
        agent_assert_same(a.algorithm, b.algorithm);
    }
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    EACH_ROW(i, learned) {
        fixture a = make(&learned[i]);
        fixture b = make(&learned[i]);
        train(&a, 7);
        train(&b, 2); /* something else to be overwritten */
        const kept_copy middle = agent_copy(a.algorithm);
        agent_take_up(b.algorithm, &middle);
        b.rng = a.rng;
        train(&a, 6);
        train(&b, 6);
        agent_assert_same(a.algorithm, b.algorithm);
    }
}

TEST(training_allocates_nothing)
{
    EACH_ROW(i, learned) {
        aq_run_config config = make_config(&learned[i]);
        config.learner.threads = 2;
        fixture f = make_with(&learned[i], &config);
        const uint64_t before = aq_memory_allocation_count();
        train(&f, 5);
        assert_int_equal(aq_memory_allocation_count(), before);
    }
}

enum { DRAWS = 40 * ROWS };

/* The target policy gives tanh(bias) for the first number whatever it sees, the target critics that
 * number + 9 and the others 0. So a row's priority tells its target action. */
static void show_target_actions(fixture *f, float bias)
{
    enum { NUMBER = INPUTS, BIAS = INPUTS + ACTIONS, LAST, CRITIC = LAST + 2 };
    const kept_state kept = agent_state(f->algorithm);
    const size_t policy = aq_agent_policy(f->algorithm)->count;
    assert_int_equal(kept.target_count, policy + 2 * CRITIC);
    memset(kept.parameters, 0, kept.count * sizeof(float));
    memset(kept.target, 0, kept.target_count * sizeof(float));
    kept.target[policy - ACTIONS] = bias;
    for (size_t at = policy; at < kept.target_count; at += CRITIC) {
        kept.target[at + NUMBER] = kept.target[at + LAST] = 1;
        kept.target[at + BIAS] = 9;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        f->batch->reward[i] = 0;
        f->batch->bootstrap[i] = 1;
    }
}

static void draw_target_actions(double noise, double clip, float bias, float *ret_actions)
{
    aq_run_config config = make_config(td3);
    config.learner.target_noise = noise;
    config.learner.target_noise_clip = clip;
    config.learner.norm_first = false;
    assert_int_equal(aq_text_set(config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "1"), 0);
    fixture f = make_with(td3, &config);
    for (uint32_t i = 0; i < DRAWS; i++) {
        if (i % ROWS == 0) {
            show_target_actions(&f, bias);
            agent_train(f.algorithm, f.batch);
        }
        ret_actions[i] = f.batch->priority[i % ROWS] - 9;
    }
}

/* Of noise that is hardly ever clipped, the mean and the deviation; else its bounds. */
TEST(target_actions_of_td3_are_off_by_the_noise_of_the_settings)
{
    const float rounding = 1e-5f, action = tanhf(0.5f);
    float actions[DRAWS];
    double sum = 0, squares = 0;
    draw_target_actions(0.05, 0.5, 0.5f, actions);
    for (int i = 0; i < DRAWS; i++) {
        const double noise = (double)(actions[i] - action);
        sum += noise / DRAWS;
        squares += noise * noise / DRAWS;
    }
    assert_near(sum, 0, 0.01);
    assert_near(sqrt(squares), 0.05, 0.005);
    draw_target_actions(2, 0.1, 0.5f, actions);
    for (int i = 0; i < DRAWS; i++) {
        assert_true(fabsf(actions[i] - action) <= 0.1f + rounding);
    }
    draw_target_actions(2, 2, 0.5f, actions);
    for (int i = 0; i < DRAWS; i++) {
        assert_true(fabsf(actions[i]) <= 1 + rounding);
    }
}

TEST(the_policy_acts_quantized_where_training_does)
{
    EACH_ROW(i, learned) {
        aq_run_config config = make_config(&learned[i]);
        config.learner.qat_bits = 8;
        config.learner.qat_delay = 2;
        fixture f = make_with(&learned[i], &config);
        const float *real = agent_state(f.algorithm).parameters;
        assert_ptr_equal(aq_agent_policy(f.algorithm)->block, real);
        train(&f, 4);
        const aq_params *acting = aq_agent_policy(f.algorithm);
        assert_ptr_not_equal(acting->block, real);
        for (size_t k = 0; k < acting->count; k++) {
            assert_true(fabsf(acting->block[k] - real[k]) < 0.05f);
        }
    }
}

TEST(create_survives_the_failure_of_each_allocation)
{
    EACH_ROW(i, learned) {
        const aq_schema schema = make_schema(learned[i].has_choices);
        const aq_algorithm_class *class = aq_algorithm_at(learned[i].algorithm);
        aq_run_config config = make_config(&learned[i]);
        aq_agent *algorithm = NULL;
        int rc, tries = 0;
        config.learner.threads = 2;
        config.learner.qat_bits = 8;
        EACH_ALLOCATION_FAILS(rc) {
            assert_null(algorithm);
            rc = agent_try(class, &config, &schema, 1, &algorithm, NULL);
            tries++;
        }
        assert_true(tries > 8);
        aq_agent_destroy(algorithm);
    }
    aq_agent_destroy(NULL);
}

static void check_unsupported(const aq_schema *schema, const char *word)
{
    EACH_ROW(i, learned) {
        const aq_run_config config = make_config(&learned[i]);
        aq_agent *algorithm = NULL;
        assert_refused(agent_try(aq_algorithm_at(learned[i].algorithm), &config, schema, 1,
                                 &algorithm, &refusal),
                       AQ_E_UNSUPPORTED, word);
        assert_null(algorithm);
    }
}

TEST(tasks_that_are_not_for_them_are_refused_in_words)
{
    aq_schema schema = make_schema(false);
    schema.action.high[0] = INFINITY;
    check_unsupported(&schema, "bounds");
    schema = make_schema(false);
    schema.obs.shape[0] = AQ_NET_WIDTH_MAX;
    check_unsupported(&schema, "critic");
}

TEST(those_for_numbers_refuse_choices_in_words)
{
    const aq_schema schema = make_schema(true);
    EACH_ROW(i, learned) {
        const aq_run_config config = make_config(&learned[i]);
        aq_agent *algorithm = NULL;
        if (aq_algorithm_takes(learned[i].algorithm, &schema.action)) {
            continue;
        }
        assert_refused(agent_try(aq_algorithm_at(learned[i].algorithm), &config, &schema, 1,
                                 &algorithm, &refusal),
                       AQ_E_UNSUPPORTED, "dqn");
    }
}

/*
 * On-policy algorithms: each finds the actions of a small problem whose answer is known, goes on
 * from a checkpoint as if nothing had happened, and refuses what it cannot learn from.
 *
 * The problem: an observation x of two numbers; reward is what the action has of x. Of choices, the
 * right one is that of the sign of x[0]; of several, each has its own; of numbers, x[0] / 2.
 */
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "common/policy/draw_source.h"
#include "common/policy/head.h"
#include "common/sys/cpu.h"
#include "learner/algorithms/on_policy/on_policy.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { INPUTS = 2, ROWS = 16, STEPS = 4, GROUP = ROWS * STEPS, SCRATCH = 4096 };

extern const aq_algorithm_class aq_ppo_class, aq_a2c_class, aq_reinforce_class, aq_trpo_class,
    aq_impala_class;
static const aq_algorithm_class *const classes[] = {
    &aq_ppo_class, &aq_a2c_class, &aq_reinforce_class, &aq_trpo_class, &aq_impala_class};

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *group;
    const aq_head *head;
    aq_rng rng;
    uint64_t drawn;
    float size; /* of observations, which are that much off, too; 0: they are not scaled */
} stand;

enum problem { CHOICES, SEVERAL, NUMBERS, NUMBERS_GSDE, PROBLEMS };

static aq_run_config config_of(enum problem problem)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16"), 0);
    config.learner.activation = 2; /* tanh, see the table's choices */
    config.learner.learning_rate = 0.01;
    config.learner.group_steps = GROUP;
    config.learner.epochs = 4;
    config.learner.minibatches = 2;
    config.learner.gsde = problem == NUMBERS_GSDE;
    config.replay.selector = AQ_SELECTOR_QUEUE;
    config.replay.sequence_length = STEPS;
    config.replay.sequence_period = STEPS;
    return config;
}

static stand make(const aq_algorithm_class *class, enum problem problem)
{
    const float low[INPUTS] = {-1, -1}, high[INPUTS] = {1, 1};
    stand all = {.config = config_of(problem), .rng = rng_of(5, problem)};
    aq_space_init_box(&all.schema.obs, INPUTS, low, high);
    if (problem == CHOICES) {
        aq_space_init_discrete(&all.schema.action, 2);
    } else if (problem == SEVERAL) {
        aq_space_init_choices(&all.schema.action, 2, (uint32_t[]){2, 3});
    } else {
        aq_space_init_box(&all.schema.action, 1, low, high);
    }
    all.agent = agent_of(class, &all.config, &all.schema, 7);
    all.head = aq_head_of(aq_algorithm_acts_by(class, &all.config, &all.schema));
    all.group = fixture_recorded(&all.schema, class->needs.columns, STEPS, ROWS);
    return all;
}

static const float *outputs_of(stand *all, const float *obs)
{
    static float scratch[SCRATCH], outputs[SCRATCH];
    aq_forward_reference(aq_agent_spec(all->agent), aq_agent_policy(all->agent), obs, 1, scratch,
                         outputs);
    return outputs;
}

static aq_head_terms terms_of(stand *all)
{
    return (aq_head_terms){.head = all->head,
                           .action = &all->schema.action,
                           .width = aq_net_spec_outputs(aq_agent_spec(all->agent)),
                           .arrays = aq_agent_policy(all->agent)->block};
}

static void draw_obs(stand *all, float *obs)
{
    for (int i = 0; i < INPUTS; i++) {
        obs[i] = (float)aq_rng_range(&all->rng, -1, 1);
        obs[i] = all->size > 0 ? all->size * (obs[i] + 1) : obs[i];
    }
}

static double reward_of(const stand *all, const float *observed, const uint8_t *action)
{
    const float obs[] = {all->size > 0 ? observed[0] / all->size - 1 : observed[0]};
    const int32_t *choices = (const int32_t *)(const void *)action;
    if (aq_space_is_several(&all->schema.action)) {
        return (choices[0] == (obs[0] > 0) ? 0.5 : 0.0) +
               (choices[1] == (obs[0] > 0 ? 0 : 2) ? 0.5 : 0.0);
    }
    if (all->schema.action.kind == AQ_SPACE_DISCRETE) {
        return choices[0] == (obs[0] > 0) ? 1.0 : 0.0;
    }
    const double away = (double)*(const float *)(const void *)action - 0.5 * (double)obs[0];
    return 1.0 - 4.0 * away * away;
}

static float *recorded(const stand *all, int which)
{
    return (float *)(void *)all->group->columns[AQ_BATCH_RECORDED + 2 * which].bytes;
}

static void fill_step(stand *all, uint32_t row, uint32_t t)
{
    aq_batch *group = all->group;
    const size_t place = (size_t)row * STEPS + t;
    float *obs = (float *)(void *)group->obs + ((size_t)row * (STEPS + 1) + t) * INPUTS;
    const aq_head_terms terms = terms_of(all);
    float noise[64], drawn[4] = {0};
    uint8_t *action = group->action + place * group->action_bytes;
    const uint32_t count = all->head->drawing->noise_count(&terms);
    assert_true(count <= 64);
    draw_obs(all, obs);
    const aq_draw_at at = {.key = 9, .draw = all->drawn++, .lane = row, .octaves = 1};
    aq_draw_noise(all->head->drawing, &at, count, noise);
    recorded(all, 0)[place] =
        all->head->drawing->draw(&terms, outputs_of(all, obs), noise, action, drawn);
    if (all->schema.action.kind == AQ_SPACE_BOX) {
        recorded(all, 1)[place] = drawn[0];
    }
    group->reward[place] = (float)reward_of(all, obs, action);
    group->bootstrap[place] = t + 1 == STEPS ? 0.0f : 0.5f;
    group->version[place] = 1;
}

static void fill(stand *all)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        all->group->length[row] = 1 + row % STEPS; /* short ones, too */
        all->group->weight[row] = 1;
        for (uint32_t t = 0; t < all->group->length[row]; t++) {
            fill_step(all, row, t);
        }
    }
}

static aq_update_report update(stand *all)
{
    fill(all);
    return agent_train(all->agent, all->group);
}

static double greedy_reward(stand *all)
{
    enum { TRIES = 200 };
    const aq_head_terms terms = terms_of(all);
    double sum = 0;
    for (int i = 0; i < TRIES; i++) {
        float obs[INPUTS];
        uint8_t action[8];
        draw_obs(all, obs);
        all->head->act(&terms, outputs_of(all, obs), 1, action);
        sum += reward_of(all, obs, action) / TRIES;
    }
    return sum;
}

TEST(each_finds_the_actions_of_a_small_problem)
{
    for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
        for (enum problem problem = 0; problem < PROBLEMS; problem++) {
            stand all = make(classes[c], problem);
            for (int i = 0; i < 300; i++) {
                (void)update(&all);
            }
            const double reward = greedy_reward(&all);
            if (reward < 0.93) {
                fail_msg("%s, problem %d: %g", classes[c]->name, (int)problem, reward);
            }
        }
    }
}

/* Where the divergence is no square any more, the step is halved until it is within bounds. */
TEST(trpo_goes_no_further_than_its_trust_region)
{
    for (enum problem problem = 0; problem < PROBLEMS; problem++) {
        stand all = make(&aq_trpo_class, problem);
        all.config.learner.kl_max = 0.5;
        all.config.learner.cg_damping = 0.001;
        all.agent = agent_of(&aq_trpo_class, &all.config, &all.schema, 7);
        double sum = 0;
        for (int i = 0; i < 20; i++) {
            const double kl = update(&all).metrics[AQ_ON_POLICY_STEP_KL];
            assert_true(kl <= 1.5 * all.config.learner.kl_max);
            sum += kl;
        }
        assert_true(sum > 0.5 * all.config.learner.kl_max);
    }
}

/* Ten times half of a step that is much too far. */
TEST(trpo_stays_where_no_step_is_better)
{
    stand all = make(&aq_trpo_class, NUMBERS);
    all.config.learner.kl_max = 1e9;
    all.config.learner.normalize_advantages = false;
    all.agent = agent_of(&aq_trpo_class, &all.config, &all.schema, 7);
    const size_t policy = aq_agent_policy(all.agent)->count;
    const kept_copy before = agent_copy(all.agent);
    fill(&all);
    for (uint32_t i = 0; i < GROUP; i++) {
        all.group->reward[i] = 10; /* anything else would be worse */
    }
    (void)agent_train(all.agent, all.group);
    assert_memory_equal(agent_state(all.agent).parameters, before.state.parameters,
                        policy * sizeof(float));
}

/* The policy that drew is the policy that learns: ratios are 1, but for rounding. */
TEST(its_own_draws_are_as_likely_as_it_says)
{
    for (enum problem problem = 0; problem < PROBLEMS; problem++) {
        stand all = make(&aq_ppo_class, problem);
        aq_metric_list list = *aq_agent_metrics(all.agent);
        const aq_update_report report = update(&all);
        for (size_t i = 0; i < list.count; i++) {
            const double value = report.metrics[i];
            if (strcmp(list.rows[i].name, "actor_k3") == 0) {
                assert_near(value, 0, 1e-6);
            } else if (strcmp(list.rows[i].name, "effective_share") == 0) {
                assert_near(value, 1, 1e-4);
            }
        }
    }
}

TEST(the_same_updates_give_the_same_bits_on_every_rung)
{
    for (enum problem problem = 0; problem < PROBLEMS; problem++) {
        stand a = make(&aq_ppo_class, problem);
        for (int i = 0; i < 5; i++) {
            (void)update(&a);
        }
        aq_cpu_set_mask(0);
        stand b = make(&aq_ppo_class, problem);
        for (int i = 0; i < 5; i++) {
            (void)update(&b);
        }
        aq_cpu_set_mask(UINT32_MAX);
        agent_assert_same(a.agent, b.agent);
    }
}

TEST(a_restored_one_goes_on_as_if_nothing_had_happened)
{
    for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
        stand a = make(classes[c], NUMBERS), b = make(classes[c], NUMBERS);
        for (int i = 0; i < 3; i++) {
            (void)update(&a);
        }
        const kept_copy kept = agent_copy(a.agent);
        agent_take_up(b.agent, &kept);
        b.rng = a.rng;
        b.drawn = a.drawn;
        for (int i = 0; i < 3; i++) {
            (void)update(&a);
            (void)update(&b);
        }
        agent_assert_same(a.agent, b.agent);
    }
}

TEST(what_is_not_finite_and_an_action_that_does_not_exist_are_refused)
{
    for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
        stand all = make(classes[c], c % 2 == 0 ? CHOICES : SEVERAL);
        aq_update_report report = {0};
        fill(&all);
        const kept_copy before = agent_copy(all.agent);
        all.group->reward[0] = NAN;
        assert_int_equal(aq_agent_train(all.agent, all.group, &report), AQ_E_CORRUPT);
        agent_assert_as(all.agent, &before);
        fill(&all);
        memcpy(all.group->action, &(int32_t){2}, sizeof(int32_t));
        assert_int_equal(aq_agent_train(all.agent, all.group, &report), AQ_E_CORRUPT);
        agent_assert_as(all.agent, &before);
        (void)update(&all);
    }
}

TEST(trpo_takes_no_step_along_a_gradient_beyond_bounds)
{
    stand all = make(&aq_trpo_class, NUMBERS);
    aq_update_report report = {0};
    all.config.learner.normalize_advantages = false;
    all.agent = agent_of(&aq_trpo_class, &all.config, &all.schema, 7);
    const kept_copy before = agent_copy(all.agent);
    fill(&all);
    for (uint32_t i = 0; i < GROUP; i++) {
        all.group->reward[i] *= 1e30f;
    }
    assert_int_equal(aq_agent_train(all.agent, all.group, &report), AQ_E_CORRUPT);
    assert_memory_equal(agent_state(all.agent).parameters, before.state.parameters,
                        before.state.count * sizeof(float));
}

/* Advantages are normalized, so it is the values' gradient alone that is beyond bounds. */
TEST(no_policy_moves_where_the_values_can_not_step_along_their_gradient)
{
    static const aq_algorithm_class *const ones[] = {&aq_ppo_class, &aq_trpo_class};
    EACH_ROW(c, ones) {
        stand all = make(ones[c], NUMBERS);
        aq_update_report report = {0};
        all.config.learner.gradient_clip = 0;
        all.config.learner.normalize_advantages = true;
        all.agent = agent_of(ones[c], &all.config, &all.schema, 7);
        const kept_copy before = agent_copy(all.agent);
        fill(&all);
        for (uint32_t i = 0; i < GROUP; i++) {
            all.group->reward[i] *= 1e30f;
        }
        assert_int_equal(aq_agent_train(all.agent, all.group, &report), AQ_E_CORRUPT);
        assert_int_equal(report.steps, 0);
        assert_memory_equal(agent_state(all.agent).parameters, before.state.parameters,
                            before.state.count * sizeof(float));
    }
}

/* It deviates from no other, and is one minibatch. */
TEST(a_single_step_is_a_group)
{
    for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
        stand all = make(classes[c], CHOICES);
        all.config.learner.normalize_advantages = true;
        all.agent = agent_of(classes[c], &all.config, &all.schema, 7);
        const uint64_t of_two = update(&all).steps; /* for each epoch; or one, of those without */
        fill(&all);
        all.group->rows = all.group->length[0] = 1;
        assert_int_equal(agent_train(all.agent, all.group).steps, (of_two + 1) / 2);
    }
}

/* A hundred times as large, and far from 0: learned all the same once they are normalized. */
TEST(observations_of_sequences_are_normalized)
{
    stand all = make(&aq_ppo_class, CHOICES);
    all.config.learner.normalize_obs = true;
    all.agent = agent_of(&aq_ppo_class, &all.config, &all.schema, 7);
    all.size = 100;
    for (int i = 0; i < 300; i++) {
        (void)update(&all);
    }
    assert_true(greedy_reward(&all) > 0.93);
    assert_true(agent_state(all.agent).statistics[0] > 300 * GROUP / 2);
}

TEST(policy_and_values_have_rates_of_their_own)
{
    stand all = make(&aq_ppo_class, NUMBERS);
    const size_t policy = aq_agent_policy(all.agent)->count;
    kept_copy before = agent_copy(all.agent);
    const size_t bytes = sizeof(float);
    aq_agent_set_rates(all.agent, 0, 0.01);
    (void)update(&all);
    assert_memory_equal(agent_state(all.agent).parameters, before.state.parameters, policy * bytes);
    assert_memory_not_equal(agent_state(all.agent).parameters + policy,
                            before.state.parameters + policy,
                            (before.state.count - policy) * bytes);
    aq_agent_set_rates(all.agent, 0.01, 0);
    (void)update(&all);
    assert_memory_not_equal(agent_state(all.agent).parameters, before.state.parameters,
                            policy * bytes);
}

TEST(settings_that_make_no_sense_are_refused_in_words)
{
    stand all = make(&aq_ppo_class, NUMBERS);
    aq_agent *agent = NULL;
    all.config.learner.qat_bits = 8;
    assert_refused(agent_try(&aq_ppo_class, &all.config, &all.schema, 1, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "learner.qat_bits=0 works");
    all.config = config_of(NUMBERS);
    all.config.actor.noise_octaves = 10;
    assert_refused(agent_try(&aq_ppo_class, &all.config, &all.schema, 1, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "actor.noise_octaves=1 works");
    all.config.learner.gsde = true;
    assert_int_equal(agent_try(&aq_ppo_class, &all.config, &all.schema, 1, &agent, NULL), 0);
    aq_agent_destroy(agent);
    all.config = config_of(NUMBERS_GSDE);
    all.config.learner.hidden[0] = '\0';
    assert_refused(agent_try(&aq_ppo_class, &all.config, &all.schema, 1, &agent, &refusal),
                   AQ_E_INVALID, "a hidden layer");
    all.config = config_of(NUMBERS_GSDE);
    all.config.learner.mean_noise = 0.5;
    assert_refused(agent_try(&aq_ppo_class, &all.config, &all.schema, 1, &agent, &refusal),
                   AQ_E_INVALID, "learner.mean_noise=0 works");
    assert_int_equal(agent_try(&aq_a2c_class, &all.config, &all.schema, 1, &agent, NULL), 0);
    aq_agent_destroy(agent);
}

/* ---- gradients ------------------------------------------------------------------------------ */

/* Of an update that is one gradient step; its losses are a function of parameters alone: targets
 * are rewards, and weights are constant by the correction or, of impala, by actors that found
 * everything less likely. Some ratios of ppo are beyond its clip. */
static stand make_one_step(const aq_algorithm_class *class, enum problem problem)
{
    stand all = make(class, problem);
    const bool is_ppo = class == &aq_ppo_class;
    assert_int_equal(aq_text_set(all.config.learner.critic_hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    all.config.learner.critic_activation = all.config.learner.activation;
    all.config.learner.epochs = all.config.learner.minibatches = 1;
    all.config.learner.normalize_advantages = false;
    all.config.learner.entropy_weight = 0.1;
    all.config.learner.gradient_clip = 0;
    all.config.learner.correction = is_ppo ? AQ_CORRECTION_BYPASS : AQ_CORRECTION_NONE;
    all.agent = agent_of(class, &all.config, &all.schema, 7);
    fill(&all);
    for (size_t i = 0; i < GROUP; i++) {
        all.group->bootstrap[i] = 0;
        recorded(&all, 0)[i] += (i % 2 == 0 ? 0.3f : -0.3f) - (is_ppo ? 0 : 2);
    }
    return all;
}

/* By parameter `i` moved by `by`. */
static double loss_at(stand *all, const kept_copy *from, size_t i, float by, int metric)
{
    agent_take_up(all->agent, from);
    agent_state(all->agent).parameters[i] += by;
    return agent_train(all->agent, all->group).metrics[metric];
}

/* From its first moment, Adam's mean is a tenth of the gradient. trpo's is in its ten steps. */
TEST(whole_gradients_agree_with_finite_differences)
{
    static const aq_algorithm_class *const ones[] = {&aq_ppo_class, &aq_a2c_class,
                                                     &aq_reinforce_class, &aq_impala_class};
    const float apart = 1.0f / 512;
    EACH_ROW(c, ones) {
        for (enum problem problem = 0; problem < PROBLEMS; problem++) {
            stand all = make_one_step(ones[c], problem);
            const kept_copy from = agent_copy(all.agent);
            const aq_params *policy = aq_agent_policy(all.agent);
            /* Where features have no gradient through the variance, the arrays are looked at. */
            const size_t first = problem == NUMBERS_GSDE
                                     ? aq_net_spec_array_values(aq_agent_spec(all.agent))
                                     : policy->count;
            (void)agent_train(all.agent, all.group);
            const kept_copy after = agent_copy(all.agent);
            for (size_t i = 0; i < from.state.count; i = i + 1 == first ? policy->count : i + 1) {
                const int metric = i < first ? AQ_ON_POLICY_LOSS : AQ_ON_POLICY_VALUE_LOSS;
                const double more = loss_at(&all, &from, i, apart, metric);
                const double less = loss_at(&all, &from, i, -apart, metric);
                assert_near(10 * (double)after.state.adam_m[i], (more - less) / (2 * (double)apart),
                            5e-3);
            }
        }
    }
}

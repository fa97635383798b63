/*
 * On-policy: making and keeping it, and the order of an update. See on_policy.h.
 */
#include "learner/algorithms/on_policy/on_policy.h"

#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/config/pacing.h"
#include "common/experience/column_catalog.h"
#include "learner/algorithms/on_policy/on_policy_network.h"
#include "learner/algorithms/on_policy/on_policy_priv.h"
#include "learner/nn/products.h"

/* Streams of the run's seed: "onpolicy", "minibatc". */
#define INIT_STREAM  UINT64_C(0x6f6e706f6c696379)
#define BATCH_STREAM UINT64_C(0x6d696e6962617463)

enum { RANK_SHIFT = 48 }; /* beyond any number of updates */

#define TRUST_REGION 0.01 /* where learner.kl_max is 0 */

const char *const aq_on_policy_columns[] = {"log_prob", "drawn", AQ_STATE_COLUMN, NULL};

#define ROW(number, called, shown, text, ...)                                                      \
    [number] = {.name = (called), .title = (shown), .unit = "", .meaning = (text), __VA_ARGS__}
const aq_metric aq_on_policy_metrics[AQ_ON_POLICY_METRICS] = {
    ROW(AQ_ON_POLICY_LOSS, "loss", "policy loss",
        "Mean loss of the policy over the last second.", ),
    ROW(AQ_ON_POLICY_VALUE_LOSS, "value_loss", "value loss",
        "Mean loss of the values over the last second.", .is_logarithmic = true),
    ROW(AQ_ON_POLICY_ENTROPY, "entropy", "entropy",
        "Mean entropy of what actions are drawn from, in nats, over the last second.", ),
    ROW(AQ_ON_POLICY_GRADIENT_NORM, "gradient_norm", "gradient norm",
        "Mean norm of the policy's gradient before it is clipped, over the last second.",
        .is_logarithmic = true),
    ROW(AQ_ON_POLICY_VALUE_GRADIENT_NORM, "value_gradient_norm", "value gradient norm",
        "Mean norm of the value network's gradient before it is clipped, over the last second.",
        .is_logarithmic = true),
    ROW(AQ_ON_POLICY_EXPLAINED, "explained_variance", "explained variance",
        "Share of the variance of what values should have been that the values had, over the "
        "last second.", ),
    ROW(AQ_ON_POLICY_STEP_KL, "step_kl", "update divergence",
        "Mean divergence of the policy before an update from the one during it, in nats, over "
        "the last second.",
        .is_logarithmic = true),
    ROW(AQ_ON_POLICY_OBJECTIVE_CLIPPED, "objective_clipped", "clipped steps",
        "Share of steps whose objective was clipped, over the last second.", ),
    ROW(AQ_ON_POLICY_ACTOR_K1, "actor_k1", "actor divergence k1",
        "Divergence of what drew the actions from the learner's fp32 policy, in nats: mean "
        "log-ratio of the steps, over the last second.", ),
    ROW(AQ_ON_POLICY_ACTOR_K3, "actor_k3", "actor divergence k3",
        "The same by an estimate that is never negative: mean of ratio - 1 - log ratio.",
        .is_logarithmic = true),
    ROW(AQ_ON_POLICY_ACTOR_CHI2, "actor_chi2", "actor chi-square",
        "Mean squared importance ratio less 1: what uncapped weights would add to the gradient's "
        "variance, over the last second.",
        .is_logarithmic = true),
    ROW(AQ_ON_POLICY_EFFECTIVE_SHARE, "effective_share", "effective share",
        "(sum of weights)^2 / sum of squared weights, as a share of the steps, over the last "
        "second.", ),
    ROW(AQ_ON_POLICY_WEIGHTS_CLIPPED, "weights_clipped", "clipped weights",
        "Share of steps whose importance weight was held, over the last second.", ),
};
#undef ROW

static aq_on_policy *self_of(aq_algorithm *algorithm)
{
    AQ_ASSERT(algorithm->class->destroy == aq_on_policy_destroy);
    return (aq_on_policy *)algorithm; /* the head is the first member */
}

/* ---- making it ------------------------------------------------------------------------------ */

static int check(const aq_algorithm_class *class, const aq_algorithm_setup *setup, aq_error *error)
{
    const aq_run_config *config = setup->config;
    const aq_on_policy_kind *kind = class->kind;
    if (kind->clips && config->learner.mean_noise > 0 &&
        aq_algorithm_acts_by(class, config, setup->schema) == AQ_HEAD_GSDE) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.mean_noise moves means that a network gives, with learner.gsde it "
                       "gives features of them; learner.mean_noise=0 works");
    }
    return 0;
}

static int check_state(const aq_net_spec *policy, const aq_algorithm_setup *setup, aq_error *error)
{
    if (aq_net_spec_state(policy) > 0 && aq_gradient_exchange_ranks(setup->exchange) > 1) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a policy that keeps a state (gru, in learner.torso) is trained by one "
                       "learner; it works without --learners");
    }
    return 0;
}

static void take_settings(aq_on_policy *self, const aq_algorithm_setup *setup)
{
    const aq_run_config *config = setup->config;
    const aq_on_policy_kind *kind = self->kind;
    const aq_schema *schema = setup->schema;
    self->rule = (aq_policy_gradient_rule){
        .correction = kind->has_vtrace ? AQ_CORRECTION_VTRACE : config->learner.correction,
        .cap = config->learner.importance_cap,
        .clip = kind->clips ? config->learner.clip : 0.0,
    };
    self->action = schema->action;
    self->drawing = aq_head_of(aq_algorithm_acts_by(self->head.class, config, schema));
    self->inputs = (uint32_t)aq_space_elements(&schema->obs);
    self->elements =
        schema->action.kind == AQ_SPACE_BOX ? (uint32_t)aq_space_elements(&schema->action) : 0;
    self->obs_dtype = schema->obs.dtype;
    self->sequence_steps = setup->sequence_length;
    self->epochs = kind->is_one_pass ? 1 : (uint32_t)config->learner.epochs;
    self->minibatches = kind->is_one_pass ? 1 : (uint32_t)config->learner.minibatches;
    self->steps_max = (uint32_t)aq_pacing_group_steps_max(config, setup->sequence_length);
    self->part_max = kind->improve != NULL || aq_net_spec_state(&self->policy.spec) > 0
                         ? self->steps_max
                         : (self->steps_max + self->minibatches - 1) / self->minibatches;
    self->lambda = kind->has_whole_returns ? 1.0f : (float)config->learner.gae_lambda;
    self->gradient_clip = config->learner.gradient_clip;
    self->entropy_weight = config->learner.entropy_weight;
    self->value_clip = config->learner.value_clip;
    self->kl_max =
        config->learner.kl_max > 0 || kind->improve == NULL ? config->learner.kl_max : TRUST_REGION;
    self->kl_steps = config->learner.cg_steps;
    self->kl_damping = config->learner.cg_damping;
    self->mean_noise = self->elements > 0 && kind->clips ? config->learner.mean_noise : 0.0;
    self->normalizes_advantages = config->learner.normalize_advantages;
    self->recomputes_advantages = config->learner.recompute_advantages;
    self->normalizes_rewards = config->learner.normalize_rewards;
    self->seed = setup->seed;
}

static double critic_rate(double learning_rate, double critic_learning_rate)
{
    return critic_learning_rate > 0 ? critic_learning_rate : learning_rate;
}

static int make_networks(aq_on_policy *self, const aq_run_config *config, aq_error *error)
{
    aq_on_policy_net *nets[] = {&self->policy, &self->value};
    const size_t counts[] = {aq_net_spec_parameters(&self->policy.spec),
                             aq_net_spec_parameters(&self->value.spec)};
    const size_t count = counts[0] + counts[1];
    size_t first = 0;
    const uint64_t steps = aq_pacing_group_steps(config);
    const double rows = (double)(steps > 0 ? steps : self->steps_max) / self->minibatches;
    const bool by_values =
        self->kind->improve != NULL; /* of the policy there is no such gradient */
    const uint32_t threads = aq_products_bf16_threads(config, config->learner.threads);
    int rc = aq_gradient_exchange_reserve(self->exchange, count);
    rc = rc == 0 ? aq_gradient_exchange_watch(self->exchange, by_values ? counts[0] : 0,
                                              counts[by_values], rows)
                 : rc;
    self->block = aq_alloc_large(count, 3 * sizeof(float));
    if (rc != 0 || self->block == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for networks of %zu parameters", count);
    }
    for (int i = 0; rc == 0 && i < 2; i++) {
        aq_on_policy_net *net = nets[i];
        /* `improve` takes differences of gradients, which rounding would drown. */
        const bool is_exact = by_values && net == &self->policy;
        net->online = aq_params_view(&net->spec, self->block + first);
        net->optimizer =
            aq_optimizer_of(config, self->block + count + first, self->block + 2 * count + first);
        first += counts[i];
        rc = aq_params_init(&net->spec, &net->gradient);
        if (rc != 0) {
            return aq_fail(error, rc, "no memory for gradients of %zu parameters", count);
        }
        rc = aq_net_train_create(&(aq_net_train_config){.spec = &net->spec,
                                                        .rows_max = self->part_max,
                                                        .backward_rows_max = self->part_max,
                                                        .bf16_threads = is_exact ? 0 : threads},
                                 &net->train, error);
        net->optimizer.pool = aq_net_train_pool(net->train);
    }
    self->value.optimizer.learning_rate =
        (float)critic_rate(config->learner.learning_rate, config->learner.critic_learning_rate);
    return rc;
}

static void lay_out(void *algorithm, aq_arrays *at)
{
    aq_on_policy *self = algorithm;
    aq_on_policy_group *group = &self->group;
    const size_t steps = self->steps_max;
    const size_t boundaries = 2 * steps; /* a sequence has at least one step */
    const uint32_t state = aq_net_spec_state(&self->policy.spec);
    const size_t output_bytes = self->outputs * sizeof(float);
    self->input = aq_arrays_place(at, self->part_max, (self->inputs + state) * sizeof(float));
    self->d_out = aq_arrays_place(at, self->part_max, output_bytes);
    self->noisy = aq_arrays_place(at, 1, output_bytes);
    self->parts = aq_arrays_place(at, self->part_max, sizeof(float));
    group->own.observation = aq_arrays_place(at, boundaries, sizeof(uint32_t));
    group->own.steps = aq_arrays_place(at, steps, sizeof(uint32_t));
    group->old = aq_arrays_place(at, boundaries, sizeof(float));
    group->ratio = aq_arrays_place(at, boundaries, sizeof(float));
    group->value = aq_arrays_place(at, boundaries, sizeof(float));
    group->advantage = aq_arrays_place(at, boundaries, sizeof(float));
    group->target = aq_arrays_place(at, boundaries, sizeof(float));
    if (self->kind->improve != NULL) {
        self->vectors =
            aq_arrays_place(at, self->policy.online.count, AQ_ON_POLICY_VECTORS * sizeof(float));
        self->old_outputs = aq_arrays_place(at, steps, output_bytes);
    }
    aq_on_policy_memory_lay_out(&self->memory, state, self->sequence_steps, self->steps_max, at);
}

static int make_room(aq_on_policy *self, aq_error *error)
{
    self->arrays = aq_arrays_make(lay_out, self);
    if (self->arrays == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for groups of %u steps", self->steps_max);
    }
    return 0;
}

int aq_on_policy_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                        aq_algorithm **ret_algorithm, aq_error *error)
{
    aq_rng rng;
    int rc = check(class, setup, error);
    if (rc != 0) {
        return rc;
    }
    aq_on_policy *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", class->name);
    }
    self->head = (aq_algorithm){.class = class, .spec = &self->policy.spec};
    self->kind = class->kind;
    self->exchange = setup->exchange;
    rc = aq_on_policy_policy_spec(setup->config, setup->schema, class, &self->policy.spec, error);
    if (rc == 0) {
        rc = check_state(&self->policy.spec, setup, error);
    }
    if (rc == 0) {
        rc = aq_on_policy_value_spec(setup->config, setup->schema, &self->value.spec, error);
    }
    if (rc == 0) {
        self->outputs = aq_net_spec_outputs(&self->policy.spec);
        take_settings(self, setup);
        rc = make_networks(self, setup->config, error);
    }
    if (rc == 0) {
        rc = make_room(self, error);
    }
    if (rc != 0) {
        aq_on_policy_destroy(&self->head);
        return rc;
    }
    aq_rng_init(&rng, setup->seed, INIT_STREAM);
    aq_on_policy_begin(setup->config, &self->policy.spec, &self->policy.online, &rng);
    aq_params_randomize(&self->value.spec, &self->value.online, &rng);
    *ret_algorithm = &self->head;
    return 0;
}

static void net_fini(aq_on_policy_net *net)
{
    aq_net_train_destroy(net->train);
    aq_params_fini(&net->gradient);
}

void aq_on_policy_destroy(aq_algorithm *algorithm)
{
    if (algorithm == NULL) {
        return;
    }
    aq_on_policy *self = self_of(algorithm);
    net_fini(&self->policy);
    net_fini(&self->value);
    aq_free(self->block);
    aq_free(self->arrays);
    aq_free(self);
}

/* ---- an update ------------------------------------------------------------------------------ */

/* 1 less the variance of the errors, as a share of the targets'. */
static double explained_variance(const aq_on_policy *self)
{
    const aq_on_policy_group *group = &self->group;
    double mean = 0, squares = 0, error_mean = 0, error_squares = 0;
    for (uint32_t i = 0; i < group->own.count; i++) {
        const uint32_t step = group->own.steps[i];
        const double target = (double)group->target[step];
        const double error = target - (double)group->value[step];
        const double share = 1.0 / (i + 1.0), before = mean, error_before = error_mean;
        mean += share * (target - mean);
        squares += (target - before) * (target - mean);
        error_mean += share * (error - error_mean);
        error_squares += (error - error_before) * (error - error_mean);
    }
    return squares > 0 ? 1.0 - error_squares / squares : (double)NAN;
}

/* How far the actors' policy was from the learner's; of `weight`, old / actor. */
static void tell_actors(const aq_on_policy *self, double *metrics)
{
    const aq_on_policy_group *group = &self->group;
    const double count = group->own.count;
    double k1 = 0, k3 = 0, squares = 0, weights = 0, weight_squares = 0, clipped = 0;
    for (uint32_t i = 0; i < group->own.count; i++) {
        const double ratio = (double)group->ratio[group->own.steps[i]];
        const double weight = aq_importance_weight(&self->rule, ratio);
        k1 -= log(ratio);
        k3 += ratio - 1.0 - log(ratio);
        squares += ratio * ratio;
        weights += weight;
        weight_squares += weight * weight;
        clipped += aq_importance_is_held(&self->rule, ratio);
    }
    metrics[AQ_ON_POLICY_ACTOR_K1] = k1 / count;
    metrics[AQ_ON_POLICY_ACTOR_K3] = k3 / count;
    metrics[AQ_ON_POLICY_ACTOR_CHI2] = squares / count - 1.0;
    metrics[AQ_ON_POLICY_EFFECTIVE_SHARE] = weights * weights / (count * weight_squares);
    metrics[AQ_ON_POLICY_WEIGHTS_CLIPPED] = clipped / count;
}

static void tell(const aq_on_policy *self, double *metrics)
{
    const aq_on_policy_sums *sums = &self->sums;
    const double share = 1.0 / (double)sums->policy_steps;
    metrics[AQ_ON_POLICY_LOSS] = share * sums->loss;
    metrics[AQ_ON_POLICY_ENTROPY] = share * sums->entropy;
    metrics[AQ_ON_POLICY_STEP_KL] = share * sums->step_kl;
    metrics[AQ_ON_POLICY_OBJECTIVE_CLIPPED] = share * sums->clipped;
    metrics[AQ_ON_POLICY_VALUE_LOSS] = sums->value_loss / (double)sums->value_steps;
    metrics[AQ_ON_POLICY_GRADIENT_NORM] = sums->norm / (double)sums->policy_updates;
    metrics[AQ_ON_POLICY_VALUE_GRADIENT_NORM] = sums->value_norm / (double)sums->value_updates;
}

int aq_on_policy_train(aq_algorithm *algorithm, const aq_batch *rows, aq_update_report *ret_report)
{
    aq_on_policy *self = self_of(algorithm);
    self->sums = (aq_on_policy_sums){0};
    *ret_report = (aq_update_report){.steps = 0};
    const uint64_t rank = aq_gradient_exchange_rank(self->exchange);
    aq_rng_init(&self->rng, self->seed, BATCH_STREAM ^ self->updates ^ rank << RANK_SHIFT);
    int rc = aq_on_policy_prepare(self, rows);
    if (rc == 0) {
        rc = aq_on_policy_find_advantages(self);
    }
    if (rc != 0) {
        return rc;
    }
    self->updates++;
    tell_actors(self, ret_report->metrics);
    ret_report->metrics[AQ_ON_POLICY_EXPLAINED] = explained_variance(self);
    const bool is_improved = self->kind->improve != NULL;
    if (is_improved) {
        rc = self->kind->improve(self);
    }
    if (rc == 0) {
        rc = aq_on_policy_run_epochs(self, is_improved);
    }
    if (rc != 0 && is_improved && self->sums.value_updates == 0) { /* all of it, or nothing */
        memcpy(self->policy.online.block, self->vectors, self->policy.online.count * sizeof(float));
    }
    ret_report->steps = self->sums.value_updates;
    tell(self, ret_report->metrics);
    return rc;
}

/* ---- gradients of others -------------------------------------------------------------------- */

static void adopt(aq_algorithm *algorithm, const float *parameters, uint64_t step)
{
    aq_on_policy *self = self_of(algorithm);
    (void)step;
    memcpy(self->block, parameters,
           (self->policy.online.count + self->value.online.count) * sizeof(*parameters));
}

static int follow(aq_algorithm *algorithm, const float *gradient, aq_update_report *ret_report)
{
    aq_on_policy *self = self_of(algorithm);
    aq_on_policy_net *nets[] = {&self->policy, &self->value};
    double norm, scale[2] = {1, 1};
    int rc = 0;
    for (int i = 0; rc == 0 && i < 2; i++) {
        memcpy(nets[i]->gradient.block, gradient, nets[i]->gradient.count * sizeof(*gradient));
        gradient += nets[i]->gradient.count;
        rc = aq_on_policy_judge(self, nets[i], 0.0, &norm, &scale[i]);
    }
    for (int i = 0; rc == 0 && i < 2; i++) {
        aq_on_policy_step(self, nets[i], scale[i]);
    }
    ret_report->steps = rc == 0;
    return rc;
}

const aq_algorithm_by_gradients aq_on_policy_by_gradients = {.adopt = adopt, .follow = follow};

/* ---- what others see ------------------------------------------------------------------------ */

const aq_params *aq_on_policy_policy(const aq_algorithm *algorithm)
{
    return &((const aq_on_policy *)algorithm)->policy.online;
}

void aq_on_policy_set_rates(aq_algorithm *algorithm, double learning_rate,
                            double critic_learning_rate)
{
    aq_on_policy *self = self_of(algorithm);
    self->policy.optimizer.learning_rate = (float)learning_rate;
    self->value.optimizer.learning_rate = (float)critic_rate(learning_rate, critic_learning_rate);
}

void aq_on_policy_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    aq_on_policy *self = self_of(algorithm);
    const size_t count = self->policy.online.count + self->value.online.count;
    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, count, self->block);
    aq_named_arrays_add(arrays, "adam_m", AQ_ARRAY_F32, count, self->policy.optimizer.m);
    aq_named_arrays_add_nonnegative(arrays, "adam_v", AQ_ARRAY_F32, count,
                                    self->policy.optimizer.v);
    aq_named_arrays_add(arrays, "adam_step", AQ_ARRAY_U64, 1, &self->policy.optimizer.step);
    aq_named_arrays_add(arrays, "value_adam_step", AQ_ARRAY_U64, 1, &self->value.optimizer.step);
    aq_named_arrays_add(arrays, "updates", AQ_ARRAY_U64, 1, &self->updates);
    aq_named_arrays_add(arrays, "returns", AQ_ARRAY_F64, AQ_ON_POLICY_RETURNS, self->returns);
}

/*
 * Value learner: see value_learner.h.
 */
#include "learner/algorithms/q_learning/value_learner.h"

#include <math.h>

#include "common/base/memory.h"
#include "common/base/rng.h"
#include "learner/algorithms/q_learning/q_network.h"
#include "learner/nn/hidden_layers.h"
#include "learner/nn/passes.h"
#include "learner/nn/products.h"

const aq_metric aq_value_learner_metrics[AQ_VALUE_METRICS] = {AQ_VALUE_METRIC_ROWS};

/* ---- making it ------------------------------------------------------------------------------ */

static void find_means(aq_value_learner *learner)
{
    if (learner->kind->learns == AQ_Q_QUANTILES) {
        aq_q_network_fold(&learner->split.slice, &learner->online, &learner->acting_spec,
                          &learner->means);
    }
}

static int make_specs(aq_value_learner *learner, const aq_algorithm_setup *setup, aq_error *error)
{
    aq_net_spec whole;
    learner->width = aq_q_network_width(learner->kind, setup->config);
    int rc = aq_q_network_spec(learner->kind, setup->config, setup->schema, learner->width, &whole,
                               error);
    if (rc == 0) {
        rc = aq_q_network_acting(learner->kind, setup, &whole, &learner->acting_spec, error);
    }
    if (rc == 0) {
        rc = aq_hidden_layers_check_policy(&learner->acting_spec, error);
    }
    if (rc == 0) {
        learner->split = aq_net_split_of(&whole, aq_model_group_split(setup->model));
        learner->inputs = aq_net_spec_inputs(&learner->split.slice);
        learner->state = aq_net_spec_state(&learner->split.slice);
        learner->outputs = aq_net_spec_outputs(&learner->split.slice);
        learner->actions = setup->schema->action.choice_count;
    }
    return rc;
}

/* What is learned, behind the means of it and before the optimizer's moments. */
static int make_parameters(aq_value_learner *learner, const aq_run_config *config)
{
    const aq_net_spec *spec = &learner->split.slice;
    const bool has_means = learner->kind->learns == AQ_Q_QUANTILES;
    const size_t before = has_means ? aq_net_spec_parameters(&learner->acting_spec) : 0;
    const size_t count = aq_net_spec_parameters(spec);
    learner->block = aq_alloc_large(before + 3 * count, sizeof(float));
    if (learner->block == NULL) {
        return AQ_E_NOMEM;
    }
    if (has_means) {
        learner->means = aq_params_view(&learner->acting_spec, learner->block);
    }
    float *own = learner->block + before;
    learner->online = aq_params_view(spec, own);
    learner->optimizer = aq_optimizer_of(config, own + count, own + 2 * count);
    return 0;
}

static int make_network(aq_value_learner *learner, const aq_algorithm_setup *setup,
                        const aq_value_passes *passes, aq_error *error)
{
    const aq_value_parts *parts = learner->kind->parts;
    const aq_run_config *config = setup->config;
    const aq_net_spec *spec = &learner->split.slice;
    const size_t count = aq_net_spec_parameters(spec);
    aq_rng rng;
    learner->quant = aq_fake_quant_of(config, spec);
    if (make_parameters(learner, config) != 0 || aq_params_init(spec, &learner->gradient) != 0 ||
        (learner->quant.bits != 0 && aq_params_init(spec, &learner->acting) != 0) ||
        (parts->has_target && aq_params_init(spec, &learner->target) != 0) ||
        aq_gradient_exchange_reserve(learner->exchange, count) != 0 ||
        aq_gradient_exchange_watch(learner->exchange, 0, count, passes->backward_rows) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a network of %zu parameters", count);
    }
    aq_rng_init(&rng, setup->seed, parts->stream);
    if (aq_net_split_randomize(&learner->split, &learner->online, &rng) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to begin a network");
    }
    aq_noisy_layers_reset(spec, config->learner.noisy_deviation, &learner->online);
    find_means(learner);
    if (parts->has_target) {
        aq_params_copy(&learner->target, &learner->online);
    }
    int rc = aq_net_train_create(&(aq_net_train_config){.spec = spec,
                                                        .split = &learner->split,
                                                        .rows_max = passes->forward_rows,
                                                        .backward_rows_max = passes->backward_rows,
                                                        .quant = learner->quant,
                                                        .bf16_threads = aq_products_bf16_threads(
                                                            config, config->learner.threads)},
                                 &learner->train, error);
    learner->optimizer.pool = aq_net_train_pool(learner->train);
    return rc;
}

static int fill(aq_value_learner *learner, const aq_algorithm_setup *setup, aq_error *error)
{
    const aq_value_parts *parts = learner->kind->parts;
    const aq_value_passes passes = parts->take_settings(learner, setup);
    learner->obs_dtype = setup->schema->obs.dtype;
    learner->gradient_clip = setup->config->learner.gradient_clip;
    learner->target_period = setup->config->learner.target_period;
    learner->tau = (float)setup->config->learner.tau;
    learner->quant_delay = setup->config->learner.qat_delay;
    learner->exchange = setup->exchange;
    learner->model = setup->model;
    int rc = make_specs(learner, setup, error);
    if (rc == 0) {
        rc = make_network(learner, setup, &passes, error);
    }
    if (rc != 0) {
        return rc;
    }
    learner->arrays = aq_arrays_make(parts->lay_out, learner);
    return learner->arrays != NULL
               ? 0
               : aq_fail(error, AQ_E_NOMEM, "no memory for the rows that %s learns from",
                         learner->head.class->name);
}

int aq_value_learner_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                            aq_algorithm **ret_algorithm, aq_error *error)
{
    const aq_value_kind *kind = class->kind;
    int rc = kind->parts->check != NULL ? kind->parts->check(setup, error) : 0;
    if (rc != 0) {
        return rc;
    }
    aq_value_learner *learner = aq_alloc(1, kind->parts->size_bytes);
    if (learner == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", class->name);
    }
    learner->head = (aq_algorithm){.class = class, .spec = &learner->acting_spec};
    learner->kind = kind;
    rc = fill(learner, setup, error);
    if (rc != 0) {
        aq_value_learner_destroy(&learner->head);
        return rc;
    }
    *ret_algorithm = &learner->head;
    return 0;
}

void aq_value_learner_destroy(aq_algorithm *algorithm)
{
    aq_value_learner *learner = (aq_value_learner *)algorithm;
    if (learner == NULL) {
        return;
    }
    aq_net_train_destroy(learner->train);
    aq_params_fini(&learner->acting);
    aq_params_fini(&learner->target);
    aq_params_fini(&learner->gradient);
    aq_free(learner->block);
    aq_free(learner->arrays);
    aq_free(learner);
}

/* ---- a step --------------------------------------------------------------------------------- */

bool aq_value_learner_is_quantized(const aq_value_learner *learner)
{
    return learner->quant.bits != 0 && learner->optimizer.step >= learner->quant_delay;
}

/* Of the whole gradient, of which `rc` says what came; layers that all ranks have are the first
 * one's. */
static int find_norm(aq_value_learner *learner, int rc, double *ret_norm)
{
    const float *gradient = learner->gradient.block;
    const size_t count = learner->gradient.count;
    const aq_slices slices = aq_value_learner_slices(&learner->head, "parameters");
    double squares = aq_model_group_rank(learner->model) == 0
                         ? aq_passes_best()->sum_squares(gradient, count)
                         : aq_slices_squares(&slices, gradient, 0, count);
    rc = aq_model_group_judge(learner->model, rc, &squares, 1);
    *ret_norm = sqrt(squares);
    return rc;
}

int aq_value_learner_step(aq_value_learner *learner, bool is_good, double *ret_norm,
                          double *ret_clipped)
{
    const aq_params *gradient = &learner->gradient;
    double norm, scale;
    int rc = aq_gradient_mean(learner->exchange, is_good, 0, gradient->block, gradient->count);
    rc = find_norm(learner, rc, &norm);
    if (rc == 0) {
        rc = aq_gradient_clip(norm, learner->gradient_clip, &scale);
    }
    if (rc != 0) {
        return rc;
    }
    if (aq_gradient_exchange_kept(learner->exchange) == NULL) {
        aq_optimizer_step(&learner->optimizer, learner->online.block, gradient->block,
                          gradient->count, (float)scale);
        find_means(learner);
        if (learner->target.count > 0) {
            aq_target_follow(&learner->target, &learner->online, learner->tau,
                             learner->target_period, learner->optimizer.step);
        }
    }
    *ret_norm = norm;
    *ret_clipped = norm * scale;
    return 0;
}

/* ---- what others see ------------------------------------------------------------------------ */

/* A layer that makes values of distributions has no parameters: these are the policy's, too. */
const aq_params *aq_value_learner_policy(const aq_algorithm *algorithm)
{
    const aq_value_learner *learner = (const aq_value_learner *)algorithm;
    if (learner->kind->learns == AQ_Q_QUANTILES) {
        return &learner->means;
    }
    if (!aq_value_learner_is_quantized(learner)) {
        return &learner->online;
    }
    aq_fake_quant_params(&learner->quant, &learner->split.slice, &learner->online,
                         &learner->acting);
    return &learner->acting;
}

void aq_value_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                                double critic_learning_rate)
{
    (void)critic_learning_rate; /* there is one network only */
    ((aq_value_learner *)algorithm)->optimizer.learning_rate = (float)learning_rate;
}

void aq_value_learner_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    aq_value_learner *learner = (aq_value_learner *)algorithm;
    const size_t count = learner->online.count;
    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, learner->means.count + count,
                        learner->block);
    aq_named_arrays_add(arrays, "adam_m", AQ_ARRAY_F32, count, learner->optimizer.m);
    aq_named_arrays_add_nonnegative(arrays, "adam_v", AQ_ARRAY_F32, count, learner->optimizer.v);
    aq_named_arrays_add(arrays, "adam_step", AQ_ARRAY_U64, 1, &learner->optimizer.step);
    if (learner->target.count > 0) {
        aq_named_arrays_add(arrays, "target", AQ_ARRAY_F32, count, learner->target.block);
    }
}

aq_slices aq_value_learner_slices(const aq_algorithm *algorithm, const char *array)
{
    (void)array; /* they are alike */
    return (aq_slices){.count = 1, .nets = {&((const aq_value_learner *)algorithm)->split}};
}

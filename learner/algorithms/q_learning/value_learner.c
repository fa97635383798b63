/*
 * Value learner: see value_learner.h.
 */
#include "learner/algorithms/q_learning/value_learner.h"

#include "common/base/memory.h"
#include "common/base/rng.h"
#include "learner/algorithms/q_learning/q_network.h"
#include "learner/nn/products.h"

static int check(const aq_algorithm_class *class, const aq_run_config *config, aq_error *error)
{
    return config->learner.qat_bits == 0
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "%s has no quantization-aware training; learner.qat_bits=0 works",
                         class->name);
}

static int make_network(aq_value_learner *learner, const aq_run_config *config, uint32_t rows_max,
                        aq_error *error)
{
    const size_t count = aq_net_spec_parameters(&learner->spec);
    learner->moments = aq_alloc_large(count, 2 * sizeof(float));
    if (learner->moments == NULL || aq_params_init(&learner->spec, &learner->online) != 0 ||
        aq_params_init(&learner->spec, &learner->gradient) != 0 ||
        aq_gradient_exchange_reserve(learner->exchange, count) != 0 ||
        aq_gradient_exchange_watch(learner->exchange, 0, count, rows_max) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a network of %zu parameters", count);
    }
    learner->optimizer = aq_optimizer_of(config, learner->moments, learner->moments + count);
    return aq_net_train_create(&(aq_net_train_config){.spec = &learner->spec,
                                                      .rows_max = rows_max,
                                                      .backward_rows_max = rows_max,
                                                      .bf16_threads = aq_products_bf16_threads(
                                                          config, config->learner.threads)},
                               &learner->train, error);
}

int aq_value_learner_init(aq_value_learner *learner, const aq_algorithm_class *class,
                          const aq_algorithm_setup *setup, uint32_t rows_max, uint64_t stream,
                          aq_error *error)
{
    aq_rng rng;
    learner->head.class = class;
    learner->obs_dtype = setup->schema->obs.dtype;
    learner->gradient_clip = setup->config->learner.gradient_clip;
    learner->exchange = setup->exchange;
    int rc = check(class, setup->config, error);
    if (rc == 0) {
        rc = aq_q_network_spec(&(const aq_q_learner_kind){.learns = AQ_Q_VALUES}, setup->config,
                               setup->schema, 1, &learner->spec, error);
    }
    if (rc != 0) {
        return rc;
    }
    learner->inputs = aq_net_spec_inputs(&learner->spec);
    learner->actions = aq_net_spec_outputs(&learner->spec);
    rc = make_network(learner, setup->config, rows_max, error);
    if (rc == 0) {
        aq_rng_init(&rng, setup->seed, stream);
        aq_params_randomize(&learner->spec, &learner->online, &rng);
    }
    return rc;
}

void aq_value_learner_fini(aq_value_learner *learner)
{
    aq_net_train_destroy(learner->train);
    aq_params_fini(&learner->gradient);
    aq_params_fini(&learner->online);
    aq_free(learner->moments);
}

int aq_value_learner_step(aq_value_learner *learner, bool is_good, double *ret_norm,
                          double *ret_clipped)
{
    const aq_params *gradient = &learner->gradient;
    int rc = aq_gradient_mean(learner->exchange, is_good, 0, gradient->block, gradient->count);
    if (rc != 0) {
        return rc;
    }
    const double norm = aq_gradient_norm(gradient->block, gradient->count);
    const bool is_long = learner->gradient_clip > 0 && norm > learner->gradient_clip;
    const double scale = is_long ? learner->gradient_clip / norm : 1.0;
    if (!(norm * scale <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT; /* a NaN ends here, too */
    }
    aq_optimizer_step(&learner->optimizer, learner->online.block, gradient->block, gradient->count,
                      (float)scale);
    *ret_norm = norm;
    *ret_clipped = norm * scale;
    return 0;
}

/* ---- what others see ------------------------------------------------------------------------ */

const aq_net_spec *aq_value_learner_spec(const aq_algorithm *algorithm)
{
    return &((const aq_value_learner *)algorithm)->spec;
}

const aq_params *aq_value_learner_policy(const aq_algorithm *algorithm)
{
    return &((const aq_value_learner *)algorithm)->online;
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
    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, count, learner->online.block);
    aq_named_arrays_add(arrays, "adam_m", AQ_ARRAY_F32, count, learner->optimizer.m);
    aq_named_arrays_add_nonnegative(arrays, "adam_v", AQ_ARRAY_F32, count, learner->optimizer.v);
    aq_named_arrays_add(arrays, "adam_step", AQ_ARRAY_U64, 1, &learner->optimizer.step);
}

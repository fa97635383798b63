/*
 * Q-learning. One step is two passes forward and one back:
 *
 *   Q_target(s')             rows of next_obs, through the target network
 *   Q_online(s), Q_online(s')  one product over twice the rows, [s ; s'], through the learned one;
 *                            without learner.double_q, only s
 *   backward                 the first half of those rows
 *
 * Both forward passes use the same scratch, so the target's values are set aside between them. In
 * noisy layers they have other noise, each the same for all rows, that follows from seed and step.
 *
 * Of distributions, what is trained are the logits: the layer that makes values of them has no
 * parameters, and is part of the policy alone. Of quantiles, the policy is the network of their
 * means (q_network.h), which is made anew with each step and kept before what is learned.
 *
 * With learner.qat_bits both networks compute quantized, once the delay is over: what is learned is
 * the function that actors run, and the target is an older copy of the same function. The policy is
 * then what the levels stand for, so that it is published, measured and evaluated as such; the
 * checkpoint keeps the real weights.
 */
#include "learner/algorithms/q_learning/q_learner.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "learner/algorithms/q_learning/c51_loss.h"
#include "learner/algorithms/q_learning/dqn_loss.h"
#include "learner/algorithms/q_learning/q_network.h"
#include "learner/algorithms/q_learning/qr_loss.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/hidden_layers.h"
#include "learner/nn/net_train.h"
#include "learner/nn/optimizer.h"
#include "learner/nn/passes.h"
#include "learner/nn/products.h"

/* The stream of the initial weights, among those of the run's seed: "dqn init". */
#define INIT_STREAM UINT64_C(0x64716e20696e6974)

enum { NOISE_OF_TARGET, NOISE_OF_ONLINE };

typedef struct q_learner {
    aq_algorithm head;
    aq_net_split split;      /* of what is trained */
    aq_net_spec acting_spec; /* of the policy: with the values of distributions */
    const aq_q_learner_kind *kind;
    bool is_double;
    uint32_t obs_dtype; /* enum aq_dtype */
    uint32_t obs_bytes; /* of one row */
    uint32_t inputs, actions, outputs;
    uint32_t width; /* numbers that are learned of an action */
    uint32_t rows_max;
    float huber_delta;
    double gradient_clip;                /* 0: off */
    uint64_t target_period, quant_delay; /* steps */
    float tau;                           /* 0: copies */
    aq_fake_quant quant;
    float *block; /* of quantiles their means' network; then what is learned */
    aq_params online, target, gradient;
    aq_params means;  /* of quantiles only */
    aq_params acting; /* the learned network as it acts, once training is quantized */
    aq_optimizer optimizer;
    aq_net_train *net;
    aq_gradient_exchange *exchange; /* NULL: none */
    aq_model_group *model;          /* NULL: the network is whole */
    bool has_adopted;               /* parameters of another, at adam.step */
    aq_atoms atoms;                 /* of distributions only */
    float *input;                   /* (2 rows, inputs): obs, then next_obs */
    float *target_q;                /* (rows, outputs): values, or logits */
    float *d_q;                     /* (rows, outputs) */
    float *room;                    /* see c51_loss.h and qr_loss.h */
    uint64_t seed;                  /* of noise */
} q_learner;

static q_learner *q_learner_of(aq_algorithm *algorithm)
{
    AQ_ASSERT(algorithm->class->destroy == aq_q_learner_destroy);
    return (q_learner *)algorithm; /* the head is the first member */
}

const aq_metric aq_q_learner_metrics[AQ_Q_DISTRIBUTION_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    AQ_MASS_METRIC_ROWS(AQ_Q_LEARNER_METRICS),
};

void aq_q_learner_destroy(aq_algorithm *algorithm)
{
    if (algorithm == NULL) {
        return;
    }
    q_learner *self = q_learner_of(algorithm);
    aq_net_train_destroy(self->net);
    aq_params_fini(&self->acting);
    aq_params_fini(&self->gradient);
    aq_params_fini(&self->target);
    aq_free(self->block);
    aq_free(self);
}

/* The struct with its arrays behind it, in one block. */
static q_learner *learner_alloc(const aq_net_split *split, uint32_t actions, uint32_t width,
                                uint32_t rows_max)
{
    const aq_net_spec *spec = &split->slice;
    size_t bytes = sizeof(q_learner);
    size_t parameters = aq_net_spec_parameters(spec);
    size_t m = aq_arrays_add(&bytes, parameters, sizeof(float));
    size_t v = aq_arrays_add(&bytes, parameters, sizeof(float));
    size_t input =
        aq_arrays_add(&bytes, (size_t)2 * rows_max, aq_net_spec_inputs(spec) * sizeof(float));
    size_t row_bytes = aq_net_spec_outputs(spec) * sizeof(float);
    size_t target_q = aq_arrays_add(&bytes, rows_max, row_bytes);
    size_t d_q = aq_arrays_add(&bytes, rows_max, row_bytes);
    const size_t c51_room = aq_c51_room(actions, width), qr_room = aq_qr_room(width);
    size_t room = aq_arrays_add(&bytes, c51_room > qr_room ? c51_room : qr_room, sizeof(float));
    char *block = aq_alloc(1, bytes);
    q_learner *self = (q_learner *)block;

    if (block == NULL) {
        return NULL;
    }
    self->split = *split;
    self->inputs = aq_net_spec_inputs(spec);
    self->actions = actions;
    self->outputs = aq_net_spec_outputs(spec);
    self->width = width;
    self->rows_max = rows_max;
    self->optimizer.m = (float *)(block + m);
    self->optimizer.v = (float *)(block + v);
    self->input = (float *)(block + input);
    self->target_q = (float *)(block + target_q);
    self->d_q = (float *)(block + d_q);
    self->room = (float *)(block + room);
    return self;
}

/* What is learned, behind the means of it. */
static int make_parameters(q_learner *self)
{
    const aq_net_spec *spec = &self->split.slice;
    const bool has_means = self->kind->learns == AQ_Q_QUANTILES;
    const size_t before = has_means ? aq_net_spec_parameters(&self->acting_spec) : 0;
    self->block = aq_alloc_large(before + aq_net_spec_parameters(spec), sizeof(float));
    if (self->block == NULL) {
        return AQ_E_NOMEM;
    }
    if (has_means) {
        self->means = aq_params_view(&self->acting_spec, self->block);
    }
    self->online = aq_params_view(spec, self->block + before);
    return 0;
}

/* The networks and what they are trained with. */
static int make_networks(q_learner *self, const aq_run_config *config, aq_error *error)
{
    const aq_net_spec *spec = &self->split.slice;

    self->quant = aq_fake_quant_of(config, spec);
    if (make_parameters(self) != 0 || aq_params_init(spec, &self->target) != 0 ||
        aq_params_init(spec, &self->gradient) != 0 ||
        aq_gradient_exchange_reserve(self->exchange, aq_net_spec_parameters(spec)) != 0 ||
        aq_gradient_exchange_watch(self->exchange, 0, self->gradient.count, self->rows_max) != 0 ||
        (self->quant.bits != 0 && aq_params_init(spec, &self->acting) != 0)) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a network of %zu parameters",
                       aq_net_spec_parameters(spec));
    }
    return aq_net_train_create(&(aq_net_train_config){.spec = spec,
                                                      .split = &self->split,
                                                      .rows_max = 2 * self->rows_max,
                                                      .backward_rows_max = self->rows_max,
                                                      .quant = self->quant,
                                                      .bf16_threads = aq_products_bf16_threads(
                                                          config, config->learner.threads)},
                               &self->net, error);
}

static void take_settings(q_learner *self, const aq_run_config *config, const aq_schema *schema)
{
    self->obs_dtype = schema->obs.dtype;
    self->obs_bytes = (uint32_t)aq_space_bytes(&schema->obs);
    self->is_double = config->learner.double_q;
    self->huber_delta = (float)config->learner.huber_delta;
    self->gradient_clip = config->learner.gradient_clip;
    self->target_period = config->learner.target_period;
    self->tau = (float)config->learner.tau;
    self->quant_delay = config->learner.qat_delay;
    self->optimizer = aq_optimizer_of(config, self->optimizer.m, self->optimizer.v);
    if (self->kind->learns == AQ_Q_DISTRIBUTIONS) {
        aq_atoms_init(&self->atoms, (uint32_t)config->learner.atoms,
                      (float)config->learner.value_min, (float)config->learner.value_max);
    }
}

uint32_t aq_q_learner_head(const aq_run_config *config, const aq_schema *schema)
{
    (void)config;
    (void)schema;
    return AQ_HEAD_ARGMAX;
}

static void find_means(q_learner *self)
{
    if (self->kind->learns == AQ_Q_QUANTILES) {
        aq_q_network_fold(&self->split.slice, &self->online, &self->acting_spec, &self->means);
    }
}

/* What levels stand for is one row's; of means over rows nothing of that is left. */
static int check(const aq_algorithm_class *class, const aq_run_config *config, aq_error *error)
{
    const aq_q_learner_kind *kind = class->kind;
    return kind->learns != AQ_Q_QUANTILES || config->learner.qat_bits == 0
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "%s has no quantization-aware training; learner.qat_bits=0 works",
                         class->name);
}

int aq_q_learner_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                        aq_algorithm **ret_algorithm, aq_error *error)
{
    const aq_q_learner_kind *kind = class->kind;
    const aq_run_config *config = setup->config;
    const uint32_t width = aq_q_network_width(kind, config);
    const uint32_t rows_max = (uint32_t)config->learner.batch_size;
    aq_net_spec spec;
    aq_rng rng;
    AQ_ASSERT(setup->schema->action.kind == AQ_SPACE_DISCRETE);
    AQ_ASSERT(rows_max > 0 && rows_max <= AQ_BATCH_ROWS_MAX);
    int rc = check(class, config, error);
    if (rc == 0) {
        rc = aq_q_network_spec(kind, config, setup->schema, width, &spec, error);
    }
    if (rc != 0) {
        return rc;
    }
    const aq_net_split split = aq_net_split_of(&spec, aq_model_group_split(setup->model));
    q_learner *self = learner_alloc(&split, setup->schema->action.choice_count, width, rows_max);
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the batches of a network");
    }
    self->head.class = class;
    self->kind = kind;
    self->exchange = setup->exchange;
    self->model = setup->model;
    self->seed = setup->seed;
    take_settings(self, config, setup->schema);
    rc = aq_q_network_acting(kind, setup, &self->split.whole, &self->acting_spec, error);
    if (rc == 0) {
        rc = make_networks(self, config, error);
    }
    aq_rng_init(&rng, setup->seed, INIT_STREAM);
    if (rc == 0 && aq_net_split_randomize(&self->split, &self->online, &rng) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory to begin a network");
    }
    if (rc != 0) {
        aq_q_learner_destroy(&self->head);
        return rc;
    }
    aq_noisy_layers_reset(&self->split.slice, config->learner.noisy_deviation, &self->online);
    aq_params_copy(&self->target, &self->online);
    find_means(self);
    *ret_algorithm = &self->head;
    return 0;
}

/* A column of observations as floats. */
static void load_obs(const q_learner *self, const uint8_t *column, uint32_t rows, float *out)
{
    if (self->obs_dtype == AQ_DTYPE_U8) {
        aq_passes_best()->unit_from_u8(column, out, (size_t)rows * self->inputs);
    } else {
        memcpy(out, column, (size_t)rows * self->obs_bytes);
    }
}

/* Of the step that comes next; the same after a resume. */
static bool is_quantized(const q_learner *self)
{
    return self->quant.bits != 0 && self->optimizer.step >= self->quant_delay;
}

static int find_loss(q_learner *self, const aq_batch *batch, const float *q, aq_dqn_loss *ret_loss)
{
    const float *online_next = q + (size_t)batch->rows * self->outputs;
    const float *chooser = self->is_double ? online_next : self->target_q;

    if (self->kind->learns == AQ_Q_QUANTILES) {
        return aq_qr_loss_of(batch,
                             &(aq_qr_values){.actions = self->actions,
                                             .quantiles = self->width,
                                             .online = q,
                                             .chooser = chooser,
                                             .target_next = self->target_q},
                             self->huber_delta, self->room, self->d_q, ret_loss);
    }
    if (self->kind->learns == AQ_Q_DISTRIBUTIONS) {
        return aq_c51_loss_of(batch,
                              &(aq_c51_values){.actions = self->actions,
                                               .atoms = &self->atoms,
                                               .online = q,
                                               .chooser = chooser,
                                               .target_next = self->target_q},
                              self->room, self->d_q, ret_loss);
    }
    return aq_dqn_loss_of(batch,
                          &(aq_dqn_values){.actions = self->actions,
                                           .online = q,
                                           .online_next = chooser,
                                           .target_next = self->target_q},
                          self->huber_delta, self->d_q, ret_loss);
}

/* The gradient's part of a step: everything before the parameters may change. */
static int find_gradient(q_learner *self, const aq_batch *batch, aq_dqn_loss *ret_loss)
{
    const uint32_t rows = batch->rows;
    float *obs = self->input, *next_obs = obs + (size_t)rows * self->inputs;

    load_obs(self, batch->obs, rows, obs);
    load_obs(self, batch->next_obs, rows, next_obs);
    aq_net_train_quantize(self->net, is_quantized(self));
    aq_net_train_draw(self->net, self->seed, NOISE_OF_TARGET, self->optimizer.step);
    const float *q = aq_net_forward(self->net, &self->target, next_obs, rows);
    memcpy(self->target_q, q, (size_t)rows * self->outputs * sizeof(*q));
    aq_net_train_draw(self->net, self->seed, NOISE_OF_ONLINE, self->optimizer.step);
    q = aq_net_forward(self->net, &self->online, obs, self->is_double ? 2 * rows : rows);
    int rc = find_loss(self, batch, q, ret_loss);
    if (rc == 0) {
        aq_net_backward(self->net, self->d_q, rows, &self->gradient);
    }
    return rc;
}

/* Of the whole gradient, of which `rc` says what came; layers that all ranks have are the first
 * one's. */
static int find_norm(q_learner *self, int rc, double *ret_norm)
{
    if (self->model == NULL) {
        *ret_norm = rc == 0 ? aq_gradient_norm(self->gradient.block, self->gradient.count) : 0.0;
        return rc;
    }
    const aq_slices slices = aq_q_learner_slices(&self->head, "parameters");
    const float *gradient = self->gradient.block;
    const size_t count = self->gradient.count;
    double squares = aq_model_group_rank(self->model) == 0
                         ? aq_passes_best()->sum_squares(gradient, count)
                         : aq_slices_squares(&slices, gradient, 0, count);
    rc = aq_model_group_judge(self->model, rc, &squares, 1);
    *ret_norm = sqrt(squares);
    return rc;
}

/* A step along the gradient, of all ranks and clipped; none where gradients are kept. *ret_norm is
 * of the gradient before, *ret_scale by what it was shortened. */
static int step_along(q_learner *self, bool is_good, double *ret_norm, double *ret_scale)
{
    int rc =
        aq_gradient_mean(self->exchange, is_good, 0, self->gradient.block, self->gradient.count);
    double norm;
    rc = find_norm(self, rc, &norm);
    if (rc != 0) {
        return rc;
    }
    const bool is_long = self->gradient_clip > 0 && norm > self->gradient_clip;
    const double scale = is_long ? self->gradient_clip / norm : 1.0;
    /* Written so that a NaN fails it. */
    if (!(norm * scale <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT;
    }
    if (aq_gradient_exchange_kept(self->exchange) == NULL) {
        aq_optimizer_step(&self->optimizer, self->online.block, self->gradient.block,
                          self->online.count, (float)scale);
        aq_target_follow(&self->target, &self->online, self->tau, self->target_period,
                         self->optimizer.step);
        find_means(self);
    }
    *ret_norm = norm;
    *ret_scale = scale;
    return 0;
}

int aq_q_learner_train(aq_algorithm *algorithm, const aq_batch *batch, aq_update_report *ret_report)
{
    q_learner *self = q_learner_of(algorithm);
    aq_dqn_loss loss;
    double norm = 0, scale = 1;

    AQ_ASSERT(batch->rows > 0);
    AQ_ASSERT(batch->rows <= self->rows_max);
    AQ_ASSERT(batch->obs_bytes == self->obs_bytes);
    AQ_ASSERT(batch->action_bytes == sizeof(int32_t));
    int rc = find_gradient(self, batch, &loss);
    rc = step_along(self, rc == 0 && isfinite(loss.loss), &norm, &scale);
    if (rc != 0) {
        return rc;
    }
    *ret_report = (aq_update_report){.steps = 1};
    ret_report->metrics[AQ_VALUE_LOSS] = loss.loss;
    ret_report->metrics[AQ_VALUE_GRADIENT_NORM] = norm;
    ret_report->metrics[AQ_VALUE_GRADIENT_CLIPPED] = norm * scale;
    aq_value_figures_tell(&loss.values, ret_report->metrics);
    if (self->kind->learns == AQ_Q_DISTRIBUTIONS) {
        aq_value_figures_tell_mass(&loss.values, ret_report->metrics + AQ_Q_LEARNER_METRICS);
    }
    return 0;
}

/* ---- gradients of others -------------------------------------------------------------------- */

/* The target follows as it would have followed each step: an older version of the network. */
static void adopt(aq_algorithm *algorithm, const float *parameters, uint64_t step)
{
    q_learner *self = q_learner_of(algorithm);
    const uint64_t before = self->optimizer.step;
    const bool goes_on = self->has_adopted && step >= before;
    const double left = pow(1.0 - (double)self->tau, (double)(step - before));
    memcpy(self->online.block, parameters, self->online.count * sizeof(*parameters));
    self->optimizer.step = step;
    self->has_adopted = true;
    if (goes_on && self->tau > 0.0f) {
        aq_passes_best()->approach(self->target.block, self->online.block, (float)(1.0 - left),
                                   self->online.count);
    } else if (!goes_on || step / self->target_period != before / self->target_period) {
        aq_params_copy(&self->target, &self->online);
    }
}

static int follow(aq_algorithm *algorithm, const float *gradient, aq_update_report *ret_report)
{
    q_learner *self = q_learner_of(algorithm);
    double norm, scale;
    memcpy(self->gradient.block, gradient, self->gradient.count * sizeof(*gradient));
    int rc = step_along(self, true, &norm, &scale);
    ret_report->steps = rc == 0;
    return rc;
}

const aq_algorithm_by_gradients aq_q_learner_by_gradients = {.adopt = adopt, .follow = follow};

/* ---- what others see ------------------------------------------------------------------------ */

const aq_net_spec *aq_q_learner_spec(const aq_algorithm *algorithm)
{
    return &((const q_learner *)algorithm)->acting_spec;
}

/* A layer that makes values of distributions has no parameters: these are the policy's, too. */
const aq_params *aq_q_learner_policy(const aq_algorithm *algorithm)
{
    const q_learner *self = (const q_learner *)algorithm;

    if (self->kind->learns == AQ_Q_QUANTILES) {
        return &self->means;
    }
    if (!is_quantized(self)) {
        return &self->online;
    }
    aq_fake_quant_params(&self->quant, &self->split.slice, &self->online, &self->acting);
    return &self->acting;
}

void aq_q_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                            double critic_learning_rate)
{
    (void)critic_learning_rate; /* there is one network only */
    q_learner_of(algorithm)->optimizer.learning_rate = (float)learning_rate;
}

void aq_q_learner_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    q_learner *self = q_learner_of(algorithm);
    const size_t count = self->online.count;

    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, self->means.count + count, self->block);
    aq_named_arrays_add(arrays, "target", AQ_ARRAY_F32, count, self->target.block);
    aq_named_arrays_add(arrays, "adam_m", AQ_ARRAY_F32, count, self->optimizer.m);
    aq_named_arrays_add_nonnegative(arrays, "adam_v", AQ_ARRAY_F32, count, self->optimizer.v);
    aq_named_arrays_add(arrays, "adam_step", AQ_ARRAY_U64, 1, &self->optimizer.step);
}

aq_slices aq_q_learner_slices(const aq_algorithm *algorithm, const char *array)
{
    (void)array; /* they are alike */
    return (aq_slices){.count = 1, .nets = {&((const q_learner *)algorithm)->split}};
}

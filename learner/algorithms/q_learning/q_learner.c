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
 * With learner.qat_bits both networks compute quantized, once the delay is over: what is learned is
 * the function that actors run, and the target is an older copy of the same function.
 */
#include "learner/algorithms/q_learning/q_learner.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "learner/algorithms/batch_steps.h"
#include "learner/algorithms/q_learning/q_loss.h"
#include "learner/nn/passes.h"

/* The stream of the initial weights, among those of the run's seed: "dqn init". */
#define INIT_STREAM UINT64_C(0x64716e20696e6974)

enum { NOISE_OF_TARGET, NOISE_OF_ONLINE };

typedef struct q_learner {
    aq_value_learner base; /* first */
    bool is_double;
    uint32_t obs_bytes; /* of one row */
    uint32_t rows_max;
    float huber_delta;
    bool has_adopted; /* parameters of another, at base.optimizer.step */
    aq_atoms atoms;   /* of distributions only */
    float *input;     /* (2 rows, inputs): obs, then next_obs */
    float *target_q;  /* (rows, outputs): values, or logits */
    float *d_q;       /* (rows, outputs) */
    float *room;      /* see q_loss.h */
    uint64_t seed;    /* of noise */
} q_learner;

static q_learner *q_learner_of(aq_algorithm *algorithm)
{
    q_learner *self = (q_learner *)algorithm; /* the head is the first member */
    AQ_ASSERT(self->base.kind->parts == &aq_q_learner_parts);
    return self;
}

const aq_metric aq_q_learner_metrics[AQ_Q_DISTRIBUTION_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    AQ_MASS_METRIC_ROWS(AQ_Q_LEARNER_METRICS),
};

/* ---- making it ------------------------------------------------------------------------------ */

static aq_value_passes take_settings(void *algorithm, const aq_algorithm_setup *setup)
{
    q_learner *self = algorithm;
    const aq_run_config *config = setup->config;
    AQ_ASSERT(setup->schema->action.kind == AQ_SPACE_DISCRETE);
    self->obs_bytes = (uint32_t)aq_space_bytes(&setup->schema->obs);
    self->rows_max = (uint32_t)config->learner.batch_size;
    AQ_ASSERT(self->rows_max > 0 && self->rows_max <= AQ_BATCH_ROWS_MAX);
    self->is_double = config->learner.double_q;
    self->huber_delta = (float)config->learner.huber_delta;
    self->seed = setup->seed;
    if (self->base.kind->learns == AQ_Q_DISTRIBUTIONS) {
        aq_atoms_init(&self->atoms, (uint32_t)config->learner.atoms,
                      (float)config->learner.value_min, (float)config->learner.value_max);
    }
    return (aq_value_passes){.forward_rows = 2 * self->rows_max, .backward_rows = self->rows_max};
}

static void lay_out(void *algorithm, aq_arrays *at)
{
    q_learner *self = algorithm;
    const aq_value_learner *base = &self->base;
    const size_t rows = self->rows_max, row_bytes = base->outputs * sizeof(float);
    self->input = aq_arrays_place(at, 2 * rows, base->inputs * sizeof(float));
    self->target_q = aq_arrays_place(at, rows, row_bytes);
    self->d_q = aq_arrays_place(at, rows, row_bytes);
    self->room = aq_arrays_place(at, aq_q_loss_room(base->actions, base->width), sizeof(float));
}

const aq_value_parts aq_q_learner_parts = {
    .size_bytes = sizeof(q_learner),
    .stream = INIT_STREAM,
    .has_target = true,
    .take_settings = take_settings,
    .lay_out = lay_out,
};

/* ---- training ------------------------------------------------------------------------------- */

static int find_loss(q_learner *self, const aq_batch *batch, const float *q, aq_q_loss *ret_loss)
{
    const aq_value_learner *base = &self->base;
    const float *online_next = q + (size_t)batch->rows * base->outputs;
    return aq_q_loss_of(base->kind, batch,
                        &(aq_q_values){.actions = base->actions,
                                       .width = base->width,
                                       .atoms = &self->atoms,
                                       .huber_delta = self->huber_delta,
                                       .online = q,
                                       .chooser = self->is_double ? online_next : self->target_q,
                                       .target_next = self->target_q,
                                       .room = self->room},
                        self->d_q, ret_loss);
}

/* The gradient's part of a step: everything before the parameters may change. */
static int find_gradient(q_learner *self, const aq_batch *batch, aq_q_loss *ret_loss)
{
    const uint32_t rows = batch->rows;
    const size_t values = (size_t)rows * self->base.inputs;
    float *obs = self->input, *next_obs = obs + values;

    aq_observations_load(batch->obs, self->base.obs_dtype, values, obs);
    aq_observations_load(batch->next_obs, self->base.obs_dtype, values, next_obs);
    aq_net_train_quantize(self->base.train, aq_value_learner_is_quantized(&self->base));
    aq_net_train_draw(self->base.train, self->seed, NOISE_OF_TARGET, self->base.optimizer.step);
    const float *q = aq_net_forward(self->base.train, &self->base.target, next_obs, rows);
    memcpy(self->target_q, q, (size_t)rows * self->base.outputs * sizeof(*q));
    aq_net_train_draw(self->base.train, self->seed, NOISE_OF_ONLINE, self->base.optimizer.step);
    q = aq_net_forward(self->base.train, &self->base.online, obs,
                       self->is_double ? 2 * rows : rows);
    int rc = find_loss(self, batch, q, ret_loss);
    if (rc == 0) {
        aq_net_backward(self->base.train, self->d_q, rows, &self->base.gradient);
    }
    return rc;
}

int aq_q_learner_train(aq_algorithm *algorithm, const aq_batch *batch, aq_update_report *ret_report)
{
    q_learner *self = q_learner_of(algorithm);
    aq_q_loss loss;
    double norm, clipped;

    AQ_ASSERT(batch->rows > 0);
    AQ_ASSERT(batch->rows <= self->rows_max);
    AQ_ASSERT(batch->obs_bytes == self->obs_bytes);
    AQ_ASSERT(batch->action_bytes == sizeof(int32_t));
    int rc = find_gradient(self, batch, &loss);
    rc = aq_value_learner_step(&self->base, rc == 0 && isfinite(loss.loss), &norm, &clipped);
    if (rc != 0) {
        return rc;
    }
    *ret_report = (aq_update_report){.steps = 1};
    ret_report->metrics[AQ_VALUE_LOSS] = loss.loss;
    ret_report->metrics[AQ_VALUE_GRADIENT_NORM] = norm;
    ret_report->metrics[AQ_VALUE_GRADIENT_CLIPPED] = clipped;
    aq_value_figures_tell(&loss.values, ret_report->metrics);
    if (self->base.kind->learns == AQ_Q_DISTRIBUTIONS) {
        aq_value_figures_tell_mass(&loss.values, ret_report->metrics + AQ_Q_LEARNER_METRICS);
    }
    return 0;
}

/* ---- gradients of others -------------------------------------------------------------------- */

/* The target follows as it would have followed each step: an older version of the network. */
static void adopt(aq_algorithm *algorithm, const float *parameters, uint64_t step)
{
    q_learner *self = q_learner_of(algorithm);
    aq_value_learner *base = &self->base;
    const uint64_t before = base->optimizer.step;
    const bool goes_on = self->has_adopted && step >= before;
    const double left = pow(1.0 - (double)base->tau, (double)(step - before));
    memcpy(base->online.block, parameters, base->online.count * sizeof(*parameters));
    base->optimizer.step = step;
    self->has_adopted = true;
    if (goes_on && base->tau > 0.0f) {
        aq_passes_best()->approach(base->target.block, base->online.block, (float)(1.0 - left),
                                   base->online.count);
    } else if (!goes_on || step / base->target_period != before / base->target_period) {
        aq_params_copy(&base->target, &base->online);
    }
}

static int follow(aq_algorithm *algorithm, const float *gradient, aq_update_report *ret_report)
{
    q_learner *self = q_learner_of(algorithm);
    double norm, clipped;
    memcpy(self->base.gradient.block, gradient, self->base.gradient.count * sizeof(*gradient));
    int rc = aq_value_learner_step(&self->base, true, &norm, &clipped);
    ret_report->steps = rc == 0;
    return rc;
}

const aq_algorithm_by_gradients aq_q_learner_by_gradients = {.adopt = adopt, .follow = follow};

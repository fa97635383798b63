/*
 * DQN. One step is two passes forward and one back:
 *
 *   Q_target(s')             rows of next_obs, through the target network
 *   Q_online(s), Q_online(s')  one product over twice the rows, [s ; s'], through the learned one
 *   backward                 the first half of those rows
 *
 * Both forward passes use the same scratch, so the target's values are set aside between them.
 *
 * With learner.qat_bits both networks compute quantized, once the delay is over: what is learned is
 * the function that actors run, and the target is an older copy of the same function. The policy is
 * then what the levels stand for, so that it is published, measured and evaluated as such; the
 * checkpoint keeps the real weights.
 */
#include "learner/dqn.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/rl/columns.h"
#include "learner/adam.h"
#include "learner/dqn_loss.h"
#include "learner/fake_quant.h"
#include "learner/net_train.h"
#include "learner/passes.h"
#include "learner/q_network.h"

/* The stream of the initial weights, among those of the run's seed: "dqn init". */
#define INIT_STREAM UINT64_C(0x64716e20696e6974)

typedef struct dqn {
    aq_algorithm head;
    aq_net_spec spec;
    uint32_t obs_dtype; /* enum aq_dtype */
    uint32_t obs_bytes; /* of one row */
    uint32_t inputs, actions;
    uint32_t rows_max;
    float huber_delta;
    double gradient_clip; /* 0: off */
    uint64_t target_period;
    aq_fake_quant quant;
    uint64_t quant_delay; /* steps */
    aq_params online, target, gradient;
    aq_params acting; /* the learned network as it acts, once training is quantized */
    aq_adam adam;
    aq_net_train *net;
    float *input;    /* (2 rows, inputs): obs, then next_obs */
    float *target_q; /* (rows, actions) */
    float *d_q;      /* (rows, actions) */
} dqn;

static dqn *dqn_of(aq_algorithm *algorithm)
{
    AQ_ASSERT(algorithm->class == &aq_dqn_class);
    return (dqn *)algorithm; /* the head is the first member */
}

static int dqn_check_task(const aq_schema *schema, aq_error *error)
{
    if (schema->action.kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "dqn chooses among discrete actions; those of this task are continuous, for "
                       "which learner.algorithm d4pg, ddpg or td3 is made");
    }
    return 0;
}

static void dqn_destroy(aq_algorithm *algorithm)
{
    dqn *self;

    if (algorithm == NULL) {
        return;
    }
    self = dqn_of(algorithm);
    aq_net_train_destroy(self->net);
    aq_params_fini(&self->acting);
    aq_params_fini(&self->gradient);
    aq_params_fini(&self->target);
    aq_params_fini(&self->online);
    aq_free(self);
}

/* The struct with its arrays behind it, in one block. */
static dqn *dqn_alloc(const aq_net_spec *spec, uint32_t rows_max)
{
    size_t bytes = sizeof(dqn);
    size_t parameters = aq_net_spec_parameters(spec);
    size_t m = aq_columns_add(&bytes, parameters, sizeof(float));
    size_t v = aq_columns_add(&bytes, parameters, sizeof(float));
    size_t input =
        aq_columns_add(&bytes, (size_t)2 * rows_max, aq_net_spec_inputs(spec) * sizeof(float));
    size_t row_bytes = aq_net_spec_outputs(spec) * sizeof(float);
    size_t target_q = aq_columns_add(&bytes, rows_max, row_bytes);
    size_t d_q = aq_columns_add(&bytes, rows_max, row_bytes);
    char *block = aq_alloc(1, bytes);
    dqn *self = (dqn *)block;

    if (block == NULL) {
        return NULL;
    }
    self->head.class = &aq_dqn_class;
    self->spec = *spec;
    self->inputs = aq_net_spec_inputs(spec);
    self->actions = aq_net_spec_outputs(spec);
    self->rows_max = rows_max;
    self->adam.m = (float *)(block + m);
    self->adam.v = (float *)(block + v);
    self->input = (float *)(block + input);
    self->target_q = (float *)(block + target_q);
    self->d_q = (float *)(block + d_q);
    return self;
}

/* The networks; those that are not made stay zeroed. */
static int dqn_init_networks(dqn *self, const aq_fake_quant *quant, aq_error *error)
{
    const aq_net_spec *spec = &self->spec;

    self->quant = *quant;
    if (aq_params_init(spec, &self->online) != 0 || aq_params_init(spec, &self->target) != 0 ||
        aq_params_init(spec, &self->gradient) != 0 ||
        (quant->bits != 0 && aq_params_init(spec, &self->acting) != 0)) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a network of %zu parameters",
                       aq_net_spec_parameters(spec));
    }
    return aq_net_train_create(&(aq_net_train_config){.spec = spec,
                                                      .rows_max = 2 * self->rows_max,
                                                      .backward_rows_max = self->rows_max,
                                                      .quant = *quant},
                               &self->net, error);
}

static int dqn_create(const aq_run_config *config, const aq_schema *schema, uint64_t seed,
                      aq_algorithm **ret_algorithm, aq_error *error)
{
    uint32_t rows_max = (uint32_t)config->learner.batch_size;
    aq_fake_quant quant = aq_fake_quant_of(config);
    aq_net_spec spec;
    aq_rng rng;
    dqn *self;
    int rc = dqn_check_task(schema, error);

    if (rc == 0) {
        rc = aq_q_network_spec(config, schema, "dqn", 1, &spec, error);
    }
    if (rc != 0) {
        return rc;
    }
    AQ_ASSERT(rows_max > 0);
    AQ_ASSERT(rows_max <= AQ_BATCH_ROWS_MAX);
    self = dqn_alloc(&spec, rows_max);
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the batches of a network");
    }
    rc = dqn_init_networks(self, &quant, error);
    if (rc != 0) {
        dqn_destroy(&self->head);
        return rc;
    }
    self->obs_dtype = schema->obs.dtype;
    self->obs_bytes = (uint32_t)aq_space_bytes(&schema->obs);
    self->huber_delta = (float)config->learner.huber_delta;
    self->gradient_clip = config->learner.gradient_clip;
    self->target_period = config->learner.target_period;
    self->quant_delay = config->learner.qat_delay;
    self->adam.learning_rate = (float)config->learner.learning_rate;
    self->adam.beta1 = 0.9f;
    self->adam.beta2 = 0.999f;
    self->adam.epsilon = (float)config->learner.adam_epsilon;
    aq_rng_init(&rng, seed, INIT_STREAM);
    aq_params_randomize(&spec, &self->online, &rng);
    aq_params_copy(&self->target, &self->online);
    *ret_algorithm = &self->head;
    return 0;
}

/* A column of observations as floats. */
static void dqn_load(const dqn *self, const uint8_t *column, uint32_t rows, float *out)
{
    if (self->obs_dtype == AQ_DTYPE_U8) {
        aq_passes_best()->unit_from_u8(column, out, (size_t)rows * self->inputs);
    } else {
        memcpy(out, column, (size_t)rows * self->obs_bytes);
    }
}

/* Of the step that comes next; the same after a resume. */
static bool dqn_is_quantized(const dqn *self)
{
    return self->quant.bits != 0 && self->adam.step >= self->quant_delay;
}

/* The gradient's part of a step: everything before the parameters may change. */
static int dqn_gradient(dqn *self, const aq_batch *batch, aq_train_stats *ret_stats)
{
    const uint32_t rows = batch->rows;
    float *obs = self->input, *next_obs = obs + (size_t)rows * self->inputs;
    size_t q_count = (size_t)rows * self->actions;
    const float *q;
    aq_dqn_loss loss;
    int rc;

    dqn_load(self, batch->obs, rows, obs);
    dqn_load(self, batch->next_obs, rows, next_obs);
    aq_net_train_quantize(self->net, dqn_is_quantized(self));
    q = aq_net_forward(self->net, &self->target, next_obs, rows);
    memcpy(self->target_q, q, q_count * sizeof(*q));
    q = aq_net_forward(self->net, &self->online, obs, 2 * rows);
    rc = aq_dqn_loss_of(batch,
                        &(aq_dqn_values){.actions = self->actions,
                                         .online = q,
                                         .online_next = q + q_count,
                                         .target_next = self->target_q},
                        self->huber_delta, self->d_q, &loss);
    if (rc != 0) {
        return rc;
    }
    aq_net_backward(self->net, self->d_q, rows, &self->gradient);
    ret_stats->loss = loss.loss;
    ret_stats->q_mean = loss.q_mean;
    ret_stats->gradient_norm = aq_gradient_norm(self->gradient.block, self->gradient.count);
    return 0;
}

static int dqn_train(aq_algorithm *algorithm, const aq_batch *batch, aq_train_stats *ret_stats)
{
    dqn *self = dqn_of(algorithm);
    aq_train_stats stats;
    double scale = 1.0;
    int rc;

    AQ_ASSERT(batch->rows > 0);
    AQ_ASSERT(batch->rows <= self->rows_max);
    AQ_ASSERT(batch->obs_bytes == self->obs_bytes);
    AQ_ASSERT(batch->action_bytes == sizeof(int32_t));
    rc = dqn_gradient(self, batch, &stats);
    if (rc != 0) {
        return rc;
    }
    if (self->gradient_clip > 0 && stats.gradient_norm > self->gradient_clip) {
        scale = self->gradient_clip / stats.gradient_norm;
    }
    /* Written so that a NaN fails it. */
    if (!(isfinite(stats.loss) && stats.gradient_norm * scale <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT;
    }
    aq_adam_step(&self->adam, self->online.block, self->gradient.block, self->online.count,
                 (float)scale);
    if (self->adam.step % self->target_period == 0) {
        aq_params_copy(&self->target, &self->online);
    }
    *ret_stats = stats;
    return 0;
}

static const aq_net_spec *dqn_spec(const aq_algorithm *algorithm)
{
    return &((const dqn *)algorithm)->spec;
}

static const aq_params *dqn_policy(const aq_algorithm *algorithm)
{
    const dqn *self = (const dqn *)algorithm;

    if (!dqn_is_quantized(self)) {
        return &self->online;
    }
    aq_fake_quant_params(&self->quant, &self->spec, &self->online, &self->acting);
    return &self->acting;
}

static void dqn_state(aq_algorithm *algorithm, aq_algorithm_state *ret_state)
{
    dqn *self = dqn_of(algorithm);

    *ret_state = (aq_algorithm_state){
        .count = self->online.count,
        .parameters = self->online.block,
        .target = self->target.block,
        .adam_m = self->adam.m,
        .adam_v = self->adam.v,
        .adam_step = self->adam.step,
    };
}

static void dqn_restored(aq_algorithm *algorithm, uint64_t adam_step)
{
    dqn_of(algorithm)->adam.step = adam_step;
}

const aq_algorithm_class aq_dqn_class = {
    .name = "dqn",
    .summary = "double Q-learning with n-step returns, for discrete actions",
    .act_rule = AQ_ACT_ARGMAX,
    .create = dqn_create,
    .destroy = dqn_destroy,
    .train = dqn_train,
    .spec = dqn_spec,
    .policy = dqn_policy,
    .state = dqn_state,
    .restored = dqn_restored,
};

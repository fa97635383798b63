/*
 * PQN: Q-learning without replay and without a target network (Gallici et al., 2024), from what
 * actors have just done. What a step should have been worth is Q(lambda), not cut where an action
 * explored; with V(s) the greatest of Q(s, .), and from the last step of a sequence back:
 *
 *   G(t) = reward(t) + bootstrap(t) * ((1 - lambda) * V(s(t+1)) + lambda * G(t+1))
 *   loss = 1/2 * mean (Q(s(t), action(t)) - G(t))^2
 *
 * An update takes all sequences that one Sample call brought: G is found once, and then come
 * learner.epochs of learner.minibatches, their steps shuffled. A version is due after each. What
 * holds values in place of a target network is layer normalization, learner.norm.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/rng.h"
#include "common/config/pacing.h"
#include "common/policy/head.h"
#include "learner/algorithms/batch_steps.h"
#include "learner/algorithms/q_learning/value_learner.h"

/* Streams of the run's seed: "pqn init", "pqnbatch". */
#define INIT_STREAM  UINT64_C(0x70716e20696e6974)
#define BATCH_STREAM UINT64_C(0x70716e6261746368)

enum { RANK_SHIFT = 48 }; /* beyond any number of updates */

/* The group that is trained on. */
typedef struct pqn_group {
    const aq_batch *rows;
    aq_batch_steps own; /* shuffled for each epoch */
    float *value;       /* by boundary: the greatest */
    float *target;      /* by step */
} pqn_group;

/* What the minibatches of an update add up to. */
typedef struct pqn_sums {
    aq_value_figures values;
    double loss, norm, clipped;
    uint64_t updates;
} pqn_sums;

typedef struct pqn {
    aq_value_learner base; /* first */
    uint32_t sequence_steps;
    uint32_t steps_max, part_max; /* of a group, of a minibatch */
    uint32_t epochs, minibatches;
    float lambda;
    uint64_t seed, updates;
    aq_rng rng; /* of this update */
    pqn_group group;
    pqn_sums sums;
    float *input; /* (part_max, inputs) */
    float *d_q;   /* (part_max, actions) */
} pqn;

/* ---- making it ------------------------------------------------------------------------------ */

static aq_value_passes take_settings(void *algorithm, const aq_algorithm_setup *setup)
{
    pqn *self = algorithm;
    const aq_run_config *config = setup->config;
    self->steps_max = (uint32_t)aq_pacing_group_steps_max(config, setup->sequence_length);
    self->sequence_steps = setup->sequence_length;
    self->epochs = (uint32_t)config->learner.epochs;
    self->minibatches = (uint32_t)config->learner.minibatches;
    self->part_max = (self->steps_max + self->minibatches - 1) / self->minibatches;
    self->lambda = (float)config->learner.gae_lambda;
    self->seed = setup->seed;
    return (aq_value_passes){.forward_rows = self->part_max, .backward_rows = self->part_max};
}

static void lay_out(void *algorithm, aq_arrays *at)
{
    pqn *self = algorithm;
    pqn_group *group = &self->group;
    const size_t steps = self->steps_max, boundaries = 2 * steps; /* a sequence has a step */
    self->input = aq_arrays_place(at, self->part_max, self->base.inputs * sizeof(float));
    self->d_q = aq_arrays_place(at, self->part_max, self->base.actions * sizeof(float));
    group->own.observation = aq_arrays_place(at, boundaries, sizeof(uint32_t));
    group->own.steps = aq_arrays_place(at, steps, sizeof(uint32_t));
    group->value = aq_arrays_place(at, boundaries, sizeof(float));
    group->target = aq_arrays_place(at, boundaries, sizeof(float));
}

static const aq_value_parts own_parts = {
    .size_bytes = sizeof(pqn),
    .stream = INIT_STREAM,
    .take_settings = take_settings,
    .lay_out = lay_out,
};

/* ---- the group ------------------------------------------------------------------------------ */

static uint32_t action_of(const pqn *self, uint32_t step)
{
    const pqn_group *group = &self->group;
    return aq_batch_choice(group->rows,
                           aq_batch_step_place(group->rows, group->own.observation[step]));
}

/* Whether all of its actions are of the task. */
static bool take_rows(pqn *self, const aq_batch *rows)
{
    pqn_group *group = &self->group;
    bool is_good = true;
    group->rows = rows;
    aq_batch_steps_take(&group->own, rows, self->steps_max);
    for (uint32_t i = 0; i < group->own.count; i++) {
        is_good &= action_of(self, group->own.steps[i]) < self->base.actions;
    }
    return is_good;
}

/* The values at `count` boundaries: those listed, or, of NULL, all from `first` on. */
static const float *forward(pqn *self, const uint32_t *listed, uint32_t first, uint32_t count)
{
    const pqn_group *group = &self->group;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t boundary = listed != NULL ? listed[i] : first + i;
        aq_batch_observe(group->rows, self->base.obs_dtype, group->own.observation[boundary],
                         self->base.inputs, self->input + (size_t)i * self->base.inputs);
    }
    return aq_net_forward(self->base.train, &self->base.online, self->input, count);
}

/* AQ_E_CORRUPT, on all ranks, where one's are not finite. */
static int find_targets(pqn *self)
{
    pqn_group *group = &self->group;
    const aq_batch *rows = group->rows;
    double sum = 0;
    for (uint32_t first = 0; first < group->own.boundaries; first += self->part_max) {
        const uint32_t left = group->own.boundaries - first;
        const uint32_t part = left < self->part_max ? left : self->part_max;
        const float *q = forward(self, NULL, first, part);
        for (uint32_t i = 0; i < part; i++) {
            const float *row = q + (size_t)i * self->base.actions;
            group->value[first + i] = row[aq_argmax(row, self->base.actions)];
        }
    }
    for (uint32_t row = 0, first = 0; row < rows->rows; row++) {
        const size_t place = (size_t)row * rows->steps;
        const uint32_t length = rows->length[row];
        float behind = group->value[first + length];
        for (uint32_t t = length; t-- > 0;) {
            const float next = group->value[first + t + 1];
            behind = rows->reward[place + t] +
                     rows->bootstrap[place + t] * (next + self->lambda * (behind - next));
            group->target[first + t] = behind;
            sum += fabs((double)behind);
        }
        first += length + 1;
    }
    int rc = aq_gradient_exchange_sum(self->base.exchange, &sum, 1);
    return rc != 0 ? rc : sum <= DBL_MAX ? 0 : AQ_E_CORRUPT; /* not for NaN */
}

/* A group that one rank cannot use is one of none. */
static int agree_on_group(pqn *self, bool is_usable)
{
    aq_batch_steps *own = &self->group.own;
    own->ranks = aq_gradient_exchange_ranks(self->base.exchange);
    own->counts[aq_gradient_exchange_rank(self->base.exchange)] = is_usable ? own->count : 0;
    int rc = aq_gradient_exchange_gather(self->base.exchange, own->counts, sizeof(own->counts[0]));
    for (uint32_t i = 0; rc == 0 && i < own->ranks; i++) {
        rc = own->counts[i] > 0 ? 0 : AQ_E_CORRUPT;
    }
    return rc;
}

/* ---- training ------------------------------------------------------------------------------- */

/* The loss of some steps, a sum, and their gradient, which is a mean over each rank's share. */
static double find_gradient(pqn *self, const aq_batch_part *part)
{
    const uint32_t *steps = part->steps, count = part->count;
    double loss = 0;
    if (count == 0) { /* where other ranks have some */
        memset(self->base.gradient.block, 0, self->base.gradient.count * sizeof(float));
        return 0;
    }
    const float *q = forward(self, steps, 0, count);
    memset(self->d_q, 0, (size_t)count * self->base.actions * sizeof(float));
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = (size_t)i * self->base.actions + action_of(self, steps[i]);
        const float error = q[at] - self->group.target[steps[i]];
        loss += 0.5 * (double)error * (double)error;
        self->d_q[at] = error / (float)part->share;
        aq_value_figures_add(&self->sums.values, (double)q[at], (double)error);
    }
    aq_net_backward(self->base.train, self->d_q, count, &self->base.gradient);
    self->sums.loss += loss;
    return loss;
}

/* A step on the one of `parts` minibatches. */
static int train_part(pqn *self, uint32_t number, uint32_t parts)
{
    const aq_batch_part part = aq_batch_part_of(&self->group.own, number, parts);
    double norm, clipped;
    aq_gradient_exchange_watch_rows(self->base.exchange, part.share);
    const double loss = find_gradient(self, &part);
    int rc = aq_value_learner_step(&self->base, isfinite(loss), &norm, &clipped);
    if (rc != 0) {
        return rc;
    }
    self->sums.norm += norm;
    self->sums.clipped += clipped;
    self->sums.updates++;
    return 0;
}

static void tell(const pqn *self, double *metrics)
{
    const pqn_sums *sums = &self->sums;
    if (sums->updates > 0 && sums->values.rows > 0) {
        metrics[AQ_VALUE_LOSS] = sums->loss / sums->values.rows;
        metrics[AQ_VALUE_GRADIENT_NORM] = sums->norm / (double)sums->updates;
        metrics[AQ_VALUE_GRADIENT_CLIPPED] = sums->clipped / (double)sums->updates;
        aq_value_figures_tell(&sums->values, metrics);
    }
}

static int train(aq_algorithm *algorithm, const aq_batch *rows, aq_update_report *ret_report)
{
    pqn *self = (pqn *)algorithm;
    const uint64_t rank = aq_gradient_exchange_rank(self->base.exchange);
    AQ_ASSERT(aq_batch_has_sequences(rows) && rows->steps <= self->sequence_steps);
    *ret_report = (aq_update_report){.steps = 0};
    aq_value_figures_untold(ret_report->metrics);
    self->sums = (pqn_sums){0};
    aq_rng_init(&self->rng, self->seed, BATCH_STREAM ^ self->updates ^ rank << RANK_SHIFT);
    int rc = agree_on_group(self, take_rows(self, rows));
    if (rc == 0) {
        rc = find_targets(self);
    }
    if (rc != 0) {
        return rc;
    }
    self->updates++;
    const uint32_t parts = aq_batch_part_count(&self->group.own, self->minibatches);
    for (uint32_t epoch = 0; rc == 0 && epoch < self->epochs; epoch++) {
        aq_rng_shuffle(&self->rng, self->group.own.steps, self->group.own.count);
        for (uint32_t number = 0; rc == 0 && number < parts; number++) {
            rc = train_part(self, number, parts);
        }
    }
    ret_report->steps = self->sums.updates;
    tell(self, ret_report->metrics);
    return rc;
}

/* ---- what others see ------------------------------------------------------------------------ */

static void add_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    aq_value_learner_arrays(algorithm, arrays);
    aq_named_arrays_add(arrays, "updates", AQ_ARRAY_U64, 1, &((pqn *)algorithm)->updates);
}

const aq_algorithm_class aq_pqn_class = {
    .name = "pqn",
    .needs = {.update = AQ_UPDATES_BY_GROUP},
    .kind = &(const aq_value_kind){.learns = AQ_Q_VALUES, .parts = &own_parts},
    .metrics = {aq_value_learner_metrics, AQ_VALUE_METRICS},
    AQ_VALUE_LEARNER_MEMBERS,
    .train = train,
    .arrays = add_arrays,
};

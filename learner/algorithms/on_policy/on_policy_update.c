/*
 * An update: what is found of a group before parameters change, then epochs of minibatches.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "learner/algorithms/on_policy/advantage.h"
#include "learner/algorithms/on_policy/on_policy_priv.h"
#include "learner/nn/passes.h"

aq_head_terms aq_on_policy_terms(const aq_on_policy *self, const aq_params *params)
{
    return (aq_head_terms){
        .head = self->drawing,
        .action = &self->action,
        .width = self->outputs,
        .arrays = params->block, /* begins with them */
    };
}

/* Where the batch has what belongs to a step. */
static size_t place_of(const aq_on_policy *self, uint32_t step)
{
    const uint32_t observation = self->group.observation[step];
    return observation - observation / (self->sequence_steps + 1);
}

static double actor_log_prob(const aq_on_policy *self, uint32_t step)
{
    return (double)self->group.log_prob[place_of(self, step)];
}

aq_head_draw aq_on_policy_draw(const aq_on_policy *self, uint32_t step)
{
    const aq_on_policy_group *group = &self->group;
    const size_t place = place_of(self, step);
    return (aq_head_draw){
        .action = group->rows->action + place * group->rows->action_bytes,
        .drawn = group->drawn != NULL ? group->drawn + place * self->elements : NULL,
    };
}

/* What the networks see at a boundary, into row `row` of the input. */
static void load(aq_on_policy *self, uint32_t boundary, uint32_t row)
{
    const aq_batch *rows = self->group.rows;
    const uint8_t *from = rows->obs + (size_t)self->group.observation[boundary] * rows->obs_bytes;
    float *to = self->input + (size_t)row * self->inputs;
    if (self->obs_dtype == AQ_DTYPE_U8) {
        aq_passes_best()->unit_from_u8(from, to, self->inputs);
    } else {
        memcpy(to, from, rows->obs_bytes);
    }
}

static void load_steps(aq_on_policy *self, const uint32_t *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        load(self, steps[i], i);
    }
}

const float *aq_on_policy_forward(aq_on_policy *self, const aq_params *params,
                                  const uint32_t *steps, uint32_t count)
{
    load_steps(self, steps, count);
    return aq_net_forward(self->policy.train, params, self->input, count);
}

/* ---- before parameters change --------------------------------------------------------------- */

static bool is_possible(const aq_on_policy *self, uint32_t step)
{
    const aq_head_draw draw = aq_on_policy_draw(self, step);
    return self->elements > 0 ||
           *(const uint32_t *)draw.action < self->action.choice_count; /* below 0, too */
}

static int take_rows(aq_on_policy *self, const aq_batch *rows)
{
    aq_on_policy_group *group = &self->group;
    group->boundaries = 0;
    group->count = 0;
    for (uint32_t row = 0; row < rows->rows; row++) {
        const uint32_t length = rows->length[row];
        AQ_ASSERT(group->count + length <= self->steps_max);
        for (uint32_t t = 0; t <= length; t++) {
            const uint32_t boundary = group->boundaries++;
            group->observation[boundary] = row * (self->sequence_steps + 1) + t;
            if (t < length) {
                group->steps[group->count++] = boundary;
            }
            if (t < length && !is_possible(self, boundary)) {
                return AQ_E_CORRUPT;
            }
        }
        rows->priority[row] = 0.0f;
    }
    return group->count > 0 ? 0 : AQ_E_CORRUPT;
}

static void find_values(aq_on_policy *self)
{
    aq_on_policy_group *group = &self->group;
    for (uint32_t first = 0; first < group->boundaries; first += self->part_max) {
        const uint32_t left = group->boundaries - first;
        const uint32_t part = left < self->part_max ? left : self->part_max;
        for (uint32_t i = 0; i < part; i++) {
            load(self, first + i, i);
        }
        const float *values =
            aq_net_forward(self->value.train, &self->value.online, self->input, part);
        memcpy(group->value + first, values, part * sizeof(*values));
    }
}

/* What the learner's policy would have said, and how much more likely that made the actions. */
static void find_old(aq_on_policy *self)
{
    aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    for (uint32_t first = 0; first < group->count; first += self->part_max) {
        const uint32_t left = group->count - first;
        const uint32_t part = left < self->part_max ? left : self->part_max;
        const float *outputs =
            aq_on_policy_forward(self, &self->policy.online, group->steps + first, part);
        for (uint32_t i = 0; i < part; i++) {
            const uint32_t step = group->steps[first + i];
            const aq_head_draw draw = aq_on_policy_draw(self, step);
            const float old = self->drawing->drawing->log_prob(
                &terms, outputs + (size_t)i * self->outputs, &draw);
            group->old[step] = old;
            group->ratio[step] =
                (float)aq_importance_ratio((double)old, actor_log_prob(self, step));
        }
    }
}

/* Discounted sums of rewards, by whose deviation rewards are divided. */
static int see_returns(aq_on_policy *self)
{
    const aq_batch *rows = self->group.rows;
    double seen[3];
    memcpy(seen, self->returns, sizeof(seen));
    for (uint32_t row = 0; row < rows->rows; row++) {
        double sum = 0;
        for (uint32_t t = 0; t < rows->length[row]; t++) {
            const size_t step = (size_t)row * self->sequence_steps + t;
            sum = (double)rows->reward[step] +
                  (t > 0 ? (double)rows->bootstrap[step - 1] * sum : 0.0);
            const double before = seen[1];
            seen[0] += 1.0;
            seen[1] += (sum - before) / seen[0];
            seen[2] += (sum - before) * (sum - seen[1]);
        }
    }
    if (!isfinite(seen[2])) {
        return AQ_E_CORRUPT;
    }
    memcpy(self->returns, seen, sizeof(seen));
    return 0;
}

static float reward_scale(const aq_on_policy *self)
{
    const double variance = self->returns[0] > 0 ? self->returns[2] / self->returns[0] : 0.0;
    return self->normalizes_rewards && variance > 0 ? (float)(1.0 / sqrt(variance)) : 1.0f;
}

int aq_on_policy_prepare(aq_on_policy *self, const aq_batch *rows)
{
    AQ_ASSERT(aq_batch_has_sequences(rows));
    AQ_ASSERT(rows->steps == self->sequence_steps);
    const aq_batch_column *recorded = rows->columns + AQ_BATCH_RECORDED;
    self->group.rows = rows;
    self->group.log_prob = (const float *)(const void *)recorded[0].bytes;
    self->group.drawn = self->elements > 0 ? (const float *)(const void *)recorded[2].bytes : NULL;
    int rc = take_rows(self, rows);
    if (rc == 0) {
        find_old(self);
    }
    return rc == 0 && self->normalizes_rewards ? see_returns(self) : rc;
}

int aq_on_policy_find_advantages(aq_on_policy *self)
{
    aq_on_policy_group *group = &self->group;
    const aq_batch *rows = group->rows;
    const bool has_vtrace = self->rule.correction == AQ_CORRECTION_VTRACE;
    const float scale = reward_scale(self);
    uint32_t first = 0; /* boundary of the row */
    double sum = 0;
    find_values(self);
    for (uint32_t row = 0; row < rows->rows; row++) {
        const size_t place = (size_t)row * self->sequence_steps;
        const aq_advantage_steps steps = {
            .length = rows->length[row],
            .reward = rows->reward + place,
            .bootstrap = rows->bootstrap + place,
            .value = group->value + first,
            .weight = has_vtrace ? group->ratio + first : NULL,
            .reward_scale = scale,
            .lambda = self->lambda,
        };
        aq_advantages_of(&steps, group->advantage + first, group->target + first);
        for (uint32_t t = 0; t < steps.length; t++) {
            sum += fabs((double)group->advantage[first + t]);
        }
        first += steps.length + 1;
    }
    return sum <= DBL_MAX ? 0 : AQ_E_CORRUPT; /* not for NaN */
}

/* ---- minibatches ---------------------------------------------------------------------------- */

static void shuffle(aq_on_policy *self)
{
    uint32_t *steps = self->group.steps;
    for (uint32_t i = self->group.count; i > 1; i--) {
        const uint32_t j = (uint32_t)aq_rng_below(&self->rng, i);
        const uint32_t kept = steps[i - 1];
        steps[i - 1] = steps[j];
        steps[j] = kept;
    }
}

void aq_on_policy_find_parts(aq_on_policy *self, const uint32_t *steps, uint32_t count)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        self->parts[i] = self->group.advantage[steps[i]];
        mean += (double)self->parts[i] / count;
    }
    if (!self->normalizes_advantages || count < 2) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        squares += ((double)self->parts[i] - mean) * ((double)self->parts[i] - mean);
    }
    const double deviation = sqrt(squares / (count - 1)) + 1e-8;
    for (uint32_t i = 0; i < count; i++) {
        self->parts[i] = (float)(((double)self->parts[i] - mean) / deviation);
    }
}

int aq_on_policy_step_along(aq_on_policy *self, aq_on_policy_net *net, double loss,
                            double *ret_norm)
{
    const size_t first = (size_t)(net->online.block - self->block);
    int rc = aq_gradient_mean(self->exchange, isfinite(loss), first, net->gradient.block,
                              net->gradient.count);
    if (rc != 0) {
        return rc;
    }
    const double norm = aq_gradient_norm(net->gradient.block, net->gradient.count);
    const bool is_long = self->gradient_clip > 0 && norm > self->gradient_clip;
    const double scale = is_long ? self->gradient_clip / norm : 1.0;
    /* Written so that a NaN fails it. */
    if (!(norm * scale <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT;
    }
    if (aq_gradient_exchange_kept(self->exchange) == NULL) {
        aq_adam_step(&net->adam, net->online.block, net->gradient.block, net->online.count,
                     (float)scale);
    }
    *ret_norm = norm;
    return 0;
}

/* Robust policy optimization (Rahman and Xue, 2022): means moved evenly within +-mean_noise. */
static const float *with_noise(aq_on_policy *self, const float *outputs)
{
    if (!(self->mean_noise > 0.0)) {
        return outputs;
    }
    for (uint32_t i = 0; i < self->outputs; i++) {
        self->noisy[i] =
            outputs[i] + (float)aq_rng_range(&self->rng, -self->mean_noise, self->mean_noise);
    }
    return self->noisy;
}

/* The policy's loss on a minibatch, and its gradient. */
static double find_policy_gradient(aq_on_policy *self, const uint32_t *steps, uint32_t count,
                                   double *ret_kl)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    const float *outputs = aq_on_policy_forward(self, &self->policy.online, steps, count);
    aq_params *gradient = &self->policy.gradient;
    double loss = 0, kl = 0;
    memset(self->d_out, 0, (size_t)count * self->outputs * sizeof(float));
    memset(gradient->block, 0, aq_net_spec_array_values(&self->policy.spec) * sizeof(float));
    for (uint32_t i = 0; i < count; i++) {
        const float *plain = outputs + (size_t)i * self->outputs;
        const float *row = with_noise(self, plain);
        const aq_head_draw draw = aq_on_policy_draw(self, steps[i]);
        const aq_head_slope slope = {self->d_out + (size_t)i * self->outputs, gradient->block};
        const double old = (double)self->group.old[steps[i]];
        const double now = (double)drawing->log_prob(&terms, row, &draw);
        const aq_policy_gradient step =
            aq_policy_gradient_of(&self->rule, &(aq_policy_gradient_step){
                                                   .ratio = (double)self->group.ratio[steps[i]],
                                                   .old = old,
                                                   .now = now,
                                                   .advantage = (double)self->parts[i],
                                               });
        const aq_head_scales scales = {(float)(step.slope / count),
                                       (float)(-self->entropy_weight / count)};
        const double entropy = drawing->slopes(&terms, row, &draw, scales, &slope);
        loss += step.loss - self->entropy_weight * entropy;
        double moved = step.moved, far = now - old;
        if (row != plain) { /* noise is no part of how far the policy has gone */
            far = (double)drawing->log_prob(&terms, plain, &draw) - old;
            moved = aq_importance_ratio(far, 0.0);
        }
        kl += moved - 1.0 - far;
        self->sums.entropy += entropy;
        self->sums.clipped += step.is_clipped;
    }
    aq_net_backward(self->policy.train, self->d_out, count, gradient);
    self->sums.loss += loss;
    self->sums.step_kl += kl;
    self->sums.policy_steps += count;
    *ret_kl = kl / count;
    return loss / count;
}

/* Half the squared error; where values are clipped, the greater of that and of what moved no
 * further than value_clip from where it was. */
static double find_value_gradient(aq_on_policy *self, const uint32_t *steps, uint32_t count)
{
    load_steps(self, steps, count);
    const float *values =
        aq_net_forward(self->value.train, &self->value.online, self->input, count);
    const float clip = (float)self->value_clip;
    double loss = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float target = self->group.target[steps[i]];
        const float before = self->group.value[steps[i]];
        const float error = values[i] - target;
        const float moved = values[i] - before;
        const float held = clip > 0.0f ? fmaxf(fminf(moved, clip), -clip) : moved;
        const float held_error = before + held - target;
        const bool is_held = held != moved && held_error * held_error > error * error;
        const float counted = is_held ? held_error : error;
        loss += 0.5 * (double)counted * (double)counted;
        self->d_out[i] = is_held ? 0.0f : error / (float)count;
    }
    aq_net_backward(self->value.train, self->d_out, count, &self->value.gradient);
    self->sums.value_loss += loss;
    self->sums.value_steps += count;
    return loss / count;
}

/* *ret_goes_on is false once the policy has moved far enough. */
static int train_part(aq_on_policy *self, const uint32_t *steps, uint32_t count,
                      bool of_values_alone, bool *ret_goes_on)
{
    double norm = 0, kl = 0;
    int rc = 0;
    if (!of_values_alone) {
        aq_on_policy_find_parts(self, steps, count);
        const double loss = find_policy_gradient(self, steps, count, &kl);
        if (self->kl_max > 0.0 && kl > AQ_ON_POLICY_KL_SLACK * self->kl_max) {
            *ret_goes_on = false;
            return 0;
        }
        rc = aq_on_policy_step_along(self, &self->policy, loss, &norm);
        self->sums.policy_updates += rc == 0;
        self->sums.norm += norm;
    }
    if (rc == 0) {
        const double loss = find_value_gradient(self, steps, count);
        rc = aq_on_policy_step_along(self, &self->value, loss, &norm);
        self->sums.value_updates += rc == 0;
        self->sums.value_norm += norm;
    }
    return rc;
}

int aq_on_policy_run_epochs(aq_on_policy *self, bool of_values_alone)
{
    const uint32_t count = self->group.count;
    const uint32_t parts = self->minibatches < count ? self->minibatches : count;
    bool goes_on = true;
    int rc = 0;
    for (uint32_t epoch = 0; rc == 0 && goes_on && epoch < self->epochs; epoch++) {
        if (epoch > 0 && self->recomputes_advantages) {
            rc = aq_on_policy_find_advantages(self);
        }
        shuffle(self);
        for (uint32_t part = 0; rc == 0 && goes_on && part < parts; part++) {
            const uint32_t first = (uint32_t)((uint64_t)count * part / parts);
            const uint32_t end = (uint32_t)((uint64_t)count * (part + 1) / parts);
            rc =
                train_part(self, self->group.steps + first, end - first, of_values_alone, &goes_on);
        }
    }
    return rc;
}

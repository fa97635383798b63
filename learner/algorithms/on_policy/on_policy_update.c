/*
 * An update: epochs of minibatches over a group, on each a step of the policy and one of values.
 */
#include <math.h>
#include <string.h>

#include "learner/algorithms/on_policy/on_policy_priv.h"

static void shuffle(aq_on_policy *self)
{
    if (self->memory.width > 0) {
        aq_on_policy_memory_shuffle(&self->memory, &self->rng);
    } else {
        aq_rng_shuffle(&self->rng, self->group.own.steps, self->group.own.count);
    }
}

/* Sequences, as many as that share of them; there are no other ranks. */
static aq_batch_part part_of_sequences(aq_on_policy *self, uint32_t number, uint32_t parts)
{
    aq_on_policy_memory *memory = &self->memory;
    const uint32_t begin = aq_batch_part_begin(memory->sequences, number, parts);
    const uint32_t end = aq_batch_part_begin(memory->sequences, number + 1, parts);
    const uint32_t count = aq_on_policy_memory_lay(memory, &self->group, begin, end);
    return (aq_batch_part){.steps = memory->steps, .count = count, .all = count, .share = count};
}

aq_batch_part aq_on_policy_part_of(aq_on_policy *self, uint32_t number, uint32_t parts)
{
    if (self->memory.width > 0) {
        return part_of_sequences(self, number, parts);
    }
    return aq_batch_part_of(&self->group.own, number, parts);
}

int aq_on_policy_find_parts(aq_on_policy *self, const aq_batch_part *part)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        self->parts[i] = self->group.advantage[part->steps[i]];
        mean += (double)self->parts[i] / part->all;
    }
    if (!self->normalizes_advantages || part->all < 2) {
        return 0;
    }
    int rc = aq_gradient_exchange_sum(self->exchange, &mean, 1);
    for (uint32_t i = 0; i < part->count; i++) {
        squares += ((double)self->parts[i] - mean) * ((double)self->parts[i] - mean);
    }
    if (rc == 0) {
        rc = aq_gradient_exchange_sum(self->exchange, &squares, 1);
    }
    const double deviation = sqrt(squares / (part->all - 1)) + 1e-8;
    for (uint32_t i = 0; i < part->count; i++) {
        self->parts[i] = (float)(((double)self->parts[i] - mean) / deviation);
    }
    return rc;
}

int aq_on_policy_judge(aq_on_policy *self, aq_on_policy_net *net, double loss, double *ret_norm,
                       double *ret_scale)
{
    const size_t first = (size_t)(net->online.block - self->block);
    int rc = aq_gradient_mean(self->exchange, isfinite(loss), first, net->gradient.block,
                              net->gradient.count);
    if (rc != 0) {
        return rc;
    }
    const double norm = aq_gradient_norm(net->gradient.block, net->gradient.count);
    rc = aq_gradient_clip(norm, self->gradient_clip, ret_scale);
    if (rc == 0) {
        *ret_norm = norm;
    }
    return rc;
}

void aq_on_policy_step(const aq_on_policy *self, aq_on_policy_net *net, double scale)
{
    if (aq_gradient_exchange_kept(self->exchange) == NULL) {
        aq_optimizer_step(&net->optimizer, net->online.block, net->gradient.block,
                          net->online.count, (float)scale);
    }
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

/* Of no steps, where other ranks have some. */
static double find_nothing(aq_on_policy_net *net)
{
    memset(net->gradient.block, 0, net->gradient.count * sizeof(float));
    return 0;
}

/* The policy's loss on a minibatch, a sum, and this rank's share of its gradient. */
static double find_policy_gradient(aq_on_policy *self, const aq_batch_part *part, double *ret_kl)
{
    if (part->count == 0) {
        return find_nothing(&self->policy);
    }
    const uint32_t *steps = part->steps;
    const uint32_t count = part->count;
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
        const aq_head_scales scales = {(float)(step.slope / part->share),
                                       (float)(-self->entropy_weight / part->share)};
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
    *ret_kl = kl;
    return loss;
}

/* Half the squared error; where values are clipped, the greater of that and of what moved no
 * further than value_clip from where it was. */
static double find_value_gradient(aq_on_policy *self, const aq_batch_part *part)
{
    if (part->count == 0) {
        return find_nothing(&self->value);
    }
    const float *values = aq_on_policy_values(self, part->steps, 0, part->count);
    const float clip = (float)self->value_clip;
    double loss = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        const float target = self->group.target[part->steps[i]];
        const float before = self->group.value[part->steps[i]];
        const float error = values[i] - target;
        const float moved = values[i] - before;
        const float held = clip > 0.0f ? fmaxf(fminf(moved, clip), -clip) : moved;
        const float held_error = before + held - target;
        const bool is_held = held != moved && held_error * held_error > error * error;
        const float counted = is_held ? held_error : error;
        loss += 0.5 * (double)counted * (double)counted;
        self->d_out[i] = is_held ? 0.0f : error / (float)part->share;
    }
    aq_net_backward(self->value.train, self->d_out, part->count, &self->value.gradient);
    self->sums.value_loss += loss;
    self->sums.value_steps += part->count;
    return loss;
}

/* The divergence from before the update, of all ranks' steps. */
static int ask_how_far(aq_on_policy *self, const aq_batch_part *part, double kl, bool *ret_goes_on)
{
    if (!(self->kl_max > 0.0)) {
        return 0;
    }
    int rc = aq_gradient_exchange_sum(self->exchange, &kl, 1);
    *ret_goes_on = !(kl / part->all > AQ_ON_POLICY_KL_SLACK * self->kl_max);
    return rc;
}

/* *ret_goes_on is false once the policy has moved far enough. */
static int judge_policy(aq_on_policy *self, const aq_batch_part *part, double *ret_scale,
                        bool *ret_goes_on)
{
    double norm = 0, kl = 0;
    int rc = aq_on_policy_find_parts(self, part);
    if (rc != 0) {
        return rc;
    }
    const double loss = find_policy_gradient(self, part, &kl);
    rc = ask_how_far(self, part, kl, ret_goes_on);
    if (rc != 0 || !*ret_goes_on) {
        return rc;
    }
    rc = aq_on_policy_judge(self, &self->policy, loss, &norm, ret_scale);
    self->sums.policy_updates += rc == 0;
    self->sums.norm += norm;
    return rc;
}

static int judge_values(aq_on_policy *self, const aq_batch_part *part, double *ret_scale)
{
    double norm = 0;
    const double loss = find_value_gradient(self, part);
    int rc = aq_on_policy_judge(self, &self->value, loss, &norm, ret_scale);
    self->sums.value_updates += rc == 0;
    self->sums.value_norm += norm;
    return rc;
}

/* One step of both, or of neither. */
static int train(aq_on_policy *self, const aq_batch_part *part, bool of_values_alone,
                 bool *ret_goes_on)
{
    double scale = 1, value_scale = 1;
    int rc = of_values_alone ? 0 : judge_policy(self, part, &scale, ret_goes_on);
    if (rc == 0 && *ret_goes_on) {
        rc = judge_values(self, part, &value_scale);
    }
    if (rc != 0 || !*ret_goes_on) {
        return rc;
    }
    if (!of_values_alone) {
        aq_on_policy_step(self, &self->policy, scale);
    }
    aq_on_policy_step(self, &self->value, value_scale);
    return 0;
}

static uint32_t count_parts(const aq_on_policy *self)
{
    const uint32_t sequences = self->memory.sequences, wanted = self->minibatches;
    if (self->memory.width > 0) {
        return wanted < sequences ? wanted : sequences;
    }
    return aq_batch_part_count(&self->group.own, wanted);
}

int aq_on_policy_run_epochs(aq_on_policy *self, bool of_values_alone)
{
    const uint32_t parts = count_parts(self);
    bool goes_on = true;
    int rc = 0;
    for (uint32_t epoch = 0; rc == 0 && goes_on && epoch < self->epochs; epoch++) {
        if (epoch > 0 && self->recomputes_advantages) {
            rc = aq_on_policy_find_advantages(self);
        }
        shuffle(self);
        for (uint32_t number = 0; rc == 0 && goes_on && number < parts; number++) {
            const aq_batch_part part = aq_on_policy_part_of(self, number, parts);
            aq_gradient_exchange_watch_rows(self->exchange, part.share);
            rc = train(self, &part, of_values_alone, &goes_on);
        }
    }
    return rc;
}

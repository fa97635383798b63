/*
 * TRPO: trust region policy optimization (Schulman et al., 2015). The policy goes along the natural
 * gradient, as far as the divergence from itself allows, learner.kl_max:
 *
 *   F x = g by conjugate gradient,  step = sqrt(2 kl_max / x.F x) x,  then back by halves until the
 *   objective is better and the divergence within bounds
 *
 * F, the second derivative of the divergence, is had times a vector as the difference of two
 * gradients of the divergence, of which that at the policy itself is 0. So the policy's products
 * are in fp32, whatever learner.products says. Values follow by epochs of minibatches. Here is in
 * what it differs; the rest is on_policy.c.
 */
#include <math.h>
#include <string.h>

#include "learner/algorithms/on_policy/on_policy_priv.h"

enum { HALVINGS_MAX = 10 };

/* How far apart the two gradients are, as a length over parameters. */
#define APART 1e-3

/* Vectors of the policy's parameters. */
typedef struct vectors {
    float *before, *x, *residual, *along, *product;
} vectors;

static vectors vectors_of(const aq_on_policy *self)
{
    const size_t count = self->policy.online.count;
    float *at = self->vectors;
    return (vectors){at, at + count, at + 2 * count, at + 3 * count, at + 4 * count};
}

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

/* ---- of all steps --------------------------------------------------------------------------- */

typedef struct surrogate {
    double gain; /* mean of w r A */
    double kl;   /* mean divergence from before */
} surrogate;

/* By the parameters as they are, against those `before`. */
static int judge(aq_on_policy *self, const aq_batch_part *part, const float *before,
                 surrogate *ret_surrogate)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    aq_head_terms was = terms;
    was.arrays = before;
    const float *outputs =
        aq_on_policy_forward(self, &self->policy.online, group->own.steps, group->own.count);
    double sums[] = {0, 0}; /* gain, divergence */
    for (uint32_t i = 0; i < group->own.count; i++) {
        const uint32_t step = group->own.steps[i];
        const size_t at = (size_t)i * self->outputs;
        const aq_head_draw draw = aq_on_policy_draw(self, step);
        const double now = (double)drawing->log_prob(&terms, outputs + at, &draw);
        const double weight = aq_importance_weight(&self->rule, (double)group->ratio[step]);
        sums[0] += weight * aq_importance_ratio(now, (double)group->old[step]) *
                   (double)self->parts[i] / part->all;
        sums[1] += drawing->kl(&was, self->old_outputs + at, &terms, outputs + at) / part->all;
    }
    int rc = aq_gradient_exchange_sum(self->exchange, sums, 2);
    *ret_surrogate = (surrogate){.gain = sums[0], .kl = sums[1]};
    return rc;
}

/* The policy's gradient, of some divergence or gain, becomes that of all ranks' steps. It goes as
 * it is in any format: a solver that is told rounded products solves something else. */
static int combine(aq_on_policy *self)
{
    aq_params *gradient = &self->policy.gradient;
    return aq_gradient_exchange_mean(self->exchange, true, gradient->block, gradient->count);
}

/* The gradient of the loss, minus the gain, at the policy as it is. */
static int find_gradient(aq_on_policy *self, const aq_batch_part *part)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    aq_params *gradient = &self->policy.gradient;
    const float *outputs =
        aq_on_policy_forward(self, &self->policy.online, group->own.steps, group->own.count);
    memset(self->d_out, 0, (size_t)group->own.count * self->outputs * sizeof(float));
    memset(gradient->block, 0, aq_net_spec_array_values(&self->policy.spec) * sizeof(float));
    for (uint32_t i = 0; i < group->own.count; i++) {
        const size_t at = (size_t)i * self->outputs;
        const uint32_t step = group->own.steps[i];
        const aq_head_draw draw = aq_on_policy_draw(self, step);
        const double weight = aq_importance_weight(&self->rule, (double)group->ratio[step]);
        const double slope = -weight * (double)self->parts[i] / part->share;
        self->sums.entropy +=
            drawing->slopes(&terms, outputs + at, &draw, (aq_head_scales){.log_prob = (float)slope},
                            &(aq_head_slope){self->d_out + at, gradient->block});
    }
    memcpy(self->old_outputs, outputs, (size_t)group->own.count * self->outputs * sizeof(*outputs));
    aq_net_backward(self->policy.train, self->d_out, group->own.count, gradient);
    return combine(self);
}

/* product = (F + damping) along */
static int find_product(aq_on_policy *self, const aq_batch_part *part, const vectors *room,
                        const float *along)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_on_policy_group *group = &self->group;
    aq_params *online = &self->policy.online, *gradient = &self->policy.gradient;
    const double length = sqrt(dot(along, along, online->count));
    const float apart = (float)(APART / (length > 0 ? length : 1.0));
    for (size_t i = 0; i < online->count; i++) {
        online->block[i] = room->before[i] + apart * along[i];
    }
    const aq_head_terms terms = aq_on_policy_terms(self, online);
    aq_head_terms was = terms;
    was.arrays = room->before;
    const float *outputs = aq_on_policy_forward(self, online, group->own.steps, group->own.count);
    memset(self->d_out, 0, (size_t)group->own.count * self->outputs * sizeof(float));
    memset(gradient->block, 0, aq_net_spec_array_values(&self->policy.spec) * sizeof(float));
    for (uint32_t i = 0; i < group->own.count; i++) {
        const size_t at = (size_t)i * self->outputs;
        drawing->kl_slope(&was, self->old_outputs + at, &terms, outputs + at,
                          1.0f / (float)part->share,
                          &(aq_head_slope){self->d_out + at, gradient->block});
    }
    aq_net_backward(self->policy.train, self->d_out, group->own.count, gradient);
    int rc = combine(self);
    for (size_t i = 0; i < online->count; i++) {
        room->product[i] = gradient->block[i] / apart + (float)self->kl_damping * along[i];
    }
    memcpy(online->block, room->before, online->count * sizeof(float));
    return rc;
}

/* ---- the step ------------------------------------------------------------------------------- */

/* x, with F x = -g; `residual` is -g at first. */
static int solve(aq_on_policy *self, const aq_batch_part *part, const vectors *room)
{
    const size_t count = self->policy.online.count;
    double squares = dot(room->residual, room->residual, count);
    const double enough = 1e-10 * squares;
    memset(room->x, 0, count * sizeof(float));
    memcpy(room->along, room->residual, count * sizeof(float));
    for (uint64_t k = 0; k < self->kl_steps && squares > enough; k++) {
        int rc = find_product(self, part, room, room->along);
        if (rc != 0) {
            return rc;
        }
        const double curvature = dot(room->along, room->product, count);
        if (!(curvature > 0.0)) {
            return 0; /* by rounding; x is good as far as it got */
        }
        const float share = (float)(squares / curvature);
        for (size_t i = 0; i < count; i++) {
            room->x[i] += share * room->along[i];
            room->residual[i] -= share * room->product[i];
        }
        const double after = dot(room->residual, room->residual, count);
        for (size_t i = 0; i < count; i++) {
            room->along[i] = room->residual[i] + (float)(after / squares) * room->along[i];
        }
        squares = after;
    }
    return 0;
}

/* Along x, as far as is better. The parameters stay as they were where nothing is. */
static int search(aq_on_policy *self, const aq_batch_part *part, const vectors *room)
{
    aq_params *online = &self->policy.online;
    surrogate before = {0}, now = {0};
    int rc = find_product(self, part, room, room->x);
    if (rc == 0) {
        rc = judge(self, part, room->before, &before);
    }
    const double curvature = dot(room->x, room->product, online->count);
    double share = rc == 0 && curvature > 0.0 ? sqrt(2.0 * self->kl_max / curvature) : 0.0;
    for (int halvings = 0; share > 0.0 && halvings < HALVINGS_MAX; halvings++, share /= 2) {
        for (size_t i = 0; i < online->count; i++) {
            online->block[i] = room->before[i] + (float)share * room->x[i];
        }
        rc = judge(self, part, room->before, &now);
        if (rc == 0 && now.gain > before.gain && now.kl <= AQ_ON_POLICY_KL_SLACK * self->kl_max) {
            self->sums.loss = -now.gain * part->count;
            self->sums.step_kl = now.kl * part->count;
            return 0;
        }
        share = rc == 0 ? share : 0.0;
    }
    memcpy(online->block, room->before, online->count * sizeof(float));
    return rc;
}

static int improve(aq_on_policy *self)
{
    const vectors room = vectors_of(self);
    const aq_params *online = &self->policy.online;
    const size_t count = online->count;
    const aq_batch_part part = aq_on_policy_part_of(self, 0, 1);
    memcpy(room.before, online->block, count * sizeof(float));
    int rc = aq_on_policy_find_parts(self, &part);
    if (rc == 0) {
        rc = find_gradient(self, &part);
    }
    const double norm = aq_gradient_norm(self->policy.gradient.block, count);
    self->sums.norm = norm;
    self->sums.policy_updates = 1;
    self->sums.policy_steps = part.count;
    if (rc == 0 && !(norm <= AQ_GRADIENT_NORM_MAX)) {
        rc = AQ_E_CORRUPT;
    }
    if (rc == 0 && norm > 0.0) {
        for (size_t i = 0; i < count; i++) {
            room.residual[i] = -self->policy.gradient.block[i];
        }
        rc = solve(self, &part, &room);
        rc = rc == 0 ? search(self, &part, &room) : rc;
    }
    return rc;
}

const aq_algorithm_class aq_trpo_class = {
    .name = "trpo",
    .kind = &(const aq_on_policy_kind){.improve = improve},
    AQ_ON_POLICY_MEMBERS,
};

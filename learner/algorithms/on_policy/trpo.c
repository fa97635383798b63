/*
 * TRPO: trust region policy optimization (Schulman et al., 2015). The policy goes along the natural
 * gradient, as far as the divergence from itself allows, learner.kl_max:
 *
 *   F x = g by conjugate gradient,  step = sqrt(2 kl_max / x.F x) x,  then back by halves until the
 *   objective is better and the divergence within bounds
 *
 * F, the second derivative of the divergence, is had times a vector as the difference of two
 * gradients of the divergence, of which that at the policy itself is 0. Values follow by epochs of
 * minibatches. Here is in what it differs; the rest is on_policy.c.
 */
#include <math.h>
#include <string.h>

#include "learner/algorithms/on_policy/on_policy_network.h"
#include "learner/algorithms/on_policy/on_policy_priv.h"
#include "learner/nn/passes.h"

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
static surrogate judge(aq_on_policy *self, const float *before)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    aq_head_terms was = terms;
    was.arrays = before;
    const float *outputs =
        aq_on_policy_forward(self, &self->policy.online, group->steps, group->count);
    surrogate sum = {0};
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t step = group->steps[i];
        const size_t at = (size_t)i * self->outputs;
        const aq_head_draw draw = aq_on_policy_draw(self, step);
        const double now = (double)drawing->log_prob(&terms, outputs + at, &draw);
        const double weight = aq_importance_weight(&self->rule, (double)group->ratio[step]);
        sum.gain += weight * aq_importance_ratio(now, (double)group->old[step]) *
                    (double)self->parts[i] / group->count;
        sum.kl += drawing->kl(&was, self->old_outputs + at, &terms, outputs + at) / group->count;
    }
    return sum;
}

/* The gradient of the gain at the policy as it is. */
static void find_gradient(aq_on_policy *self)
{
    const aq_head_drawing *drawing = self->drawing->drawing;
    const aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    aq_params *gradient = &self->policy.gradient;
    const float *outputs =
        aq_on_policy_forward(self, &self->policy.online, group->steps, group->count);
    memset(self->d_out, 0, (size_t)group->count * self->outputs * sizeof(float));
    memset(gradient->block, 0, aq_net_spec_array_values(&self->policy.spec) * sizeof(float));
    for (uint32_t i = 0; i < group->count; i++) {
        const size_t at = (size_t)i * self->outputs;
        const uint32_t step = group->steps[i];
        const aq_head_draw draw = aq_on_policy_draw(self, step);
        const double weight = aq_importance_weight(&self->rule, (double)group->ratio[step]);
        const double slope = weight * (double)self->parts[i] / group->count;
        self->sums.entropy +=
            drawing->slopes(&terms, outputs + at, &draw, (aq_head_scales){.log_prob = (float)slope},
                            &(aq_head_slope){self->d_out + at, gradient->block});
    }
    memcpy(self->old_outputs, outputs, (size_t)group->count * self->outputs * sizeof(*outputs));
    aq_net_backward(self->policy.train, self->d_out, group->count, gradient);
}

/* product = (F + damping) along */
static void find_product(aq_on_policy *self, const vectors *room, const float *along)
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
    const float *outputs = aq_on_policy_forward(self, online, group->steps, group->count);
    memset(self->d_out, 0, (size_t)group->count * self->outputs * sizeof(float));
    memset(gradient->block, 0, aq_net_spec_array_values(&self->policy.spec) * sizeof(float));
    for (uint32_t i = 0; i < group->count; i++) {
        const size_t at = (size_t)i * self->outputs;
        drawing->kl_slope(&was, self->old_outputs + at, &terms, outputs + at,
                          1.0f / (float)group->count,
                          &(aq_head_slope){self->d_out + at, gradient->block});
    }
    aq_net_backward(self->policy.train, self->d_out, group->count, gradient);
    for (size_t i = 0; i < online->count; i++) {
        room->product[i] = gradient->block[i] / apart + (float)self->kl_damping * along[i];
    }
    memcpy(online->block, room->before, online->count * sizeof(float));
}

/* ---- the step ------------------------------------------------------------------------------- */

/* x, with F x = g; `residual` is g at first. */
static void solve(aq_on_policy *self, const vectors *room)
{
    const size_t count = self->policy.online.count;
    double squares = dot(room->residual, room->residual, count);
    const double enough = 1e-10 * squares;
    memset(room->x, 0, count * sizeof(float));
    memcpy(room->along, room->residual, count * sizeof(float));
    for (uint64_t k = 0; k < self->kl_steps && squares > enough; k++) {
        find_product(self, room, room->along);
        const double curvature = dot(room->along, room->product, count);
        if (!(curvature > 0.0)) {
            return; /* by rounding; x is good as far as it got */
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
}

/* Along x, as far as is better. The parameters stay as they were where nothing is. */
static void search(aq_on_policy *self, const vectors *room)
{
    aq_params *online = &self->policy.online;
    find_product(self, room, room->x);
    const double curvature = dot(room->x, room->product, online->count);
    double share = curvature > 0.0 ? sqrt(2.0 * self->kl_max / curvature) : 0.0;
    const surrogate before = judge(self, room->before);
    for (int halvings = 0; share > 0.0 && halvings < HALVINGS_MAX; halvings++, share /= 2) {
        for (size_t i = 0; i < online->count; i++) {
            online->block[i] = room->before[i] + (float)share * room->x[i];
        }
        const surrogate now = judge(self, room->before);
        if (now.gain > before.gain && now.kl <= AQ_ON_POLICY_KL_SLACK * self->kl_max) {
            self->sums.loss = -now.gain * self->group.count;
            self->sums.step_kl = now.kl * self->group.count;
            return;
        }
    }
    memcpy(online->block, room->before, online->count * sizeof(float));
}

static int improve(aq_on_policy *self)
{
    const vectors room = vectors_of(self);
    const aq_params *online = &self->policy.online;
    const size_t count = online->count;
    aq_on_policy_find_parts(self, self->group.steps, self->group.count);
    memcpy(room.before, online->block, count * sizeof(float));
    find_gradient(self);
    const double norm = aq_gradient_norm(self->policy.gradient.block, count);
    self->sums.norm = norm;
    self->sums.policy_updates = 1;
    self->sums.policy_steps = self->group.count;
    if (!(norm <= AQ_GRADIENT_NORM_MAX)) {
        return AQ_E_CORRUPT;
    }
    if (norm > 0.0) {
        memcpy(room.residual, self->policy.gradient.block, count * sizeof(float));
        solve(self, &room);
        search(self, &room);
    }
    return 0;
}

const aq_algorithm_class aq_trpo_class = {
    .name = "trpo",
    .summary = "a policy that is drawn from, improved along its natural gradient",
    .kind = &(const aq_on_policy_kind){.improve = improve},
    AQ_ON_POLICY_MEMBERS,
};

/*
 * The group of an update: what is found of it before parameters change, and what ranks tell each
 * other of theirs.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "learner/algorithms/on_policy/advantage.h"
#include "learner/algorithms/on_policy/on_policy_priv.h"

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
    return aq_batch_step_place(self->group.rows, self->group.own.observation[step]);
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

/* What is seen at a boundary. */
static void load(const aq_on_policy *self, uint32_t boundary, float *to)
{
    aq_batch_observe(self->group.rows, self->obs_dtype, self->group.own.observation[boundary],
                     self->inputs, to);
}

const float *aq_on_policy_values(aq_on_policy *self, const uint32_t *listed, uint32_t first,
                                 uint32_t count)
{
    const aq_on_policy_memory *memory = &self->memory;
    float *to = self->input;
    for (uint32_t i = 0; i < count; i++, to += self->inputs + memory->width) {
        const uint32_t boundary = listed != NULL ? listed[i] : first + i;
        load(self, boundary, to);
        if (memory->width > 0) {
            const size_t at = self->group.own.observation[boundary];
            memcpy(to + self->inputs, memory->recorded + at * memory->width,
                   memory->width * sizeof(*to));
        }
    }
    return aq_net_forward(self->value.train, &self->value.online, self->input, count);
}

const float *aq_on_policy_forward(aq_on_policy *self, const aq_params *params,
                                  const uint32_t *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        load(self, steps[i], self->input + (size_t)i * self->inputs);
    }
    return self->memory.width > 0
               ? aq_net_forward_through(self->policy.train, params, self->input, &self->memory.laid)
               : aq_net_forward(self->policy.train, params, self->input, count);
}

/* ---- before parameters change --------------------------------------------------------------- */

static bool is_possible(const aq_on_policy *self, uint32_t step)
{
    return self->elements > 0 || aq_space_has(&self->action, aq_on_policy_draw(self, step).action);
}

static int take_rows(aq_on_policy *self, const aq_batch *rows)
{
    const aq_batch_steps *own = &self->group.own;
    aq_batch_steps_take(&self->group.own, rows, self->steps_max);
    for (uint32_t i = 0; i < own->count; i++) {
        if (!is_possible(self, own->steps[i])) {
            return AQ_E_CORRUPT;
        }
    }
    return own->count > 0 ? 0 : AQ_E_CORRUPT;
}

static void find_values(aq_on_policy *self)
{
    aq_on_policy_group *group = &self->group;
    for (uint32_t first = 0; first < group->own.boundaries; first += self->part_max) {
        const uint32_t left = group->own.boundaries - first;
        const uint32_t part = left < self->part_max ? left : self->part_max;
        const float *values = aq_on_policy_values(self, NULL, first, part);
        memcpy(group->value + first, values, part * sizeof(*values));
    }
}

/* What the learner's policy would have said, and how much more likely that made the actions. */
static void find_old(aq_on_policy *self)
{
    aq_on_policy_group *group = &self->group;
    const aq_head_terms terms = aq_on_policy_terms(self, &self->policy.online);
    const uint32_t *steps = group->own.steps;
    if (self->memory.width > 0) { /* all of them at once, in its own order */
        (void)aq_on_policy_memory_lay(&self->memory, group, 0, self->memory.sequences);
        steps = self->memory.steps;
    }
    for (uint32_t first = 0; first < group->own.count; first += self->part_max) {
        const uint32_t left = group->own.count - first;
        const uint32_t part = left < self->part_max ? left : self->part_max;
        const float *outputs =
            aq_on_policy_forward(self, &self->policy.online, steps + first, part);
        for (uint32_t i = 0; i < part; i++) {
            const uint32_t step = steps[first + i];
            const aq_head_draw draw = aq_on_policy_draw(self, step);
            const float old = self->drawing->drawing->log_prob(
                &terms, outputs + (size_t)i * self->outputs, &draw);
            group->old[step] = old;
            group->ratio[step] =
                (float)aq_importance_ratio((double)old, actor_log_prob(self, step));
        }
    }
}

/* Discounted sums of rewards, by whose deviation rewards are divided, on top of those seen. */
static void see_returns(const aq_on_policy *self, double seen[AQ_ON_POLICY_RETURNS])
{
    const aq_batch *rows = self->group.rows;
    for (uint32_t row = 0; row < rows->rows; row++) {
        double sum = 0;
        for (uint32_t t = 0; t < rows->length[row]; t++) {
            const size_t step = (size_t)row * rows->steps + t;
            sum = (double)rows->reward[step] +
                  (t > 0 ? (double)rows->bootstrap[step - 1] * sum : 0.0);
            const double before = seen[1];
            seen[0] += 1.0;
            seen[1] += (sum - before) / seen[0];
            seen[2] += (sum - before) * (sum - seen[1]);
        }
    }
}

static void merge_returns(double seen[AQ_ON_POLICY_RETURNS],
                          const double theirs[AQ_ON_POLICY_RETURNS])
{
    const double before = seen[0], apart = theirs[1] - seen[1];
    seen[0] += theirs[0];
    seen[1] += apart * (theirs[0] / seen[0]);
    seen[2] += theirs[2] + apart * apart * (before * theirs[0] / seen[0]);
}

static float reward_scale(const aq_on_policy *self)
{
    const double variance = self->returns[0] > 0 ? self->returns[2] / self->returns[0] : 0.0;
    return self->normalizes_rewards && variance > 0 ? (float)(1.0 / sqrt(variance)) : 1.0f;
}

/* What a rank brings to an update, the same bytes for all. */
typedef struct bundle {
    uint64_t steps; /* 0: nothing of use */
    double returns[AQ_ON_POLICY_RETURNS];
} bundle;

/* A group that one rank cannot use is one of none. */
static int take_bundles(aq_on_policy *self, const bundle *bundles, uint32_t ranks)
{
    aq_on_policy_group *group = &self->group;
    double seen[AQ_ON_POLICY_RETURNS];
    memcpy(seen, self->returns, sizeof(seen));
    group->own.ranks = ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (bundles[rank].steps == 0) {
            return AQ_E_CORRUPT;
        }
        group->own.counts[rank] = bundles[rank].steps;
        if (self->normalizes_rewards && aq_gradient_exchange_ranks(self->exchange) > 1) {
            merge_returns(seen, bundles[rank].returns);
        }
    }
    if (aq_gradient_exchange_ranks(self->exchange) == 1) {
        memcpy(seen, bundles[0].returns, sizeof(seen));
    }
    if (!isfinite(seen[2])) {
        return AQ_E_CORRUPT;
    }
    memcpy(self->returns, seen, sizeof(seen));
    return 0;
}

/* From here on all ranks know how many steps each has. */
static int agree_on_group(aq_on_policy *self, bool is_usable)
{
    bundle bundles[AQ_RANKS_MAX];
    bundle *own = &bundles[aq_gradient_exchange_rank(self->exchange)];
    *own = (bundle){.steps = is_usable ? self->group.own.count : 0};
    if (aq_gradient_exchange_ranks(self->exchange) == 1) {
        memcpy(own->returns, self->returns, sizeof(own->returns));
    }
    if (is_usable && self->normalizes_rewards) {
        see_returns(self, own->returns);
    }
    int rc = aq_gradient_exchange_gather(self->exchange, bundles, sizeof(*own));
    return rc == 0 ? take_bundles(self, bundles, aq_gradient_exchange_ranks(self->exchange)) : rc;
}

int aq_on_policy_prepare(aq_on_policy *self, const aq_batch *rows)
{
    AQ_ASSERT(aq_batch_has_sequences(rows));
    AQ_ASSERT(rows->steps <= self->sequence_steps);
    const aq_batch_column *recorded = rows->columns + AQ_BATCH_RECORDED;
    self->group.rows = rows;
    self->group.log_prob = (const float *)(const void *)recorded[0].bytes;
    self->group.drawn = self->elements > 0 ? (const float *)(const void *)recorded[2].bytes : NULL;
    int rc = take_rows(self, rows);
    if (rc == 0 && self->memory.width > 0) {
        const uint32_t state = self->elements > 0 ? 2 : 1;
        AQ_ASSERT(recorded[2 * state].is.bytes == self->memory.width * sizeof(float));
        aq_on_policy_memory_begin(&self->memory, rows,
                                  (const float *)(const void *)recorded[2 * state].bytes);
    }
    if (rc == 0) {
        find_old(self);
    }
    return agree_on_group(self, rc == 0);
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
        const size_t place = (size_t)row * rows->steps;
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
    int rc = aq_gradient_exchange_sum(self->exchange, &sum, 1);
    return rc != 0 ? rc : sum <= DBL_MAX ? 0 : AQ_E_CORRUPT; /* not for NaN */
}

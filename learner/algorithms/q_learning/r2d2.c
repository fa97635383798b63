/*
 * R2D2: DQN of a network that keeps a state (Kapturowski et al., 2019), from sequences of replay.
 * Each begins with the state that its actor recorded. That one is of an older policy, so the first
 * learner.burn_in steps only bring it up to date, by the network that is then unrolled: nothing is
 * learned from them. A sequence that begins its episode begins with the right state, zeros, and
 * burns nothing in. What the steps behind should be worth is sequence_loss.h.
 *
 * An update is two passes through the sequences and one back: the target's, and the learned
 * network's, whose values choose the next actions, too. Sequences lie side by side
 * (sequence_places.h), at all of their boundaries; the last of each is bootstrapped from, and has
 * no gradient.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/experience/column_catalog.h"
#include "learner/algorithms/batch_steps.h"
#include "learner/algorithms/q_learning/sequence_loss.h"
#include "learner/algorithms/q_learning/value_learner.h"
#include "learner/nn/sequence_places.h"

/* The stream of the initial weights, among those of the run's seed: "r2d2init". */
#define INIT_STREAM UINT64_C(0x72326432696e6974)

static const char *const columns[] = {AQ_STATE_COLUMN, NULL};

/* A row that is learned from. */
typedef struct span {
    uint32_t row;
    uint32_t first; /* step: those before are burned in */
    uint32_t steps; /* from there on */
    uint32_t place; /* of the boundary `first`, among the network's rows */
} span;

typedef struct r2d2 {
    aq_value_learner base; /* first */
    uint32_t sequence_steps, rows_max, burn_in;
    aq_sequence_rule rule;
    bool is_double;
    aq_sequence_places places;
    span *spans; /* of the update, span_count of them */
    uint32_t span_count, steps, rows;
    uint32_t *burning; /* (burn_in): how many are burned in, at each step */
    uint32_t *row;     /* (sequence_steps + 1): of one span's boundaries */
    float *input;      /* (rows of all boundaries, inputs) */
    float *begin;      /* (rows_max, state): what each span begins with, by its place */
    float *burned;     /* (rows_max, state): likewise, of those that are burned in */
    float *target_q;   /* (rows, actions) */
    float *d_q;        /* likewise */
    float *worth;      /* (sequence_steps + 1) */
} r2d2;

/* ---- making it ------------------------------------------------------------------------------ */

static int check(const aq_algorithm_setup *setup, aq_error *error)
{
    const uint64_t burn_in = setup->config->learner.burn_in;
    return burn_in < setup->sequence_length
               ? 0
               : aq_fail(error, AQ_E_INVALID,
                         "learner.burn_in is %u, which leaves nothing to learn of sequences of "
                         "replay.sequence_length %u; %u works",
                         (unsigned)burn_in, setup->sequence_length, setup->sequence_length / 2);
}

static uint32_t rows_of_all(const r2d2 *self)
{
    return self->rows_max * (self->sequence_steps + 1);
}

static aq_value_passes take_settings(void *algorithm, const aq_algorithm_setup *setup)
{
    r2d2 *self = algorithm;
    const aq_run_config *config = setup->config;
    self->sequence_steps = setup->sequence_length;
    self->rows_max = (uint32_t)config->learner.batch_size;
    self->burn_in = (uint32_t)config->learner.burn_in;
    self->rule = (aq_sequence_rule){.actions = setup->schema->action.choice_count,
                                    .n_step = (uint32_t)config->learner.n_step,
                                    .is_rescaled = config->learner.rescale_values,
                                    .huber_delta = (float)config->learner.huber_delta};
    self->is_double = config->learner.double_q;
    return (aq_value_passes){.forward_rows = rows_of_all(self), .backward_rows = rows_of_all(self)};
}

static void lay_out(void *algorithm, aq_arrays *at)
{
    r2d2 *self = algorithm;
    const size_t rows = rows_of_all(self), boundaries = (size_t)self->sequence_steps + 1;
    const size_t state_bytes = self->base.state * sizeof(float);
    const size_t action_bytes = self->rule.actions * sizeof(float);
    self->spans = aq_arrays_place(at, self->rows_max, sizeof(*self->spans));
    self->burning = aq_arrays_place(at, self->burn_in, sizeof(*self->burning));
    self->row = aq_arrays_place(at, boundaries, sizeof(*self->row));
    self->input = aq_arrays_place(at, rows, self->base.inputs * sizeof(float));
    self->begin = aq_arrays_place(at, self->rows_max, state_bytes);
    self->burned = aq_arrays_place(at, self->rows_max, state_bytes);
    self->target_q = aq_arrays_place(at, rows, action_bytes);
    self->d_q = aq_arrays_place(at, rows, action_bytes);
    self->worth = aq_arrays_place(at, boundaries, sizeof(float));
    aq_sequence_places_lay_out(&self->places, self->sequence_steps + 1, at);
}

static const aq_value_parts own_parts = {
    .size_bytes = sizeof(r2d2),
    .stream = INIT_STREAM,
    .has_target = true,
    .check = check,
    .take_settings = take_settings,
    .lay_out = lay_out,
};

/* ---- sequences ------------------------------------------------------------------------------ */

/* The state that an actor had before a row's first step. */
static const float *recorded(const r2d2 *self, const aq_batch *batch, uint32_t row)
{
    const float *states = (const float *)(const void *)batch->columns[AQ_BATCH_RECORDED].bytes;
    return states + (size_t)row * (batch->steps + 1) * self->base.state;
}

static bool begins_episode(const r2d2 *self, const aq_batch *batch, uint32_t row)
{
    for (uint32_t i = 0; i < self->base.state; i++) {
        if (recorded(self, batch, row)[i] != 0.0f) {
            return false;
        }
    }
    return true;
}

/* What is learned of the rows; one that ends while it is burned in teaches nothing. */
static void take_rows(r2d2 *self, const aq_batch *batch)
{
    aq_sequence_places_begin(&self->places);
    self->span_count = self->steps = self->rows = 0;
    for (uint32_t row = 0; row < batch->rows; row++) {
        const uint32_t first = begins_episode(self, batch, row) ? 0 : self->burn_in;
        const uint32_t length = batch->length[row];
        if (length > first) {
            self->spans[self->span_count++] =
                (span){.row = row, .first = first, .steps = length - first};
            aq_sequence_places_add(&self->places, length - first + 1);
            self->steps += length - first;
            self->rows += length - first + 1;
        }
    }
    aq_sequence_places_close(&self->places);
    for (uint32_t i = 0; i < self->span_count; i++) {
        span *at = &self->spans[i];
        at->place = aq_sequence_places_take(&self->places, at->steps + 1);
    }
}

/* Observations of a row, from boundary `first` on, each into a place of its own. */
static void load(r2d2 *self, const aq_batch *batch, uint32_t row, uint32_t first, uint32_t count,
                 uint32_t place, const uint32_t *active)
{
    const uint32_t from = row * (batch->steps + 1) + first;
    for (uint32_t t = 0; t < count; place += active[t++]) {
        aq_batch_observe(batch, self->base.obs_dtype, from + t, self->base.inputs,
                         self->input + (size_t)place * self->base.inputs);
    }
}

/* Goes through the steps that are burned in, side by side; all have as many. */
static void burn_in(r2d2 *self, const aq_batch *batch, const aq_params *params)
{
    const size_t bytes = self->base.state * sizeof(float);
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->span_count; i++) {
        count += self->spans[i].first > 0;
    }
    for (uint32_t t = 0; t < self->burn_in; t++) {
        self->burning[t] = count;
    }
    for (uint32_t i = 0, place = 0; i < self->span_count; i++) {
        const span *at = &self->spans[i];
        if (at->first > 0) {
            load(self, batch, at->row, 0, at->first, place, self->burning);
            memcpy(self->burned + place++ * self->base.state, recorded(self, batch, at->row),
                   bytes);
        }
    }
    if (count > 0) {
        (void)aq_net_forward_through(self->base.train, params, self->input,
                                     &(aq_net_sequences){.steps = self->burn_in,
                                                         .active = self->burning,
                                                         .state = self->burned});
        aq_net_states_behind(self->base.train, self->burned);
    }
}

/* The values at all boundaries, each of the network's own states. */
static const float *unroll(r2d2 *self, const aq_batch *batch, const aq_params *params,
                           aq_net_sequences *sequences)
{
    burn_in(self, batch, params);
    for (uint32_t i = 0, place = 0; i < self->span_count; i++) {
        const span *at = &self->spans[i];
        load(self, batch, at->row, at->first, at->steps + 1, at->place, self->places.active);
        if (self->base.state > 0) {
            const float *from = at->first > 0 ? self->burned + place++ * self->base.state
                                              : recorded(self, batch, at->row);
            memcpy(self->begin + at->place * self->base.state, from,
                   self->base.state * sizeof(float));
        }
    }
    *sequences = (aq_net_sequences){
        .steps = self->places.steps, .active = self->places.active, .state = self->begin};
    return aq_net_forward_through(self->base.train, params, self->input, sequences);
}

/* ---- training ------------------------------------------------------------------------------- */

/* The loss of all steps, a sum; their gradient is a mean over `share` steps. */
static int find_loss(r2d2 *self, const aq_batch *batch, const float *q, double share,
                     aq_value_figures *figures, double *ret_loss)
{
    double sum = 0;
    int rc = 0;
    memset(self->d_q, 0, (size_t)self->rows * self->rule.actions * sizeof(float));
    for (uint32_t i = 0; rc == 0 && i < self->span_count; i++) {
        const span *at = &self->spans[i];
        const size_t step = (size_t)at->row * batch->steps + at->first;
        const double weight = (double)batch->weight[at->row];
        double loss = 0;
        for (uint32_t t = 0, place = at->place; t <= at->steps; place += self->places.active[t++]) {
            self->row[t] = place;
        }
        rc = aq_sequence_loss_of(
            &self->rule,
            &(aq_sequence_values){.steps = at->steps,
                                  .row = self->row,
                                  .online = q,
                                  .chooser = self->is_double ? q : self->target_q,
                                  .target = self->target_q,
                                  .action = batch->action + step * sizeof(int32_t),
                                  .reward = batch->reward + step,
                                  .bootstrap = batch->bootstrap + step},
            (float)(weight / share), self->worth, self->d_q, &batch->priority[at->row], figures,
            &loss);
        sum += weight * loss;
    }
    *ret_loss = sum;
    return rc;
}

static int find_gradient(r2d2 *self, const aq_batch *batch, double share, aq_value_figures *figures,
                         double *ret_loss)
{
    aq_net_sequences sequences;
    if (self->span_count == 0) { /* where other ranks have some */
        memset(self->base.gradient.block, 0, self->base.gradient.count * sizeof(float));
        return 0;
    }
    const float *q = unroll(self, batch, &self->base.target, &sequences);
    memcpy(self->target_q, q, (size_t)self->rows * self->rule.actions * sizeof(*q));
    q = unroll(self, batch, &self->base.online, &sequences);
    int rc = find_loss(self, batch, q, share, figures, ret_loss);
    if (rc == 0) {
        aq_net_backward(self->base.train, self->d_q, self->rows, &self->base.gradient);
    }
    return rc;
}

static int train(aq_algorithm *algorithm, const aq_batch *batch, aq_update_report *ret_report)
{
    r2d2 *self = (r2d2 *)algorithm;
    aq_value_figures figures = {0};
    double loss = 0, norm, clipped;
    AQ_ASSERT(aq_batch_has_sequences(batch) && batch->steps <= self->sequence_steps);
    AQ_ASSERT(batch->rows <= self->rows_max);
    *ret_report = (aq_update_report){.steps = 0};
    aq_value_figures_untold(ret_report->metrics);
    take_rows(self, batch);
    double all = self->steps;
    int rc = aq_gradient_exchange_sum(self->base.exchange, &all, 1);
    if (rc != 0) {
        return rc;
    }
    memset(batch->priority, 0, batch->rows * sizeof(*batch->priority));
    if (!(all > 0)) {
        return 0; /* all of the rows ended too soon */
    }
    const double share = all / aq_gradient_exchange_ranks(self->base.exchange);
    aq_gradient_exchange_watch_rows(self->base.exchange, share);
    rc = find_gradient(self, batch, share, &figures, &loss);
    rc = aq_value_learner_step(&self->base, rc == 0 && isfinite(loss), &norm, &clipped);
    if (rc != 0) {
        return rc;
    }
    ret_report->steps = 1;
    ret_report->metrics[AQ_VALUE_GRADIENT_NORM] = norm;
    ret_report->metrics[AQ_VALUE_GRADIENT_CLIPPED] = clipped;
    if (figures.rows > 0) {
        ret_report->metrics[AQ_VALUE_LOSS] = loss / figures.rows;
        aq_value_figures_tell(&figures, ret_report->metrics);
    }
    return 0;
}

const aq_algorithm_class aq_r2d2_class = {
    .name = "r2d2",
    .needs = {.columns = columns},
    .kind = &(const aq_value_kind){.learns = AQ_Q_VALUES, .parts = &own_parts},
    .metrics = {aq_value_learner_metrics, AQ_VALUE_METRICS},
    AQ_VALUE_LEARNER_MEMBERS,
    .train = train,
    .arrays = aq_value_learner_arrays,
};

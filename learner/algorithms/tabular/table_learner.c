/*
 * The table is the weights of a linear layer on one-hot states, (actions, states), so that
 * checkpoints, versions and actors know it as the network that it is. What is published is not the
 * values: see table_policy.h.
 */
#include "learner/algorithms/tabular/table_learner.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/config/explore.h"
#include "common/nn/params.h"
#include "common/nn/table_policy.h"
#include "learner/algorithms/batch_steps.h"

/* A greater reward is refused: what no number of steps makes infinite. */
#define REWARD_MAX 1e19f

typedef struct table_learner {
    aq_algorithm head;
    aq_net_spec spec;
    uint32_t states, actions;
    uint32_t steps; /* of a sequence, at most */
    uint32_t rows_max;
    bool is_bytes;   /* that is seen */
    int next;        /* of aq_table_kind */
    uint32_t *state; /* (rows, steps + 1): which one is seen */
    aq_params values, acting;
    float learning_rate, epsilon;
    aq_gradient_exchange *exchange; /* with other ranks; NULL: alone, and no room for these: */
    float *before;                  /* (cells): values that all ranks begin an update with */
    float *moved;                   /* (cells): how far this one's rows moved each ... */
    float *replaced;                /* ... and what share of it they put something else for */
} table_learner;

const aq_metric aq_table_learner_metrics[AQ_VALUE_FIGURES] = {AQ_VALUE_FIGURE_ROWS};

static table_learner *learner_of(aq_algorithm *algorithm)
{
    AQ_ASSERT(algorithm->class->destroy == aq_table_learner_destroy);
    return (table_learner *)algorithm; /* the head is the first member */
}

static float *cell(const table_learner *self, uint32_t state, uint32_t action)
{
    return self->values.weight[0] + (size_t)action * self->states + state;
}

/* ---- making it ------------------------------------------------------------------------------ */

void aq_table_learner_destroy(aq_algorithm *algorithm)
{
    if (algorithm != NULL) {
        table_learner *self = learner_of(algorithm);
        aq_params_fini(&self->values);
        aq_params_fini(&self->acting);
        aq_free(self->state);
        aq_free(self->before);
        aq_free(self);
    }
}

static int make_spec(const aq_algorithm_setup *setup, aq_net_spec *spec, aq_error *error)
{
    const aq_layer_spec table =
        aq_layer_linear((uint32_t)aq_space_elements(&setup->schema->obs),
                        setup->schema->action.choice_count, AQ_ACTIVATION_NONE);
    memset(spec, 0, sizeof(*spec));
    int rc = aq_net_spec_add(spec, &table, error);
    return rc == 0 ? aq_net_spec_validate(spec, error) : rc;
}

static size_t cells_of(const table_learner *self)
{
    return (size_t)self->states * self->actions;
}

static int make_shared(table_learner *self)
{
    const size_t cells = cells_of(self);
    if (aq_gradient_exchange_ranks(self->exchange) == 1) {
        return 0;
    }
    self->before = aq_alloc(cells, 3 * sizeof(float));
    if (self->before == NULL) {
        return AQ_E_NOMEM;
    }
    self->moved = self->before + cells;
    self->replaced = self->moved + cells;
    return aq_gradient_exchange_reserve(self->exchange, 2 * cells);
}

static int make_table(table_learner *self, const aq_algorithm_setup *setup)
{
    const aq_run_config *config = setup->config;
    const size_t seen = (size_t)self->rows_max * (self->steps + 1);
    self->learning_rate = (float)config->learner.learning_rate;
    self->epsilon = (float)aq_explore_mean_rate(config);
    self->state = aq_alloc(seen, sizeof(*self->state));
    if (self->state == NULL || aq_params_init(&self->spec, &self->values) != 0 ||
        aq_params_init(&self->spec, &self->acting) != 0) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < cells_of(self); i++) {
        self->values.weight[0][i] = (float)config->learner.initial_value;
    }
    return make_shared(self);
}

int aq_table_learner_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                            aq_algorithm **ret_algorithm, aq_error *error)
{
    aq_net_spec spec;
    AQ_ASSERT(setup->schema->action.kind == AQ_SPACE_DISCRETE);
    int rc = make_spec(setup, &spec, error);
    if (rc != 0) {
        return rc;
    }
    table_learner *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a table");
    }
    *self = (table_learner){
        .head = {.class = class, .spec = &self->spec},
        .spec = spec,
        .states = aq_net_spec_inputs(&spec),
        .actions = aq_net_spec_outputs(&spec),
        .steps = setup->sequence_length,
        .rows_max = (uint32_t)setup->config->learner.batch_size,
        .is_bytes = setup->schema->obs.dtype == AQ_DTYPE_U8,
        .next = (int)((const aq_table_kind *)class->kind)->next,
        .exchange = setup->exchange,
    };
    rc = make_table(self, setup);
    if (rc != 0) {
        aq_table_learner_destroy(&self->head);
        return aq_fail(error, rc, "no memory for a table of %u states", aq_net_spec_inputs(&spec));
    }
    *ret_algorithm = &self->head;
    return 0;
}

/* ---- what a batch says ---------------------------------------------------------------------- */

/* Which of the states is set in a row, while the others are 0; `states` when that is not so. All
 * are looked at, without a branch that depends on them. */
static uint32_t find_state(const table_learner *self, const uint8_t *row)
{
    const float *floats = (const float *)(const void *)row;
    uint32_t ones = 0, others = 0, at = 0;
    for (uint32_t i = 0; self->is_bytes && i < self->states; i++) {
        const uint32_t is_one = row[i] == UINT8_MAX;
        ones += is_one;
        others += row[i] != 0;
        at += is_one * i;
    }
    for (uint32_t i = 0; !self->is_bytes && i < self->states; i++) {
        const uint32_t is_one = floats[i] == 1.0f;
        ones += is_one;
        others += floats[i] != 0.0f;
        at += is_one * i;
    }
    return ones == 1 && others == 1 ? at : self->states;
}

/* A NaN fails each of these. */
static bool is_step_sound(const table_learner *self, const aq_batch *rows, size_t step)
{
    return fabsf(rows->reward[step]) <= REWARD_MAX && rows->bootstrap[step] >= 0.0f &&
           rows->bootstrap[step] <= 1.0f && aq_batch_choice(rows, step) < self->actions;
}

/* Finds the states, and that every number is one to learn from, before anything is changed. */
static int read_batch(table_learner *self, const aq_batch *rows)
{
    for (uint32_t row = 0; row < rows->rows; row++) {
        if (!(rows->weight[row] >= 0.0f && rows->weight[row] <= REWARD_MAX)) {
            return AQ_E_CORRUPT;
        }
        for (uint32_t t = 0; t <= rows->length[row]; t++) {
            const size_t seen = (size_t)row * (rows->steps + 1) + t;
            self->state[seen] = find_state(self, rows->obs + seen * rows->obs_bytes);
            if (self->state[seen] == self->states ||
                (t < rows->length[row] &&
                 !is_step_sound(self, rows, (size_t)row * rows->steps + t))) {
                return AQ_E_CORRUPT;
            }
        }
    }
    return 0;
}

/* ---- training ------------------------------------------------------------------------------- */

static float best_value(const table_learner *self, uint32_t state)
{
    float best = *cell(self, state, 0);
    for (uint32_t action = 1; action < self->actions; action++) {
        best = fmaxf(best, *cell(self, state, action));
    }
    return best;
}

/* epsilon / n sum_a Q(s, a) + (1 - epsilon) max_a Q(s, a) */
static float expected_value(const table_learner *self, uint32_t state)
{
    float sum = 0.0f;
    for (uint32_t action = 0; action < self->actions; action++) {
        sum += *cell(self, state, action);
    }
    return self->epsilon * (sum / (float)self->actions) +
           (1.0f - self->epsilon) * best_value(self, state);
}

/* V of the state behind step t of a sequence that is not over there. False: nobody knows, as the
 * action that was taken there is not in the sequence. */
static bool value_behind(const table_learner *self, const aq_batch *rows, uint32_t row, uint32_t t,
                         float *ret_value)
{
    const uint32_t next = self->state[(size_t)row * (rows->steps + 1) + t + 1];
    if (self->next == AQ_NEXT_TAKEN) {
        if (t + 1 == rows->length[row]) {
            return false;
        }
        *ret_value = *cell(self, next, aq_batch_choice(rows, (size_t)row * rows->steps + t + 1));
    } else {
        *ret_value =
            self->next == AQ_NEXT_BEST ? best_value(self, next) : expected_value(self, next);
    }
    return true;
}

static void note_visit(const table_learner *self, const float *value, float rate)
{
    if (aq_gradient_exchange_ranks(self->exchange) > 1) {
        float *replaced = self->replaced + (value - self->values.weight[0]);
        *replaced += rate * (1.0f - *replaced);
    }
}

/* One sequence, the last step first. Its priority is the mean size of its errors. */
static void learn_sequence(const table_learner *self, const aq_batch *rows, uint32_t row,
                           aq_value_figures *figures)
{
    const float rate = fminf(1.0f, self->learning_rate * rows->weight[row]);
    double sizes = 0;
    uint32_t learned = 0;
    for (uint32_t t = rows->length[row]; t-- > 0;) {
        const size_t step = (size_t)row * rows->steps + t;
        const uint32_t state = self->state[(size_t)row * (rows->steps + 1) + t];
        float *value = cell(self, state, aq_batch_choice(rows, step)), next = 0.0f;
        if (rows->bootstrap[step] > 0.0f && !value_behind(self, rows, row, t, &next)) {
            continue;
        }
        const float error = rows->reward[step] + rows->bootstrap[step] * next - *value;
        aq_value_figures_add(figures, *value, -error);
        *value += rate * error;
        note_visit(self, value, rate);
        sizes += fabs((double)error);
        learned++;
    }
    rows->priority[row] = learned > 0 ? (float)(sizes / learned) : 0.0f;
}

/* ---- other ranks ---------------------------------------------------------------------------- */

static void begin_shared(table_learner *self)
{
    const size_t cells = cells_of(self);
    memcpy(self->before, self->values.weight[0], cells * sizeof(float));
    memset(self->replaced, 0, cells * sizeof(float));
}

/* All ranks began with one table, and each has moved it by its rows. A cell moves by the sum of
 * what they moved it, as if one had had all rows; but where together they put more in its place
 * than there was, only to the mean of what they put there: never beyond what one of them put.
 *
 *   Q += sum_r moved(r) / max(1, sum_r replaced(r)) */
static int end_shared(table_learner *self, bool is_good)
{
    const size_t cells = cells_of(self);
    const float ranks = (float)aq_gradient_exchange_ranks(self->exchange);
    float *value = self->values.weight[0];
    for (size_t i = 0; i < cells; i++) {
        self->moved[i] = value[i] - self->before[i];
    }
    int rc = aq_gradient_exchange_mean(self->exchange, is_good, self->moved, 2 * cells);
    for (size_t i = 0; i < cells; i++) {
        const float by = ranks * self->moved[i] / fmaxf(1.0f, ranks * self->replaced[i]);
        value[i] = rc == 0 ? self->before[i] + by : self->before[i];
    }
    return rc;
}

int aq_table_learner_train(aq_algorithm *algorithm, const aq_batch *rows,
                           aq_update_report *ret_report)
{
    table_learner *self = learner_of(algorithm);
    aq_value_figures figures = {0};

    AQ_ASSERT(rows->rows > 0 && rows->rows <= self->rows_max);
    AQ_ASSERT(rows->steps <= self->steps && aq_batch_has_sequences(rows));
    AQ_ASSERT(rows->obs_bytes == self->states * (self->is_bytes ? 1 : sizeof(float)));
    int rc = read_batch(self, rows);
    if (aq_gradient_exchange_ranks(self->exchange) > 1) {
        begin_shared(self);
    }
    for (uint32_t row = 0; rc == 0 && row < rows->rows; row++) {
        learn_sequence(self, rows, row, &figures);
    }
    if (aq_gradient_exchange_ranks(self->exchange) > 1) {
        rc = end_shared(self, rc == 0);
    }
    if (rc != 0) {
        return rc;
    }
    *ret_report = (aq_update_report){.steps = 1};
    ret_report->metrics[AQ_VALUE_LOSS] = 0.5 * figures.error_squares / figures.rows;
    aq_value_figures_tell(&figures, ret_report->metrics);
    return 0;
}

/* ---- what others see ------------------------------------------------------------------------ */

const aq_params *aq_table_learner_policy(const aq_algorithm *algorithm)
{
    const table_learner *self = (const table_learner *)algorithm;
    aq_table_policy(self->actions, self->states, self->values.weight[0], self->acting.weight[0]);
    return &self->acting;
}

void aq_table_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                                double critic_learning_rate)
{
    (void)critic_learning_rate; /* there is one table only */
    learner_of(algorithm)->learning_rate = (float)learning_rate;
}

void aq_table_learner_set_epsilon(aq_algorithm *algorithm, double epsilon)
{
    learner_of(algorithm)->epsilon = (float)epsilon;
}

void aq_table_learner_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    table_learner *self = learner_of(algorithm);
    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, self->values.count, self->values.block);
}

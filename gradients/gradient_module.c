/*
 * Gradient maker: a module of its own, actorq-gradients.so, which an actor loads that computes
 * gradients (rollout/gradient_maker.h).
 *
 * Steps go where they would go at a shard: into a table, a queue, and rows are gathered of it. So a
 * gradient is, to the last bit, what a learner would have found of the same steps. The algorithm is
 * the learner's, too, but keeps its gradient instead of stepping along it.
 */
#include "gradients/gradient_module.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/config/run_tables.h"
#include "learner/algorithms/agent.h"
#include "learner/gradients/gradient_codes.h"
#include "learner/nn/blas.h"
#include "replay/table/replay_table.h"

typedef struct maker {
    aq_run_settings settings;
    aq_layout row_layout; /* of a gradient */
    enum aq_gradient_format format;
    uint32_t rows_max; /* that a gradient is of */
    uint64_t taken, made;
    uint32_t version; /* whose parameters it has */
    aq_message_store *store;
    aq_replay_table *table;
    aq_batch *batch;
    aq_gradient_exchange *exchange;
    aq_agent *agent;
    float *residual; /* what packing left over */
} maker;

/* ---- steps ---------------------------------------------------------------------------------- */

/* A chunk as a message has it. */
typedef struct chunk_lease {
    aq_lease lease;
    aq_chunk *chunk;
} chunk_lease;

static void free_chunk(aq_lease *lease)
{
    chunk_lease *self = (chunk_lease *)lease; /* the first member */
    aq_chunk_unref(self->chunk);
    aq_free(self);
}

/* Takes the reference to the chunk. */
static int make_arrival(aq_chunk *chunk, aq_arrival **ret_arrival)
{
    chunk_lease *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        aq_chunk_unref(chunk);
        return AQ_E_NOMEM;
    }
    self->chunk = chunk;
    aq_lease_init(&self->lease, (const uint8_t *)chunk, chunk->bytes, free_chunk);
    int rc = aq_arrival_create(1, &self->lease, ret_arrival);
    if (rc != 0) {
        aq_lease_unref(&self->lease);
        return rc;
    }
    (*ret_arrival)->chunks[0] = chunk->view;
    return 0;
}

static int take(aq_gradient_maker *outer, aq_chunk *chunk)
{
    maker *self = outer->state;
    aq_arrival *arrival;
    int rc = make_arrival(chunk, &arrival);
    if (rc != 0) {
        return rc;
    }
    rc = aq_replay_table_reserve(self->table, arrival);
    if (rc == 0) {
        rc = aq_message_store_reserve(self->store);
    }
    if (rc != 0) {
        aq_arrival_unref(arrival);
        return rc;
    }
    aq_stored_message *message =
        aq_message_store_add(self->store, arrival, ++self->taken, 0, false);
    aq_message_store_hold(message); /* the table may not want it */
    aq_replay_table_insert(self->table, message, 0);
    aq_message_store_release(self->store, message);
    return 0;
}

/* ---- a gradient ----------------------------------------------------------------------------- */

static int adopt(aq_gradient_maker *outer, const aq_snapshot *version)
{
    maker *self = outer->state;
    int rc = aq_agent_adopt(self->agent, version);
    if (rc == 0) {
        self->version = version->version < UINT32_MAX ? (uint32_t)version->version : UINT32_MAX;
    }
    return rc;
}

/* Where nothing finite came of the rows, the learner is told, by a gradient of zeros. */
static void fill(maker *self, aq_chunk *row, bool is_good, const aq_update_report *report)
{
    const size_t values = self->settings.gradient_values;
    float *told = aq_chunk_column(row, AQ_COLUMNS_STANDARD + AQ_GRADIENT_TOLD);
    *(float *)aq_chunk_column(row, AQ_COLUMN_REWARD) = is_good ? AQ_GRADIENT_GOOD : 0.0f;
    *(uint32_t *)aq_chunk_column(row, AQ_COLUMN_VERSION) = self->version;
    for (uint32_t i = 0; is_good && i < AQ_GRADIENT_FIGURES; i++) {
        told[i] = (float)report->metrics[i];
    }
    if (is_good) {
        aq_gradient_pack(self->format, aq_gradient_exchange_kept(self->exchange), values,
                         self->residual,
                         aq_chunk_column(row, AQ_COLUMNS_STANDARD + AQ_GRADIENT_PACKED));
    }
    row->view.length = 1;
    row->view.episode = self->made;
    row->view.terminated = 1;
}

static int make(aq_gradient_maker *outer, aq_chunk **ret_row)
{
    maker *self = outer->state;
    const uint64_t items = aq_replay_table_holdings(self->table).items;
    const uint32_t rows = items < self->rows_max ? (uint32_t)items : self->rows_max;
    aq_update_report report = {.steps = 0};
    aq_chunk *row;
    if (rows == 0) {
        return AQ_E_AGAIN;
    }
    /* First of all: steps that stay would be too many the next time. */
    int rc = aq_replay_table_sample(self->table, rows,
                                    (float)self->settings.config.learner.discount, self->batch);
    AQ_ASSERT(rc == 0); /* so many are there */
    rc = aq_chunk_create(&self->row_layout, 1, &row);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < rows; i++) {
        self->batch->weight[i] = 1.0f;
    }
    self->made++;
    rc = aq_agent_train(self->agent, self->batch, &report);
    fill(self, row, rc == 0, &report);
    *ret_row = row;
    return 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void close_maker(aq_gradient_maker *outer)
{
    maker *self = outer->state;
    if (self == NULL) {
        return;
    }
    aq_agent_destroy(self->agent);
    aq_gradient_exchange_destroy(self->exchange);
    aq_batch_destroy(self->batch);
    aq_replay_table_destroy(self->table);
    aq_message_store_destroy(self->store);
    aq_free(self->residual);
    aq_free(self);
    outer->state = NULL;
}

static int make_table(maker *self, uint64_t seed, const aq_table_spec *spec, aq_error *error)
{
    const aq_run_config *config = &self->settings.config;
    aq_layout layout;
    int rc = aq_run_settings_steps_layout(&self->settings, &layout, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_message_store_create(0, &self->store);
    if (rc == 0) {
        rc = aq_replay_table_create(spec, &layout, self->store, seed, &self->table);
    }
    if (rc == 0) {
        aq_replay_table_shape_rewards(self->table,
                                      (aq_reward_shape){(float)config->learner.reward_clip,
                                                        (float)config->learner.reward_scale});
        rc = aq_batch_create(&layout, spec->sequence_length, self->rows_max, &self->batch);
    }
    return rc == 0 ? 0 : aq_fail(error, rc, "no memory for gradients of %u rows", self->rows_max);
}

static int make_agent(maker *self, uint64_t seed, uint32_t sequence_length, aq_error *error)
{
    const size_t values = self->settings.gradient_values;
    const aq_algorithm_class *class = aq_algorithm_at(self->settings.config.learner.algorithm);
    int rc = aq_gradient_exchange_create_keeping(&self->exchange);
    self->residual = aq_alloc_large(values, sizeof(float));
    if (rc != 0 || self->residual == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for gradients of %zu parameters", values);
    }
    rc = aq_agent_create(class,
                         &(aq_algorithm_setup){.config = &self->settings.config,
                                               .schema = &self->settings.schema,
                                               .sequence_length = sequence_length,
                                               .seed = seed,
                                               .exchange = self->exchange},
                         &self->agent, error);
    if (rc == 0 && aq_agent_gradient_values(self->agent) != values) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED,
                     "the learner wants gradients of %zu parameters; the networks of this actor "
                     "have %zu: it is of another version than its learner",
                     values, aq_agent_gradient_values(self->agent));
    }
    return rc;
}

void aq_gradient_settle(char **argv)
{
    (void)aq_blas_settle(argv);
}

int aq_gradient_maker_open(size_t bytes, const aq_run_settings *settings, uint64_t seed,
                           aq_gradient_maker *ret_maker, aq_error *error)
{
    if (bytes != sizeof(*settings)) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "actorq-gradients.so is of another build");
    }
    if (settings->config.learner.algorithm == AQ_ALGORITHM_AUTO) { /* a learner has chosen one */
        return aq_fail(error, AQ_E_INVALID,
                       "the learner does not say which algorithm it wants gradients of");
    }
    maker *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    aq_gradient_maker made = {
        .state = self, .adopt = adopt, .take = take, .make = make, .close = close_maker};
    aq_table_spec spec;
    self->settings = *settings;
    self->settings.config.learner.threads = 1; /* actors are as many as processors can bear */
    self->format = (enum aq_gradient_format)settings->config.learner.gradient_format;
    self->rows_max = (uint32_t)aq_gradient_steps(&settings->config);
    aq_blas_set_threads(1);
    int rc = aq_run_tables_of_actor(&settings->config, &spec, error);
    if (rc == 0) {
        rc = aq_run_settings_layout(settings, &self->row_layout, error);
    }
    if (rc == 0) {
        rc = make_table(self, seed, &spec, error);
    }
    if (rc == 0) {
        rc = make_agent(self, seed, spec.sequence_length, error);
    }
    if (rc != 0) {
        close_maker(&made);
        return rc;
    }
    *ret_maker = made;
    return 0;
}

/*
 * Checkpoints to and from their frames.
 *
 * A checkpoint that was read is one block: the four arrays, each on a cache line, and the text of
 * the configuration. Its first array is the block, which is how aq_checkpoint_fini finds it.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/columns.h"
#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_policy.h"
#include "common/wire/wire_run.h"
#include "proto/checkpoint.pb-c.h"

/* ---- out ----------------------------------------------------------------------------------- */

static void message_view(const aq_checkpoint *checkpoint, Actorq__V1__Checkpoint *ret_message)
{
    size_t bytes = checkpoint->parameter_count * sizeof(float);
    actorq__v1__checkpoint__init(ret_message);
    ret_message->run_id = checkpoint->run_id;
    ret_message->task = aq_wire_text(checkpoint->task);
    ret_message->algorithm = aq_wire_text(checkpoint->algorithm);
    ret_message->learner_step = checkpoint->learner_step;
    ret_message->env_steps = checkpoint->env_steps;
    ret_message->env_steps_base = checkpoint->env_steps_base;
    ret_message->policy_version = checkpoint->policy_version;
    ret_message->policy_versions = checkpoint->policy_versions;
    ret_message->policy_deltas = checkpoint->policy_deltas;
    ret_message->broadcast_bytes = checkpoint->broadcast_bytes;
    ret_message->broadcast_bytes_fp32 = checkpoint->broadcast_bytes_fp32;
    ret_message->parameters = aq_wire_bytes(checkpoint->parameters, bytes);
    ret_message->target = aq_wire_bytes(checkpoint->target, bytes);
    ret_message->adam_m = aq_wire_bytes(checkpoint->adam_m, bytes);
    ret_message->adam_v = aq_wire_bytes(checkpoint->adam_v, bytes);
    ret_message->adam_step = checkpoint->adam_step;
    ret_message->parameter_count =
        checkpoint->parameter_count != aq_net_spec_parameters(&checkpoint->spec)
            ? checkpoint->parameter_count
            : 0;
    ret_message->statistics =
        aq_wire_bytes(checkpoint->statistics, checkpoint->statistics_count * sizeof(double));
    ret_message->gap_versions = checkpoint->gap_versions;
    ret_message->gap_episodes = checkpoint->gap_episodes;
    ret_message->gap_mean = checkpoint->gap_mean;
    ret_message->gap_squares = checkpoint->gap_squares;
    ret_message->wall_s = checkpoint->wall_s;
    ret_message->best_return = checkpoint->best_return;
    ret_message->best_confirmed = checkpoint->best_confirmed;
    ret_message->config = aq_wire_text(checkpoint->config);
}

/* One shard's count; the lists point at each other's places. */
typedef struct shards_view {
    Actorq__V1__ShardCount counts[AQ_CHECKPOINT_SHARDS_MAX];
    Actorq__V1__ShardCount *pointers[AQ_CHECKPOINT_SHARDS_MAX];
} shards_view;

static void shards_to(const aq_checkpoint *checkpoint, shards_view *view,
                      Actorq__V1__Checkpoint *message)
{
    AQ_ASSERT(checkpoint->shard_count <= AQ_CHECKPOINT_SHARDS_MAX);
    for (uint32_t i = 0; i < checkpoint->shard_count; i++) {
        actorq__v1__shard_count__init(&view->counts[i]);
        view->counts[i].store = checkpoint->shards[i].store;
        view->counts[i].inserted = checkpoint->shards[i].inserted;
        view->counts[i].slot = checkpoint->shards[i].slot;
        view->pointers[i] = &view->counts[i];
    }
    message->n_shards = checkpoint->shard_count;
    message->shards = view->pointers;
}

int aq_wire_checkpoint_pack(const aq_checkpoint *checkpoint, aq_buffer *out)
{
    aq_wire_schema_view schema;
    aq_wire_network_view network;
    shards_view shards;
    Actorq__V1__Checkpoint message;
    aq_buffer policy;
    AQ_ASSERT(checkpoint->parameter_count >= aq_net_spec_parameters(&checkpoint->spec));
    AQ_ASSERT(checkpoint->config != NULL);
    message_view(checkpoint, &message);
    shards_to(checkpoint, &shards, &message);
    aq_wire_schema_to(&checkpoint->schema, &schema);
    aq_wire_network_to(&checkpoint->spec, &network);
    message.schema = &schema.message;
    message.network = &network.message;

    int rc = 0;
    aq_buffer_init(&policy, out->size_max);
    if (checkpoint->best_policy != NULL) {
        rc = aq_wire_policy_pack(checkpoint->best_policy, &policy);
        message.best_policy = aq_wire_bytes(policy.data, policy.size);
    }
    if (rc == 0) {
        rc = aq_wire_frame_pack(&message.base, AQ_FRAME_CHECKPOINT, out);
    }
    aq_buffer_fini(&policy);
    return rc;
}

/* ---- in ------------------------------------------------------------------------------------ */

static int read_description(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                            aq_error *error)
{
    int rc =
        aq_wire_text_copy(checkpoint->task, sizeof(checkpoint->task), message->task, "task", error);
    if (rc == 0) {
        rc = aq_wire_text_copy(checkpoint->algorithm, sizeof(checkpoint->algorithm),
                               message->algorithm, "algorithm", error);
    }
    if (rc == 0 && (checkpoint->task[0] == '\0' || checkpoint->algorithm[0] == '\0')) {
        rc = aq_fail(error, AQ_E_CORRUPT, "task or algorithm is empty");
    }
    if (rc == 0) {
        rc = aq_wire_schema_from(message->schema, &checkpoint->schema, error);
    }
    if (rc == 0) {
        rc = aq_wire_network_from(message->network, &checkpoint->spec, error);
    }
    return rc;
}

static int read_gap(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                    aq_error *error)
{
    checkpoint->gap_versions = message->gap_versions;
    checkpoint->gap_episodes = message->gap_episodes;
    checkpoint->gap_mean = message->gap_mean;
    checkpoint->gap_squares = message->gap_squares;
    if (!isfinite(message->gap_mean) || !isfinite(message->gap_squares) ||
        message->gap_squares < 0.0) {
        return aq_fail(error, AQ_E_CORRUPT, "the gap to fp32 is %g, with squares of %g",
                       message->gap_mean, message->gap_squares);
    }
    return 0;
}

static int read_counts(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    checkpoint->run_id = message->run_id;
    checkpoint->learner_step = message->learner_step;
    checkpoint->env_steps = message->env_steps;
    checkpoint->env_steps_base = message->env_steps_base;
    checkpoint->policy_version = message->policy_version;
    checkpoint->policy_versions = message->policy_versions;
    checkpoint->policy_deltas = message->policy_deltas;
    checkpoint->broadcast_bytes = message->broadcast_bytes;
    checkpoint->broadcast_bytes_fp32 = message->broadcast_bytes_fp32;
    checkpoint->adam_step = message->adam_step;
    checkpoint->wall_s = message->wall_s;
    checkpoint->best_return = message->best_return;
    checkpoint->best_confirmed = message->best_confirmed != 0;
    if (!(message->wall_s >= 0.0) || isinf(message->wall_s)) {
        return aq_fail(error, AQ_E_CORRUPT, "wall_s is %g", message->wall_s);
    }
    if (isinf(message->best_return)) {
        return aq_fail(error, AQ_E_CORRUPT, "best_return is infinite");
    }
    return read_gap(message, checkpoint, error);
}

static int read_shards(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    if (message->n_shards > AQ_CHECKPOINT_SHARDS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu shards; at most %d are possible",
                       message->n_shards, AQ_CHECKPOINT_SHARDS_MAX);
    }
    for (size_t i = 0; i < message->n_shards; i++) {
        checkpoint->shards[i] = (aq_checkpoint_shard){
            .store = message->shards[i]->store,
            .inserted = message->shards[i]->inserted,
            .slot = message->shards[i]->slot,
        };
    }
    checkpoint->shard_count = (uint32_t)message->n_shards;
    return 0;
}

/* One array of the message and its place in the block. */
typedef struct array_row {
    const char *name;
    const ProtobufCBinaryData *from;
    size_t offset;
} array_row;

enum { ARRAY_PARAMETERS, ARRAY_TARGET, ARRAY_ADAM_M, ARRAY_ADAM_V, ARRAY_COUNT };

static int check_values(const float *values, size_t count, const array_row *row, bool nonnegative,
                        aq_error *error)
{
    size_t bad = aq_find_nonfinite(values, count);
    if (bad < count) {
        return aq_fail(error, AQ_E_CORRUPT, "%s: number %zu is NaN or infinite", row->name, bad);
    }
    for (size_t i = 0; nonnegative && i < count; i++) {
        if (values[i] < 0.0f) {
            return aq_fail(error, AQ_E_CORRUPT, "%s: number %zu is %g, less than 0", row->name, i,
                           (double)values[i]);
        }
    }
    return 0;
}

/* Of each array: the network's, or more where others lie behind them. */
static int read_count(const Actorq__V1__Checkpoint *message, const aq_net_spec *spec,
                      size_t *ret_count, aq_error *error)
{
    const size_t own = aq_net_spec_parameters(spec);
    if (message->parameter_count == 0) {
        *ret_count = own;
        return 0;
    }
    if (message->parameter_count < own || message->parameter_count > AQ_CHECKPOINT_PARAMETERS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "parameter_count is %" PRIu64 "; the network alone has %zu",
                       message->parameter_count, own);
    }
    *ret_count = (size_t)message->parameter_count;
    return 0;
}

/* Sizes first, then the block, then the numbers. The block is the checkpoint's once it is there. */
static int read_arrays(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    array_row rows[ARRAY_COUNT] = {
        {"parameters", &message->parameters, 0},
        {"target", &message->target, 0},
        {"adam_m", &message->adam_m, 0},
        {"adam_v", &message->adam_v, 0},
    };
    size_t count = 0;
    int rc = read_count(message, &checkpoint->spec, &count, error);
    if (rc != 0) {
        return rc;
    }
    size_t statistics_count = message->statistics.len / sizeof(double);
    rc = aq_wire_column_check(&message->statistics, "statistics", statistics_count, sizeof(double),
                              error);
    if (rc != 0) {
        return rc;
    }
    size_t config_size = strlen(message->config) + 1;
    size_t bytes = 0;
    for (int i = 0; i < ARRAY_COUNT; i++) {
        rc = aq_wire_column_check(rows[i].from, rows[i].name, count, sizeof(float), error);
        if (rc != 0) {
            return rc;
        }
        rows[i].offset = aq_columns_add(&bytes, count, sizeof(float));
    }
    size_t statistics = aq_columns_add(&bytes, statistics_count, sizeof(double));
    size_t config = aq_columns_add(&bytes, config_size, 1);
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %zu parameters", count);
    }
    AQ_ASSERT(rows[ARRAY_PARAMETERS].offset == 0);
    memcpy(block + config, message->config, config_size);
    const float *arrays[ARRAY_COUNT];
    for (int i = 0; i < ARRAY_COUNT; i++) {
        aq_wire_column_copy(block + rows[i].offset, rows[i].from);
        arrays[i] = (const float *)(const void *)(block + rows[i].offset);
    }
    checkpoint->parameter_count = count;
    checkpoint->parameters = arrays[ARRAY_PARAMETERS];
    checkpoint->target = arrays[ARRAY_TARGET];
    checkpoint->adam_m = arrays[ARRAY_ADAM_M];
    checkpoint->adam_v = arrays[ARRAY_ADAM_V];
    checkpoint->config = (const char *)(block + config);
    aq_wire_column_copy(block + statistics, &message->statistics);
    checkpoint->statistics_count = statistics_count;
    checkpoint->statistics =
        statistics_count > 0 ? (const double *)(const void *)(block + statistics) : NULL;
    for (size_t i = 0; i < statistics_count; i++) {
        if (!isfinite(checkpoint->statistics[i])) {
            return aq_fail(error, AQ_E_CORRUPT, "statistics: number %zu is NaN or infinite", i);
        }
    }
    for (int i = 0; rc == 0 && i < ARRAY_COUNT; i++) {
        rc = check_values(arrays[i], count, &rows[i], i == ARRAY_ADAM_V, error);
    }
    return rc;
}

/* The best policy is of the network and the schema that are trained here. */
static int read_best_policy(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                            aq_error *error)
{
    if (message->best_policy.len == 0) {
        return 0;
    }
    int rc = aq_wire_policy_unpack(message->best_policy.data, message->best_policy.len,
                                   &checkpoint->best_policy, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "best_policy");
    }
    if (aq_net_spec_hash(&checkpoint->best_policy->spec) != aq_net_spec_hash(&checkpoint->spec)) {
        return aq_fail(error, AQ_E_CORRUPT, "best_policy is of another network");
    }
    if (aq_schema_hash(&checkpoint->best_policy->schema) != aq_schema_hash(&checkpoint->schema)) {
        return aq_fail(error, AQ_E_CORRUPT, "best_policy is of another schema");
    }
    return 0;
}

int aq_wire_checkpoint_unpack(const uint8_t *bytes, size_t size, aq_checkpoint *ret_checkpoint,
                              aq_error *error)
{
    ProtobufCMessage *base;
    aq_checkpoint checkpoint;
    int rc = aq_wire_frame_unpack(bytes, size, AQ_FRAME_CHECKPOINT,
                                  &actorq__v1__checkpoint__descriptor, &base, error);
    if (rc != 0) {
        return rc;
    }
    const Actorq__V1__Checkpoint *message = (const Actorq__V1__Checkpoint *)base;
    memset(&checkpoint, 0, sizeof(checkpoint));
    rc = read_description(message, &checkpoint, error);
    if (rc == 0) {
        rc = read_counts(message, &checkpoint, error);
    }
    if (rc == 0) {
        rc = read_shards(message, &checkpoint, error);
    }
    if (rc == 0) {
        rc = read_arrays(message, &checkpoint, error);
    }
    if (rc == 0) {
        rc = read_best_policy(message, &checkpoint, error);
    }
    if (rc == 0) {
        *ret_checkpoint = checkpoint;
    } else {
        rc = aq_fail_context(error, rc, "checkpoint");
        aq_checkpoint_fini(&checkpoint);
    }
    aq_wire_message_free(base);
    return rc;
}

void aq_checkpoint_fini(aq_checkpoint *checkpoint)
{
    aq_snapshot_unref(checkpoint->best_policy);
    /* Readers get const arrays; the owner frees the block they lie in. */
    aq_free((void *)(uintptr_t)checkpoint->parameters);
    memset(checkpoint, 0, sizeof(*checkpoint));
}

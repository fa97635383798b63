/*
 * Checkpoints to and from their frames.
 *
 * A checkpoint that was read is one block: the text of the configuration, and the arrays, each on a
 * cache line. The text begins the block, which is how aq_checkpoint_fini finds it.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_network.h"
#include "common/wire/wire_policy.h"
#include "common/wire/wire_run.h"
#include "proto/checkpoint.pb-c.h"

/* Numbers of the same types in the struct and, under the second name, in the message. */
#define NUMBERS(X)                                                                                 \
    X(run_id, run_id)                                                                              \
    X(learner_step, learner_step)                                                                  \
    X(env_steps, env_steps)                                                                        \
    X(env_steps_base, env_steps_base)                                                              \
    X(policy_version, policy_version)                                                              \
    X(policies.versions, policy_versions)                                                          \
    X(policies.deltas, policy_deltas)                                                              \
    X(policies.fallbacks, policy_fallbacks)                                                        \
    X(policies.bytes, broadcast_bytes)                                                             \
    X(policies.bytes_fp32, broadcast_bytes_fp32)                                                   \
    X(policies.packed_bytes_fp32, broadcast_packed_bytes_fp32)                                     \
    X(gap_versions, gap_versions)                                                                  \
    X(gap_episodes, gap_episodes)                                                                  \
    X(gap_mean, gap_mean)                                                                          \
    X(gap_squares, gap_squares)                                                                    \
    X(wall_s, wall_s)                                                                              \
    X(best_return, best_return)                                                                    \
    X(best_std, best_std)                                                                          \
    X(best_episodes, best_episodes)                                                                \
    X(best_confirmed, best_confirmed)

/* ---- out ----------------------------------------------------------------------------------- */

static void message_view(const aq_checkpoint *checkpoint, Actorq__V1__Checkpoint *ret_message)
{
    actorq__v1__checkpoint__init(ret_message);
    ret_message->task = aq_wire_text(checkpoint->task);
    ret_message->algorithm = aq_wire_text(checkpoint->algorithm);
    ret_message->config = aq_wire_text(checkpoint->config);
#define COPY(member, field) ret_message->field = checkpoint->member;
    NUMBERS(COPY)
#undef COPY
}

/* One shard's count; the lists point at each other's places. */
typedef struct shards_view {
    Actorq__V1__ShardCount counts[AQ_STORES_MAX];
    Actorq__V1__ShardCount *pointers[AQ_STORES_MAX];
} shards_view;

static void shards_to(const aq_checkpoint *checkpoint, shards_view *view,
                      Actorq__V1__Checkpoint *message)
{
    AQ_ASSERT(checkpoint->shard_count <= AQ_STORES_MAX);
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

typedef struct arrays_view {
    Actorq__V1__NamedArray arrays[AQ_ARRAYS_MAX];
    Actorq__V1__NamedArray *pointers[AQ_ARRAYS_MAX];
} arrays_view;

static void arrays_to(const aq_checkpoint *checkpoint, arrays_view *view,
                      Actorq__V1__Checkpoint *message)
{
    for (size_t i = 0; i < checkpoint->arrays.count; i++) {
        const aq_named_array *array = &checkpoint->arrays.arrays[i];
        actorq__v1__named_array__init(&view->arrays[i]);
        view->arrays[i].name = aq_wire_text(array->name);
        view->arrays[i].type = array->type;
        view->arrays[i].values = aq_wire_bytes(array->values, aq_array_bytes(array));
        view->pointers[i] = &view->arrays[i];
    }
    message->n_arrays = checkpoint->arrays.count;
    message->arrays = view->pointers;
}

int aq_wire_checkpoint_pack(const aq_checkpoint *checkpoint, aq_buffer *out)
{
    aq_wire_schema_view schema;
    aq_wire_network_view network;
    shards_view shards;
    arrays_view arrays;
    Actorq__V1__Checkpoint message;
    aq_buffer policy;
    AQ_ASSERT(aq_named_arrays_find(&checkpoint->arrays, "parameters") != NULL);
    AQ_ASSERT(checkpoint->config != NULL);
    message_view(checkpoint, &message);
    shards_to(checkpoint, &shards, &message);
    arrays_to(checkpoint, &arrays, &message);
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

static int read_numbers(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                        aq_error *error)
{
#define COPY(member, field) checkpoint->member = message->field;
    NUMBERS(COPY)
#undef COPY
    if (!(message->wall_s >= 0.0) || isinf(message->wall_s)) {
        return aq_fail(error, AQ_E_CORRUPT, "wall_s is %g", message->wall_s);
    }
    if (isinf(message->best_return)) {
        return aq_fail(error, AQ_E_CORRUPT, "best_return is infinite");
    }
    if (!(message->best_std >= 0.0) || isinf(message->best_std)) {
        return aq_fail(error, AQ_E_CORRUPT, "best_std is %g", message->best_std);
    }
    if (!isfinite(message->gap_mean) || !isfinite(message->gap_squares) ||
        message->gap_squares < 0.0) {
        return aq_fail(error, AQ_E_CORRUPT, "the gap to fp32 is %g, with squares of %g",
                       message->gap_mean, message->gap_squares);
    }
    return 0;
}

static int read_shards(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    if (message->n_shards > AQ_STORES_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu stores; at most %d are possible",
                       message->n_shards, AQ_STORES_MAX);
    }
    for (size_t i = 0; i < message->n_shards; i++) {
        checkpoint->shards[i] = (aq_shard_count){
            .store = message->shards[i]->store,
            .inserted = message->shards[i]->inserted,
            .slot = message->shards[i]->slot,
        };
    }
    checkpoint->shard_count = (uint32_t)message->n_shards;
    return 0;
}

static int check_name(const Actorq__V1__Checkpoint *message, size_t at, aq_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_./";
    const char *name = message->arrays[at]->name;
    const size_t size = strlen(name);
    if (size < 1 || size >= AQ_ARRAY_NAME_MAX || strspn(name, letters) != size) {
        return aq_fail(error, AQ_E_CORRUPT, "array %zu has a name that none of ours has", at);
    }
    for (size_t i = 0; i < at; i++) {
        if (strcmp(message->arrays[i]->name, name) == 0) {
            return aq_fail(error, AQ_E_CORRUPT, "there are two arrays %s", name);
        }
    }
    return 0;
}

static int check_array(const Actorq__V1__Checkpoint *message, size_t at, aq_error *error)
{
    const Actorq__V1__NamedArray *array = message->arrays[at];
    const size_t value_bytes = aq_array_value_bytes(array->type), size = array->values.len;
    int rc = check_name(message, at, error);
    if (rc != 0) {
        return rc;
    }
    if (value_bytes == 0) {
        return aq_fail(error, AQ_E_VERSION, "%s: numbers of type %" PRIu32 " are not known here",
                       array->name, array->type);
    }
    if (size % value_bytes != 0 || size / value_bytes > AQ_CHECKPOINT_NUMBERS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is %zu bytes long, no number of %zu", array->name,
                       size, value_bytes);
    }
    return 0;
}

static int check_arrays(const Actorq__V1__Checkpoint *message, const aq_net_spec *spec,
                        aq_error *error)
{
    const size_t least = aq_net_spec_parameters(spec);
    bool has_policy = false;
    if (message->n_arrays > AQ_ARRAYS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu arrays; at most %d are possible",
                       message->n_arrays, AQ_ARRAYS_MAX);
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        const Actorq__V1__NamedArray *array = message->arrays[i];
        int rc = check_array(message, i, error);
        if (rc != 0) {
            return rc;
        }
        has_policy |= strcmp(array->name, "parameters") == 0 && array->type == AQ_ARRAY_F32 &&
                      array->values.len / sizeof(float) >= least;
    }
    return has_policy ? 0
                      : aq_fail(error, AQ_E_CORRUPT,
                                "its parameters are not the %zu of its network or more", least);
}

/* The block is the checkpoint's once it is there. */
static int copy_arrays(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    const size_t config_size = strlen(message->config) + 1;
    size_t offsets[AQ_ARRAYS_MAX];
    size_t bytes = config_size;
    for (size_t i = 0; i < message->n_arrays; i++) {
        offsets[i] = aq_arrays_add(&bytes, message->arrays[i]->values.len, 1);
    }
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %zu bytes", bytes);
    }
    memcpy(block, message->config, config_size);
    checkpoint->config = (const char *)block;
    for (size_t i = 0; i < message->n_arrays; i++) {
        const Actorq__V1__NamedArray *array = message->arrays[i];
        const size_t size = array->values.len;
        if (size > 0) {
            memcpy(block + offsets[i], array->values.data, size);
        }
        aq_named_arrays_add(&checkpoint->arrays, array->name, array->type,
                            size / aq_array_value_bytes(array->type), block + offsets[i]);
    }
    return 0;
}

static int read_arrays(const Actorq__V1__Checkpoint *message, aq_checkpoint *checkpoint,
                       aq_error *error)
{
    int rc = check_arrays(message, &checkpoint->spec, error);
    if (rc == 0) {
        rc = copy_arrays(message, checkpoint, error);
    }
    for (size_t i = 0; rc == 0 && i < checkpoint->arrays.count; i++) {
        rc = aq_array_check(&checkpoint->arrays.arrays[i], error);
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
        rc = read_numbers(message, &checkpoint, error);
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
    aq_message_free(base);
    return rc;
}

aq_net_spec aq_checkpoint_policy(const aq_checkpoint *checkpoint, const float **ret_parameters)
{
    aq_net_spec spec = checkpoint->spec;
    spec.array_count = aq_net_spec_acting_arrays(&spec);
    *ret_parameters = aq_named_arrays_find(&checkpoint->arrays, "parameters")->values;
    return spec;
}

void aq_checkpoint_fini(aq_checkpoint *checkpoint)
{
    aq_snapshot_unref(checkpoint->best_policy);
    /* Readers get a const text; the owner frees the block that it begins. */
    aq_free((void *)(uintptr_t)checkpoint->config);
    memset(checkpoint, 0, sizeof(*checkpoint));
}

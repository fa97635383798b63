/*
 * Policy snapshots and announcements to and from their frames, and policy files.
 *
 * Tensors are packed from the snapshot's own block. What comes in is believed step by step: frame,
 * network, formats, the size of each tensor, and only then is a snapshot allocated, filled and
 * checked number by number.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_policy.h"

#include "common/base/assert.h"
#include "common/sys/file.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"
#include "proto/policy.pb-c.h"

/* What a policy file may hold beside the tensors: names, the schema, the network. */
#define POLICY_OVERHEAD_BYTES_MAX ((size_t)1 << 20)

/* ---- out ----------------------------------------------------------------------------------- */

static void layer_view(const aq_snapshot_layer *layer, const aq_layer_spec *spec,
                       Actorq__V1__LayerTensors *ret_message)
{
    const size_t rows = aq_layer_matrix(spec).rows;
    actorq__v1__layer_tensors__init(ret_message);
    ret_message->format = layer->format;
    ret_message->weights = aq_wire_bytes(layer->weights, layer->weights_bytes);
    ret_message->scale = aq_wire_bytes(layer->scale, layer->sizes.scales * sizeof(float));
    ret_message->sum = aq_wire_bytes(layer->sum, layer->sizes.sums * sizeof(int32_t));
    ret_message->mask = aq_wire_bytes(layer->mask, layer->sizes.mask_bytes);
    ret_message->bias = aq_wire_bytes(layer->bias, rows * sizeof(*layer->bias));
    ret_message->weight_zero = layer->weight_zero;
    ret_message->input_scale = layer->input_scale;
    ret_message->input_zero = (uint32_t)layer->input_zero;
}

static Actorq__V1__QuantError quant_error_view(const aq_quant_error *measured)
{
    Actorq__V1__QuantError message;
    actorq__v1__quant_error__init(&message);
    message.rows = measured->rows;
    message.action_disagreement = measured->action_disagreement;
    message.output_rms = measured->output_rms;
    message.output_max = measured->output_max;
    message.kl = measured->kl;
    return message;
}

int aq_wire_policy_pack(const aq_snapshot *snapshot, aq_buffer *out)
{
    Actorq__V1__LayerTensors layers[AQ_NET_LAYERS_MAX];
    Actorq__V1__LayerTensors *pointers[AQ_NET_LAYERS_MAX];
    aq_wire_schema_view schema;
    aq_wire_network_view network;
    uint32_t layer_count = snapshot->spec.layer_count;
    AQ_ASSERT(layer_count >= 1);
    AQ_ASSERT(layer_count <= AQ_NET_LAYERS_MAX);
    for (uint32_t i = 0; i < layer_count; i++) {
        layer_view(&snapshot->layers[i], &snapshot->spec.layers[i], &layers[i]);
        pointers[i] = &layers[i];
    }
    aq_wire_schema_to(&snapshot->schema, &schema);
    aq_wire_network_to(&snapshot->spec, &network);
    Actorq__V1__QuantError measured = quant_error_view(&snapshot->quant_error);

    Actorq__V1__PolicySnapshot message;
    actorq__v1__policy_snapshot__init(&message);
    message.run_id = snapshot->run_id;
    message.version = snapshot->version;
    message.learner_step = snapshot->learner_step;
    message.task = aq_wire_text(snapshot->task);
    message.schema = &schema.message;
    message.network = &network.message;
    message.act_rule = snapshot->act_rule;
    message.quant_error = &measured;
    message.n_layers = layer_count;
    message.layers = pointers;
    return aq_wire_frame_pack(&message.base, AQ_FRAME_POLICY, out);
}

/* ---- in ------------------------------------------------------------------------------------ */

/* Format and sizes, before anything is allocated for the tensors. */
static int check_layer(const Actorq__V1__LayerTensors *message, const aq_layer_spec *spec,
                       aq_error *error)
{
    if (!aq_format_known(message->format)) {
        return aq_fail(error, AQ_E_VERSION,
                       "weights in format %u, which is not known here; a newer version may have "
                       "made them",
                       message->format);
    }
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    const aq_tensor_sizes sizes = aq_format_sizes(message->format, matrix.rows, matrix.columns,
                                                  message->weights.len / AQ_BLOCK_BYTES);
    int rc = aq_wire_column_check(&message->weights, "weights", sizes.weights_bytes, 1, error);
    if (rc == 0) {
        rc = aq_wire_column_check(&message->scale, "scale", sizes.scales, sizeof(float), error);
    }
    if (rc == 0) {
        rc = aq_wire_column_check(&message->sum, "sum", sizes.sums, sizeof(int32_t), error);
    }
    if (rc == 0) {
        rc = aq_wire_column_check(&message->mask, "mask", sizes.mask_bytes, 1, error);
    }
    if (rc == 0) {
        rc = aq_wire_column_check(&message->bias, "bias", matrix.rows, sizeof(float), error);
    }
    return rc;
}

static int check_layers(const Actorq__V1__PolicySnapshot *message, const aq_net_spec *spec,
                        uint32_t *formats, size_t *blocks, aq_error *error)
{
    if (message->n_layers != spec->layer_count) {
        return aq_fail(error, AQ_E_CORRUPT, "tensors for %zu layers of a network that has %u",
                       message->n_layers, spec->layer_count);
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        int rc = check_layer(message->layers[i], &spec->layers[i], error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "layer %u", i);
        }
        formats[i] = message->layers[i]->format;
        blocks[i] = formats[i] == AQ_FORMAT_INT8_SPARSE
                        ? message->layers[i]->weights.len / AQ_BLOCK_BYTES
                        : 0;
    }
    return 0;
}

static void fill_layers(aq_snapshot *snapshot, const Actorq__V1__PolicySnapshot *message)
{
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const Actorq__V1__LayerTensors *layer = message->layers[i];
        aq_snapshot_layer_data data;
        aq_snapshot_layer_edit(snapshot, i, &data);
        aq_wire_column_copy(data.weights, &layer->weights);
        aq_wire_column_copy(data.scale, &layer->scale);
        aq_wire_column_copy(data.sum, &layer->sum);
        aq_wire_column_copy(data.mask, &layer->mask);
        aq_wire_column_copy(data.bias, &layer->bias);
        snapshot->layers[i].weight_zero = layer->weight_zero;
        snapshot->layers[i].input_scale = layer->input_scale;
        snapshot->layers[i].input_zero =
            layer->input_zero <= INT32_MAX ? (int32_t)layer->input_zero : -1;
    }
}

static int fill(aq_snapshot *snapshot, const Actorq__V1__PolicySnapshot *message, aq_error *error)
{
    snapshot->run_id = message->run_id;
    snapshot->version = message->version;
    snapshot->learner_step = message->learner_step;
    snapshot->act_rule = message->act_rule;
    if (message->quant_error != NULL) {
        snapshot->quant_error = (aq_quant_error){
            .rows = message->quant_error->rows,
            .action_disagreement = message->quant_error->action_disagreement,
            .output_rms = message->quant_error->output_rms,
            .output_max = message->quant_error->output_max,
            .kl = message->quant_error->kl,
        };
    }
    fill_layers(snapshot, message);
    int rc = aq_wire_text_copy(snapshot->task, sizeof(snapshot->task), message->task,
                               "policy: the task's name", error);
    if (rc == 0) {
        rc = aq_wire_schema_from(message->schema, &snapshot->schema, error);
        rc = rc != 0 ? aq_fail_context(error, rc, "policy") : 0;
    }
    return rc != 0 ? rc : aq_snapshot_validate(snapshot, error);
}

static int snapshot_from(const Actorq__V1__PolicySnapshot *message, aq_snapshot **ret_snapshot,
                         aq_error *error)
{
    aq_net_spec spec;
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    aq_snapshot *snapshot;
    int rc = aq_wire_network_from(message->network, &spec, error);
    if (rc == 0) {
        rc = check_layers(message, &spec, formats, blocks, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy");
    }
    rc = aq_snapshot_create_sparse(&spec, formats, blocks, &snapshot);
    if (rc != 0) {
        return aq_fail(error, rc, "policy: %s", aq_error_text(rc));
    }
    rc = fill(snapshot, message, error);
    if (rc != 0) {
        aq_snapshot_unref(snapshot);
        return rc;
    }
    *ret_snapshot = snapshot;
    return 0;
}

int aq_wire_policy_unpack(const uint8_t *bytes, size_t size, aq_snapshot **ret_snapshot,
                          aq_error *error)
{
    ProtobufCMessage *message;
    int rc = aq_wire_frame_unpack(bytes, size, AQ_FRAME_POLICY,
                                  &actorq__v1__policy_snapshot__descriptor, &message, error);
    if (rc != 0) {
        return rc;
    }
    rc = snapshot_from((const Actorq__V1__PolicySnapshot *)message, ret_snapshot, error);
    aq_wire_message_free(message);
    return rc;
}

/* ---- files --------------------------------------------------------------------------------- */

int aq_policy_file_write(const char *path, const aq_snapshot *snapshot, aq_error *error)
{
    aq_buffer frame;
    aq_buffer_init(&frame, AQ_SNAPSHOT_BYTES_MAX + POLICY_OVERHEAD_BYTES_MAX);
    int rc = aq_wire_policy_pack(snapshot, &frame);
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: cannot pack the policy: %s", path, aq_error_text(rc));
    } else {
        rc = aq_file_write_atomic(path, frame.data, frame.size, error);
    }
    aq_buffer_fini(&frame);
    return rc;
}

int aq_policy_file_read(const char *path, aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_buffer frame;
    aq_buffer_init(&frame, AQ_SNAPSHOT_BYTES_MAX + POLICY_OVERHEAD_BYTES_MAX);
    int rc = aq_file_read(path, &frame, error);
    if (rc == 0) {
        rc = aq_wire_policy_unpack(frame.data, frame.size, ret_snapshot, error);
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", path) : 0;
    }
    aq_buffer_fini(&frame);
    return rc;
}

/* ---- announcements ------------------------------------------------------------------------- */

int aq_wire_announce_pack(uint64_t run_id, uint64_t version, aq_buffer *out)
{
    Actorq__V1__PolicyAnnouncement message;
    actorq__v1__policy_announcement__init(&message);
    message.run_id = run_id;
    message.version = version;
    return aq_wire_frame_pack(&message.base, AQ_FRAME_ANNOUNCE, out);
}

int aq_wire_announce_unpack(const uint8_t *bytes, size_t size, uint64_t *ret_run_id,
                            uint64_t *ret_version, aq_error *error)
{
    ProtobufCMessage *message;
    int rc = aq_wire_frame_unpack(bytes, size, AQ_FRAME_ANNOUNCE,
                                  &actorq__v1__policy_announcement__descriptor, &message, error);
    if (rc != 0) {
        return rc;
    }
    const Actorq__V1__PolicyAnnouncement *announcement =
        (const Actorq__V1__PolicyAnnouncement *)message;
    *ret_run_id = announcement->run_id;
    *ret_version = announcement->version;
    aq_wire_message_free(message);
    return 0;
}

/*
 * Policy snapshots to and from their frames, and policy files.
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
#include "common/wire/wire_network.h"
#include "common/wire/wire_policy_parts.h"
#include "common/wire/wire_policy_scan.h"
#include "common/wire/wire_run.h"
#include "common/wire/wire_tensor.h"

/* What a policy file may hold beside the tensors: names, the schema, the network. */
#define POLICY_OVERHEAD_BYTES_MAX ((size_t)1 << 20)

/* ---- out ----------------------------------------------------------------------------------- */

static void layer_view(const aq_snapshot_layer *layer, const aq_layer_spec *spec,
                       Actorq__V1__LayerTensors *ret_message)
{
    const size_t rows = aq_layer_matrix(spec).rows;
    actorq__v1__layer_tensors__init(ret_message);
    ret_message->format = layer->format;
    ret_message->weights = aq_wire_bytes(layer->weights, layer->sizes.weights_bytes);
    ret_message->scale = aq_wire_bytes(layer->scale, layer->sizes.scales * sizeof(float));
    ret_message->sum = aq_wire_bytes(layer->sum, layer->sizes.sums * sizeof(int32_t));
    ret_message->mask = aq_wire_bytes(layer->mask, layer->sizes.mask_bytes);
    ret_message->bias = aq_wire_bytes(layer->bias, rows * sizeof(*layer->bias));
    ret_message->weight_zero = layer->weight_zero;
    ret_message->input_scale = layer->input_scale;
    ret_message->input_zero = (uint32_t)layer->input_zero;
}

void aq_wire_quant_error_to(const aq_quant_error *measured, Actorq__V1__QuantError *ret_message)
{
    actorq__v1__quant_error__init(ret_message);
    ret_message->rows = measured->rows;
    ret_message->cost = measured->cost;
    ret_message->output_rms = measured->output_rms;
    ret_message->output_max = measured->output_max;
    ret_message->kl = measured->kl;
}

/* A message and everything that it points at. */
typedef struct policy_view {
    Actorq__V1__PolicySnapshot message;
    Actorq__V1__LayerTensors layers[AQ_NET_LAYERS_MAX];
    Actorq__V1__LayerTensors *pointers[AQ_NET_LAYERS_MAX];
    aq_wire_schema_view schema;
    aq_wire_network_view network;
    Actorq__V1__QuantError measured;
} policy_view;

static void view_policy(const aq_snapshot *snapshot, policy_view *ret_view)
{
    uint32_t layer_count = snapshot->spec.layer_count;
    AQ_ASSERT(layer_count >= 1);
    AQ_ASSERT(layer_count <= AQ_NET_LAYERS_MAX);
    for (uint32_t i = 0; i < layer_count; i++) {
        layer_view(&snapshot->layers[i], &snapshot->spec.layers[i], &ret_view->layers[i]);
        ret_view->pointers[i] = &ret_view->layers[i];
    }
    aq_wire_schema_to(&snapshot->schema, &ret_view->schema);
    aq_wire_network_to(&snapshot->spec, &ret_view->network);
    aq_wire_quant_error_to(&snapshot->quant_error, &ret_view->measured);

    Actorq__V1__PolicySnapshot *message = &ret_view->message;
    actorq__v1__policy_snapshot__init(message);
    message->run_id = snapshot->run_id;
    message->version = snapshot->version;
    message->learner_step = snapshot->learner_step;
    message->task = aq_wire_text(snapshot->task);
    message->schema = &ret_view->schema.message;
    message->network = &ret_view->network.message;
    message->act_rule = snapshot->head;
    message->quant_error = &ret_view->measured;
    message->n_layers = layer_count;
    message->layers = ret_view->pointers;
    message->arrays =
        aq_wire_bytes(snapshot->arrays, aq_net_spec_array_values(&snapshot->spec) * sizeof(float));
}

int aq_wire_policy_pack(const aq_snapshot *snapshot, aq_buffer *out)
{
    policy_view view;
    view_policy(snapshot, &view);
    return aq_wire_frame_pack(&view.message.base, AQ_FRAME_POLICY, out);
}

size_t aq_wire_policy_bytes(const aq_snapshot *snapshot)
{
    policy_view view;
    view_policy(snapshot, &view);
    return AQ_FRAME_HEADER_BYTES + protobuf_c_message_get_packed_size(&view.message.base);
}

size_t aq_wire_tensor_bytes_max(const aq_snapshot *snapshot)
{
    size_t most = 0;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &snapshot->layers[i];
        const size_t rows = aq_layer_matrix(&snapshot->spec.layers[i]).rows;
        const size_t floats = layer->sizes.scales > rows ? layer->sizes.scales : rows;
        most = layer->sizes.weights_bytes > most ? layer->sizes.weights_bytes : most;
        most = floats * sizeof(float) > most ? floats * sizeof(float) : most;
    }
    return most;
}

/* The tensor that `view` shows in planes and compressed, if that pays; 0 if it does not. */
static uint32_t compact_tensor(aq_tensor_packer *packer, size_t width, uint32_t bit,
                               ProtobufCBinaryData *view)
{
    const uint8_t *bytes = view->data;
    if (width > 1) {
        aq_planes_split(bytes, view->len / width, width, packer->scratch);
        bytes = packer->scratch;
    }
    return aq_tensor_compress(packer, bytes, view->len, view) ? bit : 0;
}

static void compact_layer(aq_tensor_packer *packer, Actorq__V1__LayerTensors *message)
{
    message->sum = (ProtobufCBinaryData){0};
    message->compressed =
        compact_tensor(packer, aq_tensor_weight_width(message->format), AQ_COMPRESSED_WEIGHTS,
                       &message->weights) |
        compact_tensor(packer, sizeof(float), AQ_COMPRESSED_SCALE, &message->scale) |
        compact_tensor(packer, sizeof(float), AQ_COMPRESSED_BIAS, &message->bias);
}

int aq_wire_policy_pack_compact(const aq_snapshot *snapshot, aq_buffer *out)
{
    policy_view view;
    aq_tensor_packer packer;
    int rc = aq_tensor_packer_init(&packer, aq_snapshot_tensor_bytes(snapshot),
                                   aq_wire_tensor_bytes_max(snapshot));
    if (rc != 0) {
        return rc;
    }
    view_policy(snapshot, &view);
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        compact_layer(&packer, &view.layers[i]);
    }
    rc = aq_wire_frame_pack(&view.message.base, AQ_FRAME_POLICY, out);
    aq_tensor_packer_fini(&packer);
    return rc;
}

/* ---- in ------------------------------------------------------------------------------------ */

aq_quant_error aq_wire_quant_error_from(const Actorq__V1__QuantError *message)
{
    if (message == NULL) {
        return (aq_quant_error){0};
    }
    return (aq_quant_error){
        .rows = message->rows,
        .cost = message->cost,
        .output_rms = message->output_rms,
        .output_max = message->output_max,
        .kl = message->kl,
    };
}

int aq_wire_compressed_check(uint32_t compressed, aq_error *error)
{
    if ((compressed & ~(uint32_t)AQ_COMPRESSED_ALL) != 0) {
        return aq_fail(error, AQ_E_VERSION,
                       "compressed in a way (%u) that is not known here; a newer version may have "
                       "made it",
                       compressed);
    }
    return 0;
}

static int check_format(const Actorq__V1__LayerTensors *message, const aq_layer_spec *spec,
                        aq_error *error)
{
    if (!aq_format_known(message->format)) {
        return aq_fail(error, AQ_E_VERSION,
                       "weights in format %u, which is not known here; a newer version may have "
                       "made them",
                       message->format);
    }
    if (message->format != AQ_FORMAT_F32 && !aq_layer_is_quantizable(spec)) {
        return aq_fail(error, AQ_E_CORRUPT, "weights in %s, of a kind of layer that has fp32 alone",
                       aq_format_name(message->format));
    }
    return aq_wire_compressed_check(message->compressed, error);
}

/* Format and sizes, before anything is allocated for the tensors. */
static int check_layer(const Actorq__V1__LayerTensors *message, const aq_layer_spec *spec,
                       size_t *ret_blocks, aq_error *error)
{
    const uint32_t compressed = message->compressed;
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    size_t bytes = 0;
    int rc = check_format(message, spec, error);
    if (rc == 0) {
        rc = aq_tensor_claim(&message->weights, compressed & AQ_COMPRESSED_WEIGHTS, "weights",
                             &bytes, error);
    }
    if (rc != 0) {
        return rc;
    }
    const size_t blocks = message->format == AQ_FORMAT_INT8_SPARSE ? bytes / AQ_BLOCK_BYTES : 0;
    const size_t most =
        (size_t)aq_block_row_count(matrix.rows) * aq_block_column_count(matrix.columns);
    if (blocks > most) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu blocks of a matrix that has %zu", blocks, most);
    }
    const aq_tensor_sizes sizes =
        aq_format_sizes(message->format, matrix.rows, matrix.columns, blocks);
    const struct {
        const ProtobufCBinaryData *data;
        uint32_t bit;
        const char *name;
        size_t count, width;
    } tensors[] = {
        {&message->weights, AQ_COMPRESSED_WEIGHTS, "weights", sizes.weights_bytes, 1},
        {&message->scale, AQ_COMPRESSED_SCALE, "scale", sizes.scales, sizeof(float)},
        {&message->sum, 0, "sum", message->sum.len > 0 ? sizes.sums : 0, sizeof(int32_t)},
        {&message->mask, 0, "mask", sizes.mask_bytes, 1},
        {&message->bias, AQ_COMPRESSED_BIAS, "bias", matrix.rows, sizeof(float)},
    };
    for (size_t i = 0; rc == 0 && i < sizeof(tensors) / sizeof(tensors[0]); i++) {
        rc = aq_tensor_check(tensors[i].data, compressed & tensors[i].bit, tensors[i].name,
                             tensors[i].count, tensors[i].width, error);
    }
    if (rc == 0) {
        *ret_blocks = blocks;
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
        int rc = check_layer(message->layers[i], &spec->layers[i], &blocks[i], error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "layer %u", i);
        }
        formats[i] = message->layers[i]->format;
    }
    return aq_wire_column_check(&message->arrays, "arrays", aq_net_spec_array_values(spec),
                                sizeof(float), error);
}

/* The tensors of one layer, each of which was checked. */
static int fill_tensors(aq_tensor_reader *reader, const Actorq__V1__LayerTensors *message,
                        const aq_snapshot_layer *layer, size_t rows, aq_snapshot_layer_data *data,
                        aq_error *error)
{
    const uint32_t compressed = message->compressed;
    const size_t width = aq_tensor_weight_width(message->format);
    int rc =
        aq_tensor_read(reader, &message->weights, compressed & AQ_COMPRESSED_WEIGHTS, "weights",
                       layer->sizes.weights_bytes / width, width, data->weights, error);
    if (rc == 0) {
        rc = aq_tensor_read(reader, &message->scale, compressed & AQ_COMPRESSED_SCALE, "scale",
                            layer->sizes.scales, sizeof(float), data->scale, error);
    }
    if (rc == 0) {
        rc = aq_tensor_read(reader, &message->bias, compressed & AQ_COMPRESSED_BIAS, "bias", rows,
                            sizeof(float), data->bias, error);
    }
    aq_wire_column_copy(data->mask, &message->mask);
    aq_wire_column_copy(data->sum, &message->sum);
    return rc;
}

static int fill_layer(aq_tensor_reader *reader, const Actorq__V1__LayerTensors *message,
                      aq_snapshot *snapshot, uint32_t index, aq_error *error)
{
    aq_snapshot_layer *layer = &snapshot->layers[index];
    const size_t rows = aq_layer_matrix(&snapshot->spec.layers[index]).rows;
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, index, &data);
    int rc = fill_tensors(reader, message, layer, rows, &data, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy: layer %u", index);
    }
    if (message->sum.len == 0) {
        aq_snapshot_layer_add_up(snapshot, index);
    }
    layer->weight_zero = message->weight_zero;
    layer->input_scale = message->input_scale;
    layer->input_zero = message->input_zero <= INT32_MAX ? (int32_t)message->input_zero : -1;
    return 0;
}

static int fill_layers(aq_snapshot *snapshot, const Actorq__V1__PolicySnapshot *message,
                       aq_error *error)
{
    aq_tensor_reader reader = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = fill_layer(&reader, message->layers[i], snapshot, i, error);
    }
    aq_tensor_reader_fini(&reader);
    return rc;
}

static int fill(aq_snapshot *snapshot, const Actorq__V1__PolicySnapshot *message, aq_error *error)
{
    snapshot->run_id = message->run_id;
    snapshot->version = message->version;
    snapshot->learner_step = message->learner_step;
    snapshot->head = message->act_rule;
    snapshot->quant_error = aq_wire_quant_error_from(message->quant_error);
    aq_wire_column_copy(aq_snapshot_arrays_edit(snapshot), &message->arrays);
    int rc = fill_layers(snapshot, message, error);
    if (rc == 0) {
        rc = aq_wire_text_copy(snapshot->task, sizeof(snapshot->task), message->task,
                               "policy: the task's name", error);
    }
    if (rc == 0) {
        rc = aq_wire_schema_from(message->schema, &snapshot->schema, error);
        rc = rc != 0 ? aq_fail_context(error, rc, "policy") : 0;
    }
    return rc != 0 ? rc : aq_snapshot_settle(snapshot, error);
}

static int snapshot_from(const Actorq__V1__PolicySnapshot *message, uint64_t network_hash,
                         aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_net_spec spec;
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    aq_snapshot *snapshot;
    int rc = aq_wire_network_from(message->network, &spec, error);
    if (rc == 0 && network_hash != 0 && aq_net_spec_hash(&spec) != network_hash) {
        rc = aq_fail(error, AQ_E_SCHEMA, "it has another network than the run");
    }
    if (rc == 0) {
        rc = check_layers(message, &spec, formats, blocks, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy");
    }
    rc = aq_snapshot_create(&spec, formats, blocks, &snapshot);
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
    return aq_wire_policy_unpack_of(bytes, size, 0, ret_snapshot, error);
}

int aq_wire_policy_unpack_of(const uint8_t *bytes, size_t size, uint64_t network_hash,
                             aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_policy_scan scan;
    int rc = aq_policy_scan_open(bytes, size, &scan, error);
    if (rc != 0) {
        return rc;
    }
    rc = snapshot_from(scan.message, network_hash, ret_snapshot, error);
    aq_policy_scan_close(&scan);
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

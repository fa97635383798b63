/*
 * Levels change by a few steps, so their difference, lane by lane and wrapping around, is mostly
 * zeros and small numbers; floats keep their sign, exponent and first digits, so their bits are
 * xored and split into planes. What is left of a tensor is compressed like any other.
 *
 * Sums follow from the levels and are added up by the receiver; the check sum covers them.
 */
#include "common/wire/wire_delta.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/memory.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_policy_parts.h"
#include "common/wire/wire_tensor.h"

struct aq_wire_delta {
    Actorq__V1__PolicyDelta *message;
    aq_delta_head head;
};

/* ---- differences --------------------------------------------------------------------------- */

/* The highest bit of each lane of a word: levels have 8, 4 or 2 bits. */
static uint64_t lane_tops(uint32_t format)
{
    switch (format) {
    case AQ_FORMAT_INT4:
        return UINT64_C(0x8888888888888888);
    case AQ_FORMAT_INT2:
        return UINT64_C(0xAAAAAAAAAAAAAAAA);
    default:
        return UINT64_C(0x8080808080808080);
    }
}

/* a - b and a + b in each lane, wrapping around. The highest bits are kept out of the way of
 * borrows and carries and put in at the end. */
static uint64_t lanes_subtract(uint64_t a, uint64_t b, uint64_t tops)
{
    return ((a | tops) - (b & ~tops)) ^ ((a ^ ~b) & tops);
}

static uint64_t lanes_add(uint64_t a, uint64_t b, uint64_t tops)
{
    return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);
}

typedef uint64_t lanes_fn(uint64_t a, uint64_t b, uint64_t tops);

/* Words one after another, of which the last may be short. */
static inline void combine_lanes(const uint8_t *a, const uint8_t *b, size_t size, uint64_t tops,
                                 lanes_fn *combine, uint8_t *ret)
{
    const size_t whole = size / sizeof(uint64_t) * sizeof(uint64_t);
    uint64_t x, y;
    for (size_t at = 0; at < whole; at += sizeof(uint64_t)) {
        memcpy(&x, a + at, sizeof(x));
        memcpy(&y, b + at, sizeof(y));
        x = combine(x, y, tops);
        memcpy(ret + at, &x, sizeof(x));
    }
    x = y = 0;
    memcpy(&x, a + whole, size - whole);
    memcpy(&y, b + whole, size - whole);
    x = combine(x, y, tops);
    memcpy(ret + whole, &x, size - whole);
}

static void xor_with(uint8_t *bytes, const uint8_t *others, size_t count, size_t width)
{
    for (size_t p = 0; p < width; p++) {
        for (size_t i = 0; i < count; i++) {
            bytes[p * count + i] ^= others[i * width + p];
        }
    }
}

/* ---- what both ends agree on ---------------------------------------------------------------- */

static uint32_t crc_some(uint32_t crc, const void *bytes, size_t size)
{
    return size > 0 ? aq_crc32c(crc, bytes, size) : crc;
}

/* Of all that a layer's tensors and numbers are. */
static uint32_t crc_layer(uint32_t crc, const aq_snapshot_layer *layer, size_t rows)
{
    crc = crc_some(crc, layer->weights, layer->sizes.weights_bytes);
    crc = crc_some(crc, layer->scale, layer->sizes.scales * sizeof(float));
    crc = crc_some(crc, layer->sum, layer->sizes.sums * sizeof(int32_t));
    crc = crc_some(crc, layer->mask, layer->sizes.mask_bytes);
    crc = crc_some(crc, layer->bias, rows * sizeof(float));
    crc = aq_crc32c(crc, &layer->weight_zero, sizeof(layer->weight_zero));
    crc = aq_crc32c(crc, &layer->input_scale, sizeof(layer->input_scale));
    return aq_crc32c(crc, &layer->input_zero, sizeof(layer->input_zero));
}

static uint32_t crc_tensors(const aq_snapshot *snapshot)
{
    uint32_t crc = 0;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        crc = crc_layer(crc, &snapshot->layers[i], aq_layer_matrix(&snapshot->spec.layers[i]).rows);
    }
    return crc_some(crc, snapshot->arrays,
                    aq_net_spec_array_values(&snapshot->spec) * sizeof(float));
}

static bool same_layout(const aq_snapshot_layer *a, const aq_snapshot_layer *b)
{
    return a->format == b->format && a->sizes.weights_bytes == b->sizes.weights_bytes &&
           (a->sizes.mask_bytes == 0 || memcmp(a->mask, b->mask, a->sizes.mask_bytes) == 0);
}

bool aq_wire_delta_possible(const aq_snapshot *base, const aq_snapshot *snapshot)
{
    if (base->run_id != snapshot->run_id || base->version >= snapshot->version ||
        base->head != snapshot->head || strcmp(base->task, snapshot->task) != 0 ||
        aq_schema_hash(&base->schema) != aq_schema_hash(&snapshot->schema) ||
        aq_net_spec_hash(&base->spec) != aq_net_spec_hash(&snapshot->spec)) {
        return false;
    }
    bool same = true;
    for (uint32_t i = 0; same && i < base->spec.layer_count; i++) {
        same = same_layout(&base->layers[i], &snapshot->layers[i]);
    }
    return same;
}

/* What travels of a layer: how it is told apart, and how its difference is made. */
typedef struct tensor {
    const char *name;
    uint32_t bit;         /* in `compressed` */
    size_t count, width;  /* numbers, and bytes of each */
    uint64_t tops;        /* levels: the highest bits of their lanes; 0: floats */
    const uint8_t *bytes; /* as stored */
} tensor;

enum { TENSORS = 3 };

static void list_tensors(const aq_snapshot_layer *layer, size_t rows, tensor *ret_tensors)
{
    const size_t width = aq_tensor_weight_width(layer->format);
    const uint64_t tops = aq_format_is_integer(layer->format) ? lane_tops(layer->format) : 0;
    ret_tensors[0] =
        (tensor){"weights", AQ_COMPRESSED_WEIGHTS, layer->sizes.weights_bytes / width, width,
                 tops,      layer->weights};
    ret_tensors[1] =
        (tensor){"scale", AQ_COMPRESSED_SCALE,          layer->sizes.scales, sizeof(float),
                 0,       (const uint8_t *)layer->scale};
    ret_tensors[2] =
        (tensor){"bias", AQ_COMPRESSED_BIAS, rows, sizeof(float), 0, (const uint8_t *)layer->bias};
}

/* ---- out ----------------------------------------------------------------------------------- */

static uint32_t pack_tensor(aq_tensor_packer *packer, const tensor *base, const tensor *now,
                            ProtobufCBinaryData *ret_view)
{
    const size_t size = now->count * now->width;
    uint8_t *difference = packer->scratch;
    if (size == 0 || memcmp(base->bytes, now->bytes, size) == 0) {
        return 0;
    }
    if (now->tops != 0) {
        combine_lanes(now->bytes, base->bytes, size, now->tops, lanes_subtract, difference);
    } else {
        aq_planes_split(now->bytes, now->count, now->width, difference);
        xor_with(difference, base->bytes, now->count, now->width);
    }
    if (aq_tensor_compress(packer, difference, size, ret_view)) {
        return now->bit;
    }
    aq_tensor_keep(packer, difference, size, ret_view);
    return 0;
}

static void pack_layer(aq_tensor_packer *packer, const aq_snapshot_layer *base,
                       const aq_snapshot_layer *now, size_t rows,
                       Actorq__V1__LayerDelta *ret_message)
{
    tensor before[TENSORS], after[TENSORS];
    list_tensors(base, rows, before);
    list_tensors(now, rows, after);
    actorq__v1__layer_delta__init(ret_message);
    ProtobufCBinaryData *const views[TENSORS] = {&ret_message->weights, &ret_message->scale,
                                                 &ret_message->bias};
    for (size_t i = 0; i < TENSORS; i++) {
        ret_message->compressed |= pack_tensor(packer, &before[i], &after[i], views[i]);
    }
    ret_message->weight_zero = now->weight_zero;
    ret_message->input_scale = now->input_scale;
    ret_message->input_zero = (uint32_t)now->input_zero;
}

int aq_wire_delta_pack(const aq_snapshot *base, const aq_snapshot *snapshot, aq_buffer *out)
{
    Actorq__V1__LayerDelta layers[AQ_NET_LAYERS_MAX];
    Actorq__V1__LayerDelta *pointers[AQ_NET_LAYERS_MAX];
    Actorq__V1__QuantError measured;
    Actorq__V1__PolicyDelta message;
    aq_tensor_packer packer;
    AQ_ASSERT(aq_wire_delta_possible(base, snapshot));
    int rc = aq_tensor_packer_init(&packer, aq_snapshot_tensor_bytes(snapshot),
                                   aq_wire_tensor_bytes_max(snapshot));
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        pack_layer(&packer, &base->layers[i], &snapshot->layers[i],
                   aq_layer_matrix(&snapshot->spec.layers[i]).rows, &layers[i]);
        pointers[i] = &layers[i];
    }
    aq_wire_quant_error_to(&snapshot->quant_error, &measured);
    actorq__v1__policy_delta__init(&message);
    message.run_id = snapshot->run_id;
    message.version = snapshot->version;
    message.base_version = base->version;
    message.learner_step = snapshot->learner_step;
    message.quant_error = &measured;
    message.n_layers = snapshot->spec.layer_count;
    message.layers = pointers;
    message.crc = crc_tensors(snapshot);
    message.arrays =
        aq_wire_bytes(snapshot->arrays, aq_net_spec_array_values(&snapshot->spec) * sizeof(float));
    rc = aq_wire_frame_pack(&message.base, AQ_FRAME_POLICY_DELTA, out);
    aq_tensor_packer_fini(&packer);
    return rc;
}

/* ---- in ------------------------------------------------------------------------------------ */

int aq_wire_delta_open(const uint8_t *bytes, size_t size, aq_wire_delta **ret_delta,
                       aq_error *error)
{
    ProtobufCMessage *message;
    int rc = aq_wire_frame_unpack(bytes, size, AQ_FRAME_POLICY_DELTA,
                                  &actorq__v1__policy_delta__descriptor, &message, error);
    if (rc != 0) {
        return rc;
    }
    Actorq__V1__PolicyDelta *found = (Actorq__V1__PolicyDelta *)message;
    if (found->base_version == 0 || found->base_version >= found->version) {
        rc = aq_fail(error, AQ_E_CORRUPT,
                     "policy delta: version %" PRIu64 " as a change of version %" PRIu64,
                     found->version, found->base_version);
        aq_message_free(message);
        return rc;
    }
    aq_wire_delta *delta = aq_alloc(1, sizeof(*delta));
    if (delta == NULL) {
        aq_message_free(message);
        return aq_fail(error, AQ_E_NOMEM, "no memory for a policy delta");
    }
    delta->message = found;
    delta->head = (aq_delta_head){
        .run_id = found->run_id,
        .version = found->version,
        .base_version = found->base_version,
        .bytes = size,
    };
    *ret_delta = delta;
    return 0;
}

void aq_wire_delta_close(aq_wire_delta *delta)
{
    if (delta == NULL) {
        return;
    }
    aq_message_free(&delta->message->base);
    aq_free(delta);
}

const aq_delta_head *aq_wire_delta_head(const aq_wire_delta *delta)
{
    return &delta->head;
}

/* `base` with the difference in `data`, if there is one, into `to`. */
static int apply_tensor(aq_tensor_reader *reader, const tensor *base,
                        const ProtobufCBinaryData *data, bool compressed, uint8_t *to,
                        aq_error *error)
{
    const size_t size = base->count * base->width;
    const uint8_t *difference = NULL;
    if (data->len == 0 && !compressed) {
        if (size > 0) {
            memcpy(to, base->bytes, size);
        }
        return 0;
    }
    int rc = aq_tensor_check(data, compressed, base->name, base->count, base->width, error);
    if (rc == 0) {
        rc = aq_tensor_open(reader, data, compressed, base->name, size, &difference, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (base->tops != 0) {
        combine_lanes(base->bytes, difference, size, base->tops, lanes_add, to);
        return 0;
    }
    aq_planes_join(difference, base->count, base->width, to);
    for (size_t i = 0; i < size; i++) {
        to[i] ^= base->bytes[i];
    }
    return 0;
}

static int apply_layer(aq_tensor_reader *reader, const Actorq__V1__LayerDelta *message,
                       const aq_snapshot_layer *base, aq_snapshot *snapshot, uint32_t index,
                       aq_error *error)
{
    aq_snapshot_layer *layer = &snapshot->layers[index];
    aq_snapshot_layer_data data;
    tensor tensors[TENSORS];
    list_tensors(base, aq_layer_matrix(&snapshot->spec.layers[index]).rows, tensors);
    aq_snapshot_layer_edit(snapshot, index, &data);
    const ProtobufCBinaryData *const differences[TENSORS] = {&message->weights, &message->scale,
                                                             &message->bias};
    uint8_t *const to[TENSORS] = {data.weights, (uint8_t *)data.scale, (uint8_t *)data.bias};
    int rc = aq_wire_compressed_check(message->compressed, error);
    for (size_t i = 0; rc == 0 && i < TENSORS; i++) {
        rc = apply_tensor(reader, &tensors[i], differences[i],
                          (message->compressed & tensors[i].bit) != 0, to[i], error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy delta: layer %u", index);
    }
    if (layer->sizes.mask_bytes > 0) {
        memcpy(data.mask, base->mask, layer->sizes.mask_bytes);
    }
    aq_snapshot_layer_add_up(snapshot, index);
    layer->weight_zero = message->weight_zero;
    layer->input_scale = message->input_scale;
    layer->input_zero = message->input_zero <= INT32_MAX ? (int32_t)message->input_zero : -1;
    return 0;
}

static int apply_layers(const aq_wire_delta *delta, const aq_snapshot *base, aq_snapshot *snapshot,
                        aq_error *error)
{
    aq_tensor_reader reader = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < base->spec.layer_count; i++) {
        rc = apply_layer(&reader, delta->message->layers[i], &base->layers[i], snapshot, i, error);
    }
    aq_tensor_reader_fini(&reader);
    aq_wire_column_copy(aq_snapshot_arrays_edit(snapshot), &delta->message->arrays);
    if (rc == 0 && crc_tensors(snapshot) != delta->message->crc) {
        rc = aq_fail(error, AQ_E_CORRUPT,
                     "policy delta: version %" PRIu64 " made from version %" PRIu64
                     " is not what was sent",
                     delta->head.version, delta->head.base_version);
    }
    return rc != 0 ? rc : aq_snapshot_settle(snapshot, error);
}

/* What a delta does not say, and room for the rest. */
static int create_like(const aq_snapshot *base, aq_snapshot **ret_snapshot, aq_error *error)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    for (uint32_t i = 0; i < base->spec.layer_count; i++) {
        formats[i] = base->layers[i].format;
        blocks[i] =
            base->layers[i].mask != NULL ? base->layers[i].sizes.weights_bytes / AQ_BLOCK_BYTES : 0;
    }
    int rc = aq_snapshot_create(&base->spec, formats, blocks, ret_snapshot);
    if (rc != 0) {
        return aq_fail(error, rc, "policy delta: %s", aq_error_text(rc));
    }
    aq_snapshot *snapshot = *ret_snapshot;
    memcpy(snapshot->task, base->task, sizeof(snapshot->task));
    snapshot->schema = base->schema;
    snapshot->head = base->head;
    snapshot->run_id = base->run_id;
    return 0;
}

static int check_base(const aq_wire_delta *delta, const aq_snapshot *base, aq_error *error)
{
    if (delta->head.run_id != base->run_id || delta->head.base_version != base->version) {
        return aq_fail(error, AQ_E_INVALID,
                       "policy delta: a change of version %" PRIu64 ", not of version %" PRIu64,
                       delta->head.base_version, base->version);
    }
    if (delta->message->n_layers != base->spec.layer_count) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy delta: changes of %zu layers of a network that has %u",
                       delta->message->n_layers, base->spec.layer_count);
    }
    int rc = aq_wire_column_check(&delta->message->arrays, "arrays",
                                  aq_net_spec_array_values(&base->spec), sizeof(float), error);
    return rc != 0 ? aq_fail_context(error, rc, "policy delta") : 0;
}

int aq_wire_delta_apply(const aq_wire_delta *delta, const aq_snapshot *base,
                        aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_snapshot *snapshot;
    int rc = check_base(delta, base, error);
    if (rc == 0) {
        rc = create_like(base, &snapshot, error);
    }
    if (rc != 0) {
        return rc;
    }
    snapshot->version = delta->head.version;
    snapshot->learner_step = delta->message->learner_step;
    snapshot->quant_error = aq_wire_quant_error_from(delta->message->quant_error);
    rc = apply_layers(delta, base, snapshot, error);
    if (rc != 0) {
        aq_snapshot_unref(snapshot);
        return rc;
    }
    *ret_snapshot = snapshot;
    return 0;
}

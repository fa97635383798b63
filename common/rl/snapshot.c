/*
 * Snapshots: one block for header and tensors, so that handing a policy to another thread is one
 * reference, and the memory of an old version goes in one piece. What a peer could get wrong about
 * one is in snapshot_check.c.
 */
#include "common/rl/snapshot.h"

#include <stdatomic.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"

/* Offsets in the block of one layer's tensors; 0 for one that the format has not. */
typedef struct layer_columns {
    size_t weights, scale, sum, bias;
} layer_columns;

static int is_format(uint32_t format)
{
    return format == AQ_FORMAT_F32 || format == AQ_FORMAT_INT8_CHANNEL;
}

static size_t weight_bytes(uint32_t format)
{
    return format == AQ_FORMAT_INT8_CHANNEL ? sizeof(int8_t) : sizeof(float);
}

static layer_columns layer_columns_add(const aq_layer_spec *layer, uint32_t format, size_t *bytes)
{
    layer_columns at = {0};
    size_t weights = (size_t)layer->inputs * layer->outputs;
    at.weights = aq_columns_add(bytes, weights, weight_bytes(format));
    if (format == AQ_FORMAT_INT8_CHANNEL) {
        at.scale = aq_columns_add(bytes, layer->outputs, sizeof(float));
        at.sum = aq_columns_add(bytes, layer->outputs, sizeof(int32_t));
    }
    at.bias = aq_columns_add(bytes, layer->outputs, sizeof(float));
    return at;
}

static void layer_view(uint8_t *block, const aq_layer_spec *layer, uint32_t format,
                       const layer_columns *at, aq_snapshot_layer *view)
{
    view->format = format;
    view->weights = block + at->weights;
    view->weights_bytes = (size_t)layer->inputs * layer->outputs * weight_bytes(format);
    view->scale = at->scale != 0 ? (const float *)(const void *)(block + at->scale) : NULL;
    view->sum = at->sum != 0 ? (const int32_t *)(const void *)(block + at->sum) : NULL;
    view->bias = (const float *)(const void *)(block + at->bias);
}

int aq_snapshot_create(const aq_net_spec *spec, const uint32_t *formats, aq_snapshot **ret_snapshot)
{
    layer_columns at[AQ_NET_LAYERS_MAX];
    size_t bytes = sizeof(aq_snapshot);
    int rc = aq_net_spec_validate(spec, NULL);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        if (!is_format(formats[i])) {
            return AQ_E_VERSION;
        }
        at[i] = layer_columns_add(&spec->layers[i], formats[i], &bytes);
    }
    if (bytes > AQ_SNAPSHOT_BYTES_MAX) {
        return AQ_E_TOO_BIG;
    }
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_snapshot *snapshot = (aq_snapshot *)(void *)block;
    snapshot->spec = *spec;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        layer_view(block, &spec->layers[i], formats[i], &at[i], &snapshot->layers[i]);
    }
    atomic_init(&snapshot->references, 1);
    *ret_snapshot = snapshot;
    return 0;
}

aq_snapshot *aq_snapshot_ref(aq_snapshot *snapshot)
{
    uint32_t before = atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    AQ_ASSERT(before > 0);
    AQ_ASSERT(before < UINT32_MAX);
    return snapshot;
}

void aq_snapshot_unref(aq_snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    /* Release what this owner did, and acquire what the others did before the last one frees. */
    uint32_t before = atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel);
    AQ_ASSERT(before > 0);
    if (before == 1) {
        aq_free(snapshot);
    }
}

/* The views are const for everybody who shares the snapshot. Its one owner may write, through a
 * pointer made anew from the block that the tensor lies in. */
static void *writable(aq_snapshot *snapshot, const void *tensor)
{
    if (tensor == NULL) {
        return NULL;
    }
    return (uint8_t *)snapshot + ((const uint8_t *)tensor - (const uint8_t *)snapshot);
}

void aq_snapshot_layer_edit(aq_snapshot *snapshot, uint32_t layer, aq_snapshot_layer_data *ret_data)
{
    AQ_ASSERT(layer < snapshot->spec.layer_count);
    AQ_ASSERT(atomic_load_explicit(&snapshot->references, memory_order_relaxed) == 1);
    const aq_snapshot_layer *view = &snapshot->layers[layer];
    ret_data->weights = writable(snapshot, view->weights);
    ret_data->scale = writable(snapshot, view->scale);
    ret_data->sum = writable(snapshot, view->sum);
    ret_data->bias = writable(snapshot, view->bias);
}

size_t aq_snapshot_tensor_bytes(const aq_snapshot *snapshot)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &snapshot->layers[i];
        size_t outputs = snapshot->spec.layers[i].outputs;
        bytes += layer->weights_bytes + outputs * sizeof(*layer->bias);
        bytes += layer->scale != NULL ? outputs * sizeof(*layer->scale) : 0;
        bytes += layer->sum != NULL ? outputs * sizeof(*layer->sum) : 0;
    }
    return bytes;
}

size_t aq_snapshot_tensor_bytes_f32(const aq_snapshot *snapshot)
{
    return aq_net_spec_parameters(&snapshot->spec) * sizeof(float);
}

const char *aq_format_name(uint32_t format)
{
    switch (format) {
    case AQ_FORMAT_F32:
        return "fp32";
    case AQ_FORMAT_INT8_CHANNEL:
        return "int8";
    default:
        return "unknown";
    }
}

/*
 * Snapshots: one block for header and tensors, so that handing a policy to another thread is one
 * reference, and the memory of an old version goes in one piece. What a peer could get wrong about
 * one is in snapshot_check.c.
 */
#include "common/policy/snapshot.h"

#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/net_graph.h"

/* Offsets in the block of one layer's tensors; 0 for one that the format has not. */
typedef struct layer_columns {
    size_t weights, scale, sum, mask, bias;
} layer_columns;

static size_t add_some(size_t *bytes, size_t count, size_t size)
{
    return count > 0 ? aq_arrays_add(bytes, count, size) : 0;
}

static layer_columns layer_columns_add(const aq_tensor_sizes *sizes, uint32_t rows, size_t *bytes)
{
    layer_columns at;
    at.weights = aq_arrays_add(bytes, sizes->weights_bytes, 1);
    at.scale = add_some(bytes, sizes->scales, sizeof(float));
    at.sum = add_some(bytes, sizes->sums, sizeof(int32_t));
    at.mask = add_some(bytes, sizes->mask_bytes, 1);
    at.bias = aq_arrays_add(bytes, rows, sizeof(float));
    return at;
}

static void *at_offset(uint8_t *block, size_t offset)
{
    return offset != 0 ? block + offset : NULL;
}

static void layer_view(uint8_t *block, uint32_t format, const aq_tensor_sizes *sizes,
                       const layer_columns *at, aq_snapshot_layer *view)
{
    view->format = format;
    view->sizes = *sizes;
    view->weights = block + at->weights;
    view->scale = at_offset(block, at->scale);
    view->sum = at_offset(block, at->sum);
    view->mask = at_offset(block, at->mask);
    view->bias = at_offset(block, at->bias);
}

/* Sizes of layer `index`, if it can be stored so. */
static int layer_sizes(const aq_layer_spec *layer, uint32_t format, size_t blocks,
                       aq_tensor_sizes *ret_sizes)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    if (!aq_format_known(format)) {
        return AQ_E_VERSION;
    }
    if (format != AQ_FORMAT_F32 && !aq_layer_is_quantizable(layer)) {
        return AQ_E_INVALID;
    }
    if (blocks > (size_t)aq_block_row_count(matrix.rows) * aq_block_column_count(matrix.columns)) {
        return AQ_E_INVALID;
    }
    *ret_sizes = aq_format_sizes(format, matrix.rows, matrix.columns, blocks);
    return 0;
}

/* Where all of a snapshot lies in its block. */
typedef struct block_plan {
    layer_columns at[AQ_NET_LAYERS_MAX];
    aq_tensor_sizes sizes[AQ_NET_LAYERS_MAX];
    size_t arrays;
    size_t bytes;
} block_plan;

static int plan_block(const aq_net_spec *spec, const uint32_t *formats, const size_t *blocks,
                      block_plan *ret_plan)
{
    ret_plan->bytes = sizeof(aq_snapshot);
    int rc = aq_net_spec_validate(spec, NULL);
    for (uint32_t i = 0; rc == 0 && i < spec->layer_count; i++) {
        aq_tensor_sizes *sizes = &ret_plan->sizes[i];
        const uint32_t rows = aq_layer_matrix(&spec->layers[i]).rows;
        rc = layer_sizes(&spec->layers[i], formats[i], blocks != NULL ? blocks[i] : 0, sizes);
        if (rc == 0) {
            ret_plan->at[i] = layer_columns_add(sizes, rows, &ret_plan->bytes);
        }
    }
    if (rc != 0) {
        return rc;
    }
    ret_plan->arrays =
        aq_arrays_add(&ret_plan->bytes, aq_net_spec_array_values(spec), sizeof(float));
    return ret_plan->bytes <= AQ_SNAPSHOT_BYTES_MAX ? 0 : AQ_E_TOO_BIG;
}

static aq_snapshot *lay_out(const aq_net_spec *spec, const uint32_t *formats,
                            const block_plan *plan, uint8_t *block)
{
    aq_snapshot *snapshot = (aq_snapshot *)(void *)block;
    snapshot->spec = *spec;
    snapshot->arrays = (const float *)(const void *)(block + plan->arrays);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        layer_view(block, formats[i], &plan->sizes[i], &plan->at[i], &snapshot->layers[i]);
    }
    aq_references_init(&snapshot->references);
    return snapshot;
}

int aq_snapshot_create(const aq_net_spec *spec, const uint32_t *formats, const size_t *blocks,
                       aq_snapshot **ret_snapshot)
{
    block_plan plan;
    int rc = plan_block(spec, formats, blocks, &plan);
    if (rc != 0) {
        return rc;
    }
    uint8_t *block = aq_alloc_large(1, plan.bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    *ret_snapshot = lay_out(spec, formats, &plan, block);
    return 0;
}

int aq_snapshot_create_exact(const aq_net_spec *spec, aq_snapshot **ret_snapshot)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    block_plan plan;
    size_t end = 0; /* of the weights before */
    for (uint32_t i = 0; i < AQ_NET_LAYERS_MAX; i++) {
        formats[i] = AQ_FORMAT_F32;
    }
    int rc = plan_block(spec, formats, NULL, &plan);
    if (rc != 0) {
        return rc;
    }
    uint8_t *block = aq_alloc_unset(1, plan.bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        memset(block + end, 0, plan.at[i].weights - end);
        end = plan.at[i].weights + plan.sizes[i].weights_bytes;
    }
    memset(block + end, 0, plan.bytes - end);
    *ret_snapshot = lay_out(spec, formats, &plan, block);
    return 0;
}

aq_snapshot aq_snapshot_mean(const aq_snapshot *snapshot)
{
    aq_snapshot mean = *snapshot;
    aq_net_part part;
    aq_net_mean(&snapshot->spec, &part);
    mean.spec = part.spec;
    for (uint32_t i = 0; i < part.spec.layer_count; i++) {
        mean.layers[i] = snapshot->layers[part.layers[i]];
    }
    return mean;
}

aq_snapshot *aq_snapshot_ref(aq_snapshot *snapshot)
{
    aq_references_add(&snapshot->references);
    return snapshot;
}

void aq_snapshot_unref(aq_snapshot *snapshot)
{
    if (snapshot != NULL && aq_references_drop(&snapshot->references)) {
        aq_free(snapshot);
    }
}

/* The views are const for everybody who shares the snapshot. Its one owner may write, through a
 * pointer made anew from the block that the tensor lies in. */
static void *writable(aq_snapshot *snapshot, const void *tensor)
{
    snapshot->is_settled = false;
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
    ret_data->mask = writable(snapshot, view->mask);
    ret_data->bias = writable(snapshot, view->bias);
}

float *aq_snapshot_arrays_edit(aq_snapshot *snapshot)
{
    AQ_ASSERT(atomic_load_explicit(&snapshot->references, memory_order_relaxed) == 1);
    return writable(snapshot, snapshot->arrays);
}

size_t aq_snapshot_tensor_bytes(const aq_snapshot *snapshot)
{
    size_t bytes = aq_net_spec_array_values(&snapshot->spec) * sizeof(float);
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_tensor_sizes *sizes = &snapshot->layers[i].sizes;
        const size_t rows = aq_layer_matrix(&snapshot->spec.layers[i]).rows;
        bytes += sizes->weights_bytes + sizes->mask_bytes + sizes->scales * sizeof(float) +
                 sizes->sums * sizeof(int32_t) + rows * sizeof(float);
    }
    return bytes;
}

uint32_t aq_snapshot_format(const aq_snapshot *snapshot)
{
    uint32_t format = AQ_FORMAT_MIXED;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        if (!aq_layer_is_quantizable(&snapshot->spec.layers[i])) {
            continue;
        }
        if (format != AQ_FORMAT_MIXED && snapshot->layers[i].format != format) {
            return AQ_FORMAT_MIXED;
        }
        format = snapshot->layers[i].format;
    }
    return format != AQ_FORMAT_MIXED ? format : snapshot->layers[0].format;
}

bool aq_snapshot_is_fp32(const aq_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        if (snapshot->layers[i].format != AQ_FORMAT_F32) {
            return false;
        }
    }
    return true;
}

bool aq_snapshot_meets_floats(const aq_snapshot *snapshot)
{
    const aq_net_spec *spec = &snapshot->spec;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const bool quantizes = aq_layer_is_quantizable(&spec->layers[i]) &&
                               aq_format_is_integer(snapshot->layers[i].format) &&
                               aq_layer_state(&spec->layers[i]) == 0; /* it quantizes that alone */
        if (!quantizes && aq_net_takes(spec, i, 0) > 0) {
            return true;
        }
    }
    return false;
}

size_t aq_snapshot_tensor_bytes_f32(const aq_snapshot *snapshot)
{
    return aq_net_spec_parameters(&snapshot->spec) * sizeof(float);
}

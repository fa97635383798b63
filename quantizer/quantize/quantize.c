/*
 * Quantizing parameters, layer by layer. A format is one row of the table below and a function in
 * the file of its family (quantize_*.c); the rest does not know formats.
 */
#include "quantizer/quantize/quantize.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/experience/finite.h"
#include "quantizer/quantize/quantize_layer.h"

static int (*const formats[AQ_FORMAT_COUNT + 1])(const aq_quantize_layer *layer) = {
    [AQ_FORMAT_F32] = aq_quantize_f32,
    [AQ_FORMAT_INT8_CHANNEL] = aq_quantize_int8,
    [AQ_FORMAT_F16] = aq_quantize_f16,
    [AQ_FORMAT_BF16] = aq_quantize_bf16,
    [AQ_FORMAT_INT8_TENSOR] = aq_quantize_int8_tensor,
    [AQ_FORMAT_INT4] = aq_quantize_int4,
    [AQ_FORMAT_INT2] = aq_quantize_int2,
    [AQ_FORMAT_INT8_SPARSE] = aq_quantize_sparse,
};

/* ---- the plan ------------------------------------------------------------------------------- */

static int check_plan(const aq_quantize_plan *plan, aq_error *error)
{
    if (!aq_format_known(plan->format)) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "quantize: format %u is not known", plan->format);
    }
    if (plan->bits != 0 &&
        (plan->bits < AQ_QUANTIZE_BITS_MIN || plan->bits > AQ_QUANTIZE_BITS_MAX)) {
        return aq_fail(error, AQ_E_INVALID, "quantize: levels of %u bits; %d to %d are possible",
                       plan->bits, AQ_QUANTIZE_BITS_MIN, AQ_QUANTIZE_BITS_MAX);
    }
    /* Written so that NaN fails it. */
    if (!(plan->density >= 0.0f && plan->density <= 1.0f)) {
        return aq_fail(error, AQ_E_INVALID, "quantize: a density of %g; above 0 to 1 are possible",
                       (double)plan->density);
    }
    return 0;
}

static int layer_format(const aq_quantize_plan *plan, const aq_layer_spec *layer, uint32_t index,
                        uint32_t *ret_format, aq_error *error)
{
    const uint32_t asked = plan->layer_formats[index];
    if (asked != 0 && !aq_format_known(asked)) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "quantize: layer %u: format %u is not known", index,
                       asked);
    }
    if (aq_layer_is_quantizable(layer)) {
        *ret_format = asked != 0 ? asked : plan->format;
        return 0;
    }
    if (asked != 0 && asked != AQ_FORMAT_F32) {
        return aq_fail(error, AQ_E_INVALID, "quantize: layer %u: a %s layer cannot be %s", index,
                       aq_layer_kind_name(layer->kind), aq_format_name(asked));
    }
    *ret_format = AQ_FORMAT_F32;
    return 0;
}

/* An empty snapshot with the room that the plan's formats ask for. */
static int make_room(const aq_net_spec *spec, const aq_quantize_plan *plan,
                     aq_snapshot **ret_snapshot, aq_error *error)
{
    const float density = plan->density > 0.0f ? plan->density : AQ_QUANTIZE_DENSITY_DEFAULT;
    uint32_t layer_formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX] = {0};
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        int rc = layer_format(plan, &spec->layers[i], i, &layer_formats[i], error);
        if (rc != 0) {
            return rc;
        }
        if (layer_formats[i] == AQ_FORMAT_INT8_SPARSE) {
            blocks[i] = aq_sparse_block_count(&matrix, density);
        }
    }
    int rc = aq_snapshot_create(spec, layer_formats, blocks, ret_snapshot);
    return rc == 0 ? 0
                   : aq_fail(error, rc, "quantize: no room for the policy: %s", aq_error_text(rc));
}

/* ---- labels --------------------------------------------------------------------------------- */

int aq_quantize_label(const aq_quantize_meta *meta, aq_snapshot *snapshot, aq_error *error)
{
    const size_t length = strlen(meta->task);
    if (length >= sizeof(snapshot->task)) {
        return aq_fail(error, AQ_E_INVALID, "quantize: the task's name is longer than %zu bytes",
                       sizeof(snapshot->task) - 1);
    }
    memcpy(snapshot->task, meta->task, length + 1);
    snapshot->run_id = meta->run_id;
    snapshot->version = meta->version;
    snapshot->learner_step = meta->learner_step;
    snapshot->schema = *meta->schema;
    snapshot->head = meta->head;
    return 0;
}

/* ---- layers --------------------------------------------------------------------------------- */

/* The layer that may lend its scales; NULL if there is none. */
static const aq_snapshot_layer *previous_layer(const aq_snapshot *previous,
                                               const aq_snapshot *snapshot, uint32_t index)
{
    if (previous == NULL || previous->layers[index].format != snapshot->layers[index].format ||
        aq_net_spec_hash(&previous->spec) != aq_net_spec_hash(&snapshot->spec)) {
        return NULL;
    }
    return &previous->layers[index];
}

/* No value of the range is more than half a step beyond the ends, and the steps are fine enough. */
static bool input_is_kept(const aq_snapshot_layer *previous, float low, float high, float ideal)
{
    const double scale = (double)previous->input_scale;
    const int32_t zero = previous->input_zero;
    return scale > 0.0 && scale <= (double)(ideal * AQ_QUANTIZE_KEEP_MAX) &&
           (double)low >= (-zero - 0.5) * scale && (double)high <= (UINT8_MAX - zero + 0.5) * scale;
}

static void set_input(const aq_input_ranges *ranges, const aq_snapshot_layer *previous,
                      uint32_t index, aq_snapshot_layer *view)
{
    float scale;
    int32_t zero;
    if (ranges == NULL || !aq_format_is_integer(view->format)) {
        return;
    }
    aq_input_range_quant(ranges->low[index], ranges->high[index], &scale, &zero);
    if (scale != 0.0f && previous != NULL &&
        input_is_kept(previous, ranges->low[index], ranges->high[index], scale)) {
        scale = previous->input_scale;
        zero = previous->input_zero;
    }
    view->input_scale = scale;
    view->input_zero = zero;
}

/* Of no other number levels can be made; all else is looked at in what was made. */
static int check_weights(const aq_quantize_layer *layer)
{
    const size_t weights = (size_t)layer->matrix.rows * layer->matrix.columns;
    const size_t bad = aq_find_nonfinite(layer->weights, weights);
    return bad == weights ? 0
                          : aq_fail(layer->error, AQ_E_CORRUPT,
                                    "quantize: layer %u, row %zu: a weight is NaN or infinite",
                                    layer->index, bad / layer->matrix.columns);
}

static int fill_layer(const aq_params *params, bool exact, const aq_quantize_plan *plan,
                      uint32_t index, aq_snapshot *snapshot, aq_error *error)
{
    aq_quantize_layer layer = {
        .plan = plan,
        .index = index,
        .matrix = aq_layer_matrix(&snapshot->spec.layers[index]),
        .weights = params->weight[index],
        .previous = previous_layer(plan->previous, snapshot, index),
        .view = &snapshot->layers[index],
        .error = error,
    };
    aq_snapshot_layer_edit(snapshot, index, &layer.to);
    if (layer.matrix.rows == 0) {
        return 0;
    }
    memcpy(layer.to.bias, params->bias[index], layer.matrix.rows * sizeof(float));
    set_input(plan->ranges, layer.previous, index, layer.view);
    int rc = !exact && layer.view->format != AQ_FORMAT_F32 ? check_weights(&layer) : 0;
    return rc == 0 ? formats[layer.view->format](&layer) : rc;
}

/* `exact`: the parameters are those of such a policy, so every one is finite. */
static int quantize(const aq_net_spec *spec, const aq_params *params, bool exact,
                    const aq_quantize_plan *plan, const aq_quantize_meta *meta,
                    aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_snapshot *snapshot = NULL;
    int rc = aq_net_spec_validate(spec, error);
    if (rc == 0) {
        rc = check_plan(plan, error);
    }
    if (rc == 0) {
        rc = make_room(spec, plan, &snapshot, error);
    }
    if (rc != 0) {
        return rc;
    }
    const size_t arrays = aq_net_spec_array_values(spec);
    if (arrays > 0) { /* they lie one after the other */
        memcpy(aq_snapshot_arrays_edit(snapshot), params->array[0], arrays * sizeof(float));
    }
    rc = aq_quantize_label(meta, snapshot, error);
    for (uint32_t i = 0; rc == 0 && i < spec->layer_count; i++) {
        rc = fill_layer(params, exact, plan, i, snapshot, error);
    }
    if (rc == 0) { /* what leaves here is what an engine accepts */
        rc = aq_snapshot_settle(snapshot, error);
    }
    if (rc != 0) {
        aq_snapshot_unref(snapshot);
        return rc;
    }
    *ret_snapshot = snapshot;
    return 0;
}

int aq_quantize(const aq_net_spec *spec, const aq_params *params, const aq_quantize_plan *plan,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot, aq_error *error)
{
    return quantize(spec, params, false, plan, meta, ret_snapshot, error);
}

int aq_quantize_policy(const aq_snapshot *exact, const aq_quantize_plan *plan,
                       aq_snapshot **ret_snapshot, aq_error *error)
{
    const aq_quantize_meta meta = {
        .run_id = exact->run_id,
        .version = exact->version,
        .learner_step = exact->learner_step,
        .task = exact->task,
        .schema = &exact->schema,
        .head = exact->head,
    };
    const aq_params params = aq_params_of(exact);
    AQ_ASSERT(exact->is_settled);
    return quantize(&exact->spec, &params, true, plan, &meta, ret_snapshot, error);
}

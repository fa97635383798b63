/*
 * Quantizing parameters. A format is one row of the table below; the rest does not know formats.
 */
#include "quantizer/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/rl/finite.h"

/* Fills one layer's weights, scale and sum; cannot fail on finite parameters. */
typedef void convert_layer(const aq_layer_spec *layer, const float *weights,
                           const aq_snapshot_layer_data *to);

static void convert_f32(const aq_layer_spec *layer, const float *weights,
                        const aq_snapshot_layer_data *to)
{
    memcpy(to->weights, weights, (size_t)layer->inputs * layer->outputs * sizeof(float));
}

static float greatest_magnitude(const float *values, uint32_t count)
{
    float greatest = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        const float magnitude = fabsf(values[i]);
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return greatest;
}

/* w (inputs) ~ scale * q (inputs); returns sum_i q[i]. A row too small for a scale that is a normal
 * float counts as zeros. */
static int32_t convert_row_int8(const float *weights, uint32_t inputs, int8_t *q, float *ret_scale)
{
    float scale = greatest_magnitude(weights, inputs) / 127.0f;
    if (scale < FLT_MIN) {
        memset(q, 0, inputs);
        *ret_scale = 1.0f;
        return 0;
    }
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        const long level = lrintf(weights[i] / scale);
        q[i] = (int8_t)(level < -127 ? -127 : level > 127 ? 127 : level);
        sum += q[i];
    }
    *ret_scale = scale;
    return sum;
}

static void convert_int8_channel(const aq_layer_spec *layer, const float *weights,
                                 const aq_snapshot_layer_data *to)
{
    int8_t *q = to->weights;
    for (uint32_t o = 0; o < layer->outputs; o++) {
        const size_t row = (size_t)o * layer->inputs;
        to->sum[o] = convert_row_int8(weights + row, layer->inputs, q + row, &to->scale[o]);
    }
}

static const struct format_row {
    uint32_t format;
    convert_layer *convert;
} formats[] = {
    {AQ_FORMAT_F32, convert_f32},
    {AQ_FORMAT_INT8_CHANNEL, convert_int8_channel},
};

static convert_layer *converter_of(uint32_t format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].format == format) {
            return formats[i].convert;
        }
    }
    return NULL;
}

static int check_finite(const aq_net_spec *spec, const aq_params *params, aq_error *error)
{
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        const size_t weights = (size_t)matrix.rows * matrix.columns;
        const size_t bad = aq_find_nonfinite(params->weight[i], weights);
        if (bad < weights) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "quantize: layer %u, row %zu: a weight is NaN or infinite", i,
                           bad / matrix.columns);
        }
        const size_t bad_bias = aq_find_nonfinite(params->bias[i], matrix.rows);
        if (bad_bias < matrix.rows) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "quantize: layer %u, row %zu: a bias is NaN or infinite", i, bad_bias);
        }
    }
    return 0;
}

static int set_meta(aq_snapshot *snapshot, const aq_quantize_meta *meta, aq_error *error)
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
    snapshot->act_rule = meta->act_rule;
    return 0;
}

int aq_quantize(const aq_net_spec *spec, const aq_params *params, const aq_quantize_plan *plan,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot, aq_error *error)
{
    uint32_t layer_formats[AQ_NET_LAYERS_MAX];
    aq_snapshot *snapshot = NULL;
    int rc = aq_net_spec_validate(spec, error);
    if (rc != 0) {
        return rc;
    }
    convert_layer *convert = converter_of(plan->format);
    if (convert == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "quantize: format %u is not known", plan->format);
    }
    rc = check_finite(spec, params, error);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        layer_formats[i] = plan->format;
    }
    rc = aq_snapshot_create(spec, layer_formats, &snapshot);
    if (rc != 0) {
        return aq_fail(error, rc, "quantize: no room for the policy: %s", aq_error_text(rc));
    }
    rc = set_meta(snapshot, meta, error);
    if (rc != 0) {
        goto fail;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        aq_snapshot_layer_data to;
        aq_snapshot_layer_edit(snapshot, i, &to);
        convert(&spec->layers[i], params->weight[i], &to);
        memcpy(to.bias, params->bias[i], spec->layers[i].outputs * sizeof(float));
    }
    /* The other end of the same checks: what leaves here is what an engine accepts. */
    rc = aq_snapshot_validate(snapshot, error);
    if (rc != 0) {
        goto fail;
    }
    *ret_snapshot = snapshot;
    return 0;

fail:
    aq_snapshot_unref(snapshot);
    return rc;
}

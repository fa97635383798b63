/*
 * aq_snapshot_validate: every byte of a policy is looked at once before an actor acts on it.
 *
 * The workload is one snapshot of up to some megabytes a second, on the thread that receives it, so
 * the loops over tensors are branch-free and left to the compiler's vectorizer.
 */
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "common/rl/finite.h"
#include "common/rl/snapshot.h"

/* q * scale must stay a number for the largest q. */
#define SCALE_MAX (FLT_MAX / 127.0f)

static int check_task(const char *task, aq_error *error)
{
    if (memchr(task, '\0', AQ_TASK_NAME_MAX) == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name does not end");
    }
    if (task[0] == '\0') {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is empty");
    }
    for (const char *at = task; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is not printable");
        }
    }
    return 0;
}

static int check_header(const aq_snapshot *snapshot, aq_error *error)
{
    if (snapshot->version == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: version 0; versions start at 1");
    }
    int rc = check_task(snapshot->task, error);
    if (rc != 0) {
        return rc;
    }
    const aq_quant_error *measured = &snapshot->quant_error;
    if (!(measured->action_disagreement >= 0.0f && measured->action_disagreement <= 1.0f)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a share of differing actions of %g",
                       (double)measured->action_disagreement);
    }
    if (!(measured->output_rms >= 0.0f && measured->output_rms <= FLT_MAX) ||
        !(measured->output_max >= 0.0f && measured->output_max <= FLT_MAX)) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy: an output error of rms %g, maximum %g is no measurement",
                       (double)measured->output_rms, (double)measured->output_max);
    }
    return 0;
}

static int check_spec(const aq_net_spec *spec, aq_error *error)
{
    aq_error why;
    if (aq_net_spec_validate(spec, &why) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: %s", why.text);
    }
    return 0;
}

/* The network takes what the environment shows and answers what the act rule reads. */
static int check_fit(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_schema *schema = &snapshot->schema;
    int rc = aq_schema_validate(schema, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy");
    }
    if (schema->obs.kind != AQ_SPACE_BOX) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: a network cannot take an observation that is a discrete choice");
    }
    uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    if (aq_space_elements(&schema->obs) != inputs) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network takes %u values, an observation has %zu", inputs,
                       aq_space_elements(&schema->obs));
    }
    if (snapshot->act_rule != AQ_ACT_ARGMAX) {
        return aq_fail(error, AQ_E_VERSION, "policy: unknown rule to act by %u",
                       snapshot->act_rule);
    }
    if (schema->action.kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the greatest output can choose only a discrete action");
    }
    uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    if (outputs != schema->action.choice_count) {
        return aq_fail(error, AQ_E_SCHEMA, "policy: the network gives %u values for %u choices",
                       outputs, schema->action.choice_count);
    }
    return 0;
}

static int check_finite(const float *values, size_t rows, size_t row_values, uint32_t layer,
                        const char *name, aq_error *error)
{
    size_t bad = aq_find_nonfinite(values, rows * row_values);
    if (bad == rows * row_values) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT, "policy: layer %u, row %zu: a %s is NaN or infinite", layer,
                   bad / row_values, name);
}

static int check_int8_row(const int8_t *row, uint32_t inputs, int32_t sum_claimed, uint32_t layer,
                          uint32_t output, aq_error *error)
{
    int32_t sum = 0;
    int8_t smallest = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += row[i];
        smallest = row[i] < smallest ? row[i] : smallest;
    }
    if (smallest < -127) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy: layer %u, row %u: a weight of -128; -127 to 127 are possible",
                       layer, output);
    }
    if (sum != sum_claimed) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy: layer %u, row %u: the weights add up to %d, not to %d", layer,
                       output, sum, sum_claimed);
    }
    return 0;
}

static int check_int8(const aq_layer_spec *spec, const aq_snapshot_layer *view, uint32_t layer,
                      aq_error *error)
{
    const int8_t *weights = view->weights;
    for (uint32_t output = 0; output < spec->outputs; output++) {
        float scale = view->scale[output];
        if (!(scale > 0.0f && scale <= SCALE_MAX)) {
            return aq_fail(error, AQ_E_CORRUPT, "policy: layer %u, row %u: a scale of %g", layer,
                           output, (double)scale);
        }
        int rc = check_int8_row(weights + (size_t)output * spec->inputs, spec->inputs,
                                view->sum[output], layer, output, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* The tensors have the sizes that the network's shape asks for, so no row is read past its end. */
static int check_sizes(const aq_layer_spec *spec, const aq_snapshot_layer *view, uint32_t layer,
                       aq_error *error)
{
    size_t element_bytes;
    switch (view->format) {
    case AQ_FORMAT_F32:
        element_bytes = sizeof(float);
        break;
    case AQ_FORMAT_INT8_CHANNEL:
        element_bytes = sizeof(int8_t);
        break;
    default:
        return aq_fail(error, AQ_E_VERSION, "policy: layer %u: unknown weight format %u", layer,
                       view->format);
    }
    bool scaled = view->format != AQ_FORMAT_F32;
    if (view->weights_bytes != (size_t)spec->inputs * spec->outputs * element_bytes ||
        (view->scale != NULL) != scaled || (view->sum != NULL) != scaled) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: layer %u: tensors of another size or format",
                       layer);
    }
    return 0;
}

static int check_layer(const aq_snapshot *snapshot, uint32_t layer, aq_error *error)
{
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    const aq_snapshot_layer *view = &snapshot->layers[layer];
    int rc = check_sizes(spec, view, layer, error);
    if (rc == 0) {
        rc = view->format == AQ_FORMAT_F32
                 ? check_finite(view->weights, spec->outputs, spec->inputs, layer, "weight", error)
                 : check_int8(spec, view, layer, error);
    }
    if (rc == 0) {
        rc = check_finite(view->bias, spec->outputs, 1, layer, "bias", error);
    }
    return rc;
}

int aq_snapshot_validate(const aq_snapshot *snapshot, aq_error *error)
{
    int rc = check_header(snapshot, error);
    if (rc == 0) {
        rc = check_spec(&snapshot->spec, error);
    }
    if (rc == 0) {
        rc = check_fit(snapshot, error);
    }
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = check_layer(snapshot, i, error);
    }
    return rc;
}

/*
 * The reference forward pass: activations, and the walk over the layers. What a layer computes is
 * its kind's row (layer_kind.h). Sums are taken in double and rounded once, so that what faster
 * paths are compared with is the equation and not one of its orders of summation.
 */
#include "common/nn/forward.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/policy/layer_kind.h"
#include "common/policy/net_graph.h"

/* Written so that NaN comes out as NaN: a broken number must not become a plausible one. */
static void relu(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = values[i] < 0.0f ? 0.0f : values[i];
    }
}

static void hyperbolic_tangent(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = tanhf(values[i]);
    }
}

/* expm1, because exp(x) - 1 loses the digits of a small x. */
static void elu(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = values[i] > 0.0f ? values[i] : expm1f(values[i]);
    }
}

void aq_activate(uint32_t activation, float *values, size_t count)
{
    switch (activation) {
    case AQ_ACTIVATION_RELU:
        relu(values, count);
        break;
    case AQ_ACTIVATION_TANH:
        hyperbolic_tangent(values, count);
        break;
    case AQ_ACTIVATION_ELU:
        elu(values, count);
        break;
    default:
        AQ_ASSERT(activation == AQ_ACTIVATION_NONE);
        break;
    }
}

/* ---- the network ---------------------------------------------------------------------------- */

size_t aq_forward_scratch(const aq_net_spec *spec, size_t rows)
{
    return aq_net_inner_buffers(spec).count * rows * aq_net_spec_width_max(spec);
}

/* y (rows, outputs) = layer(the values that it takes) */
static void forward_layer(const aq_net_spec *spec, const aq_params *params, uint32_t index,
                          const float *const *values, size_t rows, float *y)
{
    const aq_layer_spec *layer = &spec->layers[index];
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    const aq_layer_sources sources = aq_net_sources(spec, index);
    for (size_t row = 0; row < rows; row++) {
        const float *x[AQ_LAYER_SOURCES_MAX];
        for (uint32_t k = 0; k < sources.count; k++) {
            const uint32_t value = sources.values[k];
            x[k] = values[value] + row * aq_net_value_width(spec, value);
        }
        kind->forward(layer, params->weight[index], params->bias[index], x,
                      y + row * layer->outputs);
    }
    aq_activate(layer->activation, y, rows * layer->outputs);
}

void aq_forward_visit(const aq_net_spec *spec, const aq_params *params, const float *in,
                      size_t rows, float *scratch, float *out, const aq_forward_visitor *visitor)
{
    const aq_net_buffers buffers = aq_net_inner_buffers(spec);
    const size_t buffer_size = rows * aq_net_spec_width_max(spec);
    const float *values[AQ_NET_VALUES_MAX] = {in};
    AQ_ASSERT(aq_net_end_count(spec) == 1);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        float *y = i + 1 == spec->layer_count ? out : scratch + buffers.of[1 + i] * buffer_size;
        if (visitor != NULL) {
            visitor->visit(visitor->user, i, values[aq_net_sources(spec, i).values[0]], rows);
        }
        forward_layer(spec, params, i, values, rows, y);
        values[1 + i] = y;
    }
}

void aq_forward_reference(const aq_net_spec *spec, const aq_params *params, const float *in,
                          size_t rows, float *scratch, float *out)
{
    aq_forward_visit(spec, params, in, rows, scratch, out, NULL);
}

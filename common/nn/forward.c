/*
 * The reference forward pass: activations, and the walk over the layers. What a layer computes is
 * its kind's row (layer_kind.h). Sums are taken in double and rounded once, so that what faster
 * paths are compared with is the equation and not one of its orders of summation.
 */
#include "common/nn/forward.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/policy/layer_kind.h"

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

void aq_forward_visit(const aq_net_spec *spec, const aq_params *params, const float *in,
                      size_t rows, float *scratch, float *out, const aq_forward_visitor *visitor)
{
    const size_t half = rows * aq_net_spec_width_max(spec); /* one is read, the other written */
    const float *x = in;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
        float *y = i + 1 == spec->layer_count ? out : scratch + (i % 2) * half;
        if (visitor != NULL) {
            visitor->visit(visitor->user, i, x, rows);
        }
        for (size_t row = 0; row < rows; row++) {
            kind->forward(layer, params->weight[i], params->bias[i], x + row * layer->inputs,
                          y + row * layer->outputs);
        }
        aq_activate(layer->activation, y, rows * layer->outputs);
        x = y;
    }
}

void aq_forward_reference(const aq_net_spec *spec, const aq_params *params, const float *in,
                          size_t rows, float *scratch, float *out)
{
    aq_forward_visit(spec, params, in, rows, scratch, out, NULL);
}

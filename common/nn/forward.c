/*
 * The reference forward pass: activations, and the walk over the layers. What a layer computes is
 * its kind's row (layer_kind.h). Sums are taken in double and rounded once, so that what faster
 * paths are compared with is the equation and not one of its orders of summation.
 */
#include "common/nn/forward.h"

#include <math.h>
#include <string.h>

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

/* A row of zeros behind the buffers is the state of who begins. */
size_t aq_forward_scratch(const aq_net_spec *spec, size_t rows)
{
    return aq_net_inner_buffers(spec).count * rows * aq_net_spec_width_max(spec) +
           aq_net_spec_state(spec);
}

typedef struct forward_pass {
    const aq_net_spec *spec;
    const aq_params *params;
    float *state;       /* (rows, its width); NULL: each row is the first step */
    const float *zeros; /* then, a row of it */
    uint32_t state_at;  /* of the layer at hand */
    const float *values[AQ_NET_VALUES_MAX];
} forward_pass;

/* What the layer keeps of that row. */
static float *state_of(const forward_pass *pass, size_t row)
{
    return pass->state + row * aq_net_spec_state(pass->spec) + pass->state_at;
}

/* y (rows, outputs) = layer(the values that it takes) */
static void forward_layer(const forward_pass *pass, uint32_t index, size_t rows, float *y)
{
    const aq_layer_spec *layer = &pass->spec->layers[index];
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    const aq_layer_sources sources = aq_net_sources(pass->spec, index);
    const uint32_t state = aq_layer_state(layer);
    for (size_t row = 0; row < rows; row++) {
        const float *x[1 + AQ_LAYER_SOURCES_MAX];
        uint32_t count = 0;
        if (state > 0) {
            x[count++] = pass->state != NULL ? state_of(pass, row) : pass->zeros;
        }
        for (uint32_t k = 0; k < sources.count; k++) {
            const uint32_t value = sources.values[k];
            x[count++] = pass->values[value] + row * aq_net_value_width(pass->spec, value);
        }
        kind->forward(layer, pass->params->weight[index], pass->params->bias[index], x,
                      y + row * layer->outputs);
        if (state > 0 && pass->state != NULL) {
            memcpy(state_of(pass, row), y + row * layer->outputs, state * sizeof(*y));
        }
    }
    aq_activate(layer->activation, y, rows * layer->outputs);
}

static void forward(forward_pass *pass, size_t rows, float *scratch, float *out,
                    const aq_forward_visitor *visitor)
{
    const aq_net_spec *spec = pass->spec;
    const aq_net_buffers buffers = aq_net_inner_buffers(spec);
    const size_t buffer_size = rows * aq_net_spec_width_max(spec);
    const uint32_t state = aq_net_spec_state(spec);
    if (state > 0) {
        pass->zeros = memset(scratch + buffers.count * buffer_size, 0, state * sizeof(*scratch));
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const bool keeps_state = aq_layer_state(&spec->layers[i]) > 0;
        float *y = i + 1 == spec->layer_count ? out : scratch + buffers.of[1 + i] * buffer_size;
        if (visitor != NULL && !keeps_state) {
            visitor->visit(visitor->user, i, pass->values[aq_net_sources(spec, i).values[0]], rows);
        }
        forward_layer(pass, i, rows, y);
        pass->state_at += aq_layer_state(&spec->layers[i]);
        pass->values[1 + i] = y;
    }
}

void aq_forward_visit(const aq_net_spec *spec, const aq_params *params, const float *in,
                      size_t rows, float *scratch, float *out, const aq_forward_visitor *visitor)
{
    forward_pass pass = {.spec = spec, .params = params, .values = {in}};
    forward(&pass, rows, scratch, out, visitor);
}

void aq_forward_step(const aq_net_spec *spec, const aq_params *params, const float *in,
                     float *state, size_t rows, float *scratch, float *out)
{
    forward_pass pass = {.spec = spec, .params = params, .state = state, .values = {in}};
    forward(&pass, rows, scratch, out, NULL);
}

void aq_forward_reference(const aq_net_spec *spec, const aq_params *params, const float *in,
                          size_t rows, float *scratch, float *out)
{
    aq_forward_visit(spec, params, in, rows, scratch, out, NULL);
}

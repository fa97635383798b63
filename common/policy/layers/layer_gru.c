/*
 * gru: a gated recurrent unit (Cho et al., 2014) as PyTorch has it. What the input has to say to
 * the three gates is a linear layer's, before it; what the state says is its own matrix.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

aq_layer_spec aq_layer_gru(uint32_t width)
{
    return (aq_layer_spec){.kind = AQ_LAYER_GRU,
                           .inputs = aq_layer_volume(AQ_GRU_GATES, width, 1),
                           .outputs = width,
                           .activation = AQ_ACTIVATION_NONE};
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_gru(layer->outputs);
    if (layer->activation != AQ_ACTIVATION_NONE) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: nothing can follow a gru layer", index);
    }
    return aq_layer_check_ends(layer, &made, AQ_NET_WIDTH_MAX, index, error);
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)snprintf(out, size, "gru%" PRIu32, layer->outputs);
}

static aq_layer_matrix_shape matrix(const aq_layer_spec *layer)
{
    return (aq_layer_matrix_shape){layer->inputs, layer->outputs};
}

static double said(const aq_layer_spec *layer, const float *weight, const float *bias,
                   const float *state, uint32_t row)
{
    double sum = (double)bias[row];
    for (uint32_t i = 0; i < layer->outputs; i++) {
        sum += (double)weight[(size_t)row * layer->outputs + i] * (double)state[i];
    }
    return sum;
}

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    const uint32_t width = layer->outputs;
    const float *state = x[0], *in = x[1];
    for (uint32_t i = 0; i < width; i++) {
        const uint32_t z_row = width + i, n_row = 2 * width + i;
        const double r = logistic((double)in[i] + said(layer, weight, bias, state, i));
        const double z = logistic((double)in[z_row] + said(layer, weight, bias, state, z_row));
        const double n = tanh((double)in[n_row] + r * said(layer, weight, bias, state, n_row));
        y[i] = (float)(n + z * ((double)state[i] - n));
    }
}

const aq_layer_kind aq_layer_kind_gru = {
    .name = "gru",
    .is_quantizable = true,
    .keeps_state = true,
    .check = check,
    .text = text,
    .matrix = matrix,
    .forward = forward,
};

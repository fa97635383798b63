/*
 * norm: y = g (x - mean) / sqrt(variance + AQ_NORM_EPSILON) + b. It begins as the identity.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/policy/layer_kind.h"

aq_layer_spec aq_layer_norm(uint32_t width, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_NORM, .inputs = width, .outputs = width, .activation = activation};
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_norm(layer->inputs, AQ_ACTIVATION_NONE);
    return aq_layer_check_ends(layer, &made, AQ_NET_IMAGE_MAX, index, error);
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)layer;
    (void)snprintf(out, size, "norm");
}

static aq_layer_matrix_shape matrix(const aq_layer_spec *layer)
{
    return (aq_layer_matrix_shape){layer->outputs, 1};
}

static void reset(const aq_layer_spec *layer, float *parameters, aq_rng *rng)
{
    (void)rng;
    for (uint32_t i = 0; i < layer->outputs; i++) {
        parameters[i] = 1.0f;
    }
    memset(parameters + layer->outputs, 0, layer->outputs * sizeof(*parameters));
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *values, float *y)
{
    const float *x = values[0];
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        sum += (double)x[i];
    }
    const double mean = sum / layer->inputs;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    }
    const double deviation = sqrt(squares / layer->inputs + (double)AQ_NORM_EPSILON);
    for (uint32_t i = 0; i < layer->inputs; i++) {
        y[i] = (float)((double)weight[i] * ((double)x[i] - mean) / deviation + (double)bias[i]);
    }
}

const aq_layer_kind aq_layer_kind_norm = {
    .name = "norm",
    .check = check,
    .text = text,
    .matrix = matrix,
    .reset = reset,
    .forward = forward,
};

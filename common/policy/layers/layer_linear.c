/*
 * linear: y = W x + b
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

aq_layer_spec aq_layer_linear(uint32_t inputs, uint32_t outputs, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_LINEAR, .inputs = inputs, .outputs = outputs, .activation = activation};
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    return aq_layer_check_ends(layer, NULL, AQ_NET_WIDTH_MAX, index, error);
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)snprintf(out, size, "%" PRIu32, layer->outputs);
}

static aq_layer_matrix_shape matrix(const aq_layer_spec *layer)
{
    return (aq_layer_matrix_shape){layer->outputs, layer->inputs};
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    for (uint32_t row = 0; row < layer->outputs; row++) {
        const float *w = weight + (size_t)row * layer->inputs;
        double sum = bias[row];
        for (uint32_t i = 0; i < layer->inputs; i++) {
            sum += (double)w[i] * (double)x[0][i];
        }
        y[row] = (float)sum;
    }
}

const aq_layer_kind aq_layer_kind_linear = {
    .name = "linear",
    .is_quantizable = true,
    .is_affine = true,
    .check = check,
    .text = text,
    .matrix = matrix,
    .forward = forward,
};

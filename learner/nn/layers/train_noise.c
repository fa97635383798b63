/*
 * noise: rows of a pass have the same noise e. What comes back goes to what it is added to as it
 * is, and times e to what is multiplied.
 */
#include <string.h>

#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

/* to (rows, outputs) = e * from + base, or without a base e * from. */
static void multiply(const aq_train_layer *layer, const float *restrict from, const float *base,
                     uint32_t rows, float *restrict to)
{
    const uint32_t width = layer->spec->outputs;
    const uint32_t group = width / aq_layer_noise_count(layer->spec);
    float *restrict noise = layer->scratch; /* of each output: so the loop below is vectors */
    for (uint32_t i = 0; i < width; i++) {
        noise[i] = layer->noise[i / group];
    }
    for (uint32_t row = 0; row < rows; row++, from += width, to += width) {
        for (uint32_t i = 0; i < width; i++) {
            to[i] = noise[i] * from[i] + (base != NULL ? base[i] : 0.0f);
        }
        base = base != NULL ? base + width : NULL;
    }
}

static size_t scratch_bytes(const aq_layer_spec *layer)
{
    return layer->outputs * sizeof(float);
}

static bool is_sum(const aq_train_layer *layer)
{
    return layer->spec->inputs > layer->spec->outputs;
}

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    const uint32_t width = layer->spec->outputs;
    multiply(layer, layer->x[is_sum(layer)], is_sum(layer) ? layer->x[0] : NULL, rows, layer->out);
    if (layer->spec->activation != AQ_ACTIVATION_NONE) {
        aq_passes_best()->bias_activate(layer->out,
                                        memset(layer->scratch, 0, width * sizeof(float)), rows,
                                        width, width, layer->spec->activation);
    }
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const uint32_t width = layer->spec->outputs;
    const bool is_added = is_sum(layer);
    if (layer->spec->activation != AQ_ACTIVATION_NONE) {
        aq_passes_best()->activate_backward(gradient->d, layer->out, rows, width,
                                            layer->spec->activation, layer->scratch);
    }
    if (is_added && gradient->wants_d_x[0]) {
        memcpy(gradient->d_x[0], gradient->d, (size_t)rows * width * sizeof(float));
    }
    if (gradient->wants_d_x[is_added]) {
        multiply(layer, gradient->d, NULL, rows, gradient->d_x[is_added]);
    }
}

const aq_train_kind aq_train_noise = {
    .scratch_bytes = scratch_bytes, .forward = forward, .backward = backward};

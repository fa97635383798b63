/*
 * norm: forward and back as one pass each (passes.h).
 */
#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

static size_t kept_bytes(const aq_layer_spec *layer)
{
    (void)layer;
    return sizeof(aq_norm_row);
}

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    aq_passes_best()->norm_forward(layer->x[0], layer->weight, layer->bias, rows,
                                   layer->spec->outputs, layer->spec->activation, layer->kept,
                                   layer->out);
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const aq_passes *passes = aq_passes_best();
    const uint32_t counted = gradient->counted_rows;
    const size_t at = (size_t)counted * layer->spec->outputs;
    aq_norm_backward pass = {
        .rows = counted,
        .width = layer->spec->outputs,
        .activation = layer->spec->activation,
        .d = gradient->d,
        .out = layer->out,
        .x = layer->x[0],
        .gain = layer->weight,
        .kept = layer->kept,
        .ret_d_gain = gradient->weight,
        .ret_d_bias = gradient->bias,
        .d_x = gradient->d_x[0],
    };
    passes->norm_backward(&pass);
    if (rows > counted) {
        pass.rows = rows - counted;
        pass.d += at;
        pass.out += at;
        pass.x += at;
        pass.kept += counted;
        pass.ret_d_gain = gradient->uncounted;
        pass.ret_d_bias = gradient->uncounted + layer->spec->outputs;
        pass.d_x += at;
        passes->norm_backward(&pass);
    }
}

const aq_train_kind aq_train_norm = {
    .kept_bytes = kept_bytes, .forward = forward, .backward = backward};

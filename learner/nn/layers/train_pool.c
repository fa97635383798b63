/*
 * pool: forward as actors do it; back, which value was the greatest is found anew.
 */
#include "common/sys/cpu.h"
#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"
#include "quantizer/kernels/float_passes.h"

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    const aq_layer_spec *spec = layer->spec;
    const aq_float_passes *passes = aq_float_passes_select(aq_cpu_flags());
    const aq_const_rows x = {.values = layer->x[0], .stride = spec->inputs};
    const aq_float_rows y = {.values = layer->out, .stride = spec->outputs, .rows = rows};
    passes->pool(&x, &spec->conv, &y);
    passes->activate(spec->activation, &y, spec->outputs);
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const aq_layer_spec *spec = layer->spec;
    if (!gradient->wants_d_x[0]) {
        return;
    }
    if (spec->activation != AQ_ACTIVATION_NONE) {
        aq_passes_best()->activate_backward(gradient->d, layer->out, rows, spec->outputs,
                                            spec->activation, gradient->uncounted);
    }
    for (size_t r = 0; r < rows; r++) {
        aq_passes_best()->pool_backward(&spec->conv, layer->x[0] + r * spec->inputs,
                                        gradient->d + r * spec->outputs,
                                        gradient->d_x[0] + r * spec->inputs);
    }
}

const aq_train_kind aq_train_pool = {.forward = forward, .backward = backward};

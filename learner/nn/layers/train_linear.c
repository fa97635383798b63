/*
 * linear: Z = X W^T + b;  dW = dZ^T X;  db = sum over rows of dZ;  dX = dZ W
 *
 * All products are sgemm: its cost per call (about 0.1 us) is below that of loops of our own even
 * for two outputs. What happens between them is one pass each (passes.h).
 */
#include <string.h>

#include <cblas.h>

#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    const int inputs = (int)layer->spec->inputs, outputs = (int)layer->spec->outputs;
    if (layer->spec->activation == AQ_ACTIVATION_NONE) {
        /* The bias as what the sums begin with, instead of zeros and one more walk. */
        for (uint32_t r = 0; r < rows; r++) {
            memcpy(layer->out + (size_t)r * layer->spec->outputs, layer->bias,
                   layer->spec->outputs * sizeof(*layer->out));
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, outputs, inputs, 1.0f,
                    layer->x[0], inputs, layer->weight, inputs, 1.0f, layer->out, outputs);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, outputs, inputs, 1.0f,
                layer->x[0], inputs, layer->weight, inputs, 0.0f, layer->out, outputs);
    aq_passes_best()->bias_activate(layer->out, layer->bias, rows, layer->spec->outputs,
                                    layer->spec->activation);
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const int inputs = (int)layer->spec->inputs, outputs = (int)layer->spec->outputs;
    aq_train_activation_backward(layer, gradient, rows);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, outputs, inputs,
                (int)gradient->counted_rows, 1.0f, gradient->d, outputs, layer->x[0], inputs, 0.0f,
                gradient->weight, inputs);
    if (gradient->wants_d_x[0]) {
        const int first_row = (int)gradient->first_row, first_column = (int)gradient->first_column;
        const int columns = inputs - first_column;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows - first_row, columns,
                    outputs, 1.0f, gradient->d + (size_t)first_row * outputs, outputs,
                    layer->weight + first_column, inputs, 0.0f, gradient->d_x[0], columns);
    }
}

const aq_train_kind aq_train_linear = {
    .gives_parts = true, .forward = forward, .backward = backward};

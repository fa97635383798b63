/*
 * The kinds of layers that can be trained.
 *
 * All products are sgemm: its cost per call (about 0.1 us) is below that of loops of our own even
 * for two outputs. What happens between them is one pass each (passes.h).
 */
#include "learner/nn/train_layers.h"

#include <string.h>

#include <cblas.h>

#include "common/base/assert.h"
#include "common/nn/forward.h"

/* Through the activation; the counted rows add up to the gradient of the bias. */
static void activation_backward(const aq_train_layer *layer,
                                const aq_train_layer_gradient *gradient, uint32_t rows)
{
    const aq_passes *passes = aq_passes_best();
    const uint32_t counted = gradient->counted_rows;
    const size_t at = (size_t)counted * layer->spec->outputs;

    passes->activate_backward(gradient->d, layer->out, counted, layer->spec->outputs,
                              layer->spec->activation, gradient->bias);
    if (rows > counted && layer->spec->activation != AQ_ACTIVATION_NONE) {
        passes->activate_backward(gradient->d + at, layer->out + at, rows - counted,
                                  layer->spec->outputs, layer->spec->activation,
                                  gradient->uncounted);
    }
}

/* ---- linear --------------------------------------------------------------------------------- */

static void linear_forward(const aq_train_layer *layer, uint32_t rows)
{
    const int inputs = (int)layer->spec->inputs, outputs = (int)layer->spec->outputs;

    if (layer->spec->activation == AQ_ACTIVATION_NONE) {
        /* The bias as what the sums begin with, instead of zeros and one more walk. */
        for (uint32_t r = 0; r < rows; r++) {
            memcpy(layer->out + (size_t)r * layer->spec->outputs, layer->bias,
                   layer->spec->outputs * sizeof(*layer->out));
        }
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, outputs, inputs, 1.0f,
                    layer->x, inputs, layer->weight, inputs, 1.0f, layer->out, outputs);
        return;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, outputs, inputs, 1.0f, layer->x,
                inputs, layer->weight, inputs, 0.0f, layer->out, outputs);
    aq_passes_best()->bias_activate(layer->out, layer->bias, rows, layer->spec->outputs,
                                    layer->spec->activation);
}

static void linear_backward(const aq_train_layer *layer, const aq_train_layer_gradient *gradient,
                            uint32_t rows)
{
    const int inputs = (int)layer->spec->inputs, outputs = (int)layer->spec->outputs;

    activation_backward(layer, gradient, rows);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, outputs, inputs,
                (int)gradient->counted_rows, 1.0f, gradient->d, outputs, layer->x, inputs, 0.0f,
                gradient->weight, inputs);
    if (gradient->wants_d_x) {
        const int first_row = (int)gradient->first_row, first_column = (int)gradient->first_column;
        const int columns = inputs - first_column;

        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows - first_row, columns,
                    outputs, 1.0f, gradient->d + (size_t)first_row * outputs, outputs,
                    layer->weight + first_column, inputs, 0.0f, gradient->d_x, columns);
    }
}

/* ---- norm ----------------------------------------------------------------------------------- */

static void norm_forward(const aq_train_layer *layer, uint32_t rows)
{
    aq_passes_best()->norm_forward(layer->x, layer->weight, layer->bias, rows, layer->spec->outputs,
                                   layer->spec->activation, layer->normed, layer->out);
}

static void norm_backward(const aq_train_layer *layer, const aq_train_layer_gradient *gradient,
                          uint32_t rows)
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
        .x = layer->x,
        .gain = layer->weight,
        .kept = layer->normed,
        .ret_d_gain = gradient->weight,
        .ret_d_bias = gradient->bias,
        .d_x = gradient->d_x,
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

/* ---- dueling -------------------------------------------------------------------------------- */

/* Sum over the choices of values (choices, atoms) at one atom. */
static float sum_choices(const float *values, const aq_head_shape *head, uint32_t atom)
{
    float sum = 0.0f;

    for (uint32_t c = 0; c < head->choices; c++) {
        sum += values[(size_t)c * head->atoms + atom];
    }
    return sum;
}

static void dueling_forward(const aq_train_layer *layer, uint32_t rows)
{
    const aq_head_shape *head = &layer->spec->head;
    const float *x = layer->x;
    float *out = layer->out;

    for (uint32_t r = 0; r < rows; r++, x += layer->spec->inputs, out += layer->spec->outputs) {
        const float *advantages = x + head->atoms; /* the value is in front */

        for (uint32_t k = 0; k < head->atoms; k++) {
            const float level = x[k] - sum_choices(advantages, head, k) / (float)head->choices;

            for (uint32_t c = 0; c < head->choices; c++) {
                const size_t at = (size_t)c * head->atoms + k;

                out[at] = level + advantages[at];
            }
        }
    }
}

/* d_value = sum over choices of d;  d_advantage[c] = d[c] - that / choices */
static void dueling_backward(const aq_train_layer *layer, const aq_train_layer_gradient *gradient,
                             uint32_t rows)
{
    const aq_head_shape *head = &layer->spec->head;
    const float *d = gradient->d;
    float *d_x = gradient->d_x;

    for (uint32_t r = 0; r < rows; r++, d += layer->spec->outputs, d_x += layer->spec->inputs) {
        for (uint32_t k = 0; k < head->atoms; k++) {
            const float sum = sum_choices(d, head, k);
            const float mean = sum / (float)head->choices;

            d_x[k] = sum;
            for (uint32_t c = 0; c < head->choices; c++) {
                d_x[(size_t)(1 + c) * head->atoms + k] = d[(size_t)c * head->atoms + k] - mean;
            }
        }
    }
}

/* ---- categorical ---------------------------------------------------------------------------- */

/* The probabilities of all choices of one row, and the mean of one choice's atoms. */
static float mean_atom(const float *probabilities, const aq_head_shape *head)
{
    float mean = 0.0f;

    for (uint32_t k = 0; k < head->atoms; k++) {
        mean += probabilities[k] * aq_head_atom(head, k);
    }
    return mean;
}

static void categorical_forward(const aq_train_layer *layer, uint32_t rows)
{
    const aq_head_shape *head = &layer->spec->head;
    const size_t choices = (size_t)rows * head->choices;

    aq_passes_best()->softmax(layer->x, choices, head->atoms, layer->kept);
    for (size_t c = 0; c < choices; c++) {
        layer->out[c] = mean_atom(layer->kept + c * head->atoms, head);
    }
}

/* d_x[c][k] = d[c] * p[c][k] * (atom[k] - y[c]) */
static void categorical_backward(const aq_train_layer *layer,
                                 const aq_train_layer_gradient *gradient, uint32_t rows)
{
    const aq_head_shape *head = &layer->spec->head;
    const size_t choices = (size_t)rows * head->choices;

    for (size_t c = 0; c < choices; c++) {
        const float *probabilities = layer->kept + c * head->atoms;
        float *d_x = gradient->d_x + c * head->atoms;

        for (uint32_t k = 0; k < head->atoms; k++) {
            d_x[k] = gradient->d[c] * probabilities[k] * (aq_head_atom(head, k) - layer->out[c]);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static const aq_train_layer_kind kinds[] = {
    [AQ_LAYER_LINEAR] = {linear_forward, linear_backward},
    [AQ_LAYER_NORM] = {norm_forward, norm_backward},
    [AQ_LAYER_DUELING] = {dueling_forward, dueling_backward},
    [AQ_LAYER_CATEGORICAL] = {categorical_forward, categorical_backward},
};

const aq_train_layer_kind *aq_train_layer_kind_of(uint32_t kind)
{
    return kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].forward != NULL ? &kinds[kind]
                                                                                  : NULL;
}

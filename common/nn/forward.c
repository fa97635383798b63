/*
 * The reference forward pass. Sums are taken in double and rounded once, so that what faster paths
 * are compared with is the equation and not one of its orders of summation.
 */
#include "common/nn/forward.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"

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

/* ---- kinds of layers: one row of x to one row of y ------------------------------------------- */

typedef struct layer_parameters {
    const float *weight, *bias;
} layer_parameters;

/* y (rows) = W (rows, columns) x (columns) + b (rows) */
static void multiply(const aq_layer_matrix_shape *matrix, const layer_parameters *own,
                     const float *x, float *y)
{
    for (uint32_t row = 0; row < matrix->rows; row++) {
        const float *w = own->weight + (size_t)row * matrix->columns;
        double sum = own->bias[row];
        for (uint32_t i = 0; i < matrix->columns; i++) {
            sum += (double)w[i] * (double)x[i];
        }
        y[row] = (float)sum;
    }
}

static void linear_row(const aq_layer_spec *layer, const layer_parameters *own, const float *x,
                       float *y)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    multiply(&matrix, own, x, y);
}

/* One filter at one pixel; (top, left) is the patch's corner, beyond the image where padded. */
static double convolve(const aq_conv_shape *conv, const float *w, const float *x, int64_t top,
                       int64_t left)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < conv->kernel; i++) {
        for (uint32_t j = 0; j < conv->kernel; j++) {
            const int64_t row = top + i;
            const int64_t column = left + j;
            if (row < 0 || row >= conv->height || column < 0 || column >= conv->width) {
                continue;
            }
            const float *pixel = x + (size_t)(row * conv->width + column) * conv->channels;
            const float *weight = w + ((size_t)i * conv->kernel + j) * conv->channels;
            for (uint32_t c = 0; c < conv->channels; c++) {
                sum += (double)weight[c] * (double)pixel[c];
            }
        }
    }
    return sum;
}

static void conv_row(const aq_layer_spec *layer, const layer_parameters *own, const float *x,
                     float *y)
{
    const aq_conv_shape *conv = &layer->conv;
    const size_t columns = aq_layer_matrix(layer).columns;
    const uint32_t width = aq_conv_out_width(conv);
    for (uint32_t pixel = 0; pixel < aq_layer_patches(layer); pixel++) {
        const int64_t top = (int64_t)(pixel / width) * conv->stride - conv->padding;
        const int64_t left = (int64_t)(pixel % width) * conv->stride - conv->padding;
        for (uint32_t filter = 0; filter < conv->filters; filter++) {
            const double sum = convolve(conv, own->weight + filter * columns, x, top, left);
            y[(size_t)pixel * conv->filters + filter] = (float)(sum + (double)own->bias[filter]);
        }
    }
}

static void norm_row(const aq_layer_spec *layer, const layer_parameters *own, const float *x,
                     float *y)
{
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
        y[i] = (float)((double)own->weight[i] * ((double)x[i] - mean) / deviation +
                       (double)own->bias[i]);
    }
}

static void dueling_row(const aq_layer_spec *layer, const layer_parameters *own, const float *x,
                        float *y)
{
    const uint32_t atoms = layer->head.atoms;
    const uint32_t choices = layer->head.choices;
    (void)own;
    for (uint32_t k = 0; k < atoms; k++) {
        double sum = 0.0;
        for (uint32_t c = 0; c < choices; c++) {
            sum += (double)x[(size_t)(1 + c) * atoms + k];
        }
        for (uint32_t c = 0; c < choices; c++) {
            y[(size_t)c * atoms + k] =
                (float)((double)x[k] + (double)x[(size_t)(1 + c) * atoms + k] - sum / choices);
        }
    }
}

float aq_head_atom(const aq_head_shape *head, uint32_t k)
{
    const double step = ((double)head->high - (double)head->low) / (head->atoms - 1);
    return (float)((double)head->low + step * k);
}

/* probability (atoms) = softmax(logits (atoms)) */
static void softmax(const float *logits, uint32_t atoms, float *probability)
{
    float greatest = logits[0];
    double sum = 0.0;
    for (uint32_t k = 1; k < atoms; k++) {
        greatest = logits[k] > greatest ? logits[k] : greatest;
    }
    for (uint32_t k = 0; k < atoms; k++) {
        sum += exp((double)logits[k] - (double)greatest);
    }
    for (uint32_t k = 0; k < atoms; k++) {
        probability[k] = (float)(exp((double)logits[k] - (double)greatest) / sum);
    }
}

static void categorical_row(const aq_layer_spec *layer, const layer_parameters *own, const float *x,
                            float *y)
{
    float probability[AQ_NET_ATOMS_MAX];
    const aq_head_shape *head = &layer->head;
    (void)own;
    for (uint32_t c = 0; c < head->choices; c++) {
        double sum = 0.0;
        softmax(x + (size_t)c * head->atoms, head->atoms, probability);
        for (uint32_t k = 0; k < head->atoms; k++) {
            sum += (double)probability[k] * (double)aq_head_atom(head, k);
        }
        y[c] = (float)sum;
    }
}

static void (*const kinds[])(const aq_layer_spec *layer, const layer_parameters *own,
                             const float *x, float *y) = {
    [AQ_LAYER_LINEAR] = linear_row,
    [AQ_LAYER_CONV2D] = conv_row,
    [AQ_LAYER_NORM] = norm_row,
    [AQ_LAYER_DUELING] = dueling_row,
    [AQ_LAYER_CATEGORICAL] = categorical_row,
};

/* ---- the network ---------------------------------------------------------------------------- */

void aq_forward_visit(const aq_net_spec *spec, const aq_params *params, const float *in,
                      size_t rows, float *scratch, float *out, const aq_forward_visitor *visitor)
{
    const size_t half = rows * aq_net_spec_width_max(spec); /* one is read, the other written */
    const float *x = in;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const layer_parameters own = {params->weight[i], params->bias[i]};
        float *y = i + 1 == spec->layer_count ? out : scratch + (i % 2) * half;
        if (visitor != NULL) {
            visitor->visit(visitor->user, i, x, rows);
        }
        for (size_t row = 0; row < rows; row++) {
            kinds[layer->kind](layer, &own, x + row * layer->inputs, y + row * layer->outputs);
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

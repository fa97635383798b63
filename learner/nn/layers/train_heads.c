/*
 * dueling and categorical: what stands at the end of networks of values.
 */
#include "learner/nn/train_layers.h"

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
    const float *x = layer->x[0];
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
static void dueling_backward(const aq_train_layer *layer, const aq_train_gradient *gradient,
                             uint32_t rows)
{
    const aq_head_shape *head = &layer->spec->head;
    const float *d = gradient->d;
    float *d_x = gradient->d_x[0];
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

const aq_train_kind aq_train_dueling = {.forward = dueling_forward, .backward = dueling_backward};

/* ---- categorical ---------------------------------------------------------------------------- */

/* What makes values of distributions has no parameters, and is part of the policy alone. */
const aq_train_kind aq_train_categorical = {.forward = NULL};

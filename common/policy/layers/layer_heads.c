/*
 * dueling and categorical: what stands at the end of networks of values, without parameters.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

enum { SHAPE_WORDS = sizeof(aq_head_shape) / sizeof(uint32_t) };

static int check_head(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t atoms_min,
                      uint32_t index, aq_error *error)
{
    const aq_head_shape *head = &layer->head;
    int rc =
        aq_layer_check_size(head->choices, AQ_NET_CHOICES_MAX, index, "number of choices", error);
    if (rc == 0) {
        rc = aq_layer_check_size(head->atoms, AQ_NET_ATOMS_MAX, index, "number of atoms", error);
    }
    if (rc == 0 && head->atoms < atoms_min) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: %u atoms are no distribution", index,
                     head->atoms);
    }
    if (rc == 0 && layer->activation != AQ_ACTIVATION_NONE) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: nothing can follow a head", index);
    }
    return rc != 0 ? rc : aq_layer_check_ends(layer, made, AQ_NET_IMAGE_MAX, index, error);
}

/* ---- dueling -------------------------------------------------------------------------------- */

aq_layer_spec aq_layer_dueling(uint32_t choices, uint32_t atoms)
{
    return (aq_layer_spec){.kind = AQ_LAYER_DUELING,
                           .inputs = aq_layer_volume(1 + choices, atoms, 1),
                           .outputs = aq_layer_volume(choices, atoms, 1),
                           .activation = AQ_ACTIVATION_NONE,
                           .head = {.choices = choices, .atoms = atoms}};
}

static int check_dueling(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_dueling(layer->head.choices, layer->head.atoms);
    return check_head(layer, &made, 1, index, error);
}

static void dueling_text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)snprintf(out, size, "dueling%" PRIu32, layer->head.choices);
}

static void dueling_forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                            const float *const *values, float *y)
{
    const float *x = values[0];
    const uint32_t atoms = layer->head.atoms;
    const uint32_t choices = layer->head.choices;
    (void)weight;
    (void)bias;
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

const aq_layer_kind aq_layer_kind_dueling = {
    .name = "dueling",
    .shape_words = SHAPE_WORDS,
    .check = check_dueling,
    .text = dueling_text,
    .forward = dueling_forward,
};

/* ---- categorical ---------------------------------------------------------------------------- */

aq_layer_spec aq_layer_categorical(const aq_head_shape *shape)
{
    return (aq_layer_spec){.kind = AQ_LAYER_CATEGORICAL,
                           .inputs = aq_layer_volume(shape->choices, shape->atoms, 1),
                           .outputs = shape->choices,
                           .activation = AQ_ACTIVATION_NONE,
                           .head = *shape};
}

static int check_categorical(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_head_shape *head = &layer->head;
    const aq_layer_spec made = aq_layer_categorical(head);
    int rc = check_head(layer, &made, 2, index, error);
    /* Written so that NaN fails it. */
    if (rc == 0 && !(head->low >= -FLT_MAX && head->low < head->high && head->high <= FLT_MAX)) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: atoms from %g to %g", index, (double)head->low,
                     (double)head->high);
    }
    return rc;
}

static void categorical_text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)snprintf(out, size, "atoms%" PRIu32, layer->head.atoms);
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

static void categorical_forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                                const float *const *x, float *y)
{
    float probability[AQ_NET_ATOMS_MAX];
    const aq_head_shape *head = &layer->head;
    (void)weight;
    (void)bias;
    for (uint32_t c = 0; c < head->choices; c++) {
        double sum = 0.0;
        softmax(x[0] + (size_t)c * head->atoms, head->atoms, probability);
        for (uint32_t k = 0; k < head->atoms; k++) {
            sum += (double)probability[k] * (double)aq_head_atom(head, k);
        }
        y[c] = (float)sum;
    }
}

const aq_layer_kind aq_layer_kind_categorical = {
    .name = "categorical",
    .shape_words = SHAPE_WORDS,
    .has_distributions = true,
    .check = check_categorical,
    .text = categorical_text,
    .forward = categorical_forward,
};

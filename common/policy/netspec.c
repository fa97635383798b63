/*
 * Building, checking and describing a network. All of it is safe on a description that came from a
 * peer and was not checked yet: the layer count is clamped before it indexes the array.
 */
#include "common/policy/netspec.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/fnv1a.h"

static uint32_t layer_count(const aq_net_spec *spec)
{
    return spec->layer_count < AQ_NET_LAYERS_MAX ? spec->layer_count : AQ_NET_LAYERS_MAX;
}

int aq_net_spec_init_mlp(uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                         uint32_t outputs, enum aq_activation activation, aq_net_spec *ret_spec,
                         aq_error *error)
{
    if (hidden_count > AQ_NET_LAYERS_MAX - 1) {
        return aq_fail(error, AQ_E_INVALID, "%u hidden layers; at most %d are possible",
                       hidden_count, AQ_NET_LAYERS_MAX - 1);
    }
    aq_net_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.layer_count = hidden_count + 1;
    uint32_t width = inputs;
    for (uint32_t i = 0; i < hidden_count; i++) {
        spec.layers[i] = aq_layer_linear(width, hidden[i], activation);
        width = hidden[i];
    }
    spec.layers[hidden_count] = aq_layer_linear(width, outputs, AQ_ACTIVATION_NONE);
    int rc = aq_net_spec_validate(&spec, error);
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

int aq_net_spec_add(aq_net_spec *spec, const aq_layer_spec *layer, aq_error *error)
{
    if (spec->layer_count >= AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "more than %d layers", AQ_NET_LAYERS_MAX);
    }
    spec->layers[spec->layer_count++] = *layer;
    return 0;
}

int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error)
{
    if (spec->layer_count < 1 || spec->layer_count > AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u layers; 1 to %d are possible", spec->layer_count,
                       AQ_NET_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        int rc = aq_layer_spec_validate(&spec->layers[i], i, error);
        if (rc != 0) {
            return rc;
        }
        if (i > 0 && spec->layers[i].inputs != spec->layers[i - 1].outputs) {
            return aq_fail(error, AQ_E_INVALID, "layer %u takes %u values, but layer %u gives %u",
                           i, spec->layers[i].inputs, i - 1, spec->layers[i - 1].outputs);
        }
    }
    return 0;
}

/* ---- hash ----------------------------------------------------------------------------------- */

static uint64_t hash_float(uint64_t hash, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    return aq_fnv1a_word(hash, word);
}

/* Only kinds that have a shape hash it, so that a plain network's hash stays what it was. */
static uint64_t hash_shape(uint64_t hash, const aq_layer_spec *layer)
{
    if (layer->kind == AQ_LAYER_CONV2D) {
        const aq_conv_shape *conv = &layer->conv;
        const uint32_t words[] = {conv->height, conv->width,  conv->channels, conv->filters,
                                  conv->kernel, conv->stride, conv->padding};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            hash = aq_fnv1a_word(hash, words[i]);
        }
    } else if (layer->kind == AQ_LAYER_DUELING || layer->kind == AQ_LAYER_CATEGORICAL) {
        hash = aq_fnv1a_word(hash, layer->head.choices);
        hash = aq_fnv1a_word(hash, layer->head.atoms);
        hash = hash_float(hash, layer->head.low);
        hash = hash_float(hash, layer->head.high);
    }
    return hash;
}

uint64_t aq_net_spec_hash(const aq_net_spec *spec)
{
    uint64_t hash = aq_fnv1a_word(AQ_FNV1A_START, spec->layer_count);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        hash = aq_fnv1a_word(hash, spec->layers[i].kind);
        hash = aq_fnv1a_word(hash, spec->layers[i].inputs);
        hash = aq_fnv1a_word(hash, spec->layers[i].outputs);
        hash = aq_fnv1a_word(hash, spec->layers[i].activation);
        hash = hash_shape(hash, &spec->layers[i]);
    }
    return aq_fnv1a_end(hash);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

size_t aq_net_spec_parameters(const aq_net_spec *spec)
{
    size_t count = 0;
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        count += aq_layer_parameters(&spec->layers[i]);
    }
    return count;
}

uint32_t aq_net_spec_inputs(const aq_net_spec *spec)
{
    return spec->layers[0].inputs;
}

uint32_t aq_net_spec_outputs(const aq_net_spec *spec)
{
    AQ_ASSERT(spec->layer_count >= 1);
    return spec->layers[layer_count(spec) - 1].outputs;
}

uint32_t aq_net_spec_width_max(const aq_net_spec *spec)
{
    uint32_t width = aq_net_spec_inputs(spec);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        width = spec->layers[i].outputs > width ? spec->layers[i].outputs : width;
    }
    return width;
}

/* ---- text ----------------------------------------------------------------------------------- */

static const char *activation_suffix(uint32_t activation)
{
    static const char *const suffixes[] = {
        [AQ_ACTIVATION_NONE] = "",
        [AQ_ACTIVATION_RELU] = "r",
        [AQ_ACTIVATION_TANH] = "t",
        [AQ_ACTIVATION_ELU] = "e",
    };
    const bool known = activation >= AQ_ACTIVATION_NONE && activation <= AQ_ACTIVATION_ELU;
    return known ? suffixes[activation] : "?";
}

/* What stands after the dash. */
static void layer_text(const aq_layer_spec *layer, char *out, size_t size)
{
    const char *suffix = activation_suffix(layer->activation);
    switch (layer->kind) {
    case AQ_LAYER_LINEAR:
        snprintf(out, size, "%" PRIu32 "%s", layer->outputs, suffix);
        break;
    case AQ_LAYER_CONV2D:
        snprintf(out, size, "conv%" PRIu32 "/%" PRIu32 "x%" PRIu32 "%s", layer->conv.kernel,
                 layer->conv.stride, layer->conv.filters, suffix);
        break;
    case AQ_LAYER_NORM:
        snprintf(out, size, "norm%s", suffix);
        break;
    case AQ_LAYER_DUELING:
        snprintf(out, size, "dueling%" PRIu32, layer->head.choices);
        break;
    case AQ_LAYER_CATEGORICAL:
        snprintf(out, size, "atoms%" PRIu32, layer->head.atoms);
        break;
    default:
        snprintf(out, size, "?");
        break;
    }
}

const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size)
{
    AQ_ASSERT(size > 0);
    const aq_layer_spec *first = &spec->layers[0];
    size_t used;
    if (first->kind == AQ_LAYER_CONV2D) {
        used = (size_t)snprintf(out, size, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, first->conv.height,
                                first->conv.width, first->conv.channels);
    } else {
        used = (size_t)snprintf(out, size, "%" PRIu32, first->inputs);
    }
    for (uint32_t i = 0; i < layer_count(spec) && used < size; i++) {
        char text[48];
        layer_text(&spec->layers[i], text, sizeof(text));
        used += (size_t)snprintf(out + used, size - used, "-%s", text);
    }
    return out;
}

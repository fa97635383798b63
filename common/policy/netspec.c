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
#include "common/policy/layer_kind.h"

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

static uint64_t hash_layer(uint64_t hash, const aq_layer_spec *layer)
{
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    hash = aq_fnv1a_word(hash, layer->kind);
    hash = aq_fnv1a_word(hash, layer->inputs);
    hash = aq_fnv1a_word(hash, layer->outputs);
    hash = aq_fnv1a_word(hash, layer->activation);
    for (uint32_t i = 0; kind != NULL && i < kind->shape_words; i++) {
        hash = aq_fnv1a_word(hash, layer->shape[i]);
    }
    return hash;
}

uint64_t aq_net_spec_hash(const aq_net_spec *spec)
{
    uint64_t hash = aq_fnv1a_word(AQ_FNV1A_START, spec->layer_count);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        hash = hash_layer(hash, &spec->layers[i]);
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
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    if (kind != NULL) {
        kind->text(layer, out, size);
    } else {
        (void)snprintf(out, size, "?");
    }
}

const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size)
{
    AQ_ASSERT(size > 0);
    const aq_layer_spec *first = &spec->layers[0];
    const aq_layer_kind *kind = aq_layer_kind_of(first->kind);
    size_t used;
    if (kind != NULL && kind->takes_image) {
        used = (size_t)snprintf(out, size, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, first->shape[0],
                                first->shape[1], first->shape[2]);
    } else {
        used = (size_t)snprintf(out, size, "%" PRIu32, first->inputs);
    }
    for (uint32_t i = 0; i < layer_count(spec) && used < size; i++) {
        char text[48];
        layer_text(&spec->layers[i], text, sizeof(text));
        used += (size_t)snprintf(out + used, size - used, "-%s%s", text,
                                 activation_suffix(spec->layers[i].activation));
    }
    return out;
}

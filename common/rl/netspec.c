/*
 * Building, checking and describing a network. All of it is safe on a description that came from a
 * peer and was not checked yet: the layer count is clamped before it indexes the array.
 */
#include "common/rl/netspec.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/rl/fnv1a.h"

static uint32_t layer_count(const aq_net_spec *spec)
{
    return spec->layer_count < AQ_NET_LAYERS_MAX ? spec->layer_count : AQ_NET_LAYERS_MAX;
}

static bool is_activation(uint32_t value)
{
    return value >= AQ_ACTIVATION_NONE && value <= AQ_ACTIVATION_ELU;
}

static int validate_width(uint32_t width, const char *what, aq_error *error)
{
    if (width < 1 || width > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%s is %u wide; 1 to %u are possible", what, width,
                       AQ_NET_WIDTH_MAX);
    }
    return 0;
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
    for (uint32_t i = 0; i < spec.layer_count; i++) {
        bool last = i == hidden_count;
        spec.layers[i] = (aq_layer_spec){
            .kind = AQ_LAYER_LINEAR,
            .inputs = width,
            .outputs = last ? outputs : hidden[i],
            .activation = last ? AQ_ACTIVATION_NONE : activation,
        };
        width = spec.layers[i].outputs;
    }
    int rc = aq_net_spec_validate(&spec, error);
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

static int validate_layer(const aq_net_spec *spec, uint32_t index, aq_error *error)
{
    const aq_layer_spec *layer = &spec->layers[index];
    char what[32];
    if (layer->kind != AQ_LAYER_LINEAR) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown kind %u", index, layer->kind);
    }
    if (!is_activation(layer->activation)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown activation %u", index,
                       layer->activation);
    }
    if (index > 0 && layer->inputs != spec->layers[index - 1].outputs) {
        return aq_fail(error, AQ_E_INVALID, "layer %u takes %u values, but layer %u gives %u",
                       index, layer->inputs, index - 1, spec->layers[index - 1].outputs);
    }
    snprintf(what, sizeof(what), "layer %u: its input", index);
    int rc = validate_width(layer->inputs, what, error);
    if (rc == 0) {
        snprintf(what, sizeof(what), "layer %u: its output", index);
        rc = validate_width(layer->outputs, what, error);
    }
    return rc;
}

int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error)
{
    if (spec->layer_count < 1 || spec->layer_count > AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u layers; 1 to %d are possible", spec->layer_count,
                       AQ_NET_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        int rc = validate_layer(spec, i, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

uint64_t aq_net_spec_hash(const aq_net_spec *spec)
{
    uint64_t hash = aq_fnv1a_word(AQ_FNV1A_START, spec->layer_count);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        hash = aq_fnv1a_word(hash, spec->layers[i].kind);
        hash = aq_fnv1a_word(hash, spec->layers[i].inputs);
        hash = aq_fnv1a_word(hash, spec->layers[i].outputs);
        hash = aq_fnv1a_word(hash, spec->layers[i].activation);
    }
    return aq_fnv1a_end(hash);
}

size_t aq_net_spec_parameters(const aq_net_spec *spec)
{
    size_t count = 0;
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        count += ((size_t)spec->layers[i].inputs + 1) * spec->layers[i].outputs;
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

const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size)
{
    static const char *const suffixes[] = {
        [AQ_ACTIVATION_NONE] = "",
        [AQ_ACTIVATION_RELU] = "r",
        [AQ_ACTIVATION_TANH] = "t",
        [AQ_ACTIVATION_ELU] = "e",
    };
    AQ_ASSERT(size > 0);
    size_t used = (size_t)snprintf(out, size, "%u", aq_net_spec_inputs(spec));
    for (uint32_t i = 0; i < layer_count(spec) && used < size; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        bool known = is_activation(layer->activation);
        used += (size_t)snprintf(out + used, size - used, "-%u%s", layer->outputs,
                                 known ? suffixes[layer->activation] : "?");
    }
    return out;
}

static const char *const activation_names[] = {
    [AQ_ACTIVATION_NONE] = "none",
    [AQ_ACTIVATION_RELU] = "relu",
    [AQ_ACTIVATION_TANH] = "tanh",
    [AQ_ACTIVATION_ELU] = "elu",
};

int aq_activation_from_text(const char *text, enum aq_activation *ret_activation)
{
    for (uint32_t i = AQ_ACTIVATION_NONE; i <= AQ_ACTIVATION_ELU; i++) {
        if (strcmp(text, activation_names[i]) == 0) {
            *ret_activation = (enum aq_activation)i;
            return 0;
        }
    }
    return AQ_E_INVALID;
}

const char *aq_activation_name(uint32_t activation)
{
    return is_activation(activation) ? activation_names[activation] : "unknown";
}

/*
 * Networks to and from their messages.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_network.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/policy/netspec.h"
#include "common/wire/wire_frame.h"

static void layer_to(const aq_net_spec *spec, uint32_t index, aq_wire_network_view *view)
{
    const aq_layer_spec *layer = &spec->layers[index];
    Actorq__V1__Layer *message = &view->layers[index];
    actorq__v1__layer__init(message);
    message->kind = layer->kind;
    message->inputs = layer->inputs;
    message->outputs = layer->outputs;
    message->activation = layer->activation;
    if (!aq_net_is_chained(spec, index)) {
        message->n_sources = layer->sources.count;
        message->sources = aq_wire_lend(layer->sources.values);
    }
    message->n_shape = aq_layer_shape_words(layer->kind);
    message->shape = aq_wire_lend(layer->shape);
    view->layer_pointers[index] = message;
}

void aq_wire_network_to(const aq_net_spec *spec, aq_wire_network_view *ret_view)
{
    AQ_ASSERT(spec->layer_count <= AQ_NET_LAYERS_MAX);
    AQ_ASSERT(spec->array_count <= AQ_NET_ARRAYS_MAX);
    actorq__v1__network__init(&ret_view->message);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        layer_to(spec, i, ret_view);
    }
    ret_view->message.n_layers = spec->layer_count;
    ret_view->message.layers = ret_view->layer_pointers;
    for (uint32_t i = 0; i < spec->array_count; i++) {
        actorq__v1__network_array__init(&ret_view->arrays[i]);
        ret_view->arrays[i].name = aq_wire_text(spec->arrays[i].name);
        ret_view->arrays[i].count = spec->arrays[i].count;
        ret_view->array_pointers[i] = &ret_view->arrays[i];
    }
    ret_view->message.n_arrays = spec->array_count;
    ret_view->message.arrays = ret_view->array_pointers;
}

/* A list that is too long is not read; the check of the network refuses its length. */
static uint32_t length_of(size_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* A kind ignores what it has no use for, as it would any field that it does not know. What was not
 * sent is zero. */
static void layer_from(const Actorq__V1__Layer *message, aq_layer_spec *ret_layer)
{
    *ret_layer = (aq_layer_spec){
        .kind = message->kind,
        .inputs = message->inputs,
        .outputs = message->outputs,
        .activation = message->activation,
        .sources.count = length_of(message->n_sources),
    };
    for (size_t k = 0; message->n_sources <= AQ_LAYER_SOURCES_MAX && k < message->n_sources; k++) {
        ret_layer->sources.values[k] = message->sources[k];
    }
    const uint32_t words = aq_layer_shape_words(message->kind);
    for (uint32_t i = 0; i < words && i < message->n_shape; i++) {
        ret_layer->shape[i] = message->shape[i];
    }
}

int aq_wire_network_from(const Actorq__V1__Network *message, aq_net_spec *ret_spec, aq_error *error)
{
    aq_net_spec spec;
    aq_error why;
    if (message == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "the network is missing");
    }
    memset(&spec, 0, sizeof(spec));
    spec.layer_count = length_of(message->n_layers);
    spec.array_count = length_of(message->n_arrays);
    for (size_t i = 0; message->n_layers <= AQ_NET_LAYERS_MAX && i < message->n_layers; i++) {
        layer_from(message->layers[i], &spec.layers[i]);
    }
    for (size_t i = 0; message->n_arrays <= AQ_NET_ARRAYS_MAX && i < message->n_arrays; i++) {
        int rc =
            aq_wire_text_copy(spec.arrays[i].name, AQ_NET_ARRAY_NAME_MAX, message->arrays[i]->name,
                              "network: the name of an array", error);
        if (rc != 0) {
            return rc;
        }
        spec.arrays[i].count = message->arrays[i]->count;
    }
    if (aq_net_spec_validate(&spec, &why) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "network: %s", why.text);
    }
    *ret_spec = spec;
    return 0;
}

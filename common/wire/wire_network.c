/*
 * Networks to and from their messages.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_network.h"

#include <string.h>

#include "common/base/assert.h"

/* ---- shapes --------------------------------------------------------------------------------- */

static void conv_to(const aq_layer_spec *layer, aq_wire_shape_view *view,
                    Actorq__V1__Layer *message)
{
    const aq_conv_shape *conv = &layer->conv;
    actorq__v1__conv_shape__init(&view->conv);
    view->conv.height = conv->height;
    view->conv.width = conv->width;
    view->conv.channels = conv->channels;
    view->conv.filters = conv->filters;
    view->conv.kernel = conv->kernel;
    view->conv.stride = conv->stride;
    view->conv.padding = conv->padding;
    message->conv = &view->conv;
}

static void conv_from(const Actorq__V1__Layer *message, aq_layer_spec *layer)
{
    const Actorq__V1__ConvShape *conv = message->conv;
    if (conv != NULL) {
        layer->conv = (aq_conv_shape){conv->height, conv->width,  conv->channels, conv->filters,
                                      conv->kernel, conv->stride, conv->padding};
    }
}

static void head_to(const aq_layer_spec *layer, aq_wire_shape_view *view,
                    Actorq__V1__Layer *message)
{
    const aq_head_shape *head = &layer->head;
    actorq__v1__head_shape__init(&view->head);
    view->head.choices = head->choices;
    view->head.atoms = head->atoms;
    view->head.low = head->low;
    view->head.high = head->high;
    message->head = &view->head;
}

static void head_from(const Actorq__V1__Layer *message, aq_layer_spec *layer)
{
    const Actorq__V1__HeadShape *head = message->head;
    if (head != NULL) {
        layer->head = (aq_head_shape){head->choices, head->atoms, head->low, head->high};
    }
}

/* A kind without a shape ignores one that was sent, as it would any field that it does not know. */
typedef struct shape_row {
    void (*to)(const aq_layer_spec *layer, aq_wire_shape_view *view, Actorq__V1__Layer *message);
    void (*from)(const Actorq__V1__Layer *message, aq_layer_spec *layer);
} shape_row;

static const shape_row *shape_of(uint32_t kind)
{
    static const shape_row conv = {conv_to, conv_from}, head = {head_to, head_from};
    static const shape_row *const shapes[] = {
        [AQ_LAYER_CONV2D] = &conv,
        [AQ_LAYER_DUELING] = &head,
        [AQ_LAYER_CATEGORICAL] = &head,
    };
    return kind < sizeof(shapes) / sizeof(shapes[0]) ? shapes[kind] : NULL;
}

/* ---- networks ------------------------------------------------------------------------------- */

void aq_wire_network_to(const aq_net_spec *spec, aq_wire_network_view *ret_view)
{
    AQ_ASSERT(spec->layer_count <= AQ_NET_LAYERS_MAX);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        Actorq__V1__Layer *layer = &ret_view->layers[i];
        actorq__v1__layer__init(layer);
        layer->kind = spec->layers[i].kind;
        layer->inputs = spec->layers[i].inputs;
        layer->outputs = spec->layers[i].outputs;
        layer->activation = spec->layers[i].activation;
        const shape_row *shape = shape_of(layer->kind);
        if (shape != NULL) {
            shape->to(&spec->layers[i], &ret_view->shapes[i], layer);
        }
        ret_view->pointers[i] = layer;
    }
    actorq__v1__network__init(&ret_view->message);
    ret_view->message.n_layers = spec->layer_count;
    ret_view->message.layers = ret_view->pointers;
}

int aq_wire_network_from(const Actorq__V1__Network *message, aq_net_spec *ret_spec, aq_error *error)
{
    aq_net_spec spec;
    aq_error why;
    if (message == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "the network is missing");
    }
    if (message->n_layers > AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "network: %zu layers; 1 to %d are possible",
                       message->n_layers, AQ_NET_LAYERS_MAX);
    }
    memset(&spec, 0, sizeof(spec));
    spec.layer_count = (uint32_t)message->n_layers;
    for (size_t i = 0; i < message->n_layers; i++) {
        spec.layers[i] = (aq_layer_spec){
            .kind = message->layers[i]->kind,
            .inputs = message->layers[i]->inputs,
            .outputs = message->layers[i]->outputs,
            .activation = message->layers[i]->activation,
        };
        const shape_row *shape = shape_of(spec.layers[i].kind);
        if (shape != NULL) {
            shape->from(message->layers[i], &spec.layers[i]);
        }
    }
    if (aq_net_spec_validate(&spec, &why) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "network: %s", why.text);
    }
    *ret_spec = spec;
    return 0;
}

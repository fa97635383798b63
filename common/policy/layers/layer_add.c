/*
 * add: y = x[0] + x[1]
 */
#include <stdio.h>

#include "common/policy/layer_kind.h"

aq_layer_spec aq_layer_add(uint32_t width)
{
    return (aq_layer_spec){.kind = AQ_LAYER_ADD,
                           .inputs = aq_layer_volume(2, width, 1),
                           .outputs = width,
                           .activation = AQ_ACTIVATION_NONE};
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_add(layer->outputs);
    if (layer->activation != AQ_ACTIVATION_NONE) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: nothing can follow an add layer", index);
    }
    return aq_layer_check_ends(layer, &made, AQ_NET_IMAGE_MAX, index, error);
}

static int check_sources(const aq_layer_spec *layer, const uint32_t *widths, uint32_t count,
                         uint32_t index, aq_error *error)
{
    if (count != 2 || widths[0] != layer->outputs || widths[1] != layer->outputs) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: an add layer takes two values of width %u",
                       index, layer->outputs);
    }
    return 0;
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)layer;
    (void)snprintf(out, size, "add");
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    (void)weight;
    (void)bias;
    for (uint32_t i = 0; i < layer->outputs; i++) {
        y[i] = x[0][i] + x[1][i];
    }
}

const aq_layer_kind aq_layer_kind_add = {
    .name = "add",
    .joins_branch = true,
    .check = check,
    .check_sources = check_sources,
    .text = text,
    .forward = forward,
};

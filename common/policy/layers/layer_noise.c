/*
 * noise: y = x[0] + e x[1] of two values, or y = e x[0] of one, with e the noise of its outputs, of
 * which `group` in a row have the same number. Without noise e is 0.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

enum { GROUP }; /* the word of its shape */

aq_layer_spec aq_layer_noise(uint32_t width, uint32_t values, uint32_t group,
                             enum aq_activation activation)
{
    return (aq_layer_spec){.kind = AQ_LAYER_NOISE,
                           .inputs = aq_layer_volume(values, width, 1),
                           .outputs = width,
                           .activation = activation,
                           .shape = {[GROUP] = group}};
}

uint32_t aq_layer_noise_count(const aq_layer_spec *layer)
{
    return layer->kind == AQ_LAYER_NOISE ? layer->outputs / layer->shape[GROUP] : 0;
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const uint32_t group = layer->shape[GROUP], width = layer->outputs;
    const uint32_t values = layer->inputs == width ? 1 : 2;
    const aq_layer_spec made = aq_layer_noise(width, values, group, layer->activation);
    if (group < 1 || width % group != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "layer %u: noise for each %u of %u values; a divisor is possible", index,
                       group, width);
    }
    return aq_layer_check_ends(layer, &made, AQ_NET_IMAGE_MAX, index, error);
}

static int check_sources(const aq_layer_spec *layer, const uint32_t *widths, uint32_t count,
                         uint32_t index, aq_error *error)
{
    if (count > 2 || widths[0] != layer->outputs || widths[count - 1] != layer->outputs) {
        return aq_fail(error, AQ_E_INVALID,
                       "layer %u: a noise layer takes one value of width %u, or two", index,
                       layer->outputs);
    }
    return 0;
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    if (layer->shape[GROUP] > 1) {
        (void)snprintf(out, size, "noise/%" PRIu32, layer->shape[GROUP]);
    } else {
        (void)snprintf(out, size, "noise");
    }
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    (void)weight;
    (void)bias;
    for (uint32_t i = 0; i < layer->outputs; i++) {
        y[i] = layer->inputs > layer->outputs ? x[0][i] : 0.0f;
    }
}

const aq_layer_kind aq_layer_kind_noise = {
    .name = "noise",
    .shape_words = 1,
    .check = check,
    .check_sources = check_sources,
    .text = text,
    .forward = forward,
};

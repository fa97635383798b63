/*
 * Loops over at most AQ_NET_LAYERS_MAX layers, when something is made.
 */
#include "common/policy/net_graph.h"

#include <string.h>

/* ---- buffers -------------------------------------------------------------------------------- */

/* The last layer that takes the value. */
static uint32_t last_reader(const aq_net_spec *spec, uint32_t value)
{
    uint32_t last = value;
    for (uint32_t i = value; i < spec->layer_count; i++) {
        last = aq_net_takes(spec, i, value) > 0 ? i : last;
    }
    return last;
}

/* A value is needed from the layer that gives it to the last one that takes it. */
static aq_net_buffers buffers_of(const aq_net_spec *spec, bool is_inner)
{
    aq_net_buffers buffers = {0};
    uint32_t free_from[AQ_NET_VALUES_MAX]; /* layer, of each buffer */
    for (uint32_t value = is_inner; value + is_inner <= spec->layer_count; value++) {
        const uint32_t given_at = value > 0 ? value - 1 : 0;
        uint32_t buffer = 0;
        while (buffer < buffers.count && free_from[buffer] > given_at) {
            buffer++;
        }
        buffers.count = buffer == buffers.count ? buffer + 1 : buffers.count;
        buffers.of[value] = buffer;
        free_from[buffer] = last_reader(spec, value) + 1;
    }
    return buffers;
}

aq_net_buffers aq_net_all_buffers(const aq_net_spec *spec)
{
    return buffers_of(spec, false);
}

aq_net_buffers aq_net_inner_buffers(const aq_net_spec *spec)
{
    return buffers_of(spec, true);
}

/* ---- the means ------------------------------------------------------------------------------ */

/* A layer that adds noise is left out: its value is the mean that it adds to, behind its
 * activation. */
void aq_net_mean(const aq_net_spec *spec, aq_net_part *ret_part)
{
    bool acting[AQ_NET_LAYERS_MAX];
    uint32_t moved[AQ_NET_VALUES_MAX] = {0}; /* the value in the part */
    aq_net_find_acting(spec, acting);
    memset(ret_part, 0, sizeof(*ret_part));
    aq_net_spec *part = &ret_part->spec;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_sources sources = aq_net_sources(spec, i);
        if (!acting[i]) {
            continue;
        }
        if (aq_layer_noise_count(&spec->layers[i]) > 0) {
            moved[1 + i] = moved[sources.values[0]];
            part->layers[moved[1 + i] - 1].activation = spec->layers[i].activation;
            continue;
        }
        aq_layer_spec *layer = &part->layers[part->layer_count];
        *layer = spec->layers[i];
        layer->sources = sources;
        for (uint32_t k = 0; k < sources.count; k++) {
            layer->sources.values[k] = moved[sources.values[k]];
        }
        ret_part->layers[part->layer_count++] = i;
        moved[1 + i] = part->layer_count;
    }
    part->array_count = spec->array_count;
    memcpy(part->arrays, spec->arrays, sizeof(part->arrays));
}

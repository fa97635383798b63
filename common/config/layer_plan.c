/*
 * Layer plan: see layer_plan.h.
 */
#include "common/config/layer_plan.h"

#include <string.h>

#include "common/base/assert.h"

/* The layers that have a choice, in order. */
static uint32_t list_layers(const aq_net_spec *spec, uint32_t *layers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        if (aq_layer_is_quantizable(&spec->layers[i])) {
            layers[count++] = i;
        }
    }
    return count;
}

int aq_layer_plan(const aq_run_config *config, const aq_net_spec *spec,
                  uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error)
{
    aq_layer_format chosen[AQ_NET_LAYERS_MAX];
    uint32_t layers[AQ_NET_LAYERS_MAX];
    uint32_t chosen_count = 0;
    const int32_t count = (int32_t)list_layers(spec, layers);
    memset(ret_formats, 0, AQ_NET_LAYERS_MAX * sizeof(*ret_formats));
    int rc = aq_run_config_layer_formats(config, chosen, &chosen_count);
    AQ_ASSERT(rc == 0); /* the configuration is valid */
    for (uint32_t i = 0; i < chosen_count; i++) {
        const int32_t index = chosen[i].index < 0 ? count + chosen[i].index : chosen[i].index;
        if (index < 0 || index >= count) {
            return aq_fail(error, AQ_E_INVALID,
                           "quantizer.layer_formats names layer %d; this network has %d that may "
                           "have a format, 0 to %d or -%d to -1",
                           chosen[i].index, count, count - 1, count);
        }
        ret_formats[layers[index]] = chosen[i].format;
    }
    /* A small error of a mean or a logit is a large one of a probability. With gSDE that layer
     * is in the network's arrays. */
    if (aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS) && !config->learner.gsde &&
        count > 0 && ret_formats[layers[count - 1]] == 0) {
        ret_formats[layers[count - 1]] = AQ_FORMAT_F32;
    }
    /* It divides elements of the observation by deviations that may be of any size: neither one
     * scale for all of a row's elements nor one for an output's weights would suit them. */
    if (config->learner.normalize_obs && count > 0 && ret_formats[layers[0]] == 0) {
        ret_formats[layers[0]] = AQ_FORMAT_F32;
    }
    return 0;
}

/*
 * Layer plan: see layer_plan.h.
 */
#include "common/config/layer_plan.h"

#include "common/base/assert.h"
#include "common/policy/layer_formats.h"

/* The first layer's, where nobody chose; 0: quantizer.format. Integer formats have one scale for
 * the elements of an observation and one for an output's weights, so that small elements beside
 * large ones are lost. A greedy choice bears that; an action that is a number, or a probability,
 * does not (docs/decisions/0050-the-first-layer.md). */
static uint32_t first_format(const aq_run_config *config, const aq_layer_spec *layer)
{
    const aq_space numbers = {.kind = AQ_SPACE_BOX};
    const enum aq_format format = aq_run_config_format(config);
    const bool is_paper =
        config->quantizer.formula == AQ_FORMULA_PAPER && format == AQ_FORMAT_INT8_TENSOR;
    /* Weights are divided by deviations, and the bias takes in the means, so that both may be of
     * any size. */
    if (config->learner.normalize_obs) {
        return AQ_FORMAT_F32;
    }
    /* A convolution takes pixels, which are all of one range. */
    return layer->kind == AQ_LAYER_LINEAR && aq_format_is_integer(format) &&
                   aq_algorithm_takes(config->learner.algorithm, &numbers) &&
                   config->learner.qat_bits == 0 && !is_paper
               ? AQ_FORMAT_BF16
               : 0;
}

int aq_layer_plan(const aq_run_config *config, const aq_net_spec *spec,
                  uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error)
{
    aq_layer_formats chosen;
    uint32_t layers[AQ_NET_LAYERS_MAX];
    int rc = aq_layer_formats_parse(config->quantizer.layer_formats, &chosen, NULL);
    AQ_ASSERT(rc == 0); /* the configuration is valid */
    rc = aq_layer_formats_resolve(&chosen, spec, ret_formats, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "quantizer.layer_formats");
    }
    const uint32_t count = aq_layer_formats_choices(spec, layers);
    /* A small error of a mean or a logit is a large one of a probability. With gSDE that layer
     * is in the network's arrays, of which other policies have one at most. */
    const bool is_gsde = aq_net_spec_acting_arrays(spec) > 1;
    if (aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS) && !is_gsde && count > 0 &&
        ret_formats[layers[count - 1]] == 0) {
        ret_formats[layers[count - 1]] = AQ_FORMAT_F32;
    }
    if (count > 0 && ret_formats[layers[0]] == 0) {
        ret_formats[layers[0]] = first_format(config, &spec->layers[layers[0]]);
    }
    return 0;
}

bool aq_layer_plan_quantizes(const aq_run_config *config, const aq_net_spec *spec)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    bool quantizes = false;
    if (aq_layer_plan(config, spec, formats, NULL) != 0) {
        return false; /* it is refused elsewhere */
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const uint32_t format = formats[i] != 0 ? formats[i] : aq_run_config_format(config);
        quantizes |= aq_layer_is_quantizable(&spec->layers[i]) && format != AQ_FORMAT_F32;
    }
    return quantizes;
}

/*
 * Publication plan: see publication_plan.h.
 */
#include "learner/publish/publication_plan.h"

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

static int plan_layers(const aq_run_config *config, const aq_net_spec *spec, uint32_t *formats,
                       aq_error *error)
{
    aq_layer_format chosen[AQ_NET_LAYERS_MAX];
    uint32_t layers[AQ_NET_LAYERS_MAX];
    uint32_t chosen_count = 0;
    const int32_t count = (int32_t)list_layers(spec, layers);
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
        formats[layers[index]] = chosen[i].format;
    }
    /* It divides elements of the observation by deviations that may be of any size: neither one
     * scale for all of a row's elements nor one for an output's weights would suit them. */
    if (config->learner.normalize_obs && count > 0 && formats[layers[0]] == 0) {
        formats[layers[0]] = AQ_FORMAT_F32;
    }
    return 0;
}

int aq_publication_plan(const aq_run_config *config, const aq_net_spec *spec, uint32_t cpu_flags,
                        aq_publication_config *ret_plan, aq_error *error)
{
    const uint64_t bits =
        config->learner.qat_bits > 0 ? config->learner.qat_bits : config->quantizer.bits;
    aq_publication_config made = {
        .plan = {.format = aq_run_config_format(config),
                 .bits = (uint32_t)bits,
                 .paper = config->quantizer.formula == AQ_FORMULA_PAPER,
                 .density = (float)config->quantizer.density},
        /* What was trained for its levels must not be rounded to others. */
        .has_own_scales = config->learner.qat_bits > 0,
        .full_period = (uint32_t)config->quantizer.full_period,
        .error_budget = config->quantizer.error_budget,
        .error_rows = (uint32_t)config->quantizer.error_rows,
        .range_method = aq_run_config_range_method(config),
        .cpu_flags = cpu_flags,
    };
    int rc = plan_layers(config, spec, made.plan.layer_formats, error);
    if (rc == 0) {
        *ret_plan = made;
    }
    return rc;
}

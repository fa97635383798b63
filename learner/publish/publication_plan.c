/*
 * Publication plan: see publication_plan.h.
 */
#include "learner/publish/publication_plan.h"

#include "common/config/layer_plan.h"

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
    int rc = aq_layer_plan(config, spec, made.plan.layer_formats, error);
    if (rc == 0) {
        *ret_plan = made;
    }
    return rc;
}

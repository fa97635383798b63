/*
 * Layer plan: which format each layer of the policy is published in. Who publishes, and who trains
 * for what is published, go by this one rule.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_LAYER_PLAN_H
#define AQ_COMMON_CONFIG_LAYER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/policy/netspec.h"

/* One for each layer; 0: quantizer.format. The configuration is valid. AQ_E_INVALID, naming
 * quantizer.layer_formats, for a layer that the network has not; `ret_formats` may be touched. */
int aq_layer_plan(const aq_run_config *config, const aq_net_spec *spec,
                  uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error) AQ_MUST_USE;

/* Whether some layer is not to be fp32. */
bool aq_layer_plan_quantizes(const aq_run_config *config, const aq_net_spec *spec);

#endif

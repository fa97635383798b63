/*
 * Hidden layers: what all networks that are learned have in common. Pure; any thread.
 *
 *   each:   linear, the activation
 *   norm:   linear, norm, the activation
 *   first:  the first one linear, norm, tanh, whatever the others are (Acme's networks)
 */
#ifndef AQ_LEARNER_NN_HIDDEN_LAYERS_H
#define AQ_LEARNER_NN_HIDDEN_LAYERS_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"

typedef struct aq_hidden_layers {
    uint32_t widths[AQ_HIDDEN_LAYERS_MAX];
    uint32_t count;
    enum aq_activation activation;
    bool norm, norm_first;
} aq_hidden_layers;

/* As the settings say of the policy, or the network of values. AQ_E_INVALID in words. */
int aq_hidden_layers_of(const aq_run_config *config, aq_hidden_layers *ret_hidden,
                        aq_error *error) AQ_MUST_USE;

/* Appends them behind `*width` values; `*width` is then what the last one gives. AQ_E_INVALID when
 * there are too many. */
int aq_hidden_layers_add(const aq_hidden_layers *hidden, uint32_t *width, aq_net_spec *spec,
                         aq_error *error) AQ_MUST_USE;

#endif

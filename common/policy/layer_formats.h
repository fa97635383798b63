/*
 * Layer formats: a person's list of layers that get another weight format than the rest, such as
 * "0:fp32,-1:bf16". Those layers are counted that have a choice (aq_layer_is_quantizable) and act
 * (aq_net_find_acting): from 0, and from the end, -1 being the last. So a noisy layer is one, its
 * means; what makes its deviations is as the rest.
 *
 * No state; any thread.
 */
#ifndef AQ_COMMON_POLICY_LAYER_FORMATS_H
#define AQ_COMMON_POLICY_LAYER_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/format.h"
#include "common/policy/netspec.h"

typedef struct aq_layer_format {
    int32_t layer;
    uint32_t format;
} aq_layer_format;

typedef struct aq_layer_formats {
    size_t count;
    aq_layer_format rows[AQ_NET_LAYERS_MAX];
} aq_layer_formats;

/* An empty text is an empty list. AQ_E_INVALID in words. Layers may not exist yet: the network is
 * not known here. */
int aq_layer_formats_parse(const char *text, aq_layer_formats *ret_formats,
                           aq_error *error) AQ_MUST_USE;

/* The layers of a network that are counted, in order; returns how many. */
uint32_t aq_layer_formats_choices(const aq_net_spec *spec, uint32_t ret_layers[AQ_NET_LAYERS_MAX]);

/* The list for one network: formats[i] of layer i, 0 where the list says nothing. Of a layer that
 * is named twice, as the only one is by 0 and -1, the last counts. AQ_E_INVALID for a layer that
 * the network has not. */
int aq_layer_formats_resolve(const aq_layer_formats *list, const aq_net_spec *spec,
                             uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error) AQ_MUST_USE;

#endif

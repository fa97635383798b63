/*
 * Layer formats: a person's list of layers that get another weight format than the rest, such as
 * "0:fp32,-1:bf16". Layers count from 0; negative ones from the end, -1 being the last.
 */
#ifndef AQ_CLI_POLICY_LAYER_FORMATS_H
#define AQ_CLI_POLICY_LAYER_FORMATS_H

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

/* AQ_E_INVALID in words. Layers may not exist yet: the network is not known here. */
int aq_layer_formats_parse(const char *text, aq_layer_formats *ret_formats,
                           aq_error *error) AQ_MUST_USE;

/* The list for one network: formats[i] of layer i, 0 where the list says nothing. AQ_E_INVALID for
 * a layer that the network has not, that has no choice of format, or that is named twice. */
int aq_layer_formats_resolve(const aq_layer_formats *list, const aq_net_spec *spec,
                             uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error) AQ_MUST_USE;

#endif

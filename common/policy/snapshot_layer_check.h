/*
 * The checks of one layer's tensors, for aq_snapshot_validate.
 */
#ifndef AQ_COMMON_POLICY_SNAPSHOT_LAYER_CHECK_H
#define AQ_COMMON_POLICY_SNAPSHOT_LAYER_CHECK_H

#include "common/base/error.h"
#include "common/policy/snapshot.h"

/* `spec` is valid; nothing of `layer` is believed. Errors name layer `index` and the row. */
int aq_snapshot_layer_check(const aq_layer_spec *spec, const aq_snapshot_layer *layer,
                            uint32_t index, aq_error *error) AQ_MUST_USE;

#endif

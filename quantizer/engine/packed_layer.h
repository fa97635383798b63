/*
 * Packed layer: one layer of a snapshot, laid out for one rung and one format. One block.
 */
#ifndef AQ_QUANTIZER_ENGINE_PACKED_LAYER_H
#define AQ_QUANTIZER_ENGINE_PACKED_LAYER_H

#include "common/base/error.h"
#include "quantizer/kernels/qkernels.h"

/* Copies what it needs of `layer`, which was validated. Rows of inputs come in `pieces`: 1, or as
 * many to a kernel that takes them. AQ_E_NOMEM. */
int aq_packed_layer_init(const aq_qkernels *kernels, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, uint32_t pieces,
                         aq_packed_layer *ret_packed) AQ_MUST_USE;

/* A zeroed one is fine. */
void aq_packed_layer_fini(aq_packed_layer *packed);

#endif

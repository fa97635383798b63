/*
 * Publication: the quantizer stage as one pure step. Parameters in; out come a snapshot, its
 * measured error and the frame that is broadcast. The publisher's thread runs it; tests run it
 * inline.
 *
 * The gate: when int8 changes more greedy actions than the budget allows, this version goes out in
 * fp32, and says so. NaN never goes out at all.
 */
#ifndef AQ_LEARNER_PUBLICATION_H
#define AQ_LEARNER_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/nn/params.h"
#include "common/rl/snapshot.h"
#include "quantizer/quantize.h"

typedef struct aq_publication_config {
    uint32_t format;
    double error_budget; /* share of greedy actions that may differ from fp32 */
    uint32_t error_rows; /* observations to measure on, at most */
    uint32_t cpu_flags;
} aq_publication_config;

typedef struct aq_publication {
    aq_snapshot *snapshot; /* as it goes out */
    aq_snapshot *twin;     /* the same version in fp32, to compare with; may be `snapshot` itself */
    aq_buffer frame;
    size_t frame_bytes_fp32;   /* what the same version would have taken in fp32 */
    bool fell_back;            /* int8 broke the budget */
    aq_quant_error int8_error; /* of the int8 form, also when it was not the one to go out */
} aq_publication;

/* The receiver owns one reference to each snapshot. `obs` (rows, inputs) are recent observations;
 * rows may be 0: nothing is measured then. AQ_E_CORRUPT for parameters, or outputs on the
 * observations, that are not finite, and what aq_quantize refuses; nothing is left behind. */
int aq_publication_make(const aq_publication_config *config, const aq_quantize_meta *meta,
                        const aq_net_spec *spec, const aq_params *params, const float *obs,
                        size_t rows, aq_publication *ret_publication, aq_error *error) AQ_MUST_USE;
void aq_publication_fini(aq_publication *publication);

#endif

/*
 * Post-training quantization: a policy in fp32 becomes one in other formats, and its error is
 * measured on observations, once it is trained. What `actorq quantize` does.
 */
#ifndef AQ_CLI_POLICY_POST_QUANTIZE_H
#define AQ_CLI_POLICY_POST_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/range_method.h"
#include "common/policy/snapshot.h"
#include "quantizer/quantize/quantize.h"

typedef struct aq_post_quantize_plan {
    aq_quantize_plan quantize; /* its `ranges` are not read */
    bool static_activations;   /* from ranges observed; else by the range of each row */
    enum aq_range_method range_method;
    uint32_t cpu_flags; /* for the kernels that the error is measured with */
} aq_post_quantize_plan;

/* Observations, (rows, inputs) each: what the error is measured on, and others that the ranges of
 * activations come from, so that the error says what happens on observations not seen before. */
typedef struct aq_post_quantize_obs {
    const float *measured;
    const float *ranged; /* may be NULL without static activations */
    size_t measured_rows, ranged_rows;
} aq_post_quantize_obs;

/* `exact` is fp32 throughout. The new snapshot, of the same version, carries its error. Errors as
 * of aq_quantize, aq_range_observe, aq_engine_create and aq_quant_error_measure. */
int aq_post_quantize(aq_snapshot *exact, const aq_post_quantize_plan *plan,
                     const aq_post_quantize_obs *obs, aq_snapshot **ret_snapshot,
                     aq_error *error) AQ_MUST_USE;

#endif

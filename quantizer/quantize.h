/*
 * The quantizer: fp32 parameters in, a policy snapshot in a chosen format out.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_H
#define AQ_QUANTIZER_QUANTIZE_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/rl/snapshot.h"
#include "quantizer/input_ranges.h"

/* Who and what the snapshot is for; copied into it. */
typedef struct aq_quantize_meta {
    uint64_t run_id;
    uint64_t version;
    uint64_t learner_step;
    const char *task;
    const aq_schema *schema;
    uint32_t act_rule;
} aq_quantize_meta;

/* How. Zeroed but for `format`, everything has its default. */
typedef struct aq_quantize_plan {
    uint32_t format; /* of every quantizable layer, but for those that say otherwise: */
    uint32_t layer_formats[AQ_NET_LAYERS_MAX]; /* 0: as `format` */
    uint32_t bits;                             /* int8, int8-tensor: levels of 2 to 8 bits; 0: 8 */
    bool paper;                    /* int8-tensor: the paper's affine formula; else symmetric */
    float density;                 /* int8-sparse: share of the blocks that are kept; 0: a half */
    const aq_input_ranges *ranges; /* static activations; NULL: dynamic */
    const aq_snapshot *previous;   /* its scales are kept while they are nearly as good; or NULL */
} aq_quantize_plan;

/* Every layer as the plan says. int8, per output channel, symmetric:
 *
 *   scale[o] = max_i |W[o][i]| / 127, q = clamp(rint(W / scale), -127, 127), ties to even,
 *
 * so that |W - scale q| <= scale / 2. A row of zeros, or one whose scale would be below FLT_MIN, is
 * stored as zeros with scale 1. Biases stay fp32. The caller owns the snapshot.
 *
 * AQ_E_CORRUPT, naming layer and row, when a parameter is NaN or infinite: such a policy must never
 * be published. AQ_E_UNSUPPORTED for a format that is not known, AQ_E_INVALID for a description or
 * a task's name that cannot be, AQ_E_TOO_BIG, AQ_E_NOMEM, and all that aq_snapshot_validate refuses
 * (a network that does not fit the schema). */
int aq_quantize(const aq_net_spec *spec, const aq_params *params, const aq_quantize_plan *plan,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot,
                aq_error *error) AQ_MUST_USE;

#endif

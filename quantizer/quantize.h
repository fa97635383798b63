/*
 * The quantizer: fp32 parameters in, a policy snapshot in a chosen format out.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_H
#define AQ_QUANTIZER_QUANTIZE_H

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/rl/snapshot.h"

/* Who and what the snapshot is for; copied into it. */
typedef struct aq_quantize_meta {
    uint64_t run_id;
    uint64_t version;
    uint64_t learner_step;
    const char *task;
    const aq_schema *schema;
    uint32_t act_rule;
} aq_quantize_meta;

/* Every layer in `format`. int8, per output channel, symmetric:
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
int aq_quantize(const aq_net_spec *spec, const aq_params *params, uint32_t format,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot,
                aq_error *error) AQ_MUST_USE;

#endif
